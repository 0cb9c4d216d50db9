"""Reads the questionnaires of the library: a YAML file each, and the notes."""

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
