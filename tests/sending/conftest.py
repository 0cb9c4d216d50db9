"""The queue and its HTTP client, as the tests of the queue have them."""

from tests.sending.queue.conftest import client, http, queue

__all__ = ["client", "http", "queue"]
