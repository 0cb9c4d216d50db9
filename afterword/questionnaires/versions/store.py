"""The SQL of published versions as clients see them, with unparsed definitions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword import errors
from afterword.core.wire.lists import Page, Rows
from afterword.db import Database
from afterword.questionnaires.store import VERSION_COLUMNS


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedVersion:
    organization_id: str
    version_id: str
    questionnaire_id: str
    number: int
    note: str | None
    definition: dict[str, Any]
    checksum: str
    published_time: datetime
    published_by: str | None


async def get_version(
    db: Database, *, organization_id: str, questionnaire_id: str, version_id: str
) -> PublishedVersion:
    row = await db.fetch_row(
        f"""select {VERSION_COLUMNS} from questionnaire_version
           where organization_id = $1 and questionnaire_id = $2 and version_id = $3""",
        *(organization_id, questionnaire_id, version_id),
    )
    if row is None:
        raise errors.NotFound("There is no such version.")
    return PublishedVersion(**dict(row))


async def list_versions(
    db: Database, *, organization_id: str, questionnaire_id: str, page: Page
) -> Rows[PublishedVersion]:
    rows = await db.fetch_list(
        f"""select {VERSION_COLUMNS} from questionnaire_version
           where organization_id = $1 and questionnaire_id = $2""",
        *(organization_id, questionnaire_id),
        page=page,
    )
    return rows.map(lambda row: PublishedVersion(**dict(row)))


async def list_numbers(
    db: Database, *, organization_id: str, questionnaire_id: str, limit: int
) -> list[tuple[str, int, datetime]]:
    """The ids, numbers and times of the newest versions, the newest first."""
    rows = await db.fetch(
        """select version_id, number, published_time from questionnaire_version
           where organization_id = $1 and questionnaire_id = $2 order by number desc limit $3""",
        *(organization_id, questionnaire_id, limit),
    )
    return [(row["version_id"], row["number"], row["published_time"]) for row in rows]
