"""Keeps provider accounts: their sealed settings, and which one a channel's pipelines send through.

The first half serves operators, who may change every account. The second half serves the people of an organization:
they change the accounts that they added, and servers of these are judged before each connection.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors, ids
from afterword.core.messaging.networks import Network
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Column, Listing, Page, Rows
from afterword.core.wire.site import Site
from afterword.kit import sealing
from afterword.kit.db import Database, Row
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.transport.base import EMAIL, WrongSettings
from afterword.kit.transport.http import check_host, check_url
from afterword.kit.web import fields
from afterword.sending.channels import accounts as kinds
from afterword.sending.providers import health

TITLE_CHARACTERS_MAX: Final = 200


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """An account at a provider. `settings` shows those without a secret, `secrets` the names of the others.

    `is_own`: the organization made it, and may change it. `rate` is today's, `rate_ceiling` its limit, both a second.
    `inbound_url` is where its provider reports, null where it reports over the connection or not at all.
    """

    account_id: fields.Id
    organization_id: fields.Id
    channel_id: fields.ChannelId
    kind: Literal["default", "smtp", "sms_http", "sms_twilio", "smpp", "webhook"]
    title: str | None
    is_default: bool
    is_own: bool
    state: Literal["active", "paused", "resting"]
    settings: bytes | None  # sealed
    rate: float | None
    rate_ceiling: float | None
    slots_max: Annotated[int, Hidden()]
    pipelines: int
    failures: int
    open_until: Annotated[datetime | None, Hidden()]
    paused_time: datetime | None
    paused_reason: str | None
    created_time: datetime
    domain: Annotated[str, Hidden()]
    version: Annotated[int, Hidden()]
    is_paused_by_operator: Annotated[bool, Hidden()]
    inbound_id: Annotated[str | None, Hidden()]  # of its callback endpoint


_INBOUND_ID: Final[LiteralString] = """(select inbound_id from inbound_endpoint e
              where e.organization_id = a.organization_id and e.account_id = a.account_id and e.adapter = 'provider')
               as inbound_id"""
_SELECT: Final[
    LiteralString
] = f"""select a.organization_id, a.account_id, o.domain, a.channel_id, a.kind, a.title, a.settings,
             a.is_default, a.is_own, a.version, a.slots_max, a.rate, a.rate_ceiling, a.failures, a.open_until,
             a.paused_time, a.paused_reason, a.is_paused_by_operator, a.created_time,
             case when a.paused_time is not null then 'paused' when a.open_until > now() then 'resting'
               else 'active' end as state,
             (select count(*) from pipeline p
              where p.organization_id = a.organization_id and p.account_id = a.account_id and p.deleted_time is null)
               as pipelines,
             {_INBOUND_ID}
           from channel_account a join organization o on o.organization_id = a.organization_id"""


async def list_accounts(  # any tenant: for operators
    db: Database, *, organization_id: str | None, limit: int
) -> list[Account]:
    return await db.records(Account).fetch(
        f"""{_SELECT}
           where $1::text is null or a.organization_id = $1
           order by o.domain, a.channel_id, a.is_default desc, a.account_id
           limit $2""",
        organization_id,
        limit,
    )


async def list_own_accounts(db: Database, *, organization_id: str, page: Page) -> Rows[Account]:
    return await db.records(Account).fetch_list(f"{_SELECT} where a.organization_id = $1", organization_id, page=page)


async def get_account(db: Database, *, account_id: str) -> Account:  # any tenant: for operators
    """The account of this id, locked until the transaction ends. Raises NotFound."""
    found = await db.records(Account).fetch_row(f"{_SELECT} where a.account_id = $1 for update of a", account_id)
    return errors.found(found, "There is no account of this id. See: afterword account list")


async def _get_own_account(db: Database, *, organization_id: str, account_id: str) -> Account | None:
    return await db.records(Account).fetch_row(
        f"{_SELECT} where a.organization_id = $1 and a.account_id = $2", organization_id, account_id
    )


async def _list_accounts_locked(db: Database, *, organization_id: str) -> Sequence[Account]:
    """The organization's accounts; other transactions that add one wait until we commit."""
    await db.execute("select 1 from organization where organization_id = $1 for no key update", organization_id)
    page = Page.first(ACCOUNTS, limit=ACCOUNTS_MAX)
    return (await list_own_accounts(db, organization_id=organization_id, page=page)).items


