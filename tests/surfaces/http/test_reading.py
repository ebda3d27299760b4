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

from .api import Api
from .conftest import KEY


def test_status_says_who_asks_and_what_they_may(asked: Api) -> None:
    status = asked.get("status")
    assert status["version"] == __version__
    assert (status["agent"], status["role"], status["read_only"]) == ("main", "admin", False)
    assert status["agents"] == ["bob", "main"]
    assert status["channels"] == ["dev"]
    assert status["pages"] >= 6


def test_a_search_and_a_tool_say_that_nothing_is_of_the_days_asked_about(asked: Api) -> None:
    notice = "nothing is dated in May 1999 (1–31 May 1999): the hits are from other days"
    assert asked.get("search", q="did Ann like tea in May 1999?")["warnings"] == [notice]
    assert asked.post("tools/memory_search", query="did Ann like tea in May 1999?")["warning"] == notice


def test_a_search_says_which_words_it_found_and_why(asked: Api) -> None:
    found = asked.get("search", q="does Ann like teas?", limit=3)
    hit = found["results"][0]
    assert hit["path"].startswith("agents/main/memory/daily/")
    assert [hit["text"][start:end] for start, end in hit["marks"]] == ["Ann", "tea"]
    assert hit["why"]["words"] > 0
    assert hit["why"]["all"] >= hit["why"]["words"]
    assert {"score", "scope", "title", "from", "to", "source"} <= hit.keys()
    assert found["fallback"] is False
    assert found["took_ms"] > 0
    assert "why" not in asked.get("search", q="tea", explain="false")["results"][0]


def test_a_search_keeps_to_its_filters(asked: Api) -> None:
    assert {hit["scope"] for hit in asked.get("search", q="editor", scope="channel:dev")["results"]} == {"channel:dev"}
    assert {hit["key"] for hit in asked.get("search", q="editor shell", tag=["tools"])["results"]} == {
        "editor",
        "shell",
    }
    assert asked.get("search", q="tea", until="2001-01-01")["results"] == []
    assert asked.get("search", q="tea", keyword="true")["mode"] == "keyword"
    assert [hit["path"] for hit in asked.get("search", q="Ann", path="memory/world")["results"]] == [
        "memory/world/people.md"
    ]


def test_the_context_comes_with_its_receipt(asked: Api, full: Path) -> None:
    found = asked.get("context", budget=400, query="tea", channel="dev")
    same = Memory(full).context(budget=400, query="tea", channel="dev")
    assert (found["text"], found["receipt"]) == (same.text, same.receipt)
    approved = asked.get("context", only_approved="true")["text"]
    assert approved == Memory(full).context(only_approved=True).text != Memory(full).context().text


def test_a_prompt_is_given_what_it_needs_once_in_a_session(asked: Api) -> None:
    asked.post("tools/remember", content="The spare key hangs behind the oven.")
    question = "where does the spare key hang?"
    found = asked.get("recall", prompt=question)
    assert "behind the oven" in found["text"]
    assert found["receipt"]["budget"] == 300
    assert asked.get("recall", prompt=question) == found
    assert asked.get("recall", prompt="write a haiku about the sea")["text"] == ""
    assert asked.get("recall", prompt=question, budget=10)["text"] == ""
    talk = asked.as_(Session="s-1")
    assert "behind the oven" in talk.get("recall", prompt=question)["text"]
    assert talk.get("recall", prompt=question)["text"] == ""
    assert "behind the oven" in asked.as_(Session="s-2").get("recall", prompt=question)["text"]


def test_pages_are_listed_some_at_a_time(asked: Api) -> None:
    every = asked.get("pages")["pages"]
    assert len(every) >= 6
    assert asked.get("pages")["next"] is None
    one = asked.get("pages", limit=2)
    two = asked.get("pages", limit=100, after=one["next"])
    assert [row["path"] for row in [*one["pages"], *two["pages"]]] == [row["path"] for row in every]
    records = asked.get("pages", kind="record", prefix="memory/global/")["pages"]
    assert {row["key"] for row in records} == {"editor", "shell"}
    assert all(row["tags"] == ["tools"] and row["size"] > 0 for row in records)


