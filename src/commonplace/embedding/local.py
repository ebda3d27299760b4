"""Small transformers on this machine, through onnxruntime: one for English, one for Chinese, or one of the user's own.

Each text is computed alone, on one thread, and several side by side. The weights are 8-bit: in a batch the texts share
one scale, and a vector would depend on its neighbours; and two threads on one text take more time than they save.
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
from . import late_interaction as late
from .base import Embedder, running_inference, slug
from .model_files import (
    BGE_EN,
    BGE_ZH,
    COLBERT_EN,
    KNOWN_MODELS,
    MODEL_FILE,
    TOKENIZER_FILE,
    LocalModel,
    ModelFiles,
    checksum,
    find_model,
)

if TYPE_CHECKING:
    from .base import Vectors

_NEEDED = ("numpy", "onnxruntime", "tokenizers")
_TOKENS = 512
_CHARACTERS = 16_000  # far more than the tokens a model reads, far less than tokenising may cost
_SIDE_BY_SIDE = min(2, os.cpu_count() or 1)
_HAN = re.compile(r"[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA_AND_HANGUL = re.compile(r"[\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS_A_CHARACTER = 3  # of an alphabet, that say about as much as one character of Chinese


class Recipe(NamedTuple):
    """How the output of a model becomes the vector of a text."""

    pooling: str = "mean"
    before_questions: str = ""
    before_passages: str = ""


_RECIPES = {
    COLBERT_EN.name: Recipe(),
    BGE_EN.name: Recipe("cls", "Represent this sentence for searching relevant passages: "),
    BGE_ZH.name: Recipe("cls", "为这个句子生成表示以用于检索相关文章："),
}


class Transformer:
    """A model file and its tokeniser, opened when the first text comes. Safe for threads."""

    def __init__(self, found: ModelFiles, tokens: int) -> None:
        self.found = found
        self._tokens = tokens
        self._lock = Lock()
        self._opened: tuple[Any, Any, frozenset[str], bool] | None = None

    def read(self, texts: Sequence[str | tuple[str, str]], keep: Callable[[Any], Any]) -> list[Any]:
        """What is kept of the output for each text or pair of texts. The output is one row a token, or one row."""

        def one(text: str | tuple[str, str]) -> Any:
            with running_inference():
                return keep(self._output(text))

        try:
            with running_inference():
                self._open()
            if len(texts) < 2 or _SIDE_BY_SIDE < 2:
                return [one(text) for text in texts]
            with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
                return list(pool.map(one, texts))
        except Unavailable:
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise Unavailable(f"{self.found.model} fails ({reason}): try again, or take another model") from error

    def _output(self, text: str | tuple[str, str]) -> Any:
        tokenizer, session, inputs, lower = self._open()
        parts = [_clean(part, lower=lower) for part in ([text] if isinstance(text, str) else text)]
        encoded = tokenizer.encode(*parts)
        ids = numpy.array([encoded.ids], numpy.int64)
        kinds = numpy.array([encoded.type_ids], numpy.int64)
        feed = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": kinds}
        return session.run(None, {name: feed[name] for name in inputs})[0][0]

    def _open(self) -> tuple[Any, Any, frozenset[str], bool]:
        with self._lock:
            if self._opened is None:
                if checksum(self.found.model) != self.found.sha256:
                    raise Unavailable(f"{self.found.model} has changed since it was checked: start again")
                tokenizer = _tokenizer(self.found.tokenizer, self._tokens)
                session = _session(self.found.model)
                inputs = frozenset(entry.name for entry in session.get_inputs())
                self._opened = tokenizer, session, inputs, _wants_lower_case(tokenizer)
            return self._opened


def _session(path: str) -> Any:
    onnxruntime: Any = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _tokenizer(path: str, tokens: int) -> Any:
    tokenizers: Any = importlib.import_module("tokenizers")
    if path.endswith(".json"):
        tokenizer = tokenizers.Tokenizer.from_file(path)
    else:
        settings = _json(os.path.join(os.path.dirname(path), "tokenizer_config.json"))
        tokenizer = tokenizers.BertWordPieceTokenizer(path, lowercase=settings.get("do_lower_case") is not False)
    tokenizer.no_padding()
    tokenizer.enable_truncation(tokens)
    return tokenizer


def _wants_lower_case(tokenizer: Any) -> bool:
    """Whether capitals are all unknown to a model that knows small letters, since its tokeniser keeps them by mistake.

    So it is with bge-small-zh: in lower case, a question about a GPU or Windows finds its passage much more often.
    """
    capital, small = [tokenizer.encode(letter, add_special_tokens=False).tokens for letter in ("A", "a")]
    return bool(capital == ["[UNK]"] and small == ["a"])


def _clean(text: str, *, lower: bool) -> str:
    text = text[:_CHARACTERS].encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair is no text
    return text.lower() if lower else text


class LocalEmbedder:
    """One transformer. `scripts` says which texts it is for."""

    provider = "local"
    is_fast = False
    batch_size = 64

    def __init__(self, found: ModelFiles, recipe: Recipe, scripts: str = "") -> None:
        self.model = found.name
        self.space = f"local-{slug(found.name)}-{recipe.pooling}-{found.sha256[:8]}"
        self._recipe = recipe
        self._scripts = scripts
        self._transformer = Transformer(found, _TOKENS)
        self._dimensions = 0

    def accepts(self, text: str) -> bool:
        if not self._scripts:
            return True
        return mostly_alphabetic(text) if self._scripts == "alphabetic" else has_chinese(text)

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        return self._embed(texts, self._recipe.before_passages)

    def embed_query(self, text: str) -> Vectors:
        row: Vectors = self._embed([text], self._recipe.before_questions)[0]
        return row

    def _embed(self, texts: Sequence[str], before: str) -> Vectors:
        return self._read(texts, before, _keep_nothing)[0]

    def _read(self, texts: Sequence[str], before: str, keep: Callable[[Any], Any]) -> tuple[Vectors, dict[int, Any]]:
        """One vector a text, and what else is kept of the output for each that says anything."""

        def both(output: Any) -> tuple[Any, Any]:
            return self._pool(output), keep(output)

        said = [number for number, text in enumerate(texts) if text.strip()]
        read = self._transformer.read([before + texts[number] for number in said], both)
        if not self._dimensions:
            self._dimensions = (read or self._transformer.read(["text"], both))[0][0].shape[0]
        vectors = numpy.zeros((len(texts), self._dimensions), numpy.float32)
        for number, (row, _) in zip(said, read, strict=True):
            vectors[number] = row / max(float(numpy.linalg.norm(row)), 1e-12)
        return vectors, {number: kept for number, (_, kept) in zip(said, read, strict=True)}

    def _pool(self, output: Any) -> Any:
        if output.ndim == 1:  # the model does it itself
            return output
        # A copy: a view would keep the rows of all tokens in memory.
        return output[0].copy() if self._recipe.pooling == "cls" else output.mean(axis=0)


def _keep_nothing(_: Any) -> None:
    """For callers who want the vector of a text alone."""


class TokenEmbedder(LocalEmbedder):
    """A transformer made to be asked token by token. Its vectors are the means of its tokens."""

    def embed_passages_by_token(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        vectors, kept = self._read(texts, "", late.pack_tokens)
        return vectors, [kept.get(number, b"") for number in range(len(texts))]

    def embed_query_by_token(self, text: str) -> tuple[Vectors, Vectors]:
        vectors, placed = self._read([text], "", late.project_tokens)
        return vectors[0], placed.get(0, numpy.zeros((0, 0), numpy.float32))


def _shares(text: str) -> tuple[float, float]:
    """The share of Chinese, and of all scripts that an English model does not know, in what a text says."""
    if text.isascii():
        return 0.0, 0.0
    chinese = len(_HAN.findall(text))
    others = len(_KANA_AND_HANGUL.findall(text))
    unspaced = chinese + others
    weight = _LETTERS_A_CHARACTER * unspaced + len(_LETTER.findall(text)) - unspaced
    return _LETTERS_A_CHARACTER * chinese / max(weight, 1), _LETTERS_A_CHARACTER * unspaced / max(weight, 1)


def mostly_alphabetic(text: str) -> bool:
    return _shares(text)[1] < 0.5


def has_chinese(text: str) -> bool:
    """Whether much of a text is Chinese. One that is half English goes to both models, and is found from both sides."""
    return _shares(text)[0] >= 0.25


def require(packages: Sequence[str] = _NEEDED) -> None:
    """Complain of what is not installed before anything is opened, without importing it."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise ImportError(f"No module named {package!r}", name=package)


