"""Making a pipeline: wrong texts with their places, what is stored, and each questionnaire of the library."""

from typing import Any

import pytest

from afterword import errors
from afterword.kit import db
from afterword.sending.pipelines import service, starters
from afterword.sending.pipelines.store import Pipeline
from tests.conftest import House
from tests.tenants.logins.conftest import (
    Office,
    office as office,  # noqa: PLC0414  a fixture
)

EMAIL, SMS = 1, 2


async def create(pool: db.Pool, house: House, **fields: Any) -> Pipeline:
    wanted: dict[str, Any] = {
        "questionnaire_id": house.questionnaire_id,
        "channel_id": EMAIL,
        "title": "Invitation",
        **fields,
    }
    async with db.transaction(pool) as database:
        return await service.create_pipeline(
            database, organization_id=house.organization_id, now=database.clock.now(), **wanted
        )


class TestTexts:
    async def test_refused(self, pool: db.Pool, house: House) -> None:
        for expected, fields in (
            ([("/message_subject", "unknown_value")], {"message_subject": "Dear {{ name }}"}),
            ([("/message_subject", "too_long")], {"message_subject": "x" * 201}),
            ([("/message_subject", "too_short")], {"message_subject": ""}),
            ([("/message_body", "unknown_value")], {"message_body": "Go to {{ link"}),
            ([("/message_body", "too_long")], {"message_body": "x" * 100_001}),
            ([("/message_body", "too_long")], {"channel_id": SMS, "message_body": "x" * 1_601}),
            ([("/message_body", "too_many")], {"message_body": "{{ link }}" * 101}),
            ([("/messages/de/body", "unknown_value")], {"messages": {"de": {"body": "{{ nobody }}"}}}),
            ([("/messages/de/subject", "too_long")], {"messages": {"de": {"subject": "x" * 201, "body": "Gut?"}}}),
            ([("/messages/de/body", "required")], {"messages": {"de": {"subject": "Na?"}}}),
            ([("/messages/a~1b", "invalid_locale")], {"messages": {"a/b": {"body": "Well?"}}}),
            ([("/messages", "too_many")], {"messages": {f"en-x-{number}": {"body": "?"} for number in range(31)}}),
            (
                [("/reminders/0/messages/el/body", "unknown_value")],
                {"reminders": [{"delay_days": 3, "messages": {"el": {"body": "{{ nobody }}"}}}]},
            ),
            ([("/sender_address", "invalid_address")], {"sender_address": "shop@example.com\r\nBcc: eve@example.com"}),
            ([("/reply_to", "invalid_address")], {"reply_to": "shop"}),
            ([("/time_zone", "unknown_value")], {"time_zone": "Mars/Base"}),
            ([("/weekdays", "out_of_range")], {"weekdays": []}),
            (
                [("/conditions/subject", "unknown_id")],
                {"conditions": {"subject": "question:x", "operator": "equal", "value": 1}},
            ),
            (
                [("/message_subject", "unknown_value"), ("/message_body", "unknown_value")],
                {"message_subject": "{{ a }}", "message_body": "{{ b }}"},
            ),
        ):
            with pytest.raises(errors.Invalid) as refused:
                await create(pool, house, **fields)
            assert 422 == refused.value.status, expected
            assert expected == [(error.pointer, error.code) for error in refused.value.errors]

    async def test_ok(self, pool: db.Pool, house: House) -> None:
        fields: dict[str, Any] = {
            "message_subject": "{{ organization }} asks",
            "message_body": "Dear {{ responder.first_name | customer }}\n\n{{ link }}",
            "messages": {"de_AT": {"subject": "Na, {{ responder.first_name | Sie }}?", "body": "{{ link }}"}},
            "sender_address": "shop@example.com",
            "reply_to": "ann@example.com",
        }
        pipeline = await create(pool, house, **fields)
        assert fields == {name: getattr(pipeline, name) for name in fields}

    async def test_one_account_for_each_channel(self, pool: db.Pool, house: House) -> None:
        accounts = [(await create(pool, house, channel_id=channel_id)).account_id for channel_id in (EMAIL, EMAIL, SMS)]
        assert accounts[0] == accounts[1] != accounts[2]

    async def test_without_texts_of_its_own(self, pool: db.Pool, house: House) -> None:
        pipeline = await create(pool, house)
        assert (None, None, {}) == (pipeline.message_subject, pipeline.message_body, pipeline.messages)


async def test_unknown(office: Office) -> None:
    async with db.transaction(office.pool) as database:
        for name, application_id in (
            ("../setup", office.application_id),
            ("event", office.application_id),
            (starters.NAMES[0], "0" * 22),
        ):
            with pytest.raises(errors.NotFound):
                await starters.start(
                    database,
                    organization_id=office.organization_id,
                    application_id=application_id,
                    name=name,
                    now=database.clock.now(),
                )


async def test_each(office: Office) -> None:
    async with db.transaction(office.pool) as database:
        for name in starters.NAMES:
            made = [
                await starters.start(
                    database,
                    organization_id=office.organization_id,
                    application_id=office.application_id,
                    name=name,
                    now=database.clock.now(),
                )
                for _ in range(2)
            ]
            assert made[0] == made[1]
        texts = await database.fetch_value("select messages from pipeline order by created_time limit 1")
        assert {"el", "de", "ar"} <= set(texts)
