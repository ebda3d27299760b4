"""Finds secrets in text: keys in known formats, and values that look like a secret after names like `password`.

Pure functions. A secret is long and has no spaces, so most rules are tried only around such runs, and each only at its
literal markers: text without secrets costs microseconds. No pattern matches across a bracket, so that the
`[secret: NAME]` which `redact` writes is never found as a secret, nor as part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from ..patterns import INVISIBLE, lazy_pattern
from .heuristics import compile_pattern
from .rules import RULES, Rule

_MAX_ADVICE = 3  # kinds of secrets in one warning that come with their next step
_LONG_RUN = b"x" * 16  # the shortest run without a space that most rules look at
_CHARACTERS_BEFORE = 100  # how far before such a run a marker may be
_CONTEXT_CHARACTERS = 120  # how far before a marker the context of its rule may be
_FOLD = bytes(ord("0") if chr(byte).isdigit() else ord(chr(byte).lower()) for byte in range(128)) + bytes(128)
_SOLID = bytes(
    ord("x" if chr(byte).isalnum() or chr(byte) in "_-+/=.~!@#$%^&*" else " ") for byte in range(128)
) + bytes(b" " * 128)
_RARE = "_=@~-."  # rare in prose: if the text lacks one, all markers that contain it are skipped
_PREFIX_BYTES = 2  # prefix rules are looked up by the first bytes of a folded marker
_WORD_START = rb"(?:(?<![a-z0-9_-])|(?<=\\[nrt]))(?=([a-z0-9][!-~]))"
_INVISIBLE = lazy_pattern(f"[{INVISIBLE}]")  # a key with one inside works again once a field drops them
_REACH_CHARACTERS = 2000  # how far a secret may extend on either side of an invisible character

Candidate = tuple[int, int, int]  # start, end, and which rule
Markers = dict[str, dict[bytes, list[int]]]  # rare character (or "") to markers, each with its rules


class Secret(NamedTuple):
    """The position of a secret in a text, and the rule that found it."""

    rule: str
    start: int
    end: int


def find(text: str) -> tuple[Secret, ...]:
    """Return the secrets in a text, in order. Overlapping ones are merged under the name of the earlier rule."""
    candidates = [*_find_candidates(text), *_find_interrupted(text)]
    return tuple(Secret(RULES[rank].name, start, end) for start, end, rank in _merge(candidates))


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[secret: NAME]`. Redacting again changes nothing."""
    parts: list[str] = []
    end = 0
    for secret in find(text):
        parts += [text[end : secret.start], f"[secret: {secret.rule}]"]
        end = secret.end
    return "".join([*parts, text[end:]]) if parts else text


def warning(secrets: Iterable[Secret]) -> str:
    """Return a sentence that says what was found, never the secret itself, and what to do; empty for no secrets."""
    names = [secret.rule for secret in secrets]
    if not names:
        return ""
    kinds = list(dict.fromkeys(names))
    steps = {rule.name: rule.next_step for rule in RULES}
    what, them = ("a secret", "it") if len(names) == 1 else (f"{len(names)} secrets", "them")
    advice = "; ".join(f"{kind}: {steps[kind]}" for kind in kinds[:_MAX_ADVICE]) if kinds[1:] else steps[kinds[0]]
    return (
        f"the text contains what looks like {what} ({', '.join(kinds)}): move {them} to a password manager; "
        f"`secrets: redact` keeps such text out. If somebody else may have read {them}: {advice}."
    )


def _fold(text: str) -> bytes:
    """Return a text with one byte for each character: lower case, every digit a zero, `?` for what is not ASCII."""
    return text.encode("ascii", "replace").translate(_FOLD)


def _group_markers(*, anywhere: bool) -> Markers:
    groups: Markers = {rare: {} for rare in ("", *_RARE)}
    for rank, rule in enumerate(RULES):
        for marker in rule.markers if rule.anywhere == anywhere and not rule.is_prefix else ():
            if marker.isascii():
                rare = rule.requires or next((char for char in marker if char in _RARE), "")
                groups[rare].setdefault(_fold(marker), []).append(rank)
    return groups


def _group_prefixes() -> dict[bytes, list[int]]:
    groups: dict[bytes, list[int]] = {}
    for rank, rule in enumerate(RULES):
        for start in {_fold(marker)[:_PREFIX_BYTES] for marker in rule.markers if rule.is_prefix}:
            groups.setdefault(start, []).append(rank)
    return groups


_AROUND_RUNS = _group_markers(anywhere=False)
_ANYWHERE = _group_markers(anywhere=True)
_PREFIXES = _group_prefixes()
_NOT_ASCII = [(marker, rank) for rank, rule in enumerate(RULES) for marker in rule.markers if not marker.isascii()]


def _find_candidates(text: str) -> Iterator[Candidate]:
    folded = _fold(text)
    runs = list(_long_runs(text, folded))
    for start, end in runs:
        yield from _match_prefixes(text, folded, start, end)
    for start, end in _join_neighbours(runs):
        yield from _match_markers(text, folded, start, end, _AROUND_RUNS)
    yield from _match_markers(text, folded, 0, len(text), _ANYWHERE)
    if not text.isascii():
        yield from _match_other_scripts(text)


