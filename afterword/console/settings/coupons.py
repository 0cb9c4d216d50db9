"""Settings: pools of coupon codes, the page of one with its codes, and the form that adds some."""

from types import SimpleNamespace
from typing import Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import Input, document_of, form_page, read_as, same_version
from afterword.console.lists import Column, Listing, page_links, page_of
from afterword.console.screens import Screens, Visit
from afterword.console.text import near_moment
from afterword.coupons import api, service, store
from afterword.coupons.store import CouponPool
from afterword.web import fields, html

PATH: Final = "/console/settings/coupons"
ONE: Final = f"{PATH}/{{pool_id}}"
POOLS: Final = fields.listing_of(api.CouponPool)
CODES: Final = fields.listing_of(api.CouponCode)
CODES_CHARACTERS_MAX: Final = 500_000
INPUTS: Final = (
    Input("title", "text", "Name", required=True),
    Input(
        "key",
        "text",
        "Key",
        "Small letters, digits and underscores; definitions of questionnaires name the pool by it.",
        required=True,
    ),
    Input("low_count", "number", "Low from", "With so few free codes the overview says so.", required=True),
)

routes = Screens()


@routes.get(PATH, scope="Coupon Pool.Read")
async def list_pools(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        found = await store.list_pools(
            db, organization_id=visit.caller.organization_id, page=page_of(POOLS, visit.query)
        )
    is_whole = not visit.caller.is_limited
    new = (
        (words("New coupon pool"), f"{PATH}/new") if is_whole and "Coupon Pool.Create" in visit.caller.scopes else None
    )
    return visit.page(
        "coupons.html",
        title=words("Coupons"),
        new=new,
        list=Listing(
            rows=[
                {
                    "url": f"{PATH}/{one.pool_id}" if is_whole else "",
                    "title": one.title,
                    "is_low": one.is_low,
                    "free": words.count(one.free_count),
                    "given": words.count(one.given_count),
                }
                for one in found.items
            ],
            columns=[
                Column(text=words("Name")),
                Column(text=words("Free"), is_number=True),
                Column(text=words("Given"), is_number=True),
            ],
            empty=words("No coupon pool yet. An ending of a questionnaire shows each customer a code of one."),
            empty_link=new,
            **page_links(found, visit.query, PATH),
        ),
    )


@routes.post(f"{PATH}/new", scope="Coupon Pool.Create")
async def create_pool(visit: Visit) -> Response:
    try:
        request = read_as(api.CouponPoolRequest, document_of(visit.form, INPUTS), visit)
        async with visit.write() as db:
            columns = msgspec.structs.asdict(request)
            pool = await service.create(db, caller=visit.caller, columns=columns, now=visit.now)
    except errors.Invalid as refusal:
        return await _form(visit, None, refusal)
    return html.redirect(f"{PATH}/{pool.pool_id}?done=saved")


@routes.post(ONE, scope="Coupon Pool.Update")
async def add_codes(visit: Visit) -> Response:
    """Codes of a file, else those that were pasted."""
    content = visit.form.files.get("file")
    try:
        try:
            text = content.decode() if content is not None else visit.form.text("codes")
        except UnicodeDecodeError:
            text = ""
        codes = service.read_lines(text[:CODES_CHARACTERS_MAX])
        if not codes:
            raise errors.Invalid.at("/codes", "required", visit.words("Paste codes, or choose a file of text."))
        async with visit.write() as db:
            added = 0
            for first in range(0, len(codes), service.CODES_ADDED_MAX):
                some = codes[first : first + service.CODES_ADDED_MAX]
                added += await service.add(db, caller=visit.caller, **visit.ids, codes=some, now=visit.now)
    except errors.Invalid as refusal:
        first_wrong = refusal.errors[0] if refusal.errors else errors.FieldError("", str(refusal))
        return await _page(visit, errors.Invalid.at("/codes", first_wrong.code, visit.words(first_wrong.message)))
    return html.redirect(f"{PATH}/{visit.id('pool_id')}?done=saved&added={added}&known={len(codes) - added}")


@routes.get(f"{ONE}/edit", scope="Coupon Pool.Update")
async def edit_pool(visit: Visit) -> Response:
    async with visit.read() as db:
        return await _form(visit, await service.get(db, caller=visit.caller, **visit.ids))


@routes.post(f"{ONE}/edit", scope="Coupon Pool.Update")
async def save_pool(visit: Visit) -> Response:
    pool_id = visit.id("pool_id")
    try:
        request = read_as(api.CouponPoolUpdate, document_of(visit.form, INPUTS), visit)
        async with visit.write() as db:
            await service.change(
                db,
                caller=visit.caller,
                pool_id=pool_id,
                changes=request.named(),
                expect=same_version(visit),
                now=visit.now,
            )
    except (errors.Invalid, errors.Stale) as refusal:
        async with visit.read() as db:
            return await _form(visit, await service.get(db, caller=visit.caller, pool_id=pool_id), refusal)
    return html.redirect(f"{PATH}/{pool_id}?done=saved")


@routes.get(f"{ONE}/removal", scope="Coupon Pool.Delete")
async def confirm_removal(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        pool = await service.get(db, caller=visit.caller, **visit.ids)
    free = words.plural("{n} free code goes with it.", "{n} free codes go with it.", pool.free_count)
    if pool.given_count:
        return visit.confirm(
            title=words("Withdraw the free codes of “{title}”?", title=pool.title),
            sentences=[words("Customers have codes of it, so the pool stays."), free],
            button=words("Withdraw the free codes"),
        )
    return visit.confirm(
        title=words("Remove the coupon pool “{title}”?", title=pool.title),
        sentences=[words("Endings that ask for it are passed over from then on."), free],
        button=words("Remove the pool"),
    )


@routes.post(f"{ONE}/removal", scope="Coupon Pool.Delete")
async def remove_pool(visit: Visit) -> Response:
    pool_id = visit.id("pool_id")
    async with visit.write() as db:
        pool = await service.get(db, caller=visit.caller, pool_id=pool_id, is_locked=True)
        if pool.given_count:
            await service.withdraw(db, caller=visit.caller, pool_id=pool_id, expect=lambda _: None)
        else:
            await service.delete(db, caller=visit.caller, pool_id=pool_id, expect=lambda _: None)
    return html.redirect(f"{PATH}/{pool_id}?done=removed" if pool.given_count else f"{PATH}?done=removed")


@routes.get(f"{PATH}/new", scope="Coupon Pool.Create")
async def _form(visit: Visit, pool: CouponPool | None = None, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    here = f"{PATH}/{pool.pool_id}" if pool else PATH
    return form_page(
        visit,
        title=words("Change the coupon pool") if pool else words("New coupon pool"),
        back=(pool.title, here) if pool else (words("Coupons"), PATH),
        action=f"{here}/edit" if pool else f"{PATH}/new",
        inputs=INPUTS,
        stored=pool or SimpleNamespace(low_count=api.LOW_DEFAULT, version=0),
        version=pool.version if pool else 0,
        refusal=refusal,
    )


@routes.get(ONE, scope="Coupon Pool.Read")
async def _page(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, scopes = visit.words, visit.caller.scopes
    sees_codes = "Responder.Read" in scopes
    async with visit.read() as db:
        pool = await service.get(db, caller=visit.caller, **visit.ids)
        page = page_of(CODES, visit.query)
        found = (
            await store.list_codes(db, organization_id=pool.organization_id, pool_id=pool.pool_id, page=page)
            if sees_codes
            else None
        )
    here = f"{PATH}/{pool.pool_id}"
    added, known = (visit.query.get(name, "") for name in ("added", "known"))
    return visit.page(
        "coupon.html",
        title=pool.title,
        status=refusal.status if refusal else 200,
        pool=pool,
        here=here,
        free=words.count(pool.free_count),
        given=words.count(pool.given_count),
        note=words("{added} codes are new, {known} were there already.", added=added, known=known)
        if added.isdigit() and known.isdigit()
        else "",
        typed=visit.form.text("codes"),
        characters_max=CODES_CHARACTERS_MAX,
        refusal=refusal,
        may_update="Coupon Pool.Update" in scopes,
        may_remove="Coupon Pool.Delete" in scopes,
        list=Listing(
            rows=[
                {
                    "code": one.code,
                    "when": near_moment(words, one.given_time, now=visit.now, zone=visit.zone)
                    if one.given_time
                    else words("free"),
                    "person_url": f"/console/people/{one.responder_id}" if one.responder_id else "",
                }
                for one in found.items
            ],
            columns=[Column(text=words("Code")), Column(text=words("Given")), Column(text=words("Customer"))],
            empty=words("No code yet."),
            **page_links(found, visit.query, here),
        )
        if found
        else None,
    )
