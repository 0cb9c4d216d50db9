"""The form of a condition: rows, or JSON for a tree that rows cannot show, with names and values that were seen."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.asking.questionnaires import access, condition_rows, metadata, store as questionnaires_store
from afterword.asking.questionnaires.condition_rows import COMPARISONS, Row, Subject, Subjects
from afterword.asking.questionnaires.store import Questionnaire
from afterword.console.screens import Form, Visit
from afterword.core.organizations.access import Part
from afterword.core.questionnaires.conditions import kinds_of
from afterword.core.questionnaires.metadata import Kind
from afterword.kit.db import Database
from afterword.kit.texts import Marked, Texts
from afterword.kit.web import parsing
from afterword.listening.search import recent_values
from afterword.sending.queue.records import VALUE_SCOPES

VERSIONS_MAX: Final = 20  # questionnaires whose questions are offered
CONDITION_DEPTH_MAX: Final = 16  # of the 24 levels that a definition may have
GROUPS: Final[Mapping[str, Marked]] = {"all": "and", "any": "or"}


class Values(msgspec.Struct, frozen=True):
    """`document`: JSON, which holds in place of the rows."""

    group: str
    rows: Sequence[Row]
    document: str = ""


def stored(condition: object, known: Subjects) -> Values:
    found = condition_rows.rows_of(condition, known)
    return Values(*found) if found else Values("all", [], json_of(condition))


def typed(form: Form) -> Values:
    return Values(form.text("group"), condition_rows.typed_rows(form.text), form.text("document"))


def condition_of(visit: Visit, values: Values, known: Subjects) -> object:
    """Raises Invalid where the JSON is none, or a value does not fit its subject."""
    if not values.document:
        errors.check(condition_rows.faults(visit.words, values.rows, known))
        return condition_rows.document_of(values.group, values.rows, known)
    try:
        return parsing.read_json(values.document.encode(), depth_max=CONDITION_DEPTH_MAX)
    except errors.Malformed as error:
        raise errors.Invalid.at("/document", "invalid_format", visit.words("This is not valid JSON.")) from error


def place_of(pointer: str, values: Values) -> str:
    """The place in the form that a pointer of a request with `conditions` means."""
    head, *parts = pointer.removeprefix("/").split("/")
    if head != "conditions":
        return pointer
    return "/document" if values.document else f"/{condition_rows.place_of(parts, values.rows)}"


def values_of(words: Texts, values: Values, known: Subjects, *, first: Row | None = None) -> dict[str, Any]:
    """The variables of `condition` in conditions.html. `first`: a row to begin with."""
    return {
        "group": values.group if values.group in GROUPS else "all",
        "groups": {name: words(text) for name, text in GROUPS.items()},
        "rows": condition_rows.shown_rows([*values.rows, *([first] if first else [])]),
        "grouped": condition_rows.grouped(known),
        "labels": condition_rows.suggestions(words, known),
        "offered": condition_rows.offered(words, known),
        "comparisons": [(name, words(text), " ".join(kinds_of(name))) for name, text in COMPARISONS.items()],
        "document": values.document,
    }


def json_of(condition: object) -> str:
    return "" if condition is None else json.dumps(condition, ensure_ascii=False, indent=1)


async def subjects_of(
    visit: Visit, db: Database, listed: Sequence[Questionnaire] | None = None, *, application_ids: Sequence[str] = ()
) -> Subjects:
    """The questions of these questionnaires (None: of all), and the metadata, of these applications (none: of all)."""
    place, found = {"organization_id": visit.caller.organization_id}, dict[str, Subject]()
    if listed is None:
        listed = await access.offered(db, Part(**place, application_ids=application_ids))
    version_ids = [one.published_version_id for one in listed if one.published_version_id][:VERSIONS_MAX]
    versions = [await questionnaires_store.get_version(db, **place, version_id=each) for each in version_ids]
    definitions = [one.definition for one in versions]
    for application_id in application_ids or {one.owner_application_id for one in listed}:
        declared = await metadata.declared(db, **place, application_id=application_id)
        found |= condition_rows.subjects_of(visit.words, definitions=definitions, declared=declared)
    return found


async def with_seen(visit: Visit, db: Database, subjects: Subjects) -> Subjects:
    """The subjects with metadata that arrived lately, as far as this person may see their values."""
    caller, seen = visit.caller, dict[str, list[tuple[str, int]]]()
    kinds: tuple[Kind, ...] = ("questionnaire", "responder")
    for kind in kinds:
        if VALUE_SCOPES[kind] in caller.scopes and (kind == "questionnaire" or not caller.application_ids):
            for name in await recent_values.list_values(db, caller=caller, kind=kind):
                seen[f"{kind}_metadata:{name.name}"] = [(one.value, one.count) for one in name.values]
    return condition_rows.with_seen(visit.words, subjects, seen)
