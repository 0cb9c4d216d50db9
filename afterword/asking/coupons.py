"""Coupon pools and their codes: each code is given to one response, and a response has at most one of a pool."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, LiteralString

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.wire import code128
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Computed, Editable, Noun, Operation, Record, Screens
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call

POOLS_MAX: Final = 200  # of an organization
CODES_MAX: Final = 1_000_000  # of a pool
CODES_ADDED_MAX: Final = 10_000  # at once
LOW_DEFAULT: Final = 50
ONE: Final = "/coupon/pool/{pool_id}"

Key = Annotated[
    str,
    Meta(
        description="The name by which endings ask for it (`coupon_pool`).",
        pattern=r"^[a-z][a-z0-9_]{0,63}(?![\s\S])",
        max_length=64,
        examples=["thanks_10_percent"],
    ),
]
Low = Annotated[int, Meta(ge=0, le=CODES_MAX, description="With so few free codes the console says that it is low.")]
Code = Annotated[str, Meta(min_length=1, max_length=40)]
_CODES: Final[LiteralString] = (
    "(select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id"
)


class PoolInUse(errors.Conflict):
    code_default = "in_use"


class CouponPool(Record, kw_only=True):
    """A pool of codes, of which a complete response gets at most one."""

    pool_id: fields.Id
    key: Annotated[
        Key,
        Editable("Key", "Small letters, digits and underscores; definitions of questionnaires name the pool by it."),
    ]
    title: Annotated[fields.Text200, Editable("Name")]
    low_count: Annotated[
        Low, Editable("Warn below", "The overview warns you when this few codes are left.", "number")
    ] = LOW_DEFAULT
    free_count: Annotated[fields.Computed[int], Computed(sql=f"{_CODES} and c.instance_id is null)")]
    given_count: Annotated[fields.Computed[int], Computed(sql=f"{_CODES} and c.instance_id is not null)")]

    @property
    def is_low(self) -> bool:
        return self.free_count <= self.low_count


class CouponCodes(fields.Request):
    """Codes to add to a pool."""

    codes: Annotated[
        list[Code], Meta(min_length=1, max_length=CODES_ADDED_MAX, description="The codes.", examples=[["A-1", "A-2"]])
    ]


class AddedCodes(fields.Answer):
    """The outcome; codes that were in the pool already are not added."""

    added: Annotated[int, Meta(description="Codes that are new in the pool.")]
    known: Annotated[int, Meta(description="Codes that were in the pool, or twice in the request.")]


class _Code(msgspec.Struct, frozen=True, kw_only=True):
    """A code, and the response that has it."""

    code: str
    instance_id: fields.Id | None
    responder_id: fields.Id | None
    given_time: datetime | None
    created_time: datetime


CouponCode: Final = shown_as("CouponCode", _Code)


def _allow(caller: Caller, operation: Operation) -> None:
    """Raise Forbidden for confined and test callers, who may only list them: codes are worth money, and everybody's."""
    if operation != "list":
        caller.require_all()


async def _delete(change: Change[CouponPool], _options: Mapping[str, Any]) -> None:
    if change.row.given_count:
        raise PoolInUse("Customers have codes of it, which their pages show.")
    await _delete_free_codes(change.db, organization_id=change.caller.organization_id, pool_id=change.key)
    await nouns.delete_row(POOL, change)


POOL = Noun(
    record=CouponPool,
    table="coupon_pool",
    one="coupon pool",
    many="coupon pools",
    tag="Coupons",
    path="/coupon/pool",
    scope="Coupon Pool",
    about_create="A new pool. Endings name it by its `key`.",
    about_update="Changes of a pool.",
    about={
        "delete": "With its free codes. Refused once a customer has a code of it; withdraw the free ones instead.",
    },
    names={
        "list": "list_pools",
        "create": "create_pool",
        "get": "get_pool",
        "update": "change_pool",
        "delete": "delete_pool",
    },
    summaries={
        "create": "Create a coupon pool",
        "get": "Get a coupon pool",
        "update": "Change a coupon pool",
        "delete": "Remove a coupon pool",
    },
    refusals={"delete": ("in_use",)},
    shape="envelope",
    most=POOLS_MAX,
    allow=_allow,
    conflict=lambda _: errors.Invalid.at("/key", "already_exists", "Another coupon pool has this key."),
    delete=_delete,
    screens=Screens(
        path="/console/settings/coupons",
        title="Coupons",
        new="New coupon pool",
        inputs=("title", "key", "low_count"),
        has_page=True,
    ),
)
routes = routes_of(POOL)


@routes.list(
    f"{ONE}/code",
    scope="Coupon Pool.Read",
    more_scopes=("Responder.Read",),
    answer=CouponCode,
    summary="Get all codes of a coupon pool",
    description="Codes are worth money, and the list says who has which.",
)
async def list_codes(call: Call[None], db: Database) -> Rows[_Code]:
    pool = await nouns.get(POOL, db, caller=call.caller, key=call.ids["pool_id"])
    return await list_codes_of_pool(db, organization_id=pool.organization_id, pool_id=pool.pool_id, page=call.page)


