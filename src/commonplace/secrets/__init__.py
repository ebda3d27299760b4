"""Finds secrets in text: known formats of keys, and values that look like a secret after names like `password`.

Pure functions. A secret is long and has no spaces, so most rules are tried only around such runs, and each only at its
literal markers: text without secrets costs microseconds. No pattern matches across a bracket, so that the
`[secret: NAME]` which `redact` writes is never found as a secret, nor as part of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .heuristics import compile_pattern
from .rules import RULES

_MAX_ADVICE = 3  # kinds of secrets in one warning that come with their next step
_LONG_RUN = b"x" * 16  # the shortest run without a space that most rules look at
_CHARACTERS_BEFORE = 100  # before such a run, in which a marker may be
_SOLID = bytes(
    ord("x" if chr(byte).isalnum() or chr(byte) in "_-+/=.~!@#$%^&*" else " ") for byte in range(128)
) + bytes(b" " * 128)
_RARE = "_=@~密令パ비"  # rare in prose: if one is absent, all markers with it are skipped

Candidate = tuple[int, int, int]  # start, end, and which rule
Markers = dict[str, dict[str, list[int]]]  # by rare character, or none: each marker with the rules it belongs to


class Secret(NamedTuple):
    """The position of a secret in a text, and the rule that found it."""

    rule: str
    start: int
    end: int


def find(text: str) -> tuple[Secret, ...]:
    """Return the secrets in a text, in order. Overlapping ones are merged under the name of the earlier rule."""
    return tuple(Secret(RULES[rank].name, start, end) for start, end, rank in _merge(_find_candidates(text)))


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[secret: NAME]`. Redacting again changes nothing."""
    parts: list[str] = []
    done = 0
    for secret in find(text):
        parts += [text[done : secret.start], f"[secret: {secret.rule}]"]
        done = secret.end
    return "".join([*parts, text[done:]]) if parts else text


def warning(found: Iterable[Secret]) -> str:
    """Return a sentence that says what was found, never the secret itself, and what to do; empty for no secrets."""
    names = [secret.rule for secret in found]
    if not names:
        return ""
    kinds = list(dict.fromkeys(names))
    steps = {rule.name: rule.next_step for rule in RULES}
    what, them = ("a secret", "it") if len(names) == 1 else (f"{len(names)} secrets", "them")
    advice = "; ".join(f"{kind}: {steps[kind]}" for kind in kinds[:_MAX_ADVICE])
    return (
        f"the text holds what looks like {what} ({', '.join(kinds)}): move {them} to a password manager; "
        f"`secrets: redact` keeps such text out. Where somebody else may have read {them}: {advice}."
    )


def _group_markers(*, anywhere: bool) -> Markers:
    groups: Markers = {rare: {} for rare in ("", *_RARE)}
    for rank, rule in enumerate(RULES):
        for marker in rule.markers if rule.anywhere == anywhere else ():
            rare = next((char for char in marker if char in _RARE), "")
            groups[rare].setdefault(marker, []).append(rank)
    return groups


_AROUND_RUNS = _group_markers(anywhere=False)
_ANYWHERE = _group_markers(anywhere=True)


def _find_candidates(text: str) -> Iterator[Candidate]:
    for start, end in _windows(text):
        yield from _match_markers(text, start, end, _AROUND_RUNS)
    yield from _match_markers(text, 0, len(text), _ANYWHERE)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the long runs without a space, each with some text before it; neighbours as one."""
    flat = text.encode("ascii", "replace").translate(_SOLID)
    at = flat.find(_LONG_RUN)
    start = -1
    end = -1
    while at >= 0:
        if start >= 0 and at - _CHARACTERS_BEFORE > end:
            yield start, end
            start = -1
        start = start if start >= 0 else max(0, at - _CHARACTERS_BEFORE)
        end = flat.find(b" ", at)
        end = len(text) if end < 0 else end
        at = flat.find(_LONG_RUN, end)
    if start >= 0:
        yield start, end


def _match_markers(text: str, start: int, end: int, groups: Markers) -> Iterator[Candidate]:
    """Yield the matches of the rules wherever one of their markers occurs."""
    for rare, markers in groups.items():
        if text.find(rare, start, end) < 0:
            continue
        for marker, ranks in markers.items():
            at = text.find(marker, start, end)
            while at >= 0:
                yield from _match_rules(text, at, ranks)
                at = text.find(marker, at + 1, end)


def _match_rules(text: str, at: int, ranks: list[int]) -> Iterator[Candidate]:
    for rank in ranks:
        match = compile_pattern(RULES[rank].pattern).match(text, at)
        if match and RULES[rank].looks_real(match[match.lastindex or 0]):
            yield *match.span(match.lastindex or 0), rank


def _merge(candidates: Iterable[Candidate]) -> list[Candidate]:
    out: list[Candidate] = []
    for start, end, rank in sorted(candidates):
        if out and start <= out[-1][1]:
            first, last, better = out.pop()
            out.append((first, max(last, end), min(better, rank)))
        else:
            out.append((start, end, rank))
    return out
