"""Words of a query are found in a text by the rules of the tokenizer, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.index.tokenizer import find_highlights, to_utf16


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Ann prefers green Teas, never coffee.", "does Ann like tea?", ["Ann", "Teas"]),
        ("Running, RAN, runs", "run", ["Running", "runs"]),
        ("Cafés and café", "cafe", ["Cafés", "café"]),
        ("東京都に住んでいます", "東京", ["東京"]),
        ("서울에서 왔어요", "서울", ["서울"]),
        ("green tea", "of the", []),
        ("the of", "the", ["the"]),
        ("nothing here", "quokka", []),
    ],
)
def test_words_are_marked_as_they_are_found(text: str, query: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in find_highlights(text, query)] == marked


def test_marks_can_be_counted_as_browsers_count() -> None:
    text = "💥💥 tea 💥 tea"
    spans = to_utf16(text, find_highlights(text, "tea"))
    units = text.encode("utf-16-le")
    assert [units[2 * start : 2 * end].decode("utf-16-le") for start, end in spans] == ["tea", "tea"]


@given(st.text(max_size=60), st.text(max_size=20))
def test_marks_lie_within_the_text_in_order_and_apart(text: str, query: str) -> None:
    at = -1
    for start, end in find_highlights(text, query):
        assert at < start < end <= len(text)
        at = end
