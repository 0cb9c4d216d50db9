"""The time for which rows are kept that no organization decides about.

Items, events, entries of the audit log, and what an organization has a period for, have walks of their own.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, LiteralString

from afterword.asking.instances import choices
from afterword.core.messaging import notices
from afterword.events import deliveries
from afterword.kit.db.retention import Retention
from afterword.listening.exports import schedules, service as exports
from afterword.listening.imports import service as response_imports, uploads
from afterword.listening.reports import shares
from afterword.listening.responses import taggings
from afterword.sending.intake import lists, test_messages
from afterword.sending.intake.imports import service as imports
from afterword.sending.intake.sources import store as sources
from afterword.sending.queue import batches, outbox
from afterword.tenants.logins import service as logins, sessions
from afterword.tenants.organizations import idempotency
from afterword.tenants.organizations.tokens import service as tokens


def _kept(
    table: LiteralString, key: LiteralString, time: LiteralString, age: timedelta | int = 0, **more: Any
) -> Retention:
    """Of a tenant's rows. `key`: its columns behind the organization; `age`: a number is of days."""
    return Retention(
        table, f"organization_id, {key}", time, timedelta(days=age) if isinstance(age, int) else age, **more
    )


def _of_x(table: LiteralString, key: LiteralString, columns: LiteralString, name: LiteralString = "o") -> LiteralString:
    """Those of its rows that have the key of `x`, which is the row of the walk."""
    return f"""lateral (
               select organization_id, {columns} from {table} t
               where t.organization_id = x.organization_id and t.{key} = x.{key} limit $2) {name}"""


_EXPIRED: Final[Mapping[str, Any]] = {"walk": "export", "by": "expires_time, organization_id, export_id"}
_EXPORT: Final = _of_x("export", "export_id", "export_id, state")
_IMPORTED: Final[Mapping[str, Any]] = {"walk": "queue_import", "by": "finished_time, organization_id, import_id"}
_DELETED: Final[Mapping[str, Any]] = {"walk": "webhook", "by": "deleted_time, organization_id, webhook_id"}

