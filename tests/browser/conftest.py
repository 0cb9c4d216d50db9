"""A shop with a questionnaire of every kind of question, served on a loopback port, and a browser to look at it."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import uvicorn
from playwright.async_api import Browser, Page, Response, async_playwright

from afterword import ids
from afterword.asking.instances import issuing
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import service as questionnaires, store as questionnaires_store
from afterword.core.answers import values as answer_forms
from afterword.core.organizations.access import ROLE_SCOPES, installation
from afterword.core.questionnaires.definition import Definition
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.people.responders import service as responders
from afterword.run.app import create_app
from afterword.run.cli.demo import seed
from afterword.run.demonstration import service as demonstration
from afterword.sending.providers import service
from afterword.sending.receipts import inbound
from afterword.tenants.organizations import service as accounts
from tests import programs
from tests.conftest import patient_pool
from tests.databases import fresh_database
from tests.tenants.logins.conftest import PASSWORD, Office

SECRET = b"s" * 32
QUESTIONNAIRE = Path(__file__).with_name("questionnaire.yaml").read_text(encoding="utf-8")
EVERY_TYPE = Path(__file__).with_name("every_type.yaml").read_text(encoding="utf-8")
BRAND = "Kalamata Books"
SLUG = "delivery"
EMAIL_CHANNEL_ID = 1
END_SECONDS_MAX = 30.0
POLL_SECONDS = 0.005
MESSAGES_A_DAY = 40  # of the made-up shop, enough for a second page of each list

# These tests share a loop, as they share the Chromium on it. What is theirs alone lives on that loop too.
on_the_loop = pytest_asyncio.fixture(loop_scope="session")


@dataclass(frozen=True)
class Shop:
    """Data and actions of the page tests."""

    pool: db.Pool
    site: Site
    url: str
    organization_id: str
    questionnaire_id: str
    definition: Definition

    async def issue(self, *, locale: str = "en", valid_days: int = 30, editable: bool = True) -> Instance:
        """An instance as a mail would have brought it."""
        async with db.transaction(self.pool) as database:
            request = IssueInput(locale=locale, valid_days=valid_days, editable=editable)
            issuable = await issuing.get_issuable(
                database, organization_id=self.organization_id, questionnaire_id=self.questionnaire_id
            )
            instance, _ = await issuing.issue_by_link(
                database,
                issuable=issuable,
                version=await issuing.version_to_start(database, issuable=issuable),
                request=request,
                now=database.clock.now(),
                secret=SECRET,
                draw=lambda: 0.0,
            )
        return instance

    async def instance(self, instance_id: str) -> dict[str, object]:
        """The row as it is now."""
        async with db.connection(self.pool) as database:
            row = await database.fetch_row("select * from questionnaire_instance where instance_id = $1", instance_id)
            return dict(row or {})

    async def answers(self, instance_id: str) -> dict[str, object]:
        """Stored answers by the author's key of the question."""
        keys = {question.question_id: question.key for question in self.definition.questions()}
        async with db.connection(self.pool) as database:
            rows = await database.fetch("select * from answer where instance_id = $1", instance_id)
        return {str(keys[row["question_id"]]): row["value"] for row in rows}

    async def instances(self) -> list[dict[str, object]]:
        """All rows."""
        async with db.connection(self.pool) as database:
            return [dict(row) for row in await database.fetch("select * from questionnaire_instance")]

    async def unsubscribe_id(self, address: str = "maria@example.com") -> str:
        """The unsubscribe link's id of a person who gets mails."""
        async with db.transaction(self.pool) as database:
            wanted = responders.ResponderInput(self.organization_id, channel_id=EMAIL_CHANNEL_ID, identifier=address)
            [found] = await responders.find_or_create(
                database, inputs=[wanted], now=database.clock.now(), secret=SECRET
            )
        assert found.unsubscribe_id is not None
        return found.unsubscribe_id

    async def count_suppressions(self) -> int:
        """The number of suppressed addresses."""
        async with db.connection(self.pool) as database:
            return await database.fetch_value("select count(*) from suppression")

    async def shift(self, instance_id: str, days: int) -> None:
        """Let days pass: times move back, clocks stay."""
        async with db.transaction(self.pool) as database:
            await database.execute(
                """update questionnaire_instance set created_time = created_time - make_interval(days => $2)
                   where instance_id = $1""",
                instance_id,
                days,
            )

    def question_id(self, key: str) -> str:
        """The id of the question with an author's key."""
        return next(question.question_id for question in self.definition.questions() if question.key == key)

    def name(self, key: str, part: object = None) -> str:
        """The name of its field, or of the field of a part: a row's key, a choice's value, a field of a contact."""
        question = self.definition.question(self.question_id(key))
        rows = {row.key: row.row_id for row in question.rows} if question else {}
        return answer_forms.field_name(self.question_id(key), rows.get(str(part), part))

    async def publish(self, text: str) -> None:
        """Another version of the questionnaire, from a file of the same name."""
        async with db.transaction(self.pool) as database:
            application_id = await database.fetch_value(
                "select owner_application_id from questionnaire where questionnaire_id = $1", self.questionnaire_id
            )
            await questionnaires.import_file(
                database,
                organization_id=self.organization_id,
                application_id=application_id,
                text=text,
                slug=SLUG,
                now=database.clock.now(),
            )

    async def dress(self, **configuration: object) -> None:
        """Make this the active visual; {} undresses."""
        async with db.transaction(self.pool) as database:
            await database.execute("delete from questionnaire_visual where organization_id = $1", self.organization_id)
            await database.execute(
                """insert into questionnaire_visual
                   (organization_id, visual_id, questionnaire_id, title, active, configuration)
                   values ($1, $2, $3, 'Ours', true, $4)""",
                self.organization_id,
                ids.ordered(database.clock.now()),
                self.questionnaire_id,
                configuration,
            )


