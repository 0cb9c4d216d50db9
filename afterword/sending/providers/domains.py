"""Asks DNS for the records of the domains that an account sends from. No connection of ours is held meanwhile."""

import asyncio
import functools
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.core.messaging import domain_records as records
from afterword.core.messaging.domain_records import Finding
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.kit.transport.base import EMAIL
from afterword.kit.transport.http import NotAsked, Resolver
from afterword.sending.channels import accounts as kinds
from afterword.sending.providers import service


async def _list_ways(  # any tenant: the doctor looks at all
    db: Database, *, mail_from: str, limit: int
) -> list[tuple[str, str | None, str | None]]:
    """Domains that mails come from, each with the account that they leave through; None: by the installation's server.

    Of pipelines by mail that go on; one row for a domain that many send from through the same server.
    """
    return await db.fetch_tuples(
        """select distinct lower(split_part(coalesce(p.sender_address, $1), '@', 2)) as domain,
             case when a.settings is not null then a.organization_id end as organization_id,
             case when a.settings is not null then a.account_id end as account_id
           from pipeline p
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           where p.channel_id = 1 and p.deleted_time is null and not p.paused
             and (p.end_time is null or p.end_time > now())
           order by domain, organization_id, account_id limit $2""",
        mail_from,
        limit,
    )


async def _list_account_domains(db: Database, *, organization_id: str, account_id: str) -> list[str]:
    """The domains that its pipelines send from, then the others that the organization may send from."""
    return await db.fetch_column(
        """select d.domain, min(d.place) as place from (
             select lower(split_part(p.sender_address, '@', 2)) as domain, 0 as place from pipeline p
             where p.organization_id = $1 and p.account_id = $2 and p.deleted_time is null
               and p.sender_address is not null
             union all
             select regexp_replace(s.domain, '^.*@', ''), 1 from organization_sender_domain s
             where s.organization_id = $1) d
           group by d.domain order by place, d.domain limit $3""",
        organization_id,
        account_id,
        DOMAINS_MAX,
    )


DOMAINS_MAX: Final = 5
SECONDS_MAX: Final = 7.0  # for all questions of a check


async def check(
    db: Database, *, caller: Caller, account_id: str, selector: str | None, site: Site
) -> dict[str, list[Finding]]:
    """The findings about each domain of an e-mail account; none of other accounts. `selector`: of the DKIM key.

    Raises NotFound, Forbidden, Invalid.
    """
    if selector is not None and not records.SELECTOR.match(selector):
        raise errors.Invalid.in_query("selector", "invalid_format", "A selector has letters, digits, dots, - and _.")
    account = await service.get(db, caller=caller, account_id=account_id)
    if account.channel_id != EMAIL:
        return {}
    host = service.visible_settings(account, site=site)[0].get("host")
    domains = await _list_account_domains(db, organization_id=caller.organization_id, account_id=account_id)
    resolver = _resolver(site.name_servers)
    selectors = (selector,) if selector else records.service_of(host or "")[1]
    checks = (_check(resolver, domain, host=host, selectors=selectors) for domain in domains)
    return dict(zip(domains, await asyncio.gather(*checks), strict=True))


class SenderRoute(msgspec.Struct, frozen=True, order=True):
    """A domain that mails come from, and the mail server that they leave through."""

    domain: str
    host: str


async def list_ways(db: Database, *, site: Site, mail_from: str, host: str | None, limit: int) -> list[SenderRoute]:
    """The ways of all organizations' pipelines. `mail_from`, `host`: those of the installation, None: it has none."""
    ways: list[SenderRoute] = []
    for domain, organization_id, account_id in await _list_ways(db, mail_from=mail_from, limit=limit):
        server = await _host_of(db, organization_id, account_id, site=site) if organization_id and account_id else host
        ways += [SenderRoute(domain, server)] if server else []
    return ways


async def _host_of(db: Database, organization_id: str, account_id: str, *, site: Site) -> str | None:
    """The mail server of an account of its own; None where its settings cannot be read."""
    try:
        opened = await service.open_account(db, organization_id=organization_id, account_id=account_id, site=site)
        kind = kinds.kind_of(opened.kind) if opened else None
        return kinds.host_of(kind, opened.settings) if opened and kind else None
    except (sealing.Unreadable, ValueError):
        return None


async def check_domain(
    domain: str, *, host: str | None, name_servers: tuple[tuple[str, int], ...]
) -> Sequence[Finding]:
    """The findings about one domain that mails come from, as sent by the mail server `host`."""
    return await _check(_resolver(name_servers), domain, host=host, selectors=records.service_of(host or "")[1])


async def _check(resolver: Resolver, domain: str, *, host: str | None, selectors: Sequence[str]) -> list[Finding]:
    asked = await asyncio.gather(
        _within(_spf(resolver, domain, host), Finding("spf", "not_asked", domain)),
        _within(_dkim(resolver, domain, selectors), Finding("dkim", "not_asked", f"_domainkey.{domain}")),
        _within(_dmarc(resolver, domain), Finding("dmarc", "not_asked", f"_dmarc.{domain}")),
    )
    return [finding for found in asked for finding in found]


async def _spf(resolver: Resolver, domain: str, host: str | None) -> list[Finding]:
    texts = await resolver.texts(domain)
    if texts is None:
        return [Finding("spf", "no_domain", domain)]
    reached: set[str] = set()
    lookups = 0
    waiting = records.spf_records(texts)[:1]
    while waiting and lookups <= records.LOOKUPS_MAX:
        record = waiting.pop(0)
        lookups += records.spf_lookups(record)
        new = [name for name in dict.fromkeys(records.spf_references(record)) if name not in reached]
        reached.update(new)
        found = await asyncio.gather(*(resolver.texts(name) for name in new[: records.LOOKUPS_MAX]))
        waiting += [each for answer in found for each in records.spf_records(answer or [])[:1]]
    return [records.judge_spf(domain, texts, host=host, reached=reached, lookups=lookups)]


async def _dkim(resolver: Resolver, domain: str, selectors: Sequence[str]) -> list[Finding]:
    names = [records.dkim_name(domain, selector) for selector in selectors]
    answers = await asyncio.gather(*map(resolver.texts, names))
    found: Mapping[str, Sequence[str]] = {
        selector: answer or [] for selector, answer in zip(selectors, answers, strict=True)
    }
    return records.judge_dkim(domain, found)


async def _dmarc(resolver: Resolver, domain: str) -> list[Finding]:
    for name in records.dmarc_names(domain):
        texts = await resolver.texts(name) or []
        if records.is_dmarc(texts):
            return [records.judge_dmarc(domain, name, texts)]
    return [records.judge_dmarc(domain, f"_dmarc.{domain}", [])]


async def _within(work: Coroutine[Any, Any, list[Finding]], otherwise: Finding) -> list[Finding]:
    try:
        async with asyncio.timeout(SECONDS_MAX):
            return await work
    except (NotAsked, TimeoutError):
        return [otherwise]


@functools.cache
def _resolver(servers: tuple[tuple[str, int], ...]) -> Resolver:
    return Resolver(servers)
