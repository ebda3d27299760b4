"""Readable, collision-free file names for any key, channel, category, agent or skill; and path patterns.

A name that every file system distinguishes from all others is its own file name. Any other becomes a readable slug, a
tilde and a hash of the exact name; names of the first kind have no tilde, so the two kinds never collide.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from base64 import b32encode
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..caching import cache_within
from ..errors import InvalidArgument, InvalidKey, MissingArgument, OutsideHome
from ..formats.json_text import is_unicode
from ..patterns import INVISIBLE, lazy_pattern

_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?")
_LINE_BREAK = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_BLANK = lazy_pattern(rf"[\s\u2800{INVISIBLE}]*")  # U+2800: a Braille cell without dots
_SKILL_CODED = re.compile(r".*x[a-z2-7]{16}")
_CODE = re.compile(r".*~[a-z2-7]{16}", re.DOTALL)
MAX_NAME_BYTES = 255  # one path component on common file systems
MAX_PATH_BYTES = 1500  # a page's path; longer ones do not fit a database index
MAX_KEY_CHARACTERS = 2000  # a key, topic or skill name; anything longer belongs in the content
_FIRST = {"": "", "**": ".*?", "**/": "(?:|.+?/)"}  # what is before a part of a pattern, the shortest first
_ANY = {"": "", "**": ".*", "**/": "(?:.+/)?"}
_MAX_PLAIN_NAME_BYTES = 100  # leaves room for temporary names and nested folders on every system


def require_valid_name(what: str, *names: str) -> None:
    """Raise InvalidArgument for a name that no file system, page or database could hold."""
    for name in names:
        if not isinstance(name, str) or not is_unicode(name):
            raise InvalidArgument(f"the {what} {name!a} is not Unicode text")
        if "\0" in name:
            raise InvalidArgument(f"the {what} {name!a} has a null character in it: take it out")


def is_blank(name: str) -> bool:
    """Return whether a reader would see nothing of a name."""
    return _BLANK.fullmatch(name) is not None


def require_key(what: str, name: str) -> str:
    """Return the name of a key, a topic or a skill; MissingArgument for a blank one, InvalidKey for a line break."""
    if is_blank(name):
        raise MissingArgument(what)
    if _LINE_BREAK.search(name):
        raise InvalidKey(f"the {what} has more than one line", advice="give a name of one line")
    return name


def require_new_key(what: str, name: str) -> str:
    """Return the name under which something is written; InvalidKey for one that is too long to be a name."""
    require_key(what, name)
    if len(name.strip()) > MAX_KEY_CHARACTERS:
        problem = f"the {what} has {len(name.strip()):,} characters; the limit is {MAX_KEY_CHARACTERS:,}"
        raise InvalidKey(problem, advice="give a short name, and put the text into the content")
    return name


def require_agent(name: str) -> str:
    """Return the name of an agent; InvalidArgument for one that is blank or has more than one line."""
    require_valid_name("agent", name)
    if is_blank(name):
        raise InvalidArgument("the name of the agent is blank", advice="name one, or leave it out for the default")
    if _LINE_BREAK.search(name):
        raise InvalidArgument("the name of the agent has more than one line", advice="give a name of one line")
    return name


def require_inside(path: str) -> None:
    """Raise OutsideHome for a path that does not lead to a page inside the home."""
    parts = path.split("/")
    if not path or path[0] in "/~" or "\0" in path or "\\" in path or ".." in parts or path[1:2] == ":":
        raise OutsideHome(f"{path!r} is not a path inside the home: use one like memory/notes.md")


def path_range(folder: str) -> tuple[str, str]:
    """Return where the paths below a folder begin and end in sorted order: `0` is the character after the slash."""
    return f"{folder}/", f"{folder}0"


def file_name(name: str, reserved_names: frozenset[str] = frozenset()) -> str:
    """Return the file name of a name, without an ending. `reserved_names`, lower-case, mean something else."""
    return name if name not in reserved_names and is_plain(name) else encode_name(name)


def encode_name(name: str) -> str:
    """Return the file name of a name that cannot be its own: readable and unique."""
    return f"{_slug(name)}~{_digest(name)}"


def decode_name(file: str, claimed: object) -> str:
    """Return the name behind a file name: the claimed one if the file name encodes it, else the file name itself.

    So a page that a person renames has the new name, whatever its front matter still claims.
    """
    is_claimed = isinstance(claimed, str) and is_encoded(file) and file == encode_name(claimed)
    return str(claimed) if is_claimed else file


def is_encoded(file: str) -> bool:
    """Return whether a file name encodes another name."""
    return _CODE.fullmatch(file) is not None


@cache_within(250_000)
def is_plain(name: str) -> bool:
    """Return whether a name can be its own file name on any file system."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return (
        name == folded
        and 0 < len(name.encode()) <= _MAX_PLAIN_NAME_BYTES
        and all(char in "_-." or unicodedata.category(char)[0] in "LMN" for char in name)
        and name[0] not in ".-"
        and name[-1] != "."
        and unicodedata.category(name[0])[0] != "M"
        and not _DEVICES.fullmatch(name)
    )


