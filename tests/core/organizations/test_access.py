"""Scopes: near misses open nothing, and each role holds what the design says."""

import pytest

from afterword.core.organizations.access import ENTITIES, ROLE_SCOPES, SCOPES, Caller, InsufficientScope, alias_of


def caller(*scopes: str) -> Caller:
    return Caller("o" * 22, "t" * 22, None, frozenset(scopes), (), "demo", "UTC", "en")


NEAR_MISSES = [
    (),
    ("",),
    ("queue.create",),
    ("QUEUE.CREATE",),
    ("Queue.create",),
    ("Queue.Create ",),
    (" Queue.Create",),
    ("Queue. Create",),
    ("Queue.Create2",),
    ("Queue.Creat",),
    ("Queue",),
    ("Queue.",),
    ("Queue.*",),
    ("*",),
    (".Create",),
    ("Queue.Read", "Queue.Update", "Queue.Delete"),
    ("Queue.Create,Queue.Read",),
    ("Queue.Create Queue.Read",),
    ("Queue\u00a0.Create",),
    ("\uff31ueue.Create",),
]


@pytest.mark.parametrize("scopes", NEAR_MISSES)
def test_near_miss(scopes: tuple[str, ...]) -> None:
    with pytest.raises(InsufficientScope) as refusal:
        caller(*scopes).require("Queue.Create")
    assert 403 == refusal.value.status
    assert "insufficient_scope" == refusal.value.code
    assert ["Queue.Create"] == refusal.value.required_scopes
    assert "Queue.Create" in refusal.value.detail
    assert {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="queue.create"'} == refusal.value.headers


@pytest.mark.parametrize(
    "scopes",
    [
        ("Questionnaire", "Instance.Update"),
        ("Questionnaire Instance", "Update"),
        ("Questionnaire  Instance.Update",),
        ("Questionnaire\u00a0Instance.Update",),
        ("Questionnaire_Instance.Update",),
        ("questionnaire_instance.update",),
        ("Questionnaire.Update",),
        ("Instance.Update",),
        ("Questionnaire Instance.Update ",),
    ],
)
def test_near_miss_of_a_scope_with_a_space(scopes: tuple[str, ...]) -> None:
    with pytest.raises(InsufficientScope) as refusal:
        caller(*scopes).require("Questionnaire Instance.Update")
    assert 'scope="questionnaire_instance.update"' in refusal.value.headers["WWW-Authenticate"]


def test_only_the_exact_scope_passes() -> None:
    for scope in SCOPES:
        caller(scope).require(scope)
        with pytest.raises(InsufficientScope):
            caller(*(SCOPES - {scope})).require(scope)


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
    assert {"Token.Read", "Webhook.Read", "Suppression.Read"} == {s for s in SCOPES if s.endswith(".Read")} - scopes
    assert {
        "Report.Create", "Report.Update", "Report.Delete", "Questionnaire Visual.Create", "Questionnaire Visual.Update",
        "Questionnaire Visual.Delete", "Questionnaire Export.Create", "Alert.Create", "Alert Instance.Update",
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
