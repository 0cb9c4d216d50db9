"""HTTP handlers of test messages: ask a worker to send one, and wait for its result."""

import asyncio
from datetime import datetime
from typing import Any, Final, cast

from afterword import errors
from afterword.core.messaging import segments
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.organizations.access import Caller
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Database, Pool
from afterword.kit.web.operations import ACT_SECONDS_MAX, Answer, Call, Routes
from afterword.sending.intake.test_messages import service, store
from afterword.sending.intake.test_messages.resources import AccountTestRequest, Preview, PreviewRequest, TestSend
from afterword.sending.intake.test_messages.store import TestMessage, TestResult
from afterword.sending.queue.resources import QueueItemRequest
from afterword.sending.queue.scheduler import checked
from afterword.sending.queue.service import declared_for

POLL_SECONDS: Final = 0.1
TAKEN_SECONDS_MAX: Final = 3.0  # workers look twice a second

routes = Routes(tag="Pipelines")
accounts = Routes(tag="Providers")


@routes.act(
    "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/test",
    scope="Pipeline.Update",
    body=QueueItemRequest,
    answer=TestSend,
    summary="Send a test message",
    description=(
        "One message now, through the pipeline's own account, whatever would hold an item: no item, instance or "
        "credit. Its subject begins with `[Test]`, its links lead to a page that says so; `send_time` has no effect. "
        "A suppressed address is `refused`. At most 20 in 10 minutes."
    ),
    refusals=("application_inactive", "questionnaire_not_published", "invalid_address"),
)
async def send_test_message(call: Call[QueueItemRequest], pool: Pool) -> Answer:
    declared = await declared_for(
        db.on_demand(pool), caller=call.caller, questionnaire_id=call.ids["questionnaire_id"], is_strict=call.strict
    )
    request = checked(call.body, declared)
    test, found = await send(pool, caller=call.caller, **call.ids, request=request, site=call.site, now=call.now)
    return _answer(call, call.body.responder_channel_identifier, test, found)


@accounts.act(
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
    test, found = await send_account_test(
        pool, caller=call.caller, **call.ids, recipient=identifier, site=call.site, now=call.now
    )
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
    body = call.body
    message = await service.preview(
        db,
        caller=call.caller,
        **call.ids,
        locale=body.locale,
        reminder_number=body.reminder_number,
        item_id=body.item_id,
        site=call.site,
        now=call.now,
    )
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


async def send(
    pool: Pool,
    *,
    caller: Caller,
    questionnaire_id: str,
    pipeline_id: str,
    request: QueueItemRequest,
    site: Site,
    now: datetime,
) -> tuple[TestMessage, TestResult]:
    """Ask for a test message and wait for its result. Raises as `service.ask`, and Unavailable without a worker."""
    async with db.transaction(pool) as database:
        test, result = await service.ask(
            database,
            caller=caller,
            questionnaire_id=questionnaire_id,
            pipeline_id=pipeline_id,
            request=request,
            site=site,
            now=now,
        )
    return test, result or await _result(pool, test)


async def send_account_test(
    pool: Pool, *, caller: Caller, account_id: str, recipient: str, site: Site, now: datetime
) -> tuple[TestMessage, TestResult]:
    """As `send`, through an account alone. Raises as `service.ask_through_account`."""
    async with db.transaction(pool) as database:
        test, result = await service.ask_through_account(
            database, caller=caller, account_id=account_id, recipient=recipient, site=site, now=now
        )
    return test, result or await _result(pool, test)


async def _result(pool: Pool, test: TestMessage) -> TestResult:
    """The result; `unknown` while a worker sends it. Raises Unavailable if no worker has taken it."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    is_taken = False
    key = {"organization_id": test.organization_id, "trial_id": test.trial_id}
    while True:
        async with db.connection(pool) as database:
            found = await store.get_result(database, **key)
        if found is not None and found.state == "done":
            return found
        waited = loop.time() - began
        if waited >= TAKEN_SECONDS_MAX and not is_taken:
            async with db.transaction(pool) as database:
                is_taken = not await service.take_back(database, test=test)
            if not is_taken:
                text = "No worker sends on this channel at the moment; nothing was sent."
                raise errors.Unavailable(text, headers={"Retry-After": "5"})
        if waited >= ACT_SECONDS_MAX:
            break
        await asyncio.sleep(POLL_SECONDS)
    reply = f"Still being sent after {ACT_SECONDS_MAX} seconds; it may yet arrive."
    return TestResult(state="sending", subject=None, body=None, outcome="unknown", reply=reply, finished_time=None)
