"""The public pages in a browser: readable by everyone, usable without script or mouse, light, and nobody else's."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, Literal

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, Response

from afterword import ids
from tests.browser import ends
from tests.browser.conftest import Shop, move_on, on_the_loop
from tests.sizes import one_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIRST_PAGE_BYTES_MAX = 20_000
TARGET_PIXELS_MIN = 44
KEY_PIXELS_MIN = 24  # WCAG 2.2, 2.5.8: eleven keys share a line of a page that is no phone
WAIT_MILLISECONDS_MAX = 30_000
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

Visit = Callable[[Page], Awaitable[Any]]
NewPage = Callable[..., Awaitable[Page]]


@on_the_loop
async def new_page(browser: Browser) -> AsyncIterator[NewPage]:
    """Opens pages; each has a context of its own, and notes the requests that it made."""
    contexts: list[BrowserContext] = []

    async def open_page(
        *, width: int = 360, scheme: Literal["dark", "light"] = "light", script: bool = True, **more: Any
    ) -> Page:
        context = await browser.new_context(
            viewport={"width": width, "height": 760},
            color_scheme=scheme,
            java_script_enabled=script,
            reduced_motion="reduce",
            **more,
        )
        context.set_default_timeout(WAIT_MILLISECONDS_MAX)
        contexts.append(context)
        return await context.new_page()

    yield open_page
    for context in contexts:
        await context.close()


async def scenes(shop: Shop, *, locale: str = "en") -> dict[str, Visit]:
    """Every public page by name, and how to get to it."""
    started, expired, done, unsubscribe_id = (
        await shop.issue(locale=locale),
        await shop.issue(locale=locale, valid_days=5),
        await shop.issue(locale=locale),
        await shop.unsubscribe_id(f"{ids.short_code()}@example.com"),
    )
    await shop.shift(expired.instance_id, 6)
    address = f"{shop.url}/a/{started.instance_id}"

    async def with_error(page: Page) -> None:
        await page.goto(f"{address}?page=2")
        await follow(page, "button[value=next]")

    async def thanks(page: Page) -> None:
        await page.goto(f"{shop.url}/a/{done.instance_id}?q={shop.question_id('nps')}&v=9")
        if not await page.locator("form").count():
            return  # it was sent before
        await follow(page, "button[value=next]")
        await page.locator(".smiley").nth(3).click()
        await follow(page, "button[value=next]")
        await page.locator(".key").nth(5).click()
        await follow(page, "button[value=send]")

    async def unsubscribed(page: Page) -> None:
        await page.goto(f"{shop.url}/u/{unsubscribe_id}")
        await follow(page, "form button")

    return {
        "first page": lambda page: page.goto(f"{address}?q={shop.question_id('nps')}&v=9"),
        "second page": lambda page: page.goto(f"{address}?page=2"),
        "third page": lambda page: page.goto(f"{address}?page=3"),
        "last page": lambda page: page.goto(f"{address}?page=4"),
        "error": with_error,
        "thank you": thanks,
        "expired": lambda page: page.goto(f"{shop.url}/a/{expired.instance_id}"),
        "not here": lambda page: page.goto(f"{shop.url}/a/nobody"),
        "public link": lambda page: page.goto(f"{shop.url}/p/{shop.questionnaire_id}?locale={locale}"),
        "unsubscribe": lambda page: page.goto(f"{shop.url}/u/{unsubscribe_id}"),
        "unsubscribed": unsubscribed,
        **{name: partial(go, address=one) for name, one in (await ends.addresses_of(shop, locale=locale)).items()},
    }


async def go(page: Page, *, address: str) -> None:
    """Load a page that people are meant to see."""
    response = await page.goto(address)
    assert (address, 200) == (address, response and response.status)


@pytest.mark.parametrize(("scheme", "locale"), one_of([("light", "en"), ("dark", "ar")]))
async def test_readable_by_everyone(
    shop: Shop, new_page: NewPage, scheme: Literal["dark", "light"], locale: str
) -> None:
    """On no page axe finds anything, contrast included; no text is below 14 pixels.

    A finger meets every control; keys of a long scale may be narrow, never low. 1280 pixels at 400 % are 320: no page
    scrolls sideways, and eleven keys stand in two rows.
    """
    page = await new_page(scheme=scheme, locale=locale)
    found: dict[str, Any] = {}
    for name, visit in (await scenes(shop, locale=locale)).items():
        await visit(page)
        results = await Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}})
        found |= {f"{name}: {one['id']}": one["nodes"][0]["html"] for one in results.response["violations"]}
        sizes = await page.eval_on_selector_all(
            "body *", "all => all.filter(one => one.innerText).map(one => parseFloat(getComputedStyle(one).fontSize))"
        )
        assert 14 <= min(sizes), name
        await meets_fingers(
            page, ".key, .star, .smiley, .choice, .button, textarea, input.text:not([placeholder])", name
        )
        for width, expected in ((480, [11]), (360, [6, 5]), (320, [6, 5])):
            await page.set_viewport_size({"width": width, "height": 760})
            assert width >= await page.evaluate("document.documentElement.scrollWidth"), name
            tops = await page.eval_on_selector_all(".key", "keys => keys.map(key => key.getBoundingClientRect().top)")
            assert name != "first page" or expected == list(Counter(tops).values())
        await page.set_viewport_size({"width": 360, "height": 760})
        assert (name, locale == "ar") == (name, await page.evaluate("document.documentElement.dir === 'rtl'"))
    assert {} == found


async def meets_fingers(page: Page, controls: str, name: str) -> None:
    """Each of these controls is 44 pixels high and wide, but for the keys of a long scale on a wide page."""
    boxes = await page.eval_on_selector_all(
        controls,
        """all => all.filter(one => one.checkVisibility())
                  .map(one => [one.className, one.offsetWidth, one.offsetHeight])""",
    )
    is_phone = await page.evaluate("innerWidth <= 420")
    for kind, width, height in boxes:
        assert TARGET_PIXELS_MIN <= height, (name, kind)
        assert (KEY_PIXELS_MIN if kind == "key" and not is_phone else TARGET_PIXELS_MIN) <= width, (name, kind)


async def test_first_page_is_light(shop: Shop, new_page: NewPage) -> None:
    """The whole first page is 20 kB at most, and nothing comes from anywhere else."""
    instance = await shop.issue(locale="el")
    page = await new_page()
    sizes = await weigh(page, f"{shop.url}/a/{instance.instance_id}")
    assert 3 == len(sizes), sizes
    assert sum(sizes.values()) <= FIRST_PAGE_BYTES_MAX, sizes
    assert all(url.startswith(shop.url) for url in sizes)


async def test_keyboard_only(shop: Shop, new_page: NewPage) -> None:
    """From the first page to the end with Tab, arrows, space and Enter; the focus is always to be seen."""
    instance = await shop.issue(editable=False)
    page = await new_page(width=1280)
    await page.goto(f"{shop.url}/a/{instance.instance_id}")
    assert await page.get_by_role("radiogroup", name="How likely are you").get_by_role("radio", name="10").count() == 1
    await press(page, "Tab", "ArrowLeft")  # the last key: radios go round
    assert 3 <= await outline(page)
    await press(page, "ArrowLeft", "Tab", *"Fine", "Tab", "Enter")
    await page.wait_for_url("**page=2")
    await press(page, "Tab", *["ArrowRight"] * 3, "Tab", "Space", "Tab", "Space")
    assert 3 <= await outline(page)
    await press(page, "Tab", "Tab", "Tab", "Tab", "Enter")
    await page.wait_for_url("**page=3")
    await press(page, "Tab", "ArrowLeft", "Tab", "Tab", "Enter")
    await page.wait_for_url(f"**/a/{instance.instance_id}")
    assert "Thank you" == await page.inner_text("h1")
    answers = await shop.answers(instance.instance_id)
    assert {"nps": 9, "reason": "Fine", "mood": 4, "packaging": 1, "liked": [1], "easy": 7} == answers


async def test_errors_take_the_focus(shop: Shop, new_page: NewPage) -> None:
    """The summary is focused, also without script; its link leads to the question; what was typed stays."""
    instance = await shop.issue()
    page = await new_page()
    await page.goto(f"{shop.url}/a/{instance.instance_id}")
    await page.fill("textarea", "Because." * 23)
    assert "Characters left: 16" == await page.inner_text("textarea + .note")
    await page.fill("textarea", "Because.")
    await follow(page, "button[value=next]")
    await page.locator("#summary:focus").wait_for()  # browsers give it with the first frame
    assert "Because." == await page.input_value("textarea")
    assert (await page.title()).startswith("Error: ")
    await page.click("#summary a")
    await page.wait_for_url(f"**#q-{shop.question_id('nps')}")


async def test_without_script(shop: Shop, new_page: NewPage) -> None:
    """The whole way works without scripts, and the first answer tells that a person was there."""
    instance = await shop.issue()
    page = await new_page(script=False)
    await page.goto(f"{shop.url}/a/{instance.instance_id}?q={shop.question_id('nps')}&v=9")
    await follow(page, "button[value=next]")
    await follow(page, "button[value=back]")
    assert await page.locator(".key input").nth(9).is_checked()
    await follow(page, "button[value=next]")
    await page.locator(".smiley").nth(4).click()
    await page.locator(".choice").nth(2).click()
    await page.locator(".other input").fill("The wrapping")
    await follow(page, "button[value=next]")
    await page.locator(".key").nth(6).click()
    await follow(page, "button[value=send]")
    assert "Thank you" == await page.inner_text("h1")
    row = await shop.instance(instance.instance_id)
    assert row["viewed_time"]
    assert row["completed_time"]


async def test_forms_of_few_without_script(shop: Shop, new_page: NewPage) -> None:
    """A code is to be read, a call asked for, an address given and a kiosk left; an anonymous answer is thanked for."""
    page, addresses = await new_page(script=False), await ends.addresses_of(shop)
    await page.goto(addresses["button and review"])
    assert 2 == await page.locator("p.actions a[href^='https://']").count()
    await page.goto(addresses["full quota"])
    assert "We have heard enough about this" == await page.inner_text("h1")
    await page.goto(addresses["coupon"])
    assert (ends.CODE, 2) == (await page.inner_text(".code"), await page.locator(".coupon svg").count())
    await page.goto(addresses["call-back form"])
    await page.fill("#call-number", "+30 210 123 4567")
    await page.select_option("#call-window", index=1)
    await follow(page, ".call button")
    assert "We will call you" in await page.inner_text(".call [role=status]")
    await page.goto(addresses["address confirmation"])
    await page.fill("#email", "nobody")
    await follow(page, "form button")
    assert "e-email" == await page.get_attribute("#email", "aria-describedby")
    await page.fill("#email", "maria@example.com")
    await follow(page, "form button")
    assert not await page.locator("form").count()
    await page.goto(addresses["leaving a kiosk"])
    await page.fill("#pin", ends.PIN)
    await follow(page, "form button")
    assert "Kiosk mode has ended" == await page.inner_text("h1")
    await page.goto(addresses["anonymous"])
    await page.locator(".key").nth(9).click()
    await follow(page, "button[value=send]")
    assert "Thank you" == await page.inner_text("h1")


async def test_right_to_left(shop: Shop, new_page: NewPage) -> None:
    """In Arabic the scale begins on the right, and so does the text."""
    instance = await shop.issue(locale="ar-eg")
    page = await new_page(width=480)
    await page.goto(f"{shop.url}/a/{instance.instance_id}")
    assert ("ar", "rtl") == tuple(await page.evaluate("[document.documentElement.lang, document.documentElement.dir]"))
    lefts = await page.eval_on_selector_all(".key", "keys => keys.map(key => key.getBoundingClientRect().left)")
    assert sorted(lefts, reverse=True) == lefts
    assert "التالي" == await page.inner_text("button[value=next]")


async def test_a_view_needs_a_person(shop: Shop, new_page: NewPage) -> None:
    """A browser that only opens the page has not seen it; one that moves has."""
    instance = await shop.issue()
    page = await new_page()
    await page.goto(f"{shop.url}/a/{instance.instance_id}", wait_until="networkidle")
    await page.evaluate("dispatchEvent(new Event('pointermove'))")
    await page.mouse.move(0, 0)  # as browsers without a screen report by themselves now and then
    assert (await shop.instance(instance.instance_id))["viewed_time"] is None
    assert 204 == await move_on(page, "**/view")
    assert (await shop.instance(instance.instance_id))["viewed_time"]


async def weigh(page: Page, address: str) -> dict[str, int]:
    """The bytes of each response that a page takes. A body may come after the network fell silent: each is awaited."""
    responses: list[Response] = []

    def note(response: Response) -> None:
        responses.append(response)

    page.on("response", note)
    await page.goto(address, wait_until="networkidle")
    return {response.url: len(await response.body()) for response in responses}


async def follow(page: Page, selector: str) -> None:
    """Click, and wait for the page that comes."""
    async with page.expect_navigation():
        await page.click(selector)


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.keyboard.press(key)


async def outline(page: Page) -> float:
    """The width of the ring around what has the focus, or around what stands for it."""
    return await page.evaluate(
        """() => { const one = document.activeElement;
                   return Math.max(...[one, one.nextElementSibling, one.parentElement].filter(Boolean).map(each => {
                     const style = getComputedStyle(each);
                     return style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth); })); }"""
    )


@pytest.mark.parametrize("locale", ["de", "el"])
async def test_words_of_faces_stay_whole(shop: Shop, new_page: NewPage, locale: str) -> None:
    """On a phone, and beside the mark of an error, which takes some of the width."""
    instance = await shop.issue(locale=locale)
    page = await new_page()
    await page.goto(f"{shop.url}/a/{instance.instance_id}?page=2")
    await follow(page, "button[value=next]")
    lines = await page.eval_on_selector_all(
        ".wrong .smiley > span:last-child",
        """all => all.map(one => [one.innerText.split(/\\s+/).length,
                                  one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight)])""",
    )
    assert 5 == len(lines)
    assert all(height <= words + 0.5 for words, height in lines), lines
    assert 360 >= await page.evaluate("document.documentElement.scrollWidth")
