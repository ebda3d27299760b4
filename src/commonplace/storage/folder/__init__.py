"""The embedded backend: Markdown files in a folder, with atomic writes, locks and a separate history."""
