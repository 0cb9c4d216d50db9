"""Public links, at which anybody may answer a questionnaire, and the mails that confirm visitors' addresses."""

import base64
import binascii
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec import Meta

from afterword import errors, ids
from afterword.asking.questionnaires import access, metadata as metadata_service
from afterword.asking.questionnaires.metadata import Name
from afterword.core import keys
from afterword.core.answers import instances
from afterword.core.answers.instances import State
from afterword.core.answers.suspicion import token_of
from afterword.core.messaging.addresses import CHANNEL_EMAIL, address_key, normal_or_none
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import metadata
from afterword.core.wire import qr
from afterword.core.wire.site import Site
from afterword.errors import FieldError
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import answer_of, answer_of_rows, route_of
from afterword.kit.nouns.declaration import Change, Computed, Editable, Given, Hidden, Noun, Record, Shown, moment
from afterword.kit.nouns.service import Made
from afterword.kit.nouns.structs import creation_of, listing_of, resource_of, update_of
from afterword.kit.texts import Marked
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET
from afterword.kit.web.operations import Answer, Call, Download, Routes
from afterword.people.responders import store as responders_store
from afterword.tenants import mails

PATH: Final = "/q/questionnaire/{questionnaire_id}/link"
ONE: Final = "/q/link/{link_id}"
PARAMETERS_MAX: Final = 50
RESPONSES_MAX: Final = 1_000_000
COUNTED_MAX: Final = 10_000  # responses of one link in a list
PIN_PURPOSE: Final = "kiosk"
CONFIRMED_FOR: Final = timedelta(hours=24)
MAILS_PER_HOUR: Final = 3  # to one address: a stranger must not fill somebody's mailbox
HOUR: Final = timedelta(hours=1)
MEANING: Final = (
    "Anybody who has its `url` may answer the published version. `metadata` are stored with each response; "
    "`parameters` names what the address may give besides, of declared names alone. With `takes_reference` the key of "
    "an order can stand behind the address (`…/ref/1042`)."
)

PER: Final[tuple[tuple[str, Marked], ...]] = (
    ("", "any number of times"),
    ("browser", "once per browser"),
    ("address", "once per e-mail address"),
)
POSITIONS: Final[tuple[tuple[str, Marked], ...]] = (
    ("corner", "in the lower corner"),
    ("center", "in the middle, above the page"),
)
KIOSK_LAYOUTS: Final[tuple[tuple[str, Marked], ...]] = (
    ("by_question", "a start screen, single questions"),
    ("one_page", "all questions on one page"),
)
Parameters = Annotated[list[Name], Meta(max_length=PARAMETERS_MAX)]
QrFormat = Literal["svg", "png"]
Per = Literal["browser", "address"]
Pin = Annotated[str, Meta(pattern=r"^[0-9]{4,12}(?![\s\S])", examples=["4711"])]
Most = Annotated[int, Meta(ge=1, le=RESPONSES_MAX)]


class Box(fields.Request):
    """When a website shows the link in a box. The first trigger opens it."""

    delay_seconds: Annotated[
        Annotated[int, Meta(ge=0, le=3_600)] | None, Editable("Opens after (seconds)", "Empty: not by time.", "number")
    ] = None
    scroll_percent: Annotated[
        Annotated[int, Meta(ge=1, le=100)] | None,
        Editable("Opens after scrolling (percent of the page)", "Empty: not by scrolling.", "number"),
    ] = None
    on_exit: Annotated[
        bool, Editable("Opens when the pointer leaves the page", "Does not happen on phones.", "switch")
    ] = False
    click_selector: Annotated[
        fields.Text200 | None,
        Editable(
            "Opens on a click on",
            "A CSS selector, such as #feedback. A click always opens the box, whatever is set below.",
        ),
    ] = None
    addresses: Annotated[
        list[fields.Text200],
        Meta(max_length=20),
        Editable("Pages", "Paths, one per line; * stands for anything: /checkout/*. Empty: all pages.", "lines"),
    ] = msgspec.field(default_factory=list[str])
    share_percent: Annotated[int, Meta(ge=1, le=100), Editable("Percent of visitors", "", "number")] = 100
    again_days: Annotated[
        int, Meta(ge=0, le=365), Editable("Days until the same browser sees it again", "0: each time.", "number")
    ] = 30
    position: Annotated[Literal["corner", "center"], Editable("Position", "", "choice", POSITIONS)] = "corner"


