"""Posted pages: those of ours are read, whatever a browser makes of them; others are refused."""

import pytest

from afterword import errors
from afterword.instances import forms


@pytest.mark.parametrize("body", [b"\xff", b"a=%ff", "ä=1".encode(), b"&".join([b"a=1"] * (forms.FIELDS_MAX + 1))])
def test_refused(body: bytes) -> None:
    with pytest.raises(errors.Malformed) as caught:
        forms.read_body(body)
    assert "malformed_form" == caught.value.code


@pytest.mark.parametrize(
    ("body", "page", "go"),
    [
        (b"", 1, "next"),
        (b"page=3&go=back", 3, "back"),
        (b"page=0&go=send", 1, "send"),
        (b"page=-1&go=else", 1, "next"),
        (b"page=2&page=7", 2, "next"),
    ],
)
def test_read(body: bytes, page: int, go: str) -> None:
    posted = forms.read_body(body)
    assert (page, go, None, "") == (posted.page, posted.go, posted.layout, posted.token)


@pytest.mark.parametrize(
    ("text", "number"), [(None, None), ("", None), ("0", None), ("x", None), ("٣", None), ("12345", None), ("12", 12)]
)
def test_page_number(text: str | None, number: int | None) -> None:
    assert number == forms.page_number(text)
