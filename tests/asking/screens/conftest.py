"""An empty questionnaire in the browser of its organization's owner."""

import pytest

from tests.console.conftest import (
    browser as browser,  # noqa: PLC0414  a fixture
    office as office,  # noqa: PLC0414  a fixture
)
from tests.tenants.logins.conftest import Browser, Office


async def begin(browser: Browser, office: Office) -> str:
    """The address of a new questionnaire."""
    form = {"display_name": "After delivery", "application_id": office.application_id}
    made = await browser.post("/console/questionnaires/new", data=form)
    assert 303 == made.status_code, made.text
    return made.headers["location"].removesuffix("/edit?done=made")


@pytest.fixture
async def path(browser: Browser, office: Office) -> str:
    return await begin(browser, office)
