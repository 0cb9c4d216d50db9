"""The responses that the contract tests need: their rows, a view, a theme, a tagging, and an export of their list."""

import zlib

from afterword.kit import db
from afterword.listening.responses import rows
from tests.conftest import settled
from tests.contract.wire import Wire


async def responding(
    pool: db.Pool, wire: Wire, *, token: str, instance_id: str, question_id: str, tag: str
) -> dict[str, str]:
    """Ids of a view, a theme, a tagging and an import, by the names of paths; the response has the tag already."""
    await settled(pool)
    async with db.transaction(pool) as database:
        while await rows.follow(database, now=database.clock.now()):
            pass
    made: dict[str, str] = {}
    for name, path, document in (
        ("view_id", "view", {"title": "Unhappy", "query": "tab=unhappy"}),
        ("theme_id", "theme", {"title": "Parking", "words": ["parking"]}),
        ("tagging_id", "tag", {"tag": tag, "instance_ids": [instance_id]}),
    ):
        answer = await wire.done("POST", f"/v3.2/q/response/{path}", token=token, document=document)
        made[name] = answer[name]
    assert 1 == answer["found"]
    questionnaire_id = (await wire.done("GET", f"/v3.2/q/instance/{instance_id}", token=token))["questionnaire_id"]
    document = {"questionnaire_id": questionnaire_id}
    answer = await wire.done("POST", "/v3.2/q/response/import", token=token, document=document)
    made["response_import_id"] = answer["response_import_id"]
    row = {"external_id": "R-1", "started_time": "2025-03-01T10:00:00Z", "answers": {question_id: 5}}
    path = f"/v3.2/q/questionnaire/{questionnaire_id}/response?response_import_id={made['response_import_id']}"
    await wire.done("POST", path, token=token, document=[row])
    await wire.done("POST", "/v3.2/q/response/export", token=token, document={"format": "csv"})
    async with db.transaction(pool) as database:
        await database.execute(
            """with upload as (
                 insert into response_upload (organization_id, response_import_id, names, meanings, rows_total, pieces,
                   state, counts, turn_time, created_time)
                 select organization_id, response_import_id, '[]', '{}', 1, 1, 'done',
                   '{"created": 1, "unchanged": 0, "failed": 0}', created_time, created_time
                 from response_import where response_import_id = $1 returning *)
               insert into response_upload_piece (organization_id, response_import_id, number, content)
               select organization_id, response_import_id, 0, $2 from upload""",
            *(made["response_import_id"], zlib.compress(b'[["{}"]]')),
        )
    return made
