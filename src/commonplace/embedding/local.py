"""Small transformers on this machine, through onnxruntime: one for English, one for Chinese, or one of the user's own;
and the reranker.

Each text is a batch of its own on one thread, and a few texts run in parallel. The models are quantized to 8 bits: the
texts of a batch would share one scale, so that a vector would depend on the other texts; and two threads on one text
take longer than one.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from ..errors import Unavailable
from ..settings import SearchSettings
from . import late_interaction
from .base import Embedder, running_inference, slug
from .model_files import (
    BGE_EN,
    BGE_ZH,
    COLBERT_EN,
    KNOWN_MODELS,
    MODEL_FILE,
    RERANKER,
    TOKENIZER_FILE,
    LocalModel,
    ModelFiles,
    checksum,
    find_model,
)

if TYPE_CHECKING:
    from .base import Vectors

_MAX_PAIR_TOKENS = 192  # query and passage together; more costs time, and answers tend to come early
_MIN_QUERY_WORDS = 4  # shorter queries are not reranked
_REQUIRED_PACKAGES = ("numpy", "onnxruntime", "tokenizers")
_MAX_TOKENS = 512
_MAX_CHARACTERS = 16_000  # far more than 512 tokens; tokenizing the rest of a long text would be wasted
_PARALLEL_TEXTS = min(2, os.cpu_count() or 1)
_HAN = re.compile(r"[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA_AND_HANGUL = re.compile(r"[\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS_PER_CHARACTER = 3  # about as much meaning as one Chinese character


class Recipe(NamedTuple):
    """How the output of a model becomes the vector of a text."""

    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""


_RECIPES = {
    COLBERT_EN.name: Recipe(),
    BGE_EN.name: Recipe("cls", "Represent this sentence for searching relevant passages: "),
    BGE_ZH.name: Recipe("cls", "为这个句子生成表示以用于检索相关文章："),
}


class Transformer:
    """A model file and its tokenizer, opened for the first text. Safe for threads."""

    def __init__(self, files: ModelFiles, max_tokens: int) -> None:
        self.files = files
        self._max_tokens = max_tokens
        self._lock = Lock()
        self._opened: tuple[Any, Any, frozenset[str], bool] | None = None

    def run(self, texts: Sequence[str | tuple[str, str]], reduce: Callable[[Any], Any]) -> list[Any]:
        """Run the model on each text or pair of texts, and return what `reduce` makes of each output.

        The output of a model is one row for each token, or a single row.
        """

        def run_one(text: str | tuple[str, str]) -> Any:
            with running_inference():
                return reduce(self._output(text))

        try:
            with running_inference():
                self._open()
            if len(texts) < 2 or _PARALLEL_TEXTS < 2:
                return [run_one(text) for text in texts]
            with ThreadPoolExecutor(_PARALLEL_TEXTS) as pool:
                return list(pool.map(run_one, texts))
        except Unavailable:
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise Unavailable(f"{self.files.model} fails ({reason}): try again, or use another model") from error

    def _output(self, text: str | tuple[str, str]) -> Any:
        tokenizer, session, inputs, lower = self._open()
        parts = [_clean(part, lower=lower) for part in ([text] if isinstance(text, str) else text)]
        encoded = tokenizer.encode(*parts)
        ids = numpy.array([encoded.ids], numpy.int64)
        type_ids = numpy.array([encoded.type_ids], numpy.int64)
        feed = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": type_ids}
        return session.run(None, {name: feed[name] for name in inputs})[0][0]

    def _open(self) -> tuple[Any, Any, frozenset[str], bool]:
        with self._lock:
            if self._opened is None:
                if checksum(self.files.model) != self.files.sha256:
                    raise Unavailable(f"{self.files.model} has changed since it was checked: start again")
                tokenizer = _load_tokenizer(self.files.tokenizer, self._max_tokens)
                session = _open_session(self.files.model)
                inputs = frozenset(entry.name for entry in session.get_inputs())
                self._opened = tokenizer, session, inputs, _wants_lower_case(tokenizer)
            return self._opened


def _open_session(path: str) -> Any:
    onnxruntime: Any = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _load_tokenizer(path: str, max_tokens: int) -> Any:
    tokenizers: Any = importlib.import_module("tokenizers")
    if path.endswith(".json"):
        tokenizer = tokenizers.Tokenizer.from_file(path)
    else:
        settings = _read_json(os.path.join(os.path.dirname(path), "tokenizer_config.json"))
        tokenizer = tokenizers.BertWordPieceTokenizer(path, lowercase=settings.get("do_lower_case") is not False)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _wants_lower_case(tokenizer: Any) -> bool:
    """Return whether a tokenizer keeps capital letters although the vocabulary has only lower-case ones.

    That of bge-small-zh does, by mistake: with lower-case text, a query about a GPU or Windows finds its passage much
    more often.
    """
    capital, small = [tokenizer.encode(letter, add_special_tokens=False).tokens for letter in ("A", "a")]
    return bool(capital == ["[UNK]"] and small == ["a"])


def _clean(text: str, *, lower: bool) -> str:
    text = text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be encoded
    return text.lower() if lower else text


class LocalEmbedder:
    """An embedder with one transformer. `scripts`: "alphabetic" or "chinese", the texts it is for; empty for all."""

    provider = "local"
    is_fast = False
    batch_size = 64

    def __init__(self, files: ModelFiles, recipe: Recipe, scripts: str = "") -> None:
        self.model = files.name
        self.space = f"local-{slug(files.name)}-{recipe.pooling}-{files.sha256[:8]}"
        self._recipe = recipe
        self._scripts = scripts
        self._transformer = Transformer(files, _MAX_TOKENS)
        self._dimensions = 0

    def accepts(self, text: str) -> bool:
        if not self._scripts:
            return True
        return is_mostly_alphabetic(text) if self._scripts == "alphabetic" else has_chinese(text)

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        return self._embed(texts, self._recipe.passage_prefix)

    def embed_query(self, text: str) -> Vectors:
        row: Vectors = self._embed([text], self._recipe.query_prefix)[0]
        return row

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        return self._run(texts, prefix, _ignore_output)[0]

    def _run(self, texts: Sequence[str], prefix: str, reduce: Callable[[Any], Any]) -> tuple[Vectors, dict[int, Any]]:
        """Return one vector for each text, and for each non-blank one what `reduce` makes of the model's output."""

        def pool_and_reduce(output: Any) -> tuple[Any, Any]:
            return self._pool(output), reduce(output)

        non_blank = [number for number, text in enumerate(texts) if text.strip()]
        results = self._transformer.run([prefix + texts[number] for number in non_blank], pool_and_reduce)
        if not self._dimensions:
            self._dimensions = (results or self._transformer.run(["text"], pool_and_reduce))[0][0].shape[0]
        vectors = numpy.zeros((len(texts), self._dimensions), numpy.float32)
        for number, (row, _) in zip(non_blank, results, strict=True):
            vectors[number] = row / max(float(numpy.linalg.norm(row)), 1e-12)
        return vectors, {number: reduced for number, (_, reduced) in zip(non_blank, results, strict=True)}

    def _pool(self, output: Any) -> Any:
        if output.ndim == 1:  # the model pools by itself
            return output
        # A copy: a view would keep the rows of all tokens in memory.
        return output[0].copy() if self._recipe.pooling == "cls" else output.mean(axis=0)


