"""`afterword organization`, `token`, `plan` and `sender`: the tenants of an installation, and what belongs to each."""

import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import cyclopts
from cyclopts import Parameter
from msgspec.structs import replace

from afterword import errors
from afterword.core.organizations import plans as core_plans
from afterword.core.organizations.access import SCOPES, installation
from afterword.core.wire.times import format_time
from afterword.errors import FieldError
from afterword.events.service import Actor
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.nouns import structs
from afterword.run.cli.context import open_organization, open_transaction, organization_of, shell_lines
from afterword.tenants.logins import policies
from afterword.tenants.organizations import checks, plans, senders, service as organizations, users
from afterword.tenants.organizations.plans import Plan
from afterword.tenants.organizations.service import Organization
from afterword.tenants.organizations.tokens import service as token_service, store as token_store

ORGANIZATIONS_MAX = 1_000
_OPTIONS: Final[Mapping[str, str]] = {
    "domain": "DOMAIN", "display_name": "--name", "default_locale": "--locale", "email": "--owner",
}  # fmt: skip

OrganizationDomain = Annotated[str | None, Parameter(help="The organization's domain; needed when there are several.")]
OnlyDomain = Annotated[str | None, Parameter(help="Only those of the organization with this domain.")]
app = cyclopts.App(name="organization")


@app.command(name="create")
async def create(
    domain: str,
    /,
    *,
    name: str,
    owner: str,
    application: str | None = None,
    time_zone: str = "UTC",
    locale: str = "en",
    postal_address: str | None = None,
) -> None:
    """Create an organization with its first application and its owner; prints lines that a shell can `eval`.

    Args:
        domain: Its short name: lower-case letters, digits and hyphens. It cannot be changed.
        name: The name that responders read.
        owner: The e-mail address of the user who owns it.
        application: The name of its first application; without, the organization's.
        time_zone: Its IANA time zone, such as Europe/Athens.
        locale: Its language.
        postal_address: The address at the foot of its mails, where a law asks for one.
    """
    async with open_transaction() as (_, database):
        if await organizations.get_organization_by_domain(database, domain=domain) is not None:
            raise db.Taken(f"There is an organization with the domain “{domain}” already.")
        now = database.clock.now()
        wrong = checks.email_errors(owner)
        try:
            organization = await organizations.create_organization(
                database,
                domain=domain,
                display_name=name,
                time_zone=time_zone,
                default_locale=locale,
                postal_address=postal_address,
                now=now,
            )
        except errors.Invalid as refusal:
            raise errors.Invalid.of(*map(_of_option, [*refusal.errors, *wrong])) from None
        errors.check([_of_option(error) for error in wrong])
        organization_id = organization.organization_id
        first = await organizations.create_application(
            database, organization_id=organization_id, display_name=application or name, now=now
        )
        user = await organizations.create_user(
            database, organization_id=organization_id, email=owner, role="owner", now=now
        )
    created = {"organization_domain": domain, "organization_id": organization_id}
    print(shell_lines({**created, "application_id": first.application_id, "user_id": user.user_id}))


@app.command(name="unlock")
async def unlock(domain: str, /) -> None:
    """Take the login policy of an organization back, for owners who can meet it no more.

    Args:
        domain: Its short name.
    """
    async with open_transaction() as (_, database):
        organization = await organization_of(database, domain)
        await policies.save(
            database,
            caller=installation(organization.organization_id),
            wanted=structs.creation_of(policies.POLICY)().named(),
            address=None,
            now=database.clock.now(),
        )
    print("Its people log in from anywhere again, by each method, and its tokens work from anywhere.")


@app.command(name="list")
async def list_organizations() -> None:
    """List the organizations, one a line."""
    async with open_transaction() as (_, database):
        found = await organizations.list_organizations(database, limit=ORGANIZATIONS_MAX)
    lines = [
        f"{one.domain}  {one.organization_id}, “{one.display_name}”, since {format_time(one.created_time)}"
        for one in found
    ]
    print("\n".join(lines) or "No organization.")


