"""Answers to our mails, and mails that only look like one."""

from email.message import EmailMessage, Message
from typing import Final

import pytest

from afterword.channels import answers
from afterword.core.messaging import proofs

SECRET: Final = b"k" * 32
ASKED: Final = "0QmCkLh2XnT7vRz9YbWd4e"
OURS: Final = f"<{proofs.reply_proof(ASKED, SECRET)}@shop.example>"


def mail(reference: str = OURS, key: str = "<1@example.com>", text: str = "Thank you.") -> Message:
    made = EmailMessage()
    made["From"], made["Subject"], made["Message-ID"], made["In-Reply-To"] = "ann@example.com", "Re", key, reference
    made.set_content(text)
    return made


@pytest.mark.parametrize(
    "no_answer",
    [mail(reference="<1@shop.example>"), mail(reference=OURS.replace(ASKED, ASKED[::-1])), mail(key=""), mail(text="")],
)
def test_no_answer(no_answer: Message) -> None:
    assert answers.answer_of(no_answer, sender="ann@example.com", secret=SECRET) is None


def test_answer() -> None:
    found = answers.answer_of(mail(), sender="ann@example.com", secret=SECRET)
    assert answers.Answer(ASKED, "<1@example.com>", "ann@example.com", "Re", "Thank you.") == found
