"""Files that people answer with: sent on pages without scripts, kept with the answer, given out, and gone with it."""

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image

from afterword.asking.instances import files, files as instances_files
from afterword.core.answers.values import field_name
from afterword.kit import db
from afterword.privacy import rows
from afterword.run.app import create_app
from tests.asking.questionnaires.http import Api, definition, published
from tests.browser import markup
from tests.core.answers.test_files import PDF
from tests.sending.previews.test_pages import preview

FILES, WHY = f"{'files':0<22}", f"{'why':0<22}"
ASKED: dict[str, Any] = {
    "question_id": FILES, "type": "file", "title": "What was broken?", "required": True, "files_max": 2,
    "bytes_max": 100_000,
}  # fmt: skip
OTHER: dict[str, Any] = {"question_id": WHY, "type": "number", "title": "How often?", "required": True}
Sent = Mapping[str, tuple[str, bytes]]


def photo(color: str = "red") -> bytes:
    """A JPEG with the place where it was taken."""
    content, picture = io.BytesIO(), Image.new("RGB", (60, 40), color)
    exif = Image.Exif()
    exif[0x010E] = "KALAMATA"
    picture.save(content, "JPEG", exif=exif)
    return content.getvalue()


async def send(
    client: httpx2.AsyncClient,
    page: httpx2.Response,
    *files: tuple[str, bytes],
    go: str = "next",
    question_id: str = FILES,
    **given: str,
) -> httpx2.Response:
    """Post the page as a browser without scripts does; its answer, or the page that it leads to."""
    form = re.search(r'<form method="post" action="([^"]+)"( enctype="multipart/form-data")?', page.text)
    assert form is not None, page.text
    typed = {field_name(WHY) if name == "why" else name: text for name, text in given.items()}
    name = field_name(question_id)
    parts = [(name, one) for one in files] or [(name, ("", b""))]
    sent = await client.post(unescape(form[1]), data={**markup.read(page.text).fields, **typed, "go": go}, files=parts)
    return await client.get(sent.headers["location"]) if sent.status_code == 303 else sent


def shown(page: httpx2.Response) -> str:
    """Its text without the marks around names."""
    return re.sub("[\u2068\u2069]", "", page.text)


async def entries(api: Api, instance_id: str) -> list[dict[str, Any]]:
    content = (await api.get(f"/q/instance/{instance_id}/response/content")).json()
    return next((one["value"] for one in content["answers"] if one["question_id"] == FILES), [])


async def count(pool: db.Pool) -> int:
    async with db.connection(pool) as database:
        return await database.fetch_value("select count(*) from response_file")


