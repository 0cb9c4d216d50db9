"""Replies to customers: people who cannot be written to, each reply once, its mail, and the answers."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest

from afterword.cases import messages
from afterword.cases.messages import Message, compose
from afterword.core.messaging.reply_text import replied_to
from afterword.core.wire.site import Site
from afterword.sending.channels.bounces import Answer
from afterword.sending.messages.composing import SenderNotAllowed
from afterword.sending.queue.lanes import LaneSettings
from tests.cases.conftest import Desk

BODY = {"subject": "We are sorry", "body": "Dear Ann,\n\na new parcel is on its way."}


@pytest.fixture
async def path(desk: Desk) -> str:
    """A case of Ann, who gave her address."""
    return await case_of_ann(desk)


async def case_of_ann(desk: Desk) -> str:
    ann = await desk.api.ok(
        "POST",
        f"/q/questionnaire/{desk.house.questionnaire_id}/instance",
        {"metadata": {"responder": {"email": "ann@example.com", "name": "Ann"}}},
    )
    await desk.alert(due_hours=5)
    await desk.raised(responder_id=ann["responder_id"])
    return f"/alert/instance/{(await desk.cases())[-1]['alert_instance_id']}"


async def answer(
    desk: Desk,
    message_id: str,
    *,
    key: str = "<1@example.com>",
    sender: str = "ann@example.com",
    text: str = "Thank you.",
) -> bool:
    found = Answer(message_id=message_id, key=key, sender=sender, subject="Re: We are sorry", text=text)
    return await desk.run(messages.receive, answer=found, now=await desk.now())


async def test_refused(desk: Desk) -> None:
    nobody = await desk.case(title="Anonymous")
    place = f"/alert/instance/{nobody['alert_instance_id']}/message"
    assert (409, "no_address") == await desk.api.refused("POST", place, BODY)
    assert 0 == await desk.value("select count(*) from alert_message")


@pytest.mark.parametrize(("reason", "status"), [("blocked", 409), ("complaint", 409), ("unsubscribed", 201)])
async def test_suppressed(desk: Desk, path: str, reason: str, status: int) -> None:
    """A person who unsubscribed from questionnaires may be answered; one who complained about mails is left alone."""
    await desk.api.ok("POST", "/suppression", {"channel_id": 1, "identifier": "ann@example.com", "reason": "blocked"})
    await desk.execute("update suppression set reason = $1", reason)
    assert status == (await desk.api.send("POST", f"{path}/message", BODY)).status_code


async def test_no_pipeline(desk: Desk, path: str) -> None:
    await desk.execute("update pipeline set deleted_time = now(), slug = null")
    assert (409, "no_sender") == await desk.api.refused("POST", f"{path}/message", BODY)


async def test_send_wait_and_answer(desk: Desk, path: str) -> None:
    """The reply stops the clock; the answer lets it go on, is in the history, and is told, once."""
    sent = await desk.api.ok("POST", f"{path}/message", {**BODY, "waiting": True})
    assert ("waiting", "ann@example.com", False) == (sent["state"], sent["address"], sent["incoming"])
    assert (await desk.api.get(path))["waiting"]
    assert await answer(desk, sent["message_id"])
    assert not await answer(desk, sent["message_id"])
    assert not await answer(desk, "0" * 22)
    assert not (await desk.api.get(path))["waiting"]
    entries = (await desk.api.get(f"{path}/history"))["results"]
    assert ["opened", "message_sent", "changed", "message_received", "changed"] == [one["kind"] for one in entries]
    assert "Thank you." == entries[3]["body"]
    assert 1 == (await desk.kinds()).count("answered")


async def test_answer_opens_again(desk: Desk, path: str) -> None:
    sent = await desk.api.ok("POST", f"{path}/message", {**BODY, "status_id": 3, "cause": "Late"})
    closed = await desk.api.get(path)
    assert ("Late", True) == (closed["cause"], closed["resolved_time"] is not None)
    assert await answer(desk, sent["message_id"])
    again = await desk.api.get(path)
    assert (2, None) == (again["status_id"], again["resolved_time"])


async def test_own_words_of_an_answer(desk: Desk, path: str) -> None:
    """Our text goes wherever it stands; the whole mail is kept where it has more, and is in the person's copy."""
    sent = await desk.api.ok("POST", f"{path}/message", BODY)
    quoted = f"Von: Shop\nGesendet: heute\n\n{BODY['body']}"
    whole = f"It came.\n\n{quoted}\n\nThe lid is missing."
    again = f"And now?\n\n{quoted}\n\nIt came.\n\nThe lid is missing."
    assert await answer(desk, sent["message_id"], text=whole)
    assert await answer(desk, sent["message_id"], key="<2@example.com>", text=again)
    assert await answer(desk, sent["message_id"], key="<3@example.com>", text="Thank you.")
    entries = [one for one in (await desk.api.get(f"{path}/history"))["results"] if one["kind"] == "message_received"]
    own = [(one["body"], one["changes"]["is_cut"]) for one in entries]
    assert [("It came.\n\nThe lid is missing.", True), ("And now?", True), ("Thank you.", False)] == own
    responder_id = (await desk.api.get(path))["responder_id"]
    copy = await desk.api.get(f"/q/responder/{responder_id}/subject")
    assert [None, whole, again, None] == [one["whole"] for one in copy["alert_messages"]]


@pytest.mark.parametrize(
    ("sender", "is_other"),
    [("ann@example.com", False), ("ANN@Example.com", False), ("ann2@example.com", True), ("ben@example.com", True)],
)
async def test_sender_of_an_answer(desk: Desk, path: str, sender: str, *, is_other: bool) -> None:
    sent = await desk.api.ok("POST", f"{path}/message", BODY)
    assert await answer(desk, sent["message_id"], sender=sender)
    assert is_other == await desk.value("select other_sender from alert_message where incoming")


NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SITE = Site("https://ask.example", b"k" * 32)
REPLY = Message(
    organization_id="o", message_id="m" * 22, alert_instance_id="c", incoming=False, address="ann@example.org",
    subject="Your\nparcel", body="Sorry.\n\nIt is being sent.", locale="en", key=None, state="waiting",
    created_time=NOW,
)  # fmt: skip


def settings_of(sender: str | None, domains: tuple[str, ...] = ()) -> LaneSettings:
    pipeline = SimpleNamespace(sender_address=sender, sender_name="Shop", reply_to=None)
    fingerprint = SimpleNamespace(sender_domains=domains)
    settings = SimpleNamespace(pipeline=pipeline, fingerprint=fingerprint, organization_name="Demo")
    return cast("LaneSettings", settings)


def test_a_sender_of_somebody_else() -> None:
    settings = settings_of("shop@other.example", ("shop.example",))
    with pytest.raises(SenderNotAllowed):
        compose(REPLY, settings=settings, sender="no-reply@ask.example", answered=None, site=SITE, now=NOW)


@pytest.mark.parametrize("answered", [None, "<a@example.org>"])
def test_mail(answered: str | None) -> None:
    mail = compose(
        REPLY, settings=settings_of(None), sender="no-reply@ask.example", answered=answered, site=SITE, now=NOW
    )
    assert ("no-reply@ask.example", "Shop", "ann@example.org") == (mail.sender, mail.sender_name, mail.recipient)
    assert REPLY.message_id == replied_to(mail.item_id, SITE.secret)
    assert "\n" not in (mail.subject or "")
    assert REPLY.body == mail.text
    assert "<p>It is being sent.</p>" in (mail.html or "").replace("\n", "")
    assert [answered, answered] == [mail.headers.get(name) for name in ("In-Reply-To", "References")]
