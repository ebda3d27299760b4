"""Who wrote each line: the versions of a page compared one after another, within bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.storage.authors import Bounds, LineOrigin, blame, split_lines
from commonplace.storage.history import ABSENT, APPROVE, Change, Versions, version_of

MANY = Bounds(1000, 1_000_000)


def history(*versions: tuple[str, str | None], tool: str = "remember") -> Versions:
    """Versions of a page, each with the name of the agent that wrote it; without a name, by another program."""
    made: Versions = []
    before = ABSENT
    for number, (agent, text) in enumerate(versions):
        data = None if text is None else text.encode()
        change = Change(f"{number:010x}", f"2026-03-{number + 1:02}", "a.md", version_of(data), before)
        made.append((change._replace(tool=tool if agent else "", agent=agent), data))
        before = version_of(data)
    return made


def authors(versions: Versions, bounds: Bounds = MANY) -> list[str]:
    return [origin.change.agent or "outside" if origin.change else "?" for origin in blame(versions, bounds)]


def test_a_line_keeps_its_author_while_others_write_around_it() -> None:
    made = history(("ann", "1\n2\n3\n"), ("ben", "0\n1\n2\n3\n"), ("", "0\n1\nII\n3\n4\n"))
    assert authors(made) == ["ben", "ann", "outside", "ann", "outside"]


def test_a_page_that_was_removed_and_made_again_is_its_new_authors() -> None:
    assert authors(history(("ann", "1\n"), ("ann", None), ("ben", "1\n"))) == ["ben"]
    assert authors(history(("ann", "1\n"), ("ann", None))) == []


def test_lines_older_than_the_bounds_name_nobody() -> None:
    made = history(("ann", "1\n"), ("ben", "1\n2\n"), ("cid", "1\n2\n3\n"), ("dan", "1\n2\n3\n4\n"))
    assert authors(made, Bounds(2, 1000)) == ["?", "?", "?", "dan"]
    assert authors(made, Bounds(1000, 15)) == ["?", "?", "?", "dan"]
    assert authors(made, Bounds(1000, 1)) == ["?", "?", "?", "?"]


def test_lines_from_a_version_that_history_lost_name_nobody() -> None:
    made = history(("ann", "1\n"), ("ben", "1\n2\n"), ("cid", "1\n2\n3\n"), ("dan", "1\n2\n3\n4\n"))
    assert authors(made[1:]) == ["?", "?", "cid", "dan"]
    assert authors([made[0], *made[2:]]) == ["ann", "?", "?", "dan"]


def test_an_approval_covers_the_lines_that_are_there_and_a_person_approves_what_they_write() -> None:
    made = history(("ann", "1\n"), ("ann", "1\n"), ("ann", "1\n2\n"), ("", "1\n2\n3\n"), ("ann", "1\n2\n3\n4\n"))
    made[1] = (made[1][0]._replace(tool=APPROVE), made[1][1])
    assert [origin.is_approved for origin in blame(made, MANY)] == [True, False, True, False]
    made[-1] = (made[-1][0]._replace(origin="person"), made[-1][1])
    assert blame(made, MANY)[-1] == LineOrigin(made[-1][0], is_approved=True)


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=6), st.integers(1, 5))
def test_every_line_has_one_origin_whose_version_holds_it(pages: list[list[str]], count: int) -> None:
    texts = ["".join(f"{line}\n" for line in lines) for lines in pages]
    made = history(*((str(number), text) for number, text in enumerate(texts)))
    for bounds in (MANY, Bounds(count, 1000)):
        origins = blame(made, bounds)
        assert len(origins) == len(split_lines(texts[-1]))
        for line, origin in zip(split_lines(texts[-1]), origins, strict=True):
            assert origin.change is None or line in split_lines(texts[int(origin.change.agent)])
