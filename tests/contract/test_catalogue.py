"""The tenant is in every key: asked of PostgreSQL's catalogue, then tried by hand across two organizations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest

from afterword.kit import db

GLOBAL_KEYS = {
    "organization_domain_key": "the host name of a request finds the tenant, so it is unique among all of them",
    "token_selector_key": "a token is looked up before the tenant is known",
    "access_token_selector_key": "an access token is looked up like its parent",
    "login_session_pkey": "a session is looked up before the tenant is known",
    "login_session_session_id_key": "a person ends sessions of all their organizations",
    "custom_domain_held": "a host is looked up by the header of a request, so one organization holds it",
    "public_link_address": "a public link is looked up by the key in its address",
    "demonstration_pkey": "one made-up shop for all organizations of the installation",
    "login_link_pkey": "a link is looked up before the tenant is known",
}
NO_TENANT = {
    "application_type": "a fixed list that belongs to the product",
    "attempt_total": "figures of the whole installation for its operator",
    "demonstration": "one row: the made-up shop that all organizations may look at",
    "delivery_total": "figures of the whole installation for its operator",
    "job_timeout": "figures of the whole installation for its operator",
    "login": "a person who may work for several organizations",
    "login_challenge": "answered before the tenant is known",
    "login_failure": "counts of wrong passwords, before the tenant is known",
    "login_link": "a set-up link makes the first organization, a reset is of a person",
    "login_passkey": "of a person",
    "login_recovery_code": "of a person",
    "event_cluster": "one row: the cluster whose transactions the event log counts",
    "pruned_total": "figures of the whole installation for its operator",
    "backup": "the backups of the whole installation",
    "alembic_version": "the schema's own revision",
    "sending_guard": "one row: the pause of all sending after a restored backup",
    "sending_worker": "the workers of the whole installation",
    "event_cursor": "a reader follows the log of the whole installation",
    "response_fill": "one row: how far the responses that were there before got their rows, in the whole installation",
    "expiry_cursor": "how far the end of instances was told of, in the whole installation",
}
OURS, THEIRS = "a" * 22, "b" * 22
DIGEST = "{:a<32}"
STATUSES = {OURS: 100, THEIRS: 200}
# Values of the rows of both tenants; {} is the tenant.
BY_TYPE = {
    "text": "{}", "text[]": ["x"], "tsvector": "", "jsonb": {}, "json": {}, "boolean": False, "smallint": 1,
    "integer": 1, "bigint": 1, "double precision": 1, "integer[]": [1], "bytea": "\\x" + "dd" * 32,
    "uuid": "00000000-0000-0000-0000-000000000000", "date": "2026-11-21",
    "timestamp with time zone": "2026-01-01T00:00:00Z",
}  # fmt: skip
SPECIAL = {
    "access_token": {"selector": "{:.16}"},
    "alert": {"status_id": None},  # one of STATUSES, as in all tables
    "alert_instance": {"severity": "low"},
    "alert_status": {"color": "#112233"},
    "application": {"application_type_id": "0000000000000000custom"},
    "delivery_report": {"kind": "delivered"},
    "erasure": {"mode": "erase", "salt": "\\x" + "dd" * 32},
    "erasure_subject": {"kind": "item"},
    "event": {"actor_kind": "worker", "data": {}},
    "export": {"format": "csv", "date_basis": "submitted", "values_as": "both", "questionnaire_id": "{}"},
    "export_schedule": {"destination": "folder", "every": "daily", "format": "csv"},
    "inbound_endpoint": {"adapter": "provider"},
    "login_link": {"purpose": "invitation", "organization_id": "{}", "user_id": "{}", "digest": DIGEST},
    "login_session": {"digest": DIGEST},
    "metadata_definition": {"kind": "responder", "type": "text", "level": "application", "application_id": "{}"},
    "notification_watch": {"entity": "alert"},
    "organization": {"domain": "{:.5}"},
    "organization_user": {"email": "a@b", "role": "owner"},
    "plan": {"kind": "unlimited"},
    "public_link": {"key": "{:.12}"},
    "questionnaire_instance": {"short_code": "{:.12}"},
    "queue_import": {"on_conflict": "error", "actor_kind": "user"},
    "queue_import_row": {"state": "created"},
    "report_digest": {"frequency": "weekly"},
    "response_import": {"actor_kind": "user"},
    "tagging": {"action": "add", "actor_kind": "user"},
    "token": {"kind": "user", "user_id": "{}", "selector": "{:.16}"},
    "trial": {"pipeline_id": "{}"},
    "webhook": {"secret": "x"},
}


@pytest.fixture
async def tenants(pool: db.Pool) -> db.Pool:
    """Two organizations with the same rows; ids differ by their first letter alone."""
    keys = await _foreign_keys(pool)
    tables = {"organization", "login", *(key.table for key in keys), *(key.parent for key in keys)}
    async with db.transaction(pool) as database:
        for tenant in (OURS, THEIRS):
            await fill(database, tables, tenant)
    return pool


class TestCatalogue:
    async def test_unique_keys_begin_with_the_tenant(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database:
            rows = await database.fetch(
                """select i.indrelid::regclass::text as table_name, i.indexrelid::regclass::text as key_name
                   from pg_index i
                   join pg_attribute a on a.attrelid = i.indrelid and a.attname = 'organization_id'
                   where i.indisunique and i.indkey[0] <> a.attnum"""
            )
        assert set(GLOBAL_KEYS) == {row["key_name"] for row in rows}

    async def test_foreign_keys_begin_with_the_tenant(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database:
            rows = await database.fetch(
                """select c.conrelid::regclass::text as table_name, c.conname from pg_constraint c
                   join pg_attribute child on child.attrelid = c.conrelid and child.attname = 'organization_id'
                   join pg_attribute parent on parent.attrelid = c.confrelid and parent.attname = 'organization_id'
                   where c.contype = 'f' and not (c.conkey[1] = child.attnum and c.confkey[1] = parent.attnum)"""
            )
        assert [] == [tuple(row) for row in rows]

    async def test_every_table_has_the_tenant(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database:
            rows = await database.fetch(
                """select c.relname from pg_class c
                   where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and not exists (
                     select from pg_attribute a
                     where a.attrelid = c.oid and a.attname = 'organization_id' and a.attnotnull)"""
            )
        assert set(NO_TENANT) == {row["relname"] for row in rows}

    async def test_every_table_has_a_primary_key(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database:
            rows = await database.fetch(
                """select c.relname from pg_class c
                   where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
                     and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)"""
            )
        assert [] == [row["relname"] for row in rows]

    async def test_every_id_sorts_by_its_bytes(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database:
            rows = await database.fetch(
                """select a.attrelid::regclass::text as table_name, a.attname from pg_attribute a
                   join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
                   join pg_collation l on l.oid = a.attcollation
                   where c.relnamespace = 'public'::regnamespace and a.attname like '%\\_id' and a.attnum > 0
                     and a.atttypid = 'text'::regtype and l.collname <> 'C'"""
            )
        assert [] == [tuple(row) for row in rows if row["attname"] != "actor_id"]

    async def test_the_query_sees_a_key_that_forgets_the_tenant(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database:
            await database.execute("create unique index forgetful on responder (responder_id)")
        with pytest.raises(AssertionError, match="forgetful"):
            await self.test_unique_keys_begin_with_the_tenant(pool)


class TestAcrossTenants:
    async def test_every_foreign_key_is_tried(self, tenants: db.Pool) -> None:
        keys = await _foreign_keys(tenants)
        assert len(keys) >= 13
        assert {"questionnaire_instance", "answer", "queue_item", "attempt"} <= {key.table for key in keys}

    async def test_update_is_refused(self, tenants: db.Pool) -> None:
        for key in await _foreign_keys(tenants):
            async with db.connection(tenants) as database:
                connection = database._connection  # by it the driver's own errors, and queries made here
                assert 1 == await connection.fetchval(
                    f"select count(*) from {key.table} where organization_id = $1", OURS
                ), f"fill makes no row of {key.table}"
                with pytest.raises(asyncpg.ForeignKeyViolationError):
                    await connection.execute(
                        f"update {key.table} set ({', '.join(key.columns)}) ="
                        f" (select {', '.join(key.targets)} from {key.parent} where organization_id = $2)"
                        " where organization_id = $1",
                        *(OURS, THEIRS),
                    )

    async def test_insert_is_refused(self, tenants: db.Pool) -> None:
        for key in await _foreign_keys(tenants):
            async with db.connection(tenants) as database:
                connection = database._connection  # by it the driver's own errors, and queries made here
                ours = await connection.fetchval(
                    f"select to_jsonb(t) from {key.table} t where organization_id = $1", OURS
                )
                theirs = await connection.fetchval(
                    f"select to_jsonb(t) from {key.parent} t where organization_id = $1", THEIRS
                )
                row = ours | dict.fromkeys(name for name in key.nullable if name != "organization_id")
                row |= {name: theirs[target] for name, target in zip(key.columns, key.targets, strict=True)}
                with pytest.raises(asyncpg.ForeignKeyViolationError, match=key.name):
                    await _put_in_place(connection, key.table, row)

    async def test_ids_may_be_equal_in_two_tenants(self, tenants: db.Pool) -> None:
        async with db.transaction(tenants) as database:
            for tenant in (OURS, THEIRS):
                assert 1 == await database.execute(
                    "insert into responder (organization_id, responder_id) values ($1, $2)", tenant, "c" * 22
                )


async def _put_in_place(connection: Any, table: str, row: Mapping[str, object]) -> None:
    """Insert the row instead of ours, so that no unique key refuses it before a foreign key does."""
    async with connection.transaction():
        await connection.execute("set local session_replication_role = replica")
        await connection.execute(f"delete from {table} where organization_id = $1", OURS)
        await connection.execute("set local session_replication_role = origin")
        await connection.execute(f"insert into {table} select * from jsonb_populate_record(null::{table}, $1)", row)


@dataclass(frozen=True)
class ForeignKey:
    """`columns` of `table` point at `targets` of `parent`, beside the tenant. `nullable`: of other foreign keys."""

    table: str
    name: str
    parent: str
    columns: list[str]
    targets: list[str]
    nullable: list[str]


async def _foreign_keys(pool: db.Pool) -> list[ForeignKey]:
    async with db.connection(pool) as database:
        rows = await database.fetch(
            """select c.conrelid::regclass::text as table, c.conname as name, c.confrelid::regclass::text as parent,
                 array(select attname::text from unnest(c.conkey[2:]) with ordinality k(n, i)
                       join pg_attribute on attrelid = c.conrelid and attnum = k.n order by i) as columns,
                 array(select attname::text from unnest(c.confkey[2:]) with ordinality k(n, i)
                       join pg_attribute on attrelid = c.confrelid and attnum = k.n order by i) as targets,
                 array(select distinct attname::text from pg_constraint f
                       join pg_attribute a on a.attrelid = f.conrelid and a.attnum = any(f.conkey) and not a.attnotnull
                       where f.conrelid = c.conrelid and f.contype = 'f') as nullable
               from pg_constraint c where c.contype = 'f' and cardinality(c.conkey) > 1 order by 1, 2"""
        )
    return [ForeignKey(**row) for row in rows]


async def fill(database: db.Database, tables: Iterable[str], tenant: str) -> None:
    """A row in each table with a value in each column that must have one; every id is the tenant's own."""
    await database.execute("set local session_replication_role = replica")  # no triggers: tables have no order
    for table in tables:
        columns = await database.fetch(
            """select attname as name, format_type(atttypid, null) as type from pg_attribute
               where attrelid = $1::text::regclass and attnum > 0 and not attisdropped
                 and attnotnull and not atthasdef and attidentity = ''""",
            table,
        )
        row = {one["name"]: BY_TYPE[one["type"]] for one in columns} | SPECIAL.get(table, {})
        row = {name: value.format(tenant) if isinstance(value, str) else value for name, value in row.items()}
        if "status_id" in row:
            row["status_id"] = STATUSES[tenant]
        names = ", ".join(row)
        await database._connection.execute(
            f"insert into {table} ({names}) select {names} from jsonb_populate_record(null::{table}, $1)", row
        )
