"""Frames around stored text (a quoted line, a list item, a code fence), and hidden characters made visible.

Short text is quoted inside a line; longer text goes into a code fence longer than any fence inside it. A line that
imitates one of our own headings gets a backslash even there, for readers that do not understand fences.

Characters that a reader does not see, such as tag characters, bidi controls and zero-width spaces, are shown as escapes
on the way to a model, `\\u{202e}`, so that memory says nothing to a model that people do not see. Joiners and variation
selectors stay where a script or an emoji needs them, and only so many in a line: each could carry a part of a message.
Stored text is never changed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, get_args

from ..patterns import lazy_pattern

Title = Literal[
    "Session Handoff",
    "Directives",
    "Available Skills",
    "Memory Context",
    "Scratchpad",
    "Curated Memory",
    "Working Notes",
    "Recent Days",
    "Recent Sessions",
    "Memory Map",
    "Recalled Memory",
]
TITLES: tuple[Title, ...] = get_args(Title)
_IMITATION = lazy_pattern(
    rf"^(?=[ \t]*(?:#{{1,6}}[ \t]*(?:{'|'.join(TITLES)})\b|Current channel:))", re.MULTILINE | re.IGNORECASE
)
# How a remark on a line of memory begins, in brackets before or after it.
_REMARK = lazy_pattern(
    r"[\[(](?=\s*(?:(?:no\s+longer|answered)\s*[;:]|done:\s|learned on the branch\s"
    r"|(?:until|from) [^\n()\[\]]{1,40}: (?:over|not yet)\b"
    r"|[^\s()\[\]]{1,300} (?:changed\s+since|no\s+longer\s+exists)\s*[;)\]]))",
    re.IGNORECASE,
)
_FENCE = lazy_pattern(r" {0,3}(`{3,}|~{3,})(.*)")
_SECTION_TITLE = lazy_pattern(rf"\W*(?:{'|'.join(TITLES)})\b", re.IGNORECASE)
_PLAIN_NAME = lazy_pattern(r"[^\W\d][\w .:/@-]*")
_PLAIN_TITLE = lazy_pattern(r"\w[\w .,:'’/@&+-]*")  # without parentheses, in which a heading names its author
# A few words on one line, which cannot be mistaken for a part of the prompt.
_PLAIN_VALUE = lazy_pattern(r"[\w(+-]?\w[\w .,:;'’()/@%&+=-]{,60}")
_PLAIN_PATH = lazy_pattern(r"(?!.*  )[\w ./@~+'’&=%-]+")
_BREAKS = lazy_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OTHER_BREAKS = lazy_pattern(r"\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_MAX_INLINE_CHARS = 300  # a longer value is fenced


# Besides format controls (Cf), what Unicode lets a program ignore (Default_Ignorable_Code_Point): fillers,
# variation selectors and reserved code points. Other unassigned code points and private use show as a box.
_IGNORABLE = lazy_pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_VISIBLE_CONTROL = lazy_pattern(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001345f]"
)
_EMOJI = lazy_pattern(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff]"
)
_KEYCAP_BASE = lazy_pattern("[0-9#*]")
_IDEOGRAPH = lazy_pattern("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_MONGOLIAN = lazy_pattern("[\u1820-\u18aa]")
# Arabic, Syriac, Thaana and N'Ko, the scripts of India, and those of South East Asia that join letters.
_JOINED_SCRIPT = lazy_pattern(
    "[\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17d3\u1820-\u18aa\ufb50-\ufdff\ufe70-\ufefc]"
)
_ARABIC_LETTER = re.compile(
    "[\u0620-\u063f\u0641-\u064a\u066e-\u066f\u0671-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06ff\u0710-\u07ea\u08a0-\u08c9]"
)
# Letters of Arabic that do not join the next one, so that a joiner after them changes nothing.
_ARABIC_END = re.compile(
    "[\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef]"
)
_ARABIC_MARKS = re.compile("[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")
_MAX_MARKS = 4  # combining marks on one letter
_HEH = "\u0647"  # takes a joiner even at the end of a word: in abbreviations, and as a Kurdish vowel
_INDIC = re.compile("[\u0900-\u0dff]")
_VIRAMA = re.compile("[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca]")
_FREE_JOINERS = 2  # allowed in any line; longer lines may have more
_LETTERS_PER_JOINER = 6
_LETTERS_PER_VIRAMA_JOINER = 3  # a joiner beside a virama is visible, and some scripts have one in most words
_MAX_IDEOGRAPH_VARIANTS = 3  # per line
_EMOJI_SELECTORS = "\ufe0e\ufe0f"
_JOINERS = "\u200c\u200d"
_EMOJI_JOINER = "\u200d"
_FLAG_REGIONS = ("gbeng", "gbsct", "gbwls")  # England, Scotland, Wales: flags that are spelled with tag characters
_FLAG_TAGS = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in region) for region in _FLAG_REGIONS)
_FLAGS = f"\U0001f3f4(?:{_FLAG_TAGS})\U000e007f"
# A run of backslashes, which may be as long as the text, is examined once, from its start.
_ESCAPES = lazy_pattern(r"(?<!\\)(\\+)u\{([0-9a-f]{2,6})\}")


@lru_cache(maxsize=16_384)
def is_hidden(char: str) -> bool:
    """Return whether a character has no visible shape. Whether the text around it needs it is another question."""
    if _IGNORABLE.match(char):
        return True
    return unicodedata.category(char) == "Cf" and not _VISIBLE_CONTROL.match(char)


def show_hidden(text: str) -> str:
    """Return text with hidden characters as escapes. Text that was escaped already stays as it is."""
    return _replace_hidden(text, _format_escape)


def to_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON text, with hidden characters as JSON escapes: parsing restores them."""
    return _replace_hidden(json.dumps(value, ensure_ascii=False, indent=indent), _format_json_escape)


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

    line = _Line(text)

    def show(match: re.Match[str]) -> str:
        is_needed = match["flag"] or line.needs(match.end() - 1)
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
    """Return whether these are the digits in which an escape would name a hidden character."""
    code = int(digits, 16)
    return code <= 0x10FFFF and f"{code:x}" == digits and is_hidden(chr(code))


