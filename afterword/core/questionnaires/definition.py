"""A questionnaire's definition: groups of questions and the texts around them, read, checked and written as JSON.

A single question is read in `questions.py`; conditions are in `conditions.py`. `content` is what a responder is shown.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword import ids
from afterword.core.questionnaires import conditions, endings, questions
from afterword.core.questionnaires.conditions import Kind
from afterword.core.questionnaires.endings import ENDINGS_MAX, Ending
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.question_types import Question, Translation
from afterword.core.questionnaires.questions import (
    DESCRIPTION_CHARACTERS_MAX,
    DISPLAY_NAME_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
)
from afterword.core.reading.documents import LOCALES_MAX, Members, given, read_by_locale, read_locale
from afterword.core.reading.findings import Finding, Findings
from afterword.errors import Sentence

GROUPS_MAX = 50
GROUP_QUESTIONS_MAX = 100
QUESTIONS_MAX = 200
FILES_BYTES_MAX = 52_428_800  # of all files of a response
PAGE_CHARACTERS_MAX = 5000
KEY_CHARACTERS_MAX = 64
DEFINITION_BYTES_MAX = 1 << 20
PAGES: Final = ("welcome", "thank_you", "closed", "expired")
GROUP_TEXTS: Final = ("title", "description")

# Gives the id of a group, question, ending or row that has a key, but no id yet: ("group", key), ("question", key),
# ("ending", key), and ("row", "{its question's key}.{key}").
GiveId = Callable[[str, str], str]


class Texts(msgspec.Struct, frozen=True):
    """A group's or the questionnaire's own texts in one more language."""

    title: str | None = None
    description: str | None = None


class PageTexts(msgspec.Struct, frozen=True):
    """The texts before, after and instead of the questions, in one language."""

    welcome: str | None = None
    thank_you: str | None = None
    closed: str | None = None
    expired: str | None = None


class Group(Texts, frozen=True, kw_only=True):
    group_id: str
    key: str | None = None
    display_name: str | None = None
    enabled: bool = True
    translations: Mapping[str, Texts] = msgspec.field(default_factory=dict[str, Texts])
    questions: tuple[Question, ...] = ()


class Definition(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that a version fixes. Locales are in their stored form (`en-us`), the default is one of them."""

    default_locale: str
    locales: tuple[str, ...]
    groups: tuple[Group, ...]
    pages: Mapping[str, PageTexts] = msgspec.field(default_factory=dict[str, PageTexts])
    translations: Mapping[str, Texts] = msgspec.field(default_factory=dict[str, Texts])
    endings: tuple[Ending, ...] = ()
    anonymous: bool = False

    def questions(self) -> tuple[Question, ...]:
        """All questions in order, enabled or not."""
        return self._questions

    @cached_property
    def enabled(self) -> tuple[Question, ...]:
        """Those that are asked: the enabled ones of enabled groups."""
        return tuple(one for group in self.groups if group.enabled for one in group.questions if one.enabled)

    def question(self, question_id: str) -> Question | None:
        return self._by_id.get(question_id)

    def group(self, group_id: str) -> Group | None:
        return next((group for group in self.groups if group.group_id == group_id), None)

    def group_of(self, question_id: str) -> Group:
        """The group of a question; KeyError for a question of another definition."""
        return self._group_by_question[question_id]

    def position(self, question_id: str) -> int:
        """A question's position among all, from 0; KeyError for a question of another definition."""
        return self._positions[question_id]

    def page_texts(self, locale: str) -> PageTexts:
        """The page texts in `locale`, each falling back to the default locale."""
        own, default = self.pages.get(locale) or PageTexts(), self.pages.get(self.default_locale) or PageTexts()
        return PageTexts(**{name: getattr(own, name) or getattr(default, name) for name in PAGES})

    def texts(self, locale: str) -> Texts:
        """The questionnaire's own texts in `locale`; None where readers get the default locale's."""
        return self.translations.get(locale) or Texts()

    @cached_property
    def placed(self) -> tuple[tuple[str, Question], ...]:
        """All questions in order, each with its JSON pointer before it."""
        return tuple(
            (f"/groups/{place}/questions/{index}", question)
            for place, group in enumerate(self.groups)
            for index, question in enumerate(group.questions)
        )

    @cached_property
    def _questions(self) -> tuple[Question, ...]:
        return tuple(question for group in self.groups for question in group.questions)

    @cached_property
    def _by_id(self) -> dict[str, Question]:
        return {question.question_id: question for question in self._questions}

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {question.question_id: position for position, question in enumerate(self._questions)}

    @cached_property
    def _group_by_question(self) -> dict[str, Group]:
        return {question.question_id: group for group in self.groups for question in group.questions}


