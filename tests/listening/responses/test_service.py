"""Responses of all questionnaires: by key, by tab, by words, and within the caller's applications."""
# ruff: noqa: RUF001 - letters of many scripts

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, LiteralString

import pytest

from afterword.core.text import words
from afterword.kit import db
from afterword.listening.responses import service
from afterword.listening.responses.service import Filter, ResponseRow
from tests.listening.reports.conftest import CSAT, NPS, TEXT, House, now_of

SAMPLES = (  # a text, a search that finds it, and one that finds nothing
    ("Η ΠΑΡΆΔΟΣΗ άργησε", "παραδοσ αργ", "παραλαβη"),
    ("Die Straße war gesperrt", '"strasse war"', '"war strasse"'),
    ("كان التَّوْصِيلُ سريعًا", "والتوصيل", "بطيء"),
    ("İstanbul'dan ISITICI gelmedi", "ısıtıcı istan", "ankara"),
    ("Zażółć gęślą jaźń", "zazolc JAŹŃ", "jazz"),
    ("送货很慢", "货很", "很货"),
    ("จัดส่งช้ามาก", "ส่ง", "งส"),
    ("Late delivery", "deliv -early", "late -deliv"),
)


async def listed(
    house: House, *, search: str = "", after: tuple[datetime, str] | None = None, limit: int = 50, **given: Any
) -> list[ResponseRow]:
    now = await now_of(house)
    reach: dict[str, Any] = {
        **house.caller.part,
        **{key: given.pop(key) for key in REACH & set(given)},
    }
    chosen = Filter(
        only=given.pop("only", None),
        from_time=now - timedelta(days=90),
        to_time=after[0] if after else now,
        search=service.search_of(house.caller, words.read_query(search)),
        **given,
    )
    async with db.connection(house.pool) as database:
        found = await service.list_responses(
            database, **reach, chosen=chosen, after=after[1] if after else "", limit=limit
        )
        if after is None and limit > len(found):
            counted = await service.count_tabs(database, **reach, chosen=chosen)
            assert len(found) == counted.counts[chosen.tab]
            assert len(found) == (await service.count_facets(database, **reach, chosen=chosen)).count
    return found


REACH = {"organization_id", "application_ids"}


def ids_of(rows: Sequence[ResponseRow]) -> list[str]:
    return [row.instance_id for row in rows]


async def give(house: House, now: datetime, *answers: Mapping[str, object], **more: Any) -> list[str]:
    """Each an hour before the last one; their ids."""
    made = [
        await house.respond(one, now=now - timedelta(hours=1 + number), **more) for number, one in enumerate(answers)
    ]
    await house.follow()
    return [one.instance_id for one in made]


