"""The commands in which a person decides: `review` on facts that may be outdated, `trust` on what a found memory
brings, `proposals` on single rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from ...errors import CommonplaceError, InvalidArgument, NotFound
from ...framing import quote_line
from ...home import Home
from ...instructions import Rule, approve, describe_proposal, find_proposal, list_proposals, reject
from ...maintenance.doubts import (
    ANSWERS,
    LATER_DAYS,
    Doubt,
    Side,
    answer_doubt,
    describe_doubt,
    list_doubts,
    summarize_doubts,
)
from ...maintenance.trust_review import Review, list_parts, migrate_endpoints, review_home, trust_home, untrust
from ...model import parse_citation
from ...trust import HomeRecord, list_trusted, read_record, update_record
from .common import (
    agent_name,
    escape_for,
    get_options,
    global_options,
    is_found_home,
    locate_home,
    open_existing_home,
    open_memory,
    print_reply,
    print_rows,
    print_some,
    print_text,
    warn,
)

_KEYS = {answer[0]: answer for answer in ANSWERS}
_WORDS = {"new": "[n]ew is true", "old": "[o]ld is true", "both": "[b]oth are true", "later": "ask [l]ater"}
_MEANINGS = {
    "new": "the new one is true, the old one no longer",
    "old": "the old one is still true",
    "both": "both are true: neither replaces the other",
    "later": f"ask again in {LATER_DAYS} days",
}
_QUESTIONS: dict[str, str] = {
    "replaced": "These seem to be two versions of one fact. Is the old one still true?",
    "over": "This says until when it holds, and that day has passed.",
    "stale": "This is about a file that has changed since. Is it still true?",
}
_MAX_SHOWN = 50  # --json lists all
_NOTHING = "Nothing to decide: no fact is in doubt."


@click.command("review")
@click.option("--answer", "answers", multiple=True, metavar="ID=ANSWER", help="Answer without asking; repeatable.")
@global_options
def review_command(answers: tuple[str, ...]) -> None:
    """Decide on facts that may be outdated: a newer one seems to replace them, they are over, or their file changed.

    In a terminal, one key answers each: n (the new one is true), o (the old one is still true), b (both are true),
    l (ask again in 7 days), q (quit). Elsewhere they are listed. Answers are stored in the pages; `undo` reverts them.
    """
    home = open_memory().home
    if answers:
        _answer_all(home, answers)
        return
    doubts = list_doubts(home)
    reply: dict[str, Any] = {"open": [describe_doubt(doubt) for doubt in doubts], "count": len(doubts)}
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not get_options().get("json")
    print_reply(reply, partial(_ask, home, doubts) if is_terminal else partial(_print_doubts, doubts))


def _answer_all(home: Home, answers: Sequence[str]) -> None:
    rows: list[dict[str, str]] = []
    for text in answers:
        name, _, answer = text.partition("=")
        if answer not in ANSWERS:
            raise click.UsageError(f"{text!r} is not an answer: use ID={'|'.join(ANSWERS)}")
        answer_doubt(home, name, answer)
        rows.append({"id": name, "answer": answer})
    print_reply({"answered": rows}, f"{len(rows)} answered.")


def _ask(home: Home, doubts: Sequence[Doubt]) -> None:
    """Show one doubt after another, and store the answer that a key gives."""
    for number, doubt in enumerate(doubts, start=1):
        _print_doubt(doubt, f"{number} of {len(doubts)}: ")
        answer = _read_key(doubt)
        if not answer:
            return
        try:
            answer_doubt(home, doubt.id, answer)
        except CommonplaceError as error:
            warn(str(error))
    print_text("Nothing more to decide." if doubts else _NOTHING)


def _read_key(doubt: Doubt) -> str:
    """Return the answer of a key press; empty to stop."""
    choices = ", ".join(_WORDS[answer] for answer in doubt.answers)
    click.echo(f"  {choices}, [q]uit: ", nl=False)
    while True:
        key = click.getchar().lower()
        if key in ("q", "\x03", "\x04", "\x1b"):
            click.echo("quit")
            return ""
        answer = _KEYS.get(key, "")
        if answer in doubt.answers:
            click.echo(f"{answer}\n")
            return answer


def _print_doubts(doubts: Sequence[Doubt]) -> None:
    def print_open(doubt: Doubt) -> None:
        _print_doubt(doubt)
        print_text(f"  answer: commonplace review --answer {doubt.id}={'|'.join(doubt.answers)}\n", dim=True)

    print_some(doubts, _MAX_SHOWN, print_open)
    for answer in [each for each in ANSWERS if any(each in doubt.answers for doubt in doubts)]:
        print_text(f"  {answer + ':':<7}{_MEANINGS[answer]}", dim=True)
    print_text(summarize_doubts(doubts) or _NOTHING, bold=bool(doubts))


def _print_doubt(doubt: Doubt, place: str = "") -> None:
    print_text(f"{place}{_QUESTIONS[doubt.kind]}", fg="yellow")
    if doubt.newer:
        _print_side("new", doubt.newer)
    _print_side("old" if doubt.newer else "note", doubt.older)
    print_text(f"  why:  {quote_line(f'the new one {doubt.reason}' if doubt.newer else doubt.reason)}", dim=True)


def _print_side(name: str, side: Side) -> None:
    citation = parse_citation(side.citation)
    where = f"{citation.path}#L{citation.first}" if citation and citation.first == citation.last else side.citation
    about = ", ".join(filter(None, (where, side.at[:10], side.author)))
    print_text(f"  {name + ':':<6}{quote_line(' '.join(side.text.split()))}")
    print_text(f"        {quote_line(about)}", dim=True)


_FOUND = "found"  # the author of a rule that came with a memory and is not in its history


@click.command("trust")
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.option("--yes", is_flag=True, help="Approve without asking.")
@click.option("--list", "lists", is_flag=True, help="List the memories you trust.")
@click.option("--revoke", is_flag=True, help="Trust FOLDER no longer.")
@click.option("--migrate", is_flag=True, help="Move a server's address from the memory's settings to your own.")
@global_options
def trust_command(folder: str | None, yes: bool, lists: bool, revoke: bool, migrate: bool) -> None:
    """Review a memory that you did not make (its rules, the server of its provider, its tokens), and trust it.

    A memory is already yours if you made it, if it is ~/.commonplace, or if you name it with --home.
    """
    if lists:
        _print_trusted()
        return
    path = os.path.abspath(os.path.expanduser(folder or locate_home()))
    if not os.path.isdir(path):
        raise NotFound(f"there is no memory at {path}: name the folder of one")
    if revoke:
        had_record = untrust(path)
        print_reply({"home": path, "revoked": had_record}, f"{path} is {'no longer' if had_record else 'not'} trusted.")
    elif migrate:
        _migrate(path, is_found=bool(folder) or is_found_home(), yes=yes)
    else:
        _trust(path, yes=yes)


def _print_trusted() -> None:
    rows = [
        [folder, _describe_trust(record), str(len(record.files)), str(len(record.tokens))]
        for folder, record in list_trusted()
    ]
    reply = {"homes": [{"home": folder, **_record_as_json(record)} for folder, record in list_trusted()]}
    print_rows(reply, ["memory", "trust", "files", "tokens"], rows, "None yet.")


def _describe_trust(record: HomeRecord) -> str:
    if record.made:
        return "made by you"
    return "approved" if record.is_reviewed else "not approved"


def _record_as_json(record: HomeRecord) -> dict[str, Any]:
    return {
        "made": bool(record.made),
        "approved": record.is_reviewed,
        "files": sorted(record.files),
        "tokens": len(record.tokens),
    }


def _trust(path: str, *, yes: bool) -> None:
    owner = _other_owner(path)
    if owner is not None and read_record(path).owner != owner:
        _confirm(f"{path} belongs to another user ({owner}). Open it anyway?", yes=yes)
        update_record(path, lambda record: record._replace(owner=owner))
    home = Home(path, agent_name(), is_found=True)
    review = review_home(home)
    reply = {
        "home": path,
        "settings": bool(review.settings_file),
        "rules": sorted(review.rules),
        "tokens": [token.id for token in review.tokens],
    }
    if not any((review.settings_file, review.rules, review.tokens)):
        trust_home(home, review)
        print_reply({**reply, "trusted": True}, f"{path} has nothing waiting for your approval.")
        return
    if not yes:
        _print_review(review)
        _confirm("Approve all of this?", yes=yes)
    trust_home(home, review)
    print_reply(
        {**reply, "trusted": True}, f"{path} is trusted as it is now. You will be asked again about what changes later."
    )


def _other_owner(path: str) -> int | None:
    owner = os.stat(path).st_uid
    return owner if hasattr(os, "geteuid") and owner != os.geteuid() else None


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidArgument("nothing was changed: look at it, then run this with --yes")
    click.confirm(escape_for(sys.stdout, question), abort=True)


def _print_review(review: Review) -> None:
    for part in list_parts(review):
        print_text(part.name, bold=True)
        for line in part.text.split("\n") if part.text else ():
            print_text(f"  {line}")


def _migrate(path: str, *, is_found: bool, yes: bool) -> None:
    home = Home(path, agent_name(), is_found=is_found)

    def confirm(lines: str) -> None:
        """Show what all memories will use from now on, and ask. Without a terminal, nobody is asked about the user's
        own memory. For any other, somebody has to agree: its maker would choose where passages and keys are sent.
        """
        click.echo(escape_for(sys.stderr, lines), err=True)
        is_own = home.trust.is_own and not sys.stdin.isatty()
        _confirm("Add this to your own configuration, for all your memories?", yes=yes or is_own)

    config, moved = migrate_endpoints(home, confirm)
    outcome = f"Moved {', '.join(moved)} to {config}." if moved else f"The settings of {path} name no server."
    print_reply({"home": path, "config": config, "moved": moved}, outcome)


@click.group("proposals", invoke_without_command=True)
@click.pass_context
@global_options
def proposals_command(ctx: click.Context) -> None:
    """List the rules that wait for your approval, from an import or from a token for single agents."""
    if ctx.invoked_subcommand is None:
        home = open_existing_home()
        proposals = [describe_proposal(rule, _FOUND) for rule in list_proposals(home)]
        rows = [[rule["path"], rule["by"], rule["at"][:16]] for rule in proposals]
        print_rows({"proposals": proposals}, ["page", "by", "when"], rows, "Nothing waits for approval.")


@proposals_command.command("show")
@click.argument("path")
@global_options
def show_command(path: str) -> None:
    """Show what a proposal says, and what is in force now."""
    home = open_existing_home()
    rule = find_proposal(home, path)
    print_reply(describe_proposal(rule, _FOUND), rule.proposal.removesuffix("\n"))


def _choose_proposals(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments of a decision: which proposals it is about."""
    if_version = "Only if the proposal is still the one with this version (show --json)."
    command = click.option("--if-version", metavar="VERSION", help=if_version)(global_options(command))
    command = click.option("--all", "every", is_flag=True, help="Choose all of them.")(command)
    return click.argument("paths", nargs=-1, metavar="PATH...")(command)


