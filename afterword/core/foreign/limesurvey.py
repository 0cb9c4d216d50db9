"""LimeSurvey: the structure of a survey as XML (`.lss`, 2.x to 7) or as a table (`.txt`) becomes one of our files."""

import re
from collections.abc import Sequence
from typing import Any, Final

from afterword.core.foreign import limesurvey_file
from afterword.core.foreign.limesurvey_expressions import Target, Unsaid, condition_of
from afterword.core.foreign.limesurvey_file import Quota, Section, Survey, SurveyQuestion, Texts
from afterword.core.foreign.limesurvey_questions import SETTINGS, Languages, Maker, count_of
from afterword.core.foreign.parts import (
    NO_CONDITION,
    NO_LANGUAGE,
    Condition,
    Entry,
    Format,
    Keys,
    Line,
    Read,
    all_of,
    any_of,
    is_small,
    locale_of,
    piping,
    plain,
    text_of,
)
from afterword.core.questionnaires.definition import PAGE_CHARACTERS_MAX, QUESTIONS_MAX
from afterword.core.questionnaires.endings import LABEL_CHARACTERS_MAX, QUOTA_RESPONSES_MAX, TEXT_CHARACTERS_MAX
from afterword.core.questionnaires.question_types import DESCRIPTION_CHARACTERS_MAX, TITLE_CHARACTERS_MAX
from afterword.errors import Sentence

_NAME: Final = re.compile(
    r"\{(?:INSERTANS:)?([\w.:#]+?)(?:\.(?:shown|NAOK|value|code|question))?\}|\{[^\s{}][^{}]{0,400}\}"
)
_OLD: Final = re.compile(r"\d+X\d+X(\d+)(.*)\Z")
_PERSON: Final = {"FIRSTNAME": "responder.first_name", "LASTNAME": "responder.last_name", "EMAIL": "responder.email"}
_TOKEN: Final = re.compile(r"TOKEN:(?:ATTRIBUTE_)?(\w{1,60})\Z")
Truth = Condition | bool
ALWAYS: Final = frozenset(("", "1", '"1"', "true"))


def _is_structure(content: bytes) -> bool:
    return b"<LimeSurveyDocType>" in content[:4_000]


def _is_table(content: bytes) -> bool:
    head = content[:4_000].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].replace(b'"', b"").split(b"\t")
    return {b"class", b"type/scale", b"relevance"} <= set(head)


def _read_structure(content: bytes) -> Read:
    return _Reader(limesurvey_file.of_structure(text_of(content))).read()


def _read_table(content: bytes) -> Read:
    return _Reader(limesurvey_file.of_table(text_of(content))).read()


