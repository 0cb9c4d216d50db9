"""The answers of a response as a person reads them: question, answer in words, score."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from starlette.background import BackgroundTask

from afterword import errors
from afterword.asking.instances import answers as answers_store, service as instances
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import metadata, store as questionnaires_store
from afterword.console.screens import Visit
from afterword.core.answers import values
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.question_types import YES_NO, Question
from afterword.core.questionnaires.questions import localized
from afterword.core.text import locales
from afterword.kit.db import Database
from afterword.kit.texts import Texts
from afterword.privacy import profiles


class ShownAnswer(msgspec.Struct, frozen=True):
    """`highest`: the end of the scale that the answer is on, None without one. `files`: names and addresses."""

    title: str
    text: str
    is_comment: bool
    highest: int | None
    files: Sequence[tuple[str, str]] = ()


class ShownResponse(msgspec.Struct, frozen=True):
    """`direction` is that of the response's language, in which people write; `facts`: its metadata by their titles."""

    instance: Instance
    answers: list[ShownAnswer]
    facts: list[tuple[str, str]]
    locale: str
    direction: str
    submitted_time: datetime | None


async def answers_of(db: Database, *, caller: Caller, instance_id: str, words: Texts) -> ShownResponse | None:
    """The response, its questions in order; None where it is gone or not the caller's to read."""
    instance = await _instance_of(db, caller=caller, instance_id=instance_id)
    if instance is None:
        return None
    version = await questionnaires_store.get_version(db, **instance.version_key)
    stored = await answers_store.list_answers(db, **instance.key)
    given = {answer.question_id: answer for answer in stored if instance.is_kept_apart or not answer.provisional}
    shown: list[ShownAnswer] = []
    for question in version.definition.questions():
        answer = given.get(question.question_id)
        if answer is None:
            continue
        asked = localized(question, instance.locale)
        text = text_of(question, answer.value, answer.other_text, instance.locale, words)
        uploads = answer.value if question.shape == "files" else ()
        files = [(one["name"], f"/console/responses/{instance_id}/file/{one['file_id']}") for one in uploads]
        shown.append(
            ShownAnswer(
                asked.plain_title, text, question.shape in {"text", "contact"}, max(question.scale, default=None), files
            )
        )
    facts = await titled(
        db,
        organization_id=instance.organization_id,
        questionnaire_id=instance.questionnaire_id,
        groups={"questionnaire": instance.metadata},
        words=words,
    )
    direction = locales.direction(instance.locale)
    return ShownResponse(instance, shown, facts, instance.locale, direction, instance.answered_time)


def text_of(question: Question, value: Any, other: str | None, locale: str, words: Texts) -> str:
    text = values.label(question, value, locale) or _plain(value, words)
    return f"{text}: {other}" if other else text


async def titled(
    db: Database, *, organization_id: str, questionnaire_id: str, groups: Mapping[str, Mapping[str, str]], words: Texts
) -> list[tuple[str, str]]:
    declared = await metadata.declared_of(db, organization_id=organization_id, questionnaire_id=questionnaire_id)
    return [
        (declared.title("questionnaire" if kind == "questionnaire" else "responder", name, words), value)
        for kind, group in groups.items()
        for name, value in sorted(group.items())
    ]


async def has_answer(db: Database, *, caller: Caller, instance_id: str) -> bool:
    instance = await _instance_of(db, caller=caller, instance_id=instance_id)
    return instance is not None and instance.submitted_time is not None


async def _instance_of(db: Database, *, caller: Caller, instance_id: str) -> Instance | None:
    if not caller.reads_answers:
        return None
    try:
        return await instances.get(db, caller=caller, instance_id=instance_id)
    except errors.NotFound:
        return None


def note_person(visit: Visit, responder_id: str | None) -> None:
    """Record in the audit log, when the page has left, that it showed a person."""
    if responder_id is None:
        return

    async def note() -> None:
        seen: dict[str, Any] = {"responder_id": responder_id, "once_in": profiles.SEEN_IN}
        await visit.load(profiles.note, caller=visit.caller, action="read", **seen, now=visit.now)

    visit.afterwards = BackgroundTask(note)


def _plain(value: Any, words: Texts) -> str:
    match value:
        case bool():
            return words(YES_NO[value])
        case list():
            return ", ".join(map(str, value))
        case dict():
            return ", ".join(f"{name}: {each}" for name, each in value.items())
        case _:
            return str(value)
