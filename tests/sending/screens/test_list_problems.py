"""The problems of a list in the reader's language: each kind as it was found, those of an earlier release as kept."""

from typing import Any

import pytest

from afterword.core.wire.imports import NO_TIME
from afterword.core.wire.tables import BROKEN
from afterword.core.wire.times import EXPECTED
from afterword.kit import texts
from tests.dates import YEAR
from tests.sending.queue.conftest import SMS, Client
from tests.sending.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import queue as queue  # noqa: PLC0414  a fixture
from tests.sending.screens.test_list_repairs import checked, problems
from tests.sending.screens.test_queue_items import client as client  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import plain
from tests.tenants.logins.conftest import browser_of, log_in

GREEK = {"accept-language": "el"}
words = texts.texts("console", "el")
HEADER = (
    "responder_channel_identifier,locale,send_time,external_reference,metadata.questionnaire.transaction_id,"
    "metadata.questionnaire.score,metadata.questionnaire.transaction_date,metadata.questionnaire.store_pickup"
)
AT = f"{YEAR}-12-05 10:00"
GOOD = f"ann@example.com,el,{AT},1,,,,"
ROWS = {
    f"nobody,,{AT},,,,,": "This is not an e-mail address, such as ann@example.com.",
    f",,{AT},2,,,,": "This is required.",
    f"a\x01b@example.com,,{AT},,,,,": "An address has no control characters and no line breaks.",
    f"{'a' * 321}@b.example,,{AT},,,,,": "At most {n} characters are allowed.",
    f"b@example.com,!!,{AT},,,,,": "A language tag is expected, such as el or en-US.",
    "b2@example.com,,,,,,,": NO_TIME,
    "c@example.com,,tomorrow,,,,,": EXPECTED,
    "c2@example.com,,2027-02-30 10:00,,,,,": "There is no such day, or no such time of the day.",
    "d@example.com,,2999-01-01 10:00,,,,,": "The date must lie between {first} and {last}.",
    "e@example.com,,2026-01-01T10:00+15:00,,,,,": "The offset must lie between -14:00 and +14:00.",
    "f@example.com,,2026-01-01T23:59:60Z,,,,,": "Leap seconds are not taken; use the second before or after.",
    f"g@example.com,,{AT},1,,,,": "An item of this pipeline that is not aborted has this external reference.",
    f"i@example.com,,{AT},,{'x' * 4097},,,": "A metadata value has at most {n} characters.",
    f"j@example.com,,{AT},,,many,,": "This is not a number.",
    f"k@example.com,,{AT},,,,monday,": "This is not a date.",
    f"l@example.com,,{AT},,,,,perhaps": "This is not a boolean.",
    "m@example.com": "This row has {cells} cells, and the header {columns}.",
    f'n@example.com,"a"b,{AT},,,,,': BROKEN,
    f"o@example.com,\x00,{AT},,,,,": "The character NUL is not allowed.",
    f"p@example.com,{'x' * 65_536},{AT},,,,,": "A row may have {n} bytes.",
}
PHONES = {
    "x12": "A phone number has digits, and + with the country code in front.",
    "210 123 4567": "A phone number without + and country code needs a locale that names its country.",
    "+999 1234567": "This is not a phone number, such as +30 210 123 4567.",
    "+30 12": "A phone number with these digits does not exist in that country.",
}


@pytest.mark.parametrize("is_of_phones", [False, True])
async def test_each_kind_in_greek(client: Client, *, is_of_phones: bool) -> None:
    """On the page, on that of a repair, and in the file of faulty rows; the API says them in English."""
    rows, content = ROWS, "\n".join([HEADER, GOOD, *ROWS])
    if is_of_phones:
        house = client.queue.house
        sms = await client.queue.pipeline(questionnaire_id=house.questionnaire_id, channel_id=SMS, title="SMS")
        rows, content, client = PHONES, "\n".join(["responder_channel_identifier", *PHONES]), Client(client.http, sms)
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await checked(browser, client, f"{content}\n".encode())
        kept = await client.queue.fetch("select problem from queue_import_row where state = 'failed' order by row")
        kept_problems: list[dict[str, Any]] = [row["problem"] for row in kept]
        kinds = [problem["kinds"][0] for problem in kept_problems]
        assert [*rows.values()] == [kind["text"] for kind in kinds]
        english = plain((await browser.get(f"{here}/check")).text)
        greek = plain((await browser.get(f"{here}/check", headers=GREEK)).text)
        faulty = (await browser.get(f"{here}/faulty", headers=GREEK)).text
        for problem, kind in zip(kept_problems, kinds, strict=True):
            translated = words(kind["text"])
            assert not translated.isascii(), kind["text"]
            start = translated.partition("{")[0]
            assert start in greek
            assert start in faulty
            [first, *_] = problem["errors"] or [{"message": problem["detail"]}]
            assert first["message"].partition(": ")[2] or first["message"] in english
        [one, *_] = await problems(browser, here)
        assert "Στήλη «" in plain((await browser.get(one, headers=GREEK)).text)


async def test_rows_of_an_earlier_release(client: Client) -> None:
    """They have their English sentences alone, which no repair of all alike is offered for."""
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await checked(browser, client, b"E-mail,Order\nnobody,1\nann@example.com,2\nben@example.com,2\n")
        await client.queue.execute("update queue_import_row set problem = problem - 'kinds'")
        page = (await browser.get(f"{here}/check", headers=GREEK)).text
        assert "Row 1, column “E-mail”: This is not an e-mail address" in plain(page)
        assert "An item of this pipeline that is not aborted" not in plain(page)
        assert [] == await problems(browser, here)
        assert 'nobody,1,"Row 1, column “E-mail”: This is not' in (await browser.get(f"{here}/faulty")).text


async def test_refusals_in_greek(client: Client) -> None:
    """A refused form says its sentence, with numbers as they are written there."""
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await checked(browser, client, b"E-mail,Order\nnobody,1\n")
        [one] = await problems(browser, here)
        refused = await browser.post(one, data={"wrong0": "nobody", "right0": "x" * 201}, headers=GREEK)
        assert " 200 χαρακτήρες." in plain(refused.text)
        gone = await browser.get(f"/console/sending/lists/{'0' * 22}/check", headers=GREEK)
        assert words("There is no such list.") in plain(gone.text)
