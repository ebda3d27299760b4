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
        found = memory.home.search("tea")
        assert found.stale
        assert any("the index is behind" in warning for warning in found.warnings)
        assert any("green tea" in hit.text for hit in found.hits)
        admin(url, "ALTER TABLE commonplace.index_pages DROP CONSTRAINT full_up")
        found = memory.home.search("tea")
        assert not found.stale
        assert any("black tea" in hit.text for hit in found.hits)
