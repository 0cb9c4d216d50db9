"""Personal data in the tables: of a person who was erased nothing is in any column, route, file or log."""

from collections.abc import Callable
from typing import Any

import pytest

from afterword.kit import db
from afterword.kit.transport.base import Sent
from tests.conftest import FIGURE
from tests.privacy.columns import FREE, HOLDS
from tests.privacy.conftest import Desk, people

NAMES = ["zqhector", "zqandromache", "zqpriam"]
# Where a canary cannot stand as text: hashes of it; a file that is compressed; words of a protocol.
NOT_SEEN = {
    "export_piece", "instance_tag", "link_opening", "queue_import_piece", "queue_list", "response_upload",
    "response_upload_piece",
}  # fmt: skip


async def figures(desk: Desk) -> Any:
    """The report's counts, without the period that selects the responses of a row: it ends now."""
    questionnaire_id = desk.house.questionnaire_id
    report = await desk.ask("GET", f"/report/template/csat?questionnaire_id={questionnaire_id}")
    funnel = await desk.ask("GET", f"/report/template/funnel?questionnaire_id={questionnaire_id}")
    rows = [*report["rows"], *funnel["rows"], {"total": [report["total"], funnel["total"]]}]
    return [{name: each for name, each in row.items() if name != "selection"} for row in rows]


async def shown(desk: Desk, item_ids: list[str], responder_id: str, instance_id: str, address: str) -> str:
    """All that the API says about somebody."""
    texts: list[str] = []
    for path in (
        f"/q/responder?search={address[:12]}",
        f"/q/responder/{responder_id}",
        f"/q/responder/{responder_id}/value",
        f"/q/instance/{instance_id}",
        f"/q/instance/{instance_id}/value",
        f"/q/instance/{instance_id}/response/content",
        *(f"/q/queue/item/{item_id}" for item_id in item_ids),
        *(f"/q/queue/item/{item_id}/{part}" for item_id in item_ids for part in ("attempt", "trace")),
        f"{desk.items}?limit=500",
        "/event?limit=500",
        "/suppression?limit=500",
        "/alert/instance?limit=500",
        f"/q/questionnaire/{desk.house.questionnaire_id}/responder/value?limit=500",
        f"/q/questionnaire/{desk.house.questionnaire_id}/value?limit=500",
    ):
        response = await desk.http.get(path, headers=desk.house.headers)
        assert response.status_code in {200, 404}, (path, response.text)
        texts.append(response.text)
    return "\n".join(texts).lower()


@pytest.mark.parametrize("count", [pytest.param(1, id="one"), pytest.param(50, id="fifty", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("mode", ["anonymize", "erase"])
async def test_nothing_is_left(
    desk: Desk, mode: str, count: int, record_property: Callable[[str, object], None], capfd: pytest.CaptureFixture[str]
) -> None:
    """T41: canaries in every personal field before, none afterwards; the counts stand, the suppression works."""
    names = [f"{NAMES[0]}{number:02}" for number in range(count)]
    known = await people(desk, [*names, NAMES[1]])
    *erased, other = known
    for each in erased:
        assert set(HOLDS) - NOT_SEEN <= set(await desk.traces(each.canary))
        assert each.canary in await shown(desk, each.item_ids, each.responder_id, each.instance_id, each.address)
    await desk.execute("update organization set minimum_base = 1")
    await desk.execute(
        """insert into queue_list (organization_id, list_id, questionnaire_id, pipeline_id, content, encoding,
             separator, has_header, created_time)
           select organization_id, pipeline_id, questionnaire_id, pipeline_id, 'x', 'utf-8', ',', true, now()
           from pipeline limit 1"""
    )
    await desk.execute(
        """with import as (
             insert into response_import (organization_id, response_import_id, questionnaire_id, format, created_time,
               updated_time, actor_kind)
             select organization_id, questionnaire_id, questionnaire_id, 'x', now(), now(), 'user' from questionnaire
             limit 1 returning *),
           upload as (
             insert into response_upload (organization_id, response_import_id, names, meanings, unknown, rows_total,
               pieces, turn_time, created_time)
             select organization_id, response_import_id, '[]', '{}', '{"Name": {"Hector": 1}}', 1, 1, now(), now()
             from import)
           select organization_id from import"""
    )
    await desk.execute(
        """insert into response_upload_piece (organization_id, response_import_id, number, content)
           select organization_id, response_import_id, 0, 'x' from response_upload"""
    )
    before = await figures(desk)
    others = await desk.traces(other.canary)
    for each in erased:
        done = await desk.erase(each.responder_id, mode=mode, reason=f"asked by {each.address}")
        assert "done" == done["state"]
    traces = {each.canary: found for each in erased if (found := await desk.traces(each.canary))}
    assert {} == traces
    for each in erased:
        text = await shown(desk, each.item_ids, each.responder_id, each.instance_id, each.address)
        assert each.canary not in text
    assert 0 == await desk.value("select count(*) from export_piece")
    assert 0 == await desk.value("select count(content) from queue_list")
    assert 0 == await desk.value("select count(*) from response_upload_piece")
    assert "{}" == await desk.value("select unknown::text from response_upload")
    assert set(others) - {"export_piece"} == set(await desk.traces(other.canary)) - {"export_piece"}
    if mode == "anonymize":
        assert before == await figures(desk)
    output = capfd.readouterr()
    assert NAMES[0] not in (output.out + output.err).lower()
    await assert_left_alone(desk, erased[0].address)
    record_property(FIGURE, f"T41 {count} people erased ({mode}): canaries left in tables, routes and logs 0")


async def assert_left_alone(desk: Desk, address: str) -> None:
    """Whoever was erased is not asked again: the item ends as Ignored."""
    item = await desk.ask("POST", desk.items, {"responder_channel_identifier": address})
    await desk.queue.worker().send(Sent("250 ok"))
    found = await desk.ask("GET", f"/q/queue/item/{item['item_id']}")
    assert (6, "erased") == (
        found["status_id"],
        await desk.value("select reason from queue_item where item_id = $1", item["item_id"]),
    )


class TestColumns:
    async def test_every_column_is_judged(self, pool: db.Pool) -> None:
        """A new column must say whether it can hold a person."""
        async with db.connection(pool) as database:
            rows = await database.fetch(
                """select c.relname::text as table_name, a.attname::text as column_name
                   from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                   where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
                     and (format_type(a.atttypid, null) in
                         ('text', 'text[]', 'json', 'jsonb', 'bytea', 'character varying', 'xml', 'tsvector')
                       or exists (select from pg_type t where t.oid = a.atttypid and t.typtype = 'c'))"""
            )
        ids = ("_id", "_ids", "_by")
        known = {(row["table_name"], row["column_name"]) for row in rows if not row["column_name"].endswith(ids)}
        judged = [
            (table, column)
            for tables in (HOLDS, FREE)
            for table, columns in tables.items()
            for column in columns
            if not column.endswith(ids)
        ]
        assert len(judged) == len(set(judged))
        assert known == set(judged)
