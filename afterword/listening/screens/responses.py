"""Responses of all questionnaires: the list, the one that is open, saved views, those held back, and tags."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances import files, service as instances, spam, tags
from afterword.asking.instances.call_backs import get_call
from afterword.asking.instances.spam import LISTING, STATES, Decision, State
from afterword.asking.instances.store import Instance
from afterword.asking.links.public_links import LINK
from afterword.console.answers import answers_of, note_person
from afterword.console.response_list import (
    CHANNELS,
    RESPONSES,
    TAG_CHARACTERS_MAX,
    ResponseFilter,
    chips_of,
    done,
    list_of,
)
from afterword.console.screens import Database, Screens, Undo, Visit, download
from afterword.core.answers.suspicion import FLAGS, Judgement
from afterword.core.text import words as search_words
from afterword.core.wire.lists import Page
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import ROWS, address, page_links, page_of
from afterword.kit.ui.text import call_text, near_moment
from afterword.kit.web import html
from afterword.listening.responses import reads, service as responses, taggings
from afterword.listening.responses.service import FOUND_MAX, SavedView
from afterword.listening.responses.taggings import TAG_LISTING, Action
from afterword.listening.responses.views import SHOWN_MAX, VIEW, in_order, may_remove
from afterword.listening.screens.questionnaire_results import RESULTS, results_url
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
        views=_saved_views(visit, options.views, choice),
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


VIEWS: Final = f"{RESPONSES}/views"


@routes.post(VIEWS, scope="Questionnaire Instance.Read", for_limited="part")
async def save_view(visit: Visit, db: Database) -> Response:
    choice = ResponseFilter.read(visit.query)
    columns = {
        "title": visit.form.text("title"),
        "query": urlencode({**choice.query, "after": "", "since": ""}),
        "shared": bool(visit.form.text("shared")),
    }
    await nouns.create(VIEW, db, columns=columns, **visit.acting)
    return visit.did(choice.url(), "view")


@routes.post(f"{VIEWS}/{{view_id}}", scope="Questionnaire Instance.Read", for_limited="part")
async def remove_view(visit: Visit, db: Database) -> Response:
    """Remove it at once; the way back saves it again, as one's own."""
    view = await nouns.get(VIEW, db, caller=visit.caller, key=visit.id("view_id"))
    if visit.caller.limit is not None and view.user_id != visit.caller.user_id:
        raise errors.NotFound("There is no such view.")
    await nouns.delete(VIEW, db, key=view.view_id, **visit.acting)
    fields = {"title": view.title, "shared": "1" if view.shared and visit.caller.limit is None else ""}
    return visit.did(RESPONSES, "view_removed", Undo(f"{VIEWS}?{view.query}", fields))


def _saved_views(visit: Visit, views: Sequence[SavedView], choice: ResponseFilter) -> list[dict[str, Any]]:
    here = choice.url()
    found: list[dict[str, Any]] = []
    for view in in_order(views, caller=visit.caller):
        # A query that no longer reads as it was saved is the filter of those parts that do.
        url = ResponseFilter.read(dict(parse_qsl(view.query))).url()
        found.append(
            {
                "title": view.title,
                "url": url,
                "is_current": url == here,
                "remove_url": f"{VIEWS}/{view.view_id}" if may_remove(visit.caller, view.user_id) else "",
            }
        )
    return found


DOUBTFUL: Final = f"{RESPONSES}/doubtful"
COUNTED_MAX: Final = 100
FLAG_TEXTS: Final[Mapping[str, Marked]] = {
    "burst": "one of many within a minute from the same network",
    "too_fast": "sent faster than anyone can read",
    "hidden_field": "a field that people cannot see was filled in",
    "provisional": "provisional: the page was only looked at, nobody confirmed the score",
    "many_links": "several scores of one mail were opened",
    "one_network": "mails of other people were opened from the same network within seconds",
    "automated": "a program opened the page",
    "speeding": "answered in less than a third of the usual time",
    "straight_lining": "the same answer in all rows",
}


