"""pgbench on the same database with the same SQL: the ceiling of what a server in front of it can reach."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
_FAILED = re.compile(r"number of failed transactions: ([1-9]\d*)")
_PARAMETER = re.compile(r"\$(\d+)")


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A pgbench of this server's version and where it connects."""

    program: Path
    url: str = field(repr=False)

    async def transactions_per_second(self, script: str, *, clients: int, seconds: float, threads: int = 2) -> float:
        """Run `script` with prepared statements and return its rate."""
        parts = urlsplit(self.url)
        query = parse_qs(parts.query)
        environment = {"PGPASSWORD": unquote(parts.password or ""), "PGUSER": unquote(parts.username or "")}
        host = query["host"][0] if "host" in query else str(parts.hostname)
        process = await asyncio.create_subprocess_exec(
            *(self.program, "-h", host, "-p", str(parts.port or 5432), "-n", "-M", "prepared", "-f", "-"),
            *("-c", str(clients), "-j", str(threads), "-T", str(max(1, round(seconds)))),
            parts.path.removeprefix("/"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
        )
        output, problems = await process.communicate(script.encode())
        found = _TPS.search(output.decode())
        if process.returncode or not found or _FAILED.search(output.decode()):
            raise RuntimeError(f"pgbench failed: {problems.decode()[-2000:]}")
        return float(found[1])


class Recording:
    """A connection that writes down what passes through it, for a script that says the same."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self.statements: list[tuple[str, Sequence[object]]] = []

    async def fetch(self, query: str, *values: object) -> Any:
        self.statements.append((query, values))
        return await self._raw.fetch(query, *values)

    async def fetchrow(self, query: str, *values: object) -> Any:
        self.statements.append((query, values))
        return await self._raw.fetchrow(query, *values)

    async def fetchval(self, query: str, *values: object) -> Any:
        self.statements.append((query, values))
        return await self._raw.fetchval(query, *values)

    async def execute(self, query: str, *values: object) -> Any:
        self.statements.append((query, values))
        return await self._raw.execute(query, *values)

    def script(self, *, in_transaction: bool, fresh: Sequence[str] = ()) -> str:
        """The statements for pgbench; ids in `fresh` are new ones in each transaction, in the order of time."""
        lines = [_line(query, values, fresh) for query, values in self.statements]
        return "\n".join(["begin;", *lines, "end;"] if in_transaction else lines) + "\n"


# 22 letters and digits, as our own ids are: microseconds, and the client's number.
_FRESH = "(to_char(clock_timestamp(), 'YYYYMMDDHH24MISSUS') || lpad(:client_id::text, 2, '0'))"


def _line(query: str, values: Sequence[object], fresh: Sequence[str]) -> str:
    line = " ".join(re.sub(r"--[^\n]*", "", query).split())
    return _PARAMETER.sub(lambda match: _literal(values[int(match[1]) - 1], fresh), line) + ";"


def _literal(value: Any, fresh: Sequence[str]) -> str:
    """The value as SQL. Constants are planned once, as parameters are: the ceiling has no disadvantage from them."""
    match value:
        case None:
            text = "null"
        case bool() | int() | float():
            text = str(value).lower()
        case bytes():
            text = f"'\\x{value.hex()}'::bytea"
        case datetime():
            text = f"'{value.isoformat()}'::timestamptz"
        case dict() | [dict(), *_]:
            text = _json(value, fresh)
        case []:
            text = "'{}'"
        case list() | tuple():
            text = f"array[{', '.join(_literal(entry, fresh) for entry in value)}]"
        case _:
            text = _quoted(str(value))
    return text


def _json(value: object, fresh: Sequence[str]) -> str:
    # pgbench takes a name directly behind a colon for a variable of its own.
    text = _quoted(msgspec.json.format(msgspec.json.encode(value), indent=0).decode())
    for known in fresh:
        if known in text:
            text = f"replace({text}, '{known}', {_FRESH})"
    return text


def _quoted(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
