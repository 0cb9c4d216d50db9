"""Notes of answers: no id leads elsewhere, no word of a customer becomes a tag, and each system gets its own form."""

import json
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qs

import pytest
from msgspec.structs import replace

from afterword.core.sources import KINDS, notes
from afterword.core.sources.notes import LABELS, NOTES, Note
from afterword.errors import Invalid

LINK = "https://feedback.example.com/console/responses/r1?a=1&b=2"
NOTE = Note(
    object_id="35436",
    what="ticket.solved",
    title="After delivery",
    score="3 / 10",
    comment='Late again.\n<b onclick="x">Why?</b> & "how" {id}',
    time=datetime(2026, 11, 29, 14, 0, tzinfo=timezone(timedelta(hours=2))),
)
EACH = pytest.mark.parametrize("name", NOTES)


def written(name: str, note: Note = NOTE) -> tuple[str, str, Any]:
    method, path, body = notes.request_of(NOTES[name].write, note, LINK)
    return method, path, json.loads(body)


@EACH
@pytest.mark.parametrize(
    "object_id",
    ["", "1/../2", "1?x", "1.json", "1 2", "..", "é", "1\n", "a" * 65, '1"', "deal ", "deal 1/2", "user 1", "deal  1"],
)
def test_ids_that_lead_elsewhere(name: str, object_id: str) -> None:
    for template in filter(None, (NOTES[name].write, NOTES[name].find)):
        with pytest.raises(Invalid) as caught:
            notes.request_of(template, replace(NOTE, object_id=object_id), LINK)
        assert ["/object_id"] == [each.pointer for each in caught.value.errors]


def test_ids_with_their_sort() -> None:
    for what, object_id in (("customer.created", "contact 7"), ("order.paid", "deal 7"), ("ticket.solved", "7")):
        _, path, body = written("hubspot", replace(NOTE, what=what, object_id=object_id))
        assert "7" == body["associations"][0]["to"]["id"]
        assert " " not in path


@EACH
def test_each(name: str) -> None:
    """Known kinds, whose note has the score, the words and the link, and nothing that was filled twice."""
    assert name in KINDS
    assert name in LABELS
    text = json.dumps(written(name)[2])
    assert all(part in text for part in ("3 / 10", "Late again.", "feedback.example.com", "{id}"))


@EACH
def test_without_score_and_comment(name: str) -> None:
    text = json.dumps(written(name, replace(NOTE, score="", comment=" \n"))[2])
    assert "<p></p>" not in text
    assert '"value": ""' not in text


@EACH
def test_long_comment(name: str) -> None:
    text = json.dumps(written(name, replace(NOTE, comment="é" * 9_000))[2], ensure_ascii=False)
    assert f"{'é' * 4_999}…" in text
    assert "é" * 5_000 not in text


def test_zendesk() -> None:
    method, path, document = written("zendesk")
    assert ("PUT", "/api/v2/tickets/35436.json") == (method, path)
    comment = document["ticket"]["comment"]
    assert comment["public"] is False
    assert comment["body"].startswith("After delivery: 3 / 10\n\nLate again.\n<b onclick")
    assert comment["body"].endswith(f"\n\n{LINK}")


def test_freshdesk() -> None:
    method, path, document = written("freshdesk", replace(NOTE, comment="One.\n\n<i>Two</i>\nThree."))
    assert ("POST", "/api/v2/tickets/35436/notes") == (method, path)
    link = LINK.replace("&", "&amp;")
    assert {
        "private": True,
        "body": "<p>After delivery: 3 / 10</p><p>One.</p><p>&lt;i&gt;Two&lt;/i&gt;<br>Three.</p>"
        f'<p><a href="{link}">{link}</a></p>',
    } == document