def _of_option(error: FieldError) -> FieldError:
    option = _OPTIONS.get(error.place, f"--{error.place.replace('_', '-')}")
    return replace(error, message=f"{option}: {error.message}")


ALL_SCOPES: Final = "all"
_BEGINNING: Final = re.compile(r"(?:afw_)?([0-9A-Za-z]{8,16})\Z")

token_app = cyclopts.App(name="token")


@token_app.command(name="create")
async def create_token(
    *,
    scope: Annotated[list[str], Parameter(negative="")],
    organization: OrganizationDomain = None,
    user: str | None = None,
    title: str = "Made on the command line",
    days: int | None = None,
) -> None:
    """Create a token of an organization, or of a user of it, and print it, this once.

    Args:
        scope: An exact scope, as in "Queue.Create"; repeatable; "all" for every one.
        user: The e-mail address of the user who gets the token; without, it is the organization's.
        title: Its purpose.
        days: Its lifetime; without, until it is revoked.
    """
    async with open_organization(organization) as (_, database, owner):
        now = database.clock.now()
        _, text = await token_service.create_token(
            database,
            organization_id=owner.organization_id,
            title=title,
            scopes=SCOPES if ALL_SCOPES in scope else scope,
            kind="organization" if user is None else "user",
            user_id=None if user is None else await _user_id(database, owner, user),
            expires_time=None if days is None else now + timedelta(days=days),
            actor=Actor(),
            now=now,
        )
    print(text)


@token_app.command(name="revoke")
async def revoke(beginning: str, /) -> None:
    """End a token; processes that have seen it refuse it within a second.

    Args:
        beginning: The token's first characters: afw_ and at least 8 more. A shell would remember the whole.
    """
    matched = _BEGINNING.match(beginning)
    if matched is None:
        raise errors.Invalid("Give the beginning of the token: afw_ and the 8 to 16 characters that follow.")
    async with open_transaction() as (_, database):
        found = await token_store.list_tokens_like(database, hint=matched[1], limit=2)
        if len(found) != 1:
            raise errors.NotFound("No token begins so." if not found else "Several tokens begin so; give more of it.")
        key = {"organization_id": found[0].organization_id, "token_id": found[0].token_id}
        token = await token_service.revoke_token(database, **key, now=database.clock.now())
    print(f"Revoked “{token.title}”.")


async def _user_id(database: Database, owner: Organization, email: str) -> str:
    user = await users.get_user_by_email(database, organization_id=owner.organization_id, email=email)
    if user is None:
        raise errors.NotFound(f"No user of “{owner.domain}” has this e-mail address.")
    return user.user_id


PLANS_MAX = 1_000

plan_app = cyclopts.App(name="plan")
PlanId = Annotated[str, Parameter(help="Its id, as “afterword plan list” shows it.")]


@plan_app.command(name="list")
async def list_plans(*, organization: OnlyDomain = None) -> None:
    """List the plans, one a line."""
    async with open_transaction() as (_, database):
        if organization is not None:
            await organization_of(database, organization)
        found = await plans.list_all_plans(database, limit=PLANS_MAX)
    lines = [f"{name}  {_line(plan)}" for name, plan in found if organization in {None, name}]
    print("\n".join(lines) or "No plan: all is unlimited.")


@plan_app.command(name="add")
async def add(
    kind: core_plans.Kind,
    /,
    *,
    credits: int | None = None,  # noqa: A002  the field's own name
    organization: OrganizationDomain = None,
    title: str | None = None,
    extra: int = 0,
    application: str | None = None,
    feature: Annotated[list[str] | None, Parameter(negative="")] = None,
    start: datetime | None = None,
    days: int | None = None,
) -> None:
    """Give an organization a plan: from then on its answers are counted, and nothing is sent without credits.

    Args:
        kind: once: its credits and no more; monthly: the same number anew each month; unlimited.
        credits: How many instances may be answered; not for unlimited.
        title: Its name; without, its kind.
        extra: Credits beside them, which are used first and outlast renewals.
        application: The id of the one application that it pays for; without, it pays for all.
        feature: A word that the plan shows; repeatable.
        start: The time when it begins, in UTC; without, now.
        days: How long it lasts; without, until it is cancelled.
    """
    async with open_organization(organization) as (_, database, owner):
        now = database.clock.now()
        begin = now if start is None else start if start.tzinfo else start.replace(tzinfo=UTC)
        plan = await plans.add_plan(
            database,
            organization_id=owner.organization_id,
            title=title or kind.capitalize(),
            kind=kind,
            credits=credits,
            extra_credits=extra,
            application_id=application,
            features=feature or [],
            start_time=begin,
            end_time=None if days is None else begin + timedelta(days=days),
            now=now,
        )
    print(_line(plan))


