"""`afterword queue import`: what it shows, how it ends, and that what it leaves can go on."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from afterword import db, errors
from afterword.cli import item_imports
from afterword.cli.item_imports import ImportOptions
from afterword.core.wire import imports as core_imports
from tests.conftest import House

SECONDS_MAX = 60
HEADER = "E-mail,Sprache,Bestellung"
MAPPING = ("E-mail=responder_channel_identifier", "Sprache=locale", "Bestellung=external_reference")


class Shop:
    """The command on a house's pipeline, in this process."""

    def __init__(self, pool: db.Pool, house: House, folder: Path) -> None:
        self.pool, self.house, self.folder = pool, house, folder
        self.stop = asyncio.Event()
        self.told: list[str] = []

    def wanted(self, *rows: str, header: str = HEADER, **options: object) -> ImportOptions:
        file = self.folder / "customers.csv"
        file.write_text("\n".join([header, *rows, ""]))
        given = {
            "file": file,
            "questionnaire_id": self.house.questionnaire_id,
            "pipeline_id": self.house.pipeline_id,
            "mapping": MAPPING,
        }
        return ImportOptions(**{**given, **options})  # pyright: ignore[reportArgumentType]

    async def run(self, wanted: ImportOptions) -> int:
        self.told.clear()
        return await item_imports.import_items(
            self.pool,
            site=self.house.site,
            wanted=wanted,
            tell=self.told.append,
            progress=lambda _: None,
            stop=self.stop,
        )

    async def value(self, statement: str) -> object:
        async with db.connection(self.pool) as database:
            return await database._connection.fetchval(statement)


@pytest.fixture
def shop(pool: db.Pool, house: House, tmp_path: Path) -> Shop:
    return Shop(pool, house, tmp_path)


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"file": None}, "Name a file"),
            ({"pipeline_id": None}, "--pipeline"),
            ({"file": Path("/nowhere.csv")}, "cannot be read"),
            ({"separator": "x"}, "separator"),
            ({"mapping": ("E-mail",)}, "NAME=COLUMN"),
            ({"domain": "nobody"}, "no organization"),
            ({"resume": "0" * 22}, "no such import"),
            ({"pipeline_id": "0" * 22}, "no such thing"),
        ],
    )
    async def test_wrong(self, shop: Shop, options: dict[str, Any], told: str) -> None:
        with pytest.raises(errors.Refusal, match=told):
            await shop.run(shop.wanted("a@example.com,el,1", **options))

    async def test_names_the_columns(self, shop: Shop) -> None:
        with pytest.raises(errors.Invalid) as caught:
            await shop.run(shop.wanted("a@example.com,el,1", mapping=()))
        messages = [error.message for error in caught.value.errors]
        assert "E-mail: There is no column of this name; did you mean responder_channel_identifier?" in messages[0]


class TestImport:
    async def test_ok(self, shop: Shop) -> None:
        assert 0 == await shop.run(shop.wanted("a@example.com,el,1", "b@example.com,,2"))
        assert (
            "Row 1: responder_channel_identifier='a@example.com', locale='el', external_reference='1'" == shop.told[0]
        )
        assert "2 rows; of the first 2, 2 are good and 0 are not." == shop.told[2]
        assert "Done: 2 created, 0 updated, 0 skipped, 0 failed, of 2 rows." == shop.told[-1]
        assert 2 == await shop.value("select count(*) from queue_item where created_by is null")
        assert "worker" == await shop.value("select distinct actor_kind from event where type = 'queue_item.created'")

    async def test_rows_that_fail(self, shop: Shop) -> None:
        bad = [f"nobody{n},el," for n in range(12)]
        assert 3 == await shop.run(shop.wanted("a@example.com,el,1", *bad))
        assert "13 rows; of the first 13, 1 are good and 12 are not." == shop.told[3]
        assert "Done: 1 created, 0 updated, 0 skipped, 12 failed, of 13 rows." in shop.told
        assert 10 == sum(line.startswith("  Row ") for line in shop.told)
        assert "  Row 2: Column 1: " == next(line for line in shop.told if line.startswith("  Row"))[:19]
        assert "filter_by[EQUAL][State]=failed" in shop.told[-1]

    async def test_dry_run(self, shop: Shop) -> None:
        assert 0 == await shop.run(shop.wanted("a@example.com,el,1", dry_run=True))
        assert "Done: 1 would be created" in shop.told[-1]
        assert 0 == await shop.value("select count(*) from queue_item")

    async def test_fails(self, shop: Shop) -> None:
        wanted = shop.wanted("a@example.com,el,1")
        shop.stop.set()
        assert 130 == await shop.run(wanted)
        async with db.connection(shop.pool) as database:
            await database.execute("update pipeline set deleted_time = now(), slug = null")
        shop.stop.clear()
        import_id = await shop.value("select import_id from queue_import")
        assert 1 == await shop.run(ImportOptions(resume=str(import_id)))

    async def test_interrupted(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        """It says where it stands and how to go on; going on ends it."""
        monkeypatch.setattr(core_imports, "PIECE_ROWS", 1)
        shop.stop.set()
        assert 130 == await shop.run(shop.wanted("a@example.com,el,1", "b@example.com,,2"))
        import_id = await shop.value("select import_id from queue_import")
        assert f"  afterword queue import --resume {import_id}" == shop.told[-1]
        assert "0 of 2 rows" in shop.told[-2]
        shop.stop.clear()
        assert 0 == await shop.run(ImportOptions(resume=str(import_id)))
        assert "Done: 2 created, 0 updated, 0 skipped, 0 failed, of 2 rows." == shop.told[-1]
        with pytest.raises(errors.Conflict, match="nothing of its file is left"):
            await shop.run(ImportOptions(resume=str(import_id)))


async def test_in_a_shell(database_url: str, shop: Shop, tmp_path: Path) -> None:
    """Ctrl-C while it works: 130, and what is left goes on."""
    wanted = shop.wanted(*(f"a{n}@example.com,el,{n}" for n in range(60_000)))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWORD_")}
    environment |= {
        "AFTERWORD_DATABASE_URL": database_url,
        "AFTERWORD_DATA_DIR": str(tmp_path / "data"),
        "AFTERWORD_SECRET": shop.house.site.secret.decode(),
    }
    words = ["queue", "import", str(wanted.file), "--questionnaire", shop.house.questionnaire_id]
    words += ["--pipeline", shop.house.pipeline_id, *(word for pair in MAPPING for word in ("--map", pair))]
    child = subprocess.Popen(  # noqa: ASYNC220  it is waited for in a thread
        [sys.executable, "-m", "afterword", *words],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + SECONDS_MAX
        while not await shop.value("select exists (select from queue_import where rows_created > 0)"):
            assert time.monotonic() < deadline
            assert child.poll() is None, child.communicate()
            await asyncio.sleep(0.01)
        child.send_signal(signal.SIGINT)
        told, wrong = await asyncio.to_thread(child.communicate, timeout=SECONDS_MAX)
    finally:
        child.kill()
    assert (130, "") == (child.returncode, wrong)
    assert "--resume" in told
    state = await shop.value("select state || ' ' || (owner is null) from queue_import")
    assert "running true" == state
    assert await shop.value("select rows_created from queue_import") == await shop.value(
        "select count(*) from queue_item"
    )
