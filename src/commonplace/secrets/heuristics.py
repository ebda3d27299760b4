"""Does a value look like a secret, or is it a word, a hash, a path, or what stands in for a secret in an example?"""

from __future__ import annotations

import re
from functools import cache
from math import log2


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """On first use: to compile them all would cost every command more than everything else it imports."""
    return re.compile(pattern, re.ASCII)


def _has(pattern: str, value: str) -> bool:
    return compiled(pattern).search(value) is not None


def _is(pattern: str, value: str) -> bool:
    return compiled(pattern).fullmatch(value) is not None


_SEQUENCE = r"12345678|01234567|(?i:abcdefgh)"
_EXAMPLE = r"(?i:example|placeholder|change[-_]?me|redacted|your[-_]|x{5})|\*{4}|\.{3}"
_TEMPLATE = r"\$[{(]|\{\{|^\{.*\}$|^<.*>$|%[(s]|^\$\w+$|^%\w+%$"
_ADDRESS = r"://|^arn:|^[.~]*/|^[A-Za-z]:\\|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$"
_WORDS = r"(?:[A-Z]{2,}(?![a-z])|[A-Z][a-z]++|[a-z]{2,}+)*+"  # as names join them: parseXMLFile
_WORD = rf"[A-Za-z]?{_WORDS}\d{{0,5}}{_WORDS}|[A-Za-z]\d{{0,5}}|\d+[A-Za-z]{{0,3}}"
_UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"


def varied(value: str) -> bool:
    """Where a known prefix speaks for it already: only not the example of a manual."""
    return len(set(value)) >= 8 and not _has(_EXAMPLE, value) and not _has(_SEQUENCE, value)


def mixed(value: str) -> bool:
    """Where only a name nearby speaks for it: capitals, small letters and digits, so not a hash."""
    return varied(value) and all(_has(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))


def random(value: str) -> bool:
    """Where only the name it is given speaks for it: long, varied, and not made of words."""
    if len(value) < 16 or not varied(value) or _has(f"{_TEMPLATE}|{_ADDRESS}", value):
        return False
    if len(compiled("[a-z][A-Z]{2}").findall(value)) >= 3:  # capitals as no name has them
        return True
    return _has(r"\d", value) and _has("[A-Za-z]", value) and not _is_words(value) and _entropy(value) >= 2.7


def random_but_no_uuid(value: str) -> bool:
    """Requests, locks and pages have tokens, too, which open nothing."""
    return random(value) and not _is(_UUID, value)


def chosen(value: str) -> bool:
    """As people choose passwords: several kinds of characters, and not only words."""
    if len(value) < 8 or _stands_in(value) or _has(_ADDRESS, value):
        return False
    kinds = sum(_has(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]"))
    if (kinds == 4 and _has("[!@#$%^&*]", value)) or (kinds == 3 and _has(r"[^\W_][!#$%^&][^\W_]", value)):
        return True
    turns = len(compiled("[A-Za-z]+|[0-9]+").findall(value))  # how often letters and digits take turns
    return not _is_words(value) and (kinds >= 3 or (kinds == 2 and turns >= 4))


def in_address(value: str) -> bool:
    """Whatever is no stand-in and no port, up to any `@` in it: which of them ends it is not always plain."""
    parts = value.split("@")
    starts = ("@".join(parts[:count]) for count in range(1, len(parts) + 1))
    return any(len(start) >= 4 and not _stands_in(start) and not _is(r"\d{1,5}", start) for start in starts)


def whole_key(value: str) -> bool:
    """A key, not a page that tells how keys begin."""
    return _has("[A-Za-z0-9+/]{40}", value)


def _stands_in(value: str) -> bool:
    """`password1`, `x-oauth-basic`, `****`, `${PASSWORD}`: written where the real one is kept out."""
    named = _is(r"[A-Za-z_-]*\d{0,2}", value) and _has("(?i:pass|pwd|secret|token|user|key|x-oauth-basic)", value)
    return named or len(set(value)) == 1 or _has(f"{_EXAMPLE}|{_TEMPLATE}", value)


def _is_words(value: str) -> bool:
    """`response2.accessToken`, `Llama-3.1-8B`, `ann@firm.org`: words and numbers, joined by something."""
    return all(_is(_WORD, part) for part in compiled("[^A-Za-z0-9]+").split(value))


def _entropy(value: str) -> float:
    """Bits a character: about 4 for a random key, 3 for a short hexadecimal one, less for what repeats itself."""
    shares = [value.count(char) / len(value) for char in set(value)]
    return -sum(share * log2(share) for share in shares)
