"""Questions of Qualtrics, each as one or several of ours."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from afterword.core.foreign import parts
from afterword.core.foreign.objects import (
    MIDDLE,
    PICTURES,
    SCALE,
    UNCHECKED,
    Document,
    Subject,
    at,
    few,
    mapping,
    number_of,
)
from afterword.core.foreign.parts import Entry, Keys, Values, leaf, plain
from afterword.core.foreign.qualtrics_logic import PIPED, Logic
from afterword.core.questionnaires import question_types as types
from afterword.core.questionnaires.questions import CHOICE_VALUE_MAX, ROWS_MAX
from afterword.errors import Sentence

Title = Callable[[Mapping[str, Any]], str]
"""Gives a title for the texts of one language."""

NOTHING_LIKE: Final = "Afterword has nothing like {name}, so it is left out."
CODES: Final = "Its codes are others now: a code is a number from 1 to {n}."
ONE_COLUMN: Final = "It has one column, so its rows became choices."
SUM: Final = "The sum of the answers is not checked."
CARRIED: Final = "Its choices depended on an earlier answer. Now all are shown."
CELLS_MAX: Final = 40  # of a table of texts or numbers
DECIMALS: Final = 2  # of a number without a rule
_CONTACT: Final = {"ValidEmail": "email", "ValidPhone": "phone"}
_MEDIA: Final = ("<img", "<video", "<iframe", "<audio", "<embed")


class Question:
    """One question of the survey with its texts in all languages.

    `payload`: as the file has it; `sources`: the same texts in other languages, by our locale; `subjects`: what
    conditions and texts can name of it.
    """

    def __init__(self, payload: Document, entry: Entry, locales: Mapping[str, str], logic: Logic, keys: Keys) -> None:
        self.payload, self.entry, self.locales, self.logic, self.keys = payload, entry, locales, logic, keys
        self.id, self.tag = str(payload.get("QuestionID")), str(payload.get("DataExportTag") or "q")
        self.subjects: dict[tuple[str, str], Subject] = {}
        texts = mapping(payload.get("Language"))
        self.sources = {locales[tag]: mapping(texts[tag]) for tag in [*locales][1:] if mapping(texts.get(tag))}
        self.settings = mapping(at(payload, "Validation", "Settings"))
        kind = str(self.settings.get("ForceResponseType"))
        self.is_required = self.settings.get("ForceResponse") == "ON" and kind in {"None", "ON"}
        self.has_rule = str(self.settings.get("Type")) != "None"
        self.is_shuffled = at(payload, "Randomization", "Type") == "All"

    def names(self, member: str, order: str = "") -> list[str]:
        """The ids of its choices or answers, in their order."""
        known = mapping(self.payload.get(member))
        ordered = [str(one) for one in mapping(self.payload.get(order)).values() if str(one) in known]
        return list(dict.fromkeys(ordered)) or [*known]

    def written(self, member: str, names: Sequence[str]) -> list[str]:
        """Those entries that have a text field."""
        return [name for name in names if at(self.payload, member, name, "TextEntry")]

    def text(self, source: Mapping[str, Any]) -> str:
        return str(source.get("QuestionText") or "")

    def below(self, *paths: tuple[object, ...]) -> Title:
        """The question's text with those of entries below it; each may lack a translation."""

        def title(source: Mapping[str, Any]) -> str:
            found = [at(source, *path) or at(self.payload, *path) for path in (("QuestionText",), *paths)]
            is_there = any(at(source, *path) for path in (("QuestionText",), *paths))
            return "<br>".join(str(one) for one in found if plain(one)) if is_there else ""

        return title

    def begin(self, type_name: str, title: Title, *, part: str = "", more: Title = lambda _: "") -> Document:
        """A question of ours with its texts. `part`: what its key has behind the name of the question."""
        pipe = parts.piping(PIPED, self.logic.variable, self.entry)
        question: Document = {"key": self.keys.give(f"{self.tag}_{part}" if part else self.tag), "type": type_name}
        question |= self.entry.title_and_help(title(self.payload), more(self.payload), pipe)
        question["title"] = question["title"] or plain(self.payload.get("QuestionDescription")) or self.tag
        for locale, source in self.sources.items():
            texts = self.entry.title_and_help(title(source), more(source), pipe)
            if texts["title"]:
                question.setdefault("translations", {})[locale] = texts
        if self.is_required and type_name != "statement":
            question["required"] = True
        if at(self.payload, "Configuration", "QuestionDescriptionOption") == "SpecifyLabel":
            question["display_name"] = plain(self.payload.get("QuestionDescription"))[:200] or self.tag
        return question

    def label(self, source: Mapping[str, Any], path: Sequence[object], most: int = types.LABEL_CHARACTERS_MAX) -> str:
        written = at(source, *path)
        if any(sign in str(written) for sign in _MEDIA):
            (self.entry.changed if plain(written) else self.entry.lost)(Sentence(PICTURES))
        return self.entry.text(written, most, parts.piping(PIPED, lambda _: None, self.entry))

    def labels(self, question: Document, member: str, names: Mapping[str, str], above: str) -> dict[str, str]:
        """The labels of entries, by our names of them; the question gets their translations."""
        for locale, source in self.sources.items():
            found = {own: self.label(source, (above, name, "Display")) for own, name in names.items()}
            if any(found.values()):
                texts = question.setdefault("translations", {}).setdefault(locale, {})
                texts[member] = {own: text for own, text in found.items() if text}
        return {own: self.label(self.payload, (above, name, "Display")) or name for own, name in names.items()}

    def choices(self, question: Document, names: Sequence[str], above: str = "Choices") -> dict[str, int]:
        """Add them, and give their values, which are the codes of its exports if those are numbers of ours."""
        recoded = mapping(self.payload.get("RecodeValues"))
        codes = {name: str(recoded.get(name, name)) for name in names}
        has_codes = len(set(codes.values())) == len(names)
        by_code = Values.of([codes[name] if has_codes else name for name in names], self.entry).by_code
        values = {name: by_code[code if has_codes else name] for name, code in codes.items()}
        if recoded and any(str(value) != codes[name] for name, value in values.items()):
            self.entry.lost(Sentence(CODES, n=CHOICE_VALUE_MAX))
        labels = self.labels(question, "choices", {str(values[name]): name for name in names}, above)
        question["choices"] = [{"value": int(value), "label": label} for value, label in labels.items()]
        return values

    def ends(self, question: Document, *paths: tuple[object, ...]) -> None:
        """The labels of the low and the high end."""
        for locale, source in {"": self.payload, **self.sources}.items():
            texts = [self.label(source, path, types.END_LABEL_CHARACTERS_MAX) for path in paths]
            found = {name: text for name, text in zip(("low_label", "high_label"), texts, strict=True) if text}
            into = question.setdefault("translations", {}).setdefault(locale, {}) if locale and found else question
            into.update(found)

    def know(self, question: Document, part: str = "", row: str = "", values: Mapping[str, int] | None = None) -> None:
        """Let conditions and texts name it, or a part of it."""
        recoded = mapping(self.payload.get("RecodeValues"))
        codes = {str(recoded.get(name, name)): value for name, value in (values or {}).items()}
        kind = "single_choice" if question["type"] == "matrix" else question["type"]
        name = f"{question['key']}:{row}" if row else question["key"]
        self.subjects[self.id, part] = Subject(name, kind, values=values or {}, codes=codes)


