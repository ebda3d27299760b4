"""Tests whether a value looks like a real secret, and not like a word, a hash, a path or a placeholder."""

from __future__ import annotations

import re
from base64 import b64decode
from functools import cache
from math import log2


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile on first use: compiling all patterns would cost every command more than its other imports."""
    return re.compile(pattern, re.ASCII)


def _contains(pattern: str, value: str) -> bool:
    return compile_pattern(pattern).search(value) is not None


def _matches(pattern: str, value: str) -> bool:
    return compile_pattern(pattern).fullmatch(value) is not None


_SEQUENCE = r"12345678|01234567|(?i:abcdefgh)"
_EXAMPLE = r"(?i:example|placeholder|change[-_]?me|redacted|your[-_]|x{5})|\*{4}|\.{3}"
_TEMPLATE = r"\$[{(]|\{\{|^\{.*\}$|^<.*>$|%[(s]|^\$\w+$|^%\w+%$"
_ADDRESS = r"://|^arn:|^[.~]*/|^[A-Za-z]:\\|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$"
_WORDS = r"(?:[A-Z]{2,}(?![a-z])|[A-Z][a-z]++|[a-z]{2,}+)*+"  # as in identifiers: parseXMLFile
_WORD = rf"[A-Za-z]?{_WORDS}\d{{0,5}}{_WORDS}|[A-Za-z]\d{{0,5}}|\d+[A-Za-z]{{0,3}}"
_NO_PASSWORD = r"base|latin|version|release|section|chapter|ticket|[a-z]*(?:pass|pwd|user|secret|token|key|test|demo)"
_WORD_AND_NUMBER = rf"(?!(?i:{_NO_PASSWORD}))[A-Za-z]{{4,20}}\d{{2,6}}[!?*#]?"
_CARD = r"(?:4\d|5[1-5]|2[2-7]|6[045]|35|62)\d{14}|3[47]\d{13}"  # Visa, Mastercard, Discover, JCB, UnionPay, Amex
UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"


def looks_varied(value: str) -> bool:
    """Return whether a value is not an example from a manual: enough for one with a known prefix."""
    return len(set(value)) >= 8 and not _contains(_EXAMPLE, value) and not _contains(_SEQUENCE, value)


def looks_mixed(value: str) -> bool:
    """Return whether a value has upper case, lower case and digits, as no hash has.

    For a value after the name of a service.
    """
    return looks_varied(value) and all(_contains(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))


def looks_random(value: str) -> bool:
    """Return whether a value is long, varied, and not made of words: for one that is assigned to a name like `key`."""
    if len(value) < 16 or not looks_varied(value) or _contains(f"{_TEMPLATE}|{_ADDRESS}", value):
        return False
    if len(compile_pattern("[a-z][A-Z]{2}").findall(value)) >= 3:  # runs of capitals that no identifier has
        return True
    return _contains(r"\d", value) and _contains("[A-Za-z]", value) and not _is_words(value) and _entropy(value) >= 2.7


def looks_random_not_uuid(value: str) -> bool:
    """Return whether a value looks random and is not a UUID: tokens of requests, locks and pages give no access."""
    return looks_random(value) and not _matches(UUID, value)


def looks_like_password(value: str) -> bool:
    """Return whether a value has several kinds of characters, and not only words, as people choose passwords; or is a
    word with a number, as they choose them most (`sommer2024`)."""
    if len(value) < 8 or _is_placeholder(value) or _contains(_ADDRESS, value):
        return False
    if _matches(_WORD_AND_NUMBER, value):
        return True
    kinds = sum(_contains(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]"))
    if (kinds == 4 and _contains("[!@#$%^&*]", value)) or (kinds == 3 and _contains(r"[^\W_][!#$%^&][^\W_]", value)):
        return True
    turns = len(compile_pattern("[A-Za-z]+|[0-9]+").findall(value))  # how often letters and digits alternate
    return not _is_words(value) and (kinds >= 3 or (kinds == 2 and turns >= 4))


def looks_like_url_password(value: str) -> bool:
    """Return whether a value is neither a placeholder nor a port, up to any `@`: it is unclear which one ends it."""
    parts = value.split("@")
    starts = ("@".join(parts[:count]) for count in range(1, len(parts) + 1))
    return any(len(start) >= 4 and not _is_placeholder(start) and not _matches(r"\d{1,5}", start) for start in starts)


def has_key_material(value: str) -> bool:
    """Return whether this is the body of a key, not only its first line in some documentation."""
    return _contains("[A-Za-z0-9+/]{40}", value)


def has_any_value(_value: str) -> bool:
    """Return True, for a pattern that is proof by itself."""
    return True


def looks_like_command_password(value: str) -> bool:
    """Return whether a word of a command has a digit, a sign or capitals inside; any other may be a plain word."""
    if _is_placeholder(value) or _contains(_ADDRESS, value) or _contains(r"^[$%-]", value):
        return False
    return _contains(r"[A-Za-z]", value) and _contains(r"\d|[a-z][A-Z]|\w[!#$%^&*@~+]", value)


def begins_with_encoded_digits(value: str) -> bool:
    """Return whether the part before the first dot is a number in Base64, as in a bot's token of Discord."""
    part = value.partition(".")[0]
    try:
        return b64decode(part + "=" * (-len(part) % 4), validate=True).isdigit()
    except ValueError:
        return False


def looks_like_encoded_login(value: str) -> bool:
    """Return whether this is `user:password` in Base64, as Docker's configuration has it."""
    try:
        user, _, password = b64decode(value + "=" * (-len(value) % 4), validate=True).decode("ascii").partition(":")
    except ValueError:
        return False
    return user.isprintable() and password.isprintable() and len(password) >= 4 and not _is_placeholder(password)


def looks_like_pin(value: str) -> bool:
    """Return whether digits are not a common example."""
    return len(set(value)) > 1 and value not in ("1234", "12345", "12345678")


def looks_like_card_number(value: str) -> bool:
    """Return whether digits have a start and a length of the large networks, and a valid check digit."""
    digits = "".join(compile_pattern(r"\d").findall(value))
    if not _matches(_CARD, digits):
        return False
    doubled = [int(digit) * (1 + (at + len(digits)) % 2) for at, digit in enumerate(digits, start=1)]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _is_placeholder(value: str) -> bool:
    """Return whether this is written instead of a real one: `password1`, `x-oauth-basic`, `****`, `${PASSWORD}`."""
    is_name = _matches(r"[A-Za-z_-]*\d{0,2}", value)
    if is_name and _contains("(?i:pass|pwd|secret|token|user|key|x-oauth-basic)", value):
        return True
    return len(set(value)) == 1 or _contains(f"{_EXAMPLE}|{_TEMPLATE}", value)


def _is_words(value: str) -> bool:
    """Return whether this is words and numbers: `response2.accessToken`, `Llama-3.1-8B`, `ann@firm.org`."""
    return all(_matches(_WORD, part) for part in compile_pattern("[^A-Za-z0-9]+").split(value))


def _entropy(value: str) -> float:
    """Bits per character: about 4 for a random key, 3 for a short hexadecimal one, less for repetitions."""
    shares = [value.count(char) / len(value) for char in set(value)]
    return -sum(share * log2(share) for share in shares)
