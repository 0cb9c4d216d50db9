"""A copy of all that is held on one person among a million items and responses."""

import time
from typing import Final

import httpx2
import pytest

from tests.bar import Tell
from tests.privacy.conftest import CANARY, Desk, people
from tests.privacy.copies import FIRST, copy_person
from tests.sizes import size

pytestmark = pytest.mark.nightly

ROWS: Final = size(50_000, 1_000_000)  # items, and as many responses
OF_ONE: Final = 200
SECONDS_MAX: Final = 60


async def test_copy(desk: Desk, database_url: str, tell: Tell) -> None:
    [known] = await people(desk, [CANARY])
    await copy_person(database_url, responder_id=known.responder_id, rows=ROWS, of_one=OF_ONE)
    copies, seconds = dict[str, httpx2.Response](), dict[str, float]()
    for form in ("json", "html"):
        began = time.perf_counter()
        path = f"/q/responder/{FIRST}/subject?format={form}"
        copies[form] = await desk.http.get(path, headers=desk.house.headers)
        seconds[form] = time.perf_counter() - began
        assert 200 == copies[form].status_code
        assert OF_ONE <= copies[form].text.count(f"I am {CANARY}")
    document = copies["json"].json()
    assert {OF_ONE} == {len(document[name]) for name in ("queue_items", "instances", "responses")}
    tell(
        f"T41 copy of {OF_ONE} of {ROWS:,} items and responses: JSON {seconds['json']:.2f} s, "
        f"page {seconds['html']:.2f} s, {{missing}} missing",
        missing=0,
    )
    assert max(seconds.values()) < SECONDS_MAX
