"""`afterword inbound`: addresses where providers call back with receipts, bounces and complaints."""

from pathlib import Path

import cyclopts

from afterword import errors
from afterword.core.wire.times import format_optional
from afterword.run.cli.context import (
    CHANNELS,
    ChannelName,
    Context,
    OrganizationDomain,
    open_organization,
    read_text,
    shell_lines,
)
from afterword.sending.receipts import inbound
from afterword.sending.receipts.inbound import Adapter, Endpoint

CERTIFICATE_BYTES_MAX = 65_536

app = cyclopts.App(name="inbound")


@app.command(name="add")
async def add(
    adapter: Adapter,
    /,
    *,
    organization: OrganizationDomain = None,
    channel: ChannelName = "email",
    account: str | None = None,
    topic: str | None = None,
    certificate: Path | None = None,
) -> None:
    """Open an address where a provider calls back about an account's messages; prints it.

    Args:
        adapter: standard: our own form, with a key that is printed this once; sns; provider: as the account's gateway
            calls.
        account: The id of the account; without, the channel's default.
        topic: For sns, the ARN of the one topic whose messages are accepted.
        certificate: For sns, a file with the signing certificate (PEM), which you have fetched and looked at yourself.
    """
    pem = None if certificate is None else read_text(certificate, bytes_max=CERTIFICATE_BYTES_MAX)
    async with open_organization(organization) as (context, database, owner):
        organization_id = owner.organization_id
        accounts = await inbound.list_account_ids(
            database, organization_id=organization_id, channel_id=CHANNELS[channel]
        )
        if not accounts or account not in {None, *accounts}:
            raise errors.NotFound("The organization has no such account: it gets one with its first pipeline.")
        inbound_id, key = await inbound.open_endpoint(
            database,
            organization_id=organization_id,
            account_id=account or accounts[0],
            adapter=adapter,
            site=context.site,
            now=database.clock.now(),
            topic=topic,
            certificate=pem,
        )
    print(shell_lines({"url": context.site.inbound_url(inbound_id), **({"key": key} if key else {})}))


@app.command(name="list")
async def list_endpoints(*, organization: OrganizationDomain = None) -> None:
    """List the addresses where providers call back, and the links that confirm a subscription."""
    async with open_organization(organization) as (context, database, owner):
        found = await inbound.list_endpoints(database, organization_id=owner.organization_id)
    print("\n".join(line for endpoint in found for line in _lines(context, endpoint)) or "None is open.")


@app.command(name="close")
async def close(inbound_id: str, /, *, organization: OrganizationDomain = None) -> None:
    """Close an address: calls to it find nothing from now on.

    Args:
        inbound_id: The last part of its URL.
    """
    async with open_organization(organization) as (_, database, owner):
        await inbound.close_endpoint(database, organization_id=owner.organization_id, inbound_id=inbound_id)
    print("Closed.")


def _lines(context: Context, endpoint: Endpoint) -> list[str]:
    channel = next((name for name, number in CHANNELS.items() if number == endpoint.channel_id), "?")
    last = format_optional(endpoint.last_time) or "never"
    account = f"{endpoint.adapter}, {channel}, account {endpoint.account_id}"
    lines = [f"{context.site.inbound_url(endpoint.inbound_id)}  {account}, last call {last}"]
    if endpoint.confirm_url is not None:
        lines.append(f"  To confirm the subscription, open this yourself: {endpoint.confirm_url}")
    return lines
