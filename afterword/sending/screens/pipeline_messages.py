"""The messages of a pipeline: texts of each reminder in each language, as they arrive, and a test to oneself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.metadata import service as metadata
from afterword.asking.questionnaires.store import Questionnaire
from afterword.console.inputs import read_as
from afterword.console.screens import Screens, Visit
from afterword.core.messaging import segments
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, CHANNEL_WEBHOOK
from afterword.core.text import locales, placeholders
from afterword.kit.db import Database
from afterword.kit.transport.base import Message
from afterword.kit.ui.lists import address
from afterword.kit.web.mails import mail_page
from afterword.sending.intake import test_messages
from afterword.sending.messages.email import authored
from afterword.sending.pipelines.resources import PipelineUpdate
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.queue.resources import QueueItemRequest
from afterword.sending.screens.pipelines import ONE, change, pipeline_of, url_of

CAPTURED: Final = "captured"  # the reply of the outbox

routes = Screens()


@dataclass(frozen=True, slots=True)
class MessageKey:
    """A message of the pipeline: 0 is the invitation, then its reminders; `locale` empty: the texts of all others."""

    number: int
    locale: str

    def url(self, path: str, **changed: object) -> str:
        values = {"reminder": self.number or "", "locale": self.locale, **changed}
        return address(path, **values)


@routes.post(f"{ONE}/messages", scope="Pipeline.Update")
async def save(visit: Visit) -> Response:
    form = visit.form
    async with visit.read() as db:
        pipeline, _, chosen = await _found(visit, db)
    texts = {name: form.text(name) for name in placeholders.MESSAGE_TEXTS if form.text(name)}
    try:
        changes = read_as(PipelineUpdate, _document(pipeline, chosen, texts), visit).given
        saved = await change(visit, changes)
    except errors.Invalid as invalid:
        wrong = [errors.FieldError(one.code, one.message, pointer=_field_of(one.pointer)) for one in invalid.errors]
        return await _show(visit, errors.Invalid(invalid.detail, errors=wrong))
    except errors.Stale as stale:
        return await _show(visit, stale)
    saved.headers["Location"] = chosen.url(f"{url_of(pipeline)}/messages", done="saved")
    return saved


@routes.get(f"{ONE}/mail", scope="Pipeline.Read")
async def mail(visit: Visit) -> Response:
    async with visit.read() as db:
        pipeline, _, chosen = await _found(visit, db)
        message = await _preview(visit, db, pipeline, chosen)
    return mail_page(message.html, pages=visit.public_pages)


@routes.post(f"{ONE}/test", scope="Pipeline.Update")
async def send_test(visit: Visit) -> Response:
    try:
        _, result = await test_messages.send(
            visit.pool,
            caller=visit.caller,
            questionnaire_id=visit.id("questionnaire_id"),
            pipeline_id=visit.id("pipeline_id"),
            request=QueueItemRequest(
                responder_channel_identifier=visit.form.text("recipient"), locale=visit.form.text("test_locale") or None
            ),
            site=visit.site,
            now=visit.now,
        )
    except (errors.Invalid, errors.Conflict, errors.TooMany, errors.Unavailable) as refusal:
        wrong = [errors.FieldError(one.code, one.message, pointer="/recipient") for one in refusal.errors]
        shown = type(refusal)(refusal.detail, errors=wrong) if wrong else refusal
        return await _show(visit, shown)
    return await _show(visit, sent={"outcome": result.outcome, "reply": result.reply})


def _field_of(pointer: str | None) -> str:
    """The field of the form with this member: `/messages/el/button` and `/message_button` are its `button`."""
    last = (pointer or "").rpartition("/")[2].removeprefix("message_")
    return f"/{last}" if last in placeholders.MESSAGE_TEXTS else "/body"


async def _preview(visit: Visit, db: Database, pipeline: Pipeline, chosen: MessageKey) -> Message:
    return await test_messages.preview(
        db,
        caller=visit.caller,
        questionnaire_id=pipeline.questionnaire_id,
        pipeline_id=pipeline.pipeline_id,
        locale=chosen.locale or None,
        reminder_number=chosen.number or None,
        item_id=None,
        site=visit.site,
        now=visit.now,
    )


async def _found(visit: Visit, db: Database) -> tuple[Pipeline, Questionnaire, MessageKey]:
    """The pipeline, its questionnaire, and the message of the address; reminders have texts by language alone."""
    pipeline = await pipeline_of(visit, db)
    questionnaire = await access.get(db, caller=visit.caller, questionnaire_id=pipeline.questionnaire_id)
    chosen = _chosen(visit, pipeline)
    if chosen.number and not chosen.locale:
        chosen = MessageKey(chosen.number, pipeline.locale or questionnaire.default_locale)
    return pipeline, questionnaire, chosen


def _chosen(visit: Visit, pipeline: Pipeline) -> MessageKey:
    number, locale = visit.query.get("reminder", ""), visit.query.get("locale", "")
    try:
        locale = locales.normalise(locale) if locale else ""
    except locales.InvalidLocale:
        locale = ""
    is_there = number.isascii() and number.isdigit() and int(number[:2]) <= len(pipeline.reminders)
    return MessageKey(int(number[:2]) if is_there else 0, locale)


def _own(pipeline: Pipeline, chosen: MessageKey) -> Mapping[str, str]:
    """The texts that are stored for just this message in this language."""
    if chosen.number:
        by_tag = pipeline.reminders[chosen.number - 1].get("messages") or {}
    elif chosen.locale:
        by_tag = pipeline.messages
    else:
        return {name: getattr(pipeline, f"message_{name}") or "" for name in placeholders.MESSAGE_TEXTS}
    by_locale = {locales.normalise(tag): texts for tag, texts in by_tag.items()}
    return by_locale.get(chosen.locale) or {}


def _document(pipeline: Pipeline, chosen: MessageKey, texts: Mapping[str, str]) -> dict[str, Any]:
    """The members of a change that puts these texts in the place of the stored ones; no body: they go."""
    if not chosen.number and not chosen.locale:
        return {f"message_{name}": texts.get(name) for name in placeholders.MESSAGE_TEXTS}
    if not chosen.number:
        return {"messages": _with(pipeline.messages, chosen.locale, texts)}
    reminders = [dict(one) for one in pipeline.reminders]
    one = reminders[chosen.number - 1]
    one["messages"] = _with(one.get("messages") or {}, chosen.locale, texts)
    return {"reminders": reminders}


def _with(by_tag: Mapping[str, Mapping[str, str]], locale: str, texts: Mapping[str, str]) -> dict[str, Any]:
    others: dict[str, Any] = {tag: one for tag, one in by_tag.items() if locales.normalise(tag) != locale}
    return {**others, locale: dict(texts)} if texts else others


@routes.get(f"{ONE}/messages", scope="Pipeline.Read")
async def _show(
    visit: Visit, refusal: errors.Refusal | None = None, *, sent: Mapping[str, str | None] | None = None
) -> Response:
    words, form = visit.words, visit.form
    async with visit.read() as db:
        pipeline, questionnaire, chosen = await _found(visit, db)
        declared = await metadata.declared_of(
            db, organization_id=pipeline.organization_id, questionnaire_id=pipeline.questionnaire_id
        )
        try:
            message, fault = await _preview(visit, db, pipeline, chosen), ""
        except (errors.Conflict, errors.Invalid) as wrong:  # such as a questionnaire that is not published
            message, fault = None, wrong.detail
    here, own, is_typed = url_of(pipeline), _own(pipeline, chosen), "body" in form.values
    is_stale = isinstance(refusal, errors.Stale) and is_typed
    length = segments.measure(message.text) if message and pipeline.channel_id == CHANNEL_SMS else None
    return visit.page(
        "pipeline_messages.html",
        title=words("Messages of “{title}”", title=pipeline.title),
        status=refusal.status if refusal else 200,
        pipeline=pipeline,
        here=here,
        action=chosen.url(f"{here}/messages"),
        chosen=chosen,
        version=form.text("version") if is_typed and not is_stale else pipeline.version,
        is_mail=pipeline.channel_id == CHANNEL_EMAIL,
        is_sms=pipeline.channel_id == CHANNEL_SMS,
        is_webhook=pipeline.channel_id == CHANNEL_WEBHOOK,
        numbers=[
            {
                "text": words("Invitation") if number == 0 else words("Reminder {number}", number=number),
                "url": chosen.url(f"{here}/messages", reminder=number or ""),
                "is_current": number == chosen.number,
                "count": None,
            }
            for number in range(len(pipeline.reminders) + 1)
        ],
        languages=[
            {
                "text": _language(visit, locale, pipeline, chosen),
                "url": chosen.url(f"{here}/messages", locale=locale),
                "is_current": locale == chosen.locale,
                "count": None,
            }
            for locale in (() if chosen.number else ("",)) + tuple(questionnaire.locales)
        ],
        value={name: form.text(name) if is_typed else own.get(name) or "" for name in placeholders.MESSAGE_TEXTS},
        fallback=authored(pipeline, chosen.locale or "und")._asdict(),
        theirs=[own.get("subject") or "", own.get("body") or ""] if is_stale else [],
        variables=[
            *placeholders.VARIABLES,
            *placeholders.ITEM_VARIABLES,
            *(f"{kind}.{name}" for kind in placeholders.MAPS for name in getattr(declared, kind)),
        ],
        message=message,
        fault=fault,
        frame_url=chosen.url(f"{here}/mail"),
        length=length,
        recipient=form.text("recipient") or (visit.session.email if pipeline.channel_id == CHANNEL_EMAIL else ""),
        may_change="Pipeline.Update" in visit.caller.scopes,
        sent=sent,
        captured=CAPTURED,
        refusal=refusal,
    )


def _language(visit: Visit, locale: str, pipeline: Pipeline, chosen: MessageKey) -> str:
    """The name of a language, marked where it has no texts of its own."""
    if not locale:
        return visit.words("All other languages")
    name = visit.words.language_name(locale)
    own = _own(pipeline, MessageKey(chosen.number, locale))
    return name if own else visit.words("{language} (none of its own)", language=name)
