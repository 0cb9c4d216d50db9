"""The HTTP interface of questionnaire instances: issue, read, change, delete, read answers."""

import random
from collections.abc import Sequence
from datetime import tzinfo
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from afterword import errors
from afterword.asking.instances import (
    anonymity,
    answers,
    files,
    issuing,
    quotas,
    resources,
    responders,
    service,
    store,
    tags,
    triggers,
    values,
)
from afterword.asking.instances.anonymity import TOGETHER_MIN
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.resources import (
    INSTANCES,
    ConditionTest,
    ConditionTestResult,
    InstanceContent,
    InstanceUrl,
    InstanceWithChildren,
    LeafResult,
    QuestionnaireInstance,
    ResponseAnswer,
    ResponseContent,
    ResponseMetadata,
    instance_of,
    shown_of,
)
from afterword.asking.questionnaires import access, metadata as metadata_service, store as questionnaires_store
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.answers import instances as core_instances
from afterword.core.answers.files import EXTENSIONS
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions, endings, metadata
from afterword.core.questionnaires.definition import Definition, content
from afterword.core.questionnaires.metadata import Declared
from afterword.core.text import locales
from afterword.core.wire import times
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.people.responders import store as responders_store

routes = Routes(tag="Questionnaire Instances", scope="Questionnaire Instance")
simplified = Routes(tag="Questionnaire Instances - Simplified", scope="Questionnaire Instance")
questions = Routes(tag="Questions")
of_questionnaires = Routes(tag="Questionnaires", scope="Questionnaire")

ValidDays = Annotated[int, Meta(ge=0, le=core_instances.VALID_DAYS_MAX)]
ReferenceId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=r"^[A-Za-z0-9._~-]+(?![\s\S])",
        extra={"expected": "Only letters, digits and . _ ~ - are expected, because this is part of an address."},
    ),
]
REFUSALS = "application_inactive", "questionnaire_not_published", "questionnaire_inactive", "questionnaire_closed"


class Quota(fields.Answer):
    """An ending with `responses_max`, and the complete responses that count toward it."""

    ending_id: Annotated[fields.Id, Meta(description="The ending, which is the quota's id in `full_quota_id` too.")]
    title: Annotated[str, Meta(description="Its title, else the beginning of its text.")]
    responses_max: Annotated[int, Meta(description="From this number on, people whose answers match see the ending.")]
    responses_count: Annotated[int, Meta(description="Complete responses that count toward it, up to `responses_max`.")]


class Anonymity(fields.Answer):
    """The anonymity of a questionnaire, and the answers to it that nobody can see yet."""

    anonymous: Annotated[bool, Meta(description="Whether invitations that are issued now are anonymous.")]
    waiting_count: Annotated[int, Meta(description="Answers that wait for those of others, of all versions.")]
    together_min: Annotated[int, Meta(description="So many answers to one version become responses at once.")]


class InstanceRequest(fields.Request):
    """An instance to issue; every member is optional."""

    responder_id: fields.Id | None = None
    locale: fields.Locale | None = None
    valid_days: ValidDays | None = None
    editable: bool | None = None
    sent_time: fields.Moment | None = None
    delivered_time: fields.Moment | None = None
    metadata: fields.MetadataGroups | None = None
    reference_id: ReferenceId | None = None


class InstanceUpdate(fields.Request):
    """The members of an instance that may change, in every state."""

    responder_id: fields.Id | UnsetType = UNSET
    locale: fields.Locale | UnsetType = UNSET
    valid_days: ValidDays | UnsetType = UNSET
    editable: bool | UnsetType = UNSET
    metadata: fields.MetadataAny | UnsetType = UNSET


@routes.post(
    "/q/questionnaire/{questionnaire_id}/instance",
    answer=QuestionnaireInstance,
    summary="Create new questionnaire instance",
    description="With a `reference_id` that has an instance already: 200 and that one, unchanged.",
    refusals=REFUSALS,
    other_statuses=(200,),
)
async def issue_instance(call: Call[InstanceRequest], db: Database) -> Answer:
    instance, is_new = await issuing.issue(
        db,
        caller=call.caller,
        **call.ids,
        request=_issue_input(call, await _declared(call, db)),
        now=call.now,
        secret=call.site.secret,
        draw=random.random,
    )
    return Answer(
        instance_of(instance, call.public_pages, call.zone),
        version=instance.version,
        location=f"/q/instance/{instance.instance_id}" if is_new else None,
        status=None if is_new else 200,
    )


