"""`afterword account`: the provider logins that organizations send through, kept by an installation's operator."""

import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from afterword import db, errors, ids, sealing
from afterword.channels import accounts as kinds
from afterword.channels import webhook
from afterword.channels.base import EMAIL, LINK, OUTBOX, SMS, WEBHOOK, Channel, Message, Outcome, Refused, Retry, Sent
from afterword.channels.email import EmailChannel
from afterword.channels.http import Caller
from afterword.channels.reports import Report
from afterword.channels.webhook import WebhookChannel
from afterword.cli import CommandError, tokens
from afterword.cli.context import Context
from afterword.core.messaging import addresses, segments
from afterword.core.wire.site import Site
from afterword.core.wire.times import format_time
from afterword.providers import service, store
from afterword.providers.store import Account
from afterword.receipts.inbound import service as inbound

ACCOUNTS_MAX: Final = 1_000
SETTINGS_CHARACTERS_MAX: Final = 100_000
CHANNELS: Final = {EMAIL: "email", SMS: "sms", WEBHOOK: "webhook", LINK: "link", OUTBOX: "outbox"}
TEXT: Final = "This is a test of a sending account of Afterword."


async def list_accounts(pool: db.Pool, *, domain: str | None) -> list[str]:
    """A line for each account: of all organizations, or of one. Raises NotFound for an unknown domain."""
    async with db.connection(pool) as database:
        organization = None if domain is None else await tokens.organization_of(database, domain)
        found = await store.list_accounts(
            database, organization_id=organization and organization.organization_id, limit=ACCOUNTS_MAX
        )
    return [line(account) for account in found]


async def add(
    ground: Context,
    pool: db.Pool,
    *,
    kind: str,
    domain: str | None,
    title: str | None,
    file: Path,
    is_default: bool,
    rate: float | None,
) -> tuple[Account, int]:
    """Add an account, and an address where its provider calls back; how many pipelines moved to it.

    Raises Invalid, NotFound, CommandError for a file that cannot be read.
    """
    settings = read_settings(file)
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await tokens.organization_of(database, domain)
        account, moved = await service.add_account(
            database,
            organization_id=organization.organization_id,
            kind=kind,
            title=title,
            settings=settings,
            is_default=is_default,
            site=ground.site,
            now=now,
        )
        if rate is not None:
            await service.limit_rate(database, account_id=account.account_id, rate=rate)
        if account.kind in kinds.CALLED_BACK:
            await inbound.open_endpoint(
                database,
                organization_id=account.organization_id,
                account_id=account.account_id,
                adapter="provider",
                site=ground.site,
                now=now,
            )
        return await service.find_account(database, account_id=account.account_id), moved


async def change(
    ground: Context,
    pool: db.Pool,
    *,
    account_id: str,
    title: str | None,
    file: Path | None,
    slots: int | None,
    rate: float | None,
    is_unlimited: bool,
    is_default: bool,
) -> tuple[Account, int]:
    """Write what is given; how many pipelines moved to it. Raises NotFound, Invalid, CommandError."""
    settings = None if file is None else read_settings(file)
    async with db.transaction(pool) as database:
        account, moved = await service.change_account(
            database,
            account_id=account_id,
            site=ground.site,
            title=title,
            settings=settings,
            slots_max=slots,
            is_default=is_default,
        )
        if rate is not None or is_unlimited:
            account = await service.limit_rate(database, account_id=account_id, rate=None if is_unlimited else rate)
    return account, moved


async def pause(pool: db.Pool, *, account_id: str, reason: str) -> Account:
    """Send nothing through it until it is resumed. Raises NotFound."""
    async with db.transaction(pool) as database:
        return await service.pause_account(database, account_id=account_id, reason=reason)


async def resume(pool: db.Pool, *, account_id: str) -> Account:
    """Send through it again. Raises NotFound."""
    async with db.transaction(pool) as database:
        return await service.resume_account(database, account_id=account_id)


async def remove(pool: db.Pool, *, account_id: str) -> Account:
    """Remove one that nothing is sent through. Raises NotFound, InUse."""
    async with db.transaction(pool) as database:
        return await service.remove_account(database, account_id=account_id)


async def show(ground: Context, pool: db.Pool, *, account_id: str, with_secrets: bool) -> str:
    """All there is to know of it; secrets are masked unless asked for. Raises NotFound."""
    async with db.transaction(pool) as database:
        account = await service.find_account(database, account_id=account_id)
    settings = _settings(account, ground.site)
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
        "resting_until": _time(account.open_until),
        "paused": _time(account.paused_time),
        "paused_reason": account.paused_reason,
        "status_url": None if account.inbound_id is None else ground.site.inbound_url(account.inbound_id),
        "settings": settings if with_secrets else kinds.masked(settings),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


