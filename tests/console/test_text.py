"""Words of screens."""

import pytest

from afterword.console.text import ZONES, slug_of


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Kalamata Books", "kalamata-books"),
        ("  Café & Crêpes! ", "cafe-crepes"),
        ("Βιβλία", ""),
        ("x" * 99, "x" * 40),
        ("-a-", "a"),
    ],
)
def test_slug(name: str, slug: str) -> None:
    assert slug == slug_of(name)


def test_zones() -> None:
    assert {"UTC", "Europe/Athens", "America/Argentina/Buenos_Aires"} <= set(ZONES)
    assert not {zone for zone in ZONES if zone.startswith("Etc/")}
