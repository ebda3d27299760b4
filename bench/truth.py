"""Whether search serves what stopped being true: which of two versions of a fact is first, and what is marked.

Run: ./dev truth [PART...] [--sets FOLDER] [--provider static] [--half tune|unseen] [--misses FILE] [--show].
Parts: `changes` and `pairs` (our own, bench/data; `pairs` are judged by the rules alone), `facts`
(FactConsolidation), `retractions` (memora-weekly), `unrelated`
(pairs of sentences that have nothing to do with each other), `time`. Sets have the form of `./dev ruler`; they are not
part of the project, and what needs a set that is not there is left out, and says so.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ruler import ask, mean, ranking_of, read_questions, unpack

from commonplace import Memory
from commonplace.facts.statements import lookup_keys, split_statements, stored_keys
from commonplace.facts.versions import judge
from commonplace.model import Hit, Successor, parse_citation
from commonplace.search import pipeline
from commonplace.search.moments import holds_by
from commonplace.tools import catalog

ROOT = Path(__file__).parent.parent
DATA = ROOT / "bench/data"
HALVES = ("tune", "unseen")
LIMIT = 10
DEEP_LIMIT = 30  # for a statement that must be among the hits
NOWHERE = 1000  # the rank of what is not among the hits
SEED = 18
UNRELATED_PAIRS = 5000
SENTENCE_WORDS = range(4, 31)
QUERY_WORDS = 4
PER_DAY = 25
TIMED_RUNS = 200
Item = dict[str, Any]
Place = tuple[str, int, int]  # path, first line, last line
Pair = tuple[tuple[str, str], tuple[str, str]]  # of an owner and a sentence


class Note(NamedTuple):
    """One side of a pair of the own set, when it was written."""

    item: Item
    side: str  # `older` or `newer`
    at: datetime

    @property
    def text(self) -> str:
        text: str = self.item[self.side]
        return text


class Verdict(NamedTuple):
    """What became of one pair of the own set."""

    item: Item
    is_found: bool  # the older note is marked with the newer one
    is_first: bool  # the question has the newer note above the older one
    is_noticed: bool  # the reply to the newer write named the older note
    wrong: tuple[str, ...]  # marks that should not be there, in words


def main() -> None:
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "changes": run_changes,
        "pairs": run_pairs,
        "facts": run_facts,
        "retractions": run_retractions,
        "unrelated": run_unrelated,
        "time": run_time,
    }
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("parts", nargs="*", metavar="PART", help=f"which of {', '.join(parts)}; all by default")
    options.add_argument("--sets", type=Path, default=Path("../shared/data/sets"))
    options.add_argument("--provider", default="static")
    options.add_argument("--half", choices=HALVES, help="only this half of the own set")
    options.add_argument("--misses", type=Path, help="write what is missed of the tune half to this file")
    options.add_argument("--entries", type=int, default=10_000, help="size of the memory whose times are taken")
    options.add_argument("--show", action="store_true", help="print the false links")
    given = options.parse_args()
    if unknown := set(given.parts) - set(parts):
        options.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in given.parts or parts:
        parts[name](given)


# --- our own set ---


def run_changes(given: argparse.Namespace) -> None:
    for half in HALVES:
        if given.half in (None, half):
            verdicts = judge_changes(read_items(half), given.provider)
            print(render_changes(half, verdicts), flush=True)
            if half == "tune" and given.misses:
                given.misses.write_text("".join(map(render_miss, verdicts)))


def read_items(half: str) -> list[Item]:
    return [json.loads(line) for line in (DATA / f"changes-{half}.jsonl").read_text().splitlines()]


def judge_changes(items: list[Item], provider: str) -> list[Verdict]:
    """Write all notes in one memory in the order of their dates, then look at every note and ask every question."""
    with tempfile.TemporaryDirectory() as folder:
        now = [datetime.now(UTC)]
        memory = open_memory(Path(folder), "main", provider, now)
        replies = {}
        for note in notes_of(items):
            now[0] = note.at
            replies[note.item["id"], note.side] = memory.call("remember", {"content": note.text})
        now[0] = datetime(2026, 12, 1, 12, tzinfo=UTC)
        shown = {(note.item["id"], note.side): find_note(memory, note) for note in notes_of(items)}
        places = {place_of(hit): name for name, hit in shown.items() if hit}
        return [judge_item(memory, item, shown, places, replies[item["id"], "newer"]) for item in items]


def notes_of(items: list[Item]) -> list[Note]:
    """Return all notes, oldest first, each a minute after the one before on its day."""
    notes = [
        Note(item, side, datetime.fromisoformat(f"{item[f'{side}_at']}T{hour}:00:00+00:00"))
        for side, hour in (("older", "09"), ("newer", "15"))
        for item in items
    ]
    notes.sort(key=lambda note: note.at)
    return [
        note._replace(at=note.at + timedelta(minutes=place)) for note, place in zip(notes, minutes(notes), strict=True)
    ]


def minutes(notes: list[Note]) -> Iterator[int]:
    seen: Counter[datetime] = Counter()
    for note in notes:
        yield seen[note.at]
        seen[note.at] += 1


def find_note(memory: Memory, note: Note) -> Hit | None:
    """Return the note as search shows it to somebody who asks for its own words."""
    hits = memory.search(note.text, limit=DEEP_LIMIT)
    return next(
        (hit for hit in hits if hit.text.endswith(note.text) and hit.at.startswith(f"{note.at:%Y-%m-%d}")), None
    )


def judge_item(
    memory: Memory,
    item: Item,
    shown: dict[tuple[str, str], Hit | None],
    places: dict[Place, tuple[str, str]],
    reply: Any,
) -> Verdict:
    wrong: list[str] = []
    is_found = False
    for side in ("older", "newer"):
        mark = mark_of(shown[item["id"], side])
        if mark is None:
            continue
        successor = note_at(places, mark)
        if item["is_change"] and side == "older" and successor == (item["id"], "newer"):
            is_found = True
        else:
            wrong.append(f"{side} {item[side]!r} by {mark.text!r} ({mark.kind})")
    hits = memory.search(item["question"], limit=LIMIT)
    ranks = [rank_of(hits, shown[item["id"], side]) for side in ("newer", "older")]
    return Verdict(item, is_found, ranks[0] < ranks[1], is_noticed(reply, item["older"]), tuple(wrong))


def note_at(places: dict[Place, tuple[str, str]], successor: Successor) -> tuple[str, str] | None:
    return next((name for place, name in places.items() if overlaps(place, place_of(successor))), None)


def rank_of(hits: list[Hit], note: Hit | None) -> int:
    return next((rank for rank, hit in enumerate(hits) if note and overlaps(place_of(hit), place_of(note))), NOWHERE)


def is_noticed(reply: Any, older: str) -> bool:
    """Return whether the reply to a write names what it replaces or contradicts."""
    named = [*reply.get("supersedes", ()), *reply.get("contradicts", ())]
    return any(each["text"].strip() and each["text"].strip(" -…\n") in older for each in named)


def render_changes(half: str, verdicts: list[Verdict]) -> str:
    heads = f"{'':14}{'pairs':>6}{'changes':>8}{'found':>7}{'right':>7}{'first':>7}{'noticed':>8}{'marks wrong':>12}"
    lines = [f"\nOur own changes, the {half} half", heads, render_row("all", verdicts)]
    for field in ("language", "kind"):
        groups: dict[str, list[Verdict]] = defaultdict(list)
        for verdict in verdicts:
            groups[verdict.item[field]].append(verdict)
        lines += [render_row(name, some) for name, some in groups.items()]
    return "\n".join(lines)


def render_row(name: str, verdicts: list[Verdict]) -> str:
    changes = [verdict for verdict in verdicts if verdict.item["is_change"]]
    found = sum(verdict.is_found for verdict in changes)
    wrong = sum(len(verdict.wrong) for verdict in verdicts)
    shares = (
        share(found, len(changes)),
        share(found, found + wrong),
        share(sum(verdict.is_first for verdict in changes), len(changes)),
    )
    noticed = share(sum(verdict.is_noticed for verdict in changes), len(changes))
    return (
        f"{name:14}{len(verdicts):6}{len(changes):8}"
        + "".join(f"{each:>7}" for each in shares)
        + f"{noticed:>8}{wrong:12}"
    )


def render_miss(verdict: Verdict) -> str:
    item = verdict.item
    lines = [f"  wrong mark: {each}" for each in verdict.wrong]
    if item["is_change"] and not verdict.is_found:
        lines.insert(0, f"  not found: {item['older']!r} -> {item['newer']!r}")
    return f"{item['id']} {item['kind']}\n" + "\n".join(lines) + "\n" if lines else ""


def run_pairs(given: argparse.Namespace) -> None:
    print(
        f"\nPairs judged by the rules alone\n{'':14}{'changes':>8}{'found':>7}{'look-alikes':>12}{'falsely linked':>15}"
    )
    for half in (*HALVES, "later", "fresh", "broad", "broad-unseen", "notes", "notes-unseen"):
        if given.half not in (None, half):
            continue
        items = [json.loads(line) for line in (DATA / f"pairs-{half}.jsonl").read_text().splitlines()]
        linked = [item["is_change"] for item in items if is_reached(item)]
        changes = sum(item["is_change"] for item in items)
        found = share(sum(linked), changes)
        print(f"{half:14}{changes:8}{found:>7}{len(items) - changes:12}{len(linked) - sum(linked):15}", flush=True)


def is_reached(item: Item) -> bool:
    """Return whether the rules link two notes that share a key, without which nothing compares them; where they have
    dates, by the day on which somebody asks."""
    return any(
        (link := judge(one, other))
        and not set(lookup_keys(one)).isdisjoint(stored_keys(other))
        and ("asked_at" not in item or holds_by(one, other, link, day_of(item["newer_at"]), day_of(item["asked_at"])))
        for one in split_statements(item["older"])
        for other in split_statements(item["newer"])
    )


def day_of(text: str) -> int:
    return date.fromisoformat(text).toordinal()


# --- FactConsolidation ---


def run_facts(given: argparse.Namespace) -> None:
    if not has_set(given.sets, "factconsolidation"):
        return
    groups: dict[str, list[Item]] = defaultdict(list)
    for question in read_questions(given.sets, "factconsolidation"):
        groups[question["agent"]].append(question)
    print(f"\nFactConsolidation\n{'':10}{'questions':>10}{'R@10':>7}{'current first':>14}{'marked':>8}{'ms':>6}")
    with tempfile.TemporaryDirectory() as folder:
        home = copy_home(unpack(given.sets, "factconsolidation", Path(folder)), Path(folder) / "memory")
        for agent, questions in groups.items():
            print(judge_facts(open_memory(home, agent, given.provider), agent, questions), flush=True)


def judge_facts(memory: Memory, agent: str, questions: list[Item]) -> str:
    memory.build_index()
    outcomes = [ask(ranking_of(memory), question) for question in questions]
    current_first: list[bool] = []
    marked: list[bool] = []
    for question in questions:
        if "not" not in question:
            continue
        hits = memory.search(question["question"], limit=LIMIT)
        ranks = {side: first_of(hits, question[side]) for side in ("evidence", "not")}
        if ranks["evidence"] < NOWHERE:
            current_first.append(ranks["evidence"] < ranks["not"])
        if ranks["not"] < NOWHERE:
            marked.append(is_marked_with(hits[ranks["not"]], question["evidence"]))
    recall = mean([outcome.recall for outcome in outcomes])
    seconds = mean([outcome.seconds for outcome in outcomes])
    figures = f"{recall:7.3f}{mean(current_first):14.3f}{mean(marked):8.3f}{1000 * seconds:6.1f}"
    return f"{agent:10}{len(questions):10}{figures}"


def first_of(hits: list[Hit], citations: list[str]) -> int:
    """Return the rank of the first hit that has one of the lines."""
    return next((rank for rank, hit in enumerate(hits) if any(covers(hit, each) for each in citations)), NOWHERE)


def is_marked_with(hit: Hit, citations: list[str]) -> bool:
    mark = mark_of(hit)
    return mark is not None and any(covers(mark, each) for each in citations)


# --- retractions ---


def run_retractions(given: argparse.Namespace) -> None:
    if not has_set(given.sets, "memora-weekly"):
        return
    pairs = read_pairs()
    questions = read_questions(given.sets, "memora-weekly")
    with tempfile.TemporaryDirectory() as folder:
        home = copy_home(unpack(given.sets, "memora-weekly", Path(folder)), Path(folder) / "memory")
        rows: list[tuple[bool, bool, bool]] = []
        recalls: list[float] = []
        for agent in sorted({question["agent"] for question in questions}):
            memory = open_memory(home, agent, given.provider, [datetime(2025, 6, 8, 12, tzinfo=UTC)])
            memory.build_index()
            recalls += [ask(ranking_of(memory), each).recall for each in questions if each["agent"] == agent]
            rows += judge_retractions(
                memory, home, [pair for pair in pairs if f"/{agent}/" in pair["older"]], show=given.show
            )
    shown, above, marked = ([row[column] for row in rows] for column in range(3))
    both = [row[1] and row[2] for row in rows]
    print(f"\nRetractions of memora-weekly: {len(rows)} pairs, {mean(shown):.3f} show the older", end="")
    print(f", {mean(above):.3f} have the newer above, {mean(marked):.3f} mark the older", end="")
    print(f", {mean(both):.3f} both; R@10 of its questions {mean(recalls):.3f}", flush=True)


def read_pairs() -> list[Item]:
    return [json.loads(line) for line in (DATA / "retractions.jsonl").read_text().splitlines()]


def judge_retractions(
    memory: Memory, home: Path, pairs: list[Item], *, show: bool
) -> Iterator[tuple[bool, bool, bool]]:
    """Yield for each pair whether search for what both are about shows the older, has the newer above, and marks it."""
    counts = count_words((home / pairs[0]["older"]).parent)
    for pair in pairs:
        hits = memory.search(shared_words(home, pair, counts), limit=DEEP_LIMIT)
        older, newer = (first_of(hits, [pair[side]]) for side in ("older", "newer"))
        is_shown = older < NOWHERE
        is_marked = is_shown and is_marked_with(hits[older], [pair["newer"]])
        if show and not (newer < older and is_marked):
            print(f"  missed: {turn_at(home, pair['older'])[:200]!r} -> {turn_at(home, pair['newer'])[:200]!r}")
        yield is_shown, newer < older, is_marked


def shared_words(home: Path, pair: Item, counts: Counter[str]) -> str:
    """Return the rarest words that both turns have: what somebody would ask with."""
    newer = set(words_of(turn_at(home, pair["newer"])))
    shared = dict.fromkeys(word for word in words_of(turn_at(home, pair["older"])) if word in newer)
    rarest = set(sorted(shared, key=counts.__getitem__)[:QUERY_WORDS])
    return " ".join(word for word in shared if word in rarest)


def count_words(sessions: Path) -> Counter[str]:
    """Return in how many turns each word is."""
    turns = (
        json.loads(line)["content"]
        for file in sessions.glob("*.jsonl")
        for line in file.read_text().split("\n")
        if line
    )
    return Counter(word for turn in turns for word in set(words_of(turn)))


def words_of(text: str) -> list[str]:
    return re.findall(r"[\w'’-]*\w", text.lower())


def turn_at(home: Path, citation: str) -> str:
    lines = parse_citation(citation)
    assert lines
    text: str = json.loads((home / lines.path).read_text().split("\n")[lines.first - 1])["content"]
    return text


# --- what has nothing to do with each other ---


def run_unrelated(given: argparse.Namespace) -> None:
    sentences = {"notes": own_sentences()}
    for name in ("locomo", "realmem"):
        if has_set(given.sets, name):
            with tempfile.TemporaryDirectory() as folder:
                sentences[name] = set_sentences(unpack(given.sets, name, Path(folder)), name)
    pairs = draw_pairs(sentences)
    linked = sum(is_linked(first[1], second[1]) for first, second in pairs)
    print(f"\nUnrelated sentences of {', '.join(sentences)}: {linked} of {len(pairs)} pairs linked")
    for form, write in (("notes", write_days), ("turns of conversations", write_sessions)):
        marks = count_false_marks(pairs, write, show=given.show)
        print(f"all in one memory as {form}: {share(marks, len(pairs))} of the older marked with any of another source")


def own_sentences() -> dict[str, list[str]]:
    """Return the sentences of our own docs, by page."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return {page.name: list(sentences_of(page.read_text())) for page in pages}


