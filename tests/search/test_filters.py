"""What a search keeps to, by words and by meaning; and what no search shows, whatever it asks for."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import InvalidArgument, Memory
from commonplace.model import EVERYTHING, Filters, Viewer
from commonplace.testing import FrozenClock

from ..examples import examples

BY_WORDS, BY_MEANING = "cat sleeps", "kitten: feline asleep"  # the second has no word in common with any page
QUESTIONS = pytest.mark.parametrize("question", [BY_WORDS, BY_MEANING])
SETTINGS = "memorySearch:\n  indexSessions: true\n  maxResults: 100\n  extraPaths:\n  - books/*.md\n"
HANDS = {
    "MEMORY.md": "shared:MEMORY.md",
    "memory/house.md": "shared",
    "memory/world/pets.md": "world",
    "books/cats.md": "extra",
    "agents/main/memory/deep/own.md": "agent",
    "agents/other/memory/private.md": "another's",
    "agents/other/memory/MEMORY.md": "another's",
}


def put(home: Path, path: str, text: str) -> None:
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    (home / path).write_text(text)


def make_fact(place: str) -> str:
    return f"Our cat sleeps in the {place}."


def fill(home: Path, clock: FrozenClock, *, others: bool = True) -> Memory:
    """The same fact in every place a home has, on two days, with tags where a place takes them."""
    put(home, "commonplace.yaml", SETTINGS)
    for path in HANDS:
        if others or "other" not in path:
            put(home, path, make_fact(Path(path).stem) + "\n")
    turn = json.dumps({"role": "user", "content": make_fact("session"), "timestamp": "1 February 2026"})
    for agent in ("main", "other") if others else ("main",):
        put(home, f"agents/{agent}/sessions/s.jsonl", turn + "\n")
    clock.now = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
    memory = Memory(home, clock=clock)
    memory.call("remember", {"content": make_fact("hall")})
    memory.call("memory_write", {"key": "box", "content": make_fact("box"), "tags": ["pet", "home"]})
    memory.call("MemoryTool", {"op": "setGlobal", "key": "roof", "value": make_fact("roof"), "tags": ["pet"]})
    for channel in ("dev", "ops"):
        value = make_fact(f"{channel} room")
        memory.call("MemoryTool", {"op": "setChannel", "channelName": channel, "key": "spot", "value": value})
    memory.call(
        "MemoryTool",
        {"op": "createSkill", "name": "cats", "description": make_fact("skill"), "instructions": "Be quiet."},
    )
    clock.now = datetime(2026, 3, 14, 8, 0, tzinfo=UTC)
    memory.call("remember", {"content": make_fact("cellar")})
    return memory


@pytest.fixture
def full(home: Path, clock: FrozenClock) -> Memory:
    return fill(home, clock)


def paths(memory: Memory, question: str, viewer: Viewer | None = None, **filters: Any) -> list[str]:
    hits = memory.home.search(question, 100, 0.0, viewer, Filters(**filters))
    assert hits.mode == "hybrid"
    return sorted(hit.path for hit in hits.hits if "cat" in hit.text or hit.key == "cats")


DAYS = ["agents/main/memory/daily/2026-03-01.md", "agents/main/memory/daily/2026-03-14.md"]
OWN = "agents/main/memory/deep/own.md"
SESSION = "agents/main/sessions/s.jsonl"
GLOBAL = "memory/global/general/roof.md"
CHANNELS = ["memory/channels/dev/spot.md", "memory/channels/ops/spot.md"]
SHARED = ["MEMORY.md", "memory/house.md"]
WORLD, EXTRA, SKILL = "memory/world/pets.md", "books/cats.md", "skills/cats/SKILL.md"


@QUESTIONS
def test_without_filters_everything_the_agent_may_see_is_found(full: Memory, question: str) -> None:
    hit_paths = paths(full, question)
    assert {*hit_paths} >= {*DAYS, OWN, SESSION, GLOBAL, *CHANNELS, *SHARED, WORLD, EXTRA, SKILL}
    assert not any("other" in path for path in hit_paths)


@QUESTIONS
@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (("world",), [WORLD]),
        (("shared",), SHARED),
        (("global",), [GLOBAL]),
        (("channel",), CHANNELS),
        (("channel:dev",), CHANNELS[:1]),
        (("skill",), [SKILL]),
        (("extra",), [EXTRA]),
        (("world", "global"), [GLOBAL, WORLD]),
        (("channel:nowhere",), []),
        (("agent:other",), []),
        (("channel:' OR 1=1 --",), []),
    ],
)
def test_a_search_keeps_to_scopes(full: Memory, question: str, scopes: tuple[str, ...], expected: list[str]) -> None:
    assert paths(full, question, scopes=scopes) == expected


@QUESTIONS
def test_the_scope_of_an_agent_is_its_own_alone(full: Memory, question: str) -> None:
    for scopes in (("agent",), ("agent:main",)):
        hit_paths = paths(full, question, scopes=scopes)
        assert {*hit_paths} >= {*DAYS, OWN, SESSION}
        assert all(path.startswith("agents/main/") for path in hit_paths)
    assert paths(full, question, agent="main") == paths(full, question, scopes=("agent",))
    assert paths(full, question, agent="other") == []


@QUESTIONS
def test_a_search_keeps_to_a_channel(full: Memory, question: str) -> None:
    assert paths(full, question, channel="ops") == CHANNELS[1:]
    assert paths(full, question, channel="ops", scopes=("channel:dev",)) == []
    assert paths(full, question, channel="nowhere") == []


@QUESTIONS
def test_a_search_keeps_to_tags_that_are_all_there(full: Memory, question: str) -> None:
    (box,) = paths(full, question, tags=("home",))
    assert paths(full, question, tags=("pet",)) == sorted([box, GLOBAL])
    assert paths(full, question, tags=("pet", "home")) == [box]
    assert paths(full, question, tags=("pet", "garden")) == []
    assert paths(full, question, tags=("pe",)) == []


def day(month: int, number: int) -> int:
    return date(2026, month, number).toordinal()


@QUESTIONS
def test_a_search_keeps_to_days_both_included(full: Memory, question: str) -> None:
    assert paths(full, question, until=day(2, 28)) == [SESSION]
    assert paths(full, question, since=day(3, 14)) == [DAYS[1]]
    assert paths(full, question, since=day(3, 15)) == []
    first = paths(full, question, since=day(3, 1), until=day(3, 1))
    assert {*first} >= {DAYS[0], GLOBAL, *CHANNELS}
    assert not {SESSION, DAYS[1], WORLD, EXTRA, *SHARED} & {*first}


@QUESTIONS
def test_a_search_keeps_to_a_source(full: Memory, question: str) -> None:
    assert paths(full, question, source="session") == [SESSION]
    assert paths(full, question, source="extra") == [EXTRA]
    assert {*paths(full, question, source="memory")} == {*paths(full, question)} - {SESSION, EXTRA}


@QUESTIONS
def test_a_search_keeps_to_paths(full: Memory, question: str) -> None:
    assert paths(full, question, paths=("memory/*.md",)) == ["memory/house.md"]
    assert paths(full, question, paths=("memory/channels/**",)) == CHANNELS
    assert paths(full, question, paths=("books/*.md", "MEMORY.md")) == ["MEMORY.md", EXTRA]
    assert paths(full, question, paths=("**/private.md", "agents/other/**")) == []
    assert paths(full, question, paths=("[", "(", "\\")) == []


@QUESTIONS
def test_filters_narrow_each_other(full: Memory, question: str) -> None:
    together: dict[str, Any] = {"scopes": ("agent", "global"), "tags": ("pet",), "since": day(3, 1), "until": day(3, 2)}
    assert len(paths(full, question, **together)) == 2
    assert paths(full, question, **together, paths=("memory/**",)) == [GLOBAL]
    assert paths(full, question, **together, paths=("memory/**",), source="memory") == [GLOBAL]
    assert paths(full, question, **together, channel="dev") == []


@QUESTIONS
def test_one_conversation_sees_its_own_channel_and_skills_alone(full: Memory, question: str) -> None:
    here = Viewer("main", ("books/*.md",), one_conversation=True, channel="dev")
    hit_paths = paths(full, question, here)
    assert CHANNELS[0] in hit_paths
    assert CHANNELS[1] not in hit_paths
    assert paths(full, question, here, channel="ops") == []
    nowhere = Viewer("main", one_conversation=True)
    assert not {*CHANNELS, EXTRA} & {*paths(full, question, nowhere)}


def test_an_extra_path_is_found_by_those_who_have_it_in_their_settings(home: Path, clock: FrozenClock) -> None:
    fill(home, clock)
    own = "agents:\n  main:\n    memorySearch:\n      extraPaths:\n      - books/*.md\n"
    put(home, "commonplace.yaml", SETTINGS.partition("  extraPaths")[0] + own)
    for question in (BY_WORDS, BY_MEANING):
        assert EXTRA in paths(Memory(home, clock=clock), question)
        assert EXTRA not in paths(Memory(home, agent="other", clock=clock), question)
        assert paths(Memory(home, agent="other", clock=clock), question, scopes=("extra",)) == []


@pytest.mark.parametrize(
    "filters",
    [
        Filters(scopes=("nonsense",)),
        Filters(scopes=("",)),
        Filters(scopes=("world' OR 1=1 --",)),
        Filters(source="dream"),
        Filters(since=day(3, 14), until=day(3, 1)),
    ],
)
def test_a_filter_that_can_find_nothing_is_refused(full: Memory, filters: Filters) -> None:
    with pytest.raises(InvalidArgument):
        full.home.search(BY_WORDS, filters=filters)


odd_names = st.one_of(st.sampled_from(["", "agent", "agent:other", "other", "world", "%", "*", "**", "agents/**", "'", "\0"]), st.text(max_size=6))  # fmt: skip
odd_days = st.one_of(st.none(), st.integers(-5, 10), st.integers(day(2, 1), day(3, 20)), st.integers(0, 2**62))
odd_filters = st.builds(
    Filters,
    scopes=st.lists(
        st.sampled_from(["agent", "agent:other", "agent:%", "extra", "extra:*", "world", "skill:other", "x"]),
        max_size=2,
    ).map(tuple),
    channel=odd_names,
    agent=odd_names,
    tags=st.lists(odd_names, max_size=2).map(tuple),
    since=odd_days,
    until=odd_days,
    source=st.sampled_from(["", "", "memory", "session", "extra", "x"]),
    paths=st.lists(odd_names, max_size=2).map(tuple),
    author=odd_names,
    as_of=odd_days,
    past=st.none(),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return fill(tmp_path_factory.mktemp("whole") / "home", FrozenClock())


@examples(25)
@given(st.sampled_from([BY_WORDS, BY_MEANING, "private", "other"]), odd_filters)
def test_no_filter_shows_more_than_there_is_without_it(whole: Memory, question: str, filters: Filters) -> None:
    every = {(hit.path, hit.start) for hit in whole.home.search(question, 100, 0.0).hits}
    try:
        hits = whole.home.search(question, 100, 0.0, filters=filters)
    except InvalidArgument:
        return
    assert not [warning for warning in hits.warnings if not warning.startswith("history does not know")]
    assert {(hit.path, hit.start) for hit in hits.hits} <= every
    assert not any(hit.path.startswith("agents/other") for hit in hits.hits)


@pytest.mark.parametrize(
    "filters",
    [
        Filters(scopes=("\ud800",)),
        Filters(tags=("\ud800",)),
        Filters(paths=("\ud800*",)),
        Filters(source="\ud800"),
        Filters(since=2**70),
        Filters(until=-(2**70)),
        Filters(paths=("*" * 5_000,)),
        Filters(tags=("x",) * 2_000),
        Filters(scopes=("world",) * 12_000),
    ],
)
def test_a_filter_that_makes_no_sense_finds_nothing_or_is_refused_and_costs_no_index(
    whole: Memory, filters: Filters
) -> None:
    with suppress(InvalidArgument):
        reply = whole.home.search(BY_WORDS, 100, 0.0, filters=filters)
        assert not any("other" in hit.path for hit in reply.hits)
    assert not whole.home.search(BY_WORDS).warnings


PRIVATE = "agents/other/memory/private.md"


def everything_said_to(memory: Memory) -> str:
    """What an agent can get at by any door, as one text."""
    replies: list[Any] = [memory.call("memory_search", {"query": text}) for text in ("heron", "wading bird", "vault")]
    replies += [memory.call(tool, {"query": "heron"}) for tool in ("search_memory", "memory_search")]
    replies += [memory.call("memory_get", {"path": PRIVATE}), memory.call("MemoryTool", {"op": "listGlobal"})]
    replies += [str(memory.context(query="heron wading bird"))]
    for filters in (EVERYTHING, Filters(agent="other"), Filters(scopes=("agent:other",)), Filters(paths=("**",))):
        replies += [memory.home.search(text, 100, 0.0, filters=filters) for text in ("heron", "wading bird")]
    return json.dumps(replies, default=str, ensure_ascii=False)


def test_a_private_page_is_shown_by_no_surface(home: Path, clock: FrozenClock) -> None:
    memory = fill(home, clock)
    put(home, PRIVATE, "The heron guards the vault.\n")
    replies = everything_said_to(memory)
    assert "guards" not in replies
    assert "agents/other/memory/private.md#" not in replies
    other = Memory(home, agent="other", clock=clock)
    assert other.search("heron")[0].path == PRIVATE
    assert other.search("a wading bird keeps watch over the safe")[0].path == PRIVATE


def test_what_another_agent_keeps_to_itself_changes_no_answer(home: Path, clock: FrozenClock) -> None:
    """Not the order, not a score: a word that others use privately must not weigh less, or one could ask for it."""
    memory = fill(home, clock, others=False)
    put(home, "memory/birds.md", "A heron and a stork stood in the pond.\n")
    request = ("heron stork", "heron", "pond", BY_WORDS, BY_MEANING)
    before = [memory.home.search(text, 100, 0.0) for text in request]
    for number in range(30):
        put(home, f"agents/other/memory/n{number}.md", f"The heron guards vault {number}.\n")
    after = [memory.home.search(text, 100, 0.0) for text in request]
    for one, other in zip(before, after, strict=True):
        assert [(hit.path, hit.start, hit.score) for hit in one.hits] == [
            (hit.path, hit.start, hit.score) for hit in other.hits
        ]


def test_what_is_wrong_with_a_private_page_is_not_shown_to_others(home: Path, clock: FrozenClock) -> None:
    memory = fill(home, clock)
    put(home, "agents/other/sessions/broken.jsonl", "not json\n")
    (home / "agents/other/memory/latin.md").write_bytes(b"caf\xe9")
    for answer in (memory.call("memory_search", {"query": "cat"}), memory.status(), memory.home.search("cat")):
        assert "agents/other" not in str(answer)
    own = Memory(home, agent="other", clock=clock).call("memory_search", {"query": "cat"})
    assert "agents/other/sessions/broken.jsonl" in own["warning"]


def test_a_time_long_ago_is_before_all_memory(home: Path, clock: FrozenClock) -> None:
    with fill(home, clock) as memory:
        assert memory.search("cat", as_of="999999999 weeks ago") == []


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00"])
def test_a_time_that_no_calendar_has_everywhere_is_refused(home: Path, clock: FrozenClock, moment: str) -> None:
    with fill(home, clock) as memory, pytest.raises(InvalidArgument, match="is not a time"):
        memory.search("cat", as_of=moment)


@pytest.mark.parametrize("path", [".", "./", "/"])
def test_the_path_of_the_whole_memory_leaves_nothing_out(home: Path, clock: FrozenClock, path: str) -> None:
    with fill(home, clock) as memory:
        assert memory.search("cat sleeps", limit=50, path=path) == memory.search("cat sleeps", limit=50)
