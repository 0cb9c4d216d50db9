"""Coupon pools in the settings: made, filled by hand and by a file, chosen by an ending, removed."""

import pytest

from afterword.kit import db
from tests.asking.screens.test_builder import draft_of, seen_of, text_of
from tests.tenants.logins.conftest import Browser, Office, log_in

PATH = "/console/settings/coupons"
FORM = {"title": "Ten percent", "key": "thanks", "low_count": "2"}
WRONG = (("title", ""), ("key", "No"), ("low_count", "x"))


async def test_administrator_of_one_application(office: Office, browser: Browser) -> None:
    """Sees the pools that endings can name, and neither their codes nor a way to change them."""
    pool = (await browser.post(f"{PATH}/new", data=FORM)).headers["location"].partition("?")[0]
    await browser.post(pool, data={"codes": "A-1"})
    user_id = await office.add_user("ada@kalamata.example", role="admin")
    async with db.transaction(office.pool) as database:
        await database.execute(
            "update organization_user set application_ids = $1 where user_id = $2", [office.application_id], user_id
        )
    await log_in(browser, email="ada@kalamata.example")
    listed = text_of(await browser.get(PATH))
    assert (True, False) == ("Ten percent" in listed, pool in listed or f"{PATH}/new" in listed)
    for path in ("", "/edit", "/removal"):
        assert 403 == (await browser.get(f"{pool}{path}")).status_code
        assert 403 == (await browser.post(f"{pool}{path}", data={**FORM, "codes": "A-2"})).status_code
    assert 403 == (await browser.post(f"{PATH}/new", data={**FORM, "key": "other"})).status_code


async def test_too_many_codes(office: Office, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer file is refused whole: its end was cut off, often within a code."""
    pool = (await browser.post(f"{PATH}/new", data=FORM)).headers["location"].partition("?")[0]
    monkeypatch.setattr("afterword.asking.screens.coupons.CODES_CHARACTERS_MAX", 7)
    pasted = await browser.post(pool, data={"codes": "A-1\nA-22"})
    sent = await browser.post(pool, files={"file": ("codes.csv", b"A-1\nA-22", "text/csv")})
    assert 2 * [(422, True)] == [
        (one.status_code, "At most \u20687\u2069 characters." in one.text) for one in (pasted, sent)
    ]
    assert "A-2" not in text_of(await browser.get(pool))
    assert 303 == (await browser.post(pool, data={"codes": "A-1\nA-2"})).status_code


async def test_coupons(office: Office, browser: Browser, path: str) -> None:
    assert "No coupon pool yet." in text_of(await browser.get(PATH))
    made = await browser.post(f"{PATH}/new", data=FORM)
    pool = made.headers["location"].partition("?")[0]
    assert "“Ten percent” is empty" in text_of(await browser.get("/console"))
    assert "free code" not in text_of(await browser.get(f"{pool}/removal"))
    for codes in ("", "Ωμέγα"):
        wrong = await browser.post(pool, data={"codes": codes})
        assert (422, True) == (wrong.status_code, 'href="#codes"' in wrong.text)
    added = await browser.post(pool, files={"file": ("codes.csv", b'\xef\xbb\xbfA-1,x\r\n"A-2";y\r\n\r\n', "text/csv")})
    assert "2 codes are new, 0 were already there." in text_of(await browser.get(added.headers["location"]))
    wide = await browser.post(pool, files={"file": ("codes.txt", "A-2\r\nA-3".encode("utf-16"), "text/plain")})
    assert (303, True) == (wide.status_code, "added=1&known=1" in wide.headers["location"])
    shown = text_of(await browser.get(pool))
    assert all(f"<bdi>A-{n}</bdi>" in shown for n in (1, 2, 3))
    ending = (await browser.post(f"{path}/edit/endings")).headers["location"]
    page = await browser.get(ending)
    assert '<option value="thanks">Ten percent</option>' in text_of(page)
    chosen = {"group": "all", "seen": seen_of(page.text), "coupon_pool": "thanks"}
    assert 303 == (await browser.post(ending, data=chosen)).status_code
    assert ["thanks"] == [one["coupon_pool"] for one in (await draft_of(office, path))["endings"]]
    assert "3 free codes are removed too." in text_of(await browser.get(f"{pool}/removal"))
    async with db.transaction(office.pool) as database:
        await database.execute(
            "update coupon_code set instance_id = $1, given_time = now() where code = 'A-1'", "i" * 22
        )
    assert "Customers have codes from it" in text_of(await browser.get(f"{pool}/removal"))
    assert 303 == (await browser.post(f"{pool}/removal")).status_code
    assert "A-2" not in text_of(await browser.get(pool))
