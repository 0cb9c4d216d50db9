"""Questionnaires: the list, and the page of one with its outline and its problems."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import ids
from afterword.asking.questionnaires import access, api, drafts, imports
from afterword.asking.questionnaires.drafts import DraftRecord, Overview, State
from afterword.asking.questionnaires.store import Questionnaire
from afterword.cases import rules
from afterword.console.response_list import ResponseFilter
from afterword.console.screens import Screens, Visit
from afterword.core.questionnaires import editing, endings
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.flow import length
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.question_types import TYPES
from afterword.core.reading.documents import is_array, is_object
from afterword.core.reading.findings import Finding
from afterword.core.text import placeholders
from afterword.core.wire.lists import Criterion, Page
from afterword.kit.db import Database
from afterword.kit.texts import Marked, Texts, tables_of
from afterword.kit.ui.lists import ROWS, Column, Listing, Tab, address, behind, page_links
from afterword.kit.ui.text import near_moment
from afterword.kit.web import fields
from afterword.sending.pipelines import store as pipelines_store
from afterword.sending.pipelines.resources import state_of
from afterword.sending.screens import pipelines

SENTENCES: Final[Mapping[str, Mapping[str, Marked]]] = tables_of(__name__, "problems")
UNFINISHED: Final = frozenset({"required", "too_short", "too_few"})  # codes of what was not filled in yet
_MISSING: Final = "missing_translation"
_NO_VARIABLE: Final = re.compile(rf"There is no variable “answer\.(\w{{{ids.ID_CHARACTERS}}})\b", re.ASCII)


class Problem(msgspec.Struct, frozen=True):
    """`where`: the text of the question or page. `member`: the wrong one of the question, if it is one of those."""

    text: str
    url: str = ""
    where: str = ""
    is_error: bool = True
    question_id: str = ""
    member: str = ""


def rows_of(
    words: Texts, document: Mapping[str, Any], *, path: str, wrong: Iterable[Problem] = (), query: str = ""
) -> list[dict[str, Any]]:
    counts = Counter(one.question_id for one in wrong if one.is_error)
    return [
        {
            "id": group.get("group_id"),
            "title": placeholders.plain(str(group.get("title") or "")),
            "name": words("Page {n}", n=number),
            "url": f"{path}/page/{group.get('group_id')}{query}",
            "add_url": address(f"{path}/add", after=group.get("group_id")),
            "questions": [
                {
                    "id": str(one.get("question_id")),
                    "url": f"{path}/{one.get('question_id')}{query}",
                    "add_url": address(f"{path}/add", after=one.get("question_id")),
                    "title": title_of(words, one),
                    "kind": str(one.get("type")),
                    "type": type_name(words, str(one.get("type"))),
                    "is_required": one.get("required") is True and is_answered(one),
                    "is_off": one.get("enabled") is False,
                    "has_jumps": bool(editing.jumps_of(one)),
                    "has_condition": one.get("show_if") is not None,
                    "wrong": counts[str(one.get("question_id"))],
                }
                for one in editing.questions_of(group)
            ],
        }
        for number, group in enumerate(editing.groups_of(document), 1)
    ]


def type_name(words: Texts, name: str) -> str:
    return words(TYPES[name].label) if name in TYPES else name


def is_answered(question: Mapping[str, Any]) -> bool:
    known = TYPES.get(str(question.get("type")))
    return known is not None and known.is_answered


def title_of(words: Texts, question: Mapping[str, Any]) -> str:
    return placeholders.plain(str(question.get("title") or "")) or words("No text yet")


def ending_name(words: Texts, ending: Mapping[str, Any], number: int) -> str:
    title = str(ending.get("title") or ending.get("text") or "")
    return placeholders.plain(title)[: endings.EXCERPT_CHARACTERS] or words("Ending {n}", n=number)


def problems_of(words: Texts, document: Mapping[str, Any], findings: Sequence[Finding], *, path: str) -> list[Problem]:
    """The errors, then the warnings; missing translations are counted by language. `path`: of the questionnaire."""
    missing = Counter(locale for one in findings if one.code == _MISSING and (locale := _locale_of(one.path)))
    found = [_problem(words, document, one, path) for one in findings if one.code != _MISSING]
    found += [
        Problem(
            words.plural("{n} text is missing in {language}.", "{n} texts are missing in {language}.", count).replace(
                "{language}", words.language_name(locale)
            ),
            f"{path}/translations/{locale}?show=missing",
            is_error=False,
        )
        for locale, count in missing.items()
    ]
    return sorted(found, key=lambda one: not one.is_error)


def _problem(words: Texts, document: Mapping[str, Any], finding: Finding, path: str) -> Problem:
    first, *rest = finding.path[1:].split("/")
    is_error = finding.severity == "error"
    if first == "endings" and rest:
        ending = _at(document.get("endings"), rest[0])
        text, url = _sentence(words, document, finding, rest[-1]), f"{path}/edit/endings/{ending.get('ending_id')}"
        return Problem(text, url, placeholders.plain(str(ending.get("title") or "")) or words("Endings"), is_error)
    if first != "groups" or not rest:
        text = _sentence(words, document, finding, first)
        places = {"pages": "texts", "translations": "texts", "anonymous": "anonymity"}
        return Problem(text, f"{path}/edit/{places[first]}" if first in places else "", is_error=is_error)
    group = _at(document.get("groups"), rest[0])
    below = rest[1:]
    if len(below) < 2 or below[0] != "questions":  # noqa: PLR2004  the list and a place in it
        member = below[0] if below else ""
        url = f"{path}/edit/page/{group.get('group_id')}"
        return Problem(
            _sentence(words, document, finding, member),
            url,
            placeholders.plain(str(group.get("title") or "")),
            is_error,
        )
    question = _at(group.get("questions"), below[1])
    question_id, member = str(question.get("question_id")), below[2] if below[2:] else ""
    url = f"{path}/edit/{question_id}"
    if member == "jumps" and below[3:]:
        url = f"{url}/jump/{below[3]}"
    elif member == "show_if":
        url = f"{url}/condition"
    elif member == "translations" and below[3:]:
        url = f"{path}/translations/{below[3]}"
    elif member:
        url = f"{url}?wrong=1#{member}"
    return Problem(
        _sentence(words, document, finding, member), url, title_of(words, question), is_error, question_id, member
    )


def _sentence(words: Texts, document: Mapping[str, Any], finding: Finding, member: str) -> str:
    unknown = _NO_VARIABLE.match(finding.message)
    if unknown:  # ids are never shown
        question = editing.question_of(document, unknown[1])
        if question is None:
            return words("It shows the answer to a deleted question.")
        return words("It shows the answer of “{title}”, which comes later.", title=title_of(words, question))
    return words.said(SENTENCES.get(finding.code, {}).get(member, finding.message))


def _at(entries: object, place: str) -> Mapping[str, Any]:
    found = entries[int(place)] if is_array(entries) and place.isdigit() and int(place) < len(entries) else None
    return found if is_object(found) else {}


def _locale_of(pointer: str) -> str:
    """Of the pointer of a missing translation: `/pages/el/welcome`, `/groups/0/…/translations/el/title`."""
    parts = pointer.split("/")
    at = next((number for number, part in enumerate(parts) if part in {"pages", "translations"}), len(parts))
    return parts[at + 1] if parts[at + 1 :] else ""


PATH: Final = "/console/questionnaires"
NEW: Final = f"{PATH}/new"
ONE: Final = f"{PATH}/{{questionnaire_id}}"
LISTING: Final = fields.listing_of(api.Questionnaire)
ARCHIVED: Final = LISTING.columns["archived_time"]
DAYS: Final = 30
COUNTED_MAX: Final = 1_000
PIPELINES_MAX: Final = 20

routes = Screens()


class Work(msgspec.Struct, frozen=True):
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

    def problems(self, visit: Visit, *, without: Collection[str] = ()) -> list[Problem]:
        """`without`: codes of findings."""
        findings = [one for one in self.findings if one.code not in without]
        return problems_of(visit.words, self.draft.definition, findings, path=self.path)


async def work_of(visit: Visit, db: Database) -> Work:
    questionnaire = await access.get(db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"))
    draft = await drafts.get_draft_record(db, **questionnaire.key)
    if draft is None:
        draft = DraftRecord(
            **questionnaire.key,
            base_version_id=questionnaire.published_version_id,
            revision=-1,
            definition=await drafts.first_definition(db, questionnaire),
            updated_time=questionnaire.updated_time,
            updated_by=None,
            translated_sources=None,
        )
    examined = await drafts.examine(db, questionnaire=questionnaire, draft=draft)
    version = await access.published(db, questionnaire)
    published = version.definition if version else None
    return Work(questionnaire, draft, examined.findings.found, examined.definition, examined.declared, published)


@routes.get(PATH, scope="Questionnaire.Read")
async def list_questionnaires(visit: Visit, db: Database) -> Response:
    words, is_archive = visit.words, visit.query.get("show") == "archived"
    chosen = {"show": "archived"} if is_archive else {}
    page = Page.first(LISTING, limit=ROWS)
    found = await drafts.list_overviews(
        db,
        **visit.caller.part,
        from_time=visit.now - timedelta(days=DAYS),
        limit=COUNTED_MAX + 1,
        page=behind(
            replace(page, criteria=(Criterion("NOT_NULL" if is_archive else "NULL", ARCHIVED, None),)),
            visit.query.get("after", ""),
        ),
    )
    may_create = "Questionnaire.Create" in visit.caller.scopes
    return visit.page(
        "questionnaires.html",
        title=words("Questionnaires"),
        new_url=NEW if may_create else "",
        list=Listing(
            rows=[_row(visit, one) for one in found.items],
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
            else words("No questionnaire yet. Start with a template or with an empty one."),
            empty_link=(words("New questionnaire"), NEW) if may_create and not is_archive else None,
            **page_links(found, visit.query, PATH, chosen),
        ),
    )


def _row(visit: Visit, one: Overview) -> dict[str, Any]:
    count = one.response_count
    return {
        "url": f"{PATH}/{one.questionnaire_id}",
        "name": one.display_name,
        "is_off": not one.active and one.archived_time is None,
        "published": published_text(visit, one),
        "draft": draft_text(visit, one),
        "count": visit.words.count(min(count, COUNTED_MAX), is_capped=count > COUNTED_MAX),
        "responses_url": ResponseFilter(questionnaire_id=one.questionnaire_id, period=str(DAYS)).url() if count else "",
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
    return visit.words("Version {n}, {day}", n=state.number, day=day)


def draft_text(visit: Visit, state: State) -> str:
    """The time of the changes that wait to be published; empty where there are none."""
    if not state.is_changed or state.draft_time is None:
        return ""
    moment = near_moment(visit.words, state.draft_time, now=visit.now, zone=visit.zone)
    return visit.words("changed {moment}", moment=moment)


@routes.get(ONE, scope="Questionnaire.Read")
async def overview(visit: Visit, db: Database) -> Response:
    work = await work_of(visit, db)
    questionnaire = work.questionnaire
    state = await drafts.get_state(db, **questionnaire.key)
    senders = await _senders(visit, db, questionnaire)
    imported_from = await imports.get_format(db, **questionnaire.key)
    may_alert = {"Alert.Create", "Alert.Update"} <= visit.caller.scopes and questionnaire.archived_time is None
    unhappy = await rules.unhappy_of(db, questionnaire=questionnaire) if may_alert else None
    problems, scopes = work.problems(visit), visit.caller.scopes
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
        may_update=may_update,
        may_archive="Questionnaire.Delete" in scopes and is_open,
        problems=problems if may_update else [replace(one, url="") for one in problems],
        groups=rows_of(visit.words, work.draft.definition, path=f"{work.path}/edit", wrong=problems),
        length=length_text(visit.words, work.definition),
        languages=[visit.words.language_name(one) for one in work.definition.locales],
        imported_from=imported_from or "",
        senders=senders,
        new_sender_url=address(pipelines.NEW, questionnaire=questionnaire.questionnaire_id)
        if "Pipeline.Create" in scopes and is_open and state.number is not None
        else "",
        unhappy_max=unhappy and unhappy[1],
        results_url=f"{work.path}/results" if "Report.Read" in scopes and questionnaire.published_version_id else "",
        responses_url=ResponseFilter(questionnaire_id=questionnaire.questionnaire_id).url(),
        public_url=visit.public_pages.public_link_url(questionnaire.questionnaire_id)
        if questionnaire.public_link
        else "",
    )


async def _senders(visit: Visit, db: Database, questionnaire: Questionnaire) -> list[dict[str, Any]]:
    if "Pipeline.Read" not in visit.caller.scopes:
        return []
    page = Page.first(pipelines.LISTED, limit=PIPELINES_MAX)
    found = await pipelines_store.list_pipelines(db, **questionnaire.key, page=page)
    return [
        {
            "title": one.title,
            "url": pipelines.url_of(one),
            "state": visit.words(pipelines.STATES[state_of(one, visit.now)]),
            "is_off": one.paused,
        }
        for one in found.items
    ]
