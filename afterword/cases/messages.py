"""Replies to the customer of a case: sent once, and the answers that come back."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

import msgspec

from afterword import errors, ids
from afterword.asking.instances.triggers import Response as ResponseRecord, facts_of
from afterword.cases.alert_instances import service as alert_instances
from afterword.cases.alert_instances.store import Case
from afterword.cases.assignments import assigner_for
from afterword.cases.rules import ALERT, list_user_ids
from afterword.core.messaging import reply_text
from afterword.core.messaging.addresses import is_among
from afterword.core.organizations.access import Caller, installation
from afterword.core.scheduling import retries
from afterword.core.scheduling.statuses import SUPPRESSED
from afterword.core.text import locales
from afterword.core.wire.site import Site
from afterword.errors import Sentence
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, columns_of, qualified
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.texts import texts
from afterword.kit.transport.base import EMAIL, Message as Mail
from afterword.kit.transport.mime import HEADER_CHARACTERS_MAX, message_id, one_line
from afterword.kit.web import fields, html
from afterword.sending.channels.bounces import Answer
from afterword.sending.messages.composing import SenderNotAllowed
from afterword.sending.messages.invitation import style_of
from afterword.sending.queue.lanes import LaneSettings


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A mail between an agent and the customer of a case."""

    organization_id: Annotated[str, Hidden()]
    message_id: fields.Id
    alert_instance_id: fields.Id
    incoming: bool
    user_id: fields.Id | None = None
    pipeline_id: Annotated[str | None, Hidden()] = None
    address: str
    subject: str
    body: str
    locale: Annotated[str, Hidden()]
    key: Annotated[str | None, Hidden()]
    state: str  # waiting, claimed, sending, sent, failed, unknown (it may have arrived), or received
    attempts: Annotated[int, Hidden()] = 0
    epoch: Annotated[int, Hidden()] = 0
    error: str | None = None
    created_time: datetime
    finished_time: datetime | None = None
    whole: str | None = None  # all of a received mail, where `body` is not all
    other_sender: bool = False  # not an address of the customer


RESOURCE: Final = shown_as("AlertMessage", Message)


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """The way to the customer of a case: the address, and the pipeline whose account and sender are used.

    `suppressions`: the reasons of those in force. The others are what a saved text may name of person and order.
    """

    address: str | None
    pipeline_id: str | None
    locale: str
    suppressions: Sequence[str]
    responder_metadata: Mapping[str, str]
    instance_metadata: Mapping[str, str]
    external_reference: str | None


_COLUMNS: Final = columns_of(Message)
MESSAGE_COLUMNS_M: Final = qualified(_COLUMNS, "m")


async def _get_route(db: Database, *, organization_id: str, alert_instance_id: str, now: datetime) -> Route:
    """By the pipeline that asked the customer; else the newest e-mail pipeline of the questionnaire."""
    return await db.records(Route).fetch_one(
        """select a.identifier as address, coalesce(n.locale, r.locale, o.default_locale) as locale,
             array(select s.reason from suppression s
                   where s.organization_id = c.organization_id and s.channel_id = 1 and s.address_key = a.address_key
                     and (s.expires_time is null or s.expires_time > $3)) as suppressions,
             coalesce(r.metadata, '{}') as responder_metadata, coalesce(n.metadata, '{}') as instance_metadata,
             (select i.external_reference from queue_item i
              where i.organization_id = n.organization_id and i.item_id = n.item_id
                and i.deleted_time is null) as external_reference,
             (select p.pipeline_id from pipeline p
              where p.organization_id = c.organization_id and p.questionnaire_id = c.questionnaire_id
                and p.channel_id = 1 and p.deleted_time is null
              order by exists (
                select from queue_item i
                where i.organization_id = c.organization_id and i.questionnaire_instance_id = c.instance_id
                  and i.pipeline_id = p.pipeline_id) desc, p.created_time desc limit 1) as pipeline_id
           from alert_instance c
             join organization o on o.organization_id = c.organization_id
             left join responder r on r.organization_id = c.organization_id and r.responder_id = c.responder_id
             left join questionnaire_instance n on n.organization_id = c.organization_id
               and n.instance_id = c.instance_id and n.deleted_time is null
             left join lateral (
               select identifier, address_key from responder_address
               where organization_id = c.organization_id and responder_id = c.responder_id and channel_id = 1
               order by created_time desc limit 1) a on true
           where c.organization_id = $1 and c.alert_instance_id = $2""",
        *(organization_id, alert_instance_id, now),
    )


