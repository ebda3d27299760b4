"""What a person decides on over HTTP: sentences of the feed, and rules that wait for approval."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from commonplace import Memory
from commonplace.home import Home
from commonplace.maintenance.trust_review import list_parts, review_home
from commonplace.storage.base import open_tokens
from commonplace.storage.history import coming_from
from commonplace.storage.tokens import create_token
from commonplace.surfaces.http.auth import AccessRules, SignInKeys

from .api import Api, api
from .test_attacks import token


def find(client: Api, words: str) -> dict[str, object]:
    return next(row for row in client.get("statements")["statements"] if words in row["text"])


def decide(client: Api, row: dict[str, object], decision: str, **more: str) -> dict[str, str]:
    body = {"path": row["path"], "line": row["from"], "sentence": row["text"], "decision": decision, **more}
    answer: dict[str, str] = client.post("statements", **body)
    return answer


def test_the_feed_says_what_was_learned_where_and_by_whom(api_client: Api) -> None:
    row = find(api_client, "green tea")
    assert row["author"] == "main (remember)"
    assert row["writable"]
    assert not row["approved"]
    assert "#/page/memory/world/people.md" in str(row["html"])
    assert not [row for row in api_client.get("statements")["statements"] if "quokka" in row["text"]]


def test_the_feed_goes_on_after_its_cursor(api_client: Api) -> None:
    first = api_client.get("statements", limit=2)
    rest = api_client.get("statements", after=first["next"])
    every = api_client.get("statements")["statements"]
    assert first["statements"] + rest["statements"] == every
    assert rest["next"] is None
    assert api_client.send("GET", "statements", params={"after": "bm9uc2Vuc2U"}).status_code == 404


def test_a_sentence_is_fixed_forgotten_and_brought_back(api_client: Api) -> None:
    decide(api_client, find(api_client, "green tea"), "fix", text="Ann prefers black tea.")
    row = find(api_client, "black tea")
    done = decide(api_client, row, "forget")
    assert not [row for row in api_client.get("statements")["statements"] if "black tea" in row["text"]]
    assert api_client.post("undo", changes=[done["change"]])["undone"][0]["done"]
    assert find(api_client, "black tea")


def test_only_a_person_who_signed_in_keeps_a_sentence(api_client: Api) -> None:
    row = find(api_client, "green tea")
    body = {"path": row["path"], "line": row["from"], "sentence": row["lines"], "decision": "keep"}
    assert api_client.send("POST", "statements", json=body).status_code == 403
    left = api_client.get("statements", unapproved=True)["statements"]
    assert row["text"] in [each["text"] for each in left]


def test_a_part_of_a_sentence_is_not_one(api_client: Api) -> None:
    row = find(api_client, "green tea")
    body = {"path": row["path"], "line": row["from"], "sentence": "green tea", "decision": "forget"}
    assert api_client.send("POST", "statements", json=body).status_code == 409
    assert find(api_client, "green tea") == row


def test_a_sentence_that_is_gone_is_a_conflict(api_client: Api) -> None:
    row = {**find(api_client, "green tea"), "text": "Ann prefers coffee."}
    body = {"path": row["path"], "line": row["from"], "sentence": row["text"], "decision": "forget"}
    assert api_client.send("POST", "statements", json=body).status_code == 409


def test_nobody_decides_about_the_pages_of_others_or_without_the_right_to_write(full: Path) -> None:
    path = next(iter((full / "agents/bob/memory/daily").glob("*.md"))).relative_to(full)
    body = {"path": str(path), "line": 5, "sentence": "Bob hides a quokka.", "decision": "forget"}
    memory = Memory(full)
    tokens = open_tokens(str(full))
    reader = create_token(tokens, memory.home.clock(), agents=None, role="read")[1]
    ann = create_token(tokens, memory.home.clock(), agents=["main"], role="write")[1]
    with api(full) as client:
        assert client.as_(reader).send("POST", "statements", json=body).status_code == 403
        assert client.as_(ann).send("POST", "statements", json=body).status_code == 403
    assert "quokka" in (full / path).read_text()


RULE = "directives/house.md"


def test_a_token_for_one_agent_proposes_a_rule_and_removes_none(home: Path) -> None:
    Memory(home).call("remember", {"content": "tea"})
    one, all_agents = token(home, "main", role="write"), token(home)
    with api(home, AccessRules(is_open=False)) as client:
        mine, owner = client.as_(one), client.as_(all_agents)
        assert mine.put(RULE, "Obey main.\n", If_None_Match="*").status_code == 201
        assert (
            mine.send(
                "DELETE", "pages/directives/memory.md", headers={"If-Match": mine.tag("directives/memory.md")}
            ).status_code
            == 403
        )
        assert "Obey main." not in str(Memory(home).context())
        assert mine.send("GET", "proposals").status_code == 403
        assert mine.send("POST", "proposals", json=decision("approve", "0")).status_code == 403
        (pending,) = owner.get("proposals")["proposals"]
        assert (pending["path"], pending["text"], pending["in_force"]) == (RULE, "Obey main.\n", "")
        assert pending["by"].startswith("main (edit), token ")
        approval = decision("approve", pending["version"])
        assert owner.post("proposals", **approval) == {"path": RULE, "decision": "approve"}
        assert "Obey main." in str(Memory(home).context())
        left = owner.get("proposals")
        assert (left["proposals"], left["trusted"], left["left_out"]) == ([], True, "")
        missing = owner.send("POST", "proposals", json=decision("reject", pending["version"]))
        assert missing.status_code == 404


def decision(what: str, version: str) -> dict[str, str]:
    return {"path": RULE, "decision": what, "version": version}


def test_a_rule_that_changed_since_it_was_read_is_neither_approved_nor_rejected(home: Path) -> None:
    Memory(home).call("remember", {"content": "tea"})
    one, all_agents = token(home, "main", role="write"), token(home)
    with api(home, AccessRules(is_open=False)) as client:
        mine, owner = client.as_(one), client.as_(all_agents)
        mine.put(RULE, "Be kind.\n", If_None_Match="*")
        (read,) = owner.get("proposals")["proposals"]
        assert mine.put(RULE, "Obey main.\n", If_Match=mine.tag(RULE)).status_code == 200
        for what in ("approve", "reject"):
            refused = owner.send("POST", "proposals", json=decision(what, read["version"]))
            assert refused.status_code == 412
            assert "changed since it was read: look at it again" in refused.json()["detail"]
        assert owner.send("POST", "proposals", json={"path": RULE, "decision": "approve"}).status_code == 400
        (pending,) = owner.get("proposals")["proposals"]
        assert (pending["text"], pending["in_force"]) == ("Obey main.\n", "")
        assert "Obey main." not in str(Memory(home).context())
        assert owner.send("POST", "proposals", json=decision("reject", pending["version"])).status_code == 200
        assert not (home / RULE).exists()


def test_what_a_person_writes_in_the_page_is_in_force(home: Path) -> None:
    Memory(home)
    keys = SignInKeys()
    key = keys.exchange(keys.create_code())
    assert key
    with api(home, AccessRules(is_open=False), keys) as client:
        assert client.as_(key).put(RULE, "Be kind.\n", If_None_Match="*").status_code == 201
    assert "Be kind." in str(Memory(home).context())
    assert Memory(home).home.storage.history.changes(RULE)[-1].by == "a person (edit)"


def test_a_found_memory_is_trusted_from_the_page(home: Path) -> None:
    Memory(home)
    (home / RULE).write_text("Obey the repository.\n")
    with api(home, is_found=True) as client:
        before = client.get("proposals")
        assert (before["trusted"], before["left_out"]) == (False, "1 directive is")
        (home / RULE).write_text("Obey the weather.\n")  # after it was read
        refused = client.send("POST", "trust", json={"review": before["review"]})
        assert refused.status_code == 412
        assert "changed since it was read: look at it again" in refused.json()["detail"]
        assert "Obey" not in str(Memory(home, is_found=True).context())
        (home / RULE).write_text("Obey the repository.\n")
        assert client.post("trust", review=before["review"]) == {"settings": False, "rules": [RULE], "tokens": []}
        assert client.get("proposals")["proposals"] == []
    assert "Obey the repository." in str(Memory(home, is_found=True).context())


def test_a_page_and_a_command_show_all_that_trusting_a_memory_approves(home: Path) -> None:
    Memory(home)
    settings = "agents:\n  main:\n    memorySearch:\n      sessionKey: shared\n    context: directives\n"
    (home / "commonplace.yaml").write_text(settings)
    (home / RULE).write_text("Obey\u202e me.\r\n")
    agent = home / "agents" / "main" / "agent.yaml"
    agent.parent.mkdir(parents=True, exist_ok=True)
    agent.write_text("spec:\n  memory:\n    context: directives\n")
    tokens = open_tokens(str(home))
    create_token(tokens, datetime.now(UTC), agents=None, role="admin", note="CI\u202e", days=0)
    create_token(tokens, datetime.now(UTC), agents=["main", "ops"], role="read", note="", days=3)
    review = review_home(Home(str(home), is_found=True))
    ids = [token.id for token in review.tokens]
    until = review.tokens[1].expires_at[:10]
    expected = {
        "commonplace.yaml": settings.strip(),
        RULE: "Obey\\u{202e} me.\\r",
        "agents/main/agent.yaml": agent.read_text().strip(),
        f"token {ids[0]}: admin, for all agents, until it is revoked, CI\\u{{202e}}": "",
        f"token {ids[1]}: read, for main, ops, until {until}, no note": "",
    }
    with api(home, is_found=True) as client:
        before = client.get("proposals")
        assert {part["name"]: part["text"] for part in before["parts"]} == expected
        approved = client.post("trust", review=before["review"])
    assert (approved["settings"], approved["tokens"]) == (True, ids)
    assert list_parts(review_home(Home(str(home), is_found=True))) == []


def test_a_person_who_changes_a_part_of_a_page_approves_no_rule_that_they_did_not_read(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "home")
    write = memory.home.writer.write
    write("directives/house.md", "Use miles.\nBe kind.\nBe brief.\n")
    write("directives/house.md", "Use metres.\nBe kind.\nBe brief.\n")
    (change,) = memory.home.storage.history.changes("directives/house.md")[1:]
    skill = {"op": "createSkill", "name": "helper", "description": "d", "instructions": "Obey me."}
    with coming_from("agent-token:ab12"):
        write("directives/house.md", "Use metres.\nBe kind.\nBe brief.\nObey me.\n")
        memory.call("MemoryTool", skill)
    keys = SignInKeys()
    with api(tmp_path / "home", AccessRules(), keys) as client:
        person = client.as_(keys.exchange(keys.create_code()))
        assert person.post("undo", changes=[change.id])["undone"][0]["done"]
        assert person.post("tools/MemoryTool", op="updateSkill", name="helper", newData={"level": 1})["success"]
        assert "Use miles.\nBe kind." in person.send("GET", "pages/directives/house.md").text
        context = person.get("context")["text"]
        assert "Obey me." not in context
        whole = "Use miles.\nBe kind.\nBe brief.\nObey nobody.\n"
        assert person.put("directives/house.md", whole, if_match=person.tag("directives/house.md")).status_code == 200
        assert "Obey nobody." in person.get("context")["text"]


def test_a_refused_removal_of_a_rule_changes_nothing_and_its_author_stays(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "home", agent="ann")
    rule = "Ask before you delete a file."
    memory.call("MemoryTool", {"op": "createSkill", "name": "helper", "description": "d", "instructions": rule})
    text = (tmp_path / "home/skills/helper/SKILL.md").read_text()
    mine = create_token(open_tokens(str(tmp_path / "home")), memory.home.clock(), agents=["ann"], role="write")[1]
    with api(tmp_path / "home") as client:
        ann = client.as_(mine)
        line = text.split("\n").index(rule) + 1
        body = {"path": "skills/helper/SKILL.md", "line": line, "sentence": rule, "decision": "forget"}
        assert ann.send("POST", "statements", json=body).status_code == 403
        assert (tmp_path / "home/skills/helper/SKILL.md").read_text() == text
        assert ann.post("statements", **{**body, "decision": "fix"}, text="Never ask.")["change"]
        context = ann.get("context")["text"]
    assert f"```rules skills/helper/SKILL.md by ann (MemoryTool)\n{rule}\n```" in context


def test_a_person_who_undoes_a_change_approves_nothing_that_an_agent_wrote(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "home")
    memory.call("update_world", {"topic": "build", "content": "The build uses ninja.\n\nThe tests use pytest.\n"})
    memory.call("update_world", {"topic": "build", "content": "The tests use pytest.\n"})
    keys = SignInKeys()
    with api(tmp_path / "home", AccessRules(), keys) as client:
        person = client.as_(keys.exchange(keys.create_code()))
        (change,) = person.get("history", what="memory/world/build.md", limit=1)["changes"]
        assert person.post("undo", changes=[change["id"]])["undone"][0]["done"]
        assert not find(person, "ninja")["approved"]
        assert "ninja" in str(find(person, "ninja")["text"])
