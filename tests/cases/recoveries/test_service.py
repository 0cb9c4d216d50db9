"""Answers to recovery items: noted once, told once, corrected when the response changes."""

from afterword.cases import recoveries
from afterword.kit import db
from tests.cases.conftest import Desk
from tests.cases.conftest import desk as desk  # noqa: PLC0414  a fixture

ROW = """insert into response (organization_id, instance_id, questionnaire_id, application_id, version_id, responder_id,
    test, locale, submitted_time, score_question_id, score_kind, score, score_max, band, words)
  select organization_id, instance_id, questionnaire_id, $2, version_id, responder_id, false, locale, submitted_time,
    'q', 'csat', $3::integer, 5, case when $3 <= 2 then 'detractor' else 'promoter' end, ''
  from questionnaire_instance where instance_id = $1
  on conflict (organization_id, instance_id) do update set score = excluded.score, band = excluded.band"""


async def test_answered_and_changed(desk: Desk) -> None:
    case = await desk.case()
    answer = await desk.respond(5)
    keys = [(desk.house.organization_id, answer.instance_id)]
    for instance_id, score in ((case["instance_id"], 1), (answer.instance_id, 5)):
        await desk.execute(ROW, instance_id, desk.house.application_id, score)
    await _note(desk, keys)  # it answers no item
    await desk.execute(
        """update questionnaire_instance set previous_questionnaire_instance_id = $2, item_id = $3
           where instance_id = $1""",
        *(answer.instance_id, case["instance_id"], "I" * 22),
    )
    await desk.execute(
        "update alert_instance set recovery_item_id = $1 where alert_instance_id = $2",
        "I" * 22,
        case["alert_instance_id"],
    )
    for _ in range(2):
        await _note(desk, keys)
    assert ["recovery_answered"] == [kind for kind in await desk.kinds() if kind.startswith("recovery")]
    path = f"/alert/instance/{case['alert_instance_id']}"
    assert (await desk.api.get(path))["recovered"] is True
    await desk.execute(ROW, answer.instance_id, desk.house.application_id, 2)
    await _note(desk, keys)
    assert (await desk.api.get(path))["recovered"] is False
    assert 1 == (await desk.kinds()).count("recovery_answered")


async def _note(desk: Desk, keys: list[tuple[str, str]]) -> None:
    async with db.transaction(desk.pool) as database:
        await recoveries.record_recovery_answers(database, keys=keys, now=database.clock.now())
