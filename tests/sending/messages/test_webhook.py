"""The document for organizations that send themselves: equal in every attempt but its time, with what they need."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from afterword.kit.transport.base import WEBHOOK
from afterword.sending.messages import composing
from tests.sending.messages.test_email import NOW, Pipeline, context_of
from tests.sending.messages.test_email import fresh_cache as fresh_cache  # noqa: PLC0414  a fixture


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