async def get_message(
    db: Database, *, organization_id: str, alert_instance_id: str, message_id: str | None = None, key: str | None = None
) -> Message | None:
    """By its id or its key."""
    return await db.records(Message).fetch_row(
        f"""select {_COLUMNS} from alert_message
           where organization_id = $1 and alert_instance_id = $2 and (message_id = $3 or key = $4)""",
        *(organization_id, alert_instance_id, message_id, key),
    )


async def _get_named(db: Database, *, message_id: str) -> Message | None:  # any tenant: an answer names none
    return await db.records(Message).fetch_row(
        f"select {_COLUMNS} from alert_message where message_id = $1 and not incoming", message_id
    )


async def _list_exchanged(
    db: Database, *, organization_id: str, alert_instance_id: str, limit: int
) -> list[tuple[str | None, str, str]]:
    """The newest mails of the case as (`incoming` or `sent`, address, body), and (None, address, "") of theirs."""
    return await db.fetch_tuples(
        """(select case when incoming then 'incoming' else 'sent' end as kind, address, body from alert_message
            where organization_id = $1 and alert_instance_id = $2 order by created_time desc limit $3)
           union all
           select null, a.identifier, '' from alert_instance c
             join responder_address a on a.organization_id = c.organization_id and a.responder_id = c.responder_id
           where c.organization_id = $1 and c.alert_instance_id = $2 and a.channel_id = 1""",
        *(organization_id, alert_instance_id, limit),
    )


class Feedback(msgspec.Struct, frozen=True, kw_only=True):
    """The customer's score and comment, which the mails of the case quote."""

    score: int | None
    score_max: int | None
    comment: str | None

    def lines(self, locale: str) -> list[str]:
        """A head, with the score if there is one, and the comment; none without both."""
        if self.score is None and self.comment is None:
            return []
        head = texts("mail", locale)("Your feedback")
        score = "" if self.score is None else f": {self.score} / {self.score_max}"
        return [f"{head}{score}", *(self.comment or "").splitlines()]


async def get_feedback(db: Database, *, organization_id: str, alert_instance_id: str) -> Feedback:
    return await db.records(Feedback).fetch_one(
        """select f.score, f.score_max, f.comment from alert_instance c
             left join response f on f.organization_id = c.organization_id and f.instance_id = c.instance_id
           where c.organization_id = $1 and c.alert_instance_id = $2""",
        *(organization_id, alert_instance_id),
    )


async def list_answered(
    db: Database, *, organization_id: str, alert_instance_id: str, limit: int
) -> list[tuple[str, str | None]]:
    """The newest mails up to the customer's last, oldest first, as (id, Message-ID of a received one)."""
    found = await db.fetch_tuples(
        """select message_id, case when incoming then key end as key from alert_message
           where organization_id = $1 and alert_instance_id = $2 and (incoming or state in ('sent', 'unknown'))
             and (created_time, message_id) <= (
               select created_time, message_id from alert_message
               where organization_id = $1 and alert_instance_id = $2 and incoming
               order by created_time desc, message_id desc limit 1)
           order by created_time desc, message_id desc limit $3""",
        *(organization_id, alert_instance_id, limit),
    )
    return found[::-1]


async def _insert_message(db: Database, *, message: Message) -> bool:  # any tenant: the message names its own
    """Insert it; False where the case has one of its key."""
    row = await db.fetch_row(
        f"""insert into alert_message ({_COLUMNS}, due_time)
           select {_COLUMNS}, created_time from jsonb_populate_record(null::alert_message, $1::jsonb)
           on conflict (organization_id, alert_instance_id, key) do nothing returning message_id""",
        message,
    )
    return row is not None


