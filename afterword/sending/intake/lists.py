"""Lists that people send: read, checked by a dry run, repaired, and then imported.

Functions that read a whole file say so: they are for a thread, outside of a transaction.
"""

import asyncio
import hashlib
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString, NamedTuple, Unpack, get_args

import msgspec
from msgspec.structs import asdict, replace

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.findings import Findings
from afterword.core.wire import imports as core_imports, list_columns, tables
from afterword.core.wire.imports import Cut, pointer_of
from afterword.core.wire.tables import COLUMNS_MAX, Reading
from afterword.errors import Sentence
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of, qualified
from afterword.sending.intake.imports import service as imports
from afterword.sending.intake.imports.service import ImportRecord, ProblemKind
from afterword.sending.pipelines import service as pipelines
from afterword.sending.pipelines.service import PipelinePath
from afterword.sending.pipelines.store import Pipeline


class Layout(msgspec.Struct, frozen=True):
    """The way in which a list is read. `joins_rows`: rows with the same reference make one message.

    `conditions`: of the rows that are sent, None for all.
    """

    reading: Reading
    mapping: Mapping[str, str]
    formats: Mapping[str, str]
    joins_rows: bool = False
    conditions: object = None

    @property
    def columns(self) -> dict[str, Any]:
        own = asdict(self)
        return {**asdict(own.pop("reading")), **own}


class AddressList(msgspec.Struct, frozen=True, kw_only=True):
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
    conditions: Any
    check_id: str | None
    import_id: str | None
    created_time: datetime
    created_by: str | None
    digest: str | None
    creator_name: str | None

    @property
    def layout(self) -> Layout:
        reading = Reading(self.encoding, self.separator, self.has_header, self.rows_above, self.rows_below)
        return Layout(reading, self.mapping, self.formats, self.joins_rows, self.conditions)


_COLUMNS_L: Final = qualified(columns_of(AddressList, without=("application_id", "creator_name")), "l")


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


_GIVEN: Final[LiteralString] = """list_id, questionnaire_id, pipeline_id, file_name, encoding, separator, has_header,
  rows_above, rows_below, mapping, created_time, created_by, digest"""


async def _insert_list(db: Database, *, organization_id: str, columns: Mapping[str, Any], content: bytes) -> None:
    await db.execute(
        f"""insert into queue_list (organization_id, content, {_GIVEN})
           select $1, $3, {_GIVEN} from jsonb_populate_record(null::queue_list, $2::jsonb)""",
        organization_id,
        dict(columns),
        content,
    )


