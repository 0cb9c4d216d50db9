"""The score that a click in a mail chose: refusals, an answer at a person's first sign, provisional answers."""

import re
from datetime import datetime, timedelta
from html import unescape
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from afterword.asking.instances import choices
from afterword.asking.instances.store import Instance
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.run.worker.retention import RETENTION
from tests.asking.instances.spam.test_service import DOUBTFUL, judge, seen, told
from tests.browser import markup
from tests.listening.reports.conftest import (
    CHOICE,
    NPS,
    TEXT,
    House,
    house as house,  # noqa: PLC0414  a fixture
    make_questionnaire,
    now as now,  # noqa: PLC0414  a fixture
)
from tests.pruning import prune_of as prune

MINUTE = timedelta(minutes=1)
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36"
NOTHING = {"figure": 0, "listed": 0, "cases": 0, "times": [False, False, False]}
TWO_PAGES: dict[str, Any] = {
    "default_locale": "en",
    "locales": ["en", "el"],
    "groups": [
        {"group_id": f"{'FIRST':0<22}", "questions": [
            {"question_id": NPS, "type": "nps", "title": "How likely?", "translations": {"el": {"title": "A"}}},
            {"question_id": TEXT, "type": "text", "title": "Why so low?", "translations": {"el": {"title": "B"}},
             "show_if": {"subject": f"question:{NPS}", "operator": "less_equal", "value": 6}},
        ]},
        {"group_id": f"{'LAST':0<22}", "questions": [
            {"question_id": CHOICE, "type": "yes_no", "title": "Again?", "translations": {"el": {"title": "C"}}},
        ]},
    ],
}  # fmt: skip


def said(answer: httpx2.Response) -> str:
    """Without the signs that isolate a value from the direction of its sentence."""
    return re.sub("[\u2068\u2069]", "", answer.json()["said"])


class Page:
    """The page that a score opened, as its script knows it."""

    def __init__(self, house: House, instance: Instance, question_id: str = NPS, value: int = 9, **more: str) -> None:
        self.house, self.instance, self.question_id, self.value = house, instance, question_id, value
        self.source = more.get("source", "203.0.113.7")
        self.agent = more.get("agent", CHROME)

    @property
    def path(self) -> str:
        return f"/a/{self.instance.instance_id}"

    async def ask(self, method: str, path: str, **data: str) -> httpx2.Response:
        transport = httpx2.ASGITransport(app=self.house.http._transport.app, client=(self.source, 1))  # pyrefly: ignore
        async with httpx2.AsyncClient(transport=transport, base_url=str(self.house.http.base_url)) as client:
            return await client.request(method, path, data=data or None, headers={"User-Agent": self.agent})

    async def opened(self) -> dict[str, str]:
        page = await self.ask("GET", f"{self.path}?q={self.question_id}&v={self.value}")
        found = re.search(r'<p class="note" role="status"([^>]*)>', page.text)
        return dict(re.findall(r'data-(\w+)="([^"]*)"', unescape(found[1]))) if found else {}

    async def tell(self, sign: str, value: int | str | None = None, **more: str) -> httpx2.Response:
        data = await self.opened()
        posted = {"token": data["token"], "q": data["question"], "v": str(self.value if value is None else value)}
        return await self.ask("POST", data["choice"], **{**posted, "sign": sign, **more})


async def issued(house: House, now: datetime, **more: Any) -> Instance:
    return await house.respond({}, now=now - timedelta(hours=2), **more)


async def kept(house: House) -> dict[str, Any]:
    """Answers, with whether they are kept apart; openings; flags of the instances."""
    async with db.connection(house.pool) as database:
        answers = await database.fetch("select question_id, value, provisional from answer order by instance_id")
        return {
            "answers": [(row["question_id"], row["value"], row["provisional"]) for row in answers],
            "openings": await database.fetch_value("select count(*) from link_opening"),
            "flags": await database.fetch_value("select flags from questionnaire_instance where flags is not null"),
        }


async def judge_all(house: House, *, after: timedelta = choices.JUDGED_AFTER) -> int:
    async with db.transaction(house.pool) as database:
        return await choices.judge_due(database, now=database.clock.now() + after, limit=choices.JUDGED_MAX)


async def set_organization(house: House, **columns: bool) -> None:
    path = f"/organization/{house.caller.organization_id}"
    assert 200 == (await house.send("PATCH", path, columns)).status_code


