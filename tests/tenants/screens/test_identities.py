"""The pages on the way to an identity provider and back; the log-in itself is in tests/tenants/logins/identities."""

import pytest

from tests.tenants.logins.conftest import Office, browser_of

RETURN = "/console/login/identity"


async def test_choice(office: Office) -> None:
    async with browser_of(office.pool) as client:
        assert "/console/login/organization" in (await client.get("/console/login")).text
        assert 200 == (await client.get("/console/login/organization?next=/console/cases")).status_code
        unknown = await client.post("/console/login/organization", data={"domain": "kalamata"})
        assert (422, True) == (unknown.status_code, 'href="#domain"' in unknown.text)


async def test_leading_on(office: Office) -> None:
    """The name stays a part of the path, whatever it is."""
    async with browser_of(office.pool) as client:
        page = await client.get("/console/login/with/a%22%3E%3Cb%3E?next=//evil.example")
    assert "0; url=/console/login/with/a%22%3E%3Cb%3E/start?next=%2F%2Fevil.example" == page.headers["refresh"]
    assert "<b>" not in page.text


@pytest.mark.parametrize("query", ["error=access_denied&state=x", "error=%3Cb%3E"])
async def test_refused_there(office: Office, query: str) -> None:
    async with browser_of(office.pool) as client:
        page = await client.get(f"{RETURN}?{query}")
    assert (403, False) == (page.status_code, "<b>" in page.text)


async def test_returned(office: Office) -> None:
    """A GET opens nothing: its page posts what the provider sent, which no cache keeps."""
    async with browser_of(office.pool) as client:
        page = await client.get(f"{RETURN}?code=%22%3E%3Cscript%3E&state=s")
        assert ("no-store", False) == (page.headers["cache-control"], "<script>" in page.text)
        assert "afterword" not in client.cookies
        assert 403 == (await client.post(RETURN, data={"code": "c", "state": "s"})).status_code
