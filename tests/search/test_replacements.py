"""What replaces one part of a sentence leaves the other as it is: found first by a question about it, and not left out."""

from __future__ import annotations

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

OLD = "Tom lives in Leeds and works from home on Fridays."
NEW = "Tom moved to Bristol."
IN_TEN_LANGUAGES = [
    (OLD, NEW, "when does Tom work from home?", "where does Tom live?"),
    ("Tom wohnt in Leeds und arbeitet freitags zu Hause.", "Tom ist nach Bristol gezogen.", "Wann arbeitet Tom zu Hause?", "Wo wohnt Tom?"),
    ("Tom vive en Leeds y trabaja desde casa los viernes.", "Tom se mudó a Bristol.", "¿cuándo trabaja Tom desde casa?", "¿dónde vive Tom?"),
    ("Tom habite à Leeds et travaille à la maison le vendredi.", "Tom a déménagé à Bristol.", "quand Tom travaille-t-il à la maison ?", "où habite Tom ?"),
    ("Tom mora em Leeds e trabalha de casa às sextas.", "Tom se mudou para Bristol.", "quando o Tom trabalha de casa?", "onde mora o Tom?"),
    ("Том живёт в Лидсе и работает из дома по пятницам.", "Том переехал в Бристоль.", "когда Том работает из дома?", "где живёт Том?"),
    ("टॉम लीड्स में रहता है और शुक्रवार को घर से काम करता है।", "टॉम ब्रिस्टल चला गया।", "टॉम घर से कब काम करता है?", "टॉम कहाँ रहता है?"),
    ("يعيش توم في ليدز ويعمل من المنزل أيام الجمعة.", "انتقل توم إلى بريستول.", "متى يعمل توم من المنزل؟", "أين يعيش توم؟"),
    ("汤姆住在利兹，周五在家工作。", "汤姆搬到了布里斯托。", "汤姆什么时候在家工作？", "汤姆住在哪里？"),
    ("トムはリーズに住んでいて、金曜日は在宅勤務だ。", "トムはブリストルに引っ越した。", "トムの在宅勤務は何曜日？", "トムはどこに住んでいる？"),
]  # fmt: skip


def tell(memory: Memory, clock: FrozenClock, *notes: str) -> None:
    for note in notes:
        memory.call("remember", {"content": note})
        clock.advance(days=1)


@pytest.mark.parametrize(("old", "new", "about_other", "about_replaced"), IN_TEN_LANGUAGES)
def test_the_part_that_holds_keeps_its_place_and_the_part_that_does_not_is_below(
    memory: Memory, clock: FrozenClock, old: str, new: str, about_other: str, about_replaced: str
) -> None:
    tell(memory, clock, old, new)
    first, *_ = memory.search(about_other)
    assert first.text.endswith(old)
    newest, older, *_ = memory.search(about_replaced)
    assert newest.text.endswith(new)
    for hit in (first, older):
        assert hit.superseded_by
        assert hit.superseded_by.is_partial
        assert old.startswith(hit.superseded_by.was)
        assert hit.superseded_by.was != old


def test_a_context_keeps_the_line_and_says_which_part_was_replaced(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, OLD, NEW)
    remark = 'no longer: "Tom lives in Leeds"; now: "Tom moved to Bristol."'
    assert f"{OLD} ({remark}" in memory.recall_for("when does Tom work from home?").text
    assert remark in memory.context(query="when does Tom work from home?").text
    assert f"{OLD} [{remark}" in memory.call("recall")["content"]


def test_a_line_of_which_a_part_holds_is_not_left_out_beside_what_is_asked_for(
    memory: Memory, clock: FrozenClock
) -> None:
    tell(memory, clock, f"The garden party is on 5 May at noon.\n{OLD}", NEW)
    recalled = memory.recall_for("when is the garden party?").text
    assert f'{OLD} (no longer: "Tom lives in Leeds"; now: "{NEW}"' in recalled


