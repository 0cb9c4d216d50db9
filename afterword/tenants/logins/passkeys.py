"""Passkeys: made for a login, and used in place of a password and a second factor, since the person is verified too.

A challenge is a sealed text: its purpose and its end. It is stored, as a digest, once it was answered: it works once.
"""

import asyncio
import base64
import binascii
import hashlib
import ipaddress
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, LiteralString
from urllib.parse import urlsplit

import msgspec

from afterword import errors
from afterword.core.wire.site import Site
from afterword.errors import Sentence
from afterword.kit import sealing
from afterword.kit.db import Database, Taken
from afterword.tenants import audit
from afterword.tenants.logins.sessions import Source

if TYPE_CHECKING:
    from webauthn.registration.verify_registration_response import VerifiedRegistration

ID_CHARACTERS: Final = 32


@dataclass(frozen=True, slots=True)
class Passkey:
    """`sign_count`: 0 where the authenticator does not count."""

    credential_id: bytes
    login_id: str
    public_key: bytes = field(repr=False)
    sign_count: int
    title: str
    created_time: datetime
    used_time: datetime | None

    @property
    def passkey_id(self) -> str:
        """Its name in addresses: the id of a credential may have a thousand bytes."""
        return hashlib.sha256(self.credential_id).hexdigest()[:ID_CHARACTERS]


_COLUMNS: Final[LiteralString] = "credential_id, login_id, public_key, sign_count, title, created_time, used_time"


async def _insert_passkey(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, made: "VerifiedRegistration", title: str, now: datetime
) -> None:
    """Raises Taken if the credential is somebody's already."""
    inserted = await db.execute(
        """insert into login_passkey (credential_id, login_id, public_key, sign_count, title, created_time)
           values ($1, $2, $3, $4, $5, $6) on conflict do nothing""",
        *(made.credential_id, login_id, made.credential_public_key, made.sign_count, title, now),
    )
    if not inserted:
        raise Taken("This passkey is in use already.")


async def _get_passkey(  # any tenant: the credential says whose it is
    db: Database, *, credential_id: bytes
) -> Passkey | None:
    """The passkey, locked, so that two answers are not counted at once."""
    return await db.records(Passkey).fetch_row(
        f"select {_COLUMNS} from login_passkey where credential_id = $1 for no key update", credential_id
    )


async def list_passkeys(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str
) -> list[Passkey]:
    return await db.records(Passkey).fetch(
        f"select {_COLUMNS} from login_passkey where login_id = $1 order by created_time, credential_id limit 100",
        login_id,
    )


async def _update_passkey(  # any tenant: a login belongs to a person
    db: Database, *, credential_id: bytes, sign_count: int, now: datetime
) -> None:
    await db.execute(
        "update login_passkey set sign_count = $2, used_time = $3 where credential_id = $1",
        *(credential_id, sign_count, now),
    )


async def delete_passkey(  # any tenant: a login belongs to a person
    db: Database, *, passkey: Passkey, now: datetime
) -> None:
    await db.execute(
        "delete from login_passkey where login_id = $1 and credential_id = $2", passkey.login_id, passkey.credential_id
    )
    await audit.record_login(db, login_id=passkey.login_id, action="passkey_removed", now=now)


async def _insert_challenge(  # any tenant: before the login is known
    db: Database, challenge: bytes, *, expires: datetime
) -> bool:
    """Note that it was answered; false if it had been before."""
    return await db.touches(
        "insert into login_challenge (digest, expires_time) values ($1, $2) on conflict do nothing",
        *(hashlib.sha256(challenge).digest(), expires),
    )


ALGORITHMS: Final = (-8, -7, -257)  # Ed25519, ECDSA and RSA with SHA-256, as COSE numbers them
# Bytes of a stranger's choice: the parsers raise more than the library's own exceptions.
_WRONG: Final = (ValueError, LookupError, TypeError, AttributeError)


class RelyingParty(msgspec.Struct, frozen=True):
    """The console as authenticators know it: its host, and the origin of its pages."""

    host: str
    origin: str


class Claim(msgspec.Struct, frozen=True):
    """The credential and the challenge that an answer names; nothing of it is proven."""

    credential_id: bytes
    challenge: bytes
    user_handle: bytes | None


