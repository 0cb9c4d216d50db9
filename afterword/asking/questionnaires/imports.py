"""Imports of other systems' questionnaires: a file becomes a draft, with which the report of the import stays."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec.structs import asdict, replace

from afterword.asking.questionnaires import files, service
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core import foreign
from afterword.core.foreign.parts import Line
from afterword.core.organizations.access import Caller
from afterword.errors import Sentence
from afterword.kit.db import Database

NAME_CHARACTERS_MAX: Final = 200
_TEXTS: Final = ("title", "description")


class ForeignFile(msgspec.Struct, frozen=True):
    """A file as a file of ours, and its report. `format`: the name of the other system."""

    format: str
    text: str
    lines: Sequence[Line]

    @property
    def summary(self) -> foreign.Summary:
        return foreign.Summary.of(self.lines)


def read(content: bytes, *, name: str) -> ForeignFile:
    """Make a file of ours of it; `name`: of the new questionnaire, else its title or the other system has it.

    For a thread of its own. Raises TooLarge, Malformed, Invalid.
    """
    form, made = foreign.read(content)
    texts = {each: made.document.pop(each, None) for each in _TEXTS}
    display_name = (name.strip() or texts["title"] or form.label)[:NAME_CHARACTERS_MAX].strip()
    return ForeignFile(form.label, files.written({"display_name": display_name, **texts}, made.document), made.lines)


async def create(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    file: ForeignFile,
    now: datetime,
    slug: str | None = None,
    actor: Caller | None = None,
) -> tuple[Questionnaire, list[Line]]:
    """A new questionnaire with a draft that nobody has published, and its report with ids in place of keys.

    Raises NotFound, Conflict for a `slug` that is taken.
    """
    questionnaire, id_of = await service.create_from_file(
        db,
        organization_id=organization_id,
        application_id=application_id,
        text=file.text,
        slug=slug,
        now=now,
        actor=actor,
    )
    lines = [
        replace(one, key=id_of("ending" if one.kind == "ending" else "question", one.key) if one.key else "")
        for one in file.lines
    ]
    document = {"format": file.format, "lines": [_document_of(one) for one in lines]}
    await _update_report(db, **questionnaire.key, document=document)
    return questionnaire, lines


def _document_of(line: Line) -> dict[str, Any]:
    said = [{"text": one.text, "values": dict(one.values)} for one in line.sentences]
    return {**asdict(line), "sentences": said}


def _line_of(document: Mapping[str, Any]) -> Line:
    members: dict[str, Any] = dict(document)
    members["sentences"] = tuple(Sentence(one["text"], **one["values"]) for one in document["sentences"])
    return Line(**members)


async def _update_report(
    db: Database, *, organization_id: str, questionnaire_id: str, document: Mapping[str, Any]
) -> None:
    await db.execute(
        "update questionnaire_draft set import_report = $3 where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id, document),
    )


async def get_format(db: Database, *, organization_id: str, questionnaire_id: str) -> str | None:
    """The name of the other system; None for a draft that was begun here."""
    return await db.fetch_value(
        """select import_report ->> 'format' from questionnaire_draft
           where organization_id = $1 and questionnaire_id = $2""",
        *(organization_id, questionnaire_id),
    )


async def get_lines(db: Database, *, organization_id: str, questionnaire_id: str) -> list[Line]:
    """The report of a draft that another system's file became."""
    found = await db.fetch_value(
        """select import_report -> 'lines' from questionnaire_draft
           where organization_id = $1 and questionnaire_id = $2""",
        *(organization_id, questionnaire_id),
    )
    return [_line_of(one) for one in found or ()]
