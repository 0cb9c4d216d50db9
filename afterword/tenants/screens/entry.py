"""Logging in and out, the code of the second factor, a forgotten password, an invitation, the first set-up."""

from dataclasses import replace
from typing import Any, Final

from starlette.background import BackgroundTask
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.console import screens
from afterword.console.screens import (
    COOKIE,
    DEVICE_COOKIE,
    HOME,
    LOGIN,
    PENDING_COOKIE,
    UNDO_COOKIE,
    Guest,
    Marked,
    Screens,
    Visit,
)
from afterword.kit.db import Database
from afterword.kit.ui.text import slug_of
from afterword.kit.web import html
from afterword.tenants.logins import links, passkeys, service as logins, sessions
from afterword.tenants.logins.identities import service as identities
from afterword.tenants.logins.links import Link
from afterword.tenants.logins.service import Attempt, Login
from afterword.tenants.organizations import service as organizations, users
from afterword.tenants.organizations.service import Organization

ADDRESS_CHARACTERS_MAX: Final = 320
WRONG: Final[Marked] = "Wrong e-mail address or password."

routes = Screens()


@routes.open_get(LOGIN)
async def login_page(guest: Guest, db: Database) -> Response:
    if isinstance(guest, Visit):
        return html.redirect(screens.own_address(guest.query.get("next", "")))
    has_owner = await logins.get_owner_email(db, organization_id=None) is not None
    if not has_owner:
        return guest.page("unclaimed.html", title=guest.words("No one can log in yet"))
    return await login_form(db, guest)


@routes.open_post(LOGIN)
async def log_in(guest: Guest) -> Response:
    """Check the password; what comes of a wrong one is counted, and takes as long for an unknown address."""
    email = guest.form.text("email")[:ADDRESS_CHARACTERS_MAX]
    login, is_right = await checked(guest, email, guest.form.secret("password"))
    if login is None or not is_right:
        return await guest.load(login_form, guest, wrong=guest.words(WRONG), email=email)
    going_on = screens.own_address(guest.form.text("next"))
    if login.has_second_factor:
        return _ask_code(guest, login, going_on=going_on)
    async with guest.write() as db:
        return await let_in(guest, db, login, going_on=going_on)


@routes.open_get("/console/login/code")
async def code_page(guest: Guest, db: Database) -> Response:
    login = await _pending(guest, db)
    return html.redirect(LOGIN) if login is None else _code_form(guest, login)


@routes.open_post("/console/login/code")
async def enter_code(guest: Guest, db: Database) -> Response:
    secret = guest.site.secret
    login = await _pending(guest, db, is_locked=True)
    if login is None:
        return html.redirect(LOGIN)
    attempt = _attempt(guest, login.email)
    await logins.count_guess(db, attempt=attempt, login=login, secret=secret, now=guest.now)
    code = guest.form.text("code")
    if await logins.is_second_factor(db, login=login, code=code, secret=secret, now=guest.now):
        await logins.update_failures(db, attempt=attempt, login=login, secret=secret)
        return await let_in(guest, db, login, going_on=screens.own_address(guest.form.text("next")))
    await logins.note_failure(db, attempt=attempt, login=login, now=guest.now)
    return _code_form(guest, login, wrong=guest.words("This code is wrong or has already been used."))


@routes.post("/console/logout", for_limited="free")
async def log_out(visit: Visit) -> Response:
    """A session of an identity provider ends here first, and the page that follows leads on to log out there."""
    session, url = visit.session, None
    async with visit.write() as db:
        hint = await identities.hint_of(db, session=session, site=visit.site)
        await sessions.delete_session(db, session=session, session_id=session.session_id, now=visit.now)
    if session.is_of_provider:
        organization_id = session.organization_id
        url = await identities.end_url(visit.pool, organization_id=organization_id, hint=hint, site=visit.site)
    response = (
        html.redirect(f"{LOGIN}?done=out")
        if url is None
        else leading_on(visit, visit.words("You are logged out here"), url)
    )
    for name in (COOKIE, UNDO_COOKIE):
        visit.set_cookie(response, name, "", seconds=0)
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def leading_on(guest: Guest, title: str, url: str) -> Response:
    """A page that leads to another site: the policy of our pages keeps forms from being redirected there."""
    response = Guest(guest.request, guest.now).page("leading.html", title=title, url=url)
    response.headers["Refresh"] = f"0; url={url}"
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.open_get("/console/reset")
async def reset_page(guest: Guest) -> Response:
    return guest.page("reset.html", title=guest.words("Choose a new password"))


