"""Parts of the readers: texts by language, choices, conditions on their codes, buttons, values in JSON."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from afterword.core.foreign import parts
from afterword.core.foreign.expressions import Tree, Unreadable
from afterword.core.foreign.parts import NAMES, Condition, Entry, Keys, Kind, Pipe, Read
from afterword.core.questionnaires import endings
from afterword.core.questionnaires.conditions import boolean_of, date_of, number_of
from afterword.core.questionnaires.question_types import (
    CHOICES_MAX,
    DESCRIPTION_CHARACTERS_MAX,
    DROPDOWN_CHOICES_MAX,
    END_LABEL_CHARACTERS_MAX,
    FILE_BYTES_DEFAULT,
    FILE_BYTES_MIN,
    FILE_TYPES_DEFAULT,
    LABEL_CHARACTERS_MAX,
    NUMBER_DIGITS_MAX,
    TITLE_CHARACTERS_MAX,
    TYPES,
)
from afterword.core.questionnaires.questions import CHOICE_VALUE_MAX

Item = dict[str, Any]  # a part of the document of our file
NOTHING_LIKE: Final = "Afterword has nothing like {name}, so it is left out."
NO_PLACE: Final = "Afterword has no place for these parts of it: {names}."
PICTURES: Final = "Its pictures and videos are left out."
FEW: Final = "Only its first {n} entries are taken."
SAME: Final = "Entries with the same code are one here, and only the first of each is taken: {names}."
FILLED: Final = "Its answer is filled in beforehand."
MIDDLE: Final = "Labels in the middle of the scale are left out."
UNCHECKED: Final = "The form of the answer is not checked: {name}."
VALUES: Final = "Send these values as metadata: {names}."
SCALE: Final = range(3, 11)  # of the highest number of a rating
NAMES_CHARACTERS_MAX: Final = 300
FILES_MAX: Final = 2  # of a question that takes several; ten such questions have all bytes that a response may have
_FILES: Final[Mapping[str, str]] = NAMES["all"]["files"]


class Subject(msgspec.Struct, frozen=True):
    """A question that conditions of the file may name. `codes`: our values; `parts`: keys of rows, names of fields.

    `part`: the one of them that it is about. Metadata is one too, as `questionnaire_metadata:order` of the type `text`.
    """

    key: str
    type: str
    codes: Mapping[str, int | bool] = msgspec.field(default_factory=dict[str, int | bool])
    parts: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    part: str = ""

    @property
    def variable(self) -> str | None:
        """The name of its variable in texts; None where it has none."""
        if not TYPES[self.type].is_answered or TYPES[self.type].has_rows:
            return None
        return f"answer.{self.key}" + (f".{self.parts[self.part]}" if self.part else "")

    def compared(self, operator: str, value: object = None, part: str = "") -> Condition:
        """Our condition. Raises Unreadable for a value or comparison that the question does not have."""
        subject, kind = self.key if ":" in self.key else f"question:{self.key}", TYPES[self.type].subject
        if part := part or self.part:
            if part not in self.parts:
                raise Unreadable
            subject, kind = f"{subject}:{self.parts[part]}", "integer" if TYPES[self.type].has_rows else "text"
        if value is None or value == "":
            operator = {"equal": "is_empty", "not_equal": "is_not_empty"}.get(operator, operator)
        if operator in _MIRRORED and kind in {"text", "boolean", "integers"}:
            raise Unreadable
        if operator == "is_true" and kind == "boolean":
            return parts.leaf(subject, "equal", value=True)
        if operator in {"is_empty", "is_not_empty", "is_true"}:
            return parts.leaf(subject, "is_empty" if operator == "is_empty" else "is_not_empty")
        found = [self._value(kind, one) for one in (value if isinstance(value, tuple) else (value,))]
        return _with_values(subject, kind, operator, found)

    def _value(self, kind: str, value: object) -> object:
        """The value as our conditions have it."""
        code = str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
        number = figure(value)
        match kind:
            case "integer" | "integers" if self.codes and code in self.codes:
                return self.codes[code]
            case "integer" if not self.codes and isinstance(number, int):
                return number
            case "number" if number is not None:
                return number
            case "boolean" if (found := self.codes.get(code, boolean_of(value))) is not None:
                return found
            case "date" | "date_time" if date_of(code) is not None:
                return code
            case "text" | "time":
                return code
            case _:
                raise Unreadable


def joined(kind: str, conditions: Sequence[Callable[[], Condition | bool]]) -> Condition | bool:
    """All (`and`) or one (`or`) of conditions; one that is known may decide beside an unreadable one."""
    decides, found = kind == "or", [_attempted(one) for one in conditions]
    if decides in found:
        return decides
    if not found or None in found:
        raise Unreadable
    inside = [one for one in found if isinstance(one, dict)]
    return (parts.any_of(inside) if decides else parts.all_of(inside)) or not decides


def _attempted(read: Callable[[], Condition | bool | None]) -> Condition | bool | None:
    try:
        return read()
    except Unreadable:
        return None


def _with_values(subject: str, kind: str, operator: str, values: Sequence[object]) -> Condition:
    is_several = kind == "integers"
    if operator in {"equal", "not_equal"} and is_several:
        return parts.leaf(subject, operator, list(values))
    has, lacks = ("contains", "not_contains") if kind in {"integers", "text"} else ("equal", "not_equal")
    inner = {"contains": has, "not_contains": lacks, "all_of": has, "in": "contains" if is_several else "equal",
        "none_of": "not_contains" if is_several else "not_equal"}.get(operator, operator)  # fmt: skip
    if len(values) > 1 and operator in {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}:
        raise Unreadable
    found = [parts.leaf(subject, inner, one) for one in values]
    return _found((parts.any_of if operator == "in" else parts.all_of)(found))


def _found(condition: Condition | None) -> Condition:
    if condition is None:
        raise Unreadable
    return condition


class Draft(msgspec.Struct):
    """A document in the making. `languages`: our locales by the names of the file, the default first.

    `pipe_of`: gives the pipe for the texts of each thing that is begun, whose entry it gets.
    """

    languages: dict[str, str]
    pipe_of: Callable[[Entry], Pipe] | None = None
    read: Read = msgspec.field(default_factory=Read)
    keys: Keys = msgspec.field(default_factory=Keys)
    asked: dict[str, Subject] = msgspec.field(default_factory=dict[str, Subject])
    groups: list[Item] = msgspec.field(default_factory=list[Item])
    group_keys: Keys = msgspec.field(default_factory=Keys)

    @property
    def locale(self) -> str:
        return next(iter(self.languages.values()))

    @property
    def questions(self) -> list[Item]:
        return [one for group in self.groups for one in group["questions"]]

    def texts(self, value: object) -> dict[str, str]:
        """The texts of a value by our locales: a text alone is of the default one."""
        if not isinstance(value, Mapping):
            return {self.locale: str(value)} if parts.plain(value) else {}
        found: dict[str, str] = {}
        for name, locale in self.languages.items():
            if isinstance(text := value.get(name), str) and text.strip():
                found.setdefault(locale, text)
        return found

    def text(self, value: object) -> str:
        """The words of a text in the default language, or in the first that it has."""
        found = self.texts(value)
        return parts.plain(found.get(self.locale) or next(iter(found.values()), ""))

    def answered(self, name: str) -> Subject:
        """The question of a name that has answers. Raises Unreadable."""
        found = self.asked.get(name)
        if found is None or found.type == "statement":
            raise Unreadable
        return found

    def begin(self, kind: Kind, place: str, title: object, source: Mapping[str, Any] | None = None) -> "Making":
        """Begins a question, an ending or a text, whose line says what becomes of it."""
        named = self.named(place) if kind in {"question", "ending"} else {}
        entry = Entry(kind, place, self.text(title) or place, named.get("key", ""))
        pipe = self.pipe_of(entry) if self.pipe_of else None
        return Making(self, entry, source or {}, pipe, item=named if kind == "question" else {})

    def named(self, name: str) -> Item:
        """A key for a question or an ending, and its name in the file where that is another."""
        return parts.coded("key", self.keys.give(name), name)

    def leave_out(self, kind: Kind, place: str, title: object, name: str) -> None:
        self.read.leave_out(kind, place, self.text(title) or place, NOTHING_LIKE, name=name[:100])

    def group(self, name: str) -> Item:
        self.groups.append({"key": self.group_keys.give(name, "g"), "questions": []})
        return self.groups[-1]

    def condition(self, entry: Entry, read: Callable[[], Condition | bool | None]) -> Condition | bool | None:
        """A condition that `read` gives, with its line; None where Afterword cannot express it."""
        found = _attempted(read)
        if found is None or (isinstance(found, dict) and not parts.is_small(found)):
            entry.left_out(parts.NO_CONDITION, text=parts.split(entry.title, 200)[0])
            found = None
        self.read.lines.append(entry.line)
        return found

    def send(self, place: str, names: Iterable[str]) -> None:
        """Says which values of the file are metadata here."""
        one = self.begin("setting", place, "")
        one.entry.changed(VALUES, names=parts.split(", ".join(names), NAMES_CHARACTERS_MAX)[0])
        one.end()

    def leave_out_settings(self, settings: Mapping[str, object], names: Iterable[str]) -> None:
        if left := names_of(settings, names):
            self.read.leave_out("setting", "survey", "", NO_PLACE, names=left)

    def finish(self, **members: Any) -> Read:
        """The document, without groups that hold nothing."""
        self.read.document = {
            **{name: value for name, value in members.items() if value},
            "default_locale": self.locale,
            "locales": list(dict.fromkeys(self.languages.values())),
            "groups": [one for one in self.groups if one["questions"]],
        }
        return self.read


class Making(msgspec.Struct):
    """A question, an ending or a text in the making: `item`, of `source` in the file. `pipe`: for its texts."""

    draft: Draft
    entry: Entry
    source: Mapping[str, Any]
    pipe: Pipe | None = None
    item: Item = msgspec.field(default_factory=dict[str, Any])

    def put(self, name: str, value: object, characters_max: int) -> None:
        for locale, written in self.draft.texts(value).items():
            self.set(locale, name, self.entry.text(written, characters_max, self.pipe))

    def put_title(self, title: object, more: object = "") -> None:
        """Sets title and description of a question; one without a title has the name of its place."""
        titles, below = self.draft.texts(title), self.draft.texts(more)
        for locale in dict.fromkeys((*titles, *below)):
            found = self.entry.title_and_help(titles.get(locale, ""), below.get(locale, ""), self.pipe)
            if not found["title"]:
                found = {"title": parts.split(found.get("description", ""), TITLE_CHARACTERS_MAX)[0]}
            for name, text in found.items():
                self.set(locale, name, text)
        self.item.setdefault("title", self.entry.place or "…")

    def set(self, locale: str, name: str, text: str) -> None:
        if text and locale != self.draft.locale:
            self.item.setdefault("translations", {}).setdefault(locale, {})[name] = text
            self.item.setdefault(name, text)
        elif text:
            self.item[name] = text

    def put_ends(self, low: object, high: object) -> None:
        self.put("low_label", low, END_LABEL_CHARACTERS_MAX)
        self.put("high_label", high, END_LABEL_CHARACTERS_MAX)

    def put_choices(
        self, kind: str, labels: Sequence[tuple[str, object]], added: Sequence[tuple[str, object]] = ()
    ) -> dict[str, int | bool]:
        """Sets the type and the choices from their codes and labels, and gives our values by code.

        `added`: choices that the other system adds by itself; their values follow those of the others.
        """
        most = DROPDOWN_CHOICES_MAX if kind == "single_choice" else TYPES[kind].choices_max
        labels = self.few(self._once(labels), most - len(added))
        item, values = self.item, parts.values_of([code for code, _ in labels], self.entry)
        for code, _ in added:
            values[code] = _free_value(values.values())
        labels = [*labels, *added]
        item["type"] = kind
        if len(values) == 1 and kind in {"single_choice", "multiple_choice"}:
            self.entry.changed("It has one choice alone, so it became a tick.")
            item["code"] = f"{item.get('code', item['key'])}_{labels[0][0]}"[:LABEL_CHARACTERS_MAX]  # as of a column
            self.put_consent(labels[0][1])
            return dict.fromkeys(values, True)
        self._labelled("choices", "value", values, labels)
        if kind == "single_choice" and len(values) > CHOICES_MAX:
            item["style"] = "dropdown"
        return {**values}

    def put_consent(self, label: object) -> None:
        """A tick: the text beside its box is the title, as it is what people agree to, with the question below it."""
        self.item["type"] = "consent"
        labels, translations = self.draft.texts(label), self.item.get("translations", {})
        for locale, texts in ((self.draft.locale, self.item), *translations.items()):
            if title := self.entry.text(labels.get(locale, ""), TITLE_CHARACTERS_MAX):
                words = "\n\n".join(filter(None, [texts.get("title"), texts.get("description")]))
                shown, rest = parts.split(words, DESCRIPTION_CHARACTERS_MAX)
                texts |= {"title": title, "description": shown}
                if rest:
                    self.entry.lost(parts.CUT, n=DESCRIPTION_CHARACTERS_MAX)

    def few(self, entries: Sequence[Any], most: int) -> Sequence[Any]:
        """The first ones of too many."""
        if len(entries) > most:
            self.entry.lost(FEW, n=most)
        return entries[:most]

    def _once(self, labels: Sequence[tuple[str, object]]) -> Sequence[tuple[str, object]]:
        first: dict[str, object] = {}
        others = {code: label for code, label in labels if first.setdefault(code, label) != label}
        if others:
            self.entry.lost(SAME, names=parts.split(", ".join(others), NAMES_CHARACTERS_MAX)[0])
        return [*first.items()]

    def put_rows(self, labels: Sequence[tuple[str, object]]) -> dict[str, str]:
        """Sets the rows, and gives our keys by code."""
        keys, labels = Keys(), self._once(labels)
        given = {code: keys.give(code, "r") for code, _ in labels}
        self._labelled("rows", "key", given, labels)
        return given

    def _labelled(self, group: str, name: str, given: Mapping[str, Any], labels: Sequence[tuple[str, object]]) -> None:
        self.item[group] = [{**parts.coded(name, given[code], code), "label": str(given[code])} for code in given]
        for one, label in zip(self.item[group], dict(labels).values(), strict=True):
            for locale, written in self.draft.texts(label).items():
                text = self.entry.text(written, LABEL_CHARACTERS_MAX)
                if text and locale == self.draft.locale:
                    one["label"] = text
                elif text:
                    own = self.item.setdefault("translations", {}).setdefault(locale, {})
                    own.setdefault(group, {})[str(one[name])] = text

    def mark(self, codes: Mapping[str, int | bool], other: Iterable[str], exclusive: Iterable[str] = ()) -> None:
        """Marks the choices that open a text, and of several those that exclude the others."""
        others, alone = ({codes.get(code) for code in named} for named in (other, exclusive))
        for one in self.item.get("choices", ()):
            if self.item["type"] != "ranking" and one["value"] in others:
                one["other"] = True
            elif self.item["type"] == "multiple_choice" and one["value"] in alone:
                one["exclusive"] = True

    def put_list(
        self, *, is_dropdown: bool = False, is_random: bool = False, least: object = None, most: object = None
    ) -> None:
        """Sets how its choices are shown, and how many people may take; a tick has neither."""
        item, count = self.item, len(self.item.get("choices", ()))
        if is_dropdown and item["type"] == "single_choice":
            item["style"] = "dropdown"
        if is_random and count:
            item["randomize"] = True
        low, high = (min(int(figure(bound) or 0), count) for bound in (least, most))
        bounds = {"choices_min": low if low <= (high or count) else 0, "choices_max": high}
        if item["type"] == "multiple_choice":
            item |= {name: bound for name, bound in bounds.items() if bound > 0}

    def put_fields(self, kind: str, names: Sequence[str]) -> Item:
        """Sets the fields of a contact or an address, and gives members of its `Subject`."""
        self.item |= {"type": kind, "contact_fields": [*names]}
        return {"parts": {name: name for name in names}, "part": names[0] if len(names) == 1 else ""}

    def put_files(self, endings: Iterable[object], *, is_several: bool = False, bytes_max: int = 0) -> None:
        """A question for files. `endings`: of their names, or kinds such as `image/*`; `bytes_max`: 0 for no limit."""
        words = [str(one).lower().strip(" .").partition("/*")[0].rpartition("/")[2] for one in endings]
        kinds = dict.fromkeys(_FILES[one] for one in words if one in _FILES)
        self.item |= {"type": "file", "file_types": list(kinds or FILE_TYPES_DEFAULT)}
        self.item["files_max"] = FILES_MAX if is_several else 1
        self.item["bytes_max"] = max(min(bytes_max or FILE_BYTES_DEFAULT, FILE_BYTES_DEFAULT), FILE_BYTES_MIN)
        if unknown := [one for one in words if one not in _FILES]:
            self.entry.lost("These files cannot be sent: “{names}”.", names=", ".join(unknown)[:100])

    def put_button(self, url: str, label: object = "", *, at_once: bool = False) -> None:
        """The button of an ending; one without a label has the name of the site. `at_once`: nobody pressed one."""
        if at_once:
            self.entry.changed(
                "Afterword leads nobody away by itself. The page after completion has a button to the address."
            )
        if not url.startswith("https://"):
            self.entry.lost("Its button is left out, because its address does not begin with https://.")
            return
        site = url.removeprefix("https://").partition("/")[0]
        self.item |= {"button_url": url, "button_label": site[: endings.LABEL_CHARACTERS_MAX]}
        self.put("button_label", label, endings.LABEL_CHARACTERS_MAX)

    def know(self, name: str, **asked: Any) -> None:
        """Lets conditions and texts name the question; `asked` are members of its `Subject`."""
        self.draft.asked.setdefault(name, self.subject(**asked))

    def lose(self, names: str) -> None:
        """Says that these parts are lost; nothing where there are none."""
        if names:
            self.entry.lost(NO_PLACE, names=names)

    def ask(self, **asked: Any) -> None:
        """Puts the question into the last group; `asked` are members of its `Subject`."""
        self.draft.groups[-1]["questions"].append(self.item)
        self.know(self.entry.place, **asked)
        self.draft.read.lines.append(self.entry.line)

    def subject(self, **asked: Any) -> Subject:
        """The question as conditions name it; `asked` are members of it."""
        return Subject(self.item["key"], self.item["type"], **asked)

    def end(self) -> Item:
        """Ends what is no question."""
        self.draft.read.lines.append(self.entry.line)
        return self.item


def _free_value(taken: Collection[int]) -> int:
    """A value behind those that are taken, or between them."""
    behind = range(max(taken, default=0) + 1, CHOICE_VALUE_MAX + 1)
    return next(one for one in chain(behind, range(1, CHOICE_VALUE_MAX)) if one not in taken)


Compared = Callable[[str, str, object], Condition]  # of a name of the file, an operator, and a value or a tuple of them


def condition_of(tree: Tree, compared: Compared, call: Callable[[str, Sequence[Tree]], Condition]) -> Condition:
    """Our condition for a tree of `expressions`; `call`: for a function. Raises Unreadable."""
    match tree:
        case ("and" | "or" as kind, inside):
            below = [condition_of(one, compared, call) for one in inside]
            found = _found(parts.all_of(below) if kind == "and" else parts.any_of(below))
        case ("not", inside):
            found = parts.negated(condition_of(inside, compared, call))
        case ("is", operator, [("name", name)]):
            found = compared(name, operator, None)
        case ("is", operator, [("name", name), right]):
            found = compared(name, operator, _constant(right))
        case ("is", operator, [left, ("name", name)]):
            found = compared(name, _MIRRORED.get(operator, operator), _constant(left))
        case ("is", operator, [("call", name, inside), right]):
            found = call(f"{name} {operator}", [*inside, right])
        case ("name", name):
            found = compared(name, "is_true", None)
        case ("call", name, inside):
            found = call(name, inside)
        case _:
            raise Unreadable
    return found


_MIRRORED: Final = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}


def _constant(tree: Tree) -> object:
    match tree:
        case ("value", value):
            return value
        case ("list", inside):
            return tuple(_constant(one) for one in inside)
        case ("call", "date" | "number" | "string", [inside]):
            return _constant(inside)
        case _:
            raise Unreadable


def members(value: object) -> dict[str, Any]:
    """A JSON object, or an empty one."""
    return value if isinstance(value, dict) else {}


def mapping(value: object) -> dict[str, Any]:
    """A JSON object, and a list by its places: some systems write an empty object as an empty list."""
    return {str(place): one for place, one in enumerate(value)} if isinstance(value, list) else members(value)


def at(thing: object, *path: object) -> Any:
    """The value at a path of names, if there is one."""
    for name in path:
        thing = mapping(thing).get(str(name))
    return thing


def figure(value: object) -> int | float | None:
    """A number that may be written as a text, if one of ours has as many digits."""
    number = number_of(value)
    if number is None or abs(number) >= 10**NUMBER_DIGITS_MAX:
        return None
    return int(number) if number == int(number) else float(number)


def items(value: object) -> list[dict[str, Any]]:
    """The objects of a JSON list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def names_of(found: Mapping[str, object], names: Iterable[str]) -> str:
    """Those of these members that hold something, for a sentence."""
    return ", ".join(name for name in names if found.get(name) not in (None, "", [], {}, False))