class Kiosk(fields.Request):
    """When a device that stands in a shop begins again for the next person."""

    idle_seconds: Annotated[
        int,
        Meta(ge=15, le=3_600),
        Editable(
            "Asks “Are you still there?” after (seconds)",
            "Ten seconds later it restarts. Answers already given are kept.",
            "number",
        ),
    ] = 60
    thanks_seconds: Annotated[
        int, Meta(ge=3, le=120), Editable("Shows the thank-you page for (seconds)", "", "number")
    ] = 10
    layout: Annotated[Literal["by_question", "one_page"], Editable("The screen shows", "", "choice", KIOSK_LAYOUTS)] = (
        "by_question"
    )


class QrQuery(fields.Request):
    """The file of a QR code."""

    format: Annotated[QrFormat, Meta(description="`svg` keeps its edges at every size.")] = "svg"
    pixels: Annotated[
        Annotated[int, Meta(ge=64, le=4_096)], Meta(description="The most pixels in a row of a `png`.")
    ] = qr.PIXELS_DEFAULT


class LinkInUse(errors.Conflict):
    code_default = "in_use"


class PublicLink(Record, kw_only=True):
    """An address at which anybody may answer a questionnaire, and what is stored with each response."""

    link_id: fields.Id
    questionnaire_id: fields.Id
    key: Annotated[str, Hidden(holds="ours")]
    title: Annotated[fields.Text200, Editable("Name", "Only you see it, for example “Poster in the shop window”.")]
    url: Annotated[fields.Computed[str], Shown()] = ""
    metadata: Annotated[
        dict[str, str],
        Editable(
            "Stored with each response",
            "One name and value per line: store_id = Athens",
            "lines",
            wire=fields.MetadataMap,
            shown=fields.Computed[dict[str, str]],
            write=lambda given: {name: value for name, value in given.items() if value},
        ),
    ] = msgspec.field(default_factory=dict[str, str])
    parameters: Annotated[
        Parameters,
        Editable(
            "Read from the address",
            "Declared names, one per line. Others are dropped.",
            "lines",
            shown=fields.Computed[list[str]],
        ),
    ] = msgspec.field(default_factory=list[str])
    takes_reference: Annotated[
        bool,
        Editable(
            "The address may end with a reference",
            "As in …/ref/1042-x7Kd: each reference has one response. Use references that cannot be guessed.",
            "switch",
        ),
    ] = False
    one_response_per: Annotated[
        Per | None,
        Editable(
            "Can be answered",
            "People who delete cookies or use another browser can answer again. An e-mail address is confirmed "
            "by an e-mail.",
            "choice",
            PER,
            holds="fixed",
        ),
    ] = None
    opens_time: Annotated[datetime | None, moment("Opens on", "Empty: immediately.")] = None
    closes_time: Annotated[datetime | None, moment("Closes on", "Empty: never.")] = None
    responses_max: Annotated[
        Most | None, Editable("Maximum responses", "Empty: no limit. People who have started may finish.", "number")
    ] = None
    locale: Annotated[fields.LocaleNormal | None, Editable("Language", "", "choice", holds="fixed")] = None
    active: Annotated[bool, Editable("Accepting responses", "", "switch")] = True
    box: Annotated[Mapping[str, Any] | None, Editable(wire=Box | None)] = None
    kiosk: Annotated[Mapping[str, Any] | None, Editable(wire=Kiosk | None, holds="fixed")] = None
    kiosk_pin: Annotated[Pin | None, Given("PIN to leave", "4 to 12 digits. Empty: no change.")] = None
    kiosk_pin_hash: Annotated[str | None, Hidden(holds="ours")]
    has_kiosk_pin: Annotated[fields.Computed[bool], Computed(sql="t.kiosk_pin_hash is not null")] = False
    state: Annotated[fields.Computed[State], Shown()] = "off"
    responses_count: Annotated[
        fields.Computed[int], Meta(description=f"Answered instances, counted up to {COUNTED_MAX:,}."), Shown()
    ] = 0

    def state_at(self, now: datetime) -> State:
        return instances.state_of(active=self.active, opens_time=self.opens_time, closes_time=self.closes_time, now=now)


