from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
