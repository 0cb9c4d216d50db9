"""Asking for an erasure, the work on it, what interrupts it, and the ledger as lines."""

from collections.abc import Sequence

import pytest

from afterword import errors
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.privacy import rows, service
from tests.conftest import settled
from tests.making import make_token
from tests.privacy.conftest import CANARY, Desk, people


async def token(desk: Desk, *, scopes: frozenset[str] = SCOPES, application_ids: Sequence[str] = ()) -> dict[str, str]:
    text = await make_token(desk.pool, desk.house.organization_id, scopes=scopes, application_ids=application_ids)
    return {"Authorization": f"Bearer {text}"}


class TestAsking:
    async def test_part_of_the_organization(self, desk: Desk) -> None:
        """A person belongs to all applications, so who sees one of them must not erase it for the others."""
        made = await desk.ask("POST", f"{desk.base}/instance", {"metadata": {"responder": {"email": "a@b.example"}}})
        headers = await token(desk, application_ids=[desk.house.application_id])
        path = f"/q/responder/{made['responder_id']}/erasure"
        response = await desk.http.post(path, json={}, headers=headers)
        assert (403, "forbidden") == (response.status_code, response.json()["code"])

    async def test_ok(self, desk: Desk) -> None:
        """Once at a time, and as often as wished."""
        [known] = await people(desk, [CANARY])
        path, letter = f"/q/responder/{known.responder_id}/erasure", {"reason": f"letter of {known.address}"}
        response = await desk.http.post(path, json=letter, headers=desk.house.headers)
        refused = await desk.ask("POST", path, {}, status=409)
        assert "already_exists" == refused["code"]
        made = response.json()
        assert 201 == response.status_code
        assert response.headers["Location"].endswith(f"/v3.2/q/responder/erasure/{made['erasure_id']}")
        assert ("anonymize", True, "running", {}, None, None) == tuple(
            made[name] for name in ("mode", "suppress", "state", "counts", "finished_time", "checksum")
        )
        assert "letter of [address]" == made["reason"]
        await desk.work()
        done = await desk.ask("GET", f"/q/responder/erasure/{made['erasure_id']}")
        assert "done" == done["state"]
        assert done["checksum"].startswith("sha256:")
        assert done["counts"]["Queue Item"] == 4
        assert (1, 2) == (done["counts"]["Responder"], done["counts"]["Cancelled Queue Item"])
        await settled(desk.pool)
        [event] = (await desk.ask("GET", "/event?type=responder.erased"))["results"]
        assert known.responder_id == event["subject_id"]
        assert CANARY not in str(event)
        await desk.ask("POST", path, {"mode": "erase"})

    async def test_without_suppression(self, desk: Desk) -> None:
        """Earlier suppressions of the person stay; none is added."""
        [known] = await people(desk, [CANARY])
        await desk.erase(known.responder_id, suppress=False)
        rows = (await desk.ask("GET", "/suppression"))["results"]
        assert [("blocked", None)] == [(row["reason"], row["note"]) for row in rows]
        assert 64 == len(rows[0]["identifier"])


class TestWork:
    async def test_dies_at_every_turn(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each turn is done, then lost with its transaction, then done again: nothing is left, nothing twice."""
        monkeypatch.setattr(service, "ITEMS_MAX", 1)
        monkeypatch.setattr("afterword.privacy.subjects.SCAN_ITEMS_MAX", 2)
        monkeypatch.setitem(rows.SCAN_MAX, "events", 7)
        monkeypatch.setattr("afterword.privacy.rows.SCAN_KEYS_BYTES_MAX", 1)
        [known] = await people(desk, [CANARY])
        made = await desk.ask("POST", f"/q/responder/{known.responder_id}/erasure", {})
        turns = 0
        while True:
            with pytest.raises(_Died):
                await _die(desk)
            async with db.transaction(desk.pool) as database:
                if not await service.work_next(database, now=database.clock.now()):
                    break
            turns += 1
        assert turns > len(service.STEPS)
        assert [] == await desk.traces(CANARY)
        done = await desk.ask("GET", f"/q/responder/erasure/{made['erasure_id']}")
        assert (4, 1) == (done["counts"]["Queue Item"], done["counts"]["Responder"])
        assert 1 == await desk.value("select count(*) from event where type = 'responder.erased'")

    async def test_one_that_fails_keeps_no_other(self, desk: Desk) -> None:
        failing, other = await people(desk, [CANARY, "zqhelen"])
        await desk.execute("create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$")
        await desk.execute(
            "create trigger fail before update on queue_item for each row "
            f"when (new.anonymized_time is not null and new.item_id = '{failing.item_ids[1]}') execute function fail()"
        )
        first = await desk.ask("POST", f"/q/responder/{failing.responder_id}/erasure", {})
        assert "done" == (await desk.erase(other.responder_id))["state"]
        path = f"/q/responder/erasure/{first['erasure_id']}"
        assert "running" == (await desk.ask("GET", path))["state"]
        await desk.execute("drop trigger fail on queue_item")
        await desk.execute("update erasure set due_time = now() - interval '1s' where state = 'running'")
        await desk.work()
        assert "done" == (await desk.ask("GET", path))["state"]
        assert [] == await desk.traces(CANARY)


class _Died(Exception):
    pass


async def _die(desk: Desk) -> None:
    async with db.transaction(desk.pool) as database:
        await service.work_next(database, now=database.clock.now())
        raise _Died


@pytest.mark.parametrize("text", ["{}", "no JSON", "[]", '{"subjects": {}, "suppressed": []}'])
def test_no_ledger(text: str) -> None:
    with pytest.raises(errors.Invalid, match=r"old\.jsonl is no ledger of erasures, in line 2\."):
        list(service.read(f"\n{text}\n", name="old.jsonl"))


async def test_there_and_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LINES_A_READ", 1)
    erased = [await desk.erase(one.responder_id) for one in await people(desk, [CANARY, "zqhelen"])]
    lines = [line async for line in service.lines(desk.pool)]
    assert CANARY not in "".join(lines)
    found = list(service.read("\n".join(lines), name="ledger"))
    assert sorted(one["erasure_id"] for one in erased) == [line.erasure.erasure_id for line in found]
    assert all(line.subjects["item"] and line.erasure.checksum for line in found)
