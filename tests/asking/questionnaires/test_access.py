"""Questionnaires within the reach of a caller: what is out of it is not found, to read and to change alike."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.store import Questionnaire
from afterword.kit import db
from tests.conftest import House

ABSENT = "z" * 22


@pytest.mark.parametrize("find", [access.get, access.lock])
async def test_reach(
    pool: db.Pool, house: House, neighbour: House, find: Callable[..., Awaitable[Questionnaire]]
) -> None:
    questionnaire_id = house.questionnaire_id
    async with db.transaction(pool) as database:
        for applications in ((), (house.application_id,), (ABSENT, house.application_id)):
            caller = replace(house.caller, application_ids=applications)
            found = await find(database, caller=caller, questionnaire_id=questionnaire_id)
            assert questionnaire_id == found.questionnaire_id
        for caller, wanted in (
            (replace(house.caller, application_ids=(ABSENT,)), questionnaire_id),
            (neighbour.caller, questionnaire_id),
            (house.caller, ABSENT),
        ):
            with pytest.raises(errors.NotFound):
                await find(database, caller=caller, questionnaire_id=wanted)
