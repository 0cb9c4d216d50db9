"""Claims hosts, proves them by a record of DNS, and has them built into the addresses of public pages.

A record that is the organization's own proves it: that a host points here would not do, since another organization of
this installation could claim a host whose owner forgot it. A call to the host then shows that it leads here.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, LiteralString

import msgspec
import structlog
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from afterword import errors
from afterword.core import keys
from afterword.core.answers.suspicion import is_token, token_of
from afterword.core.organizations.access import Caller
from afterword.core.wire import site as hosts
from afterword.core.wire.site import Site, requested_host
from afterword.kit import db as databases
from afterword.kit.db import Database, Pool
from afterword.kit.db.columns import columns_of
from afterword.kit.db.walks import LOOKED_MAX
from afterword.kit.nouns.declaration import Editable, Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.texts import accepted, texts
from afterword.kit.transport import http
from afterword.kit.transport.http import NotAsked, Resolver
from afterword.kit.web import fields, public
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.routing import Pages

State = Literal["pending", "proven", "active", "lost"]


class CustomDomainRecord(msgspec.Struct, frozen=True):
    """The host of an organization's public pages; links lead there while it is `active`."""

    organization_id: fields.Id
    host: str
    problem: Annotated[
        Literal["in_use", "not_asked", "not_reached", "record_missing"] | None,
        Meta(
            description=(
                "Of the last check. `in_use`: another organization holds the host. `not_asked`: no name server "
                "answered. `not_reached`: a call to the host did not come here. `record_missing`: no such record."
            )
        ),
    ]
    proven_time: datetime | None
    reached_time: datetime | None
    lost_time: datetime | None
    checked_time: datetime | None
    version: Annotated[int, Hidden()]
    created_time: datetime
    updated_time: datetime
    created_by: fields.Id | None
    updated_by: fields.Id | None

    @property
    def state(self) -> State:
        if self.proven_time is None:
            return "pending"
        if self.lost_time is not None:
            return "lost"
        return "proven" if self.reached_time is None else "active"

    @property
    def is_held(self) -> bool:
        return self.state in {"proven", "active"}


_COLUMNS: Final = columns_of(CustomDomainRecord)
# The host that the organization $1 had, if its record is gone.
LOST_HOST: Final[LiteralString] = """select host from custom_domain
  where organization_id = $1 and lost_time is not null"""
_HELD: Final[LiteralString] = "proven_time is not null and lost_time is null"


async def get_domain(db: Database, *, organization_id: str, is_locked: bool = False) -> CustomDomainRecord | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    return await db.records(CustomDomainRecord).fetch_row(
        f"select {_COLUMNS} from custom_domain where organization_id = $1 {lock}", organization_id
    )


async def get_holder(db: Database, *, host: str) -> CustomDomainRecord | None:  # any tenant: one of them holds the host
    return await db.records(CustomDomainRecord).fetch_row(
        f"select {_COLUMNS} from custom_domain where host = $1 and {_HELD}", host
    )


async def _list_held(  # any tenant: a process serves everyone
    db: Database, *, limit: int
) -> list[tuple[str, str, bool]]:
    """Organizations, their hosts, and whether these lead here."""
    return await db.fetch_tuples(
        f"""select organization_id, host, reached_time is not null as is_active from custom_domain where {_HELD}
           order by host limit $1""",
        limit,
    )


async def _update_domain(
    db: Database, *, organization_id: str, host: str, now: datetime, updated_by: str | None
) -> CustomDomainRecord:
    """Claim a host in place of the one before; nothing about it is known yet."""
    return await db.records(CustomDomainRecord).fetch_one(
        f"""insert into custom_domain (organization_id, host, created_time, updated_time, created_by, updated_by)
           values ($1, $2, $3, $3, $4, $4)
           on conflict (organization_id) do update set host = excluded.host, proven_time = null, reached_time = null,
             lost_time = null, checked_time = null, problem = null, version = custom_domain.version + 1,
             updated_time = excluded.updated_time, updated_by = excluded.updated_by
           returning {_COLUMNS}""",
        *(organization_id, host, now, updated_by),
    )


async def _delete_domain(db: Database, *, organization_id: str) -> None:
    await db.execute("delete from custom_domain where organization_id = $1", organization_id)


