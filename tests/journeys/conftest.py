"""Fixtures of a journey beside the product: a mail server, a browser, a folder of its own."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests import programs
from tests.journeys.inbox import Inbox, open_inbox


@pytest.fixture
async def inbox() -> AsyncIterator[Inbox]:
    async with open_inbox() as inbox:
        yield inbox


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Chromium; the test is skipped where there is none."""
    path = programs.find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(programs.CHROMIUM_FLAGS))
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
def home(scratch: Path) -> Iterator[Path]:
    """A data folder that whoever PostgreSQL runs as can reach."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-journey-", dir=scratch))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)
