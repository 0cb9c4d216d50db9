"""The form of one part of a pipeline's rules: its fields, what is stored of them, what was typed."""

import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, condition_rows, metadata
from afterword.asking.questionnaires.condition_rows import Subjects
from afterword.asking.questionnaires.store import Questionnaire
from afterword.console import conditions
from afterword.console.inputs import Input, Options, differences, document_of, placed, read_as, shown
from afterword.console.nouns import inputs_of
from afterword.console.screens import Form, Marked, Screens, Visit
from afterword.core.messaging import segments
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, CHANNEL_WEBHOOK
from afterword.core.text import locales, placeholders
from afterword.kit.db import Database
from afterword.kit.transport.base import Message
from afterword.kit.ui.lists import Tab, address
from afterword.kit.web.mails import mail_page
from afterword.sending.channels.outbox import CAPTURED
from afterword.sending.intake import test_messages
from afterword.sending.messages.composing import authored
from afterword.sending.pipelines.resources import UNITS, PipelineUpdate, date_title
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.queue import backtests
from afterword.sending.queue.records import QueueItemRequest
from afterword.sending.screens import pipelines
from afterword.sending.screens.pipelines import ONE, change, pipeline_of, subjects_for, url_of
from afterword.sending.screens.queue_items import reason_text

REMINDERS_MAX: Final = 3
INPUTS: Final = {one.name: one for one in inputs_of(Pipeline)}
INPUTS["target_url"] = replace(INPUTS["target_url"], required=True)  # only pipelines of webhooks have the part
UNSENT: Final = (errors.Invalid, errors.Conflict, errors.TooMany, errors.Unavailable)  # why a test is not sent

routes = Screens()


class Part(msgspec.Struct, frozen=True):
    title: Marked
    members: Sequence[str] = ()
    channels: Sequence[int] = ()  # those that have it; empty: all

    @property
    def inputs(self) -> list[Input]:
        return [INPUTS[name] for name in self.members]


def _durations(name: str) -> list[str]:
    return [f"{name}_{unit}" for unit, _, _ in UNITS]


PARTS: Final[Mapping[str, Part]] = {
    "name": Part("Name", ("title", "description")),
    "delay": Part("When a message is due", (*_durations("delay_cap"), "delay_from")),
    "conditions": Part("Who is asked"),
    "frequency": Part(
        "How often an address may be asked", (*_durations("frequency_cap"), "if_capped", "policy_exempt")
    ),
    "hours": Part(
        "Sending hours",
        ("weekdays", "dispatch_start_time", "dispatch_end_time", "zone_of", "time_zone", "if_outside", "on_holidays"),
    ),
    "reminders": Part("Reminders"),
    "sender": Part("Sender of the e-mail", ("sender_name", "sender_address", "reply_to"), (CHANNEL_EMAIL,)),
    "target": Part("Where messages go", ("target_url",), (CHANNEL_WEBHOOK,)),
    "period": Part("Start and end", ("start_time", "end_time")),
    "effort": Part("After a failure", ("max_retry_attempts", "not_after_days", "priority")),
}
# Said of messages that wait already, one or many, when a part changes; other parts are read when a message is due.
FOLLOWING: Final[tuple[Marked, Marked]] = (
    "{n} message waits. It follows the change: these rules decide when it is due.",
    "{n} messages wait. They follow the change: these rules decide about each when it is due.",
)
STAYING: Final[Mapping[str, tuple[Marked, Marked]]] = {
    "delay": (
        "{n} message waits and keeps its time. Only those that come later follow the change.",
        "{n} messages wait and keep their time. Only those that come later follow the change.",
    ),
    "reminders": (
        "{n} message waits. Once it is sent, it is reminded by these times; a planned reminder keeps its own.",
        "{n} messages wait. Once they are sent, they are reminded by these times; planned reminders keep their own.",
    ),
    "effort": (
        "{n} message waits. It keeps its number of tries and its last day; the priority holds for it too.",
        "{n} messages wait. They keep their number of tries and their last day; the priority holds for them too.",
    ),
}


# Parts by which past items are decided anew.
TRIED: Final = frozenset({"delay", "conditions", "frequency", "hours", "period"})


