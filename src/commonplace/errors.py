"""Every error as data: a class, a code for programs, fields, and an exit status for shells.

The sentence for people is made from the fields and says what to do next. Code that needs a part of it reads the field:
nothing parses a sentence. Below the surfaces nothing else is raised on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Self

_MIN_NAME_LIKENESS = 0.6  # between an unknown name and a suggestion, from 0 to 1
_MAX_NAME_CHARACTERS = 60  # longer names are cut before they are compared
_MAX_VALUE_CHARACTERS = 100  # of a value in a sentence


class CommonplaceError(Exception):
    """The root: catch this to catch everything commonplace raises on purpose.

    `problem` says what is wrong and `advice` what to do next. `path` and `line` (from 1) say where, if that is known.
    """

    code = "ERROR"
    exit_status = 1
    _after_place = ": "

    def __init__(self, problem: str = "", *, path: str = "", line: int = 0, advice: str = "") -> None:
        place = f"{path}:{line}" if path and line else path
        what = f"{place}{self._after_place}{problem}" if place else problem
        super().__init__(f"{what}: {advice}" if advice else what)
        self.problem = problem
        self.path = path
        self.line = line
        self.advice = advice

    def with_advice(self, advice: str) -> Self:
        """Return this error with other advice."""
        result = copy(self)
        CommonplaceError.__init__(result, self.problem, path=self.path, line=self.line, advice=advice)
        return result


class InvalidArgument(CommonplaceError):
    """A request cannot be understood."""

    code = "INVALID_ARGUMENT"
    exit_status = 2


class MissingArgument(InvalidArgument):
    """A required argument is absent, null, or blank although it must not be."""

    code = "MISSING_ARGUMENT"

    def __init__(self, field: str, advice: str = "") -> None:
        super().__init__(f"Missing required parameter: {field}", advice=advice)
        self.field = field


class UnknownArgument(InvalidArgument):
    """An argument has a name that is not accepted here."""

    code = "UNKNOWN_ARGUMENT"

    def __init__(self, field: str, known: tuple[str, ...]) -> None:
        takes = f"{suggest(field, known)}it takes {', '.join(known)}" if known else "it takes none"
        super().__init__(f"the parameter {shorten(field)} is not known here", advice=takes)
        self.field = field
        self.known = known


class WrongType(InvalidArgument):
    """An argument has a value of the wrong type."""

    code = "WRONG_TYPE"

    def __init__(self, field: str, expected: str, got: str, value: object = None) -> None:
        super().__init__(f"Invalid parameter: {field} must be {expected}, not {got}")
        self.field = field
        self.expected = expected
        self.got = got
        self.value = value


class InvalidChoice(InvalidArgument):
    """An argument takes one of a few words, but got something else."""

    code = "INVALID_CHOICE"

    def __init__(self, field: str, choices: tuple[str, ...], got: object) -> None:
        super().__init__(f"Invalid parameter: {field} must be one of {', '.join(choices)}, not {shorten(got)}")
        self.field = field
        self.choices = choices
        self.got = got


class OutOfRange(InvalidArgument):
    """A number is too small or too large."""

    code = "OUT_OF_RANGE"

    def __init__(self, field: str, low: float | None, high: float | None, got: float) -> None:
        super().__init__(f"Invalid parameter: {field} must be {range_words(low, high)}, not {got}")
        self.field = field
        self.low = low
        self.high = high
        self.got = got


class MalformedArgument(InvalidArgument):
    """A text or a list has the wrong form. `expected` says how it should look."""

    code = "MALFORMED_ARGUMENT"

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"{field} is not understood", advice=expected)
        self.field = field
        self.expected = expected


class NullCharacter(InvalidArgument):
    """A text has a null character, which no page can hold."""

    code = "NULL_CHARACTER"

    def __init__(self, field: str, value: str) -> None:
        super().__init__(f"{field} {shorten(value)} has a null character in it", advice="take it out")
        self.field = field


def range_words(low: float | None, high: float | None) -> str:
    """Return a range of numbers in words."""
    if high is None:
        return f"{low} or more"
    if low is None:
        return f"{high} or less"
    return f"from {low} to {high}"


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the start of an advice that suggests the most similar known name: `did you mean limit? `; or ""."""
    similar = find_similar(name, known)
    return f"did you mean {similar}? " if similar else ""


