"""The versions of a pipeline in sentences, and taking one back."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires.condition_rows import Subjects
from afterword.console.inputs import same_version
from afterword.console.screens import Screens, Visit
from afterword.core.wire.lists import Page
from afterword.kit.ui.lists import Listing, address, behind, key_of
from afterword.kit.ui.text import actor_text
from afterword.sending.pipelines import versions
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.pipelines.versions import Difference, Version
from afterword.sending.screens.pipelines import ONE, change, pipeline_of, subjects_for, url_of
from afterword.tenants import audit

ROWS: Final = 30
VERSIONS: Final = f"{ONE}/versions"
TAKE_BACK: Final = f"{VERSIONS}/{{entry_id}}"

routes = Screens()


@routes.get(VERSIONS, scope="Pipeline.Read")
async def versions_page(visit: Visit) -> Response:
    words, after = visit.words, visit.query.get("after", "")
    async with visit.read() as db:
        pipeline = await pipeline_of(visit, db)
        subjects = await subjects_for(visit, db, pipeline)
        page = behind(Page.first(audit.ENTRIES, limit=ROWS), after)
        found = await versions.list_versions(db, pipeline=pipeline, page=page)
    here = f"{url_of(pipeline)}/versions"
    last = found.items[-1].entry if found.has_more else None
    return visit.page(
        "pipeline_versions.html",
        title=words("Versions of “{title}”", title=pipeline.title),
        back=(pipeline.title, url_of(pipeline)),
        list=Listing(
            rows=[_row(visit, one, pipeline, subjects) for one in found.items],
            empty=words("No change was noted yet."),
            next_url=address(here, after=key_of(last.created_time, last.entry_id)) if last else "",
            first_url=here if after else "",
        ),
    )


@routes.get(TAKE_BACK, scope="Pipeline.Update")
async def confirm(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        pipeline = await pipeline_of(visit, db)
        subjects = await subjects_for(visit, db, pipeline)
        version = await versions.get(db, pipeline=pipeline, version_id=visit.id("entry_id"))
    changes = _changes(version, pipeline)
    here = url_of(pipeline)
    told = versions.differences_between(
        words,
        pipeline,
        versions.changed_by(pipeline, changes),
        changed=frozenset(changes),
        unknown=frozenset(),
        time_zone=visit.zone,
        subjects=subjects,
    )
    when = words.moment(version.entry.created_time, time_zone=visit.zone)
    return visit.confirm(
        title=words("Take the version of {moment} back?", moment=when),
        sentences=[*(one.after for one in told), words("Whether it is on or off stays as it is.")],
        button=words("Take it back"),
        action=f"{here}/versions/{version.entry.entry_id}",
        back=f"{here}/versions",
        version=str(pipeline.version),
    )


@routes.post(TAKE_BACK, scope="Pipeline.Update")
async def take_back(visit: Visit) -> Response:
    async with visit.read() as db:
        pipeline = await pipeline_of(visit, db)
        version = await versions.get(db, pipeline=pipeline, version_id=visit.id("entry_id"))
    same_version(visit)(pipeline.version)
    return await change(visit, _changes(version, pipeline))


def _changes(version: Version, pipeline: Pipeline) -> dict[str, Any]:
    """Raises NotFound where the version is as the pipeline is now, or not known in full."""
    changes = versions.changes_to(version, pipeline=pipeline)
    if not changes:
        raise errors.NotFound("There is nothing to take back.")
    return changes


def _row(visit: Visit, version: Version, pipeline: Pipeline, subjects: Subjects) -> dict[str, Any]:
    words, entry = visit.words, version.entry
    found: list[Difference] = versions.differences_of(words, version, time_zone=visit.zone, subjects=subjects)
    may_take = "Pipeline.Update" in visit.caller.scopes and bool(versions.changes_to(version, pipeline=pipeline))
    return {
        "when": words.moment(entry.created_time, time_zone=visit.zone),
        "who": actor_text(words, entry.actor_kind, entry.actor_name),
        "is_first": entry.action == "created",
        "differences": found,
        "url": f"{url_of(pipeline)}/versions/{entry.entry_id}" if may_take else "",
    }
