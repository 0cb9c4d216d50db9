"""One's own login: profile, password, address, second factor, sessions, and the proof before acts that need it."""

from typing import Final

from pyotp.totp import TOTP
from starlette.responses import Response

from afterword import errors
from afterword.console import screens
from afterword.console.screens import Guest, Marked, Screens, Visit
from afterword.core.wire import qr
from afterword.kit.db import Database
from afterword.kit.texts import own_name
from afterword.kit.web import html
from afterword.tenants import audit
from afterword.tenants.logins import links, passkeys, service as logins, sessions
from afterword.tenants.logins.service import Login
from afterword.tenants.organizations import checks, users
from afterword.tenants.screens import entry

PASSKEYS: Final = "/console/settings/passkeys"
REFUSED: Final[Marked] = "This passkey was not accepted. Try again, or use your password."

routes = Screens()


@routes.open_post("/console/login/passkey")
async def log_in(guest: Guest, db: Database) -> Response:
    """The person was verified by the device, so nothing else is asked for: neither password nor code."""
    login_id = await _answered(guest, db, purpose=passkeys.LOGIN)
    login = await logins.get_login(db, login_id=login_id) if login_id else None
    if login is not None:
        return await entry.let_in(guest, db, login, going_on=screens.own_address(guest.form.text("next")))
    return await entry.login_form(db, guest, wrong=guest.words(REFUSED))


@routes.post("/console/proof/passkey", for_limited="free")
async def prove_passkey(visit: Visit, db: Database) -> Response:
    login_id = await _answered(visit, db, purpose=passkeys.proof_in(visit.session.session_id))
    if login_id == visit.session.login_id:
        await sessions.update_proven(db, session=visit.session, now=visit.now)
        return html.redirect(screens.own_address(visit.form.text("next")))
    return proof_form(visit, wrong=visit.words(REFUSED))


@routes.post(PASSKEYS, proof=True, for_limited="free", again=(errors.Invalid, errors.Conflict))
async def add(visit: Visit, db: Database) -> Response:
    """Show the recovery codes with the first second factor, this once."""
    codes = await logins.add_passkey(
        db,
        login=await login_of(visit, db),
        title=visit.form.text("title"),
        credential=visit.form.text("credential"),
        session_id=visit.session.session_id,
        site=visit.site,
        now=visit.now,
    )
    if codes is None:
        return html.redirect(f"{ACCOUNT}?done=passkey")
    return visit.page("recovery.html", title=visit.words("Recovery codes"), codes=codes)


@routes.get(PASSKEYS + "/{passkey_id}", proof=True, for_limited="free")
async def remove_page(visit: Visit, db: Database) -> Response:
    login = await login_of(visit, db)
    passkey = await passkeys.find(db, login_id=visit.session.login_id, **visit.ids)
    left = len(await passkeys.list_passkeys(db, login_id=login.login_id)) - 1
    after = (
        visit.words("You still have another second factor.")
        if left or login.has_totp
        else visit.words(
            "It is your only second factor. After this the password alone is enough to log in, and your recovery "
            "codes are deleted."
        )
    )
    return visit.confirm(
        title=visit.words("Remove the passkey “{title}”?", title=passkey.title),
        sentences=[visit.words("You can no longer log in with it. Remove it from your device too."), after],
        button=visit.words("Remove the passkey"),
        back=ACCOUNT,
    )


@routes.post(PASSKEYS + "/{passkey_id}", proof=True, for_limited="free")
async def remove(visit: Visit, db: Database) -> Response:
    login = await login_of(visit, db)
    await logins.remove_passkey(db, login=login, **visit.ids, now=visit.now)
    return html.redirect(f"{ACCOUNT}?done=removed")


async def _answered(guest: Guest, db: Database, *, purpose: str) -> str | None:
    return await passkeys.login_of(
        db,
        credential=guest.form.text("credential"),
        purpose=purpose,
        site=guest.site,
        source=guest.source,
        now=guest.now,
    )


