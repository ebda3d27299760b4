"""commonplace: memory for AI agents, kept in Markdown files that people can read and edit."""

from .memory import Memory

__version__ = "0.1.0"
__all__ = ["Memory"]
