"""The copy of a person's data as a page: all that the JSON document has, and never markup of what people wrote."""

from html import escape

from afterword.privacy import profiles
from tests.privacy.conftest import CANARY, Desk, people


async def test_the_page_says_what_the_document_says(desk: Desk) -> None:
    [known] = await people(desk, [CANARY])
    await desk.execute("update alert_comment set body = '<script>alert(1)</script>'")
    path = f"/q/responder/{known.responder_id}/subject"
    document = (await desk.http.get(path, headers=desk.house.headers)).json()
    page = await desk.http.get(f"{path}?format=html", headers=desk.house.headers)
    assert (200, True) == (page.status_code, page.headers["content-type"].startswith("text/html"))
    assert f'attachment; filename="person-{known.responder_id}.html"' in page.headers["content-disposition"]
    assert "<script" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    for title in profiles.TITLES.values():
        assert f"<h2>{title}</h2>" in page.text
    assert set(profiles.TITLES) == set(document) - {"generated_time"}
    missing = [text for text in texts_of(document) if escape(text) not in page.text]
    assert [document["generated_time"]] == missing or [] == missing


def texts_of(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts_of(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts_of(each)]
    return [value] if isinstance(value, str) and value else []


async def test_wrong_format(desk: Desk) -> None:
    [known] = await people(desk, [CANARY])
    wrong = await desk.ask("GET", f"/q/responder/{known.responder_id}/subject?format=pdf", status=422)
    assert ["format"] == [each["parameter"] for each in wrong["errors"]]


def test_values() -> None:
    assert "<dl>\n<dt>given name</dt><dd>yes</dd>\n</dl>\n" == profiles.part({"given_name": True, "nothing": None})
    assert "<br>" in profiles.part({"lines": ["a", "b"]})
