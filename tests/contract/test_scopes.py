"""An operation opens to its exact scope, to no other and to nothing that looks like it."""

from collections.abc import AsyncIterator
from typing import Final

import pytest
import pytest_asyncio

from afterword.core.organizations.access import ROLE_SCOPES, SCOPES, alias_of
from afterword.kit import db
from afterword.kit.web.operations import Route
from tests.contract.findings import Findings
from tests.contract.kinds import each_kind
from tests.contract.wire import Reply
from tests.contract.world import ABSENT, ROUTES, World, name_of
from tests.near_misses import near_misses
from tests.sizes import share_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

INSUFFICIENT: Final = (403, "insufficient_scope")
SPECIFIED: Final = {
    "POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item": "Queue.Create",
    "PATCH /q/instance/{instance_id}": "Questionnaire Instance.Update",
}
ACTIONS: Final = {"GET": "Read", "POST": "Create", "PATCH": "Update", "PUT": "Update", "DELETE": "Delete"}
OTHERWISE: Final = {  # where the table of operations says so
    "DELETE /organization/{organization_id}/domain": "Organization.Update",
    "POST /organization/{organization_id}/domain/check": "Organization.Update",
    "DELETE /organization/{organization_id}/identity": "Organization.Update",
    "POST /organization/{organization_id}/identity/check": "Organization.Update",
    "POST /organization/{organization_id}/retention/hold": "Organization.Update",
    "DELETE /organization/{organization_id}/retention/hold/{hold_id}": "Organization.Update",
    "POST /organization/{organization_id}/retention/preview": "Organization.Read",
    "PATCH /export/schedule/{schedule_id}": "Questionnaire Export.Create",
    "POST /alert/mailbox/check": "Alert.Update",
    "POST /coupon/pool/{pool_id}/code": "Coupon Pool.Update",
    "DELETE /coupon/pool/{pool_id}/code": "Coupon Pool.Update",
    "DELETE /q/questionnaire/{questionnaire_id}/draft": "Questionnaire.Update",
    "POST /q/questionnaire/{questionnaire_id}/draft/from/{version_id}": "Questionnaire.Update",
    "POST /q/questionnaire/{questionnaire_id}/draft/preview": "Questionnaire.Read",
    "POST /q/questionnaire/{questionnaire_id}/draft/translations/file": "Questionnaire.Update",
    "POST /q/questionnaire/validation": "Questionnaire.Read",
    "POST /q/questionnaire/{questionnaire_id}/condition/test": "Questionnaire Instance.Read",
    "POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/test": "Pipeline.Update",
    "POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/trial": "Pipeline.Update",
    "POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/preview": "Pipeline.Read",
    "POST /q/response/search": "Questionnaire Instance.Read",
    "POST /q/response/doubtful/judgement": "Questionnaire Instance.Update",
    "POST /q/response/view": "Questionnaire Instance.Read",
    "DELETE /q/response/view/{view_id}": "Questionnaire Instance.Read",
    "DELETE /q/response/tag/{tagging_id}": "Tag.Create",
    "POST /q/queue/batch": "Queue.Update",
    "POST /q/queue/clock": "Queue.Update",
    "DELETE /q/queue/clock": "Queue.Update",
    "POST /report/run": "Report.Read",
    "POST /report/digest": "Report.Read",
    "POST /report/digest/{digest_id}/mail": "Report.Read",
    "DELETE /report/digest/{digest_id}": "Report.Read",
    "POST /report/custom/{report_id}/share": "Report.Update",
    "DELETE /report/custom/{report_id}/share/{share_id}": "Report.Update",
    "POST /alert/instance/{alert_instance_id}/message": "Alert Instance.Update",
    "POST /alert/instance/{alert_instance_id}/recovery": "Alert Instance.Update",
    "POST /q/queue/batch/{batch_id}/resumption": "Queue.Update",
    "POST /alert/instance/{alert_instance_id}/comment": "Alert Instance.Update",
    "DELETE /alert/instance/{alert_instance_id}/comment/{comment_id}": "Alert Instance.Update",
    "POST /q/responder/{responder_id}/erasure": "Responder.Delete",
    "POST /chat/{chat_id}/test": "Webhook.Update",
    "POST /webhook/{webhook_id}/secret": "Webhook.Update",
    "POST /provider/{account_id}/pause": "Provider.Update",
    "POST /provider/{account_id}/test": "Provider.Update",
    "DELETE /provider/{account_id}/pause": "Provider.Update",
    "POST /webhook/{webhook_id}/redelivery": "Webhook.Update",
    "POST /webhook/{webhook_id}/delivery/{delivery_id}/redelivery": "Webhook.Update",
}  # fmt: skip
tokens: dict[tuple[str, ...], str] = {}


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def no_tokens_left(world: World) -> AsyncIterator[None]:
    """The lists of other tests stay short."""
    yield
    async with db.transaction(world.pool) as database:
        selectors = [token.split("_")[1] for token in tokens.values()]
        await database.execute("delete from token where selector = any($1::text[])", selectors)
    tokens.clear()


