"""Logging in: the password, then a second factor where the person has one; and what a person changes about that.

Guessing is counted by login and network, and by network alone. A browser that logged in before is counted apart from
its network, so that strangers lock nobody out.
"""

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, LiteralString

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from pyotp import random_base32
from pyotp.totp import TOTP

from afterword import errors, ids
from afterword.core import keys
from afterword.core.organizations import passwords
from afterword.core.wire.site import Site
from afterword.errors import Sentence
from afterword.kit import sealing
from afterword.kit.db import Database, Taken
from afterword.tenants import audit
from afterword.tenants.logins import links, passkeys, sessions

# The parameters of OWASP's Password Storage Cheat Sheet.
_hasher: Final = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_threads: Final = ThreadPoolExecutor(max_workers=2, thread_name_prefix="argon2")
NOBODY: Final = _hasher.hash("the password of an address without a login")


async def hash_of(password: str) -> str:
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, passwords.normal(password))


async def is_right(password_hash: str, password: str) -> bool:
    """Of an address without a login compare with NOBODY, which takes as long."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads, _matches, password_hash, passwords.normal(password))


def is_outdated(password_hash: str) -> bool:
    return _hasher.check_needs_rehash(password_hash)


def _matches(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


@dataclass(frozen=True, slots=True)
class Login:
    login_id: str
    email: str
    password_hash: str = field(repr=False)
    totp_secret: bytes | None = field(repr=False)  # sealed
    totp_time: datetime | None
    totp_step: int
    has_passkey: bool

    @property
    def has_totp(self) -> bool:
        return self.totp_time is not None

    @property
    def has_second_factor(self) -> bool:
        return self.has_totp or self.has_passkey


class Membership(msgspec.Struct, frozen=True):
    """A user that a login acts as."""

    organization_id: str
    user_id: str
    organization_name: str
    role: str


_COLUMNS: Final[LiteralString] = """login_id, email, password_hash, totp_secret, totp_time, totp_step,
  exists (select from login_passkey k where k.login_id = login.login_id) as has_passkey"""


async def insert_login(  # any tenant: a login belongs to a person
    db: Database, *, email: str, password_hash: str, now: datetime
) -> Login:
    """Raises Taken if the address has a login."""
    try:
        row = await db.fetch_one(
            f"""insert into login (login_id, email, password_hash, password_time, created_time, updated_time)
               values ($1, $2, $3, $4, $4, $4) returning {_COLUMNS}""",
            *(ids.ordered(now), email, password_hash, now),
        )
    except Taken as taken:
        raise Taken("This address has a login already.") from taken
    return Login(**row)


async def get_login(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, is_locked: bool = False
) -> Login | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    return await db.records(Login).fetch_row(f"select {_COLUMNS} from login where login_id = $1 {lock}", login_id)


async def get_login_by_email(  # any tenant: a login belongs to a person
    db: Database, *, email: str, is_locked: bool = False
) -> Login | None:
    """The person's own; those that identity providers vouch for are found by these alone."""
    lock: LiteralString = "for no key update" if is_locked else ""
    return await db.records(Login).fetch_row(
        f"select {_COLUMNS} from login where lower(email) = lower($1) and not is_of_provider {lock}", email
    )


async def _update_login(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, changes: Mapping[str, object], now: datetime
) -> None:
    """`changes`: some of email, password_hash. Raises Taken if the address has another login."""
    await db.execute(
        """update login l set (email, password_hash) = (
             select s.email, s.password_hash from jsonb_populate_record(l, $2) s),
             password_time = case when $2::jsonb ? 'password_hash' then $3 else password_time end, updated_time = $3
           where login_id = $1""",
        *(login_id, changes, now),
    )


async def _update_totp(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, secret: bytes | None, since: datetime | None, now: datetime
) -> None:
    await db.execute(
        """update login set totp_secret = $2, totp_time = $3, updated_time = $4,
             totp_step = case when $3::timestamptz is null then 0 else totp_step end
           where login_id = $1""",
        *(login_id, secret, since, now),
    )


