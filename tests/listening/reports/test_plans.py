"""Reports that are not saved: refused with places in the spec, equal to the templates, led back to their responses."""

from datetime import datetime, timedelta
from typing import Any

from tests.listening.reports.conftest import CHOICE, CONSENT, MANY, NPS, House
from tests.listening.reports.test_api import give

STORE = "questionnaire_metadata:store_id"


class TestRun:
    async def run(self, house: House, **spec: Any) -> Any:
        body = {"spec": {"questionnaire_ids": [house.questionnaire_id], "last_days": 30, **spec}}
        response = await house.send("POST", "/report/run", body)
        assert 200 == response.status_code, response.text
        return response.json()

    async def refused(self, house: House, **spec: Any) -> list[tuple[str, str]]:
        body = {"spec": {"questionnaire_ids": [house.questionnaire_id], **spec}}
        response = await house.send("POST", "/report/run", body)
        assert 422 == response.status_code, response.text
        return [(error["pointer"], error["code"]) for error in response.json()["errors"]]

    async def test_refusals(self, house: House) -> None:
        assert [("/spec/metrics", "required")] == await self.refused(house)
        assert [("/spec/metrics", "exclusive"), ("/spec/group_by", "exclusive")] == await self.refused(
            house, template_id="nps", metrics=[{"metric": "nps"}], group_by=["locale"]
        )
        assert [("/spec/question_id", "required")] == await self.refused(house, template_id="distribution")
        assert [("/spec/metric", "required")] == await self.refused(house, template_id="trend")
        nps = [{"metric": "nps"}]
        assert [("/spec/compare", "exclusive")] == await self.refused(house, metrics=nps, compare="rest")
        assert [("/spec/compare", "exclusive")] == await self.refused(house, template_id="nps", compare="rest")

    async def test_equal_to_the_template(self, house: House, now: datetime) -> None:
        await give(house, now, [9, 10, 3, 7, 8, 10])
        for template_id, own in (
            ("nps", {}),
            ("distribution", {"question_id": NPS}),
            ("funnel", {}),
            ("sending", {"by": "channel"}),
            ("trend", {"metric": "nps", "bucket": "week"}),
            ("by_metadata", {"metric": "nps", "metadata": STORE}),
            ("drivers", {"outcome_question_id": NPS}),
        ):
            ready = await house.template(template_id, **own)
            run = await self.run(house, template_id=template_id, **own)
            figures = [row["figures"] for row in ready["rows"]]
            assert (figures, ready["total"]) == ([row["figures"] for row in run["rows"]], run["total"]), template_id

    async def test_saved_with_a_template(self, house: House, now: datetime) -> None:
        await give(house, now, [9, 10, 3, 7, 8, 10])
        spec = {"questionnaire_ids": [house.questionnaire_id], "template_id": "distribution", "question_id": NPS}
        saved = (await house.send("POST", "/report/custom", {"title": "Marks", "spec": spec})).json()
        assert ("distribution", NPS) == (saved["spec"]["template_id"], saved["spec"]["question_id"])
        run = (await house.get(f"/report/custom/{saved['report_id']}/run")).json()
        assert [6.0] == [figure["value"] for figure in run["total"]]

    async def test_a_row_leads_to_its_responses(self, house: House, now: datetime) -> None:
        """The filter and the period of a row, asked for by themselves, count the same answers."""
        for number, store in enumerate(["north", "north", "south", None] * 4):
            metadata = {} if store is None else {"store_id": store}
            at = now - timedelta(days=number % 3 * 9)
            answers = {NPS: number % 11, CHOICE: number % 3 + 1, MANY: [1, number % 3 + 1], CONSENT: number % 2 == 0}
            await house.respond(answers, now=at, metadata=metadata, count=2)
        nps, north = [{"metric": "nps"}], {"subject": STORE, "operator": "equal", "value": "north"}
        compared = 0
        for spec in (
            {"metrics": nps, "group_by": [STORE]},
            {"metrics": nps, "group_by": ["bucket", f"question:{CHOICE}"], "bucket": "week"},
            {"metrics": nps, "group_by": [f"question:{CONSENT}"]},
            {"template_id": "nps"},
            {"template_id": "trend", "metric": "nps", "bucket": "week"},
            {"metrics": nps, "group_by": ["locale"], "filter": north},
        ):  # fmt: skip
            for row in (await self.run(house, **spec))["rows"]:
                figure = row["figures"][0]
                if not figure["suppressed"]:
                    again = await self.again(house, row)
                    assert (figure["value"], figure["n"]) == (again["value"], again["n"]), row["key"]
                    compared += 1
        assert 10 < compared
        for question_id in (NPS, MANY):
            result = await self.run(house, template_id="distribution", question_id=question_id)
            for row in result["rows"]:
                if row["figures"][0]["value"]:
                    counted = await self.again(house, row)
                    number = round(row["figures"][0]["value"] * result["total"][0]["n"] / 100)
                    assert counted["suppressed"] or number == counted["n"], row["key"]

    async def again(self, house: House, row: dict[str, Any]) -> Any:
        selection = row["selection"]
        same = {name: selection[name] for name in ("questionnaire_ids", "from_time", "to_time", "date_basis")}
        spec = {"metrics": [{"metric": "nps"}], "filter": selection["condition"], **same}
        response = await house.send("POST", "/report/run", {"spec": spec})
        assert 200 == response.status_code, response.text
        return response.json()["total"][0]

    async def test_against_the_rest(self, house: House, now: datetime) -> None:
        """A store differs from all others together."""
        for store, value, count in (("a", 3, 15), ("a", 9, 5), ("b", 9, 20), ("c", 10, 3), ("d", 10, 3)):
            at = now - timedelta(days=1)
            await house.respond({NPS: value}, now=at, metadata={"store_id": store}, count=count)
        result = await self.run(house, metrics=[{"metric": "nps"}], group_by=[STORE], compare="rest")
        found = {row["key"][STORE]: row["figures"][0] for row in result["rows"]}
        change = found["a"]["change"]
        assert (-50.0, 100.0, True) == (found["a"]["value"], change["previous"], change["real"])
        assert found["b"]["change"]["real"]
        assert [False, False] == [found[store]["change"]["real"] for store in "cd"]