async def test(ground: Context, pool: db.Pool, *, account_id: str, to: str) -> tuple[bool, str]:
    """Send one message to `to` (a web address for a webhook) now; whether it was taken, and a sentence."""
    async with db.transaction(pool) as database:
        account = await service.find_account(database, account_id=account_id)
        now = database.clock.now()
    try:
        recipient = to if account.channel_id == WEBHOOK else addresses.normalise(account.channel_id, to)
    except addresses.InvalidAddress as error:
        raise errors.Invalid(str(error)) from None
    caller = Caller(allowed=ground.site.networks)
    try:
        channel = _channel(account, ground, caller)
    except ValueError as error:
        raise CommandError(str(error)) from None
    message = _message(account, recipient, ground.settings.mail_from, now)
    try:
        return _told(await channel.send(message, begin=_begin), message)
    finally:
        await channel.close()
        await caller.close()


def read_settings(file: Path) -> dict[str, Any]:
    """The settings in a TOML file, or JSON; `-` is standard input. Raises CommandError, which quotes nothing."""
    try:
        text = sys.stdin.read(SETTINGS_CHARACTERS_MAX + 1) if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise CommandError(f"{file} cannot be read.") from None
    if len(text) > SETTINGS_CHARACTERS_MAX:
        raise CommandError(f"Settings have at most {SETTINGS_CHARACTERS_MAX} characters.")
    try:
        if text.lstrip().startswith("{"):
            return msgspec.json.decode(text, type=dict[str, Any])
        return tomllib.loads(text)
    except (msgspec.DecodeError, tomllib.TOMLDecodeError) as error:
        place = str(error).rpartition("(")[2].rstrip(")") if isinstance(error, tomllib.TOMLDecodeError) else "JSON"
        raise CommandError(f"The settings are neither TOML nor JSON ({place}).") from None


def line(account: Account) -> str:
    """The account in one line."""
    parts = [f"{account.domain}  {account.account_id}", CHANNELS.get(account.channel_id, "?"), account.kind]
    parts.append("default" if account.is_default else "beside")
    parts.append(f"{account.pipelines} pipelines" if account.pipelines != 1 else "1 pipeline")
    parts.append(f"{account.slots_max} slots")
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
        return {"secrets": [webhook.secret_of(site.secret, account.organization_id)]}
    try:
        return service.settings_of(account, site=site)
    except sealing.Unreadable:
        sentence = "Its settings were sealed with another secret: AFTERWORD_SECRET has changed. Write them anew."
        raise CommandError(sentence) from None


def _channel(account: Account, ground: Context, caller: Caller) -> Channel:
    """As a worker makes it. Raises ValueError, CommandError."""
    settings: Mapping[str, Any] = _settings(account, ground.site)
    kind = kinds.kind_of(account.kind)
    if kind is not None:
        return kinds.make(kind, settings, kinds.Context(caller=caller, slots=1, report=_ignore))
    if account.channel_id == WEBHOOK:
        return WebhookChannel(caller=caller, secrets_of=lambda _organization_id: settings["secrets"])
    if account.channel_id == EMAIL and ground.settings.smtp_url is not None:
        return EmailChannel(ground.settings.smtp_url, slots=1)
    raise CommandError("Nothing leaves through this account: it has no settings, and the installation no way to send.")


def _message(account: Account, recipient: str, mail_from: str, now: datetime) -> Message:
    is_posting = account.channel_id == WEBHOOK
    return Message(
        item_id=ids.ordered(now),
        organization_id=account.organization_id,
        channel_id=account.channel_id,
        recipient=recipient,
        sender=mail_from,
        sender_name=None,
        reply_to=None,
        subject=TEXT,
        html=f"<p>{TEXT}</p>",
        text=json.dumps({"type": "account.test", "data": {"text": TEXT}}) if is_posting else TEXT,
        locale="en",
        composed_time=now,
        target_url=recipient if is_posting else None,
    )


def _told(outcome: Outcome, message: Message) -> tuple[bool, str]:
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


def _time(time: datetime | None) -> str | None:
    return None if time is None else format_time(time)


async def _begin() -> None:
    """Nothing is recorded of a test."""


async def _ignore(_reports: Sequence[Report]) -> None:
    """Receipts of a test are nobody's."""