class TestList:
    async def test_other_applications_and_tests(self, house: House) -> None:
        await house.respond({NPS: 3, TEXT: "slow"}, now=await now_of(house) - timedelta(hours=1))
        await house.follow()
        assert [] == await listed(house, application_ids=["0" * 22])
        assert [] == await listed(house, test=True)
        assert [] == await listed(house, organization_id="0" * 22)
        assert [] == await listed(house, organization_id="0" * 22, search="slow")
        confined = replace(house.caller, application_ids=(house.application_id,))
        assert [""] == service.RequestedResponses(
            caller=confined, chosen=Filter(only=None), application_id="0" * 22
        ).reach["application_ids"]

    async def test_tabs_and_filters(self, house: House, now: datetime) -> None:
        given = ({NPS: 3, CSAT: 5}, {NPS: 7, TEXT: "Too late."}, {NPS: 10, CSAT: 1}, {CSAT: 3}, {CSAT: 2})
        made = await give(house, now, *given)
        assert made == ids_of(await listed(house))
        assert [made[1]] == ids_of(await listed(house, tab="comment"))
        assert [made[0], made[4]] == ids_of(await listed(house, tab="unhappy"))
        assert [] == await listed(house, tab="mine", user_id="0" * 22)
        assert made[:3] == ids_of(await listed(house, score_kind="nps"))
        assert [made[0]] == ids_of(await listed(house, score_kind="nps", band="detractor"))
        assert [made[1], made[3]] == ids_of(await listed(house, band="passive"))
        assert made == ids_of(await listed(house, channel_id=service.OF_LINK))
        assert [] == ids_of(await listed(house, channel_id=1))
        assert made == ids_of(await listed(house, questionnaire_id=house.questionnaire_id))
        assert [] == ids_of(await listed(house, questionnaire_id="0" * 22))
        assert [] == ids_of(await listed(house, tag="late"))

    async def test_one_branch(self, house: House, now: datetime) -> None:
        """No filter, tab or search leads to a response of another branch, or counts it."""
        branch_of: dict[str, str] = {}
        for number in range(6):
            branch = ("harbour", "station", "")[number % 3]
            answers = {NPS: (2, 9)[number // 3], TEXT: "Slow as ever."}
            metadata = {"store_id": branch} if branch else {"other": "harbour"}
            made = await house.respond(answers, now=now - timedelta(hours=1 + number), metadata=metadata)
            branch_of[made.instance_id] = branch
            await house.execute(
                """insert into instance_tag (organization_id, instance_id, tag, created_time)
                   values ($1, $2, 'late', $3)""",
                *(house.caller.organization_id, made.instance_id, now),
            )
        await house.follow()
        choices: list[dict[str, Any]] = [
            {}, {"tab": "comment"}, {"tab": "unhappy"}, {"tab": "unread", "user_id": "0" * 22}, {"band": "promoter"},
            {"tag": "late"}, {"tag": "late", "is_frequent": True}, {"search": "slow"}, {"score_kind": "nps"},
            {"search": "slow", "is_frequent": True}, {"questionnaire_id": house.questionnaire_id},
            {"search": "slow", "tag": "late"}, {"channel_id": service.OF_LINK},
        ]  # fmt: skip
        for given in choices:
            everything = ids_of(await listed(house, **given))
            assert everything, given
            for values in (["harbour"], ["station"], ["harbour", "station"], ["nowhere"], []):
                found = ids_of(await listed(house, only=["store_id", *values], **given))
                assert [one for one in everything if branch_of[one] in values] == found, (given, values)

    async def test_a_tab_with_more_than_are_counted_is_counted_once_an_hour(
        self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "FOUND_MAX", 2)
        await give(house, now, {NPS: 3}, *[{NPS: 9, TEXT: "Fine."}] * 3)

        async def counts(*, days: int = 90, minutes: int = 0) -> list[int]:
            at = now + timedelta(minutes=minutes)
            chosen = Filter(only=None, from_time=at - timedelta(days=days), to_time=at)
            wanted = service.RequestedResponses(caller=house.caller, chosen=chosen)
            async with db.connection(house.pool) as database:
                found, page = await service.find_counted(database, wanted, until=at, limit=3)
            assert 3 == len(page.rows)
            assert found is not None
            return [found.counts[tab] for tab in service.BOUNDED]

        assert [3, 3, 1] == await counts()
        [bounds] = [kept for (tenant, *_), kept in service._bounds.items() if tenant == house.caller.organization_id]
        assert [now - timedelta(hours=3), now - timedelta(hours=4), None] == bounds.since
        await house.execute(
            "update response set comment = null where organization_id = $1", house.caller.organization_id
        )
        assert [3, 3, 1] == await counts(days=30, minutes=59)
        assert [3, 0, 1] == await counts(minutes=61)

    async def test_pages_that_new_responses_never_move(self, house: House, now: datetime) -> None:
        moment = now - timedelta(hours=1)
        for _ in range(5):
            await house.respond({NPS: 9}, now=moment)  # at the same moment, so that ids decide
        await house.respond({NPS: 8}, now=moment - timedelta(seconds=1))
        await house.follow()
        everything = ids_of(await listed(house))
        assert 6 == len(everything)
        seen: list[str] = []
        after: tuple[datetime, str] | None = None
        while rows := await listed(house, after=after, limit=2):
            seen += ids_of(rows)
            after = rows[-1].submitted_time, rows[-1].instance_id
            await house.respond({NPS: 7}, now=await now_of(house) - timedelta(seconds=1))
            await house.follow()
        assert everything == seen

    async def test_index(self, house: House) -> None:
        """Neither the newest page nor one far behind reads more than its rows."""
        indexes: dict[LiteralString, str] = {
            "true": "response_list", "r.comment is not null": "response_commented",
            "r.band = 'detractor'": "response_unhappy",
        }  # fmt: skip
        async with db.connection(house.pool) as database:
            await database.execute("set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off")
            for condition, index in indexes.items():
                rows = await database.fetch(
                    f"""explain select r.instance_id from response r where r.organization_id = $1 and not r.test
                          and r.submitted_time <= $2 and {condition} and $3::text is not null
                        order by r.submitted_time desc, r.instance_id limit 50""",
                    *(house.caller.organization_id, database.clock.now(), ""),
                )
                plan = "\n".join(row[0] for row in rows)
                assert index in plan
                assert "Sort" not in plan


class GenericPlans:
    """A connection that explains the plans for any values, which PostgreSQL takes from the sixth run on."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.plans: list[str] = []

    async def fetch(self, query: str, *values: object) -> list[Any]:
        await self.raw.execute(f"set plan_cache_mode = force_generic_plan; prepare any_values as {query}")
        texts = ["{}" if each == [] else str(each).replace("'", "''") for each in values]
        given = ", ".join("null" if value is None else f"'{text}'" for value, text in zip(values, texts, strict=True))
        rows = await self.raw.fetch(f"explain execute any_values({given})")
        await self.raw.execute("deallocate any_values")
        self.plans.append("\n".join(row[0] for row in rows))
        return []


class TestTag:
    async def test_few_and_many(self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
        made = await give(house, now, *[{NPS: 3}] * 4)
        async with db.transaction(house.pool) as database:
            for instance_id in made[1:]:
                await database.execute(
                    "insert into instance_tag (organization_id, instance_id, tag) values ($1, $2, 'late')",
                    *(house.caller.organization_id, instance_id),
                )
        for most in (3, 1):
            monkeypatch.setattr(service, "TAGGED_MAX", most)
            for is_frequent in (None, most == 1):
                found = await listed(house, tag="late", is_frequent=is_frequent)
                assert made[1:] == ids_of(found)
            assert [] == await listed(house, tag="late", band="promoter")


async def plans_of(house: House, chosen: Filter) -> str:
    async with db.connection(house.pool) as database:
        await database.execute("set enable_seqscan = off")
        generic = GenericPlans(database._connection)
        await service.list_responses(
            db.Database(generic, database.clock),
            organization_id=house.caller.organization_id, application_ids=[], chosen=chosen, after="", limit=50,
        )  # fmt: skip
        await database.execute("reset all")
    return "\n".join(generic.plans)


class TestSearch:
    async def test_plan(self, house: House) -> None:
        """A rare word is found by its index alone, also by a plan that serves any word."""
        search = service.search_of(house.caller, words.read_query("late"))
        plan = await plans_of(house, Filter(only=None, search=search, is_frequent=False))
        assert "response_words" in plan
        assert "response_list" not in plan

    async def test_found_as_it_is_marked(self, house: House, now: datetime) -> None:
        made = await give(house, now, *({TEXT: text} for text, _, _ in SAMPLES))
        for instance_id, (text, found, not_found) in zip(made, SAMPLES, strict=True):
            assert [instance_id] == ids_of(await listed(house, search=found))
            assert any(is_hit for _, is_hit in words.highlighted(text, words.read_query(found)))
            assert [] == await listed(house, search=not_found)

    async def test_few_among_many(self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
        """Behind the newest, which are looked through first, the index finds the others."""
        monkeypatch.setattr(service, "NEWEST_MAX", 1)
        made = await give(house, now, *({TEXT: text} for text in ("late", "early", "late", "later")))
        assert [made[0], made[2], made[3]] == ids_of(await listed(house, search="late"))
        assert [made[0]] == ids_of(await listed(house, search="late", limit=1))

    async def test_parts_out_of_reach(self, house: House, now: datetime) -> None:
        made = await give(house, now, {NPS: 9}, metadata={"order": "A-77"}, person={"name": "Hector"})
        for search in ("hector", "a-77"):
            assert made == ids_of(await listed(house, search=search))
        values = {"Responder Value.Read", "Questionnaire Value.Read"}
        house.caller = replace(house.caller, scopes=house.caller.scopes - values)
        for search in ("hector", "a-77"):
            assert [] == await listed(house, search=search)


class TestApi:
    async def test_refusals(self, house: House) -> None:
        token = await house.token_for(scopes={"Questionnaire Instance.Read"})
        for parameters in ({"only": "happy"}, {"tag": "x" * 51}, {"search": "x" * 201}, {"channel_id": "-1"}):
            assert 422 == (await house.get("/q/response", **parameters)).status_code
            assert 422 == (await house.get("/q/response/count", **parameters)).status_code
        unknown = {"subject": "nothing", "operator": "equal", "value": 1}
        for body in ({"condition": unknown}, {"cursor": "x"}, {"limit": 101}, {"bands": "detractor"}):
            assert 422 == (await house.send("POST", "/q/response/search", body)).status_code
        of_metadata = {"condition": {"subject": "responder_metadata:name", "operator": "is_empty"}}
        refused = await house.send("POST", "/q/response/search", of_metadata, Authorization=f"Bearer {token}")
        assert 403 == refused.status_code

    async def test_same_as_the_rows(self, house: House, now: datetime) -> None:
        unhappy, _ = await give(house, now, {NPS: 3, TEXT: "Too late."}, {CSAT: 5})
        [first, second] = (await house.get("/q/response")).json()["results"]
        assert {
            "instance_id": unhappy, "score_question_id": NPS, "score_kind": "nps", "score": 3, "score_max": 10,
            "band": "detractor", "comment": "Too late.", "alert_instance_id": None,
        }.items() <= first.items()  # fmt: skip
        assert (5, "promoter", None) == (second["score"], second["band"], second["comment"])
        for filters in (
            {"only": "comment"},
            {"only": "unhappy"},
            {"search": "late"},
            {"band": "detractor"},
            {"from_time": (now - timedelta(hours=1, minutes=1)).isoformat()},
        ):
            assert [first] == (await house.get("/q/response", **filters)).json()["results"]
            counted = (await house.get("/q/response/count", **filters)).json()
            assert (1, 1, {"detractor": 1}, {"0": 1}) == (
                counted["count"], counted["comment"], counted["bands"], counted["channels"],
            )  # fmt: skip
        assert [] == (await house.get("/q/response", test="true")).json()["results"]
        for path in ("/q/response", "/q/response/count"):
            for name in ("application_id", "questionnaire_id"):
                refused = await house.get(path, **{name: "0" * 22})
                assert [(name, "unknown_id")] == [
                    (each["parameter"], each["code"]) for each in refused.json()["errors"]
                ]

    async def test_search_by_a_condition(self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
        """Page by page, also where only some responses of a page are looked at."""
        monkeypatch.setattr(service, "CONDITION_SCANNED_MAX", 2)
        monkeypatch.setattr(service, "CONDITION_BATCH", 1)
        made = await give(house, now, *({NPS: n, CSAT: 5} for n in (1, 9, 9, 2, 10)), metadata={"shop": "7"})
        condition = {
            "all": [
                {"subject": f"question:{NPS}", "operator": "less", "value": 5},
                {"subject": "questionnaire_metadata:shop", "operator": "equal", "value": "7"},
            ]
        }
        seen: list[str] = []
        cursor = None
        for _ in range(6):
            body = {"condition": condition, "limit": 1, "cursor": cursor}
            page = (await house.send("POST", "/q/response/search", body)).json()
            seen += [one["instance_id"] for one in page["results"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert [made[0], made[3]] == seen
        assert cursor is None
