"""The word of an identity provider about a person, and the role that follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

Role = Literal["admin", "reporting", "agent"]
ROLES: Final[tuple[Role, ...]] = ("admin", "reporting", "agent")  # the most first; owners are made by owners alone
SUBJECT_CHARACTERS_MAX: Final = 255
ADDRESS_CHARACTERS_MAX: Final = 320
NAME_CHARACTERS_MAX: Final = 100
GROUPS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class Identity:
    """A person by the word of an issuer. `authenticated`: seconds since 1970, None where it was not said."""

    subject: str
    email: str
    is_verified: bool | None
    name: str | None
    groups: frozenset[str]
    authenticated: int | None


def identity_of(claims: Mapping[str, Any], *, groups_claim: str) -> Identity | None:
    """The person of verified claims; None where they name no subject or no address."""
    subject, email = claims.get("sub"), claims.get("email")
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_CHARACTERS_MAX:
        return None
    if not isinstance(email, str) or not 0 < len(email) <= ADDRESS_CHARACTERS_MAX:
        return None
    verified, name, authenticated = claims.get("email_verified"), claims.get("name"), claims.get("auth_time")
    return Identity(
        subject=subject,
        email=email.strip(),
        is_verified=verified if isinstance(verified, bool) else None,
        name=name.strip()[:NAME_CHARACTERS_MAX] or None if isinstance(name, str) else None,
        groups=_groups_of(claims.get(groups_claim)),
        authenticated=authenticated if type(authenticated) is int else None,
    )


def role_of(groups: frozenset[str], *, group_roles: Sequence[Mapping[str, str]], default: Role | None) -> Role | None:
    """The highest role of the person's groups, else the default; None lets nobody in."""
    given = {one["role"] for one in group_roles if one["group"] in groups}
    return next((role for role in ROLES if role in given), default)


def _groups_of(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset({value})
    if not isinstance(value, list):
        return frozenset()
    return frozenset(one for one in cast("list[object]", value)[:GROUPS_MAX] if isinstance(one, str))
