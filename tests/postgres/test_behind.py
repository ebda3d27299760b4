"""An index that cannot follow costs no page that was written."""

from __future__ import annotations

import pytest

from commonplace import Memory

from .conftest import admin

pytestmark = pytest.mark.slow


def test_a_page_is_written_and_read_while_the_index_takes_nothing(url: str) -> None:
    with Memory(url) as memory:
        memory.call("write_memory", {"key": "before", "content": "green tea"})
        admin(url, "ALTER TABLE commonplace.index_pages ADD CONSTRAINT full_up CHECK (false) NOT VALID")
        assert memory.call("write_memory", {"key": "after", "content": "black tea"})["status"] == "ok"
        hits = memory.home.search("tea")
        assert hits.stale
        assert any("the index is behind" in warning for warning in hits.warnings)
        assert any("green tea" in hit.text for hit in hits.hits)
        admin(url, "ALTER TABLE commonplace.index_pages DROP CONSTRAINT full_up")
        hits = memory.home.search("tea")
        assert not hits.stale
        assert any("black tea" in hit.text for hit in hits.hits)