class TestRefusals:
    async def test_nothing_of_it_is_ours(self, house: House, now: datetime) -> None:
        """Without the token, with that of another question or form, with another sign or value: nothing is written."""
        page = Page(house, await issued(house, now))
        data = await page.opened()
        other = await Page(house, page.instance, CHOICE, 2).opened()
        form = markup.read((await page.ask("GET", page.path)).text).fields["token"]
        right = {"token": data["token"], "q": NPS, "v": "9", "sign": "person"}
        for wrong in ({"token": ""}, {"token": other["token"]}, {"token": form}, {"sign": "x"}, {"q": CHOICE}):
            assert 403 == (await page.ask("POST", data["choice"], **{**right, **wrong})).status_code, wrong
        for value in ("11", "-1", "", "9 9", "x"):
            assert 409 == (await page.ask("POST", data["choice"], **{**right, "v": value})).status_code, value
        for path in ("/a/no/choice", f"/a/{'x' * 22}/choice"):
            assert (await page.ask("POST", path, **right)).status_code in {403, 404}
        assert 405 == (await page.ask("GET", data["choice"])).status_code
        assert {"answers": [], "openings": 0, "flags": None} == await kept(house)
        assert ["created"] == await told(house, page.instance)

    async def test_not_open(self, house: House, now: datetime) -> None:
        """Whoever has sent all answers changes them on the page alone."""
        done, page = Page(house, await house.respond({NPS: 3}, now=now - MINUTE)), Page(house, await issued(house, now))
        for one, active in ((done, True), (page, False)):
            await house.send("PATCH", f"/q/questionnaire/{house.questionnaire_id}", {"active": active})
            token = choices.token_of(b"k" * 32, choices.CHOICE_PURPOSE, f"{one.instance.instance_id}/{NPS}")
            refused = await one.ask("POST", f"{one.path}/choice", token=token, q=NPS, v="9", sign="person")
            assert 409 == refused.status_code
        assert [(NPS, 3, False)] == (await kept(house))["answers"]

    async def test_switched_off(self, house: House, now: datetime) -> None:
        page = Page(house, await issued(house, now))
        data = await page.opened()
        await set_organization(house, click_answers=False)
        assert {} == await page.opened()
        posted = {"token": data["token"], "q": NPS, "v": "9", "sign": "person"}
        assert 409 == (await page.ask("POST", data["choice"], **posted)).status_code
        shown = (await page.ask("GET", f"{page.path}?q={NPS}&v=9")).text
        assert ("It is saved when you go on.", False) == (
            re.findall(r"It is saved when you go on\.", shown)[0],
            "choice.js" in shown,
        )

    async def test_no_score_of_a_mail(self, house: House, now: datetime) -> None:
        """Of questions that no mail asks, the form alone stores the answer."""
        page = Page(house, await issued(house, now))
        assert {} == await Page(house, page.instance, TEXT).opened()
        assert "choice.js" not in (await page.ask("GET", page.path)).text
        for name in (NPS, "x", ""):
            assert "Recorded" not in (await page.ask("GET", f"{page.path}?recorded={name}")).text


class TestPerson:
    async def test_answer(self, house: House, now: datetime) -> None:
        """As if the page had been sent: once, with the events, figures and rules of an answer."""
        page = Page(house, await issued(house, now))
        assert 204 == (await page.tell("opened")).status_code
        recorded = await page.tell("person")
        assert ("Recorded: 9", "") == (said(recorded), recorded.json()["next"])  # the page asks other questions too
        await page.tell("person")
        assert ["created", "viewed", "submitted"] == await told(house, page.instance)
        assert {"figure": 1, "listed": 1, "cases": 0, "times": [True, True, False]} == await seen(house, page.instance)
        assert {"answers": [(NPS, 9, False)], "openings": 1, "flags": None} == await kept(house)

    async def test_change_of_mind(self, house: House, now: datetime) -> None:
        """On the page, and by another score of the mail."""
        page = Page(house, await issued(house, now))
        await page.tell("opened")
        await page.tell("person")
        assert "Recorded: 3" == said(await page.tell("person", 3))
        assert [(NPS, 3, False)] == (await kept(house))["answers"]
        again = Page(house, page.instance, value=8)
        await again.tell("opened")
        assert "Recorded: 8" == said(await again.tell("person"))
        assert {"answers": [(NPS, 8, False)], "openings": 2, "flags": None} == await kept(house)
        assert ["created", "viewed", "submitted", "changed", "changed"] == await told(house, page.instance)

    async def test_questions_go_on(self, house: House, now: datetime) -> None:
        """To the next page, to a question that the score makes appear, and in the reader's language."""
        async with db.transaction(house.pool) as database:
            questionnaire_id = await make_questionnaire(
                database, house.caller.organization_id, house.application_id, TWO_PAGES
            )
        for value, place, locale, sentence, asked in (
            (9, "?page=2", "en", "Recorded: 9", "Again?"),
            (3, "?page=1", "en", "Recorded: 3", "Why so low?"),
            (10, "?page=2", "el", "Καταχωρίστηκε: 10", "<legend>C"),
        ):
            instance = await issued(house, now, questionnaire_id=questionnaire_id, locale=locale)
            page = Page(house, instance, value=value)
            answer = await page.tell("person")
            following = answer.json()["next"]
            assert (sentence, f"{page.path}{place}&recorded={NPS}") == (said(answer), following)
            shown = (await page.ask("GET", following)).text
            assert (True, True) == (answer.json()["said"] in shown, asked in shown), shown
            last = await Page(house, instance, CHOICE, 1).tell("person")
            assert ("", False) == (last.json()["next"], "1" in said(last))  # its label


