"""Settings: periods for which data is kept, with a preview; the runs that removed something; legal holds."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import Input, document_of, form_page, read_as, same_version
from afterword.console.lists import Listing, page_links, page_of
from afterword.console.screens import Screens, Visit
from afterword.organizations.retention import service as periods
from afterword.organizations.retention import store as periods_store
from afterword.organizations.retention.api import LegalHold, LegalHoldRequest, RetentionUpdate
from afterword.privacy.retention import service, store
from afterword.privacy.retention.api import RUNS
from afterword.privacy.retention.service import Preview
from afterword.texts import Texts
from afterword.web import fields, html

RETENTION: Final = "/console/settings/retention"
HOLDS: Final = fields.listing_of(LegalHold)
AS_FORGOTTEN: Final = "Empty: with the people."
INPUTS: Final = (
    Input("anonymize_after_days", "number", "Forget people after days",
          "Words in answers, names, addresses and files go. Figures stay. Empty: never."),
    Input("delete_after_days", "number", "Delete responses after days",
          "At least 30. The counts of their days stay in reports. Empty: never."),
    Input("texts_days", "number", "Words in answers", AS_FORGOTTEN),
    Input("people_days", "number", "Names, addresses and values of people", AS_FORGOTTEN),
    Input("items_days", "number", "Addresses and values of messages", AS_FORGOTTEN),
    Input("uploads_days", "number", "Files that came with answers", AS_FORGOTTEN),
    Input("answers_days", "number", "Responses", "At least 30. Empty: as “Delete responses after days”."),
    Input("events_days", "number", "Event log", "30 to 90 days. Empty: 90."),
    Input("audit_days", "number", "Audit log", "30 to 730 days. Empty: 730."),
    Input("exports_days", "number", "Files of exports", "1 to 7 days. Empty: 7."),
)  # fmt: skip
HOLD_INPUTS: Final = (
    Input("reason", "text", "Reason", "Such as the number of a suit.", required=True),
    Input("responder_id", "text", "Person", "The last part of the address of the person's page. Empty: everybody."),
)
KINDS: Final[Mapping[str, str]] = {
    "texts": "Answers whose words are removed: {n}", "people": "People who are forgotten: {n}",
    "items": "Messages whose address is removed: {n}", "uploads": "Files that are removed: {n}",
    "answers": "Responses that are deleted: {n}", "events": "Entries of the event log that are removed: {n}",
    "audit": "Entries of the audit log that are removed: {n}", "exports": "Files of exports that are removed: {n}",
}  # fmt: skip
TITLES: Final[Mapping[str, str]] = {
    "texts": "Words in answers", "people": "People", "items": "Addresses and values of messages",
    "uploads": "Files that came with answers", "answers": "Responses", "events": "Event log", "audit": "Audit log",
    "exports": "Files of exports", "deleted": "Deleted responses and messages",
}  # fmt: skip

routes = Screens()


@routes.post(RETENTION, scope="Organization.Update")
async def save_retention(visit: Visit) -> Response:
    """Save the periods; before anything is removed by it, ask with how much it is."""
    try:
        request = read_as(RetentionUpdate, document_of(visit.form, INPUTS), visit)
        async with visit.write() as db:
            if not visit.form.text("confirmed"):
                found = await service.preview(db, caller=visit.caller, changes=request.named(), now=visit.now)
                if touched := [one for one in found if one.count]:
                    same_version(visit)((await periods.get(db, caller=visit.caller)).version)
                    return _confirm(visit, touched)
            await periods.update(
                db, caller=visit.caller, changes=request.named(), now=visit.now, check_version=same_version(visit)
            )
    except (errors.Invalid, errors.Stale) as refusal:
        return await _retention(visit, refusal)
    return html.redirect(f"{RETENTION}?done=saved")


def _confirm(visit: Visit, touched: Sequence[Preview]) -> Response:
    words = visit.words
    values = {name: visit.form.text(name) for name in ("version", *(one.name for one in INPUTS))}
    return visit.confirm(
        title=words("Remove what is older?"),
        sentences=[
            *(words(KINDS[one.kind], n=_number(words, one)) for one in touched),
            words("A worker removes it within a day. It does not come back."),
        ],
        button=words("Save and remove"),
        action=RETENTION,
        back=RETENTION,
        is_harmless=False,
        confirmed="1",
        **values,
    )


def _number(words: Texts, one: Preview) -> str:
    return words.number(one.count) + ("+" if one.is_more else "")


@routes.get(RETENTION, scope="Organization.Update")
async def _retention(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    async with visit.read() as db:
        stored = await periods.get(db, caller=visit.caller)
    return form_page(
        visit,
        title=words("Retention"),
        lead=words("Data of people is kept for the days below. Before anything is removed, you see how much it is."),
        back=(words("Settings"), "/console/settings"),
        action=RETENTION,
        inputs=INPUTS,
        stored=stored,
        version=stored.version,
        refusal=refusal,
        links=[(words("Removed so far"), f"{RETENTION}/runs"), (words("Legal holds"), f"{RETENTION}/holds")],
        thing=("organization", stored.organization_id),
        tab="retention",
    )


@routes.get(f"{RETENTION}/runs", scope="Organization.Update")
async def list_runs(visit: Visit) -> Response:
    words = visit.words
    periods.require_reach(visit.caller)
    async with visit.read() as db:
        found = await store.list_runs(db, organization_id=visit.caller.organization_id, page=page_of(RUNS, visit.query))
    here = f"{RETENTION}/runs"
    return visit.page(
        "things.html",
        title=words("Removed so far"),
        tab="retention",
        lead=words("A run a day for each kind of data that has a period."),
        new=None,
        list=Listing(
            rows=[
                {
                    "url": "",
                    "title": words(TITLES[one.kind]),
                    "state": "" if one.finished_time else words("running"),
                    "when": words.moment(one.started_time, time_zone=visit.zone),
                    "more": words(
                        "Older than {day}: {n} rows",
                        day=words.date(one.before_time, time_zone=visit.zone),
                        n=words.number(sum(one.counts.values())),
                    ),
                }
                for one in found.items
            ],
            empty=words("Nothing was removed by its age yet."),
            **page_links(found, visit.query, here),
        ),
    )


@routes.get(f"{RETENTION}/holds", scope="Organization.Update")
async def list_holds(visit: Visit) -> Response:
    words = visit.words
    periods.require_reach(visit.caller)
    here = f"{RETENTION}/holds"
    async with visit.read() as db:
        found = await periods_store.list_holds(
            db, organization_id=visit.caller.organization_id, page=page_of(HOLDS, visit.query)
        )
    return visit.page(
        "things.html",
        title=words("Legal holds"),
        tab="retention",
        lead=words("Data under a hold is not removed by its age, and cannot be erased, until the hold is lifted."),
        new=(words("New legal hold"), f"{here}/new"),
        list=Listing(
            rows=[
                {
                    "url": f"{here}/{one.hold_id}/removal",
                    "title": one.reason,
                    "state": words("one person") if one.responder_id else words("all"),
                    "when": words.date(one.created_time, time_zone=visit.zone),
                    "more": "",
                }
                for one in found.items
            ],
            empty=words("Nothing is held."),
            **page_links(found, visit.query, here),
        ),
    )


@routes.post(f"{RETENTION}/holds/new", scope="Organization.Update")
async def make_hold(visit: Visit) -> Response:
    try:
        request = read_as(LegalHoldRequest, document_of(visit.form, HOLD_INPUTS), visit)
        async with visit.write() as db:
            await periods.hold(
                db, caller=visit.caller, responder_id=request.responder_id, reason=request.reason, now=visit.now
            )
    except errors.Invalid as refusal:
        return await _new_hold(visit, refusal)
    return html.redirect(f"{RETENTION}/holds?done=saved")


@routes.get(f"{RETENTION}/holds/new", scope="Organization.Update")
async def _new_hold(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    values: dict[str, Any] = {
        "title": visit.words("New legal hold"),
        "back": (visit.words("Legal holds"), f"{RETENTION}/holds"),
        "action": f"{RETENTION}/holds/new",
    }
    return form_page(visit, inputs=HOLD_INPUTS, refusal=refusal, **values)


@routes.get(f"{RETENTION}/holds/{{hold_id}}/removal", scope="Organization.Update")
async def confirm_removal(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        one = await periods.get_hold(db, caller=visit.caller, **visit.ids)
    return visit.confirm(
        title=words("Lift the hold “{reason}”?", reason=one.reason),
        sentences=[words("Data that is too old by now is removed within a day.")],
        button=words("Lift the hold"),
        back=f"{RETENTION}/holds",
    )


@routes.post(f"{RETENTION}/holds/{{hold_id}}/removal", scope="Organization.Update")
async def lift_hold(visit: Visit) -> Response:
    async with visit.write() as db:
        await periods.lift(db, caller=visit.caller, **visit.ids, check_version=lambda _: None)
    return html.redirect(f"{RETENTION}/holds?done=removed")
