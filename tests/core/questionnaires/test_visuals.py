"""The known keys of a visual: what is refused, what a theme takes over."""

import base64
import re
from typing import Any, Final

import pytest
from hypothesis import example, given, strategies as st

from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import DEFAULT, Picture, Theme, contrast, read_address

PICTURE = f"/asset/{'A' * 22}/0123456789-640x160.png"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 16
WEBP = b"RIFF\x10\0\0\0WEBPVP8 " + b"\0" * 16


def logo(image: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"


def codes(configuration: dict[str, object]) -> list[tuple[str, str]]:
    return [((one.pointer or "").removeprefix("/configuration"), one.code) for one in visuals.read(configuration)[1]]


class TestRefused:
    @pytest.mark.parametrize(
        ("name", "value", "code"),
        [
            ("color_primary", "red", "invalid_format"),
            ("color_primary", "#12345", "invalid_format"),
            ("color_text", "#12345g", "invalid_format"),
            ("color_background", "#123456\n", "invalid_format"),
            ("color_background", 7, "wrong_type"),
            ("font", "comic", "unknown_value"),
            ("layout", "carousel", "unknown_value"),
            ("corner_radius", 25, "out_of_range"),
            ("corner_radius", -1, "out_of_range"),
            ("corner_radius", "7", "wrong_type"),
            ("corner_radius", True, "wrong_type"),
            ("show_progress", "yes", "wrong_type"),
            ("logo", 7, "wrong_type"),
            ("logo", "", "invalid_format"),
            ("logo", "https://example.com/logo.png", "invalid_format"),
            ("logo", "data:image/svg+xml;base64,PHN2Zz4=", "invalid_format"),
            ("logo", "data:image/png;base64,???", "invalid_format"),
            ("logo", "data:image/png;base64,abc", "invalid_format"),
            ("logo", logo(PNG) + '" onload="x', "invalid_format"),
            ("logo", logo(b"<svg/>"), "invalid_format"),
            ("logo", logo(JPEG, "png"), "invalid_format"),
            ("logo", logo(PNG, "webp"), "invalid_format"),
            ("logo", logo(PNG + b"\0" * (48 << 10)), "too_long"),
        ],
    )
    def test_one_key(self, name: str, value: object, code: str) -> None:
        assert [(f"/{name}", code)] == codes({name: value})

    @pytest.mark.parametrize(
        "colors",
        [
            {"color_text": "#777777", "color_background": "#888888"},
            {"color_text": "#777777"},  # 4.48 on white
            {"color_background": "#333333"},  # under the page's own text
        ],
    )
    def test_contrast(self, colors: dict[str, object]) -> None:
        assert [("/color_text", "out_of_range")] == codes(colors)

    def test_all_at_once(self) -> None:
        found = codes({"font": 1, "layout": 2, "corner_radius": 99})
        assert {"/font", "/layout", "/corner_radius"} == {path for path, _ in found}


class TestRead:
    def test_nothing(self) -> None:
        assert (visuals.DEFAULT, []) == visuals.read({})

    def test_other_keys_are_free(self) -> None:
        assert (visuals.DEFAULT, []) == visuals.read({"mine": {"anything": [1, None]}, "font": None})

    def test_everything(self) -> None:
        theme, found = visuals.read(
            {
                "color_primary": "#0B6E4F",
                "color_background": "#101418",
                "color_text": "#F5F5F5",
                "logo": logo(WEBP, "webp"),
                "font": "serif",
                "corner_radius": 0,
                "layout": "one_page",
                "show_progress": False,
            }
        )
        assert [] == found
        assert (
            visuals.Theme(
                color_primary="#0b6e4f",
                color_background="#101418",
                color_text="#f5f5f5",
                logo=logo(WEBP, "webp"),
                font="serif",
                corner_radius=0,
                layout="one_page",
                show_progress=False,
            )
            == theme
        )

    def test_one_of_text_and_background_sets_both(self) -> None:
        theme, found = visuals.read({"color_background": "#fff8e7"})
        assert ([], "#fff8e7", visuals.TEXT_DEFAULT) == (found, theme.color_background, theme.color_text)

    @pytest.mark.parametrize(("image", "kind"), [(PNG, "png"), (JPEG, "jpeg"), (WEBP, "webp")])
    def test_logos(self, image: bytes, kind: str) -> None:
        assert logo(image, kind) == visuals.read({"logo": logo(image, kind)})[0].logo

    def test_the_largest_logo(self) -> None:
        assert [] == codes({"logo": logo(PNG.ljust(48 << 10, b"\0"))})


class TestInherited:
    BRAND: Final = {"color_primary": "#0b6e4f", "color_text": "#222222", "logo": PICTURE, "density": "compact"}

    def test_each_key_from_the_strongest(self) -> None:
        """A key that is missing, null or wrong is inherited; text and background come from one place."""
        visual = {"font": "comic", "logo": None, "color_background": "#fff8e7", "corner_radius": 0}
        theme = visuals.inherited(self.BRAND, {"font": "slab", "color_primary": "#aa3300"}, None, visual)
        assert ("#aa3300", "#fff8e7", visuals.TEXT_DEFAULT) == (
            theme.color_primary, theme.color_background, theme.color_text
        )  # fmt: skip
        assert (PICTURE, "slab", 0, "compact") == (theme.logo, theme.font, theme.corner_radius, theme.density)

    def test_sources(self) -> None:
        visual = {"font": "comic", "logo": None, "color_background": "#fff8e7", "corner_radius": 0, "mine": 1}
        found = visuals.sources({"organization": self.BRAND, "application": {"font": "slab"}, "visual": visual})
        assert found == {
            "color_primary": "organization", "logo": "organization", "density": "organization", "font": "application",
            "color_background": "visual", "color_text": "visual", "corner_radius": "visual",
        }  # fmt: skip

    def test_pictures(self) -> None:
        assert [] == codes({"logo": PICTURE})
        for wrong in (PICTURE + "\n", PICTURE.replace("png", "svg"), f"https://example.com{PICTURE}", PICTURE[:30]):
            assert [("/logo", "invalid_format")] == codes({"logo": wrong})


class TestContrast:
    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            ("#000000", "#ffffff", 21.0),
            ("#ffffff", "#000000", 21.0),
            ("#777777", "#ffffff", 4.48),
            ("#abcdef", "#abcdef", 1.0),
        ],
    )
    def test_known(self, first: str, second: str, expected: float) -> None:
        assert expected == round(visuals.contrast(first, second), 2)

    def test_on_any_colour_something_can_be_read(self) -> None:
        for level in range(0, 256, 5):
            color = f"#{level:02x}{255 - level:02x}{level:02x}"
            assert visuals.contrast(visuals.readable_on(color), color) >= visuals.CONTRAST_MIN


