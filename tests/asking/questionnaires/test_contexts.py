"""Contexts of reports: their questionnaires are the caller's, and their questions are those of all versions."""

import pytest

from afterword import errors
from afterword.asking.questionnaires import contexts
from afterword.core.figures import queries
from afterword.core.figures.queries import ReportQuery
from afterword.core.reading.findings import Findings
from afterword.kit import db
from tests.listening.reports.conftest import (
    NPS,
    House,
    house as house,  # noqa: PLC0414  a fixture
)


async def test_questionnaires_of_others(house: House) -> None:
    query = ReportQuery(questionnaire_ids=(house.questionnaire_id, "0" * 22))
    async with db.connection(house.pool) as database:
        with pytest.raises(errors.Invalid) as refusal:
            await contexts.load_context(
                database, caller=house.caller, query=query, findings=Findings(place=queries.in_spec)
            )
    assert ["/spec/questionnaire_ids/1"] == [one.pointer for one in refusal.value.errors]


async def test_ok(house: House) -> None:
    query = ReportQuery(questionnaire_ids=(house.questionnaire_id,))
    async with db.connection(house.pool) as database:
        found = await contexts.load_context(database, caller=house.caller, query=query, findings=Findings())
    assert NPS in found.questions
    assert "Europe/Athens" == found.time_zone
