"""`python -m tests.run.worker.faults.dying` is `afterword web`, killed between a POST's commit and its answer."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from afterword.kit import db
from tests.run.worker.faults.mutants import flat


def arm() -> None:
    """From now on: a transaction that made a queue item is the last thing that this process does."""
    real, marked = db.transaction, set[int]()

    def marking(method: Any) -> Any:
        async def send(self: Any, query: Any, *values: object, **more: Any) -> Any:
            if "insert into queue_item " in flat(query):
                marked.add(id(self))
            return await method(self, query, *values, **more)

        return send

    @asynccontextmanager
    async def transaction(pool: db.Pool, *, actor: str = "") -> AsyncGenerator[db.Database]:
        async with real(pool, actor=actor) as database:
            yield database
        if id(database) in marked:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in ("fetch", "fetch_row", "fetch_value", "execute"):
        setattr(db.Database, name, marking(getattr(db.Database, name)))
    db.transaction = transaction


if __name__ == "__main__":
    import sys

    from afterword.__main__ import main

    arm()
    sys.argv[1:] = ["web"]
    main()
