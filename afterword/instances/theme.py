"""The theme of a questionnaire's pages: the addresses of stylesheet, logo and scripts."""

import base64
import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from afterword.core.questionnaires.palettes import Brand
from afterword.core.questionnaires.visuals import Theme
from afterword.instances.views import Kind
from afterword.web import static

FINGERPRINT_CHARACTERS: Final = 10
_STYLED: Final[frozenset[Kind]] = frozenset({"matrix", "ranking", "contact"})  # these need public/controls.css


@dataclass(frozen=True, slots=True)
class Files:
    """The styles and scripts that a page's questions need."""

    styles: list[str]
    scripts: list[str]


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
    logo = logo_of(theme)
    return "" if logo is None else f"/p/{questionnaire_id}/logo?v={logo.fingerprint}"


def logo_of(theme: Theme) -> Logo | None:
    """The logo of a theme, whose `data:` address was checked when the theme was read."""
    if theme.logo is None:
        return None
    head, _, text = theme.logo.partition(";base64,")
    content = base64.b64decode(text)
    return Logo(content, head.removeprefix("data:"), hashlib.sha256(content).hexdigest()[:FINGERPRINT_CHARACTERS])


def files_of(kinds: Collection[Kind]) -> Files:
    return Files(
        styles=[static.url("public/controls.css")] if _STYLED & set(kinds) else [],
        scripts=[static.url("public/ranking.js")] if "ranking" in kinds else [],
    )
