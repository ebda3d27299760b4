"""Make sets of small memories in the form of the ruler: homes of 5 to 500 notes, asked in other words.

Run: ./dev homes FOLDER. Writes `homes-fit` and `homes-held`, fifteen homes each, which share no fact. A third of the
questions cannot be answered: they ask for a fact that the home does not have, or for that of somebody else. Also writes
`homes-near-fit` and `homes-near-held`, written by hand in eight languages: nearly half of their questions cannot be
answered, though a note nearly fits. So does every second one of `homes-kinds-fit` and `homes-kinds-held`: it asks for
another attribute of what a note is about.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FACTS = Path(__file__).with_name("homes.txt")
NEAR_MISSES = Path(__file__).with_name("near.txt")
OTHER_ATTRIBUTES = Path(__file__).with_name("kinds.txt")
HALVES = ("fit", "held")
PEOPLE = ("Ann", "Bruno", "Chiara", "Dmitri", "Elif", "Farah", "Goran", "Hanna", "Ivo", "Jun", "Kemal", "Lena", "Mina")
QUESTIONS_OF_A_HOME = 12
SIZES = (5, 7, 10, 14, 20, 28, 40, 55, 75, 100, 140, 200, 280, 390, 500)
FILLERS = (
    "Met {who} at the station, we talked for an hour.",
    "{who} called about the weekend.",
    "Read another chapter, number {n}.",
    "Long day, {n} mails answered.",
    "Walked {n} kilometres with {who}.",
    "Tidied shelf {n} in the cellar.",
)
Home = tuple[list[str], list[tuple[str, int | None]]]  # notes, and questions with the place of the note that answers


class Fact(NamedTuple):
    note: str
    question: str
    has_person: bool


class Written(NamedTuple):
    """A home that was written by hand: each question has the place of the note that answers, or None."""

    half: str
    language: str
    size: int
    notes: list[str]
    asked: list[tuple[str, int | None]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    folder = options.parse_args().folder
    for name, facts in split_facts(FACTS.read_text()).items():
        write_set(folder / f"homes-{name}", facts, random.Random(name))
    for name, homes in read_homes(NEAR_MISSES.read_text()).items():
        write_homes(folder / f"homes-near-{name}", homes)
    for name, homes in draw_halves(OTHER_ATTRIBUTES.read_text(), random.Random("other")).items():
        write_homes(folder / f"homes-kinds-{name}", homes)


def draw_halves(text: str, dice: random.Random) -> dict[str, list[Home]]:
    """Return the homes twice, with the questions of the notes that are drawn into each half."""
    halves: dict[str, list[Home]] = {half: [] for half in HALVES}
    half = ""
    for mark, rest in (line.split(" ", 1) for line in text.splitlines() if not line.startswith("#")):
        if mark == "=":
            for homes in halves.values():
                homes.append(([], []))
        elif mark == "-":
            half = dice.choice(HALVES)
            for homes in halves.values():
                homes[-1][0].append(rest)
        else:
            notes, asked = halves[half][-1]
            asked.append((rest, len(notes) - 1 if mark == "?" else None))
    return halves


def read_homes(text: str) -> dict[str, list[Home]]:
    """Return the homes of each half, filled up to their size with everyday notes."""
    homes: list[Written] = []
    everyday: dict[str, list[str]] = {}
    for mark, rest in (line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")):
        if mark == "+":
            language, note = rest.split(" ", 1)
            everyday.setdefault(language, []).append(note)
        elif mark == "=":
            half, language, size = rest.split()
            homes.append(Written(half, language, int(size), [], []))
        elif mark == "-":
            homes[-1].notes.append(rest)
        else:
            homes[-1].asked.append((rest, len(homes[-1].notes) - 1 if mark == "?" else None))
    halves: dict[str, list[Home]] = {}
    for home in homes:
        others = fill_up(everyday[home.language], home.size - len(home.notes))
        halves.setdefault(home.half, []).append(([*home.notes, *others], home.asked))
    return halves


def fill_up(everyday: list[str], count: int) -> list[str]:
    """Return so many everyday notes; from the second round on they are numbered."""
    rounds = [(place // len(everyday), everyday[place % len(everyday)]) for place in range(count)]
    return [f"{note} ({number + 1})" if number else note for number, note in rounds]


def split_facts(text: str) -> dict[str, list[Fact]]:
    """Return the facts for fitting and those kept apart: the halves of each language."""
    by_language: dict[str, list[Fact]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            language, rest = line.split(" ", 1)
            note, question = rest.split(" => ")
            by_language.setdefault(language, []).append(Fact(note, question, "{who}" in note))
    fit = [fact for facts in by_language.values() for fact in facts[: len(facts) // 2]]
    held = [fact for facts in by_language.values() for fact in facts[len(facts) // 2 :]]
    return {"fit": fit, "held": held}


def write_set(folder: Path, facts: list[Fact], dice: random.Random, max_notes: int = SIZES[-1]) -> None:
    """Write homes with their questions, those with at most so many notes."""
    write_homes(folder, [make_home(facts, size, dice) for size in SIZES if size <= max_notes])


def write_homes(folder: Path, homes: list[Home]) -> None:
    questions: list[dict[str, Any]] = []
    for number, (notes, asked) in enumerate(homes):
        agent = f"home-{number + 1:02}"
        pages = folder / "home/agents" / agent / "memory"
        pages.mkdir(parents=True, exist_ok=True)
        for place, note in enumerate(notes):
            (pages / f"n{place:03}.md").write_text(f"{note}\n")
        for question, answer in asked:
            evidence = [] if answer is None else [f"agents/{agent}/memory/n{answer:03}.md"]
            questions.append({"question": question, "evidence": evidence, "agent": agent})
    lines = [json.dumps(question, ensure_ascii=False) for question in questions]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n")


def make_home(facts: list[Fact], size: int, dice: random.Random) -> Home:
    """Return the notes of a home, and questions with the place of the note that answers, or None."""
    present = dice.sample(facts, min(len(facts) * 3 // 4, size))
    notes: list[str] = []
    asked: list[tuple[str, int | None]] = []
    for fact in present:
        who = dice.choice(PEOPLE)
        notes.append(fill(fact.note, who, dice))
        asked.append((fill(fact.question, who, dice), len(notes) - 1))
    absent = [fact for fact in facts if fact not in present]
    dice.shuffle(asked)
    unanswerable = [(fill(fact.question, dice.choice(PEOPLE), dice), None) for fact in dice.sample(absent, 4)]
    notes += make_others(present, size - len(notes), notes, dice)
    return notes, [*asked[: QUESTIONS_OF_A_HOME - len(unanswerable)], *unanswerable]


def make_others(present: list[Fact], count: int, notes: list[str], dice: random.Random) -> Iterator[str]:
    """Yield notes that answer none of the questions: the same of other people, and what happens every day."""
    twins = [fact for fact in present if fact.has_person]
    for number in range(count):
        who = dice.choice([person for person in PEOPLE if not any(person in note for note in notes)] or PEOPLE)
        is_twin = twins and number % 3 == 0 and not any(who in note for note in notes)
        text = dice.choice(twins).note if is_twin else dice.choice(FILLERS)
        yield fill(text.replace("{n}", str(number + 2)), who, dice)


def fill(text: str, who: str, dice: random.Random) -> str:
    chosen = re.sub(r"\[([^]]+)\]", lambda found: dice.choice(found[1].split("/")), text)
    return chosen.replace("{who}", who)


if __name__ == "__main__":
    main()
