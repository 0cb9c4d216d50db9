"""Sends one message as a test: asked for by the web process, sent by a worker, which alone has the ways out.

It goes through the pipeline's account now, whatever window, cap, pause or empty balance would hold an item. A
suppression holds it as it holds everything: who unsubscribed is not written to, not even to try things out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, assert_never

from afterword import errors, ids
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.messaging.addresses import (
    CHANNEL_SMS,
    CHANNEL_WEBHOOK,
    InvalidAddress,
    address_key,
    mask,
    normalise,
)
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.lanes import AccountKey
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.transport.base import Message, Outcome, Refused, Retry, Sent, Unknown
from afterword.kit.transport.http import check_url
from afterword.people.responders import store as responders_store
from afterword.sending.intake.batches.service import scheduler_of
from afterword.sending.intake.dry_runs.service import VALUE_SCOPE
from afterword.sending.intake.test_messages import store
from afterword.sending.intake.test_messages.store import TestMessage, TestResult
from afterword.sending.messages import composing, email
from afterword.sending.messages.context import SAMPLE_ID, SampleInstance
from afterword.sending.messages.sms import TooLong
from afterword.sending.providers import service as accounts
from afterword.sending.providers import store as accounts_store
from afterword.sending.queue import service as queue
from afterword.sending.queue.lanes import service as lanes
from afterword.sending.queue.lanes import store as lanes_store
from afterword.sending.queue.resources import QueueItemRequest
from afterword.sending.queue.scheduler import changes_of

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
    questionnaire_id: str,
    pipeline_id: str,
    request: QueueItemRequest,
    site: Site,
    now: datetime,
) -> tuple[TestMessage, TestResult | None]:
    """Ask for a test message; the result is there at once where the address may not be written to.

    Raises NotFound, NotPublished, Invalid for the address, TooMany.
    """
    scheduler = await scheduler_of(
        db, caller=caller, questionnaire_id=questionnaire_id, pipeline_id=pipeline_id, secret=site.secret
    )
    organization_id, channel_id = caller.organization_id, scheduler.intake.channel_id
    schedule = scheduler.schedule(request, item_id=SAMPLE_ID, created_time=now)
    await _require_turn(db, organization_id=organization_id, now=now)
    person = await _person_at(db, caller=caller, channel_id=channel_id, address_key=schedule.address_key, now=now)
    settings, version = await lanes.get_published(db, lane=(organization_id, pipeline_id))
    stored = changes_of(request.metadata).as_stored
    test = TestMessage(
        organization_id=organization_id,
        trial_id=ids.ordered(now),
        questionnaire_id=questionnaire_id,
        pipeline_id=pipeline_id,
        channel_id=channel_id,
        recipient=schedule.normal,
        locale=lanes.locale_of(settings, version, request.locale, person.locale),
        metadata=person.filled(stored),
        external_reference=request.external_reference,
        captured=caller.test,
        created_time=now,
    )
    return test, await _keep(db, caller=caller, test=test, address_key=schedule.address_key, now=now)


async def ask_through_account(
    db: Database, *, caller: Caller, account_id: str, recipient: str, site: Site, now: datetime
) -> tuple[TestMessage, TestResult | None]:
    """Ask for a message that says that it is a test of this account; else as `ask`.

    Raises NotFound, Forbidden, Invalid for the address, TooMany.
    """
    caller.require_real()
    account = await accounts.get(db, caller=caller, account_id=account_id)
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


async def take_back(db: Database, *, test: TestMessage) -> bool:
    """Nobody waits for it any more; whether no worker had taken it."""
    return await store.delete_waiting_test_message(db, organization_id=test.organization_id, trial_id=test.trial_id)


async def claim(db: Database, *, channel_ids: Sequence[int], now: datetime, limit: int) -> list[TestMessage]:
    """Take what waits. What a worker took and did not end stays so: a test is not sent twice."""
    since = now - timedelta(seconds=TAKE_SECONDS)
    return await store.claim_test_messages(db, channel_ids=channel_ids, since=since, limit=limit)


async def account_of(db: Database, *, test: TestMessage) -> AccountKey:
    if test.account_id is not None:
        return test.organization_id, test.account_id
    [settings] = await lanes_store.list_settings(db, lanes=[(test.organization_id, test.pipeline_id or "")])
    return settings.account


async def compose(db: Database, *, test: TestMessage, sender: str, site: Site, now: datetime) -> Message:
    """The message as an item's would be, with links that lead to a page which says that this was a test."""
    if test.account_id is not None:  # from the address that a pipeline of it uses, else the installation's
        senders = await accounts_store.list_sender_addresses(
            db, organization_id=test.organization_id, account_id=test.account_id, limit=1
        )
        key = {"organization_id": test.organization_id, "item_id": test.trial_id}
        sender = senders[0] if senders else sender
        return account_message(**key, channel_id=test.channel_id, recipient=test.recipient, sender=sender, now=now)
    message = await _composed(db, test=test, sender=sender, site=site, now=now)
    marked = replace(message, subject=f"{MARK}{message.subject}"[: email.SUBJECT_CHARACTERS_MAX])
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
    questionnaire_id: str,
    pipeline_id: str,
    locale: str | None,
    reminder_number: int | None,
    item_id: str | None,
    site: Site,
    now: datetime,
) -> Message:
    """The message in a language: of an item and its person, else with sample values; its links lead nowhere.

    Nothing is sent.

    Raises NotFound, NotPublished, and Invalid for a reminder that the pipeline lacks or a message that cannot be sent.
    """
    place = {"questionnaire_id": questionnaire_id, "pipeline_id": pipeline_id}
    scheduler = await scheduler_of(db, caller=caller, **place, secret=site.secret)
    item, person, metadata = None, _Person(), dict[str, dict[str, str]]()
    if item_id is not None:
        caller.require("Queue.Read")
        try:
            found = await queue.get(db, caller=caller, item_id=item_id, **place)
        except errors.NotFound as absent:
            raise errors.Invalid.at("/item_id", "unknown_id", absent.detail) from absent
        item = queue.visible(found, caller)
        person = await _person_at(
            db, caller=caller, channel_id=scheduler.intake.channel_id, address_key=item.address_key, now=now
        )
        metadata = person.filled(item.metadata)
    settings, version = await lanes.get_published(db, lane=(caller.organization_id, pipeline_id))
    if reminder_number is not None and reminder_number > len(settings.pipeline.reminders):
        raise errors.Invalid.at("/reminder_number", "out_of_range", "The pipeline has no such reminder.")
    sample = TestMessage(
        organization_id=caller.organization_id,
        trial_id=SAMPLE_ID,
        **place,
        channel_id=scheduler.intake.channel_id,
        recipient=item.responder_channel_identifier if item else "",
        locale=lanes.locale_of(settings, version, locale or (item and item.locale), person.locale),
        metadata=metadata,
        external_reference=item and item.external_reference,
        created_time=now,
    )
    try:
        return await _composed(db, test=sample, sender="", site=site, now=now, reminder_number=reminder_number)
    except (email.SenderNotAllowed, TooLong) as fault:
        raise errors.Invalid(str(fault)) from fault


@dataclass(frozen=True, slots=True)
class _Person:
    """The language and the metadata that are known of the person of an address."""

    locale: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])

    def filled(self, stored: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
        """The metadata of an item with those of the person."""
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
    """Write down the outcome of a test; no account learns from it."""
    name, reply = _told(outcome)
    result = TestResult(
        state="done",
        subject=message and message.subject,
        body=message and message.text,
        outcome=name,
        reply=mask(reply, test.recipient)[:REPLY_CHARACTERS_MAX],
        finished_time=now,
    )
    await store.settle_test_message(db, organization_id=test.organization_id, trial_id=test.trial_id, result=result)


async def _composed(
    db: Database, *, test: TestMessage, sender: str, site: Site, now: datetime, reminder_number: int | None = None
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
        instance=SampleInstance(
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
    await store.insert_test_message(db, organization_id=test.organization_id, test=test, created_by=caller.actor_id)
    return None


async def _require_turn(db: Database, *, organization_id: str, now: datetime) -> None:
    """Raise TooMany for one test too many, of all or at the same moment."""
    since = now - timedelta(seconds=TEST_MESSAGES_SECONDS)
    count, open_count, oldest = await store.count_recent_locked(
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
