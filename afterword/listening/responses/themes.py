"""Themes of comments: a comment is counted for a theme when it holds one of its words. Six of them are ready-made."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from textwrap import shorten
from typing import Annotated, Any, Final

from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.core import toml
from afterword.core.figures import metrics, periods
from afterword.core.figures.metrics import Measure
from afterword.core.figures.periods import Period
from afterword.core.figures.reports import Figure
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.question_types import SCORES
from afterword.core.text import words
from afterword.errors import FieldError, Sentence
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import NO_SITE, Change, Editable, Noun, Record, Screens
from afterword.kit.nouns.service import is_of_all
from afterword.kit.web import fields
from afterword.listening.responses import comments
from afterword.listening.responses.rows import ANSWERED
from afterword.listening.responses.service import Filter

THEMES_MAX: Final = 50
THEME_WORDS_MAX: Final = 200
WORD_CHARACTERS_MAX: Final = 60
LISTED_CHARACTERS: Final = 200  # of the words in the list of themes
BEGINNING_CHARACTERS_MIN: Final = 3  # shorter ones begin very many words

ThemeWords = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=WORD_CHARACTERS_MAX)]],
    Meta(min_length=1, max_length=THEME_WORDS_MAX, examples=[["deliver", '"late"', "sent back"]]),
]


class ResponseTheme(Record, kw_only=True):
    """A theme of comments, with the words by which a comment is counted for it."""

    theme_id: fields.Id
    title: Annotated[fields.Text100, Editable("Title")]
    words: Annotated[
        ThemeWords,
        Editable(
            "Words",
            "One per line, in any language. “deliver” also finds “delivery” and “delivered”; “late” in straight "
            "quotes finds that word alone. Accents and capitals make no difference.",
            "lines",
        ),
    ]


async def _check(change: Change[ResponseTheme]) -> None:
    """Raise Invalid for the beginning of too many words."""
    change.caller.require_whole()
    errors.check(
        [
            FieldError(
                "too_short",
                Sentence("“{word}” begins too many words. Write at least three letters.", word=text),
                pointer=f"/words/{index}",
            )
            for index, text in enumerate(change.columns.get("words", ()))
            if len(text) < BEGINNING_CHARACTERS_MIN and text.isascii()
        ]
    )


THEME = Noun(
    record=ResponseTheme,
    table="response_theme",
    one="comment theme",
    many="comment themes",
    tag="Responses",
    path="/q/response/theme",
    scope="Report",
    about_create="A theme of comments, with its words.",
    about_update="Changes of a theme; they hold for all comments, also for old ones.",
    order=(("title", "asc"),),
    most=THEMES_MAX,
    check=_check,
    fixed=lambda caller, _theme: is_of_all(caller, None),
    screens=Screens(
        path="/console/settings/themes",
        title="Themes",
        lead="A comment is counted for a theme when it holds one of its words. Changes hold for old comments too.",
        new="New theme",
        empty="No theme yet. Add the six ready-made ones on the page of comments, or make your own.",
        row=lambda _words, one: {"more": shorten(", ".join(one.words), LISTED_CHARACTERS, placeholder=" …")},
        removal="Remove the theme “{title}”?",
        removal_sentence="The comments stay.",
        removal_button="Remove the theme",
    ),
)
routes = routes_of(THEME)
routes.all += comments.routes.all

_READY: Final = toml.tables_of(__name__)


def ready(language: str) -> list[dict[str, Any]]:
    """The columns of the ready-made themes, named in this language where it is one of theirs, else in English."""
    return [
        {"title": one["title"].get(language, one["title"]["en"]), "words": [*chain(*one["words"].values())]}
        for one in _READY.values()
    ]


async def add_ready(db: Database, *, caller: Caller, language: str, now: datetime) -> None:
    """Give an organization without themes the ready-made ones."""
    if not await nouns.every(THEME, db, organization_id=caller.organization_id):
        for columns in ready(language):
            await nouns.create(THEME, db, caller=caller, columns=columns, site=NO_SITE, now=now)


ALL: Final = 0  # the place of all comments; themes follow
MOMENT: Final = timedelta(microseconds=1)
_Scores = Mapping[tuple[int, str], Counter[int]]  # of responses, by place and kind; without one 0


async def _list_scores(
    db: Database,
    *,
    organization_id: str,
    instance_ids: Sequence[str],
    earlier_ids: Sequence[str],
    themes: Sequence[ResponseTheme],
) -> tuple[_Scores, _Scores]:
    """Those of these responses, and those of the earlier ones."""
    own: dict[str, Any] = {"tenant": organization_id, "weights": "", "whole_weights": ANSWERED}
    queries = [words.tsquery((), **own, either=words.beginnings(one.words)) for one in themes]
    scores = defaultdict[tuple[int, str], Counter[int]](Counter), defaultdict[tuple[int, str], Counter[int]](Counter)
    for row in await db.fetch(
        """with found as materialized (
             select r.instance_id = any($3::text[]) as is_earlier, r.words, coalesce(r.score_kind, '') as kind,
               coalesce(r.score, 0) as score
             from response r where r.organization_id = $1 and r.instance_id = any($2::text[] || $3)),
           theme as materialized (
             select place, query::tsquery as query from unnest($4::text[]) with ordinality q (query, place))
           select f.is_earlier, 0 as place, f.kind, f.score, count(*) as n from found f group by 1, 2, 3, 4
           union all
           select f.is_earlier, t.place, f.kind, f.score, count(*) from found f join theme t on f.words @@ t.query
           group by 1, 2, 3, 4""",
        *(organization_id, list(instance_ids), list(earlier_ids), queries),
    ):
        scores[row["is_earlier"]][row["place"], row["kind"]][row["score"]] = row["n"]
    return scores


async def count(
    db: Database, *, caller: Caller, chosen: Filter, period: Period
) -> tuple[Period, list[tuple[ResponseTheme | None, Sequence[Figure]]]]:
    """The period before, and all comments, then the themes, those that most have first.

    Each has its share of the comments, and of each kind of score that of their responses. Of more than COMMENTS_MAX
    the newest are counted, and compared with as long a time before them.
    """
    key: dict[str, Any] = {"organization_id": caller.organization_id}
    found = await nouns.every(THEME, db, **key)
    ids, first = await comments.newest(db, **caller.part, chosen=chosen)
    period = Period(first, period.to_time, period.time_zone) if first else period
    before = periods.previous(period, "previous_period") or period
    chosen = replace(chosen, from_time=before.from_time, to_time=before.to_time - MOMENT)
    earlier, _ = await comments.newest(db, **caller.part, chosen=chosen)
    both = await _list_scores(db, **key, instance_ids=ids, earlier_ids=earlier, themes=found)
    columns = [
        _compared([[_measure(each, place, kind) for place in range(len(found) + 1)] for each in both])
        for kind in ("", *SCORES)
        if not kind or (ALL, kind) in both[0]
    ]
    counted = zip([None, *found], zip(*columns, strict=True), strict=True)
    return before, sorted(counted, key=lambda one: -(one[1][0].measure.hits or 0))


def _measure(scores: _Scores, place: int, kind: str) -> Measure:
    """The score of this kind; without one the share of all comments."""
    if kind:
        return metrics.score(kind, scores.get((place, kind), {}))
    hits, n = (sum(given.total() for (each, _), given in scores.items() if each == one) for one in (place, ALL))
    return metrics.share(hits, n, metric="share")


def _compared(both: Sequence[Sequence[Measure]]) -> list[Figure]:
    """Those now with their changes; chance makes one of them all real in one of twenty times."""
    changes = metrics.corrected([metrics.change(*pair) for pair in zip(*both, strict=True)])
    return [Figure(one, change=change) for one, change in zip(both[0], changes, strict=True)]
