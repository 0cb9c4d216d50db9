"""Each channel has its composer: variables of the item, an SMS with its length, the document for a webhook."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from afterword.core.text import placeholders
from afterword.kit.transport.base import EMAIL, LINK, OUTBOX, SMS, WEBHOOK
from afterword.sending.messages import composing
from tests.sending.messages.test_email import (
    NOW,
    Pipeline,
    compose,
    context_of,
    fresh_cache as fresh_cache,  # noqa: PLC0414  a fixture
)
from tests.sending.queue.conftest import Client, codes


@pytest.mark.parametrize(
    ("channel_id", "has_html", "begins"),
    [(EMAIL, True, "Northwind"), (OUTBOX, True, "Northwind"), (SMS, False, "Northwind"), (WEBHOOK, False, '{"type":'),
     (LINK, False, "")],
)  # fmt: skip
def test_of_each_channel(channel_id: int, begins: str, *, has_html: bool) -> None:
    message = composing.compose(context_of(pipeline=Pipeline(channel_id=channel_id)))
    assert (channel_id, "i" * 22, has_html) == (message.channel_id, message.item_id, bool(message.html))
    assert begins in message.text[:80]


OF_ITEM = (
    "{{ item.recipient }} {{ item.external_reference | none }} {{ item.send_date }} {{ item.valid_until | for ever }}"
)


@pytest.mark.parametrize(
    ("expected", "locale", "time_zone"),
    [
        ("ann@example.org A-17 November 1, 2026 December 2, 2026", "en", "UTC"),
        ("ann@example.org A-17 2 Νοεμβρίου 2026 2 Δεκεμβρίου 2026", "el", "Europe/Athens"),
        ("ann@example.org A-17 1 نوفمبر 2026 2 ديسمبر 2026", "ar-EG", "UTC"),
    ],
)
def test_variables_of_the_item(expected: str, locale: str, time_zone: str) -> None:
    """Dates are in the reader's language, and in the days of the sender's zone."""
    message = compose(
        pipeline=Pipeline(message_subject=OF_ITEM, message_body=OF_ITEM),
        locale=locale,
        external_reference="A-17",
        send_time=datetime(2026, 11, 1, 23, 0, tzinfo=UTC),
        time_zone=time_zone,
    )
    assert expected == message.subject
    assert expected in message.text


def test_variables_of_an_item_that_says_nothing() -> None:
    message = compose(pipeline=Pipeline(message_subject=OF_ITEM))
    assert "ann@example.org none November 2, 2026 December 2, 2026" == message.subject


def test_what_a_text_does_not_use_is_not_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_values: object) -> None:
        raise AssertionError

    monkeypatch.setattr(composing, "texts", never)
    assert "Well?" == compose(pipeline=Pipeline(message_subject="Well?", message_body="{{ link }}")).subject


def document(later: timedelta = timedelta(), **of_item: Any) -> Any:
    pipeline = Pipeline(channel_id=WEBHOOK, target_url="https://shop.example/x", **of_item.pop("texts", {}))
    message = composing.compose_webhook(replace(context_of(pipeline=pipeline, **of_item), now=NOW + later))
    assert "https://shop.example/x" == message.target_url
    return json.loads(message.text)


def test_equal_but_its_time() -> None:
    first, again = document(), document(timedelta(hours=1))
    assert first.pop("timestamp") != again.pop("timestamp")
    until = "valid_until"
    assert first["data"].pop(until) < again["data"].pop(until)  # it was not sent yet
    assert first == again


def test_texts_are_filled_where_there_are_any() -> None:
    assert (None, None) == (document()["data"]["subject"], document()["data"]["body"])
    texts = {"message_subject": "For {{ responder.name }}", "message_body": "{{ link }}"}
    data = document(texts=texts, responder={"name": "Ann\r\nBcc: x"})["data"]
    assert "For Ann Bcc: x" == data["subject"]
    assert data["collection_url"] == data["body"]
    assert {"responder": {"name": "Ann\r\nBcc: x"}, "questionnaire": {}} == data["metadata"]


PHONE = "+306912345678"


async def foreseen(client: Client, body: str, **row: Any) -> dict[str, Any]:
    queue = await client.queue.pipeline(channel_id=SMS, message_body=body)
    path = Client(client.http, queue).items
    rows = [{"responder_channel_identifier": PHONE, **row}]
    return (await client.ok("POST", f"{path}/simulate", rows))["results"][0]


class TestFilled:
    def test_too_long(self) -> None:
        template = composing.parsed_sms("{{ responder.story | x }} {{ link }}")
        with pytest.raises(composing.TooLong, match="1600"):
            composing.filled(template, {"responder.story": "a" * 1600, "link": "l"})

    def test_the_link_follows_where_its_author_left_it_out(self) -> None:
        assert "Tell us. L" == composing.filled(composing.parsed_sms("Tell us."), {"link": "L"})
        assert "O: L" == composing.filled(composing.parsed_sms(None), {"link": "L", "organization": "O"})
        assert "L, tell us" == composing.filled(composing.parsed_sms("{{ link }}, tell us"), {"link": "L"})

    def test_control_characters_stay_behind(self) -> None:
        values = {"link": "L", "responder.name": "A\x00n\x1bn\r\nx\u202e"}
        assert "Ann\nx L" == composing.filled(composing.parsed_sms("{{ responder.name | you }}"), values)

    def test_emoji_that_are_joined_stay_whole(self) -> None:
        family = "👩\u200d👧"
        assert f"{family} L" == composing.filled(composing.parsed_sms(family), {"link": "L"})


class TestForeseen:
    async def test_length_is_shown_before_anything_is_sent(self, client: Client) -> None:
        row = await foreseen(client, "How was it? {{ link }}")
        assert ("gsm7", 1) == (row["encoding"], row["segments"])
        assert f"How was it? {client.queue.house.site.pages('').short_url(composing.SAMPLE_CODE)}" == row["body"]

    async def test_one_character_makes_it_dear(self, client: Client) -> None:
        plain, dear = await foreseen(client, "a" * 100), await foreseen(client, "a" * 99 + "ά")
        assert ("gsm7", 1, "ucs2", 3) == (plain["encoding"], plain["segments"], dear["encoding"], dear["segments"])

    async def test_what_a_person_s_name_does(self, client: Client) -> None:
        body = "Dear {{ responder.first_name | customer }}, how was it? {{ link }}"
        row = await foreseen(client, body, metadata={"responder": {"first_name": "Ελένη"}})
        assert "ucs2" == row["encoding"]

    async def test_mail_has_none(self, client: Client) -> None:
        response = await client.send("POST", f"{client.items}/simulate", [{"responder_channel_identifier": "a@b.gr"}])
        [row] = response.json()["results"]
        assert (None, None) == (row["encoding"], row["segments"])


class TestTargetUrl:
    @pytest.mark.parametrize(
        "target_url", ["http://shop.example/x", "https://127.0.0.1/x", "https://localhost/x", "https://[::1]/"]
    )
    async def test_refused_when_it_is_saved(self, client: Client, target_url: str) -> None:
        path = f"/q/questionnaire/{client.queue.house.questionnaire_id}/pipeline"
        body = {"channel_id": 3, "title": "Hook", "target_url": target_url}
        response = await client.send("POST", path, body)
        assert (422, [("/target_url", "invalid_address")]) == (response.status_code, codes(response))
        made = await client.send("POST", path, {**body, "target_url": "https://shop.example/x"})
        assert 201 == made.status_code, made.text
        one = f"{path}/{made.json()['pipeline_id']}"
        changed = await client.send("PATCH", one, {"target_url": target_url})
        assert (422, [("/target_url", "invalid_address")]) == (changed.status_code, codes(changed))
        assert 200 == (await client.send("PATCH", one, {"title": "Still"})).status_code


def test_the_link_is_a_variable() -> None:
    assert composing.LINK_VARIABLE in placeholders.VARIABLES