@routes.get(DOUBTFUL, scope="Questionnaire Instance.Read")
async def list_doubtful(visit: Visit, db: Database) -> Response:
    words, query = visit.words, visit.query
    state: State = next((one for one in STATES if one == query.get("state")), "held")
    flag = next((one for one in FLAGS if one == query.get("flag")), None)
    found = await spam.list_doubtful(db, **visit.caller.reach, state=state, flag=flag, page=page_of(LISTING, query))
    counts = await spam.count_doubtful(db, **visit.caller.reach, states=STATES, limit=COUNTED_MAX)
    return visit.page(
        "doubtful.html",
        title=words("Suspicious responses"),
        flags=[("", words("All"))] + [(one, signs_of(words, [one])) for one in FLAGS],
        flag=flag or "",
        state=state,
        action=address(DOUBTFUL, state=state, flag=flag),
        decisions=decisions_of(visit, state),
        counts=[(one, words.count(counts[one], is_capped=counts[one] == COUNTED_MAX)) for one in STATES],
        rows=[(one, near_moment(words, one.submitted_time, now=visit.now, zone=visit.zone)) for one in found.items],
        signs_of=partial(signs_of, words),
        **page_links(found, query, DOUBTFUL, state=state, flag=flag),
    )


@routes.post(DOUBTFUL, scope="Questionnaire Instance.Update")
async def judge_many(visit: Visit, db: Database) -> Response:
    """Those that were ticked, or all that the page showed."""
    ids = visit.form.all("shown" if visit.form.text("among") else "id")
    here = address(DOUBTFUL, state=visit.query.get("state"), flag=visit.query.get("flag"))
    return await _judge(visit, db, ids[: spam.JUDGED_MAX], back=here)


@routes.post(f"{RESPONSES}/{{instance_id}}/judgement", scope="Questionnaire Instance.Update")
async def judge_one(visit: Visit, db: Database) -> Response:
    instance_id = visit.id("instance_id")
    await instances.get(db, caller=visit.caller, instance_id=instance_id)
    return await _judge(visit, db, [instance_id], back=f"{RESPONSES}/{instance_id}")


async def _judge(visit: Visit, db: Database, instance_ids: Sequence[str], *, back: str) -> Response:
    decision: Decision = "accepted" if visit.form.text("judgement") == "accepted" else "rejected"
    count = await spam.judge(db, caller=visit.caller, instance_ids=instance_ids, decision=decision, now=visit.now)
    return html.redirect(done(back, "judged") if count else back)


def signs_of(words: Texts, flags: Sequence[str]) -> str:
    return "; ".join(words(FLAG_TEXTS[flag]) for flag in FLAGS if flag in flags)


def decisions_of(visit: Visit, state: State | Judgement) -> list[tuple[str, str]]:
    if state == "marked" or "Questionnaire Instance.Update" not in visit.caller.scopes:
        return []
    words = visit.words
    return [
        (name, text) for name, text in (("accepted", words("Accept")), ("rejected", words("Reject"))) if name != state
    ]


TAGS: Final = f"{RESPONSES}/tags"
NAME: Final = f"{TAGS}/name"
REMOVAL: Final = f"{TAGS}/removal"
LONGEST_DAYS: Final = 3_650


@routes.get(TAGS, scope="Tag.Read")
async def list_tags(visit: Visit) -> Response:
    words, after = visit.words, visit.query.get("after", "")
    page = Page.first(TAG_LISTING, limit=ROWS)
    found = await visit.load(
        tags.list_words, **visit.caller.reach, page=replace(page, after=(after, after)) if after else page
    )
    is_free = not visit.caller.is_limited
    return visit.page(
        "tags.html",
        title=words("Tags"),
        may_rename=is_free and "Tag.Update" in visit.caller.scopes,
        removal_url=REMOVAL if is_free and "Tag.Delete" in visit.caller.scopes else "",
        rows=[(one.tag, words.count(one.count, is_capped=one.is_part)) for one in found.items],
        url_of=lambda tag: ResponseFilter(tag=tag, period=str(LONGEST_DAYS)).url(),
        name_url_of=lambda tag: address(NAME, tag=tag),
        next_url=address(TAGS, after=found.items[-1].tag) if found.next_key is not None else "",
        first_url=TAGS if after else "",
    )


