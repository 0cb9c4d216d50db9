"""Invitations behind figures: of each row, total and stage exactly those that are counted, page by page."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.core.figures.rows import stages_of
from tests.listening.reports.conftest import NPS, House
from tests.listening.reports.test_results import PIPELINE

INVITATIONS = "/report/invitation"
NORTH = '{"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "north"}'


@pytest.fixture
async def sent(house: House, now: datetime) -> House:
    """Twelve by mail, of which two bounced and six were opened, and four links; some answered, some to the end."""
    for number in range(16):
        instance = await house.respond(
            {NPS: 9} if number % 3 == 0 else {},
            now=now - timedelta(days=2, hours=number),
            metadata={"store_id": "north" if number % 2 else "south"},
            complete=number % 2 == 0,
        )
        is_mail = number < 12
        await house.execute(
            """update questionnaire_instance set channel_id = $2, pipeline_id = nullif($3, ''), delivered_time = $4,
                 bounced_time = $5, viewed_time = $6, sent_time = case when $3 <> '' then sent_time end
               where instance_id = $1""",
            *(instance.instance_id, 1 if is_mail else None, PIPELINE if is_mail else ""),
            *(now if number < 9 else None, now if number in {10, 11} else None, now if number < 6 else None),
        )
    return house


async def found(house: House, selection: dict[str, Any], stages: tuple[str, ...]) -> list[str]:
    """The ids behind a figure, from pages of five."""
    renamed = {"questionnaire_ids": "questionnaire_id[]", "condition": "filter"}
    given = {renamed.get(name, name): value for name, value in selection.items() if value is not None}
    if "filter" in given:
        given["filter"] = json.dumps(given["filter"])
    ids: list[str] = []
    after: dict[str, str] = {}
    while True:
        response = await house.get(INVITATIONS, **given, limit=5, **{"stage[]": list(stages)}, **after)
        assert 200 == response.status_code, response.text
        ids += [one["instance_id"] for one in response.json()["results"]]
        if response.json()["next_cursor"] is None:
            return ids
        after = {"after": response.json()["next_cursor"]}


async def test_as_many_as_are_counted(sent: House) -> None:
    await sent.set_organization(minimum_base=1)
    for template_id, parameters in (
        ("funnel", {}),
        ("funnel", {"date_basis": "submitted"}),
        ("sending", {"by": "pipeline"}),
        ("sending", {"bucket": "month"}),
        ("sending", {"by": "channel", "filter": NORTH}),
    ):
        result = await sent.template(template_id, **parameters)
        seen = 0
        for row in result["rows"]:
            for figure in row["figures"]:
                number = figure["value"] if figure["unit"] == "count" else (figure["value"] or 0) * figure["n"] / 100
                ids = await found(sent, row["selection"], stages_of(figure["metric"]))
                assert round(number) == len(ids) == len({*ids}), (row["key"], figure["metric"])
                seen += len(ids)
        assert seen > 20, parameters


async def test_refusals(sent: House) -> None:
    given = {"questionnaire_id": sent.questionnaire_id}
    figures_alone = await sent.token_for(scopes={"Report.Read"})
    assert 403 == (await sent.get(INVITATIONS, token=figures_alone, **given)).status_code
    for wrong in (
        {},
        {"questionnaire_id": "0" * 22},
        {**given, "stage": "read"},
        {**given, "filter": "{"},
        {**given, "after": "nothing"},
    ):
        assert 422 == (await sent.get(INVITATIONS, **wrong)).status_code, wrong
