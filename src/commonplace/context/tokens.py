"""How many tokens a text is for a model: an estimate by script, since every model counts its own way.

Measured against common vocabularies it is within a fifth for prose in most languages; code and rare scripts stray more.
"""

from __future__ import annotations

import math
import re

# Tokens for each character of a class, the first class that matches deciding.
_CLASSES = (
    (re.compile(r"[a-zA-Z]"), 0.22),
    (re.compile(r"[ \t]"), 0.03),
    (re.compile(r"[0-9]"), 0.4),
    (re.compile(r"[\x00-\x7f]"), 0.6),
    (re.compile(r"[\u0080-\u052f\u1e00-\u1fff]"), 0.5),
    (re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"), 1.0),
)
_OTHER = 1.3


def estimate(text: str) -> int:
    return math.ceil(weigh(text))


def weigh(text: str) -> float:
    """The estimate before rounding: that of two texts joined is the sum of theirs."""
    total, left = 0.0, len(text)
    for kind, weight in _CLASSES:
        if not left:
            break
        rest = kind.sub("", text)
        total += (len(text) - len(rest)) * weight
        text, left = rest, len(rest)
    return total + left * _OTHER
