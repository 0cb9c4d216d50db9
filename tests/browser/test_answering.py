"""The answer page over HTTP, as a browser without scripts uses it: refusals first, then the way to the end."""

import asyncio
import re
from collections.abc import AsyncIterator

import httpx2
import pytest

from afterword import ids
from afterword.asking.instances import answer_page
from afterword.kit import db
from afterword.kit.web.limits import LINK_STARTS_DEFAULT, MISSES_DEFAULT
from tests.browser import markup
from tests.browser.conftest import QUESTIONNAIRE, Shop, on_the_loop
from tests.sizes import size

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOBODY = "x" * ids.ID_CHARACTERS


@on_the_loop
async def client(shop: Shop) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=shop.url, headers={"Accept": "text/html"}) as client:
        yield client


async def form(client: httpx2.AsyncClient, address: str) -> dict[str, str]:
    answer = await client.get(address)
    assert 200 == answer.status_code
    return markup.read(answer.text).fields


async def answer_all(client: httpx2.AsyncClient, shop: Shop, instance_id: str) -> httpx2.Response:
    address = f"/a/{instance_id}"
    answer = await client.post(
        address, data={**await form(client, f"{address}?page=1"), shop.name("nps"): "9", "go": "next"}
    )
    assert f"{address}?page=2" == answer.headers["location"]
    page = await form(client, f"{address}?page=2")
    await client.post(address, data={**page, shop.name("mood"): "4", "go": "next"})
    page = await form(client, f"{address}?page=3")
    return await client.post(address, data={**page, shop.name("easy"): "6", "go": "send"})


