"""`python -m benchmarks [--record] [part …]`: measures, prints the table, and, told to, records it in results.md."""

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import uvloop

from benchmarks import (
    against,
    bulk,
    capacity,
    claims,
    console,
    costs,
    coverage,
    deep,
    disk,
    engine,
    exports,
    findings,
    machine,
    mail,
    page,
    queue,
    record,
    report,
    requests,
    responses,
    rest,
    rivals,
    sending,
)
from benchmarks.findings import Finding
from benchmarks.stage import Stage, stage, web

PARTS: Final = (
    "list",
    "instance",
    "post",
    "bulk",
    "memory",
    "queue",
    "mail",
    "idle",
    "report",
    "export",
    "start",
    "deep",
    "page",
    "machine",
)
LONG: Final = ("wide", "claims", "lateness", "disk", "million", "console", "responses", "sending")  # `make bench-long`
RIVALS: Final = ("rivals",)  # needs what `make bench-rivals` installs
ALL: Final = (*PARTS, *LONG, *RIVALS)
AGAINST: Final = "against"  # and the path of another checkout, and parts of `against.PARTS`: this one beside that one
COVERAGE: Final = "coverage"  # how often intervals are right, which is no speed: alone, and recorded in docs/reports.md
COSTS: Final = "costs"  # of a unit, recorded in costs.json: alone
CAPACITY: Final = "capacity"  # of larger installations, simulated on them; recorded in docs/capacity.md: alone
IN_WEB: Final = frozenset({"list", "instance", "post", "bulk", "memory"})
Found = dict[str, Sequence[Finding]]  # by part


async def measure(parts: Collection[str], chosen: argparse.Namespace) -> Found:
    """The findings of these parts."""
    rounds, seconds = chosen.rounds, chosen.seconds
    found: Found = {}
    if not {*IN_WEB, "mail"}.isdisjoint(parts):
        async with stage() as ground:
            if not IN_WEB.isdisjoint(parts):
                found |= await _in_web(ground, parts, rounds=rounds, seconds=seconds)
            if "mail" in parts:
                found["mail"] = _told(await mail.compose_and_send(ground, rounds=rounds, seconds=seconds))
    return found | await _alone(parts, chosen) | await _long(parts, chosen)


async def _alone(parts: Collection[str], chosen: argparse.Namespace) -> Found:
    """Parts on grounds of their own: what one leaves behind, vacuum and readers of the log work off for long."""
    rounds, seconds, answers = chosen.rounds, chosen.seconds, chosen.answers
    found: Found = {}
    if not {"queue", "idle"}.isdisjoint(parts):
        async with stage() as ground:
            if "idle" in parts:
                found["idle"] = _told(await rest.idle_worker(ground))
            if "queue" in parts:
                found["queue"] = _told(await queue.claim_and_settle(ground, rounds=rounds, seconds=seconds))
    if "report" in parts:
        async with stage() as ground, web(ground) as (_, port):
            found["report"] = _told(await report.by_day(ground, port, answers=answers))
    if "export" in parts:
        async with stage() as ground:
            found["export"] = _told(await exports.write_csv(ground, rows=exports.ROWS, rounds=exports.ROUNDS))
    if "deep" in parts:
        async with stage() as ground, web(ground) as (_, port):
            found["deep"] = _told(await deep.page_by_cursor(ground, port, rounds=rounds, seconds=seconds))
    if "page" in parts:
        async with stage() as ground, web(ground, link_starts_per_minute="0", link_burst_per_minute="0") as (_, port):
            found["page"] = _told(await page.first_bytes(ground, port, seconds=chosen.seconds))
    if "machine" in parts:
        async with stage() as ground:
            found["machine"] = _told(await machine.at_once(ground))
    if "start" in parts:
        found["start"] = _told(await rest.warm_start())
    return found


async def _long(parts: Collection[str], chosen: argparse.Namespace) -> Found:
    """The parts that take many minutes, or another environment; each on a ground of its own."""
    found: Found = {}
    if "wide" in parts:
        async with stage() as ground:
            found["wide"] = _told(await rest.idle_installation(ground))
    if "claims" in parts:
        found["claims"] = _told(await claims.cost_of_future_rows(future=chosen.future))
    if "lateness" in parts:
        async with stage() as ground:
            wide = chosen.seconds * engine.LATENESS_TIMES
            found["lateness"] = _told(
                await engine.lateness(ground, blast=engine.BLAST_ITEMS, rounds=chosen.rounds, seconds=wide)
            )
    if "disk" in parts:
        async with stage() as ground:
            found["disk"] = _told(await disk.of_a_sent_item(ground))
    if "million" in parts:
        async with stage() as ground:
            found["million"] = _told(await engine.million(ground, items=chosen.items))
    if "console" in parts:
        async with stage(chosen.folder) as ground, web(ground) as (_, port):
            found["console"] = _told(await console.pages(ground, port, responses=chosen.responses))
    if "responses" in parts:
        async with stage() as ground:
            found["responses"] = _told(await responses.bring_and_copy(ground, rows=chosen.imported))
    if "sending" in parts:
        async with stage() as ground:
            found["sending"] = _told(await sending.mails_of_three(ground, mails=chosen.mails, rounds=chosen.rounds))
    if "rivals" in parts:
        async with stage() as ground:
            found["rivals"] = _told(await rivals.compare(ground, rounds=chosen.rounds))
    return found


