"""A LangGraph store on a memory: every item is a small page that people can read, edit, search and undo.

As in LangGraph's own stores, the reads of a batch see what was there before its writes, and of several writes to one
key the last counts. Without an `index` the memory's own search answers a `query`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import operator
import os
import shutil
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from functools import cache
from tempfile import mkdtemp
from typing import Any, NamedTuple

from ...errors import CommonplaceError, HoldsSecret, NotInstalled
from ...formats.json_text import is_unicode, round_trip
from ...formats.timestamps import sort_key
from ...home import utc_now
from ...memory import Memory
from ...model import Clock, Filters, Json, Record
from ...storage.base import UNSURE
from ...storage.layout import MAIN
from ...writing import screen_secrets
from .items import (
    EmbedTexts,
    IndexedPaths,
    ItemCache,
    ItemEmbedder,
    ItemOptions,
    ItemStore,
    Listing,
    Namespace,
    StoredItem,
    make_options,
    pack_vector,
    to_mapping,
)

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        ensure_embeddings,
        get_text_at_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise NotInstalled("the store for LangGraph", "langgraph") from error

logger = logging.getLogger(__name__)
_MAX_HITS = 100  # the limit of one search of the memory
_MAX_PATTERN_LENGTH = 900  # characters of a path pattern
_FORBIDDEN_CHARACTERS = frozenset("'\"`\\\0")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_MAX_FILTER_DEPTH = 50  # levels of nesting
_OPERATORS = ("$eq", "$ne", *_COMPARISONS)


class _PreparedPut(NamedTuple):
    """An item as it will be written; `value` None: it will be removed."""

    namespace: Namespace
    key: str
    value: dict[str, Json] | None
    options: ItemOptions


class _Embedder(NamedTuple):
    documents: EmbedTexts
    question: Callable[[str], list[float]]


class CommonplaceStore(BaseStore):
    """The items of one agent, in a home. Threads may share it; any number of processes may share a home."""

    supports_ttl = True

    def __init__(
        self,
        home: str | os.PathLike[str],
        agent: str = MAIN,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Clock = utc_now,
        session: str = "",
    ) -> None:
        """`index` names an embedder of your own; `session` the conversation that writes, for history."""
        super().__init__()
        self.memory = Memory(home, agent, clock=clock, session=session)
        self.ttl_config = ttl
        self.index_config = index
        self.embeddings = ensure_embeddings(index.get("embed")) if index else None
        self._fields = _indexed_fields(index) if index else []
        self._home = self.memory.home
        self._items = ItemStore(self._home)
        # Derived data: without a cache folder, it belongs to this process alone.
        cache_folder = self._home.storage.cache_folder
        folder = cache_folder or mkdtemp()
        self._cache = ItemCache(folder, self._fingerprint())
        if not cache_folder:
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._sweeper: threading.Thread | None = None
        self._stop = threading.Event()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if self._embeds_only_async and any(_needs_embedder(op) for op in ops):
            raise ValueError("the embedder of this store is async: use aput, asearch and abatch")
        embedder = self.embeddings
        return self._run(ops, _Embedder(embedder.embed_documents, embedder.embed_query) if embedder else None)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what `batch` does, in a thread. An embedder that is only async is awaited here, with its connections."""
        embedder = self.embeddings
        if embedder is None or not self._embeds_only_async:
            return await asyncio.to_thread(self.batch, ops)
        loop = asyncio.get_running_loop()

        def documents(texts: list[str]) -> list[list[float]]:
            return asyncio.run_coroutine_threadsafe(embedder.aembed_documents(texts), loop).result()

        return await asyncio.to_thread(self._run, list(ops), _Embedder(documents, lambda text: documents([text])[0]))

    def sweep_ttl(self) -> int:
        """Remove expired items and return how many there were. History keeps what they said."""
        expired = self._find_expired(self._list_items((), only_pages=True))
        with self._write_session("store.expire"):
            return sum(self._items.expire(path) for path in sorted(expired))

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep in a thread every few minutes until `stop_ttl_sweeper` is called or the future is cancelled."""
        finished: Future[None] = Future()
        finished.add_done_callback(self._stop_if_cancelled)
        if not self.ttl_config:
            finished.set_result(None)
        elif not (self._sweeper and self._sweeper.is_alive()):
            minutes = sweep_interval_minutes or self.ttl_config.get("sweep_interval_minutes") or 5
            self._stop.clear()
            self._sweeper = threading.Thread(target=self._sweep, args=(minutes * 60, finished), daemon=True)
            self._sweeper.start()
        return finished

    def _stop_if_cancelled(self, future: Future[None]) -> None:
        if future.cancelled():
            self._stop.set()

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the sweeper; return whether none runs any more. `timeout` is in seconds."""
        self._stop.set()
        if self._sweeper:
            self._sweeper.join(timeout)
        return not (self._sweeper and self._sweeper.is_alive())

    def close(self) -> None:
        """Stop the sweeper and close the index. A store that is never closed loses nothing."""
        self.stop_ttl_sweeper()
        self._cache.close()
        self.memory.close()

    def __enter__(self) -> CommonplaceStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, ops: list[Op], embedder: _Embedder | None) -> list[Result]:
        """Check all operations before any of them reads or writes."""
        for op in ops:
            _check(op)
        puts = {(put.namespace, put.key): put for op in ops if isinstance(op, PutOp) for put in [self._prepare_put(op)]}
        look = cache(self._list_items)  # one listing serves all reads of a batch
        read: set[str] = set()
        results = [self._answer(op, look, embedder, read) for op in ops]
        with self._write_session("store.refresh"):
            for path in sorted(read):
                self._items.refresh(path)
        self._write([*puts.values()], embedder)
        return results

    def _answer(self, op: Op, look: Callable[..., Listing], embedder: _Embedder | None, read: set[str]) -> Result:
        """Return the result of a read; pages whose time to live it restarts are added to `read`."""
        refreshed = read if self.ttl_config and getattr(op, "refresh_ttl", False) else set()
        if isinstance(op, GetOp):
            return self._get(op, refreshed)
        if isinstance(op, SearchOp):
            return self._search(op, look(tuple(op.namespace_prefix)), embedder, refreshed)
        return self._namespaces(op, look((), only_pages=True)) if isinstance(op, ListNamespacesOp) else None

    def _get(self, op: GetOp, read: set[str]) -> Item | None:
        stored = self._items.read(tuple(op.namespace), op.key)
        if not stored or (self._omits_expired and stored[1].is_expired(self._home.clock())):
            return None
        if stored[1].expires_at:
            read.add(stored[0].path)
        return Item(**_item_fields(stored[0]))

    def _search(self, op: SearchOp, listing: Listing, embedder: _Embedder | None, read: set[str]) -> list[SearchItem]:
        expired = self._find_expired(listing) if self._omits_expired else set()
        records = [record for record in listing.records if record.path not in expired and _matches_filter(record, op)]
        records.sort(key=lambda record: (sort_key(record.updated_at), record.path), reverse=True)
        scores = self._scores(op.query, listing, embedder) if records and op.query and op.query.strip() else {}
        if scores:  # items without a score come last, in their order
            records.sort(key=lambda record: scores.get(record.path, -2.0), reverse=True)
        page = records[max(op.offset, 0) :][: max(op.limit, 0)]
        read.update(record.path for record in page)
        return [SearchItem(**_item_fields(self._items.parse_item(each)), score=scores.get(each.path)) for each in page]

    def _scores(self, query: str, listing: Listing, embedder: _Embedder | None) -> dict[str, float]:
        """Score each page by the store's embedder, or else by the memory's own search."""
        if embedder and self.index_config:
            self._cache.embed_listing(listing, self._items.read_page, self._embedding(embedder))
            question = embedder.question(query)
            pack_vector(question, self.index_config["dims"])
            return self._cache.similarities(listing.folder, question)
        folder = listing.folder
        if len(folder) > _MAX_PATTERN_LENGTH:
            folder = folder[:_MAX_PATTERN_LENGTH].rpartition("/")[0]
        within = Filters(paths=(f"{folder.replace('*', '?')}/**",))
        scores: dict[str, float] = {}
        result = self._home.search(query, _MAX_HITS, 0.0, filters=within)
        for reason in result.reasons:
            logger.warning(reason)
        for hit in result.hits:
            scores.setdefault(hit.path, hit.score)
        return {path: scores[path] for path in self._items.find_indexed([*scores])}

    def _namespaces(self, op: ListNamespacesOp, listing: Listing) -> list[Namespace]:
        expired = self._find_expired(listing) if self._omits_expired else set()
        folders = {path.rpartition("/")[0]: path for path in listing.stamps if path not in expired}
        namespaces = {self._items.namespace(path) for path in folders.values()}
        for condition in op.match_conditions or ():
            holds = _is_prefix if condition.match_type == "prefix" else _is_suffix
            namespaces = {each for each in namespaces if holds(condition.path, each)}
        if op.max_depth is not None:
            namespaces = {each[: op.max_depth] for each in namespaces}
        return sorted(namespaces)[max(op.offset, 0) :][: max(op.limit, 0)]

    def _prepare_put(self, op: PutOp) -> _PreparedPut:
        """Return a put ready to write; ValueError for a value that is not JSON, HoldsSecret by policy."""
        namespace = tuple(op.namespace)
        if op.value is None:
            return _PreparedPut(namespace, op.key, None, ItemOptions())
        address = {"key": op.key, "namespace": [*namespace]}
        fields, warning = screen_secrets(
            {**address, "value": _to_json_object(op.value, namespace, op.key)}, self._home.settings.secrets
        )
        if any(fields[name] != value for name, value in address.items()):  # a redacted name would find nothing
            raise HoldsSecret("a namespace or a key looks like a secret", advice="Use another name")
        if warning:
            logger.warning(warning)
        index: IndexedPaths = None if op.index is None else tuple(op.index) if op.index else False
        return _PreparedPut(namespace, op.key, dict(fields["value"]), make_options(op.ttl, index, self._home.clock()))

    def _write(self, puts: list[_PreparedPut], embedder: _Embedder | None) -> None:
        written: dict[str, int] = {}
        with self._write_session("store.put" if any(put.value is not None for put in puts) else "store.delete"):
            for put in puts:
                if put.value is None:
                    self._items.remove(put.namespace, put.key)
                else:
                    written[self._items.write(put.namespace, put.key, put.value, put.options)] = UNSURE
        if embedder and written:  # the pages are written: the next search makes up for a failure here
            self._cache.embed_pages(written, self._items.read_page, self._embedding(embedder))

    @contextmanager
    def _write_session(self, tool: str) -> Iterator[None]:
        """Write as one call of a tool, and log the warnings afterwards."""
        with self._home.writer.call(tool) as write:
            yield
        for sentence in write.conflicts:  # the last put counts, as LangGraph has it; history keeps the other
            logger.info(sentence)
        for sentence in write.warnings:
            logger.warning(sentence)

    def _list_items(self, prefix: Namespace, *, only_pages: bool = False) -> Listing:
        listing = self._items.list_below(prefix, only_pages=only_pages)
        for note in listing.warnings:
            logger.warning(note)
        return listing

    def _find_expired(self, listing: Listing) -> set[str]:
        return self._cache.find_expired(listing, self._items.read_page, self._home.clock())

    @property
    def _omits_expired(self) -> bool:
        return bool(self.ttl_config and self.ttl_config.get("omit_expired"))

    @property
    def _embeds_only_async(self) -> bool:
        return (
            self.embeddings is not None and hasattr(self.embeddings, "afunc") and not hasattr(self.embeddings, "func")
        )

    def _embedding(self, embedder: _Embedder) -> ItemEmbedder:
        assert self.index_config is not None
        return ItemEmbedder(self._texts, embedder.documents, self.index_config["dims"])

    def _texts(self, item: StoredItem, options: ItemOptions) -> list[str]:
        paths = self._fields if options.paths is None else options.paths if isinstance(options.paths, tuple) else ()
        return [text for path in paths for text in get_text_at_path(item.value, path)]

    def _fingerprint(self) -> str:
        """Return a hash of the embedder and the fields it embeds: vectors of two embedders cannot be compared."""
        if not self.index_config:
            return "plain"
        embed: Any = self.embeddings
        embed = getattr(embed, "func", None) or getattr(embed, "afunc", None) or embed
        kind = embed if hasattr(embed, "__qualname__") else type(embed)
        model = next((str(name) for each in ("model", "model_name") if (name := getattr(embed, each, None))), "")
        parts = [self.index_config["dims"], self._fields, kind.__module__, kind.__qualname__, model]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()

    def _sweep(self, seconds: float, finished: Future[None]) -> None:
        try:
            while not self._stop.wait(seconds):
                try:
                    self.sweep_ttl()
                except CommonplaceError as error:  # such as a full disk; the next sweep finds the same items
                    logger.warning("expired items were not removed: %s", error)
        finally:
            with suppress(InvalidStateError):  # somebody cancelled it
                finished.set_result(None)


