"""Posted pages with files: how large a body may be, and where no files are asked for."""

from tests.asking.instances.files.test_service import ASKED, OTHER, send, shown
from tests.asking.questionnaires.http import Api, definition, published
from tests.core.answers.test_files import PDF


async def test_bodies_are_bounded_before_they_are_read(api: Api) -> None:
    plain, _ = await published(api, definition(OTHER), public_link=True)
    page = await api.client.get(f"/p/{plain}")
    refused = await send(api.client, page, ("a.pdf", PDF + b" " * 1_100_000), why="7")
    assert (413, True) == (refused.status_code, "The files are too large." in shown(refused))
    with_files, _ = await published(api, definition(ASKED, OTHER), public_link=True)
    page = await api.client.get(f"/p/{with_files}")
    told = await send(api.client, page, ("a.pdf", PDF + b" " * 1_100_000), why="7")
    assert (422, True) == (told.status_code, "“a.pdf” is too large" in shown(told))
    assert 413 == (await send(api.client, page, ("a.pdf", PDF + b" " * 13_000_000), why="7")).status_code


async def test_a_kiosk_asks_for_none(api: Api) -> None:
    """It answers without a connection, and what is required there does not keep a response from its end."""
    questionnaire_id, _ = await published(api, definition(ASKED, OTHER))
    link = (await api.post(f"/q/questionnaire/{questionnaire_id}/link", {"title": "Till", "kiosk": {}})).json()
    path = link["url"].removeprefix(api.house.site.public_url) + "/kiosk"
    page = await api.client.get(path)
    assert ('type="file"' in page.text, "multipart" in page.text, "How often?" in page.text) == (False, False, True)
    done = await send(api.client, page, go="send", why="7")
    assert "Thank you" in done.text
