"""Themes: the known keys of a visual or a brand, read and checked; other keys are free.

A theme is inherited: the organization's brand, then the application's, then the questionnaire's active visual.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final, Literal, cast

import msgspec

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


class Theme(msgspec.Struct, frozen=True, kw_only=True):
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

    @property
    def surface(self) -> tuple[str, str] | None:
        """Background and text."""
        background, text = self.color_background, self.color_text
        return None if background is None or text is None else (background, text)

    @property
    def slug(self) -> str:
        """Colours and shape as a part of an address, such as `p0b5c6bfserifr4`; empty when all is ours."""
        background, text = self.surface or (None, None)
        font = None if self.font == DEFAULT.font else self.font
        parts = (("p", self.color_primary), ("b", background), ("t", text), ("f", font), ("r", self.corner_radius))
        named = (f"{letter}{str(value).lstrip('#')}" for letter, value in parts if value is not None)
        return "".join(named) + ("c" if self.density == "compact" else "") + (self.scheme or "")


DEFAULT: Final = Theme()
KEYS: Final = frozenset(Theme.__struct_fields__) - {"scheme"}  # of configurations
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


class Picture(msgspec.Struct, frozen=True):
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


CONTROL_CONTRAST_MIN: Final = 3.0  # WCAG 2.2, 1.4.11 (AA)
AREA_CONTRAST_MIN: Final = 1.2  # of what a border surrounds as well

Color = str  # #rrggbb
_SLUG: Final = re.compile(
    r"(?:p([0-9a-f]{6}))?(?:b([0-9a-f]{6})t([0-9a-f]{6}))?(?:f(humanist|geometric|rounded|slab|serif|mono))?(?:r([0-9]{1,2}))?(c)?(light|dark)?\Z"
)
_BLACK: Final = "#000000"
_LIGHT: Final = "#fdfcf9"  # the page's own paper in light and in dark, as near as sRGB comes
_DARK: Final = "#23201e"
_TEAL: Final = ("#005d69", "#74d0c8")  # its accent in both
_RED: Final = "#9a281e"
_GOLD: Final = "#dca028"
_STEPS: Final = 50


def read_slug(slug: str) -> Theme | None:
    match = _SLUG.match(slug)
    if not slug or match is None:
        return None
    primary, background, text, font, radius, compact, scheme = match.groups()
    theme = Theme(
        color_primary=primary and f"#{primary}",
        color_background=background and f"#{background}",
        color_text=text and f"#{text}",
        font=cast("Font", font or DEFAULT.font),
        corner_radius=None if radius is None else int(radius),
        density="compact" if compact else DEFAULT.density,
        scheme=cast("Scheme | None", scheme),
    )
    return theme if theme.slug == slug and (theme.corner_radius or 0) <= CORNER_RADIUS_MAX else None


def stylesheet(theme: Theme) -> str:
    """The custom properties that a theme changes, as CSS; the same for the same theme."""
    rules: list[str] = []
    if theme.surface is not None:
        colors = _of_surface(theme.color_primary, *theme.surface)
        rules.append(_rule({"color-scheme": _scheme_of(colors["--paper"]), **colors}))
    elif theme.color_primary is not None:
        light, dark = (_accents(theme.color_primary, paper, readable_on(paper)) for paper in (_LIGHT, _DARK))
        rules.append(_rule(light))
        both = {name: f"light-dark({light[name]}, {dark[name]})" for name in light}
        rules.append(f"@supports (color: light-dark(#000, #fff)) {{ {_rule(both)} }}")
    shape: dict[str, str] = {}
    if theme.corner_radius is not None:
        shape["--radius"] = f"{theme.corner_radius}px"
    if theme.font != DEFAULT.font:
        shape |= _FONTS[theme.font]
    if theme.density == "compact":
        shape |= _COMPACT
    if theme.scheme is not None and theme.surface is None:
        shape["color-scheme"] = theme.scheme
    return "\n".join([*rules, *([_rule(shape)] if shape else [])]) + "\n"


class Contrast(msgspec.Struct, frozen=True):
    """The contrast of a chosen colour with its background, and of the colour that pages show in its place."""

    subject: Literal["text", "link", "button"]
    scheme: Scheme
    color: Color
    background: Color
    ratio: float
    shown: Color
    shown_ratio: float

    @property
    def is_enough(self) -> bool:
        return self.ratio >= CONTRAST_MIN


def contrasts(theme: Theme) -> list[Contrast]:
    """The contrasts of a theme's pages, in light and in dark; with colours of its own a page has one scheme."""
    found: list[Contrast] = []
    for scheme in ("light", "dark"):
        colors = colors_of(theme, scheme)
        paper = colors["paper"]
        if theme.surface is not None and scheme != _scheme_of(paper):
            continue
        text = theme.surface[1] if theme.surface else colors["ink"]
        for subject, chosen, shown, background in (
            ("text", text, colors["ink"], paper),
            ("link", theme.color_primary or colors["accent"], colors["accent"], paper),
            ("button", colors["on-fill"], colors["on-fill"], colors["fill"]),
        ):
            ratios = round(contrast(chosen, background), 2), round(contrast(shown, background), 2)
            found.append(Contrast(subject, scheme, chosen, background, ratios[0], shown, ratios[1]))
    return found


