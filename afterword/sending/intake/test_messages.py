"""Sends one message as a test: asked for by the web process, sent by a worker, which alone has the ways out.

Its links open the page of a test instance, which has the id of the message.

It goes through the pipeline's account now, whatever window, cap, pause or empty balance would hold an item. A
suppression holds it as it holds everything: who unsubscribed is not written to, not even to try things out.
"""

import asyncio
import dataclasses
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString, Unpack, assert_never, cast

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.instances import issuing, store as instances_store
from afterword.asking.instances.issuing import Draw, IssueInput
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.messaging import segments
from afterword.core.messaging.addresses import (
    CHANNEL_SMS,
    CHANNEL_WEBHOOK,
    InvalidAddress,
    address_key,
    mask,
    normalise,
)
from afterword.core.organizations.access import Caller, installation
from afterword.core.questionnaires.metadata import Changes
from afterword.core.scheduling.lanes import AccountKey
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Database, Pool
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.texts import accepted, texts
from afterword.kit.transport.base import Message, Outcome, Refused, Retry, Sent, Unknown
from afterword.kit.transport.http import check_url
from afterword.kit.web import fields, public
from afterword.kit.web.operations import ACT_SECONDS_MAX, Answer, Call, Routes
from afterword.kit.web.routing import Pages
from afterword.people.responders import store as responders_store
from afterword.sending.intake.batches import scheduler_of
from afterword.sending.intake.dry_runs import VALUE_SCOPE
from afterword.sending.messages import composing
from afterword.sending.messages.composing import SAMPLE_CODE, SAMPLE_ID, SampleInstance, TooLong
from afterword.sending.pipelines.service import PipelinePath
from afterword.sending.providers import service as providers
from afterword.sending.queue import lanes, service as queue
from afterword.sending.queue.api import declared_of
from afterword.sending.queue.records import QueueItemRequest
from afterword.sending.queue.scheduler import changes_of, checked


class TestMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is asked for: of a pipeline, or of an account alone. `metadata` by kind, as an item keeps them."""

    organization_id: str
    trial_id: str
    questionnaire_id: str | None = None
    pipeline_id: str | None = None
    account_id: str | None = None
    channel_id: int
    recipient: str
    locale: str
    metadata: dict[str, dict[str, str]]
    external_reference: str | None
    captured: bool = False  # asked for by a test token: it stays in the outbox
    created_time: datetime


class TestResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a test message. `outcome` is null while it is being sent."""

    state: str
    subject: str | None
    body: str | None
    outcome: str | None
    reply: str | None
    finished_time: datetime | None


Asked = tuple[TestMessage, TestResult | None]  # the result is there at once where the address may not be written to
_COLUMNS: Final[LiteralString] = columns_of(TestMessage)
_COLUMNS_T: Final = qualified(_COLUMNS, "t")


async def _count_recent_locked(
    db: Database, *, organization_id: str, since: datetime, open_since: datetime
) -> tuple[int, int, datetime | None]:
    """Count the test messages since a time, and those under way; also return the oldest time.

    One that is under way counts as such from `open_since` on, since its worker may be gone. No other is inserted until
    the transaction ends.
    """
    await db.execute("select pg_advisory_xact_lock(hashtextextended('trial/' || $1, 0))", organization_id)
    row = await db.fetch_one(
        """select count(*) as count, count(*) filter (where state <> 'done' and created_time > $3) as open,
             min(created_time) as oldest
           from trial where organization_id = $1 and created_time > $2""",
        organization_id,
        since,
        open_since,
    )
    return row["count"], row["open"], row["oldest"]


async def _insert_test_message(
    db: Database, *, organization_id: str, test: TestMessage, created_by: str | None
) -> None:
    await db.execute(
        f"""insert into trial ({_COLUMNS}, created_by)
           select {_COLUMNS}, $2 from jsonb_populate_record(null::trial, $3::jsonb) where organization_id = $1""",
        organization_id,
        created_by,
        asdict(test),
    )


