"""Retention periods of organizations, which are columns of theirs, and legal holds. `privacy/` removes the data."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, LiteralString

from msgspec import Meta

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.kit.db import Dangling, Database
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Editable, FixedRecord, Noun, Operation, Record, Screens
from afterword.kit.texts import Texts
from afterword.kit.web import fields
from afterword.kit.web.operations import Routes

PATH: Final = "/organization/{organization_id}/retention"
STAYS: Final = "A legal hold keeps the data of this person, so it cannot become somebody else's. Lift it first."

Days = Annotated[int, Meta(ge=1, le=3650)]
AnswersDays = Annotated[int, Meta(ge=30, le=3650)]
EventsDays = Annotated[int, Meta(ge=30, le=90)]
AuditDays = Annotated[int, Meta(ge=30, le=730)]
ExportsDays = Annotated[int, Meta(ge=1, le=7)]

# Days by kind, of a row `o` with these columns; null: nothing is removed by age, or by the installation's own limit.
DAYS: Final[LiteralString] = """(values
  ('texts', coalesce(o.texts_days, o.anonymize_after_days)),
  ('people', coalesce(o.people_days, o.anonymize_after_days)),
  ('items', coalesce(o.items_days, o.anonymize_after_days)),
  ('uploads', coalesce(o.uploads_days, o.anonymize_after_days)),
  ('answers', coalesce(o.answers_days, o.delete_after_days)), ('events', o.events_days), ('audit', o.audit_days),
  ('exports', o.exports_days)) k (kind, days)"""


class Held(errors.Conflict):
    code_default = "on_hold"


class Retention(Record, kw_only=True):
    """The time for which an organization keeps personal data, in days."""

    anonymize_after_days: Annotated[
        Days | None,
        Editable(
            "Anonymize people after (days)",
            "Comments, names, addresses and files are removed. Figures stay. Empty: never.",
            "number",
        ),
    ]
    delete_after_days: Annotated[
        AnswersDays | None,
        Editable(
            "Delete responses after (days)", "At least 30 days. Daily totals stay in reports. Empty: never.", "number"
        ),
    ]
    texts_days: Annotated[Days | None, Editable("Text in answers", "Days. Empty: with the people.", "number")]
    people_days: Annotated[
        Days | None, Editable("Names, addresses and values of people", "Days. Empty: with the people.", "number")
    ]
    items_days: Annotated[
        Days | None, Editable("Addresses and values of messages", "Days. Empty: with the people.", "number")
    ]
    uploads_days: Annotated[
        Days | None, Editable("Files that came with answers", "Days. Empty: with the people.", "number")
    ]
    answers_days: Annotated[
        AnswersDays | None,
        Editable("Responses", "At least 30 days. Empty: as “Delete responses after (days)”.", "number"),
    ]
    events_days: Annotated[EventsDays | None, Editable("Event log", "30 to 90 days. Empty: 90.", "number")]
    audit_days: Annotated[AuditDays | None, Editable("Audit log", "30 to 730 days. Empty: 730.", "number")]
    exports_days: Annotated[ExportsDays | None, Editable("Files of exports", "1 to 7 days. Empty: 7.", "number")]


class LegalHold(FixedRecord, kw_only=True):
    """Data that is kept whatever its age, of a person or of the whole organization."""

    hold_id: fields.Id
    responder_id: Annotated[
        fields.Id | None,
        Editable("Person", "Empty: everybody. A link on the person's page fills it in."),
    ] = None
    reason: Annotated[fields.Text500, Editable("Reason", "For example, the reference of a lawsuit.")]


async def _check(change: Change[Retention]) -> None:
    change.caller.require_all()


def _allow(caller: Caller, operation: Operation) -> None:
    """Raise Forbidden for callers of a part; for them a single hold is not there."""
    if operation == "get" and caller.is_limited:
        raise errors.NotFound(HOLD.nothing)
    caller.require_all()


def _unknown(error: errors.Conflict) -> errors.Refusal:
    if isinstance(error, Dangling):
        return errors.Invalid.at("/responder_id", "unknown_id", "There is no such responder.")
    return error


def _row(words: Texts, one: LegalHold) -> dict[str, str]:
    return {"state": words("one person") if one.responder_id else words("everybody"), "person": one.responder_id or ""}


RETENTION = Noun(
    record=Retention,
    table="organization",
    one="retention",
    many="retention periods",
    tag="Organizations",
    path=PATH,
    scope="Organization",
    about_update="Changes of retention periods, in days.",
    about={
        "update": "A worker acts by it within a day. Try it with `/preview` first: what was removed does not come back."
    },
    operations=("get", "update"),
    is_single=True,
    hides=("created_time", "created_by"),
    check=_check,
)
HOLD = Noun(
    record=LegalHold,
    table="legal_hold",
    one="legal hold",
    many="legal holds",
    tag="Organizations",
    path=f"{PATH}/hold",
    scope="Organization",
    about_create="A new legal hold. Without a responder it covers the whole organization.",
    about={
        "list": "Only for callers that reach the whole organization.",
        "create": "Nothing of it is removed by age, and a person under a hold cannot be erased, until it is lifted.",
    },
    names={"delete": "lift_legal_hold"},
    summaries={"create": "Create Legal Hold", "delete": "Lift Legal Hold"},
    operations=("list", "create", "get", "delete"),
    rights={"create": "Update", "delete": "Update"},
    shape="envelope",
    most=1_000,
    allow=_allow,
    conflict=_unknown,
    screens=Screens(
        path="/console/settings/retention/holds",
        title="Legal holds",
        lead="Data under a hold is neither removed nor erased until the hold is lifted.",
        new="New legal hold",
        empty="No legal holds.",
        row=_row,
        titled="reason",
        inputs=("reason", "responder_id"),
        by_address=("responder_id",),
        reads="Update",
        is_dated=True,
        removal="Lift the hold “{title}”?",
        removal_sentence="Data that is too old by now is removed within a day.",
        removal_button="Lift the hold",
    ),
)
routes = Routes(tag="Organizations")
routes.all = [*routes_of(RETENTION).all, *routes_of(HOLD).all]


async def require_not_held(
    db: Database, *, organization_id: str, responder_id: str | None, address_key: bytes | None = None
) -> None:
    """Raise Held where a hold keeps the data of the person, or of whoever has the address."""
    if await get_is_held(db, organization_id=organization_id, responder_id=responder_id, address_key=address_key):
        raise Held("A legal hold keeps the data of this person. Lift it first.")


async def require_may_move(
    db: Database, *, organization_id: str, responder_id: str | None, address_key: bytes | None = None
) -> None:
    """Raise Held where a person's hold keeps what an edit would make somebody else's. A hold on all keeps it anyway."""
    if await list_held_people(db, organization_id=organization_id, people=[(responder_id, address_key)]):
        raise Held(STAYS)


async def list_days(db: Database, *, organization_id: str, changes: Mapping[str, object]) -> dict[str, int]:
    """The days by kind as they would be after these changes, without kinds that are kept."""
    return await db.fetch_pairs(
        f"""select k.kind, k.days from organization w cross join lateral jsonb_populate_record(w, $2) o
           cross join lateral {DAYS} where w.organization_id = $1 and k.days is not null""",
        *(organization_id, changes),
    )


async def list_held_people(
    db: Database, *, organization_id: str, people: Sequence[tuple[str | None, bytes | None]]
) -> set[int]:
    """The places of those people, each by an id or an address, of whom a hold keeps the data; not a hold on all."""
    rows = await db.fetch(
        """select n.place - 1 as place
           from unnest($2::text[], $3::bytea[]) with ordinality n (responder_id, address_key, place)
           where exists (select from legal_hold h where h.organization_id = $1 and (h.responder_id = n.responder_id
               or exists (select from responder_address a where a.organization_id = $1
                 and a.responder_id = h.responder_id and a.address_key = n.address_key)))""",
        *(organization_id, [one for one, _ in people], [key for _, key in people]),
    )
    return {row["place"] for row in rows}


async def get_is_held(
    db: Database, *, organization_id: str, responder_id: str | None, address_key: bytes | None = None
) -> bool:
    """True if a hold covers all, the person, or whoever has the address."""
    return await db.fetch_value(
        """select exists (select from legal_hold h
             where h.organization_id = $1 and (h.responder_id is null or h.responder_id = $2
               or exists (select from responder_address a where a.organization_id = $1
                 and a.responder_id = h.responder_id and a.address_key = $3)))""",
        *(organization_id, responder_id, address_key),
    )
