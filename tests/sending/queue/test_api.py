"""The HTTP door, with the requests of existing clients: refusals first, then what must keep working."""

import asyncio

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES
from tests.dates import YEAR, last_sunday
from tests.sending.queue.conftest import BODY, OK, Client, codes

BUSY = 503
FIELDS = {
    "item_id", "previous_item_id", "questionnaire_id", "responder_id", "responder_channel_identifier",
    "questionnaire_instance_id", "previous_questionnaire_instance_id", "status_id", "pipeline_id", "locale",
    "send_time", "dispatched_time", "result", "retry_attempts", "created_time", "updated_time", "anonymized_time",
    "created_by", "updated_by", "external_reference", "source", "reason", "test", "metadata",
}  # fmt: skip
SEVEN_NULLS = (
    "previous_item_id", "responder_id", "questionnaire_instance_id", "previous_questionnaire_instance_id",
    "dispatched_time", "result", "retry_attempts",
)  # fmt: skip


NOBODY = "0" * 22


class TestPipelines:
    async def test_list(self, client: Client) -> None:
        newer = await client.queue.pipeline(channel_id=4, title="Link")

        response = await client.send("GET", client.pipeline.rpartition("/")[0])

        assert 200 == response.status_code
        assert [newer.pipeline_id, client.queue.pipeline_id] == [each["pipeline_id"] for each in response.json()]
        assert ["Link", "Invitation"] == [each["title"] for each in response.json()]

    async def test_get(self, client: Client) -> None:
        await client.queue.execute(
            "update pipeline set dispatch_start_time = '09:00', dispatch_end_time = '17:30', paused = true"
        )

        response = await client.send("GET", client.pipeline)

        pipeline = response.json()
        assert (200, "paused", "09:00", "17:30") == (
            response.status_code, pipeline["state"], pipeline["dispatch_start_time"], pipeline["dispatch_end_time"],
        )  # fmt: skip
        assert (1, client.queue.house.application_id) == (pipeline["channel_id"], pipeline["application_id"])
        assert [1, 2, 3, 4, 5, 6, 7] == pipeline["weekdays"]
        assert '"1"' == response.headers["ETag"]
        assert not {"organization_id", "account_id", "slug", "version"} & pipeline.keys()

    @pytest.mark.parametrize(
        ("statement", "state"),
        [
            ("start_time = null", "running"),
            ("start_time = now() + interval '1 hour'", "upcoming"),
            ("end_time = now()", "ended"),
        ],
    )
    async def test_state(self, client: Client, statement: str, state: str) -> None:
        await client.queue.change_pipeline(statement)

        assert state == (await client.ok("GET", client.pipeline))["state"]


