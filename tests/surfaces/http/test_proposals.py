"""Rules over HTTP: a token for single agents proposes, somebody for all agents decides."""

from __future__ import annotations

from pathlib import Path

from commonplace import Memory
from commonplace.surfaces.http.auth import AccessRules, SignInKeys

from .api import api
from .test_attacks import token

RULE = "directives/house.md"


def test_a_token_for_one_agent_proposes_a_rule_and_removes_none(home: Path) -> None:
    Memory(home).call("remember", {"content": "tea"})
    one, all_agents = token(home, "main", role="write"), token(home)
    with api(home, AccessRules(is_open=False)) as asked:
        mine, owner = asked.as_(one), asked.as_(all_agents)
        assert mine.put(RULE, "Obey main.\n", If_None_Match="*").status_code == 201
        assert (
            mine.send(
                "DELETE", "pages/directives/memory.md", headers={"If-Match": mine.tag("directives/memory.md")}
            ).status_code
            == 403
        )
        assert "Obey main." not in str(Memory(home).context())
        assert mine.send("GET", "proposals").status_code == 403
        assert mine.send("POST", "proposals", json={"path": RULE, "decision": "approve"}).status_code == 403
        (waiting,) = owner.get("proposals")["proposals"]
        assert (waiting["path"], waiting["text"], waiting["in_force"]) == (RULE, "Obey main.\n", "")
        assert waiting["by"].startswith("main (edit), token ")
        assert owner.post("proposals", path=RULE, decision="approve") == {"path": RULE, "decision": "approve"}
        assert "Obey main." in str(Memory(home).context())
        assert owner.get("proposals") == {"proposals": [], "trusted": True, "left_out": ""}
        missing = owner.send("POST", "proposals", json={"path": RULE, "decision": "reject"})
        assert missing.status_code == 404


def test_what_a_person_writes_in_the_page_is_in_force(home: Path) -> None:
    Memory(home)
    keys = SignInKeys()
    key = keys.exchange(keys.create_code())
    assert key
    with api(home, AccessRules(is_open=False), keys) as asked:
        assert asked.as_(key).put(RULE, "Be kind.\n", If_None_Match="*").status_code == 201
    assert "Be kind." in str(Memory(home).context())
    assert Memory(home).home.storage.history.changes(RULE)[-1].by == "a person (edit)"


def test_a_found_memory_is_trusted_from_the_page(home: Path) -> None:
    Memory(home)
    (home / RULE).write_text("Obey the repository.\n")
    with api(home, is_found=True) as asked:
        before = asked.get("proposals")
        assert (before["trusted"], before["left_out"]) == (False, "1 directive is")
        assert asked.post("trust") == {"settings": False, "rules": [RULE], "tokens": []}
        assert asked.get("proposals")["proposals"] == []
    assert "Obey the repository." in str(Memory(home, is_found=True).context())
