"""A page as HTML: what Markdown means is there, and nothing that runs, loads or pretends."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.formats.html import Link, find_links, render_html

ALLOWED = re.compile(
    r"</?(?:a|blockquote|br|code|del|em|h[1-6]|hr|li|ol|p|pre|s|span|strong|table|tbody|td|th|thead|tr|ul)"
    r'(?: (?:href="(?:#/page/|#/search\?q=|https?:|mailto:)[^"<>]*"|rel="noopener noreferrer nofollow"|title="[^"<>]*"'
    r'|start="\d+"|align="\w+"|class="(?:wikilink|image)"|id="note-[\w-]*"))*>'
)
PIECES = ["<script>", "</script>", "<img src=x onerror=alert(1)>", "[a](", "javascript:x", "data:x", ")", "![", "](", "https://e.example",
          "[[", "]]", "|", "\n", "\n\n", "# ", "`", "```", "<", ">", '"', "'", "&lt;", "&#x3c;", "<!--", "-->", "---", "* ", "\\", "\x00", "é", "💥", "id=app"]  # fmt: skip


def test_what_markdown_means_is_shown() -> None:
    html = render_html("---\nkey: v\n---\n# A *b*\n\n- one\n- two\n\n| a |\n|---|\n| ~~x~~ |\n\n```py\nx < 1\n```\n")
    assert html.startswith('<h1 id="note-a-b">A <em>b</em></h1>')
    assert "<li>one</li>" in html
    assert "<td><s>x</s></td>" in html
    assert "x &lt; 1" in html
    assert "key" not in html


def test_links_to_pages_stay_inside_and_others_say_that_they_lead_out() -> None:
    html = render_html(
        "[p](../people.md#x) [[Ann|her]] [[nobody]] [w](https://w.example)",
        "memory/world/a.md",
        {"Ann": "memory/ann.md"}.get,
    )  # type: ignore[arg-type]
    assert 'href="#/page/memory/people.md"' in html
    assert '<a href="#/page/memory/ann.md" class="wikilink" rel="noopener noreferrer nofollow">her</a>' in html
    assert 'href="#/search?q=nobody"' in html
    assert 'href="https://w.example" rel="noopener noreferrer nofollow"' in html


def test_images_are_words() -> None:
    html = render_html('![a "cat"](https://e.example/c.png) ![](x.png)')
    assert (
        html
        == '<p><span class="image">a "cat" (https://e.example/c.png)</span> <span class="image"> (x.png)</span></p>\n'
    )


def test_equal_headings_have_ids_of_their_own() -> None:
    assert re.findall(r'id="([^"]+)"', render_html("# A\n# A\n# !\n")) == ["note-a", "note-a-2", "note-part"]


def test_the_footer_of_a_note_is_for_tools() -> None:
    assert "agentool" not in render_html("### key\n\ntext\n\n<!-- agentool-memory: at=2026-03-14T00:00:00Z -->\n")


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_whatever_is_written_only_harmless_tags_come_out(text: str) -> None:
    html = render_html(text, "memory/x.md", lambda name: "memory/y.md" if name == "y" else "")
    left = ALLOWED.sub("", html)
    assert "<" not in left, (text, html)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("[[A]] [[b|c]] [[d#e]]", [Link("A", "A", True), Link("b", "c", True), Link("d", "d", True)]),
        ("[x](y.md) [z](../z.md#h)", [Link("memory/world/y.md", "x", False), Link("memory/z.md", "z", False)]),
        ("[x](https://e.example/y.md) [x](/etc/y.md) [x](../../../y.md) [x](y.png)", []),
        ("`[[A]]`\n```\n[[B]]\n```\n~~~\n[[C]]\n~~~\n", []),
        ("![x](y.md)", []),
        ("`" * 300 + " ".join("`" * n for n in range(300, 0, -1)) + "[[A]]", [Link("A", "A", True)]),
    ],
)
def test_links_are_found_where_they_are_links(text: str, result: list[Link]) -> None:
    assert find_links(text, "memory/world/a.md") == result
