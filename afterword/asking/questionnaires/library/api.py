"""The HTTP interface of the library: questionnaires to begin with."""

from typing import Any

from afterword.asking.questionnaires.library import service
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

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
    return Answer([LibraryEntry(**_members(service.get(name))) for name in service.NAMES])


@routes.get(
    "/library/{library_name}",
    answer=LibraryQuestionnaire,
    summary="Get questionnaire of the library",
    description="A copy has ids of its own.",
)
async def get_from_library(call: Call[None], _db: Database) -> Answer:
    entry = service.get(call.ids["library_name"])
    return Answer(LibraryQuestionnaire(**_members(entry), definition=entry.document))


def _members(entry: service.Entry) -> dict[str, Any]:
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
