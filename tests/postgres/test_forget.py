"""Forgetting in a database: what goes is shown first, and then is in no row of any table."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import psycopg
import pytest

from commonplace import Memory
from commonplace.maintenance.forget import Selection, find_traces, forget
from commonplace.testing import FrozenClock

pytestmark = pytest.mark.slow
SECRET = "xylophone-quartz-7731"
WORDS = ("xylophone", "quartz")


def rows(url: str) -> dict[str, list[str]]:
    """Every row of every table as text; bytes as what they stand for."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'commonplace' ORDER BY 1"
        ).fetchall()
        result = {}
        for (table,) in tables:
            cursor = connection.execute(f'SELECT * FROM commonplace."{table}"'.encode())
            result[table] = [_format_row(row) for row in cursor]
        return result


def _format_row(row: tuple[object, ...]) -> str:
    return "\t".join(
        _unpack(value).decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in row
    )


def _unpack(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return data


def holding(url: str, *needles: str) -> list[tuple[str, str]]:
    every = rows(url)
    return [(table, row) for table, some in every.items() for row in some for each in needles if each in row.lower()]


def vectors(url: str) -> tuple[int, int]:
    """How many there are, and how many belong to no passage any more."""
    orphans = (
        "SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM commonplace.index_passages AS p WHERE"
        " p.tenant = v.tenant AND p.territory = v.territory AND p.owner = v.owner AND p.hash = v.hash))"
        " FROM commonplace.index_vectors AS v"
    )
    with psycopg.connect(url) as connection:
        row = connection.execute(orphans).fetchone()
    assert row
    return row[0], row[1]


@pytest.fixture
def memory(url: str, clock: FrozenClock) -> Iterator[Memory]:
    result = Memory(f"{url}&tenant=acme" if "?" in url else f"{url}?tenant=acme", clock=clock)
    yield result
    result.close()


@pytest.fixture
def full(memory: Memory) -> Memory:
    """A secret that went through every toolset, was changed, moved and searched for."""
    call = memory.call
    call("memory_write", {"key": "gate", "content": f"The gate opens with {SECRET}.", "tags": ["private"]})
    call("memory_write", {"key": "tea", "content": "Ann drinks green tea in the morning."})
    call("memory_update", {"key": "gate", "content": f"The gate still opens with {SECRET}.", "tags": ["private"]})
    call("write_memory", {"key": "gate", "content": f"Working on {SECRET} today."})
    call("MemoryTool", {"op": "setGlobal", "key": "gate", "value": SECRET, "category": "codes"})
    call("MemoryTool", {"op": "setChannel", "channelName": "dev", "key": "gate", "value": {"code": SECRET}})
    call("MemoryTool", {"op": "createSkill", "name": "gate", "description": f"Says {SECRET}"})
    call("MemoryTool", {"op": "updateSkill", "name": "gate", "newData": {"code": SECRET}})
    memory.home.storage.pages.write(
        "agents/main/sessions/s-1.jsonl", '{"role": "user", "content": "what about the gate"}\n'
    )
    memory.search(SECRET)
    return memory


def test_what_is_forgotten_is_in_no_row_of_any_table(full: Memory, url: str) -> None:
    assert {table for table, _ in holding(url, *WORDS)} >= {"pages", "history", "index_passages", "index_frequencies"}
    there, _ = vectors(url)
    forget(full.home, Selection(key="gate"))
    assert holding(url, *WORDS) == []
    left, orphans = vectors(url)
    assert (left < there, orphans) == (True, 0)
    assert "Ann drinks green tea" in full.call("memory_read", {"key": "tea"})["data"]["content"]
    assert all(SECRET not in hit.text for hit in full.search(SECRET))


def test_the_name_of_a_channel_is_in_no_row_of_any_table(memory: Memory, url: str) -> None:
    memory.call("MemoryTool", {"op": "setChannel", "channelName": "xylophone-quartz", "key": "tea", "value": "green"})
    memory.search("green tea")
    forget(memory.home, Selection(scope="channel:xylophone-quartz"))
    assert holding(url, *WORDS) == []


def test_what_is_only_looked_for_stays(full: Memory, url: str) -> None:
    before = rows(url)
    report = find_traces(full.home, Selection(key="gate"))
    assert {trace.kind for trace in report.traces} == {"page", "history", "index"}
    after = rows(url)
    assert (after["pages"], after["history"]) == (before["pages"], before["history"])


def test_a_page_and_its_name_go_from_history_too(full: Memory, url: str) -> None:
    forget(full.home, Selection(page="agents/main/sessions"))
    assert holding(url, "s-1.jsonl", "what about the gate") == []


def test_another_tenant_keeps_what_one_forgets(full: Memory, url: str, clock: FrozenClock) -> None:
    other = Memory(full.home.address.replace("tenant=acme", "tenant=other"), clock=clock)
    other.call("memory_write", {"key": "gate", "content": f"Ours is {SECRET}."})
    other.search(SECRET)
    forget(full.home, Selection(key="gate"))
    assert SECRET in other.call("memory_read", {"key": "gate"})["data"]["content"]
    assert {row.split("\t")[0] for _, row in holding(url, *WORDS)} == {"other"}
    other.close()


def test_a_session_that_is_no_text_is_forgotten_as_well(full: Memory, url: str) -> None:
    path = "agents/main/sessions/odd.jsonl"
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO commonplace.pages SELECT tenant, %s, %s, 'v', 3, seq + 1000, now() FROM commonplace.tenants"
            " WHERE tenant = 'acme'",
            (path, b"\xff\x00\xc0"),
        )
    assert full.home.storage.read_bytes(path) == b"\xff\x00\xc0"
    forget(full.home, Selection(session="odd"))
    assert full.home.storage.read_bytes(path) is None
    assert holding(url, "odd.jsonl") == []


def test_cited_lines_are_gone_from_every_row(memory: Memory, url: str) -> None:
    memory.call("remember", {"content": "The gate opens with xylophone seven."})
    memory.call("remember", {"content": "The gate opens with xylophone quartz."})
    memory.call("remember", {"content": "Ann drinks green tea."})
    for _ in range(2):
        hit = next(hit for hit in memory.search("gate xylophone") if "xylophone" in hit.text)
        forget(memory.home, Selection(page=hit.citation))
    assert holding(url, *WORDS) == []
    assert memory.search("green tea")[0].text.endswith("Ann drinks green tea.")