COLORS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def theme_of(primary: str | None, surface: tuple[str, str] | None = None, **more: Any) -> Theme:
    background, text = surface or (None, None)
    return Theme(color_primary=primary, color_background=background, color_text=text, **more)


THEMES = st.builds(
    theme_of,
    st.none() | COLORS,
    st.none() | st.tuples(COLORS, COLORS),
    font=st.sampled_from(visuals.FONTS),
    corner_radius=st.none() | st.integers(0, 24),
    density=st.sampled_from(visuals.DENSITIES),
    scheme=st.sampled_from([None, "light", "dark"]),
)


def values(sheet: str) -> dict[str, str]:
    return dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6});", sheet))


@pytest.mark.parametrize(
    "slug",
    ["", "x", "p", "p12345", "pABCDEF", "p1234567", "b123456", "t123456b123456", "r", "r25", "r04", "r-1", "fsystem",
     "fserif;", "p123456\n", "r3p123456", "p12345\u0661", "p123456 "],
)  # fmt: skip
def test_refused(slug: str) -> None:
    assert visuals.read_slug(slug) is None


@given(THEMES)
def test_an_address_says_all(theme: Theme) -> None:
    assert theme == (visuals.read_slug(theme.slug) if theme.slug else DEFAULT)


@given(st.text(max_size=40))
def test_any_address(slug: str) -> None:
    theme = visuals.read_slug(slug)
    assert theme is None or theme.slug == slug


@given(THEMES)
def test_nothing_but_custom_properties(theme: Theme) -> None:
    sheet = visuals.stylesheet(theme)
    color = r"(?:#[0-9a-f]{6}|light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\))"
    value = rf"(?:{color}|[0-9]+px|var\(--[a-z]+\)|[A-Za-z0-9 ',-]+)"
    rule = rf":root \{{(?: (?:color-scheme: (?:light|dark)|--[a-z0-9-]+: {value});)+ \}}"
    assert re.fullmatch(rf"(?:(?:{rule}|@supports \(color: light-dark\(#000, #fff\)\) \{{ {rule} \}})\n)*\n?", sheet)


