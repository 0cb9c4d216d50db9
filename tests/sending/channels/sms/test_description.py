"""Descriptions of a gateway; each refusal is a sentence without its secrets."""

from typing import Any

import pytest

from afterword.sending.channels.sms import gateway
from tests.sending.channels.sms.test_gateway import BODY, RECEIPT, SECRET, described

SIGNED = {"header": "X-Token", "secret": SECRET, "hmac": "sha256"}


class TestSettings:
    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"urll": "x"}, "unknown field"), ({"url": ""}, "url"), ({"method": "DELETE"}, "method"),
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
