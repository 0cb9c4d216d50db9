"""Notes: how an answer is written to the ticket, order or contact that it is about, where only colleagues read it.

`notes.toml` has the requests of each system. Shopify gets fields of its own beside the order: the note of an order is
one text that the shop's people write, and a new one would replace theirs.
"""

import base64
import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, get_args
from urllib.parse import urlencode

import msgspec

from afterword.core import toml
from afterword.core.sources.parts import CLIENT_SECRET, What
from afterword.core.text.locales import Marked
from afterword.errors import Invalid

COMMENT_CHARACTERS_MAX: Final = 5_000
NOTHING: Final = "-"  # Shopify refuses an empty field
OBJECT_ID: Final = "(?:contact |deal )?[A-Za-z0-9_-]{1,64}"
HUBSPOT_TYPES: Final = {"customer": ("contact", 202), "order": ("deal", 214), "ticket": ("ticket", 228)}
SAYS: Final[Mapping[int, Marked]] = {
    3: "The address leads to another one. Enter that one.", 5: "The system has a fault of its own.",
    400: "The system refused the note.", 401: "The token was refused. Enter it again, or make a new one.",
    403: "The token has no right to write notes.", 404: "The ticket or order does not exist there.",
    422: "The ticket or order takes no more notes.", 429: "The system asks to wait.",
}  # fmt: skip
# Of each system: the names of the user and of the token, and where they are made.
LABELS: Final[Mapping[str, tuple[Marked, Marked, Marked]]] = {
    "zendesk": ("Client ID", CLIENT_SECRET, "In Admin Center, open APIs, OAuth clients. Add a confidential client."),
    "freshdesk": ("", "API key", "In Freshdesk, an agent finds the API key in the profile settings."),
    "hubspot": ("", "Access token", "In HubSpot, make a private app that may write contacts, deals and tickets."),
    "shopify": ("Client ID", CLIENT_SECRET, "In Shopify, make an app with write_orders and install it."),
    "woocommerce": ("Consumer key", "Consumer secret",
                    "In WooCommerce, open Settings, Advanced, REST API. Add a key to read and write."),
}  # fmt: skip


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """`object_id`: the other system's own, of the thing that an event of the sort `what` is about."""

    object_id: str
    what: What
    title: str  # of the questionnaire
    score: str  # as people read it, such as 3 / 10
    comment: str
    time: datetime


Request = tuple[str, str, str]  # method, path below the address of the account, body


class NoteKind(msgspec.Struct, frozen=True, kw_only=True):
    """One system. `host`: the end of the host of each account; `address`: of all accounts."""

    whats: tuple[str, ...]
    write: Request
    check: Request
    find: Request | None = None
    grant: str = ""
    grant_scope: str = ""
    needs_user: bool = False
    host: str = ""
    address: str = ""
    means: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])

    def status_of(self, status: int, body: bytes) -> int:
        """The status; of an answer of 200 the one that its content means."""
        text = body.decode("utf-8", "replace") if status == 200 else ""  # noqa: PLR2004
        return next((means for said, means in self.means.items() if re.search(said, text, re.DOTALL)), status)


NOTES: Final = msgspec.convert(toml.tables_of(__name__), dict[str, NoteKind])
NOTED: Final = [f"{name} {what}" for name in NOTES for what in get_args(What) if what.startswith(NOTES[name].whats)]


def request_of(template: Request, note: Note, link: str) -> Request:
    """Raises Invalid for an id that could lead to another place."""
    if not re.fullmatch(OBJECT_ID, note.object_id):
        raise Invalid.at("/object_id", "invalid_format", "An id of the other system is expected.")
    method, path, body = template
    number = note.object_id.rpartition(" ")[2]
    words, (kind, association) = note.comment.strip(), HUBSPOT_TYPES[note.what.partition(".")[0]]
    comment = words if len(words) <= COMMENT_CHARACTERS_MAX else f"{words[: COMMENT_CHARACTERS_MAX - 1]}…"
    parts = [part for part in (f"{note.title}: {note.score or NOTHING}", comment) if part]
    shown = html.escape(link)
    paragraphs = [*html.escape("\n\n".join(parts)).split("\n\n"), f'<a href="{shown}">{shown}</a>']
    values = {
        "id": number,
        "text": "\n\n".join([*parts, link]),
        "html": "".join(f"<p>{one}</p>" for one in paragraphs).replace("\n", "<br>"),
        "score": note.score or NOTHING,
        "comment": comment or NOTHING,
        "link": link,
        "time": note.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "owner": f"gid://shopify/Order/{number}",
        "type": f"associations.{kind}",
        "association": association,
    }
    filled = re.sub(r"\{(\w+)\}", lambda found: msgspec.json.encode(values[found[1]]).decode(), body)
    return method, path.replace("{id}", number), filled


def grant_of(kind: NoteKind, user: str, token: str) -> Request | None:
    """The request for a token, a form, where these are the id and secret of an OAuth client (RFC 6749, 4.4)."""
    if not kind.grant or not user or "@" in user:
        return None
    asked = {"grant_type": "client_credentials", "client_id": user, "client_secret": token, "scope": kind.grant_scope}
    return "POST", kind.grant, urlencode({name: text for name, text in asked.items() if text})


def headers_of(name: str, user: str, token: str) -> Mapping[str, str]:
    """`user`: none with a token that was granted."""
    if name == "shopify":
        return {"X-Shopify-Access-Token": token}
    if name == "freshdesk":
        user, token = token, "X"
    elif name == "zendesk" and user:  # the address of an agent, with an API token of the older sort
        user = f"{user}/token"
    basic = base64.b64encode(f"{user}:{token}".encode()).decode()
    return {"Authorization": f"Basic {basic}" if user else f"Bearer {token}"}