def _indexed_fields(index: IndexConfig) -> list[str]:
    """Return the paths that are embedded of every item. LangGraph's SQLite store calls them text_fields."""
    fields: Any = index.get("fields") or dict(index).get("text_fields") or ["$"]
    paths = [fields] if isinstance(fields, str) else fields
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise ValueError(f"index['fields'] is a list of paths such as 'text' or 'notes[*].title', not {fields!r}")
    if not isinstance(index.get("dims"), int):
        raise ValueError("index['dims'] is missing: say how many numbers a vector of your embedder has")  # noqa: TRY004
    return list(paths)


def _needs_embedder(op: Op) -> bool:
    return (isinstance(op, PutOp) and op.value is not None) or (isinstance(op, SearchOp) and bool(op.query))


def _check(op: Op) -> None:
    """Raise ValueError for an operation that no store could carry out."""
    if not isinstance(op, (GetOp, PutOp, SearchOp, ListNamespacesOp)):
        raise ValueError(f"Unknown operation type: {type(op)}")  # noqa: TRY004
    _check_lists(op)
    validate_op_namespace(op)
    names = [*op.namespace, op.key] if isinstance(op, (GetOp, PutOp)) else []
    if isinstance(op, SearchOp):
        _check_filter(op.filter or {})
        names = [*op.namespace_prefix]
    if isinstance(op, ListNamespacesOp):
        for condition in op.match_conditions or ():
            if condition.match_type not in ("prefix", "suffix"):
                raise ValueError(f"Unsupported match type: {condition.match_type}. There are prefix and suffix.")
    for name in names:
        if not isinstance(name, str) or not is_unicode(name):
            raise ValueError(f"{name!a} is not Unicode text: namespaces and keys must be")


