"""The call-back form is not shown in a kiosk, nor after the time to answer."""

from afterword.asking.instances import answers, call_backs
from afterword.asking.instances.answer_page import Placement, answer_page_of
from afterword.kit import db
from tests.asking.questionnaires.http import Api
from tests.cases.call_backs.test_pages import ended, questionnaire


async def test_offered(api: Api) -> None:
    page = await ended(api, await questionnaire(api))
    kiosk = Placement(kind="kiosk", path="/l/x/kiosk")
    async with db.transaction(api.pool) as database:
        for placement, days, is_offered in ((None, 0, True), (kiosk, 0, False), (None, 30, False)):
            await database.execute(
                """update questionnaire_instance set valid_days = 10,
                     created_time = created_time - $2 * interval '1 day' where instance_id = $1""",
                *(page[3:], days),
            )
            shown = answer_page_of(await answers.read_context(database, instance_id=page[3:])).placed(placement)
            now = database.clock.now()
            found = await call_backs.offered(database, answer_page=shown, secret=b"secret", now=now)
            assert is_offered == (found is not None and bool(found.windows))
