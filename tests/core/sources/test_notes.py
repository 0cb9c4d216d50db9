"""Notes of answers: no id leads elsewhere, no word of a customer becomes a tag, and each system gets its own form."""

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from afterword.core.sources import KINDS, notes
from afterword.core.sources.notes import NOTES, Answer
from afterword.errors import Invalid

ANSWER = Answer(
    object_id="35436",
    title="After delivery",
    score="3 of 10",
    comment='Late again.\n<b onclick="x">Why?</b> & "how"',
    link="https://feedback.example.com/console/responses/r1?a=1&b=2",
    time=datetime(2026, 11, 29, 14, 0, tzinfo=timezone(timedelta(hours=2))),
)
EACH = pytest.mark.parametrize("name", NOTES)


@EACH
@pytest.mark.parametrize("object_id", ["", "1/../2", "1?x", "1.json", "1 2", "..", "é", "1\n", "a" * 65])
def test_ids_that_lead_elsewhere(name: str, object_id: str) -> None:
    with pytest.raises(Invalid) as caught:
        NOTES[name](replace(ANSWER, object_id=object_id))
    assert ["/object_id"] == [each.pointer for each in caught.value.errors]


@EACH
def test_each(name: str) -> None:
    """Known kinds, a path below the account, and JSON that holds score, words and link."""
    assert name in KINDS
    request = NOTES[name](ANSWER)
    text = json.dumps(request.document)
    assert re.fullmatch(r"/[\w./-]+", request.path)
    assert ".." not in request.path
    assert all(part in text for part in ("3 of 10", "Late again.", "feedback.example.com"))


@EACH
def test_without_a_comment(name: str) -> None:
    text = json.dumps(NOTES[name](replace(ANSWER, comment=" \n")).document)
    assert "3 of 10" in text
    assert "<p></p>" not in text
    assert '"value": ""' not in text


@EACH
def test_long_comment(name: str) -> None:
    text = json.dumps(NOTES[name](replace(ANSWER, comment="é" * 9_000)).document, ensure_ascii=False)
    assert f"{'é' * 4_999}…" in text
    assert "é" * 5_000 not in text


def test_zendesk() -> None:
    request = notes.zendesk(ANSWER)
    assert ("PUT", "/api/v2/tickets/35436.json", "basic") == (request.method, request.path, request.authorization)
    comment: Any = request.document["ticket"]
    assert comment["comment"]["public"] is False
    assert comment["comment"]["body"].startswith("After delivery: 3 of 10\n\nLate again.\n<b onclick")


def test_freshdesk() -> None:
    request = notes.freshdesk(ANSWER)
    assert ("POST", "/api/v2/tickets/35436/notes", "basic") == (request.method, request.path, request.authorization)
    assert {
        "private": True,
        "body": "<p>After delivery: 3 of 10</p>"
        "<p>Late again.<br>&lt;b onclick=&quot;x&quot;&gt;Why?&lt;/b&gt; &amp; &quot;how&quot;</p>"
        '<p><a href="https://feedback.example.com/console/responses/r1?a=1&amp;b=2">'
        "https://feedback.example.com/console/responses/r1?a=1&amp;b=2</a></p>",
    } == request.document


def test_paragraphs_of_a_comment() -> None:
    body = notes.freshdesk(replace(ANSWER, comment="One.\n\nTwo.", link="")).document["body"]
    assert "<p>After delivery: 3 of 10</p><p>One.</p><p>Two.</p>" == body


@pytest.mark.parametrize(("kind", "type_id"), notes.HUBSPOT_TYPES.items())
def test_hubspot(kind: str, type_id: int) -> None:
    request = notes.hubspot(ANSWER, kind)
    document: Any = request.document
    assert ("POST", "/crm/v3/objects/notes", "bearer") == (request.method, request.path, request.authorization)
    assert "2026-11-29T12:00:00Z" == document["properties"]["hs_timestamp"]
    assert "<b onclick" not in document["properties"]["hs_note_body"]
    types = [{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": type_id}]
    assert [{"to": {"id": "35436"}, "types": types}] == document["associations"]


def test_shopify() -> None:
    request = notes.shopify(ANSWER)
    fields: Any = request.document["variables"]
    assert ("POST", "X-Shopify-Access-Token") == (request.method, request.authorization)
    assert {"score", "comment", "link"} == {each["key"] for each in fields["fields"]}
    assert {("gid://shopify/Order/35436", "afterword")} == {
        (each["ownerId"], each["namespace"]) for each in fields["fields"]
    }
