"""Checks files that come with an answer page, keeps them with the answer that lists them, and gives them out."""

import asyncio
import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, Literal

import msgspec
import structlog
from msgspec.structs import replace

from afterword import errors, ids
from afterword.asking.instances.store import Instance
from afterword.core.answers.files import NewFile, Received, RefusedFile, family_of, name_of
from afterword.core.answers.values import Given
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.question_types import Question
from afterword.core.wire.site import Site
from afterword.kit.db import Database, Pool, transaction
from afterword.kit.files import part_of, write_whole
from afterword.kit.web.operations import Download
from afterword.tenants import audit
from afterword.tenants.organizations import assets


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    media_type: str
    content: bytes | None  # None: a folder has it


async def _get_file(db: Database, *, organization_id: str, instance_id: str, file_id: str) -> StoredFile | None:
    return await db.records(StoredFile).fetch_row(
        """select name, media_type, content from response_file
           where organization_id = $1 and instance_id = $2 and file_id = $3""",
        *(organization_id, instance_id, file_id),
    )


async def _list_hashes(db: Database, *, organization_id: str, instance_id: str) -> set[tuple[str, bytes]]:
    rows = await db.fetch(
        "select question_id, content_hash from response_file where organization_id = $1 and instance_id = $2",
        *(organization_id, instance_id),
    )
    return {(row["question_id"], row["content_hash"]) for row in rows}


async def insert_file(
    db: Database, *, organization_id: str, instance_id: str, question_id: str, file: NewFile, now: datetime
) -> None:
    """The answer that lists the file is there already."""
    await db.execute(
        """insert into response_file (organization_id, instance_id, file_id, question_id, name, media_type, bytes,
             content_hash, content, created_time)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)""",
        *(organization_id, instance_id, file.file_id, question_id, file.name, file.media_type, len(file.content)),
        *(file.content_hash, None if file.is_in_folder else file.content, now),
    )


async def _delete_files_but(
    db: Database, *, organization_id: str, instance_id: str, question_id: str, file_ids: Sequence[str]
) -> None:
    await db.execute(
        """delete from response_file where organization_id = $1 and instance_id = $2 and question_id = $3
             and file_id <> all($4::text[])""",
        *(organization_id, instance_id, question_id, list(file_ids)),
    )


async def _insert_stray(db: Database, *, organization_id: str, file_id: str, due_time: datetime) -> None:
    await db.execute(
        "insert into stray_file (organization_id, file_id, due_time) values ($1, $2, $3)",
        *(organization_id, file_id, due_time),
    )


async def _delete_stray(db: Database, *, organization_id: str, file_id: str) -> bool:
    """False where a worker removed the file meanwhile."""
    return await db.touches(
        "delete from stray_file where organization_id = $1 and file_id = $2", organization_id, file_id
    )


async def _claim_strays(db: Database, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Remove the rows of files that are due; the caller removes the files before it commits."""
    return await db.fetch_tuples(
        """delete from stray_file s using (
             select organization_id, file_id from stray_file where due_time <= $1
             order by due_time limit $2 for update skip locked) due
           where s.organization_id = due.organization_id and s.file_id = due.file_id
           returning s.organization_id, s.file_id""",
        *(now, limit),
    )


def write(folder: Path, *, organization_id: str, file_id: str, content: bytes) -> None:
    write_whole(folder / organization_id / file_id, content)


def read(folder: Path, *, organization_id: str, file_id: str) -> bytes | None:
    with suppress(FileNotFoundError):
        return (folder / organization_id / file_id).read_bytes()
    return None


def delete(folder: Path, *, organization_id: str, file_id: str) -> None:
    path = folder / organization_id / file_id
    path.unlink(missing_ok=True)
    part_of(path).unlink(missing_ok=True)


Result = Literal["clean", "harmful", "unchecked"]
RESULTS: dict[int, Result] = {0: "clean", 1: "harmful"}

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def scan(command: Sequence[str], content: bytes, *, seconds: float) -> Result:
    """Run the command without a shell. Any other status than 0 and 1, and no end in time, is no answer."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", os.defpath)},  # not our secrets
        )
    except OSError as error:
        logger.warning("the scan of files cannot be started", error=str(error))
        return "unchecked"
    try:
        async with asyncio.timeout(seconds):
            await process.communicate(content)
    except TimeoutError:
        logger.warning("the scan of a file took too long", seconds=seconds)
        return "unchecked"
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode not in RESULTS:
        logger.warning("the scan of a file failed", status=process.returncode)
    return RESULTS.get(process.returncode or 0, "unchecked")


UNLISTED_MAX: Final = timedelta(hours=1)  # from a file to the answer that lists it
STRAYS_MAX: Final = 100  # removed in one transaction


class Upload(msgspec.Struct, frozen=True):
    question_id: str
    name: str
    content: bytes


