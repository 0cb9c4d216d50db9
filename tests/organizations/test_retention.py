"""Retention periods as they are stored, and those that follow from others."""

from afterword import db
from afterword.organizations.retention import store
from tests.conftest import House


async def test_days_of_kinds(pool: db.Pool, house: House) -> None:
    key = house.organization_id
    async with db.transaction(pool) as database:
        assert {} == await store.list_days(database, organization_id=key, changes={})
        changes = {"anonymize_after_days": 60, "items_days": 7, "delete_after_days": 90, "exports_days": 1}
        expected = {"texts": 60, "people": 60, "items": 7, "uploads": 60, "answers": 90, "exports": 1}
        assert expected == await store.list_days(database, organization_id=key, changes=changes)
        now = database.clock.now()
        stored = await store.update_periods(
            database, organization_id=key, changes=changes, now=now, updated_by=house.user_id
        )
        assert (60, None, 7, 2) == (
            stored.anonymize_after_days,
            stored.texts_days,
            stored.items_days,
            stored.version,
        )
        assert {**expected, "items": 60} == await store.list_days(
            database, organization_id=key, changes={"items_days": None}
        )
