"""Mails that come back, as real hosts write them, and what each says."""

import base64
import time
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from afterword.core.messaging import reply_text
from afterword.kit.transport.mime import Report, Unreadable
from afterword.sending.channels import bounces
from afterword.sending.channels.bounces import LINES_MAX, MAIL_BYTES_MAX, PARTS_MAX

FOLDER: Final = Path(__file__).parent / "bounces"
SECRET: Final = b"k" * 32
ITEM: Final = "0QmCkLh2XnT7vRz9YbWd4e"
ANN: Final = "ann@example.org"

MANY_PARTS: Final = b"Content-Type: multipart/mixed; boundary=a\n" * (PARTS_MAX + 1)

TABLES: Final = tomllib.loads(FOLDER.with_suffix(".toml").read_text())
SAYS, UNPROVEN, NOTHING = TABLES["says"], TABLES["unproven"], TABLES["nothing"]


OURS: Final = f"""Return-Path: <ask@shop.example>
From: "The Shop" <ask@shop.example>
To: {ANN}
Subject: Was your parcel delayed?
Date: Sat, 21 Nov 2026 10:00:00 +0000
Message-ID: <{ITEM}@shop.example>
X-Afterword-Item: {reply_text.item_proof(ITEM, SECRET)}
MIME-Version: 1.0
Content-Type: text/plain

Hello Ann
"""
TEXT: Final = "Content-Type: text/plain; charset=utf-8\n\n"


def mail(*parts: str, sender: str = "Mail Delivery System <MAILER-DAEMON@mx.shop.example>", extra: str = "") -> bytes:
    """A mail of one part, whose header begins it, or of several."""
    head = f"From: {sender}\nTo: ask@shop.example\nDate: Sat, 21 Nov 2026 10:05:00 +0000\n{extra}MIME-Version: 1.0\n"
    if len(parts) == 1:
        return f"{head}{parts[0]}".encode()
    return (
        head + 'Content-Type: multipart/mixed; boundary="b"\n\n--b\n' + "\n--b\n".join(parts) + "\n--b--\n"
    ).encode()


def form(fields: str, text: str = "Sorry.", kind: str = "message/delivery-status") -> bytes:
    return mail(
        f"{TEXT}{text}\n",
        f"Content-Type: {kind}\nContent-Transfer-Encoding: 8bit\n\nReporting-MTA: dns; mx\n\n{fields}\n",
        f"Content-Type: message/rfc822\n\n{OURS}",
    )


