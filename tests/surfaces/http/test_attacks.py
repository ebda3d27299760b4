"""Every way in that is not the door: other sites, other names, no token, too little of one, odd paths, too much, too
slow, and pages that hold what should not run."""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.server.auth import ServerOptions
from commonplace.storage.base import open_tokens
from commonplace.storage.folder.backend import LOG_FILE
from commonplace.storage.tokens import Role, create_token
from commonplace.surfaces.application import build_application
from commonplace.surfaces.http import auth as guard
from commonplace.surfaces.http import dispatch
from commonplace.surfaces.http.api import ENDPOINTS
from commonplace.surfaces.http.auth import AccessRules, SignInKeys

from ...waiting import LONG_SECONDS
from .api import Api, api

PAGE = "memory/world/people.md"
READS = [each for each in ENDPOINTS if each.needs == "read" and not each.is_public]
CHANGES = [each for each in ENDPOINTS if each.needs == "write"]
EVERY = [each for each in ENDPOINTS if not each.is_public]


def token(home: Path, *agents: str, role: Role = "admin") -> str:
    return create_token(open_tokens(str(home)), datetime.now(UTC), agents=agents or None, role=role)[1]


def path_of(endpoint: Any) -> str:
    return (
        endpoint.path.removeprefix("/v1/").replace("{path}", PAGE).replace("{id}", "abcd").replace("{name}", "recall")
    )


@pytest.fixture
def guarded_client(full: Path) -> Iterator[Api]:
    with api(full, AccessRules(is_open=False)) as one:
        yield one


