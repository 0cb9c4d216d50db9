"""The box of a public link on websites: its settings, the snippet to copy, and a preview."""

from types import SimpleNamespace
from typing import Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.asking.links import widgets
from afterword.asking.links.public_links import Box, box_of
from afterword.asking.screens.links import ONE, change, link_of
from afterword.console.inputs import Input, document_of, filled, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.screens import Database, Screens, Visit
from afterword.core.wire.site import origins_of
from afterword.kit.web import html
from afterword.sending import previews
from afterword.tenants.screens.organization import APPLICATIONS

PATH: Final = f"{ONE}/box"
SCRIPT: Final = "/static/public/box.js"
INPUTS: Final = (Input("is_shown", "switch", "Websites may show this link in a box"), *inputs_of(Box))

routes = Screens()


@routes.post(PATH, scope="Public Link.Update", again=(errors.Invalid, errors.Stale))
async def save_box(visit: Visit) -> Response:
    document = document_of(visit.form, INPUTS)
    is_shown = document.pop("is_shown")
    box = read_as(Box, document, visit) if is_shown else None
    await change(visit, {"box": box}, same_version(visit))
    return html.redirect(f"{visit.request.url.path}?done=saved")


@routes.get(PATH, scope="Public Link.Read")
async def _show(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    link = await link_of(visit, db)
    application = await widgets.application_of(db, link=link)
    permission = previews.Permission(
        link.organization_id, link.questionnaire_id, responder_id=None, ends=int(visit.now.timestamp()) + 3_600
    )
    stored = {**msgspec.structs.asdict(box_of(link) or Box()), "is_shown": link.box is not None}
    script, url = f"{visit.public_pages.public_url}{SCRIPT}", visit.public_pages.link_url(link.key)
    return visit.page(
        "box.html",
        title=visit.words("On your website"),
        back=(link.title, visit.request.url.path.removesuffix("/box")),
        path=visit.request.url.path,
        is_shown=link.box is not None,
        snippet=f'<script async src="{script}" data-link="{url}"></script>',
        sites=origins_of(application.website_urls),
        application_url=f"{APPLICATIONS}/{application.application_id}" if visit.may_open(APPLICATIONS) else "",
        preview_url=f"{previews.address_of(permission, site=visit.site)}?box=1",
        **filled(visit, INPUTS, SimpleNamespace(**stored), version=link.version, refusal=refusal),
    )
