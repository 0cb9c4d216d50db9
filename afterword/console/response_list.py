"""The list of responses: the filter in the address, tabs with counts, rows with the words that were searched for."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final, Self
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from afterword.asking.questionnaires import access, condition_rows
from afterword.console import conditions
from afterword.console.periods import PeriodFilter
from afterword.console.screens import Marked, Visit
from afterword.core.figures import periods
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.question_types import SCORES
from afterword.core.text import words as search_words
from afterword.core.text.words import Query
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.ui import lists
from afterword.kit.ui.charts import BANDS, PARTS as BAND_CHIPS
from afterword.kit.ui.lists import key_of, one_of, parameter, read_key
from afterword.kit.ui.text import NOTHING, near_moment
from afterword.listening.responses import reads, service as responses
from afterword.listening.responses.service import CHANNELS, OF_LINK, Filter, RequestedResponses, ResponseRow, Tab
from afterword.listening.responses.themes import THEME, ResponseTheme

RESPONSES: Final = "/console/responses"
CASE: Final = "/console/cases/{alert_instance_id}"
TABS: Final[Mapping[Tab, Marked]] = {
    "all": "All", "unread": "Unread", "comment": "With a comment", "unhappy": "Unhappy", "mine": "Mine",
}  # fmt: skip
PERIODS: Final = (7, 30, 90, 365, 3_650)
DAYS_DEFAULT: Final = 90
ROWS: Final = 50
NEWER_MAX: Final = 100
TAG_CHARACTERS_MAX: Final = 50
BETWEEN_CHARACTERS_MAX: Final = 80
MOMENT: Final = timedelta(microseconds=1)
NEVER: Final = datetime(9999, 1, 1, tzinfo=UTC)
CONDITION_CHARACTERS_MAX: Final = 2_000
COMMENT_CHARACTERS_MAX: Final = 300  # of a row
BEFORE_HIT: Final = 60
Pieces = Sequence[tuple[str, bool]]


@dataclass(frozen=True)
class ResponseFilter(PeriodFilter):
    """`since`: the key behind which the first page begins.

    `between`: two moments with a slash, the second one excluded, in place of the period.
    """

    path = RESPONSES
    lengths = PERIODS
    days_default = DAYS_DEFAULT

    tab: Tab = one_of(TABS, "all")  # noqa: RUF009
    questionnaire_id: str = parameter(name="questionnaire")
    application_id: str = parameter(name="application")
    score: str = one_of(SCORES)
    band: str = one_of(BAND_CHIPS)
    between: str = parameter(BETWEEN_CHARACTERS_MAX)
    tag: str = parameter(TAG_CHARACTERS_MAX)
    channel: str = one_of(str(channel or OF_LINK) for channel in CHANNELS)
    link_id: str = parameter(name="link")
    imported: str = parameter()  # "1", or the id of an import
    search: str = parameter(search_words.QUERY_CHARACTERS_MAX)
    word: str = parameter(search_words.WORD_CHARACTERS_MAX)
    theme_id: str = parameter(name="theme")
    condition: str = parameter(CONDITION_CHARACTERS_MAX)
    test: str = parameter(read=lambda value: "1" if value else "")
    after: str = parameter(60)
    since: str = parameter(20)

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Self:
        period = query.get("period", "")
        return super().read({**query, "between": period} if "/" in period else query)

    @cached_property
    def _parameters(self) -> str:
        return lists.address("", self.query)

    def below(self, name: str) -> str:
        return f"{RESPONSES}/{name}{self._parameters}"

    @cached_property
    def words(self) -> Query:
        return search_words.read_query(self.search)

    @cached_property
    def marked(self) -> Query:
        return (*self.words, *search_words.whole_word(self.word))

    def node(self, visit: Visit) -> Node | None:
        """The condition. Raises Invalid when it is no condition."""
        try:
            document = json.loads(self.condition) if self.condition else None
        except ValueError:
            document = self.condition
        return responses.read_condition(visit.caller, document, path="/condition")

    @property
    def moments(self) -> tuple[datetime, datetime] | None:
        return periods.read_text(self.between)

    def bounds(self, visit: Visit) -> tuple[datetime, datetime]:
        """The period; the second moment is excluded."""
        if self.moments:
            return self.moments
        first, last = self.span(visit)
        return first, last or NEVER

    def fixed(self, visit: Visit) -> "ResponseFilter":
        """The choice whose period ends now, so that what is counted is what is done."""
        if self.moments:
            return self
        first, last = self.bounds(visit)
        return dataclasses.replace(self, between=periods.text_of(first, min(last, visit.now + MOMENT)))

    def requested(self, visit: Visit, theme: ResponseTheme | None) -> RequestedResponses:
        """Raises Invalid when the condition is none."""
        return RequestedResponses(
            caller=visit.caller,
            chosen=self.filter(visit, theme),
            application_id=self.application_id or None,
            condition=self.node(visit),
        )

    async def theme(self, visit: Visit, db: Database) -> ResponseTheme | None:
        """The theme that is chosen; None for none, and for one that was removed."""
        return await nouns.find(THEME, db, **visit.caller.part, key=self.theme_id) if self.theme_id else None

    def filter(self, visit: Visit, theme: ResponseTheme | None) -> Filter:
        """`theme`: the chosen one, without which nothing is found."""
        either = search_words.beginnings(theme.words if theme else ()) if self.theme_id else None
        first, last = self.bounds(visit)
        return Filter(
            only=visit.caller.only,
            tab=self.tab,
            questionnaire_id=self.questionnaire_id or None,
            from_time=first,
            to_time=min(last - MOMENT, visit.now),
            tag=self.tag or None,
            band=self.band or None,
            score_kind=self.score or None,
            channel_id=int(self.channel) if self.channel else None,
            link_id=self.link_id or None,
            imported=True if self.imported == "1" else None,
            response_import_id=None if self.imported in {"", "1"} else self.imported,
            search=responses.search_of(visit.caller, self.words, self.word, either),
            is_of_theme=bool(self.theme_id) and not self.marked,
            user_id=visit.caller.user_id,
            seen_time=reads.unread_since(visit.now),
            test=bool(self.test) or visit.caller.test,
        )


async def list_of(
    visit: Visit, db: Database, choice: ResponseFilter, *, questionnaires: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The values of the template for the list: rows, tabs with counts, filters and pages.

    `questionnaires`: the names to choose among, by id; a list beside an open response has none.
    """
    words, names = visit.words, questionnaires or {}
    if names and choice.questionnaire_id not in names:
        choice = dataclasses.replace(choice, questionnaire_id="")
    theme = await choice.theme(visit, db)
    wanted = choice.requested(visit, theme)
    marked = (*choice.marked, *search_words.beginnings(theme.words if theme else ()))
    key = read_key(choice.after)
    since = read_key(choice.since)
    counted, found = await responses.find_counted(
        db, wanted, until=key[0] if key else since[0] if since else visit.now, after=key[1] if key else "", limit=ROWS
    )
    newer = 0
    if since and not wanted.condition:
        chosen = replace(wanted.chosen, from_time=since[0])
        newer = await responses.count_newer(db, **wanted.reach, chosen=chosen, limit=NEWER_MAX)
    choice = dataclasses.replace(choice, since=choice.since or key_of(visit.now, ""))
    period = choice.chosen_period.field(words, PERIODS[:-1], [(str(PERIODS[-1]), words("All time"))])
    if moments := choice.moments:  # of a link; another period that is chosen replaces them
        days = [f"{each.astimezone(ZoneInfo(visit.zone)):%Y-%m-%d}" for each in (moments[0], moments[1] - MOMENT)]
        text = words("{first} to {last}", first=words.short_day(days[0]), last=words.short_day(days[1]))
        period |= {"options": [(choice.between, text), *period["options"]], "value": choice.between}
    return {
        "rows": [row_of(visit, row, choice, marked) for row in found.rows],
        "marked": marked,
        "tabs": [
            {
                "url": choice.url(tab=tab),
                "text": words(text),
                "count": _count(visit, counted, tab),
                "is_current": tab == choice.tab,
            }
            for tab, text in TABS.items()
            if visit.caller.user_id or tab not in {"unread", "mine"}
        ],
        "found": _count(visit, counted, choice.tab),
        "all_found": _count(visit, counted, "all"),
        "is_exact": counted is not None and not counted.is_part and counted.counts[choice.tab] <= responses.FOUND_MAX,
        "found_number": counted.counts[choice.tab] if counted else None,
        "choice": choice,
        "hidden": [(name, value) for name, value in choice.query.items() if name not in _TYPED],
        "questionnaires": sorted(names.items(), key=lambda pair: pair[1]),
        "period": period,
        "chips": await chips_of(visit, db, choice, theme),
        "next_url": choice.url(after=key_of(*found.last), since=choice.since) if found.last else "",
        "is_cut": found.last is not None and not found.is_full,
        "first_url": choice.url() if choice.after else "",
        "read_url": choice.url("read"),
        "taggings_url": choice.url("taggings"),
        "export_url": choice.url("export") if visit.may_open(f"{RESPONSES}/export") else "",
        "views_url": choice.url("views"),
        "is_filtered": choice.url() != RESPONSES,
        "test_url": choice.url(test="1"),
        "imported_url": choice.url(imported="1", period=str(PERIODS[-1])),  # most are old
        "newer": newer,
        "newer_url": choice.url(),
        "is_most_newer": newer >= NEWER_MAX,
    }


