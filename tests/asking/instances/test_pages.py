"""Answer pages whose questions follow from answers: asked on the same page or a later one, dropped when hidden."""

import re
from html import unescape
from typing import Any

import httpx2
import pytest

from afterword.core.answers.values import field_name
from tests.asking.questionnaires.http import FORM, Api, definition, published
from tests.browser import markup
from tests.sending.previews.test_pages import go

BRANCH, TOWN, MANY, WHY = (f"{name:0<22}" for name in ("branch", "town", "many", "why"))


def leaf(question_id: str, value: object) -> dict[str, object]:
    return {"subject": f"question:{question_id}", "operator": "equal", "value": value}


def document() -> dict[str, Any]:
    """The town is asked beside the branch if it is elsewhere, and the reason on the next page if the town is known."""
    choices = [{"value": 1, "label": "Athens"}, {"value": 2, "label": "Elsewhere"}]
    first = [
        {"question_id": BRANCH, "type": "single_choice", "title": "Where?", "required": True, "choices": choices},
        {"question_id": TOWN, "type": "text", "title": "Which town?", "required": True, "show_if": leaf(BRANCH, 2)},
        {"question_id": MANY, "type": "number", "title": "How often?", "show_if": leaf(BRANCH, 1)},
    ]
    why = {"question_id": WHY, "type": "text", "title": "Why there?"}
    known = {"subject": f"question:{TOWN}", "operator": "is_not_empty"}
    return {"default_locale": "en", "groups": [{"questions": first}, {"questions": [{**why, "show_if": known}]}]}


async def send(
    client: httpx2.AsyncClient, page: httpx2.Response, go: str = "next", **given: str
) -> tuple[int, httpx2.Response]:
    """The status of the posted form, and the page that the browser shows then."""
    action = re.search(r'<form method="post" action="([^"]+)"', page.text)
    assert action is not None, page.text
    names = {"branch": BRANCH, "town": TOWN, "many": MANY}
    typed = {field_name(names[name]) if name in names else name: text for name, text in given.items()}
    sent = await client.post(
        unescape(action[1]), data={**markup.read(page.text).fields, **typed, "go": go}, headers=FORM
    )
    return sent.status_code, await client.get(sent.headers["location"]) if sent.status_code == 303 else sent


@pytest.mark.parametrize("is_public", [True, False])
async def test_another_language(api: Api, is_public: bool) -> None:  # noqa: FBT001  two ways to one page
    """Its button keeps what was answered and what is wrong; languages without texts are not offered."""
    first = {"question_id": MANY, "type": "number", "title": "How often?",
             "translations": {"el": {"title": "Πόσο συχνά;"}, "ar": {"title": "كم مرة؟"}}}  # fmt: skip
    several = {"default_locale": "en", "locales": ["en", "el", "ar", "de"], "groups": [{"questions": [first]}]}
    questionnaire_id, _ = await published(api, several, public_link=True)
    address = f"/p/{questionnaire_id}"
    if not is_public:
        issued = (await api.post(f"/q/questionnaire/{questionnaire_id}/instance")).json()
        address = f"/a/{issued['instance_id']}"
    page = await api.client.get(address)
    assert ["locale:el", "locale:ar"] == re.findall(r'value="(locale:\w+)"', page.text)
    _, greek = await send(api.client, page, "locale:el", many="7")
    assert '<html lang="el" dir="ltr">' in greek.text
    assert ("Πόσο συχνά;" in greek.text, 'value="7"' in greek.text) == (True, True)
    _, arabic = await send(api.client, greek, "locale:ar", many="x7")
    assert '<html lang="ar" dir="rtl">' in arabic.text
    assert 'value="x7"' in arabic.text
    _, same = await send(api.client, arabic, "locale:de", many="8")
    assert '<html lang="ar" dir="rtl">' in same.text
    status, end = await send(api.client, same, "send", many="8")
    assert (303, True) == (status, '<html lang="ar"' in end.text)


def asked(page: httpx2.Response) -> str:
    return " ".join(title for title in ("Where?", "Which town?", "How often?", "Why there?") if title in page.text)


@pytest.mark.parametrize("is_public", [True, False])
async def test_conditions(api: Api, is_public: bool) -> None:  # noqa: FBT001  two ways to one page
    questionnaire_id, _ = await published(api, document(), public_link=True)
    address = f"/p/{questionnaire_id}"
    if not is_public:
        issued = (await api.post(f"/q/questionnaire/{questionnaire_id}/instance")).json()
        address = f"/a/{issued['instance_id']}"
    page = await api.client.get(address)
    assert 200 == page.status_code, page.text
    assert ("Where?", True) == (asked(page), ">Next<" in page.text)
    assert 422 == (await send(api.client, page))[0]

    status, page = await send(api.client, page, branch="2")
    assert (303, "Where? Which town?", False) == (status, asked(page), 'aria-invalid="true"' in page.text)
    status, wrong = await send(api.client, page, branch="2")
    assert (422, "Please answer this question." in wrong.text) == (status, True)
    status, other = await send(api.client, wrong, branch="1", many="x")  # of a question that was not on the page
    assert (303, "Where? How often?") == (status, asked(other))
    status, page = await send(api.client, other, branch="2", many="often")  # wrong, but hidden by now
    assert (303, "Where? Which town?") == (status, asked(page))
    status, page = await send(api.client, page, branch="2", town="Volos")
    assert (303, "Why there?") == (status, asked(page))
    status, page = await send(api.client, page, go="back")
    status, page = await send(api.client, page, branch="1")
    assert "Where? How often?" == asked(page)
    status, page = await send(api.client, page, branch="1", many="3")
    assert "That was the last question" in page.text
    status, page = await send(api.client, page, go="send")
    assert "Thank you" in page.text

    instance_id = page.url.path.rsplit("/", 1)[1]
    kept = (await api.get(f"/q/instance/{instance_id}/response/content")).json()
    assert {BRANCH: 1, MANY: 3} == {one["question_id"]: one["value"] for one in kept["answers"]}


SCORE = "q" * 22
HAPPY = {"subject": f"question:{SCORE}", "operator": "equal", "value": 10}
ENDINGS: list[dict[str, Any]] = [
    {"conditions": {"not": HAPPY}, "title": "Sorry"},
    {
        "title": "Great <b>",
        "button_label": "To the shop & more",
        "button_url": "https://shop.example/?o={{ questionnaire.transaction_id | none }}&n={{ responder.email | x }}",
    },
]


async def test_endings(api: Api) -> None:
    question = {"question_id": SCORE, "type": "nps", "title": "Would you recommend us?", "required": True}
    questionnaire_id, _ = await published(api, definition(question, endings=ENDINGS))
    await api.patch(f"/q/questionnaire/{questionnaire_id}", {"public_link": True})
    link = f"/p/{questionnaire_id}/ref/1042-x?transaction_id=1/0%2642"
    instance_id = await api.start(link)
    sent = await go(api.client, await api.client.get(f"/a/{instance_id}"), "send", **{f"q_{SCORE}": "10"})
    assert f"/a/{instance_id}" == sent.headers["Location"]
    end = await api.client.get(f"/a/{instance_id}")
    assert "<h1>Great &lt;b&gt;</h1>" in end.text
    assert 'href="https://shop.example/?o=1%2F0%2642&n=x"' in unescape(end.text)
    assert ">To the shop &amp; more</a>" in end.text
    assert "Sorry" not in end.text
    # The reference alone tells nothing of the answers.
    by_reference = await api.client.get(link)
    assert "<h1>Thank you</h1>" in by_reference.text
    assert "shop.example" not in by_reference.text
