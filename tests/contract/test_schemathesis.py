"""Cases made from the OpenAPI document, sent to a real web process: no bug, nothing undocumented, nothing of others.

100 in every run, for one operation of fourteen, drawn by the commit; AFTERWORD_TEST_FAULTS=full makes it 10,000 for
all of them. A fifth of them carry a token of another organization than the one whose ids they name. The seed is fixed
and printed; AFTERWORD_TEST_SEED gives another.

Checks that do not hold, by design:
- negative_data_rejection: unknown members and parameters are ignored, so clients may send back what they loaded; forms
  and queries are texts, which their fields type; the bad-input probes say exactly what is refused, and how.
- positive_data_acceptance takes 412, 422 and 429 too: that an id exists, that a zone is one of IANA, that two members
  exclude each other, that twenty exports wait is in no schema. What remains of it: what is well formed meets no 400,
  405, 406, 413, 414, 415, but for what the edge refuses in a text or a form (`EDGE_CODES` in feeding.py).
"""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from afterword.kit import db
from tests.conftest import POOL_SIZE
from tests.contract import probes, world
from tests.contract.world import ADDRESS, ROUTES, Tenant, World
from tests.databases import fresh_database
from tests.journeys import processes
from tests.run.worker.faults.conftest import SEED_VARIABLE
from tests.run.worker.faults.rig import SECRET
from tests.sizes import FULL, share_of, size

SEED: Final = int(os.environ.get(SEED_VARIABLE) or 42)
CASES_MIN: Final = size(100, 10_000)
OPERATIONS: Final = share_of([f"{route.method} {route.path}" for route in ROUTES], 0.07)
OTHERS_SHARE_MIN: Final = 0.2  # of the cases, with a token of the other organization
REACHED_SHARE_MIN: Final = (
    0.25 if FULL else 0.15
)  # of the cases, whose answer is a success: handlers did what they are for
UNREACHED_SHARE_MAX: Final = 0.1 if FULL else 0.25  # of the operations, that answered no case with a success
PHASES: Final = {"examples", "coverage", "fuzzing", *({"stateful"} if FULL else ())}  # links lead between operations
SPARES: Final = size(6, 30)
SECONDS_MAX: Final = size(900, 3_000)
CONFIGURATION: Final = """
suppress-health-check = ["all"]
continue-on-failure = true
warnings = false
hooks = "tests.contract.feeding"

[cache]
enabled = false

[generation]
database = "none"
no-shrink = true
with-security-parameters = false

[checks]
negative_data_rejection.enabled = false
positive_data_acceptance.expected-statuses = ["2xx", "304", "401", "403", "404", "409", "410", "412", "422", "429"]

[phases.examples]
enabled = {examples}
fill-missing = false

[phases.coverage]
enabled = {coverage}

[phases.fuzzing.generation]
max-examples = {fuzzing}

[phases.stateful]
enabled = {stateful}
max-steps = {steps}

[phases.stateful.generation]
max-examples = {scenarios}
mode = "positive"
"""


@dataclass(frozen=True, kw_only=True)
class Volume:
    """The number of cases: a share of those that cover the schema, drawn ones for each operation, scenarios or none."""

    coverage_share: float
    fuzzing: int
    scenarios: int = 0
    steps: int = 2

    @property
    def configuration(self) -> str:
        """Schemathesis' configuration; where the schema is not covered, its examples are not sent either."""
        is_covered, is_stateful = ("true" if part else "false" for part in (self.coverage_share, self.scenarios))
        return CONFIGURATION.format(
            examples=is_covered,
            coverage=is_covered,
            stateful=is_stateful,
            fuzzing=self.fuzzing,
            steps=self.steps,
            scenarios=self.scenarios or 1,
        )


OURS: Final = (
    Volume(coverage_share=0.25, fuzzing=20, scenarios=130, steps=20)
    if FULL
    else Volume(coverage_share=0.005, fuzzing=5)
)
THEIRS: Final = (
    Volume(coverage_share=0.05, fuzzing=10, scenarios=60, steps=10) if FULL else Volume(coverage_share=0, fuzzing=3)
)

