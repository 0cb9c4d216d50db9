"""The owner of a new case: by the value of a field, shared by open cases, else the one whom the rule names."""

from typing import Any

from afterword.cases.alert_instances import store as stored
from afterword.kit import db
from tests.cases.conftest import Desk

STORE = "questionnaire_metadata:store_id"


async def test_refusals(desk: Desk) -> None:
    agent = await desk.person("ann")
    known = {"value": "7", "user_ids": [agent.user_id]}
    for assignment, place in (
        ({"choices": [known]}, "required /assignment/subject"),
        ({"subject": f"question:{'0' * 22}", "choices": [known]}, "unknown_id /assignment/subject"),
        ({"subject": "tag:vip", "choices": [known]}, "unknown_value /assignment/subject"),
        ({"subject": STORE, "choices": [{"value": "7", "user_ids": []}]},
         "too_few /assignment/choices/0/user_ids"),
    ):  # fmt: skip
        body = {"application_id": desk.house.application_id, "title": "Wrong", "assignment": assignment}
        assert (422, place) == await desk.api.refused("POST", "/alert", body)


async def test_owners(desk: Desk) -> None:
    ann, ben, eva = [str((await desk.person(name)).user_id) for name in ("ann", "ben", "eva")]
    rule = await desk.alert(
        assigned_user_id=desk.house.user_id,
        assignment={
            "subject": f"question:{desk.score_id}",
            "choices": [{"value": "1", "user_ids": [ann, ben]}],
            "user_ids": [eva],
        },
    )
    path = f"/alert/{rule['alert_id']}"

    async def owners(*scores: int) -> list[str]:
        """Those of the new cases."""
        before = {one["alert_instance_id"] for one in await desk.cases()}
        for score in scores:
            await desk.raised(score)
        new = [one for one in await desk.cases() if one["alert_instance_id"] not in before]
        return [one["assigned_user_id"] for one in new]

    # Those of one batch count for each other.
    assert sorted([ann, ben, ann]) == sorted(await owners(1, 1, 1))
    assert [ben, eva] == sorted(await owners(1, 4), key=[ben, eva].index)
    for query in ("", f"?application_id={desk.house.application_id}"):
        load = (await desk.api.get(f"/alert/assignee{query}"))["results"]
        assert {ann: 2, ben: 2, eva: 1, desk.house.user_id: 0} == {one["user_id"]: one["open_cases"] for one in load}
    await desk.api.ok("PATCH", path, {"assignment": {"user_ids": [eva, desk.house.user_id]}})
    assert [desk.house.user_id] == await owners(1)
    await desk.api.ok("PATCH", path, {"assigned_user_id": ann, "assignment": None})
    assert [ann] == await owners(3)
    assert (await desk.api.get(path))["assignment"] is None


async def test_nobody_left(desk: Desk) -> None:
    """Candidates who have left since take nothing; the rule's own owner gets the case."""
    ben = await desk.person("ben")
    await desk.alert(assigned_user_id=desk.house.user_id, assignment={"user_ids": [ben.user_id]})
    await desk.execute("update organization_user set active = false where user_id = $1", ben.user_id)
    await desk.raised()
    assert [desk.house.user_id] == [one["assigned_user_id"] for one in await desk.cases()]


async def test_the_named_owner_has_left(desk: Desk) -> None:
    """The case has no owner then, in place of one who is told nothing; so do those from before."""
    ben = await desk.person("ben")
    alert = await desk.alert(assigned_user_id=ben.user_id)
    await desk.raised()
    await desk.execute(
        "update organization_user set active = false, removed_time = now() where user_id = $1", ben.user_id
    )
    await desk.raised()
    assert [ben.user_id, None] == [one["assigned_user_id"] for one in await desk.cases()]
    await desk.api.ok("PATCH", f"/alert/{alert['alert_id']}", {"assigned_user_id": None})
    reach: Any = {**desk.house.caller.reach, "only": None, "user_id": None, "now": await desk.now()}
    assert 2 == (await desk.run(stored.count_cases, **reach))["unassigned"]
    assert 2 == len(await desk.run(stored.list_work, **reach, tab="unassigned", after=None, limit=9))


async def test_branches(desk: Desk) -> None:
    """Whoever sees one branch gets its cases alone, by the rule or by hand."""
    limits = [{"only_where": "store_id", "only_values": [store]} for store in ("7", "8")]
    ann, ben = [str((await desk.person(name, **one)).user_id) for name, one in zip(("ann", "ben"), limits, strict=True)]
    await desk.alert(assigned_user_id=desk.house.user_id, assignment={"user_ids": [ann, ben]})
    owners = {"7": ann, "8": ben, "9": desk.house.user_id, "": desk.house.user_id}
    for store, owner in owners.items():
        instance = await desk.issue()
        await desk.execute(
            """update questionnaire_instance set metadata = jsonb_build_object('store_id', $2::text)
               where instance_id = $1""",
            *(instance.instance_id, store),
        )
        await desk.answer(instance, {desk.score_id: 1})
        await desk.raise_all()
        case = (await desk.cases())[-1]
        assert (instance.instance_id, owner) == (case["instance_id"], case["assigned_user_id"])
        path = f"/alert/instance/{case['alert_instance_id']}"
        for user_id in (ann, ben):
            if user_id == owner:
                await desk.api.ok("PATCH", path, {"assigned_user_id": None})
                await desk.api.ok("PATCH", path, {"assigned_user_id": user_id})
            else:
                wrong = 422, "unknown_id /assigned_user_id"
                assert wrong == await desk.api.refused("PATCH", path, {"assigned_user_id": user_id})


async def test_notices(desk: Desk) -> None:
    """People with a limit are told of nothing: a notice may be about any branch."""
    ann, ben = (await desk.person("ann"), await desk.person("ben", only_where="store_id", only_values=["7"]))
    await desk.alert(subscriber_user_ids=[ann.user_id, ben.user_id])
    await desk.raised()
    await desk.notify_all()
    count = "select count(*) from notification where user_id = $1"
    async with db.connection(desk.pool) as database:
        assert 1 == await database.fetch_value(count, ann.user_id)
        assert 0 == await database.fetch_value(count, ben.user_id)
