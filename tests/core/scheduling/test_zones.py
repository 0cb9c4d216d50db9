"""The zone of a message: whose it is, and of which phone numbers it is known."""

from typing import Any, ClassVar

import pytest

from afterword.core.scheduling import windows


class TestZoneName:
    KNOWN: ClassVar[dict[str, Any]] = {
        "pipeline": None,
        "zone_of_kind": "recipient",
        "responder": None,
        "phone": None,
        "application": None,
        "organization": "Europe/Athens",
    }

    @pytest.mark.parametrize(
        ("known", "zone"),
        [
            ({}, "Europe/Athens"),
            ({"application": "Asia/Tokyo"}, "Asia/Tokyo"),
            ({"application": "Asia/Tokyo", "phone": "+4915112345678"}, "Europe/Berlin"),
            ({"application": "Asia/Tokyo", "phone": "+12025550123"}, "Asia/Tokyo"),  # a country of many zones
            ({"application": "Asia/Tokyo", "phone": "+34612345678"}, "Asia/Tokyo"),  # the Canaries have their own
            ({"phone": "key 7"}, "Europe/Athens"),
            ({"responder": "Europe/Rome", "phone": "+4915112345678"}, "Europe/Rome"),
            ({"responder": "Mars/Base"}, "Europe/Athens"),
            ({"responder": "Europe/Rome", "zone_of_kind": "organization"}, "Europe/Athens"),
            ({"responder": "Europe/Rome", "pipeline": "Europe/Oslo"}, "Europe/Oslo"),
            ({"pipeline": "Europe/Oslo", "zone_of_kind": "organization"}, "Europe/Oslo"),
        ],
    )
    def test_of_the_first_that_is_known(self, known: dict[str, Any], zone: str) -> None:
        assert zone == windows.zone_name_for(**{**self.KNOWN, **known})
