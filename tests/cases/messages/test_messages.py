"""Replies to customers: people who cannot be written to, each reply once, its mail, and the answers."""

from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec import structs
from msgspec.structs import replace

from afterword.cases import messages
from afterword.cases.messages import Feedback, Message, compose
from afterword.core.messaging.reply_text import replied_to, reply_proof
from afterword.core.questionnaires.visuals import DEFAULT, FINGERPRINT_CHARACTERS, Theme
from afterword.core.wire.site import Site
from afterword.kit.texts import LANGUAGES
from afterword.kit.transport.base import Message as Mail
from afterword.listening.responses import rows
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


async def test_suppressed(desk: Desk, path: str) -> None:
    """A person who unsubscribed from questionnaires may be answered; one who complained about mails is left alone."""
    await desk.api.ok("POST", "/suppression", {"channel_id": 1, "identifier": "ann@example.com", "reason": "blocked"})
    for reason, status in (("blocked", 409), ("complaint", 409), ("unsubscribed", 201)):
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


async def test_owner_of_an_answered_case(desk: Desk, path: str) -> None:
    """The one whom the rule of the case names now, where its owner has left; nobody, where that one has left too."""
    ann, ben = [str((await desk.person(name)).user_id) for name in ("ann", "ben")]
    rule = f"/alert/{(await desk.api.get(path))['alert_id']}"
    sent = await desk.api.ok("POST", f"{path}/message", BODY)
    await desk.api.ok("PATCH", path, {"assigned_user_id": ann})
    await desk.api.ok("PATCH", rule, {"assigned_user_id": ben})
    owners = []
    for number, gone in enumerate((None, ann, ben)):
        await desk.execute("update organization_user set active = false where user_id = $1", gone)
        assert await answer(desk, sent["message_id"], key=f"<{number}@example.com>", text=f"Hello {number}")
        owners.append((await desk.api.get(path))["assigned_user_id"])
    assert [ann, ben, None] == owners
    assert "assigned" in await desk.kinds()


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


async def test_files_of_an_answer(desk: Desk, path: str) -> None:
    """Their names stand below the words, so that nobody answers as if there had been none."""
    sent = await desk.api.ok("POST", f"{path}/message", BODY)
    for key, text in (("<1@a>", "See the photo."), ("<2@a>", "x" * 20_000), ("<3@a>", "\N{PAPERCLIP} broken.png")):
        files = ("\N{PAPERCLIP} broken.png",)
        found = Answer(sent["message_id"], key, "ann@example.com", "Re: We are sorry", text, files)
        assert await desk.run(messages.receive, answer=found, now=await desk.now())
    entries = [one for one in (await desk.api.get(f"{path}/history"))["results"] if one["kind"] == "message_received"]
    assert ["See the photo.\n\N{PAPERCLIP} broken.png", "\N{PAPERCLIP} broken.png"] == [
        entries[0]["body"],
        entries[2]["body"],
    ]
    assert entries[1]["body"].endswith("xx\n\N{PAPERCLIP} broken.png")
    assert [False, True, False] == [one["changes"]["is_cut"] for one in entries]


async def test_sender_of_an_answer(desk: Desk, path: str) -> None:
    sent = await desk.api.ok("POST", f"{path}/message", BODY)
    senders = {"ann@example.com": False, "ANN@Example.com": False, "ann2@example.com": True, "ben@example.com": True}
    for sender, is_other in senders.items():
        assert await answer(desk, sent["message_id"], key=f"<{sender}>", sender=sender)
        found = await desk.value("select other_sender from alert_message where key = $1", f"<{sender}>")
        assert is_other == found, sender


NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SITE = Site("https://ask.example", b"k" * 32)
REPLY = Message(
    organization_id="o", message_id="m" * 22, alert_instance_id="c", incoming=False, address="ann@example.org",
    subject="Your\nparcel", body="Sorry.\n\nIt is being sent.", locale="en", key=None, state="waiting",
    created_time=NOW,
)  # fmt: skip


SCORED = Feedback(score=2, score_max=10, comment="Late.\nAnd <b>wet</b>.")
SILENT = Feedback(score=None, score_max=None, comment=None)
LOGO = f"/asset/0QmCkLh2XnT7vRz9YbWd4e/{'a' * FINGERPRINT_CHARACTERS}-480x56.png"


def settings_of(sender: str | None, domains: tuple[str, ...] = (), *, theme: Theme = DEFAULT) -> LaneSettings:
    pipeline = SimpleNamespace(sender_address=sender, sender_name="Shop", reply_to=None)
    fingerprint = SimpleNamespace(sender_domains=domains)
    settings = SimpleNamespace(pipeline=pipeline, fingerprint=fingerprint, organization_name="Demo & Co", theme=theme)
    return cast("LaneSettings", settings)


