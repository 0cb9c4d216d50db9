"""The preview as a real person: who is found, what the page then says, and what the audit log has of it."""

import re

from afterword.kit import db
from afterword.people.responders import service as responders
from tests.asking.screens.conftest import path as path  # noqa: PLC0414  a fixture
from tests.asking.screens.test_builder import added, saved, text_of
from tests.tenants.logins.conftest import Browser, Office
from tests.tenants.logins.conftest import browser as browser  # noqa: PLC0414  a fixture


async def test_as_a_person(office: Office, browser: Browser, path: str) -> None:
    """Found by the search for people, whose name the page then has; the audit log tells who was looked at."""
    async with db.transaction(office.pool) as database:
        wanted = responders.ResponderInput(
            office.organization_id, channel_id=1, identifier="maria@example.com", metadata={"first_name": "Maria"}
        )
        [maria] = await responders.find_or_create(database, inputs=[wanted], now=database.clock.now(), secret=b"k" * 32)
    question = await added(browser, path, "text")
    await saved(browser, question, type="text", title="How was it, {{ responder.first_name | dear customer }}?")
    assert f"{path}/edit/person" in text_of(await browser.get(question))
    found = text_of(await browser.get(f"{path}/edit/person?q=maria"))
    assert f'href="{path}/edit?as={maria.responder_id}"' in found
    assert "maria@example.com" not in text_of(await browser.get(f"{path}/edit/person?q=nobody"))

    for chosen, said in ((maria.responder_id, "Maria"), ("0" * 22, "dear customer"), ("x", "dear customer")):
        page = text_of(await browser.get(f"{question}?as={chosen}"))
        frame = re.search(r'<iframe src="https?://[^/]+(/preview/[^"]+)"', page)
        assert frame is not None
        assert f"{said}?" in text_of(await browser.get(frame[1])).replace("\u2068", "").replace("\u2069", "")
    async with db.connection(office.pool) as database:
        read = await database.fetch("select thing_id from audit_entry where action = 'read'")
    assert maria.responder_id in {row["thing_id"] for row in read}
