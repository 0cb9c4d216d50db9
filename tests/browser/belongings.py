"""Adds to the demonstration's shop one of each thing that has a screen of its own and that it lacks."""

import asyncio
import hashlib
import html
import json
import re
from typing import Final
from urllib.parse import quote
from uuid import uuid4

import httpx2

from afterword import ids
from afterword.asking.instances import files
from afterword.core.answers.files import NewFile
from afterword.kit import db
from afterword.listening.imports import uploads
from afterword.run.worker.long_work import Exporter
from tests.asking.screens import test_links
from tests.asking.screens.test_publication import revision_of
from tests.browser.conftest import House
from tests.contract.world import PIXEL
from tests.listening.screens import test_export_schedules
from tests.listening.screens.test_exports import EXPORT
from tests.people.screens.test_people import PERSON
from tests.sending.screens import test_sequences, test_sources
from tests.sending.screens.test_pipelines import version_of
from tests.sending.screens.test_provider_forms import PROVIDERS
from tests.tenants.logins.passkeys.authenticator import Authenticator
from tests.tenants.screens.test_passkeys import NEW as PASSKEYS, options_of
from tests.tenants.screens.test_pictures import PICTURES

RESPONSES: Final = "/console/responses"
PIPELINE: Final = re.compile(r'href="(/console/sending/pipelines/\w{22}/\w{22})"')


async def add_versions(owner: httpx2.AsyncClient, house: House) -> None:
    """A second version of each questionnaire, with a draft that differs, and of each pipeline."""
    async with db.connection(house.pool) as database:
        found = await database.fetch("select questionnaire_id from questionnaire")
    for path in (f"{test_links.LIST}/{row['questionnaire_id']}" for row in found):
        assert 303 == (await owner.post(f"{path}/edit/endings")).status_code
        form = {"revision": revision_of((await owner.get(f"{path}/publish")).text), "note": "An ending"}
        assert 303 == (await owner.post(f"{path}/publish", data=form)).status_code
        assert 303 == (await owner.post(f"{path}/edit/endings")).status_code
    pipelines = set(PIPELINE.findall(html.unescape((await owner.get("/console/sending/pipelines")).text)))
    assert pipelines
    for path in pipelines:
        for days in ("20", "21"):
            form = {"delay_cap_days": days, "delay_cap_hours": "0", "delay_cap_minutes": "0"}
            form["version"] = version_of(await owner.get(f"{path}/delay"))
            assert 303 == (await owner.post(f"{path}/delay", data=form)).status_code


async def add_to_settings(owner: httpx2.AsyncClient, house: House) -> list[str]:
    """A picture, an account of a webhook and a passkey; the pages to which the tour finds no link."""
    sent = await owner.post(PICTURES, data={"title": "Our logo"}, files={"file": ("a.png", PIXEL)})
    assert 303 == sent.status_code
    made = await owner.post(f"{PROVIDERS}/new", data={"kind": "webhook", "title": "Our sender", "rate_ceiling": ""})
    path = re.search(rf'href="({PROVIDERS}/\w{{22}})', html.unescape(made.text))
    assert path is not None
    credential = Authenticator().create(await options_of(owner, PASSKEYS), origin=house.url)
    assert 200 == (await owner.post(PASSKEYS, data={"title": "My phone", "credential": credential})).status_code
    accounts = set(re.findall(rf'href="({PROVIDERS}/\w{{22}})"', html.unescape((await owner.get(PROVIDERS)).text)))
    pages = [html.unescape((await owner.get(account)).text) for account in accounts]  # they differ by kind
    below = {link for page in pages for link in re.findall(rf'href="({PROVIDERS}/\w{{22}}/[^"?]+)"', page)}
    return [*below, "/console/proof?next=/console"]


async def add_to_people(owner: httpx2.AsyncClient) -> list[str]:
    """One who is left alone, and one who is erased."""
    *_, alone, erased = PERSON.findall(html.unescape((await owner.get("/console/people")).text))
    address = re.search(r'<option value="(\d+:[^"]+)"', html.unescape((await owner.get(alone)).text))
    assert address is not None
    stopped = await owner.post(f"{alone}/suppression", data={"address": address[1], "reason": "blocked"})
    assert 303 == stopped.status_code
    lift = re.search(rf"{alone}/suppression/\w{{22}}", html.unescape((await owner.get(alone)).text))
    assert lift is not None
    gone = await owner.post(f"{erased}/erasure", data={"reason": "She asked."})
    assert 303 == gone.status_code
    return [lift[0], gone.headers["location"]]


