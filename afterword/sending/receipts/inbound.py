"""Opens callback endpoints of providers, and takes their calls: first the signature, then the content.

A call without the right signature changes nothing, not even a time. A callback never makes us call anything.
"""

import json
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
import structlog
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.core.messaging import webhooks
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Page, Rows
from afterword.core.wire.site import Site
from afterword.kit import db, sealing
from afterword.kit.db import Database
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.transport.mime import Unreadable, Unsigned
from afterword.kit.web import fields, public
from afterword.kit.web.limits import Limiter
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.routing import Pages
from afterword.sending.channels import accounts as kinds, callbacks
from afterword.sending.channels.callbacks import CallbackResult
from afterword.sending.providers import service as accounts
from afterword.sending.receipts import service

Adapter = Literal["standard", "sns", "provider"]


class Endpoint(msgspec.Struct, frozen=True):
    """An address where the provider of an account reports. `secret` signs reports in our own form, shown this once.

    `confirm_url` confirms the subscription of a topic: open it yourself, it is never called.
    """

    organization_id: Annotated[str, Hidden()]
    inbound_id: fields.Id
    account_id: fields.Id
    channel_id: fields.ChannelId
    adapter: Adapter
    settings: Annotated[bytes | None, Hidden()]  # sealed, None where the account's own suffice
    confirm_url: str | None
    confirm_time: Annotated[datetime | None, Hidden()]
    last_time: datetime | None
    created_time: datetime


_SELECT: Final[
    LiteralString
] = """select e.organization_id, e.inbound_id, e.account_id, a.channel_id, e.adapter, e.settings,
             e.confirm_url, e.confirm_time, e.last_time, e.created_time
           from inbound_endpoint e
           join channel_account a on a.organization_id = e.organization_id and a.account_id = e.account_id"""


async def _get_endpoint(db: Database, *, inbound_id: str) -> Endpoint | None:  # any tenant: the path has none
    return await db.records(Endpoint).fetch_row(f"{_SELECT} where e.inbound_id = $1", inbound_id)


async def list_endpoints(db: Database, *, organization_id: str) -> list[Endpoint]:
    return await db.records(Endpoint).fetch(
        f"{_SELECT} where e.organization_id = $1 order by e.created_time, e.inbound_id", organization_id
    )


async def _list_own_endpoints(db: Database, *, organization_id: str, page: Page) -> Rows[Endpoint]:
    return await db.records(Endpoint).fetch_list(f"{_SELECT} where e.organization_id = $1", organization_id, page=page)


async def _get_own_endpoint(db: Database, *, organization_id: str, inbound_id: str) -> Endpoint | None:
    return await db.records(Endpoint).fetch_row(
        f"{_SELECT} where e.organization_id = $1 and e.inbound_id = $2", organization_id, inbound_id
    )


async def list_account_ids(db: Database, *, organization_id: str, channel_id: int) -> list[str]:
    """The organization's accounts on a channel, its default first."""
    return await db.fetch_column(
        """select account_id from channel_account where organization_id = $1 and channel_id = $2
           order by is_default desc, created_time, account_id""",
        organization_id,
        channel_id,
    )


async def _insert_endpoint(
    db: Database, *, organization_id: str, columns: Mapping[str, object], settings: bytes | None
) -> bool:
    """Add it; False if the account has one of that form. `columns`: inbound_id, account_id, adapter, created_time."""
    return await db.touches(
        """insert into inbound_endpoint (organization_id, inbound_id, account_id, adapter, settings, created_time)
           select $1, s.inbound_id, s.account_id, s.adapter, $3, s.created_time
           from jsonb_populate_record(null::inbound_endpoint, $2) s
           on conflict (organization_id, account_id, adapter) do nothing""",
        *(organization_id, columns, settings),
    )


