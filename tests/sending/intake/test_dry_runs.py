"""Dry runs: what would become of each row, by the rules that sending goes by, and not a trace of it left behind."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.core.organizations.access import SCOPES
from afterword.core.scheduling.decisions import RULES
from afterword.kit import db
from tests.dates import YEAR
from tests.sending.queue.conftest import BODY, Client, Queue


async def simulate(client: Client, *rows: object, query: str = "", **headers: Any) -> list[dict[str, Any]]:
    return (await client.ok("POST", f"{client.items}/simulate{query}", list(rows), **headers))["results"]


async def everything(queue: Queue) -> dict[str, object]:
    """All rows of all tables, but for the ticks of tokens."""
    tables = await queue.fetch(
        "select table_name::text from information_schema.tables where table_schema = 'public' and table_name <> 'token'"
    )
    return {
        row["table_name"]: await queue.value(
            f"select array_agg(to_jsonb(t)::text order by to_jsonb(t)::text) from {row['table_name']} t"
        )
        for row in tables
    }


class TestRows:
    async def test_goes(self, client: Client) -> None:
        [row] = await simulate(client, {**BODY, "send_time": f"{YEAR}-07-01T09:00:00+03:00"})
        assert (True, "go", None, None) == tuple(row[name] for name in ("valid", "verdict", "reason", "problem"))
        assert datetime.fromisoformat(f"{YEAR}-07-01T09:00:00+03:00") == datetime.fromisoformat(row["planned_time"])
        assert ("Europe/Athens", "How was your delivery?") == (row["time_zone"], row["subject"])
        assert len(RULES) == len(row["checks"])
        assert all(check["passed"] for check in row["checks"])
        assert {"rule", "passed", "detail", "until_time", "leaves"} == row["checks"][0].keys()

    async def test_invalid(self, client: Client) -> None:
        found = await simulate(client, {}, BODY, {"responder_channel_identifier": "no address"})
        assert [False, True, False] == [row["valid"] for row in found]
        assert [0, 1, 2] == [row["row"] for row in found]
        assert ["invalid", None, "invalid"] == [row["problem"] and row["problem"]["code"] for row in found]
        assert [] == found[0]["checks"]
        assert [None] * 4 == [found[0][name] for name in ("verdict", "planned_time", "locale", "subject")]

    async def test_texts(self, client: Client) -> None:
        await client.queue.change_pipeline(
            "message_subject = 'Hello {{ responder.first_name | you }}', message_body = '{{ questionnaire.order }}', "
            """messages = '{"de": {"subject": "Na, {{ responder.first_name | du }}?", "body": "{{ link }}"}}'"""
        )
        metadata = {"questionnaire": {"order": "1042"}, "responder": {"first_name": "Ann"}}
        found = await simulate(client, {**BODY, "metadata": metadata}, BODY)
        assert [("Hello Ann", "1042"), ("Hello you", "")] == [(row["subject"], row["body"]) for row in found]

    async def test_customers_read_the_title(self, client: Client) -> None:
        """The display name is the team's; it stands in only where there is no title."""
        await client.queue.change_pipeline("message_subject = 'About: {{ questionnaire }}'")
        await client.queue.execute("update questionnaire set display_name = 'Q4 draft', title = 'Your delivery'")
        assert "About: Your delivery" == (await simulate(client, BODY))[0]["subject"]
        await client.queue.execute("update questionnaire set title = null")
        assert "About: Q4 draft" == (await simulate(client, BODY))[0]["subject"]

    async def test_a_responder_who_is_known(self, client: Client) -> None:
        await client.sent(metadata={"responder": {"first_name": "Ann"}})
        await client.queue.change_pipeline("message_subject = 'Hello {{ responder.first_name | you }}'")
        known, unknown = await simulate(client, BODY, {"responder_channel_identifier": "bob@example.com"})
        assert await client.queue.value("select responder_id from responder") == known["responder_id"]
        assert ("Hello Ann", None, "Hello you") == (known["subject"], unknown["responder_id"], unknown["subject"])

    async def test_what_is_known_needs_its_scope(self, client: Client) -> None:
        await client.sent(metadata={"responder": {"first_name": "Ann"}})
        await client.queue.change_pipeline("message_subject = 'Hello {{ responder.first_name | you }}'")
        narrow = await client.with_token(SCOPES - {"Responder Value.Read"})
        assert "Hello you" == (await simulate(narrow, BODY))[0]["subject"]

    async def test_references(self, client: Client) -> None:
        await client.create(external_reference="x")
        rows = [{**BODY, "external_reference": reference} for reference in ("x", "y", "y")]
        found = await simulate(client, *rows)
        assert [False, True, False] == [row["valid"] for row in found]
        assert "already_exists" == found[0]["problem"]["code"]
        assert [True] * 3 == [row["valid"] for row in await simulate(client, *rows, query="?on_conflict=update")]


