"""Judging refusals: the code that counts, and whether it is certain that the address does not exist."""

from typing import Final

import pytest

from afterword.core.messaging.refusals import SAID_CHARACTERS_MAX, SUPPRESSING, code_of, judge

ANN: Final = "<ann@example.org>"
GONE: Final = [  # code, status, reply
    ("5.1.1", "5.1.1", f"550 5.1.1 {ANN}: Recipient address rejected: User unknown in relay recipient table"),
    ("5.1.1", "5.1.1", "550 5.1.1 No such mailbox. Please check the address and try again."),
    ("5.1.1", "5.0.0", f"550 5.1.1 {ANN}... User unknown"),
    ("5.1.1", "", "550-5.1.1 The account does not exist\n550 5.1.1 see https://host.example/p=NoSuchUser"),
    ("5.1.1", "5.1.1", "550 Requested action not taken: no such user here"),  # the code is the relay's, the words tell
    ("5.1.1", "5.1.1 (bad destination mailbox address)", ""),
    ("5.1.10", "5.1.10", "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup"),
    ("5.1.6", "5.1.6", "551 not our user"),
    ("5.2.1", "5.2.1", "550 5.2.1 The account is disabled."),
    ("5.0.0", "5.0.0", f"550 {ANN}: User unknown"),
    ("5.1.0", "5.1.0", "550 #5.1.0 Unknown address"),
    ("5.3.0", "", "553 5.3.0 No such user here"),
    ("550", "", "550 Benutzer unbekannt"),
    ("550", "", "550 Adresse du destinataire inconnue, destinataire inconnu"),
    ("", "", "The recipient name is not recognized"),
    ("5.1.351", "5.1.351", f"550 5.1.351 Unknown recipient or mailbox unavailable -> 550 {ANN}: User unknown"),
    ("5.4.1", "5.4.1", "550 5.4.1 Recipient address rejected: Access denied. [mail.protection.host.example]"),
    ("5.4.4", "5.4.4", "Host or domain name not found. Name service error for name=nx.example type=A: Host not found"),
    ("5.4.310", "", "550 5.4.310 DNS domain nx.example does not exist"),
    ("554", "", f"554 {ANN}... 550 Host unknown (Authoritative answer from name server)"),
    ("", "", "an MX or SRV record indicated no SMTP service"),
]
NOT_GONE: Final = [
    ("5.2.1", "5.2.1", "550-5.2.1 The user receives mail at a rate that\n550 5.2.1 prevents additional messages."),
    ("5.1.1", "5.1.1", f"550 5.1.1 {ANN} - 192.0.2.1 has sent to too many recipients this hour."),
    ("5.1.1", "5.1.1", "550 5.1.1 Mailbox is full"),
    ("5.1.1", "5.1.1", "550 5.1.1 User unknown, try again later"),
    ("5.1.1", "5.1.1", "550 5.1.1 Refused by the preferences of the recipient"),
    ("5.1.1", "5.1.1", "550 5.1.1 Message looks like spam"),
    ("5.1.1", "5.1.1", f"550 {ANN}: not today"),  # invented of a bare 550
    ("5.1.3", "5.1.3", "553 https://lists.example/query?ip=192.0.2.1"),
    ("5.7.1", "5.1.1", "550 5.7.1 The IP address is listed by lists.example"),
    ("5.2.2", "5.1.1", "552 5.2.2 Over quota"),
    ("4.2.2", "5.1.1", "452 4.2.2 no place"),
    ("4.1.1", "4.1.1", "450 4.1.1 User unknown in virtual alias table"),
    ("5.1.1", "5.1.1", "450 User unknown"),
    ("5.7.1", "5.1.0", f"Unknown address error 550-'5.7.1 {ANN}... Access'"),
    ("5.2.0", "5.2.0", "550 Unknown user"),  # RFC 3463: "the mailbox exists"
    ("5.7.1", "5.7.1", "554 5.7.1 Recipient address rejected: Access denied"),
    ("5.1.8", "", "553 5.1.8 The domain of the address does not exist"),
    ("550", "", "550 Sender address rejected: user unknown"),
    ("550", "", "550 : User unknown"),  # no address where it belongs: after the message
    ("550", "", "550 Client host unknown"),
    ("550", "", "550 IP address not found"),
    ("550", "", "550 Relaying denied: no such user"),
    ("550", "", "550 mailbox unavailable, invalid mailbox or no access"),
    ("5.4.4", "5.4.4", "Host or domain name not found. Name service error: Host found but no data record"),
    ("5.4.4", "5.4.4", "Name service error for name=nx.example type=MX: Host not found, try again"),
    ("5.4.4", "5.4.4", "No route to host"),
    ("5.5.0", "5.5.0", "554 The domain is not reachable"),
    ("", "", "Unrouteable address"),  # the relay's own rules may be the reason
    ("5.0.0", "5.0.0", ""),
    ("", "", ""),
]


@pytest.mark.parametrize(("code", "status", "said"), GONE)
def test_nobody_is_there(code: str, status: str, said: str) -> None:
    assert (code, True) == judge(status, said)


@pytest.mark.parametrize(("code", "status", "said"), NOT_GONE)
def test_not_certain(code: str, status: str, said: str) -> None:
    assert (code, False) == judge(status, said)


def test_words_after_the_whole_message_may_be_about_it() -> None:
    for around in ("SMTP error from remote mail server after end of data:", "(in reply to end of DATA command)"):
        assert ("5.0.0", False) == judge("5.0.0", f"550 {ANN}: User unknown", around)
        assert ("5.1.1", True) == judge("5.0.0", f"550 5.1.1 {ANN}: User unknown", around)


@pytest.mark.parametrize("code", sorted(SUPPRESSING))
def test_the_codes_alone(code: str) -> None:
    assert (code, True) == judge(code, "") == judge("", f"550 {code} no")


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("5.1.1", "5.0.0", "550 5.1.1 x"),
        ("5.7.1", "5.7.1", "550 5.1.1 x"),
        ("5.1.1", "5.1.1", "550 5.0.0 x"),
        ("550", "", "host mx.example [192.0.2.55] said: 550 No"),
        ("", "", "at 550.5.1 in 5500 of 192.5.1.1"),
    ],
)
def test_code_of(code: str, status: str, said: str) -> None:
    assert code == code_of(status, said)


def test_a_long_reply_is_cut() -> None:
    assert ("", False) == judge("", "a" * SAID_CHARACTERS_MAX + " 550 5.1.1")
