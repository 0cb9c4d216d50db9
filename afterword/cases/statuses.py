"""Statuses of cases: the four of the product, which every organization has, and its own."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from afterword import errors
from afterword.cases import rules
from afterword.cases.alert_instances import service as alert_instances
from afterword.cases.resources import Color, Description500, Position, StatusId
from afterword.core.messaging.alerts import STATUS_NEW, STATUSES_MAX
from afterword.core.organizations.access import Caller
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import OF_APPLICATION, Change, Computed, Editable, Noun, Record, Screens
from afterword.kit.nouns.service import check_application, is_of_all
from afterword.kit.texts import Marked, Texts
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType

SYSTEM_TITLES: Final[Mapping[int, Marked]] = {1: "New", 2: "In progress", 3: "Closed", 4: "Dismissed"}


class StatusInUse(errors.Conflict):
    code_default = "in_use"


class AlertStatusDeletion(fields.Request):
    """The status for the alerts and cases that have the deleted one."""

    move_to: Annotated[StatusId | UnsetType, Editable("Their status from now on", "", "choice")] = UNSET


class AlertStatus(Record, kw_only=True):
    """The status of a case. `closing`: a case in it is done. `system`: the product's own, which cannot be changed."""

    status_id: int
    title: Annotated[fields.Text100, Editable("Title")]
    description: Annotated[Description500 | None, Editable("Description", "For your colleagues.", "area")] = None
    color: Annotated[Color, Editable("Colour", "Such as #005d69.", holds="fixed")]
    closing: Annotated[bool, Editable("A case with it is closed", "", "switch")] = False
    application_id: Annotated[fields.Id | None, Editable(once=True)] = None
    position: Annotated[Position, Editable("Place in the list", "The lowest number comes first.", "number")] = 0
    system: Annotated[bool, Computed(sql="t.status_id < 100")]


async def _claim_number(change: Change[AlertStatus]) -> int:
    """The next number from 100; other transactions wait until this one commits."""
    return await change.db.fetch_value(
        """insert into alert_status_number as n (organization_id, last_status_id) values ($1, 100)
           on conflict (organization_id) do update set last_status_id = n.last_status_id + 1
           returning last_status_id""",
        change.caller.organization_id,
    )


def _fixed(caller: Caller, status: AlertStatus) -> errors.Refusal | None:
    if status.system:
        return errors.Conflict("This status belongs to the product and stays as it is.", "system_status")
    return is_of_all(caller, status.application_id)


async def _check(change: Change[AlertStatus]) -> None:
    if change.before is None:
        await check_application(change)
    elif "closing" in change.columns and await _get_is_used(change):
        message = "Alerts or cases have this status; whether it closes cases can only change while none has."
        raise errors.Conflict(message, "in_use")


async def _get_is_used(change: Change[AlertStatus]) -> bool:
    return await change.db.fetch_value(
        """select exists (select from alert where organization_id = $1 and status_id = $2 and deleted_time is null)
             or exists (select from alert_instance where organization_id = $1 and status_id = $2)""",
        *(change.caller.organization_id, change.key),
    )


async def _delete(change: Change[AlertStatus], options: Mapping[str, Any]) -> None:
    """Delete it; its alerts and cases get the status `move_to`. Raises Conflict without one, and Invalid."""
    db, key = change.db, {"organization_id": change.caller.organization_id, "status_id": change.key}
    if (move_to := options.get("move_to")) is not None:
        target = await nouns.find(STATUS, db, **change.caller.reach, key=move_to)
        if target is None or target.application_id not in {None, change.row.application_id} or move_to == change.key:
            message = "Another status is expected, one that all alerts and cases with this one may have."
            raise errors.Invalid.in_query("move_to", "unknown_id", message)
        # Cases before alerts, the order of locks everywhere.
        await alert_instances.move_status(
            db, caller=change.caller, status_id=change.key, move_to=move_to, closes=target.closing, now=change.now
        )
        await rules.update_status_to(db, **key, move_to=move_to, deleted_only=False)
    elif await _get_is_used(change):
        raise StatusInUse("Alerts or cases have this status; name another one for them in move_to.")
    await rules.update_status_to(db, **key, move_to=STATUS_NEW, deleted_only=True)
    await nouns.delete_row(STATUS, change)


def _row(words: Texts, one: AlertStatus) -> dict[str, str]:
    return {
        "title": title_of(words, one.status_id, one.title),
        "state": words("closed") if one.closing else words("open"),
        "when": words("built in") if one.system else "",
        "more": one.description or "",
    }


def title_of(words: Texts, status_id: int, title: str) -> str:
    """A status of the product in the reader's language, one of the organization's own as it is."""
    return words(SYSTEM_TITLES[status_id]) if status_id in SYSTEM_TITLES else title


STATUS = Noun(
    record=AlertStatus,
    table="alert_status",
    one="alert status",
    many="alert statuses",
    tag="Alert Statuses",
    path="/alert/status",
    scope="Alert Status",
    about_create="A new status of the organization, or of one application.",
    about_update="Changes of an own status; `closing` only while no alert or case has it.",
    about={
        "list": "1 New, 2 In progress, 3 Closed and 4 Dismissed are the product's; own ones have numbers from 100.",
        "delete": "While alerts or cases have it, `move_to` is the status that they get.",
    },
    refusals={"update": ("system_status", "in_use"), "delete": ("system_status", "in_use")},
    order=(("position", "asc"),),
    visible=OF_APPLICATION,
    most=STATUSES_MAX,
    counted="t.status_id >= 100",
    lock="for update",  # nothing begins to use it before the transaction ends
    deletion=AlertStatusDeletion,
    new_key=_claim_number,
    check=_check,
    fixed=_fixed,
    delete=_delete,
    screens=Screens(
        path="/console/settings/statuses",
        title="Statuses of cases",
        lead="Each case has one status. The built-in ones stay; you can add your own.",
        new="New status",
        row=_row,
        blank={"color": "#005d69"},
        reads="Update",
        removal="Remove the status “{title}”?",
        removal_sentence="This cannot be undone.",
        removal_button="Remove the status",
        in_use="Alerts or cases have it. They get the status that you choose here.",
        uses=(
            ("Alerts", "alert where deleted_time is null and status_id", "/console/settings/alerts"),
            ("Cases", "alert_instance where status_id", "/console/cases"),
        ),
    ),
)
routes = routes_of(STATUS)
