"""Checks that several services share: each returns errors at their pointers, none for what was not given."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, time

import pytest

from afterword.core.scheduling.windows import WEEKDAYS_ALL, Hours
from afterword.errors import FieldError
from afterword.kit import db
from afterword.tenants.organizations import checks
from tests.conftest import House

ABSENT = "z" * 22


def told(errors: Sequence[FieldError]) -> list[tuple[str | None, str]]:
    return [(error.pointer, error.code) for error in errors]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (checks.length_errors("title", "", 3), [("/title", "too_short")]),
        (checks.length_errors("title", "abcd", 3), [("/title", "too_long")]),
        (checks.length_errors("title", "abc", 3), []),
        (checks.length_errors("title", None, 3), []),
        (checks.email_errors("ann@"), [("/email", "invalid_address")]),
        (checks.email_errors("ann@example.com"), []),
        (checks.email_errors(None), []),
        (checks.zone_errors("Mars/Olympus"), [("/time_zone", "unknown_value")]),
        (checks.zone_errors("Europe/Athens"), []),
        (checks.zone_errors(None), []),
        (checks.locale_errors("locale", "!"), [("/locale", "invalid_locale")]),
        (checks.locale_errors("locale", "el"), []),
        (checks.locale_errors("locale", None), []),
    ],
)
def test_fields(found: list[FieldError], expected: list[tuple[str, str]]) -> None:
    assert expected == told(found)


async def test_applications(database: db.Database, house: House, neighbour: House) -> None:
    async def wrong(*ids: str, among: Sequence[str] = (), known: Sequence[str] = ()) -> list[tuple[str | None, str]]:
        return told(
            await checks.application_errors(
                database, organization_id=house.organization_id, application_ids=ids, among=among, known=known
            )
        )

    own = house.application_id
    assert [] == await wrong()
    assert [] == await wrong(own, among=[own])
    assert [("/application_ids/1", "unknown_id")] == await wrong(own, neighbour.application_id)
    assert [("/application_ids/0", "unknown_id")] == await wrong(own, among=[ABSENT])
    assert [] == await wrong(ABSENT, own, known=[ABSENT])  # it was deleted since
    assert [("/application_ids", "too_many")] == await wrong(*[own] * (checks.APPLICATIONS_MAX + 1))


async def test_reach(database: db.Database, house: House, neighbour: House) -> None:
    async def wrong(application_id: str, *among: str) -> list[tuple[str | None, str]]:
        caller = replace(house.caller, application_ids=among)
        return told(await checks.reach_errors(database, caller=caller, application_id=application_id))

    unknown = [("/application_id", "unknown_id")]
    assert [] == await wrong(house.application_id)
    assert [] == await wrong(house.application_id, house.application_id)
    assert unknown == await wrong(house.application_id, ABSENT)
    assert unknown == await wrong(neighbour.application_id)


async def test_calendars(pool: db.Pool, house: House) -> None:
    key = house.organization_id
    async with db.transaction(pool) as database:
        unset = (await checks.list_calendars(database, organization_ids=[key, "nobody"]))[key]
        assert (None, WEEKDAYS_ALL, "Europe/Athens") == (unset.window, unset.weekdays, str(unset.zone))
        await database.execute(
            """insert into alert_settings (organization_id, weekdays, start_time, end_time, closed_on_holidays)
               values ($1, '{1,2}', '08:00', '16:00', true)""",
            key,
        )
        await database.execute(
            """insert into contact_policy (organization_id, holidays) values ($1, '{2026-12-25}')
               on conflict (organization_id) do update set holidays = excluded.holidays""",
            key,
        )
        found = (await checks.list_calendars(database, organization_ids=[key]))[key]
    assert (Hours(time(8), time(16)), {1, 2}) == (found.window, found.weekdays)
    assert date(2026, 12, 25) in found.holidays
