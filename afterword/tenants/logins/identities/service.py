"""Log-in through the identity provider of an organization: set by an owner, begun and finished by anybody it knows.

A login of a provider is one of its own: it opens this organization alone, whatever address the provider tells. So a
provider of one organization cannot open what the same person does in another.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, LiteralString

import msgspec
import structlog

from afterword import errors, ids
from afterword.core.organizations import identities
from afterword.core.organizations.access import Caller, installation
from afterword.core.organizations.identities import Identity, Role
from afterword.core.wire.site import Site
from afterword.kit import db as databases, sealing
from afterword.kit.db import Database, Pool
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.transport import http
from afterword.kit.web import fields
from afterword.tenants.logins import service, sessions
from afterword.tenants.logins.identities import openid
from afterword.tenants.logins.identities.openid import Challenge, Client, ProviderFailed, WrongCode, said
from afterword.tenants.logins.sessions import Session, Source
from afterword.tenants.organizations import users


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """The provider of an organization, by OpenID Connect. `client_secret` is never shown."""

    organization_id: fields.Id
    issuer: str
    client_id: str
    client_secret: Annotated[bytes | None, Hidden()] = field(repr=False)  # sealed; null: a public client
    scopes: list[str]
    groups_claim: str
    group_roles: list[dict[str, str]]
    default_role: Role | None
    trusts_addresses: bool
    authorization_url: Annotated[str | None, Hidden()]  # as the last good check found it
    checked_time: datetime | None
    problem: str | None
    version: Annotated[int, Hidden()]
    created_time: datetime
    updated_time: datetime
    created_by: fields.Id | None
    updated_by: fields.Id | None

    @property
    def has_client_secret(self) -> bool:
        return self.client_secret is not None


class Member(msgspec.Struct, frozen=True):
    """A user, and the login by which an identity provider lets the person act as it."""

    user_id: str
    role: str
    active: bool
    login_id: str | None
    issuer: str | None
    subject: str | None


_COLUMNS: Final = columns_of(IdentityProvider)
_MEMBER: Final[LiteralString] = """select u.user_id, u.role, u.active, i.login_id, i.issuer, i.subject
  from organization_user u
    left join login_identity i on i.organization_id = u.organization_id and i.user_id = u.user_id
  where u.organization_id = $1 and u.removed_time is null"""


async def get_provider(db: Database, *, organization_id: str, is_locked: bool = False) -> IdentityProvider | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    query: LiteralString = f"select {_COLUMNS} from identity_provider where organization_id = $1 {lock}"
    return await db.records(IdentityProvider).fetch_row(query, organization_id)


async def get_provider_by_domain(  # any tenant: a guest names it
    db: Database, *, domain: str
) -> IdentityProvider | None:
    return await db.records(IdentityProvider).fetch_row(
        f"""select {_COLUMNS} from identity_provider where organization_id = (
             select o.organization_id from organization o where o.domain = lower($1))""",
        domain,
    )


async def _update_provider(
    db: Database, *, organization_id: str, values: Mapping[str, Any], now: datetime, updated_by: str | None
) -> IdentityProvider:
    """Write the whole provider. `values` has its columns; another issuer must be asked for its addresses."""
    return await db.records(IdentityProvider).fetch_one(
        f"""insert into identity_provider as p (organization_id, issuer, client_id, client_secret, scopes, groups_claim,
             group_roles, default_role, trusts_addresses, created_time, updated_time, created_by, updated_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $11)
           on conflict (organization_id) do update set (issuer, client_id, client_secret, scopes, groups_claim,
               group_roles, default_role, trusts_addresses, version, updated_time, updated_by)
             = (excluded.issuer, excluded.client_id, excluded.client_secret, excluded.scopes, excluded.groups_claim,
                excluded.group_roles, excluded.default_role, excluded.trusts_addresses, p.version + 1,
                excluded.updated_time, excluded.updated_by),
             authorization_url = case when p.issuer = excluded.issuer then p.authorization_url end, problem = null
           returning {_COLUMNS}""",
        *(organization_id, values["issuer"], values["client_id"], values["client_secret"], values["scopes"]),
        *(values["groups_claim"], values["group_roles"], values["default_role"], values["trusts_addresses"]),
        *(now, updated_by),
    )


async def _update_checked(
    db: Database,
    *,
    organization_id: str,
    issuer: str,
    authorization_url: str | None,
    problem: str | None,
    now: datetime,
) -> None:
    """Note what this issuer answered; an address that was found before stays where none was found now."""
    await db.execute(
        """update identity_provider set authorization_url = coalesce($3, authorization_url), problem = $4,
             checked_time = $5
           where organization_id = $1 and issuer = $2""",
        *(organization_id, issuer, authorization_url, problem, now),
    )


async def _update_problem(db: Database, *, organization_id: str, version: int, problem: str | None) -> None:
    await db.execute(
        "update identity_provider set problem = $3 where organization_id = $1 and version = $2",
        *(organization_id, version, problem),
    )


async def _delete_provider(db: Database, *, organization_id: str) -> None:
    await db.execute("delete from identity_provider where organization_id = $1", organization_id)


async def _delete_sessions_of_identities(db: Database, *, organization_id: str) -> int:
    return await db.execute(
        """delete from login_session where organization_id = $1
             and login_id in (select i.login_id from login_identity i where i.organization_id = $1)""",
        organization_id,
    )


async def get_member_by_subject(db: Database, *, organization_id: str, issuer: str, subject: str) -> Member | None:
    return await db.records(Member).fetch_row(
        f"{_MEMBER} and i.issuer = $2 and i.subject = $3", organization_id, issuer, subject
    )


async def get_member_by_email(db: Database, *, organization_id: str, email: str) -> Member | None:
    return await db.records(Member).fetch_row(f"{_MEMBER} and lower(u.email) = lower($2)", organization_id, email)


async def _get_identity_login(db: Database, *, organization_id: str, issuer: str, subject: str) -> str | None:
    return await db.fetch_value(
        "select login_id from login_identity where organization_id = $1 and issuer = $2 and subject = $3",
        *(organization_id, issuer, subject),
    )


async def _get_id_token(db: Database, *, organization_id: str, session_id: str) -> bytes | None:
    """Sealed."""
    return await db.fetch_value(
        "select id_token from login_session where organization_id = $1 and session_id = $2", organization_id, session_id
    )


async def _insert_identity_login(  # any tenant: the identity says which
    db: Database, *, login_id: str, email: str, now: datetime
) -> None:
    """A login that no password opens."""
    await db.execute(
        """insert into login (login_id, email, password_hash, is_of_provider, password_time, created_time, updated_time)
           values ($1, $2, '', true, $3, $3, $3)""",
        *(login_id, email, now),
    )


async def _update_identity(
    db: Database, *, organization_id: str, user_id: str, login_id: str, issuer: str, subject: str, now: datetime
) -> None:
    await db.execute(
        """delete from login where is_of_provider and login_id in (
             select i.login_id from login_identity i
             where i.organization_id = $1 and i.user_id = $2 and (i.issuer, i.subject) <> ($3, $4))""",
        *(organization_id, user_id, issuer, subject),
    )
    await db.execute(
        """insert into login_identity (organization_id, issuer, subject, user_id, login_id, created_time)
           values ($1, $3, $4, $2, $5, $6)
           on conflict (organization_id, issuer, subject) do update set user_id = excluded.user_id""",
        *(organization_id, user_id, issuer, subject, login_id, now),
    )


NO_PROVIDER: Final = "The organization has no identity provider."
RETURN_PATH: Final = "/console/login/identity"
FLOW: Final = timedelta(minutes=15)  # between here, the provider, and back
LIFETIME: Final = timedelta(hours=12)  # of a session: somebody whom the provider forgot is out by then
CODE_CHARACTERS_MAX: Final = 4_096
PROBLEM_CHARACTERS_MAX: Final = 500
WRONG_MAX: Final = 100  # states and codes that nobody gave out, of a network at an organization
CANNOT_FINISH: Final = "This log-in cannot be finished. Begin again."
ANOTHER_BROWSER: Final = "This log-in was not begun in this browser. Begin again."
OWNER: Final = "owner"
logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class LoginFailed(errors.Forbidden):
    code_default = "login_failed"


class Flow(msgspec.Struct, frozen=True):
    """A log-in under way, sealed in a cookie of its browser. `until`: seconds since 1970."""

    organization_id: str
    challenge: Challenge
    going_on: str
    until: int


class Returned(msgspec.Struct, frozen=True):
    """The parameters with which a provider led back; empty where it sent none. `issuer`: RFC 9207."""

    state: str
    code: str = ""
    issuer: str = ""
    error: str = ""
    description: str = ""


async def get(db: Database, *, caller: Caller) -> IdentityProvider:
    return errors.found(await get_provider(db, organization_id=caller.organization_id), NO_PROVIDER)


async def save(
    db: Database,
    *,
    caller: Caller,
    values: Mapping[str, Any],
    site: Site,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> tuple[IdentityProvider, bool]:
    """Store the settings, and tell whether there were none before. Nobody logs in by another issuer before a check.

    `values` without `client_secret` keep the one that is stored. Raises Invalid, Forbidden, Stale.
    """
    require_owner(caller)
    organization_id, issuer = caller.organization_id, values["issuer"]
    if sentence := http.check_url(issuer, site.networks):
        raise errors.Invalid.at("/issuer", "invalid_format", sentence)
    before = await get_provider(db, organization_id=organization_id, is_locked=True)
    expect(errors.ABSENT if before is None else before.version)
    is_same = before is not None and before.issuer == issuer
    secret = before.client_secret if before is not None and is_same else None
    if "client_secret" in values:
        given = values["client_secret"]
        secret = sealing.seal(given, secret=site.secret, context=_context(organization_id)) if given else None
    if before is not None and not is_same:
        await _delete_sessions_of_identities(db, organization_id=organization_id)
    stored = await _update_provider(
        db,
        organization_id=organization_id,
        values={**values, "client_secret": secret},
        now=now,
        updated_by=caller.actor_id,
    )
    return stored, before is None


async def check(pool: Pool, *, caller: Caller, site: Site, now: datetime) -> IdentityProvider:
    """Ask the provider for its document, and note what it answered. Raises NotFound, Forbidden."""
    require_owner(caller)
    provider = await databases.load(pool, get, caller=caller)
    url, problem = None, None
    try:
        async with http.Caller(allowed=site.networks) as web:
            url = (await openid.discover(web, provider.issuer, allowed=site.networks)).authorization_url
    except ProviderFailed as failed:
        problem = failed.reason[:PROBLEM_CHARACTERS_MAX]
    async with databases.transaction(pool, actor=caller.actor) as db:
        await _update_checked(
            db,
            organization_id=provider.organization_id,
            issuer=provider.issuer,
            authorization_url=url,
            problem=problem,
            now=now,
        )
        return await get(db, caller=caller)


async def remove(db: Database, *, caller: Caller, expect: errors.Expect = errors.ANY) -> None:
    """End the log-in through it, and the sessions that it opened. Raises NotFound, Forbidden, Stale."""
    require_owner(caller)
    organization_id = caller.organization_id
    before = errors.found(await get_provider(db, organization_id=organization_id, is_locked=True), NO_PROVIDER)
    expect(before.version)
    await _delete_sessions_of_identities(db, organization_id=organization_id)
    await _delete_provider(db, organization_id=organization_id)


async def begin(
    db: Database, *, domain: str, going_on: str, is_anew: bool, site: Site, now: datetime
) -> tuple[str, str]:
    """The address at the provider, and the sealed flow for a cookie. Raises NotFound."""
    provider = await get_provider_by_domain(db, domain=domain)
    if provider is None or provider.authorization_url is None:
        raise errors.NotFound("No organization of this name logs in this way.")
    flow = Flow(
        organization_id=provider.organization_id,
        challenge=Challenge(ids.secret(), ids.secret(), ids.secret() + ids.secret()),  # RFC 7636 wants 43 characters
        going_on=going_on,
        until=int((now + FLOW).timestamp()),
    )
    client = Client(provider.client_id, None, return_url(site))
    url = openid.login_url(provider.authorization_url, client, flow.challenge, scopes=provider.scopes, is_anew=is_anew)
    text = msgspec.json.encode(flow).decode()
    return url, sealing.seal(text, secret=site.secret, context="identity flow").hex()


def read_flow(text: str, *, site: Site, now: datetime) -> Flow:
    """The flow of a cookie. Raises LoginFailed."""
    try:
        opened = sealing.unseal(bytes.fromhex(text), secret=site.secret, context="identity flow")
        flow = msgspec.json.decode(opened, type=Flow)
    except (ValueError, sealing.Unreadable, msgspec.MsgspecError):
        raise LoginFailed(ANOTHER_BROWSER) from None
    if flow.until <= now.timestamp():
        raise LoginFailed("This log-in took too long. Begin again.")
    return flow


async def finish(pool: Pool, *, flow: Flow, returned: Returned, source: Source, site: Site, now: datetime) -> str:
    """Take the code to the provider, and open a session for the person that it names; returns its cookie.

    No connection of ours is held while the provider is asked. Raises LoginFailed, TooManyFailures.
    """
    key = ids.digest(f"identity {flow.organization_id} {source.network}")
    async with databases.connection(pool) as db:
        await _require_patience(db, key=key, now=now)
        provider = await get_provider(db, organization_id=flow.organization_id)
    if provider is None:
        raise LoginFailed(CANNOT_FINISH)
    try:
        _check_returned(flow, returned)
        return await _finished(pool, provider, flow, returned, source=source, site=site, now=now)
    except ProviderFailed as failed:
        if isinstance(failed, WrongCode):
            await databases.change(pool, service.note_wrong, key=key, now=now)
        if failed.reason:
            await _tell_owner(pool, provider, failed.reason, now=now)
        sentence = failed.sentence or "The log-in of your organization did not work. Begin again, or tell its owner."
        raise LoginFailed(sentence) from failed


async def refuse(pool: Pool, *, flow: Flow, returned: Returned, now: datetime) -> None:
    """Tell the owner of an error with which the provider led back. Raises LoginFailed."""
    provider = await databases.load(pool, get_provider, organization_id=flow.organization_id)
    is_its = provider is not None and returned.issuer in {"", provider.issuer}
    if is_its and hmac.compare_digest(flow.challenge.state.encode(), returned.state.encode()):
        words = ": ".join(said(text) for text in (returned.error, returned.description) if text)
        await _tell_owner(pool, provider, f"The provider led back with an error: {words.rstrip('.')}.", now=now)
    raise LoginFailed("The log-in of your organization was not finished.")


async def hint_of(db: Database, *, session: Session, site: Site) -> str | None:
    """The ID token that opened the session, with which the provider knows who logs out."""
    token = await _get_id_token(db, organization_id=session.organization_id, session_id=session.session_id)
    if token is None:
        return None
    try:
        return sealing.unseal(token, secret=site.secret, context=_hint_context(session.session_id))
    except sealing.Unreadable:  # nobody is kept from logging out
        return None


async def end_url(pool: Pool, *, organization_id: str, hint: str | None, site: Site) -> str | None:
    """The address at which the person logs out of the provider too; None where there is none."""
    provider = await databases.load(pool, get_provider, organization_id=organization_id)
    if provider is None:
        return None
    try:
        async with http.Caller(allowed=site.networks) as web:
            document = await openid.discover(web, provider.issuer, allowed=site.networks)
    except ProviderFailed as failed:
        logger.warning("an identity provider failed", organization_id=organization_id, reason=failed.reason)
        return None
    back_url = f"{site.public_url}/console/login"
    return openid.end_url(document, client_id=provider.client_id, back_url=back_url, hint=hint)


def return_url(site: Site) -> str:
    """The address that the provider leads back to, as it must be registered there."""
    return f"{site.public_url}{RETURN_PATH}"


def _check_returned(flow: Flow, returned: Returned) -> None:
    """Raise WrongCode, without a reason for the owner, for what no provider sent to this browser."""
    if not hmac.compare_digest(flow.challenge.state.encode(), returned.state.encode()):
        raise WrongCode("", ANOTHER_BROWSER)
    if not 0 < len(returned.code) <= CODE_CHARACTERS_MAX:
        raise WrongCode("", CANNOT_FINISH)


async def _finished(
    pool: Pool, provider: IdentityProvider, flow: Flow, returned: Returned, *, source: Source, site: Site, now: datetime
) -> str:
    identity, token = await _identity_of(provider, flow, returned, site=site, now=now)
    async with databases.transaction(pool) as db:
        member = await _admitted(db, provider, identity, now=now)
        if member is not None:
            if provider.problem is not None:
                await _update_problem(
                    db, organization_id=provider.organization_id, version=provider.version, problem=None
                )
            return await _opened(db, provider, member, identity, token, source=source, site=site, now=now)
    told = said(", ".join(sorted(identity.groups or ()))) or "none"
    raise ProviderFailed(
        f"None of a person's groups has a role. The claim {provider.groups_claim} named: {told}.",
        "None of your groups has a role here. Ask an administrator of your organization.",
    )


async def _require_patience(db: Database, *, key: bytes, now: datetime) -> None:
    """Raise TooManyFailures; what counts is made up, so that nobody's mistake at the provider is counted."""
    found = await service.list_failures(db, keys=[key], after=now - service.WINDOW)
    if found.get(key, 0) >= WRONG_MAX:
        seconds = int(service.WINDOW.total_seconds())
        sentence = errors.Sentence(
            "Too many log-ins of your organization failed here. Wait {n} minutes.", n=seconds // 60
        )
        raise service.TooManyFailures(sentence, headers={"Retry-After": str(seconds)})