def _match_other_scripts(text: str) -> Iterator[Candidate]:
    for marker, rank in _NOT_ASCII:
        at = text.find(marker) if marker[-1] in text else -1  # a single character is found much faster
        while at >= 0:
            yield from _match_rules(text, at, [rank])
            at = text.find(marker, at + 1)


def _find_interrupted(text: str) -> Iterator[Candidate]:
    """Yield the secrets that have invisible characters inside, with their positions in the text as it is."""
    if text.isascii() or not _INVISIBLE.search(text):
        return
    for start, end in _neighbourhoods(text):
        visible = [at for at in range(start, end) if not _INVISIBLE.match(text, at)]
        for first, after, rank in _find_candidates("".join(text[at] for at in visible)):
            yield visible[first], visible[after - 1] + 1, rank


def _neighbourhoods(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text around invisible characters inside ASCII words; adjacent parts are joined."""
    start = -1
    end = -1
    for at in (match.start() for match in _INVISIBLE.finditer(text)):
        if not _is_inside_word(text, at):
            continue
        if start >= 0 and at - _REACH_CHARACTERS > end:
            yield start, end
            start = -1
        start = start if start >= 0 else max(0, at - _REACH_CHARACTERS)
        end = min(len(text), at + _REACH_CHARACTERS)
    if start >= 0:
        yield start, end


def _is_inside_word(text: str, at: int) -> bool:
    """Return whether a character has visible ASCII before it, or something invisible, and the same after it."""
    before = text[at - 1 : at]
    after = text[at + 1 : at + 2]
    return all("!" <= char <= "~" or _INVISIBLE.fullmatch(char) for char in (before, after))


def _long_runs(text: str, folded: bytes) -> Iterator[tuple[int, int]]:
    """Yield the long runs without a space that may be a key."""
    solid = folded.translate(_SOLID)
    start = solid.find(_LONG_RUN)
    while start >= 0:
        end = solid.find(b" ", start)
        end = len(text) if end < 0 else end
        if _may_be_key(text[start:end]):
            yield start, end
        start = solid.find(_LONG_RUN, end)


def _join_neighbours(runs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the runs with some text before each; nearby ones are joined."""
    start = -1
    end = -1
    for first, after in runs:
        if start >= 0 and first - _CHARACTERS_BEFORE > end:
            yield start, end
            start = -1
        start = start if start >= 0 else max(0, first - _CHARACTERS_BEFORE)
        end = after
    if start >= 0:
        yield start, end


def _may_be_key(run: str) -> bool:
    """Return whether a run mixes digits or capitals with letters as a random key does, unlike words and numbers."""
    return compile_pattern("[0-9][A-Za-z]|[A-Za-z_-][0-9]|[a-z][A-Z]|[A-Z]{8}").search(run) is not None


def _match_prefixes(text: str, folded: bytes, start: int, end: int) -> Iterator[Candidate]:
    """Yield the matches of the rules for prefixes at the words of a run."""
    for word in _word_starts().finditer(folded, start, end):
        ranks = _PREFIXES.get(word[1])
        if ranks:
            yield from _match_rules(text, word.start(), ranks)


@cache
def _word_starts() -> re.Pattern[bytes]:
    return re.compile(_WORD_START)


def _match_markers(text: str, folded: bytes, start: int, end: int, groups: Markers) -> Iterator[Candidate]:
    """Yield the matches of the rules wherever one of their markers occurs."""
    for rare, markers in groups.items():
        if folded.find(rare.encode(), start, end) < 0:
            continue
        for marker, ranks in markers.items():
            at = folded.find(marker, start, end)
            while at >= 0:
                yield from _match_rules(text, at, ranks)
                at = folded.find(marker, at + 1, end)


def _match_rules(text: str, at: int, ranks: list[int]) -> Iterator[Candidate]:
    for rank in ranks:
        rule = RULES[rank]
        match = compile_pattern(rule.pattern).match(text, at)
        if match and rule.looks_real(match[match.lastindex or 0]) and _has_context(rule, text, at):
            yield *match.span(match.lastindex or 0), rank


def _has_context(rule: Rule, text: str, at: int) -> bool:
    """Return whether the context of a rule is near; what `redact` writes in brackets does not count."""
    before = text[max(0, at - _CONTEXT_CHARACTERS) : at].replace("[", "]").rpartition("]")[2]
    return not rule.context or compile_pattern(rule.context).search(before) is not None


def _merge(candidates: Iterable[Candidate]) -> list[Candidate]:
    out: list[Candidate] = []
    for start, end, rank in sorted(candidates):
        if out and start <= out[-1][1]:
            first, last, better = out.pop()
            out.append((first, max(last, end), min(better, rank)))
        else:
            out.append((start, end, rank))
    return out
