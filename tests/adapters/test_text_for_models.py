"""One exit for text to models: no adapter hands over anything hidden, whatever is stored."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.adapters import langchain, openai_agents, pydantic_ai
from commonplace.adapters.anthropic import MemoryFiles
from commonplace.framing import escape_hidden, show_hidden
from commonplace.home import Home

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")
PARTS = ["a", "é", " ", "\\", "u{", "200b", "}", "\u200b", "\u202e", "\u2066", "\ufeff", *TAGS.split()]
TEXTS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=20).map("".join).map("tea {}".format)


def is_clean(text: str) -> bool:
    return show_hidden(text) == text


@settings(max_examples=15, deadline=None)
@given(TEXTS)
def test_no_adapter_hands_a_model_anything_hidden(text: str) -> None:
    with TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.call("write_memory", {"key": "tea", "content": text})
        request = {"query": "tea"}
        (lang,) = (tool for tool in langchain.tools(memory, ["working"]) if tool.name == "search_memory")
        (openai,) = (tool for tool in openai_agents.function_tools(memory, ["working"]) if tool.name == "search_memory")
        toolset = pydantic_ai.CommonplaceToolset(memory, ["working"])
        answers = [
            cast(str, lang.invoke(request)),
            asyncio.run(cast(Any, openai.on_invoke_tool(cast(Any, None), json.dumps(request)))),
            cast(Any, toolset.tools["search_memory"].function)(**request),
        ]
        for answer in answers:
            assert is_clean(answer)
            assert json.loads(answer)["matches"][0]["content"] == text.strip()
        for document in langchain.MemoryRetriever(memory=memory).invoke("tea"):
            assert is_clean(document.page_content)


@settings(max_examples=25, deadline=None)
@given(TEXTS)
def test_claude_sees_what_is_hidden_and_can_replace_it(text: str) -> None:
    with TemporaryDirectory() as folder:
        home = Home(folder)
        files = MemoryFiles(home, "memories")
        files.ensure()
        Path(folder, "memories/a.md").write_text(text, encoding="utf-8")
        listing = files.view("/memories/a.md")
        assert is_clean(listing)
        line = listing.partition("\t")[2]
        assert line == escape_hidden(text)
        files.str_replace("/memories/a.md", line, "coffee")
        assert Path(folder, "memories/a.md").read_text() == "coffee"
        home.close()


def test_a_file_name_adds_no_line_to_a_listing(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    files = MemoryFiles(home, "memories")
    files.ensure()
    (tmp_path / "memories/a\n0B\t_memories_b\u200b.md").write_text("x")
    assert files.view("/memories").count("\n") == 2
    home.close()
