"""Sentences of pipelines: each rule is told, in English and in Greek, and the summary has no hidden signs."""

from datetime import UTC, datetime, time
from typing import Any

import pytest
from msgspec import structs

from afterword.kit import texts
from afterword.sending.pipelines.resources import plain, sentences_of, summary_of
from afterword.sending.pipelines.store import Pipeline

PLAIN: dict[str, Any] = {
    **dict.fromkeys(Pipeline.__struct_fields__),
    **{f"{name}_{unit}": 0 for name in ("delay_cap", "frequency_cap") for unit in ("days", "hours", "minutes")},
    "channel_id": 1, "messages": {}, "zone_of": "recipient", "weekdays": [1, 2, 3, 4, 5, 6, 7], "reminders": [],
    "max_retry_attempts": 8, "not_after_days": 3, "priority": 5, "paused": False, "if_outside": "wait",
    "if_capped": "skip", "policy_exempt": False, "on_holidays": "wait",
}  # fmt: skip
WINDOW = {"dispatch_start_time": time(9), "dispatch_end_time": time(20, 30)}
SKIPPED = "A message due outside these hours is not sent."
MOMENT = datetime(2029, 12, 1, 7, tzinfo=UTC)
CASES: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({}, "message", "Asks by e-mail."),
    ({"channel_id": 2, "messages": {"el": {}, "de": {}}},  "message",
     "Asks by SMS. Texts exist in German and Greek too."),
    ({"channel_id": 3, "target_url": "https://a.example"}, "target", "It goes to https://a.example."),
    ({"sender_name": "Shop", "sender_address": "a@b.example"}, "sender", "The sender is Shop, a@b.example."),
    ({}, "sender", "The sender is the address of the installation."),
    ({}, "delay", "A message without a send time is due immediately."),
    ({"delay_cap_days": 1, "delay_cap_minutes": 30}, "delay",
     "A message without a send time is due after 1 day 30 minutes."),
    ({"delay_cap_days": 3, "delay_from": "questionnaire_metadata:order_date"}, "delay",
     "A message without a send time is due 3 days after its “order_date”."),
    ({"delay_from": "responder_metadata:arrival"}, "delay",
     "A message without a send time is due on its “arrival”."),
    ({}, "conditions", "Everyone is asked."),
    ({"frequency_cap_hours": 1, "if_capped": "wait"}, "frequency",
     "An address gets one message in 1 hour; the next one waits until then."),
    ({"policy_exempt": True}, "frequency",
     "An address gets every message. The contact policy does not apply here."),
    ({}, "hours", "Messages are sent every day, at any hour."),
    ({**WINDOW, "weekdays": [1, 2, 4]}, "hours",
     "Messages are sent Mon, Tue and Thu, 09:00 to 20:30 in the customer's time zone."),
    ({**WINDOW, "zone_of": "organization", "if_outside": "skip"}, "hours",
     f"Messages are sent every day, 09:00 to 20:30 in the organization's time zone. {SKIPPED}"),
    ({**WINDOW, "time_zone": "Asia/Tokyo", "on_holidays": "send"}, "hours",
     "Messages are sent every day, 09:00 to 20:30, Asia/Tokyo. They are sent on holidays too."),
    ({}, "reminders", "No reminders."),
    ({"reminders": [{"delay_days": 1}]}, "reminders", "1 reminder follows, after 1 day, until the first answer."),
    ({}, "period", "The pipeline has no end."),
    ({"start_time": MOMENT}, "period", "The pipeline runs from Dec 1, 2029, 9:00 AM on."),
)  # fmt: skip


@pytest.mark.parametrize("language", ["en", "el"])
def test_each_rule_is_told(language: str) -> None:
    words = texts.texts("console", language)
    for values, part, expected in CASES:
        pipeline = Pipeline(**{**PLAIN, **values})
        text = plain(sentences_of(words, pipeline, time_zone="Europe/Athens")[part]).replace("\u202f", " ")
        assert language == "el" or expected == text, values
        assert "{" not in text


def test_summary() -> None:
    words = texts.texts("console", "en")
    condition = {"subject": "questionnaire_metadata:store", "operator": "equal", "value": "7"}
    pipeline = structs.replace(Pipeline(**PLAIN), conditions=condition)
    summary = summary_of(words, pipeline, time_zone="UTC")
    assert "Only people are asked for whom “store” is 7." in summary
    assert summary.isascii() or not {texts.ISOLATE_FIRST, texts.ISOLATE_END} & set(summary)
