"""Vectors in a file: what is nearest is what comparing everything would find, and a file that is lost costs time only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.index.vector_file import VectorFile, quantize
from commonplace.testing import FrozenClock

from ..examples import examples
from ..programs import run_program

Array = np.ndarray[Any, Any]
DIMS, FEW, MANY = 256, 3_000, 20_000


def texts_like(count: int, seed: int, dims: int = DIMS) -> Array:
    """Vectors as embedders make them: a common direction, some topics, what each text has of its own, and dimensions
    that say more than others."""
    random = np.random.default_rng(seed)
    telling = np.arange(1, dims + 1) ** -0.25
    topics = random.standard_normal((max(8, count // 200), dims))
    own = random.standard_normal((count, dims))
    vectors = 1.5 * topics[random.integers(0, len(topics), count)] + own + 0.3 * random.standard_normal(dims)
    vectors *= telling
    return of_length_one(vectors)


def of_length_one(vectors: Array) -> Array:
    out: Array = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return out


def make_vector_file(path: Path | None, vectors: Array, owners: list[int]) -> VectorFile:
    file = VectorFile(str(path) if path else None, vectors.shape[1])
    file.write(0, quantize(vectors, owners))
    assert file.load(len(vectors))
    return file


def questions_for(vectors: Array, rows: Array, seed: int = 5) -> Array:
    """Questions that some of the rows answer, though not word for word."""
    request = vectors[rows] + 0.08 * np.random.default_rng(seed).standard_normal((len(rows), vectors.shape[1]))
    return of_length_one(request)


def recall(file: VectorFile, vectors: Array, owners: list[int], allowed: list[int], limit: int = 10) -> float:
    """How many of the nearest ten, by comparing every vector as it was, are among the nearest ten found."""
    mine = np.flatnonzero(np.isin(owners, allowed))
    result = 0
    questions = questions_for(vectors, np.random.default_rng(3).choice(mine, 30))
    for question in questions:
        best = mine[np.argsort(-(vectors[mine] @ question))[:limit]]
        rows, likeness = file.nearest(question, np.array(allowed, np.int32), limit)
        assert list(likeness) == sorted(likeness, reverse=True)
        result += len({*best.tolist()} & {*rows.tolist()})
    return result / (len(questions) * limit)


@pytest.mark.parametrize("on_disk", [True, False])
@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize("allowed", [[1], [0, 1, 2, 3]])
def test_the_nearest_are_those_that_comparing_everything_finds(
    tmp_path: Path, count: int, allowed: list[int], on_disk: bool
) -> None:
    vectors = texts_like(count, 1)
    owners = [row % 4 for row in range(count)]
    file = make_vector_file(tmp_path / "v" if on_disk else None, vectors, owners)
    assert recall(file, vectors, owners, allowed) >= 0.95


def test_whoever_owns_one_row_in_a_hundred_finds_them_all_the_same(tmp_path: Path) -> None:
    vectors = texts_like(MANY, 2)
    owners = [7 if row % 100 == 0 else row % 5 for row in range(MANY)]
    file = make_vector_file(tmp_path / "v", vectors, owners)
    assert recall(file, vectors, owners, [7]) >= 0.95


@pytest.mark.parametrize("own", [40, 7_000, 9_000])
def test_rows_of_others_change_neither_the_order_nor_a_cosine(tmp_path: Path, own: int) -> None:
    mine, theirs = texts_like(own, 1), texts_like(9_000, 2) + 0.2
    places = np.sort(np.random.default_rng(3).permutation(own + len(theirs))[:own])
    every = np.zeros((own + len(theirs), DIMS), np.float32)
    every[places] = mine
    every[np.setdiff1d(np.arange(len(every)), places)] = theirs
    owners = np.full(len(every), 2)
    owners[places] = 1
    alone = make_vector_file(tmp_path / "alone", mine, [1] * own)
    shared = make_vector_file(tmp_path / "shared", every, owners.tolist())
    for query in questions_for(mine, np.arange(20)):
        rows, cosines = alone.nearest(query, np.array([1], np.int32), 60)
        with_others, with_others_cosines = shared.nearest(query, np.array([1], np.int32), 60)
        assert places[rows].tolist() == with_others.tolist()
        assert cosines.tolist() == with_others_cosines.tolist()


@pytest.mark.parametrize("count", [FEW, MANY])
def test_only_rows_of_the_owners_or_rows_asked_for_are_found(tmp_path: Path, count: int) -> None:
    vectors = texts_like(count, 3)
    owners = [row % 3 for row in range(count)]
    file = make_vector_file(tmp_path / "v", vectors, owners)
    rows, _ = file.nearest(vectors[1], np.array([0, 2], np.int32), 50)
    assert len(rows) == 50
    assert 1 not in {owners[row] for row in rows.tolist()}
    rows, likeness = file.nearest(vectors[1], np.array([0, 2], np.int32), 5, np.array([9, 3, 6]))
    assert sorted(rows.tolist()) == [3, 6, 9]
    assert likeness == pytest.approx(np.sort(vectors[[3, 6, 9]] @ vectors[1])[::-1], abs=0.02)
    for nobody in (np.array([], np.int32), np.array([99], np.int32)):
        assert [len(part) for part in file.nearest(vectors[1], nobody, 5)] == [0, 0]


@given(
    st.integers(1, 60),
    st.integers(1, 24),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-30, 1e-3, 1.0, 1e3]),
)
def test_rows_keep_their_numbers_to_a_percent(count: int, dims: int, seed: int, size: float) -> None:
    vectors = (np.random.default_rng(seed).standard_normal((count, dims)) * size).astype(np.float32)
    rows = quantize(vectors, list(range(count)))
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    back = rows["values"].astype(np.float32) * rows["scale"][:, None]
    assert (np.abs(back - vectors) <= 0.01 * largest).all()
    assert rows["owner"].tolist() == list(range(count))


def test_a_vector_of_zeros_is_like_nothing() -> None:
    file = make_vector_file(None, np.zeros((2, 8), np.float32), [1, 1])
    question = np.ones(8, np.float32) / np.sqrt(8).astype(np.float32)
    assert file.nearest(question, np.array([1], np.int32), 5)[1].tolist() == [0, 0]


@examples(12)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(0, 1000), st.booleans())
def test_a_file_that_grew_is_one_that_was_written_at_once(
    tmp_path: Path, steps: list[int], seed: int, on_disk: bool
) -> None:
    vectors = texts_like(sum(steps), seed, 16)
    grown = VectorFile(str(tmp_path / "grown") if on_disk else None, 16)
    question, everyone = vectors[0], np.array([1], np.int32)
    done = 0
    for step in steps:
        grown.write(done, quantize(vectors[done : done + step], [1] * step))
        done += step
        assert grown.load(done)
        whole = make_vector_file(tmp_path / "whole" if on_disk else None, vectors[:done], [1] * done)
        assert [part.tolist() for part in grown.nearest(question, everyone, 9)] == [
            part.tolist() for part in whole.nearest(question, everyone, 9)
        ]


def test_a_large_file_that_grows_by_one_finds_the_new_row(tmp_path: Path) -> None:
    vectors = texts_like(9_000, 4)
    file = make_vector_file(tmp_path / "v", vectors, [1] * 9_000)
    new = texts_like(3, 99)
    for number, vector in enumerate(new):
        before = 9_000 + number
        file.nearest(vector, np.array([1], np.int32), 1)
        file.write(before, quantize(vector[None, :], [1]))
        assert file.load(before + 1)
        assert file.nearest(vector, np.array([1], np.int32), 1)[0].tolist() == [before]


def test_what_was_written_and_never_counted_is_written_over(tmp_path: Path) -> None:
    vectors = texts_like(30, 6, 16)
    file = make_vector_file(tmp_path / "v", vectors[:10], [1] * 10)
    file.write(10, quantize(vectors[10:20], [1] * 10))
    file.write(10, quantize(vectors[20:25], [2] * 5))
    assert file.load(15)
    assert not file.load(16)
    assert file.rows(np.arange(10, 15))["owner"].tolist() == [2] * 5


def test_a_file_is_there_again_after_it_was_closed(tmp_path: Path) -> None:
    vectors = texts_like(50, 7, 32)
    make_vector_file(tmp_path / "v", vectors, [1] * 50)
    again = VectorFile(str(tmp_path / "v"), 32)
    assert again.load(50)
    assert again.nearest(vectors[20], np.array([1], np.int32), 1)[0].tolist() == [20]
    assert (tmp_path / "v").stat().st_mode & 0o077 == 0


def test_a_file_that_is_not_there_or_too_short_is_not_seen(tmp_path: Path) -> None:
    assert not VectorFile(str(tmp_path / "none"), 32).load(1)
    make_vector_file(tmp_path / "v", texts_like(5, 8, 32), [1] * 5)
    assert not VectorFile(str(tmp_path / "v"), 32).load(6)


def test_rows_are_not_written_behind_a_gap(tmp_path: Path) -> None:
    """A file that lost rows must not be filled up with nothing: then nobody would notice the loss."""
    file = make_vector_file(tmp_path / "v", texts_like(5, 8, 32), [1] * 5)
    (tmp_path / "v").unlink()
    try:
        file.write(5, quantize(texts_like(1, 9, 32), [1]))
    except Exception:  # noqa: BLE001  how it is refused is its own affair
        return
    assert not VectorFile(str(tmp_path / "v"), 32).load(6)


ONE_MORE = """
import sys
import numpy as np
from commonplace.index.vector_file import VectorFile, quantize
file = VectorFile(sys.argv[1], 16)
file.write(10, quantize(np.eye(16, dtype=np.float32)[:1], [3]))
"""


def test_rows_of_one_process_are_seen_by_another(tmp_path: Path) -> None:
    file = make_vector_file(tmp_path / "v", texts_like(10, 9, 16), [1] * 10)
    assert run_program(ONE_MORE, str(tmp_path / "v")).returncode == 0
    assert file.load(11)
    rows, likeness = file.nearest(np.eye(16, dtype=np.float32)[0], np.array([3], np.int32), 5)
    assert (rows.tolist(), likeness.tolist()) == ([10], [pytest.approx(1.0)])


FACTS = {
    "pet": "Our cat sleeps on the windowsill all day.",
    "garden": "I planted tomatoes and basil in the garden.",
    "passport": "My passport expires in June and must be renewed.",
}
QUESTIONS = {"pet": "feline asleep", "garden": "vegetables someone grew", "passport": "travel document renewal"}


def remember(memory: Memory) -> Memory:
    for topic, text in FACTS.items():
        memory.call("update_world", {"topic": topic, "content": text})
    return memory


def answers(memory: Memory) -> dict[str, list[str]]:
    """What each question finds first. None of them has a word in common with what answers it."""
    return {topic: [hit.path for hit in memory.search(text)][:1] for topic, text in QUESTIONS.items()}


EXPECTED = {topic: [f"memory/world/{topic}.md"] for topic in FACTS}


def vector_file(home: Path) -> Path:
    (file,) = (home / ".index").glob("*.vectors")
    return file


def lose(file: Path, how: str) -> None:
    if how == "removed":
        file.unlink()
    elif how == "empty":
        file.write_bytes(b"")
    else:
        file.write_bytes(file.read_bytes()[:-100])


@pytest.mark.parametrize("how", ["removed", "empty", "truncated"])
@pytest.mark.parametrize("edited", [False, True])
def test_vectors_that_are_lost_between_two_openings_are_rebuilt(
    home: Path, clock: FrozenClock, how: str, edited: bool
) -> None:
    with remember(Memory(home, clock=clock)) as memory:
        assert answers(memory) == EXPECTED
    lose(vector_file(home), how)
    if edited:
        (home / "memory/world/new.md").write_text("The train leaves at noon.\n")
    with Memory(home, clock=clock) as again:
        assert [hit.path for hit in again.search("passport")][:1] == ["memory/world/passport.md"]
        assert again.home.search("passport").mode == "hybrid"
        assert answers(again) == EXPECTED
        assert again.call("memory_search", {"query": "passport"}).get("warning", "") == ""
    assert vector_file(home).stat().st_size > 0


LOSES_MEANWHILE = """
import os, sys
from commonplace import Memory
home, how, edited = sys.argv[1], sys.argv[2], sys.argv[3] == "True"
memory = Memory(home)
assert memory.search("feline asleep")
(name,) = (name for name in os.listdir(f"{home}/.index") if name.endswith(".vectors"))
if how == "removed":
    os.unlink(f"{home}/.index/{name}")
else:
    os.truncate(f"{home}/.index/{name}", 0 if how == "empty" else 100)
if edited:
    memory.call("update_world", {"topic": "new", "content": "The train leaves at noon."})
for _ in range(2):
    print([hit.path for hit in memory.search("feline asleep")][:1])
"""


@pytest.mark.parametrize("how", ["removed", "empty", "truncated"])
@pytest.mark.parametrize("edited", [False, True])
def test_vectors_that_are_lost_while_they_are_used_stop_nothing(home: Path, how: str, edited: bool) -> None:
    remember(Memory(home)).close()
    done = run_program(LOSES_MEANWHILE, str(home), how, str(edited))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["['memory/world/pet.md']"] * 2
