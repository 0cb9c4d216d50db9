"""Removal by age: what goes and what stays, previews, legal holds, and the ledger of runs."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.listening.reports.daily_counts import service as rollups
from afterword.privacy import retention as privacy_retention
from afterword.sending.queue import retention
from tests.conftest import settled
from tests.privacy.conftest import CANARY, Desk, Known, people
from tests.privacy.test_erasing import token
from tests.privacy.test_rows import figures

ABSENT = "z" * 22
TURNS_MAX = 500
# Rows that have a limit of their own, which no period prolongs: hours or days, see docs/privacy.md.
GONE = {"answer", "questionnaire_instance"}  # by each period of its own, and by both that stand for several
OF_OTHER_JOBS = {"export_piece", "source_event"}  # they go by ages of their own
SHORT_LIVED = {"idempotency_key", "outbox_message", "trial", "queue_import_row", "queue_import_piece"}


def path(desk: Desk, more: str = "") -> str:
    return f"/organization/{desk.house.organization_id}/retention{more}"


async def keep(desk: Desk, **days: int | None) -> Any:
    return await desk.ask("PATCH", path(desk), days)


async def later(desk: Desk, *, days: int) -> datetime:
    """The moment so many days from now."""
    async with db.connection(desk.pool) as database:
        return database.clock.now() + timedelta(days=days)


async def work(desk: Desk, *, days: int) -> int:
    """The worker's job as it would run so many days from now; return the count of its turns."""
    now, after = await later(desk, days=days), privacy_retention.START
    for turns in range(TURNS_MAX):
        async with db.transaction(desk.pool) as database:
            count, after = await privacy_retention.work_next(database, after=after, now=now)
            if not count:
                return turns
    raise AssertionError("the runs do not come to their end")


async def asked(desk: Desk, *canaries: str) -> list[Known]:
    """People of whom nothing waits any more."""
    known = await people(desk, canaries)
    await stop_waiting(desk)
    return known


async def stop_waiting(desk: Desk) -> None:
    waiting = await desk.value("select array_agg(item_id) from queue_item where status = 1")
    for item_id in waiting:
        await desk.ask("PATCH", f"/q/queue/item/{item_id}", {"status_id": 5})
    await desk.execute("update organization set minimum_base = 1")
    await settled(desk.pool)


async def left(desk: Desk, canary: str) -> set[str]:
    return set(await desk.traces(canary)) - SHORT_LIVED


