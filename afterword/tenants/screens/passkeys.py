"""Passkeys: logging in with one, proving oneself with one, and one's own under Your account."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console import screens
from afterword.console.screens import Guest, Marked, Screens, Visit
from afterword.kit.db import Database
from afterword.kit.web import html, static
from afterword.tenants.logins import passkeys, service, sessions, store
from afterword.tenants.logins.passkeys import Passkey
from afterword.tenants.screens import entry
from afterword.tenants.screens.account import ACCOUNT, login_of, proof_form

PASSKEYS: Final = "/console/settings/passkeys"
REFUSED: Final[Marked] = "This passkey was not accepted. Try again, or use your password."

routes = Screens()


@routes.open_post("/console/login/passkey")
async def log_in(guest: Guest) -> Response:
    """The person was verified by the device, so nothing else is asked for: neither password nor code."""
    async with guest.write() as db:
        login_id = await _answered(guest, db, purpose=passkeys.LOGIN)
        login = await store.get_login(db, login_id=login_id) if login_id else None
        if login is not None:
            return await entry.let_in(guest, db, login, going_on=screens.own_address(guest.form.text("next")))
    return entry.login_form(guest, wrong=guest.words(REFUSED))


@routes.post("/console/proof/passkey")
async def prove(visit: Visit) -> Response:
    """A passkey instead of the password, for the next minutes."""
    async with visit.write() as db:
        login_id = await _answered(visit, db, purpose=passkeys.proof_in(visit.session.session_id))
        if login_id == visit.session.login_id:
            await sessions.prove(db, session=visit.session, now=visit.now)
            return html.redirect(screens.own_address(visit.form.text("next")))
    return proof_form(visit, wrong=visit.words(REFUSED))


@routes.post(PASSKEYS, proof=True)
async def add(visit: Visit) -> Response:
    """Show the recovery codes with the first second factor, this once."""
    try:
        async with visit.write() as db:
            codes = await service.add_passkey(
                db,
                login=await login_of(visit, db),
                title=visit.form.text("title"),
                credential=visit.form.text("credential"),
                session_id=visit.session.session_id,
                site=visit.site,
                now=visit.now,
            )
    except (errors.Invalid, errors.Conflict) as refusal:
        return await _new(visit, refusal)
    if codes is None:
        return html.redirect(f"{ACCOUNT}?done=passkey")
    return visit.page("recovery.html", title=visit.words("Recovery codes"), codes=codes)


@routes.get(PASSKEYS + "/{passkey_id}", proof=True)
async def remove_page(visit: Visit) -> Response:
    async with visit.read() as db:
        login = await login_of(visit, db)
        passkey = await _passkey(visit, db)
        left = len(await passkeys.list_of(db, login_id=login.login_id)) - 1
    after = (
        visit.words("You still have another second factor.")
        if left or login.has_totp
        else visit.words("It is your last second factor: the password alone logs you in then, and recovery codes go.")
    )
    return visit.confirm(
        title=visit.words("Remove the passkey “{title}”?", title=passkey.title),
        sentences=[visit.words("It logs you in no more. Remove it from your device too."), after],
        button=visit.words("Remove the passkey"),
        back=ACCOUNT,
    )


@routes.post(PASSKEYS + "/{passkey_id}", proof=True)
async def remove(visit: Visit) -> Response:
    async with visit.write() as db:
        login = await login_of(visit, db)
        await service.remove_passkey(db, login=login, **visit.ids, now=visit.now)
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


async def _passkey(visit: Visit, db: Database) -> Passkey:
    return await passkeys.find(db, login_id=visit.session.login_id, **visit.ids)


@routes.get(PASSKEYS, proof=True)
async def _new(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    async with visit.read() as db:
        login = await login_of(visit, db)
        known = await passkeys.list_of(db, login_id=login.login_id)
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
        status=refusal.status if refusal else 200,
        form={"title": visit.form.text("title") or visit.source.device},
        options=options,
        script=static.url("console/passkey.js"),
        refusal=refusal,
    )