def parts_of(question: Question) -> list[Document]:
    """The questions of ours that it becomes; a text where ours have no such type."""
    entry, payload = question.entry, question.payload
    kind, selector = str(payload.get("QuestionType")), str(payload.get("Selector"))
    found = [*TYPES[kind](question, selector)] if kind in TYPES else []
    if not found:
        name = "/".join(str(one) for one in (kind, selector, payload.get("SubSelector")) if one)
        entry.left_out(Sentence(parts.NO_QUESTION, name=name))
        return [question.begin("statement", question.text)]
    if found[1:]:
        entry.changed(Sentence(parts.SEVERAL, n=len(found)))
    if any(sign in question.text(payload) for sign in _MEDIA):
        entry.changed(Sentence(PICTURES))
    around = {name: payload.get(name) for name in ("QuestionJS", "DefaultChoices", "GradingData", "ChoiceGroups")}
    around["CustomValidation"] = question.settings.get("Type") == "CustomValidation"
    around["RequestResponse"] = question.settings.get("ForceResponse") == "ON" and not question.is_required
    order = str(at(payload, "Randomization", "Type"))
    around[f"Randomization {order}"] = order not in {"None", "All"}
    for name in (name for name, is_there in around.items() if is_there):
        entry.changed(Sentence(NOTHING_LIKE, name=name))
    return found


