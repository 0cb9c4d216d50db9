"""The parts of all screens, which are shown to developers alone."""

from tests.listening.reports.conftest import House
from tests.tenants.logins.conftest import Browser

PATH = "/console/parts"


async def test_not_where_people_work(browser: Browser) -> None:
    assert 404 == (await browser.get(PATH)).status_code


async def test_every_part_in_a_demonstration(owner: House, browser: Browser) -> None:
    await owner.execute("update organization set demonstration_time = now()")
    page = await browser.get(PATH)
    assert 200 == page.status_code
    for part in (
        "toast",
        "summary",
        "condition",
        "chart trend",
        "tiles types",
        "palette",
        "first-steps",
        "rule",
        "empty",
    ):
        assert f'class="{part}' in page.text, part
