"""The SQL of items by the client's own key of them."""

from afterword.db import Database
from afterword.queue.records import ITEM_COLUMNS, QueueItem


async def get_item_by_reference(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    pipeline_id: str,
    external_reference: str,
    test_only: bool = False,
) -> QueueItem | None:
    """The live item of the pipeline under this reference: not cancelled, not deleted."""
    row = await db.fetch_row(
        f"""select {ITEM_COLUMNS} from queue_item
           where organization_id = $1 and questionnaire_id = $2 and pipeline_id = $3 and external_reference = $4
             and external_reference is not null and status <> 7 and deleted_time is null and (test or not $5)""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        external_reference,
        test_only,
    )
    return None if row is None else QueueItem.of(row)


async def get_item_by_reference_locked(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    pipeline_id: str,
    external_reference: str,
    test_only: bool = False,
) -> QueueItem | None:
    """As get_item_by_reference, locked until the transaction ends."""
    row = await db.fetch_row(
        f"""select {ITEM_COLUMNS} from queue_item
           where organization_id = $1 and questionnaire_id = $2 and pipeline_id = $3 and external_reference = $4
             and external_reference is not null and status <> 7 and deleted_time is null and (test or not $5)
           for update""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        external_reference,
        test_only,
    )
    return None if row is None else QueueItem.of(row)