class InvalidDefinition(ValueError):
    """The document is refused; `findings` has every error (and warning) with its JSON pointer."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("; ".join(f"{finding.path}: {finding.message}" for finding in findings[:10]))
        self.findings = tuple(findings)


def parse(document: object, *, give_id: GiveId | None = None) -> Definition:
    """The definition of a JSON document. Raises InvalidDefinition with all that is wrong, not the first only."""
    findings = Findings()
    definition = read(document, findings, give_id=give_id)
    if findings.errors:
        raise InvalidDefinition(findings.found)
    return definition


def read(
    document: object, findings: Findings, *, give_id: GiveId | None = None, declared: Declared | None = None
) -> Definition:
    """The definition as far as it can be read; look at `findings.errors` before using it.

    `declared`: the metadata that jumps are checked against; without it their types are not looked at.
    """
    members = Members(document, "", findings)
    definition = read_members(members, give_id=give_id, declared=declared)
    members.finish()
    return definition


def document_of(definition: Definition) -> dict[str, object]:
    """The definition as JSON, such that `parse` gives the same one back; what a version stores."""
    document: dict[str, object] = {
        "default_locale": definition.default_locale,
        "locales": list(definition.locales),
        "translations": {locale: given(texts, GROUP_TEXTS) for locale, texts in definition.translations.items()},
        "groups": [group_document(group) for group in definition.groups],
        "pages": {locale: given(texts, PAGES) for locale, texts in definition.pages.items()},
    }
    if definition.endings:  # else a file without them would publish another version
        document["endings"] = [endings.document_of(one) for one in definition.endings]
    if definition.anonymous:
        document["anonymous"] = True
    return document


def group_document(group: Group) -> dict[str, object]:
    return {
        **given(group, ("group_id", "key")),
        **{name: getattr(group, name) for name in ("title", "description", "display_name", "enabled")},
        "translations": {locale: given(texts, GROUP_TEXTS) for locale, texts in group.translations.items()},
        "questions": [questions.document_of(question) for question in group.questions],
    }


def read_members(members: Members, *, give_id: GiveId | None = None, declared: Declared | None = None) -> Definition:
    """The definition's members of an object that may have others beside them (a file has the settings too)."""
    default_locale, locales = _read_locales(members)
    translated = [locale for locale in locales if locale != default_locale]
    reader = _Reader(members.findings, translated, give_id, declared)
    definition = Definition(
        default_locale=default_locale,
        locales=locales,
        groups=tuple(reader.group(path, entry) for path, entry in members.items("groups", 1, GROUPS_MAX)),
        pages=read_by_locale(members, "pages", locales, _read_page_texts),
        translations=read_by_locale(members, "translations", translated, _read_texts),
        anonymous=members.boolean("anonymous", default=False),
    )
    if len(definition.questions()) > QUESTIONS_MAX:
        members.error("groups", "too_many", Sentence("At most {n} questions are possible in all.", n=QUESTIONS_MAX))
    files = sum((one.files_max or 0) * (one.bytes_max or 0) for one in definition.questions())
    if files > FILES_BYTES_MAX:
        message = Sentence(
            "All files of a response may have at most {n} bytes: ask for fewer or smaller ones.", n=FILES_BYTES_MAX
        )
        members.error("groups", "out_of_range", message)
    definition = reader.with_endings(members, reader.with_conditions(definition))
    _warn(definition, members.findings)
    return definition


def _read_locales(members: Members) -> tuple[str, tuple[str, ...]]:
    default_locale = members.locale("default_locale")
    if default_locale is None and not members.has("default_locale"):
        members.error("default_locale", "required", "A default locale is required.")
    locales: list[str] = []
    for path, entry in members.items("locales", 0, LOCALES_MAX):
        locale = read_locale(entry, path, members.findings)
        if locale in locales:
            members.findings.error(path, "duplicate", "This language is in the list already.")
        elif locale is not None:
            locales.append(locale)
    if not locales and default_locale is not None:
        locales = [default_locale]
    if default_locale is not None and default_locale not in locales:
        members.error("default_locale", "unknown_value", "The default locale must be one of the locales.")
    return default_locale or "en", tuple(locales)


