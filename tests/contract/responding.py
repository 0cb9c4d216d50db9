"""The responses that the contract tests need: their rows, a view, a theme, a tagging, and an export of their list."""

from afterword.kit import db
from afterword.listening.responses import rows
from tests.conftest import settled
from tests.contract.wire import Wire


async def responding(pool: db.Pool, wire: Wire, *, token: str, instance_id: str, tag: str) -> dict[str, str]:
    """Ids of a view, a theme and a tagging, by the names of paths; the tag is one that the response has already."""
    await settled(pool)
    async with db.transaction(pool) as database:
        while await rows.follow(database, now=database.clock.now()):
            pass
    made: dict[str, str] = {}
    for name, path, document in (
        ("view_id", "view", {"title": "Unhappy", "query": "tab=unhappy"}),
        ("theme_id", "theme", {"title": "Parking", "words": ["parking"]}),
        ("tagging_id", "tag", {"tag": tag, "instance_ids": [instance_id]}),
    ):
        answer = await wire.done("POST", f"/v3.2/q/response/{path}", token=token, document=document)
        made[name] = answer[name]
    assert 1 == answer["found"]
    await wire.done("POST", "/v3.2/q/response/export", token=token, document={"format": "csv"})
    return made