def test_a_page_is_markdown_or_with_all_that_is_known_of_it(asked: Api) -> None:
    plain = asked.send("GET", "pages/memory/world/people.md")
    assert plain.headers["content-type"] == "text/markdown; charset=utf-8"
    assert plain.text == "# People\n\nAnn and Bob.\n"
    page = asked.get("pages/memory/world/people.md")
    assert f'"{page["version"]}"' == plain.headers["etag"]
    assert (page["title"], page["kind"], page["scope"]) == ("People", "page", "world")
    assert page["html"].startswith('<h1 id="note-people">People</h1>')
    known = asked.send("GET", "pages/memory/world/people.md", headers={"If-None-Match": plain.headers["etag"]})
    assert (known.status_code, known.text) == (304, "")


def test_links_lead_to_pages(asked: Api) -> None:
    day = asked.get("outline")["days"][0]["path"]
    page = asked.get(f"pages/{day}")
    assert page["links"] == [{"target": "people", "text": "people", "path": "memory/world/people.md"}]
    assert 'href="#/page/memory/world/people.md"' in page["html"]


def test_the_front_matter_of_a_record_is_read(asked: Api) -> None:
    path = next(row["path"] for row in asked.get("outline")["globals"] if row["key"] == "editor")
    assert asked.get(f"pages/{path}")["front"]["tags"] == ["tools"]


def test_a_page_can_be_read_as_of_a_time(asked: Api, full: Path) -> None:
    Memory(full).call("update_world", {"topic": "people", "content": "Nobody.\n"})
    made = asked.get("history", what="memory/world/people.md")["changes"][-1]
    then = asked.send("GET", "pages/memory/world/people.md", params={"at": made["at"]})
    assert then.text.startswith("# People")
    assert "etag" not in then.headers
    assert asked.get("pages/memory/world/people.md", at=made["at"])["as_of"] == made["at"]


def test_the_outline_is_what_there_is_to_browse(asked: Api) -> None:
    found = asked.get("outline")
    assert [day["entries"] for day in found["days"]] == [1]
    assert found["topics"] == [{"name": "people", "path": "memory/world/people.md", "value": "Ann and Bob."}]
    assert {row["key"]: row["value"] for row in found["globals"]} == {"editor": "vim", "shell": "fish"}
    assert [(each["name"], [row["value"] for row in each["records"]]) for each in found["channels"]] == [
        ("dev", ["emacs"])
    ]
    assert [(each["id"], each["turns"]) for each in found["sessions"]] == [("s-1", 2)]
    assert [each["name"] for each in found["directives"]] == ["memory"]
    assert [each["title"] for each in found["summaries"]] == ["Curated memory"]
    assert "quokka" not in str(found)


def test_a_session_is_a_conversation_without_its_secrets(asked: Api) -> None:
    said = asked.get("sessions/agents/main/sessions/s-1.jsonl")["turns"]
    assert [(turn["role"], turn["line"]) for turn in said] == [("user", 1), ("assistant", 2)]
    assert KEY not in str(said)
    assert KEY not in asked.send("GET", "pages/agents/main/sessions/s-1.jsonl").text
    assert asked.send("GET", "sessions/memory/world/people.md").status_code == 404


def test_a_session_is_called_by_how_it_begins_and_is_as_old_as_its_last_turn(asked: Api, full: Path) -> None:
    sessions = full / "agents" / "main" / "sessions"
    for day, name in ((12, "older"), (14, "newer"), (13, "between")):
        turn = {"role": "user", "content": f"The {name} one.", "timestamp": f"2026-03-{day}T09:26:53Z"}
        (sessions / f"{name}.jsonl").write_text(json.dumps(turn) + "\n")
    rows = [row for row in asked.get("outline")["sessions"] if row["id"] != "s-1"]
    assert [row["title"] for row in rows] == ["The newer one.", "The between one.", "The older one."]
    assert rows[0]["at"] == "2026-03-14T09:26:53Z"
    assert asked.get(f"sessions/{rows[0]['path']}")["title"] == "The newer one."


