"""Any valid definition reads back and can be answered to its end.

Any answer that core takes survives its page: shown, sent by a browser, read.
"""

from collections.abc import Callable
from datetime import date, datetime, time
from html.parser import HTMLParser
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings, strategies as st

from afterword.asking.instances import views
from afterword.asking.questionnaires import files
from afterword.core.answers import values
from afterword.core.answers.files import ENDINGS, EXTENSIONS
from afterword.core.answers.progress import PageSequence, draw_questions
from afterword.core.answers.values import Given, InvalidAnswer
from afterword.core.questionnaires import definition
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import (
    ADDRESS_FIELDS,
    CONTACT_FIELDS,
    FILE_BYTES_MIN,
    FILE_TYPES,
    FILES_MAX,
    TYPES,
    Question,
)
from afterword.core.questionnaires.questions import localized
from afterword.core.questionnaires.visuals import Layout
from afterword.kit.texts import LANGUAGES, texts
from afterword.kit.web import html
from tests.sizes import size

LOCALE: Final = "el"
PRINTED = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=12)
WRITTEN = st.text(st.sampled_from("aΩش0 1'\"<>&{}%,.-:\n\t\u2028"), min_size=1, max_size=30)
DATES = st.dates(min_value=date(1900, 1, 1), max_value=date(2100, 12, 31))
NOTHING: st.SearchStrategy[dict[str, Any]] = st.just({})
LABELS = st.lists(PRINTED, min_size=2, max_size=5, unique=True)


PICTURE: Final = f"/asset/{'a' * 22}/0123456789-640x480.jpg"


def choices(
    *, of_several: bool = False, other: bool = True, pictures: bool = True
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Choices with values from 1 on; the last may open a text, or exclude the others."""

    def made(labels: list[str], last: str, has_pictures: bool) -> list[dict[str, Any]]:  # noqa: FBT001  drawn
        more = {"picture": PICTURE} if has_pictures and other and pictures else {}
        found: list[dict[str, Any]] = [
            {"value": number, "label": label, **more} for number, label in enumerate(labels, 1)
        ]
        return [*found[:-1], {**found[-1], **({last: True} if last else {})}]

    lasts = ["", *(["other"] if other else []), *(["exclusive"] if of_several else [])]
    return st.builds(made, LABELS, st.sampled_from(lasts), st.booleans())


@st.composite
def bounded(draw: st.DrawFn, low: str, high: str, within: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Two bounds in their order, each of which may be missing."""
    least, most = sorted([draw(within), draw(within)])
    return {name: value for name, value in ((low, least), (high, most)) if draw(st.booleans())}


@st.composite
def several(draw: st.DrawFn) -> dict[str, Any]:
    made = draw(choices(of_several=True))
    least, most = sorted(draw(st.tuples(*[st.integers(1, len(made) - 1)] * 2)))
    return {"choices": made, **({"choices_min": least, "choices_max": most} if draw(st.booleans()) else {})}


@st.composite
def numbers(draw: st.DrawFn) -> dict[str, Any]:
    least, most = sorted(draw(st.tuples(*[st.integers(-2_000_000, 2_000_000)] * 2)))
    bounds = {name: value for name, value in (("number_min", least), ("number_max", most)) if draw(st.booleans())}
    return {**bounds, "decimals": draw(st.integers(0, 3))}


def rows(labels: list[str]) -> list[dict[str, Any]]:
    return [{"key": f"row_{number}", "label": label} for number, label in enumerate(labels)]


def some(names: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"contact_fields": st.lists(st.sampled_from(names), min_size=1, unique=True)})


FIELDS: Final[dict[str, st.SearchStrategy[dict[str, Any]]]] = {
    "rating": st.fixed_dictionaries(
        {
            "scale_min": st.sampled_from([0, 1]),
            "scale_max": st.integers(3, 10),
            "style": st.sampled_from(["numbers", "stars"]),
        }
    ),
    "smileys": st.fixed_dictionaries({"scale_max": st.sampled_from([3, 5])}),
    "single_choice": st.fixed_dictionaries({"choices": choices()})
    | st.fixed_dictionaries({"choices": choices(pictures=False), "style": st.just("dropdown")}),
    "multiple_choice": several(),
    "matrix": st.fixed_dictionaries({"rows": LABELS.map(rows), "choices": choices(other=False)}),
    "ranking": st.fixed_dictionaries({"choices": choices(other=False)}),
    "text": st.fixed_dictionaries({"length_max": st.integers(1, 40), "multiline": st.booleans()}),
    "number": numbers(),
    "date": bounded("date_min", "date_max", DATES.map(str)),
    "date_time": bounded("date_min", "date_max", DATES.map(str)),
    "contact": some(CONTACT_FIELDS),
    "address": some(ADDRESS_FIELDS),
    "file": st.fixed_dictionaries(
        {
            "file_types": st.lists(st.sampled_from(FILE_TYPES), min_size=1, unique=True),
            "files_max": st.integers(1, FILES_MAX),
            "bytes_max": st.integers(FILE_BYTES_MIN, 1_000_000),
        }
    ),
}
TYPE_NAMES: Final = sorted(TYPES)


