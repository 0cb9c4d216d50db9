"""The estimated length: more words, questions and choices make it longer, and ways that nobody goes do not count."""

from hypothesis import given
from hypothesis import strategies as st

from afterword.core.questionnaires import definition
from afterword.core.questionnaires.flow import Length, length
from afterword.core.questionnaires.question_types import TYPES
from afterword.core.reading.findings import Findings
from tests.core.questionnaires.test_definition import JSON, changed, give_id, places
from tests.core.questionnaires.test_definition import document as example
from tests.core.questionnaires.test_flow import B, C, document, jump


def test_of_a_short_one() -> None:
    one = document({"type": "nps", "title": "How likely are you to recommend us to a friend or colleague?"})
    assert Length(seconds=10, screens=1) == length(one)
    two = document({"type": "nps"}, {"type": "text", "title": "Why?"})
    assert Length(seconds=15, screens=2) == length(two)
    assert 1 == length(two, "one_page").screens
    assert Length(seconds=5, screens=0) == length(definition.read({"default_locale": "en"}, Findings()))


def test_each_type_takes_time() -> None:
    assert all((one.seconds > 0) is one.is_answered for one in TYPES.values())
    long = {"type": "single_choice", "choices": [{"value": n, "label": "Reason"} for n in range(1, 25)]}
    assert length(document({**long, "style": "dropdown"})).screens < length(document(long)).screens
    whole = {**long, "style": "dropdown", "choices": [{"value": n, "label": "A store"} for n in range(1, 501)]}
    assert 10 == length(document(whole)).seconds, "nobody reads 500 names"


def test_the_longest_way_counts() -> None:
    asked = length(document({"required": True}, {"type": "text", "required": True}, {}))
    skipped = length(document({"required": True, "jumps": [jump(C)]}, {"type": "text", "required": True}, {}))
    assert (asked.seconds, asked.screens) > (skipped.seconds, skipped.screens)
    sometimes = [jump(B, {"subject": f"question:{'a' * 22}", "operator": "less", "value": 2}), jump(C)]
    assert asked == length(document({"required": True, "jumps": sometimes}, {"type": "text", "required": True}, {}))


def test_more_of_everything() -> None:
    parts = {"type": "matrix", "rows": [{"row_id": f"row{n:019}", "label": "Part"} for n in range(8)]}
    choices = {"choices": [{"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}]}
    ranking = {"type": "ranking", "choices": [{"value": n, "label": "Reason"} for n in range(1, 6)]}
    assert 2 == length(document({**parts, **choices})).screens
    seconds = [
        length(document(one)).seconds
        for one in (
            {},
            {"title": "How " * 40},
            {**ranking},
            {"type": "contact", "required": True},
            {**parts, **choices},
        )
    ]
    assert all(seconds[0] < each for each in seconds[1:]), seconds


@given(path=st.sampled_from(places(example())), to=JSON)
def test_of_any_draft(path: tuple[str | int, ...], to: object) -> None:
    """A draft may be wrong in any place and still has a length."""
    found = length(definition.read(changed(*path, to=to), Findings(), give_id=give_id))
    assert found.seconds >= 5
