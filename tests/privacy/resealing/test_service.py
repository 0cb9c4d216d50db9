"""Sealing again: every sealed column, resumed, beside other writers, and never a value lost."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, LiteralString, cast

import pytest

import afterword
from afterword.core.keys import Secret
from afterword.kit import db, sealing
from afterword.privacy import resealing
from tests.contract.test_catalogue import OURS, THEIRS, fill
from tests.privacy.columns import FREE, HOLDS, SEALED

OLD, NEW = Secret(b"o" * 32), Secret(b"n" * 32, before=[b"o" * 32], addresses=b"o" * 32)
ALONE = Secret(b"n" * 32, addresses=b"o" * 32)
# The functions that seal, each with the columns in which its values stay; none: they travel in a cookie or an address.
CALLS: Final[Mapping[str, Sequence[str]]] = {
    "tenants/mails.py:insert_mail": ["notice_mail.link"],
    "events/webhooks.py:_new_secret": ["webhook.secret", "webhook.previous_secret"],
    "asking/instances/anonymity.py:_close_pool": ["anonymous_pool.sealed"],
    "sending/previews.py:address_of": [],
    "asking/links/public_links.py:_sealed": [],
    "tenants/logins/identities/service.py:save": ["identity_provider.client_secret"],
    "tenants/logins/identities/service.py:_opened": ["login_session.id_token"],
    "tenants/logins/identities/service.py:begin": [],
    "tenants/logins/passkeys.py:_challenge": [],
    "tenants/logins/service.py:pending": [],
    "tenants/logins/service.py:propose_totp": ["login.totp_secret"],
    "cases/chats.py:_check": ["chat.sealed_address"],
    "sending/intake/sources/records.py:_check": ["source.sealed_secret"],
    "sending/intake/sources/records.py:_check_notes": ["source.sealed_note_token"],
    "listening/exports/schedules.py:_seal": ["export_schedule.sealed_secret"],
    "cases/mailboxes.py:_check": ["alert_mailbox.sealed_password"],
    "sending/providers/service.py:_sealed": ["channel_account.settings"],
    "sending/receipts/inbound.py:open_endpoint": ["inbound_endpoint.settings"],
}
RESEALING: Final = "privacy/resealing.py:_reseal"
# Other columns of such a row.
BESIDE: dict[str, LiteralString] = {
    "channel_account.settings": "kind = 'smtp', channel_id = 1, ",
    "inbound_endpoint.settings": "adapter = 'standard', ",
    "webhook.previous_secret": "previous_secret_until = now(), ",
}


async def sealed_everywhere(pool: db.Pool) -> None:
    """A value in each sealed column of two organizations."""
    async with db.transaction(pool) as database:
        for tenant in (OURS, THEIRS):
            await fill(database, {"organization", *(column.split(".")[0] for column in resealing.CONTEXTS)}, tenant)
            for column, context in resealing.CONTEXTS.items():
                table, name = column.split(".")
                value = sealing.seal(f"{column} of {tenant}", secret=OLD, context=context(tenant, tenant))
                key = "login_id" if table == "login" else "organization_id"
                query = f"update {table} set {BESIDE.get(column, '')}{name} = $1 where {key} = $2"
                assert await database.execute(cast("LiteralString", query), value, tenant), column


async def readable(pool: db.Pool, secret: Secret) -> set[str]:
    """The texts that this secret opens."""
    texts: set[str] = set()
    async with db.connection(pool) as database:
        for column in resealing.CONTEXTS:
            for one in await resealing.list_sealed(database, column=column, head=b"\xff", after=("", ""), limit=1_000):
                context = resealing.CONTEXTS[column](one.organization_id, one.id)
                try:
                    texts.add(sealing.unseal(one.value, secret=secret, context=context))
                except sealing.Unreadable:
                    continue
    return texts


async def left(pool: db.Pool) -> int:
    async with db.connection(pool) as database:
        return await resealing.count_sealed(database, head=sealing.head_of(NEW))


class TestColumns:
    def test_columns_that_are_judged_as_sealed(self) -> None:
        """`tests/privacy/columns.py` has a word on each column, so a new one is judged there first."""
        judged = {
            f"{table}.{column}"
            for tables in (FREE, HOLDS)
            for table, columns in tables.items()
            for column, reason in columns.items()
            if reason.startswith(SEALED)
        }
        assert judged == resealing.CONTEXTS.keys()

    def test_functions_that_seal(self) -> None:
        """A new function that seals says here in which column its values stay."""
        assert {*CALLS, RESEALING} == set(sealing_functions())
        stored = {column for columns in CALLS.values() for column in columns}
        assert stored == resealing.CONTEXTS.keys()

    @pytest.mark.parametrize(
        "text",
        [
            "def f():\n    sealing.seal(1)",
            "from afterword.kit.sealing import seal",
            "import afterword.kit.sealing as x",
        ],
    )
    def test_functions_are_found(self, text: str) -> None:
        assert [] != list(_sealing_in(text, "module"))


def sealing_functions() -> list[str]:
    root = Path(afterword.__file__).parent
    return [
        name
        for path in sorted(root.rglob("*.py"))
        if "sealing" in (text := path.read_text(encoding="utf-8"))
        for name in _sealing_in(text, path.relative_to(root).as_posix())
    ]


def _sealing_in(text: str, file: str) -> Iterator[str]:
    """The functions that call `sealing.seal`, and each import by which another name could be called."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if any(isinstance(one, ast.Attribute) and "sealing.seal" == ast.unparse(one) for one in ast.walk(node)):
                    yield f"{file}:{name}"
            case ast.ImportFrom(module="afterword.kit.sealing"):
                yield f"{file}:{ast.unparse(node)}"
            case ast.Import(names=names) if "afterword.kit.sealing" in {one.name for one in names}:
                yield f"{file}:{ast.unparse(node)}"
            case _:
                pass


