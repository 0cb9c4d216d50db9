"""Metadata: the names that are declared, how grouped and flat maps are read, merged and limited.

A change is a map name -> text, or None where the value is removed; a stored map is name -> text.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from afterword import ids
from afterword.core.reading import structs
from afterword.core.reading.documents import BOOLEANS, is_array, is_object
from afterword.core.reading.findings import Findings, escape
from afterword.core.reading.structs import Context
from afterword.core.text.locales import Marked
from afterword.errors import Sentence

NAMES_MAX: Final = 200
NAME_CHARACTERS_MAX: Final = 255
VALUE_CHARACTERS_MAX: Final = 4096
NUMBER_DIGITS_MAX: Final = 18

Kind = Literal["questionnaire", "responder"]
Type = Literal["text", "number", "date", "boolean"]
Level = Literal["global", "application_type", "organization", "application"]
KINDS: Final[tuple[Kind, ...]] = ("questionnaire", "responder")
# Names that lead to the order or the stay, and from there to the person, whoever declared them.
POINTERS: Final = frozenset({"transaction_id", "booking_no", "case_id"})

NOT_TYPED: Final[Mapping[Type, str]] = {
    "text": "This is not a text.",
    "number": "This is not a number.",
    "date": "A date is expected, such as 2026-11-21 or 21/11/2026.",
    "boolean": "This is not a boolean.",
}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # category Cc
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?\Z", re.ASCII)
_TIME: Final = r"(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+\- ]\d{2}:?\d{2})?)?"
_DATE: Final = re.compile(rf"(\d{{4}})-(\d{{2}})-(\d{{2}}){_TIME}\Z", re.ASCII)
_DAY_FIRST: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})\Z", re.ASCII)


class MetadataDefinition(msgspec.Struct, frozen=True):
    """A declared name: its type decides how values compare, `anonymize` marks personal data."""

    name: str
    kind: Kind
    title: str
    type: Type = "text"
    anonymize: bool = False
    level: Level = "global"
    metadata_id: str = ""
    application_type_id: str | None = None  # of the level `application_type`

    @property
    def is_of_product(self) -> bool:
        return self.metadata_id in _PRODUCT_IDS

    def title_in(self, words: Callable[[str], str]) -> str:
        return words(self.title) if self.is_of_product else self.title or self.name


class Declared(msgspec.Struct, frozen=True, eq=False):
    """The names that an organization knows, by kind. One is equal to itself alone, so that it can be a key."""

    questionnaire: Mapping[str, MetadataDefinition]
    responder: Mapping[str, MetadataDefinition]

    def get(self, kind: Kind, name: str) -> MetadataDefinition | None:
        return (self.questionnaire if kind == "questionnaire" else self.responder).get(name)

    def title(self, kind: Kind, name: str, words: Callable[[str], str]) -> str:
        """The title of a name; where it is not declared a word for it, if it is a common one, else the name itself."""
        found = self.get(kind, name)
        return found.title_in(words) if found else words(COMMON.get(name, "")) or name

    @classmethod
    def of(cls, definitions: Iterable[MetadataDefinition]) -> "Declared":
        known = list(definitions)
        return cls(
            MappingProxyType({one.name: one for one in known if one.kind == "questionnaire"}),
            MappingProxyType({one.name: one for one in known if one.kind == "responder"}),
        )

    @property
    def by_subject(self) -> dict[str, MetadataDefinition]:
        """The names by the subjects that conditions call them: `questionnaire_metadata:{name}`."""
        return {
            f"{one.kind}_metadata:{one.name}": one for one in (*self.questionnaire.values(), *self.responder.values())
        }

    @property
    def types(self) -> dict[str, Type]:
        return {subject: one.type for subject, one in self.by_subject.items()}

    def kind_of(self, name: str) -> Kind:
        return "responder" if name in self.responder and name not in self.questionnaire else "questionnaire"


def _own(
    name: str, kind: Kind, title: Marked, type_name: Type = "text", *, anonymize: bool = False, of: str | None = None
) -> MetadataDefinition:
    metadata_id = f"{of or ''}{name}".replace("_", "").rjust(ids.ID_CHARACTERS, "0")
    type_id = of and of.rjust(ids.ID_CHARACTERS, "0")
    return MetadataDefinition(
        name, kind, title, type_name, anonymize, "application_type" if of else "global", metadata_id, type_id
    )


SCORE: Final = "score"  # the sum of the points of a response
PRODUCT: Final = (
    _own("transaction_id", "questionnaire", "Transaction"),
    _own("transaction_date", "questionnaire", "Transaction date", "date"),
    _own("store_pickup", "questionnaire", "Picked up in store", "boolean"),
    _own("store_id", "questionnaire", "Store"),
    _own(SCORE, "questionnaire", "Score", "number"),
    _own("email", "responder", "E-mail address", anonymize=True),
    _own("phone_number", "responder", "Phone number", anonymize=True),
    _own("first_name", "responder", "First name", anonymize=True),
    _own("last_name", "responder", "Last name", anonymize=True),
    _own("order_total", "questionnaire", "Order total", "number", of="retail"),
    _own("delivery_date", "questionnaire", "Delivery date", "date", of="retail"),
    _own("carrier", "questionnaire", "Carrier", of="retail"),
    _own("arrival_date", "questionnaire", "Arrival", "date", of="hospitality"),
    _own("booking_no", "questionnaire", "Booking", of="hospitality"),
    _own("case_id", "questionnaire", "Case", of="services"),
    _own("resolved_date", "questionnaire", "Resolved on", "date", of="services"),
)
"""Names that the product declares: for everybody, and for the applications of a type."""

_PRODUCT_IDS: Final = frozenset(one.metadata_id for one in PRODUCT)
COMMON: Final[Mapping[str, Marked]] = {
    "name": "Name", "full_name": "Full name", "first_name": "First name", "last_name": "Last name",
    "company": "Company",
}  # fmt: skip
"""Words for names that many shops send and that nobody declares."""

GLOBAL: Final = Declared.of(one for one in PRODUCT if one.level == "global")


def declared_for(application_type_id: str | None, own: Iterable[MetadataDefinition]) -> Declared:
    """The names that an application of a type knows: the product's, and `own`, those that its organization declared.

    Of one name the narrowest definition decides, the application's before its type's before the organization's before
    the product's; but what any of them calls personal is personal.
    """
    products = [one for one in PRODUCT if one.level == "global" or one.application_type_id == application_type_id]
    known: dict[tuple[Kind, str], MetadataDefinition] = {}
    for one in [*products, *sorted(own, key=lambda each: _BREADTH.index(each.level))]:
        wider = known.get((one.kind, one.name))
        known[one.kind, one.name] = replace(one, anonymize=True) if wider is not None and wider.anonymize else one
    return Declared.of(known.values())


_BREADTH: Final = ("global", "organization", "application_type", "application")


def name_of(values: Mapping[str, str]) -> str:
    """The person's name, of the values of a responder, by the names that shops use; empty without one."""
    whole = values.get("name") or values.get("full_name")
    return whole or " ".join(filter(None, (values.get("first_name"), values.get("last_name"))))