TEXTS: Final = st.fixed_dictionaries({"title": PRINTED}, optional={"description": PRINTED})
SWITCHES: Final = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.booleans(),
        "display_probability": st.integers(1, 100),
        "randomize": st.booleans(),
        "description": PRINTED,
        "low_label": PRINTED,
        "high_label": PRINTED,
    },
)


@st.composite
def question_documents(draw: st.DrawFn, key: str, type_name: str | None = None) -> dict[str, Any]:
    type_name = type_name or draw(st.sampled_from(TYPE_NAMES))
    made = {"key": key, "type": type_name, "title": draw(PRINTED), **draw(FIELDS.get(type_name, NOTHING))}
    made |= draw(SWITCHES)
    if TYPES[type_name].shape != "none":
        made["required"] = draw(st.booleans())
    if TYPES[type_name].is_scored and draw(st.booleans()):
        made["scored"] = True
    if draw(st.booleans()):
        made["translations"] = {LOCALE: {"title": draw(PRINTED)}}
    return made


@st.composite
def conditions(draw: st.DrawFn, about: list[dict[str, Any]], depth: int = 3) -> dict[str, Any]:
    """A tree over answers to these questions."""
    asked = draw(st.sampled_from(about))
    leaf: dict[str, Any] = {"subject": f"question:{asked['key']}", "operator": "is_empty"}
    if asked["type"] in {"nps", "rating"} and draw(st.booleans()):
        leaf |= {"operator": draw(st.sampled_from(["less", "equal", "greater_equal"])), "value": 3}
    elif draw(st.booleans()):
        leaf["operator"] = "is_not_empty"
    match draw(st.sampled_from(["leaf", "leaf", "all", "any", "not"])) if depth else "leaf":
        case "not":
            return {"not": leaf}
        case "leaf":
            return leaf
        case several:
            return {several: [leaf, draw(conditions(about, depth - 1))]}


def ruled(draw: st.DrawFn, questions: list[dict[str, Any]]) -> None:
    """Give some of the questions, in their order, a condition and jumps."""
    for place, question in enumerate(questions):
        before = [one for one in questions[:place] if TYPES[one["type"]].shape != "none"]
        if before and draw(st.booleans()):
            question["show_if"] = draw(conditions(before))
        known = [*before, *([question] if TYPES[question["type"]].shape != "none" else [])]
        if known and draw(st.booleans()):
            targets = [None, *(one["key"] for one in questions[place + 1 :])]
            question["jumps"] = [
                {"target_question_id": draw(st.sampled_from(targets)), "conditions": draw(conditions(known))}
            ]


@st.composite
def ending_documents(draw: st.DrawFn, about: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 3))):
        ending: dict[str, Any] = {"key": f"ending_{number}", "title": draw(PRINTED), "text": draw(PRINTED)}
        if about and draw(st.booleans()):
            ending["conditions"] = draw(conditions(about))
        if draw(st.booleans()):
            ending |= {"button_label": draw(PRINTED), "button_url": "https://shop.example/?code={{ metadata.code }}"}
        if "conditions" in ending and draw(st.booleans()):
            ending["responses_max"] = draw(st.integers(1, 9))
        found.append(ending)
    return found


@st.composite
def documents(draw: st.DrawFn, type_name: str | None = None) -> dict[str, Any]:
    counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)) if type_name is None else [1]
    groups: list[dict[str, Any]] = [
        {
            "key": f"group_{place}",
            "questions": [draw(question_documents(f"asked_{place}_{number}", type_name)) for number in range(count)],
            **draw(TEXTS),
        }
        for place, count in enumerate(counts)
    ]
    made: dict[str, Any] = {"default_locale": "en", "locales": ["en", LOCALE], "groups": groups}
    if type_name is None:
        questions = [question for group in groups for question in group["questions"]]
        ruled(draw, questions)
        groups[-1]["enabled"] = draw(st.booleans())
        made["endings"] = draw(ending_documents([one for one in questions if TYPES[one["type"]].shape != "none"]))
        made["pages"] = {"en": {"welcome": draw(PRINTED), "thank_you": draw(PRINTED)}}
    return made


def give_id(kind: str, key: str) -> str:
    return "".join(one for one in f"{kind}{key}" if one.isalnum()).ljust(22, "x")[-22:]


