"""The contact policy and the suppressed addresses in the console."""

import httpx2

from tests.sending.queue.conftest import Client
from tests.sending.screens.conftest import plain
from tests.sending.screens.test_pipelines import version_of

POLICY = "/console/settings/policy"
SUPPRESSIONS = "/console/settings/suppressions"
FORM = {"enabled": "1", "invitations_max": "2", "window_days": "14", "response_window_days": "", "per_channel": "1",
        "count_reminders": "", "if_exceeded": "skip", "quiet_start_time": "21:00", "quiet_end_time": "08:00",
        "holiday_country": "GR", "holidays": "2029-12-24\n2029-12-31"}  # fmt: skip


SUPPRESSION = {"channel_id": "1", "identifier": "stop@example.com", "reason": "unsubscribed", "note": "She called."}


async def test_policy(client: Client, browser: httpx2.AsyncClient) -> None:
    page = await browser.get(POLICY)
    form = {**FORM, "version": version_of(page)}
    for name, value in (("invitations_max", "0"), ("quiet_end_time", ""), ("holiday_country", "XX"),
                        ("holidays", "tomorrow"), ("if_exceeded", "beg")):  # fmt: skip
        wrong = await browser.post(POLICY, data={**form, name: value})
        assert 422 == wrong.status_code, name
        assert f'href="#{name}"' in wrong.text
        assert "2029-12-31" in wrong.text or name == "holidays"
    assert 303 == (await browser.post(POLICY, data=form)).status_code
    stored = await client.ok("GET", "/policy/contact")
    assert (True, 2, "21:00", ["2029-12-24", "2029-12-31"]) == (
        stored["enabled"], stored["invitations_max"], stored["quiet_start_time"], stored["holidays"]
    )  # fmt: skip
    stale = await browser.post(POLICY, data={**form, "window_days": "7"})
    assert 412 == stale.status_code
    assert "<dd>14</dd>" in stale.text


async def test_suppressions(client: Client, browser: httpx2.AsyncClient) -> None:
    wrong = await browser.post(SUPPRESSIONS, data={**SUPPRESSION, "identifier": "nobody"})
    assert 422 == wrong.status_code
    assert 'value="nobody"' in wrong.text
    assert 303 == (await browser.post(SUPPRESSIONS, data=SUPPRESSION)).status_code
    assert 409 == (await browser.post(SUPPRESSIONS, data=SUPPRESSION)).status_code
    page = (await browser.get(SUPPRESSIONS)).text
    assert "stop<wbr>@example.com" in page
    assert "unsubscribed · She called." in plain(page)
    [one] = (await client.ok("GET", "/suppression"))["results"]
    path = f"{SUPPRESSIONS}/{one['suppression_id']}/lifting"
    assert "The reason was: unsubscribed." in plain((await browser.get(path)).text)
    assert 303 == (await browser.post(path)).status_code
    assert "stop<wbr>@example.com" not in (await browser.get(SUPPRESSIONS)).text
