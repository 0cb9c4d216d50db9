"""The resources of questionnaire instances and their answers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any, Final, Literal

import msgspec

from afterword.asking.instances import store
from afterword.asking.instances.answers import Answer
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires.store import Version
from afterword.core.answers import values
from afterword.core.questionnaires.questions import localized
from afterword.core.wire.site import PublicPages
from afterword.kit.db import Row
from afterword.kit.web import fields

DEPTH_MAX: Final = 5  # generations below an instance
CHILDREN_MAX: Final = 100  # of one instance
DESCENDANTS_MAX: Final = 10_000  # of a page; beyond, the furthest generations are left out

Children = Mapping[str, Sequence[Instance]]


def children_of(descendants: Sequence[Instance]) -> Children:
    """Children by parent instance, the oldest first; each appears once."""
    found: defaultdict[str, list[Instance]] = defaultdict(list)
    known = {instance.instance_id: instance for instance in descendants}
    for instance in sorted(known.values(), key=lambda each: (each.created_time, each.instance_id)):
        found[instance.previous_questionnaire_instance_id or ""].append(instance)
    return found


class QuestionnaireInstance(fields.Resource):
    """One issue of a questionnaire to a responder."""

    instance_id: fields.Id
    questionnaire_id: fields.Id
    responder_id: fields.Id
    locale: str
    valid_days: int
    editable: bool
    finalized: bool
    created_time: fields.DateTime
    updated_time: fields.DateTime
    sent_time: fields.DateTime | None
    delivered_time: fields.DateTime | None
    viewed_time: fields.DateTime | None
    submitted_time: fields.DateTime | None
    completed_time: fields.DateTime | None
    collection_url: fields.Computed[str]
    question_ids: fields.Computed[str]
    processed_time: fields.DateTime | None
    flow_time: fields.DateTime | None
    created_by: fields.Id | None
    updated_by: fields.Id | None
    full_quota_id: fields.Id | None
    anonymity: Literal["invitation", "response"] | None
    collection_url_short: fields.Computed[str]
    collection_url_long: fields.Computed[str]


INSTANCES: Final = fields.listing_of(QuestionnaireInstance, more=("question_ids", "short_code"))


class HeldInstance(QuestionnaireInstance):
    """An instance as long as it is held, also after it was deleted."""

    deleted_time: fields.DateTime | None


def instance_of(instance: store.ShownInstance, pages: PublicPages, zone: tzinfo) -> QuestionnaireInstance:
    return QuestionnaireInstance.of(instance, zone, **_members(instance, pages))


def shown_of(row: Row, pages: PublicPages, zone: tzinfo) -> QuestionnaireInstance:
    """Of a row of `store.get_shown_instance`."""
    [shown] = QuestionnaireInstance.of_columns([row], zone)
    shown.collection_url = shown.collection_url_long = pages.collection_url(shown.instance_id)
    shown.collection_url_short = pages.short_url(shown.collection_url_short)
    return shown


def held_instance_of(instance: store.Instance, pages: PublicPages, zone: tzinfo) -> HeldInstance:
    return HeldInstance.of(instance, zone, **_members(instance, pages))


def _members(instance: store.ShownInstance, pages: PublicPages) -> dict[str, str]:
    return {**addresses_of(instance, pages), "question_ids": ",".join(instance.question_ids)}


def addresses_of(instance: store.ShownInstance, pages: PublicPages) -> dict[str, str]:
    url, short = pages.collection_url(instance.instance_id), pages.short_url(instance.short_code)
    return {"collection_url": url, "collection_url_short": short, "collection_url_long": url}


class InstanceWithChildren(QuestionnaireInstance):
    """An instance with its children: those issued because of it, of any questionnaire, and so on."""

    children: "list[InstanceWithChildren]"

    @classmethod
    def tree(
        cls,
        instance: store.ShownInstance,
        children: Children,
        pages: PublicPages,
        zone: tzinfo,
        *,
        depth: int = DEPTH_MAX,
    ) -> "InstanceWithChildren":
        below = children.get(instance.instance_id, ()) if depth else ()
        return cls(
            **msgspec.structs.asdict(instance_of(instance, pages, zone)),
            children=[cls.tree(child, children, pages, zone, depth=depth - 1) for child in below],
        )


class ConditionTest(fields.Request):
    """Conditions to test on a response; without conditions every response matches."""

    instance_id: fields.Id
    conditions: dict[str, Any] | None = None


class LeafResult(fields.Answer):
    """The operands and the result of one comparison."""

    subject: str
    operator: str
    value: Any
    actual: Any
    matches: bool


class ConditionTestResult(fields.Answer):
    """The result of the conditions, and of each comparison in them."""

    matches: bool
    leaves: list[LeafResult]


class InstanceUrl(fields.Resource):
    """The addresses of the answer page, and the time when it expires."""

    instance_id: fields.Id
    collection_url: str
    collection_url_short: str
    collection_url_long: str
    expires_time: fields.DateTime | None


class InstanceContent(fields.Resource):
    """The questionnaire as the responder sees it, in the instance's language."""

    instance_id: fields.Id
    questionnaire_id: fields.Id
    version_id: fields.Id
    locale: str
    direction: str
    title: str | None
    description: str | None
    groups: list[dict[str, Any]]
    pages: dict[str, str | None]
    visual: dict[str, Any] | None
    expires_time: fields.DateTime | None
    open: bool


class ResponseFile(fields.Answer):
    """A file that answers a question."""

    file_id: fields.Id
    name: str
    type: str
    bytes: int


class ResponseAnswer(fields.Resource):
    """The answer to one question; the type of `value` depends on the question."""

    instance_id: fields.Id
    question_id: fields.Computed[fields.Id]
    group_id: fields.Computed[fields.Id]
    version_id: fields.Id
    type: fields.Computed[str]
    title: fields.Computed[str]
    display_name: fields.Computed[str | None]
    value: bool | int | float | str | list[int | ResponseFile] | dict[str, int | str]
    label: fields.Computed[str | None]
    other_text: str | None
    segment: fields.Computed[str | None]
    answered_time: fields.DateTime
    provisional: bool

    @classmethod
    def shown(cls, answer: Answer, *, version: Version, locale: str, zone: tzinfo) -> "ResponseAnswer":
        question = version.definition.question(answer.question_id)
        group = version.definition.group_of(answer.question_id)
        assert question is not None, "answers are stored for questions of their version only"  # noqa: S101
        assert group is not None, "every question belongs to a group"  # noqa: S101
        return cls.of(
            answer,
            zone,
            group_id=group.group_id,
            type=question.type,
            title=localized(question, locale).plain_title,
            display_name=question.display_name,
            label=values.label(question, answer.value, locale),
            segment=values.segment(question, answer.value),
        )


class ResponseMetadata(fields.Answer):
    """Values by name; empty where the token may not read them."""

    questionnaire: dict[str, str]
    responder: dict[str, str]


class ResponseContent(fields.Resource):
    """All answers of an instance, in question order."""

    instance_id: fields.Id
    questionnaire_id: fields.Id
    version_id: fields.Id
    responder_id: fields.Id
    locale: str
    finalized: bool
    submitted_time: fields.DateTime | None
    completed_time: fields.DateTime | None
    answers: list[ResponseAnswer]
    skipped_question_ids: list[fields.Id]
    metadata: ResponseMetadata
