"""Runs the configured embedders: embeds passages without a vector, at once with a fast embedder and in the background
with a slow one.

An embedder that fails is not used for a while: search goes on without it and says why.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ..embedding.base import Embedder, TokenLevelEmbedder, open_embedders
from ..errors import ConnectionLost, IndexClosed, LockTimeout, StorageError, Unavailable
from ..model import Viewer
from ..settings import SearchSettings
from ..tracing import trace_calls
from .base import (
    PassageEmbedding,
    PendingBatch,
    Progress,
    VectorStore,
    has_progress_listener,
    ignore_progress,
    report_progress,
    seconds_to_catch_up,
)

if TYPE_CHECKING:
    from ..embedding.base import Vectors
    from ..embedding.local import Reranker

_RETRY_SECONDS = 30.0  # until a failed embedder is tried again
_INTERACTIVE_PASSAGES = 16  # even a slow embedder may embed this many while a search waits
_MIN_COVERAGE = 0.95  # a slow embedder answers once it has embedded this share of the passages


class QueryEmbedding(NamedTuple):
    """A query as an embedder sees it, with token vectors if the embedder gives them."""

    vector: Vectors
    tokens: Vectors | None = None


class ActiveEmbedders(NamedTuple):
    """The embedders that answer now; none for keyword search. `reason` says why the configured one does not."""

    embedders: tuple[Embedder, ...] = ()
    secondary: Embedder | None = None  # the packaged model, where it adds to a larger one
    provider: str = ""
    model: str = ""
    failed: bool = False
    reason: str = ""


class EmbeddingService:
    """The embedders of one setting. Safe to share between threads."""

    def __init__(self, settings: SearchSettings, refusal: str = "") -> None:
        """`refusal` says why the memory's own embedder is not used; `settings` then name its replacement."""
        self.settings = settings
        self._refusal = refusal
        self._opened: tuple[Embedder, ...] | None = None
        self._packaged: EmbeddingService | None = None
        self._reranker: Reranker | None = None
        self._failure = ""
        self._retry_at = 0.0
        self._lock = threading.Lock()
        self._is_ready = False  # whether the embedders answered the last query
        self._prefetched = threading.local()
        self._background: threading.Thread | None = None
        self._process = os.getpid()

    def acquire(self, index: VectorStore, viewer: Viewer | None = None) -> ActiveEmbedders:
        """Let the embedders catch up for as long as a search can wait, and return those that can answer.

        With a viewer, their progress is measured on the passages that the viewer may see.
        """
        settings = self.settings
        try:
            embedders = self.embedders()
            for embedder in embedders:
                with suppress(LockTimeout):  # another process writes: the vectors that exist are used
                    self._catch_up(index, embedder, viewer)
        except Unavailable as error:
            self.mark_failed(error)
            return self._answer_with_packaged_model(index, str(error))
        self._is_ready = all(embedder.is_fast or _is_covered(index, embedder, viewer) for embedder in embedders)
        if self._is_ready:
            model = settings.model or ", ".join(embedder.model for embedder in embedders)
            secondary = self._secondary(index)
            has_failed = bool(self._refusal)
            return ActiveEmbedders(embedders, secondary, settings.provider, model, has_failed, self._refusal)
        return self._fall_back(index, embedders, viewer)

    def _answer_with_packaged_model(self, index: VectorStore, reason: str) -> ActiveEmbedders:
        """Return the packaged model, which answers together with BM25 when the configured one cannot serve."""
        if self.settings.provider == SearchSettings().provider:  # it is the packaged model that failed
            return ActiveEmbedders((), None, self.settings.provider, self.settings.model, True, reason)
        return self.packaged_model().acquire(index)._replace(failed=True, reason=reason)

    def embedders(self) -> tuple[Embedder, ...]:
        with self._lock:
            if self._opened is None:
                if self._failure and time.monotonic() < self._retry_at:
                    raise Unavailable(self._failure)
                self._opened = open_embedders(self.settings)
            return self._opened

    def prefetch(self, text: str) -> None:
        """Embed a query with the slow embedders before the index is locked, so that nobody waits for them.

        Only if they answered the last query: those still catching up cannot answer this one.
        """
        if not self._is_ready:
            return
        try:
            slow = [embedder for embedder in self.embedders() if not embedder.is_fast and embedder.accepts(text)]
            self._prefetched.queries = {(embedder.space, text): _embed_query(embedder, text) for embedder in slow}
        except Unavailable as error:
            self.mark_failed(error)

    def embed_query(self, embedder: Embedder, text: str) -> QueryEmbedding:
        """Embed a query, unless this thread has prefetched it."""
        prefetched: dict[tuple[str, str], QueryEmbedding] = getattr(self._prefetched, "queries", {})
        return prefetched.get((embedder.space, text)) or _embed_query(embedder, text)

    def reranker(self) -> Reranker | None:
        """Return the cross-encoder if the settings ask for it, else None."""
        if not self.settings.rerank:
            return None
        from ..embedding.local import open_reranker

        with self._lock:
            if self._reranker is None:
                self._reranker = open_reranker(self.settings.model if os.path.isdir(self.settings.model) else "")
            return self._reranker

    def build(self, index: VectorStore, progress: Progress = ignore_progress, *, anew: bool = False) -> None:
        """Embed everything that is missing and wait for it. An interruption keeps what was done.

        `anew` embeds everything again into a new space; the old one answers until the new one is complete.
        """
        for embedder in self.embedders():
            space = f"{embedder.space}-new" if anew else embedder.space
            while embed_batch(index, embedder, embedder.batch_size, space):
                seen, passages, _ = index.coverage(space)
                progress(embedder.model, seen, passages)
            if anew:
                index.promote_space(space, embedder.space)
            with suppress(StorageError):  # search works without it: `commonplace db quicken` says why
                index.build_ann_index(embedder.space)
        if anew:
            self._drop_others(index)

    def _drop_others(self, index: VectorStore) -> None:
        """Drop the spaces of embedders that are no longer used; that of the packaged model costs nothing to keep."""
        used = {embedder.space for service in (self, self.packaged_model()) for embedder in service.embedders()}
        for space in index.spaces():
            if space not in used:
                index.drop_space(space)

    def _catch_up(self, index: VectorStore, embedder: Embedder, viewer: Viewer | None) -> None:
        if embedder.is_fast:
            while seconds_to_catch_up() > 0 and embed_batch(index, embedder, embedder.batch_size):
                if has_progress_listener():
                    report_progress(embedder.model, *index.coverage(embedder.space)[:2])
        elif (behind := index.coverage(embedder.space).behind) > _INTERACTIVE_PASSAGES or self._is_running():
            if viewer and _has_few_of_many(index.coverage(embedder.space, viewer).behind, behind):
                embed_batch(index, embedder, _INTERACTIVE_PASSAGES, interactive=True, viewer=viewer)
            self._start(index)
        else:
            embed_batch(index, embedder, _INTERACTIVE_PASSAGES, interactive=True)

    def _fall_back(self, index: VectorStore, embedders: Sequence[Embedder], viewer: Viewer | None) -> ActiveEmbedders:
        """Return the packaged model, which answers until a slower one has embedded everything."""
        seen = sum(index.coverage(embedder.space, viewer).seen for embedder in embedders) // len(embedders)
        total = index.coverage(embedders[0].space, viewer).passages
        reason = (
            f"{self.settings.provider} has embedded {seen} of {total} passages so far: until then the static "
            "model answers (`commonplace index` waits for it)"
        )
        return self.packaged_model().acquire(index)._replace(reason=reason)

    def _secondary(self, index: VectorStore) -> Embedder | None:
        """Return the packaged model, which knows scripts and languages that the small transformers do not."""
        if self.settings.provider != "local":
            return None
        active = self.packaged_model().acquire(index)
        return active.embedders[0] if active.embedders else None

    def packaged_model(self) -> EmbeddingService:
        """Return the service of the model in the package, which every home can use."""
        if self._packaged is None:
            self._packaged = EmbeddingService(SearchSettings())
        return self._packaged

    def without_embedder(self) -> EmbeddingService:
        """Return a service without embedders, for search by keywords alone."""
        return EmbeddingService(SearchSettings(provider="none"))

    def _start(self, index: VectorStore) -> None:
        """Embed in the background: one thread at a time, for all embedders. A fork takes no thread along."""
        embedders = self.embedders()
        with self._lock:
            if self._is_running():
                return
            self._process = os.getpid()
            self._background = threading.Thread(target=self._run_background, args=(index, embedders), daemon=True)
            self._background.start()

    def _is_running(self) -> bool:
        return bool(self._background and self._background.is_alive() and self._process == os.getpid())

    def _run_background(self, index: VectorStore, embedders: Sequence[Embedder]) -> None:
        try:
            for embedder in embedders:
                while embed_batch(index, embedder, embedder.batch_size):
                    pass
        except (LockTimeout, ConnectionLost, IndexClosed):
            return  # nothing is wrong with the embedder, and the next search goes on
        except Unavailable as error:
            self.mark_failed(error)
        except Exception as error:  # noqa: BLE001  the next search reports it
            self.mark_failed(Unavailable(f"{self.settings.provider} stopped in the background: {error}"))

    def mark_failed(self, error: Unavailable) -> None:
        """Do not use the embedders for a while."""
        with self._lock:
            if str(error) != self._failure or time.monotonic() >= self._retry_at:
                self._retry_at = time.monotonic() + _RETRY_SECONDS
            self._failure = str(error)
            self._opened = None
            self._is_ready = False


