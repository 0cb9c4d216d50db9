"""Ledgers beside the backups: all that were kept are read, and the oldest go."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from afterword.run.backups import ledgers, service
from afterword.run.backups.manifests import Folder, Sealer, sealer_of
from tests.privacy.conftest import CANARY, desk_on, people
from tests.run.backups.test_manifests import identity_in

NOW = datetime(2026, 11, 26, tzinfo=UTC)


async def test_kept_and_read(database_url: str, tmp_path: Path) -> None:
    location = Folder(tmp_path / "backups")
    file, recipient = identity_in(tmp_path)
    sealer = sealer_of(passphrase=None, recipients=[recipient])
    async with desk_on(database_url) as desk:
        first, second = await people(desk, [CANARY, "zqhelen"])
        assert not await service.keep_ledgers(desk.pool, location=location, sealer=Sealer, now=NOW)
        assert [] == ledgers.read_erasures(location, passphrase=None, identity=None)
        await desk.erase(first.responder_id)
        assert await service.keep_ledgers(desk.pool, location=location, sealer=lambda: sealer, now=NOW)
        later = datetime.now(UTC) + timedelta(hours=1)
        assert await service.keep_ledgers(desk.pool, location=location, sealer=lambda: sealer, now=later)
        assert not await service.keep_ledgers(desk.pool, location=location, sealer=lambda: sealer, now=later)
        await desk.erase(second.responder_id)
        for number in range(ledgers.KEPT_MAX):
            await ledgers.write_erasures(
                desk.pool, location=location, sealer=sealer, now=later + timedelta(seconds=number)
            )
    assert ledgers.KEPT_MAX == len(location.list_names("erasures"))
    assert CANARY.encode() not in b"".join(location.get(name) for name in location.list_names())
    lines = ledgers.read_erasures(location, passphrase=None, identity=file)
    assert {first.responder_id, second.responder_id} == {line.erasure.responder_id for line in lines}


def test_change_of_the_same_minute(tmp_path: Path) -> None:
    """It may have been committed after the ledger was read."""
    location = Folder(tmp_path)
    location.put("erasures/20261126T000000Z/ledger.jsonl.gz", b"")
    assert [True, True, False] == [
        ledgers.is_behind(location, folder="erasures", changed=NOW + timedelta(seconds=seconds))
        for seconds in (1, -59, -61)
    ]
