"""The cache of versions in a process: limited, and the least recently used goes first."""

import pytest

from afterword.asking.questionnaires import store
from afterword.kit import db
from tests.asking.questionnaires.test_service import FILE, Shop
from tests.conftest import House


class TestVersionsKept:
    @pytest.fixture(autouse=True)
    def nothing_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "_versions", type(store._versions)())

    async def get(self, pool: db.Pool, house: House, version_id: str) -> store.Version:
        async with db.connection(pool) as database:
            return await store.get_version(database, organization_id=house.organization_id, version_id=version_id)

    async def publish(self, pool: db.Pool, house: House, count: int) -> list[str]:
        shop = Shop(pool, house.organization_id, house.application_id)
        return [
            (await shop.put(FILE.replace("How likely", f"How likely {n}"))).version.version_id for n in range(count)
        ]

    async def test_count(self, pool: db.Pool, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        first, second, third = await self.publish(pool, house, 3)
        store._versions.clear()
        monkeypatch.setattr(store, "VERSIONS_KEPT_MAX", 2)
        for version_id in (first, second, first, third):
            assert version_id == (await self.get(pool, house, version_id)).version_id
        assert [first, third] == [version_id for _, version_id in store._versions]
        assert await self.get(pool, house, third) is await self.get(pool, house, third)

    async def test_size(self, pool: db.Pool, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        first, second = await self.publish(pool, house, 2)
        store._versions.clear()
        monkeypatch.setattr(store, "VERSIONS_KEPT_BYTES_MAX", 1_500)  # one of these and a half
        for version_id in (first, second, first):
            assert version_id == (await self.get(pool, house, version_id)).version_id
        assert [first] == [version_id for _, version_id in store._versions]
