"""Responses that people gave elsewhere: brought in by the thousand, marked with their import, removable as one.

No mail, alert, webhook, sequence, reminder or credit follows from them, since no event tells of a single one: days
are marked to be counted, and rows of the search are written, in the transaction that writes the responses. A row that
fits is written whole; one that does not has an error of its own. `external_id` is the key: what was interrupted is sent
again.

How to use it: `begin` an import, `open_work`, then `check` and `add` for each thousand rows, at last `update`. Rows
that `add` has counted commit with their responses, so `rows_read` of the import tells where to go on. Without an import
`add` is a dry run.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from afterword import errors, ids
from afterword.asking.instances import answers as answers_store
from afterword.asking.instances.issuing import NotPublished
from afterword.asking.questionnaires import access, metadata, store as questionnaires_store
from afterword.asking.questionnaires.store import Questionnaire, Version
from afterword.core.answers import imported, progress
from afterword.core.answers.imported import AnswerSheet
from afterword.core.answers.values import Given
from afterword.core.figures import periods
from afterword.core.messaging import addresses
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, CHANNEL_WEBHOOK
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import SCORE, Changes, Declared, changes_of, merge
from afterword.core.questionnaires.questions import Question
from afterword.core.reading import structs
from afterword.core.reading.structs import Context
from afterword.core.text import locales
from afterword.core.wire import tables, times
from afterword.errors import FieldError, Sentence
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database
from afterword.kit.web import fields, parsing
from afterword.kit.web.paging import RECORD_BYTES_MAX
from afterword.listening.imports import store
from afterword.listening.imports.store import ResponseImportRecord
from afterword.listening.reports.daily_counts import service as daily_counts
from afterword.listening.responses import rows as response_rows
from afterword.listening.responses.rows import Source
from afterword.people.responders import service as responders
from afterword.people.responders.service import ResponderInput
from afterword.tenants.organizations import retention as holds

ROWS_A_STATEMENT: Final = 1_000
RECORD_DAYS: Final = 30  # of an import whose responses were removed
AHEAD: Final = timedelta(minutes=5)  # by which the clock of a source may be fast
CREATED, UNCHANGED = 201, 200
COUNTS: Final = {CREATED: "created", UNCHANGED: "unchanged"}  # others failed
_json: Final = msgspec.json.Encoder()


class Taken(errors.Conflict):
    code_default = "already_exists"


class NotOpen(errors.Conflict):
    code_default = "not_ready"


class Person(fields.Request):
    """Whoever gave the response: found by the first of these that is known, else made with all of them."""

    email: fields.Text320 | None = None
    phone_number: fields.Text100 | None = None
    external_id: Annotated[
        fields.Text100 | None, Meta(description="Your own name of the person, kept as an address of channel 3.")
    ] = None


class PastResponse(fields.Request):
    """A response that was given elsewhere. One of the times is needed."""

    external_id: Annotated[
        fields.Text100, Meta(extra=fields.LINE, description="Its name there; the same row again changes nothing.")
    ]
    answers: Annotated[
        Any,
        Meta(
            extra={"reader": imported.read_answers},
            extra_json_schema={
                "type": ["object", "array"],
                "items": {"type": "object"},
                "description": (
                    "Values by the id, key or code of their question, or a list of objects with `question_id`, `value` "
                    "and `other_text`. A choice is its value, its code, or its label in any language."
                ),
            },
            examples=[{"score": 9, "words": "Quick"}],
        ),
    ]
    started_time: fields.Moment | None = None
    completed_time: Annotated[fields.Moment | None, Meta(description="Without it the response is partial.")] = None
    channel_id: Annotated[
        Literal[1, 2, 3] | None, Meta(description="By which the person was asked; null: by a link.")
    ] = None
    locale: fields.Locale | None = None
    metadata: fields.MetadataGroups | None = None
    person: Annotated[Person | None, Meta(description="Null: the response is anonymous.")] = None


class Content(NamedTuple):
    """All that makes two rows of one `external_id` the same. `started`, `submitted` and `completed` are its times."""

    started: datetime
    submitted: datetime | None
    completed: datetime | None
    channel_id: int | None
    locale: str
    metadata: Mapping[str, str]
    answers: Mapping[str, Given]


class Checked(msgspec.Struct, frozen=True):
    """A response that fits the questionnaire; it counts by the time `submitted`."""

    external_id: str
    submitted: datetime
    content: Content
    person: ResponderInput


class Outcome(msgspec.Struct, frozen=True):
    """CREATED, UNCHANGED, or the status of its refusal."""

    status: int
    instance_id: str | None = None
    refusal: errors.Refusal | None = None


CheckedRow = Checked | errors.Refusal
_Known = dict[str, tuple[str | None, Content]]
_Made = tuple[str, Checked, str]  # the ids of a new response and of its person


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """The questionnaire and the rules that rows are checked by, and their import; None: a dry run.

    `kept_days`: by kind of data, the time after which the organization removes it. A response from before `kept_since`
    would be removed at once.
    """

    job: ResponseImportRecord | None
    questionnaire: Questionnaire
    version: Version
    sheet: AnswerSheet
    declared: Declared
    time_zone: str
    is_limited: bool
    kept_days: Mapping[str, int]
    kept_since: datetime
    now: datetime


async def begin(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    title: str | None = None,
    format: str = "json_lines",  # noqa: A002  the name of the member
    file_name: str | None = None,
    digest: str | None = None,
    now: datetime,
) -> ResponseImportRecord:
    """Open an import; with the `digest` of a file that one of it which is still open. Raises NotFound, NotPublished."""
    caller.require_real()
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    if questionnaire.published_version_id is None:
        raise NotPublished("This questionnaire has no published version.")
    if digest is not None:
        await store.claim_questionnaire(db, **questionnaire.key)
        found = await store.get_open_import(db, **questionnaire.key, digest=digest)
        if found is not None:
            return found
    columns = {
        "response_import_id": ids.ordered(now),
        "questionnaire_id": questionnaire_id,
        "title": title,
        "format": format,
        "file_name": file_name,
        "digest": digest,
        "created_time": now,
        "updated_time": now,
        "created_by": caller.actor_id or None,
        "actor_kind": caller.actor_kind,
    }
    return await store.insert_import(db, organization_id=caller.organization_id, columns=columns)


async def get(
    db: Database, *, caller: Caller, response_import_id: str, is_locked: bool = False
) -> ResponseImportRecord:
    """Raises NotFound; a token for tests sees none."""
    found = await store.get_import(db, **caller.part, response_import_id=response_import_id, is_locked=is_locked)
    return errors.found(None if caller.test else found, "There is no such import.")


async def open_work(
    db: Database, *, caller: Caller, questionnaire_id: str, job: ResponseImportRecord | None, now: datetime
) -> Work:
    """Read what rows are checked by. Raises NotFound, NotPublished."""
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    version = await access.published(db, questionnaire)
    if version is None:
        raise NotPublished("This questionnaire has no published version.")
    kept_days = await holds.list_days(db, organization_id=caller.organization_id, changes={})
    answers_days = kept_days.get("answers")
    return Work(
        job=job,
        questionnaire=questionnaire,
        version=version,
        sheet=AnswerSheet(version.definition),
        declared=await metadata.declared_of(db, **caller.part, questionnaire_id=questionnaire_id),
        time_zone=caller.time_zone,
        is_limited=caller.is_limited,
        kept_days=kept_days,
        kept_since=times.EARLIEST if answers_days is None else now - timedelta(days=answers_days),
        now=now,
    )


def read_lines(work: Work, lines: Sequence[bytes | errors.Invalid]) -> list[PastResponse | errors.Invalid]:
    """Lines of JSON, each a response or what is wrong with it. Members that nobody knows are refused."""
    context = Context(now=work.now, zone=times.zone_of(work.time_zone), strict=True)
    return [line if isinstance(line, errors.Invalid) else _read_line(line, context) for line in lines]


def _read_line(line: bytes, context: Context) -> PastResponse | errors.Invalid:
    if len(line) > RECORD_BYTES_MAX:
        return errors.Invalid.at("", "too_long", f"A response may have {RECORD_BYTES_MAX:,} bytes.")
    try:
        document = parsing.read_json(line)
    except errors.Malformed as refusal:
        return errors.Invalid.at("", "invalid_format", refusal.detail.replace("The body", "The line"))
    return structs.read_row(PastResponse, document, context)


def check(work: Work, rows: Sequence[PastResponse | errors.Invalid]) -> list[CheckedRow]:
    """Each row as it will be stored, or what is wrong with it. Reads nothing, so it may run in a thread."""
    return [row if isinstance(row, errors.Invalid) else _checked(work, row) for row in rows]


def _checked(work: Work, row: PastResponse) -> CheckedRow:
    answers, wrong = work.sheet.read(row.answers)
    if not (answers or wrong):
        wrong.append(FieldError("required", "A response has one answer at least.", pointer="/answers"))
    wrong += _wrong_times(work, row)
    values, groups = Changes(), {} if row.metadata is None else row.metadata.named()
    try:
        values = changes_of(groups, declared=work.declared, strict=True) if groups else values
    except errors.Invalid as refusal:
        wrong += refusal.errors
    person, wrong_person = _person(work, row, values.responder)
    ended = row.completed_time or row.started_time
    if wrong or wrong_person or ended is None:
        return errors.Invalid.of(*wrong, *wrong_person)
    score = progress.score(work.version.definition, answers)
    content = Content(
        started=(row.started_time or ended).instant,
        submitted=ended.instant,
        completed=row.completed_time and row.completed_time.instant,
        channel_id=row.channel_id,
        locale=locales.normalise(row.locale) if row.locale else work.questionnaire.default_locale,
        metadata=merge({}, values.questionnaire) | ({} if score is None else {SCORE: str(score)}),
        answers=answers,
    )
    return Checked(row.external_id, ended.instant, content, person)


def _wrong_times(work: Work, row: PastResponse) -> list[FieldError]:
    started, completed = row.started_time, row.completed_time
    ended, pointer = completed or started, "/completed_time" if completed else "/started_time"
    if ended is None:
        return [FieldError("required", "The time is needed when it was started or completed.", pointer=pointer)]
    if ended.instant > work.now + AHEAD:
        return [FieldError("out_of_range", "This lies in the future.", pointer=pointer)]
    if started is not None and started.instant > ended.instant:
        return [FieldError("out_of_range", "It was completed before it was started.", pointer=pointer)]
    if ended.instant < work.kept_since:
        text = "The organization removes responses after {n} days, and this one is older."
        return [FieldError("out_of_range", Sentence(text, n=work.kept_days["answers"]), pointer=pointer)]
    return []


def _person(work: Work, row: PastResponse, values: Mapping[str, str | None]) -> tuple[ResponderInput, list[FieldError]]:
    given, wrong = row.person or Person(), list[FieldError]()
    named: dict[str, str | None] = {}
    for name, channel_id, text in (
        ("email", CHANNEL_EMAIL, given.email),
        ("phone_number", CHANNEL_SMS, given.phone_number),
    ):
        if text:
            named[name] = text
            if addresses.normal_or_none(channel_id, text, locale=row.locale) is None:
                wrong.append(FieldError("invalid_address", "This is no such address.", pointer=f"/person/{name}"))
    if work.version.definition.anonymous and (named or given.external_id or values):
        message = "The questionnaire is anonymous: nothing of a person is kept."
        wrong.append(FieldError("exclusive", message, pointer="/person"))
    person = ResponderInput(
        work.questionnaire.organization_id,
        CHANNEL_WEBHOOK if given.external_id else None,
        given.external_id,
        metadata={**values, **named},
        locale=row.locale,
        is_limited=work.is_limited,
    )
    return person, wrong


async def add(
    db: Database,
    *,
    work: Work,
    rows: Sequence[CheckedRow],
    secret: bytes,
    now: datetime,
    writing: asyncio.Event | None = None,
) -> list[Outcome]:
    """Write the rows that fit and are not there, and count all; what became of each, in their order.

    `writing` is set once the database has the most to do, and this process little: the time to read the next rows.

    A row whose `external_id` has a response is left alone if it says the same, but for the person, else refused: what
    was brought in is not changed by sending it again. Raises NotOpen.
    """
    if work.job is not None:
        await _require_open(db, job=work.job)
    await store.claim_questionnaire(db, **work.questionnaire.key)
    known = await _known(db, work=work, rows=rows)
    outcomes: list[Outcome | None] = [
        Outcome(row.status, refusal=row) if isinstance(row, errors.Refusal) else None for row in rows
    ]
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        if isinstance(row, Checked) and row.external_id not in known:
            first.setdefault(row.external_id, place)
    new = [(place, row) for place in first.values() if isinstance(row := rows[place], Checked)]
    erased = await responders.list_erased(db, inputs=[row.person for _, row in new], secret=secret, now=now)
    gone = errors.Invalid.at("/person", "erased", "This person was erased, so the response is not brought back.")
    for index in erased:
        outcomes[new[index][0]] = Outcome(gone.status, refusal=gone)
    new = [one for index, one in enumerate(new) if index not in erased]
    made = (
        await _write(db, work=work, new=[row for _, row in new], secret=secret, now=now, writing=writing) if new else []
    )
    for (place, row), instance_id in zip(new, made, strict=True):
        outcomes[place] = Outcome(CREATED, instance_id)
        known[row.external_id] = instance_id, row.content
    for place, row in enumerate(rows):
        if isinstance(row, Checked) and outcomes[place] is None:
            outcomes[place] = _met(row, known) or outcomes[first[row.external_id]]
    found = [one for one in outcomes if one is not None]
    assert len(found) == len(rows), "a row without an outcome"  # noqa: S101
    if work.job is not None:
        await store.update_import(db, job=work.job, counts=counted(found), now=now)
    return found


def counted(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """The numbers of rows that are `created`, `unchanged` and `failed`."""
    found = Counter(COUNTS.get(one.status, "failed") for one in outcomes)
    return {name: found[name] for name in (*COUNTS.values(), "failed")}


async def _require_open(db: Database, *, job: ResponseImportRecord) -> None:
    found = await store.get_import(db, **job.key, application_ids=(), is_locked=True)
    if found is None or found.state != "open":
        raise NotOpen("This import is finished or was removed. Begin another one.")


async def _known(db: Database, *, work: Work, rows: Sequence[CheckedRow]) -> _Known:
    """The responses that are there under external ids of these rows, with their ids."""
    wanted = [row.external_id for row in rows if isinstance(row, Checked)]
    found = await store.list_stored(db, **work.questionnaire.key, external_ids=wanted) if wanted else []
    given: dict[str, dict[str, Given]] = {one.instance_id: {} for one in found}
    if found:
        key = {"organization_id": work.questionnaire.organization_id, "instance_ids": list(given)}
        for one in await answers_store.list_answers_of_instances(db, **key):
            given[one.instance_id][one.question_id] = Given(one.value, one.other_text)
    return {
        one.external_id: (
            one.instance_id,
            Content(
                *(one.created_time, one.submitted_time, one.completed_time, one.channel_id, one.locale, one.metadata),
                given[one.instance_id],
            ),
        )
        for one in found
    }


def _met(row: Checked, known: _Known) -> Outcome | None:
    """Of a row whose `external_id` a response has; None where an earlier row with it was refused."""
    if row.external_id not in known:
        return None
    instance_id, content = known[row.external_id]
    if content == row.content:
        return Outcome(UNCHANGED, instance_id)
    taken = Taken(
        "A response with this id is there already, and says something else. Remove its import to bring it in anew."
    )
    return Outcome(taken.status, instance_id, taken)


async def _write(
    db: Database, *, work: Work, new: Sequence[Checked], secret: bytes, now: datetime, writing: asyncio.Event | None
) -> Sequence[str | None]:
    """The ids of the responses that were made; of a dry run none."""
    job, version = work.job, work.version
    if job is None:
        return [None] * len(new)
    key = {"organization_id": job.organization_id}
    people = await responders.find_or_create(
        db,
        inputs=[row.person for row in new],
        now=now,
        secret=secret,
        actor=Actor(job.actor_kind, job.created_by),
        tells=False,
    )
    made = [(ids.secret(), row, person.responder_id) for row, person in zip(new, people, strict=True)]
    questionnaire = await questionnaires_store.get_questionnaire(db, **key, questionnaire_id=job.questionnaire_id)
    texts = await response_rows.list_people(db, keys=[(job.organization_id, one.responder_id) for one in people])
    questions = await response_rows.list_questions(db, **key, version_ids=[version.version_id])
    instances = await asyncio.to_thread(_instances, job, version, made, now)
    answers = asyncio.create_task(asyncio.to_thread(_answers, version, made))  # each while the database writes others
    await store.insert_instances(db, instances)
    lines = await answers
    rows = asyncio.create_task(asyncio.to_thread(_rows, version, made, questionnaire, texts, questions))
    if writing is not None:
        writing.set()
    await store.insert_answers(db, lines)
    await response_rows.insert_responses(db, rows=await rows)
    moments = [(row.submitted, row.content.started) for row in new]
    await _mark(db, job=job, time_zone=work.time_zone, moments=moments, now=now)
    return [instance_id for instance_id, _, _ in made]


def _instances(job: ResponseImportRecord, version: Version, made: Sequence[_Made], now: datetime) -> bytes:
    anonymity = "response" if version.definition.anonymous else None
    question_ids = "{" + ",".join(one.question_id for one in version.definition.questions()) + "}"
    given = (job.response_import_id, job.created_by, job.created_by, anonymity, question_ids)
    return tables.csv_text(
        (
            *(job.organization_id, job.questionnaire_id, version.version_id, *given),
            *(instance_id, responder_id, ids.short_code(), row.external_id, row.content.channel_id, row.content.locale),
            *(_json.encode(row.content.metadata).decode(), row.content.started, row.content.started, row.submitted),
            *(row.content.completed, now, False, row.content.completed is not None, int(row.content.completed is None)),
        )
        for instance_id, row, responder_id in made
    ).encode()


def _answers(version: Version, made: Sequence[_Made]) -> bytes:
    place = version.organization_id, version.questionnaire_id, version.version_id
    return tables.csv_text(
        (*place, instance_id, question_id, _json.encode(given.value).decode(), given.other_text, submitted)
        for instance_id, row, _ in made
        for submitted in [str(row.submitted)]  # written once for all its answers
        for question_id, given in row.content.answers.items()
    ).encode()


def _rows(
    version: Version,
    made: Sequence[_Made],
    questionnaire: Questionnaire,
    people: Mapping[response_rows.Key, Sequence[str]],
    questions: Mapping[str, Question],
) -> list[dict[str, Any]]:
    """The rows by which these responses are found, in lists and by their words."""
    version_id, place = version.version_id, (version.organization_id, version.questionnaire_id)
    stored = response_rows.as_stored
    sources = (
        Source(
            *(place[0], instance_id, place[1], questionnaire.owner_application_id, version_id),
            *(responder_id, row.content.channel_id, False, row.content.locale),
            *(row.submitted, row.external_id, questionnaire.key_question_id, stored(row.content.metadata)),
            people[place[0], responder_id],
            [
                {
                    "version_id": version_id,
                    "question_id": name,
                    "value": stored(one.value),
                    "other_text": one.other_text,
                }
                for name, one in row.content.answers.items()
            ],
        )
        for instance_id, row, responder_id in made
    )
    return [response_rows.row_of(source, questions) for source in sources]


async def _mark(
    db: Database,
    *,
    job: ResponseImportRecord,
    time_zone: str,
    moments: Sequence[tuple[datetime, datetime]],
    now: datetime,
) -> None:
    """Let days be counted again: those by which responses count, and those when they began or their mail went out."""
    zone, place = times.zone_of(time_zone), (job.organization_id, job.questionnaire_id)
    today = periods.day_of(now, zone)

    def one_of_each(found: Sequence[datetime]) -> list[tuple[str, str, datetime]]:
        days = [(periods.day_of(moment, zone), moment) for moment in found]
        # Of today each hour is counted by itself.
        return [(*place, one) for one in {(day, one.hour if day >= today else 0): one for day, one in days}.values()]

    submitted, began = zip(*moments, strict=True)
    await daily_counts.mark(db, touched=one_of_each(submitted), moved=one_of_each(began), now=now)


async def update(
    db: Database,
    *,
    caller: Caller,
    response_import_id: str,
    title: str | None = None,
    is_finished: bool = True,
    expect: errors.Expect = errors.ANY,
    now: datetime,
) -> ResponseImportRecord:
    """Let it take no more rows; again it does nothing. Raises NotFound, and what `expect` raises of the version."""
    found = await get(db, caller=caller, response_import_id=response_import_id, is_locked=True)
    expect(found.version)
    if title is not None and title != found.title:
        found = await store.update_import(db, job=found, title=title, now=now)
    if not is_finished or found.state != "open":
        return found
    return await _end(db, job=found, state="done", actor=Actor.of(caller), now=now)


async def remove(
    db: Database, *, caller: Caller, response_import_id: str, expect: errors.Expect = errors.ANY, now: datetime
) -> ResponseImportRecord:
    """Let workers remove its responses; again it does nothing. Raises NotFound, Held."""
    found = await get(db, caller=caller, response_import_id=response_import_id, is_locked=True)
    expect(found.version)
    if found.state in {"removing", "removed"}:
        return found
    if await holds.get_is_held(db, organization_id=caller.organization_id, responder_id=None):
        raise holds.Held("A legal hold keeps all data. Lift it first.")
    return await store.update_import(db, job=found, state="removing", now=now)


async def remove_next(db: Database, *, now: datetime) -> int:
    """Remove some responses of the import that waits longest; 0: none waits, or others write rows of the search.

    What is left of a deleted response goes as that of any other, thirty days later. People stay.
    """
    job = await store.claim_removing(db)
    if job is None or not await events.claim_reader(db, reader=response_rows.READER):
        return 0
    gone = await store.update_to_deleted(db, **job.key, now=now, updated_by=job.created_by)
    if not gone:
        await _end(db, job=job, state="removed", actor=events.WORKER, now=now)
        return 1
    await response_rows.write(db, keys=[(job.organization_id, row["instance_id"]) for row in gone])
    moments = [(row["submitted_time"], row["out_time"]) for row in gone]
    await _mark(db, job=job, time_zone=gone[0]["time_zone"], moments=moments, now=now)
    await store.update_import(db, job=job, counts={"removed": len(gone)}, now=now)
    return 1


async def _end(
    db: Database, *, job: ResponseImportRecord, state: Literal["done", "removed"], actor: Actor, now: datetime
) -> ResponseImportRecord:
    """The one event that tells of an import, and the one of its removal."""
    ended = await store.update_import(db, job=job, state=state, now=now)
    kind = "response_import.finished" if state == "done" else "response_import.removed"
    unsaid = {"digest", "questionnaire", "creator_name"}
    data = {name: getattr(ended, name) for name in ResponseImportRecord.__struct_fields__ if name not in unsaid}
    await events.record(db, events=[NewEvent.of(ended, kind, ended.response_import_id, data, now=now, actor=actor)])
    return ended