class TestRules:
    async def test_conditions(self, client: Client) -> None:
        await client.queue.change_pipeline(
            """conditions = '{"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7"}'"""
        )
        yes, no = [{**BODY, "metadata": {"questionnaire": {"store_id": store}}} for store in ("7", "8")]
        good, bad = await simulate(client, yes, no)
        assert ("go", "skip", "conditions") == (good["verdict"], bad["verdict"], bad["reason"])
        assert bad["planned_time"] is None
        assert "Ignored: condition not met: store_id equal 7" == bad["result"]
        [check] = [check for check in bad["checks"] if check["rule"] == "conditions"]
        leaf = {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7", "actual": "8"}
        assert [{**leaf, "matches": False}] == check["leaves"]

    async def test_cap_within_the_batch(self, client: Client) -> None:
        """As in a claim, the first of an address takes the place; here by when they are due."""
        await client.queue.change_pipeline("frequency_cap_days = 30")
        late, early, other = await simulate(
            client,
            {**BODY, "send_time": f"{YEAR}-03-05T10:00:00Z"},
            {**BODY, "send_time": f"{YEAR}-03-01T10:00:00Z"},
            {"responder_channel_identifier": "bob@example.com", "send_time": f"{YEAR}-03-05T10:00:00Z"},
        )
        assert ["skip", "go", "go"] == [late["verdict"], early["verdict"], other["verdict"]]
        assert "frequency_cap" == late["reason"]

    async def test_cap_by_what_was_sent(self, client: Client) -> None:
        await client.queue.change_pipeline("frequency_cap_days = 2, if_capped = 'wait'")
        await client.sent()
        [row] = await simulate(client, BODY)
        assert ("hold", "frequency_cap") == (row["verdict"], row["reason"])
        planned = datetime.fromisoformat(row["planned_time"]) - await client.queue.now()
        assert timedelta(days=1) < planned <= timedelta(days=2)

    async def test_window(self, client: Client) -> None:
        await client.queue.change_pipeline("dispatch_start_time = '09:00', dispatch_end_time = '17:00'")
        [row] = await simulate(client, {**BODY, "send_time": f"{YEAR}-07-01T03:00:00+03:00"})
        planned = datetime.fromisoformat(row["planned_time"])
        assert ("go", 9, "+03:00") == (row["verdict"], planned.hour, row["planned_time"][-6:])
        [window] = [check for check in row["checks"] if check["rule"] == "window"]
        assert window["passed"]
        assert window["detail"] == f"Held until {YEAR}-07-01 {planned:%H:%M} Europe/Athens: outside the dispatch window"

    async def test_suppressed(self, client: Client) -> None:
        await client.sent()
        address = await client.queue.value("select unsubscribe_id from responder_address")
        await client.http.post(f"https://answers.example/u/{address}", data={})
        await client.queue.execute(
            """insert into suppression (organization_id, suppression_id, channel_id, address_key, identifier, reason)
               select organization_id, 's', channel_id, address_key, identifier, 'unsubscribed' from responder_address
               on conflict do nothing"""
        )
        [row] = await simulate(client, BODY)
        assert ("skip", "unsubscribed") == (row["verdict"], row["reason"])

    async def test_ended(self, client: Client) -> None:
        await client.queue.change_pipeline("end_time = now() - interval '1 day'")
        [row] = await simulate(client, BODY)
        assert ("skip", "ended") == (row["verdict"], row["reason"])

    @pytest.mark.parametrize(
        "change",
        [
            "end_time = now() + interval '1 hour'",
            """conditions = '{"subject": "questionnaire_metadata:store_id", "operator": "is_not_empty"}'""",
            "title = 'nothing'",
        ],
    )
    async def test_as_the_worker_decides(self, client: Client, change: str) -> None:
        await client.queue.change_pipeline(change)
        rows = [
            BODY,
            {"responder_channel_identifier": "bob@example.com", "metadata": {"questionnaire": {"store_id": "7"}}},
        ]
        foreseen = [row["verdict"] == "go" for row in await simulate(client, *rows)]
        for row in rows:
            await client.create(**row)
        going = {dispatch.item.responder_channel_identifier for dispatch in await client.queue.worker().claim()}
        assert foreseen == [row["responder_channel_identifier"] in going for row in rows]


class TestNothingIsWritten:
    async def test_no_row_changes(self, client: Client) -> None:
        await client.queue.change_pipeline("frequency_cap_days = 30")
        await client.create(external_reference="x")
        before = await everything(client.queue)
        rows = [BODY, {}, {**BODY, "external_reference": "x"}, {**BODY, "external_reference": "new"}]
        await simulate(client, *rows)
        await simulate(client, *rows, Prefer="handling=strict")
        assert before == await everything(client.queue)

    async def test_thousands_with_few_queries(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = [{"responder_channel_identifier": f"a{n}@example.com"} for n in range(2_000)]
        await simulate(client, *rows[:1])  # what is asked once and remembered
        asked: list[str] = []
        fetch = db.Database.fetch

        async def counted(self: db.Database, query: Any, *values: object) -> Any:
            asked.append(query)
            return await fetch(self, query, *values)

        monkeypatch.setattr(db.Database, "fetch", counted)
        found = await simulate(client, *rows)
        assert (2_000, {"go"}) == (len(found), {row["verdict"] for row in found})
        assert len(asked) < 12