async def _check(change: Change[PublicLink]) -> None:
    columns, wrong = change.columns, list[FieldError]()
    opens, closes, per = (change.after(name) for name in ("opens_time", "closes_time", "one_response_per"))
    if opens is not None and closes is not None and closes <= opens:
        wrong.append(FieldError("out_of_range", "A link closes after it opens.", pointer="/closes_time"))
    if change.after("takes_reference") and per is not None:
        message = "A reference has one response already; choose one of the two."
        wrong.append(FieldError("exclusive", message, pointer="/one_response_per"))
    if change.after("kiosk") is not None and per is not None:
        message = "A kiosk has a new response for each person; leave out the limit."
        wrong.append(FieldError("exclusive", message, pointer="/one_response_per"))
    errors.check(wrong)
    if change.before is None:
        columns["key"] = ids.short_code()
    if "kiosk_pin" in columns:
        pin = columns.pop("kiosk_pin")
        columns["kiosk_pin_hash"] = None if pin is None else _pin_hash(change.key, pin, secret=change.site.secret)


async def _delete_unused(change: Change[PublicLink], _options: Mapping[str, Any]) -> None:
    if await get_has_instances(change.db, organization_id=change.caller.organization_id, link_id=change.key):
        raise LinkInUse("Responses came by this link. Switch it off instead, so that they can still be told apart.")
    await nouns.delete_row(LINK, change)


async def _show(call: Call[Any], db: Database, links: Sequence[PublicLink]) -> list[Mapping[str, Any]]:
    organization_id = call.caller.organization_id
    counts = await count_answered(db, organization_id=organization_id, link_ids=[link.link_id for link in links])
    return [
        {
            "url": call.public_pages.link_url(link.key),
            "box": box_of(link),
            "kiosk": kiosk_of(link),
            "state": link.state_at(call.now),
            "responses_count": counts[link.link_id],
        }
        for link in links
    ]


LINK = Noun(
    record=PublicLink,
    table="public_link",
    one="public link",
    many="public links",
    tag="Public links",
    path="/q/link",
    scope="Public Link",
    about_create="A new public link.",
    about_update="Changes of a public link. Its address and its questionnaire stay.",
    summaries={"get": "Get a public link", "delete": "Remove a public link"},
    about={"delete": "Refused once a response came by it; switch it off instead."},
    names={"list": "list_links", "get": "get_link", "delete": "delete_link"},
    refusals={"delete": ("in_use",)},
    shape="envelope",
    parent="questionnaire_id",
    visible="""(cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2)))""",
    most=2_000,
    filled=("questionnaire_id", "key", "kiosk_pin_hash"),
    filled_later=("kiosk_pin_hash",),
    lock="for update",
    check=_check,
    delete=_delete_unused,
    show=_show,
)
RESOURCE: Final = resource_of(LINK)
routes = Routes(tag=LINK.tag, scope="Public Link")


@routes.list(PATH, answer=RESOURCE, listing=listing_of(LINK), summary="Get all public links of a questionnaire")
async def list_questionnaire_links(call: Call[None], db: Database) -> Answer:
    await access.get(db, caller=call.caller, **call.ids)
    rows = await nouns.rows(LINK, db, **call.caller.part, parent_id=call.ids["questionnaire_id"], page=call.page)
    return await answer_of_rows(LINK, call, db, rows)


routes.all.append(route_of(LINK, "list"))


@routes.post(
    PATH, body=creation_of(LINK), answer=RESOURCE, summary="Create a public link",
    description=MEANING
)  # fmt: skip
async def create_link(call: Call[Any], db: Database) -> Answer:
    await _check_declared(call, db, **call.ids)
    link = await create(db, **call.ids, columns=call.body.named(), **call.acting)
    return await answer_of(LINK, call, db, Made(link))


