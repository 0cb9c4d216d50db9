"""Allowed queries of a report; all errors are told at once."""

import json
from datetime import datetime

import pytest

from afterword.listening.reports import counts
from tests.listening.reports.conftest import CES, CHOICE, CSAT, NPS, TEXT, House
from tests.listening.reports.test_api import ABSENT, give
from tests.making import make_application

_SECOND = ("question_ids[1]", "unknown_value")


class TestRefusals:
    async def test_without_questionnaire(self, house: House) -> None:
        response = await house.get("/report/template/nps")
        assert 422 == response.status_code
        assert [("questionnaire_id", "required")] == [(e["parameter"], e["code"]) for e in response.json()["errors"]]

    async def test_unknown_questionnaire(self, house: House) -> None:
        both = f"{house.questionnaire_id},{ABSENT}"
        assert [("questionnaire_id[1]", "unknown_id")] == await house.refused("nps", questionnaire_id=both)

    async def test_of_an_application_that_is_closed_to_the_caller(self, house: House, now: datetime) -> None:
        other_id = await make_application(house.pool, house.caller.organization_id)
        token = await house.token_for(application_ids=[other_id])
        response = await house.get("/report/template/nps", questionnaire_id=house.questionnaire_id, token=token)
        assert (422, "unknown_id") == (response.status_code, response.json()["errors"][0]["code"])

    async def test_parameters(self, house: House) -> None:
        for template_id, parameters, expected in (
            ("nps", {"question_id": ABSENT}, ("question_id", "unknown_id")),
            ("nps", {"question_id": CSAT}, ("question_id", "unknown_value")),
            ("nps", {"level": "0.4"}, ("level", "out_of_range")),
            ("nps", {"level": "1"}, ("level", "out_of_range")),
            ("nps", {"compare": "yesterday"}, ("compare", "unknown_value")),
            ("nps", {"time_zone": "Europe/Nowhere"}, ("time_zone", "unknown_value")),
            ("nps", {"date_basis": "created"}, ("date_basis", "unknown_value")),
            ("nps", {"from_time": "2026-01-02 10:00", "to_time": "2026-01-02 10:00"}, ("to_time", "out_of_range")),
            ("nps", {"from_time": "1980-01-01T00:00:00Z"}, ("from_time", "out_of_range")),
            ("nps", {"filter": "{"}, ("filter", "invalid_format")),
            ("nps", {"filter": "[1]"}, ("filter", "wrong_type")),
            ("distribution", {}, ("question_id", "required")),
            ("distribution", {"question_id": TEXT}, ("question_id", "unknown_value")),
            ("trend", {}, ("metric", "required")),
            ("trend", {"metric": "mean"}, ("question_id", "required")),
            ("trend", {"metric": "mean", "question_id": TEXT}, ("question_id", "unknown_value")),
            ("trend", {"metric": "response", "question_id": NPS}, ("question_id", "exclusive")),
            ("trend", {"metric": "nps", "bucket": "year"}, ("bucket", "unknown_value")),
            ("by_metadata", {"metric": "nps"}, ("metadata", "required")),
            ("by_metadata", {"metric": "nps", "metadata": "locale"}, ("metadata", "unknown_value")),
            ("drivers", {}, ("outcome_question_id", "required")),
            ("drivers", {"outcome_question_id": CHOICE}, ("outcome_question_id", "unknown_value")),
            ("drivers", {"outcome_question_id": NPS, "question_ids": f"{CES},{TEXT}"}, _SECOND),
        ):  # fmt: skip
            assert [expected] == await house.refused(template_id, **parameters), parameters

    async def test_a_filter_that_names_what_is_not_there(self, house: House) -> None:
        condition = {"subject": f"question:{ABSENT}", "operator": "equal", "value": 1}
        assert [("filter", "unknown_id")] == [
            (name.partition("/")[0], code) for name, code in await house.refused("nps", filter=json.dumps(condition))
        ]

    async def test_too_much(self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
        """Says what to narrow, instead of taking the database's whole time."""
        await give(house, now, [1, 2, 3])
        monkeypatch.setattr(counts, "RESPONSES_MAX", 2)
        assert [("from_time", "out_of_range")] == await house.refused("nps")
        monkeypatch.setattr(counts, "FILTERED_MAX", 2)
        condition = json.dumps({"subject": f"question:{NPS}", "operator": "less", "value": 5})
        response = await house.get("/report/template/nps", questionnaire_id=house.questionnaire_id, filter=condition)
        assert "no filter" in response.json()["errors"][0]["message"]
        monkeypatch.setattr(counts, "CASES_MAX", 2)
        assert [("from_time", "out_of_range")] == await house.refused("funnel")
