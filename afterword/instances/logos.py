"""The logo of a theme, and the address of its stylesheet."""

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

from afterword.core.questionnaires.palettes import Brand
from afterword.core.questionnaires.pictures import read_address
from afterword.core.questionnaires.visuals import Theme
from afterword.web import static

FINGERPRINT_CHARACTERS: Final = 10


@dataclass(frozen=True, slots=True)
class Logo:
    """A logo; `fingerprint` is the beginning of the hash of its bytes."""

    content: bytes
    media_type: str
    fingerprint: str


def style_url(theme: Theme) -> str:
    """The stylesheet of the theme's colours, font and corners; empty for the default ones."""
    return static.theme_url(Brand.of(theme))


def logo_url(theme: Theme, questionnaire_id: str) -> str:
    """The address of the logo, empty without one. It contains the fingerprint, so that caches may keep it."""
    if theme.logo is not None and (not questionnaire_id or read_address(theme.logo) is not None):
        return theme.logo  # a preview has no questionnaire yet
    logo = logo_of(theme)
    return "" if logo is None else f"/p/{questionnaire_id}/logo?v={logo.fingerprint}"


def logo_of(theme: Theme) -> Logo | None:
    """The logo that is a `data:` address, which was checked when the theme was read; None for other logos."""
    if theme.logo is None or not theme.logo.startswith("data:"):
        return None
    head, _, text = theme.logo.partition(";base64,")
    content = base64.b64decode(text)
    return Logo(content, head.removeprefix("data:"), hashlib.sha256(content).hexdigest()[:FINGERPRINT_CHARACTERS])
