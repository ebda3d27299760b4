"""One server for all tenants of a database, each let in by its own tokens; and settings that change while it runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from commonplace import Memory
from commonplace.formats.timestamps import format_timestamp
from commonplace.server.auth import Caller, ServerOptions
from commonplace.server.service import MemoryPool
from commonplace.storage.base import open_tokens
from commonplace.storage.postgres.backend import PostgresStorage
from commonplace.storage.postgres.url import with_tenant
from commonplace.storage.tokens import create_token, parse_tenant

from ..surfaces.mcp.test_process import run
from ..surfaces.web import Web, web

pytestmark = pytest.mark.slow
NOW = datetime.now(UTC)
TENANTS = ("acme", "them", "日本 & co.")


@pytest.fixture
def keys(url: str) -> dict[str, str]:
    """A token of each tenant, whose memory holds a secret of its own."""
    result = {}
    for tenant in TENANTS:
        with Memory(with_tenant(url, tenant)) as memory:
            memory.call("remember", {"content": f"the secret of {tenant}"})
        access = open_tokens(with_tenant(url, tenant))
        result[tenant] = create_token(access, NOW, agents=None, role="write")[1]
        access.close()
    return result


@pytest.fixture
def tenant_client(url: str) -> Iterator[Web]:
    with web(url, tenants=True) as client:
        yield client


def recall_text(client: Web) -> str:
    return json.dumps(client.call("recall"), ensure_ascii=False)


def test_a_token_opens_the_memory_of_its_tenant_and_no_other(tenant_client: Web, keys: dict[str, str]) -> None:
    for tenant, secret in keys.items():
        assert parse_tenant(secret) == tenant
        answer = recall_text(tenant_client.as_(secret))
        assert f"the secret of {tenant}" in answer
        assert not [other for other in TENANTS if other != tenant and f"secret of {other}" in answer]
        tenant_client.as_(secret).call("remember", content=f"written by {tenant}")
    for tenant, secret in keys.items():
        answer = recall_text(tenant_client.as_(secret))
        assert [other for other in TENANTS if f"written by {other}" in answer] == [tenant]


def test_over_http_too_a_token_opens_the_memory_of_its_tenant(tenant_client: Web, keys: dict[str, str]) -> None:
    for tenant, secret in keys.items():
        headers = {"Authorization": f"Bearer {secret}"}
        response = tenant_client.client.get("/v1/search", params={"q": "the secret"}, headers=headers)
        assert response.status_code == 200, response.text
        hits = [hit["text"] for hit in response.json()["results"]]
        assert any(f"secret of {tenant}" in text for text in hits)
        assert not [text for text in hits for other in TENANTS if other != tenant and f"secret of {other}" in text]
    assert tenant_client.client.get("/v1/search", params={"q": "the secret"}).status_code == 401


def test_a_token_that_says_another_tenant_than_its_own_opens_nothing(tenant_client: Web, keys: dict[str, str]) -> None:
    random = keys["acme"].rpartition(".")[2]
    marks = {tenant: secret.rpartition(".")[0] for tenant, secret in keys.items()}
    wrong = [
        f"{marks['them']}.{random}", f"cpl_{random}", f"cpl_.{random}", f"cpl_acme{random}", f"cpl_nobody.{random}",
        f"cpl_~YWNtZQ.{random}", f"cpl_~.{random}", f"cpl_~!!.{random}", f"{marks['acme']}.", marks["acme"],
        f"{marks['acme']}.{marks['them']}.{random}", f"cpl_acme?tenant=them.{random}", "cpl_acme&tenant=them.x", "",
    ]  # fmt: skip
    for secret in wrong:
        assert tenant_client.as_(secret).post("tools/list").status_code == 401, secret
    assert tenant_client.as_(keys["acme"]).post("tools/list").status_code == 200


def test_a_request_does_not_choose_a_memory_beside_its_token(
    tenant_client: Web, keys: dict[str, str], url: str
) -> None:
    for output in ("them", with_tenant(url, "them")):
        client = tenant_client.as_(keys["acme"], home=output)
        assert "the token names the memory" in str(client.call("recall"))
        meta = {"commonplace/home": output}
        refused = tenant_client.as_(keys["acme"]).ask("tools/call", name="recall", arguments={}, _meta=meta)
        assert "the token names the memory" in str(refused)


def test_a_tenant_without_tokens_is_open_to_nobody(tenant_client: Web, url: str) -> None:
    with Memory(with_tenant(url, "open")) as memory:
        memory.call("remember", {"content": "x"})
    for secret in ("", "cpl_open.x", "any"):
        assert tenant_client.as_(secret).post("tools/list").status_code == 401


def test_a_token_is_revoked_by_its_own_tenant_alone(tenant_client: Web, keys: dict[str, str], url: str) -> None:
    access = open_tokens(with_tenant(url, "acme"))
    access.revoke(access.list_tokens()[0].id, format_timestamp(NOW))
    assert tenant_client.as_(keys["acme"]).post("tools/list").status_code == 401
    assert tenant_client.as_(keys["them"]).post("tools/list").status_code == 200
    assert [call.tool for call in access.recent_calls(10)] == []
    access.close()
    recall_text(tenant_client.as_(keys["them"]))
    theirs = open_tokens(with_tenant(url, "them"))
    assert [call.tool for call in theirs.recent_calls(10)] == ["recall"], "in the log of who called, and in no other"
    theirs.close()


def test_the_token_of_a_tenant_serves_where_that_tenant_alone_is_served(url: str, keys: dict[str, str]) -> None:
    with web(with_tenant(url, "acme")) as client:
        assert "the secret of acme" in recall_text(client.as_(keys["acme"]))
        assert client.as_(keys["them"]).post("tools/list").status_code == 401


@pytest.mark.parametrize("more", [["--token", "s3cret"], ["--open"], ["--homes", "."]])
def test_what_lets_in_without_a_tenant_does_not_go_with_many(url: str, more: list[str]) -> None:
    done = run("--home", url, "serve", "--tenants", "--port", "0", *more)
    assert done.returncode == 2
    assert "with --tenants only tenants' tokens are accepted" in done.stderr


def test_tenants_are_of_a_database(tmp_path: Any) -> None:
    done = run("--home", str(tmp_path), "serve", "--tenants", "--port", "0")
    assert done.returncode == 2
    assert "--tenants is for a database" in done.stderr


def test_a_server_that_runs_sees_new_settings(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with web(url) as client, Memory(url) as beside:
        client.call("remember", content="Ann prefers rooibos.")
        assert "rooibos" in json.dumps(client.call("memory_search", query="rooibos"))
        beside.home.storage.pages.write("commonplace.yaml", "memorySearch:\n  enabled: false\n")
        monkeypatch.setattr(PostgresStorage, "settings_check_seconds", 0.0)
        client.call("recall")  # whoever comes next may still be within the second
        wait_for(client, "Unknown tool: memory_search")
        beside.home.storage.pages.remove("commonplace.yaml")
        assert "rooibos" in json.dumps(client.call("memory_search", query="rooibos"))


def wait_for(client: Web, text: str) -> None:
    for _ in range(1000):
        output = json.dumps(client.call("memory_search", query="rooibos"))
        if text in output:
            return
    raise AssertionError(f"the settings are not seen: {output}")


def test_settings_of_a_database_are_not_looked_at_with_every_request(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memories, caller = MemoryPool(ServerOptions(url)), Caller(url)
    assert memories.find_open(caller) is None
    memory = memories.open(caller)
    looks: list[str] = []
    real = memory.home.storage.current_settings_version
    monkeypatch.setattr(memory.home.storage, "current_settings_version", lambda: looks.append("look") or real())  # type: ignore[func-returns-value]
    assert all(memories.find_open(caller) is memory for _ in range(50))
    assert looks == []
    memories._open[url, "main"] = memories._open[url, "main"]._replace(fresh_until=0.0)  # as if a second had gone by
    assert memories.find_open(caller) is None
    assert memories.open(caller) is memory
    assert looks == ["look"]
    memories.close()


def test_a_look_at_settings_that_fails_closes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from commonplace.errors import ConnectionLost

    memories, caller = MemoryPool(ServerOptions(url)), Caller(url)
    memory = memories.open(caller)

    def fails() -> object:
        raise ConnectionLost("away")

    monkeypatch.setattr(memory.home.storage, "current_settings_version", fails)
    assert memories.open(caller) is memory
    memories.close()
