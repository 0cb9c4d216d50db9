from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from tests.listening.reports.conftest import NPS, House

ABSENT = "z" * 22


async def give(house: House, now: datetime, values: Sequence[object], question_id: str = NPS, **more: Any) -> None:
    for value, alike in groupby(values):
        await house.respond({question_id: value}, now=now - timedelta(hours=1), count=len([*alike]), **more)


class TestTemplates:
    async def test_list(self, house: House) -> None:
        response = await house.get("/report/template")
        found = {each["template_id"]: each for each in response.json()}
        assert {"nps", "csat", "ces", "distribution", "funnel", "sending", "trend", "by_metadata",
                "drivers", "comments"} == set(found)  # fmt: skip
        assert {"name": "metric", "type": "nps, csat, ces, mean, response or completion", "required": True,
                "default": None} in found["trend"]["parameters"]  # fmt: skip
        assert "sent" == next(each["default"] for each in found["funnel"]["parameters"] if each["name"] == "date_basis")
