"""Reports for somebody who sees one branch: as for everybody with a filter by that branch, and nothing beside it."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.listening.reports import counts, results, shares
from tests.listening.reports.conftest import CES, CHOICE, CSAT, NPS, TEXT, House
from tests.listening.reports.test_shares import saved, secret_of
from tests.making import make_token

STORE = "questionnaire_metadata:store_id"
SOUTH = json.dumps({"subject": STORE, "operator": "equal", "value": "south"})
OF_FIGURES = SCOPES - {"Questionnaire Instance.Read"}


@pytest.fixture
async def stores(house: House, now: datetime) -> House:
    """The north is content, the south is not; both answer in two months."""
    for days in (1, 40, 70):
        for store, score, count in (("north", 9, 12), ("south", 3, 8)):
            await house.respond(
                {NPS: score, CSAT: score // 2, CES: score % 5 + 1, CHOICE: score % 3 + 1, TEXT: f"words of {store}"},
                now=now - timedelta(days=days, minutes=1),
                metadata={"store_id": store},
                count=count,
            )
    await house.follow()
    return house


async def token_of(house: House, *values: str, scopes: frozenset[str] = SCOPES) -> str:
    options = {"only_where": "store_id", "only_values": list(values)}
    return await make_token(house.pool, house.caller.organization_id, scopes=scopes, **options)


def figures(document: dict[str, Any]) -> list[object]:
    """The rows and the total, without the condition that only one of them names."""
    return [document["total"], document["suppressed_rows"], [(row["key"], row["figures"]) for row in document["rows"]]]


async def test_as_with_a_filter(stores: House) -> None:
    of_one, of_both = await token_of(stores, "south"), await token_of(stores, "south", "north")
    for template, parameters in (
        ("nps", {}),
        ("nps", {"compare": "previous_period"}),
        ("csat", {"date_basis": "completed"}),
        ("trend", {"metric": "nps", "bucket": "week", "compare": "previous_period"}),
        ("by_metadata", {"metric": "nps", "metadata": STORE}),
        ("distribution", {"question_id": CHOICE}),
        ("drivers", {"outcome_question_id": NPS}),
        ("funnel", {}),
        ("sending", {"by": "channel"}),
    ):
        given = {"questionnaire_id": stores.questionnaire_id, **parameters}
        limited = await stores.get(f"/report/template/{template}", token=of_one, **given)
        assert 200 == limited.status_code, limited.text
        assert figures(await stores.template(template, filter=SOUTH, **parameters)) == figures(limited.json())
        assert "north" not in limited.text
        both = await stores.get(f"/report/template/{template}", token=of_both, **given)
        if template != "by_metadata":
            assert figures(await stores.template(template, **parameters)) == figures(both.json())


async def test_of_figures_alone(stores: House) -> None:
    """A reader of figures alone gets whole months, in which small groups stay hidden."""
    whole = await stores.token_for(scopes=OF_FIGURES)
    limited = await token_of(stores, "south", scopes=OF_FIGURES)
    templates = {"nps": {}, "trend": {"metric": "nps", "bucket": "month"}, "distribution": {"question_id": CHOICE}}
    for template, parameters in templates.items():
        given = {"questionnaire_id": stores.questionnaire_id, "last_days": 90, **parameters}
        asked = await stores.get(f"/report/template/{template}", token=whole, filter=SOUTH, **given)
        found = await stores.get(f"/report/template/{template}", token=limited, **given)
        assert figures(asked.json()) == figures(found.json())
        assert found.json()["total"][0]["n"]


async def test_no_filter_widens_it(stores: House) -> None:
    token = await token_of(stores, "south")
    north = {"subject": STORE, "operator": "equal", "value": "north"}
    spec = {"questionnaire_ids": [stores.questionnaire_id], "metrics": [{"metric": "nps"}], "filter": north}
    response = await stores.send("POST", "/report/run", {"spec": spec}, Authorization=f"Bearer {token}")
    assert (200, 0) == (response.status_code, response.json()["total"][0]["n"])


async def test_words_of_comments(stores: House) -> None:
    """Those of the branch, also in a saved report of words."""
    token = await token_of(stores, "south")
    found = (await stores.get("/q/response/word", token=token)).json()
    assert 3 == found["n"]
    assert {"words", "south"} >= {one["text"] for one in found["words"]}
    report_id = await saved(stores, template_id="comments", metric=None, bucket=None, last_days=90)
    run = await stores.get(f"/report/custom/{report_id}/run", token=token)
    assert 3 == run.json()["total"][0]["value"]
    assert "north" not in run.text


async def test_too_many(stores: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number of responses of all branches that is too large to look through is refused, and so are too many own."""
    token = await token_of(stores, "south")
    given = {"questionnaire_id": stores.questionnaire_id, "token": token}
    for name, most in (("RESPONSES_MAX", 19), ("FILTERED_MAX", 7)):
        with monkeypatch.context() as patched:
            patched.setattr(counts, name, most)
            assert 422 == (await stores.get("/report/template/nps", **given)).status_code
            patched.setattr(counts, name, most + 1)
            assert 200 == (await stores.get("/report/template/nps", **given)).status_code


