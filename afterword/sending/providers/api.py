"""The HTTP routes of provider accounts."""

from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.core.wire.site import Site
from afterword.core.wire.times import format_optional
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.kit.nouns.structs import shown_as
from afterword.kit.transport.mime import REFERENCE_CHARACTERS_MAX, folded
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.providers import domains, health, service
from afterword.sending.providers.service import Account


class ProviderUpdate(fields.Request):
    """Changes of an account. `settings` that are not named stay, null removes one."""

    title: fields.Text200 | UnsetType = UNSET
    settings: service.Settings | UnsetType = UNSET
    is_default: bool | UnsetType = UNSET
    rate_ceiling: service.Rate | UnsetType | None = UNSET


class PauseRequest(fields.Request):
    """The reason is shown to people who ask why a message waits."""

    reason: fields.Text500


class DnsQuery(msgspec.Struct, kw_only=True):
    """The selector of the DKIM key; without one, those that are common and those of known providers."""

    selector: Annotated[str, Meta(min_length=1, max_length=63)] | None = None


class DomainFinding(fields.Resource):
    """A record of a domain. `found`: the texts that stand at `name`; `record`: the text to set, if it can be known."""

    kind: Literal["spf", "dkim", "dmarc"]
    state: Literal["good", "weak", "wrong", "missing", "unknown"]
    code: str
    message: str
    name: str
    found: list[str]
    record: str | None


class SenderDomain(fields.Answer):
    """A domain that mails are sent from, with what DNS says of it."""

    domain: str
    findings: list[DomainFinding]


class ProviderDns(fields.Answer):
    """The records of the domains that an account sends from, at most five."""

    account_id: fields.Id
    domains: list[SenderDomain]


class SlowDomain(fields.Answer):
    """A recipient domain that throttles, and how many messages a second go there."""

    domain: str
    rate: float


class ProviderHealth(fields.Answer):
    """The newest 2,000 messages of 30 days that the account's pipelines sent, and reports of them."""

    account_id: fields.Id
    sent: int
    last_sent_time: fields.DateTime | None
    bounces: health.ReportedShare
    complaints: health.ReportedShare
    slow_domains: list[SlowDomain]


Provider: Final = shown_as(
    "Provider",
    Account,
    types={"settings": dict[str, Any]},
    before={
        "rate": {"secrets": list[str]},
        "pipelines": {"slots": Annotated[int, fields.named("slots_max")]},
        "paused_time": {"resting_until": Annotated[fields.DateTime, fields.named("open_until")] | None},
        "created_time": {"inbound_url": fields.Computed[str | None]},
    },
)


async def _insert_references(  # any tenant: a worker's batch serves many
    db: Database, *, references: Sequence[tuple[str, str, str, str]], now: datetime
) -> None:
    """Insert (organization, account, reference, item) of each message; a known reference stays."""
    await db.execute(
        """insert into provider_reference (organization_id, account_id, provider_reference, item_id, created_time)
           select organization_id, account_id, provider_reference, item_id, $5
           from unnest($1::text[], $2::text[], $3::text[], $4::text[])
             with ordinality as n (organization_id, account_id, provider_reference, item_id, position)
           order by position
           on conflict do nothing""",
        *arrays(sorted(references), 4),
        now,
    )


async def keep_references(db: Database, *, references: Iterable[tuple[str, str, str, str]], now: datetime) -> None:
    """Keep (organization, account, reference, item) of each accepted message; unprintable references are dropped."""
    known = [
        (organization_id, account_id, key, item_id)
        for organization_id, account_id, reference, item_id in references
        for key in (reference, *(keys_of(reference)[2:] if folded(reference) != reference else ()))
        if is_reference(key)
    ]
    if known:
        await _insert_references(db, references=known, now=now)


def keys_of(reference: str) -> tuple[str, str, str]:
    """The keys that a receipt's reference may be kept under; the first decides where ids differ in case alone."""
    spelling = folded(reference)
    return reference, spelling, f"~{spelling}"


def is_reference(text: str) -> bool:
    return 0 < len(text) <= REFERENCE_CHARACTERS_MAX and text.isprintable()


PATH: Final = "/provider/{account_id}"
WHERE: Final = (
    "Its servers are on the open internet, or in the networks that the operator allows. `smtp` has `host`, `port`, "
    "`security` (`tls`, `starttls`, `none`), `username` and `password`."
)

routes = Routes(tag="Providers", scope="Provider")


