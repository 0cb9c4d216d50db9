"""`afterword account` and `queue`: the provider accounts of organizations, items of unknown outcome, failed imports."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final

import cyclopts
import msgspec
from cyclopts import Parameter

from afterword import errors, ids
from afterword.core.messaging import addresses, segments
from afterword.core.organizations.access import installation
from afterword.core.wire.site import Site
from afterword.core.wire.times import format_optional, format_time
from afterword.kit import db, sealing
from afterword.kit.transport.base import EMAIL, LINK, OUTBOX, SMS, WEBHOOK, Message, Outcome, Refused, Retry, Sent
from afterword.run.cli import CommandError
from afterword.run.cli.context import open_organization, open_pool, open_transaction, organization_of, read_text
from afterword.run.cli.organizations import OnlyDomain, OrganizationDomain
from afterword.run.cli.worker import installation_channels
from afterword.run.worker.channels import ChannelRegistry, NoChannelError
from afterword.sending.channels import accounts as kinds, webhook
from afterword.sending.intake.imports import service as imports
from afterword.sending.intake.test_messages import account_message
from afterword.sending.providers import health, service as providers
from afterword.sending.providers.service import Account
from afterword.sending.queue import service as queue

ACCOUNTS_MAX: Final = 1_000
SETTINGS_BYTES_MAX: Final = 100_000
CHANNELS: Final = {EMAIL: "email", SMS: "sms", WEBHOOK: "webhook", LINK: "link", OUTBOX: "outbox"}

app = cyclopts.App(name="account")
AccountId = Annotated[str, Parameter(help="Its id, as “afterword account list” shows it.")]
SettingsFile = Annotated[Path, Parameter(allow_leading_hyphen=True)]  # a lone - is standard input
Switch = Annotated[bool, Parameter(negative="")]


@app.command(name="add")
async def add(
    kind: str,
    /,
    *,
    settings_file: SettingsFile,
    organization: OrganizationDomain = None,
    title: str | None = None,
    rate: float | None = None,
    default: Annotated[bool, Parameter(negative="--beside")] = True,
) -> None:
    """Add a provider account of an organization, which its pipelines on that channel then send through.

    Args:
        kind: smtp, sms_http, sms_twilio, smpp or webhook.
        settings_file: A TOML or JSON file, or - for standard input. Settings are sealed before they are stored.
        title: Its name for operators.
        rate: At most so many messages a second.
        default: Make it its channel's default, to which all its pipelines move; --beside leaves them where they are.
    """
    settings = read_settings(settings_file)
    async with open_organization(organization) as (context, database, owner):
        account, moved = await providers.add_account(
            database,
            organization_id=owner.organization_id,
            kind=kind,
            title=title,
            settings=settings,
            is_default=default,
            rate_ceiling=rate,
            site=context.site,
            now=database.clock.now(),
        )
    _print(account, moved)
    if account.inbound_id is not None:
        print(f"Its provider reports to {context.site.inbound_url(account.inbound_id)}", file=sys.stderr)


@app.command(name="list")
async def list_accounts(*, organization: OnlyDomain = None) -> None:
    """List the accounts, one a line."""
    async with open_transaction() as (_, database):
        owner_id = (await organization_of(database, organization)).organization_id if organization is not None else None
        found = await providers.list_accounts(database, organization_id=owner_id, limit=ACCOUNTS_MAX)
    print("\n".join(map(_line, found)) or "No account: organizations get one with their first pipeline.")


@app.command(name="show")
async def show(account_id: AccountId, /, *, secret: Switch = False) -> None:
    """Print an account in full, as JSON.

    Args:
        secret: Print its secrets too, among them the one that a webhook's receiver verifies signatures with.
    """
    async with open_transaction() as (context, database):
        account = await providers.get_account(database, account_id=account_id)
    settings = _settings(account, context.site)
    document: dict[str, Any] = {
        "account_id": account.account_id,
        "organization": account.domain,
        "channel": CHANNELS.get(account.channel_id, str(account.channel_id)),
        "kind": account.kind,
        "title": account.title,
        "default": account.is_default,
        "pipelines": account.pipelines,
        "slots": account.slots_max,
        "rate": account.rate,
        "rate_ceiling": account.rate_ceiling,
        "failures": account.failures,
        "resting_until": format_optional(account.open_until),
        "paused": format_optional(account.paused_time),
        "paused_reason": account.paused_reason,
        "status_url": None if account.inbound_id is None else context.site.inbound_url(account.inbound_id),
        "settings": settings if secret else kinds.masked(settings),
    }
    print(json.dumps(document, indent=2, ensure_ascii=False))


@app.command(name="set")
async def change(
    account_id: AccountId,
    /,
    *,
    settings_file: SettingsFile | None = None,
    title: str | None = None,
    slots: int | None = None,
    rate: float | None = None,
    no_rate: Switch = False,
    default: Switch = False,
) -> None:
    """Change an account; workers use it from their next message on.

    Args:
        settings_file: New settings in place of all old ones: a TOML or JSON file, or - for standard input.
        title: Its name for operators.
        slots: How many messages each worker sends through it at once, 1 to 200.
        rate: At most so many messages a second.
        no_rate: Lift the limit, also one that was learned from throttling.
        default: Make it its channel's default, to which all its pipelines move.
    """
    settings = None if settings_file is None else read_settings(settings_file)
    async with open_transaction() as (context, database):
        account, moved = await providers.change_account(
            database,
            account_id=account_id,
            site=context.site,
            title=title,
            settings=settings,
            slots_max=slots,
            is_default=default,
        )
        if rate is not None or no_rate:
            account = await providers.limit_rate(database, account_id=account_id, rate=None if no_rate else rate)
    _print(account, moved)


@app.command(name="pause")
async def pause(account_id: AccountId, /, *, reason: str = "paused by an operator") -> None:
    """Send nothing through an account until it is resumed; due items wait, and no attempt is counted.

    Args:
        reason: Shown to people who ask why an item waits.
    """
    async with open_transaction() as (_, database):
        account = await providers.pause_account(database, account_id=account_id, reason=reason)
    _print(account)


@app.command(name="resume")
async def resume(account_id: AccountId, /) -> None:
    """Send through an account again: a pause and a rest end."""
    async with open_transaction() as (_, database):
        account = await providers.resume_account(database, account_id=account_id)
    _print(account)


async def resume_all() -> None:
    """Send again through all paused accounts, after you have mended their login."""
    async with open_transaction() as (_, database):
        resumed = await health.resume_all(database)
    print("\n".join(f"Resumed {one.domain}, channel {one.channel_id}." for one in resumed) or "None was paused.")


@app.command(name="test")
async def test(account_id: AccountId, to: str, /) -> int:
    """Send one message through an account now, and print the provider's reply.

    Args:
        to: An e-mail address, a phone number with + and country code, or the web address of a webhook's receiver.
    """
    async with open_pool() as (context, pool):
        async with db.transaction(pool) as database:
            account = await providers.get_account(database, account_id=account_id)
            now = database.clock.now()
        try:
            recipient = to if account.channel_id == WEBHOOK else addresses.normalise(account.channel_id, to)
        except addresses.InvalidAddress as error:
            raise errors.Invalid(str(error)) from None
        message = account_message(
            organization_id=account.organization_id,
            item_id=ids.ordered(now),
            channel_id=account.channel_id,
            recipient=recipient,
            sender=context.settings.mail_from,
            now=now,
        )
        defaults = installation_channels(context.settings, context.site, pool)
        registry = ChannelRegistry(pool=pool, site=context.site, defaults=defaults, versions={})
        key = account.organization_id, account.account_id
        try:
            await registry.refresh(key)
            async with registry.use(key, account.channel_id, test_attempt=None) as channel:
                is_taken, sentence = _result(await channel.send(message, begin=_begin), message)
            print(sentence)
        except NoChannelError as error:
            raise CommandError(f"Nothing leaves through this account: {error.reason}.") from None
        finally:
            await registry.close()
            for channel in defaults.values():
                await channel.close()
    return 0 if is_taken else 1


@app.command(name="remove")
async def remove(account_id: AccountId, /) -> None:
    """Remove an account that no pipeline sends through, and the address where its provider called back."""
    async with open_transaction() as (_, database):
        account = await providers.remove_account(database, account_id=account_id)
    print(f"Removed: {_line(account)}")


def _print(account: Account, moved: int = 0) -> None:
    print(_line(account))
    if moved:
        print(f"Pipelines that send through it now: {moved}.", file=sys.stderr)


def read_settings(file: Path) -> dict[str, Any]:
    """The settings in a TOML file, or JSON; `-` is standard input. Raises Invalid and CommandError; quotes nothing."""
    text = read_text(file, bytes_max=SETTINGS_BYTES_MAX)
    try:
        if text.lstrip().startswith("{"):
            return msgspec.json.decode(text, type=dict[str, Any])
        return tomllib.loads(text)
    except (msgspec.DecodeError, tomllib.TOMLDecodeError) as error:
        place = str(error).rpartition("(")[2].rstrip(")") if isinstance(error, tomllib.TOMLDecodeError) else "JSON"
        raise CommandError(f"The settings are neither TOML nor JSON ({place}).") from None


def _line(account: Account) -> str:
    parts = [f"{account.domain}  {account.account_id}", CHANNELS.get(account.channel_id, "?"), account.kind]
    pipelines = f"{account.pipelines} pipelines" if account.pipelines != 1 else "1 pipeline"
    parts += ["default" if account.is_default else "beside", pipelines, f"{account.slots_max} slots"]
    if account.rate is not None:
        ceiling = "" if account.rate_ceiling is None else f" of {account.rate_ceiling:.3g}"
        parts.append(f"{account.rate:.3g}{ceiling} a second")
    if account.open_until is not None:
        parts.append(f"rests until {format_time(account.open_until)}")
    if account.paused_time is not None:
        parts.append(f"paused since {format_time(account.paused_time)} ({account.paused_reason or 'no reason given'})")
    return ", ".join([*parts, *([f"“{account.title}”"] if account.title else [])])


def _settings(account: Account, site: Site) -> dict[str, Any]:
    if account.kind == kinds.DEFAULT and account.channel_id == WEBHOOK:
        return {"secrets": webhook.secrets_of(site.secret, account.organization_id)}
    try:
        return providers.settings_of(account, site=site)
    except sealing.Unreadable:
        sentence = "Its settings were sealed with another secret: AFTERWORD_SECRET has changed. Write them anew."
        raise CommandError(sentence) from None


def _result(outcome: Outcome, message: Message) -> tuple[bool, str]:
    match outcome:
        case Sent():
            length = segments.measure(message.text)
            parts = f", {length.segments} part of {length.encoding}" if message.channel_id == SMS else ""
            return True, f"Taken{parts}: {outcome.reply or 'no words'} {outcome.reference or ''}".rstrip()
        case Retry():
            return False, f"Not sent ({outcome.cause}): {outcome.reason}"
        case Refused():
            return False, f"Refused: {outcome.reason}"
        case _:
            return False, f"Unknown whether it was sent: {outcome.reason}"


async def _begin() -> None:
    """Nothing is recorded of a test."""


queue_app = cyclopts.App(name="queue")


@queue_app.command(name="resolve")
async def resolve(
    item: str, /, *, sent: Annotated[bool, Parameter(negative="--not-sent")], organization: OrganizationDomain = None
) -> None:
    """Settle an item that failed with an unknown outcome, once you have found out.

    Args:
        item: Its id.
        sent: The outcome that you found out.
    """
    async with open_organization(organization) as (_, database, owner):
        try:
            caller = installation(owner.organization_id)
            found = await queue.resolve(database, caller=caller, item_id=item, is_sent=sent)
        except errors.NotFound as refusal:
            raise errors.NotFound("There is no item with this id.") from refusal
    print(f"Item {found.item_id} is {'Sent' if sent else 'Failed'}. {found.result}.")


@queue_app.command(name="resume")
async def resume_import(import_id: str, /, *, organization: OrganizationDomain = None) -> None:
    """Let an import that failed go on where it stopped; a running worker takes it.

    Args:
        import_id: Its id.
    """
    async with open_organization(organization) as (_, database, owner):
        job = await imports.get(database, caller=installation(owner.organization_id), import_id=import_id)
        job = await imports.resume(database, job=job, now=database.clock.now())
    print(f"The import is {job.state}: {job.rows_done:,} of {job.rows_total:,} rows are done.")
