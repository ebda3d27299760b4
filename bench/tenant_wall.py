"""What the policies of tenants cost: the same memory before and after a migration, asked in turn by a bound login.

    python bench/tenant_wall.py --passages 20000 --before 9

A database is loaded with the migrations up to `--before`, copied, and the copy is migrated further. Searches, writes
and reads then alternate between the two, so that whatever else runs on the machine slows down both.
"""

from __future__ import annotations

import argparse
import secrets
import statistics
from collections.abc import Callable
from itertools import islice
from urllib.parse import urlsplit, urlunsplit

from scale import PER_PAGE, SEED, Language, database, in_bulk, load, page, seconds

from commonplace import Memory
from commonplace.storage.postgres import migrate as migrations
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.migrate import bind_login
from commonplace.storage.postgres.url import parse_url, with_tenant

TENANT = "acme"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--passages", type=int, default=20_000)
    options.add_argument("--before", type=int, default=9, help="the last migration of the database to compare with")
    options.add_argument("--turns", type=int, default=200)
    given = options.parse_args()
    with database(None) as server:
        before, after = prepare(server, given.passages, given.before)
        with Memory(before) as old, Memory(after) as new:
            compare(old, new, given.turns)


def prepare(server: str, passages: int, last: int) -> tuple[str, str]:
    """Return the URLs of a loaded database and of its migrated copy, as a login that is bound to the tenant."""
    login = f"bench_{secrets.token_hex(4)}"
    run(server, "CREATE DATABASE before")
    before, after = (with_tenant(on(server, name), TENANT) for name in ("before", "after"))
    known = migrations.known_migrations
    migrations.known_migrations = lambda *_: known()[:last]  # type: ignore[assignment]
    migrations.migrate(Database(parse_url(before)))
    fill(before, passages)
    bind_login(Database(parse_url(before)), login)
    migrations.known_migrations = known
    run(server, "CREATE DATABASE after TEMPLATE before")
    migrations.migrate(Database(parse_url(after)))
    for migration in known()[last:]:  # so that this program takes the tables as they are
        run(before, f"INSERT INTO commonplace.migrations (number, name) VALUES ({migration.number}, 'none')")
    for url in (before, after):
        run(url, "VACUUM ANALYZE")
    migrations._migrated.clear()
    return as_login(before, login), as_login(after, login)


def fill(url: str, passages: int) -> None:
    language = Language(SEED)
    pages = ((f"memory/{n // 500:03}/{n}.md", page(language)) for n in range(-(-passages // PER_PAGE)))
    with Memory(url) as memory:
        load(memory, dict(islice(pages, 10)))
        in_bulk(url, pages)
        memory.home.build_index(lambda *_: None)
        memory.close()


def run(url: str, statement: str) -> None:
    with Database(parse_url(url)).admin_connection() as connection:
        connection.execute(statement.encode())


def on(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def as_login(url: str, login: str) -> str:
    return url.replace("postgres:", f"{login}:", 1)


def compare(old: Memory, new: Memory, turns: int) -> None:
    language = Language(SEED + 1)
    questions = [language.text(8) for _ in range(turns)]

    def search(memory: Memory, number: int) -> object:
        return memory.search(questions[number])

    def search_words(memory: Memory, number: int) -> object:
        return memory.home.search(questions[number], mode="keyword")

    def write(memory: Memory, number: int) -> object:
        return memory.home.storage.pages.write(f"memory/bench/{number}.md", questions[number])

    def set_key(memory: Memory, number: int) -> object:
        return memory.call("MemoryTool", {"op": "setGlobal", "key": f"k{number}", "value": questions[number]})

    def read(memory: Memory, number: int) -> object:
        return memory.home.storage.pages.read("memory/000/1.md")

    print(f"{'':24}{'before, ms':>12}{'after, ms':>12}{'ratio':>8}")
    for act in (search, search_words, write, set_key, read):
        show(act.__name__, act, (old, new), turns)


def show(name: str, act: Callable[[Memory, int], object], memories: tuple[Memory, Memory], turns: int) -> None:
    times: tuple[list[float], list[float]] = ([], [])
    for memory in memories:
        act(memory, 0)
    for number in range(1, turns):
        for place in (0, 1) if number % 2 else (1, 0):
            times[place].append(1000 * seconds(lambda m=memories[place], n=number: act(m, n)))  # type: ignore[misc]
    before, after = (statistics.median(each) for each in times)
    print(f"{name + ' p50':24}{before:12.2f}{after:12.2f}{after / before:8.2f}", flush=True)


if __name__ == "__main__":
    main()
