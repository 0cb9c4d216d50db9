"""Rules and cases as a caller of some applications sees them: none of other applications."""

from tests.cases.conftest import Desk

ABSENT = "zzzzzzzzzzzzzzzzzzzzzz"


class TestApplications:
    async def test_others_are_not_seen(self, desk: Desk) -> None:
        """Neither the rules nor the cases of an application that the caller is not for."""
        case = await desk.case()
        other = await desk.api.ok("POST", "/application", {"display_name": "Other"})
        stranger = await desk.token(application_ids=[other["application_id"]])
        for path in ("/alert", "/alert/instance"):
            assert [] == (await stranger.get(path))["results"]
        for path in (f"/alert/{case['alert_id']}", f"/alert/instance/{case['alert_instance_id']}"):
            assert (404, "not_found") == await stranger.refused("GET", path)
            assert (404, "not_found") == await stranger.refused("PATCH", path, {"severity": "low"})
        body = {"application_id": desk.house.application_id, "title": "A"}
        assert (422, "unknown_id /application_id") == await stranger.refused("POST", "/alert", body)
        assert (await stranger.ok("POST", "/alert", {**body, "application_id": other["application_id"]}))["active"]

    async def test_own_are(self, desk: Desk) -> None:
        case = await desk.case()
        friend = await desk.token(application_ids=[desk.house.application_id])
        assert [case] == (await friend.get("/alert/instance"))["results"]

    async def test_test_token_sees_no_case(self, desk: Desk) -> None:
        case = await desk.case()
        tester = await desk.token(test=True)
        assert [] == (await tester.get("/alert/instance"))["results"]
        assert [] == (await tester.get(f"/alert/{case['alert_id']}/instance"))["results"]
        path = f"/alert/instance/{case['alert_instance_id']}"
        assert (404, "not_found") == await tester.refused("GET", path)