@routes.get(NAME, scope="Tag.Update")
async def name_form(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    tag = visit.form.text("old") or visit.query.get("tag", "")
    return visit.page(
        "tag.html",
        title=visit.words("Rename the tag “{tag}”", tag=tag),
        refusal=refusal,
        tag=tag,
        name=visit.form.text("tag") or tag,
        url=NAME,
        back=TAGS,
    )


@routes.post(NAME, scope="Tag.Update", again=(errors.Invalid, errors.Conflict))
async def rename(visit: Visit) -> Response:
    form = visit.form
    await visit.change(tags.rename, caller=visit.caller, text=form.text("old"), to=form.text("tag"), now=visit.now)
    return html.redirect(f"{TAGS}?done=renamed")


@routes.post(REMOVAL, scope="Tag.Delete")
async def remove(visit: Visit, db: Database) -> Response:
    """Remove it everywhere at once; the page that follows takes it back, for thirty days."""
    made = await taggings.remove_everywhere(db, caller=visit.caller, tag=visit.form.text("tag"), now=visit.now)
    return html.redirect(f"{RESPONSES}/taggings/{made.tagging_id}")


TAGGINGS: Final = f"{RESPONSES}/taggings"
TAGGING: Final = f"{TAGGINGS}/{{tagging_id}}"
REFRESH_SECONDS: Final = "2"


@routes.get(TAGGINGS, scope="Tag.Create")
async def count_first(visit: Visit, db: Database) -> Response:
    """The number of responses that match, before all of them are tagged."""
    visit.caller.require("Questionnaire Instance.Read")
    words, choice = visit.words, ResponseFilter.read(visit.query).fixed(visit)
    theme = await choice.theme(visit, db)
    found = await responses.select(db, choice.requested(visit, theme), limit=FOUND_MAX)
    return visit.page(
        "tagging_all.html",
        title=words.plural("Tag {n} response", "Tag {n} responses", len(found)),
        filters=[text for text, _ in await chips_of(visit, db, choice, theme)],
        count=len(found),
        action=choice.url("taggings"),
        actions=actions_of(visit.words),
        back=ResponseFilter.read(visit.query).url(),
    )


@routes.post(TAGGINGS, scope="Tag.Create")
async def tag_responses(visit: Visit, db: Database) -> Response:
    choice, form = ResponseFilter.read(visit.query), visit.form
    action: Action = "remove" if form.text("action") == "remove" else "add"
    made = await taggings.begin(
        db,
        choice.requested(visit, await choice.theme(visit, db)),
        tag=form.text("tag"),
        action=action,
        instance_ids=None if form.text("among") == "all" else form.all("id"),
        now=visit.now,
    )
    return html.redirect(choice.url(f"taggings/{made.tagging_id}"))


def actions_of(words: Texts) -> list[tuple[str, str]]:
    return [("add", words("Add")), ("remove", words("Remove"))]


@routes.get(TAGGING, scope="Tag.Read")
async def show_tagging(visit: Visit) -> Response:
    tagging = await visit.find(taggings.get_record)
    choice = ResponseFilter.read(visit.query)
    response = visit.page(
        "tagging.html",
        title=visit.words("Tag: {tag}", tag=tagging.tag),
        tagging=tagging,
        back=choice.url(),
        undo_url=choice.url(f"taggings/{tagging.tagging_id}/undo"),
    )
    if tagging.state in {"running", "undoing"}:
        response.headers["Refresh"] = REFRESH_SECONDS
    return response


@routes.post(f"{TAGGING}/undo", scope="Tag.Create")
async def undo_tagging(visit: Visit) -> Response:
    await visit.change(taggings.undo, caller=visit.caller, **visit.ids, now=visit.now)
    return html.redirect(ResponseFilter.read(visit.query).url(f"taggings/{visit.id('tagging_id')}"))
