"""The SQL of pools, and of invitations that have taken answers."""

from afterword.kit.db import Database


async def claim_pool(db: Database, *, organization_id: str, questionnaire_id: str, version_id: str) -> bytes:
    """The sealed answers of the version that wait, empty for none; locked until the transaction ends."""
    return await db.fetch_value(
        """insert into anonymous_pool (organization_id, questionnaire_id, version_id, responses, sealed)
           values ($1, $2, $3, 0, '')
           on conflict (organization_id, questionnaire_id, version_id) do update set sealed = anonymous_pool.sealed
           returning sealed""",
        *(organization_id, questionnaire_id, version_id),
    )


async def settle_pool(
    db: Database, *, organization_id: str, questionnaire_id: str, version_id: str, responses: int, sealed: bytes
) -> None:
    await db.execute(
        """update anonymous_pool set responses = $4, sealed = $5
           where organization_id = $1 and questionnaire_id = $2 and version_id = $3""",
        *(organization_id, questionnaire_id, version_id, responses, sealed),
    )


async def count_waiting(db: Database, *, organization_id: str, questionnaire_id: str) -> int:
    """The answers of all versions that wait for others."""
    return await db.fetch_value(
        """select coalesce(sum(responses), 0)::bigint from anonymous_pool
           where organization_id = $1 and questionnaire_id = $2""",
        *(organization_id, questionnaire_id),
    )


async def update_to_used(db: Database, *, organization_id: str, instance_id: str) -> None:
    """Record that the invitation took answers, but not when: `updated_time` stays."""
    await db.execute(
        """update questionnaire_instance set finalized = true, version = version + 1
           where organization_id = $1 and instance_id = $2 and anonymity = 'invitation'""",
        *(organization_id, instance_id),
    )
