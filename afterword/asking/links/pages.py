"""The pages of public links: the questions, a form that asks for the address to confirm, and pages that replace them.

A GET writes nothing: the first POST issues the instance. The pages are shown as well in a box on websites of the
link's application, and in kiosk mode: one form for each person, which a script shows in steps, and a way out.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from afterword import errors, ids
from afterword.asking.instances import pages, store as instances_store
from afterword.asking.instances.answer_page import Placement, first, read_posted
from afterword.asking.instances.rendering import (
    address_page,
    asked_page,
    closed_page,
    leave_page,
    left_page,
    opens_page,
)
from afterword.asking.instances.starts import REFERENCE, LinkTerms, Start, answered_in_browser, instance_id_of, start_of
from afterword.asking.links import public_links
from afterword.asking.links.public_links import PublicLink, is_pin, kiosk_of
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.answers.suspicion import is_token, token_of
from afterword.core.messaging.addresses import CHANNEL_EMAIL, address_key
from afterword.core.wire.site import Site, origins_of
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.web import html, public, static
from afterword.kit.web.limits import Limiter, source_key
from afterword.kit.web.routing import Pages
from afterword.tenants.organizations.applications import Application, get_application

ADDRESS_PURPOSE: Final = "address"
ADDRESS_CHARACTERS_MAX: Final = 320
PATHS: Final = ("/l/{link_key}", "/l/{link_key}/ref/{reference_id}")
ShowPlaced = Callable[[Request, Placement], Awaitable[Response]]  # a page of a link, or of an instance of it

BOX: Final = "/l/{link_key}/box"
KIOSK: Final = "/l/{link_key}/kiosk"
SETTINGS_HEADERS: Final = {"Cache-Control": "public, max-age=300", "Vary": "Origin", "X-Robots-Tag": "noindex"}
WORKER_HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
}

routes = Pages()


class Opened(msgspec.Struct, frozen=True):
    """A link, its start, and the page that is shown in place of the questions."""

    link: PublicLink
    start: Start
    instead: Response | None = None
    asks_address: bool = False


@routes.get(*PATHS, for_people=True)
async def show_link(request: Request, placement: Placement | None = None) -> Response:
    return await pages.show_start(request, partial(read_link, request, placement=placement))


@routes.post(*PATHS, for_people=True)
async def post_link(request: Request, placement: Placement | None = None) -> Response:
    """Start with the answers of the first page, or mail the link that confirms an address."""
    limiter: Limiter = request.state.limiter
    limiter.count_start(request.client.host if request.client else "")
    read = partial(read_link, request, placement=placement)
    posted = await pages.read_post(request, partial(pages.read_start_page, read))
    if "email" in posted.fields:
        address = first(posted.fields, "email")
        return await _ask_to_confirm(request, address=address, token=posted.token, placement=placement)
    return await pages.post_start(request, partial(read, is_post=True), posted)


def place(routes: Pages, path: str, placed: Callable[[ShowPlaced, Request], Awaitable[Response]]) -> None:
    """Register below `path` the pages of a link and of its instances, which `placed` shows in another place."""
    for end, show, post in (("", show_link, post_link), ("/{instance_id}", pages.show_answers, pages.post_answers)):
        routes.get(f"{path}{end}", for_people=True)(partial(placed, show))
        routes.post(f"{path}{end}", for_people=True)(partial(placed, post))


async def _ask_to_confirm(request: Request, *, address: str, token: str, placement: Placement | None) -> Response:
    site: Site = request.state.site
    async with db.transaction(request.state.pool) as database:
        opened = await open_link(request, database, nonce=ids.secret(), placement=placement)
        link, head = opened.link, opened.start.answer_page.head
        if not opened.asks_address:
            return opened.instead or html.redirect(_here(request))
        is_ours = is_token(token, secret=site.secret, purpose=ADDRESS_PURPOSE, subject=link.key)
        try:
            if not is_ours or len(address) > ADDRESS_CHARACTERS_MAX:
                raise errors.Invalid.at("/email", "invalid_address", "This is not an e-mail address.")
            await public_links.ask_to_confirm(
                database,
                link=link,
                address=address,
                language=head.locale,
                query=urlencode([(name, value) for name, value in request.query_params.multi_items() if name != "by"]),
                site=site,
                now=database.clock.now(),
            )
        except errors.Invalid:
            return _address_page(request, opened, address=address[:ADDRESS_CHARACTERS_MAX], is_wrong=True)
    return asked_page(head)


async def require_begun(request: Request, database: db.Database, *, link: PublicLink) -> None:
    """Raise NotFound where the address has an instance that did not begin at the link."""
    instance_id = request.path_params.get("instance_id")
    if instance_id is None:
        return
    is_id = ids.is_id(instance_id)
    found = await instances_store.get_public_instance(database, instance_id=instance_id) if is_id else None
    if found is None or found.link_id != link.link_id:
        raise errors.NotFound("There is no such page.")


async def read_link(
    request: Request, database: db.Database, *, nonce: str, is_post: bool = False, placement: Placement | None = None
) -> Start | Response:
    """The start, or the page in its place; with `is_post` other starts wait, so that `responses_max` holds."""
    opened = await open_link(request, database, nonce=nonce, is_post=is_post, placement=placement)
    return opened.instead or opened.start


async def open_link(
    request: Request, database: db.Database, *, nonce: str, is_post: bool = False, placement: Placement | None = None
) -> Opened:
    site: Site = request.state.site
    link, reference_id = await find_link(request, database)
    found = await instances_store.get_public_questionnaire(database, questionnaire_id=link.questionnaire_id)
    questionnaire = errors.found(found, "There is no such page.")
    now, is_confirmed = database.clock.now(), link.one_response_per == "address"
    address = None
    if is_confirmed and (proof := request.query_params.get("by")):
        address = public_links.confirmed_address(link, proof=proof, secret=site.secret, now=now)
    if address:  # each address has one instance, however often its link is opened
        key = address_key(site.secret, CHANNEL_EMAIL, address)
        nonce = token_of(site.secret, ADDRESS_PURPOSE, f"{link.link_id}\n{key.hex()}")
    terms = LinkTerms(
        link_id=link.link_id,
        metadata=link.metadata,
        parameters=link.parameters,
        locale=link.locale or request.query_params.get("lang"),
        is_once_per_browser=link.one_response_per == "browser",
        address=address,
    )
    start = await start_of(
        request, database, questionnaire=questionnaire, reference_id=reference_id, nonce=nonce, terms=terms
    )
    start = replace(start, answer_page=start.answer_page.placed(placement))
    begun = await _begun(request, database, start)
    if begun is not None:
        return Opened(link, start, html.redirect(start.answer_page.address(begun)))
    head = start.answer_page.head
    state = link.state_at(now)
    if state == "scheduled" and link.opens_time is not None:
        return Opened(link, start, opens_page(head, opens_time=link.opens_time))
    # An anonymous questionnaire takes no confirmed addresses.
    is_closed = state != "open" or (is_confirmed and start.version.definition.anonymous)
    if is_closed or await public_links.is_full(database, link=link, is_locked=is_post):
        return Opened(link, start, closed_page(start.answer_page))
    opened = Opened(link, start)
    if is_confirmed and address is None:
        return replace(opened, instead=_address_page(request, opened), asks_address=True)
    return opened


async def find_link(request: Request, database: db.Database) -> tuple[PublicLink, str | None]:
    """The link of the address, and its reference. Raises NotFound; TooMany for who tries addresses."""
    key: str = request.path_params["link_key"]
    reference_id: str | None = request.path_params.get("reference_id")
    link = await public_links.get_link_by_key(database, key=key) if ids.is_short_code(key) else None
    if link is None or (reference_id is not None and not (link.takes_reference and REFERENCE.match(reference_id))):
        limiter: Limiter = request.state.limiter
        limiter.count_miss(request.client.host if request.client else "")
        raise errors.NotFound("There is no such page.")
    return link, reference_id


async def _begun(request: Request, database: db.Database, start: Start) -> str | None:
    """The instance that this browser, or this confirmed address, has begun already."""
    begun = answered_in_browser(request) if start.terms.is_once_per_browser else None
    if start.terms.address:
        begun = instance_id_of(request.state.site.secret, start.subject)
    if begun is None or await instances_store.get_public_instance(database, instance_id=begun) is None:
        return None
    return begun


def _address_page(request: Request, opened: Opened, *, address: str = "", is_wrong: bool = False) -> Response:
    site: Site = request.state.site
    return address_page(
        opened.start.answer_page.head,
        action=_here(request),
        token=token_of(site.secret, ADDRESS_PURPOSE, opened.link.key),
        address=address,
        is_wrong=is_wrong,
        is_over="by" in request.query_params,
        status=pages.FORM_STATUS_WRONG if is_wrong else 200,
    )


def _here(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


async def _in_box(show: ShowPlaced, request: Request) -> Response:
    placement = await placement_of(request)
    return html.framed(await show(request, placement), placement.data["origins"].split())


place(routes, BOX, _in_box)


@routes.get(f"{BOX}/settings")
async def box_settings(request: Request) -> Response:
    """Triggers and texts, for the script on a website of the application. Raises NotFound while nobody may answer."""
    async with db.connection(request.state.pool) as database:
        link, origins = await _box(request, database)
        opened = await open_link(request, database, nonce="")
    origin = request.headers.get("origin", "")
    if opened.instead or origin not in origins:
        raise errors.NotFound("There is no box for this website.")
    head = opened.start.answer_page.head
    return JSONResponse(
        {
            **(link.box or {}),
            "once": link.one_response_per == "browser",
            "collapsed": head.questionnaire.desktop_collapsed,
            "title": head.title,
            "close": head.texts("Close"),
            "language": head.locale,
            "direction": head.texts.direction,
        },
        headers={**SETTINGS_HEADERS, "Access-Control-Allow-Origin": origin},
    )


async def placement_of(request: Request) -> Placement:
    """The box of the address. Raises NotFound, also for an instance that did not begin at the link."""
    async with db.connection(request.state.pool) as database:
        link, origins = await _box(request, database)
        await require_begun(request, database, link=link)
    return Placement(kind="box", path=f"/l/{link.key}/box", data={"origins": " ".join(origins)})


async def _box(request: Request, database: db.Database) -> tuple[PublicLink, tuple[str, ...]]:
    """The link, and the origins of its application's websites. Raises NotFound for a link without a box."""
    link, _ = await find_link(request, database)
    if link.box is None:
        raise errors.NotFound("There is no such page.")
    application = await application_of(database, link=link)
    return link, origins_of(application.website_urls)


