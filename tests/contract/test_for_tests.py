"""A token for tests sees and changes nothing of real people, by any operation."""

from typing import Final

import pytest
import pytest_asyncio

from afterword.core.organizations.access import SCOPES
from tests.contract.findings import NOT_FOUND, Findings, good_body
from tests.contract.test_confined import CHANGES, FORBIDDEN
from tests.contract.world import ADDRESS, ROUTES, World, name_of

# The ids of settings, which such tokens see. All others are those of people and of what they did.
SETTINGS: Final = {
    "organization_id", "application_id", "owner_application_id", "user_id", "assigned_user_id", "escalation_user_id",
    "token_id", "plan_id", "library_name", "asset_id", "questionnaire_id", "template_questionnaire_id",
    "from_questionnaire_id", "version_id", "compared_id", "group_id", "question_id", "key_question_id", "ending_id",
    "visual_id", "pipeline_id", "template_pipeline_id", "sequence_id", "metadata_id", "responder_metadata_id",
    "link_id", "link_key", "pool_id", "pool_key", "account_id", "inbound_id", "alert_id", "status_id", "template_id",
    "report_id", "share_id", "permission", "theme_id",
    "chat_id",
    "view_id", "digest_id",  # the user's own
}  # fmt: skip
# Settings that such tokens change, what is their user's own, and what makes or reads tests. All others are refused.
OPEN: Final = frozenset(
    line.strip()
    for line in """
    POST /application
    PATCH /application/{application_id}
    PATCH /organization/{organization_id}
    PATCH /organization/{organization_id}/billing
    POST /user
    PATCH /user/{user_id}
    POST /token
    POST /q/questionnaire
    POST /q/questionnaire/import
    PATCH /q/questionnaire/{questionnaire_id}
    PUT /q/questionnaire/{questionnaire_id}/draft
    POST /q/questionnaire/{questionnaire_id}/draft/from/{version_id}
    POST /q/questionnaire/validation
    PUT /q/questionnaire/{questionnaire_id}/draft/translations
    POST /q/questionnaire/{questionnaire_id}/draft/translations/file
    POST /q/questionnaire/{questionnaire_id}/version
    POST /q/questionnaire/{questionnaire_id}/visual
    PATCH /q/questionnaire/{questionnaire_id}/visual/{visual_id}
    POST /asset
    POST /q/metadata/questionnaire
    PATCH /q/metadata/questionnaire/{metadata_id}
    POST /q/metadata/responder
    PATCH /q/metadata/responder/{metadata_id}
    POST /q/questionnaire/{questionnaire_id}/instance
    POST /q/questionnaire/{questionnaire_id}/condition/test
    POST /q/questionnaire/{questionnaire_id}/link
    PATCH /q/link/{link_id}
    POST /q/questionnaire/{questionnaire_id}/draft/preview
    POST /q/response/search
    POST /q/response/doubtful/judgement
    POST /q/response/tag
    POST /q/response/view
    POST /q/response/theme
    PATCH /q/response/theme/{theme_id}
    POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item
    POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item/batch
    POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/import
    POST /q/sequence
    PATCH /q/sequence/{sequence_id}
    POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item/simulate
    POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/trial
    PUT /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/reference/{external_reference}
    POST /q/queue/batch
    POST /q/queue/clock
    POST /q/questionnaire/{questionnaire_id}/pipeline
    PATCH /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}
    POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/test
    POST /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/preview
    POST /alert/preview
    POST /alert
    PATCH /alert/{alert_id}
    POST /alert/status
    PATCH /alert/status/{status_id}
    PUT /notification/subscription
    POST /report/custom
    PATCH /report/custom/{report_id}
    POST /report/run
    POST /q/questionnaire/{questionnaire_id}/export
    POST /q/response/export
    POST /webhook
    POST /source
    DELETE /application/{application_id}
    DELETE /user/{user_id}
    DELETE /token/{token_id}
    DELETE /q/questionnaire/{questionnaire_id}
    DELETE /q/questionnaire/{questionnaire_id}/draft
    DELETE /q/questionnaire/{questionnaire_id}/visual/{visual_id}
    DELETE /asset/{asset_id}
    DELETE /q/metadata/questionnaire/{metadata_id}
    DELETE /q/metadata/responder/{metadata_id}
    DELETE /q/link/{link_id}
    DELETE /q/response/view/{view_id}
    DELETE /q/response/theme/{theme_id}
    DELETE /q/sequence/{sequence_id}
    DELETE /q/queue/clock
    DELETE /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}
    DELETE /alert/{alert_id}
    DELETE /alert/status/{status_id}
    DELETE /report/custom/{report_id}
    DELETE /report/digest/{digest_id}
    """.strip().splitlines()
)
pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def token(world: World) -> str:
    """All scopes of the owner, for tests."""
    return await world.token_for(SCOPES, user_id=world.ours.house.user_id, test=True)


async def test_reading(world: World, token: str) -> None:
    findings = Findings(world)
    hidden = {name: value for name, value in world.ours.ids.items() if name not in SETTINGS}
    for route in ROUTES:
        if route.method == "GET":
            target = world.ours.path(route)
            reply = await world.ask("GET", target, token=token, **good_body(world, route))
            findings.count += 1
            if reply.status == 200:
                text = reply.body.decode(errors="replace")
                shown = [name for name, value in hidden.items() if f'"{value}"' in text or value in target]
                findings.found += [f"{name_of(route)} shows {name}" for name in shown + [ADDRESS] * (ADDRESS in text)]
    findings.report()


async def test_writing(world: World, token: str) -> None:
    before, findings = await world.digests_of(world.ours), Findings(world)
    for route in ROUTES:
        if route.method != "GET" and name_of(route) not in OPEN:
            body = {"document": CHANGES[name_of(route)]} if name_of(route) in CHANGES else good_body(world, route)
            reply = await world.ask(route.method, world.ours.path(route), token=token, **body)
            await findings.expect(name_of(route), reply, NOT_FOUND, FORBIDDEN)
    findings.report()
    assert before == await world.digests_of(world.ours)
