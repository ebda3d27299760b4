"""Prints how many of sixty questions, and of twenty more, a context can answer: ./dev context [--missed]."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .household import HOUSEHOLD
from .memories import STORIES, Story
from .questions import ask_all

BUDGETS = (400, 700, 1000, 1500, 2000, 4000)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--missed", action="store_true", help="Also print the questions that were not answered.")
    arguments = options.parse_args()
    missed = [*print_table(STORIES), *print_table([HOUSEHOLD])]
    if arguments.missed:
        print("\n" + "\n".join(missed))


def print_table(stories: Sequence[Story]) -> list[str]:
    """Print a table of some stories, and return the questions that were not answered."""
    total = sum(len(story.questions) for story in stories)
    print(
        f"\nQuestions answered, of {total}\n\n"
        "| budget | asked as the query | without a query | tokens used |\n|---|---|---|---|"
    )
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for budget in BUDGETS:
            request = ask_all(Path(folder), budget, with_query=True, stories=stories)
            plain = ask_all(Path(folder), budget, with_query=False, stories=stories)
            used = [tokens for answered in request for tokens in answered.tokens]
            counts = [sum(len(answered.found) for answered in answers) for answers in (request, plain)]
            print(f"| {budget:,} | {counts[0]} | {counts[1]} | {min(used):,} to {max(used):,} |")
            for kind, answers in (("query", request), ("plain", plain)):
                missed += [f"{budget} {kind}: {question.text}" for each in answers for question in each.missed]
    return missed


if __name__ == "__main__":
    main()
