"""The HTTP interface of assets: pictures sent as files, listed, deleted; their public addresses are in `pages.py`."""

from typing import Annotated, Any, Final

from msgspec import Meta

from afterword.kit.db import Database
from afterword.kit.web import fields, uploads
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.uploads import Upload
from afterword.tenants.organizations.assets import encoding, service, store
from afterword.tenants.organizations.assets.encoding import Encoded

MEDIA_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")
routes = Routes(tag="Assets")


class AssetQuery(fields.Request):
    """The size that the picture may have."""

    side_max: Annotated[int, Meta(ge=16, le=encoding.ENCODED_SIDE_MAX)] = encoding.ENCODED_SIDE_MAX


class Asset(fields.Resource):
    """A picture as it was encoded again. `path` is the value of `logo` in visuals."""

    asset_id: fields.Id
    title: str | None
    media_type: str
    width: int
    height: int
    bytes: int
    path: fields.Computed[str]
    url: fields.Computed[str]
    created_time: fields.DateTime
    created_by: fields.Id | None


def _encode(upload: Upload, query: AssetQuery) -> tuple[Encoded, str | None]:
    return encoding.encode(upload.content, side_max=query.side_max), upload.file_name


@routes.list("/asset", scope="Asset.Read", answer=Asset, summary="Get all assets")
async def list_assets(call: Call[None], db: Database) -> Answer:
    rows = await store.list_assets(db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(rows.map(lambda asset: _shown(asset, call)))


@routes.post(
    "/asset",
    scope="Asset.Create",
    query=AssetQuery,
    uploads=(*MEDIA_TYPES, uploads.FORM),
    bytes_max=encoding.UPLOAD_BYTES_MAX,
    prepare=_encode,
    answer=Asset,
    summary="Create Asset",
    description=(
        "A picture, or a form with the picture in it. It is encoded again: upright, at most "
        f"{encoding.ENCODED_SIDE_MAX:,} pixels a side, without metadata such as the place where it was taken, of an "
        f"animation the first frame. At most {encoding.PIXELS_MAX // 1_000_000} million pixels are read. One that is "
        "there already is answered as it is."
    ),
)
async def create_asset(call: Call[tuple[Encoded, str | None]], db: Database) -> Answer:
    picture, title = call.body
    asset = await service.keep(db, caller=call.caller, picture=picture, title=title, now=call.now)
    return Answer(_shown(asset, call), location=f"/asset/{asset.asset_id}")


@routes.get("/asset/{asset_id}", scope="Asset.Read", answer=Asset, summary="Get Asset")
async def get_asset(call: Call[None], db: Database) -> Answer:
    return Answer(_shown(await service.get(db, caller=call.caller, **call.ids), call))


@routes.delete(
    "/asset/{asset_id}",
    scope="Asset.Delete",
    summary="Delete Asset",
    description="Refused while something uses it. Browsers and mail programs may keep what they loaded.",
    refusals=("in_use",),
)
async def delete_asset(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.expect)


def _shown(asset: store.Asset, call: Call[Any]) -> Asset:
    return Asset.of(asset, call.zone, path=asset.path, url=f"{call.public_pages.public_url}{asset.path}")
