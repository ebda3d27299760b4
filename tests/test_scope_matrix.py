"""The scope matrix: what one agent stores is seen, through every surface, by those it is meant for and by nobody else.

That it does not even change what others are answered is shown by `noninterference`."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from commonplace import Memory
from commonplace.surfaces.mcp.resources import can_see, page_uri
from commonplace.testing import FrozenClock

from .scopes import (
    KINDS,
    OWNER,
    PEOPLE,
    PRIVATE,
    SURFACES,
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


def check(homes: Homes, person: str, name: str) -> None:
    """Of what its owner sees through a surface, a viewer sees what they may: no more, and no less."""
    home, other, clock, known = homes
    who = PEOPLE[person]
    surface = SURFACES[name]
    with viewing(home if who.is_tenant else other, who, clock, known) as view:
        text = surface.open(view)

    def may_see(kind: str) -> bool:
        if surface.is_for_people:
            return who.is_tenant
        return who.may_see(kind, in_conversation=surface.in_conversation)

    assert find_secrets(text) == {kind for kind in surface.shows if may_see(kind)}
    if surface.lists:
        assert {kind for kind in find_names(text) if not may_see(kind)} == set()


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    top = tmp_path_factory.mktemp("scopes")
    return fill(str(top / "home"), str(top / "other"), FrozenClock())


def pairs() -> list[Any]:
    """Everybody, through every surface. Where nothing depends on the conversation, the same agent sees the same in another:
    `./dev thorough` tries those."""
    result = []
    for (name, surface), (person, who) in product(SURFACES.items(), PEOPLE.items()):
        is_repeated = who.is_in_another_conversation and not surface.in_conversation
        result.append(pytest.param(name, person, marks=pytest.mark.thorough if is_repeated else ()))
    return result


@pytest.mark.parametrize(("surface", "person"), pairs())
def test_what_is_shared_is_seen_and_what_is_not_is_not(homes: Homes, person: str, surface: str) -> None:
    check(homes, person, surface)


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
    seen: set[str] = set().union(*(surface.shows for surface in SURFACES.values()))
    assert seen == set(KINDS)
    assert len(homes[3][0]) >= len(KINDS) - 1
    assert set(PRIVATE) < set(KINDS)
