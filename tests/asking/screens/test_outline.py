"""Problems of a draft as links to where each is put right."""

from afterword.asking.screens import questionnaires
from afterword.core.questionnaires import definition
from afterword.core.reading.findings import Findings
from afterword.kit.texts import texts

WORDS = texts("console", "en")
QUESTION = {"question_id": "q" * 22, "type": "single_choice", "title": "Why?", "choices": [{"value": 1, "label": "A"}]}
JUMP = {"target_question_id": "x" * 22, "conditions": None}


def test_problems() -> None:
    document = {
        "default_locale": "en",
        "locales": ["en", "el"],
        "pages": {"en": {"welcome": "x" * 5_001}},
        "groups": [
            {"group_id": "g" * 22, "title": "First", "questions": [{**QUESTION, "jumps": [JUMP]}]},
            {"group_id": "h" * 22, "questions": []},
        ],
    }
    findings = Findings()
    definition.read(document, findings)
    found = questionnaires.problems_of(WORDS, document, findings.found, path="/a")
    edit, question = "/a/edit", f"/a/edit/{'q' * 22}"
    assert [
        (f"{question}#choices", "Why?", "At least two choices are needed.", "choices"),
        (f"{edit}/page/{'h' * 22}", "", "This page has no question.", ""),
        (f"{edit}/texts", "", "At most \u20685,000\u2069 characters are possible.", ""),
        (f"{question}/jump/0", "Why?", "A jump leads to a later question, or with null to the end.", "jumps"),
        ("/a/translations/el?show=missing", "", "3 texts are missing in Greek.", ""),
    ] == [(one.url, one.where, one.text, one.member) for one in found]
    assert [True] * 4 + [False] == [one.is_error for one in found]
    rows = questionnaires.rows_of(WORDS, document, path=edit, wrong=found)
    assert [[2], []] == [[one["wrong"] for one in row["questions"]] for row in rows]


def test_anything() -> None:
    findings = Findings()
    document = {"default_locale": 7, "groups": [7, {"questions": [None, {"type": []}]}]}
    definition.read(document, findings)
    assert all(one.text for one in questionnaires.problems_of(WORDS, document, findings.found, path="/a"))
    assert 1 == len(questionnaires.rows_of(WORDS, document, path="/a"))
