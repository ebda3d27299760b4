"""The skills in a prompt context: all by name and description, and the rules of those that fit.

If there are too many rules for the budget, those of skills that fit the query come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import isclose

from ..errors import CommonplaceError, PageNotFound
from ..framing import (
    Title,
    cut_rules,
    cut_start,
    estimate_tokens,
    fence,
    list_item,
    quote_line,
    quote_title,
    quote_value,
)
from ..framing import weigh_tokens as weigh
from ..home import Home
from ..instructions import Rule, read_rule
from ..model import Skill
from ..storage.history import describe_author
from ..storage.records import SKILL_PAGE, parse_skill
from . import OVER_BUDGET
from .budget import ContextRequest, Section
from .items import SEPARATOR_TOKENS, Cut, IsApproved, Part, PlainItem, Source, Span

TITLE: Title = "Available Skills"
_FOLLOW = "Follow a skill's instructions when you do what it describes; they change nothing else."
_BRIEF_CHARACTERS = 100  # of a description
_MAX_SKILLS = 1000
_MIN_SKILL_TOKENS = 6
_MIN_RULES_TOKENS = 40.0
_FLOOR_TOKENS = 30
_FEW_RULES_TOKENS = 120  # all rules together are shown first if they take no more,
_FEW_RULES_SHARE = 1 / 4  # or no more than this share of a large budget
_LARGE_BUDGET_TOKENS = 2000
_MAX_FLOOR_SHARE = 1 / 3  # of the budget: rules of skills that fit the query
_FIT_SHARE = 1 / 3  # of the words of a skill's name and description: a query that has this many is about it
_DESCRIBED_WEIGHT = 3  # of a word of the query in a name or a description; one in the rules counts as one
_FOLLOW_TOKENS = weigh(f"{_FOLLOW}\n\n")


def skills(home: Home, request: ContextRequest) -> Section | None:
    """Return the skills that a user may see; if there are more than the limit could name, the first ones."""
    items: list[SkillItem] = []
    warnings: list[str] = []
    proposals = 0
    most = _MAX_SKILLS if request.limit is None else min(_MAX_SKILLS, request.limit // _MIN_SKILL_TOKENS + 1)
    words = _words(request.query or "")
    folders = home.storage.pages.list_folders(home.layout.skills)
    paths = {folder: f"{home.layout.skills}/{folder}/{SKILL_PAGE}" for folder in folders[:most]}
    read = home.storage.pages.page_reader([*paths.values()])
    for folder, path in paths.items():
        try:
            text = read(path).text
        except PageNotFound:
            continue
        except CommonplaceError as error:
            warnings.append(str(error))
            continue
        rule = read_rule(home, path, text)
        proposals += bool(rule.proposal)
        skill = _parse(home, path, folder, rule.text)
        if skill and skill.is_visible_to(request.user):
            items.append(_make_item(home, skill, rule, words))
            warnings += [skill.warning] if skill.warning else []
    items.sort(key=_name)
    has_registry = "registry" in home.toolsets
    brief = "Read these with getSkill first:" if has_registry else f"Read {home.layout.skills}/NAME/{SKILL_PAGE} first:"
    left_out = tuple(Cut(f"{home.layout.skills}/{folder}/{SKILL_PAGE}", 0, OVER_BUDGET) for folder in folders[most:])
    intro = "".join(waiting_line(proposals, "skill"))
    if not items and not intro and not warnings:
        return None
    return SkillsSection(
        TITLE,
        72,
        items,
        intro,
        floor_tokens=_find_floor(items, brief, request.limit),
        name_tokens=_FLOOR_TOKENS,
        weight=3,
        has_own_words=bool(proposals),
        left_out=left_out,
        warnings=tuple(warnings),
        brief=brief,
    )


def _find_floor(items: Sequence[SkillItem], brief: str, limit: int | None) -> int:
    """Return how many tokens the skills get at least: enough for all rules if they are few, and otherwise for those
    of skills that fit the query."""
    if limit is None:
        return _FLOOR_TOKENS
    everything = sum(item.cost for item in items) + _FOLLOW_TOKENS
    few = limit * _FEW_RULES_SHARE if limit >= _LARGE_BUDGET_TOKENS else 0.0
    if everything <= max(_FEW_RULES_TOKENS, few):
        return max(_FLOOR_TOKENS, int(everything) + 1)
    rules = sum(item.cost for item in items if item.fits_query)
    lines = sum(weigh(f"{item.brief}\n") for item in items) + _weigh_brief(brief)
    needed = rules + lines + _FOLLOW_TOKENS if rules else 0.0
    return int(max(_FLOOR_TOKENS, min(needed, limit * _MAX_FLOOR_SHARE)))


def _weigh_brief(brief: str) -> float:
    return weigh(f"{brief}\n\n")


def _parse(home: Home, path: str, folder: str, text: str) -> Skill | None:
    with suppress(PageNotFound):
        return parse_skill(text, home.storage.pages, path, folder, alone=True) if text.strip() else None
    return None


def _name(item: SkillItem) -> str:
    return item.skill.name


def _words(text: str) -> set[str]:
    """Return the words of a text that say what it is about."""
    if not text.strip():
        return set()
    from ..index.tokenizer import tokenize_query

    return {form for word in tokenize_query(text) if not word.is_function_word for form in word.forms}


def _make_item(home: Home, skill: Skill, rule: Rule, words: set[str]) -> SkillItem:
    head = home.storage.history.head(skill.path)
    author = rule.approved.by if rule.approved else describe_author(head.by) if head else ""
    text = rule.text
    first = len(text) - len(text.lstrip("\n")) + 1
    last = first + text.strip("\n").count("\n")
    about = _words(f"{skill.name.replace('_', ' ')} {skill.description}") if words else set()
    described = words & about
    hits = _DESCRIBED_WEIGHT * len(described) + (len(words & _words(skill.instructions)) if words else 0)
    name = skill.name if "registry" in home.toolsets else skill.path.split("/")[-2]
    return SkillItem(
        skill,
        name,
        author,
        first,
        last,
        not rule.proposal,
        len(described) >= max(1, len(about) * _FIT_SHARE),
        (-hits, skill.name),
    )


@dataclass(frozen=True)
class SkillItem(PlainItem):
    """A skill. `fit` shows it whole or, in less room, by name and description."""

    skill: Skill
    short_name: str  # by which its rules can be read
    author: str
    first_line: int
    last_line: int
    is_current: bool
    fits_query: bool
    rank: tuple[int, str]

    @cached_property
    def cost(self) -> float:
        return weigh(self._render(self.skill.instructions.strip("\n"))) + SEPARATOR_TOKENS

    @cached_property
    def brief(self) -> str:
        owner = "" if self.skill.owner == "global" else f" (owner: {quote_title(_shorten(self.skill.owner))})"
        description = quote_value(_shorten(self.skill.description))
        return f"{self.name_only}{owner}: {description}"

    @property
    def name_only(self) -> str:
        return f"- {quote_title(_shorten(self.short_name))}"

    @property
    def source(self) -> str:
        return f"{self.skill.path}#L{self.first_line}-L{self.last_line}"

    def spans(self) -> Iterator[Span]:
        if self.is_current:
            yield self.skill.path, self.first_line, self.last_line

    def keep_approved(self, is_approved: IsApproved) -> SkillItem | None:
        is_known = self.is_current and is_approved((self.skill.path, self.first_line, self.last_line))
        return self if is_known else None

    def leave_out(self, reason: str) -> Cut:
        return Cut(self.source, max(1, int(self.cost)), reason)

    def fit(self, room: float) -> Part | None:
        """Return the skill with all its rules or, in less room, with whole sentences of them."""
        if self.cost <= room:
            return self._part(self._render(self.skill.instructions.strip("\n")))
        note = f"\n(Some of these rules are left out here: read {quote_line(self.skill.path)} first.)"
        available = room - SEPARATOR_TOKENS - weigh(note)
        if available < _MIN_RULES_TOKENS:
            return None
        rules, _ = cut_rules(self.skill.instructions.strip("\n"), lambda text: weigh(self._render(text)) <= available)
        if not rules:
            return None
        rest = max(1, int(self.cost) - estimate_tokens(rules))
        cut = Cut(self.source, rest, f"{OVER_BUDGET}: some sentences cut")
        return self._part(self._render(rules) + note)._replace(cut=(cut,))

    def _part(self, text: str) -> Part:
        tokens = estimate_tokens(text)
        source = Source(self.skill.path, self.first_line, self.last_line, tokens, False, self.is_current)
        return Part(text, "", (source,))

    def show_brief(self, text: str) -> Part:
        source = Source(self.skill.path, self.first_line, self.last_line, estimate_tokens(text), True, self.is_current)
        cut = Cut(self.source, max(1, int(self.cost - weigh(text))), f"{OVER_BUDGET}: only its name and description")
        return Part(text, "", (source,), (cut,))

    def _render(self, rules: str) -> str:
        skill = self.skill
        title = f"### {quote_title(_shorten(skill.name))} (owner: {quote_title(_shorten(skill.owner))})"
        lines = [title, "", list_item("description", skill.description, skill.path)]
        if rules:
            lines.append(f"- instructions:\n\n{fence(rules, skill.path, self.author, 'rules')}")
        return "\n".join(lines)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _BRIEF_CHARACTERS:
        return line
    return cut_start(line, lambda start: len(start) < _BRIEF_CHARACTERS) + " …"


@dataclass(frozen=True)
class SkillsSection(Section):
    """All skills by name and description first; then rules, as far as they fit. `brief` says how to read the others."""

    brief: str = ""

    @cached_property
    def wish(self) -> float:
        return super().wish + (_FOLLOW_TOKENS if self.items else 0.0)

    def _fit_items(self, room: float) -> tuple[list[Part], list[Cut]]:
        items = [item for item in self.items if isinstance(item, SkillItem)]
        if not items:
            return [], []
        everything = sum(item.cost for item in items) + _FOLLOW_TOKENS
        if everything <= room or isclose(everything, room):
            return [Part(_FOLLOW), *(part for item in items if (part := item.fit(item.cost)))], []
        ranked = sorted(items, key=_rank)
        room -= _weigh_brief(self.brief)
        lines = _choose_lines(ranked, room)
        left = room - _FOLLOW_TOKENS - sum(weigh(f"{line}\n") for line in lines.values())
        whole = _choose_whole(ranked, lines, left)
        parts = [Part(_FOLLOW)] if whole else []
        parts += [whole[item.skill.name] for item in items if item.skill.name in whole]
        brief = [(item, lines[item.skill.name]) for item in items if item.skill.name in {*lines} - {*whole}]
        if brief:
            parts += [Part(self.brief), *(item.show_brief(line) for item, line in brief)]
        missing = [item.leave_out(OVER_BUDGET) for item in items if item.skill.name not in {*lines, *whole}]
        return parts, [*(cut for part in parts for cut in part.cut), *missing]


def _rank(item: SkillItem) -> tuple[int, str]:
    return item.rank


def _choose_lines(ranked: Sequence[SkillItem], room: float) -> dict[str, str]:
    """Return a line for as many skills as fit: with descriptions where all fit so, otherwise some by name alone."""
    names = {item.skill.name: weigh(f"{item.name_only}\n") for item in ranked}
    left = room
    lines: dict[str, str] = {}
    for item in ranked:
        if names[item.skill.name] <= left:
            lines[item.skill.name] = item.name_only
            left -= names[item.skill.name]
    for item in ranked:
        more = weigh(f"{item.brief}\n") - names[item.skill.name]
        if item.skill.name in lines and more <= left:
            lines[item.skill.name] = item.brief
            left -= more
    return lines


def _choose_whole(ranked: Sequence[SkillItem], lines: dict[str, str], left: float) -> dict[str, Part]:
    """Return the skills that are shown with their rules; the first one, rather than none, with some of them."""
    whole: dict[str, Part] = {}
    for item in ranked:
        room = left + weigh(f"{lines.get(item.skill.name, '')}\n")
        part = item.fit(room) if item.cost <= room or not whole else None
        if part:
            whole[item.skill.name] = part
            left = room - weigh(part.text) - SEPARATOR_TOKENS
    return whole


def waiting_line(count: int, what: str) -> list[str]:
    """Return a line with the number of rules that wait for a person, but not their text."""
    if not count:
        return []
    subject = f"{count} {what} waits" if count == 1 else f"{count} {what}s wait"
    return [f"({subject} for a person's approval: `commonplace proposals` lists what is left out.)"]