@pytest.mark.parametrize("path", ["/", "/v1/status", "/mcp", "/assets/app.js", "/v1/session"])
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example@localhost", "localhost/evil", "", "[::1"]
)
def test_a_name_that_is_not_ours_gets_nothing(api_client: Api, path: str, host: str) -> None:
    """DNS rebinding: the page of another site reaches this address under its own name."""
    answer = api_client.client.get(path, headers={"Host": host})
    assert answer.status_code == 421
    assert "Ann" not in answer.text


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://localhost:9999", "https://localhost.evil.example", "null", "http://127.0.0.1"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", ["/v1/status", "/mcp", "/mcp/"])
def test_pages_of_other_sites_and_other_ports_are_refused(api_client: Api, path: str, origin: str, method: str) -> None:
    answer = api_client.client.request(method, path, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_our_own_page_is_let_in(api_client: Api) -> None:
    ours = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert api_client.client.get("/v1/status", headers=ours).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_sends_for_another_site_is_refused_without_an_origin_too(api_client: Api, site: str) -> None:
    """An image or a form of another site carries no Origin; the browser says where it comes from."""
    assert api_client.client.get("/v1/export", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert api_client.client.get("/mcp", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert api_client.client.get("/", headers={"Sec-Fetch-Site": site}).status_code == 200, (
        "a link to the page is a link"
    )


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_cannot_call_a_tool(api_client: Api, media: str, full: Path) -> None:
    body = b'{"content": "by a form"}'
    answer = api_client.client.post("/v1/tools/remember", content=body, headers={"Content-Type": media})
    assert answer.status_code == 415
    assert not Memory(full).search("form", min_score=0.5)


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda each: each.name)
def test_without_a_token_nothing_answers(guarded_client: Api, endpoint: Any) -> None:
    for arguments in ("", "cpl_wrong", "cpk_wrong", "cpl_", "a b"):
        answer = guarded_client.as_(arguments).send(endpoint.method, path_of(endpoint))
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_token_in_the_address_does_not_count(guarded_client: Api, full: Path) -> None:
    assert guarded_client.send("GET", "status", params={"token": token(full)}).status_code == 401


def test_a_token_speaks_for_its_agents_alone(guarded_client: Api, full: Path) -> None:
    ann = guarded_client.as_(token(full, "ann", "carl"))
    for endpoint in READS:
        if not endpoint.respond:
            answer = ann.as_(agent="bob").send(endpoint.method, path_of(endpoint))
            assert answer.status_code in (400, 403, 415), endpoint.name
            assert "quokka" not in answer.text
    assert ann.as_(agent="bob").send("GET", "status").status_code == 403
    assert ann.as_(agent="ann").get("status")["agents"] == ["ann", "carl"]


def test_nobody_sees_the_pages_of_another_agent(api_client: Api, full: Path) -> None:
    theirs = next(path for path in full.glob("agents/bob/memory/daily/*.md")).relative_to(full)
    assert api_client.send("GET", f"pages/{theirs}").status_code == 403
    assert api_client.put(str(theirs), "x", If_Match="*").status_code == 403
    for path in ("outline", "map", "pages", "history", "search?q=quokka", "context?query=quokka", "health"):
        answer = api_client.send("GET", path)
        assert answer.status_code == 200, path
        assert "agents/bob/memory" not in answer.text, path
        assert "hides" not in answer.text, path
    change = api_client.as_(agent="bob").get("history", what=str(theirs))["changes"][0]["id"]
    assert api_client.send("GET", f"history/{change}").status_code == 404
    assert api_client.send("POST", "undo", json={"changes": [change]}).status_code == 404
    assert api_client.send("POST", "restore", json={"path": str(theirs), "when": change}).status_code == 403
    assert api_client.send("POST", "merge", json={"path": str(theirs), "base": "", "text": ""}).status_code == 403


def spoil_index(home: Path) -> None:
    """Let the index say of bob's pages what they do not say."""
    (index,) = home.glob(".index/words-*.sqlite")
    with closing(sqlite3.connect(index)) as words, words:
        words.execute("UPDATE pages SET version = 'another' WHERE path LIKE 'agents/bob/%'")


def test_health_names_no_page_of_another_agent(guarded_client: Api, full: Path) -> None:
    """Nor what the index, history, permissions and settings of others say of them."""
    person, ann = guarded_client.as_(token(full)), guarded_client.as_(token(full, "ann"))
    (full / "agents/bob/memory/hidden.md").write_text("by bob\n")
    (full / "agents/bob/memory/HIDDEN.md").write_text("another\n")
    (full / "agents/bob/memory/link.md").symlink_to("/etc/hostname")
    text = ""
    while "agents/bob" not in text:  # what was just written is read again, and mends the index
        person.get("search", q="tea")
        spoil_index(full)
        text = str([each["what"] for each in person.get("health")["findings"] if each["check"] == "index"])
    spoil_index(full)
    for path in ("health", "findings"):
        answer = ann.send("GET", path).text
        assert "bob" not in answer, path
        assert "hidden" not in answer.lower(), path


def test_pins_tell_a_token_for_single_agents_nothing_of_files(guarded_client: Api, full: Path) -> None:
    (full.parent / ".git").mkdir()
    (full.parent / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (full.parent / "plan.txt").write_text("secret = 1\n")
    theirs = next(path for path in full.glob("agents/bob/memory/daily/*.md")).relative_to(full.parent)
    targets = ["absent.txt", "plan.txt::nothing", f"plan.txt {'0' * 16}", theirs, f"{theirs}::nothing", "nowhere/x.md"]
    pins = " ".join(f"<!-- pinned: {target} -->" for target in targets)
    person, ann = guarded_client.as_(token(full)), guarded_client.as_(token(full, "ann"))
    ann.post("tools/update_world", topic="probe", content=f"Probing case of zebras {pins}\n")
    for path in ("search?q=probing+zebras", "context?query=probing+zebras", "context", "health", "findings"):
        text = ann.send("GET", path).text
        assert "no longer exists" not in text, path
        assert "changed since" not in text, path
        output = person.send("GET", path).text
        assert "absent.txt no longer exists" in output, path
        assert "daily" not in output.partition("no longer exists")[2].partition("no longer exists")[0], path


def damage_index(home: Path) -> None:
    for file in (home / ".index").glob("*.sqlite"):
        file.write_bytes(b"x" * 5000)


def link_index(home: Path) -> None:
    (home / ".index").rename(home / "elsewhere")
    (home / ".index").symlink_to("elsewhere")


def put_file_for_index(home: Path) -> None:
    (home / ".index").rename(home / "elsewhere")
    (home / ".index").write_text("no folder")


def break_settings_of_agent(home: Path) -> None:
    (home / "agents/main/agent.yaml").write_text("search: [\n")


@pytest.mark.parametrize("damage", [damage_index, link_index, put_file_for_index, break_settings_of_agent])
def test_no_answer_to_a_token_for_single_agents_says_where_the_memory_is(full: Path, damage: Any) -> None:
    with Memory(full) as memory:
        memory.search("tea")
    secret = token(full, "main", role="read")
    damage(full)
    with api(full, AccessRules(is_open=False)) as caller:
        for path in ("search?q=tea", "status", "health", "context", "review", "statements", "pages"):
            answer = caller.as_(secret).send("GET", path)
            assert str(full) not in answer.text


def test_only_a_caller_for_every_agent_sees_how_long_a_search_took(guarded_client: Api, full: Path) -> None:
    assert "took_ms" not in guarded_client.as_(token(full, "ann")).get("search", q="tea")
    assert guarded_client.as_(token(full)).get("search", q="tea")["took_ms"] > 0


@pytest.mark.parametrize("arguments", [("main", "admin"), ("", "write"), ("", "read")])
def test_settings_are_seen_and_taken_back_by_none_but_who_may_do_everything(
    guarded_client: Api, full: Path, arguments: Any
) -> None:
    """They name folders and servers: one earlier version of them could send a memory elsewhere."""
    before, after = "timezone: UTC\n", "timezone: Europe/Oslo\n"
    for text in (before, after):
        Memory(full).home.storage.pages.write("commonplace.yaml", text)
    person = guarded_client.as_(token(full))
    (change, _) = [each["id"] for each in person.get("history", what="commonplace.yaml")["changes"]]
    other = guarded_client.as_(token(full, *filter(None, arguments[:1]), role=arguments[1]))
    assert other.get("history", what="commonplace.yaml")["changes"] == []
    assert "commonplace.yaml" not in {each["path"] for each in other.get("history")["changes"]}
    assert other.send("GET", f"history/{change}").status_code == 404
    assert other.send("POST", "undo", json={"changes": [change]}).status_code in (403, 404)
    assert (full / "commonplace.yaml").read_text() == after
    assert person.post("undo", changes=[change])["undone"][0]["done"] is True
    assert (full / "commonplace.yaml").read_text() == before


@pytest.mark.parametrize("endpoint", CHANGES, ids=lambda each: each.name)
def test_a_reader_changes_nothing(guarded_client: Api, full: Path, endpoint: Any) -> None:
    before = {path: path.read_bytes() for path in full.rglob("*.md")}
    answer = guarded_client.as_(token(full, role="read")).send(
        endpoint.method, path_of(endpoint), headers={"If-Match": "*"}
    )
    assert answer.status_code == 403
    assert "needs the role write" in answer.json()["detail"]
    assert {path: path.read_bytes() for path in full.rglob("*.md")} == before


def test_a_reader_calls_only_what_reads(guarded_client: Api, full: Path) -> None:
    reader = guarded_client.as_(token(full, role="read"))
    offered = {tool["name"] for tool in reader.get("tools")["tools"]}
    assert "remember" not in offered
    assert "recall" in offered
    assert reader.send("POST", "tools/remember", json={"content": "x"}).status_code == 403
    assert reader.send("POST", "tools/recall", json={}).status_code == 200
    unknown = reader.send("POST", "tools/nothing", json={})
    assert unknown.status_code == 404
    assert set(unknown.json()["detail"].partition("there are ")[2].split(", ")) == offered


def test_only_an_admin_takes_all_of_memory_along(guarded_client: Api, full: Path) -> None:
    statuses = {
        role: guarded_client.as_(token(full, role=role)).send("GET", "export").status_code
        for role in ("read", "write", "admin")
    }
    assert statuses == {"read": 403, "write": 403, "admin": 200}


def test_a_token_for_some_agents_does_not_export_those_of_others(guarded_client: Api, full: Path) -> None:
    assert guarded_client.as_(token(full, "main", role="admin")).send("GET", "export").status_code == 403


def test_a_server_that_only_reads_lets_nobody_write(full: Path) -> None:
    with api(full, AccessRules(token="s3cret", read_only=True)) as one:
        admin = one.as_("s3cret")
        assert admin.get("status")["read_only"] is True
        assert admin.put(PAGE, "x", If_Match="*").status_code == 403
        assert admin.send("POST", "tools/remember", json={"content": "x"}).status_code == 403
        assert admin.send("POST", "undo", json={"changes": ["abcd"]}).status_code == 403
        assert admin.get("search", q="tea")["results"]


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "memory/../../secret.md", "/etc/passwd",
        "memory/%00.md", "memory/a%0ab.md", "memory//x.md", "%2e/MEMORY.md", "memory/%2e%2e", "memory/link.md", "memory/out/secret.md",
        ".access/tokens.json", ".history/00.jsonl", ".index/x", "commonplace.yaml", "memory%5c..%5csecret.md", "memory/%252e%252e/x.md",
        "C:%5csecret.md", "memory/" + "a" * 300 + ".md", "a/" * 400 + "x.md", "", "memory", "skills/x/data.json",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_memory(api_client: Api, full: Path, path: str) -> None:
    secret = full.parent / "secret.md"
    secret.write_text("outside")
    (full / "memory/link.md").symlink_to(secret)
    (full / "memory/out").symlink_to(full.parent)
    for method, more in (
        ("GET", {}),
        ("PUT", {"If-Match": "*"}),
        ("PUT", {"If-None-Match": "*"}),
        ("DELETE", {"If-Match": "*"}),
    ):
        answer = api_client.send(
            method, f"pages/{path}", content=b"owned", headers={"Content-Type": "text/markdown", **more}
        )
        if not path and method == "GET":
            continue  # the listing
        assert answer.status_code in (400, 403, 404, 405, 412), (method, answer.status_code, answer.text)
        assert "outside" not in answer.text
    assert secret.read_text() == "outside"
    assert not [each for each in full.parent.rglob("*") if each.is_file() and each.read_bytes() == b"owned"]


def test_too_much_is_refused_by_what_it_says_and_by_what_comes(
    api_client: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "MAX_BODY_BYTES", 1000)
    headers = {"Content-Type": "text/markdown", "If-None-Match": "*"}
    assert api_client.send("PUT", "pages/memory/x.md", content=b"x" * 1001, headers=headers).status_code == 413
    parts = (b"x" * 100 for _ in range(20))
    assert api_client.send("PUT", "pages/memory/x.md", content=parts, headers=headers).status_code == 413
    assert api_client.send("POST", "tools/remember", json={"content": "x" * 2000}).status_code == 413
    assert api_client.send("GET", "pages/memory/x.md").status_code == 404


@pytest.mark.parametrize("packed", [gzip.compress(b'{"content": "x"}'), b'{"content": "x"}'], ids=["gzip", "plain"])
def test_a_packed_body_is_not_unpacked(api_client: Api, packed: bytes) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = api_client.send("POST", "tools/remember", content=packed, headers=headers)
    assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "identity")


def test_a_body_of_two_lengths_is_refused(api_client: Api) -> None:
    """A proxy that believes the other one would see a second request in what is left of the first."""
    headers = {"Content-Type": "application/json", "Content-Length": "2", "Transfer-Encoding": "chunked"}
    answer = api_client.send("POST", "tools/recall", content=b"{}", headers=headers)
    assert (answer.status_code, answer.headers["connection"]) == (400, "close")


def test_an_address_has_an_end(api_client: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MAX_ADDRESS_BYTES", 1000)
    assert api_client.send("GET", "search", params={"q": "x" * 1000}).status_code == 414


@pytest.mark.asyncio
async def test_a_body_that_does_not_come_is_not_waited_for(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "BODY_TIMEOUT_SECONDS", 0.05)
    app = build_application(ServerOptions(str(full)), AccessRules())
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not messages:
            messages.append({})
            return {"type": "http.request", "body": b"{", "more_body": True}
        return await asyncio.Future()

    async def send(message: Any) -> None:
        messages.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"100")]
    scope = {"type": "http", "method": "POST", "path": "/v1/tools/remember", "raw_path": b"/v1/tools/remember", "query_string": b"",
             "headers": headers, "scheme": "http", "server": ("localhost", 80), "client": None, "root_path": "", "http_version": "1.1"}  # fmt: skip
    await asyncio.wait_for(app(scope, receive, send), LONG_SECONDS)
    assert next(each["status"] for each in messages if each.get("type") == "http.response.start") == 408


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"nul", b"\xff", b'{"content": NaN}', b"[" * 5000, b'{"content": "\\ud800"}']
)
def test_a_body_that_is_no_object_is_a_problem(api_client: Api, body: bytes) -> None:
    answer = api_client.send("POST", "tools/remember", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    "body", ['{"content": "a", "content": "b"}', '{"content": [{"content": "a", "content": "b"}]}']
)
def test_a_body_that_says_something_twice_is_refused(api_client: Api, full: Path, body: str) -> None:
    before = {path: path.read_bytes() for path in full.rglob("*.md")}
    for path in ("tools/remember", "render"):
        answer = api_client.send("POST", path, content=body, headers={"Content-Type": "application/json"})
        detail = answer.json()["detail"]
        assert (answer.status_code, detail) == (400, "the body has 'content' more than once: give it once")
    assert {path: path.read_bytes() for path in full.rglob("*.md")} == before


