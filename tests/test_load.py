"""Text that is made to cost much costs no more than its length: every parser, by four times the text for as much time.

Nothing here asserts a time. Calls are counted where they tell. Else CPU time of this thread is compared between a text
and one four times as long, which may take eight times as much, where a cost that grows with the square takes sixteen.
The comparison is repeated before it fails: a machine that is busy with something else does not slow only the long one.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import random
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path

import pytest

import commonplace
from commonplace import Memory
from commonplace.errors import NotFound
from commonplace.facts.names import find_names
from commonplace.facts.sentences import find_sentences
from commonplace.formats.blocks import find_annotated_lines, strip_annotations, strip_own_annotations
from commonplace.formats.html import MAX_SHOWN_CHARS, find_links, render_html
from commonplace.formats.passages import split_page, split_transcript
from commonplace.formats.structure import escape, find_marks
from commonplace.framing import escape_hidden, show_hidden, unescape_hidden
from commonplace.framing.recall import Kind, Recalled, RecallPage, render_recall
from commonplace.maintenance.doubts import list_doubts
from commonplace.maintenance.feed import list_learned
from commonplace.maintenance.timeline import undo
from commonplace.patterns import LazyPattern
from commonplace.search.coverage import split_question
from commonplace.search.dates import asks_about_past, read_dates
from commonplace.search.subjects import find_subject
from commonplace.secrets import find
from commonplace.storage.base import MAX_PAGE_CHARACTERS
from commonplace.storage.history import Line, format_line, version_of
from commonplace.storage.merge import merge
from commonplace.storage.names import compile_glob
from commonplace.testing import FrozenClock

from .costs import costs_little_more, count_calls, empty_caches, measure_seconds

SOURCE = Path(commonplace.__file__).parent
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
    "pins": repeat("<!-- pinned: a.py@0 -->\n"),
    "names": repeat("Anna "),
    "abbreviations": repeat("e.g. Dr. "),
    "spaces": repeat(" "),
    "comment and spaces": lambda length: f"<!-- x -->{' ' * (length - 10)}",
    "spaces and comment": lambda length: f"a{' ' * length}b <!-- c -->",
    "rule and spaces": lambda length: f"|a|b|\n-{' ' * length}x\n",
    "entities": repeat("&"),
    "empty lines": repeat("\n"),
    "one line": repeat("word "),
    "one word": repeat("a"),
    "snake case": repeat("a_"),
    "kebab case": repeat("a-"),
    "Chinese": repeat("汉字"),
}


def merge_with_itself(text: str) -> object:
    return merge(text, text + "\nmine\n", "theirs\n" + text)


def read_as_turn(text: str) -> object:
    return split_transcript(json.dumps({"role": "user", "content": text}) + "\n")


def find_names_twice(text: str) -> object:
    return find_names({"one": text, "other": text}, min_texts=2, limit=50)


def escape_and_back(text: str) -> object:
    return unescape_hidden(escape_hidden(text))


def read_question(text: str) -> object:
    return find_subject(text, split_question(text, "english"), "english")


def read_annotations(text: str) -> object:
    return strip_annotations(text), strip_own_annotations(text), find_annotated_lines(text)


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
    "annotations": read_annotations,
    "sentences": find_sentences,
    "question": read_question,
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("case", CASES)
def test_four_times_the_text_costs_about_four_times(case: str, work: str) -> None:
    texts = ((CASES[case](40_000 + more), CASES[case](10_000 + more)) for more in range(9))  # new ones: some are cached
    if not any(costs_little_more(WORK[work], long, short, 0.01) for long, short in texts):
        pytest.fail(f"{work} of {case} grows faster than the text")


@pytest.mark.parametrize("piece", ["Who, ", "12 June ", "2026-11-12 ", "before ", "vor "])
def test_a_question_costs_about_what_it_is_long(memory: Memory, piece: str) -> None:
    memory.call("remember", {"content": "Anna works with Tom in Kiel from 12 June on"})

    def ask(text: str) -> None:
        memory.call("memory_search", {"query": text})

    ask("Anna")
    texts = ((piece * 2_000)[: 10_000 - more] for more in range(9))  # new ones: some of what is read is cached
    if not any(costs_little_more(ask, text, text[:2_500], 0.01) for text in texts):
        pytest.fail(f"a question of {piece!r} costs more than its length")


def list_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of all modules, by their names: those that are values of a module, alone or in a row."""
    patterns: dict[str, re.Pattern[str]] = {}
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        for key, value in vars(module).items() if name.startswith("commonplace.") else ():
            for each in value if isinstance(value, tuple | list) else [value]:
                each = each.compile() if isinstance(each, LazyPattern) else each
                if isinstance(each, re.Pattern) and isinstance(each.pattern, str):
                    patterns[f"{name}.{key} {each.pattern}"] = each
    return patterns


