"""Builds new instances from the request, the questionnaire's settings and its published version."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from afterword import errors, ids
from afterword.core.answers import progress as core_answers
from afterword.core.questionnaires.metadata import Changes, merge
from afterword.core.text import locales
from afterword.db import Database
from afterword.events.service import Actor
from afterword.instances import store
from afterword.instances.store import Instance, Issuable
from afterword.organizations.plans import store as plans
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.store import Version

Draw = Callable[[], float]  # uniform in [0, 1); decides which questions are drawn


class NotPublished(errors.Conflict):
    """Nothing can be issued before a version is published."""

    code_default = "questionnaire_not_published"


class Inactive(errors.Conflict):
    """An inactive or archived questionnaire takes no instances, messages or answers."""

    code_default = "questionnaire_inactive"


class ApplicationInactive(Inactive):
    """Of an inactive application nothing is issued; what was issued is answered."""

    code_default = "application_inactive"


class Closed(errors.Conflict):
    """`responses_max` is reached."""

    code_default = "questionnaire_closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueInput:
    """A request for an instance; None takes the questionnaire's setting."""

    instance_id: str | None = None  # of a public link, so that a form sent twice makes one instance
    responder_id: str | None = None
    locale: str | None = None
    valid_days: int | None = None
    editable: bool | None = None
    sent_time: datetime | None = None
    delivered_time: datetime | None = None
    reference_id: str | None = None
    metadata: Changes = field(default_factory=Changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemIssueInput:
    """A request for the instance of a queue item; `metadata` are the questionnaire's, `locale` may be any tag."""

    organization_id: str
    item_id: str
    channel_id: int
    pipeline_id: str
    questionnaire_id: str
    responder_id: str
    locale: str | None
    metadata: Mapping[str, str]
    test: bool = False
    previous_questionnaire_instance_id: str | None = None


async def get_issuable(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    application_ids: Sequence[str] = (),
) -> Issuable:
    """The questionnaire's settings; raises NotFound, also for another application's."""
    found = await store.list_issuables(db, questionnaires=[(organization_id, questionnaire_id)])
    if not found or (application_ids and found[0].owner_application_id not in application_ids):
        raise errors.NotFound("There is no such questionnaire.")
    return found[0]


async def version_to_issue(db: Database, *, issuable: Issuable) -> Version:
    """The published version; raises Inactive, NotPublished, Closed."""
    if not issuable.is_active:
        raise Inactive("This questionnaire is not active.")
    if not issuable.application_active:
        raise ApplicationInactive("The application of this questionnaire is not active.")
    if issuable.published_version_id is None:
        raise NotPublished("This questionnaire has no published version.")
    await require_capacity(db, issuable=issuable)
    return await questionnaires_store.get_version(
        db, organization_id=issuable.organization_id, version_id=issuable.published_version_id
    )


async def version_to_start(db: Database, *, issuable: Issuable) -> Version:
    """As version_to_issue, for a public link; also raises NotFound without one, and Closed without credits."""
    if not issuable.public_link:
        raise errors.NotFound("There is no such questionnaire.")
    version = await version_to_issue(db, issuable=issuable)
    if issuable.credits_accountable and not await plans.get_has_credits(
        db, organization_id=issuable.organization_id, application_id=issuable.owner_application_id
    ):
        raise Closed("There are no credits for this questionnaire at the moment.")
    return version


async def versions_to_issue(
    db: Database, *, items: Sequence[ItemIssueInput]
) -> dict[tuple[str, str], tuple[Issuable, Version]]:
    """Settings and published version by organization and questionnaire; those without a version are left out."""
    keys = list(dict.fromkeys((item.organization_id, item.questionnaire_id) for item in items))
    return {
        (issuable.organization_id, issuable.questionnaire_id): (
            issuable,
            await questionnaires_store.get_version(
                db, organization_id=issuable.organization_id, version_id=issuable.published_version_id
            ),
        )
        for issuable in await store.list_issuables(db, questionnaires=keys)
        if issuable.published_version_id is not None
    }


async def require_capacity(db: Database, *, issuable: Issuable) -> None:
    """Raise Closed when `responses_max` is reached."""
    if issuable.responses_max is None:
        return
    count = await store.count_responses(
        db,
        organization_id=issuable.organization_id,
        questionnaire_id=issuable.questionnaire_id,
        limit=issuable.responses_max,
    )
    if count >= issuable.responses_max:
        raise Closed("This questionnaire takes no more responses.")


def new_instance(
    issuable: Issuable,
    version: Version,
    request: IssueInput,
    *,
    responder_id: str,
    now: datetime,
    draw: Draw,
    actor: Actor,
    item: ItemIssueInput | None = None,
    test: bool = False,
) -> Instance:
    """The instance to insert; the questionnaire's settings complete the request."""
    definition = version.definition
    by = actor.id if actor.kind in {"user", "token"} else None
    return Instance(
        organization_id=issuable.organization_id,
        instance_id=request.instance_id or ids.secret(),
        questionnaire_id=issuable.questionnaire_id,
        version_id=version.version_id,
        responder_id=responder_id,
        item_id=item and item.item_id,
        channel_id=item and item.channel_id,
        pipeline_id=item and item.pipeline_id,
        reference_id=request.reference_id,
        previous_questionnaire_instance_id=item and item.previous_questionnaire_instance_id,
        short_code=ids.short_code(),
        test=test,
        locale=locales.match(request.locale, definition.locales, definition.default_locale),
        valid_days=issuable.valid_days if request.valid_days is None else request.valid_days,
        editable=issuable.editable if request.editable is None else request.editable,
        finalized=False,
        question_ids=core_answers.draw_questions(definition, draw=draw),
        metadata=merge({}, request.metadata.questionnaire),
        sent_time=request.sent_time,
        delivered_time=request.delivered_time,
        viewed_time=None,
        submitted_time=None,
        completed_time=None,
        processed_time=None,
        flow_time=None,
        deleted_time=None,
        version=1,
        created_time=now,
        updated_time=now,
        created_by=by,
        updated_by=by,
    )