class TestRefusals:
    async def test_unknown(self, client: httpx2.AsyncClient) -> None:
        for address in ("/a/no", f"/a/{NOBODY}", f"/p/{NOBODY}", "/u/no", f"/u/{NOBODY}", "/s/no"):
            answer = await client.get(address)
            assert 404 == answer.status_code, address
            assert "This page is not here" in answer.text, address
            assert "default-src 'none'" in answer.headers["content-security-policy"], address

    @pytest.mark.parametrize("more", [".", ",", ")", ";", "]", "%3E", "%20", "%C2%A0", "%E2%80%8B", ".)", "%EF%BC%8E"])
    async def test_marks_behind_a_link(self, client: httpx2.AsyncClient, shop: Shop, more: str) -> None:
        """Mail readers take them into the link; what is no link without them stays unknown."""
        instance_id = (await shop.issue()).instance_id
        answer = await client.get(f"/a/{instance_id}{more}?q=Q1&v=9")
        assert (303, f"/a/{instance_id}?q=Q1&v=9") == (answer.status_code, answer.headers["location"])
        assert 200 == (await client.get(f"/a/{instance_id}{more}", follow_redirects=True)).status_code
        for address in (f"/u/{NOBODY}", f"/s/no{more}"):
            assert 404 == (await client.get(f"{address}{more}", follow_redirects=True)).status_code, address
        assert 404 == (await client.post(f"/a/{instance_id}{more}", data={})).status_code

    async def test_language_of_the_browser(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/a/no", headers={"Accept-Language": "ja, ar;q=0.9, en"})
        assert '<html lang="ar" dir="rtl">' in answer.text

    async def test_expired(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue(valid_days=5)
        page = await form(client, f"/a/{instance.instance_id}")
        await shop.shift(instance.instance_id, 6)
        for answer in (
            await client.get(f"/a/{instance.instance_id}"),
            await client.post(f"/a/{instance.instance_id}", data={**page, shop.name("nps"): "9", "go": "next"}),
        ):
            assert 410 == answer.status_code
            assert "The time to answer is over" in answer.text
        assert {} == await shop.answers(instance.instance_id)

    async def test_closed(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        await set_active(shop, active=False)
        for address in (f"/a/{instance.instance_id}", f"/p/{shop.questionnaire_id}"):
            answer = await client.get(address)
            assert 410 == answer.status_code
            assert "This questionnaire is closed" in answer.text

    @pytest.mark.parametrize(
        "statement",
        [
            "update questionnaire set archived_time = now()",
            "update application set active = false",
            """insert into plan (organization_id, plan_id, title, kind, credits, remaining_credits, start_time)
               select organization_id, 'P', 'Small', 'once', 1, 0, now() - interval '1 day' from organization""",
        ],
        ids=["archived", "application", "no credits"],
    )
    async def test_nothing_to_start(self, client: httpx2.AsyncClient, shop: Shop, statement: str) -> None:
        """Whoever opens the public link of what is archived, off or unpaid reads the authored sentence."""
        await shop.publish(f"{QUESTIONNAIRE}pages: {{en: {{closed: We have heard enough for now.}}}}\n")
        fields = await form(client, f"/p/{shop.questionnaire_id}")
        async with db.transaction(shop.pool) as database:
            await database.execute(statement)  # pyrefly: ignore[bad-argument-type]  a literal of the table above
        for answer in (
            await client.get(f"/p/{shop.questionnaire_id}"),
            await client.post(f"/p/{shop.questionnaire_id}", data={**fields, shop.name("nps"): "9", "go": "next"}),
        ):
            assert 410 == answer.status_code
            assert "This questionnaire is closed" in answer.text
            assert "We have heard enough for now." in answer.text
        assert [] == await shop.instances()

    async def test_form_without_its_token(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        fields = {shop.name("nps"): "3", shop.name("reason"): "kept <b>", "page": "1", "go": "next"}
        answer = await client.post(f"/a/{instance.instance_id}", data=fields)
        assert 422 == answer.status_code
        assert "kept &lt;b&gt;" in answer.text
        assert {} == await shop.answers(instance.instance_id)

    @pytest.mark.parametrize("body", [b"\xff\xfe", b"page=%ff", b"&".join([b"a=1"] * (answer_page.FIELDS_MAX + 1))])
    async def test_no_form(self, client: httpx2.AsyncClient, shop: Shop, body: bytes) -> None:
        instance = await shop.issue()
        answer = await client.post(f"/a/{instance.instance_id}", content=body)
        assert 400 == answer.status_code

    async def test_short_links_are_throttled(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        answer = await client.get(f"/s/{ids.short_code()}")
        for _ in range(2 * MISSES_DEFAULT + 2):  # the minute may turn in between
            if answer.status_code == 429:
                break
            answer = await client.get(f"/s/{ids.short_code()}")
        assert 429 == answer.status_code
        assert answer.headers["retry-after"]
        instance = await shop.issue()
        assert 302 == (await client.get(f"/s/{instance.short_code}")).status_code

    async def test_guessed_ids_open_nothing(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        await shop.issue()
        for _ in range(size(50, 10_000)):
            for path in ("/a/", "/u/"):
                assert 404 == (await client.get(path + ids.secret())).status_code

    async def test_starts_are_throttled(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        address = f"/p/{shop.questionnaire_id}"
        answer = await client.post(address, data={})
        for _ in range(2 * LINK_STARTS_DEFAULT + 2):  # the minute may turn in between
            if answer.status_code == 429:
                break
            answer = await client.post(address, data={})
        assert 429 == answer.status_code
        assert answer.headers["retry-after"]
        assert "text/html" in answer.headers["content-type"]
        assert [] == await shop.instances()


class TestAnswering:
    async def test_ok(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        answer = await answer_all(client, shop, instance.instance_id)
        assert (303, f"/a/{instance.instance_id}") == (answer.status_code, answer.headers["location"])
        row = await shop.instance(instance.instance_id)
        assert row["finalized"]
        assert row["completed_time"]
        assert {"nps": 9, "mood": 4, "easy": 6} == await shop.answers(instance.instance_id)
        thanks = await client.get(answer.headers["location"])
        assert "You can change your answers until" in thanks.text

    async def test_missing_answer_keeps_the_rest(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        page = await form(client, f"/a/{instance.instance_id}")
        answer = await client.post(
            f"/a/{instance.instance_id}", data={**page, shop.name("reason"): "Fast", "go": "next"}
        )
        assert 422 == answer.status_code
        assert f'href="#q-{shop.question_id("nps")}"' in answer.text
        assert "Please answer this question." in answer.text
        assert {"reason": "Fast"} == await shop.answers(instance.instance_id)

    async def test_wrong_answers(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        address = f"/a/{instance.instance_id}"
        page = await form(client, f"{address}?page=2")
        wrong = {
            shop.name("mood"): "9",
            shop.name("packaging"): "x",
            shop.name("liked"): ["1", "2", "3"],
            f"{shop.name('liked')}_other": "Packaging",
        }
        answer = await client.post(address, data={**page, **wrong, "go": "next"})
        assert 422 == answer.status_code
        text = markup.read(answer.text).text
        assert "Please choose one of the answers shown." in text
        assert "This answer does not fit the question." in text
        assert 'value="Packaging"' in answer.text
        assert {} == await shop.answers(instance.instance_id)

    async def test_goes_on_where_it_stopped(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        address = f"/a/{instance.instance_id}"
        assert "1 of 3" in (await client.get(address)).text
        await client.post(address, data={**await form(client, address), shop.name("nps"): "9", "go": "next"})
        assert "2 of 3" in (await client.get(address)).text

    async def test_back_keeps_answers(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        address = f"/a/{instance.instance_id}"
        page = await form(client, f"{address}?page=2")
        answer = await client.post(address, data={**page, shop.name("mood"): "2", "go": "back"})
        assert f"{address}?page=1" == answer.headers["location"]
        assert {"mood": 2} == await shop.answers(instance.instance_id)

    async def test_optional_answer_is_taken_back(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        address = f"/a/{instance.instance_id}"
        page = await form(client, address)
        await client.post(address, data={**page, shop.name("nps"): "9", shop.name("reason"): "Fast", "go": "next"})
        await client.post(address, data={**page, shop.name("reason"): " ", "go": "back"})
        assert {"nps": 9} == await shop.answers(instance.instance_id)

    async def test_skipped_page_is_asked_for(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        address = f"/a/{instance.instance_id}"
        page = await form(client, f"{address}?page=3")
        answer = await client.post(address, data={**page, shop.name("easy"): "6", "go": "send"})
        assert f"{address}?page=1&check=1" == answer.headers["location"]
        assert "Please check your answers" in (await client.get(answer.headers["location"])).text
        assert not (await shop.instance(instance.instance_id))["finalized"]

    async def test_marked_answer_is_not_stored(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        for value, is_marked in (("9", True), ("11", False), ("<b>", False), ("", False)):
            query = {"q": shop.question_id("nps"), "v": value}
            answer = await client.get(f"/a/{instance.instance_id}", params=query)
            assert 200 == answer.status_code
            assert is_marked == (" checked" in answer.text)
        assert {} == await shop.answers(instance.instance_id)

    async def test_no_change_is_offered_that_is_not_taken(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        await answer_all(client, shop, instance.instance_id)
        assert "Change my answers" in (await client.get(f"/a/{instance.instance_id}")).text
        await set_active(shop, active=False)
        thanks = await client.get(f"/a/{instance.instance_id}")
        assert (200, False) == (thanks.status_code, "Change my answers" in thanks.text)

    async def test_sent_twice(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue(editable=False)
        address = f"/a/{instance.instance_id}"
        page = await form(client, f"{address}?page=3")
        await answer_all(client, shop, instance.instance_id)
        again = await client.post(address, data={**page, shop.name("easy"): "1", "go": "send"})
        assert (303, address) == (again.status_code, again.headers["location"])
        assert 6 == (await shop.answers(instance.instance_id))["easy"]
        back = await client.get(f"{address}?page=2")
        assert (200, True) == (back.status_code, "Thank you" in back.text)

    async def test_changed_after_the_end(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        await answer_all(client, shop, instance.instance_id)
        address = f"/a/{instance.instance_id}"
        last = await client.get(f"{address}?page=3")
        assert "Save my changes" in last.text
        page = markup.read(last.text).fields
        await client.post(address, data={**page, shop.name("easy"): "2", "go": "send"})
        assert 2 == (await shop.answers(instance.instance_id))["easy"]

    async def test_short_link(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        answer = await client.get(f"/s/{instance.short_code}")
        assert (302, f"/a/{instance.instance_id}") == (answer.status_code, answer.headers["location"])


class TestPublicLink:
    async def test_sent_twice_makes_one_instance(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        address = f"/p/{shop.questionnaire_id}?locale=de&transaction_id=1043&responder[email]=a@example.com&x=1"
        fields = {**await form(client, address), shop.name("nps"): "9", "go": "next"}
        answers = await asyncio.gather(*(client.post(address, data=fields) for _ in range(8)))
        assert {303} == {answer.status_code for answer in answers}
        assert 1 == len({answer.headers["location"].partition("?")[0] for answer in answers})
        [row] = await shop.instances()
        assert ("de", {"transaction_id": "1043"}) == (row["locale"], row["metadata"])
        assert {"nps": 9} == await shop.answers(str(row["instance_id"]))

    async def test_blind_and_wrong_posts_make_none(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        address = f"/p/{shop.questionnaire_id}"
        blind = await client.post(address, data={shop.name("nps"): "9", "go": "next"})
        missing = await client.post(address, data={**await form(client, address), "go": "next"})
        assert (422, 422) == (blind.status_code, missing.status_code)
        assert [] == await shop.instances()

    async def test_blind_post_shows_what_is_dealt(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        """The page that is shown again asks what its own start deals, not what the lost one would have."""
        questions = "".join(
            f"      - {{key: q{number}, type: nps, title: Number {number}, display_probability: 50}}\n"
            for number in range(8)
        )
        head = "public_link: true\ndisplay_name: Dealt\ndefault_locale: en\nlocales: [en, el, de, ar]\ngroups:\n"
        await shop.publish(f"{head}  - key: one\n    questions:\n{questions}")
        address = f"/p/{shop.questionnaire_id}"
        for _ in range(4):
            blind = await client.post(address, data={"go": "next"})
            shown = set(re.findall(r'id="q-(\w+)"', blind.text))
            sent = await client.post(address, data={**markup.read(blind.text).fields, "go": "next"})
            row = await shop.instance(sent.headers["location"].removeprefix("/a/").partition("?")[0])
            assert shown == set(row["question_ids"])  # pyrefly: ignore[bad-argument-type]  a column of ids

    async def test_reference_hides_earlier_answers(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        address = f"/p/{shop.questionnaire_id}/ref/order-1043"
        fields = {shop.name("nps"): "9", shop.name("reason"): "a secret reason", "go": "next"}
        first = await client.post(address, data={**await form(client, address), **fields})
        instance = first.headers["location"].partition("?")[0]
        for page in (address, f"{instance}?page=1"):
            answer = await client.get(page)
            assert "a secret reason" not in answer.text
            assert " checked" not in answer.text
        await client.post(instance, data={**await form(client, f"{instance}?page=1"), "go": "next"})
        assert {"nps": 9, "reason": "a secret reason"} == await shop.answers(instance.removeprefix("/a/"))
        await answer_all(client, shop, instance.removeprefix("/a/"))
        thanks = await client.get(address)
        assert (200, False) == (thanks.status_code, instance in thanks.text)

    async def test_reference_is_begun_once(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        """A stranger who guesses an order number neither overwrites nor finishes, nor learns the page's address."""
        address = f"/p/{shop.questionnaire_id}/ref/order-1044"
        fields = {shop.name("nps"): "9", "go": "next"}
        async with httpx2.AsyncClient(base_url=shop.url, headers={"Accept": "text/html"}) as stranger:
            early = {**await form(stranger, address), shop.name("nps"): "0", "go": "next"}
            page = await form(client, address)
            first = await client.post(address, data={**page, **fields})
            instance_id = first.headers["location"].removeprefix("/a/").partition("?")[0]
            late = {**early, "start": "A" * 22}
            for answer in (
                await stranger.get(address),
                await stranger.post(address, data=early),
                await stranger.post(address, data=late),
                await stranger.get(address, headers={"Cookie": f"begun={'0' * 32}"}),
            ):
                assert 409 == answer.status_code
                assert "This link has been used" in answer.text
                assert instance_id not in answer.text
            assert {"nps": 9} == await shop.answers(instance_id)
            again = await client.post(address, data={**page, **fields})  # the same form once more
            assert first.headers["location"] == again.headers["location"]
            assert 200 == (await client.get(address)).status_code
            client.cookies.clear()
            assert 409 == (await client.get(address)).status_code
            assert 303 == (await answer_all(client, shop, instance_id)).status_code
            assert 409 == (await stranger.get(address)).status_code

    async def test_reference_of_an_instance_of_the_api(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        """Whoever comes first begins it."""
        instance = await shop.issue()
        async with db.transaction(shop.pool) as database:
            await database.execute(
                "update questionnaire_instance set reference_id = 'order-1045', created_by = $2 where instance_id = $1",
                instance.instance_id,
                shop.organization_id,
            )
        address = f"/p/{shop.questionnaire_id}/ref/order-1045"
        async with httpx2.AsyncClient(base_url=shop.url, headers={"Accept": "text/html"}) as stranger:
            early = {**await form(stranger, address), shop.name("nps"): "0", "go": "next"}
            first = await client.post(
                address, data={**await form(client, address), shop.name("nps"): "9", "go": "next"}
            )
            assert first.headers["location"].startswith(f"/a/{instance.instance_id}")
            assert [409, 409] == [
                (await stranger.post(address, data=early)).status_code,
                (await stranger.get(address)).status_code,
            ]
        assert {"nps": 9} == await shop.answers(instance.instance_id)

    async def test_guessed_references_are_throttled(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        address = f"/p/{shop.questionnaire_id}/ref/order-1046"
        await client.post(address, data={**await form(client, address), shop.name("nps"): "9", "go": "next"})
        client.cookies.clear()
        answer = await client.get(address)
        for _ in range(2 * MISSES_DEFAULT + 2):  # the minute may turn in between
            if answer.status_code == 429:
                break
            answer = await client.get(address)
        assert 429 == answer.status_code
        assert answer.headers["retry-after"]

    async def test_bad_reference(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        assert 404 == (await client.get(f"/p/{shop.questionnaire_id}/ref/a%20b")).status_code
        assert 404 == (await client.get(f"/p/{shop.questionnaire_id}/ref/{'a' * 101}")).status_code


class TestView:
    async def test_told_by_the_script(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        instance = await shop.issue()
        data = markup.read((await client.get(f"/a/{instance.instance_id}")).text).data
        for _ in range(2):
            assert 204 == (await client.post(data["data-view"], data={"token": data["data-token"]})).status_code
        assert (await shop.instance(instance.instance_id))["viewed_time"]


class TestUnsubscribe:
    async def test_button(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        address = f"/u/{await shop.unsubscribe_id()}"
        page = await client.get(address)
        assert "m•••@example.com" in markup.read(page.text).text
        assert "maria@example.com" not in page.text
        for _ in range(2):
            done = await client.post(address, data=markup.read(page.text).fields)
            assert (200, True) == (done.status_code, "You are unsubscribed" in done.text)
        assert 1 == await shop.count_suppressions()
        assert "You are unsubscribed" in (await client.get(address)).text

    async def test_one_click(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        address = f"/u/{await shop.unsubscribe_id()}"
        for _ in range(2):
            answer = await client.post(address, content=b"List-Unsubscribe=One-Click", headers={"Accept": "*/*"})
            assert 200 == answer.status_code
        assert 1 == await shop.count_suppressions()


async def set_active(shop: Shop, *, active: bool) -> None:
    async with db.transaction(shop.pool) as database:
        await database.execute(
            "update questionnaire set active = $2 where questionnaire_id = $1", shop.questionnaire_id, active
        )


async def count_events(shop: Shop, instance_id: str, event_type: str) -> int:
    async with db.connection(shop.pool) as database:
        return await database.fetch_value(
            "select count(*) from event where subject_id = $1 and type = $2", instance_id, event_type
        )
