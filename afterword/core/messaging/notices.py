"""Notices of users: events by channel, the events that a role may see, the time of a digest."""

import tomllib
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from importlib import resources
from typing import Final, Literal
from zoneinfo import ZoneInfo

import msgspec

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

_FAMILIES: Final = tomllib.loads((resources.files(__package__ or "") / "event_types.toml").read_text("utf-8"))
ENTITIES: Final[Mapping[str, str]] = {family: one["entity"] for family, one in _FAMILIES.items()}
MASS: Final[Mapping[str, list[str]]] = {family: one["mass"] for family, one in _FAMILIES.items() if "mass" in one}
FEW: Final[Mapping[str, list[str]]] = {family: one["few"] for family, one in _FAMILIES.items() if "few" in one}
MASS_TYPES: Final = frozenset(f"{family}.{name}" for family, names in MASS.items() for name in names)
FEW_TYPES: Final = frozenset(f"{family}.{name}" for family, names in FEW.items() for name in names)
TYPES: Final = MASS_TYPES | FEW_TYPES


class NoticeChannels(msgspec.Struct, frozen=True):
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
