"""The dialect of existing clients: forms, bodies without their label, stars for fields; refusals first."""

import json
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from hypothesis import given, strategies as st

from afterword import errors
from afterword.kit.web import query as web_query
from tests.kit.web.client import count, create, fields_of, problem
from tests.kit.web.conftest import House

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
UNKNOWN = "0" * 22


async def send(
    client: httpx2.AsyncClient, content: bytes | str, label: str | None = FORM, *, method: str = "POST", **more: Any
) -> httpx2.Response:
    path = more.pop("path", "/note")
    headers = {**more.pop("headers", {}), **({} if label is None else {"Content-Type": label})}
    return await client.request(method, path, content=content, headers=headers, **more)


@given(st.binary(max_size=80))
def test_anything_is_read_or_refused(raw: bytes) -> None:
    try:
        web_query.read_body(raw, FORM)
    except errors.Malformed:
        return


class TestForms:
    async def test_wrong_fields_all_at_once(self, client: httpx2.AsyncClient) -> None:
        """By JSON pointers, as if it had been JSON."""
        long = "y" * 4097
        found = await send(
            client,
            "locale=not+a+locale&rank=7.0&weight=1e3&done=yes&send_time=tomorrow&kind=odd&owner_id=x&tags[0]=ok"
            f"&tags[1]=far+too+long+a+tag&metadata[questionnaire][a][b]=1&metadata[responder]=x&metadata[c]=1&z={long}",
        )
        assert [
            ("/title", "required"),
            ("/locale", "invalid_locale"),
            ("/rank", "wrong_type"),
            ("/weight", "wrong_type"),
            ("/done", "wrong_type"),
            ("/send_time", "invalid_date_time"),
            ("/kind", "unknown_value"),
            ("/owner_id", "unknown_id"),
            ("/metadata/questionnaire/a", "wrong_type"),
            ("/metadata/responder", "wrong_type"),
            ("/tags/1", "too_long"),
        ] == fields_of(problem(found, 422, "invalid"))

    async def test_scalars(self, client: httpx2.AsyncClient) -> None:
        for text, place, code in (
            ("rank=", None, None),  # empty text is null where null may be
            ("locale=", None, None),
            ("send_time=", None, None),
            ("title=", "/title", "too_short"),  # and a text where not
            ("done=", "/done", "wrong_type"),
            ("rank=%2B7", "/rank", "wrong_type"),
            ("rank=07", None, None),
            ("rank=-1", "/rank", "out_of_range"),
            ("rank=+7", "/rank", "wrong_type"),
            ("rank=1234567890123456789", "/rank", "wrong_type"),
            ("rank=%D9%A7", "/rank", "wrong_type"),
            ("rank[]=7", "/rank", "wrong_type"),
            ("done=TRUE", "/done", "wrong_type"),
            ("done=2", "/done", "wrong_type"),
            ("tags=a", "/tags", "wrong_type"),
            ("tags[1]=a", "/tags", "wrong_type"),
            ("tags[x]=a", "/tags", "wrong_type"),
            ("metadata=x", "/metadata", "wrong_type"),
            ("metadata[]=x", "/metadata", "wrong_type"),
        ):
            found = await send(client, text if text.startswith("title") else f"title=x&{text}")
            if place is None:
                assert 201 == found.status_code, found.text
            else:
                assert [(place, code)] == fields_of(problem(found, 422, "invalid")), text

    async def test_strict(self, client: httpx2.AsyncClient) -> None:
        """Unknown members are named, and `fields` is not unknown."""
        found = await send(client, "title=x&nope[a]=1&note_id=x&fields[0]=*", headers={"Prefer": "handling=strict"})
        assert [("/nope", "unknown_member"), ("/note_id", "read_only")] == fields_of(problem(found, 422, "invalid"))

    @pytest.mark.parametrize("encoded", [True, False])
    async def test_ok(self, client: httpx2.AsyncClient, encoded: bool) -> None:  # noqa: FBT001
        pairs = [
            ("title", "Ωmega & Söhne = 100%"), ("rank", "7"), ("weight", "-2.5"), ("done", "1"), ("kind", "fancy"),
            ("send_time", "2027-01-15T10:30:00+02:00"), ("tags[]", "a"), ("tags[]", "b"),
            ("metadata[questionnaire][transaction_id]", "1042"), ("metadata[responder][e-mail]", "a@example.com"),
            ("note_id", UNKNOWN), ("created_time", "nonsense"), ("unknown[deep][er]", "x"), ("fields[0]", "*"),
        ]  # fmt: skip
        content = urlencode(pairs, safe="" if encoded else "[]:+@")
        if not encoded:
            assert "+02:00" in content  # a plus that nobody encoded
        found = await send(client, content)
        note = found.json()
        assert (201, "Ωmega & Söhne = 100%", 7) == (found.status_code, note["title"], note["rank"])
        assert "2027-01-15T10:30:00+02:00" == note["send_time"]

    async def test_whole_model_comes_back(self, client: httpx2.AsyncClient) -> None:
        """Every member that is not null, as a client writes it, with one of them changed."""
        note = await create(client, rank=7)
        model = {name: value for name, value in note.items() if value is not None}
        content = urlencode({**model, "title": "two", "created_time": "", "note_id": "?"})
        found = await send(client, content, method="PATCH", path=f"/note/{note['note_id']}")
        assert {**note, "title": "two"} == found.json()

    async def test_empty(self, client: httpx2.AsyncClient) -> None:
        for content in ("", "  ", "\r\n"):
            for label in (FORM, None):
                found = await send(client, content, label)
                assert [("/title", "required")] == fields_of(problem(found, 422, "invalid"))


