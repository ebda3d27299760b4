"""Text that is made to cost much costs no more than its length: every parser, by twice the text for twice the time.

Nothing here asserts a time. CPU time of this process is compared between one text and a text twice as long, and the
comparison is repeated before it fails, so that a busy machine fails no test.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.facts.names import find_names
from commonplace.formats.html import MAX_SHOWN_CHARS, find_links, render_html
from commonplace.formats.passages import split_page, split_transcript
from commonplace.formats.structure import escape, find_marks
from commonplace.framing import escape_hidden, show_hidden, unescape_hidden
from commonplace.maintenance.timeline import undo
from commonplace.secrets import find
from commonplace.storage.base import MAX_PAGE_CHARACTERS
from commonplace.storage.merge import merge
from commonplace.testing import FrozenClock

Make = Callable[[int], str]


def repeat(piece: str) -> Make:
    def make(length: int) -> str:
        return piece * (length // len(piece))

    return make


def make_nested_lists(length: int) -> str:
    depth = int(length**0.5)
    return "".join(f"{' ' * (2 * level)}- a\n" for level in range(depth))


def make_growing_backticks(length: int) -> str:
    return "".join("`" * count + "\n" for count in range(1, int((2 * length) ** 0.5)))


def make_front_matter(length: int) -> str:
    return "---\n" + "".join(f"k{number}: v\n" for number in range(length // 10)) + "---\n\ntext\n"


def make_aliases(length: int) -> str:
    rows = [f"b{number}: &b{number} [*b{number - 1},*b{number - 1}]\n" for number in range(1, length // 24)]
    return "---\nb0: &b0 [x]\n" + "".join(rows) + "---\n\ntext\n"


def make_footnotes(length: int) -> str:
    return "".join(f"[^{number}]: x\n" for number in range(length // 9))


CASES: dict[str, Make] = {
    "images": repeat("!["),
    "brackets": repeat("["),
    "closed brackets": lambda length: "[" * (length // 2) + "]" * (length // 2),
    "wikilinks": repeat("[["),
    "links": repeat("[a]("),
    "angles": repeat("<"),
    "autolinks": repeat("<a:"),
    "stars": repeat("*"),
    "emphasis": repeat("*a_ "),
    "strikes": repeat("~~a "),
    "backticks": repeat("`"),
    "growing backticks": make_growing_backticks,
    "fences": repeat("```\n"),
    "tables": lambda length: "|a|b|\n|-|-|\n" + "|x|y|\n" * (length // 6),
    "wide table": lambda length: "|".join("a" * (length // 4)) + "\n" + "|".join("-" * (length // 4)),
    "quotes": repeat(">"),
    "quoted lists": repeat("> - "),
    "nested lists": make_nested_lists,
    "hashes": repeat("#"),
    "headings": repeat("# a\n"),
    "blocks": repeat("### k\n"),
    "entries": repeat("## 09:30\n"),
    "open footers": repeat("<!-- agentool-memory: x\n"),
    "footnotes": make_footnotes,
    "front matter": make_front_matter,
    "aliases": make_aliases,
    "backslashes": repeat("\\"),
    "backslashes and hidden": lambda length: "\\" * (length - 12) + "a\u200b \\u{200b}",
    "flags": repeat("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
    "comments": repeat("<!-- x "),
    "names": repeat("Anna "),
    "entities": repeat("&"),
    "empty lines": repeat("\n"),
    "one line": repeat("word "),
    "one word": repeat("a"),
    "Chinese": repeat("汉字"),
}


def seconds(work: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started


def merge_with_itself(text: str) -> object:
    return merge(text, text + "\nmine\n", "theirs\n" + text)


def read_as_turn(text: str) -> object:
    return split_transcript(json.dumps({"role": "user", "content": text}) + "\n")


def find_names_twice(text: str) -> object:
    return find_names({"one": text, "other": text}, min_texts=2, limit=50)


def escape_and_back(text: str) -> object:
    return unescape_hidden(escape_hidden(text))


WORK: dict[str, Callable[[str], object]] = {
    "passages": split_page,
    "structure": find_marks,
    "escape": escape,
    "links": find_links,
    "secrets": find,
    "merge": merge_with_itself,
    "turn": read_as_turn,
    "names": find_names_twice,
    "hidden": show_hidden,
    "escapes": escape_and_back,
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("case", CASES)
def test_twice_the_text_costs_about_twice(case: str, work: str) -> None:
    once = CASES[case](20_000)
    twice = CASES[case](40_000)
    for _ in range(5):
        if seconds(WORK[work], twice) < 3 * seconds(WORK[work], once) + 0.01:
            return
    pytest.fail(f"{work} of {case} grows faster than the text")


@pytest.mark.parametrize("case", CASES)
def test_a_page_of_a_megabyte_is_rendered_as_fast_as_a_fifth_of_it(case: str) -> None:
    """Beyond its limits a page is shown as plain text, which costs next to nothing."""
    fifth = CASES[case](200_000)
    whole = CASES[case](1_000_000)
    for _ in range(3):
        if seconds(render_html, whole) < 3 * seconds(render_html, fifth) + 0.2:
            return
    pytest.fail(f"rendering {case} grows with the text")


def test_what_is_not_rendered_is_shown_as_plain_text_under_a_line_that_says_so() -> None:
    text = "# Begin\n\n" + "*a* [b](c)\n" * 20_000 + "<b>end</b>\n"
    made = render_html(text)
    assert '<h1 id="note-begin">Begin</h1>' in made
    assert "The rest of this page is shown as plain text." in made
    assert made.endswith("&lt;b&gt;end&lt;/b&gt;\n</pre>\n")
    assert "plain text" not in render_html("# Begin\n\n" + "Words on a line.\n\n" * 1000)
    assert f"{MAX_SHOWN_CHARS:,}" in render_html("a" * (MAX_SHOWN_CHARS + 1))


MEASURE = """
import resource, sys
from commonplace import Memory
memory = Memory(sys.argv[1])
memory.call("remember", {"content": "The harbour office opens at six."})
memory.search("harbour")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
memory.call("remember", {"content": "walrus " + sys.argv[2] * (4_000_000 // len(sys.argv[2]))})
assert memory.search("walrus")[0].text.startswith("walrus")
assert "harbour" in memory.search("harbour")[0].text
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the unit of ru_maxrss is another")
@pytest.mark.parametrize("piece", ["word ", pytest.param("x", marks=pytest.mark.thorough), "汉字"])
def test_a_line_of_four_million_characters_costs_a_small_part_of_a_gigabyte(home: Path, piece: str) -> None:
    """It took 1.3 GB once; now 60 to 190 MB, of which Chinese takes most: it has a word for each character."""
    reply = subprocess.run([sys.executable, "-c", MEASURE, home, piece], check=True, capture_output=True, text=True)
    assert int(reply.stdout) < 300


@pytest.mark.slow
def test_a_huge_paste_hides_nothing_of_its_day_and_can_be_undone(home: Path, clock: FrozenClock) -> None:
    memory = Memory(home, clock=clock)
    dice = random.Random(4)
    words = [dice.randbytes(6).hex() for _ in range(5_000)]
    paste = "walrus " + " ".join(words * 64)
    for text in ("The harbour office opens at six.", paste, "The lighthouse was painted blue."):
        clock.advance(minutes=5)
        reply = memory.call("remember", {"content": text})
    assert "only the beginning of its longest parts" in reply["warning"]
    assert len(paste) > MAX_PAGE_CHARACTERS
    for word in ("harbour", "walrus", "lighthouse"):
        assert word in memory.search(word)[0].text
    warning = memory.call("memory_search", {"query": "harbour"})["warning"]
    assert "its longest part can be found only by the beginning" in warning
    [page] = [path for path in home.rglob("daily/*.md") if os.path.getsize(path) > MAX_PAGE_CHARACTERS]
    path = page.relative_to(home).as_posix()
    changes = [change for change in memory.home.storage.history.changes(path) if change.tool == "remember"]
    assert len(changes) == 3
    assert [result.problem for result in undo(memory.home, changes[1:])] == [""]
    assert page.read_text().count("## ") == 1
    assert "harbour" in page.read_text()