FINAL: Final = f"Action: failed\nFinal-Recipient: rfc822; {ANN}\n"
UTF8: Final = "jürgen@example.org"
MADE: Final[dict[str, tuple[bytes, bool, str, str | None]]] = {  # mail, hard, code, recipient
    "another final recipient": (
        form(f"{FINAL.replace(ANN, 'gone@shop.example')}Original-Recipient: rfc822;{ANN}\nStatus: 5.1.1"),
        *(False, "5.1.1", ANN),
    ),
    "the same one in other letters": (
        form(f"{FINAL.replace(ANN, 'ann@EXAMPLE.org')}Original-Recipient: rfc822;{ANN}\nStatus: 5.1.1"),
        *(True, "5.1.1", ANN),
    ),
    "a rate under 5.1.1": (
        form(f"{FINAL}Status: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 too many recipients this hour"),
        *(False, "5.1.1", ANN),
    ),
    "another code of the host": (
        form(f"{FINAL}Status: 5.1.1\nDiagnostic-Code: smtp; 552 5.2.2 Over quota"),
        *(False, "5.2.2", ANN),
    ),
    "a blocklist, with its link": (
        form(f"{FINAL}Status: 5.1.3\nDiagnostic-Code: smtp; 553 https://lists.example/query?ip=192.0.2.1"),
        *(False, "5.1.3", ANN),
    ),
    "no such domain": (
        form(f"{FINAL}Status: 5.4.4\nDiagnostic-Code: X; error for name=example.org type=A: Host not found"),
        *(True, "5.4.4", ANN),
    ),
    "UTF-8": (
        form(
            f"{FINAL.replace(f'rfc822; {ANN}', f'utf-8; {UTF8}')}Status: 5.1.1", kind="message/global-delivery-status"
        ),
        *(True, "5.1.1", UTF8),
    ),
    "UTF-8 in ASCII": (
        form(f"{FINAL.replace(ANN, UTF8).replace('rfc822', 'utf-8').replace('ü', chr(92) + 'x{FC}')}Status: 5.1.1"),
        *(True, "5.1.1", UTF8),
    ),
    "UTF-8 quoted": (
        mail(
            f"{TEXT}{UTF8}: 550 5.1.1 User unknown\n",
            f"Content-Type: message/global-headers\nContent-Transfer-Encoding: base64\n\n"
            f"{base64.encodebytes(OURS.replace(ANN, UTF8).encode()).decode()}",
        ),
        *(True, "5.1.1", UTF8),
    ),
    "the code in the text": (
        form(f"{FINAL}Status: 5.0.0", f"Hi!\n\n{ANN}: 550 5.1.1 <{ANN}>: User unknown"),
        *(True, "5.1.1", ANN),
    ),
    "words after the whole message": (
        form(
            f"{FINAL}Status: 5.0.0\nDiagnostic-Code: smtp; 550 User unknown",
            f"<{ANN}>: host mx said: 550\n    User unknown (in reply to end of DATA command)",
        ),
        *(False, "5.0.0", ANN),
    ),
    "blanks before colons": (form("Action : failed\nStatus : 5.1.1\nFinal-Recipient : " + ANN), True, "5.1.1", ANN),
    "unfolded": (
        form(f"Diagnostic-Code: smtp; 550-5.1.1 Unknown.\n550 5.1.1 lab\nStatus: 5.1.1\n{FINAL}"),
        *(True, "5.1.1", ANN),
    ),
    "expired": (form(f"{FINAL.replace('failed', 'expired')}Status: 4.4.7"), False, "4.4.7", ANN),
    "no action of the standard": (form(f"{FINAL.replace('failed', 'failure')}Status: 5.2.2"), False, "5.2.2", ANN),
    "a final recipient that is no address": (
        form(f"{FINAL.replace(ANN, '|/usr/bin/sort')}Status: 5.1.1"),
        *(False, "5.1.1", None),
    ),
    "an address without a domain": (form(f"{FINAL.replace(ANN, 'ann@mx')}Status: 5.1.1"), False, "5.1.1", "ann@mx"),
    "a torn action": (form(f"{FINAL[1:]}Status: 5.3.0"), False, "5.3.0", ANN),
    "an empty report": (form("X-Note: none", f"Not delivered\n\n{ANN}: 550 5.1.1 Unknown"), True, "5.1.1", ANN),
    "a report in the text": (
        mail(f"{TEXT}Failed:\n{ANN}\n\n{FINAL}Status: 5.1.1\n\n{OURS}", sender="robot@mx.example"),
        *(True, "5.1.1", ANN),
    ),
    "words alone": (
        mail(f"{TEXT}Error delivering to <{ANN}>:\n\nmx did not like our RCPT TO:\n550 5.1.1 No.\n\n{OURS}"),
        *(True, "5.1.1", ANN),
    ),
    "no address in the text": (mail(f"{TEXT}550 5.1.1 User unknown\n\n{OURS}"), True, "5.1.1", ANN),
    "HTML alone": (
        mail(f"Content-Type: text/html\n\n<p>Failed:<br>{ANN}<br>550 5.1.1 User unknown</p><pre>\n{OURS}</pre>\n"),
        *(True, "5.1.1", ANN),
    ),
    "a broken subject": (
        mail(f"{TEXT}550 5.1.1 User unknown\n\n{OURS}", extra="Subject: =?utf-8?b?a?=\n"),
        *(True, "5.1.1", ANN),
    ),
    "no code": (mail(f"{TEXT}Something failed.\n\n{OURS}"), False, "", ANN),
    "a proof alone": (mail(f"{TEXT}Lost.\n\n{OURS.partition('X-')[1] + OURS.partition('X-')[2]}"), False, "", None),
    "a program's mail": (mail(f"{TEXT}Loop found.\n\n{OURS}", sender="list-admin@x.example"), False, "", ANN),
    "expanded from ours": (
        mail(f"{TEXT}  gone@x.example\n    (generated from {ANN})\n    550 5.1.1 Unknown\n\n{OURS}"),
        *(True, "5.1.1", "gone@x.example"),  # which receipts soften: it is not the item's address
    ),
    "a relay that does not know us": (
        mail(f"{TEXT}{ANN}: 550 5.1.1 Sender address rejected: user unknown\n\n{OURS}"),
        *(False, "5.1.1", ANN),
    ),
    "headers beside a text": (
        mail(f"{TEXT}{ANN}: 550 5.1.1 Unknown\n", OURS),
        *(True, "5.1.1", ANN),
    ),
    "a boundary that is nowhere": (
        form(f"{FINAL}Status: 5.1.1").replace(b'boundary="b"', b'boundary="c"'),
        *(True, "5.1.1", ANN),
    ),
}
OTHERS: Final = {  # why: mail
    "automatic reply": mail(TEXT + "Away.", sender=ANN, extra="Subject: Auto reply: Hi\nX-Apple-Action: VACATION\n"),
    "An automatic reply": mail(f"{TEXT}Away.\n\n{OURS}", sender=ANN, extra="Auto-Submitted: auto-replied\n"),
    "a person's mail": mail(TEXT + "Look.\n", f"Content-Type: message/rfc822\n\n{OURS}", sender=ANN),
    "No report: a person's mail": mail(
        TEXT + "Your parcel for ben@example.org was not delivered.\n",
        f"Content-Type: message/rfc822\n\n{OURS}",
        sender=ANN,
    ),
    "No report: a person": mail(TEXT + "Not delivered to ben@example.org", sender=ANN, extra="Subject: Undelivered\n"),
    "under way": mail(f"{TEXT}{ANN}: 450 4.2.2 Full\nYou do not need to resend your message.\n\n{OURS}"),
    "that something is": form(f"{FINAL.replace('failed', 'deferred')}Status: 4.2.2"),
    "still under way": form(f"{FINAL.replace('failed', 'delayed (since noon)')}Status: 4.2.2"),
}


