"""Values of metadata as lists: of a questionnaire, an instance, a responder; their types and their times."""

from datetime import timedelta
from typing import Any

from afterword.asking.instances import service
from afterword.asking.instances.service import Change
from afterword.core.questionnaires.metadata import Changes
from afterword.kit import db
from tests.asking.instances.conftest import NOW, Shop

METADATA = {
    "questionnaire": {"transaction_id": "1042", "transaction_date": "2026-11-20", "colour": "red"},
    "responder": {"email": "ann@example.com", "first_name": "Ann"},
}


async def values(shop: Shop, path: str) -> list[dict[str, Any]]:
    response = await shop.get(path)
    assert 200 == response.status_code, response.text
    body = response.json()
    return body if isinstance(body, list) else body["results"]


def pairs(found: list[dict[str, Any]]) -> dict[str, str]:
    return {one["name"]: one["value"] for one in found}


class TestOfInstance:
    async def test_ok(self, shop: Shop) -> None:
        instance = await shop.issue(metadata=METADATA)

        found = await values(shop, f"/q/instance/{instance['instance_id']}/value")

        assert METADATA["questionnaire"] == pairs(found)
        by_name = {one["name"]: one for one in found}
        assert {
            "questionnaire_id": instance["questionnaire_id"],
            "instance_id": instance["instance_id"],
            "metadata_id": by_name["transaction_date"]["metadata_id"],
            "name": "transaction_date",
            "type": "date",
            "value": "2026-11-20",
            "created_time": instance["created_time"],
            "updated_time": instance["created_time"],
        } == by_name["transaction_date"]
        assert by_name["transaction_date"]["metadata_id"] is not None
        assert (None, "text") == (by_name["colour"]["metadata_id"], by_name["colour"]["type"])

    async def test_a_value_has_a_time_of_its_own(self, shop: Shop) -> None:
        """A value that comes back is new."""
        instance_id = (await shop.issue(metadata=METADATA))["instance_id"]
        path = f"/q/instance/{instance_id}/value"

        async def write(days: int, **given: str) -> None:
            later, caller, changes = NOW + timedelta(days=days), shop.world.caller, Change(metadata=Changes({**given}))
            async with db.transaction(shop.world.pool) as database:
                await service.update(database, caller=caller, instance_id=instance_id, change=changes, now=later)

        await write(3000, colour="blue", transaction_id="1042", transaction_date="")
        assert [("colour", "blue", True), ("transaction_id", "1042", False)] == [
            (one["name"], one["value"], one["updated_time"] > one["created_time"])
            for one in await values(shop, f"{path}?order_by[ASC][]=Name")
        ]
        await write(3001, colour="")
        await write(3002, colour="red")
        [colour] = await values(shop, f"{path}?filter_by[EQUAL][Name]=colour")
        assert colour["updated_time"].startswith((NOW + timedelta(days=3002)).date().isoformat())


class TestOfQuestionnaire:
    async def test_ok(self, shop: Shop) -> None:
        for number in range(3):
            await shop.issue(metadata={"questionnaire": {"transaction_id": str(number), "store_id": "7"}})
        path = f"/q/questionnaire/{shop.world.questionnaire_id}/value"

        page = (await shop.get(path)).json()
        ids = await values(shop, f"{path}?filter_by[EQUAL][Name]=transaction_id")

        assert (6, 1) == (page["total_results"], page["last_page"])
        assert ["2", "1", "0"] == [one["value"] for one in ids]

    async def test_each_value_once_by_cursor(self, shop: Shop) -> None:
        for number in range(4):
            await shop.issue(metadata={"questionnaire": {f"n{place}": str(number) for place in range(number)}})
        for order in ("", "&order_by[ASC][]=Value", "&order_by[DESC][]=Name&order_by[ASC][]=CreatedTime"):
            path = f"/q/questionnaire/{shop.world.questionnaire_id}/value?limit=1{order}"
            found: list[tuple[str, str]] = []
            following: str | None = ""
            while following is not None:
                page = (await shop.get(path + (f"&cursor={following}" if following else ""))).json()
                found += [(one["name"], one["value"]) for one in page["results"]]
                following = page["next_cursor"]
            wanted = sorted((f"n{place}", str(number)) for number in range(4) for place in range(number))
            assert wanted == sorted(found), order

    async def test_test_tokens_see_test_values(self, shop: Shop) -> None:
        """Those of deleted instances are gone."""
        gone = await shop.issue(metadata=METADATA)
        await shop.delete(f"/q/instance/{gone['instance_id']}")
        await shop.issue(metadata={"questionnaire": {"colour": "real"}})
        tester = await shop.with_token(test=True)
        await tester.issue(metadata={"questionnaire": {"colour": "test"}})
        path = f"/q/questionnaire/{shop.world.questionnaire_id}/value"
        assert ["test"] == [one["value"] for one in await values(tester, path)]
        assert ["test", "real"] == [one["value"] for one in await values(shop, path)]


class TestOfResponders:
    async def test_by_responder(self, shop: Shop) -> None:
        responder_id = (await shop.issue(metadata=METADATA))["responder_id"]

        found = await values(shop, f"/q/responder/{responder_id}/value?order_by[ASC][]=Name")

        assert [("email", "ann@example.com", "text"), ("first_name", "Ann", "text")] == [
            (one["name"], one["value"], one["type"]) for one in found
        ]
        assert [True, True] == [one["metadata_id"] is not None for one in found]
        assert {"responder_id", "metadata_id", "name", "type", "value", "created_time", "updated_time"} == set(found[0])

    async def test_by_questionnaire(self, shop: Shop) -> None:
        """Each person once, however often asked; nobody who was asked something else only."""
        for _ in range(2):
            await shop.issue(metadata=METADATA)
        path = f"/q/questionnaire/{shop.world.questionnaire_id}/responder/value"

        page = (await shop.get(path)).json()

        assert (2, METADATA["responder"]) == (page["total_results"], pairs(page["results"]))

    async def test_the_time_of_a_change(self, shop: Shop) -> None:
        responder_id = (await shop.issue(metadata=METADATA))["responder_id"]
        async with db.connection(shop.world.pool) as database:  # made yesterday
            await database.execute("update responder set created_time = created_time - interval '1 day'")
        changed = await shop.patch(f"/q/responder/{responder_id}", {"metadata": {"first_name": "Anna"}})
        assert 200 == changed.status_code

        found = {one["name"]: one for one in await values(shop, f"/q/responder/{responder_id}/value")}

        assert "Anna" == found["first_name"]["value"]
        assert [True, False] == [
            found[name]["updated_time"] > found[name]["created_time"] for name in ("first_name", "email")
        ]