def set_sentences(source: Path, name: str) -> dict[str, list[str]]:
    """Return the sentences of a set's sessions, by whose conversation it is."""
    groups: dict[str, list[str]] = defaultdict(list)
    for file in sorted((source / "home/agents").glob("*/sessions/*.jsonl")):
        owner = f"{name} {file.parent.parent.name}" if name == "realmem" else f"{name} {file.name.partition('-')[0]}"
        for line in filter(None, file.read_text().split("\n")):
            groups[owner] += sentences_of(json.loads(line)["content"])
    return groups


def sentences_of(text: str) -> Iterator[str]:
    without_code = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for paragraph in re.split(r"\n\s*\n|\n(?=[-*|#\d])", without_code):
        if paragraph.startswith(("|", "#", ">")):
            continue
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split())):
            words = sentence.lstrip("-*0123456789. ")
            if len(words.split()) in SENTENCE_WORDS:
                yield words


def draw_pairs(sources: dict[str, dict[str, list[str]]]) -> list[Pair]:
    """Return pairs of (owner, sentence) whose owners differ, of all sources alike while they last."""
    dice = random.Random(SEED)
    pools = []
    for groups in sources.values():
        owners = {text: owner for owner, texts in groups.items() for text in texts}
        pools.append([(owner, text) for text, owner in owners.items()])
        dice.shuffle(pools[-1])
    drawn: list[Pair] = []
    while len(drawn) < UNRELATED_PAIRS and (left := [pool for pool in pools if len(pool) > 1]):
        first, second = (dice.choice(left).pop() for _ in range(2))
        if first[0] != second[0]:
            drawn.append((first, second))
    return drawn


