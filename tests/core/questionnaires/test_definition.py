"""Definitions: every problem at once with its place, ids that stay, documents that read back, one language shown."""

import copy
import hashlib
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from afterword import ids
from afterword.core.questionnaires import definition, questions
from afterword.core.questionnaires.definition import Definition, InvalidDefinition
from afterword.core.reading.findings import Finding, Findings

DELETE = object()


def give_id(kind: str, key: str) -> str:
    digest = hashlib.sha256(f"{kind} {key}".encode()).digest()
    return ids.base62(int.from_bytes(digest[:16], "big"), ids.ID_CHARACTERS)


DOCUMENT = yaml.safe_load("""
default_locale: en
locales: [en, el]
translations: {el: {title: Παράδοση}}
groups:
  - key: first
    title: First
    translations: {el: {title: Πρώτη}}
    questions:
      - key: score
        type: nps
        title: How likely?
        required: true
        low_label: Never
        jumps:
          - {target_question_id: why, conditions: {subject: "question:score", operator: less, value: 7}}
          - {target_question_id: null}
        translations: {el: {title: "Πόσο πιθανό;", low_label: Ποτέ}}
  - key: second
    questions:
      - key: reasons
        type: multiple_choice
        title: Which?
        randomize: true
        choices:
          - {value: 1, label: One}
          - {value: 2, label: Two}
          - {value: 3, label: Three}
          - {value: 8, label: Other, other: true}
          - {value: 9, label: None, exclusive: true}
        translations: {el: {choices: {"1": Ένα}}}
      - {key: why, type: text, title: "Why?"}
pages: {en: {welcome: Welcome, thank_you: Thanks}, el: {welcome: Καλώς ήρθατε}}
""")


def document() -> dict[str, Any]:
    return copy.deepcopy(DOCUMENT)


def changed(*path: str | int, to: object, of: object = None) -> dict[str, Any]:
    """The good document, or another one, with one place changed."""
    whole: Any = copy.deepcopy(of or document())
    place = whole
    for step in path[:-1]:
        place = place[step]
    if to is DELETE:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return whole


def checked(wrong: object, give_id: definition.GiveId | None = None) -> list[Finding]:
    findings = Findings()
    definition.read(wrong, findings, give_id=give_id)
    return findings.found


def found(wrong: object, severity: str = "error") -> list[tuple[str, str]]:
    findings = checked(wrong, give_id=give_id)
    return [(finding.path, finding.code) for finding in findings if finding.severity == severity]


@pytest.fixture
def good() -> Definition:
    return definition.parse(document(), give_id=give_id)


def shown(key: str, value: object) -> dict[str, object]:
    """A condition on the answer to a question."""
    return {"subject": f"question:{key}", "operator": "equal", "value": value}


SCORE = ("groups", 0, "questions", 0)
REASONS = ("groups", 1, "questions", 0)
WHY = ("groups", 1, "questions", 1)


