"""Texts that imitate our own structure: whatever we write into a page must survive all of them."""

from __future__ import annotations

from hypothesis import strategies as st

from commonplace.storage.names import is_blank

LINES = [
    "### x",
    "###",
    "### key",
    "## 09:30",
    "# 2026-03-14",
    "---",
    "...",
    "```",
    "```python",
    "~~~",
    "````",
    "   ```",
    "<!-- agentool-memory: at=2026-03-14T09:26:53Z -->",
    "<!-- agentool-memory: at=2026-03-14T09:26:53Z tags=a|b -->",
    "<!-- agentool-memory: broken",
    "\\### x",
    "\\\\## 09:30",
    "\\```",
    "\\<!-- agentool-memory: x -->",
    "key: value",
    "",
    "  ",
    "plain words",
    "- item",
    "日本語のメモ",
    "\U0001f642",
    "tab\there",
    "nel\x85ls\u2028ps\u2029",
    "\x0b\x0c\x1c",
    "\ufeffbom",
]

KEPT = st.characters(exclude_characters="\0", exclude_categories=["Cs"])  # others are refused
lines = st.one_of(
    st.sampled_from(LINES), st.sampled_from(LINES).map(lambda line: line + "\r"), st.text(KEPT, max_size=20)
)
contents = st.lists(lines, max_size=12).map("\n".join)
texts = st.one_of(contents, st.text(KEPT, max_size=200)).filter(lambda text: _encodable(text))
names = st.one_of(
    st.text(min_size=1, max_size=40),
    st.sampled_from(
        ["..", ".", "CON", "con", "a/b", "A", "a", "é", "e\u0301", "HANDOFF", "handoff", "日本", "x" * 400]
    ),
    st.sampled_from(["nul.txt", " lead", "trail.", "-dash", "~", "a~b", "a\\b", "### x", "---", "ß", "ss", "ﬁ", "fi"]),
).filter(lambda text: _is_accepted(text))
keys = names.map(lambda text: " ".join(text.split())).filter(lambda text: text.strip() == text and text)
tags = st.lists(names.map(str.strip), max_size=3)
json_values = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)


def _is_accepted(name: str) -> bool:
    """Whether a name is not refused."""
    return _encodable(name) and "\0" not in name and not is_blank(name) and len(name.strip().splitlines()) == 1


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)
