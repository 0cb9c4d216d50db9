"""Retention periods as they are stored, and those that follow from others."""

from afterword.kit import db
from afterword.kit.nouns import service
from afterword.tenants.organizations import retention
from tests.conftest import SITE, House


async def test_days_of_kinds(pool: db.Pool, house: House) -> None:
    key = house.organization_id
    async with db.transaction(pool) as database:
        assert {} == await retention.list_days(database, organization_id=key, changes={})
        changes = {"anonymize_after_days": 60, "items_days": 7, "delete_after_days": 90, "exports_days": 1}
        expected = {"texts": 60, "people": 60, "items": 7, "uploads": 60, "answers": 90, "exports": 1}
        assert expected == await retention.list_days(database, organization_id=key, changes=changes)
        now = database.clock.now()
        stored = await service.update(
            retention.RETENTION,
            database,
            caller=house.caller,
            key=key,
            changes=changes,
            site=SITE,
            now=now,
        )
        assert (60, None, 7, 2) == (
            stored.anonymize_after_days,
            stored.texts_days,
            stored.items_days,
            stored.version,
        )
        assert {**expected, "items": 60} == await retention.list_days(
            database, organization_id=key, changes={"items_days": None}
        )