routes.all.append(route_of(LINK, "get"))


@routes.patch(
    ONE, body=update_of(LINK), answer=RESOURCE, summary="Change a public link",
    description="`active` false closes it at once. `metadata` and `parameters` are replaced as a whole."
)  # fmt: skip
async def change_link(call: Call[Any], db: Database) -> Answer:
    before = await nouns.get(LINK, db, caller=call.caller, key=call.ids["link_id"])
    await _check_declared(call, db, questionnaire_id=before.questionnaire_id)
    changes, expect = call.body.named(), call.expect
    link = await nouns.update(LINK, db, key=before.link_id, changes=changes, expect=expect, **call.acting)
    return await answer_of(LINK, call, db, Made(link), is_new=False)


routes.all.append(route_of(LINK, "delete"))


@routes.get(
    f"{ONE}/qr",
    query=QrQuery,
    media_types=("image/svg+xml", "image/png"),
    summary="Get the QR code of a public link",
    description="Its address as a picture, with the light around it that readers need.",
)
async def get_link_qr(call: Call[None], db: Database) -> Answer:
    link = await nouns.get(LINK, db, caller=call.caller, key=call.ids["link_id"])
    query: QrQuery = call.query
    return Answer(download=qr_of(link, call.site, file_format=query.format, pixels=query.pixels))


def qr_of(link: PublicLink, site: Site, *, file_format: QrFormat, pixels: int = qr.PIXELS_DEFAULT) -> Download:
    url = site.pages(link.organization_id).link_url(link.key)
    content = qr.svg(url) if file_format == "svg" else qr.png(url, pixels=pixels)
    kind = "image/svg+xml" if file_format == "svg" else "image/png"
    return Download.of(kind, f"qr-{link.key}.{file_format}", content)


async def create(
    db: Database, *, caller: Caller, questionnaire_id: str, columns: Mapping[str, Any], site: Site, now: datetime
) -> PublicLink:
    """Raises NotFound (questionnaire), Invalid."""
    await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    columns = {**columns, "questionnaire_id": questionnaire_id}
    made = await nouns.create(LINK, db, caller=caller, columns=columns, site=site, now=now)
    return made.record


def box_of(link: PublicLink) -> Box | None:
    return None if link.box is None else msgspec.convert(link.box, Box)


def kiosk_of(link: PublicLink) -> Kiosk | None:
    return None if link.kiosk is None else msgspec.convert(link.kiosk, Kiosk)


async def _check_declared(call: Call[Any], db: Database, *, questionnaire_id: str) -> None:
    """Raise Invalid `unknown_metadata` for a name that nobody declared, where the client asked for strictness."""
    if not call.strict or call.body.metadata is UNSET:
        return
    declared = await metadata_service.declared_of(db, **call.caller.part, questionnaire_id=questionnaire_id)
    metadata.changes_of(call.body.metadata, declared=declared, strict=True)


async def is_full(db: Database, *, link: PublicLink, is_locked: bool = False) -> bool:
    """Whether the link has as many responses as it may have; `is_locked`: the count holds until the end."""
    most = link.responses_max
    if most is None:
        return False
    if is_locked:
        await db.claim_key(f"link:{link.organization_id}{link.link_id}")
    counts = await count_answered(db, organization_id=link.organization_id, link_ids=[link.link_id], limit=most)
    return counts[link.link_id] >= most


