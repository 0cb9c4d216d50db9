"""Brands as colours: addresses that say all, texts that can be read on whatever was chosen, nothing else let in."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import Brand, contrast

COLORS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")
BRANDS = st.builds(
    Brand,
    primary=st.none() | COLORS,
    surface=st.none() | st.tuples(COLORS, COLORS),
    font=st.sampled_from([None, *(font for font in visuals.FONTS if font != "system")]),
    radius=st.none() | st.integers(0, 24),
    is_compact=st.booleans(),
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


@given(BRANDS)
def test_an_address_says_all(brand: Brand) -> None:
    assert brand == (visuals.read_slug(brand.slug) if brand.slug else Brand())


@given(st.text(max_size=40))
def test_any_address(slug: str) -> None:
    brand = visuals.read_slug(slug)
    assert brand is None or brand.slug == slug


@given(BRANDS)
def test_nothing_but_custom_properties(brand: Brand) -> None:
    sheet = visuals.stylesheet(brand)
    color = r"(?:#[0-9a-f]{6}|light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\))"
    value = rf"(?:{color}|[0-9]+px|var\(--[a-z]+\)|[A-Za-z0-9 ',-]+)"
    rule = rf":root \{{(?: (?:color-scheme: (?:light|dark)|--[a-z0-9-]+: {value});)+ \}}"
    assert re.fullmatch(rf"(?:(?:{rule}|@supports \(color: light-dark\(#000, #fff\)\) \{{ {rule} \}})\n)*\n?", sheet)


@given(primary=st.none() | COLORS, background=COLORS, text=COLORS)
@example(primary=None, background="#0f871a", text="#000000")  # white reads as well as black, but not on the tint
def test_everything_can_be_read(primary: str | None, background: str, text: str) -> None:
    """Text at 4.5:1, borders of controls at 3:1 (WCAG 2.2), on any background and with any colour of a brand."""
    found = values(visuals.stylesheet(Brand(primary=primary, surface=(background, text))))
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
    sheet = visuals.stylesheet(Brand(primary=primary))
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
    assert "pffdd00bfffffft111111fmonor4" == Brand.of(theme).slug
    assert "" == Brand.of(visuals.DEFAULT).slug


def test_a_brand_of_the_background_itself_still_marks_what_was_chosen() -> None:
    found = values(visuals.stylesheet(Brand(primary="#c62828", surface=("#c62828", "#ffffff"))))
    assert "#c62828" != found["--fill"]


def test_contrasts() -> None:
    """Each ratio is that of the colours beside it, and what is shown in place of a colour can be read."""
    found = {(each.subject, each.scheme): each for each in visuals.contrasts(Brand(primary="#ffdd00"))}
    assert {(subject, scheme) for subject in ("text", "link", "button") for scheme in ("light", "dark")} == set(found)
    link = found["link", "light"]
    assert ("#ffdd00", False) == (link.color, link.is_enough)
    assert found["link", "dark"].is_enough
    for brand in (Brand(), Brand(primary="#ffdd00"), Brand(primary="#808080", surface=("#101010", "#202020"))):
        for each in visuals.contrasts(brand):
            assert round(contrast(each.color, each.background), 2) == each.ratio
            assert each.shown_ratio >= 4.5
    assert ["dark"] * 3 == [each.scheme for each in visuals.contrasts(Brand(surface=("#101010", "#eeeeee")))]