async def get_has_own_accounts(db: Database) -> bool:  # any tenant: for operators
    return await db.fetch_value("select exists (select from channel_account where kind <> 'default')")


async def list_pipelines(db: Database, *, organization_id: str, account_id: str, limit: int) -> Sequence[Row]:
    """Title and ids of those that send through it."""
    return await db.fetch(
        """select title, questionnaire_id, pipeline_id from pipeline
           where organization_id = $1 and account_id = $2 and deleted_time is null
           order by title, pipeline_id limit $3""",
        *(organization_id, account_id, limit),
    )


async def get_sender_address(db: Database, *, organization_id: str, account_id: str) -> str | None:
    """A sender of the mails that pipelines send through it, which the organization may send from."""
    return await db.fetch_value(
        """select distinct p.sender_address from pipeline p
           join organization_sender_domain d on d.organization_id = p.organization_id
             and d.domain in (lower(p.sender_address), lower(split_part(p.sender_address, '@', 2)))
           where p.organization_id = $1 and p.account_id = $2 and p.deleted_time is null
           order by p.sender_address limit 1""",
        organization_id,
        account_id,
    )


async def _get_sealed(db: Database, *, organization_id: str, account_id: str) -> Row | None:
    """Kind, sealed settings, version, slots, `is_own` and callback endpoint of an account with settings of its own."""
    return await db.fetch_row(
        f"""select a.kind, a.settings, a.version, a.slots_max, a.is_own, {_INBOUND_ID}
           from channel_account a where a.organization_id = $1 and a.account_id = $2 and a.settings is not null""",
        organization_id,
        account_id,
    )


async def get_settings_version(db: Database, *, organization_id: str, account_id: str) -> int | None:
    return await db.fetch_value(
        """select version from channel_account
           where organization_id = $1 and account_id = $2 and settings is not null""",
        organization_id,
        account_id,
    )


async def _insert_account(
    db: Database,
    *,
    organization_id: str,
    account_id: str,
    columns: Mapping[str, object],
    settings: bytes,
    now: datetime,
) -> None:
    """Add one that no pipeline uses yet. `columns`: channel_id, kind, title, is_own."""
    await db.execute(
        """insert into channel_account (organization_id, account_id, channel_id, kind, title, settings, is_own,
             created_time, updated_time)
           select $1, $2, s.channel_id, s.kind, s.title, $4, s.is_own, $5, $5
           from jsonb_populate_record(null::channel_account, $3) s""",
        *(organization_id, account_id, columns, settings, now),
    )


async def _insert_callback(
    db: Database, *, organization_id: str, account_id: str, inbound_id: str, now: datetime
) -> None:
    """Add the address where the account's own provider reports."""
    await db.execute(
        """insert into inbound_endpoint (organization_id, inbound_id, account_id, adapter, created_time)
           values ($1, $2, $3, 'provider', $4)""",
        organization_id,
        inbound_id,
        account_id,
        now,
    )


async def _update_account(
    db: Database, *, organization_id: str, account_id: str, title: str | None, settings: bytes | None, slots_max: int
) -> None:
    """Write what an operator may change; null settings stay as they are. Workers make its channel anew."""
    await db.execute(
        """update channel_account
           set title = $3, settings = coalesce($4, settings), slots_max = $5, version = version + 1,
             updated_time = now()
           where organization_id = $1 and account_id = $2""",
        organization_id,
        account_id,
        title,
        settings,
        slots_max,
    )


async def _update_ceiling(db: Database, *, organization_id: str, account_id: str, rate_ceiling: float | None) -> None:
    """Limit its messages a second; null: no limit but its slots, until it is throttled."""
    await db.execute(
        """update channel_account
           set rate_ceiling = $3, rate = $3, tokens = least(tokens, 0), refilled_time = now(), version = version + 1,
             updated_time = now()
           where organization_id = $1 and account_id = $2""",
        organization_id,
        account_id,
        rate_ceiling,
    )


