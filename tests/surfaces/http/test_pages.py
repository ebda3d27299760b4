"""Pages written over HTTP: only as they were read, so that nobody's change is lost; and the ways back."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.storage.folder.pages import FolderPages

from .api import Api, api

PAGE = "memory/world/people.md"


def test_a_page_is_written_if_it_is_as_it_was_read(api_client: Api, full: Path) -> None:
    before = api_client.tag(PAGE)
    done = api_client.put(PAGE, "# People\n\nAnn alone.\n", If_Match=before)
    assert (done.status_code, done.json()["created"]) == (200, False)
    assert done.headers["etag"] == api_client.tag(PAGE) != before
    assert (full / PAGE).read_text() == "# People\n\nAnn alone.\n"
    assert api_client.get("search", q="alone")["results"][0]["path"] == PAGE
    change = api_client.get("history", what=PAGE)["changes"][0]
    assert (change["by"], change["kind"]) == ("main (edit)", "changed")


def test_a_new_page_is_created_only_if_it_does_not_exist(api_client: Api) -> None:
    assert api_client.put("memory/new.md", "new\n", If_None_Match="*").status_code == 201
    again = api_client.put("memory/new.md", "other\n", If_None_Match="*")
    assert again.status_code == 412
    assert "memory/new.md exists already" in again.json()["detail"]
    assert again.json()["current"] == api_client.tag("memory/new.md").strip('"')
    assert api_client.send("GET", "pages/memory/new.md").text == "new\n"


def test_only_whoever_replaces_what_others_wrote_unknowingly_is_warned(api_client: Api, full: Path) -> None:
    api_client.put(PAGE, "one\ntwo\n", If_Match=api_client.tag(PAGE))
    (full / PAGE).write_text("one by hand\ntwo\n")
    assert "conflict" not in api_client.put(PAGE, "mine\ntwo\n", If_Match=api_client.tag(PAGE)).json()
    (full / PAGE).write_text("mine by hand\ntwo\n")
    assert (
        "some of those changes are no longer in it"
        in api_client.put(PAGE, "other\ntwo\n", If_Match="*").json()["conflict"]
    )


def test_the_slower_writer_gets_the_current_version(api_client: Api) -> None:
    read = api_client.tag(PAGE)
    api_client.put(PAGE, "theirs\n", If_Match=read)
    late = api_client.put(PAGE, "mine\n", If_Match=read)
    assert late.status_code == 412
    assert late.headers["content-type"] == "application/problem+json"
    assert late.json()["current"] == api_client.tag(PAGE).strip('"')
    assert api_client.send("GET", f"pages/{PAGE}").text == "theirs\n"


def test_a_weak_tag_or_a_made_up_one_writes_nothing(api_client: Api) -> None:
    for tag in (f"W/{api_client.tag(PAGE)}", '"made-up"', "", "nonsense"):
        assert api_client.put(PAGE, "x", If_Match=tag).status_code == 412, tag
    assert api_client.put(PAGE, "x", If_Match=f'"other", {api_client.tag(PAGE)}').status_code == 200
    assert api_client.put(PAGE, "y", If_Match="*").status_code == 200
    assert api_client.put("memory/none.md", "y", If_Match="*").status_code == 412


def test_without_a_condition_nothing_is_written(api_client: Api) -> None:
    assert api_client.put(PAGE, "x").status_code == 428
    assert api_client.put(PAGE, "x", If_Match=api_client.tag(PAGE), If_None_Match="*").status_code == 428
    assert api_client.send("DELETE", f"pages/{PAGE}").status_code == 428
    assert api_client.put(PAGE, "x", If_None_Match='"a"').status_code == 400


def test_of_many_who_write_at_once_exactly_one_wins(api_client: Api) -> None:
    """The race between reading the version and writing: all of them hold the tag that stands."""
    read = api_client.tag(PAGE)
    answers: list[int] = []

    def write(name: int) -> None:
        answers.append(api_client.put(PAGE, f"writer {name}\n", If_Match=read).status_code)

    writers = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert sorted(answers) == [200, *[412] * 7]


def test_a_write_between_the_look_and_the_save_is_not_lost(
    api_client: Api, full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor saves in the last instant: after the version was compared, before the page is replaced."""
    read, write = api_client.tag(PAGE), FolderPages.write

    def interrupt(self: FolderPages, path: str, text: str, if_version: str | None = None) -> str:
        (full / PAGE).write_text("saved by hand\n")
        return write(self, path, text, if_version)

    monkeypatch.setattr(FolderPages, "write", interrupt)
    late = api_client.put(PAGE, "mine\n", If_Match=read)
    assert late.status_code == 412
    assert late.json()["current"]
    assert (full / PAGE).read_text() == "saved by hand\n"


def test_a_page_is_removed_if_it_is_as_it_was_read(api_client: Api, full: Path) -> None:
    headers = {"If-Match": api_client.tag(PAGE)}
    (full / PAGE).write_text("changed by hand\n")
    assert api_client.send("DELETE", f"pages/{PAGE}", headers=headers).status_code == 412
    assert api_client.send("DELETE", f"pages/{PAGE}", headers={"If-Match": api_client.tag(PAGE)}).status_code == 204
    assert api_client.send("GET", f"pages/{PAGE}").status_code == 404
    assert not (full / PAGE).exists()