async def _update_totp_step(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, step: int
) -> bool:
    """Whether no code of this step or a later one was used before."""
    return await db.touches("update login set totp_step = $2 where login_id = $1 and totp_step < $2", login_id, step)


async def _insert_recovery_codes(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, digests: Sequence[bytes]
) -> None:
    """The codes that there were stop to work."""
    await db.execute("delete from login_recovery_code where login_id = $1", login_id)
    await db.execute(
        "insert into login_recovery_code (login_id, digest) select $1, unnest($2::bytea[])", login_id, list(digests)
    )


async def _delete_recovery_code(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, digest: bytes
) -> bool:
    return await db.touches("delete from login_recovery_code where login_id = $1 and digest = $2", login_id, digest)


async def count_recovery_codes(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str
) -> int:
    return await db.fetch_value("select count(*) from login_recovery_code where login_id = $1", login_id)


async def list_memberships(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str
) -> list[Membership]:
    return await db.records(Membership).fetch(
        """select u.organization_id, u.user_id, o.display_name as organization_name, u.role
           from organization_user u join organization o using (organization_id)
           where u.login_id = $1 and u.active and u.removed_time is null
           order by u.last_login_time desc nulls last, o.display_name limit 100""",
        login_id,
    )


async def _update_user_login(db: Database, *, organization_id: str, user_id: str, login_id: str) -> bool:
    """Let the login act as this user; false where another login does already."""
    return await db.touches(
        """update organization_user set login_id = $3
           where organization_id = $1 and user_id = $2 and removed_time is null
             and (login_id is null or login_id = $3)""",
        *(organization_id, user_id, login_id),
    )


async def _update_user_emails(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, email: str, now: datetime
) -> None:
    """Raises Taken if an organization has another user with this address."""
    await db.execute(
        """update organization_user set email = $2, version = version + 1, updated_time = greatest($3, updated_time)
           where login_id = $1 and removed_time is null""",
        *(login_id, email, now),
    )


async def get_has_login(db: Database, *, organization_id: str, user_id: str) -> bool:
    return bool(
        await db.fetch_value(
            "select login_id is not null from organization_user where organization_id = $1 and user_id = $2",
            *(organization_id, user_id),
        )
    )


async def get_owner_email(db: Database, *, organization_id: str | None) -> str | None:
    """The address of an owner who can log in; of any organization without an id."""
    return await db.fetch_value(
        """select email from organization_user
           where ($1::text is null or organization_id = $1) and role = 'owner' and active and removed_time is null
             and login_id is not null
           order by created_time limit 1""",
        organization_id,
    )


async def list_failures(  # any tenant: a login belongs to a person
    db: Database, *, keys: Sequence[bytes], after: datetime
) -> dict[bytes, int]:
    return await db.fetch_pairs(
        "select key, failures from login_failure where key = any($1) and since > $2", list(keys), after
    )


async def _insert_failures(  # any tenant: a login belongs to a person
    db: Database, *, keys: Sequence[bytes], now: datetime, after: datetime
) -> dict[bytes, int]:
    """Count one more for each key, from anew where the last count began before `after`."""
    return await db.fetch_pairs(
        """insert into login_failure as f (key, failures, since) select k, 1, $2 from unnest($1::bytea[]) k order by k
           on conflict (key) do update set failures = case when f.since > $3 then f.failures + 1 else 1 end,
             since = case when f.since > $3 then f.since else $2 end
           returning key, failures""",
        *(list(keys), now, after),
    )


async def update_failures(  # any tenant: a login belongs to a person
    db: Database, *, attempt: "Attempt", login: Login, secret: bytes
) -> None:
    """Count one less after a right guess."""
    await db.execute(
        """with locked as (select key from login_failure where key = any($1) and failures > 0 order by key for update)
           update login_failure f set failures = failures - 1 from locked where f.key = locked.key""",
        _keys(attempt, login, secret),
    )


