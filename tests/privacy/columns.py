"""Every column of text, JSON or bytes in the database, and whether it can hold something of a person who is asked.

`test_rows.py` reads the catalogue: a column that is new stands in one of the two tables or the test fails. `HOLDS`
is tried there too: these columns are filled, erased, and searched for the words that were written.
"""

from collections.abc import Mapping
from typing import Final

from afterword.queue.records import TEXTS

HOLDS: Final[Mapping[str, Mapping[str, str]]] = {
    "alert_comment": {"body": "removed"},
    "alert_instance": {"matched": "what was answered is taken out of it"},
    "answer": {"value": "removed where it has words, with mode erase always", "other_text": "removed"},
    "attempt": {"reply": "removed", "provider_reference": "removed"},
    "contact": {"address_key": "the row is removed", "recent": "the row is removed"},
    "delivery": {"response_excerpt": "removed", "error": "removed"},
    "delivery_report": {"said": "removed", "code": "kept: a code of the protocol"},
    "event": {"data": "rewritten without the person's members"},
    "export_piece": {"content": "removed with its file"},
    "idempotency_key": {"body": "emptied"},
    "instance_tag": {"tag": "kept with mode anonymize, removed with erase"},
    "outbox_message": {"recipient": "removed", "subject": "removed", "content": "removed"},
    "provider_reference": {"provider_reference": "removed"},
    "questionnaire_instance": {
        "metadata": "names that are declared and not personal stay with mode anonymize",
        "metadata_times": "as metadata",
        "reference_id": "removed",
        "short_code": "another one",
    },
    "queue_import_piece": {"content": "removed once the import has ended"},
    "queue_import_row": {"external_reference": "removed", "problem": "its words are removed"},
    "queue_item": {
        "responder_channel_identifier": "a hash whose key is thrown away",
        "address_key": "a hash whose key is thrown away",
        **dict.fromkeys(TEXTS, "removed"),
        "metadata": "removed",
        "result": "removed",
        "trace": "removed",
        "external_reference": "removed",
    },
    "responder": {"locale": "removed", "time_zone": "removed", "metadata": "removed", "metadata_times": "removed"},
    "responder_address": {
        "address_key": "the row is removed",
        "identifier": "the row is removed",
        "unsubscribe_id": "the row is removed",
    },
    "suppression": {
        "address_key": "kept: the keyed hash by which the person is left alone",
        "identifier": "the same hash in hexadecimal",
        "note": "removed",
    },
    "trial": {
        "recipient": "removed",
        "metadata": "removed",
        "external_reference": "removed",
        "subject": "removed",
        "body": "removed",
        "reply": "removed",
    },
}
"""By table and column: what erasing does about it."""

AUTHORED: Final = "written by users, about no single person"
FIXED: Final = "one of a few words, or a number's name"
ACCOUNT: Final = "of the organization, its users and its accounts, not of people who are asked"
FIGURES: Final = "figures and groups of many"
OURS: Final = "made by us: a hash, a place, a secret"

