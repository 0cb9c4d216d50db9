"""Headers that strangers send are read in time that grows with their length alone."""

import time

import pytest

from afterword.kit.web import headers

LENGTH = 16_384
SECONDS_MAX = 0.5  # a machine under load included; the square of the length took four seconds


@pytest.mark.parametrize("run", [" ", '"', "*", "W/", "\t", ",", '" ', "* "])
def test_long_entity_tags_are_read_in_linear_time(run: str) -> None:
    text = "a" + run * (LENGTH // len(run)) + "a"
    started = time.process_time()
    assert not headers.matches(text, '"kept"')
    assert SECONDS_MAX > time.process_time() - started


@pytest.mark.parametrize(
    ("text", "matching"),
    [
        ("", set()),
        ("a", set()),
        ('"a"', {'"a"'}),
        (' W/"a" , "b"\t', {'"a"', '"b"'}),
        (' W/"a" ,*', {'"a"', '"b"', "*"}),
        ('"a" "b"', {'"b"'}),
    ],
)
def test_entity_tags(text: str, matching: set[str]) -> None:
    assert matching == {etag for etag in ('"a"', '"b"', "*") if headers.matches(text, etag)}
