"""The tenant is in every key: asked of PostgreSQL's catalogue, then tried by hand across two organizations."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

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
    "login_link_pkey": "a link is looked up before the tenant is known",
}
NO_TENANT = {
    "application_type": "a fixed list that belongs to the product",
    "attempt_total": "figures of the whole installation for its operator",
    "delivery_total": "figures of the whole installation for its operator",
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
    "event_cursor": "a reader follows the log of the whole installation",
    "response_fill": "one row: how far the responses that were there before got their rows, in the whole installation",
    "expiry_cursor": "how far the end of instances was told of, in the whole installation",
}
TIME = re.compile(r"\d{4}-\d\d-\d\d")
# columns of keys that take a few words only; another column of the key differs
OF_A_LIST = {"entity", "kind", "is_hard", "is_proven", "adapter"}
OURS, THEIRS = "a" * 22, "b" * 22
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def tenants(pool: db.Pool) -> db.Pool:
    """Two organizations with the same rows; ids differ by their first letter alone."""
    async with db.transaction(pool) as database:
        for tenant in (OURS, THEIRS):
            await _fill(database, tenant)
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
                ), f"_fill makes no row of {key.table}"
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
                unique = set(key.unique) - OF_A_LIST
                row = {name: _other(value) if name in unique else value for name, value in ours.items()}
                row |= dict.fromkeys(name for name in key.nullable if name != "organization_id")
                row |= {name: theirs[target] for name, target in zip(key.columns, key.targets, strict=True)}
                with pytest.raises(asyncpg.ForeignKeyViolationError, match=key.name):
                    await connection.execute(
                        f"insert into {key.table} select * from jsonb_populate_record(null::{key.table}, $1)", row
                    )

    async def test_ids_may_be_equal_in_two_tenants(self, tenants: db.Pool) -> None:
        async with db.transaction(tenants) as database:
            for tenant in (OURS, THEIRS):
                assert 1 == await database.execute(
                    "insert into responder (organization_id, responder_id) values ($1, $2)", tenant, "c" * 22
                )


@dataclass(frozen=True)
class ForeignKey:
    """`columns` of `table` point at `targets` of `parent`, the tenant's aside. For a new row of the table: `nullable`
    switches its other foreign keys off, and `unique` columns must differ from those of the rows there are."""

    table: str
    name: str
    parent: str
    columns: list[str]
    targets: list[str]
    unique: list[str]
    nullable: list[str]


async def _foreign_keys(pool: db.Pool) -> list[ForeignKey]:
    async with db.connection(pool) as database:
        rows = await database.fetch(
            """select c.conrelid::regclass::text as table, c.conname as name, c.confrelid::regclass::text as parent,
                 array(select attname::text from unnest(c.conkey[2:]) with ordinality k(n, i)
                       join pg_attribute on attrelid = c.conrelid and attnum = k.n order by i) as columns,
                 array(select attname::text from unnest(c.confkey[2:]) with ordinality k(n, i)
                       join pg_attribute on attrelid = c.confrelid and attnum = k.n order by i) as targets,
                 array(select distinct attname::text from pg_index x
                       join pg_attribute a on a.attrelid = x.indrelid and a.attnum = any(x.indkey::int2[])
                       where x.indrelid = c.conrelid and x.indisunique and not exists (
                         select from pg_constraint f
                         where f.conrelid = c.conrelid and f.contype = 'f' and a.attnum = any(f.conkey) and not exists (
                           select from pg_attribute n
                           where n.attrelid = f.conrelid and n.attnum = any(f.conkey) and not n.attnotnull))) as unique,
                 array(select distinct attname::text from pg_constraint f
                       join pg_attribute a on a.attrelid = f.conrelid and a.attnum = any(f.conkey) and not a.attnotnull
                       where f.conrelid = c.conrelid and f.contype = 'f') as nullable
               from pg_constraint c where c.contype = 'f' and cardinality(c.conkey) > 1 order by 1, 2"""
        )
    return [ForeignKey(**row) for row in rows]


def _other(value: object) -> object:
    """Another value of the same shape, so that no unique key refuses before the foreign key does."""
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str) and TIME.match(value):
        return f"1999{value[4:]}"
    if isinstance(value, str) and not value.startswith("\\x"):
        return "c" * len(value)
    return "\\x" + "cc" * 32 if isinstance(value, str) else value


async def _fill(database: db.Database, tenant: str) -> None:
    """One row in each table that has foreign keys; every id is the tenant's own."""
    digest = b"d" * 32
    await database.execute(
        "insert into organization (organization_id, domain, display_name) values ($1, left($1, 5), $1)", tenant
    )
    await database.execute(
        """insert into application (organization_id, application_id, application_type_id, display_name)
           values ($1, $1, '0000000000000000custom', $1)""",
        tenant,
    )
    await database.execute(
        "insert into organization_user (organization_id, user_id, email, role) values ($1, $1, 'a@b', 'owner')", tenant
    )
    await database.execute(
        """insert into token (organization_id, token_id, user_id, kind, title, scopes, selector, verifier_digest)
           values ($1, $1, $1, 'user', $1, '{all}', left($1, 16), $2)""",
        *(tenant, digest),
    )
    await database.execute(
        """insert into access_token (organization_id, access_token_id, token_id, selector, verifier_digest, scopes,
             expires_time) values ($1, $1, $1, left($1, 16), $2, '{all}', $3)""",
        *(tenant, digest, NOW),
    )
    await database.execute("insert into organization_billing (organization_id, name) values ($1, $1)", tenant)
    await database.execute(
        "insert into organization_sender_domain (organization_id, domain) values ($1, 'example.com')", tenant
    )
    await database.execute("insert into contact_policy (organization_id) values ($1)", tenant)
    await database.execute(
        """insert into plan (organization_id, plan_id, application_id, title, kind, start_time)
           values ($1, $1, $1, $1, 'unlimited', $2)""",
        *(tenant, NOW),
    )
    await database.execute(
        """insert into erasure (organization_id, erasure_id, responder_id, mode, suppress, salt)
           values ($1, $1, $1, 'erase', true, $2)""",
        *(tenant, digest),
    )
    await database.execute(
        """insert into retention_run (organization_id, run_id, kind, days, before_time, due_time, started_time)
           values ($1, $1, 'texts', 1, $2, $2, $2)""",
        *(tenant, NOW),
    )
    await database.execute(
        "insert into erasure_subject (organization_id, erasure_id, kind, subject_id) values ($1, $1, 'item', $1)",
        tenant,
    )
    await database.execute(
        """insert into questionnaire (organization_id, questionnaire_id, owner_application_id, display_name,
             default_locale, locales) values ($1, $1, $1, $1, 'en', '{en}')""",
        tenant,
    )
    await database.execute(
        """insert into questionnaire_version (organization_id, version_id, questionnaire_id, number, definition,
             checksum) values ($1, $1, $1, 1, '{}', '')""",
        tenant,
    )
    await database.execute(
        "update questionnaire set published_version_id = questionnaire_id where organization_id = $1", tenant
    )
    await database.execute(
        """insert into anonymous_pool (organization_id, questionnaire_id, version_id, responses, sealed)
           values ($1, $1, $1, 0, '')""",
        tenant,
    )
    await database.execute(
        """insert into questionnaire_draft (organization_id, questionnaire_id, base_version_id, definition)
           values ($1, $1, $1, '{}')""",
        tenant,
    )
    await database.execute(
        """insert into asset (organization_id, asset_id, media_type, width, height, bytes, content_hash, content,
             created_time) values ($1, $1, 'image/png', 1, 1, 1, sha256($1::text::bytea), 'x', now())""",
        tenant,
    )
    await database.execute(
        """insert into coupon_pool (organization_id, pool_id, key, title, low_count, created_time, updated_time)
           values ($1, $1, 'thanks', $1, 1, now(), now())""",
        tenant,
    )
    await database.execute(
        "insert into coupon_code (organization_id, pool_id, code, created_time) values ($1, $1, $1, now())", tenant
    )
    await database.execute(
        """insert into questionnaire_visual (organization_id, visual_id, questionnaire_id, title, configuration)
           values ($1, $1, $1, $1, '{}')""",
        tenant,
    )
    await database.execute(
        """insert into metadata_definition (organization_id, metadata_id, kind, name, title, type, level,
             application_id) values ($1, $1, 'responder', 'basket', $1, 'text', 'application', $1)""",
        tenant,
    )
    await database.execute(
        """insert into custom_report (organization_id, report_id, application_id, title, spec, questionnaire_ids)
           values ($1, $1, $1, $1, '{}', array[$1])""",
        tenant,
    )
    await database.execute(
        """insert into report_share (organization_id, share_id, report_id, digest, expires_time)
           values ($1, $1, $1, $2, now())""",
        *(tenant, digest),
    )
    await database.execute(
        """insert into report_digest (organization_id, digest_id, user_id, report_id, frequency, day, hour, locale,
             due_time) values ($1, $1, $1, $1, 'weekly', 1, 8, 'en', now())""",
        tenant,
    )
    await database.execute(
        """insert into rollup_span (organization_id, questionnaire_id, dimension, time_zone)
           values ($1, $1, $1, 'UTC')""",
        tenant,
    )
    await database.execute(
        """insert into rollup_dirty (organization_id, questionnaire_id, dimension, day, marked_time)
           values ($1, $1, $1, '2026-11-21', $2)""",
        *(tenant, NOW),
    )
    await database.execute("insert into responder (organization_id, responder_id) values ($1, $1)", tenant)
    await database.execute(
        """insert into legal_hold (organization_id, hold_id, responder_id, reason, created_time)
           values ($1, $1, $1, 'A suit', $2)""",
        *(tenant, NOW),
    )
    await database.execute(
        """insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
             unsubscribe_id) values ($1, 1, $2, $1, 'a@b', $1)""",
        *(tenant, digest),
    )
    await database.execute(
        """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
             short_code, locale, valid_days, editable, question_ids)
           values ($1, $1, $1, $1, $1, left($1, 12), 'en', 30, false, '{}')""",
        tenant,
    )
    await database.execute(
        """insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value)
           values ($1, $1, $1, $1, $1, '10')""",
        tenant,
    )
    await database.execute(
        """insert into response_file (organization_id, instance_id, file_id, question_id, name, media_type, bytes,
             content_hash, created_time) values ($1, $1, $1, $1, $1, 'text/plain', 1, sha256(''), now())""",
        tenant,
    )
    await database.execute("insert into stray_file (organization_id, file_id, due_time) values ($1, $1, now())", tenant)
    await database.execute(
        "insert into instance_tag (organization_id, instance_id, tag) values ($1, $1, 'vip')", tenant
    )
    await database.execute(
        "insert into channel_account (organization_id, account_id, channel_id) values ($1, $1, 1)", tenant
    )
    await database.execute(
        """insert into pipeline (organization_id, pipeline_id, questionnaire_id, account_id, channel_id, title)
           values ($1, $1, $1, $1, 1, 'title')""",
        tenant,
    )
    await database.execute(
        """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
             responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after,
             attempts_max, previous_item_id)
           values ($1, $1, $1, $1, 'a@b', $2, $3, 0, $3, $3, 8, $1)""",
        *(tenant, digest, NOW),
    )
    await database.execute(
        "insert into attempt (organization_id, item_id, epoch, owner) values ($1, $1, 1, gen_random_uuid())", tenant
    )
    await _fill_delivery(database, tenant)
    await _fill_mail(database, tenant)
    await _fill_webhooks(database, tenant)
    await _fill_alerts(database, tenant)
    await _fill_exports(database, tenant)
    await _fill_ways_in(database, tenant)
    await _fill_responses(database, tenant)
    await database.execute(
        """insert into public_link (organization_id, link_id, questionnaire_id, key, title, metadata, parameters,
             takes_reference, active, created_time, updated_time)
           values ($1, $1, $1, left(md5($1), 12), 'title', '{}', '{}', false, true, $2, $2)""",
        *(tenant, NOW),
    )


