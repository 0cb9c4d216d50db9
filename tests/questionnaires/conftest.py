"""The API of one organization."""

import httpx2
import pytest

from afterword import db
from tests.conftest import House
from tests.questionnaires.http import Api


@pytest.fixture
def api(client: httpx2.AsyncClient, pool: db.Pool, house: House) -> Api:
    """Asks as the organization's own token."""
    return Api(client, pool, house)
