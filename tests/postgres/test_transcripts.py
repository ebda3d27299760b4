"""Transcripts that are rows: lines are added to a long page without compressing all of it anew."""

from __future__ import annotations

import json

import pytest

from commonplace.home import Home
from commonplace.storage.postgres.backend import PostgresStorage
from commonplace.storage.postgres.transcripts import PostgresTranscript
from commonplace.testing import FrozenClock

pytestmark = pytest.mark.slow
PATH = "agents/main/sessions/long.jsonl"
STORED = "SELECT size, pg_column_size(data) FROM commonplace.pages WHERE path = %(path)s"


def test_a_long_transcript_is_kept_as_it_is_and_reads_as_one_page(url: str, clock: FrozenClock) -> None:
    home = Home(url, clock=clock)
    assert isinstance(home.storage, PostgresStorage)
    lines = [{"role": "user", "content": f"tea {number} " * 50} for number in range(500)]
    transcript = PostgresTranscript(home.storage.database, PATH)
    transcript.add(lines[:-1])
    transcript.add(lines[-1:])
    ((size, stored),) = home.storage.database.query(STORED, {"path": PATH})
    assert size == stored > 200_000
    assert [json.loads(line) for line in home.storage.pages.read(PATH).text.splitlines()] == lines
    assert transcript.items(last=2) == lines[-2:]
    home.close()
