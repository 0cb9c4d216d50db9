"""Endings: the first that holds, addresses with variables, and all that a definition does with its texts."""

from typing import Any

import pytest
from msgspec.structs import replace

from afterword.core.questionnaires import definition, differences, drafts, endings, flow, translations, variables
from afterword.core.questionnaires.definition import Definition, Texts
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.metadata import Declared, MetadataDefinition
from afterword.core.questionnaires.translations import with_languages
from afterword.core.reading.findings import Findings
from tests.core.questionnaires.test_definition import document, give_id

HAPPY: dict[str, Any] = {
    "key": "happy",
    "conditions": {"subject": "question:score", "operator": "greater_equal", "value": 9},
    "title": "Wonderful",
    "button_label": "To the shop",
    "button_url": "https://shop.example/?c={{ responder.city | Athens }}&o={{ questionnaire.order }}#x",
    "review_url": "https://reviews.example/us",
    "translations": {"el": {"title": "Υπέροχα"}},
}
QUOTA: dict[str, Any] = {**HAPPY, "key": "quota", "title": "Enough", "responses_max": 200}
OTHERS: dict[str, Any] = {"key": "others", "text": "We shall do better."}


def with_endings(*found: dict[str, Any]) -> dict[str, Any]:
    return {**document(), "endings": list(found)}


def parsed(*found: dict[str, Any]) -> Definition:
    return definition.parse(with_endings(*found), give_id=give_id)


WHOLE = parsed(HAPPY, OTHERS)


def test_reads_back() -> None:
    stored = definition.document_of(WHOLE)
    assert WHOLE == definition.parse(stored)
    assert "endings" not in definition.document_of(parsed())
    shown = drafts.shown(stored)
    assert "key" not in str(shown["endings"])
    assert stored == drafts.prepared(shown, known=stored, new_id=str)
    new = drafts.prepared({"endings": [{}, 7]}, known={}, new_id=lambda: "e" * 22)
    assert {"endings": [{"ending_id": "e" * 22}, 7]} == new


@pytest.mark.parametrize(("score", "title"), [(9, "Wonderful"), (8, None), (None, None)])
def test_chosen(score: int | None, title: str | None) -> None:
    question_id = WHOLE.questions()[0].question_id
    facts = {} if score is None else {f"question:{question_id}": score}
    found = endings.chosen(WHOLE.endings, facts)
    assert found is not None
    assert title == found.title
    assert endings.chosen(WHOLE.endings[:1], {}) is None
    given = endings.chosen(parsed({**HAPPY, "coupon_pool": "thanks"}, OTHERS).endings, facts, pools=["thanks"])
    passed = endings.chosen(parsed({**HAPPY, "coupon_pool": "thanks"}, OTHERS).endings, facts, pools=[])
    assert given is not None
    assert passed is not None
    assert (title, None) == (given.title, passed.title)
    with_quota = parsed(QUOTA, {**HAPPY, "call_back": True}, {**OTHERS, "call_back": False})
    assert [None, True, None] == [one.call_back for one in with_quota.endings]
    assert with_quota == definition.parse(definition.document_of(with_quota))
    chosen = endings.chosen(with_quota.endings, facts)
    assert chosen is not None
    assert title == chosen.title
    assert (["Enough"] if title else []) == [one.title for one in endings.quotas(with_quota.endings, facts)]


