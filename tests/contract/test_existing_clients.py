"""The requests of existing v3.2 clients, as they put them on the wire, in the numbering of the interface's conventions.

1-13 are the PHP SDK's, 14-18 PrestaShop's, 19-22 Magento's, then any client's.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from afterword.kit import db
from afterword.run.app import create_app
from tests.conftest import SITE
from tests.contract.existing import FORM, JSON, YEAR, Shop, build_shop, form, model, php_json, token_without
from tests.contract.wire import Reply, Wire
from tests.journeys import processes

ABSENT = "zzzzzzzzzzzzzzzzzzzzzz"
SEVEN_NULLS = (
    "previous_item_id", "responder_id", "questionnaire_instance_id", "previous_questionnaire_instance_id",
    "dispatched_time", "result", "retry_attempts",
)  # fmt: skip
ALL = {"fields": ["*"]}
SECONDS_MAX = 60
METADATA = {
    "questionnaire": {"transaction_id": "1042 (XKBK)", "transaction_date": "2026-11-20 18:02:11"},
    "responder": {"email": "ann@example.com", "phone_number": "+306900000000"},
}
ORDER: dict[str, Any] = {"responder_channel_identifier": "ann@example.com", "locale": "el", "metadata": METADATA}
CANCEL = {"status_id": 5, "result": "Order was canceled"}


class Clients:
    """Speaks as the clients do: header for header, without those that they do not send."""

    def __init__(self, pool: db.Pool, shop: Shop) -> None:
        self.pool, self.shop = pool, shop
        app: Any = create_app(pool=pool, site=SITE)
        self._wire = Wire(app)
        self.headers: Mapping[str, str] = shop.headers

    async def get(self, path: str, data: Mapping[str, object] | None = None) -> Reply:
        """H."""
        return await self._wire.ask("GET", path + ("?" + form(data).decode() if data else ""), headers=self.headers)

    async def send(self, method: str, path: str, body: bytes = b"", label: str | None = FORM) -> Reply:
        """H F, or H J."""
        headers = {**self.headers, **({} if label is None else {"content-type": label})}
        return await self._wire.ask(method, path, headers=headers, body=body)

    async def with_headers(self, headers: Mapping[str, str], method: str, path: str, body: bytes = b"") -> Reply:
        return await self._wire.ask(method, path, headers={**headers, "content-type": FORM}, body=body)

    async def item(self, **more: object) -> dict[str, Any]:
        """#9."""
        data = {
            "responder_channel_identifier": "ann@example.com",
            "locale": "el",
            "send_time": f"{YEAR}-01-15 10:30",
            "metadata": {"questionnaire": {"transaction_id": "1042"}},
            **ALL,
            **more,
        }
        reply = await self.send("POST", self.shop.items, form(data))
        assert 201 == reply.status, reply
        return reply.document

    async def instance(self) -> dict[str, Any]:
        """#5."""
        data = {
            "locale": "en",
            "valid_days": 7,
            "metadata": {"questionnaire": {"transaction_id": "1042"}, "responder": {"email": "ann@example.com"}},
            **ALL,
        }
        reply = await self.send("POST", f"{self.shop.questionnaire}/instance", form(data))
        assert 201 == reply.status, reply
        return reply.document

    async def execute(self, query: Any, *values: object) -> None:
        async with db.transaction(self.pool) as database:
            assert 1 == await database.execute(query, *values)


@pytest.fixture
async def clients(pool: db.Pool) -> Clients:
    return Clients(pool, await build_shop(pool))


def refused(reply: Reply, status: int, code: str) -> Any:
    assert (status, code) == (reply.status, reply.code), reply
    assert reply.document["message"]
    assert reply.document["error"]
    return reply.document


def wanted_list(shop: Shop, **pagination: int) -> dict[str, object]:
    return {
        "filter_by": {"EQUAL": {"OwnerApplicationId": shop.application_id}},
        "order_by": {"DESC": ["CreatedTime"]},
        "pagination": {"page": 1, "max_per_page": 25, "include_results": True, **pagination},
        **ALL,
    }


