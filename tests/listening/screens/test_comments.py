"""Comments by word and by group: numbers lead to exactly their responses, also from the file."""

import csv
import io
import re
from html import unescape

from tests.listening.reports.conftest import House
from tests.listening.reports.conftest import house as house  # noqa: PLC0414  a fixture
from tests.listening.responses.comments.test_service import told as told  # noqa: PLC0414  a fixture
from tests.listening.screens.test_overview import owner as owner  # noqa: PLC0414  a fixture
from tests.listening.screens.test_reports import plain
from tests.tenants.logins.conftest import browser_of, log_in

COMMENTS = "/console/reports/comments"
STORE = "questionnaire_metadata:store_id"


async def test_empty(owner: House) -> None:
    async with browser_of(owner.pool) as client:
        await log_in(client)
        page = await client.get(f"{COMMENTS}?days=x&band=y&group=z&questionnaire=q")
        assert "No comment has a word to count" in page.text
        assert 200 == (await client.get(f"{COMMENTS}/csv")).status_code


async def test_numbers_lead_to_their_responses(owner: House, told: House) -> None:
    async with browser_of(owner.pool) as client:
        await log_in(client)
        page = (await client.get(COMMENTS)).text
        text = plain(page)
        assert "36 comments." in text
        assert "Most often: delivery" in text
        for name, count in (("delivery", 14), ("παράδοση", 5), ("north", 11), ("late", 6)):
            link = unescape(re.findall(rf'href="([^"]+)"[^>]*>(?:<bdi>)?{name}<', page)[0])
            responses = (await client.get(link)).text
            assert count == responses.count("data-row"), name
        assert "In the comment: late" in plain(responses)
        assert "<mark>late</mark>" in responses
        for group in ("band", "channel", "questionnaire"):
            assert 200 == (await client.get(f"{COMMENTS}?group={group}")).status_code
        file = (await client.get(f"{COMMENTS}/csv?days=30")).content.decode("utf-8-sig")
    lines = {(line["group"], line["word"]): line["comments"] for line in csv.DictReader(io.StringIO(file))}
    assert ("14", "6") == (lines["", "delivery"], lines["north", "late"])


async def test_saved_and_on_the_overview(owner: House, told: House) -> None:
    """Its numbers lead to their responses, too; neither links, mails, nor readers of figures alone get its words."""
    reader = {"Authorization": f"Bearer {await told.token_for(scopes={'Report.Read'})}"}
    spec = {"questionnaire_ids": [told.questionnaire_id], "template_id": "comments", "metadata": STORE}
    nps = {"questionnaire_ids": [told.questionnaire_id], "metrics": [{"metric": "nps"}]}
    changed = (await told.send("POST", "/report/custom", {"title": "Changed", "spec": nps})).json()["report_id"]
    link = (await told.send("POST", f"/report/custom/{changed}/share", {})).json()["share_url"]
    async with browser_of(owner.pool) as client:
        await log_in(client)
        assert 422 == (await client.post(COMMENTS, data={"given": "", "title": ""})).status_code
        saved: dict[str, str] = {}
        for by in ("words", "groups"):
            form = {"given": f"days=30&group={STORE}", "title": f"By {by}", "by": by}
            saved[by] = (await client.post(COMMENTS, data=form)).headers["location"].partition("?")[0]
            assert 303 == (await client.post(f"{saved[by]}/pin", data={"pinned": "1"})).status_code
            assert 422 == (await client.post(f"{saved[by]}/share", data={"share_days": "30"})).status_code
            report_id = saved[by].rpartition("/")[2]
            mail = {"report_id": report_id, "when": "weekly 1", "hour": "8", "locale": "en"}
            assert 422 == (await client.post("/console/reports/mails", data=mail)).status_code
            assert 422 == (await told.send("GET", f"/report/custom/{report_id}/run", **reader)).status_code
        overview = (await client.get("/console")).text
        assert "By words" in plain(overview)
        assert "delivery (north)" in plain(overview)
        assert "north · late" in plain(overview)
        page = (await client.get(saved["groups"])).text
        assert "it gets no link and is not mailed" in plain(page)
        for shown, name, count in ((overview, "delivery", 14), (overview, "παράδοση", 5), (page, "north · late", 6)):
            link_of = unescape(re.findall(rf'href="([^"]+)"[^>]*>{name}<', shown)[-1])
            assert count == (await client.get(link_of)).text.count("data-row"), name
        await told.send("PATCH", f"/report/custom/{changed}", {"spec": spec})
        shared = await client.get(link.partition("://")[2].partition("/")[2].join(("/", "")))
        assert 422 == shared.status_code
        assert "delivery" not in shared.text
