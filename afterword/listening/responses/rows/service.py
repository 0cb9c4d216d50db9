"""Keeping the rows of responses: those of changed instances as the log tells of them, older ones in their order.

All writers hold the cursor of one reader, so that each reads what the one before it has written, and no row comes back
that an erasure has emptied. A row is always made anew from the instance and its answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases.recoveries import service as recoveries
from afterword.core.questionnaires.question_types import TYPES, Shape
from afterword.core.questionnaires.questions import Question
from afterword.core.text import words
from afterword.events import service as events
from afterword.events.store import Event
from afterword.kit.db import Database
from afterword.listening.responses.rows import store
from afterword.listening.responses.rows.store import Key, Source

READER: Final = "responses"
EVENTS_MAX: Final = 200
FILLED_MAX: Final = 500  # instances in one transaction
SAMPLED_AFTER: Final = ("", "4", "8", "C", "H", "M", "R", "W", "b", "g", "l", "q", "v")  # ids that parts begin behind
SAMPLED_MAX: Final = 100  # instances of each part
SETTLED_AFTER: Final = timedelta(minutes=10)  # what changed since may not have been followed yet
COMMENT_CHARACTERS_MAX: Final = 1_000
ANSWERED, REFERENCE, VALUES, PERSON = words.WEIGHTS  # the parts of a row that a search may look in
SCORES: Final = ("nps", "csat", "ces", "smileys", "rating")  # without a key question the first that was answered
UNHAPPY: Final = frozenset({"detractor", "dissatisfied", "hard"})
HAPPY: Final = frozenset({"promoter", "satisfied", "easy"})
_COPIED: Final = tuple(
    name
    for name in Source.__dataclass_fields__
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
            keys |= set(await store.list_keys_of_people(db, people=people))
        await write(db, keys=sorted(keys))
        await recoveries.record_recovery_answers(db, keys=sorted(keys), now=now)

    return await events.handle_next(db, reader=READER, types=TYPES_OF_CHANGES, limit=EVENTS_MAX, handle=handle)


async def fill(db: Database, *, now: datetime) -> int:
    """Write the rows of the next instances that were there before the reader; `FILLED_MAX` where more wait."""
    if not await events.claim_reader(db, reader=READER):
        return 0
    after = await store.claim_fill(db)
    if after is None:
        return 0
    found = await store.list_instances_after(db, after=after, limit=FILLED_MAX)
    await write(db, keys=[key for _, key in found if key])
    is_done = len(found) < FILLED_MAX
    await store.settle_fill(db, after=found[-1][0] if found else after, done_time=now if is_done else None)
    return len(found)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`is_filled`: whether all older responses have their rows; else none was compared."""

    is_filled: bool
    compared: int
    wrong: Sequence[Key]


async def compare(db: Database, *, now: datetime) -> Comparison:
    """Compare rows of a sample of all responses, all over the installation, with their instances and answers."""
    if not await store.get_is_filled(db):
        return Comparison(is_filled=False, compared=0, wrong=())
    before = now - SETTLED_AFTER
    parts = [
        await store.list_settled_keys(db, after=after, before=before, limit=SAMPLED_MAX) for after in SAMPLED_AFTER
    ]
    made = await _rows(db, keys=sorted({key for part in parts for key in part}))
    return Comparison(is_filled=True, compared=len(made), wrong=await store.list_wrong_keys(db, rows=made))


async def fill_again(db: Database) -> None:
    """Let workers make all rows anew, from the first instance on; rows stay in use meanwhile."""
    await store.update_to_fill_again(db)


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
    sources = await store.list_sources(db, keys=keys)
    found = {(one.organization_id, one.instance_id) for one in sources}
    if gone := [key for key in keys if key not in found]:
        await store.delete_responses(db, keys=gone)
    if sources:
        await store.insert_responses(db, rows=await _rows_of(db, sources))


async def _rows(db: Database, *, keys: Sequence[Key]) -> list[dict[str, Any]]:
    return await _rows_of(db, await store.list_sources(db, keys=keys)) if keys else []


async def _rows_of(db: Database, sources: Sequence[Source]) -> list[dict[str, Any]]:
    asked = {versions: await _questions(db, *versions) for versions in {_versions(source) for source in sources}}
    return [_row(source, asked[_versions(source)]) for source in sources]


def _row(source: Source, questions: Mapping[str, Question]) -> dict[str, Any]:
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


async def _questions(db: Database, organization_id: str, *version_ids: str) -> dict[str, Question]:
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
    """The columns of the score: of the key question where it was answered, else of the first in the order of SCORES."""
    places = {question_id: place for place, question_id in enumerate(questions)}
    given = [
        (answer["question_id"] != source.key_question_id, SCORES.index(kind), places[answer["question_id"]], answer)
        for answer in source.answers
        if (kind := _type(questions, answer)) in SCORES and isinstance(answer["value"], int)
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
    for name, low, high in TYPES[kind].segments:
        if low <= score <= high:
            return "detractor" if name in UNHAPPY else "promoter" if name in HAPPY else "passive"
    return None


def _texts(question: Question | None, answer: Mapping[str, Any]) -> list[str]:
    found = [answer["other_text"] or ""]
    if question is not None and question.shape == "text":
        found.insert(0, str(answer["value"]))
    elif question is not None and question.shape == "contact" and isinstance(answer["value"], dict):
        found += [str(value) for value in answer["value"].values()]
    return [text for text in found if text]
