"""A name server of this process over UDP: it answers TXT questions from a table, through dnspython."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset


@dataclass
class NameServer(asyncio.DatagramProtocol):
    """`texts` by name; a name that is missing does not exist, and one of `silent` gets no answer."""

    texts: Mapping[str, Sequence[str]]
    silent: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list[str])
    port: int = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        question = dns.message.from_wire(data)
        name = question.question[0].name.to_text(omit_final_dot=True).lower()
        self.asked.append(name)
        if name in self.silent:
            return
        answer = dns.message.make_response(question)
        answer.flags |= dns.flags.RA
        if name not in self.texts:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif self.texts[name]:
            quoted = [
                " ".join(f'"{text[start : start + 255]}"' for start in range(0, len(text), 255))
                for text in self.texts[name]
            ]
            answer.answer = [dns.rrset.from_text(question.question[0].name, 60, "IN", dns.rdatatype.TXT, *quoted)]
        self._transport.sendto(answer.to_wire(), addr)


@asynccontextmanager
async def name_server(texts: Mapping[str, Sequence[str]], *silent: str) -> AsyncGenerator[NameServer]:
    server = NameServer(texts, frozenset(silent))
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: server, local_addr=("127.0.0.1", 0)
    )
    try:
        yield server
    finally:
        transport.close()
