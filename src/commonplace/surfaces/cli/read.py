"""The commands that look: search, show, list, skills, context, status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from .common import answer, call, open_existing, open_memory, say, shared, table, warn

if TYPE_CHECKING:
    from ...search.pipeline import SearchResult

_CITATION = re.compile(r"(?P<path>.*?)#L(?P<first>\d+)(?:-L?(?P<last>\d+))?")


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--limit", type=int, help="How many at the most.")
@click.option("--min-score", type=float, help="Leave out what is less likely than this, from 0 to 1.")
@click.option("--scope", help="Only shared, world, global, channel, skill, agent or extra; or one, like channel:NAME.")
@click.option("--channel", help="Only the records of this channel.")
@click.option("--tag", "tags", multiple=True, help="Only what has this tag; may be given more than once.")
@click.option("--since", help="Only from this day on: 2026-03-01, 2026-03, yesterday.")
@click.option("--until", help="Only up to this day.")
@click.option("--source", help="Only memory, session or extra.")
@click.option("--path", help="Only pages in this folder, or that match this pattern.")
@click.option("--keyword", is_flag=True, help="By words alone, not by meaning: no model is loaded.")
@click.option("--explain", is_flag=True, help="Show why each hit stands where it does.")
@shared
def search_command(
    query: tuple[str, ...], limit: int | None, min_score: float | None, keyword: bool, explain: bool, **filters: Any
) -> None:
    """Find the lines that answer QUERY, in everything the agent may see."""
    arguments = {"query": " ".join(query), "maxResults": limit, "minScore": min_score}
    named = {name: list(value) if name == "tags" else value for name, value in filters.items() if value}
    if explain:
        _explain_search(arguments, named, keyword=keyword)
        return
    if keyword:
        reply = _by_words(arguments, named)
    else:
        reply = call(open_memory(), "memory_search", arguments | named, "retrieval")

    def human() -> None:
        if not reply["results"]:
            click.echo(f"Nothing found.{_unsearched_sessions()}")
        for hit in reply["results"]:
            say(f"{hit['citation']}  {hit['score']:.2f}", fg="cyan")
            say("".join(f"  {line}".rstrip() + "\n" for line in hit["text"].split("\n")))

    answer(reply, human)


def _search(arguments: dict[str, Any], named: dict[str, Any], *, keyword: bool) -> SearchResult:
    home = open_existing()
    query, limit, min_score = (arguments[name] for name in ("query", "maxResults", "minScore"))
    found = home.search(query, limit, min_score, filters=home.filters(**named), mode="keyword" if keyword else None)
    for warning in found.warnings:
        warn(warning)
    return found


def _by_words(arguments: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    from ...tools.retrieval import told

    return told(_search(arguments, named, keyword=True))


def _unsearched_sessions() -> str:
    """A word on sessions that are there and not searched: who does not find what was said should know."""
    home = open_existing()
    folder = f"{home.layout.agent_folder(home.agent)}/sessions"
    if home.search_settings.index_sessions or not home.storage.pages.list(folder, ".jsonl"):
        return ""
    return " Sessions are not searched: set memorySearch.indexSessions to true in commonplace.yaml."


def _explain_search(arguments: dict[str, Any], named: dict[str, Any], *, keyword: bool) -> None:
    """The hits with what each factor added."""
    from ...search.explain import explained

    found = _search(arguments, named, keyword=keyword)
    reply: dict[str, Any] = {"results": explained(found), "warnings": list(found.warnings)}
    reply |= {name: getattr(found, name) for name in ("mode", "provider", "model", "fallback")}

    def human() -> None:
        click.echo(f"{reply['mode']}, {reply['provider']} {reply['model']}".rstrip())
        for hit in reply["results"]:
            say(f"\n{hit['citation']}  {hit['score']:.2f}", fg="cyan")
            say("  " + hit["text"].split("\n")[-1][:100])
            table(["", ""], [[f"  {name}", f"{value:.2f}"] for name, value in hit["why"].items()])

    answer(reply, human)


@click.command("show")
@click.argument("path")
@click.option("--from", "first", type=int, help="The first line, counted from 1.")
@click.option("--lines", type=int, help="How many lines.")
@click.option("--as-of", "when", metavar="TIME", help="As it was then: 2026-03-14, `2 hours ago`, yesterday.")
@shared
def show_command(path: str, first: int | None, lines: int | None, when: str | None) -> None:
    """Show a page of memory, or the lines of a citation like memory/world/people.md#L3-L5."""
    if when:
        _show_as_of(path, when)
        return
    if cited := _CITATION.fullmatch(path):
        path, first = cited["path"], int(cited["first"])
        lines = int(cited["last"] or first) - first + 1
    arguments: dict[str, Any] = {"path": path, "from": first, "lines": lines}
    reply = call(open_memory(), "memory_get", arguments, "retrieval")

    def human() -> None:
        say(reply["text"])
        if "next" in reply:
            click.secho(f"(more: --from {reply['next']})", dim=True, err=True)

    answer(reply, human)