def _has_few_of_many(own: int, every: int) -> bool:
    """Return whether the viewer's passages are few enough to embed at once, although others take longer."""
    return 0 < own <= _INTERACTIVE_PASSAGES and own < every


def embed_batch(
    index: VectorStore,
    embedder: Embedder,
    limit: int,
    space: str = "",
    *,
    interactive: bool = False,
    viewer: Viewer | None = None,
) -> bool:
    """Embed the next few passages; False when there are none."""
    space = space or embedder.space
    pending = index.next_pending(space, limit, viewer)
    if pending is None:
        return False
    index.add_vectors(space, pending, _embed_pending(embedder, pending, interactive=interactive))
    return True


def _embed_pending(
    embedder: Embedder, pending: PendingBatch, *, interactive: bool
) -> dict[tuple[int, bytes], PassageEmbedding]:
    """Embed a batch. A text that two owners have is embedded once; one without known tokens gets no vector."""
    texts = list(dict.fromkeys(text for text in pending.texts.values() if embedder.accepts(text)))
    by_text = dict(zip(texts, _embed_texts(embedder, texts, interactive=interactive), strict=True)) if texts else {}
    by_key = {key: by_text[text] for key, text in pending.texts.items() if text in by_text}
    return {key: embedding for key, embedding in by_key.items() if embedding.vector.any()}


@trace_calls("embed")
def _embed_texts(embedder: Embedder, texts: Sequence[str], *, interactive: bool) -> list[PassageEmbedding]:
    if isinstance(embedder, TokenLevelEmbedder):
        return [PassageEmbedding(*pair) for pair in zip(*embedder.embed_passages_by_token(texts), strict=True)]
    return [PassageEmbedding(vector) for vector in embedder.embed_passages(texts, interactive=interactive)]


@trace_calls("embed")
def _embed_query(embedder: Embedder, text: str) -> QueryEmbedding:
    if isinstance(embedder, TokenLevelEmbedder):
        return QueryEmbedding(*embedder.embed_query_by_token(text))
    return QueryEmbedding(embedder.embed_query(text))


def _is_covered(index: VectorStore, embedder: Embedder, viewer: Viewer | None) -> bool:
    coverage = index.coverage(embedder.space)
    if viewer and not coverage.whole:
        coverage = index.coverage(embedder.space, viewer)
    return coverage.seen >= _MIN_COVERAGE * coverage.passages