async def _tell_owner(pool: Pool, provider: IdentityProvider, reason: str, *, now: datetime) -> None:
    logger.warning("an identity provider failed", organization_id=provider.organization_id, reason=reason)
    problem = f"A log-in failed at {now:%Y-%m-%d %H:%M} UTC. {reason}"[:PROBLEM_CHARACTERS_MAX]
    async with databases.transaction(pool) as db:
        await _update_problem(db, organization_id=provider.organization_id, version=provider.version, problem=problem)


async def _identity_of(
    provider: IdentityProvider, flow: Flow, returned: Returned, *, site: Site, now: datetime
) -> tuple[Identity, str]:
    """The person, and the ID token. Raises ProviderFailed."""
    secret = None
    if provider.client_secret is not None:
        context = _context(provider.organization_id)
        secret = sealing.unseal(provider.client_secret, secret=site.secret, context=context)
    client = Client(provider.client_id, secret, return_url(site))
    async with http.Caller(allowed=site.networks) as web:
        document = await openid.discover(web, provider.issuer, allowed=site.networks)
        openid.check_issuer(document, returned.issuer)
        claims, token = await openid.claims_of(
            web, document, client, flow.challenge, code=returned.code, wanted=provider.groups_claim, now=now
        )
    identity = identities.identity_of(claims, groups_claim=provider.groups_claim)
    if identity is None:
        raise ProviderFailed(
            _fault("sub or email", "is missing or too long"),
            "The log-in of your organization tells no address of yours. Tell its owner.",
        )
    return identity, token


