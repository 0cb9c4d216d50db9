"""A process that sends one SMS and ends, where a thread of the library is still on its way out of Python."""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from afterword.extras import smpp
from afterword.kit.transport.base import Sent
from afterword.kit.transport.mime import Report
from tests.sending.channels.calls import Begin, sms

LINGER_SECONDS = 0.5
END_SECONDS = 1.5  # longer: the thread goes on amid the interpreter's end


class Loop(asyncio.SelectorEventLoop):
    """One in which whoever hands over a result from another thread lingers, as on a machine under load."""

    def call_soon_threadsafe(self, callback: Callable[..., object], *args: Any, **more: Any) -> asyncio.Handle:
        handle = super().call_soon_threadsafe(callback, *args, **more)
        time.sleep(LINGER_SECONDS)
        return handle


class Slow:
    """Holds up the end of the interpreter, behind the point from which no thread may come back to it."""

    def __del__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        sleep(END_SECONDS)


async def main(port: int) -> None:
    async def report(found: Sequence[Report]) -> None:
        pass

    settings = {"host": "127.0.0.1", "port": port, "system_id": "us", "password": "pw", "sender": "Shop"}
    channel = smpp.SmppChannel(smpp.settings_of(settings), slots=4, report=report)
    outcome = await channel.send(sms(), begin=Begin())
    assert isinstance(outcome, Sent)
    await channel.close()


if __name__ == "__main__":
    slow = Slow()
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(main(int(sys.argv[1])))
