"""Processes whose clocks are wrong by hours and days: the database's time is the only one that counts."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.run.worker.faults.rig import Rig, Web, lack, size

pytestmark = pytest.mark.faults

FOLDERS = ("/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime", "/usr/lib/faketime")
LATE_SECONDS_MAX = 60.0  # a fault would make it ten minutes at least


def _library() -> str | None:
    found: Iterator[Path] = (Path(folder) / "libfaketimeMT.so.1" for folder in FOLDERS)
    return next((str(path) for path in found if path.exists()), None)


async def test_wrong_clocks(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """T14: web ten minutes ahead, workers behind and three days ahead: nothing goes early, and nothing goes late."""
    library = _library() or lack("libfaketime")
    items = size(100, 1_000)
    await rig.fill(organizations=2, lanes=1, items=items)
    await rig.connection.execute(
        """update queue_item q set due_time = now() + make_interval(secs => 5 + n * 5.0 / $1::float8)
           from (select item_id, row_number() over (order by item_id) as n from queue_item) o
           where o.item_id = q.item_id""",
        float(items),
    )
    monkeypatch.setenv("LD_PRELOAD", library)
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    async with rig.sink(), rig.workers(0, is_apart=True) as workers:
        for offset in ("-10m", "+3d", "-1h"):
            monkeypatch.setenv("FAKETIME", offset)
            workers.start_one()
        monkeypatch.setenv("FAKETIME", "+10m")
        async with rig.web() as [site]:
            monkeypatch.delenv("LD_PRELOAD")
            await _schedule(rig, site)
            await rig.drained()
    early, late = await rig.connection.fetchrow(
        """select count(*) filter (where a.begin_time < q.due_time),
             max(extract(epoch from a.begin_time - q.due_time))::float8
           from queue_item q join attempt a using (organization_id, item_id)"""
    )
    assert 0 == early
    rig.tell(f"T14 early {early}, late by {late:.2f} s at most")
    assert late < LATE_SECONDS_MAX
    figures = await rig.reconcile(unknown_max=0)
    assert items + 2 == figures.items


async def _schedule(rig: Rig, site: Web) -> None:
    """Over the web process, for now and for soon: its clock takes no part, and a token's age is the database's."""
    [(house, pipeline_id), *_] = await rig.lanes()
    path = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{pipeline_id}/queue/item"
    soon = await rig.connection.fetchval("select now() + interval '3 seconds'")
    headers = {"Authorization": f"Bearer {house.token}"}
    async with httpx2.AsyncClient(base_url=site.url, timeout=10.0, headers=headers) as http:
        for number, due in enumerate((None, soon)):
            wanted = {"responder_channel_identifier": f"web{number}@example.com"}
            answer = await http.post(path, json=wanted if due is None else {**wanted, "send_time": due.isoformat()})
            assert 201 == answer.status_code, answer.text
            rig.acknowledged.add(answer.json()["item_id"])
    ahead = "select max(extract(epoch from created_time - now())) from queue_item"
    assert await rig.connection.fetchval(ahead) <= 1, "an item from the future"