async def _update_answered(db: Database, *, organization_id: str, now: datetime) -> None:
    """Count an answer that came, by whichever way, for the mailbox."""
    await db.execute(
        "update alert_mailbox set answer_count = answer_count + 1, answer_time = $2 where organization_id = $1",
        *(organization_id, now),
    )


async def claim_due(db: Database, *, now: datetime, limit: int) -> list[Message]:
    """Claim due mails for `LEASE_SECONDS`, the longest due first, after those of lost workers were released.

    An attempt counts when it begins.
    """
    await _reap_messages(db, now=now, limit=limit)
    return await db.records(Message).fetch(
        f"""with due as materialized (
             select organization_id, message_id from alert_message
             where state = 'waiting' and due_time <= $1 order by due_time limit $3 for update skip locked)
           update alert_message m
           set state = 'claimed', epoch = m.epoch + 1, attempts = m.attempts + 1, lease_until = $2
           from due where m.organization_id = due.organization_id and m.message_id = due.message_id
           returning {MESSAGE_COLUMNS_M}""",
        *(now, now + timedelta(seconds=LEASE_SECONDS), limit),
    )


async def _settle_message(  # any tenant: the message names its own
    db: Database,
    *,
    message: Message,
    state: str,
    due_time: datetime | None = None,
    error: str | None = None,
    now: datetime,
) -> int:
    """Record a step of a claimed mail, unless its lease was lost; return 1 if it was recorded."""
    return await db.execute(
        """update alert_message
           set state = $4, due_time = coalesce($5, due_time), error = $6,
             lease_until = case when $4 = 'sending' then lease_until end,
             finished_time = case when $4 in ('sent', 'failed', 'unknown') then $7::timestamptz end
           where organization_id = $1 and message_id = $2 and epoch = $3 and state in ('claimed', 'sending')""",
        *(message.organization_id, message.message_id, message.epoch, state, due_time, error, now),
    )


async def _reap_messages(db: Database, *, now: datetime, limit: int) -> int:
    """Release mails of lost workers; one that was being sent may have arrived, and is not sent again."""
    return await db.execute(
        """update alert_message m
           set state = case m.state when 'claimed' then 'waiting' else 'unknown' end, lease_until = null,
             finished_time = case m.state when 'claimed' then null else $1::timestamptz end,
             error = 'The worker was lost.'
           where (m.organization_id, m.message_id) in (
             select organization_id, message_id from alert_message
             where lease_until < $1 order by lease_until limit $2 for update skip locked)""",
        *(now, limit),
    )


async def delete_messages_of(  # any tenant: a batch of events serves many organizations
    db: Database, *, responders: Sequence[tuple[str, str]]
) -> None:
    """The mails of the cases of these responders, pairs with their organization."""
    await db.execute(
        """delete from alert_message m
           using alert_instance i, unnest($1::text[], $2::text[]) as b (organization_id, responder_id)
           where i.organization_id = b.organization_id and i.responder_id = b.responder_id
             and m.organization_id = i.organization_id and m.alert_instance_id = i.alert_instance_id""",
        *arrays(responders, 2),
    )


