"""The HTTP interface of questionnaires, with their groups and questions."""

from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from afterword import errors
from afterword.asking.questionnaires import access, exports, files, imports, service, store
from afterword.asking.questionnaires.files import Edition
from afterword.core import foreign
from afterword.core.foreign.parts import BYTES_MAX
from afterword.core.questionnaires import (
    definition as core_definition,
    drafts,
    question_types,
    questions as core_questions,
)
from afterword.core.wire.lists import Rows
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.nouns.declaration import Editable
from afterword.kit.nouns.structs import changes_as, shown_as
from afterword.kit.web import fields, uploads
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.uploads import Upload
from afterword.tenants.organizations import checks
from afterword.tenants.organizations.applications import get_first_application_id

routes = Routes(tag="Questionnaires", scope="Questionnaire")
group_routes = Routes(tag="Questionnaire Groups", scope="Questionnaire Group")
question_routes = Routes(tag="Questions", scope="Question")
version_routes = Routes(tag="Questionnaires", scope="Questionnaire Version")
VERSIONS: Final = "/q/questionnaire/{questionnaire_id}/version"
Note = Annotated[str, Meta(max_length=1000, examples=["Asks for the carrier"])]

if TYPE_CHECKING:  # the checker takes no literals that are made
    QuestionType = ContactField = FileType = Style = str
else:
    QuestionType = Literal[*question_types.TYPES]
    ContactField = Literal[*(name for one in question_types.TYPES.values() for name in one.parts)]
    FileType = Literal[*question_types.FILE_TYPES]
    Style = Literal[*(name for one in question_types.TYPES.values() for name in one.styles if name)]
ValidDays = Annotated[int, Meta(ge=0, le=3650)]
CollapsedCount = Annotated[int, Meta(ge=0, le=200)]
ResponsesMax = Annotated[int, Meta(ge=1, le=10_000_000)]
Name = Annotated[str, Meta(min_length=1, max_length=200, extra=fields.LINE, examples=["After delivery"])]
Title = Annotated[str, Meta(min_length=1, max_length=500, extra=fields.LINE, examples=["Your delivery"])]
FileText = Annotated[str, Meta(min_length=1, max_length=files.REQUEST_CHARACTERS_MAX)]
LibraryName = Annotated[str, Meta(min_length=1, max_length=100, examples=["after_delivery"])]
IconUrl = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2000,
        pattern=r"""^https://[^\s"'<>\\]+(?![\s\S])""",
        examples=["https://example.com/icon.png"],
        extra={"expected": "An https address is expected, without spaces, quotes and angle brackets."},
    ),
]


class QuestionnaireRequest(fields.Request):
    """A questionnaire to create; its draft holds the questions."""

    owner_application_id: fields.Id
    display_name: Annotated[Name, Editable()]
    title: Annotated[Title | None, Editable()] = None
    description: Annotated[fields.Text2000 | None, Editable()] = None
    valid_days: Annotated[ValidDays, Editable()] = 30
    editable: Annotated[bool, Editable()] = False
    template_questionnaire_id: fields.Id | None = None
    library_name: LibraryName | None = None
    file: FileText | None = None
    desktop_collapsed: Annotated[bool, Editable()] = False
    non_collapsed_questions_count: Annotated[CollapsedCount, Editable()] = 1
    key_question_id: Annotated[fields.Id | None, Editable()] = None
    credits_accountable: Annotated[bool, Editable()] = True
    questionnaire_icon_url: Annotated[IconUrl | None, Editable()] = None
    default_locale: fields.LocaleNormal | None = None
    active: Annotated[bool, Editable()] = True
    public_link: Annotated[bool, Editable()] = False
    responses_max: Annotated[ResponsesMax | None, Editable()] = None


QuestionnaireUpdate: Final = changes_as(
    "QuestionnaireUpdate",
    QuestionnaireRequest,
    base=fields.Request,
    about="The members of a questionnaire that may change without a new version.",
    more={},
)


Questionnaire: Final = shown_as(
    "Questionnaire",
    store.Questionnaire,
    types={"locales": list[str]},
    before={"archived_time": {"public_link_url": fields.Computed[str]}},
)


def questionnaire_of(questionnaire: store.Questionnaire, site: Site, zone: tzinfo) -> fields.Resource:
    return Questionnaire.of(
        questionnaire,
        zone,
        public_link_url=site.pages(questionnaire.organization_id).public_link_url(questionnaire.questionnaire_id),
    )


