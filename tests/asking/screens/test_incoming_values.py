"""The page of the values from outside for those who may not declare one; `test_inserts.py` fills it."""

from tests.asking.screens.test_builder import text_of
from tests.tenants.logins.conftest import Browser


async def test_declared_ones(browser: Browser, path: str) -> None:
    page = text_of(await browser.get(f"{path}/edit/values"))
    assert page.count("Not used here") == page.count('<li class="item"')
    assert "<code>store_id</code>" in page
    assert "/console/settings/metadata/new" in page
