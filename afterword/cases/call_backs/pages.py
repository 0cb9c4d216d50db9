"""The posted call-back form of an ending."""

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.instances.answer_page import Placement, answer_page_of, read_posted
from afterword.asking.instances.answers import service as answers
from afterword.asking.instances.call_backs import service as call_backs
from afterword.asking.instances.rendering import thank_you_page
from afterword.asking.links.widgets.pages import PATH as WIDGET
from afterword.asking.links.widgets.pages import placement_of
from afterword.cases.call_backs import service
from afterword.core.answers.form_tokens import is_token
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web import html, public
from afterword.kit.web.limits import Limiter
from afterword.kit.web.routing import Pages

WRONG: int = 422

routes = Pages()


@routes.post("/a/{instance_id}/call", for_people=True)
async def post_call(request: Request) -> Response:
    return await ask_for_call(request)


@routes.post(f"{WIDGET}/{{instance_id}}/call", for_people=True)
async def post_box_call(request: Request) -> Response:
    placement = await placement_of(request, instance_id=request.path_params["instance_id"])
    return html.framed(await ask_for_call(request, placement), placement.data["origins"].split())


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
            return thank_you_page(answer_page, call_back=shown, status=WRONG)
        if answer_page.issued.test:
            return thank_you_page(answer_page, call_back=call_backs.said(answer_page, call), is_preview=True)
        await service.request(database, context=context, call=call, now=now)
    return end
