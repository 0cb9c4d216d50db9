"""Custom reports: saved, changed, pinned and deleted. `spec` is stored as it was checked when it was saved."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Annotated, Any, Final, LiteralString, Unpack

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.core.figures import templates
from afterword.core.organizations.access import Caller, Part, values_of
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Computed, Editable, Hidden, Noun, Record
from afterword.kit.nouns.structs import changes_as
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Call
from afterword.listening.reports import results
from afterword.listening.reports.resources import ReportSpec, SpecShown, document_of
from afterword.tenants.organizations import checks

PINS_MAX: Final = 4  # of an organization: the overview runs them all


def _document(spec: ReportSpec | Mapping[str, Any]) -> Mapping[str, Any]:
    return document_of(spec) if isinstance(spec, ReportSpec) else spec


class CustomReport(Record, kw_only=True):
    """A saved report."""

    report_id: fields.Id
    application_id: Annotated[fields.Id | None, Editable(once=True)] = None
    title: Annotated[fields.Text200, Editable()]
    description: Annotated[fields.Text2000 | None, Editable()] = None
    spec: Annotated[dict[str, Any], Editable(wire=ReportSpec, shown=SpecShown, write=_document)]
    questionnaire_ids: Annotated[list[str], Hidden()]
    pinned: Annotated[fields.Computed[bool], Computed(sql="t.pinned_time is not null")]
    pinned_time: Annotated[datetime | None, Hidden()]

    @property
    def has_texts(self) -> bool:
        """Whether it shows parts of answers, which leave the console neither by a link nor by mail."""
        return self.spec.get("template_id") == templates.COMMENTS


class CustomReportRequest(fields.Request):
    """A report to be saved."""

    title: fields.Text200
    spec: ReportSpec
    description: fields.Text2000 | None = None
    application_id: fields.Id | None = None


ABOUT_UPDATE: Final = "The members of a report that may change; the spec as a whole."
PINNED: Final = {"pinned": (bool | UnsetType, UNSET)}
CustomReportUpdate: Final = changes_as(
    "CustomReportUpdate", CustomReport, base=fields.Request, about=ABOUT_UPDATE, more=PINNED
)


async def _check(change: Change[CustomReport]) -> None:
    """Raise Invalid, with pointers into /spec, for a report that cannot be run, and for one pin too many."""
    db, caller, columns = change.db, change.caller, change.columns
    if columns.get("application_id") is not None:
        errors.check(await checks.reach_errors(db, caller=caller, application_id=columns["application_id"]))
    if columns.pop("pinned", None) is not None:
        columns["pinned_time"] = None if change.row.pinned else change.now
        if not change.row.pinned and await _count_pinned(db, organization_id=caller.organization_id) >= PINS_MAX:
            message = f"{PINS_MAX} reports are pinned at most: unpin another one."
            raise errors.Invalid.at("/pinned", "too_many", message)
    if "spec" in columns:
        await results.planned(db, caller=caller, spec=columns["spec"], now=change.now)
        columns["questionnaire_ids"] = columns["spec"]["questionnaire_ids"]


async def _show(call: Call[Any], _db: Database, reports: Sequence[CustomReport]) -> list[Mapping[str, Any]]:
    return [{"spec": _spec_of(report, call.zone)} for report in reports]


def _spec_of(report: CustomReport, zone: tzinfo) -> SpecShown:
    """All members; its times in the organization's zone, as all others."""
    spec = dict(report.spec)
    for name in ("from_time", "to_time"):
        spec[name] = spec[name] and times.format_time(datetime.fromisoformat(spec[name]), zone=zone)
    return msgspec.convert(spec, SpecShown)


# None of its own or its questionnaires' applications is out of reach.
_VISIBLE: Final[LiteralString] = """(cardinality($2::text[]) = 0 or (
    coalesce(t.application_id = any($2), true) and not exists (
      select from questionnaire q where q.organization_id = t.organization_id
        and q.questionnaire_id = any(t.questionnaire_ids) and q.owner_application_id <> all($2))))"""

REPORT = Noun(
    record=CustomReport,
    table="custom_report",
    one="custom report",
    many="custom reports",
    tag="Reports",
    path="/report/custom",
    scope="Report",
    about_create="A report to be saved.",
    about_update=ABOUT_UPDATE,
    summaries={
        "create": "Create a custom report",
        "get": "Get a custom report",
        "update": "Update a custom report",
        "delete": "Delete a custom report",
    },
    about={
        "create": "A spec that cannot be run is refused, with pointers into it.",
        "update": "The spec is replaced as a whole.",
    },
    shape="envelope",
    for_limited="free",
    shows_organization=True,
    visible=_VISIBLE,
    most=1_000,
    filled=("questionnaire_ids",),
    filled_later=("questionnaire_ids", "pinned_time"),
    lock="for update",
    check=_check,
    show=_show,
)
routes = routes_of(REPORT)
_BODIES: Final = {"POST": CustomReportRequest, "PATCH": CustomReportUpdate}  # also pinned later
routes.all = [replace(one, body=_BODIES.get(one.method)) for one in routes.all]


async def get(db: Database, *, caller: Caller, report_id: str, is_locked: bool = False) -> CustomReport:
    return await nouns.get(REPORT, db, caller=caller, key=report_id, is_locked=is_locked)


_COLUMNS_T: Final[LiteralString] = qualified(columns_of(CustomReport, without={"pinned"}), "t")


async def list_pinned_reports(db: Database, **part: Unpack[Part]) -> list[CustomReport]:
    return await db.records(CustomReport).fetch(
        f"""select {_COLUMNS_T}, true as pinned from custom_report t
            where t.organization_id = $1 and {_VISIBLE} and t.pinned_time is not null
            order by t.pinned_time, t.report_id limit $3""",
        *(*values_of(part), PINS_MAX),
    )


async def _count_pinned(db: Database, *, organization_id: str) -> int:
    return await db.fetch_value(
        "select count(*) from custom_report where organization_id = $1 and pinned_time is not null", organization_id
    )
