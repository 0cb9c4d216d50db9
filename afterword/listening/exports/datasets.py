"""The files of an export on a timetable: a data set of a folder for each day, which a run brings up to date.

`responses/date=2026-11-29/part-00000.parquet` has responses that were created on this day in UTC, each once. A run
writes the days anew whose fingerprint has changed: what is new, late, removed or erased is right in the files of its
day then, and readers need not choose between two rows of a response. A fingerprint is taken before its rows are read,
so that the next run sees a change meanwhile. It is kept with the end of its day: a killed run goes on with the rest.
SPSS has one file of all.
"""

import hashlib
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires
from afterword.core.wire.exports import Response, codebook
from afterword.kit.db import Database
from afterword.kit.db.leases import LeaseLost
from afterword.kit.nouns import service as nouns
from afterword.listening.exports import service
from afterword.listening.exports.formats import writer_of
from afterword.listening.exports.schedules import RUNS, SCHEDULE, ExportSchedule, RunRecord
from afterword.listening.exports.service import Work
from afterword.listening.exports.store import Export
from afterword.listening.exports.writers import Writer

PART_ROWS_MAX: Final = 20_000
SCANNED_MAX: Final = 10_000  # instances that are looked at in one statement
WHOLE: Final = date(1970, 1, 1)  # the day of a file that has all of them
SCHEMA_CHARACTERS: Final = 16
CODEBOOK: Final = "codebook.json"
LAST_ID: Final = "~"  # behind all ids
Position = tuple[datetime, str]


class Day(msgspec.Struct, frozen=True):
    """A day to write: `fingerprint` is None where no response is left, `parts` are the files that it may have.

    A scan of its responses begins behind `after`, and goes down to `oldest`; None: it goes through all.
    """

    day: date
    fingerprint: str | None
    parts: int

    @property
    def after(self) -> Position | None:
        return (self.oldest + timedelta(days=1), LAST_ID) if self.oldest else None

    @property
    def oldest(self) -> datetime | None:
        return None if self.day == WHOLE else datetime.combine(self.day, time(), UTC)


class DataSet(msgspec.Struct):
    """A run under way. `rows` and `hashes`: of the days, as far as they are known.

    `files`: of the day that is written, its file_count, row_count and bytes.
    """

    run: RunRecord
    schedule: ExportSchedule
    work: Work
    codebook: bytes
    rows: Counter[date] = msgspec.field(default_factory=Counter[date])
    hashes: Counter[date] = msgspec.field(default_factory=Counter[date])
    files: Counter[str] = msgspec.field(default_factory=Counter[str])

    @property
    def is_whole(self) -> bool:
        return self.schedule.format == "sav"

    def name(self, day: date, number: int) -> str:
        if self.is_whole:
            return "responses.sav"
        return f"responses/date={day}/part-{number:05}.{self.schedule.format}"

    def changed(self, known: Sequence[tuple[date, str, int]]) -> list[Day]:
        """The days whose fingerprint is not the known one, the oldest first; those that are gone come before them."""
        schema = hashlib.sha256(self.codebook).hexdigest()[:SCHEMA_CHARACTERS]
        if self.is_whole:
            found = {WHOLE: f"{schema}:{self.rows.total()}:{self.hashes.total()}"}
        else:
            found = {day: f"{schema}:{count}:{self.hashes[day]}" for day, count in self.rows.items() if count}
        written = {day: (fingerprint, parts) for day, fingerprint, parts in known}
        nothing = ("", 0)
        days = sorted(day for day, one in found.items() if written.get(day, nothing)[0] != one)
        all_days = [*sorted(written.keys() - found.keys()), *days]
        return [Day(day, found.get(day), written.get(day, nothing)[1]) for day in all_days]


