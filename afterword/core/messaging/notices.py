"""Notices of users: events by channel, the events that a role may see, the time of a digest."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from afterword.core.organizations.access import ROLE_SCOPES

GATHER_SECONDS: Final = 60  # notices of one minute share a mail
DIGEST_HOUR: Final = 8  # local
MONDAY: Final = 0
AGE_DAYS_MAX: Final = 3  # no notices of older events: a reader that starts anew, or stood still, skips them
KEPT_DAYS: Final = 90
MAILED_DEFAULT: Final = (
    "alert_instance.created", "alert_instance.mentioned", "alert_instance.answered",
    "alert_instance.overdue", "alert_instance.escalated", "plan.", "webhook.disabled", "chat.disabled",
    "export_schedule.failed",
)  # fmt: skip

Digest = Literal["none", "daily", "weekly"]
Types = Mapping[str, Mapping[str, bool]]  # event type -> {"web", "email"}

# Types with as many events as messages, responses or people. Only users who ask for the type get notices of it.
MASS: Final[Mapping[str, tuple[str, ...]]] = {
    "queue_item": (
        "created", "updated", "waiting", "retried", "sent", "delivered", "bounced", "complained", "failed", "aborted",
        "ignored", "deleted",
    ),
    "questionnaire_instance": (
        "created", "viewed", "submitted", "updated", "completed", "reopened", "expired", "deleted", "accepted",
        "rejected",
    ),
    "answer": ("confirmed", "changed"),
    "responder": ("created", "updated", "unsubscribed", "erased"),
    "suppression": ("created", "deleted"),
    "tag": ("added", "removed"),
    "sequence": ("queued", "skipped"),
}  # fmt: skip
FEW: Final[Mapping[str, tuple[str, ...]]] = {
    "alert_instance": (
        "created",
        "repeated",
        "assigned",
        "status_changed",
        "resolved",
        "reopened",
        "commented",
        "mentioned",
        "answered",
        "recovery_answered",
        "overdue",
        "escalated",
    ),
    "questionnaire": ("created", "updated", "published", "archived"),
    "pipeline": ("created", "updated", "paused", "resumed", "deleted"),
    "import": ("finished", "failed"),
    "export": ("finished", "failed"),
    "response_import": ("finished", "removed"),
    "export_schedule": ("failed",),
    "plan": ("low_credits", "credits_exhausted", "renewed", "expired"),
    "webhook": ("disabled",),
    "chat": ("disabled",),
    "user": ("invited", "removed"),
    "token": ("created", "revoked"),
}
MASS_TYPES: Final = frozenset(f"{family}.{name}" for family, names in MASS.items() for name in names)
FEW_TYPES: Final = frozenset(f"{family}.{name}" for family, names in FEW.items() for name in names)
TYPES: Final = MASS_TYPES | FEW_TYPES

# The entity whose `Read` scope opens the events of a family, as it opens the GET of its things.
ENTITIES: Final[Mapping[str, str]] = {
    "queue_item": "Queue", "questionnaire_instance": "Questionnaire Instance", "answer": "Questionnaire Instance",
    "responder": "Responder", "suppression": "Suppression", "tag": "Tag", "alert_instance": "Alert Instance",
    "questionnaire": "Questionnaire", "pipeline": "Pipeline", "import": "Queue", "export": "Questionnaire Export",
    "plan": "Plan", "webhook": "Webhook", "chat": "Webhook", "user": "User", "token": "Token", "sequence": "Sequence",
    "response_import": "Questionnaire Instance",
    "export_schedule": "Questionnaire Export",
}  # fmt: skip
assert ENTITIES.keys() == {*MASS, *FEW}  # noqa: S101


@dataclass(frozen=True, slots=True)
class NoticeChannels:
    web: bool
    email: bool

    @property
    def any(self) -> bool:
        return self.web or self.email


def channels_of(type_name: str, subscribed: Types) -> NoticeChannels:
    chosen = subscribed.get(type_name)
    if chosen is not None:
        return NoticeChannels(chosen["web"], chosen["email"])
    return NoticeChannels(type_name not in MASS_TYPES, type_name.startswith(MAILED_DEFAULT))


def read_of(event_type: str) -> str | None:
    """The scope that opens the data of an event of this type; None for an unknown family."""
    entity = ENTITIES.get(event_type.partition(".")[0])
    return entity and f"{entity}.Read"


def may_see(type_name: str, *, role: str, application_ids: Collection[str], application_id: str | None) -> bool:
    """Whether a user could read the thing itself: by role, and by the applications that the user is for (none: all)."""
    is_mine = not application_ids or application_id in application_ids
    return is_mine and read_of(type_name) in ROLE_SCOPES.get(role, ())


def mail_time(now: datetime, *, digest: Digest, time_zone: str) -> datetime:
    """The time of the mail about an event of now: the end of its minute, or eight local of the next day or Monday."""
    if digest == "none":
        return now.replace(second=0, microsecond=0) + timedelta(seconds=GATHER_SECONDS)
    zone = ZoneInfo(time_zone)
    local = now.astimezone(zone)
    day = local.date() + timedelta(days=1 if local.hour >= DIGEST_HOUR else 0)
    if digest == "weekly":
        day += timedelta(days=(MONDAY - day.weekday()) % 7)
    return datetime(day.year, day.month, day.day, DIGEST_HOUR, tzinfo=zone)
