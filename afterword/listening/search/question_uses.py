"""Finds the uses of a question: in its questionnaire, in alerts, in sequences and in saved reports."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, Unpack

from msgspec import Meta

from afterword import errors
from afterword.asking.questionnaires import access, drafts, files
from afterword.core.organizations.access import Caller, Part, values_of
from afterword.core.questionnaires import definition as core_definition, endings
from afterword.core.questionnaires.flow import used_by_endings, used_by_jumps, used_to_show
from afterword.core.reading.findings import Findings
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes


class QuestionUse(fields.Answer, kw_only=False):
    """A place where a question is used."""

    kind: Annotated[
        Literal["key_question", "show_if", "jump", "ending", "alert", "sequence", "report"],
        Meta(
            description="Where: `jump` is another question, or the same, whose jumps lead to it or ask for it; "
            "`show_if` one that is shown by its answer, `ending` an ending that asks for it."
        ),
    ]
    id: Annotated[str, Meta(description="The id of the questionnaire, question, ending, alert, sequence or report.")]
    title: Annotated[str, Meta(description="Its title.")]


async def _list_question_uses(db: Database, *, question_ids: Sequence[str], **part: Unpack[Part]) -> list[QuestionUse]:
    """The alerts, sequences and saved reports that name any of the questions, of these applications (none: all)."""
    return await db.records(QuestionUse).fetch(
        """select kind, id, title from (
             select 'alert' as kind, alert_id as id, title, created_time from alert
             where organization_id = $1 and deleted_time is null and conditions::text like any($3)
               and (cardinality($2::text[]) = 0 or application_id = any($2))
             union all
             select 'sequence', s.sequence_id, s.title, s.created_time from sequence s
             join questionnaire q on q.organization_id = $1 and q.questionnaire_id = s.from_questionnaire_id
             where s.organization_id = $1 and s.conditions::text like any($3)
               and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
             union all
             select 'report', r.report_id, r.title, r.created_time from custom_report r
             where r.organization_id = $1 and r.spec::text like any($3)
               and (cardinality($2::text[]) = 0 or not exists (
                 select from questionnaire q where q.organization_id = $1
                   and q.questionnaire_id = any(r.questionnaire_ids) and q.owner_application_id <> all($2)))) found
           order by kind, created_time desc, id limit $4""",
        *(*values_of(part), [f"%{each}%" for each in question_ids], USES_MAX),
    )


SCOPES: Final = {"alert": "Alert.Read", "sequence": "Sequence.Read", "report": "Report.Read"}
USES_MAX: Final = 200


async def find(db: Database, *, caller: Caller, questionnaire_id: str, question_id: str) -> list[QuestionUse]:
    """Alerts, sequences and reports where the caller may read them. Raises NotFound for a question of no edition."""
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    draft = await drafts.get_draft_record(db, **questionnaire.key)
    edition = await files.find(db, questionnaire=questionnaire)
    definitions = [files.sound(core_definition.read(draft.definition, Findings()))] if draft else []
    definitions += [edition.definition] if edition else []
    found = [each for each in definitions if each.question(question_id) is not None]
    if not found:
        raise errors.NotFound("There is no such question.")
    definition = found[0]
    uses: list[QuestionUse] = []
    if questionnaire.key_question_id == question_id:
        uses.append(QuestionUse("key_question", questionnaire_id, questionnaire.display_name))
    for kind, using in (("show_if", used_to_show), ("jump", used_by_jumps)):
        asking = map(definition.question, using(definition, question_id))
        uses += [QuestionUse(kind, question.question_id, question.plain_title) for question in asking if question]
    used = used_by_endings(definition, question_id)
    uses += [QuestionUse("ending", one.ending_id, endings.name_of(one)) for one in used]
    return uses + await elsewhere(db, caller=caller, question_ids=[question_id])


async def elsewhere(db: Database, *, caller: Caller, question_ids: Sequence[str]) -> list[QuestionUse]:
    """The alerts, sequences and saved reports that name any of the questions, where the caller may read them."""
    found = await _list_question_uses(db, **caller.part, question_ids=question_ids)
    return [use for use in found if SCOPES[use.kind] in caller.scopes]


routes = Routes(tag="Questions", scope="Question")


@routes.get(
    "/q/questionnaire/{questionnaire_id}/question/{question_id}/use",
    answer=QuestionUse,
    shape="array",
    summary="Get uses of a question",
    description=(
        "In the draft, else the published version; and the alerts, sequences and saved reports that name it, each kind "
        "with the scope of its list: Alert.Read, Sequence.Read, Report.Read. At most 200."
    ),
)
async def list_uses(call: Call[None], db: Database) -> Answer:
    return Answer(await find(db, caller=call.caller, **call.ids))