async def _update_default(db: Database, *, organization_id: str, account_id: str, channel_id: int) -> int:
    """Make it the default of its channel and move the pipelines to it; the number of live ones."""
    await db.execute(
        """update channel_account set is_default = false, version = version + 1
           where organization_id = $1 and channel_id = $2 and is_default and account_id <> $3""",
        organization_id,
        channel_id,
        account_id,
    )
    await db.execute(
        """update channel_account set is_default = true, version = version + 1
           where organization_id = $1 and account_id = $2 and not is_default""",
        organization_id,
        account_id,
    )
    count = await db.fetch_value(
        """with moved as (
             update pipeline set account_id = $3, version = version + 1
             where organization_id = $1 and channel_id = $2 and account_id <> $3
             returning deleted_time)
           select count(*) from moved where deleted_time is null""",
        organization_id,
        channel_id,
        account_id,
    )
    return int(count)


async def _delete_account(db: Database, *, organization_id: str, account_id: str) -> bool:
    """Remove an account without pipelines, with its callback endpoint; False if it has any."""
    return await db.touches(
        """delete from channel_account a
           where a.organization_id = $1 and a.account_id = $2 and not exists (
             select from pipeline p where p.organization_id = a.organization_id and p.account_id = a.account_id)""",
        organization_id,
        account_id,
    )


SETTINGS_BYTES_MAX: Final = 50_000
SLOTS_MAX: Final = 200
ACCOUNTS_MAX: Final = 50  # of an organization
ACCOUNTS: Final = Listing(
    {}, (("created_time", "desc"),), "account_id", hidden={"created_time": Column("created_time", "time")}
)
RATE_MIN, RATE_MAX = 0.01, 10_000.0
STATUS_URL: Final = "status_url"

Settings = Annotated[
    dict[str, Any],
    Meta(examples=[{"host": "smtp.example.com", "security": "tls", "username": "shop", "password": "…"}]),
]
Rate = Annotated[float, Meta(ge=RATE_MIN, le=RATE_MAX)]


class ProviderRequest(fields.Request):
    """A new account. `settings` as its kind has them; `rate_ceiling`: at most so many messages a second."""

    kind: kinds.Kind
    title: fields.Text200
    settings: Settings
    is_default: bool = False
    rate_ceiling: Rate | None = None


class InUse(errors.Conflict):
    """Pipelines send through the account."""

    code_default = "in_use"


class Opened(msgspec.Struct, frozen=True):
    """The settings of an account that make its channel."""

    kind: str
    settings: Mapping[str, Any]
    version: int
    slots_max: int
    is_own: bool


async def add_account(
    db: Database,
    *,
    organization_id: str,
    kind: str,
    title: str | None,
    settings: Mapping[str, Any],
    is_default: bool,
    is_own: bool = False,
    rate_ceiling: float | None = None,
    site: Site,
    now: datetime,
) -> tuple[Account, int]:
    """Add an account, as its channel's default if `is_default`; also the number of pipelines moved. Raises Invalid.

    A provider that calls back gets its address. `is_own`: the organization adds it, and not the operator.
    """
    known = _checked(kind, settings, site.networks)
    _check_title(title)
    account_id = ids.ordered(now)
    key = {"organization_id": organization_id, "account_id": account_id}
    await _insert_account(
        db,
        **key,
        columns={"channel_id": kinds.CHANNELS[known], "kind": known, "title": title, "is_own": is_own},
        settings=_sealed(settings, site=site, **key),
        now=now,
    )
    if known in kinds.CALLED_BACK:
        await _insert_callback(db, **key, inbound_id=ids.secret(), now=now)
    moved = await _update_default(db, **key, channel_id=kinds.CHANNELS[known]) if is_default else 0
    if rate_ceiling is not None:
        return await limit_rate(db, account_id=account_id, rate=rate_ceiling), moved
    return await get_account(db, account_id=account_id), moved


async def change_account(
    db: Database,
    *,
    account_id: str,
    site: Site,
    title: str | None = None,
    settings: Mapping[str, Any] | None = None,
    slots_max: int | None = None,
    is_default: bool = False,
) -> tuple[Account, int]:
    """Write the given members; workers read them with their next claim. Raises NotFound, Invalid."""
    before = await get_account(db, account_id=account_id)
    key = {"organization_id": before.organization_id, "account_id": account_id}
    _check_title(title)
    if slots_max is not None and not 1 <= slots_max <= SLOTS_MAX:
        raise errors.Invalid(f"An account has 1 to {SLOTS_MAX} slots.")
    sealed = None
    if settings is not None:
        if before.kind == kinds.DEFAULT:
            raise errors.Invalid("This account is the installation's own way to send; it has no settings. Add another.")
        _checked(before.kind, settings, site.networks)
        sealed = _sealed(settings, site=site, **key)
    if title is not None or sealed is not None or slots_max is not None:
        await _update_account(
            db, **key, title=title or before.title, settings=sealed, slots_max=slots_max or before.slots_max
        )
    moved = await _update_default(db, **key, channel_id=before.channel_id) if is_default else 0
    return await get_account(db, account_id=account_id), moved


