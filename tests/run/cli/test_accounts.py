"""The commands for accounts, which show no secret unless it is asked for, and for what waits in the queue."""

import json
from functools import partial
from pathlib import Path

import pytest

from afterword import errors
from afterword.core.scheduling.statuses import Item
from afterword.core.wire import imports
from afterword.kit import db
from afterword.run.cli import CommandError, accounts
from afterword.sending.intake.imports import service
from tests.conftest import House
from tests.run.cli.shell import Operator
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_service import uncertain

SETTINGS = """
account_sid = "AC1"
auth_token = "hunter2hunter2"
sender = "Shop"
"""


class TestRefused:
    def test_files(self, tmp_path: Path) -> None:
        for text in ("a = ", "{", "token = 'hunter2'\ntoken = 'hunter2'"):
            file = tmp_path / "settings.toml"
            file.write_text(text)
            with pytest.raises(CommandError) as refused:
                accounts.read_settings(file)
            assert "hunter2" not in str(refused.value)
        with pytest.raises(errors.Invalid, match="cannot be read"):
            accounts.read_settings(tmp_path / "nothing.toml")

    def test_json_is_taken_too(self, tmp_path: Path) -> None:
        file = tmp_path / "settings.json"
        file.write_text('{"url": "smtp://x"}')
        assert {"url": "smtp://x"} == accounts.read_settings(file)

    def test_wrong(self, house: House, operator: Operator) -> None:
        file = operator.folder / "settings.toml"
        file.write_text(SETTINGS)
        for words in (("add", "fax", "--settings-file", str(file)), ("add", "smtp", "--settings-file", str(file)),
                      ("show", "z" * 22)):  # fmt: skip
            assert "hunter2" not in operator.refused("account", *words)


def test_settings_from_standard_input(house: House, operator: Operator) -> None:
    words = ("account", "add", "sms_twilio", "--settings-file", "-")
    assert "sms, sms_twilio, default" in operator.done(*words, typed=SETTINGS)


async def test_life_of_an_account(house: House, pool: db.Pool, operator: Operator) -> None:
    file = operator.folder / "settings.toml"
    file.write_text(SETTINGS)
    run = partial(operator.done, "account")
    listed = run("list")
    assert "email, default, default, 1 pipeline, 10 slots" in listed
    words = ("--settings-file", str(file), "--title", "Ours", "--rate", "3")
    added = operator.run("account", "add", "sms_twilio", *words)
    assert "sms, sms_twilio, default, 0 pipelines, 10 slots, 3 of 3 a second, “Ours”" in added.stdout
    assert "Its provider reports to http" in added.stderr
    account_id = added.stdout.split()[1].rstrip(",")
    shown = run("show", account_id)
    assert "hunter2" not in shown
    assert {"account_sid": "AC1", "auth_token": "•••", "sender": "Shop"} == json.loads(shown)["settings"]
    assert "hunter2hunter2" in run("show", account_id, "--secret")
    assert "paused since" in run("pause", account_id)
    assert "paused" not in run("resume", account_id)
    assert "5 slots" in run("set", account_id, "--slots", "5", "--no-rate")
    assert "a second" not in run("list")
    assert 1 == operator.run("account", "test", account_id, "not a number").returncode
    assert "Taken: " in run("test", listed.split()[1].rstrip(","), "ann@example.com")
    async with db.connection(pool) as database:  # without a relay mails stay in the outbox
        assert 1 == await database.fetch_value("select count(*) from outbox_message")
    assert "Removed" in run("remove", account_id)
    assert account_id not in run("list")


async def test_the_secret_that_a_webhook_s_receiver_wants(house: House, pool: db.Pool, operator: Operator) -> None:
    async with db.transaction(pool) as database:
        await database.execute(
            """insert into channel_account (organization_id, account_id, channel_id, is_default)
               values ($1, $2, 3, true)""",
            house.organization_id,
            "w" * 22,
        )
    assert '"secrets": "•••"' in operator.done("account", "show", "w" * 22)
    assert "whsec_" in operator.done("account", "show", "w" * 22, "--secret")


@pytest.fixture
def queue(pool: db.Pool, house: House) -> Queue:
    return Queue(pool, house, house.pipeline_id)


class TestResolve:
    async def test_refused(self, house: House, neighbour: House, queue: Queue, operator: Operator) -> None:
        item = await queue.schedule()
        words = ("queue", "resolve", item.item_id, "--sent", "--organization")
        assert "What became of this item is known." in operator.refused(*words, house.domain)
        assert "There is no item" in operator.refused(*words, neighbour.domain)

    @pytest.mark.parametrize(
        ("option", "status", "words"), [("--sent", Item.SENT, "is Sent"), ("--not-sent", Item.FAILED, "is Failed")]
    )
    async def test_ok(self, queue: Queue, operator: Operator, option: str, status: Item, words: str) -> None:
        item = await queue.schedule()
        await uncertain(queue, item)
        assert words in operator.done("queue", "resolve", item.item_id, option)
        found = await queue.row(item)
        assert (status, None) == (Item(found["status"]), found["updated_by"])


async def test_an_import_is_resumed(pool: db.Pool, house: House, operator: Operator) -> None:
    assert "afterword: There is no such import.\n" == operator.refused("queue", "resume", "z" * 22)
    async with db.transaction(pool) as database:
        now = database.clock.now()
        job = await service.create(
            database,
            caller=house.caller,
            questionnaire_id=house.questionnaire_id,
            pipeline_id=house.pipeline_id,
            cut=imports.cut(
                "responder_channel_identifier\na@example.com\n", fields=service.FIELDS, separator=",", mapping={}
            ),
            secret=house.site.secret,
            now=now,
        )
        await database.execute("update queue_import set state = 'failed', finished_time = $1", now)
    assert "The import is queued: 0 of 1 rows are done.\n" == operator.done("queue", "resume", job.import_id)
