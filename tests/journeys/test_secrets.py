"""A new secret of the installation: killed while values are sealed again, and taken by one process after the other."""

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from afterword.kit import db
from tests.journeys import processes
from tests.journeys.client import Client, seed
from tests.run.cli.shell import MORE, SITE, environment, shell
from tests.run.cli.test_setup import (
    add_logins,
    folder as folder,  # noqa: PLC0414  a fixture
    opened,
    secret_in,
    steps_of,
)
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


async def exchange(clients: Sequence[Client]) -> None:
    """Each process opens, and seals again, what the other sealed."""
    for one, other in (clients, clients[::-1]):
        login = {"host": "smtp.shop.example", "port": 465, "username": "ann", "password": "hunter2hunter2"}
        body = {"kind": "smtp", "title": "Mail", "settings": {**login, "security": "tls"}}
        made = await one.request("POST", "/provider", body)
        assert 201 == made.status_code, made.text
        path = f"/provider/{made.json()['account_id']}"
        changed = await other.request("PATCH", path, {"settings": {"username": "bob"}})
        assert (200, "bob") == (changed.status_code, changed.json()["settings"]["username"]), changed.text
        assert changed.json()["settings"] == (await one.get(path))["settings"]


@pytest.mark.faults
async def test_settings_are_changed_one_process_after_the_other(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two web processes are restarted in turn at each step; what one sealed the other opens at every moment."""
    seeded = await seed(database_url=database_url, data_dir=tmp_path / "data", secret=SITE.secret.decode())
    chosen: dict[str, str] = {"AFTERWORD_SECRET": SITE.secret.decode()}
    ports = [processes.free_port(), processes.free_port()]
    prefix = len(processes.PREFIX)
    clients = [replace(seeded, base_url=f"http://localhost:{port}/v3.2") for port in ports]
    running: list[AsyncExitStack] = [AsyncExitStack(), AsyncExitStack()]

    async def start(number: int) -> None:
        settings: dict[str, Any] = {name[prefix:].lower(): value for name, value in chosen.items()}
        folder = tmp_path / str(number)
        folder.mkdir(exist_ok=True)
        child = await running[number].enter_async_context(
            processes.command("web", folder=folder, database_url=database_url, port=ports[number], **settings)
        )
        await processes.ready(f"http://localhost:{ports[number]}", child)

    async def restart(step: dict[str, str]) -> None:
        chosen.update(step)
        for number in (0, 1):
            await running[number].aclose()
            await start(number)
            await exchange(clients)

    async def command(word: str) -> str:
        for name, value in chosen.items():
            monkeypatch.setitem(MORE, name, value)
        ended = await asyncio.to_thread(shell, database_url, tmp_path, "secret", word)
        assert 0 == ended.returncode, ended.stderr
        return ended.stdout

    try:
        await start(0)
        await start(1)
        for step in steps_of(await command("rotate")):
            await restart(step)
        await command("reseal")
        retired = await command("retire")
        await restart(dict([retired.splitlines()[-1].split("=", 1)]))
    finally:
        for one in running:
            await one.aclose()
