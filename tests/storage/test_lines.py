"""Comparing texts: whatever they are, what is found fits together, and takes no longer than there is time for."""

from __future__ import annotations

import random
import time

import pytest

from commonplace.storage.merge import diff_lines, merge, merge_parts

TEXTS = {
    "mostly blank": [line for n in range(4_000) for line in (f"line {n}\n", "\n")],
    "mostly blank, and very long": [line for n in range(31_000) for line in (f"line {n}\n", "\n")],
    "seven lines again and again": [f"{n % 7}\n" for n in range(19_000)],
    "one line": ["x\n"] * 30_000,
    "all different": [f"{n}\n" for n in range(20_000)],
}


def changed(lines: list[str]) -> list[str]:
    mixed = [*lines]
    random.Random(1).shuffle(mixed)
    return mixed


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.thorough if "very long" in name else ()) for name in TEXTS],
)
def test_no_text_takes_long_to_compare_and_what_is_found_makes_the_other(name: str) -> None:
    old = TEXTS[name]
    for new in (changed(old), ["first\n", *old, "last\n"], old[5:-5], [], [f"{n * 5 % 7}\n" for n in range(19_000)]):
        started = time.process_time()
        made = [new[c:d] if what != "equal" else old[a:b] for what, a, b, c, d in diff_lines(old, new)]
        assert time.process_time() - started < 30
        assert [line for some in made for line in some] == new
        assert [line for what, a, b, *_ in diff_lines(old, new) if what != "insert" for line in old[a:b]] == old


def test_two_who_change_the_ends_of_a_large_page_are_merged() -> None:
    base = "".join(TEXTS["mostly blank, and very long"])
    both = merge(base, f"theirs\n{base}", f"{base}ours\n")
    assert both == f"theirs\n{base}ours\n"
    assert [part.kind for part in merge_parts(base, f"theirs\n{base}", f"{base}ours\n")] == ["theirs", "same", "mine"]