@routes.list("/provider", answer=Provider, shape="array", summary="Get all provider accounts")
async def list_providers(call: Call[None], db: Database) -> Answer:
    call.caller.require_whole()
    found = await service.list_own_accounts(db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(found.map(lambda account: provider_of(account, site=call.site, zone=call.zone)))


@routes.post(
    "/provider",
    answer=Provider,
    summary="Create new provider account",
    description=f"{WHERE} `is_default` moves all pipelines of its channel to it. At most {service.ACCOUNTS_MAX}.",
)
async def create_provider(call: Call[service.ProviderRequest], db: Database) -> Answer:
    made = await service.create(db, caller=call.caller, request=call.body, site=call.site, now=call.now)
    return _answer(call, made, location=f"/provider/{made.account_id}")


@routes.get(PATH, answer=Provider, summary="Get provider account")
async def get_provider(call: Call[None], db: Database) -> Answer:
    return _answer(call, await service.get(db, caller=call.caller, **call.ids))


@routes.patch(
    PATH,
    answer=Provider,
    summary="Update provider account",
    description=f"{WHERE} Secrets that are not named stay; another server needs all of them again.",
)
async def update_provider(call: Call[ProviderUpdate], db: Database) -> Answer:
    changed = await service.update(
        db, caller=call.caller, **call.ids, changes=call.body.named(), site=call.site, expect=call.expect
    )
    return _answer(call, changed)


@routes.delete(
    PATH,
    summary="Delete provider account",
    description="Only one that no pipeline sends through: make another the default, which moves them.",
    refusals=("in_use",),
)
async def delete_provider(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.expect)


@routes.post(
    f"{PATH}/pause",
    scope="Provider.Update",
    answer=Provider,
    status=200,
    summary="Pause provider account",
    description="Nothing is sent through it until the pause is deleted. Due items wait, and no attempt is counted.",
)
async def pause_provider(call: Call[PauseRequest], db: Database) -> Answer:
    paused = await service.pause(db, caller=call.caller, **call.ids, reason=call.body.reason)
    return _answer(call, paused)


@routes.delete(
    f"{PATH}/pause",
    scope="Provider.Update",
    summary="Resume provider account",
    description="A rest after failures ends too. A pause of the operator stays: 403.",
)
async def resume_provider(call: Call[None], db: Database) -> None:
    await service.resume(db, caller=call.caller, **call.ids, expect=call.expect)


@routes.get(
    f"{PATH}/health",
    answer=ProviderHealth,
    summary="Get health of provider account",
    description="Bounces and complaints against the shares at which large mailbox providers stop taking mail.",
)
async def get_provider_health(call: Call[None], db: Database) -> Answer:
    account = await service.get(db, caller=call.caller, **call.ids)
    found = await health.health_of(db, account=(account.organization_id, account.account_id), now=call.now)
    return Answer(
        ProviderHealth(
            account_id=account.account_id,
            sent=found.figures.sent,
            last_sent_time=format_optional(found.figures.last_sent_time, zone=call.zone),
            bounces=found.bounces,
            complaints=found.complaints,
            slow_domains=[SlowDomain(**each) for each in found.figures.domains],
        )
    )


@routes.get(
    f"{PATH}/dns",
    query=DnsQuery,
    answer=ProviderDns,
    waits=True,
    summary="Check DNS of the sender domains",
    description="SPF, DKIM and DMARC of the domains that the account's pipelines send from, and of the others that the "
    "organization may send from. `unknown`: the name servers could not be asked.",
)
async def check_provider_dns(call: Call[None], db: Database) -> Answer:
    account_id = call.ids["account_id"]
    checks = await domains.check(
        db, caller=call.caller, account_id=account_id, selector=call.query.selector, site=call.site
    )
    shown = [
        SenderDomain(domain=domain, findings=[DomainFinding.of(one) for one in found])
        for domain, found in checks.items()
    ]
    return Answer(ProviderDns(account_id=account_id, domains=shown))


def provider_of(account: Account, *, site: Site, zone: tzinfo) -> fields.Resource:
    settings, secrets = service.visible_settings(account, site=site)
    url = site.inbound_url(account.inbound_id) if account.inbound_id and account.is_own else None
    return Provider.of(account, zone, settings=settings, secrets=secrets, inbound_url=url)


def _answer(call: Call[Any], account: Account, *, location: str | None = None) -> Answer:
    shown = provider_of(account, site=call.site, zone=call.zone)
    return Answer(shown, version=account.version, location=location)
