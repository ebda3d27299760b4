"""The command review: facts that may not hold, one after another, each answered with one key."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from ...errors import CommonplaceError
from ...framing import quote_line
from ...home import Home
from ...maintenance.doubts import ANSWERS, Doubt, Side, answer_doubt, describe_doubt, list_doubts, summarize_doubts
from .common import get_options, global_options, open_memory, print_reply, print_text, warn

_KEYS = {answer[0]: answer for answer in ANSWERS}
_WORDS = {"new": "[n]ew holds", "old": "[o]ld holds", "both": "[b]oth are true", "later": "ask [l]ater"}
_MAX_SHOWN = 50  # --json lists all
_NOTHING = "Nothing to decide: no fact is in doubt."


@click.command("review")
@click.option("--answer", "answers", multiple=True, metavar="ID=ANSWER", help="Answer without asking; repeatable.")
@global_options
def review_command(answers: tuple[str, ...]) -> None:
    """Decide on facts that may not hold: those that a newer one seems to replace, that are over, or whose file changed.

    In a terminal, one key answers each: n (the new one holds), o (the old one does, or is still true of its file),
    b (both are true), l (ask again in 7 days), q (stop). Elsewhere they are listed. Answers are kept in the pages;
    `undo` takes them back.
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
            raise click.UsageError(f"{text!r} is no answer: use ID={'|'.join(ANSWERS)}")
        answer_doubt(home, name, answer)
        rows.append({"id": name, "answer": answer})
    print_reply({"answered": rows}, f"{len(rows)} answered.")


def _ask(home: Home, doubts: Sequence[Doubt]) -> None:
    """Show one doubt after another, and keep what a key says."""
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
    """Return the answer that a key is for; empty to stop."""
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
    for doubt in doubts[:_MAX_SHOWN]:
        _print_doubt(doubt)
        print_text(f"  answer: commonplace review --answer {doubt.id}={'|'.join(doubt.answers)}\n", dim=True)
    if len(doubts) > _MAX_SHOWN:
        print_text(f"… and {len(doubts) - _MAX_SHOWN} more: --json lists all")
    print_text(summarize_doubts(doubts) or _NOTHING, bold=bool(doubts))


def _print_doubt(doubt: Doubt, place: str = "") -> None:
    words = f"Does the old one still hold? ({doubt.reason})" if doubt.newer else doubt.reason
    print_text(f"{place}{quote_line(words)}", fg="yellow")
    if doubt.newer:
        _print_side("new", doubt.newer)
    _print_side("old" if doubt.newer else "note", doubt.older)


def _print_side(name: str, side: Side) -> None:
    about = ", ".join(filter(None, (side.citation, side.at[:10], side.author)))
    print_text(f"  {name + ':':<6}{quote_line(' '.join(side.text.split()))}")
    print_text(f"        {quote_line(about)}", dim=True)
