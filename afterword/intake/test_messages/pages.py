"""The pages behind the links of a test message: they say that it was one, and write nothing."""

from typing import Any

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.status_codes import HTTP_200_OK

from afterword.messages.email import SAMPLE_CODE, SAMPLE_ID
from afterword.texts import accepted, texts
from afterword.web import public


@get([f"/a/{SAMPLE_ID}", f"/s/{SAMPLE_CODE}"])
async def sample_page(request: Request[Any, Any, Any]) -> Response[str]:
    """In place of the questionnaire."""
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    return public.message_page(
        words=words,
        title=words("This was a test"),
        paragraphs=[words("In a real message this link opens the questionnaire.")],
        facts=[words("Nothing was saved."), words("You can close this page.")],
    )


@get(f"/u/{SAMPLE_ID}")
async def sample_unsubscribe_page(request: Request[Any, Any, Any]) -> Response[str]:
    """In place of the question whether to unsubscribe."""
    return _unsubscribe_page(request)


@post(f"/u/{SAMPLE_ID}", status_code=HTTP_200_OK)
async def sample_unsubscribe(request: Request[Any, Any, Any]) -> Response[str]:
    """The one click of a mail reader, which nobody has asked for."""
    return _unsubscribe_page(request)


def _unsubscribe_page(request: Request[Any, Any, Any]) -> Response[str]:
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    return public.message_page(
        words=words,
        title=words("This was a test"),
        paragraphs=[words("In a real message this link stops further questionnaires.")],
        facts=[words("Nothing was saved."), words("You can close this page.")],
    )


routes: list[HTTPRouteHandler] = [sample_page, sample_unsubscribe_page, sample_unsubscribe]
