"""The command line of provider accounts, `afterword account`; imported when one of its commands is run."""

import sys
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from afterword.cli import accounts, context
from afterword.cli.returns import run_command

SettingsFile = Annotated[Path, Parameter(allow_leading_hyphen=True)]  # a lone - is standard input

app = cyclopts.App(name="account", help="Provider accounts that organizations send through.")
EXIT_REFUSED = 1


@app.command(name="add")
def add(
    kind: str,
    /,
    *,
    settings_file: SettingsFile,
    organization: str | None = None,
    title: str | None = None,
    rate: float | None = None,
    default: Annotated[bool, Parameter(negative="--beside")] = True,
) -> None:
    """Add a provider account of an organization, which its pipelines on that channel then send through.

    Parameters
    ----------
    kind
        smtp, sms_http, sms_twilio, smpp or webhook.
    settings_file
        A TOML or JSON file with its settings, or - for standard input. They are sealed before they are stored.
    organization
        The organization's domain; needed when there are several.
    title
        What you call it.
    rate
        At most so many messages a second.
    default
        Make it its channel's default, to which all its pipelines move; --beside leaves them where they are.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (standing, pool):
            account, moved = await accounts.add(
                standing,
                pool,
                kind=kind,
                domain=organization,
                title=title,
                file=settings_file,
                is_default=default,
                rate=rate,
            )
        print(accounts.line(account))
        if moved:
            print(f"Pipelines that send through it now: {moved}.", file=sys.stderr)
        if account.inbound_id is not None:
            print(f"Its provider reports to {standing.site.inbound_url(account.inbound_id)}", file=sys.stderr)

    run_command(run())


@app.command(name="list")
def list_accounts(*, organization: str | None = None) -> None:
    """List the accounts, one a line.

    Parameters
    ----------
    organization
        Only those of the organization with this domain.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (_, pool):
            lines = await accounts.list_accounts(pool, domain=organization)
        print("\n".join(lines) or "No account: organizations get one with their first pipeline.")

    run_command(run())


@app.command(name="show")
def show(account_id: str, /, *, secret: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Print all there is to know of an account, as JSON.

    Parameters
    ----------
    account_id
        Its id, as “afterword account list” shows it.
    secret
        Print its secrets too, among them the one that a webhook's receiver verifies signatures with.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (standing, pool):
            print(await accounts.show(standing, pool, account_id=account_id, with_secrets=secret))

    run_command(run())


@app.command(name="set")
def change(
    account_id: str,
    /,
    *,
    settings_file: SettingsFile | None = None,
    title: str | None = None,
    slots: int | None = None,
    rate: float | None = None,
    no_rate: Annotated[bool, Parameter(negative="")] = False,
    default: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Change an account; workers go by it from their next message on.

    Parameters
    ----------
    account_id
        Its id, as “afterword account list” shows it.
    settings_file
        New settings in place of all old ones: a TOML or JSON file, or - for standard input.
    title
        What you call it.
    slots
        How many messages each worker has under way through it at once, 1 to 200.
    rate
        At most so many messages a second.
    no_rate
        Lift the limit, also one that was learned from throttling.
    default
        Make it its channel's default, to which all its pipelines move.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (standing, pool):
            account, moved = await accounts.change(
                standing,
                pool,
                account_id=account_id,
                title=title,
                file=settings_file,
                slots=slots,
                rate=rate,
                is_unlimited=no_rate,
                is_default=default,
            )
        print(accounts.line(account))
        if moved:
            print(f"Pipelines that send through it now: {moved}.", file=sys.stderr)

    run_command(run())


@app.command(name="pause")
def pause(account_id: str, /, *, reason: str = "paused by an operator") -> None:
    """Send nothing through an account until it is resumed; what is due waits, and no attempt is counted.

    Parameters
    ----------
    account_id
        Its id, as “afterword account list” shows it.
    reason
        What people read who ask why an item waits.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (_, pool):
            print(accounts.line(await accounts.pause(pool, account_id=account_id, reason=reason)))

    run_command(run())


@app.command(name="resume")
def resume(account_id: str, /) -> None:
    """Send through an account again: a pause and a rest end.

    Parameters
    ----------
    account_id
        Its id, as “afterword account list” shows it.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (_, pool):
            print(accounts.line(await accounts.resume(pool, account_id=account_id)))

    run_command(run())


@app.command(name="test")
def test(account_id: str, to: str, /) -> None:
    """Send one message through an account now, and print what its provider says.

    Parameters
    ----------
    account_id
        Its id, as “afterword account list” shows it.
    to
        An e-mail address, a phone number with + and country code, or the web address of a webhook's receiver.
    """

    async def run() -> bool:
        async with context.pooled(context.read_settings()) as (standing, pool):
            is_taken, sentence = await accounts.test(standing, pool, account_id=account_id, to=to)
        print(sentence)
        return is_taken

    if not run_command(run()):
        sys.exit(EXIT_REFUSED)


@app.command(name="remove")
def remove(account_id: str, /) -> None:
    """Remove an account that no pipeline sends through, and the address where its provider called back.

    Parameters
    ----------
    account_id
        Its id, as “afterword account list” shows it.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (_, pool):
            print(f"Removed: {accounts.line(await accounts.remove(pool, account_id=account_id))}")

    run_command(run())
