"""Documents that clients send: ids are given, keys of files stay with their ids and are not shown."""

from collections.abc import Callable
from itertools import count

from hypothesis import given, strategies as st

from afterword.core.questionnaires import drafts
from tests.core.questionnaires.test_definition import JSON

MATRIX = {
    "question_id": "q" * 22, "key": "score", "type": "matrix", "rows": [{"row_id": "r" * 22, "key": "price"}],
}  # fmt: skip
GROUP = {"group_id": "g" * 22, "key": "first", "questions": [MATRIX, {"question_id": "p" * 22, "type": "text"}]}
STORED = {"default_locale": "en", "groups": [GROUP]}


def numbered() -> Callable[[], str]:
    numbers = count()
    return lambda: f"{next(numbers):022}"


class TestShown:
    def test_without_keys(self) -> None:
        shown = drafts.shown(STORED)
        assert "key" not in str(shown)
        assert "r" * 22 in str(shown)
        assert "score" in str(STORED), "the stored document is left alone"

    def test_anything(self) -> None:
        for document in ({}, {"groups": 7}, {"groups": [None, 7, {"questions": "x"}]}):
            assert document == drafts.shown(document)


class TestPrepared:
    def test_ids_are_given(self) -> None:
        sent = {"groups": [{"questions": [{"type": "matrix", "rows": [{"label": "Price"}]}]}]}
        prepared = drafts.prepared(sent, known={}, new_id=numbered())
        group = prepared["groups"][0]  # pyrefly: ignore[bad-index]
        assert {f"{n:022}" for n in range(3)} == {
            group["group_id"], group["questions"][0]["question_id"], group["questions"][0]["rows"][0]["row_id"]
        }  # fmt: skip

    def test_the_document_itself_stays(self) -> None:
        whole = {"groups": [{"questions": [{"rows": [{}]}]}]}
        drafts.prepared(whole, known={}, new_id=numbered())
        assert {"groups": [{"questions": [{"rows": [{}]}]}]} == whole

    @given(JSON | st.fixed_dictionaries({"groups": JSON | st.lists(st.fixed_dictionaries({"questions": JSON}))}))
    def test_any_json(self, anything: object) -> None:
        whole = anything if isinstance(anything, dict) else {"groups": anything}
        drafts.prepared(whole, known=whole, new_id=numbered())

    def test_keys_come_back_with_their_ids(self) -> None:
        assert STORED == drafts.prepared(drafts.shown(STORED), known=STORED, new_id=numbered())

    def test_sent_keys_are_not_heard(self) -> None:
        sent = {"groups": [{"key": "mine", "questions": [{"key": "mine", "type": "nps"}]}]}
        assert "mine" not in str(drafts.prepared(sent, known=STORED, new_id=numbered()))

    def test_an_id_twice_has_its_key_once(self) -> None:
        sent = {"groups": [{"group_id": "g" * 22}, {"group_id": "g" * 22}]}
        assert 1 == str(drafts.prepared(sent, known=STORED, new_id=numbered())).count("first")

    def test_what_is_wrong_stays(self) -> None:
        sent = {"groups": [None, {"group_id": 7, "questions": {"a": 1}}]}
        prepared = drafts.prepared(sent, known=STORED, new_id=numbered())
        assert sent == prepared
