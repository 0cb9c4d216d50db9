"""Dates on the wire: what is accepted is the same instant at the same offset, in JSON and in forms; nothing breaks."""

from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.contract import probes
from tests.contract.existing import FORM, JSON
from tests.contract.test_bad_input import ACCEPTED_DATES
from tests.contract.world import World
from tests.dates import YEAR, last_sunday
from tests.sizes import size

pytestmark = pytest.mark.asyncio(loop_scope="session")

ATHENS: Final = ZoneInfo("Europe/Athens")
EXAMPLES: Final = size(100, 10_000)
AHEAD_DAYS: Final = 1_826
NEITHER_FORM_NOR_TEXT: Final = "2026-11-21T18:23:45 02:00"  # a plus that a form did not encode
items: dict[int, str] = {}


async def path_of(world: World) -> str:
    """An item far from its time, made once."""
    if id(world) not in items:
        base = f"/v3.2/q/questionnaire/{world.ours.ids['questionnaire_id']}/pipeline/{world.ours.ids['pipeline_id']}"
        document = {"responder_channel_identifier": "dates@example.com", "send_time": f"{YEAR + 1}-01-01T00:00:00Z"}
        reply = await world.ask("POST", f"{base}/queue/item", document=document)
        items[id(world)] = f"/v3.2/q/queue/item/{reply.document['item_id']}"
    return items[id(world)]


async def outcome(world: World, text: str, *, as_form: bool) -> str:
    """The date that came back, or the code of the refusal."""
    body = f"send_time={quote(text, safe=': ')}".encode() if as_form else None
    if body is not None:
        reply = await world.ask("PATCH", await path_of(world), headers={"content-type": FORM}, body=body)
    else:
        reply = await world.ask(
            "PATCH", await path_of(world), headers={"content-type": JSON}, document={"send_time": text}
        )
    if reply.status == 200:
        return reply.document["send_time"]
    assert (422, 1, "/send_time") == (reply.status, len(reply.wrong), reply.wrong[0][0]), (text, reply)
    return reply.wrong[0][1]


class TestTable:
    async def test_refused(self, world: World) -> None:
        for text, code in probes.REFUSED_DATES.items():
            assert code == await outcome(world, text, as_form=False), text
            if text != NEITHER_FORM_NOR_TEXT:
                assert code == await outcome(world, text, as_form=True), text

    async def test_accepted(self, world: World) -> None:
        for text, expected in ACCEPTED_DATES.items():
            for as_form in (False, True):
                assert expected == await outcome(world, text, as_form=as_form), text

    @pytest.mark.parametrize(
        "text", [f"{YEAR}-07-15T10:30:00 02:00", f"{YEAR}-07-15 10:30 0200", f"{YEAR}-07-15T10:30:00.5 02:00"]
    )
    async def test_space_for_a_plus(self, world: World, text: str) -> None:
        """Nobody encoded the plus, so the form's reader made a space of it."""
        assert f"{YEAR}-07-15T10:30:00+02:00" == await outcome(world, text, as_form=True)
        assert "invalid_date_time" == await outcome(world, text, as_form=False)
        raw = text.replace(" 02", "+02").encode()
        reply = await world.ask("PATCH", await path_of(world), headers={"content-type": FORM}, body=b"send_time=" + raw)
        assert f"{YEAR}-07-15T10:30:00+02:00" == reply.document["send_time"]


