"""Names and values of metadata that arrived lately, beside the names that are declared."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from afterword.asking.questionnaires.metadata import service as metadata
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import Kind
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.listening.search.recent_values import store
from afterword.listening.search.recent_values.store import SeenValue

NEWEST: Final = 1_000  # instances or responders that are looked at
VALUES_MAX: Final = 20  # of a name
ROWS_MAX: Final = 4_000
DECLARED_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class SeenName:
    """A name, and its most frequent values. `count`: those that have it; `values_count`: of its different values."""

    name: str
    declared: bool
    count: int
    values_count: int
    values: Sequence[SeenValue]


async def find(db: Database, *, caller: Caller, kind: Kind) -> list[SeenName]:
    """The names that the newest instances or responders have, by name. People are the whole organization's."""
    organization_id = caller.organization_id
    if kind == "responder":
        caller.require_whole()
        caller.require_real()
        rows = await store.list_responder_values(
            db, organization_id=organization_id, newest=NEWEST, values_max=VALUES_MAX, limit=ROWS_MAX
        )
    else:
        rows = await store.list_instance_values(
            db,
            organization_id=organization_id,
            application_ids=caller.application_ids,
            test=caller.test,
            newest=NEWEST,
            values_max=VALUES_MAX,
            limit=ROWS_MAX,
        )
    definitions = await metadata.list_definitions(
        db,
        organization_id=organization_id,
        kind=kind,
        application_ids=caller.application_ids,
        page=Page.first(metadata.LISTING, limit=DECLARED_MAX),
    )
    declared = {one.name for one in definitions.items}
    return [
        SeenName(name, name in declared, values[0].name_count, values[0].values_count, values)
        for name, values in ((name, list(group)) for name, group in groupby(rows, key=lambda row: row.name))
    ]