async def test_each_column(pool: db.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resealing, "BATCH_VALUES", 1)
    await sealed_everywhere(pool)
    everything = await readable(pool, OLD)
    assert 2 * len(resealing.CONTEXTS) == len(everything) == await left(pool)
    reports: list[tuple[str | int, ...]] = []
    lost = await resealing.reseal(pool, secret=NEW, report=lambda *one: reports.append(one))
    assert (0, 0, everything, set()) == (lost, await left(pool), await readable(pool, ALONE), await readable(pool, OLD))
    assert {(column, 2, 0) for column in resealing.CONTEXTS} <= set(reports)
    monkeypatch.undo()
    await resealing.reseal(pool, secret=NEW, report=lambda *one: reports.append(one))
    assert everything == await readable(pool, ALONE)


async def test_unreadable_ones_stay(pool: db.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that no secret decrypts are counted and left, and keep the rest from nothing."""
    monkeypatch.setattr(resealing, "BATCH_VALUES", 1)
    await sealed_everywhere(pool)
    async with db.transaction(pool) as database:
        await database.execute("update webhook set secret = '\\x01aa' where organization_id = $1", OURS)
    assert 1 == await resealing.reseal(pool, secret=NEW, report=lambda *_: None)
    assert (1, 2 * len(resealing.CONTEXTS) - 1) == (await left(pool), len(await readable(pool, ALONE)))


async def test_a_secret_that_opens_nothing(pool: db.Pool) -> None:
    """No value is marked as one of another secret while there was only one."""
    await sealed_everywhere(pool)
    assert 2 * len(resealing.CONTEXTS) == await resealing.reseal(pool, secret=b"x" * 32, report=lambda *_: None)


async def test_what_somebody_wrote_meanwhile_stays(pool: db.Pool) -> None:
    await sealed_everywhere(pool)
    column = "webhook.secret"
    async with db.connection(pool) as database:
        [one, _] = await resealing.list_sealed(database, column=column, head=b"\xff", after=("", ""), limit=9)
    async with db.transaction(pool) as database:
        await database.execute("update webhook set secret = '\\x0102' where organization_id = $1", one.organization_id)
        assert not await resealing.update_sealed(database, column=column, before=one, value=b"\x03")
