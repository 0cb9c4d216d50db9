"""The commands for organizations, their tokens, plans and senders."""

from pathlib import Path

import pytest

from afterword import errors
from afterword.kit import db
from afterword.tenants.organizations import users
from afterword.tenants.organizations.applications import get_first_application_id
from tests.conftest import House
from tests.run.cli.shell import Operator, opened_by, program


class TestOrganization:
    def test_wrong_fields_are_sentences(self, operator: Operator) -> None:
        words = ("Acme", "--name", "Acme", "--owner", "nobody", "--time-zone", "Mars")
        sentences = operator.refused("organization", "create", *words).splitlines()[1:]
        assert {"DOMAIN", "--time-zone", "--owner"} == {line.strip().partition(":")[0] for line in sentences}

    def test_wrong_owner_founds_nothing(self, operator: Operator) -> None:
        operator.refused("organization", "create", "acme", "--name", "Acme", "--owner", "nobody")
        assert "No organization.\n" == operator.done("organization", "list")

    def test_taken_domain(self, operator: Operator) -> None:
        operator.found()
        words = ("organization", "create", "acme", "--name", "A", "--owner", "a@b.example")
        assert "acme" in operator.refused(*words)

    async def test_ok(self, pool: db.Pool, operator: Operator) -> None:
        founded = operator.found()
        assert ["ORGANIZATION_DOMAIN", "ORGANIZATION_ID", "APPLICATION_ID", "USER_ID"] == list(founded)
        organization_id = founded["ORGANIZATION_ID"]
        async with db.connection(pool) as database:
            owner = await users.get_user(database, organization_id=organization_id, user_id=founded["USER_ID"])
            first = await get_first_application_id(database, organization_id=organization_id)
        assert owner is not None
        assert ("owner", "ann@acme.example") == (owner.role, owner.email)
        assert first == founded["APPLICATION_ID"]
        assert ["acme"] == [line.split()[0] for line in operator.done("organization", "list").splitlines()]

    def test_unlock(self, operator: Operator) -> None:
        operator.found()
        operator.refused("organization", "unlock", "nobody")
        assert "log in from anywhere" in operator.done("organization", "unlock", "acme")


class TestToken:
    SCOPE = ("token", "create", "--scope", "Queue.Create")

    def test_no_organization(self, operator: Operator) -> None:
        assert "afterword seed" in operator.refused(*self.SCOPE)

    def test_several_organizations(self, house: House, neighbour: House, operator: Operator) -> None:
        assert "--organization" in operator.refused(*self.SCOPE)

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (("--organization", "nobody"), "“nobody”"),
            (("--user", "nobody@example.com"), "e-mail address"),
            *((("--scope", wrong), "no such scope") for wrong in ("Queue", "queue.create", "Queue.Create ", "*", "")),
        ],
    )
    def test_unknown(self, house: House, operator: Operator, words: tuple[str, ...], sentence: str) -> None:
        assert sentence in operator.refused(*self.SCOPE, *words)

    async def test_ok(self, house: House, pool: db.Pool, operator: Operator) -> None:
        words = ("--scope", "Questionnaire Instance.Update", "--organization", house.domain, "--days", "1")
        text = operator.done(*self.SCOPE, *words).strip()
        assert frozenset({"Queue.Create", "Questionnaire Instance.Update"}) == await opened_by(pool, text)
        async with db.connection(pool) as database:
            assert 1 == await database.fetch_value("select count(*) from token where expires_time > now()")

    async def test_of_a_user(self, pool: db.Pool, operator: Operator) -> None:
        founded = operator.found()
        operator.done("token", "create", "--scope", "all", "--user", "Ann@ACME.example")
        async with db.connection(pool) as database:
            row = await database.fetch_row("select kind, user_id from token")
        assert {"kind": "user", "user_id": founded["USER_ID"]} == dict(row or {})

    def test_bad_setting_is_a_sentence(self, tmp_path: Path) -> None:
        ended = program("mysql://user:hunter2@host/x", tmp_path, "migrate")
        assert 2 == ended.returncode
        assert "AFTERWORD_DATABASE_URL" in ended.stderr
        assert "hunter2" not in ended.stderr
        assert "Traceback" not in ended.stderr

    @pytest.mark.parametrize("beginning", ["", "afw_", "afw_1234567", "afw_12345678_", "%" * 8, "afw_" + "a" * 54])
    def test_revoked_by_another_shape(self, house: House, operator: Operator, beginning: str) -> None:
        assert "beginning" in operator.refused("token", "revoke", beginning)

    async def test_revoked(self, house: House, pool: db.Pool, operator: Operator) -> None:
        assert "afterword: No token begins so.\n" == operator.refused("token", "revoke", "afw_00000000")
        other = operator.done("token", "create", "--scope", "Queue.Read").strip()
        assert "Revoked “Tests”.\n" == operator.done("token", "revoke", house.token[:12])
        with pytest.raises(errors.Unauthorized):
            await opened_by(pool, house.token)
        assert frozenset({"Queue.Read"}) == await opened_by(pool, other)


class TestPlan:
    @pytest.mark.parametrize(
        "words",
        [
            ("add", "once"),
            ("add", "unlimited", "--credits", "5"),
            ("add", "unlimited", "--organization", "nobody"),
            ("renew", "z" * 22),
            ("cancel", "z" * 22),
            ("list", "--organization", "nobody"),
        ],
    )
    def test_refused(self, house: House, operator: Operator, words: tuple[str, ...]) -> None:
        operator.refused("plan", *words)

    def test_unknown_kind(self, house: House, operator: Operator) -> None:
        assert "monthly" in operator.refused("plan", "add", "yearly", code=2)

    async def test_life(self, house: House, pool: db.Pool, operator: Operator) -> None:
        assert "No plan: all is unlimited.\n" == operator.done("plan", "list")
        words = ("--credits", "1000", "--title", "Standard", "--feature", "sms", "--days", "90")
        added = operator.done("plan", "add", "monthly", *words)
        plan_id = added[:22]
        assert "1,000 of 1,000 credits" in added
        assert "“Standard”" in added
        async with db.transaction(pool) as database:
            await database.execute("update plan set remaining_credits = 0")
        listed = operator.done("plan", "list", "--organization", "demo")
        assert f"demo  {plan_id}, monthly, active, 0 of 1,000 credits" in listed
        assert "0 of 1,000 credits, 50 extra" in operator.done("plan", "renew", plan_id, "--extra", "50")
        assert "1,000 of 1,000 credits, 50 extra" in operator.done("plan", "renew", plan_id)
        cancelled = operator.run("plan", "cancel", plan_id)
        assert "cancelled" in cancelled.stdout
        assert "afterword plan add unlimited" in cancelled.stderr
        operator.done("plan", "add", "unlimited")


def test_senders(house: House, neighbour: House, operator: Operator) -> None:
    ours, theirs = ("--organization", "demo"), ("--organization", "neighbour")
    operator.refused("sender", "add", "demo.example")  # of two organizations one is named
    assert "demo may send from demo.example.\n" == operator.done("sender", "add", "Demo.Example", *ours)
    assert "demo.example\n" == operator.done("sender", "list", *ours)
    assert "None: its mails come from AFTERWORD_MAIL_FROM.\n" == operator.done("sender", "list", *theirs)
    operator.refused("sender", "remove", "demo.example", *theirs)
    assert "afterword doctor" in operator.done("sender", "remove", "demo.example", *ours)
