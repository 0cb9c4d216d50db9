"""Mails that come back, as real hosts write them, and what each says."""

import base64
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from afterword.channels import bounces
from afterword.channels.bounces import LINES_MAX, MAIL_BYTES_MAX, PARTS_MAX
from afterword.channels.reports import Report, Unreadable

FOLDER: Final = Path(__file__).parent / "bounces"
SECRET: Final = b"k" * 32
ITEM: Final = "0QmCkLh2XnT7vRz9YbWd4e"
ANN: Final = "ann@example.org"

MANY_PARTS: Final = b"Content-Type: multipart/mixed; boundary=a\n" * (PARTS_MAX + 1)

SAYS: Final[dict[str, tuple[str, bool, str, str | None]]] = {  # kind, hard, code, recipient
    "postfix_unknown_user": ("bounced", True, "5.1.1", ANN),
    "postfix_mailbox_full": ("bounced", False, "5.2.2", ANN),
    "postfix_expired": ("bounced", False, "4.4.1", ANN),
    "postfix_delivered": ("delivered", False, "2.1.5", ANN),
    "postfix_no_such_domain": ("bounced", False, "5.4.4", ANN),
    "postfix_two_recipients": ("bounced", True, "5.1.1", ANN),
    "postfix_forwarded": ("bounced", True, "5.1.1", "ann.other@example.net"),
    "postfix_smtputf8": ("bounced", True, "5.1.1", "ann@xn--bcher-kva.example"),
    "gmail_unknown_user": ("bounced", True, "5.1.1", ANN),
    "gmail_over_quota": ("bounced", False, "4.2.2", ANN),
    "gmail_policy": ("bounced", False, "5.7.1", ANN),
    "exchange_unknown_user": ("bounced", True, "5.1.10", ANN),
    "exchange_restricted": ("bounced", False, "5.7.133", ANN),
    "exchange_disabled": ("bounced", True, "5.2.1", ANN),
    "exchange_encoded_headers": ("bounced", True, "5.1.1", ANN),
    "exim_report": ("bounced", True, "5.1.1", ANN),  # its Status says 5.0.0, which says nothing
    "exim_words": ("bounced", True, "5.1.1", ANN),
    "exim_words_no_code": ("bounced", False, "", ANN),
    "qmail": ("bounced", True, "5.1.1", ANN),
    "qmail_own_words": ("bounced", True, "5.1.1", ANN),
    "sendmail": ("bounced", True, "5.1.1", ANN),
    "arf_abuse": ("complained", False, "abuse", ANN),
    "arf_redacted": ("complained", False, "abuse", None),
}
UNPROVEN: Final = {
    "unproven_message_id": ITEM,
    "unproven_wrong_hash": ITEM,
    "unproven_address_alone": None,
    "arf_unproven": ITEM,
}
NOTHING: Final = {
    "postfix_delayed": "under way",
    "exim_warning": "under way",
    "arf_not_spam": "no complaint",
    "vacation": "automatic reply",
    "vacation_german": "automatic reply",
    "read_receipt": "automatic reply",
    "person": "a person's mail",
}


SECONDS_MAX: Final = 5  # for a megabyte, on a machine under load; the square of the length took minutes
HOST: Final = b"From: MAILER-DAEMON@example.org\nSubject: Undelivered\n"
RUN: Final = b'a="' + b";" * 500_000 + b"\n"
FORM: Final = b"Content-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n"
SLOW: Final = {
    "a parameter": b"Content-Type: multipart/report; boundary=b; " + RUN + b"\n--b--\n",
    "a folded parameter": b"Content-Type: multipart/report; boundary=b; " + RUN.replace(b";", b";\n ") + b"\n--b--\n",
    "a part's parameter": b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: a/b; " + RUN + b"\n--b--\n",
    "an encoded parameter": FORM + base64.encodebytes(b"Reporting-MTA: a\n\nContent-Type: a/b; " + RUN),
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
    assert SAYS[name] == (report.kind, report.is_hard, report.code, report.recipient)
    assert (ITEM, True) == (report.item_id, report.is_proven)
    assert ANN not in report.text  # masked


@pytest.mark.parametrize("name", UNPROVEN)
def test_what_anybody_could_have_written(name: str) -> None:
    [report] = read(sample(name))
    assert (UNPROVEN[name], False) == (report.item_id, report.is_proven)


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
        for length in range(0, len(content), 17):
            with suppress(Unreadable):
                assert all(isinstance(report, Report) for report in read(content[:length]))

    @pytest.mark.parametrize("name", ["postfix_unknown_user", "gmail_unknown_user", "arf_abuse"])
    def test_every_flipped_byte_is_read_or_refused(self, name: str) -> None:
        content = sample(name)
        for place in range(0, len(content), 23):
            for byte in (0, 10, 0x3D, 0xFF):
                with suppress(Unreadable):
                    read(content[:place] + bytes([byte]) + content[place + 1 :])

    def test_deep_and_long_ones_end(self) -> None:
        nested = b"".join(
            b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (depth, depth) for depth in range(PARTS_MAX - 1)
        )
        long = b"From: MAILER-DAEMON@example.org\n\n" + b"\n" * (4 * LINES_MAX)
        wide = b"From: MAILER-DAEMON@example.org\nX-Failed-Recipients: " + b"a@b.example," * 60_000 + b"\n\n"
        for content in (nested, nested + b"\n" * LINES_MAX, long, wide):
            with suppress(Unreadable):
                assert len(read(content)) <= bounces.RECIPIENTS_MAX

    @pytest.mark.parametrize("name", SLOW)
    def test_a_megabyte_is_read_in_linear_time(self, name: str) -> None:
        started = time.process_time()
        with suppress(Unreadable):
            assert [] == read(SLOW[name])
        assert SECONDS_MAX > time.process_time() - started