def open_embedders(settings: SearchSettings) -> tuple[Embedder, ...]:
    """English and Chinese, or as many of them as there are weights for; or the one model of a folder, for all texts."""
    require()
    if settings.model in ("", *_RECIPES):
        return _known(settings.model, "")
    folder = os.path.expanduser(settings.model)
    if not os.path.isdir(folder):
        todo = f"name one, or {' or '.join(_RECIPES)}, or leave it out for English and Chinese"
        raise Unavailable(f"memorySearch.model: {settings.model} is not a folder: {todo}")
    model = _model_file(folder)
    return (_own(folder, model),) if model else _known("", folder)


def _known(name: str, folder: str) -> tuple[Embedder, ...]:
    """One a script: the best of those that are here."""
    wanted: dict[str, tuple[LocalModel, ...]] = {"alphabetic": (COLBERT_EN, BGE_EN), "chinese": (BGE_ZH,)}
    embedders: list[Embedder] = []
    missing: list[Unavailable] = []
    for scripts, weights in wanted.items():
        for weight in weights:
            if name in ("", weight.name):
                try:
                    embedders.append(_embedder(find_model(weight, folder), weight.name, scripts))
                    break
                except Unavailable as error:
                    missing.append(error)
    if not embedders:
        raise missing[0]
    return tuple(embedders)


