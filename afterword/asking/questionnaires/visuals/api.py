"""The HTTP interface of visuals; configurations are stored unchanged."""

from dataclasses import asdict
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.asking.questionnaires.visuals import service
from afterword.core.questionnaires import palettes, visuals
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes

routes = Routes(tag="Questionnaire Visuals")

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


class Visual(fields.Resource):
    """A theme of a questionnaire's pages, used while it is active."""

    visual_id: fields.Id
    questionnaire_id: fields.Id
    title: str
    active: bool
    configuration: Configuration
    problems: fields.Computed[list[VisualProblem]]
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


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


@routes.list(
    VISUALS, scope="Questionnaire Visual.Read", answer=Visual, shape="array", summary="Get all questionnaire visuals"
)
async def list_visuals(call: Call[None], db: Database) -> Rows[service.Visual]:
    return await service.list_of(db, caller=call.caller, **call.ids, page=call.page)


@routes.post(
    VISUALS,
    scope="Questionnaire Visual.Create",
    body=VisualRequest,
    answer=Visual,
    summary="Create questionnaire visual",
    description=f"An active one ends the other. {KEYS}",
)
async def create_visual(call: Call[VisualRequest], db: Database) -> Answer:
    visual = await service.create(
        db, caller=call.caller, **call.ids, columns=msgspec.structs.asdict(call.body), now=call.now
    )
    location = f"/q/questionnaire/{visual.questionnaire_id}/visual/{visual.visual_id}"
    return Answer(record=visual, location=location)


@routes.get(
    f"{VISUALS}/{{visual_id}}", scope="Questionnaire Visual.Read", answer=Visual, summary="Get questionnaire visual"
)
async def get_visual(call: Call[None], db: Database) -> service.Visual:
    return await service.get(db, caller=call.caller, **call.ids)


@routes.patch(
    f"{VISUALS}/{{visual_id}}",
    scope="Questionnaire Visual.Update",
    body=VisualUpdate,
    answer=Visual,
    summary="Update questionnaire visual",
    description=f"`configuration` is replaced as a whole; activating it ends the other. {KEYS}",
)
async def change_visual(call: Call[VisualUpdate], db: Database) -> service.Visual:
    return await service.change(
        db, caller=call.caller, **call.ids, columns=call.body.named(), expect=call.expect, now=call.now
    )


@routes.delete(f"{VISUALS}/{{visual_id}}", scope="Questionnaire Visual.Delete", summary="Delete questionnaire visual")
async def delete_visual(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.expect)


@routes.get(
    "/q/questionnaire/{questionnaire_id}/theme",
    scope="Questionnaire Visual.Read",
    answer=Theme,
    summary="Get Questionnaire Theme",
    description="The look after inheritance: of the organization, the application, and the active visual.",
)
async def get_theme(call: Call[None], db: Database) -> Answer:
    questionnaire_id = call.ids["questionnaire_id"]
    layers = await service.layers(db, caller=call.caller, questionnaire_id=questionnaire_id)
    configurations = {name: getattr(layers, name) for name in ("organization", "application", "visual")}
    theme = visuals.inherited(*configurations.values())
    contrasts = palettes.contrasts(palettes.Brand.of(theme))
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
