"""A question about what was before something gets that first, marked as replaced."""

from __future__ import annotations

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

QUESTIONS = [
    ("Tom lives in Leeds.", "Tom moved to Bristol.", "where did Tom live before Bristol?"),
    ("The launch deadline is 12 November.", "The launch deadline is 26 November.",
     "what was the deadline before it moved to 26 November?"),
    ("Tom wohnt in Leeds.", "Tom ist nach Bristol gezogen.", "Wo wohnte Tom vor Bristol?"),
    ("Tom vive en Leeds.", "Tom se mudó a Bristol.", "¿dónde vivía Tom antes de Bristol?"),
    ("Tom habite à Leeds.", "Tom a déménagé à Bristol.", "où habitait Tom avant Bristol ?"),
    ("Tom mora em Leeds.", "Tom se mudou para Bristol.", "onde o Tom morava antes de Bristol?"),
    ("Том живёт в Лидсе.", "Том переехал в Бристоль.", "где жил Том до Бристоля?"),
    ("टॉम लीड्स में रहता है।", "टॉम ब्रिस्टल चला गया।", "ब्रिस्टल से पहले टॉम कहाँ रहता था?"),
    ("يعيش توم في ليدز.", "انتقل توم إلى بريستول.", "أين كان يعيش توم قبل بريستول؟"),
    ("汤姆住在利兹。", "汤姆搬到了布里斯托。", "汤姆搬到布里斯托之前住在哪里？"),
    ("トムはリーズに住んでいる。", "トムはブリストルに引っ越した。", "トムはブリストルの前はどこに住んでいた？"),
]  # fmt: skip


def tell(memory: Memory, clock: FrozenClock, *notes: str) -> None:
    for note in notes:
        memory.call("remember", {"content": note})
        clock.advance(days=2)


@pytest.mark.parametrize(("old", "new", "question"), QUESTIONS)
def test_what_was_before_comes_first_and_is_marked(
    memory: Memory, clock: FrozenClock, old: str, new: str, question: str
) -> None:
    tell(memory, clock, old, new)
    first, second, *_ = memory.search(question)
    assert (first.text.split("\n")[-1], second.text.split("\n")[-1]) == (old, new)
    assert first.superseded_by
    assert first.superseded_by.text == new
    assert first.score > second.score


def test_of_three_versions_the_one_before_that_which_is_named_comes_first(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "Tom lives in Leeds.", "Tom lives in Bristol.", "Tom lives in York.")
    assert memory.search("where did Tom live before Bristol?")[0].text.endswith("Tom lives in Leeds.")
    assert memory.search("where did Tom live before York?")[0].text.endswith("Tom lives in Bristol.")
    assert memory.search("where does Tom live?")[0].text.endswith("Tom lives in York.")


def test_a_prompt_about_what_was_before_recalls_it_with_its_mark(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "Tom lives in Leeds.", "Tom moved to Bristol.")
    line = 'Tom lives in Leeds. (no longer; now: "Tom moved to Bristol."'
    assert line in memory.recall_for("where did Tom live before Bristol?").text
    assert "Tom lives in Leeds." in memory.context(query="where did Tom live before Bristol?").text


def test_what_has_to_be_done_before_a_day_is_no_question_about_the_past(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "The launch deadline is 12 November.", "The launch deadline is 26 November.")
    assert memory.search("what must be done before the launch deadline?")[0].text.endswith("26 November.")
