"""The shop of the tests of instances, whose questionnaire gets public links."""

from tests.asking.instances.conftest import shop as shop  # noqa: PLC0414  a fixture
from tests.asking.instances.conftest import world as world  # noqa: PLC0414  a fixture