class TestScheduleItem:
    async def test_wrong_metadata(self, client: Client) -> None:
        response = await client.send("POST", client.items, {**BODY, "metadata": {"questionnaire": {"": "x"}}})
        assert 422 == response.status_code
        assert 0 == await client.queue.value("select count(*) from queue_item")

    async def test_a_wrong_address_beside_another_wrong_field(self, client: Client) -> None:
        body = {"responder_channel_identifier": "nobody", "locale": "?"}
        response = await client.send("POST", client.items, body)
        named = {("/locale", "invalid_locale"), ("/responder_channel_identifier", "invalid_address")}
        assert named == set(codes(response))
        elsewhere = await client.send("POST", client.items.replace(client.queue.pipeline_id, NOBODY), body)
        assert [("/locale", "invalid_locale")] == codes(elsewhere)

    async def test_taken_reference(self, client: Client) -> None:
        await client.create(external_reference="order 7")

        response = await client.send("POST", client.items, {**BODY, "external_reference": "order 7"})

        assert (409, "already_exists") == (response.status_code, response.json()["code"])
        assert "/queue/reference/" in response.json()["detail"]

    async def test_strict(self, client: Client) -> None:
        body = {**BODY, "item_id": NOBODY, "nope": 1, "metadata": {"questionnaire": {"undeclared": "x"}}}

        response = await client.send("POST", client.items, body, Prefer="handling=strict")

        assert 422 == response.status_code
        assert {("/item_id", "read_only"), ("/nope", "unknown_member")} <= set(codes(response))

    async def test_strict_metadata(self, client: Client) -> None:
        body = {**BODY, "metadata": {"questionnaire": {"undeclared": "x"}}}

        response = await client.send("POST", client.items, body, Prefer="handling=strict")

        assert (422, [("/metadata/questionnaire/undeclared", "unknown_metadata")]) == (
            response.status_code, codes(response),
        )  # fmt: skip

    async def test_ok(self, client: Client) -> None:
        response = await client.send("POST", client.items, {**BODY, "locale": "en_US", "external_reference": "order 7"})

        item = response.json()
        assert 201 == response.status_code
        assert FIELDS == item.keys()
        assert dict.fromkeys(SEVEN_NULLS) == {name: item[name] for name in SEVEN_NULLS}
        assert (1, "en_US", "ann@example.com", "order 7") == (
            item["status_id"], item["locale"], item["responder_channel_identifier"], item["external_reference"],
        )  # fmt: skip
        assert (client.queue.house.questionnaire_id, client.queue.pipeline_id) == (
            item["questionnaire_id"], item["pipeline_id"],
        )  # fmt: skip
        assert client.queue.house.token_id == item["created_by"] == item["updated_by"]
        assert response.headers["Location"].endswith(f"/v3.2/q/queue/item/{item['item_id']}")
        assert '"1"' == response.headers["ETag"]

    @pytest.mark.parametrize(
        ("sent", "answered"),
        [
            (f"{YEAR}-07-01T09:00:00+03:00", f"{YEAR}-07-01T09:00:00+03:00"),
            (f"{YEAR}-07-01T09:00:00-09:30", f"{YEAR}-07-01T09:00:00-09:30"),
            (f"{YEAR}-07-01T06:00:00Z", f"{YEAR}-07-01T06:00:00+00:00"),
            (f"{YEAR}-07-01t06:00:00.999z", f"{YEAR}-07-01T06:00:00+00:00"),
            ("2018-01-01T10:00:00+03:00", "2018-01-01T10:00:00+03:00"),
            (f"{YEAR}-01-15 10:30", f"{YEAR}-01-15T10:30:00+02:00"),
            (f"{YEAR}-07-15 10:30:07", f"{YEAR}-07-15T10:30:07+03:00"),
            (
                f"{last_sunday(3)} 03:30",
                f"{last_sunday(3)}T04:00:00+03:00",
            ),  # skipped in Athens: the first after the gap
            (f"{last_sunday(10)} 03:30", f"{last_sunday(10)}T03:30:00+03:00"),  # Athens has it twice: the first
        ],
    )
    async def test_send_time_keeps_instant_and_offset(self, client: Client, sent: str, answered: str) -> None:
        assert answered == (await client.create(send_time=sent))["send_time"]

    async def test_due_at_once_still_answers_nulls(self, client: Client) -> None:
        await client.sent(metadata={"responder": {"email": "ann@example.com"}})

        item = await client.create(send_time="2018-01-01T10:00:00+03:00")

        assert {None} == {item[name] for name in SEVEN_NULLS}
        assert 1 == item["status_id"]

    async def test_metadata_is_kept(self, client: Client) -> None:
        metadata = {
            "questionnaire": {"transaction_id": "1042 (XKBK)", "n": 12},
            "responder": {"email": "ann@example.com"},
        }

        item = await client.create(metadata=metadata)

        shown = {
            "questionnaire": {"transaction_id": "1042 (XKBK)", "n": "12"},
            "responder": {"email": "ann@example.com"},
        }
        [listed] = await client.ok("GET", f"{client.items}?filter_by[EQUAL][Source]=api")
        for one in (item, listed, await client.ok("GET", client.paths(item["item_id"])[1])):
            assert ("api", None, False, shown) == tuple(one[name] for name in ("source", "reason", "test", "metadata"))
        back = await client.send("PATCH", client.paths(item["item_id"])[0], item)
        assert (200, shown, item["updated_time"]) == (
            back.status_code,
            back.json()["metadata"],
            back.json()["updated_time"],
        )

    async def test_metadata_without_the_scopes_of_values(self, client: Client) -> None:
        metadata = {"questionnaire": {"transaction_id": "1042"}, "responder": {"email": "ann@example.com"}}
        path = client.paths((await client.create(metadata=metadata))["item_id"])[0]
        narrow = await client.with_token(SCOPES - {"Responder Value.Read"})
        seen = await narrow.ok("GET", path)

        assert {"questionnaire": {"transaction_id": "1042"}, "responder": {}} == seen["metadata"]
        assert seen["metadata"] == (await narrow.ok("GET", client.items))[0]["metadata"]
        assert 200 == (await narrow.send("PATCH", path, {**seen, "locale": "el"})).status_code
        assert metadata == (await client.ok("GET", path))["metadata"]

    async def test_an_address_with_spaces_around_comes_back_as_sent(self, client: Client) -> None:
        assert (
            " Ann@Example.com "
            == (await client.create(responder_channel_identifier=" Ann@Example.com "))["responder_channel_identifier"]
        )

    async def test_many_at_once_share_a_flush(self, client: Client) -> None:
        bodies = [
            {"responder_channel_identifier": f"a{n}@example.com", "external_reference": str(n % 40)} for n in range(60)
        ]

        async def send(body: object) -> httpx2.Response:
            while (response := await client.send("POST", client.items, body)).status_code == BUSY:
                pass  # a slow machine sheds load, and its clients come again
            return response

        responses = await asyncio.gather(*(send(body) for body in bodies))

        assert 40 == sum(response.status_code == 201 for response in responses)
        assert 20 == sum(response.json().get("code") == "already_exists" for response in responses)
        assert 40 == await client.queue.value("select count(*) from queue_item")
        created = {
            response.json()["responder_channel_identifier"] for response in responses if response.status_code == 201
        }
        assert 40 == len(created)


