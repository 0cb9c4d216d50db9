import pytest

from afterword.core.answers.instances import InvalidTag, normalise


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("vip", "vip"),
        ("  Call   Back ", "call back"),
        ("ΕΠΕΊΓΟΝ", "επείγον"),
        ("e\u0301", "é"),
        ("a.b", "a.b"),
        ("x" * 50, "x" * 50),
    ],
)
def test_normal_form(text: str, tag: str) -> None:
    assert tag == normalise(text)
    assert tag == normalise(tag)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "too_short"),
        (" \t ", "too_short"),
        ("x" * 51, "too_long"),
        ("İ" * 50, "too_long"),  # in lower case each is two characters
        ("a/b", "invalid_format"),
        (".", "invalid_format"),
        ("..", "invalid_format"),
        ("a\x00b", "invalid_format"),
        ("\ud800", "invalid_format"),
    ],
)
def test_refused(text: str, code: str) -> None:
    with pytest.raises(InvalidTag) as refused:
        normalise(text)
    assert code == refused.value.code
