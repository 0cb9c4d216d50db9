"""A gateway that is only described: what it is asked, what its answers and its receipts mean."""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from msgspec.structs import replace

from afterword.kit.transport.base import Fenced, Sent
from afterword.kit.transport.mime import Report, Unreadable, Unsigned
from afterword.sending.channels.sms import gateway
from afterword.sending.channels.sms.gateway import GatewayChannel
from tests.sending.channels import calls
from tests.sending.channels.calls import TEXT, Begin, kind
from tests.sending.channels.receiver import Receiver, Reply

BODY = {"to": "{to}", "text": "{text}"}
SECRET = "a secret of some length"
RECEIPT = {
    "status": "state",
    "states": {"DELIVRD": "delivered", "UNDELIV": "failed", "ABSENT": "no_address", "SENT": "accepted"},
    "id": "client_id",
    "reference": "message_id",
    "recipient": "to",
    "code": "error",
    "signature": {"header": "X-Token", "secret": SECRET},
}

BY_GET = {**RECEIPT, "form": "query", "signature": {"parameter": "token", "secret": SECRET}}
SECRET_IN_A_QUERY = SECRET.replace(" ", "+")


def described(url: str = "https://gateway.example/messages", **more: Any) -> dict[str, Any]:
    return {"url": url, "sender": "Shop", "body": BODY, **more}


async def ask(receiver: Receiver, *, begin: Begin | None = None, **more: Any) -> Any:
    async with calls.calling() as caller:
        channel = GatewayChannel(gateway.settings_of(described(**{"url": receiver.url, **more})), caller=caller)
        return await channel.send(TEXT, begin=begin or Begin())


class TestRequest:
    async def test_json(self) -> None:
        async with Receiver() as receiver:
            body = {"messages": [{"to": "{to_digits}", "from": "{from}", "n": 1, "text": "{text}"}], "ref": "{id}",
                    "kind": "{encoding}/{segments}"}  # fmt: skip
            await ask(receiver, body=body, headers={"Authorization": "Bearer k"})
        (given,) = receiver.given
        one = {"to": "306912345678", "from": "Shop", "n": 1, "text": TEXT.text}
        assert {"messages": [one], "ref": TEXT.item_id, "kind": "ucs2/1"} == json.loads(given.body)
        assert ("Bearer k", "application/json") == (given.headers["authorization"], given.headers["content-type"])

    @pytest.mark.parametrize(("text", "expected"), [("How was it?", "0"), ("Πώς ήταν;", "2")])
    async def test_the_gateways_own_names_of_encodings(self, text: str, expected: str) -> None:
        body = {**BODY, "coding": "{encoding}"}
        async with Receiver() as receiver, calls.calling() as caller:
            document = described(url=receiver.url, body=body, encodings={"gsm7": "0", "ucs2": "2"})
            channel = GatewayChannel(gateway.settings_of(document), caller=caller)
            await channel.send(replace(TEXT, text=text), begin=Begin())
        assert expected == json.loads(receiver.given[0].body)["coding"]

    async def test_form(self) -> None:
        async with Receiver() as receiver:
            await ask(receiver, form="form", body={**BODY, "unicode": 1})
        expected = "to=%2B306912345678&text=%CE%93%CE%B5%CE%B9%CE%B1+100%25+%26+%7Bto%7D%3F&unicode=1"
        assert expected == receiver.given[0].body.decode()

    async def test_everything_in_the_address(self) -> None:
        async with Receiver() as receiver:
            await ask(receiver, method="GET", form="none", body={}, url=f"{receiver.url}/send?to={{to}}&t={{text}}")
        target = "/send?to=%2B306912345678&t=%CE%93%CE%B5%CE%B9%CE%B1%20100%25%20%26%20%7Bto%7D%3F"
        assert ("GET", target, b"") == (receiver.given[0].method, receiver.given[0].target, receiver.given[0].body)

    async def test_a_text_that_no_address_holds(self) -> None:
        """It is refused, and says nothing of the account."""
        begin = Begin()
        async with Receiver() as receiver:
            url = f"{receiver.url}/send?to={{to}}&t={{text}}&c={'x' * 1990}"
            outcome = await ask(receiver, begin=begin, method="GET", form="none", body={}, url=url)
            assert ("refused", 0, []) == (kind(outcome), begin.count, receiver.given)

    async def test_what_was_filled_in_is_not_read_again(self) -> None:
        """The text of the message itself speaks of {to}."""
        async with Receiver() as receiver:
            await ask(receiver)
        assert TEXT.text == json.loads(receiver.given[0].body)["text"]

    async def test_begins_before_the_first_byte_and_may_be_fenced(self) -> None:
        begin = Begin(Fenced())
        async with Receiver() as receiver:
            with pytest.raises(Fenced):
                await ask(receiver, begin=begin)
            assert (1, []) == (begin.count, receiver.given)