async def limit_rate(db: Database, *, account_id: str, rate: float | None) -> Account:
    """At most so many messages a second; null lifts the limit. Raises NotFound, Invalid."""
    account = await get_account(db, account_id=account_id)
    if rate is not None and not RATE_MIN <= rate <= RATE_MAX:
        raise errors.Invalid(f"A rate is {RATE_MIN:g} to {RATE_MAX:g} messages a second.")
    await _update_ceiling(db, organization_id=account.organization_id, account_id=account_id, rate_ceiling=rate)
    return await get_account(db, account_id=account_id)


async def pause_account(db: Database, *, account_id: str, reason: str) -> Account:
    """Send nothing through it until the operator resumes it. Raises NotFound."""
    account = await get_account(db, account_id=account_id)
    await health.update_to_paused(db, account=(account.organization_id, account_id), reason=reason, by_operator=True)
    return await get_account(db, account_id=account_id)


async def resume_account(db: Database, *, account_id: str) -> Account:
    """Send through it again: pause and breaker end. Raises NotFound."""
    account = await get_account(db, account_id=account_id)
    await health.update_to_resumed(db, account=(account.organization_id, account_id))
    return await get_account(db, account_id=account_id)


async def remove_account(db: Database, *, account_id: str) -> Account:
    """Remove an account that no pipeline sends through. Raises NotFound, InUse."""
    account = await get_account(db, account_id=account_id)
    if not await _delete_account(db, organization_id=account.organization_id, account_id=account_id):
        raise InUse("Pipelines send through it. Make another one of its channel the default, which moves them.")
    return account


async def open_account(db: Database, *, organization_id: str, account_id: str, site: Site) -> Opened | None:
    """The settings of an account for a channel; None without an account or settings of its own.

    Raises `sealing.Unreadable` where the settings were sealed with another secret.
    """
    found = await _get_sealed(db, organization_id=organization_id, account_id=account_id)
    if found is None:
        return None
    kind, sealed, version, slots_max, is_own, inbound_id = found.values()
    settings = _unsealed(sealed, site=site, organization_id=organization_id, account_id=account_id)
    if inbound_id is not None and kind in kinds.CALLED_BACK and not settings.get(STATUS_URL):
        settings[STATUS_URL] = site.inbound_url(inbound_id)
    return Opened(kind, settings, version, slots_max, is_own)


def settings_of(account: Account, *, site: Site) -> dict[str, Any]:
    """An account's settings in the clear; raises `sealing.Unreadable`."""
    if account.settings is None:
        return {}
    return _unsealed(
        account.settings, site=site, organization_id=account.organization_id, account_id=account.account_id
    )


# for the people of an organization ------------------------------------------------------------------------------------


def keeps_messages(site: Site, *, channel_id: int, kind: str | None) -> bool:
    """Whether what is sent through an account of this kind stays in the outbox. None: the channel has no account yet.

    Each page that says whether mail leaves asks here.
    """
    return channel_id == EMAIL and kind in {None, kinds.DEFAULT} and not site.sends_mail


async def get(db: Database, *, caller: Caller, account_id: str, is_locked: bool = False) -> Account:
    """An account of the caller's organization; `is_locked`: until the transaction ends. Raises NotFound, Forbidden."""
    caller.require_whole()
    found = await _get_own_account(db, organization_id=caller.organization_id, account_id=account_id)
    if found is not None and is_locked:
        found = await get_account(db, account_id=account_id)
    return errors.found(found, "There is no such account.")


async def own_accounts(db: Database, *, caller: Caller) -> Sequence[Account]:
    """All of the caller's organization, the newest first. Raises Forbidden."""
    caller.require_whole()
    page = Page.first(ACCOUNTS, limit=ACCOUNTS_MAX)
    return (await list_own_accounts(db, organization_id=caller.organization_id, page=page)).items


