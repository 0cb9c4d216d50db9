"""Files as bodies: under their own label or in a form, whatever somebody puts between the boundaries."""

import time
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from afterword import errors
from afterword.kit.web import uploads
from afterword.kit.web.uploads import Upload
from tests.sizes import size

TYPES = ("text/csv", uploads.FORM)
FORM = "multipart/form-data; boundary=xyz"
FILE = b'Content-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\na,b\r\n'


def read(raw: bytes, content_type: str | None = FORM) -> Upload:
    return uploads.read(raw, content_type, media_types=TYPES)


def form(*parts: bytes, end: bytes = b"--xyz--\r\n") -> bytes:
    return b"".join(b"--xyz\r\n" + part + b"\r\n" for part in parts) + end


def field(name: str, value: bytes) -> bytes:
    return f'Content-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value


class TestLabels:
    @pytest.mark.parametrize(
        "content_type",
        ["application/json", "text/plain", "", None, "text/csv; charset=utf-16", "text/csvx", "multipart/mixed"],
    )
    def test_others(self, content_type: str | None) -> None:
        with pytest.raises(errors.UnsupportedMedia) as caught:
            read(b"a,b", content_type)
        assert caught.value.status == 415

    @pytest.mark.parametrize("content_type", ["text/csv", "TEXT/CSV; header=present", 'text/csv; charset="UTF-8"'])
    def test_ok(self, content_type: str) -> None:
        assert Upload(b"a,b") == read(b"a,b", content_type)

    def test_nothing(self) -> None:
        assert Upload(b"") == read(b"", "application/json")


class TestForm:
    @pytest.mark.parametrize(
        ("content_type", "raw"),
        [
            ("multipart/form-data", form(FILE)),
            ("multipart/form-data; boundary=" + "x" * 71, form(FILE)),
            ("multipart/form-data; boundary=é", form(FILE)),
            (FORM, b"a,b"),
            (FORM, form(FILE, end=b"")),
            (FORM, form(FILE)[:-4]),
            (FORM, b"before" + form(FILE)),
            (FORM, form()),
            (FORM, form(field("a", b"b"))),
            (FORM, form(FILE, FILE)),
            (FORM, form(FILE, b"no head")),
            (FORM, form(FILE, b"Content-Disposition: form-data\r\n\r\nx")),
            (FORM, form(FILE, b"Content-Disposition: form-data; name=a; " + b"x" * 5_000 + b"\r\n\r\nx")),
            (FORM, form(FILE, field("a", b"1"), field("a", b"2"))),
            (FORM, form(FILE, field("a[", b"1"))),
            (FORM, form(FILE, field("a", b"\xff"))),
            (FORM, form(FILE, field("a", b"\x00"))),
            (FORM, form(FILE, field("a", b"x" * 70_000))),
            (FORM, form(FILE, *(field(f"a{n}", b"1") for n in range(101)))),
        ],
    )
    def test_broken(self, content_type: str, raw: bytes) -> None:
        with pytest.raises(errors.Malformed):
            read(raw, content_type)

    @pytest.mark.parametrize(
        ("content_type", "raw"),
        [
            ('multipart/form-data; boundary=b; a="' + ";" * 120_000, b"--b--"),
            ("multipart/form-data; boundary=" + "b=;" * 40_000, b"--b--"),
            ("text/csv; " + 'a="\\' * 40_000, b"a,b"),
            (FORM, form(*[b'Content-Disposition: form-data; name="' + b";" * 4_000 + b"\r\n\r\nx"] * 98)),
            (FORM, form(*[b'Content-Disposition: form-data; name="\\' + b'";a="\\' * 150 + b"\r\n\r\nx"] * 98)),
            (FORM, form(b"A: b\r\n" * 200_000 + b"\r\nx")),
            (FORM, b"\r\n--xy" * 200_000),
            (FORM, b"--xyz\r\n" * 200_000),
        ],
        ids=range(8),
    )
    def test_hostile_heads_take_no_time(self, content_type: str, raw: bytes) -> None:
        start = time.process_time()
        with pytest.raises(errors.Malformed):
            read(raw, content_type)
        assert time.process_time() - start < 0.2

    def test_ok(self) -> None:
        raw = form(field("map[E-mail]", b"locale"), FILE, field("dry_run", b"1"), end=b"--xyz--")
        expected = Upload(b"a,b\r\n", "a.csv", {"map": {"E-mail": "locale"}, "dry_run": "1"})
        assert expected == read(raw)

    @settings(max_examples=size(66, 1_000), deadline=None)
    @given(st.binary(max_size=300).filter(lambda content: b"\r\n--xyz" not in content))
    def test_the_file_is_what_was_put_in(self, content: bytes) -> None:
        part = b'Content-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + content
        assert content == read(form(part)).content

    @settings(max_examples=size(100, 1_000), deadline=None)
    @given(
        st.lists(st.sampled_from([b"--xyz", b"\r\n", b"--", FILE, b'name="a"', b"\xff", b"x", b";", b":"]), max_size=12)
    )
    def test_anything_is_read_or_refused(self, parts: Sequence[bytes]) -> None:
        with suppress(errors.Malformed):
            read(b"".join(parts) or b"x")


@pytest.mark.parametrize(
    ("given_name", "expected"),
    [
        ("a.csv", "a.csv"), ("C:\\lists\\a.csv", "a.csv"), ("../../etc/passwd", "passwd"), ("a\x00\r\n\u202eb", "ab"),
        ("", None), ("/", None), ("x" * 300, "x" * 255),
    ],
)  # fmt: skip
def test_file_name(given_name: str, expected: str | None) -> None:
    assert expected == uploads.file_name_of(given_name)