def read_claim(text: str) -> Claim | None:
    """None for what is no answer of an authenticator."""
    try:
        credential: dict[str, Any] = json.loads(text)
        response = credential["response"]
        challenge = json.loads(_bytes_of(response["clientDataJSON"]))["challenge"]
        handle = response.get("userHandle")
        return Claim(_bytes_of(credential["id"]), _bytes_of(challenge), _bytes_of(handle) if handle else None)
    except (*_WRONG, binascii.Error, RecursionError):
        return None


def new_credential(text: str, *, challenge: bytes, party: RelyingParty) -> "VerifiedRegistration | None":
    """The credential that was made for this challenge by a verified person; None if the answer is wrong."""
    from webauthn import verify_registration_response  # noqa: PLC0415
    from webauthn.helpers.cose import COSEAlgorithmIdentifier  # noqa: PLC0415
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    try:
        return verify_registration_response(
            credential=text,
            expected_challenge=challenge,
            expected_rp_id=party.host,
            expected_origin=party.origin,
            require_user_verification=True,
            supported_pub_key_algs=[COSEAlgorithmIdentifier(one) for one in ALGORITHMS],
        )
    except (WebAuthnException, *_WRONG):
        return None


def new_count(text: str, *, challenge: bytes, party: RelyingParty, public_key: bytes, sign_count: int) -> int | None:
    """The count of signatures with this one; None if the answer is wrong, or the count has not grown."""
    from webauthn import verify_authentication_response  # noqa: PLC0415
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    try:
        return verify_authentication_response(
            credential=text,
            expected_challenge=challenge,
            expected_rp_id=party.host,
            expected_origin=party.origin,
            credential_public_key=public_key,
            credential_current_sign_count=sign_count,
            require_user_verification=True,
        ).new_sign_count
    except (WebAuthnException, *_WRONG):
        return None


def text_of(content: bytes) -> str:
    """Base64 for addresses without its padding, as WebAuthn writes bytes in JSON."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


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
        "pubKeyCredParams": [{"type": "public-key", "alg": one} for one in ALGORITHMS],
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
    if len(await list_passkeys(db, login_id=login_id)) >= PASSKEYS_MAX:
        raise errors.Conflict(Sentence("There may be {n} passkeys. Remove one first.", n=PASSKEYS_MAX), "too_many")
    party, claim = relying_party(site), read_claim(credential)
    expires = _expires(claim.challenge, site=site, purpose=purpose, now=now) if claim else None
    if party is None or claim is None or expires is None:
        raise _refused()
    given: dict[str, Any] = {"challenge": claim.challenge, "party": party}
    made = await asyncio.to_thread(new_credential, credential, **given)
    if made is None or not await _insert_challenge(db, claim.challenge, expires=expires):
        raise _refused()
    await _insert_passkey(db, login_id=login_id, made=made, title=title, now=now)
    await audit.record_login(db, login_id=login_id, action="passkey_added", now=now)


async def login_of(
    db: Database, *, credential: str, purpose: str, site: Site, source: Source, now: datetime
) -> str | None:
    """The login whose passkey answers a challenge of this purpose; None if the answer is wrong."""
    party, claim = relying_party(site), read_claim(credential)
    expires = _expires(claim.challenge, site=site, purpose=purpose, now=now) if claim else None
    if party is None or claim is None or expires is None:
        return None
    passkey = await _get_passkey(db, credential_id=claim.credential_id)
    if passkey is None or claim.user_handle not in {None, passkey.login_id.encode()}:
        return None
    given: dict[str, Any] = {"challenge": claim.challenge, "party": party}
    key: dict[str, Any] = {"public_key": passkey.public_key, "sign_count": passkey.sign_count}
    count = await asyncio.to_thread(new_count, credential, **given, **key)
    if count is None or not await _insert_challenge(db, claim.challenge, expires=expires):
        await audit.record_login(
            db, login_id=passkey.login_id, action="login_failed", device=source.device, network=source.network, now=now
        )
        return None
    await _update_passkey(db, credential_id=passkey.credential_id, sign_count=count, now=now)
    return passkey.login_id


async def find(db: Database, *, login_id: str, passkey_id: str) -> Passkey:
    """Raises NotFound."""
    for one in await list_passkeys(db, login_id=login_id):
        if one.passkey_id == passkey_id:
            return one
    raise errors.NotFound("There is no such passkey.")


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


def _refused() -> errors.Invalid:
    return errors.Invalid.at("/title", "invalid_format", "The passkey was not accepted. Try again.")
