"""Pictures of forms: none, a wrong one, and one that becomes smaller."""

import io

import pytest
from PIL import Image

from afterword import errors
from afterword.console.screens import Form
from afterword.console.settings import pictures


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
