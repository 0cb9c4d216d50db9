"""The unsubscribe page: GET asks, POST unsubscribes; also the target of one-click unsubscribe (RFC 8058)."""

from typing import Final, NamedTuple
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.core.answers.suspicion import is_token, token_of
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import read_address
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.texts import Texts, accepted, texts
from afterword.kit.web import public, static, uploads
from afterword.kit.web.routing import Pages
from afterword.people.responders import service, store
from afterword.people.responders.store import Address
from afterword.tenants.organizations import service as accounts

PURPOSE: Final = "unsubscribe"
ONE_CLICK: Final = ("List-Unsubscribe", "One-Click")
FIELDS_MAX: Final = 20
HINT_CHARACTERS: Final = 3

routes = Pages()


@routes.get("/u/{unsubscribe_id}", for_people=True)
async def unsubscribe_page(request: Request) -> Response:
    """Ask for confirmation, or show that the address is unsubscribed."""
    unsubscribe_id: str = request.path_params["unsubscribe_id"]
    async with db.connection(request.state.pool) as database:
        address = await _address(database, unsubscribe_id)
        now = database.clock.now()
        suppressions = await store.list_suppressions_for(database, addresses=[address.id], now=now)
        look = await _look(request, database, address)
    if suppressions:
        return _done_page(address, look)
    return _ask_page(request.state.site, address, look)


@routes.post("/u/{unsubscribe_id}", for_people=True)
async def unsubscribe(request: Request) -> Response:
    """Suppress the address, from our page or by one click of a mail reader. Repeatable, without a cookie."""
    unsubscribe_id: str = request.path_params["unsubscribe_id"]
    fields = _fields(await public.read_body(request), request.headers.get("content-type", ""))
    site: Site = request.state.site
    token = next(iter(fields.get("token", ())), "")
    is_ours = is_token(token, secret=site.secret, purpose=PURPOSE, subject=unsubscribe_id)
    async with db.transaction(request.state.pool) as database:
        address = await _address(database, unsubscribe_id)
        look = await _look(request, database, address)
        if not is_ours and ONE_CLICK[1] not in fields.get(ONE_CLICK[0], ()):
            return _ask_page(site, address, look, status=422)  # a POST without the page's token
        await service.unsubscribe(database, address=address, now=database.clock.now())
    return _done_page(address, look)


async def _address(database: db.Database, unsubscribe_id: str) -> Address:
    if not ids.is_id(unsubscribe_id):
        raise errors.NotFound("There is no such page.")
    address = await store.get_address_by_unsubscribe_id(database, unsubscribe_id=unsubscribe_id)
    return errors.found(address, "There is no such page.")


class Look(NamedTuple):
    """The texts of the page, and the sender's name, stylesheet and logo."""

    words: Texts
    brand: str
    theme_url: str
    logo_url: str


async def _look(request: Request, database: db.Database, address: Address) -> Look:
    """In the responder's language, if it is known, else in that of the browser."""
    organization = await accounts.get_organization(database, organization_id=address.organization_id)
    responder = await store.get_responder(
        database, organization_id=address.organization_id, responder_id=address.responder_id
    )
    locale = (
        responder.locale if responder and responder.locale else accepted(request.headers.get("accept-language", ""))
    )
    theme = visuals.inherited(organization.brand if organization else None)
    logo = theme.logo if theme.logo is not None and read_address(theme.logo) is not None else ""
    name = organization.display_name if organization else ""
    return Look(texts(public.DOMAIN, locale), name, static.theme_url(theme), logo)


def _ask_page(site: Site, address: Address, look: Look, *, status: int = 200) -> Response:
    unsubscribe_id, words = address.unsubscribe_id, look.words
    return public.message_page(
        **look._asdict(),
        title=words("Stop these messages?"),
        paragraphs=[
            words(
                "{name} will not send questionnaires to {address} any more.",
                name=look.brand,
                address=_hint(address.identifier),
            )
        ],
        button=public.Button(
            f"/u/{unsubscribe_id}", token_of(site.secret, PURPOSE, unsubscribe_id), words("Unsubscribe")
        ),
        status=status,
    )


def _done_page(address: Address, look: Look) -> Response:
    words = look.words
    return public.message_page(
        **look._asdict(),
        title=words("You are unsubscribed"),
        paragraphs=[
            words(
                "{name} sends no more questionnaires to {address}.", name=look.brand, address=_hint(address.identifier)
            )
        ],
        facts=[words("You can close this page.")],
    )


def _hint(identifier: str) -> str:
    """A masked address: its owner recognizes it, a reader of a forwarded link does not."""
    name, at, domain = identifier.rpartition("@")
    return f"{name[:1]}•••@{domain}" if at else f"•••{identifier[-HINT_CHARACTERS:]}"


def _fields(body: bytes, content_type: str) -> dict[str, list[str]]:
    """The form's fields; an unreadable body has none.

    Mail readers should send multipart/form-data and may send the other form (RFC 8058 3.1).
    """
    try:
        if content_type.partition(";")[0].strip().lower() != uploads.FORM:
            return parse_qs(body.decode("ascii"), max_num_fields=FIELDS_MAX)
        found: dict[str, list[str]] = {}
        for part in uploads.read_parts(body, content_type):
            found.setdefault(part.name, []).append(part.content.decode("ascii").strip())
    except (ValueError, errors.Malformed):
        return {}
    return found
