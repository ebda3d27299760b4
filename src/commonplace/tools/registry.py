"""The registry toolset: one tool with nineteen operations on global records, records of channels, and skills.

Each operation is a typed function like any tool; the tool's one flat schema is the union of their parameters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from ..errors import CommonplaceError, InvalidArgument, MissingArgument, NotFound, UnknownOperation, suggest
from ..formats.records import parse_skill
from ..formats.timestamps import sort_key
from ..framing.limits import RECORDS_CHARACTERS, fit_names, fit_rows
from ..home import Home
from ..instructions import read_rule, warn_of_waiting
from ..model import Json, Record, Skill
from ..schema import one_of
from ..search.words import QueryWords
from ..storage.names import is_blank, require_new_key
from ..storage.records import INJECTED
from .define import Answer, Maybe, Reply, Tool, ToolParameter, bind, refuse, toolset, with_warning

Key = Annotated[str, "The exact name of the memory."]
Value = Annotated[Json, "What to store: text, a number, true or false, a list or an object."]
Category = Annotated[str, "What kind of memory it is; `agent`, `preferences` and `user_info` are in every prompt."]
Tags = Annotated[list[str] | str | None, "Labels: a list, or text with commas between them."]
Channel = Annotated[str, "The channel's name, exactly as the prompt's `Current channel:` line has it."]
Name = Annotated[str, "The skill's name."]
Words = Annotated[str, "Words to look for; a memory with any of them is found."]

_RECORD = Answer(key=str, value=object, category=str, tags=[str], created_at=str, updated_at=str)
_SKILL = Answer(
    name=str, description=str, instructions=str, owner=str, training_progress=int, created_at=str, updated_at=str
)
SuccessReply = Annotated[Reply, Answer(success=bool)]
RecordReply = Annotated[Reply, Answer(success=bool) | _RECORD]
RecordsReply = Annotated[Reply, Answer(success=bool, results=[_RECORD])]
SkillsReply = Annotated[Reply, Answer(success=bool, skills=[_SKILL])]


def setGlobal(home: Home, key: Key, value: Value, category: Category = "general", tags: Tags = None) -> SuccessReply:
    """store a memory for all channels, or replace it"""
    before = home.globals.put(require_new_key("key", key), value, category, _parse_tags(tags))
    return with_warning({"success": True}, _warn_of_lost_injection(before, category), _warn_of_spelling(category))


def getGlobal(home: Home, key: Key) -> RecordReply:
    """read one"""
    return _record_reply(home.globals.get(key))


def deleteGlobal(home: Home, key: Key) -> SuccessReply:
    """delete one"""
    return _delete_reply(home.globals.delete(key))


def listGlobal(home: Home, category: Annotated[str | None, "Only this category."] = None) -> RecordsReply:
    """list all, or one category"""
    records, warnings = _read_records(home, home.layout.globals)
    return _records_reply((r for r in records if category is None or r.category == category), warnings, "getGlobal")


def searchGlobal(home: Home, query: Words) -> RecordsReply:
    """find by words"""
    records, warnings = _read_records(home, home.layout.globals)
    return _records_reply(_rank(records, parse_words(query), _record_fields), warnings, "getGlobal", query)


def setChannel(
    home: Home,
    channelName: Channel,
    key: Key,
    value: Value,
    category: Category = "general",
    tags: Tags = None,
) -> SuccessReply:
    """store a memory of one channel, or replace it"""
    if is_blank(channelName):
        raise MissingArgument("channelName")
    folder = home.channels.folder(channelName)
    before = folder.get(require_new_key("key", key))
    folder.put(key, value, category, _parse_tags(tags))
    return with_warning({"success": True}, _warn_of_lost_injection(before, category), _warn_of_spelling(category))


def getChannel(home: Home, channelName: Channel, key: Key) -> RecordReply:
    """read one"""
    return _record_reply(home.channels.folder(channelName).get(key))


def deleteChannel(home: Home, channelName: Channel, key: Key) -> SuccessReply:
    """delete one"""
    return _delete_reply(home.channels.folder(channelName).delete(key))


def getChannelByCategory(home: Home, channelName: Channel, category: Category) -> RecordsReply:
    """list one category of a channel"""
    records, warnings = _read_records(home, _require_channel(home, channelName))
    return _records_reply((r for r in records if r.category == category), warnings, "getChannel")


def listChannelKeys(home: Home, channelName: Channel) -> Annotated[Reply, Answer(success=bool, keys=[str])]:
    """list the keys of a channel"""
    _require_channel(home, channelName)
    keys, cut = fit_names(home.channels.folder(channelName).keys(), "search finds them by words")
    return with_warning({"success": True, "keys": keys}, cut)


def listChannels(home: Home) -> Annotated[Reply, Answer(success=bool, channels=[str])]:
    """list the channels that have memories"""
    names, warnings = home.channels.names()
    channels, cut = fit_names(names, "search finds what is in them")
    return with_warning({"success": True, "channels": channels}, cut, *warnings)


def purgeChannel(home: Home, channelName: Channel) -> Annotated[Reply, Answer(success=bool, message=str)]:
    """delete everything of a channel; only when the channel no longer exists"""
    count = home.channels.purge(channelName)
    sentence = f"Deleted everything of channel {channelName}: {count} in all"
    return {"success": True, "message": f"{sentence}. `commonplace undo` can bring it back."}


def createSkill(
    home: Home,
    name: Name,
    description: Annotated[str, "One line on what the skill does."],
    initialStructure: Annotated[dict[str, Json] | None, "The data the skill starts with."] = None,
    owner: Annotated[str, "`global`, or the one user who sees it."] = "global",
    instructions: Annotated[str, "Rules to follow whenever the skill is used; shown in every prompt."] = "",
) -> SuccessReply:
    """create a skill; if it exists, only its description changes"""
    home.skills.create(require_new_key("name", name), description, initialStructure or {}, owner, instructions)
    return {"success": True}


def updateSkill(
    home: Home,
    name: Name,
    newData: Annotated[dict[str, Json], "What changes in the data; `instructions` goes to the instructions."],
    trainingIncrement: Annotated[bool, "Whether to count this as training."] = False,  # noqa: FBT002
) -> SuccessReply:
    """merge into a skill's data: objects merge, lists are replaced, null deletes; {"skill_data": null} clears"""
    instructions = newData.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise InvalidArgument("newData.instructions must be text")
    clears = {*newData} - {"instructions"} == {"skill_data"} and newData["skill_data"] is None
    changes = {} if clears else {name_: value for name_, value in newData.items() if name_ != "instructions"}

    def change(skill: Skill) -> Skill:
        return skill._replace(
            data={} if clears else _merge(skill.data, changes),
            instructions=_new_instructions(skill, newData),
            training_progress=skill.training_progress + trainingIncrement,
        )

    if home.skills.update(name, change) is None:
        raise NotFound("Skill not found")
    return with_warning({"success": True}, _NESTED_DATA_WARNING if "skill_data" in changes else "")


