"""Questionnaires as YAML files: reads settings and a definition, with the line of every problem, and writes them.

A file has the questionnaire's own fields and those of its definition. Its author gives groups and questions a
`key`; jumps, conditions and `key_question_id` accept it instead of an id.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import yaml
from msgspec.structs import replace

from afterword import errors, ids
from afterword.asking.questionnaires import access, drafts
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.questionnaires import definition as core_definition, flow, variables
from afterword.core.questionnaires.definition import Definition, GiveId, Group
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.documents import Members
from afterword.core.reading.findings import Finding, Findings, Severity, escape
from afterword.kit.db import Database


class Edition(msgspec.Struct, frozen=True, kw_only=True):
    """A definition to show; `version_id` is None for the readable part of a `draft`."""

    organization_id: str
    questionnaire_id: str
    version_id: str | None
    definition: Definition
    revision: int
    draft: Mapping[str, object] | None

    @property
    def key(self) -> dict[str, Any]:
        """The columns that say where its definition is stored."""
        return {name: getattr(self, name) for name in ("organization_id", "questionnaire_id", "version_id", "draft")}


async def find(db: Database, *, questionnaire: Questionnaire) -> Edition | None:
    """The edition, or None without version and draft."""
    key = questionnaire.key
    version = await access.published(db, questionnaire)
    if version is not None:
        version_id, definition = version.version_id, version.definition
        return Edition(**key, version_id=version_id, definition=definition, revision=questionnaire.version, draft=None)
    draft = await drafts.get_draft_record(db, **key)
    if draft is None:
        return None
    definition = sound(core_definition.read(draft.definition, Findings()))
    document = core_definition.document_of(definition)
    return Edition(**key, version_id=None, definition=definition, revision=draft.revision, draft=document)


async def get(db: Database, *, questionnaire: Questionnaire) -> Edition:
    edition = await find(db, questionnaire=questionnaire)
    return errors.found(edition, "This questionnaire has neither a published version nor a draft.")


def sound(definition: Definition) -> Definition:
    """The definition without parts that have no valid id, or a repeated one; drafts may have them."""
    seen: set[str] = set()

    def is_new(identity: str) -> bool:
        if identity in seen or not ids.is_id(identity):
            return False
        seen.add(identity)
        return True

    groups: list[Group] = []
    for group in definition.groups:
        if is_new(group.group_id):
            asked = tuple(
                replace(question, rows=tuple(row for row in question.rows if is_new(row.row_id)))
                for question in group.questions
                if is_new(question.question_id)
            )
            groups.append(replace(group, questions=asked))
    endings = tuple(one for one in definition.endings if is_new(one.ending_id))
    return replace(definition, groups=tuple(groups), endings=endings)


MEDIA_TYPE: Final = "application/yaml"  # RFC 9512
FILE_BYTES_MAX = 1 << 20
REQUEST_CHARACTERS_MAX = 250_000  # of a file that stands in a request: four bytes each fit in its body
WRITTEN_CHARACTERS_MAX = 110  # of a line
DEPTH_MAX = 24
VALUES_MAX = 50_000
PROBLEMS_MAX = 100
INTEGER_DIGITS_MAX = 18
ICON_URL_CHARACTERS_MAX = 2000
RESPONSES_MAX = 10_000_000
SETTINGS: Final = (
    "display_name", "title", "description", "valid_days", "editable", "desktop_collapsed",
    "non_collapsed_questions_count", "key_question_id", "credits_accountable", "questionnaire_icon_url", "public_link",
    "responses_max",
)  # fmt: skip


class Problem(msgspec.Struct, frozen=True):
    """An error or a warning of a file, with its line (from 1) and its path for people to read."""

    line: int
    place: str
    pointer: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.place}: {self.message}" if self.place else f"line {self.line}: {self.message}"


class InvalidFile(errors.Invalid):
    """The file is refused and nothing is stored. `problems` are its errors, by line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems[:PROBLEMS_MAX])
        wrong = [errors.FieldError(one.code, str(one), pointer=one.pointer) for one in self.problems]
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(f"The file has {count}, the first in line {self.problems[0].line}.", errors=wrong)


class File(msgspec.Struct, frozen=True):
    """The content of a valid file.

    `settings` are the columns of a questionnaire that are not part of a version; a file without one sets its default.
    `active` is not among them: another import must not reopen a questionnaire that somebody closed.
    """

    settings: Mapping[str, Any]
    definition: Definition
    warnings: tuple[Problem, ...]


