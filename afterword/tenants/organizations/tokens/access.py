"""Tokens: their text form, and the caller of a request.

`afw_<selector>_<verifier><checksum>`: the selector finds the row, the verifier proves the right to it, the checksum
tells a mistyped token from a wrong one without a query.
"""

import hmac
import re
import secrets
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

import msgspec

from afterword import errors, ids
from afterword.core.messaging.networks import is_inside
from afterword.core.organizations.access import ROLE_SCOPES, Caller, both_limits, limit_of
from afterword.kit.db import Database
from afterword.tenants.organizations.tokens import store

SELECTOR_CHARACTERS: Final = 16
VERIFIER_CHARACTERS: Final = 32
CHECKSUM_CHARACTERS: Final = 6
CACHE_SECONDS_MAX: Final = 1
CACHE_TOKENS_MAX: Final = 10_000
TICKS_MAX: Final = 10_000  # tokens, or sessions, noted between two writings; what is beyond is noted the next time
NO_APPLICATION: Final = ("",)  # no application has this id: an empty tuple would mean all of them
_NOTHING: Final = timedelta(0)
URL_PARAMETERS: Final = frozenset({"access_token", "token", "authorization", "esat-auth", "esat_auth"})

_TOKEN: Final = re.compile(r"(afw_([0-9A-Za-z]{16})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})")
_BEARER: Final = re.compile(r"bearer(?:[ \t]+(.*))?\Z", re.IGNORECASE | re.DOTALL)
_UNKNOWN_DIGEST: Final = bytes(32)
_CHALLENGE: Final = 'Bearer realm="afterword"'
Key = TypeVar("Key")


class InvalidToken(errors.Unauthorized):
    code_default = "invalid_token"

    def __init__(self, detail: str, *, code: str = "") -> None:
        super().__init__(detail, code, headers={"WWW-Authenticate": f'{_CHALLENGE}, error="invalid_token"'})


class NetworkNotAllowed(errors.Forbidden):
    code_default = "network_not_allowed"


class Secret(msgspec.Struct, frozen=True):
    text: str
    selector: str
    verifier_digest: bytes


class TokenCache:
    """Valid tokens of the last second, by a digest of their text. The roots create one for each pool."""

    def __init__(self, *, seconds: float = CACHE_SECONDS_MAX, size_max: int = CACHE_TOKENS_MAX) -> None:
        self._age_max, self._size_max = timedelta(seconds=min(seconds, CACHE_SECONDS_MAX)), size_max
        self._entries: OrderedDict[bytes, tuple[datetime, store.Credential, Caller]] = OrderedDict()

    def get(self, digest: bytes, *, now: datetime) -> tuple[store.Credential, Caller] | None:
        entry = self._entries.get(digest)
        # The clock of a restored database may go back: a negative age is not valid.
        if entry is None or not _NOTHING <= now - entry[0] < self._age_max:
            return None
        return entry[1], entry[2]

    def keep(self, digest: bytes, credential: store.Credential, caller: Caller, *, read_time: datetime) -> None:
        """Store an entry, read after `read_time`, and drop the oldest entries beyond the size."""
        self._entries[digest] = (read_time, credential, caller)
        self._entries.move_to_end(digest)
        while len(self._entries) > self._size_max:
            self._entries.popitem(last=False)


class LastUses(Generic[Key]):
    """The last use of each key since they were written: by a task of the web process, never by a request."""

    def __init__(self) -> None:
        self._used: dict[Key, datetime] = {}

    def note(self, key: Key, *, now: datetime) -> None:
        if key in self._used or len(self._used) < TICKS_MAX:
            self._used[key] = now

    def take(self) -> dict[Key, datetime]:
        used, self._used = self._used, {}
        return used


TokenUses = LastUses[tuple[str, str]]  # by organization and token
SessionUses = LastUses[str]  # by session


async def prove(db: Database, *, text: str, source: str) -> store.Credential:
    """For a text that no header brought. `source`: the client's address. Raises Unauthorized, NetworkNotAllowed."""
    credential = await _proven(db, text)
    _require_usable(credential, db.clock.now(), source)
    return credential


async def authenticate(
    db: Database,
    *,
    authorization: str | None,
    esat_auth: str | None,
    esat_domain: str | None,
    query_names: Iterable[str] = (),
    source: str = "",
    cache: TokenCache | None = None,
    ticks: TokenUses | None = None,
) -> Caller:
    """Return the caller, with one query at most; `ticks` are told of its token's use.

    `query_names` are the names of the URL's parameters: a token in a URL ends in logs, so such a request is refused.
    `source` is the client's address; without one a token with networks is refused.
    Raises Unauthorized `unauthenticated`, `invalid_token`, `token_expired`, `token_revoked`, `ambiguous_credentials`;
    Forbidden `network_not_allowed`, `domain_mismatch`.
    """
    if query_names and not URL_PARAMETERS.isdisjoint(query_names):
        raise _unauthenticated("A token in a URL is never read. Send it in the header Authorization.")
    is_plain = esat_auth is None and authorization is not None and authorization.startswith("Bearer ")  # nearly all
    text = (authorization[7:].strip() if is_plain else "") or _sent_token(authorization, esat_auth)
    now = db.clock.now()
    digest = ids.digest(text)
    known = cache.get(digest, now=now) if cache else None
    if known is None:
        credential = await _proven(db, text)
        known = credential, _caller(credential)
        if cache:
            cache.keep(digest, *known, read_time=now)
    credential, caller = known
    _require_usable(credential, now, source)
    if esat_domain and (domain := esat_domain.strip()) and domain.lower() != credential.domain:
        message = "The header esat-domain names another organization than that of the token."
        raise errors.Forbidden(message, "domain_mismatch")
    if ticks is not None:
        ticks.note((caller.organization_id, caller.token_id), now=now)
    return caller