async def create(db: Database, *, caller: Caller, request: ProviderRequest, site: Site, now: datetime) -> Account:
    """Add an account; the first one of its channel is the default. Raises Invalid, Forbidden."""
    caller.require_all()
    others = await _list_accounts_locked(db, organization_id=caller.organization_id)
    if len(others) >= ACCOUNTS_MAX:
        raise errors.Invalid.at("", "too_many", f"There are {ACCOUNTS_MAX} already.")
    _check_own(request.kind, request.settings, site)
    channel_id = kinds.CHANNELS[request.kind]
    is_first = not any(one.is_default and one.channel_id == channel_id for one in others)
    given: dict[str, Any] = {**request.named(), "is_default": request.is_default or is_first}
    account, _ = await add_account(db, organization_id=caller.organization_id, **given, is_own=True, site=site, now=now)
    return account


async def update(
    db: Database,
    *,
    caller: Caller,
    account_id: str,
    changes: Mapping[str, Any],
    site: Site,
    expect: errors.Expect = errors.ANY,
) -> Account:
    """Write the named members; of `settings` the named ones, null removes one. Raises NotFound, Forbidden, Invalid.

    `is_default` true moves all pipelines of the channel to it. Of an account of the operator nothing else changes.
    """
    caller.require_all()
    before = await get(db, caller=caller, account_id=account_id, is_locked=True)
    expect(before.version)
    changes = {name: value for name, value in changes.items() if getattr(before, name) != value}
    if changes.keys() - {"is_default"} and not before.is_own:
        raise errors.Forbidden("The operator of this installation keeps this account. Add one of your own.")
    if changes.get("is_default") is False:
        message = "A channel always has a default: make another account the default."
        raise errors.Invalid.at("/is_default", "unknown_value", message)
    settings = changes.get("settings")
    if settings is not None:
        settings = _merged(before, settings, site)
        _check_own(before.kind, settings, site)
    if changes.keys() - {"rate_ceiling"}:
        await change_account(
            db,
            account_id=account_id,
            site=site,
            title=changes.get("title"),
            settings=settings,
            is_default=changes.get("is_default", False),
        )
    if "rate_ceiling" in changes:
        await limit_rate(db, account_id=account_id, rate=changes["rate_ceiling"])
    return await get(db, caller=caller, account_id=account_id)


async def add_secret(db: Database, *, caller: Caller, account_id: str, secret: str, site: Site) -> Account:
    """Sign with this secret too, as the first; of those before, the newest stays. Raises NotFound, Forbidden."""
    account = await get(db, caller=caller, account_id=account_id, is_locked=True)
    changes = {"settings": {"secrets": [secret, *_readable(account, site).get("secrets", [])[:1]]}}
    return await update(db, caller=caller, account_id=account_id, changes=changes, site=site)


async def delete(db: Database, *, caller: Caller, account_id: str, expect: errors.Expect = errors.ANY) -> None:
    """Remove an account that no pipeline sends through. Raises NotFound, Forbidden, InUse."""
    caller.require_all()
    before = await get(db, caller=caller, account_id=account_id, is_locked=True)
    expect(before.version)
    if not before.is_own:
        raise errors.Forbidden("The administrator of this installation manages this account.")
    await remove_account(db, account_id=account_id)


async def pause(db: Database, *, caller: Caller, account_id: str, reason: str) -> Account:
    """Send nothing through it until somebody resumes it. Raises NotFound, Forbidden."""
    caller.require_all()
    before = await get(db, caller=caller, account_id=account_id, is_locked=True)
    await health.update_to_paused(db, account=(before.organization_id, account_id), reason=reason)
    return await get(db, caller=caller, account_id=account_id)


async def resume(db: Database, *, caller: Caller, account_id: str, expect: errors.Expect = errors.ANY) -> None:
    """End a pause and a rest. Raises NotFound, Forbidden for a pause of the operator, and what `expect` raises."""
    caller.require_all()
    before = await get(db, caller=caller, account_id=account_id, is_locked=True)
    expect(before.version)
    if before.paused_time is not None and before.is_paused_by_operator:
        raise errors.Forbidden("The administrator of this installation paused it and must resume it.")
    await health.update_to_resumed(db, account=(before.organization_id, account_id))