async def application_of(db: Database, *, link: PublicLink) -> Application:
    own = {"organization_id": link.organization_id}
    questionnaire = await questionnaires_store.get_questionnaire(db, **own, questionnaire_id=link.questionnaire_id)
    application = await get_application(db, **own, application_id=questionnaire.owner_application_id)
    return errors.found(application, "There is no such page.")


async def _in_kiosk(show: ShowPlaced, request: Request) -> Response:
    _, placement = await _kiosk(request)
    return await show(request, placement)


place(routes, KIOSK, _in_kiosk)


@routes.get(f"{KIOSK}/leave", for_people=True)
async def leave(request: Request) -> Response:
    link, placement = await _kiosk(request)
    return await _leave_page(request, link, placement)


@routes.post(f"{KIOSK}/leave", for_people=True)
async def post_leave(request: Request) -> Response:
    """End kiosk mode; wrong PINs are counted for the link and their source, so that strangers keep nobody here."""
    site: Site = request.state.site
    limiter: Limiter = request.state.limiter
    link, placement = await _kiosk(request)
    pin = first(read_posted(await public.read_body(request)).fields, "pin")
    key = f"pin {link.link_id} {source_key(request.client.host if request.client else '')}"
    limiter.count_miss(key)
    if is_right := is_pin(link, pin, secret=site.secret):
        limiter.take_back_miss(key)
    return await _leave_page(request, link, placement, is_right=is_right, is_wrong=not is_right)


