"""The figures of the work on cases: who may read them, what counts when, and the groups."""

from typing import Any

from tests.cases.conftest import Desk

PATH = "/alert/figures"


async def test_wrong(desk: Desk) -> None:
    for query, wrong in (
        ("from_time=2026-01-02T00:00:00Z&to_time=2026-01-01T00:00:00Z", "out_of_range to_time"),
        ("from_time=2020-01-02T00:00:00Z&to_time=2026-01-01T00:00:00Z&group_by=day", "too_many group_by"),
        ("group_by=person", "unknown_value group_by"),
    ):
        assert (422, wrong) == await desk.api.refused("GET", f"{PATH}?{query}")


async def test_figures(desk: Desk) -> None:
    """Four cases: one is open, one was closed in time, one late and one without a due time; two were asked again."""
    empty = await desk.api.get(PATH)
    assert (0, 0, None, None) == tuple(empty["total"][name] for name in ("opened", "closed", "median_hours", "key"))
    assert {"hits": 0, "n": 0, "value": None, "low": None, "high": None} == empty["total"]["in_time"]
    await desk.alert(title="Unhappy", due_hours=24)
    for _ in range(4):
        await desk.raised()
    first, second, third, _ = [case["alert_instance_id"] for case in await desk.cases()]
    move = "update alert_instance set created_time = now() - make_interval(hours => $2) where alert_instance_id = $1"
    await desk.execute(move, first, 2)
    await desk.execute(move, second, 50)
    await desk.execute(
        "update alert_instance set due_time = now() - interval '1 hour' where alert_instance_id = $1", second
    )
    await desk.execute("update alert_instance set due_time = null where alert_instance_id = $1", third)
    await desk.api.ok("PATCH", f"/alert/instance/{first}", {"waiting": True})
    await desk.execute(
        "update alert_instance set waiting_since = now() - interval '1 hour' where alert_instance_id = $1", first
    )
    for case_id, cause in ((first, "Late"), (second, "Late"), (third, None)):
        await desk.api.ok("PATCH", f"/alert/instance/{case_id}", {"status_id": 3, "cause": cause})
    for case_id, recovered in ((first, True), (second, False)):
        await desk.execute(
            "update alert_instance set recovered = $2, recovery_time = now() where alert_instance_id = $1",
            *(case_id, recovered),
        )
    shown = await desk.api.get(f"{PATH}?group_by=cause")
    total = shown["total"]
    assert (4, 3, 3, 2) == tuple(total[name] for name in ("opened", "closed", "measured", "answered"))
    assert (1, 2, 50.0) == tuple(total["in_time"][name] for name in ("hits", "n", "value"))
    assert (1, 2, 50.0) == tuple(total["won_back"][name] for name in ("hits", "n", "value"))
    assert 1.0 == total["median_hours"]  # of two hours one was waiting, and the others took none and fifty
    assert [("Late", 2, 2), (None, 2, 1)] == [(row["key"], row["opened"], row["closed"]) for row in shown["rows"]]
    for group, key in (("owner", None), ("severity", "normal"), ("day", None)):
        rows = (await desk.api.get(f"{PATH}?group_by={group}"))["rows"]
        assert 4 == sum(row["opened"] for row in rows)
        assert group == "day" or [key] == [row["key"] for row in rows]
    statuses = (await desk.api.get(f"{PATH}?group_by=status"))["rows"]
    assert {"Closed": 3, "New": 0} == {row["title"]: row["closed"] for row in statuses}
    listed: list[dict[str, Any]] = (await desk.api.get("/alert/instance?filter_by[EQUAL][InTime]=true"))["results"]
    assert [first] == [case["alert_instance_id"] for case in listed]
    assert 3600 <= listed[0]["work_seconds"] <= 3660  # and the seconds of the test
    future = await desk.api.get(f"{PATH}?from_time=2031-01-01T00:00:00Z&to_time=2031-02-01T00:00:00Z")
    assert (0, 0) == (future["total"]["opened"], future["total"]["closed"])
