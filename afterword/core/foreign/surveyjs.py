"""SurveyJS: the JSON of a survey, with pages, panels and elements; `surveyjs_written.py` writes it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any, Final

from afterword.core.foreign import drafting, expressions, parts
from afterword.core.foreign.drafting import (
    Draft,
    Item,
    Making,
    Subject,
    Unreadable,
    condition_of,
    items,
    members,
    names_of,
)
from afterword.core.foreign.expressions import Tree
from afterword.core.foreign.parts import NAMES, Condition, Entry, Pipe, Read
from afterword.core.questionnaires import endings
from afterword.core.questionnaires.question_types import (
    ADDRESS_FIELDS,
    CONTACT_FIELDS,
    DECIMALS_MAX,
    DESCRIPTION_CHARACTERS_MAX,
    FACES,
    TEXT_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
)
from afterword.core.reading.documents import is_date, is_integer, is_number

VALUES_MAX: Final = 500  # of a scale
SCALE_MAX: Final = 10
LEFT_OUT: Final = frozenset({"paneldynamic", "matrixdynamic", "signaturepad", "expression", "image"})
_NAME: Final = re.compile(r"\{([^{}\n]{1,200})\}")
_LINK: Final = re.compile(r"<a\s[^>]*href=[\"'](https://[^\"'\s<>]+)[\"'][^>]*>(.*?)</a>", re.IGNORECASE | re.DOTALL)
_HEADING: Final = re.compile(r"\s*<h[1-6][^>]*>(.*?)</h[1-6]>", re.IGNORECASE | re.DOTALL)
_TEXTS: Final[frozenset[str]] = frozenset(NAMES["surveyjs"]["texts"])
_LOST: Final = ("showCommentArea", "hasComment", "enableIf", "requiredIf", "readOnly", "valueName")
_FILLED: Final = ("defaultValue", "defaultValueExpression", "setValueExpression")
_SETTINGS: Final = ("calculatedValues", "timeLimit", "maxTimeToFinish", "logo", "cookieName", "completedBeforeHtml")
_CHOICES: Final[Mapping[str, str]] = NAMES["surveyjs"]["choices"]
_SPECIAL: Final = (
    (("showNoneItem", "hasNone"), "none", "noneText", "None"),
    (("showRefuseItem",), "refused", "refuseText", "Refuse to answer"),
    (("showDontKnowItem",), "dontknow", "dontKnowText", "Don't know"),
    (("showOtherItem", "hasOther"), "other", "otherText", "Other (describe)"),
)
"""Choices that a flag adds: its name today and before, the code, the name of the text, and the text in English."""


def _survey_of(document: object) -> dict[str, Any]:
    survey = members(document)
    elements = [one for page in _pages_of(survey) for one in _elements_of(page)]
    is_one = any(isinstance(one.get("type"), str) and ("name" in one or one["type"] == "html") for one in elements)
    return survey if is_one else {}


def _pages_of(survey: Mapping[str, Any]) -> list[dict[str, Any]]:
    return items(survey.get("pages")) or [{"elements": survey.get("elements") or survey.get("questions")}]


def _elements_of(container: Mapping[str, Any]) -> list[dict[str, Any]]:
    return items(container.get("elements")) or items(container.get("questions"))


def _languages(survey: Mapping[str, Any]) -> dict[str, str]:
    """`default` is English where texts have the survey's own language beside it, else that language."""
    texts = list(_localized(survey))
    name = str(survey.get("locale") or "default")
    locale = parts.locale_of(survey.get("locale")) or "en"
    found = {name: locale}
    found.setdefault("default", "en" if any("default" in one and name in one for one in texts) else locale)
    names = dict.fromkeys(name for one in texts for name in one if name not in found)
    return found | {name: known for name in names if (known := parts.locale_of(name))}


def _localized(value: object) -> Iterator[dict[str, Any]]:
    for one in value if isinstance(value, list) else ():
        yield from _localized(one)
    for name, one in members(value).items():
        if name in _TEXTS and isinstance(one, dict):
            yield one
        else:
            yield from _localized(one)


