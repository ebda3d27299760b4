"""What a conversation was given is known line by line, across processes, and holds no text."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.index import recalls
from commonplace.index.recalls import Conversation, open_conversation

LINE = "Ann prefers green tea, never coffee."


def test_a_line_is_known_however_it_was_written() -> None:
    conversation = Conversation()
    conversation.add(f'# Today\n\n- 2026-03-14: "{LINE}"\n')
    assert conversation.has(LINE)
    assert conversation.has("ann prefers GREEN tea")
    assert not conversation.has("Ann prefers black tea, never coffee.")
    assert not conversation.has("tea, never, ever")


def test_few_words_are_known_only_as_a_line_of_their_own() -> None:
    conversation = Conversation()
    conversation.add(f"{LINE}\n- editor: vim\n")
    assert conversation.has("editor vim")
    assert not conversation.has("green tea")
    assert not conversation.has("vim")


def test_a_language_without_spaces_is_known_by_its_characters() -> None:
    conversation = Conversation()
    conversation.add("她喜欢喝绿茶，不喝咖啡。")
    assert conversation.has("她喜欢喝绿茶")
    assert not conversation.has("她喜欢喝红茶")


@given(st.text(max_size=80))
def test_whatever_was_given_is_known_to_the_next_process_too(text: str) -> None:
    conversation = Conversation()
    conversation.add(text)
    assert all(conversation.has(line) for line in text.splitlines())


def test_another_process_goes_on_where_this_one_ended(tmp_path: Path) -> None:
    first = open_conversation(str(tmp_path), "home", "main", "s-1")
    first.add(LINE)
    first.save()
    assert open_conversation(str(tmp_path), "home", "main", "s-1").has(LINE)
    for other in (("home", "main", "s-2"), ("home", "scout", "s-1"), ("elsewhere", "main", "s-1")):
        assert not open_conversation(str(tmp_path), *other).has(LINE)
    (file,) = tmp_path.iterdir()
    assert b"Ann" not in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600


def test_after_a_compaction_everything_may_be_given_again(tmp_path: Path) -> None:
    first = open_conversation(str(tmp_path), "home", "main", "s-1")
    first.add(LINE)
    first.restart("2026-03-14T09:26:53Z")
    first.save()
    later = open_conversation(str(tmp_path), "home", "main", "s-1")
    assert (later.has(LINE), later.compacted_at, later.needs_context) == (False, "2026-03-14T09:26:53Z", True)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"hashes": "xyz"}', b'{"hashes": "00", "compacted_at": 1}'])
def test_a_damaged_file_is_no_reason_to_fail(tmp_path: Path, damage: bytes) -> None:
    first = open_conversation(str(tmp_path), "home", "main", "s-1")
    first.save()
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    again = open_conversation(str(tmp_path), "home", "main", "s-1")
    assert not again.has(LINE)
    again.add(LINE)
    again.save()
    assert open_conversation(str(tmp_path), "home", "main", "s-1").has(LINE)


def test_a_conversation_that_is_over_is_removed(tmp_path: Path) -> None:
    open_conversation(str(tmp_path), "home", "main", "old").save()
    (old,) = tmp_path.iterdir()
    weeks_ago = time.time() - 30 * 86400
    os.utime(old, (weeks_ago, weeks_ago))
    (tmp_path / "words-5.sqlite").touch()
    os.utime(tmp_path / "words-5.sqlite", (weeks_ago, weeks_ago))
    open_conversation(str(tmp_path), "home", "main", "new").save()
    assert not old.exists()
    assert len([*tmp_path.iterdir()]) == 2


def test_many_conversations_of_one_agent_remove_none_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recalls, "_MAX_CONVERSATIONS", 3)

    def give(agent: str, session: str, seconds: int) -> None:
        before = {*tmp_path.iterdir()}
        conversation = open_conversation(str(tmp_path), "home", agent, session)
        conversation.add(LINE)
        conversation.save()
        at = time.time() - 3600 + seconds
        for file in {*tmp_path.iterdir()} - before:
            os.utime(file, (at, at))

    def is_known(agent: str, session: str) -> bool:
        return open_conversation(str(tmp_path), "home", agent, session).has(LINE)

    give("ann", "first", 0)
    for number in range(5):
        give("bob", str(number), number)
    assert is_known("ann", "first")
    assert [is_known("bob", str(number)) for number in range(5)] == [False, False, True, True, True]


def test_a_long_conversation_keeps_what_came_last() -> None:
    conversation = Conversation()
    conversation.add(LINE)
    for number in range(60):
        conversation.add("\n".join(f"fact {number} {line} is worth knowing" for line in range(300)))
    conversation.add("The last line of them all.")
    assert conversation.has("The last line of them all.")
    assert not conversation.has(LINE)
