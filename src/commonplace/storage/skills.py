"""Skills: a folder each, with SKILL.md (front matter and instructions) and, when there is data, data.json beside it.

Several names may want one folder (`tree_removal`, `tree-removal`): the first that is created gets it, and the pages say
what their skills are called.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime

from ..errors import CommonplaceError, PageNotFound, StorageError
from ..formats import json_text as jsontext
from ..formats import records as page_of
from ..formats.timestamps import format_timestamp
from ..model import Clock, Json, Skill
from .base import PageReader, Pages, PageWriter
from .layout import Layout
from .names import require_valid_name, skill_folders

PAGE = "SKILL.md"
DATA = "data.json"


def skill_at(pages: Pages, path: str, folder: str) -> Skill:
    """Return the skill on a page, with the data beside it."""
    return parse(pages.read(path).text, pages, path, folder)


def parse(text: str, pages: PageReader, path: str, folder: str, *, alone: bool = False) -> Skill:
    """Parse a page as a skill, `alone` without its data. Its folder decides its name, as with records."""
    when = format_timestamp(datetime.fromtimestamp(pages.modified_at(path), UTC))
    skill = page_of.parse_skill(text, Skill(folder, "", created_at=when, updated_at=when, path=path))
    name = skill.name if folder in skill_folders(skill.name) else folder
    data, problem = ({}, "") if alone else _read_data(pages, path.removesuffix(PAGE) + DATA)
    return skill._replace(name=name, data=data, warning=skill.warning or problem)


def _read_data(pages: PageReader, path: str) -> tuple[dict[str, Json], str]:
    try:
        data = jsontext.parse_json(pages.read(path).text)
    except PageNotFound:
        return {}, ""
    except CommonplaceError as error:
        return {}, str(error)
    except ValueError as error:
        return {}, f"{path} is not JSON ({error})"
    return (data, "") if isinstance(data, dict) else ({}, f"{path} does not hold a JSON object")


class Skills:
    def __init__(
        self, pages: Pages, writer: PageWriter, layout: Layout, clock: Clock, only_folder: str | None = None
    ) -> None:
        """Open the skills of a memory. With `only_folder` a skill is in that folder, whatever its name is."""
        self.only_folder = only_folder
        self.pages = pages
        self.writer = writer
        self.layout = layout
        self.clock = clock

    def get(self, name: str) -> Skill | None:
        skill = self._read_skill(self.find_folder(name))
        return skill if skill and skill.name == name else None

    def all(self) -> list[Skill]:
        """Return every skill, sorted by name; one that cannot be read has a warning."""
        skills = (self._read_skill(folder) for folder in self.pages.list_folders(self.layout.skills))
        return sorted((skill for skill in skills if skill), key=lambda skill: skill.name)

    def visible_to(self, user: str | None) -> list[Skill]:
        return [skill for skill in self.all() if skill.is_visible_to(user)]

    def create(self, name: str, description: str, data: dict[str, Json], owner: str, instructions: str) -> Skill:
        """Create a skill; one that exists only gets the new description."""
        require_valid_name("name", name)
        require_valid_name("owner", owner)
        now = format_timestamp(self.clock())
        fresh = Skill(name, description, instructions, owner, data, created_at=now, updated_at=now)

        def change(old: Skill | None) -> Skill:
            return old._replace(description=description, updated_at=now) if old else fresh

        return self._change(name, change)

    def update(self, name: str, change: Callable[[Skill], Skill]) -> Skill | None:
        """Change a skill and return it; None when it does not exist."""
        now = format_timestamp(self.clock())
        if self.get(name) is None:
            return None
        return self._change(name, lambda old: change(old)._replace(updated_at=now) if old else None)

    def delete(self, name: str) -> bool:
        with self._lock(name):
            folder = self.find_folder(name)
            skill = self._read_skill(folder)
            if skill is None or skill.name != name:
                return False
            self.writer.remove(skill.path)
            with suppress(PageNotFound):
                self.writer.remove(self._data_path(folder))
            return True

    def _change(self, name: str, change: Callable[[Skill | None], Skill | None]) -> Skill:
        with self._lock(name):
            folder = self.find_folder(name)
            skill = self._read_skill(folder)
            old = skill if skill and skill.name == name else None
            new = change(old)
            if new is None:
                raise PageNotFound(self._path(folder))
            if old and old.warning:
                raise StorageError(f"{old.warning}: repair it by hand first")
            self._write(folder, old, new)
            return new

    def _write(self, folder: str, old: Skill | None, new: Skill) -> None:
        """Write the data, then the page that makes it valid; if that fails, restore the data."""
        before = self._write_data(folder, new.data) if old is None or new.data != old.data else None
        try:
            self.writer.edit(self._path(folder), lambda text: page_of.render_skill(text, new, folder))
        except CommonplaceError:
            if before is not None:
                self._restore_data(folder, before)
            raise

    def _write_data(self, folder: str, data: dict[str, Json]) -> str:
        """Write the data over what an earlier skill of that name left, and return the earlier text."""
        path = self._data_path(folder)
        try:
            before = self.pages.read(path).text
        except PageNotFound:
            before = ""
        if data or before:
            self.writer.write(path, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
        return before

    def _restore_data(self, folder: str, before: str) -> None:
        with suppress(CommonplaceError):
            if before:
                self.writer.write(self._data_path(folder), before)
            else:
                self.writer.remove(self._data_path(folder))

    def _lock(self, name: str) -> AbstractContextManager[None]:
        """Return the lock of all names that want the same folder."""
        return self.pages.lock(f"skill {skill_folders(name)[0]}")

    def find_folder(self, name: str) -> str:
        """Return the folder of a skill, or the one it will get: a person's of exactly that name, else ours."""
        if self.only_folder is not None:
            return self.only_folder
        plain, unique = skill_folders(name)
        folders = self.pages.list_folders(self.layout.skills)  # exact names: a file system may ignore case
        if name not in (plain, unique) and name in folders:
            return name
        for folder in dict.fromkeys((plain, unique)):
            skill = self._read_skill(folder) if folder in folders else None
            if skill and (skill.name == name or (skill.warning and folder == unique)):
                return folder
        return unique if any(self._has_page(folder) for folder in folders if folder.casefold() == plain) else plain

    def _has_page(self, folder: str) -> bool:
        return self._read_skill(folder) is not None

    def _path(self, folder: str) -> str:
        return f"{self.layout.skills}/{folder}/{PAGE}"

    def _data_path(self, folder: str) -> str:
        return f"{self.layout.skills}/{folder}/{DATA}"

    def _read_skill(self, folder: str) -> Skill | None:
        path = self._path(folder)
        try:
            return skill_at(self.pages, path, folder)
        except PageNotFound:
            return None
        except CommonplaceError as error:
            return Skill(folder, "", path=path, warning=str(error))
