"""`afterword inbound`: addresses where providers call back with receipts, bounces and complaints."""

from pathlib import Path

from afterword import db, errors
from afterword.cli import tokens
from afterword.cli.context import Context
from afterword.core.wire.times import format_optional
from afterword.receipts.inbound import service, store
from afterword.receipts.inbound.service import ADAPTERS, Adapter
from afterword.receipts.inbound.store import Endpoint

CHANNELS = {"email": 1, "sms": 2, "webhook": 3}
CERTIFICATE_BYTES_MAX = 65_536


async def add(
    ground: Context,
    pool: db.Pool,
    *,
    adapter: str,
    domain: str | None,
    channel: str,
    account_id: str | None,
    topic: str | None,
    certificate: Path | None,
) -> tuple[str, str | None]:
    """Open an address for an account, the channel's default unless given; its URL, and a key shown this once.

    Raises Invalid, NotFound, Conflict.
    """
    chosen: Adapter | None = next((each for each in ADAPTERS if each == adapter), None)
    if chosen is None or channel not in CHANNELS:
        raise errors.Invalid(f"There are the forms {', '.join(ADAPTERS)} and the channels {', '.join(CHANNELS)}.")
    async with db.transaction(pool) as database:
        organization = await tokens.organization_of(database, domain)
        accounts = await store.list_account_ids(
            database, organization_id=organization.organization_id, channel_id=CHANNELS[channel]
        )
        if not accounts or account_id not in {None, *accounts}:
            raise errors.NotFound("The organization has no such account: it gets one with its first pipeline.")
        inbound_id, key = await service.open_endpoint(
            database,
            organization_id=organization.organization_id,
            account_id=account_id or accounts[0],
            adapter=chosen,
            site=ground.site,
            now=database.clock.now(),
            topic=topic,
            certificate=_read(certificate),
        )
    return ground.site.inbound_url(inbound_id), key


async def list_endpoints(ground: Context, pool: db.Pool, *, domain: str | None) -> list[str]:
    """The addresses of an organization, one a line, and what they want to be opened."""
    async with db.connection(pool) as database:
        organization = await tokens.organization_of(database, domain)
        found = await store.list_endpoints(database, organization_id=organization.organization_id)
    return [line for endpoint in found for line in _lines(ground, endpoint)]


async def close(pool: db.Pool, *, inbound_id: str, domain: str | None) -> None:
    """Close an address; raises NotFound."""
    async with db.transaction(pool) as database:
        organization = await tokens.organization_of(database, domain)
        await service.close_endpoint(database, organization_id=organization.organization_id, inbound_id=inbound_id)


def _lines(ground: Context, endpoint: Endpoint) -> list[str]:
    channel = next((name for name, number in CHANNELS.items() if number == endpoint.channel_id), "?")
    last = format_optional(endpoint.last_time) or "never"
    account = f"{endpoint.adapter}, {channel}, account {endpoint.account_id}"
    lines = [f"{ground.site.inbound_url(endpoint.inbound_id)}  {account}, last call {last}"]
    if endpoint.confirm_url is not None:
        lines.append(f"  To confirm the subscription, open this yourself: {endpoint.confirm_url}")
    return lines


def _read(certificate: Path | None) -> str | None:
    if certificate is None:
        return None
    try:
        with certificate.open("rb") as opened:
            return opened.read(CERTIFICATE_BYTES_MAX).decode("ascii")
    except OSError as error:
        raise errors.Invalid(f"{certificate} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise errors.Invalid(f"{certificate} is no certificate in PEM.") from error
