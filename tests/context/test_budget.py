"""A budget is used and never passed; whatever is long is cut inside itself, and nothing empties the rest."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commonplace import Memory
from commonplace.context.budget import Section, fit_sections
from commonplace.context.items import TextItem
from commonplace.framing import TITLES, estimate_tokens
from commonplace.testing import FrozenClock

from ..texts import texts
from .test_context import ATTACKS

SENTENCES = "The ferry to Gedser leaves at noon. Nobody told the harbour master. Ann keeps the second key. "
BUDGETS = (500, 1500, 4000)


def op(memory: Memory, **arguments: Any) -> dict[str, Any]:
    return memory.call("MemoryTool", arguments)


def headings(text: str) -> list[str]:
    """The level-2 headings as a Markdown reader sees them."""
    tokens = MarkdownIt().parse(text)
    return [
        tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"
    ]


def keep_days(memory: Memory, clock: FrozenClock) -> None:
    for number in range(120):
        memory.call("remember", {"content": f"Parcel {number} went to harbour {number % 7}. {SENTENCES}"})
        clock.advance(hours=7)


def keep_one_day(memory: Memory, clock: FrozenClock) -> None:
    page = "".join(
        f"## {8 + number // 60:02}:{number % 60:02}\n\nParcel {number} went to harbour {number % 7}.\n\n"
        for number in range(450)
    )
    memory.home.storage.pages.write("agents/main/memory/daily/2026-03-14.md", f"# 2026-03-14\n\n{page}")


def keep_curated_lines(memory: Memory, _: FrozenClock) -> None:
    memory.call("reflect", {"content": "\n".join(f"- {number}: {SENTENCES}" for number in range(300))})


def keep_curated_line(memory: Memory, _: FrozenClock) -> None:
    memory.call("reflect", {"content": SENTENCES * 400})


def keep_curated_chinese(memory: Memory, _: FrozenClock) -> None:
    memory.call("reflect", {"content": "渡轮中午开往盖瑟港口。没有人告诉港务长。\n" * 400})


def keep_handoff(memory: Memory, _: FrozenClock) -> None:
    memory.call("write_session_handoff", {"content": "go on with the roof " * 1500})


def keep_large_topics(memory: Memory, _: FrozenClock) -> None:
    for number in range(5):
        memory.call(
            "update_world", {"topic": f"harbour {number}", "content": f"# {number}\n\n" + f"{SENTENCES}\n" * 100}
        )


def keep_many_topics(memory: Memory, _: FrozenClock) -> None:
    for number in range(300):
        memory.home.storage.pages.write(f"memory/world/harbour-number-{number}.md", f"{number}: {SENTENCES}\n")


def keep_notes(memory: Memory, clock: FrozenClock) -> None:
    for number in range(60):
        memory.call("write_memory", {"key": f"task-{number}", "content": f"Step {number}: {SENTENCES * 3}"})
        clock.advance(seconds=5)


def keep_skills(memory: Memory, _: FrozenClock) -> None:
    for number in range(100):
        op(memory, op="createSkill", name=f"knot-{number}", description=f"Tying knot {number}", instructions=SENTENCES)


def keep_preferences(memory: Memory, _: FrozenClock) -> None:
    for number in range(100):
        op(memory, op="setGlobal", key=f"habit-{number}", value=SENTENCES * 3, category="preferences")


def keep_tiny_preferences(memory: Memory, _: FrozenClock) -> None:
    for number in range(1000):
        page = f"memory/global/preferences/p{number}.md"
        memory.home.storage.pages.write(page, f"---\ncategory: preferences\ntype: json\n---\n\n{number}\n")


MEMORIES: list[Callable[[Memory, FrozenClock], None]] = [
    keep_days,
    keep_one_day,
    keep_curated_lines,
    keep_curated_line,
    keep_curated_chinese,
    keep_handoff,
    keep_large_topics,
    keep_many_topics,
    keep_notes,
    keep_skills,
    keep_preferences,
    keep_tiny_preferences,
]


@pytest.mark.parametrize("fill", MEMORIES, ids=lambda fill: str(fill.__name__))
def test_a_large_memory_of_any_kind_fills_the_budget(
    memory: Memory, clock: FrozenClock, fill: Callable[[Memory, FrozenClock], None]
) -> None:
    fill(memory, clock)
    for budget in BUDGETS:
        for query in (None, "where did the parcel go?"):
            context = memory.context(budget=budget, query=query)
            assert 0.9 * budget <= estimate_tokens(context.text) == context.receipt["tokens"] <= budget


def test_an_empty_memory_takes_at_most_260_tokens(memory: Memory) -> None:
    text = memory.context(user="ann", channel="ops").text
    assert estimate_tokens(text) <= 260
    assert len(text) / 4 <= 260


def keep_people(memory: Memory) -> None:
    op(memory, op="setGlobal", key="user_name", value="Ann Okafor", category="user_info")
    op(memory, op="setGlobal", key="answers", value="short ones", category="preferences")
    op(memory, op="createSkill", name="brew", description="make tea", instructions="Boil first. Never microwave.")


def huge_bio(memory: Memory, _: Path) -> None:
    op(memory, op="setGlobal", key="bio", value="born in Oslo " * 20_000, category="user_info")


def huge_name(memory: Memory, _: Path) -> None:
    op(memory, op="setGlobal", key="bio " * 500, value="born", category="user_info")


def huge_handoff(memory: Memory, _: Path) -> None:
    memory.call("write_session_handoff", {"content": "x" * 8000})


def huge_day(memory: Memory, home: Path, lines: int = 20_000) -> None:
    memory.call("remember", {"content": "Branches: ticket id first."})
    (page,) = (home / "agents/main/memory/daily").glob("*.md")
    page.write_text(page.read_text() + "## 09:40\n\n" + "log line of some build\n" * lines)
    memory.call("remember", {"content": "The build is green again."})


def day_of_20_megabytes(memory: Memory, home: Path) -> None:
    huge_day(memory, home, 900_000)


def many_topics(memory: Memory, home: Path) -> None:
    (home / "memory/world").mkdir(parents=True)
    for number in range(300):
        (home / f"memory/world/topic-{number}.md").write_text(SENTENCES * 4)


def many_skills(memory: Memory, home: Path) -> None:
    for number in range(200):
        (home / f"skills/knot-{number}").mkdir(parents=True)
        page = f"---\nname: knot-{number}\ndescription: Tying knot {number}\n---\n\n{SENTENCES * 4}\n"
        (home / f"skills/knot-{number}/SKILL.md").write_text(page)


def huge_directive(memory: Memory, home: Path) -> None:
    (home / "directives/long.md").write_text("Keep the boat clean. " * 3000 + "Never sail alone.\n")


def huge_everything(memory: Memory, home: Path) -> None:
    for make in (huge_bio, huge_handoff, many_topics, huge_directive, huge_day):
        make(memory, home)


@pytest.mark.parametrize(
    "make",
    [
        huge_bio,
        huge_name,
        huge_handoff,
        huge_day,
        pytest.param(day_of_20_megabytes, marks=pytest.mark.thorough),
        many_topics,
        many_skills,
        huge_directive,
        huge_everything,
    ],
    ids=lambda make: str(make.__name__),
)
def test_something_huge_leaves_name_channel_rules_and_preferences(
    memory: Memory, home: Path, make: Callable[[Memory, Path], None]
) -> None:
    keep_people(memory)
    make(memory, home)
    for budget in (400, 1500):
        context = memory.context(user="ann", channel="ops", budget=budget)
        assert (0 if make is huge_name else 0.9 * budget) <= context.receipt["tokens"] <= budget
        assert "2026-03-14" in context.text
        assert "your user is ann" in context.text
        assert "- user_name: Ann Okafor" in context.text
        assert "- answers: short ones" in context.text
        assert "Current channel: ops" in context.text
        assert "binds you." in context.text
        assert "Ask before you keep anything personal" in context.text or budget == 400
        assert "brew" in context.text


def test_an_entry_is_known_in_the_next_session_beside_a_huge_one(memory: Memory, home: Path) -> None:
    huge_day(memory, home)
    text = memory.context(budget=1500).text
    assert "The build is green again." in text
    assert "[…]" in text


def test_a_long_line_is_cut_inside_itself_and_says_so(memory: Memory) -> None:
    memory.call("write_session_handoff", {"content": "go on with the roof " * 400})
    context = memory.context(budget=1500)
    assert "go on with the roof go on" in context.text
    assert re.search(
        r"\(The first [\d,]+ of 7,999 characters; the rest is in agents/main/memory/working/HANDOFF", context.text
    )
    (section,) = [each for each in context.receipt["sections"] if each["title"] == "Session Handoff"]
    assert section["sources"][0]["source"].endswith("HANDOFF.md#L6-L6 (in part)")
    assert "characters cut" in section["cut"][0]["reason"]


def test_rules_are_cut_between_sentences_and_keep_what_they_forbid(memory: Memory, home: Path) -> None:
    filler = "".join(f"Rule {number} asks you to greet the visitor kindly and in time. " for number in range(200))
    (home / "directives/memory.md").write_text(
        f"{filler}Store the key in the safe, but never tell anybody its number. {filler}"
    )
    for budget in (300, 500, 900):
        text = memory.context(budget=budget).text
        assert "Store the key in the safe, but never tell anybody its number." in text
        assert "Some of these rules are left out here: read directives/memory.md first." in text
        rules = text[text.index("binds you.") : text.index("(Some of")]
        assert all(
            sentence.strip().endswith(".") for sentence in re.findall(r"[^.]+\.?", rules.strip()) if sentence.strip()
        )


def test_skills_beyond_their_share_show_a_name_and_those_that_fit_the_query_their_rules(memory: Memory) -> None:
    for number in range(60):
        name = f"knot-{number}"
        op(
            memory,
            op="createSkill",
            name=name,
            description=f"Tying knot {number}",
            instructions=f"{SENTENCES}{number}.",
        )
    op(
        memory,
        op="createSkill",
        name="sourdough",
        description="Baking bread",
        instructions="Feed the starter first. " + SENTENCES,
    )
    text = memory.context(budget=1500, query="how do I bake sourdough bread?").text
    assert "### sourdough (owner: global)" in text
    assert "Feed the starter first." in text
    assert re.search(r"^- knot-\d+: Tying knot \d+$", text, re.MULTILINE)


def test_skills_that_fit_the_query_come_before_the_days(memory: Memory, clock: FrozenClock) -> None:
    keep_days(memory, clock)
    for name in ("knots", "sourdough", "tides", "maps", "flags", "lamps", "ropes"):
        op(memory, op="createSkill", name=name, description=f"All on {name}", instructions=SENTENCES + name)
    for budget in (700, 1000, 1500):
        text = memory.context(budget=budget, query="which sourdough today?").text
        assert "### sourdough (owner: global)" in text


def test_the_context_says_how_to_read_the_rules_for_which_it_has_no_room(memory: Memory, clock: FrozenClock) -> None:
    for name in ("bread", "knot_tying", "tides"):
        op(memory, op="createSkill", name=name, description=f"All on {name}", instructions=SENTENCES * 3)
    assert "Read skills/NAME/SKILL.md first:\n\n- knot-tying: All on knot_tying\n" in memory.context(budget=300).text
    read = memory.call("memory_get", {"path": "skills/knot-tying/SKILL.md"})
    assert SENTENCES.strip() in read["text"]
    with_registry = Memory(memory.home.address, clock=clock, toolsets=["journal", "registry"])
    assert "Read these with getSkill first:\n\n- knot_tying: " in with_registry.context(budget=300).text


def test_few_skills_come_with_their_rules_whatever_else_there_is(memory: Memory, clock: FrozenClock) -> None:
    keep_days(memory, clock)
    op(memory, op="createSkill", name="brew", description="make tea", instructions="Boil first. Never microwave.")
    for budget in (500, 700, 1000):
        assert "Boil first. Never microwave." in memory.context(budget=budget).text


def test_what_was_remembered_is_in_the_context_of_the_next_session(home: Path, clock: FrozenClock) -> None:
    with Memory(home, clock=clock) as memory:
        memory.call("remember", {"content": "Branches: ticket id first."})
    clock.advance(days=1)
    with Memory(home, clock=clock) as memory:
        for budget in (None, 700, 1500):
            text = memory.context(budget=budget).text
            assert "```data 2026-03-14 (yesterday)\n## 09:26\nBranches: ticket id first.\n```" in text


def test_days_are_newest_first_and_as_many_as_fit(memory: Memory, clock: FrozenClock) -> None:
    keep_days(memory, clock)
    few, many = (re.findall(r"```data (\d{4}-\d\d-\d\d)", memory.context(budget=budget).text) for budget in (700, 4000))
    assert few == sorted(few, reverse=True) == many[: len(few)]
    assert len(many) > 2 * len(few) > 0


def test_the_map_names_what_there_is_and_shows_no_value(memory: Memory, home: Path) -> None:
    memory.call("update_world", {"topic": "Ferries", "content": "# Ferries\n\nTo Gedser at noon, every day.\n"})
    op(memory, op="setGlobal", key="api_port", value="8431", category="project")
    op(memory, op="setGlobal", key="Wi-Fi key!", value="hunter2", category="house rules")
    op(memory, op="setChannel", channelName="ops", key="window", value="Tuesday")
    op(memory, op="setChannel", channelName="ops", key="paths", value="src/core", category="project")
    op(memory, op="setChannel", channelName="ops", key="tone", value="calm", category="preferences")
    op(memory, op="setChannel", channelName="Baking Club", key="starter", value="Gerald")
    (home / "memory/reading.md").write_text("# Reading\n\nLamont 2022.\n")
    text = memory.context().text
    place = text[text.index("## Memory Map") :]
    assert "- ferries: To Gedser at noon, every day.\n" in place
    assert "- project: api_port" in place
    assert '- house rules: "Wi-Fi key!"' in place
    assert "- ops: paths, tone, window" in place
    assert "- Baking Club: starter" in place
    assert "- reading: Lamont 2022." in place
    for value in ("8431", "hunter2", "Tuesday", "Gerald"):
        assert value not in text
    assert "- ferries: To Gedser at noon, every day." in memory.context(budget=1500).text
    inside = memory.context(channel="ops").text
    assert "- this channel: window\n- project here: paths\n" in inside
    assert "- Baking Club: 1 record" in inside
    assert "starter" not in inside


def keep_notes(memory: Memory, clock: FrozenClock, days: int = 30) -> None:
    for day in range(days):
        clock.now += timedelta(days=1)
        memory.call("memory_write", {"key": f"decision_{day}", "content": f"We chose the colour number {day}. " * 12})
        memory.call("write_memory", {"key": f"draft {day}", "content": f"The chapter number {day} is late. " * 12})


def test_the_map_names_the_notes_that_no_section_shows(memory: Memory, clock: FrozenClock) -> None:
    keep_notes(memory, clock)
    for budget in (700, 1500, None):
        check_map_of_notes(memory.context(budget=budget).text)


def check_map_of_notes(text: str) -> None:
    place = text[text.index("## Memory Map") :]
    numbers = [number for number in range(30) if f"draft {number}" in place or f"decision_{number}" in place]
    assert numbers
    for number in numbers:
        shown_draft = f"chapter number {number} " in text
        shown_decision = f"colour number {number}." in text
        assert not (shown_draft and re.search(rf"draft {number}\b", place))
        assert not (shown_decision and re.search(rf"decision_{number}\b", place))
    assert "chapter number" not in place
    assert "colour number" not in place


def test_the_map_names_every_note_where_there_is_room(memory: Memory, clock: FrozenClock) -> None:
    keep_notes(memory, clock, 20)
    memory.call("memory_write", {"key": "lasting", "content": "Blue it is.", "target": "summary"})
    page = memory.home.layout.day_page("main", memory.home.today())
    with memory.home.writer.call("write"):
        memory.home.writer.edit(page, lambda text: f"{text}\n### Just a heading\n\nof a person\n")
    context = memory.context(budget=2000)
    for number in range(20):
        assert re.search(rf"draft {number}\b", context.text)
        assert re.search(rf"decision_{number}\b", context.text)
    assert "Just a heading" not in context.text[context.text.index("## Memory Map") :]
    assert context.receipt["tokens"] <= 2000


def test_the_map_names_only_notes_that_a_person_wrote_where_nothing_else_is_wanted(
    memory: Memory, clock: FrozenClock
) -> None:
    keep_notes(memory, clock, 12)
    text = memory.context(budget=1500, only_approved=True).text
    assert "draft" not in text
    assert "decision_" not in text


def test_directives_alone_are_given_to_an_agent_whose_settings_say_so(home: Path, clock: FrozenClock) -> None:
    Memory(home, clock=clock).call("write_session_handoff", {"content": "go on with the roof"})
    whole = Memory(home, clock=clock).context().text
    (home / "commonplace.yaml").write_text("agents:\n  main:\n    context: directives\n")
    text = Memory(home, clock=clock).context(user="ann", query="roof").text
    assert headings(text) == ["Directives"]
    assert text.startswith("## Directives")
    assert "roof" not in text
    assert text.replace("`recall`;", "`recall` what this prompt lacks;") in whole  # which has more than directives
    assert headings(Memory(home, "bob", clock=clock).context().text) == ["Directives"]
    assert Memory(home, "bob", clock=clock).context().text.startswith("Today is")
    (home / "commonplace.yaml").write_text("context: directives\n")
    assert Memory(home, "bob", clock=clock).context().text.startswith("## Directives")
    (home / "commonplace.yaml").unlink()
    (home / "agents/carl").mkdir(parents=True)
    (home / "agents/carl/agent.yaml").write_text("spec:\n  memory:\n    backend: filesystem\n    context: directives\n")
    assert Memory(home, "carl", clock=clock).context().text.startswith("## Directives")


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("context: directives\nspec:\n  memory: {}\n", "## Directives"),
        ("context: directives\n", "## Directives"),
        ("context: directives\nspec:\n  memory:\n    context: full\n", "Today is"),
        ("context: {window: 9}\nspec:\n  memory: {}\n", "Today is"),  # of whoever runs the agent
        ("context: long\nspec:\n  memory: {}\n", "Today is"),
    ],
)
def test_an_agents_own_file_may_say_so_at_its_top(home: Path, clock: FrozenClock, text: str, start: str) -> None:
    (home / "agents/carl").mkdir(parents=True)
    (home / "agents/carl/agent.yaml").write_text(text)
    assert Memory(home, "carl", clock=clock).context().text.startswith(start)


hostile = st.one_of(st.sampled_from(ATTACKS), texts, st.text("x `#\n-~", max_size=60).map(lambda text: text * 100))


@given(hostile, st.integers(0, 3000), st.booleans())
def test_no_text_changes_the_skeleton_or_passes_any_budget(
    tmp_path_factory: pytest.TempPathFactory, text: str, budget: int, has_query: bool
) -> None:
    home = tmp_path_factory.mktemp("home")
    memory = Memory(home, clock=FrozenClock())
    (home / "directives/memory.md").write_text("Be kind. Never lie.")
    body = text if text.strip() else "x"
    keep_people(memory)
    memory.call("write_session_handoff", {"content": body})
    memory.call("remember", {"content": body})
    memory.call("memory_write", {"key": "block", "content": body})
    memory.call("write_memory", {"key": "k", "content": body})
    memory.call("scratch_note", {"mode": "replace", "content": body})
    memory.call("reflect", {"content": body})
    memory.call("update_world", {"topic": "t", "content": f"needle\n{body}"})
    op(memory, op="setGlobal", key="bio", value=body, category="user_info")
    op(memory, op="createSkill", name="s", description=body, instructions=body)
    context = memory.context(user="ann", channel="ops", budget=budget, query="needle" if has_query else None)
    assert estimate_tokens(context.text) == context.receipt["tokens"] <= budget
    seen = headings(context.text)
    assert seen == [title for title in TITLES if title in seen]
    titles = [section["title"] for section in context.receipt["sections"] if section["tokens"]]
    assert seen == [title for title in titles if title in TITLES]
    if budget >= 300:
        assert "your user is ann" in context.text
        assert "- user_name: Ann Okafor" in context.text
        assert len(re.findall(r"^Current channel: ops$", context.text, re.MULTILINE)) == 1
        assert "Be kind. Never lie." in context.text


def fill_small_session(memory: Memory) -> None:
    keep_people(memory)
    memory.call("write_session_handoff", {"content": "The chart is half done. Next: the legend."})
    memory.call("scratch_note", {"mode": "replace", "content": "Try the blue palette first."})
    lessons = [f"- Lesson {n} is about buoy {n} and how it was moored." for n in range(20)]
    memory.call("reflect", {"content": "# What I know\n\n## Lessons\n" + "\n".join(lessons)})
    for number in range(8):
        memory.call("update_world", {"topic": f"harbour {number}", "content": "Deep water, a crane and a café. " * 5})
        memory.call("remember", {"content": f"Boat {number} came in and was unloaded before noon."})
        op(memory, op="setGlobal", key=f"berth_{number}", value="free", category="project")


def test_a_small_budget_names_topics_shows_the_task_at_hand_and_keeps_the_rules_short(memory: Memory) -> None:
    fill_small_session(memory)
    context = memory.context(user="ann", budget=700)
    assert "Try the blue palette first." in context.text
    assert all(f"harbour-{number}" in context.text for number in range(8))
    assert "At the end: `reflect`, write_session_handoff." in context.text
    assert "secrets need explicit permission" in context.text
    assert "Boat 7 came in" in context.text
    assert "Lesson 0" in context.text
    reasons = [cut["reason"] for section in context.receipt["sections"] for cut in section["cut"]]
    assert "over the budget: said in fewer words" in reasons
    assert "Keep decisions and why" in str(memory.context(user="ann", budget=4000))


def test_a_persons_directives_are_never_reworded(memory: Memory, home: Path) -> None:
    (home / "directives/memory.md").write_text("Remember what matters. Never store a password.\n")
    fill_small_session(memory)
    assert "Remember what matters. Never store a password." in memory.context(budget=700).text


def test_the_map_counts_days_only_if_some_are_not_shown(memory: Memory, clock: FrozenClock) -> None:
    for number in range(6):
        clock.now += timedelta(days=1)
        memory.call("remember", {"content": f"Parcel {number} went to the harbour. {SENTENCES * 4}"})
    memory.call("update_world", {"topic": "ferries", "content": "To Gedser at noon."})
    assert "There are 6 days" not in str(memory.context())
    assert "There are 6 days, from 2026-03-15 to 2026-03-20." in str(memory.context(budget=400))


def test_a_map_that_is_too_long_names_the_first_kinds_and_counts_the_rest(memory: Memory) -> None:
    fill_small_session(memory)
    for number in range(200):
        op(memory, op="setGlobal", key=f"depth_{number}", value="12 m", category="soundings")
    text = memory.context(budget=700).text
    assert "- Topics: harbour-0, " in text
    assert re.search(r"- Records: project: .*; soundings: (?:.* and )?\d+", text)


def test_a_cut_never_ends_with_a_heading(memory: Memory) -> None:
    parts = [f"## Part {n}\n" + "A sentence about the harbour and its boats.\n" * 3 for n in range(60)]
    memory.call("reflect", {"content": "\n".join(parts)})
    for budget in range(300, 420, 7):
        text = memory.context(budget=budget).text
        assert not re.search(r"## Part \d+\n```", text)


def test_where_there_is_little_room_tasks_that_are_left_come_before_those_that_are_done(memory: Memory) -> None:
    done = [f"- [x] task {number} was done in the first week" for number in range(20)]
    tasks = "\n".join([*done, "- [ ] tell support", *done, "- [ ] tag the release"])
    memory.call("write_memory", {"key": "release", "content": tasks})
    context = memory.context(budget=330)
    assert "- [ ] tell support\n- [ ] tag the release" in str(context)
    assert "2 of 42 lines, without what is done" in str(context)
    (notes,) = [each for each in context.receipt["sections"] if each["title"] == "Working Notes"]
    page = "agents/main/memory/working/release.md"
    assert [source["source"] for source in notes["sources"]] == [f"{page}#L26-L26", f"{page}#L47-L47"]
    assert "task 3 was done" in str(memory.context())


@pytest.mark.parametrize("topics", [0, 1, 3])
def test_a_short_handoff_is_in_the_context_at_every_budget_that_has_room_for_it(memory: Memory, topics: int) -> None:
    memory.call("write_session_handoff", {"content": "next: call Ann"})
    for number in range(topics):
        memory.call("update_world", {"topic": f"topic {number}", "content": "# Topic\n\nSome facts about it."})
        memory.call("remember", {"content": f"Note {number}."})
    missing = [budget for budget in range(60, 260, 5) if "next: call Ann" not in str(memory.context(budget=budget))]
    assert missing == []


def test_pages_in_folders_and_those_of_the_agent_are_in_the_map_and_fill_the_budget(memory: Memory, home: Path) -> None:
    for number in range(60):
        page = home / "memory" / "vault" / ("cranes" if number % 2 else "") / f"page {number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(
            f"# Page {number}\n\nThe crane {number} lifts {number * 10} tons, and was built in {1900 + number}.\n"
        )
    own = home / "agents" / "main" / "memory" / "notes" / "own.md"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("Something of mine.\n")
    for budget in (500, 1000):
        assert memory.context(budget=budget).receipt["tokens"] >= 0.9 * budget
    text = str(memory.context())
    assert "vault/cranes/page 1" in text
    assert "notes/own" in text


def test_room_that_repeated_hits_leave_is_not_all_taken_by_one_section() -> None:
    tide = TextItem("The tide table of the harbour. " * 6, "day.md")
    notes = TextItem("The ferry leaves at noon. " * 40, "note.md")
    names = TextItem("Topics: harbour, ferry.", "map.md")
    sections = [
        Section("Recent Days", 78, [tide], floor_tokens=100),
        Section("Recalled Memory", 80, [tide], floor_tokens=100, has_recalled_items=True),
        Section("Working Notes", 55, [notes], floor_tokens=30),
        Section("Curated Memory", 50, [names], floor_tokens=40),
    ]
    for budget in range(106, 260, 4):
        shown = [bool(fitted.text) for fitted in fit_sections(sections, budget)]
        assert shown[3] or not shown[2], budget
    assert all(shown[number] for number in (0, 2, 3))
