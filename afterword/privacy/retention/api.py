"""The HTTP routes of retention: what it would remove, and what it removed."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.nouns.structs import update_of
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.privacy.retention import service
from afterword.tenants.organizations.retention import PATH, RETENTION, require_reach

routes = Routes(tag="Organizations")

Kind = Annotated[
    service.Kind,
    Meta(
        description=(
            "`texts`: words in answers. `people`: addresses and values of people, and personal metadata of responses. "
            "`items`: addresses and values of queue items. `uploads`: files that came with answers. `answers`: whole "
            "responses. `events`, `audit`: entries of the event log and of the audit log. `exports`: files of exports. "
            f"`deleted`: responses and items that were deleted {service.DELETED_DAYS} days before; it needs no period."
        )
    ),
]
State = Literal["running", "done"]


class RetentionPreviewPart(fields.Resource):
    """The rows that one kind of run would touch now."""

    kind: Kind
    days: int
    count: Annotated[
        int, Meta(description="Items, answers, people, files, responses or entries, as the run will count them.")
    ]
    is_more: Annotated[bool, Meta(description="More than `count`, which is where counting ends.")]


class RetentionPreview(fields.Resource):
    """The rows that retention would touch now. Kinds without a period are left out."""

    parts: list[RetentionPreviewPart]


class RetentionRun(fields.Resource):
    """A run over one kind of data. `counts`: rows that it changed or removed, by resource."""

    run_id: fields.Id
    kind: Kind
    days: int
    before_time: Annotated[fields.DateTime, Meta(description="What is older was removed.")]
    state: State
    counts: fields.Computed[dict[str, int]]
    started_time: fields.DateTime
    finished_time: fields.DateTime | None


RUNS: Final = fields.listing_of(RetentionRun, order=(("started_time", "desc"),))


@routes.post(
    f"{PATH}/preview",
    scope="Organization.Read",
    body=update_of(RETENTION),
    answer=RetentionPreview,
    status=200,
    summary="Try retention periods before they are saved",
    description=(
        "Nothing is stored. Periods that are not named are those of now. Counting ends at "
        f"{service.PREVIEWED_MAX:,} for each kind. What a legal hold keeps is not counted."
    ),
)
async def preview_retention(call: Call[Any], db: Database) -> Answer:
    found = await service.preview(db, caller=call.caller, changes=call.body.named(), now=call.now)
    return Answer(RetentionPreview(parts=[RetentionPreviewPart.of(one) for one in found]))


@routes.list(
    f"{PATH}/run",
    scope="Organization.Read",
    answer=RetentionRun,
    listing=RUNS,
    summary="Get all retention runs",
    description="The ledger of what was removed by its age, for two years. Nothing in it says of whom it was.",
)
async def list_retention_runs(call: Call[None], db: Database) -> Rows[service.Run]:
    require_reach(call.caller)
    return await service.list_runs(db, organization_id=call.caller.organization_id, page=call.page)
