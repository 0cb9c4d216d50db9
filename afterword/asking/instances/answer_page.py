"""The state of an answer page, and its posted form read into answers and error messages in the responder's language."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal, final
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.asking.instances.answers import AnswerContext
from afterword.asking.instances.store import Instance, PublicQuestionnaire
from afterword.core import toml
from afterword.core.answers import values as answer_forms
from afterword.core.answers.files import NewFile, Received, RefusedFile, accepted
from afterword.core.answers.progress import PageSequence
from afterword.core.answers.values import Given, InvalidAnswer
from afterword.core.questionnaires import translations
from afterword.core.questionnaires.definition import QUESTIONS_MAX, Definition
from afterword.core.questionnaires.question_types import CHOICES_MAX, Question
from afterword.core.questionnaires.questions import localized
from afterword.core.questionnaires.visuals import LAYOUTS, Layout, Theme
from afterword.core.text import locales
from afterword.kit.texts import Texts, texts
from afterword.kit.web import public, static

LOCALE_GO: Final = "locale:"  # of the buttons that send the page in another language
FIELDS_MAX: Final = QUESTIONS_MAX * (CHOICES_MAX + 1) + 10  # all questions on one page, with every choice ticked
NUMBER_DIGITS_MAX: Final = 4

Fields = Mapping[str, list[str]]
Go = Literal["next", "back", "send", "keep", "deliver"]

EXCLUSIVE: Final = "“{choice}” excludes the other choices. Please choose either this one or others."
MISFIT: Final = "This answer does not fit the question."
WHOLE_NUMBER: Final = "Please enter a whole number."
TEXTS: Final[Mapping[str, Mapping[str, Any]]] = toml.tables_of(__name__)


class Wrong(msgspec.Struct, frozen=True):
    sentence: str
    part: str | None = None


class Posted(msgspec.Struct, frozen=True):
    """A posted page. Of a kiosk, `keep` stores it and goes no further, `deliver` sends it as far as it is complete.

    `page` counts from 1 in its `layout`; `start` is the nonce of a start on a public link.
    """

    page: int
    layout: Layout | None
    go: Go
    token: str
    start: str
    fields: Fields
    locale: str = ""  # the language to go on in, where its button sent the page
    files: Mapping[str, Received] = msgspec.field(default_factory=dict[str, Received])  # by question

    @property
    def new_files(self) -> list[NewFile]:
        return [one for received in self.files.values() for one in received if isinstance(one, NewFile)]


class PageAnswers(msgspec.Struct, frozen=True):
    """The answers of a posted page (None: left blank), and an error message for each that does not fit."""

    given: Mapping[str, Given | None]
    wrong: Mapping[str, Wrong]


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Another place of the pages than addresses of their own: a box on a website, or a kiosk.

    `path`: of the start; the pages of an instance are below it. `data`: what the script of the place needs to know.
    """

    kind: Literal["box", "kiosk"]
    path: str
    data: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    @property
    def style_url(self) -> str:
        return static.url(f"public/{self.kind}.css")

    @property
    def script_url(self) -> str:
        return static.url(f"public/{self.kind}_page.js")


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The data around the questions. `definition` is prepared for display; `placement` None: addresses of their own.

    `accepts`: the reader's `Accept-Language`, which says the region for dates.
    """

    questionnaire: PublicQuestionnaire
    definition: Definition
    locale: str
    theme: Theme
    placement: Placement | None = None
    accepts: str = ""

    @property
    def kiosk(self) -> Placement | None:
        return self.placement if self.placement is not None and self.placement.kind == "kiosk" else None

    @property
    def brand(self) -> str:
        return self.questionnaire.brand

    @property
    def texts(self) -> Texts:
        return texts(public.DOMAIN, locales.with_region(self.locale, self.accepts))

    @property
    def title(self) -> str:
        own = self._in_default_locale(self.questionnaire.title or self.questionnaire.display_name)
        return self.definition.texts(self.locale).title or own

    @property
    def description(self) -> str | None:
        own = self.questionnaire.description
        return self.definition.texts(self.locale).description or (own and self._in_default_locale(own))

    def _in_default_locale(self, text: str) -> str:
        """Isolate a text of the default locale if the page runs in the other direction."""
        return translations.isolated(text) if translations.runs_against(self.definition, self.locale) else text


CALL_RIGHT: Final[Mapping[str, str]] = dict.fromkeys(("number", "window", "note"), "")  # the messages of its fields


class CallBack(msgspec.Struct, frozen=True, kw_only=True):
    """The form by which a responder asks for a call; `said`: the call that was asked for, in place of the form.

    `windows`: the value and the text of each time that is offered, `spans` their beginnings and ends.
    """

    action: str = ""
    token: str = ""
    windows: Sequence[tuple[str, str]] = ()
    spans: Sequence[tuple[datetime, datetime]] = ()
    number: str = ""
    window: str = ""
    note: str = ""
    wrong: Mapping[str, str] = msgspec.field(default_factory=lambda: CALL_RIGHT)
    said: str = ""
    change_url: str = ""
    is_disabled: bool = False


@final
class Marked(msgspec.Struct, frozen=True):
    question_id: str
    given: Given


class AnswerPage(msgspec.Struct, frozen=True, dict=True):
    head: Head
    sequence: PageSequence
    seed: str
    started: AnswerContext | None = None
    """None before the start on a public link."""

    @property
    def instance(self) -> Instance | None:
        return self.started and self.started.instance

    @property
    def context(self) -> AnswerContext:
        assert self.started is not None  # noqa: S101
        return self.started

    @property
    def issued(self) -> Instance:
        return self.context.instance

    @property
    def is_test(self) -> bool:
        return self.instance is not None and self.instance.test

    @cached_property
    def hides_answers(self) -> bool:
        """A visitor who knows a reference continues its instance, without seeing the answers given before."""
        return self.instance is not None and self.instance.reference_id is not None

    @property
    def is_invitation(self) -> bool:
        """Whether this is an anonymous invitation, of which nothing is stored before all answers are sent."""
        return self.instance is not None and self.instance.anonymity == "invitation"

    @property
    def texts(self) -> Texts:
        return self.head.texts

    def with_layout(self, layout: Layout | None) -> "AnswerPage":
        """The page in the layout of a posted form; the visual may have changed since."""
        if layout is None or self.is_invitation:
            return self
        return replace(self, sequence=replace(self.sequence, layout=layout))

    @property
    def languages(self) -> list[str]:
        definition = self.sequence.definition
        return [
            locale
            for locale in definition.locales
            if locale == definition.default_locale
            or any(locale in each.translations for each in definition.questions())
        ]

    def in_language(self, locale: str) -> "AnswerPage":
        if locale not in self.languages:
            return self
        definition = translations.readable(self.sequence.definition, locale)
        return replace(self, head=replace(self.head, definition=definition, locale=locale))

    def read_by(self, accepts: str) -> "AnswerPage":
        """`accepts`: the reader's `Accept-Language`."""
        return replace(self, head=replace(self.head, accepts=accepts))

    def placed(self, placement: Placement | None) -> "AnswerPage":
        if placement is None:
            return self
        placed = replace(self, head=replace(self.head, placement=placement))
        if placement.kind != "kiosk":
            return placed
        # A kiosk answers without a connection, and its visitors must not see the files of the device.
        without = frozenset(self.sequence.question_ids).difference(one.question_id for one in self.file_questions)
        return replace(placed, sequence=replace(self.sequence, question_ids=without)).with_layout("one_page")

    def address(self, instance_id: str, **query: object) -> str:
        placement = self.head.placement
        return page_address(instance_id, under=placement.path if placement else "/a", **query)

    def answered(self, given: Mapping[str, Given | None]) -> "AnswerPage":
        return replace(self, sequence=self.sequence.answered(given))

    def marked(self, question_id: str | None, value: str | None) -> Marked | None:
        is_asked = question_id in self.sequence.question_ids
        question = self.sequence.definition.question(question_id or "") if is_asked else None
        if self.is_invitation or question is None or value is None:
            return None
        given = preselected(question, value)
        return None if given is None else Marked(question.question_id, given)

    @property
    def file_questions(self) -> list[Question]:
        asked = self.sequence.question_ids
        return [
            one for one in self.sequence.definition.questions() if one.shape == "files" and one.question_id in asked
        ]

    def read_form(self, number: int, posted: Posted) -> PageAnswers:
        return read_page(
            self.sequence.questions_on(number),
            posted,
            stored={} if self.hides_answers else self.sequence.answers,
            texts=self.texts,
            locale=self.head.locale,
        )

    def first_open(self) -> int:
        """The first reachable page with questions and no answer yet; else the last page."""
        reachable, answers = self.sequence.reachable, self.sequence.answers
        for number, questions in reachable.items():
            asks = not answers or any(question.is_answered for question in questions)
            if asks and not any(question.question_id in answers for question in questions):
                return number
        return max(reachable, default=self.sequence.end)

    def appeared(self, before: "AnswerPage", number: int) -> list[str]:
        earlier = {question.question_id for question in before.sequence.questions_on(number)}
        shown = (question.question_id for question in self.sequence.questions_on(number))
        return [question_id for question_id in shown if question_id not in earlier]

    def wrong_on(self, number: int, form: PageAnswers, appeared: Collection[str]) -> dict[str, Wrong]:
        shown = {question.question_id for question in self.sequence.questions_on(number)}.difference(appeared)
        return {name: wrong for name, wrong in {**self.missing_on(number), **form.wrong}.items() if name in shown}

    def positions(self, number: int) -> str:
        """The positions of the shown questions, by which a POST tells those that its answers make appear."""
        place = self.sequence.definition.position
        return " ".join(str(place(one.question_id)) for one in self.sequence.questions_on(number))

    def missing_on(self, number: int) -> dict[str, Wrong]:
        missing = self.sequence.missing(number)
        return {
            question.question_id: missing_answer(question, texts=self.texts)
            for question in self.sequence.questions_on(number)
            if question.question_id in missing
        }


