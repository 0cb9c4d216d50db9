"""Settings: pools of coupon codes, the page of one with its codes, and the form that adds some."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.coupons import CODES_ADDED_MAX, POOL, CouponCode, add, list_codes_of_pool, read_lines, withdraw
from afterword.console.nouns import screens_of
from afterword.console.screens import Database, Visit
from afterword.core.wire import tables
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.ui.lists import Column, Listing, page_links, page_of
from afterword.kit.ui.text import near_moment
from afterword.kit.web import fields, html

PATH: Final = "/console/settings/coupons"
ONE: Final = f"{PATH}/{{pool_id}}"
CODES: Final = fields.listing_of(CouponCode)
CODES_CHARACTERS_MAX: Final = 500_000

routes = screens_of(POOL, without=("list", "removal"))


@routes.get(PATH, scope="Coupon Pool.Read")
async def list_pools(visit: Visit, db: Database) -> Response:
    words = visit.words
    page = page_of(structs.listing_of(POOL), visit.query)
    found = await nouns.rows(POOL, db, organization_id=visit.caller.organization_id, page=page)
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
            empty=words("No coupon pool yet. The ending of a questionnaire can show each customer a code from a pool."),
            empty_link=new,
            **page_links(found, visit.query, PATH),
        ),
    )


@routes.post(ONE, scope="Coupon Pool.Update")
async def add_codes(visit: Visit) -> Response:
    """Codes of a file, else those that were pasted."""
    try:
        content = visit.form.file()
        text = visit.form.text("codes") if content is None else tables.decode(content, None)
        codes = read_lines(text)
        if len(text) > CODES_CHARACTERS_MAX:
            wrong = errors.Sentence("At most {n} characters.", n=CODES_CHARACTERS_MAX)
            raise errors.Invalid.at("/codes", "too_long", wrong)
        if not codes:
            raise errors.Invalid.at("/codes", "required", visit.words("Paste codes, or choose a text file."))
        async with visit.write() as db:
            added = 0
            for first in range(0, len(codes), CODES_ADDED_MAX):
                some = codes[first : first + CODES_ADDED_MAX]
                added += await add(db, caller=visit.caller, **visit.ids, codes=some, now=visit.now)
    except (errors.Malformed, errors.Invalid) as refusal:
        first_wrong = refusal.errors[0] if refusal.errors else errors.FieldError("", str(refusal))
        return await _page(visit, errors.Invalid.at("/codes", first_wrong.code, visit.words.said(first_wrong.message)))
    return html.redirect(f"{PATH}/{visit.id('pool_id')}?done=saved&added={added}&known={len(codes) - added}")


@routes.get(f"{ONE}/removal", scope="Coupon Pool.Delete")
async def confirm_removal(visit: Visit) -> Response:
    words, pool = visit.words, await visit.row(POOL)
    free = words.plural("{n} free code is removed too.", "{n} free codes are removed too.", pool.free_count)
    if pool.given_count:
        return visit.confirm(
            title=words("Withdraw the free codes of “{title}”?", title=pool.title),
            sentences=[words("Customers have codes from it, so the pool cannot be removed."), free],
            button=words("Withdraw the free codes"),
        )
    return visit.confirm(
        title=words("Remove the coupon pool “{title}”?", title=pool.title),
        sentences=[words("Endings that use it are skipped from then on."), *([free] if pool.free_count else [])],
        button=words("Remove the pool"),
    )


@routes.post(f"{ONE}/removal", scope="Coupon Pool.Delete")
async def remove_pool(visit: Visit, db: Database) -> Response:
    pool_id = visit.id("pool_id")
    pool = await nouns.get(POOL, db, caller=visit.caller, key=pool_id, is_locked=True)
    if pool.given_count:
        await withdraw(db, caller=visit.caller, pool_id=pool_id)
    else:
        await nouns.delete(POOL, db, key=pool_id, **visit.acting)
    return html.redirect(f"{PATH}/{pool_id}?done=removed" if pool.given_count else f"{PATH}?done=removed")


@routes.get(ONE, scope="Coupon Pool.Read")
async def _page(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, scopes = visit.words, visit.caller.scopes
    sees_codes = "Responder.Read" in scopes
    async with visit.read() as db:
        pool = await nouns.get(POOL, db, caller=visit.caller, key=visit.id("pool_id"))
        page = page_of(CODES, visit.query)
        found = (
            await list_codes_of_pool(db, organization_id=pool.organization_id, pool_id=pool.pool_id, page=page)
            if sees_codes
            else None
        )
    here = f"{PATH}/{pool.pool_id}"
    added, known = (visit.query.get(name, "") for name in ("added", "known"))
    return visit.page(
        "coupon.html",
        title=pool.title,
        pool=pool,
        here=here,
        free=words.count(pool.free_count),
        given=words.count(pool.given_count),
        note=words("{added} codes are new, {known} were already there.", added=added, known=known)
        if added.isdigit() and known.isdigit()
        else "",
        typed=visit.form.text("codes"),
        characters_max=CODES_CHARACTERS_MAX,
        refusal=refusal,
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