def two(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map("{:02}".format)


YEARS: Final = st.integers(1969, 2033) | st.sampled_from([0, 1, 1968, 2099, 9998, 9999])
OFFSETS: Final = st.none() | st.sampled_from(["Z", "z"]) | st.tuples(
    st.sampled_from("+-"), two(0, 15), st.sampled_from(["", ":"]), st.sampled_from(["00", "15", "30", "45", "59", "60"])
).map("".join)  # fmt: skip
NIGHTS_OF_CHANGE: Final = st.sampled_from([last_sunday(3), last_sunday(10), "2028-03-26", "2028-10-29", "1985-03-31"])


@st.composite
def dates(draw: st.DrawFn) -> tuple[str, str]:
    """A text that has the form of a date with a time, mostly, and what must come of it."""
    year, month, day = draw(YEARS), draw(st.integers(0, 13)), draw(st.integers(0, 32))
    night = draw(st.none() | st.none() | NIGHTS_OF_CHANGE)
    date = night or f"{year:04}-{month:02}-{day:02}"
    hour = draw(two(0, 24) if night is None else two(2, 4))
    minute = draw(two(0, 60))
    second = draw(st.none() | two(0, 61) | st.sampled_from(["00", "59", "60"]))
    fraction = draw(st.none() | st.text("0123456789", min_size=1, max_size=10)) if second is not None else None
    offset = draw(OFFSETS)
    clock = f"{hour}:{minute}" + (f":{second}" if second else "") + (f".{fraction}" if fraction else "")
    text = f"{date}{draw(st.sampled_from('Tt '))}{clock}{offset or ''}"
    if fraction is not None and len(fraction) > 9:
        return text, "invalid_date_time"
    if second == "60" and int(minute) < 60 and int(hour) < 24:
        return text, "leap_second"
    if date.startswith("0000"):
        return text, "out_of_range"
    try:
        wall = datetime.fromisoformat(f"{date} {hour}:{minute}:{second or '00'}")
    except ValueError:
        return text, "invalid_date_time"
    return text, _expected(wall, offset)


def _expected(wall: datetime, offset: str | None) -> str:
    now = datetime.now(UTC)
    if offset is None:
        if not 1960 < wall.year < 2100:
            return "out_of_range"
        local = wall.replace(tzinfo=ATHENS)
        instant = local.astimezone(UTC)
        if instant.astimezone(ATHENS).replace(tzinfo=None) != wall:  # clocks never show it: go on to the first they do
            instant = wall.replace(tzinfo=ATHENS, fold=1).astimezone(UTC)
            while instant.astimezone(ATHENS).utcoffset() == local.replace(fold=1).utcoffset():
                instant -= timedelta(minutes=1)
            while instant.astimezone(ATHENS).utcoffset() != local.replace(fold=1).utcoffset():
                instant += timedelta(minutes=1)
            instant = instant.replace(second=0)
        shown = instant.astimezone(ATHENS)
    else:
        sign, digits = (1, "0000") if offset in "Zz" else (-1 if offset[0] == "-" else 1, offset[1:].replace(":", ""))
        if int(digits[2:]) > 59:
            return "invalid_date_time"
        ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        if ahead > timedelta(hours=14) or not 2 < wall.year < 9998:
            return "out_of_range"
        instant = (wall - sign * ahead).replace(tzinfo=UTC)
        text = f"{'-' if sign < 0 and ahead else '+'}{digits[:2]}:{digits[2:]}"
        shown = datetime.fromisoformat(f"{wall.isoformat()}{text}")
    if not datetime(1970, 1, 1, tzinfo=UTC) <= instant <= now + timedelta(days=AHEAD_DAYS):
        return "out_of_range"
    return shown.isoformat(timespec="seconds")


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(dates(), st.booleans())
async def test_generated(world: World, date: tuple[str, str], as_form: bool) -> None:  # noqa: FBT001
    text, expected = date
    assert expected == await outcome(world, text, as_form=as_form), text


@settings(max_examples=EXAMPLES // 10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text("0123456789-:+TtZz .,W/年", max_size=32) | st.text(max_size=40), st.booleans())
async def test_anything(world: World, text: str, as_form: bool) -> None:  # noqa: FBT001
    """Whatever it is, it is a date or it is told that it is none."""
    body = f"send_time={quote(text, errors='replace')}".encode()
    if as_form:
        reply = await world.ask("PATCH", await path_of(world), headers={"content-type": FORM}, body=body)
    else:
        reply = await world.ask("PATCH", await path_of(world), document={"send_time": text})
    assert reply.status in {200, 400, 422}, reply