def _check_lists(op: Op) -> None:
    """Raise ValueError for a string in place of a tuple or list: it would be read as its letters."""
    namespace: Any = getattr(op, "namespace", getattr(op, "namespace_prefix", ()))
    if isinstance(namespace, str):
        raise ValueError(f"a namespace is a tuple of labels, not text: write ({namespace!r},)")  # noqa: TRY004
    index: Any = op.index if isinstance(op, PutOp) else None
    if index is True or isinstance(index, str):
        raise ValueError(f"index is a list of paths, False for none, or None for the store's own, not {index!r}")


def _matches_filter(record: Record, op: SearchOp) -> bool:
    return not op.filter or _matches_conditions(to_mapping(record.value), op.filter)


def _to_json_object(value: Mapping[str, Any], namespace: Namespace, key: str) -> dict[str, Json]:
    if not isinstance(value, Mapping):
        raise ValueError(f"the value of an item is a mapping, not {value!r}")  # noqa: TRY004
    try:
        json_value: dict[str, Json] = round_trip(_to_plain(value))
    except (ValueError, TypeError, RecursionError) as error:
        what = f"the value of {key!r} in {namespace}"
        raise ValueError(f"{what} cannot be stored as JSON ({error}): use text, numbers, lists and mappings") from error
    return json_value


