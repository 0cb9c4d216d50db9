"""Results of reports as charts: one view for each figure of a report, with its finding in a sentence and its table."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword.core import charts as core_charts
from afterword.core.figures import templates
from afterword.core.figures.metrics import PAIRS_MIN
from afterword.core.figures.reports import MEANS, RATES, Figure
from afterword.core.figures.rows import RowKey, Selection, stages_of
from afterword.core.questionnaires.question_types import SCORES, TYPES, Question
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui import charts
from afterword.kit.ui.charts import Entry, Text, View
from afterword.kit.ui.text import before_text, change_text, decimals_of, figure_text, interval_text, value_text
from afterword.listening.reports.results import Result, Row

NAMED: Final = 3  # words in the sentence
Counted = tuple[str, int, str]  # name, number of comments, and address


def count_sentence(words: Texts, n: int, *, is_part: bool) -> str:
    if is_part:
        return words("The newest {n} comments; there are more.", n=n)
    return words.plural("{n} comment.", "{n} comments.", n)


def words_view(words: Texts, found: Sequence[Counted], *, n: int, title: str = "") -> View:
    """Words, the most frequent first; `n`: all comments."""
    return View(
        kind="rows",
        title=title,
        finding=_most(words, [text for text, *_ in found]),
        points=_points(words, found),
        head=[words("Word"), words("Comments"), words("Share")],
        rows=[
            [Text(text, url), Text(words.count(count)), Text(f"{words.figure(100 * count / n)} %")]
            for text, count, url in found
        ],
    )


def groups_view(words: Texts, found: Sequence[tuple[Counted, Sequence[Counted]]], *, group: str, title: str) -> View:
    rows: list[list[Text]] = []
    for (name, count, url), said in found:
        rows.append([Text(name, url), Text(words.count(count))])
        rows += [[Text(f"{name} · {text}", link), Text(words.count(of_word))] for text, of_word, link in said]
    return View(
        kind="rows",
        title=title,
        finding=_most(words, [f"{said[0][0]} ({name})" for (name, *_), said in found if said]),
        points=_points(words, [one for one, _ in found]),
        head=[group, words("Comments")],
        rows=rows,
        is_wordy=True,
    )


def _most(words: Texts, found: Sequence[str]) -> str:
    return words("Most often: {words}.", words=", ".join(found[:NAMED])) if found else ""


def _points(words: Texts, found: Sequence[Counted]) -> Sequence[Entry]:
    shown = found[:BARS_MAX]
    places = core_charts.bars([count for _, count, _ in shown], mirrored=words.direction == "rtl")
    return [
        Entry(name=name, text=f"{name}: {words.count(count)}", url=url, short=words.count(count), bar=bar)
        for (name, count, url), bar in zip(shown, places, strict=True)
    ]


METRICS: Final[Mapping[str, Marked]] = {
    **{name: score.label for name, score in SCORES.items()},
    **{mean: SCORES[name].mean for mean, name in MEANS.items()},
    "mean": "Mean", "share": "Share", "correlation": "Correlation", "created": "Created", "sent": "Sent",
    "delivered": "Delivered", "bounced": "Bounced", "viewed": "Opened", "started": "Answered",
    "submitted": "With an answer", "completed": "Completed", "delivery": "Delivered, of sent",
    "view": "Opened, of delivered", "response": "Answered, of sent", "response_of_delivered": "Answered, of delivered",
    "completion": "Completed, of started", "rr1": "Response rate RR1", "rr2": "Response rate RR2",
}  # fmt: skip
BOOLEANS: Final[Mapping[str, Marked]] = {"true": "Yes", "false": "No"}
COLUMNS_MAX: Final = 11  # more values are rows
BARS_MAX: Final = 31  # more rows are a line, or stand in the table alone
Urls = Callable[[Selection, Sequence[str]], str]


class Names(msgspec.Struct, frozen=True):
    """`url`: of the responses of a row that came to these stages, empty where they may not be read."""

    words: Texts
    questions: Mapping[str, Question]
    questionnaires: Mapping[str, str]
    channels: Mapping[int | None, str]
    metadata: Mapping[str, str]
    url: Urls
    pipelines: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    def of(self, key: RowKey) -> str:
        """The values of a row; a row of a matrix is called by its own text."""
        if "row" in key:
            return str(key["row"] or self.words("No answer"))
        return " · ".join(self._value(group, value) for group, value in key.items()) or self.words("All")

    def url_of(self, selection: Selection, figure: Figure) -> str:
        """The address of what a figure counts: of a rate's base those that came to its numerator."""
        return "" if figure.suppressed else self.url(selection, stages_of(figure.measure.metric))

    def base_url(self, selection: Selection, figure: Figure) -> str:
        rate = RATES.get(figure.measure.metric)
        return self.url(selection, (rate[1],) if rate else stages_of(figure.measure.metric))

    def group(self, group: str) -> str:
        kind, _, name = group.partition(":")
        if kind == "question":
            return self.questions[name].plain_title if name in self.questions else name
        if name and group not in GROUPS:
            return self.metadata.get(group, name)
        return self.words(GROUPS.get(group, group))

    def _value(self, group: str, value: str | int | None) -> str:
        kind, _, name = group.partition(":")
        text = "" if value is None else str(value)
        found = text
        if value is None:
            found = self.words("None entered") if kind == "case" else self.words("No answer")
        match kind:
            case "bucket":
                found = self.words.day(text)
            case "questionnaire":
                found = self.questionnaires.get(text, self.words("Deleted questionnaire"))
            case "question_id" if text in self.questions:
                found = self.questions[text].plain_title
            case "band" if value is not None:
                found = self.words(charts.BANDS[text])
            case "channel":
                found = self.words(self.channels.get(value if isinstance(value, int) else None, "Link"))
            case "pipeline" if value is not None:
                found = self.pipelines.get(text, self.words("Deleted pipeline"))
            case "question" if name in self.questions and text in BOOLEANS:
                found = self.words(BOOLEANS[text])
            case "question" if name in self.questions:
                found = self.questions[name].label_of(text) or found
            case _:
                pass
        return found