def test_the_first_part_holds_if_the_second_was_replaced(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "Tom lives in Leeds and works at Acme.", "Tom now works at Globex.")
    (hit,) = (hit for hit in memory.search("where does Tom live?") if "Acme" in hit.text)
    assert hit.superseded_by
    assert (hit.superseded_by.was, hit.superseded_by.is_partial) == ("works at Acme", True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Tom lives in Leeds and Bradford.", "Tom moved to Bristol."),
        ("Tom lives in Leeds and works at Acme.", "Tom lives in Bristol and works at Globex."),
        ("Book the hotel and pay for it.", "Done: book the hotel and pay for it."),
    ],
)
def test_what_was_replaced_as_a_whole_is_marked_as_a_whole(
    memory: Memory, clock: FrozenClock, old: str, new: str
) -> None:
    tell(memory, clock, old, new)
    marked = [hit.superseded_by for hit in memory.search(old) if hit.superseded_by]
    assert [each.is_partial for each in marked] == [False] * len(marked)


# A question about what was before something gets that first, marked as replaced.


EARLIER = [
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


def tell_slowly(memory: Memory, clock: FrozenClock, *notes: str) -> None:
    for note in notes:
        memory.call("remember", {"content": note})
        clock.advance(days=2)


@pytest.mark.parametrize(("old", "new", "question"), EARLIER)
def test_what_was_before_comes_first_and_is_marked(
    memory: Memory, clock: FrozenClock, old: str, new: str, question: str
) -> None:
    tell_slowly(memory, clock, old, new)
    first, second, *_ = memory.search(question)
    assert (first.text.split("\n")[-1], second.text.split("\n")[-1]) == (old, new)
    assert first.superseded_by
    assert first.superseded_by.text == new
    assert first.score > second.score


def test_of_three_versions_the_one_before_that_which_is_named_comes_first(memory: Memory, clock: FrozenClock) -> None:
    tell_slowly(memory, clock, "Tom lives in Leeds.", "Tom lives in Bristol.", "Tom lives in York.")
    assert memory.search("where did Tom live before Bristol?")[0].text.endswith("Tom lives in Leeds.")
    assert memory.search("where did Tom live before York?")[0].text.endswith("Tom lives in Bristol.")
    assert memory.search("where does Tom live?")[0].text.endswith("Tom lives in York.")


def test_a_prompt_about_what_was_before_recalls_it_with_its_mark(memory: Memory, clock: FrozenClock) -> None:
    tell_slowly(memory, clock, "Tom lives in Leeds.", "Tom moved to Bristol.")
    line = 'Tom lives in Leeds. (no longer; now: "Tom moved to Bristol."'
    assert line in memory.recall_for("where did Tom live before Bristol?").text
    assert "Tom lives in Leeds." in memory.context(query="where did Tom live before Bristol?").text


def test_what_has_to_be_done_before_a_day_is_no_question_about_the_past(memory: Memory, clock: FrozenClock) -> None:
    tell_slowly(memory, clock, "The launch deadline is 12 November.", "The launch deadline is 26 November.")
    assert memory.search("what must be done before the launch deadline?")[0].text.endswith("26 November.")


@pytest.mark.parametrize(
    ("old", "new", "replaced"),
    [
        ("I'm vegetarian and allergic to nuts.", "I eat fish again since Monday.", "I'm vegetarian"),
        ("Ich bin Vegetarier und gegen Nüsse allergisch.", "Ich esse wieder Fisch.", "Ich bin Vegetarier"),
        ("I am diabetic and vegan.", "I am no longer vegan.", "vegan"),
        ("I live in Cologne and drive an old Volvo.", "I sold the Volvo.", "drive an old Volvo"),
        ("I live in Cologne and drive an old Volvo.", "I moved to Bonn.", "I live in Cologne"),
    ],
)
def test_of_two_things_said_of_somebody_the_one_that_nobody_took_back_is_still_true(
    memory: Memory, clock: FrozenClock, old: str, new: str, replaced: str
) -> None:
    tell(memory, clock, old, new)
    assert f'[no longer: "{replaced}"; now: "{new}"' in memory.context().text


def test_what_is_said_before_a_semicolon_is_still_true(memory: Memory, clock: FrozenClock) -> None:
    tell(
        memory,
        clock,
        "Release 2.3 shipped; release 2.4 is planned for 20 November.",
        "Release 2.4 slipped to 27 November.",
    )
    assert '[no longer: "release 2.4 is planned for 20 November"; now: ' in memory.context().text


def test_two_values_of_one_thing_are_replaced_together(memory: Memory, clock: FrozenClock) -> None:
    tell(memory, clock, "The flags are blue and green.", "The flags are blue and red now.")
    assert '[no longer; now: "The flags are blue and red now."' in memory.context().text