@routes.open_post("/console/reset")
async def send_reset(guest: Guest) -> Response:
    """Mail a link, if there is such a login: after the answer, so that neither its words nor its time tell."""
    response = html.redirect("/console/login?done=sent")
    response.background = BackgroundTask(_mail_reset, guest)
    return response


async def _mail_reset(guest: Guest) -> None:
    email = guest.form.text("email")[:ADDRESS_CHARACTERS_MAX]
    async with guest.write() as db:
        login = await logins.get_login_by_email(db, email=email, is_locked=True) if email else None
        if login is None or not await links.get_may_reset(db, login_id=login.login_id, now=guest.now):
            return
        memberships = await logins.list_memberships(db, login_id=login.login_id)
        if not memberships:
            return
        key = {"organization_id": memberships[0].organization_id, "user_id": memberships[0].user_id}
        who = {"email": login.email, "login_id": login.login_id, **key}
        await links.mail(db, purpose="reset", **who, site=guest.site, now=guest.now)


@routes.open_get("/console/reset/{secret}")
async def new_password_page(guest: Guest, refusal: errors.Refusal | None = None) -> Response:
    link = await guest.load(links.get_link, secret=_secret(guest), purpose="reset", now=guest.now)
    return guest.page("password.html", title=guest.words("Choose a new password"), email=link.email, refusal=refusal)


@routes.open_post("/console/reset/{secret}", again=(errors.Invalid,))
async def set_new_password(guest: Guest) -> Response:
    """Use the link up, end all sessions, and go on as after the password."""
    password = guest.form.secret("password")
    async with guest.read() as db:
        link = await links.get_link(db, secret=_secret(guest), purpose="reset", now=guest.now)
        login = await _login_of(db, link)
    logins.check_password(password, own=own_words(login.email), has_second_factor=login.has_second_factor)
    hashed = await logins.hash_of(password)
    async with guest.write() as db:
        await links.claim_link(db, secret=_secret(guest), purpose="reset", now=guest.now)
        await logins.change_password(db, login=login, password_hash=hashed, now=guest.now)
        if not login.has_second_factor:
            return await let_in(guest, db, login, going_on=f"{HOME}?done=reset")
    return _ask_code(guest, replace(login, password_hash=hashed), going_on=f"{HOME}?done=reset")


@routes.open_get("/console/address/{secret}")
async def address_page(guest: Guest) -> Response:
    link = await guest.load(links.get_link, secret=_secret(guest), purpose="address", now=guest.now)
    return guest.page("address.html", title=guest.words("Your new address"), email=link.email)


@routes.open_post("/console/address/{secret}")
async def change_address(guest: Guest, db: Database) -> Response:
    link = await links.claim_link(db, secret=_secret(guest), purpose="address", now=guest.now)
    await logins.change_address(db, login_id=link.login_id or "", email=link.email or "", now=guest.now)
    return html.redirect("/console?done=address")


@routes.open_get("/console/invitation/{secret}")
async def invitation_page(guest: Guest, db: Database, refusal: errors.Refusal | None = None) -> Response:
    link = await links.get_link(db, secret=_secret(guest), purpose="invitation", now=guest.now)
    organization = await _organization_of(db, link)
    known = await logins.get_login_by_email(db, email=link.email or "")
    await _require_invited(db, link)
    return guest.page(
        "invitation.html",
        title=guest.words("Join {organization}", organization=organization.display_name),
        email=link.email,
        is_known=known is not None,
        refusal=refusal,
    )


