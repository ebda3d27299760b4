"""The memories that this user trusts: like with `git safe.directory`, a folder that was only found is data until
approved.

A memory that the user names or made, or keeps in `~/.commonplace`, is the user's own, and everything in it counts. Of a
memory that was found on the way up, settings that open connections, rules and tokens count only as far as the user
approved them: by path, and by the hash of what they say. The record lies outside of every memory. A memory that the
user made is known by a random mark in it: another one that comes to the same path does not have it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import CommonplaceError, Refused, StorageError
from .settings import MEMORY_FOLDER
from .storage.base import ACCESS_FOLDER, open_tokens
from .storage.file_locks import lock
from .storage.files import (
    PRIVATE_FOLDER_MODE,
    make_folders,
    open_own_entry,
    read_bytes_or_none,
    storage_errors,
    write_file,
)
from .user_config import config_folder, state_folder
from .wording import format_command

if TYPE_CHECKING:
    from .storage.base import TokenStore
    from .storage.tokens import Call, Token

RECORD_FILE = "trust.json"
MARK_FILE = f"{ACCESS_FOLDER}/made-here"  # in the home; not a page, not in backups, ignored by git
_LOCKS_FOLDER = ".locks"
_MARK_BYTES = 32
_INDEX_SECRET_FILE = "index-secret"
_SECRET_BYTES = 32


class HomeRecord(NamedTuple):
    """What the user approved in one folder. `made`: the inode of a folder that `init` made, and `mark` the hash of the
    mark in it, empty if an earlier version made it; `owner`: a user id other than the user's own whose folder may be
    opened; `is_reviewed`: whether the user ran `commonplace trust` in it. If not, the record has only what their own
    program wrote there."""

    made: int = 0
    mark: str = ""
    owner: int | None = None
    files: Mapping[str, str] = {}
    tokens: tuple[str, ...] = ()
    is_reviewed: bool = False


def hash_file(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_record(folder: str) -> HomeRecord:
    """Return what the user approved in a folder; an empty record if there is none."""
    return _parse(_read_all().get(os.path.realpath(folder), {}))


def default_memory() -> str:
    """Return the user's `~/.commonplace`."""
    return os.path.join(os.path.expanduser("~"), MEMORY_FOLDER)


def is_default_memory(folder: str) -> bool:
    return os.path.realpath(folder) == os.path.realpath(default_memory())


def has_record(folder: str) -> bool:
    """Return whether anything is recorded of a folder, if only a rule that the user's own program wrote there."""
    return os.path.realpath(folder) in _read_all()


def is_made_or_reviewed(folder: str) -> bool:
    """Return whether the user made the memory in a folder, or reviewed and trusted it."""
    record = read_record(folder)
    return record.is_reviewed or _is_made_by_user(folder, record)


def update_record(folder: str, change: Callable[[HomeRecord], HomeRecord | None]) -> None:
    """Change what the user approved of a folder; None removes it."""
    place = os.path.realpath(folder)
    with storage_errors(_path()), lock(os.path.join(config_folder(), _LOCKS_FOLDER), "page", RECORD_FILE):
        homes = _read_all()
        record = change(_parse(homes.pop(place, {})))
        if record is not None:
            homes[place] = {**record._asdict(), "files": dict(record.files)}
        write_file(_path(), (json.dumps({"homes": homes}, indent=1, sort_keys=True) + "\n").encode())


def record_made(folder: str) -> None:
    """Record that this user made the memory in a folder."""

    def add(record: HomeRecord) -> HomeRecord:
        return record._replace(made=os.stat(folder).st_ino, mark=_write_mark(folder))

    update_record(folder, add)


def make_index_key(folder: str) -> str:
    """Return a key for the index of a found memory, which its maker cannot know.

    Its secret is made when it is first needed. Where it cannot be stored, the key is made from the folder's inode.
    """
    path = os.path.join(state_folder(), _INDEX_SECRET_FILE)
    secret: bytes | None = None
    with suppress(CommonplaceError, OSError):
        if not read_bytes_or_none(path, path):
            make_folders(state_folder())
            write_file(path, os.urandom(_SECRET_BYTES))
        secret = read_bytes_or_none(path, path)
    if not secret:
        info = os.stat(folder)
        secret = f"{info.st_dev} {info.st_ino}".encode()
    return hmac.new(secret, os.fsencode(os.path.realpath(folder)), "sha256").hexdigest()


def list_trusted() -> list[tuple[str, HomeRecord]]:
    """Return every folder that the user has approved something of, by path."""
    return [(folder, _parse(each)) for folder, each in sorted(_read_all().items())]


def require_owner(folder: str) -> None:
    """Raise Refused for a folder that belongs to another user, unless this user trusts it."""
    if not hasattr(os, "geteuid"):  # Windows
        return
    try:
        owner = os.stat(folder).st_uid
    except OSError:
        return
    if owner != os.geteuid() and read_record(folder).owner != owner:
        problem = f"{folder} belongs to another user, and is not opened unless you trust it"
        raise Refused(problem, advice=f"look at it, then run `{format_command('trust', folder)}`")