def answer_page_of(context: AnswerContext) -> AnswerPage:
    instance = context.instance
    head = head_of(context.questionnaire, context.definition, instance.locale)
    question_ids = frozenset(instance.question_ids)
    layout: Layout = "one_page" if instance.anonymity == "invitation" else head.theme.layout
    sequence = PageSequence(context.definition, question_ids, context.answers, context.facts, layout)
    return AnswerPage(head, sequence, instance.instance_id, context)


def head_of(questionnaire: PublicQuestionnaire, definition: Definition, locale: str) -> Head:
    return Head(
        questionnaire=questionnaire,
        definition=translations.readable(definition, locale),
        locale=locale,
        theme=questionnaire.theme,
    )


def page_address(instance_id: str, *, under: str = "/a", **query: object) -> str:
    """The path of the answer page, with those parameters that are not None."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{under}/{instance_id}" + (f"?{urlencode(given)}" if given else "")


def read_posted(body: bytes) -> Posted:
    """The posted form; raises Malformed if it cannot come from one of our pages."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS_MAX, encoding="utf-8", errors="strict"
        )
    except ValueError as error:
        raise errors.Malformed("This form could not be read.", code="malformed_form") from error
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return posted_of(fields)


def posted_of(fields: Fields, *, files: Mapping[str, Received] | None = None) -> Posted:
    asked = first(fields, "go")
    goes: dict[str, Go] = {name: name for name in ("back", "send", "keep", "deliver")}
    go = goes.get(asked, "next")
    layouts: dict[str, Layout] = {name: name for name in LAYOUTS}
    page = page_number(first(fields, "page"))
    layout = layouts.get(first(fields, "layout"))
    locale = asked.removeprefix(LOCALE_GO) if asked.startswith(LOCALE_GO) else ""
    return Posted(page or 1, layout, go, first(fields, "token"), first(fields, "start"), fields, locale, files or {})


