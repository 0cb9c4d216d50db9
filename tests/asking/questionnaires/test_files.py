"""Questionnaire files: what is refused, in which line, what plain YAML means, and the page about them."""

import contextlib
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from afterword.asking.questionnaires import files, library, service
from afterword.asking.questionnaires.files import InvalidFile
from afterword.core.questionnaires.question_types import TYPES
from tests import machine
from tests.sizes import size

CPU_SECONDS_MAX = 1
GIVE_ID = service.giver("Q" * 22, None)
WHERE = "groups[0].questions[0]"
GOOD = """\
display_name: Small
default_locale: en
locales: [en, "no"]
key_question_id: score
groups:
  - key: only
    questions:
      - key: score
        type: nps
        title: How likely?
        jumps:
          - target_question_id: why
            conditions: {subject: "question:score", operator: less, value: 7}
          - target_question_id: null
      - key: which
        type: single_choice
        title: Which?
        choices:
          - {value: 1, label: Yes}
          - {value: 2, label: 12:30}
        translations:
          no:
            choices:
              1: Ja
      - key: why
        type: text
        title: >-
          Why
          so?
"""


def problems(text: str) -> list[str]:
    with pytest.raises(InvalidFile) as refusal:
        files.read(text, give_id=GIVE_ID)
    assert 422 == refusal.value.status
    return [str(problem) for problem in refusal.value.problems]


class TestLoad:
    @pytest.mark.parametrize(
        ("text", "start"),
        [
            ("", "line 1: The file is empty"),
            ("# nothing\n", "line 1: The file is empty"),
            ("a: [1\nb: 2", "line 2: This is not YAML"),
            ("a: 1\n b: 2", "line 2: This is not YAML"),
            ("a: 1\n\tb: 2", "line 2: This is not YAML"),
            ("a: 1\nb: \x07", "line 2: This is not YAML"),
            ("a: 1\nb: \ud800", "line 2: The file is not UTF-8"),
            ("a: 1\n---\nb: 2", "line 2: A file has one document"),
            ("? [1, 2]\n: 3", "line 1: A text is expected as the name of a field"),
            ("[" * 100_000, "line 1, "),
            ("{a: " * 100_000, "line 1, "),
            ("a: [" + "1," * 60_000 + "]", "line 1, a: The file has more than 50000 values"),
            ("a: " + "x" * files.FILE_BYTES_MAX, "line 1: The file is larger than 1048576 bytes"),
        ],
    )
    def test_hopeless(self, text: str, start: str) -> None:
        before = time.process_time()
        found = problems(text)
        assert 1 == len(found)
        assert found[0].startswith(start)
        assert not machine.is_over(time.process_time() - before, limit=CPU_SECONDS_MAX)

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("a: &x 1", "line 1: Anchors are not possible here."),
            ("a: 1\nb: *x", "line 2: Aliases are not possible here; write the value out."),
            ("a: 1\nb: {c: !!str 1}", "line 2, b: Tags are not possible here."),
            ("a: !!python/object/apply:os.system ['true']", "line 1: Tags are not possible here."),
            ("a: 1\nb: 2\na: 3", "line 3, a: This is a duplicate of line 1."),
            ("a:\n  - {b: 1, b: 2}", "line 2, a[0].b: This is a duplicate of line 2."),
            ("a: 1\n<<: {b: 2}", "line 2, <<: There is no such field here."),
        ],
    )
    def test_refused(self, text: str, problem: str) -> None:
        assert problem in problems(text)

    def test_aliases_expand_to_nothing(self) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
        before = time.process_time()
        assert files.PROBLEMS_MAX == len(problems("\n".join(lines)))
        assert not machine.is_over(time.process_time() - before, limit=CPU_SECONDS_MAX)

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("no", "no"), ("on", "on"), ("yes", "yes"), ("12:30", "12:30"), ("2026-01-31", "2026-01-31"),
            ("0x1f", "0x1f"),
            ("1_000", "1_000"), (".inf", ".inf"), ("'7'", "7"), ('"true"', "true"), ("7", 7), ("-7", -7), ("+7", 7),
            ("007", 7), ("1.50", 1.5), ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
            ("9" * 19, "9" * 19), ("|\n  a\n  b\n", "a\nb"), (">-\n  a\n  b\n", "a b"), ("[1, [a]]", [1, ["a"]]),
            ("{}", {}),
        ],
    )  # fmt: skip
    def test_plain_yaml(self, text: str, value: object) -> None:
        assert {"a": value} == files.load(f"a: {text}").document

    def test_byte_order_mark(self) -> None:
        assert {"a": 1} == files.load("\ufeffa: 1").document

    def test_lines(self) -> None:
        source = files.load("a:\n  - b: 1\n    c/d:\n      2\n  - 3\n")
        assert {"": 1, "/a": 1, "/a/0": 2, "/a/0/b": 2, "/a/0/c~1d": 3, "/a/1": 5} == source.lines