class TestLabels:
    """JSON under the label of a form, or under none, is read as JSON; its scalars are typed as a form's."""

    async def test_json(self, client: httpx2.AsyncClient) -> None:
        document = {"title": 1042, "rank": "7", "done": 1, "weight": "2.5", "tags": {"0": "a"}, "locale": ""}
        for label in (FORM, None, "", f"{FORM}; charset=utf-8"):
            for before in (b"", b" \r\n\t", b"\xef\xbb\xbf"):
                found = await send(client, before + json.dumps(document).encode(), label)
                note = found.json()
                assert (201, "1042", 7, None) == (found.status_code, note["title"], note["rank"], note["locale"])

    async def test_with_its_label_it_is_strict(self, client: httpx2.AsyncClient) -> None:
        document = {"title": 1042, "rank": "7", "done": 1, "weight": "2.5", "tags": {"0": "a"}, "locale": ""}
        found = await send(client, json.dumps(document), JSON)
        codes = dict(fields_of(problem(found, 422, "invalid")))
        assert {"/title", "/rank", "/done", "/weight", "/tags", "/locale"} == set(codes)
        assert {"wrong_type", "invalid_locale"} == set(codes.values())

    async def test_lists_are_no_objects(self, client: httpx2.AsyncClient) -> None:
        for document in ("[1]", '["a"]', "[[]]", '[{"title":"x"}]'):
            for label in (FORM, None, JSON):
                found = problem(await send(client, document, label), 422, "invalid")
                assert [("", "wrong_type")] == fields_of(found), document

    @pytest.mark.parametrize("label", [FORM, None, JSON])
    async def test_empty_maps_of_php(self, client: httpx2.AsyncClient, label: str | None) -> None:
        note = await create(client)
        found = await send(client, "[]", label, method="PATCH", path=f"/note/{note['note_id']}")
        assert note == found.json()
        for metadata in ([], {"questionnaire": []}, {"questionnaire": [], "responder": {"a": "b"}}):
            found = await send(client, json.dumps({"title": "x", "metadata": metadata}), label)
            assert 201 == found.status_code, found.text