@routes.list(
    "/q/questionnaire/{questionnaire_id}/instance",
    answer=QuestionnaireInstance,
    listing=INSTANCES,
    summary="Get Questionnaire Instance List by questionnaire id",
)
async def list_questionnaire_instances(call: Call[None], db: Database) -> Answer:
    rows = await _instances_of_questionnaire(call, db)
    return Answer(rows.map(lambda one: instance_of(one, call.public_pages, call.zone)))


@routes.list(
    "/q/questionnaire/{questionnaire_id}/instance/children",
    answer=InstanceWithChildren,
    listing=INSTANCES,
    summary="Get Questionnaire Instance List with its children",
    description="Children were issued because of the instance, by a sequence: at most 100 each, 5 generations down.",
)
async def list_instances_with_children(call: Call[None], db: Database) -> Answer:
    rows = await _instances_of_questionnaire(call, db)
    descendants = await store.list_descendants(
        db,
        **call.caller.reach,
        instance_ids=[instance.instance_id for instance in rows.items],
        depth_max=resources.DEPTH_MAX,
        children_max=resources.CHILDREN_MAX,
        limit=resources.DESCENDANTS_MAX,
    )
    children = resources.children_of(descendants)
    return Answer(
        rows.map(lambda instance: InstanceWithChildren.tree(instance, children, call.public_pages, call.zone))
    )


