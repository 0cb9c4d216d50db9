"""The context of a message: one record that the composers of all channels read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from afterword import ids
from afterword.asking.questionnaires.store import Version
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import Theme
from afterword.core.text import placeholders
from afterword.core.wire.site import PublicPages, Site
from afterword.kit.texts import texts
from afterword.kit.transport.base import Message
from afterword.kit.transport.mime import one_line
from afterword.sending.pipelines.store import Pipeline

SAMPLE_ID: Final = "0" * ids.ID_CHARACTERS  # in links that lead nowhere
SAMPLE_CODE: Final = "0" * ids.SHORT_CODE_CHARACTERS


class Instance(Protocol):
    """The members of a questionnaire instance that messages use; a test message has no stored one."""

    @property
    def instance_id(self) -> str: ...
    @property
    def short_code(self) -> str: ...
    @property
    def locale(self) -> str: ...
    @property
    def question_ids(self) -> Sequence[str]: ...
    @property
    def metadata(self) -> Mapping[str, str]: ...
    @property
    def valid_days(self) -> int: ...
    @property
    def sent_time(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleInstance:
    """Stands for the instance that a message which is not an item's would have."""

    locale: str
    metadata: Mapping[str, str]
    valid_days: int
    question_ids: Sequence[str] = ()
    instance_id: str = SAMPLE_ID
    short_code: str = SAMPLE_CODE
    sent_time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContext:
    """The message of one item, before its texts are filled; dates are shown in `time_zone`."""

    item_id: str
    recipient: str
    pipeline: Pipeline
    version: Version
    instance: Instance
    responder_metadata: Mapping[str, str]
    unsubscribe_id: str | None
    organization_name: str
    postal_address: str | None
    questionnaire_name: str
    sender: str  # the setting; for mail, the pipeline's sender_address takes precedence
    site: Site
    now: datetime
    sender_domains: Collection[str] = ()  # those that the pipeline's sender_address may have
    reminder_number: int | None = None
    external_reference: str | None = None
    send_time: datetime | None = None
    time_zone: str = "UTC"
    theme: Theme = visuals.DEFAULT

    @property
    def pages(self) -> PublicPages:
        return self.site.pages(self.pipeline.organization_id)

    @property
    def unsubscribe_url(self) -> str | None:
        return None if self.unsubscribe_id is None else self.pages.unsubscribe_url(self.unsubscribe_id)

    @property
    def valid_until(self) -> datetime | None:
        """End of the link's validity, counted from the first message if there was one; None: never."""
        if self.instance.valid_days == 0:
            return None
        return (self.instance.sent_time or self.now) + timedelta(days=self.instance.valid_days)

    def message(self, **members: Any) -> Message:
        own: dict[str, Any] = {"sender": self.sender, **members}
        return Message(
            item_id=self.item_id,
            organization_id=self.pipeline.organization_id,
            channel_id=self.pipeline.channel_id,
            recipient=self.recipient,
            locale=self.instance.locale,
            composed_time=self.now,
            **own,
        )

    def values(self, names: Collection[str], *, link: str, **more: str) -> Mapping[str, str]:
        fixed = {
            "organization": one_line(self.organization_name),
            "questionnaire": one_line(self.questionnaire_name),
            "link": link,
            "unsubscribe_link": self.unsubscribe_url or "",
            **more,
            **item_values(
                names,
                recipient=self.recipient,
                external_reference=self.external_reference,
                send_time=self.send_time or self.now,
                valid_until=self.valid_until,
                locale=self.instance.locale,
                time_zone=self.time_zone,
            ),
        }
        return placeholders.values_of(
            fixed=fixed, responder=self.responder_metadata, questionnaire=self.instance.metadata
        )


def item_values(
    names: Collection[str],
    *,
    recipient: str,
    external_reference: str | None,
    send_time: datetime,
    valid_until: datetime | None,
    locale: str,
    time_zone: str,
) -> dict[str, str]:
    """Values of the item's variables; only those in `names`, since a date in words costs more than all others."""
    used = placeholders.ITEM_NAMES & set(names)
    if not used:
        return {}
    words = texts("mail", locale)
    times = {"item.send_date": send_time, "item.valid_until": valid_until}
    return {
        "item.recipient": recipient,
        "item.external_reference": one_line(external_reference or ""),
        **{
            name: words.date(time, time_zone=time_zone)
            for name, time in times.items()
            if name in used and time is not None
        },
    }