async def get_list(
    db: Database, *, organization_id: str, list_id: str, application_ids: Sequence[str] = (), is_locked: bool = False
) -> AddressList | None:
    """The list, unless its questionnaire belongs to another application than these (none: any)."""
    lock: LiteralString = "for update of l" if is_locked else ""
    return await db.records(AddressList).fetch_row(
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
    return await db.records(ListedList).fetch(
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


async def _update_list(
    db: Database, *, organization_id: str, list_id: str, changes: Mapping[str, Any], content: bytes | None = None
) -> None:
    """Write these of the columns of its layout, its dry run and its import; and the file, where `content` is given."""
    await db.execute(
        """update queue_list l set encoding = n.encoding, separator = n.separator, has_header = n.has_header,
             rows_above = n.rows_above, rows_below = n.rows_below, joins_rows = n.joins_rows,
             conditions = n.conditions, mapping = n.mapping, formats = n.formats, on_conflict = n.on_conflict,
             check_id = n.check_id, import_id = n.import_id,
             content = coalesce($4, l.content)
           from queue_list o, jsonb_populate_record(o, $3::jsonb) n
           where l.organization_id = $1 and l.list_id = $2 and o.organization_id = $1 and o.list_id = $2""",
        organization_id,
        list_id,
        dict(changes),
        content,
    )


async def _delete_list(db: Database, *, organization_id: str, list_id: str) -> None:
    await db.execute("delete from queue_list where organization_id = $1 and list_id = $2", organization_id, list_id)


async def list_known_columns(db: Database, *, organization_id: str, application_id: str) -> dict[str, str]:
    return await db.fetch_pairs(
        "select name, meaning from queue_list_column where organization_id = $1 and application_id = $2",
        organization_id,
        application_id,
    )


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


async def list_problems(db: Database, *, organization_id: str, import_id: str) -> list[Problem]:
    """The kinds of problems of the rows that failed, the most frequent first."""
    rows = await db.fetch(
        """select kind, count(distinct r.row) as count
           from queue_import_row r, jsonb_array_elements(r.problem -> 'kinds') kind
           where r.organization_id = $1 and r.import_id = $2 and r.state = 'failed'
           group by kind order by 2 desc, kind limit $3""",
        *(organization_id, import_id, KINDS_MAX),
    )
    return [Problem(ProblemKind(**row["kind"]), row["count"]) for row in rows]


async def _list_rows_of_problem(db: Database, *, organization_id: str, import_id: str, kind: ProblemKind) -> list[int]:
    return await db.fetch_column(
        """select distinct r.row from queue_import_row r, jsonb_array_elements(r.problem -> 'kinds') kind
           where r.organization_id = $1 and r.import_id = $2 and r.state = 'failed' and kind = $3::jsonb limit $4""",
        *(organization_id, import_id, kind._asdict(), FAULTY_MAX),
    )


KEEP_DAYS: Final = 7  # the file
RECORD_DAYS: Final = 30
REMEMBERED_MAX: Final = 2_000  # columns of an application
NAME_CHARACTERS_MAX: Final = 200  # of a column that is remembered
FAULTY_MAX: Final = 200_000
SEARCHED_MAX: Final = 5  # lists, each of which is read
FOUND_MAX: Final = 5  # rows of a list
KINDS_MAX: Final = 20  # of problems
KEY_DIGITS: Final = 16
COMPRESSION: Final = 1


class FileGone(errors.Conflict):
    """The file was kept for some days, or until somebody was erased."""

    code_default = "not_ready"


class Read(NamedTuple):
    """A file as CSV, the same compressed, how it seems to be written, the SHA-256 of what came, in hexadecimal."""

    content: bytes
    packed: bytes
    reading: Reading
    digest: str


def packed(content: bytes) -> bytes:
    return zlib.compress(content, COMPRESSION)


def read_file(content: bytes) -> Read:
    """A CSV file or a workbook. Reads it. Raises Malformed, TooLarge, Invalid for an empty one."""
    if not content.strip():
        raise errors.Invalid.at("/file", "required", "Choose a file, or paste some rows.")
    table = tables.csv_of(content) if content.startswith(tables.BEGINNING) else content
    return Read(table, packed(table), tables.guess(table), hashlib.sha256(content).hexdigest())


async def stage(
    db: Database,
    *,
    caller: Caller,
    file_name: str | None,
    read: Read,
    mapping: Mapping[str, str],
    now: datetime,
    **path: Unpack[PipelinePath],
) -> str:
    """Keep a file; its list_id. Raises NotFound."""
    await pipelines.get(db, caller=caller, **path)
    list_id = ids.ordered(now)
    columns = {
        "list_id": list_id,
        **path,
        "file_name": file_name,
        "created_time": now,
        "created_by": caller.actor_id or None,
        "mapping": dict(mapping),
        "digest": read.digest,
        **asdict(read.reading),
    }
    await _insert_list(db, organization_id=caller.organization_id, columns=columns, content=read.packed)
    return list_id


async def get(db: Database, *, caller: Caller, list_id: str, is_locked: bool = False) -> AddressList:
    """Raises NotFound."""
    found = await get_list(db, **caller.part, list_id=list_id, is_locked=is_locked)
    if found is None or caller.test:
        raise errors.NotFound("There is no such list.")
    return found


def text_of(found: AddressList, reading: Reading) -> str:
    """The text of the file, with a header. Reads it. Raises FileGone, Malformed."""
    if found.content is None:
        raise FileGone("The file is no longer kept. Send it again.")
    return tables.text_of(zlib.decompress(found.content), reading)


async def columns_of(
    db: Database,
    *,
    found: AddressList,
    names: list[str],
    rows: list[list[str]],
    declared: Declared,
    pipeline: Pipeline,
    now: datetime,
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The meanings of the columns, those of this list, else remembered or guessed; and as guessed without a memory."""
    remembered = await list_known_columns(
        db, organization_id=found.organization_id, application_id=found.application_id
    )
    given = list_columns.List(names, rows, imports.FIELDS, declared, pipeline.channel_id, pipeline.locale, now)
    fresh = await asyncio.to_thread(list_columns.guess, given, {})
    if set(names) == found.mapping.keys():
        return found.mapping, fresh
    known = {name: meaning for name, meaning in {**remembered, **found.mapping}.items() if name in fresh}
    return await asyncio.to_thread(list_columns.guess, given, known) if known else fresh, fresh


def cut(text: str, layout: Layout) -> Cut:
    """The rows of the file by these columns. Reads it. Raises Invalid, TooLarge."""
    if len(layout.mapping) > COLUMNS_MAX:
        raise errors.Invalid.at("", "too_many", Sentence("A file has at most {n} columns.", n=COLUMNS_MAX))
    only = core_imports.condition_on(text, layout.reading.separator, layout.conditions, "/conditions", Findings())
    return core_imports.cut(
        text,
        fields=imports.FIELDS,
        separator=layout.reading.separator,
        mapping=layout.mapping,
        readers=core_imports.readers(layout.formats),
        joins=layout.joins_rows,
        only=only,
    )


async def check(
    db: Database,
    *,
    caller: Caller,
    found: AddressList,
    layout: Layout,
    on_conflict: str,
    cut: Cut,
    secret: bytes,
    now: datetime,
    guessed: Mapping[str, str],
    content: bytes | None = None,
) -> ImportRecord:
    """Begin the dry run of the list as it is now, in place of the one before. Raises Conflict once it is imported.

    A meaning that differs from the `guessed` one is remembered: a guess that nobody touched is no choice. `content`: a
    new file, packed, in place of the one that is kept.
    """
    check_id = found.check_id
    found = await get(db, caller=caller, list_id=found.list_id, is_locked=True)
    _require_open(found)
    if content is not None and found.check_id != check_id:  # it repairs rows of an older file
        raise errors.Conflict("The list was checked again meanwhile.")
    if found.check_id is not None:
        before = await imports.get(db, caller=caller, import_id=found.check_id)
        await imports.delete(db, job=before, now=now)
    job = await _import(db, caller=caller, found=found, on_conflict=on_conflict, cut=cut, secret=secret, now=now)
    changes = {**layout.columns, "on_conflict": on_conflict, "check_id": job.import_id}
    await _update_list(
        db, organization_id=found.organization_id, list_id=found.list_id, changes=changes, content=content
    )
    key = {"organization_id": found.organization_id, "application_id": found.application_id}
    known = await list_known_columns(db, **key)
    chosen = {name: one for name, one in layout.mapping.items() if name in known or one != guessed.get(name)}
    chosen = {name: one for name, one in chosen.items() if 0 < len(name) <= NAME_CHARACTERS_MAX}
    await update_columns(db, **key, mapping=chosen, now=now, keep_max=REMEMBERED_MAX)
    return job


async def confirm(
    db: Database, *, caller: Caller, found: AddressList, cut: Cut, secret: bytes, now: datetime
) -> ImportRecord:
    """Import the list as it was checked. Raises Conflict where it was not, or was imported."""
    checked_id = found.check_id
    found = await get(db, caller=caller, list_id=found.list_id, is_locked=True)
    _require_open(found)
    checked = await imports.get(db, caller=caller, import_id=found.check_id) if found.check_id else None
    if checked is None or checked.state != "done" or found.check_id != checked_id:
        raise errors.Conflict("The list has to be checked first.")
    job = await _import(
        db, caller=caller, found=found, on_conflict=found.on_conflict, cut=cut, secret=secret, now=now, dry_run=False
    )
    await _update_list(
        db, organization_id=found.organization_id, list_id=found.list_id, changes={"import_id": job.import_id}
    )
    return job


async def faulty_rows(db: Database, *, caller: Caller, found: AddressList) -> dict[int, list[ProblemKind]]:
    """The numbers of the rows that failed last, with what is wrong. Raises Conflict while none were tried."""
    import_id = found.import_id or found.check_id
    if import_id is None:
        raise errors.Conflict("The list has to be checked first.")
    await imports.get(db, caller=caller, import_id=import_id)
    rows = await imports.list_failed_rows(
        db, organization_id=found.organization_id, import_id=import_id, after=0, limit=FAULTY_MAX
    )
    return {row.row: row.kinds for row in rows}


def rows_with(searched: Sequence[AddressList], asked: str) -> list[tuple[AddressList, int]]:
    """The first rows of each list that have this in a cell, whatever its case, by their numbers. Reads them."""
    value, found = asked.casefold(), list[tuple[AddressList, int]]()
    for one in searched:
        text = text_of(one, one.layout.reading)
        if value in text.casefold():
            numbers = core_imports.rows_with(text, one.separator, value, limit=FOUND_MAX)
            found += [(one, number) for number in numbers]
    return found


def repaired(found: AddressList, content: bytes, numbers: Collection[int]) -> bytes:
    """The file with corrected rows in place of the faulty ones, in UTF-8. Reads both. Raises Invalid, Malformed."""
    reading = found.layout.reading
    new = read_file(content)
    text = tables.repaired(
        text_of(found, reading),
        reading,
        corrected=tables.text_of(new.content, replace(new.reading, rows_below=0)),
        separator=new.reading.separator,
        numbers=numbers,
    )
    return text.encode()


def key_of(problem: Problem) -> str:
    """A short name of a kind of problem: it has a column of the file, which belongs into no address."""
    return hashlib.sha256(msgspec.json.encode(problem.kind, order="sorted")).hexdigest()[:KEY_DIGITS]


def column_of(found: AddressList, problem: Problem) -> str | None:
    """The column of the file that has this problem; None for a problem of whole rows."""
    return next(
        (name for name, meaning in found.mapping.items() if meaning and pointer_of(meaning) == problem.kind.pointer),
        None,
    )


async def rows_of(db: Database, *, caller: Caller, found: AddressList, key: str) -> tuple[Problem, str, frozenset[int]]:
    """A kind of problem of the last check, its column and the numbers of its rows. Raises NotFound, Conflict."""
    _require_open(found)
    checked = await imports.get(db, caller=caller, import_id=found.check_id) if found.check_id else None
    if checked is None or not checked.has_ended:
        raise errors.Conflict("The list has to be checked first.")
    problems = await list_problems(db, organization_id=found.organization_id, import_id=checked.import_id)
    problem = next((one for one in problems if key_of(one) == key), None)
    column = None if problem is None else column_of(found, problem)
    if problem is None or column is None:
        raise errors.NotFound("No row has this problem any more.")
    numbers = await _list_rows_of_problem(
        db, organization_id=found.organization_id, import_id=checked.import_id, kind=problem.kind
    )
    return problem, column, frozenset(numbers)


def mended(found: AddressList, mend: Callable[[str, str], tuple[str, int]]) -> bytes:
    """The file as `mend` gives back its text, in UTF-8. Reads it. Raises Invalid where it changes no row.

    `mend` takes the text and its separator, and also says how many rows it changed.
    """
    text, count = mend(text_of(found, found.layout.reading), found.separator)
    if not count:
        raise errors.Invalid.at("", "required", "This changes no row.")
    return text.encode()


async def delete(db: Database, *, caller: Caller, found: AddressList, now: datetime) -> None:
    """Forget the list, with its file and its dry run. An import stays; one that is under way ends."""
    for import_id in (found.check_id, found.import_id):
        if import_id is not None:
            job = await imports.get(db, caller=caller, import_id=import_id)
            if import_id == found.check_id or not job.has_ended:
                await imports.delete(db, job=job, now=now)
    await _delete_list(db, organization_id=found.organization_id, list_id=found.list_id)


def _require_open(found: AddressList) -> None:
    if found.import_id is not None:
        raise errors.Conflict("This list was imported.")


async def _import(
    db: Database,
    *,
    caller: Caller,
    found: AddressList,
    on_conflict: Any,
    dry_run: bool = True,
    **given: Any,
) -> ImportRecord:
    """`given` as `imports.create` takes it."""
    if on_conflict not in get_args(imports.Policy):
        message = "Say what becomes of a message that is there already."
        raise errors.Invalid.at("/on_conflict", "unknown_value", message)
    if on_conflict == "update":
        caller.require("Queue.Update")
    return await imports.create(
        db,
        caller=caller,
        questionnaire_id=found.questionnaire_id,
        pipeline_id=found.pipeline_id,
        file_name=found.file_name,
        dry_run=dry_run,
        on_conflict=on_conflict,
        strict=True,
        **given,
    )
