"""The HTTP routes of exports: create, read and delete one, download its file."""

from datetime import tzinfo
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, field

from afterword.asking.questionnaires import access
from afterword.core.wire.exports import Format, cursor_of
from afterword.kit.db import Database
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Download, Routes
from afterword.listening.exports import schedules, service, store
from afterword.listening.exports.formats import MEDIA_TYPES
from afterword.listening.responses.api import ResponseFilter, requested_of

routes = Routes(tag="Questionnaire Exports", scope="Questionnaire Export")
routes.all += schedules.routes.all
EXPORTS = "/q/questionnaire/{questionnaire_id}/export"
OF_LISTS = "/q/response/export"


class FileRequest(fields.Request):
    """The form of a file."""

    format: Format
    locale: fields.LocaleNormal | None = None
    values: Literal["labels", "codes", "both"] = "both"
    include_metadata: bool = True
    include_recipient: bool = False
    byte_order_mark: bool = False

    def columns(self) -> dict[str, Any]:
        columns = self.named()
        columns["values_as"] = columns.pop("values")
        return columns


class ExportRequest(FileRequest):
    """The content of a file. It holds responses whose time of `date_basis` lies in the period."""

    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None
    date_basis: Literal["submitted", "completed", "sent"] = "submitted"
    filter: dict[str, Any] | None = None
    include_incomplete: bool = True
    since_cursor: Annotated[str, Meta(min_length=1, max_length=512)] | None = None

    def columns(self) -> dict[str, Any]:
        columns = super().columns()
        for name in ("from_time", "to_time"):
            columns[name] = columns[name] and columns[name].instant
        return columns


class ListExportRequest(FileRequest, forbid_unknown_fields=True):
    """The form of a file, and the responses in it: those of a search."""

    filter: Annotated[ResponseFilter, Meta(description="As of the search of responses.")] = field(
        default_factory=ResponseFilter
    )


Export: Final = shown_as(
    "Export",
    store.Export,
    types={
        "questionnaire_id": Annotated[
            fields.Id | None, Meta(description="Null for responses chosen from the list of all.")
        ],
        "selected_count": Annotated[
            fields.Computed[int | None], Meta(description="The responses that were chosen from the list of all.")
        ],
    },
    before={
        "include_metadata": {"values": Annotated[Literal["labels", "codes", "both"], fields.named("values_as")]},
        "created_time": {"next_cursor": fields.Computed[str | None]},
    },
)


def export_of(export: store.Export, zone: tzinfo) -> fields.Resource:
    """The record as the wire shows it; one of a questionnaire that is done has the cursor for the next."""
    started = export.started_time if export.state == "done" and export.questionnaire_id else None
    return Export.of(export, zone, next_cursor=started and cursor_of(started))


@routes.list(EXPORTS, answer=Export, summary="Get Questionnaire Export List")
async def list_exports(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    rows = await store.list_exports(db, **questionnaire.key, test_only=call.caller.test, page=call.page)
    return Answer(rows.map(lambda export: export_of(export, call.zone)))


@routes.post(
    EXPORTS,
    more_scopes=("Questionnaire Instance.Read",),
    answer=Export,
    summary="Create Questionnaire Export",
    description="A worker writes the file. Values of metadata need Questionnaire Value.Read and Responder Value.Read, "
    "else they are left out. `include_recipient` needs Queue.Read, and so does its file.",
)
async def create_export(call: Call[ExportRequest], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    export = await service.create(
        db, caller=call.caller, questionnaire=questionnaire, columns=call.body.columns(), now=call.now
    )
    return Answer(export_of(export, call.zone), version=export.version, location=f"/q/export/{export.export_id}")


@routes.list(
    OF_LISTS,
    for_limited="part",
    answer=Export,
    summary="Get exports of responses of all questionnaires",
    description="Those that the caller asked for.",
)
async def list_exports_of_lists(call: Call[None], db: Database) -> Answer:
    rows = await service.list_of_lists(db, caller=call.caller, page=call.page)
    return Answer(rows.map(lambda export: export_of(export, call.zone)))


@routes.post(
    OF_LISTS,
    for_limited="part",
    more_scopes=("Questionnaire Instance.Read",),
    answer=Export,
    summary="Export responses of all questionnaires",
    description="Those that match now, the newest first, at most 50,000 of 50 questionnaires. Values of metadata and "
    "recipients are as in exports of one questionnaire.",
)
async def create_export_of_list(call: Call[ListExportRequest], db: Database) -> Answer:
    wanted = await requested_of(db, call.caller, call.body.filter, at="/filter")
    columns = {**call.body.columns(), "filter": None}
    export = await service.create_of_list(db, wanted, columns=columns, now=call.now)
    return Answer(export_of(export, call.zone), version=export.version, location=f"/q/export/{export.export_id}")


@routes.get("/q/export/{export_id}", for_limited="part", answer=Export, summary="Get Questionnaire Export")
async def get_export(call: Call[None], db: Database) -> Answer:
    export = await service.get(db, caller=call.caller, **call.ids)
    return Answer(export_of(export, call.zone), version=export.version)


@routes.delete(
    "/q/export/{export_id}",
    for_limited="part",
    summary="Delete Questionnaire Export",
    description="Cancels an export that is waiting or being written; one that has ended is removed with its file.",
)
async def delete_export(call: Call[None], db: Database) -> None:
    export = await service.get(db, caller=call.caller, **call.ids)
    call.expect(export.version)
    await service.delete(db, export=export, now=call.now)


@routes.get(
    "/q/export/{export_id}/file",
    for_limited="part",
    more_scopes=("Questionnaire Instance.Read",),
    answer=None,
    media_types=tuple(MEDIA_TYPES.values()),
    summary="Get Questionnaire Export File",
    description="Needs the scopes of the values that it holds too. 409 before it is done, 410 after its retention.",
    refusals=("not_ready", "gone"),
)
async def get_export_file(call: Call[None], db: Database) -> Answer:
    export = await service.get(db, caller=call.caller, **call.ids)
    service.require_file(export, caller=call.caller)
    return Answer(
        download=Download(
            media_type=MEDIA_TYPES[export.format],
            file_name=export.file_name or export.export_id,
            length=export.bytes,
            chunks=service.download(db, caller=call.caller, export=export, now=call.now),
        )
    )
