"""The review link of an ending: a script of the page tells when somebody opens it, and each response counts once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances import answers
from afterword.asking.instances.answer_page import AnswerPage, answer_page_of, read_posted
from afterword.core.answers.suspicion import is_token, token_of
from afterword.core.figures.periods import Period
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.db.columns import within
from afterword.kit.web import html, public
from afterword.kit.web.routing import Pages

PURPOSE: Final = "review"
COUNTED_MAX: Final = 100_000

routes = Pages()


async def _insert_click(
    db: Database, *, organization_id: str, instance_id: str, questionnaire_id: str, now: datetime
) -> None:
    await db.execute(
        """insert into review_click (organization_id, instance_id, questionnaire_id, created_time)
           values ($1, $2, $3, $4) on conflict do nothing""",
        *(organization_id, instance_id, questionnaire_id, now),
    )


async def count_clicks(
    db: Database, *, organization_id: str, questionnaire_id: str, period: Period, only: Sequence[str] | None
) -> int:
    """Responses of the questionnaire whose review link was opened in this time, at most COUNTED_MAX.

    `only`: the name and the values of metadata that limit the caller.
    """
    return await db.fetch_value(
        f"""select count(*) from (
             select from review_click c
             where c.organization_id = $1 and c.questionnaire_id = $2 and c.created_time >= $3 and c.created_time < $4
               and {within("c.instance_id", "$6")}
             limit $5) n""",
        *(organization_id, questionnaire_id, period.from_time, period.to_time, COUNTED_MAX, only),
    )


def told_of(answer_page: AnswerPage, secret: bytes) -> tuple[str, str] | None:
    """The address to which the page tells that the link was opened, and its token; None where nobody counts it."""
    instance = answer_page.instance
    if instance is None or instance.test or instance.anonymity is not None:
        return None
    return f"/a/{instance.instance_id}/review", token_of(secret, PURPOSE, instance.instance_id)


@routes.post("/a/{instance_id}/review", for_people=True)
async def post_review(request: Request) -> Response:
    """Sent by the script of the page."""
    instance_id: str = request.path_params["instance_id"]
    posted, secret = read_posted(await public.read_body(request)), request.state.site.secret
    if not is_token(posted.token, secret=secret, purpose=PURPOSE, subject=instance_id):
        raise errors.Forbidden("This did not come from the page.")
    async with db.transaction(request.state.pool) as database:
        answer_page = answer_page_of(await answers.read_context(database, instance_id=instance_id))
        issued = answer_page.issued
        if issued.finalized and not issued.is_kept_apart and told_of(answer_page, secret):
            now = database.clock.now()
            await _insert_click(database, **issued.questionnaire_key, instance_id=instance_id, now=now)
    return Response(None, status_code=204, headers=dict(html.PAGE_HEADERS))
