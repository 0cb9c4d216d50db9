"""pgbench on the same database with the same SQL: the ceiling of what a server in front of it can reach."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
_PARAMETER = re.compile(r"\$(\d+)")


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A pgbench of this server's version and where it connects."""

    program: Path
    url: str

    async def transactions_per_second(self, script: str, *, clients: int, seconds: int, threads: int = 2) -> float:
        """Run `script` with prepared statements and return its rate."""
        parts = urlsplit(self.url)
        query = parse_qs(parts.query)
        environment = {"PGPASSWORD": unquote(parts.password or ""), "PGUSER": unquote(parts.username or "")}
        host = query["host"][0] if "host" in query else str(parts.hostname)
        process = await asyncio.create_subprocess_exec(
            *(self.program, "-h", host, "-p", str(parts.port or 5432), "-n", "-M", "prepared", "-f", "-"),
            *("-c", str(clients), "-j", str(threads), "-T", str(seconds), parts.path.removeprefix("/")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
        )
        output, problems = await process.communicate(script.encode())
        found = _TPS.search(output.decode())
        if process.returncode or not found:
            raise RuntimeError(f"pgbench failed: {problems.decode()[-2000:]}")
        return float(found[1])


def script_of(query: str, values: dict[int, str]) -> str:
    """The query on one line for pgbench, each `$n` replaced by the SQL expression or `:variable` in `values`."""
    line = " ".join(re.sub(r"--[^\n]*", "", query).split())
    return _PARAMETER.sub(lambda match: values[int(match[1])], line) + ";\n"
