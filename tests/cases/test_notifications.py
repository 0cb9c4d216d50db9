"""Recipients, channels and choices of notifications."""

from datetime import timedelta
from typing import Any

from afterword.kit import db
from tests.cases.conftest import Client, Desk
from tests.pruning import prune

ALL_WAYS = {"web": True, "email": True}


async def told(client: Client) -> list[dict[str, Any]]:
    """Notifications of the user, the oldest first."""
    return (await client.get("/notification?order_by[ASC][]=CreatedTime&limit=500"))["results"]


async def types_of(client: Client) -> list[str]:
    return [one["type"] for one in await told(client)]


class TestWho:
    async def test_creator(self, desk: Desk) -> None:
        anna = await desk.person("anna")
        case = await desk.told_case(title="Unhappy people", severity="high")
        [one] = await told(desk.api)
        assert ("alert_instance.created", "New alert: Unhappy people") == (one["type"], one["title"])
        assert f"/v3.2/alert/instance/{case['alert_instance_id']}" == one["link"]
        assert "Severity: high" in one["body"]
        assert (desk.house.user_id, False, None) == (one["user_id"], one["read"], one["read_time"])
        assert [] == await told(anna)

    async def test_subscriber_and_assignee(self, desk: Desk) -> None:
        anna, bert = await desk.person("anna"), await desk.person("bert")
        await desk.told_case(subscriber_user_ids=[anna.user_id], assigned_user_id=bert.user_id)
        for person in (anna, bert):
            assert ["alert_instance.created"] == await types_of(person)

    async def test_not_of_what_they_did_themselves(self, desk: Desk) -> None:
        anna = await desk.person("anna")
        case = await desk.case(subscriber_user_ids=[anna.user_id])
        path = f"/alert/instance/{case['alert_instance_id']}"
        await anna.ok("POST", f"{path}/comment", {"body": "I call."})
        await anna.ok("PATCH", path, {"status_id": 3})
        await desk.notify_all()
        assert ["alert_instance.created"] == await types_of(anna)
        expected = ["created", "commented", "status_changed", "resolved"]
        assert [f"alert_instance.{kind}" for kind in expected] == await types_of(desk.api)

    async def test_users_who_have_left(self, desk: Desk) -> None:
        """Or who work for another application since."""
        anna, bert = await desk.person("anna"), await desk.person("bert")
        await desk.case(subscriber_user_ids=[anna.user_id, bert.user_id])
        other = await desk.api.ok("POST", "/application", {"display_name": "Other"})
        await desk.execute("update organization_user set active = false where user_id = $1", bert.user_id)
        await desk.execute(
            "update organization_user set application_ids = array[$2] where user_id = $1",
            *(anna.user_id, other["application_id"]),
        )
        await desk.notify_all()
        count = "select count(*) from notification where user_id = any($1::text[])"
        assert 0 == await desk.value(count, [anna.user_id, bert.user_id])

    async def test_watches(self, desk: Desk) -> None:
        alert = await desk.alert(assigned_user_id=desk.house.user_id)
        ids = {
            "organization": desk.house.organization_id,
            "application": desk.house.application_id,
            "questionnaire": desk.house.questionnaire_id,
            "alert": alert["alert_id"],
            "user": desk.house.user_id,
        }
        people = {entity: await desk.person(entity) for entity in ids}
        for entity, person in people.items():
            watch = {"entity": entity, "entity_id": ids[entity]}
            await person.ok("PUT", "/notification/subscription", {"watches": [watch]})
        await desk.raised()
        await desk.notify_all()
        for entity, person in people.items():
            assert ["alert_instance.created"] == await types_of(person), entity

    async def test_one_notice_of_an_event(self, desk: Desk) -> None:
        """However many reasons there are to tell it, and however often the log is read."""
        await desk.told_case(subscriber_user_ids=[desk.house.user_id], assigned_user_id=desk.house.user_id)
        await desk.execute("update event_cursor set xid = '0', seq = 0 where reader = 'notifications'")
        await desk.notify_all()
        assert ["alert_instance.created"] == await types_of(desk.api)

    async def test_old_news(self, desk: Desk) -> None:
        await desk.case()
        await desk.notify_all(later=timedelta(days=4))
        assert [] == await told(desk.api)

    async def test_what_a_role_may_not_read(self, desk: Desk) -> None:
        anna, admin = await desk.person("anna"), await desk.person("admin", role="admin")
        watch = {"entity": "organization", "entity_id": desk.house.organization_id}
        for person in (anna, admin):
            await person.ok("PUT", "/notification/subscription", {"watches": [watch]})
        await desk.execute(
            """insert into event (organization_id, event_id, type, subject_id, actor_kind, data)
               values ($1, 'e', 'webhook.disabled', 'w', 'worker', '{"title": "Shop"}')""",
            desk.house.organization_id,
        )
        await desk.notify_all()
        assert ([], ["webhook.disabled"]) == (await types_of(anna), await types_of(admin))
        assert ["Shop"] == [one["body"] for one in await told(admin)]

    async def test_language_of_the_reader(self, desk: Desk) -> None:
        anna = await desk.person("anna", locale="de")
        await desk.told_case(title="Sauer", subscriber_user_ids=[anna.user_id])
        assert ["Neuer Alarm: Sauer"] == [one["title"] for one in await told(anna)]


