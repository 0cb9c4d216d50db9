"""Questions of Qualtrics, each as one or several of ours."""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

from afterword.core.foreign import drafting, parts
from afterword.core.foreign.drafting import Item, Making, Subject, at, figure, mapping
from afterword.core.foreign.parts import Entry, leaf, plain
from afterword.core.foreign.qualtrics_logic import PIPED, Logic
from afterword.core.questionnaires import question_types as types
from afterword.core.questionnaires.questions import ROWS_MAX

SHARED: Final = "Several of its choices have the same code in past answers, which count as the first of them: {codes}."
ONE_COLUMN: Final = "It has one column, so its rows became choices."
CELLS_MAX: Final = 40  # of a table of texts
DECIMALS: Final = 2  # of a number without a rule
_AROUND: Final = ("QuestionJS", "DefaultChoices", "GradingData", "ChoiceGroups", "DynamicChoices")
_MEDIA: Final = re.compile("<(?:img|video|iframe|audio|embed)")


class Question:
    """One question of the survey. `sources`: its texts by the languages of the file; `made`: the questions of ours."""

    def __init__(self, payload: Item, logic: Logic, entry: Entry | None = None) -> None:
        self.payload, self.logic, self.draft = payload, logic, logic.draft
        self.id = str(payload.get("QuestionID"))
        self.tag = str(payload.get("DataExportTag") or self.id)
        self.entry = entry or Entry("question", self.id, plain(payload.get("QuestionText")) or self.tag)
        self.made: list[Making] = []
        default, *translated = self.draft.languages
        self.sources = {default: payload, **{tag: at(payload, "Language", tag) for tag in translated}}
        self.settings = mapping(at(payload, "Validation", "Settings"))
        kind = str(self.settings.get("ForceResponseType"))
        self.is_required = self.settings.get("ForceResponse") == "ON" and kind in {"None", "ON"}
        self.has_rule = str(self.settings.get("Type")) != "None"
        self.order = str(at(payload, "Randomization", "Type"))

    def names(self, member: str, order: str = "") -> list[str]:
        """The ids of its choices or answers, in their order."""
        known = mapping(self.payload.get(member))
        ordered = [str(one) for one in mapping(self.payload.get(order)).values() if str(one) in known]
        return list(dict.fromkeys(ordered)) or [*known]

    def written(self, member: str, names: Sequence[str]) -> list[str]:
        """Those entries that have a text field."""
        return [name for name in names if at(self.payload, member, name, "TextEntry")]

    def texts(self, *paths: tuple[object, ...]) -> dict[str, str]:
        """The texts at these paths, one below the other; the original stands where one lacks a translation."""
        found: dict[str, str] = {}
        for tag, source in self.sources.items():
            own = [at(source, *path) for path in paths]
            if any(own):
                lines = [text or at(self.payload, *path) for text, path in zip(own, paths, strict=True)]
                found[tag] = "<br>".join(str(one) for one in lines if isinstance(one, str | int | float))
        return found

    def label(self, *path: object) -> dict[str, str]:
        """The text of an entry, which shows neither pictures nor values."""
        found, drop = self.texts(path), parts.piping(PIPED, lambda _: None, self.entry)
        for text in found.values():
            if _MEDIA.search(text):
                (self.entry.changed if plain(text) else self.entry.lost)(drafting.PICTURES)
        return {tag: drop(text) for tag, text in found.items()}

    def begin(self, kind: str, *below: tuple[object, ...], part: str = "") -> Making:
        """A question of ours with its text, and those of entries below it. `part`: its key has it at the end."""
        pipe = parts.piping(PIPED, self.logic.variable, self.entry)
        one = Making(self.draft, self.entry, self.payload, pipe)
        one.item |= {**self.draft.named(f"{self.tag}_{part}" if part else self.tag), "type": kind}
        one.put_title(self.texts(("QuestionText",), *below))
        if self.is_required and kind != "statement":
            one.item["required"] = True
        if at(self.payload, "Configuration", "QuestionDescriptionOption") == "SpecifyLabel":
            name = plain(self.payload.get("QuestionDescription"))[: types.DISPLAY_NAME_CHARACTERS_MAX]
            one.item["display_name"] = name or self.tag
        self.made.append(one)
        return one

    def codes(self, names: Sequence[str], member: str) -> dict[str, str]:
        """The codes that entries have in exports; of those that share one the first has it."""
        found = {name: str(at(self.payload, member, name) or name) for name in names}
        first = {code: name for name, code in reversed(found.items())}
        if shared := [code for name, code in found.items() if first[code] != name]:
            self.entry.lost(SHARED, codes=", ".join(dict.fromkeys(shared)))
        return {name: code if first[code] == name else f"{code} ({name})" for name, code in found.items()}

    def choices(self, one: Making, kind: str, names: Sequence[str], member: str = "Choices") -> dict[str, Any]:
        """Sets them with their codes, and gives their values by ids."""
        codes = self.codes(names, "RecodeValues")
        made = one.put_choices(kind, [(codes[name], self.label(member, name, "Display")) for name in names])
        values = {name: made[code] for name, code in codes.items() if code in made}
        one.put_list(is_random=self.order == "All" and (member == "Choices" or kind == "matrix"))
        return values


