"""Screens in a language that puts each text in brackets: what stands without them was never marked as a text."""

import gettext
import re
from html.parser import HTMLParser
from typing import Final

import httpx2
import pytest

from afterword.core.questionnaires.metadata import PRODUCT
from afterword.kit import db, texts
from tests.browser.conftest import House
from tests.browser.test_screens import (
    Tour,
    owner as owner,  # noqa: PLC0414  a fixture
    tour as tour,  # noqa: PLC0414  a fixture
)

LANGUAGE: Final = "el"  # in whose place it stands
FIRST, LAST = "\u27e6", "\u27e7"
MARKED: Final = re.compile(rf"{FIRST}[^{FIRST}{LAST}]*{LAST}")
WORDS: Final = re.compile(r"[A-Za-z][\w' ]+[A-Za-z]", re.ASCII)
SAID_ATTRIBUTES: Final = ("title", "aria-label", "placeholder", "alt")
OF_DATA: Final = frozenset({"bdi", "code", "kbd", "pre", "script", "style"})
ALONE: Final = frozenset({"input", "img", "br", "meta", "link"})  # without an end
NAMES: Final = frozenset(
    {"Afterword", "CES", "CNAME", "CSAT", "CSV", "Deutsch", "English", "Espa", "Excel", "Fran", "Italiano",
     "JSON Lines", "LimeSurvey", "NPS", "PNG", "Parquet", "SHA", "SPSS", "SVG", "SurveyJS", "TXT", "XLSX", "eNPS",
     "localhost", "yaml",
     *(one.name for one in PRODUCT)}
)  # fmt: skip
OF_THE_API: Final = frozenset({"/console/settings/tokens/new", "/console/settings/webhooks/new"})  # scopes and events
OF_DEVELOPERS: Final = frozenset({"/console/parts"})
OF_A_MAIL: Final = frozenset(  # with its headers, and its texts in the language of the recipient
    {
        "/console/sending/outbox/{message_id}",
        "/console/sending/pipelines/{questionnaire_id}/{pipeline_id}/messages",
    }
)


class Pseudo(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return f"{FIRST}{message}{LAST}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


class Unmarked(HTMLParser):
    """The words of a page outside the brackets, and outside of elements that hold what people or programs wrote."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self._of_data: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        is_of_data = tag in OF_DATA or (tag != "html" and bool({"lang", "dir"} & has.keys()))
        if tag not in ALONE and (is_of_data or self._of_data):
            self._of_data.append(tag)
        for name in SAID_ATTRIBUTES:
            self._look(has.get(name, ""))

    def handle_endtag(self, tag: str) -> None:
        if self._of_data and tag == self._of_data[-1]:
            self._of_data.pop()

    def handle_data(self, data: str) -> None:
        if not self._of_data:
            self._look(data)

    def _look(self, text: str) -> None:
        while text != (text := MARKED.sub(" · ", text)):  # of a text within a text the inner one first
            pass
        self.found |= {one for one in WORDS.findall(text) if one not in NAMES}


async def data_of(house: House) -> str:
    """All that the database has, and the names of people in one piece, in lower case."""
    async with db.connection(house.pool) as database:
        names = await database.fetch("select table_name from information_schema.tables where table_schema = 'public'")
        of_all = [f"select string_agg(t::text, ' ') from \"{one['table_name']}\" t" for one in names]
        person = "string_agg(concat_ws(' ', metadata->>'first_name', metadata->>'last_name'), ' ')"
        rows = [
            await database.fetch_value(one)  # pyrefly: ignore[bad-argument-type]
            for one in (*of_all, f"select {person} from responder")
        ]
    return " ".join(filter(None, rows)).lower()


@pytest.mark.asyncio(loop_scope="session")
async def test_no_text_is_missed(owner: httpx2.AsyncClient, tour: Tour, house: House) -> None:
    data = await data_of(house)
    found: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "_catalogue", lambda domain, language: Pseudo())  # noqa: ARG005
        texts.texts.cache_clear()
        for path, seen in tour.seen.items():
            if seen.page is not None and path not in OF_THE_API | OF_A_MAIL | OF_DEVELOPERS:
                page = await owner.get(seen.address, headers={"Accept-Language": LANGUAGE})
                found |= {one: path for one in Unmarked(page.text).found if one.lower() not in data}
    texts.texts.cache_clear()
    assert {} == found