class Source(msgspec.Struct, frozen=True):
    """A YAML document as JSON, its lines by JSON pointer, and its YAML errors."""

    document: object
    lines: Mapping[str, int]
    problems: Sequence[Problem]

    def problems_of(self, findings: Findings, severity: Severity) -> list[Problem]:
        """The findings of a severity by line; those of YAML itself are errors."""
        found = [self._problem(each) for each in findings.found if each.severity == severity]
        return sorted([*self.problems, *found] if severity == "error" else found, key=lambda one: one.line)

    def _problem(self, finding: Finding) -> Problem:
        """A missing member has the line of its parent."""
        pointer = finding.path
        while pointer and pointer not in self.lines:
            pointer = pointer.rpartition("/")[0]
        return Problem(self.lines.get(pointer, 1), _place(finding.path), finding.path, finding.code, finding.message)


def read(text: str, *, give_id: GiveId, default_locale: str | None = None, declared: Declared | None = None) -> File:
    """The settings and the definition in a file's text. Raises InvalidFile with all errors.

    `default_locale`: the questionnaire's, which cannot change after creation. `declared`: the
    metadata that jumps are checked against.
    """
    source = load(text)
    findings = Findings(strict=True)
    members = Members(source.document, "", findings)
    definition = core_definition.read_members(members, give_id=give_id, declared=declared)
    flow.check_anonymity(definition, findings)
    flow.check_reviews(definition, findings)
    if declared is not None:
        variables.check(definition, declared, findings)
    settings = _read_settings(members, definition)
    if default_locale not in {None, definition.default_locale}:
        members.error("default_locale", "read_only", f"The default locale cannot change; it is {default_locale}.")
    members.finish()
    problems = source.problems_of(findings, "error")
    if problems:
        raise InvalidFile(problems)
    return File(settings, definition, tuple(source.problems_of(findings, "warning")))


def written(settings: Mapping[str, object], definition: Mapping[str, object]) -> str:
    """Ids stand beside the keys, so that `read` gives the same definition back anywhere."""
    document = {name: value for name, value in settings.items() if value is not None}
    return yaml.dump(
        {**document, **definition}, Dumper=_Writer, allow_unicode=True, sort_keys=False, width=WRITTEN_CHARACTERS_MAX
    )


def load(text: str) -> Source:
    """The single document of a YAML text. Raises InvalidFile if it is no YAML, too large, or empty.

    Scalars read as in YAML 1.2 (`no` is a text, `12:30` too); tags, anchors, aliases and duplicate keys are refused.
    """
    _check_characters(text)
    reader = _Reader()
    try:
        for event in yaml.parse(text.removeprefix("\ufeff"), Loader=_LOADER):
            reader.take(event)
    except yaml.YAMLError as error:
        raise InvalidFile([*reader.problems, _syntax_problem(text, error)]) from error
    if not reader.documents:
        raise InvalidFile([Problem(1, "", "", "required", "The file is empty.")])
    return Source(reader.document, reader.lines, reader.problems)


def _read_settings(members: Members, definition: Definition) -> dict[str, Any]:
    return {
        "display_name": members.required_text("display_name", 1, 200),
        "title": members.text("title", 1, core_definition.TITLE_CHARACTERS_MAX),
        "description": members.text("description", 0, core_definition.DESCRIPTION_CHARACTERS_MAX),
        "valid_days": members.integer("valid_days", 0, 3650, 30),
        "editable": members.boolean("editable", default=False),
        "desktop_collapsed": members.boolean("desktop_collapsed", default=False),
        "non_collapsed_questions_count": members.integer("non_collapsed_questions_count", 0, 200, 1),
        "key_question_id": _read_key_question(members, definition),
        "credits_accountable": members.boolean("credits_accountable", default=True),
        "questionnaire_icon_url": _read_icon_url(members),
        "public_link": members.boolean("public_link", default=False),
        "responses_max": members.optional_integer("responses_max", 1, RESPONSES_MAX),
        "default_locale": definition.default_locale,
        "locales": list(definition.locales),
    }


def _read_key_question(members: Members, definition: Definition) -> str | None:
    name = members.text("key_question_id", 1, 64)
    if name is None:
        return None
    for question in definition.questions():
        if name in {question.key, question.question_id}:
            return question.question_id
    members.error("key_question_id", "unknown_id", "No question has this key or id.")
    return None


def _read_icon_url(members: Members) -> str | None:
    url = members.text("questionnaire_icon_url", 1, ICON_URL_CHARACTERS_MAX)
    if url is not None and not re.match(r"https://[^\s\"'<>\\]+\Z", url):
        members.error("questionnaire_icon_url", "invalid_format", "An address that begins with https:// is expected.")
        return None
    return url


