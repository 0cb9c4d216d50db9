"""A score of a mail in a browser: recorded once a person is there, and eight programs that run the page's script."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pytest
from playwright.async_api import Browser, BrowserContext, Page, Response, expect

from afterword.asking.instances import choices
from afterword.asking.instances.store import Instance
from afterword.kit import db
from tests.bar import Tell
from tests.browser.conftest import Shop, move_on
from tests.browser.test_scanners import CHROME

pytestmark = pytest.mark.asyncio(loop_scope="session")

WAIT_MILLISECONDS_MAX: Final = 30_000
ORDINARY: Final = "delete Navigator.prototype.webdriver"  # as in the browser of a person, or of a program that hides
HEADLESS: Final = CHROME.replace("Chrome/", "HeadlessChrome/")
UNSEEN: Final = """
    Object.defineProperty(Document.prototype, "visibilityState", { get: () => "hidden" });
    Object.defineProperty(Document.prototype, "prerendering", { get: () => true });
"""
NO_SCREEN: Final = "for (const side of ['width', 'height']) Object.defineProperty(Screen.prototype, side, { value: 0 })"


def link(shop: Shop, instance: Instance, value: int = 9) -> str:
    return f"{shop.url}/a/{instance.instance_id}?q={shop.question_id('nps')}&v={value}"


@asynccontextmanager
async def opened(browser: Browser, *, script: str = ORDINARY, **more: Any) -> AsyncGenerator[BrowserContext]:
    options: dict[str, Any] = {"user_agent": CHROME, "viewport": {"width": 360, "height": 760}, **more}
    context = await browser.new_context(**options)
    context.set_default_timeout(WAIT_MILLISECONDS_MAX)
    if script:
        await context.add_init_script(script)
    yield context
    await context.close()


def is_sign(name: str) -> Callable[[Response], bool]:
    return lambda answer: answer.url.endswith("/choice") and f"sign={name}" in (answer.request.post_data or "")


async def told(page: Page, name: str, act: Callable[[], Awaitable[Any]]) -> int:
    """The status with which the page's sign was answered that follows from an act."""
    async with page.expect_response(is_sign(name)) as answer:
        await act()
    return (await answer.value).status