class _Reader:
    def __init__(self, survey: dict[str, Any], draft: Draft) -> None:
        self.survey, self.draft = survey, draft
        self.names = {str(one.get("name")) for page in _pages_of(survey) for one in _all_of(page)}
        self.names |= {str(one.get("name")) for one in items(survey.get("calculatedValues"))}

    def read(self) -> Read:
        survey, draft = self.survey, self.draft
        draft.pipe_of = self._pipe
        for number, page in enumerate(_pages_of(survey), start=1):
            name = str(page.get("name") or f"page{number}")
            group = draft.group(name) | self._titles("text", name, page)
            draft.groups[-1] = group
            if page.get("visible") is False:
                group["enabled"] = False
            self._elements(page, self._show_if(page))
        for trigger in items(survey.get("triggers")):
            self._trigger(trigger)
        found = self._endings()
        draft.leave_out_settings(survey, _SETTINGS)
        return draft.finish(**self._titles("text", "survey", survey), endings=found)

    def _titles(self, kind: Any, name: str, source: Mapping[str, Any]) -> Item:
        one = self.draft.begin(kind, name, source.get("title"))
        one.put("title", source.get("title"), TITLE_CHARACTERS_MAX)
        one.put("description", source.get("description"), DESCRIPTION_CHARACTERS_MAX)
        return one.end() if one.item else {}

    def _elements(self, container: Mapping[str, Any], above: list[Condition]) -> None:
        for element in _elements_of(container):
            first = len(self.draft.questions)
            below = [*above, *self._show_if(element)]
            if element.get("type") == "panel":
                if element.get("title") or element.get("description"):
                    self._element({**element, "type": "html"})
            else:
                self._element(element)
            for item in self.draft.questions[first:]:
                if (found := parts.all_of(below)) is not None:
                    item["show_if"] = found
            if element.get("type") == "panel":
                self._elements(element, below)
            for item in self.draft.questions[first:] if element.get("visible") is False else ():
                item["enabled"] = False

    def _element(self, element: Mapping[str, Any]) -> None:
        draft, kind, name = self.draft, str(element.get("type")), str(element.get("name") or element.get("type"))
        if kind in LEFT_OUT:
            draft.leave_out("question", name, element.get("title"), kind)
            return
        if (below := _SPLIT[kind](element) if kind in _SPLIT else None) is not None:
            one = Making(draft, Entry("question", name, draft.text(element.get("title")) or name), element)
            one.entry.changed(parts.SEVERAL, n=len(below))
            one.end()
            for each in below:
                self._element(each)
            return
        one = draft.begin("question", name, element.get("title"), element)
        one.item |= {"type": "statement", "required": element.get("isRequired") is True}
        one.put_title(element.get("title"), element.get("description"))
        one.lose(names_of(element, _LOST))
        make = _MAKERS.get(kind)
        if make is None:
            one.entry.lost(parts.NO_QUESTION, name=kind[:60])
        one.ask(**(make(one) or {} if make else {}))
        self._leave_out_checks(element, name)

    def _leave_out_checks(self, element: Mapping[str, Any], name: str) -> None:
        title = self.draft.text(element.get("title")) or name
        if any(element.get(each) not in (None, "", [], {}) for each in _FILLED):
            self.draft.read.leave_out("setting", name, title, drafting.FILLED)
        for each in items(element.get("validators")):
            kind, rule = str(each.get("type")), str(each.get("regex") or each.get("expression") or "")
            if rule != f"{{{name}}} = true":  # as ours are written
                shown = parts.split(f"{kind} {rule}".strip(), parts.TITLE_SHOWN_CHARACTERS)[0]
                self.draft.read.leave_out("setting", name, title, drafting.UNCHECKED, name=shown)

    def _pipe(self, entry: Entry) -> Pipe:
        """Braces around a name that the survey does not have stay."""

        def one(match: re.Match[str]) -> str:
            try:
                asked, part = self._asked(match[1])
            except Unreadable:
                if match[1] not in self.names:
                    return match[0]
                entry.lost(parts.NO_VALUE, name=match[0])
                return "…"
            return parts.variable(f"answer.{asked.key}" + (f".{part}" if asked.parts.get(part) == part else ""))

        return lambda text: _NAME.sub(one, text)

    # Conditions

    def _asked(self, name: str) -> tuple[Subject, str]:
        """The question of a name, and the part of its answer behind a point. Raises Unreadable."""
        if name in self.draft.asked:
            return self.draft.answered(name), ""
        name, _, part = name.partition(".")
        return self.draft.answered(name), part

    def _show_if(self, container: Mapping[str, Any]) -> list[Condition]:
        found = self._condition(str(container.get("name")), container.get("visibleIf"))
        return [] if found is None else [found]

    def _condition(self, place: str, text: object) -> Condition | None:
        if not isinstance(text, str) or not text.strip():
            return None
        found = self.draft.condition(
            Entry("condition", place, text),
            lambda: condition_of(expressions.read(text, expressions.SURVEYJS), self._compared, _no_call),
        )
        return found if isinstance(found, dict) else None

    def _compared(self, name: str, operator: str, value: object) -> Condition:
        asked, part = self._asked(name)
        return asked.compared(operator, value, part)

    def _trigger(self, trigger: Mapping[str, Any]) -> None:
        """A jump of the last question that its condition names, as that is where it decides."""
        kind, text = str(trigger.get("type")).removesuffix("trigger"), str(trigger.get("expression") or "")
        target = self.draft.asked.get(str(trigger.get("gotoName")))
        if kind not in {"skip", "complete"} or (kind == "skip" and target is None) or not text:
            self.draft.leave_out("condition", kind, text or kind, kind)
            return
        condition = self._condition(kind, text)
        named = [one for one in self.draft.questions if f"question:{one['key']}" in _subjects(condition or {})]
        if named:
            jump = {"target_question_id": target.key if target and kind == "skip" else None, "conditions": condition}
            named[-1].setdefault("jumps", []).append(jump)

    # The end

    def _endings(self) -> list[Item]:
        found: list[Item] = []
        for name, url in (("completedHtmlOnCondition", ""), ("navigateToUrlOnCondition", "url")):
            for number, one in enumerate(items(self.survey.get(name)), start=1):
                condition = self._condition(name, one.get("expression"))
                if condition is not None:
                    ending = self._ending(f"{name}{number}", one.get("html"), one.get(url))
                    found.append({**ending, "conditions": condition})
        html, url = self.survey.get("completedHtml"), self.survey.get("navigateToUrl")
        return [*found, *([self._ending("completedHtml", html, url)] if html or url else [])]

    def _ending(self, place: str, html: object, url: object) -> Item:
        """A heading becomes the title, the first link the button."""
        one = self.draft.begin("ending", place, html)
        one.item["key"] = one.entry.key
        for locale, written in self.draft.texts(html).items():
            link, heading = _LINK.search(written), _HEADING.match(written)
            rest = _HEADING.sub("", written.replace(link[0], "", 1) if link else written, count=1) if heading else ""
            rest = rest or (written.replace(link[0], "", 1) if link else written)
            if link:
                one.item.setdefault("button_url", unescape(link[1]))
                one.set(locale, "button_label", one.entry.text(link[2], endings.LABEL_CHARACTERS_MAX) or "…")
            if heading:
                one.set(locale, "title", one.entry.text(heading[1], endings.TITLE_CHARACTERS_MAX, one.pipe))
            one.set(locale, "text", one.entry.text(rest, endings.TEXT_CHARACTERS_MAX, one.pipe))
        if isinstance(url, str) and url:
            one.put_button(url, at_once=True)
        return one.end()