async def _fill_responses(database: db.Database, tenant: str) -> None:
    """A response that was read, a saved view, and a tagging of it."""
    await database.execute(
        """insert into response (organization_id, instance_id, questionnaire_id, application_id, version_id,
             responder_id, test, locale, submitted_time, words)
           values ($1, $1, $1, $1, $1, $1, false, 'en', $2, '')""",
        *(tenant, NOW),
    )
    await database.execute(
        "insert into response_reader (organization_id, user_id, seen_time) values ($1, $1, $2)", *(tenant, NOW)
    )
    await database.execute(
        "insert into response_read (organization_id, user_id, instance_id) values ($1, $1, $1)", tenant
    )
    await database.execute(
        """insert into response_view (organization_id, view_id, user_id, title, query, shared)
           values ($1, $1, $1, $1, '', false)""",
        tenant,
    )
    await database.execute(
        """insert into tagging (organization_id, tagging_id, tag, action, found, created_by, actor_kind)
           values ($1, $1, 'vip', 'add', 1, $1, 'user')""",
        tenant,
    )
    await database.execute(
        "insert into tagging_response (organization_id, tagging_id, instance_id) values ($1, $1, $1)", tenant
    )


async def _fill_ways_in(database: db.Database, tenant: str) -> None:
    """An import with a piece and a row, a sequence, and an act on many items."""
    await database.execute(
        """insert into queue_batch (organization_id, batch_id, action, dry_run, application_ids, test, turn_time,
             created_time, actor_kind) values ($1, $1, 'cancel', true, '{}', false, $2, $2, 'user')""",
        *(tenant, NOW),
    )
    await database.execute(
        """insert into queue_import (organization_id, import_id, questionnaire_id, pipeline_id, dry_run, strict,
             on_conflict, columns, places, rows_total, pieces, turn_time, created_time, actor_kind)
           values ($1, $1, $1, $1, false, false, 'error', '{locale}', '{1}', 1, 1, $2, $2, 'user')""",
        *(tenant, NOW),
    )
    await database.execute(
        """insert into queue_import_piece (organization_id, import_id, number, first_row, content)
           values ($1, $1, 0, 1, '')""",
        tenant,
    )
    await database.execute(
        "insert into queue_import_row (organization_id, import_id, row, state) values ($1, $1, 1, 'created')", tenant
    )
    await database.execute(
        """insert into queue_list (organization_id, list_id, questionnaire_id, pipeline_id, encoding, separator,
             has_header, check_id, import_id, created_time)
           values ($1, $1, $1, $1, 'utf-8', ',', true, $1, $1, $2)""",
        *(tenant, NOW),
    )
    await database.execute(
        """insert into queue_list_column (organization_id, application_id, name, meaning, used_time)
           values ($1, $1, 'Mail', '', $2)""",
        *(tenant, NOW),
    )
    await database.execute(
        """insert into sequence (organization_id, sequence_id, title, from_questionnaire_id, pipeline_id, created_time,
             updated_time) values ($1, $1, $1, $1, $1, $2, $2)""",
        *(tenant, NOW),
    )