def check(questions: Sequence[Question], uploads: Sequence[Upload], *, now: datetime) -> dict[str, Received]:
    """The files of each question, checked by their content; pictures are encoded again. Takes a second for each.

    Files beyond the number that a question takes are left unread, all but one, which makes the answer one too many.
    Raises Unavailable.
    """
    found: dict[str, Received] = {}
    for question in questions:
        own = [one for one in uploads if one.question_id == question.question_id][: (question.files_max or 1) + 1]
        if own:
            found[question.question_id] = [_checked(question, one, now=now) for one in own]
    return found


async def scanned(received: Mapping[str, Received], *, site: Site) -> dict[str, Received]:
    """The files after the operator's command has looked at each; those that it does not find clean are refused."""
    return {question_id: [await _scanned(one, site) for one in files] for question_id, files in received.items()}


async def in_folder(
    pool: Pool, received: Mapping[str, Received], *, organization_id: str, site: Site
) -> dict[str, Received]:
    """The files after they were written to the folder, each noted before: one that no answer lists is removed later."""
    return {
        question_id: [await _in_folder(pool, one, organization_id, site) for one in files]
        for question_id, files in received.items()
    }


async def _in_folder(
    pool: Pool, file: NewFile | RefusedFile, organization_id: str, site: Site
) -> NewFile | RefusedFile:
    if isinstance(file, RefusedFile):
        return file
    key = {"organization_id": organization_id, "file_id": file.file_id}
    async with transaction(pool) as db:
        await _insert_stray(db, **key, due_time=db.clock.now() + UNLISTED_MAX)
    try:
        await asyncio.to_thread(partial(write, Path(site.file_folder), **key, content=file.content))
    except OSError as error:
        raise errors.Unavailable("The folder of files cannot be written at the moment.") from error
    return replace(file, is_in_folder=True)


async def remove_strays(db: Database, *, file_folder: str, now: datetime) -> int:
    if not file_folder:
        return 0
    strays = await _claim_strays(db, now=now, limit=STRAYS_MAX)
    for organization_id, file_id in strays:
        await asyncio.to_thread(delete, Path(file_folder), organization_id=organization_id, file_id=file_id)
    return len(strays)


async def without_known(db: Database, *, instance: Instance, received: Mapping[str, Received]) -> dict[str, Received]:
    known = await _list_hashes(db, **instance.key)
    return {
        question_id: [
            one for one in files if isinstance(one, RefusedFile) or (question_id, one.content_hash) not in known
        ]
        for question_id, files in received.items()
    }


async def keep(
    db: Database, *, instance: Instance, answers: Mapping[str, Given], files: Sequence[NewFile], now: datetime
) -> None:
    key = instance.key
    new = {one.file_id: one for one in files}
    for question_id, given in answers.items():
        listed = _file_ids(given)
        if listed:
            await _delete_files_but(db, **key, question_id=question_id, file_ids=listed)
        for file_id in listed:
            if file_id in new:
                await insert_file(db, **key, question_id=question_id, file=new[file_id], now=now)
                stray = {"organization_id": instance.organization_id, "file_id": file_id}
                if new[file_id].is_in_folder and not await _delete_stray(db, **stray):
                    raise errors.Unavailable("This took too long. Send it again.")


async def download(
    db: Database, *, caller: Caller, instance: Instance, file_id: str, site: Site, now: datetime
) -> Download:
    """Noted in the audit log. `instance`: one that the caller may read. Raises NotFound."""
    found = await _get_file(db, **instance.key, file_id=file_id)
    content = found.content if found else None
    if found is not None and content is None and site.file_folder:
        key = {"organization_id": instance.organization_id, "file_id": file_id}
        content = await asyncio.to_thread(partial(read, Path(site.file_folder), **key))
    if found is None or content is None:
        raise errors.NotFound("There is no such file.")
    thing = {"thing_kind": "questionnaire_instance", "thing_id": instance.instance_id}
    await audit.record(db, caller=caller, action="downloaded", **thing, now=now)
    return Download.of(found.media_type, found.name, content)


def _checked(question: Question, upload: Upload, *, now: datetime) -> NewFile | RefusedFile:
    name, content = upload.name, upload.content
    if not content:
        return RefusedFile(name, "empty")
    if len(content) > (question.bytes_max or 0):
        return RefusedFile(name, "too_large")
    family, media_type = family_of(content) or ("", "")
    if family not in question.file_types:
        return RefusedFile(name, "wrong_kind")
    content_hash = hashlib.sha256(content).digest()
    if family == "picture":
        try:
            encoded = assets.encode(content)
        except errors.Invalid:
            return RefusedFile(name, "damaged")
        content, media_type = encoded.content, encoded.media_type
    return NewFile(
        file_id=ids.ordered(now),
        name=name_of(name, media_type),
        media_type=media_type,
        content=content,
        content_hash=content_hash,
    )


async def _scanned(file: NewFile | RefusedFile, site: Site) -> NewFile | RefusedFile:
    if isinstance(file, RefusedFile):
        return file
    result = await scan(site.scan_command, file.content, seconds=site.scan_seconds)
    return file if result == "clean" else RefusedFile(file.name, result)


def _file_ids(given: Given) -> list[str]:
    entries = given.value if isinstance(given.value, list) else []
    return [str(one["file_id"]) for one in entries if isinstance(one, dict)]
