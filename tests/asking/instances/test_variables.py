"""Answers and metadata in the texts of pages: in the reader's language, escaped, and never somebody else's."""

from typing import Any

import httpx2

from afterword.core.answers.values import field_name
from tests.asking.instances.test_pages import send
from tests.asking.questionnaires.http import Api, published

WHERE, MANY, DAY, LAST = (f"{name:0<22}" for name in ("where", "many", "day", "last"))
ISOLATES = str.maketrans("", "", "\u2068\u2069")


def document() -> dict[str, Any]:
    choices = [{"value": 1, "label": "Athens"}, {"value": 2, "label": "Elsewhere", "other": True, "points": 12}]
    title = (
        f"{{{{ answer.{WHERE} | nowhere }}}}; {{{{ answer.{MANY} | never }}}}; {{{{ answer.{DAY} | some day }}}}; "
        "{{ questionnaire.store_id | no store }}; {{ questionnaire.store_pickup }}; {{ questionnaire.score }} points"
    )
    greek = {"title": title.replace("nowhere", "πουθενά").replace("never", "ποτέ")}
    return {
        "default_locale": "en",
        "locales": ["en", "el"],
        "groups": [
            {
                "questions": [
                    {"question_id": WHERE, "type": "single_choice", "title": "Where?", "choices": choices,
                     "translations": {"el": {"choices": {"1": "Αθήνα"}}}},
                    {"question_id": MANY, "type": "number", "decimals": 1, "title": "How often?"},
                    {"question_id": DAY, "type": "date", "title": "When?"},
                ]
            },
            {"questions": [{"question_id": LAST, "type": "text", "title": title, "translations": {"el": greek}}]},
        ],
        "pages": {
            "en": {"welcome": "To {{ questionnaire.store_id | all }}", "thank_you": f"{{{{ answer.{WHERE} }}}}!"}
        },
    }  # fmt: skip


def text_of(page: httpx2.Response) -> str:
    return page.text.translate(ISOLATES)


async def test_variables(api: Api) -> None:
    questionnaire_id, _ = await published(api, document(), public_link=True)
    page = await api.client.get(f"/p/{questionnaire_id}?store_id=<b>7%26&store_pickup=1")
    assert "To &lt;b&gt;7&amp;" in text_of(page)
    fields = {field_name(WHERE): "2", field_name(WHERE, "other"): "<i>Volos</i>", field_name(MANY): "2.5"}
    status, page = await send(api.client, page, **{**fields, field_name(DAY): "2026-11-05"})
    assert 303 == status
    assert "&lt;i&gt;Volos&lt;&#x2f;i&gt;; 2.5; November 5, 2026; &lt;b&gt;7&amp;; Yes; 12 points" in text_of(page)
    _, page = await send(api.client, page, go="send")
    stored = (await api.get(f"/q/instance/{page.url.path.rsplit('/', 1)[1]}/response/content")).json()
    assert "12" == stored["metadata"]["questionnaire"]["score"]
    assert "&lt;i&gt;Volos&lt;&#x2f;i&gt;!" in text_of(page)

    page = await api.client.get(f"/p/{questionnaire_id}?locale=el")
    _, page = await send(api.client, page, **{field_name(WHERE): "1"})
    assert "Αθήνα; ποτέ; some day; no store; ; 0 points" in text_of(page)


async def test_not_to_who_only_knows_the_reference(api: Api) -> None:
    questionnaire_id, _ = await published(api, document(), public_link=True)
    issued = await api.post(f"/q/questionnaire/{questionnaire_id}/instance", {"reference_id": "order-1"})
    address = f"/a/{issued.json()['instance_id']}"
    _, page = await send(api.client, await api.client.get(address), **{field_name(WHERE): "1"})
    assert "nowhere; never" in text_of(page)
    assert "Athens" not in page.text
