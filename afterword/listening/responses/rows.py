"""Keeping the rows of responses: those of changed instances as the log tells of them, older ones in their order.

All writers hold the cursor of one reader, so that each reads what the one before it has written, and no row comes back
that an erasure has emptied. A transaction that makes responses needs not: nobody else sees them yet. A row is always
made anew from the instance and its answers.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, LiteralString, get_args

import msgspec

from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases import recoveries
from afterword.core.questionnaires.question_types import TYPES, ScaleName, Shape
from afterword.core.questionnaires.questions import Question
from afterword.core.text import words
from afterword.events import service as events
from afterword.events.service import Event
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, qualified

Key = tuple[str, str]  # organization and instance


class Source(msgspec.Struct, frozen=True):
    """An answered instance with all that its row is made of. `answers` have the members of the table."""

    organization_id: str
    instance_id: str
    questionnaire_id: str
    application_id: str
    version_id: str
    responder_id: str
    channel_id: int | None
    test: bool
    locale: str
    submitted_time: datetime
    external_reference: str | None
    key_question_id: str | None
    metadata: Mapping[str, str]
    person: Sequence[str]
    answers: Sequence[Mapping[str, Any]]


_COLUMNS: Final[LiteralString] = """organization_id, instance_id, questionnaire_id, application_id, version_id,
  responder_id, channel_id, test, locale, submitted_time, external_reference, score_question_id, score_kind, score,
  score_max, band, comment, words"""
_CHANGED: Final = qualified(_COLUMNS, "response")
_EXCLUDED: Final = qualified(_COLUMNS, "excluded")
_GIVEN: Final = qualified(_COLUMNS, "r")


# Of the responder `p`.
_PERSON: Final[LiteralString] = """array(select a.identifier from responder_address a
                   where a.organization_id = p.organization_id and a.responder_id = p.responder_id
                   union all select d.value from jsonb_each_text(p.metadata) d)"""


async def _list_sources(
    db: Database, *, keys: Sequence[Key]
) -> list[Source]:  # any tenant: the log's reader serves all
    """Those of these instances that have a response: answered, and not deleted."""
    return await db.records(Source).fetch(
        f"""select i.organization_id, i.instance_id, i.questionnaire_id, q.owner_application_id as application_id,
             i.version_id, i.responder_id, i.channel_id, i.test, i.locale, i.submitted_time,
             coalesce(i.external_id, m.external_reference) as external_reference, q.key_question_id, i.metadata,
             {_PERSON} as person,
             (select coalesce(jsonb_agg(jsonb_build_object('question_id', a.question_id, 'version_id', a.version_id,
                'value', a.value, 'other_text', a.other_text)), '[]') from answer a
              where a.organization_id = i.organization_id and a.instance_id = i.instance_id and not a.provisional)
               as answers
           from unnest($1::text[], $2::text[]) k (organization_id, instance_id)
           join questionnaire_instance i
             on i.organization_id = k.organization_id and i.instance_id = k.instance_id
           join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
           left join responder p on p.organization_id = i.organization_id and p.responder_id = i.responder_id
           left join queue_item m on m.organization_id = i.organization_id and m.item_id = i.item_id
           where i.submitted_time is not null and i.deleted_time is null""",
        *arrays(keys, 2),
    )


async def list_people(  # any tenant: as above
    db: Database, *, keys: Sequence[Key]
) -> dict[Key, list[str]]:
    """The texts by which each of these pairs of organization and responder is found."""
    rows = await db.fetch_tuples(
        f"""select p.organization_id, p.responder_id, {_PERSON} from unnest($1::text[], $2::text[])
             k (organization_id, responder_id) join responder p using (organization_id, responder_id)""",
        *arrays(keys, 2),
    )
    return {(organization_id, responder_id): texts for organization_id, responder_id, texts in rows}


async def insert_responses(db: Database, *, rows: Sequence[Mapping[str, Any]]) -> int:  # any tenant: as above
    """Insert or change these rows; the number of those that were not so already."""
    return await db.execute(
        f"""insert into response ({_COLUMNS})
            select {_GIVEN} from jsonb_populate_recordset(null::response, $1) r
            order by r.organization_id, r.instance_id
            on conflict (organization_id, instance_id) do update set ({_COLUMNS}) = row ({_EXCLUDED})
            where ({_CHANGED}) is distinct from ({_EXCLUDED})""",
        rows,
    )


async def _list_wrong_keys(db: Database, *, rows: Sequence[Mapping[str, Any]]) -> list[Key]:  # any tenant: as above
    """Those of these rows that are missing, or stored otherwise."""
    return await db.fetch_tuples(
        f"""select r.organization_id, r.instance_id from jsonb_populate_recordset(null::response, $1) r
            left join response on response.organization_id = r.organization_id
              and response.instance_id = r.instance_id
            where ({_CHANGED}) is distinct from ({_GIVEN})""",
        rows,
    )


async def _list_settled_keys(db: Database, *, after: str, before: datetime) -> list[Key]:  # any tenant: as above
    """Those of the next SAMPLED_MAX instances with a response that did not change since `before`."""
    return await db.fetch_tuples(
        """select organization_id, instance_id from (
             select organization_id, instance_id, submitted_time, deleted_time, updated_time
             from questionnaire_instance where instance_id > $1 order by instance_id limit $3) i
           where submitted_time is not null and deleted_time is null and updated_time < $2""",
        *(after, before, SAMPLED_MAX),
    )


async def _get_is_filled(db: Database) -> bool:  # any tenant: as above
    return bool(await db.fetch_value("select exists (select from response_fill where done_time is not null)"))


async def update_to_fill_again(db: Database) -> None:  # any tenant: as above
    """Let workers make all rows anew, from the first instance on; rows stay in use meanwhile."""
    await db.execute("update response_fill set after = '', done_time = null")


async def _delete_responses(db: Database, *, keys: Sequence[Key]) -> int:  # any tenant: as above
    return await db.execute(
        """delete from response r using unnest($1::text[], $2::text[]) k (organization_id, instance_id)
           where r.organization_id = k.organization_id and r.instance_id = k.instance_id""",
        *arrays(keys, 2),
    )


async def _list_keys_of_people(  # any tenant: as above
    db: Database, *, people: Sequence[tuple[str, str]]
) -> list[Key]:
    """The instances of these pairs of organization and responder."""
    return await db.fetch_tuples(
        """select i.organization_id, i.instance_id from unnest($1::text[], $2::text[]) p (organization_id, responder_id)
           join questionnaire_instance i using (organization_id, responder_id)""",
        *arrays(people, 2),
    )


async def _claim_fill(db: Database) -> str | None:
    """The id behind which instances wait for their rows; None where all have them, or another process is at it."""
    await db.execute("insert into response_fill default values on conflict do nothing")
    return await db.fetch_value("select after from response_fill where done_time is null for update skip locked")


async def _list_instances_after(  # any tenant: as above
    db: Database, *, after: str, limit: int
) -> list[tuple[str, Key | None]]:
    """The ids of the next instances; of those with answers the key."""
    rows = await db.fetch(
        """select organization_id, instance_id, submitted_time is not null as is_answered from questionnaire_instance
           where instance_id > $1 order by instance_id limit $2""",
        *(after, limit),
    )
    return [
        (row["instance_id"], (row["organization_id"], row["instance_id"]) if row["is_answered"] else None)
        for row in rows
    ]


async def _settle_fill(db: Database, *, after: str, done_time: datetime | None) -> None:
    await db.execute("update response_fill set after = $1, done_time = $2", after, done_time)


READER: Final = "responses"
EVENTS_MAX: Final = 200
FILLED_MAX: Final = 500  # instances in one transaction
SAMPLED_AFTER: Final = ("", "4", "8", "C", "H", "M", "R", "W", "b", "g", "l", "q", "v")  # ids that parts begin behind
SAMPLED_MAX: Final = 100  # instances of each part
SETTLED_AFTER: Final = timedelta(minutes=10)  # what changed since may not have been followed yet
COMMENT_CHARACTERS_MAX: Final = 1_000
ANSWERED, REFERENCE, VALUES, PERSON = words.WEIGHTS  # the parts of a row that a search may look in
SCALES: Final[tuple[str, ...]] = get_args(ScaleName)  # without a key question the first that was answered
BANDS: Final = ("detractor", "passive", "promoter")
_COPIED: Final = tuple(
    name
    for name in Source.__struct_fields__
    if name not in {"key_question_id", "metadata", "person", "answers"}  # the others are made of these
)
ERASED: Final = "responder.erased"  # told once the person is gone
TYPES_OF_CHANGES: Final = (
    "questionnaire_instance.submitted", "questionnaire_instance.completed", "questionnaire_instance.updated",
    "questionnaire_instance.reopened", "questionnaire_instance.deleted", "questionnaire_instance.rejected",
    "answer.confirmed", "answer.changed", ERASED,
)  # fmt: skip


async def follow(db: Database, *, now: datetime) -> int:
    """Write the rows of the next changed instances; return the count of events read, `EVENTS_MAX` where more wait."""

    async def handle(news: Sequence[Event]) -> None:
        keys = {(one.organization_id, one.subject_id) for one in news if one.subject_id and one.type != ERASED}
        people = [(one.organization_id, one.subject_id) for one in news if one.subject_id and one.type == ERASED]
        if people:
            keys |= set(await _list_keys_of_people(db, people=people))
        await write(db, keys=sorted(keys))
        await recoveries.record_recovery_answers(db, keys=sorted(keys), now=now)

    return await events.handle_next(db, reader=READER, types=TYPES_OF_CHANGES, limit=EVENTS_MAX, handle=handle)


async def fill(db: Database, *, now: datetime) -> int:
    """Write the rows of the next instances that were there before the reader; `FILLED_MAX` where more wait."""
    if not await events.claim_reader(db, reader=READER):
        return 0
    after = await _claim_fill(db)
    if after is None:
        return 0
    found = await _list_instances_after(db, after=after, limit=FILLED_MAX)
    await write(db, keys=[key for _, key in found if key])
    is_done = len(found) < FILLED_MAX
    await _settle_fill(db, after=found[-1][0] if found else after, done_time=now if is_done else None)
    return len(found)


class Comparison(msgspec.Struct, frozen=True):
    """`is_filled`: whether all older responses have their rows; else none was compared."""

    is_filled: bool
    compared: int
    wrong: Sequence[Key]


async def compare(db: Database, *, now: datetime) -> Comparison:
    """Compare rows of a sample of all responses, all over the installation, with their instances and answers."""
    if not await _get_is_filled(db):
        return Comparison(is_filled=False, compared=0, wrong=())
    before = now - SETTLED_AFTER
    parts = [await _list_settled_keys(db, after=after, before=before) for after in SAMPLED_AFTER]
    keys = sorted({key for part in parts for key in part})
    made = await _rows_of(db, await _list_sources(db, keys=keys)) if keys else []
    return Comparison(is_filled=True, compared=len(made), wrong=await _list_wrong_keys(db, rows=made))


async def rewrite(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> bool:
    """Make these rows anew in this transaction; False while another process writes some."""
    if not await events.claim_reader(db, reader=READER):
        return False
    await write(db, keys=[(organization_id, instance_id) for instance_id in instance_ids])
    return True


async def write(db: Database, *, keys: Sequence[Key]) -> None:
    """Make the rows of these instances anew, and remove those of instances without a response."""
    if not keys:
        return
    sources = await _list_sources(db, keys=keys)
    found = {(one.organization_id, one.instance_id) for one in sources}
    if gone := [key for key in keys if key not in found]:
        await _delete_responses(db, keys=gone)
    if sources:
        await insert_responses(db, rows=await _rows_of(db, sources))


def as_stored(value: Any) -> Any:
    """JSON as a jsonb gives it back: the shorter names of an object first."""
    if isinstance(value, list):
        return [as_stored(one) for one in value]
    if not isinstance(value, dict):
        return value
    names = sorted((len(encoded), encoded, name) for name in value for encoded in [name.encode()])
    return {name: as_stored(value[name]) for _, _, name in names}


async def _rows_of(db: Database, sources: Sequence[Source]) -> list[dict[str, Any]]:
    places = {_versions(source) for source in sources}
    asked = {one: await list_questions(db, organization_id=one[0], version_ids=one[1:]) for one in places}
    return [row_of(source, asked[_versions(source)]) for source in sources]


def row_of(source: Source, questions: Mapping[str, Question]) -> dict[str, Any]:
    """The row of a response whose JSON is as a jsonb gives it back."""
    score = _score(source, questions)
    texts = [
        (answer, text) for answer in source.answers for text in _texts(questions.get(answer["question_id"]), answer)
    ]
    places = {question_id: place for place, question_id in enumerate(questions)}
    texts.sort(key=lambda one: places.get(one[0]["question_id"], len(places)))
    comment = next((text for answer, text in texts if _shape(questions, answer) == "text"), "").strip()
    parts = [
        *((text, PERSON if _shape(questions, answer) == "contact" else ANSWERED) for answer, text in texts),
        (source.external_reference or "", REFERENCE),
        *((str(value), VALUES) for value in source.metadata.values()),
        *((text, PERSON) for text in source.person),
    ]
    return {
        **{name: getattr(source, name) for name in _COPIED},
        **dict.fromkeys(("score_question_id", "score_kind", "score", "score_max", "band")),
        **score,
        "comment": comment[:COMMENT_CHARACTERS_MAX] or None,
        "words": words.vector(parts, tenant=source.organization_id),
    }


def _versions(source: Source) -> tuple[str, ...]:
    """The organization, and the versions that were answered; an answer may be of an older one."""
    answered = (answer["version_id"] for answer in source.answers)
    return source.organization_id, *dict.fromkeys([source.version_id, *answered])


async def list_questions(db: Database, *, organization_id: str, version_ids: Sequence[str]) -> dict[str, Question]:
    found: dict[str, Question] = {}
    for version_id in version_ids:
        version = await questionnaires_store.get_version(db, organization_id=organization_id, version_id=version_id)
        for question in version.definition.questions():
            found.setdefault(question.question_id, question)
    return found


def _type(questions: Mapping[str, Question], answer: Mapping[str, Any]) -> str:
    question = questions.get(answer["question_id"])
    return question.type if question else ""


def _shape(questions: Mapping[str, Question], answer: Mapping[str, Any]) -> Shape | None:
    question = questions.get(answer["question_id"])
    return question.shape if question else None


def _score(source: Source, questions: Mapping[str, Question]) -> dict[str, Any]:
    """The columns of the score: of the key question where it was answered, else of the first in the order of SCALES."""
    places = {question_id: place for place, question_id in enumerate(questions)}
    given = [
        (answer["question_id"] != source.key_question_id, SCALES.index(kind), places[answer["question_id"]], answer)
        for answer in source.answers
        if (kind := _type(questions, answer)) in SCALES and isinstance(answer["value"], int)
    ]
    if not given:
        return {}
    *_, answer = min(given, key=lambda one: one[:3])
    kind = _type(questions, answer)
    return {
        "score_question_id": answer["question_id"],
        "score_kind": kind,
        "score": answer["value"],
        "score_max": scale[1] if (scale := TYPES[kind].scale) else questions[answer["question_id"]].scale_max,
        "band": band_of(kind, answer["value"]),
    }


def band_of(kind: str, score: int) -> str | None:
    """`detractor`, `passive` or `promoter`, as the segments of this kind have it; None without segments."""
    for band, (_, low, high) in zip(BANDS, TYPES[kind].segments, strict=False):
        if low <= score <= high:
            return band
    return None


def _texts(question: Question | None, answer: Mapping[str, Any]) -> list[str]:
    found = [answer["other_text"] or ""]
    if question is not None and question.shape == "text":
        found.insert(0, str(answer["value"]))
    elif question is not None and question.shape == "contact" and isinstance(answer["value"], dict):
        found += [str(value) for value in answer["value"].values()]
    return [text for text in found if text]
