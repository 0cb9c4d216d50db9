"""Sentences about the acts of forms: the page that follows shows one, by its name in the address."""

from collections.abc import Mapping
from typing import Final

from afterword.core.text.locales import Marked

TEXTS: Final[Mapping[str, Marked]] = {
    "saved": "Saved.", "checked": "It was checked.", "made": "Questionnaire created. Begin with its questions.",
    "moved": "Moved.", "copied": "Copied.", "published": "Published.",
    "taken_back": "The draft says what that version says. Publish it to make it so.",
    "language": "Language added. Translate its texts.", "translated": "The translations are in the draft.",
    "archived": "The questionnaire is archived.", "stopped": "No more messages go to this address.",
    "lifted": "Messages to this address are allowed again.", "closed": "The case is closed.",
    "assigned": "The case has a new owner.", "commented": "Your comment was added.",
    "replied": "Your reply is on its way.",
    "replied_waits": "Your reply is on its way. The clock of the case stands still until the customer answers.",
    "replied_closed": "Your reply is on its way and the case is closed. Note the cause and the remedy below.",
    "asked_again": "The customer is asked again.",
    "waits": "The clock of the case stands still until the customer answers.",
    "goes_on": "The clock of the case goes on.", "call_noted": "The call is noted.", "called": "The call is done.",
    "message_cancelled": "The message is cancelled.", "message_due": "The message is due now.",
    "message_again": "This new message goes in its place.",
    "test_made": "The test message is scheduled. It goes to the outbox when its time comes.",
    "invited": "The invitation is on its way.", "removed": "Removed.", "again": "It is delivered again.",
    "renamed": "Tag renamed.", "ended": "The session has ended.",
    "digest_sent": "The mail is on its way.", "passkey": "Passkey added. Use it at your next log-in.",
    "account_added": "Account added. Send a test message, then let the pipelines send through it.",
    "first_account": "Account added, and messages leave through it. Send a test message to yourself.",
    "account_paused": "Nothing is sent through this account until somebody resumes it.",
    "all_paused": "Nothing is sent until somebody resumes it.", "all_resumed": "Messages are sent again.",
    "account_resumed": "Messages go through this account again.", "token_ended": "The token has ended.",
    "reset": "Your password is changed. All other sessions have ended.",
    "mailed": "A mail with a link is on its way. It works for an hour.",
    "sent": "If this address has a login, a mail with a link is on its way. It works for an hour.",
    "address": "Your address is changed.", "view": "The view is saved.", "read": "All responses are marked as read.",
    "notices_read": "They are marked as read.", "judged": "Figures, lists and rules follow within a minute.",
    "second_factor": "Your organization requires a second factor. Set one up here first.",
    "out": "You are logged out.",
}  # fmt: skip
MAILED: Final = frozenset({"invited", "mailed", "sent", "digest_sent"})
KEPT: Final[Marked] = (
    "This installation has no mail server. Its operator keeps the mail, and can hand over the link in it."
)