async def _fill_exports(database: db.Database, tenant: str) -> None:
    """An export with a piece of its file."""
    await database.execute(
        """insert into export (organization_id, export_id, questionnaire_id, format, date_basis, values_as,
             include_metadata, include_incomplete, scopes)
           values ($1, $1, $1, 'csv', 'submitted', 'both', true, true, '{}')""",
        tenant,
    )
    await database.execute(
        "insert into export_piece (organization_id, export_id, number, bytes, content) values ($1, $1, 0, 0, '')",
        tenant,
    )


async def _fill_webhooks(database: db.Database, tenant: str) -> None:
    """A webhook and a delivery to it."""
    await database.execute(
        """insert into event (organization_id, event_id, type, actor_kind, data)
           values ($1, $1, 'tag.added', 'worker', '{}')""",
        tenant,
    )
    await database.execute(
        """insert into webhook (organization_id, webhook_id, title, target_url, questionnaire_id, application_id,
             event_types, secret) values ($1, $1, $1, $1, $1, $1, '{*}', 'x')""",
        tenant,
    )
    await database.execute(
        """insert into delivery (organization_id, delivery_id, webhook_id, event_id, event_type, subject_id, seq)
           values ($1, $1, $1, $1, 'tag.added', $1, 1)""",
        tenant,
    )