# Values that the schema cannot tell: they have to fit what is there, or each other.
GOOD: Final[Mapping[str, object]] = {
    **probes.BY_NAME,
    "responder_channel_identifier": ADDRESS,
    "configuration": {"color_primary": "#0b6e4f"},
    "metadata": {},
    "time_zone": "Europe/Athens",
    "locale": "el",
    "default_locale": "el",
    "locales": ["el"],
    "template_id": "nps",
    "library_name": "event",
    "channel_id": 1,
    "message_subject": "Well?",
    "message_body": "Tell us.",
    "messages": {},
    "sender_address": None,
    "reply_to": None,
    "target_url": None,
    "template_pipeline_id": None,
    "template_questionnaire_id": None,
    "key_question_id": None,
    "dispatch_start_time": None,
    "dispatch_end_time": None,
    "expires_time": None,
    "end_time": None,
    "since_cursor": None,
    "filter": None,
    "chat_urls": [],
    "subscriber_user_ids": [],
    "chat_ids": [],
    "chat_id": None,
    "watches": [{"entity": "questionnaire", "entity_id": "{questionnaire_id}"}],
    "spec": {"questionnaire_ids": ["{questionnaire_id}"], "metrics": [{"metric": "response"}], "last_days": 7},
}


@dataclass
class Outcome:
    """Result and output of a run of Schemathesis."""

    output: str
    code: int
    statuses: Counter[int] = field(default_factory=Counter[int])
    phases: Counter[str] = field(default_factory=Counter[str])
    operations: Counter[str] = field(default_factory=Counter[str])
    reached: set[str] = field(default_factory=set[str])

    @property
    def count(self) -> int:
        """The number of cases that ran."""
        return sum(self.statuses.values())


def lay_out(folder: Path, volume: Volume, food: Mapping[str, Any]) -> tuple[Path, Path, Path]:
    """The files of a run: its configuration, what the hooks read, where the report goes."""
    folder.mkdir()
    configuration, ids, report = folder / "schemathesis.toml", folder / "food.json", folder / "report.ndjson"
    configuration.write_text(volume.configuration)
    ids.write_text(json.dumps({**food, "seed": SEED, "coverage_share": volume.coverage_share}))
    return configuration, ids, report


async def run(folder: Path, url: str, volume: Volume, *, token: str, food: Mapping[str, Any]) -> Outcome:
    """`schemathesis run` with these ids and this token."""
    configuration, ids, report = lay_out(folder, volume, food)
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(configuration), "run"),
        *(f"{url}/openapi.json", "--seed", str(SEED), "--header", f"Authorization: Bearer {token}"),
        *(part for operation in OPERATIONS for part in ("--include-name", operation)),
        *("--report", "ndjson", "--report-ndjson-path", str(report), "--no-color"),
        cwd=processes.ROOT,
        env={**os.environ, "SCHEMATHESIS_FOOD": str(ids), "COLUMNS": "160"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), SECONDS_MAX)
    finally:
        if process.returncode is None:
            process.kill()
    return read(report, Outcome(output.decode(errors="replace"), process.returncode or 0))


def read(report: Path, found: Outcome) -> Outcome:
    """The outcome with the figures of the report."""
    with report.open(encoding="utf-8") as lines:
        for line in lines:
            _count(found, json.loads(line).get("ScenarioFinished"))
    return found


def _count(found: Outcome, scenario: Any) -> None:
    if scenario is None:
        return
    recorder = scenario["recorder"]
    for case_id, interaction in recorder.get("interactions", {}).items():
        node = recorder["cases"][case_id]
        status = interaction.get("response", {}).get("status_code")
        is_probe = "parent_id" in node and status == 401  # by ignored_auth, which says a case again without the token
        if status is None or is_probe:
            continue
        operation = f"{node['value']['method']} {node['value']['path']}"
        found.statuses[status] += 1
        found.phases[scenario["phase"]] += 1
        found.operations[operation] += 1
        if status < 300:
            found.reached.add(operation)


MADE_AT: Final = {
    "/q/instance/{instance_id}": "/q/questionnaire/{questionnaire_id}/instance",
    "/q/queue/item/{item_id}": "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item",
    "/q/export/{export_id}": "/q/questionnaire/{questionnaire_id}/export",
}


