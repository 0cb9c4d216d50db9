"""The fields of a question's form, by its type, with their labels and what is wrong with each."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances.answer_page import written_size
from afterword.asking.questionnaires.condition_rows import Row, Subjects, sentence_of, subjects_of, with_named
from afterword.asking.screens.questionnaires import Problem, Work, is_answered, title_of
from afterword.console.conditions import Values as Filled, values_of
from afterword.console.inputs import theirs_of
from afterword.console.screens import Visit
from afterword.core.questionnaires import conditions, definition as core_definition, editing, variables
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.editing import Document, Values as ValuesRecord, fields_of, jumps_of, picture_name
from afterword.core.questionnaires.question_types import FILE_TYPES, FILES_MAX, LINES_CHARACTERS_MAX, MEMBERS, TYPES
from afterword.core.questionnaires.questions import TEXTS
from afterword.core.reading.findings import Findings
from afterword.core.text.placeholders import MAPS
from afterword.errors import Refusal
from afterword.kit.db import Database
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.text import NOTHING
from afterword.kit.web import static
from afterword.listening.responses import passages
from afterword.listening.responses.passages import Passages


def page(
    visit: Visit,
    values: Filled,
    known: Subjects,
    *,
    title: str,
    lead: str,
    hint: str,
    remove: str,
    seen: str,
    refusal: Refusal | None,
    problems: Refusal | None,
    first: Row | None = None,
    **others: Any,
) -> Response:
    """`lead` begins the sentence, which may have the row `first` already. `remove`: the label of its button, if any."""
    words = visit.words
    more: dict[str, Any] = {"theirs": "", "targets": (), "target": "", **others}
    return visit.page(
        "jump.html",
        title=title,
        refusal=refusal or problems,
        script=static.url("console/edit.js"),
        lead=lead,
        hint=hint,
        remove=remove,
        condition_rows=values_of(words, values, known, first=first),
        seen=visit.form.text("seen") if isinstance(refusal, errors.Invalid) else seen,
        **more,
    )


def mark_of(value: object) -> str:
    """A digest of what is stored, by which a change of somebody else is noticed; empty for nothing."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16] if value else ""


def problems_of(
    work: Work, question_id: str, below: str, field: Callable[[list[str]], str], said: str
) -> Refusal | None:
    """The problems of a question below a pointer, at the fields that `field` names by the parts of the rest of it."""
    found = [
        errors.FieldError(one.code, one.message, pointer=f"/{field(one.path.removeprefix(path).split('/')[1:])}")
        for number, group in enumerate(editing.groups_of(work.draft.definition))
        for place, each in enumerate(editing.questions_of(group))
        if each.get("question_id") == question_id
        for path in [f"/groups/{number}/questions/{place}/{below}"]
        for one in work.findings
        if f"{one.path}/".startswith(f"{path}/")
    ]
    return errors.Invalid(said, errors=found) if found else None


END: Final = ""  # the target that ends the questionnaire


def subjects(words: Texts, work: Work, question_id: str, *, is_own: bool = True) -> Subjects:
    """Answers before this question, its own as “the answer” if it is one of them, and metadata."""
    definition = core_definition.read(work.draft.definition, Findings())
    order = [one.question_id for one in definition.questions()]
    passed = set(order[: order.index(question_id) + is_own]) if question_id in order else set(order)
    found = subjects_of(words, definitions=[definition], declared=work.declared)
    own = f"question:{question_id}"
    return {
        key: replace(one, text=words("the answer"), is_quoted=False) if key == own else one
        for key, one in found.items()
        if one.kind != "metric" and (not key.startswith("question:") or key.split(":")[1] in passed)
    }


def targets(words: Texts, document: Mapping[str, Any], question_id: str) -> list[tuple[str, str]]:
    order = editing.all_questions(document)
    at = next((n for n, one in enumerate(order) if one.get("question_id") == question_id), len(order))
    later = [(str(one.get("question_id")), title_of(words, one)) for one in order[at + 1 :]]
    return [*later, (END, words("the end"))]


def shown_sentence(words: Texts, work: Work, question: Document) -> str:
    condition = question.get("show_if")
    if condition is None:
        return words("Everyone is asked.")
    known = subjects(words, work, str(question["question_id"]), is_own=False)
    return words("Asked if {condition}.", condition=sentence_of(words, condition, with_named(known, condition)))


def sentences(words: Texts, work: Work, question: Document, *, path: str) -> list[dict[str, str]]:
    jumps = editing.jumps_of(question)
    if not jumps:
        return []
    known = subjects(words, work, str(question["question_id"]))
    return [
        {"url": f"{path}/jump/{number}", "text": _sentence(words, work, jump, known)}
        for number, jump in enumerate(jumps)
    ]


