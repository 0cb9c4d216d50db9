"""A provider of Twilio's shape: requests, error codes, and callbacks whose signature is recomputed from its rules."""

import base64
import json
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from afterword.kit.transport.base import Refused, Sent
from afterword.kit.transport.mime import Report, Unreadable, Unsigned
from afterword.sending.channels.sms import twilio
from afterword.sending.channels.sms.twilio import TwilioChannel
from tests.sending.channels import calls
from tests.sending.channels.calls import TEXT, Begin, kind
from tests.sending.channels.receiver import Receiver, Reply

LOGIN = {"account_sid": "AC123", "auth_token": "12345"}
URL = "https://survey.example.com/inbound/abc?item=0ITEM"


def login(**more: Any) -> dict[str, Any]:
    return {**LOGIN, "sender": "+15005550006", **more}


async def send(receiver: Receiver, **more: Any) -> Any:
    async with calls.calling() as caller:
        channel = TwilioChannel(twilio.settings_of(login(url=receiver.url, **more)), caller=caller)
        return await channel.send(TEXT, begin=Begin())


class TestSettings:
    @pytest.mark.parametrize(
        "document",
        [
            {}, LOGIN, {**LOGIN, "sender": "+1", "messaging_service_sid": "MG1"}, {**login(), "api_key": "SK1"},
            {**login(), "account_sid": "../x"}, {**login(), "more": 1}, {**login(), "auth_token": ""},
            {**login(), "status_url": "https://us.example/x?y=1"},
        ],
    )  # fmt: skip
    def test_refused(self, document: dict[str, Any]) -> None:
        with pytest.raises(ValueError):
            twilio.settings_of(document)


class TestSend:
    async def test_request(self) -> None:
        async with Receiver(Reply(201, b'{"sid": "SM1", "status": "queued", "error_code": null}')) as receiver:
            outcome = await send(receiver, status_url="https://survey.example.com/inbound/abc")
        assert "SM1" == outcome.reference
        (given,) = receiver.given
        assert ("POST", "/2010-04-01/Accounts/AC123/Messages.json") == (given.method, given.target)
        assert "Basic " + base64.b64encode(b"AC123:12345").decode() == given.headers["authorization"]
        assert {
            "To": [TEXT.recipient], "Body": [TEXT.text], "From": ["+15005550006"],
            "StatusCallback": [f"https://survey.example.com/inbound/abc?item={TEXT.item_id}"],
        } == parse_qs(given.body.decode())  # fmt: skip

    async def test_service_and_key(self) -> None:
        async with Receiver(Reply(201, b'{"sid": "SM1"}')) as receiver:
            await send(receiver, sender="", messaging_service_sid="MG1", api_key="SK1", api_secret="s")
        given = receiver.given[0]
        assert "Basic " + base64.b64encode(b"SK1:s").decode() == given.headers["authorization"]
        assert {"To", "Body", "MessagingServiceSid"} == set(parse_qs(given.body.decode()))

    @pytest.mark.parametrize(
        ("status", "code", "expected"),
        [
            (400, 21211, "no address"), (400, 21614, "no address"), (400, 21610, "refused"), (400, 21408, "refused"),
            (400, 21617, "refused"), (400, 21606, "account"), (401, 20003, "account"), (403, 20005, "account"),
            (429, 20429, "throttle"), (400, 21611, "throttle"), (400, 30001, "throttle"), (400, 99999, "refused"),
            (429, None, "throttle"), (503, None, "throttle"), (401, None, "account"), (404, None, "refused"),
            (500, None, "unknown"), (500, 20500, "unknown"), (302, None, "account"),
        ],
    )  # fmt: skip
    async def test_errors(self, status: int, code: int | None, expected: str) -> None:
        body = json.dumps({"code": code, "message": f"The number {TEXT.recipient} is odd", "status": status})
        async with Receiver(Reply(status, body.encode(), {"Retry-After": "7"})) as receiver:
            outcome = await send(receiver)
        assert expected == kind(outcome)
        assert "6912345678" not in outcome.reason
        if expected == "throttle":
            assert 7 == outcome.after_seconds

    async def test_opted_out(self) -> None:
        async with Receiver(Reply(400, b'{"code": 21610}')) as receiver:
            assert Refused("HTTP 400, 21610", 400, is_opt_out=True) == await send(receiver)

    async def test_taken_and_failed_at_once(self) -> None:
        async with Receiver(Reply(201, b'{"sid": "SM1", "status": "failed", "error_code": 21614}')) as receiver:
            assert "no address" == kind(await send(receiver))

    async def test_taken_in_words_of_nobody(self) -> None:
        for body in (b"", b"[]", b"{}", b'{"sid": 5}'):
            async with Receiver(Reply(201, body)) as receiver:
                assert "unknown" == kind(await send(receiver)), body

    async def test_never_repeated(self) -> None:
        async with Receiver(Reply(way="drop")) as receiver:
            assert "unknown" == kind(await send(receiver))


