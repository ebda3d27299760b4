"""Any sequence of calls does what a plain model of dictionaries does, for each toolset, with hostile keys and texts."""

from __future__ import annotations

import json
import shutil
import tempfile
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from commonplace import SCRATCHPAD_KEY, SESSION_HANDOFF_KEY, Memory
from commonplace.testing import FrozenClock

from ..examples import examples
from ..texts import json_values, keys, names, tags, texts

few_keys = st.one_of(keys, st.sampled_from(["a", "A", "b", "HANDOFF", "é", "e\u0301"]))
own_keys = few_keys.filter(lambda key: key not in (SESSION_HANDOFF_KEY, SCRATCHPAD_KEY))  # others are refused
few_names = st.one_of(names, st.sampled_from(["a", "A", "x/y", "..", "日本"]))


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.mkdtemp(prefix="commonplace-model-")
        self.clock = FrozenClock()
        self.memory = Memory(self.home, clock=self.clock)

    def do(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.clock.advance(seconds=1)
        toolset = "notes" if tool == "memory_search" else None
        return self.memory.call(tool, arguments, toolset)

    @rule()
    def open_again(self) -> None:
        self.memory.close()
        self.memory = Memory(self.home, clock=self.clock)

    def teardown(self) -> None:
        self.memory.close()
        shutil.rmtree(self.home)


class Notes(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.model: dict[str, tuple[str, str, list[str]]] = {}

    @rule(key=few_keys, content=texts, page=st.sampled_from(["daily", "summary"]), labels=tags)
    def write(self, key: str, content: str, page: str, labels: list[str]) -> None:
        reply = self.do("memory_write", key=key, content=content, target=page, tags=labels)
        assert reply["success"] is (key not in self.model), reply
        self.model.setdefault(key, (page, content.rstrip(), labels))

    @rule(key=few_keys, content=texts, labels=tags)
    def update(self, key: str, content: str, labels: list[str]) -> None:
        reply = self.do("memory_update", key=key, content=content, tags=labels)
        assert reply["success"] is (key in self.model), reply
        if key in self.model:
            self.model[key] = (self.model[key][0], content.rstrip(), labels)

    @rule(content=texts.filter(str.strip))
    def remember(self, content: str) -> None:
        assert self.do("remember", content=content)["success"]

    @rule()
    def next_day(self) -> None:
        self.clock.advance(days=1)

    @invariant()
    def every_note_reads_as_written(self) -> None:
        for key, (kind, content, labels) in self.model.items():
            read = self.do("memory_read", key=key)["data"]
            assert (read["content"], read["kind"], read["tags"]) == (content, kind, labels)

    @invariant()
    def search_lists_exactly_the_notes(self) -> None:
        rows = self.do("memory_search", query="", limit=100)["data"]["results"]
        assert sorted(row["key"] for row in rows) == sorted(self.model)


class Working(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.model: dict[str, str] = {}
        self.scratch = ""

    @rule(key=own_keys, content=texts.filter(str.strip), append=st.booleans())
    def write(self, key: str, content: str, append: bool) -> None:
        reply = self.do("write_memory", key=key, content=content, mode="append" if append else "replace")
        old = self.model.get(key, "") if append else ""
        self.model[key] = f"{old.rstrip()}\n{content.strip()}" if old.strip() else content.strip()
        assert reply["bytes_written"] == len(self.model[key].encode()), reply

    @rule(content=texts.filter(str.strip), mode=st.sampled_from(["replace", "append", "clear"]))
    def use_scratchpad(self, content: str, mode: str) -> None:
        assert self.do("scratch_note", mode=mode, content=content)["status"] == "ok"
        remaining = self.scratch.rstrip()
        grown = f"{remaining}\n{content.strip()}" if mode == "append" and remaining.strip() else content.strip()
        self.scratch = "" if mode == "clear" else grown

    @invariant()
    def every_note_is_found_with_its_content(self) -> None:
        for key, content in self.model.items():
            matches = self.do("search_memory", query=key, limit=50)["matches"]
            assert (key, content) in [(match["key"], match["content"]) for match in matches]
        assert self.do("scratch_note")["content"] == self.scratch


class Registry(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.model: dict[str | None, dict[str, tuple[Any, str]]] = {None: {}}

    def op(self, op: str, channel: str | None = None, **arguments: Any) -> dict[str, Any]:
        scope = "Global" if channel is None else "Channel"
        mentions = {} if channel is None else {"channelName": channel}
        return self.do("MemoryTool", op=op + scope, **mentions, **arguments)

    @rule(
        channel=st.none() | few_names,
        key=few_names,
        value=json_values,
        category=st.sampled_from(["general", "Work!", "a"]),
    )
    def set(self, channel: str | None, key: str, value: Any, category: str) -> None:
        assert self.op("set", channel, key=key, value=value, category=category)["success"]
        self.model.setdefault(channel, {})[key] = (value, category)

    @rule(channel=st.none() | few_names, key=few_names)
    def delete(self, channel: str | None, key: str) -> None:
        reply = self.op("delete", channel, key=key)
        assert reply["success"] is (self.model.get(channel, {}).pop(key, None) is not None)

    @invariant()
    def every_record_reads_as_written(self) -> None:
        for channel, records in self.model.items():
            for key, (value, category) in records.items():
                read = self.op("get", channel, key=key)
                assert (read["value"], read["category"]) == (value, category)

    @invariant()
    def lists_hold_exactly_the_records(self) -> None:
        listed = self.do("MemoryTool", op="listGlobal")["results"]
        assert sorted(row["key"] for row in listed) == sorted(self.model[None])
        assert all(row["value"] == self.model[None][row["key"]][0] for row in listed)
        channels = sorted(name for name, records in self.model.items() if name is not None and records)
        assert self.do("MemoryTool", op="listChannels")["channels"] == channels
        for name in channels:
            assert self.do("MemoryTool", op="listChannelKeys", channelName=name)["keys"] == sorted(self.model[name])


class Skills(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.model: dict[str, dict[str, Any]] = {}

    @rule(
        name=few_names,
        description=texts,
        instructions=texts,
        data=st.dictionaries(st.sampled_from(["a", "b"]), json_values),
    )
    def create(self, name: str, description: str, instructions: str, data: dict[str, Any]) -> None:
        assert self.do("MemoryTool", op="createSkill", name=name, description=description, instructions=instructions, initialStructure=data)["success"]  # fmt: skip
        fresh = {"instructions": instructions, "skill_data": data}
        self.model[name] = {**self.model.get(name, fresh), "description": description}

    @rule(
        name=few_names,
        change=st.dictionaries(st.sampled_from(["a", "b", "c"]), st.none() | json_values),
        rules=st.none() | texts,
    )
    def update(self, name: str, change: dict[str, Any], rules: str | None) -> None:
        answer = {} if rules is None else {"instructions": rules}
        reply = self.do("MemoryTool", op="updateSkill", name=name, newData={**change, **answer})
        assert reply["success"] is (name in self.model)
        if name in self.model:
            self.model[name]["skill_data"] = merge_json(self.model[name]["skill_data"], change)
            self.model[name].update(answer)

    @rule(name=few_names)
    def delete(self, name: str) -> None:
        assert self.do("MemoryTool", op="deleteSkill", name=name)["success"] is (self.model.pop(name, None) is not None)

    @invariant()
    def every_skill_reads_as_written(self) -> None:
        for name, fields in self.model.items():
            read = self.do("MemoryTool", op="getSkill", name=name)
            assert {field: read[field] for field in fields} == fields
        listed = self.do("MemoryTool", op="listSkills")["skills"]
        assert sorted(skill["name"] for skill in listed) == sorted(self.model)


def merge_json(old: Any, new: Any) -> Any:
    """JSON merge, the way RFC 7396 says it."""
    if not isinstance(new, dict):
        return json.loads(json.dumps(new))
    out = dict(old) if isinstance(old, dict) else {}
    for name, value in new.items():
        if value is None:
            out.pop(name, None)
        else:
            out[name] = merge_json(out.get(name), value)
    return out


for machine in (Notes, Working, Registry, Skills):
    machine.TestCase.settings = examples(12, stateful_step_count=15)

TestNotes, TestWorking, TestRegistry, TestSkills = Notes.TestCase, Working.TestCase, Registry.TestCase, Skills.TestCase