def _show_as_of(path: str, when: str) -> None:
    from ...maintenance.timeline import page_as_of

    text = page_as_of(open_memory().home, path, when)
    answer({"path": path, "as_of": when, "text": text}, lambda: say(text.removesuffix("\n")))


@click.command("list")
@click.argument("folder", required=False)
@click.option("--notes", is_flag=True, help="List the notes by key instead of the pages.")
@click.option("--tag", "tags", multiple=True, help="Only notes with this label; may be given more than once.")
@click.option("-n", "--limit", default=100, show_default=True, help="How many notes at the most.")
@shared
def list_command(folder: str | None, notes: bool, tags: tuple[str, ...], limit: int) -> None:
    """List the pages of memory (below FOLDER), newest first; or the notes, with --notes or --tag."""
    memory = open_memory()
    if notes or tags:
        found = call(memory, "memory_search", {"query": "", "tags": list(tags), "limit": limit}, "notes")
        rows = found["data"]["results"]
        answer(found, lambda: table(["key", "tags", "kept in", "at"], [_note(row) for row in rows]))
        return
    below = f"{folder.rstrip('/')}/" if folder else ""
    shown = [{"path": path, "modified": at} for path, at in memory.home.visible_pages() if path.startswith(below)]
    answer({"pages": shown}, lambda: table(["page", "changed"], [_page(row) for row in shown]))


def _note(row: dict[str, Any]) -> list[str]:
    return [row["key"], ", ".join(row["tags"]), row["file"], row["at"][:16].replace("T", " ")]


def _page(row: dict[str, Any]) -> list[str]:
    return [row["path"], row["modified"][:16].replace("T", " ")]


@click.command("skills")
@click.argument("name", required=False)
@click.option("--user", help="Only skills this user may see.")
@shared
def skills_command(name: str | None, user: str | None) -> None:
    """List the skills, or show the one of NAME with its data."""
    memory = open_memory()
    if name:
        reply = call(memory, "MemoryTool", {"op": "getSkill", "name": name}, "registry")
        answer(reply, lambda: _show_skill(reply))
        return
    arguments = {"op": "listSkillsForUser", "username": user} if user else {"op": "listSkills"}
    reply = call(memory, "MemoryTool", arguments, "registry")
    rows = [[s["name"], s["owner"], str(s["training_progress"]), s["description"]] for s in reply["skills"]]
    answer(reply, lambda: table(["skill", "owner", "trained", "what it does"], rows))


def _show_skill(reply: dict[str, Any]) -> None:
    import json

    say(f"{reply['name']} (owner: {reply['owner']})", bold=True)
    say(reply["description"])
    if reply["instructions"]:
        say(f"\n{reply['instructions']}")
    if reply["skill_data"]:
        say("\n" + json.dumps(reply["skill_data"], ensure_ascii=False, indent=2))


@click.command("context")
@click.option("--user", help="Who the agent talks to.")
@click.option("--channel", help="Where they talk.")
@click.option("--budget", type=int, help="Tokens at the most, as an estimate.")
@click.option("--query", help="What to recall for.")
@click.option("--explain", is_flag=True, help="Show what went in from where, and what was cut and why.")
@shared
def context_command(
    user: str | None,
    channel: str | None,
    budget: int | None,
    query: str | None,
    explain: bool,
) -> None:
    """Show what a model should read first."""
    from ...context import assemble

    made = assemble(open_existing(), user=user, channel=channel, budget=budget, query=query)
    for warning in made.receipt["warnings"]:
        warn(warning)
    reply = {"text": made.text, "receipt": made.receipt}
    answer(reply, (lambda: _explain(made.receipt)) if explain else lambda: say(made.text.removesuffix("\n")))


def _explain(receipt: dict[str, Any]) -> None:
    limit = f" of {receipt['budget']}" if receipt["budget"] is not None else ""
    click.echo(f"{receipt['tokens']} tokens{limit} ({receipt['tokens_are']})\n")
    rows: list[list[str]] = []
    for section in receipt["sections"]:
        rows.append([section["title"], str(section["priority"]), str(section["tokens"]), ""])
        rows += [["", "", str(part["tokens"]), part["source"]] for part in section["sources"]]
        rows += [["", "", f"-{part['tokens']}", f"{part['source']}: {part['reason']}"] for part in section["cut"]]
    table(["section", "priority", "tokens", "source"], rows)


@click.command("status")
@shared
def status_command() -> None:
    """Show where memory is, what it holds and whether search is up to date."""
    status = open_memory().status()

    def human() -> None:
        table(
            ["", ""],
            [[name.replace("_", " "), str(value)] for name, value in status.items() if name != "warnings"],
        )
        for warning in status["warnings"]:
            warn(warning)

    answer(status, human)
