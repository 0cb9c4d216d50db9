"""Past responses with ten answers through `afterword responses import`, against `copy` of the rows that they became."""

import asyncio
import json
import random
import resource
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg

from afterword.asking.questionnaires import service as questionnaires
from afterword.kit import db
from afterword.tenants.organizations.applications import get_first_application_id
from benchmarks.bulk import COLUMNS
from benchmarks.findings import Figure, Finding, Ratio
from benchmarks.stage import SECRET, Stage, running

ROWS: Final = 1_000_000
FLOOR: Final = 0.2
MINUTES_MAX: Final = 10.0
MEGABYTES_MAX: Final = 250
SECONDS_MAX: Final = 3_600
FIRST: Final = datetime(2024, 1, 1, tzinfo=UTC)
DAYS: Final = 730
WORDS: Final = ("The delivery came on the day that was promised", "Nobody answered the phone", "All good", "Late again")
QUESTIONNAIRE: Final = """
display_name: Past
default_locale: en
groups:
  - key: all
    questions:
      - {key: nps, type: nps, title: Would you recommend us?}
      - {key: csat, type: csat, title: How satisfied are you?}
      - {key: ces, type: ces, title: How easy was it?}
      - {key: why, type: text, title: Why?}
      - {key: count, type: number, title: How many did you buy?}
      - {key: again, type: yes_no, title: Would you come again?}
      - {key: one, type: single_choice, title: Which?, choices: [{value: 1, label: A}, {value: 2, label: B}]}
      - {key: two, type: single_choice, title: Which then?, choices: [{value: 1, label: A}, {value: 2, label: B}]}
      - {key: many, type: multiple_choice, title: Which all?, choices: [{value: 1, label: A}, {value: 2, label: B}]}
      - {key: day, type: date, title: When?}
"""
FRESH: Final[Mapping[str, str]] = {
    **{name: f"'C' || {name}" for name in ("instance_id", "responder_id", "external_id", "identifier")},
    "address_key": "sha256(address_key)",
}
TABLES: Final = ("responder", "responder_address", "questionnaire_instance", "answer", "response")


async def bring_and_copy(stage: Stage, *, rows: int) -> list[Finding]:
    """One import by the command, then copies of all that it wrote, under other ids."""
    questionnaire_id = await _questionnaire(stage)
    file = stage.folder / "past.jsonl"
    await asyncio.to_thread(_write, file, rows)
    begun = time.perf_counter()
    command = ("afterword", "responses", "import", str(file), "--questionnaire", questionnaire_id)
    settings = {"database_url": stage.url, "secret": SECRET, "log_level": "warning"}
    async with running(*command, settings=settings) as process:
        code = await asyncio.wait_for(process.wait(), SECONDS_MAX)
    ours = time.perf_counter() - begun
    assert code == 0, "the import has wrong rows"
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1_024
    copied = await _copy(stage)
    what = f"Import of {rows:,} responses with ten answers"
    return [
        Ratio(what, "`copy` of the imported rows", "responses a second", [(rows / ours, rows / copied)], FLOOR),
        Figure(f"{what}, scaled to a million", ours / 60 * ROWS / rows, MINUTES_MAX, "minutes"),
        Figure(f"{what}, most memory of the command", memory, MEGABYTES_MAX, "MB"),
    ]


async def _questionnaire(stage: Stage) -> str:
    organization_id = stage.caller.organization_id
    async with db.transaction(stage.pool) as database:
        application_id = await get_first_application_id(database, organization_id=organization_id)
        assert application_id is not None
        imported = await questionnaires.import_file(
            database,
            organization_id=organization_id,
            application_id=application_id,
            text=QUESTIONNAIRE,
            slug="past",
            now=database.clock.now(),
        )
    return imported.questionnaire.questionnaire_id


def _write(file: Path, rows: int) -> None:
    """Responses of two years in the order of their time, of half as many people."""
    draw = random.Random(7)  # noqa: S311  the same rows each time
    with file.open("w", encoding="utf-8") as out:
        for place in range(rows):
            begun = FIRST + timedelta(days=DAYS) * (place / rows)
            answers = {
                "nps": draw.randrange(11), "csat": draw.randrange(1, 6), "ces": draw.randrange(1, 8),
                "why": draw.choice(WORDS), "count": draw.randrange(100), "again": draw.random() < 0.5,
                "one": draw.choice((1, 2)), "two": draw.choice(("A", "B")), "many": [1, 2], "day": str(begun.date()),
            }  # fmt: skip
            row: dict[str, Any] = {
                "external_id": f"R-{place}",
                "started_time": begun.isoformat(timespec="seconds"),
                "completed_time": (begun + timedelta(minutes=3)).isoformat(timespec="seconds"),
                "person": {"email": f"person{draw.randrange(rows // 2 + 1)}@example.com"},
                "answers": answers,
            }
            out.write(json.dumps(row) + "\n")


async def _copy(stage: Stage) -> float:
    """The seconds of copies of the rows into their own tables, with all keys and indexes, until the last commit."""
    raw: Any = await asyncpg.connect(stage.url)
    seconds = 0.0
    try:
        for table in TABLES:
            names = [row["attname"] for row in await raw.fetch(COLUMNS, table)]
            values = ", ".join(FRESH.get(name, name) for name in names)
            file = stage.folder / f"{table}.copy"
            with file.open("wb") as out:
                await raw.copy_from_query(
                    f"select {values} from {table}", output=out, format="binary", timeout=SECONDS_MAX
                )
            begun = time.perf_counter()
            with file.open("rb") as source:
                options = {"columns": names, "format": "binary", "timeout": SECONDS_MAX}
                await raw.copy_to_table(table, source=source, **options)
            seconds += time.perf_counter() - begun
            file.unlink()
    finally:
        await raw.close()
    return seconds
