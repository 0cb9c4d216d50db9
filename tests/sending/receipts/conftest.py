"""The queue and its HTTP client, as the tests of the queue have them."""

from tests.sending.queue.conftest import http, queue

__all__ = ["http", "queue"]