class TestOverview:
    async def test_ok(self, stores: House) -> None:
        """The own figures, beside those of all where the others are enough."""
        found = (await stores.get("/report/overview", token=await token_of(stores, "south"))).json()
        score = next(one for one in found["scores"] if one["figure"]["metric"] == "nps")
        assert (8, -100.0) == (score["figure"]["n"], score["figure"]["value"])
        assert [8] == [one["figure"]["n"] for one in score["bins"] if one["figure"]["n"]]
        assert (20, 20.0) == (score["of_all"]["n"], score["of_all"]["value"])
        assert [8] * 2 == [found["funnel"][0]["value"], found["funnel"][-1]["value"]]

    async def test_few_others(self, stores: House) -> None:
        await stores.set_organization(minimum_base=13)
        found = (await stores.get("/report/overview", token=await token_of(stores, "south"))).json()
        assert [None] * len(found["scores"]) == [one["of_all"] for one in found["scores"]]

    async def test_everybody(self, stores: House) -> None:
        found = (await stores.get("/report/overview")).json()
        assert {None} == {one["of_all"] for one in found["scores"]}
        assert 20 == found["funnel"][0]["value"]


class TestInvitations:
    async def test_ok(self, stores: House) -> None:
        token = await token_of(stores, "south")
        given = {"questionnaire_id": stores.questionnaire_id}
        found = (await stores.get("/report/invitation", token=token, **given)).json()["results"]
        whole = (await stores.get("/report/invitation", limit=500, **given)).json()["results"]
        assert (8, 20) == (len(found), len(whole))
        other = next(one for one in whole if one["instance_id"] not in {each["instance_id"] for each in found})
        page = (await stores.get("/report/invitation", limit=1, **given)).json()
        assert page["next_cursor"] is not None
        refused = await stores.get("/report/invitation", token=token, after=page["next_cursor"], **given)
        newest = page["results"][0]["instance_id"]
        is_own = newest in {each["instance_id"] for each in found}
        assert (200 if is_own else 422) == refused.status_code
        assert other["instance_id"] not in refused.text


class TestShares:
    async def test_a_link_stays_limited(self, stores: House, now: datetime) -> None:
        """Its figures are those of the branch, for whoever reads it; others with a limit do not find it."""
        token, other = await token_of(stores, "south"), await token_of(stores, "north")
        report_id = await saved(stores, template_id="nps", metric=None, bucket=None, last_days=90)
        path = f"/report/custom/{report_id}/share"
        made = await stores.send("POST", path, {}, Authorization=f"Bearer {token}")
        assert 201 == made.status_code, made.text
        async with db.connection(stores.pool) as database:
            key = {"organization_id": stores.caller.organization_id, "secret": secret_of(made.json())}
            _, plan = await shares.read(database, **key, now=now)
            result = await results.run_plan(database, plan)
        assert {0, 8} >= {result.total[0].measure.n % 8}
        assert {-100.0} == {result.total[0].measure.value}
        assert [[], [made.json()["share_id"]], [made.json()["share_id"]]] == [
            [one["share_id"] for one in (await stores.get(path, token=each)).json()] for each in (other, token, None)
        ]
        removed = [
            await stores.send("DELETE", f"{path}/{made.json()['share_id']}", Authorization=f"Bearer {each}")
            for each in (other, token)
        ]
        assert [404, 204] == [one.status_code for one in removed]

    async def test_saved_reports_are_of_the_organization(self, stores: House) -> None:
        """They are read and run, and nobody with a limit changes them."""
        report_id = await saved(stores)
        limited = f"Bearer {await token_of(stores, 'south')}"
        for method, body in (("PATCH", {"title": "Ours"}), ("DELETE", None)):
            refused = await stores.send(method, f"/report/custom/{report_id}", body, Authorization=limited)
            assert 403 == refused.status_code
