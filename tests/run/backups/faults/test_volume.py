"""A large database: backed up, restored, and every table compared."""

import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from afterword.kit import db
from afterword.run import embedded, migrations
from tests.bar import Tell
from tests.conftest import build_house
from tests.databases import address_of
from tests.run.backups.conftest import contents, differing
from tests.run.backups.faults.killing import Command

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

ROWS: Final = int(os.environ.get("AFTERWORD_TEST_ROWS") or 500_000)  # 1.6 GB; 3,300,000 are 10 GB, see docs/proof.md
MEMORY_BYTES_MAX: Final = 500_000_000  # of a command, whatever the size of the database
BATCH_ROWS: Final = 50_000
PEOPLE: Final = """
    insert into responder (organization_id, responder_id, metadata)
    select $1, 'VOLUMERESPONDER' || lpad(n::text, 7, '0'), jsonb_build_object('email', 'person' || n || '@example.com')
    from generate_series($2::int, $3::int) n"""
RESPONSES: Final = """
    insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
      short_code, locale, valid_days, editable, finalized, question_ids, metadata, sent_time, viewed_time,
      submitted_time, completed_time)
    select $1, 'VOLUMEINSTANCE0' || lpad(n::text, 7, '0'), $4, $5, 'VOLUMERESPONDER' || lpad(n::text, 7, '0'),
      'VOLU' || lpad(n::text, 8, '0'), 'en', 30, true, true, '{}',
      jsonb_build_object('text', md5(n::text) || repeat(md5((n + 1)::text), 16)), now(), now(), now(), now()
    from generate_series($2::int, $3::int) n"""


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder that is not in memory, which every user can pass."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-t"))
    folder.chmod(0o711)
    yield folder
    embedded.clear_leftovers(folder / "server/postgresql/cluster")
    shutil.rmtree(folder)


async def test_every_table(disk: Path, tell: Tell) -> None:
    async with await embedded.start(disk / "server") as server:
        await migrations.migrate(server.url)
        await _fill(server.url)
        connection: Any = await asyncpg.connect(server.url)
        await connection.execute("create database restored")
        gigabytes = await connection.fetchval("select pg_database_size(current_database())") / 1e9
        await connection.close()
        before = await contents(server.url)
        saved = Command(disk, server.url, "backup").done()
        target = address_of(server.url, "restored")
        restored = Command(disk, target, "restore").done()
        memory = _peak_bytes()
        assert {} == differing(before, await contents(target))
    tell(
        f"T50 {gigabytes:.1f} GB: {saved:.0f} s to back up, {restored:.0f} s to restore, {memory / 1e6:.0f} MB used; "
        "{differing} tables differ",
        differing=0,
    )
    assert memory < MEMORY_BYTES_MAX


def _peak_bytes() -> int:
    """The largest memory that a process of this test had, of those that have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


async def _fill(url: str) -> None:
    async with await db.open_pool(url, size_max=1) as pool:
        house = await build_house(pool, domain="demo")
    connection: Any = await asyncpg.connect(url)
    for first in range(0, ROWS, BATCH_ROWS):
        last = first + BATCH_ROWS - 1
        await connection.execute(PEOPLE, house.organization_id, first, last)
        await connection.execute(
            RESPONSES, house.organization_id, first, last, house.questionnaire_id, house.version_id
        )
    await connection.close()
