"""Opens callback endpoints of providers, and takes their calls: first the signature, then the content.

A call without the right signature changes nothing, not even a time. A callback never makes us call anything.
"""

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

import structlog

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.kit.transport.reports import Unreadable, Unsigned
from afterword.sending.channels import accounts as kinds
from afterword.sending.channels import callbacks
from afterword.sending.channels.callbacks import CallbackResult
from afterword.sending.providers import service as accounts
from afterword.sending.receipts import service as reports
from afterword.sending.receipts.inbound import store
from afterword.sending.receipts.inbound.store import Endpoint

Adapter = Literal["standard", "sns", "provider"]
ADAPTERS: Final[tuple[Adapter, ...]] = ("standard", "sns", "provider")
KEY_BYTES: Final = 32
TOPIC_CHARACTERS_MAX: Final = 300
VERSION: Final = 1  # an address never changes

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class BadSignature(errors.Unauthorized):
    """The call has no signature, or a wrong one."""

    code_default = "bad_signature"


class AlreadyOpen(errors.Conflict):
    """The account has an endpoint of this form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
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
            key = callbacks.SECRET_PREFIX + base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
            settings = {"key": key}
        case "sns":
            settings = _pinned(topic, certificate)
        case "provider":
            pass
    sealed = None
    if settings is not None:
        sealed = sealing.seal(json.dumps(settings), secret=site.secret, context=_context(organization_id, inbound_id))
    is_new = await store.insert_endpoint(
        db,
        organization_id=organization_id,
        inbound_id=inbound_id,
        account_id=account_id,
        adapter=adapter,
        settings=sealed,
        now=now,
    )
    if not is_new:
        raise AlreadyOpen("The account has an address of this form already. Close it first to make another.")
    return inbound_id, key


async def get(db: Database, *, caller: Caller, inbound_id: str) -> Endpoint:
    """An address of the caller's organization. Raises NotFound, Forbidden."""
    caller.require_whole()
    found = await store.get_own_endpoint(db, organization_id=caller.organization_id, inbound_id=inbound_id)
    return errors.found(found, "There is no such address.")


async def create(
    db: Database,
    *,
    caller: Caller,
    account_id: str,
    adapter: Adapter,
    topic: str | None,
    certificate: str | None,
    site: Site,
    now: datetime,
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
        topic=topic,
        certificate=certificate,
    )
    return await get(db, caller=caller, inbound_id=inbound_id), key


async def delete(db: Database, *, caller: Caller, inbound_id: str, expect: errors.Expect = errors.ANY) -> None:
    """Close an address of the caller's organization. Raises NotFound, Forbidden, and what `expect` raises."""
    caller.require_real()
    await get(db, caller=caller, inbound_id=inbound_id)
    expect(VERSION)
    await close_endpoint(db, organization_id=caller.organization_id, inbound_id=inbound_id)


async def close_endpoint(db: Database, *, organization_id: str, inbound_id: str) -> None:
    if not await store.delete_endpoint(db, organization_id=organization_id, inbound_id=inbound_id):
        raise errors.NotFound("There is no such address.")


async def receive(db: Database, *, inbound_id: str, callback: Callback, site: Site, now: datetime) -> int:
    """Apply the reports of a call; the number of new ones.

    Raises NotFound for an unknown endpoint, MethodNotAllowed for a GET unless the provider reports so, BadSignature,
    and Invalid for signed content that is no report.
    """
    endpoint = await store.get_endpoint(db, inbound_id=inbound_id) if ids.is_id(inbound_id) else None
    if endpoint is None:
        raise errors.NotFound("There is nothing at this address.")
    try:
        result = await _read(db, endpoint, callback, site, now)
    except Unsigned as error:
        raise BadSignature(str(error)) from None
    except Unreadable as error:
        raise errors.Invalid(str(error)) from None
    counted = await reports.take(
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
        await store.update_endpoint_heard(
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