def skill_folders(name: str) -> tuple[str, str]:
    """Return the folder of a skill and a unique one, in case another skill has that.

    Agent Skills allow lower-case letters, digits and single hyphens, at most 64. So `tree_removal` is in
    `tree-removal`, and the page says what the skill is called.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", _ascii(name)).strip("-")
    short = slug[:40].strip("-")
    unique = f"{short}-x{_digest(name)}" if short else f"x{_digest(name)}"
    is_plain_folder = slug and len(slug) <= 64 and not _DEVICES.fullmatch(slug) and not _SKILL_CODED.fullmatch(slug)
    return slug if is_plain_folder else unique, unique


def topic_name(topic: str) -> str:
    """Return a world topic in its contract form: lower-case letters and digits of any script, single dashes between."""
    if _LINE_BREAK.search(topic.strip()):
        raise InvalidKey("the topic has more than one line", advice="give a name of one line")
    folded = "" if is_blank(topic) else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", topic).lower())
    slug = "".join(char if unicodedata.category(char)[0] in "LMN" else "-" for char in folded)
    name = re.sub(r"-+", "-", slug).strip("-")
    if not name:
        raise InvalidArgument(f"the topic {topic!r} has no letter or digit: name what the page is about")
    return name


def topic_file(topic: str) -> str:
    """Return the file name of a topic: the topic itself, if every file system accepts it."""
    return (
        topic if len(topic.encode()) <= _MAX_PLAIN_NAME_BYTES and not _DEVICES.fullmatch(topic) else encode_name(topic)
    )


def _slug(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    slug = "".join(char if char == "_" or unicodedata.category(char)[0] in "LMN" else "-" for char in folded)
    return re.sub(r"-+", "-", slug).strip("-").encode()[:60].decode(errors="ignore")


def _ascii(name: str) -> str:
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()


def _digest(name: str) -> str:
    return b32encode(hashlib.sha256(name.encode()).digest()[:10]).decode().lower()


class _Part(NamedTuple):
    """A part of a pattern: what is before it, and literals with `*` between them. `before`: nothing, any text (`**`),
    or any folders (`**/`)."""

    before: Literal["", "**", "**/"]
    literals: list[str]  # as regular expressions


@cache_within(500_000)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Compile a pattern: `*` within a folder, `**` across folders, `**/` for any folders, `?` for one character.

    Any caller may choose a pattern, and names of pages for it. So a wildcard takes the shortest text after which the
    next literal comes, and nothing else is tried: if any other choice leads to a match, this one does, too.
    """
    *parts, last = _parse_glob(pattern)
    heads = [f"(?>{_FIRST[before]}{_take_first(literals)})" for before, literals in parts]
    *first, end = last.literals
    tail = f"{_take_first(first)}[^/]*{end}" if first else end
    return re.compile(f"{''.join(heads)}{_FIRST[last.before]}{tail}")


def _take_first(literals: Sequence[str]) -> str:
    first, *rest = literals
    return first + "".join(f"(?>[^/]*?{literal})" for literal in rest)


def translate_glob(pattern: str) -> str:
    """Return a pattern as a regular expression of databases, which have no atomic groups and do not backtrack."""
    return "".join(_ANY[before] + "[^/]*".join(literals) for before, literals in _parse_glob(pattern))


def _parse_glob(pattern: str) -> list[_Part]:
    parts = [_Part("", [""])]
    before = ""
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        if piece == "**/" and before and not before.endswith("/"):  # not at the start of a folder
            parts.append(_Part("**", ["/"]))
        elif piece in ("**", "**/"):
            parts.append(_Part("**/" if piece == "**/" else "**", [""]))
        elif piece == "*":
            parts[-1].literals.append("")
        else:
            parts[-1].literals[-1] += "[^/]" if piece == "?" else re.escape(piece)
        before = piece or before
    return parts


def fixed_folder(pattern: str) -> str:
    """Return the folder that everything matching a pattern lies below."""
    whole = pattern.split("/")
    fixed = next((i for i, part in enumerate(whole) if "*" in part or "?" in part), len(whole) - 1)
    return "/".join(whole[:fixed])
