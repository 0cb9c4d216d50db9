"""The mail server's address: what it may say, and that a refusal never shows the password."""

from pathlib import Path

import pytest

from afterword.sending.channels.conversation import Relay, parse_url

PASSWORD = "s3cr3t-pass/word"  # a slash that should have been %2F


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mail.example.org",
        f"http://user:{PASSWORD}@mail.example.org",
        f"smtp://user:{PASSWORD}@mail.example.org",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org:99999",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org:port",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org/path",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org?starttls=maybe",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org?verify=no",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org?ca=/no/such/file",
        f"smtp://:{PASSWORD.replace('/', '%2F')}@mail.example.org",
        "smtp://user:s3cr3t@[mail.example.org",
    ],
)
def test_refused_without_the_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"mail server's address") as refused:
        parse_url(url)
    assert "s3cr3t" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        (("mail.example.org", 25, False, "offered", None, ""), "smtp://mail.example.org"),
        (("mail.example.org", 587, False, "offered", "ann", "pw"), "smtp://ann:pw@mail.example.org"),
        (("mail.example.org", 465, True, "offered", "ann", "pw"), "smtps://ann:pw@mail.example.org/"),
        (("mail.example.org", 2525, False, "required", None, ""), "smtp://mail.example.org:2525?starttls=required"),
        (
            ("mail.example.org", 587, False, "never", "a@b.c", "p/:@w"),
            "smtp://a%40b.c:p%2F%3A%40w@mail.example.org?starttls=never",
        ),
        (("::1", 25, False, "offered", None, ""), "smtp://[::1]"),
    ],
)
def test_read(expected: tuple[object, ...], url: str) -> None:
    relay = parse_url(url)
    assert expected == (relay.host, relay.port, relay.implicit_tls, relay.starttls, relay.username, relay.password)


def test_authority_file(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.touch()
    assert file == parse_url(f"smtps://mail.example.org?ca={file}").ca_file


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        (True, "smtp://ann:pw@mail.example.org"),
        (False, "smtp://ann:pw@mail.example.org?starttls=never"),
        (False, "smtp://ann:pw@localhost"),
        (False, "smtp://mail.example.org"),
        (True, "smtp://mail.example.org?starttls=required"),
    ],
)
def test_password_needs_tls(expected: bool, url: str) -> None:  # noqa: FBT001
    assert expected is parse_url(url).needs_tls


def test_password_is_not_in_its_words() -> None:
    relay: Relay = parse_url("smtps://ann:s3cr3t@mail.example.org")
    assert "s3cr3t" not in repr(relay)
    assert "s3cr3t" not in relay.place
