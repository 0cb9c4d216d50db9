"""Kiosk mode of a public link: its settings, its PIN, and the address to open on the device."""

from types import SimpleNamespace
from typing import Any, Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.asking.links.public_links import LINK, Kiosk, kiosk_of
from afterword.asking.screens.links import ONE, change, link_of
from afterword.console.inputs import Input, document_of, filled, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.screens import Screens, Visit
from afterword.core.wire import qr
from afterword.kit.nouns import structs
from afterword.kit.web import html

PATH: Final = f"{ONE}/kiosk"
INPUTS: Final = (
    Input("is_on", "switch", "This link may run in kiosk mode"),
    *inputs_of(Kiosk),
    *inputs_of(LINK, names=("kiosk_pin",)),
)

routes = Screens()


@routes.post(PATH, scope="Public Link.Update", again=(errors.Invalid, errors.Stale))
async def save_kiosk(visit: Visit) -> Response:
    changes: dict[str, Any] = {"kiosk_pin": None}
    if visit.form.text("remove") != "pin":
        document = document_of(visit.form, INPUTS)
        is_on, pin = document.pop("is_on"), document.pop("kiosk_pin")
        changes = {"kiosk": read_as(Kiosk, document, visit) if is_on else None}
        changes |= read_as(structs.update_of(LINK), {"kiosk_pin": pin}, visit).named() if pin else {}
    await change(visit, changes, same_version(visit))
    return html.redirect(f"{visit.request.url.path}?done=saved")


@routes.get(PATH, scope="Public Link.Read")
async def _show(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
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
        **filled(visit, INPUTS, SimpleNamespace(**stored), version=link.version, refusal=refusal),
    )