async def _update_endpoint_heard(
    db: Database, *, organization_id: str, inbound_id: str, confirm_url: str | None, now: datetime
) -> None:
    """Record the time of the last call, to the minute, and an address that asks to be confirmed."""
    await db.execute(
        """update inbound_endpoint
           set last_time = $4, confirm_url = coalesce($3, confirm_url),
             confirm_time = case when $3::text is null then confirm_time else $4 end
           where organization_id = $1 and inbound_id = $2
             and ($3::text is not null or last_time is null or last_time < $4::timestamptz - interval '1 minute')""",
        organization_id,
        inbound_id,
        confirm_url,
        now,
    )


async def delete_endpoint(db: Database, *, organization_id: str, inbound_id: str) -> None:
    """Raises NotFound."""
    query: LiteralString = "delete from inbound_endpoint where organization_id = $1 and inbound_id = $2"
    if not await db.execute(query, organization_id, inbound_id):
        raise errors.NotFound("There is no such address.")


ADAPTERS: Final[tuple[Adapter, ...]] = ("standard", "sns", "provider")
TOPIC_CHARACTERS_MAX: Final = 300
VERSION: Final = 1  # an address never changes

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class BadSignature(errors.Unauthorized):
    code_default = "bad_signature"


class AlreadyOpen(errors.Conflict):
    """The account has an endpoint of this form."""


class Callback(msgspec.Struct, frozen=True, kw_only=True):
    """A call: header names in lower case, the body byte for byte, the query of its address."""

    headers: Mapping[str, str]
    query: str
    body: bytes
    is_get: bool = False


async def open_endpoint(
    db: Database,
    *,
    organization_id: str,
    account_id: str,
    adapter: Adapter,
    site: Site,
    now: datetime,
    topic: str | None = None,
    certificate: str | None = None,
) -> tuple[str, str | None]:
    """The id of a new endpoint, and the key of one in our own form, shown this once.

    `topic` and `certificate` (PEM) are pinned for an `sns` endpoint. Raises Invalid, AlreadyOpen.
    """
    inbound_id, key, settings = ids.secret(), None, None
    match adapter:
        case "standard":
            key = webhooks.secret_of(secrets.token_bytes(webhooks.SECRET_BYTES))
            settings = {"key": key}
        case "sns":
            settings = _pinned(topic, certificate)
        case "provider":
            pass
    sealed = None
    if settings is not None:
        sealed = sealing.seal(json.dumps(settings), secret=site.secret, context=_context(organization_id, inbound_id))
    columns = {"inbound_id": inbound_id, "account_id": account_id, "adapter": adapter, "created_time": now}
    if not await _insert_endpoint(db, organization_id=organization_id, columns=columns, settings=sealed):
        raise AlreadyOpen("The account has an address of this form already. Close it first to make another.")
    return inbound_id, key


async def get(db: Database, *, caller: Caller, inbound_id: str) -> Endpoint:
    """An address of the caller's organization. Raises NotFound, Forbidden."""
    caller.require_whole()
    found = await _get_own_endpoint(db, organization_id=caller.organization_id, inbound_id=inbound_id)
    return errors.found(found, "There is no such address.")


async def create(
    db: Database, *, caller: Caller, account_id: str, adapter: Adapter, site: Site, now: datetime, **pinned: str | None
) -> tuple[Endpoint, str | None]:
    """Open an address of an account; also the key as `open_endpoint` returns it.

    Raises Forbidden, Invalid, AlreadyOpen.
    """
    caller.require_real()
    try:
        account = await accounts.get(db, caller=caller, account_id=account_id)
    except errors.NotFound:
        raise errors.Invalid.at("/account_id", "unknown_id", "There is no such account.") from None
    if adapter == "provider" and account.kind not in kinds.CALLED_BACK:
        message = "Providers of this kind of account do not call back."
        raise errors.Invalid.at("/adapter", "unknown_value", message)
    inbound_id, key = await open_endpoint(
        db,
        organization_id=caller.organization_id,
        account_id=account_id,
        adapter=adapter,
        site=site,
        now=now,
        **pinned,
    )
    return await get(db, caller=caller, inbound_id=inbound_id), key


