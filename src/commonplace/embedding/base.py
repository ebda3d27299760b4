"""HERE IS A TEXT: WHERE DOES ITS MEANING POINT? One file a provider; this table names them and says how to get each.

An embedder turns texts into vectors of one space. Nothing heavy is imported before a provider is opened.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..errors import Unavailable
from ..settings import PROVIDERS, SearchSettings

if TYPE_CHECKING:
    import numpy

    Vectors = numpy.ndarray[Any, numpy.dtype[numpy.float32]]


def slug(model: str) -> str:
    """A model's name as part of a file name."""
    return re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-.")[:40]


class Embedder(Protocol):
    """Texts to vectors. What can not be served raises `Unavailable` with the reason and the next step, nothing else."""

    provider: str
    model: str
    space: str  # names the vectors, safe as part of a file name: two texts compare only within one space
    is_fast: bool  # whether passages may be embedded while a search waits, or better in the background
    batch_size: int  # how many passages are best embedded at once

    def accepts(self, text: str) -> bool:
        """Whether this embedder understands the script of a text."""
        ...

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        """One row a text, of length 1; a row of zeros for a text that says nothing to the model.

        `waiting`: somebody waits for a search, so rather fail soon than try for long.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """A question as one vector of length 1, in the space of the passages."""
        ...


@runtime_checkable
class TokenLevelEmbedder(Protocol):
    """An embedder that also says how like two texts are token by token: see `late`."""

    def embed_passages_by_token(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        """What `passages` gives, and the tokens of each text as they are kept; none of a text that says nothing."""
        ...

    def embed_query_by_token(self, text: str) -> tuple[Vectors, Vectors]:
        """What `question` gives, and where each of its tokens lies."""
        ...


@runtime_checkable
class MaxSimEmbedder(Protocol):
    """An embedder with a vector for each token at hand: nothing need be kept to compare token by token."""

    def maxsim(self, question: str, texts: Sequence[str]) -> list[float]:
        """How like a question each text is token by token, from 0 to 1; nothing for a question it can not tell by."""
        ...


def open_embedders(settings: SearchSettings) -> tuple[Embedder, ...]:
    """The embedders of the configured provider, one a script it serves; none for `none`. Raises `Unavailable`."""
    if settings.provider == "none":
        return ()
    provider = PROVIDERS[settings.provider]
    try:
        module = importlib.import_module(f".{provider.module}", __package__)
        found: tuple[Embedder, ...] = module.open_embedders(settings)
    except ImportError as error:
        reason = f"{settings.provider} needs {error.name or error}"
        raise Unavailable(f"{reason}: {provider.hint}" if provider.hint else reason) from error
    return found
