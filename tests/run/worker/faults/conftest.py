"""One durable cluster for all fault tests of a run, and a rig on a database of its own for each."""

import asyncio
import os
import random
import shutil
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from afterword.kit import db
from afterword.run import embedded, migrations
from tests.clusters import let_end_others
from tests.run.worker.faults.nursery import Nursery
from tests.run.worker.faults.rig import Rig, nursery as rig_nursery, start_cluster
from tests.sizes import SEED_VARIABLE

TEMPLATE = "faults_template"


@pytest.fixture(scope="session")
def cluster() -> Iterator[embedded.Server]:
    """The cluster, with a migrated template."""
    server, folder = start_cluster()
    try:
        asyncio.run(_make_template(server))
        yield server
    finally:
        asyncio.run(server.stop())
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Imports everything while the cluster is made."""
    found = rig_nursery(tmp_path_factory.mktemp("nursery") / "log")
    yield found
    found.stop()


@pytest.fixture
async def rig(
    nursery: Nursery, cluster: embedded.Server, tmp_path: Path, record_property: Callable[[str, object], None]
) -> AsyncGenerator[Rig]:
    """An empty rig. The seed of its choices is printed; pytest shows it when the test fails."""
    seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().getrandbits(32))
    print(f"{SEED_VARIABLE}={seed}")  # noqa: T201
    if not cluster.is_running():
        await cluster.launch()
    name = f"faults_{uuid.uuid4().hex}"
    await _execute(cluster, f"create database {name} template {TEMPLATE}")
    url = cluster.url.replace("/afterword?", f"/{name}?")
    try:
        async with await db.open_pool(url, size_max=2) as pool:
            connection: Any = await asyncpg.connect(url)
            rig = Rig(cluster, url, pool, connection, tmp_path, random.Random(seed))  # noqa: S311
            rig.record, rig.nursery = record_property, nursery
            yield rig
            await rig.connection.close()
    finally:
        await _execute(cluster, f"drop database {name} with (force)")


async def _make_template(server: embedded.Server) -> None:
    await let_end_others(server)
    await _execute(server, f"create database {TEMPLATE}")
    await migrations.migrate(server.url.replace("/afterword?", f"/{TEMPLATE}?"))


async def _execute(server: embedded.Server, statement: str) -> None:
    admin: Any = await asyncpg.connect(server.url)
    try:
        await admin.execute(statement)
    finally:
        await admin.close()
