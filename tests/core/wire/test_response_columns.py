"""Columns of answers that were given elsewhere: guessed by names, values read by type, nothing guessed that is open."""

from typing import Any

import pytest

from afterword import errors
from afterword.core.questionnaires import definition
from afterword.core.questionnaires.metadata import GLOBAL, Declared, MetadataDefinition
from afterword.core.wire.response_columns import ASK, ASKED_SHOWN_MAX, CHANNEL, LEFT_OUT, Columns, Table, headed
from tests.core.questionnaires.test_definition import give_id

CHOICES = [{"value": 1, "label": "Price"}, {"value": 2, "label": "Speed, on time"},
           {"value": 3, "label": "Other", "other": True}]  # fmt: skip
QUESTIONS: list[dict[str, Any]] = [
    {"key": "score", "type": "nps", "title": "Would you recommend us?",
     "translations": {"el": {"title": "Θα μας συστήνατε;"}}},
    {"key": "why", "type": "single_choice", "title": "Why?", "choices": CHOICES,
     "translations": {"el": {"choices": {"1": "Τιμή"}}}},
    {"key": "liked", "type": "multiple_choice", "title": "What did you like?", "choices": CHOICES},
    {"key": "order", "type": "ranking", "title": "What matters?", "choices": CHOICES[:2]},
    {"key": "parts", "type": "matrix", "title": "How was it?", "rows": [{"key": "sq001", "label": "Delivery"},
     {"key": "sq002", "label": "Parcel"}], "choices": [{"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}]},
    {"key": "words", "type": "text", "title": "Anything else?"},
    {"key": "sum", "type": "number", "title": "How much?", "decimals": 2},
    {"key": "again", "type": "yes_no", "title": "Would you buy again?"},
    {"key": "day", "type": "date", "title": "When?"},
    {"key": "clock", "type": "time", "title": "At what time?"},
    {"key": "moment", "type": "date_time", "title": "Since when?"},
    {"key": "agree", "type": "consent", "title": "May we call?"},
    {"key": "told", "type": "text", "title": "What of {{ answer.why | … }} then?"},
    {"key": "why_price", "type": "text", "title": "What did you like? - Price"},
    {"key": "who", "type": "contact", "title": "Who are you?", "contact_fields": ["name", "email"]},
]  # fmt: skip
DEFINITION = definition.parse(
    {"default_locale": "en", "locales": ["en", "el"], "groups": [{"key": "all", "questions": QUESTIONS}]},
    give_id=give_id,
)
DECLARED = Declared(
    questionnaire={"store": MetadataDefinition(kind="questionnaire", name="store", title="Branch", type="text")},
    responder={},
)
COLUMNS = Columns(DEFINITION, DECLARED)
IDS = {one.key: one.question_id for one in DEFINITION.questions()}


def test_titles_of_every_language() -> None:
    """The product's own names are known by their titles in every language of the console."""
    names = ("Vorname", "Nombre", "Επώνυμο", "Magasin", "E-Mail-Adresse", "Numéro de téléphone")
    found = Columns(DEFINITION, GLOBAL).guess(Table(names, [["x"] * len(names)])).values()
    first, last = "metadata.responder.first_name", "metadata.responder.last_name"
    assert [first, ASK, last, "metadata.questionnaire.store_id"] == [*found][:4]
    assert ["metadata.responder.email", "metadata.responder.phone_number"] == [*found][4:]


def guessed(*names: str) -> list[str]:
    return [*COLUMNS.guess(Table(names, [["x"] * len(names)])).values()]


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("Favourite colour", ASK),
        ("", LEFT_OUT),
        ("IPAddress", LEFT_OUT),
        ("score", "answer.score"),
        (IDS["score"], "answer.score"),
        ("Would you recommend us?", "answer.score"),
        ("Θα μας συστήνατε;", "answer.score"),
        ("Q1. Would you recommend us?", "answer.score"),
        ("score. How likely is it?", "answer.score"),
        ("parts[SQ002]. [The parcel]", "answer.parts.row.sq002"),
        ("liked[2]._.What was good? [On time]", "answer.liked.choice.2"),
        ("startdate._.Date started", "started_time"),
        ("words_TEXT", "answer.words"),
        ("why.else", ASK),
        ("one/two/score", "answer.score"),
        ("a/" * 60_000 + "score", ASK),
        ("Mr. Smith", ASK),
        ("answer.score", "answer.score"),
        ("liked_2", "answer.liked.choice.2"),
        ("liked[SQ002]", "answer.liked.choice.2"),
        ("liked[SQ004]", ASK),
        ("What did you like? [Price]", "answer.liked.choice.1"),
        ("liked[other]", "answer.liked.choice.3"),
        ("why[other]", "answer.why.other"),
        ("liked_text", "answer.liked.other"),
        ("why-Comment", "answer.why.other"),
        ("meta.userAgent", LEFT_OUT),
        ("order_1", "answer.order.choice.1"),
        ("order[2]", "answer.order.place.2"),
        ("order[3]", ASK),
        ("order[Price]", "answer.order.choice.1"),
        ("What matters? [Rank 2]", "answer.order.place.2"),
        ("parts[SQ001]", "answer.parts.row.sq001"),
        ("How was it? - Parcel", "answer.parts.row.sq002"),
        ("who_email", "answer.who.part.email"),
        ("Branch", "metadata.questionnaire.store"),
        ("ResponseId", "external_id"),
        ("StartDate", "started_time"),
        ("Submit Date (UTC)", "completed_time"),
        ("RecipientEmail", "person.email"),
        ("start", "started_time"),
        ("_submission_time", LEFT_OUT),
        ("RecipientFirstName", "metadata.responder.first_name"),
        ("Q4_NPS_GROUP", LEFT_OUT),
        ("3. What did you like? - Option ID", LEFT_OUT),
        ("No.", LEFT_OUT),
        ("userAgent - browser", LEFT_OUT),
        ("Response Type", LEFT_OUT),
        ("calculated.score", LEFT_OUT),
        ("UserLanguage", "locale"),
        ("Date started", "started_time"),
        ("Date last action", LEFT_OUT),
        ("agree[SQ001]", "answer.agree"),
        ("May we call? [Yes, I agree]", "answer.agree"),
        ("again[SQ001]", ASK),
        ("What of {why.shown} then?", "answer.told"),
        ("What of ${q://QID2/ChoiceGroup/SelectedChoices} then?", "answer.told"),
        ("What of {unclosed then?", ASK),
        ("What did you like? [Price][Comment]", "answer.why_price"),
        ("What did you like? [Speed, on time][Comment]", ASK),
    ],
)
def test_a_name(name: str, meaning: str) -> None:
    assert [meaning] == guessed(name)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("score", "answer.score"),
        ("email", "person.email"),
        ("E-mail address", "person.email"),
        ("phone_number", "person.phone_number"),
        ("responder.email", "metadata.responder.email"),
        ("transaction_id", "metadata.questionnaire.transaction_id"),
        ("first_name", "metadata.responder.first_name"),
    ],
)
def test_names_that_everybody_has(name: str, meaning: str) -> None:
    """Questions, and addresses of people, come before the metadata that the product declares itself."""
    assert {name: meaning} == Columns(DEFINITION, GLOBAL).guess(Table([name], [["x"]]))


