"""The API of one organization."""

import httpx2
import pytest

from afterword.kit import db
from tests.asking.questionnaires.http import Api
from tests.conftest import House


@pytest.fixture
def api(client: httpx2.AsyncClient, pool: db.Pool, house: House) -> Api:
    """Asks as the organization's own token."""
    return Api(client, pool, house)
