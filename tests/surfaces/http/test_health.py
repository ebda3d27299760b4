"""How memory is doing: recalls, which are counted in the way of no answer; and the probes and figures of a server."""

from __future__ import annotations

import json
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.errors import QuotaExceeded
from commonplace.home import utc_now
from commonplace.index import recalls as record
from commonplace.maintenance.forget import Selection, forget
from commonplace.server.auth import ServerOptions
from commonplace.server.metrics import Metrics, Request
from commonplace.server.rate_limits import Quotas, RateLimiter
from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import create_token
from commonplace.surfaces.http.auth import AccessRules
from commonplace.surfaces.http.health import count_recalls
from commonplace.testing import FrozenClock

from ...waiting import LONG_SECONDS
from ..mcp.test_process import run
from ..test_application import server
from .api import api

FILES = record.log_files("main")


def most(memory: Memory) -> dict[str, int]:
    return {each["path"]: each["times"] for each in count_recalls(memory.home)["most"]}


def test_pages_that_answer_are_counted_and_others_never_were(memory: Memory, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.call("update_world", {"topic": "chess", "content": "Bob plays chess."})
    assert count_recalls(memory.home) == {"most": [], "never": [], "since": ""}
    memory.search("tea", limit=1)
    memory.call("memory_search", {"query": "green tea", "maxResults": 1})
    counts = count_recalls(memory.home)
    assert most(memory) == {"memory/world/tea.md": 2}
    assert [each["path"] for each in counts["never"]] == ["memory/world/chess.md"]
    assert counts["since"] <= counts["most"][0]["last"]
    assert counts["most"][0]["title"] == "tea"


def test_a_recall_and_a_context_count_what_they_show(memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")  # from then on there is an index to keep it beside
    memory.call("reflect", {"content": "curated"})
    before = most(memory)
    memory.call("recall", {})
    memory.context()
    assert most(memory)["memory/world/tea.md"] == before["memory/world/tea.md"] + 1
    assert most(memory)["agents/main/memory/MEMORY.md"] == 2


def test_every_count_of_pages_is_of_what_the_agent_may_see(home: Path, memory: Memory) -> None:
    memory.call("remember", {"content": "Ann prefers green tea."})
    Memory(home, "bob").call("remember", {"content": "Bob plays chess."})
    with api(home) as caller:
        health = caller.get("health?findings=false")
    assert (health["index"]["pages"], health["sizes"]["pages"], memory.status()["pages"]) == (1, 1, 1)
    assert health["index"]["pages_of_all_agents"] == 2


def test_agents_are_counted_apart(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    Memory(home, "bob").search("tea")
    assert most(memory) == {}


def test_what_others_recall_pushes_nothing_out(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    page = "memory/world/" + 1000 * "x" + ".md"
    for _ in range(5_000):
        record.log_recall(str(home / ".index"), "bob", [page], "2026-03-14T00:00:00.000000Z")
    assert most(memory) == {"memory/world/tea.md": 1}


def test_whoever_only_looks_is_not_counted(memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    with record.without_recalls():
        memory.search("tea")
    assert most(memory) == {}


def test_a_record_that_cannot_be_written_fails_no_answer(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    for name in FILES:
        (home / ".index" / name).unlink(missing_ok=True)
        (home / ".index" / name).mkdir()
    assert memory.search("tea")
    assert most(memory) == {}


def test_a_link_is_not_written_through(home: Path, memory: Memory, tmp_path: Path) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("theirs")
    (home / ".index" / FILES[0]).unlink()
    (home / ".index" / FILES[0]).symlink_to(elsewhere)
    assert memory.search("tea")
    assert elsewhere.read_text() == "theirs"


def test_a_line_that_nobody_understands_is_passed_over(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    with (home / ".index" / FILES[0]).open("ab") as file:
        file.write(b'{"at": "2026", "agent": "main"}\n[]\n\xff\xfe\n{"at": "x", "pa')
    assert most(memory) == {"memory/world/tea.md": 1}


def test_the_record_does_not_grow_without_end(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    line = (home / ".index" / FILES[0]).read_bytes()
    folder = str(home / ".index")
    (home / ".index" / FILES[0]).write_bytes(line * (2_000_001 // len(line)))
    for _ in range(3):
        record.log_recall(folder, "main", ["memory/world/tea.md"], "2026-03-14T00:00:00.000000Z")
    assert sum((home / ".index" / name).stat().st_size for name in FILES) < 2 * 2_100_000
    assert (home / ".index" / FILES[1]).exists()


def test_what_is_forgotten_is_not_named_here_any_more(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "wombat", "content": "The wombat sleeps."})
    memory.search("wombat")
    forget(memory.home, Selection(page="memory/world/wombat.md"))
    assert not [path for path in home.rglob("*") if path.is_file() and b"wombat" in path.read_bytes()]


def _token(home: Path, role: str, agents: tuple[str, ...] | None = None) -> str:
    store = open_tokens(str(home))
    try:
        return create_token(store, utc_now(), agents=agents, role=role)[1]  # type: ignore[arg-type]
    finally:
        store.close()


def test_probes_need_no_token_and_no_name_of_the_server(tmp_path: Path) -> None:
    Memory(tmp_path, "main").call("remember", {"content": "The sea is blue."})
    _token(tmp_path, "admin")
    with api(tmp_path) as caller:
        for path, answer in (("/healthz", "ok\n"), ("/readyz", "ready\n")):
            response = caller.client.get(path, headers={"Host": "10.1.2.3:7777"})
            assert (response.status_code, response.text) == (200, answer)
        assert caller.client.get("/v1/status", headers={"Host": "10.1.2.3:7777"}).status_code == 421


def test_a_server_whose_memory_cannot_be_read_runs_but_is_not_ready(tmp_path: Path) -> None:
    Memory(tmp_path, "main").call("remember", {"content": "The sea is blue."})
    _token(tmp_path, "admin")
    with api(tmp_path) as caller:
        (tmp_path / ".access" / "tokens.json").write_text("{ broken")
        assert caller.client.get("/healthz").status_code == 200
        response = caller.client.get("/readyz")
        assert response.status_code == 503
        assert "broken" not in response.text


def test_figures_count_requests_by_operation_and_outcome_and_show_no_content(tmp_path: Path) -> None:
    with api(tmp_path) as caller:
        caller.post("tools/remember", content="The launch code is orange.")
        caller.get("search", q="launch code")
        assert caller.send("GET", "pages/nowhere.md").status_code == 404
        text = caller.client.get("/metrics").text
    lines = text.splitlines()
    assert 'commonplace_requests_total{operation="remember",outcome="ok"} 1' in lines
    assert any(line.startswith("commonplace_requests_total") and 'outcome="error"} 1' in line for line in lines)
    assert 'commonplace_request_seconds_count{operation="remember"} 1' in lines
    assert "orange" not in text
    assert "nowhere" not in text


def test_buckets_of_a_histogram_add_up() -> None:
    metrics = Metrics()
    for seconds in (0.0005, 0.003, 0.003, 20.0):
        metrics.add(Request("search", "ok", seconds))
    lines = metrics.render().splitlines()
    counts = [int(line.rsplit(" ", 1)[1]) for line in lines if "_bucket" in line]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert counts[-1] == 4


@pytest.mark.parametrize(("role", "agents"), [("write", None), ("admin", ("main",))])
def test_figures_of_all_agents_are_for_an_admin_of_all_agents(
    tmp_path: Path, role: str, agents: tuple[str, ...] | None
) -> None:
    Memory(tmp_path, "main").call("remember", {"content": "The sea is blue."})
    secret = _token(tmp_path, role, agents)
    with api(tmp_path) as caller:
        response = caller.client.get("/metrics", headers={"Authorization": f"Bearer {secret}"})
        assert response.status_code == 403
        assert caller.client.get("/metrics").status_code == 401


def test_a_token_for_figures_shows_them_and_opens_nothing_else(tmp_path: Path) -> None:
    Memory(tmp_path, "main").call("remember", {"content": "The sea is blue."})
    _token(tmp_path, "admin")
    with api(tmp_path, AccessRules(metrics_token="scraper")) as caller:
        header = {"Authorization": "Bearer scraper"}
        assert caller.client.get("/metrics", headers=header).status_code == 200
        assert caller.client.get("/v1/status", headers=header).status_code == 401
        for wrong in (b"Bearer other", "Bearer é".encode()):
            assert caller.client.get("/metrics", headers={b"Authorization": wrong}).status_code == 401


def _figures(caller: Any, home: Path) -> str:
    header = {"Authorization": f"Bearer {_token(home, 'admin')}"}
    text: str = caller.client.get("/metrics", headers=header).text
    return text


def test_a_token_that_asks_too_often_waits(tmp_path: Path) -> None:
    Memory(tmp_path, "main").call("remember", {"content": "The sea is blue."})
    one = _token(tmp_path, "read")
    other = _token(tmp_path, "read")
    with api(tmp_path, requests_per_minute=3, elapsed=lambda: 100.0) as caller:
        statuses = [caller.as_(one).send("GET", "status").status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = caller.as_(one).send("GET", "status")
        assert int(refused.headers["retry-after"]) >= 1
        assert 'operation="GET /v1/status",outcome="refused"} 2' in _figures(caller, tmp_path)
        assert caller.as_(other).send("GET", "status").status_code == 200


def test_tokens_of_two_memories_with_the_same_name_wait_apart(tmp_path: Path) -> None:
    """Whoever owns a memory names its tokens: nobody uses up what a token of another memory may do."""
    secrets = {}
    for name in ("ours", "theirs"):
        Memory(tmp_path / "homes" / name).call("remember", {"content": "The sea is blue."})
        secrets[name] = _token(tmp_path / "homes" / name, "write")
        file = tmp_path / "homes" / name / ".access/tokens.json"
        text = file.read_text()
        file.write_text(text.replace(json.loads(text)["tokens"][0]["id"], "twin"))
    more = {"homes": str(tmp_path / "homes"), "requests_per_minute": 3, "writes_per_day": 1, "elapsed": lambda: 100.0}
    with api(tmp_path / "own", **more) as caller:

        def write(name: str) -> int:
            body = {"content": "It is deep."}
            return caller.as_(secrets[name], home=name).send("POST", "tools/remember", json=body).status_code

        assert [write("ours") for _ in range(4)] == [200, 429, 429, 429]
        assert caller.as_(secrets["ours"], home="ours").send("GET", "openapi.json").status_code == 429
        assert write("theirs") == 200


def test_a_bucket_refills_with_time() -> None:
    now = 100.0
    limiter = RateLimiter(60, now=lambda: now)
    assert [limiter.seconds_to_wait("t") for _ in range(60)] == [0.0] * 60
    assert limiter.seconds_to_wait("t") == pytest.approx(1.0)
    now += 1.5
    assert limiter.seconds_to_wait("t") == 0.0
    assert limiter.seconds_to_wait("t") > 0


def test_a_token_that_used_up_its_writes_reads_on_and_waits_to_write(tmp_path: Path) -> None:
    one = _token(tmp_path, "write")
    other = _token(tmp_path, "write")
    with api(tmp_path, writes_per_day=2) as caller:
        notes = [{"content": f"Note {number}."} for number in range(3)]
        answers = [caller.as_(one).send("POST", "tools/remember", json=note) for note in notes]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        refused = answers[-1]
        assert refused.json()["code"] == "QUOTA_EXCEEDED"
        assert "2 writes a day" in refused.json()["detail"]
        assert 40_000 < int(refused.headers["retry-after"]) <= 43_200
        assert 'operation="remember",outcome="refused"} 1' in _figures(caller, tmp_path)
        assert caller.as_(one).send("GET", "search?q=note").status_code == 200
        assert caller.as_(one).send("POST", "tools/memory_search", json={"query": "note"}).status_code == 200
        assert caller.as_(other).send("POST", "tools/remember", json=notes[2]).status_code == 200
    assert "Note 2." in str(Memory(tmp_path).call("recall", {}))


def test_a_call_that_writes_several_pages_is_one_write(tmp_path: Path) -> None:
    token = _token(tmp_path, "write")
    with api(tmp_path, writes_per_day=2) as caller:
        for category in ("facts", "plans"):  # the second moves the record
            record = {"op": "setGlobal", "key": "tea", "value": "green", "category": category}
            assert caller.as_(token).send("POST", "tools/MemoryTool", json=record).status_code == 200


def test_bytes_that_a_token_adds_are_counted_and_what_it_removes_is_not(tmp_path: Path) -> None:
    token = _token(tmp_path, "write")
    page = {"Content-Type": "text/markdown", "If-None-Match": "*"}
    with api(tmp_path, bytes_per_day=1000) as caller:
        ours = caller.as_(token)
        assert ours.send("PUT", "pages/memory/a.md", content="a" * 600, headers=page).status_code == 201
        refused = ours.send("PUT", "pages/memory/b.md", content="b" * 600, headers=page)
        assert (refused.status_code, refused.json()["code"]) == (429, "QUOTA_EXCEEDED")
        assert "1,000 bytes a day" in refused.json()["detail"]
        assert not (tmp_path / "memory/b.md").exists()
        never = ours.send("PUT", "pages/memory/c.md", content="c" * 1001, headers=page)
        assert never.status_code == 429
        assert "retry-after" not in never.headers
        version = ours.send("GET", "pages/memory/a.md").headers["etag"]
        assert ours.send("DELETE", "pages/memory/a.md", headers={"If-Match": version}).status_code == 204
        assert ours.send("PUT", "pages/memory/d.md", content="d" * 300, headers=page).status_code == 201


def test_quotas_refill_over_a_day() -> None:
    now = 100.0
    quotas = Quotas(24, 0, now=lambda: now)
    for _ in range(24):
        quotas.count_write("t")
    with pytest.raises(QuotaExceeded) as refused:
        quotas.count_write("t")
    assert refused.value.retry_seconds == 3600
    now += 3601
    quotas.count_write("t")
    quotas.count_bytes("t", 10**9)  # of which there is no quota


def test_no_limit_is_the_default() -> None:
    limiter = RateLimiter(ServerOptions("").requests_per_minute)
    assert not any(limiter.seconds_to_wait("t") for _ in range(1000))


def test_each_request_is_one_line_of_json_without_content(tmp_path: Path) -> None:
    with server(tmp_path / "home", "--token", "s3cret", "--log") as one:
        assert one.ask("/v1/search?q=where+is+the+treasure").status == 200
        assert one.process.stderr
        line = json.loads(one.process.stderr.readline())
    assert line["operation"] == "GET /v1/search"
    assert line["outcome"] == "ok"
    assert set(line) == {"at", "operation", "outcome", "ms", "token", "remote"}
    assert "treasure" not in json.dumps(line)
    assert "s3cret" not in json.dumps(line)


def test_what_is_refused_is_logged_and_counted_too_without_what_was_asked(tmp_path: Path) -> None:
    with server(tmp_path / "home", "--token", "s3cret", "--log") as one:
        assert one.process.stderr
        lines = []
        for path, token in (("/v1/status", "wr0ng"), ("/v1/treasure", "s3cret"), ("/treasure", "s3cret")):
            assert one.ask(path, token).status in (401, 404)
            lines.append(json.loads(one.process.stderr.readline()))
        figures = one.ask("/metrics").read().decode()
    assert [line["operation"] for line in lines] == ["authenticate", "unknown", "unknown"]
    assert {line["outcome"] for line in lines} == {"refused"}
    assert {line["remote"] for line in lines} == {"127.0.0.1"}
    assert 'commonplace_requests_total{operation="authenticate",outcome="refused"} 1' in figures
    for text in ("treasure", "wr0ng", "s3cret"):
        assert text not in json.dumps(lines) + figures


def test_a_certificate_makes_it_https(tmp_path: Path) -> None:
    certificate = tmp_path / "cert.pem"
    key = tmp_path / "key.pem"
    make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        ["openssl", *make.split(), *names, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    with server(tmp_path / "home", "--token", "s3cret", "--tls-cert", str(certificate), "--tls-key", str(key)) as one:
        assert "https://127.0.0.1" in one.lines[0]
        context = ssl.create_default_context(cafile=str(certificate))
        import http.client

        connection = http.client.HTTPSConnection("127.0.0.1", one.port, context=context, timeout=LONG_SECONDS)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()


def test_half_a_certificate_is_refused(tmp_path: Path) -> None:
    outcome = run("--home", str(tmp_path), "serve", "--tls-cert", "cert.pem")
    assert outcome.returncode == 2
    assert "HTTPS needs both" in outcome.stderr