class TestGetItem:
    async def test_below_another_pipeline(self, client: Client) -> None:
        item = await client.create()
        other = await client.queue.pipeline()

        path = client.paths(item["item_id"])[0].replace(client.queue.pipeline_id, other.pipeline_id)

        assert 404 == (await client.send("GET", path)).status_code

    async def test_ok(self, client: Client) -> None:
        item = await client.create(locale="el")

        for path in client.paths(item["item_id"]):
            response = await client.send("GET", path)
            assert (200, item) == (response.status_code, response.json())
            again = await client.send("GET", path, If_None_Match=response.headers["ETag"])
            assert 304 == again.status_code

    async def test_sent(self, client: Client) -> None:
        item = await client.create()
        [dispatch] = await client.queue.worker().send(OK)

        seen = await client.ok("GET", client.paths(item["item_id"])[1])

        assert (3, dispatch.instance.instance_id, dispatch.responder.responder_id, None, None) == (
            seen["status_id"], seen["questionnaire_instance_id"], seen["responder_id"], seen["result"],
            seen["retry_attempts"],
        )  # fmt: skip
        assert seen["dispatched_time"].endswith(("+02:00", "+03:00"))


class TestListItems:
    async def test_bare_array_newest_send_time_first(self, client: Client) -> None:
        times = [f"{YEAR}-01-01T00:00:00+00:00", f"{YEAR}-03-01T00:00:00+00:00", f"{YEAR}-02-01T00:00:00+00:00"]
        items = [await client.create(send_time=time) for time in times]

        response = await client.send("GET", client.items)

        assert 200 == response.status_code
        assert [items[1], items[2], items[0]] == response.json()

    async def test_pages_by_cursor(self, client: Client) -> None:
        """The default is a page of 100 with a link to the rest; everything is seen exactly once."""
        for number in range(105):
            await client.queue.schedule(f"a{number}@example.com")

        first = await client.send("GET", client.items)
        link = first.headers["Link"].partition(">")[0].removeprefix("<")
        second = await client.http.get(link, headers=client.headers)

        assert [100, 5] == [len(first.json()), len(second.json())]
        assert 105 == len({item["item_id"] for item in first.json() + second.json()})
        assert "Link" not in second.headers

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("filter_by[EQUAL][StatusId]=3", ["sent"]),
            ("filter_by[EQUAL][StatusId]=4", ["failed", "uncertain"]),
            ("filter_by[IN][StatusId][]=1&filter_by[IN][StatusId][]=5", ["aborted", "pending"]),
            ("filter_by[EQUAL][ExternalReference]=pending", ["pending"]),
            ("filter_by[LIKE][ResponderChannelIdentifier]=%25FAILED%25", ["failed"]),
            ("filter_by[NOT_NULL][DispatchedTime]=null", ["sent"]),
            ("filter_by[GREATER_EQUAL][RetryAttempts]=1", ["failed"]),
        ],
    )
    async def test_filter(self, client: Client, query: str, expected: list[str]) -> None:
        for name, change in {
            "pending": "status = 1",
            "sent": "status = 4, dispatched_time = now(), attempts = 1",
            "failed": "status = 5, attempts = 2",
            "uncertain": "status = 6, attempts = 1",
            "aborted": "status = 7",
        }.items():
            item = await client.create(responder_channel_identifier=f"{name}@example.com", external_reference=name)
            await client.queue.execute(f"update queue_item set {change} where item_id = $1", item["item_id"])

        response = await client.http.get(f"{client.items}?{query}", headers=client.headers)

        assert expected == sorted(item["external_reference"] for item in response.json())

    async def test_deleted_ones_are_gone(self, client: Client) -> None:
        item = await client.create()
        await client.send("DELETE", client.paths(item["item_id"])[0])

        assert [] == await client.ok("GET", client.items)