def compose(
    reply: Message,
    *,
    settings: LaneSettings,
    feedback: Feedback,
    mailbox: str | None,
    sender: str,
    answered: Sequence[tuple[str, str | None]],
    site: Site,
    now: datetime,
) -> Mail:
    """The mail by the pipeline's sender, as the organization's mails look. Answers to it go to the `mailbox`.

    `answered`: mails as `list_answered` gives them. Its own Message-ID carries a proof, by which an answer is known.
    Raises SenderNotAllowed.
    """
    pipeline = settings.pipeline
    if pipeline.sender_address is not None and not is_among(
        pipeline.sender_address, settings.fingerprint.sender_domains or ()
    ):
        raise SenderNotAllowed("sender_address: the organization may not send from this domain.")
    headers, sender = {"Content-Language": reply.locale}, pipeline.sender_address or sender
    if answered:
        chain = [key or message_id(reply_text.reply_proof(each, site.secret), sender) for each, key in answered]
        newest = " ".join(chain)[-HEADER_CHARACTERS_MAX:]
        headers |= {"In-Reply-To": chain[-1], "References": newest[newest.find("<") :]}
    subject, quote, direction = one_line(reply.subject), feedback.lines(reply.locale), locales.direction(reply.locale)
    style = style_of(settings.theme, site.pages(reply.organization_id).public_url)
    return Mail(
        item_id=reply_text.reply_proof(reply.message_id, site.secret),
        organization_id=reply.organization_id,
        channel_id=EMAIL,
        recipient=reply.address,
        sender=sender,
        sender_name=pipeline.sender_name or settings.organization_name,
        reply_to=mailbox or pipeline.reply_to,
        subject=subject,
        html=html.render(
            "email/reply.html",
            language=reply.locale,
            direction=direction,
            start="left" if direction == "ltr" else "right",
            subject=subject,
            brand=settings.organization_name,
            paragraphs=[part.split("\n") for part in reply.body.split("\n\n")],
            quote=quote,
            **style,
        ),
        text="\n\n".join(filter(None, (reply.body, "\n".join(f"> {line}" for line in quote)))),
        locale=reply.locale,
        composed_time=now,
        headers=headers,
        by_person=True,
    )


BODY_CHARACTERS_MAX: Final = 20_000
SUBJECT_CHARACTERS_MAX: Final = 300
EXCHANGED_MAX: Final = 20
WHOLE_CHARACTERS_MAX: Final = 60_000
ERROR_CHARACTERS_MAX: Final = 500
ATTEMPTS_MAX: Final = 8
SEND_SECONDS_MAX: Final = 60
LEASE_SECONDS: Final = 180
IN_PROGRESS: Final = 2  # the status of a closed case whose customer writes
BEHIND: Final = timedelta(microseconds=1)  # the history has the mail first, then what follows from it
UNSUBSCRIBED: Final = "unsubscribed"  # from questionnaires: an answer to a complaint is none

assert LEASE_SECONDS > 2 * SEND_SECONDS_MAX  # noqa: S101  a mail is settled long before its lease runs out

Outcome = Literal["sent", "failed", "retry", "unknown"]


async def route_of(db: Database, *, organization_id: str, alert_instance_id: str, now: datetime) -> Route:
    """The way to the customer. Raises Conflict without an address that may be written to, or without a sender."""
    route = await _get_route(db, organization_id=organization_id, alert_instance_id=alert_instance_id, now=now)
    if route.address is None:
        raise errors.Conflict("No e-mail address of this customer is known.", "no_address")
    if reasons := [each for each in route.suppressions if each != UNSUBSCRIBED]:
        said = Sentence("This address must not be written to: {reason}.", reason=Sentence(SUPPRESSED[reasons[0]]))
        raise errors.Conflict(said, "no_address")
    if route.pipeline_id is None:
        raise errors.Conflict("The questionnaire has no e-mail pipeline to send the mail.", "no_sender")
    return route