async def _admitted(db: Database, provider: IdentityProvider, identity: Identity, *, now: datetime) -> Member | None:
    """The user of this person, with the role of its groups; None, and no session left, where they have none."""
    organization_id = provider.organization_id
    member = await get_member_by_subject(
        db, organization_id=organization_id, issuer=provider.issuer, subject=identity.subject
    ) or await _known_by_address(db, provider, identity)
    if member is not None and not member.active:
        raise LoginFailed("Your user is switched off. Ask an administrator of your organization.")
    if member is not None and member.role == OWNER:
        return member
    if identity.groups is None and provider.group_roles:
        raise ProviderFailed(
            f"The groups of a person cannot be read: there are over {identities.GROUPS_MAX:,}, or the claim "
            f"{provider.groups_claim} tells them elsewhere (`_claim_names`) or in an unknown form. Let the provider "
            "tell the groups of this application alone.",
            "The log-in of your organization does not tell your groups. Tell its owner.",
        )
    role = identities.role_of(
        identity.groups or frozenset(), group_roles=provider.group_roles, default=provider.default_role
    )
    if member is None:
        return role and await _provisioned(db, provider, identity, role=role, now=now)
    if role is None:
        if member.login_id is not None:
            await sessions.delete_sessions(db, login_id=member.login_id)
        return None
    if role != member.role:
        await users.update_user(
            db, caller=installation(organization_id), user_id=member.user_id, changes={"role": role}, now=now
        )
    return member