class TestChangeItem:
    async def test_a_wrong_address_alone_and_beside_another_wrong_field(self, client: Client) -> None:
        item = await client.create()
        body = {"responder_channel_identifier": "nobody", "locale": "?"}
        named = {("/locale", "invalid_locale"), ("/responder_channel_identifier", "invalid_address")}
        for path in client.paths(item["item_id"]):
            assert named == set(codes(await client.send("PATCH", path, body)))
            alone = await client.send("PATCH", path, {"responder_channel_identifier": "nobody"})
            assert [("/responder_channel_identifier", "invalid_address")] == codes(alone)
        assert item == await client.ok("GET", client.paths(item["item_id"])[1])

    async def test_ok(self, client: Client) -> None:
        item = changed = await client.create(locale="el")

        for number, path in enumerate(client.paths(item["item_id"])):
            body = {"locale": None, "send_time": f"{YEAR}-07-0{number + 1}T09:00:00+05:30"}
            response = await client.send("PATCH", path, body, If_Match=f'"{number + 1}"')
            changed = response.json()
            assert (200, None, body["send_time"]) == (response.status_code, changed["locale"], changed["send_time"])
            assert f'"{number + 2}"' == response.headers["ETag"]
        same = {name: item[name] for name in FIELDS - {"locale", "send_time", "updated_time"}}
        assert same == {name: changed[name] for name in same}

    async def test_a_whole_model_comes_back(self, client: Client) -> None:
        """Clients load a resource, change one field, and send every non-null field."""
        item = await client.create(locale="el", send_time=f"{YEAR}-07-01T09:00:00+03:00")
        loaded = {name: value for name, value in item.items() if value is not None}

        unchanged = await client.send("PATCH", client.paths(item["item_id"])[1], loaded)
        changed = await client.send("PATCH", client.paths(item["item_id"])[1], {**loaded, "locale": "en"})

        assert (200, item) == (unchanged.status_code, unchanged.json())
        assert (200, "en", 1) == (changed.status_code, changed.json()["locale"], changed.json()["status_id"])

    async def test_a_stale_whole_model_revives_nothing(self, client: Client) -> None:
        item = await client.create(locale="el", send_time=f"{YEAR}-07-01T09:00:00+03:00")
        loaded = {name: value for name, value in item.items() if value is not None}
        path = client.paths(item["item_id"])[1]
        await client.send("PATCH", path, {"status_id": 5})

        same = await client.send("PATCH", path, loaded)
        other = await client.send("PATCH", path, {**loaded, "locale": "en"})

        assert (200, 5) == (same.status_code, same.json()["status_id"])
        assert (409, "item_closed") == (other.status_code, other.json()["code"])
        assert 5 == (await client.ok("GET", path))["status_id"]

    async def test_cancel(self, client: Client) -> None:
        item = await client.create()
        path = client.paths(item["item_id"])[1]
        body = {"status_id": 5, "result": "Order was canceled", "locale": "de"}

        responses = [await client.send("PATCH", path, body) for _ in range(2)]

        assert [200, 200] == [response.status_code for response in responses]
        answers = [response.json() for response in responses]
        assert [(5, "Order was canceled", None)] * 2 == [(a["status_id"], a["result"], a["locale"]) for a in answers]
        assert [] == await client.queue.worker().claim()

    async def test_result_alone_does_not_act(self, client: Client) -> None:
        item = await client.create()

        response = await client.send("PATCH", client.paths(item["item_id"])[1], {"result": "x" * 600, "status_id": 2})

        assert (200, item) == (response.status_code, response.json())


class TestDeleteItem:
    async def test_ok(self, client: Client) -> None:
        for number in range(2):
            item = await client.create()
            path = client.paths(item["item_id"])[number]

            assert 412 == (await client.send("DELETE", path, If_Match='"9"')).status_code
            response = await client.send("DELETE", path)

            assert (204, b"") == (response.status_code, response.content)
            assert {404} == {(await client.send(method, path, {})).status_code for method in ("GET", "PATCH", "DELETE")}
