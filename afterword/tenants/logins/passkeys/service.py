"""Passkeys: made for a login, and used in place of a password and a second factor, since the person is verified too.

A challenge is a sealed text: its purpose and its end. It is stored, as a digest, once it was answered: it works once.
"""

import asyncio
import hashlib
import ipaddress
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from afterword import errors
from afterword.core.wire.site import Site
from afterword.errors import Sentence
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.tenants.audit import service as audit
from afterword.tenants.logins.passkeys import store, verification
from afterword.tenants.logins.passkeys.store import Passkey
from afterword.tenants.logins.passkeys.verification import RelyingParty, text_of
from afterword.tenants.logins.sessions.service import Source

LIFETIME: Final = timedelta(hours=1)  # a log-in page may stay open
PASSKEYS_MAX: Final = 20
TITLE_CHARACTERS_MAX: Final = 100
LOGIN: Final = "login"  # the purpose of a challenge


def new_in(session_id: str) -> str:
    """The purpose of a challenge for a new passkey."""
    return f"new {session_id}"


def proof_in(session_id: str) -> str:
    """The purpose of a challenge before an act that needs proof."""
    return f"proof {session_id}"


def relying_party(site: Site) -> RelyingParty | None:
    """None where browsers have no passkeys: at a number, or without TLS beyond this machine."""
    parts = urlsplit(site.public_url)
    host = parts.hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        is_local = host == "localhost" or host.endswith(".localhost")
        is_possible = bool(host) and (parts.scheme == "https" or is_local)
        return RelyingParty(host, f"{parts.scheme}://{parts.netloc}") if is_possible else None
    return None


def request_options(site: Site, *, purpose: str, now: datetime) -> str:
    """JSON for `navigator.credentials.get`; empty where there are no passkeys."""
    party = relying_party(site)
    if party is None:
        return ""
    challenge = _challenge(site, purpose=purpose, now=now)
    return json.dumps({"rpId": party.host, "challenge": challenge, "userVerification": "required"})


def creation_options(
    site: Site, *, purpose: str, login_id: str, email: str, name: str, known: Sequence[Passkey], now: datetime
) -> str:
    """JSON for `navigator.credentials.create`; an authenticator with one of the `known` makes no second one."""
    party = relying_party(site)
    if party is None:
        return ""
    options: dict[str, Any] = {
        "rp": {"id": party.host, "name": "Afterword"},
        "user": {"id": text_of(login_id.encode()), "name": email, "displayName": name},
        "challenge": _challenge(site, purpose=purpose, now=now),
        "pubKeyCredParams": [{"type": "public-key", "alg": one} for one in verification.ALGORITHMS],
        "excludeCredentials": [{"type": "public-key", "id": text_of(one.credential_id)} for one in known],
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "required",
        },
        "attestation": "none",
    }
    return json.dumps(options)


async def add(
    db: Database, *, login_id: str, title: str, credential: str, purpose: str, site: Site, now: datetime
) -> None:
    """Store the passkey of this answer. Raises Invalid and Conflict."""
    if not 1 <= len(title) <= TITLE_CHARACTERS_MAX:
        raise errors.Invalid.at(
            "/title", "required", Sentence("Give it a name, of at most {n} characters.", n=TITLE_CHARACTERS_MAX)
        )
    if len(await store.list_passkeys(db, login_id=login_id)) >= PASSKEYS_MAX:
        raise errors.Conflict(Sentence("There may be {n} passkeys. Remove one first.", n=PASSKEYS_MAX), "too_many")
    party, claim = relying_party(site), verification.read_claim(credential)
    expires = _expires(claim.challenge, site=site, purpose=purpose, now=now) if claim else None
    if party is None or claim is None or expires is None:
        raise _refused()
    given: dict[str, Any] = {"challenge": claim.challenge, "party": party}
    made = await asyncio.to_thread(verification.new_credential, credential, **given)
    if made is None or not await _use(db, claim.challenge, expires=expires):
        raise _refused()
    await store.insert_passkey(
        db,
        login_id=login_id,
        credential_id=made.credential_id,
        public_key=made.public_key,
        sign_count=made.sign_count,
        title=title,
        now=now,
    )
    await audit.record_login(db, login_id=login_id, action="passkey_added", now=now)


async def login_of(
    db: Database, *, credential: str, purpose: str, site: Site, source: Source, now: datetime
) -> str | None:
    """The login whose passkey answers a challenge of this purpose; None if the answer is wrong."""
    party, claim = relying_party(site), verification.read_claim(credential)
    expires = _expires(claim.challenge, site=site, purpose=purpose, now=now) if claim else None
    if party is None or claim is None or expires is None:
        return None
    passkey = await store.get_passkey(db, credential_id=claim.credential_id)
    if passkey is None or claim.user_handle not in {None, passkey.login_id.encode()}:
        return None
    given: dict[str, Any] = {"challenge": claim.challenge, "party": party}
    key: dict[str, Any] = {"public_key": passkey.public_key, "sign_count": passkey.sign_count}
    count = await asyncio.to_thread(verification.new_count, credential, **given, **key)
    if count is None or not await _use(db, claim.challenge, expires=expires):
        await audit.record_login(
            db, login_id=passkey.login_id, action="login_failed", device=source.device, network=source.network, now=now
        )
        return None
    await store.update_passkey(db, credential_id=passkey.credential_id, sign_count=count, now=now)
    return passkey.login_id


async def list_of(db: Database, *, login_id: str) -> list[Passkey]:
    return await store.list_passkeys(db, login_id=login_id)


async def find(db: Database, *, login_id: str, passkey_id: str) -> Passkey:
    """Raises NotFound."""
    for one in await store.list_passkeys(db, login_id=login_id):
        if one.passkey_id == passkey_id:
            return one
    raise errors.NotFound("There is no such passkey.")


async def remove(db: Database, *, passkey: Passkey, now: datetime) -> None:
    await store.delete_passkey(db, login_id=passkey.login_id, credential_id=passkey.credential_id)
    await audit.record_login(db, login_id=passkey.login_id, action="passkey_removed", now=now)


def _challenge(site: Site, *, purpose: str, now: datetime) -> str:
    until = int((now + LIFETIME).timestamp())
    return text_of(sealing.seal(str(until), secret=site.secret, context=f"passkey {purpose}"))


def _expires(challenge: bytes, *, site: Site, purpose: str, now: datetime) -> datetime | None:
    """The end of a challenge of ours for this purpose; None where it is none, or has ended."""
    try:
        until = int(sealing.unseal(challenge, secret=site.secret, context=f"passkey {purpose}"))
    except (ValueError, sealing.Unreadable):
        return None
    return datetime.fromtimestamp(until, UTC) if now.timestamp() < until else None


async def _use(db: Database, challenge: bytes, *, expires: datetime) -> bool:
    return await store.insert_challenge(db, digest=hashlib.sha256(challenge).digest(), expires_time=expires)


def _refused() -> errors.Invalid:
    return errors.Invalid.at("/title", "invalid", "The passkey was not accepted. Try again.")