@on_the_loop
async def shop(pool: db.Pool) -> AsyncIterator[Shop]:
    """The shop, open for business."""
    async with _opened(pool, QUESTIONNAIRE) as shop:
        yield shop


@on_the_loop
async def hotel(pool: db.Pool) -> AsyncIterator[Shop]:
    """The same business with a questionnaire that has every type of question."""
    async with _opened(pool, EVERY_TYPE) as shop:
        yield shop


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for all, who open contexts of their own in it; tests are skipped where there is none."""
    path = programs.find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(programs.CHROMIUM_FLAGS))
        yield browser
        await browser.close()


@dataclass(frozen=True)
class House:
    """The made-up shop of the demonstration."""

    pool: db.Pool
    url: str


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(server_url: str) -> AsyncIterator[House]:
    """The made-up shop with a user of each role, on a port."""
    listener, site = listening()
    async with fresh_database(server_url) as database_url, patient_pool(database_url) as pool:
        seeded = await seed(pool, site)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(demonstration, "MESSAGES_A_DAY", MESSAGES_A_DAY)
            async with db.transaction(pool) as database:
                await demonstration.fill(
                    database,
                    organization_id=seeded.organization_id,
                    application_id=seeded.application_id,
                    secret=site.secret,
                    now=database.clock.now(),
                )
        office = Office(pool, seeded.organization_id, seeded.application_id, "")
        for role in ROLE_SCOPES:
            await office.add_user(email_of(role), role=role)
        await _add_provider(pool, seeded.organization_id, site)
        async with served(create_app(pool=pool, site=site, show_outbox=True), listener):
            yield House(pool, site.public_url)


def email_of(role: str) -> str:
    return f"{role}@kalamata.example"


async def _add_provider(pool: db.Pool, organization_id: str, site: Site) -> None:
    """An account of the shop's own, and where its provider reports."""
    caller = replace(installation(organization_id), role="owner")
    settings = {"host": "smtp.sendgrid.net", "username": "apikey", "password": "secret of nobody"}
    async with db.transaction(pool) as database:
        await database.execute("set local session_replication_role = replica")  # no entries in the audit log
        now = database.clock.now()
        account = await service.create(
            database,
            caller=caller,
            request=service.ProviderRequest(
                kind="smtp", title="Newsletter relay", settings=settings, rate_ceiling=20.0
            ),
            site=site,
            now=now,
        )  # fmt: skip
        await inbound.create(
            database, caller=caller, account_id=account.account_id, adapter="standard", topic=None, certificate=None,
            site=site, now=now,
        )  # fmt: skip


@asynccontextmanager
async def _opened(pool: db.Pool, questionnaire: str) -> AsyncGenerator[Shop, None]:
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    site = Site(url, SECRET)
    async with db.transaction(pool) as database:
        organization_id, questionnaire_id = await _found(database, questionnaire, database.clock.now())
        found = await questionnaires_store.get_questionnaire(
            database, organization_id=organization_id, questionnaire_id=questionnaire_id
        )
        assert found.published_version_id is not None
        version = await questionnaires_store.get_version(
            database, organization_id=organization_id, version_id=found.published_version_id
        )
    async with served(create_app(pool=pool, site=site, show_outbox=True), listener):
        yield Shop(pool, site, url, organization_id, questionnaire_id, version.definition)


async def _found(database: db.Database, questionnaire: str, now: datetime) -> tuple[str, str]:
    organization = await accounts.create_organization(
        database, domain="kalamata", display_name=BRAND, time_zone="Europe/Athens", now=now - timedelta(days=60)
    )
    application = await accounts.create_application(
        database, organization_id=organization.organization_id, display_name=BRAND, now=now
    )
    imported = await questionnaires.import_file(
        database,
        organization_id=organization.organization_id,
        application_id=application.application_id,
        text=questionnaire,
        slug=SLUG,
        now=now,
    )
    return organization.organization_id, imported.questionnaire.questionnaire_id


class _Server(uvicorn.Server):
    """Ends when it is told to, not at its next tick or the one after: each test waits for that."""

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await asyncio.sleep(POLL_SECONDS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for each in (*self.servers, *(sockets or ())):
            each.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        async with asyncio.timeout(END_SECONDS_MAX):
            while self.server_state.connections or self.server_state.tasks:
                await asyncio.sleep(POLL_SECONDS)


def listening(**settings: Any) -> tuple[socket.socket, Site]:
    """A listener on a port of this machine, and the site there; browsers have no passkeys at a number."""
    listener = socket.create_server(("127.0.0.1", 0))
    return listener, Site(f"http://localhost:{listener.getsockname()[1]}", SECRET, **settings)


async def move_on(page: Page, sign: str | Callable[[Response], bool]) -> int:
    """The status of the request that a moving pointer causes. It moves on until then: busy browsers leave out moves."""
    async with page.expect_response(sign) as answer:
        for step in count():
            if answer.is_done():
                break
            await page.mouse.move(100 + step % 100, 30)
    return (await answer.value).status


async def type_login(page: Page, url: str, *, email: str) -> None:
    """Log in to the console as a person does."""
    await page.goto(f"{url}/console/login")
    await page.locator("#email").fill(email)
    await page.locator("#password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url(lambda address: not address.endswith("/login"))


@asynccontextmanager
async def served(app: Any, listener: socket.socket) -> AsyncGenerator[None, None]:
    # asyncio switches it on for sockets that name their protocol alone; without, a body waits 40 ms for its head's ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = _Server(uvicorn.Config(app, log_level="warning", lifespan="off", access_log=False))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving
