"""Creates, changes, activates and deletes visuals."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, astuple, replace

from afterword import errors, ids
from afterword.asking.questionnaires import access
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import read_address
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import assets


class VisualRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A theme of a questionnaire's pages, used while it is active."""

    organization_id: Annotated[str, Hidden()]
    visual_id: fields.Id
    questionnaire_id: fields.Id
    title: str
    active: bool
    configuration: dict[str, Any]  # unchanged, with its order of keys
    version: Annotated[int, Hidden()]
    created_time: datetime
    updated_time: datetime
    created_by: fields.Id | None
    updated_by: fields.Id | None

    lacks_picture: Annotated[bool, Hidden()] = False

    @classmethod
    def new(cls, *, now: datetime, by: str | None, **columns: Any) -> "VisualRecord":
        made = {"created_time": now, "updated_time": now, "created_by": by, "updated_by": by}
        return cls(visual_id=ids.ordered(now), version=1, **made, **columns)

    @property
    def problems(self) -> list[dict[str, str]]:
        missing = {"key": "logo", "code": "unknown_id", "message": "There is no such picture."}
        return [*([missing] if self.lacks_picture else []), *visuals.problems(self.configuration)]


class Layers(msgspec.Struct, frozen=True):
    """The configurations that the theme of a questionnaire is inherited from, and the id of its active visual."""

    organization: dict[str, Any]
    application: dict[str, Any]
    visual: dict[str, Any] | None
    visual_id: str | None


_COLUMNS: Final = columns_of(VisualRecord, without=("lacks_picture",))


async def _get_visual(db: Database, *, caller: Caller, questionnaire_id: str, visual_id: str) -> VisualRecord:
    found = await db.records(VisualRecord).fetch_row(
        f"""select {_COLUMNS} from questionnaire_visual
           where organization_id = $1 and questionnaire_id = $2 and visual_id = $3""",
        *(caller.organization_id, questionnaire_id, visual_id),
    )
    return errors.found(found, "There is no such visual.")


async def get_layers(db: Database, *, organization_id: str, questionnaire_id: str) -> Layers | None:
    return await db.records(Layers).fetch_row(
        """select o.brand as organization, a.brand as application, v.configuration as visual, v.visual_id
           from questionnaire q
             join application a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id
             join organization o on o.organization_id = q.organization_id
             left join questionnaire_visual v
               on v.organization_id = q.organization_id and v.questionnaire_id = q.questionnaire_id and v.active
           where q.organization_id = $1 and q.questionnaire_id = $2""",
        *(organization_id, questionnaire_id),
    )


async def _count_visuals(db: Database, *, organization_id: str, questionnaire_id: str) -> int:
    return await db.fetch_value(
        "select count(*) from questionnaire_visual where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id),
    )


async def insert_visual(db: Database, *, visual: VisualRecord) -> None:  # any tenant: the visual names it
    """Raises Taken if another one is active."""
    await db.execute(
        f"insert into questionnaire_visual ({_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        *astuple(visual)[:-1],
    )


async def _update_visual(db: Database, *, visual: VisualRecord) -> None:
    """Write a visual whose questionnaire is locked. Raises Taken if another is active."""
    await db.execute(
        """update questionnaire_visual set title = $3, active = $4, configuration = $5, version = $6,
             updated_time = $7, updated_by = $8
           where organization_id = $1 and visual_id = $2""",
        *(visual.organization_id, visual.visual_id, visual.title, visual.active, visual.configuration),
        *(visual.version, visual.updated_time, visual.updated_by),
    )


async def _update_to_inactive(
    db: Database, *, organization_id: str, questionnaire_id: str, now: datetime, by: str | None
) -> None:
    await db.execute(
        """update questionnaire_visual set active = false, version = version + 1,
             updated_time = greatest($3, updated_time), updated_by = $4
           where organization_id = $1 and questionnaire_id = $2 and active""",
        *(organization_id, questionnaire_id, now, by),
    )


async def _delete_visual(db: Database, *, organization_id: str, visual_id: str) -> None:
    await db.execute(
        "delete from questionnaire_visual where organization_id = $1 and visual_id = $2", organization_id, visual_id
    )


CONFIGURATION_BYTES_MAX: Final = 64 << 10
VISUALS_MAX: Final = 100  # of a questionnaire

_text: Final = msgspec.json.encode


async def get(db: Database, *, caller: Caller, questionnaire_id: str, visual_id: str) -> VisualRecord:
    await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    return await _told(db, await _get_visual(db, caller=caller, questionnaire_id=questionnaire_id, visual_id=visual_id))


