"""Every column of text, JSON or bytes in the database, and whether it can hold something of a person who is asked.

`test_rows.py` reads the catalogue: a column that is new stands in one of the two tables or the test fails. `HOLDS`
is tried there too: these columns are filled, erased, and searched for the words that were written.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.inspect import BytesType, DictType, ListType, LiteralType, StrType, type_info

from afterword.core.reading.structs import declared_of
from afterword.kit.nouns.declaration import Computed, Given, Holds, Member
from afterword.sending.queue.records import TEXTS
from tests.kit.nouns.declared import all_nouns

HOLDS: Final[Mapping[str, Mapping[str, str]]] = {
    "alert_comment": {"body": "removed"},
    "alert_instance": {
        "matched": "what was answered is taken out of it",
        "call_back_number": "removed",
        "call_back_note": "removed",
    },
    "alert_message": dict.fromkeys(("address", "body", "subject", "key", "error", "whole"), "removed"),
    "answer": {"value": "removed where it has words, with mode erase always", "other_text": "removed"},
    "attempt": {"reply": "removed", "provider_reference": "removed"},
    "contact": {"address_key": "the row is removed", "recent": "the row is removed"},
    "delivery": {"response_excerpt": "removed", "error": "removed"},
    "delivery_report": {"said": "removed", "code": "kept: a code of the protocol"},
    "event": {
        "data": "rewritten without the person's members",
        "item": "becomes `data`",
        "instance": "becomes `data`",
        "responder": "becomes `data`",
    },
    "export_piece": {"content": "removed with its file"},
    "idempotency_key": {"body": "emptied"},
    "instance_tag": {"tag": "kept with mode anonymize, removed with erase"},
    "link_opening": {"network": "removed: a keyed hash of the network"},
    "outbox_message": {"recipient": "removed", "subject": "removed", "content": "removed"},
    "provider_reference": {"provider_reference": "removed"},
    "questionnaire_instance": {
        "metadata": "names that are declared and not personal stay with mode anonymize",
        "metadata_times": "as metadata",
        "external_id": "removed",
        "reference_id": "removed",
        "short_code": "another one",
    },
    "queue_import_piece": {"content": "removed once the import has ended"},
    "queue_import_row": {"external_reference": "removed", "problem": "its words are removed"},
    "queue_list": {"content": "removed with the first erasure, as nobody can tell whose rows it has"},
    "queue_item": {
        "responder_channel_identifier": "a hash whose key is thrown away",
        "address_key": "a hash whose key is thrown away",
        **dict.fromkeys(TEXTS, "removed"),
        "metadata": "removed",
        "result": "removed",
        "trace": "removed",
        "external_reference": "removed",
    },
    "response": {"external_reference": "removed", "comment": "removed", "words": "made anew of what is left"},
    "response_file": dict.fromkeys(("name", "content", "content_hash", "media_type"), "removed with the answer"),
    "response_upload": {"choices": "emptied with the first erasure", "unknown": "emptied with the first erasure"},
    "response_upload_piece": {
        "content": "removed with the first erasure, as nobody can tell whose rows it has",
        "faults": "removed with the first erasure",
    },
    "responder": {"locale": "removed", "time_zone": "removed", "metadata": "removed", "metadata_times": "removed"},
    "responder_address": dict.fromkeys(("address_key", "identifier", "unsubscribe_id"), "the row is removed"),
    "source_event": dict.fromkeys(
        ("event_id", "facts", "name", "object_id", "person", "subject"), "the row is removed"
    ),
    "source_item": {"object_id": "the row is removed with the address of the item"},
    "suppression": {
        "address_key": "kept: the keyed hash by which the person is left alone",
        "identifier": "the same hash in hexadecimal",
        "note": "removed",
    },
    "trial": dict.fromkeys(("recipient", "metadata", "external_reference", "subject", "body", "reply"), "removed"),
}
"""By table and column: what erasing does about it."""

PERIODS: Final[Mapping[str, str]] = {
    "alert_comment": "people_days",
    "alert_instance": "texts_days",
    "alert_message": "people_days",
    "answer": "texts_days, answers_days",
    "attempt": "items_days",
    "contact": "people_days",
    "delivery": "with the item, response or person; 30 days after its end",
    "delivery_report": "items_days",
    "event": "with the item, response or person; events_days",
    "export_piece": "exports_days",
    "idempotency_key": "24 hours",
    "instance_tag": "answers_days",
    "link_opening": "2 days",
    "outbox_message": "30 days",
    "provider_reference": "items_days",
    "questionnaire_instance": "people_days, answers_days",
    "queue_import_piece": "7 days",
    "queue_import_row": "30 days",
    "queue_list": "7 days",
    "queue_item": "items_days",
    "response": "texts_days, people_days, answers_days",
    "response_file": "uploads_days, answers_days",
    "response_upload": "7 days",
    "response_upload_piece": "7 days",
    "responder": "people_days",
    "responder_address": "people_days",
    "source_event": "30 days",
    "source_item": "items_days",
    "suppression": "people_days; the hash until it is lifted",
    "trial": "20 minutes",
}
"""By table: the period of the organization after which it goes, or the time for which it is kept at most."""

AUTHORED: Final = "written by users, about no single person"
FIXED: Final = "one of a few words, or a number's name"
ACCOUNT: Final = "of the organization, its users and its accounts, not of people who are asked"
FIGURES: Final = "figures and groups of many"
OURS: Final = "made by us: a hash, a place, a secret"
SEALED: Final = "sealed with the installation's secret"

OF_DECLARATIONS: Final[Mapping[Holds, str]] = {
    "authored": AUTHORED, "fixed": FIXED, "account": ACCOUNT, "sealed": SEALED, "ours": OURS,
}  # fmt: skip


def of_noun(table: str) -> Mapping[str, str]:
    """The texts, lists and bytes of a noun that are no ids, as it declares them."""
    noun = next(one for one in all_nouns() if one.table == table)
    return {
        one.name: OF_DECLARATIONS[one.role.holds]
        for one in noun.columns
        if one.role is not None and not isinstance(one.role, Computed | Given) and is_text(one)
    }


def is_text(one: Member) -> bool:
    plain = declared_of(type_info(one.type)).type
    if isinstance(plain, ListType):
        plain = declared_of(plain.item_type).type
    texts = {StrType, LiteralType, DictType, BytesType}
    return not one.name.endswith(("_id", "_ids", "_by")) and type(plain) in texts


FREE: Final[Mapping[str, Mapping[str, str]]] = {
    **{noun.table: of_noun(noun.table) for noun in all_nouns() if noun.table not in HOLDS},
    "access_token": {"scopes": FIXED, "selector": OURS, "verifier_digest": OURS},
    "alembic_version": {"version_num": OURS},
    "alert_history": {"changes": "ids, times and the names of causes", "kind": FIXED},
    "alert_instance": {"cause": AUTHORED, "remedy": AUTHORED, "severity": FIXED},
    "alert_occurrence": {"cause": "an id or a day"},
    "alert_mailbox": {**of_noun("alert_mailbox"), "problem": FIXED,
                      "server_reply": "what the organization's own mail server says about its log-in"},
    "alert_message": {"locale": FIXED, "state": FIXED},
    "application": {"brand": AUTHORED,
                    "default_locale": AUTHORED, "description": AUTHORED, "display_name": AUTHORED, "time_zone": FIXED,
                    "website_urls": AUTHORED},
    "application_type": {"description": AUTHORED, "name": FIXED, "title": AUTHORED},
    "attempt": {"outcome": FIXED},
    "legal_hold": {"reason": "why, by whoever asked; a hold ends when it is lifted"},
    "response_import": {"actor_kind": FIXED, "digest": "SHA-256 of a whole file", "file_name": AUTHORED,
                        "format": FIXED, "state": FIXED, "title": AUTHORED},
    "response_upload": {"counts": FIGURES, "error": OURS, "meanings": FIXED, "names": AUTHORED, "orders": FIXED,
                        "state": FIXED},
    "retention_run": {"counts": FIGURES, "kind": FIXED, "mark": "the last row of a walk, emptied at the end",
                      "state": FIXED},
    "audit_entry": {"action": FIXED, "actor_kind": FIXED, "actor_role": FIXED, "after": ACCOUNT, "before": ACCOUNT,
                    "device": ACCOUNT, "network": ACCOUNT, "thing_kind": FIXED, "thing_name": AUTHORED},
    "attempt_total": {"outcome": FIXED},
    "channel_account": {"kind": FIXED, "paused_reason": AUTHORED, "settings": SEALED, "title": AUTHORED},
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
    "job_timeout": {"name": FIXED},
    "export": {"checksum": OURS, "date_basis": FIXED, "error": OURS, "file_name": "the questionnaire's name and a day",
               "filter": AUTHORED, "format": FIXED, "limited_to": AUTHORED, "locale": AUTHORED, "scopes": FIXED,
               "since_cursor": OURS,
               "state": FIXED, "values_as": FIXED},
    "export_day": {"fingerprint": OURS},
    "export_run": {"error": FIXED, "reply": "what the organization's own store says of a file", "state": FIXED},
    "export_schedule": {**of_noun("export_schedule"), "problem": FIXED,
                        "reply": "what the organization's own store says of a file"},
    "idempotency_key": {"headers": "ids, versions", "key": "the client's own, for 24 hours", "request_digest": OURS},
    "inbound_endpoint": {"adapter": FIXED, "confirm_url": ACCOUNT, "settings": SEALED},
    "identity_provider": {"authorization_url": ACCOUNT, "client_id": ACCOUNT, "client_secret": SEALED,
                          "default_role": FIXED, "group_roles": ACCOUNT, "groups_claim": ACCOUNT, "issuer": ACCOUNT,
                          "problem": OURS, "scopes": ACCOUNT},
    "login": {"email": ACCOUNT, "password_hash": OURS, "totp_secret": SEALED},
    "login_identity": {"issuer": ACCOUNT, "subject": ACCOUNT},
    "login_challenge": {"digest": OURS},
    "login_failure": {"key": OURS},
    "login_link": {"digest": OURS, "email": ACCOUNT, "purpose": FIXED},
    "login_passkey": {"credential_id": OURS, "public_key": OURS, "title": ACCOUNT},
    "login_recovery_code": {"digest": OURS},
    "login_session": {"device": ACCOUNT, "digest": OURS, "id_token": SEALED, "network": ACCOUNT},
    "metadata_definition": {"kind": FIXED, "level": FIXED, "name": AUTHORED, "title": AUTHORED, "type": FIXED},
    "notice_mail": {"content": "figures, names of reports, groups and questions, and two comments where a user "
                    "chose so, without addresses; until the mail has left",
                    "error": "about the user's own mailbox", "link": SEALED, "purpose": FIXED,
                    "recipient": "a user's, or a visitor's until the mail has left; the row goes with an erasure",
                    "address_key": OURS, "locale": FIXED, "state": FIXED},
    "notification": {"body": "names of alerts and questionnaires, figures", "link": OURS, "title": "as body",
                     "type": FIXED},
    "notification_subscription": {"digest": FIXED, "types": FIXED},
    "notification_watch": {"entity": FIXED},
    "organization": {"brand": AUTHORED,
                     "default_locale": ACCOUNT, "display_name": ACCOUNT, "domain": ACCOUNT, "legal_name": ACCOUNT,
                     "locales": ACCOUNT, "logo": ACCOUNT, "postal_address": ACCOUNT, "time_zone": ACCOUNT},
    "organization_sender_domain": {"domain": ACCOUNT},
    "organization_user": {"display_name": ACCOUNT, "email": ACCOUNT, "first_name": ACCOUNT, "last_name": ACCOUNT,
                          "locale": ACCOUNT, "middle_name": ACCOUNT, "only_values": AUTHORED, "only_where": FIXED,
                          "role": FIXED, "time_zone": ACCOUNT},
    "pipeline": {"conditions": AUTHORED, "delay_from": AUTHORED, "description": AUTHORED, "if_capped": FIXED,
                 "if_outside": FIXED, "locale": AUTHORED, "message_body": AUTHORED, "message_button": AUTHORED,
                 "message_footer": AUTHORED, "message_reason": AUTHORED, "message_subject": AUTHORED,
                 "messages": AUTHORED, "on_holidays": FIXED, "reminders": AUTHORED, "reply_to": ACCOUNT,
                 "sender_address": ACCOUNT, "sender_name": ACCOUNT, "slug": AUTHORED, "target_url": ACCOUNT,
                 "time_zone": FIXED, "title": AUTHORED, "zone_of": FIXED},
    "plan": {"features": ACCOUNT, "kind": FIXED, "state": FIXED, "title": AUTHORED},
    "asset": {"content": AUTHORED, "content_hash": OURS, "media_type": FIXED, "title": AUTHORED},
    "backup": {"kind": FIXED},
    "custom_domain": {"host": AUTHORED, "problem": FIXED},
    "coupon_code": {"code": "a code of the organization; whose it is is told by the instance alone"},
    "questionnaire": {"default_locale": AUTHORED, "description": AUTHORED, "display_name": AUTHORED,
                      "locales": AUTHORED, "questionnaire_icon_url": AUTHORED, "slug": AUTHORED, "title": AUTHORED},
    "questionnaire_draft": {"import_report": AUTHORED, "before": AUTHORED, "definition": AUTHORED,
                            "translated_sources": AUTHORED},
    "anonymous_pool": {"sealed": f"{SEALED}: answers of people whom nobody can tell apart"},
    "questionnaire_instance": {"anonymity": FIXED, "flags": FIXED, "judgement": FIXED,
                               "locale": "one of the questionnaire's languages",
                               "question_ids": OURS},
    "questionnaire_version": {"checksum": OURS, "definition": AUTHORED, "note": AUTHORED},
    "questionnaire_visual": {"configuration": AUTHORED, "title": AUTHORED},
    "queue_batch": {"action": FIXED, "actor_kind": FIXED, "error": OURS, "reason": FIXED, "state": FIXED},
    "queue_import": {"actor_kind": FIXED, "columns": AUTHORED, "error": OURS, "file_name": AUTHORED,
                     "on_conflict": FIXED, "reasons": FIXED, "state": FIXED},
    "queue_import_row": {"reason": FIXED, "state": FIXED},
    "queue_list": {"conditions": AUTHORED, "digest": "SHA-256 of a whole file", "encoding": FIXED,
                   "file_name": AUTHORED, "formats": FIXED, "mapping": AUTHORED, "on_conflict": FIXED,
                   "separator": FIXED},
    "queue_list_column": {"meaning": FIXED, "name": AUTHORED},
    "queue_item": {"reason": FIXED, "source": FIXED},
    "response": {"band": FIXED, "locale": "as the instance", "score_kind": FIXED},
    "tagging": {"action": FIXED, "actor_kind": FIXED, "state": FIXED, "tag": "a user's word for many responses"},
    "response_fill": {"after": "the last row of a walk"},
    "report_share": {"digest": OURS, "limited_to": AUTHORED},
    "rollup_count": {"dimension": FIGURES, "dimension_value": FIGURES, "given": FIGURES},
    "rollup_dirty": {"dimension": FIGURES, "hours": FIGURES},
    "rollup_retired": {"dimension": FIGURES},
    "rollup_span": {"dimension": FIGURES, "time_zone": FIXED},
    "rollup_wide": {"dimension": FIGURES},
    "sending_guard": {"loss_text": OURS, "paused_reason": OURS},
    "sending_worker": {},
    "source": {**of_noun("source"), "problem": "why a call was refused, in our words", "note_problem": FIXED},
    "source_event": {"decisions": "ids, and why nobody was asked", "what": FIXED},
    "source_item": {"what": FIXED},
    "suppression": {"reason": FIXED},
    "token": {"kind": FIXED, "maker_role": FIXED, "networks": ACCOUNT, "only_where": FIXED,
              "only_values": AUTHORED, "scopes": FIXED, "selector": OURS,
              "title": AUTHORED, "verifier_digest": OURS},
    "trial": {"locale": FIXED, "outcome": FIXED, "state": FIXED},
    "chat": {"host": ACCOUNT, "problem": OURS, "sealed_address": SEALED, **of_noun("chat")},
    "webhook": {"previous_secret": SEALED, "secret": SEALED, **of_noun("webhook")},
}  # fmt: skip
"""By table and column: why no person can stand in it. Ids (`*_id`, `*_ids`, `*_by`) tell nothing and are left out."""