async def begin(db: Database, *, run: RunRecord, owner: UUID, now: datetime) -> DataSet:
    """Raises NotFound where the schedule or the questionnaire is gone, Conflict where a package is missing."""
    found = await nouns.find(SCHEDULE, db, organization_id=run.organization_id, key=run.schedule_id)
    schedule = errors.found(found, SCHEDULE.nothing)
    questionnaire = await questionnaires.get_questionnaire(
        db, organization_id=run.organization_id, questionnaire_id=schedule.questionnaire_id
    )
    # As an export of this moment, with all that was answered.
    export: dict[str, Any] = dict.fromkeys(Export.__struct_fields__)
    export |= {name: getattr(schedule, name) for name in export if hasattr(schedule, name)}
    export |= {"export_id": run.run_id, "date_basis": "submitted", "values_as": "both", "test": False}
    export |= {"attempts": run.attempts, "created_time": now, "started_time": now}
    work = await service.begin(db, export=Export(**export), owner=owner, is_stable=schedule.format != "sav")
    work.writer.close()  # each file has its own
    name = {"questionnaire_id": schedule.questionnaire_id, "name": questionnaire.display_name}
    return DataSet(run, schedule, work, codebook(work.table, **name))


async def take_fingerprints(db: Database, *, data_set: DataSet, after: Position | None) -> Position | None:
    """Look at the next instances behind `after`; returns the position behind them, None at the end."""
    found = await _list_fingerprints(db, data_set=data_set, after=after or (data_set.work.export.until, ""))
    for day, count, value, _, _, _ in found:
        data_set.rows[day] += count
        data_set.hashes[day] += int(value or 0)
    passed = sum(each[3] for each in found)
    return (found[-1][4], found[-1][5]) if passed == SCANNED_MAX else None


async def plan(db: Database, *, data_set: DataSet, is_lost: bool = False) -> list[Day]:
    """The days to write, once all fingerprints are taken; all where the files are lost. Raises LeaseLost."""
    run = data_set.run
    if is_lost:
        await _update_days_to_open(db, organization_id=run.organization_id, schedule_id=run.schedule_id)
    days = data_set.changed(await _list_days(db, organization_id=run.organization_id, schedule_id=run.schedule_id))
    await _update_day_count(db, data_set=data_set, count=run.days_written + len(days))
    return days


class PartFile:
    """A file that is written here before it is put there; runs in threads, as nothing waits."""

    def __init__(self, data_set: DataSet) -> None:
        self.row_count = 0
        self._writer: Writer = writer_of(data_set.work.export.format, data_set.work.table)
        self._is_whole = data_set.is_whole
        self._folder = tempfile.TemporaryDirectory(prefix="afterword-export-")
        self.path = Path(self._folder.name, "part")
        self.path.write_bytes(self._writer.begin())

    @property
    def is_full(self) -> bool:
        return self.row_count >= PART_ROWS_MAX and not self._is_whole

    def write(self, responses: Sequence[Response]) -> None:
        """Raises TooManyRows."""
        with self.path.open("ab") as file:
            file.write(self._writer.write(responses))
        self.row_count += len(responses)

    def end(self) -> int:
        """The size of the whole file in bytes. Raises TooManyRows."""
        with self.path.open("ab") as file:
            file.writelines(self._writer.end())
        return self.path.stat().st_size

    def close(self) -> None:
        self._writer.close()
        self._folder.cleanup()