class TestParse:
    @pytest.mark.parametrize(
        ("path", "to", "pointer", "code"),
        [
            (("default_locale",), DELETE, "/default_locale", "required"),
            (("default_locale",), "english language", "/default_locale", "invalid_locale"),
            (("default_locale",), 7, "/default_locale", "wrong_type"),
            (("default_locale",), "de", "/default_locale", "unknown_value"),
            (("locales",), "en", "/locales", "wrong_type"),
            (("locales", 1), "EN", "/locales/1", "duplicate"),
            (("locales", 1), None, "/locales/1", "wrong_type"),
            (("groups",), DELETE, "/groups", "required"),
            (("groups",), [], "/groups", "too_few"),
            (("groups",), {}, "/groups", "wrong_type"),
            (("groups", 0), [], "/groups/0", "wrong_type"),
            (("groups", 0, "key"), DELETE, "/groups/0/key", "required"),
            (("groups", 0, "key"), "First group", "/groups/0/key", "invalid_format"),
            (("groups", 0, "group_id"), "short", "/groups/0/group_id", "invalid_format"),
            (("groups", 1, "key"), "first", "/groups/1/key", "duplicate"),
            (("groups", 0, "title"), "x" * 501, "/groups/0/title", "too_long"),
            (("groups", 0, "enabled"), 1, "/groups/0/enabled", "wrong_type"),
            (("groups", 0, "questions"), [], "/groups/0/questions", "too_few"),
            (("groups", 0, "translations", "fr"), {}, "/groups/0/translations/fr", "unknown_value"),
            (("groups", 0, "translations", "en"), {}, "/groups/0/translations/en", "unknown_value"),
            (("groups", 0, "translations", "e"), {}, "/groups/0/translations/e", "invalid_locale"),
            (("pages", "fr"), {}, "/pages/fr", "unknown_value"),
            (("pages", "en", "welcome"), "x" * 5001, "/pages/en/welcome", "too_long"),
            (("translations", "el", "title"), "x" * 501, "/translations/el/title", "too_long"),
            ((*SCORE, "type"), DELETE, "/groups/0/questions/0/type", "required"),
            ((*SCORE, "type"), "stars", "/groups/0/questions/0/type", "unknown_value"),
            ((*SCORE, "title"), "", "/groups/0/questions/0/title", "too_short"),
            ((*SCORE, "title"), " \n ", "/groups/0/questions/0/title", "too_short"),
            ((*SCORE, "title"), "a\x00b", "/groups/0/questions/0/title", "invalid_format"),
            ((*SCORE, "title"), "a\ud800b", "/groups/0/questions/0/title", "invalid_format"),
            ((*SCORE, "required"), "yes", "/groups/0/questions/0/required", "wrong_type"),
            ((*SCORE, "display_probability"), 0, "/groups/0/questions/0/display_probability", "out_of_range"),
            ((*SCORE, "display_probability"), 1.5, "/groups/0/questions/0/display_probability", "wrong_type"),
            ((*SCORE, "low_label"), "x" * 101, "/groups/0/questions/0/low_label", "too_long"),
            ((*SCORE, "question_id"), "ä" * 22, "/groups/0/questions/0/question_id", "invalid_format"),
            ((*WHY, "question_id"), give_id("question", "score"), "/groups/1/questions/1/question_id", "duplicate"),
            ((*WHY, "key"), "score", "/groups/1/questions/1/key", "duplicate"),
            ((*WHY, "length_max"), 5001, "/groups/1/questions/1/length_max", "out_of_range"),
            ((*WHY, "show_if"), "always", "/groups/1/questions/1/show_if", "wrong_type"),
            ((*WHY, "show_if"), shown("why", "x"), "/groups/1/questions/1/show_if/subject", "unknown_id"),
            ((*REASONS, "show_if"), shown("why", "x"), "/groups/1/questions/0/show_if/subject", "unknown_id"),
            ((*WHY, "show_if"), shown("reasons", [1, 7]), "/groups/1/questions/1/show_if/value", "unknown_value"),
            ((*WHY, "show_if"), shown("score", 11), "/groups/1/questions/1/show_if/value", "unknown_value"),
            ((*WHY, "jumps"), [{}] * 21, "/groups/1/questions/1/jumps", "too_many"),
            (  # backwards
                (*WHY, "jumps"), [{"target_question_id": "score"}],
                "/groups/1/questions/1/jumps/0/target_question_id", "unknown_id",
            ),
            (  # to itself
                (*WHY, "jumps"), [{"target_question_id": "why"}],
                "/groups/1/questions/1/jumps/0/target_question_id", "unknown_id",
            ),
            (  # a condition on a question that was not asked yet
                (*SCORE, "jumps", 0, "conditions", "subject"), "question:why",
                "/groups/0/questions/0/jumps/0/conditions/subject", "unknown_id",
            ),
            ((*REASONS, "choices"), DELETE, "/groups/1/questions/0/choices", "required"),
            ((*REASONS, "choices", 1, "value"), 1, "/groups/1/questions/0/choices/1/value", "duplicate"),
            ((*REASONS, "choices", 1, "value"), 1001, "/groups/1/questions/0/choices/1/value", "out_of_range"),
            ((*REASONS, "choices", 1, "label"), "", "/groups/1/questions/0/choices/1/label", "too_short"),
            ((*REASONS, "choices", 4, "other"), True, "/groups/1/questions/0/choices/4/other", "duplicate"),
            ((*REASONS, "choices_max"), 6, "/groups/1/questions/0/choices_max", "out_of_range"),
            (
                (*REASONS, "translations", "el", "choices"), {"7": "Επτά"},
                "/groups/1/questions/0/translations/el/choices/7", "unknown_member",
            ),
        ],
    )  # fmt: skip
    def test_refused(self, path: tuple[str | int, ...], to: object, pointer: str, code: str) -> None:
        assert (pointer, code) in found(changed(*path, to=to))

    @pytest.mark.parametrize("wrong", [None, [], "text", 7])
    def test_no_object(self, wrong: object) -> None:
        assert ("", "wrong_type") in found(wrong)

    def test_everything_at_once(self) -> None:
        wrong = document()
        wrong["default_locale"] = "e"
        wrong["groups"][0]["questions"][0]["type"] = "stars"
        wrong["groups"][1]["questions"][1]["title"] = None
        with pytest.raises(InvalidDefinition) as refusal:
            definition.parse(wrong, give_id=give_id)
        places = [one.path for one in refusal.value.findings if one.severity == "error"]
        assert ["/default_locale", "/groups/0/questions/0/type", "/groups/1/questions/1/title"] == places

    def test_choices_min_over_max(self) -> None:
        wrong = changed(*REASONS, "choices_min", to=3)
        wrong["groups"][1]["questions"][0]["choices_max"] = 2
        assert [("/groups/1/questions/0/choices_min", "out_of_range")] == found(wrong)

    def test_four_smileys(self) -> None:
        smileys = {"key": "why", "type": "smileys", "title": "How was it?", "scale_max": 4}
        assert [("/groups/1/questions/1/scale_max", "out_of_range")] == found(changed(*WHY, to=smileys))

    def test_too_many_questions_in_all(self) -> None:
        groups = [
            {
                "key": f"g{place}",
                "questions": [{"key": f"q{place}_{n}", "type": "text", "title": "?"} for n in range(67)],
            }
            for place in range(3)
        ]
        whole = {"default_locale": "en", "groups": groups}
        assert [("/groups", "too_many")] == found(whole)

    def test_without_an_id_only_where_keys_give_one(self) -> None:
        codes = {finding.code for finding in checked(document())}
        assert "required" in codes

    def test_ok(self, good: Definition) -> None:
        assert "en" == good.default_locale
        assert ("en", "el") == good.locales
        assert ["score", "reasons", "why"] == [question.key for question in good.questions()]
        assert give_id("question", "why") == good.questions()[0].jumps[0].target_question_id
        assert good.groups[1] == good.group_of(give_id("question", "why"))
        assert 2 == good.position(give_id("question", "why"))
        assert good.question("unknown") is None
        assert good.group("unknown") is None

    def test_locales_are_stored_in_lower_case(self) -> None:
        whole = {**document(), "default_locale": "en_US", "locales": ["en-US", "EL"], "pages": {"en_us": {}}}
        assert ("en-us", "el") == definition.parse(whole, give_id=give_id).locales

    def test_locales_default_to_the_default(self) -> None:
        question = {"key": "b", "type": "csat", "title": "?"}
        whole = {"default_locale": "el", "groups": [{"key": "a", "questions": [question]}]}
        assert ("el",) == definition.parse(whole, give_id=give_id).locales

    def test_reads_back(self, good: Definition) -> None:
        assert good == definition.parse(definition.document_of(good))

    def test_what_is_not_translated_is_a_warning(self) -> None:
        assert [
            ("/pages/el/thank_you", "missing_translation"),
            ("/groups/1/questions/0/translations/el/title", "missing_translation"),
            ("/groups/1/questions/0/translations/el/choices/2", "missing_translation"),
            ("/groups/1/questions/0/translations/el/choices/3", "missing_translation"),
            ("/groups/1/questions/0/translations/el/choices/8", "missing_translation"),
            ("/groups/1/questions/0/translations/el/choices/9", "missing_translation"),
            ("/groups/1/questions/1/translations/el/title", "missing_translation"),
        ] == found(document(), "warning")

    @pytest.mark.parametrize(
        ("target", "enabled", "warnings"), [("last", True, 1), (None, True, 1), ("last", False, 0), ("why", True, 0)]
    )
    def test_a_jump_within_a_page_is_a_warning(self, target: str | None, *, enabled: bool, warnings: int) -> None:
        """It hides nothing that stands on its own page; over the next question alone it passes over nothing."""
        whole = changed(*WHY, "enabled", to=enabled)
        questions = whole["groups"][1]["questions"]
        questions[0]["jumps"] = [{"target_question_id": target}]
        questions.append({"key": "last", "type": "nps", "title": "Last?"})
        path = "/groups/1/questions/0/jumps/0"
        assert [(path, "jump_within_page")] * warnings == [
            one for one in found(whole, "warning") if one[1] != "missing_translation"
        ]


