"""`afterword worker`: the schema that it asks for, and its ways out where an organization has no account."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.kit.transport.base import EMAIL, SMS, WEBHOOK
from afterword.run.backups.manifests import Folder, list_backups
from afterword.run.cli import CommandError, worker
from afterword.run.cli.context import Context
from afterword.sending.channels.email import EmailChannel
from afterword.sending.channels.outbox import OutboxChannel
from tests.conftest import SITE
from tests.run.cli.shell import MORE, Operator


async def test_an_empty_database(empty_database_url: str) -> None:
    with pytest.raises(CommandError, match="afterword migrate"):
        await worker._require_schema(empty_database_url)


async def test_a_database_that_is_away_is_waited_for() -> None:
    assert None is await worker._require_schema("postgresql://127.0.0.1:1/nowhere")


def test_an_address_of_a_mail_server_that_cannot_be_read(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MORE, "AFTERWORD_SMTP_URL", "smtp://mail.example?tls=1")
    assert "afterword: AFTERWORD_SMTP_URL: The mail server's address has an unknown option" in operator.refused(
        "worker"
    )


@pytest.mark.parametrize(("smtp_url", "kind"), [(None, OutboxChannel), ("smtp://127.0.0.1:1", EmailChannel)])
async def test_ways_out(pool: db.Pool, smtp_url: str | None, kind: type) -> None:
    ways = worker.installation_channels(Settings(smtp_url=smtp_url), SITE, pool)
    assert isinstance(ways[EMAIL], kind)
    assert WEBHOOK in ways
    assert SMS not in ways
    for channel in ways.values():
        await channel.close()


class TestBackups:
    async def test_one_is_made(self, database_url: str, tmp_path: Path) -> None:
        Operator(database_url, tmp_path).found()
        context = context_of(database_url, tmp_path)
        assert await worker._run_backup(context, asyncio.Event())
        assert 1 == len(list_backups(Folder(tmp_path / "backups")))
        assert await worker._run_backup(context, asyncio.Event())  # none is due
        assert 1 == len(list_backups(Folder(tmp_path / "backups")))

    async def test_one_fails(self, database_url: str, tmp_path: Path) -> None:
        """The log says why, and nothing is tried again at once."""
        (tmp_path / "backups").write_text("not a folder")
        stop = asyncio.Event()
        with capture_logs() as logs:
            working = asyncio.create_task(worker._back_up(context_of(database_url, tmp_path), stop))
            while not logs:
                await asyncio.sleep(0.01)
            stop.set()
            await working
        assert [True] == ["folder of backups" in one["cause"] for one in logs]


def context_of(url: str, tmp_path: Path) -> Context:
    chosen = Settings(data_dir=tmp_path / "data", backup_to=str(tmp_path / "backups"))
    return Context(chosen, url, SITE)