STARTS = (
    "",
    "-",
    "# ",
    "<!-- ",
    "[[",
    "a",
    "1.",
    "|",
    "*",
    "```",
    "a: ",
    '"',
    "(",
    "http://",
    "2026-01-01 ",
    "---\n",
    "\\",
)
FILLINGS = (
    " ",
    "\t",
    "\n",
    "a",
    "1",
    "-",
    "a ",
    "a-",
    ".",
    ",",
    "a_",
    "a.",
    "| ",
    "\\",
    "`",
    "*",
    "=",
    "[",
    "(",
    "- ",
    '"',
    "#",
    "<",
)


def read_dates_of_question(text: str) -> object:
    return read_dates(text, 740_000), asks_about_past(text)


@pytest.mark.parametrize(
    "piece", ["2026-01-01 ", "from 3 May to 5 May ", "last week ", "before the ", "vor dem ", "昨日"]
)
def test_a_question_of_many_days_is_read_in_the_time_that_its_text_takes(piece: str) -> None:
    texts = ((repeat(piece)(20_000) + str(more), repeat(piece)(5_000) + str(more)) for more in range(9))
    assert any(costs_little_more(read_dates_of_question, long, short, 0.01) for long, short in texts)


def test_no_pattern_takes_longer_than_its_text_from_where_it_begins() -> None:
    """What could begin anywhere is measured above, through the functions that look for it."""
    for path in SOURCE.rglob("*.py"):
        if re.search(r"re\.compile\(|lazy_pattern\(", path.read_text()):
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            with suppress(ImportError):  # of what is not installed
                importlib.import_module(".".join(part for part in parts if part != "__init__"))
    patterns = list_patterns()
    assert len(patterns) > 200
    slow = [
        (name, start, filling)
        for name, pattern in patterns.items()
        for start in STARTS
        for filling in FILLINGS
        if doubles_with_each_step(pattern, start, filling)
        or (
            measure_seconds(pattern.match, f"{start}{filling * 3000}\x01x") > 0.01
            and not grows_with_its_text(pattern, start, filling)
        )
    ]
    assert slow == []


def doubles_with_each_step(pattern: re.Pattern[str], start: str, filling: str) -> bool:
    """Return whether a pattern takes long for a few characters: for the texts of the other checks it would not end."""
    return all(measure_seconds(pattern.match, f"{start}{filling * 22}\x01x") > 0.05 for _ in range(3))


def grows_with_its_text(pattern: re.Pattern[str], start: str, filling: str) -> bool:
    short = f"{start}{filling * 5_000}\x01x"
    long = f"{start}{filling * 20_000}\x01x"
    return any(costs_little_more(pattern.match, long, short, 0.001) for _ in range(9))


@pytest.mark.parametrize(
    "pattern", ["*a" * 5 + "*b", "**a" * 5 + "**b", "**/*a" * 5 + "b", "**/" * 6 + "b", "?*" * 6 + "b"]
)
@pytest.mark.parametrize("piece", ["a", "a/"])
def test_a_pattern_of_pages_costs_about_what_the_path_is_long(pattern: str, piece: str) -> None:
    """A caller may choose both, and while a pattern is compared, no other thread of a server runs."""
    match = compile_glob(pattern).fullmatch
    for length in (20, 40):  # it would not end for longer paths
        assert measure_seconds(match, piece * length) < 0.5
    assert any(costs_little_more(match, piece * 720, piece * 180, 0.01, at_most=24) for _ in range(9))


@pytest.mark.parametrize("case", CASES)
def test_a_page_of_a_megabyte_is_rendered_as_fast_as_a_fifth_of_it(case: str) -> None:
    """Beyond its limits a page is shown as plain text: a few calls, which take the time that their text takes."""
    fifth = CASES[case](200_000)
    whole = CASES[case](1_000_000)
    if costs_little_more(render_html, whole, fifth, 0, at_most=3):
        return
    assert count_calls(render_html, whole) < 2.5 * count_calls(render_html, fifth)
    assert any(costs_little_more(render_html, whole, fifth, 0.01, at_most=12) for _ in range(9))


@pytest.mark.parametrize("kind", ["world", "curated"])
def test_recall_of_a_megabyte_of_short_lines_renders_what_there_is_room_for(kind: Kind) -> None:
    def recall(text: str) -> Recalled:
        return render_recall([RecallPage(kind, "a", "a.md", text)], 4_000, lambda path, line: f"{path} {line}")

    tenth = "# a\n" * 25_000
    whole = "# a\n" * 250_000
    output = recall(whole).text
    assert 2_000 < len(output) <= 4_000
    assert "characters in lines" in output
    assert count_calls(recall, whole) < 1.2 * count_calls(recall, tenth), "recall grows with what it does not show"


