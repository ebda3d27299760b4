"""A small set of questions in the form of `./dev ruler`: it finds as much as before, and scores mean what they say.

The set is our own (`bench/homes.txt`: notes, and questions in other words). `ruler.json` has the figures it had when
they were last accepted; `python -m tests.search.test_ruler` writes it anew.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"
ACCEPTED = Path(__file__).with_name("ruler.json")
LARGEST_HOME = 40  # notes, so that the sample takes seconds
MAX_ERROR = 0.3  # between a score and how often it comes true, over so few questions
MIN_SURE_SHARE = 0.5  # of the right first hits, which score .5 or more
MIN_SILENT_SHARE = 0.7  # of the questions without an answer, which score below .3


def measure(folder: Path) -> dict[str, Any]:
    """Return the figures of the sample."""
    sys.path.insert(0, str(BENCH))
    try:
        import homes
        import ruler
    finally:
        sys.path.remove(str(BENCH))
    facts = homes.split_facts(homes.FACTS.read_text())["held"]
    homes.write_set(folder / "sample", facts, random.Random("sample"), LARGEST_HOME)
    options = argparse.Namespace(provider="static", rerank=False)
    questions = ruler.draw(ruler.read_questions(folder, "sample"), 0)
    table: dict[str, Any] = ruler.summarise(
        *ruler.measure(folder / "sample", folder / "memory", questions, [], options)
    )
    table["lost"] = ruler.lost(table, json.loads(ACCEPTED.read_text())) if ACCEPTED.exists() else ""
    return table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return measure(tmp_path_factory.mktemp("ruler"))


def test_the_sample_is_found_as_well_as_when_it_was_last_accepted(table: dict[str, Any]) -> None:
    assert len(table["each nDCG"]) == len(json.loads(ACCEPTED.read_text())["each nDCG"])
    assert table["lost"] == ""


def test_the_sample_is_found_better_than_by_plain_bm25(table: dict[str, Any]) -> None:
    assert table["against fts5"][0] > 0


def test_scores_of_the_sample_mean_what_they_say(table: dict[str, Any]) -> None:
    assert table["ECE"] <= MAX_ERROR
    assert table["right >= .5"] >= MIN_SURE_SHARE
    assert table["unanswerable < .3"] >= MIN_SILENT_SHARE


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        figures = measure(Path(place))
    print({name: value for name, value in figures.items() if name != "each nDCG"})
    ACCEPTED.write_text(json.dumps({"each nDCG": figures["each nDCG"]}) + "\n")