def test_what_is_open_is_asked() -> None:
    """Two columns of one meaning, and a column without a value is left out."""
    assert ["answer.score", ASK] == guessed("score", "Would you recommend us?")
    table = Table(["Notes", "Else"], [["", "x"], [" ", ""]])
    assert {"Notes": LEFT_OUT, "Else": ASK} == COLUMNS.guess(table)


def test_what_somebody_says() -> None:
    table = Table(["score", "Colour", "Size"], [["9", "red", "7"], ["3", "blue", "8"]])
    refusals = [
        ({}, "Say what these columns mean, or leave them out: “Colour”, “Size”."),
        ({"*": "", "Weight": ""}, "There is no column “Weight”."),
        ({"*": "", "Colour": "answer.colour"}, "No column can mean “answer.colour”."),
    ]
    for said, sentence in refusals:
        with pytest.raises(errors.Invalid, match=sentence):
            COLUMNS.chosen(table, said)
    names = [f"Column {n}" for n in range(ASKED_SHOWN_MAX + 1)]
    with pytest.raises(errors.Invalid, match=f"“Column {ASKED_SHOWN_MAX - 1}”, …"):
        COLUMNS.chosen(Table(names, [["x"] * len(names)]), {})
    expected = {"score": "answer.score", "Colour": "answer.words", "Size": LEFT_OUT}
    assert expected == COLUMNS.chosen(table, {"Colour": "answer.words", "*": ""})
    assert "completed_time" == COLUMNS.guess(Table(["EndDate", "RecordedDate"], []))["EndDate"]
    assert LEFT_OUT == COLUMNS.guess(Table(["EndDate", "RecordedDate"], []))["RecordedDate"]


