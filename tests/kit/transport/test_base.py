"""Settings of accounts are read into their form, or refused in a sentence that quotes no value."""

import msgspec
import pytest

from afterword.kit.transport.base import read_settings


class Form(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    port: int = 25


@pytest.mark.parametrize("document", [{}, {"key": 1}, {"key": "s3cr3t", "port": "s3cr3t"}, {"key": "s3cr3t", "x": 1}])
def test_refused(document: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\.$") as refused:
        read_settings(document, Form)
    assert "s3cr3t" not in str(refused.value)


def test_ok() -> None:
    assert Form("k", 26) == read_settings({"key": "k", "port": 26}, Form)