@routes.get(f"{KIOSK}/worker")
async def worker(request: Request) -> Response:
    """The service worker that keeps the kiosk's first page; it may do so for this path alone."""
    _, placement = await _kiosk(request)
    content = static.read_files()["public/kiosk_worker.js"]
    headers = {**WORKER_HEADERS, "Service-Worker-Allowed": placement.path}
    return html.unchanged_or(content, request, media_type="text/javascript", headers=headers)


async def _leave_page(
    request: Request, link: PublicLink, placement: Placement, *, is_right: bool = False, is_wrong: bool = False
) -> Response:
    async with db.connection(request.state.pool) as database:
        opened = await open_link(request, database, nonce=ids.secret(), placement=placement)
    head = opened.start.answer_page.head
    return left_page(head) if is_right else leave_page(head, has_pin=link.kiosk_pin_hash is not None, is_wrong=is_wrong)


async def _kiosk(request: Request) -> tuple[PublicLink, Placement]:
    """Raises NotFound for a link without a kiosk, and for an instance that did not begin at the link."""
    async with db.connection(request.state.pool) as database:
        link, _ = await find_link(request, database)
        kiosk = errors.found(kiosk_of(link), "There is no such page.")
        await require_begun(request, database, link=link)
    path = f"/l/{link.key}/kiosk"
    seconds = {"idle": f"{kiosk.idle_seconds}", "thanks": f"{kiosk.thanks_seconds}"}
    return link, Placement(kind="kiosk", path=path, data={"path": path, **seconds, "layout": kiosk.layout})
