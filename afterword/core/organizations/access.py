"""Authorization: scopes as exact strings, the caller of a request, and its refusal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal, NoReturn, TypedDict, final

import msgspec

from afterword import errors

ACTIONS: Final = ("Read", "Create", "Update", "Delete")
AGENT_ENTITIES: Final = (  # read by agents: everything that their cases refer to
    "Application", "Questionnaire", "Questionnaire Group", "Question", "Questionnaire Instance", "Questionnaire Value",
    "Responder", "Responder Value", "Pipeline", "Queue", "Alert", "Alert Instance", "Alert Status", "User", "Tag",
    "Metadata", "Notification",
)  # fmt: skip
ENTITIES: Final = (
    *AGENT_ENTITIES,
    "Organization", "Questionnaire Visual", "Report", "Plan", "Questionnaire Export", "Webhook", "Event", "Suppression",
    "Token", "Questionnaire Version", "Organization Billing", "Sequence", "Contact Policy", "Audit",
    "Provider", "Inbound", "Asset", "Public Link", "Coupon Pool", "Source",
)  # fmt: skip
VALUE_SCOPES: Final[Mapping[str, str]] = {  # of a single response, by the kind of a group or of a condition's subject
    "questionnaire_metadata": "Questionnaire Value.Read",
    "responder_metadata": "Responder Value.Read",
    "case": "Alert Instance.Read",
}
SCOPES: Final = frozenset(f"{entity}.{action}" for entity in ENTITIES for action in ACTIONS)

_REPORTING_READS: Final = frozenset(ENTITIES) - {
    "Token", "Webhook", "Suppression", "Audit", "Provider", "Inbound", "Coupon Pool", "Source",
}  # fmt: skip
_EVERYDAY: Final = frozenset({"Alert Instance.Update", "Tag.Create", "Tag.Delete", "Notification.Update"})
ROLE_SCOPES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "owner": SCOPES,
        "admin": SCOPES - {"Organization.Delete", "Plan.Create", "Plan.Update", "Plan.Delete"},
        "reporting": frozenset(f"{entity}.Read" for entity in _REPORTING_READS)
        | frozenset(f"{entity}.{a}" for entity in ("Report", "Questionnaire Visual", "Asset") for a in ACTIONS[1:])
        | {"Questionnaire Export.Create", "Alert.Create"}
        | _EVERYDAY,
        "agent": frozenset(f"{entity}.Read" for entity in AGENT_ENTITIES) | _EVERYDAY,
    }
)
# Of whoever looks at the made-up shop, where people of many organizations meet: nothing is changed or listed of users.
VISITOR_SCOPES: Final = frozenset(one for one in ROLE_SCOPES["reporting"] if one.endswith(".Read")) - {"User.Read"}


ForLimited = Literal["refused", "part", "free"]
"""A route or screen for callers with a Limit: closed, which is the default; shows their part; shows no data."""


@final
class Limit(msgspec.Struct, frozen=True):
    """The data that somebody sees: with one of these values of the metadata `name`. Without values it is nothing."""

    name: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(self.values)

    def check(self, values: Mapping[str, str | None], pointer: str) -> None:
        """Raise Invalid for values of something new or changed that would be out of its own reach."""
        if (given := values.get(self.name)) not in self.values:
            code = "required" if given is None else "unknown_value"
            message = "You see only data where this is {values}, so one of these values is required."
            raise errors.Invalid.at(pointer, code, errors.Sentence(message, values=str(self)))


class OutOfLimit(errors.Forbidden):
    """A caller with a limit asks for what cannot be limited; the sentence has the `name` that the limit is by."""


class Part(TypedDict):
    """The part of an organization that a caller sees, as stores take it: that of these applications (none: all)."""

    organization_id: str
    application_ids: Sequence[str]


class Reach(Part):
    """The rows of it that a caller sees: all, or those of tests alone."""

    test_only: bool


class Sight(Reach):
    """Of these rows those within the caller's limit, `Caller.only`."""

    only: Sequence[str] | None


def values_of(part: Part) -> tuple[str, list[str]]:
    """The two values of a part, as statements take them."""
    return part["organization_id"], list(part["application_ids"])


