"""Which pages another program renamed: by their bytes or, if they were edited as well, by their lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

MAX_COMPARED_PAGES = 50  # on either side that are compared line by line
_MAX_BYTES = 1_000_000  # of a page that is
_MIN_SHARE = 0.6  # of the lines of both pages that are in both
_MIN_LINES = 2  # that are in both
_MIN_LEAD = 0.2  # over the next page that may be meant
_FENCE = b"---"


def match_renames(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    """Return the new paths of pages that are gone, by their old ones; only those that are certain."""
    by_bytes = {data: path for path, data in gone.items()}
    renames: dict[str, str] = {}
    for path, data in new.items():
        if data in by_bytes:
            renames[by_bytes.pop(data)] = path
    rest = {path: data for path, data in gone.items() if path not in renames}
    others = {path: data for path, data in new.items() if path not in renames.values()}
    return renames | _match_lines(rest, others)


def _match_lines(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    if not gone or not new or max(len(gone), len(new)) > MAX_COMPARED_PAGES:
        return {}
    old_lines = {path: _count_lines(data) for path, data in gone.items() if len(data) <= _MAX_BYTES}
    new_lines = {path: _count_lines(data) for path, data in new.items() if len(data) <= _MAX_BYTES}
    shares = {(old, path): _compare(one, two) for old, one in old_lines.items() for path, two in new_lines.items()}
    return {old: path for (old, path), share in shares.items() if share >= _MIN_SHARE and _leads(shares, old, path)}


def _leads(shares: Mapping[tuple[str, str], float], old: str, new: str) -> bool:
    """Return whether two pages are much more alike than either is like another."""
    rivals = [share for pair, share in shares.items() if (pair[0] == old) != (pair[1] == new)]
    return all(shares[old, new] - share >= _MIN_LEAD for share in rivals)


def _count_lines(data: bytes) -> Counter[bytes]:
    """Return the lines of a page that say something: no front matter, headings or comments, which many pages share."""
    lines = [line.strip() for line in data.splitlines()]
    if lines[:1] == [_FENCE] and _FENCE in lines[1:]:
        lines = lines[lines.index(_FENCE, 1) + 1 :]
    return Counter(line for line in lines if line and not line.startswith((b"#", b"<!--")))


def _compare(one: Counter[bytes], two: Counter[bytes]) -> float:
    """Return the share of the lines of two pages that are in both; 0 if there are too few."""
    common = (one & two).total()
    return 2 * common / (one.total() + two.total()) if common >= _MIN_LINES else 0.0
