"""The providers behind HTTP against a real server. No test sleeps: what was asked of the clock is looked at."""

from __future__ import annotations

import base64
import re
import struct
import sys
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.base import open_embedders
from commonplace.embedding.ollama import OllamaEmbedder
from commonplace.embedding.openai import OpenAIEmbedder
from commonplace.embedding.remote import Clock, RemoteEmbedder, RetryPolicy
from commonplace.errors import Unavailable
from commonplace.settings import SearchSettings

from ..waiting import wait_until
from .server import (
    DIMENSIONS,
    Handler,
    Script,
    Seen,
    Server,
    bag,
    break_off,
    break_off_in_chunks,
    data_of,
    fail,
    give,
    hang,
    hang_up,
    serve,
)

KEY = "sk-never-to-be-seen-0123456789"
NOON = 1_790_000_000.0


class Standing:
    """Time that only passes when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def clock(self) -> Clock:
        return Clock(self.sleep, lambda: self.time, lambda: NOON + self.time)


class Bench:
    """A server, a time that stands, and embedders that are closed before the server is."""

    def __init__(self) -> None:
        self.standing = Standing()
        self.servers: list[Server] = []
        self.threads: list[threading.Thread] = []
        self.embedders: list[RemoteEmbedder] = []
        self.server = self.start()

    def start(self) -> Server:
        server = Server()
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.servers.append(server)
        self.threads.append(thread)
        return server

    def openai(self, url: str = "", key_variable: str = "THE_KEY", **patience: RetryPolicy) -> OpenAIEmbedder:
        base = url or f"{self.server.url}/v1"
        settings = SearchSettings(provider="openai", base_url=base, api_key_env=key_variable)
        embedder = OpenAIEmbedder(settings, clock=self.standing.clock(), **patience)
        self.embedders.append(embedder)
        return embedder

    def ollama(self, url: str = "", model: str = "") -> OllamaEmbedder:
        settings = SearchSettings(provider="ollama", base_url=url or self.server.url, model=model)
        embedder = OllamaEmbedder(settings, clock=self.standing.clock())
        self.embedders.append(embedder)
        return embedder

    def stop(self) -> None:
        for embedder in self.embedders:
            embedder.close()
        for server, thread in zip(self.servers, self.threads, strict=True):
            server.ending.set()
            server.shutdown()
            thread.join()
            server.server_close()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("THE_KEY", KEY)
    bench = Bench()
    yield bench
    bench.stop()


def refusal(embedder: RemoteEmbedder, text: str = "green tea") -> str:
    """Why a question was not answered; the key is in no line of what anybody could print."""
    with pytest.raises(Unavailable) as caught:
        embedder.embed_query(text)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def closed_port() -> str:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        return f"http://127.0.0.1:{server.server_port}"


def test_texts_become_rows_of_length_one_in_their_order(bench: Bench) -> None:
    texts = ["green tea", "black coffee", "tea tea tea"]
    for embedder in (bench.openai(), bench.ollama(model="plain")):
        rows = embedder.embed_passages(texts)
        assert (rows.dtype.name, rows.shape) == ("float32", (3, DIMENSIONS))
        expected = numpy.array([bag(text) for text in texts])
        expected /= numpy.linalg.norm(expected, axis=1, keepdims=True)
        assert numpy.allclose(rows, expected, atol=1e-6)
        assert embedder.embed_query("green tea") @ rows[0] == pytest.approx(1)


def test_openai_is_asked_as_its_protocol_says(bench: Bench) -> None:
    bench.openai().embed_passages(["tea"])
    assert bench.server.seen == [
        Seen(
            "/v1/embeddings",
            f"Bearer {KEY}",
            {"model": "text-embedding-3-small", "input": ["tea"], "encoding_format": "float"},
        )
    ]


def test_ollama_is_asked_as_its_protocol_says_and_nomic_gets_its_prefixes(bench: Bench) -> None:
    embedder = bench.ollama()
    embedder.embed_passages(["tea"])
    embedder.embed_query("tea?")
    assert bench.server.seen == [
        Seen("/api/embed", "", {"model": "nomic-embed-text", "input": ["search_document: tea"]}),
        Seen("/api/embed", "", {"model": "nomic-embed-text", "input": ["search_query: tea?"]}),
    ]


def test_other_models_of_ollama_get_the_text_as_it_is(bench: Bench) -> None:
    bench.ollama(model="bge-m3").embed_query("tea?")
    assert bench.server.seen[0].texts == ["tea?"]


def test_a_server_without_keys_gets_none(bench: Bench) -> None:
    bench.openai(key_variable="NOT_SET_ANYWHERE").embed_query("tea")
    assert bench.server.seen[0].key == ""


def test_the_query_of_an_address_is_kept(bench: Bench) -> None:
    bench.openai(f"{bench.server.url}/v1?api-version=1").embed_query("tea")
    assert bench.server.seen[0].path == "/v1/embeddings?api-version=1"


def test_many_texts_go_in_requests_of_at_most_64(bench: Bench) -> None:
    rows = bench.openai().embed_passages([f"text {number}" for number in range(150)])
    assert [len(seen.texts) for seen in bench.server.seen] == [64, 64, 22]
    assert rows[149] @ bench.openai().embed_query("text 149") == pytest.approx(1)


def test_long_texts_are_cut_and_share_requests_of_100_000_characters(bench: Bench) -> None:
    bench.openai().embed_passages(["tea " * 5000] * 30)
    assert {len(text) for seen in bench.server.seen for text in seen.texts} == {8000}
    assert [len(seen.texts) for seen in bench.server.seen] == [12, 12, 6]


def test_a_text_is_cut_between_characters_so_that_its_tokens_fit(bench: Bench) -> None:
    bench.openai().embed_passages(["茶" * 5000])
    assert bench.server.seen[0].texts == ["茶" * 2666]


def test_half_a_surrogate_pair_is_sent_as_text(bench: Bench) -> None:
    bench.openai().embed_passages(["tea \ud83c"])
    assert bench.server.seen[0].texts == ["tea ?"]


def test_texts_that_say_nothing_are_not_sent_and_get_zeros(bench: Bench) -> None:
    embedder = bench.ollama()
    rows = embedder.embed_passages(["", "tea", " \n"])
    assert [bool(row.any()) for row in rows] == [False, True, False]
    assert bench.server.seen[0].texts == ["search_document: tea"]


def test_the_width_of_zeros_is_asked_for_when_nothing_was_said_yet(bench: Bench) -> None:
    embedder = bench.openai()
    assert embedder.embed_passages([]).shape[0] == 0
    assert bench.server.seen == []
    assert embedder.embed_passages(["", " "]).shape == (2, DIMENSIONS)
    assert not embedder.embed_query("").any()
    assert len(bench.server.seen) == 1


def test_rows_out_of_order_are_put_in_order(bench: Bench) -> None:
    def answer_in_another_order(handler: Handler) -> None:
        data = [{"index": index, "embedding": bag(text)} for index, text in enumerate(handler.texts)]
        handler.answer({"data": data[::-1]})

    bench.server.script = [answer_in_another_order]
    rows = bench.openai().embed_passages(["tea", "coffee", "milk"])
    assert [int(row.argmax()) for row in rows] == [bag(text).index(1) for text in ("tea", "coffee", "milk")]


def test_floats_in_base64_are_read(bench: Bench) -> None:
    bench.server.script = [data_of(base64.b64encode(struct.pack("<3f", 3, 0, 4)).decode())]
    assert bench.openai().embed_query("tea").tolist() == pytest.approx([0.6, 0, 0.8])


def test_an_answer_in_chunks_is_read(bench: Bench) -> None:
    def answer_in_chunks(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for piece in (b'{"data": [{"embedding"', b": [0, 1]}]}", b""):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    bench.server.script = [answer_in_chunks]
    embedder = bench.openai()
    assert embedder.embed_query("tea").tolist() == [0, 1]
    bench.server.script = [data_of([1, 0])]
    assert embedder.embed_query("tea").tolist() == [1, 0]
    assert bench.server.connections == 1


def test_one_connection_serves_many_requests(bench: Bench) -> None:
    embedder = bench.openai()
    for _ in range(5):
        embedder.embed_query("tea")
    assert bench.server.connections == 1


def test_threads_share_an_embedder(bench: Bench) -> None:
    embedder = bench.openai()
    texts = [f"tea {number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(embedder.embed_query, texts))
    assert numpy.array_equal(numpy.array(rows), embedder.embed_passages(texts))
    assert bench.server.connections <= 8


def test_a_connection_that_was_closed_while_it_lay_idle_is_opened_again_at_once(bench: Bench) -> None:
    def serve_and_leave(handler: Handler) -> None:
        serve(handler)
        handler.close_connection = True

    bench.server.script = [serve_and_leave]
    embedder = bench.openai()
    embedder.embed_query("tea")
    embedder.embed_query("tea")
    assert (bench.server.connections, bench.standing.slept) == (2, [])


@pytest.mark.parametrize("header", ["7", formatdate(NOON + 7, usegmt=True)], ids=["seconds", "date"])
def test_a_rate_limit_is_waited_for_as_long_as_it_says(bench: Bench, header: str) -> None:
    bench.server.script = [fail(429, Retry_After=header)]
    assert bench.openai().embed_query("tea").any()
    assert bench.standing.slept == [pytest.approx(7)]


def test_a_rate_limit_of_hours_is_waited_for_a_minute(bench: Bench) -> None:
    bench.server.script = [fail(429, Retry_After="7200")]
    bench.openai().embed_passages(["tea"])
    assert bench.standing.slept == [60]


def test_a_question_does_not_wait_for_a_long_rate_limit_and_the_next_does_not_ask(bench: Bench) -> None:
    bench.server.script = [fail(429, "slow down", Retry_After="30")]
    embedder = bench.openai()
    assert "429 Too Many Requests: slow down" in refusal(embedder)
    assert "try again later" in refusal(embedder)
    assert (len(bench.server.seen), bench.standing.slept) == (1, [])
    bench.standing.time += 30
    assert embedder.embed_query("tea").any()


@pytest.mark.parametrize("header", ["", "soon", "-5", "nan", "Mon, 99 Foo 2026", "0"])
def test_a_retry_after_that_says_nothing_is_not_needed(bench: Bench, header: str) -> None:
    bench.server.script = [fail(503, Retry_After=header)]
    assert bench.openai().embed_query("tea").any()
    assert 0.25 <= bench.standing.slept[0] <= 0.5


def test_a_server_that_keeps_failing_is_tried_ever_more_slowly_and_then_left(bench: Bench) -> None:
    bench.server.otherwise = fail(500, "out of order")
    with pytest.raises(Unavailable, match=r"cannot serve now \(500 Internal Server Error: out of order\)"):
        bench.openai().embed_passages(["tea"])
    assert len(bench.server.seen) == 6
    assert all(2**n / 4 <= pause <= 2**n / 2 for n, pause in enumerate(bench.standing.slept))
    assert len(bench.standing.slept) == 5


def test_the_time_for_all_tries_together_is_bounded(bench: Bench) -> None:
    bench.server.otherwise = fail(502)
    with pytest.raises(Unavailable, match="502"):
        bench.openai(indexing=RetryPolicy(tries=100, seconds=30, timeout=5)).embed_passages(["tea"])
    assert sum(bench.standing.slept) < 30


@pytest.mark.parametrize("failure", [hang_up, break_off, break_off_in_chunks, fail(504), fail(429)])
def test_what_passes_is_tried_again(bench: Bench, failure: Script) -> None:
    bench.server.script = [failure]
    assert bench.openai().embed_query("tea").any()
    assert (len(bench.server.seen), len(bench.standing.slept)) == (2, 1)


def test_an_answer_that_always_breaks_off_is_an_outage(bench: Bench) -> None:
    bench.server.otherwise = break_off
    assert "cannot be reached (its answer broke off)" in refusal(bench.openai())


def test_a_server_that_does_not_answer_is_given_up(bench: Bench) -> None:
    bench.server.otherwise = hang
    reason = refusal(bench.openai(searching=RetryPolicy(tries=2, seconds=10, timeout=0.05)))
    assert "cannot be reached (no answer in time): check baseUrl in your config.yaml" in reason
    wait_until(lambda: len(bench.server.seen) == 2, "the server reads both requests, however late")


def test_a_server_that_drips_is_given_up(bench: Bench) -> None:
    def drip(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"{")
        handler.wfile.flush()
        bench.standing.time += 3
        handler.wfile.write(b" ")

    bench.server.otherwise = drip
    assert "no answer in time" in refusal(bench.openai(searching=RetryPolicy(tries=1, seconds=10, timeout=2)))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refusal_is_not_asked_again(bench: Bench, status: int) -> None:
    bench.server.otherwise = fail(status, f"no, and {KEY} neither")
    reason = refusal(bench.openai())
    assert (len(bench.server.seen), bench.standing.slept) == (1, [])
    assert f"{bench.server.url}/v1" in reason


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (400, "check baseUrl in your config.yaml and memorySearch.model"),
        (401, "set the environment variable THE_KEY to a valid one"),
        (403, "use another in THE_KEY, or another memorySearch.model"),
        (404, "has no model text-embedding-3-small"),
    ],
)
def test_a_refusal_says_what_to_do(bench: Bench, status: int, step: str) -> None:
    bench.server.otherwise = fail(status)
    assert step in refusal(bench.openai())


def test_a_server_that_wants_a_key_says_which_variable(bench: Bench) -> None:
    bench.server.otherwise = fail(401)
    assert "asks for a key: set the environment variable MY_KEY" in refusal(bench.openai(key_variable="MY_KEY"))


def test_an_account_without_money_is_not_waited_for(bench: Bench) -> None:
    bench.server.otherwise = fail(429, "You exceeded your current quota", "insufficient_quota")
    assert "check its plan and billing" in refusal(bench.openai())
    assert bench.standing.slept == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_neither_key_nor_texts_follow_a_redirect_to_another_host(bench: Bench, status: int) -> None:
    other = bench.start()
    for place in (other.url, f"http://localhost:{bench.server.server_port}", f"https://{KEY}@elsewhere.example/?{KEY}"):
        bench.server.script = [fail(status, Location=f"{place}/v1/embeddings")]
        assert "set baseUrl in your config.yaml to its new address" in refusal(bench.openai())
    assert other.seen == []
    assert len(bench.server.seen) == 3


def test_a_redirect_on_the_same_host_is_followed(bench: Bench) -> None:
    bench.server.script = [fail(307, Location="/v1/embeddings/")]
    assert bench.openai().embed_query("tea").any()
    assert [seen.path for seen in bench.server.seen] == ["/v1/embeddings", "/v1/embeddings/"]
    assert bench.server.seen[1].texts == ["tea"]


def test_redirects_in_a_circle_end(bench: Bench) -> None:
    bench.server.otherwise = fail(308, Location="embeddings")
    assert "it redirects in a circle" in refusal(bench.openai())
    assert len(bench.server.seen) == 3


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (give(b"<html>Welcome</html>"), "what it answers is not JSON"),
        (give(b'{"data": ' + b"[" * 100_000), "what it answers is not JSON"),
        (give([]), "not the shape of embeddings"),
        (give({"object": "list"}), "not the shape of embeddings"),
        (give({"data": [{"index": 0, "vector": [1]}]}), "not the shape of embeddings"),
        (give({"data": [[1, 0], [0, 1]]}), "not the shape of embeddings"),
        (give({"data": "of", "embeddings": "of"}), "not the shape of embeddings"),
        (data_of([KEY], [KEY]), "not the shape of embeddings"),
        (data_of(), "0 rows for 2 texts"),
        (data_of([1, 0]), "1 rows for 2 texts"),
        (data_of([1, 0], [1, 0], [1, 0]), "3 rows for 2 texts"),
        (give({"data": [{"index": 0, "embedding": [1]}] * 2}), "not one for each"),
        (data_of([1, 0], [1, 0, 0]), "rows of different lengths"),
        (data_of([1, 0], [0, 0]), "a vector of zeros"),
        (data_of([1, 0], [float("nan"), 0]), "it contains NaN or infinity"),
        (data_of([1, 0], [None, 0]), "it contains NaN or infinity"),
        (give(b'{"data": [{"embedding": [1]}, {"embedding": [1e999]}]}'), "it contains NaN or infinity"),
        (data_of([], []), "a row that is not a list of numbers"),
        (data_of("", ""), "a vector of zeros"),
        (data_of(1, 2), "a row that is not a list of numbers"),
    ],
)
def test_an_answer_that_cannot_be_used_says_why(bench: Bench, answer: Script, why: str) -> None:
    bench.server.otherwise = answer
    with pytest.raises(Unavailable, match=re.escape(why)) as caught:
        bench.openai().embed_passages(["tea", "coffee"])
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert bench.standing.slept == []


def test_a_model_that_changes_its_width_is_noticed(bench: Bench) -> None:
    embedder = bench.openai()
    embedder.embed_query("tea")
    bench.server.otherwise = data_of([1, 0])
    assert f"2 numbers a text, {DIMENSIONS} before" in refusal(embedder)


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@given(
    odd=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=12) | st.lists(st.floats()),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["index", "embedding"]), inner),
        max_leaves=8,
    )
)
def test_whatever_comes_back_is_a_vector_or_a_reason(bench: Bench, provider: str, odd: Any) -> None:
    embedder = bench.openai() if provider == "openai" else bench.ollama()
    row, rows = {"data": [{"embedding": odd}], "embeddings": [odd]}, {"data": odd, "embeddings": odd}
    for answer in (odd, rows, {"data": [odd]}, row):
        bench.server.script = [give(answer)]
        with suppress(Unavailable):
            assert numpy.linalg.norm(embedder.embed_query("tea")) == pytest.approx(1, abs=1e-5)
    embedder.close()


def test_nobody_listening_is_an_outage(bench: Bench) -> None:
    assert "cannot be reached (connection refused): check baseUrl in your config.yaml" in refusal(
        bench.openai(closed_port())
    )
    assert len(bench.standing.slept) == 1


def test_ollama_not_running_says_how_to_start_it(bench: Bench) -> None:
    url = closed_port()
    assert f"Ollama is not running at {url}: start it with `ollama serve`" in refusal(bench.ollama(url))


def test_a_model_that_ollama_does_not_have_says_how_to_get_it(bench: Bench) -> None:
    missing = {"error": 'model "bge-m3" not found, try pulling it first'}
    bench.server.otherwise = lambda handler: handler.answer(missing, 404)
    assert "run `ollama pull bge-m3`" in refusal(bench.ollama(model="bge-m3"))


def test_an_address_that_is_not_ollama_says_so(bench: Bench) -> None:
    bench.server.otherwise = lambda handler: handler.answer(b"404 page not found", 404)
    assert "without /v1" in refusal(bench.ollama(f"{bench.server.url}/v1"))


@pytest.mark.parametrize("url", ["http://", "http://host:port", "http://[::1", "ftp://host", "http://a b/"])
def test_an_invalid_address_is_reported(bench: Bench, url: str) -> None:
    with pytest.raises(Unavailable, match=r"baseUrl in your config.yaml: is not a web address"):
        bench.openai(url)


def test_a_password_in_an_address_is_refused_and_not_repeated(bench: Bench) -> None:
    with pytest.raises(Unavailable, match="contains a password") as caught:
        bench.openai(f"https://me:{KEY}@host.example/v1")
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", f"{KEY}\r\nX-Other: 1")
    with pytest.raises(Unavailable, match="THE_KEY does not contain a key") as caught:
        bench.openai()
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_the_line_break_at_the_end_of_a_key_is_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", f"{KEY}\n")
    bench.openai().embed_query("tea")
    assert bench.server.seen[0].key == f"Bearer {KEY}"


def test_openai_itself_needs_a_key_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(
        Unavailable, match=r"set the environment variable OPENAI_API_KEY, or baseUrl in your config.yaml"
    ):
        open_embedders(SearchSettings(provider="openai"))


def test_the_table_opens_each_provider_without_asking_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for provider, model in {"openai": "text-embedding-3-small", "ollama": "nomic-embed-text"}.items():
        (embedder,) = open_embedders(SearchSettings(provider=provider))
        assert (embedder.provider, embedder.model, embedder.is_fast, embedder.batch_size) == (
            provider,
            model,
            False,
            64,
        )
        assert embedder.accepts("任何文字")


def test_a_space_is_a_file_name_and_differs_by_model_and_address(bench: Bench) -> None:
    def space(model: str, url: str = "http://a.example") -> str:
        return OllamaEmbedder(SearchSettings(model=model, base_url=url)).space

    spaces = [space("bge-m3"), space("bge-m3:567m"), space("BGE/m3"), space("茶"), space("bge-m3", "http://b.example")]
    assert len(set(spaces)) == 5
    assert all(re.fullmatch(r"ollama-[a-z0-9.-]+", name) for name in [*spaces, space("../" * 200)])
    assert space("bge-m3") == space("bge-m3", "http://a.example/")


def test_sentence_transformers_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # how Python itself spells a missing module
    with pytest.raises(Unavailable, match=re.escape("pip install 'commonplace[sentence-transformers]'")):
        open_embedders(SearchSettings(provider="sentence-transformers"))


@pytest.mark.filterwarnings("ignore")  # torch and its company warn about each other
def test_sentence_transformers_loads_a_model_from_a_folder(tmp_path: Path) -> None:
    """The real package with a model of a few words, since it is too heavy to be installed with our tests."""
    package = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    words = modules.BoW(vocab=["green", "tea", "coffee"])
    package.SentenceTransformer(modules=[words], device="cpu").save(str(tmp_path / "model"))
    settings = SearchSettings(provider="sentence-transformers", model=str(tmp_path / "model"))
    (embedder,) = open_embedders(settings)
    rows = embedder.embed_passages(["green tea", "coffee", ""])
    assert (rows.dtype.name, rows.shape) == ("float32", (3, 3))
    assert (rows @ embedder.embed_query("tea")).tolist() == pytest.approx([0.5**0.5, 0, 0])
    assert embedder.embed_passages([]).shape == (0, 3)
    with pytest.raises(Unavailable, match="cannot be loaded"):
        open_embedders(settings._replace(model=str(tmp_path / "nothing")))
