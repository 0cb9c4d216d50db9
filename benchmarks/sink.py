"""A mail server that takes everything and keeps nothing: a process of its own, as little work a mail as SMTP allows."""

import asyncio
import sys
from typing import cast

import uvloop

_OK = b"250 2.0.0 Ok\r\n"


class _Session(asyncio.Protocol):
    def __init__(self) -> None:
        self._buffer = b""
        self._is_in_data = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(b"220 sink ESMTP\r\n")

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            if self._is_in_data:
                _, dot, rest = self._buffer.partition(b"\r\n.\r\n")
                if not dot:
                    return
                self._buffer, self._is_in_data = rest, False
                self._transport.write(_OK)
                continue
            line, end, rest = self._buffer.partition(b"\r\n")
            if not end:
                return
            self._buffer = rest
            self._obey(line[:4].upper())

    def _obey(self, verb: bytes) -> None:
        if verb == b"EHLO":
            self._transport.write(b"250-sink\r\n250-SIZE 10485760\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES\r\n")
        elif verb == b"DATA":
            self._is_in_data = True
            self._transport.write(b"354 Go on\r\n")
        elif verb == b"QUIT":
            self._transport.write(b"221 2.0.0 Bye\r\n")
            self._transport.close()
        else:
            self._transport.write(_OK)


async def serve(port: int) -> None:
    """Until the process is ended."""
    server = await asyncio.get_running_loop().create_server(_Session, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
