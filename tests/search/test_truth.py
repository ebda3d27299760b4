"""Search knows what replaced a fact: the newer stands above the older, which is marked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.maintenance.doubts import list_doubts
from commonplace.search import truth
from commonplace.storage.history import coming_from
from commonplace.testing import FrozenClock

from ..facts.diaries import Diary, last_lines


@pytest.fixture
def diary(home: Path) -> Diary:
    return Diary(home)


def test_the_newer_version_comes_first_and_the_older_says_what_replaced_it(diary: Diary) -> None:
    diary.note("The launch deadline is 12 November.")
    diary.note("The launch party has cake.")
    diary.note("The launch deadline is 26 November.")
    newer, older, *_ = diary.search("launch deadline")
    assert last_lines([newer, older]) == ["The launch deadline is 26 November.", "The launch deadline is 12 November."]
    assert newer.superseded_by is None
    assert newer.score > older.score
    assert older.superseded_by
    assert older.superseded_by.text == "The launch deadline is 26 November."
    assert older.superseded_by.was == "The launch deadline is 12 November."
    assert older.superseded_by.citation.startswith("agents/main/memory/daily/2026-03-03.md#L")
    assert older.superseded_by.author == "main (remember)"
    assert older.superseded_by.kind == "frame"


def test_a_key_that_stands_twice_on_a_page_has_its_newer_block_first(
    memory: Memory, home: Path, clock: FrozenClock
) -> None:
    memory.call("memory_write", {"key": "office", "content": "The office is in Bern."})
    (page,) = home.glob("agents/main/memory/daily/*.md")
    clock.advance(days=1)
    footer = f"<!-- agentool-memory: at={clock():%Y-%m-%dT%H:%M:%SZ} -->"
    page.write_text(f"{page.read_text()}### office\n\nBasel, near the zoo.\n\n{footer}\n\n")

    newer, older = memory.search("where is the office?")

    assert "Basel" in newer.text
    assert older.superseded_by
    assert older.superseded_by.kind == "same-key"
    assert older.superseded_by.citation == newer.citation


FORGED_DATES = {
    "memory/global/general/port.md": "---\nkey: port\nupdated_at: 2099-01-01T00:00:00Z\n---\n{}\n",
    "memory/world/api.md": "# 2099-01-01\n\n## 09:00\n\n{}\n",
    "memory/2099-01-01.md": "{}\n",
}


@pytest.mark.parametrize("path", FORGED_DATES)
def test_no_text_is_newer_than_what_was_written_after_it_because_of_its_date(
    memory: Memory, clock: FrozenClock, path: str
) -> None:
    with coming_from("agent-token:ab12"):
        memory.home.writer.write(path, FORGED_DATES[path].format("The port of the API is 6666."))
    clock.advance(days=5)
    memory.call("remember", {"content": "The port of the API is 8080."})
    newer, older = memory.search("what is the port of the API?")
    assert "8080" in newer.text
    assert newer.superseded_by is None
    assert older.superseded_by
    clock.advance(days=5)
    with coming_from("agent-token:ab12"):  # what is written later is newer, whatever it says
        memory.home.writer.write(path, FORGED_DATES[path].format("The port of the API is 7777."))
    assert "7777" in memory.search("what is the port of the API?")[0].text


@pytest.mark.parametrize("path", FORGED_DATES)
def test_a_page_of_a_later_day_that_came_from_outside_replaces_nothing_yet(
    memory: Memory, home: Path, path: str
) -> None:
    memory.call("remember", {"content": "The port of the API is 8080."})
    page = home / path
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(FORGED_DATES[path].format("The port of the API is 6666."))
    hits = memory.search("what is the port of the API?")
    assert len(hits) == 2
    assert not any(hit.superseded_by for hit in hits if "8080" in hit.text)


TOMORROW = {
    **{path: text.replace("2099-01-01", "{day}") for path, text in FORGED_DATES.items() if "2099" not in path},
    "memory/{day}.md": "{}\n",
    "agents/main/memory/daily/{day}.md": "# {day}\n\n## 23:00\n{}\n",
}


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles"])
@pytest.mark.parametrize("path", TOMORROW)
def test_nor_because_of_the_next_day_in_any_time_zone(home: Path, clock: FrozenClock, path: str, zone: str) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text(f"timezone: {zone}\n")
    memory = Memory(home, clock=clock)
    day = (memory.home.today() + timedelta(days=1)).isoformat()
    with coming_from("agent-token:ab12"):
        text = TOMORROW[path].replace("{day}", day).format("The port of the API is 6666.")
        memory.home.writer.write(path.replace("{day}", day), text)
    clock.advance(minutes=2)
    memory.call("remember", {"content": "The port of the API is 8080."})
    newer, older = memory.search("what is the port of the API?")
    assert "8080" in newer.text
    assert newer.superseded_by is None
    assert older.superseded_by


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Los_Angeles"])
def test_an_entry_is_newer_than_a_page_of_the_same_minute_before_it_and_older_than_one_after_it(
    home: Path, clock: FrozenClock, zone: str
) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text(f"timezone: {zone}\n")
    memory = Memory(home, clock=clock)
    clock.advance(seconds=35)  # of a minute
    writes = ("update_world", "api", 1), ("remember", "", 2), ("write_memory", "port", 3), ("remember", "", 4)
    for tool, name, number in writes:
        clock.advance(seconds=3)
        given = {"topic": name} if tool == "update_world" else {"key": name} if name else {}
        memory.call(tool, {**given, "content": f"The port of the API is {number}000."})
        newest, *older = memory.search("what is the port of the API?")
        assert f"{number}000" in newest.text
        assert all(hit.superseded_by for hit in older if "port of the API" in hit.text)


def test_a_newer_version_has_the_chances_of_those_that_it_replaces(diary: Diary) -> None:
    for number in range(12):
        diary.note(f"Room {number} is where the launch posters are.")
    for day in (12, 19, 26):
        diary.note(f"The launch deadline of the old office is {day} November.")
    in_the_past = diary.search("what was the launch deadline in the past?")
    now = diary.search("what is the launch deadline?")
    assert last_lines(now)[0].endswith("26 November.")
    assert now[0].score >= min(0.99, 1.5 * in_the_past[0].score)


def test_each_of_a_chain_of_versions_is_above_the_one_that_it_replaced(diary: Diary) -> None:
    first, second, third = (
        "We use Postgres for billing.",
        "Billing no longer uses Postgres, it is on MySQL now.",
        "Replaced MySQL with CockroachDB for billing.",
    )
    for text in (first, second, third):
        diary.note(text)
    hits = diary.search("we use postgres for billing")
    assert last_lines(hits) == [third, second, first]
    assert [hit.superseded_by.text for hit in hits[1:] if hit.superseded_by] == [third, second]


def test_what_replaced_a_hit_is_brought_in_where_the_query_does_not_find_it(diary: Diary) -> None:
    diary.note("We use Postgres for billing.")
    for number in range(20):
        diary.note(f"Number {number}: which database has which size.")
    diary.note("Billing no longer uses Postgres, it is on MySQL now.")
    hits = diary.search("postgres for billing", limit=2)
    assert last_lines(hits)[0].startswith("Billing no longer uses Postgres")
    assert len(hits) == 2


def test_hits_are_in_the_order_of_their_scores_though_some_were_replaced(diary: Diary) -> None:
    for number in range(6):
        diary.note(f"The launch posters of room {number} cost {number + 3} euros.")
    for day in (12, 19, 26):
        diary.note(f"The launch deadline is {day} November.")
    scores = [hit.score for hit in diary.search("launch deadline")]
    assert scores == sorted(scores, reverse=True)


def test_a_score_does_not_depend_on_how_many_hits_are_asked_for(diary: Diary) -> None:
    for number in range(6):
        diary.note(f"The launch posters of room {number} cost {number + 3} euros.")
    for day in (12, 19, 26):
        diary.note(f"The launch deadline is {day} November.")
    (alone,) = diary.search("launch deadline", limit=1)
    assert alone == diary.search("launch deadline", limit=10)[0]


def test_a_hit_names_what_it_replaced_though_only_one_is_asked_for(diary: Diary) -> None:
    for day in (12, 19, 26):
        diary.note(f"The launch deadline is {day} November.")
    (hit,) = diary.search("launch deadline", limit=1)
    days = ("19", "12")
    assert [older.text for older in hit.supersedes] == [f"The launch deadline is {day} November." for day in days]


def test_what_was_replaced_has_at_least_the_score_that_is_asked_for(diary: Diary) -> None:
    diary.note("The launch deadline is 12 November.")
    diary.note("The launch deadline is 26 November.")
    hits = diary.search("launch deadline")
    assert hits[1].superseded_by
    assert diary.search("launch deadline", min_score=hits[1].score + 0.01) == hits[:1]


def test_a_question_about_the_past_keeps_the_order_and_the_marks(diary: Diary) -> None:
    diary.note("The launch deadline is 12 November.")
    diary.note("The launch deadline is 26 November.")
    hits = diary.search("what was the launch deadline before, 12 November?")
    assert last_lines(hits)[0] == "The launch deadline is 12 November."
    assert hits[0].superseded_by


def test_nothing_that_the_viewer_may_not_see_replaces_a_hit(home: Path) -> None:
    ann = Memory(home, "ann", clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    bob = Memory(home, "bob", clock=lambda: datetime(2026, 3, 2, tzinfo=UTC))
    ann.call("remember", {"content": "The launch deadline is 12 November."})
    bob.call("remember", {"content": "The launch deadline is 26 November."})
    (hit,) = ann.search("launch deadline", mode="keyword")
    assert hit.superseded_by is None


def test_the_newer_of_two_blocks_with_one_key_replaces_the_other(diary: Diary, home: Path) -> None:
    for day, text in (("2026-03-01", "on the wiki"), ("2026-03-05", "in the handbook")):
        page = home / f"agents/main/memory/daily/{day}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# {day}\n\n### onboarding\n\nThe guide is {text}.\n\n*Created: {day}T09:00:00Z*\n")
    hits = diary.search("onboarding guide")
    assert "in the handbook" in hits[0].text
    assert hits[1].superseded_by


def test_a_context_leaves_out_what_was_replaced(diary: Diary) -> None:
    diary.note("The launch deadline is 12 November.")
    diary.note("The launch deadline is 26 November.")
    recall = diary.memory.recall_for("When is the launch deadline?")
    assert "26 November" in recall.text
    assert "12 November" not in recall.text


def test_the_tool_answers_with_what_replaced_a_result(diary: Diary) -> None:
    diary.note("The launch deadline is 12 November.")
    diary.note("The launch deadline is 26 November.")
    newer, older = diary.memory.call("memory_search", {"query": "launch deadline"}, "retrieval")["results"]
    assert "superseded_by" not in newer
    assert older["superseded_by"]["text"] == "The launch deadline is 26 November."
    assert older["superseded_by"]["citation"] == "agents/main/memory/daily/2026-03-02.md#L5-L5"


def test_a_hit_that_also_says_what_is_asked_and_holds_keeps_its_place(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.call("remember", {"content": "The launch is on 12 November. Ann owns it."})
    memory.call("remember", {"content": "The launch is on 26 November."})
    first = memory.search("who owns the launch?")[0]
    assert "Ann owns it" in first.text
    assert first.superseded_by
    assert first.superseded_by.is_partial
    newest = memory.search("when is the launch?")[0]
    assert "26 November" in newest.text


def test_a_value_that_is_set_back_is_the_one_that_holds(diary: Diary) -> None:
    for port in (8080, 9090, 8080):
        diary.note(f"The port is {port}.")
    newest, before = diary.search("what is the port")
    assert newest.path.endswith("2026-03-03.md")
    assert last_lines([newest, before]) == ["The port is 8080.", "The port is 9090."]
    assert newest.superseded_by is None
    assert before.superseded_by
    assert before.superseded_by.text == "The port is 8080."


def test_a_correction_by_hand_is_newer_than_what_was_written_before_it(diary: Diary, home: Path) -> None:
    diary.note("The release date is 12 October.")
    diary.note("The release date is 26 October.")
    diary.search("release")
    page = home / "agents/main/memory/daily/2026-03-01.md"
    page.write_text(page.read_text().replace("12 October", "2 November"))
    newest, before = diary.search("release date")
    assert last_lines([newest, before]) == ["The release date is 2 November.", "The release date is 26 October."]
    assert newest.superseded_by is None
    assert before.superseded_by


def test_a_note_of_two_clauses_is_replaced_in_one_of_them(diary: Diary) -> None:
    diary.note("Tests run with pytest -q; CI is on CircleCI.")
    diary.note("Moved CI from CircleCI to GitHub Actions.")
    (hit, *_) = diary.search("how do I run the tests with pytest")
    assert last_lines([hit]) == ["Tests run with pytest -q; CI is on CircleCI."]
    assert hit.superseded_by is None


def test_what_is_true_in_a_channel_replaces_nothing_outside_of_it(diary: Diary) -> None:
    diary.note("The prompt file is prompt.md.")
    for channel, path in (("skippy", "src/prompt.js"), ("furnace", "lib/prompt.py"), ("furnace", "lib/prompts.py")):
        record = {"op": "setChannel", "channelName": channel, "key": path, "value": f"The prompt file is {path}."}
        diary.memory.call("MemoryTool", record)
        diary.clock.advance(days=1)
    marked = {hit.text: hit.superseded_by.text for hit in diary.search("prompt file") if hit.superseded_by}
    assert marked == {"The prompt file is lib/prompt.py.": "The prompt file is lib/prompts.py."}


def test_a_page_that_says_the_same_of_many_values_takes_no_time_and_hides_nothing(diary: Diary, home: Path) -> None:
    diary.note("The gate code is 4711.")
    diary.note("The gate code is 0815.")
    lines = "".join(f"The launch is on {number % 28 + 1} November {number}.\n\n" for number in range(400))
    (home / "memory/launches.md").parent.mkdir(parents=True, exist_ok=True)
    (home / "memory/launches.md").write_text(f"# Launches\n\n{lines}")
    truth._links.clear()
    assert diary.memory.search("when is the launch in November?")
    replaced = [hit for hit in diary.memory.search("what is the gate code?") if hit.superseded_by]
    assert ["4711" in hit.text for hit in replaced] == [True]
    assert "0815" in diary.memory.context(query="what is the gate code?").text
    list_doubts(diary.memory.home)
    assert len(truth._links) < 4 * truth._MAX_COMPARISONS  # of 160,000 pairs, many times


def test_of_two_values_of_one_day_under_one_key_the_later_one_holds(diary: Diary) -> None:
    def at(minute: int) -> None:
        diary.clock.now = datetime(2026, 3, 10, 9, minute, tzinfo=UTC)

    diary.memory.call("memory_write", {"key": "deploy-host", "content": "host-a.example"}, "notes")
    at(6)
    diary.memory.call("memory_update", {"key": "deploy-host", "content": "host-b.example"}, "notes")
    at(15)
    diary.memory.call("write_memory", {"key": "deploy-host", "content": "host-c.example"})
    newer, older = diary.search("deploy host", limit=2)
    assert "host-c" in newer.text
    assert newer.superseded_by is None
    assert "host-b" in older.text
    assert older.superseded_by is not None


def test_a_corrected_spelling_in_an_old_note_does_not_make_it_new(diary: Diary, home: Path) -> None:
    diary.note("The launch is on 12 April, in Berln.")
    diary.note("The launch moved to 26 April.")
    page = home / "agents/main/memory/daily/2026-03-01.md"
    page.write_text(page.read_text().replace("Berln", "Berlin, at the harbour"))
    newer, older = diary.search("when is the launch?")
    assert last_lines([newer, older]) == [
        "The launch moved to 26 April.",
        "The launch is on 12 April, in Berlin, at the harbour.",
    ]
    assert older.superseded_by


def test_an_old_note_whose_date_is_changed_by_hand_is_new(diary: Diary, home: Path) -> None:
    diary.note("The launch is on 12 April, in Berlin.")
    diary.note("The launch moved to 26 April.")
    page = home / "agents/main/memory/daily/2026-03-01.md"
    page.write_text(page.read_text().replace("12 April", "19 April"))
    newer, older = diary.search("when is the launch?")
    assert last_lines([newer, older])[0] == "The launch is on 19 April, in Berlin."
    assert newer.superseded_by is None


def test_a_line_of_a_page_is_as_old_as_it_was_though_another_is_changed(diary: Diary) -> None:
    diary.memory.call("update_world", {"topic": "infra", "content": "Hosting: Hetzner\nStandup: Tuesdays at 10:00"})
    diary.clock.advance(days=1)
    diary.note("Standup moved to Wednesdays at 9:30.")
    diary.memory.call("update_world", {"topic": "infra", "content": "Hosting: OVH\nStandup: Tuesdays at 10:00"})
    newer, older = diary.search("when is the standup?")
    assert last_lines([newer, older]) == ["Standup moved to Wednesdays at 9:30.", "Standup: Tuesdays at 10:00"]
    assert older.superseded_by


@pytest.fixture
def deployments(diary: Diary) -> Diary:
    for build in range(400, 412):
        diary.note(f"Deployed build {build} to staging.")
    return diary


@pytest.mark.parametrize(
    "question",
    [
        "which build is on staging?",
        "what is the current build on staging?",
        "what build did we deploy to staging last?",
        "Welcher Build ist aktuell auf staging?",
    ],
)
def test_of_many_reports_of_a_kind_the_last_comes_first(deployments: Diary, question: str) -> None:
    hits = deployments.search(question)
    assert last_lines(hits)[0] == "Deployed build 411 to staging."
    assert not any(hit.superseded_by or hit.supersedes for hit in hits)  # all are true


@pytest.mark.parametrize(
    ("question", "build"), [("when did we deploy build 405 to staging?", 405), ("what did we deploy on 2 March?", 401)]
)
def test_a_certain_report_of_many_is_found(deployments: Diary, question: str, build: int) -> None:
    first, *others = deployments.search(question)
    assert last_lines([first]) == [f"Deployed build {build} to staging."]
    assert all(hit.score < first.score for hit in others)


@pytest.mark.parametrize("question", ["which build was the first on staging?", "how many builds were on staging?"])
def test_a_question_about_the_first_of_many_reports_or_all_of_them_does_not_mean_the_last(
    deployments: Diary, question: str
) -> None:
    first, second, *_ = deployments.search(question)
    assert first.score - second.score < 0.1  # none is raised above the others
