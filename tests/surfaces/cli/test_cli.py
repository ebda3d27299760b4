"""The command line, run as people run it: another process, real pipes, real exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.surfaces.cli import COMMANDS
from commonplace.surfaces.cli.common import find_home

from .shell import Shell, on_a_terminal, run_on_terminal


def test_a_stranger_remembers_searches_edits_by_hand_and_finds_the_edit(shell: Shell) -> None:
    shell.ok("init")
    shell.ok("remember", "I prefer tea in the morning")
    output = shell.ok("search", "tea")
    assert "I prefer tea in the morning" in output
    page = shell.folder / ".commonplace" / output.split("#")[0]
    page.write_text(page.read_text().replace("tea", "rooibos"))
    assert "rooibos" in shell.ok("search", "rooibos")
    assert shell.ok("search", "unheard-of").strip() == "Nothing found."


def test_a_working_directory_that_was_removed_is_reported(shell: Shell) -> None:
    gone = shell.folder / "gone"
    gone.mkdir()
    line = f"cd '{gone}' && rmdir '{gone}' && exec '{sys.executable}' -m commonplace status"
    done = subprocess.run(["sh", "-c", line], env=shell.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 6
    assert "the folder you are in was removed" in done.stderr


def test_the_home_is_found_like_git_finds_its_own(tmp_path: Path) -> None:
    deep = tmp_path / "a/b/c"
    deep.mkdir(parents=True)
    (tmp_path / "a/.commonplace").mkdir()
    assert find_home(str(deep)) == str(tmp_path / "a/.commonplace")
    assert find_home(str(tmp_path)).endswith(".commonplace")


def test_home_and_agent_by_option_or_environment(shell: Shell) -> None:
    shell.ok("--home", "h", "--agent", "Ann", "remember", "one")
    shell.ok("remember", "--home", "h", "--agent", "Ann", "two")
    shell.ok("remember", "three", COMMONPLACE_HOME="h", COMMONPLACE_AGENT="Ann")
    (day,) = (shell.folder / "h/agents").glob("ann~*/memory/daily/*.md")
    assert [word in day.read_text() for word in ("one", "two", "three")] == [True] * 3
    shell.ok("remember", "four")
    assert list((shell.folder / "user/.commonplace/agents/main/memory/daily").glob("*.md"))


def test_every_daily_command_works_and_answers_in_json_too(used_shell: Shell) -> None:
    assert "tea" in used_shell.ok("recall")
    assert used_shell.ok("read", "editor").strip() == "vim"
    assert used_shell.ok("world").strip() == "people"
    assert used_shell.ok("world", "People").strip() == "Ann lives in Oslo"
    assert "Stored" in used_shell.ok("write", "editor", "emacs", "--update")
    assert "Rewrote" in used_shell.ok("reflect", stdin="curated text\nof two lines")
    assert used_shell.ok("handoff").strip() == "No handoff."
    used_shell.ok("handoff", "continue", "here")
    assert used_shell.ok("handoff").strip() == "continue here"
    assert "cleared" in used_shell.ok("handoff", "--clear")
    assert used_shell.ok("handoff").strip() == "No handoff."
    used_shell.ok("scratch", "one")
    used_shell.ok("scratch", "--append", "two")
    assert used_shell.ok("scratch") == "one\ntwo\n"
    used_shell.ok("scratch", "--clear")
    assert "empty" in used_shell.ok("scratch")
    used_shell.ok(
        "call",
        "MemoryTool",
        '{"op": "createSkill", "name": "brew", "description": "make tea", "instructions": "boil", "initialStructure": {"cups": 2}}',
    )
    assert used_shell.ok("skills") == "brew\tglobal\t0\tmake tea\n"
    assert '"cups": 2' in used_shell.ok("skills", "brew")
    assert used_shell.ok("list", "--notes").startswith("editor\t")
    assert "memory/world/people.md" in used_shell.ok("list")
    assert used_shell.ok("list", "memory/world").count("\n") == 1
    assert used_shell.ok("show", "memory/world/people.md#L1").strip() == "Ann lives in Oslo"
    assert "\n\n## Directives\n" in used_shell.ok("context")
    assert "Directives\t95" in used_shell.ok("context", "--explain", "--budget", "50")
    assert "index up to date\tyes" in used_shell.ok("status")
    for command in (
        ["recall"],
        ["search", "tea"],
        ["read", "editor"],
        ["list"],
        ["list", "--notes"],
        ["show", "memory/world/people.md"],
        ["world"],
        ["world", "people"],
        ["handoff"],
        ["scratch"],
        ["skills"],
        ["skills", "brew"],
        ["context"],
        ["status"],
        ["tools"],
        ["init"],
        ["remember", "again"],
        ["reflect", "x"],
        ["handoff", "x"],
        ["scratch", "x"],
        ["write", "fresh", "x"],
    ):
        assert used_shell.json("--json", *command) is not None
        if command[0] != "write":
            assert used_shell.json(*command, "--json") is not None


def test_call_takes_json_as_argument_or_from_standard_input(used_shell: Shell) -> None:
    assert used_shell.json("call", "recall", '{"days": 0}')["success"]
    assert json.loads(used_shell.ok("call", "remember", stdin='{"content": "piped"}'))["success"]
    assert json.loads(used_shell.ok("call", "remember", "-", stdin='{"content": "dash"}'))["success"]
    assert json.loads(used_shell.ok("call", "recall"))["success"]
    assert "data" in used_shell.json("call", "memory_search", '{"query": "vim"}', "--toolset", "notes")
    assert "results" in used_shell.json("call", "memory_search", '{"query": "vim"}')


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["call", "remember", "not json"], 2, "the arguments are not valid JSON ("),
        (["call", "remember", "{}"], 2, "Missing required parameter: content"),
        (["call", "nothing"], 2, "Unknown tool"),
        (["call", "recall", "--toolset", "none"], 2, "Unknown toolset"),
        (["call", "memory_read", '{"key": "none"}'], 3, "MEMORY_KEY_NOT_FOUND"),
        (["read", "none"], 3, "there is no note"),
        (["show", "memory/none.md"], 3, "memory/none.md does not exist: `commonplace list` lists the pages"),
        (["db", "status"], 2, "name a database: commonplace db status postgresql://"),
        (["world", "none"], 3, "there is no topic none: `commonplace world` lists all topics"),
        (["skills", "none"], 3, "there is no skill 'none': `commonplace skills` lists the skills"),
        (["write", "editor", "again"], 4, "add --update to replace it"),
        (["read", "editr"], 3, "did you mean 'editor'?"),
        (["show", "../secret.md"], 5, "not a page of memory"),
        (["call", "write_memory", '{"key": "scratchpad", "content": "x"}'], 5, "scratch_note"),
        (["recall", "--days", "-1"], 2, "days"),
        (["recall", "--days", "many"], 2, "days"),
        (["search"], 2, "QUERY"),
        (["context", "--budget", "-5"], 2, "budget"),
        (["serach", "x"], 2, "Did you mean search"),
        (["frobnicate"], 2, "--help"),
        (["tools", "--tools", "none"], 2, "must be one of retrieval"),
        (["tools", "--format", "none"], 2, "openai"),
        (["remember", " "], 2, "give what to remember after the command"),
        (["remember", ""], 2, "give what to remember after the command"),
        (["--agent", "", "remember", "x"], 2, "the name of the agent is blank: name one, or leave it out"),
        (["remember", "x", "--agent", " "], 2, "the name of the agent is blank: name one, or leave it out"),
        (["--agent", "a\nb", "remember", "x"], 2, "more than one line: give a name of one line"),
        (["remember", "x", "--agent", "a\u2028b"], 2, "more than one line: give a name of one line"),
        (["serve", "--agent", ""], 2, "the name of the agent is blank: name one, or leave it out"),
        (["import", "notes", "--as", ""], 2, "the name of the agent is blank: name one, or leave it out"),
        (["list", "nosuchdir"], 3, "there are no pages in nosuchdir: `commonplace list` lists all pages"),
        (["world", "", "x"], 2, "the topic is empty: give a name of one line"),
        (["world", " "], 2, "the topic is empty: give a name of one line"),
    ],
)
def test_errors_say_what_to_do_and_exit_with_their_status(
    used_shell: Shell, arguments: list[str], status: int, words: str
) -> None:
    done = used_shell.run(*arguments)
    assert done.returncode == status, done
    assert words in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_failure_in_json_is_json_with_the_same_status(used_shell: Shell) -> None:
    done = used_shell.run("--json", "read", "none")
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"]["code"] == "MEMORY_KEY_NOT_FOUND"


def test_reading_where_there_is_no_memory_makes_none(shell: Shell) -> None:
    for command in (["search", "x"], ["status"], ["recall"], ["list"], ["context"]):
        done = shell.run(*command)
        assert done.returncode == 3
        assert "commonplace init" in done.stderr
    assert not (shell.folder / "user/.commonplace").exists()


def test_a_home_that_is_a_file_or_badly_set_is_reported(shell: Shell) -> None:
    (shell.folder / "file").write_text("x")
    for command in (["remember", "x"], ["search", "x"], ["init"]):
        done = shell.run("--home", "file", *command)
        assert (done.returncode, "is a file" in done.stderr) == (6, True)
    (shell.folder / "bad").mkdir()
    (shell.folder / "bad/commonplace.yaml").write_text("layout: x\n")
    done = shell.run("--home", "bad", "status")
    assert done.returncode == 7
    assert "commonplace.yaml:1" in done.stderr


def test_output_that_nobody_reads_to_the_end_is_no_error(used_shell: Shell) -> None:
    command = f"{sys.executable} -m commonplace recall | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=used_shell.folder, env=used_shell.environment, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == b""


def test_any_script_is_printed_in_any_locale_without_colour(used_shell: Shell) -> None:
    used_shell.ok("remember", "日本 \U0001f642 é")
    assert "日本 \U0001f642 é" in used_shell.ok("search", "日本")
    assert "\x1b" not in used_shell.ok("search", "日本")


def test_input_that_is_not_text_is_reported(used_shell: Shell) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "remember"],
        cwd=used_shell.folder,
        env=used_shell.environment,
        input=b"\xff",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"UTF-8" in done.stderr


def test_tools_are_described_for_people_and_for_models(shell: Shell) -> None:
    assert "memory_write\tnotes\t" in shell.ok("tools")
    for shape in ("openai", "anthropic", "gemini", "mcp"):
        assert len(json.loads(shell.ok("tools", "--format", shape))) == 15
    names = [tool["name"] for tool in json.loads(shell.ok("tools", "--format", "mcp", "--tools", "notes,retrieval"))]
    assert names[3:5] == ["memory_search", "retrieval_memory_search"]


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed_and_complete(shell: Shell, shell_name: str) -> None:
    assert "_COMMONPLACE_COMPLETE" in shell.ok("completion", shell_name)
    done = shell.run(_COMMONPLACE_COMPLETE="bash_complete", COMP_WORDS="commonplace rem", COMP_CWORD="1")
    assert "remember" in done.stdout


def test_help_lists_every_command_and_each_has_its_own(shell: Shell) -> None:
    text = shell.ok("--help")
    for name in COMMANDS:
        assert f"  {name} " in text
    for name in ("call", "write", "context"):
        assert "--json" in shell.ok(name, "--help")
    assert shell.ok("--version").startswith("commonplace ")


def test_a_folder_in_which_no_memory_can_be_made_says_what_to_do(shell: Shell) -> None:
    (shell.folder / "file").write_text("x")
    made = shell.run("init", str(shell.folder / "file" / "memory"))
    assert made.returncode == 6
    assert made.stderr.endswith("a file is where a folder should be: move it away, or use another name\n")


def test_init_is_safe_to_repeat_and_keeps_derived_files_out_of_git(shell: Shell) -> None:
    assert "Made a memory" in shell.ok("init")
    (shell.folder / ".commonplace/directives/memory.md").write_text("mine")
    assert "There is already a memory" in shell.ok("init")
    assert (shell.folder / ".commonplace/directives/memory.md").read_text() == "mine"
    assert ".index/" in (shell.folder / ".commonplace/.gitignore").read_text()


def test_a_terminal_is_never_obeyed_by_what_was_remembered(used_shell: Shell) -> None:
    """Escape sequences in contents, keys, tags, skills and file names are shown, not sent, on a real terminal."""
    evil = "\x1b]0;owned\x07\x1b[31m\x9b31m"
    used_shell.ok(
        "call", "memory_write", json.dumps({"key": f"k{evil}", "content": f"tea {evil}", "tags": [f"t{evil}"]})
    )
    used_shell.ok(
        "call", "MemoryTool", json.dumps({"op": "createSkill", "name": f"s{evil}", "description": evil, "owner": evil})
    )
    (used_shell.folder / ".commonplace/memory" / f"page{evil}.md").write_text(f"tea {evil}")
    for command in (
        "recall",
        "search tea",
        "list",
        "list --notes",
        "skills",
        "context",
        "context --explain",
        "--json search tea",
        "status",
    ):
        screen = on_a_terminal(used_shell, command)
        allowed = re.sub(r"\x1b\[[0-9;]*m", "", screen)
        assert "owned" not in screen or "\x1b]0;owned" not in screen, command
        assert "\x9b" not in allowed, command
        assert "\x1b" not in allowed, command
        assert "\x1b[31m\\x9b" not in screen, command


def test_a_terminal_is_not_obeyed_by_what_an_error_names(tmp_path: Path) -> None:
    folder = tmp_path / "cloned\x1b]0;owned\x07"
    folder.mkdir()
    (tmp_path / "private").mkdir()
    (folder / ".commonplace").symlink_to(tmp_path / "private")
    for command in ("search tea", "--json search tea"):
        screen = on_a_terminal(Shell(folder), command)
        assert "is a link to" in screen
        assert "\x1b" not in screen


@pytest.mark.parametrize("command", ["watch", "serve --port 0", "web --port 0"])
def test_a_terminal_is_not_obeyed_by_the_name_of_a_folder_that_is_watched_or_served(
    tmp_path: Path, command: str
) -> None:
    folder = tmp_path / "cloned\x1b]0;owned\x07"
    (folder / ".commonplace/memory/world").mkdir(parents=True)
    shell = Shell(folder)
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "commonplace", *command.split()]
    environment = {**shell.environment, "BROWSER": "true"}
    with subprocess.Popen(argv, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        screen = b""
        while b"owned" not in screen or not screen.endswith(b"\n"):
            screen += os.read(ours, 65536)
        process.terminate()
    os.close(ours)
    assert b"\x1b]0;" not in screen
    assert b"\x07" not in screen


def test_a_terminal_is_not_obeyed_by_what_a_hook_prints_or_a_usage_error_names(used_shell: Shell) -> None:
    page = used_shell.folder / ".commonplace/directives/evil.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("The teapot \x1b]0;owned\x07 is blue.\n")
    for arguments in (["hook", "session-start"], ["export", "a.tar", "b\x1b]0;owned\x07"]):
        screen, _ = run_on_terminal(arguments, used_shell.folder, {**used_shell.environment, "TERM": "xterm"})
        assert "owned" in screen
        assert "\x1b]0;" not in screen


def test_a_file_name_forges_no_row_of_a_table(used_shell: Shell) -> None:
    (used_shell.folder / ".commonplace/memory/x\nforged\rrow\u2028here.md").write_text("tea")
    for text in (used_shell.ok("list"), on_a_terminal(used_shell, "list")):
        assert "x forged row here.md" in text


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("read none 2>/dev/full", 3),
        ("nosuch 2>/dev/full", 2),
        ("recall >/dev/full", 6),
        ("context | true", 0),
        ("search tea --json | true", 0),
        ("remember <&-", 2),
        ("recall >&-", 0),
        ("status 2>&-", 0),
    ],
)
def test_streams_that_are_full_or_closed_change_no_exit_status(used_shell: Shell, command: str, status: int) -> None:
    script = f"{sys.executable} -m commonplace {command}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=used_shell.folder,
        env=used_shell.environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == status, done
    assert b"Traceback" not in done.stderr


def test_usage_and_settings_errors_are_json_too(used_shell: Shell) -> None:
    for arguments in (["--json", "nosuch"], ["search", "--json", "--limit", "x", "y"], ["--json", "world", "nope"]):
        done = used_shell.run(*arguments)
        assert json.loads(done.stdout)["error"]
        assert done.returncode in (2, 3)
    assert (
        json.loads(used_shell.run("call", "memory_get", '{"path": "memory/none.md"}').stdout)["path"]
        == "memory/none.md"
    )


@pytest.mark.parametrize(
    "arguments",
    [["handoff", "--clear", "x"], ["scratch", "--clear", "x"], ["write", "k", "v", "--update", "--summary"]],
)
def test_contradictory_options_are_refused(used_shell: Shell, arguments: list[str]) -> None:
    assert used_shell.run(*arguments).returncode == 2


def test_a_pipe_into_a_new_home_makes_it(shell: Shell) -> None:
    shell.ok("--home", "fresh", "scratch", "--append", stdin="piped")
    assert shell.ok("--home", "fresh", "scratch").strip() == "piped"


def test_every_path_that_is_printed_can_be_shown(used_shell: Shell) -> None:
    used_shell.ok("write", "shell", "zsh", "--summary")
    printed = {line.split("\t")[3].removeprefix("new: ") for line in used_shell.ok("log").splitlines()}
    printed |= {line.split("\t")[2] for line in used_shell.ok("list", "--notes").splitlines()}
    printed |= {line.split("\t")[0] for line in used_shell.ok("list").splitlines()}
    printed.add(used_shell.ok("write", "editor", "emacs", "--update").split(" in ")[1].strip().removesuffix("."))
    printed.add(json.loads(used_shell.ok("--json", "write", "pager", "less"))["data"]["path"])
    assert {"directives/memory.md", "agents/main/memory/MEMORY.md"} <= printed
    for path in printed:
        assert used_shell.ok("show", path).strip(), path


def test_a_page_of_another_agent_is_shown_to_everyone_who_asks_for_it(used_shell: Shell) -> None:
    path = used_shell.ok("--agent", "bob", "remember", "Bob was here").split()[2]
    refused = used_shell.run("show", path)
    assert refused.returncode == 5
    assert "add --everyone" in refused.stderr
    assert "Bob was here" in used_shell.ok("show", "--everyone", path)


def test_an_agent_that_nobody_used_before_is_pointed_out_once(used_shell: Shell) -> None:
    assert used_shell.run("remember", "hello").stderr == ""
    assert "did you mean main?" in used_shell.run("--agent", "mian", "recall").stderr
    first = used_shell.run("remember", "hello", COMMONPLACE_AGENT="writer")
    assert first.stderr == "note: writer is a new agent; agents so far: main\n"
    assert used_shell.run("--agent", "writer", "remember", "again").stderr == ""


def test_agents_are_listed_by_the_names_that_were_given(used_shell: Shell) -> None:
    used_shell.ok("--agent", "Ann Smith", "remember", "hello")
    assert (
        used_shell.run("--agent", "bob", "recall").stderr
        == "note: bob is a new agent; agents so far: Ann Smith, main\n"
    )


def test_a_memory_that_is_made_on_the_way_is_named(shell: Shell) -> None:
    done = shell.run("remember", "hello")
    assert done.stderr == f"note: made a memory in {shell.folder}/user/.commonplace\n"
    assert shell.run("remember", "again").stderr == ""


def test_help_is_a_command(shell: Shell) -> None:
    assert shell.ok("help") == shell.ok("--help")
    assert shell.ok("help", "token", "create") == shell.ok("token", "create", "--help")
    assert shell.run("help", "serch").returncode == 2


def test_init_says_what_comes_next(shell: Shell) -> None:
    assert "commonplace install" in shell.ok("init")
    assert "commonplace install" not in shell.ok("init")


def test_what_is_empty_says_so(shell: Shell) -> None:
    shell.ok("init")
    assert shell.ok("skills") == "No skills yet.\n"
    assert shell.ok("list") == "No pages.\n"
    assert shell.ok("list", "--notes") == "No notes.\n"


def test_a_table_wraps_between_words_and_folders(used_shell: Shell) -> None:
    lines = on_a_terminal(used_shell, "list --notes", COLUMNS="56").splitlines()
    parts = [word for line in lines for word in line.split() if "/" in word or word.endswith(".md")]
    assert len(parts) > 1
    assert re.fullmatch(r"agents/main/memory/daily/[\d-]+\.md", "".join(parts))
    assert all(part.endswith("/") for part in parts[:-1])
    assert all(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= 56 for line in lines)


def test_no_color_means_no_colour(used_shell: Shell) -> None:
    assert "\x1b[" in on_a_terminal(used_shell, "search tea")
    assert "\x1b[" not in on_a_terminal(used_shell, "search tea", NO_COLOR="1")


def test_the_help_page_lists_every_command_once_under_a_heading(shell: Shell) -> None:
    lines = shell.ok("--help").splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"  [a-z]+ ", line)]
    assert sorted(listed) == sorted(COMMANDS)
    assert lines.index("Start:") < lines.index("Write and find:") < lines.index("History:")


def test_an_item_of_a_list_is_text_and_no_option(shell: Shell) -> None:
    shell.ok("world", "limits", "- Timeout: 30 s\n- Retries: 3", "--json")
    assert shell.ok("world", "limits") == "- Timeout: 30 s\n- Retries: 3\n"
    shell.ok("remember", "- first", "- second")
    assert "- first - second" in shell.ok("recall")
    assert shell.run("search", "- Timeout").returncode == 0


def test_for_other_text_that_begins_with_a_dash_the_error_says_where_it_goes(shell: Shell) -> None:
    done = shell.run("remember", "-5 degrees tonight")
    assert (done.returncode, "after --, or to standard input" in done.stderr) == (2, True)
    shell.ok("remember", "--", "-5 degrees tonight")
    assert "-5 degrees tonight" in shell.ok("recall")


def test_a_note_says_that_a_newer_value_is_kept_elsewhere(shell: Shell) -> None:
    shell.ok("write", "editor", "vim")
    assert shell.run("read", "editor").stderr == ""
    shell.ok("call", "write_memory", '{"key": "editor", "content": "helix"}')
    done = shell.run("read", "editor")
    path = "agents/main/memory/working/editor.md"
    assert done.stdout == "vim\n"
    assert done.stderr == f"note: working memory has a newer value under editor: 'helix' ({path})\n"


def test_recall_leaves_out_the_footers_of_notes(shell: Shell) -> None:
    shell.ok("write", "editor", "vim")
    shell.ok("write", "shell", "fish")
    assert "### editor\n\nvim\n\n### shell\n\nfish\n" in shell.ok("recall")


def test_a_budget_in_which_nothing_fits_is_refused_with_the_least_that_does(shell: Shell) -> None:
    shell.ok("remember", "Tea is at four.")
    done = shell.run("context", "--budget", "2")
    assert done.returncode == 2
    least = done.stderr.partition("give --budget ")[2].split()[0]
    assert shell.ok("context", "--budget", least).strip()
    assert shell.run("context", "--budget", str(int(least) - 1)).returncode == 2


def test_a_score_is_from_0_to_1(shell: Shell) -> None:
    done = shell.run("search", "--min-score", "2", "tea")
    assert (done.returncode, "0<=x<=1" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", [("world", "people"), ("reflect",)])
@pytest.mark.parametrize("blank", ["", "  "])
def test_nothing_is_emptied_by_a_blank_text(used_shell: Shell, command: tuple[str, ...], blank: str) -> None:
    used_shell.ok("reflect", "Ann drinks tea.")
    before = used_shell.ok("recall")
    done = used_shell.run(*command, blank)
    assert done.returncode == 2
    assert "after the command, or on standard input" in done.stderr
    assert used_shell.ok("recall") == before


def test_a_mistyped_topic_names_the_one_that_was_meant(used_shell: Shell) -> None:
    done = used_shell.run("world", "peopel")
    assert done.returncode == 3
    assert "there is no topic peopel: did you mean people? `commonplace world` lists all topics" in done.stderr
