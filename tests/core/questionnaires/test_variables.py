"""Variables in the texts of a definition: which there are, where, and how people see them in the editor."""

from typing import Any

import pytest

from afterword.core.questionnaires import definition, metadata, variables
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.findings import Findings

A, B, C, D = (letter * 22 for letter in "abcd")
DECLARED = Declared.of([*metadata.PRODUCT])
PATH = "/groups/1/questions/0"


def document(**texts: Any) -> dict[str, Any]:
    """A branch and a contact on the first page, a statement and the question with these texts on the second."""
    choices = [{"value": 1, "label": "Athens"}, {"value": 2, "label": "Volos"}]
    last = {"question_id": C, "type": "nps", "title": "How likely?", **texts}
    return {
        "default_locale": "en",
        "locales": ["en", "el"],
        "groups": [
            {
                "group_id": "G" * 22,
                "questions": [
                    {"question_id": A, "key": "branch", "type": "single_choice", "title": "Where?", "choices": choices},
                    {"question_id": B, "key": "who", "type": "contact", "title": "Who?"},
                ],
            },
            {"group_id": "H" * 22, "questions": [last, {"question_id": D, "type": "statement", "title": "Hello"}]},
        ],
    }


def problems(whole: dict[str, Any]) -> list[tuple[str, str]]:
    findings = Findings()
    variables.check(definition.parse(whole), DECLARED, findings)
    return [(finding.path, finding.code) for finding in findings.found]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{{ answer.branch }}", None),
        (f"{{{{ answer.{A} | your branch }}}}", None),
        ("{{answer.who.name|you}} and {{ answer.who }}", None),
        ("{{ organization }}, {{ questionnaire.store_id }}", None),
        ("{{ responder.nickname | you }}", None),
        ("{{ responder.nickname }}", "unknown_value"),  # neither declared nor with a fallback
        ("{{ answer.brunch | x }}", "unknown_value"),
        ("{{ answer.who.email2 }}", "unknown_value"),
        ("{{ answer.branch.name }}", "unknown_value"),
        (f"{{{{ answer.{C} }}}}", "unknown_value"),  # its own answer
        (f"{{{{ answer.{D} }}}}", "unknown_value"),  # of a statement
        ("{{ link }}", "unknown_value"),  # of messages
        ("{{ answer.branch", "unknown_value"),
        ("{{ 7*7 }}", "unknown_value"),
    ],
)
def test_check(text: str, code: str | None) -> None:
    expected = [] if code is None else [(f"{PATH}/title", code)]
    assert expected == problems(document(title=text))
    in_greek = document(translations={"el": {"description": text}})
    assert [(f"{PATH}/translations/el/description", one) for _, one in expected] == problems(in_greek)


def test_places() -> None:
    """Pages before the questions know no answers; a text of the same page does not know them yet."""
    pages = {"en": dict.fromkeys(("welcome", "thank_you", "closed"), "{{ answer.branch }}")}
    assert [("/pages/en/welcome", "unknown_value"), ("/pages/en/closed", "unknown_value")] == problems(
        {**document(), "pages": pages}
    )
    beside = document()
    beside["groups"][0]["questions"][1]["title"] = "{{ answer.branch | there }}?"
    assert [("/groups/0/questions/1/title", "variable_within_page")] == problems(beside)
    beside["groups"][0]["title"] = "{{ answer.branch }}"
    assert ("/groups/0/title", "unknown_value") in problems(beside)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Plain", "Plain"),
        ("In {{ answer.branch | your branch }}?", "In Athens?"),
        ("{{ answer.who | Somebody }}: {{ 7*7 }}", "Somebody: {{ 7*7 }}"),
        ("{{ answer.who }}", "…"),
    ],
)
def test_fill(text: str, filled: str) -> None:
    assert filled == variables.fill(text, lambda name: "Athens" if name == "answer.branch" else "")


def test_titles() -> None:
    """Authors read and write titles; what is stored names ids, so that another title changes nothing."""
    titles = variables.plain_titles({A: "Where?", B: "Who?", C: "Who? ", D: "{{ answer.x }}"})
    assert {A: "Where?"} == titles
    stored = f"From {{{{ answer.{A} | here }}}} to {{{{ answer.{B} }}}}, {{{{ responder.name }}}}"
    shown = variables.with_titles(stored, titles)
    assert f"From {{{{ Where? | here }}}} to {{{{ answer.{B} }}}}, {{{{ responder.name }}}}" == shown
    assert stored == variables.with_ids(shown.replace("Where?", " WHERE?"), titles)
    assert "{{ Whence? }}" == variables.with_ids("{{ Whence? }}", titles)


@pytest.mark.parametrize(("spaces", "is_found"), [(594, True), (595, False)])
def test_spaces_are_looked_at_once(spaces: int, *, is_found: bool) -> None:
    """They count among the 600 characters of a name; a pattern that gave them back would try each split of them."""
    written = "{{" + " " * spaces + "Where?}}"
    assert (written == variables.with_ids(written, {A: "Where?"})) is not is_found


def test_metadata_of() -> None:
    age = {"subject": "responder_metadata:age", "operator": "is_empty"}
    whole = document(title="{{ questionnaire.store_id | here }}?", show_if=age, jumps=[{"conditions": age}])
    whole["pages"] = {"en": {"welcome": "{{ questionnaire.store_id }}"}}
    assert {"responder.age": [C], "questionnaire.store_id": [None, C]} == variables.metadata_of(definition.parse(whole))