def test_a_day_is_read_once_for_all_its_entries_that_are_recalled(home: Path, clock: FrozenClock) -> None:
    """Each of them once read the whole day for the headings above it: a day of 60 KB took half a minute."""
    day = home / f"agents/main/memory/daily/{clock.now:%Y-%m-%d}.md"
    day.parent.mkdir(parents=True)
    day.write_text("".join(f"## Number {number}\n" for number in range(3000)))

    def count_recall(limit: int) -> int:
        (home / "commonplace.yaml").write_text(f"recall:\n  maxCharacters: {limit}\n")
        with Memory(home, clock=clock) as memory:
            memory.search("number")
            return count_calls(memory.call, "recall")

    empty_caches()
    count_recall(1000)
    assert count_recall(8000) < 2 * count_recall(2000)


@pytest.mark.parametrize("line", ["The port of server {0} is {1}.", "x: {1}", "{2}"])
def test_a_page_that_is_rewritten_is_compared_in_the_time_that_its_text_takes(memory: Memory, line: str) -> None:
    """Each replaced line was compared with each new one, and lines that are all alike with each other."""

    def make_page(count: int, version: int) -> str:
        numbers = random.Random(version)
        lines = (line.format(number, number + version, numbers.choice("abc")) for number in range(count))
        return "\n".join(lines)

    def count_rewrite(count: int) -> int:
        memory.call("update_world", {"topic": "ports", "content": make_page(count, 0)})
        memory.call("update_world", {"topic": "other", "content": "x"})
        return count_calls(memory.call, "update_world", {"topic": "ports", "content": make_page(count, 1)})

    count_rewrite(10)
    assert count_rewrite(1600) < 6 * count_rewrite(400)


