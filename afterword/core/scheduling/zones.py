"""The time zone of a message: the pipeline's, the recipient's if known, or the organization's."""

from datetime import datetime
from functools import lru_cache
from typing import Final

import phonenumbers
from babel.core import get_global

from afterword.core.wire.times import zone_of

_CLOCK_SAMPLES: Final = tuple(datetime(year, month, 1) for year in (2024, 2030) for month in (1, 7))  # noqa: DTZ001  local


def zone_name_for(
    *,
    pipeline: str | None,
    zone_of_kind: str,
    responder: str | None,
    phone: str | None,
    application: str | None,
    organization: str,
) -> str:
    """The pipeline's zone, else the recipient's if known, else the organization's."""
    if zone_of_kind == "organization":
        return pipeline or organization
    candidates = (pipeline, responder, zone_of_phone(phone) if phone else None, application)
    return next((name for name in candidates if name and _is_zone(name)), organization)


@lru_cache(maxsize=4096)
def zone_of_phone(number: str) -> str | None:
    """The zone of a phone number's country, if one clock rules that country now."""
    try:
        region = phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return None
    zones = get_global("territory_zones").get(region or "", [])
    clocks = {tuple(zone_of(zone).utcoffset(day) for day in _CLOCK_SAMPLES) for zone in zones if _is_zone(zone)}
    return min(zones, key=len) if len(clocks) == 1 else None


@lru_cache(maxsize=1024)
def _is_zone(name: str) -> bool:
    try:
        zone_of(name)
    except ValueError:
        return False
    return True
