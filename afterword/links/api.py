"""The HTTP routes of public links."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.core.answers.instances import State
from afterword.core.questionnaires import metadata
from afterword.core.wire import qr
from afterword.core.wire.site import Site
from afterword.db import Database
from afterword.links import service, store
from afterword.links.store import COUNTED_MAX, Link
from afterword.questionnaires import access
from afterword.questionnaires.metadata import service as metadata_service
from afterword.questionnaires.metadata.api import Name
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType
from afterword.web.operations import Answer, Call, Download, Routes

PATH: Final = "/q/questionnaire/{questionnaire_id}/link"
ONE: Final = "/q/link/{link_id}"
PARAMETERS_MAX: Final = 50
RESPONSES_MAX: Final = 1_000_000
MEANING: Final = (
    "Anybody who has its `url` may answer the published version. `metadata` are stored with each response; "
    "`parameters` names what the address may give besides, of declared names alone. With `takes_reference` the key of "
    "an order can stand behind the address (`…/ref/1042`)."
)

routes = Routes(tag="Public links")

Parameters = Annotated[list[Name], Meta(max_length=PARAMETERS_MAX)]
QrFormat = Literal["svg", "png"]
Per = Literal["browser", "address"]
Pin = Annotated[str, Meta(pattern=r"^[0-9]{4,12}(?![\s\S])", examples=["4711"])]
Most = Annotated[int, Meta(ge=1, le=RESPONSES_MAX)]


class Box(fields.Request):
    """When a website shows the link in a box. The first trigger opens it."""

    delay_seconds: Annotated[int, Meta(ge=0, le=3_600)] | None = None
    scroll_percent: Annotated[int, Meta(ge=1, le=100)] | None = None
    on_exit: bool = False
    click_selector: fields.Text200 | None = None
    addresses: Annotated[list[fields.Text200], Meta(max_length=20)] = msgspec.field(default_factory=list[str])
    share_percent: Annotated[int, Meta(ge=1, le=100)] = 100
    again_days: Annotated[int, Meta(ge=0, le=365)] = 30
    position: Literal["corner", "center"] = "corner"


class Kiosk(fields.Request):
    """When a device that stands in a shop begins again for the next person."""

    idle_seconds: Annotated[int, Meta(ge=15, le=3_600)] = 60
    thanks_seconds: Annotated[int, Meta(ge=3, le=120)] = 10


class PublicLinkRequest(fields.Request):
    """A new public link."""

    title: fields.Text200
    metadata: fields.MetadataMap = msgspec.field(default_factory=dict[str, str | None])
    parameters: Parameters = msgspec.field(default_factory=list[str])
    takes_reference: bool = False
    one_response_per: Per | None = None
    opens_time: fields.Moment | None = None
    closes_time: fields.Moment | None = None
    responses_max: Most | None = None
    locale: fields.LocaleNormal | None = None
    active: bool = True
    box: Box | None = None
    kiosk: Kiosk | None = None
    kiosk_pin: Pin | None = None


class PublicLinkUpdate(fields.Request):
    """Changes of a public link. Its address and its questionnaire stay."""

    title: fields.Text200 | UnsetType = UNSET
    metadata: fields.MetadataMap | UnsetType = UNSET
    parameters: Parameters | UnsetType = UNSET
    takes_reference: bool | UnsetType = UNSET
    one_response_per: Per | UnsetType | None = UNSET
    opens_time: fields.Moment | UnsetType | None = UNSET
    closes_time: fields.Moment | UnsetType | None = UNSET
    responses_max: Most | UnsetType | None = UNSET
    locale: fields.LocaleNormal | UnsetType | None = UNSET
    active: bool | UnsetType = UNSET
    box: Box | UnsetType | None = UNSET
    kiosk: Kiosk | UnsetType | None = UNSET
    kiosk_pin: Pin | UnsetType | None = UNSET


class QrQuery(fields.Request):
    """The file of a QR code."""

    format: Annotated[QrFormat, Meta(description="`svg` keeps its edges at every size.")] = "svg"
    pixels: Annotated[
        Annotated[int, Meta(ge=64, le=4_096)], Meta(description="The most pixels in a row of a `png`.")
    ] = qr.PIXELS_DEFAULT


class PublicLink(fields.Resource):
    """An address at which anybody may answer a questionnaire, and what is stored with each response."""

    link_id: fields.Id
    questionnaire_id: fields.Id
    title: str
    url: fields.Computed[str]
    metadata: fields.Computed[dict[str, str]]
    parameters: fields.Computed[list[str]]
    takes_reference: bool
    one_response_per: Per | None
    opens_time: fields.DateTime | None
    closes_time: fields.DateTime | None
    responses_max: int | None
    locale: str | None
    active: bool
    box: fields.Computed[Box | None]
    kiosk: fields.Computed[Kiosk | None]
    has_kiosk_pin: fields.Computed[bool]
    state: fields.Computed[State]
    responses_count: Annotated[
        fields.Computed[int], Meta(description=f"Answered instances, counted up to {COUNTED_MAX:,}.")
    ]
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


@routes.list(PATH, scope="Public Link.Read", answer=PublicLink, summary="Get all public links of a questionnaire")
async def list_questionnaire_links(call: Call[None], db: Database) -> Answer:
    await access.get(db, caller=call.caller, **call.ids)
    return await _listed(call, db, **call.ids)


@routes.list("/q/link", scope="Public Link.Read", answer=PublicLink, summary="Get all public links")
async def list_links(call: Call[None], db: Database) -> Answer:
    return await _listed(call, db)


@routes.post(
    PATH, scope="Public Link.Create", body=PublicLinkRequest, answer=PublicLink, summary="Create a public link",
    description=MEANING,
)  # fmt: skip
async def create_link(call: Call[PublicLinkRequest], db: Database) -> Answer:
    await _check_declared(call, db, **call.ids)
    link = await service.create(
        db,
        caller=call.caller,
        **call.ids,
        columns=columns_of(msgspec.structs.asdict(call.body)),
        secret=call.site.secret,
        now=call.now,
    )
    return Answer(shown(link, call, {}), version=link.version, location=f"/q/link/{link.link_id}")


@routes.get(ONE, scope="Public Link.Read", answer=PublicLink, summary="Get a public link")
async def get_link(call: Call[None], db: Database) -> Answer:
    return await _answer(call, db, await service.get(db, caller=call.caller, **call.ids))


@routes.patch(
    ONE, scope="Public Link.Update", body=PublicLinkUpdate, answer=PublicLink, summary="Change a public link",
    description="`active` false closes it at once. `metadata` and `parameters` are replaced as a whole.",
)  # fmt: skip
async def change_link(call: Call[PublicLinkUpdate], db: Database) -> Answer:
    before = await service.get(db, caller=call.caller, **call.ids)
    await _check_declared(call, db, questionnaire_id=before.questionnaire_id)
    link = await service.change(
        db,
        caller=call.caller,
        **call.ids,
        changes=columns_of(call.body.named()),
        expect=call.expect,
        secret=call.site.secret,
        now=call.now,
    )
    return await _answer(call, db, link)


@routes.delete(
    ONE,
    scope="Public Link.Delete",
    summary="Remove a public link",
    description="Refused once a response came by it; switch it off instead.",
    refusals=("in_use",),
)
async def delete_link(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.expect)


@routes.get(
    f"{ONE}/qr",
    scope="Public Link.Read",
    answer=None,
    query=QrQuery,
    media_types=("image/svg+xml", "image/png"),
    summary="Get the QR code of a public link",
    description="Its address as a picture, with the light around it that readers need.",
)
async def get_link_qr(call: Call[None], db: Database) -> Answer:
    link = await service.get(db, caller=call.caller, **call.ids)
    query: QrQuery = call.query or QrQuery()
    return Answer(download=qr_of(link, call.site, file_format=query.format, pixels=query.pixels))


def qr_of(link: Link, site: Site, *, file_format: QrFormat, pixels: int = qr.PIXELS_DEFAULT) -> Download:
    url = site.pages(link.organization_id).link_url(link.key)
    content = qr.svg(url) if file_format == "svg" else qr.png(url, pixels=pixels)
    kind = "image/svg+xml" if file_format == "svg" else "image/png"
    return Download.of(kind, f"qr-{link.key}.{file_format}", content)


def columns_of(members: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that the members of a request are stored in."""
    columns = dict(members)
    for name in ("opens_time", "closes_time"):
        if columns.get(name) is not None:
            columns[name] = columns[name].instant
    if "metadata" in columns:
        columns["metadata"] = {name: value for name, value in columns["metadata"].items() if value}
    for name in ("box", "kiosk"):
        if columns.get(name) is not None:
            columns[name] = msgspec.structs.asdict(columns[name])
    return columns