@given(primary=st.none() | COLORS, background=COLORS, text=COLORS)
@example(primary=None, background="#0f871a", text="#000000")  # white reads as well as black, but not on the tint
def test_everything_can_be_read(primary: str | None, background: str, text: str) -> None:
    """Text at 4.5:1, borders of controls at 3:1 (WCAG 2.2), on any background and with any colour of a brand."""
    found = values(visuals.stylesheet(theme_of(primary, (background, text))))
    paper = found["--paper"]
    assert background == paper
    for name, ground in (
        ("--ink", paper), ("--ink", found["--accent-soft"]), ("--ink", found["--negative-soft"]),
        ("--ink-soft", paper), ("--ink-soft", found["--accent-soft"]),
        ("--accent", paper), ("--accent", found["--accent-soft"]),
        ("--negative", paper), ("--negative", found["--negative-soft"]), ("--on-fill", found["--fill"]),
        ("--on-fill", found["--fill-deep"]),
    ):  # fmt: skip
        assert 4.5 <= contrast(found[name], ground), name
    for name in ("--edge", "--accent", "--gold-edge"):
        assert 3 <= contrast(found[name], paper), name


@given(COLORS)
def test_a_primary_colour_alone_works_in_light_and_dark(primary: str) -> None:
    sheet = visuals.stylesheet(theme_of(primary))
    pairs: dict[str, Any] = {
        name: (light, dark) for name, light, dark in re.findall(r"(--[a-z-]+): light-dark\((#\w+), (#\w+)\)", sheet)
    }
    for place, paper in enumerate(("#fdfcf9", "#23201e")):
        assert 4.5 <= contrast(pairs["--accent"][place], paper)
        assert 4.5 <= contrast(pairs["--on-fill"][place], pairs["--fill"][place])


def test_of_a_visual() -> None:
    theme, findings = visuals.read(
        {"color_primary": "#FFDD00", "color_text": "#111111", "font": "mono", "corner_radius": 4}
    )
    assert [] == findings
    assert "pffdd00bfffffft111111fmonor4" == theme.slug
    assert "" == DEFAULT.slug


def test_a_brand_of_the_background_itself_still_marks_what_was_chosen() -> None:
    found = values(visuals.stylesheet(theme_of("#c62828", ("#c62828", "#ffffff"))))
    assert "#c62828" != found["--fill"]


def test_contrasts() -> None:
    """Each ratio is that of the colours beside it, and what is shown in place of a colour can be read."""
    found = {(each.subject, each.scheme): each for each in visuals.contrasts(theme_of("#ffdd00"))}
    assert {(subject, scheme) for subject in ("text", "link", "button") for scheme in ("light", "dark")} == set(found)
    link = found["link", "light"]
    assert ("#ffdd00", False) == (link.color, link.is_enough)
    assert found["link", "dark"].is_enough
    for theme in (DEFAULT, theme_of("#ffdd00"), theme_of("#808080", ("#101010", "#202020"))):
        for each in visuals.contrasts(theme):
            assert round(contrast(each.color, each.background), 2) == each.ratio
            assert each.shown_ratio >= 4.5
    assert ["dark"] * 3 == [each.scheme for each in visuals.contrasts(theme_of(None, ("#101010", "#eeeeee")))]


LARGE = Picture("A" * 22, "0123456789", 640, 160, "png")


def test_address_reads_back() -> None:
    assert LARGE == read_address(LARGE.address)


@pytest.mark.parametrize(
    "text",
    [
        "",
        LARGE.address + "\n",
        LARGE.address[1:],
        "https://example.com" + LARGE.address,
        LARGE.address.replace(".png", ".svg"),
        LARGE.address.replace("640x160", "0640x160"),
        LARGE.address.replace("640x160", "640x99999"),
        LARGE.address.replace("A" * 22, "../" + "A" * 19),
        LARGE.address.replace("0123456789", "012345678G"),
    ],
)
def test_no_address(text: str) -> None:
    assert read_address(text) is None