async def test_from_the_page_to_the_api(api: Api, pool: db.Pool) -> None:
    questionnaire_id, _ = await published(api, definition(ASKED, OTHER), public_link=True)
    page = await api.client.get(f"/p/{questionnaire_id}")
    assert 'type="file"' in page.text
    assert "Allowed: JPG, PNG, WEBP, GIF, PDF. Each file may have 100 kB. Choose up to 2." in shown(page)

    wrong = await send(api.client, page, ("virus.pdf", b"MZ\x90"), why="7")
    assert (422, True, True) == (
        wrong.status_code, "“virus.pdf” is of another kind." in shown(wrong), 'value="7"' in wrong.text,
    )  # fmt: skip
    # The photo is kept although the other answer is wrong; what was sent twice is there once.
    wrong = await send(api.client, page, ("τσάντα.jpeg", photo()), ("", b""), why="often")
    assert (422, True, True) == (wrong.status_code, "τσάντα.jpg" in shown(wrong), 'value="often"' in wrong.text)
    wrong = await send(api.client, wrong, ("again.jpeg", photo()), ("big.pdf", PDF + b" " * 100_000), why="7")
    assert ("“big.pdf” is too large: each file may have 100 kB." in shown(wrong), "again.jpg" in shown(wrong)) == (
        True,
        False,
    )
    for name, content, sentence in (
        ("none.pdf", b"", "“none.pdf” is empty."),
        ("torn.jpg", photo()[:300], "“torn.jpg” cannot be read: it may be damaged."),
    ):
        refused = await send(api.client, wrong, (name, content), why="7")
        assert sentence in shown(refused)
    too_many = await send(api.client, wrong, ("b.pdf", PDF + b"1"), ("c.pdf", PDF + b"2"), why="7")
    assert (422, True) == (too_many.status_code, "Choose up to 2." in shown(too_many))

    instance_id = markup.read(wrong.text).data["action"].removeprefix("/a/")
    [kept] = await entries(api, instance_id)
    assert ("τσάντα.jpg", "image/jpeg") == (kept["name"], kept["type"])
    got = await api.get(f"/q/instance/{instance_id}/file/{kept['file_id']}")
    assert (kept["bytes"], False) == (len(got.content), b"KALAMATA" in got.content)
    assert b"KALAMATA" in photo()  # the place, which was lost
    emptied = await send(api.client, wrong, why="7", **{f"q_{FILES}_remove": kept["file_id"]})
    assert (422, True) == (emptied.status_code, "Please choose a file." in shown(emptied))
    swapped = await send(api.client, wrong, ("bill.pdf", PDF), why="7", **{f"q_{FILES}_remove": kept["file_id"]})
    assert 200 == swapped.status_code
    [bill] = await entries(api, instance_id)
    assert ("bill.pdf", "application/pdf", len(PDF), 1) == (
        bill["name"],
        bill["type"],
        bill["bytes"],
        await count(pool),
    )

    path = f"/q/instance/{instance_id}/file/{bill['file_id']}"
    assert 404 == (await api.get(f"/q/instance/{instance_id}/file/{kept['file_id']}")).status_code
    got = await api.get(path)
    assert (200, PDF) == (got.status_code, got.content)
    headers = ("content-type", "content-disposition", "x-content-type-options", "content-security-policy")
    assert ["application/pdf", 'attachment; filename="bill.pdf"', "nosniff", "default-src 'none'; sandbox"] == [
        got.headers[name] for name in headers
    ]
    async with db.connection(pool) as database:
        noted = await database.fetch_value(
            "select count(*) from audit_entry where action = 'downloaded' and thing_id = $1", instance_id
        )
    assert 2 == noted


@pytest.mark.parametrize("ends", ["erased", "screened out"])
async def test_gone_with_the_answer(api: Api, pool: db.Pool, ends: str) -> None:
    seven = {"subject": f"question:{WHY}", "operator": "equal", "value": 7}
    endings = [{"responses_max": 1, "title": "Full", "conditions": seven}] if ends == "screened out" else []
    questions = [{**one, "required": False} for one in (ASKED, OTHER)]
    questionnaire_id, _ = await published(api, definition(*questions, endings=endings))
    ids = []
    for why in ("7", "7") if ends == "screened out" else ("7",):
        issued = (await api.post(f"/q/questionnaire/{questionnaire_id}/instance")).json()
        page = await api.client.get(f"/a/{issued['instance_id']}")
        page = await send(api.client, page, ("a.pdf", PDF), go="keep")
        assert len(ids) + 1 == await count(pool)
        await send(api.client, page, go="send", why=why)
        ids.append(issued["instance_id"])
    if ends == "erased":
        async with db.transaction(pool) as database:
            await rows.delete_texts(database, organization_id=api.house.organization_id, instance_ids=ids)
    assert len(ids) - 1 == await count(pool)


async def test_a_preview_keeps_nothing(api: Api, pool: db.Pool) -> None:
    questionnaire_id, _ = await published(api, definition(ASKED))
    page = await api.client.get(await preview(api, f"/q/questionnaire/{questionnaire_id}"))
    wrong = await send(api.client, page, ("a.exe", b"MZ\x90"), go="send")
    assert (422, True) == (wrong.status_code, "is of another kind" in shown(wrong))
    assert "This was a preview" in (await send(api.client, page, ("a.pdf", PDF), go="send")).text
    assert 0 == await count(pool)


