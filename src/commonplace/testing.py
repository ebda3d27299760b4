"""For our tests and yours: a clock that stands still, pages in memory, and the contract every kind of pages keeps.

Subclass `PagesContract`, say how pages are made, and pytest runs the whole contract over them.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from .errors import OutsideHome, PageNotFound, StaleVersion
from .model import Page
from .storage.base import ABSENT, Changes, Pages, Paths, Root, Sentences, Suffix, Texts


class FrozenClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        """Move on, by what `timedelta` takes: advance(minutes=5)."""
        self.now += timedelta(**by)


class MemoryPages:
    """Pages that live as long as the process does."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._lock = threading.RLock()
        self._areas: dict[str, threading.Lock] = {}

    def _check(self, path: str) -> None:
        if not path or path.startswith(("/", "~")) or ".." in path.split("/") or "\0" in path or "\\" in path:
            raise OutsideHome(f"{path!r} is not a path inside the home")

    def read(self, path: str) -> Page:
        self._check(path)
        with self._lock:
            if path not in self._texts:
                raise PageNotFound(path)
            return Page(path, self._texts[path], _version(self._texts[path]))

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        self._check(path)
        with self._lock:
            self._expect(path, if_version)
            self._texts[path] = text
            return _version(text)

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        self._check(path)
        with self._lock:
            old = self._texts.get(path, "")
            new = change(old)
            if new != old:
                self._texts[path] = new
            return _version(new)

    def append(self, path: str, text: str) -> str:
        return self.edit(path, lambda old: old + text)

    def rewrite(self, path: str, text: str) -> str:
        return self.write(path, text)

    def mark_read(self, page: Page) -> None:
        """Nobody else writes here."""

    def record_outside_edits(self, paths: Iterable[str]) -> None:
        """Nor are earlier versions kept."""

    def remove(self, path: str, if_version: str | None = None) -> None:
        self._check(path)
        with self._lock:
            if path not in self._texts:
                raise PageNotFound(path)
            self._expect(path, if_version)
            del self._texts[path]

    def list(self, folder: str, suffix: Suffix = ".md", *, deep: bool = False) -> Paths:
        inside = (path for path in self._below(folder) if path.endswith(suffix))
        return sorted(path for path in inside if deep or "/" not in path.removeprefix(f"{folder}/"))

    def find_text(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        found = ((path, self._texts[path]) for path in self.list(folder, deep=True))
        return [each for each in found if text in each[1]], []

    def list_folders(self, folder: str) -> Paths:
        inside = (path.removeprefix(f"{folder}/") for path in self._below(folder))
        return sorted({path.split("/")[0] for path in inside if "/" in path})

    def modified_at(self, path: str) -> float:
        self.read(path)
        return 0.0

    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        seen: dict[str, int] = {}
        for root in roots:
            paths = [root.path] if root.is_page else self.list(root.path, root.suffix, deep=True)
            chosen = (path for path in paths if root.pattern is None or root.pattern.fullmatch(path))
            seen.update((path, hash(self._texts[path])) for path in chosen if path in self._texts)
        changed = {path: stamp for path, stamp in seen.items() if known.get(path) != stamp}
        return Changes(changed, tuple(path for path in known if path not in seen))

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        with self._lock:
            area = self._areas.setdefault(name, threading.Lock())
        with area:
            yield

    def _below(self, folder: str) -> Paths:
        with self._lock:
            return [path for path in self._texts if path.startswith(f"{folder}/")]

    def _expect(self, path: str, version: str | None) -> None:
        current = _version(self._texts[path]) if path in self._texts else ABSENT
        if version is not None and version != current:
            raise StaleVersion(path)


def _version(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class PagesContract:
    """What holds for every kind of pages."""

    def make_pages(self) -> Pages:
        raise NotImplementedError("say how pages are made")

    def test_what_is_written_is_read_back_exactly(self) -> None:
        pages = self.make_pages()
        text = "a\r\nb\x0b\x85\u2028---\n\ufeff 日本 \U0001f642\n\n"
        version = pages.write("memory/a.md", text)
        assert pages.read("memory/a.md") == Page("memory/a.md", text, version)

    def test_a_page_that_is_not_there_is_not_found(self) -> None:
        pages = self.make_pages()
        for act in (pages.read, pages.remove, pages.modified_at):
            _raises(PageNotFound, act, "memory/none.md")

    def test_a_stale_version_writes_nothing(self) -> None:
        pages = self.make_pages()
        first = pages.write("memory/a.md", "one")
        pages.write("memory/a.md", "two", if_version=first)
        _raises(StaleVersion, pages.write, "memory/a.md", "three", first)
        _raises(StaleVersion, pages.write, "memory/a.md", "three", ABSENT)
        _raises(StaleVersion, pages.remove, "memory/a.md", first)
        assert pages.read("memory/a.md").text == "two"

    def test_absent_as_version_creates_and_never_overwrites(self) -> None:
        pages = self.make_pages()
        pages.write("memory/a.md", "one", if_version=ABSENT)
        _raises(StaleVersion, pages.write, "memory/a.md", "two", ABSENT)
        assert pages.read("memory/a.md").text == "one"

    def test_equal_text_has_an_equal_version(self) -> None:
        pages = self.make_pages()
        assert pages.write("memory/a.md", "same") == pages.write("memory/b.md", "same")
        assert pages.write("memory/a.md", "other") != pages.read("memory/b.md").version

    def test_an_edit_sees_what_stands_and_creates_what_does_not(self) -> None:
        pages = self.make_pages()
        pages.edit("memory/a.md", lambda old: old + "one\n")
        pages.edit("memory/a.md", lambda old: old + "two\n")
        pages.append("memory/a.md", "three\n")
        assert pages.read("memory/a.md").text == "one\ntwo\nthree\n"

    def test_an_edit_that_fails_changes_nothing(self) -> None:
        pages = self.make_pages()
        pages.write("memory/a.md", "one")

        def fail(_: str) -> str:
            raise KeyError("no")

        _raises(KeyError, pages.edit, "memory/a.md", fail)
        assert pages.read("memory/a.md").text == "one"

    def test_threads_that_append_to_one_page_lose_nothing(self) -> None:
        pages = self.make_pages()
        names = [f"line {number}\n" for number in range(40)]
        threads = [threading.Thread(target=pages.append, args=("memory/a.md", name)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(pages.read("memory/a.md").text.splitlines(keepends=True)) == sorted(names)

    def test_pages_are_listed_by_folder(self) -> None:
        pages = self.make_pages()
        for path in ("memory/b.md", "memory/a.md", "memory/deep/c.md", "memory/d.txt", "other/e.md"):
            pages.write(path, "x")
        assert pages.list("memory") == ["memory/a.md", "memory/b.md"]
        assert pages.list("memory", deep=True) == ["memory/a.md", "memory/b.md", "memory/deep/c.md"]
        assert pages.list("nowhere") == []
        assert pages.list_folders("memory") == ["deep"]

    def test_pages_that_hold_a_text_are_found(self) -> None:
        pages = self.make_pages()
        pages.write("memory/a.md", "tea")
        pages.write("memory/deep/b.md", "green tea\n")
        pages.write("memory/c.md", "coffee")
        assert pages.find_text("memory", "tea") == ([("memory/a.md", "tea"), ("memory/deep/b.md", "green tea\n")], [])

    def test_no_path_leaves_the_home(self) -> None:
        pages = self.make_pages()
        for path in ("", "/etc/passwd", "../x.md", "memory/../../x.md", "~/x.md", "a\\..\\x.md", "a\0.md"):
            _raises(OutsideHome, pages.read, path)
            _raises(OutsideHome, pages.write, path, "x")

    def test_changes_tell_what_is_new_and_what_is_gone(self) -> None:
        pages = self.make_pages()
        pages.write("memory/a.md", "one")
        pages.write("memory/b.md", "two")
        roots = [Root("memory"), Root("MEMORY.md", is_page=True)]
        first = pages.changes({}, roots)
        assert set(first.changed) == {"memory/a.md", "memory/b.md"}
        pages.remove("memory/a.md")
        pages.write("MEMORY.md", "three")
        second = pages.changes(dict(first.changed), roots)
        assert "MEMORY.md" in second.changed
        assert second.removed == ("memory/a.md",)

    def test_changes_look_only_where_they_are_told_to(self) -> None:
        pages = self.make_pages()
        for path in ("docs/a.md", "docs/deep/b.md", "docs/c.jsonl", "other/d.md"):
            pages.write(path, "x")
        by_pattern = Root("docs", pattern=re.compile(r"docs/[^/]*\.md"))
        assert set(pages.changes({}, [by_pattern]).changed) == {"docs/a.md"}
        assert set(pages.changes({}, [Root("docs", ".jsonl")]).changed) == {"docs/c.jsonl"}

    def test_what_is_held_is_held_by_one_at_a_time(self) -> None:
        pages = self.make_pages()
        inside: list[str] = []

        def work(name: str) -> None:
            with pages.lock("area"):
                inside.append(f"{name} in")
                pages.append("memory/a.md", name)
                inside.append(f"{name} out")

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [entry[0] for entry in inside[::2]] == [entry[0] for entry in inside[1::2]]


def _raises(kind: type[Exception], act: Callable[..., object], *arguments: object) -> None:
    try:
        act(*arguments)
    except kind:
        return
    raise AssertionError(f"{act} did not raise {kind.__name__}")
