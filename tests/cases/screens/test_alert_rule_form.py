"""The form of a rule: errors of its condition stand at the row that has them."""

import pytest

from afterword import errors
from afterword.cases.screens.alert_rules import placed, typed_draft
from afterword.console.screens import Form

ROWS = {"subject-0": [""], "subject-4": ["question:q"], "value-4": ["6"]}
NESTED = {
    f"{name}-{index}": [value]
    for index, place in ((3, "1"), (4, "1"), (6, "2"))
    for name, value in (("subject", "question:q"), ("value", "6"), ("place", place))
}


@pytest.mark.parametrize(
    ("form", "pointer", "place"),
    [
        (ROWS, "/conditions/all/0/value", "/value-0"),
        (ROWS, "/conditions/any/1/subject", "/subject-1"),
        (ROWS, "/conditions", "/value-0"),
        (NESTED, "/conditions/all/0/any/1/operator", "/operator-1"),
        (NESTED, "/conditions/all/1/any/0/value", "/value-2"),
        ({**ROWS, "document": ["{}"]}, "/conditions/all/0/value", "/document"),
        (ROWS, "/subscriber_user_ids/3", "/subscriber_user_ids"),
        (ROWS, "/title", "/title"),
    ],
)
def test_placed(form: dict[str, list[str]], pointer: str, place: str) -> None:
    draft = typed_draft(Form(form))
    assert {"question:q"} == {row.subject for _, members in draft.shown_rows for _, row in members if row.subject}
    found = placed(errors.Invalid.at(pointer, "required", "Wrong."), draft)
    assert [place] == [one.pointer for one in found.errors]