class TestCallback:
    def parse(self, fields: dict[str, str], *, url: str = URL, given: str | None = None) -> list[Report]:
        pairs = list(fields.items())
        signature = twilio.sign(url, pairs, LOGIN["auth_token"]) if given is None else given
        query = url.partition("?")[2]
        headers = {"x-twilio-signature": signature} if signature else {}
        return twilio.parse_callback(headers, query, urlencode(pairs).encode(), URL, twilio.settings_of(login()))

    def test_the_example_of_its_documentation(self) -> None:
        """https://www.twilio.com/docs/usage/security, with the token 12345."""
        fields = {
            "CallSid": "CA1234567890ABCDE", "Caller": "+14158675309", "Digits": "1234", "From": "+14158675309",
            "To": "+18005551212",
        }  # fmt: skip
        url = "https://mycompany.com/myapp.php?foo=1&bar=2"
        assert "RSOYDt4T1cUTdK1PDd93/VVr8B8=" == twilio.sign(url, list(fields.items()), "12345")

    @pytest.mark.parametrize("given", ["", "AAAA", "RSOYDt4T1cUTdK1PDd93/VVr8B8="])
    def test_unsigned(self, given: str) -> None:
        with pytest.raises(Unsigned):
            self.parse({"MessageStatus": "delivered"}, given=given)

    def test_signed_for_another_item(self) -> None:
        with pytest.raises(Unsigned):
            self.parse({"MessageStatus": "delivered"}, url=URL.replace("0ITEM", "0OTHER"))

    def test_with_the_port_that_is_implied(self) -> None:
        assert 1 == len(self.parse({"MessageStatus": "delivered"}, url=URL.replace(".com/", ".com:443/")))

    def test_unreadable(self) -> None:
        with pytest.raises(Unreadable):
            twilio.parse_callback({"x-twilio-signature": "x"}, "", b"\xff=1", URL, twilio.settings_of(login()))

    @pytest.mark.parametrize(
        ("status", "code", "kind", "is_hard"),
        [
            ("delivered", "", "delivered", False), ("read", "", "delivered", False), ("sent", "", "accepted", False),
            ("undelivered", "30003", "failed", False), ("undelivered", "30004", "failed", False),
            ("undelivered", "30005", "failed", True), ("undelivered", "30006", "failed", True),
            ("undelivered", "30007", "failed", False), ("failed", "30008", "failed", False),
            ("failed", "9" * 30, "failed", False), ("failed", "٣", "failed", False),
        ],
    )  # fmt: skip
    def test_states(self, status: str, code: str, kind: str, is_hard: bool) -> None:  # noqa: FBT001
        fields = {"MessageSid": "SM1", "MessageStatus": status, "To": "+306912345678", "ErrorCode": code}
        (report,) = self.parse(fields)
        assert (kind, is_hard, "0ITEM", "SM1") == (
            report.kind, report.is_hard, report.item_id, report.provider_reference
        )  # fmt: skip

    @pytest.mark.parametrize(
        "fields",
        [{"MessageStatus": "queued"}, {"Body": "STOP", "From": "+306912345678"}, {"SmsStatus": "received"}, {}],
    )
    def test_nothing_to_report(self, fields: dict[str, str]) -> None:
        assert [] == self.parse(fields)

    @pytest.mark.parametrize(
        ("fields", "is_stop"),
        [
            ({"Body": "STOP"}, True), ({"Body": " Stop. "}, True), ({"Body": "unsubscribe"}, True),
            ({"Body": "Αρκετά", "OptOutType": "STOP"}, True), ({"Body": "x", "OptOutType": "HELP"}, False),
            ({"Body": "Please stop asking about the bus stop"}, False), ({"Body": "START"}, False),
            ({"Body": ""}, False), ({}, False),
        ],
    )  # fmt: skip
    def test_what_people_write(self, fields: dict[str, str], is_stop: bool) -> None:  # noqa: FBT001
        found = self.parse({"MessageSid": "SM1", "SmsStatus": "received", "From": "+306912345678", **fields})
        assert [("unsubscribed", "+306912345678")] * is_stop == [(one.kind, one.recipient) for one in found]

    def test_a_message_that_failed_since_they_had_opted_out(self) -> None:
        found = self.parse({"MessageStatus": "failed", "To": "+306912345678", "ErrorCode": "21610"})
        assert [("unsubscribed", False), ("failed", False)] == [(one.kind, one.is_hard) for one in found]


def test_refusals_carry_its_code() -> None:
    terms = calls_terms()
    answer = twilio.Answer(400, {}, b'{"code": 21610, "message": "Attempt to send to unsubscribed recipient"}')
    expected = "HTTP 400, 21610: Attempt to send to unsubscribed recipient"
    assert Refused(expected, 400, is_opt_out=True) == twilio.judged(answer, terms)
    assert Sent("SM1", 201, "HTTP 201") == twilio.judged(twilio.Answer(201, {}, b'{"sid": "SM1"}'), terms)


def calls_terms() -> twilio.Terms:
    return twilio.Terms(is_ours=True, may_repeat=False, seconds=1)
