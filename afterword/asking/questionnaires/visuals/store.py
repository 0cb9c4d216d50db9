"""The SQL of visuals; at most one of a questionnaire is active."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword.core.questionnaires import visuals
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Visual:
    """A visual; `configuration` is unchanged, with its order of keys."""

    organization_id: str
    visual_id: str
    questionnaire_id: str
    title: str
    active: bool
    configuration: dict[str, Any]
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None

    lacks_picture: bool = False

    @property
    def problems(self) -> list[dict[str, str]]:
        missing = {"key": "logo", "code": "unknown_id", "message": "There is no such picture."}
        return [*([missing] if self.lacks_picture else []), *visuals.problems(self.configuration)]


@dataclass(frozen=True, slots=True)
class Layers:
    """The configurations that the theme of a questionnaire is inherited from, and the id of its active visual."""

    organization: dict[str, Any]
    application: dict[str, Any]
    visual: dict[str, Any] | None
    visual_id: str | None


_COLUMNS: Final = columns_of(Visual, without=("lacks_picture",))


async def get_visual(db: Database, *, organization_id: str, questionnaire_id: str, visual_id: str) -> Visual | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from questionnaire_visual
           where organization_id = $1 and questionnaire_id = $2 and visual_id = $3""",
        *(organization_id, questionnaire_id, visual_id),
    )
    return Visual(**row) if row else None


async def get_layers(db: Database, *, organization_id: str, questionnaire_id: str) -> Layers | None:
    row = await db.fetch_row(
        """select o.brand as organization, a.brand as application, v.configuration as visual, v.visual_id
           from questionnaire q
             join application a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id
             join organization o on o.organization_id = q.organization_id
             left join questionnaire_visual v
               on v.organization_id = q.organization_id and v.questionnaire_id = q.questionnaire_id and v.active
           where q.organization_id = $1 and q.questionnaire_id = $2""",
        *(organization_id, questionnaire_id),
    )
    return Layers(**row) if row else None


async def list_visuals(db: Database, *, organization_id: str, questionnaire_id: str, page: Page) -> Rows[Visual]:
    rows = await db.fetch_list(
        f"select {_COLUMNS} from questionnaire_visual where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id),
        page=page,
    )
    return rows.map(lambda row: Visual(**row))


async def count_visuals(db: Database, *, organization_id: str, questionnaire_id: str) -> int:
    return await db.fetch_value(
        "select count(*) from questionnaire_visual where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id),
    )


async def insert_visual(
    db: Database,
    *,
    organization_id: str,
    visual_id: str,
    questionnaire_id: str,
    title: str,
    active: bool,
    configuration: Mapping[str, object],
    now: datetime,
    by: str | None,
) -> Visual:
    """Raises Taken if another one is active."""
    row = await db.fetch_one(
        f"""insert into questionnaire_visual (organization_id, visual_id, questionnaire_id, title, active,
             configuration, created_time, updated_time, created_by, updated_by)
           values ($1, $2, $3, $4, $5, $6, $7, $7, $8, $8) returning {_COLUMNS}""",
        *(organization_id, visual_id, questionnaire_id, title, active, configuration, now, by),
    )
    return Visual(**row)


async def update_visual(
    db: Database,
    *,
    organization_id: str,
    visual_id: str,
    title: str | None = None,
    active: bool | None = None,
    configuration: Mapping[str, object] | None = None,
    now: datetime,
    by: str | None,
) -> Visual:
    """Set the values that are not None in a locked row. Raises Taken if another is active."""
    row = await db.fetch_one(
        f"""update questionnaire_visual set title = coalesce($3, title), active = coalesce($4, active),
             configuration = coalesce($5, configuration), version = version + 1,
             updated_time = greatest($6, updated_time), updated_by = $7
           where organization_id = $1 and visual_id = $2 returning {_COLUMNS}""",
        *(organization_id, visual_id, title, active, configuration, now, by),
    )
    return Visual(**row)


async def update_to_inactive(
    db: Database, *, organization_id: str, questionnaire_id: str, now: datetime, by: str | None
) -> None:
    await db.execute(
        """update questionnaire_visual set active = false, version = version + 1,
             updated_time = greatest($3, updated_time), updated_by = $4
           where organization_id = $1 and questionnaire_id = $2 and active""",
        *(organization_id, questionnaire_id, now, by),
    )


async def delete_visual(db: Database, *, organization_id: str, visual_id: str) -> None:
    await db.execute(
        "delete from questionnaire_visual where organization_id = $1 and visual_id = $2", organization_id, visual_id
    )
