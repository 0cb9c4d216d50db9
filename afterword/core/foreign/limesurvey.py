"""LimeSurvey: the structure of a survey as XML (`.lss`, 2.x to 7) or as a table (`.txt`) becomes one of our files."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any, Final

import msgspec

from afterword.core.foreign import expressions, limesurvey_file, parts
from afterword.core.foreign.drafting import Draft, Item, Subject, Unreadable, condition_of, figure
from afterword.core.foreign.expressions import Tree
from afterword.core.foreign.limesurvey_file import Survey, Thing
from afterword.core.foreign.limesurvey_questions import SETTINGS, Maker, Names, count_of, old_name
from afterword.core.foreign.parts import Condition, Entry, Format, Pipe, Read, plain
from afterword.core.questionnaires.definition import PAGE_CHARACTERS_MAX, QUESTIONS_MAX
from afterword.core.questionnaires.endings import LABEL_CHARACTERS_MAX, QUOTA_RESPONSES_MAX, TEXT_CHARACTERS_MAX
from afterword.core.questionnaires.question_types import DESCRIPTION_CHARACTERS_MAX, TITLE_CHARACTERS_MAX, TYPES
from afterword.core.reading.documents import LOCALES_MAX
from afterword.errors import Sentence

_NAME: Final = re.compile(
    r"\{(?:INSERTANS:)?([\w.:#]+?)(?:\.(?:shown|NAOK|value|code|question))?\}|\{[^\s{}][^{}]{0,400}\}"
)
_OLD: Final = re.compile(r"\d+X\d+X(\d+)(.*)\Z")
_SUFFIX: Final = re.compile(r"\.(?:NAOK|code|value|valueNAOK|shown)\Z")
_PERSON: Final = {"FIRSTNAME": "responder.first_name", "LASTNAME": "responder.last_name", "EMAIL": "responder.email"}
_TOKEN: Final = re.compile(r"TOKEN:(?:ATTRIBUTE_)?(\w{1,60})\Z")
_ALWAYS: Final = frozenset(("", "1", '"1"', "true"))
_BLANK: Final = {  # with nothing; every answer is more than that
    "equal": "is_empty", "less_equal": "is_empty", "not_equal": "is_not_empty", "greater": "is_not_empty",
    "greater_equal": "is_not_empty",
}  # fmt: skip
_CHOSEN: Final[Mapping[tuple[str, object], str]] = {
    ("equal", "Y"): "contains", ("not_equal", "Y"): "not_contains", ("is_not_empty", None): "contains",
    ("is_empty", None): "not_contains",
}  # fmt: skip
_ORDERED: Final = {"less": lt, "less_equal": le, "greater": gt, "greater_equal": ge}
_SETTINGS: Final[Mapping[str, str]] = {
    "anonymized": "Answers are anonymous there. Switch it on here before you publish.",
    "alloweditaftercompletion": "Answers can be changed later there. Switch it on in the settings.",
}


def _is_structure(content: bytes) -> bool:
    return b"<LimeSurveyDocType>" in parts.head_of(content, 4_000)


def _is_table(content: bytes) -> bool:
    head = parts.head_of(content, 4_000).partition(b"\n")[0].replace(b'"', b"").split(b"\t")
    return {b"class", b"type/scale", b"relevance"} <= set(head)


def _short_of(survey: Survey) -> list[str]:
    """Numbers of questions whose fields become one text, so that all fit: of those with most fields."""
    counts = Counter({asked["qid"]: count_of(asked) for group in survey.groups for asked in group.inside})
    total, found = counts.total(), list[str]()
    for number, count in counts.most_common():
        if total > QUESTIONS_MAX and count > 1:
            found.append(number)
            total -= count - 1
    return found


class _Reader(msgspec.Struct):
    """Reads the questions in order, since conditions and texts know earlier ones alone."""

    survey: Survey
    draft: Draft = msgspec.field(default_factory=lambda: Draft({}))
    names: Names = msgspec.field(default_factory=Names)

    def read(self) -> Read:
        draft, texts = self.draft, self.survey.texts
        draft.pipe_of = self._pipe
        self._read_languages()
        about, pages = self.draft.begin("text", "survey", texts["title"]), self.draft.begin("text", "pages", "")
        about.put("title", texts["title"], TITLE_CHARACTERS_MAX)
        about.put("description", texts["description"], DESCRIPTION_CHARACTERS_MAX)
        about.end()
        pages.put("welcome", texts["welcometext"], PAGE_CHARACTERS_MAX)
        short = _short_of(self.survey)
        for group in self.survey.groups:
            self._group(group, short)
        pages.put("thank_you", texts["endtext"], PAGE_CHARACTERS_MAX)
        pages.end()
        endings = [self._quota(quota) for quota in self.survey.quotas]
        if address := draft.text(texts["url"]):
            endings.append(self._ending(address))
        for name, text in _SETTINGS.items():
            if self.survey.settings.get(name) == "Y":
                draft.read.leave_out("setting", name, "", text)
        others = pages.item.pop("translations", {})
        by_locale = {locale: page for locale, page in ((draft.locale, pages.item), *others.items()) if page}
        return draft.finish(**about.item, pages=by_locale, endings=[one for one in endings if one])

    def _read_languages(self) -> None:
        """The first one is that in which the survey was written; texts of no language are of it."""
        settings = self.survey.settings
        names = [settings.get("language") or "en", *settings.get("additional_languages", "").split()]
        for name in dict.fromkeys(names):
            locale, found = parts.locale_of(name), self.draft.languages
            if locale is None or locale in found.values() or len(found) > LOCALES_MAX:
                self.draft.read.leave_out("setting", name, "", parts.NO_LANGUAGE, name=name)
            else:
                found |= {name: locale, "": found.get("", locale)}
        self.draft.languages = self.draft.languages or {"": "en"}

    def _group(self, group: Thing, short: Collection[str]) -> None:
        name = self.draft.text(group.texts["group_name"]) or "group"
        always = self._condition(group["grelevance"], Entry("condition", name))
        one = self.draft.begin("text", name, name)
        one.item = self.draft.group(name)
        one.put("title", group.texts["group_name"], TITLE_CHARACTERS_MAX)
        one.put("description", group.texts["description"], DESCRIPTION_CHARACTERS_MAX)
        one.end()
        for asked in group.inside:
            self._question(asked, always=always, is_short=asked["qid"] in short)

    def _question(self, asked: Thing, *, always: Condition | bool, is_short: bool) -> None:
        title = self.draft.text(asked.texts["question"]) or asked.code
        texts, names = Entry("text", asked.code, title), Names()
        maker = Maker(self.draft, asked, Entry("question", asked.code, title), self._pipe(texts), names)
        maker.make(is_short=is_short)
        own = self._condition(asked["relevance"], Entry("condition", asked.code, key=maker.entry.key))
        for item in maker.made:
            conditions = (always, own, item.pop("show_if", None))
            if (found := parts.all_of(one for one in conditions if isinstance(one, dict))) is not None:
                item["show_if"] = found
            if False in (always, own):
                item["enabled"] = False
        self.draft.read.lines += [maker.entry.line, *([texts.line] if texts.line.sentences else [])]
        for sentence in dict.fromkeys([*maker.left_out, *_left_out(asked)]):
            self.draft.read.leave_out("setting", asked.code, title, sentence.text, **sentence.values)
        self.names |= names

    # Conditions and names

    def _condition(self, relevance: str, entry: Entry) -> Condition | bool:
        """The condition of a question or group; True for none, False for one that never holds."""
        entry.title = plain(relevance)
        if entry.title in {*_ALWAYS, "0"}:
            return entry.title != "0"
        found = self.draft.condition(entry, lambda: self._of_text(relevance))
        return True if found is None else found

    def _of_text(self, relevance: str) -> Condition:
        return condition_of(expressions.read(relevance, expressions.LIMESURVEY), self._compared, self._called)

    def _find(self, name: str) -> tuple[Subject, str] | None:
        old = _OLD.match(name)
        return self.names.get(old_name(old[1], old[2]) if old else name)

    def _compared(self, name: str, operator: str, value: object) -> Condition:
        found = self._find(_SUFFIX.sub("", name))
        if found is None or operator == "is_true" or (found[0].codes and name.endswith(".shown")):  # which is the label
            raise Unreadable
        subject, part = found
        if isinstance(value, str) and not value.strip():
            operator, value = _BLANK.get(operator, operator), None
        if part and not subject.parts:
            operator, value, part = _CHOSEN.get((operator, value), ""), part, ""
        elif subject.type == "multiple_choice":
            operator = {"equal": "contains", "not_equal": "not_contains"}.get(operator, operator)
        elif operator in _ORDERED and subject.codes:
            operator, value = "in", _codes(subject, _ORDERED[operator], figure(value))
        if not operator:
            raise Unreadable
        return subject.compared(operator, value, part)

    def _called(self, name: str, operands: Sequence[Tree]) -> Condition:
        function, _, operator = name.partition(" ")
        match (function, operator, operands):
            case ("is_empty", "", [("name", asked)]):
                return self._compared(asked, "is_empty", None)
            case ("count", "greater", [("name", asked), ("value", 0)]) | ("count", "", [("name", asked)]):
                return self._compared(asked, "is_not_empty", None)
            case ("intval" | "floatval" | "trim", _, [("name", asked), ("value", value)]) if operator:
                return self._compared(asked, operator, value)
            case _:
                raise Unreadable

    def _pipe(self, entry: Entry) -> Pipe:
        def name_of(match: re.Match[str]) -> str | None:
            written = match[1] or ""
            token = _TOKEN.match(written)
            if token:
                return _PERSON.get(token[1], f"responder.{token[1].lower()}")
            subject, part = self._find(written) or (None, "")
            if subject is None or not TYPES[subject.type].is_answered or (part and subject.type != "single_choice"):
                return None
            return f"answer.{subject.key}"

        return parts.piping(_NAME, name_of, entry)

    # Endings

    def _quota(self, quota: Thing) -> Item:
        """An ending with a number of responses."""
        one = self.draft.begin("ending", quota["name"], quota["name"])
        limit = int(figure(quota["qlimit"]) or 0)
        try:
            condition = self._of_text(quota["relevance"])
        except Unreadable:
            condition = None
        if condition is None or not 1 <= limit <= QUOTA_RESPONSES_MAX:
            one.entry.left_out("This quota cannot be expressed.")
        else:
            one.item |= {"key": one.entry.key, "conditions": condition, "responses_max": limit}
            one.put("text", quota.texts["message"], TEXT_CHARACTERS_MAX)
        return one.end()

    def _ending(self, address: str) -> Item:
        """The address at the end, as a button below the last text."""
        one = self.draft.begin("ending", "url", address)
        if not address.startswith("https://") or "{" in address:
            one.entry.left_out("The address at the end does not begin with https://, or has values in it.")
        else:
            one.item |= {"key": one.entry.key, "button_url": address, "button_label": address[:LABEL_CHARACTERS_MAX]}
            one.put("button_label", self.survey.texts["urldescription"], LABEL_CHARACTERS_MAX)
        return one.end()


def _codes(subject: Subject, compare: Callable[[Any, Any], bool], bound: float | None) -> tuple[str, ...]:
    """The codes that are less or greater than a number."""
    numbers = {code: figure(code) for code in subject.codes}
    return tuple(code for code, number in numbers.items() if None not in {number, bound} and compare(number, bound))


def _left_out(asked: Thing) -> list[Sentence]:
    found = [(text, asked.setting(name)) for name, text in SETTINGS.items()]
    said = [Sentence(text, value=value[:200]) for text, value in found if value not in {"", "0"}]
    if any(row["relevance"] not in _ALWAYS for row in asked.inside):
        said.append(Sentence("Some of its rows have conditions of their own; here all rows are shown."))
    return said


STRUCTURE: Final = Format(
    "limesurvey", "LimeSurvey", (".lss",), _is_structure,
    lambda content: _Reader(limesurvey_file.of_structure(parts.text_of(content))).read(),
)  # fmt: skip
TABLE: Final = Format(
    "limesurvey_table", "LimeSurvey", (".txt",), _is_table,
    lambda content: _Reader(limesurvey_file.of_table(parts.text_of(content))).read(),
)  # fmt: skip
