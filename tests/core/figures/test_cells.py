import pytest

from afterword.core.figures.cells import dimensions, read_group


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("bucket", ("bucket", "")),
        ("question:Q1", ("question", "Q1")),
        ("responder_metadata:a:b", ("responder_metadata", "a:b")),
        ("bucket:day", None),
        ("question", None),
        ("question:", None),
        ("questionnaire_metadata:" + "x" * 256, None),
        ("store", None),
        ("", None),
    ],
)
def test_groups(text: str, group: tuple[str, str] | None) -> None:
    assert group == read_group(text)


def test_dimensions_are_what_each_response_has_a_value_of() -> None:
    asked = ("bucket", "locale", "questionnaire", "questionnaire_metadata:store", "question_id")
    assert (("locale", ""), ("questionnaire_metadata", "store")) == dimensions(asked)
