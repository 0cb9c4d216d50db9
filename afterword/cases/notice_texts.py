"""Title, body and link of a notice to a user, by the type of its event."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword.core import toml
from afterword.core.wire.site import API_PREFIX
from afterword.kit.texts import CONSOLE_LANGUAGES, Texts, texts
from afterword.sending.pipelines.resources import summary_of
from afterword.sending.pipelines.store import Pipeline


class Subject(msgspec.Struct, frozen=True):
    application_id: str | None
    alert_title: str | None
    questionnaire_name: str | None


TITLE_CHARACTERS_MAX: Final = 300
BODY_CHARACTERS_MAX: Final = 2_000

_TITLES: Final = toml.tables_of(__name__, "notice_titles")
# By event type. Those of alerts take the alert's title.
TITLES: Final[Mapping[str, str]] = {
    f"{family}.{name}": title for family, titles in _TITLES.items() for name, title in titles.items()
}
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
