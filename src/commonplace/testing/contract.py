"""The contract of every storage backend, as tests to subclass; and a clock that only a test moves."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cached_property

from .. import settings as settings_of
from ..errors import NotFound, OutsideHome, PageNotFound, StaleVersion
from ..model import Page
from ..storage.base import ABSENT, PageElsewhere, Pages, Retention, Root, Storage
from ..storage.history import Author, Versions, find_past_pages, write_as
from ..storage.tokens import Call, Token


class FrozenClock:
    """A clock that moves only when a test moves it."""

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        """Move on, by what `timedelta` takes: advance(minutes=5)."""
        self.now += timedelta(**by)


class PagesContract:
    """The contract of the pages of every storage."""

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
        _raises(StaleVersion, pages.reaffirm, "memory/a.md", first)
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

    def test_folders_are_listed_by_the_pages_in_them(self) -> None:
        pages = self.make_pages()
        for path in ("memory/a/x.md", "memory/b/y.md", "memory/c/z.md", "memory/d/deep/x.md", "memory/x.md"):
            pages.write(path, "x")
        assert pages.list_folders_with("memory", ["x.md", "y.md"]) == ["a", "b"]
        pages.remove("memory/a/x.md")
        assert pages.list_folders_with("memory", ["x.md"]) == []
        assert pages.list_folders_with("nowhere", ["x.md"]) == []

    def test_the_only_page_of_its_name_is_written_unless_another_folder_has_one(self) -> None:
        pages = self.make_pages()
        pages.edit_unique("memory/a/x.md", lambda old: f"{old}one\n", "x")
        pages.edit_unique("memory/a/x.md", lambda old: f"{old}two\n", "x")
        pages.edit_unique("memory/a/x.md", lambda old: old, "x")
        assert pages.read("memory/a/x.md").text == "one\ntwo\n"
        _raises(PageElsewhere, pages.edit_unique, "memory/b/x.md", str.upper, "x")
        assert pages.list("memory", deep=True) == ["memory/a/x.md"]
        pages.write("memory/b/x.md", "three")
        _raises(PageElsewhere, pages.edit_unique, "memory/a/x.md", str.upper, "x")
        pages.remove("memory/b/x.md")
        pages.edit_unique("memory/a/x.md", str.upper, "x")
        assert pages.read("memory/a/x.md").text == "ONE\nTWO\n"

    def test_of_many_who_write_a_page_of_one_name_in_different_folders_one_does(self) -> None:
        pages = self.make_pages()
        refused: list[str] = []

        def work(folder: str) -> None:
            try:
                pages.edit_unique(f"memory/{folder}/x.md", lambda _: folder, "x")
            except PageElsewhere:
                refused.append(folder)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(pages.list("memory", deep=True)) == 1
        assert len(refused) == 5

    def test_the_only_page_of_its_name_waits_for_who_holds_its_lock(self) -> None:
        pages = self.make_pages()
        with pages.lock("x"):
            thread = threading.Thread(target=pages.edit_unique, args=("memory/a/x.md", lambda _: "mine", "x"))
            thread.start()
            pages.write("memory/a/x.md", "theirs")
        thread.join()
        assert pages.read("memory/a/x.md").text == "mine"

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


class StorageContract(PagesContract):
    """The contract of every storage."""

    @cached_property
    def clock(self) -> FrozenClock:
        return FrozenClock()

    def make_storage(self) -> Storage:
        """Return an empty storage, whose clock is `self.clock`."""
        raise NotImplementedError("say how a storage is opened")

    def make_pages(self) -> Pages:
        return self.make_storage().pages

    def test_it_has_a_name_and_settings(self) -> None:
        storage = self.make_storage()
        assert storage.name
        assert storage.settings.layout == "native"
        assert storage.read_settings_text(settings_of.FILE) is None
        assert storage.current_settings_version() == storage.settings_version
        storage.pages.write(settings_of.FILE, "timezone: Europe/Paris\n")
        assert storage.current_settings_version() != storage.settings_version
        assert storage.read_settings_text(settings_of.FILE) == "timezone: Europe/Paris\n"

    def test_it_says_what_is_there(self) -> None:
        storage = self.make_storage()
        storage.pages.write("memory/deep/a.md", "one")
        assert storage.exists("memory/deep/a.md")
        assert not storage.exists("memory/b.md")
        assert storage.has_folder("memory", "deep")
        assert not storage.has_folder("memory", "a.md")
        assert storage.read_bytes("memory/deep/a.md") == b"one"
        assert storage.read_bytes("memory/b.md") is None
        assert storage.page_size("memory/deep/a.md") in (3, None)
        assert list(storage.modified_times(["memory/deep/a.md", "memory/b.md"])) == ["memory/deep/a.md"]
        assert storage.display_path("memory/deep/a.md").endswith("memory/deep/a.md")

    def test_every_version_of_a_page_is_kept_with_its_author(self) -> None:
        storage = self.make_storage()
        author = Author("remember", "main", "s1", "because", "c1")
        with write_as(author):
            first = storage.pages.write("memory/a.md", "one")
            self.clock.advance(minutes=5)
            second = storage.pages.write("memory/a.md", "two")
            storage.pages.remove("memory/a.md")
        changes = storage.history.changes("memory/a.md")
        assert [(change.before, change.version, change.at[11:16]) for change in changes] == [
            (ABSENT, first, "09:26"),
            (first, second, "09:31"),
            (second, ABSENT, "09:31"),
        ]
        assert {change.author for change in changes} == {author}
        head = storage.history.head("memory/a.md")
        assert head
        assert (head.version, head.by) == (ABSENT, author)
        assert [data for _, data in storage.history.versions("memory/a.md")] == [b"one", b"two", None]
        assert storage.history.read_version("memory/a.md", first) == b"one"
        assert storage.history.change(changes[1].id) == changes[1]
        assert storage.history.changes() == changes
        assert storage.history.paths() == ["memory/a.md"]
        _raises(NotFound, storage.history.read_version, "memory/a.md", "0" * 32)

    def test_what_pages_were_at_a_moment_follows_from_what_changed_since(self) -> None:
        storage = self.make_storage()
        history = storage.history
        assert history.past_pages("2001-01-01") == {}
        with write_as(Author("remember", "main", why='says "depth": 3')):
            first = storage.pages.write("memory/a.md", "one")
            storage.pages.write('memory/"b" ü.md', "1")
            storage.pages.write("memory/a.md", "two")
            storage.pages.remove("memory/a.md")
        for moment in ("2001-01-01", *(change.at for change in history.changes())):
            assert history.past_pages(moment) == find_past_pages(history.changes(), moment)
        assert history.past_pages("2001-01-01")["memory/a.md"] == (ABSENT, "", first, ABSENT)

    def test_a_change_is_named_by_the_beginning_of_its_id_if_no_other_begins_so(self) -> None:
        storage = self.make_storage()
        for number in range(20):  # more than there are first digits
            storage.pages.write("memory/a.md", f"{number}")
        change = storage.history.changes("memory/a.md")[7]
        assert storage.history.change(change.id) == change
        for name in ("", "no id", "zzz", "%", "g~"):
            _raises(NotFound, storage.history.change, name)

    def test_a_page_of_many_versions_gives_back_each(self) -> None:
        storage = self.make_storage()
        text = "".join(f"line {number}\n" for number in range(100))
        texts = [text := f"{text}more {number}\n" for number in range(120)]
        versions = [storage.pages.write("memory/a.md", each) for each in texts]
        for number in (0, 1, 50, 51, 52, 118, 119):
            assert storage.history.read_version("memory/a.md", versions[number]) == texts[number].encode()
        newest = storage.history.versions("memory/a.md", 3)
        assert [data for _, data in newest] == [each.encode() for each in texts[-3:]]
        assert dict(storage.history.iterate_pages()) == {"memory/a.md": storage.history.versions("memory/a.md")}

    def test_old_history_goes_and_the_last_version_of_a_page_stays(self) -> None:
        storage = self.make_storage()
        storage.pages.write("memory/a.md", "one\n")
        storage.pages.append("memory/a.md", "two\n")
        storage.pages.write("memory/gone.md", "x\n")
        storage.pages.remove("memory/gone.md")
        self.clock.advance(days=30)
        storage.pages.write("memory/b.md", "young\n")
        assert storage.history.prune(Retention(days=31)) == 0
        assert storage.history.prune(Retention(days=7)) == 3
        assert storage.history.paths() == ["memory/a.md", "memory/b.md"]
        storage.pages.append("memory/a.md", "three\n")
        versions = [data for _, data in storage.history.versions("memory/a.md")]
        assert versions == [b"one\ntwo\n", b"one\ntwo\nthree\n"]
        assert storage.history.prune(Retention(days=7)) == 1
        assert storage.history.prune(Retention(days=7)) == 0

    def test_history_of_more_than_so_many_bytes_keeps_the_youngest(self) -> None:
        storage = self.make_storage()
        for number in range(20):
            self.clock.advance(seconds=1)
            storage.pages.write(f"{number}.md", os.urandom(2_000).hex())
            storage.pages.write(f"{number}.md", "short\n")
        storage.history.prune(Retention(size=20_000))
        assert storage.history.size() <= 20_000 + 20 * 500
        assert len(storage.history.versions("19.md")) == 2
        assert [data for _, data in storage.history.versions("0.md")] == [b"short\n"]

    def test_a_rewrite_sees_what_others_wrote_and_decides_what_stays(self) -> None:
        storage = self.make_storage()
        storage.pages.write("memory/a.md", "one\ntwo\n")
        storage.pages.mark_read(storage.pages.read("memory/a.md"))
        storage.pages.write("memory/a.md", "one\nTWO\n")

        def merge(current: str) -> str:
            assert current == "one\nTWO\n"
            return "three\n"

        with write_as(Author("reflect")) as call:
            version = storage.pages.rewrite("memory/a.md", merge)
        assert storage.pages.read("memory/a.md") == Page("memory/a.md", "three\n", version)
        assert not call.conflicts

        def start(current: str) -> str:
            assert current == ""
            return "new\n"

        storage.pages.rewrite("memory/b.md", start)
        assert storage.pages.read("memory/b.md").text == "new\n"

    def test_a_change_that_drops_what_others_wrote_since_a_page_was_read_is_reported(self) -> None:
        storage = self.make_storage()
        storage.pages.write("memory/a.md", "one\ntwo\n")
        seen = storage.pages.read("memory/a.md")
        storage.pages.write("memory/a.md", "one\nTWO\n")
        storage.pages.mark_read(seen)
        with write_as(Author("memory_update")) as call:
            storage.pages.write("memory/a.md", "one\n")
        assert "some of those changes are no longer in it" in call.conflicts[0]

    def test_history_is_rewritten_by_choice(self) -> None:
        storage = self.make_storage()
        for text in ("one", "secret", "three"):
            storage.pages.write("memory/a.md", text)

        def without_secret(_path: str, versions: Versions) -> Versions:
            return [each for each in versions if each[1] != b"secret"]

        assert storage.history.rewrite(without_secret) == 1
        assert [data for _, data in storage.history.versions("memory/a.md")] == [b"one", b"three"]

    def test_a_transcript_grows_and_gives_back_its_end(self) -> None:
        transcript = self.make_storage().open_transcript("agents/main/sessions/a.jsonl")
        assert transcript.items() == []
        assert transcript.pop() is None
        transcript.add([{"n": 1}, {"n": 2}])
        transcript.add([{"n": 3, "text": "日本\u2028"}])
        assert transcript.items(2) == [{"n": 2}, {"n": 3, "text": "日本\u2028"}]
        assert transcript.pop() == {"n": 3, "text": "日本\u2028"}
        assert transcript.items() == [{"n": 1}, {"n": 2}]

    def test_tokens_and_calls_are_kept(self) -> None:
        storage = self.make_storage()
        storage.pages.write("memory/a.md", "one")
        tokens = storage.tokens
        token = Token("ab12", "digest", ("ann",), "read", "laptop", "2026-03-14T00:00:00Z")
        call = Call("2026-03-14T00:00:00Z", "ab12", "ann", "recall", "", "ok", "")
        tokens.add(token)
        tokens.record_call(call)
        assert tokens.list_tokens() == [token]
        assert tokens.revoke("ab12", "2026-03-15T00:00:00Z").revoked_at == "2026-03-15T00:00:00Z"
        assert tokens.recent_calls(10) == [call]
        _raises(NotFound, tokens.revoke, "ffff", "2026-03-15T00:00:00Z")


def _raises(kind: type[Exception], act: Callable[..., object], *arguments: object) -> None:
    try:
        act(*arguments)
    except kind:
        return
    raise AssertionError(f"{act} did not raise {kind.__name__}")
