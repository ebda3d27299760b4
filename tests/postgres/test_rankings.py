"""What a search finds, and in which order, does not depend on where the memory is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

from ..search.test_dense import keep

pytestmark = pytest.mark.slow
SAMPLE = json.loads((Path(__file__).parents[1] / "search/sample.json").read_text("utf-8"))


@pytest.fixture
def both(tmp_path: Path, url: str) -> Iterator[tuple[Memory, Memory]]:
    """The same notes in a folder and in a database."""
    clock = FrozenClock()
    with Memory(tmp_path / "home", clock=clock) as folder, Memory(url, clock=clock) as database:
        for note in SAMPLE["notes"]:
            for memory in (folder, database):
                keep(memory, clock, **note)
        clock.now = datetime(2026, 3, 14, 9, tzinfo=UTC)
        yield folder, database


def first_ten(memory: Memory, question: str, *, keyword: bool) -> list[tuple[str, int]]:
    return [
        (hit.path, hit.start) for hit in memory.home.search(question, 10, 0.0, mode="keyword" if keyword else None).hits
    ]


@pytest.mark.parametrize("keyword", [True, False], ids=["by words", "by words and meaning"])
def test_the_first_ten_hits_are_the_same_in_a_folder_and_in_a_database(
    both: tuple[Memory, Memory], keyword: bool
) -> None:
    alike, first = [], []
    for question in SAMPLE["questions"]:
        here, there = (first_ten(memory, question["text"], keyword=keyword) for memory in both)
        alike.append(1.0 if here == there else len({*here} & {*there}) / max(len(here), len(there)))
        first.append(here[:1] == there[:1])
    assert sum(alike) / len(alike) >= 0.95
    assert sum(first) / len(first) >= 0.95


@pytest.mark.parametrize("question", ["what happened last week", "what did we plan this month?", "last year", "in May"])
def test_days_select_the_same_hits_in_a_folder_and_in_a_database(both: tuple[Memory, Memory], question: str) -> None:
    here, there = (memory.home.search(question, 20) for memory in both)
    assert here.hits
    pairs = list(zip(here.hits, there.hits, strict=False))
    assert all(one.citation == other.citation for one, other in pairs)
    # Vectors are rounded in a folder: the last hit that is near enough may be in one of them only.
    assert abs(len(here.hits) - len(there.hits)) <= 1
    assert here.warnings == there.warnings


def test_open_tasks_are_found_in_a_database_as_in_a_folder(both: tuple[Memory, Memory]) -> None:
    for memory in both:
        memory.call("remember", {"content": "TODO: rotate the API key of the mail provider."})
    here, there = (memory.search("what is left to do?") for memory in both)
    assert "rotate the API key" in here[0].text
    assert (there[0].citation, there[0].score >= 0.5) == (here[0].citation, here[0].score >= 0.5)
