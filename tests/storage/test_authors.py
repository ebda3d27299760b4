"""Who wrote each line: the versions of a page compared one after another, within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.caching import ByteCache, measure_bytes
from commonplace.storage.authors import Bounds, LineOrigin, blame, split_lines
from commonplace.storage.history import (
    ABSENT,
    APPROVE,
    Author,
    Change,
    Line,
    Versions,
    describe_author,
    make_line,
    version_of,
)

MANY = Bounds(1000, 1_000_000)


def history(*versions: tuple[str, str | None], tool: str = "remember") -> Versions:
    """Versions of a page, each with the name of the agent that wrote it; without a name, by another program."""
    result: Versions = []
    before = ABSENT
    for number, (agent, text) in enumerate(versions):
        data = None if text is None else text.encode()
        change = Change(f"{number:010x}", f"2026-03-{number + 1:02}", "a.md", version_of(data), before)
        result.append((change._replace(tool=tool if agent else "", agent=agent), data))
        before = version_of(data)
    return result


def make_lines(versions: Versions) -> list[Line]:
    """Return versions as lines of a history: deltas, wherever a version follows the one that it was made to."""
    lines: list[Line] = []
    last: bytes | None = None
    for change, data in versions:
        is_next = bool(lines) and change.before == lines[-1].change.version
        lines.append(make_line(change, last, data, lines[-1].depth if is_next else -1))
        last = data
    return lines


def authors(versions: Versions, bounds: Bounds = MANY) -> list[str]:
    return [
        origin.change.agent or "outside" if origin.change else "?" for origin in blame(make_lines(versions), bounds)
    ]


def test_no_tool_import_or_token_of_a_history_that_came_forges_an_author() -> None:
    assert describe_author(Author("import", origin="import:x), a person (web")) == 'import ("x), a person (web")'
    assert describe_author(Author("x), a person (web", "main")) == 'main ("x), a person (web")'
    assert describe_author(Author("remember", "main", origin="token:ab")) == "main (remember), token ab"


def test_a_line_keeps_its_author_while_others_write_around_it() -> None:
    versions = history(("ann", "1\n2\n3\n"), ("ben", "0\n1\n2\n3\n"), ("", "0\n1\nII\n3\n4\n"))
    assert authors(versions) == ["ben", "ann", "outside", "ann", "outside"]


def test_a_page_that_was_removed_and_made_again_is_its_new_authors() -> None:
    assert authors(history(("ann", "1\n"), ("ann", None), ("ben", "1\n"))) == ["ben"]
    assert authors(history(("ann", "1\n"), ("ann", None))) == []


def test_lines_older_than_the_bounds_name_nobody() -> None:
    versions = history(("ann", "1\n"), ("ben", "1\n2\n"), ("cid", "1\n2\n3\n"), ("dan", "1\n2\n3\n4\n"))
    assert authors(versions, Bounds(2, 1000)) == ["?", "?", "cid", "dan"]
    assert authors(versions, Bounds(1000, 4)) == ["?", "?", "cid", "dan"]
    assert authors(versions, Bounds(1000, 1)) == ["?", "?", "?", "dan"]


def test_lines_from_a_version_that_history_lost_name_nobody() -> None:
    versions = history(("ann", "1\n"), ("ben", "1\n2\n"), ("cid", "1\n2\n3\n"), ("dan", "1\n2\n3\n4\n"))
    assert authors(versions[1:]) == ["?", "?", "cid", "dan"]
    assert authors([versions[0], *versions[2:]]) == ["ann", "?", "?", "dan"]


def test_an_approval_covers_the_lines_that_are_there_and_a_person_approves_what_they_write() -> None:
    versions = history(("ann", "1\n"), ("ann", "1\n"), ("ann", "1\n2\n"), ("", "1\n2\n3\n"), ("ann", "1\n2\n3\n4\n"))
    versions[1] = (versions[1][0]._replace(tool=APPROVE), versions[1][1])
    assert [origin.is_approved for origin in blame(make_lines(versions), MANY)] == [True, False, True, False]
    versions[-1] = (versions[-1][0]._replace(origin="person"), versions[-1][1])
    assert blame(make_lines(versions), MANY)[-1] == LineOrigin(versions[-1][0], is_approved=True)


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=6), st.integers(1, 5))
def test_every_line_has_one_origin_whose_version_holds_it(pages: list[list[str]], count: int) -> None:
    texts = ["".join(f"{line}\n" for line in lines) for lines in pages]
    versions = history(*((str(number), text) for number, text in enumerate(texts)))
    for bounds in (MANY, Bounds(count, 1000)):
        origins = blame(make_lines(versions), bounds)
        assert len(origins) == len(split_lines(texts[-1]))
        for line, origin in zip(split_lines(texts[-1]), origins, strict=True):
            assert origin.change is None or line in split_lines(texts[int(origin.change.agent)])


LINES = st.lists(st.sampled_from(["", "a", "ab", "b", "é"]), max_size=5)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_deltas_and_whole_versions_say_the_same(texts: list[str]) -> None:
    versions = history(*((str(number), text) for number, text in enumerate(texts)))
    whole = [make_line(change, None, data, -1) for change, data in versions]
    assert blame(make_lines(versions), MANY) == blame(whole, MANY)
    assert len(blame(whole, MANY)) == len(split_lines(texts[-1]))


def test_a_line_that_begins_like_its_new_neighbour_keeps_its_author() -> None:
    versions = history(
        ("ann", "- buy milk\n"), ("", "- bake bread\n- buy milk\n"), ("ben", "- bake bread\n- b\n- buy milk\n")
    )
    assert authors(versions) == ["outside", "ben", "ann"]


def test_a_damaged_delta_spoils_only_what_depends_on_it() -> None:
    versions = history(
        *((name, "".join(f"line {number}\n" for number in range(at + 1))) for at, name in enumerate("abcd"))
    )
    lines = make_lines(versions)
    lines[2] = lines[2]._replace(data=make_line(versions[2][0], None, b"something else\n", -1).data)
    assert blame(lines, MANY) == []
    whole = [*lines, make_line(versions[3][0]._replace(id="e", before="x"), None, versions[3][1], -1)]
    origins = blame(whole, MANY)
    assert [origin.change.agent if origin.change else "?" for origin in origins] == ["a", "b", "?", "?"]


def test_the_lines_of_a_large_page_are_distinguished() -> None:
    text = "".join(f"line {number} of what an agent wrote\n" for number in range(20_000))
    versions = [("ann", text)]
    for name in ("ben", "", "cid"):
        text += f"by {name or 'a person'}\n"
        versions.append((name, text))
    line_authors = authors(history(*versions), Bounds(1000, 2_000_000))
    assert line_authors[-3:] == ["ben", "outside", "cid"]
    assert line_authors[:-3] == ["ann"] * 20_000


def test_what_is_kept_of_pages_is_bounded_and_follows_edits_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache: ByteCache[tuple[object, str], object] = ByteCache("few authors", 40_000)
    monkeypatch.setattr("commonplace.storage.authors._pages", cache)
    home = Memory(tmp_path / "home").home
    pages = home.storage.pages
    paths = [f"memory/world/topic-{number}.md" for number in range(120)]
    for number, path in enumerate(paths):
        pages.write(path, f"# Topic {number}\n\nIt is {number}.\n" * (300 if number % 40 == 39 else 1))
    for _ in range(2):
        home.authors.find([(path, 3, 3) for path in paths])
        remaining = [*cache.recent.items(), *cache._earlier.items()]
        assert len(remaining) < len(paths)
        assert sum(measure_bytes(*entry) for entry in remaining) < 2 * cache.limit_bytes
    (before,) = home.authors.find([(paths[-1], 3, 3)])
    Path(home.storage.display_path(paths[-1])).write_text("# Topic\n\nAnother line.\n")
    pages.record_outside_edits(paths[-1:])
    (after,) = home.authors.find([(paths[-1], 3, 3)])
    assert before.author != after.author == "outside"