async def delete(db: Database, *, caller: Caller, inbound_id: str, expect: errors.Expect = errors.ANY) -> None:
    """Close an address of the caller's organization. Raises NotFound, Forbidden, and what `expect` raises."""
    caller.require_real()
    await get(db, caller=caller, inbound_id=inbound_id)
    expect(VERSION)
    await delete_endpoint(db, organization_id=caller.organization_id, inbound_id=inbound_id)


async def receive(db: Database, *, inbound_id: str, callback: Callback, site: Site, now: datetime) -> int:
    """Apply the reports of a call; the number of new ones.

    Raises NotFound for an unknown endpoint, MethodNotAllowed for a GET unless the provider reports so, BadSignature,
    and Invalid for signed content that is no report.
    """
    endpoint = await _get_endpoint(db, inbound_id=inbound_id) if ids.is_id(inbound_id) else None
    if endpoint is None:
        raise errors.NotFound("There is nothing at this address.")
    try:
        result = await _read(db, endpoint, callback, site, now)
    except Unsigned as error:
        raise BadSignature(str(error)) from None
    except Unreadable as error:
        raise errors.Invalid(str(error)) from None
    counted = await service.take(
        db,
        organization_id=endpoint.organization_id,
        account_id=endpoint.account_id,
        reports=result.reports,
        now=now,
        secret=site.secret,
    )
    if result.confirm_url is not None:
        logger.warning("a topic wants its subscription confirmed: afterword inbound list", inbound_id=inbound_id)
    if counted < len(result.reports):
        logger.info("reports that were no news", inbound_id=inbound_id, count=len(result.reports) - counted)
    if counted or result.confirm_url is not None:
        await _update_endpoint_heard(
            db, organization_id=endpoint.organization_id, inbound_id=inbound_id, confirm_url=result.confirm_url, now=now
        )
    return counted


async def _read(db: Database, endpoint: Endpoint, callback: Callback, site: Site, now: datetime) -> CallbackResult:
    if callback.is_get and endpoint.adapter != "provider":
        raise not_by_get()
    if endpoint.adapter == "provider":
        return await _read_by_provider(db, endpoint, callback, site)
    settings = _settings(endpoint, site)
    if endpoint.adapter == "standard":
        return callbacks.read_standard(headers=callback.headers, body=callback.body, key=settings["key"], now=now)
    return callbacks.read_sns(body=callback.body, topic=settings["topic"], certificate=settings["certificate"], now=now)


async def _read_by_provider(db: Database, endpoint: Endpoint, callback: Callback, site: Site) -> CallbackResult:
    """Read a call by the kind of the account. Providers sign the address that they were given."""
    try:
        opened = await accounts.open_account(
            db, organization_id=endpoint.organization_id, account_id=endpoint.account_id, site=site
        )
    except sealing.Unreadable:
        raise Unsigned("The account's settings must be given anew.") from None
    if opened is None:
        raise Unsigned("This account's provider calls nothing back.")
    if callback.is_get and not kinds.takes_get(opened.kind, opened.settings):
        raise not_by_get()
    url = str(opened.settings.get(accounts.STATUS_URL) or site.inbound_url(endpoint.inbound_id))
    found = kinds.parse_callback(
        opened.kind,
        opened.settings,
        headers=callback.headers,
        query=callback.query,
        body=callback.body,
        url=f"{url}?{callback.query}" if callback.query else url,
    )
    return CallbackResult(found)


def not_by_get() -> errors.MethodNotAllowed:
    return errors.MethodNotAllowed("This address takes POST.", headers={"Allow": "POST"})


def _settings(endpoint: Endpoint, site: Site) -> Mapping[str, Any]:
    context = _context(endpoint.organization_id, endpoint.inbound_id)
    try:
        return json.loads(sealing.unseal(endpoint.settings or b"", secret=site.secret, context=context))
    except sealing.Unreadable:
        logger.error("an inbound address was sealed with another secret", inbound_id=endpoint.inbound_id)  # noqa: TRY400
        raise Unsigned("This address must be opened anew.") from None


