"""The commands that search and show memory: search, show, list, skills, context, status."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ...errors import CommonplaceError, InvalidArgument, NotFound, OtherAgentsPage, PageNotFound, Refused
from ...framing import quote_citation, quote_line
from ...model import parse_citation
from ...schema import COUNT, check
from ...toolsets import EVERYDAY_NAME
from ...wording import count_words
from .common import (
    TextCommand,
    call_tool,
    everyone_option,
    format_count,
    global_options,
    open_existing_home,
    open_memory,
    parse_toolsets,
    print_aside,
    print_reply,
    print_rows,
    print_table,
    print_text,
    print_warnings,
    request_reply,
    warn,
)

if TYPE_CHECKING:
    from ...home import Home
    from ...model import Page
    from ...search.pipeline import SearchResult

_SHOW_ADVICE: dict[type[CommonplaceError], str] = {
    OtherAgentsPage: "add --everyone to see it",
    PageNotFound: "`commonplace list` lists the pages",
    Refused: "`commonplace list` lists the pages",
}


def _require_at_least_one(_context: click.Context, _parameter: click.Parameter, value: int | None) -> int | None:
    return None if value is None else check(COUNT, value, "limit")


def _require_words(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise click.BadParameter("it is blank: name a day or a time, like 2026-03-01, yesterday or `2 hours ago`.")
    return value


_LEAST_LIKELY_SCORE = 0.1  # hits that score less are counted, not shown, if a better one was found
_NEAREST_HITS = 3  # shown if nothing fits well
_MAX_LEAST_BUDGET_TOKENS = 2048  # anything fits into a context this large


@click.command("search", cls=TextCommand)
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--limit", type=int, callback=_require_at_least_one, help="How many hits at most, 1 or more.")
@click.option("--all", "shows_all", is_flag=True, help="Also show unlikely hits, instead of only counting them.")
@click.option("--min-score", type=click.FloatRange(0, 1), help="Leave out hits below this score, from 0 to 1.")
@click.option("--scope", help="Only shared, world, global, channel, skill, agent or extra; or one, like channel:NAME.")
@click.option("--channel", help="Only the records of this channel.")
@click.option("--tag", "tags", multiple=True, help="Only what has this tag; repeatable.")
@click.option("--since", help="Only from this day on: 2026-03-01, 2026-03, yesterday.")
@click.option("--until", help="Only up to this day.")
@click.option("--source", help="Only memory, session or extra.")
@click.option("--path", help="Only pages in this folder, or that match this pattern.")
@click.option("--author", help="Only what this agent wrote; or outside, import, person, token.")
@click.option(
    "--as-of",
    metavar="DAY",
    callback=_require_words,
    help="Search memory as it was at the end of this day, or then: `2 hours ago`.",
)
@click.option("--keyword", is_flag=True, help="Search by words alone, not by meaning: no model is loaded.")
@click.option("--everyone", is_flag=True, help="Also search what belongs to other agents.")
@click.option("--explain", is_flag=True, help="Show how each hit got its score.")
@global_options
def search_command(
    query: tuple[str, ...],
    limit: int | None,
    shows_all: bool,
    min_score: float | None,
    keyword: bool,
    everyone: bool,
    explain: bool,
    **filters: Any,
) -> None:
    """Find the lines that answer QUERY, in everything the agent may see; with --everyone, in all of memory."""
    arguments = {"query": " ".join(query), "maxResults": limit, "minScore": min_score}
    options = {name: list(value) if name == "tags" else value for name, value in filters.items() if value}
    if explain:
        _explain_search(_search(open_existing_home(), arguments, options, keyword=keyword, everyone=everyone))
        return
    if keyword or everyone:
        from ...tools.retrieval import search_reply

        home = open_existing_home()
        reply = search_reply(home, _search(home, arguments, options, keyword=keyword, everyone=everyone))
    else:
        memory = open_memory()
        home = memory.home
        reply = call_tool(memory, "memory_search", arguments | options, "retrieval")
    describe_beginning = partial(_describe_beginning, home, filters["as_of"])
    print_reply(
        reply, partial(_print_hits, home, reply, describe_beginning, shows_all=shows_all or min_score is not None)
    )


def _search(
    home: Home, arguments: dict[str, Any], filters: dict[str, Any], *, keyword: bool, everyone: bool
) -> SearchResult:
    result = home.search(
        arguments["query"],
        arguments["maxResults"],
        arguments["minScore"],
        home.visibility.owner() if everyone else None,
        filters=home.parse_filters(**filters),
        mode="keyword" if keyword else None,
    )
    for warning in result.warnings:
        warn(warning)
    return result


def _describe_beginning(home: Home, as_of: str | None) -> str:
    """Point out that memory begins only after the day of an `as_of` search."""
    changes = home.storage.history.changes() if as_of else []
    first = next((change.at[:10] for change in changes if home.visibility.may_know(change.path)), "")
    day = home.parse_filters(as_of=as_of).as_of if first else None
    is_later = day is not None and date.fromisoformat(first).toordinal() > day
    return f" This memory begins on {first}." if is_later else ""


def _print_hits(home: Home, reply: dict[str, Any], describe_beginning: Callable[[], str], *, shows_all: bool) -> None:
    """Print the hits that are likely, or the nearest if nothing fits well, and count the others."""
    hits = reply["results"]
    is_found = reply["verdict"] == "found"
    if not hits:
        print_text(f"Nothing found.{describe_beginning()}{_session_hint(home)}")
    elif not is_found:
        print_text("Nothing fits well; nearest:\n")
    likely = [hit for hit in hits if hit["score"] >= _LEAST_LIKELY_SCORE] if is_found else hits[:_NEAREST_HITS]
    rows = hits if shows_all else likely
    for hit in rows:
        if not any(_replaces(other, hit) and not _replaces(hit, other) for other in rows):
            _print_hit(hit)
    if folded := len(hits) - len(rows):
        noun = "less likely hit: --all shows it" if folded == 1 else "less likely hits: --all shows them"
        print_aside(f"({folded} {noun})", dim=True)


def _replaces(hit: dict[str, Any], older: dict[str, Any]) -> bool:
    """Return whether a hit has the newer version of another hit's fact."""
    newer = older.get("superseded_by") or {"path": "", "from": 0}
    is_in_hit: bool = newer["path"] == hit["path"] and hit["from"] <= newer["from"] <= hit["to"]
    return is_in_hit and not newer.get("partial")


