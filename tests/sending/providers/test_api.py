"""Provider accounts over HTTP: refusals, secrets that never come back, pauses, accounts of the operator."""

from typing import Any

import pytest

from afterword.kit import db
from afterword.kit.transport import http
from afterword.kit.transport.base import EMAIL
from afterword.run.worker.channels import ChannelRegistry
from afterword.sending.providers import service
from tests.conftest import SITE
from tests.sending.channels.calls import Begin, kind
from tests.sending.channels.conftest import MESSAGE
from tests.sending.channels.sink import Sink
from tests.sending.providers.test_accounts import GATEWAY, LOGIN
from tests.sending.queue.conftest import Client, codes

SMTP = {"host": "smtp.shop.example", "port": 465, "security": "tls", "username": "ann", "password": "hunter2hunter2"}
NEW = {"kind": "smtp", "title": "Our relay", "settings": SMTP}


async def add(client: Client, **body: Any) -> dict[str, Any]:
    return await client.ok("POST", "/provider", {**NEW, **body}, status=201)


async def operators(client: Client, settings: dict[str, Any], kind: str = "smtp") -> str:
    """An account that the operator added."""
    async with db.transaction(client.queue.pool) as database:
        account, _ = await service.add_account(
            database, organization_id=client.queue.house.organization_id, kind=kind, title="Theirs", settings=settings,
            is_default=False, site=SITE, now=database.clock.now(),
        )  # fmt: skip
    return account.account_id


