"""The vectors follow the words: what a space has not looked at is embedded, at once where that is quick and in the
background where it is not.

An embedder that fails is left alone for a while: search goes on without it and says why.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ..embedding.base import Embedder, TokenLevelEmbedder, open_embedders
from ..errors import ConnectionLost, LockTimeout, StorageError, Unavailable
from ..settings import SearchSettings
from .base import (
    HasAnn,
    Index,
    PassageEmbedding,
    PendingBatch,
    Progress,
    has_progress_listener,
    ignore_progress,
    report_progress,
)

if TYPE_CHECKING:
    from ..embedding.base import Vectors
    from ..embedding.reranker import Reranker

_RETRY = 30.0  # seconds an embedder that failed is left alone
_FEW = 16  # passages that even a slow embedder may embed while a search waits
_NEARLY = 0.95  # of all passages seen: then a space answers, though some are missing


class QueryEmbedding(NamedTuple):
    """A question as an embedder sees it; its tokens where the embedder tells texts apart by them."""

    vector: Vectors
    tokens: Vectors | None = None


class ActiveEmbedders(NamedTuple):
    """Who answers by meaning now: none, when words answer alone. `reason` says why the configured one does not."""

    embedders: tuple[Embedder, ...] = ()
    secondary: Embedder | None = None  # the packaged model, where it adds to a larger one
    provider: str = ""
    model: str = ""
    failed: bool = False
    reason: str = ""


class EmbeddingService:
    """The embedders of one setting. Safe to share between threads."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings = settings
        self._opened: tuple[Embedder, ...] | None = None
        self._stand_in: EmbeddingService | None = None
        self._reranker: Reranker | None = None
        self._failure, self._retry_at = "", 0.0
        self._lock = threading.Lock()
        self._answers, self._thought = False, threading.local()
        self._working: threading.Thread | None = None
        self._process = os.getpid()

    def acquire(self, index: Index) -> ActiveEmbedders:
        """The embedders that can answer, after they caught up as far as a search can wait."""
        settings = self.settings
        try:
            embedders = self.embedders()
            for embedder in embedders:
                with suppress(LockTimeout):  # another process writes: what is there answers
                    self._keep_up(index, embedder)
        except Unavailable as error:
            self.mark_failed(error)
            return ActiveEmbedders((), None, settings.provider, settings.model, True, str(error))
        self._answers = all(each.is_fast or _nearly_whole(index, each) for each in embedders)
        if self._answers:
            model = settings.model or ", ".join(each.model for each in embedders)
            return ActiveEmbedders(embedders, self._beside(index), settings.provider, model)
        return self._meanwhile(index, embedders)

    def embedders(self) -> tuple[Embedder, ...]:
        with self._lock:
            if self._opened is None:
                if self._failure and time.monotonic() < self._retry_at:
                    raise Unavailable(self._failure)
                self._opened = open_embedders(self.settings)
            return self._opened

    def prefetch(self, text: str) -> None:
        """Embed a question that may take long before the index is asked: nobody else waits for it meanwhile.

        Only where the embedder answered last time: one that still catches up would be asked for nothing.
        """
        if not self._answers:
            return
        try:
            slow = [each for each in self.embedders() if not each.is_fast and each.accepts(text)]
            self._thought.questions = {(each.space, text): _asked(each, text) for each in slow}
        except Unavailable as error:
            self.mark_failed(error)

    def embed_query(self, embedder: Embedder, text: str) -> QueryEmbedding:
        """A question as an embedder sees it; this thread may have thought of it before."""
        thought: dict[tuple[str, str], QueryEmbedding] = getattr(self._thought, "questions", {})
        return thought.get((embedder.space, text)) or _asked(embedder, text)

    def reranker(self) -> Reranker | None:
        """The model that reads a question and a passage together, where the settings ask for it."""
        if not self.settings.rerank:
            return None
        from ..embedding.reranker import open_reranker

        with self._lock:
            if self._reranker is None:
                self._reranker = open_reranker(self.settings.model if os.path.isdir(self.settings.model) else "")
            return self._reranker

    def build(self, index: Index, progress: Progress = ignore_progress, *, anew: bool = False) -> None:
        """Embed everything that is missing, whatever it takes. An interruption keeps what was done.

        `anew` embeds what has a vector, too: beside the old ones, which answer until the new ones are whole.
        """
        for embedder in self.embedders():
            space = f"{embedder.space}-new" if anew else embedder.space
            while embed_batch(index, embedder, embedder.batch_size, space):
                seen, passages, _ = index.coverage(space)
                progress(embedder.model, seen, passages)
            if anew:
                index.promote_space(space, embedder.space)
            if isinstance(index, HasAnn):
                with suppress(StorageError):  # then it stays as quick as it is: `commonplace db quicken` says why
                    index.build_ann_index(embedder.space)
        if anew:
            self._drop_others(index)

    def _drop_others(self, index: Index) -> None:
        """Forget the spaces of embedders that are not in use any more; the one in the package costs nothing to keep."""
        used = {each.space for service in (self, self.packaged_model()) for each in service.embedders()}
        for space in index.spaces():
            if space not in used:
                index.drop_space(space)

    def _keep_up(self, index: Index, embedder: Embedder) -> None:
        if embedder.is_fast:
            while embed_batch(index, embedder, embedder.batch_size):
                if has_progress_listener():
                    report_progress(embedder.model, *index.coverage(embedder.space)[:2])
        elif index.coverage(embedder.space).behind > _FEW or self._is_working():
            self._start(index)
        else:
            embed_batch(index, embedder, _FEW, interactive=True)

    def _meanwhile(self, index: Index, embedders: Sequence[Embedder]) -> ActiveEmbedders:
        """The model in the package answers until a slower one has seen everything."""
        seen = sum(index.coverage(each.space).seen for each in embedders) // len(embedders)
        total = index.coverage(embedders[0].space).passages
        reason = (
            f"{self.settings.provider} has embedded {seen} of {total} passages and catches up: until then the static "
            "model answers (`commonplace index` waits for it)"
        )
        return self.packaged_model().acquire(index)._replace(reason=reason)

    def _beside(self, index: Index) -> Embedder | None:
        """The model in the package knows scripts and crossings that the small transformers do not."""
        if self.settings.provider != "local":
            return None
        served = self.packaged_model().acquire(index)
        return served.embedders[0] if served.embedders else None

    def packaged_model(self) -> EmbeddingService:
        """The service of the model in the package, which every home can use."""
        if self._stand_in is None:
            self._stand_in = EmbeddingService(SearchSettings())
        return self._stand_in

    def without_embedder(self) -> EmbeddingService:
        """A service that embeds nothing, for search by keywords alone."""
        return EmbeddingService(SearchSettings(provider="none"))

    def _start(self, index: Index) -> None:
        """Go on in the background. One thread at a time, for all embedders; a fork takes none along."""
        embedders = self.embedders()
        with self._lock:
            if self._is_working():
                return
            self._process = os.getpid()
            self._working = threading.Thread(target=self._work, args=(index, embedders), daemon=True)
            self._working.start()

    def _is_working(self) -> bool:
        return bool(self._working and self._working.is_alive() and self._process == os.getpid())

    def _work(self, index: Index, embedders: Sequence[Embedder]) -> None:
        try:
            for embedder in embedders:
                while embed_batch(index, embedder, embedder.batch_size):
                    pass
        except (LockTimeout, ConnectionLost, sqlite3.ProgrammingError):
            return  # the index was busy, or closed by who cleaned it: the embedder is well, and the next search goes on
        except Unavailable as error:
            self.mark_failed(error)
        except Exception as error:  # noqa: BLE001  a thread has nobody to raise to: the next search says it
            self.mark_failed(Unavailable(f"{self.settings.provider} stopped in the background: {error}"))

    def mark_failed(self, error: Unavailable) -> None:
        """Leave the embedder alone for a while."""
        with self._lock:
            if str(error) != self._failure or time.monotonic() >= self._retry_at:
                self._retry_at = time.monotonic() + _RETRY
            self._failure, self._opened, self._answers = str(error), None, False


