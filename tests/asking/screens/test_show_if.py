"""The condition of a question in the editor: a sentence, rows or JSON, and its problems as links."""

import re

from tests.asking.screens.test_builder import added, draft_of, saved, text_of
from tests.tenants.logins.conftest import Browser, Office


async def test_condition(office: Office, browser: Browser, path: str) -> None:
    branch = await added(browser, path, "single_choice")
    town = await added(browser, path, "text")
    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere")
    await saved(browser, town, type="text", title="Which town?")
    branch_id, town_id = (one.rsplit("/", 1)[1] for one in (branch, town))
    assert "Everybody is asked." in text_of(await browser.get(town))
    page = (await browser.get(f"{town}/condition")).text
    assert f'value="question:{branch_id}"' in page
    assert f'value="question:{town_id}"' not in page
    form = {"seen": "", "group": "all", "subject-0": f"question:{branch_id}", "operator-0": "equal"}
    assert 422 == (await browser.post(f"{town}/condition", data={**form, "document": "{"})).status_code
    made = await browser.post(f"{town}/condition", data={**form, "value-0": "Elsewhere"})
    assert (303, True) == (made.status_code, made.headers["location"].endswith("?done=saved#show_if"))
    assert "Asked if “Where?” is Elsewhere." in text_of(await browser.get(town))
    assert "Asked if “Where?” is Elsewhere." in text_of(await browser.get(f"{path}/flow"))
    leaf = {"subject": f"question:{branch_id}", "operator": "equal", "value": 2}
    asked = (await draft_of(office, path))["groups"][0]["questions"]
    assert [None, {"all": [leaf]}] == [one.get("show_if") for one in asked]
    assert "A condition of “Which town?” asks for its answer." in text_of(await browser.get(f"{branch}/removal"))
    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere", points="10, x")
    assert f'href="{branch}#choices"' in text_of(await browser.get(f"{path}/edit"))
    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere", points="10,")
    stored = (await draft_of(office, path))["groups"][0]["questions"][0]["choices"]
    assert [10, None] == [one.get("points") for one in stored]
    late = await browser.post(f"{town}/condition", data={**form, "value-0": "Athens"})
    assert (412, True) == (late.status_code, "Asked if “Where?” is Elsewhere." in text_of(late))

    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nVolos")
    page = text_of(await browser.get(f"{path}/edit"))
    assert f'href="{town}/condition"' in page
    page = text_of(await browser.get(f"{town}/condition"))
    assert 'href="#value-0"' in page
    seen = re.search(r'name="seen" value="([^"]*)"', page)
    assert seen is not None
    gone = await browser.post(f"{town}/condition", data={**form, "seen": seen[1], "then": "remove"})
    assert 303 == gone.status_code
    assert "Everybody is asked." in text_of(await browser.get(town))