@final
@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a valid token. `scopes` are those that hold now; `time_zone` is the organization's.

    With neither token nor user it is the installation itself: a command of its operator, or a rule at work.
    """

    organization_id: str
    token_id: str
    user_id: str | None
    scopes: frozenset[str]
    application_ids: tuple[str, ...]  # empty: the whole organization
    domain: str
    time_zone: str
    default_locale: str
    test: bool = False
    role: str = "owner"  # the user's, or of an organization's token its maker's
    ends_time: datetime | None = None  # of the token
    is_access: bool = False  # it came by OAuth, for an hour
    networks: tuple[str, ...] = ()  # of the token; empty: from anywhere
    limit: Limit | None = None  # None: all data of its applications
    reach: Reach = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        reach = Reach(organization_id=self.organization_id, application_ids=self.application_ids, test_only=self.test)
        object.__setattr__(self, "reach", reach)

    @property
    def part(self) -> Part:
        return Part(organization_id=self.organization_id, application_ids=self.application_ids)

    @property
    def sight(self) -> Sight:
        return Sight(**self.reach, only=self.only)

    @property
    def only(self) -> tuple[str, ...] | None:
        """The limit as `kit.db.columns.within` compares it: the name of the metadata, then its values."""
        return None if self.limit is None else (self.limit.name, *self.limit.values)

    @property
    def reads_answers(self) -> bool:
        """Whether single answers are open to it, so that figures of small groups need not be hidden from it."""
        return "Questionnaire Instance.Read" in self.scopes

    @property
    def actor_id(self) -> str:
        """The value of `created_by` and `updated_by`: the user, or the organization's token; empty: none."""
        return self.user_id or self.token_id

    @property
    def actor_kind(self) -> str:
        """`user` or `token`, as events name their actor; `worker` for the installation itself."""
        return "user" if self.user_id else "token" if self.token_id else "worker"

    @property
    def actor(self) -> str:
        """The author of changes as `db.transaction` takes it: kind, id and a user's role; empty: the system."""
        if not self.actor_id:
            return ""
        return f"{self.actor_kind} {self.actor_id} {self.role if self.user_id else ''}".rstrip()

    def require(self, scope: str) -> None:
        """Raise Forbidden `insufficient_scope` unless exactly this scope is held: no wildcard, no implication."""
        if scope not in self.scopes:
            raise InsufficientScope(scope, role=self.role if self.user_id else None)

    def require_all(self) -> None:
        """Raise Forbidden for a caller who sees a part of the organization, or test data alone."""
        self.require_whole()
        self.require_real()

    def require_values(self, subjects: Iterable[str]) -> None:
        """Raise InsufficientScope where a condition speaks of values of single responses that are out of reach."""
        for kind in sorted({subject.partition(":")[0] for subject in subjects} & VALUE_SCOPES.keys()):
            self.require(VALUE_SCOPES[kind])

    def require_whole(self) -> None:
        """Raise Forbidden for a caller confined to applications, where the whole organization is concerned."""
        if self.application_ids:
            raise errors.Forbidden("This concerns the whole organization, and you have some applications of it.")

    def require_open(self, for_limited: ForLimited) -> None:
        """Raise Forbidden for a caller with a limit, where a route or screen is not for such callers."""
        if self.limit is not None and for_limited == "refused":
            self.refuse_limited(self.limit)

    def refuse_limited(self, limit: Limit) -> NoReturn:
        text = "You see only data where {name} is {values}, and this page or operation cannot be limited to it."
        raise OutOfLimit(errors.Sentence(text, name=limit.name, values=str(limit)))

    def require_real(self) -> None:
        """Raise Forbidden for a test token, where real people are concerned."""
        if self.test:
            raise errors.Forbidden("This concerns real people, and this token is for tests.")

    @property
    def is_limited(self) -> bool:
        """Whether a part of the organization's people is out of reach, such as that of other applications."""
        return bool(self.application_ids) or self.test or self.limit is not None


def limit_of(name: str | None, values: Sequence[str]) -> Limit | None:
    return None if name is None else Limit(name, tuple(values))


def both_limits(first: Limit | None, second: Limit | None) -> Limit | None:
    """The limit that has only values of both; of two names it has none."""
    if first is None or second is None:
        return first or second
    common = (one for one in first.values if first.name == second.name and one in second.values)
    return Limit(first.name, tuple(common))


def installation(organization_id: str) -> Caller:
    """The installation itself, at work for an organization: no scopes, and UTC."""
    return Caller(
        organization_id=organization_id,
        token_id="",
        user_id=None,
        scopes=frozenset(),
        application_ids=(),
        domain="",
        time_zone="UTC",
        default_locale="en",
    )


class InsufficientScope(errors.Forbidden):
    """The token is valid, but lacks the scope of the route."""

    code_default = "insufficient_scope"

    def __init__(self, scope: str, *, role: str | None = None) -> None:
        challenge = f'Bearer error="insufficient_scope", scope="{alias_of(scope)}"'
        because = "." if role is None else f", or its user's role ({role}) does not open it."
        super().__init__(
            f"This token lacks the scope “{scope}”{because}",
            headers={"WWW-Authenticate": challenge},
            required_scopes=[scope],
        )


def alias_of(scope: str) -> str:
    """The spelling without spaces that OAuth wants: `Queue.Create` is `queue.create`."""
    return scope.lower().replace(" ", "_")
