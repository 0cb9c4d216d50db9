"""The requests by which an answer becomes a private note where the order or ticket lives. They hold no secret.

The caller adds the address of the account and its token. Shopify gets fields of its own beside the order, since a note
of an order is one text that the shop's people write: a new one would replace theirs.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from afterword.errors import Invalid

COMMENT_CHARACTERS_MAX: Final = 5_000
SHOPIFY_VERSION: Final = "2026-10"  # of its API; an expired one answers as the oldest that still holds
HUBSPOT_TYPES: Final = {"contact": 202, "deal": 214, "ticket": 228}  # of the association from a note
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_SET: Final = """mutation AnswerFields($fields: [MetafieldsSetInput!]!) {
  metafieldsSet(metafields: $fields) { metafields { id } userErrors { field message } }
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`object_id`: the sender's own id of the order or ticket. `score`: as people read it, such as 3 of 10."""

    object_id: str
    title: str  # of the questionnaire
    score: str
    comment: str
    link: str
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRequest:
    """`path`: below the address of the account. `authorization`: the form in which its token goes."""

    method: Literal["POST", "PUT"]
    path: str
    document: Mapping[str, object]
    authorization: Literal["basic", "bearer", "X-Shopify-Access-Token"]


def zendesk(answer: Answer) -> NoteRequest:
    """A comment that agents alone see. A ticket that is closed, days after it was solved, takes none: 422."""
    comment = {"body": _text(answer), "public": False}
    path = f"/api/v2/tickets/{_id(answer)}.json"
    return NoteRequest(method="PUT", path=path, document={"ticket": {"comment": comment}}, authorization="basic")


def freshdesk(answer: Answer) -> NoteRequest:
    path = f"/api/v2/tickets/{_id(answer)}/notes"
    document = {"body": _html(answer), "private": True}
    return NoteRequest(method="POST", path=path, document=document, authorization="basic")


def hubspot(answer: Answer, kind: str = "ticket") -> NoteRequest:
    """`kind`: of the object that the id is of, one of HUBSPOT_TYPES."""
    types = [{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": HUBSPOT_TYPES[kind]}]
    time = answer.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {
        "properties": {"hs_timestamp": time, "hs_note_body": _html(answer)},
        "associations": [{"to": {"id": _id(answer)}, "types": types}],
    }
    return NoteRequest(method="POST", path="/crm/v3/objects/notes", document=document, authorization="bearer")


def shopify(answer: Answer) -> NoteRequest:
    """Three fields in the name space `afterword` of the order; a later answer replaces them."""
    owner = f"gid://shopify/Order/{_id(answer)}"
    kinds = {
        "score": ("single_line_text_field", _line(answer.score)),
        "comment": ("multi_line_text_field", _comment(answer)),
        "link": ("url", answer.link),
    }
    fields = [
        {"ownerId": owner, "namespace": "afterword", "key": key, "type": kind, "value": value}
        for key, (kind, value) in kinds.items()
        if value  # an empty field is refused
    ]
    path = f"/admin/api/{SHOPIFY_VERSION}/graphql.json"
    document = {"query": _SET, "variables": {"fields": fields}}
    return NoteRequest(method="POST", path=path, document=document, authorization="X-Shopify-Access-Token")


NOTES: Final[Mapping[str, Callable[[Answer], NoteRequest]]] = {
    "zendesk": zendesk, "freshdesk": freshdesk, "hubspot": hubspot, "shopify": shopify
}  # fmt: skip


def _id(answer: Answer) -> str:
    """The id for a path. Raises Invalid for what could lead to another place."""
    if not _ID.match(answer.object_id):
        raise Invalid.at("/object_id", "invalid_format", "An id of the other system is expected.")
    return answer.object_id


def _comment(answer: Answer) -> str:
    text = answer.comment.strip()
    return text if len(text) <= COMMENT_CHARACTERS_MAX else f"{text[: COMMENT_CHARACTERS_MAX - 1]}…"


def _line(text: str) -> str:
    return " ".join(text.split())


def _text(answer: Answer) -> str:
    parts = (f"{_line(answer.title)}: {_line(answer.score)}", _comment(answer), answer.link)
    return "\n\n".join(part for part in parts if part)


def _html(answer: Answer) -> str:
    """The customer's words are text, never tags."""
    lines = [html.escape(part) for part in _text(answer).split("\n\n")]
    link = html.escape(answer.link)
    lines[-1:] = [f'<a href="{link}">{link}</a>'] if link else lines[-1:]
    return "".join(f"<p>{line}</p>" for line in lines).replace("\n", "<br>")
