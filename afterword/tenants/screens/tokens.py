"""Tokens: the list, making and rotating one, whose text is shown once, changing and ending it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from afterword import errors, ids
from afterword.console.inputs import document_of, form_page, placed, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.removals import removal
from afterword.console.screens import Marked, Screens, Visit
from afterword.core.organizations.access import ACTIONS, ENTITIES
from afterword.core.wire.times import Moment
from afterword.kit.db import Database
from afterword.kit.ui import lists
from afterword.kit.ui.lists import Column, Listing
from afterword.kit.web import fields, html
from afterword.tenants.organizations.tokens import api, service as tokens, store
from afterword.tenants.organizations.tokens.store import Token
from afterword.tenants.organizations.users import User, get_user
from afterword.tenants.screens import members as settings

TOKENS: Final = "/console/settings/tokens"
LISTING: Final = fields.listing_of(api.Token)
TITLE_CHARACTERS_MAX: Final = 200
KINDS: Final[Mapping[str, Marked]] = {
    "organization": "The organization: for a shop or another system. It stays when you leave.",
    "user": "You: it never gives more access than your role, and stops working when you leave.",
}
# Days, 0 for none.
ENDS: Final[Mapping[str, Marked]] = {"90": "in 90 days", "365": "in a year", "0": "never"}
# Hours for which a token that was rotated goes on, 0 for none.
OVERLAPS: Final[Mapping[str, Marked]] = {
    "24": "for a day", "1": "for an hour", "72": "for three days", "168": "for a week",
    "0": "not at all: it stops working now",
}  # fmt: skip
INPUTS: Final = inputs_of(api.TokenUpdate)
NETWORKS: Final = inputs_of(tokens.TokenRequest)

routes = Screens()


@routes.get(TOKENS, scope="Token.Read")
async def tokens_page(visit: Visit) -> Response:
    words = visit.words
    page, user_id = lists.page_of(LISTING, visit.query), visit.caller.user_id
    found = await visit.load(store.list_tokens, **visit.caller.part, user_id=user_id, page=page)
    listed = Listing(
        rows=[(token, _state(visit, token)) for token in found.items],
        empty=words("No tokens yet. A shop or another system needs one to reach the API."),
        empty_link=visit.link("New token", f"{TOKENS}/new"),
        columns=[Column(text=words(text)) for text in ("Title", "Belongs to", "Begins with", "Last used", "Expires")],
        **lists.page_links(found, visit.query, TOKENS),
    )
    return visit.page("tokens.html", title=words("Tokens"), list=listed)


@routes.post(TOKENS, scope="Token.Create", proof=True, again=(errors.Invalid,), at=f"{TOKENS}/new")
async def make_token(visit: Visit) -> Response:
    form = visit.form
    days = int(form.text("end")) if form.text("end") in ENDS else next(map(int, ENDS))
    title, scopes = form.text("title"), form.all("scope")
    if not 0 < len(title) <= TITLE_CHARACTERS_MAX:
        message = visit.words("Say what the token is for, in at most 200 characters.")
        raise errors.Invalid.at("/title", "required", message)
    if not scopes:
        raise errors.Invalid.at("/scope", "required", visit.words("Choose what the token gives access to."))
    request = tokens.TokenRequest(
        title=title,
        scopes=sorted(set(scopes)),
        kind="user" if form.text("kind") == "user" else "organization",
        user_id=form.text("account") or None,
        application_ids=form.ids("application"),
        **settings.only_of(form),
        networks=document_of(form, NETWORKS)["networks"],
        expires_time=Moment(visit.now + timedelta(days=days), 0) if days else None,
        test=form.text("test") == "1",
    )
    token, text = await visit.change(tokens.make, caller=visit.caller, request=request, now=visit.now)
    return _made(visit, token, text)


@routes.get(f"{TOKENS}/{{token_id}}", scope="Token.Read")
async def token_page(visit: Visit, db: Database) -> Response:
    words = visit.words
    token = await tokens.get(db, caller=visit.caller, token_id=visit.id("token_id"))
    state = _state(visit, token)
    applications = await settings.applications_of(visit, db)
    owner = await _owner(visit, db, token.user_id)
    is_service = owner is not None and owner.service
    is_held = not state["has_ended"] and (is_service or token.user_id in {None, visit.caller.user_id})
    return visit.page(
        "token.html",
        title=token.title,
        token=token,
        state=state,
        kind=words(KINDS[token.kind]),
        owner=owner if owner and owner.user_id != visit.caller.user_id else None,
        applications=[one.display_name for one in applications if one.application_id in token.application_ids],
        only={name: sentence for name, sentence, _ in await settings.only_names_of(visit, db)},
        is_held=is_held,
    )


@routes.post(f"{TOKENS}/{{token_id}}/edit", scope="Token.Update", proof=True, again=(errors.Invalid, errors.Stale))
async def change_token(visit: Visit) -> Response:
    request = read_as(api.TokenUpdate, document_of(visit.form, INPUTS), visit)
    token = await visit.change(
        tokens.update, caller=visit.caller, **visit.ids, changes=request.named(), expect=same_version(visit)
    )
    return html.redirect(f"{TOKENS}/{token.token_id}?done=saved")


@routes.get(f"{TOKENS}/{{token_id}}/rotation", scope="Token.Create", proof=True)
async def rotation_page(visit: Visit) -> Response:
    words = visit.words
    token = await visit.find(tokens.get)
    return visit.page(
        "token_rotation.html",
        title=words("Rotate the token “{title}”", title=token.title),
        back=(token.title, f"{TOKENS}/{token.token_id}"),
        overlaps=[(hours, words(text)) for hours, text in OVERLAPS.items()],
    )


@routes.post(f"{TOKENS}/{{token_id}}/rotation", scope="Token.Create", proof=True)
async def rotate_token(visit: Visit, db: Database) -> Response:
    hours = visit.form.text("overlap_hours")
    token, text = await tokens.rotate(
        db,
        caller=visit.caller,
        token_id=visit.id("token_id"),
        overlap_hours=int(hours) if hours in OVERLAPS else next(map(int, OVERLAPS)),
        now=visit.now,
    )
    old = await tokens.get(db, caller=visit.caller, token_id=visit.id("token_id"))
    return _made(visit, token, text, old=old)


removal(
    routes,
    f"{TOKENS}/{{token_id}}/end",
    scope="Token.Delete",
    proof=True,
    title="Revoke the token “{title}”?",
    sentences=[
        "Systems that use it are refused from now on. Tokens created with it are revoked too.",
        "It cannot be made valid again.",
    ],
    button="Revoke token",
    get=lambda visit: visit.find(tokens.get),
    remove=lambda visit, db: tokens.revoke(db, caller=visit.caller, **visit.ids, now=visit.now),
    to=TOKENS,
    done="token_ended",
)


def _made(visit: Visit, token: Token, text: str, old: Token | None = None) -> Response:
    """`old`: the token in whose place this one came."""
    response = visit.page(
        "token_made.html",
        title=token.title,
        text=text,
        old=old,
        is_old_ended=old is not None and tokens.has_ended(old, now=visit.now),
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.get(f"{TOKENS}/{{token_id}}/edit", scope="Token.Update", proof=True)
async def _edit(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    token = await visit.find(tokens.get)
    here = f"{TOKENS}/{token.token_id}"
    return form_page(
        visit,
        title=visit.words("Change the token"),
        back=(token.title, here),
        inputs=INPUTS,
        stored=token,
        version=token.version,
        refusal=refusal,
    )


@routes.get(f"{TOKENS}/new", scope="Token.Create", proof=True)
async def _form(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words, form = visit.words, visit.form
    applications = await settings.applications_of(visit, db)
    only_names = await settings.only_names_of(visit, db)
    account_id = form.text("account") or visit.query.get("account", "")
    account = await _owner(visit, db, account_id)
    own = visit.caller.scopes
    return visit.page(
        "token_new.html",
        title=words("New token"),
        refusal=placed(refusal) if refusal else None,
        account=account if account and account.service else None,
        only_names=only_names,
        only=settings.only_of(form),
        chosen=form.all("scope"),
        chosen_applications=form.ids("application"),
        kinds=[(name, words(text)) for name, text in KINDS.items()],
        ends=[(days, words(text)) for days, text in ENDS.items()],
        actions=ACTIONS,
        entities=[
            (entity, [f"{entity}.{action}" if f"{entity}.{action}" in own else "" for action in ACTIONS])
            for entity in sorted(ENTITIES)
        ],
        applications=[(one.application_id, one.display_name) for one in applications],
    )


async def _owner(visit: Visit, db: Database, user_id: str | None) -> User | None:
    if not user_id or not ids.is_id(user_id):
        return None
    return await get_user(db, organization_id=visit.caller.organization_id, user_id=user_id)


def _state(visit: Visit, token: Token) -> dict[str, Any]:
    words = visit.words
    ends = token.revoked_time or token.ends_time
    has_ended = tokens.has_ended(token, now=visit.now)
    if ends is None:
        end = words("never")
    else:
        day = visit.date(ends)
        end = words("expired on {day}", day=day) if has_ended else words("expires on {day}", day=day)
    return {"is_unused": tokens.is_unused(token, now=visit.now), "end": end, "has_ended": has_ended}