async def pause_all(db: Database, *, caller: Caller, reason: str) -> int:
    """Send nothing through any account of the organization; the number that sent until now. Raises Forbidden."""
    caller.require_all()
    sending = [one for one in await own_accounts(db, caller=caller) if one.paused_time is None]
    for account in sending:
        await pause(db, caller=caller, account_id=account.account_id, reason=reason)
    return len(sending)


async def resume_all(db: Database, *, caller: Caller) -> int:
    """Send through all accounts again but those that the operator paused; their number. Raises Forbidden."""
    caller.require_all()
    accounts = await own_accounts(db, caller=caller)
    paused = [one for one in accounts if one.paused_time and not one.is_paused_by_operator]
    for account in paused:
        await resume(db, caller=caller, account_id=account.account_id)
    return len(paused)


def visible_settings(account: Account, *, site: Site) -> tuple[dict[str, Any], list[str]]:
    """The settings without a secret, and the names of the others; empty where they were sealed with another secret."""
    settings = _readable(account, site)
    return (kinds.shown(settings) if account.is_own else {}), kinds.secrets_in(settings)


def _readable(account: Account, site: Site) -> dict[str, Any]:
    """The settings; none where they were sealed with another secret."""
    try:
        return settings_of(account, site=site)
    except sealing.Unreadable:
        return {}


def _merged(account: Account, changes: Mapping[str, Any], site: Site) -> dict[str, Any]:
    """The settings after the changes. Raises Invalid if these would show a secret to another server."""
    before = _readable(account, site)
    missing = kinds.needed_again(before, changes)
    if missing:
        message = f"Where the account connects to changes, so give its secrets again: {', '.join(missing)}."
        raise errors.Invalid.at("/settings", "required", message)
    return {name: value for name, value in {**before, **changes}.items() if value is not None}


def _check_own(kind: str, settings: Mapping[str, Any], site: Site) -> None:
    """Raise Invalid for settings that only an operator may give: files of this machine, servers of closed networks."""
    if kind == "smtp" and "url" in settings:
        raise errors.Invalid.at("/settings/url", "unknown_member", "Give host, port, security, username and password.")
    known = _checked(kind, settings, site.networks)
    host = kinds.host_of(known, settings)
    wrong = None if host is None else check_host(host, site.networks)
    if wrong is not None:
        raise errors.Invalid.at("/settings/host", "invalid_address", wrong)


def _checked(kind: str, settings: Mapping[str, Any], networks: Sequence[Network]) -> kinds.Kind:
    known = kinds.kind_of(kind)
    if known is None:
        raise errors.Invalid(f"An account is one of {', '.join(kinds.CHANNELS)}.")
    try:
        urls = kinds.urls_of(known, settings)
    except WrongSettings as found:
        raise errors.Invalid.of(*(replace(one, pointer=f"/settings{one.pointer}") for one in found.errors)) from None
    except ValueError as error:
        message = f"The settings of this {kind} account cannot be used: {error}"
        raise errors.Invalid.at("/settings", "invalid_format", message) from None
    for url in urls:
        wrong = check_url(url, networks)
        if wrong is not None:
            raise errors.Invalid.at("/settings/url", "invalid_address", wrong)
    if len(msgspec.json.encode(settings)) > SETTINGS_BYTES_MAX:
        raise errors.Invalid.at("/settings", "too_long", f"They have at most {SETTINGS_BYTES_MAX} bytes.")
    return known


def _check_title(title: str | None) -> None:
    if title is not None and not 1 <= len(title) <= TITLE_CHARACTERS_MAX:
        raise errors.Invalid(f"A title has 1 to {TITLE_CHARACTERS_MAX} characters.")


def _sealed(settings: Mapping[str, Any], *, site: Site, organization_id: str, account_id: str) -> bytes:
    text = msgspec.json.encode(settings).decode()
    return sealing.seal(text, secret=site.secret, context=_context(organization_id, account_id))


def _unsealed(sealed: bytes, *, site: Site, organization_id: str, account_id: str) -> dict[str, Any]:
    text = sealing.unseal(sealed, secret=site.secret, context=_context(organization_id, account_id))
    return msgspec.json.decode(text, type=dict[str, Any])


def _context(organization_id: str, account_id: str) -> str:
    return f"account:{organization_id}:{account_id}"
