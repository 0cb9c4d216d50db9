"""Declares metadata names, and caches those of each application for a moment."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import Declared, Kind
from afterword.db import Database
from afterword.errors import FieldError
from afterword.organizations import checks
from afterword.organizations.applications import get_has_type
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.metadata import store
from afterword.questionnaires.metadata.store import Definition

DEFINITIONS_MAX: Final = 200  # of a kind, in an organization
KEPT_SECONDS: Final = 2
KEPT_MAX: Final = 2_000
OWNERS_KEPT_MAX: Final = 10_000
_WANTED: Final = {
    "application": "Name the application, or declare the name for all of them with the level organization.",
    "application_type": "Name the type of application.",
}

# Recently read declarations by organization and application: every POST needs them.
_kept: OrderedDict[tuple[str, str], tuple[datetime, Declared]] = OrderedDict()
# The owner of a questionnaire never changes, so it is read once.
_owners: OrderedDict[tuple[str, str], str] = OrderedDict()


async def declared(db: Database, *, organization_id: str, application_id: str) -> Declared:
    """Changes by other processes show after `KEPT_SECONDS`. An unknown application has the names of the product."""
    key, now = (organization_id, application_id), db.clock.now()
    kept = _kept.get(key)
    # A negative age means that the database was restored: nothing cached holds.
    if kept is not None and timedelta(0) <= now - kept[0] < timedelta(seconds=KEPT_SECONDS):
        return kept[1]
    found = await store.get_declared(db, organization_id=organization_id, application_id=application_id)
    if found is None:
        return metadata.GLOBAL
    known = metadata.declared_for(*found)
    _kept[key] = now, known
    _kept.move_to_end(key)
    while len(_kept) > KEPT_MAX:
        _kept.popitem(last=False)
    return known


async def declared_of(
    db: Database, *, organization_id: str, questionnaire_id: str, application_ids: Sequence[str] = ()
) -> Declared:
    """The names declared for the application of a questionnaire, from the cache if it has them."""
    key = organization_id, questionnaire_id
    application_id = _owners.get(key)
    if application_id is None:
        questionnaire = await questionnaires_store.get_questionnaire(
            db, organization_id=organization_id, questionnaire_id=questionnaire_id
        )
        application_id = _owners[key] = questionnaire.owner_application_id
        while len(_owners) > OWNERS_KEPT_MAX:
            _owners.popitem(last=False)
    if application_ids and application_id not in application_ids:
        raise errors.NotFound("There is no such questionnaire.")
    return await declared(db, organization_id=organization_id, application_id=application_id)


async def get(db: Database, *, caller: Caller, kind: Kind, metadata_id: str) -> Definition:
    """A definition that the caller may see, the product's included. Raises NotFound."""
    for one in metadata.PRODUCT:
        if (one.kind, one.metadata_id) == (kind, metadata_id):
            return Definition.of_product(one)
    return await store.get_definition(db, **caller.part, kind=kind, metadata_id=metadata_id)


async def declare(db: Database, *, caller: Caller, kind: Kind, columns: Mapping[str, Any], now: datetime) -> Definition:
    """Declare a name; `columns` are those that a client may set, all of them.

    Raises Invalid (`unknown_id`, `required`, `exclusive`, `too_many`), Forbidden for a caller of some applications
    who declares more widely, Conflict where the name is taken at its level.
    """
    await _require_known(db, caller=caller, columns=columns)
    _require_level(columns)
    if columns["level"] != "application":
        caller.require_whole()
    await store.claim_names(db, organization_id=caller.organization_id)
    count = await store.count_definitions(db, organization_id=caller.organization_id, kind=kind)
    if count >= DEFINITIONS_MAX:
        raise errors.Invalid.at("", "too_many", f"An organization declares at most {DEFINITIONS_MAX} names of a kind.")
    made = await store.insert_definition(
        db,
        organization_id=caller.organization_id,
        metadata_id=ids.ordered(now),
        document={**columns, "kind": kind},
        now=now,
        by=caller.actor_id,
    )
    if made is None:
        raise errors.Conflict("This name is declared at this level already.")
    _forget(caller.organization_id)
    return made


async def change(
    db: Database,
    *,
    caller: Caller,
    kind: Kind,
    metadata_id: str,
    columns: Mapping[str, Any],
    check_version: Callable[[int], None],
    now: datetime,
) -> Definition:
    """Set these columns. Raises NotFound, Stale, Forbidden (the product's, or out of reach)."""
    before = await _changeable(db, caller=caller, kind=kind, metadata_id=metadata_id, check_version=check_version)
    after = await store.update_definition(
        db, organization_id=caller.organization_id, metadata_id=metadata_id, **columns, now=now, by=caller.actor_id
    )
    _forget(caller.organization_id)
    return after or before


async def delete(
    db: Database, *, caller: Caller, kind: Kind, metadata_id: str, check_version: Callable[[int], None]
) -> None:
    """Delete a definition; values of its name stay, undeclared. Raises as `change` does."""
    await _changeable(db, caller=caller, kind=kind, metadata_id=metadata_id, check_version=check_version)
    await store.delete_definition(db, organization_id=caller.organization_id, metadata_id=metadata_id)
    _forget(caller.organization_id)


async def _changeable(
    db: Database, *, caller: Caller, kind: Kind, metadata_id: str, check_version: Callable[[int], None]
) -> Definition:
    # Locked, so that the checked version is the changed one.
    await store.claim_names(db, organization_id=caller.organization_id)
    found = await get(db, caller=caller, kind=kind, metadata_id=metadata_id)
    check_version(found.version)
    if found.read_only:
        raise errors.Forbidden("This name belongs to the product and cannot be changed.")
    if found.level != "application":
        caller.require_whole()
    return found


async def _require_known(db: Database, *, caller: Caller, columns: Mapping[str, Any]) -> None:
    wrong: list[FieldError] = []
    application_id, type_id = columns["application_id"], columns["application_type_id"]
    if application_id is not None:
        wrong += await checks.reach_errors(db, caller=caller, application_id=application_id)
    if type_id is not None and not await get_has_type(db, application_type_id=type_id):
        wrong.append(FieldError("unknown_id", "There is no such application type.", pointer="/application_type_id"))
    errors.check(wrong)


def _require_level(columns: Mapping[str, Any]) -> None:
    """Raise Invalid unless exactly the id of the level is given."""
    wrong: list[FieldError] = []
    wanted = columns["level"]
    for level, sentence in _WANTED.items():
        name = f"{level}_id"
        if wanted == level and columns[name] is None:
            wrong.append(FieldError("required", sentence, pointer=f"/{name}"))
        elif wanted != level and columns[name] is not None:
            wrong.append(FieldError("exclusive", f"A name of the level {wanted} has none.", pointer=f"/{name}"))
    errors.check(wrong)


def _forget(organization_id: str) -> None:
    for key in [key for key in _kept if key[0] == organization_id]:
        del _kept[key]