def _ignore_output(_: Any) -> None:
    """Reduce the output to nothing, for callers who need the vector of a text alone."""


class TokenEmbedder(LocalEmbedder):
    """A transformer for late interaction, such as ColBERT. The vector of a text is the mean of its token vectors."""

    def embed_passages_by_token(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        vectors, packed = self._run(texts, "", late_interaction.pack_tokens)
        return vectors, [packed.get(number, b"") for number in range(len(texts))]

    def embed_query_by_token(self, text: str) -> tuple[Vectors, Vectors]:
        vectors, projected = self._run([text], "", late_interaction.project_tokens)
        return vectors[0], projected.get(0, numpy.zeros((0, 0), numpy.float32))


def _script_shares(text: str) -> tuple[float, float]:
    """Return the share of Chinese in a text, and the share of all of Chinese, Japanese and Korean."""
    if text.isascii():
        return 0.0, 0.0
    chinese = len(_HAN.findall(text))
    others = len(_KANA_AND_HANGUL.findall(text))
    unspaced = chinese + others
    weight = _LETTERS_PER_CHARACTER * unspaced + len(_LETTER.findall(text)) - unspaced
    return _LETTERS_PER_CHARACTER * chinese / max(weight, 1), _LETTERS_PER_CHARACTER * unspaced / max(weight, 1)


def is_mostly_alphabetic(text: str) -> bool:
    return _script_shares(text)[1] < 0.5


def has_chinese(text: str) -> bool:
    """Return whether much of a text is Chinese. One that is half English is embedded by both models."""
    return _script_shares(text)[0] >= 0.25


def require_packages() -> None:
    """Raise ImportError for a package that is not installed, before anything is opened. Nothing is imported."""
    for package in _REQUIRED_PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise ImportError(f"No module named {package!r}", name=package)


def open_embedders(settings: SearchSettings) -> tuple[Embedder, ...]:
    """Return the English and the Chinese embedder, if their files are here; or the one model of a folder."""
    require_packages()
    if settings.model in ("", *_RECIPES):
        return _open_known_models(settings.model, "")
    folder = os.path.expanduser(settings.model)
    if not os.path.isdir(folder):
        todo = f"name one, or {' or '.join(_RECIPES)}, or leave it out for English and Chinese"
        raise Unavailable(f"memorySearch.model: {settings.model} is not a folder: {todo}")
    model = _find_model_file(folder)
    return (_open_custom_model(folder, model),) if model else _open_known_models("", folder)


def _open_known_models(name: str, folder: str) -> tuple[Embedder, ...]:
    """Return one embedder for each script: the best model whose files are here."""
    models_by_script: dict[str, tuple[LocalModel, ...]] = {"alphabetic": (COLBERT_EN, BGE_EN), "chinese": (BGE_ZH,)}
    embedders: list[Embedder] = []
    missing: list[Unavailable] = []
    for scripts, models in models_by_script.items():
        for model in models:
            if name in ("", model.name):
                try:
                    embedders.append(_make_embedder(find_model(model, folder), model.name, scripts))
                    break
                except Unavailable as error:
                    missing.append(error)
    if not embedders:
        raise missing[0]
    return tuple(embedders)


def _make_embedder(files: ModelFiles, name: str, scripts: str = "") -> Embedder:
    embedder_class = TokenEmbedder if name == COLBERT_EN.name else LocalEmbedder
    return embedder_class(files, _RECIPES[name], scripts)


def _find_model_file(folder: str) -> str:
    """Return the model in a folder: `model.onnx`, or the first other ONNX file; empty if there is none."""
    for place in (folder, os.path.join(folder, "onnx")):
        if os.path.isdir(place) and (names := sorted(name for name in os.listdir(place) if name.endswith(".onnx"))):
            return os.path.join(place, MODEL_FILE if MODEL_FILE in names else names[0])
    return ""


def _open_custom_model(folder: str, model: str) -> Embedder:
    """Open a user's model in the layout of sentence-transformers. A known model uses our recipe."""
    paths = [os.path.join(folder, name) for name in (TOKENIZER_FILE, "vocab.txt")]
    tokenizer = next((path for path in paths if os.path.isfile(path)), "")
    if not tokenizer:
        raise Unavailable(f"{folder} has neither tokenizer.json nor vocab.txt: put the one of the model there")
    sha256 = checksum(model)
    known = next((name for name in _RECIPES if _is_conversion(KNOWN_MODELS[name], sha256)), "")
    if known:  # a separate vector space, since here it embeds every script
        return _make_embedder(ModelFiles(f"{known}-alone", model, tokenizer, sha256), known)
    files = ModelFiles(os.path.basename(os.path.abspath(folder)), model, tokenizer, sha256)
    return LocalEmbedder(files, _read_recipe(folder))


def _is_conversion(model: LocalModel, sha256: str) -> bool:
    return any(source.model_sha256 == sha256 for source in model.sources())


def _read_recipe(folder: str) -> Recipe:
    """Return what the files beside a model say about pooling and prefixes."""
    pooling = _read_json(os.path.join(folder, "1_Pooling", "config.json")) or _read_json(
        os.path.join(folder, "config.json")
    )
    modes = [pooling.get("pooling_mode"), pooling.get("pooling")]
    uses_cls = pooling.get("pooling_mode_cls_token") is True or "cls" in modes
    prompts = _read_json(os.path.join(folder, "config_sentence_transformers.json")).get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    passage_prefix = prompts.get("document") or prompts.get("passage") or ""
    return Recipe("cls" if uses_cls else "mean", str(prompts.get("query") or ""), str(passage_prefix))


def _read_json(path: str) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is no file, or no object in it."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} cannot be read ({error}): repair it or remove it") from error
    return content if isinstance(content, dict) else {}


class Reranker:
    """A cross-encoder, which reads query and passage together; opened for the first query. Safe for threads.

    It is slower than comparing vectors, and orders the best hits better; but it makes the results of Chinese and of
    very short queries worse.
    """

    def __init__(self, transformer: Transformer) -> None:
        self._transformer = transformer

    def accepts(self, query: str) -> bool:
        """Return whether reranking improves the results of such a query."""
        return len(query.split()) >= _MIN_QUERY_WORDS and is_mostly_alphabetic(query)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers, from about -11 to 11; the score of one does not depend on the others."""
        return self._transformer.run([(query, text) for text in texts], _first_value)


def _first_value(output: Any) -> float:
    return float(output[0])


def open_reranker(folder: str = "") -> Reranker:
    """Open the reranker from the cache, an installed package, or a folder of models. Raises `Unavailable`."""
    try:
        require_packages()
    except ImportError as error:
        raise Unavailable(f"rerank needs {error.name}: pip install 'commonplace[local]'") from error
    return Reranker(Transformer(find_model(RERANKER, folder), _MAX_PAIR_TOKENS))
