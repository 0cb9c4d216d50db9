"""Opens a case for a customer who asked to be called, or changes the call while nobody has taken the case."""

from datetime import datetime
from typing import Any

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.instances import answers, call_backs
from afterword.asking.instances.answer_page import Placement, answer_page_of, read_posted
from afterword.asking.instances.answers import AnswerContext
from afterword.asking.instances.call_backs import Read
from afterword.asking.instances.rendering import thank_you_page
from afterword.asking.instances.triggers import Response as ResponseRecord, facts_of
from afterword.asking.links.pages import BOX as WIDGET, placement_of
from afterword.cases import assignments, history, rules, settings
from afterword.cases.alert_instances import service as alert_instances, store
from afterword.cases.rules import Alert
from afterword.core.answers.suspicion import is_token
from afterword.core.messaging import alerts as core_alerts
from afterword.core.messaging.alerts import Match
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.texts import texts
from afterword.kit.web import html, public
from afterword.kit.web.limits import Limiter
from afterword.kit.web.routing import Pages


async def request_call(db: Database, *, context: AnswerContext, call: Read, now: datetime) -> None:
    """Open the case of the call, or change the call. The instance is locked, so there is one case. Raises Conflict."""
    instance = context.instance
    columns: dict[str, Any] = {
        "call_back_number": call.number,
        "call_back_time": call.window[0],
        "call_back_until_time": call.window[1],
        "call_back_note": call.note,
        "due_time": call.window[1],
    }
    before = await store.get_case_of_call(db, **instance.key)
    if before is None:
        await _open(db, context=context, columns=columns, now=now)
        return
    if before.updated_by is not None or before.resolved_time is not None:
        raise errors.Conflict("Somebody works on this call already.", "call_back_taken")
    if after := await alert_instances.change(db, before=before, changes=columns, now=now):
        await history.record_change(db, before=before, after=after, caller=None, now=now)


async def _open(db: Database, *, context: AnswerContext, columns: dict[str, Any], now: datetime) -> None:
    instance = context.instance
    organization_id = instance.organization_id
    response = ResponseRecord(
        organization_id, instance.instance_id, instance.questionnaire_id, instance.responder_id, test=False
    )
    facts = (await facts_of(db, responses=[response])).get((organization_id, instance.instance_id), {})
    alert, match = await _rule_for(db, context=context, facts=facts, now=now)
    assigner = await assignments.assigner_for(db, alerts=[alert])
    case = alert_instances.new_case(
        alert,
        response=response,
        match=match,
        owner_id=assigner.owner_of(alert, facts),
        opens_closed=False,
        calendar=await settings.calendar_of(db, organization_id=organization_id),
        now=now,
    )
    case = replace(case, **columns, call_back_requested_time=now)
    await alert_instances.open_cases(db, cases=[case], now=now)


async def _rule_for(db: Database, *, context: AnswerContext, facts: Facts, now: datetime) -> tuple[Alert, Match]:
    """The first rule for calls whose conditions hold; else the application's own, which is made when it is missing.

    A customer who was promised a call is not forgotten because no rule fits.
    """
    instance, application_id = context.instance, context.questionnaire.owner_application_id
    organization_id = instance.organization_id
    active = await rules.list_active_alerts(db, questionnaires=[(organization_id, instance.questionnaire_id)])
    for alert in (one.alert for one in active if not one.opens_closed and one.alert.trigger == core_alerts.CALL_BACK):
        match = core_alerts.judge(conditions.read_saved(alert.conditions), facts)
        if match.holds:
            return alert, match
    words = texts("console", context.definition.default_locale)
    title = words("Customers asking for a call")
    own = await rules.for_calls(
        db, organization_id=organization_id, application_id=application_id, title=title, now=now
    )
    return own, Match(holds=True, leaves=[])


routes = Pages()


@routes.post(f"{WIDGET}/{{instance_id}}/call", for_people=True)
async def post_box_call(request: Request) -> Response:
    placement = await placement_of(request)
    return html.framed(await ask_for_call(request, placement), placement.data["origins"].split())


@routes.post("/a/{instance_id}/call", for_people=True)
async def ask_for_call(request: Request, placement: Placement | None = None) -> Response:
    """Open the case of the call and go back to the end; a form that is sent again changes the call or nothing."""
    limiter: Limiter = request.state.limiter
    limiter.count_start(request.client.host if request.client else "")
    site: Site = request.state.site
    instance_id: str = request.path_params["instance_id"]
    posted = read_posted(await public.read_body(request))
    if not ids.is_id(instance_id):
        raise errors.NotFound("There is no such page.")
    async with db.transaction(request.state.pool) as database:
        now = database.clock.now()
        context = await answers.lock_context(database, instance_id=instance_id)
        if not is_token(posted.token, secret=site.secret, purpose=call_backs.PURPOSE, subject=instance_id):
            raise errors.Forbidden("This did not come from the page.")
        answer_page = answer_page_of(context).placed(placement)
        end = html.redirect(answer_page.address(instance_id))
        form = None
        if answer_page.issued.finalized:
            form = await call_backs.offered(
                database, answer_page=answer_page, secret=site.secret, now=now, changes=True
            )
        if form is None or not form.action:
            return end
        call = call_backs.read(answer_page, form, posted.fields)
        if call.wrong:
            shown = call_backs.again(form, posted.fields, call)
            return thank_you_page(answer_page, call_back=shown, status=422)
        if answer_page.issued.test:
            return thank_you_page(answer_page, call_back=call_backs.said(answer_page, call), is_preview=True)
        await request_call(database, context=context, call=call, now=now)
    return end
