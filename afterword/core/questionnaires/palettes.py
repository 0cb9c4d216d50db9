"""All colours of a page from the few of a brand, each with the contrast of WCAG 2.2 against its background.

The result is custom properties of CSS; of the input only checked colours are in it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from afterword.core.questionnaires.visuals import CONTRAST_MIN, CORNER_RADIUS_MAX, Theme, contrast, readable_on

CONTROL_CONTRAST_MIN: Final = 3.0  # WCAG 2.2, 1.4.11 (AA)
AREA_CONTRAST_MIN: Final = 1.2  # of what a border surrounds as well

Font = Literal["serif", "mono"]
Color = str  # #rrggbb
_SLUG: Final = re.compile(r"(?:p([0-9a-f]{6}))?(?:b([0-9a-f]{6})t([0-9a-f]{6}))?(?:f(serif|mono))?(?:r([0-9]{1,2}))?\Z")
_BLACK: Final = "#000000"
_LIGHT: Final = "#fdfcf9"  # the page's own paper in light and in dark, as near as sRGB comes
_DARK: Final = "#23201e"
_TEAL: Final = ("#005d69", "#74d0c8")  # its accent in both
_RED: Final = "#9a281e"
_GOLD: Final = "#dca028"
_STEPS: Final = 50


@dataclass(frozen=True, slots=True)
class Brand:
    """The colours and shape of a brand; None: our own. `surface`: background and text; the radius in pixels."""

    primary: Color | None = None
    surface: tuple[Color, Color] | None = None
    font: Font | None = None
    radius: int | None = None

    @classmethod
    def of(cls, theme: Theme) -> "Brand":
        background, text = theme.color_background, theme.color_text
        return cls(
            primary=theme.color_primary,
            surface=None if background is None or text is None else (background, text),
            font=None if theme.font == "system" else theme.font,
            radius=theme.corner_radius,
        )

    @property
    def slug(self) -> str:
        """The brand as a part of an address, such as `p0b5c6bfserifr4`; empty when all is ours."""
        background, text = self.surface or (None, None)
        parts = (("p", self.primary), ("b", background), ("t", text), ("f", self.font), ("r", self.radius))
        return "".join(f"{letter}{str(value).lstrip('#')}" for letter, value in parts if value is not None)


def read_slug(slug: str) -> Brand | None:
    """The brand that an address names, or None where it is no address of ours."""
    match = _SLUG.match(slug)
    if not slug or match is None:
        return None
    primary, background, text, font, radius = match.groups()
    brand = Brand(
        primary=primary and f"#{primary}",
        surface=(f"#{background}", f"#{text}") if background else None,
        font=cast("Font | None", font),
        radius=None if radius is None else int(radius),
    )
    return brand if brand.slug == slug and (brand.radius or 0) <= CORNER_RADIUS_MAX else None


def stylesheet(brand: Brand) -> str:
    """The custom properties that a brand changes, as CSS; the same for the same brand."""
    rules: list[str] = []
    if brand.surface is not None:
        paper, text = brand.surface
        scheme = "light" if _is_light(paper) else "dark"
        ink = _readable(text, CONTRAST_MIN, readable_on(paper), paper)  # what is stored may be older than the rule
        accents = _accents(brand.primary, paper, ink)
        surface = _surface(paper, ink, accents["--accent-soft"])
        rules.append(_rule({"color-scheme": scheme, **surface, **accents}))
    elif brand.primary is not None:
        light, dark = (_accents(brand.primary, paper, readable_on(paper)) for paper in (_LIGHT, _DARK))
        rules.append(_rule(light))
        both = {name: f"light-dark({light[name]}, {dark[name]})" for name in light}
        rules.append(f"@supports (color: light-dark(#000, #fff)) {{ {_rule(both)} }}")
    shape: dict[str, str] = {}
    if brand.radius is not None:
        shape["--radius"] = f"{brand.radius}px"
    if brand.font is not None:
        shape |= _FONTS[brand.font]
    return "\n".join([*rules, *([_rule(shape)] if shape else [])]) + "\n"


_FONTS: Final[Mapping[Font, Mapping[str, str]]] = {
    "serif": {"--sans": "var(--serif)"},
    "mono": {"--sans": "var(--mono)", "--serif": "var(--mono)"},
}


def _surface(paper: Color, ink: Color, accent_soft: Color) -> dict[str, Color]:
    """All but the accents. `desk` is the background around the page."""
    negative_soft = _tint(_RED, paper, ink)
    return {
        "--ink": ink,
        "--ink-soft": _readable(_mix(ink, paper, 0.72), CONTRAST_MIN, ink, paper, accent_soft),
        "--paper": paper,
        "--desk": _mix(ink, paper, 0.04),
        "--line": _mix(ink, paper, 0.16),
        "--edge": _readable(_mix(ink, paper, 0.5), CONTROL_CONTRAST_MIN, ink, paper),
        "--negative": _readable(_RED, CONTRAST_MIN, ink, paper, negative_soft),
        "--negative-soft": negative_soft,
        "--gold": _GOLD,
        "--gold-edge": _readable(_GOLD, CONTROL_CONTRAST_MIN, ink, paper),
    }


def _accents(primary: Color | None, paper: Color, ink: Color) -> dict[str, Color]:
    """The brand's colour for texts and borders, where it must be readable, and as it is for areas."""
    own = primary or _TEAL[0 if _is_light(paper) else 1]
    soft = _tint(own, paper, ink)
    accent = _readable(own, CONTRAST_MIN, ink, paper, soft)
    fill = own if contrast(own, paper) >= AREA_CONTRAST_MIN else accent  # a background's own colour marks nothing
    on_fill = readable_on(fill)
    return {
        "--accent": accent,
        "--accent-deep": _mix(readable_on(paper), accent, 0.2),
        "--accent-soft": soft,
        "--on-accent": paper,
        "--fill": fill,
        "--fill-deep": _mix(readable_on(on_fill), fill, 0.16),
        "--on-fill": on_fill,
    }


def _readable(color: Color, ratio: float, end: Color, *backgrounds: Color) -> Color:
    """The colour, moved towards `end` until each background contrasts by `ratio`; `end` must contrast so itself."""
    for step in range(_STEPS):
        moved = _mix(end, color, step / _STEPS)
        if all(contrast(moved, one) >= ratio for one in backgrounds):
            return moved
    return end


def _tint(color: Color, paper: Color, ink: Color) -> Color:
    """A touch of the colour on paper, so little that the page's text can still be read on it; else none."""
    tints = (_mix(color, paper, share / 100) for share in range(10, 0, -1))
    return next((tint for tint in tints if contrast(ink, tint) >= CONTRAST_MIN), paper)


def _is_light(paper: Color) -> bool:
    return readable_on(paper) == _BLACK


def _mix(one: Color, other: Color, share: float) -> Color:
    pairs = ((int(one[place : place + 2], 16), int(other[place : place + 2], 16)) for place in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _rule(properties: Mapping[str, str]) -> str:
    return ":root { " + " ".join(f"{name}: {value};" for name, value in properties.items()) + " }"
