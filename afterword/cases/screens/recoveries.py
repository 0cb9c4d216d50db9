"""The page that says when the customer of a case can be asked again, and the button that does it."""

from starlette.responses import Response

from afterword.cases import recovery_invitations
from afterword.cases.alert_instances import service as cases
from afterword.cases.screens.rows import CASES
from afterword.console.screens import Screens, Visit
from afterword.kit.ui.text import near_moment
from afterword.kit.web import html

routes = Screens()


@routes.get(f"{CASES}/{{alert_instance_id}}/recovery", scope="Alert Instance.Update")
async def recovery_page(visit: Visit) -> Response:
    words, back = visit.words, f"{CASES}/{visit.id('alert_instance_id')}"
    async with visit.read() as db:
        case = await cases.get(db, caller=visit.caller, **visit.ids)
        plan = await recovery_invitations.foresee(db, caller=visit.caller, case=case, site=visit.site)
    moment = near_moment(words, max(plan.planned_time or visit.now, visit.now), now=visit.now, zone=visit.zone)
    sentences = [
        words(
            "“{questionnaire}” goes to {address}. The message leaves {moment}.",
            questionnaire=plan.way.questionnaire_name,
            address=plan.request.responder_channel_identifier,
            moment=moment,
        ),
        *([plan.reason] if plan.reason else []),
        words("The answer comes into the case, and the figures count who is won back."),
    ]
    return visit.page(
        "recovery_of_case.html",
        title=words("Ask the customer again?"),
        sentences=sentences,
        action=f"{back}/recovery",
        back=back,
    )


@routes.post(f"{CASES}/{{alert_instance_id}}/recovery", scope="Alert Instance.Update")
async def ask_again(visit: Visit) -> Response:
    """A second press finds the customer asked already, which is what was wanted."""
    case_id = visit.id("alert_instance_id")
    try:
        async with visit.write() as db:
            await recovery_invitations.ask(
                db, caller=visit.caller, alert_instance_id=case_id, site=visit.site, now=visit.now
            )
    except recovery_invitations.AlreadyAsked:
        pass
    return html.redirect(f"{CASES}/{case_id}?done=asked_again")
