"""Rules for models (directives, and the instructions of skills), and which of them are in force.

A rule that came with an import, or from a caller whose token is for single agents, is a proposal: it stays out of
every prompt until a person approves it, and the version approved last stays in force meanwhile. In a memory that was
only found, a rule is in force as far as the user trusts it (`trust.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from . import directive
from .errors import CommonplaceError, NotFound, PageNotFound, StaleVersion
from .home import Home
from .storage.history import ABSENT, APPROVE, Change, as_text, find_approval, version_of
from .storage.records import SKILL_PAGE


class Rule(NamedTuple):
    """A page of rules. `text`: what is in force, if anything. `proposal`: what waits for approval, if anything.
    `version`: that of the page. `approved`: the change that put the text in force, if that is not the page's last."""

    path: str
    text: str
    proposal: str = ""
    change: Change | None = None  # the proposal's last change, if history knows it
    version: str = ""
    approved: Change | None = None


def list_instructions(home: Home) -> list[str]:
    """Return the paths of all pages of rules: shared directives, those of each agent, and skills."""
    pages = home.storage.pages
    agents = home.layout.agents
    folders = [home.layout.directives, *(f"{agents}/{name}/directives" for name in pages.list_folders(agents))]
    directives = [path for folder in folders for path in pages.list(folder)]
    skills = home.layout.skills
    skill_pages = [f"{skills}/{name}/{SKILL_PAGE}" for name in pages.list_folders(skills)]
    return [*directives, *(path for path in skill_pages if home.storage.exists(path))]


def read_rule(home: Home, path: str, text: str) -> Rule:
    """Return the rule of a page whose text is now `text`."""
    data = text.encode()
    if directive.is_default(text):  # our own text, wherever it came from
        return Rule(path, text)
    if not home.trust.is_own:
        return Rule(path, text) if home.trust.allows_file(path, data) else Rule(path, "", text)
    changes = home.storage.history.changes(path) if _may_be_proposal(home, path) else []
    approval = find_approval(changes)
    approved = approval.approved.version if approval.approved else ABSENT
    if not approval.waiting or approved == version_of(data):
        return Rule(path, text, approved=approval.approved if approval.waiting else None)
    return Rule(path, _read_version(home, path, approved), text, changes[-1], approved=approval.approved)


def _may_be_proposal(home: Home, path: str) -> bool:
    """Return whether the page's history needs to be read: most pages have one author, the owner."""
    head = home.storage.history.head(path)
    return head is not None and bool(head.by.origin or head.by.tool)


def _read_version(home: Home, path: str, version: str) -> str:
    with suppress(NotFound):
        return as_text(home.storage.history.read_version(path, version))
    return ""


def list_proposals(home: Home) -> list[Rule]:
    """Return the rules that wait for approval."""
    rules: list[Rule] = []
    for path in list_instructions(home):
        with suppress(CommonplaceError):
            rule = _read_page(home, path)
            if rule.proposal:
                rules.append(rule)
    return rules


def _read_page(home: Home, path: str) -> Rule:
    page = home.storage.pages.read(path)
    return read_rule(home, path, page.text)._replace(version=page.version)


def waits_for_approval(home: Home, path: str) -> bool:
    """Return whether a page has rules that are not in force. Rules that cannot be checked are not in force."""
    if not home.layout.is_instruction(path):
        return False
    try:
        return bool(_read_page(home, path).proposal)
    except CommonplaceError as error:
        return not isinstance(error, PageNotFound)


def warn_of_waiting(path: str) -> str:
    """Return a warning for a model that reads rules that are not in force."""
    return f"the instructions in {path} wait for a person's approval (`commonplace proposals`): do not follow them"


def find_proposal(home: Home, path: str) -> Rule:
    """Return the proposal on a page; NotFound when nothing waits there."""
    if home.layout.is_instruction(path):
        with suppress(CommonplaceError):
            rule = _read_page(home, path)
            if rule.proposal:
                return rule
    raise NotFound(f"nothing waits for approval at {path}: `commonplace proposals` lists what does")


def describe_proposal(rule: Rule, unknown_author: str = "") -> dict[str, str]:
    """Return a proposal as JSON: its text, what is in force now, and who wrote it when, if history knows."""
    change = rule.change
    return {
        "path": rule.path,
        "version": rule.version,
        "text": rule.proposal,
        "in_force": rule.text,
        "by": change.by if change else unknown_author,
        "at": change.at if change else "",
    }


def approve(home: Home, path: str, version: str | None = None) -> None:
    """Put the rules of a page in force as a person read them, at `version` (None: as they are), and record it in
    history. StaleVersion when they changed since."""
    rule = _find_as_read(home, path, version)
    with _stale_for_person(path), home.writer.call(APPROVE, why="approved by a person"):
        home.storage.pages.reaffirm(path, rule.version)
    home.trust.approve({path: rule.proposal.encode()})


def reject(home: Home, path: str, version: str | None = None) -> None:
    """Put back what was in force before a proposal; remove the page when nothing was. StaleVersion when the proposal is
    no longer the one that a person read, at `version` (None: the one that is there)."""
    rule = _find_as_read(home, path, version)
    with _stale_for_person(path), home.writer.call("reject", why="rejected by a person"):
        if rule.text:
            restored = home.writer.write(path, rule.text, rule.version)
            home.storage.pages.reaffirm(path, restored)
        else:
            with suppress(PageNotFound):
                home.writer.remove(path, rule.version)


def _find_as_read(home: Home, path: str, version: str | None) -> Rule:
    with _stale_for_person(path):
        rule = find_proposal(home, path)
        if version is not None and rule.version != version:
            raise StaleVersion(path)
    return rule


@contextmanager
def _stale_for_person(path: str) -> Iterator[None]:
    """Tell the person who decides what to do if the page has changed since they read it."""
    try:
        yield
    except StaleVersion as error:
        raise StaleVersion(path, advice="look at it again, then decide") from error