def take(payload: Item, logic: Logic) -> list[Item]:
    """Puts the questions of ours that it becomes into the last group; a text where ours have no such type."""
    question, lines = Question(payload, logic), logic.draft.read.lines
    entry, kind, selector = question.entry, str(payload.get("QuestionType")), str(payload.get("Selector"))
    before = len(lines)
    _make(question, kind, selector)
    if not question.made:
        name = "/".join(str(one) for one in (kind, selector, payload.get("SubSelector")) if one)
        entry.left_out(parts.NO_QUESTION, name=name)
        question.begin("statement")
    elif _MEDIA.search(str(payload.get("QuestionText"))):
        entry.changed(drafting.PICTURES)
    if question.made[1:]:
        entry.changed(parts.SEVERAL, n=len(question.made))
    around = {name: payload.get(name) for name in _AROUND}
    around["NotApplicable"] = at(payload, "Configuration", "NotApplicable") is True
    around["CustomValidation"] = question.settings.get("Type") == "CustomValidation"
    around["RequestResponse"] = question.settings.get("ForceResponse") == "ON" and not question.is_required
    around[f"Randomization {question.order}"] = question.order not in {"None", "All"}
    for name in (name for name, is_there in around.items() if is_there):
        entry.changed(drafting.NOTHING_LIKE, name=name)
    made = [one.item for one in question.made]
    entry.key = made[0]["key"]
    question.draft.asked.setdefault(question.id, Subject(entry.key, "statement"))  # its rows alone have answers
    question.draft.groups[-1]["questions"] += made
    lines.insert(before, entry.line)  # before the conditions of its rows
    return made


def _make(question: Question, kind: str, selector: str) -> None:  # noqa: C901  a case for each type
    """Begins nothing for a type that ours do not have."""
    match kind:
        case "MC":
            _multiple_choice(question, selector)
        case "TE" if selector == "FORM":
            _each(question, "text", {"multiline": False})
        case "TE":
            _text(question, selector)
        case "DB":
            if selector == "GRB" or not plain(question.payload.get("QuestionText")):
                question.entry.lost(drafting.PICTURES)
            question.begin("statement")
        case "Matrix":
            _matrix(question, selector)
        case "Slider":
            _slider(question, selector)
        case "RO":
            names, one = question.names("Choices", "ChoiceOrder"), question.begin("ranking")
            one.know(question.id, codes=question.choices(one, "ranking", names))
            _beside(question, "Choices", names)
        case "CS":
            question.entry.lost("The sum of the answers is not checked.")
            _each(question, "number", {"decimals": DECIMALS})
        case "SBS":
            _side_by_side(question)
        case "FileUpload":
            question.begin("file").item["file_types"] = [*types.FILE_TYPES]
        case _:
            pass


