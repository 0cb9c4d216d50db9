"""Checks of lengths, time zones, languages, addresses, networks and applications."""

import ipaddress
from collections.abc import Callable, Collection, Sequence
from datetime import date
from functools import partial
from typing import Annotated, Any, Final

from msgspec import Meta

from afterword import errors
from afterword.core.messaging import addresses
from afterword.core.messaging.networks import NETWORKS_MAX
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import metadata
from afterword.core.scheduling import decisions, windows
from afterword.core.scheduling.windows import WEEKDAYS_ALL, Calendar, DaysOff
from afterword.core.text import locales
from afterword.core.wire import times
from afterword.core.wire.times import zone_of
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.tenants.organizations import applications


async def list_calendars(  # any tenant: a batch of events serves many organizations
    db: Database, *, organization_ids: Collection[str]
) -> dict[str, Calendar]:
    rows = await db.fetch(
        """select o.organization_id, o.time_zone, s.weekdays, s.start_time, s.end_time, s.closed_on_holidays,
             p.holiday_country, p.holidays
           from organization o
             left join alert_settings s on s.organization_id = o.organization_id
             left join contact_policy p on p.organization_id = o.organization_id and s.closed_on_holidays
           where o.organization_id = any($1)""",
        sorted(organization_ids),
    )
    return {row["organization_id"]: _calendar(row) for row in rows}


def _calendar(row: Any) -> Calendar:
    days: list[date] = row["holidays"] or []
    return Calendar(
        zone_of(row["time_zone"]),
        decisions.hours_of(row["start_time"], row["end_time"]),
        frozenset(row["weekdays"] or WEEKDAYS_ALL),
        holidays=DaysOff(row["holiday_country"], frozenset(days)) if row["closed_on_holidays"] else windows.NONE,
    )


APPLICATIONS_MAX = 100
ONLY_VALUES_MAX: Final = 50
OnlyWhere = fields.Text100  # no example: nobody limits themselves
OnlyValues = Annotated[list[fields.Text200], Meta(max_length=ONLY_VALUES_MAX)]


def length_errors(name: str, text: str | None, characters_max: int) -> list[FieldError]:
    if text is None or 1 <= len(text) <= characters_max:
        return []
    code = "too_long" if text else "too_short"
    return [FieldError(code, f"1 to {characters_max} characters.", pointer=f"/{name}")]


def email_errors(email: str | None) -> list[FieldError]:
    return _errors("email", email, "invalid_address", partial(addresses.normalise, addresses.CHANNEL_EMAIL))


def zone_errors(time_zone: str | None) -> list[FieldError]:
    return _errors("time_zone", time_zone, "unknown_value", times.zone_of)


def locale_errors(name: str, locale: str | None) -> list[FieldError]:
    return _errors(name, locale, "invalid_locale", locales.normalise)


def normal_networks(name: str, networks: Sequence[str]) -> list[str]:
    """Networks as they are written usually, each once. Raises Invalid."""
    if len(networks) > NETWORKS_MAX:
        raise errors.Invalid.at(f"/{name}", "too_many", f"At most {NETWORKS_MAX} networks.")
    found: list[str] = []
    for place, text in enumerate(networks):
        try:
            found.append(str(ipaddress.ip_network(text.strip())))
        except ValueError as error:
            message = "A network or an address is expected, such as 203.0.113.0/24."
            raise errors.Invalid.at(f"/{name}/{place}", "invalid_format", message) from error
    return list(dict.fromkeys(found))


async def application_errors(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    among: Sequence[str] = (),
    known: Sequence[str] = (),
) -> list[FieldError]:
    """Errors in `/application_ids`: too many, unknown, or outside `among`, the applications of the caller.

    `known` ids are stored already and stay valid: a client may send them back after an application was deleted.
    """
    if len(application_ids) > APPLICATIONS_MAX:
        return [FieldError("too_many", f"At most {APPLICATIONS_MAX} applications.", pointer="/application_ids")]
    new = [one for one in application_ids if one not in known]
    if not new:
        return []
    found = await applications.list_application_ids(db, organization_id=organization_id, among=new)
    reached = found & set(among) if among else found
    return [
        FieldError("unknown_id", "There is no such application.", pointer=f"/application_ids/{index}")
        for index, application_id in enumerate(application_ids)
        if application_id not in reached and application_id not in known
    ]


async def list_only_names(db: Database, *, organization_id: str) -> dict[str, metadata.MetadataDefinition]:
    """The declared names of questionnaire metadata by which somebody can be limited; none that is personal."""
    rows = await db.fetch(
        """select name, title, type, anonymize from metadata_definition
           where organization_id = $1 and kind = 'questionnaire' order by level = 'organization', name limit 1000""",
        organization_id,
    )
    own = [metadata.MetadataDefinition(kind="questionnaire", **row) for row in rows]
    products = [one for one in metadata.PRODUCT if one.kind == "questionnaire" and one.name not in metadata.POINTERS]
    known = {one.name: one for one in (*products, *own)}
    personal = {one.name for one in own if one.anonymize}
    return {name: one for name, one in known.items() if name not in personal}


async def only_errors(
    db: Database, *, organization_id: str, only_where: str | None, only_values: Sequence[str]
) -> list[FieldError]:
    """Errors of a limit: an unknown name in `/only_where`, and in `/only_values` those that its type cannot have."""
    if only_where is None:
        message = "Say by which metadata these values limit it."
        return [FieldError("required", message, pointer="/only_where")] if only_values else []
    if not only_values:
        return [FieldError("required", "Give at least one value.", pointer="/only_values")]
    if len(only_values) > ONLY_VALUES_MAX:
        return [FieldError("too_many", f"At most {ONLY_VALUES_MAX} values.", pointer="/only_values")]
    name = (await list_only_names(db, organization_id=organization_id)).get(only_where)
    if name is None:
        message = "There is no such declared metadata of questionnaires that is not personal."
        return [FieldError("unknown_value", message, pointer="/only_where")]
    return [
        FieldError("invalid_format", metadata.NOT_TYPED[name.type], pointer=f"/only_values/{place}")
        for place, value in enumerate(only_values)
        if metadata.typed(name.type, value) is None
    ]


async def reach_errors(
    db: Database, *, caller: Caller, application_id: str, pointer: str = "/application_id"
) -> list[FieldError]:
    """The error at `pointer` if the application is unknown, or not one of the caller's."""
    found = await applications.get_application(
        db, organization_id=caller.organization_id, application_id=application_id, among=caller.application_ids
    )
    return [] if found else [FieldError("unknown_id", "There is no such application.", pointer=pointer)]


def _errors(name: str, text: str | None, code: str, normalise: Callable[[str], object]) -> list[FieldError]:
    if text is None:
        return []
    try:
        normalise(text)
    except ValueError as error:
        return [FieldError(code, str(error), pointer=f"/{name}")]
    return []
