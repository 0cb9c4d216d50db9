"""The values that an answer gives, by its shape."""

import json

import pytest

from afterword.kit import db
from afterword.listening.reports.values import PARTS, VALUES, VALUES_AND_RANKS


@pytest.mark.parametrize(
    ("answer", "values", "ranked", "parts"),
    [
        (9, ["9"], ["9"], [""]),
        ("red", ["red"], ["red"], [""]),
        (True, ["true"], ["true"], [""]),
        (["b", "a", "b"], ["*", "a", "b"], ["1:b", "2:a", "3:b"], ["1", "2", "3"]),
        ([], [], [], []),
        ({"x": 1, "y": 5}, ["x:1", "y:5"], ["x:1", "y:5"], ["x", "y"]),
    ],
)
async def test_values(pool: db.Pool, answer: object, values: list[str], ranked: list[str], parts: list[str]) -> None:
    async with db.connection(pool) as database:
        found = [
            await database.fetch_value(
                f"""select array(select v.value from (select $1::jsonb as value) a cross join lateral {sql} as v (value)
                     order by v.value)""",
                answer,
            )
            for sql in (VALUES, VALUES_AND_RANKS.replace("$16::boolean", "true"), PARTS.replace("$16::boolean", "true"))
        ]
    assert [values, ranked, parts] == found, json.dumps(answer)
