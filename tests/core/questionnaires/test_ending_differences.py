"""Changes of endings have their places; their sentences are in `test_endings.py`."""

from dataclasses import replace

from afterword.core.questionnaires import differences
from tests.core.questionnaires.test_endings import WHOLE


def test_places() -> None:
    happy, others = WHOLE.endings
    later = replace(WHOLE, endings=(others, replace(happy, title="Great", review_url="https://r.example/")))
    found = {one.path: (one.before, one.after) for one in differences.differences(WHOLE, later)}
    assert ("Wonderful", "Great") == found["/endings/1/title"]
    assert ("https://reviews.example/us", "https://r.example/") == found["/endings/1/review_url"]
    assert ([happy.ending_id, others.ending_id], [others.ending_id, happy.ending_id]) == found["/endings"]