async def delete_failures(  # any tenant: a login belongs to a person
    db: Database, *, attempt: "Attempt", login: Login, secret: bytes
) -> None:
    """After a success: those of the login alone; others behind the same network may still be guessing."""
    await db.execute("delete from login_failure where key = $1", _keys(attempt, login, secret)[0])


WINDOW: Final = timedelta(minutes=15)
FAILURES_MAX: Final = 10  # of a login from one network, or from a browser that it knows
NETWORK_FAILURES_MAX: Final = 100  # of a network over all logins
PENDING: Final = timedelta(minutes=10)  # between password and code
CODE_SECONDS: Final = 30
RECOVERY_CODES: Final = 10
RECOVERY_LETTERS: Final = "abcdefghijkmnpqrstuvwxyz23456789"
RECOVERY_CHARACTERS: Final = 16
DEVICE: Final = "login device"


class TooManyFailures(errors.TooMany):
    code_default = "too_many_failures"


class Attempt(msgspec.Struct, frozen=True):
    """The origin of an attempt. `device`: the cookie of a known browser, else empty; `browser`: its name."""

    email: str
    network: str
    device: str = ""
    browser: str = ""


async def count_guess(db: Database, *, attempt: Attempt, login: Login | None, secret: bytes, now: datetime) -> None:
    """Count a guess before it is compared, as many may come at once; `update_failures` takes back a right one.

    Raises TooManyFailures where so many were wrong lately that another must wait; that one does not count.
    """
    keys = _keys(attempt, login, secret)
    found = await _insert_failures(db, keys=keys, now=now, after=now - WINDOW)
    limits = dict(zip(keys, (FAILURES_MAX, NETWORK_FAILURES_MAX), strict=False))
    if any(number > limits[key] for key, number in found.items()):
        minutes = int(WINDOW.total_seconds() // 60)
        raise TooManyFailures(
            Sentence(
                "Too many passwords or codes were wrong here. Wait {n} minutes, or ask for a link by mail.", n=minutes
            ),
            headers={"Retry-After": str(int(WINDOW.total_seconds()))},
        )


async def note_failure(db: Database, *, attempt: Attempt, login: Login | None, now: datetime) -> None:
    login_id = login.login_id if login else ""  # without a login the same statements: they must not tell by their time
    told = {"device": attempt.browser or None, "network": attempt.network}
    await audit.record_login(db, login_id=login_id, action="login_failed", **told, now=now)


def is_known_device(attempt: Attempt, *, login: Login, secret: bytes) -> bool:
    """Whether somebody has logged in as this person from this browser before."""
    nonce, proof = attempt.device[: ids.ID_CHARACTERS], attempt.device[ids.ID_CHARACTERS :]
    sent = proof.encode()
    found = keys.find(secret, lambda one: hmac.compare_digest(sent, _device_proof(nonce, login, one).encode()))
    return found is not None


def device_cookie(login: Login, *, secret: bytes) -> str:
    """A cookie by which this browser is known to have logged in as this person."""
    nonce = ids.secret()
    return nonce + _device_proof(nonce, login, secret)


async def change_password(
    db: Database, *, login: Login, password_hash: str, now: datetime, session_id: str | None = None
) -> None:
    """All sessions but this one end, and links to reset the old password too."""
    await _update_login(db, login_id=login.login_id, changes={"password_hash": password_hash}, now=now)
    await sessions.delete_sessions(db, login_id=login.login_id, but=session_id)
    await links.delete_links(db, purpose="reset", login_id=login.login_id)
    await audit.record_login(db, login_id=login.login_id, action="password_changed", now=now)


async def replace_hash(db: Database, *, login: Login, password_hash: str, now: datetime) -> Login:
    """The same password under newer parameters."""
    await _update_login(db, login_id=login.login_id, changes={"password_hash": password_hash}, now=now)
    return replace(login, password_hash=password_hash)


async def change_address(db: Database, *, login_id: str, email: str, now: datetime) -> None:
    """The address of the login and of its users. Raises Taken."""
    try:
        await _update_login(db, login_id=login_id, changes={"email": email}, now=now)
        await _update_user_emails(db, login_id=login_id, email=email, now=now)
    except Taken as taken:
        raise Taken("This address belongs to somebody else here.") from taken
    await audit.record_login(db, login_id=login_id, action="address_changed", now=now)


def check_password(password: str, *, own: Collection[str], has_second_factor: bool) -> None:
    """Raises Invalid."""
    errors.check(passwords.password_errors(password, own=own, has_second_factor=has_second_factor))


async def join(db: Database, *, organization_id: str, user_id: str, login: Login) -> None:
    """Let the login act as this user. Raises Conflict where another login does."""
    if not await _update_user_login(db, organization_id=organization_id, user_id=user_id, login_id=login.login_id):
        raise errors.Conflict("Somebody logs in as this user already.", "already_exists")


async def membership_of(db: Database, *, login: Login) -> Membership:
    """The user as whom the person was here last. Raises Forbidden where there is none any more."""
    found = await list_memberships(db, login_id=login.login_id)
    if not found:
        raise errors.Forbidden("You do not belong to an organization any more. Ask to be invited again.")
    return found[0]


async def propose_totp(db: Database, *, login: Login, secret: bytes, now: datetime) -> str:
    """Store a new secret that is not in use before a code proves it; returns it in base 32. Raises Conflict."""
    if login.has_totp:
        raise errors.Conflict("An app is in use. Remove it first.", "already_exists")
    text = random_base32()
    sealed = sealing.seal(text, secret=secret, context=_context(login))
    await _update_totp(db, login_id=login.login_id, secret=sealed, since=None, now=now)
    return text


def proposed_totp(login: Login, *, secret: bytes) -> str:
    """The secret that was proposed. Raises NotFound."""
    if login.totp_secret is None:
        raise errors.NotFound("No second factor was begun.")
    return sealing.unseal(login.totp_secret, secret=secret, context=_context(login))


async def begin_totp(
    db: Database, *, login: Login, code: str, session_id: str, secret: bytes, now: datetime
) -> list[str] | None:
    """Use the proposed secret from now on, if the code is right; returns new recovery codes."""
    if await _step(db, login, code, secret=secret, now=now) is None:
        return None
    await _update_totp(db, login_id=login.login_id, secret=login.totp_secret, since=now, now=now)
    await audit.record_login(db, login_id=login.login_id, action="second_factor_added", now=now)
    return await _protect(db, login=login, session_id=session_id, now=now)


async def end_totp(db: Database, *, login: Login, now: datetime) -> None:
    await _update_totp(db, login_id=login.login_id, secret=None, since=None, now=now)
    await audit.record_login(db, login_id=login.login_id, action="second_factor_removed", now=now)
    if not login.has_passkey:
        await _insert_recovery_codes(db, login_id=login.login_id, digests=[])


async def add_passkey(
    db: Database, *, login: Login, title: str, credential: str, session_id: str, site: Site, now: datetime
) -> list[str] | None:
    """Store a new passkey; with the first second factor, returns recovery codes. Raises Invalid and Conflict."""
    await passkeys.add(
        db,
        login_id=login.login_id,
        title=title,
        credential=credential,
        purpose=passkeys.new_in(session_id),
        site=site,
        now=now,
    )
    return None if login.has_second_factor else await _protect(db, login=login, session_id=session_id, now=now)


async def remove_passkey(db: Database, *, login: Login, passkey_id: str, now: datetime) -> None:
    """Raises NotFound."""
    passkey = await passkeys.find(db, login_id=login.login_id, passkey_id=passkey_id)
    await passkeys.delete_passkey(db, passkey=passkey, now=now)
    left = await get_login(db, login_id=login.login_id)
    if left is not None and not left.has_second_factor:
        await _insert_recovery_codes(db, login_id=login.login_id, digests=[])


async def _protect(db: Database, *, login: Login, session_id: str, now: datetime) -> list[str]:
    """Sessions that were opened by the password alone end; returns recovery codes."""
    await sessions.delete_sessions(db, login_id=login.login_id, but=session_id)
    return await renew_recovery_codes(db, login=login, now=now)


async def renew_recovery_codes(db: Database, *, login: Login, now: datetime) -> list[str]:
    """New codes, shown once; the old ones stop to work."""
    codes = [
        "".join(secrets.choice(RECOVERY_LETTERS) for _ in range(RECOVERY_CHARACTERS)) for _ in range(RECOVERY_CODES)
    ]
    await _insert_recovery_codes(db, login_id=login.login_id, digests=[ids.digest(code) for code in codes])
    await audit.record_login(db, login_id=login.login_id, action="recovery_codes_renewed", now=now)
    return ["-".join(code[at : at + 4] for at in range(0, RECOVERY_CHARACTERS, 4)) for code in codes]


async def is_second_factor(db: Database, *, login: Login, code: str, secret: bytes, now: datetime) -> bool:
    """Whether it is the code of this moment, or a recovery code; each works once."""
    plain = "".join(each for each in code.lower() if each.isalnum())
    if len(plain) == RECOVERY_CHARACTERS:
        return await _delete_recovery_code(db, login_id=login.login_id, digest=ids.digest(plain))
    return login.has_totp and await _step(db, login, plain, secret=secret, now=now) is not None


def pending(login: Login, *, secret: bytes, now: datetime) -> str:
    """A sealed proof of the password, for the minutes until the code."""
    until = int((now + PENDING).timestamp())
    proven = ids.digest(login.password_hash).hex()
    return sealing.seal(f"{login.login_id} {until} {proven}", secret=secret, context="login pending").hex()


async def find_pending(
    db: Database, *, text: str, secret: bytes, now: datetime, is_locked: bool = False
) -> Login | None:
    """The login of such a proof; None where it is none or too old, or the password is another since."""
    try:
        login_id, until, proven = sealing.unseal(bytes.fromhex(text), secret=secret, context="login pending").split(" ")
    except (ValueError, sealing.Unreadable):
        return None
    login = await get_login(db, login_id=login_id, is_locked=is_locked) if now.timestamp() < int(until) else None
    return login if login is not None and ids.digest(login.password_hash).hex() == proven else None


async def _step(db: Database, login: Login, code: str, *, secret: bytes, now: datetime) -> int | None:
    """The time step of a right code that was not used before; clocks may differ by one step."""
    if login.totp_secret is None:
        return None
    totp = TOTP(sealing.unseal(login.totp_secret, secret=secret, context=_context(login)))
    current = int(now.timestamp()) // CODE_SECONDS
    for step in (current, current - 1, current + 1):
        if hmac.compare_digest(totp.generate_otp(step).encode(), code.encode()):
            return step if await _update_totp_step(db, login_id=login.login_id, step=step) else None
    return None


async def note_wrong(db: Database, *, key: bytes, now: datetime) -> None:
    """Count one more under a key of another way in."""
    await _insert_failures(db, keys=[key], now=now, after=now - WINDOW)


def _keys(attempt: Attempt, login: Login | None, secret: bytes) -> list[bytes]:
    """The counters of an attempt: of the login, and, unless the browser is known, of the network."""
    if login is not None and is_known_device(attempt, login=login, secret=secret):
        return [ids.digest(f"device {attempt.device}")]
    return [ids.digest(f"login {attempt.email.lower()} {attempt.network}"), ids.digest(f"network {attempt.network}")]


def _device_proof(nonce: str, login: Login, secret: bytes) -> str:
    return hmac.digest(secret, f"{DEVICE}\n{login.login_id}\n{nonce}".encode(), hashlib.sha256).hex()


def _context(login: Login) -> str:
    return f"totp:{login.login_id}"