def page_number(text: str | None) -> int | None:
    """The page number of a query or a form, from 1; None for anything else."""
    if not text or not text.isascii() or not text.isdigit() or len(text) > NUMBER_DIGITS_MAX:
        return None
    return int(text) or None


def read_page(
    questions: Sequence[Question], posted: Posted, *, stored: Mapping[str, Given], texts: Texts, locale: str
) -> PageAnswers:
    """The answers of a page. A blank one removes the stored answer, unless the question is required.

    Of several files, those that fit are taken. `stored`: the answers so far, to which files are added.
    """
    given: dict[str, Given | None] = {}
    wrong: dict[str, Wrong] = {}
    for question in questions:
        if not question.is_answered:
            continue
        try:
            if question.shape == "files":
                received = posted.files.get(question.question_id, ())
                before = stored.get(question.question_id)
                answer = answer_forms.read_files(question, posted.fields, stored=before, received=received)
                if sentence := refused_text(question, received, texts):
                    wrong[question.question_id] = Wrong(sentence)
                elif before is not None and answer is None and question.is_required:
                    wrong[question.question_id] = missing_answer(question, texts=texts)
            else:
                answer = answer_forms.read_form(question, posted.fields, point=texts.point)
        except InvalidAnswer as error:
            wrong[question.question_id] = Wrong(_sentence_of(question, error, texts, locale), error.part)
            continue
        if answer is not None or not question.is_required:
            given[question.question_id] = answer
    return PageAnswers(given, wrong)


