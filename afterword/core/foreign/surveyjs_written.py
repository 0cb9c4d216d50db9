"""A questionnaire as the JSON of a survey of SurveyJS, 1.9 to 3."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any, Final

import msgspec

from afterword.core.foreign import exports
from afterword.core.foreign.exports import NO_SCORE, PAGES, QUOTA, Source, Unwritable, Written, code_of, shown_when
from afterword.core.foreign.parts import NAMES
from afterword.core.questionnaires.conditions import Leaf, Node
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.question_types import FILE_BYTES_DEFAULT, Question
from afterword.errors import Sentence

Element = dict[str, Any]
LABEL: Final = "SurveyJS"
_NAME: Final = re.compile(r"[^.{}\[\]]+")
_OPERATORS: Final[Mapping[str, str]] = NAMES["surveyjs"]["signs"]
_TYPES: Final[Mapping[str, str]] = NAMES["surveyjs"]["types"]
_INPUTS: Final[Mapping[str, str]] = NAMES["surveyjs"]["inputs"]
_FILES: Final[Mapping[str, str]] = NAMES["surveyjs"]["endings"]


def written(source: Source) -> Written:
    writer = _Writer(source, LABEL)
    survey = writer.survey()
    return Written(msgspec.json.format(msgspec.json.encode(survey), indent=1), tuple(writer.lines))


class _Writer(exports.Writer):
    def survey(self) -> Element:
        source, definition = self.source, self.definition
        for question in definition.questions():
            code = question.code if _NAME.fullmatch(question.code or "") else None
            self.names[question.question_id] = code or question.key or question.question_id
            self.names |= {row.row_id: row.code or row.key or row.row_id for row in question.rows}
        shown = shown_when(definition)
        found: Element = {}
        for name in ("title", "description"):
            texts = {locale: getattr(self.own(locale), name) for locale in definition.locales}
            self._put(found, name, {locale: text for locale, text in texts.items() if text})
        found.setdefault("title", source.display_name)
        if definition.default_locale != "en":
            found["locale"] = definition.default_locale
        found["pages"] = [
            self._page(index, [self._element(one, shown[one.question_id]) for one in group.questions])
            for index, group in enumerate(definition.groups)
        ]
        if (welcome := self.pages("welcome")) and found["pages"]:
            first: Element = {"type": "html", "name": "welcome"}
            self._put(first, "html", {locale: _html(text) for locale, text in welcome.items()})
            found["pages"][0]["elements"].insert(0, first)
        self._endings(found)
        self.not_held("setting", None, [text for name, text in PAGES.items() if self.pages(name)])
        return found

    def _page(self, index: int, elements: list[Element]) -> Element:
        group = self.definition.groups[index]
        page: Element = {"name": group.key or group.group_id, "elements": elements}
        for name in ("title", "description"):
            self._put(page, name, self.texts(group, name))
        return page | ({} if group.enabled else {"visible": False})

    def _put(self, item: Element, name: str, texts: Mapping[str, str]) -> None:
        """Sets a text; `default` is English where the questionnaire has it, as SurveyJS reads it so."""
        default = self.definition.default_locale
        found = {locale: self.piped(text, self._variable) for locale, text in texts.items() if text}
        if len(found) > 1:
            first = found.get("en", found.get(default, next(iter(found.values()))))
            others = {locale: text for locale, text in found.items() if locale != "en"}
            item[name] = {
                "default": first,
                **(others if "en" in found else {k: v for k, v in others.items() if k != default}),
            }
        elif found:
            item[name] = next(iter(found.values()))

    def _variable(self, name: str) -> str | None:
        found = self.of_answer(name)
        return f"{{{self._name(*found)}}}" if found else None

    def _name(self, question: Question, part: str) -> str:
        return self.names[question.question_id] + (f".{self.names.get(part, part)}" if part else "")

    def _leaf(self, leaf: Leaf) -> str:
        question, part = self.subject(leaf)
        name = f"{{{self._name(question, part)}}}"
        if leaf.operator in {"is_empty", "is_not_empty"}:
            return f"{name} {'empty' if leaf.operator == 'is_empty' else 'notempty'}"
        if leaf.operator not in _OPERATORS:
            raise Unwritable
        several = [*leaf.value] if isinstance(leaf.value, list | tuple) else None
        values = [_literal(code_of(question, one)) for one in (several or [leaf.value])]
        value = values[0] if several is None else f"[{', '.join(values)}]"
        return f"{name} {_OPERATORS[leaf.operator]} {value}"

    def _element(self, question: Question, shown: Node | None) -> Element:
        item: Element = {"type": _TYPES.get(question.type, "text"), "name": self.names[question.question_id]}
        self._put(item, "title", self.texts(question, "title"))
        self._put(item, "description", self.texts(question, "description"))
        if question.is_required:
            item["isRequired"] = True
        if (condition := self.condition(question, shown, self._leaf)) is not None:
            item["visibleIf"] = condition
        if not question.enabled:
            item["visible"] = False
        self._own(item, question)
        self.lost(question, has_points=question.has_points)
        return item

    def _own(self, item: Element, question: Question) -> None:
        """Sets what only the type has."""
        match question.shape:
            case "scale":
                self._scale(item, question)
            case "choice" | "choices" | "ranking":
                self._choices(item, question)
            case "matrix":
                item["columns"] = [self._choice(question, "choices", one.value, one.label) for one in question.choices]
                item["rows"] = [self._choice(question, "rows", one.row_id, one.label) for one in question.rows]
                item |= {"isAllRowRequired": True} if question.required else {}
                item |= {"rowsOrder": "random"} if question.randomize else {}
            case "consent":
                item["renderAs"] = "checkbox"
                if question.required:
                    item["validators"] = [{"type": "expression", "expression": f"{{{item['name']}}} = true"}]
            case "contact":
                item["items"] = [_field(name, is_required=question.required) for name in question.contact_fields]
            case "files":
                item |= {"acceptedTypes": ",".join(_FILES[one] for one in question.file_types)}
                item |= {"allowMultiple": True, "maxFiles": question.files_max} if question.files_max != 1 else {}
                item["maxSize"] = question.bytes_max or FILE_BYTES_DEFAULT
            case "none":
                item.pop("title", None)
                item.pop("description", None)
                self._put(item, "html", self._statement(question))
            case "yes_no":
                pass
            case _:
                self._input(item, question)

    def _statement(self, question: Question) -> dict[str, str]:
        titles, below = self.texts(question, "title"), self.texts(question, "description")
        return {locale: _html("\n".join(filter(None, [text, below.get(locale)]))) for locale, text in titles.items()}

    def _scale(self, item: Element, question: Question) -> None:
        item |= {"type": "rating", "rateMin": question.scale[0], "rateMax": question.scale[-1]}
        if question.type == "smileys" or question.style == "stars":
            item["rateType"] = "smileys" if question.type == "smileys" else "stars"
        self._put(item, "minRateDescription", self.texts(question, "low_label"))
        self._put(item, "maxRateDescription", self.texts(question, "high_label"))
        if question.type in {"csat", "ces"}:
            self.say("question", question, Sentence(NO_SCORE, name=LABEL))

    def _choices(self, item: Element, question: Question) -> None:
        item["choices"] = [
            self._choice(question, "choices", one.value, one.label)
            | ({"showCommentArea": True} if one.other else {})
            | ({"isExclusive": True} if one.exclusive else {})
            for one in question.choices
        ]
        if question.style == "dropdown":
            item["type"] = "dropdown"
        if question.randomize:
            item["choicesOrder"] = "random"
        if question.rank_max:
            item |= {"selectToRankEnabled": True, "maxSelectedChoices": question.rank_max}
        bounds = (("minSelectedChoices", question.choices_min), ("maxSelectedChoices", question.choices_max))
        item |= {name: bound for name, bound in bounds if bound}

    def _choice(self, question: Question, group: str, value: int | str, label: str) -> Element:
        found: Element = {"value": self.names[value] if isinstance(value, str) else code_of(question, value)}
        self._put(found, "text", self.labels(question, group, value, label))
        return found

    def _input(self, item: Element, question: Question) -> None:
        if question.shape == "text":
            item["type"] = "comment" if question.multiline else "text"
            item |= {"maxLength": question.length_max} if question.length_max else {}
            return
        item["inputType"] = "range" if question.style == "slider" else _INPUTS[question.shape]
        if question.shape == "number" and question.decimals:
            item["step"] = round(10**-question.decimals, question.decimals)
        bounds = (("min", question.number_min, question.date_min), ("max", question.number_max, question.date_max))
        item |= {
            name: day if number is None else number for name, number, day in bounds if (number, day) != (None, None)
        }

    def _endings(self, found: Element) -> None:
        """A condition each; the first without one is for everybody else. A quota has no counterpart."""
        conditional: list[Element] = []
        for number, ending in enumerate(self.definition.endings, 1):
            if ending.responses_max is not None:
                self.not_held("ending", None, [Sentence(QUOTA, name=ending.key or Sentence("Ending {n}", n=number))])
                continue
            pool, call = ending.coupon_pool and "the coupon pool", ending.call_back and "the call-back form"
            self.not_held("ending", None, [pool or "", call or ""])
            html = self._ending(ending)
            if ending.conditions is None:
                self._put(found, "completedHtml", html)
                break
            condition = self.condition(None, ending.conditions, self._leaf)
            if condition is not None:
                one: Element = {"expression": condition}
                self._put(one, "html", html)
                conditional.append(one)
        if "completedHtml" not in found and (thanks := self.pages("thank_you")):
            self._put(found, "completedHtml", {locale: _html(text) for locale, text in thanks.items()})
        if conditional:
            found["completedHtmlOnCondition"] = conditional

    def _ending(self, ending: Ending) -> dict[str, str]:
        made: dict[str, str] = {}
        default = self.definition.default_locale
        for locale in dict.fromkeys((default, *ending.translations)):
            own = ending.translations.get(locale)
            title, text, button, review = (
                getattr(own, name, None) or getattr(ending, name)
                for name in ("title", "text", "button_label", "review_label")
            )
            links = [(ending.button_url, button), (ending.review_url, review or ending.review_url)]
            shown = [(escape(url), escape(label or url, quote=False)) for url, label in links if url]
            made[locale] = "".join([
                f"<h3>{escape(title, quote=False)}</h3>" if title else "", _html(text) if text else "",
                *[f'<p><a href="{url}">{label}</a></p>' for url, label in shown],
            ])  # fmt: skip
        return made


def _field(name: str, *, is_required: bool) -> Element:
    """A field of a contact or an address; its name is ours, so that it comes back as one."""
    more = {"inputType": _INPUTS[name]} if name in _INPUTS else {}
    return {
        "name": name,
        "title": name.replace("_", " ").capitalize(),
        **more,
        **({"isRequired": True} if is_required else {}),
    }


def _html(text: str) -> str:
    return "".join(f"<p>{escape(line, quote=False)}</p>" for line in text.split("\n") if line.strip())


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if "\\" in str(value):
        raise Unwritable
    return "'{}'".format(re.sub(r"(['\"])", r"\\\1", str(value)))
