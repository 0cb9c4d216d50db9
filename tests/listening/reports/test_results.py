"""Figures of reports against figures by hand: scores, funnels, trends, small groups, own specs."""

import json
from datetime import date, datetime, timedelta
from typing import Any, Final

import pytest

from afterword.asking.questionnaires import store as questionnaires_store
from afterword.kit import db
from afterword.listening.reports import counts
from tests.listening.reports.conftest import (
    CES,
    CHOICE,
    CONSENT,
    CSAT,
    MANY,
    MATRIX,
    NPS,
    NUMBER,
    RANKING,
    ROW,
    House,
    make_questionnaire,
)
from tests.listening.reports.test_api import ABSENT, give

PIPELINE = f"{'PIPE':0<22}"


def figure(result: dict[str, Any], metric: str, row: int | None = None) -> dict[str, Any]:
    """A figure of a row, or of the total."""
    figures = result["total"] if row is None else result["rows"][row]["figures"]
    return next(each for each in figures if each["metric"] == metric)


class TestNps:
    async def test_figure(self, house: House, now: datetime) -> None:
        """Five promoters, two detractors, three passives: the published test vector, and its change."""
        await give(house, now, [9, 10, 9, 10, 9, 0, 6, 7, 8, 7])
        result = await house.template("nps")
        expected = {
            "metric": "nps", "value": 30.0, "unit": "points", "n": 10, "base": "answers", "population": None,
            "interval": {"low": -24.24, "high": 68.9, "level": 0.95}, "method": "score", "scale": "0-10",
            "parts": {"promoter": 5, "passive": 3, "detractor": 2}, "suppressed": False, "suppressed_reason": None,
            "change": None,
        }  # fmt: skip
        assert expected == result["total"][0] == result["rows"][0]["figures"][0]
        assert {"question_id": NPS} == result["rows"][0]["key"]
        assert ("nps", None, 0, False) == (
            result["template_id"], result["report_id"], result["suppressed_rows"], result["truncated"],
        )  # fmt: skip
        assert ("Europe/Athens", "submitted") == (result["period"]["time_zone"], result["period"]["date_basis"])
        narrow = figure(await house.template("nps", level="0.5"), "nps")["interval"]
        assert (0.5, True) == (narrow["level"], -24.24 < narrow["low"] < 30 < narrow["high"] < 68.9)

    async def test_no_answers(self, house: House) -> None:
        total = figure(await house.template("nps"), "nps")
        assert (None, 0, None, "none", False) == tuple(
            total[name] for name in ("value", "n", "interval", "method", "suppressed")
        )

    async def test_what_is_never_in_a_base(self, house: House, now: datetime) -> None:
        """Skipped, taken back, provisional, test and deleted answers, and responses of another time."""
        moment = now - timedelta(hours=1)
        await give(house, now, [9, 9, 9, 0, 5])
        await house.respond({CSAT: 5}, now=moment)
        back = await house.respond({NPS: 1, CSAT: 1}, now=moment)
        await house.answer(back, {NPS: None}, now=moment)
        await house.delete(await house.respond({NPS: 1}, now=moment), now=moment)
        await house.respond({NPS: 1}, now=now - timedelta(days=31))
        provisional, test = await house.respond({NPS: 1}, now=moment), await house.respond({NPS: 1}, now=moment)
        async with db.transaction(house.pool) as database:
            await database.execute(
                "update answer set provisional = true where instance_id = $1", provisional.instance_id
            )
            await database.execute(
                "update questionnaire_instance set test = true where instance_id = $1", test.instance_id
            )
        total = figure(await house.template("nps"), "nps")
        assert (5, {"promoter": 3, "passive": 0, "detractor": 2}) == (total["n"], total["parts"])

    async def test_a_test_token_sees_test_data_alone(self, house: House, now: datetime) -> None:
        await give(house, now, [9] * 7)
        await house.execute(
            """update questionnaire_instance set test = true
               where instance_id in (select instance_id from questionnaire_instance limit 5)"""
        )
        await house.set_organization(minimum_base=1)
        token = await house.token_for(test=True)
        response = await house.get("/report/template/nps", questionnaire_id=house.questionnaire_id, token=token)
        assert (5, 2) == (response.json()["total"][0]["n"], figure(await house.template("nps"), "nps")["n"])

    async def test_half_open_period(self, house: House, now: datetime) -> None:
        await house.set_organization(minimum_base=1)
        moment = (now - timedelta(days=3)).replace(microsecond=0)
        await house.respond({NPS: 9}, now=moment)
        for begin, end, n in ((0, 1, 1), (-1, 0, 0), (1, 2, 0)):
            found = await house.template(
                "nps",
                from_time=(moment + timedelta(seconds=begin)).isoformat(),
                to_time=(moment + timedelta(seconds=end)).isoformat(),
            )
            assert n == figure(found, "nps")["n"]

    async def test_filter(self, house: House, now: datetime) -> None:
        for store, score in (("0", 0), ("1", 9)):
            await give(house, now, [score] * 6, metadata={"store_id": store})
        condition = {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "1"}
        total = figure(await house.template("nps", filter=json.dumps(condition)), "nps")
        assert (6, 100.0) == (total["n"], total["value"])

    async def test_compare(self, house: House, now: datetime) -> None:
        await give(house, now, [10] * 30 + [0] * 2)
        await give(house, now - timedelta(days=40), [10] * 5 + [0] * 20)
        change = figure(await house.template("nps", compare="previous_period"), "nps")["change"]
        assert (-60.0, 147.5, "nps_z", True) == tuple(
            change[name] for name in ("previous", "difference", "method", "real")
        )
        assert 0.0001 == change["p"], "never 0"
        assert change["z"] > 5
        assert figure(await house.template("nps", compare="previous_year"), "nps")["change"] is None