def _print_hit(hit: dict[str, Any]) -> None:
    """Print a hit, what it replaced below it, and what replaced it."""
    newer = hit.get("superseded_by")
    older = hit.get("supersedes", ())
    day = hit.get("at", "")[:10] if hit["source"] == "session" else ""  # other pages say in their names or texts
    place = [quote_citation(hit["citation"]), f"{hit['score']:.2f}", day, hit.get("author", "")]
    print_text(quote_line("  ".join(filter(None, place))), fg="cyan")
    lines = "".join(f"  {line}".rstrip() + "\n" for line in hit["text"].split("\n"))
    is_over = newer is not None and not newer.get("partial")
    remarks = _describe_remarks(hit)
    print_text(lines.removesuffix("\n") if older or newer or remarks else lines, dim=is_over)
    for remark in remarks:
        print_text(f"    {quote_line(remark)}", fg="yellow")
    for each in older:
        print_text(f"    was: {_describe_version(each['text'], each)}", dim=True, strikethrough=True)
    if newer:
        was = f'"{quote_line(" ".join(newer["was"].split()))}" is now: ' if newer.get("partial") else "now: "
        print_text(f"    {was}{_describe_version(newer['text'], newer)}")
    if older or newer or remarks:
        print_text("")


def _describe_remarks(hit: dict[str, Any]) -> list[str]:
    """Return the days that a hit names, until when it holds, and what happened to the files that it is pinned to."""
    from ...search.validity import describe_validity

    validity = describe_validity(hit.get("valid_from", ""), hit.get("valid_until", ""), hit.get("validity", ""))
    days = ", ".join(f"{each['words']}: {each['day']}" for each in hit.get("days", ()))
    return [*filter(None, (days, validity, hit.get("stale", "")))]