class TestPerson:
    async def test_moves(self, shop: Shop, browser: Browser) -> None:
        """The page says it and asks on; a change of mind replaces the score; the form goes on as always."""
        instance = await shop.issue()
        async with opened(browser) as context:
            page = await context.new_page()
            assert 204 == await told(page, "opened", lambda: page.goto(link(shop, instance)))
            note = page.locator(".intro .note")
            await expect(note).to_have_text("\u00a0")
            assert 200 == await move_on(page, is_sign("person"))
            await expect(note).to_have_text("Recorded: \u20689\u2069")
            assert {"nps": 9} == await shop.answers(instance.instance_id)
            assert 200 == await told(page, "person", lambda: page.locator(".key").nth(7).click())
            await expect(note).to_have_text("Recorded: \u20687\u2069")
            await page.fill("textarea", "Late.")
            await page.click("button[value=next]")
            await page.wait_for_url("**page=2")
        assert {"nps": 7, "reason": "Late."} == await shop.answers(instance.instance_id)
        row = await shop.instance(instance.instance_id)
        assert (True, True, None) == (bool(row["viewed_time"]), bool(row["submitted_time"]), row["judgement"])

    async def test_presses_another_score(self, shop: Shop, browser: Browser) -> None:
        """Only that one is sent, never the one that was marked."""
        instance, sent = await shop.issue(), list[str]()
        async with opened(browser, has_touch=True) as context:
            page = await context.new_page()
            await page.clock.install()
            page.on("request", lambda one: sent.append(one.post_data or ""))
            await told(page, "opened", lambda: page.goto(link(shop, instance)))
            await told(page, "person", lambda: page.locator(".key").nth(3).tap())
            await page.clock.run_for(2_000)
            await expect(page.locator(".intro .note")).to_have_text("Recorded: \u20683\u2069")
        assert (1, {"nps": 3}) == (
            len([one for one in sent if "sign=person" in one]),
            await shop.answers(instance.instance_id),
        )

    async def test_presses_the_button_at_once(self, shop: Shop, browser: Browser) -> None:
        instance = await shop.issue()
        async with opened(browser, has_touch=True) as context:
            page = await context.new_page()
            await told(page, "opened", lambda: page.goto(link(shop, instance)))
            await page.locator("button[value=next]").tap()
            await page.wait_for_url("**page=2")
        assert {"nps": 9} == await shop.answers(instance.instance_id)

    async def test_one_question_a_page(self, shop: Shop, browser: Browser) -> None:
        """The next question takes the place of the page; Back leads to the score."""
        await shop.dress(layout="by_question")
        instance = await shop.issue(locale="el")
        async with opened(browser) as context:
            page = await context.new_page()
            await told(page, "opened", lambda: page.goto(link(shop, instance)))
            await page.keyboard.press("ArrowDown")
            await page.wait_for_url("**page=2&recorded=**")
            await expect(page.locator(".intro .note")).to_have_text("Καταχωρίστηκε: \u20689\u2069")
            await expect(page.locator("textarea")).to_be_visible()
            await page.click("button[value=back]")
            await expect(page.locator(".key input").nth(9)).to_be_checked()
        assert {"nps": 9} == await shop.answers(instance.instance_id)

    async def test_without_scripts(self, shop: Shop, browser: Browser) -> None:
        instance = await shop.issue()
        async with opened(browser, java_script_enabled=False, script="") as context:
            page = await context.new_page()
            await page.goto(link(shop, instance))
            await page.mouse.move(100, 30)
            await page.mouse.move(120, 40)
            await expect(page.locator(".intro .note")).to_have_text(
                "We have marked your answer. It is saved when you go on."
            )
            assert {} == await shop.answers(instance.instance_id)
            await page.click("button[value=next]")
            await page.wait_for_url("**page=2")
        assert {"nps": 9} == await shop.answers(instance.instance_id)

    async def test_only_looks(self, shop: Shop, browser: Browser) -> None:
        """Five seconds in front give a provisional answer, which counts ten minutes later; hidden seconds do not."""
        instance, hidden = await shop.issue(), await shop.issue()
        async with opened(browser) as context:
            page = await context.new_page()
            await page.clock.install()
            await told(page, "opened", lambda: page.goto(link(shop, instance)))
            await page.clock.run_for(4_000)
            assert {} == await shop.answers(instance.instance_id)
            assert 204 == await told(page, "seen", lambda: page.clock.run_for(2_000))
            await expect(page.locator(".intro .note")).to_have_text("\u00a0")
            other = await context.new_page()
            await other.add_init_script(UNSEEN.replace("true", "false"))
            await other.clock.install()
            await told(other, "opened", lambda: other.goto(link(shop, hidden)))
            await other.clock.run_for(60_000)
        assert (None, "held") == (await times(shop, instance), (await shop.instance(instance.instance_id))["judgement"])
        assert {} == await shop.answers(hidden.instance_id)
        async with db.transaction(shop.pool) as database:  # nobody else opened a mail
            await database.execute("delete from link_opening where instance_id = $1", hidden.instance_id)
        await judge(shop)
        assert "accepted" == (await shop.instance(instance.instance_id))["judgement"]
        assert await times(shop, instance)


async def times(shop: Shop, instance: Instance) -> object:
    row = await shop.instance(instance.instance_id)
    return row["viewed_time"] or row["submitted_time"] or row["completed_time"]


async def judge(shop: Shop) -> None:
    async with db.transaction(shop.pool) as database:
        await choices.judge_due(database, now=database.clock.now() + choices.JUDGED_AFTER, limit=100)


