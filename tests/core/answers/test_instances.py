from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from afterword.core.answers import instances
from afterword.core.answers.instances import STATES, InvalidTag, normalise, state_of
from afterword.core.answers.values import Given
from afterword.core.questionnaires.conditions import AnyOf, Leaf
from afterword.core.questionnaires.question_types import Jump
from tests.core.answers.questions import pages_of, question

CREATED = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
DAY = timedelta(hours=24)


@dataclass(frozen=True)
class Subject:
    valid_days: int = 30
    sent_time: datetime | None = None
    created_time: datetime = CREATED


@pytest.mark.parametrize(
    ("subject", "expires"),
    [
        (Subject(valid_days=0), None),
        (Subject(valid_days=1), CREATED + DAY),
        (Subject(valid_days=3650), CREATED + 3650 * DAY),
        (Subject(valid_days=2, sent_time=CREATED + DAY), CREATED + 3 * DAY),
    ],
)
def test_expires_time(subject: Subject, expires: datetime | None) -> None:
    assert expires == instances.expires_time(subject)


@pytest.mark.parametrize(
    ("subject", "after", "is_expired"),
    [
        (Subject(), DAY, False),
        (Subject(), 30 * DAY, True),
        (Subject(), 30 * DAY - timedelta(microseconds=1), False),
        (Subject(valid_days=0), 20_000 * DAY, False),
        (Subject(sent_time=CREATED + DAY), 30 * DAY, False),
    ],
)
def test_is_expired(subject: Subject, after: timedelta, is_expired: bool) -> None:  # noqa: FBT001  a table's column
    assert is_expired == instances.is_expired(subject, CREATED + after)


QUESTION = "Q000000000000000000001"
OTHER = "Q000000000000000000002"
IDS = (QUESTION, OTHER)
PICKUP = Jump(None, Leaf("questionnaire_metadata:store_pickup", "equal", value=True))
LIKELY, WHY = question("nps", QUESTION, required=True), question("text", OTHER, required=True)
DEFINITION = pages_of([replace(LIKELY, jumps=(PICKUP,)), WHY])


class TestEdit:
    def test_unknown_question(self) -> None:
        edit = instances.edit(DEFINITION, IDS, {}, {"0" * 22: Given(7)}, {})

        assert ["unknown_id"] == [error.code for error in edit.wrong]
        assert ({}, {}) == (edit.after, edit.changed)

    def test_wrong_value_leaves_the_stored_one(self) -> None:
        stored = {QUESTION: Given(7)}

        edit = instances.edit(DEFINITION, IDS, stored, {QUESTION: Given(11)}, {})

        assert (stored, {}, 1) == (edit.after, edit.changed, len(edit.wrong))

    @pytest.mark.parametrize(
        ("given", "after", "changed", "removed"),
        [
            ({}, {QUESTION: Given(7)}, {}, []),
            ({QUESTION: Given(7)}, {QUESTION: Given(7)}, {}, []),
            ({QUESTION: Given(8)}, {QUESTION: Given(8)}, {QUESTION: Given(8)}, []),
            ({QUESTION: None}, {}, {}, [QUESTION]),
            ({OTHER: None}, {QUESTION: Given(7)}, {}, []),
            ({OTHER: Given(" so ")}, {QUESTION: Given(7), OTHER: Given("so")}, {OTHER: Given("so")}, []),
        ],
    )
    def test_changes(
        self, given: dict[str, Given | None], after: dict[str, Given], changed: dict[str, Given], removed: list[str]
    ) -> None:
        edit = instances.edit(DEFINITION, IDS, {QUESTION: Given(7)}, given, {})

        assert (after, changed, removed, ()) == (edit.after, edit.changed, edit.removed, edit.wrong)


GOLD = {"responder_metadata:level": "gold"}


