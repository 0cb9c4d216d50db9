"""Applications that nouns refer to: those of the organization, and of the token."""

from dataclasses import replace
from typing import Any

import pytest

from afterword.kit.nouns.service import is_of_all
from tests.conftest import House


@pytest.mark.parametrize(
    ("reached", "application_id", "is_refused"),
    [((), None, False), ((), "a", False), (("a",), "a", False), (("a",), None, True)],
)
def test_of_the_whole_organization(
    house: House, reached: tuple[str, ...], application_id: str | None, is_refused: Any
) -> None:
    caller = replace(house.caller, application_ids=reached)
    assert is_refused == (is_of_all(caller, application_id) is not None)