GROUPS: Final[Mapping[str, Marked]] = {
    "bucket": "From", "questionnaire": "Questionnaire", "question_id": "Question", "version": "Version",
    "channel": "Channel", "band": "Mood", "pipeline": "Pipeline", "locale": "Language", "case:cause": "Cause",
    "case:remedy": "Action taken",
}  # fmt: skip


def unit_of(figure: Figure) -> str:
    return " %" if figure.measure.unit == "percent" else ""


def bounds_of(figure: Figure) -> tuple[float, float]:
    match figure.measure.unit:
        case "points":
            return -100, 100
        case "percent":
            return 0, 100
        case "correlation":
            return -1, 1
        case _:
            return figure.measure.scale or (0, max(1, figure.measure.value or 1))


def views(result: Result, names: Names, *, template_id: str | None) -> Sequence[View]:
    match template_id:
        case "distribution":
            question = names.questions.get(str(result.parameters.get("question_id")))
            return distributions(result.rows, question, names, most=most_of(result.rows))
        case "funnel":
            return [_funnel(result, names)]
        case "sending":
            return _sending(result, names)
        case "drivers":
            outcome = names.questions.get(str(result.parameters.get("outcome_question_id")))
            return [drivers(result.rows, names, title=outcome.title if outcome else "")]
        case templates.COMMENTS:
            return [_comments(result, names)]
        case _:
            return [_of_metric(result, index, names) for index in range(len(result.total))]


def metric_name(words: Texts, figure: Figure) -> str:
    return words(METRICS.get(figure.measure.metric, figure.measure.metric))


def figure_cells(words: Texts, figure: Figure, url: str = "", *, has_before: bool = False) -> list[Text]:
    """Value, interval, number of answers and change; `url`: of the value; `has_before`: from the period before."""
    measure = figure.measure
    unit = unit_of(figure)
    if figure.suppressed:
        return [Text(figure_text(words, figure), kind="why"), Text(""), Text(""), Text("")]
    changes = change_text(words, figure), before_text(words, figure) if has_before else ""
    return [
        Text(value_text(words, figure, unit=unit), url),
        Text(interval_text(words, figure)),
        Text(words.count(measure.n)),
        Text(" · ".join(filter(None, changes)), kind=charts.figure_band(figure)),
    ]