def test_address() -> None:
    url = HAPPY["button_url"]
    assert "https://shop.example/?c=Athens&o=#x" == variables.address(url, lambda _: "")
    values = {"responder.city": "a&b/ü#", "questionnaire.order": "../?"}
    assert "https://shop.example/?c=a%26b%2F%C3%BC%23&o=..%2F%3F#x" == variables.address(url, values.__getitem__)


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example/", "javascript:alert(1)", "https://", "https:///x", "https://a b", "//shop.example",
        "https://{{ responder.city }}/", "https://shop.{{ responder.city }}",
        "https://shop.example{{ responder.city }}/",
        "{{ responder.city }}", "https://me@shop.example/", 'https://shop.example/"', "https://shop.example/<b>",
        "https://shop.example/{{ link }}", "https://shop.example/{{ item.recipient }}", "https://shop.example/{{ x",
        "https://shop.example/{{ responder.zip }}", "https://shop.example/" + "x" * 2000,
    ],
)  # fmt: skip
def test_refused_addresses(url: str) -> None:
    city = MetadataDefinition(name="city", kind="responder", title="City")
    findings = Findings()
    whole = with_endings({**OTHERS, "review_url": url})
    found = definition.read(whole, findings, give_id=give_id)
    variables.check(found, Declared.of([city]), findings)
    assert {"/endings/0/review_url"} == {one.pointer for one in findings.errors}


@pytest.mark.parametrize(
    ("found", "path"),
    [
        ([{**HAPPY, "button_label": None}], "/endings/0/button_label"),
        ([{**HAPPY, "button_url": None}], "/endings/0/button_url"),
        (
            [{**HAPPY, "conditions": {"subject": "question:no", "operator": "is_empty"}}],
            "/endings/0/conditions/subject",
        ),
        ([{**HAPPY, "title": "x" * 201}], "/endings/0/title"),
        ([HAPPY, HAPPY], "/endings/1/key"),
        ([7], "/endings/0"),
        ([{**QUOTA, "conditions": None}], "/endings/0/conditions"),
        ([{**QUOTA, "coupon_pool": "thanks"}], "/endings/0/coupon_pool"),
        ([{**QUOTA, "call_back": True}], "/endings/0/call_back"),
        ([{**HAPPY, "call_back": 1}], "/endings/0/call_back"),
        ([{**HAPPY, "coupon_pool": "No"}], "/endings/0/coupon_pool"),
        ([{**QUOTA, "responses_max": 0}], "/endings/0/responses_max"),
        ([{**OTHERS, "key": f"e{n}"} for n in range(51)], "/endings"),
    ],
)
def test_refused(found: list[Any], path: str) -> None:
    with pytest.raises(definition.InvalidDefinition) as caught:
        parsed(*found)
    assert path in {one.path for one in caught.value.findings if one.severity == "error"}


def test_warnings() -> None:
    findings = Findings()
    definition.read(with_endings(OTHERS, HAPPY), findings, give_id=give_id)
    found = {(one.path, one.code) for one in findings.found if one.path.startswith("/endings")}
    assert ("/endings/1", "unreachable_ending") in found
    assert ("/endings/0/translations/el/text", "missing_translation") in found
    assert ("/endings/1/translations/el/button_label", "missing_translation") in found


def test_metadata() -> None:
    level = {"subject": "responder_metadata:level", "operator": "equal", "value": "gold"}
    found = variables.metadata_of(parsed({**HAPPY, "conditions": level}))
    assert {"responder.level": [None], "responder.city": [None], "questionnaire.order": [None]} == found


def test_languages() -> None:
    texts = {one.path: (one.source, one.target) for one in definition.texts_of(WHOLE, "el", Texts())}
    assert ("Wonderful", "Υπέροχα") == texts["/endings/0/translations/el/title"]
    assert ("We shall do better.", None) == texts["/endings/1/translations/el/text"]
    assert ("Υπέροχα", "To the shop") == (
        endings.localized(WHOLE.endings[0], "el").title,
        endings.localized(WHOLE.endings[0], "el").button_label,
    )
    turned, _ = with_languages(WHOLE, Texts(), default="el", kept=["en"])
    assert ("Υπέροχα", "Wonderful") == (turned.endings[0].title, turned.endings[0].translations["en"].title)
    arabic = translations.readable(WHOLE, "ar").endings[0]
    assert arabic.title == translations.isolated("Wonderful")
    assert WHOLE.endings[0].button_url == arabic.button_url


