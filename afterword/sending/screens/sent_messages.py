"""The message of an item: none is kept once it left, so it is composed anew, and the page says from what."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.console.answers import note_person
from afterword.console.screens import Screens, Visit
from afterword.kit.db import Database
from afterword.kit.transport.base import Message
from afterword.kit.ui.text import address_text
from afterword.kit.web.mails import mail_page
from afterword.sending.intake import test_messages
from afterword.sending.pipelines import store as pipelines_store
from afterword.sending.queue import service as queue
from afterword.sending.queue import traces
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.screens.queue_items import SENDING

ONE: Final = f"{SENDING}/{{item_id}}/message"

routes = Screens()


@routes.get(ONE, scope="Queue.Read")
async def message_page(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        item = await _item(visit, db)
        is_unchanged = await _is_unchanged(db, item)
        try:
            message, fault = await _composed(visit, db, item), ""
        except (errors.Conflict, errors.Invalid) as wrong:  # such as a reminder that the pipeline has no longer
            message, fault = None, next((one.message for one in wrong.errors), wrong.detail)
    note_person(visit, item.responder_id)
    here = f"{SENDING}/{item.item_id}"
    return visit.page(
        "sending_message.html",
        title=words("The message"),
        back=(words("Message to {recipient}", recipient=address_text(words, item.responder_channel_identifier)), here),
        sentence=_sentence(visit, item, is_unchanged=is_unchanged),
        message=message,
        fault=fault,
        frame_url=f"{here}/message/mail" if message and message.html else "",
    )


@routes.get(f"{ONE}/mail", scope="Queue.Read")
async def mail(visit: Visit) -> Response:
    async with visit.read() as db:
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
        return words("It has not left. This is how it would read now.")
    when = words.moment(item.dispatched_time, time_zone=visit.zone)
    if is_unchanged:
        return words(
            "It left {moment}. It is not kept: this is composed anew, of a pipeline and a questionnaire that have not "
            "changed since, with the looks and the person's values of today.",
            moment=when,
        )
    return words(
        "It left {moment}. It is not kept, and the pipeline or the questionnaire changed since: this is how it would "
        "read today, not what was sent.",
        moment=when,
    )
