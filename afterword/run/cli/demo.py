"""`afterword demo`: the main job on your own machine, over HTTP alone, as an integrating developer would see it."""

import asyncio
import html
import json
import re
import shlex
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urljoin

import httpx2
import msgspec
from cyclopts import Parameter

from afterword.core.organizations.access import SCOPES
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db.hosts import open_session
from afterword.kit.settings import Settings
from afterword.kit.web.loopback import url_with_key
from afterword.run import migrations
from afterword.run.backups import store as backups
from afterword.run.cli import CommandError, context, serve
from afterword.run.cli.context import open_pool, shell_lines
from afterword.run.cli.setup import first_owner_url
from afterword.run.demonstration import service as demonstration
from afterword.tenants.organizations import service as organizations

DOMAIN: Final = "demo"
DOMAIN_ONCE: Final = "demo-once"  # made by `afterword demo --once --on-database` alone


@dataclass(frozen=True, slots=True)
class Seeded:
    base_url: str
    token: str = field(repr=False)
    organization_domain: str
    organization_id: str
    application_id: str
    questionnaire_id: str
    pipeline_id: str


async def seed_command(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> None:
    """Create a small real organization when there is none, and a token with every scope.

    Args:
        as_json: Print JSON instead of lines that a shell can `eval`.
    """
    async with open_pool(create=True) as (context, pool):
        document = asdict(await seed(pool, context.site))
    print(json.dumps(document, indent=2) if as_json else shell_lines(document))


async def seed(pool: db.Pool, site: Site, *, domain: str = DOMAIN) -> Seeded:
    """Create the organization `domain` when there is none; make a new token with every scope for it in any case.

    Running it again changes nothing else: questionnaires whose file says nothing new get no version.
    """
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization, application_id, placed = await demonstration.furnish(database, domain=domain, now=now)
        _, token = await organizations.create_token(
            database,
            organization_id=organization.organization_id,
            title="Made by afterword seed",
            scopes=SCOPES,
            kind="organization",
            user_id=None,
            now=now,
        )
    return Seeded(
        base_url=site.base_url,
        token=token,
        organization_domain=organization.domain,
        organization_id=organization.organization_id,
        application_id=application_id,
        questionnaire_id=placed["after_delivery"].questionnaire_id,
        pipeline_id=placed["after_delivery"].pipeline_id,
    )


RECIPIENT: Final = "ann@example.com"
COMMENT: Final = "Quick and careful, thank you."
REQUEST_SECONDS_MAX: Final = 30
READY_SECONDS_MAX: Final = 60
SENT_SECONDS_MAX: Final = 30
PAGES_MAX: Final = 20
POLL_SECONDS: Final = 0.05
COMPLETED: Final = "questionnaire_instance.completed"
RESUMPTIONS: Final = {
    "paused": "Switch the pipeline on: {site}/console/sending/pipelines/{questionnaire_id}/{pipeline_id}",
    "account_paused": "Resume sending: {site}/console/sending",
    "all_paused": "Look at the database, then run: afterword doctor --confirm-sending",
}
"""The act of a person that ends a pause, by the reason for which an item waits."""


async def demo(*, once: bool = False, on_database: bool = False) -> None:
    """Show the whole journey: schedule, send, answer, read back.

    Args:
        once: Answer without a person too, print each step with its time, and end. Nothing is kept.
        on_database: With --once, prove the database of AFTERWORD_DATABASE_URL, which is unused. It keeps what is made.
    """
    chosen = context.read_settings()
    if on_database:
        if not once or chosen.database_url is None:
            raise CommandError("--on-database goes with --once, and needs AFTERWORD_DATABASE_URL.")
        await _require_unused(chosen.database_url)
    stop = serve.stop_on_signals()
    with _folder() as folder:
        if once:
            given = chosen.database_url if on_database else None
            chosen = replace(
                chosen, database_url=given, port=_free_port(), public_url="", data_dir=folder, backup_to=""
            )
        chosen = replace(chosen, smtp_url=None, log_level="warning", log_format="text")
        began = time.perf_counter()
        async with _everything(chosen, stop, domain=DOMAIN_ONCE if on_database else DOMAIN) as (
            seeded,
            site,
            owner_url,
        ):
            async with httpx2.AsyncClient(timeout=REQUEST_SECONDS_MAX) as client:
                await _Journey(seeded, site, client, began=began).make(to_the_end=once)
            if not once:
                print(_INVITATION.format(url=url_with_key(site, "outbox")), flush=True)
                if owner_url is not None:
                    print(_OWNER.format(url=owner_url), flush=True)
                await stop.wait()
    if on_database:
        print(f"The database keeps the organization {DOMAIN_ONCE}. Empty it before you use it: {EMPTYING}")
    elif not once:
        print(ended(chosen))


EMPTYING: Final = "drop schema public cascade; create schema public"


async def _require_unused(url: str) -> None:
    """Raise CommandError where the database has more than an earlier run left: it would be migrated, and mails kept."""
    async with open_session(url) as session:
        if await backups.get_is_empty(session):
            return
    async with await db.open_pool(url, size_max=1, statement_cache_size=0) as pool, db.connection(pool) as database:
        is_ours = await migrations.is_usable(database)
        found = {one.domain for one in await organizations.list_organizations(database, limit=2)} if is_ours else set()
    if found != {DOMAIN_ONCE}:
        raise CommandError("The database of AFTERWORD_DATABASE_URL is in use. Prove an empty one on the same servers.")


def ended(chosen: Settings) -> str:
    """The last words of a demonstration: the place of its data."""
    folder = shlex.quote(str(chosen.data_dir.absolute()))
    stored = f"in {folder}" if chosen.database_url is None else "in the database of AFTERWORD_DATABASE_URL"
    return f"Ended. The data stays {stored}: afterword demo and afterword serve go on with it."


_OWNER: Final = """Make yourself the owner of the shop and look at its console, within an hour: {url}"""
_INVITATION: Final = """
All captured mails, each with its answer link: {url}
Everything stays up until Ctrl-C."""


@asynccontextmanager
async def _everything(
    chosen: Settings, stop: asyncio.Event, *, domain: str
) -> AsyncGenerator[tuple[Seeded, Site, str | None], None]:
    async with context.open_context(chosen, join=False, create=True) as opened:
        async with await demonstration.open_pool(opened.database_url) as pool:
            seeded = await seed(pool, opened.site, domain=domain)
            if domain == DOMAIN:
                await _make_up(pool, seeded, opened.site)
        owner_url = await first_owner_url(opened)
        async with serve.running(opened, stop):
            yield seeded, opened.site, owner_url


async def _make_up(pool: db.Pool, seeded: Seeded, site: Site) -> None:
    began = time.perf_counter()
    async with db.transaction(pool) as database:
        count = await demonstration.fill(
            database,
            organization_id=seeded.organization_id,
            application_id=seeded.application_id,
            secret=site.secret,
            now=database.clock.now(),
        )
    if count:
        seconds = time.perf_counter() - began
        print(f"[{seconds:7.3f}s] Made up {count:,} answered questionnaires of {demonstration.DAYS} days", flush=True)


class _Journey(msgspec.Struct):
    seeded: Seeded
    site: Site
    client: httpx2.AsyncClient
    began: float

    async def make(self, *, to_the_end: bool) -> None:
        """Schedule, send, read the mail; `to_the_end`: answer and read back too."""
        await self._wait_until_ready()
        for name, value in asdict(self.seeded).items():
            print(f"           {name:20} {value}")
        item = await self._schedule()
        if not await self._is_sent(item["item_id"]):
            return
        link = await self._read_mail()
        if to_the_end:
            await self._answer(link)
            await self._read_back(link.rpartition("/")[2])

    async def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS_MAX
        while True:
            try:
                if (await self.client.get(f"{self.site.public_url}/readyz")).status_code == 200:  # noqa: PLR2004
                    break
            except httpx2.TransportError:
                pass
            if time.monotonic() > deadline:
                raise CommandError("The web process did not become ready.")
            await asyncio.sleep(POLL_SECONDS)
        self._step("Database, API, pages and worker are up", self.site.public_url)

    async def _schedule(self) -> dict[str, Any]:
        seeded = self.seeded
        url = f"{seeded.base_url}/q/questionnaire/{seeded.questionnaire_id}/pipeline/{seeded.pipeline_id}/queue/item"
        body = (
            f'{{"responder_channel_identifier": "{RECIPIENT}", "locale": "en",'
            ' "metadata": {"questionnaire": {"transaction_id": "1042"}, "responder": {"first_name": "Ann"}}}'
        )
        answer = await self._request("POST", url, content=body)
        self._step("Scheduled a questionnaire for now", f"item {answer['item_id']}")
        command = ["curl", "-X", "POST", url, "-H", f"Authorization: Bearer {seeded.token}"]
        print(f"           {shlex.join([*command, '-H', 'Content-Type: application/json', '-d', body])}")
        return answer

    async def _is_sent(self, item_id: str) -> bool:
        """Wait until it is; False: sending is paused, so that only a person can end the wait."""
        deadline = time.monotonic() + SENT_SECONDS_MAX
        url = f"{self.seeded.base_url}/q/queue/item/{item_id}"
        while True:
            item = await self._request("GET", url)
            if item["status_id"] == 3:  # noqa: PLR2004  Sent
                self._step("The worker sent it", f"dispatched {item['dispatched_time']}")
                return True
            trace = await self._request("GET", f"{url}/trace")
            if trace["reason"] in RESUMPTIONS:
                self._step("The item waits, because sending is paused", trace["result"])
                act = RESUMPTIONS[trace["reason"]].format(site=self.site.public_url, **asdict(self.seeded))
                print(f"           {act}", flush=True)
                return False
            if time.monotonic() > deadline:
                raise CommandError(f"The item was not sent: status_id {trace['status_id']}, {trace['result']}.")
            await asyncio.sleep(POLL_SECONDS)

    async def _read_mail(self) -> str:
        outbox = url_with_key(self.site, "outbox")
        listed = html.unescape(await self._page(outbox))
        found = re.search(r'href="(/outbox/[0-9A-Za-z]{22}[^"]*)"', listed)
        if found is None:
            raise CommandError("The outbox is empty.")
        message_url = urljoin(outbox, found[1])
        shown = html.unescape(await self._page(message_url))
        link = re.search(re.escape(f"{self.site.public_url}/a/") + r"[0-9A-Za-z]{22}", shown)
        if link is None:
            raise CommandError("The mail has no answer link.")
        self._step("The mail is in the captured outbox", message_url)
        self._step("Its answer link", link[0])
        return link[0]

    async def _answer(self, link: str) -> None:
        page, url = await self._page(link), link
        for number in range(1, PAGES_MAX + 1):
            form = Form.of(page)
            if form is None:
                self._step("Answered on the page", f"{number - 1} pages, no JavaScript")
                return
            posted = await self.client.post(urljoin(url, form.action), data=form.filled(), follow_redirects=True)
            if posted.status_code != 200:  # noqa: PLR2004
                raise CommandError(f"The answer page said {posted.status_code}.")
            page, url = posted.text, str(posted.url)
        raise CommandError("The questionnaire does not end.")

    async def _read_back(self, instance_id: str) -> None:
        content = await self._request("GET", f"{self.seeded.base_url}/q/instance/{instance_id}/response/content")
        if not content["finalized"] or not content["answers"]:
            raise CommandError("The answers did not come back.")
        self._step("Read the answers back over the API", f"instance {instance_id}")
        for answer in content["answers"]:
            print(f"           {answer['title']} → {answer['label'] or answer['value']}")
        url = f"{self.seeded.base_url}/event?filter_by[EQUAL][SubjectId]={instance_id}"
        deadline = time.monotonic() + SENT_SECONDS_MAX
        while COMPLETED not in (types := [one["type"] for one in (await self._request("GET", url))["results"]]):
            if time.monotonic() > deadline:
                raise CommandError("The event log does not show the answers.")
            await asyncio.sleep(POLL_SECONDS)
        self._step("Its events are in the log", ", ".join(types))

    async def _request(self, method: str, url: str, *, content: str | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.seeded.token}", "Content-Type": "application/json"}
        answer = await self.client.request(method, url, content=content, headers=headers)
        if answer.is_error:
            raise CommandError(f"{method} {url} said {answer.status_code}: {answer.text}")
        return answer.json()

    async def _page(self, url: str) -> str:
        answer = await self.client.get(url, follow_redirects=True)
        if answer.is_error:
            raise CommandError(f"{url} said {answer.status_code}.")
        return answer.text

    def _step(self, what: str, detail: str) -> None:
        print(f"[{time.perf_counter() - self.began:7.3f}s] {what}: {detail}", flush=True)


class Form(HTMLParser):
    """The first form of a page, filled as a content customer would: the best of a scale, the first of the choices."""

    def __init__(self) -> None:
        super().__init__()
        self.action: str | None = None
        self._open = False
        self._values: dict[str, list[str]] = {}
        self._buttons: list[str] = []

    @classmethod
    def of(cls, page: str) -> "Form | None":
        form = cls()
        form.feed(page)
        return form if form.action is not None else None

    def filled(self) -> dict[str, str | list[str]]:
        """The fields that a browser would post, with the button that goes on."""
        forward = next((value for value in ("send", "next") if value in self._buttons), None)
        return {**self._values, **({"go": forward} if forward else {})}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "form" and self.action is None:
            self.action, self._open = has.get("action", ""), True
        elif self._open and "name" in has:
            self._take(tag, has["name"], has)

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag != "form"

    def _take(self, tag: str, name: str, has: dict[str, str]) -> None:
        kind = has.get("type", "text")
        if tag == "button":
            self._buttons.append(has.get("value", ""))
        elif tag == "textarea":
            self._values[name] = [COMMENT]
        elif kind in {"hidden", "radio"}:
            self._values[name] = [has.get("value", "")]  # of a scale the last, its best
        elif kind == "checkbox":
            self._values.setdefault(name, [has.get("value", "")])


@contextmanager
def _folder() -> Generator[Path, None, None]:
    with tempfile.TemporaryDirectory(prefix="afterword-demo-") as name:
        Path(name).chmod(0o711)  # the embedded database may run as another user
        yield Path(name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
