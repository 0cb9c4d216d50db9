"""The answer page: its addresses, the answer that a link preselects, and which page is open next."""

from afterword import db
from afterword.core.answers.values import Given
from afterword.instances.answer_page import AnswerPage, answer_page_of, page_address
from afterword.instances.answers.service import lock_context
from tests.instances.conftest import MULTI, NPS, SINGLE, TEXT, World


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