class Changes(msgspec.Struct, frozen=True):
    questionnaire: dict[str, str | None] = {}
    responder: dict[str, str | None] = {}

    @property
    def as_stored(self) -> dict[str, dict[str, str]]:
        """The form that a queue item keeps: both maps, without what was empty."""
        return {"questionnaire": merge({}, self.questionnaire), "responder": merge({}, self.responder)}


def read_map(value: object, pointer: str, context: Context, groups: tuple[Kind, ...] = ()) -> dict[str, Any]:
    """Reader of a map: its values as texts, null and "" as None; those of `groups` may be maps of their own."""
    if not is_object(value):
        if value != []:  # an empty map of PHP
            context.error(pointer, "wrong_type", "An object of names and values is expected.")
        return {}
    if len(value) > NAMES_MAX:
        context.error(pointer, "too_many", Sentence("At most {n} names are allowed.", n=NAMES_MAX))
        return {}
    found: dict[str, Any] = {}
    for name, entry in value.items():
        if name in groups and (is_object(entry) or is_array(entry)):
            found[name] = read_map(entry, f"{pointer}/{name}", context)
            continue
        if fault := fault_of(name, entry):
            context.error(f"{pointer}/{escape(name)}", *fault)
        else:
            found[name] = _text(entry) or None
    return found


