"""The screens that follow from the declaration of a noun: list, new, edit and removal, each in one way."""

import html
import re
from collections.abc import Mapping
from typing import Any, Final

import pytest

from afterword.kit.nouns.declaration import Noun
from tests.asking.screens import test_coupons
from tests.asking.screens.conftest import begin
from tests.cases.screens import test_chats, test_statuses
from tests.events.screens import test_webhooks
from tests.kit.nouns.declared import all_nouns
from tests.listening.screens import test_export_schedules
from tests.privacy.screens import test_retention
from tests.sending.screens import test_sources
from tests.sending.screens.test_pipelines import version_of
from tests.tenants.logins.conftest import PASSWORD, Office, browser_of, found, log_in
from tests.tenants.screens import test_organization

WITH_SCREENS: Final = tuple(noun for noun in all_nouns() if noun.screens)
FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    "alert_status": test_statuses.FORM,
    "application": test_organization.SHOP,
    "chat": test_chats.FORM,
    "coupon_pool": test_coupons.FORM,
    "export_schedule": test_export_schedules.FORM,
    "legal_hold": test_retention.FORM,
    "response_theme": {"title": "Parking", "words": 'parking\n"car"'},
    "source": test_sources.FORM,
    "webhook": test_webhooks.FORM,
}
WRONG: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "alert_status": test_statuses.WRONG,
    "application": test_organization.WRONG,
    "chat": test_chats.WRONG,
    "coupon_pool": test_coupons.WRONG,
    "export_schedule": test_export_schedules.WRONG,
    "legal_hold": test_retention.WRONG,
    "response_theme": (("title", ""), ("words", ""), ("words", "parking\npa")),
    "source": test_sources.WRONG,
    "webhook": test_webhooks.WRONG,
}


@pytest.mark.parametrize("noun", WITH_SCREENS, ids=lambda noun: noun.table)
async def test_screens(noun: Noun[Any], office: Office) -> None:
    assert noun.screens is not None
    path, form = noun.screens.path, FORMS[noun.table]
    edit, may_change = "/edit" if noun.screens.has_page else "", "update" in noun.operations
    await office.add_user("ben@kalamata.example")
    await found(office.pool, domain="patras", email="pan@patras.example")
    async with browser_of(office.pool) as browser, browser_of(office.pool) as other:
        await log_in(other, email="ben@kalamata.example")
        assert 403 == (await other.post(f"{path}/new", data=form)).status_code
        await log_in(other, email="pan@patras.example")
        await other.post("/console/proof", data={"password": PASSWORD, "next": path})
        await log_in(browser)
        await browser.post("/console/proof", data={"password": PASSWORD, "next": path})
        assert html.escape(noun.screens.new) in (await browser.get(f"{path}/new")).text
        if noun.table == "export_schedule":
            await begin(browser, office)
            form = await test_export_schedules.form_of(browser)
        for name, value in WRONG[noun.table]:
            wrong = await browser.post(f"{path}/new", data={**form, name: value})
            assert 422 == wrong.status_code, name
            assert f'href="#{name}"' in wrong.text
        assert (await browser.post(f"{path}/new", data=form)).status_code in {200, 303}
        page = html.unescape((await browser.get(path)).text)
        match = re.search(
            rf'href="({path}/\w+)(?:/removal)?">(?:<strong>)?{re.escape(form[noun.screens.titled])}', page
        )
        assert match is not None
        one = match[1]
        for below in (edit, "/removal") if may_change else ("/removal",):
            assert 404 == (await other.get(one + below)).status_code, below
            assert 404 == (await other.post(one + below, data={**form, "version": "1"})).status_code, below
            assert 404 == (await browser.get(f"{path}/{'0' * 22}{below}")).status_code, below
        if may_change:
            version = version_of(await browser.get(one + edit))
            changed = {**form, noun.screens.titled: "Another title", "version": version}
            assert 303 == (await browser.post(one + edit, data=changed)).status_code
            stale = await browser.post(one + edit, data={**form, "version": version})
            assert 412 == stale.status_code
            assert "Another title" in stale.text
        title = "Another title" if may_change else form[noun.screens.titled]
        assert title in html.unescape((await browser.get(f"{one}/removal")).text)
        assert 303 == (await browser.post(f"{one}/removal")).status_code
        assert 404 == (await browser.get(f"{one}/removal")).status_code
