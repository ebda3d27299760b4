"""The public handle: search by keywords or by both, and an index that is built beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import InvalidArgument, Memory
from commonplace.testing import FrozenClock


@pytest.fixture
def memory(home: Path, clock: FrozenClock) -> Memory:
    memory = Memory(home, clock=clock)
    memory.call("update_world", {"topic": "pets", "content": "Our cat sleeps on the windowsill."})
    memory.call("update_world", {"topic": "office", "content": "The printer on the second floor jams."})
    return memory


def paths(memory: Memory, query: str, mode: str | None = None) -> list[str]:
    return [hit.path for hit in memory.search(query, mode=mode)]


def test_hybrid_search_finds_by_meaning_and_is_the_default(memory: Memory) -> None:
    assert paths(memory, "feline asleep by the window", "hybrid")[0] == "memory/world/pets.md"
    assert paths(memory, "feline asleep by the window") == paths(memory, "feline asleep by the window", "hybrid")


def test_keyword_search_finds_only_what_holds_the_words(memory: Memory) -> None:
    assert paths(memory, "feline", "keyword") == []
    assert paths(memory, "printer", "keyword") == ["memory/world/office.md"]
    assert memory.home.search("printer", mode="keyword").mode == "keyword"


def test_the_settings_choose_the_mode_that_the_caller_leaves_out(home: Path, memory: Memory) -> None:
    (home / "commonplace.yaml").write_text("memorySearch:\n  provider: none\n")
    by_words = Memory(home)
    assert paths(by_words, "feline asleep") == []
    assert by_words.home.search("printer").mode == "keyword"
    assert paths(by_words, "feline asleep by the window", "hybrid")[0] == "memory/world/pets.md"


@pytest.mark.parametrize("mode", ["vector", "", "Keyword", 1])
def test_an_unknown_mode_is_refused_with_the_known_ones(memory: Memory, mode: str) -> None:
    with pytest.raises(InvalidArgument, match="mode must be one of hybrid, keyword"):
        memory.search("printer", mode=mode)


def test_build_index_waits_until_everything_is_indexed_and_says_what_it_holds(home: Path, memory: Memory) -> None:
    (home / "memory" / "world" / "garden.md").write_text("# Garden\n\nThe roses are pruned in March.\n")
    status = memory.build_index()
    assert status["up_to_date"]
    assert (status["pages"], status["spaces"][0]["seen"]) == (3, status["passages"])


def test_a_rebuilt_index_answers_as_before(memory: Memory) -> None:
    before = memory.search("printer on which floor")
    assert memory.build_index(rebuild=True)["up_to_date"]
    assert memory.search("printer on which floor") == before


def test_the_same_text_on_three_pages_is_one_hit(home: Path) -> None:
    for name in ("a", "b", "c"):
        page = home / f"memory/{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("The deploy day is Thursday.\n")
    memory = Memory(home)
    assert [hit.path for hit in memory.search("deploy day")] == ["memory/a.md"]


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_copies_of_one_text_do_not_keep_others_from_being_hits(home: Path, mode: str) -> None:
    folder = home / "memory"
    folder.mkdir(parents=True)
    for number in range(130):
        (folder / f"copy{number:03}.md").write_text("The deploy day is Thursday.\n")
    others = {f"memory/{topic}.md" for topic in ("billing", "search", "sign-in", "reports")}
    for path in others:
        (home / path).write_text(f"Of {Path(path).stem}, there is a deploy when its team has nothing else to do.\n")
    hits = [hit.path for hit in Memory(home).search("deploy day", limit=8, mode=mode)]
    assert (hits[0], {*hits[1:]}) == ("memory/copy000.md", others)


def test_records_with_the_same_value_are_as_many_hits_as_keys(home: Path) -> None:
    memory = Memory(home)
    for key in ("editor", "pager"):
        memory.call("MemoryTool", {"op": "setGlobal", "key": key, "value": "vim"})
    assert {hit.key for hit in memory.search("vim")} == {"editor", "pager"}


ABOUT_ADA = "Works at ETH until summer; met at SIGIR. Prefers e-mail.\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("memory/people/Ada Chen.md", ABOUT_ADA),
        ("memory/world/ada-chen.md", ABOUT_ADA),
        ("memory/global/people/Ada Chen.md", ABOUT_ADA),
    ],
)
@pytest.mark.parametrize("query", ["Ada Chen", "who is Ada Chen?"])
def test_what_a_query_names_comes_before_what_only_mentions_it(
    memory: Memory, home: Path, path: str, text: str, query: str
) -> None:
    page = home / path
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)
    memory.call("remember", {"content": "Lunch with Ada Chen and Bo on Friday. Ada Chen pays."})
    named, mentioned = memory.search(query)[:2]
    assert named.path == path
    assert named.score >= 0.5
    assert "Lunch" in mentioned.text
    assert mentioned.score >= 0.5


def test_of_a_long_page_that_a_query_names_one_passage_comes_first(memory: Memory, home: Path) -> None:
    page = home / "memory/people/Ada Chen.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("".join(f"# Part {number}\n\n{ABOUT_ADA * 8}\n" for number in range(12)))
    memory.call("remember", {"content": "Lunch with Ada Chen and Bo on Friday. Ada Chen pays."})
    assert [hit.path == "memory/people/Ada Chen.md" for hit in memory.search("Ada Chen", limit=2)] == [True, False]


def test_a_page_that_a_question_names_without_the_answer_is_not_likely(memory: Memory) -> None:
    memory.call("update_world", {"topic": "standup", "content": "Everybody says in a sentence what they do."})
    assert all(hit.score < 0.5 for hit in memory.search("when is the standup?"))