class TestRead:
    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            ("display_name: Small", "display_nam: Small", "line 1, display_nam: There is no such field here."),
            ("display_name: Small", "", "line 2, display_name: This is required."),
            ("title: How likely?", "titel: How?", "line 8, groups[0].questions[0].title: This is required."),
            ("title: How likely?", "titel: How?", f"line 10, {WHERE}.titel: There is no such field here."),
            ("type: nps", "type: stars", "line 9, groups[0].questions[0].type: One of nps, "),
            ("key: score\n        type", "type", "line 8, groups[0].questions[0].key: A key is required"),
            ("target_question_id: why", "target_question_id: who", "line 12, groups[0].questions[0].jumps[0].target"),
            ("operator: less", "operator: under", f"line 13, {WHERE}.jumps[0].conditions.operator: One of"),
            ("key_question_id: score", "key_question_id: other", "line 4, key_question_id: No question has this"),
            ("value: 2,", "value: two,", "line 20, groups[0].questions[1].choices[1].value: A whole number"),
            ("1: Ja", "3: Ja", "line 24, groups[0].questions[1].translations.no.choices[3]: There is no choice"),
            ("default_locale: en", "default_locale: el", "line 2, default_locale: The default locale must be one"),
            ("display_name: Small", "display_name: S\nvalid_days: -1", "line 2, valid_days: A number from 0 to 3,650"),
            ("display_name: Small", "display_name: S\nquestionnaire_icon_url: javascript:1", "line 2, questionnaire"),
            ("display_name: Small", "display_name: S\nactive: false", "line 2, active: There is no such field here."),
        ],
    )  # fmt: skip
    def test_refused(self, old: str, new: str, problem: str) -> None:
        assert old in GOOD
        assert any(one.startswith(problem) for one in problems(GOOD.replace(old, new, 1)))

    def test_everything_at_once_in_the_order_of_lines(self) -> None:
        text = (
            GOOD.replace("display_name", "name").replace("type: nps", "type: stars").replace("key: why", "key: score")
        )
        found = problems(text)
        assert 4 <= len(found)
        lines = [int(one.split(",")[0].removeprefix("line ").partition(":")[0]) for one in found]
        assert sorted(lines) == lines

    def test_the_refusal_names_what_a_client_needs(self) -> None:
        with pytest.raises(InvalidFile) as refusal:
            files.read(GOOD.replace("type: nps", "type: stars"), give_id=GIVE_ID)
        error = refusal.value.errors[0]
        assert ("/groups/0/questions/0/type", "unknown_value") == (error.pointer, error.code)
        assert "The file has 1 problem, the first in line 9." == refusal.value.detail

    def test_ok(self) -> None:
        file = files.read(GOOD, give_id=GIVE_ID)
        score, which, why = file.definition.questions()
        assert score.question_id == file.settings["key_question_id"]
        assert [why.question_id, None] == [jump.target_question_id for jump in score.jumps]
        assert ["Yes", "12:30"] == [choice.label for choice in which.choices]
        assert "Ja" == which.translations["no"].choices[1]
        assert "Why so?" == why.title
        assert 30 == file.settings["valid_days"]
        assert "line 22, groups[0].questions[1].translations.no.title: " in "\n".join(map(str, file.warnings))


@settings(max_examples=size(66, 1_000))
@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"#%@`,? \n\t01~é"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidFile):
        files.load(text)


@settings(max_examples=size(33, 1_000))
@given(
    line=st.integers(0, GOOD.count("\n") - 1),
    junk=st.sampled_from(["", "  x", "- ", "a: b", "  a: [", "{", "}", "é: 1"]),
)
def test_any_damaged_line_is_read_or_refused(line: int, junk: str) -> None:
    lines: list[str] = list(GOOD.split("\n"))
    lines[line] = junk
    with contextlib.suppress(InvalidFile):
        files.read("\n".join(lines), give_id=GIVE_ID)


def test_the_library_is_beside_the_code() -> None:
    folder = Path(files.__file__).parent / "library"
    assert set(library.NAMES) == {path.stem for path in folder.glob("*.yaml")} - {"notes"}


PAGE = Path(__file__).parents[3].joinpath("docs/questionnaires.md").read_text(encoding="utf-8")
QUESTIONS = [block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if block.startswith("- ")]
HEAD = "display_name: Example\ndefault_locale: en\nlocales: [en, el]\ngroups:\n  - key: first\n    questions:\n"


@pytest.mark.parametrize("block", QUESTIONS)
def test_examples(block: str) -> None:
    text = HEAD + "".join(f"      {line}\n" for line in block.splitlines())
    file = files.read(text, give_id=service.giver("Q" * 22, None))
    assert len(re.findall(r"^- ", block, re.MULTILINE)) == len(file.definition.questions())


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_listed(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
    for field in TYPES[name].fields:
        assert f"`{field}`" in row


def test_endings() -> None:
    block = next(each for each in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if each.startswith("endings:"))
    question = "      - {key: delivery_csat, type: csat, title: How satisfied are you?}\n"
    file = files.read(HEAD + question + block, give_id=service.giver("Q" * 22, None))
    assert ["We are glad", None] == [one.title for one in file.definition.endings]
