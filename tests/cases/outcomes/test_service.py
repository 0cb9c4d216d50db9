"""Cause and remedy of the case that was closed last: as groups and filters of reports, and in searches."""

from typing import Any

from afterword.core.organizations.access import SCOPES
from afterword.listening.responses import rows
from tests.cases.conftest import Client, Desk
from tests.cases.previews.test_service import follow
from tests.contract.alerting import read_all

CLOSED = 3
LATE = {"subject": "case:cause", "operator": "equal", "value": "late delivery"}


async def run(desk: Desk, **changes: Any) -> dict[tuple[str | None, ...], tuple[float | None, int | None]]:
    """The value and the number of answers of each row."""
    spec = {
        "questionnaire_ids": [desk.house.questionnaire_id],
        "metrics": [{"metric": "csat", "question_id": desk.score_id}],
        **changes,
    }
    result = await desk.api.ok("POST", "/report/run", {"spec": spec})
    found: dict[tuple[str | None, ...], tuple[float | None, int | None]] = {}
    for key, figures in [(one["key"].values(), one["figures"]) for one in result["rows"]] + [
        (["total"], result["total"])
    ]:
        found[tuple(key)] = figures[0]["value"], figures[0]["n"]
    return found


async def blind_token(desk: Desk) -> Client:
    """A token that may not read cases."""
    blind = await desk.token(user_id=None)
    await desk.execute(
        "update token set scopes = $1 where selector = $2",
        *(sorted(SCOPES - {"Alert Instance.Read"}), blind.token.split("_")[1]),
    )
    return blind


async def test_groups_and_filters(desk: Desk) -> None:
    await desk.execute("update organization set minimum_base = 1")
    await desk.alert(conditions=desk.low())
    for score in (1, 1, 1, 5):
        await desk.raised(score)
    for case, (cause, remedy) in zip(
        await desk.cases(),
        (("Late delivery", "Voucher"), ("Late delivery", None), ("Wrong size", "Voucher")),
        strict=True,
    ):
        path = f"/alert/instance/{case['alert_instance_id']}"
        await desk.api.ok("PATCH", path, {"status_id": CLOSED, "cause": cause, "remedy": remedy})
    # A second rule, whose case is closed later: its cause is the one that counts.
    await desk.alert(conditions={"subject": f"question:{desk.score_id}", "operator": "equal", "value": 5})
    again = await desk.raised(5)
    [open_case] = [one for one in await desk.cases() if one["instance_id"] == again.instance_id]
    await desk.api.ok("PATCH", f"/alert/instance/{open_case['alert_instance_id']}", {"cause": "Late delivery"})
    by_cause = await run(desk, group_by=["case:cause"])
    assert {("Late delivery",): (0, 2), ("Wrong size",): (0, 1), (None,): (100, 2), ("total",): (40, 5)} == by_cause
    await desk.api.ok("PATCH", f"/alert/instance/{open_case['alert_instance_id']}", {"status_id": CLOSED})
    assert (33.33, 3) == (await run(desk, group_by=["case:cause"]))["Late delivery",]
    both = await run(desk, group_by=["case:cause", "case:remedy"])
    assert (0, 1) == both["Late delivery", "Voucher"]
    assert (50, 2) == both["Late delivery", None]
    assert {("total",): (33.33, 3)} == await run(desk, filter=LATE)
    assert 422 == (await desk.api.send("POST", "/report/run", {"spec": {
        "questionnaire_ids": [desk.house.questionnaire_id], "metrics": [{"metric": "csat"}], "group_by": ["case:owner"],
    }})).status_code  # fmt: skip
    await read_all(desk.pool, rows.READER, follow)
    found = await desk.api.ok("POST", "/q/response/search", {"condition": LATE})
    noted = {one["instance_id"] for one in await desk.cases() if one["cause"] == "Late delivery"}
    assert noted == {one["instance_id"] for one in found["results"]}
    blind = await blind_token(desk)
    assert (403, "insufficient_scope") == await blind.refused("POST", "/q/response/search", {"condition": LATE})


async def test_causes_of_few_cases(desk: Desk) -> None:
    """Their figures are open to whoever may read the cases; for others the total less the frequent ones would tell."""
    await desk.alert()
    for _ in range(6):
        await desk.raised(1)
    for index, case in enumerate(await desk.cases()):
        path = f"/alert/instance/{case['alert_instance_id']}"
        await desk.api.ok("PATCH", path, {"status_id": CLOSED, "cause": "Rare" if index == 0 else "Frequent"})
    found = await run(desk, group_by=["case:cause"])
    assert {("Rare",): (0, 1), ("Frequent",): (0, 5), ("total",): (0, 6)} == found
    blind = await blind_token(desk)
    spec = {"questionnaire_ids": [desk.house.questionnaire_id], "metrics": [{"metric": "csat"}]}
    whole, by_cause = [
        await blind.ok("POST", "/report/run", {"spec": {**spec, "group_by": groups}}) for groups in ([], ["case:cause"])
    ]
    assert (6, 0) == (whole["total"][0]["n"], by_cause["total"][0]["n"]), "this month is not over"