class TestSdk:
    async def test_01_list(self, clients: Clients) -> None:
        shop = clients.shop
        query = form(wanted_list(shop)).decode()
        assert "filter_by%5BEQUAL%5D%5BOwnerApplicationId%5D=" in query
        assert query.endswith("&fields%5B0%5D=%2A")
        reply = await clients.get("/v3.2/q/questionnaire", wanted_list(shop))
        found = reply.document
        assert 200 == reply.status
        counts = [found[name] for name in ("page", "max_per_page", "last_page", "total_results")]
        assert ([1, 25, 1, 1], [int] * 4) == (counts, [type(number) for number in counts])
        assert shop.questionnaire_id == found["results"][0]["questionnaire_id"]

    async def test_02_of_another_application_and_by_pages(self, clients: Clients, neighbour: Any) -> None:
        shop = clients.shop
        other = {**wanted_list(shop), "filter_by": {"EQUAL": {"OwnerApplicationId": neighbour.application_id}}}
        found = (await clients.get("/v3.2/q/questionnaire", other)).document
        assert ([], 0, 1) == (found["results"], found["total_results"], found["last_page"])
        wanted = wanted_list(shop, max_per_page=1)
        del wanted["filter_by"]
        found = (await clients.get("/v3.2/q/questionnaire", wanted)).document
        assert (1, 2, 2) == (len(found["results"]), found["last_page"], found["total_results"])

    async def test_03_one_questionnaire(self, clients: Clients) -> None:
        reply = await clients.get(clients.shop.questionnaire, ALL)
        assert (200, clients.shop.questionnaire_id) == (reply.status, reply.document["questionnaire_id"])
        refused(await clients.get(f"/v3.2/q/questionnaire/{ABSENT}", ALL), 404, "not_found")

    async def test_04_pipelines(self, clients: Clients) -> None:
        reply = await clients.get(f"{clients.shop.questionnaire}/pipeline", ALL)
        [pipeline] = reply.document
        assert (200, clients.shop.pipeline_id, str) == (reply.status, pipeline["pipeline_id"], type(pipeline["title"]))
        assert pipeline == (await clients.get(clients.shop.pipeline, ALL)).document

    async def test_05_06_instance(self, clients: Clients) -> None:
        found = await clients.instance()
        assert (7, bool, "en") == (found["valid_days"], type(found["editable"]), found["locale"])
        assert found["responder_id"]
        assert found["collection_url"].endswith(found["instance_id"])
        page = await clients.get(found["collection_url"].removeprefix(SITE.public_url))
        assert (200, "text/html; charset=utf-8") == (page.status, page.headers["content-type"])
        assert found == (await clients.get(f"/v3.2/q/instance/{found['instance_id']}", ALL)).document

    async def test_07_whole_instance_comes_back(self, clients: Clients) -> None:
        before = await clients.instance()
        path = f"/v3.2/q/instance/{before['instance_id']}"
        sent = model(before, valid_days=30, editable=True)
        assert b"finalized=0" in form(sent)
        reply = await clients.send("PATCH", path, form(sent))
        changed = ("valid_days", "editable", "updated_time", "updated_by")
        assert (200, 30, True) == (reply.status, reply.document["valid_days"], reply.document["editable"])
        assert {**before, **{name: reply.document[name] for name in changed}} == reply.document
        other = {"instance_id": ABSENT, "questionnaire_id": ABSENT, "created_time": "no date", "collection_url": "x"}
        again = await clients.send("PATCH", path, form({**sent, **other, "finalized": True}))
        assert (200, reply.document) == (again.status, again.document)

    async def test_08_delete_instance(self, clients: Clients) -> None:
        path = f"/v3.2/q/instance/{(await clients.instance())['instance_id']}"
        reply = await clients.send("DELETE", path, form(ALL))
        assert (204, b"") == (reply.status, reply.body)
        refused(await clients.get(path, ALL), 404, "not_found")

    async def test_09_10_item(self, clients: Clients) -> None:
        item = await clients.item()
        assert (1, f"{YEAR}-01-15T10:30:00+02:00", "el") == (item["status_id"], item["send_time"], item["locale"])
        assert [None] * 7 == [item[name] for name in SEVEN_NULLS]
        assert item == (await clients.get(f"/v3.2/q/queue/item/{item['item_id']}", ALL)).document

    async def test_11_whole_item_comes_back(self, clients: Clients) -> None:
        item = await clients.item()
        path = f"/v3.2/q/queue/item/{item['item_id']}"
        for change in (
            {"send_time": f"{YEAR}-02-01T09:00:00+01:00"},
            {"locale": "en"},
            {"responder_channel_identifier": "bob@example.com"},
        ):
            sent = form(model(item, **change))
            assert b"status_id=1&" in sent
            reply = await clients.send("PATCH", path, sent)
            assert (200, 1) == (reply.status, reply.document["status_id"]), reply
            told = {name: reply.document[name] for name in ("updated_time", "updated_by")}
            assert {**item, **change, **told} == reply.document
            item = reply.document

    async def test_12_whole_item_after_it_was_cancelled(self, clients: Clients) -> None:
        item = await clients.item()
        path = f"/v3.2/q/queue/item/{item['item_id']}"
        assert 200 == (await clients.send("PATCH", path, php_json(CANCEL))).status
        reply = await clients.send("PATCH", path, form(model(item)))
        assert (200, 5) == (reply.status, reply.document["status_id"])
        refused(await clients.send("PATCH", path, form(model(item, locale="en"))), 409, "item_closed")
        assert 5 == (await clients.get(path)).document["status_id"]

    async def test_13_delete_item(self, clients: Clients) -> None:
        for is_aborted in (False, True):
            path = f"/v3.2/q/queue/item/{(await clients.item())['item_id']}"
            if is_aborted:
                await clients.send("PATCH", path, form(CANCEL))
            reply = await clients.send("DELETE", path, form(ALL))
            assert (204, b"") == (reply.status, reply.body)
            refused(await clients.get(path, ALL), 404, "not_found")


