"""The addresses of a theme's files: a logo's has its fingerprint."""

import base64

from afterword.asking.instances import rendering
from afterword.core.questionnaires.visuals import Theme


def test_without_any() -> None:
    assert ("", "", None) == (
        rendering.style_url(Theme()),
        rendering.logo_url(Theme(), "q"),
        rendering.logo_of(Theme()),
    )


def test_logo() -> None:
    with_logo = Theme(logo="data:image/png;base64," + base64.b64encode(b"picture").decode())
    logo = rendering.logo_of(with_logo)
    assert logo is not None
    assert (b"picture", "image/png") == (logo.content, logo.media_type)
    assert f"/p/q/logo?v={logo.fingerprint}" == rendering.logo_url(with_logo, "q")
