"""`afterword plan`: what operators type, and what they read."""

from pathlib import Path

from afterword.kit import db
from tests.conftest import House
from tests.run.cli.shell import shell


class TestRefused:
    async def test_wrong(self, house: House, database_url: str, tmp_path: Path) -> None:
        for words in (
            ("add", "once"), ("add", "unlimited", "--credits", "5"), ("renew", "z" * 22),
            ("cancel", "z" * 22), ("list", "--organization", "nobody"),
            ("add", "unlimited", "--organization", "nobody"),
        ):  # fmt: skip
            ended = shell(database_url, tmp_path, "plan", *words)
            assert 1 == ended.returncode, (words, ended)
            assert ended.stderr.startswith("afterword: ")
            assert "Traceback" not in ended.stderr
        ended = shell(database_url, tmp_path, "plan", "add", "yearly")
        assert (2, True) == (ended.returncode, "monthly" in ended.stderr), ended


async def test_life_of_a_plan(house: House, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
    def run(*words: str) -> tuple[str, str]:
        ended = shell(database_url, tmp_path, "plan", *words)
        assert 0 == ended.returncode, ended
        return ended.stdout, ended.stderr

    assert "No plan: all is unlimited.\n" == run("list")[0]
    added, _ = run("add", "monthly", "--credits", "1000", "--title", "Standard", "--feature", "sms", "--days", "90")
    plan_id = added[:22]
    assert "1,000 of 1,000 credits" in added
    assert "“Standard”" in added
    async with db.transaction(pool) as database:
        await database.execute("update plan set remaining_credits = 0")
    assert f"demo  {plan_id}, monthly, active, 0 of 1,000 credits" in run("list", "--organization", "demo")[0]
    assert "0 of 1,000 credits, 50 extra" in run("renew", plan_id, "--extra", "50")[0]
    assert "1,000 of 1,000 credits, 50 extra" in run("renew", plan_id)[0]
    shown, warned = run("cancel", plan_id)
    assert "cancelled" in shown
    assert "afterword plan add unlimited" in warned
    run("add", "unlimited")
