"""DOES A TEXT HOLD A SECRET? Known formats of keys, and names that are given a value with the look of a secret.

Pure functions. A secret is long and has no spaces, so most rules look only around such runs, and every rule starts at a
literal marker: text without secrets costs microseconds. No pattern reads across a bracket, so that the `[secret: NAME]`
which `redact` writes is never read as a secret, nor as part of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .heuristics import compiled
from .rules import RULES


class Secret(NamedTuple):
    """Where a secret stands in a text, and by which rule."""

    rule: str
    start: int
    end: int


def find(text: str) -> tuple[Secret, ...]:
    """The secrets in a text, in order. They never overlap: of two that do, the better known gives both its name."""
    return tuple(Secret(RULES[rank].name, start, end) for start, end, rank in _merged(_candidates(text)))


def redact(text: str) -> str:
    """The text with every secret replaced by `[secret: NAME]`. All else stays as it is; twice is the same as once."""
    parts, done = list[str](), 0
    for secret in find(text):
        parts += [text[done : secret.start], f"[secret: {secret.rule}]"]
        done = secret.end
    return "".join([*parts, text[done:]]) if parts else text


def warning(found: Iterable[Secret]) -> str:
    """A sentence for whoever wrote it: what was found, never the secret itself, and what to do. Empty for nothing."""
    names = [secret.rule for secret in found]
    if not names:
        return ""
    kinds = list(dict.fromkeys(names))
    steps = {rule.name: rule.next_step for rule in RULES}
    what, them = ("a secret", "it") if len(names) == 1 else (f"{len(names)} secrets", "them")
    told = "; ".join(f"{kind}: {steps[kind]}" for kind in kinds[:_TOLD])
    return (
        f"the text holds what looks like {what} ({', '.join(kinds)}): move {them} to a password manager; "
        f"`secrets: redact` keeps such text out. Where somebody else may have read {them}: {told}."
    )


_TOLD = 3  # kinds of secrets in one warning whose next step is told
_LONG = b"x" * 16  # the shortest run without a space that is taken for a secret by its format or its look
_BEFORE = 100  # characters before such a run in which a marker may stand
_SOLID = bytes(
    ord("x" if chr(byte).isalnum() or chr(byte) in "_-+/=.~!@#$%^&*" else " ") for byte in range(128)
) + bytes(b" " * 128)
_RARE = "_=@~密令パ비"  # characters that prose hardly has: one look for each spares all markers that hold it

Candidate = tuple[int, int, int]  # start, end, and which rule
Markers = dict[str, dict[str, list[int]]]  # by a character that is rare, or none: markers, and whose they are


def _by_marker(*, anywhere: bool) -> Markers:
    groups: Markers = {rare: {} for rare in ("", *_RARE)}
    for rank, rule in enumerate(RULES):
        for marker in rule.markers if rule.anywhere == anywhere else ():
            rare = next((char for char in marker if char in _RARE), "")
            groups[rare].setdefault(marker, []).append(rank)
    return groups


_AROUND_RUNS, _ANYWHERE = _by_marker(anywhere=False), _by_marker(anywhere=True)


def _candidates(text: str) -> Iterator[Candidate]:
    for start, end in _windows(text):
        yield from _marked(text, start, end, _AROUND_RUNS)
    yield from _marked(text, 0, len(text), _ANYWHERE)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """The long runs without a space, each with what stands before it; neighbours as one."""
    flat = text.encode("ascii", "replace").translate(_SOLID)
    at, start, end = flat.find(_LONG), -1, -1
    while at >= 0:
        if start >= 0 and at - _BEFORE > end:
            yield start, end
            start = -1
        start = start if start >= 0 else max(0, at - _BEFORE)
        end = flat.find(b" ", at)
        end = len(text) if end < 0 else end
        at = flat.find(_LONG, end)
    if start >= 0:
        yield start, end


def _marked(text: str, start: int, end: int, groups: Markers) -> Iterator[Candidate]:
    """What the rules say wherever one of their markers stands."""
    for rare, markers in groups.items():
        if text.find(rare, start, end) < 0:
            continue
        for marker, ranks in markers.items():
            at = text.find(marker, start, end)
            while at >= 0:
                yield from _matched(text, at, ranks)
                at = text.find(marker, at + 1, end)


def _matched(text: str, at: int, ranks: list[int]) -> Iterator[Candidate]:
    for rank in ranks:
        match = compiled(RULES[rank].pattern).match(text, at)
        if match and RULES[rank].looks_real(match[match.lastindex or 0]):
            yield *match.span(match.lastindex or 0), rank


def _merged(candidates: Iterable[Candidate]) -> list[Candidate]:
    out: list[Candidate] = []
    for start, end, rank in sorted(candidates):
        if out and start <= out[-1][1]:
            first, last, better = out.pop()
            out.append((first, max(last, end), min(better, rank)))
        else:
            out.append((start, end, rank))
    return out