def box_of(link: Link) -> Box | None:
    return None if link.box is None else msgspec.convert(link.box, Box)


def kiosk_of(link: Link) -> Kiosk | None:
    return None if link.kiosk is None else msgspec.convert(link.kiosk, Kiosk)


def shown(link: Link, call: Call[Any], counts: Mapping[str, int]) -> PublicLink:
    return PublicLink.of(
        link,
        call.zone,
        url=call.public_pages.link_url(link.key),
        box=box_of(link),
        kiosk=kiosk_of(link),
        has_kiosk_pin=link.kiosk_pin_hash is not None,
        state=link.state(call.now),
        responses_count=counts.get(link.link_id, 0),
    )


async def _check_declared(
    call: Call[PublicLinkRequest] | Call[PublicLinkUpdate], db: Database, *, questionnaire_id: str
) -> None:
    """Raise Invalid `unknown_metadata` for a name that nobody declared, where the client asked for strictness."""
    if not call.strict or call.body.metadata is UNSET:
        return
    declared = await metadata_service.declared_of(db, **call.caller.part, questionnaire_id=questionnaire_id)
    metadata.changes_of(call.body.metadata, declared=declared, strict=True)


async def _answer(call: Call[Any], db: Database, link: Link) -> Answer:
    counts = await store.count_answered(db, organization_id=link.organization_id, link_ids=[link.link_id])
    return Answer(shown(link, call, counts), version=link.version)


async def _listed(call: Call[None], db: Database, *, questionnaire_id: str | None = None) -> Answer:
    rows = await store.list_links(db, **call.caller.part, questionnaire_id=questionnaire_id, page=call.page)
    counts = await store.count_answered(
        db, organization_id=call.caller.organization_id, link_ids=[link.link_id for link in rows.items]
    )
    return Answer(rows.map(lambda link: shown(link, call, counts)))
