"""Client of the Afterword API.

    from afterword_client import Client, models

    with Client("https://survey.example.com", token="afw_…") as afterword:
        item = afterword.queue.schedule_item(
            questionnaire_id, pipeline_id,
            models.QueueItemRequest(responder_channel_identifier="ann@example.com"),
        )

`models` and the operations are generated from the service's OpenAPI document; the rest is in `client`.
"""

from afterword_client import models
from afterword_client.client import Client, Credentials
from afterword_client.errors import (
    AfterwordError,
    ApiError,
    Conflict,
    Disconnected,
    FieldProblem,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    RateLimited,
    Stale,
    Unauthorized,
    Unavailable,
)

__all__ = [
    "AfterwordError", "ApiError", "Client", "Conflict", "Credentials", "Disconnected", "FieldProblem", "Forbidden",
    "Gone", "Invalid", "NotFound", "RateLimited", "Stale", "Unauthorized", "Unavailable", "models",
]  # fmt: skip
