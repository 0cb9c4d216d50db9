"""The HTTP routes of imports of responses."""

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from afterword import errors
from afterword.kit.db import Database
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields, problems
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.imports import service, store
from afterword.listening.imports.service import ROWS_A_STATEMENT, Outcome, PastResponse
from afterword.listening.imports.store import ResponseImportRecord
from afterword.listening.responses import views

ROWS_MAX: Final = 2_000  # of one request

PATH: Final = "/q/response/import"
ONE: Final = f"{PATH}/{{response_import_id}}"
routes = Routes(tag="Responses", scope="Questionnaire Instance")
routes.all += views.routes.all  # one place in the reference for all that is about responses
ResponseImport: Final = shown_as("ResponseImport", ResponseImportRecord)


class ResponseImportRequest(fields.Request):
    """An import to open."""

    questionnaire_id: fields.Id
    title: fields.Text200 | None = None


class ResponseImportUpdate(fields.Request):
    """The name of an import, and its end."""

    title: fields.Text200 | UnsetType = UNSET
    state: Annotated[Literal["done"], Meta(description="It takes no more rows.")] | UnsetType = UNSET


class PastResponsesQuery(fields.Request):
    """The import that the rows belong to, and whether they are only checked."""

    response_import_id: Annotated[
        fields.Id | None, Meta(description="An open import; without it the request is one by itself.")
    ] = None
    dry_run: bool = False


class PastResponseRow(fields.Answer):
    """The outcome of one row: 201 created, 200 there already, 409 or 422 refused."""

    row: int
    status: int
    instance_id: fields.Id | None
    external_id: str | None
    problem: dict[str, Any] | None


class PastResponsesResult(fields.Answer):
    """The outcomes of all rows, in their order."""

    response_import_id: fields.Id | None
    results: list[PastResponseRow]
    created: int
    unchanged: int
    failed: int


@routes.list(
    PATH,
    answer=ResponseImport,
    summary="Get imports of responses",
    description="One whose responses were removed is kept for thirty days.",
)
async def list_response_imports(call: Call[None], db: Database) -> Answer:
    return Answer(record=await store.list_response_imports(db, **call.caller.reach, page=call.page))


@routes.post(
    PATH,
    answer=ResponseImport,
    summary="Open an import of responses",
    refusals=("questionnaire_not_published",),
)
async def open_response_import(call: Call[ResponseImportRequest], db: Database) -> Answer:
    members = {"questionnaire_id": call.body.questionnaire_id, "title": call.body.title}
    try:
        made = await service.begin(db, caller=call.caller, **members, now=call.now)
    except errors.NotFound:
        raise errors.Invalid.at("/questionnaire_id", "unknown_id", "There is no such questionnaire.") from None
    return Answer(record=made, location=f"{PATH}/{made.response_import_id}")


@routes.get(ONE, answer=ResponseImport, summary="Get an import of responses")
async def get_response_import(call: Call[None], db: Database) -> Answer:
    return Answer(record=await service.get(db, caller=call.caller, **call.ids))


@routes.patch(ONE, answer=ResponseImport, summary="Rename or finish an import of responses")
async def finish_response_import(call: Call[ResponseImportUpdate], db: Database) -> Answer:
    title, is_finished = call.body.title, call.body.state is not UNSET
    changes = {"title": None if title is UNSET else title, "is_finished": is_finished, "expect": call.expect}
    return Answer(record=await service.update(db, caller=call.caller, **call.ids, **changes, now=call.now))


@routes.delete(
    ONE,
    summary="Remove all responses of an import",
    description="Workers remove them; GET tells how far that has come. People stay.",
    refusals=("on_hold",),
)
async def remove_response_import(call: Call[None], db: Database) -> None:
    await service.remove(db, caller=call.caller, **call.ids, expect=call.expect, now=call.now)


@routes.post(
    "/q/questionnaire/{questionnaire_id}/response",
    body=PastResponse,
    query=PastResponsesQuery,
    answer=PastResponsesResult,
    rows_max=ROWS_MAX,
    summary="Import responses",
    description=(
        "A JSON array or lines of JSON, of responses that were given elsewhere; each row is checked alone. The same "
        "row again changes nothing; another one with its `external_id` is refused. No message, alert, webhook, "
        "sequence or credit follows from them."
    ),
    refusals=("questionnaire_not_published", "not_ready"),
)
async def import_responses(call: Call[list[PastResponse | errors.Invalid]], db: Database) -> Answer:
    query: PastResponsesQuery = call.query
    acting: dict[str, Any] = {"caller": call.caller, "now": call.now}
    job: ResponseImportRecord | None = None
    if query.response_import_id is not None:
        job = await service.get(db, caller=call.caller, response_import_id=query.response_import_id)
        if job.questionnaire_id != call.ids["questionnaire_id"]:
            raise errors.NotFound("There is no such import.")
    elif not query.dry_run:
        job = await service.begin(db, **acting, **call.ids)
    work = await service.open_work(db, **acting, **call.ids, job=None if query.dry_run else job)
    outcomes: list[Outcome] = []
    for start in range(0, len(call.body), ROWS_A_STATEMENT):
        rows = service.check(work, call.body[start : start + ROWS_A_STATEMENT])
        outcomes += await service.add(db, work=work, rows=rows, secret=call.site.secret, now=call.now)
    if query.response_import_id is None and job is not None:
        await service.update(db, **acting, response_import_id=job.response_import_id)
    return Answer(
        PastResponsesResult(
            response_import_id=None if job is None else job.response_import_id,
            results=[_shown(call, place, outcome) for place, outcome in enumerate(outcomes)],
            **service.counted(outcomes),
        )
    )


def _shown(call: Call[Any], place: int, outcome: Outcome) -> PastResponseRow:
    body, refusal = call.body[place], outcome.refusal
    known = (body.record or {}).get("external_id") if isinstance(body, errors.Invalid) else body.external_id
    name = known if isinstance(known, str) else None
    problem = problems.document_of(refusal, site=call.site, request_id=call.request_id) if refusal else None
    return PastResponseRow(place, outcome.status, outcome.instance_id, name, problem)
