"""Tags for many responses: the responses are noted first, then changed in parts, by the request and by a job.

A part and its position commit together, so what is interrupted goes on behind it. What was changed is noted, so it can
be changed back.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from afterword import errors, ids
from afterword.asking.instances.tags import service as tags
from afterword.asking.instances.tags import store as tags_store
from afterword.core.answers import tags as rules
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.conditions import Node
from afterword.events.service import Actor
from afterword.kit.db import Database
from afterword.listening.responses import service as responses
from afterword.listening.responses.store import FOUND_MAX, Filter
from afterword.listening.responses.taggings import store
from afterword.listening.responses.taggings.store import Action, Tagging

NO_TAGGING: Final = "There is no such tagging."
PART: Final = 200  # responses that are changed in one transaction
KEEP_DAYS: Final = 30
PRUNED_MAX: Final = 5  # taggings, each of up to FOUND_MAX responses


async def begin(
    db: Database,
    *,
    caller: Caller,
    tag: str,
    action: Action,
    chosen: Filter,
    application_id: str | None,
    condition: Node | None = None,
    instance_ids: Sequence[str] | None = None,
    now: datetime,
) -> Tagging:
    """Note the responses that match, or of these ids those that do, and change the first of them.

    Raises Invalid for what is no tag, and for more than FOUND_MAX responses.
    """
    caller.require("Tag.Create" if action == "add" else "Tag.Delete")
    word = _word(tag)
    found = await responses.select(
        db, caller=caller, application_id=application_id, chosen=chosen, condition=condition, among=instance_ids,
        limit=FOUND_MAX,
    )  # fmt: skip
    instance_ids = [instance_id for instance_id, _ in found]
    return await _begin(db, caller=caller, tag=word, action=action, instance_ids=instance_ids, now=now)


async def remove_everywhere(
    db: Database, *, caller: Caller, tag: str, expect: errors.Expect = errors.ANY, now: datetime
) -> Tagging:
    """Remove a tag from all that have it. Raises NotFound, Forbidden, Invalid for more than FOUND_MAX."""
    caller.require_whole()
    caller.require_real()
    word = tags.named(tag)
    found = await tags_store.list_instance_ids(
        db, organization_id=caller.organization_id, tag=word, limit=FOUND_MAX + 1
    )
    if not found:
        raise errors.NotFound("There is no such tag.")
    expect(tags.VERSION)
    if len(found) > FOUND_MAX:
        message = f"More than {FOUND_MAX:,} responses have this tag: remove it by period, from the list of responses."
        raise errors.Invalid.at("/tag", "too_many", message)
    return await _begin(db, caller=caller, tag=word, action="remove", instance_ids=found, now=now)


async def _begin(
    db: Database, *, caller: Caller, tag: str, action: Action, instance_ids: Sequence[str], now: datetime
) -> Tagging:
    tagging = await store.insert_tagging(
        db,
        organization_id=caller.organization_id,
        tagging_id=ids.ordered(now),
        tag=tag,
        action=action,
        instance_ids=instance_ids,
        created_by=caller.actor_id,
        actor_kind=caller.actor_kind,
        now=now,
    )
    return await _do_part(db, tagging=tagging, now=now)


def _word(text: str) -> str:
    try:
        return rules.normalise(text)
    except rules.InvalidTag as error:
        raise errors.Invalid.at("/tag", error.code, str(error)) from None


async def get(db: Database, *, caller: Caller, tagging_id: str) -> Tagging:
    """A tagging of the caller's own. Raises NotFound."""
    found = await store.get_tagging(db, **caller.reach, tagging_id=tagging_id, created_by=caller.actor_id)
    return errors.found(found, NO_TAGGING)


async def undo(
    db: Database, *, caller: Caller, tagging_id: str, expect: errors.Expect = errors.ANY, now: datetime
) -> Tagging:
    """Change back what was changed, also while it is under way; again it does nothing.

    `expect` is told the version. Raises NotFound, and what it raises.
    """
    found = await store.get_tagging(
        db, **caller.reach, tagging_id=tagging_id, created_by=caller.actor_id, is_locked=True
    )
    if found is None:
        raise errors.NotFound(NO_TAGGING)
    expect(found.version)
    if found.state not in {"running", "done"}:
        return found
    await store.update_to_undoing(db, organization_id=caller.organization_id, tagging_id=tagging_id, now=now)
    return await _do_part(db, tagging=await get(db, caller=caller, tagging_id=tagging_id), now=now)


async def work_next(db: Database, *, now: datetime) -> int:
    """Do a part of the tagging that has waited longest; 0 where none is open."""
    tagging = await store.claim_tagging(db)
    if tagging is None:
        return 0
    await _do_part(db, tagging=tagging, now=now)
    return 1


async def _do_part(db: Database, *, tagging: Tagging, now: datetime) -> Tagging:
    key = {"organization_id": tagging.organization_id}
    is_back = tagging.state == "undoing"
    instance_ids = await store.list_next(db, **key, tagging_id=tagging.tagging_id, is_back=is_back, limit=PART)
    changed = await tags.change_many(
        db,
        **key,
        instance_ids=instance_ids,
        tag=tagging.tag,
        adds=(tagging.action == "add") is not is_back,
        actor=Actor(tagging.actor_kind, tagging.created_by),
        now=now,
    )
    is_over = len(instance_ids) < PART
    state = ("undone" if is_over else "undoing") if is_back else ("done" if is_over else "running")
    return await store.settle_part(
        db, **key, tagging=tagging, instance_ids=instance_ids, changed_ids=changed, state=state, now=now
    )
