"""A port that is taken is told at once; the settings of the parts are in their environment alone."""

import asyncio
import re
import socket
from dataclasses import replace

import pytest

from afterword.core.wire.site import Site
from afterword.kit import settings
from afterword.run.cli import CommandError, context, serve
from tests.journeys.processes import free_port


class TestPort:
    async def test_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            chosen = settings.Settings(port=other.getsockname()[1], worker_slots=1)
            opened = context.Context(chosen, "postgresql://nowhere/none", Site("http://localhost", b"k" * 32))
            with pytest.raises(CommandError, match="AFTERWORD_PORT"):
                async with serve.running(opened, asyncio.Event()):
                    pass


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("smtp://user:hunter2@", "must be smtp://user:password@host:port"),
        ("smtp://user:hunter2@mail.example?tls=1", "unknown option; known are starttls, ca, name"),
        ("smtp://user:hunter2@mail.example?ca=/absent.pem", "“ca”"),
    ],
)
async def test_an_address_of_a_mail_server_that_cannot_be_read(url: str, said: str) -> None:
    chosen = settings.Settings(port=free_port(), smtp_url=url)
    opened = context.Context(chosen, "postgresql://nowhere/none", Site("http://localhost", b"k" * 32))
    with pytest.raises(CommandError, match=rf"^AFTERWORD_SMTP_URL: .*{re.escape(said)}") as caught:
        async with serve.running(opened, asyncio.Event()):
            pass
    assert "hunter2" not in str(caught.value)


def test_what_the_parts_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_PORT", "1")
    chosen = settings.Settings(port=8123, secret="k" * 32)
    opened = context.Context(chosen, "postgresql://nowhere/none", Site("http://x", b"k" * 32))
    told = serve.environment_of(opened)
    assert ("8123", "k" * 32, "1") == (
        told["AFTERWORD_PORT"], told["AFTERWORD_SECRET"], told[settings.SUPERVISED_VARIABLE],
    )  # fmt: skip
    from_file = replace(opened, settings=settings.Settings())
    assert "AFTERWORD_SECRET" not in serve.environment_of(from_file)  # each part looks at the file, also later
    assert "AFTERWORD_SMTP_URL" not in told  # a setting without a value is none


async def test_a_process_of_its_own_outlives_its_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(settings.SUPERVISED_VARIABLE, raising=False)
    stop = asyncio.Event()
    await serve.watch_parent(stop)
    assert not stop.is_set()
