"""Formbricks: surveys and templates as its API and its files give them, with blocks or, in older ones, with questions.

Each block becomes a page, and the rules of its logic become jumps of its last question. A block of a single button that
leads out of the survey, and then to its end, becomes an ending.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from afterword.core.foreign import drafting, parts
from afterword.core.foreign.drafting import Draft, Item, Making, Unreadable, items, joined, members, names_of
from afterword.core.foreign.parts import NAMES, Condition, Entry, Pipe, Read
from afterword.core.questionnaires import endings
from afterword.core.questionnaires.definition import PAGE_CHARACTERS_MAX
from afterword.core.questionnaires.question_types import (
    ADDRESS_FIELDS,
    CONTACT_FIELDS,
    FACES,
    TEXT_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
)

BACKWARDS: Final = "A jump leads to a later question, so this one back is left out."
NO_WAY: Final = "No jump leads to this ending, so it is left out."
FALLBACK_CHARACTERS_MAX: Final = 200

_RECALL: Final = re.compile(r"#recall:([A-Za-z0-9_-]{1,100})/fallback:([^#]{0,300})#")
_METADATA: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}\Z")
_HTTPS: Final = re.compile(r"https://[^\s\"'<>\\{}]{1,1900}\Z")
_OPERATORS: Final[Mapping[str, str]] = NAMES["formbricks"]["operators"]
_OF_HIDDEN: Final = frozenset({"equal", "not_equal", "is_empty", "is_not_empty", "contains"})
_NEGATED: Final[Mapping[str, str]] = {"doesNotStartWith": "begins_with", "doesNotEndWith": "ends_with"}
_FIELDS: Final[Mapping[str, str]] = NAMES["formbricks"]["fields"]
_SETTINGS: Final[Sequence[str]] = NAMES["formbricks"]["settings"]


def _survey_of(document: object) -> dict[str, Any]:
    """The survey of an answer of the API (`data`), of a template (`preset`), or the document itself; empty for none.

    Older surveys have questions with the logic of a block each, which become one.
    """
    for found in (document, members(document).get("data"), members(document).get("preset")):
        survey = members(found)
        if any("elements" in one for one in items(survey.get("blocks"))):
            return survey
        questions = [one for one in items(survey.get("questions")) if "headline" in one and "type" in one]
        if questions:
            card = members(survey.get("thankYouCard"))
            old = {"endings": [{"id": "end", **card}]} if card.get("enabled") and not survey.get("endings") else {}
            return {**survey, **old, "blocks": [{**one, "name": one.get("id"), "elements": [one]} for one in questions]}
    return {}


def _languages(survey: Mapping[str, Any]) -> dict[str, str]:
    """Our locales by the names that texts have: `default`, or the tag of the default language, comes first."""
    default = members(survey.get("defaultLanguage")).get("code") or survey.get("defaultLanguage")
    others: list[str] = []
    for one in items(survey.get("languages")):
        code = members(one.get("language")).get("code") or one.get("code")
        if one.get("default"):
            default = default or code
        elif one.get("enabled", True) and isinstance(code, str):
            others.append(code)
    first = parts.locale_of(default) or "en"
    found = {"default": first, str(default): first}
    return found | {code: locale for code in others if (locale := parts.locale_of(code))}


class _Block(msgspec.Struct):
    """`edges`: where it leads, and on which condition, in their order. `ending`: what it became, if not a page."""

    name: str
    source: dict[str, Any]
    questions: list[Item] = msgspec.field(default_factory=list[Item])
    ending: Item | None = None
    edges: list[tuple[str, Condition | None]] = msgspec.field(default_factory=list[tuple[str, Condition | None]])

    @property
    def elements(self) -> list[dict[str, Any]]:
        return items(self.source.get("elements"))

    @property
    def targets(self) -> set[str]:
        rules = items(self.source.get("logic"))
        return {str(one.get("target")) for rule in rules for one in items(rule.get("actions"))}


class _Reader:
    def __init__(self, survey: dict[str, Any], draft: Draft) -> None:
        self.survey, self.draft = survey, draft
        self.hidden = {str(one) for one in members(survey.get("hiddenFields")).get("fieldIds") or ()}
        self.blocks = [_Block(str(one.get("id", "")), one) for one in items(survey["blocks"])]
        self.places = {block.name: index for index, block in enumerate(self.blocks)}
        self.cards = {str(one.get("id", "")): one for one in items(survey.get("endings"))}

    def read(self) -> Read:
        survey, draft = self.survey, self.draft
        draft.pipe_of = self._pipe
        if not items(survey.get("languages")) and not survey.get("defaultLanguage"):
            language = draft.begin("setting", "languages", "")
            language.entry.said("The file does not name its language, so it counts as {name}.", name=draft.locale)
            language.end()
        for index, block in enumerate(self.blocks):
            if len(self.blocks) > 1 and self._is_last_button(index):
                self._button(block)
                continue
            block.questions = draft.group(parts.plain(block.source.get("name")) or "page")["questions"]
            for element in block.elements:
                self._element(element)
            self._rules(block)
        for index, block in enumerate(self.blocks):
            self._lead(index, block)
        draft.leave_out_settings(survey, _SETTINGS)
        title = draft.text(survey.get("name"))[:TITLE_CHARACTERS_MAX]
        return draft.finish(title=title, pages=self._pages(), endings=self._endings())

    def _element(self, element: dict[str, Any]) -> None:
        draft, kind = self.draft, str(element.get("type"))
        name = str(element.get("id") or kind)
        if kind == "cal":
            draft.leave_out("question", name, element.get("headline"), "cal")
            return
        one = draft.begin("question", name, element.get("headline"), element)
        one.item |= {"type": "statement", "required": element.get("required") is True}
        one.put_title(element.get("headline"), element.get("subheader"))
        one.lose(names_of(element, ("imageUrl", "videoUrl")))
        make = _MAKERS.get(kind)
        if make is None:
            one.entry.lost(parts.NO_QUESTION, name=kind)
        one.ask(**(make(one) or {} if make else {}))

    def _pipe(self, entry: Entry) -> Pipe:
        def one(match: re.Match[str]) -> str:
            name, fallback = match[1], re.sub(r"[{}|\n]", "", parts.plain(match[2].replace("nbsp", " ")))
            fallback = fallback[:FALLBACK_CHARACTERS_MAX] or "…"
            if name in self.draft.asked and self.draft.asked[name].type != "statement":
                return parts.variable(f"answer.{self.draft.asked[name].key}", fallback)
            if name in self.hidden and _METADATA.match(name):
                return parts.variable(f"questionnaire.{name}", fallback)
            entry.lost(parts.NO_VALUE, name=name)
            return fallback

        return lambda text: _RECALL.sub(one, text)

    # Logic

    def _rules(self, block: _Block) -> None:
        """The jumps of a block as its edges; behind one that always holds no other counts."""
        for rule in items(block.source.get("logic")):
            for action in items(rule.get("actions")):
                objective, target = str(action.get("objective")), str(action.get("target", ""))
                if objective not in {"jumpToBlock", "jumpToQuestion"}:
                    self.draft.leave_out("condition", block.name, "", objective)
                    continue
                entry = Entry("condition", block.name, _told(rule.get("conditions")))
                found = self.draft.condition(
                    entry, lambda at=entry, of=rule: self._condition(block, of.get("conditions"), at)
                )
                if isinstance(found, dict) and (target, parts.negated(found)) not in block.edges:
                    block.edges.append((target, found))
                elif found:
                    block.edges.append((target, None))
        if block.source.get("logicFallback"):
            block.edges.append((str(block.source["logicFallback"]), None))

    def _condition(self, block: _Block, document: object, entry: Entry) -> Condition | bool:
        """A condition of a block; True or False where that is known before anybody answers. Raises Unreadable."""
        source = members(document)
        if "conditions" not in source:
            return self._comparison(block, source, entry)
        below = [partial(self._condition, block, one, entry) for one in items(source["conditions"])]
        return joined("or" if source.get("connector") == "or" else "and", below)

    def _comparison(self, block: _Block, source: Mapping[str, Any], entry: Entry) -> Condition | bool:
        left, right = members(source.get("leftOperand")), members(source.get("rightOperand"))
        operator, name, value = str(source.get("operator")), str(left.get("value")), right.get("value")
        known = _OPERATORS.get(operator)
        if right and right.get("type") != "static":
            raise Unreadable
        if left.get("type") == "hiddenField" and known in _OF_HIDDEN:
            return parts.leaf(f"questionnaire_metadata:{name}", known, value)
        asked = self.draft.asked.get(name)
        if asked is None or str(left.get("type")) not in {"element", "question"}:
            raise Unreadable
        if asked.type == "statement":
            element = next((one for each in self.blocks for one in each.elements if one.get("id") == name), {})
            if operator in {"isClicked", "isNotClicked"} and element.get("buttonExternal"):
                entry.lost("Afterword does not know whether somebody clicked, so the condition counts as met.")
            return operator not in {"isSkipped", "isNotClicked"}
        is_required = any(one["key"] == asked.key and one["required"] for one in block.questions)
        if is_required and operator in {"isSubmitted", "isSkipped"}:
            return operator == "isSubmitted"
        if operator == "isCompletelySubmitted" and asked.type == "matrix":
            return parts.all_of(asked.compared("is_not_empty", None, row) for row in asked.parts) or False
        if operator in _NEGATED:
            return parts.negated(asked.compared(_NEGATED[operator], value))
        if known is None:
            raise Unreadable
        value = tuple(value) if isinstance(value, list) else value
        return asked.compared(known, value, str(members(left.get("meta")).get("row", "")))

    # Ways

    def _is_last_button(self, index: int) -> bool:
        """Whether a block is a single button that leads out, and the survey ends behind it."""
        block = self.blocks[index]
        if len(block.elements) != 1 or not block.targets <= set(self.cards):
            return False
        element = block.elements[0]
        leads_out = element.get("buttonExternal") is True and _HTTPS.match(str(element.get("buttonUrl")))
        ends = index == len(self.blocks) - 1 or str(block.source.get("logicFallback")) in self.cards
        return element.get("type") == "cta" and bool(leads_out) and ends

    def _button(self, block: _Block) -> None:
        element = block.elements[0]
        one = self.draft.begin("ending", str(element.get("id")), element.get("headline"))
        one.entry.kind = "question"
        one.entry.changed("It became a page after completion, whose button leads to the same address.")
        card = {**element, "buttonLabel": element.get("ctaButtonLabel"), "buttonLink": element["buttonUrl"]}
        block.ending = self._card(one, card)

    def _lead(self, index: int, block: _Block) -> None:
        """Gives the last question of a block its jumps: to later questions, or to the end."""
        if not block.questions:
            return
        jumps: list[Item] = []
        for target, condition in block.edges:
            place = self.places.get(target, len(self.blocks))
            if place <= index:
                self.draft.read.leave_out("condition", block.name, "", BACKWARDS)
            else:
                jumps.append({"target_question_id": self._first_of(place), "conditions": condition})
        follows = self.blocks[index + 1 : index + 2]
        if follows and follows[0].ending is not None and follows[0] is not self.blocks[-1]:
            jumps.append({"target_question_id": None, "conditions": None})
        if jumps:
            block.questions[-1]["jumps"] = jumps

    def _first_of(self, place: int) -> str | None:
        """The first question from a block on; None at the end, and at a button that became an ending."""
        block = next((one for one in self.blocks[place:] if one.questions or one.ending), None)
        return block.questions[0]["key"] if block and block.questions else None

    def _endings(self) -> list[Item]:
        """The endings, each with the conditions of the jumps to it; the one that others fall to comes last."""
        made: dict[str, Item] = {}
        for name, card in self.cards.items():
            made[name] = self._card(self.draft.begin("ending", name, card.get("headline")), card)
        made |= {block.name: block.ending for block in self.blocks if block.ending is not None}
        ways: dict[str, list[Condition | None]] = {name: [] for name in made}
        for index, block in enumerate(self.blocks):
            for target, condition in self._ends_of(index, block):
                keys = {one["key"] for one in block.questions}
                is_clear = condition is not None and _is_clear(condition, keys)
                ways.setdefault(target, []).append(condition if is_clear else None)
        general = next((name for name in made if None in ways[name]), next(iter(self.cards), ""))
        found: list[Item] = []
        for name, item in made.items():
            condition = parts.any_of([one for one in ways[name] if one is not None])
            if name != general and condition is not None and parts.is_small(condition):
                found.append({**item, "conditions": condition})
            elif name != general:
                self.draft.read.leave_out("ending", name, "", parts.NO_CONDITION if ways[name] else NO_WAY, text=name)
        return [*found, *([made[general]] if general in made else [])]

    def _ends_of(self, index: int, block: _Block) -> list[tuple[str, Condition | None]]:
        """The edges of a block to endings; behind the last one, and where there is no such block, the first ending."""
        if block.ending is not None:
            return []
        first, edges = next(iter(self.cards), ""), block.edges
        if all(condition for _, condition in edges):
            edges = [*edges, (self.blocks[index + 1].name if index + 1 < len(self.blocks) else first, None)]
        ends = {name for name, place in self.places.items() if self.blocks[place].ending is not None} | set(self.cards)
        return [
            (name if name in ends else first, one) for name, one in edges if name in ends or name not in self.places
        ]

    def _card(self, one: Making, card: Mapping[str, Any]) -> Item:
        """An ending, or a button that became one."""
        link = str(card.get("buttonLink") or card.get("url") or "")
        one.item["key"] = one.entry.key
        one.entry.key = one.entry.key if one.entry.kind == "ending" else ""
        one.put("title", card.get("headline"), endings.TITLE_CHARACTERS_MAX)
        one.put("text", card.get("subheader"), endings.TEXT_CHARACTERS_MAX)
        if _HTTPS.match(link):
            label = card.get("buttonLabel") or card.get("label")
            one.put_button(link, label, at_once=card.get("type") == "redirectToUrl")
        else:
            one.lose(link)
        return one.end()

    def _pages(self) -> dict[str, Item]:
        card = members(self.survey.get("welcomeCard"))
        if not card.get("enabled"):
            return {}
        one = self.draft.begin("text", "welcomeCard", card.get("headline"))
        texts = [self.draft.texts(text) for text in (card.get("headline"), card.get("subheader") or card.get("html"))]
        for locale in dict.fromkeys((*texts[0], *texts[1])):
            words = "<br>".join(each[locale] for each in texts if locale in each)
            one.item[locale] = {"welcome": one.entry.text(words, PAGE_CHARACTERS_MAX)}
        return one.end()


def _is_clear(condition: Condition, keys: set[str]) -> bool:
    """Whether a condition that holds tells that these questions were asked."""
    below = condition.get("all") or condition.get("any")
    if below:
        return all(_is_clear(one, keys) for one in below)
    key = str(condition.get("subject", "")).split(":")[1:2]
    return condition.get("operator") in parts.POSITIVE and set(key) <= keys


def _told(document: object) -> str:
    """A condition in words, for the report."""
    source = members(document)
    if "conditions" in source:
        return f" {source.get('connector', 'and')} ".join(_told(one) for one in items(source["conditions"]))
    left, right = members(source.get("leftOperand")), members(source.get("rightOperand"))
    return " ".join(
        str(one) for one in (left.get("value"), source.get("operator"), right.get("value", "")) if one != ""
    )


# The types: each sets the members of its question, and gives those of its `Subject`


def _nps(one: Making) -> None:
    one.item["type"] = "nps"
    one.put_ends(one.source.get("lowerLabel"), one.source.get("upperLabel"))


def _scale(one: Making) -> None:
    kind, look, points = one.source["type"], str(one.source.get("scale", "number")), one.source.get("range")
    points = points if points in drafting.SCALE else 5
    one.put_ends(one.source.get("lowerLabel"), one.source.get("upperLabel"))
    if (kind, points) in {("csat", 5), ("ces", 7)}:
        one.item["type"] = kind
    elif look == "smiley" and points in FACES:
        one.item |= {"type": "smileys", "scale_max": points}
    else:
        style = "stars" if look == "star" else "numbers"
        one.item |= {"type": "rating", "scale_min": 1, "scale_max": points, "style": style}
    shown = {"smileys": "smiley", "rating": "star" if look == "star" else "number"}.get(one.item["type"], "number")
    if look != shown:
        one.entry.said("Afterword shows this scale as numbers, not as stars or smileys.")
    if kind != "rating" and one.item["type"] != kind:
        one.entry.lost(
            "The scale of this type has {n} points in Afterword, so it became a rating with the same points.",
            n=5 if kind == "csat" else 7,
        )


def _choice(one: Making) -> Item:
    source, kind = one.source, str(one.source["type"])
    kind = {"multipleChoiceSingle": "single_choice", "ranking": "ranking"}.get(kind, "multiple_choice")
    codes = one.put_choices(kind, [(str(each.get("id")), each.get("label")) for each in items(source.get("choices"))])
    one.mark(codes, {"other"}, {"none"})
    is_random, is_dropdown = source.get("shuffleOption", "none") != "none", source.get("displayType") == "dropdown"
    least, most = _bound(source, "minSelections", "min"), _bound(source, "maxSelections", "max")
    one.put_list(is_dropdown=is_dropdown, is_random=is_random, least=least, most=most)
    return {"codes": codes}


def _pictures(one: Making) -> Item:
    choices = items(one.source.get("choices"))
    kind = "multiple_choice" if one.source.get("allowMulti") else "single_choice"
    one.lose("imageUrl")
    return {"codes": one.put_choices(kind, [(str(each.get("id")), str(n)) for n, each in enumerate(choices, start=1)])}


def _text(one: Making) -> Item:
    source, kind = one.source, str(one.source.get("inputType") or "text")
    if kind in {"email", "phone"}:
        return one.put_fields("contact", [kind])
    if kind == "number":
        low, high = _bound(source, "minValue", "min"), _bound(source, "maxValue", "max")
        one.item |= {"type": "number", "decimals": 2}
        one.item |= {name: bound for name, bound in (("number_min", low), ("number_max", high)) if bound is not None}
        return {}
    limit = members(source.get("charLimit"))
    most = limit.get("max") if limit.get("enabled") else _bound(source, "maxLength", "max")
    one.item |= {"type": "text", "multiline": kind == "text" and source.get("longAnswer") is not False}
    if isinstance(most, int) and 1 <= most <= TEXT_CHARACTERS_MAX:
        one.item["length_max"] = most
    return {}


def _fields(one: Making) -> Item:
    kind, known = ("address", ADDRESS_FIELDS) if one.source["type"] == "address" else ("contact", CONTACT_FIELDS)
    asked = {name: each for name, each in one.source.items() if isinstance(each, dict) and each.get("show")}
    fields = [name for name in known if name in {_FIELDS.get(each) for each in asked}]
    one.lose(", ".join(name for name in asked if name not in _FIELDS))
    if fields:
        one.item |= {"type": kind, "contact_fields": fields}
        one.item["required"] = one.item["required"] and all(each.get("required") for each in asked.values())
    return {"parts": {name: name for name in fields}}


def _matrix(one: Making) -> Item:
    """Conditions name rows and columns by their places; older surveys have texts in place of objects."""
    rows, columns = (
        [
            (str(place), members(each).get("label", each))
            for place, each in enumerate(one.source.get(name) or (), start=1)
        ]
        for name in ("rows", "columns")
    )
    keys, codes = one.put_rows(rows), one.put_choices("matrix", columns)
    one.put_list(is_random=one.source.get("shuffleOption", "none") != "none")
    return {
        "codes": {str(int(code) - 1): value for code, value in codes.items()},
        "parts": {str(int(code) - 1): key for code, key in keys.items()},
    }


def _file(one: Making) -> None:
    size, is_several = one.source.get("maxSizeInMB"), one.source.get("allowMultipleFiles") is True
    size = int(size * 1_000_000) if isinstance(size, int | float) else 0
    one.put_files(one.source.get("allowedFileExtensions") or (), is_several=is_several, bytes_max=size)


def _button(one: Making) -> None:
    """A text; a button that leads out has its address behind it."""
    url = str(one.source.get("buttonUrl") or "")
    if one.source.get("buttonExternal") is True and url:
        one.entry.lost("Afterword has no button between questions, so its address stands in the text.")
        words = f"{one.draft.text(one.source.get('ctaButtonLabel'))}: {url}".strip(": ")
        for texts in (one.item, *members(one.item.get("translations")).values()):
            texts["description"] = "\n\n".join(
                filter(None, [texts.get("description", ""), words[:TITLE_CHARACTERS_MAX]])
            )


def _bound(element: Mapping[str, Any], kind: str, name: str) -> Any:
    """A bound of the checks of an element, if it has one."""
    for rule in items(members(element.get("validation")).get("rules")):
        value = members(rule.get("params")).get(name)
        if rule.get("type") == kind and isinstance(value, int | float):
            return value
    return None


_MAKERS: Final[Mapping[str, Callable[[Making], Item | None]]] = {
    "openText": _text, "multipleChoiceSingle": _choice, "multipleChoiceMulti": _choice, "ranking": _choice,
    "nps": _nps, "rating": _scale, "csat": _scale, "ces": _scale, "cta": _button,
    "consent": lambda one: one.put_consent(one.source.get("label")),
    "date": lambda one: one.item.update(type="date"), "pictureSelection": _pictures, "fileUpload": _file,
    "matrix": _matrix, "address": _fields, "contactInfo": _fields,
}  # fmt: skip

FORMAT: Final = parts.of_json(
    "formbricks", "Formbricks", _survey_of, lambda survey: _Reader(survey, Draft(_languages(survey))).read()
)
