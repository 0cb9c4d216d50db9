"""The SQL of files that answer questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterword.core.answers.files import NewFile
from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    name: str
    media_type: str
    content: bytes | None  # None: a folder has it


async def get_file(db: Database, *, organization_id: str, instance_id: str, file_id: str) -> StoredFile | None:
    row = await db.fetch_row(
        """select name, media_type, content from response_file
           where organization_id = $1 and instance_id = $2 and file_id = $3""",
        *(organization_id, instance_id, file_id),
    )
    return StoredFile(**row) if row else None


async def list_hashes(db: Database, *, organization_id: str, instance_id: str) -> set[tuple[str, bytes]]:
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
        organization_id,
        instance_id,
        file.file_id,
        question_id,
        file.name,
        file.media_type,
        len(file.content),
        file.content_hash,
        None if file.is_in_folder else file.content,
        now,
    )


async def delete_files_but(
    db: Database, *, organization_id: str, instance_id: str, question_id: str, file_ids: Sequence[str]
) -> None:
    await db.execute(
        """delete from response_file where organization_id = $1 and instance_id = $2 and question_id = $3
             and file_id <> all($4::text[])""",
        *(organization_id, instance_id, question_id, list(file_ids)),
    )


async def insert_stray(db: Database, *, organization_id: str, file_id: str, due_time: datetime) -> None:
    await db.execute(
        "insert into stray_file (organization_id, file_id, due_time) values ($1, $2, $3)",
        *(organization_id, file_id, due_time),
    )


async def delete_stray(db: Database, *, organization_id: str, file_id: str) -> bool:
    """False where a worker removed the file meanwhile."""
    return bool(
        await db.execute("delete from stray_file where organization_id = $1 and file_id = $2", organization_id, file_id)
    )


async def claim_strays(db: Database, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Remove the rows of files that are due; the caller removes the files before it commits."""
    rows = await db.fetch(
        """delete from stray_file s using (
             select organization_id, file_id from stray_file where due_time <= $1
             order by due_time limit $2 for update skip locked) due
           where s.organization_id = due.organization_id and s.file_id = due.file_id
           returning s.organization_id, s.file_id""",
        *(now, limit),
    )
    return [(row["organization_id"], row["file_id"]) for row in rows]
