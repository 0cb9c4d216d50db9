"""Title, body and link of a notice to a user, by the type of its event."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword.core.wire.site import API_PREFIX
from afterword.kit.texts import CONSOLE_LANGUAGES, Texts, texts
from afterword.sending.pipelines.resources import summary_of
from afterword.sending.pipelines.store import Pipeline


@dataclass(frozen=True, slots=True)
class Subject:
    application_id: str | None
    alert_title: str | None
    questionnaire_name: str | None


TITLE_CHARACTERS_MAX: Final = 300
BODY_CHARACTERS_MAX: Final = 2_000

# By event type. Those of alerts take the alert's title.
TITLES: Final[Mapping[str, str]] = {
    "alert_instance.created": "New alert: {title}", "alert_instance.repeated": "Alert again: {title}",
    "alert_instance.assigned": "Alert assigned: {title}",
    "alert_instance.status_changed": "Alert has another status: {title}",
    "alert_instance.resolved": "Alert resolved: {title}", "alert_instance.reopened": "Alert open again: {title}",
    "alert_instance.commented": "Comment on an alert: {title}",
    "alert_instance.answered": "The customer answered on an alert: {title}",
    "alert_instance.recovery_answered": "The customer was asked again and answered: {title}",
    "alert_instance.overdue": "An alert is overdue: {title}",
    "alert_instance.escalated": "An alert has been open for too long: {title}",
    "alert_instance.mentioned": "You are mentioned on an alert: {title}",
    "questionnaire.created": "A questionnaire was created", "questionnaire.updated": "A questionnaire was changed",
    "questionnaire.published": "A questionnaire was published",
    "questionnaire.archived": "A questionnaire was archived", "pipeline.created": "A pipeline was created",
    "pipeline.updated": "A pipeline was changed", "pipeline.paused": "A pipeline was paused",
    "pipeline.resumed": "A pipeline was resumed", "pipeline.deleted": "A pipeline was deleted",
    "import.finished": "An import is finished", "import.failed": "An import failed",
    "export.finished": "An export is finished", "export.failed": "An export failed",
    "response_import.finished": "Responses were imported",
    "response_import.removed": "Imported responses were removed",
    "export_schedule.failed": "An export on a timetable fails again and again",
    "plan.low_credits": "Credits are running low", "plan.credits_exhausted": "Credits are used up",
    "plan.renewed": "A plan was renewed", "plan.expired": "A plan has expired",
    "webhook.disabled": "A webhook was switched off after lasting failure",
    "chat.disabled": "A chat was switched off, because it takes no cards", "user.invited": "A user was invited",
    "user.removed": "A user was removed", "token.created": "A token was created",
    "token.revoked": "A token was revoked", "queue_item.created": "A message was queued",
    "queue_item.updated": "A queued message was changed", "queue_item.waiting": "A message waits",
    "queue_item.retried": "A message is sent again after a failure", "queue_item.sent": "A message was sent",
    "queue_item.delivered": "A message was delivered", "queue_item.bounced": "A message bounced",
    "queue_item.complained": "A recipient reported a message as spam",
    "queue_item.failed": "A message could not be sent", "queue_item.aborted": "A message was cancelled",
    "queue_item.ignored": "A message was not sent, by the rules", "queue_item.deleted": "A message was deleted",
    "questionnaire_instance.created": "A response was requested",
    "questionnaire_instance.viewed": "A questionnaire was opened",
    "questionnaire_instance.submitted": "A response has begun",
    "questionnaire_instance.updated": "A response was changed",
    "questionnaire_instance.completed": "A response was completed",
    "questionnaire_instance.reopened": "A response was reopened",
    "questionnaire_instance.expired": "A request for a response has expired",
    "questionnaire_instance.deleted": "A response was deleted",
    "questionnaire_instance.accepted": "A response that was held back was accepted",
    "questionnaire_instance.rejected": "A response that was held back was rejected",
    "answer.confirmed": "An answer was confirmed", "answer.changed": "An answer was changed",
    "responder.created": "A responder was added", "responder.updated": "A responder was changed",
    "responder.unsubscribed": "A responder unsubscribed", "responder.erased": "A responder was erased",
    "suppression.created": "An address was suppressed", "suppression.deleted": "An address is no longer suppressed",
    "tag.added": "A tag was added", "tag.removed": "A tag was removed",
    "sequence.queued": "A sequence queued a message", "sequence.skipped": "A sequence skipped a response",
}  # fmt: skip
SEVERITIES: Final[Mapping[str, str]] = {
    "low": "Severity: low", "normal": "Severity: normal", "high": "Severity: high", "critical": "Severity: critical",
}  # fmt: skip
SAID: Final = frozenset({"pipeline.created", "pipeline.updated", "pipeline.resumed"})  # with the pipeline's sentences
# The name or title of these says which one it is.
_NAMED: Final = ("questionnaire", "pipeline", "plan", "webhook", "chat", "token", "export_schedule")


def notice(
    type_name: str, *, data: Mapping[str, Any], subject: Subject, locale: str, time_zone: str = "UTC"
) -> tuple[str, str, str | None]:
    """Title, body and link of an event, in the reader's language."""
    words = texts("notices", locale)
    if type_name.startswith("alert_instance."):
        return _of_case(type_name, data=data, subject=subject, words=words, time_zone=time_zone)
    family = type_name.partition(".")[0]
    title = words(TITLES[type_name])
    name = str(data.get("display_name") or data.get("title") or "") if family in _NAMED else ""
    body = " · ".join(dict.fromkeys(filter(None, [name, subject.questionnaire_name])))
    if type_name in SAID and words.language in CONSOLE_LANGUAGES:
        body = f"{body}\n{_sentences(data, locale=locale, time_zone=time_zone)}".rstrip()
    return title[:TITLE_CHARACTERS_MAX], body[:BODY_CHARACTERS_MAX], None


def _sentences(data: Mapping[str, Any], *, locale: str, time_zone: str) -> str:
    """The pipeline of an event; empty for one that was logged before a column was added."""
    try:
        pipeline = msgspec.convert({"deleted_time": None, "delay_from": None, **data}, Pipeline)
    except msgspec.ValidationError:
        return ""
    return summary_of(texts("console", locale), pipeline, time_zone=time_zone)


def _of_case(
    type_name: str, *, data: Mapping[str, Any], subject: Subject, words: Texts, time_zone: str
) -> tuple[str, str, str | None]:
    title = words(TITLES[type_name]).replace("{title}", subject.alert_title or "")
    lines = [subject.questionnaire_name or "", words(SEVERITIES[data["severity"]])]
    if data["occurrences"] > 1:
        lines.append(words.plural("Occurred {n} time", "Occurred {n} times", data["occurrences"]))
    if data["resolved_time"] is None:
        if data["due_time"] is not None:
            moment = words.moment(datetime.fromisoformat(data["due_time"]), time_zone=time_zone)
            lines.append(words("Due: {moment}", moment=moment))
        if data["assigned_user_id"] is None:
            lines.append(words("No owner yet"))
    body = " · ".join(filter(None, lines))
    link = f"{API_PREFIX}/alert/instance/{data['alert_instance_id']}"
    return title[:TITLE_CHARACTERS_MAX], body[:BODY_CHARACTERS_MAX], link
