"""Makes dispatches of claimed items that go: the responder, the instance and the version that each message needs."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import msgspec

from afterword.asking.instances import issuing, responders as people_store, store as instances_store
from afterword.asking.instances.issuing import ItemIssueInput
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.asking.questionnaires.store import Version
from afterword.core.scheduling.decisions import Decision
from afterword.core.scheduling.lanes import AccountKey, LaneKey
from afterword.kit.db import Database
from afterword.people.responders import service as responders
from afterword.people.responders.service import Found, ResponderInput
from afterword.people.responders.store import AddressId, Recipient
from afterword.sending.queue.deciding import address_id_of
from afterword.sending.queue.lanes import LaneSettings
from afterword.sending.queue.records import Claimed, ItemKey
from afterword.sending.queue.sending import outcomes
from afterword.sending.queue.sending.store import Settlement

Draw = Callable[[], float]  # uniform in [0, 1), from the handler


class Dispatch(msgspec.Struct, frozen=True):
    item: Claimed
    settings: LaneSettings
    instance: Instance
    version: Version
    responder: Found

    @property
    def account(self) -> AccountKey:
        return self.settings.account

    @property
    def address_id(self) -> AddressId:
        return address_id_of(self.item, self.settings)


async def equip(
    db: Database,
    *,
    items: Sequence[Claimed],
    people: Mapping[AddressId, Recipient | None],
    settings: Mapping[LaneKey, LaneSettings],
    now: datetime,
    secret: bytes,
    draw: Draw,
) -> tuple[list[Dispatch], list[Settlement]]:
    """The dispatches of items that go, and the settlements of items whose instance was deleted."""
    if not items:
        return [], []
    shared = await _shared(db, items, people, settings)
    inputs = [_responder_input(item, settings[item.lane], is_whole=item.key not in shared) for item in items]
    found = await responders.find_or_create(db, inputs=inputs, now=now, secret=secret, known=people)
    issued = await _reminded_instances(db, items)
    issues = [
        _issue_input(item, settings[item.lane], responder)
        for item, responder in zip(items, found, strict=True)
        if not _has_instance(item)
    ]
    if issues:
        issued |= await issuing.issue_for_items(db, items=issues, now=now, draw=draw)
    dispatches: list[Dispatch] = []
    lost: list[Settlement] = []
    versions: dict[tuple[str, str], Version] = {}
    for item, responder in zip(items, found, strict=True):
        instance = issued.get(item.key)
        if instance is None or instance.deleted_time is not None:
            decision = Decision("skip", "instance_expired", "Ignored: the questionnaire instance was deleted", None, ())
            lost.append(outcomes.decided(item, decision))
            continue
        key = item.organization_id, instance.version_id
        if key not in versions:
            versions[key] = await questionnaires_store.get_version(db, organization_id=key[0], version_id=key[1])
        dispatches.append(Dispatch(item, settings[item.lane], instance, versions[key], responder))
    return dispatches, lost


def _has_instance(item: Claimed) -> bool:
    return item.reminder_number is not None and item.questionnaire_instance_id is not None


async def _reminded_instances(db: Database, items: Sequence[Claimed]) -> dict[ItemKey, Instance]:
    wanted: dict[str, dict[str, list[ItemKey]]] = {}
    for item in items:
        if _has_instance(item):
            of_one = wanted.setdefault(item.organization_id, {})
            of_one.setdefault(str(item.questionnaire_instance_id), []).append(item.key)
    return {
        key: instance
        for organization_id, by_id in wanted.items()
        for instance in await instances_store.list_instances_by_ids(
            db, organization_id=organization_id, instance_ids=sorted(by_id)
        )
        for key in by_id[instance.instance_id]
    }


async def _shared(
    db: Database,
    items: Sequence[Claimed],
    people: Mapping[AddressId, Recipient | None],
    settings: Mapping[LaneKey, LaneSettings],
) -> set[ItemKey]:
    """Limited items for people whom other applications ask too, or who were unknown when the batch was decided."""
    limited = {item.key: people.get(address_id_of(item, settings[item.lane])) for item in items if item.limited}
    asked = {
        item.key: (item.organization_id, person.responder.responder_id, item.questionnaire_id)
        for item in items
        if (person := limited.get(item.key)) is not None
    }
    others = await people_store.list_shared(db, asked=list(asked.values())) if asked else set[tuple[str, str, str]]()
    return {key for key in limited if key not in asked or asked[key] in others}


def _responder_input(item: Claimed, settings: LaneSettings, *, is_whole: bool) -> ResponderInput:
    return ResponderInput(
        organization_id=item.organization_id,
        channel_id=settings.pipeline.channel_id,
        identifier=item.responder_channel_identifier,
        metadata=item.metadata.get("responder", {}),
        locale=item.locale or settings.pipeline.locale,
        is_limited=item.test or item.limited,
        is_whole=is_whole and not item.test,
    )


def _issue_input(item: Claimed, settings: LaneSettings, responder: Found) -> ItemIssueInput:
    return ItemIssueInput(
        organization_id=item.organization_id,
        item_id=item.item_id,
        channel_id=settings.pipeline.channel_id,
        pipeline_id=settings.pipeline.pipeline_id,
        questionnaire_id=item.questionnaire_id,
        responder_id=responder.responder_id,
        locale=item.locale or settings.pipeline.locale or responder.locale,
        metadata=item.metadata.get("questionnaire", {}),
        test=item.test,
        previous_questionnaire_instance_id=item.previous_questionnaire_instance_id,
    )
