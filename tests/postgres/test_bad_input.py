"""What no database takes is told as a folder tells it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import CommonplaceError, InvalidArgument
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.pages import PostgresPages

from ..test_bad_input import NAMED, ODD

pytestmark = pytest.mark.slow
ASKED: list[Callable[[Memory], object]] = [
    *(lambda memory, call=call: memory.call(*call) for call in NAMED),
    lambda memory: memory.call("MemoryTool", {"op": "getGlobal", "key": ODD}),
    lambda memory: memory.call("MemoryTool", {"op": "deleteGlobal", "key": ODD}),
    lambda memory: memory.call("MemoryTool", {"op": "getSkill", "name": ODD}),
    lambda memory: memory.call("MemoryTool", {"op": "deleteSkill", "name": ODD}),
    lambda memory: memory.call("remember", {"content": ODD}),
    lambda memory: memory.call("memory_write", {"key": "k", "content": ODD}),
    lambda memory: memory.call("memory_get", {"path": ODD}),
    lambda memory: [hit.text for hit in memory.search(ODD)],
    lambda memory: memory.search("x", path=ODD),
    lambda memory: memory.search("x", tags=[ODD]),
    lambda memory: memory.home.storage.pages.read(ODD),
    lambda memory: memory.home.storage.pages.list(ODD),
    lambda memory: memory.home.storage.exists(ODD),
    lambda memory: memory.home.storage.history.head(ODD),
    lambda memory: memory.home.storage.history.change(ODD),
    lambda memory: memory.home.storage.history.change("\ud800"),
    lambda memory: memory.home.storage.history.read_version("memory/k.md", ODD),
    lambda memory: memory.home.storage.history.changes(ODD),
]


def describe_answer(ask: Callable[[Memory], object], memory: Memory) -> str:
    try:
        answer = ask(memory)
    except CommonplaceError as error:
        return f"{type(error).__name__}: {error}"
    return str(
        {key: answer[key] for key in answer if key in ("success", "error")} if isinstance(answer, dict) else answer
    )


@pytest.mark.parametrize("ask", ASKED)
def test_a_null_character_is_reported_as_in_a_folder(ask: Callable[[Memory], object], url: str, home: Path) -> None:
    with Memory(url) as memory, Memory(home) as beside:
        answer = describe_answer(ask, memory)
        assert answer == describe_answer(ask, beside)
        assert "StorageError" not in answer


def test_what_slips_through_is_still_no_fault_of_the_database(database: Database) -> None:
    with pytest.raises(InvalidArgument, match="null character"):
        database.query("SELECT %(text)s::text", {"text": ODD})


@pytest.mark.parametrize(
    ("data", "is_text"),
    [
        (b"needle \xff\xfe", False),
        (b"plain \xc3", False),
        (b"\xed\xa0\x80", False),
        (b"\xf4\x90\x80\x80", False),
        (b"\xc0\x80 \\303\\251", False),
        ("é 中 😀 \U0010ffff \ud7ff".encode(), True),
        (rb"a path \200\377 in C:\temp \\377", True),
        (b"", True),
    ],
)
def test_a_page_that_is_no_text_is_named_by_who_looks_for_text(
    pages: PostgresPages, database: Database, data: bytes, is_text: bool
) -> None:
    pages.write("memory/a.md", "x")
    with database.transaction() as connection:
        connection.execute("UPDATE commonplace.pages SET data = %s", (data,))
    result, warnings = pages.find_text("memory", "not there")
    assert result == []
    assert [warning.split()[0] for warning in warnings] == ([] if is_text else ["memory/a.md"])
