"""Exports of questionnaires for other systems: a file for each, and the report of what the file cannot hold."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.asking.questionnaires import files, service
from afterword.core.foreign import limesurvey_written, surveyjs_written
from afterword.core.foreign.exports import Source, Written
from afterword.core.foreign.parts import Line
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.core.reading.findings import Findings
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Download, Routes

Name = Literal["limesurvey", "surveyjs"]
PATH: Final = "/q/questionnaire/{questionnaire_id}/file"


class Target(msgspec.Struct, frozen=True):
    """A system that reads our questionnaires. `ending`: of the names of its files."""

    label: str
    media_type: str
    ending: str
    write: Callable[[Source], Written]


TARGETS: Final[Mapping[Name, Target]] = {
    "limesurvey": Target(limesurvey_written.LABEL, "application/xml", "lss", limesurvey_written.written),
    "surveyjs": Target(surveyjs_written.LABEL, "application/json", "json", surveyjs_written.written),
}


async def written(db: Database, *, caller: Caller, questionnaire_id: str, name: Name) -> Written:
    """The file of its draft, or of its published version where no draft was begun. Raises NotFound."""
    questionnaire, document = await service.newest(db, caller=caller, questionnaire_id=questionnaire_id)
    document = errors.found(document, "This questionnaire has neither a published version nor a draft.")
    definition = files.sound(core_definition.read(document, Findings()))
    source = Source(definition, questionnaire.own_texts, questionnaire.display_name)
    return await asyncio.to_thread(TARGETS[name].write, source)


async def download(db: Database, *, caller: Caller, questionnaire_id: str, name: Name | None) -> Download:
    """The file for another system, or for None our own. Raises NotFound."""
    if name is None:
        text = await service.written(db, caller=caller, questionnaire_id=questionnaire_id)
        return Download.of(f"{files.MEDIA_TYPE}; charset=utf-8", f"{questionnaire_id}.yaml", text.encode())
    made = await written(db, caller=caller, questionnaire_id=questionnaire_id, name=name)
    target = TARGETS[name]
    return Download.of(f"{target.media_type}; charset=utf-8", f"{questionnaire_id}.{target.ending}", made.content)


class FileQuery(fields.Request):
    """The system that the file is for."""

    format: Annotated[
        Literal["afterword", "limesurvey", "surveyjs"],
        Meta(description="`limesurvey` gives an `.lss` file of LimeSurvey 5 to 7, `surveyjs` JSON of SurveyJS."),
    ] = "afterword"


class FileReportQuery(fields.Request):
    """The other system."""

    format: Name = "limesurvey"


class FileLine(fields.Answer):
    """The fate of one thing of a file."""

    kind: Literal["question", "condition", "ending", "text", "setting"]
    outcome: Literal["taken", "changed", "left_out"]
    whole: bool
    place: str
    title: str
    sentences: list[str]

    @classmethod
    def of(cls, line: Line) -> "FileLine":
        return cls(line.kind, line.outcome, line.whole, line.place, line.title, [*map(str, line.sentences)])


class QuestionnaireFileReport(fields.Answer):
    """The report of a file for another system, by the things that it cannot hold."""

    format: Annotated[str, Meta(description="The name of the other system.")]
    lines: Annotated[list[FileLine], Meta(description="None where the file holds everything.")]


routes = Routes(tag="Questionnaires")


@routes.get(
    PATH,
    scope="Questionnaire.Read",
    answer=None,
    query=FileQuery,
    media_types=(files.MEDIA_TYPE, *(one.media_type for one in TARGETS.values())),
    summary="Get questionnaire as a file",
    description=(
        "The YAML file of its draft, or of its published version. `file` of a new questionnaire takes it. "
        "`format` gives a file for another system."
    ),
)
async def get_questionnaire_file(call: Call[None], db: Database) -> Answer:
    query: FileQuery = call.query
    name: Name | None = None if query.format == "afterword" else query.format
    return Answer(download=await download(db, caller=call.caller, **call.ids, name=name))


@routes.get(
    f"{PATH}/report",
    scope="Questionnaire.Read",
    query=FileReportQuery,
    answer=QuestionnaireFileReport,
    summary="Get what a questionnaire file cannot hold",
    description="The things that the file for another system lacks, or has differently, and why.",
)
async def get_questionnaire_file_report(call: Call[None], db: Database) -> Answer:
    query: FileReportQuery = call.query
    made = await written(db, caller=call.caller, **call.ids, name=query.format)
    return Answer(QuestionnaireFileReport(TARGETS[query.format].label, [*map(FileLine.of, made.lines)]))