# Types ----------------------------------------------------------------------------------------------------------------


def _multiple_choice(question: Question, selector: str) -> Iterator[Document]:
    names = question.names("Choices", "ChoiceOrder")
    is_several, is_list = selector.startswith("M"), selector in {"DL", "SB"}
    if selector == "NPS":
        found = question.begin("nps", question.text)
        question.ends(found, ("ColumnLabels", 0, "Display"), ("ColumnLabels", 1, "Display"))
        question.know(found, values={str(number): number for number in range(11)})
        yield found
        return
    if len(names) == 1:  # a box to tick, below the text
        label = ("Choices", names[0], "Display")
        found = question.begin("consent", lambda source: str(at(source, *label) or ""), more=question.text)
        question.know(found, values={names[0]: True})
        yield found
        return
    is_list = is_list or (not is_several and len(names) > types.CHOICES_MAX)
    names = few(names, types.DROPDOWN_CHOICES_MAX if is_list else types.CHOICES_MAX, question.entry)
    found = question.begin("multiple_choice" if is_several else "single_choice", question.text)
    values = question.choices(found, names)
    found |= ({"randomize": True} if question.is_shuffled else {}) | ({"style": "dropdown"} if is_list else {})
    written = question.written("Choices", names)
    for name, choice in zip(names, found["choices"], strict=True):
        if written[:1] == [name]:
            choice["other"] = True
        if is_several and at(question.payload, "Choices", name, "ExclusiveAnswer"):
            choice["exclusive"] = True
    for member, name in (("choices_min", "MinChoices"), ("choices_max", "MaxChoices")):
        bound = number_of(question.settings.get(name)) if is_several and question.has_rule else None
        found |= {member: min(int(bound), len(names))} if bound else {}
    question.know(found, values=values)
    yield found
    for name in written[1:]:
        condition = leaf(f"question:{found['key']}", "contains" if is_several else "equal", values[name])
        yield _beside(question, "Choices", name) | {"under": [condition]}


def _beside(question: Question, member: str, name: str) -> Document:
    """The text field of an entry, as a question of its own."""
    found = question.begin("text", question.below((member, name, "Display")), part=f"{name}_text")
    return {member: value for member, value in found.items() if member != "required"} | {"multiline": False}


def _each(
    question: Question, type_name: str, members: Document, columns: Sequence[str] = (), entries: Sequence[str] = ()
) -> Iterator[Document]:
    """A question for each row, or for each cell of rows and `columns`. `entries`: the answers to choose from."""
    rows = question.names("Choices", "ChoiceOrder")
    for row in rows:
        for column in columns or [""]:
            paths = [("Choices", row, "Display"), *([("Answers", column, "Display")] if column else [])]
            part = "_".join(filter(None, [row, column])) if rows[1:] or column else ""
            found = question.begin(type_name, question.below(*paths), part=part) | members
            values = question.choices(found, entries, "Answers") if entries else None
            question.know(found, f"{row}/{column}" if column else row, values=values)
            logic = at(question.payload, "Choices", row, "DisplayLogic")
            yield found | ({"logic": logic} if logic else {})


def _text(question: Question, selector: str) -> Iterator[Document]:
    settings = question.settings
    content = str(settings.get("ContentType") or "") if settings.get("Type") == "ContentType" else ""
    if selector == "FORM":
        yield from _each(question, "text", {"multiline": False})
        return
    if content in _CONTACT:
        found = question.begin("contact", question.text) | {"contact_fields": [_CONTACT[content]]}
        question.know(found, row=_CONTACT[content])
    elif content == "ValidNumber":
        found = question.begin("number", question.text) | _bounds(mapping(settings.get("ValidNumber")), DECIMALS)
        question.know(found)
    else:
        is_day = content == "ValidDate"
        found = question.begin("date" if is_day else "text", question.text)
        most = number_of(settings.get("MaxChars")) if question.has_rule and not is_day else None
        found |= {} if is_day else {"multiline": selector in {"ML", "ESTB"}}
        found |= {"length_max": min(int(most), types.TEXT_CHARACTERS_MAX)} if most else {}
        if content and not is_day:
            question.entry.lost(Sentence(UNCHECKED, name=content))
        question.know(found)
    yield found


