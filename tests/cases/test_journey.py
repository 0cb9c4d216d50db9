"""The whole way: a rule, a question asked by mail, an answer given on the page, a case, a mail that tells of it."""

import asyncio
import html
import re

import httpx2

from afterword.kit import db
from afterword.kit.transport.base import EMAIL
from afterword.run import worker
from afterword.sending.channels.email import EmailChannel
from tests.cases.conftest import Desk
from tests.run.worker.conftest import DEADLINE_SECONDS, RIG
from tests.sending.channels.sink import Mail, Sink

ANN, OWNER = "ann@example.com", "owner@demo.example"


async def arrived(desk: Desk, sink: Sink, address: str) -> Mail:
    """The first mail to this person. A notice does not have to wait for the end of its minute."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            for mail in sink.mails:
                if address in mail.recipients:
                    return mail
            await desk.execute(
                "update notice_mail set due_time = now() - interval '1s' where state = 'waiting' and attempts = 0"
            )
            await asyncio.sleep(0.05)


async def answer(http: httpx2.AsyncClient, address: str, question_id: str, value: int) -> None:
    """As a browser does it: open the page, mark the key, press the button of each page."""
    page = await http.get(address)
    for _ in range(5):
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.text))
        button = re.findall(r'<button class="button" name="go" value="(\w+)"', page.text)
        names = re.findall(rf'name="([^"]*{question_id}[^"]*)"', page.text)
        if not button:
            return
        fields = {**{name: html.unescape(text) for name, text in hidden.items()}, "go": button[0]}
        page = await http.post(address, data={**fields, **({names[0]: str(value)} if names else {})})
        assert page.status_code == 303, page.text
        page = await http.get(page.headers["location"])
    raise AssertionError(page.text)


async def test_from_rule_to_notice(desk: Desk, database_url: str) -> None:
    alert = await desk.alert(title="Unhappy people", conditions=desk.low(), severity="critical")
    items = f"/q/questionnaire/{desk.house.questionnaire_id}/pipeline/{desk.house.pipeline_id}/queue/item"
    stop = asyncio.Event()
    async with Sink() as sink:
        channel = EmailChannel(sink.url)
        running = asyncio.create_task(
            worker.run(
                database_url=database_url,
                site=desk.house.site,
                channels=lambda pool: {**worker.captured(pool), EMAIL: channel},
                mail_from="survey@shop.example",
                stop=stop,
                pace=RIG,
            )
        )
        try:
            item = await desk.api.ok("POST", items, {"responder_channel_identifier": ANN})
            invitation = (await arrived(desk, sink, ANN)).parsed.get_body(("plain",))
            assert invitation is not None
            found = re.search(r"http\S+/a/[0-9A-Za-z]{22}", invitation.get_content())
            assert found is not None
            await answer(desk.http, found[0], desk.score_id, 1)
            notice = (await arrived(desk, sink, OWNER)).parsed
        finally:
            stop.set()
            await asyncio.wait_for(running, DEADLINE_SECONDS)

    [case] = await desk.cases()
    item = await desk.api.get(f"{items}/{item['item_id']}")
    assert (alert["alert_id"], item["questionnaire_instance_id"]) == (case["alert_id"], case["instance_id"])
    assert [1] == [leaf["actual"] for leaf in case["matched"]]
    assert "New alert: Unhappy people" == notice["Subject"]
    body = notice.get_body(("plain",))
    assert body is not None
    assert f"{desk.house.site.public_url}/console/cases/{case['alert_instance_id']}" in body.get_content()
    assert ANN not in body.get_content()
    instance = await desk.api.get(f"/q/instance/{case['instance_id']}")
    assert instance["processed_time"] is not None
    async with db.connection(desk.pool) as database:
        assert 0 == await database.fetch_value("select count(*) from notice_mail where state <> 'sent'")
