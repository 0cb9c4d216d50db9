"""A token with another application of ours reads nothing of the first one, by any operation that names a thing."""

from collections.abc import AsyncIterator, Mapping
from typing import Final

import pytest
import pytest_asyncio

from afterword import db
from afterword.core.organizations.access import SCOPES
from afterword.organizations import service as accounts
from afterword.web.operations import Route
from tests.contract.findings import NOT_FOUND, Findings
from tests.contract.world import World, name_of, routes_where

OPEN: Final[Mapping[str, str]] = {
    "GET /organization/{organization_id}": "the organization that it belongs to",
    "GET /user/{user_id}": "people of the organization",
    "GET /q/metadata/questionnaire/{metadata_id}": "declared for the organization",
    "GET /q/metadata/responder/{metadata_id}": "declared for the organization",
    "GET /q/organization/{organization_id}/instance": "a list, which has nothing for it",
    "GET /alert/status/{status_id}": "of the organization",
}
pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def confined(world: World) -> AsyncIterator[str]:
    """With all scopes, for an application that has nothing."""
    async with db.transaction(world.pool) as database:
        organization_id, now = world.ours.house.organization_id, database.clock.now()
        application = await accounts.create_application(
            database, organization_id=organization_id, display_name="Empty", now=now
        )
        token, text = await accounts.create_token(
            database,
            organization_id=organization_id,
            title="Confined",
            scopes=SCOPES,
            kind="organization",
            user_id=None,
            application_ids=[application.application_id],
            now=now,
        )
    yield text
    async with db.transaction(world.pool) as database:
        await database.execute("delete from token where token_id = $1", token.token_id)
        await database.execute("delete from application where application_id = $1", application.application_id)


@routes_where(lambda route: route.method == "GET" and route.parameters)
async def test_reading(world: World, confined: str, route: Route) -> None:
    findings = Findings(world, route)
    reply = await world.ask("GET", world.ours.path(route), token=confined)
    if name_of(route) in OPEN:
        assert 200 == reply.status
        assert world.ours.ids["instance_id"] not in reply.body.decode()
        return
    # The template of a report has its questionnaire in the query.
    refusals = [(422, "invalid")] if route.path.startswith("/report/template/") else [NOT_FOUND, (403, "forbidden")]
    await findings.expect("confined", reply, *refusals)
    findings.report()