def _bounds(rule: Mapping[str, Any], default: int) -> Document:
    decimals = number_of(rule.get("NumDecimals"))
    found: Document = {"decimals": default if decimals is None else min(int(decimals), types.DECIMALS_MAX)}
    for member, name in (("number_min", "Min"), ("number_max", "Max")):
        bound = number_of(rule.get(name))
        found |= {} if bound is None else {member: round(bound, found["decimals"])}
    return found


def _statement(question: Question, selector: str) -> Iterator[Document]:
    if selector == "GRB" or not plain(question.text(question.payload)):
        question.entry.lost(Sentence(PICTURES))
    found = question.begin("statement", question.text)
    question.know(found)
    yield found


def _matrix(question: Question, selector: str) -> Iterator[Document]:
    rows, columns = question.names("Choices", "ChoiceOrder"), question.names("Answers", "AnswerOrder")
    cells = len(rows) * len(columns)
    match selector:
        case "Likert" if len(columns) == 1 and rows[1:]:
            yield _one_column(question, rows)
        case "Likert" | "Bipolar" if columns[1:]:
            yield from _table(question, rows, columns)
        case "RO" if len(columns) in range(2, types.RANKED_MAX + 1):
            yield from _each(question, "ranking", {}, entries=columns)
        case "TE" if 0 < cells <= CELLS_MAX:
            yield from _each(question, "text", {"multiline": False}, columns=columns)
        case "CS" if 0 < cells <= CELLS_MAX:
            yield from _sum(question, "", columns)
        case _:
            return
    for member, names in (("Choices", rows), ("Answers", columns)):
        for name in question.written(member, names):
            yield _beside(question, member, name)


def _one_column(question: Question, rows: Sequence[str]) -> Document:
    """The rows are boxes to tick; the codes are those of the column."""
    question.entry.changed(Sentence(ONE_COLUMN))
    found = question.begin("multiple_choice", question.text)
    question.payload = {**question.payload, "RecodeValues": {}}
    question.choices(found, few(rows, types.CHOICES_MAX, question.entry))
    return found


def _between_words(found: Document) -> Document:
    """A row of two words with a colon between them: they are the ends of its scale, and not in its title."""
    for texts in (found, *found.get("translations", {}).values()):
        title, _, row = str(texts.get("title", "")).rpartition("\n")
        low, colon, high = row.partition(":")
        if colon:
            most = types.END_LABEL_CHARACTERS_MAX
            texts |= {"low_label": low.strip()[:most], "high_label": high.strip()[:most]}
            texts["title"] = title or row
    return found


def _table(question: Question, rows: Sequence[str], columns: Sequence[str]) -> Iterator[Document]:
    is_several = question.payload.get("SubSelector") == "MultipleAnswer"
    has_logic = any(at(question.payload, "Choices", row, "DisplayLogic") for row in rows)
    recoded = mapping(question.payload.get("RecodeValues"))
    codes = [str(recoded.get(name, name)) for name in columns]
    is_scale = codes == columns == [str(number) for number in range(1, len(columns) + 1)] and len(columns) in SCALE
    if question.payload.get("Selector") == "Bipolar" and is_scale:
        found = _each(question, "rating", {"scale_min": 1, "scale_max": len(columns)})
        yield from map(_between_words, found)
        return
    if len(columns) > types.COLUMNS_MAX or has_logic or is_several:
        entries = few(columns, types.CHOICES_MAX, question.entry)
        yield from _each(question, "multiple_choice" if is_several else "single_choice", {}, entries=entries)
        return
    keys, tags = Keys(), mapping(question.payload.get("ChoiceDataExportTags"))
    for start in range(0, len(rows), ROWS_MAX):
        by_key = {keys.give(str(tags.get(row) or row), "row"): row for row in rows[start : start + ROWS_MAX]}
        found = question.begin("matrix", question.text, part=str(start + 1) if start else "")
        labels = question.labels(found, "rows", by_key, "Choices")
        found["rows"] = [{"key": key, "label": label} for key, label in labels.items()]
        values = question.choices(found, columns, "Answers")
        for key, row in by_key.items():
            question.know(found, row, key, values)
        yield found | ({"randomize": True} if question.is_shuffled else {})


