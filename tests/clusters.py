"""Rights and settings of the tests' servers beside those of the product."""

from typing import Any

import asyncpg

from afterword.run import embedded


async def let_end_others(server: embedded.Server) -> None:
    """Let the role of the tests drop a database that PostgreSQL is vacuuming, and write without triggers."""
    admin: Any = await asyncpg.connect(server.superuser_url)
    try:
        await admin.execute("grant pg_signal_backend to afterword")
        await admin.execute("grant set on parameter session_replication_role to afterword")
    finally:
        await admin.close()