SECONDS_MAX: Final = 5  # for a megabyte, on a machine under load; the square of the length took minutes
HOST: Final = b"From: MAILER-DAEMON@example.org\nSubject: Undelivered\n"
NESTED: Final = b"".join(
    b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (depth, depth) for depth in range(PARTS_MAX - 1)
)
RUN: Final = b'a="' + b";" * 500_000 + b"\n"
FORM: Final = b"Content-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n"
SLOW: Final = {
    "a parameter": b"Content-Type: multipart/report; boundary=b; " + RUN + b"\n--b--\n",
    "a folded parameter": b"Content-Type: multipart/report; boundary=b; " + RUN.replace(b";", b";\n ") + b"\n--b--\n",
    "a part's parameter": b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: a/b; " + RUN + b"\n--b--\n",
    "an encoded parameter": FORM + base64.encodebytes(b"Reporting-MTA: a\n\nContent-Type: a/b; " + RUN),
    "addresses": HOST + b"\n" + b"a@b a@" * 160_000,
    "addresses on lines": HOST + b"\n" + b"a@b.example: 550\n" * 40_000,
    "words": HOST + b"\n" + b"user unknown host " * 50_000,
    "fields": FORM.replace(b"base64", b"8bit") + b"Final-Recipient: rfc822; a@b.example\n" * 25_000,
    "many parts": NESTED,
    "many parts, and lines": NESTED + b"\n" * LINES_MAX,
    "lines": HOST + b"\n" * (4 * LINES_MAX),
    "recipients": HOST + b"X-Failed-Recipients: " + b"a@b.example," * 60_000 + b"\n\n",
    "a line": HOST + b"\n" + b"," * 1_000_000,
    "an encoded line": HOST + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(b"," * 700_000),
}


def sample(name: str) -> bytes:
    return (FOLDER / f"{name}.eml").read_bytes()


def read(content: bytes) -> list[Report]:
    return list(bounces.read(content, secret=SECRET).reports)


def test_every_sample_is_asked_for() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {*SAYS, *UNPROVEN, *NOTHING}


@pytest.mark.parametrize("name", SAYS)
def test_what_it_says(name: str) -> None:
    [report] = read(sample(name))
    assert SAYS[name] == [report.kind, report.is_hard, report.code, report.recipient or ""]
    assert (ITEM, True) == (report.item_id, report.is_proven)
    assert ANN not in report.text  # masked


@pytest.mark.parametrize("name", UNPROVEN)
def test_what_anybody_could_have_written(name: str) -> None:
    [report] = read(sample(name))
    assert (UNPROVEN[name], False) == (report.item_id or "", report.is_proven)


@pytest.mark.parametrize("name", NOTHING)
def test_what_is_no_report(name: str) -> None:
    found = bounces.read(sample(name), secret=SECRET)
    assert () == tuple(found.reports)
    assert NOTHING[name] in found.why


