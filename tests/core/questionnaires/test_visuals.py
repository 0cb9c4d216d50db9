"""The known keys of a visual: what is refused, what a theme takes over."""

import base64
from typing import Final

import pytest

from afterword.core.questionnaires import visuals

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