async def claim_test_messages(  # any tenant: the worker serves everyone
    db: Database, *, channel_ids: Sequence[int], now: datetime, limit: int
) -> list[TestMessage]:
    """Take what waits on these channels, the oldest first; what waits too long is never taken.

    What a worker took and did not end stays so: a test is not sent twice.
    """
    return await db.records(TestMessage).fetch(
        f"""with head as materialized (
             select organization_id, trial_id from trial
             where state = 'waiting' and created_time > $2 and channel_id = any ($1::smallint[])
             order by created_time limit $3 for update skip locked)
           update trial t set state = 'sending'
           from head where t.organization_id = head.organization_id and t.trial_id = head.trial_id
           returning {_COLUMNS_T}""",
        list(channel_ids),
        now - timedelta(seconds=TAKE_SECONDS),
        limit,
    )


async def _settle_test_message(db: Database, *, organization_id: str, trial_id: str, result: TestResult) -> None:
    await db.execute(
        """update trial set state = $3, subject = $4, body = $5, outcome = $6, reply = $7, finished_time = $8
           where organization_id = $1 and trial_id = $2 and state = 'sending'""",
        organization_id,
        trial_id,
        *msgspec.structs.astuple(result),
    )


async def _get_result(db: Database, *, organization_id: str, trial_id: str) -> TestResult | None:
    return await db.records(TestResult).fetch_row(
        """select state, subject, body, outcome, reply, finished_time from trial
           where organization_id = $1 and trial_id = $2""",
        organization_id,
        trial_id,
    )


async def delete_waiting_test_message(db: Database, *, organization_id: str, trial_id: str) -> bool:
    """Take back what no worker has taken; whether it was still there."""
    return await db.touches(
        "delete from trial where organization_id = $1 and trial_id = $2 and state = 'waiting'",
        organization_id,
        trial_id,
    )


MARK: Final = "[Test] "
TEXT: Final = "This is a test of a sending account of Afterword."
TEST_MESSAGES_MAX: Final = 20  # of an organization in
TEST_MESSAGES_SECONDS: Final = 600
OPEN_MAX: Final = 2  # under way at the same moment: each may hold a connection of the web process
TAKE_SECONDS: Final = 30  # nobody waits for what was asked longer ago
KEPT_SECONDS: Final = 1_200
SEND_SECONDS_MAX: Final = 60
REPLY_CHARACTERS_MAX: Final = 500
assert KEPT_SECONDS > TEST_MESSAGES_SECONDS > TAKE_SECONDS + SEND_SECONDS_MAX  # noqa: S101


async def ask(
    db: Database,
    *,
    caller: Caller,
    request: QueueItemRequest,
    site: Site,
    now: datetime,
    draw: Draw,
    **path: Unpack[PipelinePath],
) -> Asked:
    """Ask for a test message, and issue its test instance.

    Raises NotFound, NotPublished, Inactive, Closed, Invalid for the address, TooMany.
    """
    scheduler = await scheduler_of(db, caller=caller, secret=site.secret, **path)
    organization_id, channel_id = caller.organization_id, scheduler.intake.channel_id
    schedule = scheduler.schedule(request, item_id=SAMPLE_ID, created_time=now)
    await _require_turn(db, organization_id=organization_id, now=now)
    person = await _person_at(db, caller=caller, channel_id=channel_id, address_key=schedule.address_key, now=now)
    settings, version = await lanes.get_published(db, lane=(organization_id, path["pipeline_id"]))
    stored = changes_of(request.metadata).as_stored
    test = TestMessage(
        organization_id=organization_id,
        trial_id=ids.secret(),
        **path,
        channel_id=channel_id,
        recipient=schedule.normal,
        locale=lanes.locale_of(settings, version, request.locale, person.locale),
        metadata=person.filled(stored),
        external_reference=request.external_reference,
        captured=caller.test,
        created_time=now,
    )
    result = await _keep(db, caller=caller, test=test, address_key=schedule.address_key, now=now)
    if result is None:
        await issuing.issue(
            db,
            caller=dataclasses.replace(caller, test=True),
            questionnaire_id=path["questionnaire_id"],
            request=IssueInput(
                instance_id=test.trial_id, locale=test.locale, metadata=Changes({**stored["questionnaire"]})
            ),
            now=now,
            secret=site.secret,
            draw=draw,
        )
    return test, result


