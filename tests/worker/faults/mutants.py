"""Guards of the product, and what stands in their place in a process that a test breaks on purpose.

A mutant changes one statement on its way to the database, in one process alone. The tests with mutants show that the
reconciler would notice; nothing in the product knows of them.
"""

from collections.abc import Mapping
from typing import Any, Final

from afterword import db

MUTANTS: Final[Mapping[str, tuple[str, str]]] = {
    "the reaper forgets to write unknown": ("outcome = 'unknown', reply = 'lease lost'", "outcome = 'retry', reply = ''"),
    "begin is not fenced": (
        "insert into attempt (organization_id, item_id, epoch, owner) select * from moved "
        "returning organization_id, item_id, epoch",
        ", written as (insert into attempt (organization_id, item_id, epoch, owner) select * from moved) "
        "select organization_id, item_id, epoch from b",
    ),
    "the reaper sleeps": ("from queue_item where status in (2, 3) and lease_until < now()", "from queue_item where false"),
    "the reaper waits for locks": (
        "and lease_until < now() order by lease_until limit $1 for update skip locked",
        "and lease_until < now() order by lease_until limit $1 for update",
    ),
    "stopping counts the attempt": ("attempts = q.attempts - 1 + b.counted", "attempts = q.attempts"),
    "cancelling is not guarded": ("and status in (1, 2)", "and status < 7"),
    "the idempotency key is forgotten": ("on conflict (organization_id, key) do nothing", "on conflict do nothing"),
}


def flat(query: str) -> str:
    """The statement on one line, without comments."""
    return " ".join(" ".join(line.partition("--")[0].split()) for line in query.splitlines() if line.split("--")[0].strip())


def mutate(name: str) -> None:
    """Break this guard in every statement that this process sends from now on."""
    guard, instead = MUTANTS[name]

    def broken(method: Any) -> Any:
        async def send(self: Any, query: Any, *values: object) -> Any:
            bare = flat(query)
            return await method(self, bare.replace(guard, instead) if guard in bare else query, *values)

        return send

    for method in ("fetch", "fetch_row", "fetch_value", "execute"):
        setattr(db.Database, method, broken(getattr(db.Database, method)))