@pytest.mark.parametrize("piece", ["abcdefgh", "abcdefgh "])
def test_a_long_line_that_changes_is_attributed_in_the_time_that_its_text_takes(memory: Memory, piece: str) -> None:
    """Each search asks who wrote its hits: a letter in a word of 40 KB once took it minutes."""

    def count_search(length: int) -> int:
        text = "port " + piece * (length // len(piece))
        memory.call("update_world", {"topic": "ports", "content": text})
        memory.call("update_world", {"topic": "ports", "content": text.replace("cde", "cbe")})
        return count_calls(memory.search, "port")

    count_search(100)
    assert count_search(8_000) < 6 * count_search(2_000)


def test_a_page_of_which_every_line_is_replaced_is_attributed_in_few_calls_a_line(memory: Memory) -> None:
    path = "memory/long.md"
    for word in ("tea", "coffee"):
        memory.home.storage.pages.write(path, "".join(f"number {number} is {word}\n" for number in range(20_000)))
    assert count_calls(memory.home.authors.find, [(path, 1, 1)]) < 5 * 20_000


def test_the_authors_of_a_huge_page_of_many_changes_are_found_once(memory: Memory) -> None:
    path = "memory/long.md"
    for word in ("tea", "coffee"):
        lines = (f"number {number} is {word if number % 2 else ''}\n\n" for number in range(30_000))
        memory.home.storage.pages.write(path, "".join(lines))
    one, other = memory.home.authors.find([(path, 1, 1), (path, 3, 3)])
    assert one.author == other.author == "library"
    assert count_calls(memory.home.authors.find, [(path, 1, 1)]) < 1_000


def test_what_is_not_rendered_is_shown_as_plain_text_under_a_line_that_says_so() -> None:
    text = "# Begin\n\n" + "*a* [b](c)\n" * 20_000 + "<b>end</b>\n"
    html = render_html(text)
    assert '<h1 id="note-begin">Begin</h1>' in html
    assert "The rest of this page is shown as plain text." in html
    assert html.endswith("&lt;b&gt;end&lt;/b&gt;\n</pre>\n")
    assert "plain text" not in render_html("# Begin\n\n" + "Words on a line.\n\n" * 1000)
    assert f"{MAX_SHOWN_CHARS:,}" in render_html("a" * (MAX_SHOWN_CHARS + 1))


@pytest.mark.parametrize("between", ["\n", " "])
def test_what_a_memory_learned_is_listed_in_the_time_that_its_text_takes(tmp_path: Path, between: str) -> None:
    """Also where all sentences are on one line: what it says was put beside each of them."""

    def list_all(memory: Memory) -> object:
        return list_learned(memory.home, 50)

    def learn(count: int) -> Memory:
        memory = Memory(tmp_path / str(count))
        sentences = between.join(f"The port of server {number} is {number}." for number in range(count))
        memory.call("update_world", {"topic": "ports", "content": sentences})
        memory.search("port")  # a long page is indexed by the first search after it was written
        return memory

    empty_caches()
    with learn(300) as few, learn(1200) as many:
        assert count_calls(list_all, many) < 5 * count_calls(list_all, few)
        if not any(costs_little_more(list_all, many, few, 0.02, at_most=12) for _ in range(9)):
            pytest.fail("what was learned takes longer than its text")


def test_a_page_of_many_headings_is_reviewed_in_the_time_that_its_text_takes(home: Path) -> None:
    """A page of 30 KB once took half a minute, and so did every context of its memory."""

    def count_review(count: int) -> int:
        entries = [f"## 09:30\n\nThe port is {number}.\n" for number in range(count)]
        page.write_text("\n".join(["# Ports\n", *entries]))
        memory.search("port")
        return count_calls(list_doubts, memory.home)

    empty_caches()
    with Memory(home) as memory:
        page = home / "memory" / "world" / "ports.md"
        page.parent.mkdir(parents=True)
        count_review(10)
        assert count_review(600) < 6 * count_review(150), "a review takes longer than its text"


def test_a_review_lists_some_of_thousands_of_doubts_and_a_long_page_hides_no_other(home: Path) -> None:
    days = home / "agents/main/memory/daily"
    days.mkdir(parents=True)
    for day in range(1, 29):
        entries = "".join(f"## 09:{entry:02}\n\nThe launch is in room {day}{entry}.\n\n" for entry in range(20))
        (days / f"2026-02-{day:02}.md").write_text(f"# 2026-02-{day:02}\n\n{entries}")
    world = home / "memory/world"
    world.mkdir(parents=True)
    (world / "long.md").write_text("A word and another one. " * 10_000)
    with Memory(home) as memory:
        assert len(list_doubts(memory.home)) == 500


MEASURE = """
import resource, sys
from commonplace import Memory
memory = Memory(sys.argv[1])
memory.call("remember", {"content": "The harbour office opens at six."})
memory.search("harbour")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
memory.call("remember", {"content": "walrus " + sys.argv[2] * (int(sys.argv[3]) // len(sys.argv[2]))})
assert memory.search("walrus")[0].text.startswith("walrus")
assert "harbour" in memory.search("harbour")[0].text
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the unit of ru_maxrss is another")
@pytest.mark.parametrize(
    ("piece", "characters", "megabytes"),
    [
        ("汉字", 1_000_000, 150),
        *(pytest.param(each, 4_000_000, 300, marks=pytest.mark.thorough) for each in ("汉字", "word ", "x")),
    ],
)
def test_a_line_of_millions_of_characters_costs_a_small_part_of_a_gigabyte(
    home: Path, piece: str, characters: int, megabytes: int
) -> None:
    """Four million took 1.3 GB once; now 60 to 190 MB, of which Chinese takes most: it has a word for each character."""
    command = [sys.executable, "-c", MEASURE, home, piece, str(characters)]
    reply = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(reply.stdout) < megabytes


def test_a_few_bytes_of_history_do_not_become_gigabytes(home: Path) -> None:
    """A memory that came with a repository brings its history. Such a line once cost any search a thousand times its size."""
    with Memory(home) as memory:
        memory.call("update_world", {"topic": "plants", "content": "Roses are red."})
        path = "memory/world/plants.md"
        size = 100_000_000
        (change,) = memory.home.storage.history.changes(path)
        claims = change._replace(id=f"{change.id[:2]}00000000", version=version_of(bytes(size)))
        line = Line(claims, 0, None, base64.b64encode(zlib.compress(bytes(size))).decode())
        with (home / ".history" / f"{change.id[:2]}.jsonl").open("ab") as file:
            file.write(format_line(line))
        with pytest.raises(NotFound):
            memory.home.storage.history.read_version(path, claims.version)
        assert "red" in memory.search("roses")[0].text


def make_words() -> Iterator[str]:
    """Return long words that are made and read quickly: one letter, repeated, and a number."""
    return (f"{'x' * 190}{number}" for number in range(100_000))


def make_random_words() -> Iterator[str]:
    dice = random.Random(4)
    return cycle([dice.randbytes(6).hex() for _ in range(5_000)])


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_words, pytest.param(make_random_words, marks=pytest.mark.thorough)])
def test_a_huge_paste_hides_nothing_of_its_day_and_can_be_undone(
    home: Path, clock: FrozenClock, make: Callable[[], Iterator[str]]
) -> None:
    memory = Memory(home, clock=clock)
    words = make()
    paste = "walrus"
    while len(paste) <= MAX_PAGE_CHARACTERS:
        paste = " ".join([paste, *islice(words, 10_000)])
    for text in ("The harbour office opens at six.", paste, "The lighthouse was painted blue."):
        clock.advance(minutes=5)
        reply = memory.call("remember", {"content": text})
    assert "its longest parts can be found only by how they begin" in reply["warning"]
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