class TestAnswers:
    @pytest.mark.parametrize(
        ("status", "body", "expected"),
        [
            (200, {"messages": [{"id": 7, "status": "0"}]}, "sent"),
            (200, {"messages": [{"status": "9", "why": "queue full"}]}, "throttle"),
            (200, {"messages": [{"status": "5"}]}, "no address"), (200, {"messages": [{"status": 4}]}, "refused"),
            (200, {"messages": [{"status": "1"}]}, "recipient"), (200, {"messages": [{"status": "3"}]}, "account"),
            (200, {"messages": [{"status": "77"}]}, "unknown"), (200, "not what it says", "unknown"),
            (200, {"messages": []}, "unknown"), (400, {"messages": [{"status": "9"}]}, "throttle"),
            (400, {"messages": []}, "refused"), (402, {}, "account"), (500, {}, "unknown"), (429, {}, "throttle"),
        ],
    )  # fmt: skip
    async def test_meanings(self, status: int, body: object, expected: str) -> None:
        meanings = {"0": "sent", "9": "throttle", "5": "no_address", "4": "refused", "1": "retry", "3": "account"}
        form = {"reference": "messages.0.id", "status": "messages.0.status", "reason": "messages.0.why",
                "meanings": meanings, "statuses": {"402": "account"}}  # fmt: skip
        async with Receiver(Reply(status, json.dumps(body).encode())) as receiver:
            outcome = await ask(receiver, answer=form)
        assert expected == kind(outcome)
        if expected == "sent":
            assert "7" == outcome.reference

    async def test_without_a_description_the_status_decides(self) -> None:
        async with Receiver(Reply(200, b"OK 12345")) as receiver:
            assert Sent(None, 200, "HTTP 200") == await ask(receiver)

    async def test_addresses_in_its_words_are_masked(self) -> None:
        body = json.dumps({"why": f"bad number {TEXT.recipient} or 306912345678"}).encode()
        async with Receiver(Reply(400, body)) as receiver:
            outcome = await ask(receiver, answer={"reason": "why"})
        assert "refused" == kind(outcome)
        assert "6912345678" not in outcome.reason

    async def test_repeats_only_where_the_gateway_knows_the_id(self) -> None:
        async with Receiver(Reply(way="drop")) as receiver:
            assert "unknown" == kind(await ask(receiver))
            assert "recipient" == kind(await ask(receiver, idempotent=True, body={**BODY, "ref": "{id}"}))


class TestReceipts:
    def parse(self, body: object, *, headers: dict[str, str] | None = None, **more: Any) -> list[Report]:
        settings = gateway.settings_of(described(receipt={**RECEIPT, **more}))
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"x-token": SECRET} if headers is None else headers
        return gateway.parse_callback(given, "", content, "https://x.example", settings)

    def test_none_described(self) -> None:
        with pytest.raises(Unreadable):
            gateway.parse_callback({}, "", b"{}", "", gateway.settings_of(described()))

    @pytest.mark.parametrize("headers", [{}, {"x-token": "another"}, {"x-token": ""}, {"token": SECRET}])
    def test_unsigned(self, headers: dict[str, str]) -> None:
        with pytest.raises(Unsigned):
            self.parse({"state": "DELIVRD", "client_id": "x"}, headers=headers)

    @pytest.mark.parametrize(("encoding", "hash_name"), [("hex", "sha256"), ("base64", "sha512"), ("hex", "sha1")])
    def test_signed_body(self, encoding: str, hash_name: str) -> None:
        body = json.dumps({"state": "DELIVRD", "client_id": "x"}).encode()
        digest = hmac.digest(SECRET.encode(), body, getattr(hashlib, hash_name))
        text = digest.hex() if encoding == "hex" else base64.b64encode(digest).decode()
        signature = {"header": "X-Sig", "secret": SECRET, "hmac": hash_name, "encoding": encoding, "prefix": "v1="}
        assert ["x"] == [r.item_id for r in self.parse(body, headers={"x-sig": f"v1={text}"}, signature=signature)]
        for wrong in (f"v1={text[:-4]}0000", "v1=zz", text[1:], ""):
            with pytest.raises(Unsigned):
                self.parse(body, headers={"x-sig": wrong}, signature=signature)
        with pytest.raises(Unsigned):
            self.parse(body + b" ", headers={"x-sig": f"v1={text}"}, signature=signature)

    @pytest.mark.parametrize(
        "query",
        ["", "token=another", "token=", f"Token={SECRET_IN_A_QUERY}", "&".join(f"a{n}=1" for n in range(300))],
    )
    def test_no_secret_in_the_query(self, query: str) -> None:
        with pytest.raises(Unsigned):
            gateway.parse_callback({"token": SECRET}, query, b"", "", gateway.settings_of(described(receipt=BY_GET)))

    def test_a_secret_in_the_query(self) -> None:
        settings = gateway.settings_of(described(receipt=BY_GET))
        query = f"state=DELIVRD&client_id=item&token={SECRET_IN_A_QUERY}"
        assert ["item"] == [one.item_id for one in gateway.parse_callback({}, query, b"", "", settings)]

    def test_unreadable(self) -> None:
        with pytest.raises(Unreadable):
            self.parse(b"\xff{")

    def test_one(self) -> None:
        document = {"state": "UNDELIV", "client_id": "item", "message_id": 77, "to": "+306912345678", "error": 6}
        expected = Report(
            kind="failed", item_id="item", provider_reference="77", recipient="+306912345678", code="6", text=""
        )
        assert [expected] == self.parse(document)

    def test_nobody_has_that_number(self) -> None:
        (report,) = self.parse({"state": "ABSENT", "client_id": "item"})
        assert ("failed", True) == (report.kind, report.is_hard)

    def test_a_state_between_is_passed_over(self) -> None:
        assert [] == self.parse({"state": "BUFFERED", "client_id": "item"})

    def test_several(self) -> None:
        body = {
            "results": [{"state": "DELIVRD", "client_id": "a"}, {"state": "?"}, {"state": "SENT", "client_id": "b"}]
        }
        found = self.parse(body, list="results")
        assert [("a", "delivered"), ("b", "accepted")] == [(report.item_id, report.kind) for report in found]

    def test_form_and_query(self) -> None:
        assert ["x"] == [r.item_id for r in self.parse(b"state=DELIVRD&client_id=x", form="form")]
        settings = gateway.settings_of(described(receipt={**RECEIPT, "form": "query"}))
        found = gateway.parse_callback({"x-token": SECRET}, "state=DELIVRD&client_id=x", b"", "", settings)
        assert ["x"] == [report.item_id for report in found]

    @pytest.mark.parametrize("body", [[], "text", 5, None, {"state": {"a": 1}}, {"state": ["DELIVRD"]}])
    def test_other_shapes_report_nothing(self, body: object) -> None:
        assert [] == self.parse(body)


