"""The person of claims, and the role of groups."""

import pytest

from afterword.core.organizations import identities
from afterword.core.organizations.identities import Role, identity_of, role_of

ROLES = [{"group": "desk", "role": "agent"}, {"group": "chiefs", "role": "admin"}]
SAID = {"sub": "1", "email": " a@b.example "}


@pytest.mark.parametrize(
    "claims", [{}, {"sub": "1"}, {"email": "a@b.example"}, {**SAID, "sub": 1}, {**SAID, "email": ""}]
)
def test_nobody(claims: dict[str, object]) -> None:
    assert identity_of(claims, groups_claim="groups") is None


def test_somebody() -> None:
    bare = identity_of(SAID, groups_claim="groups")
    assert bare == identities.Identity("1", "a@b.example", None, None, frozenset(), None)
    told = {**SAID, "email_verified": "true", "name": " A ", "auth_time": True, "roles": ["x", 1, "y"]}
    assert identities.Identity("1", "a@b.example", None, "A", frozenset({"x", "y"}), None) == identity_of(
        told, groups_claim="roles"
    )


@pytest.mark.parametrize(
    ("groups", "default", "role"),
    [
        ({"desk"}, None, "agent"),
        ({"desk", "chiefs"}, None, "admin"),
        ({"desk"}, "admin", "agent"),  # a group says more than the default
        ({"others"}, "reporting", "reporting"),
        ({"others"}, None, None),
        ({"Desk"}, None, None),
    ],
)
def test_role(groups: set[str], default: Role | None, role: Role | None) -> None:
    assert role == role_of(frozenset(groups), group_roles=ROLES, default=default)
