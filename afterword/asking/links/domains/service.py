"""Claims hosts, proves them by a record of DNS, and has them built into the addresses of public pages.

A record that is the organization's own proves it: that a host points here would not do, since another organization of
this installation could claim a host whose owner forgot it. A call to the host then shows that it leads here.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Final, Literal

import structlog

from afterword import errors
from afterword.asking.links.domains import store
from afterword.asking.links.domains.store import CustomDomain
from afterword.core import keys
from afterword.core.answers.form_tokens import is_token, token_of
from afterword.core.organizations.access import Caller
from afterword.core.wire import hosts
from afterword.core.wire.site import Site
from afterword.kit import db as databases
from afterword.kit.db import Database, Pool
from afterword.kit.transport import http
from afterword.kit.transport.resolver import NotAsked, Resolver

NO_DOMAIN: Final = "The organization has no domain of its own."
RECORD_PURPOSE: Final = "domain record"
REACH_PURPOSE: Final = "domain reached"
ASK_SECONDS_MAX: Final = 2.0
REACH_SECONDS_MAX: Final = 3.5
RECHECK_HOURS: Final = 6
FRESH_SECONDS: Final = 5.0  # how long a process may build addresses of a host that was lost
HELD_MAX: Final = 10_000

Found = Literal["found", "missing", "not_asked"]
logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def get(db: Database, *, caller: Caller) -> CustomDomain:
    return errors.found(await store.get_domain(db, organization_id=caller.organization_id), NO_DOMAIN)


async def claim(
    db: Database, *, caller: Caller, host: str, site: Site, now: datetime, expect: errors.Expect = errors.ANY
) -> tuple[CustomDomain, bool]:
    """The claim of a host, and whether there was none before. Raises Invalid, Forbidden, Stale."""
    caller.require_whole()
    caller.require_real()
    try:
        name = hosts.typed_host(host)
    except ValueError as error:
        raise errors.Invalid.at("/host", "invalid_format", str(error)) from error
    if name == site.host:
        raise errors.Invalid.at("/host", "unknown_value", "This is the host of the whole installation.")
    before = await store.get_domain(db, organization_id=caller.organization_id, is_locked=True)
    if before is not None:
        expect(before.version)
        if before.host == name:
            return before, False
    new = await store.update_domain(
        db, organization_id=caller.organization_id, host=name, now=now, updated_by=caller.actor_id
    )
    return new, before is None


async def remove(db: Database, *, caller: Caller, expect: errors.Expect = errors.ANY) -> None:
    caller.require_whole()
    caller.require_real()
    before = errors.found(await store.get_domain(db, organization_id=caller.organization_id, is_locked=True), NO_DOMAIN)
    expect(before.version)
    await store.delete_domain(db, organization_id=caller.organization_id)


async def check(pool: Pool, *, caller: Caller, site: Site, now: datetime) -> CustomDomain:
    """Ask for the record, then call the host. Each write has a transaction of its own, and none waits for others."""
    caller.require_whole()
    caller.require_real()
    async with databases.connection(pool) as db:
        domain = await get(db, caller=caller)
    await ask(pool, domain=domain, site=site, now=now, actor=caller.actor)
    async with databases.connection(pool) as db:
        domain = await get(db, caller=caller)
    if domain.state == "proven":
        await _reach(domain, site=site)
        async with databases.transaction(pool) as db:
            domain = await get(db, caller=caller)
            if domain.state == "proven":
                await _note(db, domain, "not_reached", now)
                domain = await get(db, caller=caller)
    await refresh(pool, site=site)
    return domain


async def ask(pool: Pool, *, domain: CustomDomain, site: Site, now: datetime, actor: str = "") -> None:
    """Ask for the record and write down what it means: proven, lost, or held by somebody else."""
    found = await _record_of(domain, site=site)
    try:
        await _settle(pool, domain, found, now=now, actor=actor)
    except databases.Taken:
        await _ask_holder(pool, domain.host, site=site, now=now)
        try:
            await _settle(pool, domain, found, now=now, actor=actor)
        except databases.Taken:
            async with databases.transaction(pool) as db:
                await _note(db, domain, "in_use", now)


async def _ask_holder(pool: Pool, host: str, *, site: Site, now: datetime) -> None:
    """Another organization holds the host; it loses it where its own record is gone."""
    async with databases.connection(pool) as db:
        holder = await store.get_holder(db, host=host)
    if holder is not None:
        await _settle(pool, holder, await _record_of(holder, site=site), now=now)


async def _settle(pool: Pool, domain: CustomDomain, found: Found, *, now: datetime, actor: str = "") -> None:
    """Raises Taken."""
    key = {"organization_id": domain.organization_id, "host": domain.host}
    async with databases.transaction(pool, actor=actor) as db:
        match found:
            case "found":
                await store.update_proven(db, **key, now=now)
                await _note(db, domain, None, now)
            case "missing":
                if domain.is_held:
                    logger.warning("the record of a custom domain is gone", organization_id=domain.organization_id)
                await store.update_lost(db, **key, now=now)
                await _note(db, domain, "record_missing", now)
            case "not_asked":
                await _note(db, domain, "not_asked", now)


async def _note(db: Database, domain: CustomDomain, problem: str | None, now: datetime) -> None:
    await store.update_checked(db, organization_id=domain.organization_id, host=domain.host, problem=problem, now=now)


async def _record_of(domain: CustomDomain, *, site: Site) -> Found:
    resolver = Resolver(site.name_servers)  # a new one: an answer that was kept may be the one before the change
    try:
        async with asyncio.timeout(ASK_SECONDS_MAX):
            texts = await resolver.texts(hosts.record_name(domain.host))
    except (NotAsked, TimeoutError):
        return "not_asked"
    value = record_value(domain.organization_id, domain.host, site=site)
    return "found" if hosts.has_record(texts, value) else "missing"


def record_value(organization_id: str, host: str, *, site: Site) -> str:
    return hosts.RECORD_PREFIX + token_of(keys.addresses_of(site.secret), RECORD_PURPOSE, f"{organization_id}\n{host}")


def reach_url(domain: CustomDomain, *, site: Site) -> str:
    """An address of the host that tells us of its opening, by a browser too."""
    token = token_of(site.secret, REACH_PURPOSE, f"{domain.organization_id}\n{domain.host}")
    return f"{site.url_of(domain.host)}/domains/{domain.organization_id}/{token}"


async def note_reached(db: Database, *, organization_id: str, token: str, host: str, site: Site, now: datetime) -> None:
    """A call for this host came here. Raises NotFound for one with another token, or of a host that is not held."""
    subject = f"{organization_id}\n{host}"
    if not is_token(token, secret=site.secret, purpose=REACH_PURPOSE, subject=subject) or not (
        await store.update_reached(db, organization_id=organization_id, host=host, now=now)
    ):
        raise errors.NotFound("There is no such page.")


async def _reach(domain: CustomDomain, *, site: Site) -> None:
    web = http.Caller(allowed=site.networks)
    try:
        await web.request("GET", reach_url(domain, site=site), headers={}, content=b"", seconds=REACH_SECONDS_MAX)
    except http.CallFailed as failed:
        logger.info("a custom domain was not reached", organization_id=domain.organization_id, reason=failed.reason)
    finally:
        await web.close()


async def claim_due(db: Database, *, now: datetime, limit: int) -> list[CustomDomain]:
    """Domains that were proven, some hours after they were last asked about."""
    before = now - timedelta(hours=RECHECK_HOURS)
    return await store.claim_due(db, now=now, checked_before=before, limit=limit)


async def refresh(pool: Pool, *, site: Site) -> None:
    """Let this process build addresses, and serve pages, by what is held now."""
    async with databases.connection(pool) as db:
        held = await store.list_held(db, limit=HELD_MAX)
    site.domains.replace(one for one in held if one[1] != site.host)


async def try_refresh(pool: Pool, *, site: Site) -> None:
    """Without a database, or before it is migrated, the process keeps what it knows."""
    try:
        await refresh(pool, site=site)
    except errors.Unavailable:
        return
    except Exception:
        logger.exception("custom domains were not read")


async def keep_fresh(pool: Pool, *, site: Site) -> None:
    """Refresh every few seconds until it is cancelled."""
    while True:
        await asyncio.sleep(FRESH_SECONDS)
        await try_refresh(pool, site=site)