_TYPED: Final = frozenset({"questionnaire", "period", "first", "last", "between", "search", "after", "since"})


async def newest(visit: Visit, db: Database, choice: ResponseFilter, *, limit: int) -> list[dict[str, Any]]:
    wanted = choice.requested(visit, await choice.theme(visit, db))
    rows = await responses.list_responses(db, **wanted.reach, chosen=wanted.chosen, after="", limit=limit)
    return [row_of(visit, row, choice, choice.marked) for row in rows]


def _count(visit: Visit, counted: responses.TabCounts | None, tab: Tab) -> str | None:
    """The count of a tab in words, with a plus where there may be more."""
    if counted is None:
        return None
    count = counted.counts[tab]
    is_capped = counted.is_part or count > responses.FOUND_MAX
    return visit.words.count(min(count, responses.FOUND_MAX), is_capped=is_capped)


async def chips_of(
    visit: Visit, db: Database, choice: ResponseFilter, theme: ResponseTheme | None
) -> list[tuple[str, str]]:
    """The filters that are in force, each with the address without it."""
    words = visit.words
    channel = CHANNELS.get(int(choice.channel) or None, "") if choice.channel else ""
    return [
        (text, choice.url(**{name: ""}))
        for name, text in (
            ("search", words("Words: {words}", words=choice.search)),
            ("word", words("In the comment: {word}", word=choice.word)),
            ("theme_id", words("Theme: {theme}", theme=theme.title if theme else NOTHING)),
            ("between", _between(visit, choice)),
            ("score", words("With {score}", score=SCORES[choice.score].label if choice.score else "")),
            ("band", words((BAND_CHIPS if choice.score == "nps" else BANDS)[choice.band]) if choice.band else ""),
            ("tag", words("Tag: {tag}", tag=choice.tag)),
            ("channel", words(channel) if channel else ""),
            ("link_id", words("By one public link")),
            ("imported", words("Imported")),
            ("condition", await _condition(visit, db, choice) if choice.condition else ""),
            ("test", words("Test responses")),
        )
        if getattr(choice, name)
    ]


