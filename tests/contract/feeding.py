"""Hooks of Schemathesis, loaded by the process that `test_schemathesis.py` starts: cases that reach the handlers.

What is made up from a schema alone ends at the edge: ids that nobody has, random filters, cursors and names of fields.
So most cases get ids that exist and members that fit each other; the others stay as they are. All that is chosen here
follows from the seed and the case.
"""

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_plus

import schemathesis
from schemathesis.core.failures import Failure

VARIABLE: Final = "SCHEMATHESIS_FOOD"
FOOD: Final[dict[str, Any]] = json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8"))
IDS: Final[list[dict[str, str]]] = FOOD["ids"]  # of each organization whose things paths and bodies may name
SPARE: Final[dict[str, list[str]]] = FOOD["spare"]  # by path: things that may be changed and deleted
KEPT: Final = frozenset[str](FOOD["kept"])  # things that the other cases need: neither changed nor deleted
FOREIGN: Final[dict[str, str]] = FOOD["foreign"]  # what stands in no answer
GOOD: Final[dict[str, Any]] = FOOD["good"]  # values that a schema cannot tell, by the names of members
ID: Final = re.compile(r"[0-9A-Za-z]{22}")
YEAR: Final = datetime.now(UTC).year  # times are near, ahead as well as behind
MEMBER: Final = re.compile(r"[a-z]+(_[a-z]+)*")
NO_WORKER = "No worker sends on this channel"
EDGE_CODES: Final = re.compile(
    r'"code":"(nul_character|lone_surrogate|duplicate_member|malformed_encoding|malformed_form|malformed_query'
    r'|malformed_header|too_deep|too_many_members|name_too_long|number_out_of_range)"'
)
REAL_SHARE: Final = 0.9  # of ids
GOOD_SHARE: Final = 0.8  # of cases whose members fit
LINES: Final = "application/x-ndjson"
ONCE_IN: Final = {"response_fields": 10, "cursor": 20, "after": 20, "filter_by": 4, "pagination": 2, "limit": 2}

covered: Final = Counter[str]()
seen: Final = set[str]()


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Of the thousands of cases that cover the schema a share: the first of each operation, the others by chance."""
    if case.meta is None or case.meta.phase.name != "coverage":
        return True
    label = case.operation.label
    covered[label] += 1
    return covered[label] == 1 or chance_of(label, covered[label]).random() < FOOD["coverage_share"]


@schemathesis.hook
def map_case(context: schemathesis.HookContext, case: schemathesis.Case) -> schemathesis.Case:
    """The case with real ids and good members where it has well-formed ones."""
    if case.meta is None:
        return case
    wrong = {location.value for location, each in case.meta.components.items() if each.mode.is_negative}
    chance = chance_of(case.operation.label, repr(case))
    feed = Feed(chance.choice(IDS), chance, is_good=chance.random() < GOOD_SHARE)
    if "path" not in wrong:
        case.path_parameters = feed.path(case)
    if "query" not in wrong and case.query:
        case.query = feed.query(case.query)
    if "body" not in wrong and isinstance(case.body, dict | list | str):
        case.body = feed.lines() if case.media_type == LINES else feed.value("", case.body)
    if "header" not in wrong and feed.is_good:
        for name in ("If-Match", "Idempotency-Key", "Prefer"):  # 412; used before; strict
            case.headers.pop(name, None)
    return case


@schemathesis.hook
def before_add_examples(context: schemathesis.HookContext, examples: list[schemathesis.Case]) -> None:
    """Examples are no exception."""
    examples[:] = [map_case(context, each) for each in examples]


@schemathesis.hook
def after_call(context: schemathesis.HookContext, case: schemathesis.Case, response: schemathesis.Response) -> None:
    """Remember the ids that answers told: a case that follows a link has them from there."""
    if 200 <= response.status_code < 300:
        seen.update(ID.findall(response.content.decode(errors="replace")))  # some are pictures


@schemathesis.hook
def filter_failure(
    context: schemathesis.HookContext,
    failure: Failure,
    case: schemathesis.Case,
    response: schemathesis.Response,
) -> bool:
    """The edge refuses what no schema can: a NUL in a text, a name that stands twice in a form, too deep a body.

    A test message cannot leave here, where no worker runs. And DELETE archives a questionnaire: it stays readable.
    """
    if type(failure).__name__ == "UseAfterFree" and case.operation.path.startswith("/q/questionnaire/{"):
        return False
    if response.status_code == 503 and NO_WORKER in response.text:
        return False
    is_edge = response.status_code == 400 and EDGE_CODES.search(response.text) is not None
    return not (is_edge and type(failure).__name__ == "RejectedPositiveData")


@schemathesis.check
def nothing_of_another_organization(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """No answer holds data of the other organization, unless it was sent."""
    request = response.request
    sent = f"{request.url} {request.headers} {request.body!r}"
    told = f"{response.content.decode(errors='replace')} {response.headers}"
    shown = [name for name, value in FOREIGN.items() if value in told and value not in sent]
    assert not shown, f"the other organization's {', '.join(shown)}"


@schemathesis.serializer("application/x-www-form-urlencoded")
def form(context: schemathesis.SerializationContext, value: Any) -> bytes:
    """A form as clients send it, with nested brackets."""
    pairs = [f"{quote_plus(name)}={quote_plus(text)}" for name, text in pairs_of("", value)]
    return "&".join(pairs).encode("utf-8", "surrogatepass")


@schemathesis.serializer(LINES)
def lines(context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Lines of JSON, which are made as text."""
    return str(value).encode("utf-8", "surrogatepass")


