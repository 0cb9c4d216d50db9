"""Pictures of the documents: taken of the demonstration, and false as soon as a screen says something else.

`make screenshots` takes them anew. Beside each picture stands the text that the screen showed, which is compared.
"""

import difflib
import html
import io
import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import httpx2
import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import Browser

from afterword import ids
from afterword.asking.instances import issuing
from afterword.asking.instances.issuing import IssueInput
from afterword.kit import db
from afterword.run.app import create_app
from afterword.run.cli.demo import seed
from afterword.run.demonstration import service
from tests.browser.conftest import SECRET, listening, served
from tests.conftest import patient_pool
from tests.databases import fresh_database
from tests.tenants.logins.conftest import OWN, Office, log_in

ROOT: Final = Path(__file__).parents[2]
IMAGES: Final = ROOT / "docs" / "images"
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MOMENT: Final = datetime(2026, 11, 24, 9, 30, tzinfo=UTC)
SIZES: Final = ((1280, 800), (360, 720))
BYTES_MAX: Final = 64_000
QUALITY: Final = 68
PICTURE: Final = re.compile(r'images/([a-z]+)-(\d+)\.webp"( alt="[^"]{20,}")?')
OWNER: Final = "olga@demo.example"


@dataclass
class Shown:
    """The demonstration as it is at the moment of the pictures, and an answer page of one of its customers."""

    client: httpx2.AsyncClient
    answer: str

    async def first(self, page: str, link: str) -> str:
        """The first link of a page that looks like this."""
        found = re.search(rf'href="({link})"', html.unescape((await self.client.get(page)).text))
        assert found is not None, f"{page} has no link like {link}"
        return found[1]

    async def address(self, name: str) -> str:
        match name:
            case "answer":
                return self.answer
            case "overview":
                return "/console"
            case "editor":
                page = f"{await self.first('/console/questionnaires', '/console/questionnaires/[^/?]{22}')}/edit"
                return await self.first(page, f"{page}/[^/?]{{22}}")
            case "pipeline":
                return await self.first("/console/sending/pipelines", "/console/sending/pipelines/[^/?]{22}/[^/?]{22}")
            case "case":
                return await self.first("/console/cases", "/console/cases/[^/?]{22}")
            case "report":
                return await self.first("/console/reports", "/console/reports/saved/[^/?]{22}")
            case _:
                raise ValueError(name)


NAMES: Final = ("answer", "overview", "editor", "pipeline", "case", "report")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shown(server_url: str) -> AsyncGenerator[Shown]:
    with pytest.MonkeyPatch.context() as patch:
        numbers = count(1)
        patch.setattr(db.Clock, "now", lambda _: MOMENT)
        patch.setattr("afterword.ids._random", lambda width: ids.base62(next(numbers), width))
        async with _open(server_url) as shown:
            yield shown


@asynccontextmanager
async def _open(server_url: str) -> AsyncGenerator[Shown]:
    listener, site = listening()
    async with fresh_database(server_url) as database_url, patient_pool(database_url) as pool:
        seeded = await seed(pool, site)
        async with db.transaction(pool) as database:
            await service.fill(
                database, organization_id=seeded.organization_id, application_id=seeded.application_id,
                secret=site.secret, now=MOMENT,
            )  # fmt: skip
        await Office(pool, seeded.organization_id, seeded.application_id, "").add_user(OWNER, role="owner")
        async with db.transaction(pool) as database:
            issuable = await issuing.get_issuable(
                database, organization_id=seeded.organization_id, questionnaire_id=seeded.questionnaire_id
            )
            version = await issuing.version_to_issue(database, issuable=issuable)
            issued, _ = await issuing.issue_by_link(
                database, issuable=issuable, version=version, request=IssueInput(locale="en", valid_days=30),
                now=MOMENT, secret=SECRET, draw=lambda: 0.0,
            )  # fmt: skip
        async with (
            served(create_app(pool=pool, site=site, show_outbox=True), listener),
            httpx2.AsyncClient(base_url=site.public_url, headers=OWN, timeout=60) as client,
        ):
            await log_in(client, email=OWNER)
            yield Shown(client, f"/a/{issued.instance_id}")


async def look(browser: Browser, shown: Shown, name: str, *, size: tuple[int, int]) -> tuple[str, bytes]:
    """The text that a screen shows, and its picture as PNG."""
    url = urljoin(str(shown.client.base_url), await shown.address(name))
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", locale="en", timezone_id="UTC"
    )
    await context.add_cookies(
        [{"name": one.name, "value": one.value or "", "url": url} for one in shown.client.cookies.jar]
    )
    page = await context.new_page()
    response = await page.goto(url)
    assert response is not None
    assert 200 == response.status, f"{name}: there is no such screen"
    await page.wait_for_load_state("networkidle")
    text, picture = await page.inner_text("body"), await page.screenshot()
    await context.close()
    return re.sub(r"\n\s*\n+", "\n", re.sub("[\u2066-\u2069]", "", text)).strip() + "\n", picture


@pytest.mark.asyncio(loop_scope="session")
async def test_texts_are_still_those_of_the_pictures(browser: Browser, shown: Shown) -> None:
    """One test of all, so that one process alone makes the shop up."""
    stale: dict[str, str] = {}
    for name in NAMES:
        text, picture = await look(browser, shown, name, size=SIZES[0])
        if os.environ.get("REWRITE_SNAPSHOTS") == "1":
            (IMAGES / f"{name}.txt").write_text(text, encoding="utf-8")
            for size in SIZES:
                _, picture = await look(browser, shown, name, size=size)
                Image.open(io.BytesIO(picture)).save(IMAGES / f"{name}-{size[0]}.webp", quality=QUALITY, method=6)
        recorded = (IMAGES / f"{name}.txt").read_text(encoding="utf-8")
        if text != recorded:
            stale[name] = "\n".join(difflib.unified_diff(recorded.splitlines(), text.splitlines(), lineterm="", n=1))
    assert {} == stale, "pictures show another text: make screenshots takes them anew"


def test_files_are_small_and_of_their_width() -> None:
    files = {file.name: file for file in IMAGES.iterdir() if file.suffix != ".txt"}
    assert {f"{name}-{width}.webp" for name in NAMES for width, _ in SIZES} == set(files)
    for file in files.values():
        assert BYTES_MAX >= file.stat().st_size, file.name
        with Image.open(file) as picture:
            assert int(file.stem.rpartition("-")[2]) == picture.width


def test_each_picture_stands_in_a_page() -> None:
    """In both widths, the wide one with words for people who do not see it."""
    found = [used for page in PAGES for used in PICTURE.findall(page.read_text(encoding="utf-8"))]
    assert {(name, str(width)) for name in NAMES for width, _ in SIZES} == {used[:2] for used in found}
    assert all(words for _, width, words in found if width == str(SIZES[0][0]))
