"""Words of comments: exactly their responses, in any language."""
# ruff: noqa: RUF001 - letters of many scripts

from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.listening.responses import comments
from tests.listening.reports.conftest import NPS, TEXT, House

STORE = "questionnaire_metadata:store_id"
PATH = "/q/response/word"


@pytest.fixture
async def told(house: House, now: datetime) -> House:
    """Comments of four stores: south of three people, and one person who says “parking” five times."""
    given = [
        ("north", 3, "The delivery was late", "en", 6),
        ("north", 10, "Fast Delivery, kind staff", "en", 5),
        ("south", 3, "delivery", "en", 3),
        ("east", 9, "Η παράδοση άργησε", "el", 5),
        ("west", 9, "送货很慢", "zh", 7),
        ("west", 9, "والتوصيل بطيء", "ar", 5),
    ]
    at, minute = now, timedelta(minutes=1)
    for store, score, text, locale, count in given:
        more: dict[str, Any] = {"metadata": {"store_id": store}, "locale": locale, "count": count, "every": minute}
        await house.respond({NPS: score, TEXT: text}, now=at - minute, **more)
        at -= count * minute
    first = await house.respond({NPS: 1, TEXT: "parking"}, now=now - timedelta(hours=2), metadata={"store_id": "east"})
    for number in range(4):
        at = now - timedelta(hours=3 + number)
        await house.respond({TEXT: "parking"}, now=at, responder_id=first.responder_id)
    await house.respond({NPS: 1}, now=now - timedelta(hours=1), metadata={"store_id": "delivery"})
    await house.write_rows()
    return house


def counts(words: list[dict[str, Any]]) -> dict[str, int]:
    return {one["text"]: one["n"] for one in words}


class TestCountWords:
    async def test_refused(self, house: House) -> None:
        for group in ("person", "questionnaire_metadata:"):
            assert 422 == (await house.get(PATH, group_by=group)).status_code, group

    async def test_nothing(self, house: House) -> None:
        found = (await house.get(PATH, group_by="band")).json()
        assert (0, [], []) == (found["n"], found["words"], found["groups"])

    async def test_counts_lead_to_their_responses(self, told: House) -> None:
        """Each word is counted as often as the list has responses with it."""
        found = (await told.get(PATH, group_by=STORE)).json()
        words = counts(found["words"])
        expected = {"delivery": 14, "late": 6, "staff": 5, "παράδοση": 5, "άργησε": 5, "送货": 7, "توصيل": 5}
        assert expected.items() <= words.items()
        assert not {"the", "was", "Η", "慢", "والتوصيل"} & set(words)
        for one in found["words"]:
            listed = (await told.get("/q/response/count", only="comment", word=one["word"])).json()
            assert one["n"] == listed["count"], one
        groups = {group["value"]: group for group in found["groups"]}
        sizes = {"west": 12, "north": 11, "east": 6, None: 4, "south": 3}
        assert sizes == {value: group["n"] for value, group in groups.items()}
        of_north = counts(groups["north"]["words"])
        assert (6, 5, 11) == (of_north["late"], of_north["staff"], of_north["delivery"])

    async def test_the_newest_alone(self, told: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(comments, "COMMENTS_MAX", 9)
        found = (await told.get(PATH)).json()
        listed = (await told.get("/q/response/count", only="comment", from_time=found["from_time"])).json()
        assert 9 == found["n"] == listed["count"]

    async def test_filtered(self, told: House) -> None:
        found = (await told.get(PATH, band="detractor", search="late", group_by="band", limit=1)).json()
        assert (6, {"delivery": 6}) == (found["n"], counts(found["words"]))
        assert [("detractor", 6)] == [(group["value"], group["n"]) for group in found["groups"]]
        few = (await told.get(PATH, band="passive")).json()
        assert (False, 0) == (few["suppressed"], few["n"])
        small = (await told.get(PATH, search="parking", group_by="band")).json()
        assert (False, 5, {"parking": 5}) == (small["suppressed"], small["n"], counts(small["words"]))