@routes.post(
    "/q/questionnaire/{questionnaire_id}/condition/test",
    scope="Questionnaire Instance.Read",
    answer=ConditionTestResult,
    status=200,
    summary="Test conditions",
    description="Tries conditions on a past response of the questionnaire; nothing is kept.",
)
async def try_conditions(call: Call[ConditionTest], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    instance_id, document = call.body.instance_id, call.body.conditions
    node, known = await triggers.read_conditions(
        db, caller=call.caller, questionnaire=questionnaire, instance_id=instance_id, document=document
    )
    leaves = [LeafResult(**leaf.document) for leaf in conditions.leaves(node, known)]
    return Answer(ConditionTestResult(matches=conditions.matches(node, known), leaves=leaves))


@simplified.list(
    "/q/organization/{organization_id}/instance",
    answer=QuestionnaireInstance,
    listing=INSTANCES,
    summary="Get Questionnaire Instance List by Organization",
)
async def list_organization_instances(call: Call[None], db: Database) -> object:
    return await list_instances(call, db)


@simplified.list(
    "/q/instance", answer=QuestionnaireInstance, listing=INSTANCES, summary="Get Questionnaire Instance List"
)
async def list_instances(call: Call[None], db: Database) -> Answer:
    rows = await store.list_instances(db, **call.caller.reach, page=call.page)
    return Answer(rows.map(lambda one: instance_of(one, call.public_pages, call.zone)))


@simplified.get(
    "/q/instance/{instance_id}",
    for_limited="part",
    answer=QuestionnaireInstance,
    gathers=True,
    summary="Get Questionnaire Instance",
)
async def get_instance(call: Call[None], db: Database) -> Answer:
    caller = call.caller
    found = await store.get_shown_instance(db, **caller.sight, **call.ids)
    row = errors.found(found, service.NO_INSTANCE)
    return Answer(shown_of(row, call.site.pages(caller.organization_id), call.zone), version=row["version"])


@simplified.patch(
    "/q/instance/{instance_id}",
    answer=QuestionnaireInstance,
    summary="Update Questionnaire Instance",
    description="In every state; only what the body names. Metadata is merged by name, null or empty text removes.",
    refusals=("on_hold",),
)
async def update_instance(call: Call[InstanceUpdate], db: Database) -> Answer:
    instance = await service.update(
        db, caller=call.caller, **call.ids, change=await _change(call, db), now=call.now, expect=call.expect
    )
    return Answer(instance_of(instance, call.public_pages, call.zone), version=instance.version)


@simplified.delete("/q/instance/{instance_id}", summary="Delete Questionnaire Instance", refusals=("on_hold",))
async def delete_instance(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, now=call.now, expect=call.expect)


@simplified.get("/q/instance/{instance_id}/url", answer=InstanceUrl, summary="Get Questionnaire Instance Url")
async def get_instance_url(call: Call[None], db: Database) -> Answer:
    instance = await service.get(db, caller=call.caller, **call.ids)
    url = InstanceUrl.of(
        instance,
        call.zone,
        **resources.addresses_of(instance, call.public_pages),
        expires_time=times.format_optional(core_instances.expires_time(instance), zone=call.zone),
    )
    return Answer(url, version=instance.version)


@simplified.get(
    "/q/instance/{instance_id}/content",
    for_limited="part",
    answer=InstanceContent,
    summary="Get Questionnaire Instance Content",
)
async def get_instance_content(call: Call[None], db: Database) -> Answer:
    instance = await service.get(db, caller=call.caller, **call.ids)
    version = await questionnaires_store.get_version(db, **instance.version_key)
    questionnaire, _ = await store.get_questionnaire_and_metadata(
        db, **instance.questionnaire_key, responder_id=instance.responder_id
    )
    definition, locale = version.definition, instance.locale
    shown: dict[str, Any] = content(
        definition,
        locale,
        question_ids=instance.question_ids,
        instance_id=instance.instance_id,
        questionnaire_id=instance.questionnaire_id,
        version_id=instance.version_id,
    )
    return Answer(
        InstanceContent.of(
            instance,
            call.zone,
            direction=locales.direction(locale),
            title=definition.texts(locale).title or questionnaire.title,
            description=definition.texts(locale).description or questionnaire.description,
            groups=shown["groups"],
            pages=shown["pages"],
            visual=questionnaire.configuration,
            expires_time=times.format_optional(core_instances.expires_time(instance), zone=call.zone),
            open=await answers.takes_answers(db, instance=instance, issuable=questionnaire, now=call.now),
        )
    )


@simplified.get(
    "/q/instance/{instance_id}/response/content",
    for_limited="part",
    answer=ResponseContent,
    summary="Get Questionnaire Instance Response Content",
    description="Values of metadata need Questionnaire Value.Read and Responder Value.Read, else their maps are empty.",
)
async def get_response_content(call: Call[None], db: Database) -> Answer:
    instance = await service.get(db, caller=call.caller, **call.ids)
    [content] = await contents_of(db, instances=[instance], caller=call.caller, zone=call.zone)
    return Answer(content)


@simplified.get(
    "/q/instance/{instance_id}/file/{file_id}",
    for_limited="part",
    media_types=tuple(EXTENSIONS),
    summary="Get file of a response",
    description=(
        "A file that answers a question of the type `file`; `value` of the answer lists its `file_id`. People sent it: "
        "its kind was checked by its content, and pictures were encoded again, but open it as you would any "
        "attachment. The audit log notes who took it."
    ),
)
async def get_file(call: Call[None], db: Database) -> Answer:
    instance = await service.get(db, caller=call.caller, instance_id=call.ids["instance_id"])
    file_id = call.ids["file_id"]
    found = await files.download(
        db, caller=call.caller, instance=instance, file_id=file_id, site=call.site, now=call.now
    )
    return Answer(download=found)


async def contents_of(
    db: Database, *, instances: Sequence[store.Instance], caller: Caller, zone: tzinfo
) -> list[ResponseContent]:
    """The contents of responses of the caller's organization, in their order."""
    stored: dict[str, list[answers.Answer]] = {}
    for answer in await answers.list_answers_of_instances(
        db, organization_id=caller.organization_id, instance_ids=[each.instance_id for each in instances]
    ):
        stored.setdefault(answer.instance_id, []).append(answer)
    people: dict[str, dict[str, str]] = {}
    if "Responder Value.Read" in caller.scopes:
        keys = sorted({(caller.organization_id, each.responder_id) for each in instances})
        people = {one.responder_id: one.metadata for one in await responders_store.list_responders(db, keys=keys)}
    found: list[ResponseContent] = []
    for instance in instances:
        version = await questionnaires_store.get_version(db, **instance.version_key)
        given = {
            answer.question_id: ResponseAnswer.shown(answer, version=version, locale=instance.locale, zone=zone)
            for answer in stored.get(instance.instance_id, ())
        }
        asked = [q for q in version.definition.questions() if q.question_id in instance.question_ids and q.is_answered]
        metadata = ResponseMetadata(
            questionnaire=instance.metadata if "Questionnaire Value.Read" in caller.scopes else {},
            responder=people.get(instance.responder_id, {}),
        )
        content = ResponseContent.of(
            instance,
            zone,
            answers=[given[question.question_id] for question in asked if question.question_id in given],
            skipped_question_ids=[q.question_id for q in asked if q.question_id not in given],
            metadata=metadata,
        )
        found.append(content)
    return found


@questions.list(
    "/q/questionnaire/{questionnaire_id}/question/{question_id}/response/content",
    scope="Questionnaire Instance.Read",
    answer=ResponseAnswer,
    listing=fields.listing_of(ResponseAnswer, order=(("answered_time", "desc"),), id="instance_id"),
    summary="Get Question Response Content",
)
async def list_question_answers(call: Call[None], db: Database) -> Answer:
    await access.get(db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"])
    own = {"organization_id": call.caller.organization_id}
    key = {**own, **call.ids}
    errors.found(await questionnaires_store.get_question_version_id(db, **key), "There is no such question.")
    rows = await answers.list_answers_of_question(db, **key, test_only=call.caller.test, page=call.page)
    versions = {
        version_id: await questionnaires_store.get_version(db, **own, version_id=version_id)
        for version_id in {answer.version_id for answer, _ in rows.items}
    }
    return Answer(
        rows.map(
            lambda row: ResponseAnswer.shown(row[0], version=versions[row[0].version_id], locale=row[1], zone=call.zone)
        )
    )


@of_questionnaires.get(
    "/q/questionnaire/{questionnaire_id}/quota",
    answer=Quota,
    shape="array",
    summary="Get quotas of a questionnaire",
    description=(
        "Those of the published version. A response counts once it is complete, with the answers that it has then; "
        "tests, and those held back or rejected, do not."
    ),
)
async def list_quotas(call: Call[None], db: Database) -> Answer:
    questionnaire, definition = await _published(call, db)
    if definition is None:
        return Answer([])
    found = await quotas.places(db, organization_id=questionnaire.organization_id, definition=definition)
    return Answer(
        [
            Quota(
                ending_id=one.ending_id,
                title=endings.name_of(one),
                responses_max=one.responses_max or 0,
                responses_count=count,
            )
            for one, count in found
        ]
    )


@of_questionnaires.get(
    "/q/questionnaire/{questionnaire_id}/anonymity",
    answer=Anonymity,
    summary="Get anonymity of a questionnaire",
    description="Set it with `anonymous` in the draft. Instances keep that of the version with which they were issued.",
)
async def get_anonymity(call: Call[None], db: Database) -> Answer:
    questionnaire, definition = await _published(call, db)
    return Answer(
        Anonymity(
            anonymous=definition is not None and definition.anonymous,
            waiting_count=await anonymity.count_waiting(db, **questionnaire.key),
            together_min=TOGETHER_MIN,
        )
    )


# One package; the reference lists its families separately.
routes.all += [
    *simplified.all, *questions.all, *values.routes.all, *tags.routes.all,
    *responders.routes.all,
]  # fmt: skip


async def _published(call: Call[None], db: Database) -> tuple[Questionnaire, Definition | None]:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    version = await access.published(db, questionnaire)
    return questionnaire, version.definition if version else None


async def _instances_of_questionnaire(call: Call[None], db: Database) -> Rows[store.ShownInstance]:
    key, test_only = (await access.get(db, caller=call.caller, **call.ids)).key, call.caller.test
    return await store.list_instances_of_questionnaire(db, **key, test_only=test_only, page=call.page)


def _issue_input(call: Call[InstanceRequest], declared: Declared) -> IssueInput:
    members: dict[str, Any] = msgspec.structs.asdict(call.body)
    for name in ("sent_time", "delivered_time"):
        members[name] = members[name] and members[name].instant
    groups = {} if call.body.metadata is None else call.body.metadata.named()
    members["metadata"] = metadata.changes_of(groups, declared=declared, strict=call.strict)
    return IssueInput(**members)


async def _declared(call: Call[Any], db: Database) -> Declared:
    if not call.strict:
        return metadata.GLOBAL
    return await metadata_service.declared_of(db, **call.caller.part, questionnaire_id=call.ids["questionnaire_id"])


async def _change(call: Call[InstanceUpdate], db: Database) -> service.Change:
    members = call.body.named()
    if given := members.pop("metadata", None):
        instance = await service.get(db, caller=call.caller, **call.ids)
        declared = await metadata_service.declared_of(db, **instance.questionnaire_key)
        members["metadata"] = metadata.changes_of(given, declared=declared, strict=call.strict)
    return service.Change(**members, is_strict=call.strict)
