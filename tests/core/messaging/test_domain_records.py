"""Records of SPF, DKIM and DMARC are judged, and the finding names the record to set."""

import pytest

from afterword.core.messaging import domain_records as records

DOMAIN = "shop.example"
KEY = "A" * 392  # 294 bytes: an RSA key of 2,048 bits


@pytest.mark.parametrize(
    ("texts", "host", "code", "record"),
    [
        ([], None, "spf_missing", None),
        (["v=spf10 -all", "google-site-verification=x"], None, "spf_missing", None),
        ([], "mail.shop.example", "spf_missing", "v=spf1 a:mail.shop.example ~all"),
        ([], "smtp.sendgrid.net", "spf_missing", "v=spf1 include:sendgrid.net ~all"),
        (["v=spf1 mx -all", "V=SPF1 a ~all"], None, "spf_many", None),
        (["v=spf1 a +all"], None, "spf_open", "v=spf1 a ~all"),
        (["v=spf1 all"], None, "spf_open", "v=spf1 ~all"),
        (["v=spf1 mx"], None, "spf_without_end", "v=spf1 mx ~all"),
        (["v=spf1 redirect=_spf.shop.example"], None, "spf_good", None),
        (["v=spf1 mx -all"], "smtp.sendgrid.net", "spf_without_server", "v=spf1 include:sendgrid.net mx -all"),
        (["v=spf1 mx"], "SMTP.Gmail.com", "spf_without_server", "v=spf1 include:_spf.google.com mx ~all"),
        (["v=spf1 include:here.example -all"], "smtp.mailgun.org", "spf_good", None),  # reached below
        (["v=spf1 mx -all"], "mail.shop.example", "spf_good", None),  # nobody knows from where it sends
    ],
)
def test_spf(texts: list[str], host: str | None, code: str, record: str | None) -> None:
    found = records.judge_spf(DOMAIN, texts, host=host, reached={"here.example", "mailgun.org"}, lookups=1)
    assert (code, record) == (found.code, found.record)
    assert "{" not in found.message


def test_spf_look_ups() -> None:
    record = "v=spf1 a mx ptr include:a.example ?exists:%{i}.b.example ip4:192.0.2.1 redirect=c.example -all amx"
    assert 6 == records.spf_lookups(record)
    assert ["a.example", "c.example"] == records.spf_references(record)
    found = records.judge_spf(DOMAIN, [record], host=None, reached=(), lookups=11)
    assert "spf_too_long" == found.code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"v=DKIM1; k=rsa; p={KEY}", "dkim_good"),
        (f"p={KEY}", "dkim_good"),
        (f"v=DKIM1; p={'A' * 216}", "dkim_weak"),
        ("v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "dkim_good"),
        ("v=DKIM1; p=", "dkim_revoked"),
        ("v=DKIM1; p=no key", "dkim_wrong"),
        ("hello", "dkim_wrong"),
    ],
)
def test_dkim(text: str, code: str) -> None:
    [found] = records.judge_dkim(DOMAIN, {"a": [], "s1": [text]})
    assert (code, "s1._domainkey.shop.example") == (found.code, found.name)
    assert "s1" in found.message


def test_no_dkim() -> None:
    [found] = records.judge_dkim(DOMAIN, {"a": [], "b": []})
    assert ("dkim_missing", "missing") == (found.code, found.state)
    assert "a, b" in found.message


@pytest.mark.parametrize(
    ("texts", "code", "record"),
    [
        ([], "dmarc_missing", "v=DMARC1; p=none; rua=mailto:dmarc@mail.shop.example"),
        (["v=DMARC1; p=reject"], "dmarc_good", None),
        (["v=DMARC1; p=none; rua=mailto:x@y"], "dmarc_none", "v=DMARC1; p=quarantine; rua=mailto:x@y"),
        (["v=DMARC1; p=reject; sp=none"], "dmarc_none", "v=DMARC1; p=reject; sp=quarantine"),
        (["v=DMARC1; rua=mailto:x@y"], "dmarc_wrong", None),
        (["v=DMARC1; p=reject", "v=DMARC1; p=none"], "dmarc_wrong", None),
    ],
)
def test_dmarc(texts: list[str], code: str, record: str | None) -> None:
    """Of a subdomain whose parent has the record."""
    found = records.judge_dmarc("mail.shop.example", "_dmarc.shop.example", texts)
    assert (code, record) == (found.code, found.record)


def test_where_dmarc_may_stand() -> None:
    assert ["_dmarc.a.shop.example", "_dmarc.shop.example"] == records.dmarc_names("a.shop.example")
    assert ["_dmarc.localhost"] == records.dmarc_names("localhost")
    assert records.PARENTS_MAX == len(records.dmarc_names("a.b.c.d.e.f.shop.example"))
