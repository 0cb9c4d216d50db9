"""Which events are told, by which way, to whom, and when they are mailed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from afterword.core.messaging import notices
from afterword.core.messaging.notices import NoticeChannels
from afterword.core.organizations.access import ROLE_SCOPES


class TestWays:
    @pytest.mark.parametrize(
        ("type_name", "expected"),
        [
            ("alert_instance.created", NoticeChannels(web=True, email=True)),
            ("alert_instance.commented", NoticeChannels(web=True, email=False)),
            ("plan.low_credits", NoticeChannels(web=True, email=True)),
            ("webhook.disabled", NoticeChannels(web=True, email=True)),
            ("questionnaire.published", NoticeChannels(web=True, email=False)),
            ("queue_item.sent", NoticeChannels(web=False, email=False)),
            ("questionnaire_instance.completed", NoticeChannels(web=False, email=False)),
        ],
    )
    def test_defaults(self, type_name: str, expected: NoticeChannels) -> None:
        assert expected == notices.channels_of(type_name, {})
        assert (expected.web or expected.email) is expected.any

    def test_chosen(self) -> None:
        chosen = {"queue_item.failed": {"web": False, "email": True}}
        assert NoticeChannels(web=False, email=True) == notices.channels_of("queue_item.failed", chosen)


class TestMayHear:
    def test_every_type_has_a_scope_that_somebody_holds(self) -> None:
        for name in notices.TYPES:
            assert notices.may_see(name, role="owner", application_ids=[], application_id=None), name

    @pytest.mark.parametrize("name", ["token.created", "webhook.disabled"])
    @pytest.mark.parametrize("role", ["reporting", "agent", "nobody"])
    def test_role(self, name: str, role: str) -> None:
        assert role in ROLE_SCOPES or role == "nobody"
        assert not notices.may_see(name, role=role, application_ids=[], application_id=None)

    @pytest.mark.parametrize(("application_id", "expected"), [("a", True), ("b", False), (None, False)])
    def test_application(self, application_id: str | None, expected: bool) -> None:  # noqa: FBT001
        found = notices.may_see(
            "alert_instance.created", role="agent", application_ids=["a"], application_id=application_id
        )
        assert expected is found


@pytest.mark.parametrize(
    ("now", "digest", "expected"),
    [
        ("2026-11-21T16:23:45", "none", "2026-11-21T16:24:00"),
        ("2026-11-21T16:23:00", "none", "2026-11-21T16:24:00"),
        ("2026-11-21T05:59:59", "daily", "2026-11-21T06:00:00"),  # 8 in Athens
        ("2026-11-21T06:00:00", "daily", "2026-11-22T06:00:00"),
        ("2026-03-28T20:00:00", "daily", "2026-03-29T05:00:00"),  # summer time begins that night
        ("2026-11-21T16:23:45", "weekly", "2026-11-23T06:00:00"),
        ("2026-11-23T05:00:00", "weekly", "2026-11-23T06:00:00"),
        ("2026-11-23T06:00:00", "weekly", "2026-11-30T06:00:00"),
    ],
)
def test_mail_time(now: str, digest: Any, expected: str) -> None:
    moment, due = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (now, expected))
    assert due == notices.mail_time(moment, digest=digest, time_zone="Europe/Athens")