@routes.open_post("/console/invitation/{secret}", again=(errors.Invalid,))
async def accept_invitation(guest: Guest) -> Response:
    """Make a login, or prove the one that the address has, and join the organization with it."""
    password = guest.form.secret("password")
    async with guest.read() as db:
        link = await links.get_link(db, secret=_secret(guest), purpose="invitation", now=guest.now)
        organization = await _organization_of(db, link)
        known = await logins.get_login_by_email(db, email=link.email or "")
    if known is not None:
        login, is_right = await checked(guest, known.email, password)
        if login is None or not is_right:
            raise errors.Invalid.at("/password", "wrong", guest.words("Wrong password."))
        hashed = ""
    else:
        own = [*own_words(link.email or ""), organization.display_name]
        logins.check_password(password, own=own, has_second_factor=False)
        hashed = await logins.hash_of(password)
    async with guest.write() as db:
        link = await links.claim_link(db, secret=_secret(guest), purpose="invitation", now=guest.now)
        await _require_invited(db, link)
        login = known or await logins.insert_login(db, email=link.email or "", password_hash=hashed, now=guest.now)
        await logins.join(db, organization_id=link.organization_id or "", user_id=link.user_id or "", login=login)
        if not login.has_second_factor:
            return await let_in(guest, db, login, going_on=HOME)
    return _ask_code(guest, login, going_on=HOME)


@routes.open_get("/console/setup/{secret}")
async def setup_page(guest: Guest, db: Database, refusal: errors.Refusal | None = None) -> Response:
    link = await links.get_link(db, secret=_secret(guest), purpose="setup", now=guest.now)
    organization = None if link.organization_id is None else await _organization_of(db, link)
    begun = organization and await questionnaires_store.list_owners(
        db, organization_id=organization.organization_id, questionnaire_ids=None, application_ids=(), limit=1
    )
    return guest.page(
        "setup.html",
        title=guest.words("Set up Afterword"),
        organization=organization,
        has_steps=not begun,
        refusal=refusal,
    )


@routes.open_post("/console/setup/{secret}", again=(errors.Invalid, errors.Conflict))
async def set_up(guest: Guest) -> Response:
    """Make the owner, and the organization if there is none; of two who come at once one gets it."""
    form = guest.form
    await guest.load(links.get_link, secret=_secret(guest), purpose="setup", now=guest.now)
    email, password = form.text("email"), form.secret("password")
    own = [form.text("name"), *own_words(email), form.text("organization")]
    logins.check_password(password, own=own, has_second_factor=False)
    hashed = await logins.hash_of(password)
    async with guest.write() as db:
        link = await links.claim_link(db, secret=_secret(guest), purpose="setup", now=guest.now)
        organization_id = link.organization_id or await _found_organization(guest, db)
        user = await users.make_owner(
            db, organization_id=organization_id, email=email, name=form.text("name"), now=guest.now
        )
        login = await logins.insert_login(db, email=email, password_hash=hashed, now=guest.now)
        await logins.join(db, organization_id=organization_id, user_id=user.user_id, login=login)
        return await let_in(guest, db, login, going_on="/console/welcome")


async def _found_organization(guest: Guest, db: Database) -> str:
    form = guest.form
    organization = await organizations.create_organization(
        db,
        domain=slug_of(form.text("organization")) or "main",
        display_name=form.text("organization"),
        default_locale=guest.words.language,
        now=guest.now,
    )
    await organizations.create_application(
        db, organization_id=organization.organization_id, display_name=organization.display_name, now=guest.now
    )
    return organization.organization_id


async def checked(guest: Guest, email: str, password: str) -> tuple[Login | None, bool]:
    """The login of the address, and whether the password is its own. Raises TooManyFailures."""
    secret, attempt = guest.site.secret, _attempt(guest, email)
    async with guest.write() as db:
        login = await logins.get_login_by_email(db, email=email)
        await logins.count_guess(db, attempt=attempt, login=login, secret=secret, now=guest.now)
    is_right = await logins.is_right(login.password_hash if login else logins.NOBODY, password[:1_000])
    if login is None or not is_right:
        await guest.change(logins.note_failure, attempt=attempt, login=login, now=guest.now)
        return login, False
    hashed = await logins.hash_of(password) if logins.is_outdated(login.password_hash) else None
    async with guest.write() as db:
        await logins.update_failures(db, attempt=attempt, login=login, secret=secret)
        if hashed is not None:
            login = await logins.replace_hash(db, login=login, password_hash=hashed, now=guest.now)
    return login, True