class GroupTranslation(fields.Answer):
    """A group's texts in another language; an absent text falls back to the default locale."""

    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET


class Group(fields.Answer):
    """A group of questions: one page."""

    group_id: fields.Id
    questionnaire_id: fields.Id
    version_id: fields.Id | None
    position: int
    questions_count: fields.Computed[int]
    title: str | None
    description: str | None
    display_name: str | None
    enabled: bool
    translations: dict[str, GroupTranslation]

    @classmethod
    def of(cls, edition: Edition, group_id: str) -> "Group":
        """Raises NotFound."""
        for position, group in enumerate(edition.definition.groups):
            if group.group_id == group_id:
                document = core_definition.group_document(group) | {
                    "questionnaire_id": edition.questionnaire_id,
                    "version_id": edition.version_id,
                    "position": position,
                    "questions_count": len(group.questions),
                }
                return msgspec.convert(document, cls)
        raise errors.NotFound("There is no such group.")


class Choice(fields.Answer):
    """One choice of a question; `other` adds a text field, `exclusive` excludes all other choices."""

    value: int
    label: str
    other: bool
    exclusive: bool
    points: int | UnsetType = UNSET
    picture: str | UnsetType = UNSET


class MatrixRow(fields.Answer):
    """One row of a matrix; its answer is one of the choices."""

    row_id: fields.Id
    label: str


class Jump(fields.Answer):
    """A jump to a question if the conditions hold (null: always); without a target, to the end."""

    target_question_id: fields.Id | None
    conditions: dict[str, Any] | None


class QuestionTranslation(fields.Answer):
    """A question's texts in another language; an absent text falls back to the default locale."""

    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    low_label: str | UnsetType = UNSET
    high_label: str | UnsetType = UNSET
    choices: dict[str, str] | UnsetType = UNSET
    rows: dict[str, str] | UnsetType = UNSET


class Question(fields.Answer):
    """A question. Its type decides which members follow `jumps` and `translations`."""

    question_id: fields.Id
    group_id: fields.Id
    questionnaire_id: fields.Id
    version_id: fields.Id | None
    position: int
    type: QuestionType
    title: str
    description: str | None
    display_name: str | None
    required: bool
    enabled: bool
    display_probability: int
    randomize: bool
    low_label: str | None
    high_label: str | None
    jumps: list[Jump]
    translations: dict[str, QuestionTranslation]
    show_if: dict[str, Any] | UnsetType = UNSET
    scored: bool | UnsetType = UNSET
    scale_min: int | UnsetType = UNSET
    scale_max: int | UnsetType = UNSET
    style: Style | UnsetType = UNSET
    rows: list[MatrixRow] | UnsetType = UNSET
    choices: list[Choice] | UnsetType = UNSET
    choices_min: int | UnsetType = UNSET
    choices_max: int | UnsetType | None = UNSET
    rank_max: int | UnsetType | None = UNSET
    length_max: int | UnsetType = UNSET
    multiline: bool | UnsetType = UNSET
    number_min: int | float | UnsetType | None = UNSET
    number_max: int | float | UnsetType | None = UNSET
    decimals: int | UnsetType = UNSET
    date_min: fields.Date | UnsetType | None = UNSET
    date_max: fields.Date | UnsetType | None = UNSET
    contact_fields: list[ContactField] | UnsetType = UNSET
    file_types: list[FileType] | UnsetType = UNSET
    files_max: int | UnsetType = UNSET
    bytes_max: int | UnsetType = UNSET

    @classmethod
    def of(cls, edition: Edition, question_id: str) -> "Question":
        """Raises NotFound."""
        question = errors.found(edition.definition.question(question_id), "There is no such question.")
        group = edition.definition.group_of(question_id)
        document = core_questions.document_of(question) | {
            "group_id": group.group_id,
            "questionnaire_id": edition.questionnaire_id,
            "version_id": edition.version_id,
            "position": group.questions.index(question),
        }
        return msgspec.convert(document, cls)


class QuestionnaireImportQuery(fields.Request):
    """The application that gets the questionnaire, and its name."""

    owner_application_id: fields.Id | None = None
    display_name: Annotated[str, Meta(max_length=imports.NAME_CHARACTERS_MAX)] = ""
    dry_run: bool = False


class QuestionnaireImport(fields.Answer):
    """A questionnaire of another system as a draft."""

    questionnaire_id: fields.Id | None
    format: str
    questions_count: int
    whole_questions_count: int
    conditions_count: int
    whole_conditions_count: int
    left_out_count: int
    lines: list[exports.FileLine]


