from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonplace import SCRATCHPAD_KEY, SESSION_HANDOFF_KEY, Memory
from commonplace.framing import to_json
from commonplace.framing.limits import MAX_REPLY_CHARACTERS
from commonplace.testing import FrozenClock


def write(memory: Memory, key: str, content: str, mode: str = "replace") -> dict[str, Any]:
    return memory.call("write_memory", {"key": key, "content": content, "mode": mode})


def keys(memory: Memory, query: str, **more: Any) -> list[str]:
    reply = memory.call("search_memory", {"query": query, **more})
    assert reply["status"] == "ok"
    assert reply["match_count"] == len(reply["matches"])
    return [match["key"] for match in reply["matches"]]


def test_a_note_is_replaced_or_grows_by_a_line(memory: Memory) -> None:
    assert write(memory, " plan ", " one \n") == {"status": "ok", "key": "plan", "mode": "replace", "bytes_written": 3}
    assert write(memory, "plan", "zwölf", "append")["bytes_written"] == len("one\nzwölf".encode())
    match = memory.call("search_memory", {"query": "plan"})["matches"][0]
    assert match == {"key": "plan", "content": "one\nzwölf", "updated_at": "2026-03-14T09:26:53.000000Z"}
    write(memory, "plan", "new")
    assert memory.call("search_memory", {"query": "plan"})["matches"][0]["content"] == "new"


def test_appending_to_nothing_equals_replacing(memory: Memory) -> None:
    write(memory, "k", "v", "append")
    assert memory.call("search_memory", {"query": "k"})["matches"][0]["content"] == "v"


def test_every_write_is_logged_under_its_day(memory: Memory, home: Path, clock: FrozenClock) -> None:
    write(memory, "k", "v", "append")
    clock.advance(seconds=7)
    write(memory, "it's", "v")
    assert (home / "agents/main/memory/activity/2026-03-14.md").read_text() == (
        "Daily activity log for 2026-03-14\n"
        "- [09:26:53 UTC] write_memory key='k' mode='append'\n"
        "- [09:27:00 UTC] write_memory key='it's' mode='replace'\n"
    )
    assert keys(memory, "activity-log-2026-03-14") == ["activity-log-2026-03-14"]
    assert keys(memory, "write_memory") == []


def test_ranking_prefers_the_whole_query_then_keys_then_newer(memory: Memory, clock: FrozenClock) -> None:
    for key, content in [
        ("terms-in-content", "green and then tea"),
        ("tea", "terms in key: nothing else"),
        ("whole-in-content", "I like green tea a lot"),
        ("my green tea", "whole in key"),
        ("older", "tea"),
        ("newer", "tea"),
    ]:
        write(memory, key, content)
        clock.advance(seconds=1)
    assert keys(memory, "Green Tea") == [
        "my green tea",
        "whole-in-content",
        "tea",
        "terms-in-content",
        "newer",
        "older",
    ]


def test_words_are_found_in_any_case_and_in_languages_without_spaces(memory: Memory) -> None:
    write(memory, "ort", "Die STRASSE ist lang")
    write(memory, "zh", "用户喜欢喝绿茶")
    assert keys(memory, "straße") == ["ort"]
    assert keys(memory, "绿茶的味道") == ["zh"]


def test_pieces_of_other_words_are_not_found(memory: Memory) -> None:
    write(memory, "weekly", "waiting for the review of the planet")
    assert keys(memory, "or") == []
    assert keys(memory, "blue or green") == []
    assert keys(memory, "plan") == []


def test_stop_words_count_only_when_nothing_else_is_asked(memory: Memory) -> None:
    write(memory, "deploy", "make ship")
    write(memory, "weekly", "how we do what we do, and how do we do it")
    assert keys(memory, "how do we deploy")[0] == "deploy"
    assert keys(memory, "wie machen wir deploy")[0] == "deploy"
    assert keys(memory, "how do we") == ["weekly"]


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("invoices", "one invoice is open"),
        ("invoice", "three invoices are open"),
        ("deploying", "we deployed it"),
        ("stop", "it stopped"),
        ("policies", "the policy"),
        ("facturas", "una factura"),
        ("¿dónde está la factura?", "las facturas de mayo"),
        ("Rechnungen", "die Rechnung von Mai"),
        ("die Häuser von Anna", "ein Haus am See"),
        ("quelles sont les factures", "la facture de mai"),
        ("as faturas", "uma fatura"),
        ("le fatture", "una fattura"),
        ("счета", "три счёта открыты"),
        ("книгу", "новая книга"),
        ("किताबें", "एक किताब"),
        ("الفاتورة", "فاتورة واحدة"),
        ("部署流程是什么", "我们的部署在周五"),
        ("会議はいつですか", "次の会議の議題"),
        ("회의는 언제", "회의가 월요일에 있다"),
        ("ประชุมเมื่อไหร่", "นัดประชุมวันจันทร์"),
    ],
)
def test_a_word_is_found_in_every_inflection_and_language(memory: Memory, query: str, content: str) -> None:
    write(memory, "note", content)
    write(memory, "other", "xyzzy 1234")
    assert keys(memory, query) == ["note"]