async def let_in(guest: Guest, db: Database, login: Login, *, going_on: str) -> Response:
    """Open a session. Its cookie is new, so that nobody can have planted it."""
    user = await logins.membership_of(db, login=login)
    cookie = await sessions.insert_session(
        db,
        login_id=login.login_id,
        organization_id=user.organization_id,
        user_id=user.user_id,
        source=guest.source,
        is_known=logins.is_known_device(_attempt(guest, login.email), login=login, secret=guest.site.secret),
        now=guest.now,
    )
    attempt = _attempt(guest, login.email)
    await logins.delete_failures(db, attempt=attempt, login=login, secret=guest.site.secret)
    response = html.redirect(going_on)
    guest.set_cookie(response, COOKIE, cookie, seconds=screens.SESSION_SECONDS)
    device = logins.device_cookie(login, secret=guest.site.secret)
    guest.set_cookie(response, DEVICE_COOKIE, device, seconds=screens.YEAR_SECONDS)
    guest.set_cookie(response, PENDING_COOKIE, "", seconds=0)
    return response


def _ask_code(guest: Guest, login: Login, *, going_on: str) -> Response:
    response = html.redirect(f"/console/login/code?next={screens.quote(going_on, safe='')}")
    pending = logins.pending(login, secret=guest.site.secret, now=guest.now)
    guest.set_cookie(response, PENDING_COOKIE, pending, seconds=int(logins.PENDING.total_seconds()))
    return response


async def _pending(guest: Guest, db: Database, *, is_locked: bool = False) -> Login | None:
    """The login whose password was given here, and whose code is asked."""
    text = guest.cookie(PENDING_COOKIE)
    return await logins.find_pending(db, text=text, secret=guest.site.secret, now=guest.now, is_locked=is_locked)


def _attempt(guest: Guest, email: str) -> Attempt:
    source = guest.source
    return Attempt(email, source.network, device=guest.cookie(DEVICE_COOKIE), browser=source.device)


def _secret(guest: Guest) -> str:
    return guest.request.path_params["secret"]


def own_words(email: str) -> list[str]:
    return [email, email.partition("@")[0]]


async def _login_of(db: Database, link: Link) -> Login:
    login = await logins.get_login(db, login_id=link.login_id or "")
    if login is None:
        raise links.LinkGone("The login of this link is gone.")
    return login


async def _organization_of(db: Database, link: Link) -> Organization:
    found = await organizations.get_organization(db, organization_id=link.organization_id or "")
    if found is None:
        raise links.LinkGone("The organization of this link is gone.")
    return found


async def _require_invited(db: Database, link: Link) -> None:
    user = await users.get_user(db, organization_id=link.organization_id or "", user_id=link.user_id or "")
    if user is None or not user.active:
        raise links.LinkGone("This invitation was withdrawn.")


async def login_form(db: Database, guest: Guest, *, wrong: str = "", email: str = "") -> Response:
    """With the logo of the organization, where it is the only one."""
    listed = await organizations.list_organizations(db, limit=2)
    brand = (listed[0].display_name, listed[0].brand.get("logo") or "") if len(listed) == 1 else ("", "")
    return guest.page(
        "login.html", title=guest.words("Log in"), brand=brand, wrong=wrong, email=email, **_going_on(guest)
    )


def _code_form(guest: Guest, login: Login, *, wrong: str = "") -> Response:
    values = {"has_totp": login.has_totp, **_going_on(guest)}
    if not login.has_passkey:
        values["options"] = ""
    return guest.page("code.html", title=guest.words("A second step"), wrong=wrong, **values)


def _going_on(guest: Guest) -> dict[str, Any]:
    """The address to go on to, and the options of a passkey instead."""
    return {
        "next": guest.form.text("next") or guest.query.get("next", ""),
        "options": passkeys.request_options(guest.site, purpose=passkeys.LOGIN, now=guest.now),
    }
