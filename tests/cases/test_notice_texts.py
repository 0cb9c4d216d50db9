"""Texts of notices: each in every language, with the same placeholders."""

import ast
import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from afterword.cases import notice_texts
from afterword.cases.notice_texts import Subject
from afterword.core.messaging import notices
from afterword.kit import texts
from afterword.tenants import mails
from tests.sending.pipelines.test_resources import PLAIN

SOURCE = Path(texts.__file__).parents[1]
BLANKS = re.compile(r"\{\w+\}")
MODULES = ("tenants/mails.py", "cases/notice_texts.py")
NOTHING = Subject(None, None, None)
CASE = {
    "alert_instance_id": "i", "severity": "high", "occurrences": 1, "due_time": "2026-11-28T15:00:00Z",
    "resolved_time": None, "assigned_user_id": None,
}  # fmt: skip


def shown() -> set[str]:
    found = {*notice_texts.TITLES.values(), *notice_texts.SEVERITIES.values()}
    found |= {text for pair in mails.LINKS.values() for text in pair}
    for name in MODULES:
        for call in ast.walk(ast.parse((SOURCE / name).read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in {"words", "words.plural"}:
                found |= {one.value for one in call.args if isinstance(one, ast.Constant) and type(one.value) is str}
    return found


@pytest.mark.parametrize("language", [one for one in texts.LANGUAGES if one != texts.SOURCE_LANGUAGE])
def test_complete(language: str) -> None:
    with (texts.LOCALE_FOLDER / language / "LC_MESSAGES/notices.po").open("rb") as file:
        entries = [entry for entry in read_po(file, locale=language) if entry.id]
    texts_of = [(_all(entry.id), _all(entry.string)) for entry in entries]
    assert shown() == {one for ids, _ in texts_of for one in ids}
    for ids, said in texts_of:
        assert all(set(BLANKS.findall(ids[0])) == set(BLANKS.findall(text)) for text in said), ids


def _all(texts: object) -> list[str]:
    return [str(text) for text in texts] if isinstance(texts, list | tuple) else [str(texts)]


def test_every_type_has_words() -> None:
    assert notices.TYPES == notice_texts.TITLES.keys()


class TestNotice:
    def test_type_of_the_masses(self) -> None:
        """Nothing of a message, response or person is in it."""
        data = {"responder_channel_identifier": "ann@example.com", "display_name": "Ann", "title": "Ms"}
        for name in notices.MASS_TYPES:
            title, body, link = notice_texts.notice(name, data=data, subject=NOTHING, locale="en")
            assert (notice_texts.TITLES[name], "", None) == (title, body, link)

    def test_in_the_language_of_the_reader(self) -> None:
        title, *_ = notice_texts.notice("questionnaire_instance.completed", data={}, subject=NOTHING, locale="de")
        assert "Eine Rückmeldung wurde abgeschlossen" == title

    def test_name(self) -> None:
        subject = Subject("a", None, "After delivery")
        title, body, _ = notice_texts.notice("pipeline.paused", data={"title": "By mail"}, subject=subject, locale="en")
        assert ("A pipeline was paused", "By mail · After delivery") == (title, body)

    def test_sentences_of_a_pipeline(self) -> None:
        """In the languages of the console; an event that lacks a column has its name alone."""
        names = ("organization_id", "pipeline_id", "questionnaire_id", "account_id", "application_id")
        times = dict.fromkeys(("created_time", "updated_time"), "2026-11-26T10:00:00Z")
        data = {**PLAIN, **dict.fromkeys(names, "i"), **times, "version": 1, "title": "By mail", "delay_cap_days": 2}
        del data["delay_from"]  # younger than what an event may tell
        for locale, text in (("en", "2 days"), ("el", "2 ημέρες"), ("de", "2 Tage"), ("nl", ""), ("en", "")):
            _, body, _ = notice_texts.notice("pipeline.updated", data=data, subject=NOTHING, locale=locale)
            assert text in body
            assert bool(text) is (len(body) > len("By mail"))
            if locale == "nl":
                del data["weekdays"]

    @pytest.mark.parametrize(
        ("changes", "body"),
        [
            ({}, "Shop · Severity: high · Due: Nov 28, 2026, 5:00 PM · No owner yet"),
            ({"assigned_user_id": "u"}, "Shop · Severity: high · Due: Nov 28, 2026, 5:00 PM"),
            ({"due_time": None, "assigned_user_id": "u"}, "Shop · Severity: high"),
            ({"resolved_time": "2026-11-27T15:00:00Z"}, "Shop · Severity: high"),
        ],
    )
    def test_whether_to_act_now(self, changes: dict[str, object], body: str) -> None:
        """The due time where the reader is, and a case that waits for an owner; neither of one that is closed."""
        subject = Subject("a", "Unhappy", "Shop")
        _, said, _ = notice_texts.notice(
            "alert_instance.created", data=CASE | changes, subject=subject, locale="en", time_zone="Europe/Athens"
        )
        assert body == re.sub("[\u2068\u2069]", "", said).replace("\u202f", " ")

    def test_hostile_title(self) -> None:
        """Braces are no blanks, and what is long is cut."""
        data = {**CASE, "severity": "low", "occurrences": 3}
        subject = Subject("a", "{0.__class__} {title}" + "x" * 400, None)
        title, body, link = notice_texts.notice("alert_instance.repeated", data=data, subject=subject, locale="el")
        assert title.startswith("Ξανά ειδοποίηση: {0.__class__} {title}x")
        assert (300, "/v3.2/alert/instance/i") == (len(title), link)
        assert "Συνέβη 3 φορές" in body
