"""Settings: periods for which data is kept, with a preview; the runs that removed something."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from afterword.console.inputs import same_version
from afterword.console.nouns import inputs_of, settings_form
from afterword.console.screens import Screens, Visit
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.privacy import retention
from afterword.privacy.retention import RUNS, RetentionPreviewPart
from afterword.tenants.organizations.retention import RETENTION

PATH: Final = "/console/settings/retention"
KINDS: Final[Mapping[str, Marked]] = {
    "texts": "Answers whose words are removed: {n}", "people": "People who are forgotten: {n}",
    "items": "Messages whose address is removed: {n}", "uploads": "Files that are removed: {n}",
    "answers": "Responses that are deleted: {n}", "events": "Entries of the event log that are removed: {n}",
    "audit": "Entries of the audit log that are removed: {n}", "exports": "Files of exports that are removed: {n}",
}  # fmt: skip
TITLES: Final[Mapping[str, Marked]] = {
    "texts": "Text in answers", "people": "People", "items": "Addresses and values of messages",
    "uploads": "Files that came with answers", "answers": "Responses", "events": "Event log", "audit": "Audit log",
    "exports": "Files of exports", "deleted": "Deleted responses and messages",
}  # fmt: skip

routes = Screens()


async def _save(visit: Visit, db: Database, changes: Mapping[str, Any]) -> Response | None:
    """Save the periods; before anything is removed by it, ask with how much it is."""
    expect = same_version(visit)
    if not visit.form.text("confirmed"):
        found = await retention.preview(db, caller=visit.caller, changes=changes, now=visit.now)
        if touched := [one for one in found if one.count]:
            expect((await visit.row(RETENTION)).version)
            return _confirm(visit, touched)
    key = visit.caller.organization_id
    await nouns.update(RETENTION, db, key=key, changes=changes, expect=expect, **visit.acting)
    return None


def _confirm(visit: Visit, touched: Sequence[RetentionPreviewPart]) -> Response:
    words = visit.words
    values: dict[str, Any] = {
        name: visit.form.text(name) for name in ("version", *(one.name for one in inputs_of(RETENTION)))
    }
    return visit.confirm(
        title=words("Remove older data?"),
        sentences=[
            *(words(KINDS[one.kind], n=words.count(one.count, is_capped=one.is_more)) for one in touched),
            words("A worker removes it within a day. This cannot be undone."),
        ],
        button=words("Save and remove"),
        back=PATH,
        confirmed="1",
        **values,
    )


settings_form(
    routes,
    RETENTION,
    PATH,
    scope="Organization.Update",
    title="Retention",
    lead=lambda visit: visit.words(
        "Data of people is kept for the days below. Before anything is removed, you see how much it is."
    ),
    links=lambda visit: [
        (visit.words("Removed so far"), f"{PATH}/runs"),
        (visit.words("Legal holds"), f"{PATH}/holds"),
    ],
    tab="retention",
    save=_save,
)


@routes.get(f"{PATH}/runs", scope="Organization.Update")
async def list_runs(visit: Visit) -> Response:
    words = visit.words
    visit.caller.require_all()
    found = await visit.load(
        retention.list_runs, organization_id=visit.caller.organization_id, page=page_of(RUNS, visit.query)
    )
    here = f"{PATH}/runs"
    return visit.page(
        "things.html",
        title=words("Removed so far"),
        lead=words("One run per day for each kind of data that has a period."),
        list=Listing(
            rows=[
                {
                    "url": "",
                    "title": words(TITLES[one.kind]),
                    "state": "" if one.finished_time else words("running"),
                    "when": visit.moment(one.started_time),
                    "more": words(
                        "Older than {day}: {rows}",
                        day=visit.date(one.before_time),
                        rows=words.plural("{n} row", "{n} rows", sum(one.counts.values())),
                    ),
                }
                for one in found.items
            ],
            empty=words("Nothing has been removed because of its age yet."),
            **page_links(found, visit.query, here),
        ),
    )