def composed(
    *,
    feedback: Feedback = SILENT,
    answered: Sequence[tuple[str, str | None]] = (),
    locale: str = "en",
    settings: LaneSettings | None = None,
    mailbox: str | None = None,
) -> Mail:
    return compose(
        structs.replace(REPLY, locale=locale),
        settings=settings or settings_of(None),
        feedback=feedback,
        mailbox=mailbox,
        sender="no-reply@ask.example",
        answered=answered,
        site=SITE,
        now=NOW,
    )


def test_a_sender_of_somebody_else() -> None:
    with pytest.raises(SenderNotAllowed):
        composed(settings=settings_of("shop@other.example", ("shop.example",)))


def test_mail() -> None:
    mail = composed()
    assert ("no-reply@ask.example", "Shop", "ann@example.org") == (mail.sender, mail.sender_name, mail.recipient)
    assert REPLY.message_id == replied_to(mail.item_id, SITE.secret)
    assert "\n" not in (mail.subject or "")
    assert REPLY.body == mail.text
    assert ">It is being sent.</p>" in (mail.html or "")
    assert mail.by_person
    assert mail.headers.keys().isdisjoint(("In-Reply-To", "References"))


def test_an_answer_names_the_chain() -> None:
    """Mail programs put a mail under the one before it, of which each reader may have deleted some."""
    ours = f"<{reply_proof(REPLY.message_id, SITE.secret)}@ask.example>"
    mail = composed(answered=[("1", "<a@example.org>"), (REPLY.message_id, None), ("2", "<b@example.org>")])
    assert "<b@example.org>" == mail.headers["In-Reply-To"]
    assert f"<a@example.org> {ours} <b@example.org>" == mail.headers["References"]


def test_a_long_chain_keeps_its_newest_mails_whole() -> None:
    ids = [f"<{number}{'r' * 300}@example.org>" for number in range(9)]
    mail = composed(answered=[(str(number), each) for number, each in enumerate(ids)])
    assert " ".join(ids[-6:]) == mail.headers["References"]


def test_answers_go_to_the_mailbox() -> None:
    assert composed().reply_to is None
    assert "answers@shop.example" == composed(mailbox="answers@shop.example").reply_to


def test_mail_quotes_the_feedback() -> None:
    mail = composed(feedback=SCORED)
    assert f"{REPLY.body}\n\n> Your feedback: 2 / 10\n> Late.\n> And <b>wet</b>." == mail.text
    assert "And &lt;b&gt;wet&lt;" in (mail.html or "")
    assert "Your feedback" not in (composed().html or "")
    assert "> Your feedback\n> Late." in (composed(feedback=replace(SCORED, score=None, comment="Late.")).text or "")


@pytest.mark.parametrize("locale", LANGUAGES)
def test_mail_in_each_language(locale: str) -> None:
    mail = composed(feedback=SCORED, locale=locale)
    assert (locale == "en") == ("Your feedback" in (mail.text or ""))
    assert ('dir="rtl"' in (mail.html or "")) == (locale in {"ar", "he"})


def test_mail_has_the_look_of_the_organization() -> None:
    plain = composed().html or ""
    assert "<img" not in plain
    assert ">Demo &amp; Co</div>" in plain
    mail = composed(settings=settings_of(None, theme=Theme(color_primary="#aa0044", logo=LOGO))).html or ""
    assert 'width="240" height="28" alt="Demo &amp; Co"' in mail
    assert f'src="https://ask.example{LOGO}"' in mail.replace("&#x2f;", "/")


async def test_the_quoted_feedback_is_no_word_of_the_answer(desk: Desk, path: str) -> None:
    await desk.run(rows.follow, now=await desk.now())
    await desk.execute("update response set comment = 'The parcel came a whole week too late.'")
    sent = await desk.api.ok("POST", f"{path}/message", BODY)
    case_id = sent["alert_instance_id"]
    organization_id = desk.house.organization_id
    feedback = await desk.run(messages.get_feedback, organization_id=organization_id, alert_instance_id=case_id)
    locale = await desk.value("select locale from alert_message")
    quoted = "\n".join((BODY["body"], "", *feedback.lines(locale)))
    text = f"Thanks.\n\nOn 5 Jan 2026 Shop <shop@x.example> wrote:\n{quoted}"
    assert await answer(desk, sent["message_id"], text=text)
    assert "Thanks." == await desk.value("select body from alert_message where incoming")