@routes.post(f"{ONE}/{{part}}", scope="Pipeline.Update", again=(errors.Stale,))
async def save_part(visit: Visit) -> Response:
    try:
        async with visit.read() as db:
            pipeline = await pipeline_of(visit, db)
            subjects = await subjects_for(visit, db, pipeline)
        _part(visit, pipeline)
        changes = _changes(visit, pipeline, subjects)
        if visit.form.text("then") == "try" and _may_try(visit):
            return await _show(visit, tried=await _try(visit, changes))
        return await change(visit, changes)
    except errors.Invalid as invalid:
        return await _show(visit, placed(placed(invalid, partial(_place, visit.form))))


def _may_try(visit: Visit) -> bool:
    return visit.id("part") in TRIED and "Queue.Read" in visit.caller.scopes


async def _try(visit: Visit, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The outcomes of the last items by the stored and by the changed rules. Raises Invalid, as saving does."""
    tried = await visit.load(
        backtests.try_change,
        questionnaire_id=visit.id("questionnaire_id"),
        pipeline_id=visit.id("pipeline_id"),
        changes=changes,
        **visit.acting,
    )
    words, count = visit.words, len(tried.before)
    return {
        "count": words.plural(
            "{n} invitation of the last 30 days, checked again", "{n} invitations of the last 30 days, checked again",
            count,
        ),
        "moved": words.plural("{n} has a different result.", "{n} have a different result.", tried.moved),
        "rows": [
            (words("not asked: {reason}", reason=reason_text(words, reason)) if reason else words("asked"), *counts)
            for reason, *counts in tried.outcomes
        ] if count else [],
    }  # fmt: skip


def _part(visit: Visit, pipeline: Pipeline) -> Part:
    """The part of the address. Raises NotFound for one that pipelines of this channel have not."""
    part = PARTS.get(visit.id("part"))
    if part is None or (part.channels and pipeline.channel_id not in part.channels):
        raise errors.NotFound("A pipeline of this channel has no such part.")
    return part


def _changes(visit: Visit, pipeline: Pipeline, subjects: Subjects) -> dict[str, Any]:
    """The columns of the form. Raises Invalid."""
    name, form = visit.id("part"), visit.form
    if name == "conditions":
        document = conditions.condition_of(visit, conditions.typed(visit.form), subjects)
        return read_as(PipelineUpdate, {"conditions": document}, visit).given
    if name == "reminders":
        return read_as(PipelineUpdate, {"reminders": _typed_reminders(form, pipeline)}, visit).given
    return read_as(PipelineUpdate, document_of(form, PARTS[name].inputs), visit).given


def _typed_reminders(form: Form, pipeline: Pipeline) -> list[dict[str, Any]]:
    """Those with a time, each with the texts that it has."""
    found: list[dict[str, Any]] = []
    for index in range(REMINDERS_MAX):
        times = {f"delay_{unit}": form.text(f"{unit}-{index}") or 0 for unit, _, _ in UNITS}
        if any(text not in {0, "0"} for text in times.values()):
            stored = pipeline.reminders[index] if index < len(pipeline.reminders) else {}
            found.append({**times, "messages": stored.get("messages", {})})
    return found


def _place(form: Form, pointer: str) -> str:
    head, *parts = pointer.removeprefix("/").split("/")
    if head == "reminders" and len(parts) > 1:
        return f"/{parts[1].removeprefix('delay_')}-{parts[0]}"
    return conditions.place_of(pointer, conditions.typed(form))


@routes.get(f"{ONE}/{{part}}", scope="Pipeline.Update")
async def _show(
    visit: Visit, refusal: errors.Refusal | None = None, *, tried: Mapping[str, Any] | None = None
) -> Response:
    words, name, form = visit.words, visit.id("part"), visit.form
    async with visit.read() as db:
        pipeline = await pipeline_of(visit, db)
        part = _part(visit, pipeline)
        await access.get(db, caller=visit.caller, questionnaire_id=pipeline.questionnaire_id)
        subjects: Subjects = {}
        if name in {"conditions", "delay"}:
            subjects = await subjects_for(visit, db, pipeline)
        if name == "conditions":
            subjects = await conditions.with_seen(visit, db, subjects)
        may_count = "Queue.Read" in visit.caller.scopes and name != "name"
        waiting, is_capped = await pipelines.count_waiting(visit, db, pipeline) if may_count else (0, False)
    is_typed, is_stale = bool(form.values), isinstance(refusal, errors.Stale)
    return visit.page(
        "pipeline_part.html",
        title=words(part.title),
        pipeline=pipeline,
        here=url_of(pipeline),
        name=name,
        version=form.text("version") if is_typed and not is_stale else pipeline.version,
        fields=shown(visit, part.inputs, pipeline, _dates(visit, pipeline, subjects)),
        theirs=_theirs(visit, pipeline, part, subjects) if is_stale else [],
        waiting=words.plural(*STAYING.get(name, FOLLOWING), waiting, is_capped=is_capped) if waiting else "",
        conditions=_conditions(visit, pipeline, subjects) if name == "conditions" else None,
        reminders=_reminders(pipeline, form) if name == "reminders" else [],
        refusal=refusal,
        may_try=_may_try(visit),
        tried=tried,
    )


def _conditions(visit: Visit, pipeline: Pipeline, subjects: Subjects) -> dict[str, Any]:
    known = condition_rows.with_named(subjects, pipeline.conditions)
    values = conditions.typed(visit.form) if visit.form.values else conditions.stored(pipeline.conditions, known)
    return conditions.values_of(visit.words, values, known)


def _reminders(pipeline: Pipeline, form: Form) -> list[dict[str, str]]:
    stored = [*pipeline.reminders, *[{}] * (REMINDERS_MAX - len(pipeline.reminders))]
    return [
        {
            unit: form.text(f"{unit}-{index}") if form.values else str(one.get(f"delay_{unit}", "") or "")
            for unit, _, _ in UNITS
        }
        for index, one in enumerate(stored)
    ]


def _theirs(visit: Visit, pipeline: Pipeline, part: Part, subjects: Subjects) -> list[tuple[str, str]]:
    """The label and the stored value of each field that the form has otherwise."""
    words, name = visit.words, visit.id("part")
    if name == "conditions":
        known = condition_rows.with_named(subjects, pipeline.conditions)
        return [(words(part.title), condition_rows.sentence_of(words, pipeline.conditions, known))]
    if name == "reminders":
        return [(words(part.title), pipelines.sentences_of(words, pipeline, time_zone=visit.zone)[name])]
    return differences(visit, part.inputs, pipeline, _dates(visit, pipeline, subjects))


def _dates(visit: Visit, pipeline: Pipeline, subjects: Subjects) -> Options:
    """The dates that a delay can count from: those that are declared, and the stored one."""
    dates = {key: one.text for key, one in subjects.items() if one.kind == "date"}
    if pipeline.delay_from is not None:
        dates.setdefault(pipeline.delay_from, date_title(pipeline.delay_from, subjects))
    return {"delay_from": [("", visit.words("the moment at which it arrives")), *dates.items()]}


OUTBOX: Final = "/console/sending/outbox"


class MessageKey(msgspec.Struct, frozen=True):
    """A message of the pipeline: 0 is the invitation, then its reminders; `locale` empty: the texts of all others."""

    number: int
    locale: str

    def url(self, path: str, **changed: object) -> str:
        values = {"reminder": self.number or "", "locale": self.locale, **changed}
        return address(path, **values)


@routes.post(f"{ONE}/messages", scope="Pipeline.Update", again=(errors.Stale,))
async def save(visit: Visit) -> Response:
    form = visit.form
    pipeline, _, chosen = await visit.reading(_found)
    texts = {name: form.text(name) for name in placeholders.MESSAGE_TEXTS if form.text(name)}
    try:
        changes = read_as(PipelineUpdate, _document(pipeline, chosen, texts), visit).given
        saved = await change(visit, changes)
    except errors.Invalid as invalid:
        return await _show_message(visit, placed(invalid, _field_of))
    saved.headers["Location"] = chosen.url(f"{url_of(pipeline)}/messages", done="saved")
    return saved


@routes.get(f"{ONE}/mail", scope="Pipeline.Read")
async def mail(visit: Visit, db: Database) -> Response:
    pipeline, _, chosen = await _found(visit, db)
    message = await _preview(visit, db, pipeline, chosen)
    return mail_page(message.html, pages=visit.public_pages)


@routes.post(f"{ONE}/test", scope="Pipeline.Update")
async def send_test(visit: Visit) -> Response:
    try:
        sent = await tested(visit, visit.form.text("recipient"), visit.form.text("test_locale"), **visit.ids)
    except UNSENT as refusal:
        return await _show_message(visit, placed(refusal, lambda _: "/recipient"))
    return await _show_message(visit, sent=sent)


async def tested(visit: Visit, recipient: str, locale: str, **path: str) -> dict[str, Any]:
    """Send a test message; its outcome, and the pages of its answer and of its text where it was kept. Raises UNSENT.

    `locale`: empty for the one of the pipeline, or of the person.
    """
    request = QueueItemRequest(responder_channel_identifier=recipient, locale=locale or None)
    test, result = await test_messages.send(
        visit.pool, test_messages.ask, request=request, draw=random.random, **path, **visit.acting
    )
    is_kept = result.reply == CAPTURED
    return {
        "outcome": result.outcome,
        "reply": result.reply,
        "is_kept": is_kept,
        "is_mail": test.channel_id == CHANNEL_EMAIL,
        "message_url": f"{OUTBOX}/{test.trial_id}" if is_kept and visit.may_open(OUTBOX) else "",
        "answer_url": visit.public_pages.collection_url(test.trial_id) if result.subject is not None else "",
    }


def _field_of(pointer: str) -> str:
    """The field of the form with this member: `/messages/el/button` and `/message_button` are its `button`."""
    last = pointer.rpartition("/")[2].removeprefix("message_")
    return f"/{last}" if last in placeholders.MESSAGE_TEXTS else "/body"


async def _preview(visit: Visit, db: Database, pipeline: Pipeline, chosen: MessageKey) -> Message:
    return await test_messages.preview(
        db,
        questionnaire_id=pipeline.questionnaire_id,
        pipeline_id=pipeline.pipeline_id,
        locale=chosen.locale or None,
        reminder_number=chosen.number or None,
        item_id=None,
        **visit.acting,
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
async def _show_message(
    visit: Visit, refusal: errors.Refusal | None = None, *, sent: Mapping[str, Any] | None = None
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
            message, fault = None, words.said(wrong.detail)
    here, own, is_typed = url_of(pipeline), _own(pipeline, chosen), "body" in form.values
    is_stale = isinstance(refusal, errors.Stale) and is_typed
    length = segments.measure(message.text) if message and pipeline.channel_id == CHANNEL_SMS else None
    return visit.page(
        "pipeline_messages.html",
        title=words("Messages of “{title}”", title=pipeline.title),
        pipeline=pipeline,
        here=here,
        action=chosen.url(f"{here}/messages"),
        chosen=chosen,
        version=form.text("version") if is_typed and not is_stale else pipeline.version,
        is_mail=pipeline.channel_id == CHANNEL_EMAIL,
        is_sms=pipeline.channel_id == CHANNEL_SMS,
        is_webhook=pipeline.channel_id == CHANNEL_WEBHOOK,
        numbers=[
            Tab(
                url=chosen.url(f"{here}/messages", reminder=number or ""),
                text=words("Invitation") if number == 0 else words("Reminder {number}", number=number),
                is_current=number == chosen.number,
            )
            for number in range(len(pipeline.reminders) + 1)
        ],
        languages=[
            Tab(
                url=chosen.url(f"{here}/messages", locale=locale),
                text=_language(visit, locale, pipeline, chosen),
                is_current=locale == chosen.locale,
            )
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
        sent=sent,
        refusal=refusal,
    )


def _language(visit: Visit, locale: str, pipeline: Pipeline, chosen: MessageKey) -> str:
    """The name of a language, marked where it has no texts of its own."""
    if not locale:
        return visit.words("All other languages")
    name = visit.words.language_name(locale)
    own = _own(pipeline, MessageKey(chosen.number, locale))
    return name if own else visit.words("{language} (no text of its own)", language=name)
