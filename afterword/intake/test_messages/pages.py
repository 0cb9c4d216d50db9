"""The pages behind the links of a test message: they say that it was one, and write nothing."""

from starlette.requests import Request
from starlette.responses import Response

from afterword.messages.email import SAMPLE_CODE, SAMPLE_ID
from afterword.texts import accepted, texts
from afterword.web import public
from afterword.web.pages import Pages

routes = Pages()


@routes.get(f"/a/{SAMPLE_ID}", f"/s/{SAMPLE_CODE}")
async def sample_page(request: Request) -> Response:
    """In place of the questionnaire."""
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    return public.message_page(
        words=words,
        title=words("This was a test"),
        paragraphs=[words("In a real message this link opens the questionnaire.")],
        facts=[words("Nothing was saved."), words("You can close this page.")],
    )


@routes.get(f"/u/{SAMPLE_ID}")
async def sample_unsubscribe_page(request: Request) -> Response:
    """In place of the question whether to unsubscribe."""
    return _unsubscribe_page(request)


@routes.post(f"/u/{SAMPLE_ID}")
async def sample_unsubscribe(request: Request) -> Response:
    """The one click of a mail reader, which nobody has asked for."""
    return _unsubscribe_page(request)


def _unsubscribe_page(request: Request) -> Response:
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    return public.message_page(
        words=words,
        title=words("This was a test"),
        paragraphs=[words("In a real message this link stops further questionnaires.")],
        facts=[words("Nothing was saved."), words("You can close this page.")],
    )
