"""The person of claims, and the role of groups."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from afterword.core.organizations import identities
from afterword.core.organizations.identities import Role, identity_of, role_of

ROLES = [{"group": "desk", "role": "agent"}, {"group": "chiefs", "role": "admin"},
         {"group": "/reports", "role": "reporting"}]  # fmt: skip
SAID = {"sub": "1", "email": " a@b.example "}


@pytest.mark.parametrize(
    "claims", [{}, {"sub": "1"}, {"email": "a@b.example"}, {**SAID, "sub": 1}, {**SAID, "email": ""}]
)
def test_nobody(claims: dict[str, object]) -> None:
    assert identity_of(claims, groups_claim="groups") is None


def test_somebody() -> None:
    bare = identity_of(SAID, groups_claim="groups")
    assert bare == identities.Identity("1", "a@b.example", None, None, frozenset(), None)
    told = {**SAID, "email_verified": 1, "name": " A ", "auth_time": True, "roles": ["x", "y"]}
    assert identities.Identity("1", "a@b.example", None, "A", frozenset({"x", "y"}), None) == identity_of(
        told, groups_claim="roles"
    )


@pytest.mark.parametrize(
    ("told", "read"),
    [(True, True), (False, False), ("true", True), ("False ", False), ("yes", None), (None, None), ([], None)],
)
def test_verified(told: object, read: object) -> None:
    identity = identity_of({**SAID, "email_verified": told}, groups_claim="groups")
    assert identity is not None
    assert read is identity.is_verified


@pytest.mark.parametrize(
    ("told", "groups"),
    [
        (["desk", "chiefs"], {"desk", "chiefs"}),
        (["desk", 7], {"desk", "7"}),
        ("desk, chiefs", {"desk", "chiefs", "desk, chiefs"}),
        ({"desk": {"1": "a.example"}, "chiefs": None, "lunch": False}, {"desk"}),
        (None, set()),
        ([], set()),
        # Some that we cannot read: never as if there were none, since that takes a role away.
        (7, None),
        ([{"name": "desk"}], None),
        ([f"g{number}" for number in range(1_001)], None),
    ],
)
def test_groups(told: object, groups: set[str] | None) -> None:
    identity = identity_of({**SAID, "groups": told}, groups_claim="groups")
    assert identity is not None
    assert groups == identity.groups


def test_groups_that_are_told_elsewhere() -> None:
    claims = {**SAID, "_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://a.example"}}}
    identity = identity_of(claims, groups_claim="groups")
    assert identity is not None
    assert identity.groups is None
    assert frozenset() == getattr(identity_of(claims, groups_claim="roles"), "groups", None)
    assert {"desk"} == getattr(identity_of({**claims, "groups": ["desk"]}, groups_claim="groups"), "groups", None)


NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SECONDS = int(NOW.timestamp())


@pytest.mark.parametrize(
    ("told", "time"),
    [
        (SECONDS - 60, NOW - timedelta(minutes=1)),
        (SECONDS - 59.5, NOW - timedelta(seconds=59.5)),
        (SECONDS + 120, NOW),  # a clock that is before ours
        ((SECONDS - 60) * 1_000, NOW - timedelta(minutes=1)),
        (SECONDS + 3_600, datetime.fromtimestamp(SECONDS / 1_000 + 3.6, UTC)),  # in no case a proof of today
        (2**60, identities.NEVER),
        (10**400, identities.NEVER),
        (-1, identities.NEVER),
        (math.inf, identities.NEVER),
        (math.nan, identities.NEVER),
        ("1795891221", identities.NEVER),
        (True, identities.NEVER),
        (None, identities.NEVER),
    ],
)
def test_proven_time(told: object, time: datetime) -> None:
    identity = identity_of({**SAID, "auth_time": told}, groups_claim="groups")
    assert identity is not None
    assert time == identities.proven_time(identity.authenticated, now=NOW)


@pytest.mark.parametrize(
    ("groups", "default", "role"),
    [
        ({"desk"}, None, "agent"),
        ({"desk", "chiefs"}, None, "admin"),
        ({"desk"}, "admin", "agent"),  # a group says more than the default
        ({"others"}, "reporting", "reporting"),
        ({"others"}, None, None),
        ({"Desk"}, None, None),
        ({"/desk"}, None, "agent"),
        ({"/lunch/desk"}, None, None),
        ({"reports"}, None, "reporting"),
    ],
)
def test_role(groups: set[str], default: Role | None, role: Role | None) -> None:
    assert role == role_of(frozenset(groups), group_roles=ROLES, default=default)
