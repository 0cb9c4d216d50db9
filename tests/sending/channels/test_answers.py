"""Answers to our mails, and mails that only look like one."""

from email import message_from_bytes
from email.message import EmailMessage, Message
from typing import Final

import pytest

from afterword.core.messaging import reply_text
from afterword.sending.channels import bounces

SECRET: Final = b"k" * 32
ASKED: Final = "0QmCkLh2XnT7vRz9YbWd4e"
OURS: Final = f"<{reply_text.reply_proof(ASKED, SECRET)}@shop.example>"


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
    assert bounces.answer_of(no_answer, sender="ann@example.com", secret=SECRET) is None


def test_answer() -> None:
    found = bounces.answer_of(mail(), sender="ann@example.com", secret=SECRET)
    assert bounces.Answer(ASKED, "<1@example.com>", "ann@example.com", "Re", "Thank you.\n") == found


def body(made: EmailMessage) -> str:
    made["Message-ID"], made["References"] = "<1@example.com>", OURS
    parsed = message_from_bytes(made.as_bytes())
    found = bounces.answer_of(parsed, sender="ann@example.com", secret=SECRET)
    assert found is not None
    return found.body


class TestParts:
    def test_plain_of_two(self) -> None:
        made = EmailMessage()
        made.set_content("Thank you.")
        made.add_alternative("<p>Thank you!</p>", subtype="html")
        assert "Thank you." == body(made)

    def test_empty_plain(self) -> None:
        made = EmailMessage()
        made.set_content(" \n")
        made.add_alternative("<style>p {color: red}</style><p>Thank you!</p>", subtype="html")
        assert "Thank you!" == body(made)

    def test_around_a_picture(self) -> None:
        made = EmailMessage()
        made.set_content("The box was wet:")
        made.add_attachment(b"x" * 1_000, maintype="image", subtype="jpeg", filename="box.jpg")
        made.add_attachment("Please send a new one.", disposition="inline")
        made.add_attachment("Terms", filename="terms.txt")
        assert ["The box was wet:", "Please send a new one."] == body(made).split("\n\n")

    def test_a_picture_alone(self) -> None:
        """It is not kept, but its name says that there was one."""
        made = EmailMessage()
        made.set_content("")
        for name in ("box.jpg", "two\nlines.png"):
            made.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename=name.replace("\n", " "))
        assert "\N{PAPERCLIP} box.jpg\n\N{PAPERCLIP} two lines.png" == body(made)

    def test_words_behind_a_large_picture(self) -> None:
        made = EmailMessage()
        made["From"], made["Message-ID"], made["References"] = "ann@example.com", "<1@example.com>", OURS
        made.set_content("The box was wet:")
        made.add_attachment(bytes(range(256)) * 8_000, maintype="image", subtype="jpeg", filename="box.jpg")
        lid = EmailMessage()
        lid.set_content("And the lid was open.")
        made.attach(lid)
        read = bounces.read(made.as_bytes(), secret=SECRET)
        assert read.answer is not None
        assert ("The box was wet:\n\nAnd the lid was open.", ("\N{PAPERCLIP} box.jpg",)) == (
            read.answer.body,
            read.answer.files,
        )

    def test_long_styles(self) -> None:
        made = EmailMessage()
        made.set_content(f"<style>{'p {color: red} ' * 8_000}</style><p>Thank you!</p>", subtype="html")
        assert "Thank you!" == body(made)

    @pytest.mark.parametrize("charset", ["iso-8859-7", "unknown-1"])
    def test_charset(self, charset: str) -> None:
        made = EmailMessage()
        made.set_content("Ευχαριστώ!", charset="iso-8859-7" if charset == "iso-8859-7" else "utf-8")
        made.set_param("charset", charset)
        assert "Ευχαριστώ!" == body(made)


@pytest.mark.parametrize(
    ("subject", "written"),
    [
        ("Grüße", "=?utf-8?q?Gr=C3=BC=C3=9Fe?="),
        ("=?utf-8?b?a?=", "=?utf-8?b?a?="),  # broken
        ("=?unknown?q?a?=", "=?unknown?q?a?="),
        ("Grüße", "Grüße".encode().decode("ascii", "surrogateescape")),
        ("Re", "Re\n"),
        ("", ""),
    ],
)
def test_any_subject_is_read(subject: str, written: str) -> None:
    answered = Message()
    answered["Subject"], answered["Message-ID"], answered["In-Reply-To"] = written, "<1@example.com>", OURS
    answered.set_payload("Thank you.")
    found = bounces.answer_of(answered, sender="ann@example.com", secret=SECRET)
    assert found is not None
    assert subject == found.subject
