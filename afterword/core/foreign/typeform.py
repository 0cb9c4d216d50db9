"""Typeform: a form as its API gives it (JSON)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from afterword.core.foreign import parts
from afterword.core.foreign.objects import (
    FEW,
    MIDDLE,
    PICTURES,
    SCALE,
    UNCHECKED,
    VALUES,
    Document,
    Subject,
    at,
    button,
    comparison,
    few,
    mapping,
    number_of,
    objects,
)
from afterword.core.foreign.parts import Condition, Entry, Format, Keys, Pipe, Read, leaf
from afterword.core.questionnaires import endings, question_types as types
from afterword.core.questionnaires.definition import PAGE_CHARACTERS_MAX
from afterword.core.questionnaires.questions import ROWS_MAX
from afterword.errors import Sentence

YES_NO: Final = "Its buttons are Yes and No."
SOME_REQUIRED: Final = "Only some of its fields were required. Now none is."
NOBODY: Final = "No jump leads to this ending, so it is left out."
ADVERTISEMENT: Final = "This ending advertises Typeform, so it is left out."
CALCULATIONS: Final = "The form calculates with answers. This is left out."

_PIPED: Final = re.compile(r"\{ ?\{(field|hidden|var):([^{}|]{1,200})\}\}")
_SIGNS: Final = re.compile(r"(?<![\w*\\])([*_])([^*_\n]{1,500})\1(?![\w*])")  # of bold and slanted words
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}\Z")
_CONTACT: Final = {"first_name": "name", "last_name": "name", "email": "email", "phone_number": "phone"}
_ADDRESS: Final = {
    "address": "street", "address_line_2": "street", "city": "city", "state_province_region": "region",
    "zip_code": "postal_code", "country": "country",
}  # fmt: skip
_OPERATORS: Final = {
    "is": "equal", "is_not": "not_equal", "equal": "equal", "not_equal": "not_equal", "on": "equal",
    "not_on": "not_equal", "greater_than": "greater", "greater_equal_than": "greater_equal", "lower_than": "less",
    "lower_equal_than": "less_equal", "later_than": "greater", "later_than_or_on": "greater_equal",
    "earlier_than": "less", "earlier_than_or_on": "less_equal", "contains": "contains", "answered": "is_not_empty",
    "not_contains": "not_contains", "begins_with": "begins_with", "ends_with": "ends_with",
}  # fmt: skip
_GROUPS: Final = frozenset({"group", "inline_group"})
_PLAIN: Final[Mapping[str, Document]] = {  # types that have nothing of their own
    "yes_no": {"type": "yes_no"}, "legal": {"type": "yes_no"}, "date": {"type": "date"},
    "statement": {"type": "statement"}, "file_upload": {"type": "file", "file_types": [*types.FILE_TYPES]},
    "email": {"type": "contact", "contact_fields": ["email"]},
    "phone_number": {"type": "contact", "contact_fields": ["phone"]},
}  # fmt: skip
KNOWN: Final = frozenset((
    *_PLAIN, *_GROUPS, "short_text", "long_text", "website", "multiple_choice", "picture_choice", "dropdown", "ranking",
    "number", "rating", "opinion_scale", "nps", "matrix", "contact_info", "address",
))  # fmt: skip


class _UnknownError(Exception):
    """A condition has no counterpart; the argument says which part of it."""


def is_of(content: bytes) -> bool:
    if b'"fields"' not in content or b'"title"' not in content:
        return False
    try:
        document = mapping(parts.json_of(content))
    except Exception:  # noqa: BLE001  whatever it is, it is no form of Typeform
        return False
    is_form = any(name in document for name in ("settings", "thankyou_screens", "welcome_screens", "_links", "logic"))
    return is_form and any(str(one.get("type")) in KNOWN and "title" in one for one in objects(document.get("fields")))


def read(content: bytes) -> Read:
    document = mapping(parts.json_of(content))
    if not objects(document.get("fields")):
        raise parts.unreadable("This form of Typeform has no questions.")
    return _Form(document).taken()


class _Form:
    """One form while it is read: first its questions, then its jumps, which may name any of them."""

    def __init__(self, document: Document) -> None:
        self.document, self.made = document, Read()
        self.keys, self.group_keys, self.ending_keys = Keys(), Keys(), Keys()
        self.asked: dict[str, Subject] = {}
        self.questions: list[tuple[str, Document]] = []  # with the ref of the field
        self.groups: list[Document] = []
        logic = [one for one in objects(document.get("logic")) if one.get("type") == "field"]
        self.logic = {str(one.get("ref")): objects(one.get("actions")) for one in logic}
        self.reached: dict[str, list[Condition | None]] = {}  # the conditions of jumps to an ending, by its ref

    def taken(self) -> Read:
        locale = parts.locale_of(at(self.document, "settings", "language") or "en") or "en"
        name = parts.plain(self.document.get("title"))[:200] or "Typeform"
        self.made.document = {"display_name": name, "title": name, "default_locale": locale, "locales": [locale]}
        self._begin_page({})
        self._take_fields(self.document.get("fields"))
        last = {ref: place for place, (ref, _) in enumerate(self.questions)}
        for ref in sorted(self.logic, key=lambda one: last.get(one, -1)):
            if ref in last:
                self._take_jumps(ref, last[ref])
            else:
                self.made.leave_out("condition", ref, "", Sentence(parts.NO_CONDITION, text=ref))
        self.made.document["groups"] = [one for one in self.groups if one["questions"]]
        self._take_endings()
        self._take_welcome(locale)
        hidden = [str(one) for one in mapping(self.document.get("hidden")).values()]
        if hidden:
            entry = Entry("setting", "hidden")
            entry.changed(Sentence(VALUES, names=", ".join(hidden)))
            self.made.lines.append(entry.line)
        if any(action.get("action") != "jump" for actions in self.logic.values() for action in actions):
            self.made.leave_out("setting", "logic", "", Sentence(CALCULATIONS))
        return self.made

    def _begin_page(self, texts: Document) -> None:
        self.groups.append({"key": self.group_keys.give(f"page {len(self.groups) + 1}"), **texts, "questions": []})

    def _take_fields(self, fields: object) -> None:
        for one in objects(fields):
            if str(one.get("type")) in _GROUPS:
                first = len(self.questions)
                about = (_bare(one.get("title")), _bare(at(one, "properties", "description")))
                found = Entry("text", str(one.get("ref"))).title_and_help(*about)
                self._begin_page({name: text for name, text in found.items() if text})
                self._take_fields(at(one, "properties", "fields"))
                if self.questions[first:]:
                    self.asked[str(one.get("ref"))] = self.asked[self.questions[first][0]]
                self._begin_page({})
            else:
                self._take_field(one)

    def _take_field(self, one: Document) -> None:
        ref = str(one.get("ref") or one.get("id"))
        entry = Entry("question", ref, title=_bare(one.get("title")), key=self.keys.give(ref))
        pipe = self._pipe(entry)
        texts = entry.title_and_help(_bare(one.get("title")), _bare(at(one, "properties", "description")), pipe)
        if one.get("attachment"):
            entry.changed(Sentence(PICTURES))
        found = _Field(one, entry, pipe).parts()
        for place, part in enumerate(found):
            key = entry.key if place == 0 else self.keys.give(f"{entry.key}_{place + 1}")
            question: Document = {"key": key, **texts}
            if at(one, "validations", "required") is True and part["type"] != "statement":
                question["required"] = True
            self._add(ref, question | part)
        self.made.lines.append(entry.line)
        if ref in self.logic:
            self._begin_page({})  # what a jump passes over must stand on a later page

    def _add(self, ref: str, question: Document) -> None:
        values, rows = question.pop("values", {}), question.pop("row_refs", {})
        question["title"] = question["title"] or "…"
        key, place, fields = question["key"], len(self.questions), question.get("contact_fields", [])
        is_single = question["type"] == "contact" and len(fields) == 1
        subject = f"{key}:{fields[0]}" if is_single else key
        self.asked.setdefault(ref, Subject(subject, question["type"], place, values))
        for row_ref, row in rows.items():
            self.asked[row_ref] = Subject(f"{key}:{row}", "single_choice", place, values)
        self.questions.append((ref, question))
        self.groups[-1]["questions"].append(question)

    def _pipe(self, entry: Entry) -> Pipe:
        """Answers of earlier fields alone are known when a text is read."""

        def name_of(match: "re.Match[str]") -> str | None:
            kind, name = match[1], match[2].strip()
            if kind == "hidden":
                return f"questionnaire.{name}" if _NAME.match(name) else None
            asked = self.asked.get(name) if kind == "field" else None
            return asked.variable if asked else None

        return parts.piping(_PIPED, name_of, entry)

    # Jumps ----------------------------------------------------------------------------------------------------------

    def _take_jumps(self, ref: str, place: int) -> None:
        """The jumps of a field, from its last question, which is at this place."""
        question = self.questions[place][1]
        for action in self.logic[ref]:
            if action.get("action") != "jump":
                continue
            entry = Entry("condition", ref, title=question["title"], key=question["key"])
            kind, target = at(action, "details", "to", "type"), str(at(action, "details", "to", "value"))
            known = self.asked.get(target)
            try:
                condition = self._condition(mapping(action.get("condition")), place)
            except _UnknownError as unknown:
                entry.left_out(Sentence(parts.NO_CONDITION, text=str(unknown)))
            else:
                if kind == "thankyou":
                    is_last = place == len(self.questions) - 1
                    always = None if is_last else leaf(f"question:{question['key']}", "is_not_empty")
                    self.reached.setdefault(target, []).append(condition or always)
                leads = self.questions[known.place][1]["key"] if known else target  # the check takes out one back
                found = None if kind == "thankyou" else leads
                question.setdefault("jumps", []).append({"target_question_id": found, "conditions": condition})
            self.made.lines.append(entry.line)

    def _condition(self, written: Document, place: int) -> Condition | None:
        """The tree for a jump from the question at a place; None where it always holds. Raises _UnknownError."""
        operator, variables = str(written.get("op")), objects(written.get("vars"))
        if operator == "always":
            return None
        if operator in {"and", "or"}:
            below = [self._condition(one, place) for one in variables]
            if below and None in below and (operator == "or" or not any(below)):
                return None
            held = [one for one in below if one is not None]
            found = parts.all_of(held) if operator == "and" else parts.any_of(held)
            if found is None or not parts.is_small(found):
                raise _UnknownError(operator)
            return found
        by_type = {str(one.get("type")): one.get("value") for one in variables}
        value, asked = by_type.get("choice", by_type.get("constant")), self.asked.get(str(by_type.get("field")))
        known = _OPERATORS.get(operator)
        if known and _NAME.match(str(by_type.get("hidden", ""))):
            return comparison(f"questionnaire_metadata:{by_type['hidden']}", known, value)
        found = _of_answer(asked, known, value) if known and asked and asked.place <= place else None
        if found is None:
            raise _UnknownError(f"{operator} {', '.join(str(one.get('value')) for one in variables)}")
        return found

    # Endings and texts ----------------------------------------------------------------------------------------------

    def _take_endings(self) -> None:
        """In the order of the jumps to them; the first one of the form is for all others."""
        screens = {str(one.get("ref")): one for one in objects(self.document.get("thankyou_screens"))}
        default, made, last = next(iter(screens), None), list[Document](), list[Document]()
        for ref in dict.fromkeys([*(ref for ref in self.reached if ref in screens), *screens]):
            entry = Entry("ending", ref, title=_bare(screens[ref].get("title")))
            conditions = self.reached.get(ref, [])
            is_default = ref == default or None in conditions
            if not conditions and not is_default:
                entry.left_out(Sentence(NOBODY))
            else:
                under = None if is_default else parts.any_of(one for one in conditions if one is not None)
                found = self._ending(screens[ref], entry) | ({"conditions": under} if under else {})
                (last if is_default else made).extend([found] if entry.key else [])
            self.made.lines.append(entry.line)
        self.made.document["endings"] = [*made, *last[:1]]

    def _ending(self, screen: Document, entry: Entry) -> Document:
        properties, pipe = mapping(screen.get("properties")), self._pipe(entry)
        url, is_redirect = str(properties.get("redirect_url") or ""), screen.get("type") == "url_redirect"
        if "typeform.com" in (urlsplit(url).hostname or ""):
            entry.left_out(Sentence(ADVERTISEMENT))
            return {}
        entry.key = self.ending_keys.give(str(screen.get("ref")), "ending")
        ending: Document = {"key": entry.key}
        ending["title"] = entry.text(_bare(screen.get("title")), endings.TITLE_CHARACTERS_MAX, pipe)
        ending["text"] = entry.text(_bare(properties.get("description")), endings.TEXT_CHARACTERS_MAX, pipe)
        has_button = properties.get("show_button") is True and properties.get("button_mode") == "redirect"
        if url and (is_redirect or has_button):
            ending |= button(url, parts.plain(properties.get("button_text")), entry, at_once=is_redirect)
        if screen.get("attachment"):
            entry.changed(Sentence(PICTURES))
        return {name: text for name, text in ending.items() if text}

    def _take_welcome(self, locale: str) -> None:
        for place, screen in enumerate(objects(self.document.get("welcome_screens"))):
            entry = Entry("text", str(screen.get("ref")), title=_bare(screen.get("title")))
            if place:
                entry.left_out(Sentence(FEW, n=1))
            else:
                texts = (_bare(screen.get("title")), _bare(at(screen, "properties", "description")))
                pipe = parts.piping(_PIPED, lambda _: None, entry)
                text = entry.text("\n\n".join(filter(None, texts)), PAGE_CHARACTERS_MAX, pipe)
                self.made.document["pages"] = {locale: {"welcome": text}}
            self.made.lines.append(entry.line)


def _of_answer(asked: Subject, operator: str, value: object) -> Condition | None:
    if asked.values and operator != "is_not_empty":
        return asked.chosen(str(value), operator)
    if types.TYPES[asked.type].subject == "boolean" and operator != "is_not_empty":
        value = str(value).lower() == "true"
    return asked.compared(operator, value)


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of the form. A part has `values` and `row_refs`, which conditions need, beside the members of ours."""

    written: Document
    entry: Entry
    pipe: Pipe

    def parts(self) -> list[Document]:  # noqa: C901, PLR0911  a line a type
        """The questions of ours that it becomes; a text where ours have no such type."""
        type_name = str(self.written.get("type"))
        match type_name:
            case "short_text" | "long_text" | "website":
                most = self.bound("max_length")
                if type_name == "website":
                    self.entry.changed(Sentence(UNCHECKED, name=type_name))
                limit = {"length_max": min(most, types.TEXT_CHARACTERS_MAX)} if most else {}
                return [{"type": "text", "multiline": type_name == "long_text", **limit}]
            case "multiple_choice" | "picture_choice" | "dropdown" | "ranking":
                return [self.chosen(type_name)]
            case "number":
                bounds = {"number_min": self.bound("min_value"), "number_max": self.bound("max_value")}
                return [{"type": "number"} | {name: one for name, one in bounds.items() if one is not None}]
            case "nps":
                return [{"type": "nps", **self.ends()}]
            case "rating":
                is_star = self.own("shape") in {None, "star"}
                return [self.scale(self.own("steps") or 5, low=1, style="stars" if is_star else "numbers")]
            case "opinion_scale":
                return [self.scale(self.own("steps") or 11, low=int(self.own("start_at_one") is True), style="numbers")]
            case "matrix":
                return self.matrix()
            case "contact_info" | "address":
                return self.fields(type_name)
            case "legal":
                self.entry.changed(Sentence(YES_NO))
            case _ if type_name not in _PLAIN:
                self.entry.left_out(Sentence(parts.NO_QUESTION, name=type_name))
            case _:
                pass
        return [{**_PLAIN.get(type_name, _PLAIN["statement"])}]

    def own(self, name: str) -> Any:
        return at(self.written, "properties", name)

    def bound(self, name: str) -> int | None:
        found = number_of(at(self.written, "validations", name))
        return None if found is None else int(found)

    def ends(self) -> Document:
        """Labels of the ends of a scale."""
        if at(self.own("labels"), "center"):
            self.entry.changed(Sentence(MIDDLE))
        texts = {
            name: self.entry.text(at(self.own("labels"), side), types.END_LABEL_CHARACTERS_MAX, self.pipe)
            for name, side in (("low_label", "left"), ("high_label", "right"))
        }
        return {name: text for name, text in texts.items() if text}

    def scale(self, steps: int, *, low: int, style: str) -> Document:
        high = low + steps - 1
        if high in SCALE:
            return {"type": "rating", "style": style, "scale_min": low, "scale_max": high, **self.ends()}
        numbers = [{"label": str(number)} for number in range(low, high + 1)]
        return {"type": "single_choice", **self.choices(numbers, types.CHOICES_MAX)}

    def choices(self, entries: Sequence[Document], most: int) -> Document:
        """`choices`, and `values` by ref, id and label; an empty label is the number."""
        found: Document = {"choices": [], "values": {}}
        for value, one in enumerate(few(entries, most, self.entry), 1):
            label = self.entry.text(_bare(one.get("label")), types.LABEL_CHARACTERS_MAX) or str(value)
            found["choices"].append({"value": value, "label": label})
            found["values"] |= {str(one[name]): value for name in ("label", "id", "ref") if one.get(name)}
            if one.get("attachment"):
                self.entry.lost(Sentence(PICTURES))
        return found

    def chosen(self, type_name: str) -> Document:
        is_several, is_list = self.own("allow_multiple_selection") is True, type_name == "dropdown"
        limits = {"dropdown": types.DROPDOWN_CHOICES_MAX, "ranking": types.RANKED_MAX}
        found = self.choices(objects(self.own("choices")), limits.get(type_name, types.CHOICES_MAX))
        if self.own("allow_other_choice") is True and len(found["choices"]) < types.CHOICES_MAX:
            found["choices"].append({"value": len(found["choices"]) + 1, "label": "Other", "other": True})
        found["type"] = "ranking" if type_name == "ranking" else "multiple_choice" if is_several else "single_choice"
        found |= ({"style": "dropdown"} if is_list else {}) | ({"randomize": True} if self.own("randomize") else {})
        if is_several:
            bounds = {"choices_min": self.bound("min_selection"), "choices_max": self.bound("max_selection")}
            found |= {name: min(bound, len(found["choices"])) for name, bound in bounds.items() if bound}
        return found

    def matrix(self) -> list[Document]:
        rows = few(objects(self.own("fields")), ROWS_MAX, self.entry)
        refs = [str(row.get("ref") or row.get("id")) for row in rows]
        labels = [self.entry.text(_bare(row.get("title")), types.LABEL_CHARACTERS_MAX) or "…" for row in rows]
        first = mapping(at(rows, 0, "properties"))
        if first.get("allow_multiple_selection") is True:
            self.entry.changed(Sentence(parts.SEVERAL, n=len(rows)))
            found = self.choices(objects(first.get("choices")), types.CHOICES_MAX)
            return [{"type": "multiple_choice", "title": label, **found} for label in labels]
        keys = Keys()
        row_refs = {ref: keys.give(ref, "row") for ref in refs}
        found = self.choices(objects(first.get("choices")), types.COLUMNS_MAX)
        entries = [{"key": row_refs[ref], "label": label} for ref, label in zip(refs, labels, strict=True)]
        return [{"type": "matrix", "rows": entries, **found, "row_refs": row_refs}]

    def fields(self, type_name: str) -> list[Document]:
        """A contact or an address; a field that ours do not have becomes a text of its own."""
        known, fields = _CONTACT if type_name == "contact_info" else _ADDRESS, objects(self.own("fields"))
        names = [known.get(str(one.get("subfield_key"))) for one in fields]
        needed = [at(one, "validations", "required") is True for one in fields if one.get("subfield_key") in known]
        if any(needed) and not all(needed):
            self.entry.lost(Sentence(SOME_REQUIRED))
        found = [*dict.fromkeys([name for name in names if name] or known.values())]
        kind = "contact" if type_name == "contact_info" else "address"
        made: list[Document] = [{"type": kind, "contact_fields": found, "required": all(needed) and bool(needed)}]
        for one in (one for one, name in zip(fields, names, strict=True) if name is None):
            title = self.entry.text(_bare(one.get("title")), types.TITLE_CHARACTERS_MAX)
            is_required = at(one, "validations", "required") is True
            made.append({"type": "text", "multiline": False, "title": title, "required": is_required})
        if made[1:]:
            self.entry.changed(Sentence(parts.SEVERAL, n=len(made)))
        return made


def _bare(text: object) -> str:
    """Without the signs of bold and slanted words."""
    return _SIGNS.sub(r"\2", text) if isinstance(text, str) else ""


FORMAT: Final = Format("typeform", "Typeform", (".json",), is_of, read)
