"""basic-memory: its text search over a project of notes. Its vectors need a model that it downloads."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from worker import DEPTH, Search, Task, number, write_notes


def index(task: Task) -> Search:
    notes = task.folder / "notes"
    write_notes(task, notes)
    os.environ["BASIC_MEMORY_HOME"] = str(notes)
    os.environ["BASIC_MEMORY_CONFIG_DIR"] = str(task.folder / "settings")
    os.environ["BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED"] = "false"
    os.environ["LOGFIRE_IGNORE_NO_CONFIG"] = "1"
    loop = asyncio.new_event_loop()
    service = loop.run_until_complete(synced())

    from basic_memory.schemas.search import SearchItemType, SearchQuery

    def search(question: str) -> list[int]:
        query = SearchQuery(text=question, entity_types=[SearchItemType.ENTITY])
        rows = loop.run_until_complete(service.search(query, limit=DEPTH))
        return [number(row.file_path) for row in rows]

    return search


async def synced() -> Any:
    """The project's search service, when every note is in its index."""
    from basic_memory import db
    from basic_memory.config import ConfigManager
    from basic_memory.repository import ProjectRepository
    from basic_memory.services.initialization import reconcile_projects_with_config
    from basic_memory.sync.sync_service import get_sync_service
    from loguru import logger

    logger.remove()
    config = ConfigManager().config
    _, sessions = await db.get_or_create_db(db_path=config.database_path, db_type=db.DatabaseType.FILESYSTEM)
    await reconcile_projects_with_config(config)
    (project,) = await ProjectRepository(sessions).get_active_projects()
    syncing = await get_sync_service(project)
    await syncing.sync(Path(project.path), project_name=project.name)
    return syncing.search_service