class TestTypes:
    async def test_mass_types_are_told_to_who_asks(self, desk: Desk) -> None:
        watch = {"entity": "questionnaire", "entity_id": desk.house.questionnaire_id}
        await desk.api.ok("PUT", "/notification/subscription", {"watches": [watch]})
        await desk.respond()
        await desk.notify_all()
        assert [] == await told(desk.api)
        types = {"questionnaire_instance.completed": {"web": True, "email": False}}
        await desk.api.ok("PUT", "/notification/subscription", {"types": types, "watches": [watch]})
        await desk.respond()
        await desk.notify_all()
        assert ["questionnaire_instance.completed"] == await types_of(desk.api)

    async def test_mail_alone_or_nothing(self, desk: Desk) -> None:
        anna, bert = await desk.person("anna"), await desk.person("bert")
        for person, email in ((anna, True), (bert, False)):
            types = {"alert_instance.created": {"web": False, "email": email}}
            await person.ok("PUT", "/notification/subscription", {"types": types})
        await desk.told_case(subscriber_user_ids=[anna.user_id, bert.user_id])
        assert [] == await told(anna)
        assert 0 == await desk.value("select count(*) from notification where user_id = $1", bert.user_id)
        notification_id = await desk.value("select notification_id from notification where user_id = $1", anna.user_id)
        found = await anna.refused("PATCH", f"/notification/{notification_id}", {"read": True})
        assert (404, "not_found") == found
        assert 1 == await desk.value("select count(*) from notice_mail where user_id = $1", anna.user_id)


class TestRead:
    async def test_read_and_unread(self, desk: Desk) -> None:
        await desk.told_case()
        [one] = await told(desk.api)
        path = f"/notification/{one['notification_id']}"
        read = await desk.api.ok("PATCH", path, {"read": True})
        assert read["read"]
        assert read["read_time"] is not None
        assert read == await desk.api.ok("PATCH", path, {"read": True})
        assert read == await desk.api.ok("PATCH", path, {})
        assert 0 == (await desk.api.get("/notification?filter_by[EQUAL][Read]=0"))["total_results"]
        assert one == await desk.api.ok("PATCH", path, {"read": False})

    async def test_another_user(self, desk: Desk) -> None:
        await desk.told_case()
        [one] = await told(desk.api)
        anna = await desk.person("anna", role="owner")
        path = f"/notification/{one['notification_id']}"
        assert (404, "not_found") == await anna.refused("PATCH", path, {"read": True})

    async def test_token_of_the_organization(self, desk: Desk) -> None:
        """It is nobody: it has been told nothing and chooses nothing."""
        machine = await desk.token()
        page = await machine.get("/notification")
        assert ([], 0, 1) == (page["results"], page["total_results"], page["last_page"])
        for method in ("GET", "PUT"):
            body = None if method == "GET" else {}
            assert (404, "not_found") == await machine.refused(method, "/notification/subscription", body)


class TestSubscription:
    PATH = "/notification/subscription"

    async def test_defaults(self, desk: Desk) -> None:
        """Creators watch what they create."""
        alert = await desk.alert()
        found = await desk.api.get(self.PATH)
        assert ({}, "none") == (found["types"], found["digest"])
        assert [{"entity": "alert", "entity_id": alert["alert_id"]}] == found["watches"]
        assert desk.house.user_id == found["user_id"]

    async def test_replace(self, desk: Desk) -> None:
        body = {
            "types": {"alert_instance.commented": ALL_WAYS},
            "watches": [{"entity": "organization", "entity_id": desk.house.organization_id}],
            "digest": "weekly",
        }
        after = await desk.api.ok("PUT", self.PATH, body)
        assert body == {name: after[name] for name in body}
        assert after == await desk.api.get(self.PATH)
        nothing = await desk.api.ok("PUT", self.PATH, {})
        assert ({}, [], "none") == tuple(nothing[name] for name in ("types", "watches", "digest"))

    async def test_what_is_created_later_is_watched(self, desk: Desk) -> None:
        before = await desk.alert()
        await desk.api.ok("PUT", self.PATH, {})
        assert [] == (await desk.api.get(self.PATH))["watches"]
        after = await desk.alert()
        watches = (await desk.api.get(self.PATH))["watches"]
        assert [after["alert_id"]] == [watch["entity_id"] for watch in watches]
        assert before["alert_id"] != after["alert_id"]

    async def test_refused(self, desk: Desk) -> None:
        ours = {"entity": "application", "entity_id": desk.house.application_id}
        for body, expected in (
            ({"types": {"nonsense": ALL_WAYS}}, "unknown_value /types/nonsense"),
            ({"types": {"plan.renewed": {"web": True}}}, "required /types/plan.renewed/email"),
            ({"watches": [{**ours, "entity": "alert"}]}, "unknown_id /watches/0/entity_id"),
            ({"watches": [{**ours, "entity": "galaxy"}]}, "unknown_value /watches/0/entity"),
            ({"digest": "hourly"}, "unknown_value /digest"),
            ({"watches": [ours] * 501}, "too_many /watches"),
        ):
            assert (422, expected) == await desk.api.refused("PUT", self.PATH, body)


async def test_prune(desk: Desk) -> None:
    await desk.told_case()
    for days, expected in ((89, 0), (91, 1)):
        async with db.transaction(desk.pool) as database:
            now = database.clock.now() + timedelta(days=days)
            assert expected == await prune(database, "notifications", now=now)
    assert [] == await told(desk.api)