async def _update_proven(db: Database, *, organization_id: str, host: str, now: datetime) -> None:
    """Its record was found. A host that was lost must be reached again. Raises Taken while another one holds it."""
    await db.execute(
        """update custom_domain set proven_time = coalesce(proven_time, $3), lost_time = null,
             reached_time = case when lost_time is null then reached_time end, version = version + 1, updated_time = $3
           where organization_id = $1 and host = $2 and (proven_time is null or lost_time is not null)""",
        *(organization_id, host, now),
    )


async def _update_lost(db: Database, *, organization_id: str, host: str, now: datetime) -> None:
    await db.execute(
        f"""update custom_domain set lost_time = $3, version = version + 1, updated_time = $3
           where organization_id = $1 and host = $2 and {_HELD}""",
        *(organization_id, host, now),
    )


async def _update_reached(db: Database, *, organization_id: str, host: str, now: datetime) -> bool:
    """Whether the organization holds the host; noted once."""
    return await db.touches(
        f"""update custom_domain set reached_time = coalesce(reached_time, $3), problem = null,
             version = version + (reached_time is null)::int
           where organization_id = $1 and host = $2 and {_HELD}""",
        *(organization_id, host, now),
    )


async def _update_checked(db: Database, domain: CustomDomainRecord, problem: str | None, now: datetime) -> None:
    await db.execute(
        "update custom_domain set checked_time = $3, problem = $4 where organization_id = $1 and host = $2",
        *(domain.organization_id, domain.host, now, problem),
    )


async def claim_due(  # any tenant: the worker serves everyone
    db: Database, *, after: str, now: datetime, limit: int
) -> list[CustomDomainRecord]:
    """Proven ones of the next domains that were not asked about for hours, marked so that no other worker asks."""
    return await db.records(CustomDomainRecord).fetch(
        f"""with due as (
             select d.organization_id from (
               select organization_id, proven_time, checked_time from custom_domain
               where organization_id > $4 order by organization_id limit $5) n, lateral (
               select organization_id from custom_domain where organization_id = n.organization_id and checked_time < $2
               for update skip locked) d
             where n.proven_time is not null and n.checked_time < $2 limit $3)
           update custom_domain set checked_time = $1 where organization_id in (select organization_id from due)
           returning {_COLUMNS}""",
        *(now, now - timedelta(hours=RECHECK_HOURS), limit, after, LOOKED_MAX),
    )


async def list_owners(db: Database, *, kind: str, key: str) -> set[str]:  # any tenant: the key opens the page
    """The organizations of the page `/{kind}/{key}`; of a short code there may be two."""
    rows = await db.fetch(
        """select organization_id from questionnaire_instance where $1 = 'a' and instance_id = $2
           union all select organization_id from asset where $1 = 'asset' and asset_id = $2
           union all select organization_id from public_link where $1 = 'l' and key = $2
           union all select organization_id from questionnaire where $1 = 'p' and questionnaire_id = $2
           union all select organization_id from questionnaire_instance
             where $1 = 's' and short_code = $2 and deleted_time is null
           union all select organization_id from responder_address where $1 = 'u' and unsubscribe_id = $2""",
        *(kind, key),
    )
    return {row["organization_id"] for row in rows}


RECORD_PURPOSE: Final = "domain record"
REACH_PURPOSE: Final = "domain reached"
ASK_SECONDS_MAX: Final = 2.0
REACH_SECONDS_MAX: Final = 3.5
RECHECK_HOURS: Final = 6
FRESH_SECONDS: Final = 5.0  # how long a process may build addresses of a host that was lost
HELD_MAX: Final = 10_000

Found = Literal["found", "missing", "not_asked"]
logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def get(db: Database, *, caller: Caller, is_locked: bool = False) -> CustomDomainRecord:
    found = await get_domain(db, organization_id=caller.organization_id, is_locked=is_locked)
    return errors.found(found, "The organization has no domain of its own.")


async def claim(
    db: Database, *, caller: Caller, host: str, site: Site, now: datetime, expect: errors.Expect = errors.ANY
) -> tuple[CustomDomainRecord, bool]:
    """The claim of a host, and whether there was none before. Raises Invalid, Forbidden, Stale."""
    caller.require_all()
    try:
        name = hosts.typed_host(host)
    except ValueError as error:
        raise errors.Invalid.at("/host", "invalid_format", str(error)) from error
    if name == site.host:
        raise errors.Invalid.at("/host", "unknown_value", "This is the host of the whole installation.")
    before = await get_domain(db, organization_id=caller.organization_id, is_locked=True)
    expect(errors.ABSENT if before is None else before.version)
    if before is not None and before.host == name:
        return before, False
    key = {"organization_id": caller.organization_id, "host": name}
    return await _update_domain(db, **key, now=now, updated_by=caller.actor_id), before is None


