"""Themes: the known keys of a visual or a brand, read and checked; other keys are free.

A theme is inherited: the organization's brand, then the application's, then the questionnaire's active visual.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal, cast

from afterword.core.reading.documents import Members
from afterword.core.reading.findings import Findings
from afterword.errors import FieldError

Font = Literal["system", "humanist", "geometric", "rounded", "slab", "serif", "mono"]
Scheme = Literal["light", "dark"]
Density = Literal["comfortable", "compact"]
Layout = Literal["by_group", "by_question", "one_page"]

CONTRAST_MIN: Final = 4.5  # WCAG 2.2, 1.4.3 (AA)
LOGO_BYTES_MAX: Final = 48 << 10
CORNER_RADIUS_MAX: Final = 24
BRAND_KEYS: Final = (
    "color_primary", "color_background", "color_text", "logo", "font", "corner_radius", "density",
)  # fmt: skip
BACKGROUND_DEFAULT: Final = "#ffffff"
TEXT_DEFAULT: Final = "#17181c"
FONTS: Final[tuple[Font, ...]] = ("system", "humanist", "geometric", "rounded", "slab", "serif", "mono")
DENSITIES: Final[tuple[Density, ...]] = ("comfortable", "compact")
LAYOUTS: Final[tuple[Layout, ...]] = ("by_group", "by_question", "one_page")

_COLOR: Final = re.compile(r"#[0-9A-Fa-f]{6}\Z", re.ASCII)
_LOGO: Final = re.compile(r"data:image/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})\Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """A theme: colours as #rrggbb, the logo as the address of a picture, or as a data: address; None: the page's own.

    Where one of text and background is set, both are: the page's own background may be dark.
    """

    color_primary: str | None = None
    color_background: str | None = None
    color_text: str | None = None
    logo: str | None = None
    font: Font = "system"
    corner_radius: int | None = None
    density: Density = "comfortable"
    layout: Layout = "by_group"
    show_progress: bool = True
    scheme: Scheme | None = None  # of previews; None: as the reader likes it


DEFAULT: Final = Theme()
KEYS: Final = frozenset(field.name for field in fields(Theme)) - {"scheme"}  # of configurations
_SURFACE: Final = frozenset({"color_background", "color_text"})


def read(
    configuration: Mapping[str, object], *, base: Theme = DEFAULT, path: str = "/configuration"
) -> tuple[Theme, list[FieldError]]:
    """The theme of a configuration, and what is wrong with its known keys, at `path`.

    A key that is missing, null or wrong is read as in `base`. Text and background come from one place.
    """
    findings = Findings()
    members = Members(configuration, path, findings)
    background, text = _color(members, "color_background"), _color(members, "color_text")
    if background is not None or text is not None:
        background, text = background or BACKGROUND_DEFAULT, text or TEXT_DEFAULT
        if contrast(text, background) < CONTRAST_MIN:
            message = f"Text and background differ too little to be read: a contrast of {CONTRAST_MIN}:1 is needed."
            members.error("color_text", "out_of_range", message)
    else:
        background, text = base.color_background, base.color_text
    radius = members.optional_integer("corner_radius", 0, CORNER_RADIUS_MAX)
    return Theme(
        color_primary=_color(members, "color_primary") or base.color_primary,
        color_background=background,
        color_text=text,
        logo=_logo(members) or base.logo,
        font=cast("Font", members.one_of("font", FONTS, base.font)),
        corner_radius=base.corner_radius if radius is None else radius,
        density=cast("Density", members.one_of("density", DENSITIES, base.density)),
        layout=cast("Layout", members.one_of("layout", LAYOUTS, base.layout)),
        show_progress=members.boolean("show_progress", default=base.show_progress),
    ), findings.errors


def inherited(*configurations: Mapping[str, object] | None) -> Theme:
    theme = DEFAULT
    for configuration in configurations:
        if configuration:
            theme, _ = read(configuration, base=theme)
    return theme


def sources(configurations: Mapping[str, Mapping[str, object] | None]) -> dict[str, str]:
    """By key of a theme: the name of the configuration that it comes from; keys with their default are left out."""
    found: dict[str, str] = {}
    for name, configuration in configurations.items():
        wrong = {(each.pointer or "").rpartition("/")[2] for each in read(configuration or {})[1]} - {"color_text"}
        given = {key for key, value in (configuration or {}).items() if value is not None} - wrong
        if given & _SURFACE:
            given |= _SURFACE
        found |= dict.fromkeys(given & KEYS, name)
    return found


def unused(configuration: Mapping[str, object] | None) -> list[str]:
    return sorted(set(configuration or ()) - KEYS)


def problems(configuration: Mapping[str, object]) -> list[dict[str, str]]:
    """Why pages and mails do not show some keys: key, code and message of each."""
    wrong = [
        {"key": (each.pointer or "").removeprefix("/configuration/"), "code": each.code, "message": str(each.message)}
        for each in read(configuration)[1]
    ]
    message = "Pages and mails do not read it; it is kept for its client."
    return wrong + [{"key": key, "code": "unknown_member", "message": message} for key in unused(configuration)]


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio")."""
    brighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def readable_on(color: str) -> str:
    return max("#000000", "#ffffff", key=lambda one: contrast(one, color))


def _luminance(color: str) -> float:
    """Relative luminance in sRGB (WCAG 2.2)."""
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels)  # noqa: PLR2004
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _color(members: Members, name: str) -> str | None:
    value = members.raw_text(name)
    if value is not None and _COLOR.match(value) is None:
        members.error(name, "invalid_format", "A colour such as #1a2b3c is expected.")
        return None
    return value and value.lower()


def _logo(members: Members) -> str | None:
    value = members.raw_text("logo")
    if value is None or read_address(value) is not None:
        return value
    match = _LOGO.match(value)
    image = None if match is None else _decoded(match[2])
    if match is None or image is None:
        members.error("logo", "invalid_format", "The path of a picture is expected, or data:image/png;base64,….")
    elif len(image) > LOGO_BYTES_MAX:
        members.error("logo", "too_long", f"A logo has at most {LOGO_BYTES_MAX:,} bytes.")
    elif _kind_of(image) != match[1]:
        members.error("logo", "invalid_format", f"This is no {match[1].upper()} image.")
    else:
        return value
    return None


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return None


def _kind_of(image: bytes) -> str | None:
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if image.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    return "webp" if image[:4] == b"RIFF" and image[8:12] == b"WEBP" else None


FINGERPRINT_CHARACTERS: Final = 10
MEDIA_TYPES: Final = {"png": "image/png", "jpg": "image/jpeg"}

_ADDRESS: Final = re.compile(
    rf"/asset/([0-9A-Za-z]{{22}})/([0-9a-f]{{{FINGERPRINT_CHARACTERS}}})-([1-9][0-9]{{0,3}})x([1-9][0-9]{{0,3}})"
    rf"\.({'|'.join(MEDIA_TYPES)})\Z",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture by its address. `fingerprint`: the beginning of the hash of its bytes; sizes in pixels."""

    asset_id: str
    fingerprint: str
    width: int
    height: int
    suffix: str

    @property
    def address(self) -> str:
        return f"/asset/{self.asset_id}/{self.fingerprint}-{self.width}x{self.height}.{self.suffix}"


def read_address(text: str) -> Picture | None:
    match = _ADDRESS.match(text)
    return match and Picture(match[1], match[2], int(match[3]), int(match[4]), match[5])


def suffix_of(media_type: str) -> str:
    return next(suffix for suffix, each in MEDIA_TYPES.items() if each == media_type)