class TestScores:
    async def test_csat(self, house: House, now: datetime) -> None:
        await give(house, now, [5, 4, 4, 5, 5, 4, 5, 4, 1, 2], CSAT)
        result = await house.template("csat")
        share, mean = figure(result, "csat"), figure(result, "csat_mean")
        assert (80.0, "percent", "modified_wilson", {"low": 49.02, "high": 96.45, "level": 0.95}) == (
            share["value"], share["unit"], share["method"], share["interval"],
        )  # fmt: skip
        assert (3.9, "mean", "t", "1-5") == (mean["value"], mean["unit"], mean["method"], mean["scale"])

    async def test_ces(self, house: House, now: datetime) -> None:
        await give(house, now, [7, 6, 5, 4, 1], CES)
        result = await house.template("ces")
        assert (60.0, 4.6) == (figure(result, "ces")["value"], figure(result, "ces_mean")["value"])

    async def test_distribution_of_several_choices(self, house: House, now: datetime) -> None:
        """Of the people who answered, not of the choices that they made."""
        await give(house, now, [[1], [1], [1, 2], [1, 2], [2]], MANY)
        result = await house.template("distribution", question_id=MANY)
        found = {row["key"]["value"]: (row["figures"][0]["value"], row["figures"][0]["n"]) for row in result["rows"]}
        assert {1: (80.0, 5), 2: (60.0, 5), 3: (0.0, 5)} == found
        assert "Choice 1" == result["rows"][0]["key"]["label"]
        assert 5 == figure(result, "answers")["value"]

    async def test_distribution(self, house: House, now: datetime) -> None:
        for question_id, value, key in (
            (MATRIX, {ROW: 2}, {"row_id": ROW, "row": "Food", "value": 2, "label": "Choice 2"}),
            (RANKING, [3, 1], {"rank": 1, "value": 3, "label": "Choice 3"}),
            (CONSENT, True, {"value": "true", "label": None}),
            (CHOICE, 3, {"value": 3, "label": "Choice 3"}),
            (NPS, 10, {"value": 10, "label": None}),
        ):
            await house.respond({question_id: value}, now=now - timedelta(hours=1), count=5)
            result = await house.template("distribution", question_id=question_id)
            row = next(row for row in result["rows"] if row["figures"][0]["value"])
            assert (key, 100.0) == (row["key"], row["figures"][0]["value"]), key

    async def test_removed_choices_keep_their_names(self, house: House, now: datetime) -> None:
        """The newest version that had one names it; one that nobody chose gets no row."""
        await house.set_organization(minimum_base=1)
        await give(house, now, [[1], [2], [2]], MANY)
        await house.publish(MANY, choices=[{"value": 1, "label": "One"}, {"value": 4, "label": "Four"}])
        await give(house, now, [[4]], MANY)
        await house.publish(MANY, choices=[{"value": 1, "label": "First"}, {"value": 5, "label": "Five"}])
        result = await house.template("distribution", question_id=MANY)
        found = [(row["key"]["value"], row["key"]["label"], row["figures"][0]["value"]) for row in result["rows"]]
        assert [(1, "First", 25.0), (5, "Five", 0.0), (2, "Choice 2", 50.0), (4, "Four", 25.0)] == found

    async def test_distribution_of_yes_and_no(self, house: House, now: datetime) -> None:
        question_id = f"Q{'YES':0<21}"
        questions = [{"question_id": question_id, "type": "yes_no", "title": "Solved?"}]
        groups = [{"group_id": "G" * 22, "questions": questions}]
        document = {"default_locale": "en", "locales": ["en"], "groups": groups}
        await house.set_organization(minimum_base=1)
        async with db.transaction(house.pool) as database:
            questionnaire_id = await make_questionnaire(
                database, house.caller.organization_id, house.application_id, document
            )
        await give(house, now, [True] * 4 + [False] * 2, question_id, questionnaire_id=questionnaire_id)
        result = await house.template("distribution", questionnaire_id=questionnaire_id, question_id=question_id)
        leaf = {"subject": f"question:{question_id}", "operator": "equal"}
        assert [("true", 66.67, {**leaf, "value": True}), ("false", 33.33, {**leaf, "value": False})] == [
            (row["key"]["value"], row["figures"][0]["value"], row["selection"]["condition"]) for row in result["rows"]
        ]

    async def test_distribution_of_ranks(self, house: House, now: datetime) -> None:
        """In their order: of five people four rank 3 first, two of them leave the rest open."""
        await give(house, now, [[3, 1], [3, 1, 2], [3], [3], [1, 3, 2]], RANKING)
        await house.set_organization(minimum_base=1)
        result = await house.template("distribution", question_id=RANKING)
        found = {
            (row["key"]["rank"], row["key"]["value"]): (row["figures"][0]["value"], row["figures"][0]["n"])
            for row in result["rows"]
            if row["figures"][0]["value"]
        }
        expected = {(1, 3): (80.0, 5), (1, 1): (20.0, 5), (2, 1): (66.67, 3), (2, 3): (33.33, 3), (3, 2): (100.0, 2)}
        assert expected == found

    async def test_drivers(self, house: House, now: datetime) -> None:
        """Hidden below 30 pairs; the outcome is the total."""
        for score in range(11):
            answers: dict[str, object] = {NPS: score, CSAT: score % 5 + 1}
            with_ces = answers | {CES: min(7, score + 1)}
            await house.respond(with_ces, now=now - timedelta(hours=1), count=2)
            await house.respond(with_ces if score < 7 else answers, now=now - timedelta(hours=1))
        result = await house.template("drivers", outcome_question_id=NPS)
        shown, hidden, unanswered = result["rows"]
        assert ROW == unanswered["key"]["row_id"]
        assert ({"question_id": CSAT}, {"question_id": CES}) == (shown["key"], hidden["key"])
        assert ("correlation", "jackknife_z", 33, "pairs") == tuple(
            shown["figures"][0][name] for name in ("unit", "method", "n", "base")
        )
        assert (True, "few_pairs", None, None, None) == tuple(
            hidden["figures"][0][name] for name in ("suppressed", "suppressed_reason", "value", "n", "interval")
        )
        assert (1, 5.0) == (result["suppressed_rows"], result["total"][0]["value"])

    async def test_drivers_of_a_matrix(self, house: House, now: datetime) -> None:
        """Each row by itself, beside ratings; the same responses are behind it."""
        for score in range(8):
            answers: dict[str, object] = {NPS: score, MATRIX: {ROW: score % 3 + 1}}
            await house.respond(answers | ({} if score else {CSAT: 3}), now=now - timedelta(hours=1), count=4)
        result = await house.template("drivers", outcome_question_id=NPS)
        found = {row["key"].get("row_id", row["key"]["question_id"]): row for row in result["rows"]}
        row = found[ROW]
        assert {"question_id": MATRIX, "row_id": ROW, "row": "Food"} == row["key"]
        assert (32, False) == (row["figures"][0]["n"], row["figures"][0]["suppressed"])
        assert ("mean", 32, "1-3") == tuple(row["figures"][1][each] for each in ("metric", "n", "scale"))
        assert {ROW, CSAT, CES} == found.keys()
        alone = await house.template("drivers", outcome_question_id=NPS, question_ids=MATRIX)
        assert [row["figures"]] == [each["figures"] for each in alone["rows"]]
        condition = json.dumps(row["selection"]["condition"])
        assert 32 == (await house.template("nps", filter=condition))["total"][0]["n"]

    async def test_drivers_of_columns_that_are_no_scale(self, house: House, now: datetime) -> None:
        """Without an order there is no rating; points are one, and a column without them is none."""
        columns = [{"value": value, "label": f"{value}"} for value in (2, 1, 3)]
        await house.publish(MATRIX, choices=columns)
        refused = await house.refused("drivers", outcome_question_id=NPS, question_ids=MATRIX)
        assert [("question_ids[0]", "unknown_value")] == refused
        assert MATRIX not in {
            row["key"]["question_id"] for row in (await house.template("drivers", outcome_question_id=NPS))["rows"]
        }
        await house.publish(MATRIX, choices=[{**columns[0], "points": 10}, {**columns[1], "points": 0}, columns[2]])
        for value in (1, 2, 3):
            await house.respond({NPS: 9, MATRIX: {ROW: value}}, now=now - timedelta(hours=1))
        [row] = (await house.template("drivers", outcome_question_id=NPS, question_ids=MATRIX))["rows"]
        assert (5.0, 2, "0-10") == tuple(row["figures"][1][each] for each in ("value", "n", "scale"))

    async def test_drivers_of_too_many_values(
        self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A part of the pairs would make another correlation."""
        for number in range(10):
            await house.respond({NPS: number, NUMBER: number * 100}, now=now - timedelta(hours=1))
        monkeypatch.setattr(counts, "CELLS_MAX", 10)
        more = {"outcome_question_id": NPS, "question_ids": NUMBER}
        assert [("from_time", "out_of_range")] == await house.refused("drivers", **more)

    async def test_parameters_are_those_that_were_used(self, house: House) -> None:
        result = await house.template("nps", bucket="day", metric="csat", channel_id="1", metadata="x:y")
        assert {
            "questionnaire_ids": [house.questionnaire_id],
            "metrics": [{"metric": "nps", "question_id": None, "date_basis": "submitted"}],
            "group_by": ["question_id"],
            "date_basis": "submitted",
            "compare": "none",
            "level": 0.95,
        } == result["parameters"]
        result = await house.template("funnel", question_id=NPS, channel_id="1")
        assert (1, False) == (result["parameters"]["channel_id"], "question_id" in result["parameters"])

    async def test_questions_of_all_questionnaires_are_known(self, house: House) -> None:
        """However many versions the first of them has."""
        async with db.transaction(house.pool) as database:
            second = await make_questionnaire(database, house.caller.organization_id, house.application_id)
            await database.execute(
                """insert into questionnaire_version select organization_id, version_id || n, questionnaire_id,
                     number + n, note, definition, checksum, published_time, published_by
                   from questionnaire_version, generate_series(1, 3) n where questionnaire_id = $1""",
                house.questionnaire_id,
            )
            found = await questionnaires_store.list_version_ids(
                database,
                organization_id=house.caller.organization_id,
                questionnaire_ids=[house.questionnaire_id, second],
                limit=2,
            )
            owners = await database.fetch_value(
                "select count(distinct questionnaire_id) from questionnaire_version where version_id = any($1)", found
            )
        assert (2, 2) == (len(found), owners)


class TestFunnel:
    async def test_stages_and_rates(self, house: House, now: datetime) -> None:
        at = now - timedelta(hours=2)
        for answers, complete, count in (({NPS: 9}, True, 4), ({NPS: 9}, False, 2), ({}, True, 2)):
            await house.respond(answers, now=at, complete=complete, count=count)
        await house.execute("update questionnaire_instance set delivered_time = $1", at)
        await house.respond({}, now=at, count=2)
        result = await house.template("funnel")
        stages = ["created", "sent", "delivered", "viewed", "started", "submitted", "completed"]
        assert [10, 10, 8, 6, 6, 6, 4] == [figure(result, name)["value"] for name in stages]
        rates = {"delivery": (80.0, 10, "sent"), "view": (75.0, 8, "delivered"), "response": (60.0, 10, "sent"),
                 "response_of_delivered": (75.0, 8, "delivered"), "completion": (66.67, 6, "started"),
                 "rr1": (40.0, 10, "sent"), "rr2": (40.0, 10, "sent")}  # fmt: skip
        for name, expected in rates.items():
            found = figure(result, name)
            assert expected == (found["value"], found["n"], found["base"]), name
        assert "sent" == result["period"]["date_basis"]

    async def test_who_broke_off_is_no_partial_response(self, house: House, now: datetime) -> None:
        """Half of the questions make a partial one; a skipped question is not answered."""
        half: dict[str, object] = {NPS: 9, CSAT: 5, CES: 7, CHOICE: 1, MANY: [1]}
        for answers in (half, {**half, CONSENT: True}, {NPS: 9, CSAT: 5, CES: 7, CHOICE: 1, NUMBER: 1}, {NPS: 9}):
            await house.respond(answers, now=now - timedelta(hours=2), complete=False)
        broke_off = await house.respond(half, now=now - timedelta(hours=2), complete=False)
        await house.answer(broke_off, {NPS: None, CSAT: None}, now=now - timedelta(hours=1))
        await house.respond({NPS: 9}, now=now - timedelta(hours=2))
        result = await house.template("funnel")
        assert (16.67, 66.67) == (figure(result, "rr1")["value"], figure(result, "rr2")["value"])

    async def test_deliveries_that_nobody_reports(self, house: House, now: datetime) -> None:
        await house.respond({NPS: 9}, now=now - timedelta(hours=2), count=6)
        result = await house.template("funnel")
        assert (6, 0) == (figure(result, "sent")["value"], figure(result, "delivered")["value"])
        assert (None, 6) == (figure(result, "delivery")["value"], figure(result, "delivery")["n"])
        assert 100 == figure(result, "response")["value"]

    async def test_a_channel_that_sent_nothing(self, house: House, now: datetime) -> None:
        await give(house, now, [9])
        for parameters in ({"channel_id": "1"}, {"pipeline_id": ABSENT}):
            assert 0 == figure(await house.template("funnel", **parameters), "created")["value"]


class TestSending:
    async def test_by_day_channel_and_pipeline(self, house: House, now: datetime) -> None:
        """Twelve by mail, of which two bounced, of one pipeline; and six links, which have none."""
        await house.respond({}, now=now - timedelta(hours=2), count=6)
        for answers, count, column in (({NPS: 9}, 9, "delivered"), ({}, 1, "delivered"), ({}, 2, "bounced")):
            await house.respond(answers, now=now - timedelta(hours=1), count=count)
            await house.execute(
                f"""update questionnaire_instance set channel_id = 1, pipeline_id = $1, {column}_time = $2
                    where sent_time = $3 and channel_id is null""",  # pyrefly: ignore[bad-argument-type]
                *(PIPELINE, now, now - timedelta(hours=1)),
            )
        by_day = await house.template("sending")
        assert 30 <= len(by_day["rows"]) <= 32
        for result in (
            by_day,
            await house.template("sending", by="channel"),
            await house.template("sending", by="pipeline"),
        ):
            assert [18, 10, 2, 9, 9] == [
                figure(result, name)["value"] for name in ("sent", "delivered", "bounced", "started", "completed")
            ]
            assert (50.0, 18) == (figure(result, "response")["value"], figure(result, "response")["n"])
        assert [{"channel": 1}, {"channel": None}] == [
            row["key"] for row in (await house.template("sending", by="channel"))["rows"]
        ]
        assert ([12, 10, 2], [6, 0, 0]) == tuple(
            [figure(result, name, row)["value"] for name in ("sent", "delivered", "bounced")] for row in (0, 1)
        )
        assert [(PIPELINE, None), (None, 0)] == [
            (row["selection"]["pipeline_id"], row["selection"]["channel_id"]) for row in result["rows"]
        ]
        assert "bounced" not in {one["metric"] for one in (await house.template("funnel"))["total"]}

    async def test_for_readers_of_figures_alone(self, house: House) -> None:
        token = await house.token_for(scopes={"Report.Read"})
        given = {"questionnaire_id": house.questionnaire_id}
        for path, more in (("sending", {}), ("sending", {"by": "channel"})):
            assert 422 == (await house.get(f"/report/template/{path}", token=token, **given, **more)).status_code
        spec = {"questionnaire_ids": [house.questionnaire_id], "metrics": [{"metric": "response"}]}
        body = {"spec": {**spec, "group_by": ["pipeline"]}}
        headers = {"Authorization": f"Bearer {token}"}
        assert 422 == (await house.send("POST", "/report/run", body, **headers)).status_code


class TestTrend:
    async def test_every_bucket_stands(self, house: House, now: datetime) -> None:
        await give(house, now, [9] * 5)
        result = await house.template("trend", metric="nps", bucket="day")
        first, last = (date.fromisoformat(result["period"][name][:10]) for name in ("from_time", "to_time"))
        assert (last - first).days + 1 == len(result["rows"])  # 30 days that a change of the clock may make 30 or 31
        quiet = result["rows"][:-2]  # the answers are of the last hours, which may be yesterday's
        assert [0] * len(quiet) == [row["figures"][0]["n"] for row in quiet]
        assert 5 == sum(row["figures"][0]["n"] for row in result["rows"])

    async def test_rates(self, house: House, now: datetime) -> None:
        for answers in ({NPS: 9}, {}):
            await house.respond(answers, now=now - timedelta(hours=1), count=4)
        result = await house.template("trend", metric="response", bucket="month")
        assert (50.0, 8, "sent") == tuple(figure(result, "response")[name] for name in ("value", "n", "base"))
        assert ("sent", "sent") == (result["period"]["date_basis"], result["parameters"]["date_basis"])

    async def test_at_most_a_thousand_rows(self, house: House, now: datetime) -> None:
        from_time = (now - timedelta(days=1_200)).isoformat()
        result = await house.template("trend", metric="nps", bucket="day", from_time=from_time)
        assert (1_000, True) == (len(result["rows"]), result["truncated"])
        last = (now.astimezone(datetime.fromisoformat(result["period"]["to_time"]).tzinfo)).date()
        assert last.isoformat() == result["rows"][-1]["key"]["bucket"]

    async def test_mean_of_a_number(self, house: House, now: datetime) -> None:
        await give(house, now, [1.5, 2.5, 2, 3, 1], NUMBER)
        result = await house.template("trend", metric="mean", question_id=NUMBER, bucket="quarter")
        assert (2.0, 5) == tuple(figure(result, "mean")[name] for name in ("value", "n"))


class TestSmallGroups:
    """Nothing is hidden from whoever may read each answer; readers of figures alone are in `counts/`."""

    BY_STORE: Final = {"metric": "nps", "metadata": "questionnaire_metadata:store_id"}

    async def test_readers_of_single_answers_see_each_figure(self, house: House, now: datetime) -> None:
        for store, size in (("a", 1), ("b", 6)):
            await give(house, now, [9] * size, metadata={"store_id": store})
        result = await house.template("by_metadata", **self.BY_STORE)
        shown = {row["key"]["questionnaire_metadata:store_id"]: row["figures"][0]["n"] for row in result["rows"]}
        assert ({"a": 1, "b": 6}, 0, 7) == (shown, result["suppressed_rows"], result["total"][0]["n"])
        for template_id, more in (("nps", {}), ("trend", {"metric": "nps", "bucket": "day"}), ("funnel", {})):
            found = await house.template(template_id, **more)
            figures = [*found["total"], *(figure for row in found["rows"] for figure in row["figures"])]
            assert not any(figure["suppressed"] for figure in figures), template_id

    async def test_a_few_chosen_of_many_invitations(self, house: House, now: datetime) -> None:
        await house.respond({NPS: 9}, now=now - timedelta(hours=1), count=120)
        await house.execute(
            """update questionnaire_instance set channel_id = 1 where instance_id in (
                 select instance_id from questionnaire_instance order by instance_id desc limit 3)"""
        )
        created = [figure(await house.template("funnel", **more), "created") for more in ({}, {"channel_id": "1"})]
        assert [(120.0, False), (3.0, False)] == [(found["value"], found["suppressed"]) for found in created]

    async def test_values_that_the_reader_may_not_read(self, house: House, now: datetime) -> None:
        """By metadata it is a reader of figures alone, by groups and in a filter; without them it is none."""
        await give(house, now, [0], metadata={"store_id": "a"})
        token = await house.token_for(scopes={"Report.Read", "Questionnaire Instance.Read"})
        given = {"questionnaire_id": house.questionnaire_id, "token": token}
        equal = '{"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "a"}'
        by_store = (await house.get("/report/template/by_metadata", **given, **self.BY_STORE)).json()
        filtered = (await house.get("/report/template/nps", **given, filter=equal)).json()
        # This month is not over; in its first hours the answer is one of the last month, and alone there.
        assert {0, None} >= {found["total"][0]["n"] for found in (by_store, filtered)}
        assert 1 == (await house.get("/report/template/nps", **given)).json()["total"][0]["n"]
