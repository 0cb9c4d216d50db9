"""Chats: where cards about cases and reports go, and how they get there.

A card waits among the mails to users. One of a case is composed when it leaves: of what is known then, without the
person, and without what was erased meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.cases.notice_texts import Subject, notice
from afterword.core.messaging import addresses, chats as rules
from afterword.core.messaging.chats import Card
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import API_PREFIX, Site
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import Event, NewEvent
from afterword.kit import db as databases, sealing
from afterword.kit.db import Database, Pool, Row
from afterword.kit.db.columns import arrays
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import answer_of, routes_of
from afterword.kit.nouns.declaration import Change, Editable, Given, Hidden, Noun, Record, Screens
from afterword.kit.nouns.service import Made
from afterword.kit.nouns.structs import resource_of
from afterword.kit.texts import Texts, texts
from afterword.kit.transport import http
from afterword.kit.transport.base import WEBHOOK, Message, Outcome, Refused
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call
from afterword.sending.channels import calling
from afterword.sending.channels.calling import Terms
from afterword.tenants import mails
from afterword.tenants.mails import CLAIM_OF_CHATS
from afterword.tenants.organizations import checks

CHATS_MAX: Final = 50
FACTS_MAX: Final = 3  # of a response, such as its branch
SECONDS_MAX: Final = 15.0
LEASE_SECONDS: Final = 60
CARDS_MAX: Final = 1_000  # that wait for a chat; with more it gets no new ones
TOLD: Final = frozenset({"alert_instance.created", "alert_instance.overdue", "alert_instance.escalated"})
CASE_IDS: Final = ("alert_id", "alert_instance_id", "instance_id")
TERMS: Final = Terms(is_ours=False, may_repeat=True, seconds=SECONDS_MAX)

assert LEASE_SECONDS > 2 * SECONDS_MAX  # noqa: S101  a card is settled long before somebody else may take it

if TYPE_CHECKING:  # the checker takes no literals that are made
    KindName = str
else:
    KindName = Annotated[Literal[*rules.KINDS], Meta(examples=["webhook"])]
KIND_NAMES: Final = tuple((one.name, one.label) for one in rules.KINDS.values())
Locale = Literal["en", "de", "el", "es", "fr", "it"]


class Chat(Record, kw_only=True):
    """A chat that is told of cases and gets reports. Its address is a secret: stored sealed, and shown to nobody."""

    chat_id: fields.Id
    title: Annotated[fields.Text200, Editable("Title", "Such as the name of the channel.")]
    kind: Annotated[
        str,
        Editable("Kind", "", "choice", KIND_NAMES, once=True, wire=KindName, shown=str, holds="fixed"),
    ]
    address: Annotated[
        fields.Url | None,
        Given("Address", "The web address that the chat gives. It is stored sealed, and nobody sees it again."),
    ] = None
    host: str
    comments: Annotated[
        bool,
        Editable("With the comment and the order", "They stay in the chat when the person is erased here.", "switch"),
    ] = True
    locale: Annotated[str, Editable("Language", "", "choice", wire=Locale, shown=str, holds="fixed")] = "en"
    active: Annotated[bool, Editable("Cards are sent to it", "", "switch")] = True
    sent_time: datetime | None
    problem: str | None
    failing_since: Annotated[datetime | None, Hidden()]
    disabled_time: datetime | None


async def _check(change: Change[Chat]) -> None:
    """Raise Forbidden, and Invalid for an address that its kind cannot have."""
    change.caller.require_all()
    if change.after("comments") and change.columns.keys() & {"comments", "address"}:
        change.caller.require("Questionnaire Instance.Read")  # it must not deliver what its owner may not read
    change.caller.require("Alert Instance.Read")
    address = change.columns.pop("address", None)
    if change.before is None and address is None:
        raise errors.Invalid.at("/address", "required", "Enter the address that the chat gives.")
    if address is not None:
        if sentence := http.check_url(address, change.site.networks):
            raise errors.Invalid.at("/address", "invalid_address", sentence)
        kind, host = rules.KINDS[change.after("kind")], http.host_of(address) or ""
        if not kind.is_host(host.partition(":")[0]):
            message = errors.Sentence("An address of this kind is at {hosts}.", hosts=", ".join(kind.hosts))
            raise errors.Invalid.at("/address", "invalid_address", message)
        context = seal_context(change.caller.organization_id, change.key)
        change.columns["host"] = host
        change.columns["sealed_address"] = sealing.seal(address, secret=change.site.secret, context=context)
    if change.columns.get("active") is False:
        await _update_to_dropped(change.db, organization_id=change.caller.organization_id, chat_id=change.key)


def seal_context(organization_id: str, chat_id: str) -> str:
    return f"chat:{organization_id}:{chat_id}"


async def _delete_chat(change: Change[Chat], _options: Mapping[str, Any]) -> None:
    """Alerts tell it no more; what waits for it and its reports go with the row."""
    await change.db.execute(
        """update alert set chat_ids = array_remove(chat_ids, $2), version = version + 1
           where organization_id = $1 and $2 = any(chat_ids)""",
        *(change.caller.organization_id, change.key),
    )
    await nouns.delete_row(CHAT, change)


def _row(words: Texts, one: Chat) -> dict[str, str]:
    return {
        "state": "" if one.active else words("off"),
        "when": words("switched off after failures") if one.disabled_time else "",
        "more": " · ".join(filter(None, (one.host, one.problem or ""))),
    }


CHAT = Noun(
    record=Chat,
    table="chat",
    one="chat",
    many="chats",
    tag="Chats",
    path="/chat",
    scope="Webhook",
    about_create="A new chat. `address` is the incoming webhook that it gives, at a host of its `kind`.",
    about_update="Changes of a chat; `active` true switches one on again that failures switched off.",
    about={
        "create": f"At most {CHATS_MAX} an organization. Alerts name the chats that they tell in `chat_ids`.",
        "update": "Without `address`, or with null, the address stays as it is.",
        "delete": "Cards that wait for it are never sent. Its digests are removed, and alerts tell it no more.",
    },
    visible="cardinality($2::text[]) = 0 and not $3::boolean",
    most=CHATS_MAX,
    filled=("host", "sealed_address"),
    filled_later=("host", "sealed_address"),
    also_set="""disabled_time = case when s.active then null else t.disabled_time end,
  failing_since = case when s.active and not t.active then null else t.failing_since end,
  resume_time = case when s.active and not t.active then null else t.resume_time end""",
    check=_check,
    delete=_delete_chat,
    screens=Screens(
        path="/console/settings/chats",
        title="Chats",
        lead="A chat gets a card about each new case, to open it there. Choose the chats of an alert in its form.",
        new="New chat",
        empty="No chat yet.",
        row=_row,
        proof=True,
        has_page=True,
        removal="Remove the chat “{title}”?",
        removal_sentence="Alerts no longer tell it, and its reports are no longer sent.",
        removal_button="Remove the chat",
    ),
)
routes = routes_of(CHAT)


@routes.act(
    "/chat/{chat_id}/test",
    scope="Webhook.Update",
    answer=resource_of(CHAT),
    summary="Send a test card to a chat",
    description="At once. `problem` is null where the chat took it, else it says what failed.",
)
async def test_chat(call: Call[None], pool: Pool) -> Answer:
    chat = await send_test(pool, caller=call.caller, chat_id=call.ids["chat_id"], site=call.site)
    async with databases.connection(pool) as db:
        return await answer_of(CHAT, call, db, Made(chat), is_new=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage(mails.Claimed):
    """A card that is due, and its chat. `content`: of a report, or the type of an event with the ids of its case."""

    chat_id: str
    kind: str
    sealed_address: bytes = field(repr=False)
    comments: bool
    locale: str
    time_zone: str
    purpose: str
    content: Mapping[str, Any]


async def insert_cards(  # any tenant: a batch of events serves many organizations
    db: Database, *, read: Sequence[Event], now: datetime
) -> int:
    """Have a card about each new, overdue or escalated case sent to the chats of its alert; return their count.

    No card leaves a demonstration, and a chat with CARDS_MAX waiting gets no more.
    """
    told = [
        (one.organization_id, one.event_id, one.type, *(one.data[name] for name in CASE_IDS))
        for one in read
        if one.type in TOLD
    ]
    return await db.execute(
        """insert into notice_mail (organization_id, mail_id, chat_id, purpose, content, due_time, created_time)
           select e.organization_id, left(e.event_id, 9) || left(replace(gen_random_uuid()::text, '-', ''), 13),
             c.chat_id, 'card',
             jsonb_build_object('type', e.type, 'alert_instance_id', e.case_id, 'instance_id', e.instance_id),
             $7::timestamptz + e.position * interval '1 microsecond', $7
           from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
               with ordinality as e (organization_id, event_id, type, alert_id, case_id, instance_id, position)
             join alert a on a.organization_id = e.organization_id and a.alert_id = e.alert_id
             join chat c on c.organization_id = a.organization_id and c.chat_id = any(a.chat_ids) and c.active
           where not exists (select from demonstration d where d.organization_id = e.organization_id)
             and (select count(*) from notice_mail w
                  where w.organization_id = c.organization_id and w.chat_id = c.chat_id and w.state = 'waiting') < $8
           order by e.position""",
        *arrays(told, 6),
        *(now, CARDS_MAX),
    )


async def claim_calls(  # any tenant: workers serve all
    db: Database, *, now: datetime, limit: int
) -> list[ChatMessage]:
    """Claim the first due card of each chat: one at a time, in their order. Those of lost workers are released.

    A new case waits a moment for the score and the words of its response, which another reader of the log keeps.
    """
    await mails.reap_mails(db, now=now, limit=limit)
    return await db.records(ChatMessage).fetch(
        f"""{CLAIM_OF_CHATS}
           select t.organization_id, t.mail_id, t.epoch, t.attempts, t.chat_id, t.purpose, t.content, c.kind,
             c.sealed_address, c.comments, c.locale, o.time_zone
           from taken t
             join chat c on c.organization_id = t.organization_id and c.chat_id = t.chat_id
             join organization o on o.organization_id = t.organization_id""",
        *(now, now + timedelta(seconds=LEASE_SECONDS), limit, float(mails.GATHER_SECONDS)),
    )


async def compose(db: Database, *, message: ChatMessage, site: Site, now: datetime) -> Message | None:
    """The message to the chat; None where its case is gone. Raises sealing.Unreadable."""
    is_case = message.purpose == "card"
    card = await _card_of_case(db, message, site=site) if is_case else _card_of_digest(message.content, site=site)
    if card is None:
        return None
    context = seal_context(message.organization_id, message.chat_id)
    return _message(
        card,
        kind=message.kind,
        address=sealing.unseal(message.sealed_address, secret=site.secret, context=context),
        item_id=message.mail_id,
        organization_id=message.organization_id,
        now=now,
    )


def _message(card: Card, *, kind: str, address: str, item_id: str, organization_id: str, now: datetime) -> Message:
    return Message(
        item_id=item_id,
        organization_id=organization_id,
        channel_id=WEBHOOK,
        recipient="",
        sender="",
        locale="",
        composed_time=now,
        text=msgspec.json.encode(rules.KINDS[kind].build(rules.limited(card))).decode(),
        target_url=address,
    )


async def send(caller: http.Caller, _claimed: ChatMessage | None, message: Message, *, site: Site) -> Outcome:  # noqa: ARG001
    return await calling.call(
        caller,
        method="POST",
        url=message.target_url or "",
        headers={"Content-Type": "application/json"},
        content=message.text.encode(),
        terms=TERMS,
        judge=lambda answer: calling.outcome_of(answer, TERMS),
    )


async def settle(
    db: Database, *, message: ChatMessage, composed: bool, outcome: Outcome, now: datetime, jitter: float
) -> None:
    """Record the outcome. A chat that is gone, or has failed for days, is switched off, and administrators are told."""
    key = {"organization_id": message.organization_id, "owner_id": message.chat_id}
    is_gone = isinstance(outcome, Refused) and outcome.reply_code in rules.GONE
    told = {"call": message, "composed": composed, "outcome": outcome, "is_gone": is_gone}
    if not await mails.settle_call(db, "chat", "", **key, **told, now=now, jitter=jitter):
        return
    await _update_to_dropped(db, organization_id=message.organization_id, chat_id=message.chat_id)
    if chat := await nouns.find(CHAT, db, organization_id=message.organization_id, key=message.chat_id):
        data = nouns.columns_of(CHAT, chat)
        await events.record(db, events=[NewEvent.of(chat, "chat.disabled", chat.chat_id, data, now=now)])


async def _update_to_dropped(db: Database, *, organization_id: str, chat_id: str) -> None:
    """Cards that wait for a chat that is switched off are never sent: they would be old by then."""
    await db.execute(
        """update notice_mail set state = 'failed', finished_time = now(), content = null,
             error = 'The chat was switched off.'
           where organization_id = $1 and chat_id = $2 and state = 'waiting'""",
        *(organization_id, chat_id),
    )


async def send_test(pool: Pool, *, caller: Caller, chat_id: str, site: Site) -> Chat:
    """Send a card at once, and note how it went. Raises NotFound."""
    async with databases.connection(pool) as db:
        chat = await nouns.get(CHAT, db, caller=caller, key=chat_id)
        key, now = {"organization_id": chat.organization_id, "chat_id": chat_id}, db.clock.now()
        sealed = await _get_sealed_address(db, **key)
    words, web = texts("console", chat.locale), http.Caller(allowed=site.networks)
    links = [(words("Open Afterword"), f"{site.public_url}/console")]
    card = Card(title=words("Test message"), text=words("Cards of Afterword arrive here."), links=links)
    try:
        address = sealing.unseal(sealed, secret=site.secret, context=seal_context(**key))
        message = _message(
            card, kind=chat.kind, address=address, item_id=chat_id, organization_id=chat.organization_id, now=now
        )
        outcome = await send(web, None, message, site=site)
    except sealing.Unreadable:
        outcome = Refused("Its address cannot be read any more: enter it again.")
    finally:
        await web.close()
    async with databases.transaction(pool) as db:
        owner = {"organization_id": chat.organization_id, "owner_id": chat_id}
        await mails.settle_call(db, "chat", "", **owner, outcome=outcome, now=now)
        return await nouns.get(CHAT, db, caller=caller, key=chat_id)


async def _get_sealed_address(db: Database, *, organization_id: str, chat_id: str) -> bytes:
    found = await db.fetch_value(
        "select sealed_address from chat where organization_id = $1 and chat_id = $2", organization_id, chat_id
    )
    return errors.found(found, CHAT.nothing)


async def list_titles(db: Database, *, organization_id: str) -> list[tuple[str, str]]:
    """The ids and titles of all chats, for forms that choose one."""
    return await db.fetch_tuples(
        "select chat_id, title from chat where organization_id = $1 order by title, chat_id", organization_id
    )


async def check_ids(db: Database, *, organization_id: str, chat_ids: Sequence[str]) -> list[FieldError]:
    known = {chat_id for chat_id, _ in await list_titles(db, organization_id=organization_id)}
    return [
        FieldError("unknown_id", "There is no such chat.", pointer=f"/chat_ids/{place}")
        for place, one in enumerate(chat_ids)
        if one not in known
    ]


async def _get_told_case(db: Database, *, organization_id: str, alert_instance_id: str) -> Row | None:
    """The case with what its card says; of a response that is gone there is nothing."""
    return await db.fetch_row(
        """select c.severity, c.occurrences, c.resolved_time, c.due_time, c.assigned_user_id, c.alert_instance_id,
             a.title as alert_title, q.display_name as questionnaire_name, f.score, f.score_max, f.comment,
             f.external_reference, i.metadata,
             array(select identifier from responder_address d where d.organization_id = c.organization_id
               and d.responder_id = c.responder_id) as addresses
           from alert_instance c
             join alert a on a.organization_id = c.organization_id and a.alert_id = c.alert_id
             left join questionnaire q on q.organization_id = c.organization_id
               and q.questionnaire_id = c.questionnaire_id
             left join response f on f.organization_id = c.organization_id and f.instance_id = c.instance_id
             left join questionnaire_instance i on i.organization_id = c.organization_id
               and i.instance_id = c.instance_id and i.deleted_time is null
           where c.organization_id = $1 and c.alert_instance_id = $2""",
        *(organization_id, alert_instance_id),
    )


async def _card_of_case(db: Database, message: ChatMessage, *, site: Site) -> Card | None:
    case_id = message.content["alert_instance_id"]
    case = await _get_told_case(db, organization_id=message.organization_id, alert_instance_id=case_id)
    if case is None:
        return None
    words, kind = texts("console", message.locale), message.content["type"]
    data = {**case, "due_time": case["due_time"] and case["due_time"].isoformat()}
    subject = Subject(None, case["alert_title"], case["questionnaire_name"])
    title, text, _ = notice(kind, data=data, subject=subject, locale=message.locale, time_zone=message.time_zone)
    facts = [] if case["score"] is None else [(words("Score"), f"{case['score']} / {case['score_max']}")]
    if message.comments:
        facts.append((words("Order"), case["external_reference"] or ""))
        facts += await _facts(db, organization_id=message.organization_id, metadata=case["metadata"] or {})
    page = f"{site.public_url}/console/cases/{case_id}"
    return Card(
        title=title,
        text=text,
        facts=facts,
        quote=addresses.mask(case["comment"] or "", *case["addresses"]) if message.comments else "",
        links=[(words("Open the case"), page), (words("Assign to me"), f"{page}#assign")],
        severity=case["severity"],
        about={"type": kind, "alert_instance_id": case_id, "api": f"{API_PREFIX}/alert/instance/{case_id}"},
    )


async def _facts(db: Database, *, organization_id: str, metadata: Mapping[str, str]) -> list[tuple[str, str]]:
    """The first declared metadata of the response that are not personal, such as its branch."""
    declared = await checks.list_only_names(db, organization_id=organization_id)
    found = [(one.title or name, metadata[name]) for name, one in declared.items() if metadata.get(name)]
    return found[:FACTS_MAX]


def _card_of_digest(content: Mapping[str, Any], *, site: Site) -> Card:
    facts = [
        (section["title"] or content["title"], " ".join(section["sentences"] or [text for text, _ in section["links"]]))
        for section in ({"links": (), **one} for one in content["sections"])
    ]
    links = [(content["open"], f"{site.public_url}{content['url']}")] if content["url"] else []
    return Card(
        title=content["title"], text=content["period"], facts=facts, links=links, about={"type": "report.digest"}
    )
