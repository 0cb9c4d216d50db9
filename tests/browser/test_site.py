"""The site of the documentation, built as `make docs` does: complete, and its search needs nobody else."""

import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Browser

ROOT: Final = Path(__file__).parents[2]
BUILT_SECONDS_MAX: Final = 120
WAIT_MILLISECONDS_MAX: Final = 15_000
CHOSEN: Final = re.compile(r'"([\w/-]+\.md)"')
NOT_IN_NAVIGATION: Final = frozenset[str]()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning, as of a link that leads nowhere, is an error."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"],
        cwd=folder,
        check=True,
        timeout=BUILT_SECONDS_MAX,
    )
    return folder / "site"


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The address of a plain server of files."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_navigation_has_every_page() -> None:
    chosen = CHOSEN.findall((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    assert len(chosen) == len(set(chosen))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - NOT_IN_NAVIGATION == set(chosen)


@pytest.mark.asyncio(loop_scope="session")
async def test_search_without_a_network(browser: Browser, site: Path, served: str) -> None:
    """Words lead to their page; nothing is asked of anybody else, and the records of decisions stay out of the way."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(WAIT_MILLISECONDS_MAX)
    page = await context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    async with page.expect_response("**/search.json"):
        await page.goto(f"{served}/")
    await page.keyboard.press("/")
    # The field gets the focus after the dialog has opened, and takes no letter before.
    await page.wait_for_function("document.activeElement.shadowRoot?.activeElement?.tagName === 'INPUT'")
    await page.keyboard.type("quiet hours holidays")
    result = page.locator("a[href*='rules/']", has_text="quiet").first
    await result.click()
    await page.wait_for_url("**/rules/**")
    assert "Windows, quiet hours, holidays" in await page.inner_text("main")
    assert [] == [url for url in asked if not url.startswith((served, "data:", "blob:"))]
    assert "decisions/00" not in (site / "search.json").read_text(encoding="utf-8")
    await context.close()


@pytest.mark.asyncio(loop_scope="session")
async def test_tables_on_a_phone(browser: Browser, site: Path, served: str) -> None:
    """No table scrolls sideways, and each cell of a wide one names its column."""
    context = await browser.new_context(viewport={"width": 360, "height": 800})
    page = await context.new_page()
    for name in names_of_pages(site):
        await page.goto(f"{served}/{name}/")
        scrolled = "[...document.querySelectorAll('main table')].map(e => e.parentElement.parentElement)"
        assert [] == await page.evaluate(f"{scrolled}.filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)")
    await page.goto(f"{served}/comparison/")
    cell = page.locator("td[data-column='LimeSurvey']").first
    assert '"LimeSurvey: "' == await cell.evaluate("e => getComputedStyle(e, '::before').content")
    await context.close()


def names_of_pages(site: Path) -> list[str]:
    return sorted(path.parent.name for path in site.glob("*/index.html"))
