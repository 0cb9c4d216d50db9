"""Mails a second of compose, MIME and channel, against a bare aiosmtplib client that sends ready bytes likewise.

`python -m benchmarks.mail [mails] [connections]`. The server is `tests.channels.sink`, a process of its own that writes
each mail down. Rounds alternate, so that a busy machine hits both; medians are compared.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

import aiosmtplib

from afterword.channels import mime
from afterword.channels.base import Message, Sent
from afterword.channels.email import EmailChannel
from afterword.queue import mail
from tests.queue.test_mail import NOW, SITE, Pipeline, instance_of, version_of

ROUNDS = 5
BODY = "Dear {{ responder.first_name | customer }},\n\nyour order is here.\n\n{{ link }}\n\n{{ organization }}"
PIPELINE = Pipeline(message_body=BODY)
VERSION = version_of({})
INSTANCE = instance_of(VERSION, "en", {})


async def main(mails: int, connections: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "accepted"
        sink = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.channels.sink", "--file", str(file), stdout=asyncio.subprocess.PIPE
        )
        assert sink.stdout is not None
        port = int(await sink.stdout.readline())
        try:
            rates: dict[str, list[float]] = {"ours": [], "bare": []}
            busy = {"ours": 0.0, "bare": 0.0}
            for _ in range(ROUNDS):
                for name, run in (("bare", bare), ("ours", ours)):
                    started, used = time.perf_counter(), time.process_time()
                    await run(port, mails, connections)
                    rates[name].append(mails / (time.perf_counter() - started))
                    busy[name] += time.process_time() - used
            accepted = len(file.read_text().split())
        finally:
            sink.kill()
            await sink.wait()
    assert accepted == 2 * ROUNDS * mails
    size = len(mime.build(compose(0)))
    print(f"{size} bytes a mail, {connections} connections, {mails} mails a round, {ROUNDS} rounds")
    for name, found in rates.items():
        cpu = busy[name] / ROUNDS / mails * 1e6
        print(f"{name}: {statistics.median(found):.0f} mails a second, {cpu:.0f} µs of client CPU a mail")
    print(f"ratio {statistics.median(rates['ours']) / statistics.median(rates['bare']):.2f}")


def compose(number: int) -> Message:
    return mail.compose(
        item_id=f"{number:022d}",
        recipient="ann@example.org",
        pipeline=PIPELINE,
        version=VERSION,
        instance=INSTANCE,
        responder_metadata={"first_name": "Ann"},
        unsubscribe_id="u" * 22,
        organization_name="Northwind",
        postal_address="12 Harbour Street\nDublin",
        questionnaire_name="Delivery",
        sender="survey@shop.example",
        site=SITE,
        now=NOW,
    )


async def bare(port: int, mails: int, connections: int) -> None:
    """Ready bytes through `SMTP.sendmail`, a connection each for as long as it lasts."""
    content = mime.build(compose(0))

    async def one(count: int) -> None:
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
            for _ in range(count):
                await client.sendmail("survey@localhost.example", ["ann@example.org"], content)

    await asyncio.gather(*[one(mails // connections) for _ in range(connections)])


async def ours(port: int, mails: int, connections: int) -> None:
    """Each mail composed for its person, built, and sent with a begin that yields once."""
    channel = EmailChannel(f"smtp://127.0.0.1:{port}", connections)

    async def begin() -> None:
        await asyncio.sleep(0)

    async def one(count: int) -> None:
        for number in range(count):
            assert isinstance(await channel.send(compose(number), begin=begin), Sent)

    await asyncio.gather(*[one(mails // connections) for _ in range(connections)])
    await channel.close()


if __name__ == "__main__":
    asyncio.run(main(*[int(word) for word in sys.argv[1:]] or [2_000, 10]))
