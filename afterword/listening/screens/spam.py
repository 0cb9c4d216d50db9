"""Responses with signs of a machine or of haste: the list by state, with the signs in words, and their judgement."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from starlette.responses import Response

from afterword.asking.instances import service as instances, spam
from afterword.asking.instances.spam import LISTING, STATES, Decision, State
from afterword.console.response_list import RESPONSES, done
from afterword.console.screens import Database, Screens, Visit
from afterword.core.answers.suspicion import FLAGS, Judgement
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import address, page_links, page_of
from afterword.kit.ui.text import near_moment
from afterword.kit.web import html

routes = Screens()
DOUBTFUL: Final = f"{RESPONSES}/doubtful"
COUNTED_MAX: Final = 100
FLAG_TEXTS: Final[Mapping[str, Marked]] = {
    "burst": "one of many within a minute from the same network",
    "too_fast": "sent faster than anyone can read",
    "hidden_field": "a field that people cannot see was filled in",
    "provisional": "provisional: the page was only looked at, nobody confirmed the score",
    "many_links": "several scores of one mail were opened",
    "one_network": "mails of other people were opened from the same network within seconds",
    "automated": "a program opened the page",
    "speeding": "answered in less than a third of the usual time",
    "straight_lining": "the same answer in all rows",
}


@routes.get(DOUBTFUL, scope="Questionnaire Instance.Read")
async def list_doubtful(visit: Visit, db: Database) -> Response:
    words, query = visit.words, visit.query
    state: State = next((one for one in STATES if one == query.get("state")), "held")
    flag = next((one for one in FLAGS if one == query.get("flag")), None)
    found = await spam.list_doubtful(db, **visit.caller.reach, state=state, flag=flag, page=page_of(LISTING, query))
    counts = await spam.count_doubtful(db, **visit.caller.reach, states=STATES, limit=COUNTED_MAX)
    return visit.page(
        "doubtful.html",
        title=words("Suspicious responses"),
        flags=[("", words("All"))] + [(one, signs_of(words, [one])) for one in FLAGS],
        flag=flag or "",
        state=state,
        action=address(DOUBTFUL, state=state, flag=flag),
        decisions=decisions_of(visit, state),
        counts=[(one, words.count(counts[one], is_capped=counts[one] == COUNTED_MAX)) for one in STATES],
        rows=[(one, near_moment(words, one.submitted_time, now=visit.now, zone=visit.zone)) for one in found.items],
        signs_of=partial(signs_of, words),
        **page_links(found, query, DOUBTFUL, state=state, flag=flag),
    )


@routes.post(DOUBTFUL, scope="Questionnaire Instance.Update")
async def judge_many(visit: Visit, db: Database) -> Response:
    """Those that were ticked, or all that the page showed."""
    ids = visit.form.all("shown" if visit.form.text("among") else "id")
    here = address(DOUBTFUL, state=visit.query.get("state"), flag=visit.query.get("flag"))
    return await _judge(visit, db, ids[: spam.JUDGED_MAX], back=here)


@routes.post(f"{RESPONSES}/{{instance_id}}/judgement", scope="Questionnaire Instance.Update")
async def judge_one(visit: Visit, db: Database) -> Response:
    instance_id = visit.id("instance_id")
    await instances.get(db, caller=visit.caller, instance_id=instance_id)
    return await _judge(visit, db, [instance_id], back=f"{RESPONSES}/{instance_id}")


async def _judge(visit: Visit, db: Database, instance_ids: Sequence[str], *, back: str) -> Response:
    decision: Decision = "accepted" if visit.form.text("judgement") == "accepted" else "rejected"
    count = await spam.judge(db, caller=visit.caller, instance_ids=instance_ids, decision=decision, now=visit.now)
    return html.redirect(done(back, "judged") if count else back)


def signs_of(words: Texts, flags: Sequence[str]) -> str:
    return "; ".join(words(FLAG_TEXTS[flag]) for flag in FLAGS if flag in flags)


def decisions_of(visit: Visit, state: State | Judgement) -> list[tuple[str, str]]:
    if state == "marked" or "Questionnaire Instance.Update" not in visit.caller.scopes:
        return []
    words = visit.words
    return [
        (name, text) for name, text in (("accepted", words("Accept")), ("rejected", words("Reject"))) if name != state
    ]