class Feed:
    """The input of one case: the ids of an organization, and valid members or none."""

    def __init__(self, ids: dict[str, str], chance: random.Random, *, is_good: bool) -> None:
        self.ids, self.chance, self.is_good = ids, chance, is_good

    def path(self, case: schemathesis.Case) -> dict[str, Any]:
        """Real ids in the path; where the case changes or ends a thing, one that can be spared."""
        found = dict(case.path_parameters)
        is_change = case.method in {"PATCH", "PUT", "DELETE"} or case.path.endswith("/rotation")
        spare = SPARE.get(case.path.removesuffix("/rotation"), []) if is_change else []
        for name, value in case.path_parameters.items():
            is_told = str(value) in seen  # a link brought it here
            if spare and name == list(found)[-1]:
                if str(value) in KEPT or (not is_told and self.chance.random() < REAL_SHARE):
                    found[name] = self.chance.choice(spare)
            elif not is_told and self.chance.random() < REAL_SHARE:
                found[name] = self.ids[key_of(name, case.path)]
        return found

    def query(self, query: dict[str, Any]) -> dict[str, Any]:
        """Without most of what is refused as soon as it is made up; lists in brackets, as clients send them."""
        found: dict[str, Any] = {}
        for name, value in query.items():
            if self.chance.random() * ONCE_IN.get(name, 1) >= 1:
                continue
            if name == "order_by" and isinstance(value, dict):
                found |= {f"order_by[{each}][]": columns for each, columns in value.items()}
            else:
                found[name] = self.value(name, value)
        if self.is_good and "pagination" in found:
            found = {name: value for name, value in found.items() if name not in {"limit", "cursor"}}
        return found

    def value(self, name: str, value: Any) -> Any:  # noqa: PLR0911  one line for each kind
        """The value, with real ids and good members where they are known by their names."""
        if self.is_good and name in GOOD and value is not None:
            return self.filled(GOOD[name])
        if isinstance(value, dict):
            return {
                str(each): self.value(str(each), inner)
                for each, inner in value.items()
                if name or not self.is_good or MEMBER.fullmatch(str(each))
            }
        if isinstance(value, list):
            return [self.value(name.removesuffix("s"), inner) for inner in value]
        if not isinstance(value, str):
            return value
        if self.is_good and name == "email":
            return f"person{self.chance.getrandbits(32)}@example.com"
        if self.is_good and name.endswith("_time") and "T" in value:
            return f"{YEAR}-11-{self.chance.randint(10, 30)}T09:00:00+02:00"
        is_id = name in self.ids and ID.fullmatch(value) is not None
        return self.ids[name] if is_id and self.chance.random() < REAL_SHARE else value

    def filled(self, good: Any) -> Any:
        """A good value with ids in place of their names."""
        if isinstance(good, dict):
            return {name: self.filled(value) for name, value in good.items()}
        if isinstance(good, list):
            return [self.filled(value) for value in good]
        return self.ids.get(good.strip("{}"), good) if isinstance(good, str) and good.startswith("{") else good

    def lines(self) -> str:
        """Records of which one may be wrong."""
        records = [{"responder_channel_identifier": self.chance.choice(("ann@example.com", "", "x" * 400))}] * 2
        return "\n".join(json.dumps(each) for each in records)


def pairs_of(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    """Names and texts of a form."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from pairs_of(f"{prefix}[{name}]" if prefix else str(name), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from pairs_of(f"{prefix}[{index}]", inner)
    elif isinstance(value, bool):
        yield prefix, str(int(value))
    else:
        yield prefix, "" if value in {None, "null"} else str(value)  # the tool has made texts of null already


def key_of(name: str, path: str) -> str:
    """The name of a path's parameter among the ids; one name stands for two kinds."""
    return "responder_metadata_id" if name == "metadata_id" and "/metadata/responder" in path else name


def chance_of(*parts: object) -> random.Random:
    """Randomness that follows from the seed and these parts."""
    return random.Random(f"{FOOD['seed']} {parts}")  # noqa: S311  no secret
