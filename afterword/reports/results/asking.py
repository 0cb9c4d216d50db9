"""Checks a report's query against its questionnaires; all errors are named at once.

Places are paths in a custom report's spec (`metrics/0/question_id`); a template's parameters have names of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import errors
from afterword.core.figures import disclosure, periods
from afterword.core.figures import reports as core_reports
from afterword.core.figures.metrics import LEVEL_DEFAULT
from afterword.core.figures.periods import Bucket, Compare, Period
from afterword.core.figures.reports import NUMERIC, TYPE_OF, Basis, RequestedMetric
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import condition_reader
from afterword.core.questionnaires.condition_reader import Kind, Scope
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.findings import Findings
from afterword.db import Database
from afterword.organizations import store as organizations_store
from afterword.organizations.store import Organization
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.metadata import service as metadata
from afterword.reports.counts.service import subjects_of

VERSIONS_MAX: Final = 500  # whose questions are known; older ones are not asked any more


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportQuery:
    """A report as it is asked for. Without `date_basis` answers count by their first answer, cases by going out."""

    questionnaire_ids: tuple[str, ...]
    metrics: tuple[tuple[str, str | None], ...] = ()
    group_by: tuple[str, ...] = ()
    bucket: Bucket | None = None
    filter: object = None
    from_time: datetime | None = None
    to_time: datetime | None = None
    last_days: int | None = None
    date_basis: Basis | None = None
    time_zone: str | None = None
    compare: Compare = "none"
    level: float = LEVEL_DEFAULT

    def basis(self, *, is_of_cases: bool) -> Basis:
        """By which of its times a response, or a case, counts."""
        return self.date_basis or ("sent" if is_of_cases else "submitted")

    @property
    def basis_shown(self) -> Basis:
        """The one for all of it; where answers and cases stand side by side, that of the answers."""
        return self.basis(
            is_of_cases=bool(self.metrics) and all(RequestedMetric(metric).is_of_cases for metric, _ in self.metrics)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContext:
    """The questions of a report's questionnaires by id, the newest version first."""

    organization: Organization
    questions: Mapping[str, Question]
    declared: Sequence[Declared]
    test: bool = False
    protected: bool = False  # asked by a reader of figures alone

    @property
    def minimum_base(self) -> int:
        """The smallest group that a table shows; 0 where small groups are left out before."""
        return 0 if self.protected else self.organization.minimum_base

    @property
    def types(self) -> dict[str, Any]:
        """The declared types by subject; of applications that differ, any."""
        found: dict[str, Any] = {}
        for declared in self.declared:
            for subject, kind in declared.types.items():
                found[subject] = kind if found.get(subject, kind) == kind else "any"
        return found

    def of_types(self, *types: str) -> tuple[str, ...]:
        """The questions of these types, in order."""
        return tuple(each for each, question in self.questions.items() if question.type in types)


async def learn(db: Database, *, caller: Caller, questionnaire_ids: Sequence[str], wrong: Findings) -> ReportContext:
    """Load the questions of these questionnaires; unknown or inaccessible ones are errors. Raises Invalid."""
    organization_id = caller.organization_id
    owners = await questionnaires_store.list_owners(
        db,
        organization_id=organization_id,
        questionnaire_ids=questionnaire_ids,
        application_ids=caller.application_ids,
        limit=len(questionnaire_ids),
    )
    for index, questionnaire_id in enumerate(questionnaire_ids):
        if questionnaire_id not in owners:
            wrong.error(f"questionnaire_ids/{index}", "unknown_id", "There is no such questionnaire.")
    wrong.check()
    owners = {each: owners[each] for each in questionnaire_ids}
    found = await known(db, organization_id=organization_id, owners=owners)
    return replace(found, test=caller.test, protected=not caller.reads_answers)


