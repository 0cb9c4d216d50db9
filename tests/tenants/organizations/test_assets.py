"""Pictures over HTTP: refused, stored once, served for ever, and kept while something shows them."""

import io
from typing import Any

import httpx2
import pytest
from PIL import Image

from afterword.tenants.organizations import assets
from tests.conftest import build_house
from tests.tenants.organizations.conftest import Desk

SCRIPT = b"<script>alert(1)</script>"
PNG = {"Content-Type": "image/png"}


def picture(color: Any = (10, 120, 80)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (40, 20), color).save(file, "PNG")
    return file.getvalue()


class TestRefused:
    async def test_api(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        _, some = await desk.person("owner", application_ids=[await desk.application()])
        for headers in ({"Content-Type": "image/svg+xml"}, {"Content-Type": "text/html"}, {}):
            assert 415 == (await desk.ask("POST", "/asset", content=picture(), headers=headers)).status_code
        long = {**PNG, "Content-Length": str(assets.UPLOAD_BYTES_MAX + 1)}
        assert 413 == (await desk.ask("POST", "/asset", content=b"", headers=long)).status_code
        assert 422 == (await desk.ask("POST", "/asset", content=SCRIPT, headers=PNG)).status_code
        assert 422 == (await desk.ask("POST", "/asset?side_max=1601", content=picture(), headers=PNG)).status_code
        made = await desk.ask("POST", "/asset", some, content=picture(), headers=PNG)
        assert 201 == made.status_code, made.text
        assert 403 == (await desk.ask("DELETE", f"/asset/{made.json()['asset_id']}", some)).status_code
        monkeypatch.setattr(assets, "BYTES_MAX", made.json()["bytes"])
        full = await desk.ask("POST", "/asset", content=picture(color=(1, 2, 3)), headers=PNG)
        assert ["too_many"] == [each["code"] for each in full.json()["errors"]]

    async def test_others(self, desk: Desk) -> None:
        """Another organization has a row of its own for the same picture, and cannot reach ours."""
        ours = (await desk.ask("POST", "/asset", content=picture(), headers=PNG)).json()
        other = await build_house(desk.pool, domain="other")
        theirs = await desk.ask("POST", "/asset", other.token, content=picture(), headers=PNG)
        assert ours["asset_id"] != theirs.json()["asset_id"]
        for method in ("GET", "DELETE"):
            assert 404 == (await desk.ask(method, f"/asset/{ours['asset_id']}", other.token)).status_code


class TestKept:
    async def test_ok(self, desk: Desk, client: httpx2.AsyncClient) -> None:
        """Made from a form, listed once however often it comes, served for ever, and deleted."""
        form = {"file": ("../logo.png", picture(), "image/png")}
        made = await desk.ask("POST", "/asset", files=form, data={"side_max": "32"})
        assert 201 == made.status_code, made.text
        asset = made.json()
        assert ("logo.png", "image/png", 32, 16) == tuple(
            asset[name] for name in ("title", "media_type", "width", "height")
        )
        again = await desk.ask("POST", "/asset?side_max=32", content=picture(), headers=PNG)
        assert asset == again.json()
        assert [asset] == (await desk.ask("GET", "/asset")).json()["results"]
        assert asset == (await desk.ask("GET", f"/asset/{asset['asset_id']}")).json()

        served = await client.get(asset["path"])
        assert (200, "image/png", asset["bytes"]) == (
            served.status_code, served.headers["content-type"], len(served.content)
        )  # fmt: skip
        assert "public, max-age=31536000, immutable" == served.headers["cache-control"]
        assert "nosniff" == served.headers["x-content-type-options"]
        assert "default-src 'none'; sandbox" == served.headers["content-security-policy"]
        assert asset["url"].endswith(asset["path"])
        for path in (asset["path"].replace("32x16", "16x32"), asset["path"] + "g", f"/asset/{'0' * 22}/a.png"):
            assert 404 == (await client.get(path)).status_code

        # While something shows it, it stays.
        base = f"/q/questionnaire/{desk.house.questionnaire_id}/visual"
        for logo in (asset["path"].replace("32x16", "16x32"), f"/asset/{'0' * 22}/{'0' * 10}-1x1.png"):
            unknown = (await desk.ask("POST", base, json={"title": "Look", "configuration": {"logo": logo}})).json()
            [problem] = unknown["problems"]
            assert ("logo", "unknown_id") == (problem["key"], problem["code"])
            assert unknown == (await desk.ask("GET", f"{base}/{unknown['visual_id']}")).json()
            assert unknown in (await desk.ask("GET", base)).json()
        shown = {"title": "Look", "active": True, "configuration": {"logo": asset["path"]}}
        visual = (await desk.ask("POST", base, json=shown)).json()
        issued = (await desk.ask("POST", f"{base.removesuffix('visual')}instance", json={})).json()
        page = await client.get(httpx2.URL(issued["collection_url"]).path)
        assert f'<img class="logo" src="{asset["path"]}"' in page.text.replace("&#x2f;", "/")
        refused = await desk.ask("DELETE", f"/asset/{asset['asset_id']}")
        assert (409, "in_use") == (refused.status_code, refused.json()["code"])
        assert 204 == (await desk.ask("DELETE", f"{base}/{visual['visual_id']}")).status_code

        assert 204 == (await desk.ask("DELETE", f"/asset/{asset['asset_id']}")).status_code
        assert 404 == (await client.get(asset["path"])).status_code