class _Reader:
    """Reads the questions in order, since conditions and texts know earlier ones alone."""

    def __init__(self, survey: Survey) -> None:
        self._survey, self._made = survey, Read()
        self._languages = self._read_languages()
        self._keys = Keys()
        self._names: dict[str, tuple[Target, ...]] = {}

    def read(self) -> Read:
        survey, default = self._survey, self._languages.default
        document = self._made.document
        locales = list(dict.fromkeys(self._languages.by_name.values()))
        document |= {"default_locale": default, "locales": locales, "translations": {}, "pages": {}}
        self._add_texts()
        keys, short = Keys(), self._short()
        document["groups"] = [self._group(section, keys, short) for section in survey.sections]
        document["groups"] = [one for one in document["groups"] if one["questions"]]
        self._add_page("endtext", "thank_you")
        endings = [one for quota in survey.quotas if (one := self._quota(quota)) is not None]
        document["endings"] = [*endings, *self._ending()]
        for name, values, text in _SURVEY_SETTINGS:
            if survey.settings.get(name) in values:
                self._made.leave_out("setting", name, "", Sentence(text))
        return self._made

    def _read_languages(self) -> Languages:
        found: dict[str, str] = {}
        for name in self._survey.languages:
            locale = locale_of(name)
            if locale is None or locale in found.values():
                self._made.leave_out("setting", name, "", Sentence(NO_LANGUAGE, name=name))
            else:
                found[name] = locale
        return Languages(next(iter(found), "en"), found or {"en": "en"})

    def _short(self) -> set[str]:
        """The questions whose fields do not become questions of their own, so that all fit: those with most fields."""
        asked = [one for section in self._survey.sections for one in section.asked]
        total = sum(map(count_of, asked))
        short: set[str] = set()
        for one in sorted(asked, key=count_of, reverse=True):
            if total > QUESTIONS_MAX and count_of(one) > 1:
                short.add(one.number)
                total -= count_of(one) - 1
        return short

    def _add_texts(self) -> None:
        """The texts of the survey itself and before its questions, which know no answers."""
        texts, document = self._survey.texts, self._made.document
        said = Entry("text", "survey", self._first(texts["title"]))
        for locale, written in self._languages.read(texts["title"]).items():
            title = said.text(written, TITLE_CHARACTERS_MAX, self._pipe(said))
            more = self._languages.read(texts["description"]).get(locale, "")
            own = {"title": title, "description": said.text(more, DESCRIPTION_CHARACTERS_MAX, self._pipe(said))}
            own = {name: text for name, text in own.items() if text}
            if locale == self._languages.default:
                document |= own
            elif own:
                document["translations"][locale] = own
        self._made.lines.append(said.line)
        self._add_page("welcometext", "welcome")

    def _add_page(self, name: str, page: str) -> None:
        said = Entry("text", name, self._first(self._survey.texts[name]))
        for locale, written in self._languages.read(self._survey.texts[name]).items():
            text = said.text(written, PAGE_CHARACTERS_MAX, self._pipe(said))
            if text:
                self._made.document["pages"].setdefault(locale, {})[page] = text
        if said.title:
            self._made.lines.append(said.line)

    def _first(self, texts: Texts) -> str:
        return plain(self._languages.read(texts).get(self._languages.default, ""))

    def _group(self, section: Section, keys: Keys, short: set[str]) -> dict[str, Any]:
        name = self._first(section.names)
        said = Entry("text", name or "group", name)
        always = self._condition(section.relevance, Entry("condition", name or "group", name))
        group: dict[str, Any] = {"key": keys.give(name or "group", "g"), "translations": {}, "questions": []}
        descriptions = self._languages.read(section.descriptions)
        for locale, written in self._languages.read(section.names).items():
            own = {
                "title": said.text(written, TITLE_CHARACTERS_MAX, self._pipe(said)),
                "description": said.text(descriptions.get(locale), DESCRIPTION_CHARACTERS_MAX, self._pipe(said)),
            }
            own = {name: text for name, text in own.items() if text}
            if locale == self._languages.default:
                group |= own
            elif own:
                group["translations"][locale] = own
        if said.line.sentences:
            self._made.lines.append(said.line)
        for asked in section.asked:
            group["questions"] += self._question(asked, always, is_short=asked.number in short)
        return group

    def _question(self, asked: SurveyQuestion, always: Truth, *, is_short: bool) -> list[dict[str, Any]]:
        title = self._first(asked.texts) or asked.code
        said, texts = Entry("question", asked.code, title), Entry("text", asked.code, title)
        maker = Maker(asked, self._languages, self._keys, said, self._pipe(texts), is_short)
        maker.make()
        key = said.key
        own = self._condition(asked.relevance, Entry("condition", asked.code, title, key))
        self._made.lines.append(said.line)
        if texts.line.sentences:
            texts.key = key
            self._made.lines.append(texts.line)
        self._say_settings(asked, title, maker.settings)
        for one in maker.made:
            parts = [each for each in (always, own, one.pop("show_if", None)) if isinstance(each, dict)]
            condition = all_of(parts)
            if False in (always, own):
                one["enabled"] = False
            if condition is not None and is_small(condition):
                one["show_if"] = condition
            elif condition is not None:
                self._leave_out_condition(asked, title)
        self._names |= maker.names
        return maker.made

    def _leave_out_condition(self, asked: SurveyQuestion, title: str) -> None:
        sentence = Sentence(NO_CONDITION, text=asked.relevance[:200])
        self._made.lines.append(Line("condition", "left_out", asked.code, title, (sentence,), whole=False))

    def _condition(self, relevance: str, said: Entry) -> Condition | bool:
        """The condition of a question or group; True for none. Adds its line."""
        written = plain(relevance)
        if written in ALWAYS:
            return True
        try:
            found = condition_of(relevance, self._find)
        except Unsaid:
            said.left_out(Sentence(NO_CONDITION, text=written[:200]))
            found = True
        self._made.lines.append(said.line)
        return found

    def _find(self, name: str) -> Sequence[Target]:
        old = _OLD.match(name)
        return self._names.get(f"#{old[1]}{old[2]}" if old else name, ())

    def _pipe(self, said: Entry) -> Any:
        def name_of(match: "re.Match[str]") -> str | None:
            written = match[1] or ""
            token = _TOKEN.match(written)
            if token:
                return _PERSON.get(token[1], f"responder.{token[1].lower()}")
            found = self._find(written)
            return found[0].variable or None if len(found) == 1 else None

        return piping(_NAME, name_of, said)

    def _say_settings(self, asked: SurveyQuestion, title: str, found: Sequence[Sentence]) -> None:
        values = {name: asked.attribute(name) for name in SETTINGS}
        said = [Sentence(SETTINGS[name], value=value[:200]) for name, value in values.items() if value not in {"", "0"}]
        if asked.pattern:
            said.append(Sentence("Its answer is checked by a pattern: “{value}”.", value=asked.pattern[:200]))
        if asked.has_default:
            said.append(Sentence("Its answer is filled in beforehand."))
        if any(part.relevance not in ALWAYS for part in asked.rows):
            said.append(Sentence("Some of its rows have conditions of their own; here all rows are shown."))
        for sentence in dict.fromkeys([*found, *said]):
            self._made.leave_out("setting", asked.code, title, sentence)

    def _quota(self, quota: Quota) -> dict[str, Any] | None:
        """An ending with a number of responses: one of the answers of each question that it names."""
        said = Entry("ending", quota.name, quota.name)
        parts: dict[str, list[Condition]] = {}
        try:
            for number, code in quota.members:
                parts.setdefault(number, []).append(self._member(number, code))
        except Unsaid:
            parts = {}
        condition = all_of(one for each in parts.values() if (one := any_of(each)) is not None)
        limit = int(quota.limit) if quota.limit.isdecimal() else 0
        if condition is None or not is_small(condition) or not 1 <= limit <= QUOTA_RESPONSES_MAX:
            said.left_out(Sentence("This quota cannot be expressed."))
            self._made.lines.append(said.line)
            return None
        said.key = self._keys.give(quota.name, "quota")
        ending = {"key": said.key, "conditions": condition, "responses_max": limit, "translations": {}}
        for locale, written in self._languages.read(quota.messages).items():
            text = said.text(written, TEXT_CHARACTERS_MAX, self._pipe(said))
            if text and locale == self._languages.default:
                ending["text"] = text
            elif text:
                ending["translations"][locale] = {"text": text}
        self._made.lines.append(said.line)
        return ending

    def _member(self, number: str, code: str) -> Condition:
        names = f"{number}X{number}X{number}"  # only the last number counts
        ways = (f"{names}{code} == 'Y'",) if self._names.get(f"#{number}{code}") else (f"{names} == '{code}'",)
        found = condition_of(ways[0], self._find)
        if not isinstance(found, dict):
            raise Unsaid
        return found

    def _ending(self) -> list[dict[str, Any]]:
        """The address at the end, as a button below the last text."""
        texts = self._survey.texts
        addresses = self._languages.read(texts["url"])
        address = addresses.get(self._languages.default, "").strip()
        if not address:
            return []
        said = Entry("ending", "url", address)
        if not address.startswith("https://") or "{" in address:
            said.left_out(Sentence("The address at the end does not begin with https://, or has values in it."))
            self._made.lines.append(said.line)
            return []
        said.key = self._keys.give("end")
        labels, default = self._languages.read(texts["urldescription"]), self._languages.default
        ending: dict[str, Any] = {"key": said.key, "button_url": address, "translations": {}}
        ending["button_label"] = said.text(labels.get(default) or address, LABEL_CHARACTERS_MAX)
        for locale, written in labels.items():
            if written and locale != default:
                ending["translations"][locale] = {"button_label": said.text(written, LABEL_CHARACTERS_MAX)}
        self._made.lines.append(said.line)
        return [ending]


_SURVEY_SETTINGS: Final[tuple[tuple[str, frozenset[str], str], ...]] = (
    ("anonymized", frozenset("Y"), "Answers are anonymous there. Switch it on here before you publish."),
    ("format", frozenset("SA"), "How many questions a page shows is a matter of the look here."),
    ("alloweditaftercompletion", frozenset("Y"), "Answers can be changed later there. Switch it on in the settings."),
)  # fmt: skip
STRUCTURE: Final = Format("limesurvey", "LimeSurvey", (".lss",), _is_structure, _read_structure)
TABLE: Final = Format("limesurvey_table", "LimeSurvey", (".txt",), _is_table, _read_table)