@routes.list("/q/questionnaire", answer=Questionnaire, summary="Get all questionnaires")
async def list_questionnaires(call: Call[None], db: Database) -> Answer:
    rows = await store.list_questionnaires(db, **call.caller.part, page=call.page)
    return Answer(rows.map(lambda one: questionnaire_of(one, call.site, call.zone)))


@routes.get("/q/questionnaire/{questionnaire_id}", answer=Questionnaire, summary="Get Questionnaire")
async def get_questionnaire(call: Call[None], db: Database) -> Answer:
    questionnaire = await _questionnaire(call, db)
    return Answer(questionnaire_of(questionnaire, call.site, call.zone), version=questionnaire.version)


@routes.post(
    "/q/questionnaire",
    answer=Questionnaire,
    summary="Create questionnaire",
    description=(
        "With an empty draft, or with what `template_questionnaire_id`, `library_name` or `file` asks; nothing can be "
        "issued before a version is published."
    ),
)
async def create_questionnaire(call: Call[QuestionnaireRequest], db: Database) -> Answer:
    questionnaire = await service.create(
        db, caller=call.caller, settings=msgspec.structs.asdict(call.body), now=call.now
    )
    return Answer(
        questionnaire_of(questionnaire, call.site, call.zone),
        version=questionnaire.version,
        location=f"/q/questionnaire/{questionnaire.questionnaire_id}",
    )


def _foreign_file(upload: Upload, query: QuestionnaireImportQuery) -> imports.ForeignFile:
    return imports.read(upload.content, name=query.display_name or (upload.file_name or "").rpartition(".")[0])


@routes.post(
    "/q/questionnaire/import",
    scope="Questionnaire.Create",
    query=QuestionnaireImportQuery,
    uploads=("application/octet-stream", "application/xml", "application/json", "text/plain", uploads.FORM),
    bytes_max=BYTES_MAX + 10_000,
    prepare=_foreign_file,
    answer=QuestionnaireImport,
    other_statuses=(200,),
    summary="Import questionnaire of another system",
    description=(
        f"A file of {foreign.known()}, at most {BYTES_MAX:,} bytes; its content tells which. It becomes the draft of a "
        "new questionnaire; `lines` tell what was taken, what was taken differently and what was left out, and why."
    ),
)
async def import_questionnaire(call: Call[imports.ForeignFile], db: Database) -> Answer:
    query: QuestionnaireImportQuery = call.query
    caller, file, own = call.caller, call.body, sorted(call.caller.application_ids)
    application_id = query.owner_application_id or (own[0] if own else "")
    application_id = application_id or await get_first_application_id(db, organization_id=caller.organization_id) or ""
    wrong = await checks.reach_errors(db, caller=caller, application_id=application_id)
    errors.check([replace(one, pointer=None, parameter="owner_application_id") for one in wrong])
    if query.dry_run:
        return Answer(_import_answer(None, file), status=200)
    made, _ = await imports.create(
        db, organization_id=caller.organization_id, application_id=application_id, file=file, now=call.now, actor=caller
    )
    return Answer(_import_answer(made.questionnaire_id, file), location=f"/q/questionnaire/{made.questionnaire_id}")


def _import_answer(questionnaire_id: str | None, file: imports.ForeignFile) -> QuestionnaireImport:
    lines = [*map(exports.FileLine.of, file.lines)]
    return QuestionnaireImport(questionnaire_id, file.format, **asdict(file.summary), lines=lines)


@routes.patch(
    "/q/questionnaire/{questionnaire_id}",
    body=QuestionnaireUpdate,
    answer=Questionnaire,
    summary="Update questionnaire",
    description="Its owner and default locale stay; what it asks changes with a new version.",
)
async def change_questionnaire(call: Call[Any], db: Database) -> Answer:
    questionnaire = await service.change(
        db, caller=call.caller, **call.ids, settings=call.body.named(), expect=call.expect, now=call.now
    )
    return Answer(questionnaire_of(questionnaire, call.site, call.zone), version=questionnaire.version)


@routes.delete(
    "/q/questionnaire/{questionnaire_id}",
    summary="Archive questionnaire",
    description="Nothing more is issued, sent or answered; it and its answers stay to be read, with `archived_time`.",
)
async def archive_questionnaire(call: Call[None], db: Database) -> None:
    await service.archive(db, caller=call.caller, **call.ids, expect=call.expect, now=call.now)


