"""Tools that change something, each with a dry run. None erases or exports, and none publishes what it drafted."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.extras.assistants.client import Answer, Api, Refused, wrong_members
from afterword.extras.assistants.tools import Arguments, Change, Go, Id, Moment, declared

ABORTED: Final = 5
NO_DRAFT: Final = -1
Text = Annotated[str, Meta(min_length=1, max_length=4000)]


class Pipeline(Arguments):
    questionnaire_id: Id
    pipeline_id: Id

    @property
    def path(self) -> str:
        return f"/q/questionnaire/{self.questionnaire_id}/pipeline/{self.pipeline_id}"


class Metadata(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    questionnaire: dict[str, Any] = {}
    responder: dict[str, Any] = {}


class ScheduledItem(Pipeline):
    responder_channel_identifier: Annotated[
        str, Meta(min_length=1, max_length=320, description="The person's address.")
    ]
    locale: Annotated[str, Meta(max_length=35)] | None = None
    send_time: Annotated[Moment, Meta(description="When to send; left out: by the pipeline's delay.")] | None = None
    external_reference: Annotated[str, Meta(min_length=1, max_length=100, description="The order's key.")] | None = None
    metadata: Metadata | None = None
    test: Annotated[bool, Meta(description="True: a test, whose message stays in the outbox.")] = False

    @property
    def body(self) -> dict[str, Any]:
        return _given(self, Pipeline.__struct_fields__)


class CancelledItem(Arguments):
    item_id: Id
    why: Annotated[str, Meta(min_length=1, max_length=500, description="Why, for the item's record.")]


class PausedPipeline(Pipeline):
    paused: Annotated[bool, Meta(description="True pauses, false resumes.")]


Definition = Annotated[
    dict[str, Any],
    Meta(
        description="The whole definition, as `read_library` and `read_questionnaire` show it: default_locale, and "
        "groups with questions (type, title, required, options …). Leave ids out of what is new."
    ),
]


class NewQuestionnaire(Arguments):
    display_name: Annotated[str, Meta(min_length=1, max_length=200, description="The name that the team sees.")]
    definition: Definition
    title: Annotated[str, Meta(min_length=1, max_length=500, description="The title that people see.")] | None = None
    application_id: (
        Annotated[Id, Meta(description="Its owner; needed where there are several applications.")] | None
    ) = None


class SavedDraft(Arguments):
    questionnaire_id: Id
    revision: Annotated[
        int,
        Meta(ge=NO_DRAFT, description="The `revision` of the draft that you read; -1 if the questionnaire has none."),
    ]
    definition: Definition


class Comment(Arguments):
    alert_instance_id: Id
    body: Text


class ChangedCase(Arguments):
    alert_instance_id: Id
    status_id: (
        Annotated[int, Meta(ge=1, description="1 New, 2 In progress, 3 Closed, or one of the organization's.")] | None
    ) = None
    assigned_user_id: Id | None = None
    severity: Literal["low", "normal", "high", "critical"] | None = None
    cause: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    remedy: Annotated[str, Meta(min_length=1, max_length=100)] | None = None

    @property
    def body(self) -> dict[str, Any]:
        return _given(self, ("alert_instance_id",))


def _given(asked: Arguments, ids: Sequence[str]) -> dict[str, Any]:
    """The arguments that were given, but for these."""
    given: dict[str, Any] = msgspec.to_builtins(asked)
    return {name: value for name, value in given.items() if name not in ids and value is not None}


async def _preview_item(api: Api, asked: ScheduledItem) -> Answer:
    [row] = (await api.send("POST", f"{asked.path}/queue/item/simulate", [asked.body])).document["results"]
    if not row["valid"]:
        raise Refused("\n".join([row["problem"]["detail"], *wrong_members(row["problem"])]))
    return Answer({name: value for name, value in row.items() if name not in {"row", "valid", "problem"}})


async def _schedule_item(api: Api, asked: ScheduledItem, go: Go) -> Any:
    return (await api.send("POST", f"{asked.path}/queue/item", asked.body, key=go.key)).document


async def _preview_cancel(api: Api, asked: CancelledItem) -> Answer:
    item = await api.get(f"/q/queue/item/{asked.item_id}")
    return Answer(
        {"item": item.document, "planned": "The item is cancelled, if it is not being sent by then."}, item.version
    )


async def _cancel_item(api: Api, asked: CancelledItem, go: Go) -> Any:
    body = {"status_id": ABORTED, "result": asked.why}
    return (await api.send("PATCH", f"/q/queue/item/{asked.item_id}", body, version=go.version)).document


async def _preview_pause(api: Api, asked: PausedPipeline) -> Answer:
    pipeline = await api.get(asked.path)
    waiting = await api.get("/q/queue/count", {"pipeline_id": asked.pipeline_id, "status_id[]": [1, 2]})
    return Answer(
        {
            "pipeline_id": asked.pipeline_id,
            "title": pipeline.document["title"],
            "paused_now": pipeline.document["paused"],
            "paused_then": asked.paused,
            "waiting": waiting.document,
        },
        pipeline.version,
    )


async def _pause_pipeline(api: Api, asked: PausedPipeline, go: Go) -> Any:
    changed = (await api.send("PATCH", asked.path, {"paused": asked.paused}, version=go.version)).document
    return {name: changed[name] for name in ("pipeline_id", "title", "paused", "state")}


async def _check(api: Api, definition: dict[str, Any]) -> list[Any]:
    """The remarks on a definition. Raises Refused where one is an error."""
    problems = (await api.send("POST", "/q/questionnaire/validation", definition)).document["problems"]
    wrong = [f"{problem['path']}: {problem['message']}" for problem in problems if problem["severity"] == "error"]
    if wrong:
        raise Refused("\n".join(["The definition is wrong.", *wrong]))
    return problems


async def _application_of(api: Api, asked: NewQuestionnaire) -> str:
    if asked.application_id is not None:
        return asked.application_id
    found = (await api.get("/application", {"limit": 2})).document["results"]
    if len(found) != 1:
        raise Refused("There is not exactly one application: give `application_id`.")
    return found[0]["application_id"]


async def _preview_questionnaire(api: Api, asked: NewQuestionnaire) -> Answer:
    application_id = await _application_of(api, asked)
    remarks = await _check(api, asked.definition)
    plan = "A questionnaire with this draft is made. Nobody can be asked with it before a person publishes it."
    return Answer({"planned": plan, "application_id": application_id, "remarks": remarks})


async def _draft_questionnaire(api: Api, asked: NewQuestionnaire, go: Go) -> Any:
    body = {
        "owner_application_id": await _application_of(api, asked),
        "display_name": asked.display_name,
        "title": asked.title,
        "default_locale": asked.definition.get("default_locale"),
    }
    given = {name: value for name, value in body.items() if value is not None}
    made = (await api.send("POST", "/q/questionnaire", given, key=go.key)).document
    path = f"/q/questionnaire/{made['questionnaire_id']}/draft"
    draft = (await api.send("PUT", path, asked.definition)).document
    return {"questionnaire_id": made["questionnaire_id"], "problems": draft["problems"]}


async def _preview_draft(api: Api, asked: SavedDraft) -> Answer:
    path = f"/q/questionnaire/{asked.questionnaire_id}"
    found = (await api.get(path)).document
    if asked.revision != NO_DRAFT:
        revision = (await api.get(f"{path}/draft")).document["revision"]
        if revision != asked.revision:
            raise Refused(f"Somebody changed the draft: it has revision {revision} now. Read it again.")
    remarks = await _check(api, asked.definition)
    plan = "The draft is replaced by this definition. The published version stays as it is."
    return Answer({"planned": plan, "display_name": found["display_name"], "remarks": remarks})


async def _save_draft(api: Api, asked: SavedDraft, _go: Go) -> Any:
    path = f"/q/questionnaire/{asked.questionnaire_id}/draft"
    saved = (await api.send("PUT", path, asked.definition, version=f'"{asked.revision}"')).document
    return {"revision": saved["revision"], "problems": saved["problems"]}


async def _preview_comment(api: Api, asked: Comment) -> Answer:
    case = await api.get(f"/alert/instance/{asked.alert_instance_id}")
    return Answer(
        {"case": case.document, "planned": "The comment is added for the team. The customer does not see it."}
    )


async def _comment_case(api: Api, asked: Comment, go: Go) -> Any:
    path = f"/alert/instance/{asked.alert_instance_id}/comment"
    return (await api.send("POST", path, {"body": asked.body}, key=go.key)).document


async def _preview_case(api: Api, asked: ChangedCase) -> Answer:
    if not asked.body:
        raise Refused("Give at least one member to change: status_id, assigned_user_id, severity, cause, remedy.")
    case = await api.get(f"/alert/instance/{asked.alert_instance_id}")
    return Answer({"case": case.document, "changes": asked.body}, case.version)


async def _change_case(api: Api, asked: ChangedCase, go: Go) -> Any:
    path = f"/alert/instance/{asked.alert_instance_id}"
    return (await api.send("PATCH", path, asked.body, version=go.version)).document


TOOLS: Final = (
    declared("schedule_item", ScheduledItem, Change(_preview_item, _schedule_item)),
    declared("cancel_item", CancelledItem, Change(_preview_cancel, _cancel_item)),
    declared("pause_pipeline", PausedPipeline, Change(_preview_pause, _pause_pipeline)),
    declared("draft_questionnaire", NewQuestionnaire, Change(_preview_questionnaire, _draft_questionnaire)),
    declared("save_draft", SavedDraft, Change(_preview_draft, _save_draft)),
    declared("comment_case", Comment, Change(_preview_comment, _comment_case)),
    declared("change_case", ChangedCase, Change(_preview_case, _change_case)),
)
