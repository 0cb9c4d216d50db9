"""The messages of a pipeline: texts by language and reminder, as they arrive, a test to oneself."""

from tests.sending.queue.conftest import Client
from tests.sending.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import queue as queue  # noqa: PLC0414  a fixture
from tests.sending.screens.test_pipelines import PIPELINES, path_of, version_of
from tests.sending.screens.test_queue_items import client as client  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import browser_of, log_in


async def test_texts_by_language_and_reminder(client: Client) -> None:
    path = path_of(client)
    await client.send("PATCH", client.pipeline, {"reminders": [{"delay_days": 3}]})
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        for query, subject in (("", "First"), ("?locale=el", "Πρώτο"), ("?locale=en&reminder=1", "Again")):
            page = await browser.get(f"{path}/messages{query}")
            form = {"subject": subject, "body": f"{subject} & <b>", "version": version_of(page)}
            for field in ("body", "reason"):
                wrong = await browser.post(f"{path}/messages{query}", data={**form, field: "{{ nothing }}"})
                assert 422 == wrong.status_code
                assert f'href="#{field}"' in wrong.text
            assert f'value="{subject}"' in wrong.text
            saved = await browser.post(f"{path}/messages{query}", data=form)
            assert 303 == saved.status_code
            page = await browser.get(saved.headers["location"])
            assert f'value="{subject}"' in page.text
            mail = await browser.get(f"{path}/mail{query}")
            assert f"{subject} &amp; &lt;b&gt;" in mail.text
            assert "sandbox" in mail.headers["content-security-policy"]
        pipeline = (await client.send("GET", client.pipeline)).json()
        assert "First" == pipeline["message_subject"]
        assert {"el": {"subject": "Πρώτο", "body": "Πρώτο & <b>"}} == pipeline["messages"]
        assert {"en": {"subject": "Again", "body": "Again & <b>"}} == pipeline["reminders"][0]["messages"]
        page = await browser.get(f"{path}/messages")
        form = {"subject": "First", "body": "Well?", "footer": "Open <9> to 5", "version": version_of(page)}
        assert 303 == (await browser.post(f"{path}/messages", data=form)).status_code
        assert "Open &lt;9&gt; to 5" in (await browser.get(f"{path}/mail?locale=el")).text
        page = await browser.get(f"{path}/messages?locale=el")
        removed = await browser.post(f"{path}/messages?locale=el", data={"version": version_of(page)})
        assert 303 == removed.status_code
        assert {} == (await client.send("GET", client.pipeline)).json()["messages"]
        stale = await browser.post(f"{path}/messages", data={"subject": "S", "body": "B", "version": version_of(page)})
        assert 412 == stale.status_code
        assert "Stored meanwhile" in stale.text


async def test_a_test_message(client: Client) -> None:
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        wrong = await browser.post(f"{path_of(client)}/test", data={"recipient": "nobody"})
        assert 422 == wrong.status_code
        assert 'href="#recipient"' in wrong.text
        assert 'value="nobody"' in wrong.text


async def test_a_text_message_says_its_parts(client: Client) -> None:
    queue = client.queue
    made = await queue.pipeline(
        questionnaire_id=queue.house.questionnaire_id,
        channel_id=2,
        title="Texts",
        message_body="How was it? {{ link }} " + "We read each answer. " * 8,
    )
    async with browser_of(queue.pool) as browser:
        await log_in(browser)
        page = await browser.get(f"{PIPELINES}/{queue.house.questionnaire_id}/{made.pipeline_id}/messages")
        assert "2 SMS" in page.text
