"""The command line of what comes back: `afterword bounce`, `inbound` and `suppression`; imported when one is run."""

import asyncio
import shlex
import sys
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

import cyclopts
import uvloop

from afterword import settings
from afterword.cli import bounces, context, inbound, suppressions

inbound_app = cyclopts.App(name="inbound", help="Addresses where providers call back.")
suppression_app = cyclopts.App(name="suppression", help="Addresses that are not written to.")


def bounce(*, maildir: Path | None = None, mbox: Path | None = None) -> None:
    """Act on mails that came back: one from standard input (a mail server's pipe), or a mailbox's unseen ones.

    Parameters
    ----------
    maildir
        A Maildir; what was read is marked as seen.
    mbox
        An mbox file; likewise.
    """
    try:
        chosen = context.read_settings()
    except settings.SettingError as error:  # no reason to lose the mail
        print(f"afterword: {error}", file=sys.stderr)
        sys.exit(bounces.EX_TEMPFAIL)
    sys.exit(run_command(bounces.bounce(chosen, maildir=maildir, mbox=mbox)))


@inbound_app.command(name="add")
def add_inbound(
    adapter: str,
    /,
    *,
    organization: str | None = None,
    channel: str = "email",
    account: str | None = None,
    topic: str | None = None,
    certificate: Path | None = None,
) -> None:
    """Open an address where a provider calls back about an account's messages; prints it.

    Parameters
    ----------
    adapter
        standard: our own form, with a key that is printed this once; sns; provider: as the account's gateway calls.
    organization
        The organization's domain; needed when there are several.
    channel
        email, sms or webhook.
    account
        The id of the account; without, the channel's default.
    topic
        For sns, the ARN of the one topic that is heard.
    certificate
        For sns, a file with the certificate (PEM) that signs, which you have fetched and looked at yourself.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (standing, pool):
            url, key = await inbound.add(
                standing,
                pool,
                adapter=adapter,
                domain=organization,
                channel=channel,
                account_id=account,
                topic=topic,
                certificate=certificate,
            )
        print(shell_lines({"url": url, **({"key": key} if key else {})}))

    run_command(run())


@inbound_app.command(name="list")
def list_inbound(*, organization: str | None = None) -> None:
    """List the addresses where providers call back, and what they want to be confirmed.

    Parameters
    ----------
    organization
        The organization's domain; needed when there are several.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (standing, pool):
            lines = await inbound.list_endpoints(standing, pool, domain=organization)
        print("\n".join(lines) or "None is open.")

    run_command(run())


@inbound_app.command(name="close")
def close_inbound(inbound_id: str, /, *, organization: str | None = None) -> None:
    """Close an address: calls to it find nothing from now on.

    Parameters
    ----------
    inbound_id
        The last part of its URL.
    organization
        The organization's domain; needed when there are several.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (_, pool):
            await inbound.close(pool, inbound_id=inbound_id, domain=organization)
        print("Closed.")

    run_command(run())


@suppression_app.command(name="import")
def import_suppressions(
    file: Path, /, *, organization: str | None = None, channel: str = "email", reason: str = "blocked"
) -> None:
    """Suppress the addresses of a CSV file; doing it again changes nothing.

    Parameters
    ----------
    file
        CSV in UTF-8 with a column identifier, email or phone_number, and perhaps reason and note.
    organization
        The organization's domain; needed when there are several.
    channel
        email, sms or webhook.
    reason
        For rows without one: blocked, hard_bounce, unsubscribed, complaint or erased.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (standing, pool):
            done = await suppressions.import_file(
                standing, pool, file=file, domain=organization, channel=channel, reason=reason
            )
        print(f"{done.rows:,} rows: {done.written:,} addresses newly suppressed, {done.wrong:,} rows wrong.")
        if done.wrong:
            print("\n".join(done.shown), file=sys.stderr)
            sys.exit(1)  # whoever these rows mean would be written to

    run_command(run())


def shell_lines(document: Mapping[str, str]) -> str:
    """What a shell can `eval`."""
    return "\n".join(f"{name.upper()}={shlex.quote(value)}" for name, value in document.items())


def run_command(command: Coroutine[Any, Any, Any]) -> Any:
    """Run it to its end."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(command)