@pytest.mark.parametrize("name", SAYS)
def test_line_ends_and_the_line_of_a_box_make_no_difference(name: str) -> None:
    unix = sample(name).replace(b"\r\n", b"\n")
    for content in (unix, unix.replace(b"\n", b"\r\n"), b"From MAILER-DAEMON Sat Nov 21 10:05:00 2026\n" + unix):
        assert read(sample(name)) == read(content)


@pytest.mark.parametrize("name", MADE)
def test_a_proven_bounce_is_never_dropped(name: str) -> None:
    content, is_hard, code, recipient = MADE[name]
    for each in (content, content.replace(b"\n", b"\r"), b"From x Sat\r" + content.replace(b"\n", b"\r")):
        [report] = read(each)
        assert ("bounced", is_hard, code, recipient) == (report.kind, report.is_hard, report.code, report.recipient)
        assert (ITEM, True) == (report.item_id, report.is_proven)


@pytest.mark.parametrize("why", OTHERS)
def test_what_is_no_bounce(why: str) -> None:
    found = bounces.read(OTHERS[why], secret=SECRET)
    assert () == tuple(found.reports)
    assert why in found.why


def test_a_complaint_of_hotmail() -> None:
    attached = f"Content-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: {ANN}\n{OURS}"
    [report] = read(mail(TEXT, attached, sender="staff@hotmail.example"))
    assert ("complained", ANN, "abuse", True) == (report.kind, report.recipient, report.code, report.is_proven)
    assert [] == read(mail(f"X-HmXmrOriginalRecipient: {ANN}\n{TEXT}Thanks.", sender=ANN))


def test_an_answer_about_a_failed_delivery_is_an_answer() -> None:
    reference = f"<{reply_text.reply_proof(ITEM, SECRET)}@shop.example>"
    extra = f"Subject: Delivery failed\nMessage-ID: <1@example.org>\nIn-Reply-To: {reference}\n"
    words = "My parcel was not delivered. Your 550 5.1.1 says: address unknown."
    found = bounces.read(mail(TEXT + words, sender=ANN, extra=extra), secret=SECRET)
    assert found.answer is not None
    assert words == found.answer.body


def test_an_address_in_a_header_is_read_as_utf8() -> None:
    content = mail(f"{TEXT}It failed: 550 5.1.1 User unknown\n", extra=f"X-Failed-Recipients: {UTF8}\n")
    assert [UTF8] == [report.recipient for report in read(content)]


def test_the_reason_stays_readable() -> None:
    [report] = read(MADE["a blocklist, with its link"][0])
    assert "553 https://lists.example/query?ip=192.0.2.1" == report.text


def test_another_secret_proves_nothing() -> None:
    [report] = bounces.read(sample("postfix_unknown_user"), secret=b"x" * 32).reports
    assert not report.is_proven


class TestUnreadable:
    @pytest.mark.parametrize(
        "content",
        [b"", b"\n", b"hi", b"\x00\xff" * 100, b"x" * (MAIL_BYTES_MAX + 1), MANY_PARTS],
        ids=["empty", "a line", "no header", "bytes", "too large", "too many parts"],
    )
    def test_is_refused_in_a_sentence(self, content: bytes) -> None:
        with pytest.raises(Unreadable, match=r"\.$"):
            bounces.read(content, secret=SECRET)

    @pytest.mark.parametrize("name", ["postfix_unknown_user", "arf_abuse", "qmail", "exchange_encoded_headers"])
    def test_every_cut_is_read_or_refused(self, name: str) -> None:
        content = sample(name)
        for length in range(0, len(content), 41):
            with suppress(Unreadable):
                assert all(isinstance(report, Report) for report in read(content[:length]))

    @pytest.mark.parametrize("name", ["postfix_unknown_user", "gmail_unknown_user", "arf_abuse"])
    def test_every_flipped_byte_is_read_or_refused(self, name: str) -> None:
        content = sample(name)
        for place in range(0, len(content), 61):
            for byte in (0, 10, 0x3D, 0xFF):
                with suppress(Unreadable):
                    read(content[:place] + bytes([byte]) + content[place + 1 :])

    @pytest.mark.parametrize("name", SLOW)
    def test_a_megabyte_is_read_in_linear_time(self, name: str) -> None:
        started = time.process_time()
        with suppress(Unreadable):
            assert len(read(SLOW[name])) <= bounces.RECIPIENTS_MAX
        assert SECONDS_MAX > time.process_time() - started