def getSkill(home: Home, name: Name) -> Annotated[Reply, Answer(success=bool, skill_data=dict) | _SKILL]:
    """read a skill with its data"""
    skill = home.skills.get(name)
    if skill is None:
        raise NotFound("Not found")
    skill = _as_in_force(home, skill)
    return with_warning({"success": True, **_skill_row(skill), "skill_data": skill.data}, skill.warning)


def listSkills(home: Home) -> SkillsReply:
    """list all skills, without data"""
    return _skills_reply(home, home.skills.all())


def listSkillsForUser(home: Home, username: Annotated[str, "The user."]) -> SkillsReply:
    """list the skills a user may see"""
    return _skills_reply(home, home.skills.visible_to(username))


def deleteSkill(home: Home, name: Name) -> SuccessReply:
    """delete a skill"""
    if not home.skills.delete(name):
        raise NotFound("Skill not found")
    return {"success": True}


def search(
    home: Home, query: Words
) -> Annotated[Reply, Answer(success=bool, results=[(_RECORD | _SKILL).with_optional_fields() | Answer(scope=str)])]:
    """find by words in global memories, skills and all channels"""
    words = parse_words(query)
    shared, warnings = _read_records(home, home.layout.globals)
    rows = [{**_record_row(record), "scope": "global"} for record in _rank(shared, words, _record_fields)]
    skills = [_as_in_force(home, skill) for skill in home.skills.all()]
    rows += [{**_skill_row(skill), "scope": "skill"} for skill in _rank(skills, words, _skill_fields)]
    channels, more = _read_records(home, home.layout.channels)
    for name in sorted({record.scope.name for record in channels}):
        of_channel = (record for record in channels if record.scope.name == name)
        matches = _rank(of_channel, words, _record_fields)
        rows += [{**_record_row(record), "scope": f"channel_memories_{name}"} for record in matches]
    results, cut = fit_rows(rows, "value", "getGlobal, getChannel and getSkill read one whole", whole=query)
    skill_warnings = (each.warning for each in skills)
    return with_warning({"success": True, "results": results}, cut, *warnings, *skill_warnings, *more)


_NESTED_DATA_WARNING = (
    "newData is the data itself: its key skill_data was stored as a nested field. "
    'Send the fields without that key, or exactly {"skill_data": null} to clear the data'
)
_FUNCTIONS: tuple[Callable[..., Reply], ...] = (
    setGlobal,
    getGlobal,
    deleteGlobal,
    listGlobal,
    searchGlobal,
    setChannel,
    getChannel,
    deleteChannel,
    getChannelByCategory,
    listChannelKeys,
    listChannels,
    purgeChannel,
    createSkill,
    updateSkill,
    getSkill,
    listSkills,
    listSkillsForUser,
    deleteSkill,
    search,
)
OPERATIONS = {run.__name__: Tool(run) for run in _FUNCTIONS}