def parse(document: dict[str, Any]) -> Definition:
    return definition.parse(document, give_id=give_id)


@given(documents())
@settings(max_examples=size(20, 2_000))
def test_a_definition_reads_back(document: dict[str, Any]) -> None:
    found = parse(document)
    written = definition.document_of(found)
    assert found == definition.parse(written)
    assert found == files.read(files.written({"display_name": "Any"}, written), give_id=give_id).definition


def known(question: Question) -> st.SearchStrategy[int]:
    return st.sampled_from(list(question.known_values))


def numbers_for(question: Question) -> st.SearchStrategy[Any]:
    low, high = question.number_min, question.number_max
    least = int(low) if low is not None else int(high or 0) - 10**6
    most = int(high) if high is not None else least + 10**6
    places = 10 ** (question.decimals or 0)
    whole = st.integers(least, most)
    return whole | whole.map(lambda one: one / places)


def fields_for(question: Question) -> st.SearchStrategy[Any]:
    special = {"email": st.just("ann@example.com"), "phone": st.just("+30 210 1234567")}
    named = {name: special.get(name, WRITTEN) for name in question.contact_fields}
    return st.fixed_dictionaries({}, optional=named)


FILE_ENTRIES: Final = st.fixed_dictionaries(
    {
        "file_id": st.integers(0, 9).map(lambda one: f"{one:022}"),
        "name": WRITTEN,
        "type": st.sampled_from(list(EXTENSIONS)),
        "bytes": st.integers(1, 9_000_000),
    }
)
MOMENTS: Final = st.builds(datetime.combine, DATES, st.builds(time, st.integers(0, 23), st.integers(0, 59)))
# JSON values for a question, most of them valid, by its shape.
VALUES: Final[dict[str, Callable[[Question], st.SearchStrategy[Any]]]] = {
    "scale": known,
    "choice": known,
    "choices": lambda question: st.lists(known(question), min_size=1, unique=True),
    "yes_no": lambda _: st.booleans(),
    "consent": lambda _: st.booleans(),
    "matrix": lambda question: st.fixed_dictionaries(
        {}, optional={row.row_id: known(question) for row in question.rows}
    ),
    "ranking": lambda question: st.permutations(list(question.known_values)),
    "text": lambda _: WRITTEN,
    "number": numbers_for,
    "date": lambda _: DATES.map(str),
    "time": lambda _: st.times().map(lambda one: f"{one:%H:%M}"),
    "date_time": lambda _: MOMENTS.map(lambda one: f"{one:%Y-%m-%dT%H:%M}"),
    "contact": fields_for,
    "files": lambda _: st.lists(FILE_ENTRIES, min_size=1, max_size=6),
}


def fitting_choices(question: Question) -> st.SearchStrategy[Any]:
    free = [one.value for one in question.choices if not one.exclusive]
    least, most = question.choices_min or 1, min(question.choices_max or len(free), len(free))
    return st.permutations(free).flatmap(lambda order: st.integers(least, most).map(lambda count: order[:count]))


def fitting_files(question: Question) -> st.SearchStrategy[Any]:
    endings = {ending for family in question.file_types for ending in ENDINGS[family]}
    kinds = [kind for kind, extension in EXTENSIONS.items() if f".{extension}" in endings]
    entry = {"file_id": "0" * 22, "name": "a", "type": kinds[0], "bytes": 1}
    return st.just([entry])


def fitting_dates(question: Question) -> st.SearchStrategy[date]:
    low, high = question.date_min, question.date_max
    return st.dates(date.fromisoformat(low or "1900-01-01"), date.fromisoformat(high or "2100-12-31"))


# As VALUES, where most of those would be refused.
FITTING: Final[dict[str, Callable[[Question], st.SearchStrategy[Any]]]] = {
    "consent": lambda _: st.just(True),
    "choices": fitting_choices,
    "text": lambda question: st.text("aΩ1", min_size=1, max_size=question.length_max),
    "date": lambda question: fitting_dates(question).map(str),
    "date_time": lambda question: fitting_dates(question).map(lambda day: f"{day}T12:00"),
    "contact": lambda question: fields_for(question).filter(bool),
    "matrix": lambda question: st.fixed_dictionaries({row.row_id: known(question) for row in question.rows}),
    "files": fitting_files,
}


