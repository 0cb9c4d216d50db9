"""The HTTP routes of coupon pools."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from afterword.coupons import service, store
from afterword.coupons.store import CouponPool as Pool
from afterword.db import Database
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType
from afterword.web.operations import Answer, Call, Routes

PATH: Final = "/coupon/pool"
ONE: Final = f"{PATH}/{{pool_id}}"
LOW_DEFAULT: Final = 50

routes = Routes(tag="Coupons")

Key = Annotated[
    str,
    Meta(
        description="The name by which endings ask for it (`coupon_pool`).",
        pattern=r"^[a-z][a-z0-9_]{0,63}(?![\s\S])",
        max_length=64,
        examples=["thanks_10_percent"],
    ),
]
Low = Annotated[
    int, Meta(ge=0, le=service.CODES_MAX, description="With so few free codes the console says that it is low.")
]
Code = Annotated[str, Meta(min_length=1, max_length=40)]


class CouponPoolRequest(fields.Request):
    """A new pool. Endings name it by its `key`."""

    key: Key
    title: fields.Text200
    low_count: Low = LOW_DEFAULT


class CouponPoolUpdate(fields.Request):
    """Changes of a pool."""

    key: Key | UnsetType = UNSET
    title: fields.Text200 | UnsetType = UNSET
    low_count: Low | UnsetType = UNSET


class CouponCodes(fields.Request):
    """Codes to add to a pool."""

    codes: Annotated[
        list[Code],
        Meta(min_length=1, max_length=service.CODES_ADDED_MAX, description="The codes.", examples=[["A-1", "A-2"]]),
    ]


class AddedCodes(fields.Answer):
    """The outcome; codes that were in the pool already are not added."""

    added: Annotated[int, Meta(description="Codes that are new in the pool.")]
    known: Annotated[int, Meta(description="Codes that were in the pool, or twice in the request.")]


class CouponPool(fields.Resource):
    """A pool of codes, of which a complete response gets at most one."""

    pool_id: fields.Id
    key: str
    title: str
    low_count: int
    free_count: fields.Computed[int]
    given_count: fields.Computed[int]
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


class CouponCode(fields.Resource):
    """A code, and the response that has it."""

    code: str
    instance_id: fields.Id | None
    responder_id: fields.Id | None
    given_time: fields.DateTime | None
    created_time: fields.DateTime


@routes.list(PATH, scope="Coupon Pool.Read", answer=CouponPool, summary="Get all coupon pools")
async def list_pools(call: Call[None], db: Database) -> Answer:
    rows = await store.list_pools(db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(rows.map(lambda pool: _shown(pool, call)))


@routes.post(
    PATH, scope="Coupon Pool.Create", body=CouponPoolRequest, answer=CouponPool, summary="Create a coupon pool"
)
async def create_pool(call: Call[CouponPoolRequest], db: Database) -> Answer:
    columns = msgspec.structs.asdict(call.body)
    pool = await service.create(db, caller=call.caller, columns=columns, now=call.now)
    return Answer(_shown(pool, call), version=pool.version, location=f"{PATH}/{pool.pool_id}")


@routes.get(ONE, scope="Coupon Pool.Read", answer=CouponPool, summary="Get a coupon pool")
async def get_pool(call: Call[None], db: Database) -> Answer:
    pool = await service.get(db, caller=call.caller, **call.ids)
    return Answer(_shown(pool, call), version=pool.version)


@routes.patch(ONE, scope="Coupon Pool.Update", body=CouponPoolUpdate, answer=CouponPool, summary="Change a coupon pool")
async def change_pool(call: Call[CouponPoolUpdate], db: Database) -> Answer:
    pool = await service.change(
        db, caller=call.caller, **call.ids, changes=call.body.named(), expect=call.check_version, now=call.now
    )
    return Answer(_shown(pool, call), version=pool.version)


@routes.delete(
    ONE,
    scope="Coupon Pool.Delete",
    summary="Remove a coupon pool",
    description="With its free codes. Refused once a customer has a code of it; withdraw the free ones instead.",
    refusals=("in_use",),
)
async def delete_pool(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.check_version)


@routes.list(
    f"{ONE}/code",
    scope="Coupon Pool.Read",
    more_scopes=("Responder.Read",),
    answer=CouponCode,
    summary="Get all codes of a coupon pool",
    description="Codes are worth money, and the list says who has which.",
)
async def list_codes(call: Call[None], db: Database) -> Answer:
    pool = await service.get(db, caller=call.caller, **call.ids)
    rows = await store.list_codes(db, organization_id=pool.organization_id, pool_id=pool.pool_id, page=call.page)
    return Answer(rows.map(lambda code: CouponCode.of(code, call.zone)))


@routes.post(
    f"{ONE}/code",
    scope="Coupon Pool.Update",
    body=CouponCodes,
    answer=AddedCodes,
    status=200,
    summary="Add codes to a pool",
)
async def add_codes(call: Call[CouponCodes], db: Database) -> Answer:
    added = await service.add(db, caller=call.caller, **call.ids, codes=call.body.codes, now=call.now)
    return Answer(AddedCodes(added=added, known=len(call.body.codes) - added))


@routes.delete(
    f"{ONE}/code",
    scope="Coupon Pool.Update",
    summary="Withdraw the free codes of a coupon pool",
    description="Nobody gets them any more. Codes that customers have stay.",
)
async def withdraw_codes(call: Call[None], db: Database) -> None:
    await service.withdraw(db, caller=call.caller, **call.ids, expect=call.check_version)


def _shown(pool: Pool, call: Call[Any]) -> CouponPool:
    return CouponPool.of(pool, call.zone, free_count=pool.free_count, given_count=pool.given_count)
