"""Replies to the customer of a case: sent once, and the answers that come back."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from afterword import errors, ids
from afterword.cases.alert_instances import events as case_events
from afterword.cases.alert_instances import service as cases
from afterword.cases.messages import store
from afterword.cases.messages.store import Message, Route
from afterword.core.messaging import reply_text
from afterword.core.messaging.addresses import is_among
from afterword.core.organizations.access import Caller, installation
from afterword.core.scheduling import retries
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.sending.channels.answers import Answer

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


class NoAddress(errors.Conflict):
    """The customer has no e-mail address, or must not be written to."""

    code_default = "no_address"


class NoSender(errors.Conflict):
    """The questionnaire has no e-mail pipeline, whose account and sender address would send the mail."""

    code_default = "no_sender"


async def route_of(db: Database, *, organization_id: str, alert_instance_id: str, now: datetime) -> Route:
    """The way to the customer. Raises NoAddress, NoSender."""
    route = await store.get_route(db, organization_id=organization_id, alert_instance_id=alert_instance_id, now=now)
    if route.address is None:
        raise NoAddress("No e-mail address of this customer is known.")
    if reasons := [each for each in route.suppressions if each != UNSUBSCRIBED]:
        raise NoAddress(f"This address must not be written to ({reasons[0]}).")
    if route.pipeline_id is None:
        raise NoSender("The questionnaire has no e-mail pipeline to send the mail.")
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
    """A repeat with the same key does nothing. Raises Forbidden for a test token, NoAddress, NoSender, Invalid."""
    caller.require_real()
    case = await cases.get(db, caller=caller, alert_instance_id=alert_instance_id, is_locked=True)
    place = {"organization_id": case.organization_id, "alert_instance_id": alert_instance_id}
    if key and (known := await store.get_by_key(db, **place, key=key)):
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
    await store.insert_message(db, message=message)
    if changes:
        await cases.update(
            db, caller=caller, alert_instance_id=alert_instance_id, changes=changes, now=now + BEHIND, expect=expect
        )
    return message


async def receive(db: Database, *, answer: Answer, now: datetime) -> bool:
    """Add the customer's answer to one of our mails, which goes on with the case; False where it is there already."""
    asked = await store.get_named(db, message_id=answer.message_id)
    if asked is None:
        return False
    caller = installation(asked.organization_id)
    case = await cases.get(db, caller=caller, alert_instance_id=asked.alert_instance_id, is_locked=True)
    place = {"organization_id": asked.organization_id, "alert_instance_id": asked.alert_instance_id}
    exchanged = await store.list_exchanged(db, **place, limit=EXCHANGED_MAX)
    sent, received = ([body for kind, _, body in exchanged if kind == each] for each in ("sent", "incoming"))
    body = reply_text.own_words(answer.text, sent=[asked.body, *sent], received=received)
    files = [] if answer.text == "\n".join(answer.files) else answer.files
    whole = "\n".join([reply_text.readable(answer.text), *files])
    addresses = {asked.address.lower(), *(address.lower() for kind, address, _ in exchanged if kind != "incoming")}
    message = Message(
        **place,
        message_id=ids.ordered(now),
        incoming=True,
        address=answer.sender,
        subject=answer.subject[:SUBJECT_CHARACTERS_MAX],
        body=body[:BODY_CHARACTERS_MAX],
        locale=asked.locale,
        key=answer.key,
        state="received",
        created_time=now,
        finished_time=now,
        whole=whole[:WHOLE_CHARACTERS_MAX] if whole != body[:BODY_CHARACTERS_MAX] else None,
        other_sender=not is_among(answer.sender, addresses),
    )
    if not await store.insert_message(db, message=message):
        return False
    changes = {"waiting": False} | ({"status_id": IN_PROGRESS} if case.resolved_time else {})
    after = await cases.update(
        db, caller=caller, alert_instance_id=case.alert_instance_id, changes=changes, now=now + BEHIND
    )
    await events.record(db, events=[case_events.event(after, "answered", now=now)])
    return True


async def claim(db: Database, *, now: datetime, limit: int) -> list[Message]:
    """Claim due mails for `LEASE_SECONDS`, after those of lost workers were released."""
    await store.reap_messages(db, now=now, limit=limit)
    return await store.claim_messages(db, now=now, lease_until=now + timedelta(seconds=LEASE_SECONDS), limit=limit)


async def begin(db: Database, *, message: Message, now: datetime) -> bool:
    """Record that the mail leaves now; False where the lease was lost: then it must not."""
    return await store.settle_message(db, message=message, state="sending", now=now) == 1


async def settle(
    db: Database, *, message: Message, outcome: Outcome, reason: str, now: datetime, jitter: float
) -> None:
    """Record the outcome; `retry` waits longer each time. A mail that may have arrived is not sent again."""
    error = reason[:ERROR_CHARACTERS_MAX] or None
    if outcome != "retry":
        await store.settle_message(db, message=message, state=outcome, error=error, now=now)
    elif retries.is_used_up(message.attempts, attempts_max=ATTEMPTS_MAX):
        await store.settle_message(db, message=message, state="failed", error=error, now=now)
    else:
        due_time = now + retries.backoff(message.attempts, jitter=jitter)
        await store.settle_message(db, message=message, state="waiting", due_time=due_time, error=error, now=now)


async def erase(db: Database, *, responders: Sequence[tuple[str, str]]) -> None:
    """Delete the mails of the cases of these responders, pairs with their organization."""
    if responders:
        await store.delete_messages_of(db, responders=list(responders))
