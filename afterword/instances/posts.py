"""Reads posted pages with files: the larger bodies only where a question takes files."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

from starlette.requests import Request

from afterword import db, errors
from afterword.core.answers.files import Received
from afterword.core.answers.forms import field_name
from afterword.core.questionnaires.question_types import FILE_BYTES_MAX, Question
from afterword.core.wire.site import Site
from afterword.instances.answer_page import FIELDS_MAX, AnswerPage, Posted, posted_of
from afterword.instances.files import service as files
from afterword.instances.files.service import Upload
from afterword.web import parsing, public, uploads
from afterword.web.limits import Limiter

UPLOAD_SECONDS_MAX: Final = 180  # a phone sends some megabytes slowly

ReadPage = Callable[[db.Database], Awaitable[AnswerPage | None]]


async def read_files(request: Request, read_page: ReadPage, *, keeps: bool) -> Posted:
    """A posted page that may have files. `read_page` finds the questions that take them; None: none does.

    `keeps`: whether the answers are saved.

    Raises Malformed, TooLarge, TooMany, Unavailable, and what `read_page` raises.
    """
    label = request.headers.get("content-type", "")
    async with db.connection(request.state.pool) as database:
        answer_page = await read_page(database)
        now = database.clock.now()
    questions = [] if answer_page is None else answer_page.file_questions
    limiter: Limiter = request.state.limiter
    site: Site = request.state.site
    source = request.client.host if request.client else ""
    limiter.count_upload(source)
    with limiter.upload(source):
        body = await public.read_body(request, bytes_max=_bytes_max(questions), seconds_max=UPLOAD_SECONDS_MAX)
        fields, sent = _parted(await asyncio.to_thread(uploads.read_parts, body, label, parts_max=FIELDS_MAX))
        del body
        found: Mapping[str, Received] = {}
        if sent and questions:
            found = await asyncio.to_thread(partial(files.check, questions, _uploads(questions, sent), now=now))
            if site.scan_command:
                found = await files.scanned(found, site=site)
            if site.file_folder and keeps and answer_page is not None:
                organization_id = answer_page.head.questionnaire.organization_id
                found = await files.in_folder(request.state.pool, found, organization_id=organization_id, site=site)
    return posted_of(fields, files=found)


def _bytes_max(questions: Sequence[Question]) -> int:
    """Room for a file that is too large, so that the page can say so."""
    allowed = sum((one.files_max or 1) * (one.bytes_max or 0) for one in questions)
    return parsing.BODY_BYTES_MAX + (allowed + FILE_BYTES_MAX if questions else 0)


def _parted(parts: Sequence[uploads.Part]) -> tuple[dict[str, list[str]], list[uploads.Part]]:
    """The fields, and the files that were chosen. Raises Malformed."""
    fields: dict[str, list[str]] = {}
    sent: list[uploads.Part] = []
    for part in parts:
        if part.file_name is None:
            fields.setdefault(part.name, []).append(parsing.check_text(parsing.decode(part.content, "form")))
        elif part.file_name:
            sent.append(part)
    if sum(len(text) for values in fields.values() for text in values) > parsing.BODY_BYTES_MAX:
        raise errors.Malformed("The form's fields are too long.", code="malformed_form")
    return fields, sent


def _uploads(questions: Sequence[Question], sent: Sequence[uploads.Part]) -> list[Upload]:
    by_field = {field_name(one.question_id): one.question_id for one in questions}
    return [
        Upload(by_field[part.name], uploads.file_name_of(part.file_name or "") or "", part.content)
        for part in sent
        if part.name in by_field
    ]