def test_meaning_adds_likely_notes_of_this_agent_where_words_find_too_few(home: Path) -> None:
    with Memory(home) as memory, Memory(home, agent="other") as other:
        write(memory, "garage", "The automobile is parked behind the house.")
        write(memory, "lunch", "Pizza on Tuesdays.")
        write(memory, "shop", "Sells a vehicle now and then.")
        write(other, "theirs", "The automobile is parked behind the house.")
        memory.call("remember", {"content": "The automobile is parked behind the house."})
        assert keys(memory, "where is the vehicle") == ["shop", "garage"]
        assert keys(memory, "where is the vehicle", limit=1) == ["shop"]
        assert keys(memory, "quantum physics") == []


def test_without_search_or_an_embedder_words_answer_alone(home: Path) -> None:
    for settings in ("enabled: false", "provider: none"):
        home.mkdir(exist_ok=True)
        (home / "commonplace.yaml").write_text(f"memorySearch:\n  {settings}\n")
        with Memory(home) as memory:
            write(memory, "garage", "The automobile is parked behind the house.")
            assert keys(memory, "vehicle") == []
            assert keys(memory, "automobiles") == ["garage"]


@pytest.mark.parametrize(("limit", "count"), [(None, 8), (0, 1), (-1, 1), (5, 5), (999, 50)])
def test_the_limit_is_brought_between_1_and_50(memory: Memory, home: Path, limit: int | None, count: int) -> None:
    folder = home / "agents/main/memory/working"
    folder.mkdir(parents=True)
    for number in range(60):
        (folder / f"n{number}.md").write_text("word")
    assert len(keys(memory, "word", **({} if limit is None else {"limit": limit}))) == count


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("write_memory", {"content": "x"}, "Missing required 'key' parameter"),
        ("write_memory", {"key": "  ", "content": "x"}, "Missing required 'key' parameter"),
        ("write_memory", {"key": "k"}, "Missing required 'content' parameter"),
        ("write_memory", {"key": "k", "content": " \n"}, "Missing required 'content' parameter"),
        (
            "write_memory",
            {"key": "k", "content": "x", "mode": "add"},
            "Invalid 'mode' parameter. Use 'replace' or 'append'.",
        ),
        (
            "write_memory",
            {"key": "k", "content": "x", "mode": 1},
            "Invalid 'mode' parameter. Use 'replace' or 'append'.",
        ),
        ("search_memory", {}, "Missing required 'query' parameter"),
        ("search_memory", {"query": "  "}, "Missing required 'query' parameter"),
        ("write_session_handoff", {"content": ""}, "Missing required 'content' parameter"),
        ("scratch_note", {"mode": "replace"}, "'content' is required for replace/append modes"),
        ("scratch_note", {"mode": "append", "content": " "}, "'content' is required for replace/append modes"),
        ("scratch_note", {"mode": "burn"}, "Unknown mode 'burn'. Use replace, append, clear, or read."),
    ],
)
def test_errors_are_the_sentences_of_the_contract(
    memory: Memory, tool: str, arguments: dict[str, Any], error: str
) -> None:
    assert memory.call(tool, arguments) == {"status": "error", "error": error}


@pytest.mark.parametrize(
    ("key", "tool"),
    [
        (SESSION_HANDOFF_KEY, "write_session_handoff"),
        (SCRATCHPAD_KEY, "scratch_note"),
        ("activity-log-2026-03-14", "log"),
    ],
)
def test_reserved_keys_are_refused_with_the_tool_to_use(memory: Memory, key: str, tool: str) -> None:
    reply = write(memory, key, "x")
    assert reply["status"] == "error"
    assert tool in reply["error"]


def test_keys_that_look_like_the_fixed_pages_are_their_own_notes(memory: Memory, home: Path) -> None:
    memory.call("write_session_handoff", {"content": "the handoff"})
    for key in ("HANDOFF", "handoff", "Handoff", "SCRATCHPAD"):
        write(memory, key, f"note {key}")
    files = [path.name.lower() for path in (home / "agents/main/memory/working").iterdir()]
    assert len(set(files)) == 5
    assert "the handoff" in (home / "agents/main/memory/working/HANDOFF.md").read_text()
    assert memory.call("search_memory", {"query": "note Handoff"})["matches"][0]["key"] in (
        "Handoff",
        "HANDOFF",
        "handoff",
    )


