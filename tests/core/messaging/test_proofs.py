"""The proof in a header: it names its item to whoever has the secret, and nobody else can make one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.messaging.reply_text import item_of, item_proof

SECRET, OTHER = b"k" * 32, b"l" * 32
ITEM = "0ITEM7Hq3kLmN9pRsTuVwX"


def test_ok() -> None:
    proof = item_proof(ITEM, SECRET)
    assert ITEM == item_of(proof, SECRET)
    assert ITEM == item_of(f" {proof}\r\n", SECRET)  # as a bounce quotes it
    assert len(proof) == len(ITEM) + 17
    assert len(f"X-Afterword-Item: {proof}") <= 76


@pytest.mark.parametrize(
    "proof",
    ["", ".", ITEM, f"{ITEM}.", f"{ITEM}.{'A' * 16}", item_proof(ITEM, OTHER), item_proof(ITEM, SECRET)[:-1],
     item_proof(ITEM, SECRET) + "A", item_proof(ITEM, SECRET).replace("0", "1", 1), "é.é",
     f".{item_proof(ITEM, SECRET)}"],
)  # fmt: skip
def test_forged(proof: str) -> None:
    assert item_of(proof, SECRET) is None


@given(st.text())
def test_any_text(text: str) -> None:
    assert item_of(text, SECRET) is None or text.strip() == item_proof(text.strip().partition(".")[0], SECRET)
