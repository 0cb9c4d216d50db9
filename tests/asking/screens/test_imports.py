"""A questionnaire of another system in the console: the file, the draft, and the report with its filters."""

from tests.asking.screens.test_builder import LIST, draft_of, text_of
from tests.core.foreign.lss import Q, survey
from tests.core.foreign.samples import SAMPLES
from tests.tenants.logins.conftest import Browser, Office

NEW = f"{LIST}/new"
FILE = SAMPLES["limesurvey"]


async def test_way_there(browser: Browser) -> None:
    assert 'href="?brought=1#file"' in text_of(await browser.get(NEW))
    assert "LimeSurvey (.lss, .txt)" in text_of(await browser.get(f"{NEW}?brought=1"))


async def test_refused(office: Office, browser: Browser) -> None:
    form = {"application_id": office.application_id, "display_name": "Mine"}
    for content, told in (
        (FILE[:-99], "not a whole survey"),
        (b"<!DOCTYPE x>" + FILE, "document type"),
        (FILE.replace(b"Bread", b"\xff"), "not UTF-8"),
        (b"<LimeSurveyDocType>" + bytes(5_000_000), "The file is larger than"),
    ):
        refused = await browser.post(NEW, data=form, files={"file": ("a.lss", content)})
        assert (422, True, True) == (refused.status_code, told in refused.text, 'value="Mine"' in refused.text), told
    refused = await browser.post(NEW, data=form, files={"file": ("a.lss", bytes(17_000_000))})
    assert (413, True) == (refused.status_code, "no page takes more" in refused.text)
    form["application_id"] = "0" * 22
    assert 422 == (await browser.post(NEW, data=form, files={"file": ("a.lss", FILE)})).status_code


async def test_draft_and_report(office: Office, browser: Browser) -> None:
    content = survey(
        [Q("a", "S", text="<b>Which</b> cake?"), Q("b", "?", text="A map"), Q("c", "K", rows={"x": "X", "y": "Y"})],
        [Q("d", "S", relevance="sum(a) > 1")],
    )
    form = {"application_id": office.application_id}
    made = await browser.post(NEW, data=form, files={"file": ("bakery.lss", content)})
    assert 303 == made.status_code
    path = made.headers["location"].removesuffix("/import")
    page = text_of(await browser.get(made.headers["location"]))
    assert all(text in page for text in ("3 of 4", "0 of 1", "taken differently", "left out", "Which cake?", "A map"))
    assert "It became 2 questions, one for each of its fields." in page
    questions = [one for group in (await draft_of(office, path))["groups"] for one in group["questions"]]
    assert f'href="{path}/edit/{questions[0]["question_id"]}"' in page
    assert 200 == (await browser.get(f"{path}/edit/{questions[0]['question_id']}")).status_code
    only = text_of(await browser.get(f"{path}/import?show=left_out"))
    assert ("A map" in only, "Which cake?" in only) == (True, False)
    assert "There is nothing of this kind." in text_of(await browser.get(f"{path}/import?show=taken&begin=999"))
    assert 200 == (await browser.get(f"{path}/import?begin=123456x")).status_code
    overview = text_of(await browser.get(path))
    assert ("Import report, LimeSurvey" in overview, "bakery" in overview) == (True, True)


async def test_begun_here(browser: Browser, path: str) -> None:
    assert 404 == (await browser.get(f"{path}/import")).status_code
    assert "Import report" not in text_of(await browser.get(path))