def _to_plain(value: Any) -> Any:
    """Return a value with mappings and sequences of any kind as dicts and lists."""
    if isinstance(value, Mapping):
        if odd := [name for name in value if not isinstance(name, str)]:
            raise TypeError(f"the name {odd[0]!r} is not text")
        return {name: _to_plain(each) for name, each in value.items()}
    return [_to_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _item_fields(item: StoredItem) -> dict[str, Any]:
    return {name: value for name, value in item._asdict().items() if name != "path"}


def _check_filter(conditions: Mapping[str, Any]) -> None:
    """Raise ValueError for an invalid filter, whatever the items are."""
    if not isinstance(conditions, Mapping):
        raise ValueError(f"filter must be a mapping of fields to what they should be, not {conditions!r}")  # noqa: TRY004
    for key, each in conditions.items():
        if not isinstance(key, str) or _FORBIDDEN_CHARACTERS.intersection(key):
            raise ValueError(f"Invalid filter key: {key!r}. A filter key is text without quotes and backslashes.")
        _check_value(each)


def _check_value(condition: Any, level: int = 0) -> None:
    if level > _MAX_FILTER_DEPTH:
        raise ValueError(f"A filter nests at most {_MAX_FILTER_DEPTH} levels deep.")
    if isinstance(condition, Mapping):
        unknown = [key for key in condition if key not in _OPERATORS] if _has_operators(condition) else []
        if unknown:
            raise ValueError(f"Unsupported operator: {unknown[0]}. There are {', '.join(_OPERATORS)}.")
        for each in condition.values():
            _check_value(each, level + 1)
    elif isinstance(condition, (list, tuple)):
        for each in condition:
            _check_value(each, level + 1)


def _matches_conditions(value: Mapping[str, Json], conditions: Mapping[str, Any]) -> bool:
    """Return whether a value satisfies every condition of a filter."""
    return all(_matches_value(_get_field(value, key), each) for key, each in conditions.items())


def _get_field(value: Any, key: str) -> Json:
    """Return a field by its exact name, or else by its dotted path."""
    if isinstance(value, Mapping) and key in value:
        return value[key]
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _has_operators(condition: Mapping[Any, Any]) -> bool:
    return any(isinstance(key, str) and key.startswith("$") for key in condition)


def _matches_value(value: Json, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if _has_operators(condition):
            return all(_satisfies(value, name, each) for name, each in condition.items())
        return isinstance(value, Mapping) and all(
            _matches_value(value.get(key), each) for key, each in condition.items()
        )
    if isinstance(condition, (list, tuple)):
        same_length = isinstance(value, list) and len(value) == len(condition)
        return same_length and all(_matches_value(one, other) for one, other in zip(value, condition, strict=True))
    return bool(value == condition)


def _satisfies(value: Json, name: str, operand: Any) -> bool:
    if name in ("$eq", "$ne"):
        return bool((value == operand) is (name == "$eq"))
    one = _parse_number(value)
    other = _parse_number(operand)
    if one is not None and other is not None:
        return _COMPARISONS[name](one, other)
    # ISO dates are text that sorts by time.
    return isinstance(value, str) and isinstance(operand, str) and _COMPARISONS[name](value, operand)


def _parse_number(value: Any) -> int | float | None:
    if isinstance(value, (int, float)):
        return value
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _is_prefix(pattern: Sequence[str], namespace: Sequence[str]) -> bool:
    """Return whether a namespace starts with a pattern, in which `*` matches any one label."""
    if len(pattern) > len(namespace):
        return False
    return all(pattern_label in ("*", label) for pattern_label, label in zip(pattern, namespace, strict=False))


def _is_suffix(pattern: Sequence[str], namespace: Sequence[str]) -> bool:
    return _is_prefix([*reversed(pattern)], [*reversed(namespace)])
