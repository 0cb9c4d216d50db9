"""Making a pipeline: what its author may not say, each fault with its place, and what is stored of the rest."""

from typing import Any

import pytest

from afterword import errors
from afterword.kit import db
from afterword.sending.pipelines import service
from afterword.sending.pipelines.store import Pipeline
from tests.conftest import House

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
    @pytest.mark.parametrize(
        ("expected", "fields"),
        [
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
            (
                [("/message_subject", "unknown_value"), ("/message_body", "unknown_value")],
                {"message_subject": "{{ a }}", "message_body": "{{ b }}"},
            ),
        ],
    )
    async def test_refused(
        self, pool: db.Pool, house: House, expected: list[tuple[str, str]], fields: dict[str, Any]
    ) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await create(pool, house, **fields)
        assert 422 == refused.value.status
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

    async def test_without_texts_of_its_own(self, pool: db.Pool, house: House) -> None:
        pipeline = await create(pool, house)
        assert (None, None, {}) == (pipeline.message_subject, pipeline.message_body, pipeline.messages)
