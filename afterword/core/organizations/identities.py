"""The word of an identity provider about a person, and the role that follows from it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, cast

import msgspec

Role = Literal["admin", "reporting", "agent"]
ROLES: Final[tuple[Role, ...]] = ("admin", "reporting", "agent")  # the most first; owners are made by owners alone
SUBJECT_CHARACTERS_MAX: Final = 255
ADDRESS_CHARACTERS_MAX: Final = 320
NAME_CHARACTERS_MAX: Final = 100
GROUPS_MAX: Final = 1_000
CLOCK: Final = timedelta(minutes=3)  # two clocks may differ by this
NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
YES_OR_NO: Final = {"true": True, "false": False}


class Identity(msgspec.Struct, frozen=True):
    """A person by the word of an issuer. `authenticated`: seconds since 1970, None where it was not said.

    `groups` None: the person has some, but the token does not tell them, or in a form that we do not know.
    """

    subject: str
    email: str
    is_verified: bool | None
    name: str | None
    groups: frozenset[str] | None
    authenticated: float | None


def identity_of(claims: Mapping[str, Any], *, groups_claim: str) -> Identity | None:
    """The person of verified claims; None where they name no subject or no address."""
    subject, email = claims.get("sub"), claims.get("email")
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_CHARACTERS_MAX:
        return None
    if not isinstance(email, str) or not 0 < len(email) <= ADDRESS_CHARACTERS_MAX:
        return None
    verified, name, authenticated = claims.get("email_verified"), claims.get("name"), claims.get("auth_time")
    if isinstance(verified, str):  # Cognito writes texts
        verified = YES_OR_NO.get(verified.strip().lower())
    return Identity(
        subject=subject,
        email=email.strip(),
        is_verified=verified if isinstance(verified, bool) else None,
        name=name.strip()[:NAME_CHARACTERS_MAX] or None if isinstance(name, str) else None,
        groups=_groups_of(claims, groups_claim),
        authenticated=authenticated if type(authenticated) in {int, float} else None,
    )


def role_of(groups: frozenset[str], *, group_roles: Sequence[Mapping[str, str]], default: Role | None) -> Role | None:
    """The highest role of the person's groups, else the default; None lets nobody in.

    Keycloak writes the path of a group: `/reports`. The slash at its head is optional, there and here.
    """
    told = {group.removeprefix("/") for group in groups}
    given = {one["role"] for one in group_roles if one["group"].removeprefix("/") in told}
    return next((role for role in ROLES if role in given), default)


def proven_time(seconds: float | None, *, now: datetime) -> datetime:
    """The time of a proof by `auth_time`, which some providers tell in milliseconds; NEVER where it is none."""
    latest = (now + CLOCK).timestamp()
    for scale in (1, 1_000):
        if seconds is not None and 0 <= seconds <= latest * scale:
            return min(now, datetime.fromtimestamp(seconds / scale, UTC))
    return NEVER


def _groups_of(claims: Mapping[str, Any], name: str) -> frozenset[str] | None:
    """A list, a text with commas, or the keys of an object, as Zitadel tells roles."""
    value = claims.get(name)
    match value:
        case None:
            elsewhere = claims.get("_claim_names")  # OpenID Connect Core 1.0, section 5.6.2: Entra ID's many groups
            return None if isinstance(elsewhere, dict) and name in elsewhere else frozenset()
        case str():
            return frozenset({value, *(part.strip() for part in value.split(","))})
        case dict():
            found = [key for key, told in cast("dict[str, object]", value).items() if told not in (None, False)]
        case list():
            found = cast("list[object]", value)
        case _:
            return None
    if len(found) > GROUPS_MAX or not all(isinstance(one, str | int) for one in found):
        return None
    return frozenset(str(one) for one in found)
