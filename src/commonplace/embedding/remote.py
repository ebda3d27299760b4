"""What remote embedders share: requests of a size that servers accept, and responses that are checked.

A provider says where it is, how it is asked, and what its errors mean.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..errors import Unavailable
from ..settings import SearchSettings
from .base import slug
from .http import (
    CLOCK,
    INDEXING,
    REDIRECT_STATUSES,
    SEARCHING,
    TRANSIENT_STATUSES,
    Clock,
    Endpoint,
    Failure,
    RetryPolicy,
)

if TYPE_CHECKING:
    from .base import Vectors

    Numbers = numpy.ndarray[Any, numpy.dtype[numpy.float64]]

_MAX_REQUEST_TEXTS = 64
_MAX_REQUEST_CHARACTERS = 100_000
_MAX_TEXT_BYTES = 8_000  # a token is at least a byte, so this fits the 8,192 tokens that servers commonly take
_CHECK = "check memorySearch.baseUrl and memorySearch.model"


class Unusable(ValueError):
    """A response that cannot be used, and what is wrong with it."""


class RemoteEmbedder:
    """What the providers behind HTTP have in common. Safe for threads."""

    provider = ""
    path = ""
    default_url = ""
    default_model = ""
    default_key_variable = ""
    is_fast = False
    batch_size = _MAX_REQUEST_TEXTS

    def __init__(
        self,
        settings: SearchSettings,
        *,
        clock: Clock = CLOCK,
        searching: RetryPolicy = SEARCHING,
        indexing: RetryPolicy = INDEXING,
    ) -> None:
        self.model = settings.model or self.default_model
        # A key goes to the host it is meant for: another one gets only what the settings name.
        self.key_variable = settings.api_key_env or ("" if settings.base_url else self.default_key_variable)
        url = settings.base_url.rstrip("/") or self.default_url
        self.space = space_name(self.provider, self.model, url)
        self.has_key = bool(key := _key(self.key_variable))
        self.endpoint = Endpoint(url, key, clock)
        self.url = self.endpoint.url
        self._searching = searching
        self._indexing = indexing
        self._dimensions = 0  # known from the first answer

    def prefixes(self) -> tuple[str, str]:
        """What the model wants before a passage and before a question."""
        return "", ""

    def body(self, texts: list[str]) -> dict[str, object]:
        """What is asked."""
        return {"model": self.model, "input": texts}

    def rows(self, answer: Any, count: int) -> list[Any]:
        """The embeddings of an answer in the order of the texts; one of another shape may raise what it likes."""
        raise NotImplementedError

    def explain(self, failure: Failure) -> str:
        """A failure as a sentence with the next step."""
        reason = failure.reason
        if failure.status == 0:
            return f"{self.url} cannot be reached ({reason}): check memorySearch.baseUrl and the network"
        if failure.status in REDIRECT_STATUSES:
            return f"{self.url} is not the place ({reason}): set memorySearch.baseUrl to where it really is"
        if failure.status in TRANSIENT_STATUSES:
            return f"{self.url} cannot serve now ({reason}): try again later"
        if failure.status == 200:
            return f"{self.url} gives an answer that cannot be used ({reason}): {_CHECK}"
        return f"{self.url} refuses the request ({reason}): {_CHECK}"

    def accepts(self, text: str) -> bool:
        return True

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        return self._embed(texts, self.prefixes()[0], self._searching if interactive else self._indexing)

    def embed_query(self, text: str) -> Vectors:
        row: Vectors = self._embed([text], self.prefixes()[1], self._searching)[0]
        return row

    def close(self) -> None:
        self.endpoint.close()

    def _embed(self, texts: Sequence[str], prefix: str, policy: RetryPolicy) -> Vectors:
        # Servers refuse an empty text, and one refused text would refuse the request.
        said = [number for number, text in enumerate(texts) if text.strip()]
        parts = [self._ask(part, policy) for part in _requests([_cut(prefix + texts[number]) for number in said])]
        if texts and not self._dimensions:
            self._ask([f"{prefix}text"], policy)
        vectors = numpy.zeros((len(texts), self._dimensions), numpy.float32)
        if parts:
            vectors[said] = numpy.concatenate(parts)
        return vectors

    def _ask(self, texts: list[str], policy: RetryPolicy) -> Vectors:
        try:
            answer = self.endpoint.post(self.path, self.body(texts), policy)
        except Failure as failure:
            raise Unavailable(self.explain(failure)) from failure
        try:
            vectors = _vectors(self.rows(answer, len(texts)), len(texts))
            self._expect(vectors.shape[1])
        except Unusable as error:
            raise Unavailable(self.explain(Failure(200, str(error)))) from error
        except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError):
            # What they say quotes the answer, and that is not to be trusted with a place in a sentence.
            raise Unavailable(self.explain(Failure(200, "not the shape of embeddings"))) from None
        return vectors

    def _expect(self, dimensions: int) -> None:
        if self._dimensions and dimensions != self._dimensions:
            raise Unusable(f"{dimensions} numbers a text, {self._dimensions} before")
        self._dimensions = dimensions


def space_name(provider: str, model: str, url: str = "") -> str:
    """Names the vectors of a model at an address; safe in a file name. Two servers may mean two things by one name."""
    return f"{provider}-{slug(model)}-{hashlib.sha256(f'{url} {model}'.encode()).hexdigest()[:8]}"


def _key(variable: str) -> str:
    key = (os.getenv(variable) or "").strip() if variable else ""
    if not re.fullmatch(r"[!-~]*", key):
        raise Unavailable(f"{variable} does not hold a key: set it to one, without spaces or line breaks")
    return key


def _cut(text: str) -> str:
    # Half of a surrogate pair is no text to a server.
    return text.encode("utf-8", "replace")[:_MAX_TEXT_BYTES].decode("utf-8", "ignore")


def _requests(texts: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (len(part) == _MAX_REQUEST_TEXTS or size + len(text) > _MAX_REQUEST_CHARACTERS):
            yield part
            part = []
            size = 0
        part.append(text)
        size += len(text)
    if part:
        yield part


def _vectors(rows: list[Any], count: int) -> Vectors:
    """Rows of numbers, or of floats in base64, as vectors of length 1."""
    if len(rows) != count:
        raise Unusable(f"{len(rows)} rows for {count} texts")
    found = [_numbers(row) for row in rows]
    if len({row.size for row in found}) > 1:
        raise Unusable("rows of different lengths")
    table = numpy.stack(found)
    with numpy.errstate(all="ignore"):
        lengths = numpy.linalg.norm(table, axis=1, keepdims=True)
    if not numpy.isfinite(lengths).all():
        raise Unusable("it contains NaN or infinity")
    if not lengths.all():
        raise Unusable("a vector of zeros")
    vectors: Vectors = (table / lengths).astype(numpy.float32)
    return vectors


def _numbers(row: Any) -> Numbers:
    if isinstance(row, str):
        return numpy.frombuffer(base64.b64decode(row, validate=True), "<f4").astype(numpy.float64)
    numbers = numpy.array(row, numpy.float64)
    if numbers.ndim != 1 or not numbers.size:
        raise Unusable("a row that is not a list of numbers")
    return numbers