class Trust:
    """How far this user trusts one opened memory. `folder` is empty for one that is not a folder of this machine."""

    def __init__(self, folder: str = "", *, is_found: bool = False, is_shared: bool = False) -> None:
        self.folder = folder
        self.is_shared = is_shared  # one of many memories on a server, which may use only what the server offers
        self._record = read_record(folder) if folder and is_found else HomeRecord()
        self.is_own = not folder or not is_found or _is_made_by_user(folder, self._record)

    def allows_file(self, path: str, data: bytes) -> bool:
        """Return whether a settings file or a rule counts as it is."""
        return self.is_own or self._record.files.get(path) == hash_file(data)

    def allows_token(self, token: Token) -> bool:
        return self.is_own or token.fingerprint in self._record.tokens

    @property
    def is_reviewed(self) -> bool:
        """Return whether the user made, named or reviewed this memory."""
        return self.is_own or self._record.is_reviewed

    def approve(self, files: Mapping[str, bytes], tokens: Iterable[str] = (), *, is_review: bool = False) -> None:
        """Approve files as they are now, and tokens. In the user's own memory, everything counts anyway. `is_review`:
        the user looked at the whole memory."""
        if self.is_own:
            return
        hashes = {path: hash_file(data) for path, data in files.items()}

        def add(record: HomeRecord) -> HomeRecord:
            digests = dict.fromkeys([*record.tokens, *tokens])
            is_reviewed = record.is_reviewed or is_review
            return record._replace(files={**record.files, **hashes}, tokens=tuple(digests), is_reviewed=is_reviewed)

        update_record(self.folder, add)
        self._record = read_record(self.folder)


class TrustedTokens:
    """The access tokens of a found memory, without those that the user neither made nor approved."""

    def __init__(self, store: TokenStore, trust: Trust) -> None:
        self._store = store
        self._trust = trust
        self.tenant = store.tenant
        self.is_immediate = store.is_immediate

    def list_tokens(self) -> list[Token]:
        return [token for token in self._store.list_tokens() if self._trust.allows_token(token)]

    def add(self, token: Token) -> None:
        self._store.add(token)
        self._trust.approve({}, [token.fingerprint])

    def revoke(self, name: str, at: str) -> Token:
        return self._store.revoke(name, at)

    def record_call(self, call: Call) -> None:
        self._store.record_call(call)

    def recent_calls(self, last: int) -> list[Call]:
        return self._store.recent_calls(last)

    def close(self) -> None:
        self._store.close()


def open_trusted_tokens(address: str, *, is_found: bool) -> TokenStore:
    """Open the access tokens of a memory, as far as the user trusts it."""
    require_owner(address)
    store = open_tokens(address)
    trust = Trust(address, is_found=True) if is_found else Trust()
    return store if trust.is_own else TrustedTokens(store, trust)


def _is_made_by_user(folder: str, record: HomeRecord) -> bool:
    if is_default_memory(folder):
        return True
    place = os.path.realpath(folder)
    if not record.made or not _has_inode(place, record.made):
        return False
    if not record.mark:
        _mark_earlier_home(place)
        return True
    return hmac.compare_digest(_read_mark(place), record.mark)


def _has_inode(place: str, inode: int) -> bool:
    """Return whether a folder may be the one that was recorded; inodes of removed folders are reused."""
    try:
        return os.stat(place).st_ino == inode
    except OSError:
        return False


def _mark_earlier_home(place: str) -> None:
    """Mark a memory that an earlier version made without a mark, if it can be written to."""

    def add(record: HomeRecord) -> HomeRecord:
        if record.mark or not record.made or not _has_inode(place, record.made):  # another process already did
            return record
        return record._replace(mark=_write_mark(place))

    with suppress(CommonplaceError, OSError):
        update_record(place, add)


def _write_mark(place: str) -> str:
    """Write a new mark into a memory, replacing any other, and return its hash."""
    mark = os.urandom(_MARK_BYTES).hex().encode()
    file_path = os.path.join(place, MARK_FILE)
    with suppress(FileExistsError):
        os.mkdir(os.path.dirname(file_path), PRIVATE_FOLDER_MODE)
    with open_own_entry(file_path) as (file, dir_fd):
        with suppress(FileNotFoundError):  # a new file is private, and one that is replaced would keep its mode
            os.unlink(file, dir_fd=dir_fd)
        write_file(file, mark, dir_fd=dir_fd)
    return hash_file(mark)


def _read_mark(place: str) -> str:
    """Return the hash of a memory's mark; empty if there is none, or if its path contains a link."""
    try:
        with open_own_entry(os.path.join(place, MARK_FILE)) as (file, dir_fd):
            data = read_bytes_or_none(file, MARK_FILE, dir_fd=dir_fd)
    except (CommonplaceError, OSError):
        return ""
    return "" if data is None else hash_file(data)


def _path() -> str:
    return os.path.join(config_folder(), RECORD_FILE)


def _read_all() -> dict[str, Any]:
    data = read_bytes_or_none(_path(), RECORD_FILE)
    if data is None:
        return {}
    try:
        homes = json.loads(data)["homes"]
        return {str(folder): dict(each) for folder, each in homes.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError("not as `commonplace trust` writes it", path=_path(), advice="remove it") from error


def _parse(values: dict[str, Any]) -> HomeRecord:
    known = {name: value for name, value in values.items() if name in HomeRecord._fields}
    return HomeRecord(**{**known, "tokens": tuple(known.get("tokens", ()))})
