"""The call-back form is not shown in a kiosk, nor after the time to answer."""

import pytest

from afterword.asking.instances import answers, call_backs
from afterword.asking.instances.answer_page import Placement, answer_page_of
from afterword.kit import db
from tests.asking.questionnaires.http import Api
from tests.cases.call_backs.test_pages import ended, questionnaire


@pytest.mark.parametrize(("kind", "days", "is_offered"), [(None, 0, True), ("kiosk", 0, False), (None, 30, False)])
async def test_offered(api: Api, kind: str | None, days: int, is_offered: bool) -> None:  # noqa: FBT001
    page = await ended(api, await questionnaire(api))
    async with db.transaction(api.pool) as database:
        await database.execute(
            """update questionnaire_instance set valid_days = 10, created_time = created_time - $2 * interval '1 day'
               where instance_id = $1""",
            *(page[3:], days),
        )
        context = await answers.read_context(database, instance_id=page[3:])
        placement = Placement(kind="kiosk", path="/l/x/kiosk") if kind else None
        found = await call_backs.offered(
            database,
            answer_page=answer_page_of(context).placed(placement),
            secret=b"secret",
            now=database.clock.now(),
        )
    assert is_offered == (found is not None and bool(found.windows))
