"""Tasks that are done: a later statement that says so closes a task, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.maintenance.doubts import list_doubts
from commonplace.testing import FrozenClock

QUESTION = "what is left to do?"


def remember(memory: Memory, clock: FrozenClock, *notes: str) -> None:
    for note in notes:
        assert memory.call("remember", {"content": note})["success"]
        clock.advance(hours=1)


def find_open(memory: Memory) -> str:
    return "\n".join(hit.text for hit in memory.search(QUESTION) if hit.score >= 0.5)


@pytest.mark.parametrize(
    ("task", "done"),
    [
        ("- [ ] book the hotel", "- [x] book the hotel"),
        ("- [ ] book the hotel", "Done: book the hotel"),
        ("- [ ] book the hotel", "Booked the hotel"),
        ("- [ ] book the hotel", "book the hotel: done"),
        ("- [ ] book the hotel", "✅ book the hotel"),
        ("TODO: book the hotel", "finished booking the hotel"),
        ("We still need to book the hotel.", "The hotel is booked now."),
        ("TODO: book the hotel before the 20th", "Booked the hotel."),
        ("TODO: rotate the webhook secret before the launch", "Rotated the webhook secret."),
        ("TODO: den Schlüssel vor dem Start tauschen", "Den Schlüssel getauscht."),
        ("TODO: book the hotel on the 5th", "Booked the hotel."),
        ("TODO: Hotel bis zum 20. buchen", "Hotel gebucht."),
        ("Pendiente: reservar el hotel antes del 20", "El hotel está reservado."),
        ("TODO: book the hotel by Friday", "Ann booked the hotel on Thursday, it costs 120 euros."),
        ("TODO: The hotel is still to be booked.", "The hotel was booked yesterday."),
        ("Remind me to send the invoice to Ute", "Sent the invoice to Ute."),
        ("- [ ] pay invoice 4711", "Paid invoice 4711 today"),
        ("TODO: write the harbour zone test", "Harbour zone test written (zones.py); fixed missing zones for Gedser."),
        ("- [ ] groceries", "- [x] groceries"),
        ("- [ ] write the migration guide", "The migration guide is done."),
        ("- [ ] write chapter 3", "Chapter 3 is finished"),
        ("- [ ] die Migrationsanleitung schreiben", "Die Migrationsanleitung ist fertig."),
        ("TODO:\n- book the hotel", "Booked the hotel"),
        ("TODO: Hotel buchen", "Hotel gebucht."),
        ("Der Vertrag muss noch unterschrieben werden.", "Der Vertrag ist unterschrieben."),
        ("- [ ] Paket abholen", "Habe das Paket gestern abgeholt."),
        ("- [ ] Rechnung bezahlen", "Rechnung bezahlen: erledigt"),
        ("Pendiente: pagar la factura", "Ya pagué la factura."),
        ("Pendiente: reservar el hotel", "El hotel está reservado."),
        ("À faire : réserver l'hôtel", "L'hôtel est réservé."),
        ("À faire : écrire le rapport", "J'ai écrit le rapport."),
        ("Por fazer: reservar o hotel", "Reservei o hotel."),
        ("Da fare: prenotare l'albergo", "Ho prenotato l'albergo."),
        ("Te doen: hotel boeken", "Het hotel is geboekt."),
        ("Te doen: factuur betalen", "Factuur betaald."),
        ("Сделать: оплатить квартиру", "Оплатил квартиру."),
        ("Сделать: забронировать отель", "Отель забронирован."),
        ("待办:买机票", "机票已买"),
        ("待办:预订酒店", "酒店预订好了"),
        ("やること: 切符を買う", "切符を買いました。"),
        ("やること: ホテルを予約する", "ホテルの予約が完了"),
        ("할 일: 호텔 예약하기", "호텔을 예약했다."),
        ("할 일: 보고서 제출", "보고서 제출 완료"),
        ("- [ ] حجز الفندق", "تم حجز الفندق"),
        ("- [ ] होटल बुक करना", "होटल बुक कर लिया"),
    ],
)
def test_a_task_is_closed_by_a_later_statement_that_it_is_done(
    memory: Memory, clock: FrozenClock, task: str, done: str
) -> None:
    remember(memory, clock, task, "- [ ] water the cactus")
    assert task.splitlines()[-1] in find_open(memory)
    remember(memory, clock, done)
    still_open = find_open(memory)
    assert task.splitlines()[-1] not in still_open
    assert "water the cactus" in still_open
    recalled = str(memory.recall_for(QUESTION))
    assert task.splitlines()[-1] not in recalled
    assert "water the cactus" in recalled


@pytest.mark.parametrize(
    ("task", "other"),
    [
        ("TODO: book the hotel in Oslo", "Done: the taxes. Hotel prices in Oslo went up."),
        ("- [ ] book the hotel", "Booked the flight"),
        ("- [ ] book the hotel", "book the hotel: not done yet"),
        ("- [ ] book the hotel", "The hotel has not been booked."),
        ("- [ ] book the hotel", "Almost booked the hotel"),
        ("- [ ] book the hotel", "Was the hotel booked?"),
        ("- [ ] book the hotel", "We will have booked the hotel when you arrive."),
        ("- [ ] book the hotel", "Tried the hotel, but it was booked out if we need two rooms"),
        ("- [ ] book the hotel", "The hotel has a nice book shop."),
        ("- [ ] book the hotel in Graz", "Booked the hotel in Vienna"),
        ("- [ ] pay invoice 4711", "Paid invoice 4712"),
        ("- [ ] pay the rent", "Paid the rent deposit"),
        ("- [ ] call Ann", "Called Ben"),
        ("- [ ] review the migration guide", "The migration guide is done."),
        ("- [ ] write the migration guide", "The review of the migration guide is done."),
        ("- [ ] write chapter 3", "Chapter 4 is done."),
        ("- [ ] pay the 3rd invoice", "Paid the invoice of the landlord"),
        ("- [ ] water the plants on Tuesday", "- [x] water the plants on Monday"),
        ("- [ ] call", "Called Ann"),
        ("- [ ] put the bike away", "Put the bike away before it rains"),
        ("TODO: test the login before the release", "Tested the release."),
        ("TODO: Hotel buchen", "Das Hotel ist noch nicht gebucht."),
        ("TODO: Hotel buchen", "Flug gebucht"),
        ("Pendiente: pagar la factura", "No pagué la factura."),
        ("À faire : réserver l'hôtel", "L'hôtel n'est pas réservé."),
        ("Por fazer: reservar o hotel", "Reservei o voo."),
        ("Da fare: prenotare l'albergo", "L'albergo non è ancora prenotato."),
        ("Te doen: hotel boeken", "Het hotel is nog niet geboekt."),
        ("Сделать: оплатить квартиру", "Квартиру ещё не оплатил."),
        ("待办:买机票", "还没买机票"),
        ("待办:买机票", "买了车票"),
        ("やること: 切符を買う", "切符はまだ買っていません。"),
        ("할 일: 호텔 예약하기", "호텔을 아직 예약하지 않았다."),
        ("- [ ] حجز الفندق", "لم يتم حجز الفندق"),
        ("- [ ] होटल बुक करना", "होटल बुक नहीं किया"),
    ],
)
def test_a_task_stays_open_whatever_else_is_said(memory: Memory, clock: FrozenClock, task: str, other: str) -> None:
    remember(memory, clock, task, other)
    assert task in find_open(memory)


def test_what_was_done_before_closes_nothing(memory: Memory, clock: FrozenClock) -> None:
    remember(memory, clock, "Watered the plants", "- [ ] water the plants")
    assert "- [ ] water the plants" in find_open(memory)


def test_a_task_that_is_open_again_is_listed(memory: Memory, clock: FrozenClock) -> None:
    remember(memory, clock, "- [ ] water the plants", "- [x] water the plants", "- [ ] water the plants")
    assert "- [ ] water the plants" in find_open(memory)


def test_of_a_list_those_tasks_are_recalled_that_are_open(memory: Memory, clock: FrozenClock) -> None:
    remember(memory, clock, "TODO:\n- [ ] book the hotel\n- [ ] rent a car\n- [ ] buy a map", "Booked the hotel")
    recalled = str(memory.recall_for(QUESTION))
    assert "rent a car" in recalled
    assert "buy a map" in recalled
    assert "book the hotel" not in recalled


def test_many_tasks_that_are_done_do_not_hide_the_one_that_is_open(memory: Memory, clock: FrozenClock) -> None:
    remember(memory, clock, "- [ ] call the plumber")
    things = [f"{colour} {thing}" for colour in ("red", "blue", "green", "black") for thing in ("door", "roof", "wall")]
    for thing in things:
        remember(memory, clock, f"- [ ] paint the {thing}", f"Painted the {thing}.")
    (result,) = [hit for hit in memory.search(QUESTION, limit=3) if hit.score >= 0.5]
    assert "call the plumber" in result.text


def test_the_context_says_that_a_task_is_done(memory: Memory, clock: FrozenClock) -> None:
    remember(memory, clock, "- [ ] book the hotel", "We had lunch.", "Booked the hotel")
    for line in str(memory.context()).splitlines():
        assert "[ ] book the hotel" not in line or "Booked the hotel" in line


def test_the_reply_names_the_task_that_it_closes(memory: Memory, clock: FrozenClock) -> None:
    remember(memory, clock, "- [ ] book the hotel")
    (closed,) = memory.call("remember", {"content": "Booked the hotel"})["supersedes"]
    assert closed["text"] == "book the hotel"
    assert closed["reason"] == "says that it is done"


def test_nobody_is_asked_about_a_task_that_is_done(memory: Memory, clock: FrozenClock) -> None:
    remember(memory, clock, "- [ ] book the hotel", "Booked the hotel")
    assert list_doubts(memory.home) == []


def test_another_question_about_a_task_that_is_done_gets_what_was_done_first(
    memory: Memory, clock: FrozenClock
) -> None:
    remember(memory, clock, "- [ ] book the hotel", "Booked the hotel")
    first, second = memory.search("the hotel")
    assert "Booked" in first.text
    assert second.superseded_by
    assert second.superseded_by.kind == "done"


def test_a_task_that_is_removed_from_its_page_is_gone(memory: Memory, home: Path, clock: FrozenClock) -> None:
    remember(memory, clock, "- [ ] book the hotel", "- [ ] call Ann")
    page = home / memory.search("call Ann")[0].path
    page.write_text(page.read_text().replace("- [ ] book the hotel", ""))
    assert "book the hotel" not in find_open(memory)


@pytest.mark.parametrize(
    ("task", "news"),
    [
        ("TODO: renew the domain", "Renewed the domain until 2028"),
        ("- [ ] Migrate to Svelte", "We won't migrate to Svelte"),
        ("- [ ] Migrate to Svelte", "We decided not to migrate to Svelte."),
        ("- [ ] Zu Svelte wechseln", "Wir wechseln doch nicht zu Svelte."),
        ("- [ ] Migrar a Svelte", "Al final no migramos a Svelte."),
        ("- [ ] Passer à Svelte", "On ne va pas passer à Svelte."),
        ("- [ ] Migrar para Svelte", "Não vamos migrar para Svelte."),
    ],
)
def test_a_task_is_closed_by_what_is_done_or_given_up(memory: Memory, clock: FrozenClock, task: str, news: str) -> None:
    remember(memory, clock, task, news)
    assert "velte" not in find_open(memory)
    assert "domain" not in find_open(memory)


@pytest.mark.parametrize("news", ["We won't migrate to Svelte this week.", "We won't migrate to React."])
def test_a_task_that_is_put_off_stays_open(memory: Memory, clock: FrozenClock, news: str) -> None:
    remember(memory, clock, "- [ ] Migrate to Svelte", news)
    assert "Migrate to Svelte" in find_open(memory)


@pytest.mark.parametrize(
    ("obligation", "done"),
    [
        ("Need to call the bank.", "Called the bank."),
        ("We have to renew the domain before June.", "Renewed the domain until 2028."),
        ("Ich muss die Steuererklärung abgeben.", "Steuererklärung abgegeben."),
        ("Il faut envoyer le contrat.", "Contrat envoyé."),
        ("Hay que pagar la luz.", "Luz pagada."),
        ("Надо оплатить интернет.", "Интернет оплачен."),
        ("要交电费。", "电费交了。"),
    ],
)
def test_what_has_to_be_done_is_done(memory: Memory, clock: FrozenClock, obligation: str, done: str) -> None:
    remember(memory, clock, obligation, done)
    (mark,) = [hit.superseded_by for hit in memory.search(obligation) if hit.text.endswith(obligation)]
    assert mark is not None
    assert mark.kind == "done"


def test_what_has_to_be_done_stays_so_when_something_else_is_done(memory: Memory, clock: FrozenClock) -> None:
    remember(memory, clock, "Need to renew my passport.", "Renewed my library card.")
    assert not any(hit.superseded_by for hit in memory.search("Need to renew my passport."))
