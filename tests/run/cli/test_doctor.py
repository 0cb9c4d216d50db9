"""Pauses in the doctor's report, and ending them."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.sending.providers import health
from afterword.sending.queue import restores
from tests.conftest import House
from tests.journeys.processes import free_port
from tests.run.cli.shell import MORE, Operator
from tests.sending.queue.conftest import Queue


class TestResume:
    def test_none_paused(self, operator: Operator) -> None:
        assert "None was paused.\n" == operator.done("resume")

    async def test_paused_account_is_named_and_resumed(self, pool: db.Pool, house: House, operator: Operator) -> None:
        async with db.transaction(pool) as database:
            account_id = await database.fetch_value(
                "select account_id from channel_account where organization_id = $1", house.organization_id
            )
            assert await health.update_to_paused(
                database, account=(house.organization_id, account_id), reason="535 wrong password"
            )
        examined = operator.run("doctor")
        assert f"account {account_id}: 535 wrong password" in examined.stdout
        assert "leave a pause that a person wants. Then run `afterword account resume ID`" in examined.stdout
        assert "Resumed demo, channel 1.\n" == operator.done("resume")
        mended = operator.run("doctor").stdout
        assert "No account is paused." in mended
        assert "Address of the outbox, with its key: http" in mended


def test_no_installation(tmp_path: Path) -> None:
    """The database is one finding, which says where to look."""
    ended = Operator("", tmp_path).run("doctor")
    [finding] = [line for line in ended.stdout.splitlines() if " database " in line]
    assert (1, True) == (ended.returncode, "There is no installation here" in finding)


async def test_a_warning_is_no_fault(
    pool: db.Pool, house: House, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MORE, "AFTERWORD_PUBLIC_URL", f"http://localhost:{free_port()}")  # where nobody answers

    def last_words() -> str:
        return operator.run("doctor").stdout.splitlines()[-1]

    before = last_words()
    assert " to mend" in before
    async with db.transaction(pool) as database:
        await database.execute("update organization set created_time = now() - interval '2 days'")
    faults, warnings = map(int, re.findall(r"\d+", f"{before} 0")[:2])
    assert f"{faults} to mend, {warnings + 1} to think of." == last_words()


async def test_the_server_that_is_read_from(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is away is named: the primary answers in its place, and nobody would notice."""
    assert "Long reads" not in operator.run("doctor").stdout
    for url, word, said in (
        (f"postgresql://reader@127.0.0.1:{free_port()}/afterword", "FAULT", "is not known"),
        (operator.url, "ok", "Long reads go to it."),
    ):
        monkeypatch.setitem(MORE, "AFTERWORD_DATABASE_READ_URL", url)
        examined = operator.run("doctor").stdout
        [line] = [one for one in examined.splitlines() if one.split()[1] == "standby"]
        assert (word, True) == (line.split()[0], said in line)
        assert (word == "FAULT") == ("AFTERWORD_DATABASE_READ_URL" in examined)


class TestConfirmSending:
    def test_not_paused(self, operator: Operator) -> None:
        operator.done("doctor", "--confirm-sending")

    async def test_nothing_is_sent_until_it_is_confirmed(self, pool: db.Pool, house: House, operator: Operator) -> None:
        queue = Queue(pool, house, house.pipeline_id)
        await queue.schedule()
        async with db.transaction(pool) as database:
            mark = (await restores.check_log(database, mark=None, is_first=False)).mark
            assert mark is not None
            view = await restores.check_log(database, mark=replace(mark, seq=10_000), is_first=False)
            assert view.reason is not None
        assert [] == await queue.worker().claim()
        assert "doctor --confirm-sending" in operator.run("doctor").stdout
        assert [] == await queue.worker().claim()
        operator.done("doctor", "--confirm-sending")
        assert 1 == len(await queue.worker().send(Sent()))
