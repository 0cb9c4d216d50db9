"""Questionnaires: the list, and the page of one with its outline and its problems."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from afterword.asking.questionnaires import access, api, drafts, store
from afterword.asking.questionnaires.drafts import DraftRecord, State
from afterword.asking.questionnaires.store import Questionnaire
from afterword.asking.screens import outline
from afterword.console.response_list import ResponseFilter
from afterword.console.screens import Screens, Visit
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.flow import length
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.findings import Finding
from afterword.core.wire.lists import Criterion, Page
from afterword.kit.db import Database
from afterword.kit.texts import Texts
from afterword.kit.ui.lists import ROWS, Column, Listing, Tab, address, behind, page_links
from afterword.kit.ui.text import near_moment
from afterword.kit.web import fields
from afterword.listening.responses import store as responses_store
from afterword.sending.pipelines import store as pipelines_store
from afterword.sending.pipelines.resources import state_of
from afterword.sending.screens import pipelines

PATH: Final = "/console/questionnaires"
NEW: Final = f"{PATH}/new"
ONE: Final = f"{PATH}/{{questionnaire_id}}"
LISTING: Final = fields.listing_of(api.Questionnaire)
ARCHIVED: Final = LISTING.columns["archived_time"]
DAYS: Final = 30
COUNTED_MAX: Final = 1_000
PIPELINES_MAX: Final = 20

routes = Screens()


@dataclass(frozen=True, slots=True)
class Work:
    """The questionnaire and what is edited: its draft, or its published version where no draft was begun."""

    questionnaire: Questionnaire
    draft: DraftRecord
    findings: Sequence[Finding]
    definition: Definition  # the readable part
    declared: Declared
    published: Definition | None

    @property
    def path(self) -> str:
        return f"{PATH}/{self.questionnaire.questionnaire_id}"

    def problems(self, visit: Visit) -> list[outline.Problem]:
        return outline.problems_of(visit.words, self.draft.definition, self.findings, path=self.path)


async def work_of(visit: Visit, db: Database) -> Work:
    questionnaire = await access.get(db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"))
    draft = await drafts.get_draft_record(db, **questionnaire.key)
    if draft is None:
        draft = DraftRecord(
            organization_id=questionnaire.organization_id,
            questionnaire_id=questionnaire.questionnaire_id,
            base_version_id=questionnaire.published_version_id,
            revision=-1,
            definition=await drafts.begun(db, questionnaire=questionnaire),
            updated_time=questionnaire.updated_time,
            updated_by=None,
            translated_sources=None,
        )
    examined = await drafts.examine(db, questionnaire=questionnaire, draft=draft)
    version = await access.published(db, questionnaire)
    published = version.definition if version else None
    return Work(questionnaire, draft, examined.findings.found, examined.definition, examined.declared, published)


async def read_work(visit: Visit) -> Work:
    async with visit.read() as db:
        return await work_of(visit, db)


@routes.get(PATH, scope="Questionnaire.Read")
async def list_questionnaires(visit: Visit) -> Response:
    words, is_archive = visit.words, visit.query.get("show") == "archived"
    chosen = {"show": "archived"} if is_archive else {}
    page = Page.first(LISTING, limit=ROWS)
    async with visit.read() as db:
        found = await store.list_questionnaires(
            db,
            **visit.caller.part,
            page=behind(
                replace(page, criteria=(Criterion("NOT_NULL" if is_archive else "NULL", ARCHIVED, None),)),
                visit.query.get("after", ""),
            ),
        )
        ids = [one.questionnaire_id for one in found.items]
        organization_id = visit.caller.organization_id
        states = await drafts.list_states(db, organization_id=organization_id, questionnaire_ids=ids)
        counts = await responses_store.count_of_questionnaires(
            db,
            organization_id=organization_id,
            questionnaire_ids=ids,
            from_time=visit.now - timedelta(days=DAYS),
            limit=COUNTED_MAX + 1,
        )
    may_create = "Questionnaire.Create" in visit.caller.scopes
    return visit.page(
        "questionnaires.html",
        title=words("Questionnaires"),
        new_url=NEW if may_create else "",
        list=Listing(
            rows=[_row(visit, one, states[one.questionnaire_id], counts[one.questionnaire_id]) for one in found.items],
            columns=[
                Column(text=words("Name")),
                Column(text=words("Published")),
                Column(text=words("Draft")),
                Column(text=words("Answers in 30 days"), is_number=True),
            ],
            tabs=[
                Tab(url=PATH, text=words("In use"), is_current=not is_archive),
                Tab(url=address(PATH, show="archived"), text=words("Archived"), is_current=is_archive),
            ],
            empty=words("No questionnaire is archived.")
            if is_archive
            else words("No questionnaire yet. Begin with one of the library, or with an empty one."),
            empty_link=(words("New questionnaire"), NEW) if may_create and not is_archive else None,
            **page_links(found, visit.query, PATH, chosen),
        ),
    )


def _row(visit: Visit, one: Questionnaire, state: State, count: int) -> dict[str, Any]:
    return {
        "url": f"{PATH}/{one.questionnaire_id}",
        "name": one.display_name,
        "is_off": not one.active and one.archived_time is None,
        "published": published_text(visit, state),
        "draft": draft_text(visit, state),
        "count": f"{visit.words.count(min(count, COUNTED_MAX))}{'+' if count > COUNTED_MAX else ''}",
        "responses_url": ResponseFilter(questionnaire_id=one.questionnaire_id, days=DAYS).url() if count else "",
    }


def length_text(words: Texts, definition: Definition) -> str:
    """The estimate of seconds and screens; empty without a question."""
    if not definition.questions():
        return ""
    found = length(definition)
    screens = words.plural("{n} screen on a phone", "{n} screens on a phone", found.screens)
    seconds = words.plural("About {n} second", "About {n} seconds", found.seconds)
    return words("{time}, {screens}", time=seconds, screens=screens)


def published_text(visit: Visit, state: State) -> str:
    if state.number is None or state.published_time is None:
        return visit.words("not yet")
    day = visit.words.date(state.published_time, time_zone=visit.zone)
    return visit.words("Version {n}, {day}", n=visit.words.count(state.number), day=day)


def draft_text(visit: Visit, state: State) -> str:
    """The time of the changes that wait to be published; empty where there are none."""
    if not state.is_changed or state.draft_time is None:
        return ""
    moment = near_moment(visit.words, state.draft_time, now=visit.now, zone=visit.zone)
    return visit.words("changed {moment}", moment=moment)


@routes.get(ONE, scope="Questionnaire.Read")
async def overview(visit: Visit) -> Response:
    async with visit.read() as db:
        work = await work_of(visit, db)
        questionnaire = work.questionnaire
        states = await drafts.list_states(
            db, organization_id=questionnaire.organization_id, questionnaire_ids=[questionnaire.questionnaire_id]
        )
        senders = await _senders(visit, db, questionnaire)
    state, problems, scopes = states[questionnaire.questionnaire_id], work.problems(visit), visit.caller.scopes
    is_open = questionnaire.archived_time is None
    may_update = "Questionnaire.Update" in scopes and is_open
    edit = (visit.words("Edit the questions"), f"{work.path}/edit")
    publish = (visit.words("Publish"), f"{work.path}/publish")
    may_publish = "Questionnaire Version.Create" in scopes and is_open and state.is_changed
    return visit.page(
        "questionnaire.html",
        title=questionnaire.display_name,
        questionnaire=questionnaire,
        path=work.path,
        published=published_text(visit, state),
        draft=draft_text(visit, state),
        is_open=is_open,
        actions=[edit, *([publish] if may_publish else [])] if may_update else [],
        may_see_versions="Questionnaire Version.Read" in scopes and state.number is not None,
        may_see_links="Public Link.Read" in scopes,
        may_update=may_update,
        may_copy="Questionnaire.Create" in scopes,
        may_archive="Questionnaire.Delete" in scopes and is_open,
        problems=problems if may_update else [replace(one, url="") for one in problems],
        groups=outline.rows_of(visit.words, work.draft.definition, path=f"{work.path}/edit", wrong=problems),
        length=length_text(visit.words, work.definition),
        languages=[visit.words.language_name(one) for one in questionnaire.locales],
        senders=senders,
        new_sender_url=address(pipelines.NEW, questionnaire=questionnaire.questionnaire_id)
        if "Pipeline.Create" in scopes and is_open and state.number is not None
        else "",
        responses_url=ResponseFilter(questionnaire_id=questionnaire.questionnaire_id).url(),
        public_url=visit.public_pages.public_link_url(questionnaire.questionnaire_id)
        if questionnaire.public_link
        else "",
    )


async def _senders(visit: Visit, db: Database, questionnaire: Questionnaire) -> list[dict[str, Any]]:
    if "Pipeline.Read" not in visit.caller.scopes:
        return []
    found = await pipelines_store.list_pipelines(
        db,
        organization_id=questionnaire.organization_id,
        questionnaire_id=questionnaire.questionnaire_id,
        page=Page.first(pipelines.LISTED, limit=PIPELINES_MAX),
    )
    return [
        {
            "title": one.title,
            "url": pipelines.url_of(one),
            "state": visit.words(pipelines.STATES[state_of(one, visit.now)]),
            "is_off": one.paused,
        }
        for one in found.items
    ]