class TestHidden:
    """Why is asked under 7 alone, and of gold customers."""

    SHOWN = AnyOf((Leaf(f"question:{QUESTION}", "less", 7), Leaf("responder_metadata:level", "equal", "gold")))
    DEFINITION = pages_of([LIKELY, replace(WHY, show_if=SHOWN)])

    @pytest.mark.parametrize(
        ("given", "facts", "changed", "removed", "missing"),
        [
            ({QUESTION: Given(3)}, {}, [QUESTION], [], []),
            ({QUESTION: Given(8)}, {}, [QUESTION], [OTHER], []),
            ({QUESTION: None}, {}, [], [QUESTION, OTHER], [QUESTION]),
            ({QUESTION: Given(8), OTHER: Given("new")}, {}, [QUESTION], [OTHER], []),
            ({QUESTION: Given(8), OTHER: Given("new")}, GOLD, [QUESTION, OTHER], [], []),
            ({QUESTION: Given(3), OTHER: None}, {}, [QUESTION], [OTHER], [OTHER]),
        ],
    )
    def test_answers_are_not_kept(
        self,
        given: dict[str, Given | None],
        facts: dict[str, str],
        changed: list[str],
        removed: list[str],
        missing: list[str],
    ) -> None:
        stored = {QUESTION: Given(2), OTHER: Given("old")}
        edit = instances.edit(self.DEFINITION, IDS, stored, given, facts)
        assert (changed, removed) == ([*edit.changed], edit.removed)
        assert not {*edit.changed, *edit.removed} - {QUESTION, OTHER}
        found = instances.missing(self.DEFINITION, IDS, edit.after, facts)
        assert [f"/answers/{one}" for one in missing] == [one.pointer for one in found]


@pytest.mark.parametrize(
    ("answers", "metadata", "missing"),
    [
        ({}, {}, [QUESTION, OTHER]),
        ({QUESTION: Given(7)}, {}, [OTHER]),
        ({QUESTION: Given(7)}, {"store_pickup": "1"}, []),
        ({QUESTION: Given(7)}, {"store_pickup": "maybe"}, [OTHER]),
    ],
)
def test_missing(answers: dict[str, Given], metadata: dict[str, str], missing: list[str]) -> None:
    """The path depends on the metadata too, read by their declared type."""
    wrong = instances.missing(DEFINITION, [QUESTION, OTHER], answers, instances.facts_of(metadata, {}))

    assert [(f"/answers/{one}", "required") for one in missing] == [(error.pointer, error.code) for error in wrong]


NOW = datetime(2026, 11, 26, 8, tzinfo=UTC)
BEFORE, AFTER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("active", "opens", "closes", "state"),
    [
        (True, None, None, "open"),
        (True, NOW, AFTER, "open"),
        (True, AFTER, None, "scheduled"),
        (True, None, NOW, "over"),
        (True, BEFORE, BEFORE, "over"),
        (False, None, None, "off"),
        (False, AFTER, BEFORE, "off"),
    ],
)
def test_state(active: bool, opens: datetime | None, closes: datetime | None, state: str) -> None:  # noqa: FBT001
    assert state == state_of(active=active, opens_time=opens, closes_time=closes, now=NOW)
    assert state in STATES


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("vip", "vip"),
        ("  Call   Back ", "call back"),
        ("ΕΠΕΊΓΟΝ", "επείγον"),
        ("e\u0301", "é"),
        ("a.b", "a.b"),
        ("x" * 50, "x" * 50),
    ],
)
def test_normal_form(text: str, tag: str) -> None:
    assert tag == normalise(text)
    assert tag == normalise(tag)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "too_short"),
        (" \t ", "too_short"),
        ("x" * 51, "too_long"),
        ("İ" * 50, "too_long"),  # in lower case each is two characters
        ("a/b", "invalid_format"),
        (".", "invalid_format"),
        ("..", "invalid_format"),
        ("a\x00b", "invalid_format"),
        ("\ud800", "invalid_format"),
    ],
)
def test_no_tag(text: str, code: str) -> None:
    with pytest.raises(InvalidTag) as refused:
        normalise(text)
    assert code == refused.value.code