def doubled(path: str) -> str:
    """As PrestaShop joins its base address and a path."""
    return path.replace("/v3.2/", "/v3.2//")


class TestPrestaShop:
    async def test_14_json_under_a_forms_label(self, clients: Clients) -> None:
        before = datetime.now(UTC) - timedelta(seconds=2)
        reply = await clients.send("POST", doubled(clients.shop.items), php_json(ORDER))
        assert 201 == reply.status, reply
        assert reply.document["item_id"]
        send_time = datetime.fromisoformat(reply.document["send_time"])
        assert before < send_time < before + timedelta(seconds=30)  # the pipeline has no delay

    async def test_15_with_a_send_time(self, clients: Clients) -> None:
        send_time = f"{YEAR}-07-01T09:00:00+03:00"
        reply = await clients.send("POST", doubled(clients.shop.items), php_json({**ORDER, "send_time": send_time}))
        assert (201, send_time) == (reply.status, reply.document["send_time"])

    async def test_16_cancel_twice(self, clients: Clients) -> None:
        path = doubled(f"/v3.2/q/queue/item/{(await clients.item())['item_id']}")
        for _ in range(2):
            reply = await clients.send("PATCH", path, php_json(CANCEL))
            assert (200, CANCEL) == (reply.status, {name: reply.document[name] for name in CANCEL})

    async def test_17_cancel_what_is_sent(self, clients: Clients) -> None:
        item_id = (await clients.item())["item_id"]
        query = "update queue_item set status = 4, dispatched_time = now() where item_id = $1"
        await clients.execute(query, item_id)
        path = doubled(f"/v3.2/q/queue/item/{item_id}")
        refused(await clients.send("PATCH", path, php_json(CANCEL)), 409, "item_closed")
        assert 3 == (await clients.get(path)).document["status_id"]

    async def test_18_delete_by_an_older_version(self, clients: Clients) -> None:
        path = f"/v3.1//q/queue/item/{(await clients.item())['item_id']}"
        reply = await clients.send("DELETE", path, php_json({}))
        assert (204, b"") == (reply.status, reply.body)


class TestMagento:
    async def test_19_lists(self, clients: Clients) -> None:
        wanted = {"filter_by": {"EQUAL": {"OwnerApplicationId": clients.shop.application_id}}}
        reply = await clients.send("GET", f"/v3.2/q/questionnaire?{form(wanted).decode()}", label=JSON)
        [found] = reply.document["results"]
        assert (200, clients.shop.questionnaire_id, "Order") == (
            reply.status,
            found["questionnaire_id"],
            found["display_name"],
        )
        reply = await clients.send("GET", f"{clients.shop.questionnaire}/pipeline", label=JSON)
        [found] = reply.document
        assert (200, clients.shop.pipeline_id, "Invitation") == (reply.status, found["pipeline_id"], found["title"])

    async def test_20_create(self, clients: Clients) -> None:
        questionnaire = {**METADATA["questionnaire"], "transaction_date": f"15/01/{YEAR}"}
        document = {**ORDER, "metadata": {**METADATA, "questionnaire": questionnaire}}
        sent = php_json({**document, "send_time": f"{YEAR}-01-15 10:01:30"})
        reply = await clients.send("POST", clients.shop.items, sent, JSON)
        assert (201, f"{YEAR}-01-15T10:01:30+02:00") == (reply.status, reply.document["send_time"])
        assert 201 == (await clients.send("POST", clients.shop.items, php_json(document), JSON)).status

    async def test_21_cancel(self, clients: Clients) -> None:
        path = f"/v3.2/q/queue/item/{(await clients.item())['item_id']}"
        reply = await clients.send("PATCH", path, php_json(CANCEL), JSON)
        assert (200, 5) == (reply.status, reply.document["status_id"])

    async def test_22_without_a_domain_by_the_oldest_version(self, clients: Clients) -> None:
        item_id = (await clients.item())["item_id"]
        clients.headers = {"esat-auth": clients.shop.house.token}
        assert 200 == (await clients.send("GET", "/v3.0/q/questionnaire", label=JSON)).status
        reply = await clients.send("DELETE", f"/v3.0/q/queue/item/{item_id}", label=JSON)
        assert (204, b"") == (reply.status, reply.body)


