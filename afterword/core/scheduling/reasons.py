"""Every reason code that an item, its trace and a dry run may show, each once; `docs/rules.md` explains them."""

from collections.abc import Mapping
from typing import Final

# The causes of a hold: a rule, the lane, an attempt. Each with the words of "held by: …".
BY_RULE: Final[Mapping[str, str]] = {
    "not_started": "a pipeline that has not started", "application_inactive": "an application that is not active",
    "no_credits": "credits that are used up", "previous_open": "the message before this one",
    "frequency_cap": "the frequency cap", "contact_policy": "the contact policy",
    "outside_window": "the dispatch window", "holiday": "a holiday", "quiet_hours": "quiet hours",
}  # fmt: skip
BY_LANE: Final[Mapping[str, str]] = {  # shown by a trace alone; the item stays as it is
    "paused": "a paused pipeline",
    "account_paused": "an account that waits for a person",
    "account_resting": "a provider that does not answer",
    "no_account": "an account that is missing",
    "all_paused": "a pause of all sending",
}
BY_ATTEMPT: Final[Mapping[str, str]] = {
    "throttled": "a provider that takes no more for now", "connection": "a provider that could not be reached",
    "account": "an account that is refused by its provider", "retry": "attempts that failed",
    "outcome_unknown": "an attempt of which nobody knows what became", "worker_lost": "a worker that was lost",
    "error": "an error of ours",
}  # fmt: skip
HELD_BY: Final[Mapping[str, str]] = {**BY_RULE, **BY_LANE, **BY_ATTEMPT}

# The reasons of suppressions.
SUPPRESSED: Final[Mapping[str, str]] = {
    "unsubscribed": "unsubscribed", "hard_bounce": "the address did not exist",
    "complaint": "the recipient complained", "blocked": "the address was blocked", "erased": "the person was erased",
}  # fmt: skip

# The reasons that end an item unsent; those that hold under `wait` are among them.
SKIPPED: Final = frozenset({
    "ended", "inactive", "closed",
    "previous_not_sent", "already_answered", "instance_expired",
    *SUPPRESSED,
    "conditions", "frequency_cap", "contact_policy", "outside_window", "too_late",
})  # fmt: skip
FAILED: Final = frozenset({"refused", "retry", "outcome_unknown", "worker_lost", "error"})
REASONS: Final = frozenset({*HELD_BY, *SKIPPED, *FAILED})
