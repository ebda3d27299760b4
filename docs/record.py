"""Records the terminal session of the README as an animated picture: runs real commands, and draws what they print.

    ./dev record      writes docs/demo.svg

The picture is one SVG with CSS animations: every browser plays it, and nothing is loaded from elsewhere. Whoever
prefers reduced motion sees the last frame.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

PICTURE = Path(__file__).parent / "demo.svg"
COLUMNS = 100
ROWS = 26
CHARACTER_WIDTH = 8.4
LINE_HEIGHT = 19
MARGIN = 18
TITLE_HEIGHT = 34
SECONDS_PER_KEY = 0.035
SECONDS_PER_COMMAND = 1.6  # to read what it printed
LAST_SECONDS = 4.0
SCENES: tuple[tuple[str, str], ...] = (
    ("", "commonplace init"),
    ("", 'commonplace remember "The launch is on 12 November. Ann owns it."'),
    ("# plans change", 'commonplace remember "The launch is on 26 November."'),
    ("# the next session asks", 'commonplace search "when is the launch?"'),
    (
        "# it is a Markdown file: edit it with anything",
        "sed -i 's/26 Nov/27 Nov/' .commonplace/agents/*/memory/daily/*.md",
    ),
    ("", 'commonplace search "when is the launch?"'),
)
STYLES = {"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "36": "cyan", "9": "struck"}
_ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


class Line(NamedTuple):
    """A line of the screen as SVG, and when it appears. `width` is that of a command that is being typed."""

    markup: str
    at: float
    typed: int = 0


def main() -> None:
    lines = [*_play()]
    PICTURE.write_text(_draw(lines), encoding="utf-8")
    print(f"wrote {PICTURE.name}: {len(lines)} lines, {lines[-1].at + LAST_SECONDS:.0f} seconds")


def _play() -> Iterator[Line]:
    """Run the commands in a new folder and yield the lines that a terminal would show."""
    now = 0.5
    with tempfile.TemporaryDirectory() as folder:
        for comment, command in SCENES:
            if comment:
                yield Line(_span(comment, "dim"), now)
                now += 0.6
            yield Line(f"{_span('$ ', 'green')}{_span(command, 'bold')}", now, len(command) + 2)
            now += len(command) * SECONDS_PER_KEY + 0.3
            for text in _run(command, Path(folder)):
                yield Line(_colour(text), now)
            now += SECONDS_PER_COMMAND
            yield Line("", now)


def _run(command: str, folder: Path) -> list[str]:
    """Return what a command prints on a terminal of this width, with its colours."""
    environment = {
        **os.environ,
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "COLUMNS": str(COLUMNS),
        "TERM": "xterm-256color",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        output = b"".join(_read_all(ours))
    os.close(ours)
    if process.returncode:
        raise SystemExit(f"{shlex.quote(command)} failed:\n{output.decode()}")
    text = output.decode().replace("\r\n", "\n")
    text = text.replace(str(folder.resolve()), "~").replace(str(folder), "~")
    return [part for line in text.splitlines() for part in _wrap(line)]


def _read_all(handle: int) -> Iterator[bytes]:
    """Yield what a program prints on its terminal, until it ends."""
    while True:
        try:
            data = os.read(handle, 65536)
        except OSError:  # how Linux says that nobody has the terminal open any more
            return
        if not data:
            return
        yield data


def _wrap(line: str) -> list[str]:
    """Return a line as a terminal breaks it; colours are short enough to be left out of account."""
    plain = _ESCAPE.sub("", line)
    if len(plain) <= COLUMNS:
        return [line]
    return [plain[start : start + COLUMNS] for start in range(0, len(plain), COLUMNS)]


def _colour(line: str) -> str:
    """Return a line with ANSI colours as SVG."""
    parts = _ESCAPE.split(line)
    markup = escape(parts[0])
    style = ""
    for codes, text in zip(parts[1::2], parts[2::2], strict=True):
        styles = [STYLES[code] for code in codes.split(";") if code in STYLES]
        style = " ".join(styles)
        markup += _span(text, style) if style else escape(text)
    return markup


def _span(text: str, style: str) -> str:
    return f'<tspan class="{style}">{escape(text)}</tspan>' if text else ""


def _draw(lines: list[Line]) -> str:
    """Return the picture: every line fades in at its time, and the screen scrolls when it is full."""
    total = lines[-1].at + LAST_SECONDS
    width = round(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN)
    height = ROWS * LINE_HEIGHT + 2 * MARGIN + TITLE_HEIGHT
    rules: list[str] = []
    drawn: list[str] = []
    for number, line in enumerate(lines):
        rules.append(_appear(f"l{number}", line.at, total))
        y = number * LINE_HEIGHT + LINE_HEIGHT
        drawn.append(f'<text id="l{number}" y="{y}" xml:space="preserve">{line.markup}</text>')
        if line.typed:
            cover = line.typed * CHARACTER_WIDTH
            rules.append(_type(f"c{number}", line, total))
            top = number * LINE_HEIGHT + 4
            drawn.append(
                f'<rect id="c{number}" class="cover" x="{2 * CHARACTER_WIDTH:g}" y="{top}" width="{cover:g}" '
                f'height="{LINE_HEIGHT}"/>'
            )
    rules.append(_scroll(lines, total))
    return _PAGE.format(
        width=width,
        height=height,
        total=f"{total:.2f}",
        rules="\n".join(rules),
        drawn="\n".join(drawn),
        margin=MARGIN,
        top=TITLE_HEIGHT + MARGIN,
        inner=ROWS * LINE_HEIGHT + 6,
        end=-max(0, len(lines) - ROWS) * LINE_HEIGHT,
        middle=width // 2,
    )


def _appear(name: str, at: float, total: float) -> str:
    share = 100 * at / total
    return (
        f"@keyframes {name} {{ 0%, {share:.2f}% {{ opacity: 0 }} {share + 0.01:.2f}%, 100% {{ opacity: 1 }} }}\n"
        f"#{name} {{ animation-name: {name} }}"
    )


def _type(name: str, line: Line, total: float) -> str:
    """Return the rule that uncovers a command as if it were typed."""
    first = 100 * line.at / total
    last = 100 * (line.at + line.typed * SECONDS_PER_KEY) / total
    moved = f"transform: translateX({line.typed * CHARACTER_WIDTH:g}px)"
    return (
        f"@keyframes {name} {{ 0%, {first:.2f}% {{ transform: none; opacity: 1 }}"
        f" {last:.2f}% {{ {moved}; opacity: 1 }} {last + 0.01:.2f}%, 100% {{ {moved}; opacity: 0 }} }}\n"
        f"#{name} {{ animation-name: {name} }}"
    )


def _scroll(lines: list[Line], total: float) -> str:
    """Return the rule that moves the screen up so that the newest line is visible."""
    steps = ["0% { transform: none }"]
    by = 0
    for number, line in enumerate(lines):
        needed = max(0, number + 1 - ROWS) * LINE_HEIGHT
        if needed > by:
            share = 100 * line.at / total
            steps.append(f"{share:.2f}% {{ transform: translateY(-{by}px) }}")
            steps.append(f"{share + 0.01:.2f}% {{ transform: translateY(-{needed}px) }}")
            by = needed
    steps.append(f"100% {{ transform: translateY(-{by}px) }}")
    return f"@keyframes scroll {{ {' '.join(steps)} }}"


_PAGE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" \
role="img" aria-label="A terminal session with commonplace">
<style>
text, tspan {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d8dee9 }}
.bold {{ font-weight: 600; fill: #eceff4 }} .dim {{ fill: #8b95a7 }} .red {{ fill: #e06c75 }} .green {{ fill: #98c379 }}
.yellow {{ fill: #e5c07b }} .cyan {{ fill: #56b6c2 }} .struck {{ text-decoration: line-through }}
.cover {{ fill: #1e222a }}
#screen *, #screen {{ animation-duration: {total}s; animation-timing-function: linear; \
animation-iteration-count: infinite; animation-fill-mode: both }}
#screen {{ animation-name: scroll }}
{rules}
@media (prefers-reduced-motion: reduce) {{
  #screen, #screen * {{ animation: none }} #screen {{ transform: translateY({end}px) }} .cover {{ display: none }}
}}
</style>
<rect width="100%" height="100%" rx="9" fill="#1e222a"/>
<circle cx="20" cy="18" r="6" fill="#e06c75"/><circle cx="40" cy="18" r="6" fill="#e5c07b"/>
<circle cx="60" cy="18" r="6" fill="#98c379"/>
<text x="{middle}" y="23" text-anchor="middle" class="dim">commonplace</text>
<svg x="{margin}" y="{top}" width="{width}" height="{inner}"><g id="screen">
{drawn}
</g></svg>
</svg>
"""

if __name__ == "__main__":
    main()