def test_dates_whose_order_is_open() -> None:
    table = Table(["day", "EndDate"], [["01/02/2025", "13/02/2025 10:00"]])
    meanings = COLUMNS.guess(table)
    with pytest.raises(errors.Invalid, match="comes first in the dates of “day”"):
        COLUMNS.orders(table, meanings)
    orders = COLUMNS.orders(table, meanings, "month")
    assert {"day": "month", "EndDate": "day"} == orders
    document = COLUMNS.document(table.names, table.rows[0], meanings, orders)
    assert ("2025-01-02", "2025-02-13 10:00") == (document["answers"][0]["value"], document["completed_time"])


def test_rows_below_the_header_of_qualtrics() -> None:
    rows = [["Would you recommend us?"], ['{"ImportId":"QID1_NPS"}'], ["9"], ["3"]]
    table, every = headed(["Q7"], iter(rows), 3)
    assert [["9"], ["3"]] == [*every]
    assert {"Q7": "answer.score"} == COLUMNS.guess(table)
    table, every = headed(["Q7"], iter([["9"]]), 3)
    assert ([["9"]], {}) == ([*every], table.labels)


@pytest.mark.parametrize(
    ("cells", "order"),
    [(["2026-05-01"], ""), (["05/01/2026"], ASK), (["05.01.2026"], ""), (["05/01/2026", "13/01/2026"], "day"),
     (["05/01/2026", "05/31/2026"], "month"), (["13/01/2026", "05/31/2026"], ASK), ([], "")],
)  # fmt: skip
def test_order_of_dates(cells: list[str], order: str) -> None:
    assert order == COLUMNS.date_order(cells)


def answers(**cells: str) -> dict[str, Any]:
    """The answers of a row, by the keys of their questions, with the text beside a choice as a pair."""
    meanings = {name: f"answer.{name.replace('__', '.')}" for name in cells}
    document = COLUMNS.document([*cells], [*cells.values()], meanings, {})
    keys: dict[Any, Any] = {question_id: key for key, question_id in IDS.items()}
    found: dict[str, Any] = {}
    for one in document["answers"]:
        found[keys[one["question_id"]]] = (one["value"], one["other_text"]) if "other_text" in one else one["value"]
    return found


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"score": "9 - very likely"}, {"score": 9}),
        ({"score": "9.0"}, {"score": 9}),
        ({"score": "9-10"}, {"score": "9-10"}),  # two scores are none
        ({"order": "2 - 3 weeks"}, {"order": ["2 - 3 weeks"]}),  # no code of a choice, but a text
        ({"parts__row__sq001": "2 weeks", "parts__row__sq002": "2 - Good"},
         {"parts": {"sq001": "2 weeks", "sq002": 2}}),
        ({"score": "very likely"}, {"score": "very likely"}),  # refused later, not dropped
        ({"score": " "}, {}),
        ({"why": "Price"}, {"why": "Price"}),
        ({"why": "2"}, {"why": 2}),
        ({"why": "The colour"}, {"why": (3, "The colour")}),
        ({"why__other": "The colour"}, {"why": (3, "The colour")}),
        ({"liked": "Price; Speed, on time"}, {"liked": ["Price", "Speed, on time"]}),
        ({"liked": "Speed, on time, Price"}, {"liked": ["Speed, on time", "Price"]}),
        ({"why": "-oth-", "why__other": "The colour"}, {"why": (3, "The colour")}),
        ({"why": "-oth-"}, {"why": 3}),
        ({"why": "A1", "why__other": ""}, {"why": "A1"}),  # such a text has a column, so this is an unknown code
        ({"why": "-oth-", "why__other": ""}, {"why": 3}),
        ({"why": "Price", "why__other": ""}, {"why": "Price"}),
        ({"why": "", "why__other": ""}, {}),
        ({"liked": "Price; A9", "liked__other": ""}, {"liked": ["Price", "A9"]}),
        ({"liked": '["Price"]'}, {"liked": ["Price"]}),
        ({"liked": '["Speed, on time"]'}, {"liked": ["Speed, on time"]}),
        ({"liked": '["Price", "The colour"]'}, {"liked": (["Price", 3], "The colour")}),
        ({"liked": "1,2"}, {"liked": [1, 2]}),
        ({"liked__choice__1": "Y", "liked__choice__2": "N"}, {"liked": [1]}),
        ({"liked__choice__1": "Price", "liked__choice__3": "The colour"}, {"liked": ([1, 3], "The colour")}),
        ({"liked__choice__1": "0", "liked__choice__2": "Not Selected"}, {}),
        ({"liked": "Price Speed, on time", "liked__choice__1": "1", "liked__choice__2": "1"}, {"liked": [1, 2]}),
        ({"order": "Speed, on time; Price"}, {"order": ["Speed, on time", "Price"]}),
        ({"order__choice__1": "2", "order__choice__2": "1"}, {"order": [2, 1]}),
        ({"order__place__1": "Speed, on time", "order__place__2": "Price"}, {"order": ["Speed, on time", "Price"]}),
        ({"order__place__1": "2"}, {"order": [2]}),
        ({"order__choice__1": "first"}, {"order": ["first"]}),  # refused later, not dropped
        ({"order__choice__1": "-"}, {}),
        ({"liked__choice__1": "N/A", "liked__choice__2": "Yes", "liked__other": "N/A"}, {"liked": [2]}),
        ({"why": "N/A", "why__other": "N/A", "score": "N/A", "again": "N/A", "order__place__1": "N/A"}, {}),
        ({"words": "N/A"}, {"words": "N/A"}),
        ({"parts__row__sq001": "Good", "parts__row__sq002": "1"}, {"parts": {"sq001": "Good", "sq002": 1}}),
        ({"parts": '{"Delivery": "Bad"}'}, {"parts": {"Delivery": "Bad"}}),
        ({"sum": "1.234,5"}, {"sum": 1234.5}),
        ({"sum": "1,234.5"}, {"sum": 1234.5}),
        ({"sum": "1,2.3,4"}, {"sum": "1,2.3,4"}),
        ({"sum": "12,5"}, {"sum": 12.5}),
        ({"sum": "1,234"}, {"sum": "1,234"}),
        ({"again": "Yes"}, {"again": True}),
        ({"again": "N"}, {"again": False}),
        ({"again": "perhaps"}, {"again": "perhaps"}),
        ({"day": "31.12.2025"}, {"day": "2025-12-31"}),
        ({"clock": "9:30 PM"}, {"clock": "21:30"}),
        ({"clock": "1970-01-01 09:30:00"}, {"clock": "09:30"}),
        ({"clock": "noon"}, {"clock": "noon"}),
        ({"moment": "2026-03-04 09:30:00"}, {"moment": "2026-03-04T09:30"}),
        ({"moment": "31.12.2025 9:30"}, {"moment": "2025-12-31T09:30"}),
        ({"moment": "2026-03-04T09:30:00+02:00"}, {"moment": "2026-03-04T09:30:00+02:00"}),
        ({"who__part__name": "Ann", "who__part__email": "ann@example.com"},
         {"who": {"name": "Ann", "email": "ann@example.com"}}),
        ({"words": "Quick; and kind"}, {"words": "Quick; and kind"}),
    ],
)  # fmt: skip
def test_a_value(cells: dict[str, str], expected: dict[str, Any]) -> None:
    assert expected == answers(**cells)


