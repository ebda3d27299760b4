"""Draws the diagrams of the docs as SVG: `python docs/diagrams.py`. Boxes and arrows, in light and in dark."""

from __future__ import annotations

from html import escape
from pathlib import Path

HERE = Path(__file__).parent / "diagrams"
LINE = 17
_PAGE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" \
role="img" aria-label="{label}">
<style>
text {{ font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1f2430 }}
.title {{ font-weight: 600 }} .small {{ font-size: 11.5px; fill: #5b6472 }}
.mono {{ font: 11.5px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #3b4453 }}
.ground {{ fill: #ffffff; stroke: #d9dee7 }} .box {{ fill: #f5f7fa; stroke: #c3cad6 }}
.truth {{ fill: #e9f5ec; stroke: #7fb08f }} .derived {{ fill: #f5f7fa; stroke: #a9b3c3; stroke-dasharray: 5 4 }}
.area {{ fill: none; stroke: #a9b3c3; stroke-dasharray: 2 3 }}
.arrow {{ fill: none; stroke: #5b6472; stroke-width: 1.4 }} #head path {{ fill: #5b6472 }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e4e8ef }} .small {{ fill: #9aa5b5 }} .mono {{ fill: #c3ccd9 }}
  .ground {{ fill: #161a21; stroke: #2c333f }} .box {{ fill: #1f2530; stroke: #3c4656 }}
  .truth {{ fill: #1b2e23; stroke: #4d7a5c }} .derived {{ fill: #1a1f28; stroke: #56606f }} .area {{ stroke: #56606f }}
  .arrow {{ stroke: #9aa5b5 }} #head path {{ fill: #9aa5b5 }}
}}
</style>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" \
orient="auto-start-reverse">
<path d="M0 0 10 5 0 10z"/></marker></defs>
<rect x="0.5" y="0.5" width="{inner_width}" height="{inner_height}" rx="10" class="ground"/>
{content}
</svg>
"""


def picture(width: int, height: int, label: str, *parts: str) -> str:
    return _PAGE.format(
        width=width,
        height=height,
        inner_width=width - 1,
        inner_height=height - 1,
        label=escape(label),
        content="\n".join(parts),
    )


def box(x: int, y: int, width: int, height: int, title: str, *lines: str, kind: str = "box") -> str:
    """Return a box: a title, then small lines; one that starts with a backquote is set as code."""
    top = y + 22
    parts = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" class="{kind}"/>']
    parts.append(f'<text x="{x + 12}" y="{top}" class="title">{escape(title)}</text>')
    for number, line in enumerate(lines, 1):
        style = "mono" if line.startswith("`") else "small"
        parts.append(
            f'<text x="{x + 12}" y="{top + number * LINE + 2}" class="{style}">{escape(line.strip("`"))}</text>'
        )
    return "".join(parts)


def arrow(points: str, words: str = "", at: tuple[int, int] = (0, 0), *, both: bool = False) -> str:
    start = ' marker-start="url(#head)"' if both else ""
    text = f'<text x="{at[0]}" y="{at[1]}" class="small" text-anchor="middle">{escape(words)}</text>' if words else ""
    return f'<polyline points="{points}" class="arrow"{start} marker-end="url(#head)"/>{text}'


def how_it_works() -> str:
    return picture(
        800,
        376,
        "Agents, programs and people write Markdown pages. History keeps every version. An index derived from the pages "
        "serves search and the prompt context, which agents, programs and people read.",
        box(24, 20, 206, 72, "Agents", "Claude Code, Codex, Cursor, …", "over MCP"),
        box(24, 104, 206, 72, "Your programs", "Python, HTTP, LangGraph,", "OpenAI, Anthropic, …"),
        box(24, 188, 206, 54, "You", "your editor, git, the web page"),
        box(24, 254, 206, 72, "Notes you have", "Obsidian, ChatGPT, mem0, …", "by import"),
        box(
            310,
            88,
            200,
            90,
            "Markdown pages",
            "the truth: readable,",
            "editable, one folder",
            "`.commonplace/`",
            kind="truth",
        ),
        box(310, 222, 200, 72, "History", "every version, who, when;", "undo, forget"),
        box(590, 20, 190, 72, "Index", "words and embeddings;", "derived, can be deleted", kind="derived"),
        box(590, 126, 190, 72, "Search", "what fits a question, with", "page, lines, author, score"),
        box(590, 232, 190, 90, "Prompt context", "what a model reads first,", "in a token budget,", "with a receipt"),
        arrow("230,56 270,56 270,112 308,112"),
        arrow("230,136 308,136"),
        arrow("230,215 270,215 270,152 308,152"),
        arrow("230,290 284,290 284,168 308,168"),
        arrow("410,178 410,220"),
        arrow("510,133 550,133 550,56 588,56"),
        arrow("685,92 685,124"),
        arrow("685,198 685,230"),
        arrow("685,322 685,354 11,354 11,56 22,56", "read by agents, programs and you", (400, 347)),
        arrow("11,140 22,140"),
        arrow("11,215 22,215"),
    )


def scopes() -> str:
    return picture(
        800,
        318,
        "A home has pages that all agents share, and pages of each agent that only that agent sees.",
        '<rect x="16" y="16" width="768" height="286" rx="9" class="area"/>',
        '<text x="30" y="40" class="title">One home:</text>',
        '<text x="116" y="40" class="mono">.commonplace/</text>',
        box(32, 56, 736, 102, "Shared: every agent sees it", kind="truth"),
        box(48, 90, 166, 54, "World topics", "`memory/world/`"),
        box(226, 90, 166, 54, "Global records", "`memory/global/`"),
        box(404, 90, 166, 54, "Channel records", "`memory/channels/`"),
        box(582, 90, 170, 54, "Skills, directives", "`skills/ directives/`"),
        box(
            32,
            174,
            360,
            114,
            "Agent main: only main sees it",
            "`agents/main/`",
            "days, curated page, working notes,",
            "handoff, scratchpad,",
            "sessions (transcripts)",
        ),
        box(
            408,
            174,
            360,
            112,
            "Agent scout: only scout sees it",
            "`agents/scout/`",
            "days, curated page, working notes,",
            "handoff, scratchpad,",
            "sessions (transcripts)",
        ),
    )


def truth() -> str:
    return picture(
        800,
        190,
        "Two notes about one fact: the newer replaces the older, and search shows both in that order.",
        box(20, 24, 230, 56, "2 September", "The launch is on 12 November."),
        box(20, 110, 230, 56, "3 October", "The launch is on 26 November."),
        arrow("125,110 125,82", "replaces", (158, 100)),
        box(320, 58, 160, 74, "Search", "“When is the launch?”", "links both by rule"),
        arrow("250,52 285,52 285,84 318,84"),
        arrow("250,138 285,138 285,108 318,108"),
        box(
            540,
            30,
            242,
            130,
            "Hit",
            "The launch is on 26 November.",
            "was: The launch is on 12 November.",
            "with page, lines and date",
            "",
            "as of 9 September: the older one",
        ),
        arrow("480,96 538,96"),
    )


def context() -> str:
    return picture(
        800,
        216,
        "Sections with priorities share one token budget. The result is a text and a receipt.",
        box(
            20,
            20,
            240,
            170,
            "Sections with priorities",
            "handoff of the last session",
            "directives, skills",
            "facts about user and channel",
            "scratchpad, curated page",
            "recent days, working notes",
            "what fits the question",
            "a map of what else there is",
        ),
        box(
            322,
            58,
            186,
            94,
            "Token budget",
            "every section gets a floor;",
            "the rest is shared;",
            "long items are cut inside",
        ),
        box(570, 18, 212, 84, "Text", "what the model reads first;", "what was remembered", "is marked as data"),
        box(570, 124, 212, 72, "Receipt", "every line: page, author, date;", "what was cut, and why", kind="derived"),
        arrow("260,105 320,105"),
        arrow("508,92 540,92 540,60 568,60"),
        arrow("508,118 540,118 540,158 568,158"),
    )


PICTURES = {"how-it-works": how_it_works, "scopes": scopes, "truth": truth, "context": context}

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8")
