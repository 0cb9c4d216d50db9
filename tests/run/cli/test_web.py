"""`afterword web`: how the server is set up, and that the uses of tokens are written or lost, never in the way."""

import socket
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import asyncpg
import httpx2
import pytest
from structlog.testing import capture_logs

from afterword import errors
from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.run.cli import CommandError, web
from afterword.run.cli.context import Context
from afterword.tenants.organizations.tokens import service as tokens
from afterword.tenants.organizations.tokens.access import SessionUses, TokenUses
from tests.conftest import SITE, House
from tests.journeys.processes import environment, free_port, kill_tree, ready, start
from tests.run.cli.shell import MORE, Operator


@pytest.mark.parametrize(("proxies", "is_read"), [("", False), ("10.0.0.1", True)])
async def test_headers_of_proxies_are_read_where_proxies_are_named(
    pool: db.Pool, proxies: str, *, is_read: bool
) -> None:
    chosen = Settings(trusted_proxies=proxies, port=8123)
    config = web._config(chosen, Context(chosen, "", SITE), pool, TokenUses(), SessionUses())
    assert (is_read, proxies, 8123) == (config.proxy_headers, config.forwarded_allow_ips, config.port)
    assert (False, False) == (config.server_header, config.access_log)


async def test_listed_origins_may_call(pool: db.Pool) -> None:
    chosen = Settings(cors_origins="https://shop.example, https://portal.example")
    app: Any = web._config(chosen, Context(chosen, "", SITE), pool, TokenUses(), SessionUses()).app
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=SITE.public_url) as client:
        for origin, allowed in (("https://portal.example", "https://portal.example"), ("https://evil.example", None)):
            response = await client.get("/v3.2/channel", headers={"Origin": origin})
            assert allowed == response.headers.get("access-control-allow-origin")


@pytest.mark.parametrize("error", [errors.Unavailable("away"), RuntimeError("a bug")])
async def test_uses_that_cannot_be_written_are_lost(
    pool: db.Pool, house: House, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(tokens, "note_use", fail)
    ticks = TokenUses()
    ticks.note((house.organization_id, house.token_id), now=pool.clock.now())
    await web._write(pool, ticks, SessionUses())
    assert {} == ticks.take()


async def test_the_endpoint_for_assistants_is_switched_on(pool: db.Pool, house: House) -> None:
    for is_on, status in ((False, 404), (True, 401)):
        chosen = Settings(mcp=is_on)
        app: Any = web._config(chosen, Context(chosen, "", SITE), pool, TokenUses(), SessionUses()).app
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=SITE.public_url) as client:
            assert status == (await client.post("/mcp", json={})).status_code


def test_the_endpoint_for_assistants_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "afterword.extras.assistants.server", None)
    with pytest.raises(CommandError, match=r"pip install 'afterword\[mcp\]'"):
        web._endpoint(Settings(mcp=True))


def test_a_port_that_is_taken(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setitem(MORE, "AFTERWORD_PORT", str(other.getsockname()[1]))
        assert "Stop what listens there, or set AFTERWORD_HOST and AFTERWORD_PORT" in operator.refused("web")


class TestDatabase:
    """The log says once that it cannot be used, and why, and once that it can."""

    async def test_away(self) -> None:
        async with await db.open_pool("postgresql://127.0.0.1:1/none", size_max=1) as pool:
            assert [("warning", "the database cannot be used")] == await told(pool, before="")
            assert [] == await told(pool, before=await web._refresh(pool, SITE, ""))

    async def test_empty(self, empty_database_url: str) -> None:
        async with await db.open_pool(empty_database_url, size_max=1) as pool:
            assert "afterword migrate" in await web._refresh(pool, SITE, "")
            assert [("warning", "the database cannot be used")] == await told(pool, before="")

    async def test_any_other_fault(self, pool: db.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is told too, and does not end the looks."""
        monkeypatch.setattr(
            web.migrations, "is_usable", Mock(side_effect=asyncpg.InsufficientPrivilegeError("no right"))
        )
        assert "no right" == await web._refresh(pool, SITE, "")
        assert [("warning", "the database cannot be used")] == await told(pool, before="")

    async def test_back(self, pool: db.Pool) -> None:
        assert [("warning", "the database can be used again")] == await told(pool, before="It was away.")
        assert [] == await told(pool, before="")


async def told(pool: db.Pool, *, before: str) -> list[tuple[str, str]]:
    with capture_logs() as logs:
        await web._refresh(pool, SITE, before)
    return [(one["log_level"], one["event"]) for one in logs]


class TestStandbys:
    async def test_a_copy_needs_a_database(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("AFTERWORD_DATABASE_URL", raising=False)
        with pytest.raises(CommandError, match="AFTERWORD_DATABASE_URL"):
            await web.web(read_only=True)

    async def test_a_copy_writes_no_uses(self, pool: db.Pool, house: House) -> None:
        ticks = TokenUses()
        ticks.note((house.organization_id, house.token_id), now=pool.clock.now())
        await web._write(None, ticks, SessionUses())
        assert {} == ticks.take()
        async with db.connection(pool) as database:
            assert (
                await database.fetch_value("select last_used_time from token where token_id = $1", house.token_id)
                is None
            )

    async def test_the_option_reaches_the_process(self, database_url: str, tmp_path: Path) -> None:
        """`afterword web --read-only` beside `afterword web`, on the same database."""
        for words, server in ((["web"], "primary"), (["web", "--read-only"], "copy")):
            port = free_port()
            settings = environment(database_url=database_url, port=port, secret="s" * 32, data_dir=tmp_path / "data")
            child = start(["-m", "afterword", *words], env=settings, log=tmp_path / "log", name="web")
            try:
                await ready(f"http://127.0.0.1:{port}", child)
                async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
                    assert server == (await client.get("/readyz")).json()["server"]
                    status = (await client.post("/v3.2/q/sequence", json={})).status_code
                assert (421 if server == "copy" else 401) == status
            finally:
                kill_tree(child)