class Browser(HTMLParser):
    """A browser without scripts: the fields that it sends of a form as it came."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, list[str]] = {}
        self._select, self._options, self._area = "", list[tuple[str, bool]](), ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "input" and has.get("type") in {"radio", "checkbox"}:
            if "checked" in has:
                self._send(has["name"], has["value"])
        elif tag == "input":
            self._send(has["name"], has.get("value", ""))
        elif tag == "select":
            self._select, self._options = has["name"], []
        elif tag == "option":
            self._options.append((has["value"], "selected" in has))
        elif tag == "textarea":
            self._area = has["name"]
            self._send(self._area, "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            chosen = [value for value, is_chosen in self._options if is_chosen] or [self._options[0][0]]
            self._send(self._select, chosen[0])
        elif tag == "textarea":
            sent = self.fields[self._area][-1].removeprefix("\n")  # the parser of a page drops the first line break
            self.fields[self._area][-1] = sent.replace("\n", "\r\n")
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.fields[self._area][-1] += data

    def _send(self, name: str, value: str) -> None:
        self.fields.setdefault(name, []).append(value)


def shown_and_sent(question: Question, stored: Given | None, language: str) -> Given | None:
    """The answer as the page shows it, and as a browser sends the page back."""
    shown_question, words = localized(question, LOCALE), texts("pages", language)
    shown = views.shown_answer(shown_question, stored, words)
    view = views.view_of(shown_question, shown=shown, texts=words)
    sent = Browser(bytes(html.page("public/question.html", t=words, question=view).body).decode()).fields
    if question.shape == "files":  # a page shows files, and sends back none
        return values.read_files(question, sent, stored=stored, received=())
    return values.read_form(question, sent, point=words.point)


def answers_of(question: Question) -> st.SearchStrategy[Given]:
    """Answers that core takes."""
    drawn = FITTING.get(question.shape, VALUES[question.shape])(question)

    def checked(value: Any) -> Given | None:
        try:
            return values.check(question, value, None)
        except InvalidAnswer:
            return None

    return drawn.map(checked).filter(bool)  # pyrefly: ignore[bad-return]


@given(data=st.data())
@settings(max_examples=size(30, 3_000))
def test_a_definition_can_be_answered_to_its_end(data: st.DataObject) -> None:
    """Whatever its conditions and jumps: page after page, none twice, and nothing required is missing afterwards."""
    whole, language = parse(data.draw(documents())), data.draw(st.sampled_from(LANGUAGES))
    asked = draw_questions(whole, draw=lambda: data.draw(st.floats(0, 0.99)))
    layout: Layout = data.draw(st.sampled_from(["by_group", "by_question", "one_page"]))
    sequence = PageSequence(whole, asked, {}, {}, layout)
    number, passed = sequence.at(1), list[int]()
    while number != sequence.end:
        passed.append(number)
        unanswered = [one for one in sequence.questions_on(number) if one.is_answered]
        while unanswered:  # an answer may show more questions of its page
            for question in unanswered:
                given_answer = data.draw(
                    answers_of(question) if question.required else st.none() | answers_of(question)
                )
                sent = shown_and_sent(question, given_answer, language)
                assert sent == given_answer or not question.required
                sequence = sequence.answered({question.question_id: given_answer})
            unanswered = [one for one in whole.questions() if one.question_id in sequence.missing(number)]
        number = sequence.after(number)
    assert passed == sorted({*passed})
    assert [] == sequence.missing()
    ending = sequence.ending()
    assert ending is None or ending in sequence.possible_endings


@pytest.mark.parametrize("type_name", [name for name in TYPE_NAMES if TYPES[name].shape != "none"])
def test_an_answer_survives_its_page(type_name: str) -> None:
    """An answer that core takes, shown on the page and sent as it stands, is the same answer."""

    @given(data=st.data())
    @settings(max_examples=size(10, 1_000))
    def survives(data: st.DataObject) -> None:
        [question] = parse(data.draw(documents(type_name))).groups[0].questions
        value = data.draw(VALUES[question.shape](question))
        other_text = data.draw(st.none() | WRITTEN) if question.other_choice else None
        try:
            stored = values.check(question, value, other_text)
        except InvalidAnswer:
            assume(False)
            return
        language = data.draw(st.sampled_from(LANGUAGES))
        refused = question.shape == "consent" and stored.value is False  # a tick that is missing, as in a blank answer
        assert (None if refused else stored) == shown_and_sent(question, stored, language)

    survives()


@given(data=st.data())
@settings(max_examples=size(40, 5_000))
def test_the_page_takes_nothing_that_core_refuses(data: st.DataObject) -> None:
    question = parse(data.draw(documents())).groups[0].questions[0]
    names = [None, values.OTHER, *values.parts(question)]
    sent = st.lists(WRITTEN | st.sampled_from(["1", "2", "true", "2026-11-26", "09:30", "7,5"]), max_size=3)
    fields = {
        values.field_name(question.question_id, name): data.draw(sent)
        for name in data.draw(st.lists(st.sampled_from(names), unique=True))
    }
    try:
        found = values.read_form(question, fields)
    except InvalidAnswer:
        return
    if found is not None:
        assert found == values.check(question, found.value, found.other_text)