def _sentence(words: Texts, work: Work, jump: Document, known: Subjects) -> str:
    condition, target_id = jump.get("conditions"), jump.get("target_question_id")
    target = editing.question_of(work.draft.definition, str(target_id))
    title = title_of(words, target) if target else words("a deleted question")
    if condition is None:
        return words("Always go to “{title}”.", title=title) if target_id else words("Always go to the end.")
    said = sentence_of(words, condition, with_named(known, condition))
    if target_id:
        return words("If {condition}, go to “{title}”.", condition=said, title=title)
    return words("If {condition}, go to the end.", condition=said)


SCOPE: Final = "Questionnaire Instance.Read"


class Matching(msgspec.Struct, frozen=True):
    words: Texts
    work: Work
    found: Passages

    def of_jump(self, question: Document, number: int) -> str:
        """The number of answers that take a jump; empty where there is none to count, or the jump cannot be read."""
        known = self.work.definition.question(str(question.get("question_id")))
        if known is None or len(known.jumps) != len(jumps_of(question)) or number >= len(known.jumps):
            return ""
        asked = self.found.asked.get(known.question_id, 0)
        if self._is_unpublished(known.jumps[number].conditions):
            return self.words("It refers to something that is not published yet, so it cannot be counted.")
        taken = self.found.jumps.get((known.question_id, number), 0)
        if not asked:
            return ""
        words = self.words
        return words("Of the last {all} answers, {n} would go there.", all=asked, n=taken)

    def of_condition(self, question: Document) -> str:
        """The number of responses that would be asked; empty without a condition."""
        known = self.work.definition.question(str(question.get("question_id")))
        if known is None or known.show_if is None:
            return ""
        if self._is_unpublished(known.show_if):
            return self.words("It refers to something that is not published yet, so it cannot be counted.")
        asked = self.found.asked.get(known.question_id, 0)
        every, words = self.found.responses, self.words
        if not every:
            return ""
        return words("Of the last {all} responses, {n} would be asked.", all=every, n=asked)

    def _is_unpublished(self, condition: Node | None) -> bool:
        subjects = (leaf.subject.split(":") for leaf in conditions.leaves_of(condition))
        published = self.work.published
        return any(
            kind == "question" and (published is None or published.question(rest[0]) is None)
            for kind, *rest in subjects
        )


async def matching_of(visit: Visit, db: Database, work: Work) -> Matching | None:
    """None where the reader may not read responses, or no response can be there."""
    if SCOPE not in visit.caller.scopes or work.published is None:
        return None
    found = await passages.count(db, caller=visit.caller, questionnaire=work.questionnaire, definition=work.definition)
    return Matching(visit.words, work, found)


def is_counted(question: Document) -> bool:
    return bool(jumps_of(question)) or question.get("show_if") is not None


CONTACTS: Final[Mapping[str, Marked]] = {
    "name": "Name", "email": "E-mail address", "phone": "Telephone number", "preferred_time": "Time for a call",
    "street": "Street and number", "postal_code": "Postal code", "city": "City", "region": "Region",
    "country": "Country",
}  # fmt: skip
KINDS_OF_FILES: Final[Mapping[str, Marked]] = {
    "picture": "Pictures", "pdf": "PDF", "document": "Text documents (Word, OpenDocument)",
    "spreadsheet": "Spreadsheets (Excel, OpenDocument)", "text": "Plain text and CSV",
}  # fmt: skip
_INPUTS: Final = {"lines": "area", "decimal": "text"}  # by the kind of a member, where its field has another name
_MEGABYTE: Final = 1_048_576
_SIZES: Final = (1, 2, 5, 10)  # megabytes


class Field(msgspec.Struct, frozen=True):
    name: str
    kind: str
    label: str
    value: str | list[str]
    hint: str = ""
    options: Sequence[tuple[str, str]] = ()
    most: int = 20


def fields(
    words: Texts, question: Mapping[str, Any], values: ValuesRecord, *, pages: Texts | None = None
) -> list[Field]:
    """`pages`: the words of pages in the language of the questionnaire, which empty labels of ends get."""
    names = fields_of(str(question.get("type")))
    return [_field(words, question, name, values.get(name, ""), pages or words) for name in names]


def pictures(
    words: Texts, question: Mapping[str, Any], values: ValuesRecord, offered: Sequence[tuple[str, str]]
) -> list[Field]:
    """A field for each choice that has a label; `offered`: the paths and names of pictures."""
    known = TYPES.get(str(question.get("type")))
    if known is None or not known.has_rich_choices or question.get("style"):
        return []
    found: list[Field] = []
    for value, label in _labels(question):
        name = picture_name({"value": value})
        chosen = str(values.get(name, ""))
        others = [] if not chosen or chosen in dict(offered) else [(chosen, words("the current picture"))]
        options = [("", words("none")), *others, *offered]
        found.append(Field(name, "choice", words("Picture of “{label}”", label=label), chosen, "", options))
    return found


def wrong_of(question_id: str, problems: Iterable[Problem]) -> Refusal:
    own = [one for one in problems if one.question_id == question_id and one.is_error and one.member]
    return errors.Invalid("", errors=[errors.FieldError("wrong", one.text, pointer=f"/{one.member}") for one in own])


