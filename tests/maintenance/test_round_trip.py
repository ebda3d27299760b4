"""A memory goes into one file and comes out of it byte for byte; what it meets there is not lost."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.errors import Conflict, OutsideHome, Refused, StorageError
from commonplace.home import Home
from commonplace.maintenance.backup import export_file, import_from
from commonplace.maintenance.backup.archive import Format
from commonplace.testing import FrozenClock

from ..access_rights import call_unprivileged
from ..examples import examples
from ..test_bad_input import fill
from .places import export, export_home, import_archive, put, tree

FORMATS: list[Format] = ["tar", "jsonl"]
SETTINGS = "memorySearch:\n  indexSessions: true\n  extraPaths: [notes]\n"


def furnish(home: Path, clock: FrozenClock) -> Memory:
    """Something of everything that is memory."""
    put(home, "commonplace.yaml", SETTINGS)
    put(home, "agents/scout/agent.yaml", "spec:\n  memory: {}\n", 0o644)
    put(home, "agents/main/sessions/s.jsonl", '{"role": "user", "content": "the papaya was ripe"}\n')
    put(home, "directives/house.md", "speak softly")
    put(home, "notes/deep/er.md", "an extra page about quinces", 0o640, -1_500_000_000)
    put(home, "memory/empty.md", "")
    put(home, "skills/brew/scripts/run.sh", b"#!/bin/sh\n", 0o755)
    put(home, "skills/brew/picture.png", bytes(range(256)) * 5)
    memory = Memory(home, clock=clock)
    fill(memory)
    Memory(home, agent="Ann B.", clock=clock).call("remember", {"content": "of another agent"})
    return memory


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("compress", [False, True])
def test_everything_comes_back_as_it_was(home: Path, clock: FrozenClock, format: Format, compress: bool) -> None:
    memory = furnish(home, clock)
    data, done = export(home, format, compress=compress)
    assert done.files == len(tree(home))
    assert done.warnings == ()
    new = home.parent / "new"
    came = import_archive(new, data)
    assert tree(new) == tree(home)
    assert (len(came.added), came.replaced, came.same) == (done.files, (), ())
    assert export_home(new, format, compress=compress) == data
    other = Memory(new, clock=clock)
    for question in ("papaya", "quinces", "v"):
        assert [h[:4] for h in other.search(question)] == [h[:4] for h in memory.search(question)]
        assert other.search(question)


def test_both_formats_carry_the_same_and_are_read_by_any_tool(home: Path, clock: FrozenClock) -> None:
    furnish(home, clock)
    files = tree(home)
    with tarfile.open(fileobj=io.BytesIO(export_home(home))) as tar:
        members = tar.getmembers()
        assert [member.name for member in members] == sorted(files)
        assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}
        for member in members:
            content = tar.extractfile(member)
            assert content
            assert content.read() == files[member.name].data
            assert abs(member.mtime - files[member.name].modified / 1e9) < 1e-3
    first, *lines = [json.loads(line) for line in export_home(home, "jsonl").decode().split("\n")[:-1]]
    assert first == {"format": "commonplace", "version": 1, "files": len(files)}
    assert [line["path"] for line in lines] == sorted(files)
    assert {line["path"] for line in lines if "base64" in line} == {"skills/brew/picture.png"}


def test_a_tar_that_somebody_unpacked_and_packed_again_is_taken_too(
    home: Path, clock: FrozenClock, tmp_path: Path
) -> None:
    furnish(home, clock)
    put(home, f"memory/{'deep/' * 30}long.md", "a path that an old tar has no room for")
    unpacked = tmp_path / "unpacked"
    with tarfile.open(fileobj=io.BytesIO(export_home(home))) as tar:
        tar.extractall(unpacked, filter="data")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.GNU_FORMAT) as tar:
        tar.add(unpacked, arcname=".")
    import_archive(home.parent / "new", out.getvalue())
    assert {path: file.data for path, file in tree(home.parent / "new").items()} == {
        path: file.data for path, file in tree(home).items()
    }


NAMES = st.text(st.characters(exclude_characters="/\0\\", exclude_categories=["Cs"]), min_size=1, max_size=60).filter(
    lambda name: name[0] != "." and len(name.encode()) <= 255
)
PATHS = st.tuples(
    st.sampled_from(["memory", "memory/world", "agents/main", "skills", "directives"]),
    st.lists(NAMES, min_size=1, max_size=3),
).map(lambda path: "/".join([path[0], *path[1]]))
DATA = st.one_of(st.binary(max_size=1500), st.text(max_size=500).map(str.encode))
TIMES = st.integers(-(10**18), 4 * 10**18)


def fits(files: dict[str, tuple[bytes, int, int]]) -> bool:
    """No path is a file and a folder at once."""
    return not any(other.startswith(f"{path}/") for path in files for other in files)


@pytest.mark.parametrize("format", FORMATS)
@examples(8)  # each is a home or two, written to disk
@given(files=st.dictionaries(PATHS, st.tuples(DATA, st.sampled_from([0o600, 0o644, 0o755, 0o444]), TIMES), max_size=8).filter(fits))  # fmt: skip
@example(files={"memory/ \n\r\t\u2028\x1b[1m~ .md": (b"\r\n\xef\xbb\xbf\0", 0o600, 0), "memory/日本/\U0001f642 é": (b"\xff", 0o600, 1)})  # fmt: skip
@example(files={"memory/" + "é" * 127: (b"long", 0o600, 10**9), "memory/world/a:b?*|<>.md": (b"", 0o644, -1)})
def test_any_tree_survives_the_journey(format: Format, files: dict[str, tuple[bytes, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        home, new = Path(folder) / "home", Path(folder) / "new"
        home.mkdir()
        for path, (data, mode, modified) in files.items():
            put(home, path, data, mode, modified)
        data = export_home(home, format)
        import_archive(new, data)
        assert tree(new) == tree(home)
        assert len(tree(home)) == len(files)
        assert export_home(new, format) == data
        assert import_archive(new, data).same == tuple(sorted(files))


def test_the_lines_shown_in_the_docs_are_an_archive(home: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/backup.md").read_text()
    (lines,) = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    import_archive(home, lines.encode())
    assert export_home(home, "jsonl").decode() == lines


def test_what_can_be_lost_and_what_is_not_memory_stays(home: Path, clock: FrozenClock) -> None:
    furnish(home, clock).search("v")
    for path in (
        ".index/x",
        ".git/config",
        "memory/.a.md.0123456789ab.tmp",
        "memory/.hidden/b.md",
        "notes/picture.png",
    ):
        put(home, path, "x")
    put(home, "backup.tar", "x")
    put(home, "secret.env", "x")
    (home / "memory/void").mkdir()
    data, done = export(home)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        names = tar.getnames()
    assert not [name for name in names if "/." in f"/{name}"]
    assert {"backup.tar", "secret.env", "notes/picture.png"}.isdisjoint(names)
    (warning,) = done.warnings
    assert "'backup.tar', 'secret.env'" in warning


def test_links_and_odd_files_are_named_and_left_out(home: Path, clock: FrozenClock) -> None:
    furnish(home, clock)
    outside = put(home.parent / "outside", "secret.md", "classified")
    (home / "memory/link.md").symlink_to(outside)
    (home / "memory/folder").symlink_to(outside.parent)
    os.mkfifo(home / "memory/pipe.md")
    put(home, "memory/back\\slash.md", "x")
    with open(os.path.join(os.fsencode(home), b"memory/\xff.md"), "wb") as file:
        file.write(b"x")
    data, done = export(home)
    assert b"classified" not in data
    text = "\n".join(done.warnings)
    for words in ("link.md' is a link", "folder' is a link", "pipe.md' is not a regular", "backslash", "not UTF-8"):
        assert words in text
    assert len(done.warnings) == 5
    import_archive(home.parent / "new", data)


def test_a_folder_that_is_a_link_is_not_followed(home: Path, clock: FrozenClock) -> None:
    Memory(home, clock=clock)
    put(home.parent / "elsewhere", "secret.md", "classified")
    (home / "memory").symlink_to(home.parent / "elsewhere")
    data, done = export(home)
    assert b"classified" not in data
    assert "'memory' is a link" in done.warnings[0]


@pytest.mark.parametrize("layout", ["agentool", "duragent", "openclaw"])
def test_homes_of_other_systems_go_along_with_their_settings(home: Path, clock: FrozenClock, layout: str) -> None:
    put(home, "commonplace.yaml", f"layout: {layout}\nworld_memory:\n  path: .shared/world\n")
    put(home, "project/main.py", "print()")
    fill(Memory(home, clock=clock))
    new = home.parent / "new"
    import_archive(new, export_home(home))
    files = tree(home)
    del files["project/main.py"]
    assert tree(new) == files
    assert any(path.startswith(".shared/world/") for path in files)
    assert Memory(new, clock=clock).search("v")


def test_history_goes_along_when_asked(home: Path, clock: FrozenClock) -> None:
    memory = Memory(home, clock=clock)
    for text in ("first", "second"):
        memory.call("update_world", {"topic": "t", "content": text})
    new = home.parent / "new"
    import_archive(new, export_home(home))
    assert tree(new, history=True) != tree(home, history=True)
    newer = home.parent / "newer"
    import_archive(newer, export_home(home, history=True))
    assert tree(newer, history=True) == tree(home, history=True)
    assert len(Home(str(newer)).storage.history.versions("memory/world/t.md")) == 2
    again = import_archive(newer, export_home(home, history=True))
    assert (again.added, again.replaced) == ((), ())


def test_the_history_of_the_home_stays_when_the_archive_has_another(home: Path, clock: FrozenClock) -> None:
    Memory(home, clock=clock).call("update_world", {"topic": "t", "content": "there"})
    new = home.parent / "new"
    Memory(new, clock=clock).call("update_world", {"topic": "t", "content": "here"})
    came = import_archive(new, export_home(home, history=True), overwrite=True)
    assert "the home already has a history, which stays" in came.warnings[0]
    versions = [data for _, data in Home(str(new)).storage.history.versions("memory/world/t.md")]
    assert versions == [b"here", b"there"]


def test_the_same_home_gives_the_same_bytes(home: Path, clock: FrozenClock) -> None:
    furnish(home, clock)
    for format in FORMATS:
        assert export_home(home, format, compress=True) == export_home(home, format, compress=True)


def test_pages_that_differ_stop_everything_unless_they_may_be_replaced(home: Path, clock: FrozenClock) -> None:
    furnish(home, clock)
    data = export_home(home)
    new = home.parent / "new"
    put(new, "memory/world/t.md", "mine")
    put(new, "skills/brew/picture.png", b"\xfe mine")
    put(new, "memory/empty.md", "", 0o600, 1_800_000_000_000_000_000)
    put(new, "memory/only-here.md", "mine")
    before = tree(new, history=True)
    with pytest.raises(Conflict, match=r"memory/world/t\.md, skills/brew/picture\.png differ"):
        import_archive(new, data)
    assert tree(new, history=True) == before
    planned = import_archive(new, data, dry_run=True)
    assert tree(new, history=True) == before
    done = import_archive(new, data, overwrite=True)
    assert planned == done
    assert done.replaced == ("memory/world/t.md", "skills/brew/picture.png")
    assert done.same == ("memory/empty.md",)
    after = tree(new)
    assert after.pop("memory/only-here.md").data == b"mine"
    assert after == tree(home)
    history = Home(str(new)).storage.history
    for path, mine in (("memory/world/t.md", b"mine"), ("skills/brew/picture.png", b"\xfe mine")):
        assert mine in [data for _, data in history.versions(path)]
    assert history.versions("memory/world/t.md")[-1][0].tool == "import"


def test_a_memory_that_is_in_use_finds_what_was_imported(memory: Memory, home: Path, clock: FrozenClock) -> None:
    other = home.parent / "other"
    put(other, "memory/fruit.md", "the papaya was ripe")
    put(other, "memory/bytes.md", b"quinces \xff")
    assert memory.search("papaya") == []
    import_from(memory.home, io.BytesIO(export_home(other)))
    assert [hit.path for hit in memory.search("papaya")] == ["memory/fruit.md"]
    assert "memory/bytes.md is not UTF-8" in memory.call("memory_search", {"query": "papaya"})["warning"]


def test_the_directive_of_a_new_home_is_in_nobodys_way(home: Path, clock: FrozenClock) -> None:
    Memory(home, clock=clock)
    put(home, "directives/memory.md", "as we like it")
    new = home.parent / "new"
    Memory(new, clock=clock)
    import_archive(new, export_home(home))
    assert tree(new) == tree(home)
    put(new, "directives/memory.md", "as they like it")
    with pytest.raises(Conflict, match=r"directives/memory\.md differs"):
        import_archive(new, export_home(home))


def test_an_import_that_was_interrupted_is_run_again(home: Path, clock: FrozenClock) -> None:
    furnish(home, clock)
    data = export_home(home, history=True)
    new = home.parent / "new"
    whole = home.parent / "whole"
    import_archive(whole, data)
    for number, (path, file) in enumerate(tree(whole, history=True).items()):
        if number % 2:  # written, but not given its time and rights
            put(new, path, file.data)
            os.utime(new / path)
    assert import_archive(new, data).replaced == ()
    assert tree(new) == tree(whole)
    for path in Home(str(home)).storage.history.paths():  # each ends where it ended before
        first, *others = (Home(str(place)).storage.history.changes(path) for place in (home, new, whole))
        assert all(changes[-1].version == first[-1].version for changes in others)


def test_a_link_in_the_home_is_not_written_through(home: Path, clock: FrozenClock) -> None:
    furnish(home, clock)
    new, outside = home.parent / "new", home.parent / "outside"
    new.mkdir()
    outside.mkdir()
    (new / "memory").symlink_to(outside)
    with pytest.raises(OutsideHome):
        import_archive(new, export_home(home), overwrite=True)
    assert list(outside.iterdir()) == []
    assert list(new.iterdir()) == [new / "memory"]


@pytest.mark.parametrize("path", ["memory", "memory/world/t.md/deeper.md"])
def test_a_file_where_a_folder_should_be_stops_everything(home: Path, clock: FrozenClock, path: str) -> None:
    furnish(home, clock)
    new = home.parent / "new"
    put(new, path, "x")
    with pytest.raises(StorageError):
        import_archive(new, export_home(home), overwrite=True)
    assert list(tree(new)) == [path]


def test_settings_that_send_pages_elsewhere_are_reported(home: Path, clock: FrozenClock) -> None:
    put(home, "commonplace.yaml", "memorySearch:\n  provider: openai\n  baseUrl: https://example.com/v1\n")
    Memory(home, clock=clock)
    came = import_archive(home.parent / "new", export_home(home), dry_run=True, take_settings=True)
    assert "https://example.com/v1" in came.warnings[0]
    assert import_archive(home, export_home(home)).warnings == ()


PROVIDER = "memorySearch:\n  provider: ollama\n  model: big\n  maxResults: 3\nagents:\n  scout:\n    memorySearch:\n"


def test_the_settings_of_an_archive_switch_on_no_provider_unless_the_user_says_so(
    home: Path, clock: FrozenClock
) -> None:
    put(home, "commonplace.yaml", f"{PROVIDER}      provider: openai\n")
    Memory(home, clock=clock)
    archive = export_home(home)
    mine = home.parent / "mine"
    came = import_archive(mine, archive)
    assert came.warnings == (
        "the provider ollama and openai of the archive's commonplace.yaml is not taken over: --settings does so, if you"
        " want it used",
    )
    for agent in ("main", "scout"):
        assert Home(str(mine), agent).search_settings.provider == "static"
    assert Home(str(mine)).search_settings.max_results == 3
    assert "# not taken over by the import: provider: ollama" in (mine / "commonplace.yaml").read_text()
    again = import_archive(mine, archive)
    assert (again.added, again.replaced) == ((), ())
    theirs = home.parent / "theirs"
    import_archive(theirs, archive, take_settings=True)
    assert Home(str(theirs)).search_settings.provider == "ollama"
    put(theirs, "commonplace.yaml", "memorySearch:\n  provider: ollama\n  model: big\n")  # what is used already stays
    put(home, "commonplace.yaml", "memorySearch:\n  provider: ollama\n  model: big\n  maxResults: 4\n")
    assert import_archive(theirs, export_home(home), overwrite=True).replaced == ("commonplace.yaml",)
    assert Home(str(theirs)).search_settings.provider == "ollama"


@pytest.mark.parametrize(
    "text",
    [
        "memorySearch: {provider: ollama}\n",
        "memorySearch:\n  provider:\n    ollama\n",
        "memorySearch:\n  ? provider\n  : ollama\n",
        "{memorySearch: {provider: openai}}\n",
    ],
)
def test_a_provider_that_cannot_be_left_out_stops_the_import(home: Path, clock: FrozenClock, text: str) -> None:
    put(home, "commonplace.yaml", text)
    Memory(home, clock=clock)
    mine = home.parent / "mine"
    with pytest.raises(Refused, match="give --settings to take it over"):
        import_archive(mine, export_home(home))
    assert not mine.exists() or tree(mine) == {}
    import_archive(mine, export_home(home), take_settings=True)
    assert (mine / "commonplace.yaml").read_text() == text


def test_an_archive_whose_only_setting_is_a_provider_comes_without_it(home: Path, clock: FrozenClock) -> None:
    put(home, "commonplace.yaml", "memorySearch:\n  provider: ollama\n")
    Memory(home, clock=clock)
    assert len(import_archive(home.parent / "mine", export_home(home)).warnings) == 1
    assert Home(str(home.parent / "mine")).search_settings.provider == "static"


def test_the_file_is_there_when_it_is_whole_and_private(home: Path, clock: FrozenClock, tmp_path: Path) -> None:
    furnish(home, clock)
    opened = Home(str(home))
    target = tmp_path / "out/b.tar"
    target.parent.mkdir()
    export_file(opened, str(target))
    assert target.read_bytes() == export_home(home)
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Conflict, match="--force"):
        export_file(opened, str(target), "jsonl")
    export_file(opened, str(target), "jsonl", force=True)
    assert target.read_bytes() == export_home(home, "jsonl")
    export_file(opened, str(tmp_path / "out/B.JSONL.GZ"))
    assert gzip.decompress((tmp_path / "out/B.JSONL.GZ").read_bytes()) == export_home(home, "jsonl")
    assert sorted(path.name for path in target.parent.iterdir()) == ["B.JSONL.GZ", "b.tar"]


def test_the_same_where_files_always_have_a_name(
    home: Path, clock: FrozenClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    test_the_file_is_there_when_it_is_whole_and_private(home, clock, tmp_path)

    def no_links(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    export_file(Home(str(home)), str(tmp_path / "out/c.tar"))
    assert (tmp_path / "out/c.tar").read_bytes() == export_home(home)


@pytest.mark.parametrize("inside", ["memory/b.tar", "agents/b.tar", ".index/b.tar", ".history/b.tar"])
def test_a_backup_among_the_pages_is_refused(memory: Memory, home: Path, inside: str) -> None:
    with pytest.raises(Refused, match="among the pages"):
        export_file(memory.home, str(home / inside))


def test_a_file_that_cannot_be_written_is_reported_and_leaves_nothing(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StorageError, match="No such file"):
        export_file(memory.home, str(tmp_path / "none/b.tar"))
    with pytest.raises(Conflict, match="is a folder"):
        export_file(memory.home, str(tmp_path))
    out = tmp_path / "out"
    out.mkdir()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    for plain in (False, True):
        if plain:
            monkeypatch.delattr(os, "O_TMPFILE", raising=False)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(StorageError, match="No space"):
                export_file(memory.home, str(out / "b.tar"))
        assert list(out.iterdir()) == []


def test_a_page_that_cannot_be_read_is_not_left_out_silently(memory: Memory, home: Path) -> None:
    put(home, "memory/mine.md", "x", 0o000)
    with pytest.raises(StorageError, match=r"memory/mine\.md"):
        call_unprivileged(lambda: export_home(home))
