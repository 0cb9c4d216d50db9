"""Reports of anonymous questionnaires: an invitation and its response, which nobody can join, count as one case."""

from typing import Any

import httpx2
import pytest

from afterword.kit import db
from tests.asking.instances.anonymity.test_service import Survey
from tests.asking.instances.anonymity.test_service import survey as survey  # noqa: PLC0414  a fixture
from tests.asking.questionnaires.conftest import api as api  # noqa: PLC0414  a fixture

ANSWERED, SENT = 5, 8


async def figures(survey: Survey, template_id: str, **parameters: str) -> dict[str, Any]:
    given = {"questionnaire_id": survey.questionnaire_id, **parameters}
    found = await survey.api.get(f"/report/template/{template_id}?{httpx2.QueryParams(given)}")
    assert 200 == found.status_code, found.text
    rows = [{each["metric"]: each for each in row["figures"]} for row in found.json()["rows"]]
    return max(rows, key=lambda row: row["sent"]["value"])  # beside the responses, which no channel brought


async def listed(survey: Survey, *stages: str) -> int:
    given = {"questionnaire_id[]": survey.questionnaire_id, "stage[]": stages}
    found = await survey.api.get(f"/report/invitation?{httpx2.QueryParams(given)}")
    assert 200 == found.status_code, found.text
    return len(found.json()["results"])


@pytest.fixture
async def answered(survey: Survey, pool: db.Pool) -> Survey:
    """Eight mails were sent and delivered, and five of them answered."""
    await survey.answer(ANSWERED)
    for number in range(ANSWERED, SENT):
        await survey.invite(number)
    async with db.transaction(pool) as database:
        await database.execute("update organization set minimum_base = 1")
        await database.execute(
            """update questionnaire_instance set channel_id = 1, sent_time = created_time, delivered_time = created_time
               where anonymity = 'invitation'"""
        )
    return survey


async def test_funnel(answered: Survey) -> None:
    found = await figures(answered, "funnel")
    stages = {"created": 8, "sent": 8, "delivered": 8, "viewed": 5, "started": 5, "submitted": 5, "completed": 5}
    assert stages == {name: found[name]["value"] for name in stages}
    assert [8, 8, 5, 5] == [await listed(answered, *each) for each in ((), ("sent",), ("started",), ("completed",))]


@pytest.mark.parametrize("parameters", [{}, {"by": "channel"}])
async def test_rates(answered: Survey, parameters: dict[str, str]) -> None:
    found = await figures(answered, "sending", **parameters)
    assert (62.5, 8) == (found["response"]["value"], found["response"]["n"]), found
    assert 5 == await listed(answered, "sent", "submitted")
