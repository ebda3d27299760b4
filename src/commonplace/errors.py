"""Every error as a tree. Each has a code for programs, a sentence for people and an exit status for shells.

The sentence says what to do next. Below the surfaces nothing else is raised on purpose.
"""

from __future__ import annotations


class CommonplaceError(Exception):
    """The root: catch this to catch everything commonplace raises on purpose."""

    code = "ERROR"
    exit_status = 1


class InvalidArgument(CommonplaceError):
    """A caller asked in a way that can not be understood."""

    code = "INVALID_ARGUMENT"
    exit_status = 2


class MissingArgument(InvalidArgument):
    """A required argument is absent, null, or blank where a blank says nothing."""

    code = "MISSING_ARGUMENT"

    def __init__(self, field: str) -> None:
        super().__init__(f"Missing required parameter: {field}")
        self.field = field


class WrongType(InvalidArgument):
    """An argument is there but is not what the tool takes."""

    code = "WRONG_TYPE"

    def __init__(self, field: str, expected: str, got: str, value: object = None) -> None:
        super().__init__(f"Invalid parameter: {field} must be {expected}, not {got}")
        self.field, self.expected, self.got, self.value = field, expected, got, value


class InvalidChoice(InvalidArgument):
    """An argument that takes one of a few words got another."""

    code = "INVALID_CHOICE"

    def __init__(self, field: str, choices: tuple[str, ...], got: str) -> None:
        super().__init__(f"Invalid parameter: {field} must be one of {', '.join(choices)}, not {got!r}")
        self.field, self.choices, self.got = field, choices, got


class InvalidKey(InvalidArgument):
    code = "INVALID_KEY"


class UnknownOperation(InvalidArgument):
    code = "UNKNOWN_OPERATION"


class UnknownTool(InvalidArgument):
    code = "UNKNOWN_TOOL"


class NotFound(CommonplaceError):
    """What was asked for is not there."""

    code = "NOT_FOUND"
    exit_status = 3


class KeyNotFound(NotFound):
    code = "KEY_NOT_FOUND"


class PageNotFound(NotFound):
    code = "PAGE_NOT_FOUND"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} does not exist")
        self.path = path


class Conflict(CommonplaceError):
    """The memory is not as the caller believed it to be."""

    code = "CONFLICT"
    exit_status = 4


class KeyExists(Conflict):
    code = "KEY_EXISTS"


class StaleVersion(Conflict):
    """Somebody wrote the page after it was read: read again, then write."""

    code = "STALE_VERSION"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has changed since it was read: read it again, then write")
        self.path = path


class Refused(CommonplaceError):
    """Understood, possible, and not allowed."""

    code = "REFUSED"
    exit_status = 5


class OutsideHome(Refused):
    code = "OUTSIDE_HOME"


class ReservedKey(Refused):
    code = "RESERVED_KEY"


class HoldsSecret(Refused):
    """The settings keep keys and passwords out of memory, and the text holds one."""

    code = "HOLDS_SECRET"


class NotAvailable(Refused):
    """The tool exists, but the settings switch it off for this agent."""

    code = "NOT_AVAILABLE"


class StorageError(CommonplaceError):
    """The disk, the permissions or the bytes on it stand in the way. Nothing was changed."""

    code = "STORAGE_ERROR"
    exit_status = 6


class NotText(StorageError):
    """A page that is not UTF-8 text, or not a regular file."""

    code = "NOT_TEXT"


class InTheWay(StorageError):
    """A file stands where a folder should be, or a page where the folder of another should."""

    code = "IN_THE_WAY"


class FolderInTheWay(InTheWay, NotText):
    """A folder stands where a page should be."""

    code = "FOLDER_IN_THE_WAY"


class BrokenFrontMatter(StorageError):
    """The lines between the two `---` are not a YAML mapping."""

    code = "BROKEN_FRONT_MATTER"


class NotAMapping(BrokenFrontMatter):
    """What stands between the two `---` is text: no front matter at all, as it turns out."""

    code = "NOT_A_MAPPING"


class LockTimeout(StorageError):
    """Another process holds the page for too long."""

    code = "LOCK_TIMEOUT"


class ConnectionLost(StorageError):
    """The database went away, or can not be reached: a restart, a failover, a network."""

    code = "CONNECTION_LOST"


class Unavailable(CommonplaceError):
    """A model can not serve now: not installed, not reachable, not answering. Search goes on without it."""

    code = "UNAVAILABLE"
    exit_status = 8


class NotInstalled(CommonplaceError, ImportError):
    """What is asked for needs a package that is not there: an extra of this one, with the command that installs it."""

    code = "NOT_INSTALLED"
    exit_status = 9

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs more than is installed: run pip install 'commonplace[{extra}]'")
        self.extra = extra


class SettingsError(CommonplaceError):
    """A settings file says something that is not understood: file, line, and what would be."""

    code = "SETTINGS_ERROR"
    exit_status = 7
