"""The statements of a noun, as literals of its declaration; `tests/kit/nouns/statements.sql` shows all of them.

In each $1 is the organization. $2 and $3 follow where `visible` names them; then the key, and what the statement says.
"""

from datetime import datetime
from functools import cache
from typing import Any, Final, LiteralString

import msgspec

from afterword.kit.db.columns import assigned, qualified
from afterword.kit.nouns.declaration import Computed, Editable, Given, Member, Noun

_STAMPS: Final[tuple[LiteralString, ...]] = ("created_time", "updated_time", "created_by", "updated_by")
_BY: Final = frozenset({"created_by", "updated_by"})


class Statements(msgspec.Struct, frozen=True, kw_only=True):
    """`leading`: how many values stand before the key in those that read for a caller.

    One is empty where the noun has no such operation.
    """

    leading: int
    get: LiteralString
    get_locked: LiteralString
    list: LiteralString = ""
    list_of: LiteralString = ""  # the id of the parent last
    count: LiteralString = ""
    insert: LiteralString = ""  # $2 key, $3 columns as JSON, $4 now, $5 who where the record has these
    update: LiteralString = ""  # likewise
    delete: LiteralString = ""


@cache
def statements_of(noun: Noun[Any]) -> Statements:
    if noun.may_be_absent:
        return _of_settings(noun)
    leading = 3 if "$3" in noun.visible else 2 if noun.visible else 1
    taken: LiteralString = ", ".join(_expression(one.name, one.role) for one in noun.columns)
    visible: LiteralString = " and ".join(["t.organization_id = $1", *filter(None, (noun.live, noun.visible))])
    numbers: tuple[LiteralString, ...] = ("", "", "$2", "$3", "$4")
    one: LiteralString = (
        f"select {taken}\nfrom {noun.table} t\nwhere {visible} and t.{noun.key} = {numbers[leading + 1]}"
    )
    listed: LiteralString = f"select {taken}\nfrom {noun.table} t\nwhere {visible}"
    counted: LiteralString = " and ".join(["t.organization_id = $1", *filter(None, (noun.live, noun.counted))])
    return Statements(
        leading=leading,
        get=one,
        get_locked=f"{one} {noun.lock} of t",
        list=listed,
        list_of=f"{listed} and t.{noun.parent} = {numbers[leading + 1]}" if noun.parent else "",
        count=f"select count(*) from {noun.table} t where {counted}" if noun.most is not None else "",
        insert=_insert(noun) if "create" in noun.operations else "",
        update=_update(noun, taken) if "update" in noun.operations else "",
        delete=f"delete from {noun.table} t where t.organization_id = $1 and t.{noun.key} = $2"
        if "delete" in noun.operations
        else "",
    )


def _of_settings(noun: Noun[Any]) -> Statements:
    """Of a row that may be absent. Lock its organization instead; $3 of the update has all that it writes."""
    changed: LiteralString = ", ".join(noun.written(later=True))
    stored: LiteralString = ", ".join(_setting(noun, one, is_absent=False) for one in noun.columns)
    one: LiteralString = f"""select {", ".join(_setting(noun, one, is_absent=True) for one in noun.columns)}
from organization o left join {noun.table} t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2"""
    update: LiteralString = f"""insert into {noun.table} as t (organization_id, {changed}, updated_time, updated_by)
select $1, {qualified(changed, "s")}, $4, $5
from jsonb_populate_record(null::{noun.table}, $3::jsonb) s
where $1::text = $2::text
on conflict (organization_id) do update set {assigned(changed, "excluded")},
  version = t.version + 1, updated_time = greatest(t.updated_time, excluded.updated_time),
  updated_by = excluded.updated_by
where t.organization_id = $1 and ({qualified(changed, "t")}) is distinct from ({qualified(changed, "excluded")})
returning {stored}"""
    return Statements(leading=1, get=one, get_locked=one, update=update)


def _setting(noun: Noun[Any], one: Member, *, is_absent: bool) -> LiteralString:
    """The column; of a row that `is_absent` perhaps, its value for that."""
    if one.name == "version":
        first: LiteralString = " + 1" if absent_version(noun) else ""
        return f"coalesce(t.version, 0){first} as version"
    if not is_absent:
        return f"t.{one.name}"
    if one.name == "organization_id":
        return "o.organization_id"
    unset: LiteralString = one.role.unset if isinstance(one.role, Editable) else ""
    if one.name == "updated_time" and one.type is datetime:
        unset = "o.created_time"
    return f"coalesce(t.{one.name}, {unset}) as {one.name}" if unset else f"t.{one.name}"


def absent_version(noun: Noun[Any]) -> int:
    """The version of a row that is absent: 0, or 1 where the first one stored is shown as 2."""
    [version] = [one.default for one in msgspec.structs.fields(noun.record) if one.name == "version"]
    return version


def count_uses(noun: Noun[Any]) -> LiteralString:
    """A column for each use of the key $2, counted up to $3."""
    uses = noun.screens.uses if noun.screens else ()
    ours: LiteralString = "= $2 and organization_id = $1 limit $3"
    return f"select {', '.join(f'(select count(*) from (select from {rows} {ours}) used)' for _, rows, _ in uses)}"


def _insert(noun: Noun[Any]) -> LiteralString:
    written: LiteralString = ", ".join(noun.written())
    taken: LiteralString = ", ".join(_expression(one.name, one.role) for one in noun.columns)
    stamps: LiteralString = ", ".join(name for name in _STAMPS if name in noun.record.__struct_fields__)
    values: LiteralString = ", ".join("$5" if name in _BY else "$4" for name in stamps.split(", "))
    return f"""insert into {noun.table} as t (organization_id, {noun.key}, {written},
  {stamps})
select $1, $2, {qualified(written, "s")}, {values}
from jsonb_populate_record(null::{noun.table}, $3::jsonb) s
returning {taken}"""


def _update(noun: Noun[Any], taken: LiteralString) -> LiteralString:
    changed: LiteralString = ", ".join(noun.written(later=True))
    live: LiteralString = f" and {noun.live}" if noun.live else ""
    also: LiteralString = f",\n  {noun.also_set}" if noun.also_set else ""
    stamps: tuple[LiteralString, ...] = ("updated_time = greatest(t.updated_time, $4)", "updated_by = $5")
    stamps = stamps[: noun.stamps_later]
    return f"""update {noun.table} t
set {assigned(changed, "s")}{also},
  {", ".join(["version = t.version + 1", *stamps])}
from {noun.table} o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.{noun.key} = $2 and o.organization_id = $1 and o.{noun.key} = $2{live}
  and ({qualified(changed, "t")}) is distinct from ({qualified(changed, "s")})
returning {taken}"""


def _expression(name: LiteralString, role: object) -> LiteralString:
    if isinstance(role, Computed | Given):
        return f"{role.sql} as {name}"
    # Lists compare ids by their bytes; the columns of these two have the database's collation.
    return f't.{name} collate "C" as {name}' if name in _BY else f"t.{name}"
