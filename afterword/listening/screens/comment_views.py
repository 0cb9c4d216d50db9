"""Charts of words of comments, and the sentence about how many there are."""

from collections.abc import Sequence
from typing import Final

from afterword.core.charts import bars
from afterword.kit.texts import Texts
from afterword.kit.ui.charts import Entry, Text, View

NAMED: Final = 3  # words in the sentence
BARS_MAX: Final = 30
Counted = tuple[str, int, str]  # name, number of comments, and address


def count_sentence(words: Texts, n: int, *, is_part: bool) -> str:
    if is_part:
        return words("The newest {n} comments; there are more.", n=words.count(n))
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
    places = bars.bars([count for _, count, _ in shown], mirrored=words.direction == "rtl")
    return [
        Entry(name=name, text=f"{name}: {words.count(count)}", url=url, short=words.count(count), bar=bar)
        for (name, count, url), bar in zip(shown, places, strict=True)
    ]
