"""Sequences: a response to one questionnaire leads to a message of another; tried before it is saved."""

from collections.abc import Collection, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, condition_rows, metadata
from afterword.asking.questionnaires.condition_rows import Subjects, with_named
from afterword.asking.questionnaires.store import Questionnaire
from afterword.cases import previews
from afterword.console import conditions
from afterword.console.conditions import place_of, with_seen
from afterword.console.inputs import document_of, filled, placed, read_as
from afterword.console.nouns import inputs_of, saved
from afterword.console.removals import removal
from afterword.console.screens import Marked, Screens, Visit
from afterword.core.scheduling.statuses import PUBLIC_ITEM, Item
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.nouns.declaration import version_of
from afterword.kit.ui.lists import Listing, address, page_links, page_of, read_number
from afterword.kit.ui.text import address_text
from afterword.kit.web import html
from afterword.sending.intake import sequences
from afterword.sending.intake.sequences import SEQUENCE, Done, Sequence
from afterword.sending.pipelines.resources import delay_of
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.screens import queue_items
from afterword.sending.screens.pipelines import choices_of, questionnaires_of, url_of
from afterword.sending.screens.queue_items import SENDING, STATUS_TEXTS

SEQUENCES: Final = f"{SENDING}/sequences"
NEW: Final = f"{SEQUENCES}/new"
ONE: Final = f"{SEQUENCES}/{{sequence_id}}"
ROWS: Final = 50
LOOKED_AT_MAX: Final = 100  # of the responses that match, whether they have an address
LISTING: Final = structs.listing_of(SEQUENCE)
KINDS: Final[Mapping[str, Marked]] = {
    "manual": "Ask another questionnaire", "recovery": "Win back an unhappy customer",
    "review": "Ask everybody for a public review",
}  # fmt: skip
REASONS: Final[Mapping[str, Marked]] = {
    "no_address": "no address for this channel",
    "questionnaire_not_published": "the questionnaire is not published",
    "too_deep": "the chain of messages is too long",
    "inactive": "the pipeline was removed",
}  # fmt: skip; others are those of messages
BLANK: Final = SimpleNamespace(
    title="", kind="manual", trigger="completed", pipeline_id="", active=True, conditions=None
)

INPUTS: Final = inputs_of(SEQUENCE, names=("title", "active", "trigger", "pipeline_id"))
AGAIN: Final = (errors.Invalid, errors.Stale)

routes = Screens()


class Around(msgspec.Struct, frozen=True):
    """The questionnaires, pipelines and fields that the form of a sequence offers."""

    source: Questionnaire | None
    choices: Collection[tuple[Pipeline, str]]
    names: Mapping[str, str]  # of questionnaires
    subjects: Subjects

    @property
    def pipelines(self) -> Mapping[str, Pipeline]:
        return {one.pipeline_id: one for one, _ in self.choices}


@routes.get(SEQUENCES, scope="Sequence.Read")
async def list_sequences(visit: Visit, db: Database) -> Response:
    words = visit.words
    found = await nouns.rows(SEQUENCE, db, **visit.caller.part, page=page_of(LISTING, visit.query))
    names = dict(await questionnaires_of(visit, db, also=[one.from_questionnaire_id for one in found.items]))
    choices = await choices_of(visit, db, also=[one.pipeline_id for one in found.items], names=names)
    pipelines = {one.pipeline_id: one for one, _ in choices}
    return visit.page(
        "sequences.html",
        title=words("Sequences"),
        names=names,
        kinds=KINDS,
        delay_of=delay_of,
        list=Listing(
            rows=[(one, pipelines.get(one.pipeline_id)) for one in found.items],
            empty=words("No sequence yet. After a response to one questionnaire, a sequence asks another."),
            empty_link=visit.link("New sequence", NEW),
            **page_links(found, visit.query, SEQUENCES),
        ),
    )


@routes.get(f"{ONE}/responses", scope="Sequence.Read")
async def done_page(visit: Visit) -> Response:
    """The people who got a message by it, and those who did not."""
    words, rule = visit.words, await visit.row(SEQUENCE)
    visit.caller.require("Queue.Read")
    before = visit.query.get("before", "")
    async with visit.read() as db:
        found = await sequences.list_done(
            db,
            organization_id=visit.caller.organization_id,
            sequence_id=rule.sequence_id,
            before=read_number(before, 18),
            limit=ROWS + 1,
        )
    here = f"{SEQUENCES}/{rule.sequence_id}"
    return visit.page(
        "sequence_responses.html",
        title=words("Who got a message"),
        back=(rule.title, here),
        list=Listing(
            rows=[_done_row(visit, one) for one in found[:ROWS]],
            empty=words("Nobody yet. Responses from before the sequence was made do not count."),
            note=words("What a sequence did is kept for 90 days."),
            next_url=address(f"{here}/responses", before=found[ROWS - 1].seq) if len(found) > ROWS else "",
            first_url=f"{here}/responses" if before else "",
        ),
    )


removal(
    routes,
    f"{ONE}/removal",
    scope="Sequence.Delete",
    title="Remove the sequence “{title}”?",
    sentences=["It asks nobody any more. Messages that wait are sent all the same: cancel them under Sending."],
    button="Remove the sequence",
    get=lambda visit: visit.row(SEQUENCE),
    remove=lambda visit, db: nouns.delete(SEQUENCE, db, key=visit.id("sequence_id"), **visit.acting),
    to=SEQUENCES,
)


