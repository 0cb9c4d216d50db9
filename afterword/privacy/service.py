"""Erasing a person: asked for in one transaction, worked off in many, proven by a line that outlives the person.

What is done is decided by `STEPS`, in their order.
"""

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec.structs import asdict

from afterword import errors, ids
from afterword.asking.instances import responders as shown_responders
from afterword.core.messaging.addresses import mask
from afterword.core.organizations.access import Caller
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit import db
from afterword.kit.db import Database, Taken
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.db.leases import StepResult, take
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.web import fields
from afterword.listening.responses import rows as responses
from afterword.people.responders import service as responders, store as responders_store
from afterword.people.responders.service import NewSuppression
from afterword.privacy import rows, subjects as subjects_store
from afterword.privacy.subjects import Person
from afterword.tenants.organizations import retention as holds

Mode = Literal["erase", "anonymize"]


class Erasure(msgspec.Struct, frozen=True, kw_only=True):
    """An erasure: its request, its progress and, once done, its proof: counts, times and a checksum."""

    organization_id: Annotated[str, Hidden()]
    erasure_id: fields.Id
    responder_id: fields.Id
    mode: Mode
    suppress: bool
    reason: str | None
    state: Literal["running", "done"]
    counts: dict[str, int]
    requested_time: datetime
    finished_time: datetime | None
    requested_by: fields.Id | None
    checksum: str | None
    step: Annotated[str, Hidden()]
    mark: Annotated[str, Hidden()]
    salt: Annotated[bytes | None, Hidden()]  # while it runs
    version: Annotated[int, Hidden()]

    @property
    def key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "erasure_id": self.erasure_id}


_COLUMNS: Final = columns_of(Erasure)
_NEW: Final[LiteralString] = "erasure_id, responder_id, mode, suppress, reason, requested_time, requested_by, salt"
_COLUMNS_E: Final = qualified(_COLUMNS, "e")


class LedgerLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the ledger as it is kept outside of the database: ids and hashes alone."""

    erasure: Erasure
    subjects: dict[str, list[str]]
    suppressed: list[tuple[int, str]]  # channel_id, the key in hexadecimal


async def count_running(db: Database) -> int:  # any tenant: a command of the operator waits for all of them
    return await db.fetch_value("select count(*) from erasure where state = 'running'")


async def _insert_erasure(db: Database, *, organization_id: str, erasure: Mapping[str, Any]) -> Erasure | None:
    """Add it to the ledger, unless it is there; raises Taken while another one of this person runs."""
    return await db.records(Erasure).fetch_row(
        f"""insert into erasure (organization_id, {_NEW})
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           on conflict (organization_id, erasure_id) do nothing returning {_COLUMNS}""",
        organization_id,
        *(erasure[name] for name in _NEW.split(", ")),
    )


async def _insert_subjects(
    db: Database, *, organization_id: str, erasure_id: str, kind: str, subject_ids: Sequence[str]
) -> None:
    await db.execute(
        """insert into erasure_subject (organization_id, erasure_id, kind, subject_id)
           select $1, $2, $3, unnest($4::text[]) on conflict do nothing""",
        *(organization_id, erasure_id, kind, subject_ids),
    )


async def _claim_erasure(db: Database, *, now: datetime) -> Erasure | None:  # any tenant: workers serve all
    return await db.records(Erasure).fetch_row(
        f"""select {_COLUMNS} from erasure where state = 'running' and due_time <= $1
           order by due_time limit 1 for update skip locked""",
        now,
    )


async def _settle_step(
    db: Database, *, work: "Work", step: str, mark: str, counts: Mapping[str, int], due_time: datetime
) -> None:
    await db.execute(
        """update erasure set step = $3, mark = $4, counts = $5, due_time = $6, version = version + 1
           where organization_id = $1 and erasure_id = $2 and state = 'running'""",
        *(*work.key.values(), step, mark, dict(counts), due_time),
    )


async def _settle_erasure(db: Database, *, work: "Work", counts: Counter[str]) -> None:
    """It is done; the key of its hashes is thrown away."""
    told = {name: count for name, count in sorted(counts.items()) if count}
    known = {
        kind: await subjects_store.list_subjects(db, **work.key, kind=kind, after="", limit=CHECKED_MAX)
        for kind in ("item", "instance", "suppression")
    }
    await db.execute(
        """update erasure set state = 'done', step = 'done', mark = '', counts = $3, checksum = $4, finished_time = $5,
             salt = null, version = version + 1
           where organization_id = $1 and erasure_id = $2 and state = 'running'""",
        *work.key.values(),
        *(told, checksum(work.erasure, counts=told, subjects=known), work.now),
    )


async def _list_ledger_lines(  # any tenant: the ledger is the installation's
    db: Database, *, after: tuple[str, str], limit: int
) -> list[LedgerLine]:
    """The next lines of the ledger behind (organization_id, erasure_id)."""
    rows = await db.fetch(
        f"""select {_COLUMNS_E},
             (select coalesce(jsonb_object_agg(s.kind, s.subject_ids), '{{}}') from (
                select kind, jsonb_agg(subject_id order by subject_id) as subject_ids from erasure_subject
                where organization_id = e.organization_id and erasure_id = e.erasure_id group by kind) s) as subjects,
             (select coalesce(jsonb_agg(jsonb_build_array(p.channel_id, encode(p.address_key, 'hex'))), '[]')
              from erasure_subject s
                join suppression p on p.organization_id = s.organization_id and p.suppression_id = s.subject_id
              where s.organization_id = e.organization_id and s.erasure_id = e.erasure_id and s.kind = 'suppression'
                and p.reason = 'erased') as suppressed
           from erasure e where (e.organization_id, e.erasure_id) > ($1, $2)
           order by e.organization_id, e.erasure_id limit $3""",
        *after,
        limit,
    )
    return [
        LedgerLine(
            erasure=Erasure(**{name: row[name] for name in Erasure.__struct_fields__}),
            subjects=row["subjects"],
            suppressed=row["suppressed"],
        )
        for row in rows
    ]


async def _get_has_organization(db: Database, *, organization_id: str) -> bool:
    """Whether the organization is there: a restored backup may be older than it."""
    return await db.fetch_value("select exists (select from organization where organization_id = $1)", organization_id)


WAIT_SECONDS: Final = 2  # until something on its way has come to its end
ITEMS_MAX: Final = 100  # blanked in one transaction, with their attempts and events
INSTANCES_MAX: Final = 50
SALT_BYTES: Final = 32
FIRST: Final = "imports"
DONE: Final = "done"
CHECKED_MAX: Final = 10_000  # ids of a kind that the checksum covers


class Work(msgspec.Struct, frozen=True, kw_only=True):
    erasure: Erasure
    person: Person
    now: datetime

    @property
    def key(self) -> dict[str, str]:
        return self.erasure.key


Step = Callable[[Database, Work], Awaitable[StepResult]]


async def request(
    db: Database, *, caller: Caller, responder_id: str, mode: Mode, suppress: bool, reason: str | None, now: datetime
) -> Erasure:
    """Begin to erase a person; the addresses are left alone from this very transaction on, if so wished.

    A person belongs to the whole organization: callers who see a part of it, or test data alone, are refused. Raises
    NotFound, Forbidden, Conflict while one of the person runs, and Held of a legal hold.
    """
    await shown_responders.get(db, caller=caller, responder_id=responder_id)
    caller.require_all()
    await holds.require_not_held(db, organization_id=caller.organization_id, responder_id=responder_id)
    addresses = await responders_store.list_addresses(
        db, organization_id=caller.organization_id, responder_id=responder_id
    )
    known = [address.identifier for address in addresses]
    document = {
        "erasure_id": ids.ordered(now),
        "responder_id": responder_id,
        "mode": mode,
        "suppress": suppress,
        "reason": reason and mask(reason, *known),
        "requested_time": now,
        "requested_by": caller.actor_id or None,
        "salt": secrets.token_bytes(SALT_BYTES),
    }
    try:
        erasure = await _insert_erasure(db, organization_id=caller.organization_id, erasure=document)
    except Taken as error:
        raise errors.Conflict("This person is being erased.") from error
    if erasure is None:
        raise AssertionError("a new id is free")
    if suppress:
        keys = [(address.channel_id, address.address_key.hex()) for address in addresses]
        await _suppress(db, erasure=erasure, keys=keys, actor=Actor.of(caller), now=now)
    return erasure


async def get_erasure(db: Database, *, caller: Caller, erasure_id: str) -> Erasure:
    """Also when the person is long gone. Callers who see a part of the organization see no erasures."""
    found = await db.records(Erasure).fetch_row(
        f"select {_COLUMNS} from erasure where organization_id = $1 and erasure_id = $2",
        *(caller.organization_id, erasure_id),
    )
    if found is None or caller.is_limited:
        raise errors.NotFound("There is no such erasure.")
    return found


async def list_erasures(db: Database, *, caller: Caller, before: str, limit: int) -> list[Erasure]:
    """Newest first, as their ids are; `before`: those before this id, of all where it is empty. Raises Forbidden."""
    caller.require_all()
    return await db.records(Erasure).fetch(
        f"""select {_COLUMNS} from erasure where organization_id = $1 and ($2 = '' or erasure_id < $2)
           order by erasure_id desc limit $3""",
        *(caller.organization_id, before, limit),
    )


async def work_next(db: Database, *, now: datetime) -> int:
    """A turn of the erasure that waited longest; 0: there is none. A failed turn is logged and tried again later."""
    erasure = await _claim_erasure(db, now=now)
    if erasure is None:
        return 0
    person = await subjects_store.get_person(db, **erasure.key, responder_id=erasure.responder_id)
    work = Work(erasure=erasure, person=person, now=now)
    turn = await take(db, STEPS[erasure.step](db, work), erasure_id=erasure.erasure_id, step=erasure.step)
    counts = Counter(erasure.counts) + turn.counts
    step, mark, due_time = erasure.step, turn.mark or "", now
    if turn.waits:
        mark, due_time = erasure.mark, now + timedelta(seconds=WAIT_SECONDS)
    elif turn.back is not None:
        step = turn.back
    elif turn.mark is None:
        names = [*STEPS, DONE]
        step = names[names.index(step) + 1]
    if step == DONE:
        await _settle_erasure(db, work=work, counts=counts)
    else:
        await _settle_step(db, work=work, step=step, mark=mark, counts=counts, due_time=due_time)
    return 1


async def replay(db: Database, *, kept: LedgerLine, now: datetime) -> bool:
    """Begin an erasure anew after an older backup was restored; False where it is done there, or nothing is there.

    `work_next` does the rest, on the ids of the ledger and on all else that the backup knows of the person.
    """
    erasure = kept.erasure
    if not await _get_has_organization(db, organization_id=erasure.organization_id):
        return False
    document = {**asdict(erasure), "reason": None, "salt": secrets.token_bytes(SALT_BYTES)}
    made = await _insert_erasure(db, organization_id=erasure.organization_id, erasure=document)
    if made is None:
        return False
    for kind, subject_ids in kept.subjects.items():
        if kind != "suppression":  # those get new ids
            await _insert_subjects(db, **erasure.key, kind=kind, subject_ids=subject_ids)
    if kept.suppressed:
        await _suppress(db, erasure=made, keys=kept.suppressed, actor=Actor(), now=now)
    return True


async def _suppress(
    db: Database, *, erasure: Erasure, keys: Sequence[tuple[int, str]], actor: Actor, now: datetime
) -> None:
    """Leave the addresses alone for good; of each the key alone is kept."""
    new = [
        NewSuppression(erasure.organization_id, channel_id, bytes.fromhex(key), key, "erased")
        for channel_id, key in keys
    ]
    await responders.suppress_addresses(db, suppressions=new, now=now, actor=actor)
    found = await responders_store.list_suppressions_for(
        db, addresses=[(one.organization_id, one.channel_id, one.address_key) for one in new], now=now
    )
    subject_ids = [one.suppression_id for one in found]
    await _insert_subjects(db, **erasure.key, kind="suppression", subject_ids=subject_ids)


async def _wait_for_imports(db: Database, work: Work) -> StepResult:
    """Wait until the rows of earlier imports are items, so that these are erased too."""
    return StepResult(waits=await subjects_store.get_has_open_import(db, **work.key))


async def _find_by_indexes(db: Database, work: Work) -> StepResult:
    await subjects_store.find_by_indexes(db, **work.key, person=work.person)
    return StepResult()


async def _cancel_open_items(db: Database, work: Work) -> StepResult:
    """Nothing more leaves; what is being sent at this moment comes to its end first."""
    ended, is_over = await subjects_store.cancel_open_items(db, **work.key)
    counts = Counter({"Cancelled Queue Item": ended})
    if is_over or ended:
        return StepResult(counts=counts, mark="more" if ended else None)
    return StepResult(waits=True)


async def _find_by_scan(db: Database, work: Work) -> StepResult:
    last = await subjects_store.insert_scanned_subjects(db, **work.key, person=work.person, after=work.erasure.mark)
    return StepResult(mark=last)


def _scan(name: str) -> Step:
    async def step(db: Database, work: Work) -> StepResult:
        resource, (count, last) = await rows.scan(db, name, **work.key, person=work.person, after=work.erasure.mark)
        return StepResult(counts=Counter({resource: count}), mark=last)

    return step


async def _blank_items(db: Database, work: Work) -> StepResult:
    item_ids = await _subjects(db, work, "item", ITEMS_MAX)
    salt = work.erasure.salt or b""
    counts = await rows.blank_items(db, organization_id=work.erasure.organization_id, item_ids=item_ids, salt=salt)
    return StepResult(counts=counts, mark=item_ids[-1] if len(item_ids) == ITEMS_MAX else None)


async def _blank_instances(db: Database, work: Work) -> StepResult:
    instance_ids = await _subjects(db, work, "instance", INSTANCES_MAX)
    counts = await rows.blank_instances(
        db,
        organization_id=work.erasure.organization_id,
        instance_ids=instance_ids,
        is_whole=work.erasure.mode == "erase",
        now=work.now,
    )
    return StepResult(counts=counts, mark=instance_ids[-1] if len(instance_ids) == INSTANCES_MAX else None)


async def _end_exports(db: Database, work: Work) -> StepResult:
    ended, is_over = await rows.end_exports(db, **work.key, is_begun=bool(work.erasure.mark))
    return StepResult(counts=Counter({"Export": ended}), mark=None if is_over else "more")


async def _blank_person(db: Database, work: Work) -> StepResult:
    """Whoever was written to or answered in the meantime goes round again."""
    erasure = work.erasure
    if await subjects_store.find_by_indexes(db, **work.key, person=work.person):
        return StepResult(back="open items")
    suppression_ids = await _subjects(db, work, "suppression", ITEMS_MAX)
    counts = await rows.blank_events(
        db, organization_id=erasure.organization_id, subject_ids=suppression_ids, blanks=rows.SUPPRESSION_BLANKS
    )
    more, version = await rows.blank_person(db, organization_id=erasure.organization_id, person=work.person)
    await events.record(db, events=[_erased(work, version)])
    return StepResult(counts=counts + more)


async def _write_responses(db: Database, work: Work) -> StepResult:
    """The last step: rows of responses are made of what is left, and nobody makes them of anything else any more."""
    instance_ids = await _subjects(db, work, "instance", INSTANCES_MAX)
    if not await responses.rewrite(db, organization_id=work.erasure.organization_id, instance_ids=instance_ids):
        return StepResult(waits=True)
    return StepResult(mark=instance_ids[-1] if len(instance_ids) == INSTANCES_MAX else None)


async def _subjects(db: Database, work: Work, kind: str, limit: int) -> list[str]:
    return await subjects_store.list_subjects(db, **work.key, kind=kind, after=work.erasure.mark, limit=limit)


STEPS: Final[Mapping[str, Step]] = {
    FIRST: _wait_for_imports, "near": _find_by_indexes, "open items": _cancel_open_items, "far": _find_by_scan,
    "open items found far": _cancel_open_items, "events": _scan("events"), "kept answers": _scan("kept answers"),
    "messages": _scan("messages"), "trials": _scan("trials"), "source events": _scan("source events"),
    "import rows": _scan("import rows"),
    "import rests": _scan("import rests"), "items": _blank_items, "instances": _blank_instances,
    "exports": _end_exports, "person": _blank_person, "responses": _write_responses,
}  # fmt: skip
"""In the order of the work; what needs the addresses to recognise the person comes before what removes them."""


def checksum(erasure: Erasure, *, counts: Mapping[str, int], subjects: Mapping[str, Sequence[str]]) -> str:
    """The checksum of a ledger line: over its request, its result and its ids."""
    document: dict[str, Any] = {
        **{name: getattr(erasure, name) for name in _TOLD},
        "requested_time": erasure.requested_time.isoformat(),
        "counts": dict(counts),
        "subjects": {kind: list(found) for kind, found in subjects.items()},
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


_TOLD: Final = ("organization_id", "responder_id", "erasure_id", "mode", "suppress")


def _erased(work: Work, version: int | None) -> NewEvent:
    erasure = work.erasure
    data = {name: getattr(erasure, name) for name in _TOLD}
    return NewEvent.of(erasure, "responder.erased", erasure.responder_id, data, now=work.now, subject_version=version)


LINES_A_READ: Final = 200


async def lines(pool: db.Pool) -> AsyncGenerator[str]:
    after = "", ""
    while True:
        kept = await db.load(pool, _list_ledger_lines, after=after, limit=LINES_A_READ)
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
