"""Archives from strangers: whatever is wrong with one, a sentence says so, and nothing at all is written."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, Refused, StorageError
from commonplace.home import Home
from commonplace.maintenance.backup import import_from
from commonplace.maintenance.backup.archive import Limits

from .places import export_home, import_archive, put

FIRST = {"format": "commonplace", "version": 1}
PAGE = {"path": "memory/a.md", "text": "x", "modified": "0"}


def tar_of(*members: tarfile.TarInfo | str, data: bytes = b"x", format: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as tar:
        for member in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(data) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def lines_of(*lines: Any) -> bytes:
    return b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)


def check_refusal(home: Path, archive: bytes, words: str, kind: type[CommonplaceError] = CommonplaceError) -> None:
    """Refused in words, with nothing written: neither in the home nor beside it."""
    before = sorted(home.parent.rglob("*"))
    for overwrite in (False, True):
        with pytest.raises(kind, match=words):
            import_archive(home, archive, overwrite=overwrite)
    assert sorted(home.parent.rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../outside.md",
        "memory/../../outside.md",
        "memory/./a.md",
        "memory//a.md",
        "~/a.md",
        "C:/a.md",
        "memory/a\\b.md",
        ".index/words.sqlite",
        ".locks/page-00",
        ".git/hooks/pre-commit",
        "memory/.git/hooks/pre-commit",
        "memory/.a.md.0123456789ab.tmp",
        "Makefile",
        ".bashrc",
        "agents",
    ],
)
def test_paths_that_are_no_places_of_memory_are_refused(home: Path, path: str) -> None:
    check_refusal(home, tar_of("memory/good.md", path), "nothing was imported", Refused)
    check_refusal(home, lines_of(FIRST, PAGE, PAGE | {"path": path}), "nothing was imported", Refused)


def test_names_with_null_or_without_utf8_are_refused(home: Path) -> None:
    info = tarfile.TarInfo("memory/a.md")
    info.pax_headers = {"path": "memory/a\0b.md"}
    check_refusal(home, tar_of(info), "null character", Refused)
    check_refusal(home, tar_of("memory/\udcff.md", format=tarfile.GNU_FORMAT), "not UTF-8", Refused)
    check_refusal(home, lines_of(FIRST, PAGE | {"path": "memory/\0.md"}), "null character", Refused)
    check_refusal(home, lines_of(FIRST, PAGE | {"path": "memory/\ud83d.md"}), "not UTF-8", Refused)


@pytest.mark.parametrize(
    "member",
    [
        special("memory/a.md", tarfile.SYMTYPE, "/etc/passwd"),
        special("memory/a.md", tarfile.LNKTYPE, "memory/good.md"),
        special("memory/a.md", tarfile.CHRTYPE),
        special("memory/a.md", tarfile.BLKTYPE),
        special("memory/a.md", tarfile.FIFOTYPE),
        special("memory/a.md", tarfile.GNUTYPE_SPARSE),
        special("memory/a.md", b"V"),
    ],
    ids=lambda member: repr(member.type),
)
def test_links_and_devices_are_refused(home: Path, member: tarfile.TarInfo) -> None:
    check_refusal(home, tar_of("memory/good.md", member), "link or a special file", Refused)


def test_folders_that_lead_out_are_refused(home: Path) -> None:
    check_refusal(home, tar_of(special("../outside", tarfile.DIRTYPE)), "not a path inside", Refused)


def test_a_path_that_occurs_twice_is_refused(home: Path) -> None:
    check_refusal(home, tar_of("memory/a.md", "./memory/a.md"), "twice", Refused)
    check_refusal(home, lines_of(FIRST, PAGE, PAGE), "twice", Refused)
    check_refusal(home, tar_of("memory/a", "memory/a/b.md"), "a file and a folder", Refused)


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (b"", "is empty"),
        (b"hello", "neither a tar nor JSON lines"),
        (b"PK\x03\x04" + bytes(600), "neither a tar nor JSON lines"),
        (gzip.compress(b"hello", mtime=0), "neither a tar nor JSON lines"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"{}\n", "line 1 does not say"),
        (lines_of({"format": "other", "version": 1}), "line 1 does not say"),
        (lines_of({"format": "commonplace", "version": "1"}), "line 1 does not say"),
        (lines_of({"format": "commonplace", "version": 2}), "update commonplace"),
        (b"{not json\n", "line 1 of the archive is not JSON"),
        (lines_of(FIRST, b"nope\n"), "line 2 of the archive is not JSON"),
        (lines_of(FIRST, b"\n"), "line 2 of the archive is not JSON"),
        (lines_of(FIRST, b"\xff\n"), "line 2 of the archive is not JSON"),
        (lines_of(FIRST, b"[" * 100_000 + b"\n"), "line 2 of the archive is not JSON"),
        (lines_of(FIRST, b"1" * 10_000 + b"\n"), "line 2 of the archive is not JSON"),
        (lines_of(FIRST, []), "line 2 of the archive is not a JSON object"),
        (lines_of(FIRST, {"text": "x"}), "no path"),
        (lines_of(FIRST, PAGE | {"path": 1}), "no path"),
        (lines_of(FIRST, PAGE | {"text": None}), "neither text nor base64"),
        (lines_of(FIRST, PAGE | {"base64": "eA=="}), "neither text nor base64, or both"),
        (lines_of(FIRST, PAGE | {"text": None, "base64": "?"}), "invalid text or base64"),
        (lines_of(FIRST, PAGE | {"text": "\ud83d"}), "invalid text or base64"),
        (lines_of(FIRST, PAGE | {"mode": 384}), "mode"),
        (lines_of(FIRST, PAGE | {"mode": "rw"}), "mode"),
        (lines_of(FIRST, PAGE | {"modified": None}), "when the file was modified"),
        (lines_of(FIRST, PAGE | {"modified": "yesterday"}), "where a time should be"),
        (lines_of(FIRST, PAGE | {"modified": "-"}), "where a time should be"),
        (lines_of(FIRST, PAGE | {"modified": "9" * 30}), "where a time should be"),
        (lines_of(FIRST | {"files": 2}, PAGE), "1 of 2 files"),
        (lines_of(FIRST | {"files": 0}, PAGE), "1 of 0 files"),
    ],
)
def test_a_file_that_is_no_archive_is_reported(home: Path, archive: bytes, words: str) -> None:
    check_refusal(home, archive, words, StorageError)


@pytest.mark.parametrize("format", ["tar", "jsonl"])
@pytest.mark.parametrize("compress", [False, True])
def test_an_archive_cut_off_anywhere_is_refused(home: Path, tmp_path: Path, format: Any, compress: bool) -> None:
    source = tmp_path / "source"
    for number in range(3):
        put(source, f"memory/{number}.md", os.urandom(300 * number) if number else "text", 0o600, 10**9 * number)
    whole = export_home(source, format, compress=compress)
    end = whole.rindex(b"\0" * 1024) + 1024 if format == "tar" and not compress else len(whole)
    while format == "tar" and not compress and whole[: end - 1].endswith(b"\0" * 1024):
        end -= 1
    for length in [*range(0, end, 61), end - 1]:
        with pytest.raises(StorageError):
            import_archive(home, whole[:length])
        assert not home.exists()


def test_what_follows_the_end_of_a_tar_is_not_overlooked(home: Path) -> None:
    one, other = tar_of("memory/a.md"), tar_of("memory/b.md")
    check_refusal(home, one + other, "after its end", StorageError)
    check_refusal(home, gzip.compress(one) + gzip.compress(other), "after its end", StorageError)


@given(data=st.data())
def test_a_damaged_tar_is_refused_or_changes_nothing_outside(data: st.DataObject, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("damage")
    whole = bytearray(tar_of("memory/a.md", special("memory/b.md", tarfile.REGTYPE), data=b"some text"))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, 2600))] = data.draw(st.integers(0, 255))
    try:
        import_archive(folder / "home", bytes(whole))
    except CommonplaceError:
        assert list(folder.iterdir()) == []
    assert [path.name for path in folder.iterdir()] in ([], ["home"])


@given(junk=st.binary(max_size=3000), head=st.sampled_from([b"", b"{", b"\x1f\x8b\x08", lines_of(FIRST), lines_of(FIRST)[:-1]]))  # fmt: skip
def test_any_bytes_at_all_give_a_sentence(junk: bytes, head: bytes, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("junk")
    with pytest.raises(CommonplaceError):
        import_archive(folder / "home", head + junk + b"\x01")
    assert list(folder.iterdir()) == []


def header(name: str = "memory/a.md", size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


def check_limits(home: Path, archive: bytes, limits: Limits) -> None:
    with pytest.raises(Refused, match=r"--max-size|more than"):
        import_from(Home(str(home)), io.BytesIO(archive), limits=limits)
    assert not home.exists()


def test_a_small_archive_that_unpacks_to_much_is_refused(home: Path) -> None:
    zeros = bytes(1 << 20)
    bomb = gzip.compress(tar_of("memory/a.md", "memory/b.md", data=zeros))
    assert len(bomb) < 10_000
    check_limits(home, bomb, Limits(file_bytes=1 << 19))
    check_limits(home, bomb, Limits(total_bytes=1 << 20))
    check_limits(home, bomb, Limits(files=1))
    text = gzip.compress(lines_of(FIRST, PAGE | {"text": "x" * (1 << 20)}))
    check_limits(home, text, Limits(file_bytes=1 << 19))
    check_limits(home, text, Limits(file_bytes=1 << 18))
    check_limits(home, text, Limits(total_bytes=1 << 19))
    assert import_from(Home(str(home)), io.BytesIO(bomb), limits=Limits(1 << 20, 1 << 22)).added


def test_sizes_that_lie_are_refused_before_they_are_read(home: Path) -> None:
    check_refusal(home, header(size=1 << 40), "raise --max-size", Refused)
    check_refusal(home, header(size=1 << 20), "cut off", StorageError)
    check_refusal(home, header(size=1 << 40, kind=tarfile.XHDTYPE), "no file can have", Refused)
    check_refusal(home, header(size=1 << 40, kind=tarfile.GNUTYPE_LONGNAME), "no file can have", Refused)
    for text in (b"9 a=b\n", b"99 a=b\n", b"x a=b\n", b"6 ab=c", b"0 a=b\n", b"7" * 400):
        extra = header(size=len(text), kind=tarfile.XHDTYPE) + text.ljust(512, b"\0")
        check_refusal(home, extra + header() + bytes(1024), "archive", StorageError)
    for text in (b"11 size=-1\n", b"10 size=x\n", b"11 mtime=x\n", b"12 mtime=1-\n"):
        extra = header(size=len(text), kind=tarfile.XHDTYPE) + text.ljust(512, b"\0")
        check_refusal(home, extra + header() + bytes(1024), "where a", StorageError)


def test_many_names_cost_no_more_than_they_weigh(home: Path) -> None:
    """Without care, each of these takes gigabytes or minutes."""
    deep = "memory/" + "a/" * 2000
    archive = lines_of(FIRST, *(PAGE | {"path": f"{deep}{number}.md"} for number in range(2000)))
    check_refusal(home, archive, "too long for a path", Refused)
    check_refusal(home, tar_of("memory/" + "a" * 5000), "too long for a path", Refused)
    records = b"6 a=b\n" * 150_000
    extra = header(size=len(records), kind=tarfile.XHDTYPE) + records + bytes(-len(records) % 512)
    import_archive(home, extra + header() + bytes(1024))


def test_a_sparse_file_in_a_newer_form_is_refused(home: Path) -> None:
    info = tarfile.TarInfo("memory/a.md")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    check_refusal(home, tar_of(info), "special file", Refused)


def test_settings_in_an_archive_have_to_make_sense(home: Path) -> None:
    def with_settings(text: str, path: str) -> bytes:
        return lines_of(FIRST, PAGE | {"path": "commonplace.yaml", "text": text}, PAGE | {"path": path})

    check_refusal(
        home, with_settings("layout: nothing\n", "memory/a.md"), r"archive's commonplace\.yaml:1", StorageError
    )
    check_refusal(home, with_settings("workspace: /elsewhere\n", "memory/a.md"), "outside the home", StorageError)
    check_refusal(home, with_settings("layout: agentool\n", "memory/a.md"), "not a place for memory", Refused)
    hooks = "world_memory:\n  path: .git/hooks\n"
    check_refusal(home, with_settings(hooks, ".git/hooks/pre-commit"), "not a place for memory", Refused)


def test_nobody_but_the_owner_may_write_what_an_archive_brings(home: Path) -> None:
    info = tarfile.TarInfo("memory/a.md")
    info.mode = 0o6777
    import_archive(home, tar_of(info))
    assert (home / "memory/a.md").stat().st_mode & 0o7777 == 0o755


class Slow(io.RawIOBase):
    """A stream that gives a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes) -> None:
        self._data, self._random = io.BytesIO(data), random.Random(1)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(size, self._random.randint(1, 700)))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_stream_that_comes_in_pieces_is_read_whole(home: Path, pack: Callable[[bytes], bytes]) -> None:
    archive = pack(tar_of("memory/a.md", "memory/b.md", data=os.urandom(5000)))
    assert import_from(Home(str(home)), Slow(archive)).added == ("memory/a.md", "memory/b.md")  # type: ignore[arg-type]