async def remove(db: Database, *, caller: Caller, expect: errors.Expect = errors.ANY) -> None:
    caller.require_all()
    before = await get(db, caller=caller, is_locked=True)
    expect(before.version)
    await _delete_domain(db, organization_id=caller.organization_id)


async def check(pool: Pool, *, caller: Caller, site: Site, now: datetime) -> CustomDomainRecord:
    """Ask for the record, then call the host. Each write has a transaction of its own, and none waits for others."""
    caller.require_all()
    domain = await databases.load(pool, get, caller=caller)
    await ask(pool, domain=domain, site=site, now=now, actor=caller.actor)
    domain = await databases.load(pool, get, caller=caller)
    if domain.state == "proven":
        await _reach(domain, site=site)
        async with databases.transaction(pool) as db:
            domain = await get(db, caller=caller)
            if domain.state == "proven":
                await _update_checked(db, domain, "not_reached", now)
                domain = await get(db, caller=caller)
    await refresh(pool, site=site)
    return domain


async def ask(pool: Pool, *, domain: CustomDomainRecord, site: Site, now: datetime, actor: str = "") -> None:
    """Ask for the record and write down what it means: proven, lost, or held by somebody else."""
    found = await _record_of(domain, site=site)
    try:
        await _settle(pool, domain, found, now=now, actor=actor)
    except databases.Taken:
        # Another organization holds the host; it loses it where its own record is gone.
        holder = await databases.load(pool, get_holder, host=domain.host)
        if holder is not None:
            await _settle(pool, holder, await _record_of(holder, site=site), now=now)
        try:
            await _settle(pool, domain, found, now=now, actor=actor)
        except databases.Taken:
            await databases.change(pool, _update_checked, domain, "in_use", now)


async def _settle(pool: Pool, domain: CustomDomainRecord, found: Found, *, now: datetime, actor: str = "") -> None:
    """Raises Taken."""
    key = {"organization_id": domain.organization_id, "host": domain.host}
    async with databases.transaction(pool, actor=actor) as db:
        match found:
            case "found":
                await _update_proven(db, **key, now=now)
                await _update_checked(db, domain, None, now)
            case "missing":
                if domain.is_held:
                    logger.warning("the record of a custom domain is gone", organization_id=domain.organization_id)
                await _update_lost(db, **key, now=now)
                await _update_checked(db, domain, "record_missing", now)
            case "not_asked":
                await _update_checked(db, domain, "not_asked", now)


async def _record_of(domain: CustomDomainRecord, *, site: Site) -> Found:
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


def reach_url(domain: CustomDomainRecord, *, site: Site) -> str:
    """An address of the host that tells us of its opening, by a browser too."""
    token = token_of(site.secret, REACH_PURPOSE, f"{domain.organization_id}\n{domain.host}")
    return f"{site.url_of(domain.host)}/domains/{domain.organization_id}/{token}"


async def note_reached(db: Database, *, organization_id: str, token: str, host: str, site: Site, now: datetime) -> None:
    """A call for this host came here. Raises NotFound for one with another token, or of a host that is not held."""
    subject = f"{organization_id}\n{host}"
    if not is_token(token, secret=site.secret, purpose=REACH_PURPOSE, subject=subject) or not (
        await _update_reached(db, organization_id=organization_id, host=host, now=now)
    ):
        raise errors.NotFound("There is no such page.")


async def _reach(domain: CustomDomainRecord, *, site: Site) -> None:
    web = http.Caller(allowed=site.networks)
    try:
        await web.request("GET", reach_url(domain, site=site), headers={}, content=b"", seconds=REACH_SECONDS_MAX)
    except http.CallFailed as failed:
        logger.info("a custom domain was not reached", organization_id=domain.organization_id, reason=failed.reason)
    finally:
        await web.close()


async def refresh(pool: Pool, *, site: Site) -> None:
    """Let this process build addresses, and serve pages, by what is held now."""
    held = await databases.load(pool, _list_held, limit=HELD_MAX)
    site.domains.replace(one for one in held if one[1] != site.host)


