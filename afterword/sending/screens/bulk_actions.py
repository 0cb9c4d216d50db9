"""Acts on many messages that match a filter, after a dry run: cancel or move what waits, repeat what failed."""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.console.screens import Database, Screens, Visit
from afterword.core.scheduling.statuses import PublicItem
from afterword.core.wire import times
from afterword.core.wire.lists import Page
from afterword.core.wire.times import Moment
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import address
from afterword.kit.web import fields, html
from afterword.sending.queue import batches, lists
from afterword.sending.queue.batches import Action, Batch, NewBatch
from afterword.sending.queue.lists import RequestedItems
from afterword.sending.screens import queue_items
from afterword.sending.screens.list_results import REFRESH_SECONDS
from afterword.sending.screens.queue_items import SendingFilter

NEW: Final = queue_items.NEW_ACT
ONE: Final = f"{queue_items.SENDING}/acts/{{batch_id}}"
LISTED_MAX: Final = 20
LISTING: Final = fields.listing_of(batches.QueueBatch)
ACTIONS: Final[Mapping[Action, Marked]] = {
    "send_now": "Send now", "move": "Move to another time", "cancel": "Cancel", "repeat": "Send them again",
}  # fmt: skip
TITLES: Final[Mapping[Action, tuple[Marked, Marked]]] = {
    "send_now": ("Send many messages now: check", "Many messages were made due"),
    "move": ("Move many messages: check", "Many messages were moved"),
    "cancel": ("Cancel many messages: check", "Many messages were cancelled"),
    "repeat": ("Send many messages again: check", "Many messages were sent again"),
}
CHANGED: Final[Mapping[Action, tuple[Marked, Marked]]] = {
    "send_now": ("would be sent then", "are due now; the rules still apply"),
    "move": ("would be sent then", "have the new time; the rules still apply"),
    "cancel": ("would be cancelled", "are cancelled"),
    "repeat": ("would be sent again", "are created again and due now; the rules still apply"),
}
BUTTONS: Final[Mapping[Action, tuple[Marked, Marked]]] = {
    "send_now": ("Send {n} message now", "Send {n} messages now"),
    "move": ("Move {n} message", "Move {n} messages"),
    "cancel": ("Cancel {n} message", "Cancel {n} messages"),
    "repeat": ("Send {n} message again", "Send {n} messages again"),
}

routes = Screens()


@routes.post(NEW, scope="Queue.Update", again=(errors.Invalid, errors.TooMany))
async def check(visit: Visit) -> Response:
    """Begin the dry run; nothing changes yet."""
    new = NewBatch(_item_filter(visit), _action(visit), _moment(visit), _import_id(visit) or None, dry_run=True)
    job = await visit.change(batches.create, caller=visit.caller, new=new, now=visit.now)
    return html.redirect(_url(job))


@routes.get(ONE, scope="Queue.Read")
async def act_page(visit: Visit) -> Response:
    words = visit.words
    job = await visit.find(batches.get)
    action: Action = job.action
    response = visit.page(
        "sending_act.html",
        title=words(TITLES[action][0 if job.dry_run else 1])
        if job.has_ended or job.dry_run
        else words(ACTIONS[action]),
        job=job,
        here=_url(job),
        back=NEW,
        reason=queue_items.reason_text(words, job.reason or queue_items.NO_REASON) if job.reason is not None else "",
        lines=_lines(words, job),
        button=words.plural(*BUTTONS[action], job.items_done - job.items_refused),
    )
    if not job.has_ended:
        response.headers["Refresh"] = REFRESH_SECONDS
    return response


@routes.post(f"{ONE}/doing", scope="Queue.Update")
async def do(visit: Visit, db: Database) -> Response:
    """Begin the act that was tried, on what matches now."""
    tried = await batches.get(db, caller=visit.caller, batch_id=visit.id("batch_id"))
    _require(visit, tried.action)
    if not tried.dry_run or tried.state != "done":
        return html.redirect(_url(tried))
    moment = None
    if tried.action == "move" and tried.send_time is not None:
        moment = Moment(tried.send_time, tried.send_offset_minutes or 0)
    wanted = RequestedItems(**{name: getattr(tried, name) for name in batches.FILTER})
    new = NewBatch(wanted, tried.action, moment, tried.import_id)
    job = await batches.create(db, caller=visit.caller, new=new, now=visit.now)
    return html.redirect(_url(job))


@routes.post(f"{ONE}/stop", scope="Queue.Delete")
async def stop(visit: Visit, db: Database) -> Response:
    job = await batches.get(db, caller=visit.caller, batch_id=visit.id("batch_id"))
    if not job.has_ended:
        await batches.stop(db, job=job, now=visit.now)
    return html.redirect(_url(job))


