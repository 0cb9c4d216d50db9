"""Log-in through the identity provider of an organization: set by an owner, begun and finished by anybody it knows.

A login of a provider is one of its own: it opens this organization alone, whatever address the provider tells. So a
provider of one organization cannot open what the same person does in another.
"""

import hashlib
import hmac
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
import structlog

from afterword import errors, ids
from afterword.core.organizations import identities
from afterword.core.organizations.access import Caller, installation
from afterword.core.organizations.identities import Identity
from afterword.core.wire.site import Site
from afterword.kit import db as databases
from afterword.kit import sealing
from afterword.kit.db import Database, Pool
from afterword.kit.transport import http
from afterword.tenants.logins import service as logins
from afterword.tenants.logins import sessions
from afterword.tenants.logins import store as logins_store
from afterword.tenants.logins.identities import openid, store
from afterword.tenants.logins.identities.openid import Challenge, Client, ProviderFailed, WrongCode, said
from afterword.tenants.logins.identities.store import IdentityProvider, Member
from afterword.tenants.logins.sessions import Session, Source
from afterword.tenants.organizations import users

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
    state: str
    nonce: str
    verifier: str
    going_on: str
    until: int

    @property
    def challenge(self) -> Challenge:
        return Challenge(self.state, self.nonce, self.verifier)


class Returned(msgspec.Struct, frozen=True):
    """The parameters with which a provider led back; empty where it sent none. `issuer`: RFC 9207."""

    state: str
    code: str = ""
    issuer: str = ""
    error: str = ""
    description: str = ""


# The settings --------------------------------------------------------------------------------------------------------


