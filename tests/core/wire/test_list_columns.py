"""The guess of columns: exports of shops and customer systems by their public column names, with made-up people."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS
from afterword.core.questionnaires.metadata import PRODUCT, declared_for
from afterword.core.wire import list_columns, tables
from afterword.core.wire.imports import REFERENCE, SEND_TIME
from afterword.core.wire.list_columns import ASK, List
from afterword.core.wire.tables import ADDRESS
from afterword.kit.texts import CONSOLE, CONSOLE_LANGUAGES, texts

FIELDS = ("responder_channel_identifier", "locale", "send_time", "external_reference")
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
RETAIL = declared_for("retail".rjust(22, "0"), [])

EXPORTS = tomllib.loads((Path(__file__).parent / "exports.toml").read_text("utf-8"))


def guessed(
    text: str, *, channel_id: int = CHANNEL_EMAIL, remembered: dict[str, str] | None = None, locale: str | None = None
) -> dict[str, str]:
    """The columns of a list that are used."""
    reading = tables.guess(text.encode())
    names, rows = tables.sample_of(tables.text_of(text.encode(), reading), reading.separator)
    given = List(names, rows, FIELDS, RETAIL, channel_id, locale, NOW)
    return {name: meaning for name, meaning in list_columns.guess(given, remembered or {}).items() if meaning}


@pytest.mark.parametrize("language", CONSOLE_LANGUAGES)
def test_titles_of_every_language(language: str) -> None:
    """The file is named in the language of those who made it, whatever language the reader of the console has."""
    examples = {"date": "2025-11-02", "number": "7", "boolean": "yes", "text": "Anna"}
    words, declared = texts(CONSOLE, language), declared_for(None, PRODUCT)
    members = [one for one in declared.by_subject.values() if one.name not in {"email", "phone_number"}]
    cells = {one.title_in(words): examples[one.type] for one in members}
    columns = List([*cells], [[*cells.values()]], FIELDS, declared, CHANNEL_EMAIL, None, NOW)
    expected = {one.title_in(words): f"metadata.{one.kind}.{one.name}" for one in members}
    assert expected == list_columns.guess(columns, {})


@pytest.mark.parametrize("name", EXPORTS)
def test_exports(name: str) -> None:
    assert EXPORTS[name]["expected"] == guessed(EXPORTS[name]["text"])


@pytest.mark.parametrize(
    ("header", "rows", "expected"),
    [
        ("Mail,Ordered,Order no", ["a@b.example,19/11/2026,17", "c@d.example,,18"], [ADDRESS, "", REFERENCE]),
        ("Mail,Order", ["a@b.example,2026-11-19 10:00"], [ADDRESS, ""]),
        ("Customer,E-mail", ["Άννα Παππά,a@b.example", "Νίκος,nobody"], ["", ADDRESS]),
        ("E-mail,Order", ["nobody,17"], [ADDRESS, REFERENCE]),
        ("Customer,Where", ["Άννα,a@b.example"], ["", ADDRESS]),
        ("Kunde,Mail 2,Order,Order no,problem", ["Ann,x@y.example,1,2,"], ["", ADDRESS, "", REFERENCE, ""]),
        ("Billing email,Shipping email", ["a@b.example,c@d.example"], [ADDRESS, ""]),
        ("Mail A,Mail B", ["a@b.example,c@d.example"], [ASK, ASK]),
        ("Mail A,Mail B", ["a@b.example,a@b.example"], [ADDRESS, ""]),
        ("Seller email", ["a@b.example"], [ASK]),
        ("E-mail,Name,Email", ["a@b.example,Ann,", "c@d.example,Ben,"], [ADDRESS, "", ""]),
        ("Mail,Paid,Order total", ["a@b.example,yes,many"], [ADDRESS, "", ""]),
        ("Mail,Store pickup,Delivery date", ["a@b.example,ΣΩΣΤΌ,10-Dez-25"],
         [ADDRESS, "metadata.questionnaire.store_pickup", "metadata.questionnaire.delivery_date"]),
        ("Mail,Delivery date", ["a@b.example,3 days"], [ADDRESS, ""]),
        ("Mail,Order no", ["a@b.example,4.90E+12", "c@d.example,4.90E+12", "e@f.example,4.90E+12"],
         [ADDRESS, REFERENCE]),
        ("Mail,Reference", ["a@b.example,web1", "c@d.example,web1", "e@f.example,web1"], [ADDRESS, ""]),
        ("Γλώσσα,Αριθμός παραγγελίας,Ημερομηνία αποστολής,Διεύθυνση", ["el,17,5/12/2026 10:00,a@b.example"],
         ["locale", REFERENCE, SEND_TIME, ADDRESS]),
        ("Sprache,Bestellnummer,Versanddatum,E-Mail-Adresse", ["Deutsch,17,05.12.2026 10:00,a@b.example"],
         ["locale", REFERENCE, SEND_TIME, ADDRESS]),
        ("Langue,N° de commande,Date d'envoi,Courriel", ["français,17,5 déc. 2026,a@b.example"],
         ["locale", REFERENCE, SEND_TIME, ADDRESS]),
    ],
)  # fmt: skip
def test_values_and_names(header: str, rows: list[str], expected: list[str]) -> None:
    found = guessed("\n".join([header, *rows]))
    assert expected == [found.get(name, "") for name in header.split(",")]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("Send date", ["2026/12/05 15:04:00"], SEND_TIME),
        ("Send date", ["05.12.2026"], SEND_TIME),
        ("Send date", ["12/5/2026 3:04 PM"], SEND_TIME),
        ("Send date", ["next week", "Monday"], SEND_TIME),  # faulty rows
        ("Send date", ["", ""], ""),
        ("send_time", ["", ""], ""),
        ("Send date", ["", "2026-12-05 10:00"], SEND_TIME),  # the first is a faulty row
        ("Send date", [""] * 200, ASK),  # rows follow
        ("Date", [""] * 200, ASK),
        ("Send date", ["2026-11-01 10:00", "1.11.2026"], ASK),
        ("Versanddatum", ["KW 49"], SEND_TIME),
        ("Versanddatum", ["01.11.2026"], ""),
        ("Versanddatum", ["01.11.2026", "02.11.2026", "05.12.2026"], ASK),
        ("Date", ["Monday"], ASK),
        ("Date", ["21.11.2026 10:00", "soon"], SEND_TIME),
        ("Date", ["21.11.2026"], SEND_TIME),
        ("Date", ["12/01/2026 10:00"], SEND_TIME),
        ("Date", ["3/12/2026 10:00", "10/25/2026 10:00"], ""),  # the second proves that the month comes first
        ("Date", ["19.11.2026 10:00", "2026-11-18 10:00"], ""),
        ("Date", ["", ""], ""),
        ("Born", ["05.11.1976"], ""),
        ("Created", ["2026-11-18 10:00", "2026-12-05 10:00"], ""),
        ("Invite on", ["2026-12-05 10:00", "5.12.2026", "soon"], ASK),
        ("予定", ["2026年12月5日"], ASK),
        ("Ship By Date", ["2026-12-05"], ""),  # of the parcel
        ("Ημερομηνία παράδοσης", ["2026-12-05"], "metadata.questionnaire.delivery_date"),
    ],
)
def test_times(name: str, values: list[str], expected: str) -> None:
    """A time to send that is not understood is never left out, which would mean “at once”."""
    lines = [f"a@b.example;{value}" for value in values]
    assert expected == guessed("\n".join([f"Mail;{name}", *lines])).get(name, "")


def test_columns_of_one_name() -> None:
    text = "Email;Date;Order;Date;;\na@b.example;01/12/2026 10:00;1;15/11/2026;;\nc@d.example;13/12/2026 10:00;2;;;"
    assert {"Email": ADDRESS, "Date": SEND_TIME, "Order": REFERENCE} == guessed(text)


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("Email;Phone;Order", "a@b.example;+306900000001;17", "Phone"),
        ("Email;Τηλέφωνο;Αριθμός παραγγελίας", "a@b.example;6900000001;4901234567", "Τηλέφωνο"),
        ("Order;Billing Phone;Fax;Mobile", "4901234567;'+302101234567;+302101234568;'+306900000001", "Mobile"),
        ("Email;Number", "a@b.example;+306900000001", "Number"),
        ("Date;Handy", "2026-11-01;0151 00000002", "Handy"),
    ],
)
def test_phones(header: str, row: str, expected: str) -> None:
    """A pipeline of SMS writes to phones, whatever e-mail addresses the list has."""
    found = guessed(f"{header}\n{row}\n", channel_id=CHANNEL_SMS, locale="el")
    assert [expected] == [name for name, meaning in found.items() if meaning == ADDRESS]


def test_remembered() -> None:
    text = "Kunde;Mail;Sold;Notes\nAnn;a@b.example;1.11.2026 10:00;x"
    remembered = {"Kunde": "metadata.responder.first_name", "Sold": SEND_TIME, "Notes": ""}
    expected = {"Kunde": "metadata.responder.first_name", "Mail": ADDRESS, "Sold": ASK}  # its times are over now
    assert expected == guessed(text, remembered=remembered)
    assert {"Kunde": ADDRESS, "Sold": ASK} == guessed(text, remembered={**remembered, "Kunde": ADDRESS, "Mail": ""})