async def token_with(world: World, *scopes: str) -> str:
    """A token that holds exactly these texts, though some are no scopes: as if somebody had written them by hand."""
    if scopes not in tokens:
        tokens[scopes] = await world.token_for(["Plan.Read"])
        selector = tokens[scopes].split("_")[1]
        async with db.transaction(world.pool) as database:
            await database.execute("update token set scopes = $2 where selector = $1", selector, list(scopes))
    return tokens[scopes]


async def ask(world: World, route: Route, token: str) -> Reply:
    """Ask for what is not there: past the scope it is 404 or 422, and nothing changes."""
    return await world.ask(route.method, world.ours.path(route, **dict.fromkeys(route.parameters, ABSENT)), token=token)


class TestTable:
    async def test_every_operation_needs_a_scope_that_exists(self) -> None:
        assert [] == [name_of(route) for route in ROUTES if {route.scope, *route.more_scopes} - SCOPES]

    async def test_specified_ones(self) -> None:
        """Scopes of the routes are those of the specification."""
        assert SPECIFIED == {name_of(route): route.scope for route in ROUTES if name_of(route) in SPECIFIED}

    async def test_action_follows_the_method(self) -> None:
        odd = {
            name_of(route): route.scope
            for route in ROUTES
            if not str(route.scope).endswith(f".{ACTIONS[route.method]}")
        }
        assert {} == {name: scope for name, scope in odd.items() if OTHERWISE.get(name) != scope}


def needed_by(route: Route) -> tuple[str, ...]:
    return str(route.scope), *route.more_scopes


OF_EACH_NEED: Final = {needed_by(route): route for route in ROUTES}  # of many with the same scopes one


async def test_exact_scope(world: World) -> None:
    """It opens, alone, and with others, wherever it stands."""
    for route in ROUTES:
        needed = needed_by(route)
        with_others = ("Tag.Delete", *reversed(needed), "Plan.Read")
        for scopes in (needed, *([with_others] if OF_EACH_NEED[needed] is route else ())):
            reply = await ask(world, route, await token_with(world, *scopes))
            assert reply.status in {200, 201, 204, 404, 422}, (name_of(route), reply)


async def test_all_scopes_but_the_one(world: World) -> None:
    """The refusal names what is missing, for people, for programs and for OAuth."""
    for route in ROUTES:
        findings = Findings(world, route)
        for missing in needed_by(route):
            reply = await ask(world, route, await token_with(world, *sorted(SCOPES - {missing})))
            await findings.expect(f"{name_of(route)} {missing}", reply, INSUFFICIENT)
            assert [missing] == reply.document["required_scopes"], name_of(route)
            assert missing in reply.document["message"]
            challenge = f'Bearer error="insufficient_scope", scope="{alias_of(missing)}"'
            assert challenge == reply.headers["www-authenticate"]
        findings.report()


@each_kind
async def test_nothing_like_it(world: World, route: Route) -> None:
    """No scope includes another: not Update Read, not an entity its children.

    A tenth of them: tests/core/organizations/test_access.py tries all of them on the function that decides.
    """
    assert route.scope is not None
    findings = Findings(world, route)
    others = {(scope,) for scope in SCOPES - {route.scope}}
    for scopes in share_of(sorted(others | near_misses(route.scope)), 0.1):
        assert route.scope not in scopes
        await findings.expect(repr(scopes), await ask(world, route, await token_with(world, *scopes)), INSUFFICIENT)
    findings.report()


@pytest.mark.parametrize("role", ROLE_SCOPES)
async def test_roles(world: World, role: str) -> None:
    """A person's token has its scopes as far as the person's role goes."""
    token = await world.token_of(role)
    for needed, route in OF_EACH_NEED.items():
        reply = await ask(world, route, token)
        is_open = {*needed} <= ROLE_SCOPES[role]
        assert is_open is (reply.status != 403), (name_of(route), reply)
        assert is_open or INSUFFICIENT == (reply.status, reply.code)