@dataclass(frozen=True)
class Program:
    """A browser that a program drives. `moves`: by the debugging protocol, so that browsers trust its events.

    `values`: the scores that it opens; `seconds`: for each page; `people`: whose mails it opens.
    """

    agent: str = CHROME
    script: str = ORDINARY
    values: tuple[int, ...] = (9,)
    seconds: int = 10
    people: int = 1
    moves: bool = False
    flags: frozenset[str] = field(default_factory=frozenset[str])


EVERY: Final = tuple(range(11))
PROGRAMS: Final = {
    "headless renderer": Program(HEADLESS, "", flags=frozenset({"automated"})),
    "driven by WebDriver, with its mouse and keys": Program(script="", moves=True, flags=frozenset({"automated"})),
    "preview of links, without a screen": Program(script=f"{ORDINARY};{NO_SCREEN}", flags=frozenset({"automated"})),
    "prefetched and prerendered": Program(script=f"{ORDINARY};{UNSEEN}", seconds=60),
    "scrolls by script and leaves": Program(seconds=3),
    "sandbox that opens all links": Program(values=EVERY, flags=frozenset({"many_links"})),
    "sandbox that opens all links, then moves in each": Program(
        values=EVERY, moves=True, seconds=0, flags=frozenset({"many_links"})
    ),
    "gateway of many recipients": Program(people=3, flags=frozenset({"one_network"})),
}


BY_SCRIPT: Final = """() => {
    scrollTo(0, document.body.scrollHeight);
    for (const name of ["pointermove", "pointerdown", "keydown", "touchstart", "wheel", "scroll"])
        for (const one of [document.body, document.querySelector(".key")])
            one.dispatchEvent(new Event(name, { bubbles: true }));
    for (const key of document.querySelectorAll(".key input")) key.click();
}"""


async def run(browser: Browser, shop: Shop, program: Program, there: list[Instance]) -> None:
    async with opened(browser, script=program.script, user_agent=program.agent) as context:
        await context.clock.install()
        later = list[Page]()
        for address in [link(shop, instance, value) for instance in there for value in program.values]:
            page = await context.new_page()
            is_seen = program.seconds >= choices.SEEN_SECONDS and UNSEEN not in program.script
            if UNSEEN in program.script:
                await page.goto(address)
            else:
                assert 204 == await told(page, "opened", partial(page.goto, address))
            await page.evaluate(BY_SCRIPT)
            if program.moves:
                later.append(page)
            elif is_seen:
                assert 204 == await told(page, "seen", partial(pass_time, page, program))
            else:
                await pass_time(page, program)
        for page in later:
            await page.bring_to_front()
            assert 204 == await move_on(page, is_sign("person"))
            await page.keyboard.press("End")


async def pass_time(page: Page, program: Program) -> None:
    await page.clock.run_for(1_000 * program.seconds)


@pytest.mark.parametrize("name", PROGRAMS)
async def test_programs_give_no_answer(shop: Shop, browser: Browser, tell: Tell, name: str) -> None:
    """At most a provisional one, which a check holds back; afterwards the link works for the person."""
    program = PROGRAMS[name]
    there = [await shop.issue() for _ in range(program.people)]
    await run(browser, shop, program, there)
    await judge(shop)
    for instance in there:
        row = await shop.instance(instance.instance_id)
        assert (None, 0) == (row["submitted_time"] or row["completed_time"], await shop.count_suppressions())
        assert program.moves or row["viewed_time"] is None
        flags: Any = row["flags"]
        assert (program.flags | {"provisional"} if program.flags else set()) == set(flags or ())
        assert ("held" if program.flags else None) == row["judgement"]
    async with opened(browser, java_script_enabled=False, script="") as context:
        page = await context.new_page()
        await page.goto(link(shop, there[0], 8))
        await page.click("button[value=next]")
        await page.wait_for_url("**page=2")
    assert (True, {"nps": 8}) == (bool(await times(shop, there[0])), await shop.answers(there[0].instance_id))
    tell("{pages} pages of programs that run scripts gave no answer", pages=len(there) * len(program.values))