def _all_of(container: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for element in _elements_of(container):
        yield element
        yield from _all_of(element)


def _no_call(_: str, __: Sequence[Tree]) -> Condition:
    raise Unreadable


def _subjects(condition: Condition) -> set[str]:
    own = ":".join(str(condition.get("subject", "")).split(":")[:2])
    return {own}.union(*(_subjects(one) for one in parts.below(condition)))


# The types: each sets the members of its question, and gives those of its `Subject`


def _values(found: object) -> list[tuple[str, object, Mapping[str, Any]]]:
    """Code, label and members of each entry of a list, which may be a bare value."""
    made: list[tuple[str, object, Mapping[str, Any]]] = []
    for one in found if isinstance(found, list) else ():
        entry = members(one)
        code = str(entry.get("value", entry.get("name", "")) if entry else one)
        made.append((code, entry.get("text") or entry.get("title") or code, entry))
    return made


def _pairs(found: object) -> list[tuple[str, object]]:
    return [(code, label) for code, label, _ in _values(found)]


def _choice(one: Making) -> Item:
    source, kind, found = one.source, _CHOICES[str(one.source["type"])], _values(one.source.get("choices"))
    if source["type"] == "imagepicker":
        kind = "multiple_choice" if source.get("multiSelect") else kind
        one.lose("imageLink")
    for flags, code, name, words in _SPECIAL:
        if any(source.get(flag) for flag in flags):
            found.append(
                (code, source.get(name) or words, {"showCommentArea" if code == "other" else "isExclusive": True})
            )
    if not found:
        one.entry.lost(parts.NO_LIST)
        return {}
    codes = one.put_choices(kind, [(code, label) for code, label, _ in found])
    marks = [{code for code, _, each in found if each.get(name)} for name in ("showCommentArea", "isExclusive")]
    one.mark(codes, *marks)
    one.lose("choices.visibleIf" if any(each.get("visibleIf") for _, _, each in found) else "")
    least, most = (source.get(f"{name}SelectedChoices") for name in ("min", "max"))
    is_random = source.get("choicesOrder") == "random"
    one.put_list(is_dropdown=source["type"] == "dropdown", is_random=is_random, least=least, most=most)
    if one.item["type"] == "ranking" and source.get("selectToRankEnabled") and is_integer(most) and most > 0:
        one.item["rank_max"] = min(most, len(codes))
    return {"codes": codes}


def _rating(one: Making) -> Item | None:
    """One to five, unless it says otherwise; from 0 to 10 it is the question of the NPS."""
    source, found = one.source, _pairs(one.source.get("rateValues"))
    if not found:
        low, step, count = source.get("rateMin", 1), source.get("rateStep", 1), source.get("rateCount")
        high = source.get("rateMax") or (low + count - 1 if is_integer(count) and is_integer(low) else 5)
        if all(is_integer(each) for each in (low, high, step)) and step > 0:
            found = [(str(each), str(each)) for each in range(low, high + 1, step)[:VALUES_MAX]]
    numbers = [int(code) if code.isdecimal() and len(code) < 4 else -1 for code, _ in found]  # noqa: PLR2004
    first, last = (numbers[0], numbers[-1]) if numbers else (0, 0)
    named = {code for code, label in found if one.draft.text(label) != code}
    is_scale = numbers == list(range(first, last + 1)) and first in {0, 1} and 3 <= last <= SCALE_MAX  # noqa: PLR2004
    if not is_scale or named - {found[0][0], found[-1][0]}:
        one.entry.changed("Afterword has no scale of these numbers, so each became a choice.")
        return {"codes": one.put_choices("single_choice", found)}
    look = source.get("rateType") or source.get("rateDisplayMode")
    if (first, last) == (0, SCALE_MAX):
        one.item["type"] = "nps"
    elif look == "smileys" and first == 1 and last in FACES:
        one.item |= {"type": "smileys", "scale_max": last}
    else:
        style = "stars" if look == "stars" else "numbers"
        one.item |= {"type": "rating", "scale_min": first, "scale_max": last, "style": style}
    ends = [label if code in named else None for code, label in (found[0], found[-1])]
    one.put_ends(source.get("minRateDescription") or ends[0], source.get("maxRateDescription") or ends[1])
    return None


def _boolean(one: Making) -> Item:
    source = one.source
    true, false = str(source.get("valueTrue", True)), str(source.get("valueFalse", False))
    labels = [(true, source.get("labelTrue")), (false, source.get("labelFalse"))]
    words = [one.draft.text(label).lower() for _, label in labels]
    if source.get("renderAs") != "checkbox" and all(words) and words != ["yes", "no"]:
        one.entry.changed("Its two answers have words of their own, so they became choices.")
        return {"codes": one.put_choices("single_choice", labels)}
    one.item["type"] = "consent" if source.get("renderAs") == "checkbox" else "yes_no"
    return {"codes": {true: True, false: False}}


def _text(one: Making) -> Item:
    source, item = one.source, one.item
    kind, least, most = str(source.get("inputType", "text")), source.get("min"), source.get("max")
    if source["type"] == "slider":
        kind, least, most = "range", source.get("min", 0), source.get("max", 100)
    if kind in {"email", "tel"}:
        return one.put_fields("contact", ["email" if kind == "email" else "phone"])
    if kind in {"number", "range"}:
        item |= {"type": "number", "decimals": _decimals(source.get("step"), least, most)}
        item |= {name: one for name, one in (("number_min", least), ("number_max", most)) if is_number(one)}
        if kind == "range" and item.get("number_min", 0) < item.get("number_max", 0):
            item["style"] = "slider"
    elif kind in {"date", "datetime-local", "datetime"}:
        item["type"] = "date" if kind == "date" else "date_time"
        bounds = {name: str(day)[:10] for name, day in (("date_min", least), ("date_max", most))}
        item |= {name: day for name, day in bounds.items() if is_date(day)}
    elif kind == "time":
        item["type"] = "time"
    else:
        item |= {"type": "text", "multiline": source["type"] == "comment"}
        length = source.get("maxLength")
        if is_integer(length) and 0 < length <= TEXT_CHARACTERS_MAX:
            item["length_max"] = length
    return {}


def _decimals(*numbers: object) -> int:
    written = [str(one) for one in numbers if isinstance(one, float) and one != int(one)]
    return min(max((len(one.partition(".")[2]) for one in written), default=0), DECIMALS_MAX)


def _matrix(one: Making) -> Item:
    source = one.source
    if source.get("cellType") == "checkbox":
        one.entry.lost(parts.NO_QUESTION, name="matrix, checkbox")
        return {}
    one.item["required"] |= bool(source.get("eachRowRequired") or source.get("isAllRowRequired"))
    if "random" in {source.get("rowOrder"), source.get("rowsOrder")}:
        one.item["randomize"] = True
    keys = one.put_rows(_pairs(source.get("rows")))
    return {"codes": one.put_choices("matrix", _pairs(source.get("columns"))), "parts": keys}


def _file(one: Making) -> None:
    source, size = one.source, one.source.get("maxSize")
    kinds = [*str(source.get("acceptedTypes") or "").split(","), *(source.get("acceptedCategories") or ())]
    one.put_files(kinds, is_several=source.get("allowMultiple") is True, bytes_max=size if is_integer(size) else 0)


def _html(one: Making) -> None:
    """A text; its first paragraph is what a title is for."""
    for locale, written in one.draft.texts(one.source.get("html")).items():
        first, _, rest = written.partition("</p>")
        for name, text in one.entry.title_and_help(first, rest, one.pipe).items():
            one.set(locale, name, text)


def _fields(one: Making) -> Item:
    names = [str(each.get("name")) for each in items(one.source.get("items"))]
    kind = "address" if set(names) <= set(ADDRESS_FIELDS) else "contact"
    return one.put_fields(kind, names)


def _texts_of(element: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """A question for each field; None for a contact or an address, whose fields are called so."""
    fields = items(element.get("items"))
    names = {str(one.get("name")) for one in fields}
    if len(names) == len(fields) > 0 and any(names <= set(known) for known in (CONTACT_FIELDS, ADDRESS_FIELDS)):
        return None
    above = {"type": "text", "isRequired": element.get("isRequired"), "description": element.get("title")}
    names_given = [
        {"name": f"{element.get('name')}.{one.get('name')}", "title": one.get("title") or one.get("name")}
        for one in fields
    ]
    return [{**above, **one, **named, "type": "text"} for one, named in zip(fields, names_given, strict=True)]


def _columns_of(element: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A matrix for each column that has choices; other columns are of a type that we do not know."""
    made: list[dict[str, Any]] = []
    for column in items(element.get("columns")):
        kind = str(column.get("cellType") or element.get("cellType") or "dropdown")
        made.append({
            "type": "matrix" if kind in {"dropdown", "radiogroup"} else f"matrixdropdown: {kind}",
            "name": f"{element.get('name')}.{column.get('name')}", "title": column.get("title") or column.get("name"),
            "description": element.get("title"), "rows": element.get("rows"), "isRequired": element.get("isRequired"),
            "columns": column.get("choices") or element.get("choices"),
        })  # fmt: skip
    return made


_SPLIT: Final[Mapping[str, Callable[[Mapping[str, Any]], list[dict[str, Any]] | None]]] = {
    "multipletext": _texts_of, "matrixdropdown": _columns_of,
}  # fmt: skip
_MAKERS: Final[Mapping[str, Callable[[Making], Item | None]]] = {
    **dict.fromkeys(_CHOICES, _choice), "rating": _rating, "boolean": _boolean, "text": _text, "comment": _text,
    "slider": _text, "matrix": _matrix, "file": _file, "html": _html, "multipletext": _fields,
}  # fmt: skip

FORMAT: Final = parts.of_json(
    "surveyjs", "SurveyJS", _survey_of, lambda survey: _Reader(survey, Draft(_languages(survey))).read()
)