async def _known_by_address(db: Database, provider: IdentityProvider, identity: Identity) -> Member | None:
    """The user with this address: who never logged in this way, or did so a moment ago. Raises ProviderFailed."""
    if identity.is_verified is False:
        raise ProviderFailed(
            _fault("email_verified", "is false"),
            "The log-in of your organization has not verified your address. Tell its owner.",
        )
    member = await get_member_by_email(db, organization_id=provider.organization_id, email=identity.email)
    if member is None:
        return None
    if not identity.is_verified and not provider.trusts_addresses:
        raise ProviderFailed(
            _fault("email_verified", "is missing, and addresses without it are not trusted"),
            "The log-in of your organization does not say that your address is verified. Tell its owner.",
        )
    if member.issuer == provider.issuer and member.subject != identity.subject:  # the address was given to another one
        raise ProviderFailed(
            _fault("email", "is the address of another one here"),
            "Another person of your organization logs in with this address. Tell its owner.",
        )
    return member


async def _provisioned(
    db: Database, provider: IdentityProvider, identity: Identity, *, role: str, now: datetime
) -> Member:
    user = await users.create_user(
        db,
        organization_id=provider.organization_id,
        email=identity.email,
        role=role,
        display_name=identity.name,
        now=now,
    )
    return Member(user.user_id, role, True, None, None, None)


