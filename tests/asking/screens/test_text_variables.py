"""Variables in the editor: questions by their titles, unknown names as problems, and the names that there are."""

from tests.asking.screens.test_builder import added, draft_of, saved, text_of
from tests.tenants.logins.conftest import Browser, Office


async def test_inserts(office: Office, browser: Browser, path: str) -> None:
    branch = await added(browser, path, "text")
    why = await added(browser, path, "text", what="page")
    await saved(browser, branch, type="text", title="Which branch?")
    page = await saved(browser, why, type="text", title="Why {{ which branch? | there }}?")
    assert "Why {{ Which branch? | there }}?</textarea>" in page
    assert "<code>{{ Which branch? }}</code>" in page
    assert "<code>{{ questionnaire.store_id }}</code>" in page
    assert "<code>{{ Why" not in page
    branch_id, stored = branch.rsplit("/", 1)[1], await draft_of(office, path)
    assert f"Why {{{{ answer.{branch_id} | there }}}}?" == stored["groups"][1]["questions"][0]["title"]
    assert "Why there?" in page  # in the outline

    page = await saved(browser, why, type="text", title="Why {{ Which town? }} {{ responder.nick }}?")
    assert "There is no variable “\u2068Which town?\u2069”." in page
    assert f'href="{why}#title"' in page

    group_id = stored["groups"][1]["group_id"]
    texts = {"title": "In {{ Which branch? }}", "description": "", "enabled": "1"}
    assert 303 == (await browser.post(f"{path}/edit/page/{group_id}", data=texts)).status_code
    texts = {"thank_you": "Thanks from {{ Which branch? | us }}", "welcome": "To {{ questionnaire.store_id }}"}
    assert 303 == (await browser.post(f"{path}/edit/texts", data=texts)).status_code
    assert "In {{ Which branch? }}" in text_of(await browser.get(f"{path}/edit/page/{group_id}"))
    assert "Thanks from {{ Which branch? | us }}" in text_of(await browser.get(f"{path}/edit/texts"))
    stored = await draft_of(office, path)
    assert f"In {{{{ answer.{branch_id} }}}}" == stored["groups"][1]["title"]
    assert f"Thanks from {{{{ answer.{branch_id} | us }}}}" == stored["pages"]["en"]["thank_you"]

    condition = {"seen": "", "group": "all", "document":
                 '{"subject": "questionnaire_metadata:basket", "operator": "equal", "value": "full"}'}  # fmt: skip
    assert 303 == (await browser.post(f"{branch}/condition", data=condition)).status_code
    page = text_of(await browser.get(f"{path}/edit/values"))
    assert "Not declared: compared as text, and public links drop it." in page
    assert "Texts around the questions</a>" in page
    assert f'<a href="{branch}">Which branch?</a>' in page
