"""Comments by word and by group: numbers lead to exactly their responses, also from the file."""

import csv
import io
import re
from html import unescape

from tests.listening.reports.conftest import House
from tests.listening.responses.comments.test_service import told as told  # noqa: PLC0414  a fixture
from tests.listening.screens.test_reports import plain
from tests.listening.screens.test_responses import links_of
from tests.tenants.logins.conftest import Browser

COMMENTS = "/console/reports/comments"
STORE = "questionnaire_metadata:store_id"


async def test_empty(browser: Browser) -> None:
    page = await browser.get(f"{COMMENTS}?days=x&band=y&group=z&questionnaire=q")
    assert "No comment has words to count" in page.text
    assert 200 == (await browser.get(f"{COMMENTS}/csv")).status_code


async def test_numbers_lead_to_their_responses(told: House, browser: Browser) -> None:
    page = (await browser.get(COMMENTS)).text
    text = plain(page)
    assert "36 comments." in text
    assert "Most often: delivery" in text
    for name, count in (("delivery", 14), ("παράδοση", 5), ("north", 11), ("late", 6)):
        link = unescape(re.findall(rf'href="([^"]+)"[^>]*>(?:<bdi>)?{name}<', page)[0])
        responses = (await browser.get(link)).text
        assert count == responses.count("data-row"), name
    assert "In the comment: late" in plain(responses)
    assert "<mark>late</mark>" in responses
    for group in ("band", "channel", "questionnaire"):
        assert 200 == (await browser.get(f"{COMMENTS}?group={group}")).status_code
    file = (await browser.get(f"{COMMENTS}/csv?days=30")).content.decode("utf-8-sig")
    lines = {(line["group"], line["word"]): line["comments"] for line in csv.DictReader(io.StringIO(file))}
    assert ("14", "6") == (lines["", "delivery"], lines["north", "late"])


async def test_saved_and_on_the_overview(told: House, browser: Browser) -> None:
    """Its numbers lead to their responses, too; neither links, mails, nor readers of figures alone get its words."""
    reader = {"Authorization": f"Bearer {await told.token_for(scopes={'Report.Read'})}"}
    spec = {"questionnaire_ids": [told.questionnaire_id], "template_id": "comments", "metadata": STORE}
    nps = {"questionnaire_ids": [told.questionnaire_id], "metrics": [{"metric": "nps"}]}
    changed = (await told.send("POST", "/report/custom", {"title": "Changed", "spec": nps})).json()["report_id"]
    link = (await told.send("POST", f"/report/custom/{changed}/share", {})).json()["share_url"]
    assert 422 == (await browser.post(COMMENTS, data={"given": "", "title": ""})).status_code
    saved: dict[str, str] = {}
    for by in ("words", "groups"):
        form = {"given": f"days=30&group={STORE}", "title": f"By {by}", "by": by}
        saved[by] = (await browser.post(COMMENTS, data=form)).headers["location"].partition("?")[0]
        assert 303 == (await browser.post(f"{saved[by]}/pin", data={"pinned": "1"})).status_code
        assert 422 == (await browser.post(f"{saved[by]}/share", data={"share_days": "30"})).status_code
        report_id = saved[by].rpartition("/")[2]
        mail = {"report_id": report_id, "when": "weekly 1", "hour": "8", "locale": "en"}
        assert 422 == (await browser.post("/console/reports/mails", data=mail)).status_code
        assert 422 == (await told.send("GET", f"/report/custom/{report_id}/run", **reader)).status_code
    overview = (await browser.get("/console")).text
    assert "By words" in plain(overview)
    assert "delivery (north)" in plain(overview)
    assert "north · late" in plain(overview)
    page = (await browser.get(saved["groups"])).text
    assert "it cannot be shared by link or e-mail" in plain(page)
    for shown, name, count in ((overview, "delivery", 14), (overview, "παράδοση", 5), (page, "north · late", 6)):
        link_of = unescape(re.findall(rf'href="([^"]+)"[^>]*>{name}<', shown)[-1])
        assert count == (await browser.get(link_of)).text.count("data-row"), name
    await told.send("PATCH", f"/report/custom/{changed}", {"spec": spec})
    shared = await browser.get(link.partition("://")[2].partition("/")[2].join(("/", "")))
    assert 422 == shared.status_code
    assert "delivery" not in shared.text


async def test_themes(told: House, browser: Browser) -> None:
    """Each leads to its responses alone, also where many things are done with them, and to none once it is removed."""
    page = plain((await browser.get(COMMENTS)).text)
    assert "Add the ready-made themes" in page
    for _ in range(2):
        assert 303 == (await browser.post(f"{COMMENTS}/themes")).status_code
    page = (await browser.get(COMMENTS)).text
    assert 7 == page.count("data-theme")
    [row] = [plain(one) for one in page.split("data-theme") if ">Delivery<" in one]
    assert "19 comments" in row
    assert "52.8 %" in row
    assert "5.3" in row  # 10 promoters, 9 detractors
    link = unescape(re.findall(r'href="([^"]+)"[^>]*><bdi>Delivery<', page)[0])
    responses = await browser.get(link)
    listed = responses.text
    assert 19 == listed.count("data-row")
    assert "Theme: Delivery" in plain(listed)
    assert 30 == listed.count("<mark>")  # of 11 comments “late” or “άργησε” as well
    path, _, query = link.partition("?")
    opened = links_of(responses)[0]
    assert "<mark>" in (await browser.get(opened)).text
    assert "Tag 19 responses" in (await browser.get(f"{path}/taggings?{query}")).text
    assert 5 == (await browser.get(f"{link}&search=kind")).text.count("data-row")
    assert 9 == (await browser.get(f"{link}&band=detractor")).text.count("data-row")
    theme_id = re.findall(r"theme=(\w+)", link)[0]
    assert 303 == (await browser.post(f"/console/settings/themes/{theme_id}/removal")).status_code
    assert 0 == (await browser.get(link)).text.count("data-row")
    assert "Tag 0 responses" in (await browser.get(f"{path}/taggings?{query}")).text
    assert 6 == (await browser.get(COMMENTS)).text.count("data-theme")
