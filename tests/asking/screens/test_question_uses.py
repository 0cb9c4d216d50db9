"""The form of a question names the alerts, reports and jumps that use it."""

from afterword.asking.screens.questionnaires import PATH
from afterword.kit import db
from tests.asking.screens.test_builder import text_of
from tests.cases.conftest import (
    Desk,
    desk as desk,  # noqa: PLC0414  a fixture
)
from tests.cases.screens.conftest import office as office  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import Browser


async def test_sentences(office: Desk, browser: Browser) -> None:
    async with db.connection(office.pool) as database:
        questionnaire_id = await database.fetch_value(
            """select questionnaire_id from questionnaire_version
               where definition::text like '%' || $1 || '%' limit 1""",
            office.score_id,
        )
    path = f"{PATH}/{questionnaire_id}/edit/{office.score_id}"
    assert "The alert “Unhappy <b>” uses it." in text_of(await browser.get(path))
    assert "Der Alarm „Unhappy <b>“" in text_of(await browser.get(path, headers={"Accept-Language": "de"}))
