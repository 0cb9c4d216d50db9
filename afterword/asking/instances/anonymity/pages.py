"""The answer page of an anonymous invitation: one page, of which nothing is stored before it is sent."""

from collections.abc import Callable
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances.anonymity import service
from afterword.asking.instances.answer_page import AnswerPage, PageAnswers, Posted, first
from afterword.asking.instances.answers import service as answers
from afterword.asking.instances.rendering import closed_page, expired_page, thank_you_page
from afterword.core.wire.site import Site
from afterword.kit.db import Database


async def send(
    request: Request, database: Database, answer_page: AnswerPage, posted: Posted, *, show: Callable[..., Response]
) -> Response:
    """Take the posted page as a whole, or show it again with its input: in another language, or with more questions.

    The ending is the answer to the POST, because it depends on answers that can be found no more afterwards.
    """
    site: Site = request.state.site
    if posted.locale:
        return show(request, answer_page.in_language(posted.locale), 1, posted=posted)
    form, after = _read(answer_page, posted)
    shown, place = first(posted.fields, "shown").split(), after.sequence.definition.position
    appeared = [one.question_id for one in after.sequence.questions_on(1) if str(place(one.question_id)) not in shown]
    wrong = after.wrong_on(1, form, appeared)
    if wrong or appeared:
        return show(request, after, 1, posted=posted, wrong=wrong, status=422 if wrong else 200)
    try:
        taken = await service.take(
            database, context=answer_page.context, answers=form.given, secret=site.secret, now=database.clock.now()
        )
    except (answers.Expired, answers.Inactive, answers.Closed) as refusal:
        return refused_page(answer_page, refusal)
    if taken.wrong:
        return show(request, after, 1, posted=posted, wrong=after.missing_on(1), status=422)
    return thank_you_page(replace(after, started=taken.context))


def _read(answer_page: AnswerPage, posted: Posted) -> tuple[PageAnswers, AnswerPage]:
    """The answers, and the page with them. Answers make questions appear, which are read in the next round."""
    form, after = answer_page.read_form(1, posted), answer_page
    while (more := answer_page.answered(form.given)).sequence.questions_on(1) != after.sequence.questions_on(1):
        form, after = more.read_form(1, posted), more
    return form, more


def refused_page(answer_page: AnswerPage, refusal: errors.Refusal) -> Response:
    return expired_page(answer_page) if isinstance(refusal, answers.Expired) else closed_page(answer_page)
