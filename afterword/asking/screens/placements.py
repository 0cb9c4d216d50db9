"""An author shows a public link elsewhere: in a box on websites, by a snippet to copy, or on a device in kiosk mode."""

from types import SimpleNamespace
from typing import Any, Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.asking.links import placements
from afterword.asking.links.public_links import LINK, Box, Kiosk, box_of, kiosk_of
from afterword.asking.screens.links import ONE, change, link_of
from afterword.console.inputs import Input, document_of, filled, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.screens import Database, Screens, Visit
from afterword.core.wire import qr
from afterword.core.wire.site import origins_of
from afterword.kit.nouns import structs
from afterword.kit.web import html
from afterword.sending import previews
from afterword.tenants.screens.organization import APPLICATIONS

BOX: Final = f"{ONE}/box"
SCRIPT: Final = "/static/public/box.js"
BOX_INPUTS: Final = (Input("is_shown", "switch", "Websites may show this link in a box"), *inputs_of(Box))
KIOSK: Final = f"{ONE}/kiosk"
KIOSK_INPUTS: Final = (
    Input("is_on", "switch", "This link may run in kiosk mode"),
    *inputs_of(Kiosk),
    *inputs_of(LINK, names=("kiosk_pin",)),
)

routes = Screens()


@routes.post(BOX, scope="Public Link.Update", again=(errors.Invalid, errors.Stale))
async def save_box(visit: Visit) -> Response:
    document = document_of(visit.form, BOX_INPUTS)
    is_shown = document.pop("is_shown")
    box = read_as(Box, document, visit) if is_shown else None
    await change(visit, {"box": box}, same_version(visit))
    return html.redirect(f"{visit.request.url.path}?done=saved")


@routes.get(BOX, scope="Public Link.Read")
async def _box(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    link = await link_of(visit, db)
    application = await placements.application_of(db, link=link)
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
        **filled(visit, BOX_INPUTS, SimpleNamespace(**stored), version=link.version, refusal=refusal),
    )


@routes.post(KIOSK, scope="Public Link.Update", again=(errors.Invalid, errors.Stale))
async def save_kiosk(visit: Visit) -> Response:
    changes: dict[str, Any] = {"kiosk_pin": None}
    if visit.form.text("remove") != "pin":
        document = document_of(visit.form, KIOSK_INPUTS)
        is_on, pin = document.pop("is_on"), document.pop("kiosk_pin")
        changes = {"kiosk": read_as(Kiosk, document, visit) if is_on else None}
        changes |= read_as(structs.update_of(LINK), {"kiosk_pin": pin}, visit).named() if pin else {}
    await change(visit, changes, same_version(visit))
    return html.redirect(f"{visit.request.url.path}?done=saved")


@routes.get(KIOSK, scope="Public Link.Read")
async def _kiosk(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    link = await visit.reading(link_of)
    stored = {**msgspec.structs.asdict(kiosk_of(link) or Kiosk()), "is_on": link.kiosk is not None}
    url = f"{visit.public_pages.link_url(link.key)}/kiosk"
    return visit.page(
        "kiosk.html",
        title=visit.words("On a device in your shop"),
        back=(link.title, visit.request.url.path.removesuffix("/kiosk")),
        path=visit.request.url.path,
        stored_version=link.version,
        is_on=link.kiosk is not None,
        has_pin=link.kiosk_pin_hash is not None,
        url=url,
        code=qr.code_of(url),
        **filled(visit, KIOSK_INPUTS, SimpleNamespace(**stored), version=link.version, refusal=refusal),
    )
