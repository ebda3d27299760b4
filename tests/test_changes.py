"""The benchmark of versions of facts: its data is whole, and a slice of it runs."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from commonplace.model import parse_citation

ROOT = Path(__file__).parent.parent


@pytest.fixture
def truth(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("truth")


def test_both_halves_have_as_many_pairs_of_every_language_and_share_none(truth: ModuleType) -> None:
    tune, unseen = (truth.read_items(half) for half in truth.HALVES)
    assert Counter(item["language"] for item in tune) == Counter(item["language"] for item in unseen)
    items = [*tune, *unseen]
    assert len({item["id"] for item in items}) == len({item["older"] + item["newer"] for item in items}) == 300
    assert sum(not item["is_change"] for item in items) >= 60


def test_no_newer_note_is_before_the_older_one(truth: ModuleType) -> None:
    for half in truth.HALVES:
        at = {(note.item["id"], note.side): note.at for note in truth.notes_of(truth.read_items(half))}
        assert all(at[name, "older"] < at[name, "newer"] for name, _ in at)


def test_retractions_name_turns_and_hold_no_text(truth: ModuleType) -> None:
    pairs = truth.read_pairs()
    assert len(pairs) >= 100
    assert all(parse_citation(citation) for pair in pairs for citation in (pair["older"], pair["newer"]))


def test_no_pair_of_unrelated_sentences_is_of_one_source(truth: ModuleType) -> None:
    pairs = truth.draw_pairs({"notes": truth.own_sentences()})
    assert len(pairs) > 100
    assert all(first[0] != second[0] for first, second in pairs)


def test_a_slice_of_the_changes_runs(truth: ModuleType) -> None:
    items = [item for item in truth.read_items("tune") if item["language"] == "en"][::4]
    verdicts = truth.judge_changes(items, provider="none")
    assert [verdict.item for verdict in verdicts] == items
    assert f"{len(items):6}" in truth.render_changes("tune", verdicts)