class TestRefused:
    @pytest.mark.parametrize(
        ("kind", "settings", "code"),
        [
            ("smtp", {"url": "smtp://mail.shop.example?ca=/etc/passwd"}, "/settings/url unknown_member"),
            ("smtp", {**SMTP, "url": "smtp://mail.shop.example"}, "/settings/url unknown_member"),
            ("smtp", {**SMTP, "host": "127.0.0.1"}, "/settings/host invalid_address"),
            ("smtp", {**SMTP, "host": "::1"}, "/settings/host invalid_address"),
            ("smtp", {**SMTP, "host": "169.254.169.254"}, "/settings/host invalid_address"),
            ("smtp", {**SMTP, "host": "LOCALHOST"}, "/settings/host invalid_address"),
            ("smtp", {**SMTP, "host": "2130706433"}, "/settings/host invalid_address"),
            ("smtp", {**SMTP, "host": "a b\r\nc"}, "/settings/host invalid_format"),
            ("smtp", {**SMTP, "port": 65_536}, "/settings/port out_of_range"),
            ("smtp", {**SMTP, "security": "none"}, "/settings/security invalid_format"),
            ("smtp", {**SMTP, "username": ""}, "/settings/username invalid_format"),
            ("smtp", {**SMTP, "ca": "/etc/passwd"}, "/settings/ca unknown_member"),
            ("smpp", {"host": "10.0.0.1", "system_id": "a", "password": "b", "sender": "Shop"},
             "/settings/host invalid_address"),
            ("sms_twilio", {**LOGIN, "url": "https://10.0.0.1"}, "/settings/url invalid_address"),
            ("sms_twilio", {**LOGIN, "account_sid": "?"}, "/settings/account_sid invalid_format"),
            ("sms_http", {**GATEWAY, "url": "https://[::1]/{to}"}, "/settings/url invalid_address"),
            ("sms_http", {**GATEWAY, "body": {"to": "{to}"}}, "/settings/body invalid_format"),
            ("sms_http", {**GATEWAY, "receipt": {}}, "/settings/receipt/status required"),
            ("sms_http", {**GATEWAY, "body": {**GATEWAY["body"], "more": "x" * 50_000}}, "/settings too_long"),
        ],
    )  # fmt: skip
    async def test_settings(self, client: Client, kind: str, settings: dict[str, Any], code: str) -> None:
        response = await client.send("POST", "/provider", {"kind": kind, "title": "X", "settings": settings})
        assert (422, tuple(code.split())) == (response.status_code, codes(response)[0]), response.text
        assert "hunter2" not in response.text

    async def test_secrets_are_needed_again_where_the_server_changes(self, client: Client) -> None:
        path = f"/provider/{(await add(client))['account_id']}"
        for changed in ({"host": "smtp.eve.example"}, {"port": 2525}, {"security": "starttls"}):
            response = await client.send("PATCH", path, {"settings": changed})
            assert (422, [("/settings", "required")]) == (response.status_code, codes(response))
        response = await client.send("PATCH", path, {"settings": {"host": "smtp.b.example", "password": "other"}})
        assert (200, "smtp.b.example") == (response.status_code, response.json()["settings"]["host"])

    async def test_what_holds_without_being_said_is_no_other_server(self, client: Client) -> None:
        account = await add(client, settings={"host": "smtp.shop.example", "username": "ann", "password": "hunter2"})
        body = {"settings": {"host": "smtp.shop.example", "port": None, "security": "starttls", "username": "ben"}}
        changed = await client.send("PATCH", f"/provider/{account['account_id']}", body)
        assert (200, ["password"]) == (changed.status_code, changed.json()["secrets"])

    async def test_accounts_of_the_operator(self, client: Client) -> None:
        """Shown without their settings; the channel may go by them, and nothing else changes."""
        account_id = await operators(client, {"url": "smtp://ann:hunter2@10.0.0.7"})
        path = f"/provider/{account_id}"
        shown = await client.send("GET", path)
        assert (False, {}, ["url"]) == tuple(shown.json()[name] for name in ("is_own", "settings", "secrets"))
        assert "10.0.0.7" not in shown.text
        for body in ({"title": "Mine"}, {"settings": SMTP}, {"rate_ceiling": None, "title": "Mine"}):
            assert 403 == (await client.send("PATCH", path, body)).status_code
        assert 403 == (await client.send("DELETE", path)).status_code
        assert (await client.send("PATCH", path, {"is_default": True})).json()["is_default"]
        await client.queue.run(service.pause_account, account_id=account_id, reason="not paid")
        assert 403 == (await client.send("DELETE", f"{path}/pause")).status_code
        assert "not paid" == (await client.ok("GET", path))["paused_reason"]

    async def test_stale_in_use_and_full(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        made = await add(client, is_default=True)
        path = f"/provider/{made['account_id']}"
        assert 412 == (await client.send("PATCH", path, {"title": "B"}, If_Match='"99"')).status_code
        deleted = await client.send("DELETE", path)
        assert (409, "in_use") == (deleted.status_code, deleted.json()["code"])
        monkeypatch.setattr(service, "ACCOUNTS_MAX", 2)
        full = await client.send("POST", "/provider", NEW)
        assert (422, [("", "too_many")]) == (full.status_code, codes(full))


async def test_kept_changed_paused_and_deleted(client: Client) -> None:
    made = await client.send("POST", "/provider", {**NEW, "rate_ceiling": 5})
    account, path = made.json(), f"/provider/{made.json()['account_id']}"
    assert {name: value for name, value in SMTP.items() if name != "password"} == account["settings"]
    assert (["password"], True, False, "active") == tuple(
        account[name] for name in ("secrets", "is_own", "is_default", "state")
    )
    assert [5, 5, 0] == [account[name] for name in ("rate", "rate_ceiling", "pipelines")]
    changed = await client.send(
        "PATCH", path, {"title": "Relay", "settings": {"username": "ben"}, "rate_ceiling": None, "is_default": True},
        If_Match=made.headers["etag"],
    )  # fmt: skip
    assert changed.headers["etag"] != made.headers["etag"]
    assert ("Relay", "ben", None, 1) == (
        *(changed.json()["title"], changed.json()["settings"]["username"]),
        *(changed.json()["rate"], changed.json()["pipelines"]),
    )
    paused = await client.send("POST", f"{path}/pause", {"reason": "moving house"})
    assert ("paused", "moving house") == (paused.json()["state"], paused.json()["paused_reason"])
    assert 204 == (await client.send("DELETE", f"{path}/pause")).status_code
    listed = await client.send("GET", "/provider")
    assert {"smtp": True, "default": False} == {one["kind"]: one["is_default"] for one in listed.json()}
    other = next(one["account_id"] for one in listed.json() if one["kind"] == "default")
    assert 200 == (await client.send("PATCH", f"/provider/{other}", {"is_default": True})).status_code
    assert 204 == (await client.send("DELETE", path)).status_code
    assert 404 == (await client.send("GET", path)).status_code
    async with db.connection(client.queue.pool) as database:
        log = await database.fetch("select before, after from audit_entry where thing_kind = 'provider'")
    for text in (made.text, changed.text, paused.text, listed.text, str([tuple(row) for row in log])):
        assert "hunter2" not in text


async def test_a_gateway_gets_its_address_and_an_sms_account_is_the_default(client: Client) -> None:
    account = await add(client, kind="sms_twilio", settings=LOGIN)
    assert account["is_default"], "no other account can send on this channel"
    [opened] = await client.ok("GET", "/inbound")
    assert (account["inbound_url"], "provider") == (opened["url"], opened["adapter"])


async def test_a_server_within_our_network_is_not_connected_to(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is judged by its addresses at each connection; the operator's own account may go there."""
    monkeypatch.setattr(http, "_look_up", lambda _host, port: [(2, 1, 6, "", ("127.0.0.1", port))])
    organization_id = client.queue.house.organization_id
    async with Sink() as sink:
        settings = {"host": "smtp.shop.example", "port": sink.port, "security": "none"}
        own = (await add(client, settings=settings))["account_id"]
        theirs = await operators(client, {"url": sink.url})
        registry = ChannelRegistry(pool=client.queue.pool, site=SITE, defaults={}, versions={})
        outcomes: list[str] = []
        for account_id in (own, theirs):
            async with registry.use((organization_id, account_id), EMAIL, test_attempt=None) as channel:
                outcomes.append(kind(await channel.send(MESSAGE, begin=Begin())))
        await registry.close()
        assert (["account", "sent"], 1) == (outcomes, sink.count)