def find_similar(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most similar to a name, which may be mistyped; empty if none is."""
    from difflib import get_close_matches

    plain = {_simplify(each): each for each in known}
    best = get_close_matches(_simplify(name), plain, 1, _MIN_NAME_LIKENESS)
    return plain[best[0]] if best else ""


def _simplify(name: str) -> str:
    return name[:_MAX_NAME_CHARACTERS].casefold().replace("_", "").replace("-", "")


def shorten(value: object) -> str:
    """Return a value as an error repeats it: quoted, and cut if it is long."""
    text = repr(value)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[:_MAX_VALUE_CHARACTERS]}…"


class InvalidKey(InvalidArgument):
    """A key is empty, too long, or has more than one line."""

    code = "INVALID_KEY"


class UnknownOperation(InvalidArgument):
    """MemoryTool has no operation of this name. `hint` names the one that was probably meant."""

    code = "UNKNOWN_OPERATION"

    def __init__(self, problem: str, *, hint: str = "") -> None:
        super().__init__(problem)
        self.hint = hint


class UnknownTool(InvalidArgument):
    """There is no tool of this name, or several and none was chosen."""

    code = "UNKNOWN_TOOL"


class NotFound(CommonplaceError):
    """What was requested does not exist."""

    code = "NOT_FOUND"
    exit_status = 3


class KeyNotFound(NotFound):
    """No note, record or skill has this key."""

    code = "KEY_NOT_FOUND"


class PageNotFound(NotFound):
    """There is no such page, or this agent may not see it."""

    code = "PAGE_NOT_FOUND"
    _after_place = " "

    def __init__(self, path: str) -> None:
        super().__init__("does not exist", path=path)


class Conflict(CommonplaceError):
    """The memory is not in the state that the caller assumed."""

    code = "CONFLICT"
    exit_status = 4


class KeyExists(Conflict):
    """The key is used already: update it, or choose another."""

    code = "KEY_EXISTS"


class StaleVersion(Conflict):
    """Somebody wrote the page after it was read: read again, then write."""

    code = "STALE_VERSION"
    _after_place = " "

    def __init__(self, path: str, advice: str = "read it again, then write") -> None:
        super().__init__("has changed since it was read", path=path, advice=advice)


class Refused(CommonplaceError):
    """The request is understood, but not allowed."""

    code = "REFUSED"
    exit_status = 5


class QuotaExceeded(Refused):
    """A token has used up its quota for the day. `retry_seconds`: when to try again; 0 if waiting does not help."""

    code = "QUOTA_EXCEEDED"

    def __init__(self, problem: str, *, retry_seconds: int = 0, advice: str = "") -> None:
        super().__init__(problem, advice=advice)
        self.retry_seconds = retry_seconds


class OutsideHome(Refused):
    """A path leads out of the home."""

    code = "OUTSIDE_HOME"
    _after_place = " "


class OtherAgentsPage(Refused):
    """A page belongs to another agent than the caller's."""

    code = "OTHER_AGENTS_PAGE"


class ReservedKey(Refused):
    """A key that commonplace uses itself, such as that of the handoff."""

    code = "RESERVED_KEY"


class HoldsSecret(Refused):
    """The text contains a key or a password, and the settings keep those out of memory."""

    code = "HOLDS_SECRET"

    def __init__(self, problem: str, *, advice: str) -> None:
        super().__init__(f"nothing was written: {problem}. {advice}")
        self.problem = problem
        self.advice = advice


class NotAvailable(Refused):
    """The tool exists, but the settings switch it off for this agent."""

    code = "NOT_AVAILABLE"


class StorageError(CommonplaceError):
    """The disk, its permissions or the bytes on it prevent the operation. Nothing was changed."""

    code = "STORAGE_ERROR"
    exit_status = 6


class NotText(StorageError):
    """A page that is not UTF-8 text, or not a regular file."""

    code = "NOT_TEXT"

    _after_place = " "  # "memory/a.md is not UTF-8 text"


class PathIsFile(StorageError):
    """A file is where a folder should be, or a page where the folder of another page should be."""

    code = "IN_THE_WAY"


class PathIsFolder(NotText):
    """A folder is where a page should be."""

    code = "FOLDER_IN_THE_WAY"
    _after_place = ": "


class BrokenFrontMatter(StorageError):
    """The lines between the two `---` are not a YAML mapping. `line` is the page's."""

    code = "BROKEN_FRONT_MATTER"


class NotAMapping(BrokenFrontMatter):
    """The text between the two `---` is not a mapping, so it is not front matter at all."""

    code = "NOT_A_MAPPING"


class LockTimeout(StorageError):
    """Another process has the page locked for too long."""

    code = "LOCK_TIMEOUT"


class ConnectionLost(StorageError):
    """The database went away, or cannot be reached: a restart, a failover, a network."""

    code = "CONNECTION_LOST"


class IndexClosed(StorageError):
    """The index was closed while another thread used it; the next search opens it again."""

    code = "INDEX_CLOSED"


class Unavailable(CommonplaceError):
    """A model cannot serve now: not installed, not reachable, not answering. Search goes on without it."""

    code = "UNAVAILABLE"
    exit_status = 8


class NotInstalled(CommonplaceError, ImportError):  # type: ignore[misc]  # both have a path
    """A feature needs a package that is not installed: one of our extras."""

    code = "NOT_INSTALLED"
    exit_status = 9

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs more than is installed", advice=f"run pip install 'commonplace[{extra}]'")
        self.extra = extra


class SettingsError(CommonplaceError):
    """A settings file is not valid."""

    code = "SETTINGS_ERROR"
    exit_status = 7