def test_a_document_has_the_fields_of_its_type(good: Definition) -> None:
    score, reasons, why = (questions.document_of(question) for question in good.questions())
    assert not {"choices", "length_max", "scale_max"} & score.keys()
    assert {"choices", "choices_min", "choices_max"} <= reasons.keys()
    assert {"length_max": 2000, "multiline": True}.items() <= why.items()


class TestLocalized:
    def test_texts_fall_back(self, good: Definition) -> None:
        score, reasons, _ = good.questions()
        assert "Πόσο πιθανό;" == questions.localized(score, "el").title
        assert "How likely?" == questions.localized(score, "fr").title
        assert "Which?" == questions.localized(reasons, "el").title
        assert ["Ένα", "Two"] == [choice.label for choice in questions.localized(reasons, "el").choices[:2]]
        assert "Thanks" == good.page_texts("el").thank_you
        assert "Καλώς ήρθατε" == good.page_texts("el").welcome
        assert "Παράδοση" == good.texts("el").title
        assert good.texts("en").title is None

    def test_order_is_the_instances_own(self, good: Definition) -> None:
        reasons = good.questions()[1]
        orders = {
            tuple(choice.value for choice in questions.localized(reasons, "en", seed=f"instance{n}").choices)
            for n in range(200)
        }
        assert 6 == len(orders)  # 3! orders, all of them
        assert {(8, 9)} == {order[3:] for order in orders}  # other and exclusive ones stay last
        again = questions.localized(reasons, "el", seed="instance1")
        assert [choice.value for choice in questions.localized(reasons, "en", seed="instance1").choices] == [
            choice.value for choice in again.choices
        ]
        assert [1, 2, 3, 8, 9] == [choice.value for choice in questions.localized(reasons, "en").choices]


def test_the_content_of_an_instance(good: Definition) -> None:
    """Questions that were drawn, in one language, without members that its responder must not see."""
    why = give_id("question", "why")
    shown: Any = definition.content(
        good, "el", question_ids=[why], instance_id="I", questionnaire_id="Q", version_id="V"
    )
    [group] = shown["groups"]
    [question] = group["questions"]
    assert (give_id("group", "second"), 1, 1) == (group["group_id"], group["position"], group["questions_count"])
    expected = {"question_id": why, "position": 1, "questionnaire_id": "Q", "version_id": "V"}
    assert expected.items() <= question.items()
    assert not {"translations", "jumps", "key", "code"} & (question.keys() | group.keys())
    assert {"welcome": "Καλώς ήρθατε", "thank_you": "Thanks", "closed": None, "expired": None} == shown["pages"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_any_json_is_read_or_reported(anything: object) -> None:
    assert [] != found(anything)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    below: list[tuple[str | int, ...]] = [path] if path else []
    if isinstance(value, dict):
        return below + [one for key, entry in value.items() for one in places(entry, (*path, key))]
    if isinstance(value, list):
        return below + [one for index, entry in enumerate(value) for one in places(entry, (*path, index))]
    return below
