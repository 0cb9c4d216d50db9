"""Words of returned mail: fields, addresses that failed, and reasons."""

from typing import Final

import pytest

from afterword.core.messaging.returned import (
    ADDRESSES_MAX,
    GROUPS_MAX,
    failed_in,
    groups_of,
    is_failure,
    is_waiting,
    parted,
    reason_in,
    typed,
)

OURS: Final = frozenset({"ask@shop.example"})
ANN: Final = "ann@example.org"


class TestGroups:
    def test_none(self) -> None:
        assert [] == groups_of("")
        assert [] == groups_of("\n\nno field\n")

    def test_blanks_unfolded_lines_and_quoted_ones(self) -> None:
        text = (
            "Reporting-MTA: dns; a\n\nAction : failed\nDiagnostic-Code: smtp; 550-5.1.1 a\n550 5.1.1 b\n c\n\n"
            "> Action: delayed\n>  (since noon)\n>\n> Status: 4.0.0"
        )
        assert groups_of(text) == [
            {"reporting-mta": "dns; a"},
            {"action": "failed", "diagnostic-code": "smtp; 550-5.1.1 a 550 5.1.1 b c"},
            {"action": "delayed (since noon)"},
            {"status": "4.0.0"},
        ]

    def test_a_second_recipient_begins_a_group(self) -> None:
        found = groups_of("Final-Recipient: rfc822; a\nStatus: 5.1.1\nFinal-Recipient: rfc822; b\nStatus: 5.2.2")
        assert ["5.1.1", "5.2.2"] == [group["status"] for group in found]

    def test_their_number_is_limited(self) -> None:
        assert GROUPS_MAX == len(groups_of("a: b\n\n" * (2 * GROUPS_MAX)))


@pytest.mark.parametrize(
    ("address", "field"),
    [
        (ANN, f"rfc822; {ANN}"),
        (f"<{ANN}>", f"<{ANN}>"),
        ("jürgen@example.org", "utf-8; jürgen@example.org"),
        ("jürgen@example.org", r"UTF-8;j\x{FC}rgen@example.org"),
        (r"j\x{D800}\x{110000}", r"utf-8;j\x{D800}\x{110000}"),
        (r"j\x{FC}", r"rfc822;j\x{FC}"),
        ("", ""),
    ],
)
def test_typed(address: str, field: str) -> None:
    assert address == typed(field)


@pytest.mark.parametrize(
    "quoted",
    [
        "From: Shop <ask@shop.example>\nTo: ann@example.org\nSubject: Hi\n\nHello",
        "> Received: from a\n>\tby b: c\n> X-Mailer: c\n> Date: today\n> Hello",
    ],
)
def test_the_quoted_mail_is_parted_from_the_words(quoted: str) -> None:
    words = f"Your mail to {ANN} failed:\nSubject: Hi\nStatus: 5.1.1\n\n"
    assert (words, quoted) == parted(words + quoted)


def test_a_list_of_labels_is_no_quoted_mail() -> None:
    text = "550 No\n\n  Subject: Hi\n  Sent date: now\n  From: ask@shop.example\n  RCPT TO: ann@example.org"
    assert (text, "") == parted(text)


@pytest.mark.parametrize(
    "words",
    [
        "This is a warning message only.\nYou do not need to resend your message.\nann@example.org: 450 4.2.2 full",
        "This is a warning only. It will be retried until it is 4 days old.",
        "Delivery attempts fail; eventually the program will give up.\nNo action is required on your part.",
    ],
)
def test_waiting(words: str) -> None:
    assert is_waiting(words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "It was delayed for five days.",
        "It will be retried no more. It has failed permanently.",
        "Delayed since noon.\n\n550 5.1.1 User unknown",
    ],
)
def test_not_waiting(words: str) -> None:
    assert not is_waiting(words)


def test_failures() -> None:
    for words in ("Undeliverable", "It could not be delivered to one.", "mail system error", "said: 550 No"):
        assert is_failure(words)
    for words in ("", "How was your delivery?", "I am away until Monday."):
        assert not is_failure(words)


class TestFailed:
    def test_nobody(self) -> None:
        assert {} == failed_in("", written=[], ours=OURS)
        assert {} == failed_in("Mail from ask@shop.example failed", written=[], ours=OURS)

    @pytest.mark.parametrize(
        ("words", "failed"),
        [
            (f"<{ANN}>:\n550 5.1.1 User unknown\n\nGiving up.", {ANN: f"<{ANN}>:\n550 5.1.1 User unknown"}),
            (f"550 5.1.1 <{ANN}>... Unknown\n503 5.5.1 Bad", {ANN: f"550 5.1.1 <{ANN}>... Unknown"}),
            (f"To: {ANN}\nA host did not like it:\n552 5.2.2 Full", {ANN: "A host did not like it:\n552 5.2.2 Full"}),
            (
                f"{ANN}: 550 5.1.1 User unknown\nben@example.org: 552 5.2.2 Full",
                {ANN: f"{ANN}: 550 5.1.1 User unknown", "ben@example.org": "ben@example.org: 552 5.2.2 Full"},
            ),
            (
                "gone@example.net\n    (ultimately generated from ann@example.org)\n    550 5.1.1 Unknown",
                {"gone@example.net": "    550 5.1.1 Unknown"},
            ),
            (f"Help: postmaster@host.example\n{ANN}\n550 No\n", {ANN: "550 No"}),
        ],
    )
    def test_each_with_its_own_reason(self, words: str, failed: dict[str, str]) -> None:
        assert failed == failed_in(words, written=[ANN], ours=OURS)

    def test_another_ones_reason_is_not_taken(self) -> None:
        words = f"Recipients:\n{ANN}\nben@example.org\n\nben@example.org: 550 5.1.1 User unknown"
        assert "5.1.1" not in failed_in(words, written=[ANN], ours=OURS).get(ANN, "")

    def test_their_number_is_limited(self) -> None:
        words = "".join(f"a{number}@example.org: 550 No\n" for number in range(2 * ADDRESSES_MAX))
        assert ADDRESSES_MAX == len(failed_in(words, written=[], ours=OURS))


def test_reason() -> None:
    assert "" == reason_in("Sorry.")
    assert "550-5.1.1 a\n550 5.1.1 b" == reason_in("He said\n550-5.1.1 a\n550 5.1.1 b\n\nSee you.")
    assert "The user is unknown" == reason_in("Sorry.\nThe user is unknown\n>>> QUIT")
