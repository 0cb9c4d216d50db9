"""A questionnaire of every type of question, from its first question in the editor to its copy elsewhere."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from playwright.async_api import Browser, Page

from afterword.core.questionnaires.question_types import TYPES
from afterword.kit import db
from afterword.kit.texts import texts
from afterword.run.app import create_app
from tests.asking.screens.conftest import begin
from tests.asking.screens.test_builder import LIST, draft_of
from tests.asking.screens.test_publication import revision_of
from tests.asking.screens.test_settings import FORM
from tests.browser.conftest import listening, served, type_login
from tests.browser.test_console import opened
from tests.tenants.logins.conftest import EMAIL, browser_of, found, log_in

pytestmark = pytest.mark.asyncio(loop_scope="session")

LINES: Final = "First\nSecond\nThird"
CHOICES: Final = {"choices": LINES}
# Of each question its type, what is typed into its form, and the answer that `answer` gives.
ASKED: Final[Sequence[tuple[str, Mapping[str, Any], Any]]] = [
    ("nps", {}, 10),
    ("csat", {}, 5),
    ("ces", {}, 7),
    ("rating", {}, 5),
    ("rating", {"style": "stars"}, 5),
    ("smileys", {}, 5),
    ("single_choice", CHOICES, 3),
    ("single_choice", {**CHOICES, "style": "dropdown"}, 1),
    ("multiple_choice", CHOICES, [1]),
    ("yes_no", {}, False),
    ("matrix", {"rows": "Food\nMusic", **CHOICES}, [3, 3]),
    ("ranking", CHOICES, [1, 2, 3]),
    ("text", {}, "2"),
    ("number", {}, 2),
    ("number", {"style": "slider", "number_min": "0", "number_max": "10"}, 2),
    ("date", {}, "2026-05-01"),
    ("time", {}, "10:30"),
    ("date_time", {}, "2026-05-01T10:30"),
    ("consent", {}, True),
    ("contact", {"contact_fields": ["email", "name"]}, ["2", "ann@example.com"]),
    ("address", {}, ["2", "2", "2", "2"]),
    ("file", {"file_types": ["text"], "files_max": "1"}, ["note.txt"]),
    ("statement", {}, None),
]
TYPED: Final = {"email": "ann@example.com", "tel": "+302101234567", "date": "2026-05-01", "time": "10:30",
               "datetime-local": "2026-05-01T10:30"}  # fmt: skip
LANGUAGE: Final = "el"
PAGES_MAX: Final = 30


async def test_every_type(browser: Browser, pool: db.Pool) -> None:
    """Built in a browser, translated in a spreadsheet, published, answered with scripts and without, and copied."""
    assert {kind for kind, _, _ in ASKED} == {*TYPES}
    office = await found(pool)
    theirs = await found(pool, domain="patras", email="pan@patras.example")
    listener, site = listening()
    async with served(create_app(pool=pool, site=site), listener), browser_of(pool) as client:
        await log_in(client)
        path = await begin(client, office)
        async with opened(browser) as page:
            await build(page, site.public_url, path)
        await client.post(f"{path}/translations", data={"locale": LANGUAGE})
        await translate(client, f"{path}/translations/{LANGUAGE}")
        text = (await client.get(f"{path}/publish")).text
        assert 303 == (await client.post(f"{path}/publish", data={"revision": revision_of(text)})).status_code, text
        version = re.search(r'name="version" value="(\d+)"', (await client.get(f"{path}/settings")).text)
        assert version is not None
        form = {**FORM, "version": version[1], "public_link": "1"}
        assert 303 == (await client.post(f"{path}/settings", data=form)).status_code
        file = (await client.get(f"{path}/file")).content
        for has_scripts in (True, False):
            async with opened(browser, width=360, locale=LANGUAGE, java_script_enabled=has_scripts) as page:
                await page.goto(f"{site.public_url}/p/{path.rpartition('/')[2]}")
                await answer(page)
    async with browser_of(pool) as other:
        await log_in(other, email="pan@patras.example")
        form = {"display_name": "Theirs", "application_id": theirs.application_id}
        copied = (await other.post(f"{LIST}/new", data=form, files={"file": ("a.yaml", file)})).headers["location"]
        again = (await other.get(f"{copied.split('?')[0]}/file")).content
    assert file.partition(b"\n")[2] == again.partition(b"\n")[2]  # without the name in the first line
    draft = await draft_of(theirs, copied.split("?")[0])  # with the ids of ours
    async with db.connection(pool) as database:
        rows = await database.fetch(
            "select jsonb_object_agg(question_id, value) as given from answer group by instance_id"
        )
    questions = [one for group in draft["groups"] for one in group["questions"]]
    expected = [(kind, value) for kind, _, value in ASKED if kind != "statement"]
    for row in rows:
        assert expected == [(one["type"], parts(row["given"][one["question_id"]])) for one in questions
                            if one["type"] != "statement"]  # fmt: skip
    assert 2 == len(rows)


def parts(value: Any) -> Any:
    """A value without the ids of rows and files."""
    match value:
        case dict():
            return sorted(value.values())
        case [{"name": name}]:
            return [name]
        case _:
            return value


async def build(page: Page, url: str, path: str) -> None:
    """Add each question in the editor and fill its form, as a person does."""
    await type_login(page, url, email=EMAIL)
    for number, (kind, fields, _) in enumerate(ASKED):
        await page.goto(f"{url}{path}/edit/add{'' if number % 4 else '?what=page'}")
        await page.locator(f".types [value={kind}]").click()
        form = page.locator("form[data-save]")
        await form.locator("#title").fill(f"About {kind} {number}")
        await page.get_by_text("More settings").click()
        for name, value in fields.items():
            if isinstance(value, list):
                for each in value:
                    await form.locator(f'[name="{name}"][value="{each}"]').check()
            elif name in {"style", "files_max"}:
                await form.locator(f"[name={name}]").select_option(value)
            else:
                await form.locator(f"[name={name}]").fill(value)
        await form.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text("Saved.", exact=True).wait_for()
        assert not await form.locator(".error").count()
        await page.wait_for_load_state()


async def translate(client: Any, page: str) -> None:
    """Fill the file with the source in another alphabet's brackets, and send it back."""
    file = await client.get(f"{page}/file?format=csv")
    rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))
    filled = io.StringIO()
    writer = csv.DictWriter(filled, rows[0].keys())
    writer.writeheader()
    writer.writerows([{**row, "target": f"Ελληνικά: {row['source']}"} for row in rows])
    sent = await client.post(f"{page}/file", files={"file": ("el.csv", filled.getvalue().encode(), "text/csv")})
    assert 303 == sent.status_code, sent.text


