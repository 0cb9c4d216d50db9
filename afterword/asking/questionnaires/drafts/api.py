"""The HTTP interface of drafts, and of validation without saving."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, field

from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.drafts import service, store
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.questionnaires import drafts
from afterword.core.questionnaires.definition import GROUPS_MAX
from afterword.core.questionnaires.endings import ENDINGS_MAX
from afterword.core.questionnaires.flow import length
from afterword.core.reading.documents import LOCALES_MAX
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

routes = Routes(tag="Questionnaires")

DRAFT: Final = "/q/questionnaire/{questionnaire_id}/draft"
DEPTH_MAX: Final = 24  # of a definition, whose jumps contain condition trees

ByLocale = Annotated[dict[str, dict[str, Any]], Meta(examples=[{"el": {"thank_you": "Ευχαριστούμε!"}}])]
Groups = Annotated[
    list[dict[str, Any]],
    Meta(
        max_length=GROUPS_MAX,
        examples=[[{"questions": [{"type": "nps", "title": "Would you recommend us?", "required": True}]}]],
    ),
]

Endings = Annotated[
    list[dict[str, Any]],
    Meta(
        max_length=ENDINGS_MAX,
        examples=[[{"title": "Thank you", "button_label": "Back to the shop", "button_url": "https://shop.example/"}]],
    ),
]


class Definition(fields.Request):
    """The content of a questionnaire: groups with their questions, and texts by language.

    A group, question, row or ending without its id is given one; `translations` has the questionnaire's own `title` and
    `description` in other languages. `docs/questionnaires.md` describes all of it.
    """

    default_locale: fields.LocaleNormal
    groups: Groups
    locales: Annotated[list[fields.LocaleNormal], Meta(max_length=LOCALES_MAX)] = field(default_factory=list[str])
    pages: ByLocale = field(default_factory=dict[str, dict[str, Any]])
    translations: ByLocale = field(default_factory=dict[str, dict[str, Any]])
    endings: Endings = field(default_factory=list[dict[str, Any]])
    anonymous: bool = False


class Problem(fields.Resource):
    """A problem of a definition at a JSON pointer; an `error` prevents publication."""

    path: str
    severity: Literal["error", "warning"]
    code: str
    message: str


class Validation(fields.Answer):
    """All problems of a definition."""

    problems: list[Problem]


class Draft(fields.Resource):
    """A definition that is edited until it is published."""

    questionnaire_id: fields.Id
    base_version_id: fields.Id | None
    revision: int
    definition: dict[str, Any]
    problems: list[Problem]
    length_seconds: int
    screens: int
    updated_time: fields.DateTime
    updated_by: fields.Id | None


class Difference(fields.Resource):
    """One change; `path` points into the later definition, and into the earlier one where something is gone."""

    kind: str
    sentence: str
    path: str
    group_id: fields.Id | None
    question_id: fields.Id | None
    locale: str | None
    member: str | None
    before: Any
    after: Any


class VersionDifference(fields.Answer):
    """All changes from a version to another one, or to the draft."""

    questionnaire_id: fields.Id
    version_id: fields.Id
    compared_id: str
    differences: list[Difference]


@routes.get(DRAFT, scope="Questionnaire.Read", answer=Draft, summary="Get draft")
async def get_draft(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    draft = await service.get(db, **questionnaire.key)
    return await _answer(call, db, questionnaire, draft)


@routes.put(
    DRAFT,
    scope="Questionnaire.Update",
    body=Definition,
    answer=Draft,
    summary="Save draft",
    description=(
        "The whole definition. Groups, questions and rows without an id are given one; those that come back keep "
        "theirs. What is wrong stands in `problems` and does not keep the draft from being saved. 201 where there was "
        "none."
    ),
    depth_max=DEPTH_MAX,
)
async def save_draft(call: Call[Definition], db: Database) -> Answer:
    questionnaire = await access.lock(db, caller=call.caller, **call.ids)
    draft, is_new = await service.save(
        db,
        questionnaire=questionnaire,
        document=msgspec.structs.asdict(call.body),
        caller=call.caller,
        expect=call.expect,
        is_strict=call.strict,
        now=call.now,
    )
    return await _saved(call, db, questionnaire, draft, is_new=is_new)


@routes.post(
    f"{DRAFT}/from/{{version_id}}",
    scope="Questionnaire.Update",
    answer=Draft,
    summary="Begin draft anew from a version",
    description=(
        "The draft gets the definition of this version, whatever it had; `If-Match` refuses it where somebody else "
        "saved meanwhile. Nothing is published. 201 where there was no draft."
    ),
    status=200,
    other_statuses=(201,),
)
async def begin_draft_anew(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.lock(db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"])
    draft, is_new = await service.restore(
        db,
        questionnaire=questionnaire,
        version_id=call.ids["version_id"],
        caller=call.caller,
        expect=call.expect,
        now=call.now,
    )
    return await _saved(call, db, questionnaire, draft, is_new=is_new)


@routes.delete(
    DRAFT,
    scope="Questionnaire.Update",
    summary="Discard draft",
    description="The published version stays as it is; a new draft may begin with its definition.",
)
async def discard_draft(call: Call[None], db: Database) -> None:
    questionnaire = await access.lock(db, caller=call.caller, **call.ids)
    await service.discard(db, questionnaire=questionnaire, expect=call.expect)


@routes.post(
    "/q/questionnaire/validation",
    scope="Questionnaire.Read",
    body=Definition,
    answer=Validation,
    summary="Validate definition",
    description="Nothing is saved. Metadata that jumps ask for may be any: they belong to an application.",
    depth_max=DEPTH_MAX,
    status=200,
)
async def validate_definition(call: Call[Definition], db: Database) -> Answer:  # noqa: ARG001  as all handlers
    found = service.check(msgspec.structs.asdict(call.body), is_strict=call.strict, now=call.now)
    return Answer(Validation(problems=[Problem.of(one, message=str(one.message)) for one in found]))


@routes.get(
    "/q/questionnaire/{questionnaire_id}/version/{version_id}/diff/{compared_id}",
    scope="Questionnaire Version.Read",
    more_scopes=("Questionnaire.Read",),
    answer=VersionDifference,
    summary="Compare versions",
    description=(
        "Each change from the first version to the second, in a sentence and in members. `draft` in place of the "
        "second id compares with the draft, as far as it can be read."
    ),
    texts=("compared_id",),
)
async def compare_versions(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"])
    version_id, compared_id = call.ids["version_id"], call.ids["compared_id"]
    found = await service.compare(db, questionnaire=questionnaire, version_id=version_id, compared_id=compared_id)
    return Answer(
        VersionDifference(
            questionnaire_id=questionnaire.questionnaire_id,
            version_id=version_id,
            compared_id=compared_id,
            differences=[Difference.of(one) for one in found],
        )
    )


async def _saved(
    call: Call[Any], db: Database, questionnaire: Questionnaire, draft: store.Draft, *, is_new: bool
) -> Answer:
    answer = await _answer(call, db, questionnaire, draft)
    if is_new:
        answer.status = 201
        answer.location = f"/q/questionnaire/{questionnaire.questionnaire_id}/draft"
    return answer


async def _answer(call: Call[Any], db: Database, questionnaire: Questionnaire, draft: store.Draft) -> Answer:
    examined = await service.examine(db, questionnaire=questionnaire, draft=draft)
    estimate = length(examined.definition)
    shown = Draft.of(
        draft,
        call.zone,
        definition=drafts.shown(draft.definition),
        problems=[Problem.of(one, message=str(one.message)) for one in examined.findings.found],
        length_seconds=estimate.seconds,
        screens=estimate.screens,
    )
    return Answer(shown, version=draft.revision)
