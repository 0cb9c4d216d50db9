"""Questionnaire instances and what was answered, as the wire shows them."""

from datetime import tzinfo
from decimal import Decimal
from typing import Any

import msgspec

from afterword.core.answers import progress as answers_rules
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.definition import localized
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.instances import store
from afterword.instances.answers.store import Answer
from afterword.instances.children.trees import DEPTH_MAX, Children
from afterword.questionnaires.store import Version
from afterword.web import fields


class QuestionnaireInstance(fields.Answer):
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
    collection_url: str
    question_ids: str
    processed_time: fields.DateTime | None
    flow_time: fields.DateTime | None
    created_by: fields.Id | None
    updated_by: fields.Id | None
    collection_url_short: str
    collection_url_long: str

    @classmethod
    def of(cls, instance: store.ShownInstance, site: Site, zone: tzinfo) -> "QuestionnaireInstance":
        """The instance with its times in the organization's zone."""
        url = site.collection_url(instance.instance_id)
        created_time = times.format_time(instance.created_time, zone=zone)
        is_untouched = instance.updated_time == instance.created_time
        return cls(
            instance_id=instance.instance_id,
            questionnaire_id=instance.questionnaire_id,
            responder_id=instance.responder_id,
            locale=instance.locale,
            valid_days=instance.valid_days,
            editable=instance.editable,
            finalized=instance.finalized,
            created_time=created_time,
            updated_time=created_time if is_untouched else times.format_time(instance.updated_time, zone=zone),
            sent_time=times.format_optional(instance.sent_time, zone=zone),
            delivered_time=times.format_optional(instance.delivered_time, zone=zone),
            viewed_time=times.format_optional(instance.viewed_time, zone=zone),
            submitted_time=times.format_optional(instance.submitted_time, zone=zone),
            completed_time=times.format_optional(instance.completed_time, zone=zone),
            collection_url=url,
            question_ids=",".join(instance.question_ids),
            processed_time=times.format_optional(instance.processed_time, zone=zone),
            flow_time=times.format_optional(instance.flow_time, zone=zone),
            created_by=instance.created_by,
            updated_by=instance.updated_by,
            collection_url_short=site.short_url(instance.short_code),
            collection_url_long=url,
        )


class InstanceWithChildren(QuestionnaireInstance):
    """An instance with those that were issued because of it, of any questionnaire, and so on."""

    children: "list[InstanceWithChildren]"

    @classmethod
    def tree(
        cls, instance: store.ShownInstance, children: Children, site: Site, zone: tzinfo, *, depth: int = DEPTH_MAX
    ) -> "InstanceWithChildren":
        """The instance and, `depth` generations down, its children."""
        below = children.get(instance.instance_id, ()) if depth else ()
        return cls(
            **msgspec.structs.asdict(QuestionnaireInstance.of(instance, site, zone)),
            children=[cls.tree(child, children, site, zone, depth=depth - 1) for child in below],
        )


class ConditionTest(fields.Request):
    """Conditions to try, and the response to try them on; no conditions hold for every response."""

    instance_id: fields.Id
    conditions: dict[str, Any] | None = None


class LeafResult(fields.Answer):
    """What one comparison compared, and how it came out."""

    subject: str
    operator: str
    value: Any
    actual: Any
    matches: bool

    @classmethod
    def of(cls, leaf: conditions.LeafResult) -> "LeafResult":
        """The result as JSON has it: numbers as numbers, dates as texts."""
        return cls(
            subject=leaf.subject,
            operator=leaf.operator,
            value=leaf.value,
            actual=float(leaf.actual) if isinstance(leaf.actual, Decimal) else leaf.actual,
            matches=leaf.matches,
        )


class ConditionTestResult(fields.Answer):
    """Whether the conditions hold, and each comparison in them."""

    matches: bool
    leaves: list[LeafResult]


class InstanceUrl(fields.Answer):
    """Where the responder answers, and until when."""

    instance_id: fields.Id
    collection_url: str
    collection_url_short: str
    collection_url_long: str
    expires_time: fields.DateTime | None


class InstanceContent(fields.Answer):
    """What the responder is shown, in the instance's language."""

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


class ResponseAnswer(fields.Answer):
    """What was answered to one question; `value` is as the question's type has it."""

    instance_id: fields.Id
    question_id: fields.Id
    group_id: fields.Id
    version_id: fields.Id
    type: str
    title: str
    display_name: str | None
    value: bool | int | float | str | list[int] | dict[str, int | str]
    label: str | None
    other_text: str | None
    segment: str | None
    answered_time: fields.DateTime
    provisional: bool

    @classmethod
    def of(cls, answer: Answer, *, version: Version, locale: str, zone: tzinfo) -> "ResponseAnswer":
        """The answer beside its question's texts in the instance's language."""
        question = version.definition.question(answer.question_id)
        group = version.definition.group_of(answer.question_id)
        assert question is not None, "answers are stored for questions of their version only"  # noqa: S101
        assert group is not None, "a question stands in a group"  # noqa: S101
        return cls(
            instance_id=answer.instance_id,
            question_id=answer.question_id,
            group_id=group.group_id,
            version_id=answer.version_id,
            type=question.type,
            title=localized(question, locale).title,
            display_name=question.display_name,
            value=answer.value,
            label=answers_rules.label(question, answer.value, locale),
            other_text=answer.other_text,
            segment=answers_rules.segment(question, answer.value),
            answered_time=times.format_time(answer.answered_time, zone=zone),
            provisional=answer.provisional,
        )


class ResponseMetadata(fields.Answer):
    """Values by name; empty where the token may not read them."""

    questionnaire: dict[str, str]
    responder: dict[str, str]


class ResponseContent(fields.Answer):
    """Everything that was answered, in question order."""

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