@routes.post(f"{ONE}/code", scope="Coupon Pool.Update", answer=AddedCodes, status=200, summary="Add codes to a pool")
async def add_codes(call: Call[CouponCodes], db: Database) -> Answer:
    added = await add(db, caller=call.caller, **call.ids, codes=call.body.codes, now=call.now)
    return Answer(AddedCodes(added=added, known=len(call.body.codes) - added))


@routes.delete(
    f"{ONE}/code",
    scope="Coupon Pool.Update",
    summary="Withdraw the free codes of a coupon pool",
    description="Nobody gets them any more. Codes that customers have stay.",
)
async def withdraw_codes(call: Call[None], db: Database) -> None:
    await withdraw(db, caller=call.caller, **call.ids, expect=call.expect)


async def withdraw(db: Database, *, caller: Caller, pool_id: str, expect: errors.Expect = errors.ANY) -> int:
    """Remove the free codes; their number. Raises NotFound, Stale."""
    pool = await nouns.get(POOL, db, caller=caller, key=pool_id, is_locked=True)
    expect(pool.version)
    return await _delete_free_codes(db, organization_id=pool.organization_id, pool_id=pool_id)


async def add(db: Database, *, caller: Caller, pool_id: str, codes: Sequence[str], now: datetime) -> int:
    """Add codes; the number of those that were not in the pool. Raises NotFound, Invalid."""
    pool = await nouns.get(POOL, db, caller=caller, key=pool_id, is_locked=True)
    errors.check(
        [
            errors.FieldError(
                "invalid_format",
                f"A code has 1 to {code128.CHARACTERS_MAX} printable letters, digits and signs of ASCII.",
                pointer=f"/codes/{place}",
            )
            for place, code in enumerate(codes)
            if code != code.strip() or not code128.can_write(code)
        ][:100]
    )
    if pool.free_count + pool.given_count + len(codes) > CODES_MAX:
        raise errors.Invalid.at("/codes", "too_many", f"A pool has at most {CODES_MAX:,} codes.")
    return await _insert_codes(db, organization_id=pool.organization_id, pool_id=pool_id, codes=codes, now=now)


def read_lines(text: str) -> list[str]:
    """The codes of a pasted list or a CSV file: the first field of each line."""
    first = [line.split(",")[0].split(";")[0].strip(" \t\r").strip('"') for line in text.lstrip("\ufeff").split("\n")]
    return [code for code in first if code]


async def list_keys(db: Database, *, organization_id: str, keys: Sequence[str]) -> set[str]:
    """Those of the keys that pools of the organization have."""
    rows = await db.fetch(
        "select key from coupon_pool where organization_id = $1 and key = any($2::text[])", organization_id, keys
    )
    return {row["key"] for row in rows}


async def _delete_free_codes(db: Database, *, organization_id: str, pool_id: str) -> int:
    return await db.execute(
        "delete from coupon_code where organization_id = $1 and pool_id = $2 and instance_id is null",
        *(organization_id, pool_id),
    )


async def _insert_codes(
    db: Database, *, organization_id: str, pool_id: str, codes: Sequence[str], now: datetime
) -> int:
    return await db.execute(
        """insert into coupon_code (organization_id, pool_id, code, created_time)
           select $1, $2, code, $4 from unnest($3::text[]) code order by code on conflict do nothing""",
        *(organization_id, pool_id, list(codes), now),
    )


async def list_codes_of_pool(db: Database, *, organization_id: str, pool_id: str, page: Page) -> Rows[_Code]:
    return await db.records(_Code).fetch_list(
        """select c.code, c.instance_id, i.responder_id, c.given_time, c.created_time from coupon_code c
           left join questionnaire_instance i on i.organization_id = $1 and i.instance_id = c.instance_id
           where c.organization_id = $1 and c.pool_id = $2""",
        *(organization_id, pool_id),
        page=page,
    )


async def list_codes_of(db: Database, *, organization_id: str, instance_id: str) -> dict[str, str]:
    """The codes of a response, by the key of their pool."""
    return await db.fetch_pairs(
        """select p.key, c.code from coupon_code c
           join coupon_pool p on p.organization_id = $1 and p.pool_id = c.pool_id
           where c.organization_id = $1 and c.instance_id = $2""",
        *(organization_id, instance_id),
    )


async def claim_code(db: Database, *, organization_id: str, key: str, instance_id: str, now: datetime) -> str | None:
    """The code that the response has of this pool, else the next free one, which it has from now on; None: no code."""
    return await db.fetch_value(
        """with had as (
             select c.code from coupon_code c
             join coupon_pool p on p.organization_id = $1 and p.pool_id = c.pool_id and p.key = $2
             where c.organization_id = $1 and c.instance_id = $3),
           free as (
             select c.pool_id, c.code from coupon_code c
             where c.organization_id = $1 and c.instance_id is null and not exists (select from had)
               and c.pool_id = (select pool_id from coupon_pool where organization_id = $1 and key = $2)
             order by c.code limit 1 for update skip locked),
           given as (
             update coupon_code c set instance_id = $3, given_time = $4 from free f
             where c.organization_id = $1 and c.pool_id = f.pool_id and c.code = f.code returning c.code)
           select code from had union all select code from given""",
        *(organization_id, key, instance_id, now),
    )
