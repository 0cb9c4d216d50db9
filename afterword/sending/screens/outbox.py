"""The outbox: messages that were kept in place of being sent, as their recipients would see them."""

from typing import Any, Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.console.answers import note_person
from afterword.console.inputs import placed
from afterword.console.screens import Screens, Visit
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX
from afterword.core.wire import times
from afterword.core.wire.lists import Criterion, Page
from afterword.kit.db import Database
from afterword.kit.texts import Texts
from afterword.kit.transport.base import Message
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.ui.text import address_text
from afterword.kit.web import html
from afterword.kit.web.fields import MetadataGroups
from afterword.kit.web.mails import mail_page
from afterword.sending.intake import test_messages
from afterword.sending.pipelines import service as pipelines_service, store as pipelines_store
from afterword.sending.queue import clock, outbox, service as queue, traces
from afterword.sending.queue.outbox import OUTBOX_MESSAGES
from afterword.sending.queue.records import QueueItemRecord, QueueItemRequest
from afterword.sending.queue.service import NewItem
from afterword.sending.screens import pipelines
from afterword.sending.screens.queue_items import CHANNELS, SENDING

OUTBOX: Final = f"{SENDING}/outbox"
ONE: Final = f"{OUTBOX}/{{message_id}}"
CLOCK: Final = f"{OUTBOX}/clock"
DAY_HOURS: Final = 24
RECIPIENT: Final = "ann@example.com"

HOURS: Final = (1, 24, 48, 168, 720)  # that the clock of tests can be moved by

routes = Screens()


@routes.post(OUTBOX, scope="Queue.Create")
async def try_message(visit: Visit) -> Response:
    """Schedule a test item: its message can end here alone."""
    form = visit.form
    questionnaire_id, _, pipeline_id = form.text("pipeline").partition("/")
    try:
        async with visit.write() as db:
            key: dict[str, Any] = {"questionnaire_id": questionnaire_id, "pipeline_id": pipeline_id}
            pipeline = await pipelines_service.get(db, caller=visit.caller, **key)
            kind, _, name = (pipeline.delay_from or "").partition("_metadata:")
            today = visit.now.astimezone(times.zone_of(visit.zone)).date().isoformat()
            request = QueueItemRequest(
                responder_channel_identifier=form.text("recipient"),
                test=True,
                metadata=MetadataGroups(**{kind: dict[str, str | None]({name: today})}) if name else None,
            )
            new = NewItem(caller=visit.caller, **key, request=request)
            item = await queue.schedule(db, new=new, secret=visit.site.secret)
    except (errors.Invalid, errors.Conflict) as refusal:
        return await _show(visit, placed(refusal, lambda _: "/recipient"))
    return html.redirect(f"{SENDING}/{item.item_id}?done=test_made")


@routes.post(CLOCK, scope="Queue.Update", again=(errors.Invalid, errors.Conflict), at=OUTBOX)
async def move_clock(visit: Visit, db: Database) -> Response:
    hours = visit.form.text("hours")
    if visit.form.text("act") == "back":
        await clock.reset(db, caller=visit.caller)
    else:
        wanted = int(hours) if hours in map(str, HOURS) else HOURS[0]
        await clock.move(db, caller=visit.caller, hours=wanted, now=visit.now)
    return html.redirect(f"{OUTBOX}?done=saved")


@routes.get(ONE, scope="Queue.Read")
async def message_page(visit: Visit) -> Response:
    words = visit.words
    message = await visit.find(outbox.get)
    return visit.page(
        "outbox_message.html",
        title=message.subject or words("Message to {recipient}", recipient=message.responder_channel_identifier),
        message=message,
        channel=words(CHANNELS[message.channel_id]),
        content=outbox.content_of(message),
        frame_url=f"{OUTBOX}/{message.message_id}/mail",
        answer_url=visit.public_pages.collection_url(message.instance_id) if message.instance_id else "",
    )


@routes.get(f"{ONE}/mail", scope="Queue.Read")
async def mail(visit: Visit) -> Response:
    message = await visit.find(outbox.get)
    return mail_page(outbox.content_of(message).html, pages=visit.public_pages)