async def answer(page: Page) -> None:
    """Answer each question of each page as it can be, to the end."""
    words = texts("pages", LANGUAGE)
    for _ in range(PAGES_MAX):
        if await page.get_by_role("heading", name=words("Thank you")).count():
            return
        for name in await names_of(page, "input[type=radio]"):
            await page.locator(f'input[name="{name}"]').last.check(force=True)
        for name in await names_of(page, "input[type=checkbox]"):
            await page.locator(f'input[name="{name}"]').first.check(force=True)
        for place, name in enumerate(await names_of(page, "select:visible"), 1):
            await page.locator(f'select[name="{name}"]').select_option(index=place)
        for name in await names_of(page, "input[type=file]"):
            note = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"A note"}
            await page.locator(f'input[name="{name}"]').set_input_files([note])
        for field in await page.locator("input.text:not([type=file]):visible, textarea:visible").all():
            kind = await field.get_attribute("type") or ""
            await field.fill(TYPED.get(kind, "2"))
        async with page.expect_navigation():
            await page.locator("button:is([value=next], [value=send])").last.click()
    pytest.fail(f"not at the end after {PAGES_MAX} pages: {await page.inner_text('main')}")


async def names_of(page: Page, selector: str) -> Sequence[str]:
    found = [await one.get_attribute("name") for one in await page.locator(selector).all()]
    return [*dict.fromkeys(name for name in found if name)]
