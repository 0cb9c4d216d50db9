"""Intake for the contract tests: a finished import, a sequence, and a deleted one of each."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from afterword.core.sources.parts import Happening
from afterword.kit import db
from afterword.run.worker.long_work import Importer
from afterword.sending.intake.imports.service import ProblemKind
from afterword.sending.intake.sources import service as sources
from tests.contract.wire import Wire

FILE = b"responder_channel_identifier,external_reference\nann@example.com,%s\nbob@example.com,\n"


async def ways_in(
    pool: db.Pool, wire: Wire, *, token: str, secret: bytes, ids: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Existing and deleted resources, by the names of their ids."""
    imports: list[str] = []
    base = f"/v3.2/q/questionnaire/{ids['questionnaire_id']}/pipeline/{ids['pipeline_id']}/queue/import"
    for name in ("kept", "gone"):
        answer = await wire.done("POST", base, token=token, file=FILE % f"imported-{name}".encode())
        imports.append(answer["import_id"])
    document = {
        "title": "Again",
        "from_questionnaire_id": ids["questionnaire_id"],
        "pipeline_id": ids["pipeline_id"],
        "active": False,
    }
    sequences: list[str] = []
    for _ in range(2):
        answer = await wire.done("POST", "/v3.2/q/sequence", token=token, document=document)
        sequences.append(answer["sequence_id"])
    for path in (f"/q/import/{imports[1]}", f"/q/import/{imports[1]}", f"/q/sequence/{sequences[1]}"):
        await wire.done("DELETE", f"/v3.2{path}", token=token)
    batches: list[str] = []
    for _ in range(2):
        document = {"action": "cancel", "filter": {"reason": "none_such"}}
        answer = await wire.done("POST", "/v3.2/q/queue/batch", token=token, document=document)
        batches.append(answer["batch_id"])
    for _ in range(2):
        await wire.done("DELETE", f"/v3.2/q/queue/batch/{batches[1]}", token=token)
    async with db.transaction(pool) as database:
        await database.execute(
            """with list as (
                 insert into queue_list (organization_id, list_id, questionnaire_id, pipeline_id, encoding, separator,
                   has_header, import_id, created_time)
                 select organization_id, import_id, questionnaire_id, pipeline_id, 'utf-8', ',', true, import_id, now()
                 from queue_import where import_id = $1 returning organization_id)
               insert into queue_list_column (organization_id, application_id, name, meaning, used_time)
               select organization_id, $2, 'E-mail', 'responder_channel_identifier', now() from list""",
            imports[0],
            ids["application_id"],
        )
        await database.execute(
            """insert into outbox_message (organization_id, message_id, item_id, channel_id, recipient, subject,
                 content, pipeline_id)
               select organization_id, import_id, import_id, 1, 'ann@example.com', $2, 'Well?', pipeline_id
               from queue_import where import_id = $1""",
            *(imports[0], f"Outbox of {ids['application_id']}"),
        )
    source = await _source(pool, wire, token=token, secret=secret, ids=ids)
    importer = Importer(pool, uuid4(), secret=secret)
    while await importer.work_next(asyncio.Event()):
        pass
    return {
        "batch_id": batches[0],
        "import_id": imports[0],
        "list_id": imports[0],
        "message_id": imports[0],
        "sequence_id": sequences[0],
        "from_questionnaire_id": ids["questionnaire_id"],
        **source,
    }, {
        "batch_id": batches[1],
        "import_id": imports[1],
        "sequence_id": sequences[1],
    }


async def _source(pool: db.Pool, wire: Wire, *, token: str, secret: bytes, ids: Mapping[str, str]) -> dict[str, str]:
    """A shop with a rule, and an event that asked nobody."""
    answer = await wire.done("POST", "/v3.2/source", token=token, document={"title": "Shop", "kind": "shopify"})
    place = {"organization_id": ids["organization_id"], "source_id": answer["source_id"]}
    path = f"/v3.2/source/{answer['source_id']}"
    document = {"what": "order.delivered", "pipeline_id": ids["pipeline_id"], "unless": ["order.refunded"]}
    rule = await wire.done("POST", f"{path}/rule", token=token, document=document)
    async with db.transaction(pool) as database:
        told = Happening(event_id="1", what="order.delivered", name="sent", subject=f"Order of {ids['application_id']}")
        now = database.clock.now()
        await sources.take(database, **place, test=False, happenings=[told], secret=secret, now=now)
    [event] = (await wire.done("GET", f"{path}/event", token=token))["results"]
    assert ["no_address"] == [one["reason"] for one in event["decisions"]]
    return {name: {**rule, **event}[name] for name in ("source_id", "source_rule_id", "source_event_id")}


def arguments() -> dict[str, Any]:
    """Values of the other parameters that the stores of imports and lists have."""
    reading = {"encoding": "utf-16", "separator": ";", "has_header": False, "mapping": {}, "on_conflict": "skip"}
    kind = ProblemKind("/locale", "language", "This is required.", {})
    return {"number": 0, "after": 0, "mapping": {"E-mail": ""}, "columns": reading, "kind": kind}