def _describe_version(text: str, place: dict[str, Any]) -> str:
    about = ", ".join(filter(None, (quote_citation(place["citation"]), place.get("at", "")[:10])))
    return quote_line(f"{' '.join(text.split())}  ({about})")


def _session_hint(home: Home) -> str:
    """Point out sessions that search does not cover."""
    folder = home.layout.sessions_folder(home.agent)
    if home.search_settings.index_sessions or not home.storage.pages.list(folder, ".jsonl"):
        return ""
    return " Sessions are not searched: set memorySearch.indexSessions to true in commonplace.yaml."


def _explain_search(result: SearchResult) -> None:
    """Print the hits with what each factor added to the score."""
    from ...search.pipeline import explain_dates, explain_result

    reply: dict[str, Any] = {"results": explain_result(result), "warnings": list(result.warnings)}
    if dates := explain_dates(result):
        reply["dates"] = dates
    reply |= {name: getattr(result, name) for name in ("mode", "provider", "model", "fallback")}

    def print_explained() -> None:
        print_text(f"{reply['mode']}, {reply['provider']} {reply['model']}".rstrip())
        if result.dates.spans:
            print_text(f"days: {result.dates.describe()}; words: {result.dates.rest or 'none'}")
        for hit in reply["results"]:
            print_text(f"\n{quote_citation(hit['citation'])}  {hit['score']:.2f}", fg="cyan")
            print_text("  " + quote_line(hit["text"].split("\n")[-1][:100]))
            print_table(["", ""], [[f"  {name}", f"{value:.2f}"] for name, value in hit["why"].items()])

    print_reply(reply, print_explained)


@click.command("show")
@click.argument("path")
@click.option("--from", "first", type=int, help="The first line, counted from 1.")
@click.option("--lines", type=int, help="How many lines.")
@click.option("--as-of", "when", metavar="TIME", help="As it was then: 2026-03-14, `2 hours ago`, yesterday.")
@everyone_option
@global_options
def show_command(path: str, first: int | None, lines: int | None, when: str | None, everyone: bool) -> None:
    """Show a page of memory, or the lines of a citation like memory/world/people.md#L3-L5."""
    if citation := parse_citation(path):
        path = citation.path
        first = citation.first
        lines = citation.last - first + 1
        when = when if when is not None else citation.as_of or None
    if when is not None:
        _show_as_of(path, when, first, lines, everyone=everyone)
        return
    arguments: dict[str, Any] = {"path": path, "from": first, "lines": lines}
    memory = open_memory()
    if page := _read_unsearched_page(memory.home, path, everyone=everyone):
        from ...tools.retrieval import page_lines

        reply = page_lines(memory.home, page, first or 1, lines)
    else:
        reply = request_reply(memory, "memory_get", arguments, "retrieval", _SHOW_ADVICE)
    if reply["from"] > max(1, reply["to"]):
        raise NotFound(f"{path} has no line {first}", advice=reply.get("warning", "it is empty"))
    print_warnings(reply)

    def print_lines() -> None:
        print_text(reply["text"])
        if "next" in reply:
            print_aside(f"(more: --from {reply['next']})", dim=True)

    print_reply(reply, print_lines)