def embed_batch(index: Index, embedder: Embedder, limit: int, space: str = "", *, interactive: bool = False) -> bool:
    """Embed the next few passages; False when there are none."""
    space = space or embedder.space
    pending = index.next_pending(space, limit)
    if pending is None:
        return False
    index.add_vectors(space, pending, _embedded(embedder, pending, interactive=interactive))
    return True


def _embedded(
    embedder: Embedder, pending: PendingBatch, *, interactive: bool
) -> dict[tuple[int, bytes], PassageEmbedding]:
    """By owner and content. The same text of two owners is embedded once; one that means nothing has no vector."""
    texts = list(dict.fromkeys(text for text in pending.texts.values() if embedder.accepts(text)))
    read = dict(zip(texts, _read(embedder, texts, interactive=interactive), strict=True)) if texts else {}
    found = ((key, read[text]) for key, text in pending.texts.items() if text in read)
    return {key: each for key, each in found if each.vector.any()}


def _read(embedder: Embedder, texts: Sequence[str], *, interactive: bool) -> list[PassageEmbedding]:
    if isinstance(embedder, TokenLevelEmbedder):
        return [PassageEmbedding(*each) for each in zip(*embedder.embed_passages_by_token(texts), strict=True)]
    return [PassageEmbedding(vector) for vector in embedder.embed_passages(texts, interactive=interactive)]


def _asked(embedder: Embedder, text: str) -> QueryEmbedding:
    if isinstance(embedder, TokenLevelEmbedder):
        return QueryEmbedding(*embedder.embed_query_by_token(text))
    return QueryEmbedding(embedder.embed_query(text))


def _nearly_whole(index: Index, embedder: Embedder) -> bool:
    seen, passages, _ = index.coverage(embedder.space)
    return seen >= _NEARLY * passages