async def list_of(db: Database, *, caller: Caller, questionnaire_id: str, page: Page) -> Rows[VisualRecord]:
    """Raises NotFound."""
    await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    rows = await db.records(VisualRecord).fetch_list(
        f"select {_COLUMNS} from questionnaire_visual where organization_id = $1 and questionnaire_id = $2",
        *(caller.organization_id, questionnaire_id),
        page=page,
    )
    pictures = await _pictures(db, rows.items)
    return rows.map(lambda visual: _judged(visual, pictures))


async def layers_of(db: Database, *, caller: Caller, questionnaire_id: str) -> Layers:
    """Raises NotFound."""
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    return errors.found(await get_layers(db, **questionnaire.key), "There is no such questionnaire.")


async def create(
    db: Database, *, caller: Caller, questionnaire_id: str, columns: Mapping[str, Any], now: datetime
) -> VisualRecord:
    """Create a visual of these columns; an active one deactivates the other. Raises NotFound, Invalid."""
    # The lock lets one transaction at a time change a questionnaire's visuals, so that only one is active.
    questionnaire = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    key, by = questionnaire.key, caller.actor_id
    await check(db, caller=caller, configuration=columns["configuration"])
    if await _count_visuals(db, **key) >= VISUALS_MAX:
        raise errors.Invalid.at("", "too_many", f"A questionnaire has at most {VISUALS_MAX} visuals.")
    if columns["active"]:
        await _update_to_inactive(db, **key, now=now, by=by)
    made = VisualRecord.new(**key, **columns, now=now, by=by)
    await insert_visual(db, visual=made)
    return await _told(db, made)


async def change(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    visual_id: str,
    columns: Mapping[str, Any],
    expect: errors.Expect = errors.ANY,
    now: datetime,
) -> VisualRecord:
    """Set these columns; activation deactivates the other visual. Raises NotFound, Stale, Invalid."""
    await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    before = await _get_visual(db, caller=caller, questionnaire_id=questionnaire_id, visual_id=visual_id)
    expect(before.version)
    if "configuration" in columns:
        await check(db, caller=caller, configuration=columns["configuration"])
    # Compared as texts, because the order of a configuration's keys counts.
    changed = {name: value for name, value in columns.items() if _text(value) != _text(getattr(before, name))}
    if not changed:
        return await _told(db, before)
    by, later = caller.actor_id, max(now, before.updated_time)
    if changed.get("active"):
        key = {"organization_id": before.organization_id, "questionnaire_id": questionnaire_id}
        await _update_to_inactive(db, **key, now=now, by=by)
    after = replace(before, **changed, version=before.version + 1, updated_time=later, updated_by=by)
    await _update_visual(db, visual=after)
    return await _told(db, after)


async def delete(
    db: Database, *, caller: Caller, questionnaire_id: str, visual_id: str, expect: errors.Expect = errors.ANY
) -> None:
    await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    before = await _get_visual(db, caller=caller, questionnaire_id=questionnaire_id, visual_id=visual_id)
    expect(before.version)
    await _delete_visual(db, organization_id=before.organization_id, visual_id=visual_id)


async def check(db: Database, *, caller: Caller, configuration: Mapping[str, object]) -> None:
    """Raise Invalid for a configuration that is too large. It may hold anything: see `visuals.problems`.

    A picture that it names stays until the transaction ends.
    """
    if len(_text(configuration)) > CONFIGURATION_BYTES_MAX:
        message = f"A configuration has at most {CONFIGURATION_BYTES_MAX:,} bytes."
        raise errors.Invalid.at("/configuration", "too_long", message)
    theme, _ = visuals.read(configuration)
    with suppress(errors.Invalid):  # there is none: the page shows the name instead
        await assets.require(db, organization_id=caller.organization_id, address=theme.logo, pointer="/configuration")


async def _told(db: Database, visual: VisualRecord) -> VisualRecord:
    return _judged(visual, await _pictures(db, [visual]))


async def _pictures(db: Database, found: Sequence[VisualRecord]) -> set[str]:
    """Of the pictures that these visuals name those that there are, by address."""
    named = {picture.asset_id for each in found if (picture := read_address(_logo(each))) is not None}
    if not named:
        return set()
    return await assets.list_asset_paths(db, organization_id=found[0].organization_id, asset_ids=sorted(named))


def _judged(visual: VisualRecord, pictures: Collection[str]) -> VisualRecord:
    logo = _logo(visual)
    return replace(visual, lacks_picture=read_address(logo) is not None and logo not in pictures)


def _logo(visual: VisualRecord) -> str:
    return visuals.read(visual.configuration)[0].logo or ""


routes = Routes(tag="Questionnaire Visuals", scope="Questionnaire Visual")