def _pinned(topic: str | None, certificate: str | None) -> dict[str, str]:
    if not topic or not topic.startswith("arn:") or len(topic) > TOPIC_CHARACTERS_MAX:
        raise errors.Invalid.at("/topic", "invalid_format", "The ARN of the topic is expected.")
    if (wrong := callbacks.check_certificate(certificate or "")) is not None:
        raise errors.Invalid.at("/certificate", "invalid_format", wrong)
    return {"topic": topic, "certificate": certificate or ""}


def _context(organization_id: str, inbound_id: str) -> str:
    return f"inbound:{organization_id}:{inbound_id}"


CERTIFICATE_CHARACTERS_MAX: Final = 65_536

routes = Routes(tag="Providers", scope="Inbound")


class InboundRequest(fields.Request):
    """An address to open. `topic` (its ARN) and `certificate` (PEM) are pinned, and `sns` alone has them."""

    account_id: fields.Id
    adapter: Adapter
    topic: Annotated[str, Meta(max_length=TOPIC_CHARACTERS_MAX)] | None = None
    certificate: Annotated[str, Meta(max_length=CERTIFICATE_CHARACTERS_MAX)] | None = None


_SHOWN: Final = {"url": fields.Computed[str], "secret": fields.ShownOnce}
Inbound: Final = shown_as("Inbound", Endpoint, before={"confirm_url": _SHOWN})


@routes.list("/inbound", answer=Inbound, shape="array", summary="Get all inbound addresses")
async def list_inbounds(call: Call[None], db: Database) -> Answer:
    call.caller.require_whole()
    found = await _list_own_endpoints(db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(found.map(lambda one: Inbound.of(one, call.zone, url=call.site.inbound_url(one.inbound_id))))


@routes.post(
    "/inbound",
    answer=Inbound,
    summary="Open inbound address",
    description="`standard`: our own form, signed with the `secret` of this answer; `sns`: Amazon SES by SNS; "
    "`provider`: as the account's own gateway calls, opened with the account. An account has one of each.",
    refusals=("already_exists",),
)
async def open_inbound(call: Call[InboundRequest], db: Database) -> Answer:
    endpoint, key = await create(db, caller=call.caller, **call.body.named(), site=call.site, now=call.now)
    shown = Inbound.of(endpoint, call.zone, url=call.site.inbound_url(endpoint.inbound_id), secret=key)
    return Answer(shown, version=VERSION, location=f"/inbound/{endpoint.inbound_id}")


@routes.get("/inbound/{inbound_id}", answer=Inbound, summary="Get inbound address")
async def get_inbound(call: Call[None], db: Database) -> Answer:
    found = await get(db, caller=call.caller, **call.ids)
    return Answer(Inbound.of(found, call.zone, url=call.site.inbound_url(found.inbound_id)), version=VERSION)


@routes.delete(
    "/inbound/{inbound_id}", summary="Close inbound address", description="Calls to it find nothing from then on."
)
async def close_inbound(call: Call[None], db: Database) -> None:
    await delete(db, caller=call.caller, **call.ids, expect=call.expect)


page_routes = Pages()


@page_routes.get("/inbound/{inbound_id}")
@page_routes.post("/inbound/{inbound_id}")
async def receive_callback(request: Request) -> Response:
    """Take a provider's reports; 401 and 404 count against the sender's address."""
    if request.scope["afterword.is_head"]:
        raise not_by_get()
    is_get = request.method == "GET"
    limiter: Limiter = request.state.limiter
    site: Site = request.state.site
    source = request.client.host if request.client else ""
    callback = Callback(
        headers=request.scope["afterword.headers"],
        query=request.scope["query_string"].decode("latin-1"),
        body=await public.read_body(request),
        is_get=is_get,
    )
    try:
        async with db.transaction(request.state.pool) as database:
            await receive(
                database,
                inbound_id=request.path_params["inbound_id"],
                callback=callback,
                site=site,
                now=database.clock.now(),
            )
    except (errors.NotFound, errors.Unauthorized):
        limiter.count_failure(source)
        raise
    return Response(status_code=200 if is_get else 204)  # Kannel repeats after 204