def head_of(names: Names, group: str, figure: Figure, compare: object) -> list[str]:
    words = names.words
    return [
        group,
        metric_name(words, figure),
        words("95 % interval"),
        words("Answers"),
        words("Difference") if compare == "rest" else words("Change"),
    ]


def _of_metric(result: Result, index: int, names: Names) -> View:
    """Rows of a metric: a trend by time, else groups beside each other; of one group, or pairs, the table alone."""
    words, total = names.words, result.total[index]
    metrics = result.parameters.get("metrics")
    basis = metrics[index]["date_basis"] if metrics else result.date_basis  # not all need to have that of the report
    figures = [row.figures[index] for row in result.rows]
    labels = [names.of(row.key) for row in result.rows]
    groups = list(result.rows[0].key) if result.rows else []
    head = head_of(names, " · ".join(map(names.group, groups)) or words("All"), total, result.parameters.get("compare"))

    def row_of(label: str, selection: Selection, figure: Figure) -> list[Text]:
        selection = replace(selection, date_basis=basis)
        value_url = names.url_of(selection, figure) if figure.measure.metric in RATES else ""
        return [Text(label, names.base_url(selection, figure)), *figure_cells(words, figure, value_url)]

    rows = [row_of(label, row.selection, row.figures[index]) for label, row in zip(labels, result.rows, strict=True)]
    if len(rows) != 1:
        rows.append(row_of(words("Total"), result.selection, total))
    if not any(row[-1].text for row in rows):  # nothing is compared
        head, rows = head[:-1], [row[:-1] for row in rows]
    urls = [row[0].url for row in rows[: len(labels)]]
    unit = unit_of(total)
    if groups == ["bucket"]:
        view = charts.trend_view(
            words,
            figures,
            labels,
            bounds=bounds_of(total),
            unit=unit,
            head=head,
            title=metric_name(words, total),
            finding=f"{words('The band is the 95 % interval.')} {_cut(result, words)}".strip(),
            urls=urls,
            rows=rows,
        )
    elif len(groups) == 1 and len(rows) > 1:
        shown = list(zip(labels, figures, urls, strict=True))
        view = charts.groups_view(
            words,
            shown,
            total=total,
            bounds=bounds_of(total),
            unit=unit,
            title=metric_name(words, total),
            finding=groups_finding(words, shown),
            head=head,
            rows=rows,
        )
    else:
        view = View(kind="table", title=metric_name(words, total), finding="", head=head, rows=rows)
    return view


def _cut(result: Result, words: Texts) -> str:
    starts = [date.fromisoformat(str(row.key["bucket"])) for row in result.rows]
    return charts.cut_text(words, result.period, result.parameters["bucket"], starts)


def groups_finding(words: Texts, rows: Sequence[tuple[str, Figure, str]]) -> str:
    real = [name for name, figure, _ in rows if charts.figure_band(figure)]
    shown = [(figure.measure.value, name) for name, figure, _ in rows if not figure.suppressed and figure.measure.value]
    if real:
        return words("Clearly different: {names}.", names=", ".join(real[:5]))
    if any(figure.change is not None for _, figure, _ in rows):
        return words("No clear difference.")
    if len(shown) < 2:  # noqa: PLR2004  two ends
        return words("Too few groups to compare.")
    return words("From {low} to {high}.", low=min(shown)[1], high=max(shown)[1])


def distributions(
    rows: Sequence[Row], question: Question | None, names: Names, *, most: float, title: str | None = None
) -> Sequence[View]:
    """The share of each value; the rows of a matrix and the ranks of a ranking each by themselves, on one scale.

    `most`: the end of the scale. `title`: of a single part, without one the question.
    """
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(str(row.key.get("row") or row.key.get("rank") or ""), []).append(row)
    if title is None:
        title = question.plain_title if question else ""
    return [_distribution(part or title, of_part, question, names, most) for part, of_part in parts.items()]


def most_of(rows: Sequence[Row]) -> float:
    """The largest share, of the period before too."""
    return max((max(_share(row), charts.previous_of(row.figures[0]) or 0.0) for row in rows), default=0.0)


def _share(row: Row) -> float:
    return 0.0 if row.figures[0].suppressed else row.figures[0].measure.value or 0.0


