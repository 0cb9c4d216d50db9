"""The webhook channel, for organizations that send themselves: one signed POST an item to the pipeline's address.

Signed as Standard Webhooks are. `webhook-id` is the item's id, equal in every attempt, so that a receiver can recognize
a repetition. So the channel repeats where others must not.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import replace

from afterword.core import keys
from afterword.core.messaging import webhooks
from afterword.core.messaging.webhooks import SECRET_PREFIX
from afterword.kit.transport.base import Begin, Connectionless, Message, Outcome, Refused, Retry, read_settings
from afterword.kit.transport.http import Caller, host_of
from afterword.sending.channels import calling
from afterword.sending.channels.calling import Terms

SECONDS: Final = 15.0
SECRET_BYTES_MIN, SECRET_BYTES_MAX = 24, 64  # as Standard Webhooks asks
SECRETS_MAX: Final = 2


class Account(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Secrets of an organization's own: while they change there are two, and every call is signed with both."""

    secrets: Annotated[list[str], msgspec.Meta(min_length=1, max_length=SECRETS_MAX)]


class WebhookChannel(Connectionless):
    """Posts to each message's own address. `secrets_of` gives the secrets of an organization, the new one first."""

    def __init__(self, *, caller: Caller, secrets_of: Callable[[str], Sequence[str]]) -> None:
        self._caller = caller
        self._secrets_of = secrets_of
        self._terms = Terms(is_ours=False, may_repeat=True, seconds=SECONDS)

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        if message.target_url is None:
            return Refused("The pipeline has no target_url.")
        content, secrets = message.text.encode(), self._secrets_of(message.organization_id)
        timestamp = int(message.composed_time.timestamp())
        outcome = await calling.call(
            self._caller,
            method="POST",
            url=message.target_url,
            headers={
                "Content-Type": "application/json",
                **webhooks.sign(content, event_id=message.item_id, timestamp=timestamp, keys=secrets),
            },
            content=content,
            terms=self._terms,
            begin=begin,
            judge=lambda answer: calling.outcome_of(answer, self._terms),
        )
        if isinstance(outcome, Retry) and outcome.cause == "throttle":
            return replace(outcome, domain=host_of(message.target_url))  # only this receiver's rate is lowered
        return outcome


def secret_of(site_secret: bytes, organization_id: str) -> str:
    """The secret of an organization that has set none: derived from the installation's and not stored."""
    key = hmac.digest(site_secret, f"webhook channel:{organization_id}".encode(), hashlib.sha256)
    return webhooks.secret_of(key)


def secrets_of(site_secret: bytes, organization_id: str) -> list[str]:
    """As `secret_of`, of the installation's secret and those before it, the new one first."""
    return [secret_of(one, organization_id) for one in (site_secret, *keys.before(site_secret))]


def settings_of(document: Mapping[str, Any]) -> Account:
    """The secrets, checked. Raises ValueError with a sentence that quotes none."""
    account = read_settings(document, Account)
    if not all(_is_secret(secret) for secret in account.secrets):
        raise ValueError(
            f"A secret is {SECRET_PREFIX} and the Base64 of {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} random bytes."
        )
    return account


def _is_secret(text: str) -> bool:
    try:
        key = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
    except ValueError:
        return False
    return text.startswith(SECRET_PREFIX) and SECRET_BYTES_MIN <= len(key) <= SECRET_BYTES_MAX