VISUALS: Final = "/q/questionnaire/{questionnaire_id}/visual"
KEYS: Final = (
    "Of `configuration` pages read `color_primary`, `color_background`, `color_text` (of a contrast of 4.5:1), `logo`, "
    "`font`, `corner_radius`, `density`, `layout` and `show_progress`. Other keys, and values that cannot be used, are "
    "kept as they were sent, and `problems` names them."
)
Configuration = Annotated[
    dict[str, Any], Meta(examples=[{"color_primary": "#0b6e4f", "font": "serif", "layout": "by_question"}])
]


class VisualRequest(fields.Request):
    """A visual to create."""

    title: fields.Text200
    configuration: Configuration
    active: bool = False


class VisualUpdate(fields.Request):
    """The members of a visual that may change; a configuration is replaced as a whole."""

    title: fields.Text200 | UnsetType = UNSET
    configuration: Configuration | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class VisualProblem(fields.Answer):
    """A key of a configuration that pages and mails do not show, and why."""

    key: str
    code: str
    message: str


Visual: Final = shown_as(
    "Visual",
    VisualRecord,
    types={"configuration": Configuration},
    before={"created_time": {"problems": fields.Computed[list[VisualProblem]]}},
)


class Contrast(fields.Answer):
    """The contrast of a colour with its background, and of the colour that pages show in its place."""

    subject: Literal["text", "link", "button"]
    scheme: Literal["light", "dark"]
    color: str
    background: str
    ratio: float
    shown: str
    shown_ratio: float
    is_enough: bool


class Theme(fields.Answer):
    """The look of a questionnaire's pages and mails, with all that it inherits."""

    questionnaire_id: fields.Id
    visual_id: fields.Id | None
    color_primary: str | None
    color_background: str | None
    color_text: str | None
    logo: str | None
    font: str
    corner_radius: int | None
    density: str
    layout: str
    show_progress: bool
    sources: Annotated[dict[str, str], Meta(examples=[{"logo": "organization", "font": "visual"}])]
    unused: list[str]
    contrasts: list[Contrast]


@routes.list(VISUALS, answer=Visual, shape="array", summary="Get all questionnaire visuals")
async def list_visuals(call: Call[None], db: Database) -> Rows[VisualRecord]:
    return await list_of(db, caller=call.caller, **call.ids, page=call.page)


@routes.post(
    VISUALS, answer=Visual, summary="Create questionnaire visual", description=f"An active one ends the other. {KEYS}"
)
async def create_visual(call: Call[VisualRequest], db: Database) -> Answer:
    visual = await create(db, caller=call.caller, **call.ids, columns=msgspec.structs.asdict(call.body), now=call.now)
    location = f"/q/questionnaire/{visual.questionnaire_id}/visual/{visual.visual_id}"
    return Answer(record=visual, location=location)


@routes.get(f"{VISUALS}/{{visual_id}}", answer=Visual, summary="Get questionnaire visual")
async def get_visual(call: Call[None], db: Database) -> VisualRecord:
    return await get(db, caller=call.caller, **call.ids)


@routes.patch(
    f"{VISUALS}/{{visual_id}}",
    answer=Visual,
    summary="Update questionnaire visual",
    description=f"`configuration` is replaced as a whole; activating it ends the other. {KEYS}",
)
async def change_visual(call: Call[VisualUpdate], db: Database) -> VisualRecord:
    return await change(db, caller=call.caller, **call.ids, columns=call.body.named(), expect=call.expect, now=call.now)


@routes.delete(f"{VISUALS}/{{visual_id}}", summary="Delete questionnaire visual")
async def delete_visual(call: Call[None], db: Database) -> None:
    await delete(db, caller=call.caller, **call.ids, expect=call.expect)


@routes.get(
    "/q/questionnaire/{questionnaire_id}/theme",
    answer=Theme,
    summary="Get Questionnaire Theme",
    description="The look after inheritance: of the organization, the application, and the active visual.",
)
async def get_theme(call: Call[None], db: Database) -> Answer:
    questionnaire_id = call.ids["questionnaire_id"]
    layers = await layers_of(db, caller=call.caller, questionnaire_id=questionnaire_id)
    configurations = {name: getattr(layers, name) for name in ("organization", "application", "visual")}
    theme = visuals.inherited(*configurations.values())
    contrasts = visuals.contrasts(theme)
    return Answer(
        Theme(
            questionnaire_id=questionnaire_id,
            visual_id=layers.visual_id,
            **{name: getattr(theme, name) for name in visuals.KEYS},
            sources=visuals.sources(configurations),
            unused=visuals.unused(layers.visual),
            contrasts=[Contrast(**asdict(each), is_enough=each.is_enough) for each in contrasts],
        )
    )
