"""Any sequence of operations leaves our store saying what LangGraph's own store in memory says."""

from __future__ import annotations

import tempfile
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from commonplace.adapters.langgraph import CommonplaceStore

from ..examples import examples

LABELS = st.sampled_from(["a", "b", "A", "a b", "a\n", "*", "naïve", "con", "x~aaaaaaaaaaaaaaaa"])
KEYS = st.sampled_from(["k", "K", "k.md", "../k", "", "k\0", "日本", "k" * 300]) | st.text(max_size=5)
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text(max_size=3)
VALUES = st.dictionaries(
    st.sampled_from("xyz"),
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner), max_leaves=4
    ),
    max_size=3,
)
FILTERS = (
    st.none() | VALUES | st.dictionaries(st.sampled_from("xyz"), st.fixed_dictionaries({"$ne": SCALARS}), max_size=1)
)
CONDITIONS = st.lists(
    st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), st.lists(LABELS, max_size=2).map(tuple)),
    max_size=2,
)
PREFIXES = st.lists(LABELS, max_size=2).map(tuple)
OPS = st.one_of(
    st.tuples(NAMESPACES, KEYS, VALUES).map(lambda parts: PutOp(*parts)),
    st.tuples(NAMESPACES, KEYS, st.none() | VALUES).map(lambda parts: PutOp(*parts)),
    st.tuples(NAMESPACES, KEYS).map(lambda parts: GetOp(*parts)),
    st.tuples(PREFIXES, FILTERS, st.just(1000)).map(lambda parts: SearchOp(*parts)),
    st.tuples(CONDITIONS.map(tuple), st.none() | st.integers(1, 3), st.just(1000)).map(
        lambda parts: ListNamespacesOp(*parts)
    ),
)


def plain(result: Any) -> Any:
    """An answer without times and without an order that stores are free to choose."""
    if isinstance(result, list) and result and isinstance(result[0], tuple):
        return result
    if isinstance(result, list):
        return sorted((item.namespace, item.key, repr(item.value)) for item in result)
    return result and (result.namespace, result.key, result.value)


def ask_reference(store: InMemoryStore, op: Any) -> Any:
    """What the store in memory says; it goes on listing namespaces that have no item any more, or never had one."""
    (result,) = store.batch([op])
    if isinstance(op, ListNamespacesOp):
        filled = {item.namespace for item in store.search((), limit=100_000)}
        for namespace in {*store._data} - filled:
            del store._data[namespace]
        (result,) = store.batch([op])
    return plain(result)


@examples(25)
@given(st.lists(st.lists(OPS, min_size=1, max_size=4), max_size=8))
def test_the_store_says_what_the_store_in_memory_says(batches: list[list[Any]]) -> None:
    with tempfile.TemporaryDirectory() as home, CommonplaceStore(home) as ours:
        theirs = InMemoryStore()
        for batch in batches:
            output = [None if isinstance(op, PutOp) else ask_reference(theirs, op) for op in batch]
            theirs.batch([op for op in batch if isinstance(op, PutOp)])
            assert [plain(result) for result in ours.batch(batch)] == output
        every = ours.search((), limit=100_000)
        assert plain(every) == plain(theirs.search((), limit=100_000))
        assert all(ours.get(item.namespace, item.key) is not None for item in every)
        with CommonplaceStore(home) as again:
            assert plain(again.search((), limit=100_000)) == plain(every)
