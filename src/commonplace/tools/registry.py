"""registry: one tool, nineteen operations on global records, records of channels, and skills.

Each operation is a typed function like any tool; the tool's one flat schema is the union of their parameters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from ..errors import CommonplaceError, InvalidArgument, MissingArgument, NotFound, UnknownOperation
from ..formats.timestamps import sort_key
from ..home import Home
from ..index.tokenizer import tokenize_query
from ..model import Json, Record, Skill
from ..schema import one_of
from .define import Answer, Maybe, Parameter, Reply, Tool, bind, toolset, with_warning

Key = Annotated[str, "The exact name of the memory."]
Value = Annotated[Json, "What to keep: text, a number, true or false, a list or an object."]
Category = Annotated[str, "What kind of memory it is; `agent`, `preferences` and `user_info` are in every prompt."]
Tags = Annotated[list[str] | str | None, "Labels: a list, or text with commas between them."]
Channel = Annotated[str, "The channel's name, exactly as the prompt's `Current channel:` line has it."]
Name = Annotated[str, "The skill's name."]
Words = Annotated[str, "Words to look for; a memory with any of them is found."]

_RECORD = Answer(key=str, value=object, category=str, tags=[str], created_at=str, updated_at=str)
_SKILL = Answer(
    name=str, description=str, instructions=str, owner=str, training_progress=int, created_at=str, updated_at=str
)
Done = Annotated[Reply, Answer(success=bool)]
OneRecord = Annotated[Reply, Answer(success=bool) | _RECORD]
Records = Annotated[Reply, Answer(success=bool, results=[_RECORD])]
SomeSkills = Annotated[Reply, Answer(success=bool, skills=[_SKILL])]


def setGlobal(home: Home, key: Key, value: Value, category: Category = "general", tags: Tags = None) -> Done:
    """keep a memory for all channels, or replace it"""
    home.globals.put(key, value, category, _tags(tags))
    return {"success": True}


def getGlobal(home: Home, key: Key) -> OneRecord:
    """read one"""
    return _one(home.globals.get(key))


def deleteGlobal(home: Home, key: Key) -> Done:
    """delete one"""
    return _deleted(home.globals.delete(key))


def listGlobal(home: Home, category: Annotated[str | None, "Only this category."] = None) -> Records:
    """list all, or one category"""
    found, warnings = _records(home, home.layout.globals)
    return _results((r for r in found if category is None or r.category == category), warnings)


def searchGlobal(home: Home, query: Words) -> Records:
    """find by words"""
    found, warnings = _records(home, home.layout.globals)
    return _results(best_records(found, words_of(query)), warnings)


def setChannel(
    home: Home,
    channelName: Channel,
    key: Key,
    value: Value,
    category: Category = "general",
    tags: Tags = None,
) -> Done:
    """keep a memory of one channel, or replace it"""
    home.channels.shelf(channelName).put(key, value, category, _tags(tags))
    return {"success": True}


def getChannel(home: Home, channelName: Channel, key: Key) -> OneRecord:
    """read one"""
    return _one(home.channels.shelf(channelName).get(key))


def deleteChannel(home: Home, channelName: Channel, key: Key) -> Done:
    """delete one"""
    return _deleted(home.channels.shelf(channelName).delete(key))


def getChannelByCategory(home: Home, channelName: Channel, category: Category) -> Records:
    """list one category of a channel"""
    found, warnings = _records(home, _known_channel(home, channelName))
    return _results((r for r in found if r.category == category), warnings)


def listChannelKeys(home: Home, channelName: Channel) -> Annotated[Reply, Answer(success=bool, keys=[str])]:
    """list the keys of a channel"""
    _known_channel(home, channelName)
    return {"success": True, "keys": home.channels.shelf(channelName).keys()}


def listChannels(home: Home) -> Annotated[Reply, Answer(success=bool, channels=[str])]:
    """list the channels that hold memories"""
    names, warnings = home.channels.names()
    return with_warning({"success": True, "channels": names}, *warnings)


def purgeChannel(home: Home, channelName: Channel) -> Annotated[Reply, Answer(success=bool, message=str)]:
    """delete everything of a channel; only when the channel is gone for good"""
    count = home.channels.purge(channelName)
    return {"success": True, "message": f"Deleted everything of channel {channelName}: {count} in all"}


def createSkill(
    home: Home,
    name: Name,
    description: Annotated[str, "One line on what the skill does."],
    initialStructure: Annotated[dict[str, Json] | None, "The data the skill starts with."] = None,
    owner: Annotated[str, "`global`, or the one user who sees it."] = "global",
    instructions: Annotated[str, "Rules to follow whenever the skill is used; shown in every prompt."] = "",
) -> Done:
    """make a skill; for one that exists only the description changes"""
    home.skills.create(name, description, initialStructure or {}, owner, instructions)
    return {"success": True}


def updateSkill(
    home: Home,
    name: Name,
    newData: Annotated[dict[str, Json], "What changes in the data; `instructions` goes to the instructions."],
    trainingIncrement: Annotated[bool, "Whether to count this as training."] = False,  # noqa: FBT002
) -> Done:
    """merge into a skill's data: objects merge, lists are replaced, null deletes; {"skill_data": null} clears"""
    instructions = newData.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise InvalidArgument("newData.instructions must be text")
    clears = {*newData} - {"instructions"} == {"skill_data"} and newData["skill_data"] is None
    changes = {} if clears else {name_: value for name_, value in newData.items() if name_ != "instructions"}

    def change(skill: Skill) -> Skill:
        return skill._replace(
            data={} if clears else _merged(skill.data, changes),
            instructions=_new_instructions(skill, newData),
            training_progress=skill.training_progress + trainingIncrement,
        )

    if home.skills.update(name, change) is None:
        raise NotFound("Skill not found")
    return with_warning({"success": True}, _NESTED if "skill_data" in changes else "")


