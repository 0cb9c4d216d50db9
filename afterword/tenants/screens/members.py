"""Settings: the list of their pages; the people of the organization and their roles."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import KEPT, placed, same_version
from afterword.console.removals import removal
from afterword.console.screens import Form, Marked, Screens, Visit
from afterword.core.wire.lists import Criterion, Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.ui.lists import behind, page_links
from afterword.kit.web import fields, html
from afterword.listening.search import recent_values
from afterword.sending.queue.records import VALUE_SCOPES
from afterword.tenants.logins import links
from afterword.tenants.organizations import checks, users
from afterword.tenants.organizations.applications import APPLICATION, Application
from afterword.tenants.organizations.tokens import api as tokens_api, service as tokens, store as tokens_store
from afterword.tenants.organizations.users import USER, USERS, User

PEOPLE: Final = "/console/settings/people"
SERVICES: Final = "/console/settings/service-accounts"
# Role, name, and a sentence about it.
ROLES: Final[tuple[tuple[str, Marked, Marked], ...]] = (
    ("owner", "Owner", "Everything, including owners and plans."),
    ("admin", "Administrator", "Everything except owners and plans."),
    ("reporting", "Reporting", "Can read responses and cases, and create reports."),
    ("agent", "Agent", "Can read responses and work on cases."),
)
LISTED_MAX: Final = 200
NewUser: Any = structs.creation_of(USER)
TOKENS: Final = fields.listing_of(tokens_api.Token)

routes = Screens()


@routes.get("/console/settings", for_limited="free")
async def settings(visit: Visit) -> Response:
    return visit.page("settings.html", title=visit.words("Settings"))


@routes.post(PEOPLE, scope="User.Create", proof=True, again=(errors.Invalid, errors.Conflict))
async def invite(visit: Visit, db: Database) -> Response:
    user = await _make_user(visit, db, email=visit.form.text("email"), name=visit.form.text("name"))
    await links.invite(db, user=user, site=visit.site, now=visit.now)
    return html.redirect(f"{PEOPLE}?done=invited")


@routes.post(SERVICES, scope="User.Create", proof=True, again=(errors.Invalid,), at=f"{SERVICES}/new")
async def make_service(visit: Visit, db: Database) -> Response:
    user = await _make_user(visit, db, email=None, name=visit.form.text("display_name"))
    return html.redirect(f"{PEOPLE}/{user.user_id}?done=saved")


@routes.post("/console/settings/people/{user_id}/invitation", scope="User.Create")
async def invite_again(visit: Visit, db: Database) -> Response:
    user = await _user(visit, db)
    users.require_may_touch(visit.caller, user)
    await links.invite(db, user=user, site=visit.site, now=visit.now)
    return html.redirect(f"{PEOPLE}?done=invited")


@routes.get("/console/settings/people/{user_id}", scope="User.Read")
async def person_page(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    user = await _user(visit, db)
    may_read_tokens = user.service and "Token.Read" in visit.caller.scopes
    found = await _tokens_of(visit, db, user) if may_read_tokens else []
    return visit.page(
        "member.html",
        title=user.display_name or user.email or "",
        user=user,
        tokens=found,
        roles=ROLES[1:] if user.service else ROLES,
        **await _limits(visit, db),
        only=only_of(visit.form) if refusal else {"only_where": user.only_where, "only_values": user.only_values},
        form=_typed(visit) if refusal else None,
        refusal=placed(refusal) if refusal else None,
    )


@routes.post("/console/settings/people/{user_id}", scope="User.Update", proof=True, again=(errors.Invalid,))
async def change_person(visit: Visit) -> Response:
    form = visit.form
    await visit.change(
        users.update_user,
        caller=visit.caller,
        **visit.ids,
        changes={
            "role": form.text("role"),
            "application_ids": form.ids("application"),
            "active": form.text("active") != "0",
            **only_of(form),
        },
        expect=same_version(visit, KEPT),
        now=visit.now,
    )
    return html.redirect(f"{PEOPLE}?done=saved")


async def _removed(visit: Visit) -> dict[str, str]:
    user = await visit.reading(_user)
    name, organization = user.display_name or user.email or "", visit.session.organization_name
    return {"name": name, "organization": organization, "service": "1" if user.service else ""}


removal(
    routes,
    "/console/settings/people/{user_id}/remove",
    scope="User.Delete",
    proof=True,
    title="Remove {name} from {organization}?",
    sentences=lambda visit, found: [
        visit.words("Its tokens stop working at once. The audit log keeps its name.")
        if found["service"]
        else visit.words("{name} can no longer log in to {organization}.", **found),
        *([] if found["service"] else [visit.words("Open cases of this person count as cases without an owner.")]),
    ],
    button="Remove",
    get=_removed,
    remove=lambda visit, db: users.remove_user(db, caller=visit.caller, **visit.ids, now=visit.now),
    to=PEOPLE,
)


@routes.get(PEOPLE, scope="User.Read")
async def _people(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    page = behind(Page.first(USERS, limit=LISTED_MAX), visit.query.get("after", ""))
    members = await users.list_users(db, organization_id=visit.caller.organization_id, page=page, with_service=True)
    return visit.page(
        "people.html",
        title=visit.words("People and roles"),
        members=[one for one in members.items if not one.service],
        services=[one for one in members.items if one.service],
        **page_links(members, visit.query, PEOPLE),
        roles=ROLES,
        **await _limits(visit, db),
        only=only_of(visit.form),
        form=_typed(visit, "name", "email"),
        refusal=refusal,
    )


@routes.get(f"{SERVICES}/new", scope="User.Create", proof=True)
async def _new_service(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    return visit.page(
        "service_account_new.html",
        title=visit.words("New service account"),
        roles=ROLES[1:],
        **await _limits(visit, db),
        only=only_of(visit.form),
        form=_typed(visit, "display_name"),
        refusal=refusal,
    )


def _typed(visit: Visit, *names: str) -> dict[str, Any]:
    return {**{name: visit.form.text(name) for name in (*names, "role")}, "applications": visit.form.ids("application")}


async def _tokens_of(visit: Visit, db: Database, account: User) -> list[tokens_store.Token]:
    """Those that have not ended."""
    caller, owner = visit.caller, Criterion("EQUAL", TOKENS.columns["user_id"], account.user_id)
    page = replace(Page.first(TOKENS, limit=LISTED_MAX), criteria=(owner,))
    found = await tokens_store.list_tokens(db, **caller.part, user_id=caller.user_id, page=page)
    return [token for token in found.items if not tokens.has_ended(token, now=visit.now)]


async def applications_of(visit: Visit, db: Database) -> list[Application]:
    page = Page.first(structs.listing_of(APPLICATION), limit=LISTED_MAX)
    return (await nouns.rows(APPLICATION, db, **visit.caller.reach, page=page)).items


async def _limits(visit: Visit, db: Database) -> dict[str, Any]:
    """The applications and the names of values to which somebody can be limited."""
    applications = [(one.application_id, one.display_name) for one in await applications_of(visit, db)]
    return {"applications": applications, "only_names": await only_names_of(visit, db)}


async def only_names_of(visit: Visit, db: Database) -> list[tuple[str, str, Sequence[str]]]:
    """The names by which somebody can be limited, each with a sentence that its values end, and values seen lately."""
    names = await checks.list_only_names(db, organization_id=visit.caller.organization_id)
    may_see = VALUE_SCOPES["questionnaire"] in visit.caller.scopes
    seen = await recent_values.list_values(db, caller=visit.caller, kind="questionnaire") if may_see else []
    # Names whose values come again: no numbers of orders.
    values = {one.name: [each.value for each in one.values] for one in seen if 2 * one.values_count <= one.count}
    titles = sorted((name not in values, one.title_in(visit.words), name) for name, one in names.items())
    return [(name, visit.words("Only where {name} is", name=title), values.get(name, ())) for _, title, name in titles]


def only_of(form: Form) -> dict[str, Any]:
    """The limit of a form: what it is by, and its values, ticked or one per line."""
    name = form.text("only_where")
    lines = (line.strip() for line in [*form.all(f"only_values-{name}"), *form.text("only_values").splitlines()])
    return {"only_where": name or None, "only_values": list(dict.fromkeys(line for line in lines if line))}


async def _make_user(visit: Visit, db: Database, *, email: str | None, name: str) -> User:
    """A user of the posted role and applications; without `email` a service."""
    request = NewUser(
        email=email,
        display_name=name or None,
        role=visit.form.text("role"),
        application_ids=visit.form.ids("application"),
        service=email is None,
        **only_of(visit.form),
    )
    return await users.invite(db, caller=visit.caller, request=request, now=visit.now)


async def _user(visit: Visit, db: Database) -> User:
    return await nouns.get(USER, db, caller=visit.caller, key=visit.id("user_id"))
