"""Reports for the contract tests: a saved one, a deleted one, and the arguments of their stores."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from uuid import uuid4

from afterword.core.figures import periods
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import CountQuery, Scope, Span
from afterword.core.wire.times import zone_of
from afterword.listening.exports.store import VALUE_SCOPES, Export
from afterword.listening.reports.daily_counts import store
from tests.contract.wire import Wire

EARLY = datetime(2020, 1, 1, tzinfo=UTC)
LATE = datetime(2100, 1, 1, tzinfo=UTC)


async def reporting(
    wire: Wire, *, token: str, domain: str, questionnaire_id: str
) -> tuple[dict[str, str], dict[str, str]]:
    """A saved report and one that was deleted, by the names of their ids; templates are the product's."""
    document = {
        "title": "Score",
        "spec": {"questionnaire_ids": [questionnaire_id], "metrics": [{"metric": "response"}], "last_days": 7},
    }
    made: list[str] = []
    for _ in range(2):
        answer = await wire.done("POST", "/v3.2/report/custom", token=token, document=document)
        made.append(answer["report_id"])
    shared = await wire.done("POST", f"/v3.2/report/custom/{made[0]}/share", token=token, document={})
    digest = {"report_id": made[0], "frequency": "weekly", "day": 1}
    mailed = await wire.done("POST", "/v3.2/report/digest", token=token, document=digest)
    await wire.done("DELETE", f"/v3.2/report/custom/{made[1]}", token=token)
    timetable = {"title": "Files", "questionnaire_id": questionnaire_id, "destination": "folder", "path": "files"}
    scheduled = await wire.done("POST", "/v3.2/export/schedule", token=token, document=timetable)
    await wire.done("POST", f"/v3.2/export/schedule/{scheduled['schedule_id']}/run", token=token)
    written, gone = await _exports(wire, token=token, questionnaire_id=questionnaire_id)
    template_id = "nps" if domain == "demo" else f"none-of-{domain}"
    return {
        "report_id": made[0],
        "template_id": template_id,
        "export_id": written,
        "schedule_id": scheduled["schedule_id"],
        "share_id": shared["share_id"],
        "digest_id": mailed["digest_id"],
    }, {
        "report_id": made[1],
        "export_id": gone,
    }


async def _exports(wire: Wire, *, token: str, questionnaire_id: str) -> tuple[str, str]:
    """An export that waits, and one that was cancelled and removed."""
    made: list[str] = []
    for _ in range(2):
        path = f"/v3.2/q/questionnaire/{questionnaire_id}/export"
        answer = await wire.done("POST", path, token=token, document={"format": "csv"})
        made.append(answer["export_id"])
    for _ in range(2):
        await wire.done("DELETE", f"/v3.2/q/export/{made[1]}", token=token)
    return made[0], made[1]


def arguments(theirs: Mapping[str, str]) -> dict[str, Any]:
    """Arguments of the stores of reports, all about their questionnaire."""
    questionnaire_id, question_id = theirs["questionnaire_id"], theirs["question_id"]
    day = date(2026, 11, 20)
    return {
        "owner": uuid4(),
        "after": None,
        "export": Export(
            **{  # pyrefly: ignore[bad-argument-type]
                **dict.fromkeys(Export.__struct_fields__),
                "organization_id": theirs["organization_id"],
                "questionnaire_id": questionnaire_id,
                "test": False,
                "date_basis": "submitted",
                "include_incomplete": True,
                "include_recipient": True,
                "scopes": VALUE_SCOPES,
                "started_time": LATE,
            }
        ),
        "asked": CountQuery(
            organization_id=theirs["organization_id"],
            questionnaire_ids=(questionnaire_id,),
            period=Period(EARLY, LATE, "UTC"),
            buckets=(EARLY.date(),),
            basis="submitted",
            zone="UTC",
            questions={question_id: question_id},
        ),
        "scope": Scope([Span(questionnaire_id, EARLY, LATE)]),
        "outcome_question_id": question_id,
        "question_ids": [question_id],
        "from_time": EARLY,
        "offset": 0,
        "span": store.Span(theirs["organization_id"], questionnaire_id, "", 1, "UTC", day, EARLY),
        "whole": [periods.days(day, date(2026, 11, 21), zone_of("UTC"))],
        "days": periods.days(day, date(2026, 11, 21), zone_of("UTC")),
        "hours": None,
    }
