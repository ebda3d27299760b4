"""What goes wrong with the server, as one of our errors, with what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import CommonplaceError, ConnectionLost, InvalidArgument, StorageError

ROLE = "commonplace_member"  # what every transaction runs as: row-level security does not bind owners of everything
# What a server, or the way to it, says when a connection can not be made; and what helps. Trying again does not.
_NEXT_STEPS = (
    ("password authentication failed", "see the user in the URL, and the password in ~/.pgpass or PGPASSWORD"),
    ("no password supplied", "put the password into ~/.pgpass or PGPASSWORD"),
    ("no pg_hba.conf entry", "have an administrator let this user in from here, in pg_hba.conf"),
    ('database ".*" does not exist', "see its name in the URL, or make it: createdb, then `commonplace db init`"),
    ('role ".*" does not exist', "see the user in the URL, or have an administrator make it with CREATE ROLE"),
    ("certificate|SSL was required|SSL is not enabled", "see sslmode, sslrootcert and the name of the host in the URL"),
)
_FULL = ("too many clients", "remaining connection slots", "no more connections allowed")


@contextmanager
def told_errors() -> Iterator[None]:
    """What is to be tried again as a whole stays what it is."""
    import psycopg

    try:
        yield
    except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
        raise
    except psycopg.Error as error:
        raise told(error) from error


def told(error: Exception) -> CommonplaceError:
    import psycopg

    text = str(error).strip().partition("\n")[0]
    if _is_unmade(error):
        return StorageError("the database has not all tables of commonplace: run `commonplace db migrate`")
    if isinstance(error, psycopg.errors.QueryCanceled):
        return StorageError("the database took too long over a statement: try again, or ask for less")
    if isinstance(error, psycopg.errors.InsufficientPrivilege) and ("set role" in text or "for schema" in text):
        step = f"have an owner run `commonplace db grant` for one tenant, or GRANT {ROLE} TO the user for all"
        return StorageError(f"this user may not use the memory ({text}): {step}")
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        step = "name all hosts in the URL, with target_session_attrs=read-write"
        return ConnectionLost(f"the server that answered takes no writes ({text}): {step}")
    if isinstance(error, psycopg.DataError) and "NUL" in text:
        return InvalidArgument("a text has a null character in it, which a database does not take: take it out")
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return _unreachable(str(error), text)
    return StorageError(f"the database refused ({text}): see `commonplace db status`")


def _unreachable(whole: str, text: str) -> StorageError:
    if any(full in whole for full in _FULL):
        return ConnectionLost(f"the database has no connection left ({text}): put a pooler between, or close others")
    for sign, step in _NEXT_STEPS:
        if re.search(sign, whole):
            return StorageError(f"the database can not be reached ({text}): {step}")
    step = "see that it runs, and that the URL names its host and port, then try again"
    return ConnectionLost(f"the database can not be reached ({text}): {step}")


def _is_unmade(error: Exception) -> bool:
    import psycopg

    kinds = (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedColumn)
    if isinstance(error, kinds):
        return True
    return isinstance(error, psycopg.errors.InvalidParameterValue) and ROLE in str(error)