@routes.get(OUTBOX, scope="Queue.Read")
async def _show(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    asked = visit.query.get("q", "").strip()[:IDENTIFIER_CHARACTERS_MAX]
    chosen = visit.query.get("pipeline", "")[:22]
    async with visit.read() as db:
        found = await outbox.list_captured(
            db, **visit.caller.reach, page=_page(visit, responder_channel_identifier=asked, pipeline_id=chosen)
        )
        choices = await pipelines.choices_of(visit, db)
        ahead = await clock.get(db, caller=visit.caller, now=visit.now)
    return visit.page(
        "outbox.html",
        title=words("Outbox"),
        list=Listing(
            rows=[(one, address_text(words, one.responder_channel_identifier)) for one in found.items],
            empty=words("Nothing here yet. Test messages are kept here and reach no one."),
            note=words.plural("A message is kept for {n} day.", "A message is kept for {n} days.", outbox.KEPT_DAYS),
            **page_links(found, visit.query, OUTBOX, {"q": asked, "pipeline": chosen}),
        ),
        channels=CHANNELS,
        asked=asked,
        chosen=chosen,
        pipelines=[
            {"id": one.pipeline_id, "key": f"{one.questionnaire_id}/{one.pipeline_id}", "text": text}
            for one, text in choices
        ],
        example=RECIPIENT,
        clock=ahead,
        is_ahead=ahead > visit.now,
        spans=[(str(hours), _span(words, hours)) for hours in HOURS],
        refusal=refusal,
    )


def _span(words: Texts, hours: int) -> str:
    if hours < DAY_HOURS:
        return words.plural("{n} hour", "{n} hours", hours)
    return words.plural("{n} day", "{n} days", hours // DAY_HOURS)


def _page(visit: Visit, **wanted: str) -> Page:
    """The page of the address, of messages with these values. An empty value filters nothing."""
    criteria = [Criterion("EQUAL", OUTBOX_MESSAGES.columns[name], value) for name, value in wanted.items() if value]
    return replace(page_of(OUTBOX_MESSAGES, visit.query), criteria=tuple(criteria))


SENT_ONE: Final = f"{SENDING}/{{item_id}}/message"


@routes.get(SENT_ONE, scope="Queue.Read", for_limited="part")
async def sent_page(visit: Visit, db: Database) -> Response:
    words = visit.words
    item = await _item(visit, db)
    is_unchanged = await _is_unchanged(db, item)
    try:
        message, fault = await _composed(visit, db, item), ""
    except (errors.Conflict, errors.Invalid) as wrong:  # such as a reminder that the pipeline has no longer
        message, fault = None, words.said(next((one.message for one in wrong.errors), wrong.detail))
    note_person(visit, item.responder_id)
    here = f"{SENDING}/{item.item_id}"
    return visit.page(
        "sending_message.html",
        title=words("The message"),
        back=(words("Message to {recipient}", recipient=address_text(words, item.responder_channel_identifier)), here),
        sentence=_sentence(visit, item, is_unchanged=is_unchanged),
        message=message,
        fault=fault,
        frame_url=f"{here}/message/mail",
    )


@routes.get(f"{SENT_ONE}/mail", scope="Queue.Read", for_limited="part")
async def sent_mail(visit: Visit, db: Database) -> Response:
    item = await _item(visit, db)
    message = await _composed(visit, db, item)
    note_person(visit, item.responder_id)
    return mail_page(message.html, pages=visit.public_pages)


async def _item(visit: Visit, db: Database) -> QueueItemRecord:
    return await queue.get(db, caller=visit.caller, item_id=visit.id("item_id"))


async def _composed(visit: Visit, db: Database, item: QueueItemRecord) -> Message:
    number = await traces.get_reminder_number(db, organization_id=item.organization_id, item_id=item.item_id)
    return await test_messages.preview(
        db,
        caller=visit.caller,
        questionnaire_id=item.questionnaire_id,
        pipeline_id=item.pipeline_id,
        locale=None,
        reminder_number=number,
        item_id=item.item_id,
        site=visit.site,
        now=item.dispatched_time or visit.now,
    )


async def _is_unchanged(db: Database, item: QueueItemRecord) -> bool:
    """Whether the pipeline and the questionnaire are as they were when the message left."""
    if item.dispatched_time is None:
        return False
    key = {"organization_id": item.organization_id, "questionnaire_id": item.questionnaire_id}
    pipeline = await pipelines_store.get_pipeline(db, **key, pipeline_id=item.pipeline_id, application_ids=())
    questionnaire = await questionnaires_store.get_questionnaire(db, **key)
    found = [one.updated_time for one in (pipeline, questionnaire) if one is not None]
    return pipeline is not None and max(found) <= item.dispatched_time


def _sentence(visit: Visit, item: QueueItemRecord, *, is_unchanged: bool) -> str:
    words = visit.words
    if item.dispatched_time is None:
        return words("Not sent yet. This is how it would read now.")
    when = visit.moment(item.dispatched_time)
    if is_unchanged:
        return words(
            "Sent {moment}. The original is not stored. This is composed again from a pipeline and a "
            "questionnaire that have not changed since, with today's look and today's values of the person.",
            moment=when,
        )
    return words(
        "Sent {moment}. The original is not stored, and the pipeline or the questionnaire has changed since: "
        "this is how it would read today, not what was sent.",
        moment=when,
    )