async def _fill_alerts(database: db.Database, tenant: str) -> None:
    """One row in each table of alerts and notifications."""
    await database.execute("delete from alert_status where organization_id = $1", tenant)
    await database.execute(
        """insert into alert_status (organization_id, status_id, application_id, title, color)
           values ($1, case $1 when $2 then 100 else 200 end, $1, 'title', '#112233')""",
        *(tenant, OURS),
    )
    await database.execute(
        """insert into alert (organization_id, alert_id, application_id, title, status_id, assigned_user_id)
           select $1, $1, $1, $1, status_id, $1 from alert_status where organization_id = $1""",
        tenant,
    )
    await database.execute(
        """insert into alert_instance (organization_id, alert_instance_id, alert_id, status_id, assigned_user_id,
             severity)
           select $1, $1, $1, status_id, $1, 'low' from alert_status where organization_id = $1""",
        tenant,
    )
    await database.execute(
        """insert into alert_occurrence (organization_id, alert_id, cause, alert_instance_id)
           values ($1, $1, '2026-11-21', $1)""",
        tenant,
    )
    await database.execute(
        """insert into alert_comment (organization_id, comment_id, alert_instance_id, author_id, body)
           values ($1, $1, $1, $1, 'body')""",
        tenant,
    )
    await database.execute(
        """insert into alert_history (organization_id, alert_instance_id, history_id, kind)
           values ($1, $1, $1, 'changed')""",
        tenant,
    )
    await database.execute(
        """insert into alert_message (organization_id, message_id, alert_instance_id, address, subject, body, locale)
           values ($1, $1, $1, 'ann@example.com', '', 'body', 'en')""",
        tenant,
    )
    await database.execute("insert into alert_settings (organization_id) values ($1)", tenant)
    await database.execute("insert into notification_subscription (organization_id, user_id) values ($1, $1)", tenant)
    await database.execute(
        """insert into notification_watch (organization_id, user_id, entity, entity_id)
           values ($1, $1, 'alert', $1)""",
        tenant,
    )
    await database.execute(
        "insert into login (login_id, email, password_hash) values ($1, $2, 'x')", tenant, f"{tenant}@login.example"
    )
    await database.execute(
        """insert into identity_provider (organization_id, issuer, client_id, created_time, updated_time)
           values ($1, 'https://login.example', $1, $2, $2)""",
        *(tenant, NOW),
    )
    await database.execute("insert into login_policy (organization_id, updated_time) values ($1, $2)", *(tenant, NOW))
    await database.execute(
        """insert into login_identity (organization_id, issuer, subject, user_id, login_id, created_time)
           values ($1, 'https://login.example', $1, $1, $1, $2)""",
        *(tenant, NOW),
    )
    await database.execute(
        """insert into login_session (digest, session_id, login_id, organization_id, user_id, device, network,
             expires_time)
           values ($3, $1, $1, $1, $1, '', '', $2)""",
        *(tenant, NOW, tenant.encode().ljust(32)),
    )
    await database.execute(
        """insert into login_link (digest, purpose, organization_id, user_id, expires_time)
           values ($3, 'invitation', $1, $1, $2)""",
        *(tenant, NOW, tenant.encode().ljust(32)),
    )
    await database.execute(
        "insert into notice_mail (organization_id, mail_id, user_id, due_time) values ($1, $1, $1, $2)",
        *(tenant, NOW),
    )
    await database.execute(
        """insert into notification (organization_id, notification_id, user_id, event_id, type, title, body, mail_id)
           values ($1, $1, $1, $1, 'alert_instance.created', $1, '', $1)""",
        tenant,
    )


async def _fill_mail(database: db.Database, tenant: str) -> None:
    await database.execute(
        """insert into domain_rate (organization_id, account_id, domain, rate, rate_ceiling)
           values ($1, $1, 'slow.example', 1, 2)""",
        tenant,
    )
    await database.execute(
        """insert into trial (organization_id, trial_id, questionnaire_id, pipeline_id, channel_id, recipient, locale,
             metadata)
           values ($1, $1, $1, $1, 1, 'a@b', 'en', '{}')""",
        tenant,
    )


async def _fill_delivery(database: db.Database, tenant: str) -> None:
    await database.execute(
        """insert into inbound_endpoint (organization_id, inbound_id, account_id, adapter)
           values ($1, $1, $1, 'provider')""",
        tenant,
    )
    await database.execute(
        """insert into delivery_report (organization_id, item_id, kind, is_hard, is_proven, code, said)
           values ($1, $1, 'delivered', false, true, '', '')""",
        tenant,
    )
    await database.execute(
        """insert into provider_reference (organization_id, account_id, provider_reference, item_id)
           values ($1, $1, $1, $1)""",
        tenant,
    )
