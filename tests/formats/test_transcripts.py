from __future__ import annotations

from commonplace.formats.transcripts import parse_turns, render_lines


def test_turns_are_read_in_the_common_shapes_and_tool_calls_left_out() -> None:
    session = "\n".join(
        [
            '{"role": "user", "content": "hello", "name": "Ann", "timestamp": "2026-03-14T09:00:00Z"}',
            '{"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}}',
            '{"role": "assistant", "content": [{"type": "tool_use", "name": "x", "input": {}}]}',
            '{"role": "tool", "content": "result"}',
            "not json",
            "[1]",
            "",
        ]
    )
    found, broken = parse_turns(session)
    assert [(t.line, t.text) for t in found] == [(1, "Ann: hello"), (2, "assistant: hi")]
    assert broken == [5, 6]


def test_lines_are_shown_as_what_was_said_and_without_secrets() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    shown = render_lines(['{"role": "user", "content": "hello"}', f"not json {token}"])
    assert shown[0] == "user: hello"
    assert shown[1].startswith("not json")
    assert token not in shown[1]