RETENTION: Final[Mapping[str, Retention]] = {
    # For that hour requests with one get `token_expired` instead of `invalid_token`.
    "access tokens": _kept(
        "access_token", "access_token_id", "o.expires_time", timedelta(seconds=tokens.ACCESS_SECONDS)
    ),
    "sessions": Retention("login_session", "digest", "o.expires_time"),
    "idle sessions": Retention(
        "login_session",
        "digest",
        "o.seen_time",
        sessions.IDLE,
        walk="login_session",
        by="expires_time, session_id",
        source="""x, lateral (
               select digest, seen_time from login_session s where s.session_id = x.session_id offset 0) o""",
    ),
    "log-in links": Retention("login_link", "digest", "o.expires_time"),
    "challenges of passkeys": Retention("login_challenge", "digest", "o.expires_time"),
    "failed log-ins": Retention("login_failure", "key", "o.since", logins.WINDOW),
    "idempotency keys": _kept("idempotency_key", "key", "o.created_time", timedelta(hours=idempotency.KEPT_HOURS)),
    "links to reports": _kept("report_share", "share_id", "o.expires_time", shares.KEPT_DAYS),
    "the time of exports": _kept(
        "export",
        "export_id",
        "x.expires_time",
        also="o.state = 'done'",
        **_EXPIRED,
        source=f"x, {_EXPORT}",
        change="state = 'expired', version = t.version + 1",
    ),
    "files of exports": _kept(
        "export_piece",
        "export_id, number",
        "x.expires_time",
        also="e.state = 'expired'",
        **_EXPIRED,
        source=f"""x, {_of_x("export", "export_id", "state", "e")},
             {_of_x("export_piece", "export_id", "export_id, number")}""",
        batch=200,  # up to a megabyte each
    ),
    "exports": _kept(
        "export",
        "export_id",
        "x.expires_time",
        exports.FORGET_DAYS,
        also="o.state in ('expired', 'failed', 'cancelled')",
        **_EXPIRED,
        source=f"x, {_EXPORT}",
    ),
    "runs of exports on a timetable": _kept("export_run", "run_id", "o.finished_time", schedules.KEPT_DAYS),
    "rests of imports": _kept(
        "queue_import_piece",
        "import_id, number",
        "x.finished_time",
        imports.REST_DAYS,
        **_IMPORTED,
        source=f"x, {_of_x('queue_import_piece', 'import_id', 'import_id, number')}",
        batch=10,
    ),
    "rows of imports": _kept(
        "queue_import_row",
        "import_id, row",
        "x.finished_time",
        imports.KEEP_DAYS,
        **_IMPORTED,
        source=f"x, {_of_x('queue_import_row', 'import_id', 'import_id, row')}",
    ),
    "imports": _kept(
        "queue_import",
        "import_id",
        "o.finished_time",
        imports.KEEP_DAYS,
        also="""not exists (select from queue_import_row r
               where r.organization_id = o.organization_id and r.import_id = o.import_id)""",
        **_IMPORTED,
        source="x o",
    ),
    "files of lists": _kept(
        "queue_list",
        "list_id",
        "x.created_time",
        lists.KEEP_DAYS,
        also="o.content is not null",
        walk="queue_list",
        by="created_time, organization_id, list_id",
        source=f"x, {_of_x('queue_list', 'list_id', 'list_id, content')}",
        batch=10,
        change="content = null",
    ),
    "lists": _kept("queue_list", "list_id", "o.created_time", lists.RECORD_DAYS),
    "acts on many items": _kept("queue_batch", "batch_id", "o.finished_time", batches.KEEP_DAYS),
    "events of sources": _kept("source_event", "source_event_id", "o.received_time", sources.KEPT_DAYS),
    "the outbox": _kept("outbox_message", "message_id", "o.created_time", outbox.KEPT_DAYS),
    "test messages": _kept("trial", "trial_id", "o.created_time", timedelta(seconds=test_messages.KEPT_SECONDS)),
    "deliveries": _kept("delivery", "delivery_id", "o.finished_time", deliveries.KEPT_DAYS),
    "deliveries that wait for webhooks that are switched off": _kept(
        "delivery",
        "delivery_id",
        "o.created_time",
        deliveries.OPEN_DAYS_MAX,
        also="not w.active and o.state = 'scheduled'",
        walk="webhook",
        by="organization_id, webhook_id",
        source=f"""x, {_of_x("webhook", "webhook_id", "active", "w")}, lateral (
               select d.organization_id, d.delivery_id, d.created_time, d.state from delivery d
               where d.organization_id = x.organization_id and d.webhook_id = x.webhook_id and d.created_time <= $1
               order by d.created_time limit $2) o""",
    ),
    "deliveries of deleted webhooks": _kept(
        "delivery",
        "delivery_id",
        "x.deleted_time",
        **_DELETED,
        source="""x, lateral (
               select d.organization_id, d.delivery_id from delivery d
               where d.organization_id = x.organization_id and d.webhook_id = x.webhook_id and d.state <> 'claimed'
               limit $2) o""",
    ),
    "webhooks": _kept(
        "webhook",
        "webhook_id",
        "o.deleted_time",
        also="""not exists (select from delivery d
               where d.organization_id = o.organization_id and d.webhook_id = o.webhook_id)""",
        **_DELETED,
        source="x o",
    ),
    "openings of scores in mails": _kept(
        "link_opening", "instance_id, question_id, value", "o.opened_time", choices.KEPT
    ),
    "notifications": _kept("notification", "notification_id", "o.created_time", notices.KEPT_DAYS),
    "notice mails": _kept("notice_mail", "mail_id", "o.finished_time", notices.KEPT_DAYS),
    "imports of responses that were removed": _kept(
        "response_import",
        "response_import_id",
        "o.updated_time",
        response_imports.RECORD_DAYS,
        also="o.state = 'removed'",
        walk="response_import",
        by="organization_id, response_import_id",
        source=f"x, {_of_x('response_import', 'response_import_id', 'response_import_id, state, updated_time')}",
    ),
    "files of responses": _kept(
        "response_upload",
        "response_import_id",
        "o.created_time",
        uploads.KEEP_DAYS,
        batch=2,  # with all their pieces
    ),
    "taggings": _kept("tagging", "tagging_id", "o.created_time", taggings.KEEP_DAYS, batch=5),
}
