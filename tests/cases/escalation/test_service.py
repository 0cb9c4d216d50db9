"""Overdue cases are told once for each due time; old ones are escalated once, without the time of waiting."""

from datetime import timedelta

from afterword.cases import escalation
from tests.cases.conftest import Desk

AGE = "update alert_instance set created_time = created_time - make_interval(hours => $1)"


async def test_overdue(desk: Desk) -> None:
    case = await desk.case(due_hours=1)
    path = f"/alert/instance/{case['alert_instance_id']}"
    assert 0 == await _run(desk)
    assert 1 == await _run(desk, later=timedelta(hours=2))
    assert 0 == await _run(desk, later=timedelta(hours=2))
    await desk.api.ok("PATCH", path, {"due_time": (await desk.now() + timedelta(hours=3)).isoformat()})
    assert 1 == await _run(desk, later=timedelta(hours=4))
    await desk.api.ok("PATCH", path, {"status_id": 3, "due_time": (await desk.now() + timedelta(hours=5)).isoformat()})
    assert 0 == await _run(desk, later=timedelta(hours=9))
    assert 2 == (await desk.kinds()).count("overdue")


async def test_escalated_once(desk: Desk) -> None:
    boss = await desk.person("boss")
    alert = await desk.alert(severity="normal")
    for _ in range(3):
        await desk.raised()
    young, old, waited = [case["alert_instance_id"] for case in await desk.cases()]
    await desk.execute(f"{AGE} where alert_instance_id <> $2", 10, young)
    await desk.execute("update alert_instance set waited_seconds = 3600 * 8 where alert_instance_id = $1", waited)
    tried = await desk.api.get(f"/alert/{alert['alert_id']}/escalation?escalation_hours=5")
    assert 2 == tried["open_cases"]
    assert 0 == await _run(desk)
    changes = {"escalation_hours": 5, "escalation_severity": "high", "escalation_user_id": boss.user_id}
    assert changes.items() <= (await desk.api.ok("PATCH", f"/alert/{alert['alert_id']}", changes)).items()
    assert [1, 0] == [await _run(desk) for _ in range(2)]
    shown = await desk.api.get(f"/alert/instance/{old}")
    assert ("high", boss.user_id) == (shown["severity"], shown["assigned_user_id"])
    assert shown["escalated_time"] is not None
    assert 1 == await _run(desk, later=timedelta(hours=4))  # the one that waited for eight hours
    assert ["assigned", "escalated"] * 2 == [kind for kind in await desk.kinds() if kind != "created"]
    entry = (await desk.api.get(f"/alert/instance/{old}/history"))["results"][-1]
    assert {"from": "normal", "to": "high"} == entry["changes"]["severity"]


async def test_escalated_to_somebody_who_left(desk: Desk) -> None:
    """The case keeps its owner, who is told."""
    ann, boss = await desk.person("ann"), await desk.person("boss")
    changes = {"escalation_hours": 5, "escalation_severity": "high", "escalation_user_id": boss.user_id}
    await desk.alert(severity="normal", assigned_user_id=ann.user_id, **changes)
    await desk.raised()
    await desk.execute(f"{AGE} where alert_instance_id <> $2", 10, "")
    await desk.execute("update organization_user set active = false where user_id = $1", boss.user_id)
    assert 1 == await _run(desk)
    [case] = await desk.cases()
    assert ("high", ann.user_id) == (case["severity"], case["assigned_user_id"])


async def _run(desk: Desk, *, later: timedelta = timedelta(0)) -> int:
    count, after = await desk.run(escalation.see_to_open, after=escalation.START, now=await desk.now() + later)
    assert escalation.START == after
    return count
