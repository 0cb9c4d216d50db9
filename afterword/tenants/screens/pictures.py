"""Settings: the pictures of the organization, and the pictures of forms, encoded again in a thread."""

import asyncio
from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console.removals import removal
from afterword.console.screens import Database, Form, Screens, Visit
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.web import fields, html
from afterword.tenants.organizations import assets
from afterword.tenants.organizations.assets import AssetRecord, Encoded

LOGO_SIDE_MAX: Final = 640  # for screens of two pixels a dot
PICTURES: Final = fields.listing_of(assets.Asset)
PATH: Final = "/console/settings/pictures"
ONE: Final = f"{PATH}/{{asset_id}}"

routes = Screens()


async def encoded(form: Form, name: str, *, side_max: int = LOGO_SIDE_MAX) -> Encoded | None:
    """The picture of a field, or None. Raises Invalid at the field."""
    content = form.file(name)
    if content is None:
        return None
    return await asyncio.to_thread(assets.encode, content, side_max=side_max, pointer=f"/{name}")


@routes.post(PATH, scope="Asset.Create", again=(errors.Invalid,))
async def upload(visit: Visit) -> Response:
    title = visit.form.text("title")
    picture = await encoded(visit.form, "file", side_max=assets.ENCODED_SIDE_MAX)
    if picture is None:
        raise errors.Invalid.at("/file", "required", visit.words("Choose a picture."))
    await visit.change(assets.keep, caller=visit.caller, picture=picture, title=title[:200] or None, now=visit.now)
    return html.redirect(f"{PATH}?done=saved")


@routes.get(ONE, scope="Asset.Read")
async def picture_page(visit: Visit, db: Database) -> Response:
    picture = await assets.get(db, caller=visit.caller, **visit.ids)
    uses = await assets.list_uses(db, organization_id=picture.organization_id, path=picture.path)
    words = visit.words
    return visit.page(
        "picture.html",
        title=_title(visit, picture),
        picture=picture,
        facts=[
            (words("Size"), words("{width} × {height} pixels", width=picture.width, height=picture.height)),  # noqa: RUF001
            (words("Kind"), picture.media_type.removeprefix("image/").upper()),
            (words("Added"), visit.near(picture.created_time)),
            (words("Used in"), ", ".join(uses) or words("nothing")),
        ],
        is_used=bool(uses),
    )


async def _unused(visit: Visit) -> dict[str, str]:
    async with visit.read() as db:
        picture = await assets.get(db, caller=visit.caller, **visit.ids)
        uses = await assets.list_uses(db, organization_id=picture.organization_id, path=picture.path)
    if uses:
        raise errors.Conflict(visit.words("The picture is in use: {names}.", names=", ".join(uses)), "in_use")
    return {"name": _title(visit, picture)}


removal(
    routes,
    f"{ONE}/removal",
    scope="Asset.Delete",
    title="Remove the picture “{name}”?",
    sentences=["Nothing uses it. Browsers and e-mail programs may keep a copy."],
    button="Remove",
    get=_unused,
    remove=lambda visit, db: assets.delete(db, caller=visit.caller, **visit.ids),
    to=PATH,
)


@routes.get(PATH, scope="Asset.Read")
async def _list(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    found = await visit.load(
        assets.list_asset_records, organization_id=visit.caller.organization_id, page=page_of(PICTURES, visit.query)
    )
    return visit.page(
        "pictures.html",
        title=words("Pictures"),
        types=",".join(assets.MEDIA_TYPES),
        megabytes=assets.UPLOAD_BYTES_MAX >> 20,
        refusal=refusal,
        list=Listing(
            rows=found.items,
            empty=words("No picture yet. Logos and pictures for questions are kept here."),
            **page_links(found, visit.query, PATH),
        ),
    )


def _title(visit: Visit, picture: AssetRecord) -> str:
    return picture.title or visit.words("Picture without a name")