FREE: Final[Mapping[str, Mapping[str, str]]] = {
    "access_token": {"scopes": FIXED, "selector": OURS, "verifier_digest": OURS},
    "alembic_version": {"version_num": OURS},
    "alert": {"conditions": AUTHORED, "description": AUTHORED, "severity": FIXED, "title": AUTHORED, "trigger": FIXED},
    "alert_instance": {"severity": FIXED},
    "alert_occurrence": {"cause": "an id or a day"},
    "alert_status": {"color": FIXED, "description": AUTHORED, "title": AUTHORED},
    "application": {"default_locale": AUTHORED, "description": AUTHORED, "display_name": AUTHORED, "time_zone": FIXED,
                    "website_urls": AUTHORED},
    "application_type": {"description": AUTHORED, "name": FIXED, "title": AUTHORED},
    "attempt": {"outcome": FIXED},
    "attempt_total": {"outcome": FIXED},
    "channel_account": {"kind": FIXED, "paused_reason": AUTHORED, "settings": ACCOUNT, "title": AUTHORED},
    "contact_policy": {"holiday_country": FIXED, "if_exceeded": FIXED},
    "custom_report": {"description": AUTHORED, "spec": AUTHORED, "title": AUTHORED},
    "delivery": {"event_type": FIXED, "state": FIXED},
    "delivery_report": {"kind": FIXED},
    "delivery_total": {"outcome": FIXED},
    "domain_rate": {"domain": "a provider of mailboxes; forgotten when it has recovered"},
    "erasure": {"checksum": OURS, "counts": FIGURES, "mark": "the last row of a walk, emptied at the end",
                "mode": FIXED, "reason": "why, by whoever asked; addresses in it are masked", "salt": OURS,
                "state": FIXED, "step": FIXED},
    "erasure_subject": {"kind": FIXED},
    "event": {"actor_kind": FIXED, "type": FIXED},
    "event_cursor": {"reader": FIXED},
    "expiry_cursor": {},
    "export": {"checksum": OURS, "date_basis": FIXED, "error": OURS, "file_name": "the questionnaire's name and a day",
               "filter": AUTHORED, "format": FIXED, "locale": AUTHORED, "scopes": FIXED, "since_cursor": OURS,
               "state": FIXED, "values_as": FIXED},
    "idempotency_key": {"headers": "ids, versions", "key": "the client's own, for 24 hours", "request_digest": OURS},
    "inbound_endpoint": {"adapter": FIXED, "confirm_url": ACCOUNT, "settings": ACCOUNT},
    "metadata_definition": {"kind": FIXED, "level": FIXED, "name": AUTHORED, "title": AUTHORED, "type": FIXED},
    "notice_mail": {"error": "about the user's own mailbox", "state": FIXED},
    "notification": {"body": "names of alerts and questionnaires, figures", "link": OURS, "title": "as body",
                     "type": FIXED},
    "notification_subscription": {"digest": FIXED, "types": FIXED},
    "notification_watch": {"entity": FIXED},
    "organization": {"default_locale": ACCOUNT, "display_name": ACCOUNT, "domain": ACCOUNT, "legal_name": ACCOUNT,
                     "postal_address": ACCOUNT, "time_zone": ACCOUNT},
    "organization_billing": {"address_lines": ACCOUNT, "city": ACCOUNT, "country": ACCOUNT, "currency": ACCOUNT,
                             "email": ACCOUNT, "name": ACCOUNT, "postal_code": ACCOUNT,
                             "purchase_reference": ACCOUNT, "tax_number": ACCOUNT},
    "organization_sender_domain": {"domain": ACCOUNT},
    "organization_user": {"display_name": ACCOUNT, "email": ACCOUNT, "first_name": ACCOUNT, "last_name": ACCOUNT,
                          "locale": ACCOUNT, "middle_name": ACCOUNT, "role": FIXED, "time_zone": ACCOUNT},
    "pipeline": {"conditions": AUTHORED, "description": AUTHORED, "if_capped": FIXED, "if_outside": FIXED,
                 "locale": AUTHORED, "message_body": AUTHORED, "message_subject": AUTHORED, "messages": AUTHORED,
                 "on_holidays": FIXED, "reminders": AUTHORED, "reply_to": ACCOUNT, "sender_address": ACCOUNT,
                 "sender_name": ACCOUNT, "slug": AUTHORED, "target_url": ACCOUNT, "time_zone": FIXED,
                 "title": AUTHORED, "zone_of": FIXED},
    "plan": {"features": ACCOUNT, "kind": FIXED, "state": FIXED, "title": AUTHORED},
    "questionnaire": {"default_locale": AUTHORED, "description": AUTHORED, "display_name": AUTHORED,
                      "locales": AUTHORED, "questionnaire_icon_url": AUTHORED, "slug": AUTHORED, "title": AUTHORED},
    "questionnaire_draft": {"definition": AUTHORED},
    "questionnaire_instance": {"locale": "one of the questionnaire's languages", "question_ids": OURS},
    "questionnaire_version": {"checksum": OURS, "definition": AUTHORED, "note": AUTHORED},
    "questionnaire_visual": {"configuration": AUTHORED, "title": AUTHORED},
    "queue_import": {"actor_kind": FIXED, "columns": AUTHORED, "error": OURS, "file_name": AUTHORED,
                     "on_conflict": FIXED, "state": FIXED},
    "queue_import_row": {"state": FIXED},
    "queue_item": {"reason": FIXED, "source": FIXED},
    "rollup_count": {"dimension": FIGURES, "dimension_value": FIGURES, "given": FIGURES},
    "rollup_dirty": {"dimension": FIGURES},
    "rollup_retired": {"dimension": FIGURES},
    "rollup_span": {"dimension": FIGURES, "time_zone": FIXED},
    "rollup_wide": {"dimension": FIGURES},
    "sending_guard": {"paused_reason": OURS},
    "sequence": {"conditions": AUTHORED, "kind": FIXED, "title": AUTHORED, "trigger": FIXED},
    "suppression": {"reason": FIXED},
    "token": {"kind": FIXED, "maker_role": FIXED, "scopes": FIXED, "selector": OURS, "title": AUTHORED,
              "verifier_digest": OURS},
    "trial": {"locale": FIXED, "outcome": FIXED, "state": FIXED},
    "webhook": {"event_types": FIXED, "previous_secret": OURS, "secret": OURS, "target_url": ACCOUNT,
                "title": AUTHORED},
}  # fmt: skip
"""By table and column: why no person can stand in it. Ids (`*_id`, `*_ids`, `*_by`) tell nothing and are left out."""
