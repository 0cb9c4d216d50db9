"""A worker writes mails with the organization's host, and asks for its record again."""

from dataclasses import replace

import pytest

from afterword.core.wire.site import Site
from afterword.run.worker.jobs import DomainChecks
from tests.conftest import SITE
from tests.kit.transport.name_server import name_server
from tests.run.worker.conftest import Bench

HOST = "ask.shop.example"


async def test_mails_of_a_held_host(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its record is gone."""
    monkeypatch.setattr(DomainChecks, "poll_seconds", 0.05)
    async with name_server({}) as server:
        site = Site(SITE.public_url, SITE.secret, name_servers=(("127.0.0.1", server.port),))
        bench = replace(bench, queue=replace(bench.queue, house=replace(bench.queue.house, site=site)))
        await bench.queue.execute(
            """insert into custom_domain (organization_id, host, proven_time, reached_time, checked_time, created_time,
                 updated_time) values ($1, $2, now(), now(), now(), now(), now())""",
            *(bench.queue.house.organization_id, HOST),
        )
        item = await bench.queue.schedule()
        async with bench.worker():
            await bench.until_done()
            await bench.queue.execute("update custom_domain set checked_time = now() - interval '7 hours'")
            await bench.until("select lost_time is not null and problem = 'record_missing' from custom_domain")
    message = bench.channel.messages[item.item_id]
    ours = f"http://{HOST}:8080"
    assert f"{ours}/a/" in message.text
    assert f"{ours}/a/" in message.html
    assert message.headers["List-Unsubscribe"].startswith(f"<{ours}/u/")
    assert SITE.public_url not in message.text + message.html