class TestAnyClient:
    async def test_23_a_time_in_the_past(self, clients: Clients) -> None:
        document = {**ORDER, "locale": None, "send_time": "2018-01-01T10:00:00+03:00"}
        reply = await clients.send("POST", clients.shop.items, php_json(document), JSON)
        assert (201, None, "2018-01-01T10:00:00+03:00") == (
            reply.status,
            reply.document["locale"],
            reply.document["send_time"],
        )
        async with db.connection(clients.pool) as database:
            query = "select due_time <= clock_timestamp() from queue_item where item_id = $1"
            assert await database.fetch_value(query, reply.document["item_id"])

    async def test_24_the_standard_header(self, clients: Clients) -> None:
        clients.headers = {"authorization": f"Bearer {clients.shop.house.token}"}
        found = (await clients.get("/v3.2/q/questionnaire", wanted_list(clients.shop))).document
        assert 1 == found["total_results"]
        path = f"/v3.2/q/queue/item/{(await clients.item())['item_id']}"
        assert 5 == (await clients.send("PATCH", path, php_json(CANCEL))).document["status_id"]

    async def test_25_a_query_in_the_body(self, clients: Clients) -> None:
        wanted = {
            "pagination": {"page": 1, "max_per_page": 5},
            "filter_by": {"EQUAL": {"OwnerApplicationId": clients.shop.application_id}},
        }
        reply = await clients.send("GET", "/v3.2/q/questionnaire", php_json(wanted), JSON)
        counts = [reply.document[name] for name in ("page", "max_per_page", "last_page", "total_results")]
        assert (200, [1, 5, 1, 1]) == (reply.status, counts)
        assert clients.shop.questionnaire_id == reply.document["results"][0]["questionnaire_id"]

    async def test_26_flat_metadata(self, clients: Clients) -> None:
        instance = await clients.instance()
        path = f"/v3.2/q/instance/{instance['instance_id']}"
        await clients.send("PATCH", path, php_json({"metadata": {"store_id": "7"}}), JSON)
        sent = php_json({"metadata": {"transaction_id": "1043"}, "valid_days": 0})
        reply = await clients.send("PATCH", path, sent, JSON)
        assert (200, 0) == (reply.status, reply.document["valid_days"])
        async with db.connection(clients.pool) as database:
            query = "select metadata from questionnaire_instance where instance_id = $1"
            stored = await database.fetch_value(query, instance["instance_id"])
        assert {"transaction_id": "1043", "store_id": "7"} == stored

    async def test_27_who_may(self, clients: Clients) -> None:
        shop, sent = clients.shop, form({"responder_channel_identifier": "ann@example.com"})
        refused(await clients.with_headers({}, "POST", shop.items, sent), 401, "unauthenticated")
        unknown = {**shop.headers, "esat-auth": "afw_unknown"}
        refused(await clients.with_headers(unknown, "POST", shop.items, sent), 401, "invalid_token")
        other = {**shop.headers, "esat-domain": "other"}
        refused(await clients.with_headers(other, "POST", shop.items, sent), 403, "domain_mismatch")
        narrow = {"esat-auth": await token_without(clients.pool, shop, "Queue.Create")}
        found = refused(await clients.with_headers(narrow, "POST", shop.items, sent), 403, "insufficient_scope")
        assert ["Queue.Create"] == found["required_scopes"]

    async def test_28_what_is_missing(self, clients: Clients) -> None:
        sent = form({"locale": "el", **ALL})
        found = refused(await clients.send("POST", clients.shop.items, sent), 422, "invalid")
        assert ["/responder_channel_identifier"] == [error["pointer"] for error in found["errors"]]
        assert "responder_channel_identifier" in found["message"]
        unknown = f"{clients.shop.questionnaire}/pipeline/{ABSENT}/queue/item"
        sent = form({"responder_channel_identifier": "ann@example.com"})
        refused(await clients.send("POST", unknown, sent), 404, "not_found")
        sent = form(model(await clients.instance(), valid_days=30))
        refused(await clients.send("PATCH", f"/v3.2/q/instance/{ABSENT}", sent), 404, "not_found")

    async def test_29_some_members(self, clients: Clients) -> None:
        for names in ("response_fields[]=questionnaire_id&response_fields[]=title",
                      "response_fields%5B%5D=questionnaire_id&response_fields%5B%5D=title"):  # fmt: skip
            reply = await clients.get(f"{clients.shop.questionnaire}?{names}")
            assert (200, {"questionnaire_id", "title"}) == (reply.status, set(reply.document))


