"""Freshdesk: what an automation posts, in its simple form. Freshdesk signs nothing, so the rule sends our secret."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from afterword.core.reading.documents import is_object
from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import SHARED_SECRET, TICKET_WHATS, Happening, SourceKind, What, labels_of
from afterword.core.sources.zendesk import EVENTS, change_of

_DONE: Final = {"resolved", "closed"}
_CHANGE: Final = re.compile(r"\{status:\{from:([^,{}]*),to:([^,{}]*)\}\}")
_PATHS: Final = paths.PATHS["freshdesk"]


def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
    given = paths.document_of(headers, body)
    inner = given.document.get("freshdesk_webhook") if is_object(given.document) else None
    given.document = given.document if inner is None else inner
    given.text("ticket_id", is_required=True)
    name, status = given.text("event | triggered_event"), given.text("ticket_status")
    found = given.happening(
        _PATHS,
        event_id=paths.digest_of(body),
        what=_what(name, status),
        name=name if name in EVENTS else f"ticket {status}".strip(),
    )
    return [found]


def _what(name: str, status: str) -> What:
    """By the rule's own word, else by the change that triggered the rule, else by the status."""
    if name in EVENTS or name == "{ticket_action:created}":
        return EVENTS.get(name, "ticket.created")
    if change := _CHANGE.search(name):
        return change_of(*(text.strip().lower() in _DONE for text in change.groups()))
    return "ticket.solved" if status.lower() in _DONE else "other"


KIND: Final = SourceKind(
    name="freshdesk",
    label="Freshdesk",
    secret_label=SHARED_SECRET,
    verify=signatures.by_header(signatures.SECRET_HEADER, "Authorization"),
    read=read,
    whats=TICKET_WHATS,
    values=labels_of(*_PATHS.texts),
    steps=(
        "In Freshdesk, open Admin, Automations, Ticket updates. Create a rule for a status that changes to Resolved.",
        "Its action triggers a webhook: POST, this URL, JSON, and the header X-Afterword-Secret with this secret.",
        "Choose the simple content. Tick the fields of the ticket, and the name and e-mail of its contact.",
    ),
)
