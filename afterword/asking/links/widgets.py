"""Finds the websites that may show a link in a box."""

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from afterword import errors
from afterword.asking.instances.answer_page import Placement
from afterword.asking.links.pages import ShowPlaced, find_link, open_link, place, require_begun
from afterword.asking.links.public_links import PublicLink
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.wire.site import origins_of
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.web import html
from afterword.kit.web.routing import Pages
from afterword.tenants.organizations.applications import Application, get_application


async def application_of(db: Database, *, link: PublicLink) -> Application:
    own = {"organization_id": link.organization_id}
    questionnaire = await questionnaires_store.get_questionnaire(db, **own, questionnaire_id=link.questionnaire_id)
    application = await get_application(db, **own, application_id=questionnaire.owner_application_id)
    return errors.found(application, "There is no such page.")


PATH: Final = "/l/{link_key}/box"
SETTINGS_HEADERS: Final = {"Cache-Control": "public, max-age=300", "Vary": "Origin", "X-Robots-Tag": "noindex"}

routes = Pages()


async def _placed(show: ShowPlaced, request: Request) -> Response:
    placement = await placement_of(request)
    return html.framed(await show(request, placement), placement.data["origins"].split())


place(routes, PATH, _placed)


@routes.get(f"{PATH}/settings")
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
    """Raises NotFound, also for an instance that did not begin at the link."""
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