def _distribution(title: str, rows: Sequence[Row], question: Question | None, names: Names, scale: float) -> View:
    words = names.words
    segments = TYPES[question.type].segments if question else ()
    entries: list[Entry] = []
    cells: list[list[Text]] = []
    for row in rows:
        figure, value = row.figures[0], row.key["value"]
        name = str(row.key["label"] or value)
        if question and TYPES[question.type].subject == "boolean" and name in BOOLEANS:
            name = words(BOOLEANS[name])
        url = names.url(row.selection, ())
        band = next((segment for segment, low, high in segments if isinstance(value, int) and low <= value <= high), "")
        text = " · ".join(filter(None, (figure_text(words, figure, unit=" %"), before_text(words, figure))))
        entries.append(
            Entry(name=name, text=f"{name}: {text}", url=url, band=band, short=value_text(words, figure, unit=" %"))
        )
        share, interval, _, change = figure_cells(words, figure, has_before=True)
        hits = "" if figure.suppressed or figure.measure.hits is None else words.count(figure.measure.hits)
        cells.append([Text(name, url), share, interval, Text(hits), change])
    shares = list(map(_share, rows))
    most = max(range(len(rows)), key=lambda index: shares[index])
    finding = words(
        "Most often {name}: {text}.", name=entries[most].name, text=figure_text(words, rows[most].figures[0], unit=" %")
    )
    if not shares[most]:
        finding = figure_text(words, rows[most].figures[0])
    columns = 5 if any(row[-1].text for row in cells) else 4  # without a change nothing is compared
    head = [words("Answer"), words("Share"), words("95 % interval"), words("Answers"), words("Change")]
    table: dict[str, Any] = {"head": head[:columns], "rows": [row[:columns] for row in cells], "title": title}
    before = [charts.previous_of(row.figures[0]) for row in rows]
    is_upright = len(rows) <= COLUMNS_MAX and all(
        isinstance(row.key["value"], int) and not row.key["label"] for row in rows
    )
    draw, is_mirrored = core_charts.columns if is_upright else core_charts.bars, words.direction == "rtl"
    ghosts = draw([value or 0.0 for value in before], of=scale, mirrored=is_mirrored)
    marked = [
        replace(entry, bar=bar, before=None if value is None else ghost)
        for entry, bar, ghost, value in zip(
            entries, draw(shares, of=scale, mirrored=is_mirrored), ghosts, before, strict=True
        )
    ]
    start = 100 if is_mirrored and is_upright else 0
    return View(kind="columns" if is_upright else "rows", finding=finding, start=start, points=marked, **table)


def _funnel(result: Result, names: Names) -> View:
    """The stages of all together; the table has the rates too, and each questionnaire."""
    head = [names.words("Questionnaire"), *(metric_name(names.words, one) for one in result.total)]
    return replace(_stages(result, names), head=head, rows=_number_rows(result, names))


def _stages(result: Result, names: Names) -> View:
    words = names.words
    shown = [one for one in result.total if one.measure.metric not in RATES]
    response = next(one for one in result.total if one.measure.metric == "response")
    return charts.funnel_view(
        words,
        [(metric_name(words, one), one) for one in shown],
        finding=words("Answered, of sent: {text}.", text=figure_text(words, response, unit=" %")),
        urls=[names.url_of(result.selection, one) for one in shown],
    )


def _number_rows(result: Result, names: Names) -> list[list[Text]]:
    lines = [(names.of(row.key), row.selection, row.figures) for row in result.rows]
    return [
        [Text(name, names.url(selection, ())), *(_number(names, one, selection) for one in figures)]
        for name, selection, figures in [*lines, (names.words("Total"), result.selection, result.total)]
    ]


def _number(names: Names, figure: Figure, selection: Selection) -> Text:
    words, measure, url = names.words, figure.measure, names.url_of(selection, figure)
    if measure.unit == "count" and measure.value is not None and not figure.suppressed:
        return Text(words.count(int(measure.value)), url)
    return Text(value_text(words, figure, unit=unit_of(figure)), url)


