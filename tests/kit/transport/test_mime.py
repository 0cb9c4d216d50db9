"""The bytes of a mail, parsed back by the standard library: whatever the texts hold, the headers stay ours."""

from collections import Counter
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import SMTP, compat32
from email.utils import parseaddr

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from afterword.core.messaging.addresses import InvalidAddress
from afterword.kit.transport import mime
from afterword.kit.transport.mime import TEXT_CHARACTERS_MAX, worded
from tests.bar import Tell
from tests.sending.channels.conftest import MESSAGE
from tests.sizes import size

HEADERS = [
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "MIME-Version",
    "Auto-Submitted",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "Content-Type",
]
ATTACKS = [
    "a\r\nBcc: eve@example.org",
    "a\nBcc: eve@example.org",
    "a\rBcc: eve@example.org",
    "a\r\n\r\nbody",
    "a\0b",
    "a\u2028Bcc: eve@example.org",
    "a\u2029Bcc: eve@example.org",
    "a\x85Bcc: eve@example.org",
    "a\x0bBcc:\x0ceve@example.org",
    "=?utf-8?q?a=0D=0ABcc:_eve?=",
    "=?utf-8?b?YQ0KQmNjOiBldmU=?=",
    "x" * 5_000,
    "ä" * 5_000,
    "x " * 3_000,
    '"quoted" \\ back',
    "a\ud800b",
    "🙂" * 300,
    "\u202eright to left",
    "",
    " ",
    ".\r\n",
]
MEASURED = "{messages} messages made: {exact} with exactly the expected headers and one recipient, crashes {crashes}"
texts = st.text(st.characters(codec=None), max_size=400) | st.sampled_from(ATTACKS)


def parsed(content: bytes) -> EmailMessage:
    message = BytesParser(policy=SMTP).parsebytes(content)
    assert isinstance(message, EmailMessage)
    return message


def part(message: EmailMessage, kind: str) -> str:
    found = message.get_body((kind,))
    assert found is not None
    content = found.get_content()
    assert isinstance(content, str)
    return content


def test_nothing_can_be_injected(tell: Tell) -> None:
    made: Counter[str] = Counter(messages=0, built=0, exact=0)

    @settings(max_examples=size(100, 1_000), deadline=None)
    @given(subject=texts, name=texts, unsubscribe=texts, html=texts, text=texts)
    def holds(subject: str, name: str, unsubscribe: str, html: str, text: str) -> None:
        made["messages"] += 1
        headers = {"List-Unsubscribe": unsubscribe, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
        content = mime.build(replace(MESSAGE, subject=subject, sender_name=name, html=html, text=text, headers=headers))
        made["built"] += 1
        message = parsed(content)
        recipients = [address.addr_spec for address in message["To"].addresses]
        made["exact"] += message.keys() == HEADERS and recipients == ["ann@example.org"]
        assert HEADERS == message.keys()
        assert ["ann@example.org"] == recipients
        check(message, content)

    try:
        holds()
    finally:
        messages, exact = made["messages"], made["exact"]
        tell(MEASURED, messages=messages, exact=exact, crashes=messages - made["built"])


def check(message: EmailMessage, content: bytes) -> None:
    """One sender, two alternatives, and lines that every server takes."""
    assert ["survey@shop.example"] == [address.addr_spec for address in message["From"].addresses]
    assert ["text/plain", "text/html"] == [each.get_content_type() for each in message.iter_parts()]
    assert [] == [each for each in message.walk() if each.defects]
    assert content.isascii()
    assert b"\r" not in content.replace(b"\r\n", b"")
    assert b"\n" not in content.replace(b"\r\n", b"")
    assert max(len(line) for line in content.split(b"\r\n")) <= 998
    assert b"eve" not in content.partition(b"\r\n\r\n")[0].replace(b"evening", b"") or "Bcc" not in message


@settings(max_examples=size(70, 1_000), deadline=None)
@given(text=st.text(st.characters(codec="utf-8"), max_size=2_000))
def test_texts_arrive(text: str) -> None:
    message = parsed(mime.build(replace(MESSAGE, html=text, text=text, subject=text[:200], sender_name=text[:100])))
    lines = "\n".join(text.splitlines()).rstrip("\n")
    assert lines == "\n".join(part(message, "plain").splitlines()).rstrip("\n")
    assert lines == "\n".join(part(message, "html").splitlines()).rstrip("\n")
    assert mime.one_line(text[:200]) == str(message["Subject"])


@settings(max_examples=size(70, 1_000), deadline=None)
@given(pieces=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=300), max_size=9))
def test_pages_in_quoted_pieces_arrive(pieces: list[str]) -> None:
    quoted = b"".join(map(mime.quoted_piece, pieces)).removesuffix(mime.SOFT_BREAK)
    content = mime.build(replace(MESSAGE, html="".join(pieces), html_quoted=quoted))
    message = parsed(content)
    check(message, content)
    lines = "\n".join("".join(pieces).splitlines()).rstrip("\n")
    assert lines == "\n".join(part(message, "html").splitlines()).rstrip("\n")
    assert max(map(len, quoted.split(b"\r\n"))) <= mime.LINE_CHARACTERS_MAX