class TestProvisional:
    async def test_kept_apart_until_it_is_judged(self, house: House, now: datetime) -> None:
        rule = {"title": "Unhappy", "application_id": house.application_id, "trigger": "answer",
                "questionnaire_ids": [house.questionnaire_id],
                "conditions": {"subject": f"question:{NPS}", "operator": "less_equal", "value": 6}}  # fmt: skip
        made = await house.send("POST", "/alert", {**rule, "trigger": "submitted"})
        assert 201 == made.status_code, made.text
        page = Page(house, await issued(house, now), value=2)
        await page.tell("opened")
        assert 204 == (await page.tell("seen")).status_code
        assert (NOTHING, ["created"]) == (await seen(house, page.instance), await told(house, page.instance))
        assert {"answers": [(NPS, 2, True)], "openings": 1, "flags": ["provisional"]} == await kept(house)
        [row] = (await house.get(DOUBTFUL, flag="provisional")).json()["results"]
        assert ("held", ["provisional"]) == (row["state"], row["flags"])

        assert 0 == await judge_all(house, after=timedelta(minutes=9))
        assert (1, 0) == (await judge_all(house), await judge_all(house))
        assert {"figure": 1, "listed": 1, "cases": 1, "times": [True, True, False]} == await seen(house, page.instance)
        assert ["created", "accepted", "viewed", "submitted"] == await told(house, page.instance)
        assert [(NPS, 2, False)] == (await kept(house))["answers"]

    async def test_person_comes_later(self, house: House, now: datetime) -> None:
        """The page asks anew, and what the person answers takes the place of the provisional answer."""
        page = Page(house, await issued(house, now), value=0)
        await page.tell("seen")
        shown = markup.read((await page.ask("GET", page.path)).text).fields
        assert ("1", False) == (shown["page"], "checked" in (await page.ask("GET", page.path)).text)
        sent = await page.ask("POST", page.path, **{**shown, f"q_{NPS}": "9", "go": "next"})
        assert 303 == sent.status_code
        assert ([(NPS, 9, False)], None) == ((await kept(house))["answers"], (await kept(house))["flags"])
        await judge_all(house)
        assert ["created", "viewed", "submitted"] == await told(house, page.instance)

    async def test_confirmed_on_the_page(self, house: House, now: datetime) -> None:
        page = Page(house, await issued(house, now))
        await page.tell("seen")
        assert "Recorded: 9" == said(await page.tell("person"))
        assert 0 == await judge_all(house)
        assert {"answers": [(NPS, 9, False)], "openings": 1, "flags": None} == await kept(house)

    async def test_never_over_an_answer(self, house: House, now: datetime) -> None:
        page = Page(house, await issued(house, now))
        await page.tell("person", 3)
        await page.tell("seen")
        assert ([(NPS, 3, False)], 0) == ((await kept(house))["answers"], await judge_all(house))

    async def test_switched_off(self, house: House, now: datetime) -> None:
        """Before it comes: it is not stored. Before it is judged: it waits for a person."""
        page = Page(house, await issued(house, now))
        await page.tell("seen")
        await set_organization(house, accepts_provisional=False)
        assert 0 == await judge_all(house)
        assert [(NPS, 9, True)] == (await kept(house))["answers"]
        other = Page(house, await issued(house, now), source="198.51.100.1")
        assert "0" == (await other.opened())["seconds"]
        await other.tell("seen")
        assert [(NPS, 9, True)] == (await kept(house))["answers"]
        assert 1 == await judge(house, page.instance)
        assert [(NPS, 9, False)] == (await kept(house))["answers"]

    async def test_tests(self, house: House, now: datetime) -> None:
        """A test gives none, as it is held back by nothing."""
        page = Page(house, await issued(house, now))
        async with db.transaction(house.pool) as database:
            await database.execute("update questionnaire_instance set test = true")
        await page.tell("seen")
        assert [] == (await kept(house))["answers"]
        assert "Recorded: 9" == said(await page.tell("person"))


