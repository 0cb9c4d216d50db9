"""The addresses of a theme's files: a logo's has its fingerprint, and pages load only what their questions need."""

import base64

import pytest

from afterword.core.questionnaires.visuals import Theme
from afterword.instances import logos, rendering


def test_without_any() -> None:
    assert ("", "", None) == (
        logos.style_url(Theme()),
        logos.logo_url(Theme(), "q"),
        logos.logo_of(Theme()),
    )


def test_logo() -> None:
    with_logo = Theme(logo="data:image/png;base64," + base64.b64encode(b"picture").decode())
    logo = logos.logo_of(with_logo)
    assert logo is not None
    assert (b"picture", "image/png") == (logo.content, logo.media_type)
    assert f"/p/q/logo?v={logo.fingerprint}" == logos.logo_url(with_logo, "q")


@pytest.mark.parametrize(
    ("kinds", "styles", "scripts"),
    [([], 0, 0), (["text", "scale"], 0, 0), (["matrix"], 1, 0), (["ranking", "matrix"], 1, 1)],
)
def test_files(kinds: list[rendering.Kind], styles: int, scripts: int) -> None:
    found = rendering.files_of(kinds)
    assert (styles, scripts) == (len(found.styles), len(found.scripts))
    assert 1 == len(rendering.files_of(kinds, has_pictures=True).styles)
