"""The outbox: messages that were kept in place of being sent, as their recipients would see them."""

from dataclasses import replace
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.screens import Screens, Visit
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX
from afterword.core.wire.lists import Criterion, Page
from afterword.kit.db import Database
from afterword.kit.texts import Texts
from afterword.kit.ui.lists import Listing, address, behind, key_of
from afterword.kit.ui.text import address_text
from afterword.kit.web import html
from afterword.kit.web.mails import mail_page
from afterword.sending.pipelines import store as pipelines_store
from afterword.sending.queue import clock, outbox
from afterword.sending.queue import service as queue
from afterword.sending.queue.outbox import OUTBOX_MESSAGES, OutboxMessageRecord
from afterword.sending.queue.records import QueueItemRequest
from afterword.sending.queue.service import NewItem
from afterword.sending.screens import pipelines
from afterword.sending.screens.queue_items import CHANNELS, SENDING

OUTBOX: Final = f"{SENDING}/outbox"
ONE: Final = f"{OUTBOX}/{{message_id}}"
CLOCK: Final = f"{OUTBOX}/clock"
ROWS: Final = 50
DAY_HOURS: Final = 24
PIPELINES_MAX: Final = 200
RECIPIENT: Final = "ann@example.com"

HOURS: Final = (1, 24, 48, 168, 720)  # that the clock of tests can be moved by

routes = Screens()


@routes.post(OUTBOX, scope="Queue.Create")
async def try_message(visit: Visit) -> Response:
    """Schedule a test item: its message can end here alone."""
    form = visit.form
    questionnaire_id, _, pipeline_id = form.text("pipeline").partition("/")
    try:
        request = QueueItemRequest(responder_channel_identifier=form.text("recipient"), test=True)
        new = NewItem(caller=visit.caller, questionnaire_id=questionnaire_id, pipeline_id=pipeline_id, request=request)
        async with visit.write() as db:
            item = await queue.schedule(db, new=new, secret=visit.site.secret)
    except (errors.Invalid, errors.Conflict) as refusal:
        wrong = [errors.FieldError(one.code, one.message, pointer="/recipient") for one in refusal.errors]
        return await _show(visit, type(refusal)(refusal.detail, errors=wrong))
    return html.redirect(f"{SENDING}/{item.item_id}?done=test_made")


@routes.post(CLOCK, scope="Queue.Update")
async def move_clock(visit: Visit) -> Response:
    hours = visit.form.text("hours")
    try:
        async with visit.write() as db:
            if visit.form.text("act") == "back":
                await clock.reset(db, caller=visit.caller)
            else:
                wanted = int(hours) if hours in map(str, HOURS) else HOURS[0]
                await clock.move(db, caller=visit.caller, hours=wanted, now=visit.now)
    except (errors.Invalid, errors.Conflict) as refusal:
        return await _show(visit, refusal)
    return html.redirect(f"{OUTBOX}?done=saved")


@routes.get(ONE, scope="Queue.Read")
async def message_page(visit: Visit) -> Response:
    words = visit.words
    message = await visit.find(outbox.get)
    content = outbox.content_of(message)
    return visit.page(
        "outbox_message.html",
        title=message.subject or words("Message to {recipient}", recipient=message.responder_channel_identifier),
        message=message,
        when=words.moment(message.created_time, time_zone=visit.zone),
        channel=words(CHANNELS[message.channel_id]),
        content=content,
        frame_url=f"{OUTBOX}/{message.message_id}/mail" if content.html else "",
        answer_url=visit.public_pages.collection_url(message.instance_id) if message.instance_id else "",
        item_url=f"{SENDING}/{message.item_id}" if message.item_id else "",
    )


@routes.get(f"{ONE}/mail", scope="Queue.Read")
async def mail(visit: Visit) -> Response:
    message = await visit.find(outbox.get)
    return mail_page(outbox.content_of(message).html, pages=visit.public_pages)


@routes.get(OUTBOX, scope="Queue.Read")
async def _show(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, form = visit.words, visit.form
    asked = visit.query.get("q", "").strip()[:IDENTIFIER_CHARACTERS_MAX]
    chosen = visit.query.get("pipeline", "")[:22]
    async with visit.read() as db:
        found = await outbox.list_captured(
            db, **visit.caller.reach, page=_page(visit, responder_channel_identifier=asked, pipeline_id=chosen)
        )
        pipelines_there = await _pipelines(visit, db)
        ahead = await clock.get(db, caller=visit.caller, now=visit.now)
    last = found.items[-1] if found.has_more else None
    here = address(OUTBOX, q=asked, pipeline=chosen)
    return visit.page(
        "outbox.html",
        title=words("Outbox"),
        status=refusal.status if refusal else 200,
        list=Listing(
            rows=[_row(visit, one) for one in found.items],
            empty=words("Nothing here. Messages of tests are kept here and reach nobody."),
            note=words.plural("A message is kept for {n} day.", "A message is kept for {n} days.", outbox.KEPT_DAYS),
            next_url=address(OUTBOX, q=asked, pipeline=chosen, after=key_of(last.created_time, last.message_id))
            if last
            else "",
            first_url=here if "after" in visit.query else "",
        ),
        asked=asked,
        chosen=chosen,
        pipelines=pipelines_there,
        value={"pipeline": form.text("pipeline"), "recipient": form.text("recipient") or RECIPIENT},
        may_try="Queue.Create" in visit.caller.scopes,
        clock=words.moment(ahead, time_zone=visit.zone),
        is_ahead=ahead > visit.now,
        may_move="Queue.Update" in visit.caller.scopes and not visit.caller.application_ids,
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
    page = replace(Page.first(OUTBOX_MESSAGES, limit=ROWS), criteria=tuple(criteria))
    return behind(page, visit.query.get("after", ""))


def _row(visit: Visit, one: OutboxMessageRecord) -> dict[str, Any]:
    words = visit.words
    return {
        "url": f"{OUTBOX}/{one.message_id}",
        "recipient": address_text(words, one.responder_channel_identifier),
        "subject": one.subject or "",
        "channel": words(CHANNELS[one.channel_id]),
        "pipeline": one.pipeline_title or words("a test message"),
        "test": one.test,
        "when": words.moment(one.created_time, time_zone=visit.zone),
    }


async def _pipelines(visit: Visit, db: Database) -> list[dict[str, str]]:
    found = await pipelines_store.list_pipelines(
        db, **visit.caller.part, page=Page.first(pipelines.LISTED, limit=PIPELINES_MAX)
    )
    names = dict(await pipelines.questionnaires_of(visit, db))
    return [
        {
            "id": one.pipeline_id,
            "key": f"{one.questionnaire_id}/{one.pipeline_id}",
            "text": f"{one.title} · {names.get(one.questionnaire_id, '')}",
        }
        for one in found.items
    ]