def differences(words: Texts, theirs: ValuesRecord, mine: ValuesRecord) -> list[tuple[str, str]]:
    labels = {name: member.label for name, member in MEMBERS.items() if name in theirs}
    stored = {name: theirs[name] for name in labels}
    return theirs_of(words, labels, stored, mine, lambda name, value: _shown(words, name, value))


def types(words: Texts) -> list[tuple[str, str]]:
    return [(name, words(one.label)) for name, one in TYPES.items()]


def gallery(words: Texts) -> list[tuple[str, str, str]]:
    """Name, label and a line of each type."""
    return [(name, words(one.label), words(one.about)) for name, one in TYPES.items()]


def _field(words: Texts, question: Mapping[str, Any], name: str, value: str | list[str], pages: Texts) -> Field:
    member, known = MEMBERS[name], TYPES.get(str(question.get("type")), TYPES["statement"])
    end = dict(zip(("low_label", "high_label"), known.ends, strict=True)).get(name)
    return Field(
        name,
        _INPUTS.get(member.kind, member.kind),
        words(known.labels.get(name, member.label)),
        value,
        words("Empty: “{text}”.", text=pages(end)) if end else words(member.hint),
        _options(words, question, name),
        LINES_CHARACTERS_MAX if member.kind == "lines" else member.most,
    )


def _options(words: Texts, question: Mapping[str, Any], name: str) -> Sequence[tuple[str, str]]:
    labels, known = _labels(question), TYPES.get(str(question.get("type")), TYPES["statement"])
    numbers = [*known.faces][::-1] or (5, 3, 4, 6, 7, 8, 9, 10)
    options: Mapping[str, Sequence[tuple[str, str]]] = {
        "scale_min": [("1", "1"), ("0", "0")],
        "scale_max": [(str(one), str(one)) for one in numbers],
        "style": [(key, words(style.label)) for key, style in known.styles.items()],
        "other": [("", words("none of them")), *labels],
        "exclusive": labels,
        "contact_fields": [(key, words(CONTACTS[key])) for key in known.parts],
        "file_types": [(key, words(KINDS_OF_FILES[key])) for key in FILE_TYPES],
        "files_max": [(str(one), str(one)) for one in range(1, FILES_MAX + 1)],
        "bytes_max": _sizes(words, question.get("bytes_max")),
    }
    return options.get(name, ())


def _sizes(words: Texts, chosen: object) -> list[tuple[str, str]]:
    """Whole megabytes, and the size that was set by the API."""
    sizes = sorted({one * _MEGABYTE for one in _SIZES} | ({chosen} if isinstance(chosen, int) else set()))
    return [(str(one), written_size(one, words)) for one in sizes]


def _labels(question: Mapping[str, Any]) -> list[tuple[str, str]]:
    choices: Any = question.get("choices") or ()
    return [(str(one.get("value")), str(one.get("label") or "")) for one in choices if isinstance(one, dict)]


def _shown(words: Texts, name: str, value: str | list[str]) -> str:
    if isinstance(value, list):
        return ", ".join(words({**CONTACTS, **KINDS_OF_FILES}.get(one, one)) for one in value) or NOTHING
    if MEMBERS[name].kind == "check":
        return words("yes") if value else words("no")
    return value or NOTHING


OFFERED_MAX: Final = 60


class TextVariables(msgspec.Struct, frozen=True):
    """`titles`: of questions by id. `offered`: the names to insert."""

    titles: Mapping[str, str]
    offered: list[str]

    def shown(self, text: str) -> str:
        return variables.with_titles(text, self.titles)

    def stored(self, text: str) -> str:
        return variables.with_ids(text, self.titles)

    def shown_values(self, values: ValuesRecord) -> ValuesRecord:
        return {
            name: self.shown(value) if name in TEXTS and isinstance(value, str) else value
            for name, value in values.items()
        }

    def stored_fields(self, fields: Mapping[str, list[str]]) -> dict[str, list[str]]:
        return {
            name: [self.stored(one) for one in values] if name in TEXTS else values for name, values in fields.items()
        }


def inserts(work: Work, *, before: str | None = None) -> TextVariables:
    """`before`: the question whose texts may have the answers of those before it; None: those of all."""
    document = work.draft.definition
    asked: dict[str, str] = {}
    earlier: list[str] = []
    is_earlier = True
    for one in editing.all_questions(document):
        is_earlier = is_earlier and one.get("question_id") != before
        if is_answered(one):
            asked[str(one.get("question_id"))] = " ".join(str(one.get("title") or "").split())
            earlier += [str(one.get("question_id"))] if is_earlier else []
    titles = variables.plain_titles(asked)
    known = [f"{kind}.{name}" for kind in MAPS for name in getattr(work.declared, kind)]
    names = [*(titles[one] for one in earlier if one in titles), *known, variables.ORGANIZATION]
    return TextVariables(titles, names[:OFFERED_MAX])