def mint() -> Secret:
    """A new token: 95 random bits to find it, 190 to prove it."""
    selector, verifier = _random(SELECTOR_CHARACTERS), _random(VERIFIER_CHARACTERS)
    signed = f"afw_{selector}_{verifier}"
    return Secret(signed + checksum(signed), selector, ids.digest(verifier))


def checksum(text: str) -> str:
    """CRC-32 in base 62, six characters: the end of a token, over all before it."""
    return ids.base62(zlib.crc32(text.encode()), CHECKSUM_CHARACTERS)


def is_token(text: str) -> bool:
    return _match(text) is not None


def _sent_token(authorization: str | None, esat_auth: str | None) -> str:
    """The one token of the two headers. Beside `esat-auth`, other schemes than Bearer are ignored."""
    bearer = _BEARER.match((authorization or "").strip())
    first = (bearer[1] or "").strip() if bearer else ""
    old = (esat_auth or "").strip()
    old_bearer = _BEARER.match(old)
    second = (old_bearer[1] or "").strip() if old_bearer else old
    if first and second and not hmac.compare_digest(first.encode(), second.encode()):
        message = "The headers Authorization and esat-auth hold different tokens."
        raise _unauthenticated(message, "ambiguous_credentials")
    if text := first or second:
        return text
    raise _unauthenticated("This needs a token: send the header Authorization: Bearer <token>.")


def _match(text: str) -> re.Match[str] | None:
    match = _TOKEN.fullmatch(text)
    return match if match is not None and checksum(match[1]) == match[4] else None


async def _proven(db: Database, text: str) -> store.Credential:
    match = _match(text)
    if match is None:
        raise InvalidToken("This is not a token of this service, or a part of it is missing.")
    selector, verifier = match[2], match[3]
    credential = await store.get_credential(db, selector=selector)
    # An unknown selector costs the same comparison as a wrong verifier.
    expected = credential.verifier_digest if credential else _UNKNOWN_DIGEST
    if not hmac.compare_digest(ids.digest(verifier), expected) or credential is None:
        raise InvalidToken("This token is not known.")
    return credential


def _require_usable(credential: store.Credential, now: datetime, source: str) -> None:
    if credential.revoked_time is not None:
        raise InvalidToken("This token was revoked.", code="token_revoked")
    if credential.user_id is not None and not credential.user_active:
        raise InvalidToken("The user of this token is no longer active.", code="token_revoked")
    if credential.expires_time is not None and credential.expires_time <= now:
        raise InvalidToken("This token has expired.", code="token_expired")
    for networks in (credential.networks, credential.organization_networks):
        if networks and not is_inside(source, networks):
            raise NetworkNotAllowed("This token may not be used from this address.")


def _caller(credential: store.Credential) -> Caller:
    scopes = credential.scopes
    applications = tuple(credential.application_ids)
    role = credential.maker_role
    if credential.user_id is not None:
        role = credential.user_role or ""
        scopes &= ROLE_SCOPES.get(role, frozenset())
        applications = both(applications, credential.user_application_ids)
    return Caller(
        organization_id=credential.organization_id,
        token_id=credential.token_id,
        user_id=credential.user_id,
        scopes=scopes,
        application_ids=applications,
        domain=credential.domain,
        time_zone=credential.time_zone,
        default_locale=credential.default_locale,
        test=credential.test,
        role=role,
        ends_time=credential.expires_time,
        is_access=credential.access_token_id is not None,
        networks=tuple(map(str, credential.networks)),
        limit=both_limits(
            limit_of(credential.only_where, credential.only_values),
            limit_of(credential.user_only_where, credential.user_only_values),
        ),
    )


def both(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """The applications that both lists allow, where an empty list allows all."""
    if not first or not second:
        return tuple(first or second)
    return tuple(one for one in first if one in second) or NO_APPLICATION


def _unauthenticated(detail: str, code: str = "") -> errors.Unauthorized:
    return errors.Unauthorized(detail, code, headers={"WWW-Authenticate": _CHALLENGE})


def _random(characters: int) -> str:
    return "".join(secrets.choice(ids.ALPHABET) for _ in range(characters))
