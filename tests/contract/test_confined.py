"""A token with another application of ours reads and writes nothing of the first one, whatever names it."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

import pytest
import pytest_asyncio

from afterword.asking.questionnaires import library, service as questionnaires
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.kit.web.operations import Route
from afterword.sending.pipelines import service as pipelines
from afterword.tenants.organizations import service as accounts
from tests.contract.findings import NOT_FOUND, Findings, good_body
from tests.contract.test_foreign_members import BODIES, Place, planted, theirs_at
from tests.contract.world import ROUTES, Tenant, World, name_of, routes_where

OPEN: Final[Mapping[str, str]] = {
    "GET /organization/{organization_id}": "the organization that it belongs to",
    "GET /organization/{organization_id}/domain": "the organization that it belongs to",
    "GET /organization/{organization_id}/identity": "the organization that it belongs to",
    "GET /organization/{organization_id}/login": "the organization that it belongs to",
    "GET /organization/{organization_id}/retention": "the organization that it belongs to",
    "GET /user/{user_id}": "people of the organization",
    "GET /q/metadata/questionnaire/{metadata_id}": "declared for the organization",
    "GET /q/metadata/responder/{metadata_id}": "declared for the organization",
    "GET /q/organization/{organization_id}/instance": "a list, which has nothing for it",
    "GET /alert/status/{status_id}": "the organization",
    "GET /q/response/theme/{theme_id}": "the organization",
    "GET /asset/{asset_id}": "pictures of the organization",
    "POST /asset": "pictures of the organization",
    "GET /library/{library_name}": "the product's",
    "POST /token": "reaches what its maker reaches",
    "POST /q/questionnaire/validation": "stores nothing",
    "POST /q/questionnaire/import": "makes one in its own application",
    "PUT /notification/subscription": "the user's own",
    "POST /q/response/view": "the user's own",
    "POST /report/digest": "the user's own",
    "POST /q/response/search": "finds nothing for it",
    "POST /q/response/tag": "finds nothing for it",
    "POST /q/response/export": "finds nothing for it",
    "POST /q/queue/batch": "finds nothing for it",
}
CHANGES: Final[Mapping[str, Mapping[str, object]]] = {
    "PATCH /organization/{organization_id}": {"display_name": "Other"},
    "PATCH /organization/{organization_id}/billing": {"name": "Other"},
    "PATCH /organization/{organization_id}/retention": {"texts_days": 8},  # test_versions stores another
    "PATCH /user/{user_id}": {"first_name": "Other"},
}  # without one nothing is written, and nothing to be refused
OWN: Final = {"application_id", "questionnaire_id", "pipeline_id"}  # that the token's application has
SHARED: Final = {
    "escalation_user_id",
    "recovery_questionnaire_id",
    "status_id",
    "assigned_user_id",
    "account_id",
    "user_ids",
    "subscriber_user_ids",
    "chat_ids",
    "chat_id",
}  # of the organization
# Things of the whole organization, which its lists may name too.
OF_ALL: Final = {
    "organization_id", "user_id", "assigned_user_id", "escalation_user_id", "plan_id", "library_name", "asset_id",
    "metadata_id", "responder_metadata_id", "pool_id", "pool_key", "status_id", "template_id", "theme_id",
    "chat_id",
}  # fmt: skip
FORBIDDEN: Final = (403, "forbidden")
INVALID: Final = (422, "invalid")
pytestmark = pytest.mark.asyncio(loop_scope="session")


def is_of_an_application(route: Route, place: Place) -> bool:
    """Whether an operation that one's own application is enough for names something that an application has there."""
    return set(route.parameters) <= OWN and not SHARED.intersection(place)


NAMED: Final = [case for case in BODIES if is_of_an_application(*cast("tuple[Route, Place]", case.values))]


