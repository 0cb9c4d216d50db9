"""A new secret of the installation, killed at any moment while values are sealed again: none is lost."""

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from afterword import db
from tests.cli.shell import environment
from tests.cli.test_secrets import add_logins, opened, secret_in
from tests.cli.test_secrets import folder as folder  # noqa: PLC0414  a fixture
from tests.sizes import draw_by, size

LOGINS = 2_000
KILLS = size(5, 20)
LONGEST_SECONDS = 0.05


def run(words: list[str], variables: dict[str, str], *, kill_after: float | None = None) -> int:
    """A program, which is killed so many seconds after its first word."""
    with subprocess.Popen(
        [sys.executable, "-m", "afterword", "secret", *words], env=variables, stdout=subprocess.PIPE
    ) as process:
        if kill_after is not None and process.stdout is not None:
            process.stdout.read(1)
            time.sleep(kill_after)
            process.kill()
        process.communicate(timeout=60)
    return process.returncode


@pytest.mark.faults
async def test_killed_at_any_moment(pool: db.Pool, folder: Path, database_url: str) -> None:
    """After each kill both secrets open all; each run goes on where the last one stopped; the new one ends alone."""
    running, draw, done = secret_in(folder), random.Random(draw_by()), list[int]()  # noqa: S311
    await add_logins(pool, running, number=LOGINS)
    variables = {name: value for name, value in environment(database_url, folder).items() if value}
    assert 0 == await asyncio.to_thread(run, ["rotate"], variables)
    new = secret_in(folder)
    for _ in range(KILLS):
        await asyncio.to_thread(run, ["reseal"], variables, kill_after=draw.random() * LONGEST_SECONDS)
        assert (LOGINS, LOGINS) == (await opened(pool, running), await opened(pool, new))
        async with db.connection(pool) as database:
            done.append(await database.fetch_value("select count(*) from login where get_byte(totp_secret, 0) = 2"))
    assert done == sorted(done)
    assert 0 < done[0] < LOGINS, "killed before it was through"
    assert [0, 0] == [await asyncio.to_thread(run, [word], variables) for word in ("reseal", "retire")]
    assert LOGINS == await opened(pool, secret_in(folder))
