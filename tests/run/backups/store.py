"""A store on loopback that answers as its script says, for faults that a real one shows once a year."""

import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


def answer(status: str, body: str = "") -> bytes:
    head = f'HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {len(body)}\r\nETag: "x"'
    return f"{head}\r\n\r\n{body}".encode()


def error(code: str, message: str = "") -> str:
    return f"<?xml version='1.0' encoding='UTF-8'?>\n<Error>\n<Code>{code}</Code><Message>{message}</Message></Error>"


OK = answer("200 OK")
BROKEN = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<"  # and the end of the connection


@dataclass
class Store:
    """`script` has the answers in their order, the last of them again and again; `asked` the request lines."""

    script: list[bytes]
    asked: list[str] = field(default_factory=list[str])
    port: int = 0


@contextmanager
def running(*script: bytes, tls: ssl.SSLContext | None = None) -> Generator[Store]:
    store = Store(list(script))
    listener = socket.create_server(("127.0.0.1", 0))
    store.port = listener.getsockname()[1]
    thread = threading.Thread(target=_serve, args=(store, listener, tls))
    thread.start()
    try:
        yield store
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        listener.close()


def _serve(store: Store, listener: socket.socket, tls: ssl.SSLContext | None) -> None:
    """One request of each connection, and one connection after the other."""
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with closing(connection), suppress(OSError, ValueError):
                made: Any = tls.wrap_socket(connection, server_side=True) if tls else connection
                with closing(made):
                    _answer(store, made)


def _answer(store: Store, connection: socket.socket) -> None:
    with connection.makefile("rb") as reading:
        line, length = reading.readline().decode().strip(), 0
        while (header := reading.readline()).strip():
            name, _, value = header.decode().partition(":")
            length = int(value) if name.lower() == "content-length" else length
        reading.read(length)
        store.asked.append(line)
        connection.sendall(store.script.pop(0) if len(store.script) > 1 else store.script[0])
