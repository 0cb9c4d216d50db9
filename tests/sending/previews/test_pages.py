"""The answer page of a draft, walked through without a trace, and that of each questionnaire of the library."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import httpx2
import pytest

from afterword import errors
from afterword.asking.questionnaires import files, library
from afterword.core.questionnaires import visuals
from afterword.kit import db
from afterword.sending import previews
from afterword.sending.previews import first_page
from tests.asking.questionnaires.conftest import api as api  # noqa: PLC0414  a fixture
from tests.asking.questionnaires.http import FORM, Api, made
from tests.conftest import (
    House,
    client as client,  # noqa: PLC0414  a fixture
)

FIRST, WHY, LAST = (f"{name:0<22}" for name in ("first", "why", "last"))
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
VIP = {"subject": "responder_metadata:level", "operator": "equal", "value": "gold"}


def document() -> dict[str, Any]:
    """Three pages; whoever is content, or a gold customer, is not asked why."""
    content = {"subject": f"question:{FIRST}", "operator": "greater_equal", "value": 4}
    jumps = [{"target_question_id": LAST, "conditions": {"any": [content, VIP]}}]
    first = {"type": "csat", "title": "How satisfied?", "required": True, "jumps": jumps}
    greek = {"el": {"title": "Πόσο ικανοποιημένοι;"}}
    pages = [
        {"question_id": FIRST, **first, "translations": greek},
        {"question_id": WHY, "type": "text", "title": "Why?"},
        {"question_id": LAST, "type": "multiple_choice", "title": "Which?", "choices": [
            {"value": 1, "label": "One"}, {"value": 2, "label": "Two"}, {"value": 9, "label": "Other", "other": True}]},
    ]  # fmt: skip
    groups = [{"questions": [page]} for page in pages]
    thanks = {"en": {"thank_you": "Many thanks."}}
    return {"default_locale": "en", "locales": ["en", "el"], "groups": groups, "pages": thanks}


@pytest.fixture
async def path(api: Api) -> str:
    """A questionnaire that was never published."""
    path = f"/q/questionnaire/{await made(api)}"
    assert 200 == (await api.put(f"{path}/draft", document())).status_code
    return path


async def preview(api: Api, path: str, **body: Any) -> str:
    response = await api.post(f"{path}/draft/preview", body)
    assert 200 == response.status_code, response.text
    url: str = response.json()["url"]
    assert url.startswith(f"{api.house.site.public_url}/preview/")
    return url.removeprefix(api.house.site.public_url)


async def go(client: httpx2.AsyncClient, page: httpx2.Response, go: str = "next", **fields: Any) -> httpx2.Response:
    """Send the form of a page, which stays at its address."""
    action = re.search(r'<form method="post" action="([^"]+)"', page.text)
    assert action is not None, page.text
    hidden = {name: unescape(value) for name, value in HIDDEN.findall(page.text)}
    return await client.post(unescape(action[1]), data={**hidden, **fields, "go": go}, headers=FORM)


async def rows(pool: db.Pool) -> list[Any]:
    """The count and the sum of the hashes of the rows of every table, but for those that only tell who was here."""
    async with db.connection(pool) as database:
        tables = await database.fetch(
            """select table_name from information_schema.tables where table_schema = 'public'
                 and table_type = 'BASE TABLE' and table_name not in ('token', 'event_cursor')"""
        )
        query: Any = " union all ".join(
            f"select '{row[0]}', count(*), sum(hashtextextended(t::text, 0)) from {row[0]} t" for row in tables
        )
        return sorted(tuple(row) for row in await database.fetch(query))


async def test_refused(api: Api, neighbour: House, path: str) -> None:
    assert 404 == (await api.post(f"/q/questionnaire/{neighbour.questionnaire_id}/draft/preview")).status_code
    assert 404 == (await api.post(f"/q/questionnaire/{api.house.questionnaire_id}/draft/preview")).status_code
    for brand in ({"color_primary": "red"}, {"colour": "#aabbcc"}, {"logo": "data:image/png;base64,AAAA"}):
        assert 422 == (await api.post(f"{path}/draft/preview", {"brand": brand})).status_code
    for name in ("responder_id", "question_id"):
        wrong = await api.post(f"{path}/draft/preview", {name: "z" * 22})
        assert [(f"/{name}", "unknown_id")] == api.wrong(wrong)
    token = await api.token(scopes=["Questionnaire.Read"])
    asked = await api.post(f"{path}/draft/preview", {"responder_id": "z" * 22}, token=token)
    assert (403, ["Responder.Read"]) == (asked.status_code, asked.json()["required_scopes"])
    address = await preview(api, path)
    for wrong_address in (address[:-2] + "AA", "/preview/x", "/preview/" + "A" * 300, "/preview/%00"):
        assert 404 == (await api.client.get(wrong_address)).status_code
        assert 404 == (await api.client.post(wrong_address, data={"go": "next"}, headers=FORM)).status_code
    await api.delete(f"{path}/draft")
    assert 200 == (await api.client.get(address)).status_code  # the published version


async def test_it_ends(api: Api, path: str) -> None:
    async with db.connection(api.pool) as database:
        questionnaire_id = path.rpartition("/")[2]
        old = previews.Permission(
            api.house.organization_id, questionnaire_id, None, int(database.clock.now().timestamp())
        )
    address = previews.address_of(old, site=api.house.site).removeprefix(api.house.site.public_url)
    page = await api.client.get(address)
    assert (410, True) == (page.status_code, "This preview has ended" in page.text)
    assert 410 == (await api.client.get(f"{address}/mail")).status_code
    now = datetime.now(UTC)
    with pytest.raises(previews.Ended):
        previews.read(address.removeprefix(previews.PATH), secret=api.house.site.secret, now=now + timedelta(seconds=5))
    with pytest.raises(errors.NotFound):
        previews.read(address.removeprefix(previews.PATH), secret=b"other" * 7, now=now)


async def test_walked_through(api: Api, path: str) -> None:
    """Answers decide about jumps, errors stand beside the question, Back shows what was given, and no row changes."""
    client, before = api.client, await rows(api.pool)
    address = await preview(api, path)
    first = await client.get(address)
    assert 200 == first.status_code
    policy = first.headers["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in policy
    assert "default-src 'none'" in policy
    assert ("no-referrer", "noindex", "no-store") == tuple(
        first.headers[name] for name in ("Referrer-Policy", "X-Robots-Tag", "Cache-Control")
    )
    assert "Preview. Nothing that you enter is kept." in first.text
    assert "/theme/" not in first.text.replace("&#x2f;", "/")
    for level in ("organization", "application"):
        brand = {"color_primary": "#aa3300", "font": "serif"}
        body = {"brand": brand, "brand_level": level, "locale": "el"}
        urls = (await api.post(f"{path}/draft/preview", body)).json()
        page, mail = [
            await client.get(urls[name].removeprefix(api.house.site.public_url)) for name in ("url", "mail_url")
        ]
        assert "/theme/paa3300fserif.css" in page.text.replace("&#x2f;", "/")
        assert (200, True) == (mail.status_code, "#aa3300" in mail.text)
        assert "Πόσο ικανοποιημένοι;" in mail.text
        assert "frame-ancestors 'self'" in mail.headers["Content-Security-Policy"]
        query = "&scheme=dark"
        page, mail = [
            await client.get(urls[name].removeprefix(api.house.site.public_url) + query) for name in ("url", "mail_url")
        ]
        assert "/theme/paa3300fserifdark.css" in page.text.replace("&#x2f;", "/")
        assert "prefers-color-scheme" not in mail.text
    assert "data-view" not in first.text
    wrong = await go(client, first)
    assert (422, True) == (wrong.status_code, "Please answer this question." in wrong.text)
    why = await go(client, wrong, **{f"q_{FIRST}": "2"})
    assert (200, True) == (why.status_code, "Why?" in why.text)
    back = await go(client, why, "back", **{f"q_{WHY}": "It was <late>."})
    assert re.search(r'value="2"[^>]* checked', back.text)
    last = await go(client, back, **{f"q_{FIRST}": "5"})
    assert ("Which?" in last.text, "Why?" in last.text) == (True, False)
    again = await go(client, await go(client, last, "back"), **{f"q_{FIRST}": "1"})
    assert "It was &lt;late&gt;." in again.text, "what was written stays"
    which = await go(client, again, **{f"q_{WHY}": ""})
    end = await go(client, which, "send", **{f"q_{LAST}": ["1", "9"], f"q_{LAST}_other": "x"})
    assert 200 == end.status_code
    assert "Many thanks." in end.text
    assert "This was a preview: nothing was kept." in end.text
    assert before == await rows(api.pool)
    junk = await client.post(
        address, data={"go": "send", "page": "9", "start": "q_%ff=1&x", "layout": "nonsense"}, headers=FORM
    )
    assert junk.status_code in {200, 400, 422}


async def test_as_somebody_and_in_a_language(api: Api, path: str) -> None:
    """A person's metadata decide jumps, and their language is the page's; one question opens without jumps."""
    body = {"email": "gold@example.com", "locale": "el", "metadata": {"level": "gold"}}
    person = await api.post("/q/responder", body)
    assert 201 == person.status_code, person.text
    seen = await api.client.get(await preview(api, path, responder_id=person.json()["responder_id"]))
    assert "Πόσο ικανοποιημένοι;" in seen.text
    assert "Which?" in (await go(api.client, seen, **{f"q_{FIRST}": "1"})).text
    english = await api.client.get(await preview(api, path, responder_id=person.json()["responder_id"], locale="en"))
    assert "How satisfied?" in english.text
    opened = await api.client.get(await preview(api, path, question_id=LAST))
    assert "Which?" in opened.text
    why = await go(api.client, opened, "back")
    assert "Why?" in why.text
    # A draft that is wrong is shown as far as it can be read, and one that was changed as it stands now.
    address = await preview(api, path)
    await api.put(f"{path}/draft", {"default_locale": "en", "groups": [{"questions": [{"title": "Odd?", "type": 7}]}]})
    assert 200 == (await api.client.get(address)).status_code
    await api.put(f"{path}/draft", {"default_locale": "en", "groups": []})
    assert 200 == (await api.client.get(address)).status_code


async def test_endings(api: Api, path: str) -> None:
    """Each ending by its id, and the one that the answers lead to."""
    content = {"subject": f"question:{FIRST}", "operator": "equal", "value": 5}
    endings = [
        {"ending_id": "a" * 22, "conditions": content, "title": "Wonderful", "review_url": "https://r.example/"},
        {
            "ending_id": "b" * 22,
            "text": "We shall do better.",
            "call_back": True,
            "translations": {"el": {"text": "Θα βελτιωθούμε."}},
        },
    ]
    await api.put(f"{path}/draft", {**document(), "endings": endings})
    assert [("/ending_id", "unknown_id")] == api.wrong(await api.post(f"{path}/draft/preview", {"ending_id": "c" * 22}))
    second = await api.client.get(await preview(api, path, ending_id="b" * 22, locale="el"))
    assert ("Θα βελτιωθούμε." in second.text, "<fieldset disabled>" in second.text) == (True, True)
    page = await api.client.get(await preview(api, path))
    page = await go(api.client, page, **{f"q_{FIRST}": "5"})
    end = await go(api.client, page, "send")
    assert "<h1>Wonderful</h1>" in end.text
    link = '<a class="button" href="https://r.example/" rel="noopener noreferrer">Write a review</a>'
    assert link in unescape(end.text)


NOW = datetime(2026, 11, 25, tzinfo=UTC)


@pytest.mark.parametrize("name", library.NAMES)
@pytest.mark.parametrize("color", ["", "#aa3300", "nonsense"])
def test_each(name: str, color: str) -> None:
    file = files.read(library.text(name), give_id=lambda _, key: key)
    first = next(iter(file.definition.questions()))
    for locale in (*file.definition.locales, "fr"):
        theme = visuals.inherited({"color_primary": color})
        page = first_page(file, brand="<Books>", theme=theme, locale=locale, time_zone="UTC", now=NOW)
        text = bytes(page.body).decode()
        assert 200 == page.status_code
        assert first.question_id in text
        assert "<Books>" not in text
        assert ("/theme/paa3300.css" in text.replace("&#x2f;", "/")) == (color == "#aa3300")