def test_the_map_draws_links_keys_and_tags(asked: Api) -> None:
    found = asked.get("map")
    assert {(edge["why"], edge["label"]) for edge in found["edges"]} == {
        ("link", "people"),
        ("key", "editor"),
        ("tag", "tools"),
    }
    assert {"memory/world/people.md"} <= {node["id"] for node in found["nodes"]}
    assert len(asked.get("map", limit=1)["nodes"]) == 1


def test_health_says_how_memory_is_doing(asked: Api, full: Path) -> None:
    (full / "memory/broken.md").write_bytes(b"\xff\xfe not text")
    Memory(full).search("tea")
    found = asked.get("health")
    assert [(each["check"], each["path"]) for each in found["findings"]] == [("unreadable", "memory/broken.md")]
    assert found["sizes"]["pages"] >= 6
    assert found["sizes"]["bytes"] > 100
    assert found["growth"][-1]["pages"] == found["sizes"]["pages"] == asked.get("status")["pages"]
    assert found["recalled"]["most"][0]["times"] == 1
    assert (
        "memory/world/people.md" not in {each["path"] for each in found["recalled"]["most"]}
        or found["recalled"]["never"]
    )


def test_findings_can_be_asked_for_apart_from_the_figures(asked: Api, full: Path) -> None:
    (full / "memory/broken.md").write_bytes(b"\xff\xfe not text")
    whole = asked.get("health")
    figures = asked.get("health", findings="false")
    found = asked.get("findings")
    assert figures.keys() == whole.keys() - {"findings", "notes"}
    assert found == {"findings": whole["findings"], "notes": whole["notes"]}
    assert [each["path"] for each in found["findings"]] == ["memory/broken.md"]


def test_looking_around_is_not_recalling(asked: Api) -> None:
    asked.get("search", q="tea")
    asked.get("context", query="tea")
    assert asked.get("health")["recalled"]["most"] == []
    asked.post("tools/memory_search", query="tea")
    assert asked.get("health")["recalled"]["most"] != []


def test_every_tool_is_called_by_its_name(asked: Api, full: Path) -> None:
    listed = {tool["name"] for tool in asked.get("tools")["tools"]}
    assert {"remember", "memory_search", "notes_memory_search", "MemoryTool"} <= listed
    assert asked.post("tools/remember", content="Carl likes chess.")["success"] is True
    assert Memory(full).search("chess")
    assert asked.post("tools/memory_search?toolset=notes", query="beds")["success"] is True


def test_a_tool_says_no_in_its_own_form_with_a_status(asked: Api) -> None:
    answer = asked.send("POST", "tools/remember", json={"content": ""})
    assert answer.status_code == 400
    assert answer.json() == {"success": False, "error": "Missing required parameter: content"}
    missing = asked.send("POST", "tools/memory_get", json={"path": "memory/none.md"})
    assert (missing.status_code, missing.json()["error"]) == (404, "not found")
    unknown = asked.send("POST", "tools/nothing", json={})
    assert unknown.status_code == 404
    assert unknown.headers["content-type"] == "application/problem+json"
    assert "remember" in unknown.json()["detail"]


def test_markdown_is_rendered_safely(asked: Api) -> None:
    assert (
        asked.post("render", text="**bold** <b>x</b>")["html"] == "<p><strong>bold</strong> &lt;b&gt;x&lt;/b&gt;</p>\n"
    )


def test_the_description_names_everything(asked: Api) -> None:
    said = asked.get("openapi.json")
    assert said["openapi"] == "3.1.0"
    assert "/v1/tools/remember" in said["paths"]
    assert {"get", "put", "delete"} == said["paths"]["/v1/pages/{path}"].keys()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The **bold** `code` of [Ann](https://example.com) & <b>Bob</b> #\n", "The bold code of Ann & <b>Bob</b>"),
        ("```sh\n# no heading\n```\n\n# Heading\n", "Heading"),
        ("no heading\n", "odd"),
    ],
)
def test_a_title_reads_as_the_heading_does(asked: Api, full: Path, text: str, title: str) -> None:
    (full / "memory/world/odd.md").write_text(text)
    assert asked.get("pages/memory/world/odd.md")["title"] == title


