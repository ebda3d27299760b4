"""Folders of Markdown: Obsidian, basic-memory, and any other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commonplace import Memory

from .sources import make_zip, pages, put, run_import, whys

NOTE = "---\ntags: [tea]\naliases:\n  - Green\n---\r\n\r\n# Tea\r\n\r\nSee [[Pots|the pots]] and ![[pot.png]].  \n\n\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "My Vault"
    put(folder, ".obsidian/app.json", "{}")
    put(folder, ".trash/old.md", "gone")
    put(folder, "Tea.md", NOTE)
    put(folder, "Things/Deep Down/Pots.md", "A pot.")
    put(folder, "pot.png", b"\x89PNG")
    put(folder, "Board.canvas", "{}")
    put(folder, "latin.md", "Caf\xe9".encode("latin-1"))
    os.utime(folder / "Tea.md", ns=(1_600_000_000_123_456_789, 1_600_000_000_123_456_789))
    return folder


def test_a_vault_keeps_its_bytes_its_places_and_its_times(home: Path, vault: Path) -> None:
    done = run_import(home, vault)
    assert pages(home) == {
        "memory/my-vault/Tea.md": NOTE,
        "memory/my-vault/Things/Deep Down/Pots.md": "A pot.",
    }
    assert (home / "memory/my-vault/Tea.md").read_bytes() == NOTE.encode()
    assert (home / "memory/my-vault/Tea.md").stat().st_mtime_ns == 1_600_000_000_123_456_789
    assert sorted(done.added) == sorted(pages(home))
    hits = Memory(home).search("pots")
    assert "memory/my-vault/Tea.md" in {hit.path for hit in hits}


def test_what_is_no_note_is_named(home: Path, vault: Path) -> None:
    assert whys(run_import(home, vault)) == {
        "Board.canvas": "is an Obsidian canvas: a drawing, not text",
        "pot.png": "is an attachment: only Markdown is imported",
        "latin.md": "is not UTF-8 text",
    }


def test_the_source_stays_as_it_is(home: Path, vault: Path) -> None:
    before = {place: place.read_bytes() for place in vault.rglob("*") if place.is_file()}
    run_import(home, vault)
    assert {place: place.read_bytes() for place in vault.rglob("*") if place.is_file()} == before


def test_links_are_not_followed(home: Path, vault: Path, tmp_path: Path) -> None:
    put(tmp_path, "outside/secret.md", "secret")
    (vault / "way-out").symlink_to(tmp_path / "outside")
    (vault / "secret.md").symlink_to(tmp_path / "outside/secret.md")
    done = run_import(home, vault)
    assert not any("secret" in path for path in pages(home))
    assert whys(done)["secret.md"] == whys(done)["way-out"] == "is a link, and links are not followed"


def test_a_vault_that_is_called_like_a_folder_of_ours_is_not_taken_for_it(home: Path, tmp_path: Path) -> None:
    for name in ("global", "World", "channels"):
        put(tmp_path / name, "x/y.md", "text")
        run_import(home, tmp_path / name, "markdown")
    assert sorted(pages(home)) == [f"memory/{name}-notes/x/y.md" for name in ("channels", "global", "world")]


def test_two_vaults_of_one_name_are_both_kept_whole(home: Path, tmp_path: Path) -> None:
    for above in ("one", "two"):
        put(tmp_path / above / "Notes", "a.md", above)
        put(tmp_path / above / "Notes", f"{above}.md", above)
    run_import(home, tmp_path / "one/Notes", "markdown")
    done = run_import(home, tmp_path / "two/Notes", "markdown")
    assert sorted(pages(home).values()) == ["one", "one", "two", "two"]
    assert [other for _, other in done.renamed] == ["memory/notes/a.md"]
    again = run_import(home, tmp_path / "two/Notes", "markdown")
    assert (again.added, again.left_unchanged, len(again.same)) == ((), (), 2)


def test_a_zip_of_a_vault_is_the_vault(home: Path, tmp_path: Path) -> None:
    place = make_zip(
        tmp_path / "Vault.zip", {"Vault/.obsidian/app.json": "{}", "Vault/a/Tea.md": NOTE, "Vault/x.md": "x"}
    )
    run_import(home, place)
    assert pages(home) == {"memory/vault/a/Tea.md": NOTE, "memory/vault/x.md": "x"}


def test_basic_memory_is_known_by_its_permalinks(home: Path, tmp_path: Path) -> None:
    note = "---\ntitle: Tea\ntype: note\npermalink: drinks/tea\n---\n\n- [fact] Green #tea\n- relates_to [[Pot]]\n"
    put(tmp_path / "main", "drinks/Tea.md", note)
    run_import(home, tmp_path / "main")
    assert pages(home) == {"memory/main/drinks/Tea.md": note}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no files of such names")
def test_a_page_may_begin_with_a_tilde_or_a_drive(home: Path, tmp_path: Path) -> None:
    names = ("~about home.md", "C: a language.md", "What is tea?.md")
    for name in names:
        put(tmp_path / "v", name, name)
    done = run_import(home, tmp_path / "v", "markdown")
    assert done.skipped == ()
    assert sorted(pages(home)) == sorted(f"memory/v/{name}" for name in names)
    assert {hit.path for hit in Memory(home).search("language")} == {"memory/v/C: a language.md"}


def test_of_a_page_and_a_folder_of_one_name_one_is_kept_and_the_other_reported(home: Path, tmp_path: Path) -> None:
    place = make_zip(tmp_path / "Vault.zip", {"Vault/a.md": "first", "Vault/a.md/b.md": "below", "Vault/x.md": "x"})
    done = run_import(home, place, "markdown")
    [(path, why)] = done.left_unchanged
    assert {*pages(home)} == {"memory/vault/a.md", "memory/vault/a.md/b.md", "memory/vault/x.md"} - {path}
    assert "a folder is where a page should be" in why or "beside the page memory/vault/a.md: use another" in why