def getSkill(home: Home, name: Name) -> Annotated[Reply, Answer(success=bool, skill_data=dict) | _SKILL]:
    """read a skill with its data"""
    skill = home.skills.get(name)
    if skill is None:
        raise NotFound("Not found")
    return with_warning({"success": True, **_summary(skill), "skill_data": skill.data}, skill.warning)


def listSkills(home: Home) -> SomeSkills:
    """list all skills, without data"""
    return _skills(home.skills.all())


def listSkillsForUser(home: Home, username: Annotated[str, "The user."]) -> SomeSkills:
    """list the skills a user may see"""
    return _skills(home.skills.visible_to(username))


def deleteSkill(home: Home, name: Name) -> Done:
    """delete a skill"""
    if not home.skills.delete(name):
        raise NotFound("Skill not found")
    return {"success": True}


def search(
    home: Home, query: Words
) -> Annotated[Reply, Answer(success=bool, results=[(_RECORD | _SKILL).with_optional_fields() | Answer(scope=str)])]:
    """find by words in global memories, skills and all channels"""
    words = words_of(query)
    shared, warnings = _records(home, home.layout.globals)
    rows = [{**_row(record), "scope": "global"} for record in best_records(shared, words)]
    skills = home.skills.all()
    rows += [{**_summary(skill), "scope": "skill"} for skill in best_skills(skills, words)]
    channels, more = _records(home, home.layout.channels)
    for name in sorted({record.scope.name for record in channels}):
        found = best_records((record for record in channels if record.scope.name == name), words)
        rows += [{**_row(record), "scope": f"channel_memories_{name}"} for record in found]
    return with_warning({"success": True, "results": rows}, *warnings, *(each.warning for each in skills), *more)


_NESTED = (
    "newData is the data itself: its key skill_data was stored as a nested field. "
    'Send the fields without that key, or exactly {"skill_data": null} to clear the data'
)
OPERATIONS = {
    run.__name__: Tool(run)
    for run in (
        setGlobal, getGlobal, deleteGlobal, listGlobal, searchGlobal, setChannel, getChannel, deleteChannel,
        getChannelByCategory, listChannelKeys, listChannels, purgeChannel, createSkill, updateSkill, getSkill,
        listSkills, listSkillsForUser, deleteSkill, search,
    )
}  # fmt: skip


