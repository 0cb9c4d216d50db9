"""Applications over HTTP: who may not, their types, and what a type brings."""

from afterword.asking.questionnaires import metadata
from afterword.kit import db
from tests.tenants.organizations.conftest import Desk

CUSTOM = "0000000000000000custom"
RETAIL = "0000000000000000retail"


class TestApplicationTypes:
    async def test_ok(self, desk: Desk) -> None:
        """The fixed segment wins over an id."""
        found = (await desk.ask("GET", "/application/type")).json()
        assert ["custom", "hospitality", "retail", "services"] == [each["name"] for each in found]
        assert {"application_type_id", "name", "title", "description"} == found[0].keys()


class TestApplications:
    async def test_delete_in_use(self, desk: Desk) -> None:
        await desk.execute("update questionnaire set archived_time = now()")
        reply = await desk.ask("DELETE", f"/application/{desk.house.application_id}")
        assert (409, "in_use") == (reply.status_code, reply.json()["code"])
        assert 200 == (await desk.ask("GET", f"/application/{desk.house.application_id}")).status_code

    async def test_delete_with_removed_rules(self, desk: Desk) -> None:
        """Alerts and webhooks that were removed before, which nobody sees, do not stand against it."""
        made = (await desk.ask("POST", "/application", json={"display_name": "Second"})).json()["application_id"]
        alert = {"application_id": made, "title": "Late"}
        hook = {"application_id": made, "title": "Ours", "target_url": "https://a.example", "event_types": ["tag.*"]}
        for path, document, key in (("/alert", alert, "alert_id"), ("/webhook", hook, "webhook_id")):
            one = (await desk.ask("POST", path, json=document)).json()[key]
            assert 409 == (await desk.ask("DELETE", f"/application/{made}")).status_code, path
            assert 204 == (await desk.ask("DELETE", f"{path}/{one}")).status_code
        assert 204 == (await desk.ask("DELETE", f"/application/{made}")).status_code

    async def test_create(self, desk: Desk) -> None:
        document = {
            "display_name": "Web shop", "application_type_id": RETAIL, "description": "All of it",
            "time_zone": "Europe/Berlin", "default_locale": "de-AT", "website_urls": ["https://shop.example"],
            "active": False,
        }  # fmt: skip
        reply = await desk.ask("POST", "/application", json=document)
        assert 201 == reply.status_code
        made = reply.json()
        assert {**document, "default_locale": "de-at"} == {name: made[name] for name in document}
        assert reply.headers["location"].endswith(f"/v3.2/application/{made['application_id']}")
        assert made == (await desk.ask("GET", f"/application/{made['application_id']}")).json()
        assert (desk.house.token_id, desk.house.organization_id) == (made["created_by"], made["organization_id"])

    async def test_of_a_type_has_its_metadata_definitions(self, desk: Desk) -> None:
        definition = {
            "name": "order_total", "title": "Total", "type": "number", "level": "application_type",
            "application_type_id": RETAIL,
        }  # fmt: skip
        assert 201 == (await desk.ask("POST", "/q/metadata/questionnaire", json=definition)).status_code
        known: list[bool] = []
        for type_id in (RETAIL, CUSTOM):
            document = {"display_name": "A", "application_type_id": type_id}
            made = (await desk.ask("POST", "/application", json=document)).json()
            async with db.connection(desk.pool) as database:
                declared = await metadata.declared(
                    database, organization_id=desk.house.organization_id, application_id=made["application_id"]
                )
            known.append(declared.get("questionnaire", "order_total") is not None)
        assert [True, False] == known

    async def test_change_and_delete(self, desk: Desk) -> None:
        made = (await desk.ask("POST", "/application", json={"display_name": "A"})).json()
        assert (CUSTOM, True, []) == (made["application_type_id"], made["active"], made["website_urls"])
        path = f"/application/{made['application_id']}"
        whole = await desk.ask("PATCH", path, json={**made, "description": "B", "application_type_id": RETAIL})
        assert ("B", CUSTOM) == (whole.json()["description"], whole.json()["application_type_id"])
        stale = await desk.ask("DELETE", path, headers={"If-Match": '"1"'})
        assert 412 == stale.status_code
        assert 204 == (await desk.ask("DELETE", path, headers={"If-Match": whole.headers["etag"]})).status_code
        assert 404 == (await desk.ask("GET", path)).status_code
        assert 404 == (await desk.ask("DELETE", path)).status_code

    async def test_an_application_without_its_own_takes_its_plan_along(self, desk: Desk) -> None:
        second = await desk.application()
        await desk.execute(
            """insert into plan (organization_id, plan_id, application_id, title, kind, start_time)
               values ($1, $2, $3, 'Own', 'unlimited', now())""",
            *(desk.house.organization_id, "p" * 22, second),
        )
        assert 204 == (await desk.ask("DELETE", f"/application/{second}")).status_code
        assert [] == (await desk.ask("GET", "/plan")).json()