def test_an_export_is_streamed_as_a_whole(asked: Api) -> None:
    import io
    import tarfile

    answer = asked.send("GET", "export")
    assert answer.headers["content-type"] == "application/x-tar"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        assert "memory/world/people.md" in archive.getnames()
    lines = asked.send("GET", "export", params={"format": "jsonl"})
    assert b"memory/world/people.md" in lines.content


def test_an_export_that_fails_is_reported_and_one_that_nobody_waits_for_ends_quietly(asked: Api, full: Path) -> None:
    asked.get("status")
    shutil.rmtree(full / ".locks")
    (full / ".locks").write_text("no folder")
    assert asked.send("GET", "export").status_code >= 400
    for _ in range(homes.MAX_EXPORTS + 1):
        left = homes.ChunkPipe()
        left.is_abandoned = True
        assert homes._slots.acquire(timeout=20), "an export that ended holds no place"
        homes.run_export(Memory(full).home, left, "tar")


def test_the_page_is_served_beside_it(asked: Api) -> None:
    page = asked.client.get("/")
    assert page.status_code == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert asked.client.get("/assets/../../__init__.py").status_code == 404


def test_a_list_has_the_times_and_sizes_of_pages_and_no_links(asked: Api, full: Path) -> None:
    secret = full.parent / "secret.md"
    secret.write_text("outside of memory")
    (full / "memory/link.md").symlink_to(secret)
    (full / "memory/out").symlink_to(full.parent)
    os.utime(full / "memory/world/people.md", (0, 0))
    rows = {row["path"]: row for row in asked.get("pages", limit=1000)["pages"]}
    assert not [path for path in rows if "link" in path or "out" in path]
    assert rows["memory/world/people.md"]["at"].startswith("1970-01-01")
    assert {path: (full / path).stat().st_size for path in rows} == {path: row["size"] for path, row in rows.items()}
    assert asked.get("pages", limit=1000)["pages"][-1]["path"] == "memory/world/people.md", "the oldest is the last"


def test_a_search_is_restricted_to_another_agent_whom_the_caller_may_be(asked: Api) -> None:
    bob = asked.as_(Agent="bob")
    bob.post("tools/remember", content="The spare tyre is in the cellar.")
    found = asked.get("search", q="spare tyre", agent_filter="bob")
    assert [hit["path"].split("/")[1] for hit in found["results"]] == ["bob"]
    assert found["warnings"] == []


def test_keyed_notes_are_in_the_outline_with_their_lines(asked: Api) -> None:
    asked.post("tools/memory_write", key="pager", content="less", tags=["tools"])
    (note,) = (row for row in asked.get("outline")["notes"] if row["key"] == "pager")
    assert (note["value"], note["tags"]) == ("less", ["tools"])
    text = asked.send("GET", f"pages/{note['path']}").text.split("\n")
    assert text[note["from"] - 1] == "### pager"


def test_a_token_for_one_agent_learns_that_a_filter_hides_another(asked: Api, full: Path) -> None:
    tokens = open_tokens(str(full))
    secret = create_token(tokens, datetime.now(UTC), agents=["main"], role="read")[1]
    found = asked.as_(secret).get("search", q="quokka", agent_filter="bob")
    assert (found["results"], found["warnings"]) == (
        [],
        ["you may not act for the agent bob here, so nothing of it is shown"],
    )


def test_the_lines_of_a_page_come_with_their_authors(asked: Api, full: Path) -> None:
    asked.post("tools/update_world", topic="kettle", content="Copper.\nOld.")
    page = full / "memory/world/kettle.md"
    page.write_text(page.read_text() + "\nLoud.\n")
    rows = asked.get("blame/memory/world/kettle.md")["lines"]
    assert [(row["from"], row["to"]) for row in rows] == [(1, 2), (3, 3)]
    assert "update_world" in rows[0]["author"]
    assert rows[1]["author"] == "outside"
    assert asked.send("GET", "blame/memory/world/nothing.md").status_code == 404
