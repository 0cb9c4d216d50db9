"""The unsubscribe page: GET asks, POST unsubscribes; also the target of one-click unsubscribe (RFC 8058)."""

from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.core.answers.suspicion import is_token, token_of
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.texts import Texts, accepted, texts
from afterword.kit.web import public, uploads
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
        brand, words = await _reader(request, database, address)
    if suppressions:
        return _done_page(address, brand=brand, words=words)
    return _ask_page(request.state.site, address, brand=brand, words=words)


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
        brand, words = await _reader(request, database, address)
        if not is_ours and ONE_CLICK[1] not in fields.get(ONE_CLICK[0], ()):
            return _ask_page(site, address, brand=brand, words=words, status=422)  # a POST without the page's token
        await service.unsubscribe(database, address=address, now=database.clock.now())
    return _done_page(address, brand=brand, words=words)


async def _address(database: db.Database, unsubscribe_id: str) -> Address:
    if not ids.is_id(unsubscribe_id):
        raise errors.NotFound("There is no such page.")
    address = await store.get_address_by_unsubscribe_id(database, unsubscribe_id=unsubscribe_id)
    return errors.found(address, "There is no such page.")


async def _reader(request: Request, database: db.Database, address: Address) -> tuple[str, Texts]:
    """The name of the sender, and the page's texts in the responder's language, if it is known."""
    organization = await accounts.get_organization(database, organization_id=address.organization_id)
    responder = await store.get_responder(
        database, organization_id=address.organization_id, responder_id=address.responder_id
    )
    locale = (
        responder.locale if responder and responder.locale else accepted(request.headers.get("accept-language", ""))
    )
    return organization.display_name if organization else "", texts(public.DOMAIN, locale)


def _ask_page(site: Site, address: Address, *, brand: str, words: Texts, status: int = 200) -> Response:
    unsubscribe_id = address.unsubscribe_id
    return public.message_page(
        words=words,
        brand=brand,
        title=words("Stop these messages?"),
        paragraphs=[
            words(
                "{name} will not send questionnaires to {address} any more.",
                name=brand,
                address=_hint(address.identifier),
            )
        ],
        button=public.Button(
            f"/u/{unsubscribe_id}", token_of(site.secret, PURPOSE, unsubscribe_id), words("Unsubscribe")
        ),
        status=status,
    )


def _done_page(address: Address, *, brand: str, words: Texts) -> Response:
    return public.message_page(
        words=words,
        brand=brand,
        title=words("You are unsubscribed"),
        paragraphs=[
            words("{name} sends no more questionnaires to {address}.", name=brand, address=_hint(address.identifier))
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
