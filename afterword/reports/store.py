"""SQL of custom reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString, final

from afterword.core.figures import templates
from afterword.core.wire.lists import Page, Rows
from afterword.db import Database
from afterword.db.columns import columns_of, qualified


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CustomReport:
    """A saved report; `spec` as it was checked when it was saved."""

    organization_id: str
    report_id: str
    application_id: str | None
    title: str
    description: str | None
    spec: dict[str, Any]
    questionnaire_ids: list[str]
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None
    pinned_time: datetime | None

    @property
    def has_texts(self) -> bool:
        """Whether it shows parts of answers, which leave the console neither by a link nor by mail."""
        return self.spec.get("template_id") == templates.COMMENTS


_COLUMNS: Final = columns_of(CustomReport)
_COLUMNS_R: Final = qualified(_COLUMNS, "r")
# Reports, unless they, or questionnaires in them, belong to other applications than these (none: any).
_VISIBLE: Final[LiteralString] = f"""select {_COLUMNS_R} from custom_report r
  where r.organization_id = $1 and (cardinality($2::text[]) = 0 or (
    coalesce(r.application_id = any($2), true) and not exists (
      select 1 from questionnaire q where q.organization_id = r.organization_id
        and q.questionnaire_id = any(r.questionnaire_ids) and q.owner_application_id <> all($2))))"""


async def get_report(
    db: Database, *, organization_id: str, report_id: str, application_ids: Sequence[str], is_locked: bool = False
) -> CustomReport | None:
    """A report that these applications (none: all) may see; `is_locked`: until the transaction ends."""
    lock: LiteralString = "for update of r" if is_locked else ""
    row = await db.fetch_row(
        f"{_VISIBLE} and r.report_id = $3 {lock}", organization_id, list(application_ids), report_id
    )
    return CustomReport(**row) if row else None


async def list_custom_reports(
    db: Database, *, organization_id: str, application_ids: Sequence[str], page: Page
) -> Rows[CustomReport]:
    rows = await db.fetch_list(_VISIBLE, organization_id, list(application_ids), page=page)
    return rows.map(lambda row: CustomReport(**row))


async def list_pinned_reports(
    db: Database, *, organization_id: str, application_ids: Sequence[str], limit: int
) -> list[CustomReport]:
    pinned: LiteralString = "r.pinned_time is not null order by r.pinned_time, r.report_id limit $3"
    rows = await db.fetch(f"{_VISIBLE} and {pinned}", organization_id, list(application_ids), limit)
    return [CustomReport(**row) for row in rows]


async def count_reports(db: Database, *, organization_id: str) -> int:
    return await db.fetch_value("select count(*) from custom_report where organization_id = $1", organization_id)


async def insert_report(
    db: Database, *, organization_id: str, report_id: str, columns: Mapping[str, Any], now: datetime, by: str
) -> CustomReport:
    row = await db.fetch_one(
        f"""insert into custom_report (organization_id, report_id, application_id, title, description, spec,
             questionnaire_ids, created_time, updated_time, created_by, updated_by)
           select $1, $2, s.application_id, s.title, s.description, s.spec,
             array(select jsonb_array_elements_text(s.spec -> 'questionnaire_ids')), $4, $4, $5, $5
           from jsonb_populate_record(null::custom_report, $3::jsonb) s returning {_COLUMNS}""",
        *(organization_id, report_id, columns, now, by),
    )
    return CustomReport(**row)


async def update_report(
    db: Database, *, organization_id: str, report_id: str, changes: Mapping[str, Any], now: datetime, by: str
) -> CustomReport | None:
    """Write what is named of title, description, spec and pinned_time; None when nothing changed."""
    row = await db.fetch_row(
        f"""update custom_report r
           set title = n.title, description = n.description, spec = n.spec, pinned_time = n.pinned_time,
             questionnaire_ids = array(select jsonb_array_elements_text(n.spec -> 'questionnaire_ids')),
             version = r.version + 1, updated_time = greatest(r.updated_time, $4), updated_by = $5
           from custom_report o, jsonb_populate_record(o, $3::jsonb) n
           where r.organization_id = $1 and r.report_id = $2 and o.organization_id = $1 and o.report_id = $2
             and (r.title, r.description, r.spec, r.pinned_time)
               is distinct from (n.title, n.description, n.spec, n.pinned_time)
           returning {_COLUMNS_R}""",
        *(organization_id, report_id, dict(changes), now, by),
    )
    return CustomReport(**row) if row else None


async def delete_report(db: Database, *, organization_id: str, report_id: str) -> None:
    await db.execute(
        "delete from custom_report where organization_id = $1 and report_id = $2", organization_id, report_id
    )
