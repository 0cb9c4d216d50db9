"""Zendesk: what a trigger posts by our template, and events of tickets, which lack the requester's address."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import SIGNING_SECRET, TICKET_WHATS, Happening, NotSigned, SourceKind, What, labels_of
from afterword.errors import Sentence

EVENTS: Final[Mapping[str, What]] = {**{what: what for what in TICKET_WHATS}, "ticket.closed": "ticket.solved"}
_EVENT: Final = "zen:event-type:"
_TIME: Final = "X-Zendesk-Webhook-Signature-Timestamp"
_PATHS: Final = paths.PATHS["zendesk"]
_PLACEHOLDERS: Final = {
    "id": "id", "subject": "title", "status": "status", "group": "group.name", "priority": "priority",
    "type": "ticket_type", "agent": "assignee.name", "brand": "brand.name", "channel": "via", "tags": "tags",
}  # fmt: skip


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: datetime, _url: str) -> None:
    """The base64 of HMAC-SHA256 over time and body (https://developer.zendesk.com/documentation/webhooks/verifying)."""
    given, text = (signatures.required(headers, name) for name in ("X-Zendesk-Webhook-Signature", _TIME))
    signatures.check_any([given], secret.encode(), text.encode("utf-8", "replace") + body)
    time = paths.time_of(text)
    if time is None:
        raise NotSigned(Sentence("The header {name} has no time.", name=_TIME))
    signatures.check_age(time.timestamp(), now)


def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
    given = paths.document_of(headers, body)
    kind = given.text("type")
    name = kind.removeprefix(_EVENT) if kind.startswith(_EVENT) else given.text("event")
    if name and not kind.startswith(_EVENT):  # what its button to test a webhook sends has no event
        given.text("ticket.id", is_required=True)
    what = EVENTS.get(name, "other")
    if name == "ticket.status_changed":
        is_done = [given.text(f"event.{one}").upper() in {"SOLVED", "CLOSED"} for one in ("previous", "current")]
        what = change_of(*is_done)
    found = given.happening(
        _PATHS,
        event_id=given.text("id | header:x-zendesk-webhook-invocation-id") or paths.digest_of(body),
        what=what,
        name=name or "ticket",
        about="" if name.startswith("ticket.") or not kind.startswith(_EVENT) else name.partition(".")[0],
        values={"tags": given.text("detail.tags[]" if kind.startswith(_EVENT) else "ticket.tags")},
    )
    return [found]


def change_of(was_done: bool, is_done: bool) -> What:  # noqa: FBT001
    """Of a ticket that was done, or not: one that is closed days after it was solved is not solved again."""
    return "other" if was_done == is_done else "ticket.solved" if is_done else "ticket.reopened"


def _block(members: Mapping[str, str], before: str) -> str:
    return ",\n".join(f'    "{name}": "{{{{{before}{text}}}}}"' for name, text in members.items())


KIND: Final = SourceKind(
    name="zendesk",
    label="Zendesk",
    secret_label=SIGNING_SECRET,
    verify=verify,
    read=read,
    whats=TICKET_WHATS,
    values=labels_of(*_PATHS.texts, "tags"),
    steps=(
        "In Zendesk, open Admin Center, Apps and integrations, Webhooks.",
        "Create a webhook for triggers: POST, JSON and this URL. Copy its signing secret.",
        "Create a trigger for tickets whose status changes to Solved. Its action notifies the webhook with this body.",
    ),
    template=(
        '{\n  "event": "ticket.solved",\n  "time": "{{ticket.updated_at_with_timestamp}}",\n  "ticket": {\n'
        f'{_block(_PLACEHOLDERS, "ticket.")}\n  }},\n  "requester": {{\n'
        + _block({name: name for name in ("email", "phone", "first_name", "last_name", "locale")}, "ticket.requester.")
        + "\n  }\n}\n"
    ),
)
