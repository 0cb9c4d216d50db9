"""Claims, begins and settles for `against`, by the code of whatever checkout stands in PYTHONPATH.

Reads a line with what to work on as JSON, then lines with numbers of items; answers each with a rate.
"""

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import uvloop

from afterword.core.wire.site import Site
from benchmarks import queue
from benchmarks.stage import POOL_SIZE

# A checkout from before there were areas has its packages at the top.
HAS_AREAS = find_spec("afterword.kit") is not None
db: Any = import_module("afterword.kit.db" if HAS_AREAS else "afterword.db")
access: Any = import_module(f"afterword.{'tenants.' if HAS_AREAS else ''}organizations.tokens.access")


async def work(order: dict[str, Any]) -> None:
    site = Site("http://localhost:8080", order["secret"].encode())
    seeded = SimpleNamespace(**order["seeded"])
    async with await db.open_pool(order["url"], size_max=POOL_SIZE) as pool:
        async with db.connection(pool) as database:
            caller = await access.authenticate(
                database, authorization=f"Bearer {seeded.token}", esat_auth=None, esat_domain=None
            )
        stage: Any = SimpleNamespace(
            folder=Path(), url=order["url"], pool=pool, site=site, seeded=seeded, caller=caller
        )
        for line in sys.stdin:  # nothing else runs here meanwhile
            rate = await queue.rate_of_moves(stage, int(line), batch=queue.SLOTS, loops=1)
            print(rate, flush=True)


if __name__ == "__main__":
    uvloop.run(work(json.loads(sys.stdin.readline())))
