"""Variables in authored texts: what is filled, what stays text, what is refused; and the attacks."""

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from afterword.core.text.placeholders import (
    PLACEHOLDERS_MAX,
    SUBJECT_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    VARIABLES,
    check,
    parse,
    values_of,
)

CPU_SECONDS_MAX = 5  # 0.05 s without tracing; a pattern that goes back and forth would take minutes
VALUES = values_of(
    fixed={
        "organization": "Shop",
        "questionnaire": "Delivery",
        "link": "https://x/a/1",
        "unsubscribe_link": "https://x/u/1",
    },
    responder={"first_name": "Ann", "empty": "", "blank": "  "},
    questionnaire={"transaction_id": "A-17"},
)

ATTACKS = [
    *Path(__file__).with_name("attacks.txt").read_text().splitlines(),
    "{{ organizatiоn }}",  # noqa: RUF001  a Cyrillic o
    "{{ organization\0 }}",
    "{{ responder." + "a" * 100 + " }}",
    "{{ link | " + "x" * 300 + " }}",
    "{{" * 50_000,
    "{{ organization " * 5_000,
    "{{ responder.a | " * 5_000,
    "{" * 100_000,
    "}}{{" * 20_000,
    " " * 100_000,
    "{{" + " " * 90_000 + "}}",
    "{{ organization }}" * 5_000,
    "{{ responder.first_name | " + "}" * 50_000,
]


@pytest.mark.parametrize("text", ATTACKS, ids=range(len(ATTACKS)))
def test_attack_is_text_or_refused(text: str) -> None:
    started = time.process_time()
    tracemalloc.start()
    problems = check(text)
    filled = parse(text).fill(VALUES)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.process_time() - started < CPU_SECONDS_MAX
    assert peak < 16_000_000
    # Whatever is left when the known values are taken out stood in the text.
    for value in VALUES.values():
        filled = filled.replace(value, "")
    assert len(filled) <= len(text)
    # Derived values, had anybody derived them: classes, files, products.
    assert not [word for word in ("subclass", "root:", "49", "builtin") if word in filled and word not in text]
    assert len(problems) <= PLACEHOLDERS_MAX + 2


@pytest.mark.parametrize("characters", [TEXT_CHARACTERS_MAX + 1, 10_000_000])
def test_too_long(characters: int) -> None:
    text = "{{ organization }}" * (characters // 18 + 1)
    assert ["too_long"] == [problem.code for problem in check(text)]
    with pytest.raises(ValueError, match="at most"):
        parse(text)


def test_too_many() -> None:
    text = "{{ organization }}" * (PLACEHOLDERS_MAX + 1)
    assert ["too_many"] == [problem.code for problem in check(text)]
    assert "Shop" * PLACEHOLDERS_MAX + "{{ organization }}" == parse(text).fill(VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "{{ config }}",
        "{{ responder }}",
        "{{ organization.name }}",
        "{{ respondent.name }}",
        "{{ 7*7 }}",
        "{{ }}",
        "{{ organization",
    ],
)
def test_unknown_variable_is_refused(text: str) -> None:
    assert ["unknown_value"] == [problem.code for problem in check(text)]
    assert text == parse(text).fill(VALUES)


def test_the_refusal_names_what_is_known() -> None:
    message = check("{{ name }}")[0].message
    assert "“name”" in message
    assert all(variable in message for variable in VARIABLES)


DECLARED = {"responder.first_name", "questionnaire.order", *(f"questionnaire.field_{n:02}" for n in range(40))}


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ([], "{{ responder.first_name }} {{ questionnaire.order }} {{ organization }} {{ item.send_date }}"),
        ([], "{{ responder.fist_name | you }}"),
        ([], "{{ questionnaire }}"),
        (["responder.fist_name"], "{{ responder.fist_name }} {{ responder.fist_name }}"),
        (["responder.order"], "{{ responder.order }}"),
        (["responder.a", "questionnaire.b"], "{{ responder.a |  }} {{ questionnaire.b | '' }}"),
    ],
)
def test_undeclared_metadata_need_a_fallback(expected: list[str], text: str) -> None:
    assert [] == check(text)
    found = check(text, declared=DECLARED)
    assert expected == [problem.message.partition("“")[2].partition("”")[0] for problem in found]
    assert {"unknown_value"} >= {problem.code for problem in found}


def test_the_refusal_names_what_is_declared() -> None:
    [problem] = check("{{ responder.name }}", declared=DECLARED)
    assert (
        "say what stands there instead: {{ responder.name | … }}. Declared are responder.first_name." in problem.message
    )
    [problem] = check("{{ questionnaire.name }}", declared=DECLARED)
    assert "questionnaire.field_29 and 11 more." in problem.message
    [problem] = check("{{ questionnaire.name }}", declared=set())
    assert problem.message.endswith("None is declared yet.")


@pytest.mark.parametrize("name", ["item", "item.id", "item.metadata", "item.send_time", "Item.recipient"])
def test_unknown_variable_of_the_item(name: str) -> None:
    [problem] = check(f"{{{{ {name} }}}}")
    assert "item.send_date" in problem.message


def test_subject_has_its_own_limit() -> None:
    assert ["too_long"] == [problem.code for problem in check("x" * 201, characters_max=SUBJECT_CHARACTERS_MAX)]


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("", ""),
        ("Hello", "Hello"),
        ("Shop", "{{organization}}"),
        ("Dear Ann,", "Dear {{ responder.first_name }},"),
        ("Dear Ann,", "Dear {{ responder.first_name | customer }},"),
        ("Dear customer,", "Dear {{ responder.unknown | customer }},"),
        ("Dear valued customer,", 'Dear {{ responder.empty | "valued customer" }},'),
        ("Dear x,", "Dear {{ responder.blank | 'x' }},"),
        ("Dear ,", "Dear {{ responder.unknown }},"),
        ("A-17", "{{ questionnaire.transaction_id }}"),
        ("Delivery", "{{ questionnaire }}"),
        ("https://x/a/1 https://x/u/1", "{{ link }} {{ unsubscribe_link }}"),
        ("{ link } %s", "{ link } %s"),
    ],
)
def test_fill(expected: str, text: str) -> None:
    assert [] == check(text)
    assert expected == parse(text).fill(VALUES)


def test_values_are_not_filled_again() -> None:
    values = values_of(fixed={"organization": "Shop"}, responder={"first_name": "{{ organization }}"}, questionnaire={})
    assert "{{ organization }}" == parse("{{ responder.first_name }}").fill(values)


def test_metadata_cannot_shadow_what_is_fixed() -> None:
    values = values_of(fixed={"link": "https://x"}, responder={"link": "https://evil"}, questionnaire={"": "x"})
    assert "https://x" == parse("{{ link }}").fill(values)


def test_long_values_are_cut() -> None:
    values = values_of(fixed={}, responder={"a": "x" * 100_000}, questionnaire={})
    assert 4_096 == len(parse("{{ responder.a }}").fill(values))


@given(st.text())
def test_a_text_without_braces_stays(text: str) -> None:
    text = text.replace("{{", "{")
    assert text == parse(text).fill(VALUES)


@given(
    st.lists(
        st.sampled_from(["{{", "}}", "{", "}", "|", " ", "organization", "responder.", "first_name", "x"]), max_size=40
    )
)
def test_what_check_passes_leaves_no_braces(pieces: list[str]) -> None:
    text = "".join(pieces)
    if not check(text):
        assert "{{" not in parse(text).fill(VALUES)
