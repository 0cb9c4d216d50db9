"""Chats: a new one by its kind, and the page of one with its test."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.cases import chats
from afterword.cases.chats import CHAT, Chat
from afterword.console.inputs import Options, document_of, filled, read_as
from afterword.console.nouns import inputs_of, screens_of
from afterword.console.screens import LANGUAGES, Database, Visit
from afterword.core.messaging.chats import KINDS
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import own_name
from afterword.kit.web import html

CHATS: Final = "/console/settings/chats"
NEW: Final = f"{CHATS}/new"
ONE: Final = f"{CHATS}/{{chat_id}}"
INPUTS: Final = inputs_of(CHAT)


async def _options(_visit: Visit, _row: Chat | None) -> Options:
    return {"locale": [(one, own_name(one)) for one in LANGUAGES]}


routes = screens_of(CHAT, without=("new",), options=_options)


@routes.post(NEW, scope="Webhook.Create", proof=True, again=(errors.Invalid,))
async def make_chat(visit: Visit, db: Database) -> Response:
    request = read_as(structs.creation_of(CHAT), document_of(visit.form, INPUTS), visit)
    made = await nouns.create(CHAT, db, columns=request.named(), **visit.acting)
    return html.redirect(f"{CHATS}/{made.record.chat_id}?done=saved")


@routes.get(NEW, scope="Webhook.Create", proof=True)
async def _new(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    visit.caller.require_all()
    creation: Any = structs.creation_of(CHAT)
    blank = creation(title="", kind="slack", locale=visit.words.language)
    values: dict[str, Any] = filled(
        visit, INPUTS, blank, version="", refusal=refusal, options=await _options(visit, None)
    )
    return visit.page(
        "chat_new.html",
        title=visit.words("New chat"),
        action=NEW,
        back=CHATS,
        kinds=[(one.name, visit.words(one.label), visit.words(one.steps)) for one in KINDS.values()],
        kind=visit.form.text("kind") or "slack",
        **values,
    )


@routes.get(ONE, scope="Webhook.Read")
async def chat_page(visit: Visit) -> Response:
    words, chat = visit.words, await visit.row(CHAT)
    sent = words.moment(chat.sent_time, time_zone=visit.zone) if chat.sent_time else words("never")
    return visit.page(
        "chat.html",
        title=chat.title,
        chat=chat,
        here=f"{CHATS}/{chat.chat_id}",
        facts=[
            (words("Kind"), words(KINDS[chat.kind].label)),
            (words("Address"), chat.host),
            (words("Last card"), sent),
        ],
    )


@routes.post(f"{ONE}/test", scope="Webhook.Update", proof=True)
async def test_chat(visit: Visit) -> Response:
    chat = await chats.send_test(visit.pool, caller=visit.caller, chat_id=visit.id("chat_id"), site=visit.site)
    return html.redirect(f"{CHATS}/{chat.chat_id}{'' if chat.problem else '?done=card_taken'}")
