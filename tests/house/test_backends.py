"""One backend seam: outside its own folder no code asks which backend it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import commonplace
from commonplace.storage.base import HistoryStore, Pages, Storage, TokenStore

SOURCE = Path(commonplace.__file__).parent
BACKEND_FOLDERS = ("storage/folder/", "storage/postgres/")
# The command `db` is about PostgreSQL itself.
ALLOWED = {"storage/base.py", "surfaces/cli/db.py"}
QUESTIONS = re.compile(r"storage\.(folder|postgres)\b|\bin_database\b|\b(Folder|Postgres)Storage\b|postgresql?://")


def asks_for_its_backend(text: str) -> bool:
    code = re.sub(r'""".*?"""|#[^\n]*|f?"[^"\n]*"', "", text, flags=re.DOTALL)
    return QUESTIONS.search(code) is not None


def test_no_code_asks_which_backend_it_has() -> None:
    asking = []
    for module in sorted(SOURCE.rglob("*.py")):
        path = module.relative_to(SOURCE).as_posix()
        is_backend = path.startswith(BACKEND_FOLDERS) or path in ALLOWED
        if not is_backend and asks_for_its_backend(module.read_text()):
            asking.append(path)
    assert asking == []


@pytest.mark.parametrize("protocol", [Storage, Pages, HistoryStore, TokenStore])
def test_a_backend_that_leaves_out_a_method_cannot_be_opened(protocol: type) -> None:
    half = type("Half", (protocol,), {})
    with pytest.raises(TypeError, match="abstract method"):
        half()
