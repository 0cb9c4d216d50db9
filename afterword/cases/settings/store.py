"""SQL of the settings of cases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any, Final, LiteralString

from afterword.core.scheduling.windows import WEEKDAYS_ALL
from afterword.kit.db import Database
from afterword.kit.db.columns import assigned, qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of an organization; `version` 0 was never saved, and has the defaults: every hour counts."""

    organization_id: str
    weekdays: list[int] = field(default_factory=lambda: sorted(WEEKDAYS_ALL))
    start_time: time | None = None
    end_time: time | None = None
    closed_on_holidays: bool = False
    causes: list[str] = field(default_factory=list[str])
    remedies: list[str] = field(default_factory=list[str])
    saved_texts: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    recovery_questionnaire_id: str | None = None
    version: int = 0
    updated_time: datetime
    updated_by: str | None = None


_EDITABLE: Final[LiteralString] = """weekdays, start_time, end_time, closed_on_holidays, causes, remedies,
  saved_texts, recovery_questionnaire_id"""
EDITABLE: Final = tuple(name.strip() for name in _EDITABLE.split(","))


async def get_settings(db: Database, *, organization_id: str) -> Settings:
    row = await db.fetch_one(
        f"""select o.organization_id, {qualified(_EDITABLE, "s")}, s.version,
             coalesce(s.updated_time, o.created_time) as updated_time, s.updated_by
           from organization o left join alert_settings s on s.organization_id = o.organization_id
           where o.organization_id = $1""",
        organization_id,
    )
    values = dict(row)
    if values["version"] is None:
        return Settings(organization_id=organization_id, updated_time=values["updated_time"])
    return Settings(**values)


async def get_settings_locked(db: Database, *, organization_id: str) -> Settings:
    """As get_settings, locked until the transaction ends; inserts the row if there is none."""
    await db.execute(
        "insert into alert_settings (organization_id, version) values ($1, 0) on conflict do nothing", organization_id
    )
    await db.execute("select from alert_settings where organization_id = $1 for update", organization_id)
    return await get_settings(db, organization_id=organization_id)


async def update_settings(
    db: Database, *, organization_id: str, document: Mapping[str, Any], now: datetime, updated_by: str
) -> Settings:
    await db.execute(
        f"""update alert_settings s
           set {assigned(_EDITABLE, "d")}, version = s.version + 1, updated_time = greatest(s.updated_time, $3),
             updated_by = $4
           from jsonb_populate_record(null::alert_settings, $2::jsonb) d where s.organization_id = $1""",
        *(organization_id, document, now, updated_by),
    )
    return await get_settings(db, organization_id=organization_id)
