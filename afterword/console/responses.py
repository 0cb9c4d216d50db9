"""Responses of all questionnaires: the list, and beside it the one that is open."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from afterword import errors
from afterword.console.answers import answers_of
from afterword.console.screens import Screens, Visit
from afterword.core.wire.lists import Page
from afterword.db import Database
from afterword.instances.tags import service as tags
from afterword.instances.tags import store as tags_store
from afterword.questionnaires import api as questionnaires_api
from afterword.questionnaires import store as questionnaires_store
from afterword.responses import service, store
from afterword.responses.service import Questions
from afterword.responses.store import Filter, ResponseRow
from afterword.texts import Texts
from afterword.web import fields, html

RESPONSES: Final = "/console/responses"
TABS: Final[Mapping[str, str]] = {"all": "All", "comment": "With a comment", "unhappy": "Unhappy"}
PERIODS: Final = (7, 30, 90, 365, 3_650)
DAYS_DEFAULT: Final = 90
ROWS: Final = 50
LISTED_MAX: Final = 200
NEWEST_SCANNED: Final = 500  # for a few rows on another screen
TAG_CHARACTERS_MAX: Final = 50
EPOCH: Final = datetime.fromtimestamp(0, UTC)
MICROS_DIGITS: Final = 17
QUESTIONNAIRES: Final = fields.listing_of(questionnaires_api.Questionnaire)
CHANNELS: Final[Mapping[int | None, str]] = {None: "Link", 1: "E-mail", 2: "SMS", 3: "Webhook"}
SCORES: Final[Mapping[str, str]] = {"nps": "NPS", "csat": "CSAT", "ces": "CES"}
BAND_CHIPS: Final[Mapping[str, str]] = {
    "detractor": "Detractors",
    "passive": "Passives",
    "promoter": "Promoters",
}
BANDS: Final[Mapping[str, str]] = {
    "promoter": "happy",
    "passive": "neutral",
    "detractor": "unhappy",
    "": "",
}

routes = Screens()


@dataclass(frozen=True, slots=True)
class Choice:
    """The filter of the address; `after` is the key behind which the page begins."""

    tab: str = "all"
    questionnaire_id: str = ""
    application_id: str = ""
    days: int = DAYS_DEFAULT
    tag: str = ""
    score: str = ""
    band: str = ""
    after: str = ""

    def url(self, instance_id: str = "", **changed: Any) -> str:
        chosen = replace(self, **{"after": "", **changed})
        query = {
            "tab": chosen.tab if chosen.tab != "all" else "",
            "questionnaire": chosen.questionnaire_id,
            "application": chosen.application_id,
            "score": chosen.score,
            "band": chosen.band,
            "days": chosen.days if chosen.days != DAYS_DEFAULT else "",
            "tag": chosen.tag,
            "after": chosen.after,
        }
        text = urlencode({name: value for name, value in query.items() if value})
        return f"{RESPONSES}{f'/{instance_id}' if instance_id else ''}{f'?{text}' if text else ''}"


@routes.get(RESPONSES, scope="Questionnaire Instance.Read")
async def list_responses(visit: Visit) -> Response:
    async with visit.read() as db:
        values = await _list(visit, db, _choice(visit))
    return visit.page("responses.html", title=visit.words("Responses"), open=None, **values)


@routes.get("/console/responses/{instance_id}", scope="Questionnaire Instance.Read")
async def open_response(visit: Visit) -> Response:
    """The list with one response open beside it; on a phone the response alone."""
    choice, instance_id = _choice(visit), visit.id("instance_id")
    async with visit.read() as db:
        shown = await answers_of(db, caller=visit.caller, instance_id=instance_id)
        if shown is None or shown.submitted_time is None:
            raise errors.NotFound("There is no such response.")
        values = await _list(visit, db, choice)
        listed = await tags_store.list_tags_of_instances(
            db, organization_id=visit.caller.organization_id, instance_ids=[instance_id]
        )
    here = next((row for row in values["rows"] if row["id"] == instance_id), None)
    words = visit.words
    return visit.page(
        "responses.html",
        title=words("Response of {moment}", moment=words.moment(shown.submitted_time, time_zone=visit.zone)),
        open={
            "id": instance_id,
            "response": shown,
            "row": here,
            "metadata": sorted(shown.instance.metadata.items()),
            "when": words.moment(shown.submitted_time, time_zone=visit.zone),
            "channel": words(CHANNELS.get(shown.instance.channel_id, "Link")),
            "tags": [one.tag for one in listed],
            "back": choice.url(after=choice.after),
            "tag_url": choice.url(f"{instance_id}/tag"),
            "untag_url": choice.url(f"{instance_id}/untag"),
        },
        may_tag="Tag.Create" in visit.caller.scopes,
        **values,
    )


@routes.post("/console/responses/{instance_id}/tag", scope="Tag.Create")
async def add_tag(visit: Visit) -> Response:
    async with visit.write() as db:
        await tags.add(
            db,
            caller=visit.caller,
            instance_id=visit.id("instance_id"),
            text=visit.form.text("tag")[: TAG_CHARACTERS_MAX + 1],
            now=visit.now,
        )
    return html.redirect(_choice(visit).url(visit.id("instance_id")))


@routes.post("/console/responses/{instance_id}/untag", scope="Tag.Delete")
async def remove_tag(visit: Visit) -> Response:
    async with visit.write() as db:
        await tags.remove(
            db,
            caller=visit.caller,
            instance_id=visit.id("instance_id"),
            text=visit.form.text("tag"),
            now=visit.now,
            check_version=lambda _: None,
        )
    return html.redirect(_choice(visit).url(visit.id("instance_id")))


def _choice(visit: Visit) -> Choice:
    query = visit.query
    tab, days = query.get("tab", ""), query.get("days", "")
    return Choice(
        tab=tab if tab in TABS else "all",
        questionnaire_id=query.get("questionnaire", "")[:22],
        application_id=query.get("application", "")[:22],
        score=score if (score := query.get("score", "")) in SCORES else "",
        band=band if (band := query.get("band", "")) in BAND_CHIPS else "",
        days=int(days) if days in map(str, PERIODS) else DAYS_DEFAULT,
        tag=query.get("tag", "")[:TAG_CHARACTERS_MAX],
        after=query.get("after", "")[:60],
    )


async def _list(visit: Visit, db: Database, choice: Choice) -> dict[str, Any]:
    """The values of the template for the list: its rows, tabs with counts, filters and pages."""
    words = visit.words
    found = await questionnaires_store.list_questionnaires(
        db,
        organization_id=visit.caller.organization_id,
        application_ids=visit.caller.application_ids,
        page=Page.first(QUESTIONNAIRES, limit=LISTED_MAX),
    )
    names = {one.questionnaire_id: one.display_name for one in found.items}
    if choice.questionnaire_id not in names:
        choice = replace(choice, questionnaire_id="")
    reach = _reach(visit, choice)
    questions = await service.questions_of(db, caller=visit.caller, questionnaire_id=choice.questionnaire_id or None)
    time, _, key = choice.after.partition("_")
    given: dict[str, Any] = {**reach, "questions": questions.listed}
    counts: dict[str, int | None] = {}
    for tab in TABS:
        is_many = (counts.get("all") or 0) > store.FOUND_MAX  # then the others would be of the newest alone
        counts[tab] = (
            None if is_many else await store.count_responses(db, **given, chosen=_filter(visit, choice, questions, tab))
        )
    behind = replace(_filter(visit, choice, questions, choice.tab), to_time=_moment(time) or visit.now)
    rows = await store.list_responses(db, **given, chosen=behind, after=key, limit=ROWS + 1)
    last = None
    if len(rows) > ROWS:
        last = rows[ROWS - 1].submitted_time, rows[ROWS - 1].instance_id
    elif choice.tab != "all" or choice.tag or choice.score or choice.band:
        last = await store.get_last_scanned(db, **reach, chosen=behind, after=key)
    return {
        "rows": [_row(visit, row, questions, choice) for row in rows[:ROWS]],
        "tabs": [
            {
                "url": choice.url(tab=tab),
                "text": words(text),
                "count": f"{store.FOUND_MAX}+" if (counts[tab] or 0) > store.FOUND_MAX else counts[tab],
                "is_current": tab == choice.tab,
            }
            for tab, text in TABS.items()
        ],
        "choice": choice,
        "questionnaires": sorted(names.items(), key=lambda pair: pair[1]),
        "periods": [(each, words.plural("{n} day", "{n} days", each)) for each in PERIODS[:-1]]
        + [(PERIODS[-1], words("All time"))],
        "chips": _chips(words, choice),
        "next_url": choice.url(after=_key_of(*last)) if last else "",
        "is_cut": last is not None and len(rows) <= ROWS,
        "first_url": choice.url() if choice.after else "",
    }


async def newest(visit: Visit, db: Database, choice: Choice, *, limit: int) -> list[dict[str, Any]]:
    """The first rows of a list, for another screen."""
    questions = await service.questions_of(db, caller=visit.caller, questionnaire_id=None)
    chosen = _filter(visit, choice, questions, choice.tab)
    reach = _reach(visit, choice)
    rows = await store.list_responses(
        db, **reach, questions=questions.listed, chosen=chosen, after="", limit=limit, scanned=NEWEST_SCANNED
    )
    return [_row(visit, row, questions, choice) for row in rows]


def _reach(visit: Visit, choice: Choice) -> dict[str, Any]:
    own = visit.caller.application_ids
    if choice.application_id and (not own or choice.application_id in own):
        return {**visit.caller.reach, "application_ids": [choice.application_id]}
    return {**visit.caller.reach}


def _filter(visit: Visit, choice: Choice, questions: Questions, tab: str) -> Filter:
    return Filter(
        questionnaire_id=choice.questionnaire_id or None,
        from_time=visit.now - timedelta(days=choice.days),
        to_time=visit.now,
        tag=choice.tag or None,
        has_comment=tab == "comment",
        ranges=questions.ranges(score=choice.score, band="detractor" if tab == "unhappy" else choice.band),
    )


def _chips(words: Texts, choice: Choice) -> list[tuple[str, str]]:
    """The filters that are in force, each with the address without it."""
    band = words(BAND_CHIPS[choice.band]) if choice.band else ""
    return [
        (text, choice.url(**{name: ""}))
        for name, text in (
            ("score", words("With {score}", score=SCORES.get(choice.score, ""))),
            ("band", band),
            ("tag", words("Tag: {tag}", tag=choice.tag)),
        )
        if getattr(choice, name)
    ]


def _row(visit: Visit, row: ResponseRow, questions: Questions, choice: Choice) -> dict[str, Any]:
    words = visit.words
    score = row.score
    band = questions.band(*score) if score else ""
    return {
        "id": row.instance_id,
        "url": choice.url(row.instance_id, after=choice.after),
        "row": row,
        "score": score[1] if score else None,
        "highest": questions.highest[score[0]] if score else None,
        "band": band,
        "band_text": words(BANDS[band]) if band else "",
        "when": words.moment(row.submitted_time, time_zone=visit.zone),
        "channel": words(CHANNELS.get(row.channel_id, "Link")),
        "case_url": f"/console/cases/{row.case_id}" if row.case_id else "",
    }


def _moment(text: str) -> datetime | None:
    """The time of a key, which has it in microseconds."""
    if not text.isascii() or not text.isdigit() or len(text) > MICROS_DIGITS:
        return None
    return EPOCH + timedelta(microseconds=int(text))


def _key_of(submitted_time: datetime, instance_id: str) -> str:
    return f"{(submitted_time - EPOCH) // timedelta(microseconds=1)}_{instance_id}"