def _embedder(found: ModelFiles, name: str, scripts: str = "") -> Embedder:
    made = TokenEmbedder if name == COLBERT_EN.name else LocalEmbedder
    return made(found, _RECIPES[name], scripts)


def _model_file(folder: str) -> str:
    """The model of a folder: by its usual name, or whatever else is one."""
    for place in (folder, os.path.join(folder, "onnx")):
        if os.path.isdir(place) and (names := sorted(name for name in os.listdir(place) if name.endswith(".onnx"))):
            return os.path.join(place, MODEL_FILE if MODEL_FILE in names else names[0])
    return ""


def _own(folder: str, model: str) -> Embedder:
    """A model of the user's own, in the layout of sentence-transformers. One we know is used as we know it."""
    files = [os.path.join(folder, name) for name in (TOKENIZER_FILE, "vocab.txt")]
    tokenizer = next((path for path in files if os.path.isfile(path)), "")
    if not tokenizer:
        raise Unavailable(f"{folder} has neither tokenizer.json nor vocab.txt: put the one of the model there")
    sha256 = checksum(model)
    known = next((name for name in _RECIPES if _is_conversion(KNOWN_MODELS[name], sha256)), "")
    if known:  # a space of its own: the one of that name has no vectors of other scripts
        return _embedder(ModelFiles(f"{known}-alone", model, tokenizer, sha256), known)
    found = ModelFiles(os.path.basename(os.path.abspath(folder)), model, tokenizer, sha256)
    return LocalEmbedder(found, _recipe(folder))


def _is_conversion(model: LocalModel, sha256: str) -> bool:
    return any(source.model_sha256 == sha256 for source in model.sources())


def _recipe(folder: str) -> Recipe:
    """What the files beside a model say about it."""
    pooling = _json(os.path.join(folder, "1_Pooling", "config.json")) or _json(os.path.join(folder, "config.json"))
    modes = [pooling.get("pooling_mode"), pooling.get("pooling")]
    cls = pooling.get("pooling_mode_cls_token") is True or "cls" in modes
    prompts = _json(os.path.join(folder, "config_sentence_transformers.json")).get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    passages = prompts.get("document") or prompts.get("passage") or ""
    return Recipe("cls" if cls else "mean", str(prompts.get("query") or ""), str(passages))


def _json(path: str) -> dict[str, Any]:
    """The object in a file; an empty one where there is no file."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} cannot be read ({error}): mend it or remove it") from error
    return found if isinstance(found, dict) else {}
