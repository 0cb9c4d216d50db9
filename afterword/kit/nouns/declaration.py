"""Declarations of nouns: a `Record` whose members carry roles, and one `Noun` with all that is not a member.

A member is annotated with one role: `Annotated[fields.Text100, Editable("Title")]`. A member without a role is a column
that clients see and the service sets. What a role says goes into the requests, the resource, the statements, the form
of the console and the register of personal data; see `structs.py`, `statements.py`, `api.py` and `console/nouns.py`.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Final, Generic, Literal, LiteralString, TypeVar, cast, get_args, get_type_hints

import msgspec

from afterword import errors, ids
from afterword.core.organizations.access import Caller, ForLimited
from afterword.core.wire.lists import Direction
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.texts import Marked, Texts
from afterword.kit.web import fields
from afterword.kit.web.operations import RIGHTS, Call, Method

InputKind = Literal["number", "text", "area", "clock", "moment", "choice", "checks", "switch", "lines"]
Holds = Literal["authored", "fixed", "account", "sealed", "ours"]
Operation = Literal["list", "create", "get", "update", "replace", "delete"]
METHODS: Final[Mapping[Operation, tuple[Method, int]]] = {
    "list": ("GET", 200),
    "create": ("POST", 201),
    "get": ("GET", 200),
    "update": ("PATCH", 200),
    "replace": ("PUT", 200),
    "delete": ("DELETE", 204),
}
OPERATIONS: Final[tuple[Operation, ...]] = ("list", "create", "get", "update", "delete")

NEWEST_FIRST: Final[Sequence[tuple[str, Direction]]] = (("created_time", "desc"),)
_INTEGER: Final = re.compile(r"[1-9][0-9]{0,8}\Z", re.ASCII)

NO_SITE: Final = Site("", b"")  # of changes whose rules ask for no address of ours

# Conditions on the row `t` for callers who see a part: $2 has their applications, $3 says that they see tests alone.
OF_APPLICATION: Final[LiteralString] = (
    "(t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2))"
)


class TenantRecord(msgspec.Struct, kw_only=True):
    organization_id: fields.Id


class SettingsRecord(TenantRecord, kw_only=True):
    """The one row of an organization, which its first change inserts. Until then all its members have their defaults.

    The default of `version` is that of an absent row. Declare `updated_time`: of an absent row it is null if it may
    be, else the time at which the organization began.
    """

    version: int = 0
    updated_by: fields.Id | None = None


class OwnRecord(TenantRecord, kw_only=True):
    """A row that belongs to the user who made it, and has no version: it is made and removed."""

    created_time: datetime


class FixedRecord(OwnRecord, kw_only=True):
    """A row that is made and removed, and never changed in between."""

    version: int
    created_by: fields.Id | None


class Record(FixedRecord, kw_only=True):
    """A row; these members are those of every noun that can be changed."""

    updated_time: datetime
    updated_by: fields.Id | None


STAMPS: Final = ("organization_id", "version", "created_time", "updated_time", "created_by", "updated_by")
R = TypeVar("R", bound=TenantRecord)


@dataclass(frozen=True, slots=True)
class Role:
    """`holds`: the class of the column's data in the register of personal data."""

    holds: Holds = field(default="authored", kw_only=True)


@dataclass(frozen=True, slots=True)
class Editable(Role):
    """Clients set it: at creation where `once`, else also later. Without a label it has no place in the form.

    `wire`: its type in requests and the resource, where the record has another; `shown`: its type in the resource,
    where that is neither `wire` nor the type without its limits. `write`: its column from the value of a request.
    `unset`: its value in a row that is absent, an expression over the organization `o`; without it, its default.
    """

    label: Marked = ""
    hint: Marked = ""
    kind: InputKind = "text"
    options: Sequence[tuple[str, Marked]] = ()
    once: bool = field(default=False, kw_only=True)
    wire: Any = field(default=None, kw_only=True)
    shown: Any = field(default=None, kw_only=True)
    write: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    unset: LiteralString = field(default="", kw_only=True)


def moment(label: Marked, hint: Marked) -> Editable:
    """Of a point in time, or null."""
    return Editable(label, hint, "moment", wire=fields.Moment | None, shown=fields.DateTime | None)


@dataclass(frozen=True, slots=True)
class Given(Editable):
    """Clients send it, and no column has it: the rules of the noun take it out of the columns of a change.

    `sql`: an expression over the row `t` that answers show; without it they do not show the member.
    """

    sql: LiteralString = field(default="", kw_only=True)


class Hidden(Role):
    """A column that no client sees."""


@dataclass(frozen=True, slots=True)
class Computed(Role):
    """No column: an expression over the row `t`."""

    sql: LiteralString = ""


class Shown(Role):
    """No column: `show` of the noun gives it to answers."""


class ShownOnce(Role):
    """No column: a secret, which the answer to its creation shows and nothing else."""