class TestRuns:
    async def test_without_a_period_or_too_young(self, desk: Desk) -> None:
        [known] = await asked(desk, CANARY)
        before = await desk.traces(known.canary)
        assert 0 == await work(desk, days=4_000)
        assert before == await desk.traces(known.canary)
        await keep(desk, anonymize_after_days=60, delete_after_days=90)
        await work(desk, days=59)
        assert before == await desk.traces(known.canary)

    async def test_people_are_forgotten_and_figures_stay(self, desk: Desk) -> None:
        [known] = await asked(desk, CANARY)
        await keep(desk, anonymize_after_days=60, exports_days=1)
        before = await figures(desk)
        await work(desk, days=61)
        assert OF_OTHER_JOBS >= await left(desk, known.canary)
        assert before == await figures(desk)
        shown = await desk.ask("GET", f"/q/instance/{known.instance_id}")
        assert shown["submitted_time"]
        for item_id in known.item_ids:
            assert (await desk.ask("GET", f"/q/queue/item/{item_id}"))["anonymized_time"]

    async def test_a_killed_turn_is_repeated(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        """A fault in one turn changes nothing, is logged, and the next turn does the work."""
        [known] = await asked(desk, CANARY)
        await keep(desk, items_days=10)
        now = await later(desk, days=11)

        async def fail(*_: object, **__: object) -> None:
            raise ValueError("broken")

        with monkeypatch.context() as patched:
            patched.setattr(privacy_retention.rows, "blank_items", fail)
            async with db.transaction(desk.pool) as database:
                start = privacy_retention.START
                for expected in (1, 0):
                    assert (expected, start) == await privacy_retention.work_next(database, after=start, now=now)
        assert "queue_item" in await desk.traces(known.canary)
        await work(desk, days=12)
        assert "queue_item" not in await desk.traces(known.canary)

    async def test_each_kind_alone(self, desk: Desk) -> None:
        [known] = await asked(desk, CANARY)
        await keep(desk, uploads_days=10)
        await work(desk, days=9)
        assert 1 == await desk.value("select count(*) from response_file")
        await work(desk, days=11)
        assert 0 == await desk.value("select count(*) from response_file")
        await keep(desk, texts_days=10)
        await work(desk, days=12)
        found = await desk.traces(known.canary)
        assert "answer" not in found
        assert {"questionnaire_instance", "responder_address", "queue_item"} <= {*found}
        await keep(desk, items_days=10)
        await work(desk, days=13)
        assert "queue_item" not in await desk.traces(known.canary)
        assert "responder_address" in await desk.traces(known.canary)
        await keep(desk, people_days=10)
        await work(desk, days=15)
        assert "responder_address" not in await desk.traces(known.canary)

    async def test_somebody_with_something_waiting(self, desk: Desk) -> None:
        [known] = await people(desk, [CANARY])
        await keep(desk, people_days=10)
        await work(desk, days=11)
        assert "responder_address" in await desk.traces(known.canary)

    async def test_logs_and_exports(self, desk: Desk) -> None:
        await asked(desk, CANARY)
        await keep(desk, events_days=30, audit_days=30, exports_days=2)
        await desk.execute("delete from delivery")
        await desk.execute(
            "update event_cursor set xid = (select max(xid) from event), seq = (select max(seq) from event)"
        )
        await work(desk, days=31)
        assert 0 == await desk.value("select count(*) from event")
        assert 0 == await desk.value("select count(*) from audit_entry")
        assert 0 == await desk.value("select count(*) from export where expires_time > now() + interval '32 days'")
        assert 1 == await desk.value("select count(*) from event_horizon")

    async def test_the_ledger(self, desk: Desk) -> None:
        await asked(desk, CANARY)
        await keep(desk, items_days=10)
        await work(desk, days=11)
        await work(desk, days=11)
        [run] = (await desk.ask("GET", path(desk, "/run")))["results"]
        assert ("items", 10, "done") == (run["kind"], run["days"], run["state"])
        assert 4 <= run["counts"]["Queue Item"]
        assert CANARY not in str(run)
        await work(desk, days=12)
        assert [{}, run["counts"]] == [
            each["counts"] for each in (await desk.ask("GET", path(desk, "/run")))["results"]
        ]
        await work(desk, days=11 + privacy_retention.LEDGER_DAYS + 2)
        assert 1 == len((await desk.ask("GET", path(desk, "/run")))["results"])


class TestDeletion:
    async def test_counts_of_deleted_responses_stay(self, desk: Desk) -> None:
        """Nothing is deleted of days that are still to be counted. A new zone leaves frozen counts as they are."""
        [known] = await asked(desk, CANARY)
        await keep(desk, delete_after_days=30)
        now = await later(desk, days=32)
        async with db.transaction(desk.pool) as database:
            await rollups.survey(database, after="", now=now)
        await work(desk, days=32)
        assert 1 == await desk.value("select count(*) from questionnaire_instance")
        await count_days(desk, now)
        before = await figures_as_of(desk)
        await work(desk, days=33)
        assert 0 == await desk.value("select count(*) from questionnaire_instance")
        assert 0 == await desk.value("select count(*) from answer")
        await count_days(desk, now)
        assert before == await figures_as_of(desk)
        assert 1 < len(before)
        await desk.ask("GET", f"/q/instance/{known.instance_id}", status=404)
        for item_id in known.item_ids:
            await desk.ask("GET", f"/q/queue/item/{item_id}")
        assert 1 == len((await desk.ask("GET", "/alert/instance"))["results"])
        await desk.ask("PATCH", f"/organization/{desk.house.organization_id}", {"time_zone": "America/Lima"})
        await count_days(desk, now)
        assert before == await figures_as_of(desk)


class TestDeleted:
    async def test_goes_without_a_period(self, desk: Desk) -> None:
        """A response whole, an item but for what happened and when; not of a person who is held."""
        known, held = await asked(desk, CANARY, "zqpriam")
        for each in (known, held):
            await desk.ask("DELETE", f"/q/instance/{each.instance_id}")
            await desk.ask("DELETE", f"/q/queue/item/{each.item_ids[0]}")
        hold = await desk.ask("POST", path(desk, "/hold"), {"reason": "A suit", "responder_id": held.responder_id})
        kept = await desk.traces(held.canary)
        assert 0 == await work(desk, days=privacy_retention.DELETED_DAYS - 1)
        await work(desk, days=privacy_retention.DELETED_DAYS + 1)
        left_items = "select array_agg(item_id) from queue_item where deleted_time is not null"
        blanked = f"{left_items} and anonymized_time is not null"
        assert (1, [known.item_ids[0]]) == (
            await desk.value("select count(*) from questionnaire_instance"),
            await desk.value(blanked),
        )
        assert GONE.isdisjoint(await left(desk, known.canary))
        assert set(kept) - SHORT_LIVED == await left(desk, held.canary)
        [run] = (await desk.ask("GET", path(desk, "/run")))["results"]
        assert ("deleted", 30, 1, 1) == (
            run["kind"],
            run["days"],
            run["counts"]["Questionnaire Instance"],
            run["counts"]["Queue Item"],
        )
        await desk.ask("DELETE", path(desk, f"/hold/{hold['hold_id']}"))
        await work(desk, days=privacy_retention.DELETED_DAYS + 3)
        assert 0 == await desk.value("select count(*) from questionnaire_instance")
        assert 2 == len(await desk.value(blanked))


async def count_days(desk: Desk, now: datetime) -> None:
    """The jobs that keep counts, as they would run then."""
    async with db.transaction(desk.pool) as database:
        await rollups.survey(database, after="", now=now)
        while await rollups.follow(database, now=now):
            pass
    count, after = 1, rollups.START
    while count:
        async with db.transaction(desk.pool) as database:
            count, after = await rollups.keep(database, after=after, now=now)


async def figures_as_of(desk: Desk) -> Any:
    """The kept counts of the newest generation, whatever responses there are: what reports of these days show."""
    async with db.connection(desk.pool) as database:
        rows = await database.fetch(
            """select c.dimension, c.question_id, c.dimension_value, c.given, c.counts from rollup_count c
               join rollup_span s using (organization_id, questionnaire_id, dimension, generation)
               where c.dimension <> 'hour' and c.day < s.kept_until order by 1, 2, 3, c.day"""
        )
    return [tuple(row.values()) for row in rows]


class TestHolds:
    @pytest.mark.parametrize(("period", "days"), [("anonymize_after_days", 10), ("delete_after_days", 30)])
    async def test_a_person_is_held(self, desk: Desk, period: str, days: int) -> None:
        known, other = await asked(desk, CANARY, "zqpriam")
        await keep(desk, **{period: days})
        hold = await desk.ask("POST", path(desk, "/hold"), {"reason": "A suit", "responder_id": known.responder_id})
        held = await desk.traces(known.canary)
        await count_days(desk, await later(desk, days=days + 2))
        await work(desk, days=days + 2)
        assert set(held) - SHORT_LIVED == await left(desk, known.canary) | {"event"}
        assert GONE.isdisjoint(await left(desk, other.canary))
        refused = await desk.ask("POST", f"/q/responder/{known.responder_id}/erasure", {}, status=409)
        assert "on_hold" == refused["code"]
        await desk.ask("DELETE", path(desk, f"/hold/{hold['hold_id']}"))
        await work(desk, days=days + 4)
        assert GONE.isdisjoint(await left(desk, known.canary))

    @pytest.mark.parametrize("is_whole", [False, True])
    async def test_nothing_of_it_is_deleted(self, desk: Desk, *, is_whole: bool) -> None:
        """By the API neither; archiving a questionnaire leaves its responses to be read."""
        known, other = await people(desk, [CANARY, "zqpriam"])
        person = {} if is_whole else {"responder_id": known.responder_id}
        hold = await desk.ask("POST", path(desk, "/hold"), {"reason": "A suit", **person})
        paths = [f"/q/instance/{known.instance_id}", *(f"/q/queue/item/{item_id}" for item_id in known.item_ids)]
        for each in paths:
            assert "on_hold" == (await desk.ask("DELETE", each, status=409))["code"]
        await desk.ask("DELETE", f"/q/instance/{other.instance_id}", status=409 if is_whole else 204)
        await desk.ask("DELETE", desk.base)
        for each in paths:
            await desk.ask("GET", each)
        await desk.ask("DELETE", path(desk, f"/hold/{hold['hold_id']}"))
        cancelled, _, waiting = paths[1:]
        for each in (paths[0], cancelled, waiting):
            await desk.ask("DELETE", each)

    async def test_nothing_of_it_becomes_somebody_elses(self, desk: Desk) -> None:
        """By another person of a response, or another address of what waits; other edits stay possible."""
        known, other = await people(desk, [CANARY, "zqpriam"])
        nobody = await desk.ask("POST", "/q/responder", {"metadata": {"email": "nobody@b.example"}})
        reference = {"external_reference": "held-1"}
        pipeline = f"{desk.base}/pipeline/{desk.house.pipeline_id}/queue"
        document = {"responder_channel_identifier": known.address, **reference}
        item = await desk.ask("POST", f"{pipeline}/item", document)
        waiting = f"/q/queue/item/{item['item_id']}"
        elsewhere = {"responder_channel_identifier": "nobody@b.example"}
        moves = [
            ("PATCH", f"/q/instance/{known.instance_id}", {"responder_id": nobody["responder_id"]}),
            ("PATCH", waiting, elsewhere),
            ("PUT", f"{pipeline}/reference/held-1", elsewhere),
        ]
        hold = await desk.ask("POST", path(desk, "/hold"), {"reason": "A suit", "responder_id": known.responder_id})
        for method, each, document in moves:
            refused = await desk.ask(method, each, document, status=409)
            assert ("on_hold", True) == (refused["code"], "somebody else's" in refused["detail"])
        rows = [{**elsewhere, **reference}]
        [outcome] = (await desk.ask("POST", f"{pipeline}/item/batch?on_conflict=update", rows, status=200))["results"]
        assert 409 == outcome["status"]
        assert item["responder_channel_identifier"] == (await desk.ask("GET", waiting))["responder_channel_identifier"]
        await desk.ask("PATCH", f"/q/instance/{known.instance_id}", {"locale": "el"})
        await desk.ask("PATCH", waiting, {"locale": "el"})
        await desk.ask("PATCH", f"/q/instance/{other.instance_id}", {"responder_id": nobody["responder_id"]})
        await desk.ask("DELETE", path(desk, f"/hold/{hold['hold_id']}"))
        await desk.ask("POST", path(desk, "/hold"), {"reason": "All of it"})
        for method, each, document in moves:
            await desk.ask(method, each, document)

    async def test_the_installations_retention_of_items(self, desk: Desk) -> None:
        await asked(desk, CANARY)
        now = await later(desk, days=500)
        hold = await desk.ask("POST", path(desk, "/hold"), {"reason": "A suit"})
        count = await desk.value("select count(*) from queue_item")
        await desk.execute("update event_cursor set xid = pg_current_xact_id()")
        for is_held in (True, False):
            async with db.transaction(desk.pool) as database:
                cursor = retention.RetentionCursor()
                await retention.prune(database, cursor=cursor, days=400, now=now, limit=1_000)
            assert (count if is_held else 0) == await desk.value("select count(*) from queue_item")
            if is_held:
                await desk.ask("DELETE", path(desk, f"/hold/{hold['hold_id']}"))


class TestPreviews:
    async def test_is_what_the_runs_do(self, desk: Desk) -> None:
        """With a deleted response, an invitation without an answer, somebody who is held; none while all is held."""
        *_, deleted, held = await asked(desk, CANARY, "zqpriam", "zqparis", "zqhector")
        await desk.ask("POST", desk.items, {"responder_channel_identifier": "ann@example.com"})
        assert await desk.queue.worker().send(Sent("250 ok"))
        await desk.ask("DELETE", f"/q/instance/{deleted.instance_id}")
        await desk.ask("POST", path(desk, "/hold"), {"reason": "A suit", "responder_id": held.responder_id})
        await settled(desk.pool)
        await count_days(desk, await later(desk, days=32))
        await desk.execute("delete from delivery")
        await keep(desk, **{period: days for _, period, days, _ in KINDS})
        hold = await desk.ask("POST", path(desk, "/hold"), {"reason": "A search"})
        assert ({kind: 0 for kind, *_ in KINDS}, 0) == (await preview(desk, days=32), await work(desk, days=32))
        await desk.ask("DELETE", path(desk, f"/hold/{hold['hold_id']}"))
        for kind, period, days, resource in KINDS:
            await keep(desk, **{**{each: None for _, each, *_ in KINDS}, period: days})
            await desk.execute(
                """update event_cursor set xid = e.xid, seq = e.seq
                   from (select max(xid) as xid, max(seq) as seq from event) e where e.xid is not null"""
            )
            previewed = await preview(desk, days=days + 2)
            await work(desk, days=days + 2)
            runs = (await desk.ask("GET", path(desk, "/run")))["results"]
            [run] = [one for one in runs if one["kind"] == kind]
            assert {kind: run["counts"].get(resource)} == previewed
            assert 0 < previewed[kind], kind

    async def test_changes_nothing(self, desk: Desk) -> None:
        await asked(desk, CANARY)
        await keep(desk, anonymize_after_days=60)
        body = {"anonymize_after_days": 30, "delete_after_days": 30}
        parts = (await desk.ask("POST", path(desk, "/preview"), body, status=200))["parts"]
        kinds = ("items", "texts", "people", "uploads", "answers")
        assert [(kind, 30, 0, False) for kind in kinds] == [
            (each["kind"], each["days"], each["count"], each["is_more"]) for each in parts
        ]
        assert 60 == (await desk.ask("GET", path(desk)))["anonymize_after_days"]


# Kinds, in an order in which none takes what a later one counts: the period, its days, the resource in the ledger.
KINDS = (
    ("uploads", "uploads_days", 10, "File"),
    ("texts", "texts_days", 10, "Answer"),
    ("items", "items_days", 10, "Queue Item"),
    ("people", "people_days", 10, "Responder"),
    ("exports", "exports_days", 1, "Export"),
    ("answers", "answers_days", 30, "Questionnaire Instance"),
    ("events", "events_days", 30, "Event"),
    ("audit", "audit_days", 30, "Audit"),
)


async def preview(desk: Desk, *, days: int) -> dict[str, int]:
    """The counts by kind as they would be so many days from now, by the periods of now."""
    now = await later(desk, days=days)
    async with db.connection(desk.pool) as database:
        found = await privacy_retention.preview(database, caller=desk.house.caller, changes={}, now=now)
    return {one.kind: one.count for one in found}


class TestPeriods:
    async def test_a_part_of_the_organization(self, desk: Desk) -> None:
        """Data of people belongs to the whole organization."""
        headers = await token(desk, application_ids=[desk.house.application_id])
        for method, more in (("GET", "/run"), ("GET", "/hold"), ("POST", "/hold"), ("POST", "/preview")):
            body = {"reason": "A suit"} if more == "/hold" else {}
            response = await desk.http.request(
                method, path(desk, more), json=body if method == "POST" else None, headers=headers
            )
            assert 403 == response.status_code, more
        response = await desk.http.patch(path(desk), json={"texts_days": 5}, headers=headers)
        assert 403 == response.status_code

    async def test_wrong(self, desk: Desk) -> None:
        days = {"texts_days": 0, "answers_days": 29, "delete_after_days": 29, "events_days": 91, "exports_days": 8}
        wrong = await desk.ask("PATCH", path(desk), days, status=422)
        found = {(each["pointer"], each["code"]) for each in wrong["errors"]}
        assert {(f"/{name}", "out_of_range") for name in days} == found
