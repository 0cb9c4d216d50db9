"""`afterword serve`: database, web and worker in one process tree, started in order and stopped in the other."""

import asyncio
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, fields

import structlog

from afterword.kit import settings
from afterword.run.cli import CommandError, context

STOP_SECONDS_MAX = 40  # longer than the 25 s that each part may take to finish what it holds
PARTS = ("web", "worker")
GARBAGE_OBJECTS = 20_000  # that were made and not freed since the collector last looked; 700 is Python's own
RESTART_SECONDS = 1.0
RESTART_SECONDS_MAX = 30.0
logger = structlog.get_logger(__name__)


async def serve() -> None:
    """Run API, pages, worker and an embedded PostgreSQL without a database URL; a part that dies is started again."""
    chosen = context.read_settings()
    stop = stop_on_signals()
    async with context.open_context(chosen, join=False, create=True) as opened, running(opened, stop):
        if sys.stdout.isatty():
            print(f"Afterword starts at {opened.site.public_url} (the API's reference: /docs). Ctrl-C ends it.")
            from afterword.run.cli.setup import first_owner_url  # noqa: PLC0415  its options are the parser's

            if (url := await first_owner_url(opened)) is not None:
                print(f"Nobody can log in yet. This link makes the owner, once, within an hour:\n{url}")
        await stop.wait()


@asynccontextmanager
async def running(opened: context.Context, stop: asyncio.Event) -> AsyncGenerator[None, None]:
    """Web and worker as processes of their own; leaving sets `stop` and waits for their end."""
    require_free_port(opened.settings)
    require_mail_server(opened.settings)
    environment, hurry = environment_of(opened), asyncio.Event()
    parts = [asyncio.create_task(Part(name, environment, stop, hurry).keep_running()) for name in PARTS]
    try:
        yield
    finally:
        stop.set()
        _on_signals(hurry)
        await asyncio.gather(*parts)


def require_mail_server(chosen: settings.Settings) -> None:
    """Raise CommandError for an address of a mail server that cannot be read."""
    from afterword.sending.channels.conversation import parse_url  # noqa: PLC0415  who sends no mail does without

    try:
        _ = chosen.smtp_url and parse_url(chosen.smtp_url)
    except ValueError as error:
        words = "It cannot be read." if isinstance(error, UnicodeError) else error  # it may repeat the password
        raise CommandError(f"AFTERWORD_SMTP_URL: {words}") from None


def require_free_port(chosen: settings.Settings) -> None:
    """Say at once what a part that is started again and again would say to the log alone."""
    family = socket.AF_INET6 if ":" in chosen.host else socket.AF_INET
    try:
        socket.create_server((chosen.host, chosen.port), family=family).close()
    except OSError as error:
        raise CommandError(
            f"Port {chosen.port} of {chosen.host} cannot be used: {error.strerror}. "
            "Stop what listens there, or set AFTERWORD_HOST and AFTERWORD_PORT."
        ) from error


def stop_on_signals() -> asyncio.Event:
    """An event that the first SIGTERM or SIGINT sets."""
    stop = asyncio.Event()
    _on_signals(stop)
    return stop


def _on_signals(event: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, event.set)


def environment_of(opened: context.Context) -> dict[str, str]:
    """The environment of a part: it carries the secrets, which a command line would show."""
    chosen = opened.settings
    values = {each.name: getattr(chosen, each.name) for each in fields(chosen)}
    values |= {"database_url": opened.database_url}  # the secret stays in its file, where a new one is found too
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(settings.PREFIX)}
    own = {f"{settings.PREFIX}{name.upper()}": str(value) for name, value in values.items() if value not in {None, ""}}
    return {**inherited, **own, settings.SUPERVISED_VARIABLE: "1"}


@dataclass
class Part:
    """One child process. It ends when its standard input does, so a killed parent leaves no orphans."""

    name: str
    environment: Mapping[str, str] = field(repr=False)
    stop: asyncio.Event
    hurry: asyncio.Event  # a second signal: what is still under way is cut off, and recovered as after a crash

    async def keep_running(self) -> None:
        """Start it, and start it again when it dies, more slowly while it does so soon, until `stop`."""
        pause = RESTART_SECONDS
        while not self.stop.is_set():
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "afterword", self.name),
                env=self.environment,
                stdin=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C reaches us alone, so that the parts end in our order
            )
            ended = asyncio.create_task(process.wait())
            stopped = asyncio.create_task(self.stop.wait())
            await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if self.stop.is_set():
                await self._end(process, ended)
                return
            if time.monotonic() - began > RESTART_SECONDS_MAX:
                pause = RESTART_SECONDS
            logger.error("part died", part=self.name, exit_code=ended.result(), again_in_seconds=pause)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), pause)
            pause = min(pause * 2, RESTART_SECONDS_MAX)

    async def _end(self, process: asyncio.subprocess.Process, ended: "asyncio.Task[int]") -> None:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        hurried = asyncio.create_task(self.hurry.wait())
        await asyncio.wait({ended, hurried}, timeout=STOP_SECONDS_MAX, return_when=asyncio.FIRST_COMPLETED)
        hurried.cancel()
        if not ended.done():
            logger.error("part did not stop in time", part=self.name)
            process.kill()
            await ended


@asynccontextmanager
async def process(stop: asyncio.Event) -> AsyncGenerator[None, None]:
    """Run the body as a long process: the collector looks seldom, and a supervised process ends with its parent."""
    gc.collect()
    gc.freeze()  # what start-up made stays; looking through it again and again took a request's time
    gc.set_threshold(GARBAGE_OBJECTS)  # an item or a request makes hundreds of objects and no cycles
    watching = asyncio.create_task(watch_parent(stop))
    try:
        yield
    finally:
        watching.cancel()


async def watch_parent(stop: asyncio.Event) -> None:
    """In a supervised child: set `stop` when the parent is gone, which closes our standard input."""
    if os.environ.get(settings.SUPERVISED_VARIABLE) != "1":
        return
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
    stop.set()
