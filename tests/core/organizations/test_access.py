"""Scopes: near misses open nothing, and each role holds what the design says."""

import pytest

from afterword.core.organizations.access import ENTITIES, ROLE_SCOPES, SCOPES, Caller, InsufficientScope, alias_of
from tests.near_misses import near_misses


def caller(*scopes: str) -> Caller:
    return Caller("o" * 22, "t" * 22, None, frozenset(scopes), (), "demo", "UTC", "en")


def test_only_the_exact_scope_passes() -> None:
    for scope in SCOPES:
        for scopes in {()} | near_misses(scope) | {(other,) for other in SCOPES - {scope}} | {tuple(SCOPES - {scope})}:
            with pytest.raises(InsufficientScope):
                caller(*scopes).require(scope)
        caller(scope).require(scope)
        caller(*SCOPES).require(scope)


def test_the_refusal_names_the_scope() -> None:
    with pytest.raises(InsufficientScope) as refusal:
        caller().require("Questionnaire Instance.Update")
    assert (403, "insufficient_scope") == (refusal.value.status, refusal.value.code)
    assert ["Questionnaire Instance.Update"] == refusal.value.required_scopes
    assert "Questionnaire Instance.Update" in refusal.value.detail
    challenge = 'Bearer error="insufficient_scope", scope="questionnaire_instance.update"'
    assert {"WWW-Authenticate": challenge} == refusal.value.headers


def test_aliases_are_unique() -> None:
    assert len(SCOPES) == len({alias_of(scope) for scope in SCOPES}) == 4 * len(ENTITIES)


def test_roles() -> None:
    assert ROLE_SCOPES.keys() == {"owner", "admin", "reporting", "agent"}
    assert all(scopes <= SCOPES for scopes in ROLE_SCOPES.values())
    assert SCOPES == ROLE_SCOPES["owner"]
    assert {"Organization.Delete", "Plan.Create", "Plan.Update", "Plan.Delete"} == SCOPES - ROLE_SCOPES["admin"]
    assert ROLE_SCOPES["agent"] < ROLE_SCOPES["reporting"] < ROLE_SCOPES["admin"]


def test_reporting() -> None:
    scopes = ROLE_SCOPES["reporting"]
    kept_back = {"Token.Read", "Webhook.Read", "Suppression.Read", "Audit.Read", "Provider.Read", "Inbound.Read",
                 "Coupon Pool.Read", "Source.Read"}  # fmt: skip
    assert kept_back == {s for s in SCOPES if s.endswith(".Read")} - scopes
    assert {
        "Report.Create", "Report.Update", "Report.Delete", "Questionnaire Visual.Create", "Questionnaire Visual.Update",
        "Questionnaire Visual.Delete",
        "Asset.Create", "Asset.Update", "Asset.Delete",
        "Questionnaire Export.Create", "Alert.Create", "Alert Instance.Update",
        "Tag.Create", "Tag.Delete", "Notification.Update",
    } == {scope for scope in scopes if not scope.endswith(".Read")}  # fmt: skip


def test_agent() -> None:
    scopes = ROLE_SCOPES["agent"]
    assert 17 == sum(scope.endswith(".Read") for scope in scopes)
    assert {"Alert Instance.Update", "Tag.Create", "Tag.Delete", "Notification.Update"} == {
        scope for scope in scopes if not scope.endswith(".Read")
    }
    assert "Report.Read" not in scopes
    assert "Queue.Create" not in scopes