async def known(db: Database, *, organization_id: str, owners: Mapping[str, str]) -> ReportContext:
    """The same for questionnaires and their applications that are known to be there."""
    organization = await organizations_store.get_organization(db, organization_id=organization_id)
    if organization is None:
        raise errors.NotFound("There is no such organization.")
    definitions = await questionnaires_store.list_version_definitions(
        db, organization_id=organization_id, questionnaire_ids=list(owners), limit=VERSIONS_MAX
    )
    questions: dict[str, Question] = {}
    for definition in definitions:
        for question in definition.questions():
            questions.setdefault(question.question_id, question)
    declared = [
        await metadata.declared(db, organization_id=organization_id, application_id=each)
        for each in sorted(set(owners.values()))
    ]
    return ReportContext(organization=organization, questions=questions, declared=declared)


def period_of(ask: ReportQuery, known: ReportContext, *, now: datetime, wrong: Findings) -> Period:
    """The time that it is about: up to now and the last 30 days, where nothing else is given."""
    zone = ask.time_zone or known.organization.time_zone
    to_time = ask.to_time or now
    days = ask.last_days or periods.DAYS_DEFAULT
    from_time = ask.from_time or to_time - timedelta(days=days)
    if from_time >= to_time:
        wrong.error("to_time", "out_of_range", "It must be after from_time.")
    elif to_time - from_time > timedelta(days=periods.DAYS_MAX + 1):
        wrong.error("from_time", "out_of_range", f"A report covers {periods.DAYS_MAX:,} days at most.")
    return Period(from_time, to_time, zone)


def condition_of(ask: ReportQuery, known: ReportContext, *, wrong: Findings) -> Node | None:
    """The filter, read with all questions, metadata and tags."""
    kinds: dict[str, Kind] = {
        key: kind for question in known.questions.values() for key, kind in question.kinds.items()
    }
    scope = Scope(questions=kinds, metadata=known.types, undeclared="text", tags=True)
    return condition_reader.read(ask.filter, "filter", wrong, scope)


def wanted_of(ask: ReportQuery, known: ReportContext, *, wrong: Findings) -> tuple[RequestedMetric, ...]:
    """The metrics, each with the questions that it is about: the one that is named, else all of its type."""
    return tuple(
        _wanted(metric, question_id, known, path=f"metrics/{index}", wrong=wrong)
        for index, (metric, question_id) in enumerate(ask.metrics)
    )


def check_groups(ask: ReportQuery, known: ReportContext, *, wrong: Findings) -> None:
    """Check the groups: known kinds, questions with few values, nothing twice, a bucket where needed."""
    for index, text in enumerate(ask.group_by):
        path, group = f"group_by/{index}", core_reports.read_group(text)
        if text == core_reports.EACH_QUESTION:
            continue
        if group is None:
            wrong.error(path, "unknown_value", _GROUPS)
        elif text in ask.group_by[:index]:
            wrong.error(path, "exclusive", "It stands twice.")
        elif group[0] == "question" and group[1] not in known.questions:
            wrong.error(path, "unknown_id", "None of these questionnaires asks such a question.")
        elif group[0] == "question" and known.questions[group[1]].type not in core_reports.GROUPING:
            wrong.error(path, "unknown_value", "Only questions with one of a few values can be grouped by.")
    if ask.bucket is None and "bucket" in ask.group_by:
        wrong.error("bucket", "required", "Say by day, week, month or quarter.")


def require_question(
    question_id: str | None, known: ReportContext, *, path: str, types: frozenset[str], wrong: Findings
) -> None:
    """A question that is asked, of one of these types."""
    if question_id is None:
        wrong.error(path, "required", "A question is required.")
    elif question_id not in known.questions:
        wrong.error(path, "unknown_id", "None of these questionnaires asks such a question.")
    elif known.questions[question_id].type not in types:
        wrong.error(path, "unknown_value", f"A question of the type {', '.join(sorted(types))} is expected.")