async def _list_fingerprints(
    db: Database, *, data_set: DataSet, after: Position
) -> list[tuple[date, int, Any, int, datetime, str]]:  # any tenant: the data set names its own
    """By day: the responses, the sum of their hashes, the instances that were looked at, and the last of these.

    A hash tells of each change of the instance (xmin: not every change counts its version), of answers that went, of
    the responder's and the item's values where files have them, and of tags, which a filter may name.
    """
    export = data_set.work.export
    return await db.fetch_tuples(
        """with part as materialized (
             select i.created_time, i.instance_id, i.responder_id, i.item_id, i.xmin::text as change,
               i.deleted_time is null and not i.test and i.submitted_time is not null
               and ($6 or i.finalized) as is_wanted
             from questionnaire_instance i
             where i.organization_id = $1 and i.questionnaire_id = $2 and i.created_time <= $3
               and (i.created_time < $3 or i.instance_id > $4)
             order by i.created_time desc, i.instance_id limit $5)
           select (p.created_time at time zone 'UTC')::date as day, count(*) filter (where p.is_wanted) as wanted,
             sum(hashtextextended(concat_ws(' ', p.instance_id, p.change,
               (select count(*) from answer a where a.organization_id = $1 and a.instance_id = p.instance_id
                  and not a.provisional),
               case when $7 then (select r.version from responder r
                  where r.organization_id = $1 and r.responder_id = p.responder_id) end,
               case when $8 then (select q.version from queue_item q
                  where q.organization_id = $1 and q.item_id = p.item_id) end,
               case when $9 then (select string_agg(t.tag, '/' order by t.tag) from instance_tag t
                  where t.organization_id = $1 and t.instance_id = p.instance_id) end), 0))
               filter (where p.is_wanted) as hash,
             count(*) as passed, min(p.created_time) as last_time,
             (array_agg(p.instance_id order by p.created_time, p.instance_id desc))[1] as last_id
           from part p group by 1 order by 1 desc""",
        *(export.organization_id, export.questionnaire_id, *after, SCANNED_MAX, export.include_incomplete),
        *(export.metadata[1], export.include_recipient, export.filter is not None),
    )


async def _list_days(db: Database, *, organization_id: str, schedule_id: str) -> list[tuple[date, str, int]]:
    return await db.fetch_tuples(
        "select day, fingerprint, parts from export_day where organization_id = $1 and schedule_id = $2",
        *(organization_id, schedule_id),
    )


async def _update_days_to_open(db: Database, *, organization_id: str, schedule_id: str) -> None:
    await db.execute(
        "update export_day set fingerprint = 'open' where organization_id = $1 and schedule_id = $2",
        *(organization_id, schedule_id),
    )


async def _update_day_count(db: Database, *, data_set: DataSet, count: int) -> None:
    if not await db.execute(
        f"update export_run set day_count = $4, version = version + 1 where {RUNS.is_held}",
        *(data_set.run.organization_id, data_set.run.run_id, data_set.work.owner, count),
    ):
        raise LeaseLost


async def update_parts(db: Database, *, data_set: DataSet, day: Day, parts: int) -> None:
    """Before a file is put: whatever becomes of this worker, the file is known. Raises LeaseLost."""
    if not await db.execute(
        f"""insert into export_day as d (organization_id, schedule_id, day, fingerprint, parts)
           select organization_id, schedule_id, $4, 'open', $5 from export_run where {RUNS.is_held}
           on conflict (organization_id, schedule_id, day) do update
           set fingerprint = 'open', parts = greatest(d.parts, excluded.parts)""",
        *(data_set.run.organization_id, data_set.run.run_id, data_set.work.owner, day.day, parts),
    ):
        raise LeaseLost


async def settle_day(db: Database, *, data_set: DataSet, day: Day, parts: int) -> None:
    """Keep the fingerprint of a day that is written, or forget one that is gone. Raises LeaseLost."""
    files = data_set.files
    if not await db.fetch_value(
        f"""with held as (
             update export_run set days_written = days_written + 1, file_count = file_count + $7,
               row_count = row_count + $8, bytes = bytes + $9, attempts = 1, version = version + 1
             where {RUNS.is_held} returning organization_id, schedule_id),
           kept as (
             insert into export_day (organization_id, schedule_id, day, fingerprint, parts)
             select organization_id, schedule_id, $4, $5, $6 from held where $5::text is not null
             on conflict (organization_id, schedule_id, day) do update
             set fingerprint = excluded.fingerprint, parts = excluded.parts),
           gone as (
             delete from export_day d using held where $5::text is null
               and d.organization_id = held.organization_id and d.schedule_id = held.schedule_id and d.day = $4)
           select exists (select from held)""",
        *(data_set.run.organization_id, data_set.run.run_id, data_set.work.owner, day.day, day.fingerprint, parts),
        *(files["file_count"], files["row_count"], files["bytes"]),
    ):
        raise LeaseLost
    files.clear()
