"""The versions of a pipeline: the audit log has what each change replaced, so the states follow from today's.

A version in sentences is each clause that says something else, and the texts that changed.
"""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from datetime import tzinfo
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.asking.questionnaires.condition_rows import Subjects
from afterword.core.wire.lists import Criterion, Page, Rows
from afterword.kit.db import Database
from afterword.kit.texts import SOURCE_LANGUAGE, Marked, Texts, texts
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines import service as pipelines
from afterword.sending.pipelines.resources import PipelineUpdate, plain, sentences_of
from afterword.sending.pipelines.store import Pipeline
from afterword.tenants import audit
from afterword.tenants.audit import Entry

LOST: Final = "—"  # in place of a value that the audit log does not keep
CHANGES_MAX: Final = 1_000  # older ones are listed without their sentences
ACTIONS: Final = ("created", "changed")
KEPT: Final = frozenset({"paused"})  # taking a version back sends nothing by itself

MEMBERS: Final[Mapping[str, tuple[str, Marked]]] = {
    "description": ("name", "The description changed."),
    "locale": ("message", "The language of messages without one changed."),
    "priority": ("effort", "The priority changed."),
    "account_id": ("sender", "It sends through another account."),
}
# Members that no clause shows in full, by the clause that tells of a part of them.
TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "message": (
        "message_subject", "message_body", "message_button", "message_reason", "message_footer", "messages",
    ),
    "reminders": ("reminders",),
    "conditions": ("conditions",),
}  # fmt: skip
CHANGED: Final[Mapping[str, Marked]] = {
    "message": "The texts of its messages changed.",
    "reminders": "The reminders changed.",
    "conditions": "The conditions changed.",
}


class Version(msgspec.Struct, frozen=True):
    """A change and the states around it; None of a change that is too old.

    Of `unknown` members a value before or after is lost. `lost`: members of `after` that are not known.
    """

    entry: Entry
    before: Pipeline | None = None
    after: Pipeline | None = None
    changed: AbstractSet[str] = frozenset()
    unknown: AbstractSet[str] = frozenset()
    lost: AbstractSet[str] = frozenset()


async def list_versions(db: Database, *, pipeline: Pipeline, page: Page) -> Rows[Version]:
    found = await _entries(db, pipeline, page)
    known = {one.entry.entry_id: one for one in await list_newest(db, pipeline=pipeline)}
    return found.map(lambda entry: known.get(entry.entry_id) or Version(entry))


async def get(db: Database, *, pipeline: Pipeline, version_id: str) -> Version:
    """Raises NotFound, also for one that is too old."""
    for one in await list_newest(db, pipeline=pipeline):
        if one.entry.entry_id == version_id:
            return one
    raise errors.NotFound("There is no such version.")


def changes_to(version: Version, *, pipeline: Pipeline) -> dict[str, Any] | None:
    """The members to change so that the pipeline is as it was after this version; None where one is not known."""
    if version.after is None:
        return None
    names = [name for name in PipelineUpdate.__struct_fields__ if name not in KEPT]
    if version.lost & set(names):
        return None
    wanted = {name: getattr(version.after, name) for name in names}
    return {name: value for name, value in wanted.items() if value != getattr(pipeline, name)}


def states(pipeline: Pipeline, entries: Sequence[Entry]) -> list[Version]:
    """The versions of these entries, the newest first and without a gap, from the state of today backwards."""
    found: list[Version] = []
    state, lost = pipeline, frozenset[str]()
    for entry in entries:
        if entry.action == "created":
            found.append(Version(entry, after=state, lost=lost))
            break
        values = entry.before or {}
        changed = frozenset({*values, *(entry.after or {})})
        gone = frozenset(name for name in changed if values.get(name) == LOST)
        unknown = gone | {name for name in changed if (entry.after or {}).get(name) == LOST}
        earlier = {name: values.get(name) for name in changed - gone if name in Pipeline.__struct_fields__}
        before = msgspec.convert({**msgspec.to_builtins(state), **earlier}, Pipeline)
        found.append(Version(entry, before, state, changed, unknown, lost))
        state, lost = before, (lost - changed) | gone
    return found