@pytest.mark.parametrize(
    "subject", ["How was it?", "Πώς ήταν;", "كيف كانت تجربتك؟", "x" * 150, "a b" * 60, "=?x?=", "🙂" * 40]
)
def test_subjects_arrive(subject: str) -> None:
    content = mime.build(replace(MESSAGE, subject=subject))
    assert subject == str(parsed(content)["Subject"])
    assert max(len(line) for line in content.split(b"\r\n")) <= 78


@pytest.mark.parametrize(
    "name", ["Shop", "Shop, Inc.", 'The "Shop"', "Καφέ Αθηνά", "=?utf-8?q?x?=", "a@b.example", "x" * 150]
)
def test_sender_names_arrive(name: str) -> None:
    content = mime.build(replace(MESSAGE, sender_name=name))
    assert ["survey@shop.example"] == [each.addr_spec for each in parsed(content)["From"].addresses]
    # The newer parser of the library puts a space between neighbouring encoded words of a name; RFC 2047 6.2 does not.
    shown, _ = parseaddr(BytesParser(policy=compat32).parsebytes(content)["From"])
    assert name == str(make_header(decode_header(shown)))


def test_headers_of_a_sender() -> None:
    message = parsed(mime.build(replace(MESSAGE, reply_to="help@shop.example", sender_name=None)))
    assert "<0ITEM7Hq3kLmN9pRsTuVwX@shop.example>" == message["Message-ID"]
    assert "auto-generated" == message["Auto-Submitted"]
    assert "Mon, 02 Nov 2026 12:30:00 +0000" == message["Date"]
    assert "help@shop.example" == message["Reply-To"]
    assert "survey@shop.example" == message["From"]
    assert "<https://ask.example/u/x>" == message["List-Unsubscribe"]
    assert "List-Unsubscribe=One-Click" == message["List-Unsubscribe-Post"]


def test_a_long_word_stays_whole() -> None:
    value = f"{'p' * 22}:{'o' * 22}:invitation:afterword"  # which providers read, and nobody decodes
    assert f"Feedback-ID: {value}" == mime.header("Feedback-ID", value)
    assert mime.header("Subject", "w" * 90).startswith("Subject: =?utf-8?b?")


def test_a_chain_of_references_is_folded_and_not_encoded() -> None:
    ids = [f"<{'r' * 40}{number}@shop.example>" for number in range(3)]
    assert "References: " + "\r\n ".join(ids) == mime.header("References", " ".join(ids))
    message = parsed(mime.build(replace(MESSAGE, headers={"References": " ".join(ids)})))
    assert " ".join(ids) == message["References"]


def test_what_a_person_wrote_is_not_called_automatic() -> None:
    """Mail servers answer no automatic mail, and some drop what is."""
    assert parsed(mime.build(replace(MESSAGE, by_person=True)))["Auto-Submitted"] is None


def test_our_own_headers_cannot_be_replaced() -> None:
    message = parsed(
        mime.build(replace(MESSAGE, headers={"bcc": "eve@example.org", "To": "eve@example.org", "X-Kind": "1"}))
    )
    assert message["Bcc"] is None
    assert ["ann@example.org"] == message.get_all("To")
    assert "1" == message["X-Kind"]


@pytest.mark.parametrize("name", ["", "X Y", "X:", "X\r\nY", "Ä", "1X"])
def test_header_names(name: str) -> None:
    with pytest.raises(ValueError, match="letters"):
        mime.build(replace(MESSAGE, headers={name: "x"}))


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ann",
        "ann@",
        "@example.org",
        "a b@example.org",
        "ann@example.org>",
        "<ann@example.org>",
        "a@b.example,c@d.example",
        "ann@exa\nmple.org",
        "ann@example.org\r\nX: y",
        "ann@example.org\0",
        "ann@ex_ample.org",
        f"{'a' * 65}@{'b' * 250}.org",
    ],
)
def test_no_address(address: str) -> None:
    with pytest.raises(InvalidAddress):
        mime.wire_address(address)


@pytest.mark.parametrize(
    ("expected", "address"),
    [
        ("ann@example.org", "ann@example.org"),
        ("ann+tag@localhost", "ann+tag@localhost"),
        ("ann@xn--bcher-kva.example", "ann@bücher.example"),
        ("jürgen@example.org", "jürgen@example.org"),
        ("ann@example.org", " ann@example.org "),
    ],
)
def test_addresses(expected: str, address: str) -> None:
    assert expected == mime.wire_address(address)


def test_mostly_ascii_stays_readable() -> None:
    assert b"quoted-printable" in mime.build(MESSAGE)
    assert b"base64" in mime.build(replace(MESSAGE, text="Πώς ήταν; " * 20))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("550 <ann@example.com>\r\n unknown\x00", "550 <[address]> unknown"),
        ("no +306912345678 here", "no [address] here"),
        ("x" * 3000, "x" * TEXT_CHARACTERS_MAX),
    ],
)
def test_worded(text: str, kept: str) -> None:
    assert kept == worded(text, "+306912345678")
