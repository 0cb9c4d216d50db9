"""The time for which rows are kept that no organization decides about.

Items, events, entries of the audit log, and what an organization has a period for, have walks of their own.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

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

RETENTION: Final[Mapping[str, Retention]] = {
    # For that hour requests with one get `token_expired` instead of `invalid_token`.
    "access tokens": Retention(
        "access_token", "organization_id, access_token_id", "o.expires_time", timedelta(seconds=tokens.ACCESS_SECONDS)
    ),
    "sessions": Retention("login_session", "digest", "o.expires_time"),
    "idle sessions": Retention("login_session", "digest", "o.seen_time", sessions.IDLE),
    "log-in links": Retention("login_link", "digest", "o.expires_time"),
    "challenges of passkeys": Retention("login_challenge", "digest", "o.expires_time"),
    "failed log-ins": Retention("login_failure", "key", "o.since", logins.WINDOW),
    "idempotency keys": Retention(
        "idempotency_key", "organization_id, key", "o.created_time", timedelta(hours=idempotency.KEPT_HOURS)
    ),
    "links to reports": Retention(
        "report_share", "organization_id, share_id", "o.expires_time", timedelta(days=shares.KEPT_DAYS)
    ),
    "files of exports": Retention(
        "export_piece",
        "organization_id, export_id, number",
        "x.expires_time",
        also="x.state = 'expired'",
        source="""export x cross join lateral (
               select organization_id, export_id, number from export_piece p
               where p.organization_id = x.organization_id and p.export_id = x.export_id limit $2) o""",
        batch=200,  # up to a megabyte each
    ),
    "exports": Retention(
        "export",
        "organization_id, export_id",
        "o.expires_time",
        timedelta(days=exports.FORGET_DAYS),
        also="o.state in ('expired', 'failed', 'cancelled')",
    ),
    "runs of exports on a timetable": Retention(
        "export_run", "organization_id, run_id", "o.finished_time", timedelta(days=schedules.KEPT_DAYS)
    ),
    "rests of imports": Retention(
        "queue_import_piece",
        "organization_id, import_id, number",
        "x.finished_time",
        timedelta(days=imports.REST_DAYS),
        source="""queue_import x cross join lateral (
               select organization_id, import_id, number from queue_import_piece p
               where p.organization_id = x.organization_id and p.import_id = x.import_id limit $2) o""",
        batch=10,
    ),
    "rows of imports": Retention(
        "queue_import_row",
        "organization_id, import_id, row",
        "x.finished_time",
        timedelta(days=imports.KEEP_DAYS),
        source="""queue_import x cross join lateral (
               select organization_id, import_id, row from queue_import_row p
               where p.organization_id = x.organization_id and p.import_id = x.import_id limit $2) o""",
    ),
    "imports": Retention(
        "queue_import",
        "organization_id, import_id",
        "o.finished_time",
        timedelta(days=imports.KEEP_DAYS),
        also="""not exists (select from queue_import_row r
               where r.organization_id = o.organization_id and r.import_id = o.import_id)""",
    ),
    "files of lists": Retention(
        "queue_list",
        "organization_id, list_id",
        "o.created_time",
        timedelta(days=lists.KEEP_DAYS),
        also="o.content is not null",
        batch=10,
        clear="content",
    ),
    "lists": Retention("queue_list", "organization_id, list_id", "o.created_time", timedelta(days=lists.RECORD_DAYS)),
    "acts on many items": Retention(
        "queue_batch", "organization_id, batch_id", "o.finished_time", timedelta(days=batches.KEEP_DAYS)
    ),
    "events of sources": Retention(
        "source_event", "organization_id, source_event_id", "o.received_time", timedelta(days=sources.KEPT_DAYS)
    ),
    "the outbox": Retention(
        "outbox_message", "organization_id, message_id", "o.created_time", timedelta(days=outbox.KEPT_DAYS)
    ),
    "test messages": Retention(
        "trial", "organization_id, trial_id", "o.created_time", timedelta(seconds=test_messages.KEPT_SECONDS)
    ),
    "deliveries": Retention(
        "delivery", "organization_id, delivery_id", "o.finished_time", timedelta(days=deliveries.KEPT_DAYS)
    ),
    "deliveries that wait for webhooks that are switched off": Retention(
        "delivery",
        "organization_id, delivery_id",
        "o.created_time",
        timedelta(days=deliveries.OPEN_DAYS_MAX),
        also="not w.active and o.state = 'scheduled'",
        source="""webhook w join delivery o on o.organization_id = w.organization_id and o.webhook_id = w.webhook_id
               and o.state in ('scheduled', 'claimed')""",
    ),
    "deliveries of deleted webhooks": Retention(
        "delivery",
        "organization_id, delivery_id",
        "w.deleted_time",
        source="""(select organization_id, webhook_id, deleted_time from webhook where deleted_time is not null
               order by deleted_time limit 20) w, lateral (
               select d.organization_id, d.delivery_id from delivery d
               where d.organization_id = w.organization_id and d.webhook_id = w.webhook_id and d.state <> 'claimed'
               limit $2) o""",
    ),
    "webhooks": Retention(
        "webhook",
        "organization_id, webhook_id",
        "o.deleted_time",
        also="""not exists (select from delivery d
               where d.organization_id = o.organization_id and d.webhook_id = o.webhook_id)""",
    ),
    "openings of scores in mails": Retention(
        "link_opening", "organization_id, instance_id, question_id, value", "o.opened_time", choices.KEPT
    ),
    "notifications": Retention(
        "notification", "organization_id, notification_id", "o.created_time", timedelta(days=notices.KEPT_DAYS)
    ),
    "notice mails": Retention(
        "notice_mail", "organization_id, mail_id", "o.finished_time", timedelta(days=notices.KEPT_DAYS)
    ),
    "imports of responses that were removed": Retention(
        "response_import",
        "organization_id, response_import_id",
        "o.updated_time",
        timedelta(days=response_imports.RECORD_DAYS),
        also="o.state = 'removed'",
    ),
    "files of responses": Retention(
        "response_upload",
        "organization_id, response_import_id",
        "o.created_time",
        timedelta(days=uploads.KEEP_DAYS),
        batch=2,  # with all their pieces
    ),
    "taggings": Retention(
        "tagging", "organization_id, tagging_id", "o.created_time", timedelta(days=taggings.KEEP_DAYS), batch=5
    ),
}
