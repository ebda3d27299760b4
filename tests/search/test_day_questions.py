"""Questions about days: passages of these days come first, newest first, and no others look as likely."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.search.pipeline import SearchResult
from commonplace.testing import FrozenClock


def texts(result: SearchResult) -> list[str]:
    return [hit.text.split("\n")[-1] for hit in result.hits]


def remember_at(home: Path, entries: list[tuple[datetime, str]]) -> Memory:
    """Remember texts at these moments; the memory that is returned is of the evening of 14 March."""
    clock = FrozenClock()
    memory = Memory(home, clock=clock)
    for moment, text in entries:
        clock.now = moment
        memory.call("remember", {"content": text})
    clock.now = datetime(2026, 3, 14, 18, tzinfo=UTC)
    return memory


def on_day(day: int) -> datetime:
    return datetime(2026, 3, day, 12, tzinfo=UTC)


def test_entries_of_one_minute_are_listed_newest_first(home: Path) -> None:
    entries = ["Booked the train to Lyon.", "The oven is broken.", "Ann called.", "Released the parser.", "Lunch."]
    with remember_at(home, [(on_day(14), entry) for entry in entries]) as memory:
        assert texts(memory.home.search("what happened today")) == entries[::-1]


def test_of_a_day_the_entries_come_before_notes_that_only_changed_on_it(home: Path) -> None:
    with remember_at(home, [(on_day(14), "Ann called."), (on_day(14), "Released the parser.")]) as memory:
        memory.call("scratch_note", {"content": "Buy paint today."})
        result = memory.home.search("today")
    assert texts(result) == ["Released the parser.", "Ann called.", "Buy paint today."]
    assert result.hits[2].score < result.hits[1].score


def test_what_only_names_the_days_asked_about_scores_less_than_what_is_of_them(home: Path) -> None:
    entries = [(on_day(3), "Ann called."), (on_day(5), "Lunch."), (on_day(10), "The oven broke on 6 March.")]
    with remember_at(home, entries) as memory:
        hits = memory.home.search("last week").hits
    assert [hit.at[:10] for hit in hits] == ["2026-03-05", "2026-03-03", "2026-03-10"]
    assert hits[1].score > 0.9
    assert hits[2].score < 0.8


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
@pytest.mark.parametrize(
    "question", ["что мы решили на прошлой неделе?", "was haben wir letzte Woche beschlossen?", "上周我们决定了什么?"]
)
def test_what_is_of_the_days_asked_about_comes_first_in_any_language(home: Path, question: str, mode: str) -> None:
    kafka = "We chose Kafka over RabbitMQ for the event bus."
    with remember_at(home, [(on_day(4), kafka), (on_day(11), "The office moves in May.")]) as memory:
        memory.call("update_world", {"topic": "team", "content": "We meet to decide on plans every Monday."})
        hits = memory.home.search(question, mode=mode).hits
    assert kafka in hits[0].text
    assert hits[0].score >= 0.4
    assert all(hit.score <= hits[0].score / 2 for hit in hits[1:])


@pytest.mark.parametrize(
    "question",
    ["what did we agree on yesterday?", "what was agreed yesterday?", "remind me what we agreed on yesterday"],
)
def test_a_verb_and_a_day_are_enough_to_ask(home: Path, question: str) -> None:
    agreed = "We agreed to freeze the API until December."
    with remember_at(
        home, [(on_day(13), "Lunch with Tom."), (on_day(13), agreed), (on_day(2), "Ann called.")]
    ) as memory:
        hits = memory.home.search(question).hits
    assert agreed in hits[0].text
    assert hits[0].score > 0.7
    assert all(hit.score < 0.4 for hit in hits[1:])


@pytest.mark.parametrize(
    "question",
    [
        "what did we decide last week?",
        "which decisions were made last week?",
        "was haben wir letzte Woche entschieden?",
        "Welche Entscheidungen haben wir letzte Woche getroffen?",
    ],
)
def test_every_decision_of_the_days_is_found_and_what_is_open_is_not_one(home: Path, question: str) -> None:
    decisions = (
        "Decision (atlas): we keep the worker pool, because it is not the bottleneck.",
        "Entscheidung (Garten): Tropfschlauch statt Sprinkler.",
        "Invoices take 0.2 s now. We settled on typst.",
    )
    others = (
        "Open question: do we keep old invoices as they are? Legal must decide.",
        "Deployed 4.19.0, approved by Mika.",
        "Die Bretter sind abgeholt.",
    )
    entries = [(on_day(2 + place), text) for place, text in enumerate([*decisions, *others])]
    with remember_at(home, entries) as memory:
        hits = memory.home.search(question).hits
    assert {text for text in decisions if any(text in hit.text for hit in hits[:3])} == {*decisions}
    assert all(hit.score >= 0.3 for hit in hits[:3])


def test_where_no_entry_is_of_the_days_asked_about_no_other_is_likely(home: Path) -> None:
    with remember_at(home, [(on_day(2), "Ann called.")]) as memory:
        memory.call("update_world", {"topic": "team", "content": "We meet to decide on plans every Monday."})
        result = memory.home.search("what did we decide yesterday?")
    assert result.hits
    assert all(hit.score < 0.4 for hit in result.hits)
    notice = "nothing is dated yesterday (13 March 2026): the hits are from other days"
    assert result.warnings == (notice,)


def test_the_library_says_that_nothing_is_of_the_days_asked_about(home: Path) -> None:
    with remember_at(home, [(on_day(2), "We decided to buy the boat.")]) as memory:
        yesterday = memory.search("what did we decide yesterday?")
        assert yesterday == list(yesterday)
        assert yesterday.verdict != "found"
        assert yesterday.warnings == ("nothing is dated yesterday (13 March 2026): the hits are from other days",)
        known = memory.search("which boat do we buy?")
        assert (known.verdict, known.warnings) == ("found", ())


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("last week", "last week (2–8 March 2026)"),
        ("two weeks ago", "two weeks ago (25 February – 3 March 2026)"),
        ("in the last 90 days", "in the last 90 days (14 December 2025 – 14 March 2026)"),
    ],
)
def test_the_days_of_which_nothing_is_known_are_written_as_people_write_them(
    home: Path, question: str, days: str
) -> None:
    with remember_at(home, [(datetime(2024, 1, 2, 12, tzinfo=UTC), "Ann called.")]) as memory:
        assert memory.home.search(question).warnings[0].startswith(f"nothing is dated {days}")


@pytest.mark.parametrize(
    "question",
    ["今日は何をしましたか?", "今天我们做了什么?", "오늘 무엇을 했나요?", "आज हमने क्या किया?", "ماذا فعلنا اليوم؟"],
)
def test_what_was_done_on_a_day_is_all_that_is_of_it(home: Path, question: str) -> None:
    with remember_at(home, [(on_day(13), "Lunch with Ann."), (on_day(14), "Released the parser.")]) as memory:
        assert texts(memory.home.search(question)) == ["Released the parser."]
        assert "Released the parser." in str(memory.recall_for(question))


@pytest.mark.parametrize(
    ("decision", "question"),
    [
        ("Nous avons décidé d'utiliser {} pour le bus de commandes.", "Qu'avons-nous décidé la semaine dernière ?"),
        ("Decidimos usar {} para el bus de pedidos.", "¿Qué decidimos la semana pasada?"),
        ("我们决定用 {} 做订单总线。", "上周我们决定了什么?"),
        ("The launch is on {} May.", "when was the launch, as of last week?"),
    ],
)
def test_of_a_fact_that_changed_a_question_about_days_gets_what_was_said_then(
    home: Path, decision: str, question: str
) -> None:
    first, second = ("12", "27") if "{} May" in decision else ("Kafka", "Pulsar")
    with remember_at(home, [(on_day(5), decision.format(first)), (on_day(14), decision.format(second))]) as memory:
        hits = memory.search(question)
        assert hits[0].text.endswith(decision.format(first))
        assert hits[0].superseded_by
        assert decision.format(first) in str(memory.recall_for(question))
        assert decision.format(first) in str(memory.context(query=question))
