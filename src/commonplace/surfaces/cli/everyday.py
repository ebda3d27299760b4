"""The commands of every day: remember, recall, write, read, reflect, world, handoff, scratch."""

from __future__ import annotations

import click

from ...storage.names import topic_name
from ...tools.working import clear_handoff, read_handoff
from .common import answer, call, open_memory, say, shared, text_from


@click.command("remember")
@click.argument("text", nargs=-1)
@shared
def remember_command(text: tuple[str, ...]) -> None:
    """Add TEXT, stamped with the time, to today's page. Without TEXT, standard input is read."""
    reply = call(open_memory(to_write=True), "remember", {"content": text_from(text, "what to remember")}, "journal")
    answer(reply, lambda: say(reply["content"]))


@click.command("recall")
@click.option("--days", default=3, show_default=True, help="How many of the latest daily pages; 0 for none.")
@shared
def recall_command(days: int) -> None:
    """Show what is known about the world, the curated memory, and the latest days."""
    reply = call(open_memory(), "recall", {"days": days}, "journal")
    answer(reply, lambda: say(reply["content"].rstrip("\n")))


@click.command("write")
@click.argument("key")
@click.argument("text", nargs=-1)
@click.option("--summary", is_flag=True, help="Keep it in the curated page instead of today's.")
@click.option("--tag", "tags", multiple=True, help="A label; may be given more than once.")
@click.option("--update", is_flag=True, help="Replace the note that this key has.")
@shared
def write_command(key: str, text: tuple[str, ...], summary: bool, tags: tuple[str, ...], update: bool) -> None:
    """Keep TEXT under a new KEY. Without TEXT, standard input is read."""
    arguments = {"key": key, "content": text_from(text, "what to keep"), "tags": list(tags)}
    if update and summary:
        raise click.UsageError("--update changes a note where it stands: leave out --summary")
    memory = open_memory(to_write=True)
    if update:
        reply = call(memory, "memory_update", arguments, "notes")
    else:
        target = "summary" if summary else "daily"
        reply = call(memory, "memory_write", {**arguments, "target": target}, "notes")
    answer(reply, lambda: click.echo(f"Kept {reply['data']['key']!r} in {reply['data']['path']}."))


@click.command("read")
@click.argument("key")
@shared
def read_command(key: str) -> None:
    """Show the note of KEY."""
    reply = call(open_memory(), "memory_read", {"key": key}, "notes")
    answer(reply, lambda: say(reply["data"]["content"]))


@click.command("reflect")
@click.argument("text", nargs=-1)
@shared
def reflect_command(text: tuple[str, ...]) -> None:
    """Rewrite the curated memory with TEXT, or with standard input. It replaces the whole page."""
    content = text_from(text, "the new curated memory")
    reply = call(open_memory(to_write=True), "reflect", {"content": content}, "journal")
    answer(reply, lambda: say(reply["content"]))


@click.command("world")
@click.argument("topic", required=False)
@click.argument("text", nargs=-1)
@shared
def world_command(topic: str | None, text: tuple[str, ...]) -> None:
    """List the topics all agents share; show TOPIC; or rewrite it with TEXT (`-` for standard input)."""
    if text and topic:
        arguments = {"topic": topic, "content": text_from(text, "what is known")}
        reply = call(open_memory(to_write=True), "update_world", arguments, "journal")
        answer(reply, lambda: say(reply["content"]))
        return
    home = open_memory().home
    if topic:
        pages = {home.layout.topic_of(path): path for path in home.storage.pages.list(home.layout.world)}
        page = home.storage.pages.read(pages.get(topic) or home.layout.world_page(topic_name(topic)))
        answer({"path": page.path, "text": page.text}, lambda: say(page.text.rstrip("\n")))
    else:
        topics = [home.layout.topic_of(path) for path in home.storage.pages.list(home.layout.world)]
        answer({"topics": topics}, lambda: say("\n".join(topics) or "No topics yet."))


@click.command("handoff")
@click.argument("text", nargs=-1)
@click.option("--clear", is_flag=True, help="Remove the note.")
@shared
def handoff_command(text: tuple[str, ...], clear: bool) -> None:
    """Show the note for the next session, or leave TEXT as the new one (`-` for standard input)."""
    if clear and text:
        raise click.UsageError("give either TEXT or --clear")
    memory = open_memory(to_write=bool(text))
    if clear:
        clear_handoff(memory.home)
        memory.home.follow()
        answer({"status": "ok", "message": "Handoff cleared."}, lambda: say("Handoff cleared."))
    elif text:
        reply = call(memory, "write_session_handoff", {"content": text_from(text, "the note")}, "working")
        answer(reply, lambda: say(reply["message"]))
    else:
        note = read_handoff(memory.home)
        answer({"status": "ok", "content": note}, lambda: say(note or "No handoff."))


@click.command("scratch")
@click.argument("text", nargs=-1)
@click.option("--append", is_flag=True, help="Add TEXT to the end instead of replacing.")
@click.option("--clear", is_flag=True, help="Empty the scratchpad.")
@shared
def scratch_command(text: tuple[str, ...], append: bool, clear: bool) -> None:
    """Show the scratchpad, or write TEXT to it (`-` for standard input)."""
    if clear and (text or append):
        raise click.UsageError("give either TEXT or --clear")
    mode = "clear" if clear else "append" if append else "replace" if text else "read"
    arguments = {"mode": mode}
    if mode in ("append", "replace"):
        arguments["content"] = text_from(text, "what to note")
    reply = call(open_memory(to_write="content" in arguments), "scratch_note", arguments, "working")
    shown = reply["content"] if mode == "read" else reply["message"]
    answer(reply, lambda: say(shown or "The scratchpad is empty."))
