"""A report by its link: whoever has the address reads its figures without a login, until the link ends."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.console.response_list import CHANNELS
from afterword.console.screens import Guest, Marked, Screens
from afterword.core.wire.lists import Page
from afterword.listening.reports import results, shares
from afterword.listening.screens import reports
from afterword.listening.screens.forms import declared
from afterword.listening.screens.views import Names

WORDS: Final[Mapping[int, tuple[Marked, Marked]]] = {
    404: ("There is no such report", "The address may be incomplete, or the link was ended."),
    410: ("This link has ended", "Ask whoever sent it for a new one."),
    422: ("This report cannot be shown now", "It reads more answers than a link may, or a part of it was removed."),
}

routes = Screens()


@routes.open_get("/console/shared/{organization_id}/{secret}")
async def shared_report(guest: Guest) -> Response:
    organization_id, secret = (guest.request.path_params[name] for name in ("organization_id", "secret"))
    words = guest.words
    async with guest.read() as db:
        try:
            report, plan = await shares.read(db, organization_id=organization_id, secret=secret, now=guest.now)
            result = await results.run_plan(db, plan)
        except (errors.NotFound, errors.Gone, errors.Invalid) as refusal:
            title, text = map(words, WORDS[refusal.status])
            return guest.page("shared_ended.html", title=title, status=refusal.status, text=text)
        found = await questionnaires_store.list_questionnaires(
            db, organization_id=organization_id, page=Page.first(reports.QUESTIONNAIRES, limit=reports.LISTED_MAX)
        )
    names = Names(
        words=words,
        questions=plan.context.questions,
        questionnaires={one.questionnaire_id: one.display_name for one in found.items},
        channels=CHANNELS,
        metadata=declared(words, plan.context),
        url=lambda _selection, _stages: "",
    )
    values = reports.values_of(words, result, names, template_id=report.spec.get("template_id"))
    return guest.page("shared.html", title=report.title, **values)
