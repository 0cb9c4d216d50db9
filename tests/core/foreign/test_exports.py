"""Properties of the files for all other systems."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from afterword import ids
from afterword.asking.questionnaires import files
from afterword.core.foreign import limesurvey_written, surveyjs_written
from afterword.core.foreign.exports import LEAVES_MAX, TOO_LONG, Source, Unwritable, Written, expression, shown_when
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import All, AnyOf, Leaf, Not
from afterword.core.questionnaires.definition import Definition, Texts
from afterword.kit.texts import texts
from tests.core.foreign.forms import Taken

EACH = pytest.mark.parametrize("written", [surveyjs_written.written, limesurvey_written.written])
METADATA = "{subject: 'responder_metadata:level', operator: is_empty}"
YES = "{key: yes, type: yes_no, title: Yes?}"


def source(*questions: str, more: str = "") -> Source:
    """A questionnaire of these questions, each on a page of its own."""
    groups = "".join(f"\n  - {{key: g{n}, questions: [{one}]}}" for n, one in enumerate(questions))
    text = f"display_name: Form\ntitle: Title\ndefault_locale: en\ngroups:{groups}\n{more}"
    file = files.read(text, give_id=lambda kind, key: ids.derived(f"{kind}:{key}"))
    return Source(file.definition, Texts(file.settings["title"], file.settings["description"]), "Form")


def told(written: Written) -> str:
    return " ".join(sentence for line in written.lines for sentence in line.sentences)


class TestNotHeld:
    @EACH
    @pytest.mark.parametrize(
        ("question", "part"),
        [
            ("{key: q, type: yes_no, title: Q, scored: true}", "points"),
            ("{key: q, type: yes_no, title: Q, display_probability: 50}", "the share of people"),
            ('{key: q, type: text, title: "Hello {{ responder.name | you }}"}', "responder.name"),
            (f"{{key: q, type: time, title: Q, show_if: {METADATA}}}", "condition"),
            ("{key: q, type: text, title: Q, show_if: {subject: 'question:yes', operator: is_empty}}", ""),
        ],
    )
    def test_is_told(self, written: Callable[[Source], Written], question: str, part: str) -> None:
        made = written(source(YES, question))
        assert (part in told(made)) if part else not made.lines

    @EACH
    def test_endings(self, written: Callable[[Source], Written]) -> None:
        full = "{key: full, responses_max: 9, conditions: {subject: 'question:yes', operator: equal, value: true}}"
        made = written(source(YES, more=f"endings: [{full}, {{key: last, text: Bye}}]\npages: {{en: {{closed: No}}}}"))
        assert "full" in told(made)
        assert "closed" in told(made)

    @EACH
    def test_in_german(self, written: Callable[[Source], Written]) -> None:
        pages = "pages: {en: {closed: No, expired: No}}"
        lines = written(source("{key: q, type: text, title: Q, display_probability: 50}", more=pages)).lines
        said = [texts("console", "de").said(line.sentences[0]) for line in lines]
        assert {"Anteil der Befragten", "Text, wenn er geschlossen ist, Text, wenn der Link abgelaufen ist"} == {
            one.replace("\u2068", "").replace("\u2069", "").partition(": ")[2].rstrip(".") for one in said
        }


class TestExpression:
    LEAF = Leaf("a", "equal", 1)

    @pytest.mark.parametrize("node", [All(()), AnyOf(()), Not(All(()))])
    def test_nothing_is_compared(self, node: conditions.Node) -> None:
        with pytest.raises(Unwritable):
            expression(node, lambda _: "x")

    def test_joined(self) -> None:
        node = All((self.LEAF, Not(AnyOf((self.LEAF, self.LEAF)))))
        assert "(x) and (!((x) or (x)))" == expression(node, lambda _: "x")

    @EACH
    def test_jumps_over_jumps(self, written: Callable[[Source], Written]) -> None:
        """Each question may be passed over by those before it, which may be passed over themselves."""
        jump = "jumps: [{target_question_id: null, conditions: {subject: 'question:q0', operator: greater, value: 3}}]"
        made = source(*[f"{{key: q{n}, type: csat, title: Q, {jump}}}" for n in range(40)])
        shown, asked = shown_when(made.definition), made.definition.questions()
        assert len(conditions.leaves_of(shown[asked[3].question_id])) < LEAVES_MAX
        assert TOO_LONG == shown[asked[-1].question_id]
        assert "cannot express" in told(written(made))


def with_jumps(draw: random.Random) -> Definition:
    """Six questions of a scale, some with jumps and conditions of their own."""
    made: list[str] = []
    for place in range(6):
        more = ""
        if place and draw.random() < 0.3:
            value = draw.randint(1, 5)
            more = f", show_if: {{subject: 'question:q{draw.randrange(place)}', operator: less, value: {value}}}"
        jumps = [
            f"{{target_question_id: {draw.choice([*[f'q{n}' for n in range(place + 1, 6)], 'null'])}, conditions: "
            + draw.choice(["null", f"{{subject: 'question:q{place}', operator: greater, value: {draw.randint(1, 5)}}}"])
            + "}"
            for _ in range(draw.choice([0, 0, 1, 2]))
        ]
        required = draw.choice(["true", "false"])
        made.append(f"{{key: q{place}, type: csat, title: Q, required: {required}{more}, jumps: [{', '.join(jumps)}]}}")
    return source(*made).definition


def asked_of(definition: Definition, answers: dict[str, int]) -> list[str]:
    """The questions that people are asked one after the other, by the rules of jumps."""
    facts: dict[str, Any] = {}
    asked: list[str] = []
    place, questions = 0, definition.questions()
    while place < len(questions):
        one = questions[place]
        place += 1
        if not conditions.matches(one.show_if, facts):
            continue
        asked.append(one.key or "")
        if one.key in answers:
            facts[f"question:{one.question_id}"] = answers[one.key]
        jump = next((each for each in one.jumps if conditions.matches(each.conditions, facts)), None)
        if jump is not None:
            target = jump.target_question_id
            place = len(questions) if target is None else definition.position(target)
    return asked


@pytest.mark.parametrize("seed", range(40))
def test_conditions_ask_what_jumps_ask(seed: int) -> None:
    """The conditions that the others have in place of our jumps ask people the same questions."""
    draw = random.Random(seed)  # noqa: S311
    definition = with_jumps(draw)
    shown = shown_when(definition)
    for _ in range(30):
        answers = {f"q{n}": draw.randint(1, 5) for n in range(6) if draw.random() < 0.8}
        for one in definition.questions():
            if one.required:
                answers.setdefault(one.key or "", draw.randint(1, 5))
        facts: dict[str, Any] = {}
        asked: list[str] = []
        for one in definition.questions():
            if conditions.matches(shown[one.question_id], facts):
                asked.append(one.key or "")
                facts |= {f"question:{one.question_id}": answers[one.key]} if one.key in answers else {}
        assert asked_of(definition, answers) == asked


@EACH
def test_jumps_come_back_as_conditions(written: Callable[[Source], Written]) -> None:
    jump = "{target_question_id: last, conditions: {subject: 'question:r', operator: greater, value: 3}}"
    rating = f"{{key: r, type: csat, title: R, jumps: [{jump}]}}"
    made = Taken(
        written(source(rating, "{key: why, type: text, title: Why}", "{key: last, type: text, title: Last}")).content
    )
    assert made["why"].show_if is not None
    assert made["last"].show_if is None
    for value, is_asked in ((5, False), (2, True)):
        assert is_asked is conditions.matches(made["why"].show_if, {f"question:{made['r'].question_id}": value})