def _read_unsearched_page(home: Home, path: str, *, everyone: bool) -> Page | None:
    """Return a page that search does not cover, but other commands name: a rule, a session, or another agent's page
    with `everyone`. None for any other.
    """
    from ...maintenance.timeline import may_see

    path = path.removeprefix("./")
    place = home.layout.place(path)
    if home.visibility.may_see_page(path) or not (everyone or may_see(home, path)):
        return None
    if not (place or home.layout.is_instruction(path)):
        return None
    return home.storage.pages.read(path)


def _show_as_of(path: str, when: str, first: int | None, lines: int | None, *, everyone: bool) -> None:
    from ...maintenance.timeline import read_page_as_of

    text = read_page_as_of(open_memory().home, path, when, everyone=everyone)
    if first or lines:
        start = max(0, (first or 1) - 1)
        every = text.removesuffix("\n").split("\n")
        if start >= len(every):
            raise NotFound(f"{path} had no line {first}", advice=f"the page had {count_words(len(every), 'line')}")
        text = "\n".join(every[start : start + lines if lines else None])
    print_reply({"path": path, "as_of": when, "text": text}, text.removesuffix("\n"))


@click.command("list")
@click.argument("folder", required=False)
@click.option("--notes", is_flag=True, help="List the notes by key instead of the pages.")
@click.option("--tag", "tags", multiple=True, help="Only notes with this tag; repeatable.")
@click.option("-n", "--limit", default=100, show_default=True, help="How many notes at most.")
@global_options
def list_command(folder: str | None, notes: bool, tags: tuple[str, ...], limit: int) -> None:
    """List the pages of memory (below FOLDER), newest first; or the notes, with --notes or --tag."""
    memory = open_memory()
    if notes or tags:
        reply = call_tool(memory, "memory_search", {"query": "", "tags": list(tags), "limit": limit}, "notes")
        shown_path = partial(memory.home.layout.notes_page, memory.home.agent)
        rows = [
            [note["key"], ", ".join(note["tags"]), shown_path(note["file"]), _format_time(note["at"])]
            for note in reply["data"]["results"]
        ]
        print_rows(reply, ["key", "tags", "kept in", "at"], rows, "No notes.")
        return
    root = "" if folder in (None, ".") else folder.removeprefix("./").rstrip("/")
    below = f"{root}/" if root else ""
    pages = [
        {"path": path, "modified": at} for path, at in memory.home.visibility.list_pages() if path.startswith(below)
    ]
    if root and not pages:  # whether the folder exists would tell what other agents have
        raise NotFound(f"there are no pages in {folder}", advice="`commonplace list` lists all pages")
    rows = [[page["path"], _format_time(page["modified"])] for page in pages]
    print_rows({"pages": pages}, ["page", "changed"], rows, "No pages.")


def _format_time(at: str) -> str:
    return at[:16].replace("T", " ")


@click.command("skills")
@click.argument("name", required=False)
@click.option("--user", help="Only skills this user may see.")
@global_options
def skills_command(name: str | None, user: str | None) -> None:
    """List the skills, or show the skill NAME with its data."""
    memory = open_memory()
    if name:
        try:
            reply = call_tool(memory, "MemoryTool", {"op": "getSkill", "name": name}, "registry")
        except NotFound as error:
            raise NotFound(f"there is no skill {name!r}", advice="`commonplace skills` lists the skills") from error
        print_reply(reply, partial(_print_skill, reply))
        return
    arguments = {"op": "listSkillsForUser", "username": user} if user else {"op": "listSkills"}
    reply = call_tool(memory, "MemoryTool", arguments, "registry")
    rows = [
        [skill["name"], skill["owner"], str(skill["training_progress"]), skill["description"]]
        for skill in reply["skills"]
    ]
    headers = ["skill", "owner", "trained", "what it does"]
    print_rows(reply, headers, rows, f"No skills yet for {user}." if user else "No skills yet.")


def _print_skill(skill: dict[str, Any]) -> None:
    import json

    print_text(f"{skill['name']} (owner: {skill['owner']})", bold=True)
    print_text(skill["description"])
    if skill["instructions"]:
        print_text(f"\n{skill['instructions']}")
    if skill["skill_data"]:
        print_text("\n" + json.dumps(skill["skill_data"], ensure_ascii=False, indent=2))