def _read_page_texts(members: Members) -> PageTexts:
    return PageTexts(*(members.text(name, 0, PAGE_CHARACTERS_MAX) for name in PAGES))


def _read_texts(members: Members) -> Texts:
    return Texts(
        title=members.text("title", 0, TITLE_CHARACTERS_MAX),
        description=members.text("description", 0, DESCRIPTION_CHARACTERS_MAX),
    )


class _Reader:
    """Reads groups and questions in two passes, since jumps and conditions may name any question.

    `_rows`: parts of answers by the names that conditions use, `{question key or id}:{row key}`.
    """

    def __init__(
        self, findings: Findings, locales: Sequence[str], give_id: GiveId | None, declared: Declared | None
    ) -> None:
        self._findings, self._locales, self._give_id = findings, locales, give_id
        self._metadata = conditions.scope_of(declared)
        self._keys: dict[str, dict[str, str]] = {"group": {}, "question": {}, "row": {}, "ending": {}}
        self._rows: dict[str, str] = {}
        self._ids: set[str] = set()
        self._questions: list[Members] = []

    def group(self, path: str, entry: object) -> Group:
        members = Members(entry, path, self._findings)
        group_id, key = self._identity(members, "group")
        group = Group(
            group_id=group_id,
            key=key,
            **given(_read_texts(members), GROUP_TEXTS),
            display_name=members.text("display_name", 1, DISPLAY_NAME_CHARACTERS_MAX),
            enabled=members.boolean("enabled", default=True),
            translations=read_by_locale(members, "translations", self._locales, _read_texts),
            questions=tuple(self._question(*item) for item in members.items("questions", 1, GROUP_QUESTIONS_MAX)),
        )
        members.finish()
        return group

    def with_conditions(self, definition: Definition) -> Definition:
        """The second pass: now every question is known."""
        everything = definition.questions()
        read: list[dict[str, Any]] = []
        earlier: dict[str, Kind] = {}
        values: dict[str, Collection[int]] = {}
        keys = {**self._keys["question"], **self._rows}
        for index, members in enumerate(self._questions):
            question = everything[index]
            before = replace(self._metadata, questions=earlier, keys=keys, values=values)
            path = members.pointer("show_if")
            show_if = conditions.read(members.take("show_if"), path, members.findings, before)
            earlier |= question.kinds
            values |= dict.fromkeys(question.kinds, question.known_values)
            later = {one.question_id: one.question_id for one in everything[index + 1 :]}
            later |= {one.key: one.question_id for one in everything[index + 1 :] if one.key is not None}
            scope = replace(self._metadata, questions=earlier, keys=keys)
            read.append({"show_if": show_if, "jumps": questions.read_jumps(members, scope, later)})
            members.finish()
        remaining = iter(read)
        groups = tuple(
            replace(group, questions=tuple(replace(one, **next(remaining)) for one in group.questions))
            for group in definition.groups
        )
        return replace(definition, groups=groups)

    def with_endings(self, members: Members, definition: Definition) -> Definition:
        """Endings may ask for every answer."""
        questions = definition.questions()
        kinds = {name: kind for one in questions for name, kind in one.kinds.items()}
        values = {name: one.known_values for one in questions for name in one.kinds}
        keys = {**self._keys["question"], **self._rows}
        scope = replace(self._metadata, questions=kinds, keys=keys, values=values)
        found: list[Ending] = []
        for path, entry in members.items("endings", 0, ENDINGS_MAX):
            below = Members(entry, path, self._findings)
            ending_id, key = self._identity(below, "ending")
            found.append(endings.read(below, ending_id=ending_id, key=key, locales=self._locales, scope=scope))
        return replace(definition, endings=tuple(found))

    def _question(self, path: str, entry: object) -> Question:
        members = Members(entry, path, self._findings)
        self._questions.append(members)
        question_id, key = self._identity(members, "question")
        return questions.read(
            members,
            question_id=question_id,
            key=key,
            locales=self._locales,
            row_identity=lambda row: self._row_identity(row, question_id, key),
        )

    def _row_identity(self, members: Members, question_id: str, question_key: str | None) -> tuple[str, str | None]:
        row_id, key = self._identity(members, "row", within=f"{question_key or question_id}.")
        if key is not None:
            self._rows |= {f"{owner}:{key}": f"{question_id}:{row_id}" for owner in (question_id, question_key)}
        return row_id, key

    def _identity(self, members: Members, kind: str, within: str = "") -> tuple[str, str | None]:
        """The id and the author's key: one of the two is there, and neither is used twice (`within` its owner)."""
        key = members.text("key", 1, KEY_CHARACTERS_MAX)
        if key is not None and not _KEY.match(key):
            members.error(
                "key", "invalid_format", "A key has lower-case letters, digits and _, and begins with a letter."
            )
            key = None
        identity = members.text(f"{kind}_id", 1, ids.ID_CHARACTERS)
        if identity is not None and not ids.is_id(identity):
            members.error(
                f"{kind}_id", "invalid_format", Sentence("An id has {n} letters and digits.", n=ids.ID_CHARACTERS)
            )
        elif identity is None and key is not None and self._give_id is not None:
            identity = self._give_id(kind, within + key)
        elif identity is None and not members.has("key"):
            members.error("key", "required", "A key is required: answers stay joined by it when the texts change.")
        elif identity is None and key is not None:
            members.error(f"{kind}_id", "required", "An id is required.")
        self._remember(members, kind, None if key is None else within + key, identity)
        return identity or "", key

    def _remember(self, members: Members, kind: str, key: str | None, identity: str | None) -> None:
        if key is not None and key in self._keys[kind]:
            members.error("key", "duplicate", f"Another {kind} has this key.")
        elif identity is not None and identity in self._ids:
            members.error(f"{kind}_id", "duplicate", f"Another {kind} has this id.")
        if identity is not None:
            self._ids.add(identity)
        if key is not None:
            self._keys[kind].setdefault(key, identity or "")


