"""A writer of its own process: `python -m tests.postgres.writer URL NAME KEYS TIMES` writes until it is done, and prints
a line for each write that was acknowledged."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from commonplace.errors import StaleVersion
from commonplace.storage.base import Pages
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.locks import NamedLocks
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import parse_url


def pages_at(url: str) -> tuple[Database, PostgresPages]:
    database = Database(parse_url(url))
    history = PostgresHistory(database, lambda: datetime.now(UTC))
    pages = PostgresPages(database, lambda path, size: None, history)
    pages._locks = NamedLocks(database, timeout_seconds=120)  # sixteen writers on a busy machine stand in a long line
    return database, pages


def add_one(pages: Pages, path: str) -> None:
    """By version, as who reads first and writes later."""
    while True:
        page = pages.read(path)
        try:
            pages.write(path, f"{int(page.text) + 1}", if_version=page.version)
            return
        except StaleVersion:
            continue


def main(url: str, name: str, keys: str, times: str) -> None:
    database, pages = pages_at(url)
    for number in range(int(times)):
        key = number % int(keys)
        pages.append(f"memory/hot-{key}.md", f"{name}-{number}\n")
        print(f"{name}-{number}", flush=True)
        if number % 4 == 0:
            with pages.lock("area"):
                add_one(pages, "memory/held.md")
            add_one(pages, "memory/count.md")
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
