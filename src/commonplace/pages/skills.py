"""Skills: a folder each, with SKILL.md (front matter and instructions) and, when there is data, data.json beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

from ..errors import PageNotFound, StorageError
from ..markdown import skills as page_of
from ..markdown.times import stamp
from ..model import Clock, Json, Skill
from . import Pages
from .layout import Layout
from .names import skill_folder


class Skills:
    def __init__(self, pages: Pages, layout: Layout, clock: Clock) -> None:
        self.pages, self.layout, self.clock = pages, layout, clock

    def get(self, name: str) -> Skill | None:
        skill = self._at(skill_folder(name))
        return skill if skill and skill.name == name else None

    def all(self) -> list[Skill]:
        """Every skill, sorted by name. One that can not be read is left out; `problems` names it."""
        found = (self._at(folder) for folder in self.pages.folders(self.layout.skills))
        return sorted((skill for skill in found if skill), key=lambda skill: skill.name)

    def visible_to(self, user: str | None) -> list[Skill]:
        return [skill for skill in self.all() if skill.owner == "global" or skill.owner == user]

    def create(self, name: str, description: str, data: dict[str, Json], owner: str, instructions: str) -> Skill:
        """A new skill; one that exists only gets the new description."""
        now = stamp(self.clock())
        fresh = Skill(name, description, instructions, owner, data, created_at=now, updated_at=now)

        def change(old: Skill | None) -> Skill:
            return old._replace(description=description, updated_at=now) if old else fresh

        return self._change(name, change)

    def update(self, name: str, change: Callable[[Skill], Skill]) -> Skill | None:
        """Change a skill that exists; None when it does not."""
        now = stamp(self.clock())
        if self.get(name) is None:
            return None
        return self._change(name, lambda old: change(old)._replace(updated_at=now) if old else None)

    def delete(self, name: str) -> bool:
        with self.pages.hold(f"skill {name}"):
            skill = self.get(name)
            if skill is None:
                return False
            for path in (self._data_path(skill_folder(name)), skill.path):
                try:
                    self.pages.remove(path)
                except PageNotFound:
                    continue
            return True

    def _change(self, name: str, change: Callable[[Skill | None], Skill | None]) -> Skill:
        folder = skill_folder(name)
        with self.pages.hold(f"skill {name}"):
            old = self.get(name)
            new = change(old)
            if new is None:
                raise PageNotFound(self._path(folder))
            if old and old.warning:
                raise StorageError(f"{old.warning}: mend it by hand first")
            if new.data != (old.data if old else {}):
                self.pages.write(self._data_path(folder), json.dumps(new.data, ensure_ascii=False, indent=2) + "\n")
            self.pages.edit(self._path(folder), lambda text: page_of.write(text, new, folder))
            return new

    def _path(self, folder: str) -> str:
        return f"{self.layout.skills}/{folder}/SKILL.md"

    def _data_path(self, folder: str) -> str:
        return f"{self.layout.skills}/{folder}/data.json"

    def _at(self, folder: str) -> Skill | None:
        path = self._path(folder)
        try:
            text = self.pages.read(path).text
        except PageNotFound:
            return None
        except StorageError as error:
            return Skill(folder, "", path=path, warning=str(error))
        when = stamp(datetime.fromtimestamp(self.pages.modified(path), UTC))
        skill = page_of.read(text, Skill(folder, "", created_at=when, updated_at=when, path=path))
        data, problem = self._data(folder)
        return skill._replace(data=data, warning=skill.warning or problem)

    def _data(self, folder: str) -> tuple[dict[str, Json], str]:
        path = self._data_path(folder)
        try:
            data = json.loads(self.pages.read(path).text)
        except PageNotFound:
            return {}, ""
        except (StorageError, ValueError, RecursionError) as error:
            return {}, f"{path} is not JSON ({error})"
        return (data, "") if isinstance(data, dict) else ({}, f"{path} does not hold a JSON object")