def memory_tool(home: Home, op: str) -> Reply:
    """Keep and find memories that are shared by name: global ones, those of a channel, and skills.

    Give `op` and the parameters of that operation:
    {operations}

    Use the channel's memories for what belongs to the channel and global ones for what holds everywhere. Never guess a
    key: search or list first. In a skill, rules go into the instructions and facts into the data.
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
    def parameters(self) -> tuple[Parameter, ...]:
        found = {"op": Parameter("op", "op", {**one_of(*OPERATIONS), "description": "The operation."})}
        for tool in OPERATIONS.values():
            for parameter in tool.parameters:
                default = None if parameter.required else parameter.default
                found.setdefault(parameter.name, parameter._replace(default=default))
        return tuple(found.values())

    @cached_property
    def answer(self) -> Answer:
        """What any of the operations answers."""
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
            raise UnknownOperation(f"Unknown operation: {op}")
        # The schema is one for all operations: a wrong type is refused in arguments that this one does not use, too.
        bound = bind(self.parameters, arguments)
        operation = OPERATIONS[op]
        for parameter in operation.parameters:
            if parameter.required and parameter.argument not in bound:
                raise MissingArgument(parameter.name)
        used = {parameter.argument for parameter in operation.parameters}
        return operation.run(home, **{name: value for name, value in bound.items() if name in used})

    def parameter_names(self, arguments: Mapping[str, Any]) -> list[str]:
        return ["op", *OPERATIONS[arguments["op"]].parameter_names(arguments)]


def _signature(tool: Tool) -> str:
    return ", ".join(p.name if p.required else f"{p.name}?" for p in tool.parameters)


def _tags(given: list[str] | str | None) -> tuple[str, ...]:
    listed = given.split(",") if isinstance(given, str) else given or []
    stripped = (tag.replace(",", "").strip() for tag in listed)
    return tuple(tag for tag in stripped if tag)


def _one(record: Record | None) -> Reply:
    if record is None:
        raise NotFound("Not found")
    return with_warning({"success": True, **_row(record)}, record.warning)


def _deleted(done: bool) -> Reply:  # noqa: FBT001
    if not done:
        raise NotFound("Key not found")
    return {"success": True}


def _row(record: Record) -> dict[str, Any]:
    return {
        "key": record.key,
        "value": record.value,
        "category": record.category,
        "tags": list(record.tags),
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _summary(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "instructions": skill.instructions,
        "owner": skill.owner,
        "training_progress": skill.training_progress,
        "created_at": skill.created_at,
        "updated_at": skill.updated_at,
    }


def _records(home: Home, folder: str) -> tuple[list[Record], tuple[str, ...]]:
    """The records below a folder by key, and what is wrong with any of them."""
    records, told = home.list_records(folder)
    if folder == home.layout.globals:
        records = _newest(records)
    return sorted(records, key=lambda record: record.key), told


def _newest(records: Iterable[Record]) -> list[Record]:
    """Of a key that stands in two categories, after a crash or by hand, the record that it is read as."""
    found: dict[str, Record] = {}
    for record in records:
        known = found.get(record.key)
        if known is None or sort_key(record.updated_at) > sort_key(known.updated_at):
            found[record.key] = record
    return [*found.values()]


def _results(records: Iterable[Record], warnings: Iterable[str]) -> Reply:
    return with_warning({"success": True, "results": [_row(record) for record in records]}, *warnings)


def _skills(skills: Iterable[Skill]) -> Reply:
    listed = list(skills)
    rows = [_summary(skill) for skill in listed]
    return with_warning({"success": True, "skills": rows}, *(skill.warning for skill in listed))


def _known_channel(home: Home, channel: str) -> str:
    if not home.channels.exists(channel):
        raise NotFound("Not found")
    return home.layout.channel_folder(channel)


def _merged(old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    """Objects merge, everything else is replaced, null deletes."""
    out = dict(old)
    for name, value in new.items():
        if value is None:
            out.pop(name, None)
        elif isinstance(value, dict):
            out[name] = _merged(out[name] if isinstance(out.get(name), dict) else {}, value)
        else:
            out[name] = value
    return out


def _new_instructions(skill: Skill, new_data: dict[str, Json]) -> str:
    if "instructions" not in new_data:
        return skill.instructions
    return new_data["instructions"] or ""


def words_of(query: str) -> list[str]:
    """The words asked for; underscores and hyphens are spaces. Scripts without spaces are asked for in pairs, too."""
    plain = re.sub(r"[_\-\s]+", " ", query).strip()
    if not plain:
        raise InvalidArgument("Query must not be empty")
    pairs = (word for word in tokenize_query(plain) if not word.isascii())
    return [*dict.fromkeys([*plain.casefold().split(" "), *pairs])]


def best_records(records: Iterable[Record], words: list[str]) -> list[Record]:
    return _ranked(records, words, lambda r: (r.key, _as_text(r.value), r.category, " ".join(r.tags)))


def best_skills(skills: Iterable[Skill], words: list[str]) -> list[Skill]:
    return _ranked(skills, words, lambda s: (s.name, s.description, s.instructions, _as_text(s.data)))


def _ranked(things: Iterable[Any], words: list[str], fields_of: Any) -> list[Any]:
    """What holds any of the words, literally; more of them first, and those in the name before the others."""
    scored = []
    for thing in things:
        name, *rest = (field.casefold() for field in fields_of(thing))
        text = "\n".join(rest)
        score = sum((word == name) + 2 * (word in name) + (word in text) for word in words)
        found = sum(word in name or word in text for word in words)
        if found:
            scored.append((-found, -score, name, thing))
    return [thing for *_, thing in sorted(scored, key=lambda each: each[:3])]


def _as_text(value: Json) -> str:
    """A value as text to look in: what it says, and how it says it."""
    return value if isinstance(value, str) else "\n".join([json.dumps(value, ensure_ascii=False), *_said(value)])


def _said(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from (text for item in value.values() for text in _said(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _said(item))


def _refuse(error: CommonplaceError, _tool: str, _given: Mapping[str, Any]) -> Reply:
    return {"success": False, "error": str(error)}


TOOLSET = toolset("registry", [OperationTool(memory_tool, "MemoryTool", destructive=True)], _refuse)