class TestGet:
    """The members of a body are query parameters."""

    @pytest.mark.parametrize(
        ("content", "label"),
        [
            ('{"pagination":{"page":1,"max_per_page":1},"filter_by":{"EQUAL":{"Title":"b"}}}', JSON),
            ('{"pagination":{"page":1,"max_per_page":1},"filter_by":{"EQUAL":{"Title":"b"}}}', None),
            ("pagination[page]=1&pagination[max_per_page]=1&filter_by[EQUAL][Title]=b", FORM),
            ("pagination%5Bpage%5D=1&pagination%5Bmax_per_page%5D=1&filter_by%5BEQUAL%5D%5BTitle%5D=b", None),
        ],
    )
    async def test_list(self, client: httpx2.AsyncClient, content: str, label: str | None) -> None:
        for title in ("a", "b"):
            await create(client, title)
        found = (await send(client, content, label, method="GET")).json()
        assert (1, 1, "b") == (found["max_per_page"], found["total_results"], found["results"][0]["title"])
        query = {"params": {"filter_by[EQUAL][Title]": "a"}}
        found = (await send(client, content, label, method="GET", **query)).json()
        assert (1, "a") == (found["total_results"], found["results"][0]["title"])  # the query wins

    async def test_own_parameters(self, client: httpx2.AsyncClient) -> None:
        for content, label in (("word[]=a&word[]=b&count=2", FORM), ('{"word":["a","b"],"count":2}', JSON)):
            found = await send(client, content, label, method="GET", path="/note/echo")
            assert {"words": ["a", "b", "a", "b"]} == found.json()

    async def test_wrong(self, client: httpx2.AsyncClient) -> None:
        found = await send(client, "limit=0&order_by[ASC][]=Nope", method="GET")
        wrong = fields_of(problem(found, 422, "invalid"))
        assert [("order_by[ASC]", "unknown_column"), ("limit", "out_of_range")] == wrong


class TestDelete:
    @pytest.mark.parametrize(
        ("content", "label"),
        [("fields%5B0%5D=*", FORM), ("fields[0]=title", FORM), ("[]", FORM), ("[]", JSON), ("[]", None), ("", None),
         ("", JSON), ('{"a":{"b":1}}', JSON), ("whatever", None)],
    )  # fmt: skip
    async def test_body_is_ignored(self, client: httpx2.AsyncClient, content: str, label: str | None) -> None:
        note = await create(client)
        found = await send(client, content, label, method="DELETE", path=f"/note/{note['note_id']}")
        assert (204, b"") == (found.status_code, found.content)


class TestFields:
    @pytest.mark.parametrize("text", ["fields=*", "fields[]=*", "fields[0]=**", "fields=***"])
    async def test_stars(self, client: httpx2.AsyncClient, text: str) -> None:
        note = await create(client)
        assert note == (await client.get(f"/note/{note['note_id']}?{text}")).json()
        assert 6 == len((await send(client, f"title=x&{text}")).json())
        found = await send(client, f"{text}&title=one", method="PATCH", path=f"/note/{note['note_id']}")
        assert 6 == len(found.json())
        assert 200 == (await client.get(f"/note?{text}")).status_code
        assert 204 == (await client.delete(f"/note/{note['note_id']}?{text}")).status_code

    @pytest.mark.parametrize(
        "text", ["fields=*,nope", "fields[]=*&fields[]=nope", "fields=nope", "fields=****", "response_fields=nope,*"]
    )
    async def test_unknown(self, client: httpx2.AsyncClient, text: str) -> None:
        """One name, one error."""
        place = text.partition("=")[0].partition("[")[0]
        found = await client.get(f"/note?{text}")
        assert [(place, "unknown_field")] == fields_of(problem(found, 422, "invalid"))
        found = await send(client, f"title=x&{text}")
        assert [(f"/{place}", "unknown_field")] == fields_of(problem(found, 422, "invalid"))

    async def test_names(self, client: httpx2.AsyncClient) -> None:
        assert 6 == len((await send(client, "title=x&fields=*,title")).json())
        found = await send(client, "title=x&response_fields[]=title&response_fields[]=rank")
        assert {"title": "x", "rank": None} == found.json()


class TestIdempotency:
    async def test_a_form_equals_its_json(self, notes: House) -> None:
        pairs = {"title": "x", "rank": "7", "done": "1", "metadata[questionnaire][a]": "1", "fields[0]": "*"}
        document = {"title": "x", "rank": 7, "done": True, "locale": None, "metadata": {"questionnaire": {"a": 1}}}
        sent = {"Idempotency-Key": "k"}
        async with notes.client() as client:
            first = await send(client, urlencode(pairs), headers=sent)
            for content, label in ((json.dumps(document), JSON), (json.dumps({**document, "rank": "7"}), FORM)):
                again = await send(client, content, label, headers=sent)
                assert (first.content, "true") == (again.content, again.headers["idempotency-replayed"])
            other = await send(client, urlencode({**pairs, "rank": "8"}), headers=sent)
            problem(other, 422, "idempotency_key_reused")
        assert 1 == await count(notes)
