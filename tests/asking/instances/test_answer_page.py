"""The answer page: its addresses, posted forms, preselected answers, the page that is open next, sizes of files."""

import pytest

from afterword import errors
from afterword.asking.instances import answer_page
from afterword.asking.instances.answer_page import AnswerPage, answer_page_of, page_address
from afterword.asking.instances.answers import lock_context
from afterword.core.answers.files import RefusedFile
from afterword.core.answers.values import Given
from afterword.kit import db
from afterword.kit.texts import texts
from tests.asking.instances.conftest import MULTI, NPS, SINGLE, TEXT, World
from tests.core.answers.questions import question


async def drawn(world: World) -> AnswerPage:
    instance = await world.issue()
    async with db.transaction(world.pool) as database:
        return answer_page_of(await lock_context(database, instance_id=instance.instance_id))


def test_address() -> None:
    assert "/a/i" == page_address("i", page=None)
    assert "/a/i?page=2&q=a%2Fb" == page_address("i", page=2, q="a/b")


async def test_preselected(world: World) -> None:
    page = await drawn(world)
    for question_id, value in ((None, "3"), ("0" * 22, "3"), (NPS, None), (NPS, "11"), (NPS, "x")):
        assert page.marked(question_id, value) is None, value
    marked = page.marked(NPS, "3")
    assert marked is not None
    assert Given(3) == marked.given


async def test_where_it_goes_on(world: World) -> None:
    page = await drawn(world)
    assert 1 == page.first_open()
    assert {NPS} == page.missing_on(1).keys()
    further = page.answered({NPS: Given(3)})
    assert {} == further.missing_on(1)
    assert 2 == further.first_open()
    assert SINGLE in further.missing_on(2)
    ended = further.answered({SINGLE: Given(1), MULTI: Given([1]), TEXT: Given("x")})
    assert {} == ended.missing_on(2)


@pytest.mark.parametrize(
    "body", [b"\xff", b"a=%ff", "ä=1".encode(), b"&".join([b"a=1"] * (answer_page.FIELDS_MAX + 1))]
)
def test_forms_that_are_not_ours(body: bytes) -> None:
    with pytest.raises(errors.Malformed) as caught:
        answer_page.read_posted(body)
    assert "malformed_form" == caught.value.code


@pytest.mark.parametrize(
    ("body", "page", "go"),
    [
        (b"", 1, "next"),
        (b"page=3&go=back", 3, "back"),
        (b"page=0&go=send", 1, "send"),
        (b"page=-1&go=else", 1, "next"),
        (b"page=2&page=7", 2, "next"),
    ],
)
def test_forms(body: bytes, page: int, go: str) -> None:
    posted = answer_page.read_posted(body)
    assert (page, go, None, "") == (posted.page, posted.go, posted.layout, posted.token)


@pytest.mark.parametrize(
    ("text", "number"), [(None, None), ("", None), ("0", None), ("x", None), ("٣", None), ("12345", None), ("12", 12)]
)
def test_page_number(text: str | None, number: int | None) -> None:
    assert number == answer_page.page_number(text)


@pytest.mark.parametrize(
    ("size", "language", "text"),
    [
        (1, "en", "1 kB"),
        (81_920, "en", "80 kB"),
        (5_242_880, "en", "5 MB"),
        (1_572_864, "de", "1,5 MB"),
        (10_000, "en", "10 kB"),
        (1_000_000, "en", "1 MB"),
        (2_500_000, "de", "2,5 MB"),
    ],
)
def test_sizes(size: int, language: str, text: str) -> None:
    assert text == answer_page.written_size(size, texts("pages", language))


def test_the_first_that_was_refused() -> None:
    asked, words = question("file", file_types=("picture", "text")), texts("pages", "en")
    assert ("JPG, PNG, WEBP, GIF, TXT, CSV", "10 kB") == answer_page.allowed_files(asked, words)
    assert not answer_page.refused_text(asked, (), words)
    told = answer_page.refused_text(asked, [RefusedFile("a", "empty"), RefusedFile("b", "damaged")], words)
    assert "“\u2068a\u2069” is empty." == told
