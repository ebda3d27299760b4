"""Looking back from the command line: log, blame, diff, show --as-of, undo, restore, gc."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.home import Home
from commonplace.tools import catalog

from .conftest import ShellAfter
from .shell import Shell, on_a_terminal


@pytest.fixture
def shell(shell_after: ShellAfter) -> Shell:
    return shell_after(("world", "tea", "Green tea."), ("world", "tea", "Black tea."))


PAGE = "memory/world/tea.md"


def ids(shell: Shell, *what: str) -> list[str]:
    return [change["id"] for change in shell.json("--json", "log", *what)["changes"]]


def test_the_log_says_who_changed_what_the_latest_first(shell: Shell) -> None:
    first, second, *_ = shell.json("--json", "log")["changes"]
    assert (first["tool"], first["agent"], first["path"]) == ("update_world", "main", PAGE)
    assert first["before"] == second["version"]
    assert f"new: {PAGE}" in shell.ok("log", PAGE)
    assert ids(shell, "tea") == ids(shell, PAGE)
    assert len(ids(shell, "-n", "1")) == 1


def test_the_session_that_writes_is_in_history(shell: Shell) -> None:
    shell.ok("remember", "tea", COMMONPLACE_SESSION="s-1")
    assert shell.json("--json", "log")["changes"][0]["session"] == "s-1"


def test_the_log_of_a_key_shows_only_what_changed_it(shell: Shell) -> None:
    shell.ok("write", "editor", "vim")
    shell.ok("write", "shell", "zsh")
    shell.ok("write", "editor", "emacs", "--update")
    assert [change["tool"] for change in shell.json("--json", "log", "editor")["changes"]] == [
        "memory_update",
        "memory_write",
    ]
    shell.ok("call", "write_memory", '{"key": "plan", "content": "rest"}')
    assert len(ids(shell, "plan")) == 1


def test_the_log_leaves_out_the_activity_log_unless_it_is_named(shell: Shell) -> None:
    shell.ok("call", "write_memory", '{"key": "plan", "content": "rest"}')
    first, second, *_ = shell.json("--json", "log")["changes"]
    assert (first["tool"], Path(first["path"]).name) == ("write_memory", "plan.md")
    assert second["path"] == PAGE
    (page,) = (shell.folder / ".commonplace").glob("agents/main/memory/activity/*.md")
    assert len(ids(shell, str(page.relative_to(shell.folder / ".commonplace")))) == 1


def test_blame_shows_what_a_line_said_before_it_was_changed(shell: Shell) -> None:
    for day, owner in (("12", "Anna"), ("26", "Anna")):
        call = f'{{"topic": "release", "content": "Deadline: {day} November\\nOwner: {owner}\\n"}}'
        shell.ok("call", "update_world", call)
    path = "memory/world/release.md"
    lines = {line["text"]: line["was"] for line in shell.json("--json", "blame", path)["lines"]}
    assert lines["Deadline: 26 November"] == "Deadline: 12 November"
    assert lines["Owner: Anna"] == ""
    assert "Deadline: 26 November (was: Deadline: 12 November)" in shell.ok("blame", path)


def test_blame_shows_who_wrote_each_line_and_in_which_change(shell: Shell) -> None:
    page = shell.folder / ".commonplace" / PAGE
    page.write_text(page.read_text() + "\nWhite tea.\n")
    lines = shell.json("--json", "blame", PAGE)["lines"]
    latest = ids(shell, PAGE)
    assert [(line["text"], line["author"], line["change"]) for line in lines[-2:]] == [
        ("Black tea.", "main (update_world)", latest[1]),
        ("White tea.", "outside", latest[0]),
    ]
    text = shell.ok("blame", PAGE).splitlines()
    assert "outside" in text[-1]
    assert "White tea." in text[-1]
    assert "history has no page" in shell.run("blame", "memory/world/coffee.md").stderr


def test_a_difference_shows_what_a_change_did(shell: Shell) -> None:
    output = shell.ok("diff", PAGE)
    assert "-Green tea." in output
    assert "+Black tea." in output
    assert shell.ok("diff", ids(shell, PAGE)[-1]).splitlines()[-1] == "+Green tea."
    assert "No difference" in shell.ok("diff", PAGE, "--since", "now")


def test_a_key_that_looks_like_the_name_of_a_change_is_found(shell: Shell) -> None:
    shell.ok("world", "cafe", "Opens at nine.")
    assert "+Opens at nine." in shell.ok("diff", "cafe")


def test_a_conflict_is_reported_to_people(shell: Shell) -> None:
    (shell.folder / ".commonplace" / PAGE).write_text("By hand.")
    assert "commonplace diff" in shell.run("world", "tea", "Mint tea.").stderr


def test_an_edit_by_hand_is_in_the_log_and_can_be_taken_back(shell: Shell) -> None:
    page = shell.folder / ".commonplace" / PAGE
    page.write_text("By hand.")
    assert shell.json("--json", "log", PAGE)["changes"][0]["tool"] == ""
    assert "outside" in shell.ok("log", PAGE).splitlines()[0]
    shell.ok("undo")
    assert page.read_text() == "Black tea."


def test_undo_takes_back_the_last_change_and_itself(shell: Shell) -> None:
    assert "Undid 1 change" in shell.ok("undo")
    assert shell.ok("show", PAGE) == "Green tea.\n"
    shell.ok("undo")
    assert shell.ok("show", PAGE) == "Black tea.\n"


def test_undo_takes_back_all_pages_that_one_call_changed(shell: Shell) -> None:
    for category in ("one", "two"):
        shell.ok(
            "call", "MemoryTool", f'{{"op": "setGlobal", "key": "k", "value": "{category}", "category": "{category}"}}'
        )
    shell.ok("call", "write_memory", '{"key": "plan", "content": "rest"}')
    assert "Undid" in shell.ok("undo")
    home = shell.folder / ".commonplace"
    assert not (home / "agents/main/memory/working/plan.md").exists()
    assert not list((home / "agents/main/memory/activity").glob("*.md"))
    moved = ids(shell, "memory/global/two/k.md")[-1]
    shell.ok("undo", moved)
    assert sorted(path.name for path in (home / "memory/global").iterdir()) == ["one"]
    assert shell.json("call", "MemoryTool", '{"op": "getGlobal", "key": "k"}')["value"] == "one"


def test_undo_of_all_that_an_agent_did_leaves_what_others_did(shell: Shell) -> None:
    shell.ok("--agent", "rogue", "world", "tea", "Rogue tea.")
    shell.ok("--agent", "rogue", "world", "more", "Rogue.")
    shell.ok("world", "mine", "Mine.")
    assert shell.ok("undo", "--agent", "rogue", "--since", "1 hour ago", "--dry-run").count("rogue") == 2
    shell.ok("undo", "--agent", "rogue", "--since", "1 hour ago")
    assert shell.ok("show", PAGE) == "Black tea.\n"
    assert shell.ok("world") == "mine\ntea\n"


def test_undo_of_all_that_an_agent_did_leaves_the_memory_set_up(shell: Shell) -> None:
    shell.ok("install", "claude-code", "--scope", "project")
    shell.ok("undo", "--agent", "main", "--since", "1 hour ago")
    assert shell.ok("world", "--json") == '{"topics": []}\n'
    assert "outlives this conversation" in shell.ok("context")
    assert "indexSessions: true" in (shell.folder / ".commonplace/commonplace.yaml").read_text()
    assert shell.run("undo", "--agent", "main", "--since", "now").returncode == 3


def test_a_page_is_shown_and_restored_as_it_was(shell: Shell) -> None:
    green = ids(shell, PAGE)[-1]
    assert shell.ok("show", PAGE, "--as-of", "now") == "Black tea.\n"
    assert "again" in shell.ok("restore", PAGE, "--as-of", green)
    assert shell.ok("show", PAGE) == "Green tea.\n"
    assert "already" in shell.ok("restore", PAGE, "--as-of", green)
    assert "not there" in shell.ok("restore", PAGE, "--as-of", "2020-01-01")
    assert shell.run("show", PAGE).returncode == 3
    shell.ok("undo")
    assert shell.ok("show", PAGE) == "Green tea.\n"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["log", "nothing"], 3, "no page and no key"),
        (["log", "--since", "gibberish"], 2, "is not a date"),
        (["diff", "ffff"], 3, "no page and no key"),
        (["diff", "nothing"], 3, "no page and no key"),
        (["undo", "0000000000"], 3, "commonplace log"),
        (["undo", "--since", "now"], 2, "say whose"),
        (["undo", "--since", "now", "--agent", "nobody"], 3, "nothing to undo"),
        (["undo", "abcd", "--since", "now"], 2, "either"),
        (["restore", PAGE], 2, "--as-of"),
        (["restore", PAGE, "--as-of", "2026-13-45T99:00"], 2, "is not a"),
        (["restore", "nothing.md", "--as-of", "now"], 3, "has no page"),
        (["show", PAGE, "--as-of", "2001-01-01"], 3, "does not exist"),
        (["gc", "--days", "-1"], 2, "days"),
    ],
)
def test_a_wrong_question_gets_an_answer_that_helps(
    shell: Shell, arguments: list[str], status: int, words: str
) -> None:
    done = shell.run(*arguments)
    assert (done.returncode, words in done.stderr) == (status, True), done.stderr


def test_another_agents_own_pages_are_not_in_the_log_unless_everyones_are(shell: Shell) -> None:
    shell.ok("--agent", "other", "remember", "a secret plan")
    assert "agents/other" not in shell.ok("log")
    assert "agents/other" in shell.ok("log", "--everyone")
    assert "agents/other" in shell.ok("--agent", "other", "log")
    (change,) = [
        each for each in shell.json("--json", "--agent", "other", "log")["changes"] if each["agent"] == "other"
    ]
    assert shell.run("diff", change["id"]).returncode == 3
    assert shell.run("undo", change["id"]).returncode == 3
    hidden, absent = (shell.run("log", path) for path in (change["path"], "agents/other/none.md"))
    assert (hidden.returncode, hidden.stdout) == (absent.returncode, absent.stdout) == (3, "")
    assert hidden.stderr == absent.stderr.replace("agents/other/none.md", change["path"])


def test_collecting_lets_go_of_old_versions_and_keeps_the_last(shell: Shell) -> None:
    assert "Deleted 0 versions" in shell.ok("gc")
    assert shell.json("--json", "gc", "--days", "0")["versions"] >= 1
    assert shell.ok("show", PAGE, "--as-of", "now") == "Black tea.\n"


def test_undo_never_means_the_directive_that_came_by_itself(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    home = Home(str(shell.folder / ".commonplace"))  # not greeted yet: the first command writes the directive
    for drink in ("tea", "coffee"):
        catalog.call(home, "remember", {"content": drink})
    assert "daily" in shell.run("undo").stdout
    assert (shell.folder / ".commonplace/directives/memory.md").exists()
    assert "coffee" not in shell.run("recall").stdout


def test_undoing_an_undo_says_that_the_change_is_there_again(shell: Shell) -> None:
    assert shell.ok("undo").startswith(f"Undid 1 change of {PAGE}.\n")
    again = shell.ok("undo")
    assert again.startswith(f"Redid the change to {PAGE}. ")
    assert "commonplace log" in again
    assert shell.ok("world", "tea") == "Black tea.\n"


def test_all_of_a_page_that_was_made_since_is_new(shell: Shell) -> None:
    output = shell.ok("diff", PAGE, "--since", "1 hour ago")
    assert [line for line in output.splitlines() if line[:1] in "+-"][2:] == ["+Black tea."]
    (shell.folder / ".commonplace/memory/own.md").write_text("By hand.\n")
    assert "+By hand." in shell.ok("diff", "memory/own.md", "--since", "1 hour ago")
    assert shell.run("diff", PAGE, "--since", "gibberish").returncode == 2


def test_seconds_are_a_time_and_an_error_names_the_forms(shell: Shell) -> None:
    assert shell.run("search", "--as-of", "10 seconds ago", "tea").returncode == 0
    for arguments in (["search", "--as-of", "soon", "tea"], ["show", PAGE, "--as-of", "soon"]):
        done = shell.run(*arguments)
        assert (done.returncode, "`2 hours ago`" in done.stderr) == (2, True)


def test_an_agent_that_only_wrote_what_all_share_was_used_before(shell: Shell) -> None:
    assert "reviewer is a new agent" in shell.run("--agent", "reviewer", "world", "style", "Short lines.").stderr
    done = shell.run("undo", "--agent", "reviewer", "--since", "1 hour ago")
    assert done.stderr == ""
    assert done.stdout.startswith("Undid 1 change of memory/world/style.md.\n")


def test_undo_says_what_it_undid_when_that_was_written_and_by_whom(shell: Shell) -> None:
    shell.ok("remember", "Buy oat milk.")
    shell.ok("--agent", "bob", "world", "tea", "Mint tea.")
    changes = shell.json("--json", "log")["changes"]
    (page, line) = shell.ok("undo").splitlines()
    assert page == f"Undid 1 change of {PAGE}."
    assert line.split("  ")[2:] == ["bob (update_world)", '"Mint tea." (was: "Black tea.")']
    assert line.strip().startswith(changes[0]["at"][:16].replace("T", " "))
    (undone,) = shell.json("--json", "undo", changes[1]["id"])["undone"]
    assert undone["details"][0]["sentences"]["added"] == ["Buy oat milk."]


def test_undo_of_many_changes_describes_the_latest_of_each_page(shell: Shell) -> None:
    for number in range(6):
        shell.ok("--agent", "bob", "remember", f"Note number {number}.")
    page, *lines = shell.ok("undo", "--agent", "bob", "--since", "1 hour ago").splitlines()
    assert page.startswith("Undid 6 changes of agents/bob/memory/daily/")
    assert [line.split('"')[1:2] for line in lines] == [[f"Note number {number}."] for number in (5, 4, 3)] + [[]]
    assert lines[-1] == "  and 3 earlier"


def test_redoing_says_what_is_there_again(shell: Shell) -> None:
    shell.ok("undo")
    assert shell.ok("undo").splitlines()[1] == '  "Black tea." (was: "Green tea.")'


def test_the_log_says_what_each_change_added_and_removed(shell: Shell) -> None:
    shell.ok("remember", "Buy oat milk.")
    shell.ok("remember", "Call the bank about\u202e the loan. Then write to Ann.")
    texts = [line.split("\t")[5] for line in shell.ok("log").splitlines()]
    assert texts[:4] == [
        '"Call the bank about\\u{202e} the loan." and 1 more sentence',
        '"Buy oat milk."',
        '"Black tea." (was: "Green tea.")',
        '"Green tea."',
    ]
    assert shell.json("--json", "log")["changes"][1]["sentences"] == {
        "added": ["Buy oat milk."],
        "removed": [],
        "more": 0,
    }
    assert '"Buy oat milk."' in shell.ok("undo", "--dry-run", ids(shell)[1])


def test_a_long_sentence_is_cut_in_the_log(shell: Shell) -> None:
    shell.ok("world", "tea", "Tea " + "and more tea " * 100)
    (latest,) = shell.ok("log", "-n", "1").splitlines()
    assert len(latest) < 300
    assert "…" in latest


def test_the_log_fits_a_narrow_terminal(shell: Shell) -> None:
    shell.ok("remember", "Buy oat milk.")
    lines = on_a_terminal(shell, "log", COLUMNS="80", NO_COLOR="1").splitlines()
    assert max(map(len, lines)) <= 80
    page, text = lines[1:3]
    assert page.startswith("  new: agents/main/memory/daily/")
    assert page.endswith(".md")
    assert text == '  "Buy oat milk."'


def test_undo_shows_nothing_of_another_agents_page_that_the_same_call_changed(shell: Shell) -> None:
    home = Home(str(shell.folder / ".commonplace"))
    with home.writer.call("import"):
        for owner, path in (("bob", "agents/bob/memory/daily/2026-03-14.md"), ("all", "memory/world/gates.md")):
            home.writer.write(path, f"The gate of {owner} is xylophone.\n")
    for arguments in (["undo", "--dry-run"], ["undo"]):
        output = shell.ok(*arguments)
        assert "The gate of all" in output
        assert "The gate of bob" not in output
