"""Sealing again: every sealed column, resumed, beside other writers, and never a value lost."""

from typing import LiteralString, cast

from afterword import db, sealing
from afterword.keys import Secret
from afterword.migrations import schema
from afterword.privacy.resealing import service, store
from tests.contract.test_catalogue import OURS, THEIRS, _fill
from tests.privacy.columns import FREE

OLD, NEW = Secret(b"o" * 32), Secret(b"n" * 32, before=[b"o" * 32], addresses=b"o" * 32)
ALONE = Secret(b"n" * 32, addresses=b"o" * 32)
# What else such a row has.
BESIDE: dict[str, LiteralString] = {
    "channel_account.settings": "kind = 'smtp', channel_id = 1, ",
    "inbound_endpoint.settings": "adapter = 'standard', ",
    "webhook.previous_secret": "previous_secret_until = now(), ",
}


async def sealed_everywhere(pool: db.Pool) -> None:
    """A value in each sealed column of two organizations."""
    async with db.transaction(pool) as database:
        for tenant in (OURS, THEIRS):
            await _fill(database, tenant)
            for column, context in store.CONTEXTS.items():
                table, name = column.split(".")
                value = sealing.seal(f"{column} of {tenant}", secret=OLD, context=context(tenant, tenant))
                key = "login_id" if table == "login" else "organization_id"
                query = f"update {table} set {BESIDE.get(column, '')}{name} = $1 where {key} = $2"
                assert await database.execute(cast("LiteralString", query), value, tenant), column


async def readable(pool: db.Pool, secret: Secret) -> set[str]:
    """The texts that this secret opens."""
    texts: set[str] = set()
    async with db.connection(pool) as database:
        for column in store.CONTEXTS:
            for one in await store.list_sealed(database, column=column, head=b"\xff", after=("", ""), limit=1_000):
                context = store.CONTEXTS[column](one.organization_id, one.id)
                try:
                    texts.add(sealing.unseal(one.value, secret=secret, context=context))
                except sealing.Unreadable:
                    continue
    return texts


async def left(pool: db.Pool) -> int:
    async with db.connection(pool) as database:
        return await store.count_sealed(database, head=sealing.head_of(NEW))


def test_every_sealed_column_is_known() -> None:
    """What holds a secret and is stored sealed is in the list; other bytes are none of its business."""
    named = {tuple(column.split(".")) for column in store.CONTEXTS}
    text = schema.FILE.read_text(encoding="utf-8")
    for table, column in named:
        assert f"{column} bytea" in text.partition(f"CREATE TABLE {table} (")[2].partition(");")[0]
    assert {"login", "webhook", "identity_provider"} <= FREE.keys()


async def test_each_column(pool: db.Pool) -> None:
    await sealed_everywhere(pool)
    everything = await readable(pool, OLD)
    assert 2 * len(store.CONTEXTS) == len(everything) == await left(pool)
    reports: list[tuple[str | int, ...]] = []
    lost = await service.reseal(pool, secret=NEW, report=lambda *one: reports.append(one), batch=1)
    assert (0, 0, everything, set()) == (lost, await left(pool), await readable(pool, ALONE), await readable(pool, OLD))
    assert {(column, 2, 0) for column in store.CONTEXTS} <= set(reports)
    await service.reseal(pool, secret=NEW, report=lambda *one: reports.append(one))
    assert everything == await readable(pool, ALONE)


async def test_unreadable_ones_stay(pool: db.Pool) -> None:
    """What nobody can open is counted and left, and keeps the rest from nothing."""
    await sealed_everywhere(pool)
    async with db.transaction(pool) as database:
        await database.execute("update webhook set secret = '\\x01aa' where organization_id = $1", OURS)
    assert 1 == await service.reseal(pool, secret=NEW, report=lambda *_: None, batch=1)
    assert (1, 2 * len(store.CONTEXTS) - 1) == (await left(pool), len(await readable(pool, ALONE)))


async def test_what_somebody_wrote_meanwhile_stays(pool: db.Pool) -> None:
    await sealed_everywhere(pool)
    column = "webhook.secret"
    async with db.connection(pool) as database:
        [one, _] = await store.list_sealed(database, column=column, head=b"\xff", after=("", ""), limit=9)
    async with db.transaction(pool) as database:
        await database.execute("update webhook set secret = '\\x0102' where organization_id = $1", one.organization_id)
        assert not await store.update_sealed(database, column=column, before=one, value=b"\x03")
