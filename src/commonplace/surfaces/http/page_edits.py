"""A page changed from outside of the tools: whole, if it is as who changes it read it; both changes, if it is not."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...errors import PageNotFound, Refused
from ...home import Home
from ...storage.author import Signature, signed
from ...storage.base import ABSENT
from ...storage.deltas import as_text
from ...storage.merge import Part, parts
from ...tools.secret_policy import guarded
from .page_access import page_at, sight, sight_to_write

_LARGEST = 4_000_000  # characters of a page: more than is searched of one


class Saved(NamedTuple):
    version: str
    warning: str = ""
    conflict: str = ""


class Merged(NamedTuple):
    """`text`: what both made of it, with marks where they meet. `current`: the version of theirs."""

    text: str
    conflicts: int
    current: str
    theirs: str
    parts: list[dict[str, Any]]


def save(home: Home, path: str, text: str, version: str, session: str = "") -> Saved:
    """Write a page whole; StaleVersion when it is not as it was read. Secrets are told, taken out or refused as the
    settings say."""
    sight_to_write(home, path)
    if len(text) > _LARGEST:
        raise Refused(f"a page has at most {_LARGEST:,} characters: write two of them")
    given, warning = guarded({"text": text}, home.settings.secrets)
    try:
        with signed(Signature("edit", home.agent, session or home.session)) as told:
            made = home.pages.write(path, given["text"], if_version=version)
    finally:
        home.follow()
    said = [sentence for sentence in (warning, *told.warnings) if sentence]
    return Saved(made, "; ".join(said), "; ".join(told.conflicts))


def delete(home: Home, path: str, version: str, session: str = "") -> None:
    """Remove a page; StaleVersion when it is not as it was read."""
    sight_to_write(home, path)
    try:
        with signed(Signature("remove", home.agent, session or home.session)):
            home.pages.remove(path, if_version=version)
    finally:
        home.follow()


def merged(home: Home, path: str, base: str, text: str) -> Merged:
    """What a text and the page as it is now make together, where both come from one version of it."""
    sight(home, path)
    was = as_text(home.history.content(path, base)) if base != ABSENT else ""
    home.pages.notice([path])  # what is shown here is what the next merge begins from
    try:
        now = page_at(home, path)
        theirs, current = now.text, now.version
    except PageNotFound:
        theirs, current = "", ABSENT
    found = parts(was, theirs, text)
    conflicts = sum(part.kind == "conflict" for part in found)
    shown = [
        {name: value for name, value in part._asdict().items() if value or name in ("kind", "text")} for part in found
    ]
    return Merged("".join(_marked(part) for part in found), conflicts, current, theirs, shown)


def _marked(part: Part) -> str:
    if part.kind != "conflict":
        return part.text
    mine, theirs = (side if side.endswith("\n") or not side else f"{side}\n" for side in (part.mine, part.theirs))
    return f"<<<<<<< yours\n{mine}=======\n{theirs}>>>>>>> theirs\n"
