"""Clients that name no conversation: none loses what another one wrote meanwhile, and each can change what it read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from commonplace import Memory

from .api import Api, api

TOPIC = "garden"


class Seconds:
    """A clock of a server that only a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def elapsed() -> Seconds:
    return Seconds()


@pytest.fixture
def client(home: Path, elapsed: Seconds) -> Iterator[Api]:
    Memory(home).call("remember", {"content": "Ann prefers green tea."})
    with api(home, elapsed=elapsed) as one:
        yield one


def read(client: Api) -> list[str]:
    """Return the lines of the topic as a client is given them."""
    content = client.post("tools/recall", days=0)["content"]
    lines = content.partition(f"## {TOPIC}")[2].split("\n---\n")[0].split("\n")
    return [line for line in lines if line.strip() and not line.startswith("#")]


def write(client: Api, lines: list[str]) -> None:
    assert client.post("tools/update_world", topic=TOPIC, content="\n".join(lines))["success"]


def test_what_two_of_them_add_to_the_same_page_both_stays(client: Api) -> None:
    write(client, ["Beds are watered on Monday."])
    first, second = read(client), read(client)
    write(client, [*first, "The shed is locked."])
    write(client, [*second, "The hose is new."])
    assert read(client) == ["Beds are watered on Monday.", "The shed is locked.", "The hose is new."]


def test_two_of_them_that_both_saw_that_there_is_no_page_both_write_it(client: Api) -> None:
    assert read(client) == read(client) == []
    write(client, ["The shed is locked."])
    write(client, ["The hose is new."])
    assert sorted(read(client)) == ["The hose is new.", "The shed is locked."]


@pytest.mark.parametrize("seed", range(6))
def test_three_of_them_in_any_order_lose_no_line(client: Api, seed: int) -> None:
    random = Random(seed)
    known: dict[int, list[str]] = {}
    added: list[str] = []
    for step in range(60):
        number = random.randrange(3)
        if number in known:
            added.append(f"client {number}, line {step}")
            write(client, [*known.pop(number), added[-1]])
        else:
            known[number] = read(client)
    assert sorted(read(client)) == sorted(added)


def test_a_single_one_changes_and_removes_what_it_wrote(client: Api) -> None:
    write(client, ["The release is on 12 October."])
    write(client, ["The release is on 26 October."])
    assert read(client) == ["The release is on 26 October."]
    write(client, [*read(client), "The shed is locked."])
    write(client, read(client)[:1])
    assert read(client) == ["The release is on 26 October."]
    write(client, ["The hose is new."])
    assert read(client) == ["The hose is new."]


def test_what_was_read_long_ago_is_no_base(client: Api, elapsed: Seconds) -> None:
    write(client, ["Beds are watered on Monday."])
    assert read(client) == read(client)
    write(client, ["Beds are watered on Monday.", "The shed is locked."])
    elapsed.now = 700
    write(client, ["Beds are watered on Monday.", "The hose is new."])
    assert read(client) == ["Beds are watered on Monday.", "The hose is new."]
