"""The data package: built from verified files, installed by pip, found by `local`."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from commonplace.embedding.model_files import DATA_PACKAGE, LocalModel, Source, find_model, model_folder

MODEL = b"a model of a few bytes"
TOKENIZER = b"its tokenizer"


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    """The build script. It lies outside the package, so it is loaded from its path."""
    path = Path(__file__).parents[2] / "packaging" / "build_models.py"
    spec = importlib.util.spec_from_file_location("build_models", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tiny(licence: str = "MIT") -> LocalModel:
    hashes = [hashlib.sha256(content).hexdigest() for content in (MODEL, TOKENIZER)]
    source = Source("tiny-carrier", "1.0", "tiny_carrier/model.onnx", "tiny_carrier/tokenizer.json", *hashes)
    return LocalModel("tiny", "some/body", licence, source, source)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source" / model_folder(tiny(), tiny().wheel)
    (folder / "licenses").mkdir(parents=True)
    (folder / "model.onnx").write_bytes(MODEL)
    (folder / "tokenizer.json").write_bytes(TOKENIZER)
    (folder / "licenses" / "NOTICE").write_text("free")
    return tmp_path / "source"


def test_the_installed_wheel_is_where_the_model_is_found(
    builder: ModuleType, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = builder.build_wheel([tiny()], source, tmp_path / "dist")
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", str(site)]
    subprocess.run([*command, str(wheel)], check=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull})
    monkeypatch.syspath_prepend(site)
    model = find_model(tiny())
    assert model.model == str(site / DATA_PACKAGE / model_folder(tiny(), tiny().wheel) / "model.onnx")
    assert Path(model.model).read_bytes() == MODEL
    assert DATA_PACKAGE not in sys.modules


def test_the_wheel_carries_licences_and_a_notice_for_every_model(
    builder: ModuleType, source: Path, tmp_path: Path
) -> None:
    wheel = builder.build_wheel([tiny("MIT")], source, tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        info = f"{DATA_PACKAGE}-{builder.VERSION}.dist-info"
        assert b"Permission is hereby granted" in archive.read(f"{info}/licenses/MIT.txt")
        notice = archive.read(f"{info}/licenses/NOTICE.txt").decode()
        assert f"{DATA_PACKAGE}/{model_folder(tiny(), tiny().wheel)}/licenses/NOTICE" in archive.namelist()
    assert "tiny: by some/body" in notice
    assert hashlib.sha256(MODEL).hexdigest() in notice


def test_the_same_files_give_the_same_wheel(builder: ModuleType, source: Path, tmp_path: Path) -> None:
    first, second = (builder.build_wheel([tiny()], source, tmp_path / name) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


def test_a_file_with_another_hash_is_not_packed(builder: ModuleType, source: Path) -> None:
    (source / model_folder(tiny(), tiny().wheel) / "model.onnx").write_bytes(b"something else")
    with pytest.raises(SystemExit, match="is not what tiny should be"):
        builder.verify([tiny()], source)


def test_every_model_of_the_package_has_a_licence_text(builder: ModuleType) -> None:
    assert all(path.is_file() for path in builder._licence_files(builder.DEFAULT_MODELS))


def test_the_hub_folder_has_the_paths_that_the_english_model_is_fetched_from(
    builder: ModuleType, source: Path, tmp_path: Path
) -> None:
    folder = builder.build_hub_folder([tiny()], source, tmp_path)
    assert (folder / model_folder(tiny(), tiny().wheel) / "model.onnx").read_bytes() == MODEL
    english = builder.COLBERT_EN
    assert english.hub.model_path == f"{model_folder(english, english.wheel)}/model.onnx"
