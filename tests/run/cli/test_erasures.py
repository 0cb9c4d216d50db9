"""`afterword erasure`: the ledger replayed on an older backup erases the same people again."""

import re
from collections.abc import Callable
from pathlib import Path

from afterword.kit.transport.base import Sent
from tests.conftest import FIGURE
from tests.privacy.conftest import CANARY, backup_of, desk_on, people
from tests.run.cli.shell import shell


class TestLedger:
    def test_no_ledger(self, database_url: str, tmp_path: Path) -> None:
        file = tmp_path / "ledger"
        file.write_text("{}\n")
        ended = shell(database_url, tmp_path, "erasure", "replay", str(file))
        assert (1, True) == (ended.returncode, "in line 1." in ended.stderr), ended

    async def test_replay(
        self, database_url: str, server_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
    ) -> None:
        """The backup from before has the person; the ledger erases it again before anybody is served."""
        async with desk_on(database_url) as desk:
            known, other = await people(desk, [CANARY, "zqhelen"])
            house = desk.house
        file = tmp_path / "ledger.jsonl"
        async with backup_of(database_url, server_url) as url:
            async with desk_on(database_url, house) as desk:
                await desk.erase(known.responder_id)
                text = shell(database_url, tmp_path, "erasure", "export").stdout
            assert CANARY not in text
            file.write_text(text)
            async with desk_on(url, house) as restored:
                assert [] != await restored.traces(CANARY)
                assert (1, 0) == replay(url, file)
                assert [] == await restored.traces(CANARY)
                assert [] != await restored.traces(other.canary)
                item = await restored.ask("POST", restored.items, {"responder_channel_identifier": known.address})
                await restored.queue.worker().send(Sent("250 ok"))
                assert 6 == (await restored.ask("GET", f"/q/queue/item/{item['item_id']}"))["status_id"]
                assert (0, 1) == replay(url, file)
        record_property(FIGURE, "T41 backup from before, ledger replayed: canaries left in tables 0")

    async def test_replay_on_a_backup_from_while_one_ran(
        self, database_url: str, server_url: str, tmp_path: Path
    ) -> None:
        """The erasure that ran then is completed before the next one of the same person begins."""
        async with desk_on(database_url) as desk:
            [known] = await people(desk, [CANARY])
            await desk.ask("POST", f"/q/responder/{known.responder_id}/erasure", {})
            house = desk.house
        file = tmp_path / "ledger.jsonl"
        async with backup_of(database_url, server_url) as url:
            async with desk_on(database_url, house) as desk:
                await desk.work()
                await desk.erase(known.responder_id, mode="erase")
                file.write_text(shell(database_url, tmp_path, "erasure", "export").stdout)
            async with desk_on(url, house) as restored:
                assert (1, 1) == replay(url, file)
                assert [] == await restored.traces(CANARY)
                assert 0 == await restored.value("select count(*) from erasure where state = 'running'")


def replay(url: str, file: Path) -> tuple[int, int]:
    """People who were erased again, and those who were not."""
    ended = shell(url, file.parent, "erasure", "replay", str(file))
    found = re.match(r"(\d+) erased again, (\d+) were erased already", ended.stdout)
    assert found is not None, ended
    return int(found[1]), int(found[2])
