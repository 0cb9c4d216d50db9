"""The library: questionnaires to begin with, a YAML file each, and the notes."""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, Final

import msgspec
import yaml

from afterword import errors, ids
from afterword.asking.questionnaires import files
from afterword.core.questionnaires import definition as core_definition, drafts
from afterword.core.questionnaires.definition import Definition, Texts
from afterword.core.questionnaires.flow import Length, length
from afterword.core.questionnaires.translations import with_languages
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

NAMES: Final = (
    "after_delivery", "support_case", "relationship", "website_purchase", "product_review", "onboarding",
    "cancellation", "store_visit", "restaurant_visit", "appointment", "event", "employee_pulse", "self_service",
)  # fmt: skip
NOTES: Final = "notes.yaml"


class Entry(msgspec.Struct, frozen=True):
    """A questionnaire of the library; `note` says by language why it is built as it is."""

    name: str
    note: Mapping[str, str]
    settings: Mapping[str, Any]
    definition: Definition
    length: Length

    @property
    def questions_count(self) -> int:
        return len(self.definition.questions())

    @property
    def document(self) -> dict[str, object]:
        return drafts.shown(core_definition.document_of(self.definition))


def text(name: str) -> str:
    """The file of a questionnaire. Raises NotFound."""
    if name not in NAMES:
        raise errors.NotFound("There is no such questionnaire in the library.")
    return _read(f"{name}.yaml")


@lru_cache(maxsize=len(NAMES))
def get(name: str) -> Entry:
    file = files.read(text(name), give_id=lambda kind, key: ids.derived(f"{name}:{kind}:{key}"))
    return Entry(name, notes()[name], file.settings, file.definition, length(file.definition))


def draft(
    name: str, *, new_id: Callable[[], str], default_locale: str | None, locales: Collection[str]
) -> tuple[dict[str, Any], dict[str, object]]:
    """The settings that come with a questionnaire, and its definition with ids of its own, in these languages.

    `default_locale`: None for that of the file; no `locales`: all. Raises NotFound, and Invalid for another default.
    """
    given: dict[tuple[str, str], str] = {}
    file = files.read(text(name), give_id=lambda kind, key: given.setdefault((kind, key), new_id()))
    settings, definition = file.settings, file.definition
    default = default_locale or definition.default_locale
    if default not in definition.locales:
        message = f"This questionnaire is written in {', '.join(definition.locales)}."
        raise errors.Invalid.at("/default_locale", "unknown_value", message)
    own = Texts(settings["title"], settings["description"])
    definition, own = with_languages(definition, own, default=default, kept=locales or definition.locales)
    names = {"title": own.title, "description": own.description, "key_question_id": settings["key_question_id"]}
    return names, drafts.shown(core_definition.document_of(definition))


@lru_cache(maxsize=1)
def notes() -> Mapping[str, Mapping[str, str]]:
    return yaml.safe_load(_read(NOTES))


def _read(name: str) -> str:
    return (resources.files("afterword.asking.questionnaires") / "library" / name).read_text(encoding="utf-8")


routes = Routes(tag="Questionnaires", scope="Questionnaire")


class LibraryEntry(fields.Answer):
    """A questionnaire that comes with the product."""

    library_name: str
    display_name: str
    title: str
    description: str
    note: dict[str, str]
    default_locale: str
    locales: list[str]
    questions_count: int
    length_seconds: int
    screens: int


class LibraryQuestionnaire(LibraryEntry):
    """A questionnaire of the library with all its questions."""

    definition: dict[str, Any]


@routes.get(
    "/library",
    answer=LibraryEntry,
    shape="array",
    summary="Get all questionnaires of the library",
    description="Each with a note why it is built as it is; `POST /q/questionnaire` takes its `library_name`.",
)
async def list_library(_call: Call[None], _db: Database) -> Answer:
    return Answer([LibraryEntry(**_members(get(name))) for name in NAMES])


@routes.get(
    "/library/{library_name}",
    answer=LibraryQuestionnaire,
    summary="Get questionnaire of the library",
    description="A copy has ids of its own.",
)
async def get_from_library(call: Call[None], _db: Database) -> Answer:
    entry = get(call.ids["library_name"])
    return Answer(LibraryQuestionnaire(**_members(entry), definition=entry.document))


def _members(entry: Entry) -> dict[str, Any]:
    return {
        "library_name": entry.name,
        "note": dict(entry.note),
        **{
            name: entry.settings[name] for name in ("display_name", "title", "description", "default_locale", "locales")
        },
        "questions_count": entry.questions_count,
        "length_seconds": entry.length.seconds,
        "screens": entry.length.screens,
    }
