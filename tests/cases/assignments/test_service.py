"""The owner of a new case: by the value of a field, shared by open cases, else the one whom the rule names."""

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