def _done_row(visit: Visit, one: Done) -> dict[str, Any]:
    words = visit.words
    known = {**queue_items.REASONS, **REASONS}.get(one.reason or "")
    status = PUBLIC_ITEM[Item(one.status)] if one.status is not None else None
    text = address_text(words, one.recipient) if one.recipient else words("a person without an address")
    state = words(STATUS_TEXTS[status]) if status is not None else words("Not asked")
    return {"done": one, "text": text, "state": state, "more": words(known) if known else one.result or ""}


async def _around(visit: Visit, db: Database, rule: Sequence | None) -> Around:
    source_id = rule.from_questionnaire_id if rule else visit.form.text("from") or visit.query.get("from", "")
    names = dict(await questionnaires_of(visit, db, also=[source_id]))
    choices = await choices_of(visit, db, also=[rule.pipeline_id] if rule else (), names=names)
    if not rule and source_id not in names:
        return Around(None, choices, names, {})
    source = await access.get(db, caller=visit.caller, questionnaire_id=source_id)
    version = await access.published(db, source)
    declared = await metadata.declared(
        db, organization_id=source.organization_id, application_id=source.owner_application_id
    )
    definitions = [version.definition] if version else []
    subjects = condition_rows.subjects_of(visit.words, definitions=definitions, declared=declared)
    subjects = with_named(subjects, rule.conditions if rule else None)
    return Around(source, choices, names, await with_seen(visit, db, subjects))


@routes.post(NEW, scope="Sequence.Create", again=AGAIN)
@routes.post(ONE, scope="Sequence.Update", again=AGAIN)
async def save(visit: Visit) -> Response:
    """Save the form, or try it on the newest responses."""
    form, rule = visit.form, await _rule(visit)
    around = await visit.load(lambda db: _around(visit, db, rule))
    condition = conditions.condition_of(visit, conditions.typed(form), around.subjects)
    document = document_of(form, INPUTS) | {"conditions": condition}
    if rule is None:
        document |= {"kind": form.text("kind"), "from_questionnaire_id": form.text("from")}
    if form.text("then") == "preview" and around.source:
        columns = read_as((structs.update_of if rule else structs.creation_of)(SEQUENCE), document, visit).named()
        async with visit.read() as db:
            tried = await _tried(visit, db, around.source, around.pipelines.get(columns["pipeline_id"]), columns)
        return await page(visit, tried=tried)
    stored = await saved(visit, SEQUENCE, rule, document, partial(nouns.create, SEQUENCE))
    return html.redirect(f"{SEQUENCES}/{stored.sequence_id}?done=saved")


async def _tried(
    visit: Visit, db: Database, source: Questionnaire, pipeline: Pipeline | None, columns: Mapping[str, Any]
) -> list[str]:
    """The number of the newest responses that it would follow, and of those without an address on the channel."""
    words = visit.words
    found = await previews.newest(
        db,
        caller=visit.caller,
        application_id=source.owner_application_id,
        questionnaire_ids=[source.questionnaire_id],
        trigger=columns["trigger"],
        conditions=columns["conditions"],
    )
    if not found.responses:
        return [words("There is no response yet to try it on.")]
    text = words.plural(
        "{matched} of the last {n} response would have matched.",
        "{matched} of the last {n} responses would have matched.",
        found.responses,
    ).replace("{matched}", words.count(len(found.matching)))
    if pipeline is None or not found.matching:
        return [text]
    place = pipeline.pipeline_id, pipeline.channel_id
    wanted = [(source.organization_id, one, *place) for one in found.matching[:LOOKED_AT_MAX]]
    reached = await sequences.list_sources(db, wanted=wanted)
    lacking = sum(one.identifier is None for one in reached)
    of_newest = words.plural(
        "Of the newest of them, {lacking} of {n} has no address on this channel.",
        "Of the newest of them, {lacking} of {n} have no address on this channel.",
        len(reached),
    )
    return [text, of_newest.replace("{lacking}", words.count(lacking))]


async def _rule(visit: Visit) -> Sequence | None:
    """None on the page of a new one."""
    return await visit.row(SEQUENCE) if "sequence_id" in visit.ids else None


@routes.get(NEW, scope="Sequence.Create")
@routes.get(ONE, scope="Sequence.Read")
async def page(visit: Visit, refusal: errors.Refusal | None = None, *, tried: list[str] | None = None) -> Response:
    words, form, rule = visit.words, visit.form, await _rule(visit)
    around = await visit.load(lambda db: _around(visit, db, rule))
    stored: Any = rule or BLANK
    condition = conditions.typed(form) if form.values else conditions.stored(stored.conditions, around.subjects)
    pipeline = around.pipelines.get(form.text("pipeline_id") if form.values else stored.pipeline_id)
    pipelines = [("", words("choose…")), *((one.pipeline_id, text) for one, text in around.choices)]
    return visit.page(
        "sequence.html",
        title=rule.title if rule else words("New sequence"),
        path=f"{SEQUENCES}/{rule.sequence_id}" if rule else NEW,
        source=around.source,
        sources=list(around.names.items()),
        pipeline_url=url_of(pipeline) if pipeline else "",
        delay=delay_of(words, pipeline, around.subjects) if pipeline else "",
        kind=stored.kind,
        kinds=[(key, words(text)) for key, text in KINDS.items()],
        condition_rows=conditions.values_of(words, condition, around.subjects),
        tried=tried,
        sequence_id=rule.sequence_id if rule else "",
        **filled(
            visit,
            INPUTS,
            stored,
            version=version_of(rule) if rule else "",
            refusal=refusal and placed(refusal, partial(place_of, values=condition)),
            options={"pipeline_id": pipelines},
        ),
    )
