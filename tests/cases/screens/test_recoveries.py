"""A detractor's response to a closed, won-back case: replied to, asked again, answered, closed, counted."""

import html
import re
from datetime import datetime

from afterword.asking.instances import service as instances
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.listening.responses import rows
from tests.cases.conftest import Desk
from tests.cases.messages.test_messages import case_of_ann
from tests.cases.screens.test_cases import desk as desk  # noqa: PLC0414  a fixture
from tests.cases.screens.test_cases import fields_of
from tests.cases.screens.test_cases import office as office  # noqa: PLC0414  a fixture
from tests.contract.alerting import read_all
from tests.sending.queue.conftest import Queue
from tests.tenants.logins.conftest import browser_of, log_in


async def test_won_back(office: Desk) -> None:
    queue = Queue(office.pool, office.house, office.house.pipeline_id)
    path = f"/console/cases/{(await case_of_ann(office)).rpartition('/')[2]}"
    await read_all(office.pool, rows.READER, _follow)
    async with browser_of(office.pool) as client:
        await log_in(client, email="ben@demo.example")
        assert f"{path}/recovery" in (await client.get(path)).text
        reply = await client.post(f"{path}/message", data={"key": "k", "subject": "Sorry", "reply": "A new parcel."})
        assert f"{path}?done=replied" == reply.headers["location"]
        asking = await client.get(f"{path}/recovery")
        assert "ann@example.com" in asking.text
        assert 0 == await office.value("select count(*) from queue_item where source = 'recovery'")
        for _ in range(2):
            asked = await client.post(f"{path}/recovery")
            assert f"{path}?done=asked_again" == asked.headers["location"]
        [item] = await queue.fetch("select * from queue_item where source = 'recovery'")
        page = (await client.get(path)).text
        assert "The customer is asked again." in page
        assert f"{path}/recovery" not in page
        assert 409 == (await client.get(f"{path}/recovery")).status_code

        closed = await client.post(path, data={**fields_of(page, status_id="3"), "cause": "Late", "remedy": "Voucher"})
        assert f"{path}?done=closed" == closed.headers["location"]
        await office.execute("update queue_item set due_time = now() where item_id = $1", item["item_id"])
        await queue.worker().send(Sent("reference", 250, "ok"))
        instance = await office.value(
            "select questionnaire_instance_id from queue_item where item_id = $1", item["item_id"]
        )
        async with db.connection(office.pool) as database:
            answered = await instances.get(database, caller=office.house.caller, instance_id=instance)
        await office.answer(answered, {office.score_id: 5})
        await read_all(office.pool, rows.READER, _follow)

        outcome = "1 → 5, recovered"
        assert outcome in _plain((await client.get(path)).text)
        assert outcome in _plain((await client.get("/console/cases?tab=closed")).text)
        figures = html.unescape((await client.get("/console/cases/figures?by=cause")).text)
        assert "Late" in figures
        won = re.search(r'href="([^"]*figure=won_back[^"]*key=Late)"', figures)
        assert won is not None
        assert path in html.unescape((await client.get(won[1])).text)
        late = await client.get(won[1].replace("won_back", "late"))
        assert path not in html.unescape(late.text)
    shown = await office.api.get(path.replace("/console/cases", "/alert/instance"))
    assert (True, instance, item["item_id"]) == tuple(
        shown[name] for name in ("recovered", "recovery_instance_id", "recovery_item_id")
    )
    assert ["recovery_answered"] == [kind for kind in await office.kinds() if kind.startswith("recovery")]


async def _follow(database: db.Database, *, now: datetime, limit: int) -> int:
    assert limit
    return await rows.follow(database, now=now)


def _plain(page: str) -> str:
    return page.replace("\u2068", "").replace("\u2069", "")