async def ask_through_account(
    db: Database, *, caller: Caller, account_id: str, recipient: str, site: Site, now: datetime
) -> Asked:
    """Ask for a message that says that it is a test of this account; else as `ask`.

    Raises NotFound, Forbidden, Invalid for the address, TooMany.
    """
    caller.require_real()
    account = await providers.get(db, caller=caller, account_id=account_id)
    channel_id = account.channel_id
    try:
        normal = normalise(channel_id, recipient)
    except InvalidAddress as error:
        raise errors.Invalid.at("/responder_channel_identifier", "invalid_address", error.message) from None
    wrong = check_url(normal, site.networks) if channel_id == CHANNEL_WEBHOOK else None
    if wrong is not None:
        raise errors.Invalid.at("/responder_channel_identifier", "invalid_address", wrong)
    await _require_turn(db, organization_id=caller.organization_id, now=now)
    test = TestMessage(
        organization_id=caller.organization_id,
        trial_id=ids.ordered(now),
        account_id=account_id,
        channel_id=channel_id,
        recipient=normal,
        locale=caller.default_locale,
        metadata={},
        external_reference=None,
        created_time=now,
    )
    key = address_key(site.secret, channel_id, normal)
    return test, await _keep(db, caller=caller, test=test, address_key=key, now=now)


async def account_of(db: Database, *, test: TestMessage) -> AccountKey:
    if test.account_id is not None:
        return test.organization_id, test.account_id
    [settings] = await lanes.list_settings(db, lanes=[(test.organization_id, test.pipeline_id or "")])
    return settings.account


async def compose(db: Database, *, test: TestMessage, sender: str, site: Site, now: datetime) -> Message:
    """The message as an item's would be; only its link to unsubscribe leads to a page that says that it was a test."""
    if test.account_id is not None:  # from the address that a pipeline of it uses, else the installation's
        own = await providers.get_sender_address(db, organization_id=test.organization_id, account_id=test.account_id)
        key = {"organization_id": test.organization_id, "item_id": test.trial_id}
        given = {"channel_id": test.channel_id, "recipient": test.recipient, "sender": own or sender}
        return account_message(**key, **given, now=now)
    sight = installation(test.organization_id).sight
    instance = await instances_store.get_instance(db, **sight, instance_id=test.trial_id)
    message = await _composed(db, test=test, instance=instance, sender=sender, site=site, now=now)
    marked = replace(message, subject=f"{MARK}{message.subject}"[: composing.SUBJECT_CHARACTERS_MAX])
    return replace(marked, text=f"{MARK}{message.text}") if test.channel_id == CHANNEL_SMS else marked


def account_message(
    *, organization_id: str, item_id: str, channel_id: int, recipient: str, sender: str, now: datetime
) -> Message:
    """A message about an account alone. Of a webhook the recipient is the receiver's address."""
    is_posting = channel_id == CHANNEL_WEBHOOK
    return Message(
        item_id=item_id,
        organization_id=organization_id,
        channel_id=channel_id,
        recipient=recipient,
        sender=sender,
        subject=TEXT,
        html=f"<p>{TEXT}</p>",
        text=json.dumps({"type": "account.test", "data": {"text": TEXT}}) if is_posting else TEXT,
        locale="en",
        composed_time=now,
        target_url=recipient if is_posting else None,
    )


