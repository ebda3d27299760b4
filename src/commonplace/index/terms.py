"""The words of a passage as numbers, in text order, so that counting them needs no splitting of text.

A word is stored as its CRC-32. Packed terms are unsigned 32-bit numbers, little-endian: how many words the passage
itself has, these words, and those of the text around it.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from string import digits

TERM_BYTES = 4
BODY = "b"  # marks a word of the passage itself, where words are looked up
AROUND = "a"  # marks one of the text around it


def encode_term(word: str) -> int:
    """Return the number of a word. Two words rarely share one, and then a passage is ranked a little too high."""
    return zlib.crc32(word.encode(errors="surrogatepass"))


def pack_terms(body: Sequence[str], around: Sequence[str]) -> bytes:
    """Return the words of a passage and of the text around it as they are stored."""
    numbers = array("I", [len(body), *map(encode_term, body), *map(encode_term, around)])
    return swap_if_needed(numbers).tobytes()


def unpack_terms(packed: bytes) -> array[int]:
    """Return the numbers of packed terms; the first is how many words the passage itself has."""
    numbers = array("I")
    numbers.frombytes(packed)
    return swap_if_needed(numbers)


def check_terms(packed: object) -> bytes:
    """Return packed terms. Raises TypeError for anything else: the index is damaged."""
    if not isinstance(packed, bytes) or not packed or len(packed) % TERM_BYTES:
        raise TypeError("the words of a passage are missing")
    return packed


def make_lexeme(owner: int, place: str, word: str) -> str:
    """Return what passages of an owner are looked up by, for a word in the passage itself or around it."""
    return f"{owner}{place}{word}"


def list_lexemes(owner: int, body: Iterable[str], around: Iterable[str]) -> list[str]:
    """Return everything a passage is looked up by."""
    inside = [make_lexeme(owner, BODY, word) for word in dict.fromkeys(body)]
    return inside + [make_lexeme(owner, AROUND, word) for word in dict.fromkeys(around)]


def words_of(lexemes: str) -> set[str]:
    """Return the different words among lexemes that were joined with spaces."""
    return {lexeme.lstrip(digits)[1:] for lexeme in lexemes.split()}


def swap_if_needed(numbers: array[int]) -> array[int]:
    """Swap the bytes of numbers between the order of this machine and little-endian, in which they are stored."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
