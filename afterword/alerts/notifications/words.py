"""What a notice says: a title, a sentence or two, where to look. No answers, addresses or secrets are ever in it."""

from collections.abc import Mapping
from typing import Any, Final

from afterword.alerts.notifications.store import Subject
from afterword.core.wire.site import API_PREFIX
from afterword.texts import Texts, texts

TITLE_CHARACTERS_MAX: Final = 300
BODY_CHARACTERS_MAX: Final = 2_000

# By event type. Those of alerts take the alert's title.
TITLES: Final[Mapping[str, str]] = {
    "alert_instance.created": "New alert: {title}",
    "alert_instance.repeated": "Alert again: {title}",
    "alert_instance.assigned": "Alert assigned: {title}",
    "alert_instance.status_changed": "Alert has another status: {title}",
    "alert_instance.resolved": "Alert resolved: {title}",
    "alert_instance.reopened": "Alert open again: {title}",
    "alert_instance.commented": "Comment on an alert: {title}",
    "questionnaire.created": "A questionnaire was created",
    "questionnaire.updated": "A questionnaire was changed",
    "questionnaire.published": "A questionnaire was published",
    "questionnaire.archived": "A questionnaire was archived",
    "pipeline.created": "A pipeline was created",
    "pipeline.updated": "A pipeline was changed",
    "pipeline.paused": "A pipeline was paused",
    "pipeline.resumed": "A pipeline was resumed",
    "pipeline.deleted": "A pipeline was deleted",
    "import.finished": "An import is finished",
    "import.failed": "An import failed",
    "export.finished": "An export is finished",
    "export.failed": "An export failed",
    "plan.low_credits": "Credits are running low",
    "plan.credits_exhausted": "Credits are used up",
    "plan.renewed": "A plan was renewed",
    "plan.expired": "A plan has expired",
    "webhook.disabled": "A webhook was switched off after lasting failure",
    "user.invited": "A user was invited",
    "user.removed": "A user was removed",
    "token.created": "A token was created",
    "token.revoked": "A token was revoked",
}
SEVERITIES: Final[Mapping[str, str]] = {
    "low": "Severity: low",
    "normal": "Severity: normal",
    "high": "Severity: high",
    "critical": "Severity: critical",
}
_NAMED: Final = ("questionnaire", "pipeline", "plan", "webhook", "token")  # whose name or title says which it is


def notice(type_name: str, *, data: Mapping[str, Any], subject: Subject, locale: str) -> tuple[str, str, str | None]:
    """Title, body and link of an event, in the reader's language."""
    words = texts("notices", locale)
    if type_name.startswith("alert_instance."):
        return _of_case(type_name, data=data, subject=subject, words=words)
    family = type_name.partition(".")[0]
    # A type of the masses has no words of its own: who chose it knows its name.
    title = words(TITLES[type_name]) if type_name in TITLES else type_name
    name = str(data.get("display_name") or data.get("title") or "") if family in _NAMED else ""
    body = " · ".join(dict.fromkeys(filter(None, [name, subject.questionnaire_name])))
    return title[:TITLE_CHARACTERS_MAX], body[:BODY_CHARACTERS_MAX], None


def case_link(alert_instance_id: str) -> str:
    """Where the API has a case."""
    return f"{API_PREFIX}/alert/instance/{alert_instance_id}"


def _of_case(type_name: str, *, data: Mapping[str, Any], subject: Subject, words: Texts) -> tuple[str, str, str | None]:
    title = words(TITLES[type_name]).replace("{title}", subject.alert_title or "")
    lines = [subject.questionnaire_name or "", words(SEVERITIES[data["severity"]])]
    if data["occurrences"] > 1:
        lines.append(words.plural("Occurred {n} time", "Occurred {n} times", data["occurrences"]))
    body = " · ".join(filter(None, lines))
    return title[:TITLE_CHARACTERS_MAX], body[:BODY_CHARACTERS_MAX], case_link(data["alert_instance_id"])
