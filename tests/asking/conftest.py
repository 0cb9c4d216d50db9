"""Questionnaires behind the API: the house's own, and those of the shop of the tests of instances."""

from tests.asking.instances.conftest import (
    shop as shop,  # noqa: PLC0414  a fixture
    world as world,  # noqa: PLC0414  a fixture
)
from tests.asking.questionnaires.conftest import api as api  # noqa: PLC0414  a fixture