async def try_refresh(pool: Pool, *, site: Site) -> None:
    """Without a database, or before it is migrated, the process keeps what it knows."""
    try:
        await refresh(pool, site=site)
    except errors.Unavailable:
        return
    except Exception:
        logger.exception("custom domains were not read")


PATH: Final = "/organization/{organization_id}/domain"

routes = Routes(tag="Organizations", scope="Organization")


class CustomDomainRequest(fields.Request):
    """The host of an organization's public pages."""

    host: Annotated[
        str,
        Meta(min_length=1, max_length=300, description="A name in DNS.", examples=["ask.shop.example"]),
        Editable("Name of the host", "A name under your domain that no website uses, such as ask.shop.example."),
    ]


Proof = Annotated[
    State,
    Meta(
        description=(
            "`pending`: the record was not found yet. `proven`: it was, and the host must now lead here. "
            "`active`: new links have this host. `lost`: the record is gone, and new links have the "
            "installation's address again."
        )
    ),
]
CustomDomain: Final = shown_as(
    "CustomDomain",
    CustomDomainRecord,
    before={
        "problem": {
            "url": fields.Computed[str],
            "state": fields.Computed[Proof],
            "record_name": fields.Computed[Annotated[str, Meta(description="The name of the TXT record to set.")]],
            "record_value": fields.Computed[Annotated[str, Meta(description="The text of the TXT record to set.")]],
            "target": fields.Computed[
                Annotated[str, Meta(description="The host to which a CNAME record of `host` points.")]
            ],
        }
    },
)


@routes.get(PATH, answer=CustomDomain, summary="Get Custom Domain")
async def get_custom_domain(call: Call[None], db: Database) -> Answer:
    return _shown(await get(db, caller=call.caller), call)


@routes.put(
    PATH,
    answer=CustomDomain,
    summary="Set Custom Domain",
    description="Nothing changes before a check has found the record. Another host gives the one before back.",
)
async def set_custom_domain(call: Call[CustomDomainRequest], db: Database) -> Answer:
    domain, is_new = await claim(
        db, caller=call.caller, host=call.body.host, site=call.site, now=call.now, expect=call.expect
    )
    answer = _shown(domain, call)
    answer.status = 201 if is_new else 200
    return answer


@routes.delete(
    PATH,
    scope="Organization.Update",
    summary="Remove Custom Domain",
    description=(
        "New links have the installation's address again. Those that were sent with the host work while it leads here."
    ),
)
async def remove_custom_domain(call: Call[None], db: Database) -> None:
    await remove(db, caller=call.caller, expect=call.expect)


@routes.act(
    f"{PATH}/check",
    scope="Organization.Update",
    answer=CustomDomain,
    summary="Check Custom Domain",
    description="Asks name servers for the record, then calls the host. It is asked for every six hours besides.",
)
async def check_custom_domain(call: Call[None], pool: Pool) -> Answer:
    return _shown(await check(pool, caller=call.caller, site=call.site, now=call.now), call)


def parts_of(domain: CustomDomainRecord, site: Site) -> dict[str, str]:
    """The members that follow from the host: its address, and the records to set."""
    return {
        "url": site.url_of(domain.host),
        "record_name": hosts.record_name(domain.host),
        "record_value": record_value(domain.organization_id, domain.host, site=site),
        "target": site.host,
    }


def _shown(domain: CustomDomainRecord, call: Call[None] | Call[CustomDomainRequest]) -> Answer:
    value = CustomDomain.of(domain, call.zone, state=domain.state, **parts_of(domain, call.site))
    return Answer(value, version=domain.version)


page_routes = Pages()


@page_routes.get("/domains/ask")
async def may_have_certificate(request: Request) -> Response:
    """200 for a host that an organization holds, else 404, as Caddy's `on_demand_tls` asks."""
    host = requested_host(request.query_params.get("domain", ""))
    errors.found(await databases.load(request.state.pool, get_holder, host=host), "No organization holds this host.")
    return PlainTextResponse("yes", headers={"Cache-Control": "no-store"})


@page_routes.get("/domains/{organization_id}/{token}", for_people=True)
async def reached(request: Request) -> Response:
    """Notes that its host leads here; opened by a check, or by a person whose browser reaches the host."""
    host, site = requested_host(request.headers.get("host", "")), request.state.site
    async with databases.transaction(request.state.pool) as database:
        await note_reached(database, **request.path_params, host=host, site=site, now=database.clock.now())
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    return public.message_page(words=words, title=request.headers["host"], facts=[words("You can close this page.")])