async def get(db: Database, *, caller: Caller) -> IdentityProvider:
    """The caller's organization's. Raises NotFound."""
    return errors.found(await store.get_provider(db, organization_id=caller.organization_id), NO_PROVIDER)


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
    before = await store.get_provider(db, organization_id=organization_id, is_locked=True)
    if before is not None:
        expect(before.version)
    is_same = before is not None and before.issuer == issuer
    secret = before.client_secret if before is not None and is_same else None
    if "client_secret" in values:
        secret = _sealed(values["client_secret"], organization_id, site)
    if before is not None and not is_same:
        await store.delete_sessions_of_identities(db, organization_id=organization_id)
    stored = await store.update_provider(
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
    async with databases.connection(pool) as db:
        provider = await get(db, caller=caller)
    url, problem = None, None
    try:
        async with _caller(site) as web:
            url = (await openid.discover(web, provider.issuer, allowed=site.networks)).authorization_url
    except ProviderFailed as failed:
        problem = failed.reason[:PROBLEM_CHARACTERS_MAX]
    async with databases.transaction(pool, actor=caller.actor) as db:
        await store.update_checked(
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
    before = errors.found(await store.get_provider(db, organization_id=organization_id, is_locked=True), NO_PROVIDER)
    expect(before.version)
    await store.delete_sessions_of_identities(db, organization_id=organization_id)
    await store.delete_provider(db, organization_id=organization_id)


# Logging in ----------------------------------------------------------------------------------------------------------


async def begin(
    db: Database, *, domain: str, going_on: str, is_anew: bool, site: Site, now: datetime
) -> tuple[str, str]:
    """The address at the provider, and the sealed flow for a cookie. Raises NotFound."""
    provider = await store.get_provider_by_domain(db, domain=domain)
    if provider is None or provider.authorization_url is None:
        raise errors.NotFound("No organization of this name logs in this way.")
    flow = Flow(
        organization_id=provider.organization_id,
        state=ids.secret(),
        nonce=ids.secret(),
        verifier=ids.secret() + ids.secret(),  # RFC 7636 wants 43 characters
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
    key = hashlib.sha256(f"identity {flow.organization_id} {source.network}".encode()).digest()
    async with databases.connection(pool) as db:
        await _require_patience(db, key=key, now=now)
        provider = await store.get_provider(db, organization_id=flow.organization_id)
    if provider is None:
        raise LoginFailed(CANNOT_FINISH)
    try:
        _check_returned(flow, returned)
        return await _finished(pool, provider, flow, returned, source=source, site=site, now=now)
    except ProviderFailed as failed:
        if isinstance(failed, WrongCode):
            async with databases.transaction(pool) as db:
                await logins.note_wrong(db, key=key, now=now)
        if failed.reason:
            await _tell_owner(pool, provider, failed.reason, now=now)
        sentence = failed.sentence or "The log-in of your organization did not work. Begin again, or tell its owner."
        raise LoginFailed(sentence) from failed


async def refuse(pool: Pool, *, flow: Flow, returned: Returned, now: datetime) -> None:
    """Tell the owner of an error with which the provider led back. Raises LoginFailed."""
    async with databases.connection(pool) as db:
        provider = await store.get_provider(db, organization_id=flow.organization_id)
    is_its = provider is not None and returned.issuer in {"", provider.issuer}
    if is_its and hmac.compare_digest(flow.state.encode(), returned.state.encode()):
        words = ": ".join(said(text) for text in (returned.error, returned.description) if text)
        await _tell_owner(pool, provider, f"The provider led back with an error: {words.rstrip('.')}.", now=now)
    raise LoginFailed("The log-in of your organization was not finished.")


async def hint_of(db: Database, *, session: Session, site: Site) -> str | None:
    """The ID token that opened the session, with which the provider knows who logs out."""
    token = await store.get_id_token(db, organization_id=session.organization_id, session_id=session.session_id)
    if token is None:
        return None
    try:
        return sealing.unseal(token, secret=site.secret, context=_hint_context(session.session_id))
    except sealing.Unreadable:  # nobody is kept from logging out
        return None


async def end_url(pool: Pool, *, organization_id: str, hint: str | None, site: Site) -> str | None:
    """The address at which the person logs out of the provider too; None where there is none."""
    async with databases.connection(pool) as db:
        provider = await store.get_provider(db, organization_id=organization_id)
    if provider is None:
        return None
    try:
        async with _caller(site) as web:
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
    if not hmac.compare_digest(flow.state.encode(), returned.state.encode()):
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
                await store.update_problem(
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
    found = await logins_store.list_failures(db, keys=[key], after=now - logins.WINDOW)
    if found.get(key, 0) >= WRONG_MAX:
        seconds = int(logins.WINDOW.total_seconds())
        sentence = errors.Sentence(
            "Too many log-ins of your organization failed here. Wait {n} minutes.", n=seconds // 60
        )
        raise logins.TooManyFailures(sentence, headers={"Retry-After": str(seconds)})


async def _tell_owner(pool: Pool, provider: IdentityProvider, reason: str, *, now: datetime) -> None:
    logger.warning("an identity provider failed", organization_id=provider.organization_id, reason=reason)
    problem = f"A log-in failed at {now:%Y-%m-%d %H:%M} UTC. {reason}"[:PROBLEM_CHARACTERS_MAX]
    async with databases.transaction(pool) as db:
        await store.update_problem(
            db, organization_id=provider.organization_id, version=provider.version, problem=problem
        )


async def _identity_of(
    provider: IdentityProvider, flow: Flow, returned: Returned, *, site: Site, now: datetime
) -> tuple[Identity, str]:
    """The person, and the ID token. Raises ProviderFailed."""
    secret = None
    if provider.client_secret is not None:
        context = _context(provider.organization_id)
        secret = sealing.unseal(provider.client_secret, secret=site.secret, context=context)
    client = Client(provider.client_id, secret, return_url(site))
    async with _caller(site) as web:
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
    member = await store.get_member_by_subject(
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
            await sessions.end_all(db, login_id=member.login_id)
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
    member = await store.get_member_by_email(db, organization_id=provider.organization_id, email=identity.email)
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
        profile={"display_name": identity.name},
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
    login_id = await store.get_identity_login(db, **key)
    if login_id is None:
        login_id = ids.ordered(now)
        await store.insert_identity_login(db, login_id=login_id, email=identity.email, now=now)
    await store.update_identity(db, **key, user_id=member.user_id, login_id=login_id, now=now)
    session_id = ids.ordered(now)
    context = _hint_context(session_id)
    is_short = len(token) <= openid.HINT_CHARACTERS_MAX
    return await sessions.start(
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


@asynccontextmanager
async def _caller(site: Site) -> AsyncGenerator[http.Caller]:
    web = http.Caller(allowed=site.networks)
    try:
        yield web
    finally:
        await web.close()


def _fault(claim: str, fault: str) -> str:
    return f"The claim {claim} of a person {fault}."


def _sealed(secret: str | None, organization_id: str, site: Site) -> bytes | None:
    return sealing.seal(secret, secret=site.secret, context=_context(organization_id)) if secret else None


def _context(organization_id: str) -> str:
    return f"identity:{organization_id}"


def _hint_context(session_id: str) -> str:
    return f"id token:{session_id}"


def require_owner(caller: Caller) -> None:
    """A provider can vouch for an owner, so nobody else says which one does."""
    caller.require_whole()
    caller.require_real()
    if caller.role != OWNER:
        raise errors.Forbidden("Only an owner sets how the organization logs in.")
