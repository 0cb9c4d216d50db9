"""Takes the answers to an anonymous invitation, and makes responses of them once enough people have answered.

The invitation records that it was used, but neither when nor by which answers. The answers wait in a pool that is one
sealed text, in the order of random ids. Those of `TOGETHER_MIN` people become responses at once, with the day as their
time, and without responder, item, metadata and language of the invitation. `docs/decisions/0098` has the attacks.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
import structlog
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.instances import answers as answers_service, issuing
from afterword.asking.instances.answer_page import AnswerPage, PageAnswers, Posted, first
from afterword.asking.instances.answers import AnswerContext, Finalized, Saved
from afterword.asking.instances.rendering import closed_page, expired_page, thank_you_page
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.answers import instances
from afterword.core.answers.values import Given
from afterword.core.figures.periods import day_of, day_start
from afterword.core.wire.site import Site
from afterword.core.wire.times import zone_of
from afterword.kit import sealing
from afterword.kit.db import Database


async def _claim_pool(db: Database, *, organization_id: str, questionnaire_id: str, version_id: str) -> bytes:
    """The sealed answers of the version that wait, empty for none; locked until the transaction ends."""
    return await db.fetch_value(
        """insert into anonymous_pool (organization_id, questionnaire_id, version_id, responses, sealed)
           values ($1, $2, $3, 0, '')
           on conflict (organization_id, questionnaire_id, version_id) do update set sealed = anonymous_pool.sealed
           returning sealed""",
        *(organization_id, questionnaire_id, version_id),
    )


async def _settle_pool(
    db: Database, *, organization_id: str, questionnaire_id: str, version_id: str, responses: int, sealed: bytes
) -> None:
    await db.execute(
        """update anonymous_pool set responses = $4, sealed = $5
           where organization_id = $1 and questionnaire_id = $2 and version_id = $3""",
        *(organization_id, questionnaire_id, version_id, responses, sealed),
    )


async def count_waiting(db: Database, *, organization_id: str, questionnaire_id: str) -> int:
    """The answers of all versions that wait for others."""
    return await db.fetch_value(
        """select coalesce(sum(responses), 0)::bigint from anonymous_pool
           where organization_id = $1 and questionnaire_id = $2""",
        *(organization_id, questionnaire_id),
    )


async def update_to_used(db: Database, *, organization_id: str, instance_id: str) -> None:
    """Record that the invitation took answers, but not when: `updated_time` stays."""
    await db.execute(
        """update questionnaire_instance set finalized = true, version = version + 1
           where organization_id = $1 and instance_id = $2 and anonymity = 'invitation'""",
        *(organization_id, instance_id),
    )


TOGETHER_MIN: Final = 5
PADDED_BYTES: Final = 8_192  # steps of the sealed text, whose length tells nobody how much one person wrote
logger = structlog.get_logger()
_json: Final = msgspec.json.Encoder()


class Waiting(msgspec.Struct, frozen=True):
    """The answers of one person; `instance_id` is that of the later response."""

    instance_id: str
    answers: dict[str, tuple[Any, str | None]]  # value and text beside it, by question


async def take(
    db: Database, *, context: AnswerContext, answers: Mapping[str, Given | None], secret: bytes, now: datetime
) -> Saved:
    """Keep the answers if nothing is wrong or missing. `context` is locked.

    Raises Expired, Finalized, Inactive, Closed; Unavailable if waiting ones are unreadable.
    """
    invitation, questionnaire = context.instance, context.questionnaire
    if invitation.finalized:
        raise Finalized("The answers were sent and cannot be changed.")
    key = invitation.questionnaire_key | invitation.version_key
    # A test is seen at once; nothing is gained by waiting.
    waiting = [] if invitation.test else await _open_pool(db, key, secret=secret)
    await answers_service.require_open(db, instance=invitation, issuable=questionnaire, now=now)
    asked = {one: given for one, given in answers.items() if one in invitation.question_ids}
    edit = instances.edit(context.definition, invitation.question_ids, {}, asked, context.facts)
    wrong = edit.wrong or instances.missing(context.definition, invitation.question_ids, edit.after, context.facts)
    if wrong:
        return Saved(context, wrong)
    given = {question_id: (one.value, one.other_text) for question_id, one in edit.after.items()}
    waiting.append(Waiting(ids.secret(), given))
    await update_to_used(db, **invitation.key)
    is_published = invitation.test or len(waiting) >= TOGETHER_MIN
    if not invitation.test:
        await _close_pool(db, key, [] if is_published else waiting, secret=secret)
    if is_published:
        await _publish(db, context, waiting, secret=secret, now=now)
    return Saved(replace(context, answers=edit.after))


async def _open_pool(db: Database, key: Mapping[str, str], *, secret: bytes) -> list[Waiting]:
    sealed = await _claim_pool(db, **key)
    if not sealed:
        return []
    try:
        text = sealing.unseal(sealed, secret=secret, context=_context(key))
    except sealing.Unreadable:
        logger.exception("anonymous answers were sealed under another AFTERWORD_SECRET; no more can be taken", **key)
        raise errors.Unavailable("Your answers cannot be kept now. Please try again later.") from None
    return msgspec.json.decode(text, type=list[Waiting])


async def _close_pool(db: Database, key: Mapping[str, str], waiting: list[Waiting], *, secret: bytes) -> None:
    sealed = b""
    if waiting:
        text = _json.encode(_in_random_order(waiting)).decode()
        padded = text + " " * (-len(text.encode()) % PADDED_BYTES)
        sealed = sealing.seal(padded, secret=secret, context=_context(key))
    await _settle_pool(db, **key, responses=len(waiting), sealed=sealed)


def _context(key: Mapping[str, str]) -> str:
    return f"anonymous pool:{key['organization_id']}:{key['version_id']}"


def _in_random_order(waiting: list[Waiting]) -> list[Waiting]:
    """By their random ids, which say nothing about the order in which people answered."""
    return sorted(waiting, key=lambda one: one.instance_id)


async def _publish(
    db: Database, context: AnswerContext, waiting: list[Waiting], *, secret: bytes, now: datetime
) -> None:
    """Make responses of the answers, with the beginning of the day as the time of all that happened to them."""
    invitation, zone = context.instance, zone_of(context.questionnaire.time_zone)
    day = day_start(day_of(now, zone), zone)
    version = await questionnaires_store.get_version(db, **invitation.version_key)
    for one in _in_random_order(waiting):
        response, _ = await issuing.issue_by_link(
            db,
            issuable=context.questionnaire,
            version=version,
            request=issuing.IssueInput(instance_id=one.instance_id, valid_days=0, test=invitation.test),
            now=day,
            secret=secret,
            draw=lambda: 0.0,
        )
        await answers_service.save_answers(
            db,
            context=replace(context, instance=response, responder_metadata={}, answers={}),
            answers={question_id: Given(*given) for question_id, given in one.answers.items()},
            complete=True,
            now=day,
        )


async def send(
    request: Request, database: Database, answer_page: AnswerPage, posted: Posted, *, show: Callable[..., Response]
) -> Response:
    """Take the posted page as a whole, or show it again with its input: in another language, or with more questions.

    The ending is the answer to the POST, because it depends on answers that can be found no more afterwards.
    """
    site: Site = request.state.site
    if posted.locale:
        return show(request, answer_page.in_language(posted.locale), 1, posted=posted)
    form, after = _read(answer_page, posted)
    shown, place = first(posted.fields, "shown").split(), after.sequence.definition.position
    appeared = [one.question_id for one in after.sequence.questions_on(1) if str(place(one.question_id)) not in shown]
    wrong = after.wrong_on(1, form, appeared)
    if wrong or appeared:
        return show(request, after, 1, posted=posted, wrong=wrong, status=422 if wrong else 200)
    try:
        taken = await take(
            database, context=answer_page.context, answers=form.given, secret=site.secret, now=database.clock.now()
        )
    except (answers_service.Expired, answers_service.Inactive, answers_service.Closed) as refusal:
        return refused_page(answer_page, refusal)
    if taken.wrong:
        return show(request, after, 1, posted=posted, wrong=after.missing_on(1), status=422)
    return thank_you_page(replace(after, started=taken.context))


def _read(answer_page: AnswerPage, posted: Posted) -> tuple[PageAnswers, AnswerPage]:
    """The answers, and the page with them. Answers make questions appear, which are read in the next round."""
    form, after = answer_page.read_form(1, posted), answer_page
    while (more := answer_page.answered(form.given)).sequence.questions_on(1) != after.sequence.questions_on(1):
        form, after = more.read_form(1, posted), more
    return form, more


def refused_page(answer_page: AnswerPage, refusal: errors.Refusal) -> Response:
    return expired_page(answer_page) if isinstance(refusal, answers_service.Expired) else closed_page(answer_page)