FILE, FOLDER = "a file is where a folder should be", "a folder is where a page should be"


@pytest.mark.parametrize(
    ("stands", "expected", "answer"),
    [
        ("memory/x", "memory/x/y.md", FILE),
        ("memory/x.md", "memory/x.md/deep/y.md", FILE),
        ("memory/x.md/y.md", "memory/x.md", FOLDER),
    ],
)
def test_a_page_whose_place_something_else_took_is_a_conflict(
    api_client: Api, full: Path, stands: str, expected: str, answer: str
) -> None:
    (full / stands).parent.mkdir(exist_ok=True)
    (full / stands).write_text("here first\n")
    refused = api_client.put(expected, "x", If_None_Match="*")
    assert (refused.status_code, refused.json()["title"]) == (409, "In the way")
    assert refused.json()["detail"] == f"{expected}: {answer}: move it away, or use another name"
    assert api_client.send("GET", f"pages/{expected}").status_code == 404
    assert api_client.put(expected, "x", If_Match="*").status_code == 412
    assert api_client.post("merge", path=expected, base="", text="x")["text"] == "x"
    assert (full / stands).read_text() == "here first\n"


def test_nothing_is_restored_through_what_is_in_its_way(api_client: Api, full: Path) -> None:
    change = api_client.get("history", what=PAGE)["changes"][0]["id"]
    shutil.rmtree(full / "memory/world")
    (full / "memory/world").write_text("a file")
    back = api_client.send("POST", "restore", json={"path": PAGE, "when": change})
    assert (back.status_code, FILE in back.json()["detail"]) == (409, True)
    (undone,) = api_client.post("undo", changes=[change])["undone"]
    assert undone["done"] is False
    tool = api_client.send("POST", "tools/update_world", json={"topic": "people", "content": "x"})
    assert (tool.status_code, FILE in tool.text) == (409, True)
    assert (full / "memory/world").read_text() == "a file"


def test_two_changes_are_put_together_where_they_do_not_meet(api_client: Api) -> None:
    api_client.put("memory/list.md", "one\ntwo\nthree\nfour\n", If_None_Match="*")
    base = api_client.tag("memory/list.md")
    api_client.put("memory/list.md", "ONE\ntwo\nthree\nfour\n", If_Match=base)
    response = api_client.post("merge", path="memory/list.md", base=base.strip('"'), text="one\ntwo\nthree\nFOUR\n")
    assert (response["text"], response["conflicts"]) == ("ONE\ntwo\nthree\nFOUR\n", 0)
    assert [part["kind"] for part in response["parts"]] == ["theirs", "same", "mine"]
    assert api_client.put("memory/list.md", response["text"], If_Match=f'"{response["current"]}"').status_code == 200


def test_what_a_merge_showed_is_what_the_next_one_begins_from(api_client: Api, full: Path) -> None:
    page, start = full / "memory/list.md", "one\ntwo\nthree\nfour\n"
    api_client.put("memory/list.md", start, If_None_Match="*")
    base = api_client.tag("memory/list.md").strip('"')
    page.write_text(start.replace("one", "by hand"))
    first = api_client.post("merge", path="memory/list.md", base=base, text=start.replace("four", "mine"))
    page.write_text(start.replace("one", "by hand again"))
    second = api_client.post("merge", path="memory/list.md", base=first["current"], text=first["text"])
    assert (second["text"], second["conflicts"]) == ("by hand again\ntwo\nthree\nmine\n", 0)


def test_where_two_changes_meet_both_are_shown(api_client: Api) -> None:
    api_client.put("memory/list.md", "one\ntwo\n", If_None_Match="*")
    base = api_client.tag("memory/list.md")
    api_client.put("memory/list.md", "theirs\ntwo\n", If_Match=base)
    response = api_client.post("merge", path="memory/list.md", base=base.strip('"'), text="mine\ntwo\n")
    assert response["conflicts"] == 1
    assert response["parts"][0] == {
        "kind": "conflict",
        "text": "",
        "base": "one\n",
        "theirs": "theirs\n",
        "mine": "mine\n",
    }
    assert response["text"] == "<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> theirs\ntwo\n"
    unknown = api_client.send("POST", "merge", json={"path": "memory/list.md", "base": "f" * 32, "text": "x"})
    assert unknown.status_code == 404


def test_a_change_is_shown_and_taken_back(api_client: Api) -> None:
    api_client.put(PAGE, "# People\n\nNobody.\n", If_Match=api_client.tag(PAGE))
    change = api_client.get("history", what=PAGE)["changes"][0]
    response = api_client.get(f"history/{change['id']}")
    assert [(each["op"], each["text"]) for each in response["hunks"]] == [
        ("same", "# People"), ("same", ""), ("remove", "Ann and Bob."), ("add", "Nobody."),
    ]  # fmt: skip
    undone = api_client.post("undo", changes=[change["id"]])["undone"]
    assert [(each["path"], each["done"], each["problem"]) for each in undone] == [(PAGE, True, "")]
    assert "Ann and Bob." in api_client.send("GET", f"pages/{PAGE}").text


def test_what_cannot_be_undone_says_why(api_client: Api) -> None:
    api_client.put(PAGE, "one\n", If_Match=api_client.tag(PAGE))
    first = api_client.get("history", what=PAGE)["changes"][0]["id"]
    api_client.put(PAGE, "two\n", If_Match=api_client.tag(PAGE))
    (undone,) = api_client.post("undo", changes=[first])["undone"]
    assert undone["done"] is False
    assert "has changed since in the same place" in undone["problem"]


def test_a_page_is_again_what_it_was(api_client: Api) -> None:
    changes = api_client.get("history", what=PAGE)["changes"][-1]
    api_client.put(PAGE, "other\n", If_Match=api_client.tag(PAGE))
    done = api_client.post("restore", path=PAGE, when=changes["id"])
    assert done == {"path": PAGE, "changed": True, "version": api_client.tag(PAGE).strip('"')}
    assert api_client.post("restore", path=PAGE, when=changes["at"])["changed"] is False


def test_history_goes_on_where_it_stopped(api_client: Api) -> None:
    every = api_client.get("history", limit=1000)["changes"]
    one = api_client.get("history", limit=2)
    assert one["more"] is True
    rest = api_client.get("history", limit=1000, before=one["changes"][-1]["id"])["changes"]
    assert [*one["changes"], *rest] == every
    assert api_client.get("history", what="no such page")["changes"] == []


@pytest.fixture
def strict(full: Path) -> Iterator[Api]:
    (full / "commonplace.yaml").write_text("secrets: refuse\n")
    with api(full) as one:
        yield one


def test_secrets_are_kept_out_of_pages_as_the_settings_say(strict: Api) -> None:
    from .conftest import KEY

    refused = strict.put("memory/new.md", f"the key is {KEY}\n", If_None_Match="*")
    assert refused.status_code == 422
    assert KEY not in refused.text
    assert strict.send("GET", "pages/memory/new.md").status_code == 404


def test_what_others_keep_is_not_written(api_client: Api) -> None:
    session = "agents/main/sessions/s-1.jsonl"
    assert api_client.put(session, "x", If_Match=api_client.tag(session)).status_code == 403
    assert api_client.put("directives/mine.md", "Be brief.\n", If_None_Match="*").status_code == 201
    assert api_client.put("README.md", "x", If_None_Match="*").status_code == 404
    assert api_client.put("commonplace.yaml", "x", If_None_Match="*").status_code == 404
    assert api_client.put(".access/tokens.json", "{}", If_None_Match="*").status_code == 404


def test_another_process_sees_what_was_written_and_the_other_way_round(api_client: Api, full: Path) -> None:
    api_client.put("memory/new.md", "The wombat sleeps.\n", If_None_Match="*")
    assert Memory(full).search("wombat")
    Memory(full).call("remember", {"content": "The numbat does not."})
    assert api_client.get("search", q="numbat")["results"]


def test_each_conversation_rewrites_a_topic_from_what_it_was_given(api_client: Api, full: Path) -> None:
    one, two, bob = api_client.as_(Session="one"), api_client.as_(Session="two"), api_client.as_(Agent="bob")
    one.post("tools/recall")
    two.get(f"pages/{PAGE}")
    bob.post("tools/memory_get", path=PAGE)  # without a session: what the agent was given
    for who, name in ((one, "Cleo"), (two, "Dan"), (bob, "Eve")):
        content = f"# People\n\nAnn and Bob.\n{name}.\n"
        assert "conflict" not in who.post("tools/update_world", topic="people", content=content)
    assert (full / PAGE).read_text() == "# People\n\nAnn and Bob.\nCleo.\nDan.\nEve.\n"
    lost = bob.post("tools/update_world", topic="people", content="# People\n\nAnn.\nEve.\n")
    assert (full / PAGE).read_text() == "# People\n\nAnn.\nCleo.\nDan.\nEve.\n"
    assert "conflict" not in lost


def test_settings_that_change_leave_conversations_what_they_were_given(api_client: Api, full: Path) -> None:
    one = api_client.as_(Session="one")
    one.post("tools/recall")
    Memory(full, "bob").call("update_world", {"topic": "people", "content": "# People\n\nAnn and Bob.\nCleo.\n"})
    (full / "commonplace.yaml").write_text("timezone: Europe/Paris\n")
    one.post("tools/update_world", topic="people", content="# People\n\nAnn and Bob.\nDan.\n")
    page = (full / PAGE).read_text()
    assert "Cleo." in page
    assert "Dan." in page


def test_what_is_no_citation_is_answered_with_an_example_of_one(api_client: Api) -> None:
    answer = api_client.send("POST", "supersede", json={"old": "a", "new": "b"})
    assert answer.status_code == 400
    assert "memory/world/people.md#L3" in answer.json()["detail"]
