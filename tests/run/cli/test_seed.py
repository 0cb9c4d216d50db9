"""`afterword seed`: all that the first request needs, made once."""

import json
from dataclasses import asdict
from pathlib import Path

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.run.cli.demo import Seeded, seed
from afterword.tenants.organizations.tokens import access
from tests.run.cli.shell import SITE, opened_by, shell


class TestSeed:
    async def test_prints_what_the_first_request_needs(self, database_url: str, tmp_path: Path) -> None:
        ended = shell(database_url, tmp_path, "seed", "--json")
        assert 0 == ended.returncode, ended.stderr
        assert set(Seeded.__dataclass_fields__) == set(json.loads(ended.stdout))

    async def test_lines_for_a_shell(self, database_url: str, tmp_path: Path) -> None:
        lines = dict(line.split("=", 1) for line in shell(database_url, tmp_path, "seed").stdout.splitlines())
        assert "http://localhost:8080/v3.2" == lines["BASE_URL"]
        assert access.is_token(lines["TOKEN"])

    async def test_the_token_has_every_scope(self, pool: db.Pool) -> None:
        seeded = await seed(pool, SITE)
        assert await opened_by(pool, seeded.token) == SCOPES

    async def test_again_makes_a_token_and_nothing_else(self, pool: db.Pool) -> None:
        first, second = await seed(pool, SITE), await seed(pool, SITE)
        assert first.token != second.token
        differing = {name for name, value in asdict(first).items() if asdict(second)[name] != value}
        assert {"token"} == differing