def _multiple_choice(question: Question, selector: str) -> None:
    names, is_several, one = question.names("Choices", "ChoiceOrder"), selector.startswith("M"), question.begin("nps")
    if selector == "NPS":
        one.put_ends(*(question.label("ColumnLabels", place, "Display") for place in (0, 1)))
        one.know(question.id, codes={str(number): number for number in range(11)})
        return
    codes = question.choices(one, "multiple_choice" if is_several else "single_choice", names)
    written = question.written("Choices", names)
    one.mark(codes, written[:1], [name for name in names if at(question.payload, "Choices", name, "ExclusiveAnswer")])
    least, most = (question.settings.get(name) if question.has_rule else None for name in ("MinChoices", "MaxChoices"))
    one.put_list(is_dropdown=selector in {"DL", "SB"}, least=least, most=most)
    one.know(question.id, codes=codes)
    for text, name in zip(_beside(question, "Choices", names, 1), written[1:], strict=True):
        operator = "contains" if is_several else "equal"
        text.item["show_if"] = leaf(f"question:{one.item['key']}", operator, codes[name])


def _beside(question: Question, member: str, names: Sequence[str], first: int = 0) -> list[Making]:
    """The text fields of entries, each as a question of its own."""
    found: list[Making] = []
    is_row = member == "Choices" and question.payload.get("QuestionType") == "Matrix"
    codes = question.codes(names, "ChoiceDataExportTags" if is_row else "RecodeValues")
    for name in question.written(member, names)[first:]:
        found.append(question.begin("text", (member, name, "Display"), part=f"{codes[name]}_text"))
        found[-1].item.pop("required", None)
        found[-1].item["multiline"] = False
    return found


def _each(
    question: Question, kind: str, members: Item, entries: Sequence[str] = (), columns: Sequence[str] = ("",)
) -> list[Making]:
    """A question for each row, or for each cell of rows and `columns`. `entries`: the answers to choose from."""
    rows = question.names("Choices", "ChoiceOrder")
    tags = question.codes(rows, "ChoiceDataExportTags")
    for row, column in product(rows, columns):
        part = f"{tags[row]}_{column}".strip("_") if rows[1:] or column else ""
        one = question.begin(kind, ("Choices", row, "Display"), ("Answers", column, "Display"), part=part)
        one.item |= members
        codes = question.choices(one, kind, entries, "Answers") if entries else {}
        one.know(f"{question.id}/{row}/{column}".rstrip("/"), codes=codes)
        logic = at(question.payload, "Choices", row, "DisplayLogic")
        if logic and (condition := question.logic.read(logic, question.entry.place, one.item["key"])):
            one.item["show_if"] = condition
    return question.made


def _text(question: Question, selector: str) -> None:
    settings, one = question.settings, question.begin("text")
    content = str(settings.get("ContentType") or "") if settings.get("Type") == "ContentType" else ""
    asked: Item = {}
    match content:
        case "ValidEmail" | "ValidPhone":
            asked = one.put_fields("contact", [content.removeprefix("Valid").lower()])
        case "ValidNumber":
            one.item |= {"type": "number", **_bounds(mapping(settings.get("ValidNumber")), DECIMALS)}
        case "ValidDate":
            one.item["type"] = "date"
        case _:
            one.item["multiline"] = selector in {"ML", "ESTB"}
            if question.has_rule and (most := figure(settings.get("MaxChars"))):
                one.item["length_max"] = min(int(most), types.TEXT_CHARACTERS_MAX)
            if content:
                question.entry.lost(drafting.UNCHECKED, name=content)
    one.know(question.id, **asked)


def _bounds(rule: Mapping[str, Any], default: int) -> Item:
    decimals = figure(rule.get("NumDecimals"))
    found: Item = {"decimals": default if decimals is None else min(int(decimals), types.DECIMALS_MAX)}
    for member, name in (("number_min", "Min"), ("number_max", "Max")):
        bound = figure(rule.get(name))
        found |= {} if bound is None else {member: round(bound, found["decimals"])}
    return found


