"""Pictures: encoded again where a form has one, listed with their uses, removed."""

import html
import io
import re

import pytest
from PIL import Image

from afterword import errors
from afterword.console.screens import Form
from afterword.tenants.screens import pictures
from tests.contract.world import PIXEL
from tests.sending.screens.test_pipelines import version_of
from tests.tenants.logins.conftest import Browser

PICTURES = "/console/settings/pictures"


async def test_encoded() -> None:
    assert await pictures.encoded(Form({}), "logo") is None
    with pytest.raises(errors.Invalid) as caught:
        await pictures.encoded(Form({}, {"logo": b"<svg/>"}), "logo")
    assert ["/logo"] == [each.pointer for each in caught.value.errors]
    file = io.BytesIO()
    Image.new("RGB", (1280, 320)).save(file, "PNG")
    found = await pictures.encoded(Form({}, {"logo": file.getvalue()}), "logo")
    assert found is not None
    assert (640, 160) == (found.width, found.height)


async def test_list(browser: Browser) -> None:
    """Uploaded, shown with its uses, and removed once nothing uses it."""
    for files in ({"file": ("a.png", b"no picture")}, {"other": ("a.png", PIXEL)}):
        wrong = await browser.post(PICTURES, data={"title": "Our logo"}, files=files)
        assert 422 == wrong.status_code
        assert 'href="#file"' in wrong.text
        assert "Our logo" in wrong.text
    assert 303 == (await browser.post(PICTURES, data={"title": "Our logo"}, files={"file": ("a", PIXEL)})).status_code
    page = html.unescape((await browser.get(PICTURES)).text)
    [path] = re.findall(rf'href="({PICTURES}/\w{{22}})"', page)
    [src] = re.findall(r'<img src="(/asset/[^"]+)"', page)
    assert "Our logo" in (await browser.get(path)).text
    brand = "/console/settings/brand"
    await browser.post(brand, data={"logo": src, "version": version_of(await browser.get(brand))})
    page = await browser.get(path)
    assert "Kalamata Books" in page.text.split("Used in")[1]
    assert "Remove the picture" not in page.text
    assert f'<p class="house"><img src="{src}" class="logo" alt="">Kalamata Books</p>' in html.unescape(page.text)
    assert 409 == (await browser.get(f"{path}/removal")).status_code
    assert 409 == (await browser.post(f"{path}/removal")).status_code
    await browser.post(brand, data={"logo": "", "version": version_of(await browser.get(brand))})
    assert "Nothing uses it" in (await browser.get(f"{path}/removal")).text
    assert 303 == (await browser.post(f"{path}/removal")).status_code
    assert 404 == (await browser.get(path)).status_code