def _slider(question: Question, selector: str) -> Iterator[Document]:
    settings, labels = mapping(question.payload.get("Configuration")), question.names("Labels")
    if labels[2:]:
        question.entry.changed(Sentence(MIDDLE))
    if settings.get("NotApplicable") is True:
        question.entry.lost(Sentence(NOTHING_LIKE, name="NotApplicable"))
    if selector == "STAR" and settings.get("StarCount") in SCALE:
        own = ("rating", {"style": "stars", "scale_min": 1, "scale_max": settings["StarCount"]})
    else:
        rule = {"Min": settings.get("CSSliderMin") or 0, "Max": settings.get("CSSliderMax") or 100}
        own = ("number", {"style": "slider", **_bounds({**settings, **rule}, 0)})
    for found in _each(question, *own):
        if labels:
            question.ends(found, ("Labels", labels[0], "Display"), ("Labels", labels[-1], "Display"))
        yield found


def _ranking(question: Question, _: str) -> Iterator[Document]:
    names = few(question.names("Choices", "ChoiceOrder"), types.RANKED_MAX, question.entry)
    found = question.begin("ranking", question.text) | ({"randomize": True} if question.is_shuffled else {})
    question.know(found, values=question.choices(found, names))
    yield found
    for name in question.written("Choices", names):
        yield _beside(question, "Choices", name)


def _sum(question: Question, _: str, columns: Sequence[str] = ()) -> Iterator[Document]:
    question.entry.lost(Sentence(SUM))
    yield from _each(question, "number", {"decimals": DECIMALS}, columns=columns)


def _side_by_side(question: Question, _: str) -> Iterator[Document]:
    """Each column is a question of its own about the same rows."""
    own = question.payload
    for number, payload in mapping(own.get("AdditionalQuestions")).items():
        languages = {
            tag: {
                **mapping(at(texts, "AdditionalQuestions", number)),
                "Choices": at(texts, "Choices"),
                "QuestionText": _joined(texts, at(texts, "AdditionalQuestions", number)),
            }
            for tag, texts in mapping(own.get("Language")).items()
        }
        shared = {name: own.get(name) for name in ("Choices", "ChoiceOrder", "Validation")}
        names = {
            "Language": languages,
            "DataExportTag": f"{question.tag}_{number}",
            "QuestionText": _joined(own, payload),
        }
        column = Question(
            {**mapping(payload), **shared, **names}, question.entry, question.locales, question.logic, question.keys
        )
        kind = TYPES.get(str(column.payload.get("QuestionType")))
        yield from kind(column, str(column.payload.get("Selector"))) if kind else ()
        question.subjects |= column.subjects


def _joined(*sources: object) -> str:
    return "<br>".join(text for one in sources if plain(text := str(at(one, "QuestionText") or "")))


def _file(question: Question, _: str) -> Iterator[Document]:
    yield question.begin("file", question.text) | {"file_types": [*types.FILE_TYPES]}


TYPES: Final[Mapping[str, Callable[[Question, str], Iterator[Document]]]] = {
    "MC": _multiple_choice, "TE": _text, "DB": _statement, "Matrix": _matrix, "Slider": _slider, "RO": _ranking,
    "CS": _sum, "SBS": _side_by_side, "FileUpload": _file,
}  # fmt: skip


def with_carried(payload: Document, others: Mapping[str, Document], entry: Entry) -> Document:
    """The question with the choices that it takes from another one."""
    locator = str(at(payload, "DynamicChoices", "Locator") or "")
    source = others.get(locator.removeprefix("q://").partition("/")[0])
    if source is None:
        return payload
    entry.lost(Sentence(CARRIED))
    return {**payload, "Choices": source.get("Choices"), "ChoiceOrder": source.get("ChoiceOrder")}