_KEY: Final = re.compile(r"[a-z][a-z0-9_]*\Z")


def _warn(definition: Definition, findings: Findings) -> None:
    """Jumps that hide nothing, and texts that a reader of one of the languages would see in the default locale."""
    message = "What it passes over stands on the same page and is shown, unless the layout is by_question."
    for path in (path for index, group in enumerate(definition.groups) for path in _jumps_within(group, index)):
        findings.warning(path, "jump_within_page", message)
    chosen = [(number, one) for number, one in enumerate(definition.endings) if one.responses_max is None]
    always = next(
        (number for number, one in chosen if one.conditions is None and one.coupon_pool is None),
        len(definition.endings),
    )
    for number in [number for number, _ in chosen if number > always]:
        message = "No one sees this ending: an earlier one without a condition applies to everyone."
        findings.warning(f"/endings/{number}", "unreachable_ending", message)
    for locale in definition.locales:
        _warn_missing(texts_of(definition, locale, Texts()) if locale != definition.default_locale else (), findings)


def warn_untranslated(definition: Definition, own: Texts, findings: Findings) -> None:
    """The same for the questionnaire's own title and description, which are no part of its definition."""
    for locale in definition.locales:
        if locale != definition.default_locale:
            _warn_missing(_own_texts_of(definition, locale, own), findings)


def _warn_missing(texts: "Iterable[Text]", findings: Findings) -> None:
    for text in texts:
        if not text.target:
            message = "This text is missing; readers get it in the default locale."
            findings.warning(text.path, "missing_translation", message)


def _jumps_within(group: Group, group_index: int) -> Iterator[str]:
    for index, question in enumerate(group.questions):
        for number, jump in enumerate(question.jumps):
            later = group.questions[index + 1 :]
            passed = takewhile(lambda one, target=jump.target_question_id: one.question_id != target, later)
            if any(one.enabled for one in passed):
                yield f"/groups/{group_index}/questions/{index}/jumps/{number}"


_HIDDEN = frozenset({"key", "code", "jumps", "translations"})


