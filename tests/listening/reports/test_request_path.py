"""The length of a report's path: a request calls functions of few files of this package."""

from typing import Any

import pytest

from tests.listening.reports.conftest import CSAT, NPS, House
from tests.request_path import REPORT_FILES_MAX, crossing

PARAMETERS: dict[str, dict[str, Any]] = {
    "nps": {},
    "csat": {},
    "ces": {},
    "distribution": {"question_id": NPS},
    "funnel": {},
    "sending": {"by": "channel"},
    "trend": {"metric": "nps"},
    "by_metadata": {"metric": "nps", "metadata": "questionnaire_metadata:store_id"},
    "drivers": {"outcome_question_id": NPS, "question_ids": [CSAT]},
    "comments": {"metadata": "band"},
}


@pytest.fixture(autouse=True)
def token(house: House) -> None:
    house.http.headers["Authorization"] = f"Bearer {house.token}"


async def test_template(house: House) -> None:
    for template, parameters in PARAMETERS.items():
        params = {"questionnaire_id": house.questionnaire_id, **parameters}
        path = f"/v3.2/report/template/{template}"
        response = await crossing(
            "listening/reports", house.http, "GET", path, params=params, files_max=REPORT_FILES_MAX
        )
        assert template == response.json()["template_id"]


async def test_saved_report(house: House) -> None:
    spec = {"questionnaire_ids": [house.questionnaire_id], "metrics": [{"metric": "nps"}]}
    report = {"title": "Ours", "spec": spec}
    created = await crossing("listening/reports", house.http, "POST", "/v3.2/report/custom", json=report, status=201)
    path = f"/v3.2/report/custom/{created.json()['report_id']}/run"
    await crossing("listening/reports", house.http, "GET", path, files_max=REPORT_FILES_MAX)
