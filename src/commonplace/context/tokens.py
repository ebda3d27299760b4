"""How many tokens a text is for a model: an estimate by script, since every model counts its own way.

Measured against common vocabularies it is within a fifth for prose in most languages; code and rare scripts stray more.
"""

from __future__ import annotations

import math
import re
from string import ascii_letters, digits

# Tokens for each character of a class, the first class that matches deciding.
_ASCII = ((ascii_letters.encode(), 0.22), (b" \t", 0.03), (digits.encode(), 0.4), (bytes(range(128)), 0.6))
_CLASSES = (
    (r"[\u0080-\u052f\u1e00-\u1fff]", 0.5),
    (r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]", 1.0),
)
_OTHER = 1.3


def estimate(text: str) -> int:
    return math.ceil(weigh(text))


def weigh(text: str) -> float:
    """The estimate before rounding: that of two texts joined is the sum of theirs."""
    total, plain = 0.0, text.encode("ascii", "ignore")
    others = "" if len(plain) == len(text) else re.sub("[\x00-\x7f]+", "", text)
    for kind, weight in _ASCII:
        rest = plain.translate(None, kind)
        total += (len(plain) - len(rest)) * weight
        plain = rest
    for pattern, weight in _CLASSES if others else ():
        unlike = re.sub(pattern, "", others)
        total += (len(others) - len(unlike)) * weight
        others = unlike
    return total + len(others) * _OTHER
