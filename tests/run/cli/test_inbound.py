import io
import mailbox
import os
import pwd
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from afterword import errors
from afterword.core.messaging.reply_text import item_proof
from afterword.kit import db
from afterword.kit.settings import SettingError, Settings
from afterword.kit.transport.base import Sent
from afterword.run.cli import CommandError, inbound
from afterword.run.cli.context import Context
from afterword.run.cli.inbound import EX_DATAERR, EX_OK, EX_TEMPFAIL
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.receipts import service
from tests.conftest import SITE, House
from tests.run.cli.shell import Operator
from tests.sending.queue.conftest import Queue


def test_life_of_an_address(house: House, neighbour: House, operator: Operator) -> None:
    """Its key is printed this once."""
    ours, theirs = ("--organization", house.domain), ("--organization", neighbour.domain)
    operator.refused("inbound", "add", "standard", "--account", "z" * 22, *ours)
    operator.refused("inbound", "add", "sns", "--certificate", "nowhere.pem", *ours)
    told = dict(line.split("=", 1) for line in operator.done("inbound", "add", "standard", *ours).splitlines())
    assert {"url", "key"} == {name.lower() for name in told}
    url, key = (value.strip("'") for value in told.values())
    listed = operator.done("inbound", "list", *ours)
    assert f"{url}  standard, email, account " in listed
    assert key not in listed
    inbound_id = url.rpartition("/")[2]
    assert "None is open.\n" == operator.done("inbound", "list", *theirs)
    operator.refused("inbound", "close", inbound_id, *theirs)
    assert "Closed.\n" == operator.done("inbound", "close", inbound_id, *ours)
    assert "None is open.\n" == operator.done("inbound", "list", *ours)


SAMPLES: Final = Path(__file__).parents[2] / "sending/channels/bounces"
ITEM: Final = b"0QmCkLh2XnT7vRz9YbWd4e"
PROOF: Final = b"0QmCkLh2XnT7vRz9YbWd4e.MzL-Or2yMNtwmoT4"
CONTEXT: Final = Context(Settings(), "", SITE)


@pytest.fixture
async def queue(pool: db.Pool, house: House) -> Queue:
    return Queue(pool, house, house.pipeline_id)


async def sent(queue: Queue, address: str = "ann@example.org") -> QueueItemRecord:
    item = await queue.schedule(address)
    await queue.worker().send(Sent("reference-1", 250, "2.0.0 Ok"))
    return item


def returned(item: QueueItemRecord, name: str = "postfix_unknown_user") -> bytes:
    """A sample that is about this item."""
    proof = item_proof(item.item_id, SITE.secret).encode()
    return (SAMPLES / f"{name}.eml").read_bytes().replace(PROOF, proof).replace(ITEM, item.item_id.encode())


@dataclass
class Stdin:
    buffer: io.BytesIO


async def pipe(queue: Queue, monkeypatch: pytest.MonkeyPatch, content: bytes) -> int:
    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(content)))
    return await inbound.run(CONTEXT, queue.pool, maildir=None, mbox=None)


async def reasons(queue: Queue) -> list[str]:
    return [row["reason"] for row in await queue.fetch("select reason from suppression")]


