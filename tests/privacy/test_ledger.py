"""The ledger as lines: what is none is refused, and lines come back as they were."""

import pytest

from afterword import errors
from afterword.privacy import service
from tests.privacy.conftest import CANARY, Desk, people


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