async def list_newest(db: Database, *, pipeline: Pipeline) -> list[Version]:
    return states(pipeline, (await _entries(db, pipeline, Page.first(audit.ENTRIES, limit=CHANGES_MAX))).items)


async def _entries(db: Database, pipeline: Pipeline, page: Page) -> Rows[Entry]:
    own = Criterion("EQUAL", audit.ENTRIES.columns["thing_id"], pipeline.pipeline_id)
    return await audit.list_entries(
        db,
        organization_id=pipeline.organization_id,
        page=replace(page, criteria=(*page.criteria, own)),
        thing_kinds=["pipeline"],
        actions=ACTIONS,
    )


class PipelineChange(fields.Answer):
    """A clause of the pipeline's sentences that a version changed. `before`: what it said, where that is known."""

    part: str
    after: str
    before: str | None


def differences_of(
    words: Texts, version: Version, *, time_zone: str, subjects: Subjects | None = None
) -> list[PipelineChange]:
    """The differences of a version; none of the first one, and of one that is too old."""
    before, after, changed = version.before, version.after, version.changed
    if before is None or after is None:
        return []
    found: list[PipelineChange] = []
    if "title" in changed:
        new, old = (words("It is called “{title}”.", title=each.title) for each in (after, before))
        found.append(PipelineChange("name", new, old))
    if "paused" in changed:
        text = words("It was switched off.") if after.paused else words("It was switched on.")
        found.append(PipelineChange("state", text, None))
    told = [sentences_of(words, each, time_zone=time_zone, subjects=subjects) for each in (after, before)]
    for part in told[0] | told[1]:
        new, old = (each.get(part, "") for each in told)
        members = TEXTS.get(part, ())
        if old != new and not version.unknown & set(members):
            found.append(PipelineChange(part, new, old))
        elif set(members) & changed:
            found.append(PipelineChange(part, words(CHANGED[part]), None))
    found += [PipelineChange(part, words(text), None) for name, (part, text) in MEMBERS.items() if name in changed]
    return found or [PipelineChange("name", words("Another setting changed."), None)]


PATH: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/version"

routes = Routes(tag="Pipelines")


class PipelineVersion(fields.Resource):
    """A change of a pipeline, by whom, and in sentences; the oldest is its making."""

    version_id: Annotated[fields.Id, fields.named("entry_id")]
    created_time: fields.DateTime
    actor_kind: str
    actor_id: fields.Id | None
    action: str
    changes: fields.Computed[list[PipelineChange]]


VERSIONS: Final = fields.listing_of(PipelineVersion)


@routes.list(
    PATH,
    scope="Pipeline.Read",
    answer=PipelineVersion,
    listing=VERSIONS,
    summary="Get the versions of a pipeline",
    description=(
        "The newest first, with the clauses of `summary` that each changed. Kept two years, as the audit log is; "
        "changes before the newest 1,000 have no sentences. A PATCH with the members of before takes one back."
    ),
)
async def list_pipeline_versions(call: Call[None], db: Database) -> Answer:
    pipeline = await pipelines.get(db, caller=call.caller, **call.ids)
    found: Rows[Version] = await list_versions(db, pipeline=pipeline, page=call.page)
    zone = call.zone
    return Answer(found.map(lambda version: _shown(version, zone)))


def _shown(version: Version, zone: tzinfo) -> PipelineVersion:
    words = texts("console", SOURCE_LANGUAGE)
    changes = [
        PipelineChange(part=one.part, after=plain(one.after), before=one.before and plain(one.before))
        for one in differences_of(words, version, time_zone=str(zone))
    ]
    return PipelineVersion.of(version.entry, zone, changes=changes)