def content(
    definition: Definition,
    locale: str,
    *,
    question_ids: Collection[str],
    instance_id: str,
    questionnaire_id: str,
    version_id: str,
) -> dict[str, object]:
    """The content of one instance in one language: `groups` with their `questions`, and `pages`.

    Questions that were not drawn are left out, and so are groups without any; no translations, no jumps.
    """
    version = {"questionnaire_id": questionnaire_id, "version_id": version_id}
    shown: list[dict[str, object]] = []
    for position, group in enumerate(definition.groups):
        drawn = [
            {
                **_question_content(questions.localized(question, locale, seed=instance_id)),
                "group_id": group.group_id,
                **version,
                "position": index,
            }
            for index, question in enumerate(group.questions)
            if question.question_id in question_ids
        ]
        if drawn:
            shown.append({**_group_content(group, locale, position, len(drawn)), **version, "questions": drawn})
    texts = definition.page_texts(locale)
    return {"groups": shown, "pages": {name: getattr(texts, name) for name in PAGES}}


def _question_content(question: Question) -> dict[str, object]:
    """A localized question as JSON: the fields of its type, without keys, codes, translations and jumps."""
    bare = replace(question, rows=tuple(replace(row, key=None, code=None) for row in question.rows))
    return {name: value for name, value in questions.document_of(bare).items() if name not in _HIDDEN}


def _group_content(group: Group, locale: str, position: int, questions_count: int) -> dict[str, object]:
    texts = group.translations.get(locale) or Texts()
    return {
        "group_id": group.group_id,
        **{name: getattr(texts, name) or getattr(group, name) for name in GROUP_TEXTS},
        "display_name": group.display_name,
        "enabled": group.enabled,
        "position": position,
        "questions_count": questions_count,
    }


class Text(msgspec.Struct, frozen=True):
    """A text to translate. `key` stays when the order changes; `path` points to its translation in the definition.

    `member`: `title`, `welcome`, `choices/3`, `rows/{row_id}`.
    """

    key: str
    path: str
    member: str
    source: str
    target: str | None
    question_id: str | None = None


def texts_of(definition: Definition, locale: str, own: Texts) -> list[Text]:
    return list(_walk(definition, locale, own))


def _walk(definition: Definition, locale: str, own: Texts) -> Iterator[Text]:
    yield from _own_texts_of(definition, locale, own)
    page_texts = [definition.pages.get(each) or PageTexts() for each in (definition.default_locale, locale)]
    yield from _texts_of_members("pages/", f"/pages/{locale}", PAGES, *page_texts)
    for place, group in enumerate(definition.groups):
        texts = group.translations.get(locale) or Texts()
        path = f"/groups/{place}"
        yield from _texts_of_members(f"{group.group_id}/", f"{path}/translations/{locale}", GROUP_TEXTS, group, texts)
        for index, question in enumerate(group.questions):
            yield from _texts_of_question(question, f"{path}/questions/{index}/translations/{locale}", locale)
    for place, ending in enumerate(definition.endings):
        own_texts = ending.translations.get(locale) or endings.EndingTexts()
        path = f"/endings/{place}/translations/{locale}"
        yield from _texts_of_members(f"{ending.ending_id}/", path, endings.TEXTS, ending, own_texts)


def _own_texts_of(definition: Definition, locale: str, own: Texts) -> Iterator[Text]:
    translated_texts = definition.translations.get(locale) or Texts()
    yield from _texts_of_members("", f"/translations/{locale}", GROUP_TEXTS, own, translated_texts)


def _texts_of_question(question: Question, path: str, locale: str) -> Iterator[Text]:
    texts = question.translations.get(locale) or Translation()
    key = f"{question.question_id}/"
    yield from _texts_of_members(key, path, questions.TEXTS, question, texts, question_id=question.question_id)
    parts: list[tuple[str, str, str | None]] = [
        (f"choices/{one.value}", one.label, texts.choices.get(one.value)) for one in question.choices
    ]
    parts += [(f"rows/{one.row_id}", one.label, texts.rows.get(one.row_id)) for one in question.rows]
    for member, source, target in parts:
        yield Text(key + member, f"{path}/{member}", member, source, target, question.question_id)


def _texts_of_members(
    key: str, path: str, names: Sequence[str], sources: object, targets: object, *, question_id: str | None = None
) -> Iterator[Text]:
    for name in names:
        source = getattr(sources, name)
        if source:
            yield Text(key + name, f"{path}/{name}", name, source, getattr(targets, name), question_id)
