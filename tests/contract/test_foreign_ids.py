"""Stores that are handed our organization and their ids find nothing and change nothing."""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Unpack, get_args, get_origin, get_type_hints

import pytest

from afterword import errors
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import CountQuery
from afterword.core.wire.lists import Listing, Page, Rows
from afterword.events.log import Position
from afterword.kit import db
from afterword.listening.reports.invitations import Filter as InvitationFilter, Found
from afterword.listening.responses.service import Filter
from afterword.privacy import rows
from afterword.run import app
from afterword.sending.queue.lists import Filter as QueueFilter
from tests.contract import hooking, reporting, ways
from tests.contract.world import ADDRESS, Tenant, World

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW: Final = datetime(2026, 11, 21, 16, 23, 45, tzinfo=UTC)
CALL: Final = re.compile(r"\bdb\.(?:fetch|execute)")
QUERIES: Final = {CountQuery, Found}  # that have an organization
VERBS: Final = ("get_", "list_", "count_", "update_", "delete_")
OF_OURS: Final = (
    "list_days", "get_organization", "get_first_application_id", "list_application_ids", "list_entries",
    "list_applications_reached", "get_domain", "update_domain", "update_checked", "update_lost", "update_proven",
    "update_reached", "delete_domain", "get_provider", "update_provider", "delete_provider", "list_users",
    "list_tokens", "list_assets", "get_total_locked", "count_plans", "list_senders", "list_instances",
    "list_questionnaires", "list_definitions", "list_responders", "list_words", "list_windows", "list_endpoints",
    "list_account_ids", "list_accounts", "list_own_accounts", "list_account_domains", "list_own_endpoints",
    "list_accounts_locked", "count_recent_locked", "list_event_entries", "list_cases",
    "count_cases", "list_names", "list_work", "list_counts", "list_selected", "list_responses", "list_sent",
    "list_response_page", "list_doubtful", "count_doubtful", "count_tabs", "list_counted", "list_bounds",
    "list_options", "count_newer", "count_facets", "list_closed", "list_batches", "list_captured", "get_seconds",
    "update_seconds", "count_waiting", "update_due_times", "update_sent_times", "list_lists", "get_attention",
    "get_first_steps", "update_first_steps", "list_only_names", "list_response_imports",
    "get_has_organization", "get_owner_email", "list_runs", "get_time_zone", "update_to_frozen", "list_overviews",
)  # fmt: skip
OF_US_ALONE: Final = {
    **dict.fromkeys(OF_OURS, "asks for ours"),
    "list_facts": "asks other functions of stores, which are tried themselves",
    "delete_sessions_of_identities": "ends ours",
    "get_identity_login": "a subject is the provider's word",
    "get_member_by_subject": "a subject is the provider's word",
    "get_member_by_email": "an address is the provider's word",
    "list_titles": "asks for ours",
    "count_answered": "counts none for a foreign link",
    "count_places": "counts none for a foreign quota",
    "get_is_alone": "whether ours is alone on the installation",
    "get_figures": "tells of no messages for a foreign account",
    "count_domains": "a domain is anybody's; what is counted is ours",
    "list_items_by_address": "an address is the client's own word",
    "get_unknown": "says which id is not ours",
    "get_daily_counts": "tells how far the reader of the log is behind; tests/listening/reports/test_daily_counts.py",
    "update_kept_answer": "a key is the client's own word",
    "update_kept_answers": "walks through ours",
    "get_person": "says by what somebody is known, which may be nothing",
    "list_identifiers": "says by what somebody is known, which may be nothing",
    "count_touched": "counts ours",
    "update_to_begin_anew": "reads our mailbox from its beginning",
    "update_answered": "counts an answer in our mailbox",
    "update_lists": "removes what ours have kept",
}
BLIND: Final = {
    "list_repeated",  # nothing was sent again
    "get_last_item",  # nothing was sent to the address in the last days
    "get_reminder_number",  # the item is an invitation
    "list_items_of_import",  # the import's item was not made by it
    "get_asset_by_hash",  # of other bytes
    "list_last_events",  # there is none of this type
    "get_format",  # no draft came from another system
    "get_lines",
    "get_last",  # fewer events than a page may pass
    "get_closes",  # the status is of open cases
    "get_has_instances",  # nobody has answered by the link
    "list_uses",  # nothing shows the picture
    "list_done",  # no response met the sequence
    "list_overlaps",  # nobody was written to by two pipelines
    "get_share",  # a link is known to whoever has it
    "list_pinned_reports",  # nobody pinned one
    "list_values",  # their responses have none of these names
    "get_is_pruned",  # the log is young
    "list_items",
    "list_failed",  # no note of theirs was refused
    "get_first_time",  # no worker has written the row of their response
    "list_comments",  # no worker has written the row of their response
    "list_scores",  # likewise
    "get_checks",  # the item was neither held nor skipped
    "get_instance_by_reference",
    "get_pipeline_id_by_slug",
    "list_descendants",
    "list_failed_rows",  # no row failed
    "list_faulty_rows",  # no row of the import is refused
    "list_waiting",  # the event asked nobody
    "list_rows_of_problem",
    "get_piece",  # an import that has ended has none
    "get_cells",  # their file has no such piece
    "list_taken_references",  # what other ways made
    "get_result",  # nobody asked for a test message
    "get_sealed",
    "get_sender_address",  # they have no sender address
    "get_settings_version",  # the account came with the pipeline and has no settings
    "list_subjects",  # the erasure has not begun
    "list_problems",  # no row of the import failed
    "list_open_items",
    "get_has_open_import",
    "get_open_import",  # none is of this file
    "get_is_used",  # no alert or case has the status
    "get_owner_email",  # the owner has no login
    "get_has_login",
    "list_codes_of_pool",  # their pool has none
    "list_codes_of",
    "get_has_key",  # of another pool
    "get_call_back_alert_locked",
    "get_case_of_call",
    "get_call",  # nobody asked for a call
    "get_last_scanned",  # no response is so far behind
    "get_work",  # no alert opened a case
    "list_signs",  # nobody opened a score of a mail
    "list_aged_locked",  # no case is so old
    "list_instance_ids",  # they are all before the id that is given
    "list_suppressions_of",  # the person's addresses may be written to
    "list_entries",
    "list_logins",  # nobody has logged in
    "list_outcomes",  # the case is open
    "list_newest",  # no worker wrote the rows of responses
    "list_answered",  # no worker wrote the rows of responses
    "list_next",
    "list_ids",  # no worker wrote the rows of responses
    "get_view",  # they saved none
    "list_exports_of_lists",  # of the caller's own
    "list_selected",  # the export is one of a questionnaire
    "get_read_time",  # they have read no response
    "list_question_uses",  # no rule of theirs asks for the question
    "get_by_key",  # no case has a mail
    "get_last_received",
    "get_message",
    "list_messages",  # no case has a mail
    "list_instances_locked",  # with each of theirs something happened lately
    "list_days",  # they have no periods
    "get_is_held",  # of another person
    "list_held_people",  # likewise
    "get_id_token",  # nobody of theirs logged in by a provider
    "list_deleted_instances_locked",  # they deleted none
    "list_deleted_items",
}  # nothing of theirs has such a name
DIGESTS: Final = ("afterword.tenants.logins.", "afterword.listening.reports.shares.")
REPORTING: Final = ("afterword.listening.reports.", "afterword.listening.exports.")
NOTHING: Final = (
    None, 0, False, [], (), {}, set[str](), Position(None, is_pruned=False, is_native=True), ([0], []),
    ([], 0), ({}, {}),
)  # fmt: skip
GIVEN: Final[Mapping[str, Any]] = {
    "address_keys": [b"k" * 32],
    "slug": "after_delivery", "test_only": False, "is_test": False, "application_ids": (), "locale": "el",
    "kind": "questionnaire", "configuration": {"font": "mono"},
    "metadata_set": {"transaction_id": "9"}, "metadata_removed": ["store_id"],
    "settings": {"display_name": "Taken over"}, "changes": {"display_name": "Taken over"}, "among": (),
    "rest_seconds": (), "types": {}, "digest": "none", "watches": [], "time_zone": "UTC",
    "blanks": {"result": None}, "scanned": 1, "networks": ("203.0.113.0/24",),
    "kept_names": (), "only": None, "quota_ids": (), "names": ["store_id"], "of_group": None, "spans_max": [9],
    "flags": ["burst"], "judgement": "held", "state": "held", "states": ["held"], "flag": None,
    "themes": (), "earlier_ids": (),
}  # fmt: skip
AMONG: Final[Mapping[str, Callable[[Mapping[str, str]], Any]]] = {
    "list_user_ids": lambda theirs: [theirs["user_id"]],
    "list_entities": lambda theirs: [("application", theirs["application_id"]), ("alert", theirs["alert_id"])],
}
BY_TYPE: Final[Mapping[object, Any]] = {
    bool: True, int: 9, float: 60.0, str: "taken over", bytes: b"k" * 32, datetime: NOW, bool | None: True,
    int | None: 9, float | None: 9.0, bytes | None: b"k" * 32, str | None: "taken over", datetime | None: NOW,
    Period: Period(datetime(2000, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC), "UTC"),
}  # fmt: skip