def memory_tool(home: Home, op: str) -> Reply:
    """Store and find shared memories by name: global ones, those of a channel, and skills.

    Give `op` and the parameters of that operation:
    {operations}

    Use the channel's memories for what belongs to the channel and global ones for what is true everywhere. Never guess
    a key: search or list first. In a skill, rules go into the instructions and facts into the data.
    """
    return OPERATIONS[op].run(home)


@dataclass(frozen=True)
class OperationTool(Tool):
    """One tool over many operations, chosen by `op`."""

    @property
    def description(self) -> str:
        listed = "\n".join(f"- {name}({_signature(tool)}): {tool.description}" for name, tool in OPERATIONS.items())
        return super().description.replace("{operations}", listed)

    @cached_property
    def parameters(self) -> tuple[ToolParameter, ...]:
        parameters = {"op": ToolParameter("op", "op", {**one_of(*OPERATIONS), "description": "The operation."})}
        for tool in OPERATIONS.values():
            for parameter in tool.parameters:
                default = None if parameter.required else parameter.default
                parameters.setdefault(parameter.name, parameter._replace(default=default))
        return tuple(parameters.values())

    @cached_property
    def answer(self) -> Answer:
        """Return the answer that covers all operations."""
        every = Answer()
        for tool in OPERATIONS.values():
            every |= tool.answer
        results = Answer(results=Maybe([(_RECORD | _SKILL | Answer(scope=str)).with_optional_fields()]))
        return every.with_optional_fields() | results | Answer(success=bool)

    def invoke(self, home: Home, arguments: Mapping[str, Any]) -> Reply:
        op = arguments.get("op")
        if op is None:
            raise MissingArgument("op")
        if not isinstance(op, str) or op not in OPERATIONS:
            raise UnknownOperation(f"Unknown operation: {op}", hint=suggest(str(op), OPERATIONS).strip())
        # All operations share one schema: a wrong type is refused even in arguments that this one does not use.
        bound = bind(self.parameters, arguments)
        operation = OPERATIONS[op]
        for parameter in operation.parameters:
            if parameter.required and parameter.argument not in bound:
                raise MissingArgument(parameter.name)
        used = {parameter.argument for parameter in operation.parameters}
        return operation.run(home, **{name: value for name, value in bound.items() if name in used})

    def parameter_names(self, arguments: Mapping[str, Any]) -> list[str]:
        operation = OPERATIONS.get(str(arguments.get("op")))
        if operation is None:  # then any of them may be the intended one
            return [parameter.name for parameter in self.parameters]
        return ["op", *operation.parameter_names(arguments)]


def _signature(tool: Tool) -> str:
    return ", ".join(p.name if p.required else f"{p.name}?" for p in tool.parameters)


def _parse_tags(tags: list[str] | str | None) -> tuple[str, ...]:
    """Return tags from a list, or from text with commas between them; no tag has a comma in it."""
    listed = tags.split(",") if isinstance(tags, str) else tags or []
    stripped = (tag.replace(",", "").strip() for tag in listed)
    return tuple(tag for tag in stripped if not is_blank(tag))


def _warn_of_spelling(category: str) -> str:
    """Return a warning if a category only looks like one that is part of every prompt, or an empty string."""
    meant = category.strip().casefold().replace(" ", "_").replace("-", "_")
    if category in INJECTED or meant not in INJECTED:
        return ""
    return f"the category {category} is in no prompt; {meant}, spelled like this, is part of every prompt"


def _warn_of_lost_injection(before: Record | None, category: str) -> str:
    """Return a warning if an update takes a record out of every prompt, or an empty string."""
    if before is None or before.category not in INJECTED or category in INJECTED:
        return ""
    return (
        f"{before.key} was in the category {before.category}, which is part of every prompt, and is in {category} now, "
        "which is not: set it again with its category to bring it back"
    )


def _record_reply(record: Record | None) -> Reply:
    if record is None:
        raise NotFound("Not found")
    return with_warning({"success": True, **_record_row(record)}, record.warning)


def _delete_reply(is_deleted: bool) -> Reply:  # noqa: FBT001
    if not is_deleted:
        raise NotFound("Key not found")
    return {"success": True}


def _record_row(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _RECORD.fields} | {"tags": [*record.tags]}


def _skill_row(skill: Skill) -> dict[str, Any]:
    return {name: getattr(skill, name) for name in _SKILL.fields}


