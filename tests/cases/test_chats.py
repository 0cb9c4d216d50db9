"""Chats: which addresses are refused, that none is ever shown, and which cases a chat is told of."""

from typing import Any

from tests.cases.conftest import Desk
from tests.cases.test_alert_instances import ABSENT

SLACK = "https://hooks.slack.com/services/T0/B0/secretsecret"
BODY = {"title": "Shop floor", "kind": "slack", "address": SLACK}


class TestCreateChat:
    async def test_refused(self, desk: Desk) -> None:
        wrong: tuple[tuple[dict[str, Any], str], ...] = (
            ({"address": None}, "required /address"),
            ({"address": "https://example.com/services/T0"}, "invalid_address /address"),
            ({"address": "https://hooks.slack.com.evil.example/x"}, "invalid_address /address"),
            ({"address": "http://hooks.slack.com/services/T0"}, "invalid_address /address"),
            ({"address": "https://user:word@hooks.slack.com/services/T0"}, "invalid_address /address"),
            ({"kind": "mattermost", "address": "https://127.0.0.1/hooks/x"}, "invalid_address /address"),
            ({"kind": "mattermost", "address": "https://10.0.0.1/hooks/x"}, "invalid_address /address"),
            ({"kind": "webhook", "address": "https://localhost/x"}, "invalid_address /address"),
            ({"kind": "webhook", "address": "https://169.254.169.254/latest"}, "invalid_address /address"),
            ({"kind": "icq"}, "unknown_value /kind"),
            ({"locale": "xx"}, "unknown_value /locale"),
            ({"title": ""}, "too_short /title"),
        )
        for fields, expected in wrong:
            assert (422, expected) == await desk.api.refused("POST", "/chat", {**BODY, **fields}), fields

    async def test_no_right(self, desk: Desk) -> None:
        hooks = await desk.token(scopes=["Webhook.Create"])
        assert (403, "insufficient_scope") == await hooks.refused("POST", "/chat", BODY)

    async def test_of_some_applications(self, desk: Desk) -> None:
        """A chat is of the whole organization."""
        some = await desk.token(application_ids=[desk.house.application_id])
        await desk.api.ok("POST", "/chat", BODY)
        assert 403 == (await some.send("POST", "/chat", BODY)).status_code
        assert [] == await some.get("/chat")

    async def test_ok(self, desk: Desk) -> None:
        chat = await desk.api.ok("POST", "/chat", BODY)
        expected = {
            "title": "Shop floor", "kind": "slack", "host": "hooks.slack.com", "comments": True, "locale": "en",
            "active": True, "sent_time": None, "problem": None, "disabled_time": None,
        }  # fmt: skip
        assert expected == {name: chat[name] for name in expected}
        assert [chat] == await desk.api.get("/chat")

    async def test_nobody_sees_the_address(self, desk: Desk) -> None:
        chat = await desk.api.ok("POST", "/chat", BODY)
        path = f"/chat/{chat['chat_id']}"
        other = await desk.api.ok("PATCH", path, {"address": f"{SLACK}2"})
        for shown in (chat, other, await desk.api.get(path), await desk.api.get("/audit")):
            assert "secretsecret" not in str(shown)
        assert not await desk.value("select exists (select from chat where chat::text like '%secretsecret%')")


class TestUpdateChat:
    async def test_another_address(self, desk: Desk) -> None:
        chat = await desk.api.ok("POST", "/chat", BODY)
        path, read = f"/chat/{chat['chat_id']}", "select sealed_address from chat"
        sealed = await desk.value(read)
        assert (422, "invalid_address /address") == await desk.api.refused(
            "PATCH", path, {"address": "https://example.com/"}
        )
        await desk.api.ok("PATCH", path, {"address": None, "title": "Desk"})
        assert sealed == await desk.value(read)
        await desk.api.ok("PATCH", path, {"address": f"{SLACK}2"})
        assert sealed != await desk.value(read)

    async def test_kind_stays(self, desk: Desk) -> None:
        chat = await desk.api.ok("POST", "/chat", BODY)
        changed = await desk.api.ok("PATCH", f"/chat/{chat['chat_id']}", {"kind": "teams"})
        assert "slack" == changed["kind"]


class TestOfAlerts:
    async def test_unknown(self, desk: Desk) -> None:
        body = {"application_id": desk.house.application_id, "title": "A", "chat_ids": [ABSENT]}
        assert (422, "unknown_id /chat_ids/0") == await desk.api.refused("POST", "/alert", body)

    async def test_removed_chat_leaves_its_alerts(self, desk: Desk) -> None:
        chat = await desk.api.ok("POST", "/chat", BODY)
        alert = await desk.alert(chat_ids=[chat["chat_id"]] * 2)
        assert [chat["chat_id"]] == alert["chat_ids"]
        await desk.case(chat_ids=[chat["chat_id"]])
        await desk.notify_all()
        assert 2 == await cards(desk)
        await desk.api.ok("DELETE", f"/chat/{chat['chat_id']}")
        assert [] == (await desk.api.get(f"/alert/{alert['alert_id']}"))["chat_ids"]
        assert 0 == await cards(desk)


class TestTell:
    async def test_nobody(self, desk: Desk) -> None:
        """Of an alert without chats, or with one that is off."""
        await desk.api.ok("POST", "/chat", BODY)
        chat = await desk.api.ok("POST", "/chat", {**BODY, "active": False})
        await desk.alert()
        await desk.told_case(chat_ids=[chat["chat_id"]])
        assert 0 == await cards(desk)

    async def test_switched_off_meanwhile(self, desk: Desk) -> None:
        """Cards do not come late: what waits is dropped."""
        chat = await desk.api.ok("POST", "/chat", BODY)
        await desk.told_case(chat_ids=[chat["chat_id"]])
        await desk.api.ok("PATCH", f"/chat/{chat['chat_id']}", {"active": False})
        assert "failed" == await desk.value("select state from notice_mail where chat_id is not null")

    async def test_once_for_each_event(self, desk: Desk) -> None:
        """The outbox names the case, and has nothing of what the customer said. Other changes are not told."""
        chat = await desk.api.ok("POST", "/chat", BODY)
        case = await desk.told_case(chat_ids=[chat["chat_id"]], due_hours=1)
        await desk.api.ok("PATCH", f"/alert/instance/{case['alert_instance_id']}", {"status_id": 2})
        await desk.notify_all()
        assert 1 == await cards(desk)
        content = await desk.value("select content from notice_mail where chat_id is not null")
        assert {
            "type": "alert_instance.created",
            "alert_instance_id": case["alert_instance_id"],
            "instance_id": case["instance_id"],
        } == content


async def cards(desk: Desk) -> int:
    return await desk.value("select count(*) from notice_mail where chat_id is not null")