async def preview(
    db: Database,
    *,
    caller: Caller,
    locale: str | None,
    reminder_number: int | None,
    item_id: str | None,
    site: Site,
    now: datetime,
    **path: Unpack[PipelinePath],
) -> Message:
    """The message in a language: of an item and its person, else with sample values; its links lead nowhere.

    Nothing is sent.

    Raises NotFound, NotPublished, and Invalid for a reminder that the pipeline lacks or a message that cannot be sent.
    """
    scheduler = await scheduler_of(db, caller=caller, secret=site.secret, **path)
    item, person, metadata = None, _Person(), dict[str, dict[str, str]]()
    if item_id is not None:
        caller.require("Queue.Read")
        try:
            found = await queue.get(db, caller=caller, item_id=item_id, **path)
        except errors.NotFound as absent:
            raise errors.Invalid.at("/item_id", "unknown_id", absent.detail) from absent
        item = queue.visible(found, caller)
        person = await _person_at(
            db, caller=caller, channel_id=scheduler.intake.channel_id, address_key=item.address_key, now=now
        )
        metadata = person.filled(item.metadata)
    settings, version = await lanes.get_published(db, lane=(caller.organization_id, path["pipeline_id"]))
    if reminder_number is not None and reminder_number > len(settings.pipeline.reminders):
        raise errors.Invalid.at("/reminder_number", "out_of_range", "The pipeline has no such reminder.")
    sample = TestMessage(
        organization_id=caller.organization_id,
        trial_id=SAMPLE_ID,
        **path,
        channel_id=scheduler.intake.channel_id,
        recipient=item.responder_channel_identifier if item else "",
        locale=lanes.locale_of(settings, version, locale or (item and item.locale), person.locale),
        metadata=metadata,
        external_reference=item and item.external_reference,
        created_time=now,
    )
    try:
        return await _composed(db, test=sample, sender="", site=site, now=now, reminder_number=reminder_number)
    except (composing.SenderNotAllowed, TooLong) as fault:
        raise errors.Invalid(str(fault)) from fault


