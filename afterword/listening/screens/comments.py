"""Comments by word and by group: each number leads to exactly its responses."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, metadata
from afterword.console.periods import PeriodChoice
from afterword.console.response_list import BANDS, CHANNELS, ResponseFilter
from afterword.console.screens import Marked, Screens, Visit
from afterword.core.figures import templates
from afterword.core.figures.periods import Period
from afterword.core.questionnaires.question_types import SCORES
from afterword.core.wire.exports import guarded
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.ui.lists import address
from afterword.kit.ui.text import interval_text, shown_figure
from afterword.kit.web import html
from afterword.listening.reports.custom_reports import REPORT
from afterword.listening.reports.resources import ReportSpec, document_of
from afterword.listening.reports.results import WORDS_MAX, WORDS_OF_GROUP_MAX
from afterword.listening.responses import comments, themes
from afterword.listening.responses.comments import METADATA, CommentWord, CountedWords
from afterword.listening.responses.service import RequestedResponses
from afterword.listening.responses.themes import THEME
from afterword.listening.screens.exports import csv_of, note
from afterword.listening.screens.reports import PERIODS, SAVED, STORE, TITLE_CHARACTERS_MAX, Field, ends_of
from afterword.listening.screens.views import count_sentence, words_view

COMMENTS: Final = "/console/reports/comments"
READY: Final = f"{COMMENTS}/themes"
THEMES: Final = "/console/settings/themes"
SCOPE: Final = "Questionnaire Instance.Read"  # words of comments are parts of answers
DAYS_DEFAULT: Final = 90
BYS: Final[Mapping[str, Marked]] = {"words": "The words of all", "groups": "The words of each group"}
MOODS: Final[Mapping[str, Marked]] = {"": "All", **{name: text for name, text in BANDS.items() if name}}
GROUPS: Final[Mapping[str, Marked]] = {
    "band": "Mood", "channel": "Channel", "language": "Language", "questionnaire": "Questionnaire",
}  # fmt: skip
NOT_SAVED: Final = {"questionnaire", "language"}  # groups that no report has

routes = Screens()


class _Asked(msgspec.Struct, frozen=True):
    """The question of the address. `choice`: its responses; `groups`: those to choose from, with their names."""

    choice: ResponseFilter
    group: str
    groups: Mapping[str, str]
    questionnaires: Mapping[str, str]
    found: CountedWords

    @property
    def questionnaire_id(self) -> str:
        """The one that the comments are on; empty for several."""
        return next(iter(self.questionnaires)) if len(self.questionnaires) == 1 else self.choice.questionnaire_id


@routes.post(COMMENTS, scope="Report.Create", again=(errors.Invalid,))
async def save_comments(visit: Visit, db: Database) -> Response:
    """Save the report of an address under a title, of the words of all or of each group."""
    title = visit.form.text("title", TITLE_CHARACTERS_MAX)
    if not title:
        raise errors.Invalid.at("/title", "required", visit.words("Give the report a title."))
    asked = await _asked(visit, db, _given(visit))
    columns = {"title": title, "description": None, "application_id": None, "spec": _spec(visit, asked)}
    made = await nouns.create(REPORT, db, columns=columns, **visit.acting)
    return html.redirect(f"{SAVED.replace('{report_id}', made.record.report_id)}?done=saved")


def _given(visit: Visit) -> Mapping[str, str]:
    """The query of the page, which its form repeats."""
    return dict(parse_qsl(visit.form.text("given"))) if visit.form.values else visit.query


@routes.get(COMMENTS, scope=SCOPE, for_limited="part", is_long=True)
async def _page(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words, query = visit.words, _given(visit)
    asked = await _asked(visit, db, query)
    counted = await _themes(visit, db, asked.choice)
    found, choice = asked.found, asked.choice
    finding = count_sentence(words, found.n, is_part=found.from_time is not None)
    linked = [(one.text, one.n, choice.url(word=one.word)) for one in found.words]
    return visit.page(
        "comments.html",
        title=words("Comments"),
        refusal=refusal,
        typed=visit.form.text("title"),
        given=urlencode(query),
        may_save=visit.caller.limit is None and "Report.Create" in visit.caller.scopes,
        is_of_one=asked.questionnaire_id != "",
        bys=[(name, words(text)) for name, text in BYS.items()] if asked.group not in NOT_SAVED else [],
        by=visit.form.text("by"),
        action=COMMENTS,
        fields=_fields(visit, asked),
        period=choice.chosen_period.field(words, PERIODS),
        finding=finding,
        all_url=choice.url(),
        **counted,
        view=words_view(words, linked, n=found.n) if linked else None,
        group_name=asked.groups.get(asked.group, ""),
        groups=[
            {
                "name": _group_name(visit, asked, one.value),
                "url": chosen.url() if chosen else "",
                "count": words.count(one.n),
                "words": _linked(visit, chosen, one.words[:WORDS_OF_GROUP_MAX]),
            }
            for one in found.groups
            for chosen in [_of_group(choice, asked.group, one.value)]
        ],
        csv_url=address(f"{COMMENTS}/csv", query) if found.words else "",
    )


async def _themes(visit: Visit, db: Database, choice: ResponseFilter) -> dict[str, Any]:
    """The values for the table of themes, which begins with all comments."""
    words, chosen = visit.words, choice.filter(visit, None)
    period = choice.chosen_period.period(visit) or Period(*choice.bounds(visit), visit.zone)
    before, counted = await themes.count(db, caller=visit.caller, chosen=chosen, period=period)
    return {
        "before": ends_of(words, before),
        "scores": [SCORES[one.measure.metric].label for one in counted[0][1][1:]],
        "themes_url": THEMES,
        "ready_url": READY if visit.may_open(THEMES) else "",
        "ready": [one["title"] for one in themes.ready(words.language)],
        "themes": [
            {
                "title": theme.title if theme else words("All comments"),
                "words": ", ".join(theme.words) if theme else "",
                "url": choice.url(theme_id=theme.theme_id if theme else ""),
                "comments": words.plural("{n} comment", "{n} comments", share.measure.hits or 0),
                "share": replace(
                    shown_figure(words, share, unit=" %"),
                    basis=interval_text(words, share),
                    change_kind="none",
                    before="",
                ),
                "scores": [
                    replace(shown_figure(words, one, unit=SCORES[one.measure.metric].unit), before="") for one in scores
                ],
            }
            for theme, (share, *scores) in counted
        ],
    }


@routes.post(READY, scope=THEME.scope_of("create"))
async def add_themes(visit: Visit) -> Response:
    await visit.change(themes.add_ready, caller=visit.caller, language=visit.words.language, now=visit.now)
    return html.redirect(f"{COMMENTS}?done=saved")


@routes.get(f"{COMMENTS}/csv", scope=SCOPE, for_limited="part")
async def comments_file(visit: Visit, db: Database) -> Response:
    asked = await _asked(visit, db, visit.query)
    await note(visit, db, report_id=None, name="comments")
    lines: list[Sequence[object]] = [("group", "word", "comments")]
    parts = [("", asked.found.words), *((one.value or "", one.words) for one in asked.found.groups)]
    lines += [(guarded(value), guarded(one.text), one.n) for value, found in parts for one in found]
    return csv_of(lines, now=visit.now)


async def _asked(visit: Visit, db: Database, query: Mapping[str, str]) -> _Asked:
    words = visit.words
    chosen = query.get("questionnaire", "")
    listed = await access.offered(db, visit.caller.part, also=[chosen])
    names = {one.questionnaire_id: one.display_name for one in listed}
    band, period = query.get("band", ""), PeriodChoice.read(query, DAYS_DEFAULT, PERIODS)
    choice = ResponseFilter(
        tab="comment",
        questionnaire_id=chosen if chosen in names else "",
        band=band if band in MOODS else "",
        **period.query,
    ).fixed(visit)
    owners = {one.owner_application_id for one in listed if choice.questionnaire_id in {"", one.questionnaire_id}}
    groups = {**await _declared(visit, db, owners), **{name: words(text) for name, text in GROUPS.items()}}
    group = query.get("group", "")
    group = group if group in groups else STORE if STORE in groups else "band"
    wanted = RequestedResponses(caller=visit.caller, chosen=choice.filter(visit, None))
    found = await comments.count(db, wanted, group_by=group, limit=WORDS_MAX)
    if found.from_time:  # the links lead to what was counted
        end = choice.between.partition("/")[2]
        choice = dataclasses.replace(choice, between=f"{found.from_time.isoformat()}/{end}")
    return _Asked(choice, group, groups, names, found)


def _spec(visit: Visit, asked: _Asked) -> dict[str, Any]:
    """Raises Invalid without a questionnaire."""
    if not asked.questionnaire_id:
        raise errors.Invalid.at("/title", "required", visit.words("Choose one questionnaire, then save the report."))
    by_group = visit.form.text("by") == "groups" and asked.group not in NOT_SAVED
    wanted = {
        "questionnaire_ids": [asked.questionnaire_id],
        "template_id": templates.COMMENTS,
        "metadata": asked.group if by_group else None,
        "band": asked.choice.band or None,
        **asked.choice.chosen_period.spec(visit),
    }
    return document_of(msgspec.convert(wanted, ReportSpec))


async def _declared(visit: Visit, db: Database, application_ids: set[str]) -> Mapping[str, str]:
    """Names of metadata by which the caller may group, that of stores first; none that is personal."""
    if "Questionnaire Value.Read" not in visit.caller.scopes:
        return {}
    found, organization_id = dict[str, str](), visit.caller.organization_id
    for application_id in sorted(application_ids):
        declared = await metadata.declared(db, organization_id=organization_id, application_id=application_id)
        found |= {
            f"{METADATA}:{name}": one.title_in(visit.words)
            for name, one in declared.questionnaire.items()
            if not one.anonymize
        }
    return dict(sorted(found.items(), key=lambda pair: pair[0] != STORE))


def _fields(visit: Visit, asked: _Asked) -> Sequence[Field]:
    words, choice = visit.words, asked.choice
    found = [
        Field("band", words("Mood"), [(name, words(text)) for name, text in MOODS.items()], choice.band),
        Field("group", words("Groups"), list(asked.groups.items()), asked.group),
    ]
    if len(asked.questionnaires) > 1:
        options = [("", words("All")), *sorted(asked.questionnaires.items(), key=lambda pair: pair[1])]
        found.insert(0, Field("questionnaire", words("Questionnaire"), options, choice.questionnaire_id))
    return found


def _of_group(choice: ResponseFilter, group: str, value: str | None) -> ResponseFilter | None:
    """The responses of a group; None where no filter of the list has exactly them."""
    match group:
        case "language":
            return None
        case "band":
            return dataclasses.replace(choice, band=value) if value else None
        case "channel":
            return dataclasses.replace(choice, channel=value or "")
        case "questionnaire":
            return dataclasses.replace(choice, questionnaire_id=value or "")
        case _:
            compared: dict[str, Any] = {"operator": "is_empty"} if value is None else {
                "operator": "equal", "value": value,
            }  # fmt: skip
            return dataclasses.replace(choice, condition=json.dumps({"subject": group, **compared}))


def _group_name(visit: Visit, asked: _Asked, value: str | None) -> str:
    words = visit.words
    if value is None:
        return words("No answer")
    match asked.group:
        case "band":
            return words(MOODS.get(value, value))
        case "channel":
            return words(CHANNELS.get(int(value) or None, "Link"))
        case "language":
            return words.language_name(value)
        case "questionnaire":
            return asked.questionnaires.get(value, words("Deleted questionnaire"))
        case _:
            return value


def _linked(visit: Visit, choice: ResponseFilter | None, found: Sequence[CommentWord]) -> list[tuple[str, str, str]]:
    return [
        (one.text, visit.words.count(one.n), dataclasses.replace(choice, word=one.word).url() if choice else "")
        for one in found
    ]