@group_routes.list(
    "/q/questionnaire/{questionnaire_id}/group",
    answer=Group,
    shape="array",
    listing=fields.listing_of(Group, order=(("position", "asc"),)),
    summary="Get all questionnaire groups",
    description="Those of the published version, in order; before the first publication those of the draft.",
)
async def list_groups(call: Call[None], db: Database) -> Answer:
    edition = await files.find(db, questionnaire=await _questionnaire(call, db))
    if edition is None:
        return Answer(Rows([]))
    rows = await store.list_group_ids(db, **edition.key, page=call.page)
    return Answer(rows.map(lambda group_id: Group.of(edition, group_id)))


@group_routes.get(
    "/q/questionnaire/{questionnaire_id}/group/{group_id}", answer=Group, summary="Get Questionnaire Group"
)
async def get_group(call: Call[None], db: Database) -> Answer:
    edition = await files.get(db, questionnaire=await _questionnaire(call, db))
    return Answer(Group.of(edition, call.ids["group_id"]), version=edition.revision)


@question_routes.list(
    "/q/questionnaire/{questionnaire_id}/group/{group_id}/question",
    answer=Question,
    shape="array",
    listing=fields.listing_of(Question, order=(("position", "asc"),)),
    summary="Get all group questions",
)
async def list_questions(call: Call[None], db: Database) -> Answer:
    edition = await files.get(db, questionnaire=await _questionnaire(call, db))
    group = Group.of(edition, call.ids["group_id"])
    rows = await store.list_question_ids(db, **edition.key, group_id=group.group_id, page=call.page)
    return Answer(rows.map(lambda question_id: Question.of(edition, question_id)))


@question_routes.get(
    "/q/questionnaire/{questionnaire_id}/question/{question_id}", answer=Question, summary="Get Question"
)
async def get_question(call: Call[None], db: Database) -> Answer:
    edition = await files.get(db, questionnaire=await _questionnaire(call, db))
    return Answer(Question.of(edition, call.ids["question_id"]), version=edition.revision)


async def _questionnaire(call: Call[None], db: Database) -> store.Questionnaire:
    return await access.get(db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"])


class PublicationRequest(fields.Request):
    """The author's note on the new version."""

    note: Note | None = None


QuestionnaireVersion: Final = shown_as("QuestionnaireVersion", store.PublishedVersion)


@version_routes.list(
    VERSIONS,
    answer=QuestionnaireVersion,
    shape="array",
    listing=fields.listing_of(QuestionnaireVersion, order=(("number", "desc"),)),
    summary="Get all questionnaire versions",
)
async def list_versions(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    rows = await store.list_versions(db, **questionnaire.key, page=call.page)
    return Answer(rows.map(lambda version: _version_of(version, call.zone)))


@version_routes.post(
    VERSIONS,
    answer=QuestionnaireVersion,
    summary="Publish draft",
    description=(
        "The draft's errors refuse it, with pointers into the draft. One that says what the published version says "
        "makes no version: 200 and the published one."
    ),
    refusals=("not_ready", "questionnaire_inactive"),
    other_statuses=(200,),
)
async def publish_draft(call: Call[PublicationRequest], db: Database) -> Answer:
    version, is_new = await service.publish(db, caller=call.caller, **call.ids, note=call.body.note, now=call.now)
    path = f"/q/questionnaire/{version.questionnaire_id}/version/{version.version_id}"
    answer = await _version(call, db, version.version_id)
    answer.status, answer.location = (201, path) if is_new else (200, None)
    return answer


@version_routes.get(f"{VERSIONS}/{{version_id}}", answer=QuestionnaireVersion, summary="Get questionnaire version")
async def get_version(call: Call[None], db: Database) -> Answer:
    await access.get(db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"])
    return await _version(call, db, call.ids["version_id"])


async def _version(call: Call[Any], db: Database, version_id: str) -> Answer:
    version = await store.get_published_version(
        db,
        organization_id=call.caller.organization_id,
        questionnaire_id=call.ids["questionnaire_id"],
        version_id=version_id,
    )
    return Answer(_version_of(version, call.zone), version=version.number)


def _version_of(version: store.PublishedVersion, zone: tzinfo) -> fields.Resource:
    return QuestionnaireVersion.of(version, zone, definition=drafts.shown(version.definition))


# One package; the reference lists its families separately.
routes.all.extend([*exports.routes.all, *group_routes.all, *question_routes.all])