async def spares(everything: World, tenant: Tenant) -> dict[str, list[str]]:
    """Things that cases may change and end, by the path of one of them."""
    makers = {route.path: route for route in ROUTES if route.method == "POST" and route.rows_max is None}
    found: dict[str, list[str]] = {}
    for path in sorted({route.path for route in ROUTES if route.method in {"PATCH", "PUT", "DELETE"}}):
        parent, _, last = path.rpartition("/")
        maker = makers.get(MADE_AT.get(path, parent))
        if maker is None or maker.uploads or not last.startswith("{"):
            continue
        for _ in range(SPARES):
            await everything.ready(maker)
            document = probes.valid(maker.body, tenant) if maker.body is not None else {}
            reply = await everything.wire.ask("POST", tenant.path(maker), token=tenant.token, document=document)
            if 429 == reply.status or b'"too_many"' in reply.body:
                break  # exports wait for each other; a report has so many links
            assert maker.status == reply.status, reply
            found.setdefault(path, []).append(str(reply.document[last.strip("{}")]))
    return found


def differing(tenant: Tenant, other: Tenant) -> dict[str, str]:
    """Values that are this organization's alone, by name, without words that clients choose or the product has."""
    chosen = {"external_reference", "tag", "status_id", "template_id", "library_name"}
    ids = {name: value for name, value in tenant.ids.items() if value != other.ids.get(name) and name not in chosen}
    return {**ids, "domain": f'"{tenant.house.domain}"'}


async def test_schemathesis(server_url: str, tmp_path: Path) -> None:
    print(f"{SEED_VARIABLE}={SEED}")  # noqa: T201  pytest shows it when the test fails
    async with fresh_database(server_url) as url, await db.open_pool(url, size_max=POOL_SIZE) as pool:
        everything = await world.build(pool)
        ours, theirs = everything.ours, everything.theirs
        our_spares, their_spares = [await spares(everything, each) for each in (ours, theirs)]
        both = {path: [*mine, *our_spares[path]] for path, mine in their_spares.items()}
        kept = [each for tenant in (ours, theirs) for each in tenant.ids.values()]
        shared: dict[str, Any] = {"kept": kept, "good": GOOD}
        as_ours = {"ids": [ours.ids], "spare": our_spares, "foreign": differing(theirs, ours), **shared}
        as_theirs = {"ids": [ours.ids, theirs.ids], "spare": both, "foreign": differing(ours, theirs), **shared}
        port = processes.free_port()
        base = f"http://127.0.0.1:{port}"
        limits = dict.fromkeys(LIMITS, 0)
        options = {"database_url": url, "port": port, "public_url": base, "secret": SECRET, **limits}
        async with processes.command("web", folder=tmp_path, **options) as process:
            await processes.ready(base, process)
            outcomes = await asyncio.gather(
                run(tmp_path / "ours", base, OURS, token=ours.token, food=as_ours),
                run(tmp_path / "theirs", base, THEIRS, token=theirs.token, food=as_theirs),
            )
            errors = process.errors()
    print(*errors, sep="\n")  # noqa: T201
    check(*outcomes)
    assert not errors


LIMITS: Final = (
    "token_requests_per_minute", "organization_requests_per_minute", "failed_authentications_per_minute",
    "link_starts_per_minute",
    "link_burst_per_minute",
)  # fmt: skip


def check(ours: Outcome, theirs: Outcome) -> None:
    """No failure; and it was worth the name: so many cases, of all phases and operations, which did something."""
    for outcome in (ours, theirs):
        print(outcome.output, outcome.statuses, outcome.phases)  # noqa: T201  pytest shows it when the test fails
    assert [0, 0] == [ours.code, theirs.code], "see the failures in what was printed, each with its request"
    count = ours.count + theirs.count
    assert count >= CASES_MIN
    assert theirs.count >= OTHERS_SHARE_MIN * count
    assert PHASES <= {phase.lower() for phase in ours.phases}
    assert set(OPERATIONS) <= ours.operations.keys()
    assert sum(n for status, n in ours.statuses.items() if status < 300) >= REACHED_SHARE_MIN * ours.count
    unreached = set(OPERATIONS) - ours.reached
    assert len(unreached) <= UNREACHED_SHARE_MAX * len(OPERATIONS), unreached