def scope_ask(ask: ReportQuery, known: ReportContext, *, now: datetime, wrong: Findings) -> tuple[Period, Node | None]:
    """Period and filter, with everything that is wrong; raises Invalid."""
    period, condition = period_of(ask, known, now=now, wrong=wrong), condition_of(ask, known, wrong=wrong)
    if known.protected:
        _check_protected(ask, known, condition, wrong=wrong)
    wrong.check()
    return (periods.whole_months(period, now=now) if known.protected else period), condition


def document_of(ask: ReportQuery) -> dict[str, Any]:
    """The query as a result shows it; members without value are left out, times are the period's."""
    metrics = [
        {
            "metric": metric,
            "question_id": question_id,
            "date_basis": ask.basis(is_of_cases=RequestedMetric(metric).is_of_cases),
        }
        for metric, question_id in ask.metrics
    ]
    found: dict[str, Any] = {
        "questionnaire_ids": list(ask.questionnaire_ids),
        "metrics": metrics,
        "group_by": list(ask.group_by),
        "bucket": ask.bucket if "bucket" in ask.group_by else None,
        "date_basis": ask.basis_shown,
        "filter": ask.filter,
        "compare": ask.compare,
        "level": ask.level,
    }
    return {name: value for name, value in found.items() if value not in (None, [])}


PROTECTED: Final = "Without the scope “Questionnaire Instance.Read” "


def _check_protected(ask: ReportQuery, known: ReportContext, condition: Node | None, *, wrong: Findings) -> None:
    """Refuse a second way to ask the same: the difference of two ways is a small group."""
    defaults = {
        ReportQuery.basis(replace(ask, date_basis=None), is_of_cases=RequestedMetric(each).is_of_cases)
        for each, _ in ask.metrics
    }
    if ask.date_basis and (defaults or {"submitted"}) != {ask.date_basis}:
        wrong.error("date_basis", "unknown_value", f"{PROTECTED}scores count by submitted, invitations by sent.")
    if (ask.time_zone or known.organization.time_zone) != known.organization.time_zone:
        wrong.error("time_zone", "unknown_value", f"{PROTECTED}the organization's time zone is used.")
    if "bucket" in ask.group_by and ask.bucket in {"day", "week"}:
        wrong.error("bucket", "unknown_value", f"{PROTECTED}month or quarter is expected.")
    subjects = subjects_of(condition)
    for subject in subjects:
        kind, _, name = subject.partition(":")
        question = known.questions.get(name)
        if not kind.endswith("_metadata") and (question is None or question.type not in core_reports.GROUPING):
            message = f"{PROTECTED}a filter compares metadata, and questions with one of a few values."
            wrong.error("filter", "unknown_value", message)
    attributes = {*core_reports.dimensions(ask.group_by), *(core_reports.read_group(each) for each in subjects)}
    if len(attributes) > disclosure.ATTRIBUTES_MAX:
        message = f"{PROTECTED}groups and filter together have {disclosure.ATTRIBUTES_MAX} attributes at most."
        wrong.error("filter" if subjects else "group_by", "too_many", message)


_GROUPS: Final = (
    "bucket, questionnaire, version, channel, locale, question:{id}, questionnaire_metadata:{name} or "
    "responder_metadata:{name} is expected."
)


def _wanted(
    metric: str, question_id: str | None, known: ReportContext, *, path: str, wrong: Findings
) -> RequestedMetric:
    want = RequestedMetric(metric)
    if want.is_of_cases:
        if question_id is not None:
            wrong.error(f"{path}/question_id", "exclusive", "This metric is about invitations, not a question.")
        return want
    types = frozenset({TYPE_OF[metric]}) if metric in TYPE_OF else NUMERIC
    if question_id is None and metric in TYPE_OF:
        question_ids = known.of_types(TYPE_OF[metric])
    else:
        require_question(question_id, known, path=f"{path}/question_id", types=types, wrong=wrong)
        question_ids = (question_id or "",)
    scales = {core_reports.scale_of(known.questions.get(each)) for each in question_ids}
    return RequestedMetric(metric, frozenset(question_ids), scales.pop() if len(scales) == 1 else None)