class _Person(msgspec.Struct, frozen=True):
    """The language and the metadata that are known of the person of an address."""

    locale: str | None = None
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    def filled(self, stored: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
        own = {kind: dict(values) for kind, values in stored.items()}
        return {**own, "responder": {**self.metadata, **own.get("responder", {})}}


async def _person_at(db: Database, *, caller: Caller, channel_id: int, address_key: bytes, now: datetime) -> _Person:
    address = (caller.organization_id, channel_id, address_key)
    found = await responders_store.list_address_facts(db, addresses=[address], with_others=[False], now=now)
    recipient = found[address].recipient
    if recipient is None:
        return _Person()
    return _Person(recipient.responder.locale, recipient.responder.metadata if VALUE_SCOPE in caller.scopes else {})


async def settle(db: Database, *, test: TestMessage, message: Message | None, outcome: Outcome, now: datetime) -> None:
    name, reply = _told(outcome)
    result = TestResult(
        state="done",
        subject=message and message.subject,
        body=message and message.text,
        outcome=name,
        reply=mask(reply, test.recipient)[:REPLY_CHARACTERS_MAX],
        finished_time=now,
    )
    await _settle_test_message(db, organization_id=test.organization_id, trial_id=test.trial_id, result=result)


async def _composed(
    db: Database,
    *,
    test: TestMessage,
    instance: Instance | None = None,
    sender: str,
    site: Site,
    now: datetime,
    reminder_number: int | None = None,
) -> Message:
    settings, version = await lanes.get_published(db, lane=(test.organization_id, test.pipeline_id or ""))
    questionnaire = await questionnaires_store.get_questionnaire(
        db, organization_id=test.organization_id, questionnaire_id=test.questionnaire_id or ""
    )
    context = lanes.context_of(
        settings,
        item_id=test.trial_id,
        recipient=test.recipient,
        version=version,
        instance=instance
        or SampleInstance(
            locale=test.locale,
            metadata=test.metadata.get("questionnaire", {}),
            valid_days=questionnaire.valid_days,
            question_ids=[question.question_id for question in version.definition.questions()],
        ),
        responder_metadata=test.metadata.get("responder", {}),
        unsubscribe_id=SAMPLE_ID,
        sender=sender,
        site=site,
        now=now,
        reminder_number=reminder_number,
        external_reference=test.external_reference,
        send_time=now,
    )
    return composing.compose(context)


async def _keep(
    db: Database, *, caller: Caller, test: TestMessage, address_key: bytes, now: datetime
) -> TestResult | None:
    """Leave the test to a worker; the result where the address may not be written to."""
    address = (test.organization_id, test.channel_id, address_key)
    suppressions = await responders_store.list_suppressions_for(db, addresses=[address], now=now)
    if suppressions:
        reply = f"Not sent: the address is suppressed ({suppressions[0].reason})."
        return TestResult(state="done", subject=None, body="", outcome="refused", reply=reply, finished_time=now)
    await _insert_test_message(db, organization_id=test.organization_id, test=test, created_by=caller.actor_id)
    return None


async def _require_turn(db: Database, *, organization_id: str, now: datetime) -> None:
    """Raise TooMany for one test too many, of all or at the same moment."""
    since = now - timedelta(seconds=TEST_MESSAGES_SECONDS)
    count, open_count, oldest = await _count_recent_locked(
        db, organization_id=organization_id, since=since, open_since=now - timedelta(seconds=TAKE_SECONDS)
    )
    if count >= TEST_MESSAGES_MAX and oldest is not None:
        wait = max(1, int((oldest - since).total_seconds()) + 1)
        text = f"At most {TEST_MESSAGES_MAX} test messages in {TEST_MESSAGES_SECONDS // 60} minutes."
        raise errors.TooMany(text, headers={"Retry-After": str(wait)})
    if open_count >= OPEN_MAX:
        raise errors.TooMany(f"{OPEN_MAX} test messages are under way.", headers={"Retry-After": "2"})


def _told(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Sent():
            return "accepted", outcome.reply
        case Refused():
            return "refused", outcome.reason
        case Retry():
            return "throttled" if outcome.cause == "throttle" else "retry", outcome.reason
        case Unknown():
            return "unknown", outcome.reason
        case _:
            assert_never(outcome)


class TestSend(fields.Answer):
    """A test message and its result. `body` is the plain text; empty if nothing was written.

    `segments` and `encoding` are those of an SMS.
    """

    responder_channel_identifier: str
    locale: str
    subject: str | None
    body: str
    outcome: Literal["accepted", "retry", "throttled", "refused", "unknown"]
    reply: str | None
    sent_time: fields.DateTime | None
    segments: int | None
    encoding: Literal["gsm7", "ucs2"] | None


class AccountTestRequest(fields.Request):
    """The address to write to: an e-mail address, a phone number, or the web address of a webhook's receiver."""

    responder_channel_identifier: fields.Text320


class PreviewRequest(fields.Request):
    """A language (null: the item's, else the pipeline's), a reminder of the pipeline, and an item with its values."""

    locale: fields.Locale | None = None
    reminder_number: Annotated[int, Meta(ge=1, le=3)] | None = None
    item_id: fields.Id | None = None


class Preview(fields.Answer):
    """The message as it would be sent. `html` is null for other channels than e-mail, `segments` but for an SMS."""

    channel_id: fields.ChannelId
    locale: str
    subject: str | None
    text: str
    html: str | None
    segments: int | None
    encoding: Literal["gsm7", "ucs2"] | None


POLL_SECONDS: Final = 0.1
TAKEN_SECONDS_MAX: Final = 3.0  # workers look twice a second

routes = Routes(tag="Pipelines")
account_routes = Routes(tag="Providers")


@routes.act(
    "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/test",
    scope="Pipeline.Update",
    body=QueueItemRequest,
    answer=TestSend,
    summary="Send a test message",
    description=(
        "One message now, through the pipeline's own account, whatever would hold an item: no item and no credit. Its "
        "subject begins with `[Test]`, its links open a test instance; `send_time` has no effect. A suppressed address "
        "is `refused`. At most 20 in 10 minutes."
    ),
    refusals=(
        "application_inactive",
        "questionnaire_inactive",
        "questionnaire_closed",
        "questionnaire_not_published",
        "invalid_address",
    ),
)
async def send_test_message(call: Call[QueueItemRequest], pool: Pool) -> Answer:
    declared = await declared_of(call, db.on_demand(pool))
    request = checked(call.body, declared)
    test, found = await send(pool, ask, **call.ids, request=request, draw=random.random, **call.acting)
    return _answer(call, call.body.responder_channel_identifier, test, found)


@account_routes.act(
    "/provider/{account_id}/test",
    scope="Provider.Update",
    body=AccountTestRequest,
    answer=TestSend,
    summary="Send a test message through the account",
    description="One message now, also while the account is paused, with the provider's reply. A suppressed address is "
    "`refused`. At most 20 test messages in 10 minutes.",
    refusals=("invalid_address",),
)
async def send_through_account(call: Call[AccountTestRequest], pool: Pool) -> Answer:
    identifier = call.body.responder_channel_identifier
    test, found = await send(pool, ask_through_account, **call.ids, recipient=identifier, **call.acting)
    return _answer(call, identifier, test, found)


def _answer(call: Call[Any], identifier: str, test: TestMessage, found: TestResult) -> Answer:
    is_sent = found.outcome == "accepted"
    length = segments.measure(found.body) if test.channel_id == CHANNEL_SMS and found.body else None
    return Answer(
        TestSend(
            responder_channel_identifier=identifier,
            locale=test.locale,
            subject=found.subject,
            body=found.body or "",
            outcome=cast("Any", found.outcome or "unknown"),
            reply=found.reply,
            sent_time=times.format_optional(found.finished_time, zone=call.zone) if is_sent else None,
            segments=length and length.segments,
            encoding=length and length.encoding,
        )
    )


@routes.post(
    "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/preview",
    scope="Pipeline.Read",
    body=PreviewRequest,
    answer=Preview,
    status=200,
    summary="Show a message of the pipeline",
    description="Nothing is sent or kept, and links lead nowhere. `item_id` fills the texts with the item's values, "
    "which needs Queue.Read and the scopes of values.",
    refusals=("application_inactive", "questionnaire_not_published", "out_of_range"),
)
async def preview_message(call: Call[PreviewRequest], db: Database) -> Answer:
    message = await preview(db, **call.ids, **call.body.named(), **call.acting)
    length = segments.measure(message.text) if message.channel_id == CHANNEL_SMS else None
    return Answer(
        Preview(
            channel_id=cast("Any", message.channel_id),
            locale=message.locale,
            subject=message.subject or None,
            text=message.text,
            html=message.html or None,
            segments=length and length.segments,
            encoding=length and length.encoding,
        )
    )


async def send(pool: Pool, asking: Callable[..., Awaitable[Asked]], **asked: Any) -> tuple[TestMessage, TestResult]:
    """Ask for a test message by `ask` or `ask_through_account`, and wait for its result.

    Raises as they do, and Unavailable without a worker.
    """
    async with db.transaction(pool) as database:
        test, result = await asking(database, **asked)
    return test, result or await _result(pool, test)


async def _result(pool: Pool, test: TestMessage) -> TestResult:
    """The result; `unknown` while a worker sends it. Raises Unavailable if no worker has taken it."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    is_taken = False
    key = {"organization_id": test.organization_id, "trial_id": test.trial_id}
    while True:
        async with db.connection(pool) as database:
            found = await _get_result(database, **key)
        if found is not None and found.state == "done":
            return found
        waited = loop.time() - began
        if waited >= TAKEN_SECONDS_MAX and not is_taken:
            async with db.transaction(pool) as database:
                is_taken = not await delete_waiting_test_message(database, **key)
            if not is_taken:
                text = "No worker sends on this channel at the moment; nothing was sent."
                raise errors.Unavailable(text, headers={"Retry-After": "5"})
        if waited >= ACT_SECONDS_MAX:
            break
        await asyncio.sleep(POLL_SECONDS)
    reply = f"Still being sent after {ACT_SECONDS_MAX} seconds; it may yet arrive."
    return TestResult(state="sending", subject=None, body=None, outcome="unknown", reply=reply, finished_time=None)


UNSUBSCRIBE = f"/u/{SAMPLE_ID}"

page_routes = Pages()


@page_routes.get(f"/a/{SAMPLE_ID}", f"/s/{SAMPLE_CODE}", UNSUBSCRIBE)
@page_routes.post(UNSUBSCRIBE)  # the one click of a mail reader, which nobody has asked for
async def sample_page(request: Request) -> Response:
    """In place of the questionnaire, and of the question whether to unsubscribe."""
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    if request.url.path == UNSUBSCRIBE:
        about = words("In a real message this link stops further questionnaires.")
    else:
        about = words("In a real message this link opens the questionnaire.")
    return public.message_page(
        words=words,
        title=words("This was a test"),
        paragraphs=[about],
        facts=[words("Nothing was saved."), words("You can close this page.")],
    )
