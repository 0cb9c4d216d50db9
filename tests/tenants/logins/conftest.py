"""An organization whose owner can log in, and browsers for it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
import pytest

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.tenants.logins import service
from afterword.tenants.organizations import service as organizations
from tests.run.test_app import client_of

SITE = Site("http://testserver", b"s" * 32)
PASSWORD = "four words make a password"
EMAIL = "olga@kalamata.example"
OWN = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
Browser = httpx2.AsyncClient


@dataclass(frozen=True)
class Office:
    """An organization with an application and an owner who can log in."""

    pool: db.Pool
    organization_id: str
    application_id: str
    user_id: str

    async def add_user(self, email: str, *, role: str = "agent", password: str | None = PASSWORD) -> str:
        async with db.transaction(self.pool) as database:
            now = database.clock.now()
            user = await organizations.create_user(
                database, organization_id=self.organization_id, email=email, role=role, now=now
            )
            if password is not None:
                hashed = await service.hash_of(password)
                login = await service.insert_login(database, email=email, password_hash=hashed, now=now)
                await service.join(database, organization_id=self.organization_id, user_id=user.user_id, login=login)
        return user.user_id


async def found(pool: db.Pool, *, domain: str = "kalamata", email: str = EMAIL) -> Office:
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await organizations.create_organization(
            database, domain=domain, display_name=f"{domain.title()} Books", time_zone="Europe/Athens", now=now
        )
        application = await organizations.create_application(
            database, organization_id=organization.organization_id, display_name="Shop", now=now
        )
    office = Office(pool, organization.organization_id, application.application_id, "")
    user_id = await office.add_user(email, role="owner")
    return Office(pool, organization.organization_id, application.application_id, user_id)


@pytest.fixture
async def office(pool: db.Pool) -> Office:
    return await found(pool)


async def add_staff(pool: db.Pool, organization_id: str, *, agent: str = "ben@demo.example") -> None:
    """An owner and an agent who can log in, for an organization that was made otherwise."""
    office = Office(pool, organization_id, "", "")
    await office.add_user(EMAIL, role="owner")
    await office.add_user(agent)


@asynccontextmanager
async def browser_of(
    pool: db.Pool, *, source: str = "192.0.2.1", site: Site = SITE
) -> AsyncGenerator[httpx2.AsyncClient, None]:
    """A client with cookies that follows no redirect and posts as a page of the console does."""
    async with client_of(pool, site=site, source=source) as client:
        client.headers.update(OWN)
        yield client


@pytest.fixture
async def browser(office: Office) -> AsyncGenerator[Browser]:
    """A browser in which the owner of the office is logged in."""
    async with browser_of(office.pool) as browser:
        await log_in(browser)
        yield browser


async def log_in(client: httpx2.AsyncClient, *, email: str = EMAIL, password: str = PASSWORD) -> httpx2.Response:
    return await client.post("/console/login", data={"email": email, "password": password})