def verb_of(function: Callable[..., Any]) -> str:
    """Its name, as if it were public, and without the ending that tells it from a handler."""
    name = function.__name__.lstrip("_")
    return re.sub(r"^(list_\w+)_records$", r"\1s", name).removesuffix("_record")


def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Its parameters by name; in place of the reach of a caller, the members of that."""
    found: dict[str, inspect.Parameter] = {}
    for name, one in inspect.signature(function).parameters.items():
        if one.kind is not inspect.Parameter.VAR_KEYWORD or get_origin(one.annotation) is not Unpack:
            found[name] = one
            continue
        members = get_type_hints(get_args(one.annotation)[0])
        found |= {
            each: one.replace(name=each, kind=one.KEYWORD_ONLY, annotation=kind) for each, kind in members.items()
        }
    return found


@cache
def functions() -> list[Callable[..., Any]]:
    """The functions with SQL of all areas that are told an organization."""
    found: list[Callable[..., Any]] = []
    paths = {
        one for one in Path("afterword").glob("*/**/*.py") if one.parts[1] != "kit" and CALL.search(one.read_text())
    }
    for path in sorted(paths):
        module = importlib.import_module(".".join(path.with_suffix("").parts))
        for function in vars(module).values():
            if inspect.iscoroutinefunction(function) and function.__module__ == module.__name__:
                names = parameters_of(function)
                verb = verb_of(function)
                is_told = not names.keys().isdisjoint({"organization_id", "account"}) or QUERIES & {
                    one.annotation for one in names.values()
                }
                if verb.startswith(VERBS) and is_told:
                    found.append(function)
    return found


def told_of_theirs() -> list[Callable[..., Any]]:
    """Those that are told the id of a thing as well."""
    return [function for function in functions() if verb_of(function) not in OF_US_ALONE]


async def arguments(function: Callable[..., Any], world: World, organization: Tenant) -> dict[str, Any]:
    """One organization and their ids; what else it wants, in a form that it takes."""
    async with db.connection(world.pool) as database:
        account_id = await database.fetch_value(
            "select account_id from pipeline where pipeline_id = $1", world.theirs.ids["pipeline_id"]
        )
    theirs = {**world.theirs.ids, "account_id": account_id, "subject_id": world.theirs.ids["item_id"]}
    module = f"{function.__module__}."
    special: dict[str, Any] = {
        "organization_id": organization.ids["organization_id"],
        "account": (organization.ids["organization_id"], account_id),
        "published_version_id": theirs["version_id"],
        "question_ids": [theirs["question_id"]],
        "version_ids": [theirs["version_id"]],
        "file_ids": [theirs["file_id"]],
        "instance_ids": [theirs["instance_id"]],
        "item_ids": [theirs["item_id"]],
        "alert_instance_ids": [theirs["alert_instance_id"]],
        "references": [f"receipt-of-{world.theirs.house.domain}"],
        "responder_ids": [theirs["responder_id"]],
        "people": [(theirs["responder_id"], None)],
        "subject_ids": [theirs["item_id"], theirs["instance_id"]],
        "answers": [{"question_id": theirs["question_id"], "value": 5, "other_text": None}],
        "email": f"owner@{world.theirs.house.domain}.example",
        "document": item_document(),
        "documents": [{**item_document(), "item_id": theirs["item_id"], "event_id": "e" * 22, "address_key": "00"}],
        "external_references": [theirs["external_reference"]],
        "external_ids": ["R-1"],
        "place": (theirs["questionnaire_id"], theirs["pipeline_id"], False),
        "status_id": int(theirs["status_id"]),
        "questionnaire_ids": [theirs["questionnaire_id"]],
        "asset_ids": [theirs["asset_id"]],
        "keys": [theirs["pool_key"]],
        "object_ids": [f"Order of {theirs['application_id']}"],
        "whats": ["order.delivered"],
        "decisions": {theirs["source_event_id"]: []},
        **(reporting.arguments(theirs) if module.startswith(REPORTING) else {}),
        **(ways.arguments() if ".intake." in module or ".recovery_" in module else {}),
        "chosen": Filter(only=None, questionnaire_id=theirs["questionnaire_id"]),
        **(
            {
                "chosen": QueueFilter(pipeline_ids=[theirs["pipeline_id"]]),
                "limit": 1_000,
            }  # above the items of the world
            if ".queue.lists." in module
            else {}
        ),
        **({"chosen": InvitationFilter(), "basis": "sent"} if ".reports.invitations." in module else {}),
        **({"digest": b"k" * 32} if module.startswith(DIGESTS) else {}),
        **({"settings": b"sealed"} if "afterword.sending.providers." in module else {}),
        **(hooking.arguments() if "afterword.events." in module else {}),
    }
    if "asked" in special:
        asked = replace(special["asked"], organization_id=organization.ids["organization_id"])
        special |= {"asked": asked, "found": Found(asked, None, InvitationFilter())}
    if verb_of(function) in AMONG:
        special["among"] = AMONG[verb_of(function)](theirs)
    found: dict[str, Any] = {}
    for name, parameter in list(parameters_of(function).items())[1:]:
        if name == "page":
            found[name] = Page.first(listing_of(function))
        elif name in special or name in theirs:
            found[name] = special.get(name, theirs.get(name))
        elif parameter.default is inspect.Parameter.empty:
            known = name in GIVEN or parameter.annotation in BY_TYPE
            assert known, f"{function.__name__} has no probe: say in {Path(__file__).name} what {name} is"
            found[name] = GIVEN[name] if name in GIVEN else BY_TYPE[parameter.annotation]
    return found


def item_document() -> dict[str, Any]:
    """The editable columns of a queue item."""
    return {
        "responder_channel_identifier": ADDRESS, "locale": "el", "metadata": {}, "send_time": NOW.isoformat(),
        "send_offset_minutes": 0, "due_time": NOW.isoformat(), "not_after": NOW.isoformat(), "reason": None,
        "result": None, "updated_by": "w" * 22,
    }  # fmt: skip


def listing_of(function: Callable[..., Any]) -> Listing:
    """The listing of the route whose handler calls the function, itself or by another function of its module."""
    call = re.compile(rf"\b{function.__name__}\(")
    routes = [route for group in app.api_routes() for route in group.all if route.listing]
    return next(route.listing for route in routes if route.listing and call.search(source_of(route.handler)))


def source_of(handler: Callable[..., Any]) -> str:
    """The handler's text, and that of its module's functions that it names."""
    handler = handler.func if isinstance(handler, partial) else handler  # of a noun
    within = vars(sys.modules[handler.__module__])
    helpers = [within.get(name) for name in handler.__code__.co_names]
    ours = [each for each in helpers if inspect.isfunction(each) and each.__module__ == handler.__module__]
    return "".join(map(inspect.getsource, (handler, *ours)))


async def test_it_has_teeth(world: World) -> None:
    """The same ids below their own organization are found: the probes ask for what is there."""
    blind: list[str] = []
    assert set() == set(OF_US_ALONE) - {verb_of(function) for function in functions()}
    for function in told_of_theirs():
        if verb_of(function).startswith(("get_", "list_")):
            found: Any = None
            with suppress(errors.Conflict):  # says that there is nothing
                async with db.connection(world.pool) as database:
                    found = await function(database, **await arguments(function, world, world.theirs))
            if (found.items if isinstance(found, Rows) else found) in NOTHING:
                blind.append(verb_of(function))
    assert set(blind) <= BLIND


@pytest.mark.parametrize("module", sorted({function.__module__ for function in told_of_theirs()}))
async def test_finds_and_changes_nothing(world: World, module: str) -> None:
    await world.lift_holds()
    before = await world.digests_of(world.ours, world.theirs)
    for function in (one for one in told_of_theirs() if one.__module__ == module):
        found: Any = None
        try:
            async with db.transaction(world.pool) as database:
                found = await function(database, **await arguments(function, world, world.ours))
        except (errors.NotFound, errors.Conflict, errors.Unavailable):
            pass  # refused by the function, by a foreign key, or because a row that was locked before is not there
        assert (found.items if isinstance(found, Rows) else found) in NOTHING, function.__name__
    assert before == await world.digests_of(world.ours, world.theirs)


@pytest.mark.parametrize("name", rows.REMOVALS)
async def test_removals_remove_nothing(world: World, name: str) -> None:
    """The removals of an erasure take ids of theirs, and address keys of nobody."""
    ids = [world.theirs.ids[one] for one in ("item_id", "instance_id", "responder_id")]
    keys = [b"k" * 32] if name in {"contacts", "suppressions"} else ids
    before = await world.digests_of(world.ours, world.theirs)
    async with db.transaction(world.pool) as database:
        assert 0 == await rows.remove(database, name, world.ours.ids["organization_id"], keys)
    assert before == await world.digests_of(world.ours, world.theirs)
