"""The HTTP routes of provider accounts."""

from datetime import tzinfo
from typing import Any, Final

from afterword.core.wire.site import Site
from afterword.core.wire.times import format_optional
from afterword.kit.db import Database
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.providers import domains, health, service, store
from afterword.sending.providers.resources import (
    DnsQuery,
    DomainFinding,
    PauseRequest,
    Provider,
    ProviderDns,
    ProviderHealth,
    ProviderRequest,
    ProviderUpdate,
    ReportedShare,
    SenderDomain,
    SlowDomain,
)
from afterword.sending.providers.store import Account

PATH: Final = "/provider/{account_id}"
WHERE: Final = (
    "Its servers are on the open internet, or in the networks that the operator allows. `smtp` has `host`, `port`, "
    "`security` (`tls`, `starttls`, `none`), `username` and `password`."
)

routes = Routes(tag="Providers")


@routes.list("/provider", scope="Provider.Read", answer=Provider, shape="array", summary="Get all provider accounts")
async def list_providers(call: Call[None], db: Database) -> Answer:
    call.caller.require_whole()
    found = await store.list_own_accounts(db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(found.map(lambda account: provider_of(account, site=call.site, zone=call.zone)))


@routes.post(
    "/provider",
    scope="Provider.Create",
    body=ProviderRequest,
    answer=Provider,
    summary="Create new provider account",
    description=f"{WHERE} `is_default` moves all pipelines of its channel to it. At most {service.ACCOUNTS_MAX}.",
)
async def create_provider(call: Call[ProviderRequest], db: Database) -> Answer:
    body = call.body
    made = await service.create(
        db,
        caller=call.caller,
        kind=body.kind,
        title=body.title,
        settings=body.settings,
        is_default=body.is_default,
        rate_ceiling=body.rate_ceiling,
        site=call.site,
        now=call.now,
    )
    return _answer(call, made, location=f"/provider/{made.account_id}")


@routes.get(PATH, scope="Provider.Read", answer=Provider, summary="Get provider account")
async def get_provider(call: Call[None], db: Database) -> Answer:
    return _answer(call, await service.get(db, caller=call.caller, **call.ids))


@routes.patch(
    PATH,
    scope="Provider.Update",
    body=ProviderUpdate,
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
    scope="Provider.Delete",
    summary="Delete provider account",
    description="Only one that no pipeline sends through: make another the default, which moves them.",
    refusals=("in_use",),
)
async def delete_provider(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.expect)


@routes.post(
    f"{PATH}/pause",
    scope="Provider.Update",
    body=PauseRequest,
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
    scope="Provider.Read",
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
            bounces=ReportedShare.of(found.bounces),
            complaints=ReportedShare.of(found.complaints),
            slow_domains=[SlowDomain(**each) for each in found.figures.domains],
        )
    )


@routes.get(
    f"{PATH}/dns",
    scope="Provider.Read",
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
        SenderDomain(domain=each.domain, findings=[DomainFinding.of(one) for one in each.findings]) for each in checks
    ]
    return Answer(ProviderDns(account_id=account_id, domains=shown))


def provider_of(account: Account, *, site: Site, zone: tzinfo) -> Provider:
    settings, secrets = service.visible_settings(account, site=site)
    url = site.inbound_url(account.inbound_id) if account.inbound_id and account.is_own else None
    return Provider.of(account, zone, settings=settings, secrets=secrets, inbound_url=url)


def _answer(call: Call[Any], account: Account, *, location: str | None = None) -> Answer:
    shown = provider_of(account, site=call.site, zone=call.zone)
    return Answer(shown, version=account.version, location=location)