async def _condition(visit: Visit, db: Database, choice: ResponseFilter) -> str:
    listed = await access.offered(db, visit.caller.part, also=[choice.questionnaire_id])
    asked = [one for one in listed if choice.questionnaire_id in {"", one.questionnaire_id}]
    subjects = await conditions.subjects_of(visit, db, asked)
    return _cut(condition_rows.sentence_of(visit.words, json.loads(choice.condition), subjects))


def _between(visit: Visit, choice: ResponseFilter) -> str:
    if choice.moments is None:
        return choice.between
    first, last = (visit.words.moment(each, time_zone=visit.zone) for each in choice.moments)
    return visit.words("{first} to {last}", first=first, last=last)


def row_of(visit: Visit, row: ResponseRow, choice: ResponseFilter, marked: Query) -> dict[str, Any]:
    words = visit.words
    band = row.band or ""
    return {
        "id": row.instance_id,
        "url": choice.below(row.instance_id),
        "row": row,
        "score": row.score,
        "highest": row.score_max,
        "band": band,
        "band_text": words(BANDS[band]) if band else "",
        "when": near_moment(words, row.submitted_time, now=visit.now, zone=visit.zone),
        "channel": words(CHANNELS.get(row.channel_id, "Link")),
        "case_url": f"/console/cases/{row.alert_instance_id}" if row.alert_instance_id and visit.is_open(CASE) else "",
        "is_unread": row.is_unread,
        "comment": excerpt(row.comment or "", marked) if marked else _cut(row.comment or ""),
        "person": _shown(row.person or "", choice.words),
        "reference": _shown(row.external_reference or "", choice.words),
    }


def _shown(text: str, query: Query) -> Pieces | str:
    """In pieces where something was searched for; a text is shown faster."""
    return search_words.highlighted(text, query) if query else text


def _cut(text: str) -> str:
    return text if len(text) <= COMMENT_CHARACTERS_MAX else f"{text[:COMMENT_CHARACTERS_MAX]}…"


def excerpt(text: str, query: Query) -> Pieces:
    """So much of a text as a row has room for, from shortly before the first word that was searched for."""
    pieces = search_words.highlighted(text, query)
    before = len(pieces[0][0]) if pieces and not pieces[0][1] and len(pieces) > 1 else 0
    shown: list[tuple[str, bool]] = []
    room = COMMENT_CHARACTERS_MAX
    for index, (piece, is_hit) in enumerate(pieces):
        part = f"…{piece[-BEFORE_HIT:]}" if index == 0 and before > 2 * BEFORE_HIT else piece
        shown.append((part if len(part) <= room else f"{part[:room]}…", is_hit))
        room -= len(part)
        if room <= 0:
            break
    return shown


def done(url: str, name: str) -> str:
    """The address with the name of the act that led there."""
    return f"{url}{'&' if '?' in url else '?'}done={name}"
