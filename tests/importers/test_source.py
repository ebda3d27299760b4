"""Sources that mean harm, or are broken: refused or left out with a sentence, and the rest comes in."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from pathlib import Path

import pytest

from commonplace.errors import NotFound, Refused, StorageError
from commonplace.importers import Limits
from commonplace.importers.source import MAX_LINE_BYTES, parse_json_lines, parse_json_list
from commonplace.importers.values import Skipped

from .sources import chatgpt_talk, chatgpt_zip, make_zip, mem0_file, pages, put, run_import, whys


def test_names_that_lead_out_of_a_zip_are_left_out(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep/down"
    folder.mkdir(parents=True)
    place = make_zip(
        folder / "v.zip",
        {
            ".obsidian/app.json": "{}",
            "ok.md": "fine",
            "../../escape.md": "no",
            "/absolute.md": "no",
            "a\\..\\b.md": "no",
            "c:/windows.md": "no",
            "x" * 300 + ".md": "no",
            "deep/" * 200 + "x.md": "no",
        },
    )
    done = run_import(home, place)
    assert pages(home) == {"memory/v/ok.md": "fine"}
    assert len(done.skipped) == 6
    assert not list(tmp_path.rglob("escape.md"))


def test_a_zip_bomb_is_not_swallowed(home: Path, tmp_path: Path) -> None:
    place = make_zip(tmp_path / "v.zip", {".obsidian/x": "", "ok.md": "fine", "bomb.md": b"0" * 500_000})
    done = run_import(home, place, limits=Limits(file_bytes=100_000))
    assert pages(home) == {"memory/v/ok.md": "fine"}
    assert "raise --max-size" in whys(done)["bomb.md"]
    many = make_zip(tmp_path / "w.zip", {".obsidian/x": "", **{f"{n}.md": b"0" * 90_000 for n in range(10)}})
    with pytest.raises(Refused, match="holds more than"):
        run_import(home, many, limits=Limits(100_000, 500_000))
    with pytest.raises(Refused, match="more than 3 files"):
        run_import(home, many, limits=Limits(files=3))
    assert pages(home) == {"memory/v/ok.md": "fine"}


def test_a_page_that_is_packed_too_well_to_be_text_is_not_unpacked(home: Path, tmp_path: Path) -> None:
    place = make_zip(tmp_path / "v.zip", {".obsidian/x": "", "ok.md": "fine", "zeros.md": b"0" * 40_000_000})
    done = run_import(home, place)
    assert pages(home) == {"memory/v/ok.md": "fine"}
    assert whys(done)["zeros.md"] == "unpacks to more than 100 times its size: it is taken for a zip bomb"


def test_a_zip_that_lies_about_a_size_is_counted_not_believed(home: Path, tmp_path: Path) -> None:
    place = make_zip(tmp_path / "v.zip", {".obsidian/x": "", "ok.md": "fine", "liar.md": b"0" * 3_000_000})
    data = bytearray(place.read_bytes())
    size = struct.pack("<I", 3_000_000)
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = struct.pack("<I", 10)
    place.write_bytes(data)
    done = run_import(home, place, limits=Limits(file_bytes=1_000_000))
    assert pages(home)["memory/v/ok.md"] == "fine"
    assert len(pages(home).get("memory/v/liar.md", "")) <= 10
    assert len(done.added) <= 2


def test_links_and_encrypted_members_of_a_zip_are_left_out(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "v.zip"
    with zipfile.ZipFile(place, "w") as file:
        file.writestr(".obsidian/x", "")
        file.writestr("ok.md", "fine")
        link = zipfile.ZipInfo("passwd.md")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("locked.md", "x")
    data = bytearray(place.read_bytes())
    at = data.rfind(b"PK\x01\x02", 0, data.rfind(b"locked.md"))
    data[at + 8] |= 1
    place.write_bytes(data)
    done = run_import(home, place)
    assert pages(home) == {"memory/v/ok.md": "fine"}
    assert whys(done) == {"passwd.md": "is a link, and links are not followed", "locked.md": "is encrypted"}


def test_names_in_a_zip_that_are_not_utf8_are_left_out(home: Path, tmp_path: Path) -> None:
    place = make_zip(tmp_path / "v.zip", {".obsidian/x": "", "ok.md": "fine", "AAAA.md": "latin", "BBBBB.md": "utf"})
    data = place.read_bytes().replace(b"AAAA.md", b"Caf\xe9.md").replace(b"BBBBB.md", "Café.md".encode())
    place.write_bytes(data)
    done = run_import(home, place)
    assert pages(home) == {"memory/v/ok.md": "fine", "memory/v/Café.md": "utf"}
    assert list(whys(done).values()) == ["has a name that is not UTF-8"]


def test_a_member_that_is_damaged_costs_only_itself(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "v.zip"
    with zipfile.ZipFile(place, "w") as file:
        for name in (".obsidian/x", "ok.md", "bad.md"):
            file.writestr(name, f"text of {name}")
    place.write_bytes(place.read_bytes().replace(b"text of bad.md", b"TEXT of bad.md"))
    done = run_import(home, place)
    assert pages(home) == {"memory/v/ok.md": "text of ok.md"}
    assert "could not be read" in whys(done)["bad.md"]


@pytest.mark.parametrize("data", [b"PK\x03\x04" + bytes(600), b"PK\x05\x06" + b"\xff" * 20])
def test_a_damaged_zip_is_reported(home: Path, tmp_path: Path, data: bytes) -> None:
    with pytest.raises(StorageError, match="damaged zip"):
        run_import(home, put(tmp_path, "v.zip", data))


def test_what_is_not_there_or_is_no_file_is_reported(home: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        run_import(home, tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="neither a file nor a folder"):
        run_import(home, tmp_path / "pipe")
    put(tmp_path / "v", ".obsidian/x", "")
    os.mkfifo(tmp_path / "v/pipe.md")
    assert whys(run_import(home, tmp_path / "v")) == {"pipe.md": "is not a regular file"}


def test_a_name_on_disk_that_is_not_utf8_is_reported(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "v", ".obsidian/x", "")
    put(tmp_path / "v", "ok.md", "fine")
    with open(os.fsencode(tmp_path / "v") + b"/caf\xe9.md", "wb") as file:
        file.write(b"x")
    done = run_import(home, tmp_path / "v")
    assert list(whys(done).values()) == ["has a name that is not UTF-8"]
    assert len(done.added) == 1


def test_broken_json_in_the_middle_costs_one_conversation(home: Path, tmp_path: Path) -> None:
    talks = [json.dumps(chatgpt_talk(f"c-{number}")) for number in range(5)]
    for broken in (talks[2][:-5] + "}", talks[2].replace('"Green."', '"Green.'), "{{{", talks[2][: len(talks[2]) // 2]):
        text = f"[{talks[0]},{talks[1]},{broken},{talks[3]},{talks[4]}]"
        target = home / str(len(broken))
        done = run_import(target, put(tmp_path, "conversations.json", text), "chatgpt")
        names = {path.rpartition("-")[2] for path in done.added}
        assert {"0.jsonl", "1.jsonl", "3.jsonl", "4.jsonl"} <= names, broken[:40]
        assert "part 3" in done.skipped[0].what


def test_an_export_that_is_cut_off_gives_what_is_whole(home: Path, tmp_path: Path) -> None:
    whole = json.dumps([chatgpt_talk(f"c-{number}") for number in range(3)])
    done = run_import(home, put(tmp_path, "conversations.json", whole[:-40]), "chatgpt")
    assert len(done.added) == 2
    assert len(done.skipped) == 1


def test_bytes_that_are_not_utf8_cost_one_conversation(home: Path, tmp_path: Path) -> None:
    data = json.dumps([chatgpt_talk("a"), chatgpt_talk("b", said=("QQQQ",))]).encode().replace(b"QQQQ", b"\xff\xfe")
    done = run_import(home, put(tmp_path, "conversations.json", data), "chatgpt")
    assert len(done.added) == 1
    assert [missed.why for missed in done.skipped] == ["is not UTF-8 text"]


def test_half_characters_and_nulls_are_written_as_text(home: Path, tmp_path: Path) -> None:
    text = '{"results": [{"id": "a\\ud83d", "memory": "half \\ud83d and \\u0000 null", "user_id": "x\\udc00"}]}'
    done = run_import(home, put(tmp_path, "m.json", text))
    assert len(done.added) == 1
    assert "half � and � null" in next(iter(pages(home).values()))


def test_json_that_nests_without_end_is_reported(home: Path, tmp_path: Path) -> None:
    deep = '{"id": "x", "memory": "x", "user_id": "u", "metadata": ' + "[" * 200_000 + "]" * 200_000 + "}"
    source = put(tmp_path, "m.json", f'[{deep}, {{"id": "y", "memory": "fine", "user_id": "u"}}]')
    done = run_import(home, source)
    assert done.added == ("memory/channels/u/y.md",)
    assert "nested too deeply" in done.skipped[0].why


def test_a_search_for_the_next_part_ends() -> None:
    missed: list[Skipped] = []
    text = '[{"memory": "' + ',{"x": "' * 200_000
    assert list(parse_json_list(text.encode(), "m", missed, "memory")) == []
    assert len(missed) == 1


def test_a_line_that_is_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_LINE_BYTES >= 1 << 20
    monkeypatch.setattr("commonplace.importers.source.MAX_LINE_BYTES", 100)
    missed: list[Skipped] = []
    data = b'{"a": 1}\n{"b": "' + b"x" * 200 + b'"}\n\xff\n[1]\n\n{"c": 2}'
    assert [value for _, value in parse_json_lines(data, "f", missed)] == [{"a": 1}, {"c": 2}]
    assert [each.what for each in missed] == ["f, line 2", "f, line 3", "f, line 4"]


@pytest.mark.parametrize("text", ["", "null", "{}", "[1, 2]", '{"results": 3}', '[{"memory": 3}]', "hello", "\xff"])
def test_what_is_no_list_of_memories_brings_nothing_and_is_reported(home: Path, tmp_path: Path, text: str) -> None:
    done = run_import(home, put(tmp_path, "m.json", text.encode("latin-1")), "mem0")
    assert (done.added, len(done.skipped) > 0) == ((), True)
    assert not home.exists()


def test_an_empty_list_is_an_error_not_a_success(home: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="nothing was found"):
        run_import(home, put(tmp_path, "m.json", "[]"), "mem0")


@pytest.mark.parametrize("value", [None, 3, "x", [], [None], {}, {"a": None}, {"a": {"message": 3, "parent": 4}}])
def test_a_conversation_of_any_shape_is_no_error(home: Path, tmp_path: Path, value: object) -> None:
    talk = {"id": "x", "title": value, "mapping": value, "current_node": value, "create_time": value}
    other = {"uuid": "y", "name": value, "chat_messages": value, "created_at": value}
    done = run_import(home, chatgpt_zip(tmp_path / "a.zip", [talk]))
    assert (done.added, len(done.skipped)) == ((), 1)
    odd = {"projects": [{"uuid": value, "name": value, "docs": value}], "memories": [{"project_memories": value}]}
    members = {
        "conversations.json": json.dumps([other]),
        **{f"{name}.json": json.dumps(each) for name, each in odd.items()},
    }
    assert run_import(home, make_zip(tmp_path / "b.zip", members), "claude").added == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["user_id", "agent_id", "id", "run_id"])
@pytest.mark.parametrize("value", ["../../x", "CON", "a/b", "x" * 5000, ".hidden", "日本", "a\nb"])
def test_owners_and_ids_of_any_name_stay_inside(home: Path, tmp_path: Path, name: str, value: str) -> None:
    memory = {"id": "m", "memory": "text", "user_id": "u", name: value}
    done = run_import(home, put(tmp_path, "m.json", json.dumps([memory])))
    assert len(done.added) == 1
    assert len(pages(home)) == 1
    assert not list(tmp_path.glob("x*"))


def test_a_source_inside_of_the_home_is_read_like_any_other(home: Path) -> None:
    home.mkdir()
    mem0_file(home / "m.json", 2)
    assert len(run_import(home, home / "m.json").added) == 2