def test_a_body_of_very_many_names_is_looked_through_in_no_time(api_client: Api) -> None:
    body = "{" + ",".join(f'"{number}":1' for number in range(300_000)) + ',"299999":2}'
    answer = api_client.send("POST", "render", content=body, headers={"Content-Type": "application/json"})
    assert answer.json()["detail"] == "the body has '299999' more than once: give it once"


@pytest.mark.parametrize(
    ("asks", "message"),
    [
        ("search", "Missing required parameter: q"), ("search?q=%20", "q is not understood: What you want to know"), ("search?q=x&limit=0", "limit must be 1 or more"),
        ("search?q=x&limit=x", "whole number"), ("search?q=x&limit=1_0", "whole number"), ("search?q=x&limit=%D9%A3", "whole number"), ("search?q=x&q=y", "more than once"), ("search?q=x&nothing=1", "is not known here"),
        ("search?q=x&since=soon", "A day like"), ("search?q=x&scope=mars", "scope is not understood: Only shared"), ("search?q=x&min_score=nan", "must be a"),
        ("search?q=x&since=2026-03-02&until=2026-03-01", "since is later than until"), ("context?budget=-1", "budget must be from 0"), ("history/zz", "id is not understood: The id of a change"), ("map?limit=5000", "limit must be from 1 to 2000"),
        ("pages/memory/world/people.md?at=soon", "A day like"), ("export?format=zip", "format must be one of tar, jsonl"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_reported(api_client: Api, asks: str, message: str) -> None:
    answer = api_client.send("GET", asks)
    assert answer.status_code == 400
    assert message in answer.json()["detail"]


def test_unknown_places_and_methods_are_problems(api_client: Api) -> None:
    nothing = api_client.send("GET", "nothing")
    assert (nothing.status_code, nothing.headers["content-type"]) == (404, "application/problem+json")
    wrong = api_client.send("PATCH", f"pages/{PAGE}")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "DELETE, GET, HEAD, PUT")
    assert api_client.send("HEAD", "changes").status_code == 405, "a stream for nobody"
    assert api_client.send("HEAD", "status").status_code == 200
    assert api_client.send("HEAD", "homes").status_code == 200, "a list, which is no stream"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("PATCH", "status", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "nothing", 404, "NOT_FOUND"),
        ("POST", "tools/nothing", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("DELETE", "pages/memory/world/people.md", 428, "CONDITION_MISSING"),
        ("GET", "search", 400, "MISSING_ARGUMENT"),
    ],
)
def test_every_refusal_has_a_code(api_client: Api, method: str, path: str, status: int, code: str) -> None:
    answer = api_client.send(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_sign_in_refuses_a_parameter_that_it_does_not_have(api_client: Api) -> None:
    answer = api_client.send("POST", "session?bogus=1", json={"code": "x"})
    assert (answer.status_code, answer.json()["code"]) == (400, "UNKNOWN_ARGUMENT")
    assert api_client.client.get("/elsewhere").headers["content-type"] == "application/problem+json"


def test_answers_are_kept_by_nobody_and_shown_in_no_frame(api_client: Api, guarded_client: Api) -> None:
    elsewhere = api_client.client.get("/elsewhere")
    for answer in (
        api_client.send("GET", "status"),
        guarded_client.send("GET", "status"),
        api_client.send("GET", "nothing"),
        elsewhere,
    ):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "default-src 'none'" in answer.headers["content-security-policy"]


HOSTILE = """# Hello <script>alert(1)</script>

<script>alert(2)</script> <img src=x onerror=alert(3)> <iframe src="https://evil.example"></iframe>
<svg onload=alert(4)><style>body{display:none}</style><div id="app" class="rail">forged</div>

[a](javascript:alert(5)) [b](JaVaScRiPt:alert(6)) [c](data:text/html,x) [d](vbscript:x) [e](#/page/x "t")
![pixel](https://evil.example/p.png "t") ![local](../../secret.png) [![x](https://evil.example/y.png)](https://ok.example)
<https://auto.example> [[<script>alert(7)</script>]] [[x" onmouseover="alert(8)]]

# app
"""


def test_a_hostile_page_runs_nothing_loads_nothing_and_forges_nothing(api_client: Api) -> None:
    api_client.put("memory/hostile.md", HOSTILE, If_None_Match="*")
    result = api_client.get("pages/memory/hostile.md")["html"].lower()
    for tag in ("<script", "<img", "<iframe", "<svg", "<style", "<div", "<form", "<input", "<object"):
        assert tag not in result, tag
    assert 'href="javascript' not in result
    assert 'href="data' not in result
    assert "src=" not in result.replace("src=x onerror", "").replace('src="https://evil', "").replace("&lt;", "")
    assert ' id="app"' not in result.replace('&lt;div id="app"', "")
    assert 'id="note-app"' in result
    assert 'rel="noopener noreferrer nofollow"' in result
    assert "pixel (https://evil.example/p.png)" in result


def test_a_code_is_good_once_and_for_a_minute(full: Path) -> None:
    now = [0.0]
    keys = SignInKeys(lambda: now[0])
    with api(full, AccessRules(is_open=False), keys) as one:
        code, late = keys.create_code(), keys.create_code()
        key = one.post("session", code=code)["key"]
        assert one.as_(key).get("status")["role"] == "admin"
        assert one.send("POST", "session", json={"code": code}).status_code == 403
        now[0] = 61.0
        assert one.send("POST", "session", json={"code": late}).status_code == 403
        assert one.send("POST", "session", json={"code": "made-up"}).status_code == 403
        assert one.as_(key).get("status")["role"] == "admin", "a key holds as long as the server runs"
        for other in (code, late, f"{key}x", key[:-1]):
            assert one.as_(other).send("GET", "status").status_code == 401
    with api(full, AccessRules(is_open=False)) as another:
        assert another.as_(key).send("GET", "status").status_code == 401


def test_the_log_names_calls_and_never_what_was_said(guarded_client: Api, full: Path) -> None:
    secret = token(full)
    one = guarded_client.as_(secret)
    one.get("search", q="quokka")
    one.send("POST", "tools/remember", json={"content": "quokka"})
    one.send("GET", "pages/memory/quokka.md")
    text = (full / LOG_FILE).read_text()
    assert [json.loads(line)["tool"] for line in text.splitlines()] == [
        "GET /v1/search",
        "remember",
        "GET /v1/pages/{path}",
    ]
    assert [json.loads(line)["outcome"] for line in text.splitlines()] == ["ok", "ok", "error"]
    assert "quokka" not in text
    assert secret not in text
