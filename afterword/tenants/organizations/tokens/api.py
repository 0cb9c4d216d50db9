"""The HTTP routes of tokens: created and rotated with their secret shown once, listed without it, revoked."""

from typing import Annotated, Any, Final

from msgspec import Meta

from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.nouns.declaration import Editable
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations.tokens import service, store

NO_STORE: Final = {"Cache-Control": "no-store"}
routes = Routes(tag="Tokens", scope="Token")


class TokenUpdate(fields.Request):
    """Changes of a token."""

    title: Annotated[fields.Text200, Editable("Title")] | UnsetType = UNSET
    networks: service.Networks | UnsetType = UNSET


class RotationRequest(fields.Request):
    """The hours for which the old token stays valid beside the new one."""

    overlap_hours: Annotated[int, Meta(ge=0, le=service.OVERLAP_HOURS_MAX)] = 24


Token: Final = shown_as(
    "Token",
    store.Token,
    types={"expires_time": Annotated[fields.DateTime, fields.named("ends_time")] | None},
    before={"expires_time": {"hint": str, "token": fields.ShownOnce}},
)


@routes.list("/token", answer=Token, summary="Get all tokens")
async def list_tokens(call: Call[None], db: Database) -> Rows[service.Token]:
    return await store.list_tokens(db, **call.caller.part, user_id=call.caller.user_id, page=call.page)


@routes.post(
    "/token",
    answer=Token,
    summary="Create Token",
    description="Scopes and applications within those that the caller holds. The answer alone shows `token`.",
    refusals=("unknown_scope",),
)
async def make_token(call: Call[service.TokenRequest], db: Database) -> Answer:
    token, text = await service.make(db, caller=call.caller, request=call.body, now=call.now)
    return _made(call, token, text)


@routes.get("/token/{token_id}", answer=Token, summary="Get Token")
async def get_token(call: Call[None], db: Database) -> Answer:
    token = await service.get(db, caller=call.caller, token_id=call.ids["token_id"])
    return Answer(Token.of(token, call.zone), version=token.version, headers=NO_STORE)


@routes.patch(
    "/token/{token_id}",
    answer=Token,
    summary="Update Token",
    description="Its title or its networks. Networks within those that the caller has itself.",
)
async def update_token(call: Call[TokenUpdate], db: Database) -> Answer:
    token = await service.update(db, caller=call.caller, **call.ids, changes=call.body.named(), expect=call.expect)
    return Answer(Token.of(token, call.zone), version=token.version, headers=NO_STORE)


@routes.delete(
    "/token/{token_id}",
    summary="Revoke Token",
    description="It ends at once and stays in the list with its `revoked_time`.",
)
async def revoke_token(call: Call[None], db: Database) -> None:
    await service.revoke(db, caller=call.caller, token_id=call.ids["token_id"], expect=call.expect, now=call.now)


@routes.post(
    "/token/{token_id}/rotation",
    answer=Token,
    summary="Rotate Token",
    description="A new token with the rights of the old one, which ends `overlap_hours` later.",
    refusals=("token_ended",),
)
async def rotate_token(call: Call[RotationRequest], db: Database) -> Answer:
    token, text = await service.rotate(
        db, caller=call.caller, token_id=call.ids["token_id"], overlap_hours=call.body.overlap_hours, now=call.now
    )
    return _made(call, token, text)


def _made(call: Call[Any], token: store.Token, text: str) -> Answer:
    shown = Token.of(token, call.zone, token=text)
    return Answer(shown, version=token.version, location=f"/token/{token.token_id}", headers=NO_STORE)
