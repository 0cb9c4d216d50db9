"""The text of an SMS, its length before it is sent, and the document of a webhook pipeline's address."""

from typing import Any

import pytest

from afterword.core.text import placeholders
from afterword.sending.messages import composing
from tests.sending.queue.conftest import SMS, Client, codes

PHONE = "+306912345678"


async def foreseen(client: Client, body: str, **row: Any) -> dict[str, Any]:
    queue = await client.queue.pipeline(
        questionnaire_id=client.queue.house.questionnaire_id, channel_id=SMS, title="SMS", message_body=body
    )
    path = Client(client.http, queue).items
    rows = [{"responder_channel_identifier": PHONE, **row}]
    response = await client.send("POST", f"{path}/simulate", rows)
    assert 200 == response.status_code, response.text
    return response.json()["results"][0]


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
