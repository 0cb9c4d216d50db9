"""`afterword account`: what operators type, and what they read; no secret is shown unless it is asked for."""

import json
from pathlib import Path

import pytest

from afterword import errors
from afterword.kit import db
from afterword.run.cli import CommandError, accounts
from tests.conftest import House
from tests.run.cli.shell import shell

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

    async def test_wrong(self, house: House, database_url: str, tmp_path: Path) -> None:
        file = tmp_path / "settings.toml"
        file.write_text(SETTINGS)
        for words in (
            ("add", "fax", "--settings-file", str(file)), ("add", "smtp", "--settings-file", str(file)),
            ("show", "z" * 22),
        ):  # fmt: skip
            ended = shell(database_url, tmp_path, "account", *words)
            assert 1 == ended.returncode, (words, ended)
            assert ended.stderr.startswith("afterword: ")
            assert "Traceback" not in ended.stderr
            assert "hunter2" not in ended.stderr


async def test_settings_from_standard_input(house: House, database_url: str, tmp_path: Path) -> None:
    words = ("account", "add", "sms_twilio", "--settings-file", "-")
    ended = shell(database_url, tmp_path, *words, typed=SETTINGS)
    assert (0, True) == (ended.returncode, "sms, sms_twilio, default" in ended.stdout), ended


async def test_life_of_an_account(house: House, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(SETTINGS)

    def run(*words: str, code: int = 0) -> tuple[str, str]:
        ended = shell(database_url, tmp_path, "account", *words)
        assert code == ended.returncode, ended
        return ended.stdout, ended.stderr

    listed, _ = run("list")
    assert "email, default, default, 1 pipeline, 10 slots" in listed
    added, told = run("add", "sms_twilio", "--settings-file", str(file), "--title", "Ours", "--rate", "3")
    assert "sms, sms_twilio, default, 0 pipelines, 10 slots, 3 of 3 a second, “Ours”" in added
    assert "Its provider reports to http" in told
    account_id = added.split()[1].rstrip(",")
    shown, _ = run("show", account_id)
    assert "hunter2" not in shown
    assert {"account_sid": "AC1", "auth_token": "•••", "sender": "Shop"} == json.loads(shown)["settings"]
    assert "hunter2hunter2" in run("show", account_id, "--secret")[0]
    assert "paused since" in run("pause", account_id)[0]
    assert "paused" not in run("resume", account_id)[0]
    assert "5 slots" in run("set", account_id, "--slots", "5", "--no-rate")[0]
    assert "a second" not in run("list")[0]
    run("test", account_id, "not a number", code=1)
    assert "Taken: " in run("test", listed.split()[1].rstrip(","), "ann@example.com")[0]
    async with db.connection(pool) as database:  # without a relay mails stay in the outbox
        assert 1 == await database.fetch_value("select count(*) from outbox_message")
    assert "Removed" in run("remove", account_id)[0]
    assert account_id not in run("list")[0]


async def test_the_secret_that_a_webhook_s_receiver_wants(
    house: House, pool: db.Pool, database_url: str, tmp_path: Path
) -> None:
    async with db.transaction(pool) as database:
        await database.execute(
            """insert into channel_account (organization_id, account_id, channel_id, is_default)
               values ($1, $2, 3, true)""",
            house.organization_id,
            "w" * 22,
        )
    assert '"secrets": "•••"' in shell(database_url, tmp_path, "account", "show", "w" * 22).stdout
    assert "whsec_" in shell(database_url, tmp_path, "account", "show", "w" * 22, "--secret").stdout