def test_the_age_of_a_handoff_is_counted_in_calendar_days(memory: Memory, clock: FrozenClock) -> None:
    memory.call("write_session_handoff", {"content": "Next: load test."})
    for hours, age in ((23, "23 hours ago"), (24.5, "2 days ago")):
        clock.advance(hours=hours)
        assert f"Left by your last session, {age}." in str(memory.context())


def test_the_handoff_overwrites_and_comes_first_until_it_is_replaced(memory: Memory, clock: FrozenClock) -> None:
    assert memory.call("write_session_handoff", {"content": "the old one"})["message"]
    memory.call("write_session_handoff", {"content": "second"})
    clock.advance(days=2)
    for _ in range(2):
        text = str(memory.context())
        assert text.startswith("## Session Handoff\n\nLeft by your last session, 2 days ago.")
        assert "second" in text
        assert "the old one" not in text


def test_a_note_that_was_cleared_is_not_found(memory: Memory) -> None:
    memory.call("scratch_note", {"mode": "replace", "content": "try the other port"})
    memory.call("scratch_note", {"mode": "clear"})
    assert memory.search("scratchpad") == []


def test_the_scratchpad_is_written_read_and_cleared(memory: Memory) -> None:
    assert memory.call("scratch_note") == {"status": "ok", "content": "", "empty": True}
    assert memory.call("scratch_note", {"mode": "replace", "content": "one"})["content"] == "one"
    assert memory.call("scratch_note", {"mode": "append", "content": "two"})["content"] == "one\ntwo"
    assert memory.call("scratch_note", {"mode": "read"}) == {"status": "ok", "content": "one\ntwo", "empty": False}
    assert "one\ntwo" in str(memory.context())
    assert memory.call("scratch_note", {"mode": "clear"})["message"]
    assert memory.call("scratch_note") == {"status": "ok", "content": "", "empty": True}
    assert "Scratchpad\n" not in str(memory.context())


def test_a_note_stays_written_when_the_log_cannot_be(memory: Memory, home: Path) -> None:
    (home / "agents/main/memory/activity/2026-03-14.md").mkdir(parents=True)
    reply = write(memory, "k", "v")
    assert reply["status"] == "ok"
    assert "activity log" in reply["warning"]
    assert keys(memory, "k") == ["k"]


def test_a_scratch_note_without_a_mode_is_appended_and_says_so(memory: Memory) -> None:
    memory.call("scratch_note", {"content": "one"})
    assert memory.call("scratch_note", {"content": "two"})["mode"] == "append"
    assert memory.call("scratch_note", {}) == {"status": "ok", "content": "one\ntwo", "empty": False}


@pytest.mark.parametrize("mode", ["read", "clear"])
def test_content_that_a_mode_of_the_scratchpad_does_not_take_is_pointed_out(memory: Memory, mode: str) -> None:
    reply = memory.call("scratch_note", {"mode": mode, "content": "an idea"})
    assert reply["status"] == "ok"
    assert "not saved" in reply["warning"]
    assert "warning" not in memory.call("scratch_note", {"mode": mode})


def test_found_notes_stay_within_a_reply_and_the_one_that_is_named_comes_whole(memory: Memory) -> None:
    for number in range(40):
        memory.call("write_memory", {"key": f"tea-{number}", "content": f"tea {'leaf ' * 1000}"})
    reply = memory.call("search_memory", {"query": "tea leaf", "limit": 50})
    assert len(to_json(reply)) <= MAX_REPLY_CHARACTERS
    assert "only the start is shown of tea-0" in reply["warning"]
    exact = memory.call("search_memory", {"query": "tea-7", "limit": 50})
    assert exact["matches"][0]["content"] == f"tea {'leaf ' * 1000}".strip()


@pytest.mark.parametrize(
    ("key", "tool"),
    [
        ("HANDOFF", "write_session_handoff"),
        ("Session Handoff", "write_session_handoff"),
        ("Scratchpad", "scratch_note"),
    ],
)
def test_a_key_like_that_of_the_handoff_is_a_note_of_its_own_and_says_so(memory: Memory, key: str, tool: str) -> None:
    memory.call("write_session_handoff", {"content": "Open: the docs."})
    reply = memory.call("write_memory", {"key": key, "content": "x"})
    assert reply["warning"] == f"{key} is a note like any other: {tool} writes the one that you may mean"
    assert "Open: the docs." in str(memory.context())
