"""Responses of all questionnaires: the list, and beside it the one that is open."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.instances import files, service as instances, tags
from afterword.asking.instances.call_backs import get_call
from afterword.asking.instances.store import Instance
from afterword.asking.links.public_links import LINK
from afterword.console.answers import answers_of, note_person
from afterword.console.response_list import CHANNELS, RESPONSES, TAG_CHARACTERS_MAX, ResponseFilter, done, list_of
from afterword.console.screens import Screens, Visit, download
from afterword.core.text import words as search_words
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.ui.text import call_text
from afterword.kit.web import html
from afterword.listening.responses import reads, service as responses
from afterword.listening.responses.views import SHOWN_MAX
from afterword.listening.screens import saved_views
from afterword.listening.screens.questionnaire_results import RESULTS, results_url
from afterword.listening.screens.spam import COUNTED_MAX, DOUBTFUL, decisions_of, signs_of
from afterword.listening.screens.taggings import TAGGINGS, actions_of
from afterword.people.screens.people import timeline_rows
from afterword.sending.queue import service as queue

routes = Screens()
PERSON: Final = "/console/people/{responder_id}"
ITEM: Final = "/console/sending/{item_id}"
ONE: Final = f"{RESPONSES}/{{instance_id}}"
STORY_ROWS: Final = 5  # of the person beside a response
RESULTS_MAX: Final = 10  # links to the results of the newest questionnaires, where the list of these is closed
TAGS_OF_ROW: Final = 20  # that a row of the list has at most


@routes.get(RESPONSES, scope="Questionnaire Instance.Read", for_limited="part")
async def list_responses(visit: Visit) -> Response:
    choice = ResponseFilter.read(visit.query)
    async with visit.read() as db:
        options = await responses.list_options(
            db,
            **visit.caller.reach,
            user_id=visit.caller.user_id,
            with_shared=visit.caller.limit is None,  # their names may tell of other branches
            views_max=SHOWN_MAX,
            held_max=COUNTED_MAX,
        )
        values = await list_of(visit, db, choice, questionnaires=options.questionnaires)
    if options.held and visit.may_open(DOUBTFUL):
        count = visit.words.count(options.held, is_capped=options.held == COUNTED_MAX)
        values["tabs"].append({"url": DOUBTFUL, "text": visit.words("Held back"), "count": count, "is_current": False})
    return visit.page(
        "responses.html",
        title=visit.words("Responses"),
        open=None,
        views=saved_views.shown(visit, options.views, choice),
        may_share=visit.caller.limit is None,
        may_tag_many=visit.may_open(TAGGINGS),
        actions=actions_of(visit.words),
        results=[(name, results_url(one_id)) for one_id, name in options.questionnaires.items()][:RESULTS_MAX]
        if visit.caller.limit is not None and visit.may_open(RESULTS)
        else [],
        **values,
    )


@routes.post(f"{RESPONSES}/read", scope="Questionnaire Instance.Read", for_limited="part")
async def read_all(visit: Visit) -> Response:
    await visit.change(reads.read_all, caller=visit.caller, now=visit.now)
    return html.redirect(done(ResponseFilter.read(visit.query).url(), "read"))


@routes.get(ONE, scope="Questionnaire Instance.Read", for_limited="part")
async def open_response(visit: Visit, db: Database) -> Response:
    """The list with one response open beside it; on a phone the response alone."""
    choice, instance_id = ResponseFilter.read(visit.query), visit.id("instance_id")
    shown = await answers_of(db, caller=visit.caller, instance_id=instance_id, words=visit.words)
    if shown is None or shown.submitted_time is None:
        raise errors.NotFound("There is no such response.")
    values = await list_of(visit, db, choice)
    here = next((row for row in values["rows"] if row["id"] == instance_id), None)
    named = here["row"].tags if here else []
    if here is None or len(named) >= TAGS_OF_ROW:
        listed = await tags.list_tags_of_instances(
            db, organization_id=visit.caller.organization_id, instance_ids=[instance_id]
        )
        named = [one.tag for one in listed]
    trace, call = await _trace(visit, db, shown.instance), await _call(visit, db, shown.instance)
    person_id, is_anonymous = shown.instance.responder_id, shown.instance.anonymity is not None
    events, has_more = await timeline_rows(visit, db, person_id, is_whole=not visit.caller.is_limited, limit=STORY_ROWS)
    note_person(visit, person_id)
    words = visit.words
    return visit.page(
        "responses.html",
        title=words("Response of {moment}", moment=words.moment(shown.submitted_time, time_zone=visit.zone)),
        open={
            "id": instance_id,
            "response": shown,
            "pieces": [search_words.highlighted(one.text, values["marked"]) for one in shown.answers],
            "row": here,
            "is_unread": bool(visit.caller.user_id) and (here is None or here["is_unread"]),
            "signs": signs_of(words, shown.instance.flags or []),
            "judgement": shown.instance.judgement,
            "decisions": decisions_of(visit, shown.instance.judgement or "marked") if visit.may_open(DOUBTFUL) else [],
            "metadata": [(title, search_words.highlighted(value, choice.words)) for title, value in shown.facts],
            "when": words.moment(shown.submitted_time, time_zone=visit.zone),
            "channel": words(CHANNELS.get(shown.instance.channel_id, "Link")),
            "tags": named,
            "call": call,
            "is_anonymous": is_anonymous,
            "trace": [] if is_anonymous else trace,
            "item_url": f"/console/sending/{shown.instance.item_id}"
            if shown.instance.item_id and "Queue.Read" in visit.caller.scopes and visit.is_open(ITEM)
            else "",
            "timeline": [] if is_anonymous else events,
            "has_more": bool(has_more),
            "person_url": f"/console/people/{person_id}" if visit.may_open(PERSON) else "",
            "back": choice.url(after=choice.after, since=choice.since),
            "read_url": choice.url(f"{instance_id}/read"),
            "tag_url": choice.url(f"{instance_id}/tag"),
            "untag_url": choice.url(f"{instance_id}/untag"),
        },
        may_tag="Tag.Create" in visit.caller.scopes,
        **values,
    )


@routes.get(f"{ONE}/file/{{file_id}}", scope="Questionnaire Instance.Read", for_limited="part")
async def download_file(visit: Visit, db: Database) -> Response:
    """A file of the response, to be saved: a browser opens none of them on our address."""
    instance = await instances.get(db, caller=visit.caller, instance_id=visit.id("instance_id"))
    file_id = visit.id("file_id")
    file = await files.download(
        db, caller=visit.caller, instance=instance, file_id=file_id, site=visit.site, now=visit.now
    )
    return download(file)


_STEP: Final[Mapping[str, Any]] = dict.fromkeys(("kind", "url", "is_test", "score", "comment", "reason"))


async def _trace(visit: Visit, db: Database, instance: Instance) -> list[dict[str, Any]]:
    """The way to the response for the macro `timeline`, in its order."""
    words = visit.words
    item = None
    if instance.item_id and "Queue.Read" in visit.caller.scopes:
        with suppress(errors.NotFound):  # it was deleted
            item = await queue.get(db, caller=visit.caller, item_id=instance.item_id)
    planned = ""
    if item is not None:
        planned = words("planned for {moment}", moment=words.moment(item.send_time, time_zone=visit.zone))
    tries = item.attempts if item else 0
    begin = words("Message asked for") if item else words("Link issued")
    if instance.link_id:
        link = await nouns.find(LINK, db, organization_id=visit.caller.organization_id, key=instance.link_id)
        begin, planned = words("Started from a public link"), link.title if link else ""
    if instance.response_import_id:
        begin = words("Started in another system")
    steps = (
        (item.created_time if item else instance.created_time, begin, planned),
        (instance.sent_time, words("Sent"), words("at try {n}", n=tries) if tries > 1 else ""),
        (instance.delivered_time, words("Message delivered"), ""),
        (instance.viewed_time, words("Questionnaire opened"), ""),
        (instance.answered_time, words("First answer"), ""),
        (instance.completed_time or instance.held_completed_time, words("Response completed"), ""),
    )  # fmt: skip
    return [
        {**_STEP, "when": words.moment(time, time_zone=visit.zone), "text": text, "details": details}
        for time, text, details in sorted(steps, key=lambda step: step[0] or instance.created_time)
        if time is not None
    ]


async def _call(visit: Visit, db: Database, instance: Instance) -> dict[str, str] | None:
    """The call that the person waits for, for readers of cases who may see numbers."""
    if not {"Alert Instance.Read", "Responder.Read"} <= visit.caller.scopes:
        return None
    call = await get_call(db, organization_id=instance.organization_id, instance_id=instance.instance_id)
    if call is None or not call.is_open:
        return None
    when = call_text(visit.words, call.from_time, call.until_time, now=visit.now, zone=visit.zone)
    return {"when": when, "number": call.number or "", "note": call.note or ""}


@routes.post(f"{ONE}/read", scope="Questionnaire Instance.Read", for_limited="part")
async def mark_read(visit: Visit, db: Database) -> Response:
    """Sent by the page itself once it is shown; without scripts by its button."""
    instance_id = visit.id("instance_id")
    await instances.get(db, caller=visit.caller, instance_id=instance_id)
    await reads.read(db, caller=visit.caller, instance_id=instance_id, now=visit.now)
    return html.redirect(ResponseFilter.read(visit.query).url(instance_id))


@routes.post(f"{ONE}/tag", scope="Tag.Create", for_limited="part")
async def add_tag(visit: Visit) -> Response:
    await visit.change(
        tags.add, caller=visit.caller, **visit.ids, text=visit.form.text("tag")[: TAG_CHARACTERS_MAX + 1], now=visit.now
    )
    return html.redirect(ResponseFilter.read(visit.query).url(visit.id("instance_id")))


@routes.post(f"{ONE}/untag", scope="Tag.Delete", for_limited="part")
async def remove_tag(visit: Visit) -> Response:
    await visit.change(tags.remove, caller=visit.caller, **visit.ids, tag=visit.form.text("tag"), now=visit.now)
    return html.redirect(ResponseFilter.read(visit.query).url(visit.id("instance_id")))
