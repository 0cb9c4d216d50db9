"""`afterword inbound`: addresses where providers call back with receipts, bounces and complaints."""

import mailbox
import os
import pwd
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import cyclopts
import msgspec

from afterword import errors
from afterword.cases import mailboxes
from afterword.core.wire.times import format_optional
from afterword.kit import db, settings
from afterword.kit.transport.mime import Unreadable
from afterword.run.cli import CommandError
from afterword.run.cli.context import (
    CHANNELS,
    ChannelName,
    Context,
    open_organization,
    open_pool,
    read_text,
    shell_lines,
)
from afterword.run.cli.organizations import OrganizationDomain
from afterword.sending.channels import bounces
from afterword.sending.channels.bounces import MAIL_BYTES_MAX
from afterword.sending.receipts import inbound
from afterword.sending.receipts.inbound import Adapter, Endpoint

EX_OK = 0
EX_DATAERR = 65
EX_TEMPFAIL = 75
ANSWERED = "A customer's answer, added to its case."
FLUSH_MAILS = 100  # of an mbox, between two writings of the whole file


class Tally(msgspec.Struct):
    mails: int = 0
    reports: int = 0
    news: int = 0
    unreadable: int = 0
    answers: int = 0

    @property
    def sentence(self) -> str:
        return (
            f"{self.mails:,} mails: {self.reports:,} reports, {self.news:,} of them new; "
            f"{f'{self.answers:,} answers of customers; ' if self.answers else ''}"
            f"{self.unreadable:,} mails could not be read."
        )


async def bounce(*, maildir: Path | None = None, mbox: Path | None = None) -> int:
    """Act on returned mails, and on customers' answers to replies: one from standard input, or a mailbox's unseen ones.

    Without settings or a database it ends with 75, so that the mail server keeps the mail.

    Args:
        maildir: A Maildir; mails that were read are marked as seen.
        mbox: An mbox file; likewise.
    """
    async with AsyncExitStack() as stack:
        try:
            context, pool = await stack.enter_async_context(open_pool())
        except (settings.SettingError, CommandError, errors.Unavailable, OSError) as error:
            print(f"afterword: {error}{_advice(error)}", file=sys.stderr)
            return EX_TEMPFAIL
        return await run(context, pool, maildir=maildir, mbox=mbox)


def _advice(error: BaseException | None) -> str:
    """Says what to do where this user may not read the settings or the data folder, as mail servers' own users."""
    while error is not None and not isinstance(error, PermissionError):
        error = error.__cause__
    if error is None:
        return ""
    user = next((entry.pw_name for entry in pwd.getpwall() if entry.pw_uid == os.geteuid()), os.geteuid())
    return (
        f" This ran as the user {user}. Let the mail server run it as the user that the service runs as, by the file "
        ".forward in that user's home (see “Bounces by mail” in the documentation)."
    )


async def run(context: Context, pool: db.Pool, *, maildir: Path | None, mbox: Path | None) -> int:
    if maildir is not None and mbox is not None:
        raise CommandError("Give --maildir or --mbox, not both.")
    tally = Tally()
    try:
        if maildir is not None:
            await _read_maildir(context, pool, maildir, tally)
        elif mbox is not None:
            await _read_mbox(context, pool, mbox, tally)
        else:
            return await _read_pipe(context, pool, tally)
    except errors.Unavailable as refusal:
        print(f"afterword: {refusal.detail} {tally.sentence}", file=sys.stderr)
        return EX_TEMPFAIL
    print(tally.sentence)
    return EX_OK


async def _read_pipe(context: Context, pool: db.Pool, tally: Tally) -> int:
    try:
        said = await _take(context, pool, sys.stdin.buffer.read(MAIL_BYTES_MAX + 1), tally)
    except Unreadable as error:
        print(f"afterword: {error}", file=sys.stderr)
        return EX_DATAERR
    print(said)
    return EX_OK


