"""Characters that a reader does not see, such as tag characters, bidi controls and zero-width spaces.

On the way to a model each is shown as an escape, `\\u{202e}`, so that memory says nothing to a model that people do not
see. Joiners and variation selectors stay where a script or an emoji needs them. Stored text is never changed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

# Besides format controls (Cf), what Unicode lets a program leave out (Default_Ignorable_Code_Point): fillers,
# variation selectors and reserved code points. Other unassigned code points and private use show as a box.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_VISIBLE_CONTROL = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001345f]")
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff]"
)
_KEYCAP_BASE = re.compile("[0-9#*]")
_IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_MONGOLIAN = re.compile("[\u1820-\u18aa]")
# Arabic, Syriac, Thaana and N'Ko, the scripts of India, and those of South East Asia that join letters.
_JOINED_SCRIPT = re.compile(
    "[\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17d3\u1820-\u18aa\ufb50-\ufdff\ufe70-\ufefc]"
)
_JOINERS = "\u200c\u200d"
_EMOJI_JOINER = "\u200d"
_FLAG_REGIONS = ("gbeng", "gbsct", "gbwls")  # England, Scotland, Wales: flags that are spelled with tag characters
_FLAG_TAGS = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in region) for region in _FLAG_REGIONS)
_FLAGS = f"\U0001f3f4(?:{_FLAG_TAGS})\U000e007f"
# A run of backslashes is looked at once, from its start: it may be as long as the text.
_ESCAPES = re.compile(r"(?<!\\)(\\+)u\{([0-9a-f]{2,6})\}")


@lru_cache(maxsize=16_384)
def is_hidden(char: str) -> bool:
    """Tell whether a character has no visible shape. Whether the text around it needs it is another question."""
    if _IGNORABLE.match(char):
        return True
    return unicodedata.category(char) == "Cf" and not _VISIBLE_CONTROL.match(char)


def show_hidden(text: str) -> str:
    """Return text with hidden characters as escapes. Text that was shown already stays as it is."""
    return _replace_hidden(text, _format_escape)


def to_json(value: Any) -> str:
    """Return a value as JSON text, with hidden characters as the escapes of JSON: whoever parses it gets them back."""
    return _replace_hidden(json.dumps(value, ensure_ascii=False), _format_json_escape)


def escape_hidden(text: str) -> str:
    """Return text with hidden characters as escapes, in the form that `unescape_hidden` reverses exactly.

    As in a string of a programming language, backslashes before an escape are doubled, and so are those of text that
    was an escape before.
    """
    doubled = _ESCAPES.sub(_double_backslashes, text) if "\\u{" in text else text
    return _replace_hidden(doubled, _format_escape_after_backslashes)


def unescape_hidden(text: str) -> str:
    """Return what `escape_hidden` was given."""
    return _ESCAPES.sub(_unescape, text)


def _replace_hidden(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    if text.isascii():
        return text
    hidden = [char for char in set(text) if is_hidden(char)]
    if not hidden:
        return text

    def show(match: re.Match[str]) -> str:
        is_needed = match["flag"] or _is_needed(text, match.end() - 1)
        return match[0] if is_needed else replace(match)

    return re.sub(rf"(?P<flag>{_FLAGS})|(?<!\\)\\*[{re.escape(''.join(hidden))}]", show, text)


def _format_escape(match: re.Match[str]) -> str:
    return f"{match[0][:-1]}\\u{{{ord(match[0][-1]):x}}}"


def _format_json_escape(match: re.Match[str]) -> str:
    return match[0][:-1] + json.dumps(match[0][-1])[1:-1]


def _format_escape_after_backslashes(match: re.Match[str]) -> str:
    return match[0][:-1] + _format_escape(match)


def _double_backslashes(match: re.Match[str]) -> str:
    return match[1] + match[0] if _names_hidden(match[2]) else match[0]


def _unescape(match: re.Match[str]) -> str:
    if not _names_hidden(match[2]):
        return match[0]
    backslashes = match[1][: len(match[1]) // 2]
    is_escape = len(match[1]) % 2 == 1
    return backslashes + (chr(int(match[2], 16)) if is_escape else f"u{{{match[2]}}}")


def _names_hidden(digits: str) -> bool:
    """Tell whether these are the digits in which an escape would name a hidden character."""
    code = int(digits, 16)
    return code <= 0x10FFFF and f"{code:x}" == digits and is_hidden(chr(code))


def _is_needed(text: str, at: int) -> bool:
    """Tell whether the script or the emoji around a hidden character needs it."""
    char = text[at]
    before = text[at - 1 : at]
    after = text[at + 1 : at + 2]
    if char in _JOINERS and _JOINED_SCRIPT.match(before):
        return True
    if char == _EMOJI_JOINER:
        return bool(_EMOJI.match(before) and _EMOJI.match(after))
    if "\ufe00" <= char <= "\ufe0f":
        return bool(_EMOJI.match(before) and before != "\ufe0f") or bool(
            _KEYCAP_BASE.match(before) and after == "\u20e3"
        )
    if "\U000e0100" <= char <= "\U000e01ef":
        return bool(_IDEOGRAPH.match(before))
    return "\u180b" <= char <= "\u180f" and bool(_MONGOLIAN.match(before))
