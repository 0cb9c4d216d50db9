"""`python -m benchmarks [part …]`: measures, prints the table, and, when all parts ran, writes results.md."""

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import uvloop

from benchmarks import findings, mail, queue, requests, rest
from benchmarks.findings import Finding
from benchmarks.stage import Stage, stage, web

PARTS: Final = ("list", "post", "memory", "queue", "mail", "idle", "start")
IN_WEB: Final = frozenset({"list", "post", "memory"})
RESULTS: Final = Path(__file__).with_name("results.md")


async def measure(parts: Collection[str], *, rounds: int, seconds: float) -> tuple[list[Finding], int]:
    """What these parts find, and PostgreSQL's major version."""
    found: list[Finding] = []
    async with stage() as ground:
        if not IN_WEB.isdisjoint(parts):
            found += await _in_web(ground, parts, rounds=rounds, seconds=seconds)
        if "queue" in parts:
            found += _told(await queue.claim_and_settle(ground, rounds=rounds, seconds=seconds))
        if "mail" in parts:
            found += _told(await mail.compose_and_send(ground, rounds=rounds, seconds=seconds))
        if "idle" in parts:
            found += _told(await rest.idle_worker(ground))
    if "start" in parts:
        found += _told(await rest.warm_start())
    return found, ground.postgres


async def _in_web(ground: Stage, parts: Collection[str], *, rounds: int, seconds: float) -> list[Finding]:
    found: list[Finding] = []
    async with web(ground) as (process, port):
        if "list" in parts:
            found += _told(await requests.read_list(ground, port, rounds=rounds, seconds=seconds))
        if "post" in parts:
            found += _told(await requests.post(ground, port, rounds=rounds, seconds=seconds))
        if "memory" in parts:
            found += _told(await rest.memory_after_load(ground, process.pid, port, seconds=seconds))
    return found


def _told(found: Sequence[Finding]) -> Sequence[Finding]:
    """Print each as soon as it is known."""
    for finding in found:
        print(finding.as_row(), flush=True)
    return found


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; none: all of them")
    parser.add_argument("--rounds", type=int, default=5, help="how often each pair is measured in turn")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each measurement of a rate takes")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    parts = tuple(chosen.parts or PARTS)
    busy = findings.load_average()
    found, postgres = uvloop.run(measure(parts, rounds=chosen.rounds, seconds=chosen.seconds))
    print(f"\n{findings.table(found)}")
    if set(parts) == set(PARTS):
        text = findings.results(found, rounds=chosen.rounds, seconds=chosen.seconds, postgres=postgres, busy=busy)
        RESULTS.write_text(text, encoding="utf-8")
    if not all(finding.is_reached for finding in found):
        sys.exit("A floor was missed.")


if __name__ == "__main__":
    main()
