"""The pages behind the links of a test message: they say that it was one, and write nothing."""

from starlette.requests import Request
from starlette.responses import Response

from afterword.kit.texts import accepted, texts
from afterword.kit.web import public
from afterword.kit.web.routing import Pages
from afterword.sending.messages.context import SAMPLE_CODE, SAMPLE_ID

UNSUBSCRIBE = f"/u/{SAMPLE_ID}"

routes = Pages()


@routes.get(f"/a/{SAMPLE_ID}", f"/s/{SAMPLE_CODE}", UNSUBSCRIBE)
@routes.post(UNSUBSCRIBE)  # the one click of a mail reader, which nobody has asked for
async def sample_page(request: Request) -> Response:
    """In place of the questionnaire, and of the question whether to unsubscribe."""
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    if request.url.path == UNSUBSCRIBE:
        about = words("In a real message this link stops further questionnaires.")
    else:
        about = words("In a real message this link opens the questionnaire.")
    return public.message_page(
        words=words,
        title=words("This was a test"),
        paragraphs=[about],
        facts=[words("Nothing was saved."), words("You can close this page.")],
    )