async def add_imports(owner: httpx2.AsyncClient, house: House) -> list[str]:
    """A file of past responses that is imported, and one that is checked; the pages of its steps."""
    async with db.connection(house.pool) as database:
        found = await database.fetch_row(
            """select q.questionnaire_id, a.question_id, a.value from answer a
               join questionnaire q using (organization_id, questionnaire_id)
               where jsonb_typeof(a.value) = 'number' and not a.provisional limit 1"""
        )
    assert found is not None
    row = {"completed_time": "2025-03-01T10:00:00Z", "answers": {found["question_id"]: found["value"]}}
    here = ""
    for name in ("imported", "checked"):
        file = "".join(json.dumps({**row, "external_id": f"{name}-{place}"}) + "\n" for place in range(2))
        form = {
            "data": {"questionnaire": found["questionnaire_id"]},
            "files": {"file": (f"{name}.jsonl", file.encode())},
        }
        here = (await owner.post(f"{RESPONSES}/imports/new", **form)).headers["location"]
        for step in ("columns", "confirm") if name == "imported" else ("columns",):
            sent = await owner.post(here.replace("columns", step), data={})
            assert 303 == sent.status_code
            async with db.transaction(house.pool) as database:
                assert await uploads.work_next(database, secret=b"", now=database.clock.now())
    return [here, here.replace("columns", "check"), here.replace("columns", "confirm")]


async def add_to_responses(owner: httpx2.AsyncClient, house: House) -> list[str]:
    """Imports, a saved view, a tag, an export and a file."""
    imports = await add_imports(owner, house)
    saved = await owner.post(f"{RESPONSES}/views?tab=unhappy", data={"title": "Late"})
    assert 303 == saved.status_code
    async with db.transaction(house.pool) as database:
        answer = await database.fetch_row(
            """select a.organization_id, a.instance_id, a.question_id from answer a
               join questionnaire_instance i using (organization_id, instance_id)
               where i.completed_time is not null and not i.test limit 1"""
        )
        assert answer is not None
        content = b"It came broken.\n"
        file = NewFile(
            file_id=ids.secret(),
            name="box.txt",
            media_type="text/plain",
            content=content,
            content_hash=hashlib.sha256(content).digest(),
        )
        await files.insert_file(database, **dict(answer), file=file, now=database.clock.now())
    instance_id = answer["instance_id"]
    form = {"tag": "Late", "action": "add", "among": "page", "id": [instance_id]}
    tagged = await owner.post(f"{RESPONSES}/taggings", data=form)
    exported = await owner.post(f"{EXPORT}?tab=unhappy", data={"format": "csv"})
    assert (303, 303) == (tagged.status_code, exported.status_code)
    assert await Exporter(house.pool, uuid4()).work_next(asyncio.Event())
    condition = {"not": {"subject": f"question:{answer['question_id']}", "operator": "is_empty"}}
    return [
        *imports,
        f"{RESPONSES}/taggings?condition={quote(json.dumps(condition))}",
        tagged.headers["location"],
        exported.headers["location"],
        f"{RESPONSES}/{instance_id}/file/{file.file_id}",
    ]


async def add_connections(owner: httpx2.AsyncClient) -> None:
    """A sequence, an export on a timetable, and a source with a rule and an event."""
    found = PIPELINE.search(html.unescape((await owner.get("/console/sending/pipelines")).text))
    assert found is not None
    *_, questionnaire_id, pipeline_id = found[1].split("/")
    sequence = {"from": questionnaire_id, "title": "Why?", "kind": "manual", "trigger": "completed", "active": "1",
                "pipeline_id": pipeline_id, "version": "", "group": "all", "subject-0": ""}  # fmt: skip
    export = await test_export_schedules.form_of(owner)
    made = [
        await owner.post(f"{test_sequences.PATH}/new", data=sequence),
        await owner.post(f"{test_export_schedules.EXPORTS}/new", data=export),
    ]
    source = await test_sources.connected(owner)
    rule = {**test_sources.RULE, "pipeline_id": pipeline_id, "subject-0": ""}
    made.append(await owner.post(f"{source}/rules/new", data=rule))
    assert [303, 303, 303] == [one.status_code for one in made]
    assert 200 == await test_sources.tell(owner, source)