@pytest.mark.parametrize(
    ("what", "name", "type_id"),
    [("ticket.solved", "ticket", 228), ("order.paid", "deal", 214), ("customer.created", "contact", 202)],
)
def test_hubspot(what: Any, name: str, type_id: int) -> None:
    note = replace(NOTE, what=what)
    method, path, document = written("hubspot", note)
    assert ("POST", "/crm/v3/objects/notes") == (method, path)
    assert "2026-11-29T12:00:00Z" == document["properties"]["hs_timestamp"]
    types = [{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": type_id}]
    assert [{"to": {"id": "35436"}, "types": types}] == document["associations"]
    assert NOTES["hubspot"].find is not None
    searched = json.loads(notes.request_of(NOTES["hubspot"].find, note, LINK)[2])
    wanted = {"propertyName": f"associations.{name}", "operator": "EQ", "value": "35436"}
    assert [{"filters": [wanted]}] == searched["filterGroups"]


def test_shopify() -> None:
    fields = written("shopify")[2]["variables"]["fields"]
    assert {("gid://shopify/Order/35436", "afterword")} == {(one["ownerId"], one["namespace"]) for one in fields}
    assert {"score": "3 / 10", "comment": NOTE.comment, "link": LINK} == {one["key"]: one["value"] for one in fields}
    assert {} == {name: kind for name, kind in NOTES.items() if kind.find is None and name != "shopify"}


def test_woocommerce() -> None:
    assert written("woocommerce")[2]["customer_note"] is False


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("zendesk", '{"user":{"id":null,"role":"end-user"}}', 403),
        ("zendesk", '{"user":{"id":7,"role":"agent"}}', 200),
        ("zendesk", r'{"body":"\"role\":\"end-user\""}', 200),
        ("shopify", '{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}]}', 429),
        ("shopify", '{"errors":[{"message":"No","extensions":{"code":"ACCESS_DENIED"}}]}', 403),
        ("shopify", '{"errors":"[API] Invalid"}', 400),
        ("shopify", '{"data":{"metafieldsSet":{"userErrors":[{"message":"Owner does not exist."}]}}}', 404),
        ("shopify", '{"data":{"metafieldsSet":{"userErrors":[{"message":"Value is too long."}]}}}', 400),
        ("shopify", '{"data":{"metafieldsSet":{"userErrors":[]}}}', 200),
        ("shopify", '{"data":{"currentAppInstallation":{"accessScopes":[{"handle":"read_orders"}]}}}', 403),
        ("shopify", '{"data":{"currentAppInstallation":{"accessScopes":[\n{"handle":"write_orders"}]}}}', 200),
        ("freshdesk", '{"errors":[]}', 200),
    ],
)
def test_meaning_of_an_answer(name: str, body: str, expected: int) -> None:
    assert expected == NOTES[name].status_of(200, body.encode())
    assert 503 == NOTES[name].status_of(503, body.encode())


@pytest.mark.parametrize(
    ("name", "user", "expected"),
    [
        ("zendesk", "", {"Authorization": "Bearer t"}),
        ("zendesk", "ann@example.com", {"Authorization": "Basic YW5uQGV4YW1wbGUuY29tL3Rva2VuOnQ="}),
        ("freshdesk", "", {"Authorization": "Basic dDpY"}),
        ("hubspot", "", {"Authorization": "Bearer t"}),
        ("shopify", "", {"X-Shopify-Access-Token": "t"}),
        ("woocommerce", "ck", {"Authorization": "Basic Y2s6dA=="}),
    ],
)
def test_headers(name: str, user: str, expected: dict[str, str]) -> None:
    assert expected == notes.headers_of(name, user, "t")


@pytest.mark.parametrize(
    ("name", "user", "scope"),
    [("zendesk", "client", "read write"), ("shopify", "client", None), ("zendesk", "ann@example.com", ""),
     ("shopify", "", ""), ("woocommerce", "ck", ""), ("hubspot", "x", "")],
)  # fmt: skip
def test_grant(name: str, user: str, scope: str | None) -> None:
    """An OAuth client is exchanged for a token; an agent's address and a token of an app are not."""
    asked = notes.grant_of(NOTES[name], user, "secret")
    assert (scope == "") == (asked is None)
    if asked is not None:
        form = {key: texts[0] for key, texts in parse_qs(asked[2]).items()}
        given = {"grant_type": "client_credentials", "client_id": user, "client_secret": "secret"}
        assert given | ({"scope": scope} if scope else {}) == form