def _sending(result: Result, names: Names) -> Sequence[View]:
    """The messages of all together by stage, and those of each row; the table has the rates too."""
    words, stages = names.words, _stages(result, names)
    [group] = result.rows[0].key if result.rows else ["bucket"]
    figures = [row.figures[0] for row in result.rows]
    labels = [names.of(row.key) for row in result.rows]
    urls = [names.url_of(row.selection, row.figures[0]) for row in result.rows]
    sent = [0 if one.suppressed else int(one.measure.value or 0) for one in figures]
    table: dict[str, Any] = {
        "title": metric_name(words, result.total[0]),
        "finding": "",
        "head": [names.group(group), *(metric_name(words, one) for one in result.total)],
        "rows": _number_rows(result, names),
    }
    if len(labels) > BARS_MAX:
        return [
            stages,
            charts.trend_view(words, figures, labels, bounds=(0, max(1, *sent)), unit="", urls=urls, **table),
        ]
    marks = _points(words, list(zip(labels, sent, urls, strict=True)))
    return [stages, View(kind="rows", points=marks, **table)]


def drivers(found: Sequence[Row], names: Names, *, title: str) -> View:
    words = names.words
    asked = [row for row in found if row.figures[0].measure.n]  # together with the outcome
    shown = [(names.of(row.key), row.figures[0], names.url(row.selection, ())) for row in asked]
    best = next((name for name, figure, _ in shown if not figure.suppressed and figure.measure.value is not None), "")
    rows = [
        [
            Text(names.of(row.key), names.url(row.selection, ())),
            *figure_cells(words, row.figures[0])[:3],
            Text(value_text(words, row.figures[1])),
        ]
        for row in asked
    ]
    head = [words("Question"), words("Correlation"), words("95 % interval"), words("Pairs"), words("Mean")]
    if not best:
        finding = _no_driver(words, found)
        return View(kind="table", title=title, finding=finding, head=head, rows=rows)
    return charts.groups_view(
        words,
        shown,
        total=None,
        bounds=(-1, 1),
        unit="",
        title=title,
        finding=words("Most closely related: {name}.", name=best),
        head=head,
        rows=rows,
    )


def _no_driver(words: Texts, rows: Sequence[Row]) -> str:
    """The reason why there is no correlation."""
    figures = [row.figures[0] for row in rows if row.figures[0].measure.n]
    if not rows:
        return words("This questionnaire has no other rating: no scale and no matrix with a scale as its columns.")
    if not figures:
        return words(
            "No response in this period has both this answer and another rating. Choose another outcome or period."
        )
    if all(one.suppressed for one in figures):
        text = words("Fewer than {n} responses answer both questions, which is too few for a correlation.", n=PAIRS_MIN)
        return f"{text} {words('Choose a longer period.')}"
    return words("Nothing can be related to it: all answers to one of the questions are the same.")


def _comments(result: Result, names: Names) -> View:
    words, total, rows = names.words, result.total[0], result.rows
    title = count_sentence(words, total.measure.n, is_part=result.truncated)
    if not rows:
        return View(kind="table", title=title, finding=words("No comment has words to count. Choose a longer period."))

    def counted(row: Row, name: str) -> Counted:
        return name, row.figures[0].measure.n, names.url(row.selection, ())

    group = next(iter(rows[0].key))
    if group == "word":
        return words_view(words, [counted(row, str(row.key["text"])) for row in rows], n=total.measure.n, title=title)
    found: list[tuple[Counted, list[Counted]]] = []
    for row in rows:
        if row.key["word"] is None:
            found.append((counted(row, names.of({group: row.key[group]})), []))
        else:
            found[-1][1].append(counted(row, str(row.key["text"])))
    return groups_view(words, found, group=names.group(group), title=title)


def change_sentence(words: Texts, figure: Figure) -> str:
    """The change of a total in a sentence; empty where nothing is compared."""
    change = figure.change
    if figure.suppressed or change is None:
        return ""
    previous = words.figure(change.previous, decimals_of(figure))
    if change.p is None:
        return words("Before: {previous}.", previous=previous)
    if not change.real:
        return words("No clear change from {previous} before.", previous=previous)
    kind = words("Higher than before ({previous}).", previous=previous)
    return kind if change.difference > 0 else words("Lower than before ({previous}).", previous=previous)
