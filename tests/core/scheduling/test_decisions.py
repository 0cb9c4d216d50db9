from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from afterword.core.questionnaires import conditions
from afterword.core.reading.findings import Findings
from afterword.core.scheduling import decisions
from afterword.core.scheduling.decisions import (
    Block,
    Contact,
    Facts,
    Item,
    Policy,
    Previous,
    Rules,
    Suppression,
    decide,
)
from afterword.core.scheduling.windows import DaysOff, Hours
from afterword.core.wire.times import InvalidDateTime

NOW = datetime(2026, 11, 23, 10, 0, tzinfo=UTC)  # a Monday, 12:00 in Athens
DAY = timedelta(days=1)
ITEM = Item(item_id="i" * 22, pipeline_id="p" * 22, not_after=NOW + 3 * DAY)
OPEN = Rules()
EVENING = Hours(time(18), time(20))


def facts(**values: Any) -> Facts:
    known: dict[str, Any] = {"rules": OPEN, "zone_name": "Europe/Athens", **values}
    return Facts(**known)


def tree(document: dict[str, object]) -> conditions.Node | None:
    findings = Findings()
    node = conditions.read(document, "", findings)
    assert not findings.found
    return node


NEITHER = tree({"all": [
    {"any": [{"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "8"},
             {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7"}]},
    {"not": {"subject": "responder_metadata:name", "operator": "equal", "value": "Bob"}},
]})  # fmt: skip
IS_PICKUP = tree({"subject": "questionnaire_metadata:store_pickup", "operator": "equal", "value": True})
REMINDER = replace(ITEM, is_reminder=True)
SENT = Previous(is_open=False, is_sent=True, is_answered=False, is_expired=False)


ONCE = Policy(invitations_max=1, days=30)


def asked(days: float, kind: str = "invitation", item_id: str = "j" * 22) -> Contact:
    """Asked so many days ago, by another pipeline."""
    return Contact(NOW - days * DAY, "q" * 22, item_id, kind)


class TestDecide:
    @pytest.mark.parametrize(
        ("item", "known", "reason", "text"),
        [
            (ITEM, facts(rules=Rules(is_active=False)), "inactive", "Ignored: the questionnaire is not active"),
            (ITEM, facts(rules=Rules(end_time=NOW)), "ended", ("Ignored: the pipeline ended on "
            "2026-11-23 12:00 Europe/Athens")),
            (ITEM, facts(rules=Rules(is_closed=True)), "closed",
             "Ignored: the questionnaire has all the responses it takes"),
            (REMINDER, facts(previous=replace(SENT, is_sent=False)), "previous_not_sent",
             "Ignored: the message before this one was not sent"),
            (REMINDER, facts(previous=replace(SENT, is_answered=True)), "already_answered",
             "Ignored: already answered"),
            (REMINDER, facts(previous=replace(SENT, is_expired=True)), "instance_expired",
             "Ignored: the questionnaire can no longer be answered"),
            (ITEM, facts(suppression=Suppression("unsubscribed", NOW - DAY)), "unsubscribed",
             "Ignored: unsubscribed on 2026-11-22"),
            (ITEM, facts(suppression=Suppression("hard_bounce", NOW - DAY)), "hard_bounce",
             "Ignored: the address did not exist on 2026-11-22"),
            (ITEM, facts(rules=Rules(conditions=IS_PICKUP)), "conditions",
             "Ignored: condition not met: store_pickup equal true"),
            (ITEM, facts(rules=Rules(conditions=NEITHER), metadata={"questionnaire_metadata:store_id": "7",
                                                                    "responder_metadata:name": "Bob"}),
             "conditions", "Ignored: condition not met: not name equal Bob"),
            (ITEM, facts(rules=Rules(cap=DAY), contacts=[Contact(NOW - timedelta(hours=2), "p" * 22, "j" * 22)]),
             "frequency_cap", "Ignored: asked on 2026-11-23 10:00, possible again from 2026-11-24 10:00 Europe/Athens"),
            (ITEM, facts(rules=Rules(policy=ONCE), contacts=[asked(2)]), "contact_policy",
             "Ignored: 1 invitation since 2026-11-21 12:00 Europe/Athens, limit 1 in 30 days"),
            (ITEM, facts(rules=Rules(policy=ONCE), contacts=[asked(29), asked(2)], titles={"q" * 22: "Returns"}),
             "contact_policy",
             ("Ignored: 2 invitations since 2026-10-25 12:00 Europe/Athens, limit 1 in 30 days;"
             " the last from “Returns”")),
            (ITEM, facts(rules=Rules(policy=ONCE), elsewhere=[asked(2)]), "contact_policy",
             "Ignored: 1 invitation since 2026-11-21 12:00 Europe/Athens, limit 1 in 30 days"),
            (ITEM, facts(rules=Rules(policy=replace(ONCE, days=1, counts_reminders=True)),
                         contacts=[asked(0.5, "reminder")]), "contact_policy",
             "Ignored: 1 message since 2026-11-23 00:00 Europe/Athens, limit 1 in 1 day"),
            (REMINDER, facts(rules=Rules(policy=replace(ONCE, counts_reminders=True)), previous=SENT,
                             contacts=[asked(2)]), "contact_policy",
             "Ignored: 1 message since 2026-11-21 12:00 Europe/Athens, limit 1 in 30 days"),
            (ITEM, facts(rules=Rules(policy=replace(ONCE, response_days=7)), responded_time=NOW - 6 * DAY),
             "contact_policy",
             "Ignored: answered on 2026-11-17 12:00, asked again from 2026-11-24 12:00 Europe/Athens"),
            (ITEM, facts(rules=Rules(window=EVENING, if_outside="skip")), "outside_window",
             "Ignored: outside the dispatch window"),
            (replace(ITEM, not_after=NOW), facts(), "too_late",
             "Ignored: not sent before 2026-11-23 12:00 Europe/Athens; held by: a backlog"),
            (replace(ITEM, not_after=NOW, is_belated=True), facts(), "too_late",
             "Ignored: it came after 2026-11-23 12:00 Europe/Athens, the latest time to send it"),
            (replace(ITEM, not_after=NOW, reason="throttled"), facts(), "too_late",
             "Ignored: not sent before 2026-11-23 12:00 Europe/Athens; held by: a provider that takes no more for now"),
            (replace(ITEM, not_after=NOW + timedelta(hours=1)), facts(rules=Rules(window=EVENING)), "too_late",
             "Ignored: not sent before 2026-11-23 13:00 Europe/Athens; held by: the dispatch window"),
            (ITEM, facts(rules=Rules(start_time=NOW + 3 * DAY)), "too_late",
             "Ignored: not sent before 2026-11-26 12:00 Europe/Athens; held by: a pipeline that has not started"),
        ],
    )  # fmt: skip
    def test_skip(self, item: Item, known: Facts, reason: str, text: str) -> None:
        decision = decide(item=item, facts=known, now=NOW)

        assert ("skip", reason, text, None) == (decision.verdict, decision.reason, decision.text, decision.until)

    @pytest.mark.parametrize(
        ("item", "known", "reason", "text", "until"),
        [
            (ITEM, facts(rules=Rules(start_time=NOW + DAY)), "not_started",
             "Held: the pipeline starts on 2026-11-24 12:00 Europe/Athens", NOW + DAY),
            (REMINDER, facts(previous=replace(SENT, is_open=True, is_sent=False)), "previous_open",
             "Held: the message before this one is still under way", NOW + timedelta(minutes=15)),
            (ITEM, facts(previous=replace(SENT, is_open=True, is_sent=False)), "previous_open",
             "Held: the message before this one is still under way", NOW + timedelta(minutes=15)),
            (ITEM, facts(rules=Rules(cap=DAY, if_capped="wait"),
                         contacts=[Contact(NOW - timedelta(hours=2), "p" * 22, "j" * 22)]), "frequency_cap",
             ("Held: asked on 2026-11-23 10:00,"
             " possible again from 2026-11-24 10:00 Europe/Athens"), NOW + timedelta(hours=22)),
        ],
    )  # fmt: skip
    def test_hold(self, item: Item, known: Facts, reason: str, text: str, until: datetime) -> None:
        decision = decide(item=item, facts=known, now=NOW)

        assert ("hold", reason, text, until) == (decision.verdict, decision.reason, decision.text, decision.until)

    @pytest.mark.parametrize(
        ("known", "reason", "text", "until"),
        [
            (facts(rules=Rules(policy=replace(ONCE, if_exceeded="wait")), contacts=[asked(28)]), "contact_policy",
             "Held: 1 invitation since 2026-10-26 12:00 Europe/Athens, limit 1 in 30 days", NOW + 2 * DAY),
            # Of three places in ten days the first one that is free again.
            (facts(rules=Rules(policy=Policy(invitations_max=3, days=10, if_exceeded="wait")),
                   contacts=[asked(9), asked(5), asked(2), asked(1)]), "contact_policy",
             "Held: 4 invitations since 2026-11-14 12:00 Europe/Athens, limit 3 in 10 days", NOW + 5 * DAY),
            (facts(rules=Rules(policy=replace(ONCE, response_days=7, if_exceeded="wait")),
                   responded_time=NOW - 6 * DAY), "contact_policy",
             "Held: answered on 2026-11-17 12:00, asked again from 2026-11-24 12:00 Europe/Athens", NOW + DAY),
            (facts(rules=Rules(policy=ONCE), competitors=["Returns"]), "contact_policy",
             "Held: makes way for “Returns”, which is due for the same person and goes first",
             NOW + timedelta(minutes=5)),
            (facts(block=Block("paused", "the pipeline is paused")), "paused", "Held: the pipeline is paused", None),
            (facts(block=Block("account_resting", "the provider does not respond", NOW + timedelta(minutes=5))),
             "account_resting",
             "Held: the provider does not respond, tried again at 2026-11-23 12:05 Europe/Athens",
             NOW + timedelta(minutes=5)),
        ],
    )  # fmt: skip
    def test_hold_for_others(self, known: Facts, reason: str, text: str, until: datetime | None) -> None:
        decision = decide(item=replace(ITEM, not_after=NOW + 9 * DAY), facts=known, now=NOW)

        assert ("hold", reason, text, until) == (decision.verdict, decision.reason, decision.text, decision.until)

    def test_a_pause_outlasts_what_is_too_late(self) -> None:
        known = facts(block=Block("paused", "the pipeline is paused"))

        decision = decide(item=replace(ITEM, not_after=NOW), facts=known, now=NOW)

        assert ("skip", "too_late") == (decision.verdict, decision.reason)

    @pytest.mark.parametrize(
        ("item", "known"),
        [
            (ITEM, facts(rules=Rules(policy=ONCE))),
            (ITEM, facts(rules=Rules(policy=ONCE), contacts=[asked(30)])),
            (ITEM, facts(rules=Rules(policy=ONCE), contacts=[asked(2, item_id=ITEM.item_id)])),  # its own place
            (ITEM, facts(rules=Rules(policy=ONCE), contacts=[asked(2, "reminder")])),
            (ITEM, facts(rules=Rules(policy=ONCE, is_exempt=True), contacts=[asked(2)], competitors=["Returns"])),
            (ITEM, facts(rules=Rules(policy=replace(ONCE, invitations_max=2)), contacts=[asked(2)])),
            (ITEM, facts(rules=Rules(policy=replace(ONCE, invitations_max=2)), competitors=["Returns"])),
            (ITEM, facts(rules=Rules(policy=replace(ONCE, response_days=7)), responded_time=NOW - 7 * DAY)),
            (REMINDER, facts(rules=Rules(policy=ONCE), previous=SENT, contacts=[asked(2)])),
            (ITEM, facts(contacts=[asked(2)])),  # no policy
        ],
    )
    def test_the_policy_passes(self, item: Item, known: Facts) -> None:
        assert "go" == decide(item=item, facts=known, now=NOW).verdict

    def test_hold_on_a_holiday_even_if_outside_means_skip(self) -> None:
        rules = Rules(holidays=DaysOff(dates=frozenset({NOW.date()})), if_outside="skip")

        decision = decide(item=ITEM, facts=facts(rules=rules), now=NOW)

        assert ("hold", "holiday") == (decision.verdict, decision.reason)
        assert decision.text is not None
        assert decision.text.startswith("Held until 2026-11-24 00:0")
        assert decision.text.endswith(" Europe/Athens: a holiday")

    def test_hold_until_the_window_opens(self) -> None:
        decision = decide(item=ITEM, facts=facts(rules=Rules(window=EVENING)), now=NOW)

        assert ("hold", "outside_window") == (decision.verdict, decision.reason)
        opens = datetime(2026, 11, 23, 16, 0, tzinfo=UTC)
        assert decision.until is not None
        assert opens <= decision.until <= opens + timedelta(minutes=10)
        local = decision.until + timedelta(hours=2)
        assert f"Held until {local:%Y-%m-%d %H:%M} Europe/Athens: outside the dispatch window" == decision.text

    def test_hold_in_quiet_hours_even_if_outside_means_skip(self) -> None:
        rules = Rules(quiet=Hours(time(11), time(13)), if_outside="skip")

        decision = decide(item=ITEM, facts=facts(rules=rules), now=NOW)

        assert ("hold", "quiet_hours") == (decision.verdict, decision.reason)

    @pytest.mark.parametrize(
        ("item", "known"),
        [
            (ITEM, facts()),
            (ITEM, facts(rules=Rules(start_time=NOW, end_time=NOW + DAY))),
            (ITEM, facts(rules=Rules(conditions=IS_PICKUP), metadata={"questionnaire_metadata:store_pickup": True})),
            (ITEM, facts(rules=Rules(cap=DAY), contacts=[Contact(NOW - DAY, "p" * 22, "j" * 22)])),
            (ITEM, facts(rules=Rules(cap=DAY), contacts=[Contact(NOW, "q" * 22, "j" * 22)])),  # another pipeline
            (ITEM, facts(rules=Rules(cap=DAY), contacts=[Contact(NOW, "p" * 22, "i" * 22)])),  # its own place
            (REMINDER, facts(rules=Rules(cap=DAY), contacts=[Contact(NOW, "p" * 22, "j" * 22)], previous=SENT)),
            (ITEM, facts(rules=Rules(window=Hours(time(12), time(13))))),
        ],
    )
    def test_go(self, item: Item, known: Facts) -> None:
        decision = decide(item=item, facts=known, now=NOW)

        assert ("go", None, None, None) == (decision.verdict, decision.reason, decision.text, decision.until)

    def test_the_first_rule_decides_and_all_are_evaluated(self) -> None:
        known = facts(rules=Rules(conditions=IS_PICKUP, window=EVENING), suppression=Suppression("blocked", NOW))

        decision = decide(item=ITEM, facts=known, now=NOW)

        assert "blocked" == decision.reason
        names = [
            "period", "credits", "previous", "suppression", "conditions", "frequency_cap", "contact_policy", "window",
            "expiry",
        ]  # fmt: skip
        assert names == [check.rule for check in decision.checks]
        failed = [check.as_trace["rule"] for check in decision.checks if not check.as_trace["passed"]]
        assert ["suppression", "conditions", "window"] == failed

    def test_a_long_text_is_cut(self) -> None:
        node = tree({"subject": f"questionnaire_metadata:{'n' * 255}", "operator": "equal", "value": "v" * 500})

        decision = decide(item=ITEM, facts=facts(rules=Rules(conditions=node)), now=NOW)

        assert decision.text is not None
        assert 500 == len(decision.text)


rules_of = st.builds(
    Rules,
    start_time=st.none() | st.just(NOW + timedelta(hours=30)),
    window=st.none() | st.just(EVENING) | st.just(Hours(time(22), time(5))),
    weekdays=st.frozensets(st.integers(1, 7), min_size=1),
    quiet=st.none() | st.just(Hours(time(21), time(8))),
    if_outside=st.sampled_from(["wait", "skip"]),
    cap=st.sampled_from([timedelta(0), DAY]),
    if_capped=st.sampled_from(["wait", "skip"]),
)
pasts = st.integers(0, 100).map(lambda hours: NOW - timedelta(hours=hours))
contacts_of = st.lists(st.builds(Contact, pasts, st.just("p" * 22), st.text("ijk", min_size=1, max_size=1)), max_size=4)


@given(rules_of, contacts_of, st.integers(1, 400), st.sampled_from(["Europe/Athens", "Pacific/Apia", "UTC"]))
def test_a_held_item_is_decided_in_the_end(rules: Rules, contacts: list[Contact], hours: int, zone_name: str) -> None:
    """Looked at again when its hold ends, an item goes or is skipped after a few looks, never against a rule."""
    item, now = replace(ITEM, not_after=NOW + timedelta(hours=hours)), NOW
    known = Facts(rules=rules, zone_name=zone_name, contacts=contacts)
    decision = decide(item=item, facts=known, now=now)
    for _ in range(12):
        if decision.verdict != "hold":
            break
        assert decision.until is not None
        assert now < decision.until < item.not_after
        now = decision.until
        decision = decide(item=item, facts=known, now=now)
    assert decision.verdict in {"go", "skip"}
    if decision.verdict == "go":
        opening = decisions.windows.next_opening(known.rules.calendar(known.zone_name), now)
        assert opening is not None
        assert opening.start <= now < item.not_after


class TestFirstDue:
    def test_in_the_past(self) -> None:
        assert NOW == self.due(Rules(), NOW - 9 * DAY)

    def test_later(self) -> None:
        assert NOW + DAY == self.due(Rules(), NOW + DAY)

    def test_at_the_start_of_the_pipeline(self) -> None:
        assert NOW + 2 * DAY == self.due(Rules(start_time=NOW + 2 * DAY), NOW)

    def test_at_the_next_opening(self) -> None:
        due = self.due(Rules(window=EVENING), NOW)

        opens = datetime(2026, 11, 23, 16, 0, tzinfo=UTC)
        assert opens <= due <= opens + timedelta(minutes=10)

    def test_where_outside_means_skip_the_decision_says_so(self) -> None:
        assert NOW == self.due(Rules(window=EVENING, if_outside="skip"), NOW)

    def test_never_after_it_is_too_late(self) -> None:
        assert NOW + 3 * DAY == self.due(Rules(start_time=NOW + 30 * DAY), NOW)

    def due(self, rules: Rules, send_time: datetime) -> datetime:
        return decisions.first_due(
            rules=rules,
            zone_name="Europe/Athens",
            item_id="i" * 22,
            send_time=send_time,
            not_after=NOW + 3 * DAY,
            now=NOW,
        )


class TestCountedFrom:
    def counted(self, text: str, delay: timedelta) -> datetime:
        found = decisions.counted_from(text, delay=delay, zone=ZoneInfo("Europe/Athens"), now=NOW)
        return found.instant.astimezone(timezone(timedelta(minutes=found.offset_minutes)))

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("soon", "invalid_format"),
            ("2026-13-01", "invalid_format"),
            ("11/20/2026", "invalid_format"),
            ("2026-11-20 24:00", "invalid_date_time"),
            ("1492-10-12", "out_of_range"),
            ("9999-12-31", "out_of_range"),
        ],
    )
    def test_refused(self, text: str, code: str) -> None:
        with pytest.raises(InvalidDateTime) as refusal:
            self.counted(text, DAY)
        assert code == refusal.value.code

    @pytest.mark.parametrize(
        ("text", "delay", "expected"),
        [
            ("2026-11-20", 3 * DAY, "2026-11-23T00:00+02:00"),
            ("20/11/2026", 3 * DAY, "2026-11-23T00:00+02:00"),
            ("2026-11-20", timedelta(0), "2026-11-20T00:00+02:00"),
            ("2026-11-20", timedelta(hours=9, minutes=30), "2026-11-20T09:30+02:00"),
            ("2026-11-20 18:02:11", DAY, "2026-11-21T18:02:11+02:00"),
            ("2026-11-20T12:00:00Z", DAY, "2026-11-21T14:00+02:00"),
            ("2026-11-20 12:00 0100", DAY, "2026-11-21T13:00+02:00"),  # a plus that a form lost
            ("2026-10-23", 3 * DAY, "2026-10-26T00:00+02:00"),  # a day of 25 hours between
            ("2026-10-25", timedelta(hours=9), "2026-10-25T09:00+02:00"),
            ("2026-10-24 03:30", DAY, "2026-10-25T03:30+03:00"),  # the first of two
            ("2026-03-27 03:30", 2 * DAY, "2026-03-29T04:00+03:00"),  # clocks jump over it
        ],
    )
    def test_ok(self, text: str, delay: timedelta, expected: str) -> None:
        found = self.counted(text, delay)
        assert (datetime.fromisoformat(expected), expected[-6:]) == (found, found.isoformat()[-6:])


@pytest.mark.parametrize(
    ("send_time", "not_after_days", "valid_days", "expected"),
    [
        (NOW - 9 * DAY, 3, 30, NOW + 3 * DAY),
        (NOW + 9 * DAY, 3, 30, NOW + 12 * DAY),
        (NOW, 30, 7, NOW + 7 * DAY),
        (NOW, 30, 0, NOW + 30 * DAY),
    ],
)
def test_expiry(send_time: datetime, not_after_days: int, valid_days: int, expected: datetime) -> None:
    assert expected == decisions.expiry(
        send_time=send_time, created_time=NOW, not_after_days=not_after_days, valid_days=valid_days
    )