@routes.post(f"{ONE}/resume", scope="Queue.Update")
async def resume(visit: Visit, db: Database) -> Response:
    job = await batches.get(db, caller=visit.caller, batch_id=visit.id("batch_id"))
    _require(visit, job.action)
    if job.state in {"failed", "cancelled"}:
        await batches.resume(db, caller=visit.caller, batch_id=job.batch_id, now=visit.now)
    return html.redirect(_url(job))


@routes.get(NEW, scope="Queue.Update")
async def _new(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words, chosen, import_id = visit.words, SendingFilter.read(visit.query), _import_id(visit)
    wanted = _item_filter(visit)
    if import_id:
        found = await batches.count_of_import(db, caller=visit.caller, import_id=import_id)
        counts = [found] if found else []
    else:
        counts = await lists.count_items(db, caller=visit.caller, wanted=replace(wanted, reason=None))
    done = await batches.list_batche_records(db, **visit.caller.reach, page=Page.first(LISTING, limit=LISTED_MAX))
    actions = _actions(visit)
    is_repetition = "repeat" in actions
    query = {**chosen.query, "tab": chosen.tab if chosen.tab == "failed" else "", "after": ""}
    return visit.page(
        "sending_act_new.html",
        title=words("Change many messages"),
        refusal=refusal,
        back=chosen.url(tab=chosen.tab if is_repetition else "waiting"),
        is_repetition=is_repetition,
        is_import=bool(import_id),
        action_url=address(NEW, **{"import": import_id}, **query),
        count=queue_items.sum_text(words, counts, wanted.statuses, wanted.reason),
        reason=queue_items.reason_text(words, chosen.reason) if chosen.reason else "",
        has_pipeline=bool(chosen.pipeline),
        period=chosen.chosen_period.text(words),
        is_over=chosen.span(visit)[1] is not None,
        actions=[(one, words(ACTIONS[one])) for one in actions],
        chosen_action=visit.form.text("action") or (actions[0] if len(actions) == 1 else ""),
        earlier=[(_url(one), words(TITLES[one.action][0 if one.dry_run else 1]), one) for one in done.items],
    )


def _item_filter(visit: Visit) -> RequestedItems:
    """The messages that wait, or have failed, and match the filter of the address; of an import no filter more."""
    if _import_id(visit):
        return RequestedItems(statuses=[PublicItem.PENDING])
    chosen = SendingFilter.read(visit.query)
    found = queue_items.item_filter_of(visit, chosen, tab="waiting")
    return replace(found, statuses=[queue_items.waits_or_failed(chosen)], reason=queue_items.reason_of(chosen))


def _import_id(visit: Visit) -> str:
    return visit.query.get("import", "")[:22]


def _actions(visit: Visit) -> list[Action]:
    is_repetition = SendingFilter.read(visit.query).tab == "failed" and not _import_id(visit)
    return [one for one in ACTIONS if (one == "repeat") == is_repetition]


def _require(visit: Visit, action: Action) -> None:
    if action == "repeat":
        visit.caller.require("Queue.Create")


def _action(visit: Visit) -> Action:
    given = visit.form.text("action")
    for action in _actions(visit):
        if action == given:
            _require(visit, action)
            return action
    raise errors.Invalid.at("/action", "required", visit.words("Choose what happens to them."))


def _moment(visit: Visit) -> Moment | None:
    if visit.form.text("action") != "move":
        return None
    text = visit.form.text("send_time")
    if not text:
        raise errors.Invalid.at("/send_time", "required", visit.words("A time is needed."))
    try:
        return times.parse_date_time(text, zone=times.zone_of(visit.zone), now=visit.now)
    except times.InvalidDateTime as wrong:
        raise errors.Invalid.at("/send_time", wrong.code, wrong.message) from None


def _url(job: Batch) -> str:
    return f"{queue_items.SENDING}/acts/{job.batch_id}"


def _lines(words: Texts, job: Batch) -> list[tuple[int, str]]:
    """The messages by what becomes of them; they add up to those that were met."""
    changed = CHANGED[job.action][0 if job.dry_run else 1]
    lines = [(job.items_changed, words(changed))]
    if job.dry_run and job.action != "cancel":
        lines += [
            (job.items_held, words("would wait longer because of a rule")),
            (job.items_skipped, words("would not be asked because of a rule")),
        ]
    if not job.dry_run:
        refused = (
            words("could not be sent again")
            if job.action == "repeat"
            else words("were already being sent, or had ended")
        )
        lines.append((job.items_refused, refused))
    return lines