async def _in_web(ground: Stage, parts: Collection[str], *, rounds: int, seconds: float) -> Found:
    found: Found = {}
    async with web(ground) as (process, port):
        if "list" in parts:
            found["list"] = _told(await requests.read_list(ground, port, rounds=rounds, seconds=seconds))
        if "instance" in parts:
            found["instance"] = _told(await requests.read_instance(ground, port, rounds=rounds, seconds=seconds))
        if "post" in parts:
            found["post"] = _told(await requests.post(ground, port, rounds=rounds, seconds=seconds))
        if "bulk" in parts:
            found["bulk"] = _told(await bulk.post_and_copy(ground, port, rounds=rounds))
        if "memory" in parts:
            found["memory"] = _told(await rest.memory_after_load(ground, process.pid, port, seconds=seconds))
    return found


def _told(found: Sequence[Finding]) -> Sequence[Finding]:
    """Print each as soon as it is known."""
    for finding in found:
        print(finding.as_row(), flush=True)
    return found


async def compare(other: Path, parts: Sequence[str], chosen: argparse.Namespace) -> list[Finding]:
    """This checkout beside another one."""
    async with stage(chosen.folder) as ground:
        return await against.compare(
            ground,
            other,
            parts,
            rounds=chosen.rounds,
            seconds=chosen.seconds,
            responses=chosen.responses,
            mails=chosen.mails,
        )


def cover(*, is_recorded: bool) -> None:
    """Print the table of coverage, and put it into the documentation; exit where an interval says too much."""
    rows: list[coverage.Row] = []
    for row in coverage.measure():
        rows.append(row)
        print(coverage.line(row), flush=True)
    if is_recorded:
        coverage.write(coverage.table(rows))
    if not all(cell is None or cell.is_reached for row in rows for cell in row.cells):
        sys.exit(f"An interval holds the true value less than {100 * coverage.FLOOR:.0f} times in 100.")


async def weigh() -> costs.Costs:
    """The costs of a unit, measured."""
    async with stage() as ground:
        return await costs.measure(ground)


def simulate(*, is_recorded: bool) -> None:
    """Print the tables of capacity, and put them into the documentation."""
    text = capacity.tables(costs.read())
    print(text)
    if is_recorded:
        capacity.write(text)


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="part",
        help=f"of {', '.join(ALL)}, or {COVERAGE}, {COSTS}, {CAPACITY}, or {AGAINST} PATH; none: {', '.join(PARTS)}",
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each pair is measured in turn")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each measurement of a rate takes")
    parser.add_argument(
        "--answers", type=int, default=report.ANSWERS_DEFAULT, help="how many answers the report is about"
    )
    parser.add_argument("--items", type=int, default=engine.MILLION, help="how many the part `million` sends")
    parser.add_argument("--mails", type=int, default=sending.MAILS, help="how many `sending` sends at a time")
    parser.add_argument("--responses", type=int, default=console.RESPONSES, help="how many `console` lists")
    parser.add_argument(
        "--imported", type=int, default=responses.ROWS, help="how many responses the part `responses` brings"
    )
    parser.add_argument("--folder", type=Path, help="where `console` keeps its responses for the next time")
    parser.add_argument("--future", type=int, default=claims.FUTURE_MANY, help="how many rows `claims` puts off")
    parser.add_argument("--record", action="store_true", help="write results.md with what these parts find anew")
    chosen = parser.parse_args()
    if chosen.parts == [COVERAGE]:
        cover(is_recorded=chosen.record)
        return
    if chosen.parts == [COSTS]:
        found = uvloop.run(weigh())
        print(costs.table(found))
        if chosen.record:
            costs.write(found)
    if CAPACITY in chosen.parts or (chosen.parts == [COSTS] and chosen.record):
        simulate(is_recorded=chosen.record)
    if {COSTS, CAPACITY}.intersection(chosen.parts):
        return
    if chosen.parts[:1] == [AGAINST]:
        other, *parts = chosen.parts[1:] or parser.error("against needs the path of a checkout")
        _finish(uvloop.run(compare(Path(other).resolve(), parts or against.PARTS, chosen)))
        return
    if unknown := set(chosen.parts) - set(ALL):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    parts = tuple(chosen.parts or PARTS)
    busy = findings.load_average()
    by_part = uvloop.run(measure(parts, chosen))
    if chosen.record:
        record.write(by_part, order=ALL, rounds=chosen.rounds, seconds=chosen.seconds, busy=busy)
    _finish([finding for part in ALL for finding in by_part.get(part, ())])


def _finish(found: Sequence[Finding]) -> None:
    print(f"\n{findings.table(found)}")
    if not all(finding.is_reached for finding in found):
        sys.exit("A floor was missed.")


if __name__ == "__main__":
    main()
