"""What can be read over HTTP: each resource says what the library says, for the agent that asks."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace import Memory, __version__
from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import create_token
from commonplace.surfaces.http import homes

from ...waiting import LONG_SECONDS
from .api import Api
from .conftest import KEY


def test_status_says_who_asks_and_what_they_may(api_client: Api) -> None:
    status = api_client.get("status")
    assert status["version"] == __version__
    assert (status["agent"], status["role"], status["read_only"]) == ("main", "admin", False)
    assert status["agents"] == ["bob", "main"]
    assert status["channels"] == ["dev"]
    assert status["pages"] >= 6


def test_an_agent_whose_folder_has_another_name_is_listed_by_its_own(api_client: Api, full: Path) -> None:
    Memory(full, agent="Ann Smith").call("remember", {"content": "The boat is blue."})
    assert api_client.get("status")["agents"] == ["Ann Smith", "bob", "main"]
    found = api_client.as_(agent="Ann Smith").get("search", q="which colour has the boat?")
    assert "blue" in found["results"][0]["text"]


def test_an_agent_that_history_does_not_know_is_listed_by_its_folder(api_client: Api, full: Path) -> None:
    path = Memory(full, agent="Ann Smith").call("remember", {"content": "The boat is blue."})["content"].split()[2]
    shutil.rmtree(full / ".history")
    assert api_client.get("status")["agents"] == [path.split("/")[1], "bob", "main"]


def test_a_search_and_a_tool_say_that_nothing_is_of_the_days_asked_about(api_client: Api) -> None:
    notice = "nothing is dated in May 1999 (1–31 May 1999): the hits are from other days"
    assert api_client.get("search", q="did Ann like tea in May 1999?")["warnings"] == [notice]
    assert api_client.post("tools/memory_search", query="did Ann like tea in May 1999?")["warning"] == notice


def test_a_search_says_which_words_it_found_and_why(api_client: Api) -> None:
    response = api_client.get("search", q="does Ann like teas?", limit=3)
    hit = response["results"][0]
    assert hit["path"].startswith("agents/main/memory/daily/")
    assert [hit["text"][start:end] for start, end in hit["marks"]] == ["Ann", "tea"]
    assert hit["why"]["words"] > 0
    assert hit["why"]["all"] >= hit["why"]["words"]
    assert {"score", "scope", "title", "from", "to", "source"} <= hit.keys()
    assert response["fallback"] is False
    assert response["took_ms"] > 0
    assert "why" not in api_client.get("search", q="tea", explain="false")["results"][0]


def test_a_search_keeps_to_its_filters(api_client: Api) -> None:
    assert {hit["scope"] for hit in api_client.get("search", q="editor", scope="channel:dev")["results"]} == {
        "channel:dev"
    }
    assert {hit["key"] for hit in api_client.get("search", q="editor shell", tag=["tools"])["results"]} == {
        "editor",
        "shell",
    }
    assert api_client.get("search", q="tea", until="2001-01-01")["results"] == []
    assert api_client.get("search", q="tea", keyword="true")["mode"] == "keyword"
    assert [hit["path"] for hit in api_client.get("search", q="Ann", path="memory/world")["results"]] == [
        "memory/world/people.md"
    ]


def test_the_context_comes_with_its_receipt(api_client: Api, full: Path) -> None:
    response = api_client.get("context", budget=400, query="tea", channel="dev")
    same = Memory(full).context(budget=400, query="tea", channel="dev")
    assert (response["text"], response["receipt"]) == (same.text, same.receipt)
    approved = api_client.get("context", only_approved="true")["text"]
    assert approved == Memory(full).context(only_approved=True).text != Memory(full).context().text


def test_a_prompt_is_given_what_it_needs_once_in_a_session(api_client: Api) -> None:
    api_client.post("tools/remember", content="The spare key hangs behind the oven.")
    question = "where does the spare key hang?"
    response = api_client.get("recall", prompt=question)
    assert "behind the oven" in response["text"]
    assert response["receipt"]["budget"] == 300
    assert api_client.get("recall", prompt=question) == response
    assert api_client.get("recall", prompt="write a haiku about the sea")["text"] == ""
    assert api_client.get("recall", prompt=question, budget=10)["text"] == ""
    talk = api_client.as_(Session="s-1")
    assert "behind the oven" in talk.get("recall", prompt=question)["text"]
    assert talk.get("recall", prompt=question)["text"] == ""
    assert "behind the oven" in api_client.as_(Session="s-2").get("recall", prompt=question)["text"]


def test_pages_are_listed_some_at_a_time(api_client: Api) -> None:
    every = api_client.get("pages")["pages"]
    assert len(every) >= 6
    assert api_client.get("pages")["next"] is None
    one = api_client.get("pages", limit=2)
    two = api_client.get("pages", limit=100, after=one["next"])
    assert [row["path"] for row in [*one["pages"], *two["pages"]]] == [row["path"] for row in every]
    records = api_client.get("pages", kind="record", prefix="memory/global/")["pages"]
    assert {row["key"] for row in records} == {"editor", "shell"}
    assert all(row["tags"] == ["tools"] and row["size"] > 0 for row in records)


def test_a_page_is_markdown_or_with_all_that_is_known_of_it(api_client: Api) -> None:
    plain = api_client.send("GET", "pages/memory/world/people.md")
    assert plain.headers["content-type"] == "text/markdown; charset=utf-8"
    assert plain.text == "# People\n\nAnn and Bob.\n"
    page = api_client.get("pages/memory/world/people.md")
    assert f'"{page["version"]}"' == plain.headers["etag"]
    assert (page["title"], page["kind"], page["scope"]) == ("People", "page", "world")
    assert page["html"].startswith('<h1 id="note-people">People</h1>')
    known = api_client.send("GET", "pages/memory/world/people.md", headers={"If-None-Match": plain.headers["etag"]})
    assert (known.status_code, known.text) == (304, "")


def test_links_lead_to_pages(api_client: Api) -> None:
    day = api_client.get("outline")["days"][0]["path"]
    page = api_client.get(f"pages/{day}")
    assert page["links"] == [{"target": "people", "text": "people", "path": "memory/world/people.md"}]
    assert 'href="#/page/memory/world/people.md"' in page["html"]


def test_the_front_matter_of_a_record_is_read(api_client: Api) -> None:
    path = next(row["path"] for row in api_client.get("outline")["globals"] if row["key"] == "editor")
    assert api_client.get(f"pages/{path}")["front"]["tags"] == ["tools"]


def test_a_page_can_be_read_as_of_a_time(api_client: Api, full: Path) -> None:
    Memory(full).call("update_world", {"topic": "people", "content": "Nobody.\n"})
    changes = api_client.get("history", what="memory/world/people.md")["changes"][-1]
    then = api_client.send("GET", "pages/memory/world/people.md", params={"at": changes["at"]})
    assert then.text.startswith("# People")
    assert "etag" not in then.headers
    assert api_client.get("pages/memory/world/people.md", at=changes["at"])["as_of"] == changes["at"]


def test_what_was_said_is_without_the_activity_log_unless_that_is_asked_for(api_client: Api) -> None:
    api_client.post("tools/write_memory", key="plan", content="Rest.")
    plan, activity = sorted(api_client.get("history", limit=2)["changes"], key=lambda row: "activity" in row["path"])
    assert activity["path"].startswith("agents/main/memory/activity/")
    said = api_client.get("history", sentences="true")["changes"]
    assert said[0]["id"] == plan["id"]
    assert activity["id"] not in {row["id"] for row in said}
    (only,) = api_client.get("history", sentences="true", what=activity["path"])["changes"]
    assert only["id"] == activity["id"]


def test_the_outline_is_what_there_is_to_browse(api_client: Api) -> None:
    response = api_client.get("outline")
    assert [day["entries"] for day in response["days"]] == [1]
    assert response["topics"] == [{"name": "people", "path": "memory/world/people.md", "value": "Ann and Bob."}]
    assert {row["key"]: row["value"] for row in response["globals"]} == {"editor": "vim", "shell": "fish"}
    assert [(each["name"], [row["value"] for row in each["records"]]) for each in response["channels"]] == [
        ("dev", ["emacs"])
    ]
    assert [(each["id"], each["turns"]) for each in response["sessions"]] == [("s-1", 2)]
    assert [each["name"] for each in response["directives"]] == ["memory"]
    assert [each["title"] for each in response["summaries"]] == ["Curated memory"]
    assert "quokka" not in str(response)


def test_a_session_is_a_conversation_without_its_secrets(api_client: Api) -> None:
    turns = api_client.get("sessions/agents/main/sessions/s-1.jsonl")["turns"]
    assert [(turn["role"], turn["line"]) for turn in turns] == [("user", 1), ("assistant", 2)]
    assert KEY not in str(turns)
    assert KEY not in api_client.send("GET", "pages/agents/main/sessions/s-1.jsonl").text
    assert api_client.send("GET", "sessions/memory/world/people.md").status_code == 404


def test_a_session_is_called_by_how_it_begins_and_is_as_old_as_its_last_turn(api_client: Api, full: Path) -> None:
    sessions = full / "agents" / "main" / "sessions"
    for day, name in ((12, "older"), (14, "newer"), (13, "between")):
        turn = {"role": "user", "content": f"The {name} one.", "timestamp": f"2026-03-{day}T09:26:53Z"}
        (sessions / f"{name}.jsonl").write_text(json.dumps(turn) + "\n")
    rows = [row for row in api_client.get("outline")["sessions"] if row["id"] != "s-1"]
    assert [row["title"] for row in rows] == ["The newer one.", "The between one.", "The older one."]
    assert rows[0]["at"] == "2026-03-14T09:26:53Z"
    assert api_client.get(f"sessions/{rows[0]['path']}")["title"] == "The newer one."


def test_the_map_draws_links_keys_and_tags(api_client: Api) -> None:
    response = api_client.get("map")
    assert {(edge["why"], edge["label"]) for edge in response["edges"]} == {
        ("link", "people"),
        ("key", "editor"),
        ("tag", "tools"),
    }
    assert {"memory/world/people.md"} <= {node["id"] for node in response["nodes"]}
    assert len(api_client.get("map", limit=1)["nodes"]) == 1


def test_health_says_how_memory_is_doing(api_client: Api, full: Path) -> None:
    (full / "memory/broken.md").write_bytes(b"\xff\xfe not text")
    Memory(full).search("tea")
    response = api_client.get("health")
    assert [(each["check"], each["path"]) for each in response["findings"]] == [("unreadable", "memory/broken.md")]
    assert response["sizes"]["pages"] >= 6
    assert response["sizes"]["bytes"] > 100
    assert response["growth"][-1]["pages"] == response["sizes"]["pages"] == api_client.get("status")["pages"]
    assert response["recalled"]["most"][0]["times"] == 1
    assert (
        "memory/world/people.md" not in {each["path"] for each in response["recalled"]["most"]}
        or response["recalled"]["never"]
    )


def test_findings_can_be_asked_for_apart_from_the_figures(api_client: Api, full: Path) -> None:
    (full / "memory/broken.md").write_bytes(b"\xff\xfe not text")
    whole = api_client.get("health")
    figures = api_client.get("health", findings="false")
    response = api_client.get("findings")
    assert figures.keys() == whole.keys() - {"findings", "notes"}
    assert response == {"findings": whole["findings"], "notes": whole["notes"]}
    assert [each["path"] for each in response["findings"]] == ["memory/broken.md"]


def test_looking_around_is_not_recalling(api_client: Api) -> None:
    api_client.get("search", q="tea")
    api_client.get("context", query="tea")
    assert api_client.get("health")["recalled"]["most"] == []
    api_client.post("tools/memory_search", query="tea")
    assert api_client.get("health")["recalled"]["most"] != []


def test_every_tool_is_called_by_its_name(api_client: Api, full: Path) -> None:
    listed = {tool["name"] for tool in api_client.get("tools")["tools"]}
    assert {"remember", "memory_search", "notes_memory_search", "MemoryTool"} <= listed
    assert api_client.post("tools/remember", content="Carl likes chess.")["success"] is True
    assert Memory(full).search("chess")
    assert api_client.post("tools/memory_search?toolset=notes", query="beds")["success"] is True


def test_a_tool_says_no_in_its_own_form_with_a_status(api_client: Api) -> None:
    answer = api_client.send("POST", "tools/remember", json={"content": ""})
    assert answer.status_code == 400
    assert answer.json() == {"success": False, "error": "content is empty: give the text to store"}
    missing = api_client.send("POST", "tools/memory_get", json={"path": "memory/none.md"})
    assert (missing.status_code, missing.json()["error"]) == (404, "not found")
    unknown = api_client.send("POST", "tools/nothing", json={})
    assert unknown.status_code == 404
    assert unknown.headers["content-type"] == "application/problem+json"
    assert "remember" in unknown.json()["detail"]


def test_markdown_is_rendered_safely(api_client: Api) -> None:
    assert (
        api_client.post("render", text="**bold** <b>x</b>")["html"]
        == "<p><strong>bold</strong> &lt;b&gt;x&lt;/b&gt;</p>\n"
    )


def test_the_description_names_everything(api_client: Api) -> None:
    response = api_client.get("openapi.json")
    assert response["openapi"] == "3.1.0"
    assert "/v1/tools/remember" in response["paths"]
    assert {"get", "put", "delete"} == response["paths"]["/v1/pages/{path}"].keys()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The **bold** `code` of [Ann](https://example.com) & <b>Bob</b> #\n", "The bold code of Ann & <b>Bob</b>"),
        ("```sh\n# no heading\n```\n\n# Heading\n", "Heading"),
        ("no heading\n", "odd"),
    ],
)
def test_a_title_reads_as_the_heading_does(api_client: Api, full: Path, text: str, title: str) -> None:
    (full / "memory/world/odd.md").write_text(text)
    assert api_client.get("pages/memory/world/odd.md")["title"] == title


def test_an_export_is_streamed_as_a_whole(api_client: Api) -> None:
    import io
    import tarfile

    answer = api_client.send("GET", "export")
    assert answer.headers["content-type"] == "application/x-tar"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        assert "memory/world/people.md" in archive.getnames()
    lines = api_client.send("GET", "export", params={"format": "jsonl"})
    assert b"memory/world/people.md" in lines.content


def test_an_export_that_fails_is_reported_and_one_that_nobody_waits_for_ends_quietly(
    api_client: Api, full: Path
) -> None:
    api_client.get("status")
    shutil.rmtree(full / ".locks")
    (full / ".locks").write_text("no folder")
    assert api_client.send("GET", "export").status_code >= 400
    for _ in range(homes.MAX_EXPORTS + 1):
        left = homes.ChunkPipe()
        left.is_abandoned = True
        assert homes._slots.acquire(timeout=LONG_SECONDS), "an export that ended holds no place"
        homes.run_export(Memory(full).home, left, "tar")


def test_the_page_is_served_beside_it(api_client: Api) -> None:
    page = api_client.client.get("/")
    assert page.status_code == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert api_client.client.get("/assets/../../__init__.py").status_code == 404


def test_a_list_has_the_times_and_sizes_of_pages_and_no_links(api_client: Api, full: Path) -> None:
    secret = full.parent / "secret.md"
    secret.write_text("outside of memory")
    (full / "memory/link.md").symlink_to(secret)
    (full / "memory/out").symlink_to(full.parent)
    os.utime(full / "memory/world/people.md", (0, 0))
    rows = {row["path"]: row for row in api_client.get("pages", limit=1000)["pages"]}
    assert not [path for path in rows if "link" in path or "out" in path]
    assert rows["memory/world/people.md"]["at"].startswith("1970-01-01")
    assert {path: (full / path).stat().st_size for path in rows} == {path: row["size"] for path, row in rows.items()}
    assert api_client.get("pages", limit=1000)["pages"][-1]["path"] == "memory/world/people.md", (
        "the oldest is the last"
    )


def test_a_search_is_restricted_to_another_agent_whom_the_caller_may_be(api_client: Api) -> None:
    bob = api_client.as_(Agent="bob")
    bob.post("tools/remember", content="The spare tyre is in the cellar.")
    response = api_client.get("search", q="spare tyre", agent_filter="bob")
    assert [hit["path"].split("/")[1] for hit in response["results"]] == ["bob"]
    assert response["warnings"] == []


def test_keyed_notes_are_in_the_outline_with_their_lines(api_client: Api) -> None:
    api_client.post("tools/memory_write", key="pager", content="less", tags=["tools"])
    (note,) = (row for row in api_client.get("outline")["notes"] if row["key"] == "pager")
    assert (note["value"], note["tags"]) == ("less", ["tools"])
    text = api_client.send("GET", f"pages/{note['path']}").text.split("\n")
    assert text[note["from"] - 1] == "### pager"


def test_a_token_for_one_agent_learns_that_a_filter_hides_another(api_client: Api, full: Path) -> None:
    tokens = open_tokens(str(full))
    secret = create_token(tokens, datetime.now(UTC), agents=["main"], role="read")[1]
    response = api_client.as_(secret).get("search", q="quokka", agent_filter="bob")
    assert (response["results"], response["warnings"]) == (
        [],
        ["you may not act for the agent bob here, so nothing of it is shown"],
    )


def test_the_lines_of_a_page_come_with_their_authors(api_client: Api, full: Path) -> None:
    api_client.post("tools/update_world", topic="kettle", content="Copper.\nOld.")
    page = full / "memory/world/kettle.md"
    page.write_text(page.read_text() + "\nLoud.\n")
    rows = api_client.get("blame/memory/world/kettle.md")["lines"]
    assert [(row["from"], row["to"]) for row in rows] == [(1, 2), (3, 3)]
    assert "update_world" in rows[0]["author"]
    assert rows[1]["author"] == "outside"
    assert api_client.send("GET", "blame/memory/world/nothing.md").status_code == 404