class TestPipe:
    async def test_what_is_no_mail(
        self, queue: Queue, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for content in (b"", b"hi", b"x" * 10_485_761):
            assert EX_DATAERR == await pipe(queue, monkeypatch, content)
        told = capsys.readouterr().err.splitlines()
        assert 3 == len(told)
        assert all(line.startswith("afterword: ") and line.endswith(".") for line in told)

    async def test_what_is_no_report(self, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
        item = await sent(queue)
        for name in ("vacation", "person", "read_receipt", "postfix_delayed"):
            assert EX_OK == await pipe(queue, monkeypatch, returned(item, name))
        assert ["created", "sent!"] == await queue.told(item)

    @pytest.mark.parametrize(
        ("name", "told", "suppressed"),
        [
            ("postfix_unknown_user", ["bounced"], ["hard_bounce"]),
            ("postfix_mailbox_full", ["bounced"], []),
            ("postfix_forwarded", ["bounced"], []),
            ("postfix_delivered", ["delivered"], []),
            ("gmail_unknown_user", ["bounced"], ["hard_bounce"]),
            ("exchange_unknown_user", ["bounced"], ["hard_bounce"]),
            ("exim_words", ["bounced"], ["hard_bounce"]),
            ("exim_words_no_code", ["bounced"], []),
            ("qmail", ["bounced"], ["hard_bounce"]),
            ("arf_abuse", ["complained"], ["complaint"]),
            ("arf_redacted", ["complained"], ["complaint"]),
            ("arf_unproven", [], []),
            ("unproven_message_id", ["bounced"], []),
            ("unproven_wrong_hash", ["bounced"], []),
            ("unproven_address_alone", ["bounced"], []),
        ],
    )
    async def test_what_comes_of_it(
        self, queue: Queue, monkeypatch: pytest.MonkeyPatch, name: str, told: list[str], suppressed: list[str]
    ) -> None:
        item = await sent(queue)
        for _ in range(2):
            assert EX_OK == await pipe(queue, monkeypatch, returned(item, name))
        assert ["created", "sent!", *told] == await queue.told(item)
        assert suppressed == await reasons(queue)

    @pytest.mark.parametrize(
        ("error", "cause", "is_advised"),
        [
            (PermissionError(13, "Permission denied", "/data/postgresql/lock"), None, True),
            (CommandError("The data folder cannot be used."), PermissionError(), True),
            (SettingError("AFTERWORD_CONFIG: it cannot be read."), PermissionError(), True),
            (CommandError("There is no installation here."), None, False),
            (OSError("The disk is full."), None, False),
        ],
    )
    async def test_as_a_user_who_may_not_read_what_it_needs(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        error: Exception,
        cause: Exception | None,
        *,
        is_advised: bool,
    ) -> None:
        """The user to whom a mail server gives the pipe; the mail server keeps the mail."""

        @asynccontextmanager
        async def open_pool() -> AsyncGenerator[None]:
            raise error from cause
            yield

        monkeypatch.setattr(inbound, "open_pool", open_pool)
        assert EX_TEMPFAIL == await inbound.bounce()
        told = capsys.readouterr().err
        assert is_advised == (f"as the user {pwd.getpwuid(os.geteuid()).pw_name}. Let the mail server run it" in told)

    async def test_while_the_database_is_away(
        self, queue: Queue, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        async def away(*_: Any, **__: Any) -> int:
            raise errors.Unavailable("The database is away.")

        item = await sent(queue)
        monkeypatch.setattr(service, "take_mail", away)
        assert EX_TEMPFAIL == await pipe(queue, monkeypatch, returned(item))
        assert "The database is away." in capsys.readouterr().err


class TestMaildir:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name in ("cur", "new", "tmp"):
            (tmp_path / name).mkdir()
        return tmp_path

    async def test_no_maildir(self, queue: Queue, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="no Maildir"):
            await inbound.run(CONTEXT, queue.pool, maildir=tmp_path, mbox=None)
        with pytest.raises(CommandError, match="not both"):
            await inbound.run(CONTEXT, queue.pool, maildir=tmp_path, mbox=tmp_path)

    async def test_each_once(self, queue: Queue, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        item = await sent(queue)
        fill(folder, {"new/1": returned(item), "new/2": b"no mail", "cur/3:2,R": returned(item, "arf_abuse"),
                      "cur/4:2,S": returned(item, "postfix_delivered"), "new/.hidden": b"x"})  # fmt: skip
        assert EX_OK == await inbound.run(CONTEXT, queue.pool, maildir=folder, mbox=None)
        assert "3 mails: 2 reports, 2 of them new; 1 mails could not be read." in capsys.readouterr().out
        assert ["1:2,S", "2:2,FS", "3:2,RS", "4:2,S"] == names(folder / "cur")
        assert [".hidden"] == names(folder / "new")
        assert ["created", "sent!", "bounced", "complained"] == await queue.told(item)
        assert EX_OK == await inbound.run(CONTEXT, queue.pool, maildir=folder, mbox=None)
        assert "0 mails" in capsys.readouterr().out

    async def test_a_run_that_was_cut_goes_on(
        self, queue: Queue, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        items = [await sent(queue, f"ann+{number}@example.org") for number in range(3)]
        fill(folder, {f"new/{place}": returned(item) for place, item in enumerate(items)})
        take, calls = service.take_mail, iter(range(9))

        async def failing(*arguments: Any, **named: Any) -> int:
            if next(calls) == 1:
                raise errors.Unavailable("The database is away.")
            return await take(*arguments, **named)

        monkeypatch.setattr(service, "take_mail", failing)
        assert EX_TEMPFAIL == await inbound.run(CONTEXT, queue.pool, maildir=folder, mbox=None)
        assert (["0:2,S"], ["1", "2"]) == (names(folder / "cur"), names(folder / "new"))
        assert EX_OK == await inbound.run(CONTEXT, queue.pool, maildir=folder, mbox=None)
        assert [] == names(folder / "new")
        told = await queue.fetch("select subject_id from event where type = 'queue_item.bounced'")
        assert {item.item_id for item in items} == {row["subject_id"] for row in told}


class TestMbox:
    async def test_no_mbox(self, queue: Queue, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="no mbox"):
            await inbound.run(CONTEXT, queue.pool, maildir=None, mbox=tmp_path / "none")

    async def test_each_once(self, queue: Queue, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        item = await sent(queue)
        file = tmp_path / "box"
        pack(file, [returned(item), returned(item, "vacation"), returned(item, "arf_abuse")])
        assert EX_OK == await inbound.run(CONTEXT, queue.pool, maildir=None, mbox=file)
        assert "3 mails: 2 reports, 2 of them new" in capsys.readouterr().out
        assert EX_OK == await inbound.run(CONTEXT, queue.pool, maildir=None, mbox=file)
        assert "0 mails" in capsys.readouterr().out
        assert ["created", "sent!", "bounced", "complained"] == await queue.told(item)
        assert ["complaint"] == await reasons(queue)

    async def test_another_program_has_it(self, queue: Queue, tmp_path: Path) -> None:
        file = tmp_path / "box"
        pack(file, [b"Subject: x\n\nx"])
        other = mailbox.mbox(file)
        other.lock()
        with pytest.raises(CommandError, match="in use"):
            await inbound.run(CONTEXT, queue.pool, maildir=None, mbox=file)
        other.unlock()
        other.close()


def fill(folder: Path, contents: dict[str, bytes]) -> None:
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def pack(file: Path, contents: list[bytes]) -> None:
    box = mailbox.mbox(file)
    for content in contents:
        box.add(content)
    box.close()
