"""Taking a person out of the tables of all slices: a handful of steps, each some rows at a time."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from afterword.asking.instances import service as instances
from afterword.asking.instances import store as instances_store
from afterword.asking.questionnaires.metadata import service as metadata
from afterword.cases.alert_instances import service as cases
from afterword.cases.messages import service as messages
from afterword.core.organizations.access import installation
from afterword.core.questionnaires.metadata import POINTERS, Declared
from afterword.kit.db import Database
from afterword.privacy.rows import store
from afterword.privacy.subjects.store import Person, ScanResult
from afterword.sending.queue.records import TEXTS

SCAN_EVENTS_MAX: Final = 5_000
SCAN_KEYS_MAX: Final = 500
SCAN_KEYS_BYTES_MAX: Final = 1_000_000  # of their answers
SCAN_MESSAGES_MAX: Final = 2_000
SCAN_IMPORTS_MAX: Final = 3  # each of up to 200,000 rows
PIECES_MAX: Final = 50  # of files, up to a megabyte each
ERASED: Final = "erased"

ITEM_BLANKS: Final[Mapping[str, Any]] = {
    "responder_channel_identifier": ERASED, **dict.fromkeys(TEXTS), "result": None, "external_reference": None,
    "trace": None, "metadata": {},
}  # fmt: skip
INSTANCE_BLANKS: Final[Mapping[str, Any]] = {
    "answers": [], "metadata": {"questionnaire": {}, "responder": {}}, "reference_id": None, "short_code": "",
}  # fmt: skip
TAG_BLANKS: Final[Mapping[str, Any]] = {"tag": ERASED}
RESPONDER_BLANKS: Final[Mapping[str, Any]] = {"locale": None, "time_zone": None, "metadata": {}}
SUPPRESSION_BLANKS: Final[Mapping[str, Any]] = {"identifier": ERASED, "note": None}
ADDRESS_BLANKS: Final[Mapping[str, Any]] = {**ITEM_BLANKS, **SUPPRESSION_BLANKS}

Scan = Callable[..., Awaitable[ScanResult]]  # its argument `after` is the row that it goes on behind


def scans(db: Database, *, organization_id: str, erasure_id: str, person: Person) -> dict[str, tuple[str, Scan]]:
    """Scans of tables that have no index by person: the resource that each changes, and its continuation behind a row.

    They recognise the person by the addresses, so they come before those go.
    """
    scope: dict[str, Any] = {"organization_id": organization_id}
    both: dict[str, Any] = {**scope, "erasure_id": erasure_id}
    of_person: dict[str, Any] = {**scope, "person": person}
    of_both: dict[str, Any] = {**both, "person": person}
    keys = {"limit": SCAN_KEYS_MAX, "bytes_max": SCAN_KEYS_BYTES_MAX}

    async def import_rests(*, after: str) -> ScanResult:
        del after  # what is removed is not met again
        count = await store.delete_import_rests(db, **scope, limit=PIECES_MAX)
        count = max(count, await store.update_lists(db, **scope, limit=PIECES_MAX))
        return count, "more" if count == PIECES_MAX else None

    return {
        "events": (
            "Event",
            partial(store.update_events_by_address, db, **of_person, blanks=ADDRESS_BLANKS, limit=SCAN_EVENTS_MAX),
        ),
        "kept answers": ("Kept Answer", partial(store.update_kept_answers, db, **of_both, **keys)),
        "messages": ("Outbox Message", partial(store.delete_captured, db, **of_both, limit=SCAN_MESSAGES_MAX)),
        "trials": ("Test Send", partial(store.delete_test_messages, db, **of_person, limit=SCAN_MESSAGES_MAX)),
        "import rows": ("Import Row", partial(store.update_import_rows, db, **both, limit=SCAN_IMPORTS_MAX)),
        "import rests": ("Import", import_rests),
    }


async def blank_items(
    db: Database, *, organization_id: str, item_ids: Sequence[str], salt: bytes, is_change: bool = True
) -> Counter[str]:
    """Leave of ended items, their attempts and events what happened and when.

    `is_change`: it is new to clients who ask for what changed; else it is as old as before.

    The rows come first: whoever is writing an event of one with the address is waited for, whoever comes next reads
    what is left.
    """
    key: dict[str, Any] = {"organization_id": organization_id, "item_ids": item_ids}
    counts = Counter[str]()
    counts["Queue Item"] += await store.update_items(db, **key, salt=salt, is_change=is_change)
    counts["Attempt"] += await store.update_attempts(db, **key)
    counts["Delivery Report"] += await store.update_reports(db, **key)
    counts["Provider Reference"] += await store.delete_references(db, **key)
    await store.update_reported(db, organization_id=organization_id, subject_ids=item_ids)
    return counts + await blank_events(db, organization_id=organization_id, subject_ids=item_ids, blanks=ITEM_BLANKS)


async def blank_instances(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], is_whole: bool, now: datetime
) -> Counter[str]:
    """Leave of instances the scores and when they were given, or, if `is_whole`, nothing that counts anywhere.

    The rows come before the answers: whoever is saving some at this moment is waited for.
    """
    key: dict[str, Any] = {"organization_id": organization_id, "instance_ids": instance_ids}
    counts = Counter[str]()
    if is_whole:
        for instance_id in instance_ids:
            await _delete(db, organization_id=organization_id, instance_id=instance_id, now=now)
    counts["Questionnaire Instance"] += await _blank_values(db, **key, is_whole=is_whole)
    if is_whole:
        counts["Answer"] += await store.delete_answers(db, **key)
        counts["Tag"] += await store.delete_tags(db, **key)
    else:
        counts["Answer"] += await store.delete_texts(db, **key)
    blanks = {**INSTANCE_BLANKS, **(TAG_BLANKS if is_whole else {})}
    return counts + await blank_events(db, organization_id=organization_id, subject_ids=instance_ids, blanks=blanks)


async def remove_texts(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], blanks: Mapping[str, Any]
) -> Counter[str]:
    """Remove the words of answers, but for files, which may be kept for another time."""
    key: dict[str, Any] = {"organization_id": organization_id, "instance_ids": instance_ids}
    counts = Counter({"Answer": await store.delete_texts(db, **key, has_files=False)})
    return counts + await blank_events(db, organization_id=organization_id, subject_ids=instance_ids, blanks=blanks)


async def remove_values(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], blanks: Mapping[str, Any]
) -> Counter[str]:
    """Leave of the metadata of instances what says nothing of a person, and end their links."""
    key: dict[str, Any] = {"organization_id": organization_id, "instance_ids": instance_ids}
    counts = Counter({"Questionnaire Instance": await _blank_values(db, **key, is_whole=False)})
    return counts + await blank_events(db, organization_id=organization_id, subject_ids=instance_ids, blanks=blanks)


async def _blank_values(db: Database, *, organization_id: str, instance_ids: Sequence[str], is_whole: bool) -> int:
    count = 0
    grouped = await store.list_questionnaires_of(db, organization_id=organization_id, instance_ids=instance_ids)
    for questionnaire_id, members in grouped.items():
        declared = await metadata.declared_of(db, organization_id=organization_id, questionnaire_id=questionnaire_id)
        count += await store.update_instances(
            db,
            organization_id=organization_id,
            instance_ids=members,
            kept_names=() if is_whole else impersonal(declared),
        )
    return count


async def blank_events(
    db: Database, *, organization_id: str, subject_ids: Sequence[str], blanks: Mapping[str, Any]
) -> Counter[str]:
    """Take the person out of what the log tells of these, and out of what receivers answered to it."""
    key: dict[str, Any] = {"organization_id": organization_id, "subject_ids": subject_ids}
    return Counter(
        {
            "Event": await store.update_events(db, **key, blanks=blanks),
            "Delivery": await store.update_deliveries(db, **key),
        }
    )


async def end_exports(db: Database, *, organization_id: str, erasure_id: str, is_begun: bool) -> tuple[int, bool]:
    """End files that the person may stand in; how many, and whether all their pieces are gone.

    What is written once it `is_begun` is written without the person, so it is not begun again.
    """
    ended = 0 if is_begun else await store.update_exports(db, organization_id=organization_id, erasure_id=erasure_id)
    pieces = await store.delete_export_pieces(db, organization_id=organization_id, limit=PIECES_MAX)
    return ended, pieces < PIECES_MAX


async def blank_person(db: Database, *, organization_id: str, person: Person) -> tuple[Counter[str], int | None]:
    """Leave of the person an id, and of suppressions the key they work by; also the responder's new version."""
    responder_id = person.responder_id
    counts = await blank_events(
        db, organization_id=organization_id, subject_ids=[responder_id], blanks=RESPONDER_BLANKS
    )
    await cases.erase_answers(db, responses=(), responders=[(organization_id, responder_id)])
    await messages.erase(db, responders=[(organization_id, responder_id)])
    counts["Contact"] += await store.delete_contacts(db, organization_id=organization_id, keys=person.keys)
    counts["Suppression"] += await store.update_suppressions(db, organization_id=organization_id, keys=person.keys)
    counts["Address"] += await store.delete_addresses(db, organization_id=organization_id, responder_id=responder_id)
    version = await store.update_responder(db, organization_id=organization_id, responder_id=responder_id)
    counts["Responder"] += version is not None
    return counts, version


def impersonal(declared: Declared) -> list[str]:
    """The names whose values say nothing of a person: declared, not marked as personal, and no pointer to an order."""
    names = declared.questionnaire.items()
    return sorted(name for name, definition in names if not definition.anonymize and name not in POINTERS)


async def _delete(db: Database, *, organization_id: str, instance_id: str, now: datetime) -> None:
    """Take it out of everything, as its DELETE does, so that counts and alerts hear of it; twice changes nothing."""
    found = await instances_store.get_instance(db, organization_id=organization_id, instance_id=instance_id)
    if found is not None:
        await instances.take_out(db, caller=installation(organization_id), instance=found, now=now)
