"""Writes the changes of a posted page to the stored answers."""

from datetime import datetime

from afterword.core.answers import instances as core_instances
from afterword.core.answers.instances import Edit
from afterword.db import Database
from afterword.instances.answers import store


async def write(
    db: Database,
    *,
    organization_id: str,
    instance_id: str,
    questionnaire_id: str,
    version_id: str,
    edit: Edit,
    now: datetime,
) -> None:
    """Store the answers that an edit changed and delete those that it removed."""
    if edit.changed:
        await store.update_answers(
            db,
            organization_id=organization_id,
            instance_id=instance_id,
            questionnaire_id=questionnaire_id,
            version_id=version_id,
            answers=core_instances.documents(edit.changed),
            now=now,
        )
    if edit.removed:
        await store.delete_answers(
            db, organization_id=organization_id, instance_id=instance_id, question_ids=edit.removed
        )
