"""The context of a report: the questions of its questionnaires and the settings of its organization."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from afterword import errors
from afterword.asking.questionnaires import metadata, store as questionnaires_store
from afterword.core.figures.queries import ReportContext, ReportQuery
from afterword.core.organizations.access import VALUE_SCOPES, Caller
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.findings import Findings
from afterword.kit.db import Database
from afterword.tenants.organizations import service as organizations

VERSIONS_MAX: Final = 500  # the newest ones, whose questions a report knows


async def load_context(
    db: Database,
    *,
    caller: Caller,
    query: ReportQuery,
    findings: Findings,
    known: Mapping[str, str] = MappingProxyType({}),
) -> ReportContext:
    """Load the questions of these questionnaires; unknown or inaccessible ones are errors. Raises Invalid.

    `known`: questionnaires that the caller reaches, each with its application; others are looked up.
    """
    owners = await check_questionnaires(db, caller=caller, query=query, findings=findings, known=known)
    owners = {each: owners[each] for each in query.questionnaire_ids}
    found = await context_of(db, organization_id=caller.organization_id, owners=owners)
    unread = frozenset(kind for kind, scope in VALUE_SCOPES.items() if scope not in caller.scopes)
    return replace(found, test=caller.test, protected=not caller.reads_answers, unread=unread, only=caller.only)


async def check_questionnaires(
    db: Database,
    *,
    caller: Caller,
    query: ReportQuery,
    findings: Findings,
    known: Mapping[str, str] = MappingProxyType({}),
) -> Mapping[str, str]:
    """The application of each. Raises Invalid for inaccessible ones. `known`: as of `load_context`."""
    owners = known
    if not known.keys() >= {*query.questionnaire_ids}:
        owners = await questionnaires_store.list_owners(
            db, **caller.part, questionnaire_ids=query.questionnaire_ids, limit=len(query.questionnaire_ids)
        )
    for index, questionnaire_id in enumerate(query.questionnaire_ids):
        if questionnaire_id not in owners:
            findings.error(f"questionnaire_ids/{index}", "unknown_id", "There is no such questionnaire.")
    findings.check()
    return owners


async def context_of(db: Database, *, organization_id: str, owners: Mapping[str, str]) -> ReportContext:
    found = await organizations.get_organization(db, organization_id=organization_id)
    organization = errors.found(found, "There is no such organization.")
    version_ids = await questionnaires_store.list_version_ids(
        db, organization_id=organization_id, questionnaire_ids=list(owners), limit=VERSIONS_MAX
    )
    declared = [
        await metadata.declared(db, organization_id=organization_id, application_id=each)
        for each in sorted(set(owners.values()))
    ]
    questions, together = await questions_of(db, organization_id=organization_id, version_ids=version_ids)
    return ReportContext(
        organization_id=organization_id,
        time_zone=organization.time_zone,
        minimum_base=organization.minimum_base,
        first_weekday=organization.first_weekday,
        questions=questions,
        together=together,
        declared=declared,
    )


async def questions_of(
    db: Database, *, organization_id: str, version_ids: Sequence[str]
) -> tuple[dict[str, Question], Sequence[AbstractSet[str]]]:
    """The questions of versions by id, each as the first of them has it, with the choices that others had.

    And the ids of those that each version asks.
    """
    found: dict[str, Question] = {}
    together: list[AbstractSet[str]] = []
    for version_id in version_ids:
        version = await questionnaires_store.get_version(db, organization_id=organization_id, version_id=version_id)
        questions = version.definition.questions()
        together.append({each.question_id for each in questions})
        for question in questions:
            newer = found.setdefault(question.question_id, question)
            if newer.choices != question.choices:
                found[question.question_id] = newer.naming(question)
    return found, together
