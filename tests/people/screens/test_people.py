"""People in the console: found, their story, messages stopped and allowed again, a copy, and erasure with its proof."""

import html
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from afterword import errors
from afterword.core.organizations.access import installation
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.texts import texts
from afterword.kit.ui import lists
from afterword.people.responders import service as responders
from afterword.people.screens import people as screen
from afterword.privacy import service as privacy
from tests.asking.screens.conftest import begin
from tests.asking.screens.test_builder import added, saved, text_of
from tests.privacy.conftest import (
    CANARY,
    Desk,
    Known,
    desk as desk,  # noqa: PLC0414  a fixture
    people,
)
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import EMAIL, OWN, PASSWORD, Office, add_staff, browser_of, found, log_in

PERSON = re.compile(r'href="(/console/people/\w{22})"')


@pytest.fixture
async def known(desk: Desk) -> Known:
    """A person of whom there is everything; an owner and an agent who can log in, and another organization's owner."""
    [known] = await people(desk, [CANARY])
    await add_staff(desk.pool, desk.house.organization_id)
    await found(desk.pool, domain="patras", email="pan@patras.example")
    return known


@asynccontextmanager
async def browser(desk: Desk, email: str = EMAIL) -> AsyncGenerator[httpx2.AsyncClient, None]:
    async with client_of(desk.pool, site=Site("http://testserver", desk.house.site.secret)) as client:
        client.headers.update(OWN)
        assert 303 == (await log_in(client, email=email)).status_code
        yield client


async def page_of(client: httpx2.AsyncClient, path: str) -> str:
    response = await client.get(path)
    assert 200 == response.status_code, response.text
    return html.unescape(response.text)