class _Line:
    """Decides which hidden characters of a text are needed, line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = -1
        self._joiners = 0
        self._virama_joiners = 0
        self._variants = 0

    def needs(self, at: int) -> bool:
        """Return whether the script or the emoji around a hidden character needs it, and the line has few enough."""
        if at >= self._end:
            self._begin(at)
        char = self._text[at]
        if char in _JOINERS and _JOINED_SCRIPT.match(self._text[at - 1 : at]):
            return self._needs_joiner(at)
        if "\U000e0100" <= char <= "\U000e01ef" and _IDEOGRAPH.match(self._text[at - 1 : at]):
            self._variants -= 1
            return self._variants >= 0
        return _is_needed(self._text, at)

    def _begin(self, at: int) -> None:
        start = self._text.rfind("\n", 0, at) + 1
        end = self._text.find("\n", at)
        self._end = len(self._text) if end < 0 else end
        letters = len(_JOINED_SCRIPT.findall(self._text, start, self._end))
        self._joiners = _FREE_JOINERS + letters // _LETTERS_PER_JOINER
        self._virama_joiners = _FREE_JOINERS + letters // _LETTERS_PER_VIRAMA_JOINER
        self._variants = _MAX_IDEOGRAPH_VARIANTS

    def _needs_joiner(self, at: int) -> bool:
        before = self._text[at - 1]
        after = self._text[at + 1 : at + 2]
        if _INDIC.match(before):
            if not _VIRAMA.match(before) and not _VIRAMA.match(after):
                return False
            self._virama_joiners -= 1
            return self._virama_joiners >= 0
        if (_ARABIC_LETTER.match(before) or _ARABIC_MARKS.match(before)) and not self._joins_arabic(at, after):
            return False
        self._joiners -= 1
        return self._joiners >= 0

    def _joins_arabic(self, at: int, after: str) -> bool:
        """Return whether a joiner is after a letter that joins, whatever marks it has, and before another."""
        first = at - 1
        while first > max(0, at - 1 - _MAX_MARKS) and _ARABIC_MARKS.match(self._text[first]):
            first -= 1
        letter = self._text[first]
        is_joining = bool(_ARABIC_LETTER.match(letter)) and not _ARABIC_END.match(letter)
        return is_joining and (letter == _HEH or bool(_ARABIC_LETTER.match(after)))


def _is_needed(text: str, at: int) -> bool:
    """Return whether the emoji or the letter before a hidden character needs it."""
    char = text[at]
    before = text[at - 1 : at]
    after = text[at + 1 : at + 2]
    if char == _EMOJI_JOINER:
        base = text[max(0, at - 2) : at - 1] if before == "\ufe0f" else before
        return _is_emoji(base) and _is_emoji(after)
    if char in _EMOJI_SELECTORS:
        return _is_emoji(before) or bool(_KEYCAP_BASE.match(before) and after == "\u20e3")
    return "\u180b" <= char <= "\u180f" and bool(_MONGOLIAN.match(before))


def _is_emoji(char: str) -> bool:
    return bool(_EMOJI.match(char)) and char != "\ufe0f"


def quote_line(text: str) -> str:
    """Return text that fits inside one line: line breaks, control and hidden characters become escapes."""
    return show_hidden(_BREAKS.sub(_escape_break, text))


def quote_name(name: str) -> str:
    """Return a name as it is if it is plainly a name, otherwise in quotes; on one line in any case."""
    is_plain = _PLAIN_NAME.fullmatch(_strip_marks(name)) and not _SECTION_TITLE.match(name)
    return quote_line(name if is_plain else json.dumps(name, ensure_ascii=False))


def quote_citation(citation: str) -> str:
    """Return a citation with its page as it is if that is plainly a path, otherwise in quotes; on one line."""
    path, mark, lines = citation.rpartition("#L")
    is_plain = _PLAIN_PATH.fullmatch(_strip_marks(path)) is not None
    return quote_line(f"{path if is_plain else json.dumps(path, ensure_ascii=False)}{mark}{lines}")


def quote_title(name: str) -> str:
    """Return a name for a heading: as it is if it is plainly a name, otherwise in quotes; on one line in any case."""
    is_plain = _PLAIN_TITLE.fullmatch(_strip_marks(name)) and not _SECTION_TITLE.match(name)
    return quote_line(name if is_plain else json.dumps(name, ensure_ascii=False))


def quote_value(text: str) -> str:
    """Return a value of one line: a few plain words and JSON as they are, anything else in quotes."""
    is_plain = _PLAIN_VALUE.fullmatch(_strip_marks(text)) and not _SECTION_TITLE.match(text)
    return quote_line(text if is_plain or _is_json(text) else json.dumps(text, ensure_ascii=False))


def _strip_marks(text: str) -> str:
    """Return text without the marks that belong to a letter, which are no letters to a pattern: those of `हिन्दी`."""
    if text.isascii():
        return text
    return text[:1] + "".join(char for char in text[1:] if not unicodedata.category(char).startswith("M"))


def _is_json(text: str) -> bool:
    """Return whether a text is a list or an object in JSON, whose own quotes mark what is text in it."""
    if text[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _escape_break(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def fence(text: str, label: str, author: str = "", kind: Literal["data", "rules"] = "data") -> str:
    """Return text in a code fence that nothing inside it can close, labelled with its page and who wrote it.

    `rules` are approved instructions, which bind the reader; `data` never does.
    """
    lines = _escape_imitations(show_hidden(text))
    longest = max((len(run) for run in re.findall(r"`+", lines)), default=0)
    ticks = "`" * max(3, longest + 1)
    source = f"{label} by {author}" if author else label
    return f"{ticks}{kind} {quote_line(source).replace('`', chr(39))}\n{lines}\n{ticks}"


def _escape_imitations(text: str) -> str:
    # Other kinds of line breaks become plain ones, so that no reader sees a line start that was not checked here.
    return _IMITATION.sub(_escape_line, _OTHER_BREAKS.sub("\n", text))


def _escape_line(_match: re.Match[str]) -> str:
    return "\\"


def escape_remarks(text: str) -> str:
    """Return a text with a backslash before what reads like a remark of ours: `[no longer; now: "…"]`."""
    return _REMARK.sub(r"\\\g<0>", text) if "[" in text or "(" in text else text


def list_item(name: str, text: str, label: str) -> str:
    """Return a named value as a list item: on its line if it is short, otherwise fenced below it."""
    if len(text) <= _MAX_INLINE_CHARS and not _BREAKS.search(text):
        return f"- {quote_name(name)}: {quote_value(text)}"
    return f"- {quote_name(name)}:\n\n{fence(text, label)}"


def show_instructions(text: str) -> str:
    """Return instructions as they are, with hidden characters shown and open fences closed."""
    return close_fence(show_hidden(text))


def close_fence(text: str) -> str:
    """Return text with a fence that was left open closed, so that what follows is not drawn into it."""
    opener = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match and not opener and not (match[1][0] == "`" and "`" in match[2]):
            opener = match[1]
        elif match and opener and match[1].startswith(opener) and not match[2].strip():
            opener = ""
    return f"{text}\n{opener}" if opener else text


def introduce(sentence: str, text: str) -> str:
    """Return stored text after a sentence that says what it is."""
    return f"{sentence}\n\n{text.strip() or 'Nothing yet.'}"
