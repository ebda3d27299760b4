"""How many tokens a text is for a model, estimated."""

from __future__ import annotations

import math
import re
from string import ascii_letters, digits

# Estimated tokens per character, by the first class that matches. Every model counts differently; against common
# vocabularies this is within a fifth for prose in most languages, and further off for code and rare scripts.
_ASCII_WEIGHTS = ((ascii_letters.encode(), 0.22), (b" \t", 0.03), (digits.encode(), 0.4), (bytes(range(128)), 0.6))
_WEIGHTS = (
    (r"[\u0080-\u052f\u1e00-\u1fff]", 0.5),
    (r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]", 1.0),
)
_OTHER_WEIGHT = 1.3


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is for a model."""
    return math.ceil(weigh_tokens(text))


def weigh_tokens(text: str) -> float:
    """Return the estimate before rounding: for two texts joined it is the sum of both."""
    total = 0.0
    ascii_rest = text.encode("ascii", "ignore")
    other_rest = "" if len(ascii_rest) == len(text) else re.sub("[\x00-\x7f]+", "", text)
    for characters, weight in _ASCII_WEIGHTS:
        rest = ascii_rest.translate(None, characters)
        total += (len(ascii_rest) - len(rest)) * weight
        ascii_rest = rest
    for pattern, weight in _WEIGHTS if other_rest else ():
        unlike = re.sub(pattern, "", other_rest)
        total += (len(other_rest) - len(unlike)) * weight
        other_rest = unlike
    return total + len(other_rest) * _OTHER_WEIGHT
