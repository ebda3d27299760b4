"""Statements that the prefilter rejects are no versions of each other."""

from __future__ import annotations

from itertools import permutations

import pytest

from commonplace.facts.prefilter import make_sketch, may_be_linked
from commonplace.facts.statements import Statement, split_statements
from commonplace.facts.versions import judge

from .test_statements import NOTES
from .test_versions import IN_OTHER_LANGUAGES, VERSIONS

TURNS = (
    "user (Ann): I live in Porto.",
    "user (Ann): I live in Lisbon.",
    "user (Ann): I used to like tea, but not any more.",
    "user (Ann): I really like tea.",
    "user (Ann): I moved to Berlin last week.",
    "user (Ann): My favourite colour is blue.",
    "user (Ann): My favourite colour is green.",
)
ARTICLE = (
    "In the year 1998 the company opened its second factory near the river in Lisbon, and it hired about four hundred "
    "people from the villages around it."
)
OTHER_ARTICLE = (
    "The second factory near the river, which the company had built for four hundred people in the year 1998, has been "
    "sold to a museum in Lisbon."
)


def read(text: str) -> Statement:
    return split_statements(text, is_turn=text.startswith("user"))[0]


def test_no_pair_with_a_link_is_rejected() -> None:
    pairs = [*permutations(NOTES, 2), *permutations(TURNS, 2)]
    pairs += [(one, two) for one, two, *_ in (*VERSIONS, *IN_OTHER_LANGUAGES)]
    linked = [(read(one), read(two)) for one, two in pairs if judge(read(one), read(two))]
    assert len(linked) > len(VERSIONS)
    assert [pair for pair in linked if not may_be_linked(*map(make_sketch, pair))] == []


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (ARTICLE, OTHER_ARTICLE),
        ("user (Ann): I saw the harbour of Porto.", "user (Ann): Porto has a harbour, I think."),
    ],
)
def test_long_sentences_with_the_same_words_are_rejected(older: str, newer: str) -> None:
    assert not may_be_linked(make_sketch(read(older)), make_sketch(read(newer)))