@pytest.mark.parametrize(("text", "locale"), [("default", None), ("Greek", "el"), ("xx xx", "xx xx"), ("", None)])
def test_languages(text: str, locale: str | None) -> None:
    """Formbricks writes `default` for the language of the questionnaire."""
    assert locale == COLUMNS.document(["a"], [text], {"a": "locale"}, {}).get("locale")


def test_channels() -> None:
    channels = [COLUMNS.document(["a"], [text], {"a": CHANNEL}, {})[CHANNEL] for text in ("SMS", "3", "9", "fax")]
    assert [2, 3, 0, 0] == channels  # the last two are refused later


def test_a_row() -> None:
    names = ["ResponseId", "StartDate", "Submit Date (UTC)", "Finished", "UserLanguage", "RecipientEmail", "Branch"]
    meanings = COLUMNS.guess(Table(names, []))
    cells = ["R_1", "1/5/2026 10:00", "2026-05-01 08:30:00", "1", "EL", "ann@example.com", "Harbour"]
    orders = {"StartDate": "day"}
    expected = {
        "external_id": "R_1",
        "started_time": "2026-05-01 10:00",
        "completed_time": "2026-05-01 08:30:00Z",
        "locale": "el",
        "person": {"email": "ann@example.com"},
        "metadata": {"questionnaire": {"store": "Harbour"}},
        "answers": [],
    }
    assert expected == COLUMNS.document(names, cells, meanings, orders)
    partial = COLUMNS.document(names, [*cells[:3], "False", *cells[4:]], meanings, orders)
    assert ("2026-05-01 10:00", None) == (partial["started_time"], partial.get("completed_time"))


@pytest.mark.parametrize(
    ("meaning", "offered"),
    [
        ("answer.why", ["Price", "Speed, on time", "Other"]),
        ("answer.parts.row.sq001", ["Bad", "Good"]),
        ("answer.order.place.1", ["Price", "Speed, on time"]),
        ("answer.order.choice.1", []),
        ("answer.words", []),
        ("completed_time", []),
    ],
)
def test_values_that_stand_for_unknown_ones(meaning: str, offered: list[str]) -> None:
    assert offered == COLUMNS.options(meaning)