async def test_scanned_and_in_a_folder(api: Api, pool: db.Pool, tmp_path: Path) -> None:
    """A file that is not found clean is stored nowhere; one that no answer lists any more leaves the folder too."""
    command = ("sh", "-c", "if grep -q EICAR; then exit 1; fi")
    site = replace(api.house.site, file_folder=str(tmp_path), scan_command=command)
    transport = httpx2.ASGITransport(create_app(pool=pool, site=site))
    async with httpx2.AsyncClient(transport=transport, base_url=site.public_url) as client:
        shop = replace(api, client=client)
        questionnaire_id, _ = await published(shop, definition(ASKED, OTHER))
        issued = (await shop.post(f"/q/questionnaire/{questionnaire_id}/instance")).json()
        page = await client.get(f"/a/{issued['instance_id']}")
        refused = await send(client, page, ("bad.pdf", PDF + b"EICAR%%EOF"), why="7")
        assert "“bad.pdf” was refused: it may be harmful." in shown(refused)
        assert [] == on_disk(tmp_path)
        kept = await send(client, page, ("a.pdf", PDF), why="often")
        [entry] = await entries(shop, issued["instance_id"])
        assert [entry["file_id"]] == on_disk(tmp_path)
        path = f"/q/instance/{issued['instance_id']}/file/{entry['file_id']}"
        assert PDF == (await shop.get(path)).content
        await send(client, kept, ("a.pdf", PDF), why="often")  # sent twice: the second copy is listed by nothing
        assert 2 == len(on_disk(tmp_path))
        async with db.transaction(pool) as database:
            now = database.clock.now()
            assert 0 == await database.fetch_value("select count(content) from response_file")
            assert 0 == await instances_files.remove_strays(database, file_folder=str(tmp_path), now=now)
        async with db.transaction(pool) as database:
            later = now + instances_files.UNLISTED_MAX + timedelta(minutes=1)
            assert 1 == await instances_files.remove_strays(database, file_folder=str(tmp_path), now=later)
        assert [entry["file_id"]] == on_disk(tmp_path)
        async with db.transaction(pool) as database:
            key = {"organization_id": api.house.organization_id, "instance_ids": [issued["instance_id"]]}
            await rows.delete_texts(database, **key)
        async with db.transaction(pool) as database:
            assert 1 == await instances_files.remove_strays(database, file_folder=str(tmp_path), now=later)
        assert ([], 404) == (on_disk(tmp_path), (await shop.get(path)).status_code)
        (tmp_path / api.house.organization_id).rmdir()
        (tmp_path / api.house.organization_id).touch()  # no folder can be made there
        assert 503 == (await send(client, page, ("b.pdf", PDF), why="7")).status_code


def on_disk(folder: Path) -> list[str]:
    return [one.name for one in folder.rglob("*") if one.is_file()]


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


def test_written_read_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, key = tmp_path / "files", {"organization_id": "a" * 22, "file_id": "f" * 22}
    assert files.read(root, **key) is None
    files.delete(root, **key)
    files.write(root, **key, content=b"one")
    assert b"one" == files.read(root, **key)
    assert [root / key["organization_id"] / key["file_id"]] == [one for one in root.rglob("*") if one.is_file()]
    assert 0 == (root / key["organization_id"]).stat().st_mode & 0o077

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        files.write(root, **{**key, "file_id": "g" * 22}, content=b"two")
    assert files.read(root, organization_id=key["organization_id"], file_id="g" * 22) is None
    files.delete(root, **key)
    assert files.read(root, **key) is None


@pytest.mark.parametrize(
    ("command", "result"),
    [
        (["true"], "clean"),
        (["grep", "-qv", "EICAR"], "harmful"),
        (["grep", "-q", "EICAR"], "clean"),
        (["sh", "-c", "exit 2"], "unchecked"),
        (["sh", "-c", "kill -9 $$"], "unchecked"),
        (["sh", "-c", 'test -z "$AFTERWORD_SECRET"'], "clean"),
        (["no-such-program-anywhere"], "unchecked"),
        (["sleep", "60"], "unchecked"),
    ],
)
async def test_results(command: list[str], result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_SECRET", "s" * 32)
    assert result == await files.scan(command, b"EICAR" + b"x" * 200_000, seconds=0.5)
