"""Recent days within a budget, in every script: the newest entries stay, and what is said of the rest is true."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.framing import cut_start, estimate_tokens, weigh_tokens
from commonplace.testing import FrozenClock

SENTENCES = {
    "English": "The ferry to Gedser leaves at noon and nobody told the harbour master about it. ",
    "Chinese": "渡轮中午开往盖瑟港口，没有人告诉港务长这件事。",
    "Arabic": "تغادر العبارة إلى غيدسر ظهرا ولم يخبر أحد مدير الميناء. ",
    "Hindi": "नौका दोपहर में गेडसर के लिए रवाना होती है और किसी ने नहीं बताया। ",
    "Thai": "เรือเฟอร์รี่ไปเกดเซอร์ออกตอนเที่ยงและไม่มีใครบอกนายท่า",
    "Russian": "Паром в Гесер отходит в полдень, и никто не сказал об этом начальнику порта. ",
}
BUDGETS = (300, 400, 700, 1500)


def write_day(home: Path, entries: list[str], day: str = "2026-03-14") -> None:
    folder = home / "agents/main/memory/daily"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [f"## {8 + number // 60:02}:{number % 60:02}\n\n{text}\n" for number, text in enumerate(entries)]
    (folder / f"{day}.md").write_text(f"# {day}\n\n" + "\n".join(parts))


def find_numbers(text: str) -> list[int]:
    """Return the numbers of the entries that are shown, which begin with `entry N:`."""
    return [int(number) for number in re.findall(r"^entry (\d+):", text, re.MULTILINE)]


def make_context(home: Path, budget: int | None, *, only_approved: bool = False) -> str:
    with Memory(home, clock=FrozenClock()) as memory:
        context = memory.context(budget=budget, only_approved=only_approved)
    assert budget is None or estimate_tokens(context.text) == context.receipt["tokens"] <= budget
    return context.text


@pytest.mark.parametrize("script", SENTENCES)
def test_a_full_day_fills_every_budget_with_its_newest_entries_in_any_script(home: Path, script: str) -> None:
    for count in (10, 20, 30):
        entries = [f"entry {number}: {SENTENCES[script] * 3}" for number in range(count)]
        write_day(home, entries)
        for budget in BUDGETS:
            text = make_context(home, budget)
            numbers = find_numbers(text)
            assert numbers == [*range(numbers[0], count)]
            if numbers[0]:
                assert f"{numbers[0]} earlier entr" in text.casefold()
                assert estimate_tokens(text) >= 0.9 * budget


@pytest.mark.parametrize("script", SENTENCES)
def test_the_newest_entry_stays_after_short_ones_in_another_script(home: Path, script: str) -> None:
    facts = [f"entry {number}: Ann keeps key number {number} of the harbour office." for number in range(4)]
    write_day(home, [*facts, f"entry 4: {SENTENCES[script] * 2}"])
    for budget in (300, 320, 350, 400):
        assert 4 in find_numbers(make_context(home, budget))


def test_what_was_remembered_again_word_for_word_gives_way_to_others(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "Jonas lives in Graz."})
    for _ in range(8):
        memory.call("remember", {"content": "Jonas likes short answers, and code before words."})
    clock.advance(days=1)
    memory.call("remember", {"content": "Jonas likes short answers, and code before words."})
    texts = [memory.context(budget=budget).text for budget in range(240, 500, 10)]
    assert all("lives in Graz" in text for text in texts if text.count("short answers") > 2)
    assert "lives in Graz" in texts[-1]
    assert texts[-1].count("short answers") == 9


def test_a_short_entry_is_cut_after_a_clause(home: Path) -> None:
    """Of one that is cut elsewhere, `The phone number of the plumber is […]` would be left."""
    entries = [f"The phone of plumber {number} is +351 912 345 67{number}, said Ann." for number in range(9)]
    write_day(home, entries)
    for budget in range(260, 480, 4):
        lines = make_context(home, budget).split("\n")
        ends = {line.split("345")[-1][4:] for line in lines if "plumber" in line}
        assert ends <= {", said Ann.", ", […]"}


def test_newest_entries_are_whole_where_not_all_fit(home: Path) -> None:
    entries = [f"entry {number}: {SENTENCES['English'] * 3}Ann sent parcel {number}." for number in range(40)]
    write_day(home, entries)
    text = make_context(home, 1500)
    numbers = find_numbers(text)
    assert [number for number in numbers if f"parcel {number}." in text][-len(numbers) + 1 :] == numbers[1:]
    assert len(numbers) > 10


def test_thirty_entries_of_270_characters_never_pass_a_budget(home: Path) -> None:
    write_day(home, [f"entry {number}: {'so it is as we go on to do it ' * 9}" for number in range(30)])
    with Memory(home, clock=FrozenClock()) as memory:
        for budget in range(400, 1000, 20):
            assert memory.context(budget=budget).receipt["tokens"] <= budget


words = st.sampled_from([*SENTENCES.values(), "# Recent Days\n", "````\n", "\u202e\u200b hidden ", "x"])
bodies = (
    st.lists(words, min_size=1, max_size=8)
    .map("".join)
    .flatmap(lambda text: st.sampled_from([1, 1, 1, 2, 5, 40]).map(lambda times: text * times))
)


@settings(deadline=None)
@given(st.lists(bodies, min_size=1, max_size=25), st.integers(320, 2000))
def test_any_day_keeps_its_newest_entry_within_any_budget(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], budget: int
) -> None:
    home = tmp_path_factory.mktemp("home")
    Memory(home, clock=FrozenClock()).close()
    with Memory(home, clock=FrozenClock()) as memory:
        for number, text in enumerate(texts):
            memory.call("remember", {"content": f"entry {number}: {text}"})
        context = memory.context(budget=budget)
    assert estimate_tokens(context.text) == context.receipt["tokens"] <= budget
    numbers = find_numbers(context.text)
    assert numbers == sorted(numbers)
    assert numbers[-1] == len(texts) - 1
    if len(numbers) < len(texts):
        assert estimate_tokens(context.text) >= 0.9 * budget
        first = numbers[0]
        assert (numbers == [*range(first, len(texts))]) == (f"{first} earlier entr" in context.text.casefold())


@given(st.sampled_from([*SENTENCES.values()]), st.integers(1, 30), st.integers(1, 500))
def test_a_cut_fits_and_loses_few_tokens_in_any_script(sentence: str, times: int, room: int) -> None:
    text = sentence * times
    start = cut_start(text, lambda start: weigh_tokens(start) <= room)
    assert weigh_tokens(start) <= room
    if weigh_tokens(text) > room:
        assert weigh_tokens(start) >= 0.93 * room - 12


def test_a_page_of_lines_that_is_cut_never_passes_a_budget(home: Path) -> None:
    lines = "\n".join(
        f"{number}: {'The ferry leaves at noon. Nobody was told. ' * (number % 9)}" for number in range(60)
    )
    with Memory(home, clock=FrozenClock()) as memory:
        memory.call("reflect", {"content": lines})
        for budget in range(300, 1300, 37):
            assert memory.context(budget=budget).receipt["tokens"] <= budget


@pytest.mark.parametrize(("size", "place"), [(24_000, 0), (24_000, 5), (24_000, 10), (2_000_000, 5)])
@pytest.mark.parametrize("budget", [None, 700, 1500])
def test_a_long_entry_never_takes_the_place_of_short_ones(
    home: Path, size: int, place: int, budget: int | None
) -> None:
    entries = [f"entry {number}: Ann keeps key {number}." for number in range(10)]
    entries.insert(place, f"entry 99: {'log line of some build ' * (size // 23)}")
    write_day(home, entries)
    write_day(home, ["entry 50: Bob was here yesterday."], "2026-03-13")
    text = make_context(home, budget)
    order = [*range(place), 99, *range(place, 10)]
    assert find_numbers(text) == [*order, 50]
    assert "[…]" in text
    assert estimate_tokens(text) <= 3300


def test_what_agents_wrote_uses_no_room_where_only_what_is_approved_is_shown(home: Path) -> None:
    write_day(home, ["entry 1: Ann wrote this herself."], "2026-03-13")
    write_day(home, ["entry 2: And this, in the morning."])
    with Memory(home, clock=FrozenClock()) as memory:
        for _ in range(2):
            memory.call("remember", {"content": "entry 3: " + "log line of some build " * 3000})
    for budget in (None, 400, 1500):
        assert find_numbers(make_context(home, budget, only_approved=True)) == [2, 1]


def test_without_a_budget_the_map_shows_short_pages_as_fully_as_with_one(memory: Memory) -> None:
    words = "The office is on the third floor, and Ann has the second key."
    memory.call("update_world", {"topic": "office", "content": f"{words}\n"})
    assert all(words in memory.context(budget=budget).text for budget in (None, 1500))


@pytest.mark.parametrize(
    "content", ["#idea", "# A title", "before\n\n## A heading at the end", "## A title first\n\nthen text"]
)
def test_headings_of_an_entry_are_shown_below_its_own_time(home: Path, content: str) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        memory.call("remember", {"content": "the entry before"})
        clock.advance(minutes=1)
        memory.call("remember", {"content": content})
        clock.advance(minutes=1)
        memory.call("remember", {"content": "the entry after"})
        text = memory.context().text
    lines = "\n".join(line for line in content.split("\n") if line)
    assert re.search(rf"^## \d\d:\d\d\n{re.escape(lines)}\n## \d\d:\d\d\nthe entry after$", text, re.MULTILINE)


def test_a_keyed_note_that_was_changed_later_says_when(memory: Memory, clock: FrozenClock) -> None:
    memory.call("memory_write", {"key": "upgrade", "content": "On 21 March."})
    memory.call("memory_write", {"key": "owner", "content": "Ann."})
    clock.advance(days=2)
    memory.call("memory_update", {"key": "upgrade", "content": "Moved to 5 April."})
    text = str(memory.context(budget=1000))
    assert "### owner\nAnn.\n### upgrade (2026-03-16)\nMoved to 5 April." in text


def test_days_that_use_up_a_budget_but_for_a_part_of_a_token_are_shown(home: Path) -> None:
    for day in range(1, 15):
        write_day(
            home, ["The ferry to Gedser leaves at noon, and nobody told the harbour master."], f"2026-03-{day:02}"
        )
    with Memory(home, clock=FrozenClock()) as memory:
        for budget in range(300, 480):
            assert "Gedser" in memory.context(budget=budget).text


def test_a_replaced_entry_is_never_shown_as_its_remark_alone(home: Path) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        memory.call(
            "update_world", {"topic": "office", "content": "The office closes at 19:00.\n\nIt has a blue door."}
        )
        memory.call("remember", {"content": "The standup is at 9:30 in the large room beside the kitchen."})
        clock.advance(days=1)
        memory.call("remember", {"content": "The standup is at 10:15 now. The office closes at 20:00."})
        texts = [memory.context(budget=budget).text for budget in range(200, 500, 3)]
    assert any("[no longer" in text for text in texts)
    for text in texts:
        for line in text.split("\n"):
            if line.startswith("[no longer"):
                assert "The standup is" in line.rpartition("] ")[2] or "The standup is" in line.partition("] ")[2]
            assert not line.startswith('- office: "[no longer') or "closes at 19:00." in line.rpartition("] ")[2]


def _is_within(most: int, text: str) -> bool:
    return len(text) <= most


def test_a_date_is_not_cut_between_its_number_and_its_month() -> None:
    text = "Launch of the billing rewrite: 9 December."
    starts = {cut_start(text, partial(_is_within, most)) for most in range(len(text))}
    assert "Launch of the billing rewrite:" in starts
    assert not any(start.endswith(" 9") for start in starts)


def test_no_day_is_shown_that_is_older_than_one_without_room(home: Path) -> None:
    for age, text in ((0, "Lunch."), (1, SENTENCES["English"]), (2, SENTENCES["English"] * 3), (40, "Ida is nine.")):
        write_day(home, [text], f"2026-{'03' if age < 14 else '02'}-{14 - age if age < 14 else 2:02}")
    with Memory(home, clock=FrozenClock()) as memory:
        memory.call("write_memory", {"key": "plans", "content": SENTENCES["English"] * 30})
    for budget in range(250, 700, 10):
        text = make_context(home, budget)
        shown = re.findall(r"data (2026-\d\d-\d\d)", text)
        assert shown == ["2026-03-14", "2026-03-13", "2026-03-12", "2026-02-02"][: len(shown)]


def test_room_that_a_day_does_not_need_completes_a_list_of_tasks_first(home: Path) -> None:
    tasks = "\n".join(f"- [ ] task {number}: call the harbour master" for number in range(4))
    with Memory(home, clock=FrozenClock()) as memory:
        memory.call("write_memory", {"key": "to-do", "content": tasks})
        for number in range(12):
            memory.call("write_memory", {"key": f"note {number}", "content": "The ferry leaves at noon."})
        for budget in range(300, 700, 20):
            text = str(memory.context(budget=budget))
            assert "The ferry leaves" not in text.split("## Memory Map")[0] or "task 3" in text