def missing_answer(question: Question, *, texts: Texts) -> Wrong:
    return Wrong(_sentence(question, "required", texts))


def preselected(question: Question, text: str) -> Given | None:
    """The answer that a link in a message preselects, or None if it does not fit."""
    try:
        return answer_forms.read_form(question, {answer_forms.field_name(question.question_id): [text]})
    except InvalidAnswer:
        return None


def bounds(question: Question, texts: Texts, sentences: Sequence[str]) -> str:
    """One of three sentences, depending on which bounds a number or date has; "" without any."""
    low, high = _written_bounds(question, texts)
    if low and high:
        return texts(sentences[0], low=low, high=high)
    if low:
        return texts(sentences[1], low=low)
    return texts(sentences[2], high=high) if high else ""


def first(fields: Fields, name: str) -> str:
    return next(iter(fields.get(name, ())), "")


def _sentence_of(question: Question, error: InvalidAnswer, texts: Texts, locale: str) -> str:
    if error.code == "exclusive" and error.part is not None:
        labels = {str(choice.value): choice.label for choice in localized(question, locale).choices}
        return texts(EXCLUSIVE, choice=labels[error.part])
    if error.code == "out_of_range" and question.shape in TEXTS["out_of_bounds"]:
        return bounds(question, texts, TEXTS["out_of_bounds"][question.shape])
    if question.shape == "number" and error.code == "invalid_format" and not question.decimals:
        return texts(WHOLE_NUMBER)
    return _sentence(question, error.code, texts, limit=error.limit, part=error.part)


def _sentence(question: Question, code: str, texts: Texts, *, limit: int | None = None, part: str | None = None) -> str:
    tables = (TEXTS["wrong_of"].get(name, {}) for name in (question.shape, f"{question.shape}.{part}"))
    text = next((table[code] for table in (*tables, TEXTS["wrong"]) if code in table), MISFIT)
    if "{count}" not in text:
        return texts(text)
    return texts(MISFIT) if limit is None else texts(text, count=texts.number(limit))


def _written_bounds(question: Question, texts: Texts) -> list[str]:
    if question.shape in {"date", "date_time"}:
        return [texts.day(one) if one else "" for one in (question.date_min, question.date_max)]
    return ["" if one is None else texts.number(one) for one in (question.number_min, question.number_max)]


def refused_text(question: Question, received: Received, texts: Texts) -> str:
    for one in received:
        if isinstance(one, RefusedFile):
            types, size = allowed_files(question, texts)
            return texts(TEXTS["files"][one.refusal], name=one.name, types=types, size=size)
    return ""


def allowed_files(question: Question, texts: Texts) -> tuple[str, str]:
    kinds = dict.fromkeys(one.removeprefix(".").upper() for one in accepted(question) if one != ".jpeg")
    return ", ".join(kinds), written_size(question.bytes_max or 0, texts)


def written_size(size: int, texts: Texts) -> str:
    unit = 1_000 if size % 1_000 == 0 else 1_024  # limits are written in either, and are said as they were meant
    if size >= unit * unit:
        return f"{texts.number(round(size / unit / unit, 1))} MB"
    return f"{texts.number(max(1, round(size / unit)))} kB"
