"""Browsers of people who have logged in: of the house, and of an office without one."""

import html
import re
from collections.abc import AsyncGenerator

import httpx2
import pytest

from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import Client, Queue
from tests.tenants.logins.conftest import Office, add_staff, browser_of, log_in


@pytest.fixture
async def client(http: httpx2.AsyncClient, queue: Queue) -> Client:
    """A house with an owner and an agent who can log in."""
    await add_staff(queue.pool, queue.house.organization_id)
    return Client(http, queue)


@pytest.fixture
async def browser(client: Client) -> AsyncGenerator[httpx2.AsyncClient]:
    """The owner of the house."""
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        yield browser


@pytest.fixture
async def agent(client: Client) -> AsyncGenerator[httpx2.AsyncClient]:
    """The agent of the house."""
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser, email="ben@demo.example")
        yield browser


@pytest.fixture
async def owner(office: Office) -> AsyncGenerator[httpx2.AsyncClient]:
    """The owner of the office."""
    async with browser_of(office.pool) as browser:
        await log_in(browser)
        yield browser


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>|[\u2068\u2069]", "", html.unescape(text)))
