"""Lists of words: what a file says, and that every list of the program is one that its code asks for."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

import commonplace
from commonplace.facts.cues import Cue
from commonplace.facts.states import RELATIONS
from commonplace.search.date_phrases import RecentPhrases, Vocabulary
from commonplace.search.validity import ValidityWords
from commonplace.word_lists import WordLists

SOURCE = Path(commonplace.__file__).parent
FILES = sorted(SOURCE.glob("*/lists/*.txt"))
LINE = re.compile(r"#.*|\w+:(?: .*)?|    \S.*|        \S.*|")


def read(folder: Path, text: str) -> WordLists:
    (folder / "answers.txt").write_text(text)
    return WordLists(folder)


def test_a_list_has_the_words_of_all_languages(tmp_path: Path) -> None:
    lists = read(tmp_path, "# Words that deny.\nNO:\n    english: not no\n    german:\n        nicht\n        kein\n")
    assert lists.read_text("answers", "NO").split() == ["not", "no", "nicht", "kein"]
    assert {part: words.split() for part, words in lists.read_table("answers", "NO").items()} == {
        "english": ["not", "no"],
        "german": ["nicht", "kein"],
    }


def test_a_list_on_one_line_ends_there(tmp_path: Path) -> None:
    lists = read(tmp_path, "NO: not no\nYES: yes\n\n# More.\nOK:\n    fine\n")
    assert [*lists.list_names("answers")] == ["NO", "YES", "OK"]
    assert lists.read_text("answers", "NO").split() == ["not", "no"]


def test_phrases_stand_between_bars_or_on_lines_of_their_own(tmp_path: Path) -> None:
    lists = read(tmp_path, "DONE:\n    done | dealt with | (?:ticked|crossed) off\n    no longer open\n")
    assert lists.list_phrases("answers", "DONE") == ["done", "dealt with", "(?:ticked|crossed) off", "no longer open"]


def test_phrases_are_found_as_whole_words_unless_their_script_has_no_spaces(tmp_path: Path) -> None:
    pattern = read(tmp_path, "DONE:\n    whole: done | fin\n    anywhere: 完成\n").phrase_pattern("answers", "DONE")
    assert pattern.search("it is done")
    assert not pattern.search("it is fine")
    assert pattern.search("任务完成了")


def test_a_list_may_mention_another_by_its_name(tmp_path: Path) -> None:
    lists = read(tmp_path, "BACK: back/over?\nMOVED: S moved {BACK} to V\n")
    assert lists.read_text("answers", "MOVED").strip() == "S moved back/over? to V"


def test_a_list_that_is_not_there_is_an_error_unless_a_default_is_given(tmp_path: Path) -> None:
    lists = read(tmp_path, "NO: not\n")
    with pytest.raises(KeyError):
        lists.read_text("answers", "YES")
    assert lists.list_phrases("answers", "YES", default="") == []


@pytest.mark.parametrize("file", FILES, ids=[f"{file.parts[-3]}/{file.stem}" for file in FILES])
def test_every_line_of_the_lists_is_one_that_is_read(file: Path) -> None:
    lines = file.read_text().split("\n")
    assert [line for line in lines if not LINE.fullmatch(line) or line != line.rstrip()] == []
    heads = Counter(line.partition(":")[0] for line in lines if re.match(r"\w+:", line))
    assert [name for name, count in heads.items() if count > 1] == []
    assert [*WordLists(file.parent).list_names(file.stem)] == [*heads]


@pytest.mark.parametrize("folder", ["facts", "search"])
def test_every_list_is_asked_for(folder: str) -> None:
    code = "\n".join(
        module.read_text() for layer in ("facts", "search", "context") for module in (SOURCE / layer).glob("*.py")
    )
    texts = "\n".join(file.read_text() for file in FILES)
    lists = WordLists(SOURCE / folder / "lists")
    files = [file for file in FILES if file.parts[-3] == folder]
    names = {name for file in files for name in lists.list_names(file.stem) if not _is_field(name)}
    unknown = {name for name in names if f'"{name}"' not in code and f"{{{name}}}" not in texts}
    assert unknown == set()


def _is_field(name: str) -> bool:
    """Return whether a list is found by the name of a field: a kind of phrase, a state, or a way to name days."""
    fields = [*get_args(Cue), *(f"forms_{relation}" for relation in RELATIONS), *Vocabulary._fields]
    fields += (f"recent_{field}" for field in RecentPhrases._fields)
    fields += (f"valid_{field}" for field in ValidityWords._fields)
    return name.lower() in (field.replace(" ", "_") for field in fields)
