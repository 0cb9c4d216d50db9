"""The pages of a public link in other places: in a box on websites of its application, and in kiosk mode.

A kiosk has one form for each person, which its script shows in steps, and a way out.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from afterword import errors, ids
from afterword.asking.instances.answer_page import Placement, first, read_posted
from afterword.asking.instances.rendering import leave_page, left_page
from afterword.asking.links.pages import ShowPlaced, find_link, open_link, place, require_begun
from afterword.asking.links.public_links import PublicLink, is_pin, kiosk_of
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.wire.site import Site, origins_of
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.web import html, public, static
from afterword.kit.web.limits import Limiter, source_key
from afterword.kit.web.routing import Pages
from afterword.tenants.organizations.applications import Application, get_application

BOX: Final = "/l/{link_key}/box"
KIOSK: Final = "/l/{link_key}/kiosk"
SETTINGS_HEADERS: Final = {"Cache-Control": "public, max-age=300", "Vary": "Origin", "X-Robots-Tag": "noindex"}
WORKER_HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
}

routes = Pages()


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