@click.command("context")
@click.option("--user", help="The user the agent talks to.")
@click.option("--channel", help="The channel they talk in.")
@click.option("--budget", type=int, help="How many tokens at most, as an estimate.")
@click.option("--query", help="The question to recall memory for.")
@click.option("--tools", default=EVERYDAY_NAME, show_default=True, help="The agent's toolsets, in order.")
@click.option("--only-approved", is_flag=True, help="Only what a person wrote or approved.")
@click.option("--explain", is_flag=True, help="Show where each part came from, and what was cut and why.")
@global_options
def context_command(
    user: str | None,
    channel: str | None,
    budget: int | None,
    query: str | None,
    tools: str,
    only_approved: bool,
    explain: bool,
) -> None:
    """Show what a model should read first."""
    from ...context.assembly import assemble, note_context

    home = open_existing_home(parse_toolsets(tools))
    context = assemble(home, user=user, channel=channel, budget=budget, query=query, only_approved=only_approved)
    if budget is not None and not context.text.strip():
        _refuse_budget(home, budget, user=user, channel=channel, query=query, only_approved=only_approved)
    note_context(home, context)
    if home.session:
        home.open_conversation().give(context.text)
    for warning in context.receipt["warnings"]:
        warn(warning)
    reply = {"text": context.text, "receipt": context.receipt}
    print_reply(reply, partial(_print_receipt, context.receipt) if explain else context.text.removesuffix("\n"))


def _refuse_budget(home: Home, budget: int, **request: Any) -> None:
    """Raise InvalidArgument that names the smallest budget in which anything fits, if there is anything at all."""
    from bisect import bisect_left

    from ...context.assembly import assemble

    def has_text(tokens: int) -> bool:
        return bool(assemble(home, budget=tokens, **request).text.strip())

    if has_text(_MAX_LEAST_BUDGET_TOKENS):
        least = bisect_left(range(_MAX_LEAST_BUDGET_TOKENS), True, lo=budget, key=has_text)
        raise InvalidArgument(f"nothing fits into {budget} tokens", advice=f"give --budget {least} or more")


def _print_receipt(receipt: dict[str, Any]) -> None:
    limit = f" of {receipt['budget']}" if receipt["budget"] is not None else ""
    print_text(f"{receipt['tokens']} tokens{limit} ({receipt['tokens_are']})\n")
    rows: list[list[str]] = []
    for section in receipt["sections"]:
        rows.append([section["title"], str(section["priority"]), str(section["tokens"]), ""])
        rows += [["", "", str(part["tokens"]), _describe_source(part)] for part in section["sources"]]
        rows += [["", "", f"-{part['tokens']}", f"{part['source']}: {part['reason']}"] for part in section["cut"]]
    print_table(["section", "priority", "tokens", "source"], rows)


def _describe_source(part: dict[str, Any]) -> str:
    return f"{part['source']}  {part['author']}, {part['at'][:10]}" if "author" in part else str(part["source"])


def _format_value(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@click.command("status")
@global_options
def status_command() -> None:
    """Show where memory is, what is in it and whether search is up to date."""
    memory = open_memory()
    status = memory.status()
    every = memory.home.index_status()
    rows = [[name.replace("_", " "), _format_value(value)] for name, value in status.items() if name != "warnings"]

    for row in rows:
        if row[0] in ("pages", "passages"):
            more = f"that {status['agent']} may see, {every[f'{row[0]}_of_all_agents']} of all agents"
            row[1] = format_count(status[row[0]], more)

    def print_status() -> None:
        print_table(["", ""], rows)
        for warning in status["warnings"]:
            if warning not in memory.home.settings.warnings:  # those were reported when it was opened
                warn(warning)

    print_reply(status, print_status)