def colors_of(theme: Theme, scheme: Scheme) -> dict[str, Color]:
    """The colours of a theme by their names in stylesheets; those of mails, which cannot mix colours."""
    if theme.surface is not None:
        found = _of_surface(theme.color_primary, *theme.surface)
        return {name.removeprefix("--"): color for name, color in found.items()}
    own = dict(_OURS[scheme])
    if theme.color_primary is not None:
        accents = _accents(theme.color_primary, own["paper"], own["ink"])
        own |= {name.removeprefix("--"): color for name, color in accents.items()}
    return own


# The colours of afterword.css, as near as sRGB comes.
_OURS: Final[Mapping[Scheme, Mapping[str, Color]]] = {
    "light": {
        "ink": "#2e241d", "ink-soft": "#5e534a", "paper": "#fefcf9", "desk": "#f5f0e8", "edge": "#887e74",
        "accent": "#005c60", "accent-soft": "#dff3f3", "on-accent": "#f5fefe", "fill": "#005c60", "on-fill": "#f5fefe",
    },
    "dark": {
        "ink": "#e9e4dc", "ink-soft": "#b6b0a7", "paper": "#24201c", "desk": "#181411", "edge": "#867f77",
        "accent": "#78cfcc", "accent-soft": "#1d3536", "on-accent": "#071f20", "fill": "#78cfcc", "on-fill": "#071f20",
    },
}  # fmt: skip
# Families that systems have; nothing is loaded. Without quotes, so that stylesheets and attributes take them alike.
STACKS: Final[Mapping[Font, str]] = {
    "system": "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, sans-serif",
    "humanist": "Seravek, Gill Sans Nova, Ubuntu, Calibri, DejaVu Sans, source-sans-pro, sans-serif",
    "geometric": "Avenir, Montserrat, Corbel, URW Gothic, source-sans-pro, sans-serif",
    "rounded": "ui-rounded, Hiragino Maru Gothic ProN, Quicksand, Comfortaa, Arial Rounded MT Bold, sans-serif",
    "slab": "Rockwell, Rockwell Nova, Roboto Slab, DejaVu Serif, Sitka Small, serif",
    "serif": "Charter, Bitstream Charter, Iowan Old Style, Sitka Text, Palatino, Georgia, serif",
    "mono": "ui-monospace, Cascadia Mono, Segoe UI Mono, Menlo, DejaVu Sans Mono, monospace",
}
_FONTS: Final[Mapping[Font, Mapping[str, str]]] = {
    **{font: {"--sans": stack, "--serif": stack} for font, stack in STACKS.items()},
    "serif": {"--sans": "var(--serif)"},
    "mono": {"--sans": "var(--mono)", "--serif": "var(--mono)"},
}
_COMPACT: Final = {"--s4": "12px", "--s5": "16px", "--s6": "20px", "--s7": "28px", "--s8": "40px"}


def _of_surface(primary: Color | None, paper: Color, text: Color) -> dict[str, Color]:
    """All colours, the accents last. `desk` is the background around the page."""
    ink = _readable(text, CONTRAST_MIN, readable_on(paper), paper)  # what is stored may be older than the rule
    accents = _accents(primary, paper, ink)
    negative_soft = _tint(_RED, paper, ink)
    return {
        "--ink": ink,
        "--ink-soft": _readable(_mix(ink, paper, 0.72), CONTRAST_MIN, ink, paper, accents["--accent-soft"]),
        "--paper": paper,
        "--desk": _mix(ink, paper, 0.04),
        "--line": _mix(ink, paper, 0.16),
        "--edge": _readable(_mix(ink, paper, 0.5), CONTROL_CONTRAST_MIN, ink, paper),
        "--negative": _readable(_RED, CONTRAST_MIN, ink, paper, negative_soft),
        "--negative-soft": negative_soft,
        "--gold": _GOLD,
        "--gold-edge": _readable(_GOLD, CONTROL_CONTRAST_MIN, ink, paper),
        **accents,
    }


def _accents(primary: Color | None, paper: Color, ink: Color) -> dict[str, Color]:
    """The brand's colour for texts and borders, where it must be readable, and as it is for areas."""
    own = primary or _TEAL[0 if _scheme_of(paper) == "light" else 1]
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


def _scheme_of(paper: Color) -> Scheme:
    return "light" if readable_on(paper) == _BLACK else "dark"


def _mix(one: Color, other: Color, share: float) -> Color:
    pairs = ((int(one[place : place + 2], 16), int(other[place : place + 2], 16)) for place in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _rule(properties: Mapping[str, str]) -> str:
    return ":root { " + " ".join(f"{name}: {value};" for name, value in properties.items()) + " }"
