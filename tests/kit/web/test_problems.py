"""Refusals outside of the API: a page for browsers, a document for programs."""

from afterword.kit import db
from tests.run.test_app import client_of


class TestRefusalsOutside:
    async def test_page_or_problem(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            page = await client.get("/nowhere", headers={"Accept": "text/html,*/*;q=0.1"})
            document = await client.get("/nowhere")
            inside = await client.get("/v3.2/nowhere", headers={"Accept": "text/html"})
        assert (404, "text/html; charset=utf-8") == (page.status_code, page.headers["content-type"])
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "application/problem+json" == document.headers["content-type"]
        assert "application/problem+json" == inside.headers["content-type"]