def is_linked(older: str, newer: str) -> bool:
    return any(judge(one, other) for one in split_statements(older) for other in split_statements(newer))


def count_false_marks(pairs: list[Pair], write: Callable[..., None], *, show: bool) -> int:
    """Return how many of the first sentences are marked with any of another owner, if all are in one memory."""
    owners = {text: owner for pair in pairs for owner, text in pair}
    marks = 0
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), [first[1] for first, _ in pairs], [second[1] for _, second in pairs])
        memory = open_memory(Path(folder), "main", "none")
        memory.build_index()
        for (owner, text), _ in pairs:
            successor = successor_of(memory, text)
            source = next((other for other in owners if successor and successor in other), "")
            if source and owners[source] != owner:
                marks += 1
                if show:
                    print(f"  false: {text!r} by {successor!r}")
    return marks


def write_days(home: Path, *halves: list[str]) -> None:
    """Write sentences as daily entries, each half after the one before."""
    folder = home / "agents/main/memory/daily"
    folder.mkdir(parents=True, exist_ok=True)
    for day, texts in by_day(halves):
        entries = [f"## 09:{minute:02}\n\n{text}\n" for minute, text in enumerate(texts)]
        (folder / f"{day}.md").write_text(f"# {day}\n\n" + "\n".join(entries))