async def test_found_with_the_story(desk: Desk, known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    async with browser(desk) as client:
        for text in (CANARY, f"ORDER-{CANARY}".lower(), known.address):
            page = await page_of(client, f"/console/people?q={text}")
            assert [f"/console/people/{known.responder_id}"] == PERSON.findall(page)
        assert [] == PERSON.findall(await page_of(client, "/console/people?q=nobody"))
        assert "at least three letters" in await page_of(client, "/console/people?q=x")
        for query in ("after=x", "after=99999999999999999_z", f"q={'x' * 400}"):
            assert 200 == (await client.get(f"/console/people?{query}")).status_code
        await desk.ask("POST", "/q/responder", {"metadata": {"email": "late@example.com", "name": "<b>Late"}})
        monkeypatch.setattr(lists, "ROWS", 1)
        first = await page_of(client, "/console/people")
        assert "<b>Late" in first
        following = re.search(r'rel="next" href="([^"]+)"', first)
        assert following is not None
        assert [f"/console/people/{known.responder_id}"] == PERSON.findall(await page_of(client, following[1]))
        monkeypatch.undo()
        page = await page_of(client, f"/console/people/{known.responder_id}")
        for text in (
            "Response given",
            f"I am {CANARY}",
            "Case opened",
            f"as {CANARY} wished",
            "Planned",
            f"order-{CANARY}",
        ):
            assert text in page, text
        assert f'<dt>First name</dt><dd dir="auto" class="long">{CANARY}' in page
        for link in (f"/console/responses/{known.instance_id}", f"/console/sending/{known.item_ids[1]}"):
            assert f'href="{link}"' in page
        response = await page_of(client, f"/console/responses/{known.instance_id}")
        assert f'href="/console/people/{known.responder_id}"' in response
        assert 1 == await desk.value(
            "select count(*) from audit_entry where action = 'read' and thing_id = $1", known.responder_id
        )
    assert 1 <= await desk.value("select count(*) from audit_entry where action = 'searched'")


class TestLimited:
    """Somebody who sees the section Garden, and a person of another one."""

    async def test_one_section(self, desk: Desk) -> None:
        known, other = await people(desk, [CANARY, "Elsewhere"])
        await in_section(desk, other.responder_id, "Toys")
        await limited(desk)
        path = f"/console/people/{known.responder_id}"
        async with browser(desk, "manager@demo.example") as client:
            for text in ("", known.address, known.address.upper(), CANARY, f"order-{CANARY}"):
                page = await page_of(client, f"/console/people?q={text}")
                assert [path] == PERSON.findall(page), text
                assert other.canary not in page
            for text in ("nobody", CANARY[:4], other.canary, other.address, f"order-{other.canary}", "a%00b"):
                page = await page_of(client, f"/console/people?q={text}")
                assert [] == PERSON.findall(page), text
                assert "No one found." in page
            assert 404 == (await client.get(f"/console/people/{other.responder_id}")).status_code
            page = await page_of(client, path)
            for text in (known.address, "Response given", f"I am {CANARY}", "Case opened", "Planned"):
                assert text in page, text
            for text in ("First name", "Erase this person", "Download all data", "Stop messages", "Toys", "legal hold"):
                assert text not in page, text
            assert 403 == (await client.get(f"{path}/subject")).status_code
            for act in ("erasure", "suppression"):
                assert 403 == (await client.post(f"{path}/{act}")).status_code
            response = await page_of(client, f"/console/responses/{known.instance_id}")
            assert f'href="{path}"' in response

    async def test_a_person_of_both(self, desk: Desk) -> None:
        """Items, answers, cases, counts and addresses of the other section are left out."""
        known, other = await people(desk, [CANARY, "Elsewhere"])
        await in_section(desk, other.responder_id, "Toys")
        await desk.execute(
            "update questionnaire_instance set responder_id = $1 where responder_id = $2",
            *(known.responder_id, other.responder_id),
        )
        for table in ("alert_instance", "responder_address"):
            await desk.execute(
                f"update {table} set responder_id = $1 where responder_id = $2",
                *(known.responder_id, other.responder_id),
            )
        await limited(desk)
        path = f"/console/people/{known.responder_id}"
        async with browser(desk) as client:
            assert 2 == (await page_of(client, path)).count("Case opened")
        async with browser(desk, "manager@demo.example") as client:
            page = await page_of(client, path)
            assert 1 == page.count("Case opened")
            assert known.address in page
            for text in (other.canary, other.instance_id, *other.item_ids, "+30694", "Known since", "Language</dt>"):
                assert text not in page, text
            for text in ("", known.address, CANARY):
                page = await page_of(client, f"/console/people?q={text}")
                assert [path] == PERSON.findall(page), text
                assert other.canary not in page
            for text in (other.address, other.canary):
                assert [] == PERSON.findall(await page_of(client, f"/console/people?q={text}")), text
            response = await page_of(client, f"/console/responses/{known.instance_id}")
            assert 1 == response.count("Case opened")
            assert other.instance_id not in response


async def limited(desk: Desk) -> None:
    office = Office(desk.pool, desk.house.organization_id, desk.house.application_id, "")
    await office.add_user(EMAIL, role="owner")
    user_id = await office.add_user("manager@demo.example", role="admin")
    await desk.execute(
        "update organization_user set only_where = 'store_section', only_values = '{Garden}' where user_id = $1",
        user_id,
    )


async def in_section(desk: Desk, responder_id: str, section: str) -> None:
    """Move everything that a person was asked to another section."""
    await desk.execute(
        """update questionnaire_instance set metadata = jsonb_set(metadata, '{store_section}', to_jsonb($2::text))
           where responder_id = $1""",
        *(responder_id, section),
    )
    await desk.execute(
        """update queue_item m set metadata = jsonb_set(metadata, '{questionnaire}',
             coalesce(metadata -> 'questionnaire', '{}') || jsonb_build_object('store_section', $2::text))
           from responder_address a where a.responder_id = $1 and a.address_key = m.address_key""",
        *(responder_id, section),
    )


async def test_messages_stop_and_go_again(desk: Desk, known: Known) -> None:
    path = f"/console/people/{known.responder_id}"
    async with browser(desk) as client:
        link = re.search(rf'href="({path}/suppression/\w{{22}})"', await page_of(client, path))
        assert link is not None
        assert known.address in await page_of(client, link[1])
        assert f"{path}?done=lifted" == (await client.post(link[1])).headers["location"]
        assert 404 == (await client.post(link[1])).status_code
        assert "Allow messages again" not in await page_of(client, path)

        foreign = await client.post(f"{path}/suppression", data={"address": "1:other@example.com"})
        assert 422 == foreign.status_code
        long = {"address": f"1:{known.address}", "note": "x" * 501, "reason": "complaint"}
        refused = await client.post(f"{path}/suppression", data=long)
        assert (422, True) == (refused.status_code, "x" * 501 in refused.text)
        stopped = await client.post(f"{path}/suppression", data={**long, "note": "She rang."})
        assert f"{path}?done=stopped" == stopped.headers["location"]
        page = await page_of(client, path)
        assert "She rang." in page
        assert "Reported as spam" in page
        found = (await desk.ask("GET", "/suppression"))["results"]
        assert [("complaint", known.address)] == [(one["reason"], one["identifier"]) for one in found]


async def test_proofs(desk: Desk, known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newest first and in pages; a row says when and how, and nothing of the person."""
    async with browser(desk) as client:
        assert "Nobody has been erased yet." in await page_of(client, screen.PROOFS)
        await desk.erase(known.responder_id)
        await desk.execute(
            """insert into erasure (organization_id, erasure_id, responder_id, mode, suppress, salt)
               select organization_id, repeat('0', 21) || n, repeat(n, 22), 'erase', true,
                 decode(repeat('00', 32), 'hex') from erasure, unnest('{1,2}'::text[]) n"""
        )
        monkeypatch.setattr(screen, "ROWS", 2)
        first = await page_of(client, screen.PROOFS)
        newest, older = re.findall(r'href="(/console/people/erasure/\w{22})"', first)
        assert f"/console/people/erasure/{'0' * 21}2" == older
        assert "This page is the proof" in await page_of(client, newest)
        assert CANARY not in first
        [more] = re.findall(rf'href="({screen.PROOFS}\?after=\w{{22}})"', first)
        rest = await page_of(client, more)
        assert [f"/console/people/erasure/{'0' * 21}1"] == re.findall(r'href="(/console/people/erasure/\w{22})"', rest)
        assert newest in await page_of(client, f"{screen.PROOFS}?after=nothing")
    async with browser(desk, "pan@patras.example") as client:
        assert "Nobody has been erased yet." in await page_of(client, screen.PROOFS)
    async with db.connection(desk.pool) as database:
        caller = replace(installation(desk.house.organization_id), application_ids=(desk.house.application_id,))
        with pytest.raises(errors.Forbidden):
            await privacy.list_erasures(database, caller=caller, before="", limit=2)


async def test_copy_and_erasure(desk: Desk, known: Known) -> None:
    path = f"/console/people/{known.responder_id}"
    async with browser(desk) as client:
        await desk.execute("update login_session set proven_time = proven_time - interval '16 minutes'")
        for act in ("subject", "erasure"):
            asked = await client.get(f"{path}/{act}")
            assert asked.headers["location"].startswith("/console/proof?next=")
        await client.post("/console/proof", data={"password": PASSWORD, "next": path})
        file = await client.get(f"{path}/subject")
        assert "attachment" in file.headers["content-disposition"]
        api = await desk.http.get(f"/q/responder/{known.responder_id}/subject", headers=desk.house.headers)
        assert set(api.json()) == set(file.json())
        assert known.responder_id == file.json()["responder"]["responder_id"]
        assert 2 == await desk.value("select count(*) from audit_entry where action = 'downloaded'")

        page = await page_of(client, f"{path}/erasure")
        for text in ("1 response", "2 planned messages, which will be cancelled", "1 case with its comments and mails"):
            assert text in page, text
        assert 422 == (await client.post(f"{path}/erasure", data={"reason": "x" * 501})).status_code
        begun = await client.post(f"{path}/erasure", data={"mode": "erase", "suppress": "1", "reason": "Letter"})
        proof = begun.headers["location"]
        assert "is being erased" in await page_of(client, proof)
        assert 409 == (await client.post(f"{path}/erasure", data={"mode": "erase"})).status_code
        await desk.work()
        done = await page_of(client, proof)
        assert "This page is the proof" in done
        assert "Print or save as PDF" in done
        assert CANARY not in done
        assert "Erased person" in await page_of(client, path)
        for listed in ("/console/sending", "/console/settings/suppressions"):
            page = await page_of(client, listed)
            assert "Erased person" in page, listed
            assert not re.search(r"[0-9a-f]{64}", page), listed
        assert [] == await desk.traces(CANARY)


async def test_legal_hold(desk: Desk, known: Known) -> None:
    """The person's page leads to the form, which knows the person; nobody else fills in anything by an address."""
    async with browser(desk) as client:
        path = f"/console/people/{known.responder_id}"
        [form] = re.findall(r'href="(/console/settings/retention/holds/new\?[^"]+)"', await page_of(client, path))
        filled = await page_of(client, f"{form}&reason=Lawsuit")
        assert f'value="{known.responder_id}"' in filled
        assert "Lawsuit" not in filled
        fields = {"reason": "Suit 4/26", "responder_id": known.responder_id}
        assert 303 == (await client.post("/console/settings/retention/holds/new", data=fields)).status_code
        page = await page_of(client, path)
        assert "A legal hold keeps the data of this person." in page
        assert form not in page
        assert 409 == (await client.post(f"{path}/erasure", data={"mode": "erase"})).status_code


def test_each_count_of_a_proof_has_words() -> None:
    folder = Path(privacy.__file__).parent
    source = "".join((folder / name).read_text(encoding="utf-8") for name in ("rows.py", "service.py"))
    counted = {*re.findall(r'(?:counts\[|Counter\(\{|return )"([A-Z][A-Za-z ]+)"', source)}
    counted |= {*re.findall(r'": \(.*\n        "([A-Z][A-Za-z ]+)",\n', source)}
    assert {"Answer", "Kept Answer", "Import Row"} <= counted
    assert set() == counted - screen.ERASED.keys()


def test_scores_of_the_newest_question() -> None:
    """The oldest first; without a line where there is but one."""
    given = [("a", 9), ("a", None), ("b", 5), ("a", 3)]
    rows = [{"question_id": question, "score": score} for question, score in given]
    found = screen.scores_of(texts("console", "en"), rows)
    assert found is not None
    assert "Scores: 3, 9" == found["text"].translate({0x2068: None, 0x2069: None})
    assert screen.scores_of(texts("console", "en"), rows[:2]) is None


async def test_as_a_person(office: Office) -> None:
    """Found by the search for people, whose name the page then has; the audit log tells who was looked at."""
    async with db.transaction(office.pool) as database:
        wanted = responders.ResponderInput(
            office.organization_id, channel_id=1, identifier="maria@example.com", metadata={"first_name": "Maria"}
        )
        [maria] = await responders.find_or_create(database, inputs=[wanted], now=database.clock.now(), secret=b"k" * 32)
    async with browser_of(office.pool) as client:
        await log_in(client)
        path = await begin(client, office)
        question = await added(client, path, "text")
        await saved(client, question, type="text", title="How was it, {{ responder.first_name | dear customer }}?")
        assert f"{path}/edit/person" in text_of(await client.get(question))
        found = text_of(await client.get(f"{path}/edit/person?q=maria"))
        assert re.search(f'href="{path}/edit[?]as={maria.responder_id}"><bdi>Maria</bdi>', found)
        assert "maria@example.com" not in text_of(await client.get(f"{path}/edit/person?q=nobody"))

        for chosen, said in ((maria.responder_id, "Maria"), ("0" * 22, "dear customer"), ("x", "dear customer")):
            page = text_of(await client.get(f"{question}?as={chosen}"))
            frame = re.search(r'<iframe src="https?://[^/]+(/preview/[^"]+)"', page)
            assert frame is not None
            assert f"{said}?" in text_of(await client.get(frame[1])).replace("\u2068", "").replace("\u2069", "")
        async with db.connection(office.pool) as database:
            read = await database.fetch("select thing_id from audit_entry where action = 'read'")
        assert maria.responder_id in {row["thing_id"] for row in read}