def _as_in_force(home: Home, skill: Skill) -> Skill:
    """Return a skill with its approved instructions, and a warning if others wait for approval."""
    try:
        rule = read_rule(home, skill.path, home.storage.pages.read(skill.path).text)
    except CommonplaceError:  # the skill has a warning that says so
        return skill
    instructions = parse_skill(rule.text, Skill(skill.name, "")).instructions if rule.proposal else skill.instructions
    if instructions == skill.instructions:
        return skill
    return skill._replace(instructions=instructions, warning=warn_of_waiting(skill.path))


def _read_records(home: Home, folder: str) -> tuple[list[Record], tuple[str, ...]]:
    """Return the records below a folder by key, and a warning for each that is broken."""
    records, warnings = home.list_records(folder)
    if folder == home.layout.globals:
        records = _newest_of_each_key(records)
    return sorted(records, key=lambda record: record.key), warnings


def _newest_of_each_key(records: Iterable[Record]) -> list[Record]:
    """Keep one record for each key. After a crash or an edit by hand, a key may be in two categories: the newest
    counts."""
    newest: dict[str, Record] = {}
    for record in records:
        other = newest.get(record.key)
        if other is None or sort_key(record.updated_at) > sort_key(other.updated_at):
            newest[record.key] = record
    return [*newest.values()]


def _records_reply(records: Iterable[Record], warnings: Iterable[str], read_op: str, query: str | None = None) -> Reply:
    """Return records as far as they fit into a reply; a single one, or the one whose key is the query, comes whole."""
    rows = [_record_row(record) for record in records]
    if query is None:
        advice = f"search for some, or list one category; {read_op} reads one whole"
        only = rows[0]["key"] if len(rows) == 1 else None
        results, cut = fit_rows(rows, "value", advice, whole=only, limit=RECORDS_CHARACTERS)
    else:
        results, cut = fit_rows(rows, "value", f"{read_op} reads one whole", whole=query)
    return with_warning({"success": True, "results": results}, cut, *warnings)


def _skills_reply(home: Home, every: Iterable[Skill]) -> Reply:
    listed = [_as_in_force(home, skill) for skill in every]
    rows = [_skill_row(skill) for skill in listed]
    skills, cut = fit_rows(
        rows, "instructions", "getSkill reads one whole", name_field="name", limit=RECORDS_CHARACTERS
    )
    return with_warning({"success": True, "skills": skills}, cut, *(skill.warning for skill in listed))


def _require_channel(home: Home, channel: str) -> str:
    if not home.channels.exists(channel):
        raise NotFound("Not found")
    return home.layout.channel_folder(channel)


def _merge(old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    """Return the data with an update merged in: objects merge, everything else is replaced, null deletes."""
    out = dict(old)
    for name, value in new.items():
        if value is None:
            out.pop(name, None)
        elif isinstance(value, dict):
            out[name] = _merge(out[name] if isinstance(out.get(name), dict) else {}, value)
        else:
            out[name] = value
    return out


def _new_instructions(skill: Skill, new_data: dict[str, Json]) -> str:
    if "instructions" not in new_data:
        return skill.instructions
    return new_data["instructions"] or ""


def parse_words(query: str) -> QueryWords:
    """Return the words of a query; underscores and hyphens are spaces."""
    plain = re.sub(r"[_\-\s]+", " ", query).strip()
    if not plain:
        raise InvalidArgument("Query must not be empty")
    return QueryWords(plain)


def _record_fields(record: Record) -> tuple[str, ...]:
    return record.key, _searchable_text(record.value), record.category, " ".join(record.tags)


def _skill_fields(skill: Skill) -> tuple[str, ...]:
    return skill.name, skill.description, skill.instructions, _searchable_text(skill.data)


def _rank(things: Iterable[Any], words: QueryWords, fields_of: Callable[[Any], tuple[str, ...]]) -> list[Any]:
    """Return the items with any of the words: those with more words first, then those with words in the name."""
    scored = []
    for thing in things:
        name, *rest = fields_of(thing)
        name_tokens = words.index(name)
        text = words.index("\n".join(rest))
        score = sum((term == name_tokens) + 2 * (term in name_tokens) + (term in text) for term in words.terms)
        matches = sum(term in name_tokens or term in text for term in words.terms)
        if matches:
            scored.append((-matches, -score, name.casefold(), thing))
    return [thing for *_, thing in sorted(scored, key=lambda each: each[:3])]


def _searchable_text(value: Json) -> str:
    """Return a value as text to search in: as JSON, and the strings in it as they are."""
    return value if isinstance(value, str) else "\n".join([json.dumps(value, ensure_ascii=False), *_strings_in(value)])


def _strings_in(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from (text for item in value.values() for text in _strings_in(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _strings_in(item))


TOOLSET = toolset("registry", [OperationTool(memory_tool, "MemoryTool", destructive=True)], refuse)
