"""Asks name servers for texts. dnspython is imported with the first question, since it takes a tenth of a second."""

import asyncio
import importlib
from collections.abc import Sequence
from typing import Any, Final

from afterword.core.messaging.networks import NameServer

ANSWER_SECONDS: Final = 2.0  # of a question, over all name servers
QUESTIONS_MAX: Final = 30  # at once
RECORDS_MAX: Final = 20  # of an answer
RECORD_CHARACTERS_MAX: Final = 2_000
CACHED_MAX: Final = 2_000  # answers, each until its own end


class NotAsked(Exception):
    """No name server answered."""


class Resolver:
    """`servers`: those that are asked; none: the machine's own."""

    def __init__(self, servers: Sequence[NameServer] = ()) -> None:
        self._servers = tuple(servers)
        self._questions = asyncio.Semaphore(QUESTIONS_MAX)
        self._preparing = asyncio.Lock()
        self._dns: Any = None
        self._resolver: Any = None

    async def texts(self, name: str) -> list[str] | None:
        """The TXT records of a name, None where there is no such name. Raises NotAsked."""
        async with self._questions:
            resolver = await self._prepared()
            try:
                answer = await resolver.resolve(name, "TXT", search=False, lifetime=ANSWER_SECONDS)
            except self._dns.resolver.NXDOMAIN:
                return None
            except self._dns.resolver.NoAnswer:
                return []
            except (self._dns.exception.DNSException, OSError, UnicodeError) as error:
                raise NotAsked from error
        texts = sorted(b"".join(record.strings).decode("utf-8", "replace") for record in answer)
        return [text[:RECORD_CHARACTERS_MAX] for text in texts[:RECORDS_MAX] if text.isprintable()]

    async def _prepared(self) -> Any:
        async with self._preparing:
            if self._resolver is None:
                self._dns = await asyncio.to_thread(importlib.import_module, "dns")
                for part in ("asyncresolver", "nameserver", "exception"):
                    await asyncio.to_thread(importlib.import_module, f"dns.{part}")
                try:
                    resolver = self._dns.asyncresolver.Resolver(configure=not self._servers)
                except self._dns.resolver.NoResolverConfiguration as error:
                    raise NotAsked from error
                if self._servers:
                    resolver.nameservers = [self._dns.nameserver.Do53Nameserver(*each) for each in self._servers]
                resolver.cache = self._dns.resolver.LRUCache(CACHED_MAX)
                self._resolver = resolver
            return self._resolver