def changes_of(
    document: Mapping[str, str | Mapping[str, str | None] | None], *, declared: Declared = GLOBAL, strict: bool = False
) -> Changes:
    """Sort what `read_map` gave by kind: single names by their declaration. Raises Invalid for others if `strict`."""
    changes, findings = Changes(), Findings()

    def add(kind: Kind, name: str, text: str | None, pointer: str) -> None:
        definition = declared.get(kind, name)
        if strict and definition is None:
            findings.error(pointer, "unknown_metadata", "This name is not declared.")
        elif strict and definition and text and typed(definition.type, text) is None:
            findings.error(pointer, "invalid_format", _sentence(definition.type, text))
        else:
            (changes.questionnaire if kind == "questionnaire" else changes.responder)[name] = text

    for kind in KINDS:
        group = document.get(kind)
        for name, text in group.items() if isinstance(group, Mapping) else ():
            add(kind, name, text, f"/metadata/{kind}/{escape(name)}")
    for name, text in document.items():
        if not isinstance(text, Mapping):
            add(declared.kind_of(name), name, text, f"/metadata/{escape(name)}")
    findings.check()
    return changes


def fault_of(name: str, value: object = None) -> tuple[str, str] | None:
    """Code and sentence of a name or a value that cannot be kept; the sentence repeats neither."""
    if not 1 <= len(name) <= NAME_CHARACTERS_MAX or _CONTROL.search(name):
        text = "A metadata name has 1 to {n} characters, none of them a control character."
        return "invalid_format", Sentence(text, n=NAME_CHARACTERS_MAX)
    if value is not None and not isinstance(value, str | int | float):
        return "wrong_type", "A metadata value is a text, a number or a boolean."
    if len(_text(value)) > VALUE_CHARACTERS_MAX:
        return "too_long", Sentence("A metadata value has at most {n} characters.", n=VALUE_CHARACTERS_MAX)
    return None


def merge(current: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """`current` with the changes applied by name. Beyond the limit new names are left out, known ones still change."""
    if not current and len(changes) <= NAMES_MAX:  # most of a batch, which comes by here twice a row
        return {name: value for name, value in changes.items() if value}
    merged = dict(current)
    for name, value in changes.items():
        if not value:
            merged.pop(name, None)
        elif name in merged or len(merged) < NAMES_MAX:
            merged[name] = value
    return merged


def typed(type_name: Type, text: str | None) -> str | Decimal | bool | date | None:
    """The value as its declared type reads it; None, that is missing, where it cannot."""
    if not text:
        return None
    if type_name == "number":
        value = Decimal(text) if _NUMBER.match(text) else _number(text)
        return value if value is not None and len(value.as_tuple().digits) <= NUMBER_DIGITS_MAX else None
    if type_name == "boolean":
        return BOOLEANS.get(text.lower())
    if type_name == "date":
        return _date(text)
    return text


def _sentence(type_name: Type, text: str) -> str:
    try:
        structs.read(text if type_name == "number" else "")
    except structs.Ambiguous:
        return "This number has two readings. Write it without a separator of thousands, such as 1234.5."
    return NOT_TYPED[type_name]


def _number(text: str) -> Decimal | None:
    with suppress(structs.Ambiguous):
        return structs.read(text)
    return None


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _date(text: str) -> date | None:
    if match := _DATE.match(text):
        year, month, day = match.groups()
    elif match := _DAY_FIRST.match(text):
        day, month, year = match.groups()
    else:
        return None
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