class TestChecks:
    @pytest.mark.parametrize("is_after", [False, True])
    async def test_other_links_of_the_mail(self, house: House, now: datetime, is_after: bool) -> None:  # noqa: FBT001
        page = Page(house, await issued(house, now))
        other = Page(house, page.instance, value=1)
        await page.tell("opened")
        if is_after:
            await page.tell("seen")
        await other.tell("opened")
        if not is_after:
            await page.tell("seen")
        await judge_all(house)
        assert (NOTHING, ["many_links", "provisional"]) == (
            await seen(house, page.instance),
            (await kept(house))["flags"],
        )

    async def test_most_links_opened_hold_a_person_back_too(self, house: House, now: datetime) -> None:
        """Programs can make events that browsers trust: whoever opened most scores confirms by the button."""
        page = Page(house, await issued(house, now))
        for value in range(11):
            await Page(house, page.instance, value=value).tell("opened")
        assert 204 == (await page.tell("person")).status_code
        assert (NOTHING, 11) == (await seen(house, page.instance), (await kept(house))["openings"])
        shown = markup.read((await page.ask("GET", page.path)).text).fields
        assert 303 == (await page.ask("POST", page.path, **{**shown, f"q_{NPS}": "9", "go": "next"})).status_code
        assert [(NPS, 9, False)] == (await kept(house))["answers"]

    @pytest.mark.parametrize("is_told", [False, True])
    async def test_program(self, house: House, now: datetime, is_told: bool) -> None:  # noqa: FBT001
        """By what the script says, and by the name in the request."""
        agent = CHROME if is_told else CHROME.replace("Chrome/", "HeadlessChrome/")
        page = Page(house, await issued(house, now), agent=agent)
        more = {"automated": "1"} if is_told else {}
        await page.tell("opened", **more)
        assert 204 == (await page.tell("seen", **more)).status_code
        assert 204 == (await page.tell("person", **more)).status_code
        await judge_all(house)
        assert (NOTHING, ["automated", "provisional"]) == (
            await seen(house, page.instance),
            (await kept(house))["flags"],
        )

    async def test_several_recipients_of_one_network(self, house: House, now: datetime) -> None:
        """Within seconds both wait for a person; from other networks, or minutes apart, each is accepted."""
        first, second = [Page(house, await issued(house, now), source=f"203.0.113.{n}") for n in (7, 8)]
        third = Page(house, await issued(house, now), source="198.51.100.9")
        for page in (first, second, third):
            await page.tell("opened")
            await page.tell("seen")
        assert 3 == await judge_all(house)
        waiting = (await house.get(DOUBTFUL, flag="one_network")).json()["results"]
        assert {first.instance.instance_id, second.instance.instance_id} == {one["instance_id"] for one in waiting}
        assert {"figure": 1, "listed": 1, "cases": 0, "times": [True, True, False]} == await seen(house, third.instance)

    async def test_minutes_apart(self, house: House, now: datetime) -> None:
        first, second = [Page(house, await issued(house, now), source=f"203.0.113.{n}") for n in (7, 8)]
        await first.tell("seen")
        async with db.transaction(house.pool) as database:
            await database.execute("update link_opening set opened_time = opened_time - interval '31 seconds'")
        await second.tell("seen")
        assert 2 == await judge_all(house)
        assert 2 == (await seen(house, first.instance))["figure"]

    def test_key_of_a_network(self) -> None:
        """A hash that differs in each organization, and is the same for the addresses of a network."""

        def key(organization_id: str, address: str) -> str:
            request: Any = SimpleNamespace(
                client=SimpleNamespace(host=address), headers={}, state=SimpleNamespace(site=Site("", b"k" * 32))
            )
            instance: Any = SimpleNamespace(organization_id=organization_id)
            return choices.opening_of(request, instance, "seen", says_automated=False).network

        assert key("a", "203.0.113.7") == key("a", "203.0.113.99")
        assert 3 == len({key("a", "203.0.113.7"), key("a", "203.0.114.7"), key("b", "203.0.113.7")})
        assert re.fullmatch(r"[0-9a-f]{32}", key("a", "203.0.113.7"))


class TestTrace:
    async def test_bounded(self, house: House, now: datetime) -> None:
        async with db.transaction(house.pool) as database:
            instance = await issued(house, now)
            for value in range(choices.OPENINGS_MAX + 5):
                await choices._insert_opening(
                    database, **instance.key, question_id=NPS, value=value, network="n", now=now
                )
        assert choices.OPENINGS_MAX == (await kept(house))["openings"]

    async def test_gone_after_two_days(self, house: House, now: datetime) -> None:
        page = Page(house, await issued(house, now))
        await page.tell("opened")
        old = RETENTION["openings of scores in mails"]
        async with db.transaction(house.pool) as database:
            moment = database.clock.now()
            assert 0 == await prune(database, old, now=moment + choices.KEPT - MINUTE)
            assert 1 == await prune(database, old, now=moment + choices.KEPT + MINUTE)
