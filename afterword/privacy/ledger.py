"""The ledger of erasures as lines of JSON, kept outside of the database: ids and hashes, which name nobody."""

from collections.abc import AsyncGenerator, Iterable
from typing import Final

import msgspec

from afterword import errors
from afterword.kit import db
from afterword.privacy import store
from afterword.privacy.store import LedgerLine

LINES_A_READ: Final = 200


async def lines(pool: db.Pool) -> AsyncGenerator[str]:
    after = "", ""
    while True:
        async with db.connection(pool) as database:
            kept = await store.list_ledger_lines(database, after=after, limit=LINES_A_READ)
        for one in kept:
            yield _line(one)
            after = one.erasure.organization_id, one.erasure.erasure_id
        if len(kept) < LINES_A_READ:
            return


def read(text: str, *, name: str) -> Iterable[LedgerLine]:
    """The lines of a text that is called `name` in errors. Raises Invalid."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            document = msgspec.json.decode(line)
            kept = msgspec.convert(
                {
                    "erasure": {**document, "reason": None, "step": "", "mark": "", "salt": None, "version": 1},
                    "subjects": document["subjects"],
                    "suppressed": document["suppressed"],
                },
                LedgerLine,
            )
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise errors.Invalid(f"{name} is no ledger of erasures, in line {number}.") from error
        yield kept


def _line(kept: LedgerLine) -> str:
    """The members that a replay and a proof need; the reason and the progress stay in the database."""
    erasure = kept.erasure
    names = (
        "organization_id", "erasure_id", "responder_id", "mode", "suppress", "state", "counts", "requested_time",
        "finished_time", "requested_by", "checksum",
    )  # fmt: skip
    document = {name: getattr(erasure, name) for name in names}
    return msgspec.json.encode({**document, "subjects": kept.subjects, "suppressed": kept.suppressed}).decode()
