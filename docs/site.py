"""Builds the documentation site: collects its pages, makes their links fit, and runs Zensical. Needs no network.

./dev site            writes site/, which opens in a browser from the disk, search included
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SITE = ROOT / "site"
# Pages of the repository that are not in docs/, and their names on the site.
OTHER_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "packaging/README.md": "packaging.md",
    "bench/data/README.md": "bench-data.md",
    "src/commonplace/embedding/static/MODEL_CARD.md": "model-card.md",
}
SEARCH_SCRIPT = "iframe-worker.js"  # search from the disk needs it
REMOTE_SEARCH_SCRIPT = "https://unpkg.com/iframe-worker/shim"
WIDE_PAGE = "---\nhide: [toc]\n---\n"  # the table of the README needs the room
NOT_PUBLISHED = {".py", ".toml"}
_LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)]*)?\)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_WARNING = re.compile(r"^(?:Warning|Error): (.*)\n.*\[ (\S+) \]", re.MULTILINE)
_CODE = re.compile(r"(^[ ]*(`{3,}).*?^[ ]*\2[ ]*$)", re.MULTILINE | re.DOTALL)


class BrokenSite(Exception):
    """A page that is not in the navigation, or a link that leads nowhere."""


def main() -> None:
    try:
        build(SITE)
    except BrokenSite as error:
        raise SystemExit(str(error)) from None
    print(f"wrote {SITE.name}/: open {SITE.name}/index.html")


def build(target: Path) -> None:
    """Build the site and put it at `target`. Raise BrokenSite for a broken link."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        collect(project / "pages")
        shutil.copy(ROOT / "docs/zensical.toml", project)
        done = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict"], cwd=project, capture_output=True, text=True
        )
        if done.returncode:
            output = _COLOUR.sub("", done.stdout)
            problems = [f"{place}: {problem}" for problem, place in _WARNING.findall(output)]
            raise BrokenSite("\n".join(problems) or output + done.stderr)
        _load_nothing_from_elsewhere(project / "site")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(project / "site", target)


def _load_nothing_from_elsewhere(site: Path) -> None:
    """Let pages load our copy of the script that Zensical would take from a server."""
    for page in site.rglob("*.html"):
        copy = posixpath.relpath(SEARCH_SCRIPT, page.parent.relative_to(site).as_posix())
        page.write_text(page.read_text(encoding="utf-8").replace(REMOTE_SEARCH_SCRIPT, copy), encoding="utf-8")


def collect(target: Path) -> None:
    """Copy all pages and pictures of the site to `target`, with links as they are on the site."""
    for source, name in sorted(files().items()):
        page = target / name
        page.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            front_matter = WIDE_PAGE if name == "index.md" else ""
            page.write_text(front_matter + with_site_links(source, name), encoding="utf-8")
        else:
            shutil.copy(ROOT / source, page)


def files() -> dict[str, str]:
    """Return the files of the site: path in the repository, name on the site."""
    docs = ROOT / "docs"
    found = {
        f"docs/{path.relative_to(docs).as_posix()}": path.relative_to(docs).as_posix()
        for path in docs.rglob("*")
        if path.is_file() and path.suffix not in NOT_PUBLISHED and "__pycache__" not in path.parts
    }
    return {**found, **OTHER_PAGES}


def with_site_links(source: str, name: str) -> str:
    """Return a page's text with its links rewritten: a file that is not on the site is named, not linked."""
    names = files()

    def rewrite(link: re.Match[str]) -> str:
        label, target, anchor = link[1], link[2], link[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path not in names:
            return label.strip("[]")
        return f"{label}({posixpath.relpath(names[path], posixpath.dirname(name) or '.')}{anchor})"

    parts = _CODE.split((ROOT / source).read_text(encoding="utf-8"))
    # The pattern has two groups, so parts repeat: text, code, fence.
    return "".join(_LINK.sub(rewrite, part) if at % 3 == 0 else part for at, part in enumerate(parts) if at % 3 < 2)


if __name__ == "__main__":
    main()
