"""Items of a token with some applications: whom other applications ask stays as she is, and they carry own values."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from afterword.core.organizations.access import Caller
from afterword.kit.web.fields import MetadataGroups
from afterword.sending.queue.records import QueueItemUpdate
from afterword.sending.queue.sending.dispatches import Dispatch
from tests.conftest import House
from tests.sending.queue.conftest import OK, Queue

FULL = {"email": "ann@example.com", "rsecret_a": "theirs"}
OVER = {"email": "ann@example.com", "phone_number": "+306900000001", "rsecret_a": "ours"}
COUNT_ADDRESSES = "select count(*) from responder_address"


class Confined(House):
    """With a token that has one application."""

    @property
    def caller(self) -> Caller:
        """Whom the token speaks for."""
        return replace(super().caller, application_ids=(self.application_id,))


async def send(queue: Queue, metadata: Mapping[str, str]) -> Dispatch:
    await queue.schedule(metadata={"responder": metadata})
    [dispatch] = await queue.worker().send(OK)
    return dispatch


async def stored(queue: Queue) -> dict[str, Any]:
    return await queue.value("select metadata from responder")


@pytest.fixture
def confined(queue: Queue) -> Queue:
    """The queue as a token sees it that has its questionnaire's application alone."""
    return replace(queue, house=Confined(**{each.name: getattr(queue.house, each.name) for each in fields(House)}))


@pytest.fixture
async def shared(queue: Queue) -> Queue:
    """Ann was asked by another application."""
    await send(queue, FULL)
    await queue.execute(
        """with other as (
             insert into application (organization_id, application_id, application_type_id, display_name)
             select organization_id, 'other', application_type_id, 'Other' from application),
           copy as (
             insert into questionnaire
             select (jsonb_populate_record(q, '{"questionnaire_id": "other", "owner_application_id": "other",
               "slug": "other", "published_version_id": null}')).* from questionnaire q),
           version as (
             insert into questionnaire_version
             select (jsonb_populate_record(v, '{"questionnaire_id": "other", "version_id": "other"}')).*
             from questionnaire_version v)
           update questionnaire_instance set questionnaire_id = 'other', version_id = 'other'"""
    )
    return queue


class TestOthersToo:
    async def test_she_stays_as_she_is(self, shared: Queue, confined: Queue) -> None:
        dispatch = await send(confined, OVER)
        assert FULL == await stored(shared)
        assert 1 == await shared.value(COUNT_ADDRESSES)
        assert OVER == dispatch.responder.metadata

    async def test_an_item_that_was_changed(self, shared: Queue, confined: Queue) -> None:
        item = await shared.schedule(metadata={"responder": FULL})
        await confined.change(item, QueueItemUpdate(metadata=MetadataGroups(responder={"rsecret_a": "ours"})))
        await shared.worker().send(OK)
        assert FULL == await stored(shared)

    async def test_a_reminder(self, shared: Queue, confined: Queue) -> None:
        await shared.change_pipeline(
            """reminders = '[{"delay_days": 1, "delay_hours": 0, "delay_minutes": 0, "messages": {}}]'"""
        )
        await send(confined, OVER)
        await shared.shift(timedelta(days=2))
        assert 1 == len(await shared.worker().send(OK))
        assert FULL == await stored(shared)

    async def test_who_may_all(self, shared: Queue) -> None:
        await send(shared, OVER)
        assert OVER == await stored(shared)


class TestNobodyElse:
    async def test_somebody_new(self, confined: Queue) -> None:
        await send(confined, OVER)
        assert OVER == await stored(confined)

    async def test_somebody_asked_before(self, queue: Queue, confined: Queue) -> None:
        await send(queue, FULL)
        dispatch = await send(confined, OVER)
        assert OVER == await stored(queue)
        assert OVER == dispatch.responder.metadata
