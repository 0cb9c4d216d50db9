"""Pipelines: the list, one as sentences that lead to the form of their part, a new one, the switch, the removal."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final

from msgspec import structs
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, metadata
from afterword.asking.questionnaires.condition_rows import Subjects, subjects_of
from afterword.console.inputs import KEPT, read_as, same_version
from afterword.console.removals import removal
from afterword.console.screens import Marked, Screens, Undo, Use, Visit
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, CHANNEL_WEBHOOK
from afterword.core.scheduling.statuses import PublicItem
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.ui.lists import Listing, address, behind, offered, page_links, page_of
from afterword.kit.ui.text import actor_text
from afterword.kit.web import fields, html
from afterword.sending.pipelines import service as pipelines, store, versions
from afterword.sending.pipelines.resources import Pipeline, PipelineRequest, sentences_of, state_of
from afterword.sending.pipelines.store import Pipeline as PipelineRecord
from afterword.sending.pipelines.versions import Version
from afterword.sending.providers import service as accounts
from afterword.sending.queue import lists
from afterword.sending.queue.lists import RequestedItems
from afterword.sending.screens import queue_items
from afterword.sending.screens.contact_policy import PATH as POLICY
from afterword.sending.screens.providers import reason_of
from afterword.sending.screens.queue_items import SENDING, SendingFilter
from afterword.tenants import audit

PIPELINES: Final = f"{queue_items.SENDING}/pipelines"
NEW: Final = f"{PIPELINES}/new"
ONE: Final = f"{PIPELINES}/{{questionnaire_id}}/{{pipeline_id}}"
NEW_LIST: Final = f"{queue_items.SENDING}/lists/new"
OPEN_ITEMS_MAX: Final = 100_000
RULE_LABELS: Final[Mapping[str, Marked]] = {
    "message": "Message", "sender": "Sender", "target": "Webhook", "delay": "Send time", "conditions": "Who is asked",
    "frequency": "How often", "hours": "Hours", "reminders": "Reminders", "period": "Period", "effort": "Failures",
}  # fmt: skip
DAYS: Final = 7  # of the figures beside the sentences
LISTED: Final = fields.listing_of(Pipeline)
STATES: Final[Mapping[str, Marked]] = {"running": "On", "paused": "Off", "upcoming": "Not started", "ended": "Ended"}
NEW_CHANNELS: Final = (CHANNEL_EMAIL, CHANNEL_SMS, CHANNEL_WEBHOOK)
PARTS_IN_LIST: Final = ("delay", "conditions", "frequency", "hours", "reminders")

routes = Screens()


@routes.get(PIPELINES, scope="Pipeline.Read")
async def list_pipelines(visit: Visit, db: Database) -> Response:
    words = visit.words
    found = await store.list_pipelines(db, **visit.caller.part, page=page_of(LISTED, visit.query))
    names = dict(await questionnaires_of(visit, db, also=[one.questionnaire_id for one in found.items]))
    return visit.page(
        "pipelines.html",
        title=words("Pipelines"),
        names=names,
        parts=PARTS_IN_LIST,
        list=Listing(
            rows=[
                (one, words(STATES[state_of(one, visit.now)]), sentences_of(words, one, time_zone=visit.zone))
                for one in found.items
            ],
            empty=words("No pipeline yet. A pipeline defines how and when a questionnaire is sent."),
            empty_link=visit.link("New pipeline", NEW),
            **page_links(found, visit.query, PIPELINES),
        ),
    )


@routes.post(NEW, scope="Pipeline.Create", again=(errors.Invalid, errors.NotFound))
async def make(visit: Visit) -> Response:
    """Made switched off: nothing leaves before somebody has read its sentences."""
    form = visit.form
    channel_id = next((each for each in NEW_CHANNELS if str(each) == form.text("channel_id")), CHANNEL_EMAIL)
    document: dict[str, Any] = {"channel_id": channel_id, "title": form.text("title"), "paused": True}
    if channel_id == CHANNEL_WEBHOOK:  # the receiver writes the messages; texts can be added later
        document["target_url"] = form.text("target_url") or None
    else:
        document["message_body"] = form.text("message_body")
    if channel_id == CHANNEL_EMAIL:
        document["message_subject"] = form.text("message_subject")
    request = read_as(PipelineRequest, document, visit)
    made = await visit.change(
        pipelines.add_pipeline,
        questionnaire_id=form.text("questionnaire_id"),
        fields={**request.given, "channel_id": channel_id},
        **visit.acting,
    )
    return html.redirect(f"{url_of(made)}?done=saved")


@routes.get(ONE, scope="Pipeline.Read")
async def pipeline_page(visit: Visit, db: Database) -> Response:
    words, caller = visit.words, visit.caller
    pipeline = await pipeline_of(visit, db)
    questionnaire = await access.get(db, caller=caller, questionnaire_id=pipeline.questionnaire_id)
    subjects = await subjects_for(visit, db, pipeline)
    figures, overlaps = None, []
    if "Queue.Read" in caller.scopes:
        figures = await _figures(visit, db, pipeline)
        overlaps = await lists.list_overlaps(db, caller=caller, pipeline_id=pipeline.pipeline_id, now=visit.now)
    return visit.page(
        "pipeline.html",
        title=pipeline.title,
        pipeline=pipeline,
        questionnaire=questionnaire.display_name,
        state=words(STATES[state_of(pipeline, visit.now)]),
        here=url_of(pipeline),
        rules=sentences_of(words, pipeline, time_zone=visit.zone, subjects=subjects),
        labels=RULE_LABELS,
        figures=figures,
        overlaps=[
            words.plural(
                "{n} of the last {count} people was also written to by “{title}”, within 30 days.",
                "{n} of the last {count} people were also written to by “{title}”, within 30 days.",
                one.people,
            )
            .replace("{count}", words.count(one.sampled_people))
            .replace("{title}", one.title)
            for one in overlaps
        ],
        policy_url=POLICY,
        list_url=list_url_of(pipeline),
    )


@routes.get(f"{ONE}/switch", scope="Pipeline.Update")
async def confirm_switch(visit: Visit, db: Database) -> Response:
    words = visit.words
    pipeline = await pipeline_of(visit, db)
    waiting, is_capped = await count_waiting(visit, db, pipeline)
    here = url_of(pipeline)
    if not pipeline.paused:
        return html.redirect(here)
    sentence = words.plural(
        "{n} waiting message will be sent at its time.",
        "{n} waiting messages will be sent, each at its time.",
        waiting,
        is_capped=is_capped,
    )
    return visit.confirm(
        title=words("Switch “{title}” on?", title=pipeline.title),
        sentences=[sentence if waiting else words("No message is waiting. Every new one follows these rules.")],
        button=words("Switch on"),
        is_harmless=True,
        paused="",
    )


@routes.post(f"{ONE}/switch", scope="Pipeline.Update")
async def switch(visit: Visit) -> Response:
    """Switching off acts at once; on, after a page with the messages that wait."""
    is_off = visit.form.text("paused") == "1"
    expect = same_version(visit, KEPT) if visit.is_undo else errors.ANY
    pipeline = await _changed(visit, {"paused": is_off}, expect)
    here = url_of(pipeline)
    undo = Undo(f"{here}/switch", {"paused": "" if is_off else "1", "version": str(pipeline.version)})
    return visit.did(here, "switched_off" if is_off else "switched_on", undo)


async def _open_items(visit: Visit, pipeline: PipelineRecord) -> list[Use]:
    key = {"organization_id": pipeline.organization_id, "pipeline_id": pipeline.pipeline_id}
    count = await visit.load(store.count_open_items, **key, limit=OPEN_ITEMS_MAX)
    page = SendingFilter(pipeline=pipeline.pipeline_id, period=str(queue_items.PERIODS[-1]), tab="waiting").url()
    return [("Waiting", visit.words.count(count, is_capped=count == OPEN_ITEMS_MAX), page)] if count else []


removal(
    routes,
    f"{ONE}/removal",
    scope="Pipeline.Delete",
    title="Remove the pipeline “{title}”?",
    sentences=["It sends nothing more. Sent messages and responses stay."],
    in_use="It cannot be removed while messages of it wait.",
    uses=_open_items,
    button="Remove the pipeline",
    get=lambda visit: visit.find(pipelines.get),
    remove=lambda visit, db: pipelines.delete_pipeline(db, caller=visit.caller, **visit.ids, now=visit.now),
    to=PIPELINES,
)


async def pipeline_of(visit: Visit, db: Database) -> store.Pipeline:
    """The pipeline of the address; raises NotFound."""
    return await pipelines.get(
        db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"), pipeline_id=visit.id("pipeline_id")
    )


def url_of(pipeline: store.Pipeline) -> str:
    return f"{PIPELINES}/{pipeline.questionnaire_id}/{pipeline.pipeline_id}"


async def count_waiting(visit: Visit, db: Database, pipeline: store.Pipeline) -> tuple[int, bool]:
    """The messages of it that wait, and whether there are more than that."""
    wanted = RequestedItems(pipeline_id=pipeline.pipeline_id, statuses=(PublicItem.PENDING,))
    return queue_items.sum_of(await lists.count_items(db, caller=visit.caller, wanted=wanted), wanted.statuses)


def list_url_of(pipeline: store.Pipeline) -> str:
    return address(NEW_LIST, pipeline=f"{pipeline.questionnaire_id}/{pipeline.pipeline_id}")


async def change(visit: Visit, changes: Mapping[str, Any]) -> Response:
    """Write the changes and go to the sentences. Raises Invalid, and Stale where somebody else was faster."""
    return html.redirect(f"{url_of(await _changed(visit, changes, same_version(visit)))}?done=saved")


async def _changed(visit: Visit, changes: Mapping[str, Any], expect: errors.Expect) -> store.Pipeline:
    return await visit.change(
        pipelines.change_pipeline,
        questionnaire_id=visit.id("questionnaire_id"),
        pipeline_id=visit.id("pipeline_id"),
        changes=changes,
        expect=expect,
        **visit.acting,
    )


async def subjects_for(visit: Visit, db: Database, pipeline: store.Pipeline) -> Subjects:
    declared = await metadata.declared_of(
        db, organization_id=pipeline.organization_id, questionnaire_id=pipeline.questionnaire_id
    )
    found = subjects_of(visit.words, definitions=(), declared=declared)
    return {key: one for key, one in found.items() if not key.startswith("metric:")}


async def _figures(visit: Visit, db: Database, pipeline: store.Pipeline) -> dict[str, Any]:
    """The messages of the last days by their end, with the address of the list of each."""
    words = visit.words
    wanted = RequestedItems(pipeline_id=pipeline.pipeline_id, from_time=visit.now - timedelta(days=DAYS))
    counts = await lists.count_items(db, caller=visit.caller, wanted=wanted)
    chosen = SendingFilter(pipeline=pipeline.pipeline_id, period=str(DAYS))
    sent = sum(one.count for one in counts if one.status_id == PublicItem.SENT)
    everything = sum(one.count for one in counts)
    tabs = {status: tab for tab, found in queue_items.STATUSES.items() if tab != "all" for status in found}
    others = sorted((one for one in counts if one.status_id != PublicItem.SENT), key=lambda one: -one.count)
    return {
        "all": words.plural("{n} message in 7 days", "{n} messages in 7 days", everything),
        "all_url": chosen.url(),
        "sent": words.plural("{n} sent", "{n} sent", sent),
        "sent_url": chosen.url(tab="sent"),
        "others": [
            (
                words.count(one.count),
                queue_items.reason_text(words, one.reason or "")
                or words(queue_items.STATUS_TEXTS[one.status_id]).lower(),
                chosen.url(tab=tabs[one.status_id], reason=one.reason or ""),
            )
            for one in others
        ],
    }


async def choices_of(
    visit: Visit, db: Database, *, also: Collection[str] = (), names: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[PipelineRecord, str]]:
    """The pipelines that the reader reaches, each with its title and that of its questionnaire, if not in `names`."""
    found = await offered(db, store.list_pipelines, LISTED, visit.caller.part, also)
    if missing := {one.questionnaire_id for one in found} - names.keys():
        names = {**names, **dict(await questionnaires_of(visit, db, also=missing))}
    return [(one, f"{one.title} · {names.get(one.questionnaire_id, '')}") for one in found]


async def questionnaires_of(visit: Visit, db: Database, *, also: Collection[str] = ()) -> list[tuple[str, str]]:
    found = await access.offered(db, visit.caller.part, also=also)
    return [(one.questionnaire_id, one.display_name) for one in found]


@routes.get(NEW, scope="Pipeline.Create")
async def _new(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, form = visit.words, visit.form
    questionnaires = await visit.reading(questionnaires_of)
    return visit.page(
        "pipeline_new.html",
        title=words("New pipeline"),
        questionnaires=questionnaires,
        channels=[(str(each), words(queue_items.CHANNELS[each])) for each in NEW_CHANNELS],
        chosen=form.text("questionnaire_id") or visit.query.get("questionnaire", ""),
        subject=form.text("message_subject") if form.values else words("How was it?"),
        body=form.text("message_body") if form.values else words("Hello,\n\nhow did it go? It takes a minute."),
        refusal=refusal,
    )


PAUSE: Final = f"{SENDING}/pause"


@routes.post(PAUSE, scope="Provider.Update", again=(errors.Invalid,))
async def pause(visit: Visit) -> Response:
    await visit.change(accounts.pause_all, caller=visit.caller, reason=reason_of(visit))
    return html.redirect(f"{SENDING}?done=all_paused")


@routes.post(f"{PAUSE}/end", scope="Provider.Update")
async def resume(visit: Visit) -> Response:
    await visit.change(accounts.resume_all, caller=visit.caller)
    return html.redirect(f"{SENDING}?done=all_resumed")


@routes.get(PAUSE, scope="Provider.Update")
async def _form(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    visit.caller.require_whole()
    return visit.page(
        "sending_pause.html",
        title=visit.words("Pause all sending?"),
        refusal=refusal,
    )


VERSION_ROWS: Final = 30
VERSIONS: Final = f"{ONE}/versions"
TAKE_BACK: Final = f"{VERSIONS}/{{entry_id}}"


@routes.get(VERSIONS, scope="Pipeline.Read")
async def versions_page(visit: Visit, db: Database) -> Response:
    words = visit.words
    pipeline = await pipeline_of(visit, db)
    subjects = await subjects_for(visit, db, pipeline)
    page = behind(Page.first(audit.ENTRIES, limit=VERSION_ROWS), visit.query.get("after", ""))
    found = await versions.list_versions(db, pipeline=pipeline, page=page)
    return visit.page(
        "pipeline_versions.html",
        title=words("Versions of “{title}”", title=pipeline.title),
        back=(pipeline.title, url_of(pipeline)),
        actor_text=actor_text,
        list=Listing(
            rows=[
                (
                    one.entry,
                    versions.differences_of(words, one, time_zone=visit.zone, subjects=subjects),
                    bool(versions.changes_to(one, pipeline=pipeline)),
                )
                for one in found.items
            ],
            empty=words("No change was noted yet."),
            **page_links(found, visit.query, f"{url_of(pipeline)}/versions"),
        ),
    )


@routes.get(TAKE_BACK, scope="Pipeline.Update")
async def confirm(visit: Visit, db: Database) -> Response:
    words = visit.words
    pipeline = await pipeline_of(visit, db)
    subjects = await subjects_for(visit, db, pipeline)
    version = await versions.get(db, pipeline=pipeline, version_id=visit.id("entry_id"))
    changes = _changes(version, pipeline)
    after = structs.replace(pipeline, **changes)
    taken = Version(version.entry, before=pipeline, after=after, changed=frozenset(changes))
    told = versions.differences_of(words, taken, time_zone=visit.zone, subjects=subjects)
    return visit.confirm(
        title=words("Restore the version of {moment}?", moment=visit.moment(version.entry.created_time)),
        sentences=[*(one.after for one in told), words("Whether it is on or off stays as it is.")],
        button=words("Restore"),
        version=str(pipeline.version),
    )


@routes.post(TAKE_BACK, scope="Pipeline.Update")
async def take_back(visit: Visit) -> Response:
    async with visit.read() as db:
        pipeline = await pipeline_of(visit, db)
        version = await versions.get(db, pipeline=pipeline, version_id=visit.id("entry_id"))
    same_version(visit)(pipeline.version)
    return await change(visit, _changes(version, pipeline))


def _changes(version: Version, pipeline: PipelineRecord) -> dict[str, Any]:
    """Raises NotFound where the version is as the pipeline is now, or not known in full."""
    changes = versions.changes_to(version, pipeline=pipeline)
    if not changes:
        raise errors.NotFound("There is nothing to take back.")
    return changes
