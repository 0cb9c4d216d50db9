"""The preview beside the form: the answer page of the draft, in the look of the address, which stays."""

import re

from tests.asking.screens.test_builder import added, saved, text_of
from tests.tenants.logins.conftest import Browser


async def test_pane(browser: Browser, path: str) -> None:
    assert "<iframe" not in (await browser.get(f"{path}/edit")).text
    question = await added(browser, path, "text")
    page = await saved(browser, question, type="text", title="How was it?")
    frame = re.search(r'<iframe src="https?://[^/]+(/preview/[^"]+)"', page)
    assert frame is not None
    shown = await browser.get(frame[1])
    assert "How was it?" in shown.text
    assert "frame-ancestors 'self'" in shown.headers["content-security-policy"]
    page = text_of(await browser.get(f"{question}?look=desktop&shade=dark&language=xx"))
    assert 'class="framed desktop dark"' in page
    assert f'action="{question}?language=xx&look=desktop&shade=dark"' in page
