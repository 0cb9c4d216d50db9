"""Charts of words: the sentence names the first ones, and each number has its address."""

from afterword.console.screens import DOMAIN
from afterword.kit.texts import texts
from afterword.listening.screens.views import COMMENT_BARS_MAX, count_sentence, groups_view, words_view

WORDS = texts(DOMAIN, "en")


def test_sentence() -> None:
    assert "1 comment." == count_sentence(WORDS, 1, is_part=False)
    assert "there are more" in count_sentence(WORDS, 2_000, is_part=True)


def test_views() -> None:
    many = [(f"w{number}", 50 - number, f"/{number}") for number in range(COMMENT_BARS_MAX + 1)]
    view = words_view(WORDS, many, n=100)
    assert (COMMENT_BARS_MAX, COMMENT_BARS_MAX + 1) == (len(view.points), len(view.rows))
    assert "w0, w1, w2" in view.finding
    groups = groups_view(
        WORDS, [(("north", 9, "/n"), [("late", 6, "/l")]), (("west", 5, "/w"), [])], group="Store", title=""
    )
    assert [("north", "/n"), ("north · late", "/l"), ("west", "/w")] == [
        (row[0].text, row[0].url) for row in groups.rows
    ]
    assert "late (north)" in groups.finding