def write_sessions(home: Path, *halves: list[str]) -> None:
    """Write sentences as turns of a user, each half after the one before."""
    folder = home / "agents/main/sessions"
    folder.mkdir(parents=True, exist_ok=True)
    for day, texts in by_day(halves):
        turns = [{"role": "user", "content": text, "timestamp": f"{day}T09:00:00Z"} for text in texts]
        (folder / f"{day}.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))


def by_day(halves: Iterable[list[str]]) -> Iterator[tuple[str, list[str]]]:
    day = date(2025, 1, 1)
    for half in halves:
        for start in range(0, len(half), PER_DAY):
            yield day.isoformat(), half[start : start + PER_DAY]
            day += timedelta(days=1)


def successor_of(memory: Memory, text: str) -> str:
    hits = memory.search(text, limit=LIMIT)
    mark = mark_of(next((hit for hit in hits if hit.text.endswith(text)), None))
    return mark.text.strip().split("\n")[-1] if mark else ""


# --- time ---


def run_time(given: argparse.Namespace) -> None:
    """Print the CPU time of a search and of a write in a memory of many entries, and what of it versions cost."""
    dice = random.Random(SEED)
    many = timed_sentences(given.sets, given.entries, dice)
    asked = dice.sample(many, TIMED_RUNS)
    with tempfile.TemporaryDirectory() as folder:
        write_days(Path(folder), many)
        memory = open_memory(Path(folder), "main", given.provider)
        memory.build_index()
        with record_time(pipeline, "_mark_versions") as marking:
            searches = [cpu_time(memory.search, text, limit=LIMIT) for text in asked]
        with record_time(catalog, "_describe_changes") as noticing:
            writes = [cpu_time(memory.call, "remember", {"content": f"{text} now"}) for text in asked]
    print(f"\nCPU time in ms, median (95th percentile), with {given.entries} entries")
    for name, whole, part in (("a search", searches, marking), ("a write", writes, noticing)):
        print(f"{name:10}{render_times(whole)}, of which versions {render_times(part)}")


def timed_sentences(sets: Path, count: int, dice: random.Random) -> list[str]:
    """Return sentences of RealMem; without it our own, each many times with another number, which costs more."""
    if not has_set(sets, "realmem"):
        own = [text for group in own_sentences().values() for text in group]
        return [f"{dice.choice(own)} {number}" for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        groups = set_sentences(unpack(sets, "realmem", Path(folder)), "realmem")
    texts = list(dict.fromkeys(text for group in groups.values() for text in group))
    dice.shuffle(texts)
    return texts[:count]


@contextmanager
def record_time(module: ModuleType, name: str) -> Iterator[list[float]]:
    """Yield a list that gets the CPU time of every call of a function of a module meanwhile."""
    spans: list[float] = []
    function = getattr(module, name)

    def measured(*values: Any, **options: Any) -> Any:
        started = time.process_time()
        try:
            return function(*values, **options)
        finally:
            spans.append(time.process_time() - started)

    setattr(module, name, measured)
    try:
        yield spans
    finally:
        setattr(module, name, function)


def cpu_time(call: Callable[..., object], *values: Any, **options: Any) -> float:
    started = time.process_time()
    call(*values, **options)
    return time.process_time() - started


def render_times(spans: list[float]) -> str:
    ordered = sorted(spans)
    median, high = (1000 * ordered[int(len(ordered) * part)] for part in (0.5, 0.95))
    return f"{median:.2f} ({high:.2f})"


# --- what all parts need ---


def open_memory(home: Path, agent: str, provider: str, now: list[datetime] | None = None) -> Memory:
    settings = {"provider": provider, "indexSessions": True}
    (home / "commonplace.yaml").write_text(json.dumps({"memorySearch": settings}))
    return Memory(home, agent, clock=lambda: now[0]) if now else Memory(home, agent)


def has_set(sets: Path, name: str) -> bool:
    is_there = (sets / name).is_dir() or (sets / f"{name}.tar.xz").exists()
    if not is_there:
        print(f"\n{name} is not in {sets}: left out (--sets FOLDER)")
    return is_there


def copy_home(source: Path, target: Path) -> Path:
    shutil.copytree(source / "home", target)
    return target


def mark_of(hit: Hit | None) -> Successor | None:
    return hit.superseded_by if hit else None


def place_of(lines: Hit | Successor) -> Place:
    return lines.path, lines.start, lines.end


def overlaps(one: Place, other: Place) -> bool:
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]


def covers(lines: Hit | Successor, citation: str) -> bool:
    cited = parse_citation(citation)
    return cited is not None and overlaps(place_of(lines), (cited.path, cited.first, cited.last))


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