@plan_app.command(name="renew")
async def renew(plan_id: PlanId, /, *, extra: int | None = None, days: int | None = None) -> None:
    """Fill a plan up now, and let it go on where it had ended.

    Args:
        extra: Do not fill it up, but add so many extra credits.
        days: Let it end so many days from now.
    """
    async with open_transaction() as (_, database):
        now = database.clock.now()
        if extra is not None:
            plan = await plans.add_extra_credits(database, plan_id=plan_id, extra_credits=extra, now=now)
        else:
            end_time = None if days is None else now + timedelta(days=days)
            plan = await plans.renew_plan(database, plan_id=plan_id, end_time=end_time, now=now)
    print(_line(plan))


@plan_app.command(name="cancel")
async def cancel(plan_id: PlanId, /) -> None:
    """End a plan. Without another active one nothing more is sent for its organization."""
    async with open_transaction() as (_, database):
        plan = await plans.cancel_plan(database, plan_id=plan_id, now=database.clock.now())
        others = await plans.list_all_plans(database, limit=PLANS_MAX)
    print(_line(plan))
    if not any(other.organization_id == plan.organization_id and other.state == "active" for _, other in others):
        sentence = "No active plan is left: nothing is sent. To send without counting: afterword plan add unlimited."
        print(sentence, file=sys.stderr)


def _line(plan: Plan) -> str:
    parts = [plan.plan_id, plan.kind, plan.state]
    if plan.credits is not None:
        parts.append(f"{plan.remaining_credits:,} of {plan.credits:,} credits")
        if plan.extra_credits:
            parts.append(f"{plan.extra_credits:,} extra")
    if plan.application_id is not None:
        parts.append(f"application {plan.application_id}")
    ends = (("from", plan.start_time), ("renews", plan.renew_time), ("ends", plan.end_time))
    parts += [f"{word} {format_time(time)}" for word, time in ends if time is not None]
    return ", ".join([*parts, f"“{plan.title}”"])


sender_app = cyclopts.App(name="sender")


@sender_app.command(name="list")
async def list_senders(*, organization: OrganizationDomain = None) -> None:
    """List the domains and addresses that an organization may send mails from."""
    async with open_organization(organization) as (_, database, owner):
        found = await senders.list_senders(database, organization_id=owner.organization_id)
    print("\n".join(found) or "None: its mails come from AFTERWORD_MAIL_FROM.")


@sender_app.command(name="add")
async def add_sender(domain: str, /, *, organization: OrganizationDomain = None) -> None:
    """Let an organization send mails from a domain.

    Args:
        domain: A domain, without its subdomains, or a single address.
    """
    async with open_organization(organization) as (_, database, owner):
        added = await senders.allow_sender(database, organization_id=owner.organization_id, text=domain)
    print(f"{owner.domain} may send from {added}.")


@sender_app.command(name="remove")
async def remove(domain: str, /, *, organization: OrganizationDomain = None) -> None:
    """Let an organization send no more mails from a domain; those that wait will end as Failed.

    Args:
        domain: As “afterword sender list” shows it.
    """
    async with open_organization(organization) as (_, database, owner):
        await senders.forbid_sender(database, organization_id=owner.organization_id, text=domain)
    print(f"Removed. “afterword doctor” names the pipelines of {owner.domain} that sent from it.")
