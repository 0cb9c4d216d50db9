"""Translations of a draft over HTTP: listed, saved, marked when their text changes, out and in as files."""

from typing import Any

import pytest

from tests.asking.questionnaires.http import Api, definition, made, only

QUESTION = {
    "question_id": "q" * 22,
    "type": "nps",
    "title": "Would you recommend us?",
    "low_label": "No",
    "required": True,
}
CSV = {"Content-Type": "text/csv"}


@pytest.fixture
async def path(api: Api) -> str:
    """A draft in English, with a Greek title of its question alone."""
    path = f"/q/questionnaire/{await made(api, title='Your visit')}"
    translated = {**QUESTION, "translations": {"el": {"title": "Θα μας συστήνατε;"}}}
    saved = await api.put(f"{path}/draft", definition(translated, locales=["en", "el"]))
    assert 200 == saved.status_code, saved.text
    return path


async def listed(api: Api, path: str, locale: str = "el") -> dict[str, Any]:
    response = await api.get(f"{path}/draft/translations?locale={locale}")
    assert 200 == response.status_code, response.text
    return response.json()


async def test_refused(api: Api, path: str) -> None:
    address = f"{path}/draft/translations"
    body = {"locale": "el", "texts": []}
    for wrong in ("en", "english"):
        assert 422 == (await api.get(f"{address}?locale={wrong}")).status_code
        assert 422 == (await api.put(address, {**body, "locale": wrong})).status_code
    sent = await api.client.post(
        f"/v3.2{address}/file?locale=el",
        content=b"<!DOCTYPE x><xliff version='1.2'/>",
        headers={"Authorization": f"Bearer {api.house.token}", "Content-Type": "application/xliff+xml"},
    )
    assert [("", "invalid_format")] == api.wrong(sent)


async def test_saved_and_marked(api: Api, path: str) -> None:
    """A text that changes marks its translations, until they are changed or confirmed, also through a publication."""
    found = await listed(api, path)
    states = {(one["question_id"], one["member"]): one["state"] for one in found["texts"]}
    assert {(None, "title"): "missing", ("q" * 22, "title"): "translated", ("q" * 22, "low_label"): "missing"} == states
    assert (3, 2, 0) == (found["texts_count"], found["missing_count"], found["changed_count"])
    key = f"{'q' * 22}/title"
    document = (await api.get(f"{path}/draft")).json()["definition"]
    only(document)["title"] = "Would you tell a friend about us?"
    await api.put(f"{path}/draft", document)
    assert 201 == (await api.post(f"{path}/version")).status_code
    found = await listed(api, path)
    [changed] = [one for one in found["texts"] if one["state"] == "source_changed"]
    assert (key, "Would you recommend us?", 1) == (changed["key"], changed["source_before"], found["changed_count"])
    texts = [
        {"key": key, "target": changed["target"]},
        {"key": "title", "target": "Επίσκεψη"},
        {"key": "old/title"},
    ]
    saved = (await api.put(f"{path}/draft/translations", {"locale": "el", "texts": texts})).json()
    assert (1, 0, ["old/title"]) == (saved["missing_count"], saved["changed_count"], saved["unknown_keys"])
    draft = (await api.get(f"{path}/draft")).json()["definition"]
    assert {"title": "Επίσκεψη"} == draft["translations"]["el"]
    removed = {"locale": "el", "texts": [{"key": key, "target": None}]}
    assert 2 == (await api.put(f"{path}/draft/translations", removed)).json()["missing_count"]
    new = {"locale": "de", "texts": [{"key": key, "target": "Würden Sie uns empfehlen?"}]}
    assert 200 == (await api.put(f"{path}/draft/translations", new)).status_code
    assert ["en", "el", "de"] == (await api.get(f"{path}/draft")).json()["definition"]["locales"]


@pytest.mark.parametrize(("form", "media_type"), [("csv", "text/csv"), ("xliff", "application/xliff+xml")])
async def test_out_and_in(api: Api, path: str, form: str, media_type: str) -> None:
    """A file goes out, is filled in, and comes back; what was changed meanwhile is saved and stays marked."""
    address = f"{path}/draft/translations/file?locale=el"
    response = await api.get(f"{address}&format={form}")
    assert 200 == response.status_code, response.text
    assert response.headers["Content-Type"].startswith(media_type)
    text = response.text.replace("Θα μας συστήνατε;", "Θα μας συστήνατε σε φίλους;")
    if form == "csv":
        text = text.replace('"No","",', '"No","Όχι",')
    else:
        text = text.replace('<source>No</source><target state="needs-translation">', "<source>No</source><target>Όχι")
    document = (await api.get(f"{path}/draft")).json()["definition"]
    only(document)["low_label"] = "Never"
    await api.put(f"{path}/draft", document)
    headers = {"Authorization": f"Bearer {api.house.token}", "Content-Type": media_type}
    sent = await api.client.post(f"/v3.2{address}", content=text.encode(), headers=headers)
    assert 200 == sent.status_code, sent.text
    found = {one["member"]: (one["target"], one["state"]) for one in sent.json()["texts"] if one["question_id"]}
    assert {
        "title": ("Θα μας συστήνατε σε φίλους;", "translated"), "low_label": ("Όχι", "source_changed")
    } == found  # fmt: skip
    assert sent.json() == await listed(api, path)


async def test_states_of_translators(api: Api, path: str) -> None:
    """A copied source is no translation, and one that its translator doubts is marked until somebody confirms it."""
    address = f"{path}/draft/translations/file?locale=el"
    text = (await api.get(f"{address}&format=xliff")).text
    assert "<note>Low label of the question “Would you recommend us?”</note>" in text
    key = f"{QUESTION['question_id']}/title"
    text = text.replace('<target state="needs-translation"></target>', '<target state="needs-translation">No</target>')
    text = text.replace(' approved="yes"', "").replace('state="translated"', 'state="needs-review-translation"')
    headers = {"Authorization": f"Bearer {api.house.token}", "Content-Type": "application/xliff+xml"}
    for _ in range(2):
        sent = await api.client.post(f"/v3.2{address}", content=text.encode(), headers=headers)
        assert 200 == sent.status_code, sent.text
        found = {one["key"]: (one["target"], one["state"], one["source_before"]) for one in sent.json()["texts"]}
        assert ("Θα μας συστήνατε;", "source_changed", None) == found[key]
        assert (None, "missing", None) == found[f"{QUESTION['question_id']}/low_label"]
    body = {"locale": "el", "texts": [{"key": key, "target": "Θα μας συστήνατε;"}]}
    confirmed = await api.put(f"{path}/draft/translations", body)
    assert {"translated"} == {one["state"] for one in confirmed.json()["texts"] if one["key"] == key}