async def _read_maildir(context: Context, pool: db.Pool, folder: Path, tally: Tally) -> None:
    """Read the mails in `new` and the unseen ones in `cur`; move them to `cur`, as seen; flag unreadable ones."""
    if not all((folder / name).is_dir() for name in ("cur", "new", "tmp")):
        raise CommandError(f"{folder} is no Maildir: it lacks cur, new or tmp.")
    waiting = sorted((folder / "new").iterdir()) + sorted((folder / "cur").iterdir())
    for file in waiting:
        name, _, flags = file.name.partition(":2,")
        if file.name.startswith(".") or "S" in flags or not file.is_file():
            continue
        try:
            with file.open("rb") as opened:
                content = opened.read(MAIL_BYTES_MAX + 1)
        except FileNotFoundError:  # another program took it
            continue
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        try:
            await _take(context, pool, content, tally)
            marks = "S"
        except Unreadable as error:
            print(f"afterword: {file.name}: {error}", file=sys.stderr)
            marks = "FS"
        file.rename(folder / "cur" / f"{name}:2,{''.join(sorted({*flags, *marks}))}")


async def _read_mbox(context: Context, pool: db.Pool, file: Path, tally: Tally) -> None:
    """Read the mails without the mark R in their Status header, and set it; unreadable ones get F too."""
    if not file.is_file():  # noqa: ASYNC240  once a run
        raise CommandError(f"{file} is no mbox.")
    box = mailbox.mbox(file, create=False)
    try:
        box.lock()
    except (mailbox.ExternalClashError, OSError) as error:
        box.close()
        raise CommandError(f"{file} is in use by another program. Try again later.") from error
    try:
        await _read_locked(context, pool, box, tally)
    finally:
        box.flush()
        box.unlock()
        box.close()


async def _read_locked(context: Context, pool: db.Pool, box: mailbox.mbox, tally: Tally) -> None:
    for key in box.keys():  # noqa: SIM118  iterating would read every mail into memory
        with box.get_file(key) as opened:
            content = opened.read(MAIL_BYTES_MAX + 1)
        if len(content) > MAIL_BYTES_MAX:
            tally.unreadable += 1  # and stays unmarked: marking would take all of it into memory
            continue
        mail = box[key]
        if "R" in mail.get_flags():
            continue
        try:
            await _take(context, pool, content, tally)
        except Unreadable as error:
            print(f"afterword: mail {key}: {error}", file=sys.stderr)
            mail.add_flag("F")
        mail.add_flag("R")
        box[key] = mail
        if tally.mails % FLUSH_MAILS == 0:
            box.flush()


async def _take(context: Context, pool: db.Pool, content: bytes, tally: Tally) -> str:
    """Act on one mail; a sentence of what it was. Raises Unreadable, and Unavailable while the database is away."""
    tally.mails += 1
    try:
        found = bounces.read(content, secret=context.site.secret)
    except Unreadable:
        tally.unreadable += 1
        raise
    if not (found.reports or found.answer):
        return found.why
    async with db.transaction(pool) as database:
        news = await mailboxes.take(database, mail=found, now=database.clock.now(), secret=context.site.secret)
    if found.answer is not None:
        tally.answers += news
        return ANSWERED if news else "A customer's answer that is known, or to a case that is gone."
    tally.reports += len(found.reports)
    tally.news += news
    kinds = ", ".join(f"{one.kind} {one.code}".strip() for one in found.reports[:10])
    return f"{kinds}: {news} of {len(found.reports)} new."


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
        organization_id, channel_id = owner.organization_id, CHANNELS[channel]
        accounts = await inbound.list_account_ids(database, organization_id=organization_id, channel_id=channel_id)
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
        await inbound.delete_endpoint(database, organization_id=owner.organization_id, inbound_id=inbound_id)
    print("Closed.")


def _lines(context: Context, endpoint: Endpoint) -> list[str]:
    channel = next((name for name, number in CHANNELS.items() if number == endpoint.channel_id), "?")
    last = format_optional(endpoint.last_time) or "never"
    account = f"{endpoint.adapter}, {channel}, account {endpoint.account_id}"
    lines = [f"{context.site.inbound_url(endpoint.inbound_id)}  {account}, last call {last}"]
    if endpoint.confirm_url is not None:
        lines.append(f"  To confirm the subscription, open this yourself: {endpoint.confirm_url}")
    return lines
