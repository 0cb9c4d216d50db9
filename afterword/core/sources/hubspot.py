"""HubSpot: what a workflow posts, with properties by their internal names, and events of an app, which have none.

An app's events are signed (version 3); a workflow may be, or sends our secret as its API key.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from afterword.core.reading.documents import is_array
from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import (
    CLIENT_SECRET,
    ORDER_WHATS,
    TICKET_WHATS,
    Happening,
    SourceKind,
    What,
    labels_of,
)
from afterword.core.sources.zendesk import EVENTS

_EVENTS: Final[Mapping[str, What]] = {
    **EVENTS,
    **{what: what for what in ORDER_WHATS},
    "customer.created": "customer.created",
    "contact.creation": "customer.created",
    "ticket.creation": "ticket.created",
    "object.creation 0-1": "customer.created",  # ids of types: contacts, tickets
    "object.creation 0-5": "ticket.created",
}
_SORTS: Final = {"0-1": "contact", "0-3": "deal", "0-5": "ticket", "customer": "contact", "order": "deal"}
_PATHS: Final = paths.PATHS["hubspot"]
_DECODED: Final = re.compile(r"%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)", re.IGNORECASE)
_TIME: Final = "X-HubSpot-Request-Timestamp"
_by_header: Final = signatures.by_header(signatures.SECRET_HEADER, "Authorization")


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: datetime, url: str) -> None:
    """Version 3: the base64 of HMAC-SHA256 over method, address, body and time.

    The address has some signs decoded (https://developers.hubspot.com/docs/apps/developer-platform/build-apps/
    authentication/request-validation).
    """
    if "x-hubspot-signature-v3" not in headers and signatures.SECRET_HEADER.lower() in headers:
        _by_header(secret, headers, body, now, url)
        return
    given, time = (signatures.required(headers, name) for name in ("X-HubSpot-Signature-v3", _TIME))
    signatures.check_age(signatures.unix_seconds(time, _TIME) / 1000, now)
    address = _DECODED.sub(lambda found: chr(int(found[1], 16)), url)
    signatures.check_any([given], secret.encode(), f"POST{address}".encode() + body + time.encode())


def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
    given = paths.document_of(headers, body)
    entries = given.document if is_array(given.document) else [given.document]
    return [_happening(paths.Document(headers, entry), body) for entry in entries[: paths.ENTRIES_MAX]]


def _happening(given: paths.Document, body: bytes) -> Happening:
    name = given.text("event | subscriptionType")
    own = given.text("eventId")  # not unique by itself
    number = given.text("objectId | hs_object_id | hs_ticket_id", is_required=bool(own))
    typed = f"{name} {given.text('objectTypeId')}".strip()
    what = _EVENTS.get(name) or _EVENTS.get(typed, "other")
    if given.text("propertyName") == "closed_date":  # of a ticket, in whatever pipeline
        what = "ticket.solved" if given.text("propertyValue") else "ticket.reopened"
    told = given.text("objectTypeId") or (name if what == "other" else what).partition(".")[0]
    sort = "ticket" if given.text("hs_ticket_id") else _SORTS.get(told, told or "workflow")
    return given.happening(
        _PATHS,
        event_id=f"{number} " + (f"{own} {given.text('subscriptionId')}" if own else paths.digest_of(body)),
        what=what,
        name=f"{name or 'workflow'} {given.text('propertyName')}".strip(),
        about="" if sort == "ticket" else sort,
    )


KIND: Final = SourceKind(
    name="hubspot",
    label="HubSpot",
    secret_label=CLIENT_SECRET,
    verify=verify,
    read=read,
    whats=(*TICKET_WHATS, *ORDER_WHATS, "customer.created"),
    values=labels_of(*_PATHS.texts, *_PATHS.numbers),
    steps=(
        "In HubSpot, create a workflow with the action Send a webhook: POST and this URL.",
        "Sign it with the client secret of your app, or choose an API key in the header X-Afterword-Secret.",
        "Customize the request body: event is ticket.solved. Add the properties that the documentation lists.",
    ),
)
