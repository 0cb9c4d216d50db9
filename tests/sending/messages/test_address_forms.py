"""One normaliser: for pairs of spellings, suppression, caps, responders and sending say the same: one person, or two.

500 pairs; AFTERWORD_TEST_FAULTS=full makes it 10,000.
"""

import random
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

from afterword.core.messaging import addresses
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.people.responders import service as responders, suppressions
from afterword.people.responders.service import ResponderInput
from afterword.people.responders.suppressions import SuppressionRequest
from tests.bar import Tell
from tests.sending.queue.conftest import EMAIL, Client, Queue
from tests.sizes import size

PAIRS: Final = size(500, 10_000)
CHUNK: Final = 500
NAMES: Final = ("ann", "josé", "zoë.müller", "maría-pía", "δέσποινα", "o_neill", "nguyễn")
DOMAINS: Final = ("example.com", "bücher.example", "παράδειγμα.example", "mail.example.org", "straße.example")


def wide(text: str) -> str:
    """The same letters as a keyboard of another script has them."""
    return "".join(chr(ord(letter) + 0xFEE0) if "a" <= letter <= "z" else letter for letter in text)


def of_domain(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: f"{text.partition('@')[0]}@{change(text.partition('@')[2])}"


def of_name(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: f"{change(text.partition('@')[0])}@{text.partition('@')[2]}"


SAME: Final[dict[str, Callable[[str], str]]] = {
    "as it is": str,
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "upper case": of_name(str.upper),
    "a domain in upper case": of_domain(str.upper),
    "a domain in ASCII": of_domain(lambda domain: domain.encode("idna").decode()),
    "a trailing dot": lambda text: f"{text}.",
    "full width": wide,
    "a full-width domain": of_domain(wide),
    "spaces around": lambda text: f"  {text}\t".replace("\t", " "),
}
OTHER: Final[dict[str, Callable[[str], str]]] = {
    "a plus tag": of_name(lambda name: f"{name}+shop"),
    "another dot": of_name(lambda name: f"{name}.x"),
    "another domain": of_domain(lambda domain: f"mail2.{domain}"),
    "a letter that looks like it": of_name(lambda name: name.replace("n", "\u0578").replace("a", "\u0430") + "\u0430"),
    "without its accent": of_name(lambda name: f"e\u0301{name}".replace("\u0301", "")),
}
NONE: Final[dict[str, Callable[[str], str]]] = {
    "a zero-width joiner": of_name(lambda name: f"{name}\u200d"),
    "a joiner in the domain": of_domain(lambda domain: f"x\u200d{domain}"),
    "two dots": lambda text: f"{text}..",
}


@dataclass(frozen=True)
class Pair:
    first: str
    second: str
    kind: str
    is_same: bool


def pairs(count: int, seed: int = 26) -> list[Pair]:
    """Each about an address of its own, so that no pair meets another."""
    rng = random.Random(seed)  # noqa: S311  a sample
    made: list[Pair] = []
    for number in range(count):
        base = f"{rng.choice(NAMES)}{number}@{rng.choice(DOMAINS)}"
        if "ß" in base:  # IDNA 2003, which the standard library speaks, makes two letters of it
            base = base.replace("straße", "strasse")
        is_same = rng.random() < 0.7
        kind = rng.choice(list(SAME if is_same else OTHER))
        second = (SAME if is_same else OTHER)[kind](base)
        first, second = rng.sample([base, second], 2)
        made.append(Pair(first, second, kind, is_same))
    return made


async def schedule(client: Client, texts: Sequence[str]) -> dict[str, str]:
    """Item by text; every text comes back as it was sent."""
    found: dict[str, str] = {}
    for start in range(0, len(texts), CHUNK):
        rows = [{"responder_channel_identifier": text} for text in texts[start : start + CHUNK]]
        reply = await client.send("POST", f"{client.items}/batch", rows)
        results: list[dict[str, Any]] = reply.json()["results"]
        assert {201} == {result["status"] for result in results}, results[:3]
        ids = [result["item_id"] for result in results]
        kept = await client.queue.fetch(
            "select item_id, responder_channel_identifier as text from queue_item where item_id = any($1)", ids
        )
        by_id = {row["item_id"]: row["text"] for row in kept}
        assert texts[start : start + CHUNK] == [by_id[item_id] for item_id in ids]
        found |= dict(zip(texts[start : start + CHUNK], ids, strict=True))
    return found


async def send_all(queue: Queue) -> dict[str, str]:
    """Send what goes; the address that each item's message went to."""
    worker, went = queue.worker(), dict[str, str]()
    while await queue.value("select exists (select from queue_item where status = 1 and due_time <= now())"):
        for dispatch in (dispatches := await worker.claim(200)):
            went[dispatch.item.item_id] = dispatch.responder.address or ""
        await worker.settle(Sent(None, 250, "ok"), *await worker.begin(*dispatches))
    return went


async def reasons(queue: Queue) -> dict[str, str | None]:
    rows = await queue.fetch("select item_id, case when status = 8 then reason end as reason from queue_item")
    return {row["item_id"]: row["reason"] for row in rows}


async def test_suppression_and_sending_agree(client: Client, tell: Tell) -> None:
    queue, sample = client.queue, pairs(PAIRS)
    async with db.transaction(queue.pool) as database:
        requests = [SuppressionRequest(channel_id=EMAIL, identifier=pair.first) for pair in sample]
        written, wrong = await suppressions.add_many(
            database,
            organization_id=queue.house.organization_id,
            requests=requests,
            locale=None,
            secret=queue.secret,
            now=database.clock.now(),
        )
    assert (PAIRS, []) == (written, wrong)
    kept = {row["identifier"] for row in await queue.fetch("select identifier from suppression")}
    assert {addresses.normalise(EMAIL, pair.first) for pair in sample} == kept
    items = await schedule(client, [pair.second for pair in sample])
    went = await send_all(queue)
    found = await reasons(queue)
    differ = [pair for pair in sample if pair.is_same != (found[items[pair.second]] == "blocked")]
    tell(f"{PAIRS} pairs: suppression and sending differ on {len(differ)}")
    assert [] == differ
    assert {items[pair.second] for pair in sample if not pair.is_same} == went.keys()


async def test_caps_responders_and_sending_agree(client: Client, tell: Tell) -> None:
    queue, sample = client.queue, pairs(PAIRS, seed=27)
    await queue.change_pipeline("frequency_cap_days = 30")
    first = await schedule(client, [pair.first for pair in sample])
    went = await send_all(queue)
    assert len(went) == PAIRS
    second = await schedule(client, [pair.second for pair in sample])
    went |= await send_all(queue)
    found = await reasons(queue)
    for pair in sample:
        assert pair.is_same == (found[second[pair.second]] == "frequency_cap"), pair
    async with db.transaction(queue.pool) as database:
        wanted = [
            ResponderInput(queue.house.organization_id, EMAIL, text)
            for pair in sample
            for text in (pair.first, pair.second)
        ]
        people = await responders.find_or_create(database, inputs=wanted, now=database.clock.now(), secret=queue.secret)
    for place, pair in enumerate(sample):
        one, other = people[2 * place], people[2 * place + 1]
        assert pair.is_same == (one.responder_id == other.responder_id), pair
        assert pair.is_same == (one.address_key == other.address_key), pair
        assert went[first[pair.first]] == one.address  # where it went is what was compared
    tell(f"{PAIRS} pairs: caps, responders and sending differ on 0")


@pytest.mark.parametrize("kind", NONE)
async def test_what_is_none_is_none_everywhere(client: Client, kind: str) -> None:
    text = NONE[kind]("ann@example.com")
    reply = await client.send("POST", client.items, {"responder_channel_identifier": text})
    assert 422 == reply.status_code
    reply = await client.send("POST", "/suppression", {"channel_id": EMAIL, "identifier": text})
    assert 422 == reply.status_code
