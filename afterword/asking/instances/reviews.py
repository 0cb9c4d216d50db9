"""The review link of an ending: a script of the page tells when somebody opens it, and each response counts once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from afterword.asking.instances import answers
from afterword.asking.instances.answer_page import AnswerPage, answer_page_of
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.web import html
from afterword.kit.web.routing import Pages

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
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    from_time: datetime,
    to_time: datetime,
    only: Sequence[str] | None = None,
) -> int:
    """Responses of the questionnaire whose review link was opened in this time, at most COUNTED_MAX.

    `only`: the name and the values of metadata that limit the caller.
    """
    return await db.fetch_value(
        """select count(*) from (
             select from review_click c
             where c.organization_id = $1 and c.questionnaire_id = $2 and c.created_time >= $3 and c.created_time < $4
               and ($6::text[] is null or exists (
                 select from questionnaire_instance i
                 where i.organization_id = c.organization_id and i.instance_id = c.instance_id
                   and i.metadata ->> ($6::text[])[1] = any(($6::text[])[2:])))
             limit $5) n""",
        *(organization_id, questionnaire_id, from_time, to_time, COUNTED_MAX, only),
    )


def address_of(answer_page: AnswerPage) -> str:
    """The address to which the page tells that the link was opened; empty where nobody counts it."""
    instance = answer_page.instance
    is_counted = instance is not None and not instance.test and instance.anonymity is None
    return f"/a/{instance.instance_id}/review" if instance is not None and is_counted else ""


@routes.post("/a/{instance_id}/review", for_people=True)
async def post_review(request: Request) -> Response:
    """Sent by the script of the page, without a body; the id in the address is what only its person knows."""
    instance_id: str = request.path_params["instance_id"]
    async with db.transaction(request.state.pool) as database:
        answer_page = answer_page_of(await answers.read_context(database, instance_id=instance_id))
        issued = answer_page.issued
        if issued.finalized and not issued.is_kept_apart and address_of(answer_page):
            key = {"organization_id": issued.organization_id, "questionnaire_id": issued.questionnaire_id}
            await _insert_click(database, **key, instance_id=instance_id, now=database.clock.now())
    return Response(None, status_code=204, headers=dict(html.PAGE_HEADERS))