@pytest.mark.parametrize(
    ("later", "sentences"),
    [
        ([HAPPY, OTHERS], []),
        ([OTHERS, HAPPY], ["The endings have another order."]),
        ([HAPPY], ["The ending “We shall do better.” is gone."]),
        (
            [{**HAPPY, "responses_max": 9}, OTHERS],
            ["Of the ending “Wonderful”, the maximum number of responses changed."],
        ),
        ([HAPPY, OTHERS, {"key": "more"}], ["The ending “3” is new."]),
        ([{**HAPPY, "title": "Great"}, OTHERS], ["Of the ending “Great”, the title changed (en)."]),
        ([{**HAPPY, "translations": {}}, OTHERS], ["Of the ending “Wonderful”, the title changed (el)."]),
        ([{**HAPPY, "conditions": None}, OTHERS], ["Of the ending “Wonderful”, the condition changed."]),
        (
            [{**HAPPY, "review_url": None}, OTHERS],
            ["Of the ending “Wonderful”, the address of the review link changed."],
        ),
    ],
)
def test_differences(later: list[dict[str, Any]], sentences: list[str]) -> None:
    assert sentences == [one.sentence for one in differences.differences(WHOLE, parsed(*later))]


@pytest.mark.parametrize(
    ("title", "text", "name"), [("Bye", "x", "Bye"), (None, "x" * 70, "x" * 60 + "…"), (None, None, "")]
)
def test_name(title: str | None, text: str | None, name: str) -> None:
    assert name == endings.name_of(Ending(ending_id="e", title=title, text=text))


POOLED = {**HAPPY, "coupon_pool": "thanks"}


def test_pools() -> None:
    definition = parsed(POOLED, {**POOLED, "key": "again"}, OTHERS)
    paths = ["/endings/0/coupon_pool", "/endings/1/coupon_pool"]
    assert {"thanks": paths} == flow.pools_of(definition)
    for pools, expected in ((["thanks"], []), ([], paths)):
        findings = Findings()
        flow.check(definition, pools=pools, pictures=[], findings=findings)
        assert expected == [one.path for one in findings.found]


def test_places() -> None:
    happy, others = WHOLE.endings
    later = replace(WHOLE, endings=(others, replace(happy, title="Great", review_url="https://r.example/")))
    found = {one.path: (one.before, one.after) for one in differences.differences(WHOLE, later)}
    assert ("Wonderful", "Great") == found["/endings/1/title"]
    assert ("https://reviews.example/us", "https://r.example/") == found["/endings/1/review_url"]
    assert ([happy.ending_id, others.ending_id], [others.ending_id, happy.ending_id]) == found["/endings"]


BY_BRANCH: dict[str, Any] = {
    **HAPPY,
    "key": "branch",
    "conditions": {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7"},
}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([HAPPY, OTHERS], "/endings/0/review_url"),  # the happy ones alone
        ([HAPPY], "/endings/0/review_url"),  # of the others nobody
        ([{**HAPPY, "review_url": None}, {**OTHERS, "review_url": "https://r.example/"}], "/endings/1/review_url"),
        ([BY_BRANCH, HAPPY, OTHERS], "/endings/0/review_url"),
        ([HAPPY, {**OTHERS, "review_url": "https://r.example/"}], None),
        ([QUOTA, {**OTHERS, "review_url": "https://r.example/"}], None),  # a quota is no opinion
        ([BY_BRANCH, OTHERS], None),  # branches without a page on a review site
        ([{**HAPPY, "review_url": None}, OTHERS], None),
    ],
)
def test_everybody_is_asked_for_a_review_or_nobody(found: list[dict[str, Any]], expected: str | None) -> None:
    findings = Findings()
    flow.check_reviews(parsed(*found), findings)
    assert ([(expected, "exclusive")] if expected else []) == [(one.pointer, one.code) for one in findings.errors]
