"""Codes, forms and commands in docs/deliverability.md are those of the code."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from afterword import __main__
from afterword.core.messaging.refusals import SUPPRESSING
from afterword.kit.transport.mime import KINDS, REPORTS_MAX
from afterword.people.responders.suppressions import REASONS
from afterword.sending.channels import callbacks
from afterword.sending.receipts.inbound import ADAPTERS
from afterword.sending.receipts.service import REPORTED_DAYS_MAX
from tests.sending.receipts.test_inbound import headers_of

PAGE: Final = Path(__file__).parents[3].joinpath("docs/deliverability.md").read_text(encoding="utf-8")
KEY: Final = "whsec_" + "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="


def test_the_codes_that_suppress() -> None:
    row = next(line for line in PAGE.splitlines() if "`hard_bounce` |" in line)
    assert SUPPRESSING == set(re.findall(r"\d\.\d\.\d+", row))


def test_the_example_is_read() -> None:
    [block] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    body = block.encode()
    heard = callbacks.read_standard(headers=headers_of(body, KEY), body=body, key=KEY, now=datetime.now(UTC))
    assert ["bounced", "delivered", "complained"] == [report.kind for report in heard.reports]
    assert [True, False, False] == [report.is_hard for report in heard.reports]


def test_words_and_limits() -> None:
    for word in (*KINDS, *REASONS):
        assert f"`{word}`" in PAGE
    assert f"{REPORTED_DAYS_MAX} days" in PAGE
    assert f"at most {REPORTS_MAX} reports" in PAGE
    order = PAGE.partition("in the order")[2].partition(";")[0]
    assert ["blocked", "hard_bounce", "unsubscribed", "complaint", "erased"] == re.findall(r"`(\w+)`", order)
    for adapter in ADAPTERS:
        assert f"afterword inbound add {adapter}" in PAGE


def test_the_commands_are_there() -> None:
    for name in set(re.findall(r"afterword (bounce|inbound|suppression)\b", PAGE)):
        assert name in __main__.parser()