async def send(
    db: Database,
    *,
    caller: Caller,
    alert_instance_id: str,
    subject: str,
    body: str,
    changes: dict[str, Any],
    key: str | None,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> Message:
    """A repeat with the same key does nothing. Raises Forbidden for a test token, Invalid, and as `route_of`."""
    caller.require_real()
    case = await alert_instances.get(db, caller=caller, alert_instance_id=alert_instance_id, is_locked=True)
    place = {"organization_id": case.organization_id, "alert_instance_id": alert_instance_id}
    if key and (known := await get_message(db, **place, key=key)):
        return known
    route = await route_of(db, **place, now=now)
    message = Message(
        **place,
        message_id=ids.ordered(now),
        incoming=False,
        user_id=caller.user_id,
        pipeline_id=route.pipeline_id,
        address=route.address or "",
        subject=subject,
        body=body,
        locale=route.locale,
        key=key,
        state="waiting",
        created_time=now,
    )
    await _insert_message(db, message=message)
    if changes:
        await alert_instances.update(
            db, caller=caller, alert_instance_id=alert_instance_id, changes=changes, now=now + BEHIND, expect=expect
        )
    return message


async def receive(db: Database, *, answer: Answer, now: datetime, organization_id: str | None = None) -> bool:
    """Add the customer's answer to one of our mails, which goes on with the case; False where it is there already.

    `organization_id`: an answer to a mail of another one is not taken; None: of any.
    """
    asked = await _get_named(db, message_id=answer.message_id)
    if asked is None or organization_id not in {None, asked.organization_id}:
        return False
    caller = installation(asked.organization_id)
    case = await alert_instances.get(db, caller=caller, alert_instance_id=asked.alert_instance_id, is_locked=True)
    place = {"organization_id": asked.organization_id, "alert_instance_id": asked.alert_instance_id}
    exchanged = await _list_exchanged(db, **place, limit=EXCHANGED_MAX)
    sent, received = ([body for kind, _, body in exchanged if kind == each] for each in ("sent", "incoming"))
    quote = "\n".join((await get_feedback(db, **place)).lines(asked.locale))
    own = reply_text.own_words(answer.text, sent=[f"{asked.body}\n{quote}", *sent], received=received)
    files = [] if answer.text == "\n".join(answer.files) else answer.files
    body = "\n".join(one for one in (own[: BODY_CHARACTERS_MAX - sum(map(len, files)) - len(files)], *files) if one)
    whole = "\n".join([reply_text.readable(answer.text), *files])
    addresses = {asked.address.lower(), *(address.lower() for kind, address, _ in exchanged if kind != "incoming")}
    message = Message(
        **place,
        message_id=ids.ordered(now),
        incoming=True,
        address=answer.sender,
        subject=answer.subject[:SUBJECT_CHARACTERS_MAX],
        body=body,
        locale=asked.locale,
        key=answer.key,
        state="received",
        created_time=now,
        finished_time=now,
        whole=whole[:WHOLE_CHARACTERS_MAX] if whole != body else None,
        other_sender=not is_among(answer.sender, addresses),
    )
    if not await _insert_message(db, message=message):
        return False
    await _update_answered(db, organization_id=asked.organization_id, now=now)
    changes = {"waiting": False} | ({"status_id": IN_PROGRESS} if case.resolved_time else {})
    changes |= await _taken_over(db, case=case)
    after = await alert_instances.update(
        db, caller=caller, alert_instance_id=case.alert_instance_id, changes=changes, now=now + BEHIND
    )
    await events.record(db, events=[alert_instances.event(after, "answered", now=now)])
    return True


async def _taken_over(db: Database, *, case: Case) -> dict[str, str | None]:
    """The owner by the rule of the case, where its own has left or may not see it any more; else no change."""
    if case.assigned_user_id is None or case.instance_id is None:
        return {}
    alert = await nouns.find(ALERT, db, organization_id=case.organization_id, key=case.alert_id)
    application_id = "" if alert is None else alert.application_id
    place = {"organization_id": case.organization_id, "application_id": application_id}
    if await list_user_ids(db, **place, among=[case.assigned_user_id], instance_id=case.instance_id):
        return {}
    if alert is None:
        return {"assigned_user_id": None}
    response = ResponseRecord(case.organization_id, case.instance_id, case.questionnaire_id or "", None, test=False)
    facts = (await facts_of(db, responses=[response])).get(response.key, {})
    return {"assigned_user_id": (await assigner_for(db, alerts=[alert])).owner_of(alert, facts)}


async def begin(db: Database, *, message: Message, now: datetime) -> bool:
    """Record that the mail leaves now; False where the lease was lost: then it must not."""
    return await _settle_message(db, message=message, state="sending", now=now) == 1


async def settle(
    db: Database, *, message: Message, outcome: Outcome, reason: str, now: datetime, jitter: float
) -> None:
    """Record the outcome; `retry` waits longer each time. A mail that may have arrived is not sent again."""
    state, due_time = outcome, None
    if outcome == "retry" and retries.is_used_up(message.attempts, attempts_max=ATTEMPTS_MAX):
        state = "failed"
    elif outcome == "retry":
        state, due_time = "waiting", now + retries.backoff(message.attempts, jitter=jitter)
    error = reason[:ERROR_CHARACTERS_MAX] or None
    await _settle_message(db, message=message, state=state, due_time=due_time, error=error, now=now)
