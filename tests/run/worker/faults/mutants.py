"""Guards of the product, broken on purpose in one process: so a fault test can show that it would notice.

`AFTERWORD_TEST_MUTANT="begin is not fenced" pytest tests/run/worker/faults -k zombies` must fail;
test_teeth.py runs all pairs of RED at full size. Nothing in the product knows of this.
`python -m tests.run.worker.faults.mutants web` is `afterword web` with the guard of that variable broken.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import asyncpg

from afterword.kit import db
from afterword.run.worker import sender
from afterword.sending.queue.records import ITEM_COLUMNS

VARIABLE: Final = "AFTERWORD_TEST_MUTANT"


def flat(query: str) -> str:
    """The statement on one line, without comments."""
    return " ".join(" ".join(line.partition("--")[0].split()) for line in query.splitlines()).strip()


def mutate() -> None:
    """Break the guard that the environment names, if it names one."""
    name = os.environ.pop(VARIABLE, "")
    if name:
        MUTANTS[name]()


def arguments(command: str) -> list[str]:
    """Python's arguments for a command of the product, mutated or not."""
    return ["-m", "tests.run.worker.faults.mutants" if os.environ.get(VARIABLE) else "afterword", command]


def chosen() -> dict[str, str]:
    """The environment of a process that may be mutated."""
    return {VARIABLE: name} if (name := os.environ.get(VARIABLE)) else {}


def _statement(guard: str, instead: str) -> Callable[[], None]:
    """A mutant that changes a statement on its way to the database."""

    def broken(method: Any) -> Any:
        async def send(self: Any, query: Any, *values: object, **more: Any) -> Any:
            bare = flat(query)
            return await method(self, bare.replace(guard, instead) if guard in bare else query, *values, **more)

        return send

    def apply() -> None:
        for name in ("fetch", "fetch_row", "fetch_value", "execute"):
            setattr(db.Database, name, broken(getattr(db.Database, name)))

    return apply


def _commits_are_not_waited_for() -> None:
    create_pool: Any = asyncpg.create_pool

    def create(*given: Any, server_settings: Mapping[str, str], **more: Any) -> Any:
        return create_pool(*given, server_settings={**server_settings, "synchronous_commit": "off"}, **more)

    asyncpg.create_pool = create


def _nobody_polls() -> None:
    first_of: Any = sender.first_of

    async def wait(*events: Any, seconds: float | None = None) -> None:
        await first_of(*events)

    sender.first_of = wait


def _the_first_takes_all() -> None:
    share_slots: Any = sender.share_slots

    def deal(turns: Sequence[Any], **free: Any) -> Any:
        first = min((turn.organization_id for turn in turns), default="")
        return share_slots([turn for turn in turns if turn.organization_id == first], **free)

    sender.share_slots = deal  # pyrefly: ignore[bad-assignment]


MUTANTS: Final[Mapping[str, Callable[[], None]]] = {
    "the reaper forgets to write unknown": _statement(
        "outcome = 'unknown', reply = 'lease lost'", "outcome = 'retry', reply = ''"
    ),
    "the reaper waits for locks": _statement(
        "and lease_until < now() order by lease_until limit $1 for update skip locked",
        "and lease_until < now() order by lease_until limit $1 for update",
    ),
    "begin is not fenced": _statement(
        "insert into attempt (organization_id, item_id, epoch, owner) select * from moved "
        "returning organization_id, item_id, epoch",
        ", written as (insert into attempt (organization_id, item_id, epoch, owner) select * from moved) "
        "select organization_id, item_id, epoch from b",
    ),
    "handing back counts the attempt": _statement("attempts = q.attempts - 1 + b.counted", "attempts = q.attempts"),
    "claims begin at the beginning": _statement(
        "and due_time <= now() and due_time >= l.since", "and due_time <= now()"
    ),
    "commits are not waited for": _commits_are_not_waited_for,
    "nobody polls": _nobody_polls,
    "the first organization takes all": _the_first_takes_all,
    "all columns are asked for": _statement(flat(ITEM_COLUMNS), "*"),
}
RED: Final = (  # which mutant each test must notice
    ("test_crash.py::test_killed_workers", "the reaper forgets to write unknown"),
    ("test_crash.py::test_zombies", "begin is not fenced"),
    ("test_crash.py::test_recovery", "the reaper waits for locks"),
    ("test_database.py::test_database_restarts", "commits are not waited for"),
    ("test_neighbours.py::test_one_item_a_second_beside_many", "the first organization takes all"),
    ("test_races.py::test_second_thoughts", "begin is not fenced"),
    ("test_releases.py::test_newer_release_comes_and_goes", "all columns are asked for"),
    ("test_stop.py::test_stop_while_sending", "handing back counts the attempt"),
    ("test_volume.py::test_old_snapshot", "claims begin at the beginning"),
    ("test_polling.py::test_poll", "nobody polls"),
)

if __name__ == "__main__":
    from afterword.__main__ import main

    mutate()
    main()
