"""`python -m benchmarks [part …]`: measures, prints the table, and, when all parts ran, writes results.md."""

import argparse
import asyncio
import sys
from pathlib import Path

import uvloop

from benchmarks import findings, mail, queue, requests
from benchmarks.findings import Finding
from benchmarks.stage import Stage, stage, web

PARTS = ("post", "list", "queue", "mail")
RESULTS = Path(__file__).with_name("results.md")


async def measure(parts: set[str], *, rounds: int, seconds: float) -> list[Finding]:
    found: list[Finding] = []
    async with stage() as ground:
        if parts & {"post", "list", "memory"}:
            async with web(ground) as (process, port):
                if "list" in parts:
                    found += await requests.read_list(ground, port, rounds=rounds, seconds=seconds)
                if "post" in parts:
                    found += await requests.post(ground, port, rounds=rounds, seconds=seconds)
        if "queue" in parts:
            found += await queue.claim_and_settle(ground, rounds=rounds, seconds=seconds)
        if "mail" in parts:
            found += await mail.compose_and_send(ground, rounds=rounds, seconds=seconds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; none: all of them")
    parser.add_argument("--rounds", type=int, default=3, help="how often each pair is measured in turn")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each measurement of a rate takes")
    chosen = parser.parse_args()
    parts = set(chosen.parts or PARTS)
    if unknown := parts - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    found = uvloop.run(measure(parts, rounds=chosen.rounds, seconds=chosen.seconds))
    print(findings.table(found))


if __name__ == "__main__":
    main()
