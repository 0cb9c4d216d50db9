"""Pages load only the files that their questions need, and a theme has its own."""

import base64

import pytest

from afterword.asking.instances import rendering
from afterword.core.questionnaires.visuals import Theme


@pytest.mark.parametrize(
    ("kinds", "styles", "scripts"),
    [([], 0, 0), (["text", "scale"], 0, 0), (["matrix"], 1, 0), (["ranking", "matrix"], 1, 1)],
)
def test_files(kinds: list[str], styles: int, scripts: int) -> None:
    found = rendering.files_of(kinds)
    assert (styles, scripts) == (len(found["styles"]), len(found["scripts"]))
    assert 1 == len(rendering.files_of(kinds, has_pictures=True)["styles"])


def test_without_any() -> None:
    assert ("", None) == (rendering.logo_url(Theme(), "q"), rendering.logo_of(Theme()))


def test_logo() -> None:
    with_logo = Theme(logo="data:image/png;base64," + base64.b64encode(b"picture").decode())
    logo = rendering.logo_of(with_logo)
    assert logo is not None
    assert (b"picture", "image/png") == (logo.content, logo.media_type)
    assert f"/p/q/logo?v={logo.fingerprint}" == rendering.logo_url(with_logo, "q")