SIGNED = {"header": "X-Token", "secret": SECRET, "hmac": "sha256"}


class TestSettings:
    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"urll": "x"}, "urll: There is no such member"), ({"url": ""}, "url"), ({"method": "DELETE"}, "method"),
            ({"seconds": 500}, "seconds"), ({"body": {"to": "{to}", "text": "{txt}"}}, "no placeholder {txt}"),
            ({"body": {"text": "{text}"}}, "{to}"), ({"body": {"to": "{to}"}}, "{text}"), ({"body": {}}, "must carry"),
            ({"form": "none"}, "no body|has a body"),
            ({"form": "form", "body": {**BODY, "a": {"b": 1}}}, "plain values"),
            ({"idempotent": True}, "told the {id}"), ({"answer": {"meanings": {"0": "sent"}}}, "answer.status"),
            ({"answer": {"statuses": {"4xx": "refused"}}}, "three digits"),
            ({"answer": {"statuses": {"402": "x"}}}, "x"),
            ({"headers": {"X": "a\r\nb"}}, "cannot be sent"), ({"headers": {"X": "ü"}}, "cannot be sent"),
            ({"headers": {"X Y": "a"}}, "name of a header"), ({"headers": {"": "a"}}, "headers|header"),
            ({"headers": {"X": "{from}"}, "sender": "Çay"}, "cannot be sent"),
            ({"headers": {"X": "{text}"}}, "does not take every character"),
            ({"receipt": {**RECEIPT, "id": None, "reference": None}}, "tell its message"),
            ({"receipt": {**RECEIPT, "signature": {"header": "X", "secret": "short"}}}, "secret"),
            ({"receipt": {**RECEIPT, "form": "query", "signature": SIGNED}}, "no body"),
            ({"receipt": {**RECEIPT, "signature": {"secret": SECRET}}}, "header or parameter, one of them"),
            ({"receipt": {**RECEIPT, "signature": {"header": "X", "parameter": "x", "secret": SECRET}}}, "one of them"),
            ({"receipt": {**RECEIPT, "signature": {"parameter": "x", "secret": SECRET}}}, "the query alone"),
            ({"encodings": {"gsm7": "0"}}, "each of gsm7 and ucs2"), ({"encodings": {"utf8": "0"}}, "utf8"),
            ({"url": "https://{to}.example/{text}"}, "host of the url is fixed"),
            ({"body": {"a": [[[[[[[[[["{to}{text}"]]]]]]]]]]}}, "deeper"),
        ],
    )  # fmt: skip
    def test_refused(self, more: dict[str, Any], words: str) -> None:
        with pytest.raises(ValueError) as refused:
            gateway.settings_of(described(**more))
        assert any(word in str(refused.value) for word in words.split("|")), refused.value
        assert SECRET not in str(refused.value)