# libyaml reads a megabyte in a tenth of a second; the loader in Python, for platforms without it, in ten.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER: Final = re.compile(rf"[-+]?[0-9]{{1,{INTEGER_DIGITS_MAX}}}\Z")
_FLOAT: Final = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}\Z")
_WORDS: Final[Mapping[str, object]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class _Writer(yaml.SafeDumper):
    """Quotes each text that a reader could take for something else, and writes equal values out."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True

    def represent_text(self, text: str) -> yaml.Node:
        is_plain = isinstance(_value_of(text), str)
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')


_Writer.add_representer(str, _Writer.represent_text)


class _Frame(msgspec.Struct):
    value: dict[str, object] | list[object]
    pointer: str
    key: str | None = None


class _Reader(msgspec.Struct):
    document: object = None
    documents: int = 0
    values: int = 0
    lines: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    problems: list[Problem] = msgspec.field(default_factory=list[Problem])
    _open: list[_Frame] = msgspec.field(default_factory=list["_Frame"])

    def take(self, event: yaml.Event) -> None:
        """Process one event; raises InvalidFile if reading cannot continue."""
        line = event.start_mark.line + 1 if event.start_mark else 1
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self._give_up(line, "A file has one document.")
            case yaml.AliasEvent():
                self._report(line, "Aliases are not possible here; write the value out.")
                self._put(None, line)
            case yaml.ScalarEvent():
                self._check_plain(event, line)
                self._put_scalar(event, line)
            case yaml.MappingStartEvent():
                self._check_plain(event, line)
                self._enter({}, line)
            case yaml.SequenceStartEvent():
                self._check_plain(event, line)
                self._enter([], line)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._open.pop()
            case _:
                pass

    def _check_plain(self, event: yaml.NodeEvent, line: int) -> None:
        if event.anchor is not None:
            self._report(line, "Anchors are not possible here.")
        if getattr(event, "tag", None) is not None:
            self._report(line, "Tags are not possible here.")

    def _enter(self, value: dict[str, object] | list[object], line: int) -> None:
        if len(self._open) >= DEPTH_MAX:
            self._give_up(line, f"The file is nested more than {DEPTH_MAX} deep.")
        if self._wants_key():
            self._give_up(line, "A text is expected as the name of a field.")
        self._open.append(_Frame(value, self._put(value, line)))

    def _put_scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if not self._wants_key():
            # Plain scalars by the core schema of YAML 1.2, others as trimmed text.
            self._put(event.value.strip() if event.style else _value_of(event.value), line)
            return
        frame = self._open[-1]
        frame.key = event.value
        if isinstance(frame.value, dict) and event.value in frame.value:
            pointer = f"{frame.pointer}/{escape(event.value)}"
            message = f"This is a duplicate of line {self.lines.get(pointer, line)}."
            self.problems.append(Problem(line, _place(pointer), pointer, "duplicate_member", message))
        else:
            self.lines[f"{frame.pointer}/{escape(event.value)}"] = line

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _put(self, value: object, line: int) -> str:
        """Add a value to its parent and return its pointer. The first of duplicate members stays."""
        self.values += 1
        if self.values > VALUES_MAX:
            self._give_up(line, f"The file has more than {VALUES_MAX} values.")
        if not self._open:
            self.document = value
            self.lines[""] = line
            return ""
        frame = self._open[-1]
        if isinstance(frame.value, list):
            pointer = f"{frame.pointer}/{len(frame.value)}"
            frame.value.append(value)
            self.lines[pointer] = line
            return pointer
        key, frame.key = frame.key or "", None
        frame.value.setdefault(key, value)
        return f"{frame.pointer}/{escape(key)}"

    def _report(self, line: int, message: str) -> None:
        pointer = self._open[-1].pointer if self._open else ""
        self.problems.append(Problem(line, _place(pointer), pointer, "invalid_format", message))

    def _give_up(self, line: int, message: str) -> None:
        self._report(line, message)
        raise InvalidFile(self.problems)


def _value_of(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _FLOAT.match(text) else text


def _check_characters(text: str) -> None:
    """Raise InvalidFile for a text that is too large or not Unicode, before it is parsed."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InvalidFile([Problem(line, "", "", "invalid_format", "The file is not UTF-8.")]) from error
    if size > FILE_BYTES_MAX:
        raise InvalidFile([Problem(1, "", "", "too_long", f"The file is larger than {FILE_BYTES_MAX} bytes.")])


def _syntax_problem(text: str, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark is not None else text.count("\n", 0, getattr(error, "position", None) or 0) + 1
    reason = getattr(error, "problem", None) or "there is a character that is not allowed"
    return Problem(line, "", "", "invalid_format", f"This is not YAML: {reason}.")


def _place(pointer: str) -> str:
    """A JSON pointer as a readable path: `groups[0].questions[1].title`."""
    place = ""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        place += f"[{name}]" if name.isdigit() else f".{name}" if place else name
    return place
