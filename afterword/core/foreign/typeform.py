"""Typeform: a form as its API gives it (JSON)."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, Final

from afterword.core.foreign import drafting, parts
from afterword.core.foreign.drafting import Draft, Item, Making, Subject, Unreadable, at, figure, items, members
from afterword.core.foreign.expressions import DEPTH_MAX
from afterword.core.foreign.parts import NAMES, Condition, Entry, Kind, Read, leaf
from afterword.core.questionnaires import endings, question_types as types
from afterword.core.questionnaires.definition import PAGE_CHARACTERS_MAX
from afterword.core.questionnaires.questions import ROWS_MAX

_PIPED: Final = re.compile(r"\{ ?\{(field|hidden|var):([^{}|]{1,200})\}\}")
_SIGNS: Final = re.compile(r"(?<![\w*\\])([*_])([^*_\n]{1,500})\1(?![\w*])")  # of bold and slanted words
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}\Z")
_CONTACT: Final = {"first_name": "name", "last_name": "name", "email": "email", "phone_number": "phone"}
_ADDRESS: Final[Mapping[str, str]] = NAMES["typeform"]["address"]
_OPERATORS: Final[Mapping[str, str]] = NAMES["typeform"]["operators"]
_GROUPS: Final = frozenset({"group", "inline_group"})


def _form_of(document: object) -> Item:
    form = members(document)
    is_form = any(name in form for name in ("settings", "thankyou_screens", "welcome_screens", "_links", "logic"))
    return form if is_form and any({"title", "type"} <= one.keys() for one in items(form.get("fields"))) else {}


class _Form:
    def __init__(self, form: Item) -> None:
        self.form = form
        self.draft = Draft({"": parts.locale_of(at(form, "settings", "language") or "en") or "en"})
        logic = [one for one in items(form.get("logic")) if one.get("type") == "field"]
        self.actions = {str(one.get("ref")): items(one.get("actions")) for one in logic}
        self.jumps: list[tuple[Item, Item, Condition | None]] = []  # of a question, where to, and when
        self.reached: dict[str, list[Condition | None]] = {}  # the conditions of jumps to an ending, by its ref

    def read(self) -> Read:
        draft, title = self.draft, parts.plain(self.form.get("title"))[: types.DISPLAY_NAME_CHARACTERS_MAX]
        self.draft.group("page")
        self._fields(self.form.get("fields"))
        for ref in (one for one in self.actions if one not in draft.asked):
            draft.read.leave_out("condition", ref, "", parts.NO_CONDITION, text=ref)
        for question, to, condition in self.jumps:
            self._lead(question, to, condition)
        if hidden := drafting.mapping(self.form.get("hidden")):
            draft.send("hidden", map(str, hidden.values()))
        if any(one.get("action") != "jump" for actions in self.actions.values() for one in actions):
            draft.read.leave_out("setting", "logic", "", "The form calculates with answers. This is left out.")
        title = title or "Typeform"
        return draft.finish(display_name=title, title=title, endings=self._endings(), pages=self._pages())

    def _fields(self, fields: object) -> None:
        for source in items(fields):
            if str(source.get("type")) not in _GROUPS:
                self._field(source)
                continue
            one, first = self._begin("text", source), len(self.draft.questions)
            one.item = self.draft.group("page")
            one.put("title", _bare(source.get("title")), types.TITLE_CHARACTERS_MAX)
            one.put("description", _described(source), types.DESCRIPTION_CHARACTERS_MAX)
            self._fields(at(source, "properties", "fields"))
            for question in self.draft.questions[first : first + 1]:  # where a jump to the group leads
                self.draft.asked.setdefault(one.entry.place, Subject(question["key"], "statement"))
            self.draft.group("page")

    def _begin(self, kind: Kind, source: Item) -> Making:
        ref = str(source.get("ref") or source.get("id"))
        one = self.draft.begin(kind, ref, _bare(source.get("title")), source)
        if source.get("attachment"):
            one.entry.changed(drafting.PICTURES)

        def name_of(match: "re.Match[str]") -> str | None:
            kind, name = match[1], match[2].strip()
            if kind == "hidden":
                return f"questionnaire.{name}" if _NAME.match(name) else None
            asked = self.draft.asked.get(name) if kind == "field" else None
            return asked.variable if asked else None

        one.pipe = parts.piping(_PIPED, name_of, one.entry)
        return one

    def _field(self, source: Item) -> None:
        one = self._begin("question", source)
        one.put_title(_bare(source.get("title")), _described(source))
        one.item["type"] = "statement"
        asked = _answer(one)
        if at(source, "validations", "required") is True and one.item["type"] != "statement":
            one.item.setdefault("required", True)
        one.ask(**asked)
        actions = self.actions.get(one.entry.place, [])
        for action in (each for each in actions if each.get("action") == "jump"):
            written, to = members(action.get("condition")), members(at(action, "details", "to"))
            words = [str(written.get("op")), *(str(each.get("value", "")) for each in items(written.get("vars")))]
            entry = Entry("condition", one.entry.place, " ".join(words), one.entry.key)
            if found := self.draft.condition(entry, partial(self._condition, written, 0)):
                self.jumps.append((one.item, to, found if isinstance(found, dict) else None))
        if actions:
            self.draft.group("page")  # what a jump passes over must stand on a later page

    def _condition(self, written: Item, depth: int) -> Condition | bool:
        """A condition about earlier questions, as only those have answers. Raises Unreadable."""
        operator, inside = str(written.get("op")), items(written.get("vars"))
        if operator == "always":
            return True
        if operator in {"and", "or"} and depth < DEPTH_MAX:
            return drafting.joined(operator, [partial(self._condition, one, depth + 1) for one in inside])
        known, by_type = _OPERATORS.get(operator), {str(one.get("type")): one.get("value") for one in inside}
        value, hidden = by_type.get("choice", by_type.get("constant")), str(by_type.get("hidden", ""))
        if _NAME.match(hidden):
            asked = Subject(f"questionnaire_metadata:{hidden}", "text")
        else:
            asked = self.draft.answered(str(by_type.get("field")))
        if known is None:
            raise Unreadable
        return asked.compared(known, value)

    def _lead(self, question: Item, to: Item, condition: Condition | None) -> None:
        target, known = str(to.get("value")), self.draft.asked.get(str(to.get("value")))
        leads = known.key if known else target  # the check takes out one back
        if to.get("type") == "thankyou":
            is_last = question is self.draft.questions[-1]
            always = None if is_last else leaf(f"question:{question['key']}", "is_not_empty")
            self.reached.setdefault(target, []).append(condition or always)
            leads = None
        question.setdefault("jumps", []).append({"target_question_id": leads, "conditions": condition})

    def _endings(self) -> list[Item]:
        """In the order of the jumps to them; the first one of the form, and those that all reach, come last."""
        screens = {str(one.get("ref")): one for one in items(self.form.get("thankyou_screens"))}
        found: list[Item] = []
        for ref in dict.fromkeys([*(ref for ref in self.reached if ref in screens), *screens]):
            one, own = self._begin("ending", screens[ref]), members(screens[ref].get("properties"))
            url, conditions = str(own.get("redirect_url") or ""), self.reached.get(ref, [])
            is_default = ref == next(iter(screens)) or None in conditions
            if not conditions and not is_default:
                one.entry.left_out("No jump leads to this ending, so it is left out.")
            elif "typeform.com" in url.partition("//")[2].partition("/")[0]:
                one.entry.left_out("This ending advertises Typeform, so it is left out.")
            else:
                one.item["key"] = one.entry.key
                one.put("title", _bare(one.source.get("title")), endings.TITLE_CHARACTERS_MAX)
                one.put("text", _described(one.source), endings.TEXT_CHARACTERS_MAX)
                is_redirect = one.source.get("type") == "url_redirect"
                if url and (is_redirect or (own.get("show_button") is True and own.get("button_mode") == "redirect")):
                    one.put_button(url, own.get("button_text"), at_once=is_redirect)
                if not is_default:
                    one.item["conditions"] = parts.any_of(each for each in conditions if each is not None)
                found.append(one.item)
            one.end()
        return sorted(found, key=lambda item: "conditions" not in item)

    def _pages(self) -> Item:
        screens = items(self.form.get("welcome_screens"))
        if not screens:
            return {}
        one = self._begin("text", screens[0])
        words = "\n\n".join(f"{_bare(each.get('title'))}\n\n{_described(each)}" for each in screens)
        found = {self.draft.locale: {"welcome": one.entry.text(words, PAGE_CHARACTERS_MAX, one.pipe)}}
        one.end()
        return found


def _bare(text: object) -> str:
    """Without the signs of bold and slanted words."""
    return _SIGNS.sub(r"\2", text) if isinstance(text, str) else ""


def _described(source: object) -> str:
    return _bare(at(source, "properties", "description"))


def _answer(one: Making) -> Item:  # noqa: C901  a case for each type
    """Sets what the type of a field has, and gives members of its `Subject`."""
    kind, asked = str(one.source.get("type")), dict[str, Any]()
    match kind:
        case "statement" | "date" | "yes_no":
            one.item["type"] = kind
        case "legal":
            one.item["type"] = "yes_no"
            one.entry.changed("Its buttons are Yes and No.")
        case "email" | "phone_number":
            asked = one.put_fields("contact", ["email" if kind == "email" else "phone"])
        case "contact_info" | "address":
            asked = _contact(one, "address" if kind == "address" else "contact")
        case "short_text" | "long_text" | "website":
            one.item |= {"type": "text", "multiline": kind == "long_text"}
            one.item |= _bounds(one, types.TEXT_CHARACTERS_MAX, length_max="max_length")
            if kind == "website":
                one.entry.changed(drafting.UNCHECKED, name=kind)
        case "number":
            one.item |= {"type": "number", **_bounds(one, inf, number_min="min_value", number_max="max_value")}
        case "nps" | "rating" | "opinion_scale":
            asked = _scale(one)
        case "multiple_choice" | "picture_choice" | "dropdown" | "ranking":
            asked = _choice(one)
        case "matrix":
            _matrix(one)
        case "file_upload":
            one.item |= {"type": "file", "file_types": [*types.FILE_TYPES]}
        case _:
            one.entry.left_out(parts.NO_QUESTION, name=kind)
    return asked


def _bounds(one: Making, most: float, **names: str) -> Item:
    """Bounds of its answers, by our names for them."""
    found = {ours: figure(at(one.source, "validations", name)) for ours, name in names.items()}
    return {ours: min(int(bound), most) for ours, bound in found.items() if bound is not None}


def _scale(one: Making) -> Item:
    """One that ours do not have becomes choices."""
    kind, own = str(one.source["type"]), members(one.source.get("properties"))
    is_rating, labels = kind == "rating", members(own.get("labels"))
    low = 1 if is_rating or own.get("start_at_one") is True else 0
    steps = figure(own.get("steps")) or (5 if is_rating else 11)
    high = low + min(int(steps), types.CHOICES_MAX) - 1
    if kind != "nps" and high not in drafting.SCALE:
        return {"codes": one.put_choices("single_choice", [(str(n), str(n)) for n in range(low, high + 1)])}
    style = "stars" if is_rating and (own.get("shape") or "star") == "star" else "numbers"
    scale = {"type": "rating", "style": style, "scale_min": low, "scale_max": high}
    one.item |= {"type": kind} if kind == "nps" else scale
    if labels.get("center"):
        one.entry.changed(drafting.MIDDLE)
    one.put_ends(labels.get("left"), labels.get("right"))
    return {}


def _put_choices(one: Making, kind: str, entries: Sequence[Item]) -> Mapping[str, int | bool]:
    """Their values by label, id and ref; an empty label is the number."""
    values = one.put_choices(kind, [(str(n), _bare(each.get("label")) or str(n)) for n, each in enumerate(entries, 1)])
    if any(each.get("attachment") for each in entries):
        one.entry.lost(drafting.PICTURES)
    pairs = [*zip(values.values(), entries, strict=False)]  # too many are left out
    return {str(each[name]): value for value, each in pairs for name in ("label", "id", "ref") if each.get(name)}


def _choice(one: Making) -> Item:
    kind, own = str(one.source["type"]), members(one.source.get("properties"))
    is_several, has_other = own.get("allow_multiple_selection") is True, own.get("allow_other_choice") is True
    entries = [*items(own.get("choices")), *([{"label": "Other", "ref": "other"}] if has_other else [])]
    kind_here = "ranking" if kind == "ranking" else "multiple_choice" if is_several else "single_choice"
    codes = _put_choices(one, kind_here, entries)
    one.mark(codes, {"other"} if has_other else ())
    least, most = (at(one.source, "validations", f"{name}_selection") for name in ("min", "max"))
    one.put_list(is_dropdown=kind == "dropdown", is_random=bool(own.get("randomize")), least=least, most=most)
    return {"codes": codes}


def _matrix(one: Making) -> None:
    rows = one.few(items(at(one.source, "properties", "fields")), ROWS_MAX)
    first = members(at(rows, 0, "properties"))
    one.lose(drafting.names_of(first, ["allow_multiple_selection"]))
    keys = one.put_rows([(str(row.get("ref") or row.get("id")), _bare(row.get("title")) or "…") for row in rows])
    codes = _put_choices(one, "matrix", items(first.get("choices")))
    for ref in keys:
        one.know(ref, codes=codes, parts=keys, part=ref)


def _contact(one: Making, kind: str) -> Item:
    fields = {str(each.get("subfield_key")): each for each in items(at(one.source, "properties", "fields"))}
    known = _CONTACT if kind == "contact" else _ADDRESS
    one.lose(", ".join(name for name in fields if name not in known))
    needed = [at(each, "validations", "required") is True for name, each in fields.items() if name in known]
    one.lose("required" if len(set(needed)) > 1 else "")
    one.item["required"] = bool(needed) and all(needed)
    names = dict.fromkeys(known[name] for name in fields if name in known)
    return one.put_fields(kind, [*names] or [*dict.fromkeys(known.values())])


FORMAT: Final = parts.of_json("typeform", "Typeform", _form_of, lambda form: _Form(form).read())