def _matrix(question: Question, selector: str) -> None:
    rows, columns = question.names("Choices", "ChoiceOrder"), question.names("Answers", "AnswerOrder")
    match selector:
        case "Likert" if len(columns) == 1 and rows[1:]:
            question.entry.changed(ONE_COLUMN)
            question.payload = {**question.payload, "RecodeValues": {}}  # those of the column
            question.choices(question.begin("multiple_choice"), "multiple_choice", rows)
        case "Likert" | "Bipolar" if columns[1:]:
            _table(question, rows, columns)
        case "RO" if len(columns) in range(2, types.RANKED_MAX + 1):
            _each(question, "ranking", {}, columns)
        case "TE" if 0 < len(rows) * len(columns) <= CELLS_MAX:
            _each(question, "text", {"multiline": False}, columns=columns)
        case _:
            return
    _beside(question, "Choices", rows)
    _beside(question, "Answers", columns)


def _table(question: Question, rows: Sequence[str], columns: Sequence[str]) -> None:
    is_several = question.payload.get("SubSelector") == "MultipleAnswer"
    has_logic = any(at(question.payload, "Choices", row, "DisplayLogic") for row in rows)
    if len(columns) > types.COLUMNS_MAX or has_logic or is_several:
        _each(question, "multiple_choice" if is_several else "single_choice", {}, columns)
        return
    tags = question.codes(rows, "ChoiceDataExportTags")
    for start in range(0, len(rows), ROWS_MAX):
        one, here = question.begin("matrix", part=str(start + 1) if start else ""), rows[start : start + ROWS_MAX]
        keys = one.put_rows([(tags[row], question.label("Choices", row, "Display")) for row in here])
        codes = question.choices(one, "matrix", columns, "Answers")
        for row in here:
            one.know(f"{question.id}/{row}", codes=codes, parts=keys, part=tags[row])


def _slider(question: Question, selector: str) -> None:
    settings, labels = mapping(question.payload.get("Configuration")), question.names("Labels")
    if labels[2:]:
        question.entry.changed(drafting.MIDDLE)
    rule = {"Min": settings.get("CSSliderMin") or 0, "Max": settings.get("CSSliderMax") or 100}
    members = {"style": "slider", **_bounds({**settings, **rule}, 0)}
    if selector == "STAR" and settings.get("StarCount") in drafting.SCALE:
        members = {"type": "rating", "style": "stars", "scale_min": 1, "scale_max": settings["StarCount"]}
    for one in _each(question, "number", members):
        if labels:
            one.put_ends(*(question.label("Labels", name, "Display") for name in (labels[0], labels[-1])))


def _side_by_side(question: Question) -> None:
    """Each column is a question of its own about the same rows."""
    own = question.payload
    for number in mapping(own.get("AdditionalQuestions")):
        languages = {tag: _column(texts, number) for tag, texts in mapping(own.get("Language")).items()}
        payload = {**_column(own, number), "Language": languages, "DataExportTag": f"{question.tag}#{number}"}
        payload |= {name: own.get(name) for name in ("ChoiceOrder", "Validation")}
        column = Question(payload, question.logic, question.entry)
        kind, selector = str(payload.get("QuestionType")), str(payload.get("Selector"))
        _make(column, kind, selector)
        question.made += column.made
        if not column.made:
            question.entry.lost(parts.NO_QUESTION, name=f"{kind}/{selector}")


def _column(source: object, number: str) -> Item:
    """A column with the rows and the text of the question above its own."""
    column = mapping(at(source, "AdditionalQuestions", number))
    words = [text for one in (source, column) if (text := at(one, "QuestionText")) and isinstance(text, str)]
    return {**column, "Choices": at(source, "Choices"), "QuestionText": "<br>".join(words)}
