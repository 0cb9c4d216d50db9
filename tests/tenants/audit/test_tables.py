"""Every table has a trigger of the audit log, or a reason for none: a new one of settings is not forgotten."""

import re
from typing import Final

from afterword.run.migrations import schema

TABLE: Final = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
TRIGGER: Final = re.compile(r"^CREATE TRIGGER audit\w* AFTER .*? ON (\w+)", re.MULTILINE)
BY_EVENTS: Final = {
    "alert_comment", "alert_instance", "instance_tag", "questionnaire_instance", "queue_item", "responder",
    "suppression",
}  # fmt: skip
RECORDED: Final = {"login", "login_identity", "login_passkey", "login_recovery_code", "login_session"}
"""A login belongs to a person, not to an organization: `tenants.audit.service.record_login` notes its changes."""
WRITTEN_BY_WORK: Final = {
    "access_token", "alert_history", "alert_occurrence", "alert_status_number", "anonymous_pool",
    "answer", "attempt", "attempt_total",
    "audit_entry", "contact", "coupon_code", "delivery", "delivery_report", "delivery_total", "domain_rate",
    "erasure_subject",
    "event",
    "event_cluster", "event_cursor", "event_horizon", "expiry_cursor", "export_day", "export_piece", "lane_due",
    "export_run", "idempotency_key", "job_timeout",
    "link_opening",
    "login_challenge", "login_failure", "login_link", "notice_mail", "notification", "outbox_message",
    "provider_reference",
    "pruned_total", "queue_import", "queue_import_piece", "queue_import_row", "queue_list",
    "queue_list_column", "responder_address", "response", "response_file",
    "response_upload", "response_upload_piece",
    "response_fill", "response_read", "response_reader", "retention_run", "review_click",
    "rollup_count", "rollup_dirty", "rollup_retired",
    "rollup_span", "rollup_wide", "sending_worker",
    "source_event", "source_item", "stray_file", "tagging_response", "trial",
}  # fmt: skip
ONES_OWN: Final = {"notification_subscription", "notification_watch"}
OF_THE_INSTALLATION: Final = {"application_type", "backup", "demonstration", "sending_guard"}
PUBLISHED_LATER: Final = {"questionnaire_draft"}


def test_each_table_is_decided_about() -> None:
    text = schema.FILE.read_text(encoding="utf-8")
    excepted = BY_EVENTS | RECORDED | WRITTEN_BY_WORK | ONES_OWN | OF_THE_INSTALLATION | PUBLISHED_LATER
    noted = set(TRIGGER.findall(text))
    undecided = set(TABLE.findall(text)) - noted - excepted
    assert set() == undecided, "its migration needs `create trigger audit …`, or this table a reason for none"