@routes.get(PASSKEYS, proof=True, for_limited="free")
async def _new(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    login = await login_of(visit, db)
    known = await passkeys.list_passkeys(db, login_id=login.login_id)
    options = passkeys.creation_options(
        visit.site,
        purpose=passkeys.new_in(visit.session.session_id),
        login_id=login.login_id,
        email=login.email,
        name=visit.session.user_name,
        known=known,
        now=visit.now,
    )
    return visit.page(
        "passkey.html",
        title=visit.words("A new passkey"),
        form={"title": visit.form.text("title") or visit.source.device},
        options=options,
        refusal=refusal,
    )


ACCOUNT: Final = "/console/settings/account"
DEMONSTRATION: Final = "/console/demonstration"
LOGINS_SHOWN: Final = 10
LOGINS: Final[dict[str, Marked]] = {
    "logged_in": "Logged in",
    "logged_in_anew": "Logged in from a new browser",
    "login_failed": "Refused",
}


@routes.post(ACCOUNT, for_limited="free", again=(errors.Invalid,))
async def save_account(visit: Visit) -> Response:
    form = visit.form
    changes = {
        "display_name": form.text("display_name") or None,
        "locale": form.text("locale") if form.text("locale") in screens.LANGUAGES else None,
    }
    await visit.change(
        users.update_user, caller=visit.caller, user_id=visit.session.user_id, changes=changes, now=visit.now
    )
    return html.redirect(f"{ACCOUNT}?done=saved")


@routes.post("/console/settings/password", proof=True, for_limited="free", again=(errors.Invalid,), at=ACCOUNT)
async def change_password(visit: Visit) -> Response:
    """All other sessions end."""
    password = visit.form.secret("password")
    login = await visit.reading(login_of)
    own = [*entry.own_words(login.email), visit.session.organization_name, visit.session.user_name]
    logins.check_password(password, own=own, has_second_factor=login.has_second_factor)
    hashed = await logins.hash_of(password)
    await visit.change(
        logins.change_password, login=login, password_hash=hashed, now=visit.now, session_id=visit.session.session_id
    )
    return html.redirect(f"{ACCOUNT}?done=reset")


@routes.post("/console/settings/address", proof=True, for_limited="free")
async def ask_address(visit: Visit, db: Database) -> Response:
    """Mail a link to the new address; it is in force once that was opened."""
    email = visit.form.text("email")
    errors.check(checks.email_errors(email))
    await login_of(visit, db)
    await logins.get_login(db, login_id=visit.session.login_id, is_locked=True)
    key = {"organization_id": visit.session.organization_id, "user_id": visit.session.user_id}
    await links.require_few(db, **key, purpose="address", now=visit.now)
    who = {"email": email, "login_id": visit.session.login_id, **key}
    await links.mail(db, purpose="address", **who, site=visit.site, now=visit.now)
    return html.redirect(f"{ACCOUNT}?done=mailed")


@routes.post("/console/settings/sessions/{session_id}/end", for_limited="free")
async def end_session(visit: Visit) -> Response:
    await visit.change(sessions.delete_session, session=visit.session, **visit.ids, now=visit.now)
    return html.redirect(f"{ACCOUNT}?done=ended")


@routes.post("/console/settings/sessions/end", for_limited="free")
async def end_sessions(visit: Visit) -> Response:
    await visit.change(sessions.delete_sessions, login_id=visit.session.login_id, but=visit.session.session_id)
    return html.redirect(f"{ACCOUNT}?done=ended")


@routes.post("/console/settings/keys", for_limited="free")
async def switch_keys(visit: Visit) -> Response:
    response = html.redirect(f"{ACCOUNT}?done=saved#keys-off")
    value = "off" if visit.form.text("keys") == "off" else ""
    visit.set_cookie(response, screens.KEYS_COOKIE, value, seconds=screens.YEAR_SECONDS)
    return response


@routes.post("/console/switch", for_limited="free")
async def switch(visit: Visit) -> Response:
    organization_id, _, user_id = visit.form.text("user").partition("/")
    cookie = await visit.change(
        sessions.switch, session=visit.session, organization_id=organization_id, user_id=user_id, now=visit.now
    )
    return _switched(visit, cookie)


@routes.get(DEMONSTRATION, for_limited="free")
async def demonstration(visit: Visit) -> Response:
    _require_demonstration(visit)
    is_made = await visit.reading(lambda _, db: sessions.get_is_demonstration_made(db))
    response = visit.page(
        "demonstration.html", title=visit.words("A shop with made-up data"), is_made=is_made, url=DEMONSTRATION
    )
    if is_made is False:
        response.headers["Refresh"] = "3"  # seconds
    return response


@routes.post(DEMONSTRATION, for_limited="free")
async def enter_demonstration(visit: Visit, db: Database) -> Response:
    _require_demonstration(visit)
    cookie = await sessions.update_to_demonstration(db, session=visit.session)
    if cookie is None:
        await sessions.insert_demonstration(db, now=visit.now)
        return html.redirect(DEMONSTRATION)
    return _switched(visit, cookie, f"{screens.HOME}?period=90")


def _require_demonstration(visit: Visit) -> None:
    if visit.session.demonstration_time or not visit.site.has_demonstration:
        raise errors.NotFound("There is no demo here.")


def _switched(visit: Visit, cookie: str, url: str = screens.HOME) -> Response:
    response = html.redirect(url)
    visit.set_cookie(response, screens.COOKIE, cookie, seconds=screens.SESSION_SECONDS)
    visit.set_cookie(response, screens.UNDO_COOKIE, "", seconds=0)
    return response


@routes.get("/console/proof", for_limited="free")
async def proof_page(visit: Visit) -> Response:
    return proof_form(visit)


@routes.post("/console/proof", for_limited="free")
async def prove(visit: Visit) -> Response:
    login = await visit.reading(login_of)
    _, is_right = await entry.checked(visit, login.email, visit.form.secret("password"))
    if not is_right:
        return proof_form(visit, wrong=visit.words("Wrong password."))
    await visit.change(sessions.update_proven, session=visit.session, now=visit.now)
    return html.redirect(screens.own_address(visit.form.text("next")))


@routes.post("/console/settings/totp", proof=True, for_limited="free")
async def begin_totp(visit: Visit, db: Database) -> Response:
    login = await login_of(visit, db)
    secret = await logins.propose_totp(db, login=login, secret=visit.site.secret, now=visit.now)
    return _totp(visit, login, secret)


@routes.post("/console/settings/totp/confirm", proof=True, for_limited="free")
async def confirm_totp(visit: Visit, db: Database) -> Response:
    """Show the recovery codes, this once."""
    login = await login_of(visit, db)
    secret = logins.proposed_totp(login, secret=visit.site.secret)
    codes = await logins.begin_totp(
        db,
        login=login,
        code=visit.form.text("code"),
        session_id=visit.session.session_id,
        secret=visit.site.secret,
        now=visit.now,
    )
    if codes is None:
        return _totp(visit, login, secret, wrong=visit.words("This code is wrong. Check the clock of your phone."))
    return visit.page("recovery.html", title=visit.words("Recovery codes"), codes=codes)


@routes.post("/console/settings/totp/end", proof=True, for_limited="free")
async def end_totp(visit: Visit, db: Database) -> Response:
    await logins.end_totp(db, login=await login_of(visit, db), now=visit.now)
    return html.redirect(f"{ACCOUNT}?done=removed")


@routes.post("/console/settings/recovery", proof=True, for_limited="free")
async def renew_recovery_codes(visit: Visit, db: Database) -> Response:
    codes = await logins.renew_recovery_codes(db, login=await login_of(visit, db), now=visit.now)
    return visit.page("recovery.html", title=visit.words("Recovery codes"), codes=codes)


@routes.get(ACCOUNT, for_limited="free")
async def _account(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    login_id = visit.session.login_id
    login = await _any_login_of(visit, db)
    user = await users.get_user(db, organization_id=visit.session.organization_id, user_id=visit.session.user_id)
    opened = await sessions.list_sessions(db, login_id=login_id, now=visit.now)
    memberships = await logins.list_memberships(db, login_id=login_id)
    codes = await logins.count_recovery_codes(db, login_id=login_id)
    known = await passkeys.list_passkeys(db, login_id=login_id)
    entered = await audit.list_logins(
        db, organization_id=visit.session.organization_id, user_id=visit.session.user_id, limit=LOGINS_SHOWN
    )
    return visit.page(
        "account.html",
        title=visit.words("Your account"),
        login=login,
        user=user,
        opened=opened,
        passkeys=known,
        has_passkeys=passkeys.relying_party(visit.site) is not None,
        entered=entered,
        actions=LOGINS,
        memberships=memberships,
        codes=codes,
        languages=[("", visit.words("As the browser says")), *((one, own_name(one)) for one in screens.LANGUAGES)],
        refusal=refusal,
    )


async def login_of(visit: Visit, db: Database) -> Login:
    """The login of the session. Raises Forbidden where an identity provider vouches for it: nothing is changed here."""
    if visit.session.is_of_provider:
        raise errors.Forbidden("Your organization's log-in keeps this. Change it there.")
    return await _any_login_of(visit, db)


async def _any_login_of(visit: Visit, db: Database) -> Login:
    return errors.found(await logins.get_login(db, login_id=visit.session.login_id), "There is no such login.")


def proof_form(visit: Visit, *, wrong: str = "") -> Response:
    going_on = visit.form.text("next") or visit.query.get("next", "")
    purpose, is_of_provider = passkeys.proof_in(visit.session.session_id), visit.session.is_of_provider
    url = f"/console/login/with/{visit.session.domain}/start?anew=1&next={screens.quote(going_on, safe='')}"
    return visit.page(
        "proof.html",
        title=visit.words("Repeat your password"),
        wrong=wrong,
        next=going_on,
        email=visit.session.email,
        provider_url=url if is_of_provider else "",  # where the person logs in anew; it then goes on from there
        options="" if is_of_provider else passkeys.request_options(visit.site, purpose=purpose, now=visit.now),
    )


def _totp(visit: Visit, login: Login, secret: str, *, wrong: str = "") -> Response:
    uri = TOTP(secret).provisioning_uri(name=login.email, issuer_name="Afterword")
    grouped = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    values = {"code": qr.code_of(uri), "secret": grouped, "wrong": wrong}
    return visit.page("totp.html", title=visit.words("A second factor"), **values)
