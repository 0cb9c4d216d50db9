"""Shared parts of the OpenAPI document: refusals with an example for each code, and the ways to send a token."""

import pytest

from afterword.core.organizations.access import SCOPES
from afterword.core.wire.site import Site
from afterword.web import components

ALL = components.all_of({}, ["item_closed"], Site("https://survey.example.com", b""))


@pytest.mark.parametrize("status", [each for each in components.RESPONSES if components.codes_of(each)])
def test_a_refusal_shows_each_of_its_codes(status: int) -> None:
    codes = components.codes_of(status)
    shown = components.response(status, codes)["content"]["application/problem+json"]["examples"]
    assert set(codes) == set(shown) <= set(ALL["examples"])
    assert {status} == {ALL["examples"][code]["value"]["status"] for code in codes}


def test_not_modified_has_no_body() -> None:
    assert {"description"} == components.response(304, []).keys()


def test_codes_of_fields_are_named() -> None:
    assert "`required`" in components.response(422, ["invalid"], fields=["required"])["description"]


def test_a_code_of_one_operation_has_an_example() -> None:
    assert 409 == ALL["examples"]["item_closed"]["value"]["status"]


def test_every_scope_can_be_asked_for() -> None:
    flow = ALL["securitySchemes"]["oauth"]["flows"]["clientCredentials"]
    assert "https://survey.example.com/oauth/token" == flow["tokenUrl"]
    assert len(SCOPES) == len(flow["scopes"])
    assert ALL["securitySchemes"].keys() == {way for each in components.security([]) for way in each}
