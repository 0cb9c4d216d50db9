"""XML event by event: what is no whole document is refused, and what could make it larger than it is."""

from collections.abc import Mapping

import pytest

from afterword import errors
from afterword.core.reading import elements


class Names:
    def __init__(self) -> None:
        self.found: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.found += [name, *attributes.values()]

    def end(self, name: str) -> None:
        self.found.append(f"/{name}")

    def data(self, text: str) -> None:
        self.found.append(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "No XML."),
        ("<a>", "No XML."),
        ("<a/><b/>", "No XML."),
        ("<!DOCTYPE a><a/>", "A document type is not possible here."),
        ("<a>" * (elements.DEPTH_MAX + 1), f"The file is nested more than {elements.DEPTH_MAX} deep."),
    ],
)
def test_refused(text: str, told: str) -> None:
    with pytest.raises(errors.Invalid) as refused:
        elements.parse(text, Names(), message="No XML.")
    assert told == refused.value.errors[0].message


def test_ok() -> None:
    names = Names()
    elements.parse('<?xml version="1.0" encoding="latin-1"?><a n="1">\xe9 &amp; b<c/></a>', names, message="No XML.")
    assert ["a", "1", "\xe9 & b", "c", "/c", "/a"] == names.found
