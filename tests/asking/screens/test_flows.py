"""The ways through a questionnaire: each jump is a line, and what nobody reaches is marked."""

from tests.asking.screens.test_builder import added, saved, text_of
from tests.tenants.logins.conftest import Browser


async def test_flow(browser: Browser, path: str) -> None:
    assert "There is no question yet." in (await browser.get(f"{path}/flow")).text
    titles = {"First": "consent", "Second": "text", "Third": "text"}
    pages = {title: await added(browser, path, kind, what="page") for title, kind in titles.items()}
    for title, page in pages.items():
        await saved(browser, page, type=titles[title], title=title)
    form = {"target": pages["Third"].rsplit("/", 1)[1], "group": "all"}
    assert 303 == (await browser.post(f"{pages['First']}/jump/new", data=form)).status_code
    shown = text_of(await browser.get(f"{path}/flow"))
    assert "Always go to “Third”." in shown
    assert 1 == shown.count("Nobody reaches it.")
    assert 1 == shown.count("<circle")
    assert "No answers lead to this question" in text_of(await browser.get(pages["Second"]))
