"""The scope matrix: what one agent stores is seen, through every door, by those it is meant for and by nobody else.

That it does not even change what others are answered is shown by `noninterference`."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from commonplace import Memory
from commonplace.surfaces.mcp.resources import can_see, page_uri
from commonplace.testing import FrozenClock

from .scopes import (
    DOORS,
    KINDS,
    OWNER,
    PEOPLE,
    PRIVATE,
    find_names,
    find_secrets,
    prepare,
    store_private,
    store_shared,
    viewing,
    what_there_is,
)  # fmt: skip

Homes = tuple[str, str, FrozenClock, tuple[tuple[str, ...], tuple[str, ...]]]
OTHERS = {name: who for name, who in PEOPLE.items() if who.is_tenant and who.agent != "ann"}


def fill(home: str, other: str, clock: FrozenClock) -> Homes:
    """A home of the owner's, and another one in which nothing of that is."""
    for each in (home, other):
        prepare(each, clock)
    store_private(home, clock)
    store_shared(home, clock)
    return home, other, clock, what_there_is(home, clock)


def check(homes: Homes, person: str, door: str) -> None:
    """What one who looks sees through a door is what of the door's is meant for them: no more, and no less."""
    home, other, clock, known = homes
    who, there = PEOPLE[person], DOORS[door]
    with viewing(home if who.is_tenant else other, who, clock, known) as view:
        text = there.open(view)

    def may_see(kind: str) -> bool:
        if there.is_persons:
            return who.is_tenant
        return who.may_see(kind, in_conversation=there.in_conversation)

    assert find_secrets(text) == {kind for kind in there.shows if may_see(kind)}
    if there.lists:
        assert {kind for kind in find_names(text) if not may_see(kind)} == set()


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    top = tmp_path_factory.mktemp("scopes")
    return fill(str(top / "home"), str(top / "other"), FrozenClock())


def pairs() -> list[Any]:
    """Everybody at every door. Where nothing depends on the conversation, the same agent sees the same in another:
    `./dev thorough` tries those."""
    result = []
    for (name, door), (person, who) in product(DOORS.items(), PEOPLE.items()):
        is_repeated = who.is_in_another_conversation and not door.in_conversation
        result.append(pytest.param(name, person, marks=pytest.mark.thorough if is_repeated else ()))
    return result


@pytest.mark.parametrize(("door", "person"), pairs())
def test_what_is_shared_is_seen_and_what_is_not_is_not(homes: Homes, person: str, door: str) -> None:
    check(homes, person, door)


@pytest.mark.parametrize("person", PEOPLE)
def test_nobody_hears_of_changes_that_they_may_not_see(homes: Homes, person: str) -> None:
    home, _, clock, (paths, _) = homes
    who = PEOPLE[person]
    with Memory(home, who.agent, clock=clock) as memory:
        heard = {path for path in paths if can_see(memory, page_uri(path))}
    own = {path for path in heard if path.startswith("agents/")}
    assert bool(own) == (who.agent == OWNER)
    assert all(path.startswith("agents/ann/") for path in own)
    assert any(path.startswith("memory/") for path in heard)


def test_the_matrix_has_everything_in_it(homes: Homes) -> None:
    seen: set[str] = set().union(*(door.shows for door in DOORS.values()))
    assert seen == set(KINDS)
    assert len(homes[3][0]) >= len(KINDS) - 1
    assert set(PRIVATE) < set(KINDS)
