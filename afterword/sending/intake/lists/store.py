"""SQL of lists: the file as it came, how it is read, its dry run and its import; columns that are remembered."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, LiteralString, NamedTuple

from afterword.core.wire.tables import Reading
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import qualified
from afterword.sending.intake.imports.store import ProblemKind

_COLUMNS: Final[LiteralString] = """organization_id, list_id, questionnaire_id, pipeline_id, file_name, content,
  encoding, separator, has_header, rows_above, rows_below, mapping, formats, on_conflict, joins_rows, check_id,
  import_id, created_time, created_by, digest"""
_COLUMNS_L: Final = qualified(_COLUMNS, "l")


@dataclass(frozen=True, slots=True)
class Layout:
    """The way in which a list is read. `joins_rows`: rows with the same reference make one message."""

    reading: Reading
    mapping: Mapping[str, str]
    formats: Mapping[str, str]
    joins_rows: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        own = {"mapping": dict(self.mapping), "formats": dict(self.formats), "joins_rows": self.joins_rows}
        return {**asdict(self.reading), **own}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressList:
    """`content` is compressed; None once its days are over. `application_id` is the questionnaire's.

    `digest`: SHA-256 of the file as it came; None for one of an older release. `creator_name`: None for a token.
    """

    organization_id: str
    list_id: str
    application_id: str
    questionnaire_id: str
    pipeline_id: str
    file_name: str | None
    content: bytes | None
    encoding: Any
    separator: str
    has_header: bool
    rows_above: int
    rows_below: int
    mapping: dict[str, str]
    formats: dict[str, str]
    on_conflict: Any
    joins_rows: bool
    check_id: str | None
    import_id: str | None
    created_time: datetime
    created_by: str | None
    digest: str | None
    creator_name: str | None

    @property
    def layout(self) -> Layout:
        reading = Reading(self.encoding, self.separator, self.has_header, self.rows_above, self.rows_below)
        return Layout(reading, self.mapping, self.formats, self.joins_rows)


class ListedList(NamedTuple):
    list_id: str
    file_name: str | None
    pipeline_title: str
    created_time: datetime
    import_id: str | None
    rows_total: int | None
    state: str | None
    is_kept: bool


class Problem(NamedTuple):
    kind: ProblemKind
    count: int


async def insert_list(db: Database, *, organization_id: str, columns: Mapping[str, Any], content: bytes) -> None:
    await db.execute(
        """insert into queue_list (organization_id, list_id, questionnaire_id, pipeline_id, file_name, content,
             encoding, separator, has_header, rows_above, rows_below, mapping, created_time, created_by, digest)
           select $1, list_id, questionnaire_id, pipeline_id, file_name, $3, encoding, separator, has_header,
             rows_above, rows_below, mapping, created_time, created_by, digest
           from jsonb_populate_record(null::queue_list, $2::jsonb)""",
        organization_id,
        dict(columns),
        content,
    )


async def get_list(
    db: Database, *, organization_id: str, list_id: str, application_ids: Sequence[str] = (), is_locked: bool = False
) -> AddressList | None:
    """The list, unless its questionnaire belongs to another application than these (none: any)."""
    lock: LiteralString = "for update of l" if is_locked else ""
    row = await db.fetch_row(
        f"""select {_COLUMNS_L}, q.owner_application_id as application_id,
             (select coalesce(u.display_name, u.email) from organization_user u
              where u.organization_id = l.organization_id and u.user_id = l.created_by) as creator_name
           from queue_list l
           join questionnaire q on q.organization_id = l.organization_id and q.questionnaire_id = l.questionnaire_id
           where l.organization_id = $1 and l.list_id = $2
             and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3)) {lock}""",
        organization_id,
        list_id,
        list(application_ids),
    )
    return None if row is None else _list(row)


async def list_lists(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    after: tuple[datetime, str] | None,
    limit: int,
) -> list[ListedList]:
    """The newest first, behind this key."""
    time, list_id = after or (None, None)
    rows = await db.fetch(
        """select l.list_id, l.file_name, p.title as pipeline_title, l.created_time, l.import_id, i.rows_total,
             i.state, l.content is not null as is_kept
           from queue_list l
           join pipeline p on p.organization_id = l.organization_id and p.pipeline_id = l.pipeline_id
           join questionnaire q on q.organization_id = l.organization_id and q.questionnaire_id = l.questionnaire_id
           left join queue_import i on i.organization_id = l.organization_id
             and i.import_id = coalesce(l.import_id, l.check_id)
           where l.organization_id = $1 and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
             and ($3::timestamptz is null or (l.created_time, l.list_id) < ($3, $4))
           order by l.created_time desc, l.list_id desc limit $5""",
        organization_id,
        list(application_ids),
        time,
        list_id,
        limit,
    )
    return [ListedList(**row) for row in rows]


async def update_list(
    db: Database, *, organization_id: str, list_id: str, changes: Mapping[str, Any], content: bytes | None = None
) -> None:
    """Write these of the columns of its layout, its dry run and its import; and the file, where `content` is given."""
    await db.execute(
        """update queue_list l set encoding = n.encoding, separator = n.separator, has_header = n.has_header,
             rows_above = n.rows_above, rows_below = n.rows_below, joins_rows = n.joins_rows,
             mapping = n.mapping, formats = n.formats, on_conflict = n.on_conflict,
             check_id = n.check_id, import_id = n.import_id,
             content = coalesce($4, l.content)
           from queue_list o, jsonb_populate_record(o, $3::jsonb) n
           where l.organization_id = $1 and l.list_id = $2 and o.organization_id = $1 and o.list_id = $2""",
        organization_id,
        list_id,
        dict(changes),
        content,
    )


async def delete_list(db: Database, *, organization_id: str, list_id: str) -> None:
    await db.execute("delete from queue_list where organization_id = $1 and list_id = $2", organization_id, list_id)


async def list_columns(db: Database, *, organization_id: str, application_id: str) -> dict[str, str]:
    rows = await db.fetch(
        "select name, meaning from queue_list_column where organization_id = $1 and application_id = $2",
        organization_id,
        application_id,
    )
    return {row["name"]: row["meaning"] for row in rows}


async def update_columns(
    db: Database, *, organization_id: str, application_id: str, mapping: Mapping[str, str], now: datetime, keep_max: int
) -> None:
    """Remember these, and of all at most `keep_max`, the last used ones."""
    await db.execute(
        """insert into queue_list_column (organization_id, application_id, name, meaning, used_time)
           select $1, $2, name, meaning, $5 from unnest($3::text[], $4::text[]) as m (name, meaning) order by name
           on conflict (organization_id, application_id, name)
             do update set meaning = excluded.meaning, used_time = excluded.used_time""",
        organization_id,
        application_id,
        list(mapping),
        list(mapping.values()),
        now,
    )
    await db.execute(
        """delete from queue_list_column where organization_id = $1 and application_id = $2 and name in (
             select name from queue_list_column where organization_id = $1 and application_id = $2
             order by used_time desc, name offset $3)""",
        organization_id,
        application_id,
        keep_max,
    )


def _list(row: Row) -> AddressList:
    return AddressList(**dict(row))


async def count_problems(db: Database, *, organization_id: str, import_id: str, limit: int) -> list[Problem]:
    """The kinds of problems of the rows that failed, the most frequent first; rows of an earlier release have none."""
    rows = await db.fetch(
        """select kind, count(distinct r.row) as count
           from queue_import_row r, jsonb_array_elements(r.problem -> 'kinds') kind
           where r.organization_id = $1 and r.import_id = $2 and r.state = 'failed'
           group by kind order by 2 desc, kind limit $3""",
        *(organization_id, import_id, limit),
    )
    return [Problem(ProblemKind(**row["kind"]), row["count"]) for row in rows]


async def list_rows_of_problem(
    db: Database, *, organization_id: str, import_id: str, kind: ProblemKind, limit: int
) -> list[int]:
    rows = await db.fetch(
        """select distinct r.row from queue_import_row r, jsonb_array_elements(r.problem -> 'kinds') kind
           where r.organization_id = $1 and r.import_id = $2 and r.state = 'failed' and kind = $3::jsonb limit $4""",
        *(organization_id, import_id, kind._asdict(), limit),
    )
    return [row["row"] for row in rows]
