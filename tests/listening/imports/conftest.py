"""The questionnaire of the tests of reports."""

from tests.listening.reports.conftest import (
    house as house,  # noqa: PLC0414  a fixture
    now as now,  # noqa: PLC0414  a fixture
)