async def _opened(
    db: Database,
    provider: IdentityProvider,
    member: Member,
    identity: Identity,
    token: str,
    *,
    source: Source,
    site: Site,
    now: datetime,
) -> str:
    key = {"organization_id": provider.organization_id, "issuer": provider.issuer, "subject": identity.subject}
    login_id = await _get_identity_login(db, **key)
    if login_id is None:
        login_id = ids.ordered(now)
        await _insert_identity_login(db, login_id=login_id, email=identity.email, now=now)
    await _update_identity(db, **key, user_id=member.user_id, login_id=login_id, now=now)
    session_id = ids.ordered(now)
    context = _hint_context(session_id)
    is_short = len(token) <= openid.HINT_CHARACTERS_MAX
    return await sessions.insert_session(
        db,
        login_id=login_id,
        session_id=session_id,
        id_token=sealing.seal(token, secret=site.secret, context=context) if is_short else None,
        organization_id=provider.organization_id,
        user_id=member.user_id,
        source=source,
        is_known=True,
        lifetime=LIFETIME,
        proven_time=identities.proven_time(identity.authenticated, now=now),
        now=now,
    )


def _fault(claim: str, fault: str) -> str:
    return f"The claim {claim} of a person {fault}."


def _context(organization_id: str) -> str:
    return f"identity:{organization_id}"


def _hint_context(session_id: str) -> str:
    return f"id token:{session_id}"


def require_owner(caller: Caller) -> None:
    """A provider can vouch for an owner, so nobody else says which one does."""
    caller.require_all()
    if caller.role != OWNER:
        raise errors.Forbidden("Only an owner sets how the organization logs in.")