class Member(msgspec.Struct, frozen=True):
    """`type`: the annotation without the role."""

    name: LiteralString
    type: Any
    role: Role | None
    is_required: bool


class Change(msgspec.Struct, Generic[R], kw_only=True):
    """A creation (`before` is None), an update or a deletion while the rules of the noun decide about it.

    `columns` are those that differ; rules may add or replace some. `shown` are the secrets that the answer shows once.
    """

    db: Database
    caller: Caller
    site: Site
    now: datetime
    key: Any
    before: R | None
    columns: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    shown: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def after(self, name: str) -> Any:
        return self.columns[name] if name in self.columns else getattr(self.before, name, None)

    @property
    def row(self) -> R:
        """The row as it was, of an update or a deletion."""
        assert self.before is not None, "a creation has no row yet"  # noqa: S101
        return self.before


async def new_id(change: Change[Any]) -> str:
    return ids.ordered(change.now)


async def _no_rule(_change: Change[Any]) -> None: ...


def _open(_caller: Caller, _record: Any) -> errors.Refusal | None:
    return None


def _everyone(_caller: Caller, _operation: Operation) -> None: ...


class Screens(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """The screens of a noun: its list, the form of one and its removal. Texts in English; {title} names the row.

    `row`: what its line in the list shows; `titled`: the member that names it; `inputs`: the order of the form, where
    it is not that of the declaration; `blank`: values of the empty form; `by_address`: members that a link to it may
    fill in; `reads`: the right that opens the list; `is_dated`: the list says when each was made; `proof`: the password
    must have been given lately; `has_page`: the console has a page of its own for one, and the form is at /edit below
    it; `shown_once`: said where a secret is shown once. `uses`: what refuses the removal of a key: what it is, the
    table up to its column of the key, and the page that shows it; `in_use`: said while there is any. Where the noun's
    `deletion` takes another key, for what uses the row, the page asks for it.
    """

    path: str
    title: Marked
    new: Marked
    lead: Marked = ""
    empty: Marked = ""
    row: Callable[[Texts, R], Mapping[str, str]] | None = None
    titled: str = "title"
    inputs: tuple[str, ...] = ()
    blank: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    by_address: tuple[str, ...] = ()
    reads: str = "Read"
    is_dated: bool = False
    proof: bool = False
    has_page: bool = False
    shown_once: Marked = ""
    removal: Marked = ""
    removal_sentence: Marked = ""
    removal_button: Marked = ""
    in_use: Marked = ""
    uses: tuple[tuple[Marked, LiteralString, str], ...] = ()


class Noun(msgspec.Struct, Generic[R], frozen=True, kw_only=True, eq=False, dict=True):
    """`one` and `many` name it in summaries and in the names of its operations, unless `names` and `summaries` do.

    `request`: the name of its requests in the API, where that is not the record's. `parent`: the column with the id of
    what it belongs to. `show`: members of answers that no row has, or has otherwise, for each of these rows.

    `visible`: a condition on the row `t` beside the organization, with $2 and $3 as above; `is_personal`: in it $2 is
    the caller's user, or null; `live`: likewise, for rows
    that are not deleted. `most`: rows of an organization, of those that `counted` counts; None: no limit. `filled`:
    columns that rules write besides those that clients set, at creation and later; `also_set`: further assignments of
    an update, where `s` has the new values. `lock`: taken on a row before it changes. `fixed`: why this caller may not
    change a row. `allow` raises what this caller gets instead; updates and deletions ask it for "get". `conflict`: the
    refusal where a key of the table refuses what is written.

    `for_limited`: of its reads, as of a Route.

    `is_single`: an organization has one, whose key is that of the organization; its path has no other. Its operation
    "replace" is a PUT of the whole: members that are left out have their defaults. `hides`: members of every record
    that answers leave out. `rights`: those of operations that need others than their own.
    """

    record: type[R]
    table: LiteralString
    one: str
    many: str
    tag: str
    path: str
    scope: str
    about_create: str = ""
    about_update: str = ""
    request: str = ""
    about: Mapping[Operation, str] = msgspec.field(default_factory=dict[Operation, str])
    names: Mapping[Operation, str] = msgspec.field(default_factory=dict[Operation, str])
    summaries: Mapping[Operation, str] = msgspec.field(default_factory=dict[Operation, str])
    refusals: Mapping[Operation, tuple[str, ...]] = msgspec.field(default_factory=dict[Operation, tuple[str, ...]])
    operations: tuple[Operation, ...] = OPERATIONS
    shape: Literal["array", "envelope"] = "array"
    order: Sequence[tuple[str, Direction]] = NEWEST_FIRST
    is_single: bool = False
    shows_organization: bool = False
    hides: tuple[str, ...] = ()
    rights: Mapping[Operation, str] = msgspec.field(default_factory=dict[Operation, str])
    for_limited: ForLimited = "refused"
    parent: LiteralString = ""
    visible: LiteralString = ""
    is_personal: bool = False
    live: LiteralString = ""
    most: int | None = None
    counted: LiteralString = ""
    filled: tuple[LiteralString, ...] = ()
    filled_later: tuple[LiteralString, ...] = ()
    also_set: LiteralString = ""
    lock: LiteralString = "for no key update"
    deletion: type[fields.Request] | None = None
    new_key: Callable[[Change[R]], Awaitable[Any]] = new_id
    check: Callable[[Change[R]], Awaitable[None]] = _no_rule
    fixed: Callable[[Caller, R], errors.Refusal | None] = _open
    allow: Callable[[Caller, Operation], None] = _everyone
    conflict: Callable[[errors.Conflict], errors.Refusal] | None = None
    delete: Callable[[Change[R], Mapping[str, Any]], Awaitable[None]] | None = None
    show: Callable[[Call[Any], Database, Sequence[R]], Awaitable[Sequence[Mapping[str, Any]]]] | None = None
    screens: Screens[R] | None = None

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The key, the noun's own members in their order, then those of every record, its organization first."""
        hints = get_type_hints(self.record, include_extras=True)
        required = {each.name for each in msgspec.structs.fields(self.record) if each.required}
        own = [name for name in self.record.__struct_fields__ if name not in STAMPS]
        stamps = [name for name in STAMPS if name in self.record.__struct_fields__]
        names = [stamps[0], *own, *stamps[1:]] if self.is_single else [*own, *stamps]
        return tuple(member_of(name, hints[name], is_required=name in required) for name in names)

    @property
    def may_be_absent(self) -> bool:
        return issubclass(self.record, SettingsRecord)

    @property
    def key(self) -> LiteralString:
        return self.members[0].name

    @property
    def has_number(self) -> bool:
        return self.members[0].type is int

    @property
    def columns(self) -> tuple[Member, ...]:
        """The members that statements read."""
        return tuple(
            one for one in self.members if not isinstance(one.role, Shown | ShownOnce) and not is_unseen(one.role)
        )

    def editable(self, *, later: bool = False) -> tuple[Member, ...]:
        """The members that clients set at creation, or those that they may change later; required ones first."""
        found = [one for one in self.members if isinstance(one.role, Editable)]
        chosen = [one for one in found if not (later and cast("Editable", one.role).once)]
        return tuple(sorted(chosen, key=lambda one: not one.is_required))

    def written(self, *, later: bool = False) -> tuple[LiteralString, ...]:
        """The columns that creations or updates write: those of `editable`, and those that rules fill."""
        own = [one.name for one in self.editable(later=later) if not isinstance(one.role, Given)]
        return (*own, *(self.filled_later if later else self.filled))

    @property
    def stamps_later(self) -> int:
        """The number of stamps that an update writes: none, `updated_time`, or also `updated_by`."""
        return len({"updated_time", "updated_by"}.intersection(self.record.__struct_fields__))

    @property
    def nothing(self) -> str:
        return f"There is no such {'organization' if self.is_single else self.one}."

    def scope_of(self, operation: Operation) -> str:
        return f"{self.scope}.{self.rights.get(operation, RIGHTS[METHODS[operation][0]])}"

    def read_key(self, text: str) -> Any:
        """The key that a path names. Raises NotFound for a text that is no number, where keys are numbers."""
        if not self.has_number:
            return text
        if not _INTEGER.match(text):
            raise errors.NotFound(self.nothing)
        return int(text)


def version_of(record: TenantRecord) -> int:
    return getattr(record, "version", 1)


def is_unseen(role: Role | None) -> bool:
    """Whether clients send it and never see it."""
    return isinstance(role, Given) and not role.sql


def members_of(declared: type[Any]) -> tuple[Member, ...]:
    """Of a request or a record that is not of a noun: a struct, or a dataclass."""
    hints = get_type_hints(declared, include_extras=True)
    is_struct = issubclass(declared, msgspec.Struct)
    optional = {one.name for one in msgspec.structs.fields(declared) if not one.required} if is_struct else ()
    names = declared.__struct_fields__ if is_struct else declared.__dataclass_fields__
    return tuple(member_of(name, hints[name], is_required=name not in optional) for name in names)


def _role_in(hint: Any) -> Role | None:
    """The role of a member, also within a union: a PATCH may leave it out."""
    for one in get_args(hint):
        if found := one if isinstance(one, Role) else _role_in(one):
            return found
    return None


def member_of(name: str, hint: Any, *, is_required: bool) -> Member:
    written = cast("LiteralString", name)  # names of members stand in source code
    if not hasattr(hint, "__metadata__"):
        return Member(written, hint, _role_in(hint), is_required)
    base, *found = get_args(hint)
    role = next((one for one in found if isinstance(one, Role)), None)
    kept = [one for one in found if not isinstance(one, Role)]
    for one in kept:
        base = Annotated[base, one]
    return Member(written, base, role, is_required)
