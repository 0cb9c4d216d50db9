"""Retention that is killed at any moment: it goes on, forgets everybody, counts each row once, changes no figure."""

import random
import subprocess
import sys
from typing import Any, Final

import pytest

from tests.bar import Tell
from tests.journeys.processes import ROOT, until
from tests.privacy.conftest import (
    CANARY,
    Desk,
    desk as desk,  # noqa: PLC0414  a fixture
)
from tests.privacy.copies import copy_person
from tests.privacy.test_retention import OF_OTHER_JOBS, asked, keep, left
from tests.privacy.test_rows import figures
from tests.sizes import draw_by, size

pytestmark = pytest.mark.faults

ROWS: Final = size(1_000, 10_000)  # items, and as many responses
OF_ONE: Final = 10
KILLS: Final = size(2, 20)
DAYS: Final = 70
SECONDS_MAX: Final = 300
COUNTED: Final = """
    select coalesce(sum(c.value::bigint), 0)::bigint from retention_run r cross join jsonb_each_text(r.counts) c"""


def process(url: str) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "tests.run.worker.faults.forgetting", url, str(DAYS)]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


async def test_killed_at_any_moment(desk: Desk, database_url: str, tell: Tell) -> None:
    [known] = await asked(desk, CANARY)
    await copy_person(database_url, responder_id=known.responder_id, rows=ROWS, of_one=OF_ONE)
    items = await desk.value("select count(*) from queue_item")
    before = without_intervals(await figures(desk))
    await keep(desk, anonymize_after_days=60, exports_days=1)
    draw, seen = random.Random(f"{draw_by()} retention"), list[int]()  # noqa: S311
    for share in sorted(draw.uniform(0, 0.9) for _ in range(KILLS)):
        with process(database_url) as worker:

            async def far(share: float = share) -> bool:
                return await desk.value(COUNTED) >= 2 * ROWS * share

            await until(far, seconds=SECONDS_MAX, what="rows are forgotten")
            worker.kill()
            worker.communicate()
        seen.append(await desk.value(COUNTED))
    with process(database_url) as worker:
        _, text = worker.communicate(timeout=SECONDS_MAX)
        assert 0 == worker.returncode, text
    assert seen[-1] < await desk.value(COUNTED), "killed too late"
    assert OF_OTHER_JOBS >= await left(desk, CANARY)
    assert before == without_intervals(await figures(desk))
    for kind, name, count in (("items", "Queue Item", items), ("people", "Responder", ROWS // OF_ONE + 1)):
        [run] = await runs(desk, kind)
        assert ("done", count) == (run["state"], run["counts"][name])
    tell(
        "T50 retention: {kills} kills after {rows} rows; tables with the people {left}",
        kills=len(seen), rows=sum(seen), left=0,
    )  # fmt: skip


def without_intervals(shown: Any) -> Any:
    """A report of so many responses takes its intervals from a sample, which the order of rows on disk may change."""
    match shown:
        case dict():
            return {name: without_intervals(value) for name, value in shown.items() if name != "interval"}
        case list():
            return [without_intervals(each) for each in shown]
        case _:
            return shown


async def runs(desk: Desk, kind: str) -> list[dict[str, Any]]:
    listed = await desk.ask("GET", f"/organization/{desk.house.organization_id}/retention/run")
    return [run for run in listed["results"] if kind == run["kind"]]
