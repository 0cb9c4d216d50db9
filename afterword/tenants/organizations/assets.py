"""Keeps pictures, within the limits of an organization, and deletes those that nothing uses."""

import hashlib
import io
import math
import threading
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, LiteralString

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.visuals import FINGERPRINT_CHARACTERS, Picture, read_address, suffix_of
from afterword.core.wire.lists import Page, Rows
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields, public, uploads
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.routing import Pages


class AssetRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A picture as it was encoded again. `path` is the value of `logo` in visuals."""

    organization_id: Annotated[str, Hidden()]
    asset_id: fields.Id
    title: str | None
    media_type: str
    width: int
    height: int
    content_hash: Annotated[bytes, Hidden()]
    bytes: int
    created_time: datetime
    created_by: fields.Id | None

    @property
    def path(self) -> str:
        """The address without the host, as visuals name it."""
        fingerprint = self.content_hash.hex()[:FINGERPRINT_CHARACTERS]
        return Picture(self.asset_id, fingerprint, self.width, self.height, suffix_of(self.media_type)).address


_COLUMNS: Final = columns_of(AssetRecord)


async def list_asset_records(db: Database, *, organization_id: str, page: Page) -> Rows[AssetRecord]:
    return await db.records(AssetRecord).fetch_list(
        f"select {_COLUMNS} from asset where organization_id = $1", organization_id, page=page
    )


async def _get_asset(
    db: Database, *, organization_id: str, asset_id: str, is_locked: bool = False
) -> AssetRecord | None:
    """Locked, nobody deletes it before the transaction ends, and nobody begins to use it where that deletes it."""
    lock: LiteralString = "for no key update" if is_locked else ""
    return await db.records(AssetRecord).fetch_row(
        f"select {_COLUMNS} from asset where organization_id = $1 and asset_id = $2 {lock}", organization_id, asset_id
    )


async def list_asset_ids(db: Database, *, organization_id: str, asset_ids: Sequence[str]) -> set[str]:
    query: LiteralString = "select asset_id from asset where organization_id = $1 and asset_id = any($2::text[])"
    return set(await db.fetch_column(query, organization_id, asset_ids))


async def list_asset_paths(db: Database, *, organization_id: str, asset_ids: Sequence[str]) -> set[str]:
    query: LiteralString = f"select {_COLUMNS} from asset where organization_id = $1 and asset_id = any($2::text[])"
    return {one.path for one in await db.records(AssetRecord).fetch(query, organization_id, asset_ids)}


async def _get_asset_by_hash(db: Database, *, organization_id: str, content_hash: bytes) -> AssetRecord | None:
    return await db.records(AssetRecord).fetch_row(
        f"select {_COLUMNS} from asset where organization_id = $1 and content_hash = $2", organization_id, content_hash
    )


async def _get_content(  # any tenant: public by its address
    db: Database, *, asset_id: str
) -> tuple[AssetRecord, bytes] | None:
    row = await db.fetch_row(f"select {_COLUMNS}, content from asset where asset_id = $1", asset_id)
    if row is None:
        return None
    columns = dict(row)
    content = columns.pop("content")
    return AssetRecord(**columns), content


async def _get_total_locked(db: Database, *, organization_id: str) -> tuple[int, int]:
    """The number of pictures, and their bytes. The organization is locked: one transaction at a time adds to them."""
    await db.execute("select from organization where organization_id = $1 for no key update", organization_id)
    row = await db.fetch_one(
        "select count(*) as count, coalesce(sum(bytes), 0)::bigint as bytes from asset where organization_id = $1",
        organization_id,
    )
    return row["count"], row["bytes"]


async def _insert_asset(
    db: Database, *, caller: Caller, title: str | None, picture: "Encoded", content_hash: bytes, now: datetime
) -> AssetRecord:
    return await db.records(AssetRecord).fetch_one(
        f"""insert into asset (organization_id, asset_id, title, media_type, width, height, bytes, content_hash,
             content, created_time, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning {_COLUMNS}""",
        *(caller.organization_id, ids.ordered(now), title, picture.media_type, picture.width, picture.height),
        *(len(picture.content), content_hash, picture.content, now, caller.actor_id or None),
    )


async def _delete_asset(db: Database, *, organization_id: str, asset_id: str) -> None:
    await db.execute("delete from asset where organization_id = $1 and asset_id = $2", organization_id, asset_id)


async def list_uses(db: Database, *, organization_id: str, path: str) -> list[str]:
    """Names of the organization, applications and questionnaires that show the picture."""
    return await db.fetch_column(
        """select distinct q.display_name from questionnaire_visual v
             join questionnaire q on q.organization_id = v.organization_id and q.questionnaire_id = v.questionnaire_id
           where v.organization_id = $1 and v.configuration ->> 'logo' = $2
           union all select display_name from application where organization_id = $1 and brand ->> 'logo' = $2
           union all select display_name from organization where organization_id = $1 and brand ->> 'logo' = $2
           union all select q.display_name from questionnaire q where q.organization_id = $1 and exists (
             select from questionnaire_version w where w.organization_id = $1 and w.version_id = q.published_version_id
               and strpos(w.definition::text, $2) > 0
             union all select from questionnaire_draft d where d.organization_id = $1
               and d.questionnaire_id = q.questionnaire_id and strpos(d.definition::text, $2) > 0)
           limit $3""",
        *(organization_id, path, USES_NAMED_MAX),
    )


if TYPE_CHECKING:
    from PIL.Image import Image

UPLOAD_BYTES_MAX: Final = 10_485_760
PIXELS_MAX: Final = 26_000_000  # 104 MB when decoded
SIDE_PIXELS_MAX: Final = 30_000
ENCODED_SIDE_MAX: Final = 1_600
ENCODED_BYTES_MAX: Final = 500_000
QUALITY: Final = 85
WAIT_SECONDS_MAX: Final = 5
FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")
SMALLER: Final = 0.9  # than the size that should be small enough
_OPAQUE: Final = 255
_TOO_MANY_PIXELS: Final = f"At most {PIXELS_MAX // 1_000_000} million pixels are read, and {SIDE_PIXELS_MAX:,} a side."

_one: Final = threading.Lock()  # a decoded picture takes much memory


class Encoded(msgspec.Struct, frozen=True):
    content: bytes
    media_type: str
    width: int
    height: int


def encode(content: bytes, *, side_max: int = ENCODED_SIDE_MAX, pointer: str = "") -> Encoded:
    """The picture upright, its longer side at most `side_max` pixels, of an animation the first frame. Takes a second.

    Photos become JPEG, others PNG. Raises Invalid at `pointer` for another kind, too large, or broken; Unavailable.
    """
    try:
        return _encode(content, side_max)
    except _Wrong as wrong:
        raise errors.Invalid.at(pointer, *wrong.args) from None


class _Wrong(Exception):
    """Code and message."""


def _encode(content: bytes, side_max: int) -> Encoded:
    if not content:
        raise _Wrong("required", "A picture is expected: PNG, JPEG, WebP or GIF.")
    if len(content) > UPLOAD_BYTES_MAX:
        raise _Wrong("too_long", f"A picture may have {UPLOAD_BYTES_MAX:,} bytes.")
    if not _one.acquire(timeout=WAIT_SECONDS_MAX):
        raise errors.Unavailable("Other pictures are being read. Send it again in a moment.")
    try:
        return _decoded(content, side_max)
    except _Wrong:
        raise
    except Exception:  # noqa: BLE001  decoders raise anything for bytes that were made to break them
        raise _Wrong("invalid_format", "This picture cannot be read: it may be damaged or incomplete.") from None
    finally:
        _one.release()


def _decoded(content: bytes, side_max: int) -> Encoded:
    from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415  start-up time counts

    try:
        picture = Image.open(io.BytesIO(content), formats=FORMATS)
    except UnidentifiedImageError:
        raise _Wrong("invalid_format", "This is no picture of a kind that is read: PNG, JPEG, WebP or GIF.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _Wrong("out_of_range", _TOO_MANY_PIXELS) from None
    with picture:
        width, height = picture.size
        if width * height > PIXELS_MAX or max(width, height) > SIDE_PIXELS_MAX:
            raise _Wrong("out_of_range", _TOO_MANY_PIXELS)
        is_photo = picture.format in {"JPEG", "MPO", "WEBP"}
        picture.draft("RGB", (2 * side_max, 2 * side_max))  # a large JPEG is decoded at half its size or less
        picture.load()
        upright = ImageOps.exif_transpose(picture)
        shown = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    if shown.mode == "RGBA" and shown.getchannel("A").getextrema()[0] == _OPAQUE:
        shown = shown.convert("RGB")
    return _saved(shown, "JPEG" if is_photo and shown.mode == "RGB" else "PNG", side_max)


def _saved(picture: "Image", kind: str, side_max: int) -> Encoded:
    """The file, made of smaller pixels until it has at most `ENCODED_BYTES_MAX`; an opaque PNG becomes a JPEG first."""
    picture.thumbnail((side_max, side_max), reducing_gap=3)
    while True:
        picture.info.clear()  # profiles, comments and texts would be written again
        file = io.BytesIO()
        picture.save(file, kind, **({"quality": QUALITY, "optimize": True} if kind == "JPEG" else {}))
        content = file.getvalue()
        if len(content) <= ENCODED_BYTES_MAX:
            return Encoded(content, f"image/{kind.lower()}", *picture.size)
        if kind == "PNG" and picture.mode == "RGB":
            kind = "JPEG"
        else:
            scale = SMALLER * math.sqrt(ENCODED_BYTES_MAX / len(content))
            picture.thumbnail((max(1, int(picture.width * scale)), max(1, int(picture.height * scale))))


ASSETS_MAX: Final = 2_000  # of an organization
BYTES_MAX: Final = 100_000_000  # of all of them
USES_NAMED_MAX: Final = 5
VERSION: Final = 1  # a picture never changes


async def get(db: Database, *, caller: Caller, asset_id: str, is_locked: bool = False) -> AssetRecord:
    found = await _get_asset(db, organization_id=caller.organization_id, asset_id=asset_id, is_locked=is_locked)
    return errors.found(found, "There is no such picture.")


async def keep(db: Database, *, caller: Caller, picture: "Encoded", title: str | None, now: datetime) -> AssetRecord:
    """Store a picture, or return the one that is there with the same bytes. Raises Invalid `too_many`."""
    organization_id = caller.organization_id
    content_hash = hashlib.sha256(picture.content).digest()
    count, size = await _get_total_locked(db, organization_id=organization_id)
    same = await _get_asset_by_hash(db, organization_id=organization_id, content_hash=content_hash)
    if same is not None:
        return same
    if count >= ASSETS_MAX or size + len(picture.content) > BYTES_MAX:
        message = f"An organization has at most {ASSETS_MAX:,} pictures of {BYTES_MAX:,} bytes. Delete some first."
        raise errors.Invalid.at("", "too_many", message)
    return await _insert_asset(db, caller=caller, title=title, picture=picture, content_hash=content_hash, now=now)


async def delete(db: Database, *, caller: Caller, asset_id: str, expect: errors.Expect = errors.ANY) -> None:
    """Raises NotFound, Forbidden, Conflict `in_use` with names of what uses it, and what `expect` raises."""
    asset = await get(db, caller=caller, asset_id=asset_id, is_locked=True)
    expect(VERSION)
    caller.require_whole()
    uses = await list_uses(db, organization_id=asset.organization_id, path=asset.path)
    if uses:
        raise errors.Conflict(f"The picture is in use: {', '.join(uses)}.", "in_use")
    await _delete_asset(db, organization_id=asset.organization_id, asset_id=asset_id)


async def require(db: Database, *, organization_id: str, address: str | None, pointer: str) -> None:
    """Raise Invalid where `address` names no picture of the organization. One that it has stays until the commit."""
    picture = read_address(address or "")
    if picture is None:
        return
    found = await _get_asset(db, organization_id=organization_id, asset_id=picture.asset_id, is_locked=True)
    if found is None or found.path != address:
        raise errors.Invalid.at(pointer, "unknown_id", "There is no such picture.")


MEDIA_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")
routes = Routes(tag="Assets", scope="Asset")


class AssetQuery(fields.Request):
    """The size that the picture may have."""

    side_max: Annotated[int, Meta(ge=16, le=ENCODED_SIDE_MAX)] = ENCODED_SIDE_MAX


Asset: Final = shown_as(
    "Asset",
    AssetRecord,
    before={"created_time": {"path": fields.Computed[str], "url": fields.Computed[str]}},
)


@routes.list("/asset", answer=Asset, summary="Get all assets")
async def list_assets(call: Call[None], db: Database) -> Answer:
    rows = await list_asset_records(db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(rows.map(lambda asset: _shown(asset, call)))


@routes.post(
    "/asset",
    query=AssetQuery,
    uploads=(*MEDIA_TYPES, uploads.FORM),
    bytes_max=UPLOAD_BYTES_MAX,
    prepare=lambda upload, query: (encode(upload.content, side_max=query.side_max), upload.file_name),
    answer=Asset,
    summary="Create Asset",
    description=(
        "A picture, or a form with the picture in it. It is encoded again: upright, at most "
        f"{ENCODED_SIDE_MAX:,} pixels a side, without metadata such as the place where it was taken, of an "
        f"animation the first frame. At most {PIXELS_MAX // 1_000_000} million pixels are read. One that is "
        "there already is answered as it is."
    ),
)
async def create_asset(call: Call[tuple[Encoded, str | None]], db: Database) -> Answer:
    picture, title = call.body
    asset = await keep(db, caller=call.caller, picture=picture, title=title, now=call.now)
    return Answer(_shown(asset, call), location=f"/asset/{asset.asset_id}")


@routes.get("/asset/{asset_id}", answer=Asset, summary="Get Asset")
async def get_asset(call: Call[None], db: Database) -> Answer:
    return Answer(_shown(await get(db, caller=call.caller, **call.ids), call))


@routes.delete(
    "/asset/{asset_id}",
    summary="Delete Asset",
    description="Refused while something uses it. Browsers and mail programs may keep what they loaded.",
    refusals=("in_use",),
)
async def delete_asset(call: Call[None], db: Database) -> None:
    await delete(db, caller=call.caller, **call.ids, expect=call.expect)


def _shown(asset: AssetRecord, call: Call[Any]) -> fields.Resource:
    return Asset.of(asset, call.zone, path=asset.path, url=f"{call.public_pages.public_url}{asset.path}")


page_routes = Pages()


@page_routes.get("/asset/{asset_id}/{name}")
async def picture(request: Request) -> Response:
    """The picture, for ever: under this address there are no other bytes."""
    asset_id: str = request.path_params["asset_id"]
    found = None
    if ids.is_id(asset_id):
        found = await db.load(request.state.pool, _get_content, asset_id=asset_id)
    if found is None or found[0].path != request.url.path:
        raise errors.NotFound("There is no such picture.")
    asset, content = found
    return public.picture(content, asset.media_type, is_named=True)