@dataclass(frozen=True)
class Confined:
    """A token with all scopes of an admin of one application of ours, and what that application has."""

    token: str
    own: Tenant
    ids: Mapping[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def confined(world: World) -> AsyncIterator[Confined]:
    async with db.transaction(world.pool) as database:
        organization_id, now = world.ours.house.organization_id, database.clock.now()
        application = await accounts.create_application(
            database, organization_id=organization_id, display_name="Other", now=now
        )
        imported = await questionnaires.import_file(
            database,
            organization_id=organization_id,
            application_id=application.application_id,
            text=library.text("relationship"),
            slug="confined",
            now=now,
        )
        questionnaire_id = imported.questionnaire.questionnaire_id
        pipeline = await pipelines.create_pipeline(
            database,
            organization_id=organization_id,
            now=now,
            questionnaire_id=questionnaire_id,
            channel_id=1,
            title="Confined",
        )
        user = await accounts.create_user(
            database,
            organization_id=organization_id,
            email="confined@demo.test",
            role="admin",
            application_ids=[application.application_id],
            now=now,
        )
        _, text = await accounts.create_token(
            database,
            organization_id=organization_id,
            title="Confined",
            scopes=SCOPES,
            kind="user",
            user_id=user.user_id,
            application_ids=[application.application_id],
            now=now,
        )
    ids = {
        "application_id": application.application_id,
        "owner_application_id": application.application_id,
        "questionnaire_id": questionnaire_id,
        "pipeline_id": pipeline.pipeline_id,
    }
    yield Confined(text, replace(world.ours, ids={**world.ours.ids, **ids}), ids)
    async with db.transaction(world.pool) as database:
        await database.execute("delete from token where application_ids = $1", [application.application_id])
        await database.execute("delete from organization_user where user_id = $1", user.user_id)
        await database.execute("delete from pipeline where questionnaire_id = $1", questionnaire_id)
        await database.execute(
            "update questionnaire set published_version_id = null where questionnaire_id = $1", questionnaire_id
        )
        await database.execute("delete from questionnaire_version where questionnaire_id = $1", questionnaire_id)
        await database.execute("delete from questionnaire where questionnaire_id = $1", questionnaire_id)
        await database.execute("delete from application where application_id = $1", application.application_id)


@routes_where(lambda route: route.method == "GET" and route.parameters)
async def test_reading(world: World, confined: Confined, route: Route) -> None:
    findings = Findings(world, route)
    reply = await world.ask("GET", world.ours.path(route), token=confined.token)
    if name_of(route) in OPEN:
        assert 200 == reply.status
        assert world.ours.ids["instance_id"] not in reply.body.decode()
        return
    # The template of a report has its questionnaire in the query.
    refusals = [INVALID] if route.path.startswith("/report/template/") else [NOT_FOUND, FORBIDDEN]
    await findings.expect("confined", reply, *refusals)
    findings.report()


async def test_lists(world: World, confined: Confined) -> None:
    """Nothing that is read without an id names anything of the first application."""
    for route in ROUTES:
        if route.method == "GET" and not route.parameters:
            reply = await world.ask("GET", world.ours.path(route), token=confined.token, **good_body(world, route))
            assert reply.status in {200, 403, 422}, name_of(route)
            shown = {name for name, value in world.ours.ids.items() if f'"{value}"' in reply.body.decode()}
            assert shown - OF_ALL == set() or reply.status != 200, name_of(route)


async def test_writing(world: World, confined: Confined) -> None:
    """Every operation that writes, by its path and with a good body: refused, and nothing of ours is another."""
    before, findings = await world.digests_of(world.ours), Findings(world)
    for route in ROUTES:
        if route.method == "GET" or name_of(route) in OPEN:
            continue
        body = {"document": CHANGES[name_of(route)]} if name_of(route) in CHANGES else good_body(world, route)
        reply = await world.ask(route.method, world.ours.path(route), token=confined.token, **body)
        refusals = [NOT_FOUND, FORBIDDEN] if route.parameters else [NOT_FOUND, FORBIDDEN, INVALID]
        await findings.expect(name_of(route), reply, *refusals)
    findings.report()
    assert before == await world.digests_of(world.ours)


@pytest.mark.parametrize(("route", "place"), NAMED)
async def test_naming_in_bodies(world: World, confined: Confined, route: Route, place: Place) -> None:
    """A thing of the first application is unknown where an operation on one's own names it."""
    assert route.body is not None
    findings = Findings(world, route)
    document = planted(route.body, place, theirs_at(place, world.ours), confined.own)
    body = [document] if route.rows_max is not None else document
    reply = await world.ask(route.method, confined.own.path(route), token=confined.token, document=body)
    await findings.expect(str(place), reply, INVALID, NOT_FOUND)
    if reply.status == INVALID[0]:
        assert ("".join(f"/{step}" for step in place), "unknown_id") in reply.wrong
    findings.report()


async def test_token_of_a_token(world: World, confined: Confined) -> None:
    document = {"title": "Child", "scopes": ["Queue.Read"]}
    reply = await world.ask("POST", "/v3.2/token", token=confined.token, document=document)
    assert (201, [confined.ids["application_id"]]) == (reply.status, reply.document["application_ids"])