# Over a socket -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def port(database_url: str, tmp_path: Path, clients: Clients) -> AsyncIterator[int]:
    """The web process of the product, over the database of the shop."""
    port = processes.free_port()
    settings = {"database_url": database_url, "data_dir": tmp_path, "port": port, "secret": "k" * 32}
    async with processes.command("web", folder=tmp_path, **settings) as child:
        await processes.ready(f"http://localhost:{port}", child)
        yield port
        assert [] == child.errors()
        log = child.log.read_text(errors="replace")
        assert [] == [secret for secret in (clients.shop.house.token, "afw_nobody") if secret in log]


async def speak(port: int, head: str, headers: Mapping[str, str], *parts: bytes) -> tuple[bytes, Reply]:
    """One request as text; the parts go out once the server has told to go on, if it was asked. What it told, and what
    came last.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"{head} HTTP/1.1", "host: localhost", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    interim = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), SECONDS_MAX) if headers.get("expect") else b""
    for part in parts:
        writer.write(part)
        await writer.drain()
    raw = await asyncio.wait_for(reader.read(), SECONDS_MAX)
    writer.close()
    if interim and not interim.startswith(b"HTTP/1.1 100"):  # it was the answer already
        raw, interim = interim + raw, b""
    top, _, body = raw.partition(b"\r\n\r\n")
    status, *rest = top.decode("latin-1").split("\r\n")
    found = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
    return interim, Reply(int(status.split(" ")[1]), found, body)


async def test_over_a_socket(clients: Clients, port: int) -> None:
    """One request of each family through the real server, in one body, in chunks, and after asking whether to go on."""
    shop = clients.shop
    h = {**shop.headers, "content-type": FORM}
    sent = form({"responder_channel_identifier": "ann@example.com", "send_time": f"{YEAR}-01-15 10:30", **ALL})
    _, reply = await speak(port, f"POST {shop.items}", {**h, "content-length": str(len(sent))}, sent)
    assert (201, f"{YEAR}-01-15T10:30:00+02:00") == (reply.status, reply.document["send_time"])

    sent = php_json(ORDER)
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (sent[:7], sent[7:])]
    _, reply = await speak(
        port, f"POST {doubled(shop.items)}", {**h, "transfer-encoding": "chunked"}, *chunks, b"0\r\n\r\n"
    )
    assert 201 == reply.status, reply
    path = f"/v3.1//q/queue/item/{reply.document['item_id']}"
    _, reply = await speak(port, f"DELETE {path}", {**h, "content-length": "2"}, b"[]")
    assert (204, b"") == (reply.status, reply.body)

    sent = php_json({**ORDER, "send_time": f"{YEAR}-01-15 10:01:30"})
    asking = {**shop.headers, "content-type": JSON, "content-length": str(len(sent)), "expect": "100-continue"}
    interim, reply = await speak(port, f"POST {shop.items}", asking, sent)
    assert (b"HTTP/1.1 100 Continue", 201) == (interim.split(b"\r\n")[0], reply.status)
    wanted = msgspec.json.encode({"pagination": {"page": 1, "max_per_page": 5}})
    got = {**shop.headers, "content-type": JSON, "content-length": str(len(wanted))}
    _, reply = await speak(port, "GET /v3.0/q/questionnaire", got, wanted)
    assert (200, 5) == (reply.status, reply.document["max_per_page"])
    _, reply = await speak(port, "GET /v3.2/q/questionnaire?esat-auth=afw_nobody", {})
    assert (401, "unauthenticated") == (reply.status, reply.code)
    large = {**asking, "content-length": "30000000"}
    interim, reply = await speak(port, f"POST {shop.items}", large)
    assert (b"", 413, "body_too_large") == (interim, reply.status, reply.code)  # without having been sent
