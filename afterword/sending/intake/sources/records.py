"""Sources: shops and help desks that tell of orders and tickets, and the rules by which somebody is asked."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from afterword import errors, ids
from afterword.core.sources import KINDS, rules
from afterword.core.sources.notes import NOTES
from afterword.core.sources.parts import SourceKind, What
from afterword.core.wire.lists import Page
from afterword.errors import FieldError, Sentence
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import answer_of, answer_of_rows, route_of, routes_of
from afterword.kit.nouns.declaration import Change, Computed, Editable, Given, Hidden, Noun, Record, Screens, Shown
from afterword.kit.nouns.structs import creation_of, listing_of, resource_of
from afterword.kit.texts import Texts
from afterword.kit.transport import http
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call
from afterword.sending.pipelines import store as pipelines

SETTINGS_MAX: Final = 40
RULES_MAX: Final = 500  # of an organization
RULES_OF_ONE_MAX: Final = 20
SecretText = Annotated[str, Meta(min_length=1, max_length=500, extra=fields.LINE)]
Setting = Annotated[str, Meta(max_length=10_000)]
NoteAddress = Annotated[fields.Url, Meta(examples=["https://acme.myshopify.com"])]
_NOTE_MEMBERS: Final = frozenset({"note_active", "note_address", "note_user"})
Days = Annotated[int, Meta(ge=0, le=365)]


class Source(Record, kw_only=True):
    """A system that calls `url` when something happened to an order or a ticket."""

    source_id: fields.Id
    title: Annotated[fields.Text100, Editable("Title", "For your colleagues, such as the name of the shop.")]
    kind: Annotated[str, Meta(min_length=1, max_length=40, examples=["shopify"]), Editable(once=True, holds="fixed")]
    application_id: Annotated[fields.Id | None, Editable("Application", "", "choice")] = None
    active: Annotated[bool, Editable("Calls are taken", "", "switch")] = True
    settings: Annotated[dict[str, Setting], Editable()] = msgspec.field(default_factory=dict[str, str])
    secret: Annotated[SecretText | None, Given()] = None
    has_secret: Annotated[fields.Computed[bool], Computed(sql="t.sealed_secret is not null")] = False
    note_active: Annotated[bool, Editable()] = False
    note_address: Annotated[NoteAddress | None, Editable(holds="account")] = None
    note_user: Annotated[SecretText | None, Editable(holds="account")] = None
    note_token: Annotated[SecretText | None, Given()] = None
    has_note_token: Annotated[fields.Computed[bool], Computed(sql="t.sealed_note_token is not null")] = False
    note_sent_time: datetime | None = None
    note_problem: str | None = None
    note_disabled_time: datetime | None = None
    url: Annotated[fields.Computed[str], Shown()] = ""
    last_time: datetime | None = None
    refused_count: int = 0
    refused_time: datetime | None = None
    problem: Annotated[str | None, Meta(description="Why the last call was refused; null after one that was taken.")]
    sealed_secret: Annotated[bytes | None, Hidden(holds="sealed")]
    sealed_note_token: Annotated[bytes | None, Hidden(holds="sealed")]
    test: Annotated[bool, Hidden()]


def seal_context(organization_id: str, source_id: str) -> str:
    return f"source:{organization_id}:{source_id}"


def place_of(source: Source) -> dict[str, Any]:
    return {"organization_id": source.organization_id, "source_id": source.source_id}


def kind_of(name: str, settings: Mapping[str, str]) -> SourceKind:
    """The kind as a source has it. Raises Invalid for a kind that there is not, and for settings that are wrong."""
    kind = KINDS.get(name)
    if kind is None:
        message = Sentence("One of {values} is expected.", values=", ".join(KINDS))
        raise errors.Invalid.at("/kind", "unknown_value", message)
    message = "A source of this kind has no such setting."
    unknown = sorted(settings.keys() - kind.settings.keys())
    errors.check(
        [FieldError("unknown_member", message, pointer=f"/settings/{name}") for name in unknown[:SETTINGS_MAX]]
    )
    return kind.configure(settings) if kind.configure else kind


async def _check(change: Change[Source]) -> None:
    if change.before is None or "application_id" in change.columns:
        await nouns.check_application(change)
    kind_of(change.after("kind"), change.after("settings") or {})
    secret = change.columns.pop("secret", None)
    if secret is not None:
        context = seal_context(change.caller.organization_id, change.key)
        change.columns["sealed_secret"] = sealing.seal(secret, secret=change.site.secret, context=context)
    _check_notes(change)
    if change.before is None:
        change.columns["test"] = change.caller.test


def _check_notes(change: Change[Source]) -> None:
    """Raise Forbidden, and Invalid with every error. A token goes to one address alone."""
    columns, kind = change.columns, NOTES.get(change.after("kind"))
    token, is_active = columns.pop("note_token", None), change.after("note_active")
    if token is None and not (is_active and _NOTE_MEMBERS & columns.keys()) and not columns.get("note_address"):
        return
    if kind is None:
        raise errors.Invalid.at("/note_active", "unknown_value", "This system takes no notes.")
    change.caller.require("Questionnaire Instance.Read")  # it must not deliver what its owner may not read
    wrong: list[FieldError] = []
    if address := columns.get("note_address"):
        host, sentence = http.host_of(address) or "", http.check_url(address, change.site.networks)
        if not sentence and (kind.address or not host.endswith(kind.host)):
            sentence = Sentence("An address of this kind is at {hosts}.", hosts=kind.address or kind.host)
        if sentence:
            wrong.append(FieldError("invalid_address", sentence, pointer="/note_address"))
        columns["note_address"] = f"https://{host}" if kind.host else address.partition("?")[0].rstrip("/")
        if change.before is None or change.before.note_address != columns["note_address"]:
            columns["sealed_note_token"] = None
    has = {
        "note_token": token or change.after("sealed_note_token"),
        "note_address": kind.address or change.after("note_address"),
        "note_user": not kind.needs_user or change.after("note_user"),
    }
    missing = [name for name, given in has.items() if is_active and not given]
    errors.check([*wrong, *(FieldError("required", "Notes need this.", pointer=f"/{name}") for name in missing)])
    if token is not None:
        context = seal_context(change.caller.organization_id, f"{change.key}:note")
        columns["sealed_note_token"] = sealing.seal(token, secret=change.site.secret, context=context)


async def _new_key(_change: Change[Source]) -> str:
    return ids.secret()


async def _show(call: Call[Any], _db: Database, rows: Sequence[Source]) -> Sequence[Mapping[str, Any]]:
    return [{"url": call.site.source_url(one.source_id)} for one in rows]


def state_of(words: Texts, one: Source) -> str:
    """The state of its calls in words; empty where nothing is to be done."""
    if not one.active:
        return words("off")
    if one.problem:
        return words("last call refused")
    return "" if one.last_time else words("waiting for the first call")


def kind_label(one: Source) -> str:
    return KINDS[one.kind].label if one.kind in KINDS else one.kind


SOURCE = Noun(
    record=Source,
    table="source",
    one="source",
    many="sources",
    tag="Sources",
    path="/source",
    scope="Source",
    about_create="A new source. `secret` is what that system signs its calls with: stored sealed, and shown to "
    "nobody. Without one every call is refused.",
    about_update="Changes of a source. `secret` null, or left out, keeps the stored one.",
    about={"delete": "Its rules go with it, and its address finds nothing from then on. Items that were made stay."},
    visible="(t.test or not $3::boolean) and (cardinality($2::text[]) = 0 or t.application_id = any($2))",
    most=50,
    filled=("sealed_secret", "sealed_note_token", "test"),
    filled_later=("sealed_secret", "sealed_note_token"),
    also_set="""note_resume_time = null,
  note_failing_since = case when s.note_active and not t.note_active then null else t.note_failing_since end,
  note_disabled_time = case when s.note_active then null else t.note_disabled_time end""",
    new_key=_new_key,
    check=_check,
    show=_show,
    screens=Screens(
        path="/console/settings/sources",
        title="Shops and help desks",
        lead="They tell of orders and tickets. Rules say when Afterword asks.",
        new="Connect a shop or help desk",
        empty="Nothing is connected yet.",
        row=lambda words, one: {
            "state": words("notes are not written") if one.note_problem else state_of(words, one),
            "more": words(kind_label(one)),
        },
        inputs=("title", "application_id", "active"),
        has_page=True,
        removal="Disconnect “{title}”?",
        removal_sentence="Its rules go with it. Messages that are scheduled stay.",
        removal_button="Disconnect",
    ),
)
routes = routes_of(SOURCE)


class SourceRule(Record, kw_only=True):
    """A rule by which an event of a source puts an item into the queue of a pipeline.

    Without `delay_days` and `delay_hours` the pipeline's own delay counts. `unless`: events of the same subject after
    which nobody is asked, and by which an item that waits is cancelled. Older events than `age_days_max` ask nobody.
    """

    source_rule_id: fields.Id
    source_id: fields.Id
    what: Annotated[What, Editable("When", "", "choice", holds="fixed")]
    conditions: Annotated[dict[str, Any] | None, Editable()] = None
    pipeline_id: Annotated[fields.Id, Editable("Ask through", "", "choice")]
    delay_days: Annotated[Days | None, Editable("Days after it", "Empty: the pipeline's own delay.", "number")] = None
    delay_hours: Annotated[Annotated[int, Meta(ge=0, le=23)] | None, Editable("And hours", "", "number")] = None
    unless: Annotated[
        Annotated[list[What], Meta(max_length=12)],
        Editable("Nobody is asked after", "A message that waits is cancelled.", "checks", holds="fixed"),
    ] = msgspec.field(default_factory=list[What])
    age_days_max: Annotated[
        int, Meta(ge=1, le=30), Editable("Oldest event, in days", "Older events ask nobody.", "number")
    ] = 14
    active: Annotated[bool, Editable("The rule is on", "", "switch")] = True


async def _check_rule(change: Change[SourceRule]) -> None:
    db, part, columns = change.db, change.caller.part, change.columns
    wrong: list[FieldError] = []
    if "pipeline_id" in columns:
        pipeline = await pipelines.get_pipeline(db, **part, pipeline_id=columns["pipeline_id"])
        if pipeline is None:
            wrong.append(FieldError("unknown_id", "There is no such pipeline.", pointer="/pipeline_id"))
    if columns.get("conditions") is not None:
        wrong += rules.errors_of(columns["conditions"])
    if change.after("what") in (change.after("unless") or ()):
        message = "The event that asks cannot stop it."
        wrong.append(FieldError("exclusive", message, pointer="/unless"))
    errors.check(wrong)


RULE = Noun(
    record=SourceRule,
    table="source_rule",
    one="source rule",
    many="source rules",
    tag="Sources",
    path="/source/rule",
    scope="Source",
    about_create="When an event of a source asks, through which pipeline, and when it does not.",
    about_update="Changes of a rule; items that it made stay as they are.",
    about={
        "create": "`conditions` speak of values of the event, as `questionnaire_metadata:NAME`. The item gets values "
        "whose names are declared as its metadata, the subject as its reference, and the language of the event.",
    },
    parent="source_id",
    visible="""exists (select from source s where s.organization_id = t.organization_id and s.source_id = t.source_id
      and (s.test or not $3::boolean)
      and (cardinality($2::text[]) = 0 or s.application_id = any($2)))""",
    most=RULES_MAX,
    filled=("source_id",),
    check=_check_rule,
)
RULES: Final = "/source/{source_id}/rule"


@routes.list(
    RULES, scope="Source.Read", answer=resource_of(RULE), listing=listing_of(RULE), summary="Get all rules of a source"
)
async def list_rules_of_source(call: Call[None], db: Database) -> Answer:
    await nouns.get(SOURCE, db, caller=call.caller, key=call.ids["source_id"])
    rows = await nouns.rows(RULE, db, **call.caller.reach, parent_id=call.ids["source_id"], page=call.page)
    return await answer_of_rows(RULE, call, db, rows)


@routes.post(
    RULES,
    scope="Source.Create",
    body=creation_of(RULE),
    answer=resource_of(RULE),
    summary="Create new rule of a source",
    description=RULE.about["create"],
)
async def create_source_rule(call: Call[Any], db: Database) -> Answer:
    made = await create_rule(db, **call.ids, columns=call.body.named(), **call.acting)
    return await answer_of(RULE, call, db, made)


routes.all += [route_of(RULE, operation) for operation in RULE.operations if operation != "create"]


async def create_rule(
    db: Database, *, source_id: str, columns: Mapping[str, Any], **acting: Any
) -> nouns.Made[SourceRule]:
    """Raises NotFound without such a source, and what the rules of the noun raise."""
    await nouns.get(SOURCE, db, caller=acting["caller"], key=source_id, is_locked=True)
    made = await nouns.create(RULE, db, columns={**columns, "source_id": source_id}, **acting)
    if len(await rules_of(db, source_id=source_id, organization_id=made.record.organization_id)) > RULES_OF_ONE_MAX:
        raise errors.Invalid.at("", "too_many", f"A source has at most {RULES_OF_ONE_MAX} rules.")
    return made


async def rules_of(db: Database, *, source_id: str, **reach: Any) -> list[SourceRule]:
    """The rules of a source, the oldest first."""
    page = Page.first(listing_of(RULE), limit=RULES_OF_ONE_MAX + 1)
    return (await nouns.rows(RULE, db, **reach, parent_id=source_id, page=page)).items[::-1]