@proposals_command.command("approve")
@_choose_proposals
def approve_command(paths: tuple[str, ...], every: bool, if_version: str | None) -> None:
    """Put rules in force as they are. In a terminal they are shown first. History records it."""
    home = open_existing_home()
    rules = _choose(home, paths, if_version, every=every)
    if rules and if_version is None and sys.stdin.isatty() and sys.stdout.isatty():
        for rule in rules:
            print_text(quote_line(rule.path), bold=True)
            print_text(rule.proposal.removesuffix("\n"))
        click.confirm("Put this in force?", abort=True)
    _decide(home, rules, approve, "approved")


@proposals_command.command("reject")
@_choose_proposals
def reject_command(paths: tuple[str, ...], every: bool, if_version: str | None) -> None:
    """Put back what was in force before, or remove a rule that is new. History keeps the proposal."""
    home = open_existing_home()
    _decide(home, _choose(home, paths, if_version, every=every), reject, "rejected")


def _decide(home: Home, rules: Sequence[Rule], decide: Callable[[Home, str, str], object], done: str) -> None:
    for rule in rules:
        decide(home, rule.path, rule.version)
    paths = [rule.path for rule in rules]
    sentence = f"{done.capitalize()} {', '.join(paths)}." if paths else "Nothing waits for approval."
    print_reply({done: paths}, sentence)


def _choose(home: Home, paths: tuple[str, ...], if_version: str | None, *, every: bool) -> list[Rule]:
    """Return the proposals to decide on, each with the version that counts as read."""
    if bool(paths) == every:
        raise InvalidArgument("name the pages of `commonplace proposals`, or add --all")
    if if_version is not None and len(paths) != 1:
        raise InvalidArgument("--if-version is for one page: name only that page")
    rules = list_proposals(home) if every else [find_proposal(home, path) for path in dict.fromkeys(paths)]
    return [rule if if_version is None else rule._replace(version=if_version) for rule in rules]
