"""A promotion on one database: its rows are put back to an earlier moment, and its timeline is the next."""

from dataclasses import dataclass, field
from typing import Any

import asyncpg
import pytest

from afterword.sending.queue import records, restores
from afterword.sending.queue.sending import store

TABLES = (
    "sending_guard", "sending_worker", "responder", "responder_address", "questionnaire_instance", "queue_item",
    "attempt", "event", "suppression",
)  # fmt: skip


@dataclass
class Standby:
    """The rows of one moment; all that is committed after it is lost when this one is promoted."""

    database_url: str
    monkeypatch: pytest.MonkeyPatch
    rows: dict[str, tuple[str, Any]] = field(default_factory=dict[str, tuple[str, Any]])  # with the columns

    async def follow(self) -> None:
        """Receive all that there is."""
        connection: Any = await asyncpg.connect(self.database_url)
        for table in TABLES:
            columns = await connection.fetchval(
                """select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
                   where attrelid = $1::text::regclass and attnum > 0 and not attisdropped and attgenerated = ''""",
                table,
            )
            rows = await connection.fetchval(f"select coalesce(json_agg(t), '[]')::text from {table} t")
            self.rows[table] = (columns, rows)
        await connection.close()

    async def promote(self, *, timeline: int = 2) -> None:
        connection: Any = await asyncpg.connect(self.database_url)
        async with connection.transaction():
            await connection.execute("set local session_replication_role = replica")
            for table, (columns, rows) in self.rows.items():
                await connection.execute(f"delete from {table}")
                await connection.execute(
                    f"insert into {table} ({columns}) overriding system value "
                    f"select {columns} from json_populate_recordset(null::{table}, $1::text::json)",
                    rows,
                )
        await connection.close()
        claiming = store._CLAIMING.replace(records.TIMELINE, f"{timeline}::bigint")
        self.monkeypatch.setattr(store, "_CLAIMING", claiming)
        for module in (store, restores):
            self.monkeypatch.setattr(module, "TIMELINE", f"{timeline}::bigint")
