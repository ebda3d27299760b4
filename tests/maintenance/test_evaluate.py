"""How well search finds, measured: on files of questions as people write them, by hand-computed figures."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commonplace import Hit, InvalidArgument, Memory, NotFound, Scope
from commonplace.errors import InvalidChoice, NotAvailable
from commonplace.home import Home
from commonplace.maintenance.evaluate import (
    EvaluationReport,
    Lines,
    Question,
    compare,
    hit_figures,
    measure,
    sample_evenly,
    turn_figures,
    turns_of,
)

from ..providers import offer_server
from ..surfaces.cli.shell import run_here

ROOT = Path(__file__).parents[2]
PEOPLE = "memory/world/people.md"
SERVERS = "memory/world/servers.md"


@pytest.fixture
def topics_home(home: Path) -> Home:
    """A memory of ten topics, whose questions share words with their answers or only their meaning."""
    memory = Memory(home)
    texts = {"people": "Ann drinks rooibos.\nBo drinks coffee.", "servers": "We deploy to frankfurt on fridays."}
    texts |= {f"topic {n}": f"Nothing of interest, number {n}." for n in range(8)}
    for topic, content in texts.items():
        assert memory.call("update_world", {"topic": topic, "content": content})["success"]
    return memory.home


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "questions.jsonl"


def ask(home: Home, file: Path, *questions: Any, **options: Any) -> EvaluationReport:
    file.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    return measure(home, str(file), **options)


def values(report: EvaluationReport, which: str = "search") -> dict[str, float]:
    return {name: getattr(each, which).value for name, each in report.figures.items()}


def hit(path: str, start: int, end: int) -> Hit:
    return Hit(path, start, end, "", 1.0, Scope("shared"))


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    remaining = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE")}
    return run_here(("--home", str(home), "eval", *arguments), Path.cwd(), remaining, None)


def test_figures_are_what_one_computes_by_hand() -> None:
    """Evidence at the second and the seventh place, and nowhere."""
    evidence = [Lines("a.md", 3, 5), Lines("b.md"), Lines("c.md", 1, 1)]
    hits = [hit("x.md", 3, 5), hit("a.md", 5, 9), *[hit("x.md", n, n) for n in range(4)], hit("b.md", 40, 41)]
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert hit_figures(evidence, hits) == {
        "recall_any@5": 1.0,
        "recall_all@5": 0.0,
        "fraction@5": 1 / 3,
        "recall_any@10": 1.0,
        "recall_all@10": 0.0,
        "fraction@10": 2 / 3,
        "mrr@10": 1 / 2,
        "ndcg@10": pytest.approx((1 / math.log2(3) + 1 / math.log2(8)) / ideal),
    }


def test_all_the_evidence_on_top_is_perfect_and_none_is_nothing() -> None:
    evidence = [Lines("a.md"), Lines("b.md")]
    assert {*hit_figures(evidence, [hit("b.md", 1, 2), hit("a.md", 1, 2)]).values()} == {1.0}
    assert {*hit_figures(evidence, [hit("c.md", 1, 2)]).values()} == {0.0}
    assert {*hit_figures(evidence, []).values()} == {0.0}


def test_a_hit_with_two_pieces_of_evidence_has_both_and_never_beats_the_ideal_order() -> None:
    evidence = [Lines("a.md", n, n) for n in range(1, 13)]
    figures = hit_figures(evidence, [hit("a.md", 1, 12)])
    assert figures["fraction@5"] == figures["ndcg@10"] == 1.0
    late = hit_figures(evidence[:2], [*[hit("x.md", 1, 1)] * 9, hit("a.md", 1, 2)])
    assert late["fraction@10"] == 1.0
    assert late["ndcg@10"] == pytest.approx(1 / math.log2(11) / (1 + 1 / math.log2(3)))


def test_the_eleventh_hit_is_too_late() -> None:
    figures = hit_figures([Lines("a.md")], [*[hit("x.md", 1, 1)] * 10, hit("a.md", 1, 1)])
    assert {*figures.values()} == {0.0}


def test_lines_that_do_not_meet_are_not_found() -> None:
    assert hit_figures([Lines("a.md", 4, 6)], [hit("a.md", 1, 3), hit("a.md", 7, 9)])["recall_any@10"] == 0.0
    assert hit_figures([Lines("a.md", 4, 6)], [hit("a.md", 6, 9)])["recall_any@10"] == 1.0


def test_every_turn_of_a_hit_is_a_place_and_a_wide_hit_says_nothing() -> None:
    hits = [hit("s1", 1, 6), hit("s2", 3, 7), hit("s3", 1, 1)]
    assert list(turns_of(hits)) == [*(("s2", line) for line in range(3, 8)), ("s3", 1)]
    figures = turn_figures([Lines("s2", 4, 4), Lines("s3", 1, 1), Lines("s1", 2, 2), Lines("s1", 3, 3)], hits)
    assert (figures["fraction@5"], figures["fraction@10"], figures["mrr@10"]) == (1 / 4, 2 / 4, 1 / 2)
    assert figures["session_recall@5"] == 2 / 3


def test_an_interval_holds_the_mean_and_grows_narrow_with_more_questions() -> None:
    few = compare([{"x": float(n % 2)} for n in range(20)], [{"x": 0.5}] * 20)["x"]
    many = compare([{"x": float(n % 2)} for n in range(500)], [{"x": 0.5}] * 500)["x"]
    assert few.search.value == many.search.value == 0.5
    assert few.search.low < 0.4 < 0.44 < many.search.low < 0.5 < many.search.high < 0.56 < 0.6 < few.search.high
    # the error of a mean of coin tosses is known: 1.96 * 0.5 / sqrt(n)
    assert many.search.high - many.search.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(500), rel=0.15)
    assert many.words == (0.5, 0.5, 0.5)


def test_the_difference_is_taken_question_by_question() -> None:
    """Two legs that vary together differ by exactly as much as they differ in every question."""
    compared = compare([{"x": n % 2 * 0.5 + 0.2} for n in range(50)], [{"x": n % 2 * 0.5} for n in range(50)])["x"]
    assert compared.difference == (0.2, 0.2, 0.2)
    assert compared.search.low < compared.search.value


def test_the_same_questions_give_the_same_intervals() -> None:
    rows = [{"x": n / 40} for n in range(40)]
    assert compare(rows, rows) == compare(rows, rows)


def test_own_questions_are_asked_of_ones_own_memory(topics_home: Home, file: Path) -> None:
    report = ask(
        topics_home,
        file,
        {"question": "What does Ann drink?", "evidence": [f"{PEOPLE}#L1-L2"], "limit": 3},
        {"query": "deploy to frankfurt", "relevant": SERVERS},
        {"query": "coffee", "answers": [f"./{PEOPLE}#L1-2", f"{PEOPLE}#L2"]},
    )
    assert report.questions == 3
    assert {*values(report).values()} == {*values(report, "words").values()} == {1.0}
    assert {*values(report, "difference").values()} == {0.0}
    assert report.groups == {}
    assert report.missing == ()
    assert report.worse == []
    assert report.verdict == "Over all questions, search is in no figure worse than words alone."


def test_half_found_is_half_and_what_is_not_there_is_named(topics_home: Home, file: Path) -> None:
    report = ask(
        topics_home,
        file,
        {"question": "rooibos", "evidence": [PEOPLE, "memory/world/gone.md", f"{PEOPLE}#L40-L41"]},
        provider="none",
    )
    assert values(report)["fraction@10"] == pytest.approx(1 / 3, abs=1e-6)
    assert report.missing == ("memory/world/gone.md", f"{PEOPLE}#L40-L41")
    assert "memory/world/gone.md" in report.warnings[0]
    assert "counts as not found" in report.warnings[0]


def test_another_agents_page_is_missing_like_one_that_does_not_exist(topics_home: Home, file: Path) -> None:
    other = Memory(topics_home.root, agent="other")
    assert other.call("remember", {"content": "the secret rooibos"})["success"]
    (path,) = [path for path, _ in other.home.visibility.list_pages() if "/daily/" in path]
    report = ask(topics_home, file, {"question": "secret rooibos", "evidence": [path, "memory/none.md"]})
    assert report.missing == (path, "memory/none.md")
    assert values(report)["recall_any@10"] == 0.0
    assert values(ask(other.home, file, {"question": "secret rooibos", "evidence": [path]}))["mrr@10"] == 1.0


def test_a_list_serves_as_well_as_lines_and_blank_lines_say_nothing(topics_home: Home, file: Path) -> None:
    one = {"question": "rooibos", "evidence": [PEOPLE]}
    file.write_text(f"\ufeff{json.dumps([one, one], indent=2)}", encoding="utf-8")
    assert measure(topics_home, str(file)).questions == 2
    file.write_text(f"\n{json.dumps(one)}\n\n{json.dumps(one)}\n\n{json.dumps(one)}", encoding="utf-8")
    assert measure(topics_home, str(file)).questions == 3
    file.write_text(json.dumps(one, indent=2), encoding="utf-8")
    assert measure(topics_home, str(file)).questions == 1


def test_measuring_changes_nothing_but_the_index(topics_home: Home, file: Path) -> None:
    def pages() -> dict[Path, bytes]:
        every = (path for path in Path(topics_home.root).rglob("*") if path.is_file() and ".index" not in path.parts)
        return {path: path.read_bytes() for path in every}

    before = pages()
    ask(topics_home, file, {"question": "rooibos", "evidence": [PEOPLE]})
    done = run(Path(topics_home.root), str(file))
    assert done.returncode == 0, done.stderr
    assert pages() == before


def test_a_memory_without_its_directive_is_not_given_one(tmp_path: Path, file: Path) -> None:
    (tmp_path / "bare/memory").mkdir(parents=True)
    (tmp_path / "bare/memory/tea.md").write_text("rooibos")
    file.write_text('{"question": "rooibos", "evidence": ["memory/tea.md"]}')
    assert run(tmp_path / "bare", str(file)).returncode == 0
    assert not (tmp_path / "bare/directives").exists()


def test_meaning_is_compared_with_words_in_the_same_run(topics_home: Home, file: Path) -> None:
    """Nothing but meaning leads from a beverage to rooibos."""
    report = ask(topics_home, file, {"question": "favourite hot beverage", "evidence": [PEOPLE]})
    assert report.provider == "static"
    assert report.model
    assert not report.fallback
    assert values(report, "words")["recall_any@10"] == 0.0
    assert values(report, "difference")["recall_any@10"] == values(report)["recall_any@10"]


def test_without_an_embedder_search_is_words_alone(topics_home: Home, file: Path) -> None:
    report = ask(topics_home, file, {"question": "favourite hot beverage", "evidence": [PEOPLE]}, provider="none")
    assert values(report) == values(report, "words")
    assert report.provider == "none"


@pytest.mark.thorough
def test_an_embedder_that_fails_is_reported_not_hidden(topics_home: Home, file: Path) -> None:
    offer_server("ollama", "http://127.0.0.1:9")
    settings = "memorySearch:\n  provider: ollama\n"
    Path(topics_home.root, "commonplace.yaml").write_text(settings)
    report = ask(Home(topics_home.root), file, {"question": "rooibos", "evidence": [PEOPLE]})
    assert report.fallback
    assert any("the chosen provider answered only 0 of 1 questions" in each for each in report.warnings)
    assert values(report) == values(report, "words")
    assert not ask(
        Home(topics_home.root), file, {"question": "rooibos", "evidence": [PEOPLE]}, provider="none"
    ).fallback


def test_search_that_is_worse_is_reported_as_worse() -> None:
    def report(search: list[float], words: list[float]) -> EvaluationReport:
        figures = compare([{"mrr@10": each} for each in search], [{"mrr@10": each} for each in words])
        return EvaluationReport(len(search), "static", "m", False, figures, {}, (), ())

    significant = report([0.1] * 40, [0.9] * 40)
    assert significant.worse == ["mrr@10"]
    assert significant.verdict == "Search is worse than words alone in mrr@10, by more than chance explains."
    assert significant.worse_in == {}
    perhaps = report([0.0, 1.0, 0.4], [1.0, 0.0, 0.5])
    assert perhaps.verdict == "Search is worse than words alone in mrr@10; chance may explain it."
    better = report([0.9] * 40, [0.5] * 40)._replace(groups={"conversation 2": (40, significant.figures)})
    assert better.worse == []
    assert better.verdict == (
        "Over all questions, search is in no figure worse than words alone. It is worse in conversation 2 (mrr@10)."
    )


def test_few_questions_come_with_a_warning(topics_home: Home, file: Path) -> None:
    one = {"question": "rooibos", "evidence": [PEOPLE]}
    assert any("questions are few" in each for each in ask(topics_home, file, *[one] * 29).warnings)
    assert ask(topics_home, file, *[one] * 30).warnings == ()


def test_a_limit_takes_questions_from_the_whole_file(topics_home: Home, file: Path) -> None:
    questions = [Question(str(n), ()) for n in range(10)]
    assert [each.text for each in sample_evenly(questions, 4)] == ["0", "2", "5", "7"]
    assert sample_evenly(questions, 10) == sample_evenly(questions, 99) == sample_evenly(questions, None) == questions
    one = {"question": "rooibos", "evidence": [PEOPLE]}
    assert ask(topics_home, file, *[one] * 5, limit=2).questions == 2


CONVERSATIONS = [
    {
        "conversation": {
            "speaker_a": "Ada",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I bought a red bicycle yesterday."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Lovely! My cello lesson went well."},
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "We hiked up a volcano."}],
            "session_2_date_time": "2:00 pm on 9 June, 2023",
        },
        "qa": [
            {"question": "What colour is the bicycle that Ada bought?", "evidence": ["D1:1"]},
            {"question": "Who hiked up a volcano and who has a cello lesson?", "evidence": ["D2:01; D1:2", "D9:9"]},
            {"question": "What is nowhere?", "evidence": ["D9:9", "D"]},
            {"question": "What is not said?"},
        ],
    },
    {
        "conversation": {"session_1": [{"speaker": "Cy", "dia_id": "D1:1", "text": "My parrot speaks Latin."}]},
        "qa": [{"question": "Which language does the parrot speak?", "evidence": ["D1:1"]}],
    },
]


def test_conversations_are_measured_in_a_memory_of_their_own(home: Path, file: Path) -> None:
    file.write_text(json.dumps(CONVERSATIONS))
    report = measure(Home(str(home)), str(file))
    assert not home.exists()
    assert report.questions == 3
    assert {name: count for name, (count, _) in report.groups.items()} == {"conversation 1": 2, "conversation 2": 1}
    assert values(report)["fraction@10"] == values(report)["session_recall@5"] == 1.0
    assert values(report, "words")["fraction@10"] == 1.0
    assert report.warnings[0].startswith("2 questions are left out")
    assert report.groups["conversation 2"][1]["mrr@10"].search.value == 1.0


def test_one_conversation_alone_is_enough_and_the_search_settings_are_those_of_the_home(
    topics_home: Home, file: Path
) -> None:
    Path(topics_home.root, "commonplace.yaml").write_text("memorySearch:\n  provider: none\n")
    file.write_text(json.dumps(CONVERSATIONS[1]))
    report = measure(Home(topics_home.root), str(file))
    assert (report.questions, report.provider) == (1, "none")
    assert not Path(topics_home.root, "agents/main/sessions").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no questions"),
        ("[]", "has no questions"),
        ("{'question': 1}", "line 1 of .* is not JSON"),
        ('{"question": "a", "evidence": ["a.md"]}\nnonsense', "line 2 of .* is not JSON"),
        ('[{"question": "a"', "is not JSON"),
        ('{"question": "a", "evidence": ["\\ud800"]}', "is not JSON"),
        ("7", "neither questions nor conversations"),
        ('["a"]', "neither questions nor conversations"),
        ('{"text": "a"}', "neither questions nor conversations"),
        ('{"conversation": {}}', "neither questions nor conversations"),
        ('{"evidence": ["a.md"]}', "question 1 has no text"),
        ('{"question": " ", "evidence": ["a.md"]}', "question 1 has no text"),
        ('{"question": 7, "evidence": ["a.md"]}', "question 1 has no text"),
        ('{"question": "a"}', r"question 1 \(a\) has no evidence"),
        ('{"question": "a", "evidence": []}', "has no evidence"),
        ('{"question": "a", "evidence": [" "]}', "has no evidence"),
        ('{"question": "a", "evidence": [7]}', "has no evidence"),
        ('{"question": "a", "evidence": ["a.md#L0"]}', "names no lines"),
        ('{"question": "a", "evidence": ["a.md#L5-L3"]}', "names no lines"),
        ('{"conversation": {}, "qa": []}', "there is nothing to measure"),
        ('{"conversation": 7, "qa": []}', "conversation 1 is not in LoCoMo's form"),
        ('{"conversation": {"session_1": [{}]}, "qa": []}', "it lacks 'speaker'"),
        ('{"conversation": {}, "qa": null}', "conversation 1 is not in LoCoMo's form"),
        ('{"conversation": {}, "qa": [{}]}', "it lacks 'question'"),
        ('{"conversation": {}, "qa": [{"question": ""}]}', "question 1 of conversation 1 has no text"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_next_step(
    topics_home: Home, file: Path, text: str, problem: str
) -> None:
    file.write_text(text)
    with pytest.raises(InvalidArgument, match=problem) as caught:
        measure(topics_home, str(file))
    assert ": " in str(caught.value)


def test_a_file_that_is_not_there_not_text_or_a_folder(topics_home: Home, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist: name a file"):
        measure(topics_home, str(tmp_path / "none.jsonl"))
    with pytest.raises(InvalidArgument, match="is a folder"):
        measure(topics_home, str(tmp_path))
    (tmp_path / "latin").write_bytes(b'{"question": "caf\xe9"}')
    with pytest.raises(InvalidArgument, match="save it as UTF-8"):
        measure(topics_home, str(tmp_path / "latin"))


def test_a_call_that_makes_no_sense_is_refused(topics_home: Home, home: Path, file: Path) -> None:
    one = {"question": "rooibos", "evidence": [PEOPLE]}
    with pytest.raises(InvalidArgument, match="limit must be 1 or more"):
        ask(topics_home, file, one, limit=0)
    with pytest.raises(InvalidChoice, match="provider must be one of static"):
        ask(topics_home, file, one, provider="magic")
    with pytest.raises(NotFound, match="there is no memory at"):
        ask(Home(f"{home}-other"), file, one)
    assert not Path(f"{home}-other").exists()
    Path(topics_home.root, "commonplace.yaml").write_text("memorySearch:\n  enabled: false\n")
    with pytest.raises(NotAvailable, match="search is off"):
        ask(Home(topics_home.root), file, one)


def test_the_command_prints_both_and_their_difference(topics_home: Home, file: Path) -> None:
    file.write_text(json.dumps({"question": "rooibos", "evidence": [PEOPLE, "memory/gone.md"]}))
    done = run(Path(topics_home.root), str(file), "--provider", "none")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 questions: search by words alone, words alone, the difference;")
    row = "fraction@10\t0.500 [0.500, 0.500]\t0.500 [0.500, 0.500]\t+0.000 [+0.000, +0.000]\n"
    assert row in done.stdout
    assert done.stdout.endswith("\nOver all questions, search is in no figure worse than words alone.\n")
    assert "memory/gone.md" in done.stderr


def test_the_command_answers_in_json(home: Path, file: Path) -> None:
    file.write_text(json.dumps(CONVERSATIONS))
    done = run(home, str(file), "--json", "--limit", "2")
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    assert (reply["questions"], reply["baseline"], reply["worse"]) == (2, "words alone", [])
    assert reply["figures"]["ndcg@10"]["difference"].keys() == {"value", "low", "high"}
    assert reply["groups"]["conversation 1"]["figures"]["fraction@10"]["search"]["value"] == 1.0
    assert len(reply["warnings"]) == 2


def test_the_commands_errors_have_their_status(home: Path, file: Path) -> None:
    missing = run(home, str(file), "--json")
    assert missing.returncode == 3
    assert json.loads(missing.stdout)["code"] == "NOT_FOUND"
    file.write_text("")
    assert run(home, str(file)).returncode == 2
    assert run(home, str(file), "--provider", "magic").returncode == 2
    file.write_text('{"question": "a", "evidence": ["a.md"]}')
    assert "commonplace init" in run(home, str(file)).stderr


def test_the_question_file_shown_in_the_docs_is_one(topics_home: Home, file: Path) -> None:
    (match,) = re.findall(r"^```jsonl\n(.*?)^```", (ROOT / "docs/evaluate.md").read_text(), re.MULTILINE | re.DOTALL)
    file.write_text(match)
    report = measure(topics_home, str(file))
    assert report.questions == 2
    assert report.missing == ("memory/world/plan.md#L2-L3",)
    for name in report.figures:
        assert (
            f"`{name.replace('@10', '@5') if 'recall' in name or 'fraction' in name else name}`"
            in (ROOT / "docs/evaluate.md").read_text()
        )
