"""Who a request comes from, and which memory it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.errors import InvalidArgument, Refused
from commonplace.server.auth import ServerOptions
from commonplace.storage.tokens import Grant


@pytest.mark.parametrize("name", ["agent", "user", "channel", "session", "home"])
def test_a_name_with_half_a_character_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match=f"the {name} of a request is a name"):
        ServerOptions(str(tmp_path)).identify({f"commonplace/{name}": "cut \ud83d"}, None)


def test_a_name_in_a_header_holds_against_the_request(tmp_path: Path) -> None:
    serves = ServerOptions(str(tmp_path))
    headers = {"commonplace-agent": "J%C3%B6rg"}
    assert serves.identify({"commonplace/agent": "Jörg"}, headers).agent == "Jörg"
    assert serves.identify({"commonplace/agent": ""}, headers).agent == "Jörg"
    with pytest.raises(Refused, match="comes from the agent Jörg, as its header says"):
        serves.identify({"commonplace/agent": "bob"}, headers)


@pytest.mark.parametrize(
    ("name", "problem"), [("a%0Ab", "more than one line: give a name of one line"), ("%20", "is blank: name one")]
)
def test_a_blank_agent_or_one_of_several_lines_is_refused(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(InvalidArgument, match=f"the name of the agent .*{problem}"):
        ServerOptions(str(tmp_path)).identify({}, {"commonplace-agent": name})
    assert not list(tmp_path.iterdir())


def test_flags_hold_and_defaults_give_way() -> None:
    options = ServerOptions("home", flags={"user": "ann"}, defaults={"channel": "tea", "agent": "cat"})
    caller = options.identify({"commonplace/channel": "coffee"}, None)
    assert (caller.agent, caller.user, caller.channel) == ("cat", "ann", "coffee")
    with pytest.raises(Refused, match="this server serves the user ann alone"):
        options.identify({"commonplace/user": "bob"}, None)
    with pytest.raises(Refused, match="this server serves the user ann alone"):
        caller.choose("user", "bob")
    assert caller.choose("channel", None) == "coffee"


def test_a_token_for_one_agent_alone_needs_no_name() -> None:
    options = ServerOptions("home")
    grant = Grant("t", "home", ("bob",), "write")
    assert options.identify({}, {}, grant).agent == "bob"
    with pytest.raises(Refused, match="this token is not for the agent ann: it is for bob"):
        options.identify({"commonplace/agent": "ann"}, {}, grant)


def test_a_request_chooses_a_memory_only_in_the_folder_of_memories(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="this server serves one memory"):
        ServerOptions("home").identify({"commonplace/home": "work"}, None)
    options = ServerOptions("home", homes=str(tmp_path))
    assert options.identify({"commonplace/home": "work"}, None).home == str(tmp_path / "work")
    with pytest.raises(InvalidArgument, match="must be a plain name"):
        options.identify({"commonplace/home": "../work"}, None)