async def ask_to_confirm(
    db: Database, *, link: PublicLink, address: str, language: str, query: str, site: Site, now: datetime
) -> None:
    """Mail the link that opens the questions once for this address. Raises Invalid `invalid_address`.

    Nothing is sent to an address that is suppressed or got MAILS_PER_HOUR such mails, and the visitor is not told.
    """
    normal = normal_or_none(CHANNEL_EMAIL, address)
    if normal is None:
        raise errors.Invalid.at("/email", "invalid_address", "This is not an e-mail address.")
    organization_id = link.organization_id
    key = address_key(site.secret, CHANNEL_EMAIL, normal)
    suppressed = await responders_store.list_suppressions_for(
        db, addresses=[(organization_id, CHANNEL_EMAIL, key)], now=now
    )
    sent = await _count_confirmations(db, organization_id=organization_id, address_key=key, since=now - HOUR)
    if suppressed or sent >= MAILS_PER_HOUR:
        return
    proof = _sealed(link, normal, secret=site.secret, until=now + CONFIRMED_FOR)
    await mails.insert_mail(
        db,
        organization_id=organization_id,
        user_id=None,
        purpose="answer",
        url=f"{site.pages(link.organization_id).link_url(link.key)}?{query}{'&' if query else ''}by={proof}",
        recipient=normal,
        locale=language,
        address_key=key,
        secret=site.secret,
        now=now,
    )


def confirmed_address(link: PublicLink, *, proof: str, secret: bytes, now: datetime) -> str | None:
    """The address that the mailed link proves; None where it is not ours, or its time is over."""
    try:
        sealed = base64.urlsafe_b64decode(proof.encode("ascii") + b"=" * (-len(proof) % 4))
        until, _, address = sealing.unseal(sealed, secret=secret, context=_context(link)).partition(" ")
    except (binascii.Error, ValueError, sealing.Unreadable):
        return None
    return address if now.timestamp() < int(until) else None


def _sealed(link: PublicLink, address: str, *, secret: bytes, until: datetime) -> str:
    sealed = sealing.seal(f"{int(until.timestamp())} {address}", secret=secret, context=_context(link))
    return base64.urlsafe_b64encode(sealed).decode("ascii").rstrip("=")


def _context(link: PublicLink) -> str:
    return f"link:{link.organization_id}:{link.link_id}"


def is_pin(link: PublicLink, pin: str, *, secret: bytes) -> bool:
    """Whether the PIN ends kiosk mode; any does where none is set."""
    known = link.kiosk_pin_hash
    return known is None or hmac.compare_digest(known, _pin_hash(link.link_id, pin, secret=secret))


def _pin_hash(link_id: str, pin: str, *, secret: bytes) -> str:
    return token_of(keys.addresses_of(secret), PIN_PURPOSE, f"{link_id}\n{pin}")


_COLUMNS: Final[LiteralString] = columns_of(
    PublicLink, without={"url", "kiosk_pin", "has_kiosk_pin", "state", "responses_count"}
)


async def get_link_by_key(  # any tenant: the key opens the page
    db: Database, *, key: str
) -> PublicLink | None:
    return await db.records(PublicLink).fetch_row(f"select {_COLUMNS} from public_link where key = $1", key)


async def count_answered(
    db: Database, *, organization_id: str, link_ids: Sequence[str], limit: int = COUNTED_MAX
) -> dict[str, int]:
    return await db.fetch_pairs(
        """select k.link_id, (
             select count(*) from (
               select from questionnaire_instance i where i.organization_id = $1 and i.link_id = k.link_id
                 and i.submitted_time is not null and i.deleted_time is null limit $3) i) as count
           from unnest($2::text[]) k (link_id)""",
        *(organization_id, list(link_ids), limit),
    )


async def get_has_instances(db: Database, *, organization_id: str, link_id: str) -> bool:
    """Whether responses name the link, also ones that are held back."""
    return await db.fetch_value(
        """select exists (
             select from questionnaire_instance where organization_id = $1 and link_id = $2
               and submitted_time is not null and deleted_time is null)
           or exists (
             select from questionnaire_instance where organization_id = $1 and link_id = $2
               and coalesce(judgement, 'marked') in ('held', 'rejected') and flags is not null
               and deleted_time is null)""",
        *(organization_id, link_id),
    )


async def _count_confirmations(db: Database, *, organization_id: str, address_key: bytes, since: datetime) -> int:
    return await db.fetch_value(
        """select count(*) from notice_mail where organization_id = $1 and created_time > $3 and address_key = $2""",
        *(organization_id, address_key, since),
    )
