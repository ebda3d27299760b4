"""Open tasks of older days stay in a context that has no room for these days; tasks that are done go with them."""

from __future__ import annotations

from pathlib import Path

from commonplace import Memory
from commonplace.testing import FrozenClock

MEETING = "Talked about the harbour plan, the new lattice and who pays for the quartz; nothing was agreed."


def keep_ten_days(memory: Memory, clock: FrozenClock) -> None:
    for day in range(10):
        for _ in range(6):
            memory.call("remember", {"content": MEETING})
            clock.advance(minutes=30)
        if day == 1:
            memory.call("remember", {"content": "TODO: renew the certificate of the shop."})
            memory.call("remember", {"content": "TODO: order badges for Priya."})
        clock.advance(days=1)


def test_what_was_to_do_ten_days_ago_is_in_the_context_with_its_date(memory: Memory, clock: FrozenClock) -> None:
    keep_ten_days(memory, clock)
    for budget in (700, 1000, 2000):
        text = str(memory.context(budget=budget))
        assert "renew the certificate" in text
        assert "order badges for Priya" in text
        assert text.index("harbour plan") < text.index("2026-03-15") < text.index("renew the certificate")
        assert memory.context(budget=budget).receipt["tokens"] <= budget


def test_an_old_task_that_is_done_takes_no_room(memory: Memory, clock: FrozenClock) -> None:
    keep_ten_days(memory, clock)
    memory.call("remember", {"content": "The certificate of the shop is renewed."})
    text = str(memory.context(budget=700))
    assert "TODO: renew the certificate" not in text
    assert "order badges for Priya" in text


def test_a_task_is_shown_once_where_there_is_room_for_its_day(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "Met the plumber."})
    memory.call("remember", {"content": "TODO: order badges for Priya."})
    clock.advance(days=1)
    memory.call("remember", {"content": MEETING})
    for budget in (None, 1000):
        text = str(memory.context(budget=budget))
        assert text.count("order badges for Priya") == 1
        assert "```data 2026-03-14 (yesterday)\n## 09:26\nMet the plumber.\n## 09:26\nTODO: order" in text


def test_tasks_in_a_long_entry_stay_and_are_shown_once_where_there_is_room(home: Path, clock: FrozenClock) -> None:
    lines = [
        "Tax: receipts for the desk and for the course are missing, the adviser wants them by the end of the month."
    ]
    lines += ["- [ ] renew the passport", "", "Talked to Priya about the move and about the lattice in the garden."]
    lines += ["TODO: paint the boat"]
    page = home / "agents/main/memory/daily/2026-03-14.md"
    page.parent.mkdir(parents=True)
    page.write_text("# 2026-03-14\n\n## 09:00\n\n" + "\n".join(lines) + "\n")
    memory = Memory(home, clock=clock)
    clock.advance(days=1)
    memory.call("remember", {"content": MEETING})
    shown = "\n".join(line for line in lines if line)
    assert f"```data 2026-03-14 (yesterday)\n## 09:00\n{shown}\n```" in str(memory.context(budget=1500))
    clock.advance(days=1)
    keep_ten_days(memory, clock)
    context = memory.context(budget=700)
    old = "```data 2026-03-14 (13 days ago)\n- [ ] renew the passport\nTODO: paint the boat\n```"
    assert old in str(context)
    sources = [each["source"] for section in context.receipt["sections"] for each in section["sources"]]
    assert "agents/main/memory/daily/2026-03-14.md#L6-L6" in sources
    assert "agents/main/memory/daily/2026-03-14.md#L9-L9" in sources
