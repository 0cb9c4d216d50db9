"""The mailbox of answers: its settings, and its reading from a real server."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from afterword.cases import mailboxes
from afterword.kit.transport import imap
from afterword.kit.transport.imap import Session
from afterword.run.worker.jobs import Mailboxes
from afterword.sending.channels.bounces import MAIL_BYTES_MAX
from tests.cases.conftest import Desk
from tests.cases.mailboxes.conftest import ADDRESS, Post
from tests.dovecot import PASSWORDS, USER

PATH = "/alert/mailbox"
OTHER = b"From: ben@example.com\r\nSubject: An offer\r\nMessage-ID: <9@example.com>\r\n\r\nBuy this.\r\n"
LEASE = timedelta(seconds=mailboxes.LEASE_SECONDS)
MINUTES = timedelta(minutes=2)


class TestSettings:
    async def test_nothing_yet(self, desk: Desk) -> None:
        """By a pipe: the address is the Reply-To, and nobody logs in."""
        found = await desk.api.get(PATH)
        assert (None, None, 993, "INBOX", False) == tuple(
            found[name] for name in ("address", "host", "port", "folder", "has_password")
        )
        assert (409, "not_set_up") == await desk.api.refused("POST", f"{PATH}/check", {})
        found = await desk.api.ok("PATCH", PATH, {"address": "Answers@Shop.example"})
        assert "Answers@shop.example" == found["address"]
        assert [] == await desk.run(mailboxes.claim_due, now=await desk.now() + MINUTES, limit=10)

    async def test_refused(self, desk: Desk) -> None:
        wrong: tuple[tuple[str, dict[str, Any]], ...] = (
            ("/address", {"address": "nobody"}),
            ("/address", {"host": "imap.shop.example", "username": "u", "password": "p"}),
            ("/host", {"host": "10.0.0.1", "username": "u", "password": "p", "address": ADDRESS}),
            ("/username", {"host": "imap.shop.example", "password": "p", "address": ADDRESS}),
            ("/password", {"host": "imap.shop.example", "username": "u", "address": ADDRESS}),
            ("/password", {"password": "two\nlines"}),
            ("/folder", {"folder": "a\r\nb LOGOUT"}),
            ("/port", {"port": 0}),
            ("/security", {"security": "none"}),
        )
        for pointer, changes in wrong:
            response = await desk.api.send("PATCH", PATH, changes)
            assert 422 == response.status_code
            assert pointer in [one["pointer"] for one in response.json()["errors"]], changes
        part = await desk.token(application_ids=[desk.house.application_id])
        assert 403 == (await part.send("PATCH", PATH, {"address": ADDRESS})).status_code

    async def test_the_password_is_asked_for_again(self, post: Post) -> None:
        """Whoever moves the mailbox to a server of their own would learn it else."""
        api = post.desk.api
        assert PASSWORDS[USER].encode() not in await post.desk.value("select sealed_password from alert_mailbox")
        shown = await api.get(PATH)
        assert (True, False) == (shown["has_password"], PASSWORDS[USER] in str(shown))
        for changes in ({"host": "imap.other.example"}, {"port": 994}, {"security": "starttls"}, {"username": "x"}):
            response = await api.send("PATCH", PATH, changes)
            assert "/password" in [one["pointer"] for one in response.json()["errors"]]
        await post.set(folder="Answers")
        await post.set(host=None)
        assert not (await api.get(PATH))["has_password"]
        assert 0 == await post.desk.value("select count(*) from alert_mailbox where sealed_password is not null")


class TestCheck:
    async def test_ok(self, post: Post) -> None:
        post.server.deliver(OTHER)
        found = await mailboxes.check(post.desk.pool, caller=post.desk.house.caller, site=post.site)
        assert (None, 1) == (found.problem, found.mail_count)

    async def test_problem_and_its_end(self, post: Post) -> None:
        """It keeps the time since when; new settings begin anew."""
        await post.set(password="wrong")
        first = await mailboxes.check(post.desk.pool, caller=post.desk.house.caller, site=post.site)
        second = await mailboxes.check(post.desk.pool, caller=post.desk.house.caller, site=post.site)
        assert ("login_refused", True) == (second.problem, first.problem_time == second.problem_time is not None)
        assert "Authentication failed" in (second.server_reply or "")
        assert [] == await post.desk.run(mailboxes.list_problems, now=await post.desk.now(), limit=5)
        late = await post.desk.now() + timedelta(hours=2)
        assert [("demo", "login_refused")] == await post.desk.run(mailboxes.list_problems, now=late, limit=5)
        await post.set(password=PASSWORDS[USER])
        assert (None, None) == ((await post.get()).problem, (await post.get()).problem_time)

    async def test_closed_network_and_another_secret(self, post: Post) -> None:
        found = await mailboxes.check(post.desk.pool, caller=post.desk.house.caller, site=post.desk.house.site)
        assert "blocked" == found.problem
        await post.desk.execute("update alert_mailbox set sealed_password = '\\x01'")
        found = await mailboxes.check(post.desk.pool, caller=post.desk.house.caller, site=post.site)
        assert "password_lost" == found.problem


class TestRead:
    async def test_answer(self, post: Post) -> None:
        """It goes to the case, and is marked as read. A mail about something else stays as it is."""
        post.server.deliver(OTHER)
        post.server.deliver(await post.answer())
        found = await post.read()
        assert ["Thank you."] == await post.taken()
        assert ["", "S"] == post.server.flags()
        assert (None, 2, 1, 0) == (found.problem, found.mail_count, found.answer_count, found.skipped_count)
        assert found.read_time is not None
        assert found.answer_time is not None

    async def test_nothing_twice(self, post: Post) -> None:
        """The server counts anew, so all mails are read again, and those that are known change nothing."""
        post.server.deliver(await post.answer())
        await post.read()
        assert [] == await post.claim()  # it was read just now
        await post.read()
        post.server.deliver(await post.answer("And one more thing."))
        await post.read()
        assert ["Thank you.", "And one more thing."] == await post.taken()
        post.server.reset()
        post.server.deliver(await post.answer("After the move."))
        found = await post.read()
        assert ["Thank you.", "And one more thing.", "After the move."] == await post.taken()
        assert 3 == found.answer_count

    async def test_bounce(self, post: Post) -> None:
        """Reports are marked as read too; one about nothing of the organization changes nothing."""
        post.server.deliver(
            b"From: MAILER-DAEMON@shop.example\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\n"
            b'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n--b\r\n'
            b"Content-Type: text/plain\r\n\r\nNo such user.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n"
            b"Reporting-MTA: dns; shop.example\r\n\r\nFinal-Recipient: rfc822; ann@example.com\r\n"
            b"Action: failed\r\nStatus: 5.1.1\r\n\r\n--b--\r\n"
        )
        found = await post.read()
        assert (["S"], None, 0) == (post.server.flags(), found.problem, found.answer_count)

    async def test_large_mail(self, post: Post) -> None:
        """It is counted, not fetched, and the mails behind it are read."""
        post.server.deliver(OTHER + b"x" * MAIL_BYTES_MAX)
        post.server.deliver(await post.answer())
        found = await post.read()
        assert (1, ["Thank you."]) == (found.skipped_count, await post.taken())

    async def test_a_mail_that_fails(self, post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
        """A fault with one mail is logged and counted; it does not hold up the others."""
        post.server.deliver(OTHER)
        post.server.deliver(await post.answer())
        real = mailboxes.bounces.read

        def broken(content: bytes, *, secret: bytes) -> Any:
            if content == OTHER:
                raise RuntimeError
            return real(content, secret=secret)

        monkeypatch.setattr(mailboxes.bounces, "read", broken)
        found = await post.read()
        assert (1, ["Thank you."], ["", "S"]) == (found.skipped_count, await post.taken(), post.server.flags())

    async def test_automatic_reply(self, post: Post) -> None:
        post.server.deliver(await post.answer("I am away.", more="Auto-Submitted: auto-replied\r\n"))
        await post.read()
        assert ([], [""]) == (await post.taken(), post.server.flags())

    async def test_of_another_organization(self, post: Post) -> None:
        """A mailbox speaks for its own organization alone."""
        post.server.deliver(await post.answer())
        [reading] = await post.claim()
        mail = mailboxes.bounces.read(await post.answer("Mine."), secret=post.site.secret)
        own = {"now": await post.desk.now(), "secret": post.site.secret}
        assert 0 == await post.desk.run(mailboxes.take, mail=mail, organization_id="0" * 22, **own)
        assert 1 == await post.desk.run(mailboxes.take, mail=mail, organization_id=reading.organization_id, **own)

    @pytest.mark.parametrize(
        ("problem", "changes"), [("login_refused", {"password": "wrong"}), ("no_folder", {"folder": "Nowhere"})]
    )
    async def test_problem(self, post: Post, problem: str, changes: dict[str, Any]) -> None:
        """The next try comes later than usual: servers lock accounts. It ends with the first reading that works."""
        post.server.deliver(await post.answer())
        await post.set(**changes)
        found = await post.read(later=timedelta(0))
        assert (problem, None, 0) == (found.problem, found.read_time, found.answer_count)
        assert [] == await post.claim(later=MINUTES)
        await post.set(password=PASSWORDS[USER], folder="INBOX")
        found = await post.read()
        assert (None, ["Thank you."]) == (found.problem, await post.taken())


class TestWorkers:
    async def test_two_workers(self, post: Post) -> None:
        """One of the two reads, and the answer is in the case once."""
        post.server.deliver(await post.answer())
        workers = [Mailboxes(pool=post.desk.pool, site=post.site) for _ in range(2)]
        turns = await asyncio.gather(*(worker.turn() for worker in workers))
        assert 1 == sum(turns)
        for worker in workers:
            await worker.land()
        assert (["Thank you."], 1) == (await post.taken(), (await post.get()).answer_count)

    async def test_one_at_a_time(self, post: Post) -> None:
        assert 1 == len(await post.claim())
        assert [] == await post.claim(later=LEASE - timedelta(seconds=30))
        assert 1 == len(await post.claim(later=LEASE + MINUTES))

    async def test_a_worker_that_was_too_slow(self, post: Post) -> None:
        """Another one has the mailbox meanwhile: what it takes is rolled back, and it settles nothing."""
        post.server.deliver(await post.answer())
        [slow] = await post.claim()
        [_other] = await post.claim(later=LEASE + MINUTES)
        await mailboxes.read(post.desk.pool, reading=slow, site=post.site)
        assert ([], None) == (await post.taken(), (await post.get()).read_time)

    async def test_changed_settings_end_a_reading(self, post: Post) -> None:
        post.server.deliver(await post.answer())
        [reading] = await post.claim()
        await post.set(folder="Another")
        await mailboxes.read(post.desk.pool, reading=reading, site=post.site)
        assert [] == await post.taken()

    async def test_progress_outlasts_a_fault(self, post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
        """A reading that is cut goes on behind the last mail that was taken."""
        for text in ("One.", "Three!"):
            post.server.deliver(await post.answer(text))
        fetched, real = list[int](), Session.mail

        async def cut(self: Session, uid: int, *, most: int) -> bytes:
            fetched.append(uid)
            if len(fetched) == 2:
                raise imap.Failed("no_answer")
            return await real(self, uid, most=most)

        monkeypatch.setattr(Session, "mail", cut)
        assert "no_answer" == (await post.read()).problem
        assert ["One."] == await post.taken()
        found = await post.read(later=timedelta(hours=1))
        assert (["One.", "Three!"], None) == (await post.taken(), found.problem)
        assert [fetched[1]] == fetched[2:]

    async def test_many_mails(self, post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
        """A reading takes a part; the next one follows at once."""
        monkeypatch.setattr(mailboxes, "MAILS_MAX", 2)
        for text in ("One.", "Three!", "Three again."):
            post.server.deliver(await post.answer(text))
        await post.read()
        assert ["One.", "Three!"] == await post.taken()
        await post.read(later=timedelta(seconds=1))
        assert 3 == len(await post.taken())
