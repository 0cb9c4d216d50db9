"""The SQL of files that answer questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterword.core.answers.files import NewFile
from afterword.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    name: str
    media_type: str
    content: bytes


async def get_file(db: Database, *, organization_id: str, instance_id: str, file_id: str) -> StoredFile | None:
    row = await db.fetch_row(
        """select name, media_type, content from response_file
           where organization_id = $1 and instance_id = $2 and file_id = $3""",
        *(organization_id, instance_id, file_id),
    )
    return StoredFile(**row) if row else None


async def list_hashes(db: Database, *, organization_id: str, instance_id: str) -> set[tuple[str, bytes]]:
    """The question and hash of each file of the instance."""
    rows = await db.fetch(
        "select question_id, content_hash from response_file where organization_id = $1 and instance_id = $2",
        organization_id,
        instance_id,
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
        file.content,
        now,
    )


async def delete_files_but(
    db: Database, *, organization_id: str, instance_id: str, question_id: str, file_ids: Sequence[str]
) -> None:
    """Delete the files of the question that are not in the list."""
    await db.execute(
        """delete from response_file where organization_id = $1 and instance_id = $2 and question_id = $3
             and file_id <> all($4::text[])""",
        *(organization_id, instance_id, question_id, list(file_ids)),
    )
